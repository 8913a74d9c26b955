"""Transactions: changes that are made together or not at all."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Optional

from ._errors import ConversionFailed
from ._results import JSON
from ._values import to_json


class Edit:
    """Changes of one transaction. Each method returns the edit, so that they chain.

    `context` is the token of what was on the screen; a change may have its own.
    """

    def __init__(self) -> None:
        self.changes: list[dict[str, Any]] = []

    def _add(self, field: str, context: Optional[str], **action: Any) -> Edit:
        change: dict[str, Any] = {"field": field}
        for name, value in action.items():
            try:
                change[name] = to_json(value)
            except ConversionFailed as error:
                raise ConversionFailed(f"{field}: {error}") from None
        if context is not None:
            change["context"] = context
        self.changes.append(change)
        return self

    def set(self, field: str, value: Any, *, context: Optional[str] = None) -> Edit:
        """Sets a value, of a type of `pickersync._values`; of wheels some components will do."""
        return self._add(field, context, value=value)

    def set_all(self, values: Mapping[str, Any]) -> Edit:
        """Sets each field of a mapping."""
        for field, value in values.items():
            self.set(field, value)
        return self

    def increment(self, field: str, by: Any = 1, *, context: Optional[str] = None) -> Edit:
        """Adds to a number. The daemon does it: two at the same time add up."""
        return self._add(field, context, increment=by)

    def toggle(self, field: str, *, context: Optional[str] = None) -> Edit:
        """Sets a toggle to its other state."""
        return self._add(field, context, toggle=True)

    def move(
        self, field: str, to: str = "next", *, wraps: bool = False, context: Optional[str] = None
    ) -> Edit:
        """Moves a picker: next, previous, first, last."""
        return self._add(field, context, move=to, wraps=wraps)

    def reset(self, field: str, *, context: Optional[str] = None) -> Edit:
        """Back to the default, as if nobody had set it."""
        return self._add(field, context, reset=True)

    def press(self, field: str) -> Edit:
        """Presses a button."""
        return self._add(field, None, press=True)

    def add(self, field: str, tags: Iterable[Any], *, context: Optional[str] = None) -> Edit:
        """Adds tags to a picker of several."""
        return self._add(field, context, add=list(tags))

    def remove(self, field: str, tags: Iterable[Any], *, context: Optional[str] = None) -> Edit:
        """Removes tags from a picker of several."""
        return self._add(field, context, remove=list(tags))
