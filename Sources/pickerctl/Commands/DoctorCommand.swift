// Why it does not work: each step of the way from this process to the daemon's store, told with
// what was found and what to do.

internal import ArgumentParser
internal import Glibc
internal import PickerSync
internal import SyncCore

/// `pickerctl doctor`.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Find out why it does not work. Starts nothing.")
    @OptionGroup var common: CommonOptions

    func run() throws {
        let session = Session(common.settings)
        var examination = Examination()
        examination.socket(session.client.resolution)
        examination.connection(session.client.resolution)
        if examination.hasConnection {
            examination.daemon(BlockingClient(Self.options(common.settings)))
        }
        for finding in examination.findings {
            try session.console.safeLine("\(finding.mark.rawValue)  \(finding.text)")
        }
        try session.console.flush()
        if let status = examination.status { throw Failure.silent(status) }
    }

    private static func options(_ settings: Settings) -> BlockingClient.Options {
        var options = BlockingClient.Options(client: "pickerctl/\(Version.current)")
        options.socket = settings.socket
        options.autostart = false
        options.answerSeconds = 5
        return options
    }
}

/// What was found, step by step.
struct Examination {
    enum Mark: String { case good = "ok  ", odd = "note", bad = "BAD " }

    private(set) var findings: [(mark: Mark, text: String)] = []
    /// The status to end with; `nil` where all is well.
    private(set) var status: ExitStatus?
    private(set) var hasConnection = false

    private mutating func add(_ mark: Mark, _ text: String, _ status: ExitStatus? = nil) {
        findings.append((mark, text))
        self.status = self.status ?? status
    }

    /// The rules of PROTOCOL.md and what each one saw.
    mutating func socket(_ resolution: SocketResolution) {
        for step in resolution.steps { add(.good, step) }
        if resolution.place.isInSharedDirectory, resolution.mayStart {
            add(.odd, resolution.place.reason)
        }
        if resolution.mayStart, resolution.place.stateDirectory == nil {
            add(
                .bad, "neither HOME nor XDG_STATE_HOME is set: a daemon has no place for its store",
                .unavailable)
        }
        let folder = resolution.path.split(separator: "/").dropLast().joined(separator: "/")
        if resolution.path.hasPrefix("/"), let facts = FileFacts.at("/" + folder) {
            add(.good, "/\(folder): \(Self.permissions(facts))")
        }
        guard let facts = FileFacts.at(resolution.path) else {
            return add(.odd, "\(resolution.path): not there")
        }
        guard facts.kind == .socket else {
            return add(.bad, "\(resolution.path) is no socket; remove it", .unavailable)
        }
        add(.good, "\(resolution.path): a socket, \(Self.permissions(facts))")
        guard access(resolution.path, R_OK | W_OK) != 0 else { return }
        if facts.mode & 0o060 == 0o060 {
            add(
                .bad,
                "the socket is for group \(Self.groupName(facts.group)), and this process is not "
                    + "in it; have an administrator add you, and log in anew", .noPermission)
        } else {
            add(
                .bad, "the socket is for uid \(facts.owner) alone, and this is uid \(getuid())",
                .noPermission)
        }
    }

    mutating func connection(_ resolution: SocketResolution) {
        do throws(ConnectError) {
            let deadline = MonotonicClock.now().adding(seconds: 2)
            let socket = try StreamSocket.connect(path: resolution.path, deadline: deadline)
            _ = consume socket
            hasConnection = true
            add(.good, "\(resolution.path): a daemon answers")
        } catch {
            let step =
                resolution.mayStart
                ? "the next command starts one" : "start it: systemctl start pickersyncd.socket"
            switch error {
            case .refused:
                add(.bad, "\(resolution.path) is stale: nobody listens; \(step)", .unavailable)
            case .missing: add(.bad, "no daemon runs; \(step)", .unavailable)
            case .forbidden: add(.bad, "the socket may not be opened", .noPermission)
            case .timedOut:
                add(.bad, "the daemon takes no connections: it hangs or is full", .unavailable)
            case .nameTooLong:
                add(
                    .bad, "the path is longer than \(StreamSocket.pathBytesMax) bytes", .unavailable
                )
            case .failed(_, let code): add(.bad, describe(errno: code), .unavailable)
            }
            guard resolution.mayStart else { return }
            if let path = DaemonLauncher.findExecutable() {
                add(.good, "pickersyncd to start: \(path)")
            } else {
                add(.bad, "there is no pickersyncd beside pickerctl or in PATH", .unavailable)
            }
            if let state = resolution.place.stateDirectory {
                add(.good, "its log: \(state)/pickersyncd.log")
            }
        }
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
                if !hello.server.hasSuffix(Version.current) {
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
            store(status["store"])
        } catch {
            let failure = Failure(error)
            add(.bad, failure.message, failure.status)
        }
    }

    private mutating func store(_ store: JSON?) {
        guard let store else { return }
        let state = store["state"]?.stringValue ?? store.stringValue
        let path = store["path"]?.stringValue.map { " \($0)" } ?? ""
        switch state {
        case "ok"?, "good"?, "ready"?, nil: add(.good, "store\(path): in order")
        case let state?:
            let why = store["reason"]?.stringValue ?? store["error"]?.stringValue
            add(.bad, "store\(path): \(state)\(why.map { ": \($0)" } ?? "")", .unavailable)
        }
    }

    private static func permissions(_ facts: FileFacts) -> String {
        let octal = String(facts.mode, radix: 8)
        let mode = String(repeating: "0", count: max(0, 4 - octal.count)) + octal
        let isOurs = facts.owner == getuid() ? " (you)" : ""
        return "owner uid \(facts.owner)\(isOurs), group \(groupName(facts.group)), mode \(mode)"
    }

    /// A group's name from /etc/group: a static executable has no getgrgid(3).
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
