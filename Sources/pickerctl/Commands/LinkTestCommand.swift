internal import ArgumentParser
internal import Glibc
internal import PickerClient
internal import SyncCore

/// `pickerctl link test`.
struct LinkTestCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "test", abstract: "Send one message through the log and back, and time each part.",
        discussion: """
            The message changes nothing. For root, the daemon's user and the members of its group. \
            Exit status 1: the link is not up, or a part took longer than 5 seconds; the last line \
            says what to look at.

            Example: pickerctl link test
            """)
    @OptionGroup var common: CommonOptions

    var request: LinkTestRequest { LinkTestRequest(settings: common.settings) }
}

/// The arguments of `pickerctl link test`.
struct LinkTestRequest: PlainRequest {
    let settings: Settings

    /// The parts in `server.status`, in order, each with what it means and what to look at if it
    /// does not come.
    private static let parts = [
        (
            "server", "daemon, bridge, server, and back",
            "the server does not answer requests of JetStream: see pickerctl doctor"
        ),
        (
            "taken", "published, and acknowledged by the stream",
            "the stream did not take the message: look whether this host may publish to "
                + "ps.FLEET.HOST.>, and at the log of the server"
        ),
        (
            "back", "published, and back through the stream",
            "the message did not come back: look whether this host may use "
                + "$JS.API.CONSUMER.MSG.NEXT.STREAM.*, and at the log of the server"
        ),
        (
            "saved", "published, back, and durable in the store",
            "the store did not save it: see pickerctl status"
        ),
    ]

    func run() throws(Failure) {
        let session = Session(settings)
        try session.call(.linkTest)
        var link = try status(session)
        while link["test"]?["running"]?.boolValue == true {
            usleep(20_000)
            link = try status(session)
        }
        let test = link["test"] ?? .null
        var lines = [
            ("bridge to server, and back (when it connected)", link["rttUs"]?.integerValue)
        ]
        lines += Self.parts.map { ($0.1, test["us"]?[$0.0]?.integerValue) }
        for (name, microseconds) in lines {
            guard let microseconds else { continue }
            try session.console.safeLine(
                "\(microseconds / 1_000).\(microseconds / 100 % 10) ms  \(name)")
        }
        try session.console.flush()
        guard let failed = test["failedAt"]?.stringValue else { return }
        throw .linkTest(Self.parts.first { $0.0 == failed }?.2)
    }

    private func status(_ session: Session) throws(Failure) -> JSON {
        try session.call(.serverStatus)["link"] ?? .null
    }
}
