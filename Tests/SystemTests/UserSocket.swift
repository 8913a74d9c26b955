import Foundation
import TestKit

// Sockets of several real users, for a test that runs as root: the kernel says who is there.

/// A listening socket that everybody may reach, as a socket unit with SocketMode=0666 has it.
func openListener(_ folder: TemporaryFolder) throws -> ListeningSocket {
    chmod(folder.path, 0o755)
    let socket = try ListeningSocket(folder("open"))
    chmod(folder("open"), 0o666)
    return socket
}

/// Whether this process may become other users; says so where it may not.
let canBeAnybody: Bool = {
    if geteuid() == 0 { return true }
    print("SKIPPED: tests with several users need root")
    return false
}()

/// Numbers of system calls: asm/unistd_64.h, asm-generic/unistd.h.
private enum SystemCalls {
    #if arch(x86_64)
        static let setgroups = 116
        static let setresuid = 117
        static let setresgid = 119
    #else
        static let setgroups = 159
        static let setresuid = 147
        static let setresgid = 149
    #endif
}

/// Runs `body` on a thread of its own whose credentials are those of another user.
///
/// The system call changes one thread (credentials(7); it is the C library that makes it all of
/// them), and the kernel keeps for each connection who it was that connected (SO_PEERCRED).
func asUser<Value: Sendable>(
    _ uid: UInt32, gid: UInt32? = nil, groups: [UInt32] = [],
    _ body: @escaping @Sendable () throws -> Value
) throws -> Value {
    // A variadic function, which takes whole registers in the calling convention of each platform.
    typealias SystemCall = @convention(c) (Int, Int, Int, Int) -> Int
    guard let symbol = dlsym(nil, "syscall") else { throw POSIXError(.ENOSYS) }
    nonisolated(unsafe) let call = unsafeBitCast(symbol, to: SystemCall.self)
    // Written by the thread and read after it has ended.
    nonisolated(unsafe) var outcome: Result<Value, any Error> = .failure(POSIXError(.EIO))
    let ended = DispatchSemaphore(value: 0)
    let thread = Thread {
        outcome = Result {
            let changed = groups.withUnsafeBufferPointer { list in
                call(Int(SystemCalls.setgroups), groups.count, Int(bitPattern: list.baseAddress), 0)
            }
            let other = Int(gid ?? uid)
            guard changed == 0, call(Int(SystemCalls.setresgid), other, other, other) == 0,
                call(Int(SystemCalls.setresuid), Int(uid), Int(uid), Int(uid)) == 0
            else { throw POSIXError(.EPERM) }
            return try body()
        }
        ended.signal()
    }
    thread.start()
    ended.wait()
    return try outcome.get()
}
