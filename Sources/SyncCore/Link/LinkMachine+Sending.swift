// What a host publishes: its transactions, its wholes, its beacons.

extension LinkMachine {
    // MARK: What the engine says

    /// The whole of a form is due: others were never told of it, or not of all that was done.
    package mutating func share(_ form: String, at now: Moment) {
        demandWhole(form, .shared, at: now)
    }

    private mutating func demandWhole(_ form: String, _ why: WholeReason, at now: Moment) {
        self.now = now
        guard !configuration.isFollower else { return }
        sender.demandWhole(form, why)
        pump()
    }

    /// A transaction of this host is durable.
    package mutating func add(_ transaction: LinkTransaction, at now: Moment) {
        self.now = now
        guard !configuration.isFollower else { return }
        if sender.add(transaction) {
            actions.append(.report(.overflowed(form: transaction.form)))
        }
        changed()
        pump()
    }

    /// The state of a form and what it covers; `nil` if the form is gone.
    package mutating func wholeMade(
        _ form: String, _ whole: (bytes: [UInt8], context: CausalContext)?, at now: Moment
    ) {
        self.now = now
        var whole = whole
        if let size = whole?.bytes.count, size + 64 > configuration.limits.linkWholeBytesMax {
            actions.append(.report(.wholeTooLarge(form: form)))
            whole = nil
        }
        sender.give(whole: whole, of: form)
        changed()
        pump()
    }

    /// A whole of a form is due, as a person asked for it: now, or a while after the last one, so
    /// that nobody makes this host send wholes all the time.
    package mutating func repair(_ form: String, at now: Moment) {
        let time = now.monotonicNanoseconds
        repairs = repairs.filter { time < $0.value + Self.repairPeriod }
        guard let last = repairs[form] else {
            repairs[form] = time
            return demandWhole(form, .asked, at: now)
        }
        self.now = now
        if last <= time {
            repairs[form] = last + Self.repairPeriod
            wholes.demand(form, .asked, at: last + Self.repairPeriod)
        }
    }

    /// A whole of another host was joined.
    package mutating func sawWhole(
        of form: String, covering context: CausalContext, at milliseconds: Int64
    ) {
        wholes.saw(form, covering: context, at: milliseconds)
    }

    /// Whether the log has a whole of a form that covers this.
    package func hasWhole(of form: String, covering context: CausalContext) -> Bool {
        wholes.has(form, covering: context)
    }

    /// What the store has of each shared form; the rule on wholes is looked at with it.
    package mutating func knows(_ contexts: [(form: String, context: CausalContext)]) {
        self.contexts = contexts
    }

    /// This store is another replica now.
    package mutating func renew(_ replica: ReplicaID) {
        if replica != configuration.replica { configuration.counters = [:] }
        configuration.replica = replica
    }

    /// A form is not shared any more, and its last edits may not be in the outbox.
    package mutating func part(
        with whole: (bytes: [UInt8], context: CausalContext), of form: String, at now: Moment
    ) {
        self.now = now
        guard !configuration.isFollower else { return }
        sender.part(with: whole, form)
        pump()
    }

    /// The digests of all shared forms, of what is committed; every committed transaction was added
    /// before.
    ///
    /// - Parameters:
    ///   - awaited: Forms of which an edit waits for a whole.
    ///   - untold: Forms with edits that are not sent.
    package mutating func beaconMade(
        _ digests: [(form: String, digest: UInt64)], awaited: [String] = [],
        untold: [String] = [], at now: Moment
    ) {
        self.now = now
        guard isLinked, let linkedAt else { return }
        // A form that waits has less than the cursors say, and others may have more.
        let waiting = Set(heldForms + untold)
        let isExact = readers.allSatisfy { !$0.isReached || $0.isExact }
        let own = readers[0].told
        let beacon = Beacon(
            run: configuration.run, replica: configuration.replica,
            linkedMilliseconds: (now.monotonicNanoseconds - linkedAt) / 1_000_000,
            stream: own.stream, sequence: own.sequence, acknowledged: sender.acknowledged,
            clock: now.wallMilliseconds, version: configuration.version,
            forms: digests.map { form, digest in
                Beacon.Form(
                    name: form, digest: digest,
                    unsent: sender.unsent(of: form)
                        + (isExact && !waiting.contains(form) ? 0 : 1),
                    wantsWhole: awaited.contains(form))
            }, site: own.site, others: readers.dropFirst().map(\.told))
        ownBeacon = beacon
        if !publish([beacon.item], to: .beacon) {
            actions.append(.report(.beaconTooLarge(forms: digests.count)))
        }
    }

    /// Publishes what nobody keeps; returns whether it fits in a message.
    @discardableResult
    mutating func publish(_ items: [LinkItem], to subject: LinkSubject.Content) -> Bool {
        let content = LinkItem.encode(items)
        let parts = sealer.seal(content, counters: nil, to: subject)
        guard let parts, parts.count == 1 else { return false }
        publish(parts[0], nil)
        return true
    }

    // MARK: Sending

    mutating func pump() {
        guard isLinked else { return }
        for (form, why) in sender.takeWanted() {
            actions.append(.makeWhole(form: form, why: why))
        }
        let sealer = sealer
        let (parts, unsealed) = sender.pump(at: now.monotonicNanoseconds) {
            form, content, writes in
            sealer.seal(
                content, of: writes?.replica, counters: writes?.counters,
                to: writes == nil ? .whole(form: form) : .bundles(form: form))
        }
        for (id, message) in parts { publish(message, id) }
        for form in unsealed { actions.append(.report(.unsealed(form: form))) }
    }

    var sealer: LinkSealer {
        LinkSealer(
            configuration: configuration, keys: keys, random: random,
            payloadMax: min(server?.payloadMax ?? LinkMessage.payloadMin, LinkMessage.payloadMax))
    }

    /// Publishes a part; `id` names its acknowledgement.
    mutating func publish(_ message: LinkMessage, _ id: String?, of kind: String = "p") {
        actions.append(
            .publish(
                LinkPublication(
                    subject: message.subject.text, reply: id.map { "\(inbox)\(kind).\($0)" },
                    headers: message.headers.wire, payload: message.body)))
    }

    /// The log has taken a part, or refused it.
    mutating func acknowledged(_ id: String, _ arrival: LinkArrival) {
        let answer = try? JetStreamTalk.published(arrival.payload, fleet: configuration.fleet)
        if case .success((let sequence, let domain))? = answer,
            PullStatus(arrival.headers) == nil
        {
            let site = readers[0].site
            guard site.isEmpty || domain.isEmpty || domain == site else {
                actions.append(.report(.misdirected(site: site, domain: domain.cut(toBytes: 64))))
                return
            }
            unpublished = nil
            let taken = sender.acknowledged(
                id, sequence: sequence, at: now.monotonicNanoseconds)
            for (form, newest) in taken.transactions {
                actions.append(.transactionsTaken(form: form, through: newest))
            }
            for (form, context) in taken.wholes {
                sawWhole(of: form, covering: context, at: now.wallMilliseconds)
                actions.append(.wholeTaken(form: form, covering: context))
            }
        } else {
            if case .failure(let error)? = answer {
                let reason = "\(error.text) (\(error.code))"
                if reason != unpublished { actions.append(.report(.unpublished(reason))) }
                unpublished = reason
            }
            sender.refused(at: now.monotonicNanoseconds)
        }
        pump()
    }

    // MARK: Others

    /// Something changed: others hear of it soon.
    mutating func changed() {
        guard let next = beaconAt else { return }
        beaconAt = min(next, now.monotonicNanoseconds + Self.beaconDelay)
    }

    /// A host said what it has.
    mutating func beacon(_ arrival: LinkArrival, _ subject: LinkSubject) {
        guard subject.fleet == configuration.fleet,
            let (beacon, isLeaving) = openBeacon(arrival, subject)
        else { return }
        if subject.host == configuration.host {
            guard beacon.run != configuration.run else { return }
            return twin(beacon)
        }
        guard var own = ownBeacon else { return }
        own.clock = now.wallMilliseconds
        let before = agreement.host(named: subject.host)
        let findings = agreement.heard(
            beacon, from: subject.host, isLeaving: isLeaving, own: own,
            at: now.monotonicNanoseconds)
        heardHost(before, subject.host)
        for finding in findings {
            let (needed, why): (String, WholeReason)
            var covering: CausalContext?
            switch finding {
            case .disagreement(let form, let host):
                actions.append(.report(.disagreement(form: form, host: host)))
                (needed, why) = (form, .disagreement)
            case .wanted(let form):
                (needed, why) = (form, .asked)
                // One host's is enough, of all that have the form.
                covering = contexts.first { $0.form == form }?.context
            case .separation(let form): (needed, why) = (form, .disagreement)
            }
            guard !configuration.isFollower else { continue }
            wholes.demand(
                needed, why, covering: covering, random: random, now: now.monotonicNanoseconds)
        }
    }

    private func openBeacon(
        _ arrival: LinkArrival, _ subject: LinkSubject
    ) -> (beacon: Beacon, isLeaving: Bool)? {
        guard let headers = try? LinkHeaders(arrival.headers),
            let items = open(arrival, subject, headers), items.first?.kind == .beacon,
            let beacon = try? Beacon(decoding: items[0].bytes), beacon.replica == headers.replica,
            beacon.run == headers.run, items.dropFirst().allSatisfy({ $0.kind == .leaving })
        else { return nil }
        return (beacon, items.count > 1)
    }

    /// The items of what nobody keeps, which is one part.
    func open(
        _ arrival: LinkArrival, _ subject: LinkSubject, _ headers: LinkHeaders
    ) -> [LinkItem]? {
        guard headers.part == .only else { return nil }
        let message = LinkMessage(subject: subject, headers: headers, body: arrival.payload)
        guard let content = try? message.open(with: keys) else { return nil }
        return try? LinkItem.decode(content)
    }

    /// Another machine has this host's name: the one that came later yields. A beacon takes some
    /// time, so of two that came at about the same time each could take itself for the older one;
    /// of these the run decides, as both judge it alike.
    private mutating func twin(_ beacon: Beacon) {
        let linked = linkedAt.map { (now.monotonicNanoseconds - $0) / 1_000_000 } ?? 0
        let (isOlder, apart) =
            linked > beacon.linkedMilliseconds
            ? (true, linked - beacon.linkedMilliseconds)
            : (false, beacon.linkedMilliseconds - linked)
        let stays = apart > Self.patience / 1_000_000 ? isOlder : configuration.run > beacon.run
        if isLinked, stays { return }
        guard server != nil else { return }
        refuse(
            "another machine is linked as \(configuration.host); give one of them another name "
                + "(link.host in pickersyncd.yaml)")
    }

    mutating func lookAtWholes() {
        guard readers[0].isLive, !configuration.isFollower else { return }
        let time = now.monotonicNanoseconds
        // A whole in any of the streams counts.
        let ages = readers.compactMap { $0.consumer?.info.ageMax }
        let ageMax = ages.min().map { Int64(clamping: $0) } ?? JetStreamTalk.ageMax
        if wholes.mustLook(at: time) {
            wholes.look(
                at: contexts, ageMax: ageMax, wall: now.wallMilliseconds, random: random, now: time)
        }
        for (form, why) in wholes.due(ageMax: ageMax, wall: now.wallMilliseconds, now: time) {
            sender.demandWhole(form, why)
        }
    }
}

/// Seals what a host publishes.
struct LinkSealer {
    let configuration: LinkMachine.Configuration
    let keys: LinkKeys
    let random: @Sendable () -> UInt64
    /// Bytes of headers and body in one message.
    let payloadMax: Int

    /// The parts of a message.
    ///
    /// - Parameter replica: Whose writes it has; `nil`: this host's.
    /// - Returns: `nil` if the key cannot seal.
    func seal(
        _ content: [UInt8], of replica: ReplicaID? = nil, counters: ClosedRange<UInt64>?,
        to subject: LinkSubject.Content, number: UInt64? = nil
    ) -> [LinkMessage]? {
        guard
            let subject = LinkSubject(
                fleet: configuration.fleet, host: configuration.host, subject)
        else { return nil }
        return LinkMessage.seal(
            content,
            as: LinkHeaders(
                replica: replica ?? configuration.replica, counters: counters,
                run: configuration.run, number: number ?? random(), key: keys.id),
            to: subject, payloadMax: payloadMax, with: keys)
    }
}
