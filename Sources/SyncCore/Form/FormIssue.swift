// What is wrong with a form, all of it at once: a form with an issue is refused whole.

/// One step from a form's root towards one of its parts.
public enum PathStep: Hashable, Sendable {
    /// A member of an object.
    case key(String)
    /// An element of an array, counted from 0.
    case index(Int)
}

/// One thing that is wrong with a form, and where.
///
/// The shell that read a file finds file and line by the path.
public struct FormIssue: Hashable, Sendable {
    /// Where: the steps from the root.
    public var path: [PathStep]
    /// What is wrong.
    public var message: String
    /// What would have been right: a noun as `a number`, `one of compact, graphical or wheel`, or a
    /// question as `did you mean wheel?` (`Wording.refusal`).
    public var expected: String

    /// An issue at `path`.
    public init(path: [PathStep], message: String, expected: String) {
        self.path = path
        self.message = message
        self.expected = expected
    }

    /// The path as people read it: `sections[1].fields[0].options[2].tag`; empty at the root.
    public var pathText: String {
        var text = ""
        for step in path {
            switch step {
            case .key(let name): text += (text.isEmpty ? "" : ".") + name
            case .index(let index): text += "[\(index)]"
            }
        }
        return text
    }
}

extension FormIssue: CustomStringConvertible {
    /// One line: path, what is wrong, what was expected.
    ///
    /// It may quote the form's own text: escape it for display before it goes to a terminal.
    public var description: String {
        let place = path.isEmpty ? "" : pathText + ": "
        return place + Wording.refusal(message, expected: expected)
    }
}

/// Why a form was refused: at least one issue, in the order of the form.
public struct FormIssues: Error, Hashable, Sendable, CustomStringConvertible {
    /// The issues, never empty.
    public var issues: [FormIssue]

    /// A refusal for these reasons.
    public init(_ issues: [FormIssue]) {
        self.issues = issues
    }

    /// A line an issue.
    public var description: String {
        issues.map(\.description).joined(separator: "\n")
    }
}

/// A value or edit that a control does not take: what PROTOCOL.md calls `invalidValue`.
public struct InvalidValue: Error, Hashable, Sendable, CustomStringConvertible {
    /// The control's id.
    public var field: String
    /// The component that is to blame, where the control has several.
    public var component: String?
    /// What is wrong.
    public var message: String
    /// What the control takes, in words.
    public var expected: String

    /// A refusal by the control `field`.
    public init(field: String, component: String? = nil, message: String, expected: String) {
        self.field = field
        self.component = component
        self.message = message
        self.expected = expected
    }

    /// One line: field, what is wrong, what was expected.
    public var description: String {
        "\(field): " + Wording.refusal(message, expected: expected)
    }
}

/// A compiled `pattern`: says whether it matches a whole text.
///
/// The core has no regular expressions; the shell compiles them and counts the steps of each match,
/// so that none can hold the loop (FORM.md, Types).
public struct PatternMatcher: Sendable {
    /// What came of a match, and the steps that it took; a step is some nanoseconds.
    public struct Outcome: Sendable {
        public let isMatch: Bool
        public let steps: Int

        /// The outcome of a match that took so many steps.
        public init(isMatch: Bool, steps: Int) {
            self.isMatch = isMatch
            self.steps = steps
        }
    }

    private let body: @Sendable (String) -> Outcome
    /// Bytes of memory that the compiled pattern takes.
    public let compiledBytes: Int

    /// A matcher that asks `body`, whose matches cost nothing.
    public init(_ body: @escaping @Sendable (String) -> Bool) {
        self.init(compiledBytes: 0) { Outcome(isMatch: body($0), steps: 0) }
    }

    /// A matcher that asks `body`, which answers no match where a limit ran out.
    public init(compiledBytes: Int, _ body: @escaping @Sendable (String) -> Outcome) {
        self.body = body
        self.compiledBytes = compiledBytes
    }

    /// Whether the whole of `text` matches.
    public func matches(_ text: String) -> Bool { body(text).isMatch }

    /// The same, with its steps counted by a meter; no match where that has run out.
    func metered(_ meter: PatternMeter) -> PatternMatcher {
        PatternMatcher(compiledBytes: compiledBytes) { text in
            guard meter.left > 0 else {
                meter.hasRunOut = true
                return Outcome(isMatch: false, steps: 0)
            }
            let outcome = body(text)
            meter.left -= outcome.steps
            meter.used += outcome.steps
            return outcome
        }
    }
}

/// Counts the steps that the patterns of an engine's forms take.
///
/// Always holds: while `left` bounds them, whoever set it refuses the whole request where
/// `hasRunOut`, so that nobody is shown what was then said of a value.
// Sendable without a check: matchers are, as definitions are, and those of an engine are asked on
// its loop alone.
final class PatternMeter: @unchecked Sendable {
    var left = Int.max
    var used = 0
    var hasRunOut = false

    /// From here on so many steps may be taken.
    func begin(_ steps: Int) {
        left = steps
        hasRunOut = false
    }

    /// From here on each match is bounded by itself alone.
    func end() { left = .max }
}

/// Why a pattern does not compile.
public struct PatternError: Error, Hashable, Sendable {
    /// One line of the compiler's.
    public var message: String
    /// Bytes of the pattern before the place.
    public var offsetBytes: Int

    /// An error at `offsetBytes`.
    public init(message: String, offsetBytes: Int) {
        self.message = message
        self.offsetBytes = offsetBytes
    }
}

/// Compiles a `pattern`.
public typealias PatternCompiler = @Sendable (String) -> Result<PatternMatcher, PatternError>

/// The bounds that a form is held to.
public struct FormLimits: Hashable, Sendable {
    /// Bytes of one frame's JSON text: definition and worst-case snapshot must each fit.
    public var frameBytesMax = 1 << 20
    /// Controls in a form.
    public var fieldsMax = 10_000
    /// Options of all pickers of a form together, rows of wheels included.
    public var optionsMax = 50_000
    /// Bytes of a text without `maxLength`: something must bound the snapshot.
    public var textBytesMax = 4 << 10
    /// Bytes that `by` of one field takes at most when encoded.
    public var authorBytesMax = 192
    /// Bytes of memory that the patterns of a form take at most, compiled.
    public var patternBytesMax = 4 << 20
    /// Levels of conditions inside conditions.
    public var conditionDepthMax = 16

    /// The bounds as shipped.
    public init() {}

    /// The bounds of a daemon.
    public init(_ limits: Limits) {
        frameBytesMax = limits.maxFrame
        fieldsMax = limits.fieldsMax
        optionsMax = limits.optionsMax
    }
}
