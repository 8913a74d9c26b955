// A private daemon for a test, programs against it, and the compiler for code that must not
// compile.

import Foundation
import PickerSync
import TestKit
import Testing

/// A daemon of its own, gone with the last reference.
final class Daemon {
    private let folder: TemporaryFolder
    private var process: DaemonProcess?

    var socket: String { folder("sock") }

    init(starting: Bool = true) throws {
        folder = try TemporaryFolder()
        if starting { try start() }
    }

    func start() throws { process = try DaemonProcess(folder).ready() }

    func signal(_ number: Int32) { process?.signal(number) }

    func stop(_ signal: Int32 = SIGKILL) throws {
        process?.signal(signal)
        try process?.wait()
        process = nil
    }

    func options(_ client: String = "test") -> ConnectionOptions {
        ConnectionOptions(client: client, socket: socket)
    }

    /// Runs an example against it; stdbuf(1), since it writes to a pipe and not to a terminal.
    func launch(_ name: String, _ arguments: String...) throws -> ChildProcess {
        try ChildProcess(
            ["stdbuf", "-oL", builtProgram(name)] + arguments,
            environment: ["PICKERSYNC_SOCKET": socket], errorsApart: false)
    }

    /// Runs `pickerctl` to its end.
    @discardableResult func pickerctl(_ arguments: String...) throws -> String {
        let outcome = try ChildProcess.run(
            [builtProgram("pickerctl")] + arguments, environment: ["PICKERSYNC_SOCKET": socket])
        try #require(outcome.status == 0, "pickerctl \(arguments): \(outcome.out)")
        return outcome.out
    }
}

/// A daemon and programs of this library that share forms on it; they end with this object.
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
