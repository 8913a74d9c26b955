/// What a `ConnectionTable` finds by the number of its connection.
public protocol ConnectionKeeper: AnyObject {
    /// Names the connection; it never changes.
    var id: ConnectionID { get }
}

/// The connections that there are, by their numbers.
///
/// A hash table of references alone, as each number stands in what it names: half of the bytes of a
/// dictionary for each of ten thousand connections, and a tenth of the instructions of a look-up.
/// No peer chooses a number, they are given out one after the other, so they need no hash that
/// nobody can foresee: multiplied by the golden ratio they lie evenly (Knuth, The Art of Computer
/// Programming 3, 6.4), and what collides stands behind its place.
///
/// Always holds: the table is a power of two and at most three quarters full; between the place
/// that a member's number names and where it stands there is no empty one.
public struct ConnectionTable<Member: ConnectionKeeper> {
    private var places: [Member?]
    /// The bits of a product that are not looked at.
    private var shift: UInt64
    /// How many there are.
    public private(set) var count = 0

    /// An empty table.
    public init() {
        places = Array(repeating: nil, count: 16)
        shift = 64 - 4
    }

    /// Whether there are none.
    public var isEmpty: Bool { count == 0 }

    /// The member of that number.
    public subscript(id: ConnectionID) -> Member? { places[place(of: id)] }

    /// All, by their numbers.
    public var inOrder: [Member] { places.compactMap(\.self).sorted { $0.id < $1.id } }

    /// Takes one in, instead of another of the same number.
    public mutating func insert(_ member: Member) {
        if (count + 1) * 4 > places.count * 3 { grow() }
        let place = place(of: member.id)
        if places[place] == nil { count += 1 }
        places[place] = member
    }

    /// Takes the one of that number out.
    @discardableResult
    public mutating func remove(_ id: ConnectionID) -> Member? {
        var hole = place(of: id)
        guard let removed = places[hole] else { return nil }
        count -= 1
        // Those behind it move up, as far as none comes to stand before the place it belongs to.
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

    /// The place that a number names.
    private func home(of id: ConnectionID) -> Int {
        Int(truncatingIfNeeded: (id.number &* 0x9e37_79b9_7f4a_7c15) &>> shift)
    }

    /// Where the member of that number stands, or the empty place for it.
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
