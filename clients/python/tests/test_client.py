"""The client against a real daemon: PICKERSYNC_BIN, else PATH, has pickersyncd."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any, Awaitable, Callable

import pickersync
from pickersync import AsyncClient, Edit, Update
from pickersync._protocol import FrameDecoder, Watch, backoff, encode, params_of, socket_paths

DEFINITION: dict[str, Any] = {
    "form": "deploy",
    "fields": [
        {"id": "environment", "type": "picker", "options": ["staging", "production"],
         "onConflict": "ask"},
        {"id": "traffic", "type": "slider", "min": 0, "max": 100, "step": 0.1},
        {"id": "replicas", "type": "stepper", "min": 1, "max": 9},
        {"id": "maintenance", "type": "toggle"},
        {"id": "days", "type": "picker", "multiple": True, "options": ["mon", "tue", "wed"]},
        {"id": "locked", "type": "toggle", "disabled": True},
        {"id": "token", "type": "secure"},
        {"id": "rollback", "type": "button"},
    ],
}


class Daemon:
    """A private daemon that can be killed and started again."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pickersync-py-"))
        self.path = str(self.folder / "sock")
        self.start()

    def start(self) -> None:
        program = shutil.which("pickersyncd", path=os.environ.get("PICKERSYNC_BIN"))
        assert program, "no pickersyncd: set PICKERSYNC_BIN"
        self.process = subprocess.Popen(
            [program, "--socket", self.path, "--state-directory", str(self.folder / "state")],
            stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if line.startswith("ready:"):
                return
        raise AssertionError("the daemon did not start")

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stderr is not None
        self.process.stderr.close()

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class WithDaemon(unittest.TestCase):
    daemon: Daemon

    def setUp(self) -> None:
        self.daemon = Daemon()
        self.addCleanup(lambda: self.daemon.close())
        self.client = pickersync.connect(self.daemon.path)
        self.addCleanup(self.client.close)
        self.client.apply(DEFINITION)
        self.form = self.client.form("deploy")


class BlockingTests(WithDaemon):
    def test_values_are_read_and_set_in_one_transaction(self) -> None:
        self.assertEqual(self.form.get("environment"), "staging")
        done = self.form.set(environment="production", traffic=20)
        self.assertEqual(done.revision, 2)
        self.assertEqual(done.fields["traffic"].value, 20)
        snapshot = self.form.read("t*", "environment")
        self.assertEqual(snapshot.values["environment"], "production")
        self.assertTrue(snapshot["traffic"].is_set)
        by = snapshot["traffic"].by
        assert by is not None
        self.assertEqual(by.uid, os.getuid())
        self.assertEqual(by.client, "python")

    def test_relative_edits_chain(self) -> None:
        edit = (Edit().increment("replicas", 2).toggle("maintenance").move("environment")
                .add("days", ["tue", "mon"]).press("rollback").set("token", "s"))
        done = self.form.commit(edit)
        self.assertEqual(done.fields["replicas"].value, 3)
        self.assertEqual(done.fields["days"].value, ["mon", "tue"])
        self.assertEqual(done.fields["rollback"].value, {"presses": 1})
        self.assertIs(done.fields["token"].has_secret, True)
        self.assertEqual(self.form.reveal("token"), "s")
        self.form.commit(Edit().remove("days", ["mon"]).reset("replicas"))
        self.assertEqual(self.form.get("days"), ["tue"])
        self.assertFalse(self.form.read("replicas")["replicas"].is_set)

    def test_decimals_are_sent_as_people_mean_them(self) -> None:
        self.form.set(traffic=0.1 + 0.2)
        self.assertEqual(self.form.get("traffic"), 0.3)

    def test_undo_and_redo(self) -> None:
        self.form.increment("replicas", 3)
        self.assertEqual(self.form.undo().fields["replicas"].value, 1)
        self.assertEqual(self.form.redo().fields["replicas"].value, 4)

    def test_refusals_are_exceptions_with_code_kind_and_data(self) -> None:
        with self.assertRaises(pickersync.NotFound) as not_found:
            self.form.get("trafic")
        self.assertEqual(not_found.exception.similar, ["traffic"])
        self.assertEqual((not_found.exception.code, not_found.exception.kind),
                         (-32001, "notFound"))
        with self.assertRaises(pickersync.InvalidValue) as invalid:
            self.form.set(environment="mars")
        self.assertIn("staging", invalid.exception.expected)
        with self.assertRaises(pickersync.Disabled):
            self.form.set(locked=True)
        with self.assertRaises(pickersync.InvalidParams):
            self.client.apply({"form": "x", "fields": [{"id": "1"}]})
        self.assertEqual(self.form.read().revision, 1)

    def test_a_stale_compare_and_set_is_a_conflict_and_shows_what_is_there(self) -> None:
        seen = self.form.read()
        with pickersync.connect(self.daemon.path, name="other") as other:
            other.form("deploy").set(environment="production")
        with self.assertRaises(pickersync.Conflict) as conflict:
            self.form.set(environment="staging", context=seen.context, require_current=True)
        self.assertEqual(
            conflict.exception.data["fields"]["environment"]["value"], "production")

    def test_concurrent_picks_are_both_kept(self) -> None:
        seen = self.form.read().context
        with pickersync.connect(self.daemon.path, name="other") as other:
            other.form("deploy").set(environment="production", context=seen)
        self.form.set(environment="staging", context=seen)
        field = self.form.read()["environment"]
        self.assertEqual({field.value, field.conflict[0].value}, {"staging", "production"})

    def test_a_call_outlives_the_daemon_and_an_edit_is_made_once(self) -> None:
        key = "the-key"
        self.form.commit(Edit().increment("replicas"), key=key)
        self.daemon.kill()
        restart = threading.Timer(0.3, self.daemon.start)
        restart.start()
        again = self.form.commit(Edit().increment("replicas"), key=key)
        restart.join()
        self.assertEqual(again.fields["replicas"].value, 2)
        self.assertEqual(self.form.get("replicas"), 2)

    def test_without_a_daemon_it_says_where_it_looked(self) -> None:
        with self.assertRaises(pickersync.ConnectionFailed) as failed:
            pickersync.connect("/nonexistent/sock", timeout=1)
        self.assertIn("/nonexistent/sock", str(failed.exception))

    def test_forms_definition_status_and_delete(self) -> None:
        self.assertEqual([one.form for one in self.client.forms()], ["deploy"])
        self.assertEqual(self.form.definition()["form"], "deploy")
        self.assertEqual(self.client.status()["forms"]["count"], 1)
        plan = self.client.apply({**DEFINITION, "fields": DEFINITION["fields"][:1]}, dry_run=True)
        self.assertEqual(len(plan.removed), 7)
        updates = self.form.watch(timeout=30)
        self.form.delete()
        self.assertEqual(list(updates), [])


class WatchTests(WithDaemon):
    def test_a_watch_tells_every_change_in_order(self) -> None:
        updates = self.form.watch("t*", "replicas", initial=True, timeout=30)
        first = next(updates)
        self.assertTrue(first.is_snapshot)
        self.assertEqual({change.field for change in first.changes},
                         {"traffic", "token", "replicas"})
        for number in range(5):
            self.form.set(traffic=number + 1)
        got = [next(updates) for _ in range(5)]
        self.assertEqual([one.revision for one in got], [2, 3, 4, 5, 6])
        self.assertEqual([(one.changes[0].was, one.changes[0].value) for one in got],
                         [(n, n + 1) for n in range(5)])

    def test_a_watch_goes_on_where_another_ended(self) -> None:
        updates = self.form.watch(initial=True, timeout=30)
        since = next(updates).since
        updates.close()  # type: ignore[attr-defined]
        self.form.set(traffic=1)
        self.form.set(traffic=2)
        again = self.form.watch(since=since, timeout=30)
        self.assertEqual([next(again).changes[0].value for _ in range(2)], [1, 2])
        elsewhere = self.form.watch(since=pickersync.Since("another", 1), timeout=30)
        self.assertTrue(next(elsewhere).is_snapshot)

    def test_a_watch_outlives_the_daemon_and_misses_nothing(self) -> None:
        updates = self.form.watch(timeout=30)
        self.form.set(traffic=1)
        self.assertEqual(next(updates).revision, 2)
        self.form.set(traffic=2)
        self.daemon.kill()
        self.daemon.start()
        self.form.set(traffic=3)
        self.assertEqual([next(updates).revision, next(updates).revision], [3, 4])

    def test_a_watch_that_hears_nothing_ends_in_time(self) -> None:
        with self.assertRaises(pickersync.TimedOut):
            next(self.form.watch(timeout=0.05))

    def test_another_definition_is_told(self) -> None:
        updates = self.form.watch(timeout=30)
        self.client.apply({**DEFINITION, "title": "Deploy"})
        definition = next(updates).definition
        assert definition is not None
        self.assertEqual(definition["title"], "Deploy")


class AsyncTests(unittest.TestCase):
    def run_with(self, body: Callable[[AsyncClient, Daemon], Awaitable[None]]) -> None:
        daemon = Daemon()
        self.addCleanup(lambda: daemon.close())

        async def run() -> None:
            async with AsyncClient(daemon.path) as client:
                await client.apply(DEFINITION)
                await body(client, daemon)

        asyncio.run(asyncio.wait_for(run(), 60))

    def test_calls_overlap_and_increments_add_up(self) -> None:
        async def body(client: AsyncClient, daemon: Daemon) -> None:
            form = client.form("deploy")
            await asyncio.gather(*(form.increment("replicas") for _ in range(5)))
            self.assertEqual(await form.get("replicas"), 6)
            await form.undo()
            await form.redo()
            await form.press("rollback")
            await form.set(token="s")
            self.assertEqual(await form.reveal("token"), "s")
            with self.assertRaises(pickersync.NotFound):
                await form.get("nothing")
            self.assertEqual((await client.status())["forms"]["count"], 1)
            self.assertEqual((await form.definition())["form"], "deploy")

        self.run_with(body)

    def test_a_watch_outlives_the_daemon_and_misses_nothing(self) -> None:
        async def body(client: AsyncClient, daemon: Daemon) -> None:
            form, got = client.form("deploy"), list[Update]()

            async def watch() -> None:
                async for update in form.watch(initial=True):
                    got.append(update)
                    if len(got) == 3:
                        return

            watching = asyncio.ensure_future(watch())
            while not got:
                await asyncio.sleep(0.01)
            await form.set(traffic=1)
            daemon.kill()
            daemon.start()
            await form.set(traffic=2)
            await watching
            self.assertEqual([one.revision for one in got], [1, 2, 3])
            self.assertEqual([one.is_snapshot for one in got], [True, False, False])
            ended = asyncio.ensure_future(self.count(form.watch(initial=True)))
            await asyncio.sleep(0.05)
            await form.delete()
            self.assertGreaterEqual(await ended, 0)
            self.assertEqual(await client.forms(), [])

        self.run_with(body)

    @staticmethod
    async def count(updates: Any) -> int:
        number = 0
        try:
            async for _ in updates:
                number += 1
        except pickersync.NotFound:
            pass
        return number


class MachineTests(unittest.TestCase):
    """What needs no daemon."""

    def test_frames_are_decoded_at_every_split(self) -> None:
        data = encode({"a": "ä", "n": [1, 2.5]}) + encode({"b": None})
        for split in range(len(data) + 1):
            decoder = FrameDecoder()
            got = list(decoder.feed(data[:split])) + list(decoder.feed(data[split:]))
            self.assertEqual(got, [{"a": "ä", "n": [1, 2.5]}, {"b": None}])

    def test_what_is_no_daemon_is_refused(self) -> None:
        for data in (b"\0\0\0\0", b"\xff\xff\xff\xff", b"\0\0\0\1[", b"\0\0\0\2[]"):
            with self.assertRaises(pickersync.ProtocolViolation):
                list(FrameDecoder().feed(data))

    def test_only_edits_have_keys_and_a_given_one_stays(self) -> None:
        self.assertEqual(params_of("state.get", {"form": "f", "fields": None}), {"form": "f"})
        self.assertIn("idempotencyKey", params_of("state.set", {}))
        self.assertEqual(params_of("state.set", {"idempotencyKey": "k"}), {"idempotencyKey": "k"})

    def test_a_revision_is_told_once(self) -> None:
        watch = Watch("f", None, None, False)
        watch.subscribed({"resumed": False, "log": "l", "revision": 4, "context": "",
                          "fields": {}})

        def change(revision: int) -> dict[str, Any]:
            return {"method": "state.changed", "params": {
                "form": "f", "revision": revision, "context": "c", "changes": []}}

        told = [watch.notified(change(revision)) for revision in (4, 5, 5, 6)]
        self.assertEqual([one and one.revision for one in told], [None, 5, None, 6])
        self.assertIsNone(watch.notified({**change(9), "method": "presence.changed"}))
        self.assertEqual(watch.params()["since"], {"log": "l", "revision": 6})

    def test_where_the_daemon_is_looked_for(self) -> None:
        self.assertEqual(socket_paths("/a", {"PICKERSYNC_SOCKET": "/b"}), ["/a"])
        self.assertEqual(socket_paths(None, {"PICKERSYNC_SOCKET": "/b"}), ["/b"])
        self.assertEqual(socket_paths(None, {"XDG_RUNTIME_DIR": "/r"}),
                         ["/r/pickersync/sock", "/run/pickersync/sock"])
        self.assertEqual([backoff(0), backoff(99)], [0.05, 2.0])


if __name__ == "__main__":
    unittest.main()
