// One opening of a form: properties are bound to it, and it ends when its session is closed.
//
// A form that a program opens twice is one feed with two attachments: each has its own listeners
// and readers, and the daemon's subscription ends with the last one.

internal import PickerClient
internal import SyncCore
internal import Synchronization

/// A form that the program has opened.
final class FormAttachment: Sendable {
    let feed: FormFeed
    let number: UInt64
    /// Declares the form again with the current data of its sources.
    let declare: (@Sendable () throws(FormIssues) -> JSON)?
    /// What the fields showed when this attachment ended.
    private let closed = Mutex<FormReplica?>(nil)

    init(
        _ feed: FormFeed, number: UInt64, declare: (@Sendable () throws(FormIssues) -> JSON)?
    ) {
        self.feed = feed
        self.number = number
        self.declare = declare
    }

    var machine: FormMachine { feed.machine }
    var name: String { feed.name }

    /// Why edits are not taken any more; `nil` while they are.
    var end: FormError? {
        closed.withLock { $0 != nil } ? .closed : feed.state.withLock { $0.end }
    }

    /// Ends it. Further calls do nothing.
    func close() {
        let fields = feed.state.withLock { $0.replica }
        let isFirst = closed.withLock { closed in
            defer { closed = closed ?? fields }
            return closed == nil
        }
        guard isFirst else { return }
        feed.left(number)
        machine.detach(feed)
    }

    // MARK: Reading

    /// The state of a field; after `close`, the last one.
    func read(_ id: String) -> FieldState? {
        if let last = closed.withLock({ $0 }) { return last[id] }
        return feed.read(id)
    }

    func draft(of id: String) -> JSON? {
        closed.withLock { $0 != nil } ? nil : feed.draft(of: id)
    }

    /// A reader that gets events from now on.
    func observe() -> EventQueue { feed.observe(for: number) }

    // MARK: Writing

    /// Sends an edit, or adds it to the current transaction.
    func write(_ id: String, _ action: Change.Action) {
        if let end {
            machine.dropped(id, of: name, end)
            return
        }
        feed.write(id, action)
    }

    /// Sends an edit and waits for its answer.
    func perform(
        _ id: String, _ action: Change.Action, timeout: Duration?
    ) async throws(FormError) {
        if let end { throw end }
        try await feed.perform(id, action, timeout: timeout)
    }

    /// Declares the form again with the current data of its sources.
    func redeclare() async throws(FormError) {
        if let end { throw end }
        guard let declare else { throw .notOpen }
        let json: JSON
        do throws(FormIssues) {
            json = try declare()
        } catch {
            throw .declaration(error)
        }
        _ = try await machine.ask(.formApply(FormApply(definition: json)), timeout: nil)
    }
}
