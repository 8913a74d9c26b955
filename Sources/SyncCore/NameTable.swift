/// Values by name, found by the bytes of a name without a `String`.
///
/// The entries are sorted. With a hash, the user who chooses the names could make look-ups slow.
/// Nearly every comparison is one of two integers.
struct NameTable<Value> {
    fileprivate struct Entry {
        let key: Key
        let name: [UInt8]
        var value: Value
    }

    /// The first eight bytes of a name, padded with zeros. Names are ordered by these first.
    fileprivate struct Key: Sendable {
        let prefix: UInt64
        let count: Int

        @inline(__always)
        init(_ name: UnsafeBufferPointer<UInt8>) {
            count = name.count
            guard count < 8 else {
                prefix = name.word(at: 0)
                return
            }
            var bytes: UInt64 = 0
            for index in 0..<count {
                bytes |= UInt64(name[index]) &<< UInt64(56 &- 8 &* index)
            }
            prefix = bytes
        }
    }

    private var entries: [Entry] = []

    /// An empty table.
    init() {}

    /// A table of distinct names.
    init(_ values: some Sequence<(String, Value)>) {
        entries = values.map { Self.entry($0.0, $0.1) }
        entries.sort { left, right in
            right.name.withUnsafeBufferPointer { Self.order(left, right.key, $0) < 0 }
        }
    }

    /// The value of a name; setting `nil` removes it.
    subscript(name: String) -> Value? {
        get {
            var name = name
            return name.withUTF8 { self[$0] }
        }
        set {
            var text = name
            let (place, isThere) = text.withUTF8 { find($0) }
            guard let newValue else {
                if isThere { entries.remove(at: place) }
                return
            }
            if isThere {
                entries[place].value = newValue
            } else {
                entries.insert(Self.entry(name, newValue), at: place)
            }
        }
    }

    /// The value of the name with these bytes.
    subscript(name: UnsafeBufferPointer<UInt8>) -> Value? {
        let (place, isThere) = find(name)
        return isThere ? entries[place].value : nil
    }

    /// The place of a name, or where it would be inserted.
    private func find(_ name: UnsafeBufferPointer<UInt8>) -> (place: Int, isThere: Bool) {
        let key = Key(name)
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low &+ high) &>> 1
            let order = Self.order(entries[middle], key, name)
            if order == 0 { return (middle, true) }
            if order < 0 { low = middle &+ 1 } else { high = middle }
        }
        return (low, false)
    }

    /// Less than 0 if the entry comes before the name, 0 if it is the same.
    @inline(__always)
    private static func order(
        _ entry: Entry, _ key: Key, _ name: UnsafeBufferPointer<UInt8>
    ) -> Int {
        if entry.key.prefix != key.prefix { return entry.key.prefix < key.prefix ? -1 : 1 }
        let common = min(entry.key.count, key.count)
        guard common > 8 else { return entry.key.count - key.count }
        return entry.name.withUnsafeBufferPointer { other in
            // The names of a form may have a long beginning in common.
            var index = 8
            while index < common {
                let place = min(index, common &- 8)
                let (left, right) = (other.word(at: place), name.word(at: place))
                if left != right { return left < right ? -1 : 1 }
                index &+= 8
            }
            return entry.key.count - key.count
        }
    }

    private static func entry(_ name: String, _ value: Value) -> Entry {
        let name = Array(name.utf8)
        return Entry(key: name.withUnsafeBufferPointer { Key($0) }, name: name, value: value)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The eight bytes from a place on, so that the greater number is the later text.
    @inline(__always)
    func word(at place: Int) -> UInt64 {
        UInt64(bigEndian: UnsafeRawPointer(baseAddress! + place).loadUnaligned(as: UInt64.self))
    }
}

extension NameTable: Sendable where Value: Sendable {}
extension NameTable.Entry: Sendable where Value: Sendable {}
