// What a link of a test has instead of the fleet's key.

package import SyncCore

extension LinkKeys {
    /// Keys that do not encrypt, but check the key, the bytes and the associated data.
    ///
    /// - Parameter ids: the keys of the host; the first one seals.
    package static func forTests(_ ids: [UInt64] = [1]) -> LinkKeys {
        LinkKeys(
            id: ids[0], opening: ids,
            seal: { plain, place in sealed(plain, place, ids[0]) },
            open: { key, bytes, place in
                guard bytes.count >= 41 else { return nil }
                let plain = bytes[25..<bytes.count - 16].map { ~$0 }
                return sealed(plain, place, key) == bytes ? plain : nil
            },
            digest: { fnv($0) })
    }

    /// The same, but opening checks nothing: for a bug that a simulation must find.
    package static func checkingNothing() -> LinkKeys {
        var keys = forTests()
        keys.open = { _, bytes, _ in bytes.dropFirst(25).dropLast(16).map { ~$0 } }
        return keys
    }

    private static func sealed(_ plain: [UInt8], _ place: [UInt8], _ key: UInt64) -> [UInt8] {
        let mark = fnv([UInt8(truncatingIfNeeded: key)] + place + [0] + plain)
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: mark >> (8 * $0)) }
        return [1] + bytes + bytes + bytes + plain.map { ~$0 } + bytes + bytes
    }

    /// FNV-1a.
    private static func fnv(_ bytes: [UInt8]) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
