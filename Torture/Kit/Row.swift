/// A promise of docs/RELIABILITY.md under torture: what it is, how it is tested, and the result.
///
/// A row prints one line: number, promise, figure, bar, seed, verdict. It prints `pass` only for
/// its whole bar; a shortened run without errors is `part`.

/// One promise and its test.
public protocol Row: Sendable {
    /// Its number in docs/RELIABILITY.md. Several rows may test one promise.
    var number: Int { get }
    /// The promise in a few words.
    var promise: String { get }
    /// What must be true, as in the table.
    var bar: String { get }
    /// The approximate duration of the whole test on two cores.
    var seconds: Double { get }
    /// Whether it measures time, so that it must run alone.
    var isTimed: Bool { get }
    /// Whether it checks what other rows of the run saw, so that it must be last.
    var comesLast: Bool { get }
    /// Runs the test. Throws if it could not run at all.
    func run(_ run: Run) throws -> Outcome
}

extension Row {
    /// Most rows do not measure time.
    public var isTimed: Bool { false }

    /// Most rows do not depend on others.
    public var comesLast: Bool { false }
}

/// The result of a row.
public struct Outcome: Sendable {
    /// How it ended.
    public enum Verdict: String, Sendable {
        case pass
        case fail = "FAIL"
        /// No errors, but less was tested than the bar requires.
        case part
        /// This machine cannot run the test; the figure says why.
        case skip
    }

    /// Counts and measurements in one line.
    public var figure: String
    /// How it ended.
    public var verdict: Verdict
    /// The first errors, one per line.
    public var findings: [String]

    /// `fail` with findings; otherwise `pass` for the whole test, `part` for less.
    public init(_ figure: String, isWhole: Bool, findings: [String]) {
        self.figure = figure
        self.findings = findings
        verdict = findings.isEmpty ? (isWhole ? .pass : .part) : .fail
    }

    /// This machine cannot run the test.
    public init(skipped reason: String) {
        figure = reason
        findings = []
        verdict = .skip
    }
}

/// Why a row could not run.
public struct Trouble: Error, CustomStringConvertible {
    /// One line.
    public let description: String

    /// A reason.
    public init(_ description: String) { self.description = description }
}

/// Errors: their number, and the text of the first ones.
public struct Findings: Sendable {
    private static let linesMax = 20
    /// The first of them.
    public private(set) var lines: [String] = []
    /// All of them.
    public private(set) var count = 0

    /// None yet.
    public init() {}

    /// Adds one.
    public mutating func add(_ line: @autoclosure () -> String) {
        count += 1
        if lines.count < Self.linesMax { lines.append(line()) }
    }

    /// Adds those of others.
    public mutating func add(_ others: Findings) {
        count += others.count
        lines += others.lines.prefix(max(0, Self.linesMax - lines.count))
    }

    /// Adds an error unless `holds`.
    public mutating func require(_ holds: Bool, _ line: @autoclosure () -> String) {
        if !holds { add(line()) }
    }
}
