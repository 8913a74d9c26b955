/// An SQLite file system (sqlite3_vfs) whose writes and syncs fail when a test says so.
///
/// It forwards everything to the default one. Files in directories without a plan are not affected,
/// so that tests may run side by side.

import CSQLite
import Glibc
import Synchronization

/// The failures for the files of one directory.
struct FaultPlan {
    var directory: String
    /// The suffix of the affected names: `-wal`, or empty for all.
    var suffix = ""
    /// The number of syncs that succeed; `nil`: all.
    var syncs: Int?
    /// SQLITE_IOERR_FSYNC, whose macro Swift does not import.
    var syncCode = SQLITE_IOERR | (4 << 8)
    /// The errno of a sync that fails.
    var syncErrno = EIO
    /// The number of writes that succeed; `nil`: all.
    var writes: Int?
    var writeCode = SQLITE_FULL
}

enum FaultyFileSystem {
    static let name = "pickersync-faulty"

    private struct State {
        var plans: [FaultPlan] = []
        /// Names of open files and their original methods, by address.
        var files: [UInt: (name: String, methods: UInt)] = [:]
        /// Our methods for each original.
        var patched: [UInt: UInt] = [:]
        var registered = false
    }

    private static let state = Mutex(State())

    /// Registers the file system once; returns its name.
    static func register() -> String {
        state.withLock { state in
            guard !state.registered, let base = sqlite3_vfs_find(nil) else { return }
            let ours = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
            ours.initialize(to: base.pointee)
            // SQLite requires it until the process ends.
            ours.pointee.zName = UnsafePointer(strdupForever(name))
            ours.pointee.xOpen = { vfs, name, file, flags, out in
                FaultyFileSystem.open(vfs, name, file, flags, out)
            }
            state.registered = sqlite3_vfs_register(ours, 0) == SQLITE_OK
        }
        return name
    }

    /// Calls fail from now on; replaces an earlier plan of the directory.
    static func plan(_ plan: FaultPlan) {
        state.withLock { state in
            state.plans.removeAll { $0.directory == plan.directory }
            state.plans.append(plan)
        }
    }

    /// Calls succeed again.
    static func heal(_ directory: String) {
        state.withLock { $0.plans.removeAll { $0.directory == directory } }
    }

    private static func strdupForever(_ text: String) -> UnsafeMutablePointer<CChar> {
        let bytes = Array(text.utf8CString)
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        copy.initialize(from: bytes, count: bytes.count)
        return copy
    }

    private static func open(
        _ vfs: UnsafeMutablePointer<sqlite3_vfs>?, _ name: UnsafePointer<CChar>?,
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
        _ out: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard let base = sqlite3_vfs_find(nil), let file else { return SQLITE_CANTOPEN }
        let code = base.pointee.xOpen(base, name, file, flags, out)
        guard code == SQLITE_OK, let methods = file.pointee.pMethods else { return code }
        state.withLock { state in
            let path = name.map { String(cString: $0) } ?? ""
            state.files[UInt(bitPattern: file)] = (path, UInt(bitPattern: methods))
            let key = UInt(bitPattern: methods)
            if state.patched[key] == nil {
                let ours = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
                ours.initialize(to: methods.pointee)
                ours.pointee.xSync = { file, flags in FaultyFileSystem.sync(file, flags) }
                ours.pointee.xWrite = { file, bytes, count, offset in
                    FaultyFileSystem.write(file, bytes, count, offset)
                }
                ours.pointee.xClose = { file in FaultyFileSystem.close(file) }
                state.patched[key] = UInt(bitPattern: ours)
            }
            file.pointee.pMethods = UnsafePointer(bitPattern: state.patched[key]!)
        }
        return code
    }

    private static func original(
        _ file: UnsafeMutablePointer<sqlite3_file>?
    ) -> UnsafePointer<sqlite3_io_methods>? {
        state.withLock { state in
            let methods = state.files[UInt(bitPattern: file)]?.methods ?? 0
            return UnsafePointer(bitPattern: methods)
        }
    }

    /// The code with which a call fails; counts the call if it succeeds.
    private static func fault(
        _ file: UnsafeMutablePointer<sqlite3_file>?,
        _ count: WritableKeyPath<FaultPlan, Int?>, _ code: KeyPath<FaultPlan, Int32>
    ) -> Int32? {
        state.withLock { state in
            guard let name = state.files[UInt(bitPattern: file)]?.name,
                let index = state.plans.firstIndex(where: {
                    name.hasPrefix($0.directory) && name.hasSuffix($0.suffix)
                }), let left = state.plans[index][keyPath: count]
            else { return nil }
            if left == 0 { return state.plans[index][keyPath: code] }
            state.plans[index][keyPath: count] = left - 1
            return nil
        }
    }

    private static func sync(_ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32) -> Int32 {
        if let code = fault(file, \.syncs, \.syncCode) {
            errno = fault(file, \.syncs, \.syncErrno) ?? EIO
            return code
        }
        return original(file)?.pointee.xSync(file, flags) ?? SQLITE_IOERR
    }

    private static func write(
        _ file: UnsafeMutablePointer<sqlite3_file>?, _ bytes: UnsafeRawPointer?, _ count: Int32,
        _ offset: Int64
    ) -> Int32 {
        if let code = fault(file, \.writes, \.writeCode) { return code }
        return original(file)?.pointee.xWrite(file, bytes, count, offset) ?? SQLITE_IOERR
    }

    private static func close(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Int32 {
        let methods = original(file)
        state.withLock { $0.files[UInt(bitPattern: file)] = nil }
        // The default file system expects its own methods to be in place.
        file?.pointee.pMethods = methods
        return methods?.pointee.xClose(file) ?? SQLITE_OK
    }
}
