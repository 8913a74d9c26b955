// Reads typed members of an object, with an issue for each wrong one.

extension FormParser {
    mutating func issue(_ place: Place, _ message: String, expected: String) {
        guard issues.count < Self.issuesMax else { return }
        issues.append(FormIssue(path: place.path, message: message, expected: expected))
    }

    /// The object; otherwise an issue.
    mutating func object(_ json: JSON, at place: Place, expected: String) -> Members? {
        if case .object(let object) = json { return Members(object: object, place: place) }
        issue(place, "found \(FormDefinition.described(json))", expected: expected)
        return nil
    }

    /// The elements of an array with their places; otherwise an issue and no elements.
    mutating func elements(_ json: JSON, at place: Place) -> [(JSON, Place)] {
        guard case .array(let elements) = json else {
            issue(place, "found \(FormDefinition.described(json))", expected: "a list")
            return []
        }
        return Array(zip(elements, place.elements(elements.count)))
    }

    /// An issue if a list is empty that must not be.
    mutating func checkNotEmpty(_ json: JSON, at place: Place, of element: String) {
        guard case .array(let elements) = json, elements.isEmpty else { return }
        issue(
            place, "the list of \(element)s is empty", expected: "at least one \(element)")
    }

    /// An issue for each unknown member.
    mutating func checkKeys(_ members: Members, _ known: KnownNames, owner: String) {
        guard limits.refusesUnknownKeys else { return }
        for index in members.object.members.indices {
            let name = members.object.members[index].name
            if known.contains(name) { continue }
            unknownKey(name, in: members, known: known.all, owner: owner)
        }
    }

    mutating func unknownKey(
        _ name: String, in members: Members, known: [String], owner: String
    ) {
        let similar = suggestion(for: name, among: known)
        issue(
            members.place(of: name), "\(owner) has no \(FormDefinition.quoted(.string(name)))",
            expected: similar.map { Wording.didYouMean([$0]) } ?? Wording.oneOf(known))
    }

    /// The known name that is most similar to an unknown one.
    mutating func suggestion(for name: String, among names: [String]) -> String? {
        guard suggestions < Self.suggestionsMax else { return nil }
        suggestions += 1
        return Similar.names(to: name, among: names, countMax: 1).first
    }

    private mutating func mistyped(_ members: Members, _ name: String, _ json: JSON, _ what: String)
    {
        issue(
            members.place(of: name), "found \(FormDefinition.described(json))",
            expected: what)
    }

    mutating func string(_ members: Members, _ name: String) -> String? {
        guard let json = members[name] else { return nil }
        if case .string(let text) = json { return text }
        // YAML reads an unquoted text like this as another type, so quotes solve it.
        let isPlain = json.numberValue != nil || json.boolValue != nil
        mistyped(members, name, json, isPlain ? "a string: \"\(json.encodedText)\"" : "a string")
        return nil
    }

    mutating func requiredString(_ members: Members, _ name: String) -> String? {
        if members[name] != nil { return string(members, name) }
        issue(members.place, "\(name) is missing", expected: "\(name): a string")
        return nil
    }

    mutating func bool(_ members: Members, _ name: String) -> Bool? {
        guard let json = members[name] else { return nil }
        if case .bool(let flag) = json { return flag }
        mistyped(members, name, json, "true or false")
        return nil
    }

    mutating func number(_ members: Members, _ name: String) -> DecimalNumber? {
        guard let json = members[name] else { return nil }
        if case .number(let number) = json { return number }
        mistyped(members, name, json, "a number")
        return nil
    }

    mutating func integer(
        _ members: Members, _ name: String, in range: ClosedRange<Int64>
    ) -> Int? {
        guard let json = members[name] else { return nil }
        if let number = json.integerValue, range.contains(number) { return Int(number) }
        issue(
            members.place(of: name), "found \(FormDefinition.quoted(json))",
            expected: "an integer from \(range.lowerBound) to \(range.upperBound)")
        return nil
    }

    /// A string that is a case of an enumeration.
    mutating func choice<Choice: RawRepresentable<String>>(
        _ members: Members, _ name: String, among choices: [Choice]
    ) -> Choice? {
        guard let text = string(members, name) else { return nil }
        if let choice = choices.first(where: { $0.rawValue.isSameBytes(as: text) }) {
            return choice
        }
        let names = choices.map(\.rawValue)
        issue(
            members.place(of: name), "found \(FormDefinition.quoted(.string(text)))",
            expected: suggestion(for: text, among: names).map { Wording.didYouMean([$0]) }
                ?? Wording.oneOf(names))
        return nil
    }

    mutating func style(_ members: Members, _ name: String, of type: ControlType) -> ControlStyle? {
        choice(members, name, among: ControlStyle.styles(for: type))
    }

    mutating func tint(_ members: Members) -> Tint? {
        guard let text = string(members, "tint") else { return nil }
        if let tint = Tint(text) { return tint }
        issue(
            members.place(of: "tint"), "\(FormDefinition.quoted(.string(text))) is not a colour",
            expected: Wording.oneOf(["#rrggbb"] + Tint.Name.allCases.map(\.rawValue)))
        return nil
    }

    /// An icon: one grapheme cluster that has a width on the screen.
    mutating func symbol(_ members: Members) -> String? {
        guard let text = string(members, "symbol") else { return nil }
        if text.count == 1, let first = text.unicodeScalars.first, Self.hasWidth(first) {
            return text
        }
        issue(
            members.place(of: "symbol"), "found \(FormDefinition.quoted(.string(text)))",
            expected: "one character, one or two columns wide")
        return nil
    }

    private static func hasWidth(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .spacingMark, .format, .control, .surrogate,
            .unassigned, .lineSeparator, .paragraphSeparator:
            false
        default: true
        }
    }

    /// An issue for each text with a control character, including names of members.
    ///
    /// Defaults are skipped, because the domain of their control decides: a `multiline` text may
    /// contain newlines.
    ///
    /// - Parameter path: Where the value is; one list for the whole form.
    mutating func checkControls(_ json: JSON, at path: inout [PathStep], inField: Bool = false) {
        switch json {
        case .string(let text): checkControls(in: text, at: path)
        case .array(let elements):
            let isFields = path.last == .key("fields")
            for (index, element) in elements.enumerated() where element.mayHoldText {
                // Lists of tags and of ids may be long, and need no path.
                if case .string(let text) = element, text.isPlainASCII { continue }
                path.append(.index(index))
                checkControls(element, at: &path, inField: isFields)
                path.removeLast()
            }
        case .object(let object):
            for member in object.members {
                checkControls(in: member.name, at: path)
                if inField, member.name.isSameBytes(as: "default") {
                    // What it may contain is that of a value, which is checked later.
                    if member.value.hasTooManyMarks { refuseMarks(at: path + [.key("default")]) }
                    continue
                }
                guard member.value.mayHoldText else { continue }
                if case .string(let text) = member.value, text.isPlainASCII { continue }
                path.append(.key(member.name))
                checkControls(member.value, at: &path)
                path.removeLast()
            }
        case .null, .bool, .number: break
        }
    }

    private mutating func refuseMarks(at path: [PathStep]) {
        hasTooManyMarks = true
        issues.append(
            FormIssue(
                path: path, message: JSONError.Reason.tooManyMarks.inWords,
                expected: CombiningMarks.expected))
    }

    private mutating func checkControls(in text: String, at path: [PathStep]) {
        if text.isPlainASCII { return }
        if text.hasTooManyMarks { return refuseMarks(at: path) }
        guard let problem = text.controlProblem(), issues.count < Self.issuesMax else { return }
        issues.append(
            FormIssue(path: path, message: problem, expected: "one line of text without any"))
    }

    // MARK: Access

    mutating func formAccess(_ form: Members) -> FormAccess {
        var access = FormAccess()
        guard let json = form["access"],
            let members = object(
                json, at: form.place(of: "access"), expected: "an object of lists of principals")
        else { return access }
        checkKeys(members, KnownNames(FormAction.allCases.map(\.rawValue)), owner: "access")
        for action in FormAction.allCases {
            if let rule = accessRule(members, action) { access[action] = rule }
        }
        return access
    }

    mutating func controlAccess(_ field: Members) -> ControlAccess {
        var access = ControlAccess()
        guard let json = field["access"],
            let members = object(
                json, at: field.place(of: "access"), expected: "an object of lists of principals")
        else { return access }
        checkKeys(members, ["write", "press", "reveal", "handle"], owner: "a control's access")
        access.write = accessRule(members, .write)
        access.press = accessRule(members, .press)
        access.reveal = accessRule(members, .reveal)
        access.handle = accessRule(members, .handle)
        if members["handle"] != nil { requireRuns(for: members.place(of: "handle"), field) }
        return access
    }

    private mutating func accessRule(_ members: Members, _ action: FormAction) -> AccessRule? {
        principals(members, action.rawValue)
    }

    /// A list of users and groups; `nil` if there is none.
    mutating func principals(_ members: Members, _ name: String) -> AccessRule? {
        guard let json = members[name] else { return nil }
        let list = members.place(of: name)
        let before = principalCount
        principalCount += json.arrayValue?.count ?? 0
        if principalCount > limits.principalsMax {
            // Reported once, not again for each later list.
            guard before <= limits.principalsMax else { return nil }
            issue(
                list,
                "the form's access lists name more than \(limits.principalsMax) users and groups",
                expected: "at most \(limits.principalsMax); name a group")
            return nil
        }
        var principals: [Principal] = []
        for (element, place) in elements(json, at: list) {
            if let text = element.stringValue, text.utf8.count <= limits.principalBytesMax,
                let principal = Principal(text)
            {
                principals.append(principal)
            } else {
                issue(
                    place, "found \(FormDefinition.quoted(element))",
                    expected: "anyone, owner, user:NAME, group:NAME, uid:N or gid:N")
            }
        }
        return AccessRule(principals)
    }
}

/// Names that the members of an object may have. Many of them are found by their length.
struct KnownNames: ExpressibleByArrayLiteral {
    let all: [String]
    private let byLength: [[String]]

    init(_ names: [String]) {
        all = names
        guard names.count > 8 else {
            byLength = [names]
            return
        }
        let longest = names.reduce(0) { max($0, $1.utf8.count) }
        byLength = (0...longest).map { length in names.filter { $0.utf8.count == length } }
    }

    init(arrayLiteral names: String...) { self.init(names) }

    func contains(_ name: String) -> Bool {
        let place = byLength.count == 1 ? 0 : name.utf8.count
        return place < byLength.count && byLength[place].contains { $0.isSameBytes(as: name) }
    }
}

extension JSON {
    /// Whether a text may be in it.
    fileprivate var mayHoldText: Bool {
        switch self {
        case .string, .array, .object: true
        case .null, .bool, .number: false
        }
    }
}
