"""The people of a host: writers who keep a ledger of what was answered, and watchers who check each
revision. They speak the protocol themselves, on asyncio, in a process of their own."""

import asyncio
import json
import random
import socket
import struct
import time

import network
import peers

FORM = "shared"
TARGETS = ["test", "prod", "lab", "none"]


def definition(hosts, writers, form=FORM):
    fields = [
        {"id": "total", "type": "stepper", "min": 0, "max": 1_000_000_000_000, "default": 0},
        {"id": "n", "type": "stepper", "min": 0, "max": 1_000_000},
        {"id": "go", "type": "button"},
        {"id": "target", "type": "picker", "options": TARGETS},
    ]
    for host in range(hosts):
        for writer in range(writers):
            fields.append({"id": note(host, writer), "type": "text", "maxLength": 200})
    return {"form": form, "fields": fields}


def note(host, writer):
    return "note-%d-%d" % (host, writer)


def pipeline(path, field, text, goes_on, form=FORM, depth=64):
    """Increments of one client that does not wait for answers, as long as `goes_on(sent)`; each
    writes a text as well. Gives how many were answered."""
    client = peers.Client(path, 300)
    sent = answered = 0
    while goes_on(sent) or answered < sent:
        while sent - answered < depth and goes_on(sent):
            sent += 1
            client.send(peers.request("state.set", peers.change(
                form, {"field": "total", "increment": 1},
                {"field": field, "value": "%d %s" % (sent, text)}), sent))
        message = client.message()
        if message is None or "error" in message:
            raise RuntimeError("an edit was refused: %s" % message)
        answered += "result" in message
    client.close()
    return answered


class Line:
    """A connection that comes back: requests are sent again until they are answered."""

    def __init__(self, path):
        self.path = path
        self.reader = None

    async def connect(self):
        while True:
            try:
                self.reader, self.writer = await asyncio.open_unix_connection(
                    self.path, limit=1 << 24)
                return
            except OSError:
                await asyncio.sleep(0.02)

    async def message(self):
        try:
            length = struct.unpack(">I", await self.reader.readexactly(4))[0]
            return json.loads(await self.reader.readexactly(length))
        except (asyncio.IncompleteReadError, OSError):
            self.writer.transport.abort()
            self.reader = None
            return None

    async def ask(self, method, params):
        """The answer, and whether it came at the first try."""
        is_first = True
        while True:
            if self.reader is None:
                await self.connect()
            self.writer.write(peers.request(method, params))
            while answer := await self.message():
                if answer.get("id") != 1:
                    continue
                if (answer.get("error", {}).get("data") or {}).get("kind") == "unavailable":
                    break
                return answer, is_first
            is_first = False
            await asyncio.sleep(0.02)


class Writer:
    def __init__(self, crowd, number):
        self.crowd = crowd
        self.note = note(crowd.host, number)
        self.name = "%d-%d-%d" % (crowd.host, number, crowd.turn)
        self.rnd = random.Random("%d %s" % (peers.SEED, self.name))
        self.line = Line(crowd.path)
        self.number = 0

    async def run(self):
        while not self.crowd.stops:
            await asyncio.sleep(self.rnd.random() * 2 * self.crowd.pause)
            await self.edit()

    async def edit(self):
        crowd, rnd = self.crowd, self.rnd
        self.number += 1
        step, presses, text = 0, 0, None
        changes = []
        if rnd.random() < 0.6:
            step = rnd.randint(1, 9)
            changes.append({"field": "total", "increment": step})
        if rnd.random() < 0.3:
            presses = 1
            changes.append({"field": "go", "press": True})
        if rnd.random() < 0.6 or not changes:
            text = "%d %s" % (self.number, "x" * rnd.randint(0, 60))
            changes.append({"field": self.note, "value": text})
        if rnd.random() < 0.2:
            changes.append({"field": "target", "value": rnd.choice(TARGETS)})
        key = "%s-%s-%d" % (crowd.form, self.name, self.number)
        began = time.perf_counter()
        answer, is_first = await self.line.ask(
            "state.set", peers.change(crowd.form, *changes, idempotencyKey=key))
        if "result" not in answer:
            crowd.findings.append("an edit was refused: %s" % json.dumps(answer)[:300])
            return
        if is_first:
            crowd.times.append(time.perf_counter() - began)
        crowd.edits += 1
        crowd.total += step
        crowd.presses += presses
        if text is not None:
            crowd.notes[self.note] = text


class Watcher:
    """Sees each revision once, in order, whatever happens between."""

    def __init__(self, crowd, number):
        self.crowd = crowd
        self.name = "watcher %d of host %d" % (number, crowd.host)
        self.log = None
        self.revision = 0
        self.seen = 0
        self.values = {}

    def wrong(self, text):
        self.crowd.findings.append("%s: %s" % (self.name, text))

    async def run(self):
        line = Line(self.crowd.path)
        while True:
            await line.connect()
            params = {"form": self.crowd.form}
            if self.log:
                params["since"] = {"log": self.log, "revision": self.revision}
            line.writer.write(peers.request("state.subscribe", params))
            while message := await line.message():
                self.take(message)
            await asyncio.sleep(0.02)

    def take(self, message):
        if message.get("id") == 1:
            self.subscribed(message)
        elif message.get("method") in ("state.changed", "form.changed"):
            params = message["params"]
            if params["form"] == self.crowd.form:
                self.advance(params)

    def subscribed(self, message):
        result = message.get("result")
        if result is None:
            if message["error"].get("data", {}).get("kind") != "unavailable":
                self.wrong("subscribing was refused: %s" % json.dumps(message)[:300])
            return
        if result["resumed"]:
            return
        if self.log:
            self.wrong("had seen %s:%d, was given a snapshot of %s:%d" % (
                self.log, self.revision, result["log"], result["revision"]))
        self.log, self.revision = result["log"], result["revision"]
        self.values = {name: each.get("value") for name, each in result["fields"].items()}

    def advance(self, params):
        newer = params["revision"]
        first = params.get("coalesced", {}).get("from", newer)
        if first != self.revision + 1:
            self.wrong("revision %d follows %d" % (first, self.revision))
        self.seen += 1
        self.revision = newer
        for change in params.get("changes", []):
            if not isinstance(change, dict) or "field" not in change:
                continue
            field, value = change["field"], change.get("value")
            before = self.values.get(field)
            if (field == "total" and value < before) or (
                field == "go" and value["presses"] < before["presses"]):
                self.wrong("%s went from %s to %s at %d" % (field, before, value, newer))
            self.values[field] = value


class Process:
    """A process of its own that is asked for one answer after the other, in lines of JSON."""

    def __init__(self, body, nice=0):
        self.ours, theirs = socket.socketpair()
        self.pid = peers.child(None, lambda: self.run(body, theirs), nice)
        theirs.close()
        self.lines = self.ours.makefile("r")

    def run(self, body, theirs):
        network.ends_with_row()
        self.ours.close()
        asyncio.run(self.answer(body, theirs))

    @staticmethod
    async def answer(body, theirs):
        reader, answers = await asyncio.open_connection(sock=theirs, limit=1 << 24)

        async def question():
            return json.loads(await reader.readline())

        async def tell(what):
            answers.write(json.dumps(what).encode() + b"\n")
            await answers.drain()

        await body(question, tell)
        await asyncio.sleep(3600)

    def ask(self, what):
        self.ours.sendall(json.dumps(what).encode() + b"\n")
        line = self.lines.readline()
        if not line:
            raise RuntimeError("a crowd's process has ended")
        return json.loads(line)


class Crowd:
    """Writers and watchers on one host, in two processes. The time of an edit must not contain what
    watchers do with many revisions, so watchers go last at the processor, too."""

    def __init__(self, host, path, writers, watchers, pause=0.12, form=FORM, turn=0):
        self.host, self.path, self.form, self.pause = host, path, form, pause
        # Crowds that come one after the other must not use the same idempotency keys.
        self.turn = turn
        self.findings = []
        self.writers = Process(lambda *ends: self.write(writers, *ends))
        self.watchers = watchers and Process(lambda *ends: self.watch(watchers, *ends), 19)

    def stop(self):
        """Lets the writers come to their end; the ledger: what was answered."""
        return self.writers.ask({})

    def finish(self, revision, fields, seconds=60):
        """Lets each watcher come to that revision and compares what it has then; what was wrong."""
        told = {"findings": [], "seen": 0}
        if self.watchers:
            told = self.watchers.ask({"revision": revision, "fields": fields, "seconds": seconds})
        self.end()
        return told

    def end(self):
        peers.end(self.writers.pid, *[self.watchers.pid] if self.watchers else [])

    async def write(self, writers, question, tell):
        self.stops = False
        self.times, self.notes = [], {}
        self.edits = self.total = self.presses = 0
        writing = [
            asyncio.create_task(Writer(self, number).run()) for number in range(writers)]
        await question()
        self.stops = True
        await asyncio.gather(*writing)
        await tell({
            "edits": self.edits, "total": self.total, "presses": self.presses,
            "notes": self.notes, "times": self.times, "findings": self.findings})

    async def watch(self, watchers, question, tell):
        watchers = [Watcher(self, number) for number in range(watchers)]
        watching = [asyncio.create_task(each.run()) for each in watchers]
        wanted = await question()
        ends = time.monotonic() + wanted["seconds"]
        for watcher in watchers:
            while watcher.revision < wanted["revision"] and time.monotonic() < ends:
                await asyncio.sleep(0.02)
            if watcher.revision != wanted["revision"]:
                watcher.wrong("is at %d, the form at %d" % (watcher.revision, wanted["revision"]))
            for field, value in wanted["fields"].items():
                if watcher.values.get(field) != value:
                    watcher.wrong("has %s for %s, which is %s" % (
                        watcher.values.get(field), field, value))
        for each in watching:
            if each.done():
                self.findings.append("a watcher ended: %r" % each.exception())
        await tell({
            "findings": self.findings, "seen": sum(each.seen for each in watchers)})
