// The state of a control that does not depend on its type; every configuration contains it.

public import SyncCore

/// Another user of the form.
public struct Peer: Hashable, Sendable {
    public var name: String
    /// Which of the theme's colours is theirs.
    public var number: Int

    /// A peer by name, with the number of their colour.
    public init(name: String, number: Int) {
        self.name = name
        self.number = number
    }
}

/// A value of somebody else: a draft, a change that waits, or a sibling of a conflict.
public struct PeerValue: Hashable, Sendable {
    public var value: JSON
    /// The value as people read it.
    public var text: String
    /// `nil` if it is the user's own.
    public var by: Peer?
    /// When, as people read it: this library has no clock and no zone.
    public var when: String?
    /// The tint of the option that has this value.
    public var tint: Tint?
    /// What that option means, in a few words.
    public var detail: String?

    /// A value with its text, and who set it when.
    public init(value: JSON, text: String, by: Peer?, when: String? = nil) {
        self.value = value
        self.text = text
        self.by = by
        self.when = when
    }
}

/// A change that waits for the approval of others.
public struct ProposedValue: Hashable, Sendable {
    /// The proposed value as people read it.
    public var text: String
    /// `nil` if the user proposed it.
    public var by: Peer?
    /// Why.
    public var message: String?
    /// Other changes of the same control that wait.
    public var more: Int

    /// A change that waits.
    public init(text: String, by: Peer?, message: String?, more: Int = 0) {
        self.text = text
        self.by = by
        self.message = message
        self.more = more
    }
}

/// The states that a control of any type can be in.
public struct ControlState: Hashable, Sendable {
    /// Whether it can be edited, and why not.
    public enum Availability: Hashable, Sendable {
        case editable, readOnly, disabled
        /// Nobody but an admin of the form may set it.
        case locked
    }

    /// Whether its value is what it should be.
    public enum Validity: Hashable, Sendable {
        case valid
        /// It is required and empty.
        case missing
        /// With the reason.
        case invalid(String)
    }

    public var isFocused: Bool
    public var availability: Availability
    /// Why it is disabled, in a few words.
    public var reason: String?
    public var validity: Validity
    /// Its sources have different values.
    public var isMixed: Bool
    /// The draft of somebody else.
    public var ghost: PeerValue?
    /// A change by somebody else, which is displayed when editing ends.
    public var held: PeerValue?
    /// The user who has just changed it.
    public var flash: Peer?
    /// Who changed it a moment ago, and when as people read it: `bob, 4 s`.
    public var recent: String?
    /// When the value ends by itself, and what comes then: `1:59:12 then off`.
    public var lease: String?
    /// Whether that is within a minute.
    public var isEnding = false
    /// A change that waits for the approval of others.
    public var proposed: ProposedValue?
    /// Whose focus is here.
    public var peers: [Peer]
    /// Other notes at its right, such as a kept draft.
    public var notes: [StyledText] = []

    /// A state; the defaults mean that nothing is special.
    public init(
        isFocused: Bool = false, availability: Availability = .editable,
        validity: Validity = .valid, isMixed: Bool = false, ghost: PeerValue? = nil,
        held: PeerValue? = nil, flash: Peer? = nil, peers: [Peer] = []
    ) {
        self.isFocused = isFocused
        self.availability = availability
        self.validity = validity
        self.isMixed = isMixed
        self.ghost = ghost
        self.held = held
        self.flash = flash
        self.peers = peers
    }

    /// Whether keys and clicks change it.
    public var isEditable: Bool { availability == .editable }
    /// Whether it is drawn as disabled. A read-only control is not.
    public var isDimmed: Bool { availability == .disabled || availability == .locked }
}

/// The label of a control: a title, a subtitle and an image.
public struct ControlLabel: Hashable, Sendable {
    public var title: String
    public var subtitle: String?
    /// One grapheme cluster.
    public var symbol: String?
    public var isRequired: Bool

    /// A label.
    public init(
        _ title: String, subtitle: String? = nil, symbol: String? = nil, isRequired: Bool = false
    ) {
        self.title = title
        self.subtitle = subtitle
        self.symbol = symbol
        self.isRequired = isRequired
    }

    /// The label of a form's control.
    public init(_ control: Control) {
        self.init(
            control.title, subtitle: control.subtitle, symbol: control.symbol,
            isRequired: control.isRequired)
    }

    /// Symbol and title in one line.
    public func text(_ style: CellStyle, _ environment: StyleEnvironment) -> StyledText {
        var text = StyledText(environment.prefix(symbol) + title, style)
        if isRequired { text = text.appending(" *", environment.roles.warning) }
        return text
    }
}
