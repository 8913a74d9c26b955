// Five stores with partitions, reordering, duplicates, loss, restarts, restored backups and wild
// clocks, each compared with the oracle after every step. One seed decides everything.

import SyncCore

/// A bug that can be put in, to see that the oracle finds it.
enum CausalityFault: CaseIterable, Sendable {
    /// A join is skipped where the own context covers the other.
    case skippedJoin
    /// A restored store goes on in its old epoch.
    case reusedDot
    /// A replica's running sum starts anew with each increment.
    case lostIncrement
    /// A stamp from a clock that is ahead is altered when it arrives.
    case alteredStamp
}

/// One run.
struct CausalitySimulation {
    private struct Copy {
        var form = CausalForm()
        var knowledge = OracleKnowledge()
        var replica: ReplicaID
        var clock = HybridLogicalClock()
        /// How wrong the wall clock is, in milliseconds.
        var skew: Int64
        var outbox = CausalForm()
        var outboxKnowledge = OracleKnowledge()
        var backup: (form: [UInt8], knowledge: OracleKnowledge)?
    }

    private struct Client {
        var token: String
        var seen: Set<Int>
    }

    private struct Message {
        let form: CausalForm
        let knowledge: OracleKnowledge
        let from: Int
    }

    private var random: CausalityRandom
    private let fault: CausalityFault?
    private var oracle = CausalityOracle()
    private var copies: [Copy]
    private var clients: [Client]
    private var messages: [Message] = []
    /// Copies on different sides do not hear each other.
    private var side: [Bool]
    private var time: Int64 = 1_000_000
    private var edits = 0

    init(seed: UInt64, fault: CausalityFault? = nil) {
        random = CausalityRandom(seed: seed)
        self.fault = fault
        copies = (0..<5).map { index in
            Copy(
                replica: ReplicaID(id: UInt64(index + 1), epoch: 1),
                skew: [0, 0, 5_000, -5_000, 3_600_000][index])
        }
        clients = Array(repeating: Client(token: "", seen: []), count: 4)
        side = Array(repeating: false, count: 5)
    }

    /// Runs so many steps and then heals everything.
    ///
    /// - Returns: what went wrong, or `nil`.
    mutating func run(steps: Int) -> String? {
        for step in 0..<steps {
            time += Int64(random.below(40))
            let index = random.below(copies.count)
            var touched = [index]
            switch random.below(100) {
            case 0..<50: if let wrong = edit(at: index) { return "step \(step): \(wrong)" }
            case 50..<54: remove(at: index)
            case 54..<64: send(from: index, whole: random.chance(20))
            case 64..<86: touched = deliver()
            case 86..<89: side = side.map { _ in random.chance(50) }
            case 89..<93:
                copies[index].backup = (copies[index].form.encoded, copies[index].knowledge)
            case 93..<95: if let wrong = restore(index) { return "step \(step): \(wrong)" }
            case 95..<97: restart(index)
            default: read(client: random.below(clients.count), at: index)
            }
            for copy in touched {
                if let wrong = difference(copy) { return "step \(step), copy \(copy): \(wrong)" }
            }
        }
        return heal()
    }

    // MARK: - Steps

    private mutating func edit(at index: Int) -> String? {
        edits += 1
        let edit = TrialEdit(
            field: TrialField.allCases[random.below(TrialField.allCases.count)],
            variant: random.below(4), number: edits - 1)
        let client = random.below(clients.count)
        let sees = random.chance(40)
        guard let token = try? ContextToken.parse(clients[client].token),
            let dot = copies[index].form.context.nextDot(for: copies[index].replica)
        else { return "no token or no dot" }
        var context = token.clipped(to: copies[index].form.context)
        let seen = clients[client].seen.intersection(copies[index].knowledge.events)
        let now = copies[index].clock.now(at: time + copies[index].skew)
        let delta = edit.apply(
            to: &copies[index].form, dot: dot, stamp: now,
            seen: sees ? .context(context) : .present,
            losingIncrements: fault == .lostIncrement)
        let told = oracle.record(
            edit, replica: copies[index].replica, dot: dot, stamp: now, seen: sees ? seen : nil,
            &copies[index].knowledge)
        context.insert(dot)
        clients[client].token = ContextToken.render(context)
        clients[client].seen = seen.union([edits - 1])
        copies[index].outbox.join(delta)
        copies[index].outboxKnowledge.learn(told)
        return nil
    }

    private mutating func remove(at index: Int) {
        let fields: [TrialField] = [.latest, .toggle, .wheels, .tags]
        let field = fields[random.below(fields.count)]
        // On its own, so that a copy may be met whose context covers all that it says.
        send(from: index, whole: false)
        copies[index].outbox.join(copies[index].form.remove(field.key))
        let told = oracle.remove(field, &copies[index].knowledge)
        copies[index].outboxKnowledge.learn(told)
        send(from: index, whole: false)
    }

    private mutating func send(from index: Int, whole: Bool) {
        let copy = copies[index]
        messages.append(
            Message(
                form: whole ? copy.form : copy.outbox,
                knowledge: whole ? copy.knowledge : copy.outboxKnowledge, from: index))
        copies[index].outbox = CausalForm()
        copies[index].outboxKnowledge = OracleKnowledge()
    }

    private mutating func deliver() -> [Int] {
        guard !messages.isEmpty else { return [] }
        // Any message, to any copy on the same side: late ones, early ones, again and again.
        let slot = random.below(messages.count)
        let message = messages[slot]
        let target = random.below(copies.count)
        if random.chance(25) { messages.remove(at: slot) }
        guard side[target] == side[message.from] else { return [] }
        receive(message, at: target)
        return [target]
    }

    private mutating func receive(_ message: Message, at index: Int) {
        copies[index].knowledge.learn(message.knowledge)
        copies[index].clock.observe(
            message.form.greatestStamp, at: time + copies[index].skew)
        if fault == .skippedJoin,
            message.form.context.isSubset(of: copies[index].form.context)
        {
            return
        }
        let bound = time + copies[index].skew + 1_000
        copies[index].form.join(
            fault == .alteredStamp ? message.form.withStamps(upTo: bound) : message.form)
    }

    private mutating func restore(_ index: Int) -> String? {
        guard let backup = copies[index].backup else { return nil }
        guard let form = try? CausalForm(decoding: backup.form) else { return "a broken backup" }
        copies[index].form = form
        copies[index].knowledge = backup.knowledge
        copies[index].outbox = CausalForm()
        copies[index].outboxKnowledge = OracleKnowledge()
        if fault != .reusedDot { takeEpoch(index) }
        return nil
    }

    private mutating func restart(_ index: Int) {
        copies[index].clock = HybridLogicalClock(after: copies[index].form.greatestStamp)
        copies[index].skew = Int64(random.below(20_000)) - 10_000
        takeEpoch(index)
    }

    private mutating func takeEpoch(_ index: Int) {
        // Epochs of a restored store must not repeat either: they grow past all that were taken.
        epochs += 1
        copies[index].replica = ReplicaID(id: copies[index].replica.id, epoch: epochs)
    }

    private var epochs: UInt32 = 1

    private mutating func read(client: Int, at index: Int) {
        clients[client].token = ContextToken.render(copies[index].form.context)
        clients[client].seen = copies[index].knowledge.events
    }

    // MARK: - Checks

    /// Joins everything with everything, and compares the copies with each other and the oracle.
    private mutating func heal() -> String? {
        var whole = CausalForm()
        var knowledge = OracleKnowledge()
        for copy in copies {
            whole.join(copy.form)
            knowledge.learn(copy.knowledge)
        }
        for index in copies.indices {
            let others = copies.indices.shuffled(using: &random)
            for other in others + others where other != index {
                let copy = copies[other]
                receive(
                    Message(form: copy.form, knowledge: copy.knowledge, from: other), at: index)
            }
        }
        for index in copies.indices {
            let copy = copies[index]
            receive(Message(form: copy.form, knowledge: copy.knowledge, from: index), at: 0)
        }
        for index in copies.indices {
            receive(
                Message(form: copies[0].form, knowledge: copies[0].knowledge, from: 0), at: index)
            if let wrong = difference(index) { return "healed copy \(index): \(wrong)" }
            if fault == nil, copies[index].form != whole { return "copies differ: \(index)" }
        }
        return nil
    }

    private func difference(_ index: Int) -> String? {
        let copy = copies[index]
        for field in TrialField.allCases {
            let expected = oracle.reading(field, copy.knowledge)
            let actual = copy.form.reading(field)
            if actual != expected { return "\(field.key.id) reads \(actual), not \(expected)" }
        }
        if let maximal = oracle.maximal(.ask, copy.knowledge) {
            let siblings = copy.form[TrialField.ask.key].asRegister.siblings
            let values = Set(siblings.compactMap { $0.payload.value?.integerValue.map(Int.init) })
            if values != maximal { return "siblings \(values), by histories \(maximal)" }
        }
        return nil
    }
}

extension CausalForm {
    /// What readers of `field` see, in the oracle's words.
    fileprivate func reading(_ field: TrialField) -> String {
        switch self[field.key] {
        case .register(let register): return text(register, field.policy)
        case .components(let map):
            return ["day", "month", "year"].map { text(map[$0], field.policy) }
                .joined(separator: " | ")
        case .tags(let set):
            let tags = ["bar", "baz", "qux"].filter { set.contains(.string($0)) }
            return "\(tags) \(!set.isEmpty)"
        case .counter(let counter):
            let value = counter.value(field.policy, default: .zero)
            return "\(value?.description ?? "-") of \(counter.bases.count)"
        case .presses(let counter): return String(counter.presses)
        case .sealed(let register):
            guard let secret = register.secret else { return "-" }
            return "\(secret.stamp) \(secret.bytes?.first.map { String($0) } ?? "-")"
        }
    }

    private func text(
        _ register: MultiValueRegister<Written>, _ policy: ConflictPolicy
    ) -> String {
        let siblings = register.siblings.sorted { $0.rank < $1.rank }
            .map { "\($0.stamp) \($0.payload.value?.encodedText ?? "-")" }
        let winner = policy.standing(register.siblings)?.payload.value
        return "\(siblings) -> \(winner?.encodedText ?? "-")"
    }

    /// The greatest stamp in the form.
    fileprivate var greatestStamp: HybridTimestamp {
        var stamps: [HybridTimestamp] = []
        for field in fields {
            switch field.store {
            case .register(let store): stamps += store.siblings.map(\.stamp)
            case .components(let store):
                stamps += store.components.flatMap(\.register.siblings).map(\.stamp)
            case .counter(let store): stamps += store.bases.map(\.stamp)
            case .sealed(let store): stamps += store.secret.map { [$0.stamp] } ?? []
            case .tags, .presses: break
            }
        }
        return stamps.max() ?? HybridTimestamp(milliseconds: 0)
    }

    /// The form with the stamps of its registers cut to `bound`: a fault.
    fileprivate func withStamps(upTo bound: Int64) -> CausalForm {
        let altered = fields.map { field -> Field in
            guard case .register(let register) = field.store else { return field }
            let siblings = register.siblings.map { sibling in
                MultiValueRegister<Written>.Sibling(
                    dot: sibling.dot,
                    stamp: min(sibling.stamp, HybridTimestamp(milliseconds: bound)),
                    payload: sibling.payload)
            }
            let store = MultiValueRegister(sorted: siblings) ?? register
            return Field(id: field.key.id, store: .register(store))
        }
        return CausalForm(context: context, sorted: altered) ?? self
    }
}
