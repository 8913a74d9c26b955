import Foundation
import PickerSync
import Synchronization
import TestKit
import Testing

/// What a form that lies is declared as.
private struct Lamp: SharedForm {
    @Shared("on") var isOn = false
    @Shared("level") var level = 1
    @Shared("ring") var ring = Presses()
    static let formName = "lamp"
    let rung: @Sendable () -> Void

    init(rung: @escaping @Sendable () -> Void = {}) { self.rung = rung }

    var body: some PickerSync.View {
        Form("Lamp") {
            Toggle("On", isOn: $isOn)
            Stepper("Level", value: $level, in: 1...9)
            Button("Ring", presses: $ring) { rung() }
        }
    }
}

/// The same without values of its own: it shows what the daemon has, and nothing else.
private struct Follower: SharedState {
    static let formName = "lamp"
    @Shared("level") var level: Int
}

@Suite("a daemon that lies, floods, stalls or says nothing, and the library")
struct HostileDaemonTests {
    /// A deadline that passes. A test that ends proves that it ended the call.
    private static let soon = Duration.milliseconds(300)

    private static let escape = "\u{1B}]0;owned\u{7}\u{9B}31m\u{202E}"

    private static let greeting =
        #"{"protocol":1,"server":"x","replica":"3f9a.1","features":[],"you":{"connection":1,"#
        + #""uid":0,"gid":0,"pid":1,"user":"x"},"limits":{"maxFrame":67108864}}"#

    private static func field(_ value: String, _ revision: Int64 = 1) -> String {
        #"{"value":\#(value),"revision":\#(revision),"set":true}"#
    }

    private static func changed(_ revision: Int64, _ field: String, _ value: String) -> String {
        #"{"jsonrpc":"2.0","method":"state.changed","params":{"form":"lamp","revision":"#
            + #"\#(revision),"context":"","changes":[{"field":"\#(field)","value":\#(value),"#
            + #""revision":\#(revision),"set":true}]}}"#
    }

    /// Greets, takes the form, and answers the subscription with these values.
    private static func open(_ peer: LyingDaemon.Peer, level: String = "2") -> Bool {
        while let request = peer.request() {
            switch request["method"] as? String {
            case "hello": peer.answer(request, greeting)
            case "state.subscribe":
                return peer.answer(
                    request,
                    #"{"form":"lamp","log":"a","revision":1,"context":"","resumed":false,"fields":"#
                        + #"{"on":\#(field("false")),"level":\#(field(level)),"#
                        + #""ring":\#(field(#"{"presses":0}"#))}}"#)
            default:
                peer.answer(
                    request,
                    #"{"form":"lamp","version":1,"revision":1,"created":true,"added":[],"kept":[],"#
                        + #""invalid":[],"reset":[],"removed":[]}"#)
            }
        }
        return false
    }

    /// What opening a form fails with, the same of both clients.
    private func failure(
        timeout: Duration? = nil, _ behave: @escaping @Sendable (LyingDaemon.Peer) -> Void
    ) async throws -> FormError {
        let folder = try TemporaryFolder()
        let daemon = try LyingDaemon(folder("sock"), behave)
        defer { daemon.stop() }
        let options = ConnectionOptions(client: "test", socket: folder("sock"))
        let client = FormClient(options)
        defer { client.close() }
        let error = await #expect(throws: FormError.self) {
            _ = try await client.open(Lamp(), timeout: timeout)
        }
        var patience = options
        if let timeout { patience.answerSeconds = timeout / .seconds(1) }
        let blocking = BlockingFormClient(patience)
        defer { blocking.close() }
        let other = #expect(throws: FormError.self) {
            _ = try blocking.open(Lamp())
        }
        #expect(error.map(Self.name) == other.map(Self.name), "\(error as Any) \(other as Any)")
        return try #require(error)
    }

    private static func name(_ error: FormError) -> String {
        switch error {
        case .timedOut: "timedOut"
        case .incompatible: "incompatible"
        case .refused: "refused"
        default: "\(error)"
        }
    }

    @Test("silence ends at the deadline: before the greeting, and after it")
    func silence() async throws {
        #expect(Self.name(try await failure(timeout: Self.soon) { $0.wait() }) == "timedOut")
        let after = try await failure(timeout: Self.soon) { peer in
            while let request = peer.request() {
                if request["method"] as? String == "hello" { peer.answer(request, Self.greeting) }
            }
        }
        #expect(Self.name(after) == "timedOut")
    }

    @Test("a flood of other things ends at the deadline, or as what it is")
    func flood() async throws {
        let note = FrameStream.frame(
            Data(
                #"{"jsonrpc":"2.0","method":"presence.changed","params":{"form":"x","peers":[]}}"#
                    .utf8))
        let many = Array(repeatElement(note, count: 1_000).joined())
        let error = try await failure(timeout: Self.soon) { peer in
            guard let request = peer.request() else { return }
            peer.answer(request, Self.greeting)
            while peer.send(raw: many) {}
        }
        #expect(Self.name(error) == "timedOut")
    }

    @Test(
        "what is not an answer ends the client with a reason",
        arguments: [
            "[]x", "7", "{}", #"{"jsonrpc":"2.0","id":99,"result":{}}"#,
            #"{"jsonrpc":"2.0","id":"2","result":{}}"#, #"{"jsonrpc":"2.0","id":true,"result":{}}"#,
            #"{"jsonrpc":"2.0","id":2}"#, #"{"jsonrpc":"2.0","id":2,"error":7}"#,
            #"{"jsonrpc":"2.0","method":"state.changed","params":{"form":7}}"#,
            #"{"jsonrpc":"2.0","id":"\\u001b]0;owned","result":{}}"#,
        ])
    func noAnswer(_ text: String) async throws {
        let error = try await failure { peer in
            guard let request = peer.request() else { return }
            peer.answer(request, Self.greeting)
            peer.send(text)
            peer.wait()
        }
        #expect(Self.name(error) == "incompatible")
        #expect(!"\(error)".unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x9B })
    }

    @Test("a frame that is longer than any is refused by its length, before it comes")
    func longFrame() async throws {
        for length in [[0x04, 0, 0, 1], [0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0, 0]] as [[UInt8]] {
            let error = try await failure { peer in
                guard let request = peer.request() else { return }
                peer.answer(request, Self.greeting)
                peer.send(raw: length)
                peer.wait()
            }
            #expect(Self.name(error) == "incompatible")
        }
        // Before the greeting, frames are short.
        let error = try await failure { peer in
            peer.send(raw: [0, 0x10, 0, 1])
            peer.wait()
        }
        #expect("\(error)".contains("the most is 1048576"), "\(error)")
    }

    @Test("no escape comes out of an error")
    func escapes() async throws {
        let error = try await failure { peer in
            while let request = peer.request() {
                if request["method"] as? String == "hello" {
                    peer.answer(request, Self.greeting)
                    continue
                }
                let escape = #"\u001b]0;owned\u0007\u009b31m\u202e"#
                peer.send(
                    #"{"jsonrpc":"2.0","id":\#(request["id"] ?? 0),"error":{"code":-32004,"#
                        + #""message":"no \#(escape)","data":{"kind":"forbidden"}}}"#)
            }
        }
        #expect(Self.name(error) == "refused")
        #expect("\(error)" == #"no \u{1B}]0;owned\u{7}\u{9B}31m\u{202E}"#)
        let shown = FormError.mismatch(
            form: "f" + Self.escape, field: Self.escape, shown: .string(Self.escape))
        #expect(!"\(shown)".unicodeScalars.contains { $0.value == 0x1B || $0.value == 0x202E })
    }

    @Test("a value of another type after the first shows the last that could be shown")
    func otherType() async throws {
        let folder = try TemporaryFolder()
        // The first value must be there: a form that shows none from the beginning is refused.
        let isShown = DispatchSemaphore(value: 0)
        let daemon = try LyingDaemon(folder("sock")) { peer in
            guard Self.open(peer) else { return }
            // Without a limit: other tests may keep this one from going on for minutes.
            isShown.wait()
            peer.send(Self.changed(2, "level", #"["no", "number"]"#))
            peer.wait()
        }
        defer { daemon.stop() }
        let client = FormClient(ConnectionOptions(client: "test", socket: folder("sock")))
        defer { client.close() }
        let follower = Follower()
        let session = try await client.follow(follower)
        isShown.signal()
        try await eventually("the revision behind the first") { session.revision == 2 }
        #expect(follower.level == 2)
    }

    @Test("presses that nobody can have made are told as far as they fit")
    func presses() async throws {
        let folder = try TemporaryFolder()
        let daemon = try LyingDaemon(folder("sock")) { peer in
            guard Self.open(peer) else { return }
            peer.send(Self.changed(2, "ring", #"{"presses":9223372036854775807}"#))
            peer.send(Self.changed(3, "on", "true"))
            peer.wait()
        }
        defer { daemon.stop() }
        let client = FormClient(ConnectionOptions(client: "test", socket: folder("sock")))
        defer { client.close() }
        let told = Mutex(0)
        let lamp = Lamp { told.withLock { $0 += 1 } }
        let session = try await client.open(lamp)
        try await eventually("the revision behind the presses") { session.revision == 3 }
        #expect(lamp.isOn)
        try await eventually("some presses") { told.withLock { $0 } > 0 }
        #expect(told.withLock { $0 } <= 10_000)
    }

    @Test("of a flood of presses for an action, few are worked on")
    func assignedPresses() async throws {
        let folder = try TemporaryFolder()
        let daemon = try LyingDaemon(folder("sock")) { peer in
            guard Self.open(peer) else { return }
            while let request = peer.request(), request["method"] as? String != "button.handle" {}
            let author = #"{"user":"x","uid":0,"client":"c","connection":1,"replica":"3f9a.1"}"#
            // Some of them again.
            for press in (1...1_000).flatMap({ [$0, $0 / 2 + 1] }) {
                peer.send(
                    #"{"jsonrpc":"2.0","method":"button.assigned","params":{"form":"lamp","#
                        + #""field":"ring","press":"3f9a.1:\#(press)","ticket":"1-2-3","#
                        + #""by":\#(author),"at":"2026-01-01T00:00:00.000Z","values":{}}}"#)
            }
            peer.send(Self.changed(2, "on", "true"))
            peer.wait()
        }
        defer { daemon.stop() }
        let client = FormClient(ConnectionOptions(client: "test", socket: folder("sock")))
        let begun = Mutex(0)
        let session = try await client.open(
            Answering {
                begun.withLock { $0 += 1 }
                try await Task.sleep(for: .seconds(3_600))
            })
        try await eventually("the revision behind the presses") { session.revision == 2 }
        try await eventually("some presses") { begun.withLock { $0 } > 0 }
        #expect(begun.withLock { $0 } <= 16)
        client.close()
    }
}

/// A form whose button answers.
private struct Answering: SharedForm {
    @Shared("on") var isOn = false
    @Shared("level") var level = 1
    @Shared("ring") var ring = Presses()
    static let formName = "lamp"
    let work: @Sendable () async throws -> Void

    init(work: @escaping @Sendable () async throws -> Void) { self.work = work }

    var body: some PickerSync.View {
        Form("Lamp") {
            Toggle("On", isOn: $isOn)
            Stepper("Level", value: $level, in: 1...9)
            Button("Ring", presses: $ring) { _ in try await work() }
        }
    }
}
