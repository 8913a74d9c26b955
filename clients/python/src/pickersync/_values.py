"""Python's types to the values of fields, and back.

| Python | field | JSON |
| --- | --- | --- |
| Enum | picker | the member's value |
| Decimal | slider, stepper, gauge | the number, exactly; 15 digits at most |
| date, time, datetime | date | 2026-11-21, 14:30, 2026-11-21T14:30 |
| timedelta | date, countdown | seconds |
| list, tuple, set | picker with multiple | a list |
| a mapping, a dataclass | wheels | an object |
"""

from __future__ import annotations

import dataclasses
import math
import typing
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Callable, Mapping, Union, get_args, get_origin

from ._errors import ConversionFailed
from ._results import JSON
from ._text import shown

#: Digits of a number that is not an integer, as in docs/PROTOCOL.md.
DIGITS_MAX = 15

_INTEGER_MIN, _INTEGER_MAX = -(1 << 63), (1 << 63) - 1


def to_json(value: Any) -> JSON:
    """The value as the daemon takes it; `ConversionFailed` where it has no such form."""
    if value is None or isinstance(value, (bool, str)) and not isinstance(value, Enum):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, Enum):
        return to_json(value.value)
    if isinstance(value, (int, float, Decimal)):
        return _number(value)
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            raise ConversionFailed(
                f"{value} has a time zone, and a date field has none; convert it to the zone that "
                "people mean, then .replace(tzinfo=None)")
        return f"{value.date().isoformat()}T{_minutes(value.time())}"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        return _minutes(value)
    if isinstance(value, timedelta):
        return _number(value / timedelta(seconds=1))
    if isinstance(value, Mapping):
        return {str(to_json(name)): to_json(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_json(inner) for inner in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: to_json(getattr(value, one.name)) for one in dataclasses.fields(value)}
    raise ConversionFailed(f"no field takes a {type(value).__name__}")


def _minutes(value: time) -> str:
    if value.second or value.microsecond or value.tzinfo is not None:
        raise ConversionFailed(f"{value}: a date field has whole minutes and no time zone")
    return value.isoformat("minutes")


def _number(value: Union[int, float, Decimal]) -> Union[int, float]:
    if isinstance(value, int):
        if not _INTEGER_MIN <= value <= _INTEGER_MAX:
            raise ConversionFailed("an integer beyond 64 bits")
        return int(value)
    if not math.isfinite(value):
        raise ConversionFailed(f"{value} is not a number that a field takes")
    if isinstance(value, float):
        # As people mean it: 0.1 + 0.2 is 0.3.
        value = float(format(value, f".{DIGITS_MAX}g"))
        return int(value) if value.is_integer() and abs(value) < 10 ** DIGITS_MAX else value
    if value == value.to_integral_value() and abs(value) <= _INTEGER_MAX:
        return int(value)
    if len(value.normalize().as_tuple().digits) > DIGITS_MAX:
        raise ConversionFailed(f"{value} has more than {DIGITS_MAX} digits")
    return float(value)


def from_json(value: JSON, kind: Any) -> Any:
    """The value as a `kind`: a class of the table above, a plain type, or a generic of those."""
    if kind is Any or kind is None:
        return value
    if kind is type(None):
        return _checked(value, type(None), kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if _is_union(origin):
        return _first(value, kind, arguments)
    if origin is typing.Literal:
        for one in arguments:
            if type(one) is type(value) and one == value:
                return value
        raise _failed(value, kind)
    if origin in (list, set, frozenset, tuple):
        items = _checked(value, list, kind)
        inner = arguments[0] if arguments else Any
        return _parsed(origin, [from_json(one, inner) for one in items], kind)
    if origin is dict:
        inner = arguments[1]
        return {name: from_json(one, inner) for name, one in _checked(value, dict, kind).items()}
    if not isinstance(kind, type):
        raise TypeError(f"as_ takes a type, not {kind!r}")
    return _plain(value, kind)


def _is_union(origin: Any) -> bool:
    # `int | None` has a type of its own from Python 3.10 on.
    return origin is Union or getattr(origin, "__name__", "") == "UnionType"


def _first(value: JSON, kind: Any, choices: tuple[Any, ...]) -> Any:
    if value is None and type(None) in choices:
        return None
    for one in choices:
        try:
            return from_json(value, one)
        except ConversionFailed:
            continue
    raise _failed(value, kind)


def _plain(value: JSON, kind: type) -> Any:
    if issubclass(kind, Enum):
        return _parsed(kind, value, kind)
    if kind in _READERS:
        return _READERS[kind](value)
    if kind in (list, dict):
        return _checked(value, kind, kind)
    if kind in (tuple, set, frozenset):
        return _parsed(kind, _checked(value, list, kind), kind)
    if dataclasses.is_dataclass(kind):
        members = _checked(value, dict, kind)
        hints = typing.get_type_hints(kind)
        known = {one.name for one in dataclasses.fields(kind) if one.name in members}
        return _parsed(
            lambda got: kind(**got), {name: from_json(members[name], hints[name])
                                      for name in known}, kind)
    raise TypeError(f"as_ does not know {kind.__name__}")


def _failed(value: JSON, kind: Any) -> ConversionFailed:
    name = getattr(kind, "__name__", None) or str(kind)
    hint = "; it is empty, see Optional" if value is None else ""
    return ConversionFailed(f"{shown(repr(value), 100)} is not a {name}{hint}")


def _checked(value: JSON, wanted: type, kind: Any) -> Any:
    if not isinstance(value, wanted):
        raise _failed(value, kind)
    return value


def _parsed(parse: Callable[[Any], Any], value: Any, kind: Any) -> Any:
    try:
        return parse(value)
    except (ValueError, TypeError, ArithmeticError):
        raise _failed(value, kind) from None


def _read_int(value: JSON) -> int:
    if type(value) is int or type(value) is float and value.is_integer():
        return int(value)
    raise _failed(value, int)


def _read_float(value: JSON) -> float:
    if type(value) in (int, float):
        return float(typing.cast(float, value))
    raise _failed(value, float)


def _read_decimal(value: JSON) -> Decimal:
    if type(value) in (int, float):
        # The shortest text that gives this float is the decimal that was sent.
        return Decimal(repr(value))
    raise _failed(value, Decimal)


def _read_date(value: JSON) -> date:
    text = _checked(value, str, date)
    # A field of year and month is the first of that month.
    parsed: date = _parsed(date.fromisoformat, text + "-01" if len(text) == 7 else text, date)
    return parsed


def _read_timedelta(value: JSON) -> timedelta:
    seconds = _read_float(value)
    parsed: timedelta = _parsed(lambda got: timedelta(seconds=got), seconds, timedelta)
    return parsed


_READERS: dict[type, Callable[[JSON], Any]] = {
    str: lambda value: _checked(value, str, str),
    bool: lambda value: _checked(value, bool, bool),
    int: _read_int, float: _read_float, Decimal: _read_decimal, date: _read_date,
    time: lambda value: _parsed(time.fromisoformat, _checked(value, str, time), time),
    datetime: lambda value: _parsed(datetime.fromisoformat, _checked(value, str, datetime),
                                    datetime),
    timedelta: _read_timedelta,
}
