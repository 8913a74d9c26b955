// What the oracle reads from requests and definitions: the writes that a sender had seen, and the
// controls.

import SyncCore

/// A write. The numbers grow in the order of commits.
typealias WriteID = Int

/// The writes that a writer had seen.
enum Sight {
    /// All of them.
    case everything
    /// Exactly these.
    case only(Set<WriteID>)

    func covers(_ write: WriteID) -> Bool {
        switch self {
        case .everything: true
        case .only(let writes): writes.contains(write)
        }
    }
}

/// Whose edits undo may revert.
struct Owner: Hashable {
    var uid: UInt32
    var session: String?

    /// Whether this user may undo the edits of `other`: without a session, all edits of the same
    /// uid.
    func includes(_ other: Owner) -> Bool {
        uid == other.uid && (session == nil || session == other.session)
    }
}

/// A control as the oracle reads it from the JSON of a definition.
struct OracleControl {
    enum Kind: Equatable {
        case register, counter, tags, wheels, presses, secret
        case bound(String)
        case combined([String])
    }

    var id: String
    var type: String
    var kind: Kind
    var policy: String
    var initial: JSON
    var options: [JSON]
    var minimum: Int64?
    var maximum: Int64?
    var components: [String] = []

    init(_ json: JSON) {
        id = json["id"]?.stringValue ?? ""
        type = json["type"]?.stringValue ?? ""
        policy = json["onConflict"]?.stringValue ?? "latest"
        options = (json["options"]?.arrayValue ?? []).map { $0["tag"] ?? $0 }
        minimum = json["min"]?.integerValue
        maximum = json["max"]?.integerValue
        initial = json["default"] ?? .null
        switch type {
        case "picker" where json["multiple"]?.boolValue == true:
            kind = .tags
            if initial.isNull { initial = .array([]) }
        case "picker":
            kind = .register
            if initial.isNull { initial = options.first ?? .null }
        case "toggle":
            kind = .register
            if initial.isNull { initial = .bool(false) }
        case "stepper", "gauge", "slider":
            kind = .counter
            if initial.isNull { initial = .integer(minimum ?? 0) }
        case "text":
            kind = .register
            if initial.isNull { initial = .string("") }
        case "wheels":
            kind = .wheels
            var rows = JSONObject()
            for component in json["components"]?.arrayValue ?? [] {
                let name = component["id"]?.stringValue ?? ""
                components.append(name)
                rows[name] = component["options"]?.arrayValue?.first ?? .null
            }
            initial = .object(rows)
        case "button":
            kind = .presses
            initial = .object(JSONObject([("presses", 0)]))
        case "secure": kind = .secret
        default: kind = .register
        }
        if let other = json["binds"]?.stringValue { kind = .bound(other) }
        if let sources = json["sources"]?.arrayValue {
            kind = .combined(sources.compactMap(\.stringValue))
        }
    }
}
