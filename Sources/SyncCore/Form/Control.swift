// One control: what all types have in common, and where its value lives.

/// A control of a form. Others are named by their index in the definition.
public struct Control: Sendable {
    /// Unique in the form, ASCII.
    public let id: String
    /// The index of the section that it stands in.
    public let section: Int
    /// The type with its own attributes.
    public internal(set) var kind: ControlKind

    public internal(set) var label: String?
    public internal(set) var subtitle: String?
    /// An image of one grapheme cluster, one or two columns wide.
    public internal(set) var symbol: String?
    /// The symbol in words, for screen readers.
    public internal(set) var symbolName: String?
    public internal(set) var help: String?

    /// Whether it must be filled in.
    public internal(set) var isRequired = false
    /// Whether it is disabled without a condition, by itself or by its section.
    public internal(set) var isDisabled = false
    /// Whether people are shown it for reading only. Presentation: programs may set it.
    public internal(set) var isReadOnly = false
    /// Whether nobody but an admin of the form may set it.
    public internal(set) var isLocked = false
    /// Whether it is not shown. Presentation.
    public internal(set) var isHidden = false
    public internal(set) var enabledWhen: Condition?
    public internal(set) var visibleWhen: Condition?

    /// The style written at the control.
    public internal(set) var style: ControlStyle?
    /// Its own style, else its section's, else the form's, else `automatic`.
    public internal(set) var effectiveStyle = ControlStyle.automatic
    /// What becomes of concurrent edits; that of the root where it binds another.
    public internal(set) var conflictPolicy = ConflictPolicy.latest
    /// Rules that replace the form's for this control.
    public internal(set) var access: ControlAccess

    /// The id that it had in an earlier definition.
    public internal(set) var was: String?
    /// Where its value lives.
    public internal(set) var storage: Storage
    /// The value while nobody has set one, in canonical form. Null for what stores nothing and for
    /// secure fields, `{"presses": 0}` for buttons.
    public internal(set) var defaultValue: JSON
    /// Whether `default` was written.
    public internal(set) var hasDefault = false
}

extension Control {
    /// Where a control's value lives.
    public enum Storage: Hashable, Sendable {
        /// It keeps its own.
        case own(FieldStore.Kind)
        /// It shows another's: the control that stores it, at the end of a chain of bindings.
        case binds(Int)
        /// It shows several at once: the controls that store them, ascending, chains resolved.
        case sources([Int])
        /// It has no value.
        case none
    }

    /// What it is.
    public var type: ControlType { kind.type }

    /// The label, or the id where there is none.
    public var title: String { label ?? id }

    /// The dot store that keeps its value; `nil` where it stores nothing of its own.
    // Never inlined: Swift 6.3.1 with -O dies in CopyPropagation where `Cell.init` inlines it.
    @inline(never) public var storeKind: FieldStore.Kind? {
        if case .own(let kind) = storage { kind } else { nil }
    }

    /// Ids that no control has: environment variables of `watch --exec` have their names.
    public static let reservedIDs = [
        "form", "field", "value", "was", "user", "revision", "coalesced",
    ]

    /// The name of the environment variable that carries it: `PICKER_EU_WEST`.
    public var environmentName: String { "PICKER_" + Self.environmentKey(of: id) }

    /// An id as it stands in an environment variable's name: capitals, `-` as `_`.
    public static func environmentKey(of id: String) -> String {
        String(
            decoding: id.utf8.map { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - 32
                case UInt8(ascii: "-"): UInt8(ascii: "_")
                default: byte
                }
            }, as: UTF8.self)
    }

    /// The options of a picker.
    public var options: OptionList? {
        if case .picker(let picker) = kind { picker.options } else { nil }
    }

    /// Whether it is a picker of several tags.
    public var isMultiple: Bool {
        if case .picker(let picker) = kind { picker.isMultiple } else { false }
    }

    /// The numbers of a slider, stepper or gauge.
    public var numberDomain: NumberDomain? {
        switch kind {
        case .slider(let slider): slider.domain
        case .stepper(let stepper): stepper.domain
        case .gauge(let gauge): gauge.domain
        default: nil
        }
    }
}
