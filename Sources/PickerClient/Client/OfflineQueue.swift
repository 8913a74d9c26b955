// Edits made while no daemon is there (CAUSALITY.md, Offline).
//
// The queue collapses as it grows: a register keeps the last value with the *first* token, since
// that token says what the person had seen when they took the control into their hand; increments
// sum to one; sets keep net additions and observed removals. Edits that share a field become one
// transaction, others stay apart, so that one that is refused takes no stranger with it. What holds
// always: playing the queue over a form shows what playing each edit would have shown, bounds and
// other people's edits aside.

public import SyncCore

/// The edits of one form that wait for a daemon.
public struct OfflineQueue: Sendable {
    /// Edits that go as one transaction, and everybody who is owed its answer.
    public struct Transaction: Sendable {
        public var form: String
        public var changes: [Change]
        public var tickets: [Ticket]
        /// The edits as they were made, so that one of them can be withdrawn.
        var edits: [(edit: StateSet, ticket: Ticket)] = []
    }

    /// In the order in which the first edit of each was made.
    public private(set) var transactions: [Transaction] = []

    /// An empty queue.
    public init() {}

    /// Whether nothing waits.
    public var isEmpty: Bool { transactions.isEmpty }

    /// Takes an edit. A change without a context of its own has the request's.
    public mutating func append(_ edit: StateSet, ticket: Ticket) {
        var merged = Transaction(form: edit.form, changes: [], tickets: [])
        var rest: [Transaction] = []
        var place: Int?
        for transaction in transactions {
            let sharesField =
                transaction.form.isSameBytes(as: edit.form)
                && transaction.changes.contains { old in
                    edit.changes.contains { $0.field.isSameBytes(as: old.field) }
                }
            if sharesField {
                if place == nil { place = rest.count }
                merged.changes += transaction.changes
                merged.tickets += transaction.tickets
                merged.edits += transaction.edits
            } else {
                rest.append(transaction)
            }
        }
        for change in edit.changes {
            var change = change
            change.context = change.context ?? edit.context
            Self.collapse(change, into: &merged.changes)
        }
        merged.tickets.append(ticket)
        merged.edits.append((edit, ticket))
        rest.insert(merged, at: place ?? rest.count)
        transactions = rest
    }

    /// Takes an edit out as if it had never been made.
    ///
    /// - Returns: whether it was there.
    public mutating func withdraw(_ ticket: Ticket) -> Bool {
        let place = transactions.firstIndex { $0.tickets.contains(ticket) }
        guard let place else { return false }
        let merged = transactions.remove(at: place)
        var rest = OfflineQueue()
        for (edit, owner) in merged.edits where owner != ticket {
            rest.append(edit, ticket: owner)
        }
        transactions.insert(contentsOf: rest.transactions, at: place)
        return true
    }

    /// Hands everything out and is empty.
    public mutating func drain() -> [Transaction] {
        defer { transactions = [] }
        return transactions
    }

    /// Adds a change behind those of a transaction, or folds it into the last one of its field.
    static func collapse(_ change: Change, into changes: inout [Change]) {
        let last = changes.lastIndex { $0.field.isSameBytes(as: change.field) }
        guard let last else {
            changes.append(change)
            return
        }
        switch fold(changes[last].action, change.action) {
        case .apart: changes.append(change)
        case .nothing: changes.remove(at: last)
        case .one(let action):
            changes[last].action = action
            // What came before a register's new value no longer matters, but its token does.
            switch action {
            case .value(.object), .increment, .toggle, .move, .press, .add, .remove: return
            case .value, .reset: break
            }
            let first = changes.firstIndex { $0.field.isSameBytes(as: change.field) } ?? last
            changes[last].context = changes[first].context
            changes = changes.enumerated().filter { index, old in
                index == last || !old.field.isSameBytes(as: change.field)
            }.map(\.element)
        }
    }

    private enum Folded {
        case one(Change.Action)
        case nothing
        case apart
    }

    private static func fold(_ first: Change.Action, _ second: Change.Action) -> Folded {
        switch (first, second) {
        case (.press, _), (_, .press): return .apart
        case (.value(.object(let old)), .value(.object(let new))):
            // Wheels: an edit names some components, the others keep what they were given.
            var both = old
            for (name, value) in new.members { both[name] = value }
            return .one(.value(.object(both)))
        case (_, .value), (_, .reset): return .one(second)
        case (.increment(let old), .increment(let new)):
            guard let sum = old.adding(new) else { return .apart }
            return sum == .zero ? .nothing : .one(.increment(sum))
        case (.toggle, .toggle): return .nothing
        case (.value(.bool(let old)), .toggle): return .one(.value(.bool(!old)))
        case (.value(.array(let old)), .add(let new)):
            return .one(.value(.array(old + new.filter { !old.contains($0) })))
        case (.value(.array(let old)), .remove(let gone)):
            return .one(.value(.array(old.filter { !gone.contains($0) })))
        case (.add(let old), .add(let new)):
            return .one(.add(old + new.filter { !old.contains($0) }))
        case (.remove(let old), .remove(let new)):
            return .one(.remove(old + new.filter { !old.contains($0) }))
        case (.add(let old), .remove(let gone)):
            // An addition that was never sent needs no removal; one that was seen before does.
            let left = old.filter { !gone.contains($0) }
            return left.isEmpty ? .one(.remove(gone)) : .apart
        case (.remove(let gone), .add(let new)):
            // Adding anew makes a new dot, and add wins over what was to be removed.
            let left = gone.filter { !new.contains($0) }
            return left.isEmpty ? .one(.add(new)) : .apart
        default: return .apart
        }
    }
}

/// Names one request of this process to whoever asked.
public struct Ticket: Hashable, Sendable {
    /// Grows by one with each request.
    public let number: Int64

    init(_ number: Int64) {
        self.number = number
    }
}
