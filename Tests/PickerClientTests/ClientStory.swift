import SyncCore
import Testing

@testable import PickerClient

/// A machine with a daemon played by the test: what it sent as typed requests, answers by hand.
struct ClientStory {
    var machine: ClientMachine
    var now: UInt64 = 1_000
    private var frames = FrameDecoder()
    private var calls = MessageDecoder()

    init(reconnects: Bool = true, keepsChanges: Bool = false) {
        var configuration = ClientMachine.Configuration(
            client: "test/1", keyPrefix: "key", seed: 7)
        configuration.reconnects = reconnects
        configuration.keepsChangesForReplica = keepsChanges
        machine = ClientMachine(configuration, at: 0)
    }

    mutating func connect() {
        frames = FrameDecoder()
        machine.connectionOpened()
    }

    mutating func lose() {
        machine.connectionLost(at: now)
    }

    /// Everything that was sent since, as the daemon reads it.
    mutating func sent() -> [(id: RequestID, request: Request)] {
        var result: [(RequestID, Request)] = []
        for frame in frames.feed(machine.takeOutput()).frames {
            guard case .single(let call) = calls.decode(frame), let id = call.id,
                case .success(let request) = call.content
            else {
                Issue.record(
                    "the machine sent what is not a request: \(String(decoding: frame, as: UTF8.self))"
                )
                continue
            }
            result.append((id, request))
        }
        return result
    }

    mutating func receive(_ bytes: [UInt8]) {
        machine.received(bytes, at: now)
    }

    mutating func answer(_ id: RequestID, _ result: JSON) {
        receive(Frame.encode { Answer.encode(id, into: &$0) { $0.value(result) } })
    }

    /// The daemon answers `hello`.
    mutating func greet(_ id: RequestID, replica: String) {
        var writer = JSONWriter()
        HelloResult(
            server: "t", replica: replica, features: [],
            you: .init(connection: 1, uid: 1, gid: 1, pid: 1, user: "ann"), limits: []
        ).encode(into: &writer)
        answer(id, (try? JSON(parsing: String(decoding: writer.take(), as: UTF8.self))) ?? .null)
    }

    mutating func notify(_ notification: ServerNotification) {
        receive(Answer.frame(notification))
    }

    mutating func events() -> [ClientEvent] {
        var result: [ClientEvent] = []
        while let event = machine.takeEvent() { result.append(event) }
        return result
    }

    /// A change of one field, as the daemon tells it.
    static func change(_ revision: Int64, _ field: String, _ value: JSON) -> ServerNotification {
        .stateChanged(
            StateChanged(
                form: "f", revision: revision, context: "r.1:\(revision)",
                changes: [
                    FieldChange(
                        field: field,
                        state: FieldState(value: value, revision: revision, isSet: true), was: nil)
                ]))
    }

    static func snapshot(_ revision: Int64, resumed: Bool, log: String = "L1") -> JSON {
        var result: JSONObject = JSONObject([
            ("form", "f"), ("log", .string(log)), ("revision", .integer(revision)),
            ("context", .string("r.1:\(revision)")), ("resumed", .bool(resumed)),
        ])
        if !resumed {
            result["fields"] = [
                "flavor": ["value": "chocolate", "revision": .integer(revision), "set": false]
            ]
        }
        return .object(result)
    }

    /// An edit of the form.
    static let set = Request.stateSet(
        StateSet(form: "f", changes: [Change(field: "flavor", .value("mint"))]))
}
