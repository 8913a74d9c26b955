"""The blocking client."""

from __future__ import annotations

import itertools
import os
import socket
import time
from collections import deque
from types import TracebackType
from typing import Any, Deque, Iterable, Iterator, Mapping, Optional

from . import _protocol as wire
from ._edits import Edit
from ._errors import ConnectionFailed, TimedOut, daemon_error
from ._types import JSON, Applied, Committed, FormSummary, Since, Snapshot, Update


class _Connection:
    """One connection: requests out, messages in."""

    def __init__(self, path: Optional[str], greeting: Mapping[str, Any]) -> None:
        paths = wire.socket_paths(path, os.environ)
        failure: Optional[OSError] = None
        for candidate in paths:
            self.stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                self.stream.connect(candidate)
                break
            except OSError as error:
                self.stream.close()
                failure = failure or error
        else:
            raise wire.unreachable(paths, failure)
        self.decoder = wire.FrameDecoder()
        self.notifications: Deque[wire.Message] = deque()
        self._answers: Deque[wire.Message] = deque()
        self._ids = itertools.count(1)
        self.request("hello", greeting, None)

    def close(self) -> None:
        self.stream.close()

    def send(self, method: str, params: Mapping[str, Any]) -> int:
        number = next(self._ids)
        try:
            self.stream.settimeout(None)
            self.stream.sendall(wire.encode(
                {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)}))
        except OSError as error:
            raise ConnectionFailed(f"the daemon went away: {error}") from None
        return number

    def receive(self, until: Optional[float]) -> None:
        """Waits for bytes and sorts what is in them; `until` is a moment of `monotonic`."""
        try:
            self.stream.settimeout(
                None if until is None else max(0.001, until - time.monotonic()))
            data = self.stream.recv(65536)
        except socket.timeout:
            raise TimedOut("nothing came from the daemon in time") from None
        except OSError as error:
            raise ConnectionFailed(f"the daemon went away: {error}") from None
        if not data:
            raise ConnectionFailed("the daemon went away")
        for message in self.decoder.feed(data):
            (self.notifications if "method" in message else self._answers).append(message)

    def request(self, method: str, params: Mapping[str, Any], until: Optional[float]) -> Any:
        number = self.send(method, params)
        while True:
            while self._answers:
                answer = self._answers.popleft()
                if answer.get("id") not in (number, None):
                    continue
                if "error" in answer:
                    raise daemon_error(answer["error"])
                return answer["result"]
            self.receive(until)


class Client:
    """A connection to the daemon that comes back by itself.

    What was asked when the connection broke is asked again: edits carry a key, so that none is made
    twice. After `timeout` seconds (None: never) it gives up. A client is for one thread.
    """

    def __init__(
        self, path: Optional[str] = None, *, name: str = "python", session: Optional[str] = None,
        tty: Optional[str] = None, timeout: Optional[float] = 30.0,
    ) -> None:
        self._path = path
        self._greeting = wire.params_of(
            "hello", {"protocol": 1, "client": name, "session": session, "tty": tty})
        self.timeout = timeout
        self._connection: Optional[_Connection] = _Connection(path, self._greeting)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection; the next call opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def call(self, method: str, **params: Any) -> Any:
        """Any method of the protocol; params that are None are left out."""
        kept = wire.params_of(method, params)
        until = None if self.timeout is None else time.monotonic() + self.timeout
        for attempt in itertools.count():
            try:
                if self._connection is None:
                    self._connection = _Connection(self._path, self._greeting)
                return self._connection.request(method, kept, until)
            except ConnectionFailed:
                self.close()
                pause = wire.backoff(attempt)
                if until is not None and time.monotonic() + pause >= until:
                    raise
                time.sleep(pause)
            except TimedOut:
                # Its answer may still come, and must not be taken for another's.
                self.close()
                raise
        raise AssertionError("the loop above does not end")

    def forms(self) -> list[FormSummary]:
        """The forms that this user may read."""
        return [FormSummary.read(one) for one in self.call("form.list")["forms"]]

    def form(self, name: str) -> Form:
        """A form by its name; nothing is asked yet."""
        return Form(self, name)

    def apply(
        self, definition: Mapping[str, Any], *, dry_run: bool = False,
        if_version: Optional[int] = None,
    ) -> Applied:
        """Creates or changes a form; `dry_run` tells what would become of its values."""
        return Applied.read(self.call(
            "form.apply", definition=dict(definition), dryRun=dry_run or None,
            ifVersion=if_version))

    def status(self) -> dict[str, Any]:
        """What the daemon says of itself."""
        return dict(self.call("server.status"))


class Form:
    """A form of a client's daemon."""

    def __init__(self, client: Client, name: str) -> None:
        self.client = client
        self.name = name

    def read(self, *fields: str) -> Snapshot:
        """All fields of one revision, or those that match the globs."""
        return Snapshot.read(
            self.client.call("state.get", form=self.name, fields=list(fields) or None))

    def get(self, field: str) -> JSON:
        """The value of one field."""
        return self.read(field).fields[field].value

    def definition(self) -> dict[str, Any]:
        """The definition, as in the form file."""
        return dict(self.client.call("form.get", form=self.name)["definition"])

    def set(
        self, values: Optional[Mapping[str, JSON]] = None, *, context: Optional[str] = None,
        require_current: bool = False, **more: JSON,
    ) -> Committed:
        """Sets fields in one transaction. `context` says what was seen (`Snapshot.context`);
        with `require_current` it is `Conflict` when one of them has changed since."""
        edit = Edit()
        for field, value in {**(values or {}), **more}.items():
            edit.set(field, value)
        return self.commit(edit, context=context, require_current=require_current)

    def commit(
        self, edit: Edit, *, context: Optional[str] = None, require_current: bool = False,
        require_fields: Optional[Iterable[str]] = None, key: Optional[str] = None,
    ) -> Committed:
        """Makes a transaction. `key` is kept by the daemon for a day: the same one again gives the
        first answer, whatever process asks."""
        return Committed.read(self.client.call(
            "state.set", form=self.name, changes=edit.changes, context=context,
            require="current" if require_current else None,
            requireFields=None if require_fields is None else list(require_fields),
            idempotencyKey=key))

    def increment(self, field: str, by: float = 1) -> Committed:
        """Adds to a number."""
        return self.commit(Edit().increment(field, by))

    def press(self, field: str) -> Committed:
        """Presses a button."""
        return self.commit(Edit().press(field))

    def undo(self, field: Optional[str] = None, *, anyone: bool = False) -> Committed:
        """Takes back the last transaction of this user, or anyone's."""
        return Committed.read(self.client.call(
            "state.undo", form=self.name, field=field, scope="anyone" if anyone else None))

    def redo(self, field: Optional[str] = None, *, anyone: bool = False) -> Committed:
        """Takes an undo back."""
        return Committed.read(self.client.call(
            "state.redo", form=self.name, field=field, scope="anyone" if anyone else None))

    def reveal(self, field: str) -> Optional[str]:
        """A secure value, to those who may; the reading is logged."""
        value = self.client.call("state.reveal", form=self.name, field=field)["value"]
        return None if value is None else str(value)

    def delete(self) -> None:
        """Deletes the form with its values and its history."""
        self.client.call("form.delete", form=self.name)

    def watch(
        self, *fields: str, since: Optional[Since] = None, initial: bool = False,
        timeout: Optional[float] = None,
    ) -> Iterator[Update]:
        """Every change from now on, or from `since` on, in order, none missed and none twice.

        `initial` begins with a snapshot. It reconnects by itself, and tells a snapshot where the
        daemon cannot go on from where it was. `timeout` bounds the wait for each update. It ends
        when the form is deleted. The subscription stands when this returns.
        """
        watch = wire.Watch(self.name, fields or None, since, initial)
        connection = _Connection(self.client._path, self.client._greeting)
        try:
            first = watch.subscribed(
                connection.request("state.subscribe", watch.params(), self._until(timeout)))
        except BaseException:
            connection.close()
            raise
        return self._updates(watch, connection, first, timeout)

    @staticmethod
    def _until(timeout: Optional[float]) -> Optional[float]:
        return None if timeout is None else time.monotonic() + timeout

    def _updates(
        self, watch: wire.Watch, connection: Optional[_Connection], first: Optional[Update],
        timeout: Optional[float],
    ) -> Iterator[Update]:
        attempt = 0
        try:
            if first is not None:
                yield first
            until = self._until(timeout)
            while True:
                try:
                    if connection is None:
                        connection = _Connection(self.client._path, self.client._greeting)
                        update = watch.subscribed(
                            connection.request("state.subscribe", watch.params(), until))
                        attempt = 0
                        if update is not None:
                            yield update
                            until = self._until(timeout)
                    while connection.notifications:
                        update = watch.notified(connection.notifications.popleft())
                        if update is not None:
                            yield update
                            until = self._until(timeout)
                        if watch.has_ended:
                            return
                    connection.receive(until)
                except ConnectionFailed:
                    if connection is not None:
                        connection.close()
                        connection = None
                    pause = wire.backoff(attempt)
                    attempt += 1
                    if until is not None and time.monotonic() + pause >= until:
                        raise TimedOut("the daemon did not come back in time") from None
                    time.sleep(pause)
        finally:
            if connection is not None:
                connection.close()


def connect(
    path: Optional[str] = None, *, name: str = "python", session: Optional[str] = None,
    timeout: Optional[float] = 30.0,
) -> Client:
    """A client of the daemon at `path`, else where `pickerctl` would look."""
    return Client(path, name=name, session=session, timeout=timeout)
