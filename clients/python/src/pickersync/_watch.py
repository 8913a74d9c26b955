"""Watching a form: every change in order, none missed and none twice, over reconnections."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Generic, Mapping, Optional, Sequence, TypeVar

from ._connection import Connection
from ._core import Core, Request
from ._errors import ClientClosed, ConnectionFailed, Expired, PickerSyncError, TimedOut
from ._frames import Message
from ._io import backoff
from ._results import Change, Field, Since, Update, fields, member, objects, optional

T = TypeVar("T")
Self = TypeVar("Self", bound="AsyncItems[Any]")


class AsyncItems(Generic[T]):
    """What comes one after the other until it is closed: an asynchronous iterator that can be used
    with `async with`."""

    async def begin(self, timeout: Optional[float] = None) -> None:
        """Subscribes, once. Later changes are not missed. It takes `timeout` seconds at most, by
        default those of the client."""
        raise NotImplementedError

    async def next(self, timeout: Optional[float] = None) -> Optional[T]:
        """The next item; None at the end. `TimedOut` where nothing comes in `timeout` seconds, by
        default those of the watch."""
        raise NotImplementedError

    def close(self) -> None:
        """Ends it. An iteration that waits ends too."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """The same as `close`, for `contextlib.aclosing`."""
        self.close()

    async def __aenter__(self: Self) -> Self:
        await self.begin()
        return self

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def __aiter__(self: Self) -> Self:
        return self

    async def __anext__(self) -> T:
        item = await self.next()
        if item is None:
            raise StopAsyncIteration
        return item


class Subscription:
    """Where a watch is in the form's line of revisions, without I/O.

    It drops what it has shown already, so that a revision is shown once whatever happened between.
    """

    def __init__(
        self, form: str, globs: Sequence[str], since: Optional[Since], initial: bool
    ) -> None:
        self.form = form
        self.globs = list(globs)
        self.since = since
        self._shows_snapshot = initial
        self.has_ended = False

    def request(self) -> Request[Optional[Update]]:
        """The request of `state.subscribe`, now."""
        since = self.since
        return Request.make("state.subscribe", self._subscribed, {
            "form": self.form, "fields": self.globs or None,
            "since": since and {"log": since.log, "revision": since.revision}})

    def _subscribed(self, result: Mapping[str, Any]) -> Optional[Update]:
        if member(result, "resumed", bool):
            return None
        # Who was somewhere already must hear that something may lie between.
        shows = self._shows_snapshot or self.since is not None
        self.since = Since(member(result, "log", str), member(result, "revision", int))
        if not shows:
            return None
        self._shows_snapshot = False
        return Update(
            form=self.form, log=self.since.log, revision=self.since.revision,
            context=member(result, "context", str), is_snapshot=True,
            changes=tuple(Change(name, field) for name, field in fields(result).items()))

    def notified(self, message: Message) -> Optional[Update]:
        """What a notification says about this form, if anything."""
        params = member(message, "params", dict)
        if params.get("form") != self.form or message["method"] not in (
                "state.changed", "form.changed"):
            return None
        if params.get("deleted"):
            self.has_ended = True
            return None
        revision = member(params, "revision", int)
        if self.since is None or revision <= self.since.revision:
            return None
        self.since = Since(self.since.log, revision)
        coalesced = optional(params, "coalesced", dict)
        return Update(
            form=self.form, log=self.since.log, revision=revision,
            context=member(params, "context", str),
            changes=tuple(Change.read(change) for change in objects(params, "changes")),
            coalesced_from=None if coalesced is None else member(coalesced, "from", int),
            definition=optional(params, "definition", dict))


class AsyncWatch(AsyncItems[Update]):
    """The changes of a form, on a connection of its own.

        async with form.watch("traffic") as updates:
            async for update in updates:
                print(update.values)

    The subscription is made when it is entered, or when the first update is asked for. It ends when
    the form is deleted, or the watch or the client is closed.
    """

    def __init__(self, core: Core, subscription: Subscription, timeout: float) -> None:
        self._core, self._subscription, self._timeout = core, subscription, timeout
        self._connection: Optional[Connection] = None
        self._first: Optional[Update] = None
        self._failure: Optional[ConnectionFailed] = None
        self._has_begun = self._is_closed = self._is_busy = False
        core.watches.add(self)

    @property
    def since(self) -> Optional[Since]:
        """Where a later watch resumes: behind the last update."""
        return self._subscription.since

    @property
    def is_closed(self) -> bool:
        """Whether it or its client was closed."""
        return self._is_closed

    def close(self) -> None:
        self._is_closed = True
        self._disconnect()

    async def begin(self, timeout: Optional[float] = None) -> None:
        if self._has_begun or self._is_closed:
            return
        seconds = self._core.timeout if timeout is None else min(timeout, self._core.timeout)
        until = self._core.io.now() + seconds
        try:
            self._first = await self._core.io.within(until, self._persist(until, begins=True))
        except Expired:
            why = f"; last: {self._failure}" if self._failure else ""
            raise TimedOut(
                f"watching {self._subscription.form} did not begin within {seconds:g} s{why}"
            ) from None
        self._has_begun = True

    async def next(self, timeout: Optional[float] = None) -> Optional[Update]:
        if self._is_busy:
            raise PickerSyncError("this watch is in use by another thread or task")
        self._is_busy = True
        try:
            return await self._next(self._timeout if timeout is None else timeout)
        finally:
            self._is_busy = False

    async def _next(self, timeout: float) -> Optional[Update]:
        await self.begin()
        first, self._first = self._first, None
        if first is not None or self._is_closed or self._subscription.has_ended:
            return None if self._is_closed else first
        until = self._core.io.now() + timeout
        try:
            return await self._core.io.within(until, self._persist(until))
        except Expired:
            raise TimedOut(f"no change of {self._subscription.form} within {timeout:g} s") from None
        except BaseException as error:
            if not self._core.io.is_cancellable or isinstance(error, PickerSyncError):
                self._disconnect()
            raise

    async def _persist(self, until: float, *, begins: bool = False) -> Optional[Update]:
        """The next update; at the beginning, what the subscription shows, if anything."""
        attempt = 0
        while not self._is_closed and not self._subscription.has_ended:
            try:
                if self._connection is None:
                    update = await self._resubscribe(until)
                else:
                    update = await self._told(self._connection, until)
                attempt = 0
                if update is not None or begins:
                    return update
            except ClientClosed:
                break
            except ConnectionFailed as failure:
                self._failure = failure
                self._disconnect()
                if self._is_closed or self._core.is_closed:
                    break
                await self._core.io.sleep(max(backoff(attempt), failure.retry_after), until)
                attempt += 1
        self._disconnect()
        return None

    async def _resubscribe(self, until: float) -> Optional[Update]:
        soon = min(until, self._core.io.now() + self._core.timeout)
        try:
            return await self._core.io.within(soon, self._subscribe(soon))
        except Expired:
            if soon >= until:
                raise
            raise ConnectionFailed("the daemon does not answer") from None

    async def _subscribe(self, until: float) -> Optional[Update]:
        try:
            connection = self._connection = await self._core.connect(until)
            if self._is_closed:
                raise ClientClosed("the watch was closed")
            connection.is_subscribed = True
            request = self._subscription.request()
            return request.result(
                await connection.request(request.method, request.params, until))
        except BaseException:
            # Half a subscription would look like one to which nothing happens.
            self._disconnect()
            raise

    async def _told(self, connection: Connection, until: float) -> Optional[Update]:
        message = await connection.notification(until, self._core.timeout)
        return Request("a subscription", {}, self._subscription.notified).result(message)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
