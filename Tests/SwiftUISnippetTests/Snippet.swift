// The snippets of the documents as they are (Originals.txt), and as they compile here.
//
// A port begins with `// snippet NUMBER: MARK` and ends with `// end`; `// snippet NUMBER continues`
// begins its next part. Marks: `unchanged`; `mechanical: EDIT, EDIT` with edits of the table below,
// which alone make the port of the original; `changed: WHY`; `cannot: WHY`.

import Foundation
import TestKit

struct Snippet {
    enum Mark: Equatable {
        case unchanged
        case mechanical([String])
        case changed(String)
        case cannot(String)
    }

    let number: Int
    let mark: Mark
    var code: String

    static let folder = sourceTree.appending(path: "Tests/SwiftUISnippetTests")

    /// The originals by number.
    static func originals() throws -> [Int: String] {
        let text = try String(
            contentsOf: folder.appending(path: "Originals.txt"), encoding: .utf8)
        var originals: [Int: String] = [:]
        for part in text.components(separatedBy: "=== ").dropFirst() {
            let lines = part.split(
                separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            guard let number = Int(lines[0]) else { throw Malformed(line: String(lines[0])) }
            originals[number] = String(lines[1])
        }
        return originals
    }

    /// The ports of every file.
    static func ports() throws -> [Snippet] {
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") && !$0.hasPrefix("Snippet") }.sorted()
        return try files.flatMap { try ports(in: folder.appending(path: $0)) }
    }

    private static func ports(in file: URL) throws -> [Snippet] {
        var ports: [Snippet] = []
        var open: Int?
        for line in try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n") {
            let words = line.trimmingCharacters(in: .whitespaces)
            if words == "// end" {
                open = nil
            } else if words.hasPrefix("// snippet ") {
                let head = words.dropFirst("// snippet ".count)
                if head.hasSuffix(" continues") {
                    let number = Int(head.dropLast(" continues".count))
                    open = ports.firstIndex { $0.number == number }
                    if open == nil { throw Malformed(line: line) }
                } else {
                    ports.append(try Snippet(head: String(head)))
                    open = ports.count - 1
                }
            } else if let open {
                ports[open].code += line + "\n"
            }
        }
        return ports
    }

    private init(head: String) throws {
        let parts = head.split(separator: ":", maxSplits: 2).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        guard parts.count >= 2, let number = Int(parts[0]) else { throw Malformed(line: head) }
        self.number = number
        code = ""
        switch (parts[1], parts.count > 2 ? parts[2] : nil) {
        case ("unchanged", nil): mark = .unchanged
        case ("mechanical", let edits?): mark = .mechanical(edits.components(separatedBy: ", "))
        case ("changed", let why?): mark = .changed(why)
        case ("cannot", let why?): mark = .cannot(why)
        default: throw Malformed(line: head)
        }
    }

    /// The code without comments and white space, by which two of them are compared.
    static func essence(_ code: String) -> String {
        code.components(separatedBy: "\n")
            .filter { !$0.trimmingCharacters(in: .whitespaces).hasPrefix("//") }
            .joined().filter { !$0.isWhitespace }
    }

    struct Malformed: Error {
        let line: String
    }
}

/// The mechanical edits: what a person does without thinking, by name, with its argument.
enum MechanicalEdit {
    /// The code with an edit made; `nil` where there is no such edit, or nothing to edit.
    static func make(_ edit: String, on code: String) -> String? {
        let name = edit.prefix { $0 != "(" }
        let argument = String(edit.dropFirst(name.count + 1).dropLast())
        var new = code
        func replace(_ old: String, _ by: String) {
            new = new.replacingOccurrences(of: old, with: by)
        }
        func match(_ old: String, _ by: String) {
            new = new.replacingOccurrences(of: old, with: by, options: .regularExpression)
        }
        switch name {
        // A state is shared; a view with states of its own is a form.
        case "shared": replace("@State", "@Shared")
        case "form": replace(": View {", ": SharedForm {")
        // A reserved id is replaced.
        case "id":
            replace(
                "@Shared private var \(argument)", "@Shared(\"amount\") private var \(argument)")
        // A default lies within the bounds.
        case "first": replace("\(argument) = 0", "\(argument) = 1")
        // A state that nothing sets is a constant.
        case "constant": replace("@State private var \(argument)", "private let \(argument)")
        // An enum whose cases are tags says so.
        case "tags": match("enum \(argument): ([^{]+?) \\{", "enum \(argument): $1, PickerTag {")
        // A value that is shown is named, so that it is followed.
        case "follow":
            for read in ["\\(Int(\(argument)))", "\\(\(argument))"] {
                replace(read, "\\($\(argument))")
            }
            replace("Text(\(argument).rawValue.capitalized)", "Text(\"\\($\(argument))\")")
            replace("(value: \(argument)", "(value: $\(argument)")
        // A password is a secret; a date has no zone.
        case "secret": replace("\(argument): String", "\(argument): Secret")
        case "civil":
            replace("= Date()", "= \(argument)")
            replace("<Date>", "<CivilDateTime>")
            match("(calendar\\.date\\(from:\\w+\\)!)", "CivilDateTime($1)!")
        // What a document leaves out: an action, a label, the end of a page.
        case "fill": match("\\{\\s*\\.\\.\\.\\s*\\}", "{}")
        case "completed": return code
        // UIKit's names; a label is a shared text.
        case "kit":
            replace("UIPickerView", "PickerView")
            replace(".text =", " =")
        default: return nil
        }
        return new == code ? nil : new
    }
}
