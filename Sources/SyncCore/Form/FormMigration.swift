// What becomes of the values when a form in use gets a new definition.

/// A plan for putting one definition in place of another (FORM.md, Changing a form that is in use).
///
/// Each list names fields: of the new definition in its order, `removed` of the old one in its.
/// A field of both stands in exactly one of `kept`, `invalid` and `reset`.
public struct FormMigration: Hashable, Sendable {
    public var added: [String] = []
    public var kept: [String] = []
    /// Kept, though the new domain does not hold their value.
    public var invalid: [String] = []
    /// Had a value of another kind, which the new type cannot carry: back to the default.
    public var reset: [String] = []
    public var removed: [String] = []
    /// For each control of the new definition what it takes over.
    public var origins: [Origin] = []

    /// What a control of the new definition takes over from the old one.
    public enum Origin: Hashable, Sendable {
        /// Nothing: it is new.
        case new
        /// The dot store of the old control at that index, as it is.
        case carries(Int)
        /// It was the old control at that index, whose store is of no use to it: start empty.
        case restarts(Int)
    }
}

extension FormMigration {
    /// The plan from `old` to `new`.
    ///
    /// Ids are identity; `was` counts only for an id that the old definition does not have, so a
    /// `was` that is left in a file changes nothing at the next apply.
    ///
    /// - Parameter values: the old definition's values by index, `nil` where nobody has set one:
    ///   it follows the default, so it is kept whatever becomes of the type.
    public static func plan(
        from old: FormDefinition, to new: FormDefinition, values: (Int) -> JSON?
    ) -> FormMigration {
        var plan = FormMigration()
        var taken = Array(repeating: false, count: old.controls.count)
        for (index, control) in new.controls.enumerated() {
            let source =
                old.index(of: control.id)
                ?? control.was.flatMap(old.index(of:)).flatMap { taken[$0] ? nil : $0 }
            guard let source else {
                plan.added.append(control.id)
                plan.origins.append(.new)
                continue
            }
            taken[source] = true
            switch fate(of: values(source), from: old.controls[source], to: index, in: new) {
            case .keeps:
                plan.kept.append(control.id)
                plan.origins.append(.carries(source))
            case .keepsOutside:
                plan.invalid.append(control.id)
                plan.origins.append(.carries(source))
            case .restartsUnset:
                plan.kept.append(control.id)
                plan.origins.append(.restarts(source))
            case .loses:
                plan.reset.append(control.id)
                plan.origins.append(.restarts(source))
            }
        }
        plan.removed = old.controls.indices.filter { !taken[$0] }.map { old.controls[$0].id }
        return plan
    }

    private enum Fate {
        case keeps, keepsOutside, restartsUnset, loses
    }

    /// What becomes of one value. Stores are carried within their kind alone: a register of an
    /// option's tag can be a text's register, a counter can change its bounds, but the dots of a
    /// counter say nothing to a register.
    private static func fate(
        of value: JSON?, from old: Control, to index: Int, in new: FormDefinition
    ) -> Fate {
        let control = new.controls[index]
        guard let oldKind = old.storeKind else { return .restartsUnset }
        guard let newKind = control.storeKind, newKind == oldKind else {
            return value == nil ? .restartsUnset : .loses
        }
        guard let value else { return .keeps }
        switch newKind {
        case .presses, .sealed: return .keeps
        case .counter, .components, .tags:
            return isInDomain(value, index, new) ? .keeps : .keepsOutside
        case .register:
            if isInDomain(value, index, new) { return .keeps }
            if old.type == control.type || hasShape(value, of: control) { return .keepsOutside }
            return .loses
        }
    }

    private static func isInDomain(_ value: JSON, _ index: Int, _ form: FormDefinition) -> Bool {
        !form.shown(index) { $0 == index ? value : form.controls[$0].defaultValue }.isInvalid
    }

    /// Whether a value is of the JSON type that a control of another type would show, so that it
    /// is worth keeping though it is outside the domain.
    private static func hasShape(_ value: JSON, of control: Control) -> Bool {
        switch (control.kind, value) {
        case (.text, .string): true
        case (.picker(let picker), let tag): TagType(of: tag) == picker.options.tagType
        default: false
        }
    }
}
