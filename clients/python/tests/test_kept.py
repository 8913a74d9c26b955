"""An edit that was sent to one store is never made in another, unless the program says so."""

from __future__ import annotations

import unittest
from typing import Any

import pickersync

from .hostile import HostileDaemon, Message, Peer

RESULT = {"form": "deploy", "revision": 2, "context": "a.1:1", "fields": {}}


class KeptEdits(unittest.TestCase):
    """Each connection finds the next of some stores; the first one breaks before its answer."""

    def setUp(self) -> None:
        self.stores = ["a.1", "b.1"]
        self.heard: list[tuple[str, Message]] = []
        self.daemon = HostileDaemon(self.behave)
        self.addCleanup(self.daemon.close)
        self.client = pickersync.Client(self.daemon.path, timeout=20)
        self.addCleanup(self.client.close)

    def behave(self, peer: Peer) -> None:
        replica = self.stores.pop(0) if len(self.stores) > 1 else self.stores[0]
        peer.hear_hello(replica=replica)
        while True:
            request = peer.request()
            self.heard.append((replica, request))
            if replica == "a.1":
                return
            peer.answer(request, RESULT)

    def sent_to(self, replica: str) -> list[dict[str, Any]]:
        return [one["params"] for store, one in self.heard if store == replica]

    def kept(self) -> pickersync.OtherReplica:
        edit = pickersync.Edit().set("traffic", 20, context="a.1:7")
        with self.assertRaises(pickersync.OtherReplica) as raised:
            self.client.form("deploy").commit(edit, context="a.1:7")
        return raised.exception

    def test_an_unanswered_edit_does_not_reach_another_store(self) -> None:
        kept = self.kept()
        self.assertEqual((kept.form, kept.fields), ("deploy", ["traffic"]))
        self.assertIsInstance(kept, pickersync.OutcomeUnknown)
        self.assertEqual(len(self.sent_to("a.1")), 1)
        self.assertEqual(self.sent_to("b.1"), [])
        with self.assertRaises(pickersync.OtherReplica):
            self.client.settle(kept)
        self.assertEqual(self.sent_to("b.1"), [])

    def test_it_is_settled_when_its_own_daemon_answers_again(self) -> None:
        self.stores = ["a.1", "b.1", "a.2"]
        self.client.close()
        self.client = pickersync.Client(self.daemon.path, timeout=20)
        self.addCleanup(self.client.close)
        kept = self.kept()
        self.client.close()
        with pickersync.Client(self.daemon.path, timeout=20) as later:
            self.assertEqual(later.settle(kept).revision, 2)
        self.assertEqual(self.sent_to("a.2"), self.sent_to("a.1"))
        self.assertEqual(self.sent_to("a.2")[0]["idempotencyKey"], kept.key)

    def test_the_program_may_make_it_in_the_daemon_that_answers(self) -> None:
        kept = self.kept()
        self.assertEqual(self.client.apply_kept(kept).revision, 2)
        (made,) = self.sent_to("b.1")
        self.assertEqual(made["changes"], [{"field": "traffic", "value": 20}])
        self.assertNotIn("context", made)
        self.assertNotEqual(made["idempotencyKey"], kept.key)

    def test_a_new_epoch_is_the_same_store(self) -> None:
        self.stores = ["a.1", "a.2"]
        self.client.close()
        self.client = pickersync.Client(self.daemon.path, timeout=20)
        self.addCleanup(self.client.close)
        self.assertEqual(self.client.form("deploy").set(traffic=20).revision, 2)
        self.assertEqual(self.sent_to("a.2"), self.sent_to("a.1"))


if __name__ == "__main__":
    unittest.main()
