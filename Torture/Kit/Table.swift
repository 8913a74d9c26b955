/// The command line of `torture`, and the table that it prints.

import Glibc

/// What the command line says.
public struct Options: Sendable {
    /// The folder of the executables.
    public var executables = ""
    /// Rows by number; all where empty.
    public var rows: [Int] = []
    /// Seconds for each row; `nil` for the whole test.
    public var seconds: Double?
    /// The seed; random by default.
    public var seed: UInt64
    /// The folder for scratch data: on a disk, not in memory.
    public var scratch = "/var/tmp"
    /// The folder Torture/ of the sources.
    public var sources = "Torture"
    /// Print the rows without running them.
    public var lists = false

    /// Reads a command line.
    public init(_ words: [String]) throws(UsageError) {
        seed = UInt64.random(in: 1...999_999_999)
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--list" {
                lists = true
                continue
            }
            guard let value = rest.popFirst() else { throw UsageError("\(word) takes a value") }
            try set(word, value)
        }
        if executables.isEmpty && !lists { throw UsageError("--bin FOLDER is missing") }
    }

    private mutating func set(_ word: String, _ value: String) throws(UsageError) {
        switch word {
        // Rows change the folder, so the path must be absolute.
        case "--bin":
            guard let path = realpath(value, nil) else { throw UsageError("--bin \(value)") }
            defer { free(path) }
            executables = String(cString: path)
        case "--scratch": scratch = value
        case "--sources": sources = value
        case "--rows":
            for part in value.split(separator: ",") {
                guard let number = Int(part) else { throw UsageError("--rows \(value)") }
                rows.append(number)
            }
        case "--seconds":
            guard let number = Double(value), number > 0 else {
                throw UsageError("--seconds \(value)")
            }
            seconds = number
        case "--seed":
            guard let number = UInt64(value) else { throw UsageError("--seed \(value)") }
            seed = number
        default: throw UsageError("unknown option \(word)")
        }
    }

    func wants(_ number: Int) -> Bool { rows.isEmpty || rows.contains(number) }
}

/// An invalid command line.
public struct UsageError: Error, CustomStringConvertible {
    /// One line.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// Runs rows and prints a line for each: rows that measure time one by one, the others two at a
/// time, because most of them wait for the disk.
public struct Table: Sendable {
    private static let lanes = 2
    private let options: Options

    /// The table that the options ask for.
    public init(_ options: Options) { self.options = options }

    /// Runs the rows and prints the table; returns whether there were no errors.
    public func print() async -> Bool {
        let rows = AllRows.inOrder(sources: options.sources).filter { options.wants($0.number) }
        let last = rows.filter(\.comesLast)
        let timed = rows.filter { !$0.comesLast && $0.isTimed }
        let others = rows.filter { !$0.comesLast && !$0.isTimed }
        var seen = WatchCounts()
        Console.line("| # | promise | figure | must hold | seed | seconds | |")
        Console.line("| --- | --- | --- | --- | --- | --- | --- |")
        var isGood = true
        func take(_ tried: Tried) {
            isGood = isGood && tried.outcome.verdict != .fail
            seen.add(tried.seen)
            print(tried)
        }
        await withTaskGroup(of: Tried.self) { group in
            var rest = others[...]
            for row in rest.prefix(Self.lanes) { group.addTask { attempt(row) } }
            rest = rest.dropFirst(Self.lanes)
            while let tried = await group.next() {
                take(tried)
                if let row = rest.popFirst() { group.addTask { attempt(row) } }
            }
        }
        for row in timed { take(attempt(row)) }
        for row in last { take(attempt(row, after: seen)) }
        return isGood
    }

    /// The result of a row.
    private struct Tried: Sendable {
        var row: any Row
        var outcome: Outcome
        var seconds: Int
        /// What its watchers saw.
        var seen = WatchCounts()
    }

    private func attempt(_ row: any Row, after others: WatchCounts? = nil) -> Tried {
        let start = monotonicNanoseconds()
        let tally = WatchTally(others ?? WatchCounts())
        var outcome = outcome(of: row, tally)
        // Row 7 checks the watchers of all rows, but it may not be among the requested rows.
        if tally.counts.findings.count > 0, outcome.verdict != .fail {
            outcome.verdict = .fail
            outcome.findings.append(
                "the watch contract: \(tally.counts.findings.lines.last ?? "broken")")
        }
        return Tried(
            row: row, outcome: outcome,
            seconds: Int(Double(monotonicNanoseconds() - start) / 1e9 + 0.5), seen: tally.counts)
    }

    private func outcome(of row: any Row, _ tally: WatchTally) -> Outcome {
        if options.lists {
            return Outcome("about \(Int(row.seconds)) s", isWhole: true, findings: [])
        }
        do {
            let run = try Run(
                executables: options.executables, scratch: options.scratch,
                sources: options.sources, seed: options.seed,
                share: options.seconds.map { min(1, $0 / row.seconds) } ?? 1, tally: tally,
                isTalkative: isatty(STDERR_FILENO) == 1 || getenv("TORTURE_TALKS") != nil)
            return try row.run(run)
        } catch {
            return Outcome("not tried", isWhole: false, findings: ["\(error)"])
        }
    }

    private func print(_ tried: Tried) {
        let (row, outcome) = (tried.row, tried.outcome)
        Console.line(
            "| \(row.number) | \(row.promise) | \(outcome.figure) | \(row.bar) | \(options.seed) "
                + "| \(tried.seconds) | \(outcome.verdict.rawValue) |")
        for finding in outcome.findings.prefix(20) { Console.error("  \(row.number): \(finding)") }
    }
}
