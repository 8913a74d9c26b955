// What a declaration looks like in a terminal, without one.

import Foundation
import PickerSync
import Testing

private struct Star: PickerStyle {
    func makeBody(configuration: Configuration) -> Row {
        Row {
            for index in configuration.options.indices {
                StyledText(configuration.isSelected(index) ? "★" : "☆", .plain)
            }
        }
    }
}

private struct Order: SharedForm {
    @Shared var flavor = Flavor.vanilla
    @Shared var rank = 2
    @Shared var scoops = 3
    @Shared var cone = true
    @Shared var note = ""
    @Shared var key: Secret = ""

    var body: some View {
        Form("Order", subtitle: "For here") {
            Section("Ice") {
                Picker("Flavor", selection: $flavor) {
                    ForEach(Flavor.self) { Text($0.rawValue.capitalized) }
                }
                .pickerStyle(.segmented)
                Picker("Rank", selection: $rank) {
                    ForEach([1, 2, 3], id: \.self) { Text("\($0)") }
                }
                .pickerStyle(Star())
                Stepper("Scoops", value: $scoops, in: 1...5)
            }
            Section {
                Toggle("Cone", isOn: $cone)
                TextField("Note", text: $note, prompt: Text("nothing yet"))
                SecureField("Key", text: $key)
                Button("Pay", role: .destructive) {}.disabled($scoops >= 3)
                Text("\($scoops) of \($flavor)").id("line")
                Toggle("Later", isOn: $cone).id("later").visible(when: $scoops == 1)
            } footer: {
                Text("Thank you")
            }
        }
    }
}

@Suite("What a declaration looks like")
struct PreviewTests {
    @Test("a form is text in the terminal's own styles, with its defaults")
    func plain() throws {
        let text = try Order().preview(columns: 60)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines.first == "Order" && lines.last == "")
        #expect(lines.allSatisfy { $0.count <= 60 && $0.last != " " })
        for part in [
            "For here", "Ice", "Vanilla", "☆ ★ ☆", "[−]   3   [+]", "nothing yet", "Pay",
            "disabled",
            "3 of Vanilla", "Thank you",
        ] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
        #expect(!text.contains("Later"), "a control whose condition does not hold is not shown")
        #expect(!text.contains("\u{1B}"))
    }

    @Test("a terminal's styles are its control sequences, and what it cannot show is likened")
    func styled() throws {
        let styles = StyleEnvironment(theme: .terminal, depth: .sixteen, charset: .ascii)
        let text = try Order().preview(columns: 60, styles: styles)
        #expect(text.contains("\u{1B}["))
        let hasOthers = text.unicodeScalars.contains { !$0.isASCII }
        #expect(!hasOthers)
        #expect(text.hasSuffix("\n") && !text.contains("\u{1B}[H"))
    }

    @Test("of a very long list a thousand rows are shown, whole and in order")
    func long() throws {
        struct Long: SharedForm {
            @Shared var number = 0
            var body: some View {
                Picker("Number", selection: $number) {
                    ForEach(Array(0..<12_000), id: \.self) { Text("row \($0)") }
                }
                .pickerStyle(.inline)
            }
        }
        let lines = try Self.lines(Long())
        #expect(Self.rows(lines) == Array(0..<1_000))
        #expect(lines.contains { $0.hasSuffix("11000 more below") })
        #expect(lines.last == "" && lines.allSatisfy { $0.count <= 1_000 })
    }

    @Test("a form longer than any screen is cut, and its lines are whole and in order")
    func many() throws {
        struct Many: SharedForm {
            @Shared var a = 0
            @Shared var b = 0
            @Shared var c = 0
            @Shared var d = 0
            @Shared var e = 0
            @Shared var f = 0
            @Shared var g = 0
            @Shared var h = 0
            @Shared var i = 0
            @Shared var j = 0
            @Shared var k = 0
            func list(_ selection: Binding<Int>) -> some View {
                Picker("Number", selection: selection) {
                    ForEach(Array(0..<1_000), id: \.self) { Text("row \($0)") }
                }
                .pickerStyle(.inline)
            }
            var body: some View {
                Section("First") {
                    list($a)
                    list($b)
                    list($c)
                    list($d)
                    list($e)
                    list($f)
                }
                Section("Second") {
                    list($g)
                    list($h)
                    list($i)
                    list($j)
                    list($k)
                }
            }
        }
        let lines = try Self.lines(Many())
        try #require(lines.count == 10_002 && lines.last == "")
        #expect(lines[10_000].hasSuffix(" more lines"))
        let rows = Self.rows(lines)
        #expect(rows.count > 9_900)
        #expect(rows == (0..<rows.count).map { $0 % 1_000 })
        #expect(lines.allSatisfy { $0.count <= 1_000 })
    }

    private static func lines(_ form: some SharedForm) throws -> [String] {
        try form.preview(columns: 1_000_000)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The numbers of the rows in some lines.
    private static func rows(_ lines: [String]) -> [Int] {
        lines.compactMap { line in
            line.contains("row ") ? line.split(separator: " ").last.flatMap { Int($0) } : nil
        }
    }

    @Test("a form that breaks a rule has no preview but its issues")
    func issues() {
        struct Broken: SharedForm {
            @Shared var scoops = 9
            var body: some View { Stepper("Scoops", value: $scoops, in: 1...5) }
        }
        #expect(throws: FormIssues.self) { try Broken().preview() }
    }
}
