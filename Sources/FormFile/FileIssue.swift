public import SyncCore

// What is wrong with a file that a person wrote, and where.
//
// An issue always names its file; it names a line if the file could be read. Rendered, an issue is
// one line in the format of compiler errors, which editors understand. It never contains a raw
// control or bidirectional character, even if the file does (FORM.md, Types, last paragraph).

/// One thing that is wrong with a file.
public struct FileIssue: Hashable, Sendable {
    /// The file, as the caller named it.
    public var file: String
    /// Where in the file; `nil` if the file could not be read.
    public var position: SourcePosition?
    /// The place in the value: `sections[1].fields[0].options[2].tag`; empty for the whole.
    public var path: [PathStep]
    /// What is wrong, in one line without a full stop.
    public var message: String
    /// What was expected instead, in words; `nil` if the message is enough.
    public var expected: String?

    /// An issue of a file.
    public init(
        file: String, position: SourcePosition?, path: [PathStep] = [], message: String,
        expected: String? = nil
    ) {
        self.file = file
        self.position = position
        self.path = path
        self.message = message
        self.expected = expected
    }
}

extension FileIssue: CustomStringConvertible {
    /// `deploy.yaml:12:9: sections[1].title: what is wrong; expected what`.
    public var description: String {
        var line = file
        if let position { line += ":\(position.line):\(position.column)" }
        line += ": "
        let place = path.rendered
        if !place.isEmpty { line += place + ": " }
        line += Wording.refusal(message, expected: expected)
        return line.escapedForDisplay()
    }
}

/// Everything that is wrong with a file: at least one issue, in the order of the file.
///
/// Files often have several mistakes, and a person fixes them faster when all are shown. So reading
/// continues after an error if the rest can still be parsed.
public struct FileIssues: Error, Hashable, Sendable {
    /// The issues, sorted by line and column; those without a place come first.
    public let issues: [FileIssue]

    /// The maximum number of issues shown: a file with a million mistakes must not make a report of
    /// a million lines.
    public static let issuesMax = 100

    /// The issues, sorted by where they are.
    public init(_ issues: [FileIssue]) {
        precondition(!issues.isEmpty, "a failure names at least one issue")
        let order = issues.indices.sorted { left, right in
            let (before, after) = (issues[left].position, issues[right].position)
            guard before != after else { return left < right }
            guard let before else { return true }
            guard let after else { return false }
            return before < after
        }
        self.issues = order.prefix(Self.issuesMax).map { issues[$0] }
    }

    /// The one issue there is.
    public init(_ issue: FileIssue) {
        self.init([issue])
    }
}

extension FileIssues: CustomStringConvertible {
    /// One line for each issue, without a newline at the end.
    public var description: String {
        issues.map(\.description).joined(separator: "\n")
    }
}

extension [PathStep] {
    /// The path as FORM.md writes it: `sections[1].fields[0].options[2].tag`.
    ///
    /// A name that is not a plain word is written in brackets and quotes: `values["a b"]`.
    var rendered: String {
        var text = ""
        for step in self {
            switch step {
            case .index(let index): text += "[\(index)]"
            case .key(let name) where name.isPlainWord: text += (text.isEmpty ? "" : ".") + name
            case .key(let name): text += "[\"\(name)\"]"
            }
        }
        return text
    }
}

extension String {
    /// Whether this is a word of letters, digits, `_`, `-` and `$`, as every attribute is.
    fileprivate var isPlainWord: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
                    UInt8(ascii: "$"):
                    true
                default: false
                }
            }
    }
}
