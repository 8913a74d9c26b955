"""The client for asyncio: the blocking one's twin."""

from __future__ import annotations

import asyncio
import itertools
import os
from types import TracebackType
from typing import Any, AsyncIterator, Iterable, Mapping, Optional

from . import _protocol as wire
from ._edits import Edit
from ._errors import ConnectionFailed, TimedOut, daemon_error
from ._types import JSON, Applied, Committed, FormSummary, Since, Snapshot, Update


class _Connection:
    """One connection, read by a task that hands answers to those who asked."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._ids = itertools.count(1)
        #: Notifications in order; None once the connection is gone.
        self.notifications: asyncio.Queue[Optional[wire.Message]] = asyncio.Queue()
        self._failure: Optional[Exception] = None
        self._task = asyncio.ensure_future(self._read(reader))

    @classmethod
    async def open(cls, path: Optional[str], greeting: Mapping[str, Any]) -> _Connection:
        paths = wire.socket_paths(path, os.environ)
        failure: Optional[OSError] = None
        for candidate in paths:
            try:
                reader, writer = await asyncio.open_unix_connection(candidate)
            except OSError as error:
                failure = failure or error
                continue
            connection = cls(reader, writer)
            await connection.request("hello", greeting)
            return connection
        raise wire.unreachable(paths, failure)

    async def _read(self, reader: asyncio.StreamReader) -> None:
        decoder = wire.FrameDecoder()
        failure: Exception = ConnectionFailed("the daemon went away")
        try:
            while data := await reader.read(65536):
                for message in decoder.feed(data):
                    if "method" in message:
                        self.notifications.put_nowait(message)
                    else:
                        self._answered(message)
        except OSError as error:
            failure = ConnectionFailed(f"the daemon went away: {error}")
        except Exception as error:
            failure = error
        self._fail(failure)

    def _answered(self, message: wire.Message) -> None:
        waiting = self._waiting.pop(message.get("id") or 0, None)
        if waiting is None or waiting.done():
            return
        if "error" in message:
            waiting.set_exception(daemon_error(message["error"]))
        else:
            waiting.set_result(message["result"])

    def _fail(self, failure: Exception) -> None:
        self._failure = failure
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(failure)
        self._waiting.clear()
        self.notifications.put_nowait(None)

    @property
    def failure(self) -> Exception:
        return self._failure or ConnectionFailed("the daemon went away")

    async def request(self, method: str, params: Mapping[str, Any]) -> Any:
        if self._failure is not None:
            raise self._failure
        number = next(self._ids)
        waiting: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = waiting
        try:
            self._writer.write(wire.encode(
                {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)}))
            await self._writer.drain()
            return await waiting
        except OSError as error:
            raise ConnectionFailed(f"the daemon went away: {error}") from None
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        self._task.cancel()
        self._writer.close()
        try:
            await self._writer.wait_closed()
        except OSError:
            pass


class AsyncClient:
    """As `Client`, for asyncio. Calls may overlap.

        async with AsyncClient() as client:
            await client.form("deploy").set(traffic=20)
    """

    def __init__(
        self, path: Optional[str] = None, *, name: str = "python", session: Optional[str] = None,
        tty: Optional[str] = None, timeout: Optional[float] = 30.0,
    ) -> None:
        self._path = path
        self._greeting = wire.params_of(
            "hello", {"protocol": 1, "client": name, "session": session, "tty": tty})
        self.timeout = timeout
        self._connection: Optional[_Connection] = None
        self._opening = asyncio.Lock()

    async def __aenter__(self) -> AsyncClient:
        self._connection = await _Connection.open(self._path, self._greeting)
        return self

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connection; the next call opens another."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def call(self, method: str, **params: Any) -> Any:
        """Any method of the protocol; params that are None are left out."""
        kept = wire.params_of(method, params)
        try:
            return await asyncio.wait_for(self._persist(method, kept), self.timeout)
        except asyncio.TimeoutError:
            raise TimedOut("nothing came from the daemon in time") from None

    async def _persist(self, method: str, params: Mapping[str, Any]) -> Any:
        for attempt in itertools.count():
            connection: Optional[_Connection] = None
            try:
                async with self._opening:
                    if self._connection is None:
                        self._connection = await _Connection.open(self._path, self._greeting)
                    connection = self._connection
                return await connection.request(method, params)
            except ConnectionFailed:
                if connection is not None and connection is self._connection:
                    await self.close()
                await asyncio.sleep(wire.backoff(attempt))
        raise AssertionError("the loop above does not end")

    async def forms(self) -> list[FormSummary]:
        """The forms that this user may read."""
        return [FormSummary.read(one) for one in (await self.call("form.list"))["forms"]]

    def form(self, name: str) -> AsyncForm:
        """A form by its name; nothing is asked yet."""
        return AsyncForm(self, name)

    async def apply(
        self, definition: Mapping[str, Any], *, dry_run: bool = False,
        if_version: Optional[int] = None,
    ) -> Applied:
        """Creates or changes a form."""
        return Applied.read(await self.call(
            "form.apply", definition=dict(definition), dryRun=dry_run or None,
            ifVersion=if_version))

    async def status(self) -> dict[str, Any]:
        """What the daemon says of itself."""
        return dict(await self.call("server.status"))


class AsyncForm:
    """As `Form`, for asyncio."""

    def __init__(self, client: AsyncClient, name: str) -> None:
        self.client = client
        self.name = name

    async def read(self, *fields: str) -> Snapshot:
        """All fields of one revision, or those that match the globs."""
        return Snapshot.read(
            await self.client.call("state.get", form=self.name, fields=list(fields) or None))

    async def get(self, field: str) -> JSON:
        """The value of one field."""
        return (await self.read(field)).fields[field].value

    async def definition(self) -> dict[str, Any]:
        """The definition, as in the form file."""
        return dict((await self.client.call("form.get", form=self.name))["definition"])

    async def set(
        self, values: Optional[Mapping[str, JSON]] = None, *, context: Optional[str] = None,
        require_current: bool = False, **more: JSON,
    ) -> Committed:
        """Sets fields in one transaction; see `Form.set`."""
        edit = Edit()
        for field, value in {**(values or {}), **more}.items():
            edit.set(field, value)
        return await self.commit(edit, context=context, require_current=require_current)

    async def commit(
        self, edit: Edit, *, context: Optional[str] = None, require_current: bool = False,
        require_fields: Optional[Iterable[str]] = None, key: Optional[str] = None,
    ) -> Committed:
        """Makes a transaction; see `Form.commit`."""
        return Committed.read(await self.client.call(
            "state.set", form=self.name, changes=edit.changes, context=context,
            require="current" if require_current else None,
            requireFields=None if require_fields is None else list(require_fields),
            idempotencyKey=key))

    async def increment(self, field: str, by: float = 1) -> Committed:
        """Adds to a number."""
        return await self.commit(Edit().increment(field, by))

    async def press(self, field: str) -> Committed:
        """Presses a button."""
        return await self.commit(Edit().press(field))

    async def undo(self, field: Optional[str] = None, *, anyone: bool = False) -> Committed:
        """Takes back the last transaction of this user, or anyone's."""
        return Committed.read(await self.client.call(
            "state.undo", form=self.name, field=field, scope="anyone" if anyone else None))

    async def redo(self, field: Optional[str] = None, *, anyone: bool = False) -> Committed:
        """Takes an undo back."""
        return Committed.read(await self.client.call(
            "state.redo", form=self.name, field=field, scope="anyone" if anyone else None))

    async def reveal(self, field: str) -> Optional[str]:
        """A secure value, to those who may; the reading is logged."""
        value = (await self.client.call("state.reveal", form=self.name, field=field))["value"]
        return None if value is None else str(value)

    async def delete(self) -> None:
        """Deletes the form with its values and its history."""
        await self.client.call("form.delete", form=self.name)

    async def watch(
        self, *fields: str, since: Optional[Since] = None, initial: bool = False
    ) -> AsyncIterator[Update]:
        """Every change, in order, none missed and none twice, over reconnects; see `Form.watch`.

        The subscription is made when the first update is asked for: begin with `initial`, or with
        `since`, where nothing may happen unseen before.
        """
        watch = wire.Watch(self.name, fields or None, since, initial)
        connection: Optional[_Connection] = None
        # Whoever asks for the first time hears of a daemon that is not there.
        began, attempt = False, 0
        try:
            while not watch.has_ended:
                try:
                    connection = await _Connection.open(self.client._path, self.client._greeting)
                    update = watch.subscribed(
                        await connection.request("state.subscribe", watch.params()))
                    began, attempt = True, 0
                    if update is not None:
                        yield update
                    while (message := await connection.notifications.get()) is not None:
                        update = watch.notified(message)
                        if update is not None:
                            yield update
                        if watch.has_ended:
                            return
                    raise connection.failure
                except ConnectionFailed:
                    if not began:
                        raise
                    if connection is not None:
                        await connection.close()
                        connection = None
                    await asyncio.sleep(wire.backoff(attempt))
                    attempt += 1
        finally:
            if connection is not None:
                await connection.close()
