// Converts values to controls: a boolean becomes a toggle, a number a stepper, a text a text, a
// list of texts a multiple picker, a group a section.

internal import FormFile
internal import SyncCore

/// Makes a definition from values.
struct FormImport {
    /// What could not be imported, one line each.
    private(set) var notes: [String] = []
    private var noted: Set<String> = []

    /// Adds a line to `notes`, once.
    mutating func note(_ line: String) {
        if noted.insert(line).inserted { notes.append(line) }
    }

    /// Untrusted text as a label or help: one line without control characters.
    static func line(_ text: String) -> JSON? {
        let words = text.unicodeScalars.split { $0.properties.isWhitespace }.map(String.init)
        let line = words.joined(separator: " ")
        guard !line.isEmpty, !line.unicodeScalars.contains(where: SafeText.isHarmful) else {
            return nil
        }
        return .string(line)
    }
    private var variables = Set(Control.reservedIDs.map { FieldOutline.variable($0) })

    /// `[a-z0-9][a-z0-9-]{0,62}` of any text.
    static func formName(_ text: String) -> String {
        var name = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: "A")...UInt8(ascii: "Z"):
                name.unicodeScalars.append(Unicode.Scalar(byte | 0x20))
            default: if !name.isEmpty, name.last != "-" { name += "-" }
            }
        }
        while name.last == "-" { name.removeLast() }
        return name.isEmpty ? "imported" : String(name.prefix(63))
    }

    /// `NAME=VALUE` lines with `export` and quotes as in shells; `nil` if the file has another
    /// format. Lines that are neither this nor comments are reported.
    mutating func variables(_ path: String) throws(Failure) -> JSON? {
        guard path != "-", path.hasSuffix(".env") || path.split(separator: "/").last == ".env"
        else { return nil }
        guard let text = String(validating: try InputFile.bytes(path), as: UTF8.self) else {
            throw .notText(path)
        }
        var members: [(String, JSON)] = []
        var places: [[UInt8]: Int] = [:]
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (number, whole) in lines.enumerated() {
            var line = whole.drop { $0 == " " || $0 == "\t" }
            if line.isEmpty || line.first == "#" { continue }
            if line.hasPrefix("export ") { line = line.dropFirst(7).drop { $0 == " " } }
            let place = "\(path):\(number + 1)"
            guard let (name, value) = Self.variable(line) else {
                note("\(place): not NAME=VALUE; the line is left out")
                continue
            }
            if let earlier = places[Array(name.utf8)] {
                note("\(place): \(name) is there twice; the last value is used")
                members[earlier].1 = Self.scalar(value)
            } else {
                places[Array(name.utf8)] = members.count
                members.append((name, Self.scalar(value)))
            }
        }
        var object = JSONObject()
        for (name, value) in members { object.append(uniqueName: name, value) }
        return .object(object)
    }

    /// Name and value of a line; `nil` if it has no name or an unclosed quote.
    private static func variable(_ line: Substring) -> (name: String, value: String)? {
        guard let equals = line.firstIndex(of: "="), equals != line.startIndex else { return nil }
        let name = line[..<equals]
        guard !name.contains(where: \.isWhitespace) else { return nil }
        var text = line[line.index(after: equals)...]
        while text.last == " " || text.last == "\t" || text.last == "\r" { text.removeLast() }
        guard let quote = text.first, quote == "'" || quote == "\"" else {
            return (String(name), String(text))
        }
        guard text.count > 1, text.last == quote else { return nil }
        return (String(name), String(text.dropFirst().dropLast()))
    }

    private static func scalar(_ text: String) -> JSON {
        switch text {
        case "true": true
        case "false": false
        default: ValueParser.number(text).map { .number($0) } ?? .string(text)
        }
    }

    /// A form with these names and values.
    mutating func definition(_ form: String, _ object: JSONObject) -> JSON {
        var sections: [JSON] = []
        var loose: [JSON] = []
        for (name, value) in object.members {
            if let group = value.objectValue {
                let fields = group.members.compactMap { field($0.name, $0.value) }
                if fields.isEmpty {
                    note("\(name) is left out: the group has no controls")
                } else {
                    sections.append(
                        .members(("title", .string(name)), ("fields", .array(fields))))
                }
            } else if let field = field(name, value) {
                loose.append(field)
            }
        }
        if !loose.isEmpty { sections.insert(.members(("fields", .array(loose))), at: 0) }
        return .members(("form", .string(form)), ("sections", .array(sections)))
    }

    /// A name as an id that is unique, also as an environment variable.
    mutating func id(_ name: String, orElse other: String? = nil) -> String? {
        var id = ""
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                id.unicodeScalars.append(Unicode.Scalar(byte))
            default: if id.last != "_" { id += "_" }
            }
        }
        if id.first.map({ !$0.isLetter }) ?? true { id = "f" + id }
        id = String(id.prefix(63))
        guard variables.insert(FieldOutline.variable(id)).inserted else {
            if let other { return self.id(other) }
            note("\(name) is left out: another name gives the same field \(id)")
            return nil
        }
        return id
    }

    private mutating func field(_ name: String, _ value: JSON) -> JSON? {
        var members: [(String, JSON)]
        switch value {
        case .bool: members = [("type", "toggle"), ("default", value)]
        case .number: members = [("type", "stepper"), ("default", value)]
        case .null: members = [("type", "text")]
        case .string(let text):
            members = [("type", "text"), ("default", value)]
            if text.contains("\n") { members.append(("multiline", true)) }
        case .array(let tags) where !tags.isEmpty && tags.allSatisfy { $0.stringValue != nil }:
            members = [
                ("type", "picker"), ("multiple", true), ("options", value), ("default", value),
            ]
        case .array, .object:
            note("\(name) is left out: no control holds such a value")
            return nil
        }
        guard let id = id(name) else { return nil }
        if id != name { members.insert(("label", .string(name)), at: 1) }
        return .object(JSONObject([("id", .string(id))] + members))
    }
}
