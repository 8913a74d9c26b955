"""Waiting that blocks, and how coroutines over it become ordinary functions."""

from __future__ import annotations

import functools
import inspect
import socket
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Coroutine, Generic, Optional, TypeVar

from ._errors import ClientClosed, Expired

if TYPE_CHECKING:
    from typing import Concatenate, ParamSpec
    P = ParamSpec("P")

T = TypeVar("T")
L = TypeVar("L")
Self = TypeVar("Self", bound="Closing")

_PIECE_BYTES = 65536


class _Stream:
    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected

    def _wait_until(self, until: float) -> None:
        remaining = until - time.monotonic()
        if remaining <= 0:
            raise Expired
        self._socket.settimeout(min(remaining, threading.TIMEOUT_MAX))

    async def send(self, data: bytes, until: float) -> None:
        self._wait_until(until)
        try:
            self._socket.sendall(data)
        except socket.timeout:
            raise Expired from None

    async def receive(self, until: float) -> bytes:
        self._wait_until(until)
        try:
            return self._socket.recv(_PIECE_BYTES)
        except socket.timeout:
            raise Expired from None

    def close(self) -> None:
        try:
            # Ends a `recv` of another thread; `close` alone does not.
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._socket.close()


class _ThreadLock:
    def __init__(self) -> None:
        self._lock = threading.Lock()

    async def acquire(self, until: float) -> None:
        remaining = min(max(0.0, until - time.monotonic()), threading.TIMEOUT_MAX)
        if not self._lock.acquire(timeout=remaining):
            raise Expired

    def release(self) -> None:
        self._lock.release()


class BlockingIO:
    """`IO` whose coroutines never suspend. Threads may share a client: calls take turns."""

    is_cancellable = False

    def __init__(self) -> None:
        self._closed = threading.Event()

    def close(self) -> None:
        """Ends every sleep, now and later."""
        self._closed.set()

    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float, until: float) -> None:
        if self._closed.wait(max(0.0, min(seconds, until - time.monotonic()))):
            raise ClientClosed("closed while it waited for the daemon")
        if time.monotonic() >= until:
            raise Expired

    async def within(self, until: float, work: Coroutine[Any, Any, T]) -> T:
        return await work

    async def stream(self, connected: socket.socket) -> _Stream:
        return _Stream(connected)

    def lock(self) -> _ThreadLock:
        return _ThreadLock()

    def turn(self) -> _ThreadLock:
        return _ThreadLock()


def finish(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine over `BlockingIO`, which never suspends."""
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    work.close()
    raise TypeError("a handler that awaits asyncio needs AsyncClient")


class Closing:
    """What `with` closes at the end of its block."""

    def close(self) -> None:
        """Closes it."""
        raise NotImplementedError

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()


class Face(Generic[L]):
    """An object that does what an asynchronous one does, and blocks."""

    def __init__(self, logic: L) -> None:
        self._logic = logic


def blocking(
    function: Callable[Concatenate[L, P], Coroutine[Any, Any, T]]
) -> Callable[Concatenate[Face[L], P], T]:
    """The blocking twin of an asynchronous method, with its signature and documentation."""

    @functools.wraps(function)
    def method(self: Face[L], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return finish(function(self._logic, *args, **kwargs))

    setattr(method, "__signature__", inspect.signature(function))
    return method
