internal import SyncCore

/// One form that a machine follows.
struct Subscription: Sendable {
    /// The original request, with its `since`.
    let request: StateSubscribe
    var replica: FormReplica

    init(_ request: StateSubscribe) {
        self.request = request
        replica = FormReplica(since: request.since)
    }

    /// The request that resumes at the current position.
    var continued: StateSubscribe {
        var request = request
        request.since = replica.position ?? request.since
        return request
    }
}
