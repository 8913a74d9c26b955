import SyncCore
import Testing

@testable import FormFile

@Suite("Damaged files") struct MutationTests {
    /// Bytes that mean something to YAML or JSON, besides any byte at all.
    private static let telling =
        Array("{}[]&*!|>'\"%@`#,:?-<~\\ \n\t\r0x.e\u{7f}".utf8) + [0, 0x80, 0xFF]

    private func damaged(_ text: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        var text = text
        for _ in 0..<Int.random(in: 1...6, using: &random) where !text.isEmpty {
            let place = Int.random(in: 0..<text.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: text[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: text[place] = Self.telling.randomElement(using: &random)!
            case 2: text.insert(Self.telling.randomElement(using: &random)!, at: place)
            case 3: text.remove(at: place)
            default:
                let end = min(text.count, place + Int.random(in: 1...40, using: &random))
                text.insert(contentsOf: text[place..<end], at: end)
            }
        }
        return text
    }

    @Test("an example form with any bytes flipped is read or refused with a place, never more")
    func flips() throws {
        let seed = SplitMix64.testSeed()
        var random = SplitMix64(seed: seed)
        let forms = try FormFolder.examples.map(FormFolder.bytes)
        try #require(forms.count >= 4)
        for round in 0..<1200 {
            let text = damaged(forms[round % forms.count], &random)
            do throws(FileIssues) {
                let tree = try YAMLDocument.parse(text, name: "t")
                // What was read can be written and read again.
                let again = try YAMLDocument.parse(
                    Array(YAMLWriter.text(of: tree.json).utf8), name: "again")
                #expect(again.json == tree.json, "round \(round) of seed \(seed)")
            } catch {
                #expect(
                    error.issues.allSatisfy { $0.position != nil && $0.file == "t" },
                    "round \(round) of seed \(seed): \(error)")
            }
        }
    }

    @Test("an example form that is cut anywhere is read or refused, never more")
    func cuts() throws {
        let form = try FormFolder.bytes(#require(FormFolder.examples.first))
        for end in stride(from: 0, to: form.count, by: 3) { _ = issues(Array(form[..<end])) }
    }

    @Test("noise is refused, never more")
    func noise() {
        let seed = SplitMix64.testSeed()
        var random = SplitMix64(seed: seed)
        for _ in 0..<2000 {
            let count = Int.random(in: 0..<200, using: &random)
            _ = issues((0..<count).map { _ in Self.telling.randomElement(using: &random)! })
        }
    }
}
