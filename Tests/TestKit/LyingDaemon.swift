import Foundation

/// A program that listens where a daemon would and says what a test tells it to.
public final class LyingDaemon: @unchecked Sendable {
    /// The daemon's end of one connection, used by the thread of that connection alone.
    public final class Peer {
        private let stream: FrameStream

        fileprivate init(_ stream: FrameStream) { self.stream = stream }

        /// The next request; `nil` when the client is gone.
        public func request() -> Object? {
            guard let body = try? stream.next() else { return nil }
            return try? JSONSerialization.jsonObject(with: body) as? Object
        }

        /// Sends bytes as they are.
        ///
        /// - Returns: `false` when the client is gone.
        @discardableResult
        public func send(raw bytes: [UInt8]) -> Bool { stream.send(bytes) }

        /// Sends a text as one frame.
        @discardableResult
        public func send(_ text: String) -> Bool { send(raw: FrameStream.frame(Data(text.utf8))) }

        /// Answers a request with a result that is JSON text.
        @discardableResult
        public func answer(_ request: Object, _ result: String) -> Bool {
            send(#"{"jsonrpc":"2.0","id":\#(request["id"] ?? "null"),"result":\#(result)}"#)
        }

        /// Waits until the client is gone.
        public func wait() { while request() != nil {} }
    }

    // Threads that accept use the descriptor after `init`, and `stop` shuts it down.
    private let socket: ListeningSocket

    /// Listens on `path`, and runs `behave` for each connection on a thread of its own.
    public init(_ path: String, _ behave: @escaping @Sendable (Peer) -> Void) throws {
        unlink(path)
        socket = try ListeningSocket(path)
        let listening = socket.descriptor
        Thread.detachNewThread {
            while true {
                let connection = accept(listening, nil, nil)
                guard connection >= 0 else { return }
                Thread.detachNewThread { behave(Peer(FrameStream(owning: connection))) }
            }
        }
    }

    deinit { stop() }

    /// Accepts no more.
    public func stop() {
        guard socket.descriptor >= 0 else { return }
        shutdown(socket.descriptor, Int32(SHUT_RDWR))
        socket.closeSocket()
    }
}
