#!/usr/bin/env python3
"""`make bench`: starts the peers beside us, measures in interleaved rounds, prints one table with
ratios and bars, and writes docs/benchmarks.md.

    Benchmarks/bench.py --release DIR --build DIR [--quick] [--only NAME]
"""

import argparse
import datetime
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import specials
from measures import Generator, Samples, all_measures, measure_round
from peers import (DBusBroker, Mosquitto, Nats, PickerSync, Redis, Relay, Unavailable)
from report import markdown, plain, promises


# All rounds together, of the fifteen minutes that a whole run may take.
ROUNDS_SECONDS = 660


class Context:
    """Where things are, and how thorough the run is."""

    def __init__(self, options):
        self.release, self.build = options.release, options.build
        self.is_quick = options.quick
        self.directory = Path(options.build) / "run"
        self.generator = Generator(options.build)

    def times(self, count):
        return max(5, count // 6) if self.is_quick else count


def say(text):
    print(f"  {text}", file=sys.stderr, flush=True)


def all_peers(context):
    """The peers by the names that measures use."""
    wide = PickerSync(context.release, "commit", is_threaded=True)
    wide.name = "pickersync-commit-wide"
    wide.title += ", all processors"
    peers = [
        PickerSync(context.release, "memory"), PickerSync(context.release, "commit"), wide,
        Redis(), Redis(is_durable=True, is_threaded=True), Nats(), Mosquitto(), DBusBroker(),
        Relay(context.build), Relay(context.build, is_durable=True, is_threaded=True)]
    return {peer.name: peer for peer in peers}


def start_all(peers, context, samples):
    running = {}
    for name, peer in peers.items():
        try:
            peer.start(context.directory / name)
            running[name] = peer
            context.generator.run("prepare", peer)
        except (Unavailable, RuntimeError, OSError, subprocess.TimeoutExpired) as problem:
            samples.problems.append(f"{name}: {problem}")
            running.pop(name, None)
    if "relay" in running:
        running["relay-150"] = running["relay"]
    return running


def decode_whole(running, context, samples):
    """One run that reads each event whole and not only its length and number."""
    for name in ("pickersync-memory", "pickersync-commit"):
        try:
            context.generator.run("fanout", running[name], "--subscribers", 100, "--pipeline", 64,
                                  "--seconds", 0.5, "--decode")
        except (RuntimeError, KeyError, subprocess.TimeoutExpired) as problem:
            samples.problems.append(f"decoding: {problem}")


def special(name, samples, body, *arguments):
    say(name)
    try:
        body(*arguments)
    except (RuntimeError, Unavailable, OSError, subprocess.SubprocessError,
            SystemExit) as problem:
        samples.problems.append(f"{name}: {problem}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--release", default=".build/release")
    parser.add_argument("--build", default=".build/bench")
    parser.add_argument("--quick", action="store_true", help="under three minutes")
    parser.add_argument("--only", help="measures whose names contain this, and no page")
    options = parser.parse_args()
    context = Context(options)
    shutil.rmtree(context.directory, ignore_errors=True)
    context.directory.mkdir(parents=True)
    # The path of a Unix socket is short.
    if len(str(context.directory.resolve())) < 60:
        context.directory = context.directory.resolve()
    else:
        import tempfile
        context.directory = Path(tempfile.mkdtemp(prefix="bench-", dir="/var/tmp"))
    samples, began = Samples(), time.monotonic()
    rounds, scale = (1, 0.3) if options.quick else (5, 0.75)
    measures = [m for m in all_measures() if not options.only or options.only in m.name]
    peers = all_peers(context)
    running = {}
    try:
        running = start_all(peers, context, samples)
        decode_whole(running, context, samples)
        for number in range(rounds):
            passed = time.monotonic() - began
            # A slow machine gets fewer rounds rather than a run without end.
            if number > 2 and passed * (number + 1) / number > ROUNDS_SECONDS:
                rounds = number
                break
            say(f"round {number + 1} of {rounds}, after {passed:.0f} s")
            measure_round(measures, running, context.generator, samples, scale, say)
        if not options.only or options.only in "commands":
            special("commands", samples, specials.commands, context, samples, running.get("redis"))
    finally:
        for peer in peers.values():
            peer.stop()
    for name in ("start_times", "memory", "sizes", "keys"):
        if not options.only or options.only in name:
            special(name, samples, getattr(specials, name), context, samples)
    lines = promises(samples)
    if options.only:
        lines = [line for line in lines if "not measured" not in line.ours]
    print(plain(lines))
    for problem in samples.problems:
        print(f"could not be measured: {problem}")
    minutes = (time.monotonic() - began) / 60
    notes = (f"{rounds} round{'s' * (rounds > 1)} in {minutes:.0f} minutes, "
             f"load {os.getloadavg()[1]:.1f}.")
    if not options.only:
        markdown(lines, samples, peers.values(), notes, datetime.date.today().isoformat())
    shutil.rmtree(context.directory, ignore_errors=True)


if __name__ == "__main__":
    main()
