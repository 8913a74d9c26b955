/// A connection spoken by hand, so that a client's own cleverness hides nothing: frames out, frames
/// in, each looked at as it came.

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
    /// The other side is gone.
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

    /// Puts a request behind what is to be sent.
    public func send(_ method: String, _ params: JSON, id: Int64) {
        var text = Array(#"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":"#.utf8)
        params.encode(into: &text)
        text.append(UInt8(ascii: "}"))
        unsent += Frame.encode(text: text)
    }

    /// Puts bytes behind what is to be sent.
    public func send(raw bytes: [UInt8]) { unsent += bytes }

    /// Sends what can be.
    public func flush() {
        var rest = unsent[...]
        while !rest.isEmpty, !isClosed {
            switch socket.send(rest) {
            case .bytes(let count): rest = rest.dropFirst(count)
            case .wouldBlock:
                unsent = Array(rest)
                return
            case .closed:
                // What was said last is still to be read.
                unsent = []
                return
            }
        }
        unsent = []
    }

    /// Takes what has come; the frames, as JSON text.
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

    /// Asks and waits: the whole answer, `result` or `error`; `nil` where the connection went.
    ///
    /// Notifications that come meanwhile are left aside: for connections that follow nothing.
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

    /// Asks, waits and takes the result; an error is trouble.
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
    /// Something came, or the connection went: `peer` says.
    func received()
}

/// Serves what has come for clients: one poll(2).
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
