// Views for the elements of a collection; in a picker, options whose tags are the elements' ids.

/// A view for each element of a collection.
///
/// In a picker, the id of each element is the tag of its option, if it has the type of the
/// selection. With any other id, set the tag: `ForEach(flavors) { Text($0.name).tag($0.topping) }`.
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View> {
    let data: Data
    let id: (Data.Element) -> ID
    let content: (Data.Element) -> Content

    /// The content of each element, with its id.
    var elements: [(id: ID, content: Content)] { data.map { (id($0), content($0)) } }
}

extension ForEach: View, PrimitiveView {
    /// Primitive.
    public typealias Body = Never

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        for element in elements { form.add(element.content, environment) }
    }

    func label(into label: inout LabelParts) {
        for element in elements { label.add(element.content) }
    }
}

extension ForEach where Data.Element: Identifiable, ID == Data.Element.ID {
    /// A view for each element, identified by its id.
    public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {
        self.data = data
        id = { $0.id }
        self.content = content
    }
}

extension ForEach {
    /// A view for each element, identified by a property.
    public init(
        _ data: Data, id: KeyPath<Data.Element, ID>,
        @ViewBuilder content: @escaping (Data.Element) -> Content
    ) {
        self.data = data
        self.id = { $0[keyPath: id] }
        self.content = content
    }
}

extension ForEach where Data == Range<Int>, ID == Int {
    /// A view for each number.
    public init(_ data: Range<Int>, @ViewBuilder content: @escaping (Int) -> Content) {
        self.data = data
        id = { $0 }
        self.content = content
    }
}

extension ForEach
where Data.Element: CaseIterable & Hashable, ID == Data.Element, Data.Element.AllCases == Data {
    /// A view for each case of an enum, identified by the case itself.
    public init(
        _ cases: Data.Element.Type, @ViewBuilder content: @escaping (Data.Element) -> Content
    ) {
        data = cases.allCases
        id = { $0 }
        self.content = content
    }
}
