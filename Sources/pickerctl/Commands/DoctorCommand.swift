// Finds out why PickerSync does not work: checks each step from this process to the daemon's store,
// and reports the result and what to do.

internal import ArgumentParser
internal import Glibc
internal import PickerClient
internal import SyncCore

/// `pickerctl doctor`.
struct DoctorCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "doctor", abstract: "Find out why it does not work. Starts nothing.",
        discussion: """
            Shows each step from this process to the daemon's store, and what to do if one fails.

            Example: pickerctl doctor --socket /run/pickersync/sock
            """)
    @OptionGroup var common: CommonOptions

    var request: DoctorRequest { DoctorRequest(settings: common.settings) }
}

/// The arguments of `pickerctl doctor`.
struct DoctorRequest: PlainRequest {
    let settings: Settings

    func run() throws(Failure) {
        var settings = settings
        settings.autostart = false
        let session = Session(settings)
        var examination = Examination()
        examination.socket(session.client.resolution)
        if !examination.isBlocked { examination.connection(session.client.resolution) }
        if examination.hasConnection {
            examination.daemon(BlockingClient(Self.options(settings)))
        }
        for finding in examination.findings {
            try session.console.safeLine("\(finding.mark.rawValue)  \(finding.text)")
        }
        try session.console.flush()
        if let status = examination.status { throw Failure.silent(status) }
    }

    private static func options(_ settings: Settings) -> BlockingClient.Options {
        var options = Session.options(settings)
        options.answerSeconds = 5
        return options
    }
}

extension DoctorRequest {
    init(_ words: inout PlainWords) {
        self.init(settings: words.settings())
    }
}

/// The results of the checks.
struct Examination {
    enum Mark: String { case good = "ok  ", odd = "note", bad = "BAD " }

    private(set) var findings: [(mark: Mark, text: String)] = []
    /// The exit status; `nil` if everything works.
    private(set) var status: ExitStatus?
    private(set) var hasConnection = false
    /// A connection is impossible.
    private(set) var isBlocked = false
    /// The process that listens, if the kernel reports it.
    private var process: Int32?

    private mutating func add(_ mark: Mark, _ text: String, _ status: ExitStatus? = nil) {
        findings.append((mark, text))
        self.status = self.status ?? status
    }

    /// The rules of PROTOCOL.md for the socket and their results, then the path to the socket.
    mutating func socket(_ resolution: SocketResolution) {
        let isShared = resolution.place.isInSharedDirectory && resolution.mayStart
        for step in resolution.steps {
            let isOdd = step == resolution.place.reason && (isShared || step.contains("not used"))
            add(isOdd ? .odd : .good, step)
        }
        if resolution.mayStart, resolution.place.stateDirectory == nil {
            add(
                .bad,
                "neither HOME nor XDG_STATE_HOME is set, so a daemon has no place for its store; "
                    + "set HOME",
                .unavailable)
        }
        if resolution.mayStart, let problem = resolution.place.problem {
            isBlocked = true
            return add(
                .bad,
                "\(problem.path): \(problem.words): somebody else could have made the socket, so "
                    + "nothing is sent there; remove that folder or correct its mode, or set "
                    + "XDG_RUNTIME_DIR to a folder of your own", .unavailable)
        }
        guard resolution.host == nil, folders(of: resolution.path) else { return }
        guard let facts = FileFacts.at(resolution.path) else {
            return add(.odd, "\(resolution.path): not there")
        }
        guard facts.kind == .socket else {
            isBlocked = true
            return add(
                .bad,
                "\(resolution.path) is not a socket; remove it, or choose another with --socket",
                .unavailable)
        }
        add(.good, "\(resolution.path): a socket, \(Self.permissions(facts))")
        guard access(resolution.path, R_OK | W_OK) != 0 else { return }
        isBlocked = true
        if facts.mode & 0o060 == 0o060 {
            let group = Self.groupName(facts.group)
            add(
                .bad,
                "the socket is for group \(group), and this process is not in it; have an "
                    + "administrator run usermod -aG \(group) USER, and log in again",
                .noPermission)
        } else {
            add(
                .bad,
                "the socket is for uid \(facts.owner) alone, and this is uid \(getuid()); become "
                    + "that user, or name a socket of your own with --socket", .noPermission)
        }
    }

    /// Whether the folders of a path exist and can be entered; reports the last one.
    private mutating func folders(of path: String) -> Bool {
        guard path.hasPrefix("/") else { return true }
        var folder = ""
        for name in path.split(separator: "/").dropLast() {
            folder += "/\(name)"
            guard let facts = FileFacts.at(folder) else {
                add(.odd, "\(folder): not there")
                return false
            }
            guard facts.kind == .directory else {
                isBlocked = true
                add(
                    .bad, "\(folder) is not a directory; choose another socket with --socket",
                    .unavailable)
                return false
            }
            guard access(folder, X_OK) == 0 else {
                isBlocked = true
                add(
                    .bad,
                    "\(folder): \(Self.permissions(facts)); uid \(getuid()) may not enter it; ask "
                        + "its owner, or name a socket of your own with --socket", .noPermission)
                return false
            }
        }
        if let facts = FileFacts.at(folder) { add(.good, "\(folder): \(Self.permissions(facts))") }
        return true
    }

    mutating func connection(_ resolution: SocketResolution) {
        do throws(ConnectError) {
            let isRemote = resolution.host != nil
            let deadline = MonotonicClock.now().adding(seconds: isRemote ? 60 : 2)
            let socket = try resolution.connect(deadline: deadline)
            if isRemote {
                hasConnection = true
                return add(.good, "\(resolution.path): connected over ssh")
            }
            process = socket.peerProcess
            hasConnection = true
            let pid = process.map { ", process \($0)" } ?? ""
            let user = socket.peerUser.map { ", uid \($0)" } ?? ""
            add(.good, "\(resolution.path): somebody listens\(pid)\(user)")
        } catch {
            unconnected(error, resolution)
        }
    }

    private mutating func unconnected(_ error: ConnectError, _ resolution: SocketResolution) {
        let path = resolution.path
        switch error {
        case .remote:
            let failure = Failure(ClientFailure.unreachable(error, resolution))
            add(.bad, failure.message, failure.status)
        case .refused, .missing:
            let what =
                if case .refused = error {
                    "\(path) is stale: its daemon is gone and nobody listens"
                } else {
                    "no daemon runs"
                }
            starting(what, resolution)
        case .forbidden: add(.bad, "\(path) may not be opened", .noPermission)
        case .timedOut where resolution.host != nil:
            add(.bad, "\(path) did not answer in time; try ssh \(path)", .unavailable)
        case .timedOut:
            add(
                .bad,
                "the daemon accepts no connections: it hangs or is full; look at its log, and "
                    + "restart it", .unavailable)
        case .nameTooLong:
            add(
                .bad,
                "the path is longer than \(StreamSocket.pathBytesMax) bytes; choose a shorter one",
                .unavailable)
        case .unsafeFolder(let folder): add(.bad, "\(folder.path): \(folder.words)", .unavailable)
        case .stranger(let path, let uid):
            add(
                .bad,
                "\(path): uid \(uid) listens there, not you, nor root, nor the owner of its "
                    + "folder; nothing was sent; ask who runs it (ss -xlp), or name another "
                    + "with --socket",
                .unavailable)
        case .failed(let path, let code):
            add(.bad, "\(path): \(describe(errno: code))", .unavailable)
        }
    }

    /// Nobody listens: reports what would start a daemon, and whether that would work.
    private mutating func starting(_ what: String, _ resolution: SocketResolution) {
        guard resolution.mayStart else {
            let step =
                resolution.rule == .system
                ? "systemctl start pickersyncd.socket" : Failure.startCommand(resolution)
            return add(.bad, "\(what); start it: \(step)", .unavailable)
        }
        guard let path = DaemonLauncher.findExecutable() else {
            return add(
                .bad,
                "\(what), and there is no pickersyncd beside pickerctl or in PATH; install it",
                .unavailable)
        }
        add(.odd, "\(what); the next command starts \(path)")
        writable(resolution.place.runtimeDirectory, "its socket")
        guard let state = resolution.place.stateDirectory else { return }
        writable(state, "its store")
        if FileFacts.at(state + "/pickersyncd.log") != nil {
            add(.good, "the log of its last start: \(state)/pickersyncd.log")
        }
    }

    /// Whether a folder is writable, or can be created.
    private mutating func writable(_ folder: String, _ what: String) {
        var present = folder[...]
        while FileFacts.at(String(present)) == nil, let slash = present.lastIndex(of: "/") {
            present = present[..<slash]
        }
        let path = present.isEmpty ? "/" : String(present)
        guard access(path, W_OK | X_OK) != 0, let facts = FileFacts.at(path) else { return }
        let step =
            path == folder
            ? "become its owner, or change its mode" : "\(folder) cannot be made there; make it"
        add(
            .bad,
            "\(path): \(Self.permissions(facts)): a daemon has no place for \(what); \(step)",
            .unavailable)
    }

    mutating func daemon(_ client: BlockingClient) {
        do throws(ClientFailure) {
            let status = try client.call(.serverStatus)
            if let hello = client.greeting {
                add(
                    .good,
                    "daemon \(hello.server), protocol \(hello.protocolVersion), replica "
                        + hello.replica)
                add(.good, "it knows you as \(hello.you.user) (uid \(hello.you.uid))")
                if !hello.server.hasSuffix("/" + Version.current) {
                    add(.odd, "this is pickerctl \(Version.current): restart the older one")
                }
            }
            if let durability = status["durability"]?.stringValue {
                let isSafe = durability == "commit"
                add(
                    isSafe ? .good : .odd,
                    "durability \(durability)" + (isSafe ? "" : ": a crash may cost the last edits")
                )
            }
            store(status)
            if let link = LinkReport(status) {
                for line in link.isWell ? [link.summary] : link.lines {
                    add(link.isWell ? .good : .odd, line)
                }
                for line in link.isWell ? link.oddities : [] { add(.odd, line) }
                if let advice = link.serverAdvice { add(.odd, advice) }
                if let sync = link.serverSync { add(.good, sync) }
            }
        } catch {
            switch error {
            case .timedOut(let seconds): silent(Int(seconds))
            case .incompatible(let refusal):
                add(
                    .bad,
                    "the daemon speaks another protocol (\(refusal.message)); install a pickerctl "
                        + "and a pickersyncd of one version, and restart the daemon",
                    .unavailable)
            case .violation(let reason):
                add(
                    .bad,
                    "this is not pickersyncd (\(reason)); choose another socket with "
                        + "--socket", .unavailable)
            default:
                let failure = Failure(error)
                add(.bad, failure.message, failure.status)
            }
        }
    }

    /// The kernel accepts connections for it, but it does not answer: proc_pid_stat(5).
    private mutating func silent(_ seconds: Int) {
        let what = "the daemon does not answer in \(seconds) seconds"
        guard let process else {
            return add(
                .bad, "\(what): it hangs; look at its log, and restart it", .unavailable)
        }
        switch Self.state(of: process) {
        case "T"?, "t"?:
            add(
                .bad, "\(what): process \(process) is stopped; kill -CONT \(process)",
                .unavailable)
        case "D"?:
            add(
                .bad,
                "\(what): process \(process) waits for its disk; look at the disk with dmesg",
                .unavailable)
        default:
            add(
                .bad,
                "\(what): process \(process) hangs; look at its log, and restart it", .unavailable)
        }
    }

    /// A process's state letter from /proc.
    private static func state(of process: Int32) -> Character? {
        guard let file = fopen("/proc/\(process)/stat", "re") else { return nil }
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        guard getline(&line, &capacity, file) > 0, let line else { return nil }
        // The name in brackets may contain anything; the state follows the last bracket.
        let text = String(cString: line)
        return text.lastIndex(of: ")").flatMap { text[$0...].dropFirst(2).first }
    }

    /// The members of `server.status` about the store and memory.
    private mutating func store(_ status: JSON) {
        if let bytes = status["memory"]?["resident"]?.integerValue {
            add(.good, "memory: \(Self.size(bytes)) resident")
        }
        let size = status["store"]?["bytes"]?.integerValue.map { ", \(Self.size($0))" } ?? ""
        switch (status["writable"]?.boolValue, status["trouble"]?.stringValue) {
        case (false?, let trouble?):
            add(
                .bad,
                "the store cannot be written: \(trouble); free some space or repair the disk: "
                    + "reading and watching still work, and edits are accepted once it can be "
                    + "written",
                .unavailable)
        case (false?, nil):
            add(.odd, "the store is being rebuilt; edits are accepted again in a moment")
        case (true?, _): add(.good, "store: writable\(size)")
        case (nil, _): add(.odd, "the daemon does not say how its store is; is it an older one?")
        }
    }

    /// A size for people: `12.3 MiB`.
    static func size(_ bytes: Int64) -> String {
        guard bytes >= 1_024 else { return "\(bytes) bytes" }
        var tenths = bytes.multipliedReportingOverflow(by: 10)
        if tenths.overflow { tenths.partialValue = .max }
        var value = tenths.partialValue
        for unit in ["KiB", "MiB", "GiB", "TiB"] {
            value /= 1_024
            if value < 10_240 || unit == "TiB" { return "\(value / 10).\(value % 10) \(unit)" }
        }
        return "\(bytes) bytes"
    }

    private static func permissions(_ facts: FileFacts) -> String {
        let octal = String(facts.mode, radix: 8)
        let mode = String(repeating: "0", count: max(0, 4 - octal.count)) + octal
        let isOurs = facts.owner == getuid() ? " (you)" : ""
        return "owner uid \(facts.owner)\(isOurs), group \(groupName(facts.group)), mode \(mode)"
    }

    /// A group's name from /etc/group, because a static executable has no getgrgid(3).
    private static func groupName(_ gid: UInt32) -> String {
        guard let file = fopen("/etc/group", "re") else { return "\(gid)" }
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, file) > 0, let text = line {
            let parts = String(cString: text).split(
                separator: ":", omittingEmptySubsequences: false)
            if parts.count > 2, parts[2] == String(gid) { return String(parts[0]) }
        }
        return "\(gid)"
    }
}
