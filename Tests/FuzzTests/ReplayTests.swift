import Foundation
import FuzzTargets
import TestKit
import Testing

/// What the fuzzers know: small inputs that reach far, and every failure that was ever found.
@Suite struct FuzzReplayTests {
    private static let folder = sourceTree.appending(path: "Fuzz")

    private static func inputs(_ kind: String, _ target: FuzzTarget) throws -> [(String, [UInt8])] {
        let place = folder.appending(path: "\(kind)/\(target.rawValue)")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
        return try names.sorted().map { name in
            (name, try Array(Data(contentsOf: place.appending(path: name))))
        }
    }

    @Test("what was once found stays mended", arguments: FuzzTarget.allCases)
    func failures(target: FuzzTarget) throws {
        for (_, bytes) in try Self.inputs("FailCases", target) { target.run(bytes) }
    }

    @Test("no kept input breaks a law, whole or cut or altered", arguments: FuzzTarget.allCases)
    func corpus(target: FuzzTarget) throws {
        let inputs = try Self.inputs("Corpus", target)
        #expect(!inputs.isEmpty, "\(target.rawValue) has no corpus")
        for (index, (_, bytes)) in inputs.enumerated() {
            target.run(bytes)
            guard index.isMultiple(of: 8), !bytes.isEmpty else { continue }
            target.run(Array(bytes.prefix(bytes.count / 2)))
            var altered = bytes
            altered[(index &* 31) % bytes.count] ^= 0x40
            target.run(altered)
        }
    }
}
