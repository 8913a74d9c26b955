import EngineTestKit
import SyncCore
import Testing

/// The log entries of a store that cannot be written.
@Suite struct BrokenStoreLogTests {
    @Test("a disk that stays full is logged once, not at each attempt")
    func once() throws {
        let host = try EngineHost()
        let root = host.connect(uid: 0, user: "root")
        host.rebuildWorks = false
        host.holdsCommits = true
        host.send(
            root,
            #"""
            {"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":\#
            {"form":"f","fields":[{"id":"a","type":"text"}]}}}
            """#)
        host.settle()
        host.failCommit()
        host.holdsCommits = false
        for _ in 0..<20 {
            host.pass(milliseconds: 600)
            host.settle()
        }
        let said = host.log.filter { $0.message.contains("cannot be written") }
        #expect(said.count == 1)
        host.rebuildWorks = true
        host.pass(milliseconds: 600)
        host.settle()
        #expect(host.log.contains { $0.message.contains("accepted again") })
    }
}
