// How a client finds its daemon.

internal import PickerClient

/// How a client finds its daemon and introduces itself.
public struct ConnectionOptions: Sendable, Hashable {
    /// The socket; where it is `nil`, `PICKERSYNC_SOCKET`, then the user's daemon, then the
    /// system's.
    public var socket: String?
    /// Name and version of the program, for the history and for those who look who is there.
    public var client: String
    /// Whether the user's own daemon may be started where none answers.
    public var startsDaemon = true
    /// Seconds that a call waits for its answer where it names no timeout of its own.
    public var answerSeconds = 30.0

    /// Options for a program.
    ///
    /// - Parameters:
    ///   - client: name and version, such as `poll/1.2`; by default the executable's name.
    ///   - socket: the daemon's socket, where the rules are not to look for it.
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

    /// Options of a client that a thread of its own drives: it must hear of cancelled calls while
    /// it connects.
    var background: BlockingClient.Options {
        var options = blocking
        options.connectsInBackground = true
        return options
    }
}
