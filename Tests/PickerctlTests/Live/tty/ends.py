"""However a form ends, the terminal is as it was found; and what each kind of terminal is written.

    python3 ends.py FOLDER-OF-THE-PROGRAMS [STORY…]
"""

import json
import os
import re
import signal
import subprocess

from bench import KITTY, Form, check, fail, run, sys, wait_for

PROGRAMS = sys.argv[1]
EXAMPLES = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../../../Examples/forms/")
SGR = re.compile(rb"\x1b\[([0-9;]*)m")
TAKEN = {1049, 1002, 1006, 2004}


def told(*forms):
    return Form(PROGRAMS, *(EXAMPLES + form + ".yaml" for form in forms))


def children_of(t, name):
    """The processes of a program that run under a terminal's shell."""
    rows = subprocess.run(
        ["ps", "-eo", "pid=,ppid=,comm="], capture_output=True, text=True).stdout
    processes = [row.split(None, 2) for row in rows.splitlines()]
    family = {str(t.process.pid)}
    for _ in range(4):
        family |= {pid for pid, parent, _ in processes if parent in family}
    return [int(pid) for pid, _, command in processes
            if pid in family and command.startswith(name)]


def child_of(t, name):
    return wait_for("the process", lambda: children_of(t, name))[0]


def odd_exits():
    form = told("ice-cream", "deploy")
    try:
        def leave(command, sees, how, status, before=None, **more):
            folder = form.folder
            t = form.tty(
                "sh", "-c",
                f"trap : INT; stty echo; stty -a > {folder}/before; {command}; echo status $?; stty -a > {folder}/after",
                **more)
            t.sees(sees)
            if before:
                before(t)
            if isinstance(how, str):
                t.press(how)
            elif how is not None:
                os.kill(child_of(t, "pickerctl"), how)
            t.sees(f"status {status}")
            t.ends(0)
            check(open(folder + "/before").read() == open(folder + "/after").read(),
                  f"{command}, {how}: stty differs")
            left = t.screen.modes & TAKEN
            check(not left, f"{command}, {how}: modes {left} are still set")
            check(25 in t.screen.modes or not t.screen.cursor.hidden, "the cursor is hidden")
            check(t.screen.cursor.attrs.fg == "default" and not t.screen.cursor.attrs.reverse,
                  f"{command}, {how}: the pen keeps a style")
            return t
        opened = "pickerctl open ice-cream"
        leave(opened, "Serving", "q", 0)
        leave(opened, "Serving", "\x03", 130)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            leave(opened, "Serving", number, 128 + number)
        # Traps, as a fault of our own would be.
        for number in (signal.SIGILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS):
            leave("ulimit -c 0; " + opened, "Serving", number, 128 + number)
        leave("pickerctl pick ice-cream/flavor", "Esc quit", "Esc", 1)
        leave("pickerctl pick ice-cream/flavor", "Esc quit", "\x03", 130)
        leave("pickerctl pick ice-cream/flavor", "Esc quit", signal.SIGTERM, 143)
        leave("ulimit -c 0; pickerctl pick ice-cream/flavor", "Esc quit", signal.SIGILL, 132)

        def typing_a_secret(t):
            t.press("/", "token", "Enter", "Enter")
            t.until("the keyboard", lambda: b"\x1b[>25u" in t.raw)
        t = leave("pickerctl open deploy", "Switches", signal.SIGTERM, 143, typing_a_secret, replies=KITTY)
        check(t.raw.count(b"\x1b[<u") == 1, "the keyboard was not given back")

        def daemon_dies(t):
            form.kill()
            t.sees("the daemon is away")
        leave(opened, "Serving", "q", 0, daemon_dies)
        form.start()
        # Echo is back where a secret was asked for in lines.
        leave("pickerctl pick --accessible deploy/token", "A secret, which is never shown", "\x03", 130)
        leave("pickerctl pick --accessible deploy/token", "A secret, which is never shown", signal.SIGTERM, 143)
    finally:
        form.close()


def the_terminal_goes_away():
    form = told("ice-cream")
    try:
        t = form.open("ice-cream")
        t.sees("Serving")
        t.hang_up()
        wait_for("its end", lambda: not t.process.isalive())
        wait_for("nobody", lambda: "ice-cream" not in form.must("who", "--form", "ice-cream"))
    finally:
        form.close()


def suspend_and_resume():
    form = told("ice-cream")
    try:
        t = form.tty("bash", "--norc", "-i")
        t.sees("$")
        t.press("pickerctl open ice-cream", "Enter")
        t.sees("Serving")
        for how in ("\x1a", signal.SIGTSTP, signal.SIGSTOP):
            t.pump()
            # What the shell said of an earlier stop may still be on the screen.
            t.raw.clear()
            if isinstance(how, str):
                t.send(how)
            else:
                os.kill(child_of(t, "pickerctl"), how)
            t.until("the shell", lambda: b"Stopped" in t.raw)
            if how != signal.SIGSTOP:
                # The shell's own line takes pastes in brackets.
                left = t.screen.modes & TAKEN - {2004}
                check(not left, f"{how!r}: modes {left} are still set")
            form.must("set", "topping=cookies" if how == "\x1a" else "topping=nuts")
            t.press("reset" if how == signal.SIGSTOP else "echo there", "Enter")
            t.sees("$")
            t.press("fg", "Enter")
            t.sees("Serving")
            t.until("the mouse", lambda: TAKEN <= t.screen.modes)
            # What changed meanwhile is there, and keys are keys.
            t.sees("▌ Cookies ▐" if how == "\x1a" else "▌ Nuts ▐")
            # A key that is not read before the next stop would be typed into the shell, and the
            # screen has both names in another row as well.
            t.press("2")
            form.becomes("flavor", "vanilla")
            t.press("1")
            form.becomes("flavor", "chocolate")
        t.press("q")
        # What is typed before it has ended is typed into it.
        t.until("the end", lambda: not children_of(t, "pickerctl"))
        # The typed line has not what it prints.
        t.press("stty -a | sed -n 's/.* icanon .*/lines are $((6*7))/p' | sed 's/.((6.7))/whole/'; exit",
                "Enter")
        t.sees("lines are whole")
    finally:
        form.close()


def colours():
    form = told("controls")
    try:
        def written(*options, **more):
            t = form.open("controls", *options, **more)
            t.sees("Controls")
            other = form.open("controls", TERM="xterm")
            t.press("PageDown", "Enter", "PageDown", "PageDown", "Enter")
            other.press("Down", "PageDown")
            other.end()
            # Esc and q in one read would be Alt+q.
            t.sees("Esc ")
            t.press("Esc")
            t.until("the form alone", lambda: "Esc " not in t.text())
            t.press("q", "q")
            t.ends(0)
            return bytes(t.raw), [
                int(code or 0) for codes in SGR.findall(bytes(t.raw)) for code in codes.split(b";")]
        # No colour at all.
        for how in ({"NO_COLOR": "1"}, {"TERM": "vt100"}):
            raw, codes = written(**how)
            check(not [code for code in codes if code >= 30], f"{how}: colours are written")
        raw, codes = written("--color", "never")
        check(not [code for code in codes if code >= 30], "--color never: colours are written")
        # Sixteen: no 38 or 48.
        for term in ("xterm", "screen", "linux", "xterm-16color"):
            raw, codes = written(TERM=term)
            check([code for code in codes if code >= 30], f"{term}: no colours")
            check(not [code for code in codes if code in (38, 48)], f"{term}: more than 16 colours")
        # 256 and true colour, in a theme that has them.
        raw, _ = written("--theme", "ember", TERM="xterm-256color")
        check(b"38;5;" in raw and b"38;2;" not in raw, "xterm-256color: not the 256")
        raw, _ = written("--theme", "ember", COLORTERM="truecolor")
        check(b"38;2;" in raw, "true colour is not used")
        # Outside UTF-8 all is ASCII.
        for locale in ("C", "POSIX"):
            raw, _ = written(LC_ALL=locale)
            check(not [byte for byte in raw if byte >= 0x80], f"{locale}: more than ASCII")
        # A dumb terminal is written lines.
        t = form.open("controls", TERM="dumb")
        t.sees("A number of the list")
        t.press(":q", "Enter")
        t.ends(0)
        check(b"\x1b" not in t.raw, "a dumb terminal is written escapes")
    finally:
        form.close()


def synchronized():
    form = told("ice-cream")
    try:
        t = form.open("ice-cream")
        t.until("the answer", lambda: t.answered)
        t.sees("only you")

        def step(key, field):
            """What is written until the focus stands on a field, to the end of a frame."""
            t.pump(0)
            t.raw.clear()
            t.press(key)
            t.until(f"the focus on {field}", lambda: f"▌  {field}" in t.text()
                    and t.raw.endswith(b"\x1b[?2026l"))
            return bytes(t.raw)
        # The program reads the terminal's answer before this key: from its frame on all have
        # brackets. What was drawn earlier may come with it.
        step("Down", "Topping")
        written = step("Up", "Flavor")
        check(written.startswith(b"\x1b[?2026h"), lambda: f"no brackets: {written!r}")
        # Only what changed: the bar of the focus, two labels and the keys at the bottom.
        check(len(written) < 700, f"moving the focus wrote {len(written)} bytes")
        form.apply("form: other\nfields: [{id: x, type: toggle}]")
        form.must("set", "other/x=true")
        # A frame for the other form would come before or with the frame of this key.
        t.pump(0.3)
        early = bytes(t.raw)[len(written):]
        written = step("Down", "Topping")
        check(not early and written.count(b"\x1b[?2026h") == 1,
              lambda: f"what happens to another form is drawn: {early + written!r}")
    finally:
        form.close()


def keys_before_the_form_is_there():
    form = told("ice-cream")
    try:
        t = form.tty("sh", "-c", "sleep 0.5; pickerctl open ice-cream")
        t.send("2")
        t.sees("▌ Vanilla ▐")
        form.becomes("flavor", "vanilla")
    finally:
        form.close()


def answers_out_of_a_pipe():
    form = told("ice-cream")
    try:
        outcome = form.ctl("open", "ice-cream", input="2\n3\n\n4\nno\n")
        check(outcome.returncode == 0, outcome.stderr)
        check(form.get("flavor") == "vanilla" and form.get("scoops") == "4"
              and form.get("cone") == "false", outcome.stdout)
        outcome = form.ctl("open", "ice-cream", input="pistachio\n")
        check(outcome.returncode == 65 and "pistachio" in outcome.stderr, outcome.stderr)
        outcome = form.ctl("pick", "ice-cream/flavor", input="3\n")
        check(outcome.stdout == "strawberry\n" and outcome.returncode == 0, outcome.stdout)
        outcome = form.ctl("pick", "ice-cream/flavor", "--non-interactive")
        check(outcome.stdout == "strawberry\n", outcome.stdout)
        # A daemon that is away is not waited for without end.
        process = subprocess.Popen(
            [PROGRAMS + "/pickerctl", "open", "ice-cream"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=form.environment())
        process.stdout.readline()
        form.kill()
        outcome = process.communicate("1\n")
        check(process.returncode == 69, f"{process.returncode} {outcome}")
        form.start()
        # And the form may go.
        process = subprocess.Popen(
            [PROGRAMS + "/pickerctl", "open", "ice-cream"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=form.environment())
        process.stdout.readline()
        wait_for("its subscription", lambda: "pickerctl" in form.must("who"))
        form.must("form", "delete", "ice-cream", "-y")
        check(process.wait(timeout=60) == 66, "its end was not 66")
        process.stdin.close()
        check("was deleted" in process.stderr.read(), "it does not say why")
    finally:
        form.close()


def accessible():
    form = told("deploy")
    try:
        # The bench's terminals do not echo, so that without this nothing would be hidden.
        t = form.tty("sh", "-c", "stty echo; exec pickerctl open --accessible deploy", lines=60)
        t.sees("A number of the list")
        # The first question may be there before the form is followed.
        wait_for("its subscription", lambda: "pickerctl" in form.must("who"))
        form.must("set", "replicas=7")
        t.sees("set Replicas: 7")
        for question, answer in [
                ("Environment", "2"), ("Region", "us-west-2"), ("Version", "2.0.1"),
                ("Traffic to", "25"), ("Why?", "INC-231"), ("Replicas", "+")]:
            t.sees(question)
            t.press(answer, "Enter")
        # In production somebody else must agree.
        t.sees("deploy/1 waits for 1 approval")
        t.sees("Errors per minute: 0")
        t.sees("Maintenance mode: off")
        t.press("maybe", "Enter")
        t.sees("No: \"maybe\" is not an answer")
        t.press("", "Enter")
        t.sees("Window opens")
        t.press("2026-11-21T23:07", "Enter")
        t.sees("No: ")
        t.press("2026-11-21T23:15", "Enter")
        t.sees("Deploy token: not set")
        t.press("s3cret", "Enter")
        # Start is hidden in production; what is left asks before it acts.
        t.sees("Roll back production?")
        t.press("yes", "Enter")
        t.sees("Why?")
        t.press("INC-231", "Enter")
        t.sees("That was the last question")
        t.press(":undo", "Enter")
        t.sees("undone")
        t.press(":who", "Enter")
        t.sees("Only you")
        t.press(":list", "Enter")
        t.sees("Deploy token: set")
        t.press(":q", "Enter")
        t.ends(0)
        check(b"s3cret" not in t.raw, "a secret was echoed")
        for field, value in [("environment", "production"), ("region", "us-west-2"),
                             ("version", "2.0.1"), ("traffic", "0"), ("replicas", "8")]:
            check(form.get(field) == value, f"{field}: {form.get(field)}")
        check(form.ctl("get", "token", "--reveal").stdout == "s3cret\n", "another secret was set")
        check(b"\x1b" not in t.raw, "plain lines have escapes")
        # The daemon away and back, the form redefined, both told in lines.
        wait_for("nobody", lambda: "pickerctl" not in form.must("who"))
        t = form.open("deploy", ACCESSIBLE="1", lines=60)
        t.sees("A number of the list")
        wait_for("its subscription", lambda: "pickerctl" in form.must("who"))
        form.kill()
        t.sees("The daemon is away")
        t.press("1", "Enter")
        form.start()
        t.sees("The daemon is back")
        form.becomes("environment", "staging")
        t.press("\x04")
        t.ends(0)
    finally:
        form.close()


def own_daemon():
    """The user's own daemon: started again after a crash, not after somebody stopped it."""
    form = Form(PROGRAMS)
    form.kill()
    os.mkdir(form.folder + "/run", 0o700)
    own = {"PICKERSYNC_SOCKET": None, "XDG_RUNTIME_DIR": form.folder + "/run",
           "XDG_STATE_HOME": form.folder + "/own"}

    def process():
        status = form.ctl("status", "-o", "json", "--no-autostart", **own)
        return json.loads(status.stdout)["pid"] if status.returncode == 0 else None

    def ends():
        wait_for("the end of the daemon", lambda: process() is None)

    try:
        applied = form.ctl("form", "apply", "-y", EXAMPLES + "ice-cream.yaml", **own)
        check(applied.returncode == 0, applied.stderr)
        t = form.open("ice-cream", **own)
        t.sees("live")
        first = process()
        os.kill(first, signal.SIGKILL)
        t.sees("the daemon is back")
        second = process()
        check(second not in (None, first), "no other daemon was started")
        os.kill(second, signal.SIGTERM)
        t.sees("offline")
        ends()
        # The form tries to connect several times.
        t.pump(1)
        t.press("q")
        t.ends(0)
        check(process() is None, "a daemon that somebody stopped was started again")
    finally:
        number = process()
        if number:
            os.kill(number, signal.SIGTERM)
            ends()
        form.close()


run(odd_exits, the_terminal_goes_away, suspend_and_resume, colours, synchronized,
    keys_before_the_form_is_there, answers_out_of_a_pipe, accessible, own_daemon)
