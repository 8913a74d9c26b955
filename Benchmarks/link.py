#!/usr/bin/env python3
"""A set on one host to a watcher on another, beside JetStream alone; what a link costs a host.

    link.py --release FOLDER --build FOLDER [--page FILE] [--quick]

Two hosts in network namespaces, each with daemon and bridge, one nats-server. For times, clients
and the server's own publish and subscribe are of one kind, by hand in Python (Torture/Scripts), and
take turns, so that the machine and the client are the same for both. For rates, the client is
Benchmarks/load. Needs root.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
parser = argparse.ArgumentParser()
parser.add_argument("--release", type=Path, required=True)
parser.add_argument("--build", type=Path, required=True)
parser.add_argument("--page", type=Path)
parser.add_argument("--quick", action="store_true")
arguments = parser.parse_args()
scratch = tempfile.TemporaryDirectory(prefix="link-", dir="/var/tmp")
os.environ.update(
    TORTURE_BIN=str(arguments.release.resolve()), TORTURE_FOLDER=scratch.name,
    TORTURE_SOURCES=str(HOME / "Torture"), TORTURE_SHARE="1")
sys.path.insert(0, str(HOME / "Torture/Scripts"))
sys.dont_write_bytecode = True
import crowd  # noqa: E402
import fleet  # noqa: E402
import natswire  # noqa: E402
import peers  # noqa: E402
import way  # noqa: E402

ROUNDS = 3 if arguments.quick else 9
PER_ROUND = 50 if arguments.quick else 200
EDITS = 20_000 if arguments.quick else 100_000
SECONDS = 0.5 if arguments.quick else 3
OLD = 20_000 if arguments.quick else 1_000_000
# Seconds between two questions. Who asks counts as active, which slows the link down.
PAUSE = 0.1
PAYLOAD = b"x" * 300


def crossing(here):
    """Seconds from a set on the first host until a watcher on the second has it."""
    writer, watcher = (peers.Client(host.socket) for host in here.hosts)
    watcher.call("state.subscribe", {"form": crowd.FORM})

    def one(number):
        began = time.perf_counter()
        writer.send(peers.request("state.set", peers.change(
            crowd.FORM, {"field": "total", "increment": 1}), number))
        while watcher.message().get("method") != "state.changed":
            pass
        taken = time.perf_counter() - began
        writer.message()
        return taken

    return one


def bare(here):
    """Seconds from a publish until a consumer of a stream has it."""
    publisher, reader = here.server.connect(), here.server.connect()
    publisher.request("$JS.API.STREAM.CREATE.BARE", {
        "name": "BARE", "subjects": ["bare"], "retention": "limits", "storage": "file",
        "discard": "old", "num_replicas": 1})
    reader.subscribe("bare.to", 7)
    publisher.request("$JS.API.CONSUMER.CREATE.BARE", {"stream_name": "BARE", "config": {
        "deliver_policy": "new", "ack_policy": "none", "mem_storage": True,
        "deliver_subject": "bare.to"}})
    reader.flush()

    def one(_):
        began = time.perf_counter()
        publisher.publish("bare", PAYLOAD)
        while (reader.next() or [None])[0] != "bare":
            pass
        return time.perf_counter() - began

    return one


def local(here):
    """Seconds until a set of a form that is not linked is answered."""
    host = here.hosts[0]
    host.ask("form.apply", {"definition": crowd.definition(2, 1, "alone")})
    writer = peers.Client(host.socket)
    change = peers.change("alone", {"field": "total", "increment": 1})

    def one(_):
        began = time.perf_counter()
        writer.call("state.set", change)
        return time.perf_counter() - began

    return one


def in_turns(*measures):
    """The p50 and p99 of each: medians of the rounds."""
    rounds = [[] for _ in measures]
    number = 0
    for _ in range(ROUNDS):
        for times, measure in zip(rounds, measures):
            samples = []
            for _ in range(PER_ROUND):
                number += 1
                samples.append(measure(number))
                time.sleep(0.002)
            times.append(samples)
    return [[peers.median([peers.percentile(each, part) for each in times])
             for part in (0.5, 0.99)] for times in rounds]


def load(host, what, *more):
    """What Benchmarks/load prints of a daemon."""
    done = subprocess.run(
        [arguments.build / "load", what, "--wire", "pickersync", "--place", host.socket,
         *map(str, more)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout or "{}")


def edits(host, *more, connections=4, pipeline=64):
    """Edits a second in a form of ten fields."""
    return load(
        host, "requests", "--fields", 10, "--connections", connections, "--pipeline", pipeline,
        *more)["per_second"]


def values(host, form="bench-0"):
    state = host.ask("state.get", {"form": form})
    return {name: each.get("value") for name, each in state["fields"].items()}


def until_equal(hosts, form="bench-0"):
    """Waits until another host has what the first one has."""
    first, other = hosts
    while form not in [each["form"] for each in other.ask("form.list")["forms"]]:
        time.sleep(PAUSE)
    wanted = values(first, form)
    while values(other, form) != wanted:
        time.sleep(PAUSE)


def rates(here, plain):
    """Edits a second of a shared form, and of one that is not shared, in turns: of four clients
    that pipeline, and of fifty that wait for each answer."""
    first = here.hosts[0]
    for host in (first, plain):
        load(host, "prepare", "--fields", 10)
    until_equal(here.hosts)
    medians = []
    for connections, pipeline in (4, 64), (50, 1):
        pairs = [[
            edits(host, "--seconds", SECONDS, connections=connections, pipeline=pipeline)
            for host in (first, plain)] for _ in range(3)]
        until_equal(here.hosts)
        medians.append([peers.median(each) for each in zip(*pairs)])
    return medians


def processes(here):
    first, other = here.hosts
    return {
        "daemon": first.daemon, "bridge": first.bridge, "server": here.server.process,
        "other bridge": other.bridge, "other daemon": other.daemon}


def spent(process):
    """Seconds of processor time of a process since it started."""
    with open("/proc/%d/stat" % process.pid) as file:
        user, system = file.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def costs(here, plain):
    """Processor time of a set in each process, in microseconds: of a shared form, and of one that
    is not shared."""
    parts = []
    for host, ours in (here.hosts[0], processes(here)), (plain, {"daemon": plain.daemon}):
        before = {name: spent(process) for name, process in ours.items()}
        edits(host, "--count", EDITS)
        if host is not plain:
            until_equal(here.hosts)
        parts.append(", ".join("%s %.1f" % (
            name, (spent(process) - before[name]) / EDITS * 1e6)
            for name, process in ours.items()))
    return parts


def sustained(here):
    """Edits a second from the first one until another host has them all."""
    began = time.monotonic()
    edits(here.hosts[0], "--count", EDITS)
    until_equal(here.hosts)
    return EDITS / (time.monotonic() - began)


def synced(binary):
    """The same where the server syncs each message to its disk before it acknowledges it; None for
    a server that has no such option, and syncs from time to time."""
    if tuple(map(int, fleet.version(binary).split("."))) < (2, 10):
        return None
    here = fleet.Fleet(
        2, binary, arguments=["--link", "forms=bench-*"], is_direct=True,
        edit=lambda config: config.replace(
            "jetstream {", "jetstream {\n  sync_interval: always", 1))
    load(here.hosts[0], "prepare", "--fields", 10)
    until_equal(here.hosts)
    figure = sustained(here)
    here.stop()
    return figure


def catching_up(here):
    """Transactions a second that a host which was away joins and makes durable."""
    first, away = here.hosts
    away.kill_bridge()
    edits(first, "--count", EDITS)
    while first.link()["unsent"]["transactions"]:
        time.sleep(0.05)
    began = time.monotonic()
    away.start_bridge()
    until_equal(here.hosts)
    return EDITS / (time.monotonic() - began)


def newcomer(here):
    """Seconds until a new host has 100 forms, and until it has read a log of old messages."""
    first = here.hosts[0]
    load(first, "prepare", "--forms", 100, "--fields", 101)
    load(first, "requests", "--forms", 100, "--fields", 101, "--connections", 4, "--pipeline", 64,
         "--count", 10_100)
    while first.link()["unsent"]["transactions"]:
        time.sleep(0.05)
    # In a week, each form has been written whole.
    for form in range(100):
        first.ask("link.repair", {"form": "bench-%d" % form})
    fill(here)
    names = ["bench-%d" % form for form in range(100)]
    wanted = [values(first, name) for name in names]
    late = here.guest("web3")
    late.arguments = ["--link", "forms=bench-*"]
    late.start_daemon()
    began = time.monotonic()
    late.start_bridge()
    while late.ask("server.status")["forms"]["count"] < 101:
        time.sleep(PAUSE)
    for name, state in zip(names, wanted):
        while values(late, name) != state:
            time.sleep(PAUSE)
    right = time.monotonic() - began
    while late.link()["state"] != "live" or late.link()["behind"]["messages"]:
        time.sleep(PAUSE)
    whole = time.monotonic() - began
    for process in (late.bridge, late.daemon):
        fleet.halt(process)
    return right, whole


def fill(here):
    """Publishes what hosts have sent again, until the log has so many messages."""
    ear, kept = here.server.connect(), []
    ear.subscribe("ps.ops.*.d.*")
    while len(kept) < 500:
        edits(here.hosts[0], "--count", 1)
        subject, _, headers, body = ear.next()
        kept.append((subject, natswire.pairs(headers), body))
    ear.socket.close()
    mouth, rnd, sent = here.server.connect(), random.Random(1), 0
    while sent < OLD:
        lines = []
        for subject, headers, body in kept:
            # The server drops a message with the id of one before. To hosts it is the same one.
            block = natswire.block([
                (name, "%s:%016x:%s" % (*value.rsplit(":", 2)[:1], rnd.getrandbits(64), "1")
                 if name == "Nats-Msg-Id" else value) for name, value in headers])
            lines.append(b"HPUB %s %d %d\r\n%s%s\r\n" % (
                subject.encode(), len(block), len(block) + len(body), block, body))
        mouth.send(b"".join(lines))
        mouth.flush()
        sent += len(kept)
    while mouth.request("$JS.API.STREAM.INFO.PS_ops")["state"]["messages"] < OLD:
        time.sleep(0.1)
    mouth.socket.close()


page = []


def say(line):
    print(line, flush=True)
    page.append(line)


def row(what, figure, bar):
    say("| %s | %s | %s |" % (what, figure, bar))


def measure(binary):
    server = fleet.version(binary)
    say("\n## nats-server %s\n\nThe load was %.1f at the start.\n" % (server, os.getloadavg()[0]))
    say("| measure | figure | must hold |\n| --- | --- | --- |")
    kinds = ("memory", "2.5 x, 3 x"), ("interval", ""), ("commit", "2.5 x and two commits")
    for durability, bar in kinds:
        here = fleet.Fleet(2, binary, arguments=["--durability", durability], is_direct=True)
        ours, theirs, own = in_turns(crossing(here), bare(here), local(here))
        row("a set on one host to a watcher on another, `%s`, p50, p99" % durability,
            "%.2f, %.2f ms; JetStream alone %.2f, %.2f ms; a local set answered %.2f, %.2f ms" % (
                *(each * 1e3 for each in ours + theirs + own),), bar)
        if way.is_there():
            stages = way.medians(
                processes(here), crossing(here), ROUNDS * PER_ROUND, durability == "commit")
            row("its way, p50 until each part has it, while the kernel traces them", ", ".join(
                "%s %.2f" % (name, seconds * 1e3) for name, seconds in stages) + " ms", "")
        here.stop()
    here = fleet.Fleet(2, binary, arguments=["--link", "forms=bench-*"], is_direct=True)
    first, plain = here.hosts[0], here.guest("web1", "plain")
    plain.is_linked = False
    plain.start_daemon()
    plain.ask("form.apply", {"definition": crowd.definition(2, 1)})
    time.sleep(5)
    more = [
        (linked - unlinked) / (1 << 20) for linked, unlinked in zip(
            first.memory(first.daemon), plain.memory(plain.daemon))]
    row("memory of a linked daemon, idle, beside an unlinked one",
        "%+.1f MiB of its own, %+.1f MiB of the program's file" % (*more,), "+ 1 MiB")
    row("memory of the bridge", "%.1f MB of its own, %.1f MB of program and libraries" % (
        *(each / 1e6 for each in first.memory(first.bridge)),), "10 MB")
    kinds = "4 connections, pipelining 64", "50 connections, one set at a time"
    for kind, (linked, alone) in zip(kinds, rates(here, plain)):
        row("durable sets a second of a shared form, " + kind,
            "%.0f; not shared %.0f; %.2f x" % (linked, alone, linked / alone), "0.8 x")
    row("processor time of such a set, pipelining 64, in microseconds",
        "%s; not shared: %s" % tuple(costs(here, plain)), "")
    row("transactions a second, from the first edit until another host has them all",
        "%.0f" % sustained(here), "20,000")
    row("catch-up: transactions joined and durable a second",
        "%.0f" % catching_up(here), "20,000, or half of the sets")
    fleet.halt(plain.daemon)
    here.stop()
    # The log of this one has none of the edits before.
    here = fleet.Fleet(
        2, binary, arguments=["--link", "forms=bench-*"], guests=["web3"], is_direct=True)
    row("a newcomer with 100 forms of 101 fields and a log of %d messages" % OLD,
        "%.1f s, its forms right after %.1f s" % tuple(reversed(newcomer(here))),
        "10 s, forms right in the first")
    here.stop()
    figure = synced(binary)
    row("transactions a second, as above, and the server syncs each message",
        "%.0f" % figure if figure else "this server cannot be told to", "10,000")


say("# Figures of the link\n")
say("What `make bench-link%s` printed on %s, on %d processors; nothing here is written by hand. "
    "Two hosts in network namespaces share one disk and these processors. Each figure is the "
    "median of %d rounds in turns; there the clients are Python, for JetStream as well. Rates are "
    "of the load generator of [the other figures](../benchmarks.md), which shares the processors. "
    "Only what is durable is sent." % (
        " QUICK=1" if arguments.quick else "", time.strftime("%Y-%m-%d"), os.cpu_count(), ROUNDS))
for each in fleet.servers():
    measure(each)
say("""
## Why some do not hold

- A set to a watcher on another host: only what is durable is sent, so it waits for one disk, and
  with `commit` for two; JetStream alone syncs nothing. Five processes are on the way beside the
  client, and one with JetStream alone. The row of its way says what each part takes: the disk alone
  takes longer than the bar.
- Durable sets of a shared form: six processes share the processors here, two where the form is not
  shared. The row of processor time says what each takes. In a profile of the daemon (`perf record`,
  100,000 sets) the edits are 27 %, the store 12 %, changes as bytes for others 5 %, outbox, bridge and
  acknowledgements 7 %, and switches between the processes 30 %. The other daemon decodes, joins,
  records and commits each transaction.
- All rates are of hosts where nobody else works. While a user is active, and 20 ms after it, the
  link gets at most an eighth of the daemon's time, so that this user's edits are answered quickly.
- A newcomer: it has the forms as soon as it has the wholes, and the last of them is right when the
  edits after its whole are read. But it opens and joins each old message, also where a whole has its
  edits. An earlier edit may know less of what was removed than the host
  has, and without its message nobody could tell. So the time grows with the log.
- A bridge: most of its memory is the program and the libraries, which processes share.""")
if arguments.page:
    arguments.page.write_text("\n".join(page) + "\n")
