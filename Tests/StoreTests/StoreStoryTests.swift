import EngineTestKit
import SeededRandom
import SyncCore
import Testing

@testable import Store

/// Random batches of all kinds, retention, redactions, folds, kills and rebuilds. The file must
/// answer as the model does, which writes everything at once, and so must a copy of the files as a
/// kill leaves them, before it is folded and after.
@Suite("A store and its model")
struct StoreStoryTests {
    @Test("random stories; STORE_SEED replays one, STORE_STORIES says how many")
    func stories() throws {
        let seed = SplitMix64.seed(from: "STORE_SEED")
        for story in 0..<UInt64(environment("STORE_STORIES").flatMap(Int.init) ?? 10) {
            var pair = try StorePair(seed: seed &+ story)
            for step in 0..<60 {
                try pair.act()
                let difference = try pair.difference()
                guard difference == nil else {
                    Issue.record("seed \(seed &+ story), step \(step): \(difference ?? "")")
                    return
                }
            }
            try pair.store.close()
        }
    }
}

/// A store on disk and its model, which get the same batches.
struct StorePair {
    private let scratch: Scratch
    private(set) var store: Store
    private var model = ModelStore()
    private var random: SplitMix64
    private var forms: [FormKey: UInt64] = [:]
    /// Up to which revision forms were pruned.
    private var pruned: [FormKey: UInt64] = [:]
    private var newestKey: FormKey = 0
    private var time: Int64 = 0
    private let unfoldedMax: Int

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        scratch = try Scratch()
        let unfoldedMax = random.pick(weighted: [(0, 1), (40, 2), (900, 2), (4_096, 2)])
        store = try scratch.open { $0.unfoldedMax = unfoldedMax }.store
        self.unfoldedMax = unfoldedMax
    }

    private mutating func roll(_ range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &random)
    }

    private mutating func revision(of form: FormKey) -> UInt64 {
        UInt64(roll(0...Int(forms[form] ?? 0) + 2))
    }

    private var anyForm: FormKey? {
        mutating get { forms.keys.sorted().randomElement(using: &random) }
    }

    /// Changes both.
    mutating func act() throws {
        switch roll(0...30) {
        case 0: try reopen(isKilled: roll(0...1) == 0)
        case 1: try rebuild()
        case 2 where forms.count < 3: create()
        case 3 where roll(0...3) == 0: try delete()
        case 4...7: try prune()
        case 8: try redact()
        case 9: try store.maintain()
        case 10: try redefine()
        case 11: try touch()
        case 12: try commit([.pruneKeys(before: time - Int64(roll(0...50)))])
        default: try append()
        }
    }

    private mutating func commit(_ operations: [StoreOperation]) throws {
        model.commit(Batch(number: 1, operations: operations))
        try store.put(operations)
    }

    private mutating func create() {
        newestKey += 1
        forms[newestKey] = 0
        let row = FormRow.sample(newestKey, name: "form-\(newestKey)")
        model.commit(Batch(number: 1, operations: [.putForm(row)]))
        #expect(throws: Never.self) { try store.put(.putForm(row)) }
    }

    private mutating func delete() throws {
        guard let form = anyForm else { return }
        forms[form] = nil
        try commit([.deleteForm(form)])
    }

    private mutating func append() throws {
        if forms.isEmpty { create() }
        var operations: [StoreOperation] = []
        for form in forms.keys.sorted() where roll(0...2) > 0 {
            let first = (forms[form] ?? 0) + 1
            let last = first + UInt64(random.pick(weighted: [(0, 6), (4, 4), (40, 2), (300, 1)]))
            let rows = (first...last).map { row(form, $0) }
            operations.append(head(form, last))
            operations += places(form)
            operations += rows.map { .appendRevision($0) }
            forms[form] = last
        }
        operations += rest()
        if roll(0...3) == 0, let pruning = pruning() {
            operations.insert(pruning, at: roll(0...1) * operations.count)
        }
        try commit(operations)
    }

    private mutating func bytes(_ most: Int) -> [UInt8] {
        (0..<roll(0...most)).map { _ in UInt8(roll(0...255)) }
    }

    /// The state of a field: like others, or like none.
    private mutating func state() -> [UInt8] {
        roll(0...2) == 0
            ? bytes(90) : Array("field of alice at \(time): \(roll(0...9_999))".utf8) + bytes(2)
    }

    private mutating func head(_ form: FormKey, _ revision: UInt64) -> StoreOperation {
        .putHead(form: form, revision: revision, context: bytes(12))
    }

    /// Changes of fields and of what is under way.
    private mutating func places(_ form: FormKey) -> [StoreOperation] {
        let names = ["a", "b", "cone", "$definition", "\u{e9}"]
        var operations: [StoreOperation] = []
        for _ in 0..<roll(0...4) {
            let field = names[roll(0...names.count - 1)]
            if roll(0...20) == 0 {
                operations.append(.removeField(form: form, field: field))
            } else {
                operations.append(
                    .putField(FieldRow(form: form, field: field, state: state())))
            }
        }
        guard roll(0...3) == 0 else { return operations }
        let name = OngoingName(kind: "run", id: "\(roll(0...2))")
        if roll(0...2) == 0 { return operations + [.removeOngoing(form: form, name: name)] }
        return operations + [.putOngoing(OngoingRow(form: form, name: name, state: bytes(9)))]
    }

    /// What a batch has after its forms.
    private mutating func rest() -> [StoreOperation] {
        var operations: [StoreOperation] = []
        for _ in 0..<roll(0...2) {
            operations.append(.putKey(.sample("key-\(roll(0...30))", at: time)))
        }
        if roll(0...5) > 0 { operations.append(.putClock(bytes(9) + [1])) }
        return operations
    }

    /// Changes what a form has without a revision.
    private mutating func touch() throws {
        guard let form = anyForm else { return }
        try commit([head(form, forms[form] ?? 0)] + places(form) + rest())
    }

    /// Changes a definition, with or without a revision.
    private mutating func redefine() throws {
        guard let form = anyForm else { return }
        var last = forms[form] ?? 0
        var revisions: [StoreOperation] = []
        if roll(0...1) == 0 {
            last += 1
            revisions = [.appendRevision(row(form, last))]
            forms[form] = last
        }
        var changed = FormRow.sample(form, name: "form-\(form)", revision: last)
        changed.definition = bytes(40)
        try commit([.putForm(changed)] + places(form) + revisions + rest())
    }

    private mutating func row(_ form: FormKey, _ revision: UInt64) -> RevisionRow {
        time += Int64(roll(0...3))
        let bytes = random.pick(weighted: [(0, 1), (150, 20), (3_000, 2), (70_000, 1)])
        let isUndo = revision > 1 && roll(0...6) == 0
        var frame = Array(
            """
            {"revision":\(revision),"changes":{"f\(roll(0...3))":{"value":"\(roll(0...99_999))",\
            "at":\(time),"by":"user-\(roll(0...2))"}}}
            """.utf8)
        if bytes != 150 { frame = Array(repeating: UInt8(roll(0...9)), count: roll(0...bytes)) }
        return RevisionRow(
            form: form, revision: revision, at: time, frame: frame,
            record: Array("{\"by\":\(roll(0...9)),\"was\":\(roll(0...9_999))}".utf8),
            uid: UInt32(roll(1...3)),
            undoes: isUndo ? revision - UInt64(roll(1...min(9, Int(revision) - 1))) : nil,
            isPartialUndo: isUndo && roll(0...2) == 0)
    }

    private mutating func prune() throws {
        if let pruning = pruning() { try commit([pruning]) }
    }

    private mutating func pruning() -> StoreOperation? {
        guard let form = anyForm else { return nil }
        let kept = KeptHistory(
            revisionsPerUser: roll(0...12),
            bytesPerUser: random.pick(weighted: [(1 << 20, 3), (900, 1)]),
            bytes: random.pick(weighted: [(1 << 24, 3), (1_500, 1)]),
            busy: Set((1...3).filter { _ in roll(0...4) == 0 }))
        let before = roll(0...4) == 0 ? max(0, time - Int64(roll(0...900))) : 0
        let through = revision(of: form)
        pruned[form] = max(pruned[form] ?? 0, min(through, forms[form] ?? 0))
        return .pruneRevisions(form: form, through: through, before: before, keeping: kept)
    }

    private mutating func redact() throws {
        guard let form = anyForm else { return }
        let frame = [UInt8](repeating: 7, count: roll(0...400))
        try commit([.redactRevision(form: form, revision: revision(of: form), frame: frame)])
    }

    private mutating func reopen(isKilled: Bool) throws {
        try store.close(clean: !isKilled)
        let unfoldedMax = unfoldedMax
        store = try scratch.open { $0.unfoldedMax = unfoldedMax }.store
    }

    /// What differs in a copy of the files as they are now.
    private func differenceAfterKill() throws -> String? {
        let copy = try Scratch()
        for name in try scratch.names("pickersync.db") where !name.contains("failed") {
            try scratch.copy(name, to: copy)
        }
        for isFolded in [false, true] {
            let store = try copy.open().store
            if let difference = try difference(in: store, ignoringLogs: true) {
                return "a copy that is \(isFolded ? "" : "not ")folded: \(difference)"
            }
            try store.close()
        }
        return nil
    }

    /// What differs of the state.
    private func difference(in store: Store, ignoringLogs: Bool) throws -> String? {
        var found = try store.loadImage { _ in .min }
        var expected = model.image(revisionsPerForm: 0)
        found.keys.sort { ($0.uid, $0.key) < ($1.uid, $1.key) }
        found.fields.sort { Self.key($0).lexicographicallyPrecedes(Self.key($1)) }
        expected.fields.sort { Self.key($0).lexicographicallyPrecedes(Self.key($1)) }
        if ignoringLogs {
            for place in found.forms.indices { found.forms[place].log = "" }
            for place in expected.forms.indices { expected.forms[place].log = "" }
        }
        if found.forms != expected.forms { return "forms: \(found.forms), \(expected.forms)" }
        if found.fields != expected.fields {
            return "fields: \(found.fields), \(expected.fields)"
        }
        if found.clock != expected.clock { return "clock: \(found.clock), \(expected.clock)" }
        return found == expected ? nil : "keys, or what is under way"
    }

    private static func key(_ row: FieldRow) -> [UInt8] {
        withUnsafeBytes(of: row.form.bigEndian) { Array($0) } + row.field.utf8
    }

    /// A rebuild takes the newest revisions from the engine, which may not be in the file.
    private mutating func rebuild() throws {
        var image = model.image()
        image.revisions = []
        for (form, head) in forms.sorted(by: { $0.key < $1.key }) where roll(0...1) == 0 {
            guard head > 0, let place = image.forms.firstIndex(where: { $0.key == form })
            else { continue }
            let first = max((pruned[form] ?? 0) + 1, head - min(head - 1, UInt64(roll(0...6))))
            let last = max(first, head + UInt64(roll(0...3)))
            image.revisions += (first...last).map { row(form, $0) }
            image.forms[place].revision = last
            forms[form] = last
        }
        model.rebuild(image)
        if roll(0...1) == 0 { store.isDiskFull = true }
        _ = try store.rebuild(image)
    }

    /// Asks both the same, and returns what differs.
    mutating func difference() throws -> String? {
        for form in forms.keys.sorted() {
            let rowsMax = random.pick(weighted: [(1, 1), (7, 2), (1_000_000, 2)])
            let bytesMax = random.pick(weighted: [(1, 1), (900, 2), (1 << 40, 3)])
            let queries: [StoreQuery] = [
                .revisions(
                    form: form, from: revision(of: form), rowsMax: rowsMax, bytesMax: bytesMax),
                .history(
                    form: form, before: revision(of: form), rowsMax: rowsMax, bytesMax: bytesMax),
                .journal(form: form, rowsMax: min(rowsMax, 500), bytesMax: bytesMax),
            ]
            for query in queries {
                let (found, expected) = (rows(store.answer(query)), rows(model.answer(query)))
                if found != expected {
                    return "\(query): \(found.map(\.revision)) and not "
                        + "\(expected.map(\.revision)), or other columns"
                }
            }
        }
        if let difference = try difference(in: store, ignoringLogs: false) { return difference }
        if roll(0...11) == 0, let difference = try differenceAfterKill() { return difference }
        let count = forms.keys.reduce(0) { $0 + (model.revisions[$1]?.count ?? 0) }
        let counted = try store.statistics().revisions
        return counted == count ? nil : "\(counted) revisions and not \(count)"
    }

    /// The rows of an answer; the engine needs no notifications of a journal.
    private func rows(_ answer: StoreAnswer) -> [RevisionRow] {
        guard case .revisions(let rows) = answer else { return [] }
        return rows.map { row in
            guard row.frame.isEmpty || row.isPartialUndo else { return row }
            return RevisionRow(
                form: row.form, revision: row.revision, at: 0, frame: [], record: row.record,
                undoes: row.undoes, isPartialUndo: row.isPartialUndo)
        }
    }
}
