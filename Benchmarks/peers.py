"""The servers that are measured, each as its users would start it, on a private socket.

A peer is started once and serves all measurements that name it. Its version and its setting are
part of the result.
"""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

# Servers with one thread of their own get the first processor, the generator the second.
SERVER_CPU, LOAD_CPU = "0", "1"


class Unavailable(Exception):
    """A peer that is not installed or does not start here."""


class Peer:
    """One server: how it is started and called, and its name in the table."""

    def __init__(self, name, wire, title, setting, is_threaded=False):
        self.name, self.wire, self.title, self.setting = name, wire, title, setting
        self.is_threaded = is_threaded
        self.process = None
        self.place = None

    def arguments(self, directory):
        raise NotImplementedError

    def version(self):
        return ""

    @property
    def pid(self):
        return self.process.pid

    def command(self, directory):
        """What starts it, in a directory of its own; sets `place`."""
        directory.mkdir(parents=True, exist_ok=True)
        self.place = str(directory / "s")
        command = self.arguments(directory)
        if shutil.which(command[0]) is None:
            raise Unavailable(f"{command[0]} is not installed")
        return command if self.is_threaded else ["taskset", "-c", SERVER_CPU, *command]

    def start(self, directory):
        command = self.command(directory)
        self.log = open(directory / "log", "w")
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            env=self.environment(directory))
        deadline = time.monotonic() + 20
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Unavailable((directory / "log").read_text()[-400:])
            time.sleep(0.02)

    def environment(self, directory):
        return dict(os.environ)

    def answers(self):
        """Whether somebody accepts at `place`."""
        try:
            if self.place.startswith("/"):
                with socket.socket(socket.AF_UNIX) as probe:
                    probe.connect(self.place)
            else:
                with socket.create_connection(("127.0.0.1", int(self.place))):
                    pass
            return True
        except OSError:
            return False

    def stop(self):
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        self.process = None

    def resident_bytes(self):
        """VmRSS of all of its processes' memory: proc(5)."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) * 1024
        return 0


def first_line(*command):
    """What a program says of its version."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
        return ((done.stdout or done.stderr).splitlines() or [""])[0].strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


class PickerSync(Peer):
    def __init__(self, release, durability, **others):
        super().__init__(
            f"pickersync-{durability}", "pickersync", f"PickerSync, {durability}",
            f"durability = {durability}", **others)
        self.release, self.durability = release, durability

    def arguments(self, directory):
        return [
            f"{self.release}/pickersyncd", "--socket", self.place,
            "--state-directory", str(directory / "state"), "--durability", self.durability,
            "--log-level", "error"]

    def version(self):
        return first_line(f"{self.release}/pickersyncd", "--version")


class Redis(Peer):
    def __init__(self, is_durable=False, **others):
        name = "redis-aof" if is_durable else "redis"
        setting = "appendonly yes, appendfsync always" if is_durable else "appendonly no, save ''"
        super().__init__(name, "redis", "Redis, AOF always" if is_durable else "Redis",
                         setting + "; Unix socket; no output limit for subscribers", **others)
        self.is_durable = is_durable

    def arguments(self, directory):
        durable = ["--appendonly", "yes", "--appendfsync", "always"]
        return [
            "redis-server", "--port", "0", "--unixsocket", self.place, "--save", "",
            "--dir", str(directory), "--client-output-buffer-limit", "pubsub 0 0 0",
            "--maxclients", "20000", *(durable if self.is_durable else ["--appendonly", "no"])]

    def version(self):
        return first_line("redis-server", "--version")


class Nats(Peer):
    PORT = "24222"

    def __init__(self):
        super().__init__(
            "nats", "nats", "NATS", "TCP on loopback (it has no Unix socket), JetStream in memory "
            "for requests; all processors", is_threaded=True)

    def arguments(self, directory):
        self.place = self.PORT
        return ["nats-server", "-a", "127.0.0.1", "-p", self.PORT, "-js", "-sd",
                str(directory / "jetstream")]

    def version(self):
        return first_line("nats-server", "--version")


class Mosquitto(Peer):
    def __init__(self):
        super().__init__("mosquitto", "mosquitto", "Mosquitto",
                         "Unix socket, no persistence, no queue limits; QoS 1 in, QoS 0 out")

    def arguments(self, directory):
        configuration = directory / "mosquitto.conf"
        configuration.write_text(
            f"listener 0 {self.place}\nallow_anonymous true\npersistence false\nuser root\n"
            "max_queued_messages 0\nmax_inflight_messages 0\nlog_type error\n")
        return ["mosquitto", "-c", str(configuration)]

    def version(self):
        return first_line("mosquitto", "-h")


class DBusBroker(Peer):
    """dbus-broker by its launcher, which wants a socket of the journal to be there."""

    JOURNAL = Path("/run/systemd/journal/socket")

    def __init__(self):
        super().__init__("dbus", "dbus", "dbus-broker", "Unix socket, a policy that allows all")
        self.journal = None

    def arguments(self, directory):
        configuration = directory / "bus.conf"
        configuration.write_text(
            f"<busconfig><type>session</type><listen>unix:path={self.place}</listen>"
            '<policy context="default"><allow send_destination="*"/><allow receive_sender="*"/>'
            '<allow own="*"/></policy>'
            "</busconfig>\n")
        return ["systemd-socket-activate", "-E", "XDG_RUNTIME_DIR", "-E",
                "DBUS_SESSION_BUS_ADDRESS", "-l", self.place, "dbus-broker-launch", "--scope",
                "user", "--config-file", str(configuration)]

    def environment(self, directory):
        return dict(os.environ, XDG_RUNTIME_DIR=str(directory),
                    DBUS_SESSION_BUS_ADDRESS=f"unix:path={self.place}")

    def start(self, directory):
        if not self.JOURNAL.exists():
            try:
                self.JOURNAL.parent.mkdir(parents=True, exist_ok=True)
                self.journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                self.journal.bind(str(self.JOURNAL))
            except OSError as error:
                raise Unavailable(f"no journal to be had: {error}")
        super().start(directory)
        time.sleep(0.3)

    def stop(self):
        super().stop()
        if self.journal is not None:
            self.journal.close()
            self.JOURNAL.unlink(missing_ok=True)
            self.journal = None

    @property
    def pid(self):
        """The broker's: the launcher only started it."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return int(children.split()[0]) if children.split() else self.process.pid

    def version(self):
        return first_line("dbus-broker", "--version")


class Relay(Peer):
    def __init__(self, build, is_durable=False, **others):
        title = "limit, one fdatasync a batch" if is_durable else "limit"
        super().__init__("relay-durable" if is_durable else "relay", "relay", title,
                         "a bare relay over libuv: Benchmarks/relay.c", **others)
        self.build, self.is_durable = build, is_durable

    def arguments(self, directory):
        return [f"{self.build}/relay", self.place,
                *([str(directory / "file")] if self.is_durable else [])]
