import TestKit
import Testing

@testable import SyncCore

@Suite struct GlobSetTests {
    @Test(
        "several globs together match what one of them matches",
        arguments: 1...40 as ClosedRange<UInt64>)
    func sameAsAlone(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<200 {
            func text(_ letters: [Character], _ most: Int) -> String {
                String(
                    (0..<Int.random(in: 1...most, using: &random)).map { _ in
                        letters.randomElement(using: &random) ?? "a"
                    })
            }
            let patterns = (0..<3).map { _ in text(["a", "b", "*", "?"], 6) }
            let id = text(["a", "b"], 8)
            let set = GlobSet(patterns)
            #expect(set.matches(id) == [Glob](patterns).matches(id), "\(patterns) on \(id)")
        }
    }

    @Test("an id of all its 63 bytes is matched to its end")
    func longest() {
        let id = String(repeating: "a", count: 62) + "b"
        #expect(GlobSet(["*ab"]).matches(id))
        #expect(GlobSet([String(repeating: "?", count: 63)]).matches(id))
        #expect(!GlobSet([String(repeating: "?", count: 62)]).matches(id))
        #expect(!GlobSet(["*a"]).matches(id))
        #expect(GlobSet(["a*"]).matches(id) && GlobSet(["*"]).matches(id))
        #expect(GlobSet([id]).matches(id) && GlobSet([id]).steps == 0)
    }

    @Test("globs cost a field as many steps as they have bytes, each once")
    func steps() {
        #expect(GlobSet(["*aa*b", "*aa*b", "aa"]).steps == 5)
        #expect(GlobSet(["*", "*aa*b"]).steps == 0)
    }

    @Test("more bytes of globs than may be tried are refused")
    func bound() {
        let globs = (0..<80).map { #""*\#(String(repeating: "a", count: 50 + $0 % 7))*b""# }
        let text =
            #"{"jsonrpc":"2.0","id":1,"method":"state.get","params":{"form":"f","fields":[\#(globs.joined(separator: ","))]}}"#
        var decoder = MessageDecoder()
        guard case .single(let call) = decoder.decode(Array(text.utf8)),
            case .failure(let error) = call.content
        else {
            Issue.record("they are taken")
            return
        }
        #expect(error.limit == "globBytesMax")
    }
}
