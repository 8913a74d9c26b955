public import SyncCore

/// The outcome of a request.
public enum RequestOutcome: Sendable {
    /// The method's result, to be decoded by the type that the request expects.
    case result(JSON)
    /// The daemon refused it.
    case refused(WireError)
    /// Later offline edits cancelled it, so it was never sent.
    case superseded
    /// The connection was lost and the machine does not reconnect; it is unknown whether the
    /// request was executed.
    case lost
    /// The daemon that answers now is another replica than the one that the request was made for,
    /// so it was not sent to it. It is unknown whether the other daemon executed it; sent there
    /// again as it is, it is executed once.
    case otherReplica(Request)
}

/// The state of a request that was withdrawn.
public enum Withdrawal: Sendable {
    /// It was not sent and never will be: nothing has changed.
    case notSent
    /// It was sent, with its idempotency key if it changes something. It is unknown whether it was
    /// executed. If it is sent again with that key, it is executed once.
    case sent(Request)
}

/// The events of the machine, in order.
public enum ClientEvent: Sendable {
    /// The daemon answered `hello`.
    case greeted(HelloResult)
    /// The connection was lost; the next attempt is at this monotonic time in nanoseconds, `nil`
    /// for never.
    case disconnected(retryAt: UInt64?)
    /// Requests were answered. Several share one answer if offline edits were merged to one.
    case answered([Ticket], RequestOutcome)
    /// A subscription starts, or starts again because the log could not be resumed. `previous`
    /// contains the fields that were known before, at first none.
    case snapshot(SubscribeResult, previous: [NamedField])
    /// A subscription was resumed without a gap.
    case resumed(SubscribeResult)
    /// A subscription was refused.
    case subscriptionRefused(form: String, WireError)
    /// A revision that this subscription has not shown yet.
    case changed(StateChanged)
    /// A form's definition changed, or the form is gone.
    case formChanged(FormChanged)
    /// Who has the form open.
    case presence(PresenceChanged)
    /// A press for this connection, which handles its button.
    case assigned(ButtonAssigned)
    /// Somebody wants a run of this connection to end, or it is over.
    case cancelled(ButtonCancelled)
    /// How far a run of a subscribed form is.
    case progress(ButtonProgressed)
    /// A proposal of a subscribed form was made, was voted on, or has ended.
    case proposal(FormProposal)
    /// The list of forms, at first and after each reconnect, if `watchForms` was called.
    case forms(FormList)
    /// The daemon is about to close the connection.
    case goodbye(Goodbye)
    /// The daemon has another protocol version; reconnecting does not help.
    case incompatible(WireError)
    /// The peer violated the protocol; the connection must be closed.
    case violation(String)
}
