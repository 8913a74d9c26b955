"""Buttons that answer: functions for presses, over lost connections."""

from __future__ import annotations

import threading
import unittest
from typing import Any, Callable, Optional

from pickersync import AsyncClient, AsyncRun, Run, Update
from pickersync.testing import Daemon
from tests.support import WithDaemon, run_with_client

DEFINITION = {
    "form": "work",
    "fields": [
        {"id": "version", "type": "text"}, {"id": "token", "type": "secure"},
        {"id": "start", "type": "button", "runs": "queue", "waitsFor": "1d"},
        {"id": "plain", "type": "button"},
    ],
}


class RunTests(WithDaemon):
    def setUp(self) -> None:
        super().setUp()
        self.client.apply(DEFINITION)
        self.work = self.client.form("work")
        self.handler = self.daemon.connect(name="handler").form("work")

    def handle(self, function: Callable[[Run], Any]) -> None:
        self.handler.handles("start")(function)
        thread = threading.Thread(target=self.handler.run)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.handler.stop)

    def ended(self, count: int) -> dict[str, Any]:
        """The last press, once so many have been made and none waits or runs."""
        with self.work.watch("start", initial=True) as updates:
            for update in updates:
                last = self.outcome(update, count)
                if last is not None:
                    return last
        raise AssertionError("the watch ended")

    @staticmethod
    def outcome(update: Update, count: int) -> Optional[dict[str, Any]]:
        for change in update.changes:
            runs = change.now.runs or {}
            if (change.value == {"presses": count} and not runs["waiting"]
                    and not runs["running"]):
                return dict(runs["last"])
        return None

    def test_outcomes(self) -> None:
        """A text that is returned and one that is raised are the texts of the outcomes."""
        seen: list[Run] = []

        def work(run: Run) -> str:
            seen.append(run)
            run.progress(0.5, "half\nway")
            if run.values["version"] == "bad":
                raise ValueError("no such version")
            return "9 files"

        self.handle(work)
        self.work.set(version="1.2", token="secret")
        press = self.work.press("start").fields["start"].press
        last = self.ended(1)
        self.assertEqual((last["state"], last["text"], last["press"]), ("done", "9 files", press))
        self.assertEqual(last["handler"]["client"], "handler")
        self.assertNotIn("token", seen[0].values)
        self.work.set(version="bad")
        self.work.press("start")
        last = self.ended(2)
        self.assertEqual((last["state"], last["text"]), ("failed", "no such version"))

    def test_daemon_restarts(self) -> None:
        """A run whose daemon is killed is finished at the next one, with its ticket."""
        is_away = threading.Event()

        def work(run: Run) -> None:
            began.set()
            is_away.wait()

        began = threading.Event()
        self.handle(work)
        self.work.press("start")
        began.wait()
        self.daemon.kill()
        self.daemon.start()
        is_away.set()
        self.assertEqual(self.ended(1)["state"], "done")

    def test_refused(self) -> None:
        """A button without runs is refused, and so are handlers of changes beside it."""
        form = self.daemon.connect().form("work")
        form.handles("plain")(lambda run: None)
        with self.assertRaisesRegex(Exception, "plain has no runs"):
            form.run()
        form.on_change()(lambda change: None)
        with self.assertRaises(ValueError):
            form.run()


class AsyncRunTests(unittest.TestCase):
    def test_async(self) -> None:
        """A function may be a coroutine function."""
        async def body(client: AsyncClient, daemon: Daemon) -> None:
            await client.apply(DEFINITION)
            form = client.form("work")

            @form.handles("start")
            async def work(run: AsyncRun) -> str:
                await run.progress(1)
                form.stop()
                return "ok"

            await form.press("start")
            await form.run()
            runs = (await form.read("start")).fields["start"].runs or {}
            self.assertEqual((runs["last"]["state"], runs["last"]["text"]), ("done", "ok"))

        run_with_client(self, body)
