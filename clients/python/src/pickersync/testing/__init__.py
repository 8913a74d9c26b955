"""A private daemon for tests of services: the real `pickersyncd`, in a folder of its own.

    with Daemon() as daemon:
        client = daemon.connect()
        client.apply(DEFINITION)
        daemon.kill()       # as kill -9 does
        daemon.start()

With pytest the fixture `pickersync_daemon` is such a daemon for each test; it comes with the
installed package. `pickersyncd` is looked for in the folder `$PICKERSYNC_BIN`, else on `PATH`.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Optional, Sequence

from .. import AsyncClient, Client
from .._blocking import Closing
from .._client import TIMEOUT
from .._errors import PickerSyncError
from .._text import shown

#: Seconds that a daemon has to begin and to end.
_PATIENCE_SECONDS = 60.0


class DaemonMissing(PickerSyncError):
    """There is no `pickersyncd` where it was looked for."""


class DaemonFailed(PickerSyncError):
    """The daemon did not start; the message has the end of its log."""


def find_daemon() -> str:
    """The path of `pickersyncd`."""
    folder = os.environ.get("PICKERSYNC_BIN")
    program = shutil.which("pickersyncd", path=folder)
    if program is None:
        where = f"in {folder} (PICKERSYNC_BIN)" if folder else "on PATH; set PICKERSYNC_BIN"
        raise DaemonMissing(f"no pickersyncd {where}")
    return program


class Daemon(Closing):
    """A private daemon that can be stopped, killed, paused and started again.

    Socket, store and log are in `folder`, which is removed at the end. `options` go to the program,
    for example `("--limit", "formsMax=3")`.
    """

    def __init__(self, *, options: Sequence[str] = ()) -> None:
        self._program = find_daemon()
        self._options = list(options)
        self._clients: list[Client] = []
        #: The folder; short, as the path of a socket has 107 bytes at most.
        self.folder = Path(tempfile.mkdtemp(prefix="pickersync-"))
        #: The socket's path, for `connect` or `PICKERSYNC_SOCKET`.
        self.path = str(self.folder / "sock")
        self._process: Optional[subprocess.Popen[bytes]] = None
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    @property
    def is_running(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    @property
    def log(self) -> str:
        """Everything that the daemon has logged."""
        try:
            return (self.folder / "log").read_text("utf-8", "replace")
        except FileNotFoundError:
            return ""

    def connect(
        self, *, name: str = "test", session: Optional[str] = None, timeout: float = TIMEOUT
    ) -> Client:
        """One more client; it is closed with the daemon."""
        client = Client(self.path, name=name, session=session, timeout=timeout)
        self._clients.append(client)
        return client

    def connect_async(
        self, *, name: str = "test", session: Optional[str] = None, timeout: float = TIMEOUT
    ) -> AsyncClient:
        """One more client for asyncio, to be used with `async with`."""
        return AsyncClient(self.path, name=name, session=session, timeout=timeout)

    def start(self) -> None:
        """Starts it, on the store that it had, and waits until it is ready."""
        if self.is_running:
            return
        begin = len(self.log)
        with open(self.folder / "log", "ab") as log:
            self._process = subprocess.Popen(
                [self._program, "--socket", self.path,
                 "--state-directory", str(self.folder / "state"), *self._options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + _PATIENCE_SECONDS
        while not any(line.startswith("ready:") for line in self.log[begin:].splitlines()):
            if self._process.poll() is not None or time.monotonic() > end:
                raise DaemonFailed(f"pickersyncd did not start: {shown(self.log[begin:])}")
            time.sleep(0.005)

    def stop(self) -> None:
        """Ends it as a service manager does: clients get a goodbye."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Ends it without a word, as a crash does."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        """Stops and starts it."""
        self.stop()
        self.start()

    def pause(self) -> None:
        """Stops its time: connections stay, and nothing is answered before `resume`."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Ends a pause."""
        self._signal(signal.SIGCONT)

    def close(self) -> None:
        """Closes the clients, ends the daemon and removes the folder."""
        for client in self._clients:
            client.close()
        self._clients.clear()
        self._end(signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)

    def _end(self, number: signal.Signals) -> None:
        self._signal(number)
        self._signal(signal.SIGCONT)
        if self._process is not None:
            try:
                self._process.wait(_PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
