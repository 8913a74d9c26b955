"""Whose daemon it is: the rules of docs/PROTOCOL.md, "Where the daemon is"."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from typing import Mapping, Optional
from unittest import mock

import pickersync
from pickersync._trust import Place, places
from tests.hostile import HostileDaemon, Peer

#: A user that is neither this one nor root.
OTHER = 65534

as_root = unittest.skipUnless(os.geteuid() == 0, "only root can act as another user")


class PlaceTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="pickersync-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.user = os.geteuid()
        self.system = self.make("system/sock", is_file=True)

    def make(self, name: str, mode: int = 0o700, is_file: bool = False) -> str:
        path = Path(self.folder, name)
        if is_file:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        else:
            path.mkdir(parents=True)
        path.chmod(mode)
        return str(path)

    def paths(self, environment: Mapping[str, str], explicit: Optional[str] = None) -> list[str]:
        return [one.path for one in places(
            explicit, environment, system_socket=self.system)]

    def test_what_is_named_goes_first_and_alone(self) -> None:
        self.assertEqual(self.paths({"PICKERSYNC_SOCKET": "/b"}, "/a"), ["/a"])
        self.assertEqual(self.paths({"PICKERSYNC_SOCKET": "/b"}), ["/b"])

    def test_the_runtime_folder_goes_before_the_system_and_a_store_ends_the_search(self) -> None:
        runtime = self.make("run")
        environment = {"XDG_RUNTIME_DIR": runtime, "HOME": self.folder}
        own = runtime + "/pickersync/sock"
        self.assertEqual(self.paths(environment), [own, self.system])
        self.make(".local/state/pickersync/pickersync.db", is_file=True)
        self.assertEqual(self.paths(environment), [own])
        environment["XDG_STATE_HOME"] = self.make("state")
        self.assertEqual(self.paths(environment), [own, self.system])
        self.make("state/pickersync/pickersync.db", is_file=True)
        self.assertEqual(self.paths(environment), [own])

    def test_a_runtime_folder_that_is_not_there_yet_is_usable(self) -> None:
        runtime = self.folder + "/later"
        self.assertEqual(self.paths({"XDG_RUNTIME_DIR": runtime})[0], runtime + "/pickersync/sock")

    def test_a_runtime_folder_that_is_not_usable_is_passed_over(self) -> None:
        link = self.folder + "/link"
        os.symlink(self.make("target"), link)
        standard = f"/run/user/{self.user}"
        expected = ([standard + "/pickersync/sock"] if os.path.isdir(standard) else []) + [
            self.system]
        for runtime in ("relative", link, self.make("open", 0o777) + "/below", self.system):
            with self.subTest(runtime=runtime):
                self.assertEqual(self.paths({"XDG_RUNTIME_DIR": runtime}), expected)

    def test_tmp_goes_last(self) -> None:
        with mock.patch("pickersync._trust.os.path.isdir", lambda path: False):
            self.assertEqual(self.paths({}), [self.system])
            os.unlink(self.system)
            self.assertEqual(self.paths({}), [f"/tmp/pickersync-{self.user}/sock"])

    def refusal(self, folder: str) -> str:
        with self.assertRaises(pickersync.UntrustedDaemon) as refused:
            Place(folder + "/sock", True, self.user).check_folder()
        return str(refused.exception)

    def test_a_folder_of_the_users_own_is_trusted(self) -> None:
        Place(self.make("good") + "/sock", True, self.user).check_folder()
        Place(self.folder + "/missing/sock", True, self.user).check_folder()

    def test_a_folder_that_others_can_write_is_refused(self) -> None:
        for mode in (0o770, 0o707, 0o1777):
            with self.subTest(mode=oct(mode)):
                self.assertIn("can be written by others",
                              self.refusal(self.make(f"mode{mode}", mode)))
        self.assertIn("can be written by others",
                      self.refusal(self.make("wide", 0o777) + "/inner"))

    def test_a_link_is_refused(self) -> None:
        os.symlink(self.make("real"), self.folder + "/link")
        self.assertIn("symbolic link", self.refusal(self.folder + "/link"))

    def test_a_link_of_ones_own_on_the_way_is_followed(self) -> None:
        os.symlink(self.make("real/inner").rsplit("/", 1)[0], self.folder + "/way")
        Place(self.folder + "/way/inner/sock", True, self.user).check_folder()
        os.symlink(self.folder + "/loop", self.folder + "/loop")
        self.assertIn("too many", self.refusal(self.folder + "/loop/inner"))
        os.symlink(self.make("open", 0o777), self.folder + "/toopen")
        os.mkdir(self.folder + "/open/inner", 0o700)
        self.assertIn("can be written", self.refusal(self.folder + "/toopen/inner"))

    @as_root
    def test_root_has_no_exemption(self) -> None:
        theirs = self.make("theirs")
        os.mkdir(theirs + "/pickersync", 0o700)
        os.chown(theirs, OTHER, OTHER)
        self.assertIn(f"uid {OTHER}", self.refusal(theirs))
        self.assertIn(f"uid {OTHER}", self.refusal(theirs + "/pickersync"))
        self.assertNotIn(theirs + "/pickersync/sock",
                         self.paths({"XDG_RUNTIME_DIR": theirs}))
        os.symlink(self.make("mine"), self.folder + "/planted")
        os.chown(self.folder + "/planted", OTHER, OTHER, follow_symlinks=False)
        os.mkdir(self.folder + "/mine/inner")
        self.assertIn("symbolic link of", self.refusal(self.folder + "/planted/inner"))

    @as_root
    def test_the_group_of_its_owner_counts_as_the_owner(self) -> None:
        folder = self.make("private/inner").rsplit("/", 1)[0]
        os.chmod(folder, 0o770)
        Place(folder + "/inner/sock", True, self.user).check_folder()
        os.chown(folder, self.user, OTHER)
        self.assertIn("can be written", self.refusal(folder + "/inner"))


class PeerTests(unittest.TestCase):
    def test_a_daemon_of_this_user_is_trusted(self) -> None:
        def behaviour(peer: Peer) -> None:
            peer.hear_hello()
            peer.answer(peer.request(), {"forms": []})

        daemon = HostileDaemon(behaviour)
        self.addCleanup(daemon.close)
        with pickersync.connect(daemon.path) as client:
            self.assertEqual(client.forms(), [])

    @as_root
    def test_a_daemon_of_somebody_else_gets_no_byte(self) -> None:
        with tempfile.TemporaryDirectory(prefix="pickersync-") as folder:
            os.chmod(folder, 0o755)
            path = self.listener(folder)
            with self.assertRaises(pickersync.UntrustedDaemon) as refused:
                pickersync.connect(path, timeout=30)
            self.assertIn(f"(uid {OTHER})", str(refused.exception))
            self.assertEqual(self.heard(), b"")

    @as_root
    def test_the_owner_of_a_safe_folder_may_listen_but_not_below_tmp(self) -> None:
        with tempfile.TemporaryDirectory(prefix="pickersync-", dir="/var/lib") as folder:
            os.chmod(folder, 0o755)
            os.chown(folder, OTHER, OTHER)
            self.reach(self.listener(folder), True)
            self.reach(self.listener(folder, "own"), False, is_own=True)
        with tempfile.TemporaryDirectory(prefix="pickersync-", dir="/tmp") as folder:
            os.chown(folder, OTHER, OTHER)
            self.reach(self.listener(folder), False)

    @as_root
    def test_root_may_listen_for_anybody(self) -> None:
        daemon = HostileDaemon(Peer.wait)
        self.addCleanup(daemon.close)
        self.reach(daemon.path, True, user=OTHER)
        self.reach(daemon.path, False, user=OTHER, is_own=True)

    def reach(
        self, path: str, expected: bool, *, is_own: bool = False, user: int = 0
    ) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stream:
            stream.connect(path)
            try:
                Place(path, is_own, user).check_peer(stream)
                is_trusted = True
            except pickersync.UntrustedDaemon:
                is_trusted = False
            self.assertEqual(is_trusted, expected)

    def listener(self, folder: str, name: str = "sock") -> str:
        """A socket on which another user listens; it keeps the bytes of one connection."""
        os.chown(folder, OTHER, OTHER)
        path = os.path.join(folder, name)
        program = textwrap.dedent(f"""
            import os, socket, sys
            os.setgid({OTHER}); os.setuid({OTHER})
            listener = socket.socket(socket.AF_UNIX)
            listener.bind({path!r}); listener.listen(8)
            print("ready", flush=True)
            stream, _ = listener.accept()
            sys.stdout.write(stream.makefile("rb").read().hex())
        """)
        self.process = subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE)
        self.addCleanup(self.end, self.process)
        assert self.process.stdout is not None
        self.assertEqual(self.process.stdout.readline(), b"ready\n")
        return path

    def heard(self) -> bytes:
        assert self.process.stdout is not None
        return bytes.fromhex(self.process.stdout.read().decode())

    @staticmethod
    def end(process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


if __name__ == "__main__":
    unittest.main()
