"""The client for asyncio."""

from __future__ import annotations

import asyncio
import unittest
from typing import Any

import pickersync
from pickersync import AsyncClient, Update
from pickersync.testing import Daemon
from tests.support import run_with_client


class AsyncTests(unittest.TestCase):
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

        run_with_client(self, body)

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

        run_with_client(self, body)

    @staticmethod
    async def count(updates: Any) -> int:
        number = 0
        try:
            async for _ in updates:
                number += 1
        except pickersync.NotFound:
            pass
        return number


if __name__ == "__main__":
    unittest.main()
