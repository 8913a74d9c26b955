import CUV
import Glibc
import TestKit
import Testing

@testable import EventLoop

@Suite struct UnixListenerTests {
    @Test("each of 200 clients becomes one connection, non-blocking and close-on-exec")
    func manyClients() throws {
        let directory = try TemporaryFolder()
        let path = directory("s")
        let count = 200
        var accepted = 0
        try withTestLoop { loop in
            let listener = try UnixListener(
                loop: loop, adopting: UnixSocket.listen(at: path, mode: 0o600, backlog: 512))
            listener.onConnection = { connection in
                accepted += 1
                #expect(isCloseOnExec(connection.rawValue))
                #expect(fcntl(connection.rawValue, F_GETFL) & O_NONBLOCK != 0)
                if accepted == count { listener.close() }
            }
            listener.resume()
            listener.resume()
            let clients = try (0..<count).map { _ in try UnixSocket.connect(to: path).relinquish() }
            loop.run()
            for client in clients { close(client) }
        }
        #expect(accepted == count)
        // The path is the daemon's to remove.
        try eventually { try UnixSocket.probe(path) == .abandoned }
    }

    @Test("a paused listener leaves connections waiting, and takes them when it goes on")
    func pauseAndResume() throws {
        let directory = try TemporaryFolder()
        let path = directory("s")
        var accepted = 0
        try withTestLoop { loop in
            let listener = try UnixListener(
                loop: loop, adopting: UnixSocket.listen(at: path, mode: 0o600))
            listener.onConnection = { _ in
                accepted += 1
                listener.pause()
            }
            let clients = try (0..<3).map { _ in try UnixSocket.connect(to: path).relinquish() }
            loop.runIterations(1)
            #expect(accepted == 0, "paused from the start")
            for expected in 1...3 {
                listener.resume()
                loop.run { accepted == expected }
                loop.runIterations(3)
                #expect(accepted == expected)
            }
            listener.pause()
            listener.close()
            listener.resume()
            listener.pause()
            for client in clients { close(client) }
        }
    }

    @Test("a listener closed by its own connection accepts no further one")
    func closeInsideConnection() throws {
        let directory = try TemporaryFolder()
        let path = directory("s")
        var accepted = 0
        try withTestLoop { loop in
            let listener = try UnixListener(
                loop: loop, adopting: UnixSocket.listen(at: path, mode: 0o600))
            listener.onConnection = { _ in
                accepted += 1
                listener.close()
            }
            listener.resume()
            let clients = try (0..<3).map { _ in try UnixSocket.connect(to: path).relinquish() }
            loop.run()
            for client in clients { close(client) }
        }
        #expect(accepted == 1)
    }

    @Test("a descriptor that cannot be polled is refused and leaves nothing behind")
    func notPollable() throws {
        let directory = try TemporaryFolder()
        try withTestLoop { loop in
            let file = open(directory("f"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            #expect(throws: UVError.self) {
                _ = try UnixListener(loop: loop, adopting: OwnedDescriptor(adopting: file))
            }
        }
    }

    @Test(
        "a socket that another process has shut down makes the listener rest, not spin",
        .timeLimit(.minutes(1)), arguments: [SHUT_RD, SHUT_RDWR])
    func shutDown(how: Int) throws {
        let directory = try TemporaryFolder()
        try withTestLoop { loop in
            let socket = try UnixSocket.listen(at: directory("s"), mode: 0o600)
            let other = dup(socket.rawValue)
            defer { close(other) }
            let listener = try UnixListener(loop: loop, adopting: socket)
            var failures: [SystemError] = []
            var iterations = 0
            loop.onIterationEnd = { iterations += 1 }
            listener.onAcceptFailure = { error in
                failures.append(error)
                if failures.count == 3 { listener.close() }
            }
            listener.resume()
            shutdown(other, Int32(how))
            loop.run()
            loop.onIterationEnd = nil
            #expect(failures.allSatisfy { $0.errno == ESHUTDOWN })
            #expect(iterations < 50)
        }
    }

    // In a process of its own, since the limit is the process's.
    @Test(
        "out of descriptors, the listener rests instead of spinning, and nobody is turned away",
        .timeLimit(.minutes(1)))
    func outOfDescriptors() async throws {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryFolder()
            let path = directory("s")
            try withTestLoop { loop in
                let before = try DescriptorLimit.current()
                var failures: [SystemError] = []
                var accepted = 0
                var iterations = 0
                let listener = try UnixListener(
                    loop: loop, adopting: UnixSocket.listen(at: path, mode: 0o600))
                let clients = try (0..<8).map { _ in
                    try UnixSocket.connect(to: path).relinquish()
                }
                loop.onIterationEnd = { iterations += 1 }
                listener.onAcceptFailure = { failures.append($0) }
                let relief = Timer(loop: loop)
                relief.onFire = {
                    do { try DescriptorLimit.setSoft(before.soft) } catch { exit(2) }
                    // Descriptors are free again: no need to wait for the rest of the back-off.
                    listener.resume()
                    relief.close()
                }
                // Time for two or three tries, or for many thousands by one who spins.
                relief.start(after: .milliseconds(250))
                listener.onConnection = { _ in
                    accepted += 1
                    if accepted == clients.count { listener.close() }
                }
                try DescriptorLimit.setSoft(UInt64(lowestFreeDescriptor()))
                listener.resume()
                loop.run()
                loop.onIterationEnd = nil
                guard accepted == 8, (1...5).contains(failures.count), iterations < 50 else {
                    exit(3)
                }
                guard failures.allSatisfy({ $0.errno == EMFILE }) else { exit(4) }
                for client in clients { close(client) }
            }
        }
    }
}

@Suite struct UnixSocketTests {
    @Test("a path is taken up to 107 bytes, and refused whole beyond that")
    func pathLength() throws {
        let directory = try TemporaryFolder()
        let room = UnixSocket.pathBytesMax - directory.path.utf8.count - 1
        let longest = directory(String(repeating: "x", count: room))
        _ = try UnixSocket.listen(at: longest, mode: 0o600)
        #expect(access(longest, F_OK) == 0, "under its whole name")
        #expect(
            throws: SystemError(
                errno: ENAMETOOLONG, operation: "socket address", path: longest + "x")
        ) { _ = try UnixSocket.listen(at: longest + "x", mode: 0o600) }
        for wrong in ["", "/tmp/a\0b"] {
            #expect(throws: SystemError(errno: EINVAL, operation: "socket address", path: wrong)) {
                _ = try UnixSocket.probe(wrong)
            }
        }
    }

    @Test(
        "the socket file has the mode that was asked for, whatever the umask",
        arguments: [0o600, 0o660, 0o666, 0o777] as [UInt32])
    func mode(_ mode: UInt32) throws {
        let directory = try TemporaryFolder()
        let listener = try UnixSocket.listen(at: directory("s"), mode: mode)
        #expect(isCloseOnExec(listener.rawValue))
        var status = stat()
        #expect(lstat(directory("s"), &status) == 0)
        #expect(status.st_mode & 0o7777 == mode)
    }

    @Test("a path is absent, answering, then abandoned; a used path is not bound again")
    func probe() throws {
        let directory = try TemporaryFolder()
        let path = directory("s")
        #expect(try UnixSocket.probe(path) == .absent)
        #expect(try !UnixSocket.remove(path))
        do {
            let listener = try UnixSocket.listen(at: path, mode: 0o600, backlog: 0)
            #expect(listener.rawValue >= 0)
            // The first fills the queue; a full queue answers too, and nobody waits.
            for _ in 0..<5 { #expect(try UnixSocket.probe(path) == .answering) }
            #expect(throws: SystemError(errno: EADDRINUSE, operation: "bind", path: path)) {
                _ = try UnixSocket.listen(at: path, mode: 0o600)
            }
            #expect(listener.rawValue >= 0)
        }
        try eventually { try UnixSocket.probe(path) == .abandoned }
        #expect(try UnixSocket.remove(path))
        #expect(try UnixSocket.probe(path) == .absent)
    }

    @Test("only a socket is removed")
    func removeOnlySockets() throws {
        let directory = try TemporaryFolder()
        let path = directory("precious")
        close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
        #expect(throws: SystemError(errno: ENOTSOCK, operation: "unlink", path: path)) {
            try UnixSocket.remove(path)
        }
        #expect(access(path, F_OK) == 0)
    }

    @Test(
        "what was put in the place of a socket keeps its group and mode",
        arguments: [nil, geteuid() == 0 ? 61_501 : getegid()])
    func swapped(group: gid_t?) throws {
        let folder = try TemporaryFolder()
        let path = folder("s")
        try folder.write("victim", "precious")
        chmod(folder("victim"), 0o600)
        let before = try #require(facts(folder("victim")))
        let swaps: [() -> CInt] = [
            { symlink(folder("victim"), path) }, { link(folder("victim"), path) },
            { mkdir(path, 0o700) },
        ]
        for swap in swaps {
            _ = try UnixSocket.listen(at: path, mode: 0o600)
            unlink(path)
            #expect(swap() == 0)
            #expect(throws: SystemError.self) {
                try UnixSocket.permit(path, group: group, mode: 0o666)
            }
            #expect(facts(folder("victim")) == before)
            remove(path)
        }
    }

    private func facts(_ path: String) -> [UInt32]? {
        var status = stat()
        return lstat(path, &status) == 0 ? [status.st_mode, status.st_uid, status.st_gid] : nil
    }

    @Test("a passed descriptor is taken over if it listens, and refused otherwise")
    func adopt() throws {
        let directory = try TemporaryFolder()
        let number = try UnixSocket.listen(at: directory("s"), mode: 0o600).relinquish()
        _ = fcntl(number, F_SETFD, 0)
        let adopted = try UnixSocket.adoptListening(number)
        #expect(isCloseOnExec(adopted.rawValue))
        let (left, right) = try socketPair()
        #expect(throws: SystemError(errno: EINVAL, operation: "listening socket")) {
            _ = try UnixSocket.adoptListening(left)
        }
        #expect(isOpen(left), "it stays the caller's")
        close(left)
        close(right)
        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
        #expect(throws: SystemError(errno: ENOTSOCK, operation: "getsockopt")) {
            _ = try UnixSocket.adoptListening(file)
        }
        close(file)
    }

    @Test("a lock is held by one at a time, and goes with its holder")
    func lockFile() throws {
        let directory = try TemporaryFolder()
        let path = directory("lock")
        do {
            let first = try LockFile.acquire(path)
            let isHeld = first != nil
            #expect(isHeld)
            let isHeldTwice = try LockFile.acquire(path) != nil
            #expect(!isHeldTwice)
            withExtendedLifetime(first) {}
        }
        try eventually { try LockFile.acquire(path) != nil }
        #expect(access(path, F_OK) == 0)
        #expect(symlink(path, directory("link")) == 0)
        #expect(
            throws: SystemError(errno: ELOOP, operation: "open", path: directory("link"))
        ) { _ = try LockFile.acquire(directory("link")) }
    }

    @Test("the service manager gets the message, at a path and in the abstract space")
    func notify() throws {
        let directory = try TemporaryFolder()
        for name in [directory("n"), "@eventloop-notify-\(getpid())"] {
            let receiver = OwnedDescriptor(
                adopting: socket(
                    AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
            let address = try UnixAddress(pathOrAbstract: name)
            #expect(address.withSockaddr { bind(receiver.rawValue, $0, $1) } == 0)
            let message = "READY=1\nSTATUS=größer"
            try NotifySocket(name).send(message)
            var buffer = [UInt8](repeating: 0, count: 100)
            let count = recv(receiver.rawValue, &buffer, buffer.count, CInt(MSG_DONTWAIT))
            #expect(String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self) == message)
        }
        for wrong in ["", "@", "/", "relative", "vsock:2:1"] where wrong != "/" {
            #expect(throws: SystemError(errno: EINVAL, operation: "socket address", path: wrong)) {
                _ = try NotifySocket(wrong)
            }
        }
        #expect(throws: SystemError.self) { try NotifySocket(directory("gone")).send("X=1") }
    }

    @Test("a manager that does not read costs an error and no wait")
    func notifyFull() throws {
        let directory = try TemporaryFolder()
        let receiver = OwnedDescriptor(
            adopting: socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        let address = try UnixAddress(path: directory("n"))
        #expect(address.withSockaddr { bind(receiver.rawValue, $0, $1) } == 0)
        let notify = try NotifySocket(directory("n"))
        #expect(
            throws: SystemError(errno: EAGAIN, operation: "sendto", path: directory("n"))
        ) { for _ in 0..<100_000 { try notify.send("WATCHDOG=1") } }
        #expect(receiver.rawValue >= 0)
    }
}

@Suite struct PeerTests {
    @Test("the kernel says who connected")
    func credentials() throws {
        let directory = try TemporaryFolder()
        let path = directory("s")
        var peer: PeerCredentials?
        var groups: [UInt32]?
        try withTestLoop { loop in
            let listener = try UnixListener(
                loop: loop, adopting: UnixSocket.listen(at: path, mode: 0o600))
            listener.onConnection = { connection in
                peer = try? PeerCredentials(of: connection.rawValue)
                groups = try? PeerCredentials.groups(of: connection.rawValue)
                listener.close()
            }
            listener.resume()
            let client = try UnixSocket.connect(to: path)
            loop.run()
            #expect(client.rawValue >= 0)
        }
        #expect(peer == PeerCredentials(pid: getpid(), uid: geteuid(), gid: getegid()))
        var own = [gid_t](repeating: 0, count: 65_536)
        let count = getgroups(CInt(own.count), &own)
        #expect(groups?.sorted() == own.prefix(Int(count)).sorted())
    }

    // In a process of its own, since groups are the process's. Only root may set them.
    @Test("a peer in more groups than nearly anybody is told whole", .enabled(if: geteuid() == 0))
    func manyGroups() async throws {
        await #expect(processExitsWith: .success) {
            for count in [0, 1, 63, 64, 65, 1_000] {
                let wanted = (0..<count).map { gid_t(50_000 + $0) }
                guard setgroups(wanted.count, wanted) == 0 else { exit(0) }
                let (left, right) = try socketPair()
                guard try PeerCredentials.groups(of: left) == wanted else { exit(2) }
                close(left)
                close(right)
            }
        }
    }

    @Test("what is not a socket has no peer")
    func noPeer() {
        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
        #expect(throws: SystemError(errno: ENOTSOCK, operation: "getsockopt SO_PEERCRED")) {
            try PeerCredentials(of: file)
        }
        #expect(throws: SystemError(errno: ENOTSOCK, operation: "getsockopt SO_PEERGROUPS")) {
            try PeerCredentials.groups(of: file)
        }
        close(file)
    }
}

@Suite struct ErrorTests {
    @Test("an error is one line that says what failed, on what, and why")
    func descriptions() {
        #expect(
            SystemError(errno: EADDRINUSE, operation: "bind", path: "/run/s").description
                == "bind /run/s: Address already in use")
        #expect(
            SystemError(errno: EMFILE, operation: "accept4").description
                == "accept4: Too many open files")
        #expect(SystemError(errno: 9_999, operation: "x").description == "x: error 9999")
        let broken = UVError(code: .brokenPipe, operation: "write")
        #expect(broken.description == "write: broken pipe")
        #expect(broken.name == "EPIPE")
        #expect(
            UVError(code: .init(rawValue: -9_999), operation: "x").description
                == "x: Unknown system error -9999")
    }

    @Test("an owned descriptor is closed once, unless it was given away")
    func ownedDescriptor() throws {
        let (left, right) = try socketPair()
        do { _ = OwnedDescriptor(adopting: left) }
        // The other end sees it, also if the number has been used again.
        var byte: UInt8 = 0
        #expect(recv(right, &byte, 1, 0) == 0)
        let owned = OwnedDescriptor(adopting: right)
        try owned.setNonBlocking(true)
        #expect(fcntl(right, F_GETFL) & O_NONBLOCK != 0)
        try owned.setNonBlocking(false)
        #expect(fcntl(right, F_GETFL) & O_NONBLOCK == 0)
        #expect(owned.relinquish() == right)
        #expect(isOpen(right))
        close(right)
    }
}
