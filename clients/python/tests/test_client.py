"""Calls of the blocking client."""

from __future__ import annotations

import os
import threading
import unittest
from typing import Callable

import pickersync
from pickersync import Edit
from tests.support import DEFINITION, WithDaemon


class BlockingTests(WithDaemon):
    def test_values_are_read_and_set_in_one_transaction(self) -> None:
        self.assertEqual(self.form.get("environment"), "staging")
        done = self.form.set(environment="production", traffic=20)
        self.assertEqual(done.revision, 2)
        self.assertEqual(done.fields["traffic"].value, 20)
        snapshot = self.form.read("t*", "environment")
        self.assertEqual(snapshot.values["environment"], "production")
        self.assertTrue(snapshot["traffic"].is_set)
        by = snapshot["traffic"].by
        assert by is not None
        self.assertEqual(by.uid, os.getuid())
        self.assertEqual(by.client, "python")

    def test_relative_edits_chain(self) -> None:
        edit = (Edit().increment("replicas", 2).toggle("maintenance").move("environment")
                .add("days", ["tue", "mon"]).press("rollback").set("token", "s"))
        done = self.form.commit(edit)
        self.assertEqual(done.fields["replicas"].value, 3)
        self.assertEqual(done.fields["days"].value, ["mon", "tue"])
        self.assertEqual(done.fields["rollback"].value, {"presses": 1})
        self.assertIs(done.fields["token"].has_secret, True)
        self.assertEqual(self.form.reveal("token"), "s")
        self.form.commit(Edit().remove("days", ["mon"]).reset("replicas"))
        self.assertEqual(self.form.get("days"), ["tue"])
        self.assertFalse(self.form.read("replicas")["replicas"].is_set)

    def test_decimals_are_sent_as_people_mean_them(self) -> None:
        self.form.set(traffic=0.1 + 0.2)
        self.assertEqual(self.form.get("traffic"), 0.3)

    def test_messages_are_in_the_history(self) -> None:
        self.form.commit(Edit().set("replicas", 3), message="INC-231")
        self.form.increment("replicas", message="one more")
        self.form.undo(message="too many")
        entries = self.form.history()
        self.assertEqual(
            [entry.message for entry in entries[:3]], ["too many", "one more", "INC-231"])
        with self.assertRaises(pickersync.InvalidParams):
            self.form.press("rollback", message="two\nlines")

    def test_an_admin_overwrites_a_message(self) -> None:
        done = self.form.commit(Edit().set("replicas", 3), message="hunter2")
        self.assertEqual(self.form.redact(done.revision, message="a password"), done.revision + 1)
        newest, older = self.form.history(limit=2)
        self.assertEqual(
            (newest.kind, newest.redacts, newest.message), ("redact", done.revision, "a password"))
        self.assertEqual((older.redacts, older.message), (None, "redacted"))

    def test_explanations_name_the_author_and_the_reason(self) -> None:
        self.form.commit(Edit().set("replicas", 3), message="INC-231")
        why = self.form.explain("replicas")
        assert why.state is not None and why.by is not None
        self.assertEqual(
            (why.state.value, why.origin, why.message, why.may_edit, why.because),
            (3, "set", "INC-231", True, ()))
        self.assertEqual(why.by.uid, os.getuid())
        before = self.form.explain("replicas", at=why.revision - 1)
        self.assertEqual((before.origin, before.may_edit), ("default", None))
        with self.assertRaises(pickersync.NotFound):
            self.form.explain("nope")

    def test_a_value_ends_by_itself(self) -> None:
        done = self.form.commit(Edit().set("replicas", 3), lease={"seconds": 3600})
        lease = done.fields["replicas"].lease
        assert lease is not None and lease.by is not None
        self.assertEqual((lease.by.uid, lease.resets), (os.getuid(), True))
        moved = self.form.lease("replicas", until="2100-01-01T00:00:00Z").fields["replicas"].lease
        assert moved is not None
        self.assertEqual((moved.id, moved.until), (lease.id, "2100-01-01T00:00:00.000Z"))
        self.assertEqual(self.form.lease("replicas", end=True).fields["replicas"].value, 1)
        with self.assertRaises(pickersync.Conflict):
            self.form.lease("replicas", keep=True)

    def test_undo_and_redo(self) -> None:
        self.form.increment("replicas", 3)
        self.assertEqual(self.form.undo().fields["replicas"].value, 1)
        self.assertEqual(self.form.redo().fields["replicas"].value, 4)

    def test_refusals_are_exceptions_with_code_kind_and_data(self) -> None:
        with self.assertRaises(pickersync.NotFound) as not_found:
            self.form.get("trafic")
        self.assertEqual(not_found.exception.similar, ["traffic"])
        self.assertEqual((not_found.exception.code, not_found.exception.kind),
                         (-32001, "notFound"))
        with self.assertRaises(pickersync.InvalidValue) as invalid:
            self.form.set(environment="mars")
        self.assertIn("staging", invalid.exception.expected)
        with self.assertRaises(pickersync.Disabled):
            self.form.set(locked=True)
        with self.assertRaises(pickersync.InvalidParams):
            self.client.apply({"form": "x", "fields": [{"id": "1"}]})
        self.assertEqual(self.form.read().revision, 1)

    def test_a_stale_compare_and_set_is_a_conflict_and_shows_what_is_there(self) -> None:
        seen = self.form.read()
        with pickersync.connect(self.daemon.path, name="other") as other:
            other.form("deploy").set(environment="production")
        with self.assertRaises(pickersync.Conflict) as conflict:
            self.form.set(environment="staging", context=seen.context, require_current=True)
        self.assertEqual(
            conflict.exception.data["fields"]["environment"]["value"], "production")

    def test_concurrent_picks_are_both_kept(self) -> None:
        seen = self.form.read().context
        with pickersync.connect(self.daemon.path, name="other") as other:
            other.form("deploy").set(environment="production", context=seen)
        self.form.set(environment="staging", context=seen)
        field = self.form.read()["environment"]
        self.assertEqual({field.value, field.conflict[0].value}, {"staging", "production"})

    def test_a_call_outlives_the_daemon_and_an_edit_is_made_once(self) -> None:
        key = "the-key"
        self.form.commit(Edit().increment("replicas"), key=key)
        self.daemon.kill()
        restart = threading.Timer(0.3, self.daemon.start)
        restart.start()
        again = self.form.commit(Edit().increment("replicas"), key=key)
        restart.join()
        self.assertEqual(again.fields["replicas"].value, 2)
        self.assertEqual(self.form.get("replicas"), 2)

    def test_without_a_daemon_it_says_where_it_looked(self) -> None:
        with self.assertRaises(pickersync.ConnectionFailed) as failed:
            pickersync.connect("/nonexistent/sock", timeout=1)
        self.assertIn("/nonexistent/sock", str(failed.exception))

    def test_forms_definition_status_and_delete(self) -> None:
        self.assertEqual([one.form for one in self.client.forms()], ["deploy"])
        self.assertEqual(self.form.definition()["form"], "deploy")
        self.assertEqual(self.client.status()["forms"]["count"], 1)
        plan = self.client.apply({**DEFINITION, "fields": DEFINITION["fields"][:1]}, dry_run=True)
        self.assertEqual(len(plan.removed), len(DEFINITION["fields"]) - 1)
        with self.form.watch(timeout=30) as updates:
            self.form.delete()
            self.assertEqual(list(updates), [])


class DeadlineTests(WithDaemon):
    def test_an_edit_that_was_sent_and_not_answered_is_settled_by_its_key(self) -> None:
        client = self.daemon.connect()
        client.timeout = 0.3
        form = client.form("deploy")
        self.daemon.pause()
        with self.assertRaises(pickersync.OutcomeUnknown) as unknown:
            form.increment("replicas")
        self.assertIn("outcome unknown", str(unknown.exception))
        self.daemon.resume()
        client.timeout = 30
        for _ in range(2):
            settled = client.settle(unknown.exception)
            self.assertIsInstance(settled, pickersync.Committed)
            self.assertEqual(settled.fields["replicas"].value, 2)
        again = self.form.commit(Edit().increment("replicas"), key=unknown.exception.key)
        self.assertEqual(again.revision, settled.revision)
        self.assertEqual(self.form.get("replicas"), 2)

    def test_a_reading_that_was_not_answered_has_no_outcome(self) -> None:
        client = self.daemon.connect()
        client.timeout = 0.2
        self.daemon.pause()
        with self.assertRaises(pickersync.TimedOut) as late:
            client.form("deploy").read()
        self.assertNotIsInstance(late.exception, pickersync.OutcomeUnknown)

    def test_a_daemon_that_stays_away_ends_every_call(self) -> None:
        client = self.daemon.connect()
        client.timeout = 0.3
        form = client.form("deploy")
        self.daemon.kill()
        with self.assertRaises(pickersync.ConnectionFailed):
            pickersync.connect(self.daemon.path)
        with self.assertRaises(pickersync.PickerSyncError) as unknown:
            form.set(traffic=1)
        self.assertIn("within 0.3 s", str(unknown.exception))
        with self.assertRaises(pickersync.ConnectionFailed):
            form.set(traffic=1)
        waits: list[Callable[[], object]] = [
            lambda: form.wait(timeout=0.1), lambda: form.watch(),
            lambda: form.wait_for({"traffic": 1}, timeout=0.1)]
        for wait in waits:
            with self.assertRaises(pickersync.TimedOut):
                wait()

    def test_a_request_that_the_daemon_cannot_take_is_not_sent(self) -> None:
        with self.assertRaises(pickersync.LimitReached) as refused:
            self.form.set(values="x" * (1 << 20))
        self.assertEqual(refused.exception.data["limit"], "maxFrame")
        self.assertEqual(self.form.read().revision, 1)

    def test_a_closed_client_says_so(self) -> None:
        self.client.close()
        with self.assertRaises(pickersync.ClientClosed):
            self.form.read()

    def test_closing_ends_a_call_of_another_thread(self) -> None:
        client = self.daemon.connect()
        self.daemon.pause()
        closing = threading.Timer(0.1, client.close)
        closing.start()
        with self.assertRaises(pickersync.ClientClosed):
            client.form("deploy").read()
        closing.join()


class ThreadTests(WithDaemon):
    @staticmethod
    def errors_of_four_threads(work: Callable[[], object]) -> list[BaseException]:
        errors = list[BaseException]()

        def keep_error() -> None:
            try:
                work()
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=keep_error) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return errors

    def test_four_threads_share_a_client(self) -> None:
        def work() -> None:
            for _ in range(10):
                self.form.increment("traffic")
                self.form.read("traffic")

        self.assertEqual(self.errors_of_four_threads(work), [])
        self.assertEqual(self.form.get("traffic"), 40)

    def test_a_thread_waits_for_its_turn_until_its_deadline(self) -> None:
        client = self.daemon.connect()
        client.timeout = 0.5
        self.daemon.pause()
        errors = self.errors_of_four_threads(client.form("deploy").read)
        self.assertEqual([type(one) for one in errors], [pickersync.TimedOut] * 4)

    def test_a_forked_process_has_a_connection_of_its_own(self) -> None:
        self.form.read()
        child = os.fork()
        if child == 0:
            try:
                self.form.increment("replicas")
                os._exit(0)
            except BaseException:
                os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(self.form.get("replicas"), 2)


if __name__ == "__main__":
    unittest.main()
