// One control: what all types have in common, and where its value is stored.

/// A control of a form. Others are named by their index in the definition.
public struct Control: Sendable {
    /// Unique in the form, ASCII.
    public let id: String
    /// The index of its section.
    public let section: Int
    /// The type with its own attributes.
    public internal(set) var kind: ControlKind

    public internal(set) var label: String?
    public internal(set) var subtitle: String?
    /// An icon: one grapheme cluster, one or two columns wide.
    public internal(set) var symbol: String?
    /// The symbol in words, for screen readers.
    public internal(set) var symbolName: String?
    public internal(set) var help: String?

    /// Whether it must have a value.
    public internal(set) var isRequired = false
    /// Whether it is disabled without a condition, itself or with its section.
    public internal(set) var isDisabled = false
    /// Whether user interfaces show it as read-only. Programs may set it.
    public internal(set) var isReadOnly = false
    /// Whether only an admin of the form may set it.
    public internal(set) var isLocked = false
    /// Whether user interfaces do not show it.
    public internal(set) var isHidden = false
    /// Whether it is changed only with a message that says why: `message: required` of the control
    /// or of the form.
    public internal(set) var needsMessage = false
    /// The most seconds that a value lasts; `nil` without a bound.
    public internal(set) var leaseMax: Int64?
    /// Who must agree before it changes; `nil` if nobody must.
    public internal(set) var approval: ApprovalRule?
    public internal(set) var enabledWhen: Condition?
    public internal(set) var visibleWhen: Condition?

    /// The style of the control itself.
    public internal(set) var style: ControlStyle?
    /// The control's style, or else its section's, the form's, or `automatic`.
    public internal(set) var effectiveStyle = ControlStyle.automatic
    /// The policy for concurrent edits. If the control binds another, that of the root.
    public internal(set) var conflictPolicy = ConflictPolicy.latest
    /// Rules that replace the form's for this control.
    public internal(set) var access: ControlAccess

    /// Its id in an earlier definition.
    public internal(set) var was: String?
    /// Where its value is stored.
    public internal(set) var storage: Storage
    /// The value until somebody sets one, in canonical form. Null for controls that store nothing
    /// and for secure fields, `{"presses": 0}` for buttons.
    public internal(set) var defaultValue: JSON
    /// Whether the definition contains `default`.
    public internal(set) var hasDefault = false
}

extension Control {
    /// Where a control's value is stored.
    public enum Storage: Hashable, Sendable {
        /// In the control itself.
        case own(FieldStore.Kind)
        /// In another control, the end of a chain of bindings.
        case binds(Int)
        /// In several other controls, ascending, with chains resolved.
        case sources([Int])
        /// It has no value.
        case none
    }

    /// The type of the control.
    public var type: ControlType { kind.type }

    /// The label, or the id if there is none.
    public var title: String { label ?? id }

    /// The kind of its dot store; `nil` if it stores nothing itself.
    // Never inlined, because Swift 6.3.1 with -O crashes in CopyPropagation if `Cell.init` inlines
    // it.
    @inline(never) public var storeKind: FieldStore.Kind? {
        if case .own(let kind) = storage { kind } else { nil }
    }

    /// Ids that no control has: environment variables of `watch --exec` have their names.
    public static let reservedIDs = [
        "form", "field", "value", "was", "user", "revision", "coalesced",
    ]

    /// An id in the name of an environment variable: upper case, with `_` for `-`.
    public static func environmentKey(of id: String) -> String {
        var id = id
        return id.withUTF8 { bytes in
            String(unsafeUninitializedCapacity: bytes.count) { key in
                for index in bytes.indices {
                    let byte = bytes[index]
                    key[index] =
                        switch byte {
                        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte &- 32
                        case UInt8(ascii: "-"): UInt8(ascii: "_")
                        default: byte
                        }
                }
                return bytes.count
            }
        }
    }

    /// The options of a picker.
    public var options: OptionList? {
        if case .picker(let picker) = kind { picker.options } else { nil }
    }

    /// Whether it is a picker with several tags.
    public var isMultiple: Bool {
        if case .picker(let picker) = kind { picker.isMultiple } else { false }
    }

    /// The domain of a slider, stepper or gauge.
    public var numberDomain: NumberDomain? {
        switch kind {
        case .slider(let slider): slider.domain
        case .stepper(let stepper): stepper.domain
        case .gauge(let gauge): gauge.domain
        default: nil
        }
    }
}
