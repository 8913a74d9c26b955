"""One connection to the daemon: requests out, answers to those who asked, notifications in order.

Whatever the peer sends, this holds a bounded amount: an answer for each request that waits, one
frame that is not whole, and the notifications of one read. A connection with a listener also keeps
the few that come while its requests wait.
"""

from __future__ import annotations

import itertools
import os
import socket
from collections import deque
from typing import Any, Callable, Deque, Iterable, Mapping, NoReturn, Optional

from ._errors import (
    ConnectionFailed, Expired, LimitReached, PickerSyncError, ProtocolViolation, daemon_error,
)
from ._frames import FrameDecoder, Message, encode
from ._io import IO, Stream, held
from ._text import shown
from ._trust import Place

#: Requests whose callers left before the answer came.
_ABANDONED_MAX = 10_000

#: Notifications that wait while a request does, on a connection with a listener. A daemon gives one
#: press at a time.
_KEPT_MAX = 16

#: Seconds between attempts at a socket whose queue of connections is full.
_QUEUE_SECONDS = 0.02

#: Seconds that a daemon's `retryAfterMs` may ask for.
_RETRY_SECONDS_MAX = 60.0


async def connect(
    io: IO, places: Iterable[Place], greeting: Mapping[str, Any], frame_bytes_max: int,
    until: float,
) -> Connection:
    """Connects to the first place where a daemon answers, once it is known whose it is, and says
    hello. `ConnectionFailed` where nobody answers, `UntrustedDaemon`, `Expired`."""
    tried: list[str] = []
    for place in places:
        try:
            place.check_folder()
            connected = await _connected(io, place.path, until)
        except OSError as error:
            tried.append(f"{place.path}: {error.strerror or error}")
            continue
        try:
            place.check_peer(connected)
            stream = await io.stream(connected)
        except BaseException:
            connected.close()
            raise
        connection = Connection(io, stream, place.path, frame_bytes_max)
        try:
            connection.greeted(await connection.request("hello", greeting, until))
        except BaseException:
            connection.close()
            raise
        return connection
    raise ConnectionFailed("no daemon answers at " + "; ".join(tried))


async def _connected(io: IO, path: str, until: float) -> socket.socket:
    while True:
        connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        try:
            connected.setblocking(False)
            connected.connect(path)
            return connected
        except BlockingIOError:
            # A Unix socket is connected at once, unless its queue is full.
            connected.close()
        except BaseException:
            connected.close()
            raise
        await io.sleep(_QUEUE_SECONDS, until)


class Connection:
    """A connection whose peer has passed the checks."""

    def __init__(self, io: IO, stream: Stream, path: str, frame_bytes_max: int) -> None:
        self._io, self._stream, self._path = io, stream, path
        self._decoder = FrameDecoder(frame_bytes_max)
        self._ids = itertools.count(1)
        self._waiting: set[int] = set()
        self._answers: dict[int, Message] = {}
        self._abandoned: set[int] = set()
        self._notifications: Deque[Message] = deque()
        self._reading = io.lock()
        self._request_bytes_max: Optional[int] = None
        self._failure: Optional[PickerSyncError] = None
        #: The process that made it. A forked one must make its own.
        self.process = os.getpid()
        #: Whose store the daemon has: its replica without the epoch. None before it has said so.
        self.store: Optional[str] = None
        #: Whether notifications are kept, from the answer to `state.subscribe` on.
        self.is_subscribed = False
        #: Gets each notification first; whether it has taken it. Also those that come while a
        #: request waits.
        self.listener: Optional[Callable[[Message], bool]] = None

    def greeted(self, hello: object) -> None:
        """Takes over what the answer to `hello` says about the daemon."""
        limits = hello.get("limits") if isinstance(hello, dict) else None
        bound = limits.get("maxFrame") if isinstance(limits, dict) else None
        self._request_bytes_max = bound if type(bound) is int else None
        replica = hello.get("replica") if isinstance(hello, dict) else None
        self.store = replica.partition(".")[0] if isinstance(replica, str) else None

    @property
    def is_open(self) -> bool:
        """Whether requests can be made."""
        return self._failure is None

    def close(self, failure: Optional[PickerSyncError] = None) -> None:
        """Closes it. Calls that wait get `failure`."""
        if self._failure is None:
            self._failure = failure or ConnectionFailed("the connection was closed")
        self._stream.close()

    async def request(self, method: str, params: Mapping[str, Any], until: float) -> Any:
        """The result of a request. `DaemonError`, `ConnectionFailed`, `ProtocolViolation`."""
        number = next(self._ids)
        frame = encode(
            {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)})
        if self._request_bytes_max is not None and len(frame) - 4 > self._request_bytes_max:
            raise LimitReached(
                0, "limit", f"{method} takes {len(frame) - 4} bytes; the daemon takes "
                f"{self._request_bytes_max} (maxFrame)",
                {"limit": "maxFrame", "max": self._request_bytes_max})
        self._waiting.add(number)
        try:
            await self._send(frame, until)
            while number not in self._answers:
                async with held(self._reading, until):
                    if number not in self._answers:
                        await self._receive(until)
            answer = self._answers.pop(number)
        finally:
            if number in self._waiting:
                self._waiting.discard(number)
                self._abandoned.add(number)
            self._answers.pop(number, None)
        if "error" in answer:
            raise daemon_error(answer["error"])
        if "result" not in answer:
            raise ProtocolViolation(f"an answer to {method} without a result")
        return answer["result"]

    async def notification(self, until: float, frame_seconds: float) -> Message:
        """The next notification. A frame that has begun must be whole within `frame_seconds`."""
        begun: Optional[float] = None
        while not self._notifications:
            if self._decoder.is_inside_frame:
                begun = self._io.now() if begun is None else begun
                if self._io.now() >= begun + frame_seconds:
                    self.close(ConnectionFailed(
                        f"a frame that is not whole after {frame_seconds:g} s"))
                await self._piece(min(until, begun + frame_seconds), until)
            else:
                begun = None
                await self._receive(until)
        return self._notifications.popleft()

    async def _piece(self, soon: float, until: float) -> None:
        """Receives until a time that is not the caller's deadline."""
        try:
            await self._io.within(soon, self._receive(soon))
        except Expired:
            if soon >= until:
                raise

    async def _send(self, frame: bytes, until: float) -> None:
        if self._failure is not None:
            raise self._failure
        try:
            await self._stream.send(frame, until)
        except OSError as error:
            self._fail(ConnectionFailed(f"the daemon at {self._path} went away: {error.strerror}"))

    async def _receive(self, until: float) -> None:
        """Waits for bytes and gives each message in them to whom it is for."""
        if self._failure is not None:
            raise self._failure
        try:
            data = await self._stream.receive(until)
            if not data:
                raise ConnectionFailed(f"the daemon at {self._path} went away")
            for message in self._decoder.feed(data):
                self._take(message)
        except OSError as error:
            self._fail(ConnectionFailed(f"the daemon at {self._path} went away: {error.strerror}"))
        except PickerSyncError as error:
            self._fail(error)

    def _fail(self, failure: PickerSyncError) -> NoReturn:
        # A close from elsewhere is the reason that comes first.
        self.close(failure)
        raise self._failure or failure from None

    def _take(self, message: Message) -> None:
        if "method" in message:
            if message["method"] == "goodbye":
                raise self._goodbye(message.get("params"))
            if self.listener is not None and self.listener(message):
                return
            if not self.is_subscribed or (self.listener is None and self._waiting):
                return
            if self._waiting and len(self._notifications) >= _KEPT_MAX:
                raise ProtocolViolation(
                    f"more than {_KEPT_MAX} notifications before an answer")
            self._notifications.append(message)
            return
        number = message.get("id")
        if number is None and "error" in message:
            raise daemon_error(message["error"])
        if type(number) is int and number in self._waiting:
            self._waiting.discard(number)
            self._answers[number] = message
        elif type(number) is int and number in self._abandoned:
            self._abandoned.discard(number)
        else:
            raise ProtocolViolation("an answer to a request that was not made")
        if len(self._abandoned) > _ABANDONED_MAX:
            raise ProtocolViolation(f"more than {_ABANDONED_MAX} requests were not answered")

    def _goodbye(self, params: object) -> ConnectionFailed:
        params = params if isinstance(params, dict) else {}
        after = params.get("retryAfterMs")
        seconds = after / 1000 if isinstance(after, (int, float)) and after > 0 else 0.0
        return ConnectionFailed(
            f"the daemon at {self._path} said goodbye: {shown(params.get('reason', ''), 100)}",
            min(seconds, _RETRY_SECONDS_MAX))
