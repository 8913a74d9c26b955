/// The subscriptions of a connection in order. Nearly always there is one, which needs no
/// allocation, unlike in an array.
enum SubscriptionList {
    case none
    case one(Subscription)
    /// At least two.
    case several([Subscription])

    var isEmpty: Bool { if case .none = self { true } else { false } }

    mutating func append(_ subscription: Subscription) {
        switch self {
        case .none: self = .one(subscription)
        case .one(let first): self = .several([first, subscription])
        case .several(var several):
            // Otherwise the array would be copied.
            self = .none
            several.append(subscription)
            self = .several(several)
        }
    }

    mutating func remove(_ subscription: Subscription) {
        switch self {
        case .none: break
        case .one(let only): if only === subscription { self = .none }
        case .several(var several):
            self = .none
            several.removeAll { $0 === subscription }
            self = several.count == 1 ? .one(several[0]) : .several(several)
        }
    }
}

extension SubscriptionList {
    /// Calls `body` for each subscription in the list at the time of the call. It is not a
    /// `Sequence`, because an iterator is too expensive in a fan-out.
    @inline(__always)
    func forEach(_ body: (Subscription) -> Void) {
        switch self {
        case .none: break
        case .one(let only): body(only)
        case .several(let several): several.forEach(body)
        }
    }

    @inline(__always)
    func first(where condition: (Subscription) -> Bool) -> Subscription? {
        switch self {
        case .none: nil
        case .one(let only): condition(only) ? only : nil
        case .several(let several): several.first(where: condition)
        }
    }

    @inline(__always)
    func contains(where condition: (Subscription) -> Bool) -> Bool {
        switch self {
        case .none: false
        case .one(let only): condition(only)
        case .several(let several): several.contains(where: condition)
        }
    }
}
