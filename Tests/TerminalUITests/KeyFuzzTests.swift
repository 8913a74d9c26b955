import TestKit
import Testing

@testable import TerminalUI

/// Streams of whole keys, answers and pastes, cut anywhere.
@Suite("key bytes, at random")
struct KeyFuzzTests {
    /// A piece of a stream: its bytes, and the text of a paste where it is one.
    private struct Piece {
        var bytes: [UInt8]
        var pasted: String?
    }

    private static let keys: [String] = KeyDecoderTests.sent.map(\.0).filter {
        // Whole by themselves, whatever follows: no lone escapes and no beginnings of sequences.
        // The pastes are made here.
        !["\u{1B}", "\u{1B}\u{1B}", "\u{1B}[", "\u{1B}O"].contains($0) && !$0.contains("[200~")
    }

    /// What people paste: text of every script, and what looks like the end of a paste and is not.
    private static let pasted: [String] = [
        "plain", " ", "日本語", "👩‍👩‍👧‍👦", "e\u{301}", "\r\n", "\n", "\r", "\t", "\u{1B}[201", "\u{1B}",
        "\u{1B}[20", "[201~", "\u{7}", "\u{1B}[200~", "\0", "\u{9B}", "ß", "\u{1B}[201;5~", "~",
    ]

    /// What a paste means: no controls but tabs and line ends, each of those one `\n`.
    private static func meaning(_ text: String) -> String {
        var kept: [Unicode.Scalar] = []
        var last: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x0D: kept.append("\n")
            case 0x0A: if last != "\r" { kept.append("\n") }
            case 0x09, 0x20...0x7E, 0xA0...: kept.append(scalar)
            default: break
            }
            last = scalar
        }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: kept)
        return String(view)
    }

    private static func piece(_ random: inout SplitMix64) -> Piece {
        guard Int.random(in: 0..<3, using: &random) == 0 else {
            return Piece(bytes: Array((keys.randomElement(using: &random) ?? "a").utf8))
        }
        let text = (0..<Int.random(in: 0...8, using: &random)).map { _ in
            pasted.randomElement(using: &random) ?? "x"
        }.joined()
        // A terminal leaves the end of a paste out of it.
        let body = text.split(separator: "\u{1B}[201~", omittingEmptySubsequences: false).joined()
        guard !body.contains("\u{1B}[201~") else { return Piece(bytes: [0x61]) }
        return Piece(
            bytes: Array("\u{1B}[200~\(body)\u{1B}[201~".utf8), pasted: meaning(body))
    }

    private static func pastes(_ events: [InputEvent]) -> [String] {
        events.compactMap { if case .paste(let text, _) = $0 { text } else { nil } }
    }

    @Test("no paste is lost, and every way to cut a stream means what the whole means")
    func streams() {
        var random = SplitMix64(seed: SplitMix64.seed(from: "TERMINALUI_SEED"))
        for _ in 0..<120 {
            let pieces = (0..<Int.random(in: 1...8, using: &random)).map { _ in
                Self.piece(&random)
            }
            let bytes = pieces.flatMap(\.bytes)
            let whole = decoded([bytes])
            #expect(
                Self.pastes(whole).map { Array($0.utf8) }
                    == pieces.compactMap(\.pasted).map { Array($0.utf8) }, "\(bytes)")
            for split in 0...bytes.count {
                #expect(
                    decoded([Array(bytes[..<split]), Array(bytes[split...])]) == whole,
                    "\(bytes), split at \(split)")
            }
            // Many cuts at once.
            var rest = bytes[...]
            var reads: [[UInt8]] = []
            while !rest.isEmpty {
                let count = Int.random(in: 1...min(7, rest.count), using: &random)
                reads.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(decoded(reads) == whole, "\(reads)")
        }
    }

    @Test("a link that pauses within a paste loses none of it")
    func pauses() {
        var random = SplitMix64(seed: SplitMix64.seed(from: "TERMINALUI_SEED"))
        for _ in 0..<200 {
            let piece = Self.piece(&random)
            guard let text = piece.pasted else { continue }
            var decoder = KeyDecoder()
            var events: [InputEvent] = []
            // The beginning has come whole, since a pause within it makes keys of it.
            events += decoder.decode(piece.bytes.prefix(6))
            for byte in piece.bytes.dropFirst(6) {
                events += decoder.decode([byte])
                if Int.random(in: 0..<3, using: &random) == 0 { events += decoder.timeout() }
            }
            #expect(Self.pastes(events).map { Array($0.utf8) } == [Array(text.utf8)])
        }
    }
}
