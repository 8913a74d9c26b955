/// What other hosts are told of a shared form, on its way from a transaction to the link.
enum OutgoingChange: Sendable {
    /// One transaction without a secret, with the bytes that the row of the outbox and the message
    /// have alike.
    case transaction(LinkTransaction)
    /// A transaction with a secret, which has other bytes in a message than here, or a whole.
    case item(SharedItem)

    init(_ delta: FormDelta) {
        self = delta.hasSecret ? .item(.delta(delta)) : .transaction(LinkTransaction(delta))
    }

    /// What others make of it.
    var item: SharedItem {
        get throws(CausalityDecodeError) {
            switch self {
            case .transaction(let transaction): .delta(try FormDelta(decoding: transaction.bytes))
            case .item(let item): item
            }
        }
    }
}

extension LinkTransaction {
    init(_ delta: FormDelta) {
        self.init(
            form: delta.form, replica: delta.replica, counters: delta.counters,
            bytes: delta.encoded)
    }
}
