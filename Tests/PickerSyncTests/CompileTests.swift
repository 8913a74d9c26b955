// Code that must compile, and code that must not: a tag of the wrong type, an option without one.

import Foundation
import TestKit
import Testing

/// What the compiler says of a file of that name.
private func compilerSays(of source: String, _ name: String) throws -> (status: Int32, said: String)
{
    let folder = try TemporaryFolder()
    let outcome = try ChildProcess.run([
        "swiftc", "-typecheck", "-swift-version", "6", "-enable-upcoming-feature",
        "MemberImportVisibility", "-I", builtProducts.appending(path: "Modules").path,
        try folder.write(name, source),
    ])
    return (outcome.status, outcome.out)
}

/// The compiler's output for a snippet after a few declarations.
private func compilerSays(_ snippet: String, _ name: String) throws -> (status: Int32, said: String)
{
    let source = """
        import PickerSync
        enum Flavor: String, CaseIterable, Identifiable, PickerTag {
            case chocolate, vanilla
            var id: Self { self }
        }
        enum Topping: String, CaseIterable, Identifiable, PickerTag {
            case nuts, cookies
            var id: Self { self }
        }
        struct Named: Identifiable { let id: String }
        struct Order: SharedForm {
            @Shared var flavor = Flavor.chocolate
            @Shared var maybe: Flavor?
            @Shared var count = 1
            @Shared var date = CivilDate(year: 2026, month: 1, day: 1)!
            @Shared var isOn = false
            var body: some View {
                Form {
                    \(snippet)
                }
            }
        }
        """
    return try compilerSays(of: source, name + ".swift")
}

/// Every initializer of a picker that SwiftUI's page lists, in its order.
private let everyPicker = #"""
    Picker("A", selection: $flavor) { Text("C").tag(Flavor.chocolate) }.id("a")
    Picker(selection: $flavor) { Text("C").tag(Flavor.chocolate) } label: { Text("B") }.id("b")
    Group {
        Picker("C", sources: [$flavor], selection: \.self) { ForEach(Flavor.self) { Text($0.rawValue) } }
        Picker(sources: [$flavor], selection: \.self) { ForEach(Flavor.self) { Text($0.rawValue) } } label: {
            Text("D")
            Text("second")
        }
    }
    Group {
        Picker("E", image: "*", selection: $flavor) { Text("C").tag(Flavor.chocolate) }.id("e")
        Picker("F", image: "*", sources: [$flavor], selection: \.self) { Text("C").tag(Flavor.chocolate) }
        Picker("G", systemImage: "star", selection: $flavor) { Text("C").tag(Flavor.chocolate) }.id("g")
        Picker("H", systemImage: "star", sources: [$flavor], selection: \.self) {
            Text("C").tag(Flavor.chocolate)
        }
    }
    Group {
        Picker("I", image: "*", selection: $flavor) { Text("C").tag(Flavor.chocolate) } currentValueLabel: {
            Text("now \($flavor)")
        }
        Picker("J", image: "*", sources: [$flavor], selection: \.self) {
            Text("C").tag(Flavor.chocolate)
        } currentValueLabel: { Text("now") }
        Picker("K", selection: $flavor) { Text("C").tag(Flavor.chocolate) } currentValueLabel: { Text("now") }
        Picker("L", sources: [$flavor], selection: \.self) {
            Text("C").tag(Flavor.chocolate)
        } currentValueLabel: { Text("now") }
        Picker("M", systemImage: "star", selection: $flavor) {
            Text("C").tag(Flavor.chocolate)
        } currentValueLabel: { Text("now") }
        Picker("N", systemImage: "star", sources: [$flavor], selection: \.self) {
            Text("C").tag(Flavor.chocolate)
        } currentValueLabel: { Text("now") }
    }
    Group {
        Picker(selection: $flavor) { Text("C").tag(Flavor.chocolate) } label: { Text("O") } currentValueLabel: {
            Text("now")
        }
        Picker(sources: [$flavor], selection: \.self) {
            Text("C").tag(Flavor.chocolate)
        } label: { Text("P") } currentValueLabel: { Text("now") }
    }
    """#

/// The Swift code of an article, one block behind the other; `fence` begins a block.
private func code(of article: String, fence: String = "```swift") throws -> String {
    let file = sourceTree.appending(path: "Sources/PickerSync/PickerSync.docc/\(article).md")
    var code: [Substring] = []
    var open: Substring?
    for line in try String(contentsOf: file, encoding: .utf8)
        .split(separator: "\n", omittingEmptySubsequences: false)
    {
        if line.hasPrefix("```") {
            open = open == nil ? line : nil
        } else if open.map({ $0 == fence }) ?? false {
            code.append(line)
        }
    }
    return code.joined(separator: "\n")
}

@Suite("What compiles and what does not")
struct CompileTests {
    @Test(
        "what SwiftUI programs write compiles",
        arguments: [
            #"Picker("F", selection: $flavor) { Text("C").tag(Flavor.chocolate) }"#,
            #"Picker("F", selection: $flavor) { ForEach(Flavor.allCases) { Text($0.rawValue) } }"#,
            #"Picker("F", selection: $maybe) { Text("C").tag(Flavor.chocolate) }"#,
            #"Picker("F", selection: $maybe) { Text("C").tag(Flavor?.some(.chocolate)) }"#,
            #"Picker("F", selection: $flavor) { ForEach(Topping.allCases) { Text($0.rawValue).tag(Flavor.vanilla) } }"#,
            #"if true { Stepper("N", value: $count, in: 1...5) } else { Text("none") }"#,
            #"DatePicker("D", selection: $date, in: CivilDate(year: 2026, month: 1, day: 1)!...)"#,
            #"DatePicker(selection: $date, in: ...CivilDate("2026-01-01")!) { Text("D"); Text("E") }"#,
            #"Stepper(label: { Text("C: \($flavor)") }, onIncrement: { count += 1 }, onDecrement: nil)"#,
            #"Section { Text("a") } header: { Label("b", image: "*") } footer: { if true { Text("c") } }"#,
            #"List { VStack { Toggle("T", isOn: $isOn) }.toggleStyle(.switch) }"#,
            #"""
            Picker("F", selection: $flavor) {
                Section { Text("C").tag(Flavor.chocolate) } header: { Text("Dark") }
            }
            """#,
            everyPicker,
        ])
    func compiles(snippet: String) throws {
        let (status, said) = try compilerSays(snippet, "Compiles")
        #expect(status == 0, "\(snippet): \(said)")
    }

    @Test(
        "a tag of the wrong type, an option without one, a value of the wrong type do not compile",
        arguments: [
            #"Picker("F", selection: $flavor) { Text("N").tag(Topping.nuts) }"#,
            #"Picker("F", selection: $flavor) { Text("N").tag("chocolate") }"#,
            #"Picker("F", selection: $flavor) { Text("N") }"#,
            #"Picker("F", selection: $flavor) { ForEach(Topping.allCases) { Text($0.rawValue) } }"#,
            #"Picker("F", selection: $flavor) { ForEach([Named(id: "a")]) { Text($0.id) } }"#,
            #"Picker("F", selection: $maybe) { Text("N").tag(Topping.nuts) }"#,
            #"Picker("F", selection: $count) { Text("N").tag(Flavor.chocolate) }"#,
            #"Toggle("T", isOn: $flavor)"#,
            #"Stepper("N", value: $flavor, in: 1...5)"#,
            #"TextField("N", text: $count)"#,
            #"SecureField("N", text: $count)"#,
            #"DatePicker("D", selection: $count)"#,
            #"Text("x").disabled($flavor == Topping.nuts)"#,
            #"Picker("F", selection: $flavor) { ForEach(Flavor.self) { Text("N").tag($0.rawValue) } }"#,
            #"Picker("F", selection: $flavor) { ForEach(Flavor.self) { Text("N").tag(Topping.nuts) } }"#,
            #"Picker("F", selection: $flavor) { Section("S") { Text("N").tag(Topping.nuts) } }"#,
            #"Picker("F", selection: flavor) { ForEach(Flavor.self) { Text($0.rawValue) } }"#,
            #"Picker("F", sources: [$count], selection: \.self) { Text("N").tag(Flavor.vanilla) }"#,
            #"Picker("F", selection: $flavor) { Toggle("T", isOn: $isOn) }"#,
            #"Stepper("N", value: $count, in: 1...5, step: 0.5)"#,
            #"Stepper("N", value: $count, onIncrement: {}, onDecrement: {})"#,
            #"Stepper { Text("N") } onIncrement: 1 onDecrement: {}"#,
            #"Slider(value: $flavor, in: 0...1)"#,
            #"Gauge("G", value: $flavor)"#,
            #"Toggle("T", isOn: isOn)"#,
            #"Button("B", role: .dangerous) {}"#,
            #"Button("B", presses: $count) {}"#,
            #"DatePicker("D", selection: $date, in: 1...5)"#,
            #"DatePicker("D", selection: $date, in: CivilTime(hour: 7, minute: 0)!...)"#,
            #"Section { Text("x") } header: { "words" }"#,
            #"Text("x").pickerStyle(.checkbox)"#,
            #"Text(verbatim: "count is \($count)")"#,
            #"Stepper("N \($count)", value: $count)"#,
            #"SecureField("N", text: .constant(String("x")))"#,
            #"Text("x").toggleStyle(.wheel)"#,
            #"Text("x").paletteSelectionEffect(.symbolVariant(.rectangle))"#,
            #"Text("x").onChange(of: $count) { (old: String, new: String) in }"#,
        ])
    func doesNotCompile(snippet: String) throws {
        let (status, said) = try compilerSays(snippet, "DoesNotCompile")
        #expect(status != 0, "it compiled: \(snippet)")
        // It must fail for the types, not because the module was not found.
        #expect(!said.contains("no such module"), "\(said)")
    }

    @Test("the example with swift-service-lifecycle fits what that package declares")
    func lifecycle() throws {
        // Its declarations, of version 2: the package itself would be one more to resolve.
        let declared = """
            protocol Service: Sendable { func run() async throws }
            func cancelWhenGracefulShutdown<T: Sendable>(
                _ operation: @Sendable @escaping () async throws -> T
            ) async rethrows -> T { try await operation() }
            """
        let example = try code(of: "Services", fence: "```")
        #expect(example.contains("extension DeployService: Service"))
        let source = [
            try code(of: "Services"), declared,
            example.replacing("import ServiceLifecycle", with: ""),
        ].joined(separator: "\n")
        let (status, said) = try compilerSays(of: source, "main.swift")
        #expect(status == 0, "\(said)")
    }

    @Test("a Date as a value does not compile, and says what to declare")
    func dates() throws {
        let source = """
            import Foundation
            import PickerSync
            import PickerSyncFoundation
            struct Start: SharedForm {
                @Shared var day = Date()
                var body: some View { DatePicker("Day", selection: $day) }
            }
            """
        let (status, said) = try compilerSays(of: source, "Dates.swift")
        #expect(status != 0 && said.contains("declare CivilDate"), "\(said)")
    }

    @Test(
        "the code of an article is a program",
        arguments: ["GettingStarted", "ComingFromSwiftUI", "OtherLoops", "Services", "Testing"])
    func articles(article: String) throws {
        let source = try code(of: article)
        #expect(source.contains("import PickerSync"), "the article has no code any more")
        let (status, said) = try compilerSays(of: source, "main.swift")
        #expect(status == 0, "\(said)")
    }
}
