// Edits made while the daemon is away (CAUSALITY.md, Offline).
//
// The queue merges edits. A register keeps the last value with the *first* causal context, because
// that context says what the person had seen when they started to edit. Increments are added up.
// Sets keep the net additions and the observed removals. Edits that share a field become one
// transaction; other edits stay separate, so that a refused edit does not affect the others.
// Invariant: applying the queue to a form has the same result as applying each edit, except for
// bounds and other people's edits.

public import SyncCore

/// The edits of one form that wait for the daemon.
public struct OfflineQueue: Sendable {
    /// Edits that are sent as one transaction, and the requests that its answer completes.
    public struct Transaction: Sendable {
        public var form: String
        public var changes: [Change]
        public var tickets: [Ticket]
        /// The edits as they were made, so that one of them can be withdrawn.
        var edits: [(edit: StateSet, ticket: Ticket)] = []
    }

    /// In the order of the first edit of each.
    public private(set) var transactions: [Transaction] = []

    /// An empty queue.
    public init() {}

    /// Whether nothing waits.
    public var isEmpty: Bool { transactions.isEmpty }

    /// Adds an edit. A change without its own context has that of the request.
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

    /// Removes an edit as if it had never been made.
    ///
    /// - Returns: whether it was in the queue.
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

    /// Returns all transactions and clears the queue.
    public mutating func drain() -> [Transaction] {
        defer { transactions = [] }
        return transactions
    }

    /// Appends a change to a transaction, or merges it into the last change of its field.
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
            // The previous value of a register is replaced, but its context is kept.
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
            // Wheels: an edit sets some components; the others keep their earlier edits.
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
            // An addition that was never sent needs no removal; one that the daemon has does.
            let left = old.filter { !gone.contains($0) }
            return left.isEmpty ? .one(.remove(gone)) : .apart
        case (.remove(let gone), .add(let new)):
            // A new addition creates a new dot, and add wins over the removal.
            let left = gone.filter { !new.contains($0) }
            return left.isEmpty ? .one(.add(new)) : .apart
        default: return .apart
        }
    }
}

/// Identifies one request of this process.
public struct Ticket: Hashable, Sendable {
    /// Grows by one with each request.
    public let number: Int64

    init(_ number: Int64) {
        self.number = number
    }
}
