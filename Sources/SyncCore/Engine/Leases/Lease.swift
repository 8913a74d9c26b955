// Values that end by themselves.
//
//     (none) ──a leased write──▶ in force ──a leased write over it──▶ suspended
//                                 │  ▲                                 │  │
//                                 │  └────── the upper one ends ───────┘  │
//                                 │                                       │
//                                 ├──its time comes, or `end`──▶ (none)   │
//                                 └──a write without a lease, `keep`      └──its time comes,
//                                    ──▶ (none), and the value stays         or more than 8
//                                                                            ──▶ (none)
//
// A lease names the dot of its write. A write by somebody who has seen that dot supersedes it, and
// removes the lease in the same revision. So the end of a lease never replaces another user's edit.
// Times are parameters: see `Deadlines`.

/// A value that ends by itself.
struct Lease: Hashable, Sendable {
    /// Its name, which `resume` takes: the token of its first write.
    let id: String
    let by: Author
    var end: End
    /// The write that holds its value; while it is suspended, the last one that did.
    var dot: Dot
    /// The value; `nil` is the default.
    var value: JSON?

    enum End: Hashable, Sendable {
        /// At a time of the steady clock; `shown` is the wall time that this meant (milliseconds).
        case after(steady: Int64, shown: Int64)
        /// At a wall time (milliseconds).
        case at(wall: Int64)
        /// When its holder's connection has ended (see `LeaseHolder`).
        case connection

        /// The wall time that clients see; `nil` if it ends with a connection.
        var shown: Int64? {
            switch self {
            case .after(_, let shown): shown
            case .at(let wall): wall
            case .connection: nil
            }
        }
    }
}

/// The leases of one field: the last one is in force, the others are suspended beneath it.
///
/// A class, so that it adds only one word to a cell without leases.
final class LeaseStack: Hashable, Sendable {
    /// More leases than this lose the suspended one that ends first.
    static let depthMax = 8

    /// The value beneath all leases; `nil` is the default.
    let base: JSON?
    /// The writes of that value, as undo names them.
    let over: [Dot]
    /// Never empty, the lowest first.
    let leases: [Lease]

    init(base: JSON?, over: [Dot], _ leases: [Lease]) {
        self.base = base
        self.over = over
        self.leases = leases
    }

    /// The one in force.
    var top: Lease { leases[leases.count - 1] }

    /// These leases over the same value; `nil` if there is none.
    func with(_ leases: [Lease]) -> LeaseStack? {
        leases.isEmpty ? nil : LeaseStack(base: base, over: over, leases)
    }

    /// With a lease over the others. It replaces an older one of the same user.
    func adding(_ lease: Lease) -> LeaseStack {
        var leases = leases.filter { $0.by.uid != lease.by.uid }
        if leases.count == Self.depthMax {
            let order = leases.indices.min {
                leases[$0].end.shown ?? .max < leases[$1].end.shown ?? .max
            }
            if let order { leases.remove(at: order) }
        }
        return LeaseStack(base: base, over: over, leases + [lease])
    }

    /// The value under the leases above `leases`: that of the highest of `leases`, or the base.
    func value(beneath leases: [Lease]) -> JSON? {
        if let highest = leases.last { highest.value } else { base }
    }

    static func == (left: LeaseStack, right: LeaseStack) -> Bool {
        left.base == right.base && left.over == right.over && left.leases == right.leases
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(base)
        hasher.combine(leases)
    }
}

// MARK: - What a cell holds

extension CellContent {
    var beneath: JSON? {
        if let leases { return leases.base }
        return isSet ? value : nil
    }

    /// The sets that the store holds; empty for stores that have no leases.
    private var sets: [Dot] {
        switch store {
        case .register(let register): register.dots
        case .counter(let counter): counter.bases.map(\.dot)
        default: []
        }
    }

    /// Whether the write of a lease is still in the store.
    func holds(_ lease: Lease) -> Bool { holds(lease.dot) }

    /// Whether a set is still in the store.
    func holds(_ dot: Dot) -> Bool { sets.contains(dot) }

    /// Whether nothing was written concurrently with it.
    func holdsOnly(_ lease: Lease) -> Bool { sets == [lease.dot] }

    /// Removes the write of a lease if the field also has concurrent values.
    mutating func removeConcurrent(_ lease: Lease) {
        guard holds(lease), !holdsOnly(lease) else { return }
        switch store {
        case .register(var register):
            register.remove(lease.dot)
            store = .register(register)
        case .counter(var counter):
            counter.remove(base: lease.dot)
            store = .counter(counter)
        default: break
        }
    }

    /// The increments that were made on the value of a lease; `nil` without any.
    func increments(on lease: Lease) -> DecimalNumber? {
        guard case .counter(let counter) = store,
            let base = counter.bases.first(where: { $0.dot == lease.dot }),
            let sum = counter.value(of: base, default: .zero)?.subtracting(base.value ?? .zero),
            sum != .zero
        else { return nil }
        return sum
    }

    /// The value after the end of the lease in force; `nil` is the default.
    func valueAfterLease(_ index: Int, of definition: FormDefinition) -> JSON? {
        guard let leases else { return nil }
        if holds(leases.top), !holdsOnly(leases.top) {
            var rest = self
            rest.removeConcurrent(leases.top)
            rest.resolve(index, of: definition)
            return rest.isSet ? rest.value : nil
        }
        let value = leases.value(beneath: leases.leases.dropLast())
        return definition.restored(value, increments(on: leases.top), index)
    }
}

extension FormDefinition {
    /// A value to be restored, plus the increments that were made in the meantime. A value that the
    /// control no longer accepts becomes the default (`nil`).
    func restored(_ value: JSON?, _ increments: DecimalNumber?, _ index: Int) -> JSON? {
        let control = controls[index]
        var value = value.flatMap { accepts($0, control: control) ? $0 : nil }
        if let increments {
            let start = (value ?? control.defaultValue).numberValue ?? .zero
            value = .number(counterValue(index, base: start, increments: increments))
        }
        return value
    }
}

// MARK: - Rows

extension Lease: CausalityCodable {
    func write(to writer: inout CausalityWriter) {
        writer.string(id)
        by.write(to: &writer)
        switch end {
        case .after(let steady, let shown):
            writer.byte(1)
            writer.signed(steady)
            writer.signed(shown)
        case .at(let wall):
            writer.byte(2)
            writer.signed(wall)
        case .connection: writer.byte(3)
        }
        dot.write(to: &writer)
        Written(value: value, author: by).write(to: &writer)
    }

    init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        id = try reader.string()
        by = try Author(from: &reader)
        let start = reader.offset
        switch try reader.byte() {
        case 1: end = .after(steady: try reader.signed(), shown: try reader.signed())
        case 2: end = .at(wall: try reader.signed())
        case 3: end = .connection
        default: throw .invalid(offset: start, what: "the end of a lease, 1 to 3")
        }
        dot = try Dot(from: &reader)
        value = try Written(from: &reader).value
    }
}

extension LeaseStack {
    /// Writes it as a part of a row.
    func write(to writer: inout CausalityWriter) {
        writer.optional(base) { $0.blob($1.encoded) }
        writer.list(over)
        writer.list(leases)
    }

    /// Reads what `write` wrote.
    static func read(
        from reader: inout CausalityReader
    ) throws(CausalityDecodeError) -> LeaseStack {
        let base = try reader.optional { reader throws(CausalityDecodeError) -> JSON in
            let start = reader.offset
            let bytes = try reader.blob()
            guard let json = try? JSON(stored: bytes) else {
                throw .invalid(offset: start, what: "JSON")
            }
            return json
        }
        let over: [Dot] = try reader.list()
        let start = reader.offset
        let leases: [Lease] = try reader.list()
        guard !leases.isEmpty else { throw .invalid(offset: start, what: "a lease at least") }
        return LeaseStack(base: base, over: over, leases)
    }

    /// The stack as text, for records in JSON.
    var text: String {
        // Records of earlier versions have no version in front.
        let bytes = CausalityWriter.versioned(write)
        return bytes[0] == 1
            ? Base64.encode(Array(bytes.dropFirst())) : "\(bytes[0]):\(Base64.encode(bytes))"
    }

    static func read(text: String) -> LeaseStack? {
        let parts = text.split(separator: ":", maxSplits: 1)
        guard let last = parts.last, let bytes = Base64.decode(String(last)) else { return nil }
        guard var reader = try? CausalityReader(versioned: parts.count == 2 ? bytes : [1] + bytes)
        else { return nil }
        return try? read(from: &reader)
    }
}
