import Foundation

/// A nats-server with JetStream on a port of its own; killed with the last reference.
public final class NatsServer {
    /// The port on 127.0.0.1.
    public let port: UInt16
    private let folder: TemporaryFolder
    private let configuration: String
    private var process: ChildProcess?

    /// Starts a server.
    ///
    /// - Parameter authorization: more lines of its configuration.
    public convenience init(authorization: String = "") throws {
        try self.init(configuration: "jetstream { store_dir: /var/lib/nats }\n" + authorization)
    }

    /// Starts a server with a configuration that `pickersync-link --print-nats-config` printed. It
    /// keeps its files in a folder of its own.
    public init(configuration: String) throws {
        folder = try TemporaryFolder()
        port = try Self.freePort()
        self.configuration =
            "listen: 127.0.0.1:\(port)\n"
            + configuration.replacing("/var/lib/nats", with: folder("js"))
        try start()
    }

    /// Starts it again, with the same files.
    public func start() throws {
        let file = try folder.write("nats.conf", configuration)
        process = try ChildProcess(["nats-server", "-c", file, "-l", folder("log")])
    }

    /// kill -9: what was acknowledged is in its files.
    public func kill() { process = nil }

    /// A port of 127.0.0.1 on which nobody listens.
    public static func freePort() throws -> UInt16 {
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
