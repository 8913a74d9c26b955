import Foundation
import TestKit
import Testing
import TortureKit

// Every compiled row in a few seconds: what `make torture` does at length.

@Suite("Promises, tried for a few seconds each", .serialized)
struct ShortRowTests {
    private static let sources = sourceTree.appending(path: "Torture").path

    /// What `make check` tries as a whole elsewhere: the stories of terminals, the machine's
    /// promises.
    private static let elsewhere = [10, 13]

    private static let rows = AllRows.inOrder(sources: sources).filter {
        !elsewhere.contains($0.number)
    }

    @Test("a promise holds in a short run of its row", arguments: 0..<rows.count)
    func short(_ index: Int) throws {
        let row = Self.rows[index]
        let given = ProcessInfo.processInfo.environment["TORTURE_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 1...999_999_999)
        let run = try Run(
            executables: builtProducts.path, scratch: "/var/tmp", sources: Self.sources, seed: seed,
            share: min(0.05, 2 / row.seconds), tally: WatchTally(), isTimed: false)
        let outcome = try row.run(run)
        if outcome.verdict == .skip {
            let line = "SKIPPED: row \(row.number), \(row.promise): \(outcome.figure)\n"
            FileHandle.standardError.write(Data(line.utf8))
        }
        #expect(
            outcome.findings.isEmpty && outcome.verdict != .fail,
            """
            \(row.number) \(row.promise), TORTURE_SEED=\(seed): \(outcome.figure)
            \(outcome.findings.joined(separator: "\n"))
            """)
        #expect(
            run.tally.counts.findings.lines.isEmpty,
            "\(row.number) \(row.promise), TORTURE_SEED=\(seed): the watch contract")
    }
}
