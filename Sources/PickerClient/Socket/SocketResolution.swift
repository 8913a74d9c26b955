// Which socket a client speaks to (PROTOCOL.md, Where the daemon is).
//
// `--socket`, else `$PICKERSYNC_SOCKET`, else the user's own if a daemon answers or the user has a
// store, else the system's if it exists, else the user's own, whose daemon is started; without a
// runtime folder the user's own is in /tmp, and comes last. The rules are a pure function of what
// a probe sees, so `doctor` can show them step by step and a test can simulate every machine.

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The facts about the machine that the rules need.
public struct SocketProbe {
    /// The value of an environment variable; empty counts as unset.
    public var variable: (String) -> String?
    /// The file at a path.
    public var facts: (String) -> FileFacts?
    /// Whether a daemon answers at a path.
    public var answers: (String) -> Bool
    /// Why a folder is not this user's own, or not private if it has to be.
    public var problem: (_ folder: String, _ isPrivate: Bool) -> UnsafeFolder?
    /// The effective uid of this process.
    public var uid: UInt32

    /// A probe with the given answers.
    public init(
        uid: UInt32, variable: @escaping (String) -> String?,
        facts: @escaping (String) -> FileFacts?, answers: @escaping (String) -> Bool,
        problem: @escaping (_ folder: String, _ isPrivate: Bool) -> UnsafeFolder? = { _, _ in nil }
    ) {
        self.uid = uid
        self.variable = variable
        self.facts = facts
        self.answers = answers
        self.problem = problem
    }

    /// The machine that this process runs on.
    public static func system() -> SocketProbe {
        system(keeping: KeptSocket())
    }

    /// The same, but the connection with which a daemon was found is kept, so that only one
    /// connection is needed.
    static func system(keeping kept: KeptSocket) -> SocketProbe {
        let uid = geteuid()
        return SocketProbe(
            uid: uid, variable: environmentVariable, facts: { FileFacts.at($0) },
            answers: { path in
                let deadline = MonotonicClock.now().adding(seconds: 1)
                do throws(ConnectError) {
                    let socket = try StreamSocket.connect(path: path, deadline: deadline)
                    // The connection of another user's daemon is not kept; `connect` reports it.
                    if socket.peerUser == uid { kept.put(socket) }
                    return true
                } catch {
                    return false
                }
            },
            problem: { PathSafety.problem(withOwn: $0, of: uid, isPrivate: $1) })
    }
}

/// Keeps one connected socket between the rules and the client.
final class KeptSocket {
    private var socket: StreamSocket?

    init() {}

    func put(_ socket: consuming StreamSocket) {
        self.socket = consume socket
    }

    /// Returns the socket and gives up ownership.
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

/// The paths of the user's own daemon.
public struct UserDaemonPlace: Hashable, Sendable {
    /// The folder of the socket, created 0700 when a daemon is started.
    public var runtimeDirectory: String
    /// Why the runtime directory is this one.
    public var reason: String
    /// `runtimeDirectory/sock`.
    public var socket: String { runtimeDirectory + "/sock" }
    /// The folder of the store; `nil` if neither `XDG_STATE_HOME` nor `HOME` is set.
    public var stateDirectory: String?
    /// The store's database.
    public var store: String? { stateDirectory.map { $0 + "/pickersync.db" } }
    /// Whether the user has no runtime folder, so that the socket is in /tmp.
    public var isInSharedDirectory: Bool
    /// Whose daemon it is.
    let uid: UInt32

    /// The place by the XDG Base Directory rules: relative paths in the variables are ignored, and
    /// so is a runtime directory that is not the user's own: su(1) and sudo(8) may leave another's.
    public init(_ probe: SocketProbe) {
        uid = probe.uid
        let variable = probe.variable("XDG_RUNTIME_DIR")
        var ignored = "XDG_RUNTIME_DIR is not set"
        var found: String?
        if let variable, !variable.hasPrefix("/") {
            ignored = "XDG_RUNTIME_DIR is not an absolute path"
        } else if let variable, let problem = probe.problem(variable, false) {
            ignored = "XDG_RUNTIME_DIR is not used: \(problem.path): \(problem.words)"
        } else {
            found = variable
        }
        let usual = "/run/user/\(probe.uid)"
        if let found {
            runtimeDirectory = found + "/pickersync"
            reason = "XDG_RUNTIME_DIR is \(found)"
            isInSharedDirectory = false
        } else if probe.facts(usual)?.kind == .directory, probe.problem(usual, false) == nil {
            runtimeDirectory = usual + "/pickersync"
            reason = "\(ignored); \(usual) exists"
            isInSharedDirectory = false
        } else {
            runtimeDirectory = "/tmp/pickersync-\(probe.uid)"
            reason =
                "\(ignored), and there is no \(usual) of your own; log in through PAM, or set "
                + "XDG_RUNTIME_DIR"
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
        case option, environment, userDaemonAnswers, userHasStore, system, userDaemonStarts, host
    }

    /// Where the system's daemon listens.
    public static let systemSocket = "/run/pickersync/sock"

    /// The path of the socket; of a daemon on another machine the name of that machine.
    public var path: String
    public var rule: Rule
    public var place: UserDaemonPlace
    /// The machine of the daemon, if it is another one.
    public private(set) var host: RemoteHost?
    /// Each rule in order with its result; the last one chose the socket.
    public var steps: [String]

    /// Whether the daemon may be started when nobody answers: only on the user's own socket.
    public var mayStart: Bool { host == nil && path == place.socket }

    /// A daemon on another machine. Its rules choose the socket there.
    public init(host: RemoteHost, reason: String, probe: SocketProbe) {
        self.init(host.name, .host, UserDaemonPlace(probe), [reason])
        self.host = host
    }

    /// Applies the rules.
    public init(option: String?, probe: SocketProbe) {
        let place = UserDaemonPlace(probe)
        if let option {
            self.init(option, .option, place, ["--socket \(option): used"])
            return
        }
        var steps = ["--socket: not given"]
        if let path = probe.variable("PICKERSYNC_SOCKET") {
            self.init(path, .environment, place, steps + ["PICKERSYNC_SOCKET=\(path): used"])
            return
        }
        steps += ["PICKERSYNC_SOCKET: not set", place.reason]
        if !place.isInSharedDirectory, let own = Self.own(place, probe, &steps) {
            self.init(place.socket, own, place, steps)
            return
        }
        if probe.facts(Self.systemSocket) != nil {
            self.init(
                Self.systemSocket, .system, place, steps + ["\(Self.systemSocket): exists; used"])
            return
        }
        steps.append("\(Self.systemSocket): not there")
        if place.isInSharedDirectory, let own = Self.own(place, probe, &steps) {
            self.init(place.socket, own, place, steps)
            return
        }
        self.init(
            place.socket, .userDaemonStarts, place,
            steps + ["\(place.socket): used, for a daemon of the user's own"])
    }

    /// Whether the rules choose the user's own socket, and why.
    private static func own(
        _ place: UserDaemonPlace, _ probe: SocketProbe, _ steps: inout [String]
    ) -> Rule? {
        if let problem = probe.problem(place.runtimeDirectory, true) {
            // Using another socket instead would be wrong: the user's forms would seem to be
            // missing.
            steps.append("\(place.socket): used, but \(problem.path): \(problem.words)")
            return .userDaemonStarts
        }
        if probe.answers(place.socket) {
            steps.append("\(place.socket): a daemon answers; used")
            return .userDaemonAnswers
        }
        guard let store = place.store, probe.facts(store) != nil else {
            steps.append("\(place.socket): nobody answers, and the user has no store")
            return nil
        }
        steps.append("\(place.socket): nobody answers")
        steps.append("\(store): the user has a store; \(place.socket) is used")
        return .userHasStore
    }

    private init(_ path: String, _ rule: Rule, _ place: UserDaemonPlace, _ steps: [String]) {
        self.path = path
        self.rule = rule
        self.place = place
        self.steps = steps
    }
}

extension UserDaemonPlace {
    /// Why no daemon there may be trusted or started.
    public var problem: UnsafeFolder? {
        PathSafety.problem(withOwn: runtimeDirectory, of: uid, isPrivate: true)
    }

    /// Connects to the user's own daemon, and to nobody else. `deadline` is monotonic nanoseconds.
    func connect(deadline: UInt64) throws(ConnectError) -> StreamSocket {
        if let problem { throw .unsafeFolder(problem) }
        let connected = try StreamSocket.connect(path: socket, deadline: deadline)
        let peer = connected.peerUser
        guard peer == uid else { throw .stranger(path: socket, uid: peer ?? .max) }
        return connected
    }
}

extension SocketResolution {
    /// The state directory of the daemon that had this socket last: the second line of the lock
    /// beside it. `nil` if there is none, or if somebody else wrote it.
    public var stateDirectory: String? {
        let number = open(path + ".lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else { return nil }
        let file = Descriptor(number)
        var facts = stat()
        guard fstat(file.number, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG,
            facts.st_uid == 0 || facts.st_uid == place.uid
        else { return nil }
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX) + 32)
        let count = read(file.number, &buffer, buffer.count)
        guard count > 0 else { return nil }
        let lines = buffer[..<count].split(separator: UInt8(ascii: "\n"))
        guard lines.count == 2, lines[1].first == UInt8(ascii: "/") else { return nil }
        return String(decoding: lines[1], as: UTF8.self)
    }

    /// Connects, and returns the connection only if the listening user is trusted: the user, and on
    /// a socket that is not the user's own also root, or the owner of its folder if nobody else
    /// could have made that folder. On another machine ssh decides whom to trust.
    ///
    /// - Parameters:
    ///   - deadline: monotonic nanoseconds.
    ///   - mayAsk: ssh may ask on the terminal.
    public func connect(
        deadline: UInt64, mayAsk: Bool = true
    ) throws(ConnectError) -> StreamSocket {
        if let host {
            let shared = place.isInSharedDirectory ? nil : place.runtimeDirectory
            let isUsable = shared.map { createDirectories($0) == nil && place.problem == nil }
            return try host.connect(
                sharing: isUsable == true ? shared : nil, deadline: deadline, mayAsk: mayAsk)
        }
        if mayStart { return try place.connect(deadline: deadline) }
        let connected = try StreamSocket.connect(path: path, deadline: deadline)
        let peer = connected.peerUser ?? .max
        if peer == place.uid || peer == 0 { return connected }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let problem = PathSafety.problem(with: folder, for: peer, allowsSticky: false)
        guard problem == nil, FileFacts.at(folder)?.owner == peer else {
            throw .stranger(path: path, uid: peer)
        }
        return connected
    }
}
