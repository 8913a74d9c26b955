internal import Glibc
internal import SyncCore

// `link:` of the configuration: which fleet this daemon belongs to, and what it shares.

/// The link to the daemons of other hosts, as configured.
public struct LinkOptions: Sendable, Equatable {
    /// The name of the fleet.
    public var fleet: String?
    /// The name of this host in it; `nil`: the machine's name up to the first dot.
    public var host: String?
    /// Globs of the names of shared forms.
    public var forms: [String] = []
    /// The files of the fleet key: two while the fleet changes it, of which the first one seals.
    /// None: a credential, or `fleet-key` in the state directory.
    public var keys: [String] = []
    /// The user who may be the bridge: a name or a number; `nil`: `pickersync-link` for the
    /// system's daemon, if there is such a user, and otherwise the daemon's own.
    public var bridge: String?
    /// Whether this host edits shared forms: `both` or `follow`.
    public var mode: String?
    /// Whether a name means the same person on all hosts: `apart` or `same`.
    public var users: String?
    /// The JetStream domains of the sites, this host's first; empty: the fleet has one stream.
    public var streams: [String] = []

    /// The members in the file, and before the `=` of `--link`.
    enum Member: String, CaseIterable {
        case fleet, host, forms, key, bridge, mode, users, streams

        /// Whether it may have several values.
        var isList: Bool { [.forms, .key, .streams].contains(self) }

        private static func all<Choice: RawRepresentable<String> & CaseIterable>(
            _ type: Choice.Type
        ) -> String {
            Choice.allCases.map(\.rawValue).joined(separator: " or ")
        }

        /// The format of a value, in words.
        var expected: String {
            switch self {
            case .fleet, .host:
                "a name of 1 to \(LinkSubject.nameBytesMax) letters, digits, - and _"
            case .forms: "names of forms, or globs"
            case .key: "the path of a file; two while the fleet changes its key"
            case .bridge: "the name or the number of a user"
            case .mode: Self.all(LinkConfiguration.Mode.self)
            case .users: Self.all(LinkConfiguration.Users.self)
            case .streams:
                "JetStream domains of the sites, this host's first: at most "
                    + "\(LinkConfiguration.streamsMax) names of letters, digits, - and _"
            }
        }
    }

    /// Sets one member from text; relative paths are relative to `folder`.
    mutating func set(_ member: Member, _ text: String, folder: String) throws(BadValue) {
        let refused = BadValue(
            message: "\"\(text)\" is not a value of \(member.rawValue)",
            expected: member.expected)
        switch member {
        case .fleet, .host:
            guard LinkSubject.isName(text) else { throw refused }
            if member == .fleet { fleet = text } else { host = text }
        case .forms:
            guard !text.isEmpty, text.utf8.count <= 128 else { throw refused }
            forms.append(text)
        case .key:
            guard keys.count < 2 else { throw refused }
            keys.append(try ConfigurationLayer.path(text, folder, .link))
        case .bridge:
            guard !text.isEmpty, !text.utf8.contains(0) else { throw refused }
            bridge = text
        case .mode:
            guard LinkConfiguration.Mode(rawValue: text) != nil else { throw refused }
            mode = text
        case .users:
            guard LinkConfiguration.Users(rawValue: text) != nil else { throw refused }
            users = text
        case .streams:
            guard LinkSubject.isName(text), !streams.contains(text),
                streams.count < LinkConfiguration.streamsMax
            else { throw refused }
            streams.append(text)
        }
    }

    /// `fleet=ops`.
    mutating func set(_ text: String, folder: String) throws(BadValue) {
        guard let equals = text.firstIndex(of: "=") else {
            throw BadValue(message: "\"\(text)\" is not a member of link", expected: "NAME=VALUE")
        }
        let name = String(text[..<equals])
        try set(try Self.member(name), String(text[text.index(after: equals)...]), folder: folder)
    }

    static func member(_ name: String) throws(BadValue) -> Member {
        guard let member = Member(rawValue: name) else {
            throw BadValue(
                message: "no such member of link",
                expected: Similar.orAll(name, among: Member.allCases.map(\.rawValue)))
        }
        return member
    }

    /// What is missing, in a sentence; `nil` if nothing is.
    var fault: String? {
        if fleet == nil { return "link has no fleet: give it a name, the same on all hosts" }
        if forms.isEmpty { return "link has no forms: name those to share, or \"*\"" }
        if host == nil, !LinkSubject.isName(Self.machineName) {
            return "this machine's name cannot name a host: set link.host"
        }
        return nil
    }

    /// The machine's name up to the first dot: gethostname(2).
    static var machineName: String {
        var name = utsname()
        guard uname(&name) == 0 else { return "" }
        let full = withUnsafeBytes(of: name.nodename) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return String(full.prefix { $0 != "." })
    }
}

extension LinkConfiguration {
    /// What the engine must know of a link.
    init(_ options: LinkOptions, daemonUID: UInt32) throws(StartFailure) {
        var bridgeUID = daemonUID
        if let bridge = options.bridge {
            guard let number = SystemNames.userNumber(bridge) else {
                throw StartFailure(
                    .configuration,
                    "no user \"\(bridge)\" for link.bridge: create it, or choose "
                        + "another")
            }
            bridgeUID = number
        }
        self.init(
            fleet: options.fleet ?? "", host: options.host ?? LinkOptions.machineName,
            forms: options.forms.map { Glob($0) }, bridgeUID: bridgeUID)
        if let mode = options.mode.flatMap(Mode.init(rawValue:)) { self.mode = mode }
        if let users = options.users.flatMap(Users.init(rawValue:)) { self.users = users }
        streams = options.streams
    }
}
