import EngineTestKit
import Testing

@testable import SyncCore

/// Requests that are read in one pass, against those that are read from the tape.
@Suite("Plain requests")
struct PlainRequestTests {
    @Test("what is read in one pass is what the decoder reads")
    func sameRequests() {
        var random = ProtocolRandom(seed: ProtocolRandom.seed)
        var decoder = MessageDecoder()
        var (plain, damagedPlain) = (0, 0)
        for round in 0..<20_000 {
            var bytes = Array(random.request().utf8)
            let isDamaged = round % 2 == 1
            if isDamaged { bytes = random.mutated(bytes) }
            let message = "seed \(ProtocolRandom.seed): \(String(decoding: bytes, as: UTF8.self))"
            let decoded = decoder.decode(bytes)
            bytes.withUnsafeBytes { text in
                guard let read = PlainRequest(text) else { return }
                if isDamaged { damagedPlain += 1 } else { plain += 1 }
                let id = RequestID(rawText: String(plain: read.id))
                let call = Call(id: id, content: .success(Request(read)))
                if decoded != .single(call) { Issue.record("\(message)") }
                guard let written = written(read) else { return }
                let isSame =
                    written == JSONWriter.bytes { Request(read).encode(id: nil, into: &$0) }
                #expect(isSame, "\(message)")
            }
        }
        #expect(plain > 1000 && damagedPlain > 0, "seed \(ProtocolRandom.seed)")
    }

    @Test("the most frequent requests are read in one pass")
    func frequentRequests() {
        let set = StateSet(
            form: "f", changes: [Change(field: "a", .value(.string("plain text, 1")))],
            context: "3f9a.1:7")
        let requests: [Request] = [
            .ping, .stateGet(StateGet(form: "f", fields: ["a"])), .stateSet(set),
            .stateSet(StateSet(form: "f", changes: [Change(field: "a", .toggle)])),
            .stateSet(StateSet(form: "f", changes: [Change(field: "a", .add([.string("x")]))])),
            .stateSet(
                StateSet(
                    form: "f", changes: [Change(field: "a", context: "3f9a.1:7", .reset)],
                    idempotencyKey: "k9.1")),
        ]
        for request in requests {
            let text = request.frame(id: RequestID(7)).dropFirst(Frame.headerBytes)
            Array(text).withUnsafeBytes { text in
                guard let read = PlainRequest(text) else {
                    Issue.record("not read: \(request)")
                    return
                }
                #expect(Request(read) == request)
            }
        }
    }

    @Test(
        "answers, notifications and stored rows are the same",
        arguments: [
            Durability.commit, .memory,
        ])
    func sameAnswers(durability: Durability) throws {
        var random = ProtocolRandom(seed: ProtocolRandom.seed)
        let hosts = [
            try EngineHost(durability: durability), try EngineHost(durability: durability),
        ]
        let clients = hosts.map { host in
            (0..<4).map { host.connect(uid: UInt32($0 / 2), user: "u\($0 / 2)") }
        }
        func ask(_ client: Int, _ text: String) {
            hosts[0].send(clients[0][client], text)
            // With a space it is not a plain request.
            hosts[1].send(clients[1][client], text + " ")
            for host in hosts { host.settle() }
            for client in 0..<4 {
                let answers = [
                    hosts[0].take(clients[0][client]), hosts[1].take(clients[1][client]),
                ]
                guard answers[0] != answers[1] else { continue }
                Issue.record("seed \(ProtocolRandom.seed): \(text): \(answers)")
            }
        }
        ask(
            0,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":\#(Self.form)}}"#
        )
        for client in 1..<4 {
            let fields = client == 3 ? #","fields":["t*"]"# : ""
            ask(
                client,
                #"{"jsonrpc":"2.0","id":1,"method":"state.subscribe","params":{"form":"f"\#(fields)}}"#
            )
        }
        for _ in 0..<2000 { ask(Int.random(in: 0..<4, using: &random), random.request()) }
        #expect(hosts[0].store.image() == hosts[1].store.image(), "seed \(ProtocolRandom.seed)")
    }

    private static let form = """
        {"form":"f","access":{"write":["anyone"]},"fields":[\
        {"id":"text","type":"text","maxLength":40},\
        {"id":"flag","type":"toggle"},{"id":"count","type":"stepper","min":0,"max":9},\
        {"id":"pick","type":"picker","options":["a","b","c"]},\
        {"id":"tags","type":"picker","multiple":true,"options":["a","b","c"]},\
        {"id":"go","type":"button"},{"id":"secret","type":"secure"},\
        {"id":"mine","type":"text","access":{"write":["user:u0"]}},\
        {"id":"when","type":"text","enabledWhen":{"flag":true}},\
        {"id":"asked","type":"text","onConflict":"ask"},\
        {"id":"first","type":"text","onConflict":"first"},\
        {"id":"shown","type":"text","binds":"text"}]}
        """
}

/// A set as its key's digest has it.
private func written(_ plain: borrowing PlainRequest) -> [UInt8]? {
    switch plain.content {
    case .set(let edit): JSONWriter.bytes { edit.encode(into: &$0) }
    default: nil
    }
}

extension Request {
    /// The request that a plain one is.
    init(_ plain: borrowing PlainRequest) {
        switch plain.content {
        case .ping: self = .ping
        case .get(let form, let field):
            self = .stateGet(StateGet(form: String(plain: form), fields: [String(plain: field)]))
        case .set(let edit):
            let token = edit.context.map { String(plain: $0) }
            let change = Change(
                field: String(plain: edit.field), context: edit.hasOwnContext ? token : nil,
                edit.action)
            self = .stateSet(
                StateSet(
                    form: String(plain: edit.form), changes: [change],
                    context: edit.hasOwnContext ? nil : token,
                    idempotencyKey: edit.idempotencyKey.map { String(plain: $0) }))
        }
    }
}

extension ProtocolRandom {
    private mutating func one(of texts: [String]) -> String { texts.randomElement(using: &self)! }

    /// A request that is nearly always a plain one, or nearly one.
    fileprivate mutating func request() -> String {
        let id = one(of: [
            "1", "77", "-5", "1.5", "1e2", "01", "\"x\"", "\"\"", "null", "\"\\u0041\"",
        ])
        let form = one(of: ["f", "f", "f", "f", "f", "f", "g", "", "é"])
        let field = one(of: [
            "text", "text", "flag", "count", "pick", "tags", "go", "secret", "mine", "when",
            "asked", "first", "shown", "none", "t*",
        ])
        let scalar = one(of: [
            "\"a\"", "\"b\"", "\"\"", "\"a longer text of this user\"", "\"q\\\"\"", "\"\u{7f}\"",
            "\"é\"", "true", "false", "null", "0", "3", "-1", "0.50", "1e1", "12345678901234567890",
            "1.", "-", "00",
        ])
        let list = one(of: ["[]", "[\"a\"]", "[\"a\",\"b\"]", "[\"a\",\"a\"]", "[1]", "[[1]]"])
        let action = one(of: [
            "\"value\":\(scalar)", "\"value\":\(scalar)", "\"value\":\(scalar)",
            "\"value\":\(list)", "\"value\":{\"a\":1}", "\"add\":\(list)", "\"remove\":\(list)",
            "\"increment\":\(scalar)", "\"increment\":1", "\"toggle\":true", "\"toggle\":false",
            "\"reset\":true", "\"press\":true", "\"move\":\"next\"",
        ])
        let name = "\"field\":\"\(field)\""
        let token = one(of: ["", "3f9a.1:1", "3f9a.1:4", "3f9a.1:0+9", "nonsense"])
        let context = "\"context\":\"\(token)\""
        let key = one(of: ["k1", "k2", "k\(Int.random(in: 0..<500, using: &self))", "", "é"])
        let change = one(of: [
            "{\(name),\(action)}", "{\(name),\(action)}", "{\(action),\(name)}", "{\(name)}",
            "{\(name),\(action),\(action)}", "{\(name),\(name),\(action)}",
            "{\(name),\(action),\(context)}", "{\(context),\(name),\(action)}",
        ])
        let changes = one(of: ["[\(change)]", "[\(change)]", "[\(change),\(change)]", "[]"])
        let extra = one(of: [
            "", "", "", "", ",\(context)", ",\"requireFields\":[\"text\"]", ",\"x\":1",
            ",\"idempotencyKey\":\"\(key)\"", ",\"idempotencyKey\":\"\(key)\",\(context)",
        ])
        let params = one(of: [
            "{\"form\":\"\(form)\",\"changes\":\(changes)\(extra)}",
            "{\"form\":\"\(form)\",\"changes\":\(changes)\(extra)}",
            "{\"changes\":\(changes)\(extra),\"form\":\"\(form)\"}",
            "{\"form\":\"\(form)\",\"fields\":[\"\(field)\"]\(extra)}", "{}", "[]",
        ])
        let method = one(of: [
            "state.set", "state.set", "state.set", "state.get", "ping", "state.undo", "state.st",
        ])
        return one(of: [
            "{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"\(method)\",\"params\":\(params)}",
            "{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"\(method)\",\"params\":\(params)}",
            "{\"id\":\(id),\"params\":\(params),\"method\":\"\(method)\",\"jsonrpc\":\"2.0\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"ping\"}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"\(method)\",\"params\":\(params)}",
            "{\"jsonrpc\":\"1.0\",\"id\":\(id),\"method\":\"\(method)\",\"params\":\(params)}",
        ])
    }
}
