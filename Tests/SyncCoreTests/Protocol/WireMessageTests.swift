import Testing

@testable import SyncCore

@Suite("Results, notifications and errors")
struct WireMessageTests {
    static let author = WireAuthor(
        user: "mary", uid: 1000, client: "pickerctl/1.0", tty: nil, connection: 7, replica: "3f9a.1"
    )
    static let at = Timestamp(milliseconds: 1_795_256_331_007)
    static let plain = FieldState(value: "vanilla", revision: 3, isSet: true, by: author, at: at)
    static let odd = FieldState(
        value: .null, revision: 0, isSet: false,
        conflict: [Sibling(value: 1, by: author, at: at), Sibling(value: 2, by: nil, at: nil)],
        isSecretSet: true, isMixed: true, isInvalid: true, isMissing: true)
    static let fields = [NamedField(id: "b", state: plain), NamedField(id: "a", state: odd)]
    static let changes = [
        FieldChange(field: "b", state: plain, was: "chocolate"),
        FieldChange(field: "a", state: odd, was: nil),
        FieldChange(field: "c", state: odd, was: .null),
    ]

    private func json(_ encode: (inout JSONWriter) -> Void) throws -> JSON {
        var writer = JSONWriter()
        encode(&writer)
        return try JSON(parsing: writer.take())
    }

    /// The tree reads back as the value; with members that are new as well; and without any one of
    /// its members it either reads or is refused, never traps.
    private func check<Value: Equatable>(
        _ value: Value, _ encode: (inout JSONWriter) -> Void,
        _ decode: (JSON) throws(DecodeError) -> Value
    ) throws {
        let tree = try json(encode)
        #expect(try decode(tree) == value)
        var object = try #require(tree.objectValue)
        object["brandNew"] = ["a": [1]]
        #expect(try decode(.object(object)) == value)
        for member in try #require(tree.objectValue).members {
            for other in [nil, JSON.null, .number(DecimalNumber("0.5")!), "x", [], [1], [:], true] {
                var object = try #require(tree.objectValue)
                object[member.name] = other
                _ = try? decode(.object(object))
            }
        }
        #expect(throws: DecodeError.self) { _ = try decode([]) }
    }

    @Test("a field is written as the page says")
    func fieldText() throws {
        var writer = JSONWriter()
        Self.plain.encode(into: &writer)
        #expect(
            String(decoding: writer.take(), as: UTF8.self)
                == #"{"value":"vanilla","revision":3,"set":true,"by":{"user":"mary","uid":1000,"#
                + #""client":"pickerctl/1.0","connection":7,"replica":"3f9a.1"},"#
                + #""at":"2026-11-21T10:18:51.007Z"}"#)
        Self.odd.encode(into: &writer)
        #expect(
            try JSON(parsing: writer.take())["secret"] == ["set": true])
    }

    @Test("clients read the results that the daemon writes")
    func results() throws {
        let hello = HelloResult(
            server: "pickersyncd/1.0", replica: "3f9a.1", features: ["presence"],
            you: .init(connection: 1, uid: .max, gid: 0, pid: 42, user: "mary"),
            limits: [.init("maxFrame", 1 << 20)])
        try check(hello, hello.encode(into:)) { json throws(DecodeError) in
            try HelloResult(decoding: json)
        }
        let list = FormList(forms: [
            .init(form: "a", title: nil, version: 1, revision: 2, fields: 3, subscribers: 4),
            .init(form: "b", title: "B", version: 1, revision: 2, fields: 3, subscribers: 0),
        ])
        try check(list, list.encode(into:)) { json throws(DecodeError) in
            try FormList(decoding: json)
        }
        let form = FormResult(
            form: "a", version: 1, log: "l", revision: 2, definition: ["form": "a"])
        try check(form, form.encode(into:)) { json throws(DecodeError) in
            try FormResult(decoding: json)
        }
        let apply = ApplyResult(
            form: "a", version: 1, revision: 2, isCreated: true, added: ["a"], kept: ["b", "c"],
            invalid: ["d"],
            reset: ["e"], removed: ["f"])
        try check(apply, apply.encode(into:)) { json throws(DecodeError) in
            try ApplyResult(decoding: json)
        }
    }

    @Test("clients read the results of state methods that the daemon writes")
    func stateResults() throws {
        let snapshot = StateSnapshot(
            form: "a", log: "l", revision: 9, context: "", fields: Self.fields)
        try check(snapshot, snapshot.encode(into:)) { json throws(DecodeError) in
            try StateSnapshot(decoding: json)
        }
        for skipped in [nil, [], ["x"]] as [[String]?] {
            let set = SetResult(
                form: "a", revision: 9, context: "t", fields: Self.fields, skipped: skipped)
            try check(set, set.encode(into:)) { json throws(DecodeError) in
                try SetResult(decoding: json)
            }
        }
        for fields in [nil, [], Self.fields] {
            let subscribe = SubscribeResult(
                form: "a", log: "l", revision: 9, context: "t", isResumed: fields == nil,
                fields: fields)
            try check(subscribe, subscribe.encode(into:)) { json throws(DecodeError) in
                try SubscribeResult(decoding: json)
            }
        }
        let page = HistoryPage(
            entries: [
                .init(
                    revision: 3, at: Self.at, by: Self.author, kind: "set",
                    changes: [
                        .init(field: "a", value: 1, was: .null),
                        .init(field: "b", value: nil, was: nil, isConcurrent: true),
                    ]), .init(revision: 2, at: nil, by: nil, kind: "apply", changes: []),
            ], more: true)
        try check(page, page.encode(into:)) { json throws(DecodeError) in
            try HistoryPage(decoding: json)
        }
        let reveal = RevealResult(value: .null)
        try check(reveal, reveal.encode(into:)) { json throws(DecodeError) in
            try RevealResult(decoding: json)
        }
    }

    static let notifications: [ServerNotification] = [
        .stateChanged(StateChanged(form: "a", revision: 5, context: "t", changes: changes)),
        .stateChanged(
            StateChanged(form: "a", revision: 5, context: "t", changes: [], coalescedFrom: 2)),
        .formChanged(FormChanged(form: "a", revision: 6, content: .deleted)),
        .formChanged(
            FormChanged(
                form: "a", revision: 6,
                content: .defined(
                    .init(
                        version: 2, context: "t", definition: ["form": "a"], changes: changes,
                        coalescedFrom: 1)))),
        .formChanged(
            FormChanged(
                form: "a", revision: 6,
                content: .defined(.init(version: 2, context: nil, definition: [:], changes: [])))),
        .presenceChanged(
            PresenceChanged(
                form: "a",
                peers: [
                    .init(connection: 1, user: "mary", client: "x", tty: "t", focus: "b", draft: 3),
                    .init(
                        connection: 2, user: "peter", client: nil, tty: nil, focus: nil,
                        isGone: true),
                ])),
        .goodbye(Goodbye(reason: .restart, retryAfterMs: 500)),
        .goodbye(Goodbye(reason: .shutdown)),
        .goodbye(Goodbye(reason: .slow)), .goodbye(Goodbye(reason: .policy)),
        .goodbye(Goodbye(reason: .other("moving"))),
    ]

    @Test("clients read the notifications that the daemon writes", arguments: notifications)
    func notification(_ notification: ServerNotification) throws {
        var decoder = ServerMessageDecoder()
        let frame = Answer.frame(notification)
        #expect(try decoder.decode(Array(frame[4...])) == [.notification(notification)])
        try check(notification, notification.encodeParams(into:)) { json throws(DecodeError) in
            guard
                let read = try ServerNotification(method: "\(notification.method)", params: json)
            else { throw .shape(path: "method", expected: "known") }
            return read
        }
    }

    @Test("a change keeps 'was null' apart from 'was not told'")
    func was() throws {
        for change in Self.changes {
            let tree = try json(change.encode(into:))
            #expect(try FieldChange(decoding: tree).was == change.was)
        }
    }

    @Test("clients read the errors that the daemon writes")
    func errors() throws {
        var full = WireError(
            .conflict, "somebody else set b", form: "a", field: "b", path: "changes[0]",
            expected: "x")
        full.fields = Self.fields
        full.similar = ["c", "d"]
        full.limit = "changesMax"
        full.max = 3
        full.report = 17
        full.problems = [WireProblem(path: "sections[0]", message: "expected an object")]
        for error in [full, WireError(.parse, "no")] {
            try check(error, error.encode(into:)) { json throws(DecodeError) in
                try WireError(decoding: json)
            }
            var decoder = ServerMessageDecoder()
            let frame = Answer.frame(RequestID(7), error)
            #expect(try decoder.decode(Array(frame[4...])) == [.failure(id: RequestID(7), error)])
        }
    }

    @Test("an error says only what it has to say")
    func errorText() {
        var writer = JSONWriter()
        WireError(.forbidden, "no", form: "a").encode(into: &writer)
        #expect(
            String(decoding: writer.take(), as: UTF8.self)
                == #"{"code":-32004,"message":"no","data":{"kind":"forbidden","form":"a"}}"#)
    }

    @Test("ids are echoed as they were written")
    func ids() {
        var decoder = MessageDecoder()
        for id in ["7", "-0.0e5", "null", #""\u00e9 \n""#, #""""#] {
            let text = #"{"jsonrpc":"2.0","id":\#(id),"method":"ping"}"#
            guard case .single(let call) = decoder.decode(Array(text.utf8)), let found = call.id
            else {
                Issue.record("\(id) is an id")
                continue
            }
            var writer = JSONWriter()
            Answer.encode(found, into: &writer) { EmptyResult().encode(into: &$0) }
            #expect(
                String(decoding: writer.take(), as: UTF8.self)
                    == #"{"jsonrpc":"2.0","id":\#(id),"result":{}}"#)
        }
    }
}
