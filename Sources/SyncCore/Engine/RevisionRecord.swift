/// What the store keeps of a revision beside its notification: who did it, of which kind, what it
/// touched, and how it is taken back.
///
/// The notification has the values; the record never repeats them but where undo needs a stored
/// value that the notification does not show. Never a secret.
struct RevisionRecord {
    /// What made the revision: `kind` in `state.history`.
    enum Kind: String {
        case set
        case undo
        case redo
        case apply
        case options
    }

    var kind: Kind
    var at: Int64
    var by: Author
    /// The `session` of the connection, for undo.
    var session: String?
    /// Touched fields whose stored value did not change: what they show derives from others'.
    var derived: [String] = []
    /// Fields whose edit met another that its author had not seen.
    var concurrent: [String] = []
    /// How each edit is taken back.
    var undo: [UndoStep] = []
    /// The revision that an undo or redo took back.
    var takesBack: UInt64?

    /// Everything that a revision touched, for subscribers with a filter.
    var touched: [String] = []
    /// The definition changed: it touches every subscriber.
    var touchesAll = false
}

/// How one field's edit is taken back, as long as it still stands.
struct UndoStep: Hashable {
    var field: String
    var action: Action

    enum Action: Hashable {
        /// A register's write `dot`: write what was there before (`nil`: unset).
        case write(dot: Dot, was: JSON?)
        /// Components of wheels: as a register's, each.
        case components(dot: Dot, was: [Component])
        /// A counter's set or reset `dot`.
        case assign(dot: Dot, was: DecimalNumber?, to: DecimalNumber?)
        /// An increment by this much.
        case increment(DecimalNumber)
        /// Tags that were added and removed; `wasSet` says whether anybody had set the field.
        case tags(added: [JSON], removed: [JSON], wasSet: Bool)
    }

    struct Component: Hashable {
        var id: String
        /// `nil`: the component was unset.
        var was: JSON?
    }
}

// MARK: - Text

extension RevisionRecord {
    /// The record as JSON text.
    func encoded() -> [UInt8] {
        var object = JSONObject()
        object["kind"] = .string(kind.rawValue)
        object["at"] = .integer(at)
        object["by"] = by.json
        object["session"] = session.map(JSON.string)
        if touchesAll { object["all"] = true }
        if !touched.isEmpty { object["touched"] = .array(touched.map(JSON.string)) }
        if !derived.isEmpty { object["derived"] = .array(derived.map(JSON.string)) }
        if !concurrent.isEmpty { object["concurrent"] = .array(concurrent.map(JSON.string)) }
        if !undo.isEmpty { object["undo"] = .array(undo.map(\.json)) }
        object["takesBack"] = takesBack.map { .integer(Int64(clamping: $0)) }
        var bytes: [UInt8] = []
        JSON.object(object).encode(into: &bytes)
        return bytes
    }

    /// Reads what `encoded` wrote; `nil` for anything else.
    init?(_ bytes: [UInt8]) {
        guard let json = try? JSON(parsing: bytes),
            let kind = json["kind"]?.stringValue.flatMap(Kind.init(rawValue:)),
            let at = json["at"]?.integerValue, let by = json["by"].flatMap(Author.init(json:))
        else { return nil }
        func strings(_ name: String) -> [String] {
            json[name]?.arrayValue?.compactMap(\.stringValue) ?? []
        }
        self.init(
            kind: kind, at: at, by: by, session: json["session"]?.stringValue,
            derived: strings("derived"), concurrent: strings("concurrent"),
            undo: (json["undo"]?.arrayValue ?? []).compactMap(UndoStep.init(json:)),
            takesBack: json["takesBack"]?.integerValue.flatMap(UInt64.init(exactly:)),
            touched: strings("touched"), touchesAll: json["all"]?.boolValue ?? false)
    }
}

extension UndoStep {
    fileprivate var json: JSON {
        var object = JSONObject([("field", .string(field))])
        switch action {
        case .write(let dot, let was):
            object["do"] = "write"
            object["dot"] = dot.json
            object["was"] = was
        case .components(let dot, let was):
            object["do"] = "components"
            object["dot"] = dot.json
            object["was"] = .array(
                was.map { component in
                    var json = JSONObject([("id", .string(component.id))])
                    json["was"] = component.was
                    return .object(json)
                })
        case .assign(let dot, let was, let to):
            object["do"] = "assign"
            object["dot"] = dot.json
            object["was"] = was.map(JSON.number)
            object["to"] = to.map(JSON.number)
        case .increment(let amount):
            object["do"] = "increment"
            object["by"] = .number(amount)
        case .tags(let added, let removed, let wasSet):
            object["do"] = "tags"
            object["added"] = .array(added)
            object["removed"] = .array(removed)
            object["wasSet"] = .bool(wasSet)
        }
        return .object(object)
    }

    fileprivate init?(json: JSON) {
        guard let field = json["field"]?.stringValue, let verb = json["do"]?.stringValue else {
            return nil
        }
        self.field = field
        let dot = json["dot"].flatMap(Dot.init(json:))
        switch (verb, dot) {
        case ("write", let dot?): action = .write(dot: dot, was: json["was"])
        case ("components", let dot?):
            action = .components(
                dot: dot,
                was: (json["was"]?.arrayValue ?? []).compactMap { component in
                    component["id"]?.stringValue.map { Component(id: $0, was: component["was"]) }
                })
        case ("assign", let dot?):
            action = .assign(
                dot: dot, was: json["was"]?.numberValue, to: json["to"]?.numberValue)
        case ("increment", _):
            guard let amount = json["by"]?.numberValue else { return nil }
            action = .increment(amount)
        case ("tags", _):
            action = .tags(
                added: json["added"]?.arrayValue ?? [], removed: json["removed"]?.arrayValue ?? [],
                wasSet: json["wasSet"]?.boolValue ?? true)
        default: return nil
        }
    }
}

extension Dot {
    /// `"3f9a.1:1042"`: the token of this one write alone.
    fileprivate var json: JSON { .string(ContextToken.render(CausalContext(dots: [self]))) }

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

extension Author {
    /// The author as on the wire.
    var wire: WireAuthor {
        WireAuthor(
            user: user, uid: uid, client: client, tty: tty,
            connection: Int64(clamping: connection), replica: replica.description)
    }

    fileprivate var json: JSON {
        var writer = JSONWriter()
        wire.encode(into: &writer)
        return (try? JSON(parsing: writer.take())) ?? .null
    }

    fileprivate init?(json: JSON) {
        guard let wire = try? WireAuthor(decoding: json),
            let replica = ReplicaID(wire.replica),
            let connection = UInt64(exactly: wire.connection)
        else { return nil }
        self.init(
            user: wire.user, uid: wire.uid, client: wire.client, tty: wire.tty,
            connection: connection, replica: replica)
    }
}
