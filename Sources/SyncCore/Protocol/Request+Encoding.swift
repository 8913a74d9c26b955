// Encodes requests for clients: the same members as in Request+Decoding.swift.

extension Request {
    /// Writes the params as an object, which is empty if the method has none.
    ///
    /// The text is canonical: equal requests give equal bytes.
    public func encodeParams(into writer: inout JSONWriter) {
        writer.beginObject()
        switch self {
        case .ping, .formList, .formWatch, .serverStatus, .linkAttach, .linkTest: break
        case .formGet(let form), .stateUnsubscribe(let form), .linkRepair(let form),
            .formUnlink(let form):
            writer.member("form", form)
        case .hello(let params): params.encodeMembers(into: &writer)
        case .formApply(let params): params.encodeMembers(into: &writer)
        case .formSetOptions(let params): params.encodeMembers(into: &writer)
        case .formDelete(let params): params.encodeMembers(into: &writer)
        case .stateGet(let params): params.encodeMembers(into: &writer)
        case .stateSet(let params): params.encodeMembers(into: &writer)
        case .stateLease(let params): params.encodeMembers(into: &writer)
        case .stateSubscribe(let params): params.encodeMembers(into: &writer)
        case .stateHistory(let params): params.encodeMembers(into: &writer)
        case .stateExplain(let params): params.encodeMembers(into: &writer)
        case .historyRedact(let params): params.encodeMembers(into: &writer)
        case .stateUndo(let params), .stateRedo(let params): params.encodeMembers(into: &writer)
        case .stateReveal(let params): params.encodeMembers(into: &writer)
        case .presenceUpdate(let params): params.encodeMembers(into: &writer)
        case .buttonHandle(let params): params.encodeMembers(into: &writer)
        case .buttonProgress(let params): params.encodeMembers(into: &writer)
        case .buttonFinish(let params): params.encodeMembers(into: &writer)
        case .buttonCancel(let params): params.encodeMembers(into: &writer)
        case .buttonOutcome(let params): params.encodeMembers(into: &writer)
        case .proposalList(let params): params.encodeMembers(into: &writer)
        case .proposalApprove(let params), .proposalRefuse(let params),
            .proposalWithdraw(let params):
            params.encodeMembers(into: &writer)
        case .serverBackup(let params): params.encodeMembers(into: &writer)
        case .linkUp(let params): params.encodeMembers(into: &writer)
        case .linkDown(let params): params.encodeMembers(into: &writer)
        case .linkMessage(let params): params.encodeMembers(into: &writer)
        case .formLink(let params): params.encodeMembers(into: &writer)
        }
        writer.endObject()
    }

    /// Writes the whole request; if `id` is `nil`, as a JSON-RPC notification, which is not
    /// answered.
    public func encode(id: RequestID?, into writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("jsonrpc")
        writer.string(static: "2.0")
        if let id {
            writer.key("id")
            writer.raw(id.rawText)
        }
        writer.key("method")
        writer.string(method.rawValue)
        writer.key("params")
        encodeParams(into: &writer)
        writer.endObject()
    }

    /// The whole request as a frame, with its length.
    public func frame(id: RequestID?) -> [UInt8] {
        Frame.encode { encode(id: id, into: &$0) }
    }
}

extension Hello {
    fileprivate func encodeMembers(into writer: inout JSONWriter) {
        writer.member("protocol", protocolVersion)
        writer.member("client", client)
        writer.member("session", session)
        writer.member("tty", tty)
    }
}

extension FormApply {
    fileprivate func encodeMembers(into writer: inout JSONWriter) {
        writer.member("definition", definition)
        if isDryRun { writer.member("dryRun", true) }
        writer.member("ifVersion", ifVersion)
        guarded.encodeMember(into: &writer)
        writer.member("idempotencyKey", idempotencyKey)
        writer.member("message", message)
    }
}

extension FormSetOptions {
    fileprivate func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("field", field)
        writer.member("options", .array(options))
        guarded.encodeMember(into: &writer)
        writer.member("idempotencyKey", idempotencyKey)
        writer.member("message", message)
    }
}

extension FormDelete {
    fileprivate func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        if breaksGlass { writer.member("breakGlass", true) }
        writer.member("idempotencyKey", idempotencyKey)
        writer.member("message", message)
    }
}

extension StateGet {
    fileprivate func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("fields", fields)
    }
}

extension StateSet {
    fileprivate func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("changes", changes)
        writer.member("context", context)
        if requireCurrent {
            writer.key("require")
            writer.string(static: "current")
        }
        if !requireFields.isEmpty { writer.member("requireFields", requireFields) }
        writer.member("lease", lease)
        guarded.encodeMember(into: &writer)
        writer.member("idempotencyKey", idempotencyKey)
        writer.member("message", message)
    }
}

extension Change: WireObject {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("field", field)
        writer.member("context", context)
        action.encodeMembers(into: &writer)
    }
}

extension Change.Action {
    fileprivate func encodeMembers(into writer: inout JSONWriter) {
        switch self {
        case .value(let value): writer.member("value", value)
        case .increment(let number):
            writer.key("increment")
            writer.number(number)
        case .toggle: writer.member("toggle", true)
        case .move(let direction, let wraps):
            writer.member("move", direction.rawValue)
            if wraps { writer.member("wraps", true) }
        case .reset: writer.member("reset", true)
        case .press: writer.member("press", true)
        case .add(let tags): writer.member("add", .array(tags))
        case .remove(let tags): writer.member("remove", .array(tags))
        }
    }
}

extension PlainRequest.Edit {
    /// Writes the request without its id, as `Request.encode` writes it (PlainRequestTests).
    func encode(into writer: inout JSONWriter) {
        func member(_ name: StaticString, _ text: PlainRequest.Text?) {
            guard let text else { return }
            writer.key(name)
            writer.string(text)
        }
        writer.beginObject(text: #"{"jsonrpc":"2.0","method":"state.set","params":{"#)
        member("form", form)
        writer.key("changes")
        writer.beginArray()
        writer.beginObject()
        member("field", field)
        if hasOwnContext { member("context", context) }
        action.encodeMembers(into: &writer)
        writer.endObject()
        writer.endArray()
        if !hasOwnContext { member("context", context) }
        member("idempotencyKey", idempotencyKey)
        writer.endObject()
        writer.endObject()
    }
}

extension StateSubscribe {
    fileprivate func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("fields", fields)
        if let since {
            writer.object("since") {
                $0.member("log", since.log)
                $0.member("revision", since.revision)
            }
        }
        if presence { writer.member("presence", true) }
    }
}

extension HistoryRedact {
    fileprivate func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("revision", revision)
        writer.member("message", message)
    }
}

extension StateHistory {
    fileprivate func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("field", field)
        writer.member("before", before)
        writer.member("limit", limit)
    }
}

extension StateExplain {
    fileprivate func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("field", field)
        writer.member("at", at)
    }
}

extension StateUndo {
    fileprivate func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("field", field)
        if scope != .mine { writer.member("scope", scope.rawValue) }
        writer.member("idempotencyKey", idempotencyKey)
        writer.member("message", message)
    }
}

extension StateReveal {
    fileprivate func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("field", field)
    }
}

extension PresenceUpdate {
    fileprivate func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("focus", focus.map(JSON.string) ?? .null)
        writer.member("draft", draft)
    }
}

extension ServerBackup {
    fileprivate func encodeMembers(into writer: inout JSONWriter) {
        writer.member("backup", backup)
        writer.member("offset", offset)
    }
}
