"""Where the time of a set goes on its way to a watcher on another host.

The kernel's trace of system calls (tracefs) has a line for each call that returns. The way of a set
is known: each stage ends with the first call of its kind in the next process.
"""

import os
import pathlib
import re
import subprocess
import time

TRACE = pathlib.Path("/sys/kernel/tracing")
# Numbers of system calls on x86-64.
READS = {0, 19, 45, 47}
SYNCS = {74, 75}
# An eventfd, by which threads wake each other, gives eight bytes.
WAKE = 8
EXIT = re.compile(rb"-(\d+)\s+\[\d+\] \S+\s+([\d.]+): sys_exit: NR (\d+) = (-?\d+)")
# Each stage: its name, the process that reaches it, and its calls.
STAGES = [
    ("daemon", "daemon", READS),
    ("disk", "daemon", SYNCS),
    ("bridge", "bridge", READS),
    ("server", "server", READS),
    ("other bridge", "other bridge", READS),
    ("other daemon", "other daemon", READS),
    ("its disk", "other daemon", SYNCS),
    ("watcher", "client", READS),
]


def is_there():
    """Whether the kernel can be asked."""
    if not (TRACE / "events").exists():
        subprocess.run(["mount", "-t", "tracefs", "none", str(TRACE)], capture_output=True)
    return os.uname().machine == "x86_64" and (TRACE / "events/raw_syscalls").exists()


def put(name, value):
    (TRACE / name).write_text(value)


def medians(processes, one, count, waits):
    """Stages with the median of the time of each, in seconds, of so many sets; `one` makes one, and
    the watcher waits for the disk of its host or does not. Nothing where no set was seen on its
    whole way.

    `processes` has the process of each stage by name, but the client, which is this one."""
    owner = {}
    pids = dict({name: process.pid for name, process in processes.items()}, client=os.getpid())
    put("trace_clock", "mono")
    put("buffer_size_kb", "65536")
    put("trace", "")
    put("events/raw_syscalls/sys_exit/enable", "1")
    put("tracing_on", "1")
    starts = []
    for number in range(count):
        starts.append(time.clock_gettime(time.CLOCK_MONOTONIC))
        one(number)
        time.sleep(0.002)
    put("tracing_on", "0")
    put("events/raw_syscalls/sys_exit/enable", "0")
    for name, pid in pids.items():
        owner.update({int(task): name for task in os.listdir("/proc/%d/task" % pid)})
    calls = []
    with open(TRACE / "trace", "rb") as lines:
        for line in lines:
            found = EXIT.search(line)
            if found and int(found[1]) in owner and (
                    int(found[4]) > WAKE or int(found[3]) in SYNCS):
                calls.append((float(found[2]), owner[int(found[1])], int(found[3])))
    put("trace", "")
    calls.sort()
    return times_of(
        [stage for stage in STAGES if waits or stage[0] != "its disk"], calls, starts)


def times_of(stages, calls, starts):
    taken = [[] for _ in stages]
    place = 0
    for start, end in zip(starts, starts[1:] + [float("inf")]):
        while place < len(calls) and calls[place][0] < start:
            place += 1
        at, before, times = place, start, []
        for _, process, kinds in stages:
            while at < len(calls) and calls[at][0] < end and not (
                    calls[at][1] == process and calls[at][2] in kinds):
                at += 1
            if at == len(calls) or calls[at][0] >= end:
                break
            times.append(calls[at][0] - before)
            before = calls[at][0]
        if len(times) == len(stages):
            for each, seconds in zip(taken, times):
                each.append(seconds)
    return [(name, sorted(each)[len(each) // 2])
            for (name, *_), each in zip(stages, taken) if each]
