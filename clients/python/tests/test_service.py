"""What a service does: handlers, a bound dataclass, and the example over crashes of both sides."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from dataclasses import dataclass, replace
from datetime import date, time as clock
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Callable, Optional

import pickersync
from pickersync import AsyncClient, Change, Press, Since
from pickersync.testing import Daemon
from tests.support import WithDaemon, run_with_client

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


class Environment(Enum):
    STAGING = "staging"
    PRODUCTION = "production"


@dataclass
class Settings:
    environment: Environment
    traffic: Decimal
    days: set[str]
    begins: Optional[date]
    at_time: Optional[clock]


class HandlerTests(WithDaemon):
    def run_in_thread(self) -> threading.Thread:
        """`form.run` in a thread; it is under way when this returns."""
        began = threading.Event()
        self.runner.on_change("values", initial=True)(lambda change: began.set())
        thread = threading.Thread(target=self.runner.run)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.runner.stop)
        began.wait()
        return thread

    def setUp(self) -> None:
        super().setUp()
        self.runner = self.daemon.connect().form("deploy")
        self.changes = list[Change]()
        self.presses = list[Press]()
        self.done = threading.Event()

    def test_handlers_are_called_with_what_changes_and_what_is_pressed(self) -> None:
        self.runner.on_change("tr*", "maintenance")(self.changes.append)
        self.runner.on_press("rollback")(self.presses.append)
        self.runner.on_change("replicas")(lambda change: self.done.set())
        self.form.press("rollback")
        thread = self.run_in_thread()
        self.form.set(traffic=20, environment="production")
        self.form.toggle("maintenance")
        self.form.press("rollback")
        self.form.increment("replicas")
        self.done.wait()
        self.assertEqual([(one.field, one.was, one.value) for one in self.changes],
                         [("traffic", 0, 20), ("maintenance", False, True)])
        self.assertEqual([one.number for one in self.presses], [2])
        by = self.presses[0].by
        assert by is not None
        self.assertEqual((by.uid, by.client), (os.getuid(), "python"))
        self.runner.stop()
        thread.join()
        assert self.runner.since is not None
        self.assertEqual(self.runner.since.revision, self.form.read().revision)

    def test_no_press_is_lost_over_crashes_of_the_daemon(self) -> None:
        @self.runner.on_press("rollback")
        def pressed(press: Press) -> None:
            self.presses.append(press)
            if press.number == 200:
                self.done.set()

        self.run_in_thread()
        for number in range(200):
            self.form.press("rollback")
            if number % 70 == 35:
                self.daemon.kill()
                self.daemon.start()
        self.done.wait()
        self.assertEqual([one.number for one in self.presses], list(range(1, 201)))

    def test_another_run_resumes_where_one_stopped(self) -> None:
        place = self.form.read().since
        self.form.press("rollback")
        self.form.set(traffic=3)
        self.form.press("rollback")
        kept = list[Since]()
        self.runner.on_press()(self.presses.append)

        @self.runner.on_change("traffic")
        def changed(change: Change) -> None:
            self.changes.append(change)

        @self.runner.on_change("replicas")
        def stop(change: Change) -> None:
            self.runner.stop()

        self.form.increment("replicas")
        self.runner.run(since=place, keep=kept.append)
        self.assertEqual([one.number for one in self.presses], [1, 2])
        self.assertEqual([one.value for one in self.changes], [3])
        self.assertEqual([one.revision for one in kept], [2, 3, 4, 5])

    def test_what_a_handler_raises_ends_the_run(self) -> None:
        @self.runner.on_change("environment", initial=True)
        def fail(change: Change) -> None:
            raise LookupError(str(change.value))

        with self.assertRaisesRegex(LookupError, "staging"):
            self.runner.run()

        async def never(press: Press) -> None:
            await asyncio.sleep(0)

        other = self.daemon.connect().form("deploy")
        other.on_press()(never)
        place = self.form.read().since
        self.form.press("rollback")
        with self.assertRaisesRegex(TypeError, "AsyncClient"):
            other.run(since=place)
        with self.assertRaises(ValueError):
            self.form.run()

    def test_the_end_of_the_form_ends_the_run(self) -> None:
        self.runner.on_change("traffic")(self.changes.append)
        thread = self.run_in_thread()
        self.form.delete()
        thread.join()

    def test_asynchronous_handlers(self) -> None:
        async def body(client: AsyncClient, daemon: Daemon) -> None:
            form, presses = client.form("deploy"), list[int]()

            @form.on_press("rollback")
            async def pressed(press: Press) -> None:
                await form.increment("replicas")
                presses.append(press.number)
                if press.number == 3:
                    form.stop()

            began = asyncio.Event()
            form.on_change("values", initial=True)(lambda change: began.set())
            running = asyncio.ensure_future(form.run())
            await began.wait()
            for _ in range(3):
                await form.press("rollback")
            await running
            self.assertEqual(presses, [1, 2, 3])
            self.assertEqual(await form.get("replicas"), 4)

        run_with_client(self, body)


class BoundTests(WithDaemon):
    def test_a_form_is_a_dataclass(self) -> None:
        bound = self.form.bind(Settings)
        settings = bound.read()
        self.assertEqual(
            settings, Settings(Environment.STAGING, Decimal(0), set(), None, None))
        changed = replace(settings, environment=Environment.PRODUCTION, traffic=Decimal("0.3"),
                          days={"tue"}, begins=date(2026, 11, 22), at_time=clock(14, 30))
        done = bound.save(changed)
        assert done is not None
        self.assertEqual(self.form.get("at-time"), "14:30")
        self.assertEqual(bound.read(), changed)
        self.assertIsNone(bound.save(changed))

    def test_saving_sets_what_differs_alone_and_can_insist(self) -> None:
        bound = self.form.bind(Settings)
        settings = bound.read()
        self.form.set(traffic=7)
        bound.save(replace(settings, begins=date(2026, 1, 2)))
        self.assertEqual(self.form.get("traffic"), 7)
        settings = bound.read()
        self.daemon.connect().form("deploy").set(traffic=8)
        with self.assertRaises(pickersync.Conflict):
            bound.save(replace(settings, traffic=Decimal(9)), require_current=True)

    def test_states_follow(self) -> None:
        bound = self.form.bind(Settings)
        with bound.watch(timeout=30) as states:
            self.assertEqual(next(states).traffic, 0)
            self.form.set(values="not of the dataclass")
            self.form.set(traffic=1)
            self.assertEqual(next(states).traffic, 1)

    def test_an_attribute_without_a_field_is_said(self) -> None:
        @dataclass
        class Wrong:
            speed: int

        with self.assertRaisesRegex(pickersync.NotFound, "speed"):
            self.form.bind(Wrong).read()
        with self.assertRaisesRegex(TypeError, "dataclass"):
            self.form.bind(int)


class ExampleTests(unittest.TestCase):
    """The example as a process of its own; the daemon and the service are killed under it."""

    def setUp(self) -> None:
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        self.client = self.daemon.connect()
        self.folder = tempfile.TemporaryDirectory(prefix="pickersync-")
        self.addCleanup(self.folder.cleanup)
        pickerctl = shutil.which("pickerctl", path=os.environ.get("PICKERSYNC_BIN"))
        assert pickerctl is not None
        subprocess.run(
            [pickerctl, "--socket", self.daemon.path, "form", "apply", "-q",
             str(EXAMPLES / "rollout.yaml")], check=True)
        self.form = self.client.form("rollout")
        self.started = 0

    def start(self) -> subprocess.Popen[bytes]:
        self.started += 1
        self.output = Path(self.folder.name) / f"out{self.started}"
        with open(self.output, "wb") as output:
            service = subprocess.Popen(
                [sys.executable, str(EXAMPLES / "rollout.py"), self.folder.name + "/place"],
                stdout=output, stderr=output,
                env={**os.environ, "PICKERSYNC_SOCKET": self.daemon.path,
                     "PYTHONPATH": os.pathsep.join(sys.path)})

        def end() -> None:
            service.kill()
            service.wait()

        self.addCleanup(end)
        return service

    def eventually(self, what: str, holds: Callable[[], bool]) -> None:
        for _ in range(6000):
            if holds():
                return
            time.sleep(0.01)
        self.fail(f"{what}; the service said: {self.output.read_text()}")

    def test_every_press_is_one_deployment_over_kills_of_both_sides(self) -> None:
        service = self.start()
        self.eventually("began", lambda: "share of traffic: 10 %" in self.output.read_text())
        self.form.set(version="v2", share=25)
        for number in range(20):
            self.form.press("deploy")
            if number == 5:
                self.daemon.kill()
                self.daemon.start()
            if number == 12:
                service.kill()
                service.wait()
        service = self.start()
        self.form.wait_for({"deployments": 20}, timeout=60)
        self.assertEqual(self.form.get("running"), "v2")
        service.send_signal(signal.SIGTERM)
        self.assertEqual(service.wait(), 0)
        self.assertTrue(self.output.read_text().endswith("stopped\n"))
        self.assertEqual(self.form.get("deployments"), 20)


if __name__ == "__main__":
    unittest.main()
