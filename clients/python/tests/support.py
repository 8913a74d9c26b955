"""What the tests share: a daemon for each test, and a form."""

from __future__ import annotations

import asyncio
import unittest
from typing import Any, Awaitable, Callable

from pickersync import AsyncClient
from pickersync.testing import Daemon

DEFINITION: dict[str, Any] = {
    "form": "deploy",
    "fields": [
        {"id": "environment", "type": "picker", "options": ["staging", "production"],
         "onConflict": "ask"},
        {"id": "traffic", "type": "slider", "min": 0, "max": 100, "step": 0.1},
        {"id": "replicas", "type": "stepper", "min": 1, "max": 99},
        {"id": "maintenance", "type": "toggle"},
        {"id": "days", "type": "picker", "multiple": True, "options": ["mon", "tue", "wed"]},
        {"id": "locked", "type": "toggle", "disabled": True},
        {"id": "token", "type": "secure"},
        {"id": "rollback", "type": "button"},
        {"id": "begins", "type": "date", "mode": "date"},
        {"id": "at-time", "type": "date", "mode": "time"},
        {"id": "moment", "type": "date", "mode": "dateAndTime"},
        {"id": "pause", "type": "date", "mode": "countdown"},
        {"id": "values", "type": "text"},
        {"id": "context", "type": "text"},
    ],
}


class WithDaemon(unittest.TestCase):
    """Tests with a daemon, a client and a form of their own."""

    def setUp(self) -> None:
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        self.client = self.daemon.connect(name="python")
        self.client.apply(DEFINITION)
        self.form = self.client.form("deploy")


def run_with_client(
    test: unittest.TestCase, body: Callable[[AsyncClient, Daemon], Awaitable[None]]
) -> None:
    """Runs a coroutine with a client of a new daemon."""
    daemon = Daemon()
    test.addCleanup(daemon.close)

    async def run() -> None:
        async with daemon.connect_async() as client:
            await client.apply(DEFINITION)
            await body(client, daemon)

    asyncio.run(asyncio.wait_for(run(), 120))
