// Secrets on the way between hosts. A store has them sealed with its host's key, which no other
// host has, and an item for others has them sealed with the fleet key.
//
// Invariants: no item has a secret in the clear, so nothing that keeps items does. What cannot be
// opened stays as it is: it joins like any secret, and reads as unset.

extension LinkKeys {
    /// The first byte of a secret for other hosts; the id of the fleet key and the sealed bytes
    /// follow. A secret of a store begins with 1.
    private static let format: UInt8 = 2
    private static let headLength = 1 + 8

    /// A secret for other hosts; `nil` if sealing fails.
    fileprivate func sealed(_ secret: [UInt8], _ place: [UInt8]) -> [UInt8]? {
        guard let bytes = seal(secret, place) else { return nil }
        let key = (0..<8).map { UInt8(truncatingIfNeeded: id >> (56 - 8 * $0)) }
        return [Self.format] + key + bytes
    }

    /// The secret in bytes of another host; `nil` if it is sealed with another key, or for another
    /// place.
    fileprivate func opened(_ bytes: [UInt8], _ place: [UInt8]) -> [UInt8]? {
        guard bytes.count > Self.headLength, bytes[0] == Self.format else { return nil }
        let key = bytes[1..<Self.headLength].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        guard opening.contains(key) else { return nil }
        return open(key, Array(bytes[Self.headLength...]), place)
    }
}

extension Environment {
    /// An item as other hosts can read it.
    func forFleet(_ item: SharedItem) -> SharedItem {
        guard let keys = fleetKeys, item.hasSecret else { return item }
        return item.replacingSecrets { bytes, place in
            open(bytes, place).flatMap { keys.sealed($0, place) }
        }
    }

    /// An item of another host as this host's store keeps it.
    func forStore(_ item: SharedItem) -> SharedItem {
        guard let keys = fleetKeys, item.hasSecret else { return item }
        return item.replacingSecrets { bytes, place in
            keys.opened(bytes, place).flatMap { seal($0, place) }
        }
    }
}

extension FormDelta {
    /// Whether it has a store of a secret.
    var hasSecret: Bool { stores.contains { $0.store.kind == .sealed } }
}

extension SharedItem {
    /// Whether it has a store of a secret.
    var hasSecret: Bool {
        switch self {
        case .delta(let delta): delta.hasSecret
        case .whole(let whole): whole.stores.contains { $0.store.kind == .sealed }
        }
    }

    /// The item with other bytes for its secrets; those for which there are none stay.
    fileprivate func replacingSecrets(
        _ bytes: (_ bytes: [UInt8], _ place: [UInt8]) -> [UInt8]?
    ) -> SharedItem {
        func replaced(_ store: FieldStore, _ id: String) -> FieldStore {
            store.replacingSecret { secret, old in
                bytes(old, Engine.place(form, id, secret.dot)) ?? old
            }
        }
        switch self {
        case .delta(var delta):
            for place in delta.stores.indices {
                let store = delta.stores[place]
                delta.stores[place].store = replaced(store.store, store.id)
            }
            return .delta(delta)
        case .whole(var whole):
            for place in whole.stores.indices {
                let store = whole.stores[place]
                whole.stores[place].store = replaced(store.store, store.id)
            }
            return .whole(whole)
        }
    }
}

extension FieldStore {
    /// The store with other bytes for its secret, if it has one.
    func replacingSecret(
        _ bytes: (_ secret: SealedRegister.Secret, _ bytes: [UInt8]) -> [UInt8]
    ) -> FieldStore {
        guard case .sealed(let register) = self, let secret = register.secret,
            let old = secret.bytes
        else { return self }
        return .sealed(
            SealedRegister(
                SealedRegister.Secret(
                    dot: secret.dot, stamp: secret.stamp, bytes: bytes(secret, old))))
    }
}
