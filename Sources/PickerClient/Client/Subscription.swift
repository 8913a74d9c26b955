internal import SyncCore

/// One form that a machine follows: its position in the log and its fields.
struct Subscription: Sendable {
    /// The original request, with its `since`.
    var request: StateSubscribe
    /// The log that `revision` belongs to.
    private(set) var log: String?
    /// The newest revision of the snapshot or a notification.
    private(set) var revision: Revision?
    /// The newest causal context that was shown.
    var context: String?
    /// The fields in the order of the snapshot, followed by fields that were added later.
    private(set) var view: [NamedField] = []
    /// The index of each field in `view`; `nil` until something changes. The first dictionary of a
    /// process is expensive (the runtime scans all conformances), and a command that reads once
    /// does not need it.
    private var places: [String: Int]?
    /// About how many bytes the fields take as text, once `places` is known.
    private var bytes = 0

    init(_ request: StateSubscribe) {
        self.request = request
        log = request.since?.log
        revision = request.since?.revision
    }

    /// The request that resumes at the current position.
    var continued: StateSubscribe {
        var request = request
        if let log, let revision {
            request.since = StateSubscribe.Since(log: log, revision: revision)
        }
        return request
    }

    mutating func began(_ result: SubscribeResult) {
        log = result.log
        revision = result.revision
        context = result.context
        view = result.fields ?? []
        places = nil
    }

    /// The answer has the form's revision, and the following notifications lead up to it. So only
    /// notifications advance our revision.
    mutating func resumed(_ result: SubscribeResult) {
        log = result.log
        if revision == nil { revision = result.revision }
        context = context ?? result.context
    }

    /// Whether this revision is new; if so, it becomes the newest.
    mutating func advance(to newer: Revision) -> Bool {
        if let revision, newer <= revision { return false }
        revision = newer
        return true
    }

    /// - Returns: About how many bytes all fields take.
    mutating func take(_ changes: [FieldChange]) -> Int {
        for change in changes { take(change.field, change.state) }
        return bytes
    }

    /// - Returns: About how many bytes all fields take.
    mutating func take(_ fields: [NamedField]) -> Int {
        for field in fields { take(field.id, field.state) }
        return bytes
    }

    /// Forgets the fields that a new definition does not have.
    mutating func keep(_ ids: Set<String>) {
        guard view.contains(where: { !ids.contains($0.id) }) else { return }
        view.removeAll { !ids.contains($0.id) }
        places = nil
    }

    private mutating func take(_ id: String, _ state: FieldState) {
        var places = takePlaces()
        if let place = places[id] {
            if state.revision > view[place].state.revision {
                bytes += state.bytesEstimate - view[place].state.bytesEstimate
                view[place].state = state
            }
        } else {
            places[id] = view.count
            bytes += state.bytesEstimate
            view.append(NamedField(id: id, state: state))
        }
        self.places = places
    }

    /// The index, moved out so that adding to it does not copy it.
    private mutating func takePlaces() -> [String: Int] {
        if let known = places.take() { return known }
        var places: [String: Int] = [:]
        bytes = 0
        for (place, field) in view.enumerated() {
            places[field.id] = place
            bytes += field.state.bytesEstimate
        }
        return places
    }
}
