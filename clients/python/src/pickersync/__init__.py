"""Client of pickersyncd: forms that many terminals share.

    with pickersync.connect() as client:
        deploy = client.form("deploy")
        deploy.set(traffic=20)
        for update in deploy.watch():
            print(update.changes)

`Client` blocks; `AsyncClient` is its twin for asyncio. Both stand on the same machine without I/O
(`_protocol`), on Python's standard library alone.
"""

from ._aio import AsyncClient, AsyncForm
from ._client import Client, Form, connect
from ._edits import Edit
from ._errors import (
    Conflict,
    ConnectionFailed,
    DaemonError,
    Disabled,
    Forbidden,
    InvalidParams,
    InvalidValue,
    LimitReached,
    NotFound,
    PickerSyncError,
    ProtocolViolation,
    TimedOut,
    Unavailable,
    UnsupportedProtocol,
)
from ._types import (
    JSON,
    Applied,
    Author,
    Change,
    Committed,
    Field,
    FormSummary,
    Sibling,
    Since,
    Snapshot,
    Update,
)

__version__ = "0.1.0"

__all__ = [
    "JSON", "Applied", "AsyncClient", "AsyncForm", "Author", "Change", "Client", "Committed",
    "Conflict", "ConnectionFailed", "DaemonError", "Disabled", "Edit", "Field", "Forbidden", "Form",
    "FormSummary", "InvalidParams", "InvalidValue", "LimitReached", "NotFound", "PickerSyncError",
    "ProtocolViolation", "Sibling", "Since", "Snapshot", "TimedOut", "Unavailable",
    "UnsupportedProtocol", "Update", "connect",
]
