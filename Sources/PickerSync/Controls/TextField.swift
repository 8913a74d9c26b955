// Fields that people type in.

internal import SyncCore

/// A control that shows an editable text.
public struct TextField: PrimitiveView {
    private let parts: LabelParts
    private let text: Binding<String>
    private let prompt: Text?
    private let isMultiline: Bool
    private var lengthMax: Int?
    private var expression: String?

    private init(_ parts: LabelParts, _ text: Binding<String>, _ prompt: Text?, _ axis: Axis) {
        self.parts = parts
        self.text = text
        self.prompt = prompt
        isMultiline = axis == .vertical
    }

    /// The direction in which a text grows.
    public enum Axis: Hashable, Sendable {
        /// One line.
        case horizontal
        /// Several lines.
        case vertical
    }

    /// A text field labelled by a string.
    ///
    /// - Parameters:
    ///   - title: the label beside it.
    ///   - text: the property.
    ///   - prompt: shown while it is empty.
    ///   - axis: `.vertical` for a text of several lines.
    public init(
        _ title: String, text: Binding<String>, prompt: Text? = nil, axis: Axis = .horizontal
    ) {
        self.init(LabelParts(title), text, prompt, axis)
    }

    /// A text field with a label of views, the second text its subtitle.
    public init(
        text: Binding<String>, prompt: Text? = nil, axis: Axis = .horizontal,
        @ViewBuilder label: () -> some View
    ) {
        self.init(LabelParts(label()), text, prompt, axis)
    }

    /// The field with the maximum length of the text, in grapheme clusters.
    public func maxLength(_ characters: Int) -> Self {
        var copy = self
        copy.lengthMax = characters
        return copy
    }

    /// The field with a text that matches a regular expression (PCRE2) as a whole.
    public func pattern(_ expression: String) -> Self {
        var copy = self
        copy.expression = expression
        return copy
    }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        var control = ControlDraft(.text, parts)
        control.binding = text.field
        control.set("prompt", prompt.map { .string($0.phrase.template) })
        control.set("maxLength", lengthMax.map { .integer($0) })
        control.set("pattern", expression.map { .string($0) })
        if isMultiline { control.set("multiline", true) }
        form.add(control, environment)
    }
}

/// A control for private text: everybody sees whether it is set, nobody sees the text.
public struct SecureField: PrimitiveView {
    private let parts: LabelParts
    private let text: Binding<Secret>
    private let prompt: Text?
    private var lengthMax: Int?

    private init(_ parts: LabelParts, _ text: Binding<Secret>, _ prompt: Text?) {
        self.parts = parts
        self.text = text
        self.prompt = prompt
    }

    /// A secure field labelled by a string.
    public init(_ title: String, text: Binding<Secret>, prompt: Text? = nil) {
        self.init(LabelParts(title), text, prompt)
    }

    /// A secure field with a label of views, the second text its subtitle.
    public init(
        text: Binding<Secret>, prompt: Text? = nil, @ViewBuilder label: () -> some View
    ) {
        self.init(LabelParts(label()), text, prompt)
    }

    /// The field with the maximum length of the text, in grapheme clusters.
    public func maxLength(_ characters: Int) -> Self {
        var copy = self
        copy.lengthMax = characters
        return copy
    }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        var control = ControlDraft(.secure, parts)
        control.binding = text.field
        control.set("prompt", prompt.map { .string($0.phrase.template) })
        control.set("maxLength", lengthMax.map { .integer($0) })
        form.add(control, environment)
    }
}

/// A text of several lines, without a label.
public struct TextEditor: PrimitiveView {
    private let text: Binding<String>

    /// A text of several lines.
    public init(text: Binding<String>) {
        self.text = text
    }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        form.add(TextField("", text: text, axis: .vertical), environment)
    }
}

extension SecureField {
    /// A string would show the secret to everybody.
    @available(
        *, unavailable,
        message: "a String would be shown to everybody: declare @Shared var password: Secret"
    )
    public init(_ title: String, text: Binding<String>, prompt: Text? = nil) {
        preconditionFailure("unavailable")
    }

    /// A string would show the secret to everybody.
    @available(
        *, unavailable,
        message: "a String would be shown to everybody: declare @Shared var password: Secret"
    )
    public init(
        text: Binding<String>, prompt: Text? = nil, @ViewBuilder label: () -> some View
    ) {
        preconditionFailure("unavailable")
    }
}
