import EventLoop
import SyncCore
import Testing

@testable import Link

/// A server's messages to a loop, with a bound.
private func withQueue(bytesMax: Int, _ body: (NatsQueue) throws -> Void) throws {
    try Loop.withLoop { loop in
        let wake = try WakeSource(loop: loop)
        try withExtendedLifetime(wake) {
            try body(NatsQueue(waking: wake.waker, bytesMax: bytesMax))
        }
    }
}

extension NatsQueue {
    /// Whether the next event is one of a kind.
    fileprivate func takes(_ isIt: (NatsEvent) -> Bool) -> Bool { take().map(isIt) ?? false }
}

@Suite("The memory of a bridge")
struct BridgeMemoryTests {
    @Test("a queue keeps its bytes; beyond, only that it was too much")
    func bounded() throws {
        try withQueue(bytesMax: 4_000) { queue in
            let message = NatsEvent.message(
                LinkTransfer(subject: "ps.ops.a.b", data: Array(repeating: 7, count: 1_000)))
            for _ in 0..<3 { queue.add(message) }
            #expect(queue.takes { if case .message = $0 { true } else { false } })
            queue.add(message)
            #expect(!queue.isFull, "what was taken does not count")
            queue.add(message)
            #expect(queue.isFull)
            for _ in 0..<10 { queue.add(message) }
            #expect(queue.takes { if case .full = $0 { true } else { false } })
            #expect(queue.take() == nil)
        }
    }

    @Test("what a daemon would refuse as a request is cut, so that it can refuse the message")
    func cut() {
        let long = LinkTransfer(
            subject: String(repeating: "s", count: 5_000),
            headers: Array(repeating: String(repeating: "h", count: 5_000), count: 100),
            data: Array(repeating: 1, count: 2 << 20)
        ).cutToLimits
        #expect(long.data.isEmpty)
        let request = Request.linkMessage(long).frame(id: RequestID(1))
        #expect(request.count < 256 << 10)
        let short = LinkTransfer(subject: "a", reply: "b", headers: ["c: d"], data: [1])
        #expect(short.cutToLimits == short)
    }
}
