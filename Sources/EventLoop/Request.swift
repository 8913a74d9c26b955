// Requests in progress on a pipe: a write and a shutdown.
//
//     new --retainedByLibrary--> under way --callback--> done
//                                under way --refused---> done
//
// Invariants: while a request is in progress libuv holds it, and it holds the bytes; its completion
// is called once by the callback, and never if libuv refused the request.

internal import CUV

/// What both kinds share: memory that stays in place, and a completion.
@safe class Request {
    private enum Phase { case new, underWay, done }

    private let storage: UnsafeMutableRawPointer
    private var phase = Phase.new
    private var completion: ((UVError?) -> Void)?

    fileprivate init(storage: UnsafeMutableRawPointer, completion: ((UVError?) -> Void)?) {
        unsafe self.storage = storage
        self.completion = completion
    }

    deinit {
        precondition(phase != .underWay, "libuv holds a request until its callback")
        unsafe storage.deallocate()
    }

    fileprivate func began() -> UnsafeMutableRawPointer {
        precondition(phase == .new, "a request is made once")
        phase = .underWay
        return unsafe Unmanaged.passRetained(self).toOpaque()
    }

    /// libuv did not accept the request, so there will be no callback.
    final func refused() {
        precondition(phase == .underWay, "only a request that was made is refused")
        phase = .done
        unsafe Unmanaged.passUnretained(self).release()
    }

    fileprivate final func ended(_ status: CInt, _ operation: String) {
        precondition(phase == .underWay, "a request ends once")
        phase = .done
        let completion = self.completion
        self.completion = nil
        completion?(status == 0 ? nil : UVError(status: status, operation))
    }
}

/// One `uv_write_t` and the owners of its bytes.
@safe final class WriteRequest: Request {
    private let request: UnsafeMutablePointer<uv_write_t>
    /// Freed with this object, after the completion.
    private let segments: [WriteSegment]

    init(segments: [WriteSegment], completion: ((UVError?) -> Void)?) {
        unsafe request = .allocate(capacity: 1)
        unsafe request.initialize(to: uv_write_t())
        self.segments = segments
        unsafe super.init(storage: UnsafeMutableRawPointer(request), completion: completion)
    }

    func retainedByLibrary() -> UnsafeMutablePointer<uv_write_t> {
        unsafe request.pointee.data = began()
        return unsafe request
    }
}

/// One `uv_shutdown_t`.
@safe final class ShutdownRequest: Request {
    private let request: UnsafeMutablePointer<uv_shutdown_t>

    init(completion: ((UVError?) -> Void)?) {
        unsafe request = .allocate(capacity: 1)
        unsafe request.initialize(to: uv_shutdown_t())
        unsafe super.init(storage: UnsafeMutableRawPointer(request), completion: completion)
    }

    func retainedByLibrary() -> UnsafeMutablePointer<uv_shutdown_t> {
        unsafe request.pointee.data = began()
        return unsafe request
    }
}

func writeEnded(_ raw: UnsafeMutablePointer<uv_write_t>?, _ status: CInt) {
    guard let data = unsafe raw?.pointee.data else { return }
    unsafe Unmanaged<Request>.fromOpaque(data).takeRetainedValue().ended(status, "write")
}

func shutdownEnded(_ raw: UnsafeMutablePointer<uv_shutdown_t>?, _ status: CInt) {
    guard let data = unsafe raw?.pointee.data else { return }
    unsafe Unmanaged<Request>.fromOpaque(data).takeRetainedValue().ended(status, "shutdown")
}
