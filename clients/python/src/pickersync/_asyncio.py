"""Waiting with asyncio."""

from __future__ import annotations

import asyncio
import math
import socket
import time
from typing import Any, Coroutine, Optional, TypeVar

from ._errors import Expired

T = TypeVar("T")

_PIECE_BYTES = 65536


class _Stream:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def send(self, data: bytes, until: float) -> None:
        # Not drained: a daemon whose answers are not taken stops reading, so that calls that
        # overlap and wait here would wait for each other. The deadline of the answer bounds both.
        self._writer.write(data)

    async def receive(self, until: float) -> bytes:
        # A peer that always has bytes ready must not keep the loop from its timers.
        await asyncio.sleep(0)
        return await self._reader.read(_PIECE_BYTES)

    def close(self) -> None:
        self._writer.transport.abort()
        if not self._reader.at_eof():
            self._reader.feed_eof()


class _Lock:
    def __init__(self) -> None:
        self._lock: Optional[asyncio.Lock] = None

    async def acquire(self, until: float) -> None:
        if self._lock is None:
            # Not earlier: a client may be made before its event loop runs.
            self._lock = asyncio.Lock()
        await self._lock.acquire()

    def release(self) -> None:
        if self._lock is not None:
            self._lock.release()


class _Free:
    """Calls of one client may overlap."""

    async def acquire(self, until: float) -> None:
        return

    def release(self) -> None:
        return


class AsyncioIO:
    """`IO` on the running event loop. `within` ends what does not look at deadlines itself."""

    is_cancellable = True

    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float, until: float) -> None:
        await asyncio.sleep(seconds)

    async def within(self, until: float, work: Coroutine[Any, Any, T]) -> T:
        if until == math.inf:
            return await work
        try:
            return await asyncio.wait_for(work, max(0.0, until - time.monotonic()))
        except asyncio.TimeoutError:
            raise Expired from None

    async def stream(self, connected: socket.socket) -> _Stream:
        return _Stream(*await asyncio.open_unix_connection(sock=connected))

    def lock(self) -> _Lock:
        return _Lock()

    def turn(self) -> _Free:
        return _Free()
