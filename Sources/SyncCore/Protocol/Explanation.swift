// The result of `state.explain`: facts about the value of a field (PROTOCOL.md, Explain).

/// Why a field has the value that it has. A fact that does not exist, or that the reader may not
/// see, is absent.
public struct Explanation: Hashable, Sendable {
    public var form: String
    public var field: String
    /// The revision of the form that is explained.
    public var revision: Revision
    /// What readers see; `nil` if history no longer has it.
    public var state: FieldState?
    public var origin: Origin?
    /// The last change of the field; `nil` if nobody has changed it.
    public var change: Change?
    /// The rule for concurrent values; `nil` for a control without such values.
    public var policy: ConflictPolicy?
    /// Values that were written concurrently with the current one: a group for each component of
    /// wheels, otherwise at most one.
    public var concurrent: [Siblings] = []
    /// What the author of a concurrent edit had seen; only if the edit is the last change.
    public var met: Meeting?
    /// Whether the reader may change it; `nil` for a label and for an earlier revision.
    public var permission: Permission?
    /// The leases that a set without one ends.
    public var ends: [FieldLease] = []
    /// The controls that the field's value, label or conditions refer to.
    public var dependsOn = References()
    /// The controls whose value, label or conditions refer to the field.
    public var dependents = References()

    /// An explanation without any fact.
    public init(form: String, field: String, revision: Revision) {
        self.form = form
        self.field = field
        self.revision = revision
    }
}

extension Explanation {
    /// Where a value comes from.
    public struct Origin: Hashable, Sendable {
        public var kind: Kind
        /// The controls that store it, with their values.
        public var fields: [Part] = []
        /// Those that are not listed.
        public var more = 0
        /// The set that increments were added to.
        public var base: Sibling?

        /// A kind of origin.
        public enum Kind: String, CaseIterable, Hashable, Sendable {
            /// Nobody has set it, or it was reset.
            case initial = "default"
            case set
            /// Increments were added to `base`, or to the default.
            case counted
            /// The control shows one other control.
            case bound
            /// The control shows several other controls.
            case sources
            /// The value ends by itself: `lease` of the state.
            case lease
            case pressed
            /// A label, which has no value.
            case label
        }

        /// An origin of this kind.
        public init(_ kind: Kind) { self.kind = kind }
    }

    /// A control that stores a part of the value.
    public struct Part: Hashable, Sendable {
        public var field: String
        /// `nil` for a secret.
        public var value: JSON?
        public var isSet: Bool
        public var by: WireAuthor?
        public var at: Timestamp?

        /// A control with its value.
        public init(field: String, value: JSON?, isSet: Bool, by: WireAuthor?, at: Timestamp?) {
            self.field = field
            self.value = value
            self.isSet = isSet
            self.by = by
            self.at = at
        }
    }

    /// A change of the field: an entry of `state.history` without values.
    public struct Change: Hashable, Sendable {
        public var revision: Revision
        /// History no longer has the revision. The next members are then those of the field.
        public var isGone = false
        public var at: Timestamp?
        public var by: WireAuthor?
        /// As in history: `set`, `undo`, `apply`, …
        public var kind: String?
        public var message: String?
        /// The revision that this undo or redo undid.
        public var undoes: Revision?

        /// A change of which only the revision is known.
        public init(revision: Revision) { self.revision = revision }
    }

    /// Concurrent values, the current one first.
    public struct Siblings: Hashable, Sendable {
        /// The component of wheels.
        public var component: String?
        public var rule: Rule
        /// How much later (under `first`: earlier) the stamp of the current value is than that of
        /// the next one, in milliseconds; only if stamps decide.
        public var lead: Int64?
        public var values: [Sibling]

        /// Why the first value is the current one.
        public enum Rule: String, CaseIterable, Hashable, Sendable {
            /// Its stamp is the latest. Under `ask`, the others remain until somebody chooses.
            case latest
            /// Its stamp is the earliest.
            case earliest
            /// It has the boolean that the policy prefers.
            case flag
        }

        /// Concurrent values that `rule` has put into this order.
        public init(component: String?, rule: Rule, lead: Int64?, values: [Sibling]) {
            self.component = component
            self.rule = rule
            self.lead = lead
            self.values = values
        }
    }

    /// What the author of a concurrent edit had seen, and when it and the others were written.
    public struct Meeting: Hashable, Sendable {
        /// The author's causal context as a token; `nil` if it was not kept.
        public var seen: String?
        /// The hybrid timestamp of the edit, `MILLISECONDS+LOGICAL`.
        public var stamp: String
        /// Those of the edits that the author had not seen, with their dots.
        public var others: [Write]

        /// A write: its dot and its hybrid timestamp.
        public struct Write: Hashable, Sendable {
            public var dot: String
            public var stamp: String
        }
    }

    /// Whether the reader may change the field now.
    public struct Permission: Hashable, Sendable {
        public var mayEdit: Bool
        /// Why not. A newer daemon may have reasons that this program does not know.
        public var refusals: [Refusal]
        /// The guards that refuse some values: an edit that sets one of these must be proposed.
        public var asks: [Refusal] = []
        /// An edit must say why.
        public var needsMessage = false
        /// The most seconds that a value lasts.
        public var leaseMax: Int64?

        /// An edit is permitted unless there are refusals.
        public init(_ refusals: [Refusal]) {
            mayEdit = refusals.isEmpty
            self.refusals = refusals
        }
    }

    /// A reason that refuses every edit of the field.
    public struct Refusal: Hashable, Sendable {
        public var reason: Reason
        /// The control with the rule.
        public var field: String
        /// Who may, or for `approval` who may agree: at most 8 principals of the rule.
        public var only: [String] = []
        /// Principals that are not listed.
        public var more = 0
        /// How many must agree; only for `approval`.
        public var count: Int64?
        /// What `enabledWhen` lacks: of each group, at least one comparison must become true.
        public var unmet: [[Comparison]] = []

        /// A kind of reason.
        public enum Reason: String, CaseIterable, Hashable, Sendable {
            /// The access rule of the control or of the form.
            case access
            case locked
            case disabled
            /// `enabledWhen` is false.
            case condition
            /// Others must agree: the edit must be proposed.
            case approval
            /// The store has rejected edits of the form.
            case store
        }

        /// A reason of the control `field`.
        public init(_ reason: Reason, field: String) {
            self.reason = reason
            self.field = field
        }
    }

    /// A comparison of a condition that is not as the condition needs it.
    public struct Comparison: Hashable, Sendable {
        public var field: String
        public var component: String?
        /// The present value; `nil` for a secret.
        public var value: JSON?
        /// `equals`, `in`, `not`, `atLeast`, `atMost`, or `set` for a required value.
        public var comparison: String
        public var operand: JSON
        /// The comparison is true, and must become false.
        public var isNegated: Bool = false
    }

    /// Controls and how they are connected with the field.
    public struct References: Hashable, Sendable {
        /// At most `countMax`.
        public var listed: [Reference] = []
        /// Those that are not listed.
        public var more = 0

        /// The most references that are listed.
        public static let countMax = 64

        /// No references.
        public init() {}
    }

    /// A connection between two controls.
    public struct Reference: Hashable, Sendable {
        public var field: String
        public var kind: Kind

        /// The member of the definition that connects them.
        public enum Kind: String, CaseIterable, Hashable, Sendable {
            case binds, sources, enabledWhen, visibleWhen
            /// A template shows the value.
            case shows
        }
    }
}
