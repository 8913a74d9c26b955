// What happens to values when a form gets a new definition.

/// A plan for replacing a definition (FORM.md, Changing a form that is in use).
///
/// Each list contains fields of the new definition in its order; `removed` contains fields of the
/// old one. A field of both is in exactly one of `kept`, `invalid` and `reset`.
public struct FormMigration: Hashable, Sendable {
    public var added: [String] = []
    public var kept: [String] = []
    /// Kept, although the new domain does not contain their value.
    public var invalid: [String] = []
    /// Reset to the default, because the new type cannot represent the value.
    public var reset: [String] = []
    public var removed: [String] = []
    /// What each control of the new definition takes over.
    public var origins: [Origin] = []

    /// What a control takes over from the old definition.
    public enum Origin: Hashable, Sendable {
        /// Nothing, because it is new.
        case new
        /// The dot store of the old control at that index.
        case carries(Int)
        /// It was the old control at that index but cannot use its store, so it starts empty.
        case restarts(Int)
    }
}

extension FormMigration {
    /// The plan from `old` to `new`.
    ///
    /// A field is identified by its id. `was` counts only if the old definition has no field with
    /// the new id, so a `was` that remains in the file changes nothing at the next apply. No two
    /// fields take over the same one: a form in which `was` names a present field, or two fields
    /// have the same `was`, is not accepted.
    ///
    /// - Parameter values: the old definition's values by index; `nil` if nobody has set one. Such
    ///   a field shows its default and is kept whatever its new type is.
    public static func plan(
        from old: FormDefinition, to new: FormDefinition, values: (Int) -> JSON?
    ) -> FormMigration {
        var plan = FormMigration()
        var taken = Array(repeating: false, count: old.controls.count)
        // By index: a control has so many attributes that each copy of it takes time.
        for index in new.controls.indices {
            let id = new.controls[index].id
            guard let source = old.index(of: id) ?? new.controls[index].was.flatMap(old.index(of:))
            else {
                plan.added.append(id)
                plan.origins.append(.new)
                continue
            }
            taken[source] = true
            switch fate(of: values(source), from: source, in: old, to: index, in: new) {
            case .keeps:
                plan.kept.append(id)
                plan.origins.append(.carries(source))
            case .keepsOutside:
                plan.invalid.append(id)
                plan.origins.append(.carries(source))
            case .restartsUnset:
                plan.kept.append(id)
                plan.origins.append(.restarts(source))
            case .loses:
                plan.reset.append(id)
                plan.origins.append(.restarts(source))
            }
        }
        plan.removed = old.controls.indices.filter { !taken[$0] }.map { old.controls[$0].id }
        return plan
    }

    private enum Fate {
        case keeps, keepsOutside, restartsUnset, loses
    }

    /// What happens to one value. A store is kept only if its kind is the same: the register of an
    /// option's tag can become a text's register and a counter can get other bounds, but a register
    /// cannot use the dots of a counter.
    private static func fate(
        of value: JSON?, from source: Int, in old: FormDefinition, to index: Int,
        in new: FormDefinition
    ) -> Fate {
        guard let oldKind = old.controls[source].storeKind else { return .restartsUnset }
        guard let newKind = new.controls[index].storeKind, newKind == oldKind else {
            return value == nil ? .restartsUnset : .loses
        }
        guard let value else { return .keeps }
        switch newKind {
        case .presses, .sealed: return .keeps
        case .counter, .components, .tags:
            return isInDomain(value, index, new) ? .keeps : .keepsOutside
        case .register:
            if isInDomain(value, index, new) { return .keeps }
            let control = new.controls[index]
            if old.types[source] == control.type || hasShape(value, of: control) {
                return .keepsOutside
            }
            return .loses
        }
    }

    private static func isInDomain(_ value: JSON, _ index: Int, _ form: FormDefinition) -> Bool {
        !form.shown(index) { $0 == index ? value : form.controls[$0].defaultValue }.isInvalid
    }

    /// Whether a value has the JSON type of a control of another type, so that it is kept although
    /// it is outside the domain.
    private static func hasShape(_ value: JSON, of control: Control) -> Bool {
        switch (control.kind, value) {
        case (.text, .string): true
        case (.picker(let picker), let tag): TagType(of: tag) == picker.options.tagType
        default: false
        }
    }
}
