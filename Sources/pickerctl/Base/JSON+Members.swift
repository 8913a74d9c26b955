internal import SyncCore

extension JSON {
    /// An object with these members in this order.
    static func members(_ members: (String, JSON)...) -> JSON { .object(JSONObject(members)) }
}
