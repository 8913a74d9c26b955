// The JSON of an explanation.

extension Explanation: WireObject {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("field", field)
        writer.member("revision", revision)
        writer.member("state", state)
        writer.member("origin", origin)
        writer.member("change", change)
        writer.member("policy", policy?.rawValue)
        if !concurrent.isEmpty { writer.member("concurrent", concurrent) }
        writer.member("met", met)
        writer.member("may", permission)
        if !ends.isEmpty { writer.member("ends", ends) }
        if !dependsOn.listed.isEmpty { writer.member("dependsOn", dependsOn) }
        if !dependents.listed.isEmpty { writer.member("dependents", dependents) }
    }

    /// Reads the object; ignores unknown members and values.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result")
        self.init(
            form: try reader.string("form"), field: try reader.string("field"),
            revision: try reader.integer("revision"))
        state = try reader.inner("state")
        origin = try reader["origin"].flatMap { json throws(DecodeError) in
            try Origin(decoding: json)
        }
        change = try reader.inner("change")
        policy = reader["policy"]?.stringValue.flatMap(ConflictPolicy.init(rawValue:))
        concurrent = try reader.list("concurrent")
        met = try reader.inner("met")
        permission = try reader.inner("may")
        ends = try reader.list("ends")
        dependsOn = try reader.inner("dependsOn") ?? References()
        dependents = try reader.inner("dependents") ?? References()
    }
}

extension Explanation.Origin: WireObject {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("kind", kind.rawValue)
        if !fields.isEmpty { writer.member("fields", fields) }
        if more > 0 { writer.member("more", Int64(more)) }
        writer.member("base", base)
    }

    fileprivate init?(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result.origin")
        guard let kind = Kind(rawValue: try reader.string("kind")) else { return nil }
        self.init(kind)
        fields = try reader.list("fields")
        more = Int(clamping: reader["more"]?.integerValue ?? 0)
        base = try reader.inner("base")
    }
}

extension Explanation.Part: WireObject, WireReadable {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("field", field)
        writer.member("value", value)
        writer.member("set", isSet)
        writer.member("by", by)
        writer.member("at", at)
    }

    package init(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        self.init(
            field: try reader.string("field"), value: reader["value"],
            isSet: try reader.bool("set"), by: try reader.inner("by"),
            at: try reader.moment("at"))
    }
}

extension Explanation.Change: WireObject, WireReadable {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("revision", revision)
        if isGone { writer.member("gone", true) }
        writer.member("at", at)
        writer.member("by", by)
        writer.member("kind", kind)
        writer.member("message", message)
        writer.member("undoes", undoes)
    }

    package init(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        self.init(revision: try reader.integer("revision"))
        isGone = reader["gone"]?.boolValue ?? false
        at = try reader.moment("at")
        by = try reader.inner("by")
        kind = reader["kind"]?.stringValue
        message = reader["message"]?.stringValue
        undoes = reader["undoes"]?.integerValue
    }
}

extension Explanation.Siblings: WireObject, WireReadable {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("component", component)
        writer.member("rule", rule.rawValue)
        writer.member("lead", lead)
        writer.member("values", values)
    }

    package init(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        self.init(
            component: reader["component"]?.stringValue,
            rule: Rule(rawValue: try reader.string("rule")) ?? .latest,
            lead: reader["lead"]?.integerValue, values: try reader.list("values"))
    }
}

extension Explanation.Meeting: WireObject, WireReadable {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("seen", seen)
        writer.member("stamp", stamp)
        writer.array("others", others) { writer, write in
            writer.beginObject()
            writer.member("dot", write.dot)
            writer.member("stamp", write.stamp)
            writer.endObject()
        }
    }

    package init(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        self.init(
            seen: reader["seen"]?.stringValue, stamp: try reader.string("stamp"),
            others: try reader.list("others") { json, path throws(DecodeError) in
                let write = try WireReader(json, path)
                return Write(dot: try write.string("dot"), stamp: try write.string("stamp"))
            })
    }
}

extension Explanation.Permission: WireObject, WireReadable {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("edit", mayEdit)
        if !refusals.isEmpty { writer.member("because", refusals) }
        if !asks.isEmpty { writer.member("asks", asks) }
        if needsMessage { writer.member("needs", ["message"]) }
        writer.member("leaseMax", leaseMax)
    }

    package init(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        func reasons(_ name: StaticString) throws(DecodeError) -> [Explanation.Refusal] {
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

extension Explanation.Refusal: WireObject {
    package func encodeMembers(into writer: inout JSONWriter) {
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

extension Explanation.Comparison: WireObject {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("field", field)
        writer.member("component", component)
        writer.member("value", value)
        writer.member("comparison", comparison)
        writer.member("operand", operand)
        if isNegated { writer.member("negated", true) }
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

extension Explanation.References: WireObject, WireReadable {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.array("fields", listed) { writer, reference in
            writer.beginObject()
            writer.member("field", reference.field)
            writer.member("how", reference.kind.rawValue)
            writer.endObject()
        }
        if more > 0 { writer.member("more", Int64(more)) }
    }

    package init(decoding json: JSON, path: String) throws(DecodeError) {
        self.init()
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

extension Sibling: WireObject, WireReadable {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("value", value)
        writer.member("by", by)
        writer.member("at", at)
    }

    package init(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        self.init(
            value: try reader.value("value"), by: try reader.inner("by"),
            at: try reader.moment("at"))
    }
}
