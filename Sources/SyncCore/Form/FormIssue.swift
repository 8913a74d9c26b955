// Errors in a form, all at once. A form with an issue is rejected.

/// One step on the path from the root of a form.
public enum PathStep: Hashable, Sendable {
    /// A member of an object.
    case key(String)
    /// An element of an array, counted from 0.
    case index(Int)
}

/// One error in a form and its place.
///
/// The reader of the file finds file and line by the path.
public struct FormIssue: Hashable, Sendable {
    /// The path from the root.
    public var path: [PathStep]
    /// What is wrong.
    public var message: String
    /// What would be correct: a noun, as in `a number` or `one of compact, graphical or wheel`, or
    /// a question, as in `did you mean wheel?` (`Wording.refusal`).
    public var expected: String

    /// An issue at `path`.
    public init(path: [PathStep], message: String, expected: String) {
        self.path = path
        self.message = message
        self.expected = expected
    }

    /// The path as text: `sections[1].fields[0].options[2].tag`; empty at the root.
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
    /// One line: path, error, and what was expected.
    ///
    /// It may quote the form, so escape it before it is printed on a terminal.
    public var description: String {
        let place = path.isEmpty ? "" : pathText + ": "
        return place + Wording.refusal(message, expected: expected)
    }
}

/// Why a form was rejected: at least one issue, in the order of the form.
public struct FormIssues: Error, Hashable, Sendable, CustomStringConvertible {
    /// The issues, never empty.
    public var issues: [FormIssue]

    /// A rejection for these reasons.
    public init(_ issues: [FormIssue]) {
        self.issues = issues
    }

    /// One line per issue.
    public var description: String {
        issues.map(\.description).joined(separator: "\n")
    }
}

/// A value or edit that a control does not accept: `invalidValue` in PROTOCOL.md.
public struct InvalidValue: Error, Hashable, Sendable, CustomStringConvertible {
    /// The control's id.
    public var field: String
    /// The component with the error, if the control has several.
    public var component: String?
    /// What is wrong.
    public var message: String
    /// What the control accepts, in words.
    public var expected: String

    /// One line: field, error, and what was expected.
    public var description: String {
        "\(field): " + Wording.refusal(message, expected: expected)
    }
}

/// A compiled `pattern`.
///
/// The core has no regular expressions. The shell compiles them and counts the steps of each match,
/// so that none can block the loop (FORM.md, Types).
public struct PatternMatcher: Sendable {
    /// The result of a match and its number of steps. A step takes a few nanoseconds.
    public struct Outcome: Sendable {
        public let isMatch: Bool
        public let steps: Int

        /// A result with this number of steps.
        public init(isMatch: Bool, steps: Int) {
            self.isMatch = isMatch
            self.steps = steps
        }
    }

    private let body: @Sendable (String) -> Outcome
    /// Bytes of memory of the compiled pattern.
    public let compiledBytes: Int

    /// A matcher that calls `body`. Its matches count no steps.
    public init(_ body: @escaping @Sendable (String) -> Bool) {
        self.init(compiledBytes: 0) { Outcome(isMatch: body($0), steps: 0) }
    }

    /// A matcher that calls `body`, which returns no match if a limit is exceeded.
    public init(compiledBytes: Int, _ body: @escaping @Sendable (String) -> Outcome) {
        self.body = body
        self.compiledBytes = compiledBytes
    }

    /// Whether all of `text` matches.
    public func matches(_ text: String) -> Bool { body(text).isMatch }

    /// The same, with steps counted by a meter; no match if its steps are used up.
    func metered(_ meter: PatternMeter, _ pattern: String) -> PatternMatcher {
        PatternMatcher(compiledBytes: compiledBytes) { text in
            if !meter.known.isEmpty,
                let known = meter.known[PatternMeter.Match(pattern: pattern, text: text)]
            {
                return Outcome(isMatch: known, steps: 0)
            }
            guard meter.left > 0 else {
                meter.hasRunOut = true
                return Outcome(isMatch: false, steps: 0)
            }
            let outcome = body(text)
            meter.left -= outcome.steps
            meter.used += outcome.steps
            if meter.remembers {
                meter.known[PatternMeter.Match(pattern: pattern, text: text)] = outcome.isMatch
            }
            return outcome
        }
    }
}

/// Counts the steps of patterns of an engine's forms.
///
/// Invariant: the code that sets the limit `left` rejects the whole request if `hasRunOut`, so that
/// nobody sees a result that was computed without all steps.
// `@unchecked Sendable` because matchers must be `Sendable`, as definitions are, but an engine's
// matchers are used only on its loop.
final class PatternMeter: @unchecked Sendable {
    var left = Int.max
    var used = 0
    var hasRunOut = false
    /// Matches that were made beforehand, so that a join has no steps left to take.
    var known: [Match: Bool] = [:]
    /// Whether matches become `known`.
    var remembers = false

    struct Match: Hashable {
        let pattern: String
        let text: String
    }

    /// Allows this many steps from now on.
    func begin(_ steps: Int) {
        left = steps
        hasRunOut = false
    }

    /// Removes the limit. Each match still has its own.
    func end() { left = .max }
}

/// Why a pattern does not compile.
public struct PatternError: Error, Hashable, Sendable {
    /// One line from the compiler.
    public var message: String
    /// The offset of the error in bytes.
    public var offsetBytes: Int

    /// An error at `offsetBytes`.
    public init(message: String, offsetBytes: Int) {
        self.message = message
        self.offsetBytes = offsetBytes
    }
}

/// Compiles a `pattern`.
public typealias PatternCompiler = @Sendable (String) -> Result<PatternMatcher, PatternError>

/// The limits for a form.
public struct FormLimits: Hashable, Sendable {
    /// Bytes of the JSON text of a frame. The definition and the largest possible snapshot must
    /// each fit.
    public var frameBytesMax = 1 << 20
    /// Controls in a form.
    public var fieldsMax = 10_000
    /// Options of all pickers of a form together, including rows of wheels.
    public var optionsMax = 25_000
    /// Users and groups in all access lists of a form together.
    public var principalsMax = 1_000
    /// Bytes of one of them. On most systems, a user name has at most 32.
    public var principalBytesMax = 300
    /// Bytes of a text without `maxLength`, so that the snapshot is limited.
    public var textBytesMax = 4 << 10
    /// The most bytes of an encoded `by` of one field.
    public var authorBytesMax = 192
    /// The most bytes of memory of a form's compiled patterns.
    public var patternBytesMax = 4 << 20
    /// Bytes of the proposals of a form that wait, which are in one answer beside the values.
    public var proposalBytesMax = 256 << 10
    /// Pairs of controls of which one derives from the other. Without this limit, memory and time
    /// would be quadratic in the size of the definition.
    public var edgesMax = 50_000
    /// Conditions and compared values of a form, those inside others included: the time of one
    /// request.
    public var conditionPartsMax = 10_000
    /// Levels of conditions inside conditions.
    public var conditionDepthMax = 16
    /// Whether the rules hold that an earlier version did not have.
    var hasNewRules = true
    /// Whether an attribute that this version does not know is an error.
    var refusesUnknownKeys = true

    /// The default limits.
    public init() {}

    /// The limits of a definition that another program sends, perhaps a daemon of an earlier or a
    /// later version. Attributes that are not known here are ignored: the daemon enforces what they
    /// mean. Time and memory remain bounded, whatever it sends.
    public static let received = {
        var limits = FormLimits()
        limits.optionsMax = 50_000
        limits.edgesMax = 100_000
        limits.conditionPartsMax = .max
        limits.hasNewRules = false
        limits.refusesUnknownKeys = false
        return limits
    }()

    /// The limits of a definition in the store: what was accepted once is kept, even if the limits
    /// are smaller now.
    public static let accepted = {
        var limits = FormLimits()
        limits.frameBytesMax = .max
        limits.hasNewRules = false
        limits.fieldsMax = .max
        limits.optionsMax = .max
        limits.principalsMax = .max
        limits.principalBytesMax = .max
        limits.edgesMax = 100_000
        limits.conditionPartsMax = .max
        return limits
    }()

    /// The limits of a daemon.
    public init(_ limits: Limits) {
        frameBytesMax = limits.maxFrame
        fieldsMax = limits.fieldsMax
        optionsMax = limits.optionsMax
        principalsMax = limits.principalsMax
        proposalBytesMax = limits.proposalBytes
    }
}
