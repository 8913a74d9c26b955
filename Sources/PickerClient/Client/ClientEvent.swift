public import SyncCore

/// What became of a request.
public enum RequestOutcome: Sendable {
    /// The method's result, to be decoded by the type that the request expects.
    case result(JSON)
    /// The daemon refused it.
    case refused(WireError)
    /// Later edits took it back before the daemon was there again: there was nothing left to send.
    case superseded
    /// The connection went and the machine was told not to come back; whether it was done is
    /// unknown.
    case lost
}

/// What became of a request that nobody waits for any more.
public enum Withdrawal: Sendable {
    /// It was not sent and never will be: nothing was done.
    case notSent
    /// It was sent, with its idempotency key where it changes something: whether it was done is
    /// unknown. Sent again under that key it happens once.
    case sent(Request)
}

/// What the machine tells its owner, in the order in which it happened.
public enum ClientEvent: Sendable {
    /// The daemon greeted us.
    case greeted(HelloResult)
    /// The connection is gone; the next attempt is due at this monotonic nanosecond, `nil` for
    /// never.
    case disconnected(retryAt: UInt64?)
    /// Requests were answered: several share one answer where offline edits became one.
    case answered([Ticket], RequestOutcome)
    /// A subscription begins, or begins anew where the log had no continuation. `previous` is what
    /// was known before, empty at first.
    case snapshot(SubscribeResult, previous: [NamedField])
    /// A subscription goes on without a gap.
    case resumed(SubscribeResult)
    /// A subscription was refused.
    case subscriptionRefused(form: String, WireError)
    /// A revision that this subscription has not shown yet.
    case changed(StateChanged)
    /// A form's definition changed, or the form is gone.
    case formChanged(FormChanged)
    /// Who has the form open.
    case presence(PresenceChanged)
    /// The list of forms, at first and after each reconnect, where `watchForms` was asked for.
    case forms(FormList)
    /// The daemon is about to close.
    case goodbye(Goodbye)
    /// The daemon does not speak our protocol: there is no use in coming back.
    case incompatible(WireError)
    /// The peer sent what no daemon sends; the connection must be closed.
    case violation(String)
}
