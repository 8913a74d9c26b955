import SyncCore
import Testing

@Suite("Requests")
struct RequestTests {
    static let requests: [Request] = [
        .hello(Hello(client: "pickerctl/1.0")),
        .hello(Hello(protocolVersion: 2, client: "x", session: "s", tty: "/dev/pts/1")),
        .serverBackup(ServerBackup()), .serverBackup(ServerBackup(backup: 1, offset: 1 << 40)),
        .ping, .formList, .formWatch, .serverStatus, .formGet(form: "ice-cream"),
        .formApply(FormApply(definition: ["form": "a", "fields": []])),
        .formApply(FormApply(definition: [:], isDryRun: true, ifVersion: 0, idempotencyKey: "k")),
        .formSetOptions(FormSetOptions(form: "a", field: "b", options: ["x", ["tag": 1]])),
        .formDelete(FormDelete(form: "a", idempotencyKey: "k")),
        .stateGet(StateGet(form: "a")), .stateGet(StateGet(form: "a", fields: [])),
        .stateGet(StateGet(form: "a", fields: ["x*", "?"])),
        .stateSet(
            StateSet(
                form: "ice-cream",
                changes: [
                    Change(field: "flavor", context: "3f9a.1:1042", .value("vanilla")),
                    Change(field: "a", context: "", .value(.null)),
                    Change(field: "a", .increment(DecimalNumber("-0.50")!)),
                    Change(field: "a", .toggle),
                    Change(field: "a", .move(.next, wraps: false)),
                    Change(field: "a", .move(.last, wraps: true)),
                    Change(field: "a", .reset), Change(field: "a", .press),
                    Change(field: "a", .add(["x", 1, true])),
                    Change(field: "a", .remove([])), Change(field: "a", .value(["hour": 3])),
                ])),
        .stateSet(StateSet(form: "a", changes: [], context: "")),
        .stateSet(
            StateSet(
                form: "a", changes: [Change(field: "b", .value(1))], context: "3f9a.1:1042+1044",
                requireCurrent: true, requireFields: ["c", "d"], idempotencyKey: "k")),
        .stateSet(StateSet(form: "a", changes: [], lease: .seconds(60), message: "why é")),
        .stateSet(
            StateSet(
                form: "a", changes: [],
                lease: .until(Timestamp(milliseconds: 1_795_000_000_000)))),
        .stateSet(StateSet(form: "a", changes: [], lease: .connection, idempotencyKey: "k")),
        .stateLease(StateLease(form: "a", field: "b", .move(.seconds(1)), message: "why")),
        .stateLease(
            StateLease(
                form: "a", field: "b",
                .move(.until(Timestamp(milliseconds: 1_795_000_000_123))))),
        .stateLease(StateLease(form: "a", field: "b", .keep, idempotencyKey: "k")),
        .stateLease(StateLease(form: "a", field: "b", .end)),
        .stateLease(StateLease(form: "a", field: "b", .resume("3f9a.1:7"))),
        .stateSubscribe(StateSubscribe(form: "a")),
        .stateSubscribe(
            StateSubscribe(
                form: "a", fields: ["*"], since: .init(log: "l", revision: 7), presence: true)),
        .stateUnsubscribe(form: "a"), .stateHistory(StateHistory(form: "a")),
        .stateHistory(StateHistory(form: "a", field: "b", before: 9, limit: 50)),
        .historyRedact(HistoryRedact(form: "a", revision: 7)),
        .historyRedact(HistoryRedact(form: "a", revision: 7, message: "why")),
        .stateExplain(StateExplain(form: "a", field: "b")),
        .stateExplain(StateExplain(form: "a", field: "b", at: 7)),
        .stateUndo(StateUndo(form: "a")),
        .stateRedo(StateUndo(form: "a", field: "b", scope: .anyone, idempotencyKey: "k")),
        .stateReveal(StateReveal(form: "a", field: "b")),
        .buttonHandle(ButtonHandle(form: "a")),
        .buttonHandle(ButtonHandle(form: "a", fields: [], tickets: ["1-2-3", "1-f-0"])),
        .buttonProgress(
            ButtonProgress(
                press: "3f9a.1:7", ticket: "1-2-3", fraction: DecimalNumber("0.42")!,
                text: "copying é")),
        .buttonProgress(ButtonProgress(press: "3f9a.1:7", ticket: "1-2-3", text: "9 files")),
        .buttonFinish(ButtonFinish(press: "3f9a.1:7", ticket: "1-2-3", outcome: .done)),
        .buttonFinish(
            ButtonFinish(
                press: "3f9a.1:7", ticket: "1-2-3", outcome: .failed, text: "no disk", status: -1)),
        .buttonCancel(ButtonCancel(form: "a", field: "b", press: "3f9a.1:7")),
        .buttonOutcome(ButtonOutcome(form: "a", press: "3f9a.1:7")),
        .proposalList(ProposalList()), .proposalList(ProposalList(form: "a", ended: true)),
        .proposalApprove(ProposalVote(form: "a", proposal: 12)),
        .proposalRefuse(ProposalVote(form: "a", proposal: 12, message: "not now")),
        .proposalWithdraw(ProposalVote(form: "a", proposal: 1)),
        .linkAttach,
        .linkUp(LinkUp(server: "nats1:4222", version: "2.9.10", maxPayload: 1 << 20, rttUs: 90)),
        .linkDown(LinkDown(reason: "refused")),
        .linkMessage(LinkTransfer(subject: "ps.ops.a.b", data: [])),
        .linkMessage(
            LinkTransfer(
                subject: "ps.ops.a.d.f", reply: "r", headers: ["Ps-V: 1", "x"], data: [0, 255])),
        .linkRepair(form: "a"), .linkTest, .formLink(FormLinking(form: "a")),
        .formLink(FormLinking(form: "a", how: .theirs)), .formUnlink(form: "a"),
        .presenceUpdate(PresenceUpdate(form: "a", focus: nil)),
        .presenceUpdate(
            PresenceUpdate(form: "a", focus: "b", draft: .number(DecimalNumber("0.5")!))),
    ]

    @Test("the daemon reads what the client writes, method by method", arguments: requests)
    func roundTrip(_ request: Request) {
        var decoder = MessageDecoder()
        let frame = request.frame(id: RequestID(42))
        #expect(
            decoder.decode(Array(frame[4...]))
                == .single(Call(id: RequestID(42), content: .success(request))))
        let notification = request.frame(id: nil)
        #expect(
            decoder.decode(Array(notification[4...]))
                == .single(Call(id: nil, content: .success(request))))
    }

    @Test("every method is among them")
    func everyMethod() {
        #expect(Set(Self.requests.map(\.method)) == Set(Method.allCases))
    }

    /// Method, params, kind and path of the refusal.
    static let refusals: [(String, String, ErrorKind, String)] = [
        ("state.lease", #"{"form":"a","field":"b"}"#, .invalidParams, "params"),
        (
            "state.lease", #"{"form":"a","field":"b","keep":true,"end":true}"#, .invalidParams,
            "params"
        ),
        (
            "state.lease", #"{"form":"a","field":"b","while":"connection"}"#, .invalidParams,
            "params"
        ),
        ("state.lease", #"{"form":"a","field":"b","until":"soon"}"#, .invalidParams, "until"),
        ("button.handle", "{}", .invalidParams, "form"),
        ("button.handle", #"{"form":"a","fields":"b"}"#, .invalidParams, "fields"),
        ("button.progress", #"{"press":"p","ticket":"t"}"#, .invalidParams, "params"),
        (
            "button.progress", #"{"press":"p","ticket":"t","fraction":1.01}"#, .invalidParams,
            "fraction"
        ),
        (
            "button.progress", #"{"press":"p","ticket":"t","text":"\u001b"}"#, .invalidParams,
            "text"
        ),
        ("button.finish", #"{"press":"p","ticket":"t"}"#, .invalidParams, "outcome"),
        (
            "button.finish", #"{"press":"p","ticket":"t","outcome":"lost"}"#, .invalidParams,
            "outcome"
        ),
        ("button.cancel", #"{"form":"a","field":"b"}"#, .invalidParams, "press"),
        ("hello", "{}", .invalidParams, "protocol"),
        ("hello", #"{"protocol":1}"#, .invalidParams, "client"),
        ("hello", #"{"protocol":"1","client":"x"}"#, .invalidParams, "protocol"),
        ("hello", #"{"protocol":1.5,"client":"x"}"#, .invalidParams, "protocol"),
        ("hello", #"{"protocol":1,"client":"x","tty":"\u001b"}"#, .invalidParams, "tty"),
        ("form.get", "{}", .invalidParams, "form"),
        ("form.get", #"{"form":1}"#, .invalidParams, "form"),
        ("form.get", #"{"form":null}"#, .invalidParams, "form"),
        ("form.get", #"{"form":"a","x":1}"#, .invalidParams, "x"),
        ("form.get", #"{"form":"\#(String(repeating: "a", count: 129))"}"#, .invalidParams, "form"),
        ("form.apply", "{}", .invalidParams, "definition"),
        ("form.apply", #"{"definition":[]}"#, .invalidParams, "definition"),
        ("form.apply", #"{"definition":{"min":1e99}}"#, .invalidValue, "definition"),
        ("form.apply", #"{"definition":{},"dryRun":1}"#, .invalidParams, "dryRun"),
        ("form.apply", #"{"definition":{},"ifVersion":-1}"#, .invalidParams, "ifVersion"),
        ("form.apply", #"{"definition":{},"ifVersion":null}"#, .invalidParams, "ifVersion"),
        ("form.delete", #"{"form":"a","idempotencyKey":""}"#, .invalidParams, "idempotencyKey"),
        ("form.delete", #"{"form":"a","idempotencyKey":7}"#, .invalidParams, "idempotencyKey"),
        (
            "form.delete",
            #"{"form":"a","idempotencyKey":"\#(String(repeating: "k", count: 129))"}"#,
            .invalidParams, "idempotencyKey"
        ),
        ("form.setOptions", #"{"form":"a","field":"b"}"#, .invalidParams, "options"),
        ("form.setOptions", #"{"form":"a","field":"b","options":{}}"#, .invalidParams, "options"),
        (
            "form.setOptions", #"{"form":"a","field":"b","options":[1,1e99]}"#, .invalidValue,
            "options[1]"
        ),
        ("state.get", #"{"form":"a","fields":"*"}"#, .invalidParams, "fields"),
        ("state.get", #"{"form":"a","fields":["*",1]}"#, .invalidParams, "fields[1]"),
        ("state.set", #"{"form":"a"}"#, .invalidParams, "changes"),
        ("state.set", #"{"form":"a","changes":{}}"#, .invalidParams, "changes"),
        ("state.set", #"{"form":"a","changes":[1]}"#, .invalidParams, "changes[0]"),
        ("state.set", #"{"form":"a","changes":[{}]}"#, .invalidParams, "changes[0].field"),
        ("state.set", #"{"form":"a","changes":[{"field":"b"}]}"#, .invalidParams, "changes[0]"),
        (
            "state.set", #"{"form":"a","changes":[{"field":"b","value":1,"reset":true}]}"#,
            .invalidParams, "changes[0]"
        ),
        (
            "state.set",
            #"{"form":"a","changes":[{"field":"b","value":1},{"field":"b","valeu":1}]}"#,
            .invalidParams, "changes[1].valeu"
        ),
        (
            "state.set", #"{"form":"a","changes":[{"field":"b","value":1e99}]}"#, .invalidValue,
            "changes[0].value"
        ),
        (
            "state.set", #"{"form":"a","changes":[{"field":"b","increment":1e99}]}"#, .invalidValue,
            "changes[0].increment"
        ),
        (
            "state.set", #"{"form":"a","changes":[{"field":"b","increment":"1"}]}"#, .invalidParams,
            "changes[0].increment"
        ),
        (
            "state.set", #"{"form":"a","changes":[{"field":"b","toggle":false}]}"#, .invalidParams,
            "changes[0].toggle"
        ),
        (
            "state.set", #"{"form":"a","changes":[{"field":"b","press":1}]}"#, .invalidParams,
            "changes[0].press"
        ),
        (
            "state.set", #"{"form":"a","changes":[{"field":"b","move":"up"}]}"#, .invalidParams,
            "changes[0].move"
        ),
        (
            "state.set", #"{"form":"a","changes":[{"field":"b","value":1,"wraps":true}]}"#,
            .invalidParams, "changes[0].wraps"
        ),
        (
            "state.set", #"{"form":"a","changes":[{"field":"b","add":"x"}]}"#, .invalidParams,
            "changes[0].add"
        ),
        (
            "state.set", #"{"form":"a","changes":[{"field":"b","context":1,"value":1}]}"#,
            .invalidParams, "changes[0].context"
        ),
        ("state.set", #"{"form":"a","changes":[],"context":null}"#, .invalidParams, "context"),
        (
            "state.set",
            #"{"form":"a","changes":[],"context":"\#(String(repeating: "1", count: 4097))"}"#,
            .limit, "context"
        ),
        ("state.set", #"{"form":"a","changes":[],"require":"fresh"}"#, .invalidParams, "require"),
        (
            "state.set", #"{"form":"a","changes":[{"field":"b","value":1}],"require":"current"}"#,
            .invalidParams, "context"
        ),
        (
            "state.set",
            #"{"form":"a","changes":[{"field":"b","value":1,"context":""}],"require":"current","requireFields":["c"]}"#,
            .invalidParams, "context"
        ),
        (
            "state.set", #"{"form":"a","changes":[],"requireFields":["c"]}"#, .invalidParams,
            "requireFields"
        ),
        ("state.subscribe", #"{"form":"a","since":7}"#, .invalidParams, "since"),
        ("state.subscribe", #"{"form":"a","since":{"log":"l"}}"#, .invalidParams, "since.revision"),
        (
            "state.subscribe", #"{"form":"a","since":{"log":"l","revision":-1}}"#, .invalidParams,
            "since.revision"
        ),
        (
            "state.subscribe", #"{"form":"a","since":{"log":"l","revision":1,"x":0}}"#,
            .invalidParams, "since.x"
        ),
        ("state.history", #"{"form":"a","limit":0}"#, .invalidParams, "limit"),
        ("history.redact", #"{"form":"a"}"#, .invalidParams, "revision"),
        ("history.redact", #"{"form":"a","revision":0}"#, .invalidParams, "revision"),
        ("state.explain", #"{"form":"a","field":"b","at":-1}"#, .invalidParams, "at"),
        ("state.explain", #"{"form":"a"}"#, .invalidParams, "field"),
        ("state.undo", #"{"form":"a","scope":"theirs"}"#, .invalidParams, "scope"),
        ("presence.update", #"{"form":"a"}"#, .invalidParams, "focus"),
        ("presence.update", #"{"form":"a","focus":1}"#, .invalidParams, "focus"),
        (
            "presence.update",
            #"{"form":"a","focus":"b","draft":"\#(String(repeating: "1", count: 4095))"}"#, .limit,
            "draft"
        ),
    ]

    @Test("a missing, mistyped or unknown member is refused with its path", arguments: refusals)
    func refuses(_ method: String, _ params: String, _ kind: ErrorKind, _ path: String) {
        var decoder = MessageDecoder()
        let text = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
        guard case .single(let call) = decoder.decode(Array(text.utf8)),
            case .failure(let error) = call.content
        else {
            Issue.record("taken: \(text)")
            return
        }
        #expect(error.kind == kind && error.path == path, "\(error)")
        #expect(error.message.hasPrefix(path), "\(error.message)")
    }

    @Test("hello alone passes over members that it does not know")
    func helloIsLenient() {
        var decoder = MessageDecoder()
        let text =
            #"{"jsonrpc":"2.0","id":1,"method":"hello","params":{"protocol":1,"client":"x","new":{"a":[]}}}"#
        #expect(
            decoder.decode(Array(text.utf8))
                == .single(Call(id: RequestID(1), content: .success(.hello(Hello(client: "x"))))))
    }

    @Test("an absent context and an empty one are two things")
    func contexts() {
        func context(_ member: String) -> String?? {
            var decoder = MessageDecoder()
            let text =
                #"{"jsonrpc":"2.0","id":1,"method":"state.set","params":{"form":"a","changes":[]\#(member)}}"#
            guard case .single(let call) = decoder.decode(Array(text.utf8)),
                case .success(.stateSet(let set)) = call.content
            else { return nil }
            return .some(set.context)
        }
        #expect(context("") == .some(nil))
        #expect(context(#","context":"""#) == .some(""))
        #expect(context(#","context":"3f9a.1:1""#) == .some("3f9a.1:1"))
    }

    @Test("more members than a mask has places do not slip through")
    func manyMembers() {
        var decoder = MessageDecoder()
        for count in [62, 63, 64, 65, 200] {
            let unknown = (0..<count).map { "\"x\($0)\":0" }.joined(separator: ",")
            for params in ["{\"form\":\"a\",\(unknown)}", "{\(unknown),\"form\":\"a\"}"] {
                let text = #"{"jsonrpc":"2.0","id":1,"method":"form.get","params":\#(params)}"#
                guard case .single(let call) = decoder.decode(Array(text.utf8)),
                    case .failure(let error) = call.content
                else {
                    Issue.record("taken: \(text)")
                    continue
                }
                #expect(error.path == "x0")
            }
        }
    }

    @Test("a frame has a bounded number of values and names; one more is a limit")
    func values() {
        var decoder = MessageDecoder()
        decoder.bounds.valuesMax = 64
        // The object, and the names and values of its three members, are seven.
        func frame(_ count: Int) -> [UInt8] {
            let list = Array(repeating: "1", count: count).joined(separator: ",")
            return Array(#"{"jsonrpc":"2.0","method":"ping","x":[\#(list)]}"#.utf8)
        }
        guard case .single = decoder.decode(frame(50)) else {
            Issue.record("50 are accepted")
            return
        }
        guard case .refused(let error) = decoder.decode(frame(58)) else {
            Issue.record("58 are refused")
            return
        }
        #expect(error.kind == .limit && error.limit == "requestValuesMax" && error.max == 64)
    }

    @Test("more changes, globs or tags than the bounds allow are a limit with its name and most")
    func limits() {
        var decoder = MessageDecoder()
        decoder.bounds.changesMax = 2
        decoder.bounds.globsMax = 1
        decoder.bounds.tagsMax = 1
        let change = #"{"field":"b","press":true}"#
        for (method, params, limit, most) in [
            (
                "state.set", #"{"form":"a","changes":[\#(change),\#(change),\#(change)]}"#,
                "changesMax", 2
            ),
            ("state.set", #"{"form":"a","changes":[{"field":"b","add":[1,2]}]}"#, "tagsMax", 1),
            ("state.get", #"{"form":"a","fields":["a","b"]}"#, "globsMax", 1),
        ] as [(String, String, String, Int64)] {
            let text = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
            guard case .single(let call) = decoder.decode(Array(text.utf8)),
                case .failure(let error) = call.content
            else {
                Issue.record("taken: \(text)")
                continue
            }
            #expect(error.kind == .limit && error.limit == limit && error.max == most)
        }
    }
}
