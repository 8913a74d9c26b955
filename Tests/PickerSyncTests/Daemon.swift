// A private daemon for a test, programs against it, and the compiler for code that must not compile.

import Foundation
import PickerSync
import Testing

/// The folder of the built products, where the test bundle lies too.
let products: URL = {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
    let folders = [
        bundle?.bundleURL.deletingLastPathComponent(),
        URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent(),
    ]
    return folders.compactMap { $0 }.first {
        FileManager.default.isExecutableFile(atPath: $0.appending(path: "pickersyncd").path)
    }
        ?? repository.appending(path: ".build/debug")
}()

let repository = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

/// A program that is run, and what it says on both streams together.
final class Program {
    private let process = Process()
    private let pipe = Pipe()
    private var taken = ""

    init(_ path: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// Reads up to what contains a text; everything that it said so far.
    @discardableResult func read(until text: String) -> String {
        while !taken.contains(text) {
            let data = pipe.fileHandleForReading.availableData
            if data.isEmpty { break }
            taken += String(decoding: data, as: UTF8.self)
        }
        return taken
    }

    /// Waits for its end: the exit status and everything that it said.
    func end() -> (status: Int32, said: String) {
        taken += String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, taken)
    }
}

/// A daemon of its own, gone with the last reference.
final class Daemon {
    let folder: URL
    private var program: Program?

    var socket: String { folder.appending(path: "sock").path }

    init(starting: Bool = true) throws {
        folder = URL(filePath: "/tmp").appending(path: "psl-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if starting { try start() }
    }

    deinit {
        program?.signal(SIGKILL)
        _ = program?.end()
        try? FileManager.default.removeItem(at: folder)
    }

    func start() throws {
        let program = try Program(
            products.appending(path: "pickersyncd").path,
            ["--socket", socket, "--state-directory", folder.appending(path: "state").path])
        try #require(program.read(until: "ready: ").contains("ready: "))
        self.program = program
    }

    func signal(_ number: Int32) { program?.signal(number) }

    func stop(_ signal: Int32 = SIGKILL) {
        program?.signal(signal)
        _ = program?.end()
        program = nil
    }

    func options(_ client: String = "test") -> ConnectionOptions {
        ConnectionOptions(client: client, socket: socket)
    }

    /// Runs an example against it; stdbuf(1), since it writes to a pipe and not to a terminal.
    func launch(_ name: String, _ arguments: String...) throws -> Program {
        try Program(
            "/usr/bin/env", ["stdbuf", "-oL", products.appending(path: name).path] + arguments,
            environment: ["PICKERSYNC_SOCKET": socket])
    }

    /// Runs `pickerctl` to its end.
    @discardableResult func pickerctl(_ arguments: String...) throws -> String {
        let program = try Program(
            products.appending(path: "pickerctl").path, arguments,
            environment: ["PICKERSYNC_SOCKET": socket])
        let (status, said) = program.end()
        try #require(status == 0, "pickerctl \(arguments): \(said)")
        return said
    }
}

/// A daemon and programs of this library that share forms on it; whoever holds it ends them.
final class Programs {
    let daemon: Daemon
    private var clients: [FormClient] = []

    init(starting: Bool = true) throws { daemon = try Daemon(starting: starting) }

    deinit { for client in clients { client.close() } }

    /// Another program, which has yet to open something.
    func client(_ name: String = "test") -> FormClient {
        let client = FormClient(daemon.options(name))
        clients.append(client)
        return client
    }

    /// Another program, which has the form open.
    func open<Form: SharedForm>(
        _ form: Form, as name: String = "test"
    ) async throws -> (client: FormClient, form: Form, session: FormSession) {
        let client = client(name)
        return (client, form, try await client.open(form))
    }

    /// Two more programs, `one` and `two`, which have the same form open.
    func share<Form: SharedForm>(
        _ mine: Form, _ theirs: Form
    ) async throws -> (mine: Form, theirs: Form) {
        _ = try await open(mine, as: "one")
        _ = try await open(theirs, as: "two")
        return (mine, theirs)
    }
}

/// Runs edits that are not awaited.
func written(_ edits: () -> Void) { edits() }

/// Asks again and again until the answer is true, for at most 30 seconds.
func eventually(
    _ what: String, _ condition: () throws -> Bool, location: SourceLocation = #_sourceLocation
) async throws {
    for _ in 0..<3_000 {
        if try condition() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("gave up waiting: \(what)", sourceLocation: location)
}
