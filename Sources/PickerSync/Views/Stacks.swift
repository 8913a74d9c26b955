// Containers that SwiftUI programs lay out with. Layout is each terminal's: what they hold is shown
// one below the other.

internal import SyncCore

/// SwiftUI's horizontal positions, for programs that name them.
public enum HorizontalAlignment: Hashable, Sendable {
    /// At the side where a line begins.
    case leading
    /// In the middle.
    case center
    /// At the side where a line ends.
    case trailing
}

/// SwiftUI's vertical positions, for programs that name them.
public enum VerticalAlignment: Hashable, Sendable {
    /// Above.
    case top
    /// In the middle.
    case center
    /// Below.
    case bottom
    /// On one line of writing.
    case firstTextBaseline
}

/// Views one below the other, as the controls of a form always are.
public struct VStack<Content: View>: PrimitiveView {
    let content: Content

    /// Views that belong together. Each terminal chooses alignment and spacing.
    public init(
        alignment: HorizontalAlignment = .center, spacing: Double? = nil,
        @ViewBuilder content: () -> Content
    ) {
        self.content = content()
    }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        form.add(content, environment)
    }

    func label(into label: inout LabelParts) {
        label.add(content)
    }
}

/// Views side by side: of texts a line with the first one as its label, of controls the controls.
public struct HStack<Content: View>: PrimitiveView {
    let content: Content

    /// Views that belong together. Each terminal chooses alignment and spacing.
    public init(
        alignment: VerticalAlignment = .center, spacing: Double? = nil,
        @ViewBuilder content: () -> Content
    ) {
        self.content = content()
    }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        var parts = LabelParts(content)
        guard parts.strangers.isEmpty, !parts.texts.isEmpty else {
            return form.add(content, environment)
        }
        var shown = parts.texts.count > 1 ? Array(parts.texts.dropFirst()) : parts.texts
        parts.texts = parts.texts.count > 1 ? [parts.texts[0]] : []
        let first = shown.removeFirst()
        let text = shown.reduce(first) { $0 + " " + $1 }
        var control = ControlDraft(.label, parts)
        control.set("text", .string(text.template))
        form.add(control, environment)
    }

    func label(into label: inout LabelParts) {
        label.add(content)
    }
}

/// Space between views, which each terminal chooses.
public struct Spacer: PrimitiveView {
    /// Creates a space.
    public init(minLength: Double? = nil) {}

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {}
    func label(into label: inout LabelParts) {}
}

/// A line between views, which is each terminal's.
public struct Divider: PrimitiveView {
    /// A line.
    public init() {}

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {}
    func label(into label: inout LabelParts) {}
}

/// Controls under a title that are shown when somebody asks for them.
///
/// A form shows them as a section; inside a section they are controls of that section.
private func lowerTitled(
    _ title: LabelParts, isExpanded: Bool, _ content: some View, into form: inout FormLowering,
    _ environment: ViewEnvironment
) {
    if form.standsInSection { return form.add(content, environment) }
    var members: [(String, JSON)] = []
    if let words = title.template(&form) { members.append(("title", words)) }
    if !isExpanded { members.append(("collapsed", true)) }
    form.addSection(members) { $0.add(content, environment) }
}

/// SwiftUI's menu of controls: a section with its title.
public struct Menu<Content: View>: PrimitiveView {
    private let title: LabelParts
    private let content: Content

    /// A menu labelled by a string.
    public init(_ title: String, @ViewBuilder content: () -> Content) {
        self.title = LabelParts(title)
        self.content = content()
    }

    /// A menu with a label of views.
    public init(@ViewBuilder content: () -> Content, @ViewBuilder label: () -> some View) {
        title = LabelParts(label())
        self.content = content()
    }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        lowerTitled(title, isExpanded: true, content, into: &form, environment)
    }
}

/// Controls that are folded away until somebody asks for them: a collapsed section.
public struct DisclosureGroup<Content: View>: PrimitiveView {
    private let title: LabelParts
    private let isExpanded: Bool
    private let content: Content

    /// A group labelled by a string; whether it is open is each terminal's from then on.
    public init(
        _ title: String, isExpanded: Bool = false, @ViewBuilder content: () -> Content
    ) {
        self.title = LabelParts(title)
        self.isExpanded = isExpanded
        self.content = content()
    }

    /// A group with a label of views.
    public init(@ViewBuilder content: () -> Content, @ViewBuilder label: () -> some View) {
        title = LabelParts(label())
        isExpanded = false
        self.content = content()
    }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        lowerTitled(title, isExpanded: isExpanded, content, into: &form, environment)
    }
}
