// What modifiers set on a view reaches every control inside, as in SwiftUI; the innermost wins.

internal import SyncCore
internal import TerminalUI

/// Everything that modifiers around a control have set.
struct ViewEnvironment {
    /// Styles by the control's type.
    var styles: [String: String] = [:]
    /// The same for a program that shows the form itself, with its own styles.
    var styleChanges: [@Sendable (inout StyleEnvironment) -> Void] = []
    var selectionEffect: JSON?
    var isHorizontal: Bool?
    var wheelItemHeight: Int?
    var isDisabled = false
    /// Conditions that must all hold for a control to be enabled, or seen.
    var enabledWhen: [FieldCondition] = []
    var visibleWhen: [FieldCondition] = []
    /// The id that `.id` gives, for one control.
    var id: String?
    /// What is done when a text was entered.
    var submit: (@Sendable () -> Void)?
    /// Attributes that all controls have, by name, as a form file writes them.
    var attributes: [(name: String, value: JSON)] = []

    mutating func set(_ name: String, _ value: JSON) {
        attributes.removeAll { $0.name == name }
        attributes.append((name, value))
    }
}

/// A view in a changed environment.
public struct ModifiedView<Content: View>: PrimitiveView {
    let content: Content
    let modify: (inout ViewEnvironment) -> Void
    /// What the modifier means where the view is a label.
    var modifyLabel: (inout LabelParts) -> Void = { _ in }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        var environment = environment
        modify(&environment)
        form.add(content, environment)
    }

    func label(into label: inout LabelParts) {
        label.add(content)
        modifyLabel(&label)
    }
}

/// The content of a label: its texts (the second is the subtitle) and its symbol.
struct LabelParts {
    var texts: [Phrase] = []
    var symbol: Symbol?
    var color: Color?
    var isBold = false
    var isDisabled = false
    /// Views without a text in a label.
    var strangers: [String] = []

    init() {}

    init(_ title: String, _ symbol: Symbol? = nil) {
        texts = [Phrase(verbatim: title)]
        self.symbol = symbol
    }

    init(_ view: some View) {
        add(view)
    }

    mutating func add(_ view: some View) {
        if let primitive = view as? any PrimitiveView {
            primitive.label(into: &self)
        } else {
            add(view.body)
        }
    }

    /// Title, subtitle and picture as a form file has them.
    func members(_ form: inout FormLowering) -> [(String, JSON)] {
        var members: [(String, JSON)] = []
        for stranger in strangers {
            form.issue("\(stranger) is inside a label", expected: "texts, labels and images")
        }
        if texts.count > 2 {
            form.issue("a label has \(texts.count) texts", expected: "a title and a subtitle")
        }
        for (name, phrase) in zip(["label", "subtitle"], texts) {
            if let words = phrase.words {
                members.append((name, .string(words)))
            } else {
                form.issue("the \(name) names a value", expected: "words alone")
            }
        }
        if let symbol {
            if let issue = symbol.issue { form.issue(issue.message, expected: issue.expected) }
            members.append(("symbol", .string(symbol.glyph)))
            if let name = symbol.name { members.append(("symbolName", .string(name))) }
        }
        return members
    }

    /// Takes the first text that names values out of the label: it is shown where the value is. Of
    /// `Color: ${color}` the label keeps the words before the value.
    mutating func takeValues() -> Phrase? {
        guard let index = texts.firstIndex(where: { $0.words == nil }) else { return nil }
        var shown = texts.remove(at: index)
        guard index == 0, case .words(let words)? = shown.pieces.first else { return shown }
        let title = words.split(whereSeparator: { $0 == " " || $0 == ":" }).joined(separator: " ")
        if !title.isEmpty {
            shown.pieces.removeFirst()
            texts.insert(Phrase(verbatim: title), at: 0)
        }
        return shown
    }

    /// The one text of a value label as a template; `nil`, with an issue, where it is not one.
    func template(_ form: inout FormLowering) -> JSON? {
        if texts.isEmpty, strangers.isEmpty { return nil }
        if texts.count != 1 || !strangers.isEmpty {
            form.issue("the label of a value is not a text", expected: "one text")
        }
        return texts.first.map { .string($0.template) }
    }
}

/// What the containers around a view have set, as its body may read it.
public struct EnvironmentValues: Sendable {
    @TaskLocal static var current = EnvironmentValues(ViewEnvironment())

    /// The height of a row of wheels, in lines of the terminal.
    public let defaultWheelPickerItemHeight: Int

    init(_ environment: ViewEnvironment) {
        defaultWheelPickerItemHeight = environment.wheelItemHeight ?? 1
    }
}

/// A value that a container around the view has set:
/// `@Environment(\.defaultWheelPickerItemHeight)`.
@propertyWrapper
public struct Environment<Value> {
    private let path: KeyPath<EnvironmentValues, Value>

    /// A value by its name.
    public init(_ path: KeyPath<EnvironmentValues, Value>) {
        self.path = path
    }

    /// The value around the view whose body is asked for.
    public var wrappedValue: Value { EnvironmentValues.current[keyPath: path] }
}
