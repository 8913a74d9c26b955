import Foundation
import SyncCore
import Testing

@testable import Store

@Suite("Sealed values and their key")
struct SealerTests {
    private let place = Array("form/field/3f9a.1:7".utf8)

    @Test("a sealed value of any length can be opened, and no two are the same")
    func roundTrip() throws {
        let scratch = try Scratch()
        let sealer = try Sealer.load(directory: scratch.path, credentials: nil)
        for length in [0, 1, 15, 16, 17, 1_000, 100_000] {
            let plaintext = [UInt8](repeating: 0x61, count: length)
            let sealed = sealer.seal(plaintext: plaintext, associated: place)
            #expect(sealed.count == length + Sealer.overhead)
            #expect(sealer.open(sealed, associated: place) == plaintext)
            #expect(sealer.seal(plaintext: plaintext, associated: place) != sealed)
        }
        let unbound = sealer.seal(plaintext: [1], associated: [])
        #expect(sealer.open(unbound, associated: []) == [1])
        #expect(sealer.open(unbound, associated: place) == nil)
    }

    @Test("bytes that were altered, cut or moved do not open")
    func tampered() throws {
        let scratch = try Scratch()
        let sealer = try Sealer.load(directory: scratch.path, credentials: nil)
        let sealed = sealer.seal(plaintext: Array("secret".utf8), associated: place)
        for index in sealed.indices {
            for bit in 0..<8 {
                var altered = sealed
                altered[index] ^= 1 << bit
                #expect(sealer.open(altered, associated: place) == nil)
            }
            #expect(sealer.open(Array(sealed[..<index]), associated: place) == nil)
        }
        #expect(sealer.open(sealed + [0], associated: place) == nil)
        #expect(sealer.open(sealed, associated: place + [0]) == nil)
        #expect(sealer.open(sealed, associated: []) == nil)
    }

    @Test("a digest is the same with one key, and another with another key")
    func digests() throws {
        let scratch = try Scratch()
        let other = try Scratch()
        let request = Array(#"{"value":"1234"}"#.utf8)
        let known = try Sealer.load(directory: scratch.path, credentials: nil).digest(of: request)
        let again = try Sealer.load(directory: scratch.path, credentials: nil)
        #expect(again.digest(of: request) == known)
        #expect(again.digest(of: request + [0]) != known)
        let stranger = try Sealer.load(directory: other.path, credentials: nil)
        #expect(stranger.digest(of: request) != known)
        #expect(Sealer.unkeyed(request) != known)
    }

    @Test("a fleet that changes its key has two: the first seals, each opens what it has sealed")
    func fleetKeys() throws {
        let scratch = try Scratch()
        let files = ["old", "new"].map { scratch.path + "/" + $0 }
        for file in files { try Sealer.makeFleetKey(file: file) }
        func load(_ files: [String], credentials: String? = nil) throws -> [UInt64] {
            try Sealer.fleetKeys(
                files: files, directory: scratch.path, credentials: credentials
            ).map(\.id)
        }
        let ids = try load(files)
        #expect(Set(ids).count == 2)
        #expect(try load(files.reversed()) == ids.reversed())
        #expect(throws: SealerError.absent(file: scratch.path + "/fleet-key")) { try load([]) }
        #expect(throws: SealerError.absent(file: scratch.path + "/none")) {
            try load([files[0], scratch.path + "/none"])
        }
        let folder = try Scratch()
        for (file, name) in zip(files, ["", "-other"]) {
            try FileManager.default.copyItem(
                atPath: file, toPath: folder.path + "/pickersync-fleet-key" + name)
        }
        #expect(try load([], credentials: folder.path) == ids)
        #expect(try load([files[1]], credentials: folder.path) == [ids[1]])
    }

    @Test("another key does not open it, and the same key file does")
    func keys() throws {
        let scratch = try Scratch()
        let other = try Scratch()
        let sealed = try Sealer.load(directory: scratch.path, credentials: nil)
            .seal(plaintext: [1, 2, 3], associated: place)
        let again = try Sealer.load(directory: scratch.path, credentials: nil)
        #expect(again.open(sealed, associated: place) == [1, 2, 3])
        let stranger = try Sealer.load(directory: other.path, credentials: nil)
        #expect(stranger.open(sealed, associated: place) == nil)
        let attributes = try FileManager.default.attributesOfItem(atPath: scratch.path + "/key")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(attributes[.size] as? Int == 32)
        #expect(try scratch.names() == ["key"])
    }

    @Test("a credential has precedence over the file, raw or in digits")
    func credential() throws {
        let scratch = try Scratch()
        let credentials = try Scratch()
        let key = (0..<32).map { UInt8($0 * 7) }
        let digits = key.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        var sealed: [UInt8] = []
        for content in [key, Array(digits.utf8), Array((digits.uppercased() + "\n").utf8)] {
            // systemd shows 0440 where it grants access by an ACL.
            try credentials.write(credentials.path + "/pickersync-key", content, mode: 0o440)
            let sealer = try Sealer.load(directory: scratch.path, credentials: credentials.path)
            if sealed.isEmpty { sealed = sealer.seal(plaintext: [5], associated: place) }
            #expect(sealer.open(sealed, associated: place) == [5])
        }
        #expect(try scratch.names().isEmpty)
    }

    @Test("with credentials of other names the key is read from the file")
    func otherCredentials() throws {
        let scratch = try Scratch()
        _ = try Sealer.load(directory: scratch.path, credentials: scratch.path + "/none")
        #expect(try scratch.names() == ["key"])
    }

    @Test(
        "what is not a key is refused with its size, and never replaced",
        arguments: [0, 1, 31, 33, 63, 64, 65, 66, 67, 5_000])
    func malformed(size: Int) throws {
        let scratch = try Scratch()
        let content = [UInt8](repeating: 0x7a, count: size)
        try scratch.write(scratch.path + "/key", content)
        let error = try #require(throws: SealerError.self) {
            try Sealer.load(directory: scratch.path, credentials: nil)
        }
        guard case .malformed = error else {
            Issue.record("\(error)")
            return
        }
        #expect(error.description.contains("32 bytes"))
        #expect(try scratch.bytes(scratch.path + "/key") == content)
    }

    @Test(
        "a key that others can use, or a link to one, is refused",
        arguments: [0o644, 0o640, 0o620, 0o604, 0o601])
    func permissions(mode: Int) throws {
        let scratch = try Scratch()
        _ = try Sealer.load(directory: scratch.path, credentials: nil)
        let file = scratch.path + "/key"
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        let error = try #require(throws: SealerError.self) {
            try Sealer.load(directory: scratch.path, credentials: nil)
        }
        guard case .unsafe(_, let finding, let remedy) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(finding.contains(String(mode, radix: 8)))
        #expect(remedy.contains("chmod 600"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        let other = try Scratch()
        try FileManager.default.createSymbolicLink(
            atPath: other.path + "/key", withDestinationPath: file)
        #expect(throws: SealerError.self) {
            try Sealer.load(directory: other.path, credentials: nil)
        }
    }

    @Test("a directory or a named pipe in place of the key is refused at once")
    func noFile() throws {
        let scratch = try Scratch()
        #expect(mkfifo(scratch.path + "/key", 0o600) == 0)
        #expect(throws: SealerError.self) {
            try Sealer.load(directory: scratch.path, credentials: nil)
        }
        let other = try Scratch()
        try FileManager.default.createDirectory(
            atPath: other.path + "/key", withIntermediateDirectories: false)
        #expect(throws: SealerError.self) {
            try Sealer.load(directory: other.path, credentials: nil)
        }
    }

    @Test("a key file that a crash left half-written is created again")
    func halfWritten() throws {
        let scratch = try Scratch()
        try scratch.write(scratch.path + "/key.new", [1, 2, 3])
        _ = try Sealer.load(directory: scratch.path, credentials: nil)
        #expect(try scratch.names() == ["key"])
        #expect(try scratch.bytes(scratch.path + "/key").count == 32)
    }

    @Test("a sealed secret is in no file of the store")
    func canary() throws {
        let scratch = try Scratch()
        let canary = Array("canary-5f0e6b7a-do-not-leak".utf8)
        let store = try scratch.open().store
        let sealer = try Sealer.load(directory: scratch.path, credentials: nil)
        try store.put(.putForm(.sample()))
        try store.put(
            .putField(
                FieldRow(
                    form: 1, field: "pin",
                    state: sealer.seal(plaintext: canary, associated: place))))
        func leaks() throws -> [String] {
            try scratch.names().filter { name in
                let data = try Data(contentsOf: URL(fileURLWithPath: scratch.path + "/" + name))
                return data.range(of: Data(canary)) != nil
            }
        }
        #expect(try leaks().isEmpty)
        _ = try store.rebuild(try store.all())
        #expect(try leaks().isEmpty)
        let state = try store.all().fields[0].state
        #expect(sealer.open(state, associated: place) == canary)
        try store.close()
        #expect(try leaks().isEmpty)
        // The search works.
        try scratch.write(scratch.path + "/leak", [0, 0] + canary + [0])
        #expect(try leaks() == ["leak"])
    }

    @Test("random bits differ")
    func random() {
        #expect(Set((0..<100).map { _ in randomBits() }).count == 100)
    }
}
