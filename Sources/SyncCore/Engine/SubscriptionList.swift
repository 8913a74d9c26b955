/// The subscriptions of a connection in their order. There is nearly always one, which takes no
/// memory of its own, as it would in an array.
enum SubscriptionList {
    case none
    case one(Subscription)
    /// At least two.
    case several([Subscription])

    var isEmpty: Bool { if case .none = self { true } else { false } }

    /// Puts one behind the others.
    mutating func append(_ subscription: Subscription) {
        switch self {
        case .none: self = .one(subscription)
        case .one(let first): self = .several([first, subscription])
        case .several(var several):
            // Else the array would be copied.
            self = .none
            several.append(subscription)
            self = .several(several)
        }
    }

    /// Takes one out.
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
    /// Calls for each, as they were when it began. Not a `Sequence`: its iterator would cost a
    /// fan-out as much as the rest of what it does for a subscriber.
    @inline(__always)
    func forEach(_ body: (Subscription) -> Void) {
        switch self {
        case .none: break
        case .one(let only): body(only)
        case .several(let several): several.forEach(body)
        }
    }

    /// The first that fulfils a condition.
    @inline(__always)
    func first(where condition: (Subscription) -> Bool) -> Subscription? {
        switch self {
        case .none: nil
        case .one(let only): condition(only) ? only : nil
        case .several(let several): several.first(where: condition)
        }
    }

    /// Whether one fulfils a condition.
    @inline(__always)
    func contains(where condition: (Subscription) -> Bool) -> Bool {
        switch self {
        case .none: false
        case .one(let only): condition(only)
        case .several(let several): several.contains(where: condition)
        }
    }
}
