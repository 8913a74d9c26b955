/// What the store keeps of a revision in addition to its notification: author, kind, touched
/// fields, and undo steps.
///
/// The notification contains the values. The record repeats one only if undo needs a stored value
/// that the notification does not show. Never a secret. It is a class, because the transaction, the
/// journal, the batch and the store's thread share it without copies.
final class RevisionRecord: Sendable {
    /// What created the revision: `kind` in `state.history`.
    enum Kind: String {
        case set
        case undo
        case redo
        case apply
        case options
        /// The end of a lease was moved, or its value made permanent.
        case lease
        case ended
        /// The message of an earlier revision was overwritten.
        case redact
        /// A press of a button with `runs` was assigned, or has ended.
        case run
        /// What another host knew of the form was joined.
        case sync
    }

    let kind: Kind
    let at: Int64
    let by: Author
    /// The connection's `session`, for undo.
    let session: String?
    /// It came from another host, or was asked for there: its author is nobody here, so it is in
    /// nobody's quota.
    let isJoined: Bool
    private let content: Content

    /// What it touched, and how it is undone.
    enum Content {
        case write(RegisterWrite)
        indirect case details(Details)
    }

    /// One write of a register, and nothing else: nearly every revision. Its undo step is made when
    /// somebody asks for it.
    struct RegisterWrite {
        let field: String
        let dot: Dot
        /// The write before; `nil` if nobody had set the field.
        let over: Dot?
        /// The value before; `nil`: unset.
        let was: JSON?
    }

    struct Details {
        /// Touched fields whose stored value did not change, because they derive from other fields.
        var derived: [String] = []
        /// Fields whose edit was concurrent with another one.
        var concurrent: [String] = []
        /// What edits set, by field, if concurrent values are current instead.
        var lost = JSONObject()
        var undo = Few<UndoStep>()
        /// The revision that this undo or redo undid.
        var undoes: UInt64?
        /// It undid only some fields of that revision. The others can still be undone.
        var isPartialUndo = false
        /// Steps that could not be undone. They cannot be tried again.
        var skipped: [String] = []
        /// The edit that an undo or redo goes back to, if it was one. Once others have undone it,
        /// the store does not return it for the journal, but its author's redo remains ended.
        var redoEnd: UndoJournal.RedoEnd?
        /// The run that was assigned, has ended or waits again.
        var run: ButtonRun?
        /// Everything that a revision touched, for subscribers with a filter.
        var touched = Few<String>()
        /// The definition changed: it touches every subscriber.
        var touchesAll = false
        /// What the authors of concurrent edits had seen.
        var met: [Met] = []
        /// How it was approved, or that it was not, if it changed what is guarded.
        var approval: Approval?
    }

    /// Why a guarded change was made.
    indirect enum Approval: Sendable {
        /// The proposal with that number was approved by these.
        case proposal(Int64, by: [WireAuthor])
        /// Its author did without approval.
        case brokenGlass
        /// It was joined. A guard that did not apply on its author's host applies here.
        case missing
    }

    init(
        kind: Kind, at: Int64, by: Author, session: String? = nil, isJoined: Bool = false,
        _ content: Content = .details(Details())
    ) {
        self.isJoined = isJoined
        self.kind = kind
        self.at = at
        self.by = by
        self.session = session
        self.content = content
    }

    /// The uid whose quota of history it is in; `nil` for nobody's.
    var quotaUID: UInt32? { isJoined ? nil : by.uid }

    /// Everything about it.
    var details: Details {
        switch content {
        case .write(let write):
            Details(undo: Few(only: write.step), touched: Few(only: write.field))
        case .details(let details): details
        }
    }

    /// Whether nothing of it can be undone.
    var isFinal: Bool {
        if case .details(let details) = content { details.undo.isEmpty } else { false }
    }

    /// The revision that this undo or redo undid, as in `details`.
    var undoes: UInt64? {
        if case .details(let details) = content { details.undoes } else { nil }
    }

    /// Whether it undid only some fields of that revision, as in `details`.
    var isPartialUndo: Bool {
        if case .details(let details) = content { details.isPartialUndo } else { false }
    }

    /// Whether it reverts an earlier revision or ends leases, so that values may be restored.
    var mayRestore: Bool { kind == .ended || undoes != nil }
}

extension RevisionRecord.RegisterWrite {
    fileprivate var step: UndoStep {
        let trace = UndoStep.Trace(dot: dot, over: over.map { Few(only: $0) } ?? Few())
        return UndoStep(field: field, action: .write(trace, was: was))
    }

    /// As that of `details`, which need not be made for it.
    fileprivate func encodeMembers(into writer: inout JSONWriter) {
        writer.key("touched")
        writer.beginArray()
        writer.string(field)
        writer.endArray()
        writer.key("undo")
        writer.beginArray()
        writer.beginObject()
        writer.member("field", field)
        writer.member("do", "write")
        writer.key("dot")
        writer.token(dot)
        if let over {
            writer.key("over")
            writer.beginArray()
            writer.token(over)
            writer.endArray()
        }
        writer.member("was", was)
        writer.endObject()
        writer.endArray()
    }

    /// As that of `details`.
    fileprivate var bytesEstimate: Int {
        83 + 2 * field.utf8.count + (over == nil ? 0 : 30) + (was?.bytesEstimate ?? 0)
    }
}

// MARK: - Text

extension RevisionRecord: WireObject {
    /// The approximate size of the record, on disk and in memory, without encoding it.
    var bytesEstimate: Int {
        let bytes = 160 + by.user.utf8.count + (session?.utf8.count ?? 0)
        return switch content {
        case .write(let write): bytes + write.bytesEstimate
        case .details(let details): bytes + details.bytesEstimate
        }
    }

    func encoded() -> [UInt8] { JSONWriter.bytes { encode(into: &$0) } }

    func encodeMembers(into writer: inout JSONWriter) {
        writer.member("kind", kind.rawValue)
        writer.member("at", at)
        writer.key("by")
        if by.text.isEmpty { by.wire.encode(into: &writer) } else { writer.raw(by.text) }
        writer.member("session", session)
        switch content {
        case .write(let write): write.encodeMembers(into: &writer)
        case .details(let details): details.encodeMembers(into: &writer)
        }
    }

    /// Parses the output of `encoded`; `nil` for anything else.
    convenience init?(_ bytes: [UInt8]) {
        guard let json = try? JSON(stored: bytes),
            let kind = json["kind"]?.stringValue.flatMap(Kind.init(rawValue:)),
            let at = json["at"]?.integerValue, let by = json["by"].flatMap(Author.init(json:))
        else { return nil }
        func strings(_ name: String) -> [String] {
            json[name]?.arrayValue?.compactMap(\.stringValue) ?? []
        }
        self.init(
            kind: kind, at: at, by: by, session: json["session"]?.stringValue,
            .details(
                Details(
                    derived: strings("derived"), concurrent: strings("concurrent"),
                    lost: json["lost"]?.objectValue ?? JSONObject(),
                    undo: Few((json["undo"]?.arrayValue ?? []).compactMap(UndoStep.init(json:))),
                    undoes: json["takesBack"]?.integerValue.flatMap(UInt64.init(exactly:)),
                    skipped: strings("skipped"),
                    redoEnd: json["redoEnd"].flatMap(UndoJournal.RedoEnd.init(json:)),
                    run: json["run"].flatMap { try? ButtonRun(decoding: $0, path: "run") },
                    touched: Few(strings("touched")), touchesAll: json["all"]?.boolValue ?? false,
                    met: (json["met"]?.arrayValue ?? []).compactMap(Met.init(json:)),
                    approval: Approval(json: json))))
    }
}

extension RevisionRecord.Details {
    fileprivate func encodeMembers(into writer: inout JSONWriter) {
        if touchesAll { writer.member("all", true) }
        if !touched.isEmpty { writer.member("touched", Array(touched)) }
        if !derived.isEmpty { writer.member("derived", derived) }
        if !concurrent.isEmpty { writer.member("concurrent", concurrent) }
        if !lost.isEmpty { writer.member("lost", .object(lost)) }
        if !undo.isEmpty { writer.array("undo", undo) { $1.encode(into: &$0) } }
        if !skipped.isEmpty { writer.member("skipped", skipped) }
        approval?.encodeMembers(into: &writer)
        writer.member("takesBack", undoes.map { Int64(clamping: $0) })
        writer.member("redoEnd", redoEnd)
        writer.member("run", run)
        if !met.isEmpty { writer.member("met", met) }
    }

    fileprivate var bytesEstimate: Int {
        var bytes = 0
        for place in undo.indices { bytes += undo[place].bytesEstimate }
        if let redoEnd { bytes += 50 + (redoEnd.owner.session?.utf8.count ?? 0) }
        if let run { bytes += 200 + (run.text?.utf8.count ?? 0) }
        if !lost.isEmpty { bytes += JSON.object(lost).bytesEstimate + 7 }
        for place in touched.indices { bytes += touched[place].utf8.count + 3 }
        for one in met { bytes += one.bytesEstimate }
        return bytes
    }
}

extension RevisionRecord.Approval {
    fileprivate func encodeMembers(into writer: inout JSONWriter) {
        switch self {
        case .proposal(let id, let authors):
            writer.member("proposal", id)
            writer.member("approvedBy", authors)
        case .brokenGlass: writer.member("breakGlass", true)
        case .missing: writer.member("unapproved", true)
        }
    }

    fileprivate init?(json: JSON) {
        if let id = json["proposal"]?.integerValue {
            let authors = json["approvedBy"]?.arrayValue ?? []
            self = .proposal(id, by: authors.compactMap { try? WireAuthor(decoding: $0) })
        } else if json["breakGlass"]?.boolValue == true {
            self = .brokenGlass
        } else if json["unapproved"]?.boolValue == true {
            self = .missing
        } else {
            return nil
        }
    }
}

extension Author {
    var wire: WireAuthor { WireAuthor(self) }

    fileprivate convenience init?(json: JSON) {
        guard let wire = try? WireAuthor(decoding: json),
            let replica = ReplicaID(wire.replica),
            let connection = UInt64(exactly: wire.connection)
        else { return nil }
        self.init(
            user: wire.user, uid: wire.uid, client: wire.client, tty: wire.tty,
            connection: connection, replica: replica, host: wire.host)
    }
}

extension UndoJournal.RedoEnd: WireObject {
    func encodeMembers(into writer: inout JSONWriter) {
        writer.member("uid", Int64(owner.uid))
        writer.member("session", owner.session)
        writer.member("host", owner.host)
        writer.member("revision", Int64(clamping: revision))
    }

    fileprivate init?(json: JSON) {
        guard let uid = json["uid"]?.integerValue.flatMap(UInt32.init(exactly:)),
            let revision = json["revision"]?.integerValue.flatMap(UInt64.init(exactly:))
        else { return nil }
        self.init(
            owner: UndoJournal.Owner(
                uid: uid, session: json["session"]?.stringValue, host: json["host"]?.stringValue),
            revision: revision)
    }
}
