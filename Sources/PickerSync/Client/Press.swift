// The presses of a button as a sequence without gaps.

public import SyncCore
internal import Synchronization

/// One press of a ``Button``.
public struct Press: Sendable, Hashable {
    /// The number of presses up to this one.
    public let number: Int64
    /// Who pressed it; `nil` if the history is too short or the daemon refuses to show it.
    public let by: WireAuthor?
    /// When the daemon received it; `nil` if the history is too short or the daemon refuses to show
    /// it.
    public let at: Timestamp?
}

extension Binding where Value == Presses {
    /// All presses from now on, once and in order, of all users.
    ///
    /// No press is lost: those that a slow reader or a lost connection missed are read from the
    /// history.
    public var presses: ButtonPresses { ButtonPresses(self) }
}

/// The presses of a button: see ``Binding/presses``.
public struct ButtonPresses: AsyncSequence, Sendable {
    /// A press.
    public typealias Element = Press
    /// It never throws.
    public typealias Failure = Never

    private let attachment: FormAttachment?
    private let field: String?
    /// The number of presses when the sequence was created.
    private let seen: Int64

    init(_ binding: Binding<Presses>) {
        attachment = binding.field.attachment
        field = binding.id
        seen = Self.count(attachment, field) ?? 0
    }

    /// An iterator over the presses since the sequence was created.
    public func makeAsyncIterator() -> Iterator {
        Iterator(attachment, field, seen: seen)
    }

    private static func count(_ attachment: FormAttachment?, _ field: String?) -> Int64? {
        guard let attachment, let field else { return nil }
        return attachment.feed.state.withLock { $0.told[field] }
            .flatMap { Presses(field: $0) }?.count
    }

    /// One reader.
    public struct Iterator: AsyncIteratorProtocol {
        private let attachment: FormAttachment?
        private let field: String?
        private var events: FormEvents.Iterator?
        private var seen: Int64
        private var waiting = MissedPresses()
        private var isFirst = true

        init(_ attachment: FormAttachment?, _ field: String?, seen: Int64) {
            self.attachment = attachment
            self.field = field
            self.seen = seen
            events = attachment.map { FormEvents(attachment: $0).makeAsyncIterator() }
        }

        /// The next press; `nil` if the form or the client is closed.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(Never) -> Press? {
            if isFirst {
                isFirst = false
                if let count = ButtonPresses.count(attachment, field), count > seen {
                    waiting =
                        await attachment?.presses(of: field, after: seen, upTo: count)
                        ?? MissedPresses()
                    seen = count
                }
            }
            while true {
                if let press = waiting.next() { return press }
                guard let field, let event = await events?.next(isolation: actor) else {
                    return nil
                }
                guard case .changed(let change) = event,
                    let state = change.fields.first(where: { $0.field == field })?.state,
                    let count = Presses(field: state)?.count, count > seen
                else { continue }
                if count == seen + 1 {
                    seen = count
                    return Press(number: count, by: state.by, at: state.at)
                }
                waiting =
                    await attachment?.presses(of: field, after: seen, upTo: count)
                    ?? MissedPresses()
                seen = count
            }
        }
    }
}

/// Presses that a reader has not received. Each is created on demand, because the daemon decides
/// how many there are.
private struct MissedPresses {
    /// The presses of one revision.
    struct Source {
        /// The number before the first press, and the number of the last press.
        var before: Int64
        var last: Int64
        var by: WireAuthor?
        var at: Timestamp?
    }

    /// The numbers of the last press that was returned, and of the last one to return.
    var given: Int64 = 0
    var last: Int64 = 0
    /// Newest first.
    var sources: [Source] = []

    mutating func next() -> Press? {
        guard given < last else { return nil }
        given += 1
        while let oldest = sources.last, oldest.last < given { sources.removeLast() }
        guard let source = sources.last, source.before < given else {
            return Press(number: given, by: nil, at: nil)
        }
        return Press(number: given, by: source.by, at: source.at)
    }
}

extension FormAttachment {
    /// The most pages of the history to read: more than a store keeps for a form.
    private static let historyPagesMax = 1_000

    /// The presses after one number and up to another, from the history, in order.
    fileprivate func presses(
        of field: String?, after seen: Int64, upTo count: Int64
    ) async -> MissedPresses {
        var missed = MissedPresses(given: seen, last: count)
        var before: Int64?
        guard let field else { return missed }
        for _ in 0..<Self.historyPagesMax {
            let request = StateHistory(form: name, field: field, before: before, limit: 200)
            guard let page = await history(request) else { break }
            for entry in page.entries {
                // A correct history has the newest entry first.
                guard entry.revision < before ?? .max else { return missed }
                before = entry.revision
                for change in entry.changes where change.field == field {
                    guard let number = change.value.flatMap({ Presses(fieldValue: $0) })?.count
                    else { continue }
                    if number <= seen { return missed }
                    let first = change.was.flatMap { Presses(fieldValue: $0) }?.count
                    missed.sources.append(
                        MissedPresses.Source(
                            before: first ?? (number - 1), last: number, by: entry.by, at: entry.at)
                    )
                    if first ?? .max <= seen { return missed }
                }
            }
            if !page.more || page.entries.isEmpty { break }
        }
        return missed
    }

    /// A page of the history. It waits for the daemon; if the daemon refuses, it logs that and
    /// returns `nil`.
    private func history(_ request: StateHistory) async -> HistoryPage? {
        while !Task.isCancelled {
            do throws(FormError) {
                let answer = try await machine.ask(.stateHistory(request), timeout: nil)
                return try decoded(answer, HistoryPage.init(decoding:))
            } catch {
                let facts = ["form": name, "field": request.field ?? "", "reason": "\(error)"]
                guard case .timedOut = error else {
                    machine.log?(.warning, "who pressed a button is not known", facts)
                    return nil
                }
                machine.log?(.info, "the history is asked for again", facts)
            }
        }
        return nil
    }
}
