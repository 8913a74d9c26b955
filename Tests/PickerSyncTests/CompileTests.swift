// Code that must compile, and code that must not: a tag of the wrong type, an option without one.

import Foundation
import Testing

/// What the compiler says of a file of that name.
private func compilerSays(of source: String, _ name: String) throws -> (status: Int32, said: String)
{
    let folder = FileManager.default.temporaryDirectory.appending(path: "psc-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: name)
    try source.write(to: file, atomically: true, encoding: .utf8)
    let program = try Program(
        "/usr/bin/env",
        [
            "swiftc", "-typecheck", "-swift-version", "6", "-enable-upcoming-feature",
            "MemberImportVisibility", "-I", products.appending(path: "Modules").path, file.path,
        ])
    return program.end()
}

/// What the compiler says of a snippet that stands behind a few declarations.
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
            var body: some View {
                Form {
                    \(snippet)
                }
            }
        }
        """
    return try compilerSays(of: source, name + ".swift")
}

/// The Swift code of an article, one block behind the other.
private func code(of article: String) throws -> String {
    let file = repository.appending(path: "Sources/PickerSync/PickerSync.docc/\(article).md")
    var code: [Substring] = []
    var isInBlock = false
    for line in try String(contentsOf: file, encoding: .utf8)
        .split(separator: "\n", omittingEmptySubsequences: false)
    {
        if line.hasPrefix("```") {
            isInBlock = line == "```swift"
        } else if isInBlock {
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
        ])
    func doesNotCompile(snippet: String) throws {
        let (status, said) = try compilerSays(snippet, "DoesNotCompile")
        #expect(status != 0, "it compiled: \(snippet)")
        // It must fail for the types, not because the module was not found.
        #expect(!said.contains("no such module"), "\(said)")
    }

    @Test(
        "the code of an article is a program",
        arguments: ["GettingStarted", "ComingFromSwiftUI", "OtherLoops"])
    func articles(article: String) throws {
        let source = try code(of: article)
        #expect(source.contains("import PickerSync"), "the article has no code any more")
        let (status, said) = try compilerSays(of: source, "main.swift")
        #expect(status == 0, "\(said)")
    }
}
