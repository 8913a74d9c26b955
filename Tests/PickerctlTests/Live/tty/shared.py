"""Two live forms on one daemon, each on a terminal of its own.

    python3 shared.py FOLDER-OF-THE-PROGRAMS [STORY…]
"""

import os
import random
import time

from bench import Form, check, run, sys

PROGRAMS = sys.argv[1]
EXAMPLES = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../../../Examples/forms/")

FORM = """
form: t
title: Together
fields:
  - {id: flavor, type: picker, style: segmented, onConflict: ask, label: Flavor, options: [chocolate, vanilla, strawberry]}
  - {id: region, type: picker, style: menu, label: Region, options: [eu, us, asia]}
  - {id: speed, type: slider, label: Speed, min: 0, max: 100, step: 5, default: 50}
  - {id: name, type: text, label: Name, default: ""}
  - {id: scoops, type: stepper, label: Scoops, min: 0, max: 50, default: 0}
"""


class Pair:
    """A form in two terminals."""

    def __init__(self, text=FORM, **more):
        self.form = Form(PROGRAMS)
        try:
            self.form.apply(text)
            self.a = self.form.open("t", **more)
            self.b = self.form.open("t", **more)
            for t in (self.a, self.b):
                # Each knows of the other.
                t.sees("●")
        except Exception:
            self.form.close()
            raise

    def __enter__(self):
        return self.form, self.a, self.b

    def __exit__(self, *_):
        self.form.close()


def concurrent_picks():
    with Pair() as (form, a, b):
        a.press("3")
        b.press("Down", "Down", "Down", "Down", "+", "+", "+")
        a.press("Down", "Down", "Down", "Down", "+", "+")
        for t in (a, b):
            t.sees("▌ Strawberry ▐")
            t.sees("[−]   5   [+]")
        check(form.get("flavor") == "strawberry" and form.get("scoops") == "5", "one was lost")


def marks_in_colour():
    with Pair(COLORTERM="truecolor") as (form, a, b):
        b.press("Down", "Down")
        line = a.until("the mark beside Speed", lambda: next(
            (line for line in a.lines() if "Speed" in line and "pts/" in line), None))
        mark = a.cell(line.rindex("●"), a.lines().index(line))
        check(mark.fg != "default", "the mark of a focus has no colour")
        header = a.style_of("●")
        check(header.fg == mark.fg, "who is here has another colour than their mark")
        # Another's change flashes with their name in the same colour.
        b.press("Up", "Up", "2")
        flash = a.style_of("← root")
        check(flash.fg == mark.fg, "a flash has another colour than its author")
        check(flash.reverse, "a flash does not stand out")
        a.loses("← root")


def ghosts():
    with Pair() as (form, a, b):
        x, y = a.place("●────")
        a.mouse(0, x, y)
        a.mouse(32, x + 6, y)
        a.pump()
        b.sees("◌")
        check(form.get("speed") == "50", "a value that is held was set")
        line = next(line for line in b.lines() if "Speed" in line)
        check("◌" in line and "─ 50 " in line, lambda: "the other's thumb moved: " + line)
        a.mouse(0, x + 6, y, "m")
        a.pump()
        b.loses("◌")
        b.until("the value", lambda: "─ 50" not in b.text())
        check(form.get("speed") != "50", "a value that was let go was not set")
        # A text is a draft as it is typed.
        a.press("Down", "Enter", "hel")
        b.sees(": hel")
        check(form.get("name") == "", "a text was set before its end")
        a.press("Enter")
        form.becomes("name", "hel")


def held_value_stands_still():
    with Pair() as (form, a, b):
        x, y = a.place("●────")
        a.mouse(0, x, y)
        a.mouse(32, x + 3, y)
        a.sees("◉")
        before = next(line for line in a.lines() if "Speed" in line)
        form.must("set", "speed=95")
        a.sees("set 95; setting yours replaces it")
        after = next(line for line in a.lines() if "Speed" in line)
        check(before.index("◉") == after.index("◉"), "the thumb moved under the hand")
        a.press("Esc")
        a.sees("─ 95")
        check(form.get("speed") == "95", "what was put back was set")


def settle(t):
    t.press("Enter")
    return "picked at the same time" not in t.text()


def conflict():
    with Pair() as (form, a, b):
        form.kill()
        for t in (a, b):
            t.sees("the daemon is away")
        a.press("2")
        b.press("3")
        for t in (a, b):
            t.sees("1 edit merges when it is back")
        form.start()
        for t in (a, b):
            t.sees("picked at the same time; choose one")
            t.loses("the daemon is away")
            check("Vanilla" in t.text() and "Strawberry" in t.text(), t.text())
            check(any("you ·" in line for line in t.lines()), t.text())
            check(any("pts/" in line for line in t.lines()), t.text())
        listed = form.ctl("conflicts").stdout
        check("vanilla" in listed and "strawberry" in listed, listed)
        # Cards that have just come are not settled, so the key comes again until it is obeyed.
        if "◉ Vanilla" not in a.text():
            a.press("Right")
            a.sees("◉ Vanilla")
        a.until("the conflict is settled", lambda: settle(a))
        form.becomes("flavor", "vanilla")
        for t in (a, b):
            t.loses("picked at the same time")


def daemon_lost_with_text_under_the_hand():
    with Pair() as (form, a, b):
        a.press("End", "Up", "Enter", "half a ")
        form.kill()
        a.sees("the daemon is away")
        a.press("sentence")
        b.press("End", "+", "+")
        form.start()
        for t in (a, b):
            t.loses("the daemon is away")
        a.sees("half a sentence")
        a.press("Enter")
        form.becomes("name", "half a sentence")
        form.becomes("scoops", "2")
        # And it says goodbye properly as well.
        form.kill(15)
        a.sees("the daemon is away")
        form.start()
        a.loses("the daemon is away")


def deleted_and_created_again():
    with Pair() as (form, a, b):
        a.press("End", "Up", "Enter", "typed")
        form.must("form", "delete", "t", "-y")
        for t in (a, b):
            t.sees("this form was deleted")
        b.press("2")
        # Other forms that come and go are none of theirs.
        form.apply("form: other\nfields: [{id: x, type: toggle}]")
        form.must("form", "delete", "other", "-y")
        form.apply(FORM.replace("title: Together", "title: Again"))
        for t in (a, b):
            t.loses("this form was deleted")
            t.sees("Again")
        a.sees("unsaved: typed")
        b.press("2")
        form.becomes("flavor", "vanilla")
        a.sees("▌ Vanilla ▐")
        # Gone while the daemon is, too.
        form.kill()
        a.sees("the daemon is away")
        form.start()
        a.loses("the daemon is away")
        form.must("form", "delete", "t", "-y")
        a.sees("this form was deleted")
        form.kill()
        form.start()
        form.apply(FORM)
        a.loses("this form was deleted")
        a.sees("Together")


def redefined_under_the_hand():
    with Pair() as (form, a, b):
        a.press("Down", "Down", "Down", "Enter", "kept")
        b.press("Down", "Enter", "Down")
        b.sees("type to filter")
        lines = [line for line in FORM.splitlines() if "id: name" not in line]
        text = "\n".join(lines).replace("[eu, us, asia]", "[zz, asia, us, eu]")
        form.apply(text)
        a.sees("the form changed")
        a.loses("Name ")
        b.until("the other options", lambda: "Zz" in b.text())
        b.press("Enter")
        form.becomes("region", "us")
        # The neighbour of what went has the keys.
        a.press("+")
        form.becomes("scoops", "1")
        form.apply(FORM)
        a.until("the kept text", lambda: "kept" in a.text() and "◇ unsaved" in a.text())


def resize_storm():
    seed = int(os.environ.get("TTY_SEED", random.randrange(1 << 30)))
    print(f"TTY_SEED={seed}")
    chance = random.Random(seed)
    form = Form(PROGRAMS, EXAMPLES + "controls.yaml")
    try:
        t = form.open("controls")
        t.sees("Controls")
        for turn in range(25):
            for _ in range(chance.randrange(1, 6)):
                t.resize(chance.randrange(20, 130), chance.randrange(4, 50))
            t.press(chance.choice(
                ["Down", "PageDown", "Enter", "Up", "Esc", "Tab", "Right", "Space", "End"]))
        t.press("Esc", "Esc")
        for size in ((80, 24), (40, 10)):
            t.resize(*size)
            t.until("the form at its size", lambda: len(t.lines()[0]) <= size[0] and (
                "only you" in t.lines()[0]))
            # What was drawn piece by piece is what is drawn at once, when all that goes away by
            # itself is gone.
            for _ in range(28 if size[0] == 80 else 1):
                time.sleep(0.25)
                t.pump()
            shown = [[t.cell(x, y) for x in range(size[0])] for y in range(size[1])]
            t.control("l")
            t.pump(0.3)
            again = [[t.cell(x, y) for x in range(size[0])] for y in range(size[1])]
            for y in range(size[1]):
                check(shown[y] == again[y], lambda: f"line {y} was left over (TTY_SEED={seed}):\n"
                      + "".join(c.data for c in shown[y]) + "\n" + "".join(c.data for c in again[y]))
    finally:
        form.close()


def many_people():
    """Eight terminals hammer one form; all show the same at the end, and nothing was lost."""
    form = Form(PROGRAMS)
    try:
        form.apply(FORM)
        people = [form.open("t") for _ in range(8)]
        for t in people:
            t.sees("others" if len(people) > 6 else "●")
            t.press("End")
        for _ in range(5):
            for t in people:
                t.send("+")
        for t in people:
            t.sees("[−]  40   [+]")
        form.becomes("scoops", "40")
        people[0].press("w")
        people[0].sees("Who is here")
        people[0].until("all of them", lambda: people[0].text().count("at Scoops") == 7)
        people[0].press("Esc")
        for t in people[1:]:
            t.press("q")
            t.ends(0)
        people[0].sees("only you")
    finally:
        form.close()


GUARDED = """
form: deploy
fields:
  - id: traffic
    type: slider
    label: Traffic
    max: 100
    approval: {from: ["uid:4711"]}
"""


def proposals():
    form = Form(PROGRAMS)
    try:
        form.apply(GUARDED)
        a = form.open("deploy")
        b = form.open("deploy")
        a.press("5", "0", "Enter")
        a.sees("Traffic → 50: why?")
        a.sees("1 approval of uid:4711 is needed")
        a.send("INC-231")
        a.press("Enter")
        for t in (a, b):
            t.sees("⇢ 50")
            t.sees("⇢ 1 proposal")
        check(form.get("traffic") == "0", "a proposal changed the value")
        b.press("P")
        b.sees("What waits for approval")
        b.sees("Traffic 0 → 50")
        b.press("w")
        b.sees("Withdraw Traffic 0 → 50?")
        check("⇢ 50" in a.text(), "it went without Enter")
        b.press("Enter")
        for t in (a, b):
            t.sees("deploy/1 was withdrawn")
            t.loses("⇢ 1 proposal")
    finally:
        form.close()


run(concurrent_picks, marks_in_colour, ghosts, held_value_stands_still, conflict,
    daemon_lost_with_text_under_the_hand, deleted_and_created_again, redefined_under_the_hand,
    resize_storm, many_people, proposals)
