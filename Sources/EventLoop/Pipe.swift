// A connection over a Unix socket.
//
// Invariants: bytes that were read are valid only during the call, since they are in the loop's
// buffer; bytes to write are retained until the completion of the write, which is called once, also
// after `close`; a read of 0 bytes means "try again", not the end of the stream.

internal import CUV

/// The delegate of a pipe. An object instead of closures, to save memory with ten thousand idle
/// connections.
public protocol PipeReader: AnyObject {
    /// Bytes from the peer, at least one, valid only during the call.
    func pipeRead(_ bytes: UnsafeRawBufferPointer)
    /// The peer has shut down its side; bytes sent to it may still arrive. Reading has stopped.
    func pipeEnded()
    /// Bytes arrived while `Pipe.gate` is closed. Reading has stopped.
    func pipeHeldBack()
    /// The connection failed; nothing more will be read. Close it.
    func pipeFailed(_ error: UVError)
}

/// A connected stream socket on the loop: `uv_pipe_t`.
@safe public final class Pipe: Handle {
    private var isReading = false
    /// While it is closed, received bytes stay in the kernel, and `pipeHeldBack` is called instead.
    public var gate: ReadGate?
    /// Receives all events until the pipe is closed.
    public var reader: (any PipeReader)?

    /// Takes over a connected stream socket, or one end of a pipe, and makes it non-blocking.
    ///
    /// The descriptor is closed with the pipe, or at once when this throws.
    /// Calls `uv_pipe_init` and `uv_pipe_open`.
    public init(loop: Loop, adopting descriptor: consuming OwnedDescriptor) throws(UVError) {
        let pipe = UnsafeMutablePointer<uv_pipe_t>.allocate(capacity: 1)
        unsafe pipe.initialize(to: uv_pipe_t())
        unsafe super.init(loop: loop, storage: UnsafeMutableRawPointer(pipe))
        let initialised = unsafe uv_pipe_init(loop.raw, pipe, 0)
        precondition(initialised == 0, "uv_pipe_init does not fail")
        activate()
        let opened = unsafe uv_pipe_open(pipe, descriptor.rawValue)
        guard opened == 0 else {
            // Libuv holds this object until the close callback, so it outlives the failed init.
            close()
            throw UVError(status: opened, "uv_pipe_open")
        }
        _ = descriptor.relinquish()
    }

    private var stream: UnsafeMutablePointer<uv_stream_t> {
        unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: uv_stream_t.self)
    }

    override func dropCallbacks() {
        reader = nil
    }

    // MARK: Reading

    /// Starts reading; has no effect if reading has already started: `uv_read_start`.
    public func readStart() throws(UVError) {
        guard phase == .active else { throw UVError(code: .canceled, operation: "uv_read_start") }
        guard !isReading else { return }
        let status = unsafe uv_read_start(stream, lendReadBuffer, bytesArrived)
        guard status == 0 else { throw UVError(status: status, "uv_read_start") }
        isReading = true
    }

    /// Stops reading until `readStart`, so that the kernel slows down the peer: `uv_read_stop`.
    public func readStop() {
        guard phase == .active, isReading else { return }
        isReading = false
        unsafe uv_read_stop(stream)
    }

    fileprivate func received(_ count: Int, _ buffer: UnsafePointer<uv_buf_t>?) {
        guard phase == .active, count != 0 else { return }
        if count > 0 {
            guard let base = unsafe buffer?.pointee.base else { return }
            unsafe reader?.pipeRead(UnsafeRawBufferPointer(start: base, count: count))
            return
        }
        readStop()
        if count == Int(UV_ENOBUFS.rawValue), gate?.isClosed ?? false {
            reader?.pipeHeldBack()
        } else if count == Int(UV_EOF.rawValue) {
            reader?.pipeEnded()
        } else {
            reader?.pipeFailed(UVError(status: CInt(count), "read"))
        }
    }

    // MARK: Writing

    /// Writes what the kernel accepts at once, and never queues: `uv_try_write`.
    /// - Returns: how many bytes were taken, from the front; 0 if the peer has to read first or a
    ///   `write` is in progress.
    public func tryWrite(_ segments: [WriteSegment]) throws(UVError) -> Int {
        guard phase == .active else { throw UVError(code: .canceled, operation: "uv_try_write") }
        guard segments.contains(where: { $0.count > 0 }) else { return 0 }
        let status = unsafe withBuffers(segments) { unsafe uv_try_write(stream, $0, $1) }
        if status == UV_EAGAIN.rawValue { return 0 }
        guard status >= 0 else { throw UVError(status: status, "uv_try_write") }
        return Int(status)
    }

    /// Writes bytes that are valid only during the call, as `tryWrite` of segments does.
    public func tryWrite(_ bytes: UnsafeRawBufferPointer) throws(UVError) -> Int {
        guard phase == .active else { throw UVError(code: .canceled, operation: "uv_try_write") }
        guard let base = bytes.baseAddress, bytes.count > 0 else { return 0 }
        // The C struct is not const-correct; libuv only reads.
        var buffer = unsafe uv_buf_t(
            base: UnsafeMutableRawPointer(mutating: base).assumingMemoryBound(to: CChar.self),
            len: bytes.count)
        let status = unsafe uv_try_write(stream, &buffer, 1)
        if status == UV_EAGAIN.rawValue { return 0 }
        guard status >= 0 else { throw UVError(status: status, "uv_try_write") }
        return Int(status)
    }

    /// Writes all bytes, after those of earlier calls, and retains their owners until then:
    /// `uv_write`.
    /// - Parameter completion: called once, in a later iteration: with nil when the kernel has
    ///   taken everything, with `ECANCELED` when the pipe was closed first. Never called if this
    ///   throws.
    public func write(
        _ segments: [WriteSegment], completion: ((UVError?) -> Void)? = nil
    ) throws(UVError) {
        guard phase == .active else { throw UVError(code: .canceled, operation: "uv_write") }
        let request = WriteRequest(segments: segments, completion: completion)
        let raw = unsafe request.retainedByLibrary()
        let status = unsafe withBuffers(segments) {
            unsafe uv_write(raw, stream, $0, $1, writeEnded)
        }
        guard status == 0 else {
            request.refused()
            throw UVError(status: status, "uv_write")
        }
    }

    /// Writes bytes that have no owner; they are copied once.
    public func write(
        _ bytes: [UInt8], completion: ((UVError?) -> Void)? = nil
    ) throws(UVError) {
        try write([SharedBytes(bytes).segment], completion: completion)
    }

    /// Bytes of `write` that the kernel has not taken: `uv_stream_get_write_queue_size`.
    public var unwrittenBytes: Int {
        phase == .active ? unsafe uv_stream_get_write_queue_size(stream) : 0
    }

    /// Shuts down our side after everything queued is written; the peer may still send:
    /// `uv_shutdown`.
    /// - Parameter completion: called once, in a later iteration, as that of `write`.
    public func shutdown(completion: ((UVError?) -> Void)? = nil) throws(UVError) {
        guard phase == .active else { throw UVError(code: .canceled, operation: "uv_shutdown") }
        let request = ShutdownRequest(completion: completion)
        let raw = unsafe request.retainedByLibrary()
        let status = unsafe uv_shutdown(raw, stream, shutdownEnded)
        guard status == 0 else {
            request.refused()
            throw UVError(status: status, "uv_shutdown")
        }
    }

    /// The list as libuv wants it, for the duration of the call: libuv copies it.
    private func withBuffers(
        _ segments: [WriteSegment], _ body: (UnsafeMutablePointer<uv_buf_t>?, CUnsignedInt) -> CInt
    ) -> CInt {
        unsafe withUnsafeTemporaryAllocation(of: uv_buf_t.self, capacity: segments.count) { list in
            for (index, segment) in segments.enumerated() {
                let base = unsafe UnsafeMutableRawPointer(mutating: segment.base)
                unsafe list.initializeElement(
                    at: index,
                    to: uv_buf_t(
                        base: base.assumingMemoryBound(to: CChar.self), len: segment.count))
            }
            return unsafe body(list.baseAddress, CUnsignedInt(segments.count))
        }
    }
}

/// Controls whether pipes are read: one gate for all pipes of one user.
public final class ReadGate {
    public var isClosed = false
    /// Bytes that one read may deliver.
    public var bytesMax = Int.max
    /// When the last read began (`Loop.hrtimeNanoseconds`), while `bytesMax` is set: what the read
    /// itself took can then be charged to its sender.
    public fileprivate(set) var readBegan: UInt64 = 0

    /// A gate that is open.
    public init() {}
}

private func lendReadBuffer(
    _ raw: UnsafeMutablePointer<uv_handle_t>?, _: Int, _ buffer: UnsafeMutablePointer<uv_buf_t>?
) {
    guard let data = unsafe raw?.pointee.data, let buffer = unsafe buffer else { return }
    let pipe = unsafe Unmanaged<Pipe>.fromOpaque(data).takeUnretainedValue()
    if let gate = pipe.gate, gate.bytesMax < .max { gate.readBegan = Loop.hrtimeNanoseconds }
    // No buffer: libuv reads nothing and says UV_ENOBUFS (uv_alloc_cb).
    if let gate = pipe.gate, gate.isClosed {
        unsafe buffer.pointee = uv_buf_t(base: nil, len: 0)
        return
    }
    let lent = unsafe pipe.loop.readBuffer
    unsafe buffer.pointee.base = lent.baseAddress?.assumingMemoryBound(to: CChar.self)
    unsafe buffer.pointee.len = min(lent.count, pipe.gate?.bytesMax ?? .max)
}

private func bytesArrived(
    _ raw: UnsafeMutablePointer<uv_stream_t>?, _ count: Int, _ buffer: UnsafePointer<uv_buf_t>?
) {
    guard let data = unsafe raw?.pointee.data else { return }
    unsafe Unmanaged<Pipe>.fromOpaque(data).takeUnretainedValue().received(count, buffer)
}
