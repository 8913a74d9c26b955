#!/usr/bin/env python3
"""Follows docs/how-to/several-hosts.md on machines of its own: several_hosts.py PROGRAMS PAGE.

Each machine is a network namespace with its own /etc, /run and /var/lib. Commands and files are
those of the page; only what a unit of systemd does (users, the socket) is done here. Prints
`followed`, or why this machine cannot do it and `skip`.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

SOURCES = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
sys.path.insert(0, SOURCES + "/Torture/Scripts")
sys.dont_write_bytecode = True
import network  # noqa: E402
import peers  # noqa: E402

PROGRAMS, PAGE = os.path.abspath(sys.argv[1]), sys.argv[2]
CLONE_NEWNS = 0x20000
USERS = {"pickersync": 2001, "pickersync-link": 2002}
SECONDS = 120


class Page:
    """The sections of the page: their blocks and the commands within sentences."""

    def __init__(self, path):
        text = open(path, encoding="utf-8").read()
        parts = re.split(r"(?m)^## (.*)\n", text)[1:]
        self.sections = dict(zip(parts[::2], parts[1::2]))

    def block(self, section, number=0):
        return re.findall(r"(?ms)^```\w+\n(.*?)^```$", self.sections[section])[number]

    def commands(self, section, number=0):
        return [line[2:] for line in self.block(section, number).splitlines()
                if line.startswith("$ ")]

    def inline(self, section, beginning):
        return [each for each in re.findall(r"`([^`\n]+)`", self.sections[section])
                if each.startswith(beginning)]


class Machine:
    """A machine with a name, and what runs on it."""

    def __init__(self, name, place, folder, hosts):
        self.name, self.place, self.folder = name, place, folder + "/" + name
        os.makedirs(self.folder)
        os.chmod(self.folder, 0o755)
        self.mounts = self.own_mounts()
        self.daemon = self.bridge = None
        self.must("cat >> /etc/hosts", hosts)
        for user, number in USERS.items():
            self.must("echo '%s:x:%d:%d::/:/bin/false' >> /etc/passwd" % (user, number, number))
            self.must("echo '%s:x:%d:' >> /etc/group" % (user, number))
        self.must("mkdir -p /etc/pickersync /run/pickersync /var/lib/pickersync /var/lib/nats && "
                  "chown pickersync: /var/lib/pickersync && chmod 700 /var/lib/pickersync")

    def own_mounts(self):
        """The machine's file systems, as a descriptor: changes of /etc, /run and /var/lib stay
        here, and its programs are in /run/bin."""
        script = "set -e; mount --make-rprivate /; mount -t tmpfs own %s; " % self.folder
        for path in ("etc", "run", "var/lib"):
            upper = "%s/%s" % (self.folder, path.replace("/", "-"))
            script += "mkdir %s-u %s-w; mount -t overlay -o lowerdir=/%s,upperdir=%s-u,workdir=" \
                "%s-w own /%s; " % (upper, upper, path, upper, upper, path)
        script += "mkdir -p /run/bin; mount --bind %s /run/bin; echo ready; read end" % PROGRAMS
        holder = subprocess.Popen(
            ["unshare", "-m", "sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, preexec_fn=network.ends_with_row)
        if holder.stdout.readline() != "ready\n":
            peers.skip("this machine mounts no overlays: " + holder.stderr.read())
        mounts = os.open("/proc/%d/ns/mnt" % holder.pid, os.O_RDONLY)
        holder.communicate("\n")
        return mounts

    def enter(self):
        network.ends_with_row()
        network.enter(self.place.namespace)
        if network.system.setns(self.mounts, CLONE_NEWNS):
            raise OSError("setns")
        os.environ["PATH"] = "/run/bin:/usr/sbin:/usr/bin:/sbin:/bin"

    def run(self, command, text=""):
        return subprocess.run(
            ["sh", "-c", command], input=text, capture_output=True, text=True, cwd="/etc/pickersync"
            if os.path.isdir("/etc/pickersync") else "/", preexec_fn=self.enter,
            env={"PATH": "/run/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"})

    def must(self, command, text=""):
        done = self.run(command, text)
        if done.returncode:
            raise SystemExit("%s: %s: %s%s" % (self.name, command, done.stdout, done.stderr))
        return done.stdout

    def start(self, words, **more):
        log = open("%s/%s-%s.log" % (LOGS, self.name, os.path.basename(words[0])), "ab")

        def prepare():
            self.enter()
            more.get("prepare", lambda: None)()

        process = subprocess.Popen(
            words, stdout=log, stderr=log, stdin=subprocess.DEVNULL, preexec_fn=prepare,
            pass_fds=more.get("pass_fds", ()), cwd="/",
            env={"PATH": "/run/bin:/usr/sbin:/usr/bin:/bin", **more.get("env", {})})
        peers.started.add(process.pid)
        return process

    def restart_daemon(self):
        """What pickersyncd.socket and pickersyncd.service do."""
        if self.daemon:
            self.daemon.send_signal(signal.SIGTERM)
            self.daemon.wait()
        self.must("rm -f /run/pickersync/sock")
        listener = self.in_place(self.listen)
        group = USERS["pickersync"]
        self.must("chgrp pickersync /run/pickersync/sock && chmod 660 /run/pickersync/sock")

        def prepare():
            os.dup2(listener.fileno(), 3)
            os.set_inheritable(3, True)

        # The pid is the shell's, which the daemon takes over.
        self.daemon = self.start(
            ["/bin/sh", "-c", "LISTEN_PID=$$ exec setpriv --reuid pickersync --regid pickersync "
             "--init-groups /run/bin/pickersyncd --group %d" % group],
            prepare=prepare, pass_fds=(3,), env={
                "LISTEN_FDS": "1", "STATE_DIRECTORY": "/var/lib/pickersync"})
        listener.close()

    @staticmethod
    def listen():
        listener = socket.socket(socket.AF_UNIX)
        listener.bind("/run/pickersync/sock")
        listener.listen(64)
        return listener

    def in_place(self, body):
        """A descriptor that is made in the machine's file systems."""
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            self.enter()
            made = body()
            socket.send_fds(theirs, [b"x"], [made.fileno()])
            os._exit(0)
        theirs.close()
        _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
        os.waitpid(pid, 0)
        ours.close()
        return socket.socket(fileno=descriptors[0])

    def start_bridge(self):
        """What pickersync-link.service does."""
        self.bridge = self.start(
            ["/bin/sh", "-c", "exec setpriv --reuid pickersync-link --regid pickersync-link "
             "--groups pickersync-link,pickersync /run/bin/pickersync-link --socket "
             "/run/pickersync/sock"])


def eventually(what, holds):
    ends = time.monotonic() + SECONDS
    while not holds():
        if time.monotonic() > ends:
            for name in sorted(each for each in os.listdir(LOGS) if each.endswith(".log")):
                print("--- %s\n%s" % (name, open(LOGS + "/" + name).read()[-2000:]))
            raise SystemExit("waited in vain: " + what)
        time.sleep(0.1)


def says(machine, shown):
    """Whether `link status` prints those lines, whatever times, and versions it has."""
    pattern = re.escape(shown)
    for text in (r"0\\\.4\\ ms|0\.4\\ ms", r"3\\ s", r"pickersyncd/[^\n]*"):
        pattern = re.sub(text, "[^\\\\n]*", pattern)
    done = machine.run("pickerctl link status")
    return re.search(pattern, done.stdout) is not None


def value(machine, field):
    return machine.run("pickerctl get " + field).stdout.strip()


def main():
    page = Page(PAGE)
    net = network.Network()
    places = {name: net.place() for name in ("nats1", "web1", "web2", "web3")}
    hosts = "".join("%s %s\n" % (place.address, name) for name, place in places.items())
    machines = {name: Machine(name, place, LOGS, hosts) for name, place in places.items()}
    nats1, web1, web2, web3 = machines.values()

    # One host that has a form, before anything is shared.
    web1.restart_daemon()
    eventually("the daemon serves", lambda: web1.run("pickerctl status").returncode == 0)
    form = open(SOURCES + "/Examples/forms/deploy.yaml").read()
    web1.must("cat > /etc/deploy.yaml && pickerctl form apply --yes /etc/deploy.yaml", form)
    web1.must("pickerctl set deploy/traffic=20")

    (print_config,) = page.commands("The server")
    nats1.must("cd /etc && " + print_config)
    (serve,) = page.inline("The server", "nats-server -c ")
    server = nats1.start(["/bin/sh", "-c", "cd /etc && exec " + serve])
    new_key, own_key = page.commands("The key")
    web1.must(new_key)
    key = subprocess.run(["cat", "/var/lib/pickersync/fleet-key"], preexec_fn=web1.enter,
                         capture_output=True, check=True).stdout

    def link(machine):
        if machine is not web1:
            subprocess.run(
                ["sh", "-c", "umask 077; cat > /var/lib/pickersync/fleet-key"], input=key,
                preexec_fn=machine.enter, check=True)
        machine.must(own_key)
        options = page.block("Each daemon").replace("web1", machine.name)
        machine.must("cat >> /etc/pickersync/pickersyncd.yaml", options)
        machine.restart_daemon()
        config = nats1.must("cat /etc/nats-server.conf")
        password = re.search(r'user: %s, password: "(.*?)"' % machine.name, config).group(1)
        options = page.block("Each bridge").replace("web1", machine.name)
        machine.must("cat > /etc/pickersync/link.yaml", options.replace("PASSWORD", password))
        for command in page.inline("Each bridge", "ch"):
            machine.must(command)
        machine.start_bridge()

    link(web1)
    link(web2)
    # The page shows what web1 says.
    command, shown = page.block("See that it works").split("\n", 1)
    assert command == "$ pickerctl link status", command
    eventually("web1 says what the page shows", lambda: says(web1, shown))
    eventually("web2 has the form", lambda: value(web2, "deploy/traffic").startswith("20"))

    # The third one.
    (print_one,) = page.commands("Another host")
    block = re.search(r"(?ms)^    \{\n      user: web3.*?^    \}\n", nats1.must(print_one)).group(0)
    config = nats1.must("cat /etc/nats-server.conf")
    nats1.must("cat > /etc/nats-server.conf", config.replace("  users: [\n", "  users: [\n" + block))
    server.send_signal(signal.SIGHUP)
    link(web3)
    all_agree = "deploy: agrees with 2 of 2 hosts\n"
    for machine in (web1, web2, web3):
        eventually(machine.name + " agrees with two", lambda: says(machine, all_agree))
    web3.must("pickerctl set deploy/traffic=30")
    eventually("web1 has the edit of web3", lambda: value(web1, "deploy/traffic").startswith("30"))

    # It says what the page says of a cut.
    places["web2"].cable(False)
    eventually("web2 is cut off", lambda: says(web2, "cut off since"))
    both = str(int(value(web3, "deploy/replicas")) + 2)
    web2.must("pickerctl set deploy/replicas+=1")
    web1.must("pickerctl set deploy/replicas+=1")
    places["web2"].cable(True)
    for machine in (web1, web2, web3):
        eventually(machine.name + " has both increments and agrees", lambda: (
            value(machine, "deploy/replicas") == both and says(machine, all_agree)))
    print("followed")


LOGS = tempfile.mkdtemp(prefix="several-hosts-")
os.chmod(LOGS, 0o755)
try:
    main()
finally:
    peers.end_all()
    subprocess.run(["rm", "-rf", LOGS])
