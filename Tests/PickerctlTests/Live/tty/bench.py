"""A private daemon, and programs on terminals of their own, for tests that look at cells.

A `Tty` is a pseudo-terminal (pexpect) with an emulator behind it (pyte): keys, mouse reports and
pastes go in as a terminal writes them, and what the program wrote is there as bytes and as cells
with their colours. Every wait is a question asked again until the answer is yes or a generous time
is over, so a slow machine makes a test slower and not wrong. Nothing outside a private folder is
touched.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import pexpect
import pyte

PATIENCE = float(os.environ.get("TTY_PATIENCE", "60"))

KEYS = {
    "Enter": "\r", "Tab": "\t", "Esc": "\x1b", "Space": " ", "Backspace": "\x7f",
    "Up": "\x1b[A", "Down": "\x1b[B", "Right": "\x1b[C", "Left": "\x1b[D",
    "Home": "\x1b[H", "End": "\x1b[F", "PageUp": "\x1b[5~", "PageDown": "\x1b[6~",
    "Delete": "\x1b[3~", "Shift-Tab": "\x1b[Z", "Shift-Right": "\x1b[1;2C",
    "Shift-Left": "\x1b[1;2D", "Control-Left": "\x1b[1;5D", "Control-Right": "\x1b[1;5C",
}


# The answer of a terminal that has kitty's keyboard protocol.
KITTY = {rb"\x1b\[\?u": "\x1b[?0u"}


class Failed(Exception):
    pass


def fail(why):
    raise Failed(why)


class Form:
    """A daemon of its own, and `pickerctl` against it."""

    def __init__(self, programs, *files):
        self.programs = programs
        self.folder = tempfile.mkdtemp(prefix="pickertty-", dir="/tmp")
        self.socket = self.folder + "/sock"
        self.state = self.folder + "/state"
        self.daemon = None
        self.terminals = []
        self.start()
        for file in files:
            self.must("form", "apply", "-y", file)

    def environment(self, **more):
        variables = {
            "PATH": self.programs + ":" + os.environ["PATH"], "HOME": self.folder,
            "PICKERSYNC_SOCKET": self.socket, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color",
            "PS1": "$ "}
        variables.update(more)
        return {name: value for name, value in variables.items() if value is not None}

    def start(self):
        self.daemon = subprocess.Popen(
            [self.programs + "/pickersyncd", "--socket", self.socket,
             "--state-directory", self.state],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment())
        wait_for("the daemon", lambda: self.ctl("form", "list").returncode == 0)

    def kill(self, how=signal.SIGKILL):
        self.daemon.send_signal(how)
        self.daemon.wait()

    def ctl(self, *arguments, input=None, **more):
        return subprocess.run(
            [self.programs + "/pickerctl", *arguments], capture_output=True, text=True,
            input=input, stdin=None if input is not None else subprocess.DEVNULL,
            env=self.environment(**more))

    def must(self, *arguments, input=None):
        outcome = self.ctl(*arguments, input=input)
        if outcome.returncode != 0:
            fail(f"pickerctl {' '.join(arguments)}: {outcome.stderr}")
        return outcome.stdout.rstrip("\n")

    def apply(self, text):
        self.must("form", "apply", "-y", "-", input=text)

    def get(self, field):
        return self.must("get", field)

    def becomes(self, field, value):
        wait_for(f"{field} = {value}", lambda: self.get(field) == value)

    def tty(self, *command, columns=80, lines=24, replies=None, **more):
        """A terminal; `replies` are answers to questions beyond what pyte answers."""
        terminal = Tty(command, columns, lines, self.environment(**more), replies)
        self.terminals.append(terminal)
        return terminal

    def open(self, form, *options, **more):
        return self.tty("pickerctl", "open", *options, form, **more)

    def close(self):
        try:
            for terminal in self.terminals:
                terminal.end()
        finally:
            # Whatever a terminal has to say: a daemon left behind is waited for by who reads us.
            if self.daemon and self.daemon.poll() is None:
                self.daemon.kill()
                self.daemon.wait()
            shutil.rmtree(self.folder, ignore_errors=True)


def wait_for(what, question, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while True:
        answer = question()
        if answer:
            return answer
        if time.monotonic() > end:
            fail("gave up waiting: " + what)
        time.sleep(0.02)


class Screen(pyte.Screen):
    """An emulator that answers as xterm does, and knows the modes that tests look at."""

    def __init__(self, columns, lines, answer):
        self.answer = answer
        self.modes = set()
        super().__init__(columns, lines)

    def write_process_input(self, data):
        self.answer(data)

    def set_mode(self, *modes, private=False, **more):
        if private:
            self.modes.update(modes)
        super().set_mode(*modes, private=private, **more)

    def reset_mode(self, *modes, private=False, **more):
        if private:
            self.modes.difference_update(modes)
        super().reset_mode(*modes, private=private, **more)


class Tty:
    """A program on a terminal of its own."""

    def __init__(self, command, columns, lines, environment, replies=None):
        self.raw = bytearray()
        # Complete before the program starts: it asks once, at its first frame.
        self.replies = {rb"\x1b\[\?2026\$p": "\x1b[?2026;2$y", **(replies or {})}
        self.answered = 0
        self.process = pexpect.spawn(
            command[0], list(command[1:]), dimensions=(lines, columns), env=environment,
            echo=False, timeout=None)
        # pexpect would wait before each write.
        self.process.delaybeforesend = None
        self.screen = Screen(columns, lines, self.send)
        self.stream = pyte.ByteStream(self.screen)

    # What goes in

    def send(self, text):
        try:
            self.process.send(text)
        except OSError:
            pass

    def press(self, *keys):
        for key in keys:
            self.send(KEYS.get(key, key))
            if key == "Esc":
                # So that it is not taken for the beginning of a sequence.
                time.sleep(0.1)
        self.pump()

    def control(self, letter):
        self.send(chr(ord(letter.upper()) - 64))
        self.pump()

    def paste(self, text):
        self.send("\x1b[200~" + text + "\x1b[201~")
        self.pump()

    def mouse(self, code, x, y, end="M"):
        self.send(f"\x1b[<{code};{x + 1};{y + 1}{end}")

    def click(self, x, y):
        self.mouse(0, x, y)
        self.mouse(0, x, y, "m")
        self.pump()

    def click_on(self, text, offset=0):
        x, y = self.place(text)
        self.click(x + offset, y)

    def drag(self, start, *ends):
        self.mouse(0, *start)
        for end in ends:
            self.mouse(32, *end)
        self.mouse(0, *ends[-1], "m")
        self.pump()

    def wheel(self, x, y, times=1, up=False):
        for _ in range(times):
            self.mouse(64 if up else 65, x, y)
        self.pump()

    def resize(self, columns, lines):
        self.pump(0)
        self.screen.resize(lines, columns)
        self.process.setwinsize(lines, columns)

    # What came out

    def pump(self, seconds=0.02):
        """Takes what the program wrote, until it is silent for that long. A program that never is
        silent is left after ten seconds."""
        end = time.monotonic() + 10
        while time.monotonic() < end:
            try:
                data = self.process.read_nonblocking(65536, timeout=seconds)
            except pexpect.TIMEOUT:
                return
            except (pexpect.EOF, OSError):
                return
            self.raw += data
            # pyte draws the end of a private sequence that it does not know.
            self.stream.feed(bytes(data).replace(b"\x1b[<u", b""))
            for question, reply in self.replies.items():
                # A question may begin in what was taken before.
                known = max(self.answered, len(self.raw) - len(data) - 32)
                for match in re.finditer(question, bytes(self.raw[known:])):
                    self.answered = known + match.end()
                    self.send(reply)

    def lines(self):
        self.pump(0)
        return [line.rstrip() for line in self.screen.display]

    def text(self):
        return "\n".join(self.lines()).rstrip("\n")

    def until(self, what, question):
        try:
            return wait_for(what, lambda: (self.pump(0.01), question())[1])
        except Failed as error:
            raise Failed(f"{error}\n{self.text()}") from None

    def sees(self, text):
        self.until(repr(text), lambda: text in self.text())

    def loses(self, text):
        self.until("no " + repr(text), lambda: text not in self.text())

    def place(self, text):
        """Where a text begins: column and line of the screen's cells."""
        def find():
            for y in range(self.screen.lines):
                row = self.screen.buffer[y]
                # A wide cluster has an empty cell behind it.
                cells = [row[x].data for x in range(self.screen.columns)]
                for x in range(self.screen.columns):
                    if "".join(cells[x:]).startswith(text):
                        return x, y
            return None
        return self.until(repr(text), find)

    def cell(self, x, y):
        return self.screen.buffer[y][x]

    def style_of(self, text, offset=0):
        x, y = self.place(text)
        return self.cell(x + offset, y)

    @property
    def cursor(self):
        return self.screen.cursor.x, self.screen.cursor.y

    def shot(self):
        """The screen and where the cursor is, to be looked at."""
        self.pump(0.1)
        hidden = " hidden" if self.screen.cursor.hidden else ""
        return self.text() + f"\n--- cursor {self.cursor}{hidden}"

    def ends(self, status):
        """Waits for the end, and holds the program to its status."""
        def over():
            self.pump(0.01)
            return not self.process.isalive()
        self.until("its end", over)
        self.pump(0.05)
        got = self.process.exitstatus
        if got is None:
            got = 128 + self.process.signalstatus
        if got != status:
            fail(f"it ended with {got} and not with {status}\n{self.text()}")

    def hang_up(self):
        """The terminal goes away; nothing else is sent to the program."""
        self.process.ptyproc.fileobj.close()

    def end(self):
        """Kills the program if it still runs, and closes the terminal."""
        if self.process.closed:
            return
        if self.process.isalive():
            self.process.kill(signal.SIGKILL)
            wait_for("the end of a killed program", lambda: not self.process.isalive())
        # After the end: before it, this would give the program tenths of a second and then fail.
        self.process.close()


def check(condition, why):
    if not condition:
        fail(why() if callable(why) else why)


def run(*stories):
    """Runs each story, tells which failed, and exits accordingly."""
    wanted = set(sys.argv[2:])
    failures = 0
    for story in stories:
        if wanted and story.__name__ not in wanted:
            continue
        try:
            story()
        except Exception as error:
            failures += 1
            why = str(error) if isinstance(error, Failed) else traceback.format_exc()
            print(f"FAIL {story.__name__}: {why}", flush=True)
    print("ok" if failures == 0 else f"{failures} failed")
    sys.exit(1 if failures else 0)
