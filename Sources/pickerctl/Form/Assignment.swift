// `FIELD=VALUE` and similar arguments, parsed without knowledge of the form.
//
//     flavor=vanilla        set                  source.name=salary    a component of wheels
//     scoops+=1 scoops-=1   increment            days+=tue days-=mon   add to, remove from a list
//     note=@file key=-      a file's text, standard input (without one trailing newline)
//     note:='"@home"'       exactly this JSON
//     order/flavor=vanilla  a field of another form

internal import SyncCore

/// One parsed argument of `set`.
struct Assignment: Equatable {
    enum Operation: Equatable { case set, plus, minus, json }
    enum Source: Equatable {
        case text(String)
        case file(String)
        case standardInput
    }

    var form: String?
    var field: String
    var component: String?
    var operation: Operation
    var source: Source

    /// Parses an argument; `nil` if there is no `=` or no field before it.
    init?(_ argument: String) {
        guard let equals = argument.firstIndex(of: "=") else { return nil }
        var name = argument[..<equals]
        let text = String(argument[argument.index(after: equals)...])
        switch name.last {
        case "+": operation = .plus
        case "-": operation = .minus
        case ":": operation = .json
        default: operation = .set
        }
        if operation != .set { name.removeLast() }
        let place = FieldName(String(name))
        guard !place.field.isEmpty, place.component?.isEmpty != true else { return nil }
        form = place.form
        field = place.field
        component = place.component
        if operation == .set, text == "-" {
            source = .standardInput
        } else if operation == .set, text.hasPrefix("@") {
            source = .file(String(text.dropFirst()))
        } else {
            source = .text(text)
        }
    }
}

/// `FIELD`, `FORM/FIELD`, `FIELD.COMPONENT`.
struct FieldName: Equatable {
    var form: String?
    var field: String
    var component: String?

    /// `FORM/`: the whole form.
    var isWholeForm: Bool { form != nil && field.isEmpty }
    /// A name alone, which may be that of a form or a field.
    var isBare: Bool { form == nil && component == nil && Glob(field).literal != nil }

    init(_ text: String) {
        var rest = text[...]
        if let slash = rest.firstIndex(of: "/") {
            form = String(rest[..<slash])
            rest = rest[rest.index(after: slash)...]
        }
        if let dot = rest.firstIndex(of: ".") {
            component = String(rest[rest.index(after: dot)...])
            rest = rest[..<dot]
        }
        field = String(rest)
    }
}
