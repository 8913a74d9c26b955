"""Two live forms in a real terminal (tmux) on one daemon, which is killed and started again.

    python3 terminal.py FOLDER-OF-THE-PROGRAMS FORM-FILE

Every wait is a question asked again until the answer is yes or a generous time is over, so a slow
machine makes it slower and not wrong. Nothing outside a private folder and a private tmux server
is touched.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAMS, FORM = sys.argv[1:3]
FOLDER = tempfile.mkdtemp(prefix="pickerlive-", dir="/tmp")
SOCKET = FOLDER + "/sock"
PATIENCE = 60.0
daemon = None


def fail(why):
    raise SystemExit("FAIL: " + why)


def eventually(what, question, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = question()
        if answer:
            return answer
        time.sleep(0.05)
    fail("gave up waiting: " + what)


def tmux(*arguments):
    return subprocess.run(
        ["tmux", "-S", FOLDER + "/tmux", "-f", "/dev/null", *arguments],
        capture_output=True, text=True, env=environment()).stdout


def environment():
    variables = {k: v for k, v in os.environ.items() if not k.startswith("PICKER")}
    variables.pop("TMUX", None)
    variables.pop("NO_COLOR", None)
    variables.pop("ACCESSIBLE", None)
    variables.update(
        PICKERSYNC_SOCKET=SOCKET, LC_ALL="C.UTF-8", HOME=FOLDER, PS1="$ ", TERM="xterm-256color",
        PATH=PROGRAMS + ":" + os.environ["PATH"])
    return variables


def start_daemon():
    global daemon
    daemon = subprocess.Popen(
        [PROGRAMS + "/pickersyncd", "--socket", SOCKET, "--state-directory", FOLDER + "/state"],
        stderr=subprocess.DEVNULL, env=environment())
    eventually("the daemon", lambda: ctl("form", "list").returncode == 0)


def ctl(*arguments):
    return subprocess.run(
        [PROGRAMS + "/pickerctl", *arguments], capture_output=True, text=True, env=environment())


def screen(pane):
    return tmux("capture-pane", "-p", "-t", pane)


def keys(pane, *names):
    tmux("send-keys", "-t", pane, *names)


def sees(pane, text, what=None):
    def question():
        return text in screen(pane)
    try:
        eventually(what or f"{text!r} in {pane}", question)
    except SystemExit as error:
        print(screen(pane))
        raise error


def pane(name, columns, lines):
    tmux("new-session", "-d", "-s", name, "-x", str(columns), "-y", str(lines), "sh")
    eventually("a shell", lambda: screen(name).strip())


def pid_in(name):
    """The program under the pane's shell."""
    shell = tmux("list-panes", "-t", name, "-F", "#{pane_pid}").strip()
    children = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", shell], capture_output=True, text=True).stdout.split()
    return int(children[0]) if children else None


def field(name):
    return ctl("get", "ice-cream/" + name).stdout.strip()


def shared():
    keys("a", "pickerctl open ice-cream", "Enter")
    keys("b", "pickerctl open ice-cream", "Enter")
    sees("a", "Ice cream")
    sees("b", "Ice cream")
    sees("a", "●", "the other's mark")
    keys("a", "3")
    sees("b", "▌ Strawberry ▐")
    eventually("the daemon has it", lambda: field("flavor") == "strawberry")
    # What is turned in one is a ghost in the other, and is set when it settles.
    keys("b", "Left")
    sees("a", "▌ Vanilla ▐")
    keys("b", "u")
    sees("a", "▌ Strawberry ▐")


def resized():
    tmux("resize-window", "-t", "a", "-x", "40", "-y", "10")
    eventually("the narrow form", lambda: len(screen("a").rstrip("\n").split("\n")) == 10)
    sees("a", "Ice cream")
    tmux("resize-window", "-t", "a", "-x", "80", "-y", "24")
    sees("a", "Serving")


def killed():
    daemon.send_signal(signal.SIGKILL)
    daemon.wait()
    sees("a", "the daemon is away")
    sees("b", "the daemon is away")
    keys("a", "1")
    sees("a", "1 edit merges")
    keys("b", "Down", "2")
    sees("b", "1 edit merges")
    start_daemon()
    sees("a", "▌ Cookies ▐")
    sees("b", "▌ Chocolate ▐")
    eventually("both are merged",
               lambda: field("flavor") == "chocolate" and field("topping") == "cookies")
    eventually("no banner", lambda: "the daemon is away" not in screen("a") + screen("b"))


def suspended():
    keys("a", "C-z")
    eventually("the shell", lambda: "Ice cream" not in screen("a"))
    keys("a", "fg", "Enter")
    sees("a", "Serving")


def left(name, how, status):
    before, after = FOLDER + "/before", FOLDER + "/after"
    for path in (before, after):
        if os.path.exists(path):
            os.unlink(path)
    keys(name, f"clear; stty -a > {before}; pickerctl open ice-cream; "
         f"echo status $?; stty -a > {after}.new; mv {after}.new {after}", "Enter")
    sees(name, "Serving")
    if isinstance(how, str):
        keys(name, how)
    else:
        os.kill(eventually("its process", lambda: pid_in(name)), how)
    sees(name, f"status {status}")
    eventually("stty", lambda: os.path.exists(after))
    if open(before).read() != open(after).read():
        fail(f"after {how} the terminal is not as it was found")
    # The shell's own screen is back, and the mouse is its own again.
    if "Serving" in screen(name):
        fail(f"after {how} the form is still on the screen")
    if tmux("display-message", "-p", "-t", name, "#{mouse_any_flag}#{alternate_on}").strip() != "00":
        fail(f"after {how} the mouse or the screen is still taken")


def picked():
    keys("a", "clear; x=$(pickerctl pick ice-cream/flavor); echo got $x $?", "Enter")
    sees("a", "Enter set for everybody")
    ctl("set", "ice-cream/topping=nuts")
    keys("a", "3", "Enter")
    sees("a", "got strawberry 0")
    keys("a", "clear; x=$(pickerctl pick ice-cream/flavor); echo got $x $?", "Enter")
    sees("a", "Enter set for everybody")
    keys("a", "Escape")
    sees("a", "got 1")
    keys("a", "clear; x=$(pickerctl pick ice-cream/flavor); echo got $x $?", "Enter")
    sees("a", "Enter set for everybody")
    keys("a", "C-c")
    sees("a", "got 130")


def accessible():
    keys("a", "clear; pickerctl open --accessible ice-cream", "Enter")
    sees("a", "A number of the list")
    ctl("set", "ice-cream/topping=blueberries")
    sees("a", "set Topping: Blueberries", "another's change as a line")
    keys("a", "2", "Enter")
    eventually("it is set", lambda: field("flavor") == "vanilla")
    keys("a", ":q", "Enter")
    eventually("it ends", lambda: pid_in("a") is None)


def main():
    start_daemon()
    if ctl("form", "apply", FORM).returncode != 0:
        fail("the form is not applied")
    pane("a", 80, 24)
    pane("b", 80, 24)
    shared()
    resized()
    killed()
    suspended()
    keys("a", "q")
    keys("b", "q")
    eventually("both end", lambda: pid_in("a") is None and pid_in("b") is None)
    left("a", "q", 0)
    left("a", "C-c", 130)
    left("a", signal.SIGTERM, 143)
    left("a", signal.SIGHUP, 129)
    left("a", signal.SIGILL, 132)
    picked()
    accessible()
    print("ok")


try:
    main()
finally:
    server = tmux("display-message", "-p", "#{pid}").strip()
    tmux("kill-server")
    for _ in range(100):
        if not server or not os.path.exists(f"/proc/{server}"):
            break
        time.sleep(0.05)
    else:
        os.kill(int(server), signal.SIGKILL)
    if daemon and daemon.poll() is None:
        daemon.kill()
        daemon.wait()
    shutil.rmtree(FOLDER, ignore_errors=True)
