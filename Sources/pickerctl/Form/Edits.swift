// Converts assignments to the changes of one transaction.

internal import FormFile
internal import SyncCore

/// Builds changes from assignments.
struct EditBuilder {
    let outline: FormOutline
    private var standardInputIsTaken = false
    private(set) var changes: [Change] = []

    init(_ outline: FormOutline) {
        self.outline = outline
    }

    /// Adds one assignment. Components of the same wheels become one change.
    mutating func append(_ assignment: Assignment, _ session: Session) throws(Failure) {
        let field = try resolve(assignment, session)
        let action = try action(assignment, field)
        if assignment.component != nil, case .value(let added) = action,
            let index = changes.lastIndex(where: { $0.field.isSameBytes(as: field.id) }),
            case .value(.object(var object)) = changes[index].action
        {
            for (name, value) in added.objectValue?.members ?? [] { object[name] = value }
            changes[index].action = .value(.object(object))
            return
        }
        changes.append(Change(field: field.id, action))
    }

    private func resolve(
        _ assignment: Assignment, _ session: Session
    ) throws(Failure) -> FieldOutline {
        if assignment.operation == .minus, assignment.component == nil,
            outline[assignment.field] == nil, let odd = outline[assignment.field + "-"]
        {
            throw .endsInDash(odd.id)
        }
        return try session.field(assignment.field, in: outline)
    }

    private mutating func action(
        _ assignment: Assignment, _ field: FieldOutline
    ) throws(Failure) -> Change.Action {
        if field.kind == .secure, case .text = assignment.source {
            throw .secretInArguments(field.id)
        }
        let text = try text(assignment.source)
        if let component = assignment.component {
            guard assignment.operation == .set else {
                throw .componentHasTag(field.id, component)
            }
            return .value(try ValueParser.component(text, component, of: field))
        }
        switch assignment.operation {
        case .set: return .value(try ValueParser.value(text, for: field))
        case .json:
            guard let json = try? JSON(parsing: text) else {
                throw .notValue(text, of: field, "JSON after :=")
            }
            return .value(json)
        case .plus, .minus:
            let isMinus = assignment.operation == .minus
            if field.isMultiple {
                let tags = try ValueParser.tags(text, for: field)
                return isMinus ? .remove(tags) : .add(tags)
            }
            switch field.kind {
            case .slider, .stepper, .gauge:
                return .increment(try ValueParser.increment(text, negated: isMinus, for: field))
            default: throw .notNumberOrList(field)
            }
        }
    }

    /// The text of a source. Files and standard input lose one trailing newline, which editors and
    /// echo add.
    private mutating func text(_ source: Assignment.Source) throws(Failure) -> String {
        let bytes: [UInt8]
        let name: String
        switch source {
        case .text(let text): return text
        case .file(let path):
            name = path
            bytes = try InputFile.bytes(path)
        case .standardInput:
            guard !standardInputIsTaken else {
                throw .oneReadsInput
            }
            standardInputIsTaken = true
            name = "standard input"
            bytes = try Console.readStandardInput()
        }
        var kept = bytes[...]
        if kept.last == UInt8(ascii: "\n") {
            kept = kept.dropLast()
            if kept.last == UInt8(ascii: "\r") { kept = kept.dropLast() }
        }
        guard let text = String(validating: kept, as: UTF8.self) else {
            throw .notText(name)
        }
        return text
    }
}
