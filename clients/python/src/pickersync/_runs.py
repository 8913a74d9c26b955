"""Buttons that answer: a function for each press, its progress and its outcome."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass, field as _field
from typing import Any, Callable, Mapping, Optional

from ._connection import Connection
from ._core import Core, Request
from ._errors import (
    ClientClosed, Conflict, ConnectionFailed, Expired, Forbidden, PickerSyncError, Unavailable,
)
from ._frames import Message
from ._io import backoff
from ._results import JSON, Author, member, optional

#: Bytes of a text that the daemon takes.
_TEXT_BYTES_MAX = 256


@dataclass(frozen=True)
class Assigned:
    """A press that a handler works on."""

    field: str
    #: The press: its name in `button.outcome`.
    press: str
    #: Who pressed, and when (RFC 3339 in UTC).
    by: Author
    at: str
    message: Optional[str]
    #: An earlier handler of this press was lost.
    is_again: bool
    #: The values of the form when the button was pressed, without secrets.
    values: Mapping[str, JSON]
    ticket: str = _field(repr=False)

    @classmethod
    def read(cls, params: Mapping[str, Any]) -> Assigned:
        """A press, as `button.assigned` tells it."""
        return cls(
            member(params, "field", str), member(params, "press", str),
            Author.read(member(params, "by", dict)), member(params, "at", str),
            optional(params, "message", str), params.get("again") is True,
            member(params, "values", dict), member(params, "ticket", str))


class AsyncRun:
    """A press that a function of `handles` works on. What the function returns, if it is a text,
    is the text of the outcome `done`; what it raises is the text of `failed`."""

    def __init__(self, assigned: Assigned, handling: Handling) -> None:
        self.assigned = assigned
        self._handling = handling
        #: Somebody wants the run to end, or it has ended.
        self.is_cancelled = False

    @property
    def values(self) -> Mapping[str, JSON]:
        """The values of the form when the button was pressed, without secrets."""
        return self.assigned.values

    async def progress(
        self, fraction: Optional[float] = None, text: Optional[str] = None
    ) -> None:
        """Says how far the run is: a fraction from 0 to 1, a text, or both. Everybody who watches
        the form sees it. While the daemon is away, nothing happens."""
        await self._handling.progress(self, fraction, text)


class Handling:
    """Takes presses of buttons on a connection of its own, one at a time."""

    def __init__(
        self, core: Core, form: str, functions: Mapping[str, Callable[[AsyncRun], Any]]
    ) -> None:
        self._core, self._form, self._functions = core, form, functions
        self._connection: Optional[Connection] = None
        self._run: Optional[AsyncRun] = None
        self._is_closed = False
        #: When an outcome is reported no more.
        self._gives_up = math.inf
        core.watches.add(self)

    def close(self) -> None:
        """Ends it, after the press that is worked on. A daemon that does not take the outcome
        keeps it no longer than the client's timeout."""
        self._is_closed = True
        self._gives_up = min(self._gives_up, self._soon())
        if self._run is None and self._connection is not None:
            self._connection.close(ClientClosed("no more presses are handled"))

    async def run(self) -> None:
        """Handles presses until it is closed. Refusals of the daemon end it."""
        attempt = 0
        try:
            while not self._is_closed:
                try:
                    connection = await self._connected()
                    message = await connection.notification(math.inf, self._core.timeout)
                except ClientClosed:
                    break
                except ConnectionFailed as error:
                    self._disconnect()
                    if not self._is_closed:
                        seconds = max(error.retry_after, backoff(attempt))
                        await self._core.io.sleep(seconds, math.inf)
                    attempt += 1
                    continue
                attempt = 0
                if message["method"] == "button.assigned":
                    await self._handle(Assigned.read(member(message, "params", dict)))
        finally:
            self._disconnect()

    async def _handle(self, assigned: Assigned) -> None:
        run = self._run = AsyncRun(assigned, self)
        outcome, text = "done", None
        try:
            result = self._functions[assigned.field](run)
            if inspect.isawaitable(result):
                result = await result
            text = result if isinstance(result, str) else None
        except Exception as error:
            outcome, text = "failed", str(error) or type(error).__name__
        try:
            await self._finish(assigned, outcome, text)
        finally:
            self._run = None

    async def _finish(self, assigned: Assigned, outcome: str, text: Optional[str]) -> None:
        params = {"press": assigned.press, "ticket": assigned.ticket, "outcome": outcome}
        if text is not None:
            params["text"] = _line(text)
        attempt = 0
        while True:
            try:
                connection = await self._connected()
                await connection.request("button.finish", params, self._soon())
                return
            except (Conflict, Forbidden):
                # The run has ended without this handler.
                return
            except ClientClosed:
                return
            except (ConnectionFailed, Expired):
                self._disconnect()
            except Unavailable:
                pass
            if self._is_over:
                return
            await self._core.io.sleep(backoff(attempt), math.inf)
            attempt += 1

    async def progress(
        self, run: AsyncRun, fraction: Optional[float], text: Optional[str]
    ) -> None:
        """Reports how far a run is."""
        connection = self._connection
        if connection is None or not connection.is_open:
            return
        params: dict[str, Any] = {"press": run.assigned.press, "ticket": run.assigned.ticket}
        if fraction is not None:
            params["fraction"] = min(1.0, max(0.0, fraction))
        if text is not None:
            params["text"] = _line(text)
        try:
            await connection.request("button.progress", params, self._soon())
        except (ConnectionFailed, Expired):
            self._disconnect()
        except (Conflict, Forbidden):
            run.is_cancelled = True

    # MARK: The connection

    @property
    def _is_over(self) -> bool:
        return self._core.is_closed or self._core.io.now() >= self._gives_up

    def _soon(self) -> float:
        return self._core.io.now() + self._core.timeout

    async def _connected(self) -> Connection:
        attempt = 0
        while self._connection is None:
            until = self._soon()
            try:
                connection = await self._core.io.within(until, self._core.connect(until))
                connection.is_subscribed = True
                connection.listener = self._notified
                await self._take_presses(connection, until)
                self._connection = connection
            except (ConnectionFailed, Expired):
                if self._is_over:
                    raise ClientClosed("no more presses are handled") from None
                await self._core.io.sleep(backoff(attempt), math.inf)
                attempt += 1
        return self._connection

    async def _take_presses(self, connection: Connection, until: float) -> None:
        run = self._run
        tickets = [run.assigned.ticket] if run is not None else []
        request = Request.make(
            "button.handle", lambda got: member(got, "tickets", list),
            {"form": self._form, "fields": sorted(self._functions), "tickets": tickets})
        try:
            held = request.result(
                await connection.request(request.method, request.params, until))
        except PickerSyncError:
            connection.close()
            raise
        if run is not None and run.assigned.ticket not in held:
            run.is_cancelled = True

    def _notified(self, message: Message) -> bool:
        """Whether a notification is settled: all but a new press are."""
        if message["method"] == "button.assigned":
            return False
        if message["method"] != "button.cancelled":
            return True
        params = message.get("params")
        run = self._run
        if run is not None and isinstance(params, dict):
            if params.get("press") == run.assigned.press:
                run.is_cancelled = True
        return True

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _line(text: str) -> str:
    """A text as the daemon takes it: one line of at most 256 bytes without control characters."""
    line = "".join(c if c.isprintable() else " " for c in text)
    return line.encode()[:_TEXT_BYTES_MAX].decode(errors="ignore")
