internal import Glibc
internal import SyncCore

/// What a server says first to everybody who connects: a line `INFO {…}` with its version, which
/// cnats does not pass on.
enum ServerGreeting {
    private static let lineBytesMax = 64 << 10

    /// The version of a server, for people; empty if it does not say it in the clear within a
    /// second. For a thread of the pool.
    static func version(ofServer address: String) -> String {
        guard let colon = address.lastIndex(of: ":") else { return "" }
        let host = address[..<colon].filter { $0 != "[" && $0 != "]" }
        guard let line = firstLine(host, String(address[address.index(after: colon)...])) else {
            return ""
        }
        return version(in: line)
    }

    static func version(in line: [UInt8]) -> String {
        let prefix = Array("INFO ".utf8)
        guard line.starts(with: prefix),
            let json = try? JSON(parsing: Array(line[prefix.count...]))
        else { return "" }
        return (json["version"]?.stringValue ?? "").cut(toBytes: 64)
    }

    private static func firstLine(_ host: String, _ port: String) -> [UInt8]? {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, port, &hints, &found) == 0 else { return nil }
        defer { unsafe freeaddrinfo(found) }
        var next = unsafe found
        while let address = unsafe next?.pointee {
            if let line = unsafe firstLine(address) { return line }
            unsafe next = address.ai_next
        }
        return nil
    }

    private static func firstLine(_ address: addrinfo) -> [UInt8]? {
        let descriptor = socket(
            unsafe address.ai_family, unsafe address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // The time to send bounds connect(2) as well.
        var second = timeval(tv_sec: 1, tv_usec: 0)
        for option in [SO_SNDTIMEO, SO_RCVTIMEO] {
            unsafe setsockopt(
                descriptor, SOL_SOCKET, option, &second, socklen_t(MemoryLayout<timeval>.size))
        }
        guard unsafe connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 else {
            return nil
        }
        var line: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while line.count < lineBytesMax {
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            line += buffer[..<count]
            if let end = line.firstIndex(of: UInt8(ascii: "\r")) { return Array(line[..<end]) }
        }
        return nil
    }
}
