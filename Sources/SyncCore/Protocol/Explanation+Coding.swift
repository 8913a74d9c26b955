// The JSON of an explanation.

extension Explanation {
    /// Writes the object.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("form", form)
        writer.member("field", field)
        writer.member("revision", revision)
        if let state {
            writer.key("state")
            state.encode(into: &writer)
        }
        if let origin {
            writer.key("origin")
            origin.encode(into: &writer)
        }
        if let change {
            writer.key("change")
            change.encode(into: &writer)
        }
        writer.member("policy", policy?.rawValue)
        if !concurrent.isEmpty {
            writer.array("concurrent", concurrent) { $1.encode(into: &$0) }
        }
        if let met {
            writer.key("met")
            met.encode(into: &writer)
        }
        if let permission {
            writer.key("may")
            permission.encode(into: &writer)
        }
        if !ends.isEmpty { writer.array("ends", ends) { $1.encode(into: &$0) } }
        if !dependsOn.listed.isEmpty {
            writer.key("dependsOn")
            dependsOn.encode(into: &writer)
        }
        if !dependents.listed.isEmpty {
            writer.key("dependents")
            dependents.encode(into: &writer)
        }
        writer.endObject()
    }

    /// Reads the object; ignores unknown members and values.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result")
        self.init(
            form: try reader.string("form"), field: try reader.string("field"),
            revision: try reader.integer("revision"))
        state = try reader["state"].map { json throws(DecodeError) in
            try FieldState(decoding: json, path: "result.state")
        }
        origin = try reader["origin"].flatMap { json throws(DecodeError) in
            try Origin(decoding: json)
        }
        change = try reader["change"].map { json throws(DecodeError) in
            try Change(decoding: json)
        }
        policy = reader["policy"]?.stringValue.flatMap(ConflictPolicy.init(rawValue:))
        concurrent = try reader.list("concurrent") { json, path throws(DecodeError) in
            try Siblings(decoding: json, path: path)
        }
        met = try reader["met"].map { json throws(DecodeError) in try Meeting(decoding: json) }
        permission = try reader["may"].map { json throws(DecodeError) in
            try Permission(decoding: json)
        }
        ends = try reader.list("ends") { json, path throws(DecodeError) in
            try FieldLease(decoding: json, path: path)
        }
        dependsOn = try References(decoding: reader["dependsOn"], path: "result.dependsOn")
        dependents = try References(decoding: reader["dependents"], path: "result.dependents")
    }
}

extension Explanation.Origin {
    fileprivate func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("kind", kind.rawValue)
        if !fields.isEmpty { writer.array("fields", fields) { $1.encode(into: &$0) } }
        if more > 0 { writer.member("more", Int64(more)) }
        if let base {
            writer.key("base")
            base.encode(into: &writer)
        }
        writer.endObject()
    }

    fileprivate init?(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result.origin")
        guard let kind = Kind(rawValue: try reader.string("kind")) else { return nil }
        self.init(kind)
        fields = try reader.list("fields") { json, path throws(DecodeError) in
            let part = try WireReader(json, path)
            return Explanation.Part(
                field: try part.string("field"), value: part["value"],
                isSet: try part.bool("set"), by: try part.author("by"), at: try part.moment("at"))
        }
        more = Int(clamping: reader["more"]?.integerValue ?? 0)
        base = try reader["base"].map { json throws(DecodeError) in
            try Sibling(decoding: json, path: "result.origin.base")
        }
    }
}

extension Explanation.Part {
    fileprivate func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("field", field)
        writer.member("value", value)
        writer.member("set", isSet)
        writer.member("by", by)
        writer.member("at", at)
        writer.endObject()
    }
}

extension Explanation.Change {
    fileprivate func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("revision", revision)
        if isGone { writer.member("gone", true) }
        writer.member("at", at)
        writer.member("by", by)
        writer.member("kind", kind)
        writer.member("message", message)
        writer.member("undoes", undoes)
        writer.endObject()
    }

    fileprivate init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result.change")
        self.init(revision: try reader.integer("revision"))
        isGone = reader["gone"]?.boolValue ?? false
        at = try reader.moment("at")
        by = try reader.author("by")
        kind = reader["kind"]?.stringValue
        message = reader["message"]?.stringValue
        undoes = reader["undoes"]?.integerValue
    }
}

extension Explanation.Siblings {
    fileprivate func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("component", component)
        writer.member("rule", rule.rawValue)
        writer.member("lead", lead)
        writer.array("values", values) { $1.encode(into: &$0) }
        writer.endObject()
    }

    fileprivate init(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        self.init(
            component: reader["component"]?.stringValue,
            rule: Rule(rawValue: try reader.string("rule")) ?? .latest,
            lead: reader["lead"]?.integerValue,
            values: try reader.list("values") { json, path throws(DecodeError) in
                try Sibling(decoding: json, path: path)
            })
    }
}

extension Explanation.Meeting {
    /// Writes the object.
    func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("seen", seen)
        writer.member("stamp", stamp)
        writer.array("others", others) { writer, write in
            writer.beginObject()
            writer.member("dot", write.dot)
            writer.member("stamp", write.stamp)
            writer.endObject()
        }
        writer.endObject()
    }

    /// Reads the object.
    init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "met")
        self.init(
            seen: reader["seen"]?.stringValue, stamp: try reader.string("stamp"),
            others: try reader.list("others") { json, path throws(DecodeError) in
                let write = try WireReader(json, path)
                return Write(dot: try write.string("dot"), stamp: try write.string("stamp"))
            })
    }
}

extension Explanation.Permission {
    fileprivate func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("edit", mayEdit)
        if !refusals.isEmpty { writer.array("because", refusals) { $1.encode(into: &$0) } }
        if !asks.isEmpty { writer.array("asks", asks) { $1.encode(into: &$0) } }
        if needsMessage { writer.member("needs", ["message"]) }
        writer.member("leaseMax", leaseMax)
        writer.endObject()
    }

    fileprivate init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result.may")
        func reasons(_ name: String) throws(DecodeError) -> [Explanation.Refusal] {
            try reader.list(name) { json, path throws(DecodeError) in
                try Explanation.Refusal(decoding: json, path: path)
            }.compactMap(\.self)
        }
        self.init(try reasons("because"))
        asks = try reasons("asks")
        mayEdit = try reader.bool("edit")
        needsMessage = try reader.strings("needs").contains("message")
        leaseMax = reader["leaseMax"]?.integerValue
    }
}

extension Explanation.Refusal {
    fileprivate func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("reason", reason.rawValue)
        writer.member("field", field)
        if reason == .access || reason == .approval { writer.member("only", only) }
        if more > 0 { writer.member("more", Int64(more)) }
        writer.member("count", count)
        if !unmet.isEmpty {
            writer.array("unmet", unmet) { writer, group in
                writer.beginArray()
                for comparison in group { comparison.encode(into: &writer) }
                writer.endArray()
            }
        }
        writer.endObject()
    }

    /// Reads the object; `nil` if the reason is not known.
    fileprivate init?(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        guard let reason = Reason(rawValue: try reader.string("reason")) else { return nil }
        self.init(reason, field: try reader.string("field"))
        only = try reader.strings("only")
        more = Int(clamping: reader["more"]?.integerValue ?? 0)
        count = reader["count"]?.integerValue
        unmet = try reader.list("unmet") { json, path throws(DecodeError) in
            var group: [Explanation.Comparison] = []
            for (place, one) in (json.arrayValue ?? []).enumerated() {
                group.append(
                    try Explanation.Comparison(decoding: one, path: "\(path)[\(place)]"))
            }
            return group
        }
    }
}

extension Explanation.Comparison {
    fileprivate func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("field", field)
        writer.member("component", component)
        writer.member("value", value)
        writer.member("comparison", comparison)
        writer.member("operand", operand)
        if isNegated { writer.member("negated", true) }
        writer.endObject()
    }

    fileprivate init(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        self.init(
            field: try reader.string("field"), component: reader["component"]?.stringValue,
            value: reader["value"], comparison: try reader.string("comparison"),
            operand: try reader.value("operand"),
            isNegated: reader["negated"]?.boolValue ?? false)
    }
}

extension Explanation.References {
    fileprivate func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.array("fields", listed) { writer, reference in
            writer.beginObject()
            writer.member("field", reference.field)
            writer.member("how", reference.kind.rawValue)
            writer.endObject()
        }
        if more > 0 { writer.member("more", Int64(more)) }
        writer.endObject()
    }

    fileprivate init(decoding json: JSON?, path: String) throws(DecodeError) {
        self.init()
        guard let json else { return }
        let reader = try WireReader(json, path)
        for one in try reader.array("fields") {
            let reference = try WireReader(one, path + ".fields")
            guard let kind = Explanation.Reference.Kind(rawValue: try reference.string("how"))
            else { continue }
            listed.append(
                Explanation.Reference(field: try reference.string("field"), kind: kind))
        }
        more = Int(clamping: reader["more"]?.integerValue ?? 0)
    }
}

extension Sibling {
    /// Writes the object.
    func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("value", value)
        writer.member("by", by)
        writer.member("at", at)
        writer.endObject()
    }

    /// Parses the object; ignores unknown members.
    init(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        self.init(
            value: try reader.value("value"), by: try reader.author("by"),
            at: try reader.moment("at"))
    }
}

extension JSONWriter {
    /// A member with an author; nothing for `nil`.
    mutating func member(_ name: StaticString, _ author: WireAuthor?) {
        guard let author else { return }
        key(name)
        author.encode(into: &self)
    }

    /// A member with an array; `body` writes each element.
    mutating func array<Element>(
        _ name: StaticString, _ elements: [Element], _ body: (inout JSONWriter, Element) -> Void
    ) {
        key(name)
        beginArray()
        for element in elements { body(&self, element) }
        endArray()
    }
}

extension WireReader {
    /// An author; `nil` if the member is missing.
    func author(_ name: String) throws(DecodeError) -> WireAuthor? {
        guard let json = self[name] else { return nil }
        return try WireAuthor(decoding: json, path: "\(path).\(name)")
    }

    /// The elements of an array; empty if it is missing.
    func list<Element>(
        _ name: String, _ body: (JSON, String) throws(DecodeError) -> Element
    ) throws(DecodeError) -> [Element] {
        self[name] == nil ? [] : try each(name, body)
    }
}
