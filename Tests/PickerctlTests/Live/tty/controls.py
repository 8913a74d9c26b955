"""Every control of the example forms on a terminal, by the mouse and by keys.

    python3 controls.py FOLDER-OF-THE-PROGRAMS [STORY…]
"""

import os
import time

from bench import KEYS, KITTY, Form, check, fail, run, sys

PROGRAMS = sys.argv[1]
EXAMPLES = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../../../Examples/forms/")


def told(*forms):
    return Form(PROGRAMS, *(EXAMPLES + form + ".yaml" for form in forms))


def find(t, name):
    """Brings the keys to a control by its name."""
    t.press("/")
    t.sees("Find a control")
    t.press(name, "Enter")
    t.loses("Find a control")


def value_of(t, label):
    """Where the value of a control begins: the first cell after its label."""
    x, y = t.place("  " + label)
    start = x + 2 + len(label)
    return next((c, y) for c in range(start, t.screen.columns) if t.cell(c, y).data != " ")


def pickers_by_mouse():
    form = told("controls")
    try:
        t = form.open("controls", lines=40)
        for label, choice, field, value in [
                ("Automatic", "Banana", "automatic", "banana"),
                ("Inline", None, "inline", "orange"),
                ("Segmented", "Orange", "segmented", "orange"),
                ("Radio group", "Banana", "radio", "banana"),
                ("Reaction", "👎", "reaction", "thumbsdown"),
                ("Flags", None, "flags", "blue")]:
            x, y = t.place(label)
            if choice:
                row = [t.cell(column, y).data for column in range(80)]
                x = next(c for c in range(26, 80) if "".join(row[c:]).startswith(choice))
            elif field == "inline":
                x, y = 34, y + 2
            else:
                row = [t.cell(column, y).data for column in range(80)]
                x = [c for c in range(80) if row[c] == "⚑"][2]
            t.click(x, y)
            form.becomes(field, value)
        # A menu opens over the form, closes by a click elsewhere, and picks.
        below = t.lines()[13]
        t.click(*value_of(t, "Menu"))
        t.sees("type to filter")
        t.click(2, 20)
        t.loses("type to filter")
        check(t.lines()[13] == below, "the form moved under a menu")
        t.click(*value_of(t, "Menu"))
        t.click_on("    Orange", 4)
        form.becomes("menu", "orange")
        # The daemon may have it before the menu is closed on the screen.
        t.loses("type to filter")
        t.click(*value_of(t, "Navigation link"))
        t.sees("type to filter")
        t.click_on("    Banana", 4)
        form.becomes("navigation", "banana")
        t.loses("type to filter")
        # The wheel of the mouse turns a wheel that is being edited, and no other.
        x, y = t.place("Wheel")
        t.click(x, y)
        t.press("Enter")
        t.sees("arrows change")
        t.wheel(32, y + 1, times=2)
        t.press("Enter")
        form.becomes("wheel", "orange")
        t.click_on("Mon, Wed")
        t.click_on("[ ] Sun")
        t.click_on("[✓] Mon")
        t.press("Esc")
        form.becomes("days", "wed\nsun" if "\n" in form.get("days") else "wed,sun")
    finally:
        form.close()


def values_by_mouse():
    form = told("controls")
    try:
        t = form.open("controls", lines=60)
        t.click(*value_of(t, "Kitchen"))
        form.becomes("kitchen", "false")
        t.click(*value_of(t, "All lights"))
        form.becomes("hall", "true")
        x, y = t.place("●────")
        t.mouse(0, x, y)
        for step in range(1, 6):
            t.mouse(32, x + step, y)
        t.pump()
        check(form.get("speed") == "50", "a slider is set before it is let go")
        t.mouse(0, x + 5, y, "m")
        t.pump()
        t.until("the slider", lambda: int(form.get("speed")) > 50)
        t.click_on("[+]")
        form.becomes("count", "6")
        t.click_on("[−]")
        form.becomes("count", "1")
        t.click_on("‹")
        t.sees("May 2021")
        t.click_on(" 27 ", 1)
        form.becomes("start", "2021-05-27")
        # The page scrolls under the mouse, and the focus stays.
        t.resize(80, 24)
        t.sees("Controls")
        t.wheel(10, 10, times=30, up=True)
        t.sees("Automatic")
        t.wheel(10, 10, times=30)
        t.sees("Delete")
    finally:
        form.close()


def everything_by_keys():
    form = told("controls")
    try:
        t = form.open("controls")
        for name, keys, field, value in [
                ("automatic", ["Right", "Right", "Enter"], "automatic", "orange"),
                ("inline", ["Down", "Down", "Space"], "inline", "orange"),
                ("menu", ["Enter", "ban", "Enter"], "menu", "banana"),
                ("navigation", ["Enter", "Down", "Enter"], "navigation", "banana"),
                ("segmented", ["3"], "segmented", "orange"),
                ("radio", ["Right", "Enter"], "radio", "banana"),
                ("wheel", ["Enter", "Down", "Enter"], "wheel", "banana"),
                ("reaction", ["2"], "reaction", "thumbsup"),
                ("flags", ["Right", "Right", "Enter"], "flags", "blue"),
                ("kitchen", ["Space"], "kitchen", "false"),
                ("vibrate", ["Space"], "vibrate", "true"),
                ("speed", ["75", "Enter"], "speed", "75"),
                ("speed", ["Left", "Left", "Enter"], "speed", "65"),
                ("fine", ["Right", "Right", "Enter"], "fine", "0.3"),
                ("count", ["+", "+", "-"], "count", "6"),
                ("count", ["Enter", "21", "Enter"], "count", "21"),
                ("start", ["Enter", "Down", "Right", "Enter"], "start", "2021-06-23"),
                ("start", ["Enter", "PageUp", "Home", "Enter"], "start", "2021-05-01"),
                ("alarm", ["Enter", "Down", "Right", "Up", "Enter"], "alarm", "08:25"),
                ("alarm", ["Left", "0615", "Enter"], "alarm", "06:15"),
                ("egg", ["Right", "+", "Enter"], "egg", "360"),
                ("username", ["Enter", "ann", "Enter"], "username", "ann")]:
            find(t, name)
            t.press(*keys)
            form.becomes(field, value)
        # In a date the digits of one part lead to the next.
        find(t, "days")
        t.press("Enter")
        t.sees("type to filter")
        t.press("fri", "Enter", "Backspace", "Backspace", "Backspace", "sat", "Enter")
        t.until("both days", lambda: "fri" in form.get("days") and "sat" in form.get("days"))
        # The first Esc takes the filter away; two in one read would be one key.
        t.press("Esc")
        t.sees("type to filter")
        t.press("Esc")
        t.loses("type to filter")
        find(t, "sign in")
        t.press("Enter")
        t.until("the press", lambda: '"presses":1' in form.must("get", "signIn", "-o", "json")
                .replace(" ", ""))
        # Taken back one by one, and done again; the first is of a control that is not in focus.
        t.press("u")
        t.sees("for everybody?")
        t.press("Enter")
        t.sees("undone")
        form.becomes("username", "ann")
        t.press("u")
        t.until("undo", lambda: "fri" not in form.get("days") and "sat" not in form.get("days"))
        t.control("r")
        t.control("r")
        t.until("redo", lambda: "fri" in form.get("days") and "sat" in form.get("days"))
    finally:
        form.close()


def texts():
    form = Form(PROGRAMS)
    try:
        form.apply("""
form: t
fields:
  - {id: name, type: text, maxLength: 10, default: ""}
  - {id: note, type: text, multiline: true}
  - {id: key, type: secure}
""")
        t = form.open("t", columns=60, lines=18)
        t.sees("name")
        t.press("Enter", "ann bob", "Control-Left", "x ", "Enter")
        form.becomes("name", "ann x bob")
        t.press("Down", "Enter")
        t.paste("one\r\ntwo\twide 日本\x1b[31mred\rthree")
        t.sees("three")
        t.press("Tab")
        form.becomes("note", "one\ntwo\twide 日本[31mred\nthree")
        # Tab from text to text goes on typing: here is the secret.
        t.sees("a-z type")
        t.press("hunter2")
        check("hunter2" not in t.text(), "a secret is on the screen")
        t.press("Enter")
        t.until("the secret", lambda: form.ctl("get", "key", "--reveal").stdout == "hunter2\n")
        check(b"hunter2" not in t.raw, "a secret was written to the terminal")
        # The cursor is where the text goes, a wide character counted as two columns.
        t.press("g", "Enter", "End")
        x, y = t.place("ann x bob")
        t.until("the cursor", lambda: t.cursor == (x + 9, y))
        t.press("Esc")
    finally:
        form.close()


def typed_at_once():
    form = Form(PROGRAMS)
    try:
        form.apply("""
form: t
fields:
  - {id: on, type: toggle, label: Light}
  - {id: name, type: text, label: Name}
  - {id: share, type: slider, label: Share, min: 0, max: 1, step: 0.1}
  - {id: opens, type: date, mode: dateAndTime, label: Opens, default: "2026-11-21T14:30"}
""")
        t = form.open("t", columns=100, lines=30)
        t.sees("Light")
        # Reached by an arrow, a text takes letters that are commands elsewhere.
        t.press("Down", "quick?", "Enter")
        form.becomes("name", "quick?")
        t.press("Down", ".3", "Enter")
        form.becomes("share", "0.3")
        t.press("Down", "Right", "2027-01-05", "Enter")
        form.becomes("opens", "2027-01-05T14:30")
        t.paste("2029-03-04T10:15")
        t.press("Enter")
        form.becomes("opens", "2029-03-04T10:15")
        # The palette, and a click on a key in the last line.
        t.press(":", "go to light", "Enter")
        t.sees("▌  Light")
        t.click_on("? help")
        t.sees("Toggle: Light")
        t.press("Esc")
        t.loses("Toggle: Light")
        t.press("q")
        t.ends(0)
    finally:
        form.close()


def external_editor():
    form = told("ice-cream")
    try:
        form.apply("form: t\nfields: [{id: note, type: text, multiline: true, default: here}]")
        editor = form.folder + "/editor"
        with open(editor, "w") as file:
            file.write('#!/bin/sh\nstty -a > "$HOME/stty"\nprintf "%s\\nmore" "$(cat "$2")" > "$2"\n'
                       'echo edited; read answer < /dev/tty\n')
        os.chmod(editor, 0o755)
        t = form.open("t", EDITOR=editor + " --wait", VISUAL=None)
        t.sees("here")
        t.press("e")
        t.sees("edited")
        stty = open(form.folder + "/stty").read()
        check(" icanon" in stty and " icrnl" in stty, "the editor got a raw terminal: " + stty)
        check(1002 not in t.screen.modes, "the editor got a terminal with the mouse taken")
        t.send("\r")
        form.becomes("t/note", "here\nmore")
        t.sees("note")
        # While it is typed, Alt-e; an editor that fails leaves the text as it was typed.
        t.press("Enter", "!")
        os.chmod(editor, 0o644)
        t.send("\x1be")
        t.sees("the editor left no text")
        t.press("Esc")
        t.sees("unsaved")
        check(form.get("t/note") == "here\nmore", "a text was set that nobody set")
    finally:
        form.close()


def caps_lock():
    form = Form(PROGRAMS)
    try:
        form.apply("form: t\nfields: [{id: key, type: secure}, {id: name, type: text}]")
        t = form.open("t", replies=KITTY)
        t.sees("not set")
        t.press("Enter")
        t.until("the keyboard", lambda: b"\x1b[>25u" in t.raw)
        t.press("\x1b[97;65;65u")
        t.sees("Caps Lock is on")
        t.press("\x1b[98;1;98u")
        t.loses("Caps Lock")
        t.press("\x1b[13u")
        t.until("the secret", lambda: form.ctl("get", "key", "--reveal").stdout == "Ab\n")
        t.until("the keyboard given back", lambda: t.raw.count(b"\x1b[<u") == 1)
        t.press("Down", "Enter", "plain")
        check(t.raw.count(b"\x1b[>25u") == 1, "keys of a plain text come as kitty writes them")
    finally:
        form.close()


def picks_by_mouse():
    form = told("controls", "deploy", "income")
    try:
        def pick(field, *does):
            t = form.tty("sh", "-c", f"seq 7; pickerctl pick {field}; echo status $?")
            t.sees("Esc quit")
            t.until("the mouse", lambda: 1002 in t.screen.modes)
            for action in does:
                action(t)
            t.sees("status 0")
            t.ends(0)
            check(not t.screen.modes & {1002, 1006, 2004}, "pick keeps the mouse")
            check("seq" not in t.text() and t.lines()[0] == "1", lambda: t.text())
            return t
        pick("deploy/region", lambda t: t.click_on("eu-north-1"))
        check(form.get("deploy/region") == "eu-north-1", "the region was not picked")
        pick("controls/segmented", lambda t: t.click_on("Orange"))
        check(form.get("controls/segmented") == "orange", "the segment was not picked")
        pick("controls/days", lambda t: t.click_on("Mon"), lambda t: t.click_on("Sun"),
             lambda t: t.press("Enter"))
        check("sun" in form.get("controls/days"), lambda: form.get("controls/days"))
        x = pick("controls/speed", lambda t: t.drag(t.place("◉"), (40, 7), (45, 7)),
                 lambda t: t.press("Enter"))
        check(form.get("controls/speed") != "50", lambda: x.text())
        pick("income/source", lambda t: t.click_on("Interest"), lambda t: t.press("Enter"))
        check("interest" in form.get("income/source"), "the wheel did not turn")
        pick("controls/vibrate", lambda t: t.click_on("off"), lambda t: t.press("Enter"))
        check(form.get("controls/vibrate") == "true", "the toggle was not turned")
        pick("controls/start", lambda t: t.click_on(" 29 ", 1))
        check(form.get("controls/start") == "2021-06-29", lambda: form.get("controls/start"))
        # On the screen's first line the answer where the cursor is reads as F3 with modifiers.
        t = form.tty("pickerctl", "pick", "controls/segmented")
        t.until("the mouse", lambda: 1002 in t.screen.modes)
        t.click_on("Banana")
        t.ends(0)
        check(form.get("controls/segmented") == "banana", "the first line has no mouse")
        # A terminal that does not say where its cursor is keeps its mouse.
        t = form.tty("pickerctl", "pick", "controls/segmented")
        t.screen.write_process_input = lambda data: None
        t.screen.answer = lambda data: None
        t.sees("Esc quit")
        t.press("Esc")
        t.ends(1)
        # At the end of the screen the frame scrolls what stands above, and lies elsewhere.
        t = form.tty("sh", "-c", "seq 40; pickerctl pick deploy/region")
        t.sees("Esc quit")
        t.until("the mouse", lambda: 1002 in t.screen.modes)
        t.pump(0.1)
        t.click_on("us-west-2")
        t.ends(0)
        check(form.get("deploy/region") == "us-west-2", "a click below was taken for another")
    finally:
        form.close()


run(pickers_by_mouse, values_by_mouse, everything_by_keys, texts, typed_at_once, external_editor,
    caps_lock, picks_by_mouse)
