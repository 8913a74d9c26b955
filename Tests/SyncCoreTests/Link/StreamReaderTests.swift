// What a reader remembers of those who publish.

import Testing

@testable import SyncCore

@Suite("Link: readers of a stream")
struct StreamReaderTests {
    private func headers(_ replica: Int, run: UInt64) -> LinkHeaders {
        LinkHeaders(
            replica: ReplicaID(id: UInt64(replica), epoch: 1), counters: 1...1, run: run,
            number: 1, key: 1)
    }

    @Test("a run that comes back is found, and the replicas that are remembered are limited")
    func copies() {
        var limits = Limits()
        limits.linkHostsMax = 2
        var reader = StreamReader(site: "", kept: nil, limits)
        var found: [Int] = []
        func hear(_ replica: Int, run: UInt64) {
            if reader.showsCopy(headers(replica, run: run)) { found.append(replica) }
        }
        for replica in [1, 2] { for run: UInt64 in [1, 2] { hear(replica, run: run) } }
        for other in 3...1_000 {
            hear(other, run: 1)
            hear(2, run: 2)
        }
        // The one that was heard all the time is known, and nothing wrong is said of the other.
        hear(1, run: 1)
        hear(2, run: 1)
        #expect(found == [2])
        hear(1, run: 2)
        hear(1, run: 1)
        #expect(found == [2, 1])
    }
}
