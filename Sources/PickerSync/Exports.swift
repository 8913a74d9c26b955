// What of the rooms below belongs to this library: importing PickerSync is enough.
//
// The types of values and of what the daemon tells, and the machine below the clients for who
// brings a loop of their own. Nothing else of those rooms is API: it may change in any version.

@_exported public import enum PickerClient.ClientEvent
@_exported public import struct PickerClient.ClientMachine
@_exported public import enum PickerClient.MonotonicClock
@_exported public import enum PickerClient.RequestOutcome
@_exported public import struct PickerClient.Ticket
@_exported public import enum PickerClient.Withdrawal
@_exported public import struct SyncCore.CivilDate
@_exported public import struct SyncCore.CivilDateTime
@_exported public import struct SyncCore.CivilTime
@_exported public import struct SyncCore.DecimalNumber
@_exported public import enum SyncCore.ErrorKind
@_exported public import struct SyncCore.FieldChange
@_exported public import struct SyncCore.FieldState
@_exported public import struct SyncCore.FormIssue
@_exported public import struct SyncCore.FormIssues
@_exported public import struct SyncCore.HelloResult
@_exported public import struct SyncCore.HistoryPage
@_exported public import enum SyncCore.JSON
@_exported public import struct SyncCore.JSONObject
@_exported public import struct SyncCore.NamedField
@_exported public import enum SyncCore.Request
@_exported public import struct SyncCore.Sibling
@_exported public import struct SyncCore.StateSubscribe
@_exported public import struct SyncCore.Timestamp
@_exported public import struct SyncCore.WireAuthor
@_exported public import struct SyncCore.WireError
@_exported public import struct SyncCore.YearMonth
