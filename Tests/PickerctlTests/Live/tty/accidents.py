"""Nothing by accident: what may never change a shared value, tried on a terminal.

    python3 accidents.py FOLDER-OF-THE-PROGRAMS [STORY…]
"""

import time

from bench import Form, check, run, sys

PROGRAMS = sys.argv[1]
FORM = """
form: knobs
title: Knobs
fields:
  - {id: environment, label: Environment, type: picker, style: radioGroup,
     options: [staging, production], default: staging, onConflict: ask}
  - {id: time, label: Opens, type: date, mode: time, style: wheel, default: "14:30"}
  - {id: traffic, label: Traffic, type: slider, min: 0, max: 100, step: 5, default: 35}
  - {id: version, label: Version, type: text, pattern: "[0-9.]+", default: "1.0"}
  - {id: rollback, label: Roll back, type: button, role: destructive}
"""


class Knobs:
    """The form on one terminal."""

    def __enter__(self):
        self.form = Form(PROGRAMS)
        self.form.apply(FORM)
        return self.form, self.form.open("knobs", lines=30)

    def __exit__(self, *_):
        self.form.close()


def revision(form):
    return form.must("history", "-o", "json")


def a_visit_changes_nothing():
    with Knobs() as (form, t):
        before = revision(form)
        t.sees("Environment")
        t.press("Down", "Down", "Home", "Enter", "End", "Home", "Enter")
        t.press("Down")
        t.sees("Enter sets Environment to Production for everybody")
        check(revision(form) == before, "a visit changed something")
        t.press("Enter")
        form.becomes("environment", "production")


def no_digit_settles_a_conflict():
    with Knobs() as (form, t):
        token = form.ctl("get", "environment", "--context").stdout.split("\n")[1]
        form.must("set", "environment=production", "--context", token)
        form.must("set", "environment=staging", "--context", token)
        t.sees("picked at the same time; choose one")
        t.sees("1 conflict")
        t.press("1", "2")
        t.sees("Enter settle")
        check("production" in form.ctl("conflicts").stdout, "a digit settled the conflict")


def backspace_asks():
    with Knobs() as (form, t):
        form.must("set", "environment=production")
        t.sees("◉ Production")
        t.press("Backspace")
        t.sees("Reset Environment to Staging for everybody?")
        t.press("Esc")
        t.loses("Reset Environment")
        check(form.get("environment") == "production", "Esc reset it")
        t.press("Backspace")
        t.sees("Reset Environment")
        t.press("Enter")
        form.becomes("environment", "staging")


def the_wheel_scrolls():
    with Knobs() as (form, t):
        before = revision(form)
        x, y = t.place("14")
        t.click(x, y)
        t.wheel(x, y, times=5)
        time.sleep(1)
        check(form.get("time") == "14:30", "the wheel changed a time")
        check(revision(form) == before, "the wheel made a revision")


def destructive_asks():
    with Knobs() as (form, t):
        t.press("End", "Enter")
        t.sees("Roll back?")
        t.press("Enter")
        t.loses("Roll back?")
        check(form.get("rollback") == "0", "it was pressed without an answer")
        t.press("Enter", "y")
        form.becomes("rollback", "1")


def typed_text_is_kept():
    with Knobs() as (form, t):
        t.press("/", "vers", "Enter", "Enter", "x", "Enter")
        t.sees("1.0x")
        t.sees("✗ must match the pattern")
        form.must("set", "version=2.0")
        t.sees("2.0")
        t.sees("1.0x")
        check(form.get("version") == "2.0", "a refused text was set")
        t.press("Backspace")
        t.loses("1.0x")
        t.sees("2.0")


def another_daemon_asks():
    with Knobs() as (form, t):
        first = form.state
        t.press("/", "traf", "Enter")
        t.sees("▌  Traffic")
        form.kill()
        t.sees("the daemon is away")
        t.press("70", "Enter")
        t.sees("1 edit merges")
        form.state = form.folder + "/another"
        form.start()
        form.apply(FORM)
        t.sees("another daemon answers now; 1 edit not sent")
        t.sees("not sent: 70")
        check(form.get("traffic") == "35", "another daemon got the edit")
        t.press("K")
        t.sees("[keep]")
        t.press("Enter")
        form.kill()
        form.state = first
        form.start()
        form.becomes("traffic", "70")
        t.loses("another daemon")
        form.kill()
        t.sees("the daemon is away")
        t.press("20", "Enter")
        form.state = form.folder + "/another"
        form.start()
        t.sees("another daemon answers now; 1 edit not sent")
        t.press("K", "Right", "Enter")
        form.becomes("traffic", "20")
        t.loses("another daemon")


def undo_says_what():
    with Knobs() as (form, t):
        t.press("/", "traf", "Enter", "70", "Enter")
        form.becomes("traffic", "70")
        t.sees("undo 35→70")
        t.press("u")
        t.sees("undone: Traffic 35 → 70")
        form.becomes("traffic", "35")


run(a_visit_changes_nothing, no_digit_settles_a_conflict, backspace_asks, the_wheel_scrolls,
    destructive_asks, typed_text_is_kept, another_daemon_asks, undo_says_what)
