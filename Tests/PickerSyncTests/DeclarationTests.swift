import FormFile
import Foundation
import PickerSync
import SyncCore
import TestKit
import Testing

/// A form as FormFile reads it from the examples.
private func example(_ name: String) throws -> FormDefinition {
    let path = sourceTree.appending(path: "Examples/forms/\(name).yaml").path
    return try FormFile.load(path: path).get().0
}

private func parsed(_ json: JSON) throws -> FormDefinition {
    try FormDefinition.parse(json, limits: FormLimits()) { _ in
        .success(PatternMatcher { _ in true })
    }
}

/// What of a control a person can tell apart.
private func facts(_ form: FormDefinition) -> [String] {
    form.controls.enumerated().map { index, control in
        let options = control.options?.options.map { "\($0.tag)=\($0.label)" } ?? []
        return [
            control.id, control.type.rawValue, control.label ?? "-", control.subtitle ?? "-",
            control.effectiveStyle.rawValue, control.defaultValue.encodedText,
            form.expectedDescription(of: index), options.joined(separator: ","),
            "\(control.storage)", "\(control.section)",
        ].joined(separator: " | ")
    }
}

private func member(_ id: String, _ name: String, of json: JSON) -> JSON? {
    let sections = json["sections"]?.arrayValue ?? [json]
    let fields = sections.flatMap { $0["fields"]?.arrayValue ?? [] }
    return fields.first { $0["id"]?.stringValue == id }?[name]
}

@Suite("What a declaration becomes")
struct DeclarationTests {
    @Test("the ice-cream order declared is the ice-cream order written as a file")
    func iceCream() throws {
        let declared = try parsed(IceCream().definition())
        let written = try example("ice-cream")
        #expect(declared.name == written.name)
        #expect(declared.title == written.title)
        #expect(facts(declared) == facts(written))
    }

    @Test("the income form declared is the income form written as a file, its dependent wheels too")
    func income() throws {
        let declared = try parsed(Income().definition())
        let written = try example("income")
        let ids = declared.controls.map(\.id)
        #expect(ids == ["type", "source", "received", "result"])
        #expect(ids == written.controls.map(\.id))
        let rules = try Income().definition()
        #expect(
            member("source", "optionsFor", of: rules)?.encodedText
                == #"[{"component":"tax","when":{"name":"salary"},"options":["fixed"]}]"#)
        #expect(
            member("result", "text", of: rules)
                == "Income type is ${type}, from ${source.name} (${source.tax} tax), on ${received}."
        )
        #expect(member("received", "min", of: rules) == "2020-01-01")
    }

    @Test("one of every control and modifier is a form, and says what was asked for")
    func everything() throws {
        let json = try Everything().definition()
        let form = try parsed(json)
        #expect(form.name == "everything")
        #expect(form.controls.count == 25)
        #expect(member("reaction", "optional", of: json) == true)
        #expect(member("reaction", "default", of: json) == nil)
        #expect(
            member("reaction", "options", of: json)?.arrayValue?.first
                == [
                    "tag": "thumbsup", "label": "Thumbs up", "symbol": "👍",
                    "symbolName": "hand thumbsup",
                ])
        #expect(member("flag", "selectionEffect", of: json) == ["symbolVariant": "slash"])
        #expect(member("flag", "options", of: json)?.arrayValue?.first?["tint"] == "red")
        #expect(member("size", "options", of: json)?.arrayValue?.map { $0["tag"] } == [1, 10])
        #expect(member("size", "options", of: json)?.arrayValue?.last?["disabled"] == true)
        #expect(member("size", "layout", of: json) == "horizontal")
        #expect(member("size", "symbol", of: json) == "★")
        #expect(member("size", "currentValueLabel", of: json) == "size ${size}")
        #expect(member("days", "multiple", of: json) == true)
        #expect(member("days", "default", of: json) == ["mon"])
        #expect(
            member("days", "options", of: json)?.arrayValue?.map { $0["section"] }
                == ["Week", "End of it"])
        #expect(member("first", "wheelItemHeight", of: json) == 2)
        #expect(member("both", "sources", of: json) == ["first", "second"])
        #expect(member("allLights", "sources", of: json) == ["kitchen", "hall"])
        #expect(member("speed", "step", of: json) == 5)
        #expect(
            member("speed", "enabledWhen", of: json) == ["none": [["maintenance": true]]])
        #expect(member("fine", "step", of: json)?.encodedText == "0.1")
        #expect(member("count", "wraps", of: json) == true)
        #expect(member("count", "format", of: json) == "${count} of 50")
        #expect(member("window", "mode", of: json) == "dateAndTime")
        #expect(member("month", "default", of: json) == "2026-11")
        #expect(member("egg", "default", of: json) == 300)
        #expect(member("username", "required", of: json) == true)
        #expect(member("password", "type", of: json) == "secure")
        #expect(member("battery", "minLabel", of: json) == "empty")
        #expect(member("roll-back", "role", of: json) == "destructive")
        #expect(
            member("roll-back", "visibleWhen", of: json)
                == ["all": [["maintenance": true], "complete"]])
        #expect(member("byHand", "text", of: json) == "$${not a name}")
        #expect(json["access"] == ["write": ["user:root", "owner"]])
        #expect(json["sections"]?.arrayValue?.count == 4)
        #expect(json["sections"]?.arrayValue?[1]["footer"] == "in decimals")
        #expect(json["sections"]?.arrayValue?[2]["collapsed"] == true)
    }

    @Test(
        "a form without sections has its controls at the top, and the type's name in small letters")
    func names() throws {
        struct HTTPServerSettings: SharedForm {
            @Shared var workers = 4
            var body: some View { Form { Stepper("Workers", value: $workers) } }
        }
        let json = try HTTPServerSettings().definition()
        #expect(json["form"] == "http-server-settings")
        #expect(json["sections"] == nil)
        #expect(json["fields"]?.arrayValue?.count == 1)
        #expect(json["title"] == nil)
    }

    @Test("a style set on a control goes before one set around it")
    func innermostStyle() throws {
        struct Two: SharedForm {
            @Shared var first = Flavor.vanilla
            @Shared var second = Flavor.vanilla
            var body: some View {
                Form {
                    Group {
                        Picker("First", selection: $first) {
                            ForEach(Flavor.self) { Text($0.rawValue) }
                        }
                        .pickerStyle(.wheel)
                        Picker("Second", selection: $second) {
                            ForEach(Flavor.self) { Text($0.rawValue) }
                        }
                    }
                    .pickerStyle(.menu)
                    .disabled(true)
                }
            }
        }
        let json = try Two().definition()
        #expect(member("first", "style", of: json) == "wheel")
        #expect(member("second", "style", of: json) == "menu")
        #expect(member("first", "disabled", of: json) == true)
    }

    @Test("each initializer of a picker says its label, its picture and its value's words")
    func initializers() throws {
        struct All: SharedForm {
            @Shared var flavor = Flavor.vanilla
            @Shared var other = Flavor.vanilla

            var body: some View {
                Form {
                    Section {
                        Picker("p0", selection: $flavor) { flavors }
                        Picker("p1", image: "🍦", selection: $flavor) { flavors }
                        Picker("p2", systemImage: "heart", selection: $flavor) { flavors }
                        Picker(selection: $flavor) {
                            flavors
                        } label: {
                            Text("p3")
                        }
                        Picker("p4", selection: $flavor) {
                            flavors
                        } currentValueLabel: {
                            now
                        }
                        Picker("p5", image: "🍦", selection: $flavor) {
                            flavors
                        } currentValueLabel: {
                            now
                        }
                        Picker("p6", systemImage: "heart", selection: $flavor) {
                            flavors
                        } currentValueLabel: {
                            now
                        }
                        Picker(selection: $flavor) {
                            flavors
                        } label: {
                            Text("p7")
                        } currentValueLabel: {
                            now
                        }
                    }
                    Section {
                        Picker("Other", selection: $other) { flavors }
                        Picker("s0", sources: both, selection: \.self) { flavors }
                        Picker("s1", image: "🍦", sources: both, selection: \.self) { flavors }
                        Picker("s2", systemImage: "heart", sources: both, selection: \.self) {
                            flavors
                        }
                        Picker(sources: both, selection: \.self) {
                            flavors
                        } label: {
                            Text("s3")
                        }
                        Picker("s4", sources: both, selection: \.self) {
                            flavors
                        } currentValueLabel: {
                            now
                        }
                        Picker("s5", image: "🍦", sources: both, selection: \.self) {
                            flavors
                        } currentValueLabel: {
                            now
                        }
                        Picker("s6", systemImage: "heart", sources: both, selection: \.self) {
                            flavors
                        } currentValueLabel: {
                            now
                        }
                        Picker(sources: both, selection: \.self) {
                            flavors
                        } label: {
                            Text("s7")
                        } currentValueLabel: {
                            now
                        }
                    }
                }
            }

            private var flavors: ForEach<[Flavor], Flavor, Text> {
                ForEach(Flavor.allCases) { Text($0.rawValue) }
            }
            private var both: [Binding<Flavor>] { [$flavor, $other] }
            private var now: Text { Text("now \($flavor)") }
        }
        let json = try All().definition()
        #expect(member("flavor", "label", of: json) == "p0")
        for number in 1..<8 {
            let id = "p\(number)"
            #expect(member(id, "binds", of: json) == "flavor", "\(id)")
            #expect(member(id, "label", of: json) == .string(id))
            #expect(member("s\(number)", "sources", of: json) == ["flavor", "other"], "s\(number)")
            let shows = member(id, "currentValueLabel", of: json)
            #expect(shows == (number < 4 ? nil : "now ${flavor}"), "\(id)")
            #expect(member("s\(number)", "currentValueLabel", of: json) == shows, "s\(number)")
            let symbol: JSON? = [1: "🍦", 2: "❤️", 5: "🍦", 6: "❤️"][number]
            #expect(member(id, "symbol", of: json) == symbol, "\(id)")
            #expect(member("s\(number)", "symbol", of: json) == symbol, "s\(number)")
        }
    }

    @Test("what breaks a rule of forms is told with its place, before anything is sent")
    func broken() throws {
        struct Broken: SharedForm {
            @Shared var count = 9
            var body: some View { Form { Stepper("Count", value: $count, in: 1...5) } }
        }
        let issues = #expect(throws: FormIssues.self) { try Broken().definition() }
        #expect(
            issues?.description.contains("fields[0].default") == true,
            "\(String(describing: issues))")

        struct Misplaced: SharedForm {
            @Shared var flavor = Flavor.vanilla
            var body: some View {
                Form {
                    Picker(selection: $flavor) {
                        ForEach(Flavor.self) { Text($0.rawValue) }
                    } label: {
                        Text("\($flavor)")
                    }
                }
            }
        }
        let misplaced = #expect(throws: FormIssues.self) { try Misplaced().definition() }
        #expect(misplaced?.description.contains("label names a value") == true)
    }

    @Test("an ordinary variable until it is open: what was set then is the default")
    func defaults() throws {
        let order = IceCream()
        order.flavor = .strawberry
        #expect(order.flavor == .strawberry)
        #expect(member("flavor", "default", of: try order.definition()) == "strawberry")
        #expect(member("flavor", "default", of: try IceCream().definition()) == "chocolate")
    }
}
