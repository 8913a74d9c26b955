"""What a service does when values change and buttons are pressed: functions by field."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Iterator, Optional, Tuple, TypeVar

from ._results import Change, JSON, Press, Update, check_bound, forget

OnChange = TypeVar("OnChange", bound=Callable[[Change], Any])
OnPress = TypeVar("OnPress", bound=Callable[[Press], Any])

#: Presses of one update that are handled one by one. Of more, as only a daemon that lies tells, the
#: newest are.
PRESSES_MAX = 10_000

#: A function and what it is to be called with.
Call = Tuple[Callable[[Any], Any], Any]


@dataclass(frozen=True)
class _Handler:
    function: Callable[[Any], Any]
    globs: tuple[str, ...]
    #: Called once with each value that is there at the beginning.
    is_initial: bool = False

    def matches(self, name: str) -> bool:
        return not self.globs or any(matches(glob, name) for glob in self.globs)


def matches(glob: str, name: str) -> bool:
    """Whether a field has this name; `*` and `?` alone are special, as in the protocol."""
    return fnmatch.fnmatchcase(name, glob.replace("[", "[[]"))


def is_glob(name: str) -> bool:
    """Whether this may match several fields."""
    return "*" in name or "?" in name


@dataclass
class Handlers:
    """The functions of one form, and the presses that were counted."""

    _changes: list[_Handler] = field(default_factory=list)
    _presses: list[_Handler] = field(default_factory=list)
    _counted: dict[str, int] = field(default_factory=dict)
    _known: dict[str, JSON] = field(default_factory=dict)

    @property
    def are_any(self) -> bool:
        """Whether there is a function to call."""
        return bool(self._changes or self._presses)

    def on_change(self, globs: tuple[str, ...], initial: bool) -> Callable[[OnChange], OnChange]:
        """A decorator for what is called at changes of these fields."""
        def add(function: OnChange) -> OnChange:
            self._changes.append(_Handler(function, globs, initial))
            return function
        return add

    def on_press(self, globs: tuple[str, ...]) -> Callable[[OnPress], OnPress]:
        """A decorator for what is called at each press of these buttons."""
        def add(function: OnPress) -> OnPress:
            self._presses.append(_Handler(function, globs))
            return function
        return add

    def calls(self, update: Update, *, is_first: bool) -> Iterator[Call]:
        """What is to be called for an update, in order. `is_first` is the snapshot of the start.
        Of a later snapshot only what is not known yet is a change."""
        forget(self._counted, update)
        forget(self._known, update)
        for change in update.changes:
            presses = presses_of(change.value)
            if presses is not None:
                yield from self._pressed(change, presses, is_first or update.is_snapshot)
                continue
            is_known = change.field in self._known and self._known[change.field] == change.value
            if update.is_snapshot:
                change = replace(change, was=self._known.get(change.field))
            self._known[change.field] = change.value
            if update.is_snapshot and is_known:
                continue
            for handler in self._changes:
                if handler.matches(change.field) and (handler.is_initial or not is_first):
                    yield handler.function, change
        check_bound(self._counted)
        check_bound(self._known)

    def _pressed(self, change: Change, presses: int, is_base: bool) -> Iterator[Call]:
        before = self._counted.get(change.field)
        if before is None:
            was = presses_of(change.was)
            before = presses if is_base else presses - 1 if was is None else was
        self._counted[change.field] = presses
        for number in range(max(before, presses - PRESSES_MAX) + 1, presses + 1):
            is_last = number == presses
            press = Press(
                change.field, number, change.now.by if is_last else None,
                change.now.at if is_last else None)
            for handler in self._presses:
                if handler.matches(change.field):
                    yield handler.function, press


def presses_of(value: JSON) -> Optional[int]:
    """How often a button was pressed; None if it is not a button's value."""
    presses = value.get("presses") if isinstance(value, dict) and len(value) == 1 else None
    return presses if type(presses) is int else None
