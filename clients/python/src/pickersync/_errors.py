"""What can go wrong, by whose fault: the daemon's refusals carry their code and kind."""

from __future__ import annotations

from typing import Any, Mapping


class PickerSyncError(Exception):
    """Whatever this package raises."""


class ConnectionFailed(PickerSyncError):
    """No daemon answers, or it went away; an edit that was under way may have been made."""


class TimedOut(PickerSyncError):
    """Nothing came in time."""


class ProtocolViolation(PickerSyncError):
    """The peer does not speak this protocol."""


class DaemonError(PickerSyncError):
    """The daemon refused; nothing was changed."""

    def __init__(self, code: int, kind: str, message: str, data: Mapping[str, Any]) -> None:
        super().__init__(message)
        #: The number of JSON-RPC.
        self.code = code
        #: What it is, for programs, such as "notFound".
        self.kind = kind
        #: What the kind names: form, field, expected, similar, limit, max, …
        self.data = dict(data)


class NotFound(DaemonError):
    """No such form or field; `similar` has the nearest names."""

    @property
    def similar(self) -> list[str]:
        return [str(name) for name in self.data.get("similar", [])]


class InvalidValue(DaemonError):
    """The field does not take this value; `expected` says what it takes."""

    @property
    def expected(self) -> str:
        return str(self.data.get("expected", ""))


class Conflict(DaemonError):
    """Something that was not seen is there now; `data["fields"]` shows it."""


class Forbidden(DaemonError):
    """This user may not."""


class LimitReached(DaemonError):
    """A bound of the daemon or of this user."""


class Disabled(DaemonError):
    """The control is disabled or locked."""


class Unavailable(DaemonError):
    """The store cannot write; reading goes on."""


class UnsupportedProtocol(DaemonError):
    """The daemon speaks another version."""


class InvalidParams(DaemonError):
    """A request that the daemon cannot read: of a definition, what is wrong with it."""


_KINDS: dict[str, type[DaemonError]] = {
    "notFound": NotFound, "invalidValue": InvalidValue, "conflict": Conflict,
    "forbidden": Forbidden, "limit": LimitReached, "disabled": Disabled,
    "unavailable": Unavailable, "unsupportedProtocol": UnsupportedProtocol,
    "invalidParams": InvalidParams,
}


def daemon_error(error: Mapping[str, Any]) -> DaemonError:
    """The exception for the `error` of an answer."""
    data = error.get("data") or {}
    kind = str(data.get("kind", "internal"))
    return _KINDS.get(kind, DaemonError)(
        int(error.get("code", 0)), kind, str(error.get("message", kind)), data)
