import TestKit
import Testing

@testable import SyncCore

/// Records of earlier versions have a step for each write, and journals are made of many records.
@Suite("Undo of old records")
struct OldUndoTests {
    private let replica = ReplicaID(id: 7, epoch: 1)

    private func dot(_ number: Int) -> Dot { Dot(replica, UInt64(number)) }

    private func record(
        _ kind: RevisionRecord.Kind, _ steps: [UndoStep], undoes: UInt64? = nil
    ) -> RevisionRecord {
        RevisionRecord(
            kind: kind, at: 0,
            by: Author(
                user: "a", uid: 1, client: "c", tty: nil, connection: 1, replica: replica),
            .details(.init(undo: Few(steps), undoes: undoes)))
    }

    private func steps(_ records: [RevisionRecord]) -> [UndoStep] {
        let stored = records.enumerated().map {
            UndoJournal.Stored(revision: UInt64($0.offset + 1), record: $0.element, isPart: false)
        }
        let journal = UndoJournal(stored, depthMax: 500)
        return Array(journal.newest(.undo, owner: nil, field: nil)?.steps ?? Few())
    }

    @Test(
        "the short record of one write is the same as the long one",
        arguments: [
            (nil, nil), (1, nil), (nil, JSON.null), (4, "before"), (1_000, true),
        ] as [(Int?, JSON?)])
    func oneWrite(over: Int?, was: JSON?) {
        let author = Author(
            user: "alice", uid: 1, client: "c", tty: nil, connection: 1, replica: replica)
        let short = RevisionRecord(
            kind: .set, at: 7, by: author, session: "s",
            .write(
                .init(field: "font", dot: dot(1_001), over: over.map { dot($0) }, was: was)))
        let long = RevisionRecord(
            kind: .set, at: 7, by: author, session: "s", .details(short.details))
        #expect(short.encoded() == long.encoded())
        #expect(short.bytesEstimate == long.bytesEstimate)
        let step = short.details.undo.first
        #expect(Array(step?.trace(component: nil)?.over ?? Few()) == (over.map { [dot($0)] } ?? []))
        #expect(short.details.touched == ["font"] && !short.isFinal && !short.mayRestore)
    }

    @Test("ten thousand writes of one text are one step, from the first to the last")
    func writes() {
        let writes = (1...10_000).map { number in
            UndoStep(
                field: "a",
                action: .write(
                    .init(dot: dot(number), over: number == 1 ? [] : [dot(number - 1)]),
                    was: number == 1 ? nil : .integer(number - 1)))
        }
        #expect(
            steps([record(.set, writes)])
                == [UndoStep(field: "a", action: .write(.init(dot: dot(10_000)), was: nil))])
    }

    @Test("of tags, what came and went again is nothing; what stays is added or removed")
    func tags() {
        func step(_ number: Int, add: [JSON] = [], remove: [JSON] = [], over: [Dot] = [])
            -> UndoStep
        {
            UndoStep(
                field: "t",
                action: .tags(
                    .init(dot: dot(number), over: over), added: add, removed: remove,
                    wasSet: number > 1))
        }
        let merged = steps([
            record(
                .set,
                [
                    step(1, add: ["x", "y"]), step(2, remove: ["x"], over: [dot(1)]),
                    step(3, remove: ["old"], over: [dot(99)]), step(4, add: ["x", "z"]),
                    step(5, remove: ["z"], over: [dot(4)]),
                ])
        ])
        let expected = UndoStep.Action.tags(
            .init(dot: dot(5), over: [dot(99)], others: (1...4).map { dot($0) }),
            added: ["x", "y"], removed: ["old"], wasSet: false)
        #expect(merged == [UndoStep(field: "t", action: expected)])
    }

    @Test("of a counter, at most what was counted before, the sets, and what was counted since")
    func counts() {
        func count(_ by: Int, base: Int?) -> UndoStep {
            UndoStep(
                field: "n",
                action: .increment(DecimalNumber(Int64(by)), base: base.map { dot($0) }))
        }
        func assign(_ number: Int, was: Int?, to: Int) -> UndoStep {
            UndoStep(
                field: "n",
                action: .assign(
                    .init(dot: dot(number)), was: was.map { DecimalNumber(Int64($0)) },
                    to: DecimalNumber(Int64(to))))
        }
        var many: [UndoStep] = []
        for round in 1...1_000 {
            let base = round == 1 ? nil : round - 1
            many += [count(1, base: base), count(2, base: base)]
            many.append(assign(round, was: nil, to: round))
        }
        let since = [count(5, base: 1_000), count(6, base: 1_000)]
        let merged = steps([record(.set, many + since)])
        let expected = [
            count(3, base: nil), assign(1_000, was: nil, to: 1_000), count(11, base: 1_000),
        ]
        #expect(merged == expected)
    }

    @Test("of wheels, each component from its first write to its last")
    func components() {
        func row(_ id: String, _ number: Int, over: [Dot] = [], was: JSON?) -> UndoStep.Component {
            .init(id: id, trace: .init(dot: dot(number), over: over), was: was)
        }
        let turns = [
            [row("a", 1, over: [dot(50)], was: 0)], [row("b", 2, was: nil)],
            [row("a", 3, over: [dot(1)], was: 1), row("b", 3, over: [dot(2)], was: 1)],
        ]
        let merged = steps([
            record(.set, turns.map { UndoStep(field: "w", action: .components($0)) })
        ])
        let expected = [row("a", 3, over: [dot(50)], was: 0), row("b", 3, was: nil)]
        #expect(merged == [UndoStep(field: "w", action: .components(expected))])
    }

    @Test("a journal of many undos is what one undo after the other makes of it")
    func sameAsOneByOne() {
        var random = SplitMix64(seed: 20_261_123)
        for _ in 0..<300 {
            let records = story(&random)
            var oneByOne = UndoJournal()
            for (place, record) in records.enumerated() {
                oneByOne.append(
                    record, bytes: record.bytesEstimate, revision: UInt64(place + 1), depthMax: 12)
            }
            let stored = records.enumerated().map {
                UndoJournal.Stored(
                    revision: UInt64($0.offset + 1), record: $0.element, isPart: false)
            }
            let atOnce = UndoJournal(stored, depthMax: 12)
            #expect(oneByOne.count == atOnce.count)
            for field in ["a", "b"] {
                for direction in [UndoJournal.Direction.undo, .redo] {
                    let one = oneByOne.newest(direction, owner: nil, field: field)
                    let other = atOnce.newest(direction, owner: nil, field: field)
                    #expect(one?.revision == other?.revision && one?.steps == other?.steps)
                }
            }
        }
    }

    /// Sets of two fields, and undos that put back what some of them wrote.
    private func story(_ random: inout SplitMix64) -> [RevisionRecord] {
        var records: [RevisionRecord] = []
        var standing: [String: [Dot]] = ["a": [], "b": []]
        for number in 1...40 {
            let field = random.next() % 2 == 0 ? "a" : "b"
            let before = standing[field] ?? []
            let old = records.last { $0.details.undo.first?.field == field && $0.kind == .set }
            var trace = UndoStep.Trace(dot: dot(number), over: before)
            guard random.next() % 3 == 0, let old else {
                let action: UndoStep.Action =
                    random.next() % 4 == 0
                    ? .increment(DecimalNumber(1), base: before.first) : .write(trace, was: 1)
                records.append(record(.set, [UndoStep(field: field, action: action)]))
                standing[field] = [dot(number)]
                continue
            }
            trace.restores =
                (old.details.undo.first?.trace(component: nil)?.over).map { Array($0) } ?? []
            let place = records.lastIndex { $0 === old }.map { UInt64($0 + 1) }
            records.append(
                record(
                    .undo, [UndoStep(field: field, action: .write(trace, was: nil))],
                    undoes: place))
            standing[field] = [dot(number)]
        }
        return records
    }
}
