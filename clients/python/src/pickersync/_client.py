"""The client for asyncio, whose logic the blocking one shares."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Mapping, Optional

from ._asyncio import AsyncioIO
from ._core import Core, Options, Request
from ._errors import OtherReplica, OutcomeUnknown
from ._form import AsyncForm
from ._frames import FRAME_BYTES_MAX
from ._io import IO
from ._results import Applied, FormSummary, objects

#: Seconds that a call takes at most, unless the client is told otherwise.
TIMEOUT = 30.0


def checked(timeout: float) -> float:
    """A timeout that somebody gave; every call has one."""
    if not 0 < timeout < float("inf"):
        raise ValueError(f"a timeout is a finite number of seconds above 0, not {timeout!r}")
    return float(timeout)


class AsyncClient:
    """A connection to the daemon that comes back by itself. Calls may overlap.

        async with AsyncClient() as client:
            await client.form("deploy").set(traffic=20)

    Every call ends within `timeout` seconds, connecting included. What was asked when the
    connection broke is asked again: edits carry a key, so that none is made twice.

    `path` is the daemon's socket, else it is looked for where `pickerctl` looks. `name` is shown to
    others. `session` groups the connections of one user for undo. `max_frame` is the size in bytes
    of the largest message that is taken, for daemons whose `maxFrame` is configured.
    """

    def __init__(
        self, path: Optional[str] = None, *, name: str = "python", session: Optional[str] = None,
        tty: Optional[str] = None, timeout: float = TIMEOUT, max_frame: int = FRAME_BYTES_MAX,
        io: Optional[IO] = None,
    ) -> None:
        greeting = Request.make(
            "hello", dict, {"protocol": 1, "client": name, "session": session, "tty": tty})
        self._core = Core(
            io or AsyncioIO(), Options(path, greeting.params, max_frame), checked(timeout))

    @property
    def timeout(self) -> float:
        """Seconds that a call takes at most."""
        return self._core.timeout

    @timeout.setter
    def timeout(self, seconds: float) -> None:
        self._core.timeout = checked(seconds)

    async def open(self) -> None:
        """Connects now; the first call does it otherwise. A daemon that is not there is an error
        here, and not waited for."""
        await self._core.open()

    async def __aenter__(self) -> AsyncClient:
        await self.open()
        return self

    async def __aexit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connection and the watches. Calls that wait, and later ones, raise
        `ClientClosed`."""
        self._core.close()

    async def call(self, method: str, /, **params: Any) -> Any:
        """Any method of the protocol. Params that are None are left out."""
        return await self._core.call(Request.make(method, lambda result: result, params))

    async def settle(self, unknown: OutcomeUnknown) -> Any:
        """Sends an edit whose outcome is unknown again, with its key: what was made is not made
        twice. The result is that of the first call."""
        request: Request[Any] = unknown._request
        return await self._core.call(request, unknown._store)

    async def apply_kept(self, kept: OtherReplica) -> Any:
        """Makes an edit that was kept for another store in the daemon that answers now, over what
        is there."""
        request: Request[Any] = kept._request
        # What was seen in the other store says nothing here, and neither does the key.
        params = {name: value for name, value in request.params.items()
                  if name not in ("context", "idempotencyKey")}
        if "changes" in params:
            params["changes"] = [
                {name: value for name, value in change.items() if name != "context"}
                for change in params["changes"]]
        return await self._core.call(Request.make(request.method, request.read, params))

    async def forms(self) -> list[FormSummary]:
        """The forms that this user may read."""
        return await self._core.call(Request.make(
            "form.list", lambda got: [FormSummary.read(one) for one in objects(got, "forms")], {}))

    def form(self, name: str) -> AsyncForm:
        """A form by its name. Nothing is asked yet."""
        return AsyncForm(self._core, name)

    async def apply(
        self, definition: Mapping[str, Any], *, dry_run: bool = False,
        if_version: Optional[int] = None,
    ) -> Applied:
        """Creates or changes a form. `dry_run` tells what would become of its values."""
        return await self._core.call(Request.make("form.apply", Applied.read, {
            "definition": dict(definition), "dryRun": dry_run or None, "ifVersion": if_version}))

    async def status(self) -> dict[str, Any]:
        """What the daemon says about itself."""
        return await self._core.call(Request.make("server.status", dict, {}))
