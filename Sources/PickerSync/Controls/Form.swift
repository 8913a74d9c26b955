// The containers: a form, and its sections.

internal import SyncCore
public import TerminalUI

/// A container of controls that people fill in together.
///
/// Controls outside of a ``Section`` are shown as a section without a title.
public struct Form<Content: View>: PrimitiveView {
    private let title: String?
    private let subtitle: String?
    private let help: String?
    private let content: Content
    private var access: [(String, JSON)] = []
    private var needsMessage = false
    private var alignment = FormLabelAlignment.leading

    /// A form.
    ///
    /// - Parameters:
    ///   - title: shown above it; by default its name.
    ///   - subtitle: a line below the title.
    ///   - help: the help text.
    ///   - content: the sections and controls.
    public init(
        _ title: String? = nil, subtitle: String? = nil, help: String? = nil,
        @ViewBuilder content: () -> Content
    ) {
        self.title = title
        self.subtitle = subtitle
        self.help = help
        self.content = content()
    }

    /// The principals with a permission for the form: `anyone`, `owner`, `user:mary`, `group:ops`.
    ///
    /// By default everybody who can connect may read, write and press. Only the owner of the form
    /// may reveal secrets, take presses of buttons that answer, and change the definition.
    public func access(_ action: FormAccessAction, _ principals: String...) -> Self {
        var copy = self
        copy.access.removeAll { $0.0 == action.rawValue }
        copy.access.append((action.rawValue, .array(principals.map { .string($0) })))
        return copy
    }

    /// Refuses changes and presses of all controls without a message that says why.
    public func requiresMessage() -> Self {
        var copy = self
        copy.needsMessage = true
        return copy
    }

    /// Sets where labels are that are beside their controls: by default they begin in one column.
    public func labelAlignment(_ alignment: FormLabelAlignment) -> Self {
        var copy = self
        copy.alignment = alignment
        return copy
    }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        var members: [(String, JSON)] = []
        for (name, text) in [("title", title), ("subtitle", subtitle), ("help", help)] {
            if let text { members.append((name, .string(text))) }
        }
        if alignment != .leading {
            members.append(("labelAlignment", .string(alignment.rawValue)))
        }
        if needsMessage { members.append(("message", "required")) }
        if !access.isEmpty { members.append(("access", .object(JSONObject(access)))) }
        form.addForm(members) { $0.add(content, environment) }
    }
}

/// Where the labels of a form are.
public enum FormLabelAlignment: String, Hashable, Sendable {
    /// They begin in one column.
    case leading
    /// They end in one column, next to the values.
    case trailing
}

/// A permission.
public enum FormAccessAction: String, Hashable, Sendable {
    /// Seeing the form.
    case read
    /// Setting values.
    case write
    /// Pressing buttons.
    case press
    /// Reading secrets.
    case reveal
    /// Taking presses of buttons that answer.
    case handle
    /// Changing the definition, deleting the form.
    case admin
}

/// Controls under a title, or options of a picker under one.
public struct Section<Content> {
    let header: LabelParts?
    let footer: LabelParts?
    let isExpanded: Bool
    let content: Content
}

extension Section: StyleBody where Content: View {}

extension Section: View where Content: View {
    /// Primitive.
    public typealias Body = Never
}

extension Section: PrimitiveView where Content: View {
    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        var members: [(String, JSON)] = []
        if let title = header?.template(&form) { members.append(("title", title)) }
        if let text = footer?.template(&form) { members.append(("footer", text)) }
        if !isExpanded { members.append(("collapsed", true)) }
        form.addSection(members) { $0.add(content, environment) }
    }
}

extension Section where Content: View {
    /// A section with a title.
    ///
    /// - Parameters:
    ///   - title: the title above it.
    ///   - isExpanded: whether its controls are visible at first.
    ///   - content: the controls.
    public init(
        _ title: String, isExpanded: Bool = true, @ViewBuilder content: () -> Content
    ) {
        header = LabelParts(title)
        footer = nil
        self.isExpanded = isExpanded
        self.content = content()
    }

    /// A section without a title.
    public init(@ViewBuilder content: () -> Content) {
        header = nil
        footer = nil
        isExpanded = true
        self.content = content()
    }

    /// A section with a view above, one text, and one below.
    public init(
        @ViewBuilder content: () -> Content, @ViewBuilder header: () -> some View,
        @ViewBuilder footer: () -> some View
    ) {
        self.header = LabelParts(header())
        self.footer = LabelParts(footer())
        isExpanded = true
        self.content = content()
    }

    /// A section with a view above, one text.
    ///
    /// - Parameters:
    ///   - isExpanded: whether its controls are visible at first.
    ///   - content: the controls.
    ///   - header: the title above it.
    public init(
        isExpanded: Bool = true, @ViewBuilder content: () -> Content,
        @ViewBuilder header: () -> some View
    ) {
        self.header = LabelParts(header())
        footer = nil
        self.isExpanded = isExpanded
        self.content = content()
    }

    /// A section with a view below, one text.
    public init(@ViewBuilder content: () -> Content, @ViewBuilder footer: () -> some View) {
        header = nil
        self.footer = LabelParts(footer())
        isExpanded = true
        self.content = content()
    }
}

extension Section where Content: View {
    /// A section with views above and below, as SwiftUI's older initializers name them.
    public init(
        header: some View, footer: some View = EmptyView(), @ViewBuilder content: () -> Content
    ) {
        self.init(content: content, header: { header }, footer: { footer })
    }
}

extension Section {
    /// Options of a picker under a title.
    public init<Tag>(
        _ title: String, @PickerContentBuilder<Tag> content: () -> PickerOptions<Tag>
    ) where Content == PickerOptions<Tag> {
        header = LabelParts(title)
        footer = nil
        isExpanded = true
        self.content = content()
    }

    /// Options of a picker under a view, one text.
    public init<Tag>(
        @PickerContentBuilder<Tag> content: () -> PickerOptions<Tag>,
        @ViewBuilder header: () -> some View
    ) where Content == PickerOptions<Tag> {
        self.header = LabelParts(header())
        footer = nil
        isExpanded = true
        self.content = content()
    }
}
