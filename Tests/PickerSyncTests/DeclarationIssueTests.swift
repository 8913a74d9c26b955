// What a declaration says that a terminal cannot show: each is told, with its place.

import PickerSync
import SyncCore
import Testing

private func issues(_ form: some SharedForm) -> [FormIssue] {
    do throws(FormIssues) {
        _ = try form.definition()
        return []
    } catch {
        return error.issues
    }
}

private func field(_ number: Int, of form: some SharedForm) throws -> JSON? {
    try form.definition()["fields"]?.arrayValue?[number]
}

@Suite("What a declaration is told")
struct DeclarationIssueTests {
    @Test("a phrase of two parts names its values")
    func phrases() throws {
        struct Line: SharedForm {
            @Shared var x = 5
            var body: some View {
                Stepper("X", value: $x)
                Text("x is \($x) " + "of 5").id("line")
            }
        }
        #expect(try field(1, of: Line())?["text"] == "x is ${x} of 5")
    }

    @Test("a body that reads a value is told so, and where")
    func reads() {
        struct Reading: SharedForm {
            @Shared var on = true
            @Shared var count = 1
            var body: some View {
                Toggle("On", isOn: $on)
                if on { Stepper("Count", value: $count) }
            }
        }
        struct Inner: View {
            @Binding var count: Int
            var body: some View { Text("\(count)").id("line") }
        }
        struct Outer: SharedForm {
            @Shared var count = 1
            var body: some View {
                Section("One") { Stepper("Count", value: $count) }
                Section("Two") { Inner(count: $count) }
            }
        }
        let direct = issues(Reading())
        #expect(direct.map(\.message) == ["the body of Reading read \"on\"; it will not follow"])
        let nested = issues(Outer())
        #expect(nested.map(\.message) == ["the body of Inner read \"count\"; it will not follow"])
        #expect(nested.first?.pathText == "sections[1].fields[0]")
        #expect(nested.first?.expected == "$count, or .visible(when:)")
    }

    @Test("a symbol is filled or not, and one that is not known names the nearest")
    func symbols() throws {
        #expect(Symbol(systemName: "circle.dashed.inset.filled").glyph == "◌")
        #expect(Symbol(systemName: "star.circle.fill").glyph == "★")
        struct Wrong: SharedForm {
            @Shared var on = true
            var body: some View { Toggle("On", systemImage: "hand.thumbup", isOn: $on) }
        }
        let told = issues(Wrong())
        #expect(told.map(\.pathText) == ["fields[0]"])
        #expect(told.first?.expected.hasPrefix("hand.thumbsup") == true, "\(told)")
    }

    @Test("a nested form hides nothing, and every issue has its place")
    func nested() {
        struct Nested: SharedForm {
            @Shared var count = 9
            var body: some View {
                Form("Outer") {
                    Form("Inner") { Stepper("Count", value: $count, in: 1...5) }
                }
            }
        }
        let told = issues(Nested())
        #expect(told.contains { $0.message.contains("form is inside another form") })
        #expect(told.contains { $0.pathText == "fields[0].default" })
        #expect(told.allSatisfy { !$0.path.isEmpty })
    }

    @Test("a label without a letter of ASCII asks for an id")
    func ids() throws {
        struct Named: SharedForm {
            @Shared var on = true
            var body: some View {
                Button("送信") {}
                Button("取消") {}.id("cancel")
            }
        }
        let told = issues(Named())
        #expect(told.count == 1)
        #expect(told.first?.message.contains("送信") == true)
        #expect(told.first?.expected.contains(".id(") == true)
    }

    @Test("an id that is made of a label is not a reserved one, and no other one's variable")
    func madeIDs() throws {
        struct Made: SharedForm {
            @Shared var ok = true
            var body: some View {
                Toggle("Ok", isOn: $ok)
                Button("OK") {}
                Button("Value") {}
                Button("Value") {}
            }
        }
        let fields = try #require(try Made().definition()["fields"]?.arrayValue)
        #expect(fields.map { $0["id"] } == ["ok", "oK2", "value2", "value3"])
    }

    @Test("a style of a program's own is declared, and written as SwiftUI's pages write it")
    func styles() throws {
        struct MyButtonStyle: ButtonStyle {
            func makeBody(configuration: Configuration) -> some View {
                configuration.label
                    .font(configuration.role == .cancel ? .title2.bold() : .title2)
                    .foregroundColor(configuration.role == .destructive ? Color.red : nil)
            }
        }
        struct Star: PickerStyle {
            func makeBody(configuration: Configuration) -> Row {
                Row {
                    for index in configuration.options.indices {
                        StyledText(configuration.isSelected(index) ? "★" : "☆", .plain)
                    }
                }
            }
        }
        struct Rating: SharedForm {
            @Shared var rank = 1
            var body: some View {
                Picker("Rank", selection: $rank) { ForEach([1, 2], id: \.self) { Text("\($0)") } }
                    .pickerStyle(Star())
                Button("Cancel", role: .cancel) {}.buttonStyle(MyButtonStyle())
                Button("Save") {}.buttonStyle(.borderedProminent)
            }
        }
        #expect(try field(0, of: Rating())?["style"] == nil)
        #expect(try field(2, of: Rating())?["style"] == "borderedProminent")
    }

    @Test("containers and modifiers of SwiftUI that mean nothing here leave the controls alone")
    func compatibility() throws {
        struct Shaped: SharedForm {
            @Shared var flavor = Flavor.chocolate
            @Shared var note = ""
            @Shared var count = 1
            var body: some View {
                VStack(alignment: .leading, spacing: 20) {
                    HStack {
                        Text("Suggested")
                        Spacer()
                        Text("\($flavor)").foregroundStyle(.secondary)
                    }
                    .id("line")
                    Divider()
                    Menu("Reactions") {
                        Picker("Flavor", selection: $flavor) {
                            ForEach(Flavor.self) { Text($0.rawValue) }
                        }
                        .padding(5).background(.red)
                    }
                    DisclosureGroup("More") { TextEditor(text: $note) }
                    Section(header: Text("Head")) {
                        Toggle("Always", isOn: .constant(true))
                        Stepper(
                            "Count", value: $count, in: 1...5, format: Text("\($count) scoops"))
                    }
                }
            }
        }
        let sections = try Shaped().definition()["sections"]?.arrayValue ?? []
        #expect(sections.map { $0["title"] } == [nil, "Reactions", "More", "Head"])
        let line = sections.first?["fields"]?.arrayValue?.first
        #expect(line?["label"] == "Suggested" && line?["text"] == "${flavor}")
        #expect(sections.last?["fields"]?.arrayValue?.first?["readOnly"] == true)
        #expect(sections.last?["fields"]?.arrayValue?.last?["format"] == "${count} scoops")
    }
}
