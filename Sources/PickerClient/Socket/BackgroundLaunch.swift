// Starts the user's own daemon on another thread, so that the caller can wait for other events too.

internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// A start that is in progress. Its descriptor becomes readable when `result` is there.
final class BackgroundLaunch: Sendable {
    private let ended = Mutex<Result<Int32, LaunchError>?>(nil)
    private let reading: Int32
    private let writing: Int32

    /// Starts; `nil` if no descriptor or thread is available.
    init?(place: UserDaemonPlace, deadline: UInt64) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, streamSocketKind, 0, &ends) == 0 else { return nil }
        reading = ends[0]
        writing = ends[1]
        let begun = startThread { [weak self] in
            let result: Result<Int32, LaunchError>
            do throws(LaunchError) {
                let socket = try DaemonLauncher(place: place).connect(deadline: deadline)
                result = .success(socket.release())
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

    /// Becomes readable when the start has ended.
    var descriptor: Int32 { reading }

    /// The connected socket, now owned by the caller, or the error; `nil` while the start is in
    /// progress.
    var result: Result<Int32, LaunchError>? {
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
