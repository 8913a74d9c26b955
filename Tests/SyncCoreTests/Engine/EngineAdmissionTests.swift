import Testing

@testable import SyncCore

/// The verdicts on requests, alone: no engine, no store.
@Suite struct EngineAdmissionTests {
    private let connection = Connection(
        ConnectionID(1), peer: Peer(pid: 1, uid: 7, gid: 7, user: "mallory"),
        account: Account(uid: 7), frameBytesMax: 1024)
    private static let edit = Request.formDelete(FormDelete(form: "f", idempotencyKey: nil))
    private static let read = Request.formGet(form: "f")

    private func admission(leaving: GoodbyeReason? = nil, trouble: String? = nil) -> Admission {
        Admission(
            leaving: leaving, trouble: trouble, mustCommitFirst: false, answerBytesMax: 100,
            keysMax: 2, keyBytesMax: 50,
            keyHours: 24)
    }

    private func call(_ target: AnswerTarget = .nowhere) -> PendingCall {
        PendingCall(connection: connection, id: nil, target: target)
    }

    private func key(
        _ knowledge: KeyIndex.Knowledge, keys: Int = 0, bytes: Int = 0
    ) -> Admission.Key {
        Admission.Key(
            use: PendingCall.KeyUse(
                id: KeyIndex.ID(uid: 7, key: "k", KeyHash.Secret(first: 1, second: 2)), digest: 5),
            knowledge: knowledge, usage: KeyIndex.Usage(keys: keys, bytes: bytes))
    }

    /// A verdict in one word, or the kind or limit of a refusal.
    private func word(_ verdict: Verdict) -> String {
        switch verdict {
        case .run: "run"
        case .afterCommit: "afterCommit"
        case .fetch: "fetch"
        case .replay: "replay"
        case .refuse(let error): error.limit ?? error.kind.rawValue
        case .unanswered: "unanswered"
        }
    }

    @Test("a read waits for the edits of its own connection, an edit does not")
    func ownEdits() {
        let admission = admission()
        #expect(word(admission.admit(Self.read.kind, call(), nil)) == "run")
        connection.editBegan(answerBytes: 1)
        #expect(word(admission.admit(Self.read.kind, call(), nil)) == "afterCommit")
        #expect(word(admission.admit(Self.edit.kind, call(), nil)) == "run")
        connection.editSettled(answerBytes: 1)
        #expect(word(admission.admit(Self.read.kind, call(), nil)) == "run")
    }

    @Test("a store in trouble takes reads, and a daemon that stops takes no edits")
    func trouble() {
        #expect(
            word(admission(trouble: "full").admit(Self.edit.kind, call(), nil)) == "unavailable")
        #expect(word(admission(trouble: "full").admit(Self.read.kind, call(), nil)) == "run")
        let leaving = admission(leaving: .restart, trouble: "full")
        let slot = AnswerTarget.slot(connection.answers.reserve())
        #expect(word(leaving.admit(Self.edit.kind, call(slot), nil)) == "unanswered")
        #expect(word(leaving.admit(Self.edit.kind, call(), nil)) == "unavailable")
        #expect(word(leaving.admit(Self.read.kind, call(slot), nil)) == "run")
    }

    @Test("a key that was used gives its answer again, to the same request alone")
    func usedKeys() {
        let used = KeyIndex.Knowledge.answered(result: [1], digest: 5, pending: nil)
        let other = KeyIndex.Knowledge.answered(result: [1], digest: 6, pending: nil)
        let admission = admission(trouble: "full")
        #expect(word(admission.admit(Self.edit.kind, call(), key(used))) == "replay")
        #expect(word(admission.admit(Self.edit.kind, call(), key(other))) == "invalidParams")
    }

    @Test("the store is asked for a key that it may have, once")
    func storedKeys() {
        let admission = admission()
        #expect(word(admission.admit(Self.edit.kind, call(), key(.inStore))) == "fetch")
        let again = admission.admit(Self.edit.kind, call(), key(.inStore), isKeyUnused: true)
        #expect(word(again) == "run")
    }

    @Test("what waited for the store is judged like what did not")
    func judgedAgain() {
        let admission = admission(trouble: "full")
        let again = admission.admit(Self.edit.kind, call(), key(.inStore), isKeyUnused: true)
        #expect(word(again) == "unavailable")
        let late = admission.admit(
            Self.edit.kind, call(), key(.inStore, keys: 2), isKeyUnused: true)
        #expect(word(late) == "keysPerUserMax")
    }

    @Test("a user with too many keys cannot use another")
    func fullKeys() {
        let admission = admission()
        #expect(word(admission.admit(Self.edit.kind, call(), key(.unused, keys: 1))) == "run")
        #expect(
            word(admission.admit(Self.edit.kind, call(), key(.unused, keys: 2))) == "keysPerUserMax"
        )
        #expect(
            word(admission.admit(Self.edit.kind, call(), key(.unused, bytes: 50)))
                == "keyBytesPerUserMax")
    }

    @Test("a batch whose answers fill the frame executes no more")
    func fullBatch() {
        let batch = BatchAnswer(slot: connection.answers.reserve(), requests: 3)
        let admission = admission()
        _ = [UInt8](repeating: 0, count: 99).withUnsafeBufferPointer { batch.add($0) }
        #expect(word(admission.admit(Self.read.kind, call(.batch(batch)), nil)) == "run")
        _ = [UInt8](repeating: 0, count: 1).withUnsafeBufferPointer { batch.add($0) }
        #expect(word(admission.admit(Self.read.kind, call(.batch(batch)), nil)) == "answerBytesMax")
    }

    @Test("what runs without a closer look is what is admitted")
    func runs() {
        let call = call(.slot(.unowed))
        for kind in [Admission.Kind.edit, .storedEdit, .read, .neither] {
            for isPending in [false, true] {
                if isPending { connection.editBegan(answerBytes: 1) }
                for (leaving, trouble) in [(nil, nil), (GoodbyeReason.restart, nil), (nil, "full")]
                {
                    let verdict = admission(leaving: leaving, trouble: trouble)
                        .admit(kind, call, nil)
                    let runs = Admission.runs(
                        kind, on: connection, isServing: leaving == nil, isHealthy: trouble == nil)
                    #expect(runs == (word(verdict) == "run"))
                }
                if isPending { connection.editSettled(answerBytes: 1) }
            }
        }
    }
}
