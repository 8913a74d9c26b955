// Requests and answers as JSON that can be compared.

import SyncCore

/// JSON that can be compared.
enum StoryWire {
    /// Members that the model does not predict, or checks separately.
    private static let unforeseen: Set<String> = ["at", "context", "log", "replica"]
    /// The same, if they are texts: `press` is an action too.
    private static let unforeseenTexts: Set<String> = ["press", "since", "ticket"]

    /// The JSON without these members.
    static func normal(_ json: JSON, isAnonymous: Bool) -> JSON {
        switch json {
        case .object(let object):
            var result = JSONObject()
            result.reserveCapacity(object.count)
            for member in object.members where !unforeseen.contains(member.name) {
                if unforeseenTexts.contains(member.name), member.value.stringValue != nil {
                    continue
                }
                if isAnonymous, member.name == "client" || member.name == "tty" { continue }
                if member.name == "lease", var lease = member.value.objectValue {
                    lease["id"] = nil
                    result.append(
                        uniqueName: "lease", normal(.object(lease), isAnonymous: isAnonymous))
                    continue
                }
                // Why a proposal ended is said in words, and when it expires depends on the clock.
                if member.name == "why" || member.name == "until" && object["votes"] != nil {
                    continue
                }
                if member.name == "proposals", let list = member.value.arrayValue {
                    let sorted = list.sorted {
                        ($0["id"]?.integerValue ?? 0) < ($1["id"]?.integerValue ?? 0)
                    }
                    result.append(
                        uniqueName: "proposals", normal(.array(sorted), isAnonymous: isAnonymous))
                    continue
                }
                let isNumber = isAnonymous && member.name == "connection"
                result.append(
                    uniqueName: member.name,
                    isNumber ? 0 : normal(member.value, isAnonymous: isAnonymous))
            }
            return .object(result)
        case .array(let elements):
            return .array(elements.map { normal($0, isAnonymous: isAnonymous) })
        default: return json
        }
    }

    static func notification(
        _ method: String, _ params: [(String, JSON)], _ message: JSON?
    ) -> JSON {
        var params = JSONObject(params)
        params["message"] = message
        return .object(
            JSONObject([
                ("jsonrpc", "2.0"), ("method", .string(method)), ("params", .object(params)),
            ]))
    }
}

/// A request.
struct StoryRequest: CustomStringConvertible {
    var method: String
    var params: JSONObject

    init(_ method: String, _ params: [(String, JSON)] = []) {
        self.method = method
        self.params = JSONObject(params)
    }

    func text(id: Int) -> String {
        JSON.object(
            JSONObject([
                ("jsonrpc", "2.0"), ("id", .integer(id)), ("method", .string(method)),
                ("params", .object(params)),
            ])
        ).encodedText
    }

    subscript(name: String) -> JSON? {
        get { params[name] }
        set { params[name] = newValue }
    }

    var description: String { "\(method) \(JSON.object(params).encodedText)" }
}

/// The expected answer to a request.
enum StoryAnswer: Equatable, CustomStringConvertible {
    case result(JSON)
    case refusal(StoryRefusal)
    /// A result with at least these members, and so are objects in it.
    case partial([String: JSON])

    /// What a retry is answered: a proposal without its message.
    var kept: StoryAnswer {
        guard case .result(let json) = self, var result = json.objectValue,
            var proposal = result["proposal"]?.objectValue
        else { return self }
        proposal["message"] = nil
        result["proposal"] = .object(proposal)
        return .result(.object(result))
    }

    /// Whether an answer is as expected.
    func matches(_ response: JSON) -> Bool {
        switch self {
        case .result(let json): response["result"] == json
        case .partial(let members):
            Self.has(members.map { ($0.key, $0.value) }, response["result"])
        case .refusal(let refusal):
            response["error"]?["data"]?["kind"]?.stringValue == refusal.kind
                && response["error"]?["data"]?["form"]?.stringValue == refusal.form
                && response["error"]?["data"]?["field"]?.stringValue == refusal.field
        }
    }

    /// Whether an object has at least these members.
    private static func has(_ members: [(name: String, value: JSON)], _ json: JSON?) -> Bool {
        guard json?.objectValue != nil else { return false }
        return members.allSatisfy { name, value in
            let found = json?[name]
            guard case .object(let object) = value else { return found == value }
            return has(object.members.map { ($0.name, $0.value) }, found)
        }
    }

    var description: String {
        switch self {
        case .result(let json): json.encodedText
        case .partial(let members):
            "at least \(JSON.object(JSONObject(Array(members))).encodedText)"
        case .refusal(let refusal):
            "\(refusal.kind) at \(refusal.form ?? "-")/\(refusal.field ?? "-")"
        }
    }
}

extension JSONObject {
    fileprivate init(_ members: [(key: String, value: JSON)]) {
        self.init(members.map { ($0.key, $0.value) })
    }
}
