// The value of a draft, and the journal of an undo.

import SyncCore

extension StoryTransaction {
    /// Replaces the journal.
    mutating func keep(_ journal: StoryJournal) { form.journal = journal }

    /// The value that would be stored for a proposed value.
    mutating func admitted(_ value: JSON, _ id: String) throws -> JSON {
        guard let control = definition.control(id) else { return .null }
        if control.kind == .label || control.kind == .button {
            throw StoryRefusal("invalidValue", form: form.name, field: id)
        }
        let change = JSON.object(JSONObject([("field", .string(id)), ("value", value)]))
        var result = value
        for target in definition.targets(id) {
            guard let root = definition.control(target) else { continue }
            switch try edit(change, of: control, form.shown(id), root) {
            case .set(let canonical): result = canonical
            case .rows(let rows):
                result = .object(
                    JSONObject(
                        root.wheels.compactMap { wheel in
                            rows[wheel.id].map { (wheel.id, $0) }
                        }))
            default: break
            }
        }
        return result
    }
}
