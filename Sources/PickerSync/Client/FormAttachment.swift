// One opening of a form: what properties are bound to, and what ends when a session is closed.
//
// A form that a program opens twice is one feed with two attachments: each has its own listeners
// and readers, and the daemon's subscription ends with the last one.

internal import SyncCore
internal import Synchronization

/// A program's hold on a form that it opened.
final class FormAttachment: Sendable {
    let feed: FormFeed
    let number: UInt64
    /// Declares the form again, with what its data sources say now.
    let declare: (@Sendable () throws(FormIssues) -> JSON)?
    /// What the fields showed when this attachment ended.
    private let closed = Mutex<[String: FieldState]?>(nil)

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

    /// Ends it; the second time nothing happens.
    func close() {
        let fields = feed.state.withLock { $0.fields }
        let isFirst = closed.withLock { closed in
            defer { closed = closed ?? fields }
            return closed == nil
        }
        guard isFirst else { return }
        feed.left(number)
        machine.detach(feed)
    }

    // MARK: Reading

    /// What a field shows; once this is closed, what it showed last.
    func read(_ id: String) -> FieldState? {
        if let last = closed.withLock({ $0 }) { return last[id] }
        return feed.read(id)
    }

    func draft(of id: String) -> JSON? {
        closed.withLock { $0 != nil } ? nil : feed.draft(of: id)
    }

    /// A reader who is told from now on.
    func observe() -> EventQueue { feed.observe(for: number) }

    // MARK: Writing

    /// Sends an edit, or puts it to the others of the transaction under way.
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

    /// Declares the form again, with what its data sources say now.
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
