import Foundation
import TestKit
import Testing

/// A secret is not shown, and no form is changed, without a line that says who did it.
@Suite("Audit lines of the real daemon", .serialized)
struct AuditSystemTests {
    private static var vault: Object {
        ["form": "vault", "fields": [["id": "code", "type": "secure"] as Object]]
    }

    /// Applies the form, sets the secret, and runs a daemon whose standard error is elsewhere.
    private func daemon(
        _ folder: TemporaryFolder, redirecting: String
    ) throws -> (DaemonProcess, WireClient) {
        let first = try DaemonProcess(folder).ready()
        let writer = try WireClient(first.socket)
        try writer.call("form.apply", ["definition": Self.vault])
        let change: Object = ["field": "code", "value": "hidden"]
        try writer.call("state.set", ["form": "vault", "changes": [change]])
        first.signal(SIGTERM)
        try first.wait()
        let second = try DaemonProcess(folder, redirecting: redirecting)
        var client: WireClient?
        try eventually("the daemon listens") {
            client = try? WireClient(second.socket)
            return client != nil
        }
        return (second, try #require(client))
    }

    private static func kind(
        _ client: WireClient, _ method: String, _ params: Object
    ) throws -> String {
        let answer = try client.answer(method, params)
        guard let error = answer["error"] as? Object else { return "ok" }
        return (error["data"] as? Object)?["kind"] as? String ?? "?"
    }

    /// Acts that leave a line, those that come first changing nothing where they are refused.
    private static var acts: [(String, Object)] {
        let new: Object = ["form": "new", "fields": [["id": "a", "type": "toggle"]]]
        return [
            ("state.reveal", ["form": "vault", "field": "code"]),
            ("form.apply", ["definition": new]), ("form.delete", ["form": "vault"]),
        ]
    }

    private func expectRefusals(_ client: WireClient) throws {
        for (method, params) in Self.acts {
            #expect(try Self.kind(client, method, params) == "unavailable", "\(method)")
        }
        // What leaves no line goes on.
        #expect(try Self.kind(client, "state.get", ["form": "vault"]) == "ok")
        #expect(try Self.kind(client, "state.get", ["form": "new"]) == "notFound")
    }

    @Test("without a place to write to, acts are refused", arguments: ["2>&-", "2>/dev/full"])
    func refused(_ redirecting: String) throws {
        let folder = try TemporaryFolder()
        let (daemon, client) = try daemon(folder, redirecting: redirecting)
        try expectRefusals(client)
        // Nothing that the daemon opened took the place of standard error.
        let target = try? FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/\(daemon.pid)/fd/2")
        #expect(target == nil || target?.hasPrefix("/dev/") == true, "\(target ?? "")")
    }

    @Test("a pipe whose reader is gone or does not read refuses acts until it is read again")
    func pipe() throws {
        let folder = try TemporaryFolder()
        let path = folder("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        var reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        let (daemon, client) = try daemon(folder, redirecting: "2>\(path)")
        defer { withExtendedLifetime(daemon) {} }
        let reveal: Object = ["form": "vault", "field": "code"]
        #expect(try Self.kind(client, "state.reveal", reveal) == "ok")
        close(reader)
        try expectRefusals(client)
        reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        #expect(try Self.kind(client, "state.reveal", reveal) == "ok")
        #expect(Self.everything(in: reader).contains("revealed vault/code"))
        // A reader that is there and does not read: the pipe fills with lines.
        var told = 0
        while try Self.kind(client, "state.reveal", reveal) == "ok" { told += 1 }
        try expectRefusals(client)
        let lines = Self.everything(in: reader).components(separatedBy: "revealed vault/code")
        #expect(lines.count - 1 == told)
        for (method, params) in Self.acts {
            #expect(try Self.kind(client, method, params) == "ok", "\(method)")
        }
        let said = Self.everything(in: reader)
        for act in ["revealed vault/code", "form new", "form vault"] {
            #expect(said.contains(act), "\(act) in \(said)")
        }
    }

    @Test("no level and no flood of refusals leaves a line out")
    func told() throws {
        let folder = try TemporaryFolder()
        let daemon = try DaemonProcess(folder, more: ["--log-level", "error"]).ready()
        let client = try WireClient(daemon.socket)
        for id in 1...500 { try client.send("form.get", ["form": "none-\(id)"], id: id) }
        for _ in 1...500 { _ = try client.message() }
        try client.call("form.apply", ["definition": Self.vault])
        for _ in 1...200 { try client.call("state.reveal", ["form": "vault", "field": "code"]) }
        try client.call("form.delete", ["form": "vault"])
        let said = daemon.said
        #expect(said.components(separatedBy: "revealed vault/code").count - 1 == 200)
        #expect(said.contains("applied") && said.contains("deleted"), "\(said.prefix(2_000))")
    }

    /// What waits in a pipe.
    private static func everything(in reader: Int32) -> String {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(reader, &chunk, chunk.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk[..<count]
        }
    }
}
