"""A key in one live form to the changed cells of another's terminal, beside a bare relay.

    key-to-cells.py --release FOLDER --build FOLDER [--quick]

`keys` (keys.c) presses + on a stepper of the deploy form in one `pickerctl open` and takes the time
until another was written the frame that shows it. In turns with it, two programs write the same
bytes: a relay on the same path (terminal, process, Unix socket, process, Unix socket, process,
terminal), and a copy by one process from terminal to terminal. So the relay is what the kernel costs
on this path. The row that has a bar is measured without fsync (`durability = memory`). Below it is
the default, where a value is on disk before anybody sees it, beside a relay that waits for one
fdatasync for each key.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FORM = Path(__file__).parent.parent / "Examples/forms/deploy.yaml"
BAR = 3.0


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def measure(release, build, durability, count, pause):
    """Nanoseconds of each key, by who passed it on, and the bytes of a frame."""
    with tempfile.TemporaryDirectory(prefix="keys-") as folder:
        environment = {
            "PATH": os.environ["PATH"], "HOME": folder, "LC_ALL": "C.UTF-8",
            "PICKERSYNC_SOCKET": folder + "/sock"}
        daemon = subprocess.Popen(
            [release / "pickersyncd", "--socket", folder + "/sock", "--state-directory",
             folder + "/state", "--durability", durability], stderr=subprocess.PIPE,
            env=environment)
        try:
            while b"ready:" not in daemon.stderr.readline():
                if daemon.poll() is not None:
                    sys.exit("the daemon does not start")
            # As many steps as there are keys.
            text = FORM.read_text().replace("max: 64", "max: 1000000000")
            subprocess.run([release / "pickerctl", "form", "apply", "-"], input=text, text=True,
                           check=True, env=environment, stdout=subprocess.DEVNULL)
            command = [build / "keys", str(count), str(pause), "deploy", release / "pickerctl"]
            if durability == "commit":
                command.append(folder + "/synced")
            lines = subprocess.run(command, capture_output=True, text=True, check=True,
                                   env=environment).stdout.splitlines()
        finally:
            daemon.send_signal(signal.SIGTERM)
            daemon.wait()
    samples = {"ours": [], "relay": [], "copy": []}
    sizes = []
    for line in lines:
        who, nanoseconds, size = line.split()
        samples[who].append(int(nanoseconds))
        sizes.append(int(size))
    return samples, percentile(sizes, 0.5)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--release", type=Path, required=True)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    count = 300 if arguments.quick else 2000
    started = time.monotonic()
    print(f"key to cells, {count} keys each in turns, load {os.getloadavg()[0]:.1f}")
    print(f"{'durability':<12}{'':8}{'p50':>10}{'p99':>10}")
    for durability in ("memory", "commit"):
        samples, size = measure(arguments.release, arguments.build, durability, count, 3000)
        figures = {}
        for name, values in samples.items():
            figures[name] = [percentile(values, share) / 1000 for share in (0.5, 0.99)]
            print(f"{durability:<12}{name:8}" + "".join(f"{f:>7.0f} µs" for f in figures[name]))
        for name in ("relay", "copy"):
            ratio = [mine / theirs for mine, theirs in zip(figures["ours"], figures[name])]
            verdict = ""
            if durability == "memory" and name == "relay":
                holds = all(value <= BAR for value in ratio)
                verdict = f"  (bar {BAR:g}: {'holds' if holds else 'does not hold'})"
            print(f"{'':12}{'/ ' + name:8}" + "".join(f"{r:>8.2f} x" for r in ratio) + verdict)
        print(f"{'':12}frames of {size} bytes")
    print(f"{time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
