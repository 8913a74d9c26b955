"""What is not a load on a running server: start-up, memory, whole commands, sizes, keys."""

import importlib
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

from peers import LOAD_CPU, Mosquitto, PickerSync, Redis, Relay, SERVER_CPU, Unavailable

# How often what is not measured in rounds with the peers is measured anyway.
ROUNDS = 3


def command_of(peer, directory, fresh):
    """What starts a peer; in an empty directory unless it is to find what is there."""
    if fresh:
        shutil.rmtree(directory, ignore_errors=True)
    return peer.command(directory)


def start_times(context, samples):
    """From the start of the process until it has answered a greeting."""
    full = full_store(context)
    peers = [PickerSync(context.release, "commit"), Redis(), Mosquitto(), Relay(context.build)]
    for _ in range(context.times(20)):
        for peer in peers:
            time_start(context, samples, peer, context.directory / "start" / peer.name, True,
                       f"start-{peer.wire}")
        if full:
            peer = PickerSync(context.release, "commit")
            time_start(context, samples, peer, full, False, "start-full")


def time_start(context, samples, peer, directory, fresh, name):
    try:
        command = command_of(peer, directory, fresh)
    except Unavailable:
        return
    done = subprocess.run(
        [context.generator.program, "start", "--wire", peer.wire, "--place", peer.place, "--",
         *command], capture_output=True, text=True, timeout=60)
    if done.returncode == 0:
        samples.add("start", name, json.loads(done.stdout))
    else:
        samples.problems.append(f"{name}: {done.stderr.strip()}")


def full_store(context):
    """A store of 100 forms with 1,000 revisions each, closed cleanly."""
    directory = context.directory / "full"
    peer = PickerSync(context.release, "memory")
    peer.start(directory)
    try:
        context.generator.run("prepare", peer, "--forms", 100)
        context.generator.run("requests", peer, "--forms", 100, "--pipeline", 512, "--count",
                              100_000, "--subscribers", 0)
    finally:
        peer.stop()
    return directory


def memory(context, samples):
    """Idle, and for each of many idle subscribers."""
    count = 10_000 if not context.is_quick else 2_000
    for peer in (PickerSync(context.release, "commit"), Redis(), Mosquitto(),
                 Relay(context.build)):
        try:
            peer.start(context.directory / "memory" / peer.name)
        except Unavailable as problem:
            samples.problems.append(f"memory: {problem}")
            continue
        try:
            # Whatever a server does once it is quiet, it has done.
            time.sleep(2)
            idle = peer.resident_bytes()
            context.generator.run("prepare", peer)
            time.sleep(0.2)
            before = peer.resident_bytes()
            holder = subprocess.Popen(
                ["taskset", "-c", LOAD_CPU, context.generator.program, "idle", "--wire", peer.wire,
                 "--place", peer.place, "--subscribers", str(count)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            holder.stdout.readline()
            after = peer.resident_bytes()
            holder.communicate("")
            samples.add("memory", peer.wire, {
                "idle_bytes": idle, "subscriber_bytes": max(0, after - before) / count})
        finally:
            peer.stop()


# MARK: Commands

SCHEMA = """<schemalist><schema id="pickersync.bench" path="/pickersync/bench/">
<key name="flavor" type="s"><default>'chocolate'</default></key></schema></schemalist>
"""


class Session:
    """A session bus with dconf, its own configuration and schemas: what gsettings needs."""

    def __init__(self, directory):
        self.directory = directory
        schemas = directory / "schemas"
        schemas.mkdir(parents=True, exist_ok=True)
        (schemas / "pickersync.bench.gschema.xml").write_text(SCHEMA)
        subprocess.run(["glib-compile-schemas", str(schemas)], check=True)
        address = f"unix:path={directory}/bus"
        self.environment = dict(
            os.environ, DBUS_SESSION_BUS_ADDRESS=address, GSETTINGS_SCHEMA_DIR=str(schemas),
            XDG_CONFIG_HOME=str(directory / "config"), XDG_RUNTIME_DIR=str(directory),
            GSETTINGS_BACKEND="dconf")
        self.bus = subprocess.Popen(
            ["dbus-daemon", "--session", "--nofork", f"--address={address}"],
            env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.3)
        subprocess.run(["dconf", "write", "/pickersync/bench/flavor", "'vanilla'"],
                       env=self.environment, check=True)

    def stop(self):
        self.bus.terminate()
        self.bus.wait()


def commands(context, samples, redis):
    """Whole processes, side by side with what people would type otherwise."""
    ctl = f"{context.release}/pickerctl"
    peer = PickerSync(context.release, "memory")
    peer.start(context.directory / "commands")
    durable = PickerSync(context.release, "commit")
    durable.start(context.directory / "durable")
    os.environ["PICKERSYNC_SOCKET"] = peer.place
    session = etcd = None
    try:
        for place in (peer.place, durable.place):
            subprocess.run([ctl, "form", "apply", "--socket", place,
                            "Examples/forms/ice-cream.yaml"], check=True,
                           stdout=subprocess.DEVNULL)
        session = Session(context.directory / "session")
        etcd = start_etcd(context.directory / "etcd")
        common = {
            "pickerctl get": [ctl, "get", "flavor"],
            "pickerctl set": [ctl, "set", "flavor=vanilla"],
            "pickerctl set, durability commit": [ctl, "set", "--socket", durable.place,
                                                 "flavor=vanilla"],
            "pickerctl watch": [ctl, "watch", "--initial", "--count", "1", "flavor"],
            "pickerctl next": [ctl, "next", "--wrap", "flavor"],
            "pickerctl describe": [ctl, "describe", "flavor"],
            "pickerctl wait": [ctl, "wait", "topping=nuts"],
            "pickerctl history": [ctl, "history"],
            "pickerctl who": [ctl, "who"],
            "pickerctl status": [ctl, "status"],
            "pickerctl form list": [ctl, "form", "list"],
            "pickerctl form check": [ctl, "form", "check", "Examples/forms/ice-cream.yaml"],
            "pickerctl dump": [ctl, "dump"],
            "pickerctl undo": [ctl, "undo"],
            "pickerctl doctor": [ctl, "doctor"],
            "dconf read": ["dconf", "read", "/pickersync/bench/flavor"],
            "dconf write": ["dconf", "write", "/pickersync/bench/flavor", "'vanilla'"],
            "gsettings get": ["gsettings", "get", "pickersync.bench", "flavor"],
            "gsettings set": ["gsettings", "set", "pickersync.bench", "flavor", "vanilla"],
        }
        if redis is not None:
            common["redis-cli get"] = ["redis-cli", "-s", redis.place, "get", "k"]
            common["redis-cli set"] = ["redis-cli", "-s", redis.place, "set", "k2", "vanilla"]
        if etcd is not None:
            common["etcdctl get"] = ["etcdctl", "--endpoints", ETCD, "get", "k"]
        kept = {}
        for name, command in common.items():
            try:
                context.generator.commands(1, command, environment=session.environment)
                kept[name] = command
            except (RuntimeError, subprocess.TimeoutExpired) as problem:
                samples.problems.append(f"{name}: {problem}")
        for _ in range(ROUNDS):
            results = context.generator.commands(context.times(60) // ROUNDS, *kept.values(),
                                                 environment=session.environment)
            for name, result in zip(kept, results):
                samples.add("command", name, result)
        watchers(context, samples, ctl, session)
    finally:
        for process in (session, etcd, peer, durable):
            if process is not None:
                process.stop()


def watchers(context, samples, ctl, session):
    times = context.times(30)
    pairs = {
        "pickersync": ([ctl, "watch", "scoops"], [ctl, "set", "scoops={}"]),
        "dconf": (["dconf", "watch", "/pickersync/bench/"],
                  ["dconf", "write", "/pickersync/bench/flavor", "'v{}'"]),
        "gsettings": (["gsettings", "monitor", "pickersync.bench"],
                      ["gsettings", "set", "pickersync.bench", "flavor", "w{}"]),
    }
    subprocess.run([ctl, "form", "apply", "Benchmarks/scoops.yaml"], check=True,
                   stdout=subprocess.DEVNULL)
    environment = dict(session.environment, PICKERSYNC_FORM="bench-scoops")
    for name, (watch, change) in pairs.items():
        try:
            samples.add("watchers", name, context.generator.watchers(
                times, watch, change, environment=environment))
        except (RuntimeError, subprocess.TimeoutExpired) as problem:
            samples.problems.append(f"watchers, {name}: {problem}")


ETCD = "http://127.0.0.1:24379"


class Background:
    def __init__(self, process):
        self.process = process

    def stop(self):
        self.process.terminate()
        self.process.wait()


def start_etcd(directory):
    if shutil.which("etcd") is None:
        return None
    process = subprocess.Popen(
        ["etcd", "--data-dir", str(directory), "--listen-client-urls", ETCD,
         "--advertise-client-urls", ETCD, "--listen-peer-urls", "http://127.0.0.1:24380"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1.5)
    return Background(process)


# MARK: Keys

def keys(context, samples):
    """A key in one live form to the cells of another, beside a relay: key-to-cells.py."""
    key_to_cells = importlib.import_module("key-to-cells")
    count = 200 if context.is_quick else 1_000
    times, size = key_to_cells.measure(
        Path(context.release).resolve(), Path(context.build).resolve(), "memory", count, 3000)
    times["pickersync"] = times.pop("ours")
    for name, values in times.items():
        samples.add("keys", name, {
            f"p{share * 100:.0f}_us": key_to_cells.percentile(values, share) / 1e3
            for share in (0.5, 0.99)} | {"bytes": size})


# MARK: Sizes

def sizes(context, samples):
    """Sets and fan-out against fields, forms and history."""
    seconds = 0.3 if context.is_quick else 0.6
    rounds = 1 if context.is_quick else ROUNDS
    for what, counts, limit in (
            # A form of so many texts is described and shown in one frame.
            ("fields", (1, 100, 10_000), "maxFrame=16777216"),
            ("forms", (1, 100, 1_000), "formsPerUserMax=1000")):
        for count in counts * rounds:
            with_daemon(context, samples, "memory", f"{what}-{count}", lambda peer: (
                context.generator.run("prepare", peer, f"--{what}", count),
                note(context, samples, peer, what, count, seconds, f"--{what}", count)), limit)
    revisions = (0, 10_000) if context.is_quick else (0, 10_000, 100_000, 1_000_000)
    done = 0

    def grow(peer):
        nonlocal done
        context.generator.run("prepare", peer)
        for wanted in revisions:
            if wanted > done:
                context.generator.run("requests", peer, "--pipeline", 512, "--count",
                                      wanted - done, "--subscribers", 0)
            done = wanted
            note(context, samples, peer, "history", max(wanted, 1), 2 * seconds)

    with_daemon(context, samples, "commit", "history", grow, "historyRevisionsMax=10000000",
                "historyBytesMax=100000000000")
    with_daemon(context, samples, "commit", "million", lambda peer: million(context, samples, peer))


def million(context, samples, peer):
    count = 100_000 if context.is_quick else 1_000_000
    context.generator.run("prepare", peer)
    context.generator.run("requests", peer, "--pipeline", 512, "--count", count, "--subscribers", 0)
    time.sleep(1)
    state = context.directory / "million" / "state"
    total = sum(file.stat().st_size for file in state.rglob("*") if file.is_file())
    samples.add("store", "pickersync", {"bytes": total, "edits": count})


def note(context, samples, peer, what, count, seconds, *arguments):
    run = context.generator.run
    done = run("requests", peer, "--pipeline", 64, "--subscribers", 0, "--seconds", seconds,
               *arguments)
    samples.add(f"{what}-sets", count, done)
    more = arguments if what == "fields" else ()
    done = run("fanout", peer, "--pipeline", 64, "--subscribers", 100, "--seconds", seconds, *more)
    samples.add(f"{what}-fanout", count, done)


def with_daemon(context, samples, durability, name, body, *limits):
    """One size; what cannot be measured of it leaves the others their figures."""
    peer = PickerSync(context.release, durability)
    if limits:
        plain = peer.arguments
        peer.arguments = lambda directory: plain(directory) + [
            word for limit in limits for word in ("--limit", limit)]
    directory = context.directory / name
    shutil.rmtree(directory, ignore_errors=True)
    try:
        peer.start(directory)
        body(peer)
    except (RuntimeError, Unavailable, OSError, subprocess.SubprocessError) as problem:
        samples.problems.append(f"{name}: {problem}")
    finally:
        peer.stop()
        shutil.rmtree(directory, ignore_errors=True)
