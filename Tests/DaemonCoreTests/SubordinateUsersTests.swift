import Glibc
import TestKit
import Testing

@testable import DaemonCore

@Suite struct SubordinateUsersTests {
    private static func number(_ name: String) -> UInt32? {
        ["alice": 1000, "bob": 1001][name] ?? UInt32(name)
    }

    @Test("uids within a range are its owner's, all others their own")
    func owners() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/subuid"
        try write(
            "alice:100000:65536\n# none\nbob:165536:2\n1002:200000:1\nx:1:2:3\nzoe:5:5\n", path)
        let users = SubordinateUsers(path: path, numberOfName: Self.number)
        #expect(users.owner(of: 100_000) == 100_000, "nothing was read yet")
        users.refresh()
        let expected: [(UInt32, UInt32)] = [
            (99_999, 99_999), (100_000, 1000), (165_535, 1000), (165_536, 1001), (165_537, 1001),
            (165_538, 165_538), (200_000, 1002), (5, 5), (0, 0), (.max, .max),
        ]
        for (uid, owner) in expected { #expect(users.owner(of: uid) == owner, "\(uid)") }
    }

    @Test("the file is read again where it is another, and forgotten where it is gone")
    func changes() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/subuid"
        try write("alice:100000:10\n", path)
        let users = SubordinateUsers(path: path, numberOfName: Self.number)
        users.refresh()
        try write("alice:100000:10\nbob:100010:10\n", path)
        users.refresh()
        #expect(users.owner(of: 100_015) == 1001)
        #expect(unlink(path) == 0)
        users.refresh()
        #expect(users.owner(of: 100_015) == 100_015)
    }

    @Test("what cannot be a range is left out")
    func broken() {
        for text in ["", "alice", "alice:x:1", "alice:1:0", "alice:4294967295:2", "nobody:1:1"] {
            #expect(SubordinateUsers.ranges(in: text, Self.number) == [], "\(text)")
        }
        let last = SubordinateUsers.ranges(in: "alice:4294967295:1", Self.number)
        #expect(last == [.init(first: .max, last: .max, owner: 1000)])
    }

    private func write(_ text: String, _ path: String) throws {
        let file = try #require(fopen(path, "w"))
        fputs(text, file)
        fclose(file)
    }
}
