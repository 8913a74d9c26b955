"""What needs no daemon: frames, requests, and where a subscription is."""

from __future__ import annotations

import unittest
from typing import Any

import pickersync
from pickersync._core import Request
from pickersync._errors import daemon_error
from pickersync._frames import DEPTH_MAX, FrameDecoder, encode, parse
from pickersync._io import backoff
from pickersync._text import shown
from pickersync._watch import Subscription


class FrameTests(unittest.TestCase):
    def test_frames_are_decoded_at_every_split(self) -> None:
        data = encode({"a": "ä", "n": [1, 2.5]}) + encode({"b": None})
        for split in range(len(data) + 1):
            decoder = FrameDecoder()
            got = list(decoder.feed(data[:split])) + list(decoder.feed(data[split:]))
            self.assertEqual(got, [{"a": "ä", "n": [1, 2.5]}, {"b": None}])
            self.assertFalse(decoder.is_inside_frame)

    def test_what_is_no_daemon_is_refused(self) -> None:
        for data in (b"\0\0\0\0", b"\xff\xff\xff\xff", b"\0\0\0\1[", b"\0\0\0\2[]"):
            with self.assertRaises(pickersync.ProtocolViolation):
                list(FrameDecoder().feed(data))

    def test_nesting_is_bounded_as_the_protocol_says(self) -> None:
        def nested(levels: int) -> bytes:
            return b'{"a":' * (levels - 1) + b"{}" + b"}" * (levels - 1)

        parse(nested(DEPTH_MAX))
        parse(b'{"a": [' + b",".join([b"[]"] * 100) + b"]}")
        with self.assertRaises(pickersync.ProtocolViolation):
            parse(nested(DEPTH_MAX + 1))

    def test_text_that_is_not_unicode_is_not_sent(self) -> None:
        with self.assertRaises(pickersync.ConversionFailed):
            encode({"a": "\ud800"})

    def test_text_is_shown_on_one_line(self) -> None:
        self.assertEqual(shown("a ä 🍦\x1b[31m\n\x7f\x85\u2028"),
                         "a ä 🍦\\x1b[31m\\n\\x7f\\x85\\u2028")
        self.assertEqual(shown("xxxx", 3), "xxx…")

    def test_each_kind_has_its_class(self) -> None:
        error = daemon_error({"code": -32003, "message": "m", "data": {"kind": "conflict"}})
        self.assertIsInstance(error, pickersync.Conflict)
        self.assertEqual((error.code, error.kind), (-32003, "conflict"))
        self.assertIs(type(daemon_error({"data": 3})), pickersync.DaemonError)


class RequestTests(unittest.TestCase):
    def test_only_edits_have_keys_and_a_given_one_stays(self) -> None:
        def params(method: str, **given: Any) -> Any:
            return Request.make(method, dict, given).params

        self.assertEqual(params("state.get", form="f", fields=None), {"form": "f"})
        self.assertIn("idempotencyKey", params("state.set"))
        self.assertEqual(params("state.set", idempotencyKey="k"), {"idempotencyKey": "k"})

    def test_attempts_to_connect_back_off(self) -> None:
        self.assertEqual([backoff(0), backoff(1), backoff(99)], [0.05, 0.1, 2.0])

    def test_a_timeout_is_finite(self) -> None:
        for timeout in (0.0, -1.0, float("inf"), float("nan")):
            with self.assertRaises(ValueError):
                pickersync.AsyncClient("/x", timeout=timeout)

    def test_a_revision_is_told_once(self) -> None:
        watch = Subscription("f", (), None, False)
        watch.request().result(
            {"resumed": False, "log": "l", "revision": 4, "context": "", "fields": {}})

        def change(revision: int) -> dict[str, Any]:
            return {"method": "state.changed", "params": {
                "form": "f", "revision": revision, "context": "c", "changes": []}}

        told = [watch.notified(change(revision)) for revision in (4, 5, 5, 6)]
        self.assertEqual([one and one.revision for one in told], [None, 5, None, 6])
        self.assertIsNone(watch.notified({**change(9), "method": "presence.changed"}))
        self.assertEqual(watch.request().params["since"], {"log": "l", "revision": 6})


if __name__ == "__main__":
    unittest.main()
