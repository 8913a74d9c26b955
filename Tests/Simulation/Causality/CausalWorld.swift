// Five stores with partitions, reordering, duplicates, loss, restarts, restored backups and wrong
// clocks. Each is compared with the oracle after every step that changed it.

import SeededRandom
import SyncCore

/// One run of a schedule.
package final class CausalWorld {
    /// A store. It is a class, so that access copies nothing: a million worlds are searched.
    final class Copy {
        var form = CausalForm()
        var knowledge = CausalKnowledge()
        var replica: ReplicaID
        var clock = HybridLogicalClock()
        /// The error of the wall clock in milliseconds.
        var skew: Int64
        var outbox = CausalForm()
        var outboxKnowledge = CausalKnowledge()
        var backup: (form: [UInt8], knowledge: CausalKnowledge)?

        init(replica: ReplicaID, skew: Int64) {
            self.replica = replica
            self.skew = skew
        }
    }

    private struct Client {
        var token = ""
        var seen = EventSet()
    }

    private struct Message {
        let form: CausalForm
        let knowledge: CausalKnowledge
        let from: Int
    }

    private let schedule: CausalSchedule
    private let isTelling: Bool
    private(set) var oracle = CausalOracle(fields: TrialField.allCases.count)
    let copies: [Copy]
    private var clients = Array(repeating: Client(), count: 4)
    private var messages: [Message] = []
    /// Copies on different sides cannot exchange messages.
    private var side = Array(repeating: false, count: 5)
    private var time: Int64 = 1_000_000
    /// Epochs of a restored store must not repeat, so they are greater than all earlier ones.
    private(set) var epochs: UInt32 = 1
    /// All copies have the same knowledge, and nothing was ever lost.
    private(set) var isWhole = false
    /// By index of a copy that was restored from a backup: the newest epoch of which it may have
    /// lost something.
    private var losses: [Int: UInt32] = [:]
    private var random = SplitMix64(seed: 0)
    /// The steps, one line each, if requested.
    package private(set) var story: [String] = []

    /// The world before the first step of `schedule`.
    package init(_ schedule: CausalSchedule, isTelling: Bool = false) {
        self.schedule = schedule
        self.isTelling = isTelling
        copies = [0, 0, 5_000, -5_000, 3_600_000].enumerated().map { index, skew in
            Copy(replica: ReplicaID(id: UInt64(index + 0xa), epoch: 1), skew: skew)
        }
    }

    /// Runs every step and then exchanges all states.
    ///
    /// - Returns: what went wrong, or `nil`.
    package func run() -> String? {
        for step in schedule.steps {
            random = SplitMix64(seed: step.bits)
            time += Int64(random.below(40))
            let index = random.below(copies.count)
            if let wrong = perform(step.verb, at: index) { return wrong }
        }
        return heal()
    }

    private func tell(_ line: @autoclosure () -> String) {
        if isTelling { story.append(line()) }
    }

    private func perform(_ verb: CausalStep.Verb, at index: Int) -> String? {
        switch verb {
        case .edit: return edit(at: index)
        case .remove:
            remove(at: index)
            return difference(index)
        case .send: send(from: index, whole: random.chance(20))
        case .deliver: return deliver()
        case .split:
            for copy in side.indices { side[copy] = random.chance(50) }
            tell("the network splits: \(side.map { $0 ? "right" : "left" })")
        case .backUp:
            copies[index].backup = (copies[index].form.encoded, copies[index].knowledge)
            tell("\(name(index)) is backed up")
        case .restore: return restore(index)
        case .restart: restart(index)
        case .read: read(client: random.below(clients.count), at: index)
        }
        return nil
    }

    private func name(_ index: Int) -> String { "store \(copies[index].replica)" }

    // MARK: - Steps

    private func edit(at index: Int) -> String? {
        guard !oracle.isFull else { return nil }
        let edit = TrialEdit(
            field: TrialField.allCases[random.below(TrialField.allCases.count)],
            variant: random.below(4), number: oracle.events.count)
        let client = random.below(clients.count)
        let sees = random.chance(40)
        let copy = copies[index]
        guard let token = try? ContextToken.parse(clients[client].token) else {
            return "a client's token is not read: \(clients[client].token)"
        }
        guard let dot = copy.form.context.nextDot(for: copy.replica) else {
            return "no dot is left"
        }
        var context = token.clipped(to: copy.form.context)
        let seen = clients[client].seen.intersection(copy.knowledge.events)
        let now = copy.clock.now(at: time + copy.skew)
        tell(
            "\(name(index)), \(now): client \(client) does \(edit.field) \(edit.variant) as "
                + "\(edit.number)" + (sees ? ", having seen [\(context)]" : ""))
        let delta = edit.apply(
            to: &copy.form, dot: dot, stamp: now,
            seen: sees ? .context(context) : .present,
            losingIncrements: schedule.fault == .lostIncrement)
        let told = oracle.record(
            edit.write, dot: dot, stamp: now, seen: sees ? seen : nil, &copy.knowledge)
        context.insert(dot)
        clients[client].token = ContextToken.render(context)
        clients[client].seen = seen
        clients[client].seen.insert(edit.number)
        copy.outbox.join(delta)
        copy.outboxKnowledge.learn(told)
        // An edit changes one field. Of the others, checking one random field each time is enough.
        let other = TrialField.allCases[random.below(TrialField.allCases.count)]
        return difference(index, on: edit.field) ?? difference(index, on: other)
    }

    private func remove(at index: Int) {
        let fields: [TrialField] = [.latest, .toggle, .wheels, .tags]
        let field = fields[random.below(fields.count)]
        // Sent alone, so that a copy may already contain everything in it.
        send(from: index, whole: false)
        tell("\(name(index)) drops \(field)")
        copies[index].outbox.join(copies[index].form.remove(field.key))
        copies[index].outboxKnowledge.learn(oracle.remove(field.causal, &copies[index].knowledge))
        send(from: index, whole: false)
    }

    private func send(from index: Int, whole: Bool) {
        let copy = copies[index]
        tell("\(name(index)) sends \(whole ? "all" : "what is new")")
        if messages.count == 32 { messages.removeFirst() }
        messages.append(
            Message(
                form: whole ? copy.form : copy.outbox,
                knowledge: whole ? copy.knowledge : copy.outboxKnowledge, from: index))
        copies[index].outbox = CausalForm()
        copies[index].outboxKnowledge = CausalKnowledge()
    }

    private func deliver() -> String? {
        guard !messages.isEmpty else { return nil }
        // Any message to any copy on the same side: late, early, repeatedly.
        let slot = random.below(messages.count)
        let message = messages[slot]
        let target = random.below(copies.count)
        if random.chance(25) { messages.remove(at: slot) }
        guard side[target] == side[message.from] else { return nil }
        tell("\(name(target)) receives [\(message.form.context)] of \(name(message.from))")
        receive(message, at: target)
        return difference(target)
    }

    private func receive(_ message: Message, at index: Int) {
        copies[index].knowledge.learn(message.knowledge)
        let wall = time + copies[index].skew
        copies[index].clock.observe(message.form.greatestStamp, at: wall)
        switch schedule.fault {
        case .skippedJoin where message.form.context.isSubset(of: copies[index].form.context):
            break
        case .alteredStamp: copies[index].form.join(message.form.withStamps(upTo: wall + 1_000))
        default: copies[index].form.join(message.form)
        }
    }

    private func restore(_ index: Int) -> String? {
        guard let backup = copies[index].backup else { return nil }
        guard let form = try? CausalForm(decoding: backup.form) else { return "a broken backup" }
        tell("\(name(index)) is restored from its backup [\(form.context)]")
        losses[index] = copies[index].replica.epoch
        copies[index].form = form
        copies[index].knowledge = backup.knowledge
        copies[index].outbox = CausalForm()
        copies[index].outboxKnowledge = CausalKnowledge()
        if schedule.fault != .reusedDot { takeEpoch(index) }
        return difference(index)
    }

    private func restart(_ index: Int) {
        copies[index].clock = HybridLogicalClock(after: copies[index].form.greatestStamp)
        copies[index].skew = Int64(random.below(20_000)) - 10_000
        tell("\(name(index)) starts again, its clock off by \(copies[index].skew) ms")
        takeEpoch(index)
    }

    private func takeEpoch(_ index: Int) {
        epochs += 1
        copies[index].replica = ReplicaID(id: copies[index].replica.id, epoch: epochs)
    }

    private func read(client: Int, at index: Int) {
        tell("client \(client) reads at \(name(index))")
        clients[client].token = ContextToken.render(copies[index].form.context)
        clients[client].seen = copies[index].knowledge.events
    }

    /// The whole state is passed around twice: all copies must then be equal to the join of all.
    private func heal() -> String? {
        var whole = CausalForm()
        for copy in copies { whole.join(copy.form) }
        let first = random.below(copies.count)
        let isForward = random.chance(50)
        for step in 0..<2 * copies.count {
            let place = isForward ? first + step : first + 2 * copies.count - step
            let from = place % copies.count
            let to = (isForward ? place + 1 : place - 1) % copies.count
            receive(
                Message(form: copies[from].form, knowledge: copies[from].knowledge, from: from),
                at: to)
        }
        tell("all stores exchange their states")
        isWhole = losses.isEmpty
        for index in copies.indices {
            if let wrong = difference(index) { return "healed: \(wrong)" }
            if schedule.fault == nil, copies[index].form != whole {
                return "healed: \(name(index)) is not the join of all"
            }
        }
        return unboundedMetadata(whole)
    }

    /// The size of a form is bounded by its stores and replicas, not by clients or edits.
    private func unboundedMetadata(_ whole: CausalForm) -> String? {
        let replicas = Int(epochs) + copies.count - 1
        if whole.context.vector.entries.count > replicas {
            return "\(whole.context.vector.entries.count) vector entries of \(replicas) replicas"
        }
        guard case .presses(let presses) = whole[TrialField.button.key] else { return nil }
        for (entry, next) in zip(presses.entries, presses.entries.dropFirst())
        where entry.dot.replica == next.dot.replica && !mayHaveLost(entry.dot.replica) {
            return "\(entry.dot) and \(next.dot) are entries of one replica"
        }
        return nil
    }

    /// Whether no copy may know any more what removed an entry of this replica: deltas in transit
    /// may have had the only information, and their copy then lost it.
    private func mayHaveLost(_ replica: ReplicaID) -> Bool {
        losses.contains { place, epoch in
            copies[place].replica.id == replica.id && replica.epoch <= epoch
        }
    }

    // MARK: - Checks

    /// How copy `index` differs from the oracle.
    private func difference(_ index: Int) -> String? {
        for field in TrialField.allCases {
            if let wrong = difference(index, on: field) { return wrong }
        }
        return nil
    }

    private func difference(_ index: Int, on field: TrialField) -> String? {
        disagreement(copies[index], on: field).map { "\(name(index)), \(field): \($0)" }
    }
}
