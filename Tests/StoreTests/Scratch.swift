/// A state directory for one test, and rows to put into it.

import Foundation
import SyncCore
import TestKit

@testable import Store

/// A directory that is removed with the test.
final class Scratch {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    var path: String { folder.path }

    var database: String { path + "/pickersync.db" }
    var wal: String { database + "-wal" }

    func names(_ prefix: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix(prefix) }
            .sorted()
    }

    func bytes(_ file: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
    }

    /// Overwrites a file with the same inode.
    func overwrite(_ file: String, with bytes: [UInt8]) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
        defer { try? handle.close() }
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(bytes))
    }

    /// Replaces a file.
    func write(_ file: String, _ bytes: [UInt8], mode: Int = 0o600) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    }

    func copy(_ name: String, to other: Scratch) throws {
        try other.write(other.path + "/" + name, bytes(path + "/" + name))
    }

    func open(_ change: (inout StoreOptions) -> Void = { _ in }) throws -> (
        store: Store, opening: Opening
    ) {
        var options = StoreOptions()
        change(&options)
        return try Store.open(directory: path, options: options)
    }
}

extension FormRow {
    static func sample(_ key: FormKey = 1, name: String? = nil, revision: UInt64 = 0) -> FormRow {
        FormRow(
            key: key, name: name ?? "form-\(key)", log: "log-\(key)", owner: 1000, version: 1,
            revision: revision, definition: Array("{\"form\":\(key)}".utf8), applied: [0x7b, 0x7d],
            context: [])
    }
}

extension RevisionRow {
    static func sample(
        _ revision: UInt64, form: FormKey = 1, at: Int64? = nil, bytes: Int = 100,
        uid: UInt32? = nil, undoes: UInt64? = nil, isPartialUndo: Bool = false
    ) -> RevisionRow {
        RevisionRow(
            form: form, revision: revision, at: at ?? Int64(revision),
            frame: Array(repeating: UInt8(truncatingIfNeeded: revision), count: bytes),
            record: Array("{\"by\":1000}".utf8), uid: uid, undoes: undoes,
            isPartialUndo: isPartialUndo)
    }
}

extension KeyRow {
    static func sample(_ key: String, uid: UInt32 = 1000, at: Int64 = 1) -> KeyRow {
        KeyRow(uid: uid, key: key, at: at, digest: .max - 1, result: Array("{}".utf8))
    }
}

extension Store {
    /// Commits the given steps as one batch; no form may fail.
    func put(_ operations: StoreOperation...) throws(StoreError) { try put(operations) }

    func put(_ operations: [StoreOperation]) throws(StoreError) {
        for failure in try commit(Batch(number: 1, operations: operations)) {
            throw .failed(file: path, reason: failure.reason)
        }
    }

    /// Commits the steps of one edit of a form.
    func edit(_ revision: UInt64, form: FormKey = 1, bytes: Int = 100) throws(StoreError) {
        try put(
            .putHead(form: form, revision: revision, context: [UInt8(revision & 0xff)]),
            .putField(FieldRow(form: form, field: "flavor", state: [UInt8(revision & 0xff)])),
            .appendRevision(.sample(revision, form: form, bytes: bytes)),
            .putKey(.sample("key-\(form)-\(revision)", at: Int64(revision))),
            .putClock([UInt8(revision & 0xff)]))
    }

    /// All rows, with history and keys.
    func all() throws(StoreError) -> StoreImage {
        var image = try loadImage { _ in .min }
        for form in image.forms {
            let query = StoreQuery.revisions(
                form: form.key, from: 0, rowsMax: .max, bytesMax: .max)
            guard case .revisions(let rows) = answer(query) else { continue }
            image.revisions += rows
        }
        return image
    }

    func revisions(form: FormKey = 1) throws(StoreError) -> [UInt64] {
        try all().revisions.filter { $0.form == form }.map(\.revision)
    }
}
