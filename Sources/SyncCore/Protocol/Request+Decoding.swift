// Decodes requests strictly: a missing or unknown member, or one of the wrong type, is rejected
// with its path. Request+Encoding.swift encodes the same members.

extension Method {
    /// The method with the name on the tape, without an allocation.
    init?(_ name: JSONNode) {
        for method in Self.known where name.isString(method.rawValue) {
            self = method
            return
        }
        return nil
    }

    /// All methods; the most frequent ones come first.
    private static let known = [Method.stateSet, .stateGet] + allCases
}

extension Request {
    /// Decodes the params of a method. `params` is `nil` if they were omitted, which is the same as
    /// `{}`.
    static func decode(
        _ method: Method, _ params: JSONNode?, _ bounds: RequestBounds
    ) throws(ParamsFault) -> Request {
        var reader = try ParamsReader(params)
        let request = try decode(method, &reader, bounds)
        if method != .hello { try reader.refuseUnknown() }
        return request
    }

    private static func decode(
        _ method: Method, _ reader: inout ParamsReader, _ bounds: RequestBounds
    ) throws(ParamsFault) -> Request {
        switch method {
        case .hello: .hello(try Hello(&reader, bounds))
        case .ping: .ping
        case .formList: .formList
        case .formWatch: .formWatch
        case .formGet: .formGet(form: try reader.name("form", bounds))
        case .formApply: .formApply(try FormApply(&reader, bounds))
        case .formSetOptions: .formSetOptions(try FormSetOptions(&reader, bounds))
        case .formDelete: .formDelete(try FormDelete(&reader, bounds))
        case .stateGet: .stateGet(try StateGet(&reader, bounds))
        case .stateSet: .stateSet(try StateSet(&reader, bounds))
        case .stateLease: .stateLease(try StateLease(&reader, bounds))
        case .stateSubscribe: .stateSubscribe(try StateSubscribe(&reader, bounds))
        case .stateUnsubscribe: .stateUnsubscribe(form: try reader.name("form", bounds))
        case .stateHistory: .stateHistory(try StateHistory(&reader, bounds))
        case .stateExplain: .stateExplain(try StateExplain(&reader, bounds))
        case .historyRedact: .historyRedact(try HistoryRedact(&reader, bounds))
        case .stateUndo: .stateUndo(try StateUndo(&reader, bounds))
        case .stateRedo: .stateRedo(try StateUndo(&reader, bounds))
        case .stateReveal: .stateReveal(try StateReveal(&reader, bounds))
        case .presenceUpdate: .presenceUpdate(try PresenceUpdate(&reader, bounds))
        case .buttonHandle: .buttonHandle(try ButtonHandle(&reader, bounds))
        case .buttonProgress: .buttonProgress(try ButtonProgress(&reader, bounds))
        case .buttonFinish: .buttonFinish(try ButtonFinish(&reader, bounds))
        case .buttonCancel: .buttonCancel(try ButtonCancel(&reader, bounds))
        case .buttonOutcome: .buttonOutcome(try ButtonOutcome(&reader, bounds))
        case .proposalList: .proposalList(try ProposalList(&reader, bounds))
        case .proposalApprove: .proposalApprove(try ProposalVote(&reader, bounds))
        case .proposalRefuse: .proposalRefuse(try ProposalVote(&reader, bounds))
        case .proposalWithdraw: .proposalWithdraw(try ProposalVote(&reader, bounds))
        case .serverStatus: .serverStatus
        case .serverBackup: .serverBackup(try ServerBackup(&reader, bounds))
        case .linkAttach: .linkAttach
        case .linkUp: .linkUp(try LinkUp(&reader, bounds))
        case .linkDown: .linkDown(try LinkDown(&reader, bounds))
        case .linkMessage: .linkMessage(try LinkTransfer(&reader, bounds))
        case .linkRepair: .linkRepair(form: try reader.name("form", bounds))
        case .linkTest: .linkTest
        case .formLink: .formLink(try FormLinking(&reader, bounds))
        case .formUnlink: .formUnlink(form: try reader.name("form", bounds))
        }
    }
}

extension Hello {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        let bytesMax = bounds.greetingBytesMax
        protocolVersion = try reader.integer("protocol", in: .min ... .max)
        guard let client = try reader.optionalLabel("client", bytesMax: bytesMax) else {
            // The members of another protocol's `hello` are unknown, so only the version is
            // checked.
            guard protocolVersion == 1 else {
                client = ""
                return
            }
            throw ParamsFault("client", .shape("is missing", expected: "a string"))
        }
        self.client = client
        session = try reader.optionalLabel("session", bytesMax: bytesMax)
        tty = try reader.optionalLabel("tty", bytesMax: bytesMax)
    }
}

extension FormApply {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        guard let definition = try reader.optionalJSON("definition") else {
            throw ParamsFault("definition", .shape("is missing", expected: "an object"))
        }
        guard definition.objectValue != nil else {
            throw .expected("an object", at: "definition")
        }
        self.definition = definition
        isDryRun = try reader.optionalBool("dryRun") ?? false
        ifVersion = try reader.optionalInteger("ifVersion", in: 0 ... .max)
        idempotencyKey = try reader.idempotencyKey(bounds)
        message = try reader.message(bounds)
        guarded = try GuardedEdit(&reader)
    }
}

extension FormSetOptions {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        form = try reader.name("form", bounds)
        field = try reader.name("field", bounds)
        options = try reader.values("options")
        idempotencyKey = try reader.idempotencyKey(bounds)
        message = try reader.message(bounds)
        guarded = try GuardedEdit(&reader)
    }
}

extension FormDelete {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        form = try reader.name("form", bounds)
        breaksGlass = try reader.flag("breakGlass")
        idempotencyKey = try reader.idempotencyKey(bounds)
        message = try reader.message(bounds)
    }
}

extension StateGet {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        form = try reader.name("form", bounds)
        fields = try reader.globs(bounds)
    }
}

extension StateSet {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        form = try reader.name("form", bounds)
        let array = try reader.array("changes")
        guard array.count <= bounds.changesMax else {
            throw ParamsFault("changes", .limit("changesMax", max: bounds.changesMax))
        }
        var changes: [Change] = []
        changes.reserveCapacity(array.count)
        for element in array.elements {
            do {
                changes.append(try Change(element, bounds))
            } catch {
                throw error.inside("changes[\(changes.count)]")
            }
        }
        self.changes = changes
        context = try reader.context(bounds)
        requireCurrent = try reader.requireCurrent()
        requireFields =
            try reader.optionalNames(
                "requireFields", countMax: bounds.changesMax, limit: "changesMax", bounds) ?? []
        if !reader.hasTakenAll, let node = reader.take("lease") {
            do { lease = try LeaseEnd(node) } catch { throw error.inside("lease") }
        }
        idempotencyKey = try reader.idempotencyKey(bounds)
        message = try reader.message(bounds)
        guarded = try GuardedEdit(&reader)
        if requireCurrent || !requireFields.isEmpty { try checkRequirements() }
    }

    /// A condition that cannot be checked is rejected, not ignored, because the sender relies on
    /// it.
    private func checkRequirements() throws(ParamsFault) {
        guard requireCurrent else {
            guard requireFields.isEmpty else {
                throw ParamsFault(
                    "requireFields",
                    .shape("needs require: \"current\" beside it", expected: nil))
            }
            return
        }
        guard context == nil else { return }
        guard requireFields.isEmpty, changes.allSatisfy({ $0.context != nil }) else {
            throw ParamsFault(
                "context",
                .shape("is missing, and require: \"current\" needs it", expected: "a string"))
        }
    }
}

extension Change {
    init(_ node: JSONNode, _ bounds: RequestBounds) throws(ParamsFault) {
        var reader = try ParamsReader(node)
        field = try reader.name("field", bounds)
        context = try reader.context(bounds)
        var found: Action?
        // Nearly every change has one of these in addition to its field, and then no other is
        // looked up.
        if let value = try reader.optionalJSON("value") {
            found = .value(value)
            if reader.hasTakenAll {
                action = .value(value)
                return
            }
        }
        var actions = found == nil ? 0 : 1
        func count(_ one: Action?) {
            guard let one else { return }
            actions += 1
            found = one
        }
        count(try reader.increment())
        count(try reader.flag("toggle") ? .toggle : nil)
        count(try reader.move())
        count(try reader.flag("reset") ? .reset : nil)
        count(try reader.flag("press") ? .press : nil)
        count(try reader.tags("add", bounds).map { .add($0) })
        count(try reader.tags("remove", bounds).map { .remove($0) })
        try reader.refuseUnknown()
        let choices = "exactly one of value, increment, toggle, move, reset, press, add and remove"
        guard let found, actions == 1 else {
            throw ParamsFault("", .shape("should have \(choices)", expected: choices))
        }
        action = found
    }
}

extension StateSubscribe {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        form = try reader.name("form", bounds)
        fields = try reader.globs(bounds)
        if let node = reader.take("since") {
            do {
                since = try Since(node, bounds)
            } catch {
                throw error.inside("since")
            }
        }
        presence = try reader.optionalBool("presence") ?? false
    }
}

extension StateSubscribe.Since {
    init(_ node: JSONNode, _ bounds: RequestBounds) throws(ParamsFault) {
        var reader = try ParamsReader(node)
        log = try reader.name("log", bounds)
        revision = try reader.integer("revision", in: 0 ... .max)
        try reader.refuseUnknown()
    }
}

extension HistoryRedact {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        form = try reader.name("form", bounds)
        revision = try reader.integer("revision", in: 1 ... .max)
        message = try reader.message(bounds)
    }
}

extension StateHistory {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        form = try reader.name("form", bounds)
        field = try reader.optionalName("field", bounds)
        before = try reader.optionalInteger("before", in: 0 ... .max)
        limit = try reader.optionalInteger("limit", in: 1 ... .max)
    }
}

extension StateExplain {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        form = try reader.name("form", bounds)
        field = try reader.name("field", bounds)
        at = try reader.optionalInteger("at", in: 0 ... .max)
    }
}

extension StateUndo {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        form = try reader.name("form", bounds)
        field = try reader.optionalName("field", bounds)
        scope = try reader.optionalChoice("scope", as: Scope.self) ?? .mine
        idempotencyKey = try reader.idempotencyKey(bounds)
        message = try reader.message(bounds)
    }
}

extension StateReveal {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        form = try reader.name("form", bounds)
        field = try reader.name("field", bounds)
    }
}

extension PresenceUpdate {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        form = try reader.name("form", bounds)
        guard let node = reader.take("focus") else {
            throw ParamsFault(
                "focus", .shape("is missing", expected: "the id of a field, or null"))
        }
        focus = node.isNull ? nil : try reader.name("focus", bounds)
        if let node = reader.take("draft") {
            guard node.rawBytes.count <= bounds.draftBytesMax else {
                throw ParamsFault("draft", .limit("draftBytesMax", max: bounds.draftBytesMax))
            }
            draft = try reader.optionalJSON("draft")
        }
    }
}

extension ParamsReader {
    /// The globs in `fields`; `nil` for all fields.
    mutating func globs(_ bounds: RequestBounds) throws(ParamsFault) -> [String]? {
        let texts = try optionalNames(
            "fields", countMax: bounds.globsMax, limit: "globsMax", bounds)
        let bytes = (texts ?? []).reduce(0) { $0 + (Glob.isLiteral($1) ? 0 : $1.utf8.count) }
        guard bytes <= bounds.globBytesMax else {
            throw ParamsFault("fields", .limit("globBytesMax", max: bounds.globBytesMax))
        }
        return texts
    }

    /// `require`: `"current"` is its only value.
    fileprivate mutating func requireCurrent() throws(ParamsFault) -> Bool {
        guard let node = take("require") else { return false }
        guard node.matches("current") else { throw .expected("\"current\"", at: "require") }
        return true
    }

    fileprivate mutating func increment() throws(ParamsFault) -> Change.Action? {
        guard let node = take("increment") else { return nil }
        let number: DecimalNumber?
        do {
            number = try node.number()
        } catch {
            throw ParamsFault("increment", .outOfBounds)
        }
        guard let number else { throw .expected("a number", at: "increment") }
        return .increment(number)
    }

    fileprivate mutating func move() throws(ParamsFault) -> Change.Action? {
        let direction = try optionalChoice("move", as: Change.Direction.self)
        let wraps = try optionalBool("wraps")
        guard let direction else {
            guard wraps == nil else {
                throw ParamsFault("wraps", .shape("needs move beside it", expected: nil))
            }
            return nil
        }
        return .move(direction, wraps: wraps ?? false)
    }

    fileprivate mutating func tags(
        _ name: StaticString, _ bounds: RequestBounds
    ) throws(ParamsFault) -> [JSON]? {
        guard take(name) != nil else { return nil }
        return try values(name, countMax: bounds.tagsMax, limit: "tagsMax")
    }
}

extension ServerBackup {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        backup = try reader.optionalInteger("backup", in: 0 ... .max)
        offset = try reader.optionalInteger("offset", in: 0 ... .max)
    }
}
