// The whole causal state of a form: one context, and a dot store for each field.
//
// Invariants: fields are sorted by the bytes of their ids and then by kind, they are distinct, and
// none is empty. Every dot in a store is in the context. So two forms are equal exactly if they
// have the same contents and have seen the same writes.

/// A copy of a form, or a *delta*: a small copy with the changes of one transaction.
///
/// Joining deltas in any order, any number of times, gives the same form as joining whole copies
/// (Almeida et al., JPDC 2018, section 4).
public struct CausalForm: Hashable, Sendable {
    /// The key of a store. A control whose type changed has another store in addition to the old
    /// one, so that copies before and after the change can be joined.
    public struct Key: Hashable, Sendable {
        /// The field's id.
        public let id: String
        /// The kind of store.
        public let kind: FieldStore.Kind

        /// The key of the store of `kind` for the field `id`.
        public init(_ id: String, _ kind: FieldStore.Kind) {
            self.id = id
            self.kind = kind
        }
    }

    /// One field's store.
    public struct Field: Hashable, Sendable {
        /// The key. Its kind is the kind of the store.
        public let key: Key
        /// The store, never empty.
        public package(set) var store: FieldStore

        /// `store` for the field `id`.
        public init(id: String, store: FieldStore) {
            key = Key(id, store.kind)
            self.store = store
        }
    }

    /// The writes that this copy has seen.
    public package(set) var context: CausalContext
    /// The fields with a store that is not empty, sorted by key.
    public package(set) var fields: [Field]

    /// A form with these parts; `nil` unless the fields are sorted, distinct and not empty, and the
    /// context contains each of their dots.
    public init?(context: CausalContext, sorted fields: [Field]) {
        for index in fields.indices.dropFirst() {
            guard fields[index - 1].key < fields[index].key else { return nil }
        }
        for field in fields {
            guard !field.store.isEmpty, field.store.dots.allSatisfy(context.contains) else {
                return nil
            }
        }
        self.context = context
        self.fields = fields
    }
}

extension CausalForm.Key: Comparable {
    /// Equality; ids are compared as bytes.
    public static func == (left: Self, right: Self) -> Bool {
        left.kind == right.kind && left.id.byteOrder(right.id) == 0
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        for byte in id.utf8 { hasher.combine(byte) }
    }

    /// Order by the bytes of the ids, then by kind.
    public static func < (left: Self, right: Self) -> Bool {
        let order = left.id.byteOrder(right.id)
        return order == 0 ? left.kind.rawValue < right.kind.rawValue : order < 0
    }
}
