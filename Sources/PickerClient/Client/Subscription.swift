internal import SyncCore

/// One form that a machine follows: how far it has come, and what it shows.
struct Subscription: Sendable {
    /// As asked for, its `since` included.
    var request: StateSubscribe
    /// The unbroken line of revisions that `revision` belongs to.
    private(set) var log: String?
    /// The newest revision that a notification or the snapshot showed.
    private(set) var revision: Revision?
    /// The newest token of what was shown.
    var context: String?
    /// What is shown, in the order of the snapshot, fields that came later behind.
    private(set) var view: [NamedField] = []
    /// Where each field of `view` stands; `nil` until something changes. A process that makes its
    /// first dictionary looks through all that the program declares, and a command that reads once
    /// and ends spares it.
    private var places: [String: Int]?

    init(_ request: StateSubscribe) {
        self.request = request
        log = request.since?.log
        revision = request.since?.revision
    }

    /// The request that goes on where this one has come to.
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

    /// The answer's revision is the form's, which the notifications that follow lead up to: ours
    /// moves with them alone.
    mutating func resumed(_ result: SubscribeResult) {
        log = result.log
        if revision == nil { revision = result.revision }
        context = context ?? result.context
    }

    /// Whether this revision is new here; it then is the newest.
    mutating func advance(to newer: Revision) -> Bool {
        if let revision, newer <= revision { return false }
        revision = newer
        return true
    }

    mutating func take(_ changes: [FieldChange]) {
        for change in changes { take(change.field, change.state) }
    }

    mutating func take(_ fields: [NamedField]) {
        for field in fields { take(field.id, field.state) }
    }

    private mutating func take(_ id: String, _ state: FieldState) {
        var places = takePlaces()
        if let place = places[id] {
            if state.revision > view[place].state.revision { view[place].state = state }
        } else {
            places[id] = view.count
            view.append(NamedField(id: id, state: state))
        }
        self.places = places
    }

    /// The places, taken out so that they are not copied when one is added.
    private mutating func takePlaces() -> [String: Int] {
        if let known = places.take() { return known }
        var places: [String: Int] = [:]
        for (place, field) in view.enumerated() { places[field.id] = place }
        return places
    }
}
