// Which hosts have the same as this one: agreement is checked, not assumed.
//
//                 beacon, equal                    beacon, other digest
//   behind ────────────────────▶ agrees ◀──────────────────────────────▶ disagrees
//      ◀──────────────────────────────── other cursor, or something unsent
//
// Two hosts with equal cursors, and with nothing of their own that the other cannot have read up to
// there, must have equal digests. If not, there is an error in joins, or a host has lost something.
//
// With several streams the cursors of all must be equal. Two hosts that have read equally far what
// both of them reach, and that differ by a stream which one of them does not reach, are separated:
// a host that came while another site is cut off lacks what others have read before. If that lasts
// for a minute, a whole of each brings them together, as long as they read each other's.
//
// A host that has not the form at all, though it has read the same, may not share it, or the log
// has lost what it had acknowledged: it is sent a whole once in a run of its daemon.
//
// A host that waits for a whole says so: nobody else can know that the log has none.
//
// Invariants: at most `linkHostsMax` hosts are kept, whatever arrives. Of a form something is
// reported at most once a minute.

/// What is known of the other hosts of a fleet.
package struct Agreement: Sendable {
    /// How this host and another compare on a form.
    package enum Verdict: Hashable, Sendable {
        /// The digests are equal.
        case agrees
        /// One of them has not read, or not told, all yet.
        case behind
        /// They have read the same and have not the same.
        case disagrees
        /// They have read the same of what both reach, and have not the same.
        case separated
        /// They have read the same, and the other has not the form.
        case lacks
    }

    package struct Host: Hashable, Sendable {
        package var name: String
        package var beacon: Beacon
        /// When that arrived, in nanoseconds of the monotonic clock.
        package var heard: UInt64
        /// The same in milliseconds since 1970.
        package var heardMilliseconds: Int64
        /// It said that it stops.
        package var hasLeft = false
        /// The start of its daemon before this one.
        fileprivate var formerRun: UInt64?
        /// How far its wall clock was ahead of ours, in milliseconds.
        package var clockMilliseconds: Int64
        /// The forms of which something was found, and when.
        fileprivate var disputed: [String: UInt64] = [:]
        /// The forms on which it is separated, since when, or since the last whole.
        fileprivate var separated: [String: UInt64] = [:]

        /// Whether it was linked after that time (monotonic nanoseconds): what was said before, it
        /// may have missed.
        func isLinked(after time: UInt64) -> Bool {
            heard > time && (heard - time) / 1_000_000 > beacon.linkedMilliseconds
        }
    }

    /// What a beacon showed.
    package enum Finding: Hashable, Sendable {
        /// This host and another have not the same of a form.
        case disagreement(form: String, host: String)
        /// Another host waits for a whole, or lacks the form; one host's is enough.
        case wanted(form: String)
        /// A form that another host does not get but with a whole.
        case separation(form: String)
    }

    /// A host is away after this time without a beacon, in nanoseconds: three are missing.
    static let awayAfter: UInt64 = 30_000_000_000
    /// A host is forgotten after this time without a beacon, in nanoseconds: what the log has of it
    /// has expired.
    static let forgottenAfter: UInt64 = 7 * 86_400_000_000_000
    /// What is found is reported again after this time if it lasts, in nanoseconds: the wholes that
    /// should have ended it may be lost as well.
    static let disputePeriod: UInt64 = 60_000_000_000

    package private(set) var hosts: [Host] = []
    /// When the next host is away, if nothing is heard of it (monotonic nanoseconds).
    private(set) var awayAt = UInt64.max

    private let hostsMax: Int

    /// No host is known.
    package init(_ limits: Limits = Limits()) { hostsMax = limits.linkHostsMax }

    /// A beacon of another host arrived.
    ///
    /// - Parameters:
    ///   - isLeaving: Its daemon stops.
    ///   - own: What this host would say now.
    /// - Returns: what it shows and was not reported lately.
    package mutating func heard(
        _ beacon: Beacon, from name: String, isLeaving: Bool = false, own: Beacon, at now: UInt64
    ) -> [Finding] {
        var place = hosts.firstIndex { $0.name >= name } ?? hosts.count
        var host = Host(
            name: name, beacon: beacon, heard: now, heardMilliseconds: own.clock,
            hasLeft: isLeaving,
            clockMilliseconds: beacon.clock.subtractingReportingOverflow(own.clock).partialValue)
        defer { findAway(at: now) }
        if place < hosts.count, hosts[place].name == name {
            let known = hosts[place]
            if known.beacon.run == beacon.run {
                // A beacon may come late.
                if known.hasLeft { return [] }
                host.formerRun = known.formerRun
                host.separated = known.separated
            } else {
                if known.formerRun == beacon.run, isHeard(known, at: now) { return [] }
                host.formerRun = known.beacon.run
            }
            host.disputed = known.disputed
            hosts[place] = host
        } else {
            guard hosts.count < hostsMax || forgetAway(at: now) else { return [] }
            place = hosts.firstIndex { $0.name >= name } ?? hosts.count
            hosts.insert(host, at: place)
        }
        var findings: [Finding] = []
        func report(_ finding: Finding, _ form: String) {
            let reported = hosts[place].disputed[form]
            if reported.map({ now >= $0 && now - $0 >= Self.disputePeriod }) ?? true {
                hosts[place].disputed[form] = now
                findings.append(finding)
            }
        }
        for form in own.forms {
            let verdict = Self.compare(form, of: own, beacon)
            let theirs = beacon.form(named: form.name)
            let wantsWhole = theirs?.wantsWhole == true
            let isApart = verdict == .separated || verdict == .lacks
            let wasSentOnce = theirs == nil && hosts[place].separated[form.name] == .max
            if !isApart, !wasSentOnce { hosts[place].separated[form.name] = nil }
            switch verdict {
            case .behind where wantsWhole, .separated where wantsWhole:
                report(.wanted(form: form.name), form.name)
            case .separated, .lacks:
                let since = hosts[place].separated[form.name, default: now]
                let isLong = now >= since && now - since >= Self.disputePeriod
                // One that has not the form may not want it, and is sent it once.
                let next = theirs == nil ? .max : now
                hosts[place].separated[form.name] = isLong ? next : since
                if isLong {
                    // What all have read comes from one of them.
                    findings.append(
                        verdict == .lacks
                            ? .wanted(form: form.name) : .separation(form: form.name))
                }
            case .behind: break
            case .agrees: hosts[place].disputed[form.name] = nil
            case .disagrees: report(.disagreement(form: form.name, host: name), form.name)
            }
        }
        return findings
    }

    /// Forgets the host that has been away for the longest time, if one is.
    private mutating func forgetAway(at now: UInt64) -> Bool {
        let away = hosts.filter { !isHeard($0, at: now) }.min { $0.heard < $1.heard }
        guard let away else { return false }
        hosts.removeAll { $0.name == away.name }
        return true
    }

    /// With how many hosts this one agrees on a form, of how many that share it and are heard.
    package func count(
        of form: Beacon.Form, own: Beacon, at now: UInt64
    ) -> (agreeing: Int, of: Int) {
        let sharing = hosts.filter { host in
            isHeard(host, at: now) && host.beacon.form(named: form.name) != nil
        }
        let agreeing = sharing.filter {
            Self.compare(form, of: own, $0.beacon) == .agrees
        }
        return (agreeing.count, sharing.count)
    }

    /// The names of the forms that hosts which are there have, in ascending order.
    package func formsHeard(at now: UInt64) -> [String] {
        let heard = hosts.filter { isHeard($0, at: now) }
        return Set(heard.flatMap { $0.beacon.forms.map(\.name) }).sorted()
    }

    /// Whether a host has said something else of a form.
    package func differs(from digest: UInt64, of form: String) -> Bool {
        hosts.contains { $0.beacon.form(named: form).map { $0.digest != digest } ?? false }
    }

    package func isHeard(_ host: Host, at now: UInt64) -> Bool {
        !host.hasLeft && (now < host.heard || now - host.heard < Self.awayAfter)
    }

    package func host(named name: String) -> Host? { hosts.first { $0.name == name } }

    /// Finds when the next host is away.
    mutating func findAway(at now: UInt64) {
        hosts.removeAll { now >= $0.heard && now - $0.heard >= Self.forgottenAfter }
        awayAt =
            hosts.filter { isHeard($0, at: now) }.map { $0.heard + Self.awayAfter }.min() ?? .max
    }

    /// Compares what two hosts have of a form of `own`.
    static func compare(_ form: Beacon.Form, of own: Beacon, _ other: Beacon) -> Verdict {
        let theirs = other.form(named: form.name)
        if let theirs, theirs.digest == form.digest { return .agrees }
        guard own.hasTold(form), theirs.map(other.hasTold) ?? true else { return .behind }
        var isAll = own.others.count == other.others.count
        let places = other.places
        for place in own.places {
            let their = places.first { $0.site == place.site }
            if let their, place.stream == their.stream, place.sequence == their.sequence,
                !place.stream.isEmpty
            {
                continue
            }
            if place.isReached, their?.isReached == true { return .behind }
            isAll = false
        }
        if isAll { return theirs == nil ? .lacks : .disagrees }
        return places.contains { $0.site == own.site && $0.isReached } ? .separated : .behind
    }
}
