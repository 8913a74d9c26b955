"""Hosts of a fleet: a daemon and a bridge each, in a network namespace, and a server for all."""

import grp
import json
import os
import pwd
import re
import signal
import subprocess
import time

import crowd
import natswire
import network
import peers
from peers import BIN, FOLDER

DEBIAN = "/usr/sbin/nats-server"
# The link waits at most this long for a server that says nothing, and then tries again.
PATIENCE = 60
# As on an installed system, the bridge is a user of its own: a daemon deals its time out by user.
BRIDGE = pwd.getpwnam("nobody")
# `make check` runs a few seconds of each row.
IS_SHORT = peers.SHARE < 0.02


def current_server():
    """The current nats-server that scripts/dependencies fetched for tests; None where it could not.
    """
    tools = os.environ.get("PICKERSYNC_TOOLS") or os.path.join(
        os.environ.get("TORTURE_SOURCES", "Torture"), "..", ".build", "tools")
    path = os.path.join(tools, "nats-server")
    return os.path.abspath(path) if os.access(path, os.X_OK) else None


def version(binary):
    told = subprocess.run([binary, "--version"], capture_output=True, text=True).stdout
    return re.search(r"v?(\d+\.\d+\.\d+)", told).group(1)


def servers():
    """Debian's server and a current one; in a short run one of them, by the seed."""
    if not os.access(DEBIAN, os.X_OK):
        peers.skip("no nats-server")
    both = [each for each in (DEBIAN, current_server()) if each]
    return [both[peers.SEED % len(both)]] if IS_SHORT else both


def report(figures, findings):
    """The end of a row that ran on each server. Without a current one the run is not whole."""
    if current_server() is None:
        figures.append("no current nats-server (scripts/dependencies torture could not fetch it)")
        if peers.SHARE >= 1 and not findings:
            peers.SHARE = 0.5
    peers.report("; ".join(figures), findings)


class Server:
    """A nats-server for a fleet, in a place of its own."""

    def __init__(self, place, binary, names, folder, edit=lambda config: config):
        self.place, self.binary, self.folder = place, binary, folder
        os.makedirs(folder)
        self.store = folder + "/js"
        self.starts = 0
        config = subprocess.run(
            [BIN + "/pickersync-link", "--print-nats-config", "--fleet", "ops"] + names,
            check=True, capture_output=True, text=True).stdout
        config = edit(config)
        self.passwords = dict(re.findall(r'user: (\S+), password: "(.*?)"', config))
        # Somebody who may do everything, as the owner of the server may.
        self.passwords["admin"] = "all"
        self.config = config.replace("/var/lib/nats", self.store).replace(
            "  users: [", "  users: [\n    { user: admin, password: all }"
        ) + "listen: 0.0.0.0:4222\n"
        self.start()

    def start(self):
        with open(self.folder + "/nats.conf", "w") as file:
            file.write(self.config)
        self.starts += 1
        self.log = "%s/log%d" % (self.folder, self.starts)
        self.process = self.place.start(
            [self.binary, "-c", self.folder + "/nats.conf"], self.log)
        ends = time.monotonic() + PATIENCE
        while "Server is ready" not in read(self.log):
            if self.process.poll() is not None or time.monotonic() > ends:
                raise RuntimeError("nats-server did not start: " + read(self.log)[-500:])
            time.sleep(0.02)

    def kill(self, how=signal.SIGKILL):
        halt(self.process, how)

    def connect(self, user="admin"):
        return natswire.Nats(
            self.place, (self.place.address, 4222), user, self.passwords[user])


def seconds(waited):
    return "never" if waited is None else "%.1f s" % waited


def read(path):
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def halt(process, how=signal.SIGKILL):
    peers.started.discard(process.pid)
    if process.poll() is None:
        process.send_signal(how)
        process.wait()


class Host:
    """A daemon and its bridge."""

    def __init__(self, number, name, place, key, folder, arguments=(), streams=()):
        self.number, self.name, self.place, self.key = number, name, place, key
        self.folder = folder
        self.arguments = list(arguments)
        self.streams = ["streams=" + each for each in streams]
        os.makedirs(folder)
        os.chmod(folder, 0o755)
        self.socket = folder + "/s"
        self.state = folder + "/state"
        self.log = folder + "/log"
        self.bridge = self.daemon = None
        self.is_linked = True

    def serve_through(self, *urls):
        with open(self.folder + "/link.yaml", "w") as file:
            file.write("servers: %s\n" % json.dumps(urls))
        os.chown(file.name, BRIDGE.pw_uid, BRIDGE.pw_gid)

    def start_daemon(self):
        link = ["fleet=ops", "host=" + self.name, "forms=" + crowd.FORM, "key=" + self.key,
                "bridge=" + BRIDGE.pw_name]
        link += self.streams
        words = [BIN + "/pickersyncd", "--socket", self.socket, "--state-directory", self.state,
                 "--group", grp.getgrgid(BRIDGE.pw_gid).gr_name]
        for each in link if self.is_linked else []:
            words += ["--link", each]
        began = read(self.log).count("ready: ")
        self.daemon = self.place.start(words + self.arguments, self.log)
        ends = time.monotonic() + PATIENCE
        while read(self.log).count("ready: ") == began:
            if self.daemon.poll() is not None or time.monotonic() > ends:
                raise RuntimeError("%s did not start: %s" % (self.name, read(self.log)[-500:]))
            time.sleep(0.01)

    def start_bridge(self):
        # As systemd/pickersync-link.service starts it.
        self.bridge = self.place.start(
            ["nice", "-n", "5", BIN + "/pickersync-link", "--config", self.folder + "/link.yaml",
             "--socket", self.socket], self.folder + "/bridge-log", BRIDGE.pw_uid)

    def kill_daemon(self, how=signal.SIGKILL):
        halt(self.daemon, how)

    def kill_bridge(self):
        halt(self.bridge)

    def ask(self, method, params=None):
        client = peers.Client(self.socket)
        try:
            return client.call(method, params)
        finally:
            client.close()

    def link(self):
        """What the daemon says of its link."""
        return self.ask("server.status")["link"]

    def fields(self):
        """The revision of the form, and each field's value and whether it is in conflict."""
        state = self.ask("state.get", {"form": crowd.FORM})
        return state["revision"], {
            name: (each.get("value"), each.get("conflict") and True)
            for name, each in state["fields"].items()}

    def resident(self, process):
        return sum(self.memory(process))

    def memory(self, process):
        """Bytes of its own, and bytes of files: programs and libraries, which processes share."""
        with open("/proc/%d/statm" % process.pid) as file:
            _, resident, shared = map(int, file.read().split()[:3])
        page = os.sysconf("SC_PAGESIZE")
        return (resident - shared) * page, shared * page


class Fleet:
    """Hosts, a server, and a forwarder between them; the form is on all of them.

    `is_direct`: without a forwarder, whose time would be in each figure."""

    def __init__(self, hosts, binary, writers=1, arguments=(), guests=(),
                 edit=lambda config: config, is_direct=False):
        self.network = network.Network()
        self.make_folder()
        self.names = ["web%d" % (number + 1) for number in range(hosts)]
        self.server = Server(
            self.network.place(), binary, self.names + list(guests), self.folder + "/nats", edit)
        self.servers = [self.server]
        self.make_key()
        self.hosts = [
            Host(number, name, self.network.place(), self.key, self.folder + "/" + name, arguments)
            for number, name in enumerate(self.names)]
        self.forwarder = None if is_direct else network.Forwarder(self.server.place, hosts)
        self.cuts = network.Cuts(self.forwarder, [each.place for each in self.hosts])
        self.writers = writers
        self.share(hosts + len(guests), [self.url(host.number) for host in self.hosts])

    def make_folder(self):
        """Where everything of this fleet is, also for the user of the bridges."""
        self.folder = "%s/f%d" % (FOLDER, time.monotonic_ns())
        os.makedirs(self.folder)
        for each in FOLDER, self.folder:
            os.chmod(each, 0o755)

    def make_key(self):
        self.key = self.folder + "/key"
        subprocess.run([BIN + "/pickersyncd", "--new-fleet-key", self.key], check=True,
                       capture_output=True)

    def share(self, hosts, urls):
        """Starts the hosts, and makes the form on them."""
        for host, url in zip(self.hosts, urls):
            host.serve_through(url)
            host.start_daemon()
            host.start_bridge()
        definition = crowd.definition(hosts, self.writers)
        self.hosts[0].ask("form.apply", {"definition": definition})
        waited = self.agreement()
        if waited is None:
            raise RuntimeError("the form did not come to all hosts: %s" % self.said())

    def url(self, number):
        port = network.Forwarder.FIRST_PORT + number if self.forwarder else 4222
        return self.address(self.names[number], port)

    def address(self, name, port=4222):
        return "nats://%s:%s@%s:%d" % (
            name, self.server.passwords[name], self.server.place.address, port)

    def guest(self, name, folder=None, key=None):
        """Another machine, which is not started and reaches the server directly."""
        host = Host(len(self.hosts), name, self.network.place(), key or self.key,
                    "%s/%s" % (self.folder, folder or name))
        host.serve_through(self.address(name))
        return host

    def crowds(self, watchers=1, hosts=None, **more):
        return [
            crowd.Crowd(host.number, host.socket, self.writers, watchers, **more)
            for host in hosts or self.hosts]

    def disagreement(self, among=None):
        """Why the hosts do not agree, in a line; None where each of them says that all do."""
        hosts = self.hosts if among is None else among
        readings = []
        for host in hosts:
            try:
                link = host.link()
                readings.append(host.fields()[1])
            except (OSError, EOFError, RuntimeError) as problem:
                return "%s: %s" % (host.name, problem)
            row = [each for each in link["forms"] if each["form"] == crowd.FORM]
            if not link["up"]:
                return "%s is not up: %s" % (host.name, link.get("down") or link.get("refused"))
            if not row or row[0].get("held"):
                return "%s: the form is held or missing: %s" % (host.name, row)
            if row[0]["agrees"] != len(hosts) - 1 or row[0]["hosts"] != len(hosts) - 1:
                return "%s agrees with %d of %d" % (host.name, row[0]["agrees"], row[0]["hosts"])
            if row[0]["unsent"] or link["unsent"]["transactions"]:
                return "%s has unsent edits" % host.name
        for host, reading in zip(hosts, readings):
            if reading != readings[0]:
                apart = [name for name in reading if reading[name] != readings[0].get(name)]
                return "%s and %s say that they agree and differ in %s" % (
                    host.name, hosts[0].name, apart[:5])
        return None

    def agreement(self, seconds=PATIENCE, among=None, since=None):
        """Seconds until all hosts agreed, from now or that time on; None where they did not."""
        began = time.monotonic()
        while (why := self.disagreement(among)) is not None:
            self.why = why
            if time.monotonic() - began > seconds:
                return None
            time.sleep(0.1)
        return time.monotonic() - (since or began)

    def is_up(self, seconds=PATIENCE):
        """Whether the links of all hosts come up in that time."""
        ends = time.monotonic() + seconds
        while not all(host.link()["up"] for host in self.hosts):
            if time.monotonic() > ends:
                return False
            time.sleep(0.1)
        return True

    def settle(self, crowds, findings, ledgers=None, agreement=None):
        """Stops writers, waits for agreement, and compares each host with the ledgers of all.

        `ledgers` are those of crowds before, and takes those of these crowds. `agreement` is who
        waits, else it is `self.agreement`. Gives the seconds to agreement, edits, revisions seen,
        and the times of edits."""
        ledgers = [] if ledgers is None else ledgers
        ledgers += [each.stop() for each in crowds]
        began = time.monotonic()
        waited = (agreement or self.agreement)()
        if waited is None:
            findings.append("no agreement after %d s: %s" % (time.monotonic() - began, self.why))
        wanted = {}
        for ledger in ledgers:
            wanted.update(ledger["notes"])
            findings += ledger["findings"]
        wanted["total"] = sum(each["total"] for each in ledgers)
        wanted["go"] = {"presses": sum(each["presses"] for each in ledgers)}
        for host in self.hosts:
            _, fields = host.fields()
            for name, value in wanted.items():
                if fields[name][0] != value:
                    findings.append("%s of %s is %s, answered was %s" % (
                        name, host.name, fields[name][0], value))
        seen = 0
        for each in crowds:
            revision, fields = self.hosts[each.host].fields()
            told = each.finish(revision, {name: value for name, (value, _) in fields.items()})
            findings += told["findings"]
            seen += told["seen"]
        # The command says the same as the wire.
        for host in self.hosts if waited is not None else []:
            told = subprocess.run(
                [BIN + "/pickerctl", "link", "status", "-o", "json", "--socket", host.socket,
                 "--no-autostart"], capture_output=True, text=True)
            if not json.loads(told.stdout)["up"]:
                findings.append("pickerctl link status of %s: %s" % (host.name, told.stdout))
        return waited, sum(each["edits"] for each in ledgers), seen, [
            time for each in ledgers for time in each["times"]]

    def alive(self, findings):
        """Whether everything that was not killed still runs."""
        for host in self.hosts:
            both = (host.daemon, host.log), (host.bridge, host.folder + "/bridge-log")
            for process, log in both:
                if process.poll() is not None:
                    findings.append("%s ended with %d: %s" % (
                        process.args[0], process.returncode, read(log)[-500:]))

    def said(self):
        """Why hosts do not agree, with what each says of its link."""
        return "; ".join(
            [self.why] + ["%s %s: %s" % (
                each.name, {key: value for key, value in each.link().items() if key in (
                    "state", "down", "refused", "behind", "unsent", "streams")},
                "\n".join(line for line in read(each.log).splitlines() if ": connection " not in line
                          )[-1000:]) for each in self.hosts if each.daemon.poll() is None]
            + [read(self.server.log)[-1500:]])

    def stop(self):
        for host in self.hosts:
            if host.bridge:
                host.kill_bridge()
            if host.daemon:
                host.kill_daemon()
        for server in self.servers:
            server.kill()
        if self.forwarder:
            peers.end(self.forwarder.pid)
