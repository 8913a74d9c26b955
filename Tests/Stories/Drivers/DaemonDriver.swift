// Stories with a daemon. Requests go over its socket, and commands are processes.

import Glibc
import SyncCore
import TortureKit

final class DaemonDriver: StoryDriver {
    let users: [StoryUser]
    let isAnonymous = true
    /// Another user who runs commands, if this process may change its uid.
    let stranger: StoryUser?
    private let executables: String
    private let durability: StoryDurability
    /// Socket, store and files of commands.
    let folder: String
    private var process: Child?
    private var peers: [Int: TortureKit.Peer] = [:]
    private var frames: [Int: [JSON]] = [:]

    var socket: String { folder + "/sock" }

    /// A daemon of `executables` in a new folder.
    init(executables: String, durability: StoryDurability) throws {
        self.executables = executables
        self.durability = durability
        var template = Array("\(Self.temporary)/story-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Trouble("mkdtemp: \(errno)") }
        folder = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        // Other users must reach the socket.
        chmod(folder, 0o755)
        let uid = Int(geteuid())
        let name = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(uid)"
        let me = StoryUser(uid: uid, name: name, isAdmin: true)
        users = [me, me]
        let mayBeOthers = uid == 0 && access("/usr/bin/setpriv", X_OK) == 0
        stranger = mayBeOthers ? StoryUser(uid: 61_001, name: "61001", isAdmin: false) : nil
        try start()
    }

    deinit {
        process = nil
        Folder.remove(folder)
    }

    private static var temporary: String {
        getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    }

    // MARK: - The daemon

    func start() throws {
        process = try Child(
            [
                "\(executables)/pickersyncd", "--socket", socket, "--state-directory",
                folder + "/state", "--durability", durability.rawValue, "--limit",
                "reclaimSeconds=3600",
            ], errors: folder + "/log")
        let deadline = monotonic() + 20
        while monotonic() < deadline {
            if let peer = TortureKit.Peer(connecting: socket), try peer.ask("ping", [:]) != nil {
                chmod(socket, 0o666)
                return
            }
            if process?.poll() != nil { break }
            usleep(2000)
        }
        let said = String(decoding: Folder.contents(folder + "/log") ?? [], as: UTF8.self)
        throw StoryDifference("the daemon does not start: \(said.suffix(400))")
    }

    func stop() throws -> Bool {
        process?.signal(SIGTERM)
        let status = process?.wait() ?? 0
        forget()
        guard status == 0 else { throw StoryDifference("the daemon stopped with \(status)") }
        return true
    }

    func kill(writesBatch: Bool) throws {
        for peer in peers.values { peer.flush() }
        if writesBatch { usleep(2000) }
        process?.signal(SIGKILL)
        process?.wait()
        forget()
    }

    private func forget() {
        process = nil
        peers = [:]
        frames = [:]
    }

    // MARK: - Connections

    func connect(_ user: StoryUser) throws -> Int {
        guard let peer = TortureKit.Peer(connecting: socket) else {
            throw StoryDifference("nobody listens on \(socket)")
        }
        let greeting = try peer.result("hello", ["protocol": 1, "client": "story"])
        let number = Int(greeting["you"]?["connection"]?.integerValue ?? 0)
        peers[number] = peer
        return number
    }

    func disconnect(_ connection: Int) throws {
        peers[connection] = nil
        frames[connection] = nil
    }

    func send(_ connection: Int, _ text: String) throws {
        peers[connection]?.send(raw: Frame.encode(text: Array(text.utf8)))
        peers[connection]?.flush()
    }

    func settle(answers: [Int: Int]) throws {
        let deadline = monotonic() + 20
        while monotonic() < deadline {
            try receive()
            let isAnswered = answers.allSatisfy { connection, count in
                (frames[connection] ?? []).count { $0["method"] == nil } >= count
            }
            if isAnswered { return }
            wait(milliseconds: 20)
        }
    }

    func waitForMore() throws -> Bool {
        wait(milliseconds: 20)
        try receive()
        return true
    }

    func take(_ connection: Int) throws -> [JSON] {
        try receive()
        return frames.removeValue(forKey: connection) ?? []
    }

    private func receive() throws {
        for (connection, peer) in peers {
            peer.flush()
            for frame in peer.takeFrames() {
                frames[connection, default: []].append(try JSON(parsing: frame))
            }
        }
    }

    private func wait(milliseconds: Int32) {
        var entries = peers.values.map {
            pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0)
        }
        poll(&entries, nfds_t(entries.count), milliseconds)
    }

    private func monotonic() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    func pass(milliseconds: Int) throws {}

    let times: (now: Int, written: Int?) = (0, nil)

    func holdCommits() {}

    func holdFetches() {}

    func breakStore(writesBatch: Bool) -> Bool { false }

    func mendStore() throws {}

    // MARK: - Commands

    /// Runs `pickerctl` with these arguments.
    func run(
        _ command: StoryCommand, as user: StoryUser
    ) throws -> (status: Int, output: String, errors: String) {
        let input = folder + "/input"
        let errors = folder + "/errors"
        unlink(errors)
        try write(command.input ?? "", to: input)
        var words = [
            "/bin/sh", "-c", "exec \"$0\" \"$@\" <\(input)", "\(executables)/pickerctl",
        ]
        words += command.words
        // Help does not need a daemon.
        if command.name != "help" { words += ["--socket", socket, "--no-autostart"] }
        if let separator = words.firstIndex(of: "--") {
            // The arguments after it belong to another command.
            words.removeLast(3)
            words.insert(contentsOf: ["--socket", socket, "--no-autostart"], at: separator)
        }
        if user.uid != Int(geteuid()) {
            words =
                [
                    "/usr/bin/setpriv", "--reuid", "\(user.uid)", "--regid", "\(user.uid)",
                    "--clear-groups",
                ] + words
        }
        let (status, output) = try Child.output(words, errors: errors, scratch: folder)
        let said = String(decoding: Folder.contents(errors) ?? [], as: UTF8.self)
        return (Int(status), output, said)
    }

    private func write(_ text: String, to path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        guard file >= 0 else { throw Trouble("open \(path): \(errno)") }
        defer { close(file) }
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count > 0 else { throw Trouble("write \(path): \(errno)") }
            bytes = bytes.dropFirst(count)
        }
    }
}
