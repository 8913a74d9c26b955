/// What a form has for its proposals, beside the proposals themselves, which are rows of `Ongoing`.
/// A form in which nobody has proposed anything has none.
///
///     (none) ──a change of it is committed──▶ fresh for subscribers whose cursor is behind
///                                              │  ▲
///                              it is told ──▶ told └──the next change
///
/// A change gets the next number of the form's sequence. A subscriber is a cursor into it, and gets
/// each proposal that has changed since once, as it is now. Confined to the loop.
final class FormProposals {
    /// A decoded row with its notification.
    private struct Known {
        let bytes: [UInt8]
        let proposal: Proposal
        var chunk: FrameChunk?
    }

    private var known: [Int64: Known] = [:]
    /// The proposals that have changed since the daemon started, in the order of their changes.
    private var changed: [(id: Int64, sequence: UInt64)] = []
    /// The number of the newest change.
    private var sequence: UInt64 = 0
    /// The newest change that was sent to each subscriber. Not part of `Subscription`, because most
    /// forms have no proposals.
    private var sent: [ObjectIdentifier: UInt64] = [:]

    func proposals(of state: FormState) -> [Proposal] {
        state.ongoing.rows(ofKind: Proposal.kind)
            .compactMap { row in Int64(row.id).flatMap { look(up: $0, row.state) } }
            .sorted { $0.id < $1.id }
    }

    func proposal(_ id: Int64, of state: FormState) -> Proposal? {
        state.ongoing[Proposal.name(id)].flatMap { look(up: id, $0) }
    }

    private func look(up id: Int64, _ bytes: [UInt8]) -> Proposal? {
        if let known = known[id], known.bytes == bytes { return known.proposal }
        guard let proposal = try? Proposal(decoding: bytes) else { return nil }
        known[id] = Known(bytes: bytes, proposal: proposal)
        return proposal
    }

    /// A change of a proposal is committed.
    func tell(_ id: Int64) {
        sequence += 1
        changed.removeAll { $0.id == id }
        changed.append((id, sequence))
    }

    func forget(_ id: Int64) {
        known[id] = nil
        changed.removeAll { $0.id == id }
    }

    // MARK: - Subscribers

    /// A subscriber gets all that waits with the answer to its subscription.
    func add(_ subscription: Subscription) { sent[ObjectIdentifier(subscription)] = sequence }

    /// A subscriber is gone.
    func forget(_ subscription: Subscription) { sent[ObjectIdentifier(subscription)] = nil }

    /// Whether there are changes that were not sent to a subscriber.
    func hasNews(for subscription: Subscription) -> Bool {
        sent[ObjectIdentifier(subscription)] ?? 0 < sequence
    }

    /// Adds the proposals that have changed since a subscriber was told to a write.
    func read(for subscription: Subscription, of state: FormState, into output: inout Output) {
        let cursor = sent[ObjectIdentifier(subscription)] ?? 0
        guard cursor < sequence else { return }
        for (id, sequence) in changed where sequence > cursor {
            guard let proposal = proposal(id, of: state) else { continue }
            let chunk =
                known[id]?.chunk
                ?? FrameChunk(Answer.frame(.proposalChanged(ProposalResult(proposal.wire))))
            known[id]?.chunk = chunk
            output.append(chunk, 0..<chunk.count)
        }
        sent[ObjectIdentifier(subscription)] = sequence
    }
}

extension LiveForm {
    /// The proposals of a state that wait, oldest first.
    func waitingProposals(of state: FormState) -> [Proposal] {
        proposals?.proposals(of: state).filter { !$0.wire.state.isFinal } ?? []
    }

    /// The proposals of a state that have ended, the last one first.
    func endedProposals(of state: FormState) -> [Proposal] {
        (proposals?.proposals(of: state) ?? []).filter(\.wire.state.isFinal)
            .sorted { ($0.endedAt, $0.id) > ($1.endedAt, $1.id) }
    }
}

extension Proposal {
    /// When it ended: milliseconds since 1970-01-01T00:00Z.
    var endedAt: Int64 { wire.ended?.at.milliseconds ?? .max }
}
