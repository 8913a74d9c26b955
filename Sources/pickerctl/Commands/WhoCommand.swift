internal import ArgumentParser
internal import PickerClient
internal import SyncCore

/// `pickerctl who`: users that have the form open.
struct WhoCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "who", abstract: "Who has the form open, and where.",
        discussion: """
            Example: pickerctl who deploy
            """)
    @OptionGroup var common: CommonOptions
    @Argument(completion: .custom(Completion.forms)) var form: String?
    @Option(name: .shortAndLong, help: "text or json (one peer per line).")
    var output = TextOrJSON.text

    var request: WhoRequest {
        WhoRequest(settings: common.settings, output: output, form: form)
    }
}

/// The arguments of `pickerctl who`.
struct WhoRequest: PlainRequest {
    let settings: Settings
    let output: TextOrJSON
    let form: String?

    /// The daemon reports who is present within this many seconds, if at all.
    private static let patienceSeconds = 5.0

    func run() throws(Failure) {
        let session = Session(settings)
        let form = try session.form(at: form)
        session.client.subscribe(StateSubscribe(form: form, fields: [], presence: true))
        // The subscription makes us present too. Peers are reported in the order in which they
        // came, and we came last: when we are reported, we know all.
        try session.call(.ping)
        guard let me = session.client.greeting?.you.connection else {
            throw .noName
        }
        var peers: [PresenceChanged.Peer] = []
        let deadline = MonotonicClock.now().adding(seconds: Self.patienceSeconds)
        while true {
            switch try session.wait(until: deadline) {
            case .deadline: return try print(peers, of: form, session)
            case .event(.subscriptionRefused(_, let error)): throw Failure(error)
            case .event(.presence(let change)) where change.form == form:
                for peer in change.peers {
                    peers.removeAll { $0.connection == peer.connection }
                    if !peer.isGone { peers.append(peer) }
                }
                if change.peers.contains(where: { $0.connection == me }) {
                    // Unsubscribes before printing, so that the next `who` does not see us.
                    try session.call(.stateUnsubscribe(form: form))
                    return try print(peers.filter { $0.connection != me }, of: form, session)
                }
            case .event, .readable: continue
            }
        }
    }

    private func print(
        _ peers: [PresenceChanged.Peer], of form: String, _ session: Session
    ) throws(Failure) {
        let others = peers.sorted { $0.connection < $1.connection }
        var table = Table(["USER", "TERMINAL", "PROGRAM", "AT FIELD"])
        for peer in others {
            switch output {
            case .text:
                table.append([
                    UserName.text(peer.user, host: peer.host), peer.tty ?? "—",
                    peer.client ?? "—", peer.focus ?? "—",
                ])
            case .json:
                var json = JSONObject([
                    ("user", .string(peer.user)), ("tty", peer.tty.map { .string($0) } ?? .null),
                    ("client", peer.client.map { .string($0) } ?? .null),
                    ("focus", peer.focus.map { .string($0) } ?? .null),
                    ("connection", .integer(peer.connection)),
                ])
                if let host = peer.host { json["host"] = .string(host) }
                try session.console.line(JSON.object(json).encodedText)
            }
        }
        if output == .text {
            if table.isEmpty {
                session.console.note("nobody has form \(form) open")
            } else {
                try table.print(session.console)
            }
        }
        try session.console.flush()
    }
}

extension WhoRequest {
    init(_ words: inout PlainWords) {
        self.init(
            settings: words.settings(), output: words.choice("--output", "-o") ?? .text,
            form: words.nameIfAny())
    }
}
