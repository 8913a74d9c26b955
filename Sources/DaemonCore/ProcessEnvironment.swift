// The environment variables of the process, read once. Always holds: what systemd meant for this
// process alone is gone from the real environment afterwards, so that no child takes it for its own
// (sd_listen_fds(3), sd_notify(3)).

internal import Glibc

/// Environment variables by name; looked up, never listed.
public struct ProcessEnvironment: Sendable {
    private let variables: [String: String]

    /// The given variables, as a test wants them.
    public init(_ variables: [String: String]) {
        self.variables = variables
    }

    /// The value of a variable; `nil` where it is unset or empty.
    ///
    /// Empty counts as unset, as the XDG Base Directory Specification wants it for its variables
    /// and as it is least surprising for ours.
    public subscript(name: String) -> String? {
        guard let value = variables[name], !value.isEmpty else { return nil }
        return value
    }

    /// Variables that the service manager meant for exactly this process.
    static let ofServiceManager = [
        "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "WATCHDOG_USEC",
        "WATCHDOG_PID", "STATE_DIRECTORY", "RUNTIME_DIRECTORY", "CREDENTIALS_DIRECTORY",
    ]

    /// Takes the environment of this process: `ofServiceManager` is unset in it afterwards.
    ///
    /// Only before another thread exists: getenv(3) and unsetenv(3) exclude each other by nothing.
    public static func take() -> ProcessEnvironment {
        var variables: [String: String] = [:]
        var place = environ
        while let entry = place.pointee {
            let text = String(cString: entry)
            if let equals = text.firstIndex(of: "=") {
                variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            place += 1
        }
        for name in ofServiceManager { unsetenv(name) }
        return ProcessEnvironment(variables)
    }
}
