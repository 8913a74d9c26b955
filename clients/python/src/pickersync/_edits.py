"""Transactions: changes that are made together or not at all."""

from __future__ import annotations

from typing import Any, Iterable, Optional

from ._types import JSON


class Edit:
    """Changes of one transaction, gathered. Each method gives the edit back, so that they chain.

    `context` is the token of what was on the screen; a change may have its own.
    """

    def __init__(self) -> None:
        self.changes: list[dict[str, Any]] = []

    def _add(self, field: str, context: Optional[str], **action: JSON) -> Edit:
        change: dict[str, Any] = {"field": field, **action}
        if context is not None:
            change["context"] = context
        self.changes.append(change)
        return self

    def set(self, field: str, value: JSON, *, context: Optional[str] = None) -> Edit:
        """Gives it a value; of wheels some components alone will do."""
        return self._add(field, context, value=value)

    def increment(self, field: str, by: float = 1, *, context: Optional[str] = None) -> Edit:
        """Adds, worked out by the daemon: two at once add up."""
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

    def add(self, field: str, tags: Iterable[JSON], *, context: Optional[str] = None) -> Edit:
        """Adds tags to a picker of several."""
        return self._add(field, context, add=list(tags))

    def remove(self, field: str, tags: Iterable[JSON], *, context: Optional[str] = None) -> Edit:
        """Removes tags from a picker of several."""
        return self._add(field, context, remove=list(tags))
