"""What is measured, of whom, and how often: each round measures every peer of a measure in turn, so
that what disturbs the machine disturbs all alike."""

import json
import statistics
import subprocess

from peers import LOAD_CPU, SERVER_CPU


class Measure:
    """One line of measurements: the generator's arguments, and the peers that it goes round."""

    def __init__(self, name, what, peers, arguments, seconds=1.0, same_cpu=False):
        self.name, self.what, self.peers = name, what, peers
        self.arguments, self.seconds, self.same_cpu = arguments, seconds, same_cpu


class Samples:
    """All that was measured, by measure and peer, and what could not be."""

    def __init__(self):
        self.all = {}
        self.problems = []
        self.failures = {}

    def failed(self, measure, peer, error):
        """A run that gave no figure."""
        self.failures[measure, peer] = self.failures.get((measure, peer), 0) + 1
        problem = f"{measure}: {error}"
        if problem not in self.problems:
            self.problems.append(problem)

    def add(self, measure, peer, values):
        self.all.setdefault((measure, peer), []).append(values)

    def values(self, measure, peer, key):
        return [s[key] for s in self.all.get((measure, peer), []) if key in s]

    def median(self, measure, peer, key):
        values = self.values(measure, peer, key)
        return statistics.median(values) if values else None

    def spread(self, measure, peer, key):
        """Half of the way from the least to the greatest, of the median."""
        values = self.values(measure, peer, key)
        middle = self.median(measure, peer, key)
        return (max(values) - min(values)) / 2 / middle if values and middle else 0


class Generator:
    """Runs Benchmarks/load."""

    def __init__(self, build):
        self.program = f"{build}/load"

    def run(self, what, peer, *arguments, cpu=LOAD_CPU):
        command = ["taskset", "-c", cpu, self.program, what, "--wire", peer.wire, "--place",
                   peer.place, "--server", str(peer.pid), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise RuntimeError(f"{peer.name}: {done.stderr.strip()[:300]}")
        return json.loads(done.stdout)

    def commands(self, times, *commands, environment=None):
        """Whole processes in turn; what each took."""
        return self.processes("commands", commands, "--connections", times,
                              environment=environment)

    def watchers(self, times, watch, change, environment=None):
        return self.processes("watchers", [watch, change], "--subscribers", 10, "--connections",
                              times, environment=environment)

    def processes(self, what, commands, *arguments, environment=None):
        joined = []
        for command in commands:
            joined += [","] * bool(joined) + [str(word) for word in command]
        done = subprocess.run(
            [self.program, what, *map(str, arguments), "--", *joined], capture_output=True,
            text=True, timeout=60, env=environment)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip()[:300])
        return json.loads(done.stdout)


def measure_round(measures, peers, generator, samples, scale, say):
    """Every measure of every peer, once."""
    for measure in measures:
        for name in measure.peers:
            peer = peers.get(name)
            # What failed twice fails again, and takes its time.
            if peer is None or samples.failures.get((measure.name, name), 0) > 1:
                continue
            arguments = [*measure.arguments, "--seconds", measure.seconds * scale]
            # The frame that the limit copies is as long as ours.
            if name == "relay" and measure.what == "fanout":
                own = samples.median("fanout-100", "pickersync-memory", "event_bytes")
                if own:
                    arguments += ["--payload", int(own) - 5]
            try:
                cpu = SERVER_CPU if measure.same_cpu else LOAD_CPU
                result = generator.run(measure.what, peer, *arguments, cpu=cpu)
                samples.add(measure.name, name, result)
            except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
                samples.failed(measure.name, name, error)
        say(measure.name)


OURS = ["pickersync-memory", "pickersync-commit"]
FAN = [*OURS, "redis", "nats", "mosquitto", "dbus", "relay", "relay-150"]
DURABLE = ["pickersync-commit-wide", "redis-aof", "relay-durable"]


def fanout(subscribers, peers, **others):
    return Measure(f"fanout-{subscribers}", "fanout", peers,
                   ["--subscribers", subscribers, "--pipeline", 64], **others)


def requests(name, peers, connections, pipeline, *more, **others):
    return Measure(name, "requests", peers,
                   ["--subscribers", 0, "--connections", connections, "--pipeline", pipeline,
                    *more], **others)


def all_measures():
    """In the order of the table."""
    paced_peers = [*OURS, "redis", "mosquitto", "nats", "relay"]
    memory = ["pickersync-memory", "pickersync-commit", "redis", "mosquitto", "nats", "relay"]
    reads = ["pickersync-memory", "redis", "nats", "dbus", "relay"]
    return [
        fanout(100, FAN), fanout(1000, FAN), fanout(1, FAN), fanout(10, FAN),
        fanout(10000, ["pickersync-memory", "redis", "relay"], seconds=1.5),
        Measure("paced-100", "fanout", paced_peers, ["--subscribers", 100, "--rate", 400],
                seconds=2),
        Measure("paced-1000", "fanout", paced_peers, ["--subscribers", 1000, "--rate", 60],
                seconds=2),
        requests("set-1", memory, 1, 1, seconds=0.6),
        requests("set-1-same", memory, 1, 1, seconds=0.6, same_cpu=True),
        requests("set-50", memory, 50, 1), requests("set-64", memory, 1, 64),
        requests("get-50", reads, 50, 1, "--gets"), requests("get-64", reads, 1, 64, "--gets"),
        requests("durable-50", DURABLE, 50, 1), requests("durable-64", DURABLE, 1, 64),
        requests("durable-512", DURABLE, 1, 512), requests("durable-1", DURABLE, 1, 1),
        Measure("durable-fanout", "fanout", DURABLE, ["--subscribers", 100, "--pipeline", 64]),
        requests("get-alone", DURABLE[:2], 1, 1, "--gets"),
        requests("get-beside", DURABLE[:2], 1, 1, "--gets", "--writers", 50),
    ]
