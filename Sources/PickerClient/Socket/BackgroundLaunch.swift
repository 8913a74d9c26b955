// Connects on another thread, where that takes long (a daemon is started, ssh logs in), so that the
// caller can wait for other events too.

internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// A connection that is being made. Its descriptor becomes readable when `result` is there.
package final class BackgroundLaunch: Sendable {
    private let ended = Mutex<Result<Int32, LaunchError>?>(nil)
    private let reading: Int32
    private let writing: Int32

    /// Starts; `nil` if no descriptor or thread is available.
    package init?(
        _ connect: @escaping @Sendable () throws(LaunchError) -> StreamSocket
    ) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, streamSocketKind, 0, &ends) == 0 else { return nil }
        reading = ends[0]
        writing = ends[1]
        let begun = startThread { [weak self] in
            let result: Result<Int32, LaunchError>
            do throws(LaunchError) {
                result = .success(try connect().release())
            } catch {
                result = .failure(error)
            }
            guard let self else {
                if case .success(let number) = result { _ = Descriptor(number) }
                return
            }
            ended.withLock { $0 = result }
            var byte: UInt8 = 1
            _ = send(writing, &byte, 1, Int32(MSG_NOSIGNAL))
        }
        guard begun == 0 else { return nil }
    }

    deinit {
        if case .success(let number)? = ended.withLock({ $0 }) { _ = Descriptor(number) }
        _ = Descriptor(reading)
        _ = Descriptor(writing)
    }

    /// Becomes readable when the attempt has ended.
    package var descriptor: Int32 { reading }

    /// The connected socket, now owned by the caller, or the error; `nil` while the attempt is in
    /// progress.
    package var result: Result<Int32, LaunchError>? {
        ended.withLock { ended in
            defer { ended = nil }
            return ended
        }
    }
}

/// Runs `body` on a detached thread.
///
/// - Returns: 0, or the error number that says why there is no thread.
public func startThread(_ body: @escaping @Sendable () -> Void) -> Int32 {
    final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    let box = Unmanaged.passRetained(Box(body))
    let status = createThread(
        { raw in
            guard let raw else { return nil }
            Unmanaged<Box>.fromOpaque(raw).takeRetainedValue().body()
            return nil
        }, box.toOpaque())
    if status != 0 { box.release() }
    return status
}
