import EngineTestKit
import TestKit
import Testing

@testable import SyncCore

/// The bytes of an instance before and after the address of the object: the Swift runtime's
/// `_swift_getSwiftClassInstanceExtents`.
@_silgen_name("_swift_getSwiftClassInstanceExtents")
private func instanceExtents(_ type: AnyClass) -> (negative: UInt, positive: UInt)

/// The memory of a client that only watches, because there may be ten thousand.
@Suite struct IdleConnectionTests {
    private static let subscribe =
        #"{"jsonrpc":"2.0","id":1,"method":"state.subscribe","params":{"form":"f"}}"#

    private func host(_ limits: Limits = Limits()) throws -> (EngineHost, root: ConnectionID) {
        let host = try EngineHost(limits: limits)
        let root = host.connect(uid: 0, user: "root")
        host.ask(
            root,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":{"form":"f","fields":[{"id":"t","type":"text","maxLength":4000}]}}}"#
        )
        return (host, root)
    }

    private func set(_ value: String) -> String {
        #"{"jsonrpc":"2.0","id":2,"method":"state.set","params":{"form":"f","changes":[{"field":"t","value":"\#(value)"}]}}"#
    }

    /// The size of an instance. What malloc(3) gives for it can be 16 bytes more, if the rest of a
    /// free chunk would be too small to be one.
    private func bytes(_ type: AnyClass) -> Int {
        Int(instanceExtents(type).positive)
    }

    @Test("a connection and its one subscription take 208 bytes together")
    func size() throws {
        let (host, _) = try host()
        let id = host.connect(uid: 7)
        #expect(host.ask(id, Self.subscribe).count == 1)
        let connection = try #require(host.engine.connections[id])
        let subscription = try #require(connection.subscriptions.first { _ in true })
        #expect(bytes(type(of: connection)) <= 136)
        #expect(bytes(type(of: subscription)) <= 72)
        #expect(MemoryLayout<SubscriptionList>.size == 8)
        #expect(connection.isAtRest)
        #expect(connection.clientState == nil)
    }

    @Test("who has waited for a turn, in the order of its requests, keeps nothing of the wait")
    func waited() throws {
        let (host, _) = try host()
        let others = (0..<8).map { _ in host.connect(uid: 8, user: "bob") }
        let ids = (0..<8).map { _ in host.connect(uid: 7) }
        let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
        let pings = (0..<200).flatMap { _ in Frame.encode(text: Array(ping.utf8)) }
        for id in others + ids { host.sendBytes(id, pings) }
        for id in ids { host.send(id, Self.subscribe) }
        #expect(host.engine.connections[ids[7]]?.hasWork == true)
        host.settle()
        for id in ids {
            #expect(host.take(id).count == 201)
            #expect(host.engine.connections[id]?.clientState == nil)
        }
    }

    @Test("who was brought up to date from the store keeps nothing of its pages")
    func pages() throws {
        var limits = Limits()
        limits.changeLogBytesMax = 8 << 10
        let (host, root) = try host(limits)
        let long = String(repeating: "x", count: 3000)
        for number in 0..<20 { host.ask(root, set("\(number)" + long)) }
        let log = try #require(host.engine.form(named: "f")).log
        let id = host.connect(uid: 7)
        host.send(
            id,
            #"{"jsonrpc":"2.0","id":1,"method":"state.subscribe","params":{"form":"f","since":{"log":"\#(log)","revision":1}}}"#
        )
        host.settle()
        #expect(host.take(id).count == 21)
        #expect(host.engine.connections[id]?.isAtRest == true)
        #expect(host.engine.connections[id]?.clientState == nil)
        host.ask(root, set("news"))
        #expect(host.take(id).count == 1)
    }

    @Test("a table of connections finds whom a dictionary finds")
    func table() {
        final class Member: ConnectionKeeper {
            let id: ConnectionID
            init(_ id: ConnectionID) { self.id = id }
        }
        var random = SplitMix64(seed: SplitMix64.seed(from: "PICKERSYNC_SEED"))
        for spread: UInt64 in [64, 4096, .max] {
            var table = ConnectionTable<Member>()
            var model: [ConnectionID: Member] = [:]
            for step in 0..<4000 {
                let id = ConnectionID(.random(in: 0..<spread, using: &random))
                // It grows at first, then shrinks.
                if Int.random(in: 0..<4000, using: &random) > step {
                    let member = Member(id)
                    table.insert(member)
                    model[id] = member
                } else {
                    let known = model.keys.sorted().randomElement(using: &random) ?? id
                    #expect(table.remove(known) === model.removeValue(forKey: known))
                    #expect(table.remove(known) == nil)
                }
                #expect(table.count == model.count)
                #expect(table[id] === model[id])
            }
            #expect(model.allSatisfy { table[$0.key] === $0.value })
            #expect(table.inOrder.map(\.id) == model.keys.sorted())
        }
    }

    @Test("subscriptions of one connection are kept in their order, however many they are")
    func list() throws {
        let (host, _) = try host()
        let id = host.connect(uid: 7)
        let connection = try #require(host.engine.connections[id])
        let form = try #require(host.engine.form(named: "f"))
        var random = SplitMix64(seed: SplitMix64.seed(from: "PICKERSYNC_SEED"))
        var list = SubscriptionList.none
        var model: [Subscription] = []
        for _ in 0..<400 {
            if Bool.random(using: &random) {
                let more = Subscription(
                    connection: connection, form: form, position: .ended, globs: nil,
                    presence: false, answer: .unowed)
                model.append(more)
                list.append(more)
            } else if let gone = model.randomElement(using: &random) {
                model.removeAll { $0 === gone }
                list.remove(gone)
                list.remove(gone)
            }
            var seen: [ObjectIdentifier] = []
            list.forEach { seen.append(ObjectIdentifier($0)) }
            #expect(seen == model.map { ObjectIdentifier($0) })
            #expect(list.isEmpty == model.isEmpty)
            #expect(list.first { $0 === model.last } === model.last)
            #expect(list.contains { $0 === model.first } == !model.isEmpty)
        }
    }

    @Test("answers leave in the order of their requests, whichever comes first, and are counted")
    func answers() {
        var random = SplitMix64(seed: SplitMix64.seed(from: "PICKERSYNC_SEED"))
        for _ in 0..<200 {
            var queue = AnswerQueue()
            var model: [[UInt8]?] = []
            var waiting: [(slot: AnswerQueue.Slot, place: Int)] = []
            var left: [UInt8] = []
            func answer() -> [UInt8] {
                let count = [0, 1, 200, 20_000].randomElement(using: &random)!
                return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            }
            func take() {
                var output = Output()
                queue.take(into: &output)
                for segment in output.segments {
                    left += UnsafeRawBufferPointer(start: segment.baseAddress, count: segment.count)
                }
            }
            for _ in 0..<60 {
                switch Int.random(in: 0..<5, using: &random) {
                case 0, 1:
                    waiting.append((queue.reserve(), model.count))
                    model.append(nil)
                case 2, 3:
                    guard let index = waiting.indices.randomElement(using: &random) else { break }
                    let (slot, place) = waiting.remove(at: index)
                    let text = answer()
                    if text.isEmpty || Bool.random(using: &random) {
                        queue.fill(slot, with: text)
                        model[place] = text
                    } else {
                        text.withUnsafeBufferPointer { queue.fill(slot, text: $0) }
                        model[place] = Frame.encode(text: text)
                    }
                    #expect(queue.isAnswered(slot) == !model[...place].contains(nil))
                default:
                    let frame = answer()
                    queue.append(frame)
                    model.append(frame)
                }
                if Int.random(in: 0..<8, using: &random) == 0 { take() }
                let owed = model.reduce(0) { $0 + ($1?.count ?? 0) }
                #expect(queue.bytes == owed - left.count)
                #expect(queue.isWaiting == model.contains(nil))
            }
            for (slot, place) in waiting {
                queue.fill(slot, with: [])
                model[place] = []
            }
            take()
            #expect(left == model.flatMap { $0 ?? [] })
            #expect(queue.isEmpty)
        }
    }
}
