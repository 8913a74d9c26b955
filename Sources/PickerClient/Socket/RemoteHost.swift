// A daemon on another machine, over ssh: `pickerctl --host web1`.
//
// ssh runs `pickerctl relay` on that machine, which connects its standard input and output with the
// daemon there. So that machine's own rules choose the socket, that machine's daemon sees the uid
// that ssh logged in with, and nothing listens on a network. `docker -H ssh://` works the same way.

internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// A machine that ssh(1) can log in to, and the daemon's socket there.
public struct RemoteHost: Hashable, Sendable {
    /// The first line of a relay that is connected with its daemon. What a shell prints before it
    /// is skipped.
    package static let greeting = "pickersync relay 1\n"
    /// Bytes that may come before the greeting.
    private static let noiseBytesMax = 64 << 10

    /// The destination as ssh(1) takes it: `web1`, `alice@web1`, `ssh://alice@web1:2222`.
    public var name: String
    /// The path of the socket on that machine; `nil` leaves it to the rules there.
    public var socket: String?
    /// Whether the relay may start the daemon of that machine's user.
    public var autostart: Bool

    /// A destination.
    public init(_ name: String, socket: String? = nil, autostart: Bool = true) {
        self.name = name
        self.socket = socket
        self.autostart = autostart
    }

    /// Starts ssh and waits until the relay is connected with its daemon.
    ///
    /// - Parameters:
    ///   - folder: where several commands share a connection of ssh; `nil` shares none.
    ///   - deadline: monotonic nanoseconds.
    ///   - mayAsk: ssh may ask on the terminal for a password or about a host key.
    func connect(
        sharing folder: String?, deadline: UInt64, mayAsk: Bool
    ) throws(ConnectError) -> StreamSocket {
        Self.reap()
        var ends: [Int32] = [-1, -1]
        var errors: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, streamSocketKind, 0, &ends) == 0 else {
            throw .failed(path: name, errno: errno)
        }
        let ours = StreamSocket(Descriptor(ends[0]))
        let theirs = Descriptor(ends[1])
        guard pipe(&errors) == 0 else { throw .failed(path: name, errno: errno) }
        let messages = Descriptor(errors[0])
        let stderr = Descriptor(errors[1])
        for number in errors { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        // ssh expects blocking standard descriptors.
        _ = fcntl(theirs.number, F_SETFL, 0)
        let words = arguments(sharing: folder, mayAsk: mayAsk)
        let child = try Self.spawn(words, theirs.number, stderr.number)
        _ = consume theirs
        _ = consume stderr
        let outcome = receiveGreeting(ours, until: deadline)
        if outcome == .greeted {
            Self.running.withLock { $0.append(child) }
            return ours
        }
        if outcome != .closed { kill(child, SIGTERM) }
        _ = consume ours
        let status = Self.statusAtEnd(of: child)
        if outcome == .late { throw .timedOut(path: name) }
        throw .remote(
            host: name, status: (status >> 8) & 0xFF, lastLine: Self.lastLine(messages.number))
    }

    // MARK: ssh

    /// The program and its first arguments: `$PICKERSYNC_SSH`, split at spaces, else `ssh`.
    private static var program: [String] {
        let words = environmentVariable("PICKERSYNC_SSH")?.split(separator: " ").map(String.init)
        return words.flatMap { $0.isEmpty ? nil : $0 } ?? ["ssh"]
    }

    /// The arguments of ssh.
    func arguments(sharing folder: String?, mayAsk: Bool) -> [String] {
        var words = Self.program
        words += ["-T", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=15"]
        if !mayAsk { words += ["-o", "BatchMode=yes"] }
        if let folder {
            // The next command of the same minute needs no new login.
            words += [
                "-o", "ControlMaster=auto", "-o", "ControlPersist=60",
                "-o", "ControlPath=\(folder)/ssh-%C",
            ]
        }
        var command = ["pickerctl", "relay"]
        if let socket { command += ["--socket", Self.quoted(socket)] }
        if !autostart { command.append("--no-autostart") }
        return words + ["--", name, command.joined(separator: " ")]
    }

    /// A word for the shell of the other machine.
    private static func quoted(_ word: String) -> String {
        var text = "'"
        for character in word.unicodeScalars {
            if character == "'" { text += #"'\''"# } else { text.unicodeScalars.append(character) }
        }
        return text + "'"
    }

    private static func spawn(
        _ words: [String], _ stream: Int32, _ errors: Int32
    ) throws(ConnectError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, stream, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, stream, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var every = sigset_t()
        sigfillset(&every)
        posix_spawnattr_setsigdefault(&attributes, &every)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        var child: pid_t = 0
        let status = withCStrings(words) { arguments in
            withCStrings(inheritedEnvironment()) { environment in
                posix_spawnp(&child, words[0], &actions, &attributes, arguments, environment)
            }
        }
        guard status == 0 else { throw .failed(path: words[0], errno: status) }
        return child
    }

    // MARK: The other end

    private enum Outcome { case greeted, closed, late, noise }

    /// Reads up to the greeting; after it, the peer sends nothing before it is asked.
    private func receiveGreeting(
        _ socket: borrowing StreamSocket, until deadline: UInt64
    ) -> Outcome {
        let greeting = Array(Self.greeting.utf8)
        var seen: [UInt8] = []
        while seen.count < Self.noiseBytesMax {
            switch socket.receive() {
            case .bytes(let bytes):
                seen += bytes
                if seen.suffix(greeting.count) == greeting[...] { return .greeted }
            case .closed: return .closed
            case .wouldBlock:
                let now = MonotonicClock.now()
                guard now < deadline else { return .late }
                var list = [pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)]
                _ = pollDescriptors(&list, deadline.pollMilliseconds(since: now))
            }
        }
        return .noise
    }

    /// Children whose connection was used; they are collected when the next one starts.
    private static let running = Mutex<[pid_t]>([])

    private static func reap() {
        running.withLock { children in
            children.removeAll { child in
                var status: Int32 = 0
                return waitpid(child, &status, WNOHANG) == child
            }
        }
    }

    /// Waits for the end of a child that has closed its output or was told to end, and ends it
    /// if that takes more than two seconds.
    private static func statusAtEnd(of child: pid_t) -> Int32 {
        var status: Int32 = 0
        let limit = MonotonicClock.now().adding(seconds: 2)
        while waitpid(child, &status, WNOHANG) == 0 {
            if MonotonicClock.now() >= limit { kill(child, SIGKILL) }
            usleep(1_000)
        }
        return status
    }

    private static func lastLine(_ messages: Int32) -> String? {
        _ = fcntl(messages, F_SETFL, O_NONBLOCK)
        var buffer = [UInt8](repeating: 0, count: 8_192)
        var text: [UInt8] = []
        while text.count < noiseBytesMax {
            let count = read(messages, &buffer, buffer.count)
            if count <= 0 { break }
            text += buffer[..<count]
        }
        let lines = text.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
        return lines.last.map { String(decoding: $0, as: UTF8.self) }
    }
}
