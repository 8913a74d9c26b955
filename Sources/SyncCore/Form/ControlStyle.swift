// The types of controls and their styles.

/// The type of a control: `type` in FORM.md.
public enum ControlType: String, Hashable, Sendable, CaseIterable {
    case picker, wheels, toggle, slider, stepper, date, text, secure, gauge, button, label

    /// The type with its article, for sentences: `a picker`.
    public var withArticle: String {
        switch self {
        case .secure: "a secure field"
        case .wheels: "a set of wheels"
        default: "a " + rawValue
        }
    }
}

/// How a control looks: the built-in styles of all types in one list.
public enum ControlStyle: String, Hashable, Sendable, CaseIterable {
    case automatic
    // Pickers: the eight styles of SwiftUI, including `automatic`.
    case inline, menu, navigationLink, palette, radioGroup, segmented, wheel
    // Toggles; `button` is a toggle that looks like a button.
    case `switch`, button, checkbox
    // Dates; they also have `wheel`.
    case compact, graphical
    // Gauges; `circular`.
    case linear, circular
    // Buttons.
    case bordered, borderedProminent, borderless, plain

    /// The styles for controls of `type`, `automatic` first.
    public static func styles(for type: ControlType) -> [ControlStyle] {
        switch type {
        case .picker:
            [
                .automatic, .inline, .menu, .navigationLink, .palette, .radioGroup, .segmented,
                .wheel,
            ]
        case .toggle: [.automatic, .switch, .button, .checkbox]
        case .date: [.automatic, .compact, .graphical, .wheel]
        case .gauge: [.automatic, .linear, .circular]
        case .button: [.automatic, .bordered, .borderedProminent, .borderless, .plain]
        case .wheels, .slider, .stepper, .text, .secure, .label: [.automatic]
        }
    }
}

/// Where the labels of a form are, if they are beside their controls.
public enum LabelAlignment: String, Hashable, Sendable, CaseIterable {
    /// They begin in one column.
    case leading
    /// They end in one column, next to the values.
    case trailing
}

/// Styles of a form or a section, which apply to every control of the type in it.
public struct ContainerStyles: Hashable, Sendable {
    private var entries: [(type: ControlType, style: ControlStyle)] = []

    /// No style set.
    public init() {}

    /// The style set for `type`.
    public internal(set) subscript(type: ControlType) -> ControlStyle? {
        get { entries.first { $0.type == type }?.style }
        set {
            entries.removeAll { $0.type == type }
            if let newValue { entries.append((type, newValue)) }
        }
    }

    public static func == (left: ContainerStyles, right: ContainerStyles) -> Bool {
        ControlType.allCases.allSatisfy { left[$0] == right[$0] }
    }

    public func hash(into hasher: inout Hasher) {
        for type in ControlType.allCases { hasher.combine(self[type]) }
    }
}

/// A color by name, or as red, green and blue.
public enum Tint: Hashable, Sendable {
    case named(Name)
    case rgb(red: UInt8, green: UInt8, blue: UInt8)

    /// SwiftUI's standard colors.
    public enum Name: String, Hashable, Sendable, CaseIterable {
        case red, orange, yellow, green, mint, teal, cyan, blue, indigo, purple, pink, brown
        case white, gray, black, primary, secondary, accentColor
    }

    /// Parses a color: a name, or `#rrggbb`.
    public init?(_ text: String) {
        if let name = Name(rawValue: text) {
            self = .named(name)
            return
        }
        let bytes = Array(text.utf8)
        guard bytes.count == 7, bytes[0] == UInt8(ascii: "#") else { return nil }
        var digits: [UInt8] = []
        for byte in bytes.dropFirst() {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digits.append(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digits.append(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digits.append(byte - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        self = .rgb(
            red: digits[0] << 4 | digits[1], green: digits[2] << 4 | digits[3],
            blue: digits[4] << 4 | digits[5])
    }
}
