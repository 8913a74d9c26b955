/// A promise of docs/RELIABILITY.md under torture: what it is, how it is tried, what came of it.
///
/// A row prints one line: number, promise, figure, bar, seed, verdict. It never says `pass` for
/// less than its whole bar: a run that was shortened and found nothing wrong says `part`.

/// One promise and how it is tried.
public protocol Row: Sendable {
    /// Its place in the table of docs/RELIABILITY.md; several rows may try one promise.
    var number: Int { get }
    /// The promise in a few words.
    var promise: String { get }
    /// What must hold, as in the table.
    var bar: String { get }
    /// Seconds that the whole of it takes on two cores, about.
    var seconds: Double { get }
    /// Whether the clock judges it, so that it has the machine for itself.
    var isTimed: Bool { get }
    /// Whether it judges what other rows of the run saw, and so comes last.
    var comesLast: Bool { get }
    /// Tries it. Throws where it could not be tried at all.
    func run(_ run: Run) throws -> Outcome
}

extension Row {
    /// Most rows judge what happened, however long it took.
    public var isTimed: Bool { false }

    /// Most rows stand for themselves.
    public var comesLast: Bool { false }
}

/// What came of a row.
public struct Outcome: Sendable {
    /// How it ended.
    public enum Verdict: String, Sendable {
        case pass
        case fail = "FAIL"
        /// Nothing was wrong in what was tried, which was less than the bar asks for.
        case part
        /// This machine cannot try it; the figure says why.
        case skip
    }

    /// What was counted and measured, in one line.
    public var figure: String
    /// How it ended.
    public var verdict: Verdict
    /// What was wrong, a line each; the first few are enough to begin with.
    public var findings: [String]

    /// `fail` where there are findings; otherwise `pass` for the whole, `part` for less.
    public init(_ figure: String, isWhole: Bool, findings: [String]) {
        self.figure = figure
        self.findings = findings
        verdict = findings.isEmpty ? (isWhole ? .pass : .part) : .fail
    }

    /// This machine cannot try it.
    public init(skipped reason: String) {
        figure = reason
        findings = []
        verdict = .skip
    }
}

/// Why a row could not be tried.
public struct Trouble: Error, CustomStringConvertible {
    /// One line.
    public let description: String

    /// A reason.
    public init(_ description: String) { self.description = description }
}

/// What went wrong, counted, of which the first are kept word for word.
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

    /// Adds one unless `holds`.
    public mutating func require(_ holds: Bool, _ line: @autoclosure () -> String) {
        if !holds { add(line()) }
    }
}
