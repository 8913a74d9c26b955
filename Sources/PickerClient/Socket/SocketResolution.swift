// Which socket a client speaks to (PROTOCOL.md, the wire).
//
// `--socket`, else `$PICKERSYNC_SOCKET`, else the user's own where a daemon answers or the user has
// a store, else the system's where it exists, else the user's own, whose daemon is started. The
// rules are a pure function of what a probe sees, so that `doctor` can tell them step by step and a
// test can play every machine.

internal import Glibc

/// What the rules want to know of the machine.
public struct SocketProbe {
    /// The value of an environment variable; empty counts as unset.
    public var variable: (String) -> String?
    /// What lies at a path.
    public var facts: (String) -> FileFacts?
    /// Whether a daemon answers at a path.
    public var answers: (String) -> Bool
    /// The uid of this process.
    public var uid: UInt32

    /// A probe of the given answers.
    public init(
        uid: UInt32, variable: @escaping (String) -> String?,
        facts: @escaping (String) -> FileFacts?, answers: @escaping (String) -> Bool
    ) {
        self.uid = uid
        self.variable = variable
        self.facts = facts
        self.answers = answers
    }

    /// The machine that this process runs on.
    public static func system() -> SocketProbe {
        system(keeping: KeptSocket())
    }

    /// The same, and the connection by which a daemon was found is kept, so that finding it and
    /// speaking to it are one connection.
    static func system(keeping kept: KeptSocket) -> SocketProbe {
        SocketProbe(
            uid: getuid(), variable: environmentVariable, facts: { FileFacts.at($0) },
            answers: { path in
                let deadline = MonotonicClock.now().adding(seconds: 1)
                do throws(ConnectError) {
                    kept.put(try StreamSocket.connect(path: path, deadline: deadline))
                    return true
                } catch {
                    return false
                }
            })
    }
}

/// A place for one connected socket between the rules and the client.
final class KeptSocket {
    private var socket: StreamSocket?

    init() {}

    func put(_ socket: consuming StreamSocket) {
        self.socket = consume socket
    }

    /// The socket, which is nobody else's from then on.
    func take() -> StreamSocket? {
        let taken = socket.take()
        return taken
    }
}

/// The value of an environment variable that is set and not empty.
public func environmentVariable(_ name: String) -> String? {
    guard let pointer = getenv(name), pointer.pointee != 0 else { return nil }
    return String(cString: pointer)
}

/// Where the user's own daemon lives.
public struct UserDaemonPlace: Hashable, Sendable {
    /// The folder of the socket, created 0700 when a daemon is started.
    public var runtimeDirectory: String
    /// Why the runtime directory is this one.
    public var reason: String
    /// `runtimeDirectory/sock`.
    public var socket: String { runtimeDirectory + "/sock" }
    /// The folder of the store; `nil` where neither `XDG_STATE_HOME` nor `HOME` is set.
    public var stateDirectory: String?
    /// The store's database.
    public var store: String? { stateDirectory.map { $0 + "/pickersync.db" } }
    /// Whether the runtime directory lies in /tmp, where its owner has to be looked at.
    public var isInSharedDirectory: Bool

    /// The place by the XDG Base Directory rules: relative paths in the variables are ignored.
    public init(_ probe: SocketProbe) {
        if let runtime = probe.variable("XDG_RUNTIME_DIR"), runtime.hasPrefix("/") {
            runtimeDirectory = runtime + "/pickersync"
            reason = "XDG_RUNTIME_DIR is \(runtime)"
            isInSharedDirectory = false
        } else if probe.facts("/run/user/\(probe.uid)")?.kind == .directory {
            runtimeDirectory = "/run/user/\(probe.uid)/pickersync"
            reason = "XDG_RUNTIME_DIR is not set; /run/user/\(probe.uid) exists"
            isInSharedDirectory = false
        } else {
            runtimeDirectory = "/tmp/pickersync-\(probe.uid)"
            reason =
                "XDG_RUNTIME_DIR is not set and there is no /run/user/\(probe.uid); "
                + "log in through PAM, or set XDG_RUNTIME_DIR"
            isInSharedDirectory = true
        }
        if let state = probe.variable("XDG_STATE_HOME"), state.hasPrefix("/") {
            stateDirectory = state + "/pickersync"
        } else if let home = probe.variable("HOME"), home.hasPrefix("/") {
            stateDirectory = home + "/.local/state/pickersync"
        } else {
            stateDirectory = nil
        }
    }
}

/// The socket that was chosen, and how.
public struct SocketResolution: Hashable, Sendable {
    /// Which rule chose.
    public enum Rule: Hashable, Sendable {
        case option, environment, userDaemonAnswers, userHasStore, system, userDaemonStarts
    }

    /// Where the system's daemon listens.
    public static let systemSocket = "/run/pickersync/sock"

    public var path: String
    public var rule: Rule
    public var place: UserDaemonPlace
    /// Each rule in order with what was found, the last one the one that chose.
    public var steps: [String]

    /// Whether the daemon may be started when nobody answers: only on the user's own socket.
    public var mayStart: Bool { path == place.socket }

    /// Applies the rules.
    public init(option: String?, probe: SocketProbe) {
        let place = UserDaemonPlace(probe)
        if let option {
            self.init(option, .option, place, ["--socket \(option): taken"])
            return
        }
        var steps = ["--socket: not given"]
        if let path = probe.variable("PICKERSYNC_SOCKET") {
            self.init(path, .environment, place, steps + ["PICKERSYNC_SOCKET=\(path): taken"])
            return
        }
        steps += ["PICKERSYNC_SOCKET: not set", place.reason]
        if probe.answers(place.socket) {
            self.init(
                place.socket, .userDaemonAnswers, place,
                steps + ["\(place.socket): a daemon answers; taken"])
            return
        }
        if let store = place.store, probe.facts(store) != nil {
            self.init(
                place.socket, .userHasStore, place,
                steps + [
                    "\(place.socket): nobody answers",
                    "\(store): the user has a store; \(place.socket) taken",
                ])
            return
        }
        steps.append("\(place.socket): nobody answers, and the user has no store")
        if probe.facts(Self.systemSocket) != nil {
            self.init(
                Self.systemSocket, .system, place, steps + ["\(Self.systemSocket): exists; taken"])
            return
        }
        self.init(
            place.socket, .userDaemonStarts, place,
            steps + [
                "\(Self.systemSocket): not there",
                "\(place.socket): taken, for a daemon of the user's own",
            ])
    }

    private init(_ path: String, _ rule: Rule, _ place: UserDaemonPlace, _ steps: [String]) {
        self.path = path
        self.rule = rule
        self.place = place
        self.steps = steps
    }
}
