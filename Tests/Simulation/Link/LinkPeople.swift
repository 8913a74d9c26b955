// The people of a host of the simulated fleet, and those of other hosts that it shows.

internal import SeededRandom
package import SyncCore

/// See the head of this file.
struct LinkPeople {
    /// The connections of this host by form and number, and where each is.
    private(set) var here: [String: [UInt64: String]] = [:]
    /// What is shown of others, by the number that this host gave them.
    private var shown: [UInt64: RemotePeer] = [:]
    private var lastConnection: UInt64 = 0
    /// When words were said of each form (monotonic nanoseconds).
    private var said: [String: [UInt64]] = [:]

    /// Somebody comes, moves or leaves; returns who.
    mutating func step(
        _ form: String, using random: inout SplitMix64
    ) -> (connection: UInt64, presence: LinkPresence.Peer.Presence?) {
        let known = here[form, default: [:]].keys.sorted()
        if let connection = known.randomElement(using: &random),
            known.count > 4
                || Int.random(in: 0..<3, using: &random) > 0
        {
            guard Int.random(in: 0..<4, using: &random) > 0 else {
                here[form]?[connection] = nil
                return (connection, nil)
            }
            return (connection, move(form, connection, using: &random))
        }
        lastConnection += 1
        return (lastConnection, move(form, lastConnection, using: &random))
    }

    private mutating func move(
        _ form: String, _ connection: UInt64, using random: inout SplitMix64
    ) -> LinkPresence.Peer.Presence {
        let place = "f\(Int.random(in: 0..<1_000, using: &random))"
        here[form, default: [:]][connection] = place
        let long = Int.random(in: 0..<8, using: &random) == 0
        return LinkPresence.Peer.Presence(
            user: "u\(connection)", focus: place,
            draft: Array((long ? String(repeating: "7", count: 900) : "7").utf8))
    }

    /// Shows what the machine says.
    mutating func take(_ peers: [RemotePeer]) {
        for peer in peers { shown[peer.connection] = peer.presence == nil ? nil : peer }
    }

    /// Counts a word; returns what is wrong.
    mutating func count(_ message: LinkPublication, at now: Moment) -> String? {
        let time = now.monotonicNanoseconds
        let recent =
            said[message.subject, default: []].filter { time - $0 < 1_000_000_000 } + [time]
        said[message.subject] = recent
        return recent.count > Limits().linkPresencePerSecondMax
            ? "\(message.subject): \(recent.count) words in a second" : nil
    }

    /// Whom it shows of a host in a form, and where.
    func shown(of host: String, in form: String) -> [String: String] {
        var places: [String: String] = [:]
        for peer in shown.values where peer.host == host && peer.form == form {
            let user = peer.presence?.user ?? ""
            places[user] = places[user] == nil ? peer.presence?.focus ?? "" : "twice"
        }
        return places
    }

    /// Who is here in a form, as others must show them.
    func expected(in form: String) -> [String: String] {
        var places: [String: String] = [:]
        for (connection, place) in here[form] ?? [:] { places["u\(connection)"] = place }
        return places
    }
}
