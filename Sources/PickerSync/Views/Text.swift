// Texts and labels: what people read beside a control, and templates of what controls show.

internal import SyncCore

/// A text: a title, the second one of a label its subtitle; or, with values of the form in it, a
/// line that every terminal fills in.
///
///     Text("Choose your favorite flavor")
///     Text("\($flavor) with \($topping)")
public struct Text: PrimitiveView, Sendable {
    let phrase: Phrase

    /// A text that may name bindings.
    public init(_ phrase: Phrase) {
        self.phrase = phrase
    }

    /// A text without interpolation, from any string.
    @_disfavoredOverload
    public init<S: StringProtocol>(_ content: S) {
        phrase = Phrase(verbatim: String(content))
    }

    /// A text without interpolation.
    public init(verbatim content: String) {
        phrase = Phrase(verbatim: content)
    }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        var control = ControlDraft(.label)
        control.members.append(("text", .string(phrase.template)))
        form.add(control, environment)
    }

    func label(into label: inout LabelParts) {
        label.texts.append(phrase)
    }
}

/// Words, with bindings between them.
public struct Phrase: Sendable, ExpressibleByStringInterpolation {
    enum Piece: Sendable {
        case words(String)
        case value(any FieldIdentity, component: String?)
    }

    var pieces: [Piece] = []

    init(verbatim text: String) {
        pieces = [.words(text)]
    }

    /// Words.
    public init(stringLiteral value: String) {
        self.init(verbatim: value)
    }

    /// Words and bindings.
    public init(stringInterpolation: StringInterpolation) {
        pieces = stringInterpolation.pieces
    }

    /// What an interpolated text is gathered in.
    public struct StringInterpolation: StringInterpolationProtocol {
        var pieces: [Piece] = []

        /// Reserves capacity for text and bindings.
        public init(literalCapacity: Int, interpolationCount: Int) {
            pieces.reserveCapacity(2 * interpolationCount + 1)
        }

        /// Words.
        public mutating func appendLiteral(_ literal: String) {
            pieces.append(.words(literal))
        }

        /// The value of a property, as each terminal shows it: an option by its label.
        public mutating func appendInterpolation<Value>(_ binding: Binding<Value>) {
            pieces.append(.value(binding.field, component: nil))
        }

        /// What one of several wheels shows.
        public mutating func appendInterpolation(_ wheel: WheelReference) {
            pieces.append(.value(wheel.field, component: wheel.component))
        }

        /// Anything else, as it describes itself now.
        public mutating func appendInterpolation<Value>(_ value: Value) {
            pieces.append(.words(String(describing: value)))
        }
    }

    /// One phrase behind the other.
    public static func + (left: Phrase, right: Phrase) -> Phrase {
        var both = left
        both.pieces += right.pieces
        return both
    }

    /// The text; `nil` if it contains a binding.
    var words: String? {
        var text = ""
        for piece in pieces {
            guard case .words(let words) = piece else { return nil }
            text += words
        }
        return text
    }

    /// The template of a form file: `${flavor} with ${topping}`.
    var template: String {
        var text = ""
        for piece in pieces {
            switch piece {
            case .words(let words):
                // `$${` is a plain `${` (docs: form file, templates).
                text += words.split(separator: "${", omittingEmptySubsequences: false)
                    .joined(separator: "$${")
            case .value(let field, let component):
                text += "${" + (field.id ?? "?") + (component.map { "." + $0 } ?? "") + "}"
            }
        }
        return text
    }
}

/// What a string with a binding in it would be, if it compiled.
public enum NotAString {}

/// A string is made once and does not follow the value, so a binding in one must not compile: write
/// `Text("\($x)")`, or read `x`. Swift prefers its own interpolation of any value to an unavailable
/// one, but two that differ in nothing but their result are ambiguous.
extension DefaultStringInterpolation {
    /// Does not compile: a string does not follow the value.
    public mutating func appendInterpolation<Value>(_ binding: Binding<Value>) {}
    /// Makes it ambiguous.
    public mutating func appendInterpolation<Value>(_ binding: Binding<Value>) -> NotAString? {
        nil
    }
    /// Does not compile: a string does not follow the wheel.
    public mutating func appendInterpolation(_ wheel: WheelReference) {}
    /// Makes it ambiguous.
    public mutating func appendInterpolation(_ wheel: WheelReference) -> NotAString? { nil }
}

/// A text with a picture before it.
public struct Label: PrimitiveView, Sendable {
    let title: Phrase
    let symbol: Symbol

    /// A label with the character that is most similar to a symbol of SwiftUI.
    public init(_ title: Phrase, systemImage: String) {
        self.title = title
        symbol = Symbol(systemName: systemImage)
    }

    /// A label of a string that was made elsewhere, with the character that is most similar to a
    /// symbol of SwiftUI.
    @_disfavoredOverload
    public init<S: StringProtocol>(_ title: S, systemImage: String) {
        self.init(Phrase(verbatim: String(title)), systemImage: systemImage)
    }

    /// A label with a character as its picture.
    public init(_ title: Phrase, image: Symbol) {
        self.title = title
        symbol = image
    }

    /// A label from any string, with a character as its picture.
    @_disfavoredOverload
    public init<S: StringProtocol>(_ title: S, image: Symbol) {
        self.init(Phrase(verbatim: String(title)), image: image)
    }

    func label(into label: inout LabelParts) {
        label.texts.append(title)
        label.symbol = symbol
    }
}

/// A picture alone.
public struct Image: PrimitiveView, Sendable {
    let symbol: Symbol

    /// The character nearest to a picture of SwiftUI's.
    public init(systemName: String) {
        symbol = Symbol(systemName: systemName)
    }

    /// A character of one's own.
    public init(_ symbol: Symbol) {
        self.symbol = symbol
    }

    func label(into label: inout LabelParts) {
        label.symbol = symbol
    }
}

/// A standard colour, or one by its parts.
public struct Color: Hashable, Sendable, CustomStringConvertible {
    let text: String

    /// Its name, or its parts as `#rrggbb`.
    public var description: String { text }

    private init(_ text: String) {
        self.text = text
    }

    /// A colour by red, green and blue, each 0…255.
    public init(red: UInt8, green: UInt8, blue: UInt8) {
        let digits = [red, green, blue].map { part in
            (part < 16 ? "0" : "") + String(part, radix: 16)
        }
        text = "#" + digits.joined()
    }

    /// SwiftUI's red; the others likewise.
    public static let red = Color("red")
    /// Orange.
    public static let orange = Color("orange")
    /// Yellow.
    public static let yellow = Color("yellow")
    /// Green.
    public static let green = Color("green")
    /// Mint.
    public static let mint = Color("mint")
    /// Teal.
    public static let teal = Color("teal")
    /// Cyan.
    public static let cyan = Color("cyan")
    /// Blue.
    public static let blue = Color("blue")
    /// Indigo.
    public static let indigo = Color("indigo")
    /// Purple.
    public static let purple = Color("purple")
    /// Pink.
    public static let pink = Color("pink")
    /// Brown.
    public static let brown = Color("brown")
    /// White.
    public static let white = Color("white")
    /// Gray.
    public static let gray = Color("gray")
    /// Black.
    public static let black = Color("black")
    /// What the theme writes text in.
    public static let primary = Color("primary")
    /// What the theme writes lesser text in.
    public static let secondary = Color("secondary")
    /// What the theme marks with.
    public static let accentColor = Color("accentColor")
}
