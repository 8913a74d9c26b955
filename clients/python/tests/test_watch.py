"""Watches: every change once, over restarts; and how they end."""

from __future__ import annotations

import threading
import unittest
from typing import Any

import pickersync
from pickersync import Watch
from tests.support import DEFINITION, WithDaemon


class WatchTests(WithDaemon):
    def watch(self, *fields: str, **options: Any) -> Watch:
        watch = self.form.watch(*fields, **options)
        self.addCleanup(watch.close)
        return watch

    def test_a_watch_ends_when_another_thread_closes_it_or_its_client(self) -> None:
        for close_client in (False, True):
            client = self.daemon.connect()
            with client.form("deploy").watch() as updates:
                closing = threading.Timer(0.1, client.close if close_client else updates.close)
                closing.start()
                self.assertEqual(list(updates), [])
                closing.join()

    def test_a_watch_in_use_is_refused_to_another_thread(self) -> None:
        updates = self.watch()
        refused = list[str]()

        def second() -> None:
            try:
                updates.next(timeout=0.01)
            except pickersync.PickerSyncError as error:
                refused.append(str(error))

        updates._logic._is_busy = True  # type: ignore[attr-defined]
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
        self.assertEqual(refused, ["this watch is in use by another thread or task"])

    def test_a_paused_daemon_is_waited_for_and_a_watch_misses_nothing(self) -> None:
        updates = self.watch(timeout=60)
        self.daemon.pause()
        threading.Timer(0.1, self.daemon.resume).start()
        self.form.set(traffic=4)
        self.assertEqual(next(updates).values, {"traffic": 4})

    def test_a_watch_tells_every_change_in_order(self) -> None:
        updates = self.watch("t*", "replicas", initial=True, timeout=30)
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
        updates = self.watch(initial=True, timeout=30)
        since = next(updates).since
        updates.close()
        updates.close()
        self.assertEqual(list(updates), [])
        self.form.set(traffic=1)
        self.form.set(traffic=2)
        again = self.watch(since=since, timeout=30)
        self.assertEqual([next(again).changes[0].value for _ in range(2)], [1, 2])
        elsewhere = self.watch(since=pickersync.Since("another", 1), timeout=30)
        self.assertTrue(next(elsewhere).is_snapshot)

    def test_a_watch_outlives_the_daemon_and_misses_nothing(self) -> None:
        updates = self.watch(timeout=30)
        self.form.set(traffic=1)
        self.assertEqual(next(updates).revision, 2)
        self.form.set(traffic=2)
        self.daemon.kill()
        self.daemon.start()
        self.form.set(traffic=3)
        self.assertEqual([next(updates).revision, next(updates).revision], [3, 4])

    def test_a_watch_that_hears_nothing_ends_in_time(self) -> None:
        with self.form.watch(timeout=0.05) as updates:
            with self.assertRaises(pickersync.TimedOut):
                next(updates)
            self.form.set(traffic=1)
            update = updates.next(timeout=30)
            assert update is not None
            self.assertEqual(update.revision, 2)

    def test_another_definition_is_told(self) -> None:
        updates = self.watch(timeout=30)
        self.client.apply({**DEFINITION, "title": "Deploy"})
        definition = next(updates).definition
        assert definition is not None
        self.assertEqual(definition["title"], "Deploy")


if __name__ == "__main__":
    unittest.main()
