internal import EventLoop
internal import Glibc

// Sockets that the service manager bound for us: sd_listen_fds(3), without its library.
//
// Invariants: descriptors are used only if LISTEN_PID is this process, and each is a listening Unix
// stream socket; anything else is an error in a unit file, and the start fails.

struct PassedSocket: ~Copyable {
    let descriptor: OwnedDescriptor
    /// Where it is bound, for `ready:` and the log.
    let path: String

    consuming func takeDescriptor() -> OwnedDescriptor { descriptor }
}

enum PassedSockets {
    /// The first descriptor that can be passed: SD_LISTEN_FDS_START.
    static let firstDescriptor: CInt = 3
    /// The maximum number of sockets; a larger number is an error.
    static let socketsMax: CInt = 16

    /// How many sockets were passed to the process `pid`; 0 where none were.
    static func count(
        _ environment: ProcessEnvironment, pid: CInt
    ) throws(StartFailure) -> CInt {
        guard let text = environment["LISTEN_FDS"] else { return 0 }
        // Meant for another process, such as the shell that started us.
        if let meant = environment["LISTEN_PID"], meant != "\(pid)" { return 0 }
        guard environment["LISTEN_PID"] != nil else { return 0 }
        guard let count = CInt(text), (0...socketsMax).contains(count) else {
            throw StartFailure(
                .configuration, "LISTEN_FDS is \"\(text)\"; expected 0 to \(socketsMax)")
        }
        return count
    }

    /// Takes over one of the descriptors.
    ///
    /// An abstract socket is refused: it has no owner and no mode, so every user could connect, and
    /// no client can check its folder.
    static func adopt(_ number: CInt, name: String?) throws(StartFailure) -> PassedSocket {
        let path = path(of: number)
        if path.hasPrefix("@") {
            throw StartFailure(
                .configuration,
                "descriptor \(number) from the service manager is the abstract socket "
                    + "\(path), to which every user can connect; "
                    + "ListenStream= with a path is what works")
        }
        do throws(SystemError) {
            return PassedSocket(descriptor: try UnixSocket.adoptListening(number), path: path)
        } catch {
            let name = name.map { " (\($0))" } ?? ""
            throw StartFailure(
                .configuration,
                "descriptor \(number)\(name) from the service manager is not a listening Unix "
                    + "stream socket: \(error); ListenStream= with a path is what works")
        }
    }

    /// The names from LISTEN_FDNAMES, if any.
    static func names(_ environment: ProcessEnvironment) -> [String] {
        guard let names = environment["LISTEN_FDNAMES"], !names.isEmpty else { return [] }
        return names.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    }

    /// getsockname(2); an abstract name begins with an `@`.
    private static func path(of number: CInt) -> String {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(number, $0, &length)
            }
        }
        let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        guard status == 0, Int(length) > start else { return "(unnamed)" }
        let bytes = withUnsafeBytes(of: &address.sun_path) { field in
            Array(field.prefix(min(Int(length) - start, field.count)))
        }
        let isAbstract = bytes.first == 0
        let name = (isAbstract ? bytes.dropFirst() : bytes[...]).prefix { $0 != 0 }
        return (isAbstract ? "@" : "") + String(decoding: name, as: UTF8.self)
    }
}
