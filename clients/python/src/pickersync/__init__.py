"""Client of pickersyncd: forms that many terminals share.

    with pickersync.connect() as client:
        deploy = client.form("deploy")
        deploy.set(traffic=20)
        with deploy.watch() as updates:
            for update in updates:
                print(update.values)

`Client` blocks; `AsyncClient` is its twin for asyncio. Both run the same coroutines, on Python's
standard library alone. `pickersync.testing` starts a private daemon for tests.
"""

from ._bound import AsyncBound
from ._client import AsyncClient
from ._edits import Edit
from ._errors import (
    ApprovalNeeded,
    Busy,
    ClientClosed,
    Conflict,
    ConnectionFailed,
    ConversionFailed,
    DaemonError,
    Disabled,
    Forbidden,
    InvalidParams,
    InvalidValue,
    LimitReached,
    NotFound,
    OtherReplica,
    OutcomeUnknown,
    PickerSyncError,
    ProtocolViolation,
    TimedOut,
    Unavailable,
    UnsupportedProtocol,
    UntrustedDaemon,
)
from ._form import AsyncForm
from ._results import (
    JSON,
    Applied,
    Author,
    Change,
    Committed,
    Explanation,
    Field,
    FormSummary,
    HistoryEntry,
    Lease,
    PastChange,
    Press,
    Proposal,
    Sibling,
    Since,
    Snapshot,
    Update,
)
from ._runs import AsyncRun
from ._sync import Bound, Client, Form, Run, Watch, connect
from ._watch import AsyncWatch

__version__ = "0.1.0"

__all__ = [
    "JSON", "Applied", "ApprovalNeeded", "AsyncBound", "AsyncClient", "AsyncForm", "AsyncRun", "AsyncWatch", "Author",
    "Bound", "Busy", "Change", "Client", "ClientClosed", "Committed", "Conflict",
    "ConnectionFailed", "ConversionFailed", "DaemonError", "Disabled", "Edit", "Explanation", "Field",
    "Forbidden", "Form", "FormSummary", "HistoryEntry", "InvalidParams", "InvalidValue", "Lease", "LimitReached",
    "NotFound", "OtherReplica", "OutcomeUnknown", "PastChange", "PickerSyncError", "Press",
    "Proposal", "ProtocolViolation", "Run", "Sibling", "Since", "Snapshot", "TimedOut", "Unavailable",
    "UnsupportedProtocol", "UntrustedDaemon", "Update", "Watch", "connect",
]
