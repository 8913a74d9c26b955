import EngineTestKit
import SyncCore
import Testing

/// Progress of many buttons at once, told to many watchers.
@Suite struct ProgressFanOutTests {
    private static let buttons = 100
    private static let watchers = 1_000
    /// Those that read at once; the others have stopped reading.
    private static let readers = 10

    private let host: EngineHost
    private var handlers: [(id: ConnectionID, press: String, ticket: String)] = []
    private var watchers: [ConnectionID] = []

    init() throws {
        host = try EngineHost()
        let root = host.connect(uid: 0, user: "root")
        let ids = (0..<Self.buttons).map { "b\($0)" }
        let fields = ids.map { #"{"id":"\#($0)","type":"button","runs":"one","waitsFor":"1d"}"# }
        host.ask(
            root,
            Self.request(
                "form.apply",
                #"{"definition":{"form":"f","fields":[\#(fields.joined(separator: ","))]}}"#))
        let connections = ids.map { id in
            let connection = host.connect(uid: 0, user: "root")
            host.ask(
                connection, Self.request("button.handle", #"{"form":"f","fields":["\#(id)"]}"#))
            return connection
        }
        watchers = (0..<Self.watchers).map { number in
            let watcher = host.connect(uid: 2_000 + UInt32(number / 20), user: "w\(number / 20)")
            let answer = host.ask(watcher, Self.request("state.subscribe", #"{"form":"f"}"#))
            #expect(answer.count == 1)
            return watcher
        }
        let changes = ids.map { #"{"field":"\#($0)","press":true}"# }.joined(separator: ",")
        host.ask(root, Self.request("state.set", #"{"form":"f","changes":[\#(changes)]}"#))
        handlers = try connections.map { id in
            let assigned = try #require(host.take(id).last { $0.contains("button.assigned") })
            let params = try #require(try JSON(parsing: assigned)["params"])
            return (
                id, try #require(params["press"]?.stringValue),
                try #require(params["ticket"]?.stringValue)
            )
        }
        for watcher in watchers { _ = host.take(watcher) }
        host.stopped = Set(watchers.dropFirst(Self.readers))
    }

    private static func request(_ method: String, _ params: String) -> String {
        #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
    }

    /// Every handler reports progress 50 times a second; returns the last report.
    private func report(_ steps: ClosedRange<Int>) -> String {
        for step in steps {
            for (id, press, ticket) in handlers {
                let params = #"{"press":"\#(press)","ticket":"\#(ticket)","text":"\#(step)"}"#
                host.ask(id, Self.request("button.progress", params))
                _ = host.take(id)
            }
            host.pass(milliseconds: 20)
        }
        host.pass(milliseconds: 100)
        return "\(steps.upperBound)"
    }

    /// The texts of progress that a watcher received, by press.
    private func texts(_ watcher: ConnectionID) throws -> [String: [String]] {
        try texts(host.take(watcher))
    }

    private func texts(_ frames: [String]) throws -> [String: [String]] {
        var texts: [String: [String]] = [:]
        for frame in frames {
            let json = try JSON(parsing: frame)
            guard json["method"]?.stringValue == "button.progress", let params = json["params"],
                let press = params["press"]?.stringValue, let text = params["text"]?.stringValue
            else { continue }
            texts[press, default: []].append(text)
        }
        return texts
    }

    @Test("progress of 100 buttons reaches each of 1,000 watchers ten times a second at most")
    func readers() throws {
        // One second, then the rest.
        let last = report(1...50)
        for reader in watchers.prefix(Self.readers) {
            let frames = host.take(reader)
            let texts = try texts(frames)
            #expect(texts.count == Self.buttons)
            for heard in texts.values { #expect(heard.count <= 12 && heard.last == last) }
            // Not the handlers decide how much a watcher receives: these sent 5,000 reports.
            let longest = frames.map(\.utf8.count).max() ?? 0
            let bytes = frames.reduce(0) { $0 + $1.utf8.count }
            #expect(longest < 1_024 && bytes <= 12 * Self.buttons * longest, "\(bytes)")
        }
    }

    @Test(
        "what waits for a watcher that does not read is the newest of each run, however much came")
    func stopped() throws {
        let stalled = watchers.dropFirst(Self.readers)
        _ = report(1...10)
        let (early, late) = (try #require(stalled.first), try #require(stalled.last))
        func queued(_ watcher: ConnectionID) throws -> [String: [String]] {
            host.resumeReading(watcher)
            return try texts(watcher)
        }
        let first = try queued(early)
        let last = report(11...60)
        for texts in [first, try queued(late)] {
            #expect(texts.count == Self.buttons)
            #expect(texts.values.allSatisfy { $0.count == 1 })
        }
        // It has read before, so it is told what is newer, and nothing twice.
        #expect(try texts(early).values.allSatisfy { $0.count <= 12 && $0.last == last })
    }
}
