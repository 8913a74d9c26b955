import Foundation
import TestKit
import Testing

@Suite("The OpenRPC description of the protocol")
struct DescriptionTests {
    @Test("every answer, error and notification of the daemon is as it describes them")
    func agrees() throws {
        let run = try ChildProcess.run(
            [
                "python3", "Tests/SystemTests/check_openrpc.py", "docs/protocol.openrpc.json",
                builtProducts.path,
            ])
        try #require(run.status != 3, "python3 has no jsonschema: scripts/dependencies build test")
        #expect(run.status == 0, "\(run.out)")
    }
}
