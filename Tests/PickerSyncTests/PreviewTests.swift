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

    @Test("a form that breaks a rule has no preview but its issues")
    func issues() {
        struct Broken: SharedForm {
            @Shared var scoops = 9
            var body: some View { Stepper("Scoops", value: $scoops, in: 1...5) }
        }
        #expect(throws: FormIssues.self) { try Broken().preview() }
    }
}
