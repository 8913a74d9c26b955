"""A daemon that lies, and the live form on a terminal: nothing raw, bounded memory, and an end.

    python3 hostile.py FOLDER-OF-THE-PROGRAMS [STORY…]

Each program runs with a bound on its address space (RLIMIT_AS), so that memory without a bound ends
it with another status than the story wants.
"""

import json
import os
import shutil
import socket
import struct
import sys
import tempfile
import threading

from bench import Tty, check, run
from naughty import WORST, harmful

PROGRAMS = sys.argv[1]

#: KiB of address space of each program. A frame of 64 MiB alone takes a few times its length.
ADDRESS_KIB = 1200 << 10

FIELDS = [
    {"id": "a", "type": "picker", "options": ["x", "y"]}, {"id": "t", "type": "text"},
    {"id": "n", "type": "slider", "min": 0, "max": 9}, {"id": "go", "type": "button"},
    {"id": "d", "type": "date"}, {"id": "k", "type": "secure"}]


def frame(message):
    text = message if isinstance(message, bytes) else json.dumps(message).encode()
    return struct.pack(">I", len(text)) + text


def field(value, revision=1):
    return {"value": value, "revision": revision, "set": True}


def changed(revision, *changes):
    return frame({"jsonrpc": "2.0", "method": "state.changed", "params": {
        "form": "f", "revision": revision, "context": "",
        "changes": [{"field": name, **field(value, revision)} for name, value in changes]}})


class Liar:
    """Answers as a daemon would, but for what a story puts in its place."""

    def __init__(self, fields=None, values=None, greeting=None, user="x"):
        self.fields = fields or FIELDS
        self.values = values or {
            "a": "x", "t": "text", "n": 1, "go": {"presses": 0}, "d": "2026-01-01", "k": None}
        self.greeting = greeting
        self.user = user
        self.folder = tempfile.mkdtemp(prefix="pickerlies-", dir="/tmp")
        self.path = self.folder + "/sock"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(16)
        threading.Thread(target=self.accept, daemon=True).start()

    def answered(self, method):
        if method == "hello":
            return {"protocol": 1, "server": "x", "replica": "3f9a.1", "features": [],
                    "you": {"connection": 1, "uid": 0, "gid": 0, "pid": 1, "user": self.user},
                    "limits": {"maxFrame": 1 << 26}}
        state = {"form": "f", "log": "a", "revision": 1, "context": "",
                 "fields": {name: field(value) for name, value in self.values.items()}}
        return {
            "form.get": {"form": "f", "version": 1, "log": "a", "revision": 1,
                         "definition": {"form": "f", "title": "Lies", "fields": self.fields}},
            "form.list": {"forms": [{"form": "f", "version": 1, "revision": 1, "fields": 1,
                                     "subscribers": 0}]},
            "state.get": state, "state.subscribe": {**state, "resumed": False}}.get(method, {})

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        stream = client.makefile("rb")
        try:
            while header := stream.read(4):
                request = json.loads(stream.read(struct.unpack(">I", header)[0]))
                self.respond(client, request)
        except (OSError, ValueError, struct.error):
            pass
        finally:
            client.close()

    def respond(self, client, request):
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": self.answered(request["method"])}
        client.sendall(frame(answer))
        if request["method"] == "state.subscribe":
            self.subscribed(client)

    def subscribed(self, client):
        pass

    def open(self, *options):
        return self.start("open f " + " ".join(options))

    def start(self, words):
        command = f"ulimit -v {ADDRESS_KIB}; exec pickerctl {words}"
        return Tty(
            ["/bin/sh", "-c", f"stty -a > {self.folder}/before; ({command}); echo status $?; "
             f"stty -a > {self.folder}/after"], 80, 24,
            {"PATH": PROGRAMS + ":" + os.environ["PATH"], "HOME": self.folder,
             "PICKERSYNC_SOCKET": self.path, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"})

    def close(self):
        self.listener.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def ended(liar, t, status):
    """It ended with this status, left the terminal as it was, and wrote nothing raw."""
    t.sees(f"status {status}")
    # What stty says is complete when the shell has ended, whatever text is on the screen.
    t.ends(0)
    with open(liar.folder + "/before") as before, open(liar.folder + "/after") as after:
        check(before.read() == after.read(), "stty differs")
    check(1049 not in t.screen.modes, "the alternate screen is left on")
    found = harmful(bytes(t.raw), True)
    check(not found, lambda: f"{sorted(found)} raw: {bytes(t.raw)[-400:]!r}")


def leaves(liar):
    """The form is there, keys work, and q leaves."""
    t = liar.open()
    try:
        t.sees("Lies")
        t.press("Down", "Up")
        t.pump(0.5)
        t.press("q")
        ended(liar, t, 0)
    finally:
        t.end()
        liar.close()


def refuses(liar, status, text):
    """It ends by itself, with a reason."""
    t = liar.open()
    try:
        ended(liar, t, status)
        # A long line goes on in the next one.
        check(text in "".join(t.lines()), f"no {text!r} in\n{t.text()}")
    finally:
        t.end()
        liar.close()


def floods(body):
    """A daemon that sends `body(number)` for ever once the form is followed."""
    class Flooding(Liar):
        def subscribed(self, client):
            number = 1
            while True:
                batch = []
                for _ in range(100):
                    number += 1
                    batch.append(body(number))
                client.sendall(b"".join(batch))
    return Flooding()


def flood_of_changes():
    leaves(floods(lambda number: changed(number, ("a", "xy"[number % 2]))))


def flood_of_new_fields():
    leaves(floods(lambda number: changed(number, (f"f{number}", "z" * 2000))))


def flood_of_people():
    leaves(floods(lambda number: frame(
        {"jsonrpc": "2.0", "method": "presence.changed", "params": {"form": "f", "peers": [
            {"connection": number, "user": WORST, "client": WORST, "tty": WORST, "focus": "a",
             "draft": WORST}]}})))


def flood_of_definitions():
    leaves(floods(lambda number: frame(
        {"jsonrpc": "2.0", "method": "form.changed", "params": {
            "form": "f", "version": number, "revision": number, "context": "",
            "definition": {"form": "f", "title": "Lies", "fields": FIELDS}, "changes": []}})))


def flood_of_goodbyes():
    leaves(floods(lambda number: frame(
        {"jsonrpc": "2.0", "method": "goodbye", "params": {"reason": WORST, "retryAfterMs": 1}})))


def flood_of_endings():
    class Ending(Liar):
        def subscribed(self, client):
            while True:
                client.sendall(frame({"jsonrpc": "2.0", "method": "form.changed", "params": {
                    "form": "f", "revision": 5, "deleted": True}}))
    leaves(Ending())


def wrong_values():
    class Wrong(Liar):
        def subscribed(self, client):
            client.sendall(changed(2, ("a", {"x": [1]}), ("t", 7), ("n", WORST), ("go", []),
                                   ("d", -1), ("k", WORST)))
            client.sendall(changed(3, ("t", WORST), ("n", 1 << 62), ("go", {"presses": -1})))
            client.sendall(changed((1 << 63) - 1, ("a", WORST)))
    leaves(Wrong(user=WORST, values={"a": 1, "t": [], "n": "x", "go": 3, "d": {}, "k": "open"}))


def silence_after_the_subscription():
    class Silent(Liar):
        def respond(self, client, request):
            if request["method"] != "state.subscribe":
                super().respond(client, request)
    leaves(Silent())


def no_answers():
    """Broken answers to the subscription: it stays, says so, and can be left."""
    for text in (b"[", b"7", b"{}", b'{"jsonrpc":"2.0","id":99,"result":{}}', b"\xff"):
        class Wrong(Liar):
            def respond(self, client, request):
                if request["method"] == "state.subscribe":
                    client.sendall(frame(text))
                else:
                    super().respond(client, request)
        leaves(Wrong())


def long_frames():
    """Frames of 64 MiB: of few bytes a value, and longer than announced."""
    for value in (b"0", b"{}", b"[]"):
        class Long(Liar):
            def respond(self, client, request):
                if request["method"] == "hello":
                    return super().respond(client, request)
                begin = b'{"jsonrpc":"2.0","id":%d,"result":[' % request["id"]
                count = ((1 << 26) - len(begin) - 8) // (len(value) + 1)
                client.sendall(frame(begin + (value + b",") * count + value + b"]}"))
        refuses(Long(), 69, "more values than can be held")

    class Longer(Liar):
        def respond(self, client, request):
            if request["method"] == "hello":
                return super().respond(client, request)
            client.sendall(b"\x04\0\0\x01")
            while True:
                client.sendall(b"[" * 65536)
    refuses(Longer(), 69, "67108865")


def floods_before_an_answer():
    class Flooding(Liar):
        def __init__(self, message, mebibytes):
            super().__init__()
            self.message = message
            self.count = (mebibytes << 20) // len(message)

        def respond(self, client, request):
            super().respond(client, request)
            if request["method"] == "hello":
                client.sendall(self.message * self.count)
    resend = {"code": -32001, "message": WORST, "data": {"kind": "notFound", "resend": True}}
    for message in (
            {"jsonrpc": "2.0", "method": "goodbye", "params": {"reason": WORST}},
            {"jsonrpc": "2.0", "method": WORST, "params": {}},
            {"jsonrpc": "2.0", "id": 777, "error": resend}, b"[" + b" " * 300 + b"]"):
        leaves(Flooding(frame(message), 15))
        refuses(Flooding(frame(message), 17), 69, "bytes of other messages before an answer")


def forms_of_absurd_size():
    sizes = {
        "fields": [{"id": f"f{n}", "type": "toggle"} for n in range(100_000)],
        "options": [{"id": "a", "type": "picker", "options": [f"o{n}" for n in range(500_000)]}],
        "references": [{"id": "a", "type": "text"}, {"id": "b", "type": "label",
                                                     "text": "${a}" * 200_000}],
        "labels": [{"id": "a", "type": "toggle", "label": "L" * 10_000_000}],
        "cycles": [{"id": "a", "type": "toggle", "binds": "b"},
                   {"id": "b", "type": "toggle", "binds": "a"}],
        "twice": [{"id": "a", "type": "toggle"}, {"id": "a", "type": "text"}],
        "bounds": [{"id": "a", "type": "slider", "min": 9, "max": 0, "step": -1}],
        "escapes": [{"id": "a", "type": "toggle", "label": WORST, "help": WORST}]}
    for fields in sizes.values():
        refuses(Liar(fields=fields), 69, "cannot be shown")


def errors_of_any_length():
    class Refusing(Liar):
        def respond(self, client, request):
            if request["method"] == "hello":
                return super().respond(client, request)
            client.sendall(frame({"jsonrpc": "2.0", "id": request["id"], "error": {
                "code": -32001, "message": WORST + "e" * 10_000_000,
                "data": {"kind": "notFound", "similar": [WORST] * 100_000}}}))
    liar = Refusing()
    t = liar.open()
    try:
        ended(liar, t, 66)
        check(len(t.raw) < 100_000, f"{len(t.raw)} bytes of an error")
    finally:
        t.end()
        liar.close()


def plain_lines():
    """As text, a line is cut where nobody reads on."""
    long = Liar(values={"a": "x", "t": WORST + "v" * 20_000_000, "n": 1, "go": {"presses": 0},
                        "d": "2026-01-01", "k": None})
    t = long.open("--non-interactive")
    try:
        ended(long, t, 0)
        check(len(t.raw) < 500_000, f"{len(t.raw)} bytes of a line")
    finally:
        t.end()
        long.close()


AUTHOR = {"user": WORST, "uid": 0, "client": WORST, "connection": 1, "replica": "3f9a.1"}
MOMENT = "2026-01-01T00:00:00.000Z"


class Runs(Liar):
    """A button whose press runs, and what is told of it after the subscription."""

    PRESS = "3f9a.1:5"

    def __init__(self, *told):
        super().__init__(fields=[{"id": "go", "type": "button", "runs": "queue"}])
        self.told = told
        self.run = {"press": self.PRESS, "by": AUTHOR, "at": MOMENT, "state": "running",
                    "since": MOMENT, "handler": AUTHOR}

    def answered(self, method):
        go = {"value": {"presses": 1}, "revision": 1, "set": True, "press": self.PRESS,
              "runs": {"waiting": 0, "running": [self.run]}}
        state = {"form": "f", "log": "a", "revision": 1, "context": "", "fields": {"go": go}}
        return {
            "hello": {**super().answered("hello"), "features": ["messages", "leases", "runs"]},
            "state.get": state, "state.set": state, "state.subscribe": {**state, "resumed": False},
            "button.outcome": {"form": "f", "field": "go", "revision": 1, **self.run},
        }.get(method) or super().answered(method)

    def subscribed(self, client):
        for more in self.told:
            client.sendall(frame({"jsonrpc": "2.0", "method": "button.progress", "params": {
                "form": "f", "field": "go", "press": self.PRESS, **more}}))


def wrong_progress():
    """A fraction beyond 1 is not accepted; a text has any length."""
    for fraction in (1e15, -5, -(1 << 63)):
        leaves(Runs({"fraction": fraction}))
        liar = Runs({"fraction": fraction})
        t = liar.start("press f/go --wait --timeout 20s")
        try:
            ended(liar, t, 69)
        finally:
            t.end()
            liar.close()
    long = [{"text": WORST + letter * 300_000, "fraction": 0.5} for letter in "xé漢"]
    leaves(Runs(*long))
    liar = Runs(*long)
    t = liar.start("press f/go --wait --timeout 3s")
    try:
        ended(liar, t, 124)
    finally:
        t.end()
        liar.close()


run(flood_of_changes, flood_of_new_fields, flood_of_people, flood_of_definitions,
    flood_of_goodbyes, flood_of_endings, wrong_values, silence_after_the_subscription, no_answers,
    long_frames, floods_before_an_answer, forms_of_absurd_size, errors_of_any_length, plain_lines,
    wrong_progress)
