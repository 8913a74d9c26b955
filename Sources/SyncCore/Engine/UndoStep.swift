// How an edit is undone. Steps are stored with the revision, and the journal is read from them.
//
// An undo is a write with a dot of its own. The value that it restores then belongs to the new dot,
// so steps that name the old dot must name the new one (`renew`). Otherwise only the newest edit of
// a field could be undone.

/// How the edit of one field is undone while it is still in effect.
struct UndoStep: Hashable {
    var field: String
    var action: Action
    /// The leases that the edit ended.
    var leases: LeaseStack?

    enum Action: Hashable {
        /// A write to a register: write the value before (`nil`: unset).
        case write(Trace, was: JSON?)
        /// Components of wheels: each one like a register.
        case components([Component])
        /// A set or reset of a counter.
        case assign(Trace, was: DecimalNumber?, to: DecimalNumber?)
        /// An increment by this amount, of the set `base` (`nil`: of the default).
        case increment(DecimalNumber, base: Dot?)
        /// Tags that were added and removed; `wasSet` is whether anybody had set the field.
        case tags(Trace, added: [JSON], removed: [JSON], wasSet: Bool)
    }

    struct Component: Hashable {
        var id: String
        var trace: Trace
        /// `nil`: the component was unset.
        var was: JSON?
    }

    /// A write with the writes before it.
    struct Trace: Hashable {
        var dot: Dot
        /// The writes before it: none if nobody had set the field, several for tags and where an
        /// undo had restored the value.
        var over: Few<Dot>
        /// The writes that it replaced; an undo restores their values. Empty for the default.
        var restores: [Dot]?
        /// The transaction's earlier writes of the same tags.
        var others: [Dot]

        init(
            dot: Dot, over: Few<Dot> = Few(), restores: [Dot]? = nil, others: [Dot] = []
        ) {
            self.dot = dot
            self.over = over
            self.restores = restores
            self.others = others
        }

        init(dot: Dot, over: [Dot], restores: [Dot]? = nil, others: [Dot] = []) {
            self.init(dot: dot, over: Few(over), restores: restores, others: others)
        }
    }

    /// Writes of a field, or of a component, whose values were restored with a new dot.
    struct Restoration {
        var field: String
        var component: String?
        var old: [Dot]
        var new: Dot
    }
}

extension UndoStep {
    /// Whether there is nothing to undo, because the increments add up to zero.
    var isIdle: Bool {
        if case .increment(let sum, _) = action { sum == .zero } else { false }
    }

    /// The write, of a component if one is named; `nil` for increments.
    func trace(component: String?) -> Trace? {
        switch action {
        case .write(let trace, _), .assign(let trace, _, _), .tags(let trace, _, _, _): trace
        case .components(let components): components.first { $0.id == component }?.trace
        case .increment: nil
        }
    }

    var restorations: [Restoration] {
        func restoration(_ trace: Trace, _ component: String?) -> Restoration? {
            trace.restores.map {
                Restoration(field: field, component: component, old: $0, new: trace.dot)
            }
        }
        return switch action {
        case .write(let trace, _), .assign(let trace, _, _), .tags(let trace, _, _, _):
            restoration(trace, nil).map { [$0] } ?? []
        case .components(let components):
            components.compactMap { restoration($0.trace, $0.id) }
        case .increment: []
        }
    }
}

// MARK: - Text

extension UndoStep: WireObject {
    /// The approximate size in bytes.
    var bytesEstimate: Int {
        let bytes = 40 + field.utf8.count
        return switch action {
        case .write(let trace, let was): bytes + trace.bytesEstimate + (was?.bytesEstimate ?? 0)
        case .components(let rows):
            rows.reduce(bytes) {
                $0 + 20 + $1.id.utf8.count + $1.trace.bytesEstimate + ($1.was?.bytesEstimate ?? 0)
            }
        case .assign(let trace, _, _): bytes + trace.bytesEstimate + 40
        case .increment: bytes + 60
        case .tags(let trace, let added, let removed, _):
            (added + removed).reduce(bytes + trace.bytesEstimate) { $0 + $1.bytesEstimate }
        }
    }

    func encodeMembers(into writer: inout JSONWriter) {
        writer.member("field", field)
        writer.member("leases", leases?.text)
        switch action {
        case .write(let trace, let was):
            writer.member("do", "write")
            trace.encode(into: &writer)
            writer.member("was", was)
        case .components(let components):
            writer.member("do", "components")
            writer.array("rows", components) { writer, component in
                writer.beginObject()
                writer.member("id", component.id)
                component.trace.encode(into: &writer)
                writer.member("was", component.was)
                writer.endObject()
            }
        case .assign(let trace, let was, let to):
            writer.member("do", "assign")
            trace.encode(into: &writer)
            writer.member("was", was.map(JSON.number))
            writer.member("to", to.map(JSON.number))
        case .increment(let amount, let base):
            writer.member("do", "increment")
            writer.member("by", JSON.number(amount))
            if let base {
                writer.key("base")
                writer.token(base)
            }
        case .tags(let trace, let added, let removed, let wasSet):
            writer.member("do", "tags")
            trace.encode(into: &writer)
            writer.member("added", JSON.array(added))
            writer.member("removed", JSON.array(removed))
            writer.member("wasSet", wasSet)
        }
    }

    init?(json: JSON) {
        guard let field = json["field"]?.stringValue, let verb = json["do"]?.stringValue else {
            return nil
        }
        self.field = field
        leases = json["leases"]?.stringValue.flatMap(LeaseStack.read(text:))
        switch (verb, Trace(json: json)) {
        case ("write", let trace?): action = .write(trace, was: json["was"])
        case ("components", _):
            action = .components(
                (json["rows"]?.arrayValue ?? []).compactMap { row in
                    guard let id = row["id"]?.stringValue, let trace = Trace(json: row) else {
                        return nil
                    }
                    return Component(id: id, trace: trace, was: row["was"])
                })
        case ("assign", let trace?):
            action = .assign(
                trace, was: json["was"]?.numberValue, to: json["to"]?.numberValue)
        case ("increment", _):
            guard let amount = json["by"]?.numberValue else { return nil }
            action = .increment(amount, base: json["base"].flatMap(Dot.init(json:)))
        case ("tags", let trace?):
            action = .tags(
                trace, added: json["added"]?.arrayValue ?? [],
                removed: json["removed"]?.arrayValue ?? [],
                wasSet: json["wasSet"]?.boolValue ?? true)
        default: return nil
        }
    }
}

extension UndoStep.Trace {
    /// A dot takes about thirty bytes.
    fileprivate var bytesEstimate: Int {
        40 + 30 * (over.count + (restores?.count ?? 0) + others.count)
    }

    fileprivate func encode(into writer: inout JSONWriter) {
        writer.key("dot")
        writer.token(dot)
        if !over.isEmpty { writer.array("over", over) { $0.token($1) } }
        if let restores { writer.array("restores", restores) { $0.token($1) } }
        if !others.isEmpty { writer.array("others", others) { $0.token($1) } }
    }

    fileprivate init?(json: JSON) {
        guard let dot = json["dot"].flatMap(Dot.init(json:)) else { return nil }
        func dots(_ name: String) -> [Dot]? {
            json[name]?.arrayValue?.compactMap(Dot.init(json:))
        }
        self.init(
            dot: dot, over: dots("over") ?? [], restores: dots("restores"),
            others: dots("others") ?? [])
    }
}

extension Dot {
    fileprivate init?(json: JSON) {
        guard let text = json.stringValue, let context = try? ContextToken.parse(text) else {
            return nil
        }
        if let loose = context.loose.first, context.vector.isEmpty {
            self = loose
        } else if let first = context.vector.entries.first, context.loose.isEmpty {
            self = Dot(first.replica, first.counter)
        } else {
            return nil
        }
    }
}
