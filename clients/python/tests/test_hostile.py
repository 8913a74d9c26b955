"""A daemon that lies, floods, stalls or says nothing: every call ends, memory is bounded, and no
escape sequence comes out raw."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import traceback
import unittest
from typing import Any, Callable, Optional
from unittest import mock

import pickersync
from pickersync import AsyncClient, Client
from pickersync._blocking import BlockingIO, finish
from pickersync._connection import Connection
from tests.hostile import (
    Behaviour, HostileDaemon, Peer, changed, frame, resident_bytes, subscribe,
)

#: Seconds of the deadlines that pass. A test that ends proves that the deadline ended its call.
SOON = 0.3

#: Seconds of the deadlines that do not pass, however busy the machine is.
PATIENT = 600.0

#: More than a client may need for anything that a daemon sends.
MEMORY_BYTES_MAX = 200 << 20

ESCAPE = "\x1b]0;owned\x07\x9b31m\u202e"


class HostileTests(unittest.TestCase):
    def serve(self, behaviour: Behaviour) -> str:
        daemon = HostileDaemon(behaviour)
        self.addCleanup(daemon.close)
        return daemon.path

    def failure(
        self, behaviour: Behaviour, call: Optional[Callable[[Client], Any]] = None, *,
        seconds: float = PATIENT,
    ) -> pickersync.PickerSyncError:
        """The error of one call with this deadline; without a `call`, the same of both faces."""
        path = self.serve(behaviour)
        with self.assertRaises(pickersync.PickerSyncError) as blocking:
            with Client(path, timeout=PATIENT) as client:
                client.timeout = seconds
                (call or (lambda one: one.forms()))(client)
        if call is None:
            async def run() -> None:
                async with AsyncClient(path, timeout=PATIENT) as client:
                    client.timeout = seconds
                    await client.forms()

            with self.assertRaises(pickersync.PickerSyncError) as waiting:
                asyncio.run(run())
            self.assertIs(type(waiting.exception), type(blocking.exception))
        return blocking.exception

    def test_silence_ends_at_the_deadline(self) -> None:
        def after_hello(peer: Peer) -> None:
            peer.hear_hello()
            peer.wait()

        self.assertIsInstance(self.failure(after_hello, seconds=SOON), pickersync.TimedOut)
        path = self.serve(Peer.wait)
        with self.assertRaises(pickersync.TimedOut):
            Client(path, timeout=SOON)
        with self.assertRaises(pickersync.TimedOut):
            asyncio.run(AsyncClient(path, timeout=SOON).open())

    def test_a_peer_that_never_reads_ends_at_the_deadline(self) -> None:
        stalled = threading.Event()
        self.addCleanup(stalled.set)

        def behaviour(peer: Peer) -> None:
            peer.hear_hello()
            stalled.wait()

        error = self.failure(
            behaviour, lambda client: client.form("f").set(text="x" * 900_000), seconds=SOON)
        self.assertIsInstance(error, pickersync.OutcomeUnknown)

    def test_a_full_queue_ends_at_the_deadline(self) -> None:
        # Nobody accepts: the first fill the queue, the next cannot even connect.
        busy = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(4)]
        idle = self.listener_that_does_not_accept()
        for one in busy:
            self.addCleanup(one.close)
            one.setblocking(False)
            try:
                one.connect(idle)
            except BlockingIOError:
                pass
        with self.assertRaises(pickersync.TimedOut):
            Client(idle, timeout=SOON)
        with self.assertRaises(pickersync.TimedOut):
            asyncio.run(AsyncClient(idle, timeout=SOON).open())

    def listener_that_does_not_accept(self) -> str:
        folder = tempfile.TemporaryDirectory(prefix="pickersync-")
        self.addCleanup(folder.cleanup)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.addCleanup(listener.close)
        listener.bind(os.path.join(folder.name, "sock"))
        listener.listen(0)
        return os.path.join(folder.name, "sock")

    def test_a_trickle_ends_at_the_deadline(self) -> None:
        def trickle(peer: Peer) -> None:
            peer.hear_hello()
            data = frame(b'{"jsonrpc": "2.0", "id": 2, "result": {"forms": [' + b" " * 1000)
            for one in data:
                peer.stream.sendall(bytes([one]))
                threading.Event().wait(0.01)

        self.assertIsInstance(self.failure(trickle, seconds=SOON), pickersync.TimedOut)

    def test_a_flood_costs_no_memory_and_ends(self) -> None:
        note = frame(b'{"jsonrpc": "2.0", "method": "state.changed", "params": {"form": "f"}}')

        def flood(peer: Peer) -> None:
            peer.hear_hello()
            while True:
                peer.stream.sendall(note * 1000)

        before = resident_bytes()
        self.assertIsInstance(self.failure(flood, seconds=SOON), pickersync.TimedOut)
        self.assertLess(resident_bytes() - before, MEMORY_BYTES_MAX)

    def test_a_flood_before_the_subscription_costs_no_memory_and_ends(self) -> None:
        note = frame(b'{"jsonrpc": "2.0", "method": "state.changed", "params": {"form": "f"}}')

        def flood(peer: Peer) -> None:
            peer.hear_hello()
            peer.request()
            while True:
                peer.stream.sendall(note * 1000)

        path, before = self.serve(flood), resident_bytes()
        client = self.opened(path)
        client.timeout = SOON
        with self.assertRaises(pickersync.TimedOut):
            client.form("f").watch()
        self.assertLess(resident_bytes() - before, MEMORY_BYTES_MAX)

        async def run() -> None:
            await AsyncClient(path, timeout=SOON).form("f").watch().begin()

        with self.assertRaises(pickersync.TimedOut):
            asyncio.run(run())

    @staticmethod
    def assigned(press: int) -> bytes:
        return frame(json.dumps({"jsonrpc": "2.0", "method": "button.assigned", "params": {
            "form": "f", "field": "go", "press": f"3f9a.1:{press}", "ticket": "1-2-3",
            "by": {"user": "x", "uid": 0, "client": "c", "connection": 1, "replica": "3f9a.1"},
            "at": "2026-01-01T00:00:00.000Z", "values": {"t": "x" * 2000}}}).encode())

    def test_a_flood_of_presses_while_one_is_worked_on_costs_no_memory(self) -> None:
        many = self.assigned(2) * 100

        def flood(peer: Peer) -> None:
            peer.hear_hello()
            peer.answer(peer.request(), {"form": "f", "fields": ["go"], "tickets": []})
            peer.stream.sendall(self.assigned(1))
            # The outcome is not answered.
            peer.request()
            while True:
                peer.stream.sendall(many)

        form, before = self.opened(self.serve(flood)).form("f"), resident_bytes()
        form.handles("go")(lambda run: None)
        with self.assertRaises(pickersync.ProtocolViolation):
            form.run()
        self.assertLess(resident_bytes() - before, MEMORY_BYTES_MAX)

    def test_a_handler_whose_daemon_hangs_up_at_once_waits_between_attempts(self) -> None:
        connections = 0
        enough = threading.Event()

        def hang_up(peer: Peer) -> None:
            nonlocal connections
            connections += 1
            peer.hear_hello()
            peer.answer(peer.request(), {"form": "f", "fields": ["go"], "tickets": []})
            if connections >= 6:
                enough.set()

        client = self.opened(self.serve(hang_up))
        waited: list[float] = []
        real = client._logic._core.io.sleep

        async def sleep(seconds: float, until: float) -> None:
            waited.append(seconds)
            await real(0, until)

        with mock.patch.object(client._logic._core.io, "sleep", sleep):
            form = client.form("f")
            form.handles("go")(lambda run: None)
            thread = threading.Thread(target=form.run)
            thread.start()
            self.assertTrue(enough.wait(PATIENT))
            form.stop()
            client.close()
            thread.join()
        self.assertGreaterEqual(len(waited), 3)
        self.assertGreater(waited[2], 0)

    def test_a_handler_that_is_stopped_ends_although_its_outcome_is_not_taken(self) -> None:
        def silent(peer: Peer) -> None:
            peer.hear_hello()
            peer.answer(peer.request(), {"form": "f", "fields": ["go"], "tickets": []})
            peer.stream.sendall(self.assigned(1))
            peer.wait()

        client = self.opened(self.serve(silent))
        client.timeout = SOON
        form = client.form("f")
        form.handles("go")(lambda run: form.stop())
        form.run()

    def opened(self, path: str) -> Client:
        client = Client(path, timeout=PATIENT)
        self.addCleanup(client.close)
        return client

    def test_a_watch_that_is_flooded_with_other_things_ends_at_its_deadline(self) -> None:
        other = frame(b'{"jsonrpc": "2.0", "method": "state.changed", "params": {"form": "g"}}')

        def flood(peer: Peer) -> None:
            peer.hear_hello()
            subscribe(peer)
            while True:
                peer.stream.sendall(other * 1000)

        path, before = self.serve(flood), resident_bytes()
        with self.opened(path).form("f").watch() as updates:
            with self.assertRaises(pickersync.TimedOut):
                updates.next(SOON)
        self.assertLess(resident_bytes() - before, MEMORY_BYTES_MAX)

        async def run() -> None:
            async with AsyncClient(path, timeout=PATIENT).form("f").watch() as updates:
                await updates.next(SOON)

        with self.assertRaises(pickersync.TimedOut):
            asyncio.run(run())

    def test_half_a_notification_ends_the_connection_and_not_the_watch(self) -> None:
        stalled = threading.Event()
        self.addCleanup(stalled.set)
        begun = list[int]()

        def behaviour(peer: Peer) -> None:
            peer.hear_hello()
            if subscribe(peer) == "state.subscribe":
                begun.append(1)
            if len(begun) == 1:
                peer.stream.sendall(frame(b"{" + b" " * 100)[:50])
                stalled.wait()
            peer.send(changed(2))
            stalled.wait()

        client = self.opened(self.serve(behaviour))
        with client.form("f").watch() as updates:
            client.timeout = SOON
            # It could not resume, and says so by a snapshot.
            self.assertTrue(next(updates).is_snapshot)
            self.assertEqual(next(updates).revision, 2)
        self.assertGreater(len(begun), 1)

    def test_frames_of_64_mib_are_refused_by_their_length(self) -> None:
        def huge(peer: Peer) -> None:
            peer.hear_hello()
            peer.stream.sendall(b"\x04\0\0\0")
            while True:
                peer.stream.sendall(b"[" * 65536)

        before = resident_bytes()
        error = self.failure(huge)
        self.assertIsInstance(error, pickersync.ProtocolViolation)
        self.assertIn("67108864", str(error))
        self.assertLess(resident_bytes() - before, MEMORY_BYTES_MAX)

    def test_what_is_no_answer_is_a_violation(self) -> None:
        deep = b'{"id": 2, "result": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
        levels = b'{"id": 2, "result": ' + b"[" * 40 + b"]" * 40 + b"}"
        answers = [
            deep, levels, b"[", b"[]", b"7", b"\xff", b'{"id": 99, "result": {}}',
            b'{"id": "2", "result": {}}', b'{"id": true, "result": {}}', b'{"id": 2}',
            b'{"id": 2, "error": 7}', b'{"id": 2, "result": {"forms": [7]}}',
            b'{"id": 2, "result": {"forms": [{"form": 7}]}}', b'{"id": 2, "result": null}',
            b'{"id": 2, "result": NaN}', b'{"id": 2, "result": 1e999}',
            b'{"id": 2, "result": ' + b"9" * 900_000 + b"}", b'{"id": 2, "result": "\\ud800"}',
            b'{"result": {}}', b"{}",
        ]
        for answer in answers:
            def behaviour(peer: Peer) -> None:
                peer.hear_hello()
                peer.request()
                peer.stream.sendall(frame(answer))
                peer.wait()

            with self.subTest(answer=answer[:60]):
                self.assertIsInstance(self.failure(behaviour), pickersync.ProtocolViolation)

    def test_a_late_answer_is_not_taken_for_another(self) -> None:
        def twice(peer: Peer) -> None:
            peer.hear_hello()
            peer.answer(peer.request(), {"first": 1})
            request = peer.request()
            peer.answer({"id": request["id"] - 1}, {"first": 2})
            peer.answer(request, {"second": 1})
            peer.wait()

        with self.opened(self.serve(twice)) as client:
            self.assertEqual(client.call("ping"), {"first": 1})
            with self.assertRaises(pickersync.ProtocolViolation):
                client.call("ping")

    def test_wrong_notifications_are_violations(self) -> None:
        wrong: list[Any] = [{"form": "f", "revision": "9"}, {"form": "f", "revision": 9}, [],
                       {"form": "f", "revision": 9, "context": "", "changes": [7]},
                       {"form": "f", "revision": 9, "context": "", "changes": [{"field": 7}]}]
        for params in wrong:
            def behaviour(peer: Peer) -> None:
                peer.hear_hello()
                subscribe(peer)
                peer.send({"method": "state.changed", "params": params})
                peer.wait()

            with self.subTest(params=params):
                with self.opened(self.serve(behaviour)).form("f").watch() as updates:
                    with self.assertRaises(pickersync.ProtocolViolation):
                        next(updates)

    def test_history_that_does_not_end_ends(self) -> None:
        entry = {"revision": 5, "kind": "set", "changes": []}

        def behaviour(peer: Peer) -> None:
            peer.hear_hello()
            while True:
                peer.answer(peer.request(), {"entries": [entry], "more": True})

        with self.opened(self.serve(behaviour)) as client:
            with self.assertRaises(pickersync.ProtocolViolation):
                client.form("f").history(limit=1000)

    def test_escapes_are_shown_in_every_error(self) -> None:
        def behaviour(peer: Peer) -> None:
            peer.hear_hello()
            while True:
                peer.refuse(peer.request(), "no " + ESCAPE, kinds[-1], similar=[ESCAPE],
                            expected=ESCAPE)

        kinds = ["internal"]
        path = self.serve(behaviour)
        for kind in ("notFound", "invalidValue", "conflict", "limit", "internal", ESCAPE):
            kinds.append(kind)
            with self.opened(path) as client:
                with self.assertRaises(pickersync.DaemonError) as raised:
                    client.forms()
            error = raised.exception
            texts = [str(error), repr(error), error.kind, "".join(
                traceback.format_exception(type(error), error, error.__traceback__))]
            if isinstance(error, pickersync.NotFound):
                texts += error.similar
            if isinstance(error, pickersync.InvalidValue):
                texts.append(error.expected)
            for text in texts:
                self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
            self.assertIn("\\x1b]0;owned\\x07\\x9b31m\\u202e", str(error))
            self.assertEqual(str(pickle.loads(pickle.dumps(error))), str(error))

    def test_escapes_are_shown_in_what_does_not_convert_and_in_a_goodbye(self) -> None:
        def behaviour(peer: Peer) -> None:
            peer.hear_hello()
            request = peer.request()
            field = {"value": ESCAPE, "revision": 1, "set": True}
            peer.answer(request, {
                "form": "f", "log": "l", "revision": 1, "context": "",
                "fields": {"x": field, ESCAPE: field}})
            peer.wait()

        with self.opened(self.serve(behaviour)) as client:
            with self.assertRaises(pickersync.ConversionFailed) as raised:
                client.form("f").get("*", as_=int)
            self.assertNotIn("\x1b", str(raised.exception) + repr(raised.exception))

        here, there = socket.socketpair()
        io = BlockingIO()
        connection = Connection(io, finish(io.stream(here)), "/sock", 1 << 20)
        with there, self.assertRaises(pickersync.ConnectionFailed) as gone:
            Peer(there).send({"method": "goodbye", "params": {"reason": ESCAPE}})
            finish(connection.request("ping", {}, io.now() + PATIENT))
        self.assertIn("said goodbye: \\x1b]0;owned", str(gone.exception))
        self.assertNotIn("\x1b", str(gone.exception) + repr(gone.exception))

    def test_an_uncaught_exception_writes_no_escape(self) -> None:
        def behaviour(peer: Peer) -> None:
            peer.hear_hello()
            peer.refuse(peer.request(), "no " + ESCAPE, "notFound")

        program = textwrap.dedent(f"""
            import pickersync
            pickersync.connect({self.serve(behaviour)!r}).forms()
        """)
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, check=False, timeout=60,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"NotFound: no \\x1b]0;owned", done.stderr)
        self.assertNotIn(b"\x1b", done.stderr)

    def test_a_long_error_is_cut(self) -> None:
        def behaviour(peer: Peer) -> None:
            peer.hear_hello()
            peer.refuse(peer.request(), "x" * 900_000, "internal")
            peer.wait()

        self.assertLess(len(str(self.failure(behaviour))), 3000)


if __name__ == "__main__":
    unittest.main()
