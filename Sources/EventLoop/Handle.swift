// The states of a libuv handle, the same for all kinds.
//
//     idle --init ok--> active --close()--> closing --close callback--> closed
//
// Invariants: the memory that libuv knows is one allocation that never moves; from a successful
// init to the close callback the handle retains its owner, so libuv never calls into freed memory;
// the memory is freed with the object.

internal import CUV

/// What all handles share: they belong to a loop, may keep it alive, and are closed once.
///
/// The classes below it are final, and there are no others: this is libuv's own `uv_handle_t`. A
/// handle stays alive and active until it is closed, even if nothing else references it.
@safe public class Handle {
    enum Phase { case idle, active, closing, closed }

    /// The loop that this handle belongs to.
    public let loop: Loop

    private let storage: UnsafeMutableRawPointer
    private var closeCompletions: [() -> Void] = []
    // Last, so that the small members of a subclass are next to it in memory.
    private(set) var phase = Phase.idle

    /// Takes over zeroed memory for the handle's C struct; `activate` follows a successful init.
    init(loop: Loop, storage: UnsafeMutableRawPointer) {
        self.loop = loop
        unsafe self.storage = storage
    }

    deinit {
        precondition(phase == .closed || phase == .idle, "a handle is closed before it is let go")
        unsafe storage.deallocate()
    }

    var raw: UnsafeMutablePointer<uv_handle_t> {
        unsafe storage.assumingMemoryBound(to: uv_handle_t.self)
    }

    /// libuv uses the memory from now on, so the owner is retained until the close callback.
    final func activate() {
        precondition(phase == .idle, "a handle is initialised once")
        phase = .active
        unsafe raw.pointee.data = Unmanaged.passRetained(self).toOpaque()
    }

    /// Whether `close` was called.
    public final var isClosing: Bool {
        switch phase {
        case .idle, .active: false
        case .closing, .closed: true
        }
    }

    /// Whether this handle, while it is active, keeps `Loop.run` from returning:
    /// `uv_ref`, `uv_unref`, `uv_has_ref`.
    public final var keepsLoopAlive: Bool {
        get { unsafe phase == .active && uv_has_ref(raw) != 0 }
        set {
            guard phase == .active else { return }
            if newValue { unsafe uv_ref(raw) } else { unsafe uv_unref(raw) }
        }
    }

    /// Ends the handle; calling it again is harmless.
    ///
    /// No callback of the handle is called from here on, save those that report the end of a
    /// request in progress. Calls `uv_close`.
    /// - Parameter completion: called in a later iteration, when libuv no longer uses the handle;
    ///   at once if it is already closed.
    public final func close(_ completion: (() -> Void)? = nil) {
        switch phase {
        case .idle:
            preconditionFailure("a handle that was not initialised is never handed out")
        case .active:
            phase = .closing
            if let completion { closeCompletions.append(completion) }
            unsafe uv_close(raw, handleClosed)
            closeBegan()
        case .closing:
            if let completion { closeCompletions.append(completion) }
        case .closed:
            completion?()
        }
    }

    /// For a subclass to release resources as soon as libuv no longer watches them.
    func closeBegan() {}

    /// For a subclass to drop its closures, which breaks their retain cycles with the owner.
    func dropCallbacks() {}

    fileprivate final func closed() {
        precondition(phase == .closing, "the close callback follows close, once")
        phase = .closed
        dropCallbacks()
        let completions = closeCompletions
        closeCompletions = []
        for completion in completions { completion() }
    }
}

private func handleClosed(_ raw: UnsafeMutablePointer<uv_handle_t>?) {
    guard let data = unsafe raw?.pointee.data else { return }
    // Consumes the reference of `activate`: after this call the object may be freed.
    unsafe Unmanaged<Handle>.fromOpaque(data).takeRetainedValue().closed()
}
