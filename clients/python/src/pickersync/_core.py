"""Calls: each is made once, over reconnections, and ends at its deadline."""

from __future__ import annotations

import itertools
import os
import uuid
import weakref
from dataclasses import dataclass
from typing import Any, Callable, Generic, Mapping, Optional, Protocol, TypeVar

from ._connection import Connection, connect
from ._errors import (
    ClientClosed, ConnectionFailed, Expired, OtherReplica, OutcomeUnknown, PickerSyncError,
    ProtocolViolation, TimedOut, Unavailable,
)
from ._io import IO, backoff, held
from ._trust import places

T = TypeVar("T")

#: Methods that change something. They carry a key, so that sending them again is safe.
KEYED = frozenset((
    "form.apply", "form.setOptions", "form.delete", "state.set", "state.lease", "state.undo",
    "state.redo"))


@dataclass(frozen=True)
class Request(Generic[T]):
    """What is asked, and how its result is read."""

    method: str
    params: Mapping[str, Any]
    read: Callable[[Any], T]

    @classmethod
    def make(
        cls, method: str, read: Callable[[Any], T], params: Mapping[str, Any]
    ) -> Request[T]:
        """A request without the params that are None, with a key where it changes something."""
        kept = {name: value for name, value in params.items() if value is not None}
        if method in KEYED:
            kept.setdefault("idempotencyKey", uuid.uuid4().hex)
        return cls(method, kept, read)

    @property
    def key(self) -> Optional[str]:
        """The idempotency key."""
        key: Optional[str] = self.params.get("idempotencyKey")
        return key

    def result(self, raw: Any) -> T:
        """The result, read; `ProtocolViolation` where members are missing or of another type."""
        try:
            return self.read(raw)
        except PickerSyncError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError):
            raise ProtocolViolation(
                f"an answer to {self.method} that is not as the protocol says") from None


@dataclass(frozen=True)
class Options:
    """How a client connects."""

    path: Optional[str]
    greeting: Mapping[str, Any]
    frame_bytes_max: int


class Closable(Protocol):
    """What ends with its client."""

    def close(self) -> None:
        """Ends it."""


class _Progress:
    """How far a call has come when its deadline passes."""

    def __init__(self, store: Optional[str] = None) -> None:
        self.is_sent = False
        #: The store whose daemon the call is for, once it was sent to one.
        self.store = store
        self.failure: Optional[PickerSyncError] = None


class Core:
    """The calls of one client, over one connection at a time."""

    def __init__(self, io: IO, options: Options, timeout: float) -> None:
        self.io = io
        self.timeout = timeout
        self.is_closed = False
        #: The watches of this client that are in use somewhere.
        self.watches: weakref.WeakSet[Closable] = weakref.WeakSet()
        self._options = options
        self._connection: Optional[Connection] = None
        self._inherited: Optional[Connection] = None
        self._turn = io.turn()
        self._opening = io.lock()

    async def open(self) -> None:
        """Connects now. Who begins hears at once of a daemon that is not there."""
        until = self.io.now() + self.timeout
        try:
            await self.io.within(until, self._connected(until))
        except Expired:
            raise TimedOut(f"connecting: nothing came within {self.timeout:g} s") from None

    def close(self) -> None:
        """Closes the connection and the watches. Calls that wait, and later ones, raise
        `ClientClosed`."""
        self.is_closed = True
        for watch in list(self.watches):
            watch.close()
        if self._connection is not None:
            self._connection.close(ClientClosed("the client was closed"))

    async def connect(self, until: float) -> Connection:
        """A new connection, of the caller's own."""
        options = self._options
        return await connect(
            self.io, places(options.path, os.environ), options.greeting, options.frame_bytes_max,
            until)

    async def call(self, request: Request[T], store: Optional[str] = None) -> T:
        """Makes a request until it is answered or the deadline passes.

        One with a key that was sent to the daemon of a store, which `store` may name, is sent to
        no other: `OtherReplica`."""
        timeout = self.timeout
        until = self.io.now() + timeout
        progress = _Progress(store)
        try:
            raw = await self.io.within(until, self._in_turn(request, progress, until))
        except Expired:
            if progress.is_sent:
                # A daemon that is silent for so long is not trusted with the next call.
                self._drop(self._connection)
            raise self._expired(request, progress, timeout) from None
        except Exception:
            raise
        except BaseException:
            if not self.io.is_cancellable:
                # Interrupted in the middle, half a frame may have been read or sent.
                self._drop(self._connection)
            raise
        return request.result(raw)

    async def _in_turn(self, request: Request[T], progress: _Progress, until: float) -> Any:
        async with held(self._turn, until):
            for attempt in itertools.count():
                connection: Optional[Connection] = None
                pause = backoff(attempt)
                try:
                    connection = await self._connected(until)
                    if request.key is not None:
                        progress.store = progress.store or connection.store
                        if connection.store != progress.store:
                            raise self._other_replica(request, request.key, progress)
                    progress.is_sent = True
                    return await connection.request(request.method, request.params, until)
                except ConnectionFailed as failure:
                    progress.failure = failure
                    pause = max(pause, failure.retry_after)
                except Unavailable as failure:
                    # The daemon is about to stop and has not begun the request.
                    if not failure.data.get("resend"):
                        raise
                    progress.failure = failure
                self._drop(connection)
                await self.io.sleep(pause, until)
        raise AssertionError("the loop above does not end")

    async def _connected(self, until: float) -> Connection:
        async with held(self._opening, until):
            if self.is_closed:
                raise ClientClosed("the client was closed")
            if self._connection is not None and self._connection.process != os.getpid():
                # The process that this one was forked from uses it. Closing would end it there.
                self._inherited, self._connection = self._connection, None
            if self._connection is None or not self._connection.is_open:
                self._connection = await self.connect(until)
                if self.is_closed:
                    self.close()
            return self._connection

    def _drop(self, connection: Optional[Connection]) -> None:
        if connection is not None:
            connection.close()
            if connection is self._connection:
                self._connection = None

    @staticmethod
    def _other_replica(
        request: Request[Any], key: str, progress: _Progress
    ) -> OtherReplica:
        return OtherReplica(
            f"{request.method}: outcome unknown: another daemon, with another store, answers now; "
            "client.settle(error) asks the first one when it answers again, "
            "client.apply_kept(error) makes the edit here",
            request, key, progress.store)

    @staticmethod
    def _expired(
        request: Request[Any], progress: _Progress, timeout: float
    ) -> PickerSyncError:
        last = f"; last: {progress.failure}" if progress.failure else ""
        if progress.is_sent and request.key is not None:
            return OutcomeUnknown(
                f"{request.method}: outcome unknown: it was sent, and no answer came within "
                f"{timeout:g} s{last}; client.settle(error) asks again with the same key",
                request, request.key, progress.store)
        if isinstance(progress.failure, ConnectionFailed) and not progress.is_sent:
            return ConnectionFailed(f"{progress.failure} (tried for {timeout:g} s)")
        return TimedOut(f"{request.method}: no answer within {timeout:g} s{last}")
