"""The blocking client: the asynchronous one's logic, over calls that block."""

from __future__ import annotations

import math
from typing import (
    Any, Callable, Generic, Mapping, Optional, Type, TypeVar, overload,
)

from ._blocking import BlockingIO, Closing, Face, blocking, finish
from ._bound import AsyncBound
from ._client import TIMEOUT, AsyncClient
from ._form import AsyncForm
from ._frames import FRAME_BYTES_MAX
from ._handlers import OnChange, OnPress
from ._results import JSON, Committed, Since, Update
from ._runs import Assigned, AsyncRun
from ._watch import AsyncItems, AsyncWatch

T = TypeVar("T")
Self = TypeVar("Self", bound="Items[Any]")


class Client(Face[AsyncClient], Closing):
    """A connection to the daemon that comes back by itself.

        with Client() as client:
            client.form("deploy").set(traffic=20)

    Threads may share it: their calls take turns. The parameters are those of `AsyncClient`.
    """

    def __init__(
        self, path: Optional[str] = None, *, name: str = "python", session: Optional[str] = None,
        tty: Optional[str] = None, timeout: float = TIMEOUT, max_frame: int = FRAME_BYTES_MAX,
    ) -> None:
        self._io = BlockingIO()
        super().__init__(AsyncClient(
            path, name=name, session=session, tty=tty, timeout=timeout, max_frame=max_frame,
            io=self._io))
        finish(self._logic.open())

    def close(self) -> None:
        """Closes the connection and the watches. Calls that wait in other threads, and later ones,
        raise `ClientClosed`."""
        self._io.close()
        finish(self._logic.close())

    @property
    def timeout(self) -> float:
        """Seconds that a call takes at most."""
        return self._logic.timeout

    @timeout.setter
    def timeout(self, seconds: float) -> None:
        self._logic.timeout = seconds

    def form(self, name: str) -> Form:
        """A form by its name. Nothing is asked yet."""
        return Form(self._logic.form(name))

    call = blocking(AsyncClient.call)
    settle = blocking(AsyncClient.settle)
    apply_kept = blocking(AsyncClient.apply_kept)
    forms = blocking(AsyncClient.forms)
    apply = blocking(AsyncClient.apply)
    status = blocking(AsyncClient.status)


class Items(Face[AsyncItems[T]], Closing, Generic[T]):
    """What comes one after the other until it is closed: an iterator that can be used with
    `with`."""

    def __iter__(self: Self) -> Self:
        return self

    def __next__(self) -> T:
        item = self.next()
        if item is None:
            raise StopIteration
        return item

    def next(self, timeout: Optional[float] = None) -> Optional[T]:
        """The next item; None at the end. `TimedOut` where nothing comes in `timeout` seconds, by
        default those of the watch."""
        return finish(self._logic.next(timeout))

    def close(self) -> None:
        """Ends it. An iteration that waits in another thread ends too."""
        self._logic.close()


class Watch(Items[Update]):
    """The changes of a form, on a connection of its own.

        with form.watch("traffic") as updates:
            for update in updates:
                print(update.values)

    It ends when the form is deleted, or the watch or the client is closed.
    """

    def __init__(self, logic: AsyncWatch) -> None:
        super().__init__(logic)
        self._watch = logic

    @property
    def since(self) -> Optional[Since]:
        """Where a later watch resumes: behind the last update."""
        return self._watch.since


class Bound(Face[AsyncBound[T]], Generic[T]):
    """A form whose fields are the attributes of a dataclass."""

    def read(self) -> T:
        """The values now."""
        return finish(self._logic.read())

    def save(self, value: T, *, require_current: bool = False) -> Optional[Committed]:
        """Sets, in one transaction, the attributes that differ from what was read last, with the
        context of that reading; None where none differs. With `require_current` it is `Conflict`
        where somebody has changed one of them since."""
        return finish(self._logic.save(value, require_current=require_current))

    def watch(self, *, timeout: float = math.inf) -> Items[T]:
        """The values now, and after each change that touches an attribute."""
        values = self._logic.watch(timeout=timeout)
        finish(values.begin())
        return Items(values)


class Run(Face[AsyncRun]):
    """A press that a function of `handles` works on. What the function returns, if it is a text,
    is the text of the outcome `done`; what it raises is the text of `failed`."""

    @property
    def assigned(self) -> Assigned:
        """The press: its button, who pressed, when."""
        return self._logic.assigned

    @property
    def values(self) -> Mapping[str, JSON]:
        """The values of the form when the button was pressed, without secrets."""
        return self._logic.values

    @property
    def is_cancelled(self) -> bool:
        """Whether somebody wants the run to end, or it has ended. `progress` finds out."""
        return self._logic.is_cancelled

    progress = blocking(AsyncRun.progress)


OnRun = TypeVar("OnRun", bound=Callable[[Run], Any])


class Form(Face[AsyncForm]):
    """A form of a client's daemon. Nothing is asked before a method is called."""

    @property
    def name(self) -> str:
        """The form's name."""
        return self._logic.name

    @property
    def since(self) -> Optional[Since]:
        """Where `run` is: behind the last update whose handlers have returned."""
        return self._logic.since

    @overload
    def get(self, field: str) -> JSON: ...

    @overload
    def get(self, field: str, *, as_: Type[T]) -> T: ...

    @overload
    def get(self, field: str, *, as_: Any) -> Any: ...

    def get(self, field: str, *, as_: Any = None) -> Any:
        """The value of a field, converted to the type `as_`. Of a glob, such as `"*"`, a mapping
        of names to values, each converted."""
        return finish(self._logic.get(field, as_=as_))

    read = blocking(AsyncForm.read)
    definition = blocking(AsyncForm.definition)
    set = blocking(AsyncForm.set)
    commit = blocking(AsyncForm.commit)
    propose = blocking(AsyncForm.propose)
    proposals = blocking(AsyncForm.proposals)
    approve = blocking(AsyncForm.approve)
    refuse = blocking(AsyncForm.refuse)
    withdraw = blocking(AsyncForm.withdraw)
    lease = blocking(AsyncForm.lease)
    increment = blocking(AsyncForm.increment)
    toggle = blocking(AsyncForm.toggle)
    move = blocking(AsyncForm.move)
    press = blocking(AsyncForm.press)
    reset = blocking(AsyncForm.reset)
    undo = blocking(AsyncForm.undo)
    redo = blocking(AsyncForm.redo)
    conflicts = blocking(AsyncForm.conflicts)
    resolve = blocking(AsyncForm.resolve)
    history = blocking(AsyncForm.history)
    explain = blocking(AsyncForm.explain)
    redact = blocking(AsyncForm.redact)
    reveal = blocking(AsyncForm.reveal)
    set_options = blocking(AsyncForm.set_options)
    delete = blocking(AsyncForm.delete)
    wait = blocking(AsyncForm.wait)
    wait_for = blocking(AsyncForm.wait_for)
    run = blocking(AsyncForm.run)

    def watch(
        self, *fields: str, since: Optional[Since] = None, initial: bool = False,
        timeout: float = math.inf,
    ) -> Watch:
        """Every change from now on, or from `since` on, in order, none missed and none twice.
        `initial` begins with a snapshot; so does a watch that cannot resume. `timeout` bounds the
        wait for each update. Later changes are not missed once this has returned."""
        watch = self._logic.watch(*fields, since=since, initial=initial, timeout=timeout)
        finish(watch.begin())
        return Watch(watch)

    def bind(self, kind: Type[T]) -> Bound[T]:
        """The form as a dataclass: each of its attributes is the field of that name, `_` also for
        `-`, converted to the attribute's type."""
        return Bound(self._logic.bind(kind))

    def on_change(
        self, *fields: str, initial: bool = False
    ) -> Callable[[OnChange], OnChange]:
        """A decorator: `run` calls the function with the `Change` of each of these fields (globs;
        none for all). With `initial` also once with the value that is there when `run` begins."""
        return self._logic.on_change(*fields, initial=initial)

    def on_press(self, *buttons: str) -> Callable[[OnPress], OnPress]:
        """A decorator: `run` calls the function with each `Press` of these buttons, none missed."""
        return self._logic.on_press(*buttons)

    def handles(self, *buttons: str) -> Callable[[OnRun], OnRun]:
        """A decorator: `run` takes presses of these buttons with `runs` and calls the function with
        each `Run`, one at a time. A text that it returns is the text of the outcome; what it raises
        is that of a failure.

        A function cannot be stopped from outside. If the daemon is gone for more than 30 seconds,
        another handler may begin where the button says `whenLost: again`."""
        def add(function: OnRun) -> OnRun:
            self._logic.handles(*buttons)(lambda run: function(Run(run)))
            return function
        return add

    def stop(self) -> None:
        """Ends `run`, after the handler that is at work. Any thread and any handler may call it."""
        self._logic.stop()


def connect(
    path: Optional[str] = None, *, name: str = "python", session: Optional[str] = None,
    timeout: float = TIMEOUT,
) -> Client:
    """A client of the daemon at `path`, else where `pickerctl` would look."""
    return Client(path, name=name, session=session, timeout=timeout)
