// What the C libraries of Linux, glibc and musl, declare with different types.

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The type of a socket that is a stream, closed by exec(2) and non-blocking: socket(2),
/// socketpair(2).
package var streamSocketKind: Int32 {
    #if canImport(Glibc)
        Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    #else
        SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK
    #endif
}

/// A number for the thread that calls: pthread_self(3).
package func presentThread() -> UInt {
    #if canImport(Glibc)
        UInt(pthread_self())
    #else
        UInt(bitPattern: pthread_self())
    #endif
}

/// Starts a detached thread: pthread_create(3), pthread_detach(3).
///
/// - Returns: 0, or the error number that says why there is no thread.
func createThread(
    _ start: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?,
    _ argument: UnsafeMutableRawPointer
) -> Int32 {
    #if canImport(Glibc)
        var thread = pthread_t()
        let status = pthread_create(&thread, nil, start, argument)
        if status == 0 { pthread_detach(thread) }
    #else
        var thread: pthread_t?
        let status = pthread_create(&thread, nil, start, argument)
        if status == 0 { pthread_detach(thread) }
    #endif
    return status
}

// Methods of these names hide the functions inside of their types.

func connectSocket(_ number: Int32, _ address: UnsafePointer<sockaddr>, _ length: Int) -> Int32 {
    connect(number, address, socklen_t(length))
}

func sendBytes(_ number: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    send(number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
}

func readBytes(_ number: Int32, _ buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    read(number, buffer.baseAddress, buffer.count)
}

func writeBytes(_ number: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(number, bytes.baseAddress, bytes.count)
}

func pollDescriptors(_ list: inout [pollfd], _ timeout: Int32) -> Int32 {
    poll(&list, nfds_t(list.count), timeout)
}

package func closeDescriptor(_ number: Int32) { close(number) }
