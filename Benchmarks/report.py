"""The table of promises, what was measured, and the plots: docs/benchmarks.md."""

import os
import platform
import subprocess
from pathlib import Path

from svg import line_plot, short


class Line:
    """One row: what is measured, the figures, the bar, and whether it is met (None: no bar)."""

    def __init__(self, measure, ours, peers, bar, is_met):
        self.measure, self.ours, self.peers, self.bar, self.is_met = (
            measure, ours, peers, bar, is_met)


class Table:
    """Rows made of samples; a row without its samples says so instead of passing."""

    def __init__(self, samples):
        self.samples = samples
        self.lines = []

    def figure(self, measure, peer, key, scale=1.0):
        value = self.samples.median(measure, peer, key)
        return None if value is None else value * scale

    def text(self, measure, peer, key, unit, scale=1.0):
        value = self.figure(measure, peer, key, scale)
        if value is None:
            return "not measured"
        return f"{short(value)}{unit} ±{self.samples.spread(measure, peer, key):.0%}"

    def compare(self, title, measure, key, bars, others, unit="/s", scale=1.0, more_is_better=True,
                ours="pickersync-memory", own_measure=None):
        """`bars` is a list of (peer, factor)."""
        mine = self.figure(measure, ours, key, scale)
        verdicts, wanted = [], []
        for peer, factor in bars:
            theirs = self.figure(measure, peer, key, scale)
            wanted.append(f"{'≥' if more_is_better else '≤'} {factor:g} × {peer}")
            if mine is None or theirs is None:
                verdicts.append(False)
                continue
            verdicts.append(mine >= factor * theirs if more_is_better else mine <= factor * theirs)
            wanted[-1] += f" (is {mine / theirs:.2f})" if theirs else ""
        shown = [f"{peer} {self.text(measure, peer, key, unit, scale)}" for peer in others]
        self.lines.append(Line(title, self.text(measure, ours, key, unit, scale),
                               "; ".join(shown), "; ".join(wanted),
                               all(verdicts) if bars else None))

    def add(self, *arguments):
        self.lines.append(Line(*arguments))


def promises(samples):
    """Every row of the table of what must hold, and beside each the default durability."""
    table = Table(samples)
    events = "events_per_second"
    fan = ["redis", "nats", "mosquitto", "dbus", "relay", "relay-150"]
    for count, bars in ((100, [("redis", 1.9), ("relay", 0.6)]),
                        (1000, [("redis", 2.5), ("relay", 0.6)]), (1, [("redis", 1.2)])):
        title = f"events delivered, 1 writer pipelining 64, {count:,} subscribers"
        table.compare(title, f"fanout-{count}", events, bars, fan)
        table.compare(title + ", durability commit", f"fanout-{count}", events, [], [],
                      ours="pickersync-commit")
    for count, p50_max in ((100, 1.05), (1000, 1)):
        for key, name, bars in (("p50_us", "p50", [("redis", p50_max), ("relay", 1.15)]),
                                ("p99_us", "p99", [("redis", 1)])):
            table.compare(f"change seen by the last of {count:,} subscribers, paced, {name}",
                          f"paced-{count}", key, bars, ["redis", "mosquitto", "nats", "relay"],
                          unit=" µs", more_is_better=False)
            table.compare(f"the same, durability commit, {name}", f"paced-{count}", key, [], [],
                          unit=" µs", ours="pickersync-commit")
    for measure, title, factor in (("set-1", "on the other core", 1.05),
                                   ("set-1-same", "on the same core", 1.3)):
        table.compare(f"set, 1 connection, round trip p50, generator {title}", measure, "p50_us",
                      [("redis", factor)], ["redis", "mosquitto", "nats", "relay"], unit=" µs",
                      more_is_better=False)
        table.compare("the same, durability commit", measure, "p50_us", [], [], unit=" µs",
                      ours="pickersync-commit")
    for measure, title, factor in (("set-50", "50 connections", 0.9),
                                   ("set-64", "1 connection pipelining 64", 0.95)):
        table.compare(f"sets that subscribers see, {title}", measure, "per_second",
                      [("redis", factor)], ["redis", "mosquitto", "nats", "relay"])
        table.compare(f"the same, durability commit, {title}", measure, "per_second", [], [],
                      ours="pickersync-commit")
    for measure, title, factor in (("get-50", "50 connections", 1.1),
                                   ("get-64", "1 connection pipelining 64", 1)):
        table.compare(f"gets, {title}", measure, "per_second", [("redis", factor)],
                      ["redis", "nats", "dbus", "relay"])
    for measure, title, factor in (
            ("durable-50", "50 connections", 1.2), ("durable-64", "pipelining 64", 1.6),
            ("durable-512", "pipelining 512", 3), ("durable-1", "1 connection", 1.2)):
        table.compare(f"durable sets (answer after fsync), {title}", measure, "per_second",
                      [("redis-aof", factor)], ["redis-aof", "relay-durable"],
                      ours="pickersync-commit-wide")
    table.compare("durable events delivered, 100 subscribers", "durable-fanout", events,
                  [("redis-aof", 2)], ["redis-aof", "relay-durable"],
                  ours="pickersync-commit-wide")
    reading(table)
    table.compare("server CPU for a million delivered events, 100 subscribers", "fanout-100",
                  "server_seconds_per_million", [("redis", 0.5)], fan, unit=" s",
                  more_is_better=False)
    processes(table)
    keys(table)
    growth(table)
    return table.lines


def reading(table):
    alone = table.figure("get-alone", "pickersync-commit-wide", "p99_us")
    beside = table.figure("get-beside", "pickersync-commit-wide", "p99_us")
    if alone and beside:
        table.add("get p99 while 50 connections write durably", f"{beside:.0f} µs",
                  f"without: {alone:.0f} µs; redis-aof "
                  + table.text("get-beside", "redis-aof", "p99_us", " µs"),
                  f"≤ 4 × without (is {beside / alone:.2f})", beside <= 4 * alone)


def processes(table):
    def compare(title, name, bar_peer, factor, others):
        table.compare(title, "command", "p50_us", [(bar_peer, factor)], others, unit=" ms",
                      scale=1e-3, more_is_better=False, ours=name)
    get_peers = ["dconf read", "gsettings get", "redis-cli get", "etcdctl get"]
    compare("`pickerctl get`, whole process", "pickerctl get", "dconf read", 0.6, get_peers)
    compare("`pickerctl set`", "pickerctl set", "dconf read", 0.6,
            ["dconf write", "gsettings set", "redis-cli set"])
    table.compare("the same, durability commit", "command", "p50_us", [], [], unit=" ms",
                  scale=1e-3, ours="pickerctl set, durability commit")
    compare("`pickerctl watch --initial --count 1`", "pickerctl watch", "dconf read", 0.6, [])
    for measure, name in table.samples.all:
        if measure == "command" and name.startswith("pickerctl ") and name.split()[1] not in (
                "get", "set", "set,", "watch"):
            compare(f"`{name}`", name, "dconf read", 1, [])
    table.compare("a set seen by 10 watchers, from the start of the command", "watchers",
                  "p50_us", [("gsettings", 0.3)], ["gsettings", "dconf"], unit=" ms", scale=1e-3,
                  more_is_better=False, ours="pickersync")
    starts = ["start-mosquitto", "start-redis", "start-relay"]
    ours, bare = (table.figure("start", name, "ms") for name in ("start-pickersync", "start-relay"))
    more = None if ours is None or bare is None else ours - bare
    table.add("daemon start to ready, empty store",
              table.text("start", "start-pickersync", "ms", " ms"),
              "; ".join(f"{name} {table.text('start', name, 'ms', ' ms')}" for name in starts),
              "≤ 2.5 ms over the relay's" + ("" if more is None else f" (is {more:.1f})"),
              more is not None and more <= 2.5)
    table.compare("the same, 100 forms and 100,000 revisions", "start", "ms",
                  [("start-mosquitto", 3)], [], unit=" ms", more_is_better=False,
                  ours="start-full")
    everybody = ["mosquitto", "redis", "relay"]
    table.compare("memory of the idle daemon (RSS)", "memory", "idle_bytes", [("mosquitto", 1)],
                  everybody, unit="B", more_is_better=False, ours="pickersync")
    table.compare("memory of each idle subscriber of 10,000", "memory", "subscriber_bytes",
                  [("mosquitto", 1)], everybody, unit="B", more_is_better=False,
                  ours="pickersync")
    size = table.figure("store", "pickersync", "bytes")
    if size:
        edits = table.figure("store", "pickersync", "edits")
        table.add(f"store after {edits:,.0f} edits of one form", f"{short(size)}B", "",
                  "bounded by the retention (10,000 revisions)", None)


def keys(table):
    """What Benchmarks/key-to-cells measures of the live form."""
    for quantile in ("p50", "p99"):
        title = f"key press in one live form to the changed cells of another, {quantile}"
        mine = table.figure("keys", "pickersync", f"{quantile}_us")
        relay = table.figure("keys", "relay", f"{quantile}_us")
        if mine is None or relay is None:
            table.add(title, "not measured", "", "≤ 3 × a relay of the same bytes", False)
        else:
            size = table.figure("keys", "pickersync", "bytes")
            copy = table.figure("keys", "copy", f"{quantile}_us")
            table.add(title, f"{mine / 1e3:.2f} ms, {size:.0f} bytes",
                      f"relay on the same path {relay / 1e3:.2f} ms; copy by one process "
                      f"{copy / 1e3:.2f} ms",
                      f"≤ 3 × the relay (is {mine / relay:.2f})", mine <= 3 * relay)


def growth(table):
    """Flat in fields and forms: the largest size does at least 0.7 of the smallest."""
    for what, sizes in (("fields", (1, 100, 10_000)), ("forms", (1, 100, 1_000)),
                        ("history", (1, 10_000, 100_000, 1_000_000))):
        for kind, key in (("sets", "per_second"), ("fanout", "events_per_second")):
            found = [(size, table.figure(f"{what}-{kind}", size, key)) for size in sizes]
            found = [(size, value) for size, value in found if value]
            if len(found) < 2:
                continue
            ratio = found[-1][1] / found[0][1]
            table.add(f"{kind} with {what}: " + ", ".join(f"{size:,}" for size, _ in found),
                      ", ".join(short(value) + "/s" for _, value in found), "",
                      f"flat: the last ≥ 0.7 × the first (is {ratio:.2f})", ratio >= 0.7)
    wide = [(n, table.figure(f"fanout-{n}", "pickersync-memory", "events_per_second"))
            for n in (100, 1000, 10000)]
    wide = [(n, value) for n, value in wide if value]
    if len(wide) > 1:
        ratio = wide[-1][1] / wide[0][1]
        table.add("fan-out with subscribers: " + ", ".join(f"{n:,}" for n, _ in wide),
                  ", ".join(short(value) + "/s" for _, value in wide), "",
                  f"linear: events/s of the last ≥ 0.5 × the first (is {ratio:.2f})",
                  ratio >= 0.5)


# MARK: Writing

def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo")
                  if line.startswith("model name")), platform.machine())
    return f"{os.cpu_count()} × {model}, Linux {platform.release()}"


def plain(lines):
    """The table for a terminal."""
    out = []
    for line in lines:
        verdict = {True: "met", False: "NOT MET", None: ""}[line.is_met]
        out.append(f"{verdict:8}{line.measure}: {line.ours}")
        if line.peers:
            out.append(f"{'':10}{line.peers}")
        if line.bar:
            out.append(f"{'':10}{line.bar}")
    met = sum(line.is_met is True for line in lines)
    return "\n".join(out) + f"\n{met} of {sum(line.is_met is not None for line in lines)} met\n"


def plots(samples, directory):
    """Writes the plots; gives their names with titles."""
    series = []
    for peer, title in (("pickersync-memory", "PickerSync"), ("redis", "Redis"), ("nats", "NATS"),
                        ("mosquitto", "Mosquitto"), ("dbus", "dbus-broker"), ("relay", "limit")):
        found = [(n, samples.median(f"fanout-{n}", peer, "events_per_second"))
                 for n in (1, 10, 100, 1000, 10000)]
        series.append((title, [(n, value) for n, value in found if value]))
    drawn = [("fanout", "Events delivered a second", line_plot(
        "Events delivered a second, one writer pipelining 64", "subscribers", "events/s", series))]
    for what in ("fields", "forms", "history"):
        lines = []
        for kind, key, name in (("sets", "per_second", "sets/s"),
                                ("fanout", "events_per_second", "events/s")):
            sizes = sorted(n for measure, n in samples.all if measure == f"{what}-{kind}")
            lines.append((name, [(n, samples.median(f"{what}-{kind}", n, key)) for n in sizes]))
        title = {"fields": "fields in the form", "forms": "forms in the daemon",
                 "history": "revisions kept (durability commit)"}[what]
        drawn.append((what, f"Cost against {title}", line_plot(
            f"Cost against {title}", title, "a second", lines)))
    directory.mkdir(parents=True, exist_ok=True)
    for name, _, text in drawn:
        (directory / f"{name}.svg").write_text(text)
    return [(name, title) for name, title, text in drawn if text]


def tools():
    """The command lines that whole processes are measured beside, with their versions."""
    packages = {"dconf": "dconf-cli", "gsettings": "libglib2.0-bin", "redis-cli": "redis-tools",
                "etcdctl": "etcd-client"}
    for name, package in packages.items():
        done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package],
                              capture_output=True, text=True)
        yield name, done.stdout.strip()


def falls_short(lines):
    """The rows whose bar is not met, each with its ratio."""
    short_of = [line for line in lines if line.is_met is False]
    if not short_of:
        return []
    return ["## Where it falls short", "", *(
        f"- {line.measure}: {line.ours}; must hold: {line.bar}." for line in short_of), ""]


def loads(samples):
    """How busy the generator was, of its one processor, in each measure."""
    measures = []
    for measure, _ in samples.all:
        if measure not in measures and samples.all[measure, _][0].get("own_load") is not None:
            measures.append(measure)
    out = ["## How busy the generator was", "",
           "Of its one processor, median; where it is near 100 % the generator and not the server "
           "is the limit.", ""]
    for measure in measures:
        figures = [f"{peer} {samples.median(measure, peer, 'own_load'):.0%}"
                   for name, peer in samples.all if name == measure]
        out.append(f"- {measure}: {', '.join(figures)}")
    return out + [""]


def markdown(lines, samples, peers, notes, when):
    """The whole page."""
    root = Path("docs")
    drawn = plots(samples, root / "benchmarks")
    out = [
        "# Benchmarks", "",
        "What `make bench` printed; nothing here is written by hand.", "",
        f"{when}, {machine()}. {notes}", "",
        "Servers with one thread run on the first processor and the generator on the second, "
        "unless a row says otherwise; rows of durable edits leave the server both. Each figure is "
        "the median of interleaved rounds, ± half of the way from the least to the greatest. The "
        "generator (Benchmarks/load) checks that each event arrives once and in order, by length "
        "and embedded sequence number, and decodes each whole in a run of its own. Rows that do "
        "not say durable run with `durability = memory` against Redis without AOF.", "",
        "*limit* is Benchmarks/relay.c, a bare relay over libuv that copies frames as long as ours "
        "to each subscriber (relay-150: frames of 150 bytes, as long as the messages of the "
        "others).", "", "| measure | PickerSync | others | must hold | |",
        "| --- | --- | --- | --- | --- |"]
    verdicts = {True: "met", False: "**not met**", None: ""}
    for line in lines:
        out.append(f"| {line.measure} | {line.ours} | {line.peers} | {line.bar} | "
                   f"{verdicts[line.is_met]} |")
    met = sum(line.is_met is True for line in lines)
    out += ["", f"{met} of {sum(line.is_met is not None for line in lines)} bars are met.", ""]
    out += falls_short(lines)
    out += ["## Against size", ""]
    for name, title in drawn:
        out += [f"![{title}](benchmarks/{name}.svg)", ""]
    out += ["## Who was measured", "", "| peer | version | setting |", "| --- | --- | --- |"]
    out += [f"| {peer.title} | {peer.version() or '–'} | {peer.setting} |" for peer in peers]
    out += [f"| {name} | {version or '–'} | as installed |" for name, version in tools()]
    out += ["", *loads(samples)]
    if samples.problems:
        out += ["## What could not be measured", ""]
        out += [f"- {problem}" for problem in samples.problems]
    (root / "benchmarks.md").write_text("\n".join(out) + "\n")
