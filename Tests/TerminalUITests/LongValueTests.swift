import SyncCore
import TestKit
import Testing

@testable import TerminalUI

/// Values as long as a frame. Work that grows with the square of the length would take minutes.
@Suite struct LongValueTests {
    private let environment = StyleEnvironment(theme: .harbor)

    private func drawn(_ editor: TextEditor, isEditing: Bool, columns: Int) -> Canvas {
        Canvas.drawing(
            AnyBlock(
                EditLine(
                    editor: editor, style: .plain, isEditing: isEditing, environment: environment)),
            columns: columns)
    }

    @Test("of a long text only the part that is shown is looked at", arguments: [false, true])
    func line(isEditing: Bool) throws {
        let editor = TextEditor(String(repeating: "xe\u{301}", count: 50_000))
        let canvas = drawn(editor, isEditing: isEditing, columns: 40)
        let region = try #require(canvas.regions.last)
        guard case .text(let first, let columns) = region.target else {
            Issue.record("no region of text")
            return
        }
        #expect(columns.count <= 42, "\(columns.count) clusters for 40 columns")
        #expect(first == (isEditing ? 100_000 - 38 : 0))
        #expect(canvas.cursor?.x == (isEditing ? 39 : nil))
    }

    @Test("a text that is as wide as its line is shown from its beginning")
    func edges() throws {
        for length in 0...12 {
            let text = String(repeating: "x", count: length)
            let canvas = drawn(TextEditor(text), isEditing: true, columns: 10)
            let isCut = length > 9
            #expect(
                canvas.buffer.text(ofLine: 0).contains(environment.glyphs.back) == isCut,
                "\(length)")
            #expect(canvas.cursor?.x == min(length, 9))
        }
    }

    @Test("as much of a long text is put in as fits")
    func paste() {
        var editor = TextEditor("ab", maxLength: 10)
        #expect(editor.insert(String(repeating: "x", count: 200_000)) == .refused)
        #expect(editor.text == "abxxxxxxxx")
        #expect(editor.insert("y") == .refused)
    }

    @Test("a picker with thousands of picked tags finds them")
    func tags() {
        let options = (0..<50_000).map { PickerOption(tag: .string("o\($0)")) }
        var configuration = PickerStyleConfiguration(
            label: ControlLabel("p"), options: options, selection: .tags([]), isMultiple: true,
            environment: environment)
        configuration.selection = .tags((0..<50_000).map { .string("o\(49_999 - $0)") })
        #expect(options.indices.allSatisfy(configuration.isSelected))
        #expect(configuration.valueText.spans.last?.text.hasSuffix("o49999") == true)
        configuration.selection = .tags([.string("e\u{301}"), 1])
        configuration.options = [
            PickerOption(tag: .string("é")), PickerOption(tag: 1), PickerOption(tag: true),
        ]
        #expect(configuration.options.indices.map(configuration.isSelected) == [true, true, false])
    }

    @Test("the row of an option has one span for what follows in one style, however long it is")
    func option() throws {
        let flags = String(repeating: "\u{1F1E6}", count: 2_000)
        let configuration = PickerStyleConfiguration(
            label: ControlLabel("p"), options: [PickerOption(tag: "o", label: "ab" + flags)],
            selection: .tags([]), environment: environment)
        let plain = OptionRow(configuration: configuration, index: 0, mark: StyledText("-"))
        #expect(plain.line.spans.count < 8)
        let row = OptionRow(
            configuration: configuration, index: 0, mark: StyledText("-"),
            positions: [1, 0, 999, 2_000])
        #expect(row.line.spans.count < 16)
        let underlined = row.line.spans.filter { $0.style.attributes.contains(.underline) }
        #expect(underlined.map(\.text) == ["a", "b", "\u{1F1E6}\u{1F1E6}"])
        let text = row.line.spans.map(\.text).joined()
        #expect(text.utf8.suffix(flags.utf8.count + 4).elementsEqual("- ab\(flags)".utf8))
    }

    @Test("a group with many options is found by its title")
    func groups() {
        let options = (0..<50_000).map { PickerOption(tag: .string("o\($0)")) }
        var list = OpenList(options: options, at: 0)
        list.filter = TextEditor("z")
        list.refilter(options, groups: [OptionGroup(title: "z", range: 0..<50_000)])
        #expect(list.matches.map(\.index) == Array(0..<50_000))
    }
}
