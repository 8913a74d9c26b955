import Foundation

/// A nats-server with JetStream on a port of its own; killed with the last reference.
public final class NatsServer {
    /// The port on 127.0.0.1.
    public let port: UInt16
    private let folder: TemporaryFolder
    private let authorization: String
    private var process: ChildProcess?

    /// Starts a server.
    ///
    /// - Parameter authorization: more lines of its configuration.
    public init(authorization: String = "") throws {
        folder = try TemporaryFolder()
        self.authorization = authorization
        port = try Self.freePort()
        try start()
    }

    /// Starts it again, with the same files.
    public func start() throws {
        let configuration = try folder.write(
            "nats.conf",
            """
            listen: 127.0.0.1:\(port)
            jetstream { store_dir: "\(folder("js"))" }
            \(authorization)
            """)
        process = try ChildProcess(["nats-server", "-c", configuration, "-l", folder("log")])
    }

    /// kill -9: what was acknowledged is in its files.
    public func kill() { process = nil }

    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
            }
        }
        guard status == 0 else { throw POSIXError(.EADDRINUSE) }
        return UInt16(bigEndian: address.sin_port)
    }
}
