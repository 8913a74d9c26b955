import Foundation
import Synchronization
import TestKit
import Testing

@testable import DaemonCore

private func mode(_ path: String) -> UInt32? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
}

@Suite("The daemon's own socket")
struct SocketPlaceTests {
    @Test("of daemons that start at once over a stale socket exactly one wins", arguments: 0..<8)
    func race(round: Int) throws {
        let folder = try TemporaryFolder()
        let path = folder("sock")
        if !round.isMultiple(of: 2) { try ListeningSocket(path).closeSocket() }
        let results = Mutex<[Int32]>([])
        let all = DispatchSemaphore(value: 0)
        let threads = 12
        for _ in 0..<threads {
            Thread.detachNewThread {
                do throws(StartFailure) {
                    let place = try SocketPlace.bind(path, group: nil)
                    results.withLock { $0.append(0) }
                    all.signal()
                    // Held until everybody has tried.
                    while results.withLock({ $0.count }) < threads { usleep(200) }
                    place.remove()
                } catch {
                    results.withLock { $0.append(error.status.rawValue) }
                    all.signal()
                }
            }
        }
        for _ in 0..<threads { all.wait() }
        #expect(results.withLock { $0.filter { $0 == 0 }.count } == 1)
        #expect(results.withLock { $0.filter { $0 == 75 }.count } == threads - 1)
    }

    @Test("who comes second is told the pid of the first")
    func secondDaemon() throws {
        let folder = try TemporaryFolder()
        let path = folder("sock")
        let first = try SocketPlace.bind(path, group: nil)
        let failure = try #require(bindFailure(path))
        #expect(failure.status == .alreadyServed)
        #expect(failure.messages.first?.contains("pid \(getpid())") == true)
        first.remove()
        #expect(bindFailure(path) == nil)
    }

    @Test("a socket that answers is never taken over, lock or not")
    func liveWithoutLock() throws {
        let folder = try TemporaryFolder()
        let foreign = try ListeningSocket(folder("sock"))
        #expect(bindFailure(folder("sock"))?.status == .alreadyServed)
        #expect(FileManager.default.fileExists(atPath: folder("sock")))
        foreign.closeSocket()
        #expect(bindFailure(folder("sock")) == nil)
    }

    @Test("what is not a socket is never removed")
    func otherFiles() throws {
        let folder = try TemporaryFolder()
        try folder.write("file", "precious")
        #expect(bindFailure(folder("file"))?.status == .cannotCreate)
        #expect(try String(contentsOfFile: folder("file"), encoding: .utf8) == "precious")
        try FileManager.default.createDirectory(
            atPath: folder("directory"), withIntermediateDirectories: false)
        #expect(bindFailure(folder("directory"))?.status == .cannotCreate)
    }

    @Test("a symbolic link in the socket's or the lock's place is refused")
    func links() throws {
        let folder = try TemporaryFolder()
        try ListeningSocket(folder("real")).closeSocket()
        symlink(folder("real"), folder("link"))
        #expect(bindFailure(folder("link"))?.status == .cannotCreate)
        symlink(folder("elsewhere"), folder("other.lock"))
        #expect(bindFailure(folder("other"))?.status == .cannotCreate)
        #expect(!FileManager.default.fileExists(atPath: folder("elsewhere")))
    }

    @Test("who swaps the socket for a link while it is made gains nothing")
    func swaps() throws {
        let folder = try TemporaryFolder()
        let path = folder("sock")
        try folder.write("victim", "precious")
        chmod(folder("victim"), 0o600)
        let group: gid_t = geteuid() == 0 ? 61_500 : getegid()
        chown(folder("victim"), uid_t.max, group)
        let isOver = Mutex(false)
        let swapper = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            while !isOver.withLock({ $0 }) {
                symlink(folder("victim"), folder("link"))
                // As soon as the socket is there.
                while mode(path) == nil, !isOver.withLock({ $0 }) {}
                rename(folder("link"), path)
                usleep(100)
                unlink(path)
            }
            swapper.signal()
        }
        // How many of them find the link is up to the threads; `permit` is tested on its own.
        for _ in 0..<500 {
            try? SocketPlace.bind(path, group: group &+ (geteuid() == 0 ? 1 : 0)).remove()
        }
        isOver.withLock { $0 = true }
        swapper.wait()
        var status = stat()
        #expect(lstat(folder("victim"), &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o600 && status.st_gid == group)
        #expect(try String(contentsOfFile: folder("victim"), encoding: .utf8) == "precious")
    }

    @Test("the socket is for its owner alone, with a group for its members too")
    func modes() throws {
        let folder = try TemporaryFolder()
        let own = try SocketPlace.bind(folder("a/sock"), group: nil)
        #expect(mode(folder("a")) == 0o700)
        #expect(mode(folder("a/sock")) == 0o600)
        #expect(mode(folder("a/sock.lock")) == 0o600)
        own.remove()
        let shared = try SocketPlace.bind(folder("b/sock"), group: getegid())
        #expect(mode(folder("b")) == 0o750)
        #expect(mode(folder("b/sock")) == 0o660)
        shared.remove()
    }

    @Test("a folder that everybody may write is refused, a sticky one is not")
    func openFolder() throws {
        let folder = try TemporaryFolder()
        mkdir(folder("open"), 0o777)
        chmod(folder("open"), 0o777)
        #expect(bindFailure(folder("open/sock"))?.status == .cannotCreate)
        chmod(folder("open"), 0o1777)
        #expect(bindFailure(folder("open/sock")) == nil)
    }

    @Test("a folder behind a link is used, a link to nowhere and a file are refused")
    func linkedFolder() throws {
        let folder = try TemporaryFolder()
        mkdir(folder("real"), 0o700)
        symlink(folder("real"), folder("link"))
        #expect(bindFailure(folder("link/sock")) == nil)
        symlink(folder("nowhere"), folder("dangling"))
        #expect(bindFailure(folder("dangling/sock"))?.status == .cannotCreate)
        try folder.write("file", "")
        #expect(bindFailure(folder("file/sock"))?.status == .cannotCreate)
    }

    @Test("at the end only the socket that was bound is removed")
    func removal() throws {
        let folder = try TemporaryFolder()
        let path = folder("sock")
        let place = try SocketPlace.bind(path, group: nil)
        unlink(path)
        let other = try ListeningSocket(path)
        place.remove()
        #expect(FileManager.default.fileExists(atPath: path))
        other.closeSocket()
        let again = try SocketPlace.bind(path, group: nil)
        again.remove()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("a path that is too long is said so")
    func longPath() throws {
        let folder = try TemporaryFolder()
        let failure = try #require(bindFailure(folder(String(repeating: "a", count: 107))))
        #expect(failure.status == .configuration)
        #expect(failure.messages.first?.contains("107") == true)
    }

    @Test("a check says what is there and changes nothing")
    func inspection() throws {
        let folder = try TemporaryFolder()
        let path = folder("sock")
        #expect(try SocketPlace.inspect(path) == "to be made")
        let foreign = try ListeningSocket(path)
        #expect(throws: StartFailure.self) { try SocketPlace.inspect(path) }
        foreign.closeSocket()
        #expect(try SocketPlace.inspect(path).hasPrefix("left by"))
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(!FileManager.default.fileExists(atPath: path + ".lock"))
    }
}

@Suite("Sockets from the service manager")
struct PassedSocketsTests {
    @Test(
        "descriptors count only where they are meant for this process",
        arguments: [
            ([:], 0), (["LISTEN_FDS": "1"], 0), (["LISTEN_FDS": "1", "LISTEN_PID": "42"], 1),
            (["LISTEN_FDS": "2", "LISTEN_PID": "41"], 0),
            (["LISTEN_FDS": "0", "LISTEN_PID": "42"], 0),
            (["LISTEN_FDS": "-1", "LISTEN_PID": "42"], nil),
            (["LISTEN_FDS": "17", "LISTEN_PID": "42"], nil),
            (["LISTEN_FDS": "x", "LISTEN_PID": "42"], nil),
        ] as [([String: String], CInt?)])
    func count(environment: [String: String], expected: CInt?) {
        let environment = ProcessEnvironment(environment)
        #expect((try? PassedSockets.count(environment, pid: 42)) == expected)
    }

    @Test("a listening socket is taken with its path, anything else is refused")
    func adoption() throws {
        let folder = try TemporaryFolder()
        let listening = try ListeningSocket(folder("sock"))
        let passed = try PassedSockets.adopt(dup(listening.descriptor), name: nil)
        #expect(passed.path == folder("sock"))
        let datagrams = try ListeningSocket(folder("datagrams"), .datagrams)
        do throws(StartFailure) {
            _ = try PassedSockets.adopt(datagrams.descriptor, name: "wrong")
            Issue.record("a datagram socket was taken")
        } catch {
            #expect(error.status == .configuration)
            #expect(error.messages.first?.contains("wrong") == true)
        }
    }

    @Test("an abstract socket, to which every user can connect, is refused")
    func abstract() throws {
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(number) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // A name that no other test has: a NUL, and the number of this process.
        withUnsafeMutableBytes(of: &address.sun_path) { field in
            for (place, byte) in "\0pickersync-test-\(getpid())".utf8.enumerated() {
                field[place] = byte
            }
        }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isListening = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, length) == 0 && listen(number, 1) == 0
            }
        }
        try #require(isListening)
        do throws(StartFailure) {
            _ = try PassedSockets.adopt(number, name: nil)
            Issue.record("an abstract socket was taken")
        } catch {
            #expect(error.status == .configuration)
            #expect(error.messages.first?.contains("@pickersync-test-") == true)
        }
    }
}
