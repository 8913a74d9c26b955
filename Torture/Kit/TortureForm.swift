/// The form of most rows: each writer has a counter and a note, which are written together, so that
/// lost, doubled or torn edits can be detected.

public import SyncCore

/// The form "torture".
public enum TortureForm {
    /// Its name.
    public static let name = "torture"

    /// The contents at a revision: each writer's counter and note.
    public typealias Reading = (revision: Int64, counts: [Int64], notes: [Int64])

    /// A definition for this many writers.
    public static func definition(writers: Int) -> JSON {
        var fields: [JSON] = []
        for writer in 0..<writers {
            fields.append([
                "id": .string(counter(writer)), "type": "stepper", "label": "Count", "min": 0,
                "max": 1_000_000_000_000, "default": 0,
            ])
            fields.append(["id": .string(note(writer)), "type": "text", "label": "Note"])
        }
        return [
            "form": .string(name), "title": "Torture",
            "sections": [["title": "All", "fields": .array(fields)]],
        ]
    }

    /// The counter of a writer.
    public static func counter(_ writer: Int) -> String { "count-\(writer)" }
    /// The note of a writer.
    public static func note(_ writer: Int) -> String { "note-\(writer)" }

    /// Creates the form.
    public static func apply(writers: Int, by peer: Peer) throws {
        try peer.result("form.apply", ["definition": definition(writers: writers)])
    }

    /// The contents of the form: each writer's counter, and the number in its note.
    public static func read(writers: Int, by peer: Peer) throws -> Reading {
        let state = try peer.result("state.get", ["form": .string(name)])
        var counts: [Int64] = []
        var notes: [Int64] = []
        for writer in 0..<writers {
            let count = state["fields"]?[counter(writer)]?["value"]?.integerValue
            counts.append(count ?? -1)
            let text = state["fields"]?[note(writer)]?["value"]?.stringValue ?? ""
            notes.append(text.isEmpty ? 0 : Int64(text) ?? -1)
        }
        return (state["revision"]?.integerValue ?? -1, counts, notes)
    }
}
