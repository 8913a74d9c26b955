// Who has forms open on other hosts, as they say.
//
// Invariants: a person is gone `goneAfter` after the last word of them, when their host says
// goodbye, and when it has started again. At most `LinkPresence.peersMax` people and `bytesMax`
// bytes are kept of a host, whatever arrives. A word that is not newer than the last one changes
// nothing.

/// Somebody on another host who has a form open, or left.
package struct RemotePeer: Hashable, Sendable {
    package let form: String
    package let host: String
    /// The number that this daemon gives the connection. None of its own has it.
    package let connection: UInt64
    /// `nil`: it has left.
    package let presence: LinkPresence.Peer.Presence?
}

/// See the head of this file.
struct PresenceRoster {
    private struct Known {
        let connection: UInt64
        var heard: UInt64
        var bytes: Int
    }

    private struct Form {
        var words = RateWindow()
        var peers: [UInt64: Known] = [:]
    }

    private struct Host {
        let run: UInt64
        var number: UInt64 = 0
        var count = 0
        var bytes = 0
        var forms: [String: Form] = [:]
    }

    /// When a person is gone of whom nothing more is heard, in nanoseconds.
    static let goneAfter: UInt64 = 30_000_000_000
    /// The most bytes of drafts and names that are kept of a host.
    private static let bytesMax = 256 << 10
    /// Forms of a host of which more is kept than the people.
    private static let formsMax = 1_024
    /// The numbers from here on belong to connections of other hosts. JSON has them exactly.
    static let firstConnection: UInt64 = 1 << 52

    private let perSecondMax: Int
    private var hosts: [String: Host] = [:]
    private var nextConnection = Self.firstConnection
    /// No person is gone earlier (monotonic nanoseconds).
    private(set) var deadline = UInt64.max

    /// Nobody is known.
    init(_ limits: Limits = Limits()) { perSecondMax = limits.linkPresencePerSecondMax }

    /// Whether a word of a host on a form is taken now: not if there are too many. The network may
    /// bring those of two seconds in one.
    mutating func admits(_ form: String, of host: String, _ run: UInt64, at now: Moment) -> Bool {
        if let forms = hosts[host]?.forms, forms.count >= Self.formsMax {
            hosts[host]?.forms = forms.filter { !$0.value.peers.isEmpty }
        }
        return hosts[host, default: Host(run: run)].forms[form, default: Form()].words
            .admits(max: 2 * perSecondMax, at: now)
    }

    /// A host said a word, which `admits` allowed.
    /// - Returns: what it changes or repeats.
    mutating func heard(
        _ word: LinkPresence, on form: String, of name: String, _ run: UInt64, at now: UInt64
    ) -> [RemotePeer] {
        var changes: [RemotePeer] = []
        if let known = hosts[name], known.run != run { changes = ended(name) }
        var host = hosts.removeValue(forKey: name) ?? Host(run: run)
        defer { hosts[name] = host }
        guard word.number > host.number else { return changes }
        host.number = word.number
        var peers = host.forms[form, default: Form()].peers
        for peer in word.peers {
            let known = peers[peer.connection]
            host.bytes -= known?.bytes ?? 0
            guard var presence = peer.presence else {
                guard let known else { continue }
                host.count -= 1
                peers[peer.connection] = nil
                changes.append(
                    RemotePeer(
                        form: form, host: name, connection: known.connection, presence: nil))
                continue
            }
            if known == nil {
                guard host.count < LinkPresence.peersMax else { continue }
                host.count += 1
                nextConnection += 1
            }
            if host.bytes + presence.bytes > Self.bytesMax { presence.draft = nil }
            let number = known?.connection ?? nextConnection - 1
            peers[peer.connection] = Known(
                connection: number, heard: now, bytes: presence.bytes)
            host.bytes += presence.bytes
            deadline = min(deadline, now + Self.goneAfter)
            changes.append(
                RemotePeer(form: form, host: name, connection: number, presence: presence))
        }
        host.forms[form, default: Form()].peers = peers
        return changes
    }

    /// A host said goodbye, or started again. Returns its people, who are gone.
    mutating func ended(_ name: String) -> [RemotePeer] {
        guard let host = hosts.removeValue(forKey: name) else { return [] }
        return host.forms.sorted { $0.key < $1.key }.flatMap { form, state in
            state.peers.values.map(\.connection).sorted().map {
                RemotePeer(form: form, host: name, connection: $0, presence: nil)
            }
        }
    }

    /// The people of whom nothing was heard for too long, who are gone.
    mutating func expired(at now: UInt64) -> [RemotePeer] {
        guard deadline <= now else { return [] }
        var gone: [RemotePeer] = []
        deadline = .max
        for name in hosts.keys.sorted() {
            guard var host = hosts.removeValue(forKey: name) else { continue }
            for form in host.forms.keys.sorted() {
                guard var peers = host.forms[form]?.peers, !peers.isEmpty else { continue }
                for (connection, known) in peers.sorted(by: { $0.key < $1.key }) {
                    guard now >= known.heard + Self.goneAfter else {
                        deadline = min(deadline, known.heard + Self.goneAfter)
                        continue
                    }
                    peers[connection] = nil
                    host.count -= 1
                    host.bytes -= known.bytes
                    gone.append(
                        RemotePeer(
                            form: form, host: name, connection: known.connection, presence: nil))
                }
                host.forms[form]?.peers = peers
            }
            hosts[name] = host
        }
        return gone
    }
}

extension LinkPresence.Peer.Presence {
    /// About its size in memory.
    fileprivate var bytes: Int {
        let texts = [user, client, tty, focus].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
        return texts + (draft?.count ?? 0)
    }
}
