// The contents of one field of a form: one of the dot stores.

/// The dot store of one field; its kind depends on the control.
public enum FieldStore: Hashable, Sendable {
    /// Pickers, dates, texts, toggles.
    case register(MultiValueRegister<Written>)
    /// Wheels.
    case components(ComponentMap)
    /// Pickers with `multiple`.
    case tags(AddWinsSet)
    /// Steppers, sliders, gauges.
    case counter(EpochCounter)
    /// Buttons.
    case presses(PressCounter)
    /// Secure fields.
    case sealed(SealedRegister)

    /// The kinds of stores. The codec writes the raw value.
    public enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        case register = 1
        case components = 2
        case tags = 3
        case counter = 4
        case presses = 5
        case sealed = 6
    }

    /// An empty store of `kind`.
    public init(_ kind: Kind) {
        switch kind {
        case .register: self = .register(MultiValueRegister())
        case .components: self = .components(ComponentMap())
        case .tags: self = .tags(AddWinsSet())
        case .counter: self = .counter(EpochCounter())
        case .presses: self = .presses(PressCounter())
        case .sealed: self = .sealed(SealedRegister())
        }
    }

    /// The kind of this store.
    public var kind: Kind {
        switch self {
        case .register: .register
        case .components: .components
        case .tags: .tags
        case .counter: .counter
        case .presses: .presses
        case .sealed: .sealed
        }
    }

    /// Whether the store is empty.
    public var isEmpty: Bool {
        switch self {
        case .register(let store): store.isEmpty
        case .components(let store): store.isEmpty
        case .tags(let store): store.isEmpty
        case .counter(let store): store.isEmpty
        case .presses(let store): store.isEmpty
        case .sealed(let store): store.isEmpty
        }
    }

    /// The dots in the store, sorted and distinct.
    public var dots: [Dot] {
        switch self {
        case .register(let store): store.dots
        case .components(let store): store.dots
        case .tags(let store): store.dots
        case .counter(let store): store.dots
        case .presses(let store): store.dots
        case .sealed(let store): store.dots
        }
    }

    /// Whether a writer who had seen `seen` knows all writes that are there.
    public func isCurrent(for seen: Seen) -> Bool { dots.allSatisfy(seen.covers) }

    /// Joins another copy of the same kind into this one. A copy of another kind is ignored,
    /// because it is another store (`CausalForm` keeps both).
    public mutating func join(_ other: FieldStore, contexts: JoinContexts) {
        switch (self, other) {
        case (.register(let own), .register(let theirs)):
            self = .register(own.joined(theirs, contexts: contexts))
        case (.components(let own), .components(let theirs)):
            self = .components(own.joined(theirs, contexts: contexts))
        case (.tags(let own), .tags(let theirs)):
            self = .tags(own.joined(theirs, contexts: contexts))
        case (.counter(let own), .counter(let theirs)):
            self = .counter(own.joined(theirs, contexts: contexts))
        case (.presses(let own), .presses(let theirs)):
            self = .presses(own.joined(theirs, contexts: contexts))
        case (.sealed(let own), .sealed(let theirs)):
            self = .sealed(own.joined(theirs, contexts: contexts))
        default: break
        }
    }

    /// The dots that were removed from any place in the store since `before`, which has the same
    /// kind.
    public func dropped(since before: FieldStore) -> [Dot] {
        switch (self, before) {
        case (.register(let own), .register(let old)): own.dropped(since: old)
        case (.components(let own), .components(let old)): own.dropped(since: old)
        case (.tags(let own), .tags(let old)): own.dropped(since: old)
        case (.counter(let own), .counter(let old)): own.dropped(since: old)
        case (.presses(let own), .presses(let old)): own.dropped(since: old)
        case (.sealed(let own), .sealed(let old)): own.dropped(since: old)
        default: before.dots
        }
    }

    /// This store with only the dots in `context`.
    public func restricted(to context: CausalContext) -> FieldStore {
        switch self {
        case .register(let store): .register(store.restricted(to: context))
        case .components(let store): .components(store.restricted(to: context))
        case .tags(let store): .tags(store.restricted(to: context))
        case .counter(let store): .counter(store.restricted(to: context))
        case .presses(let store): .presses(store.restricted(to: context))
        case .sealed(let store): .sealed(store.restricted(to: context))
        }
    }
}
