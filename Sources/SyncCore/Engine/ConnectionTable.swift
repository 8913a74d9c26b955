/// An element of a `ConnectionTable`.
public protocol ConnectionKeeper: AnyObject {
    /// The number of the connection. It never changes.
    var id: ConnectionID { get }
}

/// A hash table of connections by number.
///
/// It contains only references, because each connection knows its number, so it is smaller and
/// faster than a dictionary. Peers do not choose the numbers, which are consecutive, so the hash
/// need not be unpredictable: multiplication by the golden ratio distributes them evenly (Knuth,
/// The Art of Computer Programming 3, 6.4), and collisions use linear probing.
///
/// Invariants: the capacity is a power of two, and the table is at most three quarters full.
/// Between the home place of a member and its actual place, no place is empty.
public struct ConnectionTable<Member: ConnectionKeeper> {
    private var places: [Member?]
    /// The low bits of a product, which are not used.
    private var shift: UInt64
    /// The number of members.
    public private(set) var count = 0

    /// An empty table.
    public init() {
        places = Array(repeating: nil, count: 16)
        shift = 64 - 4
    }

    /// Whether the table is empty.
    public var isEmpty: Bool { count == 0 }

    /// The member with that number.
    public subscript(id: ConnectionID) -> Member? { places[place(of: id)] }

    /// All members by number.
    public var inOrder: [Member] { places.compactMap(\.self).sorted { $0.id < $1.id } }

    /// Inserts a member, or replaces the one with the same number.
    public mutating func insert(_ member: Member) {
        if (count + 1) * 4 > places.count * 3 { grow() }
        let place = place(of: member.id)
        if places[place] == nil { count += 1 }
        places[place] = member
    }

    /// Removes the member with that number.
    @discardableResult
    public mutating func remove(_ id: ConnectionID) -> Member? {
        var hole = place(of: id)
        guard let removed = places[hole] else { return nil }
        count -= 1
        // Later members move up, unless one would be before its home place.
        var next = hole
        while true {
            next = (next + 1) & mask
            guard let member = places[next] else { break }
            if (next &- home(of: member.id)) & mask >= (next &- hole) & mask {
                places[hole] = member
                hole = next
            }
        }
        places[hole] = nil
        return removed
    }

    private var mask: Int { places.count - 1 }

    /// The home place of a number.
    private func home(of id: ConnectionID) -> Int {
        Int(truncatingIfNeeded: (id.number &* 0x9e37_79b9_7f4a_7c15) &>> shift)
    }

    /// The place of the member with that number, or the empty place for it.
    private func place(of id: ConnectionID) -> Int {
        var place = home(of: id)
        while let member = places[place], member.id != id { place = (place + 1) & mask }
        return place
    }

    private mutating func grow() {
        let members = places
        places = Array(repeating: nil, count: members.count * 2)
        shift -= 1
        for case let member? in members { places[place(of: member.id)] = member }
    }
}
