import SeededRandom
import Testing

@testable import SyncCore

/// What hosts say of what is under way: bytes, and what is kept of them.
@Suite("Words between hosts")
struct LinkWordTests {
    private let author = Author(
        user: "ann", uid: 1000, client: "pickerctl/1", tty: "pts/3", connection: 7,
        replica: ReplicaID(id: 3, epoch: 1), host: "h0")

    private var verb: LinkVerb {
        LinkVerb(
            id: 9, to: "h1", run: 7, until: -5, author: author, session: "s", rank: .daemon,
            groups: ["oncall", "ops"], loginUID: 1001, isLoginKnown: true,
            request: Array("{}".utf8))
    }

    @Test("what is written is read, and nothing that is cut")
    func bytes() throws {
        let read = try LinkVerb(decoding: verb.encoded)
        #expect(read.encoded == verb.encoded)
        #expect(read.groups == ["oncall", "ops"] && read.rank == .daemon && read.loginUID == 1001)
        let word = UnderWayWord(number: 3, text: [1, 2])
        #expect(try UnderWayWord(decoding: word.encoded) == word)
        let answer = LinkVerbAnswer(id: 1, to: "h1", response: [4])
        #expect(try LinkVerbAnswer(decoding: answer.encoded) == answer)
        for length in verb.encoded.indices {
            #expect(throws: CausalityDecodeError.self) {
                _ = try LinkVerb(decoding: Array(verb.encoded.prefix(length)))
            }
        }
    }

    @Test("whatever arrives is read or refused")
    func hostile() {
        var random = SplitMix64(seed: 5)
        let texts = [verb.encoded, UnderWayWord(number: 1, text: Array("{}".utf8)).encoded]
        for _ in 0..<20_000 {
            var bytes = texts[Int.random(in: 0..<texts.count, using: &random)]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
            _ = try? LinkVerb(decoding: bytes)
            _ = try? UnderWayWord(decoding: bytes)
            _ = try? LinkVerbAnswer(decoding: bytes)
        }
    }

    @Test("an older daemon skips the items")
    func skipped() {
        for kind in [LinkItem.Kind.underWay, .verb, .verbAnswer] {
            #expect(kind.rawValue >= LinkItem.skippable)
        }
    }

    private func text(_ padding: Int) -> [UInt8] {
        let run =
            #"{"field":"go","press":"3.1:1","by":{"user":"ann","uid":1,"connection":1,"#
            + #""replica":"3.1"},"at":"2026-11-27T12:00:00Z","state":"waiting","#
            + #""since":"2026-11-27T12:00:00Z","text":""#
            + String(repeating: "x", count: padding) + #""}"#
        return Array(#"{"host":"h9","runs":[\#(run)]}"#.utf8)
    }

    @Test("the newest word of a host replaces the others, and what cannot be read removes it")
    func replaced() {
        var board = UnderWayBoard()
        func hear(_ number: UInt64, _ text: [UInt8], run: UInt64 = 1) -> Bool {
            board.heard(
                UnderWayWord(number: number, text: text), on: "f", of: "h0", run: run, at: 0)
        }
        #expect(hear(2, text(1)))
        #expect(board.others(on: "f").map(\.host) == ["h0"])
        #expect(board.others(on: "f").first?.runs.first?.run.host == "h0")
        #expect(!hear(1, []) && !hear(2, []))
        #expect(board.others(on: "f").count == 1)
        #expect(hear(1, [], run: 2))
        #expect(board.others(on: "f").isEmpty && !board.hasOthers(on: "f"))
        #expect(hear(3, text(1), run: 2) && hear(4, Array("{".utf8), run: 2))
        #expect(board.others(on: "f").isEmpty)
    }

    @Test("what is kept of the others is bounded, and is gone after a while without a word")
    func bounded() {
        var board = UnderWayBoard()
        for form in 0..<400 {
            _ = board.heard(
                UnderWayWord(number: 1, text: text(60_000)), on: "f\(form)", of: "h0", run: 1,
                at: 0)
        }
        #expect((0..<400).count { board.hasOthers(on: "f\($0)") } < 300)
        let late: UInt64 = 46_000_000_000
        #expect(board.deadline(isLinked: true) <= late)
        // Of a host that is away it is kept.
        #expect(board.expire(at: late) { _ in false }.isEmpty)
        #expect(board.hasOthers(on: "f0") && board.deadline(isLinked: true) == .max)
        board.hostsChanged(at: late) { _ in true }
        #expect(board.expire(at: 2 * late) { _ in true }.count > 200)
        #expect(!board.hasOthers(on: "f0"))
    }
}
