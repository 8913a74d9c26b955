// Checks that need complete domains: defaults, and the size of a snapshot.

extension FormParser {
    /// The definition, with defaults checked against their domains.
    mutating func finished(_ parts: inout FormDefinition.Parts) -> FormDefinition? {
        let graph = DependencyGraph(
            controls: parts.controls, sections: parts.sections, edgesMax: limits.edgesMax)
        guard let graph else {
            issue(Place(), "too many controls derive from each other", expected: "fewer references")
            return nil
        }
        parts.snapshotBytesMax = SnapshotSize.bound(parts.controls, limits: limits)
        let draft = FormDefinition(parts, graph: graph)
        var hasDefaults = false
        for index in parts.controls.indices {
            guard let written = fields[index]["default"] else { continue }
            hasDefaults = true
            parts.controls[index].hasDefault = true
            let place = fields[index].place(of: "default")
            checkDefault(written, at: place, of: index, in: draft, into: &parts)
        }
        if parts.snapshotBytesMax + Self.envelopeBytes > limits.frameBytesMax {
            issue(
                Place(), "a snapshot may take \(parts.snapshotBytesMax) bytes",
                expected: "at most \(limits.frameBytesMax - Self.envelopeBytes) bytes: fewer "
                    + "controls, or a smaller maxLength")
        }
        guard issues.isEmpty else { return nil }
        return hasDefaults ? FormDefinition(parts, graph: graph) : draft
    }

    /// Checks the defaults of valid controls although others are not, so that all errors are
    /// reported at once. Controls that bind others are skipped, because those may be the invalid
    /// ones.
    mutating func checkDefaultsApart(_ parts: FormDefinition.Parts) {
        let graph = DependencyGraph(controls: [], sections: [], edgesMax: 0)
        guard let graph else { return }
        for (index, field) in fields.enumerated() {
            guard let written = field["default"], kinds[index] != nil, field["binds"] == nil,
                field["sources"] == nil
            else { continue }
            var control = controls[index]
            control.enabledWhen = nil
            control.visibleWhen = nil
            var alone = parts
            alone.controls = [control]
            alone.indexes = NameTable([(control.id, 0)])
            let draft = FormDefinition(alone, graph: graph)
            let place = field.place(of: "default")
            checkDefault(written, at: place, of: 0, in: draft, into: &alone)
        }
    }

    private mutating func checkDefault(
        _ written: JSON, at place: Place, of index: Int, in draft: FormDefinition,
        into parts: inout FormDefinition.Parts
    ) {
        switch (parts.controls[index].kind, parts.controls[index].storage) {
        case (.secure, _), (.button, _), (.label, _):
            let problem =
                parts.controls[index].type == .secure
                ? "everybody who reads the form could read a secret in it"
                : "a default of \(parts.controls[index].type.withArticle) has no meaning"
            issue(place, problem, expected: "no default")
        case (_, .own):
            do {
                let value = try draft.admit(written, control: index) {
                    draft.controls[$0].defaultValue
                }
                parts.controls[index].defaultValue = draft.completed(value, control: index)
            } catch {
                let component = error.component.map { PathStep.key($0) }
                issue(
                    component.map { place.at($0) } ?? place, error.message,
                    expected: error.expected)
            }
        case (_, .binds(let root)):
            // The same default is harmless: merge keys copy it.
            if written != fields[root]["default"] {
                issue(
                    place, "\(parts.controls[index].id) stores nothing of its own",
                    expected: "the default at \(parts.controls[root].id)")
            }
        case (_, .sources), (_, .none):
            issue(
                place, "\(parts.controls[index].id) stores nothing of its own",
                expected: "defaults at its sources")
        }
    }
}

extension FormDefinition {
    /// A default of wheels may name only some components. The others start at their first rows.
    fileprivate func completed(_ value: JSON, control: Int) -> JSON {
        guard case .wheels(let wheels) = controls[control].kind, case .object(let rows) = value
        else { return value }
        var merged = controls[control].defaultValue.objectValue ?? JSONObject()
        for member in rows.members { merged[member.name] = member.value }
        return .object(wheels.completed(merged))
    }
}
