"""What a service remembers of a form is bounded, whatever the daemon tells."""

from __future__ import annotations

import unittest
from typing import Any

import pickersync
from pickersync import Client
from pickersync._handlers import PRESSES_MAX
from pickersync._results import FIELDS_MAX, follow
from tests.hostile import Behaviour, HostileDaemon, Peer, changed, subscribe

#: Seconds of the deadlines that do not pass, however busy the machine is.
PATIENT = 600.0


class BoundTests(unittest.TestCase):
    def opened(self, behaviour: Behaviour) -> Client:
        daemon = HostileDaemon(behaviour)
        self.addCleanup(daemon.close)
        client = Client(daemon.path, timeout=PATIENT)
        self.addCleanup(client.close)
        return client

    def test_presses_that_nobody_made_do_not_keep_run_from_its_end(self) -> None:
        def behaviour(peer: Peer) -> None:
            peer.hear_hello()
            subscribe(peer)
            for revision, presses in ((2, 1), (3, 1 << 62)):
                peer.send(changed(revision, {"b": {"presses": presses}}))
            peer.wait()

        form = self.opened(behaviour).form("f")
        numbers = list[int]()

        @form.on_press("b")
        def pressed(press: pickersync.Press) -> None:
            numbers.append(press.number)
            if len(numbers) == 3:
                form.stop()

        form.run()
        first = (1 << 62) - PRESSES_MAX + 1
        self.assertEqual(numbers, [1, first, first + 1])
        # What was not handled to its end is handled again.
        self.assertEqual(form.since and form.since.revision, 2)

    def test_fields_without_end_cost_no_memory_and_end(self) -> None:
        names = [f"x{number}" for number in range(FIELDS_MAX + 1000)]

        def behaviour(peer: Peer) -> None:
            peer.hear_hello()
            subscribe(peer)
            for revision in range(2, 2 + len(names) // 1000):
                some = names[(revision - 2) * 1000:(revision - 1) * 1000]
                peer.send(changed(revision, dict.fromkeys(some, 7)))
            peer.wait()

        with self.assertRaises(pickersync.ProtocolViolation):
            self.opened(behaviour).form("f").wait_for({"never": 1})
        form = self.opened(behaviour).form("f")
        form.on_change("x1")(lambda change: None)
        with self.assertRaises(pickersync.ProtocolViolation):
            form.run()

    def test_fields_that_the_form_has_no_longer_are_forgotten(self) -> None:
        def update(revision: int, *names: str, **more: Any) -> pickersync.Update:
            return pickersync.Update("f", "l", revision, "", tuple(
                pickersync.Change(name, pickersync.Field(1, revision, True)) for name in names),
                **more)

        known: dict[str, Any] = {}
        for one in (
            update(1, "a", "b", is_snapshot=True), update(2, "c"),
            update(3, definition={"sections": [{"fields": [{"id": "b"}]}, {"fields": []}]}),
            update(4, "d"),
        ):
            follow(known, one, one.values)
        self.assertEqual(sorted(known), ["b", "d"])
        one = update(5, "e", is_snapshot=True)
        follow(known, one, one.values)
        self.assertEqual(sorted(known), ["e"])


if __name__ == "__main__":
    unittest.main()
