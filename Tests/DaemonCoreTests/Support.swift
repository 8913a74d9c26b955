import Foundation
import Testing

@testable import DaemonCore

/// A folder of its own for a test, removed with the last reference.
final class TemporaryFolder: Sendable {
    let path: String

    /// Short, since a socket's path may have 107 bytes.
    init() throws {
        var template = Array("/tmp/psd-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw POSIXError(.EIO) }
        path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A path inside.
    func callAsFunction(_ name: String) -> String { path + "/" + name }

    /// Writes a file inside and gives its path.
    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        try text.write(toFile: self(name), atomically: false, encoding: .utf8)
        return self(name)
    }
}

/// A listening socket made without any lock, as a foreign program has it; closed when asked.
final class ForeignSocket {
    private var descriptor: CInt

    init(listeningAt path: String, kind: __socket_type = SOCK_STREAM) throws {
        descriptor = socket(AF_UNIX, CInt(kind.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { field in
            for (index, byte) in path.utf8.enumerated() { field[index] = byte }
        }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length)
            }
        }
        try #require(status == 0)
        if kind == SOCK_STREAM { try #require(listen(descriptor, 8) == 0) }
    }

    /// The number, while it is open.
    var number: CInt { descriptor }

    /// The next datagram; `nil` where none has come.
    func datagram() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
        return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    func closeSocket() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    deinit { closeSocket() }
}

/// Binds; the failure as a value.
func bindFailure(_ path: String, group: UInt32? = nil) -> StartFailure? {
    do throws(StartFailure) {
        let place = try SocketPlace.bind(path, group: group)
        place.remove()
        return nil
    } catch {
        return error
    }
}
