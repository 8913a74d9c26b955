import SyncCore
import Testing

/// What a frame from a client comes to, written in one line a call: `7 ping` (a request with its id
/// and method), `- ping` (a notification), `7 !invalidParams form` (an error with its path).
private func outcome(_ frame: IncomingFrame) -> String {
    func line(_ call: Call) -> String {
        let id = call.id?.rawText ?? "-"
        switch call.content {
        case .success(let request): return "\(id) \(request.method.rawValue)"
        case .failure(let error):
            return "\(id) !\(error.kind.rawValue)" + (error.path.map { " \($0)" } ?? "")
        }
    }
    switch frame {
    case .single(let call): return line(call)
    case .batch(let calls): return "[" + calls.map(line).joined(separator: "; ") + "]"
    case .refused(let error): return "null !\(error.kind.rawValue)"
    }
}

@Suite("JSON-RPC, the daemon's side")
struct ConversationTests {
    static let conversations: [(String, String)] = [
        // Requests and ids.
        (#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, "7 ping"),
        (#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{}}"#, "7 ping"),
        (#" { "method" : "ping" , "id" : "a" , "jsonrpc" : "2.0" } "#, #""a" ping"#),
        (#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "null ping"),
        (#"{"jsonrpc":"2.0","id":-1.50e2,"method":"ping"}"#, "-1.50e2 ping"),
        (#"{"jsonrpc":"2.0","id":1e999,"method":"ping"}"#, "1e999 ping"),
        (#"{"jsonrpc":"2.0","id":"\u00e9\"","method":"ping"}"#, #""\u00e9\"" ping"#),
        (
            #"{"jsonrpc":"2.0","id":12345678901234567890123,"method":"ping"}"#,
            "12345678901234567890123 ping"
        ),
        (#"{"jsonrpc":"2.\u0030","id":1,"method":"pin\u0067"}"#, "1 ping"),
        (#"{"jsonrpc":"2.0","id":1,"method":"ping","trace":{"a":1}}"#, "1 ping"),
        // Notifications.
        (#"{"jsonrpc":"2.0","method":"ping"}"#, "- ping"),
        (#"{"jsonrpc":"2.0","method":"nothing"}"#, "- !methodNotFound"),
        (#"{"jsonrpc":"2.0","method":"form.get"}"#, "- !invalidParams form"),
        // No requests.
        ("", "null !parse"), ("{", "null !parse"),
        (#"{"jsonrpc":"2.0","method":"foobar, "params"#, "null !parse"),
        (#"{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}"#, "null !parse"),
        (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":{"b":1,"b":2}}}"#, "null !parse"),
        (#"[{"jsonrpc":"2.0","method":"sum","id":"1"},{"jsonrpc":"2.0","method""#, "null !parse"),
        ("1", "null !invalidRequest"), ("null", "null !invalidRequest"),
        (#""ping""#, "null !invalidRequest"),
        ("{}", "null !invalidRequest"), (#"{"foo":"boo"}"#, "null !invalidRequest"),
        (#"{"jsonrpc":"2.0","method":1,"params":"bar"}"#, "null !invalidRequest"),
        (#"{"jsonrpc":"2.0","id":3}"#, "3 !invalidRequest"),
        (#"{"jsonrpc":"2.0","id":3,"method":null}"#, "3 !invalidRequest"),
        (#"{"id":3,"method":"ping"}"#, "3 !invalidRequest"),
        (#"{"jsonrpc":2.0,"id":3,"method":"ping"}"#, "3 !invalidRequest"),
        (#"{"jsonrpc":"2","id":3,"method":"ping"}"#, "3 !invalidRequest"),
        (#"{"jsonrpc":"2.0 ","id":3,"method":"ping"}"#, "3 !invalidRequest"),
        (#"{"JSONRPC":"2.0","id":3,"method":"ping"}"#, "3 !invalidRequest"),
        (#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, "null !invalidRequest"),
        (#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, "null !invalidRequest"),
        (#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, "null !invalidRequest"),
        (#"{"jsonrpc":"2.0","id":3,"method":"ping","params":"bar"}"#, "3 !invalidRequest"),
        (#"{"jsonrpc":"2.0","id":3,"method":"ping","params":null}"#, "3 !invalidRequest"),
        (#"{"jsonrpc":"2.0","method":"ping","params":1}"#, "null !invalidRequest"),
        // Methods and params.
        (#"{"jsonrpc":"2.0","id":3,"method":"Ping"}"#, "3 !methodNotFound"),
        (#"{"jsonrpc":"2.0","id":3,"method":"rpc.discover"}"#, "3 !methodNotFound"),
        (#"{"jsonrpc":"2.0","id":3,"method":""}"#, "3 !methodNotFound"),
        (#"{"jsonrpc":"2.0","id":3,"method":"ping","params":[]}"#, "3 !invalidParams params"),
        (
            #"{"jsonrpc":"2.0","id":3,"method":"form.get","params":["ice"]}"#,
            "3 !invalidParams params"
        ),
        (#"{"jsonrpc":"2.0","id":3,"method":"ping","params":{"x":1}}"#, "3 !invalidParams x"),
        // Batches (JSON-RPC 2.0, section 7).
        ("[]", "null !invalidRequest"), ("[1]", "[null !invalidRequest]"),
        ("[1,2,3]", "[null !invalidRequest; null !invalidRequest; null !invalidRequest]"),
        ("[[]]", "[null !invalidRequest]"),
        (
            #"[{"jsonrpc":"2.0","method":"ping"},{"jsonrpc":"2.0","method":"nothing"}]"#,
            "[- ping; - !methodNotFound]"
        ),
        (
            #"[{"jsonrpc":"2.0","id":"1","method":"ping"},{"foo":"boo"},{"jsonrpc":"2.0","method":"ping"},{"jsonrpc":"2.0","id":5,"method":"foo.get"},{"jsonrpc":"2.0","id":"9","method":"form.list"}]"#,
            #"["1" ping; null !invalidRequest; - ping; 5 !methodNotFound; "9" form.list]"#
        ),
    ]

    @Test("each frame comes to what JSON-RPC 2.0 says", arguments: conversations)
    func conversation(_ text: String, _ expected: String) {
        var decoder = MessageDecoder()
        #expect(outcome(decoder.decode(Array(text.utf8))) == expected)
    }

    @Test("one decoder gives the same whatever it decoded before")
    func reuse() {
        var decoder = MessageDecoder()
        for (text, expected) in Self.conversations + Self.conversations.reversed() {
            #expect(outcome(decoder.decode(Array(text.utf8))) == expected)
        }
    }

    @Test("a long id and a long batch are refused, since answers to them would grow")
    func bounds() {
        var decoder = MessageDecoder()
        decoder.bounds.idBytesMax = 8
        decoder.bounds.requestBatchMax = 2
        func decode(_ text: String) -> String { outcome(decoder.decode(Array(text.utf8))) }
        #expect(decode(#"{"jsonrpc":"2.0","id":"123456","method":"ping"}"#) == #""123456" ping"#)
        #expect(
            decode(#"{"jsonrpc":"2.0","id":"1234567","method":"ping"}"#) == "null !invalidRequest")
        #expect(decode("[1,2]") == "[null !invalidRequest; null !invalidRequest]")
        #expect(decode("[1,2,3]") == "null !limit")
    }

    @Test("an unknown method gets the nearest names")
    func similarMethods() throws {
        var decoder = MessageDecoder()
        let frame = decoder.decode(Array(#"{"jsonrpc":"2.0","id":1,"method":"state.gett"}"#.utf8))
        guard case .single(let call) = frame, case .failure(let error) = call.content else {
            Issue.record("there is no such method")
            return
        }
        #expect(error.similar.first == "state.get")
        #expect(error.message == "no method state.gett; did you mean state.get?")
    }

    @Test("cut and changed frames never trap")
    func mutations() {
        var random = ProtocolRandom(seed: ProtocolRandom.seed)
        var decoder = MessageDecoder()
        let texts = RequestTests.requests.map { request in
            var writer = JSONWriter()
            request.encode(id: RequestID(1), into: &writer)
            return writer.take()
        }
        for text in texts {
            for end in 0..<text.count {
                #expect(outcome(decoder.decode(Array(text[..<end]))) == "null !parse")
            }
            for _ in 0..<500 { _ = decoder.decode(random.mutated(text)) }
        }
    }
}

@Suite("JSON-RPC, the client's side")
struct ServerMessageTests {
    private func decode(_ text: String) throws(DecodeError) -> [ServerMessage] {
        var decoder = ServerMessageDecoder()
        return try decoder.decode(Array(text.utf8))
    }

    @Test("reads answers, errors, notifications and batches")
    func messages() throws {
        #expect(
            try decode(#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#)
                == [.result(id: RequestID(1), ["a": 1])])
        #expect(
            try decode(#"{"jsonrpc":"2.0","id":1,"result":null}"#)
                == [.result(id: RequestID(1), .null)])
        #expect(
            try decode(
                #"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m","data":{"kind":"parse"}}}"#
            )
                == [.failure(id: .null, WireError(.parse, "m"))])
        #expect(
            try decode(#"{"jsonrpc":"2.0","method":"goodbye","params":{"reason":"slow","new":1}}"#)
                == [.notification(.goodbye(Goodbye(reason: .slow)))])
        #expect(
            try decode(#"{"jsonrpc":"2.0","method":"weather.changed","params":{}}"#)
                == [.unknownNotification(method: "weather.changed")])
        #expect(
            try decode(
                #"[{"jsonrpc":"2.0","id":1,"result":0},{"jsonrpc":"2.0","id":2,"result":1}]"#)
                == [.result(id: RequestID(1), 0), .result(id: RequestID(2), 1)])
    }

    @Test(
        "refuses what is not a message of a daemon",
        arguments: [
            "", "1", "{}", #"{"id":1,"result":0}"#, #"{"jsonrpc":"2.0","id":1}"#,
            #"{"jsonrpc":"2.0","result":1}"#,
            #"{"jsonrpc":"2.0","id":1,"result":0,"error":{"code":1,"message":""}}"#,
            #"{"jsonrpc":"2.0","id":[],"result":0}"#, #"{"jsonrpc":"2.0","id":1,"error":1}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"goodbye","params":{"reason":"slow"}}"#,
            #"{"jsonrpc":"2.0","method":"goodbye"}"#,
            #"{"jsonrpc":"2.0","method":"state.changed","params":{}}"#,
            #"{"jsonrpc":"2.0","id":1,"result":1e99}"#,
        ])
    func refuses(_ text: String) {
        #expect(throws: DecodeError.self) { try decode(text) }
    }

    @Test("an error's kind is its name, otherwise the meaning of its code")
    func kinds() throws {
        for kind in ErrorKind.allCases {
            let error = try WireError(
                decoding: [
                    "code": .integer(kind.code), "message": "m",
                    "data": ["kind": .string(kind.rawValue)],
                ])
            #expect(error.kind == kind)
        }
        #expect(try WireError(decoding: ["code": -32001, "message": "m"]).kind == .notFound)
        #expect(
            try WireError(decoding: ["code": -32003, "message": "m", "data": ["kind": "newer"]])
                .kind
                == .conflict)
        #expect(try WireError(decoding: ["code": 5, "message": "m"]).kind == .internal)
    }

    @Test(
        "the codes are those of the page",
        arguments: zip(
            ErrorKind.allCases,
            [
                -32700, -32600, -32600, -32601, -32602, -32603, -32001, -32002, -32003, -32004,
                -32005, -32006,
                -32007, -32008,
            ]))
    func codes(_ kind: ErrorKind, _ code: Int) {
        #expect(kind.code == code)
    }
}
