// component -> register, for wheels. One user can turn the month while another turns the year, and
// both changes stay.
//
// Invariants: components are sorted by the bytes of their ids and distinct, and none is empty.

/// A map from the components of a wheels control to registers.
///
/// The paper's `DotMap` (Almeida et al., JPDC 2018, figure 4): each component is joined.
public struct ComponentMap: DotStore {
    /// The register of one component.
    public typealias Register = MultiValueRegister<Written>

    /// One component's register.
    public struct Component: Hashable, Sendable {
        /// The component's id.
        public let id: String
        /// Its register, never an empty one.
        public internal(set) var register: Register

        /// Equality by bytes.
        public static func == (left: Component, right: Component) -> Bool {
            left.id.isSameBytes(as: right.id) && left.register == right.register
        }

        /// Hashes what `==` compares.
        public func hash(into hasher: inout Hasher) {
            for byte in id.utf8 { hasher.combine(byte) }
            hasher.combine(register)
        }
    }

    /// The written components, sorted by the bytes of their ids.
    public private(set) var components: [Component]

    /// A map that nobody has written to.
    public init() {
        components = []
    }

    /// A map with these components; `nil` unless they are sorted, distinct and not empty.
    public init?(sorted components: [Component]) {
        for index in components.indices.dropFirst() {
            guard components[index - 1].id.precedesInBytes(components[index].id) else { return nil }
        }
        guard components.allSatisfy({ !$0.register.isEmpty }) else { return nil }
        self.components = components
    }

    public var isEmpty: Bool { components.isEmpty }

    public var dots: [Dot] { components.flatMap(\.register.dots).sortedDistinct() }

    /// The register of the component `id`; an empty one if nobody has written to it.
    public subscript(id: String) -> Register {
        let index = position(of: id)
        return holds(id, at: index) ? components[index].register : Register()
    }

    /// Writes one component with `dot`. Components of one edit may share their dot.
    ///
    /// - Returns: the fate of the component's siblings.
    @discardableResult
    public mutating func write(
        _ written: Written, component id: String, dot: Dot, stamp: HybridTimestamp, seen: Seen,
        policy: ConflictPolicy
    ) -> SiblingFate<Register.Sibling> {
        var register = self[id]
        let fate = register.write(written, dot: dot, stamp: stamp, seen: seen, policy: policy)
        set(id, register)
        return fate
    }

    public mutating func join(_ other: Self, contexts: JoinContexts) {
        var kept: [Component] = []
        var left = components[...]
        var right = other.components[...]
        while let first = left.first ?? right.first {
            var id = first.id
            if let second = right.first, second.id.precedesInBytes(id) { id = second.id }
            var register = Register()
            var joining = Register()
            if let own = left.first, own.id.isSameBytes(as: id) {
                register = own.register
                left.removeFirst()
            }
            if let theirs = right.first, theirs.id.isSameBytes(as: id) {
                joining = theirs.register
                right.removeFirst()
            }
            register.join(joining, contexts: contexts)
            if !register.isEmpty { kept.append(Component(id: id, register: register)) }
        }
        components = kept
    }

    public func restricted(to context: CausalContext) -> Self {
        var result = self
        result.components = components.compactMap { component in
            let register = component.register.restricted(to: context)
            return register.isEmpty ? nil : Component(id: component.id, register: register)
        }
        return result
    }

    public func dropped(since before: Self) -> [Dot] {
        before.components.flatMap { self[$0.id].dropped(since: $0.register) }.sortedDistinct()
    }

    private mutating func set(_ id: String, _ register: Register) {
        let index = position(of: id)
        if holds(id, at: index) {
            components[index].register = register
        } else {
            components.insert(Component(id: id, register: register), at: index)
        }
    }

    private func holds(_ id: String, at index: Int) -> Bool {
        index < components.count && components[index].id.isSameBytes(as: id)
    }

    private func position(of id: String) -> Int {
        components.partitionIndex { !$0.id.precedesInBytes(id) }
    }
}

extension String {
    /// Whether this is before `other` in the order of UTF-8 bytes.
    func precedesInBytes(_ other: String) -> Bool { byteOrder(other) < 0 }

    /// Negative, 0 or positive, as this is before, equal to or after `other` in the order of UTF-8
    /// bytes.
    ///
    /// Every search for a field uses this function, so it compares native strings in place.
    func byteOrder(_ other: String) -> Int {
        let order = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right -> Int in
                let common = min(left.count, right.count)
                var index = 0
                // Names and tags may have a long beginning in common.
                while index &+ 8 <= common {
                    let (one, two) = (left.word(at: index), right.word(at: index))
                    if one != two { return one < two ? -1 : 1 }
                    index &+= 8
                }
                while index < common {
                    if left[index] != right[index] { return left[index] < right[index] ? -1 : 1 }
                    index &+= 1
                }
                return left.count - right.count
            }
        }
        if let order, let order { return order }
        if isSameBytes(as: other) { return 0 }
        return utf8.lexicographicallyPrecedes(other.utf8) ? -1 : 1
    }
}

extension Array where Element: Comparable {
    /// These elements, sorted and without duplicates.
    @inlinable package func sortedDistinct() -> [Element] {
        if zip(self, dropFirst()).allSatisfy({ $0 < $1 }) { return self }
        var result: [Element] = []
        result.reserveCapacity(count)
        for element in sorted() where result.last != element { result.append(element) }
        return result
    }
}
