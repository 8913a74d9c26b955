#!/usr/bin/env python3
"""A set on one host to a watcher on another, beside JetStream alone; what a link costs a host.

    link.py --release FOLDER [--page FILE] [--quick]

Two hosts in network namespaces, each with daemon and bridge, one nats-server. Clients and the
server's own publish and subscribe are of one kind, by hand in Python (Torture/Scripts), and take
turns, so that the machine and the client are the same for both. Needs root.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
parser = argparse.ArgumentParser()
parser.add_argument("--release", type=Path, required=True)
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
import peers  # noqa: E402

ROUNDS = 3 if arguments.quick else 9
PER_ROUND = 50 if arguments.quick else 200
EDITS = 4_000 if arguments.quick else 20_000
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


def throughput(socket, form):
    """Edits a second of four clients that pipeline 64 each."""
    ends = time.monotonic() + (0.5 if arguments.quick else 2)
    count = scratch.name + "/count"

    def flood(number):
        done = crowd.pipeline(
            socket, crowd.note(0, 0), str(number), lambda _: time.monotonic() < ends, form)
        with open(count, "ab") as file:
            file.write(b"%d\n" % done)

    began = time.monotonic()
    for pid in [peers.child(None, lambda number=number: flood(number)) for number in range(4)]:
        os.waitpid(pid, 0)
        peers.started.discard(pid)
    rate = sum(map(int, fleet.read(count).split())) / (time.monotonic() - began)
    os.unlink(count)
    return rate


def catching_up(here):
    """Transactions a second that a host which was away joins and makes durable."""
    away = here.hosts[1]
    away.kill_bridge()
    crowd.pipeline(here.hosts[0].socket, crowd.note(0, 0), "x", lambda sent: sent < EDITS)
    while here.hosts[0].link()["unsent"]["transactions"]:
        time.sleep(0.05)
    wanted = here.hosts[0].fields()[1]["total"]
    began = time.monotonic()
    away.start_bridge()
    while away.fields()[1]["total"] != wanted:
        time.sleep(0.02)
    return EDITS / (time.monotonic() - began)


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
        here = fleet.Fleet(2, binary, arguments=["--durability", durability])
        ours, theirs, own = in_turns(crossing(here), bare(here), local(here))
        row("a set on one host to a watcher on another, `%s`, p50, p99" % durability,
            "%.2f, %.2f ms; JetStream alone %.2f, %.2f ms; a local set answered %.2f, %.2f ms" % (
                *(each * 1e3 for each in ours + theirs + own),), bar)
        if durability == "commit":
            first = here.hosts[0]
            pairs = [(throughput(first.socket, crowd.FORM), throughput(first.socket, "alone"))
                     for _ in range(3)]
            linked, alone = (peers.median(each) for each in zip(*pairs))
            row("durable sets a second of a linked form, 4 connections, pipelining 64",
                "%.0f; unlinked %.0f; %.2f x" % (linked, alone, linked / alone), "0.8 x")
            here.agreement(120)
            row("catch-up: transactions joined and durable a second",
                "%.0f" % catching_up(here), "20,000, or half of local edits")
        here.stop()
    here = fleet.Fleet(2, binary)
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
    fleet.halt(plain.daemon)
    here.stop()


say("# Figures of the link\n")
say("What `make bench-link` printed on %s, on %d processors; nothing here is written by hand. Two "
    "hosts in network namespaces share one disk and these processors. Each figure is the median of "
    "%d rounds in turns. The clients are Python, for JetStream as well. Only what is durable is "
    "sent." % (time.strftime("%Y-%m-%d"), os.cpu_count(), ROUNDS))
for each in fleet.servers():
    measure(each)
if arguments.page:
    arguments.page.write_text("\n".join(page) + "\n")
