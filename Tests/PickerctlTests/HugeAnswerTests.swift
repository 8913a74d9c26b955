import SyncCore
import TestKit
import Testing

@testable import pickerctl

/// Forms that a daemon that lies may send: more fields than a form can have. Work that grows with
/// the square of their number would take minutes.
@Suite struct HugeAnswerTests {
    private static let count = 60_000

    /// Answers as a daemon with one form of so many toggles.
    @Sendable private static func answer(_ request: JSON) -> String? {
        let result: String
        switch request["method"]?.stringValue {
        case "hello":
            result =
                #"{"protocol":1,"server":"pickersyncd/1","replica":"3f9a.1","features":[],"you":{"connection":1,"uid":0,"gid":0,"pid":1,"user":"root"},"limits":{"maxFrame":67108864}}"#
        case "form.get":
            let fields = (0..<count).map { #"{"id":"f\#($0)","type":"toggle"}"# }
            result =
                #"{"form":"f","version":1,"log":"910a2dec8902","revision":1,"definition":{"form":"f","fields":[\#(fields.joined(separator: ","))]}}"#
        default:
            let fields = (0..<count).map { #""f\#($0)":{"value":true,"revision":1,"set":true}"# }
            result =
                #"{"form":"f","log":"910a2dec8902","revision":1,"context":"3f9a.1:1","fields":{\#(fields.joined(separator: ","))}}"#
        }
        return #"{"jsonrpc":"2.0","id":\#(request["id"]?.encodedText ?? "1"),"result":\#(result)}"#
    }

    @Test(
        "each command goes through the fields of a form once",
        arguments: [
            ["get", "-f", "f"], ["get", "f/f*"], ["get", "-f", "f", "-o", "json"],
            ["get", "-f", "f", "-o", "env"], ["dump", "f"],
        ])
    func commands(words: [String]) throws {
        let bench = try Bench(starting: false)
        let fake = try FakeDaemon(bench.socket, Self.answer)
        defer { fake.stop() }
        let outcome = try bench.launch(words).outcome()
        #expect(outcome.status == 0, "\(outcome.err)")
        let lines = outcome.out.split(separator: "\n")
        #expect(lines.count { $0.uppercased().contains("F59999") } == 1)
    }

    @Test("a history without end, of other fields, ends", arguments: [true, false])
    func history(goesBack: Bool) throws {
        let bench = try Bench(starting: false)
        let fake = try FakeDaemon(bench.socket) { request in
            guard request["method"] == "state.history" else { return Self.answer(request) }
            let before = goesBack ? request["params"]?["before"]?.integerValue ?? 1 << 50 : 2_000
            let entries = (1...1_000 as ClosedRange<Int64>).map {
                #"{"revision":\#(before - $0),"at":"2026-11-18T11:06:40.000Z","kind":"set","changes":[]}"#
            }
            return
                #"{"jsonrpc":"2.0","id":\#(request["id"]?.encodedText ?? "1"),"result":{"entries":[\#(entries.joined(separator: ","))],"more":true}}"#
        }
        defer { fake.stop() }
        let plot = try bench.launch(["history", "--plot", "-f", "f", "f7"]).outcome()
        #expect(plot.status == (goesBack ? 0 : 69), "\(plot.err)")
        if goesBack { return }
        let list = try bench.launch(["history", "-f", "f", "f7", "f8"]).outcome()
        #expect(list.status == 69 && list.err.contains("does not go back"), "\(list.err)")
    }

    @Test("bindings in a circle, and chains of them, end")
    func bindings() {
        let fields = (0..<20_000).map { number in
            JSON.members(
                ("id", .string("f\(number)")), ("type", "picker"),
                ("binds", .string("f\((number + 1) % 20_000)")))
        }
        let outline = FormOutline(.members(("form", "f"), ("fields", .array(fields))))
        #expect(outline.fields.count == 20_000)
        #expect(outline["f19999"]?.options.isEmpty == true)
    }

    @Test("an object of many members takes the last of those with one name")
    func members() {
        let pairs = (0..<200_000).map { ("m\($0 % 150_000)", JSON.integer($0)) }
        let object = JSONObject(pairs)
        #expect(object.members.count == 150_000)
        #expect(object["m0"] == 150_000 && object["m149999"] == 149_999)
        #expect(object.members.first?.name == "m0")
    }
}
