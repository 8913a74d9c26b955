// The sizes of libuv's structs as Swift imported them and as the linked library knows them.

internal import CUV

/// The size of one kind of handle or request on both sides.
///
/// They differ when the library that is loaded is not the one whose header was compiled against;
/// every allocation of this module would then be of the wrong size.
struct HandleLayout {
    let name: String
    let libraryBytes: Int
    let importedBytes: Int

    static var all: [HandleLayout] {
        unsafe [
            handle("uv_async_t", UV_ASYNC, uv_async_t.self),
            handle("uv_pipe_t", UV_NAMED_PIPE, uv_pipe_t.self),
            handle("uv_poll_t", UV_POLL, uv_poll_t.self),
            handle("uv_prepare_t", UV_PREPARE, uv_prepare_t.self),
            handle("uv_signal_t", UV_SIGNAL, uv_signal_t.self),
            handle("uv_timer_t", UV_TIMER, uv_timer_t.self),
            request("uv_shutdown_t", UV_SHUTDOWN, uv_shutdown_t.self),
            request("uv_work_t", UV_WORK, uv_work_t.self),
            request("uv_write_t", UV_WRITE, uv_write_t.self),
            HandleLayout(
                name: "uv_loop_t", libraryBytes: uv_loop_size(),
                importedBytes: MemoryLayout<uv_loop_t>.size),
        ]
    }

    private static func handle<Raw>(
        _ name: String, _ type: uv_handle_type, _: Raw.Type
    ) -> HandleLayout {
        HandleLayout(
            name: name, libraryBytes: uv_handle_size(type), importedBytes: MemoryLayout<Raw>.size)
    }

    private static func request<Raw>(
        _ name: String, _ type: uv_req_type, _: Raw.Type
    ) -> HandleLayout {
        HandleLayout(
            name: name, libraryBytes: uv_req_size(type), importedBytes: MemoryLayout<Raw>.size)
    }
}
