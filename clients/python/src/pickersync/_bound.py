"""A form as a dataclass."""

from __future__ import annotations

import dataclasses
import math
import typing
from typing import TYPE_CHECKING, Any, Generic, Mapping, Optional, Type, TypeVar

from ._errors import ConversionFailed, NotFound
from ._results import JSON, Committed, Snapshot, follow
from ._values import from_json, to_json
from ._watch import AsyncItems, AsyncWatch

if TYPE_CHECKING:
    from ._form import AsyncForm

T = TypeVar("T")


class AsyncBound(Generic[T]):
    """A form whose fields are the attributes of a dataclass."""

    def __init__(self, form: AsyncForm, kind: Type[T]) -> None:
        if not dataclasses.is_dataclass(kind):
            raise TypeError(f"bind takes a dataclass, not {kind.__name__}")
        self._form, self._kind = form, kind
        hints = typing.get_type_hints(kind)
        self._hints = {one.name: hints[one.name] for one in dataclasses.fields(kind) if one.init}
        #: What was read last: what `save` compares with.
        self._seen: Optional[Snapshot] = None

    async def read(self) -> T:
        """The values now."""
        self._seen = await self._form.read()
        return self.made(self._seen.values)

    async def save(self, value: T, *, require_current: bool = False) -> Optional[Committed]:
        """Sets, in one transaction, the attributes that differ from what was read last, with the
        context of that reading; None where none differs. With `require_current` it is `Conflict`
        where somebody has changed one of them since."""
        if self._seen is None:
            await self.read()
        assert self._seen is not None
        names = self._names(self._seen.values)
        changed: dict[str, JSON] = {}
        for attribute, field in names.items():
            wanted = to_json(getattr(value, attribute))
            if wanted != to_json(from_json(self._seen.values[field], self._hints[attribute])):
                changed[field] = wanted
        if not changed:
            return None
        done = await self._form.set(
            changed, context=self._seen.context, require_current=require_current)
        await self.read()
        return done

    def watch(self, *, timeout: float = math.inf) -> AsyncValues[T]:
        """The values now, and after each change that touches an attribute."""
        return AsyncValues(self, self._form.watch(initial=True, timeout=timeout))

    def _names(self, values: Mapping[str, JSON]) -> dict[str, str]:
        """Attributes to the ids of fields. No two ids of a form differ by `-` and `_` alone."""
        ids = {name.replace("-", "_"): name for name in values}
        for attribute in self._hints:
            if attribute not in ids:
                raise NotFound(
                    -32001, "notFound",
                    f"no field {attribute} in form {self._form.name} for "
                    f"{self._kind.__name__}.{attribute}",
                    {"form": self._form.name, "field": attribute})
        return {attribute: ids[attribute] for attribute in self._hints}

    def made(self, values: Mapping[str, JSON]) -> T:
        """The dataclass of these values, by their ids."""
        converted: dict[str, Any] = {}
        for attribute, field in self._names(values).items():
            try:
                converted[attribute] = from_json(values[field], self._hints[attribute])
            except ConversionFailed as error:
                raise ConversionFailed(f"{field}: {error}") from None
        return self._kind(**converted)


class AsyncValues(AsyncItems[T]):
    """A dataclass for each state of a form."""

    def __init__(self, bound: AsyncBound[T], updates: AsyncWatch) -> None:
        self._bound, self._updates = bound, updates
        self._values: dict[str, JSON] = {}
        self._shown: Optional[T] = None

    async def begin(self, timeout: Optional[float] = None) -> None:
        await self._updates.begin(timeout)

    async def next(self, timeout: Optional[float] = None) -> Optional[T]:
        while True:
            update = await self._updates.next(timeout)
            if update is None:
                return None
            follow(self._values, update, update.values)
            made = self._bound.made(self._values)
            if made != self._shown:
                self._shown = made
                return made

    def close(self) -> None:
        self._updates.close()
