import Foundation
import SyncCore
import Testing

@testable import Store

/// What opening delays until the first write (`StoreOptions.finishesOpeningLater`).
@Suite("Settling")
struct SettlingTests {
    private func later(_ options: inout StoreOptions) { options.finishesOpeningLater = true }

    @Test("a new store gets its id with the first commit, and the commit is found again")
    func newStore() throws {
        let scratch = try Scratch()
        let first = try scratch.open(later)
        #expect(first.opening.condition == .created)
        #expect(try scratch.names("pickersync.db") == ["pickersync.db.building"])
        #expect(try first.store.loadImage { _ in 0 } == StoreImage())
        try first.store.put(.putForm(.sample()))
        #expect(try scratch.names("pickersync.db").contains("pickersync.db"))
        try first.store.close(clean: false)

        let second = try scratch.open(later)
        #expect(second.opening.replica == first.opening.replica)
        #expect(second.opening.condition == .unclean)
        #expect(try second.store.all().forms == [.sample()])
        try second.store.close()
    }

    @Test("upkeep settles a store without writes")
    func upkeep() throws {
        let scratch = try Scratch()
        let store = try scratch.open(later).store
        try store.maintain()
        #expect(try scratch.names("pickersync.db").contains("pickersync.db"))
        try store.close()
        let opening = try scratch.open().opening
        #expect(opening.condition == .clean && opening.replicaChange == nil)
    }

    @Test("a daemon that is killed before its first write does not change the store")
    func killedBeforeTheFirstWrite() throws {
        let scratch = try Scratch()
        let first = try scratch.open()
        try first.store.put(.putForm(.sample()))
        try first.store.close()
        let before = try scratch.bytes(scratch.database)
        let mark = try scratch.bytes(scratch.path + "/lock").drop { $0 != 0x0a }
        let second = try scratch.open(later)
        #expect(try second.store.all().forms == [.sample()])
        try second.store.close(clean: false)
        #expect(try scratch.bytes(scratch.database) == before)
        #expect(try scratch.bytes(scratch.path + "/lock").drop { $0 != 0x0a } == mark)

        let third = try scratch.open(later)
        #expect(third.opening.condition == .clean && third.opening.replicaChange == nil)
        try third.store.edit(1)
        try third.store.close(clean: false)
        let fourth = try scratch.open(later)
        #expect(fourth.opening.condition == .unclean && fourth.opening.replicaChange == nil)
        #expect(try fourth.store.revisions() == [1])
        try fourth.store.close()
    }

    @Test("a copied store is another replica at once, before it settles")
    func copied() throws {
        let (one, two) = (try Scratch(), try Scratch())
        let first = try one.open()
        try first.store.put(.putForm(.sample()))
        try first.store.close()
        try one.copy("pickersync.db", to: two)
        let copy = try two.open(later)
        #expect(copy.opening.replicaChange == .copied)
        try copy.store.close(clean: false)
        // The new replica was durable before anybody could see it.
        let again = try two.open(later)
        #expect(again.opening.replica == copy.opening.replica)
        try again.store.close()
    }

    @Test("a new key is durable before the first commit, and is the same afterwards")
    func key() throws {
        let scratch = try Scratch()
        let store = try scratch.open(later).store
        let (sealer, unkept) = try Sealer.prepare(directory: scratch.path, credentials: nil)
        store.keep(try #require(unkept))
        #expect(try scratch.names("key") == ["key.new"])
        let sealed = sealer.seal(plaintext: [1, 2, 3], associated: [4])
        try store.put(.putForm(.sample()))
        #expect(try scratch.names("key") == ["key"])
        let (again, none) = try Sealer.prepare(directory: scratch.path, credentials: nil)
        #expect(none == nil && again.open(sealed, associated: [4]) == [1, 2, 3])
        try store.close()
    }

    @Test("a new store that cannot write its id refuses the commit, and is rebuilt")
    func cannotSettle() throws {
        let scratch = try Scratch()
        let store = try scratch.open(later).store
        try FileManager.default.removeItem(atPath: scratch.database + ".building")
        #expect(throws: StoreError.self) { try store.put(.putForm(.sample())) }
        _ = try store.rebuild(StoreImage(forms: [.sample()]))
        try store.edit(1)
        try store.close()
        let opened = try scratch.open(later)
        #expect(opened.opening.condition == .clean && opened.opening.replicaChange == nil)
        #expect(try opened.store.revisions() == [1])
    }
}
