"""What can go wrong, by whose fault. No message contains a raw control character."""

from __future__ import annotations

from typing import Any, Mapping, Optional

from ._text import shown


class PickerSyncError(Exception):
    """The base of all errors of this package. `str` and `repr` are safe to print."""

    def __init__(self, message: str = "") -> None:
        super().__init__(shown(message))


class ConnectionFailed(PickerSyncError):
    """No daemon answers, or it closed the connection."""

    def __init__(self, message: str = "", retry_after: float = 0.0) -> None:
        super().__init__(message)
        #: Seconds that the daemon asked for before the next attempt.
        self.retry_after = retry_after


class UntrustedDaemon(PickerSyncError):
    """Who listens, or the folder of the socket, belongs to somebody else. Nothing was sent."""


class ClientClosed(PickerSyncError):
    """The client or the watch was closed before or during the call."""


class TimedOut(PickerSyncError):
    """The deadline passed. Nothing was changed, unless it is `OutcomeUnknown`."""


class OutcomeUnknown(TimedOut):
    """An edit was sent and the deadline passed before its answer came: it may have been made.

    `client.settle(error)` sends it again with its idempotency key: what was made is not made twice,
    and the first answer comes back. Another process can do the same with `key`.
    """

    def __init__(
        self, message: str, request: Any, key: str, store: Optional[str] = None
    ) -> None:
        super().__init__(message)
        #: The idempotency key; the daemon keeps it for a day.
        self.key = key
        self._request = request
        self._store = store


class OtherReplica(OutcomeUnknown):
    """An edit was sent and not answered, and now a daemon with another store answers, as when
    another daemon was started on the socket. The edit was not sent to that one.

    `client.settle(error)` sends it to its own daemon when that answers again, and raises this error
    until then; `client.apply_kept(error)` makes it in the daemon that answers now. To discard it,
    forget the error.
    """

    @property
    def form(self) -> Optional[str]:
        """The form that the edit is for; None where the request was another one."""
        form = self._request.params.get("form")
        return form if isinstance(form, str) else None

    @property
    def fields(self) -> list[str]:
        """The fields that the edit sets."""
        return [one["field"] for one in self._request.params.get("changes", ())]


class ProtocolViolation(PickerSyncError):
    """The peer does not speak this protocol. The connection was closed."""


class ConversionFailed(PickerSyncError, ValueError):
    """A value has no form in JSON, or a field's value is not of the type that was asked for."""


class DaemonError(PickerSyncError):
    """The daemon refused; nothing was changed."""

    def __init__(self, code: int, kind: str, message: str, data: Mapping[str, Any]) -> None:
        super().__init__(message)
        #: The number of JSON-RPC.
        self.code = code
        #: The kind of error for programs, such as "notFound".
        self.kind = kind
        #: The members that belong to the kind, as they came: form, field, expected, similar, …
        self.data = dict(data)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.code, self.kind, self.args[0], self.data)


class NotFound(DaemonError):
    """No such form or field."""

    @property
    def similar(self) -> list[str]:
        """The nearest names."""
        names = self.data.get("similar")
        return [shown(name) for name in names] if isinstance(names, list) else []


class InvalidValue(DaemonError):
    """The field does not take this value."""

    @property
    def expected(self) -> str:
        """The values that the field takes, for a person."""
        return shown(self.data.get("expected", ""))


class Conflict(DaemonError):
    """The field has a newer value than the sender had seen; `data["fields"]` has it."""


class Forbidden(DaemonError):
    """This user may not."""


class ApprovalNeeded(DaemonError):
    """Others must agree to this change: `data["approval"]` says who, by field. `form.propose` asks
    them."""


class LimitReached(DaemonError):
    """A limit of the daemon, of this user or of the size of a request."""


class Busy(DaemonError):
    """The button handles one press at a time, and one waits or runs: `data["press"]`."""


class Disabled(DaemonError):
    """The control is disabled or locked."""


class Unavailable(DaemonError):
    """The store cannot write; reading works."""


class UnsupportedProtocol(DaemonError):
    """The daemon speaks another version."""


class InvalidParams(DaemonError):
    """The daemon cannot read the request: of a definition, `data["problems"]`."""


_KINDS: dict[str, type[DaemonError]] = {
    "notFound": NotFound, "invalidValue": InvalidValue, "conflict": Conflict,
    "forbidden": Forbidden, "limit": LimitReached, "frameTooLarge": LimitReached,
    "disabled": Disabled, "unavailable": Unavailable, "unsupportedProtocol": UnsupportedProtocol,
    "invalidParams": InvalidParams, "busy": Busy, "approvalNeeded": ApprovalNeeded,
}


def daemon_error(error: object) -> DaemonError:
    """The exception for the `error` of an answer."""
    if not isinstance(error, dict):
        raise ProtocolViolation("an answer whose error is not an object")
    code, message, data = error.get("code"), error.get("message"), error.get("data")
    data = data if isinstance(data, dict) else {}
    kind = data.get("kind")
    kind = shown(kind, 100) if isinstance(kind, str) else "internal"
    return _KINDS.get(kind, DaemonError)(
        code if type(code) is int else 0, kind, message if isinstance(message, str) else kind, data)


class Expired(Exception):
    """A deadline passed. It does not leave the package: callers see `TimedOut`."""
