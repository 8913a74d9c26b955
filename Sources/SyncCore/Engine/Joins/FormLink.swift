/// Which forms the daemons of several hosts share.
public struct LinkConfiguration: Sendable {
    /// The name of the fleet.
    public var fleet: String
    /// The name of this host in the fleet.
    public var host: String
    /// Globs of the names of shared forms.
    public var forms: [Glob]
    /// The user who may be the bridge.
    public var bridgeUID: UInt32
    /// Whether this host edits shared forms.
    public var mode = Mode.both
    /// Who is the same person.
    public var users = Users.apart
    /// The JetStream domains of all sites, this host's first; empty: the fleet has one stream.
    public var streams: [String] = []
    /// The most sites of a fleet.
    public static let streamsMax = 8

    /// What a host does with shared forms.
    public enum Mode: String, Sendable, CaseIterable {
        /// It sends its edits and takes those of others.
        case both
        /// It takes those of others, and makes none.
        case follow
    }

    /// Whether a name means the same person on all hosts.
    public enum Users: String, Sendable, CaseIterable {
        /// `alice` here and `alice` on another host are two people.
        case apart
        /// They are one.
        case same
    }

    /// Shares the forms whose names match.
    public init(fleet: String = "", host: String, forms: [Glob], bridgeUID: UInt32 = 0) {
        self.fleet = fleet
        self.host = host
        self.forms = forms
        self.bridgeUID = bridgeUID
    }
}

/// What a batch has of a shared form beside what any form has.
final class SharedBatch {
    /// Stores that no control shows whose rows must be written, or removed.
    var hidden: Set<CausalForm.Key> = []
    /// What other hosts are told once the batch is durable.
    var items: [OutgoingChange] = []
    /// The form as others get it once more, because it is not shared any more.
    var parting: WholeForm?
}

/// What the engine keeps of a shared form for the other hosts: the changes to send.
///
///     finish ──▶ gathering ──seal──▶ (the batch) ──committed──▶ unsent ──take──▶ (the link)
///                    └──rollBack──▶ a whole is due ◀──the batch failed
///
/// Confined to the loop.
package final class FormLink {
    /// More changes than this are not kept for a link that does not take them; a whole is sent
    /// instead.
    private static let unsentMax = 4_096

    /// The name of this host.
    let host: String
    /// What the store has of the changes that the log may not have.
    var outbox: SharedOutbox
    /// How far the other hosts were told of the people of this one, and whether there is more.
    var presenceCursor: UInt64 = 0
    var isPresenceNoted = false
    /// The changes of transactions that the gathering batch has.
    private var gathering: [OutgoingChange] = []
    /// What is durable and was not taken yet, oldest first.
    private var unsent: [OutgoingChange] = []
    /// The whole form must be sent before any more changes: if the store does not have all changes
    /// at a start, and after what was to be sent has been dropped.
    private(set) var isWholeDue = true
    /// The next batch must have the whole form, because the form in memory is ahead of the store.
    private(set) var wantsWhole = false

    /// The newest batch with changes that were made while the form was not shared, if it is not
    /// durable: others hear of them by a whole.
    private var apartThrough: UInt64?

    init(_ shared: LinkConfiguration, apartThrough: UInt64? = nil) {
        host = shared.host
        self.apartThrough = apartThrough
        outbox = SharedOutbox(fleet: shared.fleet)
    }

    /// A start: the log does not have these changes, and it has everything else.
    func resume(_ outbox: SharedOutbox, _ changes: [OutgoingChange]) {
        self.outbox = outbox
        unsent = changes
        isWholeDue = false
    }

    /// Whether the link does not have all changes.
    var hasUntold: Bool { isWholeDue || wantsWhole || !gathering.isEmpty || !unsent.isEmpty }

    /// Adds the change of a transaction that the gathering batch has. A whole that is taken before
    /// the batch is durable does not have it.
    func gather(_ delta: FormDelta) { gathering.append(OutgoingChange(delta)) }

    /// The gathering batch has more than changes say: once it is durable, others get the whole.
    func gatherWhole() { wantsWhole = true }

    /// The batch is sealed; returns what other hosts are told once it is durable. `whole` is the
    /// form as the batch has it.
    func seal(whole: () -> WholeForm?) -> [OutgoingChange] {
        defer { gathering = [] }
        if wantsWhole, let whole = whole() {
            wantsWhole = false
            isWholeDue = false
            return [.item(.whole(whole))]
        }
        return gathering
    }

    /// A batch with changes of the form is durable.
    func committed(_ items: [OutgoingChange], in batch: UInt64) {
        if let last = apartThrough, batch >= last {
            apartThrough = nil
            sendWhole()
        }
        if isWholeDue { return }
        unsent += items
        if unsent.count > Self.unsentMax { sendWhole() }
    }

    /// What is durable is sent as a whole.
    private func sendWhole() {
        unsent = []
        isWholeDue = true
    }

    /// What was to be sent is lost.
    func drop() {
        gathering = []
        sendWhole()
    }

    /// Removes and returns what is to be sent. `whole` is the durable form; `nil` while the form in
    /// memory is ahead of the store.
    func take(whole: () -> WholeForm?) -> [OutgoingChange] {
        if isWholeDue {
            guard let whole = whole() else {
                wantsWhole = true
                return []
            }
            // The gathering batch may have more that only a whole says.
            isWholeDue = false
            return [.item(.whole(whole))]
        }
        defer { unsent = [] }
        return unsent
    }
}
