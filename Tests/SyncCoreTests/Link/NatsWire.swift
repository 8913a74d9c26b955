// The text protocol of NATS, as far as a test of the link needs it
// (docs.nats.io/reference/reference-protocols/nats-protocol).

import Foundation
import SyncCore
import TestKit

/// A connection to a server.
final class NatsWire {
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    /// What the server said went wrong.
    private(set) var errors: [String] = []
    private(set) var isLost = false

    /// Connects; `nil` if the server is not there.
    init?(port: UInt16, user: String, subjects: [String]) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.address(port: port)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            close(descriptor)
            return nil
        }
        send(
            #"CONNECT {"verbose":false,"pedantic":false,"headers":true,"no_responders":true,"#
                + #""user":"\#(user)","pass":"p","lang":"swift","version":"1"}"# + "\r\n")
        for (index, subject) in subjects.enumerated() { send("SUB \(subject) \(index + 1)\r\n") }
    }

    deinit { close(descriptor) }

    static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    func publish(_ message: LinkPublication) {
        let headers =
            "NATS/1.0\r\n" + message.headers.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n"
        let length = headers.utf8.count
        send(
            "HPUB \(message.subject) \(message.reply ?? "") \(length) "
                + "\(length + message.payload.count)\r\n\(headers)")
        send(message.payload + Array("\r\n".utf8))
    }

    private func send(_ text: String) { send(Array(text.utf8)) }

    private func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty, !isLost {
            let count = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else {
                isLost = true
                return
            }
            rest = rest.dropFirst(count)
        }
    }

    /// The messages that are there.
    func receive() -> [LinkArrival] {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while !isLost {
            let count = recv(descriptor, &chunk, chunk.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                buffer += chunk.prefix(count)
            } else if count == 0 || errno != EAGAIN {
                isLost = true
            } else {
                break
            }
        }
        var arrivals: [LinkArrival] = []
        while let arrival = next() { arrivals += arrival }
        return arrivals
    }

    /// The next command of the server; `nil` if it is not complete.
    private func next() -> [LinkArrival]? {
        guard let end = buffer.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = String(decoding: buffer[..<end].dropLast(), as: UTF8.self)
        let words = line.split(separator: " ").map(String.init)
        let isMessage = words.first == "MSG" || words.first == "HMSG"
        guard isMessage, let total = words.last.flatMap({ Int($0) }) else {
            buffer.removeSubrange(...end)
            if words.first == "PING" { send("PONG\r\n") }
            if words.first == "-ERR" { errors.append(line) }
            return []
        }
        guard buffer.count >= end + 1 + total + 2 else { return nil }
        let body = Array(buffer[(end + 1)..<(end + 1 + total)])
        buffer.removeSubrange(..<(end + 1 + total + 2))
        let hasHeaders = words[0] == "HMSG"
        let headerBytes = hasHeaders ? Int(words[words.count - 2]) ?? 0 : 0
        // Subject, subscription, perhaps a reply, one or two lengths.
        let hasReply = words.count == (hasHeaders ? 6 : 5)
        return [
            LinkArrival(
                subject: words[1], reply: hasReply ? words[3] : nil,
                headers: Self.headers(body.prefix(headerBytes)),
                payload: Array(body.dropFirst(headerBytes)))
        ]
    }

    private static func headers(_ bytes: ArraySlice<UInt8>) -> [LinkHeader] {
        let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
        var headers = lines.dropFirst().filter { !$0.isEmpty }.map { line in
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            return LinkHeader(parts[0], parts.count > 1 ? String(parts[1].dropFirst()) : "")
        }
        let status = (lines.first ?? "").split(separator: " ", maxSplits: 2).map(String.init)
        if status.count > 1 { headers.append(LinkHeader("Status", status[1])) }
        if status.count > 2 { headers.append(LinkHeader("Description", status[2])) }
        return headers
    }
}
