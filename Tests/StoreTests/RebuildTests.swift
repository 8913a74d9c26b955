import Foundation
import SyncCore
import Testing

@testable import Store

@Suite("Rebuilding the store")
struct RebuildTests {
    private func filled(_ scratch: Scratch) throws -> Store {
        let store = try scratch.open().store
        try store.put(.putForm(.sample(1)), .putForm(.sample(2)))
        for revision in 1...30 as ClosedRange<UInt64> {
            try store.edit(revision, form: 1)
            try store.edit(revision, form: 2)
        }
        return store
    }

    @Test("the image is the state, and history and keys are copied")
    func carries() throws {
        let scratch = try Scratch()
        let store = try filled(scratch)
        let before = try store.all()
        var image = before
        image.revisions = []
        _ = try store.rebuild(image)
        #expect(try store.all() == before)
        #expect(try scratch.names("pickersync.db.failed").count == 2)
        try store.edit(31)
        try store.close()
        #expect(try scratch.open().store.revisions() == Array(1...31))
    }

    @Test("after a commit without space the state is written over the same file")
    func inPlace() throws {
        let scratch = try Scratch()
        let store = try scratch.open { $0.vfs = FaultyFileSystem.register() }.store
        try store.put(.putForm(.sample()))
        try store.edit(1)
        try store.edit(2)
        let known = try store.all()
        let before = store.replica
        let directory = try POSIX.resolve(scratch.path)
        defer { FaultyFileSystem.heal(directory) }
        FaultyFileSystem.plan(FaultPlan(directory: directory, suffix: "-wal", writes: 1))
        #expect(throws: StoreError.full(file: store.path)) { try store.edit(3) }
        var image = known
        image.revisions = []
        image.forms[0].log = "another"
        // There is no space yet: nothing has changed.
        let failed = ".failed-20261121T000000.000Z"
        for suffix in [failed, failed + "-wal"] { try scratch.write(store.path + suffix, [1]) }
        #expect(throws: StoreError.full(file: store.path)) { try store.rebuild(image) }
        #expect(try scratch.names("pickersync.db.failed").isEmpty, "their space is needed")
        #expect(try store.all() == known)
        #expect(store.replica == before)
        FaultyFileSystem.heal(directory)
        #expect(try store.rebuild(image) == before.nextEpoch)
        #expect(try scratch.names("pickersync.db.").isEmpty, "there is no second store")
        var expected = known
        expected.forms[0].log = "another"
        #expect(try store.all() == expected)
        try store.edit(3)
        try store.close(clean: false)
        let again = try scratch.open()
        #expect(again.opening.replica == before.nextEpoch && again.opening.replicaChange == nil)
        #expect(try again.store.revisions() == [1, 2, 3])
        try again.store.close()
    }

    @Test("rows that the image does not have do not come back", arguments: [false, true])
    func onlyKnown(inPlace: Bool) throws {
        let scratch = try Scratch()
        let store = try filled(scratch)
        store.isDiskFull = inPlace
        var image = try store.all()
        image.revisions = []
        image.forms = [image.forms[0]]
        image.forms[0].revision = 28
        image.fields = []
        image.failedKeys = image.keys.filter { $0.at > 28 || $0.key.hasPrefix("key-2") }
        image.keys.removeAll { image.failedKeys.contains($0) }
        image.clock = [7]
        _ = try store.rebuild(image)
        let after = try store.all()
        #expect(after.forms == image.forms)
        #expect(after.fields.isEmpty)
        #expect(after.revisions.map(\.revision) == Array(1...28))
        #expect(after.keys == image.keys)
        #expect(after.clock == [7])
        try store.close()
    }

    @Test("revisions of the image replace those of the file", arguments: [false, true])
    func ownRevisions(inPlace: Bool) throws {
        let scratch = try Scratch()
        let store = try filled(scratch)
        store.isDiskFull = inPlace
        var image = try store.all()
        image.revisions = [.sample(30, bytes: 5)]
        _ = try store.rebuild(image)
        let newest = try store.all().revisions.filter { $0.form == 1 }
        #expect(newest.count == 30)
        #expect(newest.last?.frame.count == 5)
        try store.close()
    }

    @Test(
        "a crash between any two steps of the replacement is finished at the next start",
        arguments: 0..<5)
    func crashes(after steps: Int) throws {
        let scratch = try Scratch()
        let store = try filled(scratch)
        var image = try store.all()
        image.revisions = []
        image.clock = [99]
        try store.close(clean: false)
        // A second store with the same content is the declared file.
        let built = try Scratch()
        let other = try built.open().store
        _ = try other.rebuild(image)
        try other.close()
        let files = try StoreFiles(preparing: scratch.path)
        try scratch.write(files.building, try built.bytes(built.database))
        if steps >= 1 { try files.adoptBuilding() }
        if steps >= 2 {
            let kept = files.database + ".failed-20261121T000000.000Z"
            try POSIX.move(files.wal, to: kept + "-wal")
            if steps >= 3 { try POSIX.move(files.database, to: kept) }
        }
        if steps >= 4 { try files.finishReplacement() }
        let opened = try scratch.open()
        #expect(opened.opening.condition != .created)
        let clock: [UInt8] = steps == 0 ? [30] : [99]
        #expect(try opened.store.all().clock == clock)
        #expect(try opened.store.revisions() == (steps == 0 ? Array(1...30) : []))
        #expect(try scratch.names("pickersync.db.building").isEmpty)
        #expect(try scratch.names("pickersync.db.new").isEmpty)
        try opened.store.close()
    }

    @Test("the number of failed files that are kept is bounded")
    func bounded() throws {
        let scratch = try Scratch()
        let store = try filled(scratch)
        let image = try store.all()
        for round in 1...6 as ClosedRange<UInt32> {
            #expect(try store.rebuild(image).epoch == round + 1)
            try store.edit(31 + UInt64(round), form: 1)
        }
        let kept = try scratch.names("pickersync.db.failed").filter { !$0.hasSuffix("-wal") }
        #expect(kept.count == 2)
        try store.close()
    }

    @Test("a rebuild without space does not change the store, and is tried again")
    func noRoom() throws {
        let scratch = try Scratch()
        let store = try scratch.open { $0.vfs = FaultyFileSystem.register() }.store
        try store.put(.putForm(.sample()))
        try store.edit(1)
        let image = try store.all()
        let before = store.replica
        let directory = try POSIX.resolve(scratch.path)
        let stamp = "20261121T000000.000Z"
        for suffix in [".failed-\(stamp)", ".failed-\(stamp)-wal", ".damaged-\(stamp)"] {
            try scratch.write(store.path + suffix, [1])
        }
        FaultyFileSystem.plan(FaultPlan(directory: directory, suffix: ".building", writes: 2))
        #expect(throws: StoreError.self) { try store.rebuild(image) }
        FaultyFileSystem.heal(directory)
        #expect(try scratch.names("pickersync.db.building").isEmpty)
        #expect(try scratch.names("pickersync.db.failed").isEmpty, "their space is needed")
        #expect(try scratch.names("pickersync.db.damaged").count == 1)
        #expect(store.replica == before)
        #expect(try store.revisions() == [1])
        let after = try store.rebuild(image)
        #expect(after == before.nextEpoch)
        #expect(try store.revisions() == [1])
        try store.close()
    }

    @Test("what forms have under way is that of the image", arguments: [false, true])
    func ongoing(overwrites: Bool) throws {
        func row(_ form: FormKey, _ id: String) -> OngoingRow {
            OngoingRow(form: form, name: OngoingName(kind: "run", id: id), state: [1])
        }
        let scratch = try Scratch()
        let store = try scratch.open().store
        try store.put(
            .putForm(.sample(1)), .putForm(.sample(2)), .putOngoing(row(1, "a")),
            .putOngoing(row(2, "a")))
        var image = try store.all()
        image.forms.removeLast()
        image.ongoing = [row(1, "b")]
        // A store whose disk was full is overwritten; otherwise it gets a new file.
        store.isDiskFull = overwrites
        _ = try store.rebuild(image)
        #expect(try store.all() == image)
        try store.close()
    }

    @Test("a failed file that is put back is a restore")
    func failedPutBack() throws {
        let scratch = try Scratch()
        let store = try filled(scratch)
        let image = try store.all()
        _ = try store.rebuild(image)
        try store.close()
        let failed = try scratch.names("pickersync.db.failed").filter { !$0.hasSuffix("-wal") }
        try FileManager.default.removeItem(atPath: scratch.database)
        for suffix in ["", "-wal"] {
            try FileManager.default.moveItem(
                atPath: scratch.path + "/" + failed[0] + suffix, toPath: scratch.database + suffix)
        }
        let opened = try scratch.open()
        #expect(opened.opening.replicaChange == .restored)
        #expect(try opened.store.revisions() == Array(1...30))
        try opened.store.close()
    }

    @Test(
        "a rebuild that stopped half-way is tried again, with the history of the first try",
        arguments: [false, true])
    func halfWay(movedAside: Bool) throws {
        let scratch = try Scratch()
        let store = try filled(scratch)
        var image = try store.all()
        image.revisions = []
        let builder = Builder(files: store.files, options: StoreOptions(), schema: .current)
        let source = try store.readable()
        _ = try builder.build(image, historyFrom: source) { file throws(StoreError) in
            try Meta(newIn: file, generation: 2, everyEditDurable: true)
        }
        try store.files.adoptBuilding()
        source.close(checkpointing: false)
        if movedAside { try POSIX.move(store.files.database, to: store.files.database + ".x") }
        store.databaseState = .closed
        #expect(throws: StoreError.closed(file: store.path)) { try store.edit(31) }
        let before = store.replica
        #expect(try store.rebuild(image) == before.nextEpoch)
        #expect(try store.revisions() == Array(1...30))
        #expect(try scratch.names("pickersync.db.new").isEmpty)
        try store.edit(31)
        try store.close()
        #expect(try scratch.open().opening.replicaChange == nil)
    }
}
