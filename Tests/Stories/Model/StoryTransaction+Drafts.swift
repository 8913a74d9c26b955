// What a draft would be stored as, and the journal that an undo is noted in.

import SyncCore

extension StoryTransaction {
    /// Goes on from what a journal came to.
    mutating func keep(_ journal: StoryJournal) { form.journal = journal }

    /// What a value would be stored as, or the refusal.
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
