import SyncCore
import TestKit
import Testing

@testable import PickerClient

/// One edit of one field as a test writes it.
private func edit(_ field: String, _ action: Change.Action, _ context: String? = nil) -> StateSet {
    StateSet(form: "f", changes: [Change(field: field, context: context, action)])
}

private func collapse(_ edits: [StateSet]) -> [OfflineQueue.Transaction] {
    var queue = OfflineQueue()
    for (number, edit) in edits.enumerated() {
        queue.append(edit, ticket: Ticket(Int64(number + 1)))
    }
    return queue.drain()
}

private func number(_ text: String) -> DecimalNumber {
    (try? JSON(parsing: text))?.numberValue ?? .zero
}

@Suite("CAUSALITY, Offline: the queue collapses as it grows")
struct OfflineQueueTests {
    @Test("a register keeps its last value with its first token")
    func register() {
        let left = collapse([
            edit("flavor", .value("vanilla"), "a.1:4"), edit("flavor", .value("mint"), "a.1:9"),
        ])
        #expect(left.count == 1)
        #expect(left[0].changes == [Change(field: "flavor", context: "a.1:4", .value("mint"))])
        #expect(left[0].tickets.map(\.number) == [1, 2])
    }

    @Test("the request's token is its changes' token unless they have their own")
    func requestToken() {
        var first = edit("flavor", .value("vanilla"))
        first.context = "a.1:4"
        #expect(collapse([first])[0].changes[0].context == "a.1:4")
        var second = edit("flavor", .value("vanilla"), "a.1:2")
        second.context = "a.1:4"
        #expect(collapse([second])[0].changes[0].context == "a.1:2")
    }

    @Test("increments sum to one, exactly")
    func increments() {
        let left = collapse([
            edit("fine", .increment(number("0.1"))), edit("fine", .increment(number("0.2"))),
            edit("fine", .increment(number("-0.05"))),
        ])
        #expect(left.map(\.changes) == [[Change(field: "fine", .increment(number("0.25")))]])
    }

    @Test("an increment after a set stays behind it, so that the bounds are the daemon's to keep")
    func setThenIncrement() {
        let left = collapse([
            edit("n", .value(5), "t"), edit("n", .increment(number("1"))),
            edit("n", .increment(number("2"))),
        ])
        #expect(
            left[0].changes == [
                Change(field: "n", context: "t", .value(5)),
                Change(field: "n", .increment(number("3"))),
            ])
    }

    @Test("a set after everything else leaves itself alone, with the first token")
    func setLast() {
        let left = collapse([
            edit("n", .value(5), "t1"), edit("n", .increment(number("1")), "t2"),
            edit("n", .value(9), "t3"),
        ])
        #expect(left[0].changes == [Change(field: "n", context: "t1", .value(9))])
    }

    @Test("increments that cancel out and toggles turned twice leave nothing to send")
    func nothingLeft() {
        for edits in [
            [edit("n", .increment(number("2"))), edit("n", .increment(number("-2")))],
            [edit("t", .toggle), edit("t", .toggle)],
        ] {
            let left = collapse(edits)
            #expect(left.count == 1)
            #expect(left[0].changes.isEmpty)
            #expect(left[0].tickets.count == 2, "the caller still waits for an answer")
        }
    }

    @Test("a set keeps net additions and observed removals")
    func sets() {
        #expect(
            collapse([edit("d", .add(["mon"])), edit("d", .add(["tue", "mon"]))])[0].changes
                == [Change(field: "d", .add(["mon", "tue"]))])
        #expect(
            collapse([edit("d", .add(["mon"]), "t"), edit("d", .remove(["mon"]))])[0].changes
                == [Change(field: "d", context: "t", .remove(["mon"]))])
        #expect(
            collapse([edit("d", .remove(["mon"]), "t"), edit("d", .add(["mon"]))])[0].changes
                == [Change(field: "d", context: "t", .add(["mon"]))])
        #expect(
            collapse([edit("d", .value(["mon"])), edit("d", .add(["tue"]))])[0].changes
                == [Change(field: "d", .value(["mon", "tue"]))])
    }

    @Test("wheels keep the components that each edit named")
    func wheels() {
        let left = collapse([
            edit("w", .value(["month": "may"]), "t"), edit("w", .value(["year": 2026])),
            edit("w", .value(["month": "june"])),
        ])
        #expect(
            left[0].changes
                == [Change(field: "w", context: "t", .value(["month": "june", "year": 2026]))])
    }

    @Test("every press counts")
    func presses() {
        let left = collapse([edit("b", .press), edit("b", .press)])
        #expect(left[0].changes.count == 2)
    }

    @Test("edits that share a field become one transaction, strangers stay apart")
    func transactions() {
        var both = edit("a", .value(1))
        both.changes.append(Change(field: "b", .value(2)))
        let left = collapse([
            edit("x", .value(0)), edit("a", .value(0)), both, edit("y", .value(0)),
        ])
        #expect(left.map { $0.changes.map(\.field) } == [["x"], ["a", "b"], ["y"]])
        #expect(left.map { $0.tickets.map(\.number) } == [[1], [2, 3], [4]])
    }

    @Test("the same field of another form is another field")
    func forms() {
        var other = edit("a", .value(2))
        other.form = "g"
        #expect(collapse([edit("a", .value(1)), other]).map(\.form) == ["f", "g"])
    }

    /// What a field shows after changes, bounds and other people aside.
    private static func play(_ changes: [Change], on start: JSON) -> JSON {
        var value = start
        for change in changes {
            switch (change.action, value) {
            case (.value(let new), _): value = new
            case (.increment(let by), .number(let old)): value = .number(old.adding(by) ?? old)
            case (.toggle, .bool(let old)): value = .bool(!old)
            case (.add(let tags), .array(let old)):
                value = .array(old + tags.filter { !old.contains($0) })
            case (.remove(let tags), .array(let old)):
                value = .array(old.filter { !tags.contains($0) })
            case (.reset, _): value = start
            default: break
            }
        }
        return value
    }

    @Test("playing the collapsed queue shows what playing every edit would have shown")
    func equivalence() {
        let seed = SplitMix64.seed(of: "offline equivalence", from: "PICKERSYNC_TEST_SEED")
        var random = SplitMix64(seed: seed)
        let tags: [JSON] = ["a", "b", "c"]
        let kinds: [(start: JSON, make: (inout SplitMix64) -> Change.Action)] = [
            (
                0,
                { random in
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: .value(.integer(Int.random(in: -3...3, using: &random)))
                    case 1: .reset
                    default: .increment(DecimalNumber(.random(in: -3...3, using: &random)))
                    }
                }
            ),
            (
                false,
                { random in
                    Int.random(in: 0..<3, using: &random) == 0
                        ? .value(.bool(Bool.random(using: &random))) : .toggle
                }
            ),
            (
                ["a"],
                { random in
                    let some = tags.filter { _ in Bool.random(using: &random) }
                    switch Int.random(in: 0..<5, using: &random) {
                    case 0: return .value(.array(some))
                    case 1, 2: return .add(some)
                    default: return .remove(some)
                    }
                }
            ),
        ]
        for round in 0..<3_000 {
            let (start, make) = kinds[round % kinds.count]
            var changes: [Change] = []
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                changes.append(Change(field: "x", make(&random)))
            }
            let left = collapse(changes.map { StateSet(form: "f", changes: [$0]) })
            let collapsed = left.flatMap(\.changes)
            let expected = Self.play(changes, on: start)
            let found = Self.play(collapsed, on: start)
            func sorted(_ value: JSON) -> [String] {
                value.arrayValue.map { $0.map(\.encodedText).sorted() } ?? [value.encodedText]
            }
            #expect(
                sorted(found) == sorted(expected), "seed \(seed), round \(round): \(changes)")
            #expect(collapsed.count <= changes.count)
        }
    }
}
