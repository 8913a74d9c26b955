/// The methods of protocol 1 (PROTOCOL.md, All methods). The raw value is the name in the protocol.
public enum Method: String, CaseIterable, Hashable, Sendable {
    case hello
    case ping
    case formList = "form.list"
    case formWatch = "form.watch"
    case formGet = "form.get"
    case formApply = "form.apply"
    case formSetOptions = "form.setOptions"
    case formDelete = "form.delete"
    case stateGet = "state.get"
    case stateSet = "state.set"
    case stateLease = "state.lease"
    case stateSubscribe = "state.subscribe"
    case stateUnsubscribe = "state.unsubscribe"
    case stateHistory = "state.history"
    case stateExplain = "state.explain"
    case historyRedact = "history.redact"
    case stateUndo = "state.undo"
    case stateRedo = "state.redo"
    case stateReveal = "state.reveal"
    case presenceUpdate = "presence.update"
    case buttonHandle = "button.handle"
    case buttonProgress = "button.progress"
    case buttonFinish = "button.finish"
    case buttonCancel = "button.cancel"
    case buttonOutcome = "button.outcome"
    case proposalList = "proposal.list"
    case proposalApprove = "proposal.approve"
    case proposalRefuse = "proposal.refuse"
    case proposalWithdraw = "proposal.withdraw"
    case serverStatus = "server.status"
    case serverBackup = "server.backup"
    case linkAttach = "link.attach"
    case linkUp = "link.up"
    case linkDown = "link.down"
    case linkMessage = "link.message"
    case linkRepair = "link.repair"
    case linkTest = "link.test"
    case formLink = "form.link"
    case formUnlink = "form.unlink"
}

/// A request of a client: a method with its params.
public enum Request: Hashable, Sendable {
    case hello(Hello)
    case ping
    case formList
    case formWatch
    /// `form.get` of a form.
    case formGet(form: String)
    case formApply(FormApply)
    case formSetOptions(FormSetOptions)
    case formDelete(FormDelete)
    case stateGet(StateGet)
    case stateSet(StateSet)
    case stateLease(StateLease)
    case stateSubscribe(StateSubscribe)
    /// `state.unsubscribe` from a form.
    case stateUnsubscribe(form: String)
    case stateHistory(StateHistory)
    case stateExplain(StateExplain)
    case historyRedact(HistoryRedact)
    case stateUndo(StateUndo)
    case stateRedo(StateUndo)
    case stateReveal(StateReveal)
    case presenceUpdate(PresenceUpdate)
    case buttonHandle(ButtonHandle)
    case buttonProgress(ButtonProgress)
    case buttonFinish(ButtonFinish)
    case buttonCancel(ButtonCancel)
    case buttonOutcome(ButtonOutcome)
    case proposalList(ProposalList)
    case proposalApprove(ProposalVote)
    case proposalRefuse(ProposalVote)
    case proposalWithdraw(ProposalVote)
    case serverStatus
    case serverBackup(ServerBackup)
    case linkAttach
    case linkUp(LinkUp)
    case linkDown(LinkDown)
    case linkMessage(LinkTransfer)
    /// `link.repair` of a form.
    case linkRepair(form: String)
    case linkTest
    case formLink(FormLinking)
    /// `form.unlink` of a form.
    case formUnlink(form: String)
}

extension Request {
    /// The method.
    public var method: Method {
        switch self {
        case .hello: .hello
        case .ping: .ping
        case .formList: .formList
        case .formWatch: .formWatch
        case .formGet: .formGet
        case .formApply: .formApply
        case .formSetOptions: .formSetOptions
        case .formDelete: .formDelete
        case .stateGet: .stateGet
        case .stateSet: .stateSet
        case .stateLease: .stateLease
        case .stateSubscribe: .stateSubscribe
        case .stateUnsubscribe: .stateUnsubscribe
        case .stateHistory: .stateHistory
        case .stateExplain: .stateExplain
        case .historyRedact: .historyRedact
        case .stateUndo: .stateUndo
        case .stateRedo: .stateRedo
        case .stateReveal: .stateReveal
        case .presenceUpdate: .presenceUpdate
        case .buttonHandle: .buttonHandle
        case .buttonProgress: .buttonProgress
        case .buttonFinish: .buttonFinish
        case .buttonCancel: .buttonCancel
        case .buttonOutcome: .buttonOutcome
        case .proposalList: .proposalList
        case .proposalApprove: .proposalApprove
        case .proposalRefuse: .proposalRefuse
        case .proposalWithdraw: .proposalWithdraw
        case .serverStatus: .serverStatus
        case .serverBackup: .serverBackup
        case .linkAttach: .linkAttach
        case .linkUp: .linkUp
        case .linkDown: .linkDown
        case .linkMessage: .linkMessage
        case .linkRepair: .linkRepair
        case .linkTest: .linkTest
        case .formLink: .formLink
        case .formUnlink: .formUnlink
        }
    }

    /// The key under which the daemon stores the answer; `nil` if there is none or the method has
    /// none.
    public var idempotencyKey: String? {
        switch self {
        case .formApply(let params): params.idempotencyKey
        case .formSetOptions(let params): params.idempotencyKey
        case .formDelete(let params): params.idempotencyKey
        case .stateSet(let params): params.idempotencyKey
        case .stateLease(let params): params.idempotencyKey
        case .stateUndo(let params), .stateRedo(let params): params.idempotencyKey
        default: nil
        }
    }
}

/// Params of `hello`.
public struct Hello: Hashable, Sendable {
    /// The client's major version of the protocol.
    public var protocolVersion: Int64
    /// The program, for example `pickerctl/1.0`.
    public var client: String
    /// Groups connections of one uid for undo.
    public var session: String?
    /// The terminal, as the client claims.
    public var tty: String?

    /// A `hello` of protocol 1.
    public init(
        protocolVersion: Int64 = 1, client: String, session: String? = nil, tty: String? = nil
    ) {
        self.protocolVersion = protocolVersion
        self.client = client
        self.session = session
        self.tty = tty
    }
}

/// Params of `form.apply`.
public struct FormApply: Hashable, Sendable {
    /// The definition, an object (FORM.md).
    public var definition: JSON
    /// Only report what would happen.
    public var isDryRun: Bool
    /// Apply only if this is the current version of the definition, or 0 if the form does not
    /// exist; otherwise `conflict`.
    public var ifVersion: Int64?
    public var idempotencyKey: String?
    /// Why it is changed: one line, which everybody who may read the form sees.
    public var message: String?
    /// What becomes of it if it changes what is guarded.
    public var guarded = GuardedEdit.refused

    /// An unconditional apply by default.
    public init(
        definition: JSON, isDryRun: Bool = false, ifVersion: Int64? = nil,
        idempotencyKey: String? = nil, message: String? = nil
    ) {
        self.definition = definition
        self.isDryRun = isDryRun
        self.ifVersion = ifVersion
        self.idempotencyKey = idempotencyKey
        self.message = message
    }
}

/// Params of `form.setOptions`.
public struct FormSetOptions: Hashable, Sendable {
    public var form: String
    public var field: String
    /// The options, an array as in a definition.
    public var options: [JSON]
    public var idempotencyKey: String?
    /// Why it is changed: one line, which everybody who may read the form sees.
    public var message: String?
    /// What becomes of it if it changes what is guarded.
    public var guarded = GuardedEdit.refused

    /// Replaces one picker's options.
    public init(
        form: String, field: String, options: [JSON], idempotencyKey: String? = nil,
        message: String? = nil
    ) {
        self.form = form
        self.field = field
        self.options = options
        self.idempotencyKey = idempotencyKey
        self.message = message
    }
}

/// Params of `form.delete`.
public struct FormDelete: Hashable, Sendable {
    public var form: String
    public var idempotencyKey: String?
    /// Why it is changed: one line, which everybody who may read the form sees.
    public var message: String?
    /// Delete it although fields of it are guarded, by those who may.
    public var breaksGlass = false

    /// Deletes a form.
    public init(form: String, idempotencyKey: String? = nil, message: String? = nil) {
        self.form = form
        self.idempotencyKey = idempotencyKey
        self.message = message
    }
}

/// Params of `state.get`.
public struct StateGet: Hashable, Sendable {
    public var form: String
    /// Globs of the requested fields; `nil` for all.
    public var fields: [String]?

    /// Reads a form.
    public init(form: String, fields: [String]? = nil) {
        self.form = form
        self.fields = fields
    }
}

/// Params of `state.subscribe`.
public struct StateSubscribe: Hashable, Sendable {
    public var form: String
    /// Globs of the requested fields; `nil` for all.
    public var fields: [String]?
    /// The last revision that the subscriber has seen, and its log.
    public var since: Since?
    /// Also notify presence.
    public var presence: Bool

    /// A position in a log.
    public struct Since: Hashable, Sendable {
        public var log: String
        public var revision: Revision

        /// The position after a revision.
        public init(log: String, revision: Revision) {
            self.log = log
            self.revision = revision
        }
    }

    /// A subscription.
    public init(
        form: String, fields: [String]? = nil, since: Since? = nil, presence: Bool = false
    ) {
        self.form = form
        self.fields = fields
        self.since = since
        self.presence = presence
    }
}

/// Params of `state.reveal`.
public struct StateReveal: Hashable, Sendable {
    public var form: String
    public var field: String

    /// Reads a secure value.
    public init(form: String, field: String) {
        self.form = form
        self.field = field
    }
}

/// Params of `presence.update`.
public struct PresenceUpdate: Hashable, Sendable {
    public var form: String
    /// The focused control; `nil` for none.
    public var focus: String?
    /// A value that is being entered and has not been sent.
    public var draft: JSON?

    /// The presence of a user.
    public init(form: String, focus: String?, draft: JSON? = nil) {
        self.form = form
        self.focus = focus
        self.draft = draft
    }
}

/// Params of `server.backup`: without `backup` a new copy, otherwise a piece of a copy.
public struct ServerBackup: Hashable, Sendable {
    /// The number of the copy.
    public var backup: Int64?
    /// The offset of the piece in bytes.
    public var offset: Int64?

    /// A new copy, or a piece of one.
    public init(backup: Int64? = nil, offset: Int64? = nil) {
        self.backup = backup
        self.offset = offset
    }
}
