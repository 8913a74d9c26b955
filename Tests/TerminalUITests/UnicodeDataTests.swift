import Foundation
import Testing

@testable import TerminalUI

/// Unicode's own files, as Debian's `unicode-data` has them (scripts/dependencies installs it).
private enum UnicodeData {
    static let folder = "/usr/share/unicode/"

    /// The lines of a file without comments, as fields between semicolons.
    static func fields(_ name: String) throws -> [[String]] {
        let text = try String(contentsOfFile: folder + name, encoding: .utf8)
        return text.split(separator: "\n").compactMap { line in
            let content = line.prefix { $0 != "#" }.split(
                separator: ";", omittingEmptySubsequences: false
            ).map { $0.trimmingCharacters(in: .whitespaces) }
            return content.count > 1 ? content : nil
        }
    }

    static func range(_ text: String) throws -> ClosedRange<UInt32> {
        let ends = text.components(separatedBy: "..").map { UInt32($0, radix: 16) }
        let first = try #require(ends[0])
        return first...(try #require(ends[ends.count - 1]))
    }

    static func text(_ points: String) throws -> String {
        var scalars = String.UnicodeScalarView()
        for point in points.split(separator: " ") {
            let value = try #require(UInt32(point, radix: 16))
            scalars.append(try #require(Unicode.Scalar(value)))
        }
        return String(scalars)
    }

    /// Marks the code points of a property file whose second field is one of `values`.
    static func mark(
        _ name: String, _ values: Set<String>, in marks: inout [UInt8], as mark: UInt8
    ) throws {
        for fields in try fields(name) where values.contains(fields[1]) {
            for point in try range(fields[0]) { marks[Int(point)] = mark }
        }
    }
}

/// The widths against Unicode's files, entry by entry.
@Suite("widths, as Unicode's own files have them")
struct UnicodeDataTests {
    /// What a scalar on its own takes, from the properties and not from our table.
    ///
    /// East_Asian_Width W and F take two columns (UAX #11), all else one. Exceptions, since they
    /// are drawn onto the character before them or not at all: combining marks (Mn, Me), format
    /// characters (Cf), Hangul vowels and finals, and what is ignorable by default take none. Of
    /// these, SOFT HYPHEN and the Arabic number signs are drawn, and HANGUL FILLERs keep their
    /// place. Controls take none: they are shown as escapes before they are measured.
    private func expected() throws -> [UInt8] {
        var marks = [UInt8](repeating: 1, count: 0x110000)
        try UnicodeData.mark("EastAsianWidth.txt", ["W", "F"], in: &marks, as: 2)
        let wide = marks
        try UnicodeData.mark(
            "extracted/DerivedGeneralCategory.txt", ["Mn", "Me", "Cf"], in: &marks, as: 0)
        try UnicodeData.mark("HangulSyllableType.txt", ["V", "T"], in: &marks, as: 0)
        try UnicodeData.mark(
            "DerivedCoreProperties.txt", ["Default_Ignorable_Code_Point"], in: &marks, as: 0)
        try UnicodeData.mark(
            "PropList.txt", ["Prepended_Concatenation_Mark"], in: &marks, as: 1)
        for filler in [0x00AD, 0x115F, 0x3164, 0xFFA0] { marks[filler] = wide[filler] }
        for control in Array(0..<0x20) + Array(0x7F..<0xA0) { marks[control] = 0 }
        return marks
    }

    @Test("the table is of the Unicode that Debian has")
    func version() throws {
        let text = try String(
            contentsOfFile: UnicodeData.folder + "EastAsianWidth.txt", encoding: .utf8)
        let first = try #require(text.split(separator: "\n").first)
        #expect(first.contains("-\(DisplayWidth.unicodeVersion).txt"))
    }

    @Test("every code point takes the columns that its properties give it")
    func scalars() throws {
        let expected = try expected()
        var wrong: [String] = []
        for value in UInt32(0)..<0x110000 {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let columns = DisplayWidth.columns(of: scalar)
            if columns != Int(expected[Int(value)]) {
                wrong.append("U+\(String(value, radix: 16)): \(columns)")
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count) differ: \(wrong.prefix(10))")
    }

    @Test("every emoji of emoji-test.txt is one cluster of two columns")
    func emoji() throws {
        let expected = try expected()
        var count = 0
        for fields in try UnicodeData.fields("emoji/emoji-test.txt") {
            let text = try UnicodeData.text(fields[0])
            #expect(text.count == 1, "\(fields[0]) is one cluster")
            let columns = DisplayWidth.columns(of: text)
            // Unqualified ones lack U+FE0F: they are text, as wide as their scalars, at most two.
            let scalars = text.unicodeScalars.reduce(0) { $0 + Int(expected[Int($1.value)]) }
            let wanted = fields[1] == "unqualified" ? min(2, scalars) : 2
            #expect(columns == wanted, "\(fields[0]), \(fields[1]): \(columns)")
            count += 1
        }
        #expect(count > 4_000)
    }

    @Test(
        "every sequence of emoji, joined ones among them, takes two columns",
        arguments: ["emoji-sequences.txt", "emoji-zwj-sequences.txt"])
    func sequences(file: String) throws {
        var count = 0
        for fields in try UnicodeData.fields("emoji/" + file) {
            if fields[0].contains("..") {
                for point in try UnicodeData.range(fields[0]) {
                    let scalar = try #require(Unicode.Scalar(point))
                    #expect(DisplayWidth.columns(of: Character(scalar)) == 2)
                }
            } else {
                let text = try UnicodeData.text(fields[0])
                #expect(text.count == 1 && DisplayWidth.columns(of: text) == 2, "\(fields[0])")
            }
            count += 1
        }
        #expect(count > 500)
    }

    @Test("a variation selector makes an emoji of two columns, or leaves the text as it is")
    func variations() throws {
        let expected = try expected()
        for fields in try UnicodeData.fields("emoji/emoji-variation-sequences.txt") {
            let text = try UnicodeData.text(fields[0])
            let base = try #require(text.unicodeScalars.first)
            let wanted = fields[1] == "emoji style" ? 2 : Int(expected[Int(base.value)])
            #expect(DisplayWidth.columns(of: text) == wanted, "\(fields[0]), \(fields[1])")
        }
    }

    /// What the standard library, whose tables are of a later Unicode than Debian's, has otherwise:
    /// U+2701 is not a pictograph there, so that a joiner does not join two of them.
    private static func isLater(_ line: String) -> Bool {
        line.contains("÷ 2701 × 200D × 2701 ÷")
    }

    @Test("texts break into clusters where GraphemeBreakTest.txt says, and the cursor is there")
    func clusters() throws {
        let text = try String(
            contentsOfFile: UnicodeData.folder + "auxiliary/GraphemeBreakTest.txt", encoding: .utf8)
        var count = 0
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let content = line.prefix { $0 != "#" }
            if Self.isLater(String(content)) { continue }
            let clusters = try content.split(separator: "÷").compactMap { part -> String? in
                let points = part.filter { $0 != "×" }
                let isBlank = points.allSatisfy { $0 == " " || $0 == "\t" }
                return isBlank ? nil : try UnicodeData.text(String(points))
            }
            let whole = clusters.joined()
            #expect(
                whole.map { Array($0.unicodeScalars) } == clusters.map { Array($0.unicodeScalars) },
                "\(content)")
            // A text field moves by the same clusters.
            var editor = TextEditor(whole, isMultiline: true)
            editor.move(to: 0)
            var moves = 0
            while editor.cursor < editor.clusters.count, moves < 100 {
                _ = editor.apply(KeyEvent(.right))
                moves += 1
            }
            #expect(moves == clusters.count, "\(content)")
            count += 1
        }
        #expect(count > 500)
    }

    @Test("every text takes the columns that were measured")
    func lines() throws {
        for fields in try UnicodeData.fields("emoji/emoji-test.txt") {
            let text = "a\(try UnicodeData.text(fields[0]))b"
            var buffer = CellBuffer(columns: 8, lines: 1)
            let columns = buffer.write(text, at: Point(x: 0, y: 0))
            #expect(columns == DisplayWidth.columns(of: text))
            #expect(buffer[columns - 1, 0].cluster == "b", "\(fields[0])")
        }
    }
}
