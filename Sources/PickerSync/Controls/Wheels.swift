// Several wheels side by side for one struct, as the components of UIPickerView.

internal import SyncCore

/// Wheels side by side, one for each property of a ``WheelSelection``.
///
///     Wheels("Source", selection: $source) {
///         Wheel("Source", \.name) { ForEach(IncomeSource.self) { Text($0.title) } }
///         Wheel("Tax", \.tax) { ForEach(IncomeTax.self) { Text($0.title) } }
///             .rows([.fixed], when: \.name, is: IncomeSource.salary)
///     }
public struct Wheels<Value: WheelSelection>: PrimitiveView {
    private let parts: LabelParts
    private let selection: Binding<Value>
    private let wheels: WheelList<Value>

    /// Wheels labelled by a string.
    public init(
        _ title: String, selection: Binding<Value>,
        @WheelBuilder<Value> wheels: () -> WheelList<Value>
    ) {
        parts = LabelParts(title)
        self.selection = selection
        self.wheels = wheels()
    }

    /// Wheels with a label of views, the second text its subtitle.
    public init(
        selection: Binding<Value>, @WheelBuilder<Value> wheels: () -> WheelList<Value>,
        @ViewBuilder label: () -> some View
    ) {
        parts = LabelParts(label())
        self.selection = selection
        self.wheels = wheels()
    }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        var control = ControlDraft(.wheels, parts)
        control.binding = selection.field
        var components: [JSON] = []
        for wheel in wheels.parts {
            var members: [(String, JSON)] = [("id", .string(wheel.id))]
            if let title = wheel.title { members.append(("label", .string(title))) }
            if let width = wheel.width { members.append(("width", .integer(width))) }
            members.append(("options", wheel.options(&form)))
            components.append(.object(JSONObject(members)))
        }
        control.set("components", .array(components))
        let rules = wheels.parts.flatMap(\.rules)
        if !rules.isEmpty { control.set("optionsFor", .array(rules)) }
        form.add(control, environment)
    }
}

/// A wheel without the type of its tags.
struct WheelPart {
    let id: String
    let title: String?
    let width: Int?
    let options: (inout FormLowering) -> JSON
    var rules: [JSON] = []
}

/// One of several ``Wheels``.
public struct Wheel<Value: WheelSelection, Tag: PickerTag> {
    var part: WheelPart

    /// A wheel that turns a property, with a title and a width in columns where they are given.
    public init(
        _ title: String? = nil, _ property: WritableKeyPath<Value, Tag>, width: Int? = nil,
        @PickerContentBuilder<Tag> rows: () -> PickerOptions<Tag>
    ) {
        let rows = rows()
        part = WheelPart(
            id: Value.wheelID(of: property), title: title, width: width,
            options: { rows.json(&$0) })
    }

    /// The wheel with other rows while another wheel has a tag selected. The labels of the rows are
    /// those of this wheel.
    public func rows<Other: PickerTag>(
        _ rows: [Tag], when other: WritableKeyPath<Value, Other>, is tag: Other
    ) -> Self {
        var copy = self
        let condition = JSON.object(JSONObject([(Value.wheelID(of: other), tag.fieldValue)]))
        copy.part.rules.append([
            "component": .string(part.id), "when": condition,
            "options": .array(rows.map(\.fieldValue)),
        ])
        return copy
    }
}

/// Wheels from left to right.
public struct WheelList<Value: WheelSelection> {
    let parts: [WheelPart]
}

/// Builds wheels from left to right.
@resultBuilder
public enum WheelBuilder<Value: WheelSelection> {
    /// A wheel of the selection.
    public static func buildExpression<Tag>(_ wheel: Wheel<Value, Tag>) -> WheelList<Value> {
        WheelList(parts: [wheel.part])
    }

    /// Wheels from left to right.
    public static func buildBlock(_ wheels: WheelList<Value>...) -> WheelList<Value> {
        WheelList(parts: wheels.flatMap(\.parts))
    }
}
