import SyncCore
import Testing

@testable import PickerClient

@Suite("a client's copy of a form")
struct FormReplicaTests {
    private var replica = FormReplica()

    init() {
        replica.greeted(Self.greeting(store: "a"))
        begin(1, [("flavor", "mint"), ("scoops", 1)])
    }

    private static func greeting(store: String) -> HelloResult {
        HelloResult(
            server: "t", replica: store, features: [],
            you: .init(connection: 5, uid: 1, gid: 1, pid: 1, user: "ann"), limits: [])
    }

    private static func state(_ value: JSON, _ revision: Revision, by connection: Int64 = 9)
        -> FieldState
    {
        FieldState(
            value: value, revision: revision, isSet: true,
            by: WireAuthor(
                user: "u", uid: 1, client: nil, tty: nil, connection: connection, replica: "a"))
    }

    @discardableResult
    private mutating func begin(
        _ revision: Revision, _ fields: [(String, JSON)], log: String = "L"
    ) -> [FieldChange] {
        replica.began(
            SubscribeResult(
                form: "f", log: log, revision: revision, context: "\(log):\(revision)",
                isResumed: false,
                fields: fields.map { NamedField(id: $0.0, state: Self.state($0.1, revision)) }))
    }

    private mutating func change(
        _ revision: Revision, _ field: String, _ value: JSON, by connection: Int64 = 9
    ) {
        replica.changed(
            [
                FieldChange(
                    field: field, state: Self.state(value, revision, by: connection), was: nil)
            ], revision: revision, context: "L:\(revision)")
    }

    private mutating func answer(
        _ number: Int, _ revision: Revision, _ field: String, _ value: JSON
    ) {
        replica.answered([number])
        replica.take([NamedField(id: field, state: Self.state(value, revision, by: 5))])
    }

    @Test("a snapshot replaces everything and says what differs")
    mutating func snapshot() {
        let changes = begin(7, [("scoops", 1), ("flavor", "vanilla"), ("note", "n")], log: "M")
        #expect(changes.map(\.field) == ["flavor", "note"])
        #expect(changes.map(\.was) == ["mint", nil])
        begin(8, [("note", "n")], log: "M")
        #expect(replica.fields.map(\.id) == ["note"])
        #expect(replica.position == StateSubscribe.Since(log: "M", revision: 8))
        #expect(replica.context == "M:8")
    }

    @Test("a field that is not newer is ignored; only notifications move the position")
    mutating func newer() {
        answer(1, 4, "flavor", "vanilla")
        #expect(replica["flavor"]?.value == "vanilla" && replica.revision == 1)
        change(3, "flavor", "mint")
        #expect(replica["flavor"]?.value == "vanilla" && replica.revision == 3)
        #expect(replica.isNewer(4) && !replica.isNewer(3))
    }

    @Test("fields that are told twice, in any order, are there once, the newest of each")
    mutating func twice() {
        replica.take(
            ["z", "b", "z"].enumerated().map {
                NamedField(id: $1, state: Self.state(.integer($0), Revision($0 + 2)))
            })
        #expect(replica.fields.map(\.id) == ["b", "flavor", "scoops", "z"])
        #expect(replica["z"]?.value == 2)
        #expect(
            replica.bytes == replica.fields.reduce(0) { $0 + $1.state.bytesEstimate })
        replica.keep { $0 != "z" && $0 != "b" }
        #expect(replica.fields.map(\.id) == ["flavor", "scoops"])
        #expect(
            replica.bytes == replica.fields.reduce(0) { $0 + $1.state.bytesEstimate })
    }

    @Test("pending edits are shown over the daemon's values until they are answered")
    mutating func pending() {
        replica.write(.set("vanilla"), to: "flavor", number: 1)
        replica.write(.addTags(["a"]), to: "tags", number: 2)
        change(2, "flavor", "strawberry")
        #expect(replica.value(of: "flavor") == "vanilla" && replica.isPending("flavor"))
        #expect(replica.value(of: "tags") == ["a"])
        let answered = replica.answered([1])
        #expect(answered == ["flavor"])
        #expect(replica.value(of: "flavor") == "strawberry" && !replica.isPending("flavor"))
        replica.keep { $0 == "flavor" }
        #expect(replica.pending.isEmpty)
    }

    @Test("an increment counts once, whether its notification or its answer comes first")
    mutating func landing() {
        func step(_ number: Int) -> StoredEdit {
            .increment(difference: DecimalNumber(1), result: DecimalNumber(Int64(number)))
        }
        // Without a definition an increment shows its result.
        replica.write(step(2), to: "scoops", number: 1)
        replica.write(step(3), to: "scoops", number: 2)
        change(2, "scoops", 2, by: 5)
        #expect(replica.value(of: "scoops") == 3)
        change(3, "scoops", 7)
        answer(1, 2, "scoops", 2)
        #expect(replica.value(of: "scoops") == 3)
        answer(2, 4, "scoops", 8)
        #expect(replica.value(of: "scoops") == 8)
    }

    @Test("the notification of an edit that was answered does not hide the next edit")
    mutating func answeredFirst() {
        replica.write(.set("vanilla"), to: "flavor", number: 1)
        replica.write(.set("strawberry"), to: "flavor", number: 2)
        answer(1, 2, "flavor", "vanilla")
        change(2, "flavor", "vanilla", by: 5)
        #expect(replica.value(of: "flavor") == "strawberry")
    }

    @Test("another store has other connections and contexts; a new epoch is the same store")
    mutating func anotherStore() {
        let mine = Self.state("x", 2, by: 5).by
        let isOtherEpoch = replica.greeted(Self.greeting(store: "a.2"))
        #expect(!isOtherEpoch && replica.isMine(mine) && replica.context == "L:1")
        let isOtherStore = replica.greeted(Self.greeting(store: "b"))
        #expect(isOtherStore && replica.isMine(mine) && replica.context == nil)
        #expect(replica["flavor"]?.value == "mint", "it is shown until the other store's snapshot")
    }

    @Test("people are known by their connection, without this client, until the connection is lost")
    mutating func people() {
        func tell(_ peers: (connection: Int64, focus: String?, isGone: Bool)...) {
            replica.presenceChanged(
                PresenceChanged(
                    form: "f",
                    peers: peers.map {
                        PresenceChanged.Peer(
                            connection: $0.connection, user: "u", client: nil, tty: nil,
                            focus: $0.focus, isGone: $0.isGone)
                    }))
        }
        tell((9, "flavor", false), (5, "flavor", false), (7, nil, false))
        tell((9, "scoops", false))
        #expect(replica.peers.map(\.connection) == [7, 9])
        #expect(replica.peer(9)?.focus == "scoops" && replica.peer(5) == nil)
        tell((7, nil, true), (8, nil, true))
        #expect(replica.peers.map(\.connection) == [9])
        replica.disconnected()
        #expect(replica.peers.isEmpty)
    }
}

@Suite("edits for another store")
struct KeptEditsTests {
    private var kept = KeptEdits<Int>()
    private let edit = StateSet(
        form: "f", changes: [Change(field: "x", context: "old", .value(1))], idempotencyKey: "k")

    @Test("an edit waits for the store that it was made for, and goes there once, as it was")
    mutating func ownStore() {
        let isKeptEarly = kept.keep(edit, 1)
        #expect(!isKeptEarly, "no store was known")
        let early = kept.greeted(by: "a") + kept.greeted(by: "b")
        #expect(early.isEmpty)
        let isKept = kept.keep(edit, 1) && kept.keep(edit, for: "c", 2)
        #expect(isKept)
        let same = kept.greeted(by: "b")
        #expect(same.isEmpty, "the same store again changes nothing")
        let other = kept.greeted(by: "c")
        #expect(other.map(\.owner) == [2])
        let sent = kept.greeted(by: "a")
        #expect(sent.map(\.edit) == [edit])
        #expect(sent.map(\.owner) == [1])
        #expect(kept.edits.isEmpty)
    }

    @Test("in the store that answers it is another edit: without its key and its contexts")
    mutating func renewed() throws {
        _ = kept.greeted(by: "a")
        _ = kept.greeted(by: "b")
        _ = kept.keep(edit, 1)
        let all = kept.take { $0.fields == ["x"] }
        let taken = try #require(all.first)
        #expect(
            taken.renewed(context: "new")
                == StateSet(
                    form: "f", changes: [Change(field: "x", context: "new", .value(1))]))
        #expect(kept.edits.isEmpty)
    }
}
