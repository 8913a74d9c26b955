// One change of one field, as `watch` prints it and hands it to a child.

internal import SyncCore

/// A change to be shown.
struct WatchedChange: Equatable {
    var form: String
    var field: String
    var state: FieldState
    var was: JSON?
    /// The form's revision that brought it.
    var revision: Revision
    /// The first revision folded into this one, where there are several.
    var coalescedFrom: Revision?
    /// The name of the daemon's host, where the form is shared with others.
    var host: String?

    /// This change after an earlier one of the same field: what it was is what it was before both.
    func folding(_ earlier: WatchedChange) -> WatchedChange {
        var folded = self
        folded.was = earlier.was
        folded.coalescedFrom = earlier.coalescedFrom ?? earlier.revision
        return folded
    }

    /// `flavor=vanilla (was chocolate) by alice, revision 12`; part of what scripts may rely on.
    var text: String {
        var text: String
        if let isSet = state.isSecretSet {
            text = "\(field) \(isSet ? "set" : "unset") (secret)"
        } else if state.value["presses"] != nil {
            text = "\(field) pressed (\(ValueText.bare(state.value)))"
        } else if state.isMixed {
            text = "\(field) mixed"
        } else {
            text = "\(field)=\(ValueText.bare(state.value))"
            if state.isInvalid { text += " (invalid)" }
            if let was { text += " (was \(ValueText.short(was)))" }
        }
        if let by = state.by { text += " by \(by.name(on: host))" }
        text += ", revision \(revision)"
        if let coalescedFrom { text += " (since \(coalescedFrom))" }
        for sibling in state.conflict {
            text += "; conflict with \(ValueText.short(sibling.value))"
            if let by = sibling.by { text += " by \(by.name(on: host))" }
        }
        return text
    }

    /// One JSON object: form, field, the members of a Field, `was` and `coalesced`, its `revision`
    /// being the form's.
    var json: String {
        var state = state
        state.revision = revision
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("form")
        writer.string(form)
        writer.key("field")
        writer.string(field)
        state.encodeMembers(into: &writer)
        if let was {
            writer.key("was")
            writer.value(was)
        }
        if let coalescedFrom {
            writer.key("coalesced")
            writer.beginObject()
            writer.key("from")
            writer.integer(coalescedFrom)
            writer.endObject()
        }
        writer.endObject()
        return String(decoding: writer.take(), as: UTF8.self)
    }

    /// The environment of an `--exec` child, beside what it inherits.
    var environment: [(name: String, value: String)] {
        [
            ("PICKER_FORM", form), ("PICKER_FIELD", field),
            ("PICKER_VALUE", state.isSecretSet == nil ? ValueText.bare(state.value) : ""),
            ("PICKER_WAS", was.map(ValueText.bare) ?? ""), ("PICKER_USER", state.by?.user ?? ""),
            ("PICKER_REVISION", String(revision)),
            ("PICKER_COALESCED", coalescedFrom.map { String($0) } ?? ""),
        ]
    }
}
