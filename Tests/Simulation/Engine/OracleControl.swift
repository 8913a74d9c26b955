// What the oracle reads from requests and definitions: who has seen what, and the controls.

import SyncCore

/// One write as the oracle names it; numbers grow with the order of commits.
typealias WriteID = Int

/// What a writer had seen.
enum Sight {
    /// All that is there.
    case everything
    /// Exactly these transactions.
    case only(Set<WriteID>)

    func covers(_ write: WriteID) -> Bool {
        switch self {
        case .everything: true
        case .only(let writes): writes.contains(write)
        }
    }
}

/// Whose edits undo takes back.
struct Owner: Hashable {
    var uid: UInt32
    var session: String?

    /// Whether edits of `other` are this one's to take back: without a session all of the uid's.
    func includes(_ other: Owner) -> Bool {
        uid == other.uid && (session == nil || session == other.session)
    }
}

/// A control as the oracle reads it from a definition's JSON.
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
