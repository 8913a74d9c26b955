"""How a client waits. The protocol is written once, as coroutines over this; the two faces differ
in what they put here: asyncio, or calls that block and never suspend."""

from __future__ import annotations

import socket
from contextlib import asynccontextmanager
from typing import Any, AsyncIterator, Coroutine, Protocol, TypeVar

T = TypeVar("T")


class Stream(Protocol):
    """A connected socket."""

    async def send(self, data: bytes, until: float) -> None:
        """Sends all of it; `Expired` at the deadline, `OSError` where the peer is gone."""

    async def receive(self, until: float) -> bytes:
        """The next bytes, none at the end; `Expired`, `OSError`."""

    def close(self) -> None:
        """Closes it, and ends a `receive` that waits."""


class Lock(Protocol):
    """Mutual exclusion."""

    async def acquire(self, until: float) -> None:
        """Waits for it; `Expired`."""

    def release(self) -> None:
        """Gives it back."""


class IO(Protocol):
    """Time, waiting and sockets. Deadlines are moments of `now`; `inf` is none."""

    #: Whether a coroutine that is cancelled while it waits has taken nothing from its stream.
    is_cancellable: bool

    def now(self) -> float:
        """Seconds of a clock that only goes forward."""

    async def sleep(self, seconds: float, until: float) -> None:
        """Waits; `Expired` when the deadline comes first."""

    async def within(self, until: float, work: Coroutine[Any, Any, T]) -> T:
        """Does the work; `Expired` at the deadline at the latest."""

    async def stream(self, connected: socket.socket) -> Stream:
        """Takes over a socket that is connected and does not block."""

    def lock(self) -> Lock:
        """A lock between the calls that this face lets overlap."""

    def turn(self) -> Lock:
        """A lock held for a whole call, where calls may not overlap."""


@asynccontextmanager
async def held(lock: Lock, until: float) -> AsyncIterator[None]:
    """Holds a lock for the length of a block."""
    await lock.acquire(until)
    try:
        yield
    finally:
        lock.release()


#: Seconds before the next attempt to connect: the first, and the most.
_BACKOFF_FIRST, _BACKOFF_MAX = 0.05, 2.0


def backoff(attempt: int) -> float:
    """Seconds before the next attempt to connect: 50 ms, doubled each time, 2 s at most."""
    return float(min(_BACKOFF_MAX, _BACKOFF_FIRST * 2 ** min(attempt, 10)))
