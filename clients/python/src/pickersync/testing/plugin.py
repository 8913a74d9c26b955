"""Fixtures for pytest. The installed package registers them; from a source tree write
`pytest_plugins = ["pickersync.testing.plugin"]`."""

from __future__ import annotations

from typing import Iterator

import pytest

from . import Daemon


def _pickersync_daemon() -> Iterator[Daemon]:
    """A private daemon for this test alone."""
    with Daemon() as daemon:
        yield daemon


pickersync_daemon = pytest.fixture(name="pickersync_daemon")(_pickersync_daemon)
