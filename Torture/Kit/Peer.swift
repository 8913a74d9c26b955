/// A raw connection, so that a client cannot hide errors: frames out, frames in, each checked as it
/// arrives.

import Glibc
import PickerClient
public import SyncCore

/// One connection.
public final class Peer {
    private let socket: StreamSocket
    private var decoder = FrameDecoder(frameBytesMax: 64 << 20)
    private var unsent: [UInt8] = []
    private var received: [[UInt8]] = []
    private var lastID: Int64 = 0
    /// The other side has closed the connection.
    public private(set) var isClosed = false

    /// Connects at once; `nil` where nobody listens.
    public init?(connecting path: String) {
        guard
            let socket = try? StreamSocket.connect(
                path: path, deadline: monotonicNanoseconds() + 5_000_000_000)
        else { return nil }
        self.socket = socket
    }

    /// For poll(2).
    public var descriptor: Int32 { socket.number }
    /// Whether bytes wait to be sent.
    public var wantsToWrite: Bool { !unsent.isEmpty }

    /// A new number for a request.
    public func nextID() -> Int64 {
        lastID += 1
        return lastID
    }

    /// Queues a request.
    public func send(_ method: String, _ params: JSON, id: Int64) {
        var text = Array(#"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":"#.utf8)
        params.encode(into: &text)
        text.append(UInt8(ascii: "}"))
        unsent += Frame.encode(text: text)
    }

    /// Queues bytes.
    public func send(raw bytes: [UInt8]) { unsent += bytes }

    /// Sends as much as possible.
    public func flush() {
        var rest = unsent[...]
        while !rest.isEmpty, !isClosed {
            switch socket.send(rest) {
            case .bytes(let count): rest = rest.dropFirst(count)
            case .wouldBlock:
                unsent = Array(rest)
                return
            case .closed:
                // The last bytes from the other side can still be read.
                unsent = []
                return
            }
        }
        unsent = []
    }

    /// Receives frames; returns their JSON text.
    public func takeFrames() -> [[UInt8]] {
        while !isClosed {
            switch socket.receive() {
            case .bytes(let bytes): received += decoder.feed(bytes).frames
            case .wouldBlock:
                defer { received = [] }
                return received
            case .closed: isClosed = true
            }
        }
        defer { received = [] }
        return received
    }

    /// Sends a request and waits for its response with `result` or `error`; `nil` if the connection
    /// ended.
    ///
    /// Notifications in between are ignored: for connections that watch nothing.
    public func ask(
        _ method: String, _ params: JSON, seconds: Double = 30
    ) throws -> JSON? {
        let id = nextID()
        send(method, params, id: id)
        let deadline = monotonicNanoseconds() + UInt64(seconds * 1e9)
        while monotonicNanoseconds() < deadline {
            flush()
            for frame in takeFrames() {
                let message = try JSON(parsing: frame)
                if message["id"]?.integerValue == id { return message }
            }
            if isClosed { return nil }
            var entry = pollfd(
                fd: descriptor, events: Int16(wantsToWrite ? POLLIN | POLLOUT : POLLIN), revents: 0)
            poll(&entry, 1, 100)
        }
        throw Trouble("no answer to \(method) in \(seconds) s")
    }

    /// Sends a request and returns its result; an error throws.
    @discardableResult
    public func result(_ method: String, _ params: JSON) throws -> JSON {
        guard let answer = try ask(method, params) else {
            throw Trouble("the connection went before the answer to \(method)")
        }
        guard let result = answer["result"] else {
            throw Trouble("\(method) was refused: \(answer.encodedText)")
        }
        return result
    }
}

/// Clients that are served together by one thread.
public protocol Served: AnyObject {
    /// Its connection, while there is one.
    var peer: Peer? { get }
    /// Data has arrived, or the connection has ended: `peer` tells which.
    func received()
}

/// Serves clients with input: one poll(2).
public func serve(_ clients: [any Served], milliseconds: Int32) {
    var entries: [pollfd] = []
    var owners: [any Served] = []
    for client in clients {
        guard let peer = client.peer else { continue }
        peer.flush()
        let events = peer.wantsToWrite ? POLLIN | POLLOUT : POLLIN
        entries.append(pollfd(fd: peer.descriptor, events: Int16(events), revents: 0))
        owners.append(client)
    }
    guard !entries.isEmpty else {
        usleep(UInt32(max(0, milliseconds)) * 1000)
        return
    }
    guard poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return }
    for (index, entry) in entries.enumerated() where entry.revents != 0 {
        owners[index].received()
    }
}
