"""Changes that need the approval of others. All clients of a test are of one user, whose votes do not
count."""

from __future__ import annotations

import os

from pickersync import ApprovalNeeded, Committed, Conflict, Edit, Forbidden, Proposal
from tests.support import WithDaemon

DEFINITION = {
    "form": "deploy",
    "fields": [
        {"id": "traffic", "type": "slider", "max": 100,
         "approval": {"from": ["user:nobody", f"uid:{os.getuid()}"]},
         "breakGlass": [f"uid:{os.getuid()}"]},
        {"id": "note", "type": "text"},
    ],
}


class ProposalTests(WithDaemon):
    def setUp(self) -> None:
        super().setUp()
        self.client.apply(DEFINITION)
        self.deploy = self.client.form("deploy")

    def test_life(self) -> None:
        """Refused, proposed, not approved by its proposer, withdrawn."""
        with self.assertRaises(ApprovalNeeded) as refused:
            self.deploy.set(traffic=50)
        self.assertEqual(refused.exception.data["fields"], ["traffic"])
        made = self.deploy.propose(Edit().increment("traffic", 50), message="INC-231")
        assert isinstance(made, Proposal)
        self.assertEqual((made.state, made.needs, made.fields), ("waits", 1, ("traffic",)))
        self.assertEqual(made.changes[0]["value"], 50)
        self.assertEqual([one.id for one in self.deploy.proposals()], [made.id])
        with self.assertRaises(Forbidden):
            self.deploy.approve(made.id)
        with self.assertRaises(Forbidden):
            self.deploy.refuse(made.id)
        self.assertEqual(self.deploy.withdraw(made.id, message="later").state, "withdrawn")
        with self.assertRaises(Conflict):
            self.deploy.withdraw(made.id)
        ended = self.deploy.proposals(ended=True)
        self.assertEqual([one.state for one in ended], ["withdrawn"])
        self.assertEqual(self.deploy.get("traffic"), 0)

    def test_unguarded(self) -> None:
        """What nobody guards is made at once."""
        made = self.deploy.propose({"note": "x"})
        self.assertIsInstance(made, Committed)
        self.assertEqual(self.deploy.get("note"), "x")

    def test_broken_glass(self) -> None:
        """A change without approval ends proposals on its fields; a watch goes on over both."""
        with self.deploy.watch() as updates:
            made = self.deploy.propose({"traffic": 50})
            assert isinstance(made, Proposal)
            self.deploy.commit(Edit().set("traffic", 30), message="now", break_glass=True)
            update = updates.next()
            assert update is not None
            self.assertEqual(update.values, {"traffic": 30})
        ended = self.deploy.proposals(ended=True)[0]
        self.assertEqual(ended.state, "stale")
        assert ended.ended is not None
        self.assertIn("set traffic to 30", str(ended.ended["why"]))
