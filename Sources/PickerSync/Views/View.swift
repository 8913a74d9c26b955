// Views: what a form is declared of. As in SwiftUI a view is a value, made by a body of other
// views; unlike there it is looked at once, when the form is opened, and becomes a definition that
// every terminal shows in its own way.

public import TerminalUI

/// A part of a form's declaration.
///
/// Make your own of others, with a ``Binding`` for what they share:
///
///     struct ToppingPicker: View {
///         @Binding var topping: Topping
///         var body: some View {
///             Picker("Topping", selection: $topping) {
///                 ForEach(Topping.self) { Text($0.rawValue) }
///             }
///         }
///     }
public protocol View: StyleBody {
    /// What the view is made of.
    associatedtype Body: View

    /// What the view is made of.
    @ViewBuilder var body: Body { get }
}

/// A view that is made of nothing else: the lowering knows what it means.
protocol PrimitiveView: View where Body == Never {
    /// Adds what the view means to the definition.
    func lower(into form: inout FormLowering, _ environment: ViewEnvironment)

    /// Adds the content of the view to the label of another one.
    func label(into label: inout LabelParts)
}

extension View where Body == Never {
    /// A view that is made of nothing else has no body.
    public var body: Never { preconditionFailure("\(Self.self) has no body") }
}

extension PrimitiveView {
    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        form.issue("\(Self.self) is where a control is expected", expected: "a control")
    }

    func label(into label: inout LabelParts) {
        label.strangers.append("\(Self.self)")
    }
}

extension Never: View {
    /// There is none.
    public typealias Body = Never
}

/// Nothing at all.
public struct EmptyView: PrimitiveView {
    /// Nothing.
    public init() {}

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {}
    func label(into label: inout LabelParts) {}
}

/// Several views, one after the other.
public struct ViewList: PrimitiveView {
    let views: [any View]

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        for view in views { form.add(view, environment) }
    }

    func label(into label: inout LabelParts) {
        for view in views { label.add(view) }
    }
}

/// One of two views.
public enum ConditionalView<First: View, Second: View>: PrimitiveView {
    /// The one that an `if` chose.
    case first(First)
    /// The one that its `else` chose.
    case second(Second)

    private var chosen: any View {
        switch self {
        case .first(let view): view
        case .second(let view): view
        }
    }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        form.add(chosen, environment)
    }

    func label(into label: inout LabelParts) {
        label.add(chosen)
    }
}

/// Views that modifiers reach together; it shows nothing itself.
public struct Group<Content: View>: PrimitiveView {
    let content: Content

    /// Views that belong together.
    public init(@ViewBuilder content: () -> Content) {
        self.content = content()
    }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        form.add(content, environment)
    }

    func label(into label: inout LabelParts) {
        label.add(content)
    }
}

/// SwiftUI's list of rows: the controls themselves, since a form is a list already.
public typealias List = Group

/// Builds the content of forms, sections and labels.
@resultBuilder
public enum ViewBuilder {
    /// A view.
    public static func buildExpression<V: View>(_ view: V) -> V { view }
    /// No view.
    public static func buildBlock() -> EmptyView { EmptyView() }
    /// One view.
    public static func buildBlock<V: View>(_ view: V) -> V { view }
    /// Several views.
    public static func buildBlock<each V: View>(_ view: repeat each V) -> ViewList {
        var views: [any View] = []
        for view in repeat each view { views.append(view) }
        return ViewList(views: views)
    }
    /// `if` without `else`.
    public static func buildOptional<V: View>(_ view: V?) -> ConditionalView<V, EmptyView> {
        view.map { .first($0) } ?? .second(EmptyView())
    }
    /// `if`.
    public static func buildEither<First: View, Second: View>(
        first view: First
    ) -> ConditionalView<First, Second> { .first(view) }
    /// `else`.
    public static func buildEither<First: View, Second: View>(
        second view: Second
    ) -> ConditionalView<First, Second> { .second(view) }
    /// `for`.
    public static func buildArray<V: View>(_ views: [V]) -> ViewList { ViewList(views: views) }
}
