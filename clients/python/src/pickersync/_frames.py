"""Frames: a length of four bytes, then one JSON message.

Whatever the bytes are, decoding takes memory for one frame at most and raises nothing but
`ProtocolViolation`.
"""

from __future__ import annotations

import json
import math
import struct
from typing import Any, Dict, Iterator

from ._errors import ConversionFailed, ProtocolViolation

Message = Dict[str, Any]

#: Bytes of the largest frame that a client takes unless it is told otherwise: the daemon's own
#: `maxFrame` unless that is configured.
FRAME_BYTES_MAX = 1 << 20

#: Levels of nesting, as in docs/PROTOCOL.md.
DEPTH_MAX = 32

#: Digits and sign of the largest integer of 64 bits.
_INTEGER_CHARACTERS_MAX = 20


def encode(message: Message) -> bytes:
    """A message as a frame. `ConversionFailed` where a text is not Unicode."""
    try:
        text = json.dumps(message, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except ValueError as error:
        raise ConversionFailed(f"a value that JSON cannot hold: {error}") from None
    return struct.pack(">I", len(text)) + text


class FrameDecoder:
    """Bytes, in pieces of any size, to messages."""

    def __init__(self, frame_bytes_max: int = FRAME_BYTES_MAX) -> None:
        self._buffer = bytearray()
        self._frame_bytes_max = frame_bytes_max

    @property
    def is_inside_frame(self) -> bool:
        """Whether the last piece ended before its frame did."""
        return bool(self._buffer)

    def feed(self, data: bytes) -> Iterator[Message]:
        """The messages that are whole with `data`."""
        self._buffer += data
        begin = 0
        try:
            while len(self._buffer) - begin >= 4:
                (length,) = struct.unpack_from(">I", self._buffer, begin)
                if not 0 < length <= self._frame_bytes_max:
                    raise ProtocolViolation(
                        f"a frame of {length} bytes; this client takes 1 to "
                        f"{self._frame_bytes_max} (max_frame)")
                end = begin + 4 + length
                if len(self._buffer) < end:
                    return
                text = bytes(self._buffer[begin + 4:end])
                begin = end
                yield parse(text)
        finally:
            del self._buffer[:begin]


def parse(text: bytes) -> Message:
    """The message of a frame's text."""
    try:
        message = json.loads(
            text.decode("utf-8"), parse_int=_integer, parse_float=_number,
            parse_constant=_constant)
        if b"\\ud" in text.lower():
            json.dumps(message, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise ProtocolViolation(f"a frame nested deeper than {DEPTH_MAX} levels") from None
    except ValueError as error:
        # Of a text that is not UTF-8 the error would quote bytes; its place is enough.
        raise ProtocolViolation(f"a frame that is not JSON ({type(error).__name__})") from None
    if not isinstance(message, dict):
        raise ProtocolViolation("a frame that is not a message")
    if text.count(b"[") + text.count(b"{") > DEPTH_MAX:
        _check_depth(message)
    return message


def _integer(text: str) -> int:
    if len(text) > _INTEGER_CHARACTERS_MAX:
        raise ValueError("an integer beyond 64 bits")
    return int(text)


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number that is not finite")
    return number


def _constant(text: str) -> float:
    raise ValueError("a number that JSON does not have")


def _check_depth(message: Message) -> None:
    level: list[Any] = [message]
    for _ in range(DEPTH_MAX):
        level = [
            inner for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))]
        if not level:
            return
    raise ProtocolViolation(f"a frame nested deeper than {DEPTH_MAX} levels")
