import CSQLite
import Foundation
import SyncCore
import TestKit
import Testing

@testable import Store

@Suite("The files of the state directory")
struct FileTests {
    /// A clean store of twenty revisions.
    private func filled() throws -> Scratch {
        let scratch = try Scratch()
        let store = try scratch.open().store
        try store.put(.putForm(.sample()))
        for revision in 1...60 as ClosedRange<UInt64> { try store.edit(revision, bytes: 900) }
        try store.close()
        return scratch
    }

    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.posixPermissions] as? Int) ?? -1
    }

    private func refusal(_ scratch: Scratch) throws -> StoreError {
        try #require(throws: StoreError.self) { try scratch.open() }
    }

    @Test("only the daemon's user can access directory and files, whatever the umask")
    func modes() throws {
        let scratch = try Scratch()
        let inner = scratch.path + "/state"
        let store = try Store.open(directory: inner).store
        try store.put(.putForm(.sample()))
        #expect(try mode(inner) == 0o700)
        for name in try FileManager.default.contentsOfDirectory(atPath: inner) {
            #expect(try mode(inner + "/" + name) == 0o600, "\(name)")
        }
        try store.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: inner).sorted()
        #expect(names == ["lock", "pickersync.db"])
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o644], ofItemAtPath: inner + "/pickersync.db")
        try Store.open(directory: inner).store.close()
        #expect(try mode(inner + "/pickersync.db") == 0o600)
    }

    @Test("a second daemon is told who uses the store, and opens it when it is free")
    func locked() throws {
        let scratch = try Scratch()
        let store = try scratch.open().store
        let refusal = try refusal(scratch)
        guard case .locked(_, let pid) = refusal else {
            Issue.record("not locked: \(refusal)")
            return
        }
        #expect(pid == getpid())
        #expect(refusal.exitStatus == 75)
        try store.close()
        try scratch.open().store.close()
    }

    @Test("without its lock file, SQLite's own lock still refuses a second daemon")
    func lockRemoved() throws {
        let scratch = try Scratch()
        let store = try scratch.open().store
        try store.put(.putForm(.sample()))
        try FileManager.default.removeItem(atPath: scratch.path + "/lock")
        guard case .locked = try refusal(scratch) else {
            Issue.record("two daemons have the store")
            return
        }
        try store.edit(1)
        try store.close()
    }

    @Test("a symbolic link in place of a file is refused", arguments: ["pickersync.db", "lock"])
    func links(name: String) throws {
        let scratch = try filled()
        let elsewhere = try Scratch()
        let path = scratch.path + "/" + name
        try scratch.copy(name, to: elsewhere)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(
            atPath: path, withDestinationPath: elsewhere.path + "/" + name)
        guard case .unsafe = try refusal(scratch) else {
            Issue.record("followed a link")
            return
        }
    }

    @Test("a linked state directory is followed, as systemd's DynamicUser makes one")
    func linkedDirectory() throws {
        let scratch = try filled()
        let other = try Scratch()
        let link = other.path + "/state"
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: scratch.path)
        let opened = try Store.open(directory: link)
        #expect(opened.opening.condition == .clean && opened.opening.replicaChange == nil)
        try opened.store.close()
    }

    @Test("files that others may write are refused", arguments: ["", "/pickersync.db", "/lock"])
    func writableByOthers(name: String) throws {
        let scratch = try filled()
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o722], ofItemAtPath: scratch.path + name)
        guard case .unsafe = try refusal(scratch) else {
            Issue.record("took it")
            return
        }
    }

    @Test("files of another user are refused", .enabled(if: geteuid() == 0))
    func foreignOwner() throws {
        let scratch = try filled()
        try FileManager.default.setAttributes(
            [.ownerAccountID: 4242], ofItemAtPath: scratch.database)
        guard case .unsafe = try refusal(scratch) else {
            Issue.record("took it")
            return
        }
    }

    @Test("a directory that cannot be created is an error that names it")
    func noDirectory() throws {
        let scratch = try Scratch()
        try scratch.write(scratch.path + "/file", [1])
        for path in ["/file", "/file/state", "/none/state"] {
            let error = try #require(throws: StoreError.self) {
                try Store.open(directory: scratch.path + path)
            }
            #expect(error.description.hasPrefix(scratch.path + path))
        }
    }

    @Test(
        "a damaged file is refused and not changed, and preserved once",
        arguments: ["empty", "cut", "header", "middle", "text"])
    func damaged(how: String) throws {
        let scratch = try filled()
        // So that the whole file is checked.
        try scratch.open().store.close(clean: false)
        let store = try scratch.open().store
        try store.maintainAll()
        try store.close(clean: false)
        try? FileManager.default.removeItem(atPath: scratch.wal)
        var bytes = try scratch.bytes(scratch.database)
        switch how {
        case "empty": bytes = []
        case "cut": bytes.removeLast(bytes.count / 2)
        case "header": for index in 0..<16 { bytes[index] = 0xff }
        case "text": bytes = Array("this is no database, but long enough to be one".utf8)
        default:
            for index in stride(from: 4096 * 3, to: bytes.count - 4096, by: 4096) {
                for offset in 0..<64 { bytes[index + offset] = 0xa5 }
            }
        }
        try scratch.overwrite(scratch.database, with: bytes)
        for _ in 0..<3 {
            let refusal = try refusal(scratch)
            guard case .damaged(let file, let finding, let copy) = refusal else {
                Issue.record("\(how): \(refusal)")
                return
            }
            #expect(file == (try POSIX.resolve(scratch.database)))
            #expect(!finding.isEmpty)
            #expect(refusal.description.contains("restore a backup"))
            #expect(try scratch.bytes(scratch.database) == bytes)
            if let copy { #expect(try scratch.bytes(copy) == bytes) }
            let copies = try scratch.names("pickersync.db.damaged")
            #expect(copies.count == (copy == nil ? 0 : 1))
            #expect((copy == nil) == (how == "empty"))
        }
    }

    @Test("damage after a clean stop is found when the rows are read")
    func damagedLater() throws {
        let scratch = try filled()
        var bytes = try scratch.bytes(scratch.database)
        for index in 4096 * 3..<bytes.count { bytes[index] = 0xa5 }
        try scratch.overwrite(scratch.database, with: bytes)
        let error = try #require(throws: StoreError.self) {
            _ = try scratch.open().store.all()
        }
        guard case .damaged(_, _, .some) = error else {
            Issue.record("\(error)")
            return
        }
    }

    @Test(
        "random bytes in place of the file never crash and never start empty",
        arguments: 0..<30 as Range<UInt64>)
    func randomDamage(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let scratch = try filled()
        try scratch.open().store.close(clean: false)
        var bytes = try scratch.bytes(scratch.database)
        for _ in 0..<Int.random(in: 1...300, using: &random) {
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(
                in: 0...255, using: &random)
        }
        try scratch.overwrite(scratch.database, with: bytes)
        do {
            let opened = try scratch.open()
            #expect(opened.opening.condition != .created)
            _ = try opened.store.all()
            try opened.store.edit(1_000)
            try opened.store.close()
        } catch is StoreError {
            // Every finding is one of the enumeration.
        }
    }

    @Test("another program's database is refused and not touched")
    func foreign() throws {
        let scratch = try filled()
        var bytes = try scratch.bytes(scratch.database)
        // Application id: bytes 68 to 71 of the header.
        bytes.replaceSubrange(68..<72, with: [0, 0, 0, 42])
        try scratch.overwrite(scratch.database, with: bytes)
        guard case .foreign(_, let finding) = try refusal(scratch) else {
            Issue.record("took it")
            return
        }
        #expect(finding.contains("0x2a"))
        #expect(try scratch.bytes(scratch.database) == bytes)
        #expect(try scratch.names() == ["lock", "pickersync.db"])
    }
}

extension Store {
    /// Maintains until nothing is due, and moves the log into the file.
    func maintainAll() throws(StoreError) {
        try exclusively { () throws(StoreError) in try writable().checkpoint() }
        while maintenanceDue { try maintain() }
    }
}
