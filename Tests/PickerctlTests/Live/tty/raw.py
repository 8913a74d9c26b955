"""Nothing raw reaches a terminal: naughty strings in every label, value, name and error.

    python3 raw.py FOLDER-OF-THE-PROGRAMS [STORY…]

Between `pickerctl` and the daemon is a proxy that puts naughty strings in the place of words of
the form, of the user's name and of what errors say, so that a client is held to it whatever daemon
it speaks with. What is written to the terminal has our own control sequences taken out, and nothing
harmful may be left.
"""

import json
import os
import socket
import struct
import threading

from bench import Form, check, run, sys
from naughty import TEXT, WORST, harmful

PROGRAMS = sys.argv[1]

FORM = """
form: t
title: TTT
subtitle: TTT
help: TTT
sections:
  - title: TTT one
    footer: TTT
    fields:
      - {id: seg, type: picker, style: segmented, label: TTT, subtitle: TTT, help: TTT, options: [{tag: a, label: TTT a, subtitle: TTT}, {tag: b, label: b}], onConflict: ask}
      - {id: menu, type: picker, style: menu, label: TTT, options: [{tag: a, label: TTT a}, {tag: b, label: TTT b}]}
      - {id: link, type: picker, style: navigationLink, label: TTT, options: [{tag: a, label: TTT a}, {tag: b, label: TTT b}]}
      - {id: radio, type: picker, style: radioGroup, label: TTT, options: [{tag: a, label: TTT a}, {tag: b, label: TTT b}]}
      - {id: wheel, type: picker, style: wheel, label: TTT, options: [{tag: a, label: TTT a}, {tag: b, label: TTT b}]}
      - {id: free, type: text, label: TTT, prompt: TTT, default: ""}
      - {id: note, type: text, multiline: true, label: TTT, default: ""}
      - {id: says, type: label, text: "TTT ${free} ${note} ${menu}"}
      - {id: slide, type: slider, min: 0, max: 9, step: 1, minLabel: TTT, maxLabel: TTT, label: TTT}
      - {id: step, type: stepper, min: 0, max: 9, format: "TTT ${value}", label: TTT}
      - {id: gauge, type: gauge, min: 0, max: 9, minLabel: TTT, maxLabel: TTT, label: TTT}
      - {id: key, type: secure, label: TTT, prompt: TTT}
      - {id: day, type: date, mode: date, label: TTT, zone: Europe/Berlin}
      - {id: go, type: button, label: TTT, confirm: TTT really}
      - {id: on, type: toggle, label: TTT}
"""

class Proxy:
    """Passes frames on; in those of the daemon words are replaced."""

    def __init__(self, form, words):
        self.words = [(old.encode(), json.dumps(new, ensure_ascii=False)[1:-1].encode())
                      for old, new in words]
        self.upstream = form.socket
        self.path = form.folder + "/proxy"
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(16)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self.upstream)
            except OSError:
                client.close()
                continue
            threading.Thread(target=self.plain, args=(client, server), daemon=True).start()
            threading.Thread(target=self.altered, args=(server, client), daemon=True).start()

    @staticmethod
    def plain(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        Proxy.end(sink)

    @staticmethod
    def end(sink):
        # Also after a reset: a daemon that was killed with something unread leaves one.
        try:
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def altered(self, source, sink):
        stream = source.makefile("rb")
        try:
            while header := stream.read(4):
                frame = stream.read(struct.unpack(">I", header)[0])
                for old, new in self.words:
                    frame = frame.replace(old, new)
                sink.sendall(struct.pack(">I", len(frame)) + frame)
        except OSError:
            pass
        self.end(sink)

    def close(self):
        self.listener.close()


def with_proxy(story):
    """A form with a history, other people in it and a conflict, behind the proxy."""
    def told():
        form = Form(PROGRAMS)
        proxy = None
        try:
            form.apply(FORM)
            user = json.loads(form.must("status", "-o", "json")).get("user") or "root"
            proxy = Proxy(form, [("TTT", TEXT), ("VVV", WORST), ('"user":"' + user, '"user":"x')])
            # The name is in JSON's quotes.
            proxy.words[-1] = (f'"user":"{user}"'.encode(),
                               b'"user":' + json.dumps(WORST).encode())
            form.must("set", "free=VVV", "note=VVV")
            token = form.must("get", "seg", "--context").splitlines()[-1]
            form.must("set", "seg=b", "--context", token)
            form.must("set", "seg=a", "--context", token)
            peer = form.open("t")
            peer.sees("conflict")
            story(form, proxy)
        finally:
            if proxy:
                proxy.close()
            form.close()
    told.__name__ = story.__name__
    return told


def writes(t, text):
    """Waits for bytes: pyte leaves out what follows characters that it does not draw."""
    t.until(repr(text), lambda: text.encode() in t.raw)


def look(t, where, may_move=True):
    t.pump(0.2)
    found = harmful(bytes(t.raw), may_move)
    check(not found, f"{where}: {sorted(found)} raw: {bytes(t.raw)[-300:]!r}")
    # It was there, shown as what it is.
    check(b"202E" in t.raw, f"{where}: the naughty text was not shown at all\n{t.text()}")


@with_proxy
def live(form, proxy):
    for size in ((100, 50), (40, 10)):
        t = form.open("t", columns=size[0], lines=size[1], PICKERSYNC_SOCKET=proxy.path)
        writes(t, " conflict")
        t.press("w", "Esc", "?", "Esc", "/", "Esc")
        for _ in range(17):
            t.press("Down", "Enter", "Down", "x", "Esc", "Esc")
        # Another changes what is looked at: flashes, ghosts, waiting changes.
        form.must("set", "free=VVV again", "slide=3", "step=2", "on=true", "menu=b")
        t.press("Home", "3", "Enter", "u", "u")
        form.kill()
        writes(t, "away")
        form.start()
        t.press("q", "q")
        look(t, f"the live form at {size}")
        t.end()


@with_proxy
def lines(form, proxy):
    t = form.open("t", "--accessible", columns=300, lines=60, PICKERSYNC_SOCKET=proxy.path)
    writes(t, "A number of the list")
    for answer in (":list", ":who", ":help", "nonsense", "2", "1", "2", "1", "1"):
        t.press(answer, "Enter")
    form.must("set", "free=VVV again", "menu=b")
    t.press(":undo", "Enter", ":who", "Enter", ":q", "Enter")
    look(t, "accessible mode", may_move=False)


@with_proxy
def picks(form, proxy):
    for field in ("seg", "menu", "link", "radio", "wheel", "free", "note", "slide", "step", "day",
                  "key", "on"):
        t = form.tty("pickerctl", "pick", "t/" + field, PICKERSYNC_SOCKET=proxy.path)
        writes(t, "quit")
        t.press("Down", "Up")
        t.pump(0.1)
        t.press("\r" if field != "note" else "\t")
        t.pump(0.3)
        look(t, "pick " + field)


@with_proxy
def commands(form, proxy):
    for command in (["get"], ["get", "free"], ["get", "-o", "table"], ["get", "-o", "yaml"],
                    ["get", "-o", "env"],
                    ["get", "-o", "json"], ["describe"], ["describe", "free"], ["history"],
                    ["history", "free"], ["history", "-o", "json"], ["conflicts"], ["who"],
                    ["form", "show", "t"], ["form", "list"], ["dump"],
                    ["watch", "--initial", "--timeout", "0.5"],
                    ["watch", "--initial", "--timeout", "0.5", "-o", "json"],
                    ["open", "t", "--non-interactive"]):
        t = form.tty("pickerctl", *command, PICKERSYNC_SOCKET=proxy.path)
        t.until("its end", lambda: not t.process.isalive())
        t.pump(0.1)
        found = harmful(bytes(t.raw), False)
        check(not found, f"{' '.join(command)}: {sorted(found)} raw: {bytes(t.raw)[-400:]!r}")
        check(t.raw, f"{' '.join(command)} says nothing")


@with_proxy
def errors(form, proxy):
    """What is typed and what is refused comes back in errors."""
    proxy.words.append((b'"message":"', b'"message":' + json.dumps(WORST)[:-1].encode()))
    for command in (["set", "seg=" + TEXT], ["set", "nowhere" + TEXT + "=1"], ["get", WORST[:60]],
                    ["set", "free=\x1b[666mX"], ["set", "free=\u009b666m"], ["get", "--form", TEXT],
                    ["describe", "\x1b]0;x\x07"], ["form", "show", "\u202Ex"], ["press", "on\x7f"],
                    ["wait", "\x1b[666m=1", "--timeout", "0.2"], ["open", "\u2028"],
                    ["pick", "\x1b[666m"], ["undo", "--form", "\u202E"]):
        command = [word.replace("\x00", "") for word in command]
        t = form.tty("pickerctl", *command, PICKERSYNC_SOCKET=proxy.path)
        t.until("its end", lambda: not t.process.isalive())
        t.pump(0.1)
        found = harmful(bytes(t.raw), False)
        check(not found, f"{command!r}: {sorted(found)} raw: {bytes(t.raw)[-400:]!r}")
        check(t.raw, f"{command!r} says nothing")
    # A form file with them is refused, and shown where.
    path = form.folder + "/naughty.yaml"
    with open(path, "w") as file:
        file.write('form: n\ntitle: "\\e[666m\\u202E"\nfields:\n  - {id: "a\\u0007", type: text, '
                   'label: "\\u009b666m"}\n')
    t = form.tty("pickerctl", "form", "check", path)
    t.ends(65)
    found = harmful(bytes(t.raw), False)
    check(not found, f"form check: {sorted(found)} raw: {bytes(t.raw)!r}")


def hostile_peer():
    """Another client claims a terminal and a name, and shares drafts, of any characters."""
    form = Form(PROGRAMS)
    try:
        form.apply(FORM.replace("TTT", "label"))
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(form.socket)

        def call(number, method, **params):
            text = json.dumps({"jsonrpc": "2.0", "id": number, "method": method,
                               "params": params}).encode()
            connection.sendall(struct.pack(">I", len(text)) + text)
        call(1, "hello", protocol=1, client="evil" + WORST, tty="pts/" + WORST, session="s")
        call(2, "state.subscribe", form="t", presence=True)
        call(3, "presence.update", form="t", focus="free", draft=TEXT)
        t = form.open("t", lines=50)
        writes(t, "move")
        call(4, "presence.update", form="t", focus="free", draft=WORST)
        call(5, "presence.update", form="t", focus="note", draft=TEXT + "\n" + TEXT)
        call(6, "state.set", form="t", changes=[{"field": "note", "value": TEXT + "\nmore"}])
        writes(t, "more")
        t.press("w")
        t.pump(0.2)
        found = harmful(bytes(t.raw), True)
        check(not found, f"a hostile peer: {sorted(found)} raw: {bytes(t.raw)[-300:]!r}")
        for command in (["who"], ["history"], ["get", "note"]):
            t = form.tty("pickerctl", *command)
            t.until("its end", lambda: not t.process.isalive())
            t.pump(0.1)
            found = harmful(bytes(t.raw), False)
            check(not found, f"{command}: {sorted(found)} raw: {bytes(t.raw)[-300:]!r}")
    finally:
        form.close()


run(live, lines, picks, commands, errors, hostile_peer)
