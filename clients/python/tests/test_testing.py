"""`pickersync.testing`: what authors of services test with."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from unittest import mock

import pickersync
from pickersync.testing import Daemon, DaemonFailed, DaemonMissing, find_daemon
from tests.support import DEFINITION


class DaemonTests(unittest.TestCase):
    def test_clients_share_it_and_the_store_outlives_it(self) -> None:
        with Daemon() as daemon:
            first, second = daemon.connect(name="first"), daemon.connect(name="second")
            first.apply(DEFINITION)
            first.form("deploy").set(traffic=1)
            for again in (daemon.restart, daemon.kill):
                again()
                daemon.start()
                self.assertEqual(second.form("deploy").get("traffic"), 1)
            daemon.start()
            self.assertTrue(daemon.is_running)
            self.assertIn("ready:", daemon.log)
            folder = daemon.folder
        self.assertFalse(folder.exists())
        self.assertFalse(daemon.is_running)
        with self.assertRaises(pickersync.ClientClosed):
            first.forms()

    def test_options_reach_the_daemon(self) -> None:
        with Daemon(options=["--limit", "formsMax=1"]) as daemon:
            client = daemon.connect()
            client.apply(DEFINITION)
            with self.assertRaises(pickersync.LimitReached):
                client.apply({**DEFINITION, "form": "another"})

    def test_what_is_missing_or_wrong_is_said(self) -> None:
        with mock.patch.dict(os.environ, {"PICKERSYNC_BIN": "/nonexistent"}):
            with self.assertRaisesRegex(DaemonMissing, "/nonexistent"):
                Daemon()
        with self.assertRaisesRegex(DaemonFailed, "nothing-such"):
            Daemon(options=["--nothing-such"])

    def test_the_fixture_of_pytest(self) -> None:
        with tempfile.TemporaryDirectory(prefix="pickersync-") as folder:
            Path(folder, "test_it.py").write_text(textwrap.dedent("""
                from pickersync.testing import Daemon

                pytest_plugins = ["pickersync.testing.plugin"]

                def test_it(pickersync_daemon: Daemon) -> None:
                    assert pickersync_daemon.connect().forms() == []

                def test_it_has_its_own(pickersync_daemon: Daemon) -> None:
                    pickersync_daemon.kill()
                    assert not pickersync_daemon.is_running
            """))
            done = subprocess.run(
                [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder],
                capture_output=True, text=True, check=False, cwd=folder,
                env={**os.environ,
                     "PICKERSYNC_BIN": os.path.dirname(os.path.abspath(find_daemon())),
                     "PYTHONPATH": os.pathsep.join(
                         os.path.abspath(one) for one in sys.path if one)})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("2 passed", done.stdout)


if __name__ == "__main__":
    unittest.main()
