// The environment variables of the process, read once. Invariants: variables that systemd set only
// for this process are removed from the real environment, so that no child process uses them
// (sd_listen_fds(3), sd_notify(3)).

internal import Glibc

/// Environment variables by name; they are only looked up, never iterated.
public struct ProcessEnvironment: Sendable {
    private let variables: [String: String]

    /// The given variables, for tests.
    public init(_ variables: [String: String]) {
        self.variables = variables
    }

    /// The value of a variable; `nil` if it is unset or empty.
    ///
    /// An empty variable counts as unset, as in the XDG Base Directory Specification.
    public subscript(name: String) -> String? {
        guard let value = variables[name], !value.isEmpty else { return nil }
        return value
    }

    /// Variables that the service manager meant for exactly this process.
    static let ofServiceManager = [
        "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "WATCHDOG_USEC",
        "WATCHDOG_PID", "STATE_DIRECTORY", "RUNTIME_DIRECTORY", "CREDENTIALS_DIRECTORY",
    ]

    /// Reads the environment of this process and removes `ofServiceManager` from it.
    ///
    /// Call it only before another thread exists: getenv(3) and unsetenv(3) have no lock.
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
