import SyncCore
import TestKit
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
        let seed = SplitMix64.seed(from: "FORMFILE_SEED")
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

    /// A text with some of its lines dropped, repeated, swapped or moved to the right or left.
    private func rearranged(_ text: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        let newline = UInt8(ascii: "\n")
        var lines = text.split(separator: newline, omittingEmptySubsequences: false).map(Array.init)
        for _ in 0..<Int.random(in: 1...3, using: &random) where lines.count > 1 {
            let place = Int.random(in: 0..<lines.count, using: &random)
            let other = Int.random(in: 0..<lines.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: lines.remove(at: place)
            case 1: lines.insert(lines[place], at: place)
            case 2: lines.insert(lines[place], at: other)
            case 3: lines.swapAt(place, other)
            case 4: lines[place].insert(contentsOf: [0x20, 0x20], at: 0)
            default: if lines[place].starts(with: [0x20, 0x20]) { lines[place].removeFirst(2) }
            }
        }
        return Array(lines.joined(separator: [newline]))
    }

    /// Loads a text as a form and checks what holds of every answer.
    private func load(_ text: [UInt8], _ origin: String) {
        switch FormFile.load(text, name: "t") {
        case .success((let definition, let json)):
            #expect(!definition.controls.isEmpty, "\(origin)")
            // What was taken is taken again from the text that we write of it.
            let written = Array(YAMLWriter.text(of: json).utf8)
            guard case .success((let again, _)) = FormFile.load(written, name: "again") else {
                Issue.record("\(origin): refused once it was written")
                return
            }
            #expect(again.controls.map(\.id) == definition.controls.map(\.id), "\(origin)")
        case .failure(let failure):
            let issues = failure.issues
            #expect(!issues.isEmpty && issues.count <= FileIssues.issuesMax, "\(origin)")
            #expect(issues.allSatisfy { $0.position != nil && $0.file == "t" }, "\(origin)")
            let places = issues.compactMap(\.position)
            #expect(zip(places, places.dropFirst()).allSatisfy { !($1 < $0) }, "\(origin)")
            #expect(
                issues.allSatisfy { $0.description.isFreeOfControls() }, "\(origin): \(failure)")
        }
    }

    @Test("an example form with bytes flipped is loaded, or refused with places in order")
    func loadedFlips() throws {
        let seed = SplitMix64.seed(from: "FORMFILE_SEED")
        var random = SplitMix64(seed: seed)
        let forms = try (FormFolder.examples + FormFolder.valid).map(FormFolder.bytes)
        for round in 0..<300 {
            load(damaged(forms[round % forms.count], &random), "round \(round) of seed \(seed)")
        }
    }

    @Test("an example form whose lines are dropped, doubled or moved is loaded, or refused so")
    func loadedLines() throws {
        let seed = SplitMix64.seed(from: "FORMFILE_SEED")
        var random = SplitMix64(seed: seed)
        let forms = try (FormFolder.examples + FormFolder.valid).map(FormFolder.bytes)
        for round in 0..<300 {
            load(rearranged(forms[round % forms.count], &random), "round \(round) of seed \(seed)")
        }
    }

    @Test("each single line of an example form may be missing or be there twice")
    func loadedLineByLine() throws {
        let newline = UInt8(ascii: "\n")
        for file in FormFolder.examples {
            let lines = try FormFolder.bytes(file).split(
                separator: newline, omittingEmptySubsequences: false)
            for place in lines.indices {
                var fewer = lines
                fewer.remove(at: place)
                load(Array(fewer.joined(separator: [newline])), "\(file) without line \(place + 1)")
                var more = lines
                more.insert(lines[place], at: place)
                load(Array(more.joined(separator: [newline])), "\(file), line \(place + 1) twice")
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
        let seed = SplitMix64.seed(from: "FORMFILE_SEED")
        var random = SplitMix64(seed: seed)
        for _ in 0..<2000 {
            let count = Int.random(in: 0..<200, using: &random)
            _ = issues((0..<count).map { _ in Self.telling.randomElement(using: &random)! })
        }
    }
}
