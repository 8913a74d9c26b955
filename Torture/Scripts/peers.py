"""What the rows in Python share: a daemon, clients by hand, other users, percentiles.

Nothing of ours is between a row and the bytes: frames are made and cut here.
"""

import array
import atexit
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

BIN = os.environ.get("TORTURE_BIN", ".build/release")
FOLDER = os.environ.get("TORTURE_FOLDER") or tempfile.mkdtemp()
SEED = int(os.environ.get("TORTURE_SEED", "1"))
SHARE = float(os.environ.get("TORTURE_SHARE", "1"))
TIMED = os.environ.get("TORTURE_TIMED", "1") != "0"


def about(promise, bar, seconds, timed=False):
    """Answers `--about`, and ends where that was asked."""
    if "--about" in sys.argv:
        print(promise, bar, seconds, *["timed"] * timed, sep="\n")
        raise SystemExit(0)


def count(whole):
    """So many of the whole as are wanted."""
    return whole if SHARE >= 1 else max(1, int(whole * SHARE))


def late(findings, line):
    """A finding by the clock. It is none where other work shares the machine, as in `make check`."""
    if TIMED:
        findings.append(line)


def report(figure, findings):
    """The figure, the verdict, the findings; the end."""
    print(figure)
    print("FAIL" if findings else "pass" if SHARE >= 1 else "part")
    for line in findings[:20]:
        print(line)
    raise SystemExit(0)


def skip(reason):
    print(reason)
    print("skip")
    raise SystemExit(0)


def need_root():
    if os.geteuid() != 0:
        skip("several users need root")


def descriptors(wanted):
    """Raises the bound of this process; gives what is granted."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if os.geteuid() == 0 and hard < wanted:
        hard = wanted
    granted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, granted), hard))
    return granted


def frame(message):
    text = message if isinstance(message, bytes) else json.dumps(message).encode()
    return struct.pack(">I", len(text)) + text


def request(method, params=None, number=1):
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    if params is not None:
        message["params"] = params
    return frame(message)


def change(form, *changes, **more):
    return dict({"form": form, "changes": list(changes)}, **more)


started = set()


@atexit.register
def end_all():
    """No process outlives its row, whichever way that ends."""
    end(*list(started))


class Daemon:
    """A daemon whose socket everybody may reach, as a socket unit with SocketMode=0666 has it."""

    def __init__(self, *arguments, limits=None, level="info"):
        self.folder = os.path.join(FOLDER, "d%d" % time.monotonic_ns())
        os.mkdir(self.folder, 0o755)
        os.chmod(FOLDER, 0o755)
        self.socket = self.folder + "/s"
        self.log = self.folder + "/log"
        self.state = self.folder + "/state"
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.socket)
        os.chmod(self.socket, 0o666)
        listener.listen(4096)
        number = listener.fileno()

        def prepare():
            os.dup2(number, 3)
            os.set_inheritable(3, True)
            os.environ["LISTEN_FDS"] = "1"
            os.environ["LISTEN_PID"] = str(os.getpid())
            if limits:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)

        words = [BIN + "/pickersyncd", "--state-directory", self.state, "--log-level", level]
        # The pid is the child's own, so the environment is set between fork and exec.
        pid = os.fork()
        if pid == 0:
            try:
                prepare()
                out = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                os.dup2(out, 1)
                os.dup2(out, 2)
                os.closerange(4, 1024)
                os.execv(words[0], words + list(arguments))
            finally:
                os._exit(127)
        self.pid = pid
        started.add(pid)
        listener.close()
        deadline = time.monotonic() + 30
        while "ready: " not in self.said():
            if time.monotonic() > deadline or os.waitpid(pid, os.WNOHANG)[0]:
                raise RuntimeError("the daemon did not start: " + self.said())
            time.sleep(0.005)

    def said(self):
        try:
            with open(self.log, errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def resident(self):
        """Resident bytes."""
        with open("/proc/%d/statm" % self.pid) as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    def processor(self):
        """Processor seconds used so far."""
        with open("/proc/%d/stat" % self.pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def lives(self):
        return os.path.exists("/proc/%d/fd" % self.pid) and not os.waitpid(self.pid, os.WNOHANG)[0]

    def stop(self):
        end(self.pid)


class Client:
    """One connection that waits for its answers."""

    def __init__(self, path, seconds=30):
        self.socket = socket.socket(socket.AF_UNIX)
        # One that does not block is refused where the listener's queue is full; it is to wait.
        wait = struct.pack("ll", seconds, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, wait)
        began = time.perf_counter()
        self.socket.connect(path)
        self.waited = time.perf_counter() - began
        self.socket.settimeout(seconds)
        self.bytes = b""
        self.told = []

    def send(self, data):
        self.socket.sendall(data)

    def message(self):
        """The next message; None at the end."""
        while True:
            if len(self.bytes) >= 4:
                length = struct.unpack(">I", self.bytes[:4])[0]
                if len(self.bytes) >= 4 + length:
                    text = self.bytes[4 : 4 + length]
                    self.bytes = self.bytes[4 + length :]
                    return json.loads(text)
            try:
                more = self.socket.recv(1 << 18)
            except ConnectionResetError:
                return None
            if not more:
                return None
            self.bytes += more

    def ask(self, method, params=None, number=1):
        self.send(request(method, params, number))
        while True:
            message = self.message()
            if message is None:
                raise EOFError("the connection ended before the answer to " + method)
            if message.get("id") == number and "method" not in message:
                return message
            self.told.append(message)

    def call(self, method, params=None):
        answer = self.ask(method, params)
        if "result" not in answer:
            raise RuntimeError("%s was refused: %s" % (method, answer))
        return answer["result"]

    def close(self):
        self.socket.close()


def become(uid):
    """This process is another user's from now on."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def child(uid, body, nice=0):
    """Runs `body` in a process of its own as another user; gives its pid."""
    pid = os.fork()
    if pid:
        started.add(pid)
        return pid
    status = 1
    try:
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        if nice:
            os.nice(nice)
        if uid is not None and os.geteuid() == 0:
            become(uid)
        body()
        status = 0
    except BaseException as problem:
        sys.stderr.write("%s\n" % problem)
    finally:
        os._exit(status)


def end(*pids):
    for pid in pids:
        started.discard(pid)
        try:
            # A pid that was waited for may be somebody else's by now.
            if os.waitpid(pid, os.WNOHANG)[0] == 0:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def median(values):
    return percentile(values, 0.5)


RT_RUNTIME = "/proc/sys/kernel/sched_rt_runtime_us"


def lift_throttle():
    """Until this process ends, the kernel does not stop a process that goes first.

    It stops one for 50 ms after 950 ms of work in a second (sched(7)): that would be measured as a
    turn of the loop of 50 ms and more."""
    with open(RT_RUNTIME) as file:
        before = file.read()
    if before.strip() != "-1":
        with open(RT_RUNTIME, "w") as file:
            file.write("-1")
        atexit.register(lambda: open(RT_RUNTIME, "w").write(before))


def goes_first(pid):
    """Gives a process the processor before all others; whether that is allowed.

    Whose turn it is on a processor is the kernel's to say. A row that measures what the daemon deals
    out takes that away: from a user's own processes, and from whatever else the machine does.
    """
    if not TIMED:
        return False
    try:
        lift_throttle()
        for task in os.listdir("/proc/%d/task" % pid):
            os.sched_setscheduler(int(task), os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        return False
    return True


def awake():
    """Keeps the processors awake with work that goes last; gives the pids that do it.

    Waking one takes a virtual machine some microseconds, or milliseconds where its host has other
    guests, and how often that is needed depends on who else is at work.
    """

    def spin():
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        while True:
            pass

    return [child(None, spin) for _ in range(os.cpu_count() or 1)]


class RoundTrips:
    """What a user saw: requests a second, and the seconds of each, of connecting too."""

    def __init__(self, rate, connecting, times):
        self.rate = rate
        self.connecting = connecting
        self.times = times

    @property
    def p99(self):
        return percentile(self.times, 0.99)


def round_trips(path, form, uid, seconds, first=False):
    """Sets and gets one after the other as that user, on a connection of its own."""
    read_end, write_end = os.pipe()

    def body():
        os.close(read_end)
        client = Client(path)
        times = array.array("d")
        began = time.monotonic()
        number = 0
        while time.monotonic() - began < seconds:
            number += 1
            start = time.perf_counter()
            if number % 2:
                client.call("state.set", change(form, {"field": "n", "value": number % 1000}))
            else:
                client.call("state.get", {"form": form, "fields": ["n"]})
            times.append(time.perf_counter() - start)
        figures = [len(times) / (time.monotonic() - began), client.waited]
        with os.fdopen(write_end, "wb") as file:
            file.write((array.array("d", figures) + times).tobytes())

    pid = child(uid, body)
    if first:
        goes_first(pid)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as file:
        data = file.read()
    os.waitpid(pid, 0)
    if not data:
        raise RuntimeError("the bystander was not served")
    rate, connecting, *times = array.array("d", data)
    return RoundTrips(rate, connecting, times)


def number_form(name):
    return {
        "form": name,
        "fields": [
            {"id": "n", "type": "stepper", "min": 0, "max": 1000000000, "default": 0},
            {"id": "t", "type": "text", "maxLength": 200},
        ],
    }
