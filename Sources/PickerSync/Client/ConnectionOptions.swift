// How a client finds its daemon.

internal import PickerClient

/// How a client finds its daemon and introduces itself.
public struct ConnectionOptions: Sendable, Hashable {
    /// The socket; if it is `nil`, `PICKERSYNC_SOCKET`, then the user's daemon, then the system's.
    public var socket: String?
    /// Name and version of the program, for the history and the list of people who have a form
    /// open.
    public var client: String
    /// Whether to start the user's own daemon if none answers.
    public var startsDaemon = true
    /// The default timeout of a call in seconds.
    public var answerSeconds = 30.0

    /// Options for a program.
    ///
    /// - Parameters:
    ///   - client: name and version, such as `poll/1.2`; by default the executable's name.
    ///   - socket: the daemon's socket; `nil` to find it by the rules.
    public init(client: String? = nil, socket: String? = nil) {
        let program = CommandLine.arguments.first?.split(separator: "/").last
        self.client = client ?? program.map(String.init) ?? "PickerSync"
        self.socket = socket
    }

    var blocking: BlockingClient.Options {
        var options = BlockingClient.Options(client: client)
        options.socket = socket
        options.autostart = startsDaemon
        options.answerSeconds = answerSeconds
        options.keepsChangesForReplica = true
        return options
    }

    /// Options of a client with its own thread: it must notice cancelled calls while it connects.
    var background: BlockingClient.Options {
        var options = blocking
        options.connectsInBackground = true
        return options
    }
}
