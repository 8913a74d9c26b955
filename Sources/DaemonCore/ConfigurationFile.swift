internal import FormFile
internal import SyncCore

// The configuration file: YAML (or JSON) whose keys are the long names of the flags.

extension ConfigurationLayer {
    /// Reads a file's text, with every mistake that is in it (78 for the process).
    static func parse(_ bytes: [UInt8], file: String) throws(FileIssues) -> ConfigurationLayer {
        let tree = try YAMLDocument.parse(bytes, name: file)
        var reader = ConfigurationReader(tree: tree)
        reader.read()
        guard reader.issues.isEmpty else { throw FileIssues(reader.issues) }
        return reader.layer
    }
}

private struct ConfigurationReader {
    let tree: SourceTree
    var layer = ConfigurationLayer()
    var issues: [FileIssue] = []

    /// Paths are relative to the folder of the file, so the file has the same meaning wherever the
    /// daemon is started.
    private var folder: String {
        guard let slash = tree.name.lastIndex(of: "/") else { return "." }
        return slash == tree.name.startIndex ? "/" : String(tree.name[..<slash])
    }

    init(tree: SourceTree) {
        self.tree = tree
    }

    mutating func read() {
        // A file with only comments is null and sets nothing.
        guard !tree.json.isNull else { return }
        guard let object = tree.json.objectValue else {
            return refuse([], tree.json.kindInWords, expected: "keys and values")
        }
        for (name, value) in object.members {
            guard let option = ConfigurationOption(rawValue: name) else {
                let known = ConfigurationOption.allCases.map(\.rawValue)
                refuse(
                    [name], key: true, "no such option",
                    expected: Similar.orAll(name, among: known))
                continue
            }
            switch option {
            case .limits: readLimits(value)
            case .forms: readForms(value)
            case .link: readLink(value)
            default: set(option, value, at: [name])
            }
        }
    }

    private mutating func readForms(_ value: JSON) {
        let place = [ConfigurationOption.forms.rawValue]
        guard case .array(let elements) = value else { return set(.forms, value, at: place) }
        layer.forms = layer.forms ?? []
        for (index, element) in elements.enumerated() {
            set(.forms, element, at: place, index: index)
        }
    }

    private mutating func readLimits(_ value: JSON) {
        let place = [ConfigurationOption.limits.rawValue]
        guard let object = value.objectValue else {
            return refuse(place, value.kindInWords, expected: "limits by their names")
        }
        for (name, value) in object.members {
            guard let text = value.configurationText else {
                refuse(place + [name], value.kindInWords, expected: "a whole number")
                continue
            }
            do throws(BadValue) {
                layer.limits.append(try LimitSetting(name: name, value: text))
            } catch {
                let isName = !Limits.all.contains { $0.name.isSameBytes(as: name) }
                refuse(place + [name], key: isName, error.message, expected: error.expected)
            }
        }
    }

    private mutating func readLink(_ value: JSON) {
        let place = [ConfigurationOption.link.rawValue]
        guard let object = value.objectValue else {
            return refuse(place, value.kindInWords, expected: ConfigurationOption.link.expected)
        }
        var options = LinkOptions()
        for (name, value) in object.members {
            let member: LinkOptions.Member
            do throws(BadValue) { member = try LinkOptions.member(name) } catch {
                refuse(place + [name], key: true, error.message, expected: error.expected)
                continue
            }
            let elements = member.isList ? value.arrayValue : nil
            for (index, element) in (elements ?? [value]).enumerated() {
                let index = elements == nil ? nil : index
                guard let text = element.configurationText else {
                    refuse(
                        place + [name], index: index, element.kindInWords,
                        expected: member.expected)
                    continue
                }
                do throws(BadValue) {
                    try options.set(member, text, folder: folder)
                } catch {
                    refuse(place + [name], index: index, error.message, expected: error.expected)
                }
            }
        }
        layer.link = options
    }

    private mutating func set(
        _ option: ConfigurationOption, _ value: JSON, at place: [String], index: Int? = nil
    ) {
        guard let text = value.configurationText else {
            return refuse(place, index: index, value.kindInWords, expected: option.expected)
        }
        do throws(BadValue) {
            try layer.set(option, text, folder: folder)
        } catch {
            refuse(place, index: index, error.message, expected: error.expected)
        }
    }

    /// A mistake at a member, or at one element of it; with `key`, at the member's name.
    private mutating func refuse(
        _ names: [String], index: Int? = nil, key: Bool = false, _ message: String,
        expected: String
    ) {
        var path = names.map(PathStep.key)
        if let index { path.append(.index(index)) }
        var issue = tree.issue(at: path, message, expected: expected)
        if key { issue.position = tree.keyPosition(of: path) ?? issue.position }
        issues.append(issue)
    }
}

extension JSON {
    /// A scalar as it would be written in a flag; `nil` if a flag cannot contain it.
    fileprivate var configurationText: String? {
        switch self {
        case .string(let text): text
        case .number: integerValue.map { "\($0)" }
        case .null, .bool, .array, .object: nil
        }
    }
}
