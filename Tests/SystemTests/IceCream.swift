import TestKit

/// The form that these tests edit.
extension WireClient {
    static var form: Object {
        [
            "form": "ice-cream", "title": "Ice cream",
            "sections": [
                [
                    "title": "Order",
                    "fields": [
                        [
                            "id": "flavor", "type": "picker", "label": "Flavor",
                            "options": ["chocolate", "vanilla", "strawberry"],
                            "default": "chocolate",
                        ] as Object,
                        [
                            "id": "scoops", "type": "stepper", "label": "Scoops", "min": 0,
                            "max": 1_000_000, "default": 0,
                        ] as Object,
                    ],
                ] as Object
            ],
        ]
    }

    func apply() throws { try call("form.apply", ["definition": Self.form]) }

    @discardableResult
    func set(_ field: String, _ value: Any, more: Object = [:]) throws -> Object {
        let change: Object = ["field": field, "value": value]
        let params: Object = ["form": "ice-cream", "changes": [change]]
        return try call("state.set", params.merging(more) { $1 })
    }

    @discardableResult
    func increment(_ field: String) throws -> Object {
        let change: Object = ["field": field, "increment": 1]
        return try call("state.set", ["form": "ice-cream", "changes": [change]])
    }

    func value(_ field: String) throws -> Any? {
        let state = try call("state.get", ["form": "ice-cream"])
        return ((state["fields"] as? Object)?[field] as? Object)?["value"]
    }

    @discardableResult
    func subscribe(since: Object? = nil) throws -> Object {
        var params: Object = ["form": "ice-cream"]
        params["since"] = since
        return try call("state.subscribe", params)
    }

    /// The next change: its revision, and the fields with their values as text.
    func change() throws -> (revision: Int, changes: [String]) {
        guard let params = try notification("state.changed") else {
            throw GaveUp("the connection ended before a change")
        }
        let changes = (params["changes"] as? [Object] ?? []).map { change in
            "\(change["field"] ?? "?")=\(change["value"] ?? "?")"
        }
        return (params["revision"] as? Int ?? -1, changes)
    }
}
