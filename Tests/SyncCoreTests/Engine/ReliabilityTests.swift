import EngineTestKit
import Testing

@testable import SyncCore

/// Errors that torture found: edits that were lost or doubled, and growth without limit.
@Suite struct ReliabilityTests {
    private static let edit = #"{"form":"f","changes":[{"field":"count","increment":1}]}"#
    private static let definition = #"""
        {"form":"f","title":"F","sections":[{"title":"S","fields":[
        {"id":"count","type":"stepper","label":"C","min":0,"max":1000000,"default":0},
        {"id":"flag","type":"toggle","label":"G"},
        {"id":"name","type":"text","label":"N"}]}]}
        """#

    private func host(_ change: (inout EngineHost) throws -> Void = { _ in }) throws -> (
        EngineHost, ConnectionID
    ) {
        var host = try EngineHost()
        try change(&host)
        let root = host.connect(uid: 0, user: "root")
        _ = host.ask(root, rpc("form.apply", #"{"definition":\#(Self.definition)}"#))
        return (host, root)
    }

    private func rpc(_ method: String, _ params: String) -> String {
        #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
    }

    @Test("a watcher that is slow gets all that was committed before the goodbye")
    func tailBeforeGoodbye() throws {
        let (host, root) = try host()
        let watcher = host.connect(uid: 0, user: "root")
        _ = host.ask(watcher, rpc("state.subscribe", #"{"form":"f"}"#))
        host.slow.insert(watcher)
        for _ in 0..<20 { _ = host.ask(root, rpc("state.set", Self.edit)) }
        host.run(.stop(.restart))
        host.settle()
        host.resumeReading(watcher)
        host.settle()
        let frames = host.take(watcher)
        #expect(frames.count { $0.contains("state.changed") } == 20)
        #expect(frames.last?.contains("goodbye") == true)
        #expect(host.closed.contains(watcher))
    }

    @Test("a record tells which steps an undo skipped, and the journal forgets them")
    func skippedInRecord() throws {
        let author = Author(
            user: "u", uid: 1, client: nil, tty: nil, connection: 1,
            replica: ReplicaID(id: 1, epoch: 1))
        let dot = Dot(ReplicaID(id: 1, epoch: 1), 1)
        func step(_ field: String) -> UndoStep {
            UndoStep(field: field, action: .write(UndoStep.Trace(dot: dot, over: []), was: nil))
        }
        let set = RevisionRecord(
            kind: .set, at: 0, by: author, .details(.init(undo: [step("a"), step("b")])))
        let undo = RevisionRecord(
            kind: .undo, at: 0, by: author,
            .details(.init(undo: [step("a")], undoes: 1, skipped: ["b"])))
        let read = try #require(RevisionRecord(undo.encoded()))
        #expect(read.details.skipped == ["b"])
        var journal = UndoJournal()
        journal.append(set, bytes: 1, revision: 1, depthMax: 10)
        journal.append(read, bytes: 1, revision: 2, depthMax: 10)
        let owner = UndoJournal.Owner(uid: 1, session: nil)
        #expect(journal.newest(.undo, owner: owner, field: nil) == nil)
        #expect(journal.newest(.redo, owner: owner, field: nil)?.revision == 2)
    }

    @Test("while the disk stays full one image serves every attempt")
    func fullDisk() throws {
        let (host, root) = try host()
        host.rebuildWorks = false
        host.holdsCommits = true
        host.send(root, rpc("state.set", Self.edit))
        host.settle()
        host.failCommit()
        host.settle()
        let image = try #require(host.engine.link.image)
        for _ in 0..<20 {
            host.pass(milliseconds: 1_000)
            host.settle()
            #expect(host.engine.link.image == image)
        }
        host.rebuildWorks = true
        host.holdsCommits = false
        host.pass(milliseconds: 31_000)
        host.settle()
        #expect(host.engine.link.isHealthy)
        #expect(host.ask(root, rpc("state.set", Self.edit)).last?.contains("result") == true)
    }

    @Test("a backup is for administrators, and ends with its connection")
    func backup() throws {
        let (host, root) = try host()
        let guest = host.connect(uid: 1001, user: "bob")
        #expect(host.ask(guest, rpc("server.backup", "{}")).last?.contains("forbidden") == true)
        let begun = host.ask(root, rpc("server.backup", "{}"))
        #expect(begun.last?.contains(#""bytes":19"#) == true, "\(begun)")
        let stolen = host.connect(uid: 0, user: "root")
        let foreign = host.ask(stolen, rpc("server.backup", #"{"backup":1,"offset":0}"#))
        #expect(foreign.last?.contains("notFound") == true, "\(foreign)")
        let piece = host.ask(root, rpc("server.backup", #"{"backup":1,"offset":2}"#))
        #expect(piece.last?.contains(Base64.encode(Array("copy of the store".utf8))) == true)
    }

    @Test("base64 reads what it wrote, at every length, and nothing else")
    func base64() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 89 &+ count) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        }
        #expect(Base64.encode(Array("foobar".utf8)) == "Zm9vYmFy")
        #expect(Base64.encode(Array("fooba".utf8)) == "Zm9vYmE=")
        for text in ["A", "AA", "AAA", "A===", "====", "AA=A", "AB==", "AAB=", "AA==AAAA", "A A="] {
            #expect(Base64.decode(text) == nil, "\(text)")
        }
    }
}

extension StoreLink {
    /// What is being written, or waits for another attempt.
    fileprivate var image: StoreImage? {
        switch state {
        case .idle, .committing: nil
        case .rebuilding(let rebuild), .broken(let rebuild, _): rebuild.image
        }
    }
}
