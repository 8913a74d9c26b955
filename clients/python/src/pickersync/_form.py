"""A form: reading, editing, waiting, and what a service does with it."""

from __future__ import annotations

import inspect
import math
from typing import (
    Any, Callable, Iterable, Mapping, Optional, Type, TypeVar, Union, overload,
)

from ._bound import AsyncBound
from ._core import Core, Request
from ._edits import Edit
from ._errors import ConversionFailed, NotFound, ProtocolViolation, TimedOut
from ._handlers import Handlers, OnChange, OnPress, is_glob
from ._results import (
    JSON, Applied, Committed, Explanation, Field, HistoryEntry, Proposal, Since, Snapshot, Update,
    follow, member,
    objects,
)
from ._runs import AsyncRun, Handling
from ._values import from_json, to_json
from ._watch import AsyncWatch, Subscription

T = TypeVar("T")
OnRun = TypeVar("OnRun", bound=Callable[[AsyncRun], Any])

#: What `wait_for` waits for: values of fields, or a function of all values.
Condition = Union[Mapping[str, Any], Callable[[Mapping[str, JSON]], bool]]


class AsyncForm:
    """A form of a client's daemon. Nothing is asked before a method is called."""

    def __init__(self, core: Core, name: str) -> None:
        self.name = name
        #: Where `run` is: behind the last update whose handlers have returned. Keep it, and another
        #: process resumes with `run(since=...)`.
        self.since: Optional[Since] = None
        self._core = core
        self._handlers = Handlers()
        self._running: Union[AsyncWatch, Handling, None] = None
        self._functions: dict[str, Callable[[AsyncRun], Any]] = {}

    async def _ask(self, method: str, read: Callable[[Any], T], **params: Any) -> T:
        return await self._core.call(Request.make(method, read, {"form": self.name, **params}))

    async def read(self, *fields: str) -> Snapshot:
        """All fields of one revision, or those that match the names and globs (`*`, `?`)."""
        return await self._ask("state.get", Snapshot.read, fields=list(fields) or None)

    @overload
    async def get(self, field: str) -> JSON: ...

    @overload
    async def get(self, field: str, *, as_: Type[T]) -> T: ...

    @overload
    async def get(self, field: str, *, as_: Any) -> Any: ...

    async def get(self, field: str, *, as_: Any = None) -> Any:
        """The value of a field, converted to the type `as_`. Of a glob, such as `"*"`, a mapping
        of names to values, each converted."""
        found = (await self.read(field)).fields
        values = {name: self._converted(name, one.value, as_) for name, one in found.items()}
        if is_glob(field):
            return values
        if field not in values:
            raise ProtocolViolation("an answer without the field that was asked for")
        return values[field]

    @staticmethod
    def _converted(name: str, value: JSON, kind: Any) -> Any:
        try:
            return value if kind is None else from_json(value, kind)
        except ConversionFailed as error:
            raise ConversionFailed(f"{name}: {error}") from None

    async def definition(self) -> dict[str, Any]:
        """The definition, as in the form file."""
        return await self._ask("form.get", lambda got: member(got, "definition", dict))

    async def set(
        self, values: Optional[Mapping[str, Any]] = None, /, *, context: Optional[str] = None,
        require_current: bool = False, **more: Any,
    ) -> Committed:
        """Sets fields in one transaction, from a mapping, from keywords, or both. A field that is
        called `context` or `require_current` is set by the mapping.

        `context` says what was seen (`Snapshot.context`); with `require_current` it is `Conflict`
        where one of the fields has changed since."""
        edit = Edit().set_all({**(values or {}), **more})
        return await self.commit(edit, context=context, require_current=require_current)

    async def commit(
        self, edit: Edit, *, context: Optional[str] = None, require_current: bool = False,
        require_fields: Optional[Iterable[str]] = None, key: Optional[str] = None,
        message: Optional[str] = None, lease: Optional[Mapping[str, Any]] = None,
        break_glass: bool = False,
    ) -> Committed:
        """Makes a transaction. The daemon keeps `key` for a day: the same key and edit again give
        the first answer, whatever process asks. `message` says why, in one line that all readers
        see. With `lease`, {"seconds": 3600} or {"until": RFC 3339 in UTC}, the values end by
        themselves. `break_glass` changes guarded fields without approval; it needs a message."""
        return await self._ask(
            "state.set", Committed.read, changes=edit.changes, context=context,
            require="current" if require_current else None,
            requireFields=None if require_fields is None else list(require_fields),
            lease=None if lease is None else dict(lease), message=message, idempotencyKey=key,
            breakGlass=break_glass or None)

    async def propose(
        self, edit: Union[Edit, Mapping[str, Any]], *, message: Optional[str] = None,
        context: Optional[str] = None, lease: Optional[Mapping[str, Any]] = None,
    ) -> Union[Proposal, Committed]:
        """Proposes a transaction that needs the approval of others. What nobody guards is made at
        once, and is `Committed`."""
        changes = (edit if isinstance(edit, Edit) else Edit().set_all(edit)).changes
        return await self._ask(
            "state.set", _proposed, changes=changes, context=context, propose=True,
            lease=None if lease is None else dict(lease), message=message)

    async def proposals(self, *, ended: bool = False) -> list[Proposal]:
        """The proposals that wait, oldest first, or those that have ended in the last days, newest
        first."""
        return await self._ask(
            "proposal.list", lambda got: [Proposal.read(one) for one in objects(got, "proposals")],
            ended=ended or None)

    async def approve(self, proposal: int, *, message: Optional[str] = None) -> Proposal:
        """Approves a proposal of somebody else. The last vote that is needed applies it; one that
        is `stale` has ended, because what it was based on has changed."""
        return await self._ask(
            "proposal.approve", Proposal.of_answer, proposal=proposal, message=message)

    async def refuse(self, proposal: int, *, message: Optional[str] = None) -> Proposal:
        """Refuses a proposal of somebody else, which ends it."""
        return await self._ask(
            "proposal.refuse", Proposal.of_answer, proposal=proposal, message=message)

    async def withdraw(self, proposal: int, *, message: Optional[str] = None) -> Proposal:
        """Takes back a proposal of this user."""
        return await self._ask(
            "proposal.withdraw", Proposal.of_answer, proposal=proposal, message=message)

    async def lease(
        self, field: str, *, seconds: Optional[int] = None, until: Optional[str] = None,
        keep: bool = False, end: bool = False, message: Optional[str] = None,
    ) -> Committed:
        """Changes when a value ends that ends by itself: after `seconds`, at `until`, never
        (`keep`) or now (`end`). Exactly one of these. It is `Conflict` where the field has no
        lease."""
        return await self._ask(
            "state.lease", Committed.read, field=field, seconds=seconds, until=until,
            keep=keep or None, end=end or None, message=message)

    async def increment(
        self, field: str, by: Any = 1, *, message: Optional[str] = None
    ) -> Committed:
        """Adds to a number."""
        return await self.commit(Edit().increment(field, by), message=message)

    async def toggle(
        self, field: str, *, message: Optional[str] = None
    ) -> Committed:
        """Sets a toggle to its other state."""
        return await self.commit(Edit().toggle(field), message=message)

    async def move(self, field: str, to: str = "next", *, wraps: bool = False) -> Committed:
        """Moves a picker: next, previous, first, last."""
        return await self.commit(Edit().move(field, to, wraps=wraps))

    async def press(
        self, field: str, *, message: Optional[str] = None
    ) -> Committed:
        """Presses a button."""
        return await self.commit(Edit().press(field), message=message)

    async def reset(self, *fields: str) -> Committed:
        """Sets fields back to their defaults, in one transaction."""
        edit = Edit()
        for field in fields:
            edit.reset(field)
        return await self.commit(edit)

    async def undo(
        self, field: Optional[str] = None, *, anyone: bool = False,
        message: Optional[str] = None,
    ) -> Committed:
        """Takes back the last transaction of this user, or of anyone."""
        return await self._ask(
            "state.undo", Committed.read, field=field, scope="anyone" if anyone else None,
            message=message)

    async def redo(
        self, field: Optional[str] = None, *, anyone: bool = False,
        message: Optional[str] = None,
    ) -> Committed:
        """Takes an undo back."""
        return await self._ask(
            "state.redo", Committed.read, field=field, scope="anyone" if anyone else None,
            message=message)

    async def conflicts(self) -> dict[str, Field]:
        """The fields for which several people chose at the same time; `conflict` has the others'
        choices."""
        found = await self.read()
        return {name: field for name, field in found.fields.items() if field.conflict}

    async def resolve(
        self, field: str, value: Any = None, *, context: Optional[str] = None
    ) -> Committed:
        """Settles a conflict: `value`, or without one the value that readers see now, replaces all
        choices that were seen. `context` says which, else those that are there now."""
        seen = await self.read(field)
        chosen = seen.fields[field].value if value is None else value
        return await self.set({field: chosen}, context=context or seen.context)

    async def history(
        self, field: Optional[str] = None, *, limit: int = 50, before: Optional[int] = None
    ) -> list[HistoryEntry]:
        """Who did what, newest first: `limit` transactions, or as many as there are. `before` is a
        revision to begin below."""
        entries: list[HistoryEntry] = []
        while len(entries) < limit:
            page, has_more = await self._ask(
                "state.history", _history_page, field=field, before=before,
                limit=limit - len(entries))
            entries += page
            if not has_more or not page:
                break
            if before is not None and page[-1].revision >= before:
                raise ProtocolViolation("a page of history that does not go back")
            before = page[-1].revision
        return entries[:limit]

    async def explain(self, field: str, *, at: Optional[int] = None) -> Explanation:
        """Why a field has its value, now or at the revision `at`."""
        return await self._ask("state.explain", Explanation.read, field=field, at=at)

    async def redact(self, revision: int, *, message: Optional[str] = None) -> int:
        """Overwrite the message of a revision, as an admin of the form.

        Returns the revision that says so.
        """
        return await self._ask(
            "history.redact", lambda got: int(got["revision"]), revision=revision,
            message=message)

    async def reveal(self, field: str) -> Optional[str]:
        """A secure value, to those who may. The daemon logs who asked."""
        return await self._ask("state.reveal", _revealed, field=field)

    async def set_options(self, field: str, options: Iterable[Any]) -> Applied:
        """Replaces the options of a picker."""
        return await self._ask(
            "form.setOptions", Applied.read, field=field, options=to_json(list(options)))

    async def delete(self) -> None:
        """Deletes the form with its values and its history."""
        await self._ask("form.delete", lambda got: None)

    def watch(
        self, *fields: str, since: Optional[Since] = None, initial: bool = False,
        timeout: float = math.inf,
    ) -> AsyncWatch:
        """Every change from the beginning of the watch, or from `since` on, in order, none missed
        and none twice. `initial` begins with a snapshot; so does a watch that cannot resume.
        `timeout` bounds the wait for each update."""
        return AsyncWatch(
            self._core, Subscription(self.name, fields, since, initial), timeout)

    async def wait(self, *fields: str, timeout: Optional[float] = None) -> Update:
        """The next change of these fields, or of any. `TimedOut` after `timeout` seconds, by
        default those of the client; `math.inf` waits without end."""
        limit = self._core.timeout if timeout is None else timeout
        until = self._core.io.now() + limit
        watch = self.watch(*fields)
        try:
            await watch.begin(limit)
            return self._not_deleted(await watch.next(until - self._core.io.now()))
        except TimedOut:
            raise TimedOut(f"no change of {self.name} within {limit:g} s") from None
        finally:
            watch.close()

    async def wait_for(
        self, condition: Condition, *, timeout: Optional[float] = None
    ) -> dict[str, JSON]:
        """The values of the form once the condition holds, at once where it does already.

        A condition is a mapping of fields to values, or a function of all values. `TimedOut` as
        with `wait`."""
        holds = condition if callable(condition) else _equals(condition)
        limit = self._core.timeout if timeout is None else timeout
        until = self._core.io.now() + limit
        values: dict[str, JSON] = {}
        watch = self.watch(initial=True)
        try:
            await watch.begin(limit)
            while not values or not holds(values):
                update = self._not_deleted(await watch.next(until - self._core.io.now()))
                follow(values, update, update.values)
            return values
        except TimedOut:
            raise TimedOut(
                f"what was waited for in {self.name} did not come within {limit:g} s") from None
        finally:
            watch.close()

    def _not_deleted(self, update: Optional[Update]) -> Update:
        if update is None:
            raise NotFound(
                -32001, "notFound", f'the form "{self.name}" was deleted, or the client closed',
                {"form": self.name})
        return update

    def bind(self, kind: Type[T]) -> AsyncBound[T]:
        """The form as a dataclass: each of its attributes is the field of that name, `_` also for
        `-`, converted to the attribute's type."""
        return AsyncBound(self, kind)

    def on_change(
        self, *fields: str, initial: bool = False
    ) -> Callable[[OnChange], OnChange]:
        """A decorator: `run` calls the function with the `Change` of each of these fields (globs;
        none for all). With `initial` also once with the value that is there when `run` begins."""
        return self._handlers.on_change(fields, initial)

    def on_press(self, *buttons: str) -> Callable[[OnPress], OnPress]:
        """A decorator: `run` calls the function with each `Press` of these buttons, none missed."""
        return self._handlers.on_press(buttons)

    def handles(self, *buttons: str) -> Callable[[OnRun], OnRun]:
        """A decorator: `run` takes presses of these buttons with `runs` and calls the function with
        each `AsyncRun`, one at a time. A text that it returns is the text of the outcome; what it
        raises is that of a failure.

        A function cannot be stopped from outside. If the daemon is gone for more than 30 seconds,
        another handler may begin where the button says `whenLost: again`."""
        def add(function: OnRun) -> OnRun:
            for button in buttons:
                self._functions[button] = function
            return function
        return add

    async def run(
        self, *, since: Optional[Since] = None, keep: Optional[Callable[[Since], Any]] = None
    ) -> None:
        """Calls the handlers, one at a time and in order, until the form is deleted, `stop` is
        called or the client is closed. What a handler raises ends it.

        `keep` is called with the place behind each update whose handlers have returned. Where it
        was stored, a new process resumes with `since`: the changes and presses of the meantime are
        handled, those of an update that was interrupted once more. Of presses that the daemon had
        to fold together meanwhile the last one alone is known."""
        if self._functions:
            if self._handlers.are_any:
                raise ValueError("handles is for a form object without on_change and on_press")
            return await self._handle()
        if not self._handlers.are_any:
            raise ValueError("nothing to run: no on_change, on_press or handles")
        async with self.watch(since=since, initial=since is None) as watch:
            self._running = watch
            is_first = since is None
            try:
                async for update in watch:
                    for function, argument in self._handlers.calls(update, is_first=is_first):
                        if watch.is_closed:
                            return
                        await _finished(function(argument))
                    is_first = False
                    self.since = update.since
                    if keep is not None:
                        await _finished(keep(update.since))
            finally:
                self._running = None

    async def _handle(self) -> None:
        handling = self._running = Handling(self._core, self.name, self._functions)
        try:
            await handling.run()
        finally:
            self._running = None

    def stop(self) -> None:
        """Ends `run`, after the handler that is at work. Any thread and any handler may call it."""
        if self._running is not None:
            self._running.close()


async def _finished(result: Any) -> None:
    """Waits for what an asynchronous handler returned."""
    if inspect.isawaitable(result):
        await result


def _history_page(got: Mapping[str, Any]) -> tuple[list[HistoryEntry], bool]:
    return [HistoryEntry.read(one) for one in objects(got, "entries")], member(got, "more", bool)


def _revealed(got: Mapping[str, Any]) -> Optional[str]:
    return None if got["value"] is None else str(got["value"])


def _proposed(got: Mapping[str, Any]) -> Union[Proposal, Committed]:
    return Proposal.of_answer(got) if "proposal" in got else Committed.read(got)


def _equals(wanted: Mapping[str, Any]) -> Callable[[Mapping[str, JSON]], bool]:
    expected = {name: to_json(value) for name, value in wanted.items()}
    return lambda values: all(
        name in values and values[name] == value for name, value in expected.items())
