// The picker view of UIKit's kind: components and rows come from a data source, selections go to a
// delegate, and reload asks again.

internal import SyncCore
internal import Synchronization

/// The numbers of components and rows of a ``PickerView``, as `UIPickerViewDataSource`.
public protocol PickerViewDataSource: AnyObject, Sendable {
    /// The number of components.
    func numberOfComponents(in pickerView: PickerView) -> Int

    /// The number of rows of a component, at least one.
    func pickerView(_ pickerView: PickerView, numberOfRowsInComponent component: Int) -> Int
}

/// The content of the rows of a ``PickerView``, and its selections, as `UIPickerViewDelegate`.
public protocol PickerViewDelegate: AnyObject, Sendable {
    /// What a row shows; `nil` for nothing, where ``pickerView(_:tagForRow:forComponent:)`` names
    /// it.
    func pickerView(
        _ pickerView: PickerView, titleForRow row: Int, forComponent component: Int
    ) -> String?

    /// The tag of a row; by default its title, or its number without one.
    func pickerView(
        _ pickerView: PickerView, tagForRow row: Int, forComponent component: Int
    ) -> String

    /// The id of a component; by default `component0` and so on.
    func pickerView(_ pickerView: PickerView, idForComponent component: Int) -> String

    /// The width of a component in columns; `nil` for the width of its rows.
    func pickerView(_ pickerView: PickerView, widthForComponent component: Int) -> Int?

    /// The height of a component's rows. Each row is one line of a terminal: another height changes
    /// nothing, and the log of the client that opens the form says so.
    func pickerView(_ pickerView: PickerView, rowHeightForComponent component: Int) -> Double

    /// Somebody selected a row, in any terminal.
    func pickerView(_ pickerView: PickerView, didSelectRow row: Int, inComponent component: Int)
}

extension PickerViewDelegate {
    /// The row's title, or its number where it has none.
    public func pickerView(
        _ pickerView: PickerView, tagForRow row: Int, forComponent component: Int
    ) -> String {
        self.pickerView(pickerView, titleForRow: row, forComponent: component) ?? String(row)
    }

    /// `component0`, `component1` and so on.
    public func pickerView(_ pickerView: PickerView, idForComponent component: Int) -> String {
        "component\(component)"
    }

    /// What the rows take.
    public func pickerView(_ pickerView: PickerView, widthForComponent component: Int) -> Int? {
        nil
    }

    /// One line.
    public func pickerView(
        _ pickerView: PickerView, rowHeightForComponent component: Int
    ) -> Double { 1 }

    /// Nothing is done.
    public func pickerView(
        _ pickerView: PickerView, didSelectRow row: Int, inComponent component: Int
    ) {}
}

/// Wheels whose rows come from a data source: for developers who know UIPickerView, and for rows
/// that are known only at run time.
///
/// The data source is asked when the form is opened and at each reload. Until the next reload
/// everybody picks from those rows.
public final class PickerView: PrimitiveView, Sendable {
    private struct State {
        weak var dataSource: (any PickerViewDataSource)?
        weak var delegate: (any PickerViewDelegate)?
        /// Id and tags of each component as they were last asked for.
        var components: [(id: String, tags: [String])] = []
        var attachment: FormAttachment?
    }

    /// The control's id in the form.
    public let id: String
    /// A number by which a data source of several picker views distinguishes them, as in UIKit.
    public let tag: Int
    private let title: String
    private let state: Mutex<State>

    /// A picker view; like UIPickerView it does not keep its data source and delegate alive.
    ///
    /// - Parameters:
    ///   - title: the label beside it.
    ///   - id: the id of the control.
    ///   - tag: a number by which a data source of several picker views distinguishes them.
    ///   - dataSource: returns the numbers of components and rows.
    ///   - delegate: returns the rows and receives selections.
    public init(
        _ title: String, id: String, tag: Int = 0, dataSource: any PickerViewDataSource,
        delegate: any PickerViewDelegate
    ) {
        self.title = title
        self.id = id
        self.tag = tag
        state = Mutex(State(dataSource: dataSource, delegate: delegate))
    }

    /// How many components it has.
    public var numberOfComponents: Int { state.withLock { $0.components.count } }

    /// How many rows a component has.
    public func numberOfRows(inComponent component: Int) -> Int {
        state.withLock { $0.components[component].tags.count }
    }

    /// The row that is selected in a component; -1 where none of them is, as in UIKit.
    public func selectedRow(inComponent component: Int) -> Int {
        let (components, attachment) = state.withLock { ($0.components, $0.attachment) }
        let value = attachment?.draft(of: id) ?? attachment?.read(id)?.value
        guard let tag = value?[components[component].id]?.stringValue else { return -1 }
        return components[component].tags.firstIndex(of: tag) ?? -1
    }

    /// Selects a row for everybody. As in UIKit, the delegate is not called for it.
    public func selectRow(_ row: Int, inComponent component: Int) {
        let (components, attachment) = state.withLock { ($0.components, $0.attachment) }
        let part = components[component]
        attachment?.write(id, .value(.object(JSONObject([(part.id, .string(part.tags[row]))]))))
    }

    /// Asks the data source for everything again and gives it to all clients.
    ///
    /// - Throws: ``FormError`` if the new definition is invalid or refused.
    public func reloadAllComponents() async throws(FormError) {
        let attachment = state.withLock { $0.attachment }
        guard let attachment else { throw .notOpen }
        try await attachment.redeclare()
    }

    /// Asks the data source for a component's rows again and gives them to all clients. A selection
    /// that is not a row any more is kept and shown as such.
    public func reloadComponent(_ component: Int) async throws(FormError) {
        try await reloadAllComponents()
    }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        // A data source is asked again at each reload: what it reads, it may read.
        BodyReads.$current.withValue(nil) { lowerRows(into: &form, environment) }
    }

    private func lowerRows(into form: inout FormLowering, _ environment: ViewEnvironment) {
        let (source, delegate) = state.withLock { ($0.dataSource, $0.delegate) }
        guard let source, let delegate else {
            form.issue(
                "\(id) has lost its data source or delegate", expected: "a strong reference to both"
            )
            return
        }
        var control = ControlDraft(.wheels, LabelParts(title))
        control.id = id
        var known: [(id: String, tags: [String])] = []
        var components: [JSON] = []
        for component in 0..<source.numberOfComponents(in: self) {
            var tags: [String] = []
            var rows: [JSON] = []
            for row in 0..<source.pickerView(self, numberOfRowsInComponent: component) {
                let tag = delegate.pickerView(self, tagForRow: row, forComponent: component)
                let title = delegate.pickerView(self, titleForRow: row, forComponent: component)
                tags.append(tag)
                rows.append(["tag": .string(tag), "label": .string(title ?? "")])
            }
            let id = delegate.pickerView(self, idForComponent: component)
            var members: [(String, JSON)] = [("id", .string(id))]
            if delegate.pickerView(self, rowHeightForComponent: component) != 1 {
                form.note("rowHeightForComponent means nothing in a terminal")
            }
            if let width = delegate.pickerView(self, widthForComponent: component) {
                members.append(("width", .integer(width)))
            }
            members.append(("options", .array(rows)))
            components.append(.object(JSONObject(members)))
            known.append((id, tags))
        }
        state.withLock { $0.components = known }
        control.set("components", .array(components))
        control.listeners.append { [weak self] id in
            FieldListener(field: id, kind: .change { [weak self] in self?.changed($0, $1) })
        }
        form.attachments.append { [weak self] attachment in
            self?.state.withLock { $0.attachment = attachment }
        }
        form.add(control, environment)
    }

    /// Notifies the delegate of each component that was turned.
    private func changed(_ old: FieldState?, _ new: FieldState) {
        let (components, delegate) = state.withLock { ($0.components, $0.delegate) }
        guard let delegate else { return }
        for (index, component) in components.enumerated() {
            guard let tag = new.value[component.id]?.stringValue,
                old?.value[component.id]?.stringValue != tag,
                let row = component.tags.firstIndex(of: tag)
            else { continue }
            delegate.pickerView(self, didSelectRow: row, inComponent: index)
        }
    }
}
