"""A daemon that stops and comes back as the protocol says."""

from __future__ import annotations

import unittest
from typing import Any

import pickersync
from pickersync import Client
from tests.hostile import Behaviour, HostileDaemon, Peer


class GoodbyeTests(unittest.TestCase):
    def answers(self, *behaviours: Behaviour) -> tuple[Any, HostileDaemon]:
        """The result of one call to a daemon whose connections behave like this, in order."""
        remaining = list(behaviours)

        def behaviour(peer: Peer) -> None:
            peer.hear_hello()
            remaining.pop(0)(peer)

        daemon = HostileDaemon(behaviour)
        self.addCleanup(daemon.close)
        with Client(daemon.path) as client:
            return client.call("state.set", form="f", changes=[]), daemon

    @staticmethod
    def answer(peer: Peer) -> None:
        request = peer.request()
        peer.answer(request, {"key": request["params"]["idempotencyKey"]})
        peer.wait()

    def test_what_is_to_be_sent_again_is_sent_again_with_its_key(self) -> None:
        keys = list[str]()

        def refuse(peer: Peer) -> None:
            request = peer.request()
            keys.append(request["params"]["idempotencyKey"])
            peer.refuse(request, "about to stop", "unavailable", resend=True)
            peer.wait()

        def goodbye(peer: Peer) -> None:
            peer.request()
            peer.send({"method": "goodbye", "params": {"reason": "restart", "retryAfterMs": 10}})

        result, daemon = self.answers(refuse, goodbye, lambda peer: None, self.answer)
        self.assertEqual(result, {"key": keys[0]})
        self.assertEqual(daemon.connections, 4)

    def test_a_store_that_cannot_write_is_an_error_at_once(self) -> None:
        def refuse(peer: Peer) -> None:
            peer.refuse(peer.request(), "disk full", "unavailable")

        with self.assertRaises(pickersync.Unavailable):
            self.answers(refuse)

    def test_a_connection_too_many_is_the_limit(self) -> None:
        def refuse(peer: Peer) -> None:
            peer.send({"id": None, "error": {
                "code": -32005, "message": "too many", "data": {"kind": "limit"}}})
            peer.wait()

        with self.assertRaises(pickersync.LimitReached):
            self.answers(refuse)


if __name__ == "__main__":
    unittest.main()
