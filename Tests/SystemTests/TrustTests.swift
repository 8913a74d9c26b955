import Foundation
import PickerSync
import TestKit
import Testing

/// A process of another user that listens where a client looks for its daemon, and keeps what it
/// is sent. It makes the folder and the socket itself, as that user.
private final class Impostor: @unchecked Sendable {
    // Only the thread that accepts uses the descriptor after `init`, and `stop` shuts it down.
    private let descriptor: Int32
    private let lock = NSLock()
    private var bytes = 0
    private var clients = 0

    init(_ uid: UInt32, at path: String, making folder: String? = nil) throws {
        descriptor = try asUser(uid) {
            umask(0)
            defer { umask(0o022) }
            if let folder, mkdir(folder, 0o755) != 0 { throw POSIXError(.EACCES) }
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            let status = withSocketAddress(path) { bind(descriptor, $0, $1) }
            guard status == 0, listen(descriptor, 8) == 0 else { throw POSIXError(.EIO) }
            return descriptor
        }
        Thread.detachNewThread { [self] in
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                var buffer = [UInt8](repeating: 0, count: 4_096)
                while true {
                    let count = recv(connection, &buffer, buffer.count, 0)
                    guard count > 0 else { break }
                    lock.withLock { bytes += count }
                }
                close(connection)
                lock.withLock { clients += 1 }
            }
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    /// Bytes that clients sent; all of them, once that many clients are gone.
    func received(fromClients count: Int) throws -> Int {
        try eventually("\(count) clients are gone") { lock.withLock { clients >= count } }
        return lock.withLock { bytes }
    }

    var receivedNow: Int { lock.withLock { bytes } }
}

private struct OneToggle: SharedForm {
    @Shared("on") var isOn = false
    let form = "one-toggle"
    var body: some PickerSync.View { Toggle("On", isOn: $isOn) }
}

/// Clients that find somebody else's socket, folder or link where their daemon should be
/// (docs/PROTOCOL.md, "Is it really my daemon?").
@Suite("A client knows its daemon", .serialized, .enabled(if: canBeAnybody))
struct TrustTests {
    private static let mallory: UInt32 = 61_666
    /// Whose folder in /tmp no other run of this test has.
    private static let alice = UInt32.random(in: 70_000...4_000_000)

    /// Runs pickerctl as a user; standard error follows standard output.
    private func pickerctl(
        _ arguments: String..., uid: UInt32 = 0, environment: [String: String]
    ) throws -> ChildProcess.Outcome {
        try pickerctl(arguments, uid: uid, environment: environment)
    }

    private func pickerctl(
        _ arguments: [String], uid: UInt32, environment: [String: String]
    ) throws -> ChildProcess.Outcome {
        let words =
            ["/usr/bin/setpriv", "--reuid", "\(uid)", "--regid", "\(uid)", "--clear-groups"]
            + [builtProgram("pickerctl")] + arguments
        return try ChildProcess.run(
            words,
            environment: ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"].merging(environment) { $1 },
            isEnvironmentWhole: true)
    }

    /// A folder that everybody may write, as /tmp.
    private func shared() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        chmod(folder.path, 0o1777)
        return folder
    }

    @Test("no command sends anything to a socket in /tmp that another user made first")
    func planted() throws {
        let folder = "/tmp/pickersync-\(Self.alice)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let impostor = try Impostor(Self.mallory, at: folder + "/sock", making: folder)
        let home = try shared()
        let environment = ["HOME": home.path]
        for arguments in [
            ["get"], ["get", "-o", "json"], ["set", "a=b"], ["watch"], ["form", "list"], ["open"],
            ["status"], ["wait", "a=b"], ["describe", "a"], ["dump"],
            ["form", "delete", "--yes", "a"],
        ] {
            let outcome = try pickerctl(arguments, uid: Self.alice, environment: environment)
            #expect(outcome.status == 69, "\(arguments): \(outcome)")
        }
        let outcome = try pickerctl("get", uid: Self.alice, environment: environment)
        #expect(outcome.status == 69)
        #expect(outcome.out.contains("\(folder): it belongs to uid 61666"), "\(outcome.out)")
        let doctor = try pickerctl("doctor", uid: Self.alice, environment: environment)
        #expect(doctor.status == 69)
        #expect(doctor.out.contains("BAD   \(folder): it belongs to uid 61666"), "\(doctor.out)")
        #expect(impostor.receivedNow == 0)
        #expect(!FileManager.default.fileExists(atPath: home(".local")))
    }

    @Test(
        "a named socket of another user in a folder that anybody could have made",
        arguments: [true, false])
    func named(isRoot: Bool) throws {
        let temporary = try shared()
        let socket = temporary("m/sock")
        let impostor = try Impostor(Self.mallory, at: socket, making: temporary("m"))
        let uid: UInt32 = isRoot ? 0 : Self.alice
        let get = try pickerctl("get", "--socket", socket, uid: uid, environment: [:])
        #expect(get.status == 69)
        #expect(get.out.contains("listens on \(socket) is of uid 61666"), "\(get.out)")
        let doctor = try pickerctl(
            "doctor", uid: uid, environment: ["PICKERSYNC_SOCKET": socket])
        #expect(doctor.status == 69 && doctor.out.contains("BAD   \(socket): uid 61666 listens"))
        #expect(try impostor.received(fromClients: 2) == 0)
    }

    @Test("the Swift library sends nothing to another user's process")
    func library() throws {
        let temporary = try shared()
        let socket = temporary("m/sock")
        let impostor = try Impostor(Self.mallory, at: socket, making: temporary("m"))
        let client = BlockingFormClient(ConnectionOptions(socket: socket))
        let error = #expect(throws: FormError.self) { try client.open(OneToggle()) }
        guard case .unreachable(let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("uid 61666"), "\(reason)")
        #expect(try impostor.received(fromClients: 1) == 0)
    }

    @Test("the service's user is trusted where root made the folder for it")
    func service() throws {
        let folder = "/run/pickersync-test-\(UUID().uuidString.prefix(8))"
        try #require(mkdir(folder, 0o755) == 0)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        chown(folder, 61_500, 61_500)
        let impostor = try Impostor(61_500, at: folder + "/sock")
        let ping = try ChildProcess(
            [builtProgram("pickerctl"), "status", "--socket", folder + "/sock"])
        try eventually("the first request of a client that trusts it") {
            impostor.receivedNow > 0
        }
        ping.signal(SIGKILL)
        _ = ping.outcome()
        // Another user's process in the same place is not the service.
        unlink(folder + "/sock")
        chmod(folder, 0o1777)
        let stranger = try Impostor(Self.mallory, at: folder + "/sock")
        let get = try pickerctl("get", "--socket", folder + "/sock", environment: [:])
        #expect(get.status == 69 && get.out.contains("uid 61666"), "\(get.out)")
        #expect(try stranger.received(fromClients: 1) == 0)
    }

    @Test("a runtime directory of another user is not used, and doctor says so")
    func runtimeOfAnother() throws {
        let temporary = try shared()
        let runtime = temporary("run")
        let impostor = try asUser(Self.mallory) {
            guard mkdir(runtime, 0o700) == 0 else { throw POSIXError(.EACCES) }
            return true
        }
        #expect(impostor)
        let listener = try Impostor(
            Self.mallory, at: runtime + "/pickersync/sock", making: runtime + "/pickersync")
        let doctor = try pickerctl(
            "doctor", "--no-autostart",
            environment: ["XDG_RUNTIME_DIR": runtime, "HOME": temporary.path])
        #expect(
            doctor.out.contains(
                "note  XDG_RUNTIME_DIR is not used: \(runtime): it belongs to uid 61666"),
            "\(doctor.out)")
        #expect(!doctor.out.contains("\(runtime)/pickersync/sock"))
        #expect(listener.receivedNow == 0)
    }

    @Test("starting a daemon follows no link that another user planted", arguments: [true, false])
    func links(ofRuntime: Bool) throws {
        let temporary = try shared()
        let target = temporary("target")
        try #require(mkdir(target, 0o755) == 0)
        try #require(mkdir(temporary("home"), 0o700) == 0)
        try #require(mkdir(temporary("run"), 0o700) == 0)
        let open = ofRuntime ? temporary("run") : temporary("home")
        chmod(open, 0o1777)
        let link = open + (ofRuntime ? "/pickersync" : "/.local")
        _ = try asUser(Self.mallory) { symlink(target, link) }
        let environment = ["XDG_RUNTIME_DIR": temporary("run"), "HOME": temporary("home")]
        let outcome = try pickerctl("form", "list", environment: environment)
        #expect(outcome.status == 69)
        #expect(
            outcome.out.contains("\(link): it is a symbolic link of uid 61666"), "\(outcome.out)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: target).isEmpty)
    }

    @Test(
        "the short clients in Python send nothing to a socket of another user",
        arguments: ["Examples/watch.py", "docs/PROTOCOL.md"])
    func shortClients(_ client: String) throws {
        let temporary = try shared()
        chmod(temporary.path, 0o1777)
        let path = temporary("sock")
        let listener = try Impostor(Self.mallory, at: path)
        var words = ["python3", client, "ice-cream", path]
        if client.hasSuffix(".md") {
            let url = sourceTree.appending(path: client)
            let page = try String(contentsOf: url, encoding: .utf8)
            let block = try #require(page.components(separatedBy: "```python\n").dropFirst().first)
            words = [
                "python3", "-c", String(block.prefix(upTo: block.range(of: "```")!.lowerBound)),
            ]
        }
        let outcome = try ChildProcess.run(words, environment: ["PICKERSYNC_SOCKET": path])
        #expect(outcome.status == 1)
        #expect(outcome.out.contains("nothing was sent"), "\(outcome.out)")
        #expect(try listener.received(fromClients: 1) == 0)
    }

    @Test("a daemon of root does not take another user's folder")
    func daemonOfRoot() throws {
        let temporary = try shared()
        let folder = temporary("m")
        _ = try asUser(Self.mallory) { mkdir(folder, 0o755) }
        for path in [folder + "/sock", folder + "/deeper/sock"] {
            let daemon = try DaemonProcess(
                temporary, arguments: ["--socket", path, "--state-directory", temporary("state")])
            #expect(try daemon.wait() == 73)
            #expect(daemon.said.contains("\(folder) belongs to uid 61666"), "\(daemon.said)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    }
}
