// The people who have forms open, on this host and on others, and which hosts are there.

/// Another host that shares a form.
public struct LinkedHost: Hashable, Sendable {
    /// Its name.
    public let host: String
    /// Since when it is away, in milliseconds since 1970; `nil` if it is there.
    public let awaySince: Int64?
}

extension LinkMachine {
    /// Changes of hosts are told after this time, in nanoseconds: many may come at once.
    private static let hostsDelay: UInt64 = 1_000_000_000

    // MARK: What the engine says

    /// A connection has a shared form open, or moved in it, or left.
    package mutating func present(
        _ form: String, _ connection: UInt64,
        _ presence: @autoclosure () -> LinkPresence.Peer.Presence?, isGone: Bool, at now: Moment
    ) {
        self.now = now
        guard !configuration.isFollower else { return }
        teller.note(
            form, connection, presence(), isGone: isGone, at: now.monotonicNanoseconds)
    }

    /// Which forms are shared still.
    package mutating func keepPresence(where isShared: (String) -> Bool) {
        teller.keep(where: isShared)
    }

    package func hosts(sharing form: String, at now: Moment) -> [LinkedHost] {
        agreement.hosts.filter { $0.beacon.form(named: form) != nil }.map { host in
            LinkedHost(host: host.name, awaySince: awaySince(host, at: now))
        }
    }

    /// Since when a host is away, in milliseconds since 1970; `nil` if it is there.
    package func awaySince(_ name: String, at now: Moment) -> Int64? {
        guard let host = agreement.host(named: name) else { return now.wallMilliseconds }
        return awaySince(host, at: now)
    }

    private func awaySince(_ host: Agreement.Host, at now: Moment) -> Int64? {
        let isThere = !isCutOff && agreement.isHeard(host, at: now.monotonicNanoseconds)
        return isThere ? nil : host.heardMilliseconds
    }

    /// The daemon stops: the others hear of it at once.
    package mutating func leave(at now: Moment) {
        self.now = now
        guard var ownBeacon, isLinked else { return }
        ownBeacon.clock = now.wallMilliseconds
        publish([ownBeacon.item, LinkItem(.leaving, [])], to: .beacon)
    }

    // MARK: Time

    /// When people or hosts change without an event (monotonic nanoseconds).
    var presenceDeadline: UInt64 {
        let deadline = min(
            roster.deadline, agreement.awayAt, hostsChangedAt ?? .max, cutOffAt ?? .max)
        return isLinked ? min(deadline, teller.deadline) : deadline
    }

    /// Who is gone, as nothing more is heard of them.
    mutating func lookAtPresence() {
        let time = now.monotonicNanoseconds
        give(roster.expired(at: time))
        if let cutOffAt, cutOffAt <= time { cutOff(true) }
        if agreement.awayAt <= time {
            agreement.findAway(at: time)
            hostsChanged()
        }
        if let hostsChangedAt, hostsChangedAt <= time {
            self.hostsChangedAt = nil
            actions.append(.hostsChanged)
        }
    }

    /// Nothing can be heard of others for some time, or it can again. Their people are told again
    /// then.
    mutating func cutOff(_ isCutOff: Bool) {
        cutOffAt = nil
        if self.isCutOff == isCutOff { return }
        self.isCutOff = isCutOff
        if isCutOff { for host in agreement.hosts { give(roster.ended(host.name)) } }
        hostsChanged()
    }

    /// Says what is due of the people of this host.
    mutating func tellPresence() {
        let bytesMax =
            min(server?.payloadMax ?? 0, LinkMessage.payloadMax) - LinkMessage.overheadMax
        for (form, word) in teller.take(at: now.monotonicNanoseconds, bytesMax: bytesMax) {
            publish([LinkItem(.presence, word.encoded)], to: .presence(form: form))
        }
    }

    // MARK: Others

    /// A host was heard of, or not any more: `changes` if not only the time of it is new.
    mutating func heardHost(_ before: Agreement.Host?, _ name: String) {
        guard let host = agreement.host(named: name) else { return }
        let time = now.monotonicNanoseconds
        let isNew = before?.beacon.run != host.beacon.run
        let wasLinked =
            before.map { agreement.isHeard($0, at: time) && !host.isLinked(after: $0.heard) }
            ?? false
        if isNew || host.hasLeft { give(roster.ended(name)) }
        if isNew || !wasLinked {
            // It does not know our people, nor what this host has.
            changed()
            teller.tellAll(at: time + 2 * Self.beaconDelay)
        }
        if isNew || host.hasLeft || !wasLinked
            || before?.beacon.forms.map(\.name) != host.beacon.forms.map(\.name)
        {
            hostsChanged()
        }
    }

    private mutating func hostsChanged() {
        if hostsChangedAt == nil { hostsChangedAt = now.monotonicNanoseconds + Self.hostsDelay }
    }

    /// A host said who has a form open there, or something of what is under way in it.
    mutating func presence(_ arrival: LinkArrival, _ subject: LinkSubject) {
        guard let form = subject.form, subject.fleet == configuration.fleet,
            let host = agreement.host(named: subject.host), !host.hasLeft,
            agreement.isHeard(host, at: now.monotonicNanoseconds),
            let headers = try? LinkHeaders(arrival.headers), headers.run == host.beacon.run,
            roster.admits(form, of: subject.host, headers.run, at: now),
            let items = open(arrival, subject, headers), items.count == 1,
            let item = items.first
        else { return }
        switch item.kind {
        case .presence:
            guard let word = try? LinkPresence(decoding: item.bytes) else { return }
            give(
                roster.heard(
                    word, on: form, of: subject.host, headers.run, at: now.monotonicNanoseconds))
        case .underWay, .verb, .verbAnswer:
            actions.append(
                .hear(LinkWord(form: form, host: subject.host, run: headers.run, item: item)))
        case .transaction, .whole, .retired, .beacon, .leaving, .test: break
        }
    }

    private mutating func give(_ peers: [RemotePeer]) {
        if !peers.isEmpty { actions.append(.present(peers)) }
    }
}
