import Foundation
import PickerSync
import Synchronization
import TestKit
import Testing

/// What an action of the test did, in order.
private final class Acts: Sendable {
    private let words = Mutex<[String]>([])
    func add(_ word: String) { words.withLock { $0.append(word) } }
    func has(_ word: String) -> Bool { words.withLock { $0.contains(word) } }
    var all: [String] { words.withLock { $0 } }
}

/// Unchecked, because one thread at a time has the value: the test waits for the other.
private struct Carried<Value>: @unchecked Sendable {
    let value: Value
}

/// Waits on a thread of its own. The actions of the test need the threads of tasks, of which there
/// are only as many as processors.
private func onThread<Value>(_ body: @escaping () throws -> Value) async throws -> Value {
    let body = Carried(value: body)
    let result: Carried<Value> = try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
            continuation.resume(with: Result { Carried(value: try body.value()) })
        }
    }
    return result.value
}

private struct NoDisk: Error, CustomStringConvertible {
    let description = "no disk\nat all"
}

private struct Rollout: SharedForm {
    @Shared var version = "1.0"
    let work: @Sendable (AssignedPress) async throws -> Void
    var body: some View {
        Form {
            TextField("Version", text: $version)
            Button("Start", action: work).runs(.queue, waitsFor: .seconds(3_600))
            Button("Other") { press in press.progress("never pressed") }
        }
    }
}

@Suite("Buttons whose actions answer", .serialized, .timeLimit(.minutes(5)))
struct AnsweringButtonTests {
    private let programs: Programs
    private let acts = Acts()
    private var daemon: Daemon { programs.daemon }

    init() throws { programs = try Programs() }

    private func press() throws -> ChildProcess {
        try ChildProcess(
            [builtProgram("pickerctl"), "press", "rollout/start", "--wait", "-m", "INC-231"],
            environment: ["PICKERSYNC_SOCKET": daemon.socket])
    }

    @Test("the action gets the press; its progress and its end are those of the press")
    func done() async throws {
        let (_, form, _) = try await programs.open(
            Rollout { [acts] press in
                let version = press.values["version"]?.stringValue ?? "?"
                acts.add("\(version) \(press.message ?? "") \(press.isAgain) \(press.by.user)")
                press.progress(0.4, " copying\t2 files ")
                press.progress(.nan)
                press.progress("")
                while !acts.has("go") { try await Task.sleep(for: .milliseconds(10)) }
            })
        form.version = "2.1"
        try await eventually("the version") { try daemon.pickerctl("get", "version") == "2.1\n" }
        let watcher = try WireClient(daemon.socket)
        _ = try watcher.call("state.subscribe", ["form": "rollout"])
        let press = try press()
        let progress = try #require(
            try await onThread { try watcher.notification("button.progress") })
        #expect(progress["field"] as? String == "start")
        #expect(
            progress["fraction"] as? Double == 0.4
                && progress["text"] as? String == "copying\\u{9}2 files")
        acts.add("go")
        let outcome = try await onThread { press.outcome() }
        #expect(outcome.status == 0, "\(outcome.err)")
        #expect(outcome.err.contains("start is done by"), "\(outcome.err)")
        let who = NSUserName()
        #expect(acts.all == ["2.1 INC-231 false \(who)", "go"])
    }

    @Test("an action that throws fails its press, with the error as one line")
    func failed() async throws {
        _ = try await programs.open(Rollout { _ in throw NoDisk() })
        let press = try press()
        let outcome = try await onThread { press.outcome() }
        #expect(outcome.status == 1)
        #expect(outcome.err.contains(#"no disk\u{A}at all"#), "\(outcome.err)")
    }

    @Test("cancelling a press cancels the task of the action")
    func cancelled() async throws {
        _ = try await programs.open(
            Rollout { [acts] press in
                acts.add(press.id)
                try await Task.sleep(for: .seconds(3_600))
            })
        let press = try press()
        try await eventually("the action") { !acts.all.isEmpty }
        _ = try WireClient(daemon.socket).call(
            "button.cancel", ["form": "rollout", "field": "start", "press": acts.all[0]])
        let outcome = try await onThread { press.outcome() }
        #expect(outcome.status == 130, "\(outcome.err)")
        #expect(outcome.err.contains("start was cancelled\n"), "\(outcome.err)")
    }

    @Test("an action goes on when the daemon is killed, and ends its press at the next daemon")
    func reclaimed() async throws {
        _ = try await programs.open(
            Rollout { [acts] press in
                acts.add("begun")
                while !acts.has("go") { try await Task.sleep(for: .milliseconds(10)) }
            })
        let press = try press()
        try await eventually("the action") { acts.has("begun") }
        try daemon.stop(SIGKILL)
        try daemon.start()
        acts.add("go")
        let outcome = try await onThread { press.outcome() }
        #expect(outcome.status == 0, "\(outcome.err)")
        // The program takes presses of the new daemon too.
        let next = try self.press()
        #expect(try await onThread { next.outcome() }.status == 0)
        #expect(acts.all == ["begun", "go", "begun"])
    }

    @Test("a program that closes its form cancels its action and takes no more presses")
    func closed() async throws {
        let (_, _, session) = try await programs.open(
            Rollout { [acts] press in
                acts.add("begun")
                do { try await Task.sleep(for: .seconds(3_600)) } catch {
                    acts.add("cancelled")
                    throw error
                }
            })
        let press = try press()
        try await eventually("the action") { acts.has("begun") }
        session.close()
        #expect(try await onThread { press.outcome() }.status == 1)
        #expect(acts.all == ["begun", "cancelled"])
        try daemon.pickerctl("press", "rollout/start")
        try daemon.pickerctl("get", "rollout/start")
        #expect(acts.all == ["begun", "cancelled"])
    }

    @Test("a program without a thread of its own: its action reports progress while it waits")
    func blocking() async throws {
        let options = ConnectionOptions(socket: daemon.socket)
        let told = try await onThread { [acts, daemon] in
            let client = BlockingFormClient(options)
            try client.open(
                Rollout { press in
                    press.progress(0.4, "copying")
                    while !acts.has("go") { try await Task.sleep(for: .milliseconds(10)) }
                })
            let watcher = try WireClient(daemon.socket)
            _ = try watcher.call("state.subscribe", ["form": "rollout"])
            let press = try press()
            let others = Carried(value: (watcher, press, daemon))
            Thread.detachNewThread {
                let (watcher, press, daemon) = others.value
                let progress = try? watcher.notification("button.progress")
                acts.add(progress?["text"] as? String ?? "no progress")
                acts.add("go")
                acts.add("status \(press.outcome().status)")
                // The event that ends the last wait below.
                _ = try? daemon.pickerctl("set", "version=3")
            }
            // Nothing else comes while the action works and when it ends.
            while !acts.all.contains(where: { $0.hasPrefix("status") }) {
                try client.wait(seconds: 3_600)
            }
            return acts.all
        }
        #expect(told == ["copying", "go", "status 0"])
    }

    @Test("how presses wait is part of the declaration")
    func rules() throws {
        struct Rules: SharedForm {
            var body: some View {
                Form {
                    Button("One", action: { _ in })
                        .runs(
                            .one, waitsFor: .milliseconds(1_500), whenLost: .again,
                            timeout: .seconds(1_800))
                    Button("Two", role: .destructive) { _ in }
                    Button("Three") {}
                    Button("Four") {}.runs(.latest, handledAt: "web1")
                    Button(action: { press in press.progress(1) }, label: { Text("Five") })
                }
            }
        }
        let fields = try #require(try Rules().definition()["fields"]?.arrayValue)
        let texts = fields.map(\.encodedText)
        #expect(
            texts == [
                #"{"id":"one","type":"button","label":"One","runs":"one","waitsFor":"1500ms","whenLost":"again","timeout":"30min"}"#,
                #"{"id":"two","type":"button","label":"Two","role":"destructive","runs":"queue"}"#,
                #"{"id":"three","type":"button","label":"Three"}"#,
                #"{"id":"four","type":"button","label":"Four","runs":"latest","handledAt":"web1"}"#,
                #"{"id":"five","type":"button","label":"Five","runs":"queue"}"#,
            ])
    }
}
