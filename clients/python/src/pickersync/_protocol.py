"""Protocol 1 without I/O: bytes to messages and back, requests, and how a watch goes on.

What always holds: nothing here waits, opens or reads a clock; both faces use it alike.
"""

from __future__ import annotations

import json
import os
import struct
import uuid
from typing import Any, Iterable, Iterator, Mapping, Optional, Union

from ._errors import ConnectionFailed, ProtocolViolation
from ._types import Change, Field, Since, Update

Message = dict[str, Any]

#: No daemon sends longer frames (`maxFrame` goes up to 64 MiB); a length beyond is no daemon's.
FRAME_BYTES_MAX = 64 << 20

#: Methods that change something: they carry a key, so that sending them again is safe.
KEYED = {
    "form.apply", "form.setOptions", "form.delete", "state.set", "state.undo", "state.redo",
}


def socket_paths(explicit: Optional[str], environment: Mapping[str, str]) -> list[str]:
    """Where the daemon may be, in order (docs/PROTOCOL.md, Where the daemon is)."""
    named = explicit or environment.get("PICKERSYNC_SOCKET")
    if named:
        return [named]
    runtime = environment.get("XDG_RUNTIME_DIR")
    own = [os.path.join(runtime, "pickersync/sock")] if runtime else []
    return [*own, "/run/pickersync/sock"]


def unreachable(paths: Iterable[str], error: Optional[BaseException]) -> ConnectionFailed:
    """No daemon answered at any of these."""
    return ConnectionFailed(f"no daemon answers on {' or '.join(paths)}: {error}")


def _plain(value: Any) -> Any:
    """Floats as decimals of 15 digits, which is what the daemon takes: 0.1 + 0.2 becomes 0.3."""
    if isinstance(value, float):
        return float(format(value, ".15g"))
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value


def encode(message: Message) -> bytes:
    """A message as a frame: the length as four bytes, then JSON."""
    text = json.dumps(_plain(message), ensure_ascii=False, allow_nan=False).encode("utf-8")
    return struct.pack(">I", len(text)) + text


class FrameDecoder:
    """Bytes as they come to messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Message]:
        self._buffer += data
        while len(self._buffer) >= 4:
            (length,) = struct.unpack_from(">I", self._buffer)
            if not 0 < length <= FRAME_BYTES_MAX:
                raise ProtocolViolation(f"a frame of {length} bytes: is this a pickersyncd?")
            if len(self._buffer) < 4 + length:
                return
            text = bytes(self._buffer[4:4 + length])
            del self._buffer[:4 + length]
            try:
                message = json.loads(text)
            except ValueError as error:
                raise ProtocolViolation(f"a frame that is no JSON: {error}") from None
            if not isinstance(message, dict):
                raise ProtocolViolation("a frame that is no message")
            yield message


def params_of(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Params without those that are None, and with a key where the method changes something."""
    kept = {name: value for name, value in params.items() if value is not None}
    if method in KEYED:
        kept.setdefault("idempotencyKey", uuid.uuid4().hex)
    return kept


def backoff(attempt: int) -> float:
    """Seconds before the next attempt to connect: 50 ms, doubling, 2 s at most."""
    return float(min(2.0, 0.05 * 2 ** min(attempt, 10)))


class Watch:
    """How a watch goes on over reconnects: one subscription, told what came.

    It drops what it has shown already, so that a revision is told once whatever happened between.
    """

    def __init__(
        self, form: str, fields: Optional[Iterable[str]], since: Optional[Since], initial: bool
    ) -> None:
        self.form = form
        self.fields = None if fields is None else list(fields)
        self.since = since
        self._tells_snapshot = initial
        self.has_ended = False

    def params(self) -> dict[str, Any]:
        """The params of `state.subscribe`, now."""
        params: dict[str, Any] = {"form": self.form}
        if self.fields is not None:
            params["fields"] = self.fields
        if self.since is not None:
            params["since"] = {"log": self.since.log, "revision": self.since.revision}
        return params

    def subscribed(self, result: Mapping[str, Any]) -> Optional[Update]:
        """The answer to `state.subscribe`: a snapshot where the watch could not just go on."""
        if result["resumed"]:
            return None
        # Whoever was somewhere already must hear that something may lie between.
        tells = self._tells_snapshot or self.since is not None
        self.since = Since(result["log"], result["revision"])
        if not tells:
            return None
        changes = tuple(
            Change(name, Field.read(field)) for name, field in result["fields"].items())
        return Update(
            form=self.form, log=result["log"], revision=result["revision"],
            context=result["context"], changes=changes, is_snapshot=True)

    def notified(self, message: Message) -> Union[Update, None]:
        """A notification: what it tells of this form, if anything."""
        params = message.get("params", {})
        method = message.get("method")
        if params.get("form") != self.form or method not in ("state.changed", "form.changed"):
            return None
        if params.get("deleted"):
            self.has_ended = True
            return None
        revision = int(params["revision"])
        if self.since is None or revision <= self.since.revision:
            return None
        self.since = Since(self.since.log, revision)
        coalesced = params.get("coalesced")
        return Update(
            form=self.form, log=self.since.log, revision=revision,
            context=params.get("context", ""),
            changes=tuple(Change.read(change) for change in params.get("changes", ())),
            coalesced_from=None if coalesced is None else coalesced["from"],
            definition=params.get("definition"))
