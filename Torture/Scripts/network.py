"""Networks of a row's own: places that are network namespaces, a switch between them, a forwarder.

Nothing of it has a name outside of the row: a namespace lasts as long as this process has it open
or a process is in it, and every process that is started here ends with the row.
"""

import asyncio
import ctypes
import json
import os
import random
import signal
import socket
import subprocess

import peers

CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1
system = ctypes.CDLL(None, use_errno=True)


def enter(namespace):
    if system.setns(namespace, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def ends_with_row():
    system.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def namespace():
    """A new namespace, as a descriptor."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    try:
        if system.unshare(CLONE_NEWNET):
            peers.skip("this machine gives no network namespaces")
        return os.open("/proc/self/ns/net", os.O_RDONLY)
    finally:
        enter(home)
        os.close(home)


class Place:
    """One machine of the network: a namespace with an address."""

    def __init__(self, network, number):
        self.network = network
        self.port = "port%d" % number
        self.address = "10.77.0.%d" % number
        self.namespace = namespace()
        network.ip("link add %s type veth peer name eth0" % self.port)
        network.ip(
            "link set eth0 netns /proc/%d/fd/%d" % (os.getpid(), self.namespace))
        network.ip("link set %s master switch up" % self.port)
        network.ip("link set lo up", self.namespace)
        network.ip("addr add %s/24 dev eth0" % self.address, self.namespace)
        network.ip("link set eth0 up", self.namespace)

    def cable(self, is_in):
        """Pulls the cable of this machine, or puts it back."""
        self.network.ip("link set %s %s" % (self.port, "up" if is_in else "down"))

    def start(self, words, log, uid=None):
        """A program on this machine, as that user; its process."""
        def begin():
            enter(self.namespace)
            if uid is not None:
                peers.become(uid)
            ends_with_row()

        with open(log, "ab") as out:
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, preexec_fn=begin)
        peers.started.add(process.pid)
        return process


class Network:
    """Places with a switch between them."""

    def __init__(self):
        peers.need_root()
        self.hub = namespace()
        self.places = 0
        self.ip("link add switch type bridge")
        self.ip("link set switch up")

    def ip(self, words, namespace=None):
        where = self.hub if namespace is None else namespace
        done = subprocess.run(
            ["ip"] + words.split(), preexec_fn=lambda: enter(where), capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError("ip %s: %s" % (words, done.stderr))

    def place(self):
        self.places += 1
        return Place(self, self.places)


class Forwarder:
    """Stands before a server: a port for each host, whose bytes are delayed, held or cut.

    A direction that is held takes bytes and gives them to nobody: a cut that neither end is told.
    """

    FIRST_PORT = 4300

    def __init__(self, place, ports):
        self.place = place
        self.ours, theirs = socket.socketpair()
        self.pid = peers.child(None, lambda: self.run(theirs, ports))
        theirs.close()

    def tell(self, host, **what):
        """`up` and `down`: whether bytes to the server and from it pass. `delay`: seconds. `drop`:
        connections end."""
        self.ours.sendall(json.dumps(dict(what, host=host)).encode() + b"\n")

    def run(self, commands, ports):
        ends_with_row()
        self.ours.close()
        enter(self.place.namespace)
        asyncio.run(self.serve(commands, ports))

    async def serve(self, commands, ports):
        self.state = [{"up": True, "down": True, "delay": 0} for _ in range(ports)]
        self.open = [set() for _ in range(ports)]
        for host in range(ports):
            await asyncio.start_server(
                lambda reader, writer, host=host: self.accept(host, reader, writer),
                "0.0.0.0", self.FIRST_PORT + host)
        reader, _ = await asyncio.open_connection(sock=commands)
        while line := await reader.readline():
            what = json.loads(line)
            host = what.pop("host")
            if what.pop("drop", False):
                for writer in list(self.open[host]):
                    writer.transport.abort()
            self.state[host].update(what)

    async def accept(self, host, reader, writer):
        try:
            to_server = await asyncio.open_connection("127.0.0.1", 4222)
        except OSError:
            writer.transport.abort()
            return
        ends = {writer, to_server[1]}
        self.open[host] |= ends
        try:
            await asyncio.gather(
                self.pump(host, "up", reader, to_server[1]),
                self.pump(host, "down", to_server[0], writer))
        except OSError:
            pass
        finally:
            self.open[host] -= ends
            for end in ends:
                end.transport.abort()

    async def pump(self, host, way, reader, writer):
        state = self.state[host]
        while data := await reader.read(1 << 16):
            while not state[way]:
                await asyncio.sleep(0.02)
            if state["delay"]:
                await asyncio.sleep(state["delay"])
            writer.write(data)
            await writer.drain()
        raise ConnectionResetError("the other end has closed")


class Cuts:
    """Cuts of hosts from a server, chosen by a generator, and their repair."""

    KINDS = ["cable", "silent", "deaf", "mute", "drop", "slow"]

    def __init__(self, forwarder, places, rnd=None):
        self.forwarder = forwarder
        self.places = places
        self.rnd = rnd or random.Random(peers.SEED)
        self.made = {kind: 0 for kind in self.KINDS}
        self.cut = {}

    def make(self, host, kind=None):
        self.heal(host)
        kind = kind or self.rnd.choice(self.KINDS)
        self.made[kind] += 1
        self.cut[host] = kind
        tell = self.forwarder.tell
        if kind == "cable":
            self.places[host].cable(False)
        elif kind == "drop":
            tell(host, drop=True)
        elif kind == "slow":
            tell(host, delay=self.rnd.uniform(0.01, 0.2))
        else:
            tell(host, up=kind == "deaf", down=kind == "mute")

    def heal(self, host):
        kind = self.cut.pop(host, None)
        if kind == "cable":
            self.places[host].cable(True)
        if kind:
            self.forwarder.tell(host, up=True, down=True, delay=0)

    def heal_all(self):
        for host in list(self.cut):
            self.heal(host)
