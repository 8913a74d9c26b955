// Modifiers of SwiftUI that mean nothing in a terminal. They compile, so that a view can be shared,
// and the log of the client that opens the form names each of them once.

internal import SyncCore

/// A view with a modifier that a terminal does not show.
public struct UnshownModifier<Content: View>: PrimitiveView {
    let content: Content
    let name: String
    var modifyLabel: (inout LabelParts) -> Void = { _ in }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        form.note("\(name) means nothing in a terminal")
        form.add(content, environment)
    }

    func label(into label: inout LabelParts) {
        label.add(content)
        modifyLabel(&label)
    }
}

extension UnshownModifier: TaggedContent where Content: TaggedContent {
    /// The type of the tags.
    public typealias Tag = Content.Tag

    /// The options inside.
    public var options: [TaggedView<Content.Tag>] { content.options }
}

/// SwiftUI's fonts, of which a terminal shows the weight.
public struct Font: Hashable, Sendable {
    let isBold: Bool

    /// A large title; the other sizes likewise.
    public static let largeTitle = Font(isBold: true)
    /// A title.
    public static let title = Font(isBold: true)
    /// A second title.
    public static let title2 = Font(isBold: false)
    /// A third title.
    public static let title3 = Font(isBold: false)
    /// A headline.
    public static let headline = Font(isBold: true)
    /// Running text.
    public static let body = Font(isBold: false)
    /// A caption.
    public static let caption = Font(isBold: false)

    /// The font with strong letters.
    public func bold() -> Font { Font(isBold: true) }
}

/// SwiftUI's styles of labels, for programs that name them.
public enum LabelStyle: Hashable, Sendable {
    /// What suits the place.
    case automatic
    /// The picture alone.
    case iconOnly
    /// The title alone.
    case titleOnly
    /// Both.
    case titleAndIcon
}

/// SwiftUI's styles of text fields, for programs that name them.
public enum TextFieldStyle: Hashable, Sendable {
    /// What suits the place.
    case automatic
    /// Without a border.
    case plain
    /// With a round border.
    case roundedBorder
}

/// SwiftUI's rules of capital letters, for programs that name them.
public enum TextInputAutocapitalization: Hashable, Sendable {
    /// No letter.
    case never
    /// The first letter of each word.
    case words
    /// The first letter of each sentence.
    case sentences
    /// Each letter.
    case characters
}

/// SwiftUI's sides of a view, for programs that name them.
public enum Edge: Hashable, Sendable {
    /// The sides together.
    public enum Set: Hashable, Sendable {
        case all, horizontal, vertical, top, bottom, leading, trailing
    }
}

extension View {
    private func unshown(
        _ name: String = #function, _ modifyLabel: @escaping (inout LabelParts) -> Void = { _ in }
    ) -> UnshownModifier<Self> {
        let name = name.prefix { $0 != "(" }
        return UnshownModifier(content: self, name: String(name), modifyLabel: modifyLabel)
    }

    /// A font; strong letters show in a style of a program's own, everything else nowhere.
    public func font(_ font: Font?) -> UnshownModifier<Self> {
        unshown { $0.isBold = font?.isBold ?? $0.isBold }
    }

    /// Strong letters, which show in a style of a program's own.
    public func bold(_ isActive: Bool = true) -> UnshownModifier<Self> {
        unshown { $0.isBold = isActive }
    }

    /// A colour of letters: an option's tint, and what a style of a program's own shows.
    public func foregroundColor(_ color: Color?) -> UnshownModifier<Self> {
        unshown { $0.color = color ?? $0.color }
    }

    /// A colour of letters: an option's tint, and what a style of a program's own shows.
    public func foregroundStyle(_ color: Color) -> UnshownModifier<Self> {
        unshown { $0.color = color }
    }

    /// Space around a view.
    public func padding(_ length: Double? = nil) -> UnshownModifier<Self> { unshown() }

    /// Space at some sides of a view.
    public func padding(_ edges: Edge.Set, _ length: Double? = nil) -> UnshownModifier<Self> {
        unshown()
    }

    /// A ground behind a view.
    public func background(_ color: Color) -> UnshownModifier<Self> { unshown() }

    /// The size of a view.
    public func frame(
        width: Double? = nil, height: Double? = nil, alignment: HorizontalAlignment = .center
    ) -> UnshownModifier<Self> { unshown() }

    /// How labels are shown.
    public func labelStyle(_ style: LabelStyle) -> UnshownModifier<Self> { unshown() }

    /// Labels that are not shown; in a terminal a control needs its own.
    public func labelsHidden() -> UnshownModifier<Self> { unshown() }

    /// How text fields are shown.
    public func textFieldStyle(_ style: TextFieldStyle) -> UnshownModifier<Self> { unshown() }

    /// Whether text is corrected while it is typed. No terminal does that.
    public func autocorrectionDisabled(_ isDisabled: Bool = true) -> UnshownModifier<Self> {
        unshown()
    }

    /// Which letters become capitals as they are typed, which no terminal does.
    public func textInputAutocapitalization(
        _ rule: TextInputAutocapitalization?
    ) -> UnshownModifier<Self> { unshown() }

    /// A title of a page; a form has its own.
    public func navigationTitle(_ title: String) -> UnshownModifier<Self> { unshown() }

    /// Controls in a menu of the view: here they are below it.
    public func contextMenu(@ViewBuilder menuItems: () -> some View) -> some View {
        ViewList(views: [self, menuItems()])
    }

    /// Runs an action when somebody has entered a text in a field inside, in any terminal.
    public func onSubmit(_ action: @escaping @Sendable () -> Void) -> ModifiedView<Self> {
        ModifiedView(content: self, modify: { $0.submit = action })
    }
}

/// SwiftUI's page that others are pushed on: what it holds.
public typealias NavigationStack = Group
