internal import ArgumentParser
internal import FormFile
internal import SyncCore
internal import TerminalUI

/// `pickerctl get`: prints values.
struct GetCommand: PlainCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json, yaml, env, table }

    static let configuration = CommandConfiguration.leaf(
        "get", abstract: "Print values.",
        discussion: """
            One field prints its value alone: into a pipe as it is, escaped on a terminal. Several \
            print FIELD=VALUE lines, which set reads. A pattern (* and ?) or FORM/ chooses fields \
            or the form.

            Example: if [ "$(pickerctl get maintenance)" = true ]; then echo closed; fi
            """)

    @OptionGroup var common: CommonOptions
    @Argument(completion: .custom(Completion.readable))
    var field: [String] = []
    @Option(name: .shortAndLong, help: "text, json, yaml, env or table.")
    var output = Format.text
    @Flag(help: "The vector clock too, as a token for set --context.") var context = false
    @Flag(help: "Show one secret, if you have access; the daemon's log records it.")
    var reveal = false

    var request: GetRequest {
        GetRequest(
            settings: common.settings, format: output, showsContext: context, reveals: reveal,
            fields: field)
    }
}

/// The arguments of `pickerctl get`.
struct GetRequest: PlainRequest {
    let settings: Settings
    let format: GetCommand.Format
    let showsContext: Bool
    let reveals: Bool
    let fields: [String]

    func run() throws(Failure) {
        let session = Session(settings)
        let (form, names) = try session.place(of: fields)
        if reveals { return try Self.reveal(session, form, names) }
        let ids = names.map(\.field)
        let snapshot: StateSnapshot
        do throws(Failure) {
            snapshot = try session.snapshot(form, ids.isEmpty ? nil : ids)
        } catch {
            if error.status == .noInput, let whole = try session.wholeForm(fields) {
                return try with([whole]).run()
            }
            if error.status == .noInput, ids.contains(form) {
                throw .noField(form, form, among: [])
            }
            throw error
        }
        let states = snapshot.fields.byID
        for id in ids where Glob(id).literal != nil && states[id] == nil {
            // A second request, only to suggest similar ids.
            throw .noField(id, form, among: try session.snapshot(form).fields.map(\.id))
        }
        let isSingle = names.count == 1 && Glob(ids[0]).literal != nil
        var selection = Selection(
            snapshot: snapshot, names: names, isSingle: isSingle, showsContext: showsContext)
        try Self.checkComponents(names, snapshot)
        if !isSingle || selection.mayShowLabel {
            let outline = try session.outline(form)
            if !isSingle { selection.leaveOut(outline, format) }
            if selection.items.contains(where: { outline[$0.name]?.kind == .label }) {
                // A second request, because a label's text contains values of other fields.
                let all = ids.isEmpty ? snapshot : try session.snapshot(form)
                selection.render(outline, all.fields)
            }
        }
        try selection.print(format, session)
        try session.console.flush()
    }

    private func with(_ fields: [String]) -> GetRequest {
        GetRequest(
            settings: settings, format: format, showsContext: showsContext, reveals: reveals,
            fields: fields)
    }

    /// Checks that `source.name` names an existing component.
    private static func checkComponents(
        _ names: [FieldName], _ snapshot: StateSnapshot
    ) throws(Failure) {
        for name in names {
            guard let component = name.component, let state = snapshot.fields[name.field] else {
                continue
            }
            guard let rows = state.value.objectValue, rows["presses"] == nil else {
                throw .noComponents(name.field, write: name.field)
            }
            guard rows[component] == nil else { continue }
            let ids = rows.members.map(\.name)
            throw .noComponent(component, name.field, among: ids)
        }
    }

    private static func reveal(
        _ session: Session, _ form: String, _ names: [FieldName]
    ) throws(Failure) {
        guard names.count == 1 else { throw .revealsOne }
        let request = StateReveal(form: form, field: names[0].field)
        let result = try session.call(.stateReveal(request)) { json throws(DecodeError) in
            try RevealResult(decoding: json)
        }
        try session.console.value(ValueText.bare(result.value))
        try session.console.flush()
    }
}

extension GetRequest {
    init(_ words: inout PlainWords) {
        self.init(
            settings: words.settings(), format: words.choice("--output", "-o") ?? .text,
            showsContext: words.flag("--context"), reveals: words.flag("--reveal"),
            fields: words.names())
    }
}

/// The requested fields, in the order of the arguments.
struct Selection {
    struct Item {
        var name: String
        var value: JSON
        var state: FieldState
    }

    let snapshot: StateSnapshot
    let isSingle: Bool
    let showsContext: Bool
    var items: [Item] = []
    /// Fields that were requested by name, not by a pattern.
    private let named: [String]

    init(snapshot: StateSnapshot, names: [FieldName], isSingle: Bool, showsContext: Bool) {
        self.snapshot = snapshot
        self.isSingle = isSingle
        self.showsContext = showsContext
        named = names.compactMap { Glob($0.field).literal }
        if names.isEmpty {
            for field in snapshot.fields { append(field) }
        }
        var appended: Set<String> = []
        for name in names {
            let glob = Glob(name.field)
            for field in snapshot.fields where glob.matches(field.id) {
                if let component = name.component {
                    let value = field.state.value[component] ?? .null
                    items.append(
                        Item(name: "\(field.id).\(component)", value: value, state: field.state))
                } else if appended.insert(field.id).inserted {
                    append(field)
                }
            }
        }
    }

    /// Whether the only requested field may be a label, whose value is null.
    var mayShowLabel: Bool { isSingle && items.contains { $0.value.isNull } }

    /// Sets the texts of labels as their values.
    mutating func render(_ outline: FormOutline, _ fields: [NamedField]) {
        guard let labels = LabelTexts(outline.json) else { return }
        let values = LabelTexts.values(fields)
        for place in items.indices where outline[items[place].name]?.kind == .label {
            items[place].value =
                labels.text(of: items[place].name, values).map { .string($0) }
                ?? .null
        }
    }

    /// Removes labels, which have no value; in formats that can be read back, also buttons and
    /// secrets. Fields requested by name stay.
    mutating func leaveOut(_ outline: FormOutline, _ format: GetCommand.Format) {
        items.removeAll { item in
            if named.contains(item.name) { return false }
            guard let field = outline[FieldName(item.name).field] else { return false }
            return switch format {
            case .table: false
            case .json, .yaml: field.kind == .label
            case .text, .env: !field.holdsValue
            }
        }
    }

    private mutating func append(_ field: NamedField) {
        items.append(Item(name: field.id, value: field.state.value, state: field.state))
    }

    func print(_ format: GetCommand.Format, _ session: Session) throws(Failure) {
        let console = session.console
        switch format {
        case .text: try printText(console)
        case .json: try console.text(json.prettyText + "\n")
        case .yaml: try console.text(YAMLWriter.text(of: json))
        case .env: try printEnvironment(console)
        case .table: try printTable(console, on: session.host)
        }
    }

    private var json: JSON {
        if showsContext {
            var writer = JSONWriter()
            snapshot.encode(into: &writer)
            return (try? JSON(parsing: writer.take())) ?? .null
        }
        if isSingle, let item = items.first { return item.value }
        return .object(JSONObject(items.map { ($0.name, $0.value) }))
    }

    private func printText(_ console: Console) throws(Failure) {
        if isSingle, let item = items.first {
            try console.value(ValueText.bare(item.value))
        } else {
            for item in items {
                try console.safeLine("\(item.name)=\(ValueText.bare(item.value))")
            }
        }
        if showsContext {
            try console.safeLine(isSingle ? snapshot.context : "context=\(snapshot.context)")
        }
    }

    private func printEnvironment(_ console: Console) throws(Failure) {
        for (name, value) in Environment.variables(snapshot.form, items) {
            try console.value("\(name)=\(ValueText.shellQuoted(value))")
        }
        if showsContext {
            try console.value("PICKER_CONTEXT=\(ValueText.shellQuoted(snapshot.context))")
        }
    }

    private func printTable(_ console: Console, on host: String?) throws(Failure) {
        var table = Table(["FIELD", "VALUE", "SET BY", "AT", "REVISION"])
        for item in items {
            let state = item.state
            table.append([
                item.name,
                state.isSecretSet == nil && !state.isMixed && !state.isInvalid
                    ? ValueText.short(item.value) : ValueText.short(state),
                state.isSet ? state.by?.name(on: host) ?? "" : "(default)",
                state.at.map { LocalTime.text($0) } ?? "", String(state.revision),
            ])
        }
        try table.print(console)
        if showsContext { try console.safeLine("context \(snapshot.context)") }
    }
}

/// A form's values as environment variables, for `get -o env`, `run` and `watch --exec`.
enum Environment {
    /// `PICKER_FORM`, then `PICKER_FLAVOR` and so on; a component is `PICKER_SOURCE_NAME`. Without
    /// secrets and buttons.
    static func variables(
        _ form: String, _ items: [Selection.Item]
    ) -> [(name: String, value: String)] {
        var result = [("PICKER_FORM", form)]
        for item in items where item.state.isSecretSet == nil && item.value["presses"] == nil {
            let name = item.name.split(separator: ".").joined(separator: "_")
            result.append((FieldOutline.variable(name), ValueText.bare(item.value)))
            for (component, value) in item.value.objectValue?.members ?? [] {
                result.append(
                    (FieldOutline.variable("\(name)_\(component)"), ValueText.scalar(value)))
            }
        }
        return result
    }
}
