// The value that readers see of a control: its own or the one that it binds, with flags.
//
// `values` returns the value of a control that stores one (`Control.Storage.own`), by index:
// registers and counters as JSON (a counter as from `counterValue`), multiple pickers as an array
// in any order, wheels as an object of the set components, buttons as `{"presses": n}`, and a
// secure field as `true` if a secret is set, never the secret. If nobody has set a value, it
// returns the control's `defaultValue`. It is not called for other controls.

/// A control's value for readers.
public struct ShownValue: Hashable, Sendable {
    /// The value; null if it is mixed or secure.
    public var value: JSON
    /// Its sources have different values.
    public var isMixed = false
    /// The control does not accept it, perhaps because its domain has changed.
    public var isInvalid = false
    /// It is required and empty.
    public var isMissing = false

    /// Whether it has a flag.
    var hasFlags: Bool { isMixed || isInvalid || isMissing }

    /// A value without flags.
    public init(_ value: JSON) {
        self.value = value
    }
}

extension FormDefinition {
    /// What readers see of a control.
    public func shown(_ index: Int, values: (Int) -> JSON) -> ShownValue {
        // No copy of the control, because a copy retains each of its texts.
        var shown: ShownValue
        switch controls[index].storage {
        case .none: return ShownValue(.null)
        case .own(.sealed):
            shown = ShownValue(.null)
            shown.isMissing = controls[index].isRequired && !(values(index).boolValue ?? false)
            return shown
        case .own(.presses): return ShownValue(values(index))
        case .own: shown = ShownValue(values(index))
        case .binds(let other):
            shown = self.shown(other, values: values)
            if case .secure = controls[index].kind {
                shown.isMissing = controls[index].isRequired && isSecretUnset(other, values: values)
                return shown
            }
            if case .button = controls[index].kind { return shown }
            if case .gauge(let gauge) = controls[index].kind, let number = shown.value.numberValue {
                // Like SwiftUI's gauge, a value beyond a bound is shown at the bound.
                shown.value = .number(gauge.domain.clamped(number))
            }
        case .sources(let sources): shown = merged(sources, values: values)
        }
        shown.isMissing = false
        if shown.isMixed { return shown }
        switch types[index] {
        case .picker, .wheels: shown.value = canonical(shown.value, kind: controls[index].kind)
        default: break
        }
        shown.isInvalid = !accepts(shown.value, index)
        shown.isMissing =
            controls[index].isRequired && !shown.isInvalid && Self.isEmpty(shown.value)
        return shown
    }

    /// A counter's value: the base plus the sum of increments.
    ///
    /// The result of several users' increments is limited to the bounds. A base that is itself
    /// outside, because a later definition changed the bounds, is shown unchanged (and flagged).
    public func counterValue(
        _ index: Int, base: DecimalNumber, increments: DecimalNumber
    ) -> DecimalNumber {
        guard let domain = controls[index].numberDomain else { return base }
        guard let sum = base.adding(increments) else {
            return (increments > .zero ? domain.max : domain.min) ?? base
        }
        return domain.contains(base) ? domain.clamped(sum) : sum
    }

    /// Whether a value is in a control's current domain; otherwise it is `invalid`.
    ///
    /// A disabled option that is picked already is valid, although nobody could pick it now. So is
    /// a number between the steps of a slider whose step was changed.
    public func accepts(_ value: JSON, control: Control) -> Bool {
        accepts(value, control.kind, defaultValue: control.defaultValue)
    }

    /// The same for the control at `index`, without a copy.
    private func accepts(_ value: JSON, _ index: Int) -> Bool {
        accepts(value, controls[index].kind, defaultValue: controls[index].defaultValue)
    }

    private func accepts(_ value: JSON, _ kind: ControlKind, defaultValue: JSON) -> Bool {
        // Not as a pair, which would be a copy of both.
        if case .text(let text) = kind {
            guard case .string(let string) = value else { return false }
            return text.problem(with: string) == nil || value == defaultValue
        }
        return switch (kind, value) {
        case (.picker(let picker), .array(let tags)):
            picker.isMultiple && tags.allSatisfy { picker.options.index(of: $0) != nil }
        case (.picker(let picker), .null): picker.isOptional && !picker.isMultiple
        case (.picker(let picker), let tag):
            !picker.isMultiple && picker.options.index(of: tag) != nil
        case (.wheels(let wheels), .object(let rows)): wheels.accepts(rows)
        case (.toggle, .bool): true
        case (.slider(let slider), .number(let number)): slider.domain.contains(number)
        case (.stepper(let stepper), .number(let number)): stepper.domain.contains(number)
        case (.gauge(let gauge), .number(let number)): gauge.domain.contains(number)
        case (.date(let date), let value):
            date.problem(with: value) == nil || value == defaultValue
        default: false
        }
    }

    /// Whether a value counts as empty.
    static func isEmpty(_ value: JSON) -> Bool {
        switch value {
        case .null: true
        case .string(let text): text.isEmpty
        case .array(let elements): elements.isEmpty
        default: false
        }
    }

    /// The value in the order of the form: tags in option order, and all components in their order.
    private func canonical(_ value: JSON, kind: ControlKind) -> JSON {
        switch (kind, value) {
        case (.picker(let picker), .array(let tags)) where picker.isMultiple:
            .array(picker.options.ordered(tags))
        case (.wheels(let wheels), .object(let rows)): .object(wheels.completed(rows))
        default: value
        }
    }

    private func merged(_ sources: [Int], values: (Int) -> JSON) -> ShownValue {
        var first: ShownValue?
        var firstFlag: Bool?
        for source in sources {
            let shown: ShownValue
            // Most sources are toggles that store their value: there may be thousands.
            if storesFlag[source], case .bool(let flag) = values(source) {
                if flag == firstFlag { continue }
                shown = ShownValue(.bool(flag))
            } else {
                shown = self.shown(source, values: values)
            }
            if shown.isMixed || (first.map { !Self.matches($0.value, shown.value) } ?? false) {
                var mixed = ShownValue(.null)
                mixed.isMixed = true
                return mixed
            }
            if first == nil {
                first = shown
                firstFlag = shown.value.boolValue
            }
        }
        return first ?? ShownValue(.null)
    }

    func component(_ id: String, of index: Int) -> Int? {
        guard case .wheels(let wheels) = controls[index].kind else { return nil }
        return wheels.index(of: id)
    }

    private func isSecretUnset(_ index: Int, values: (Int) -> JSON) -> Bool {
        switch controls[index].storage {
        case .binds(let other): isSecretUnset(other, values: values)
        case .own: !(values(index).boolValue ?? false)
        case .sources, .none: true
        }
    }
}

extension OptionList {
    /// Tags in option order; those of removed options come last, by their text.
    func ordered(_ tags: [JSON]) -> [JSON] {
        tags.map { (index: index(of: $0), tag: $0) }.sorted { left, right in
            switch (left.index, right.index) {
            case (let left?, let right?): left < right
            case (.some, nil): true
            case (nil, .some): false
            case (nil, nil): left.tag.encoded.lexicographicallyPrecedes(right.tag.encoded)
            }
        }.map(\.tag)
    }
}

extension WheelsAttributes {
    /// The rows of a component while others have the tags of `selection`.
    public func rows(of component: Int, selection: JSONObject) -> OptionList {
        if components[component].rules.isEmpty { return components[component].options }
        return rows(of: component) { selection[components[$0].id] }
    }

    /// The same with tags by the index of their component.
    func rows(of component: Int, selection: (Int) -> JSON?) -> OptionList {
        for rule in components[component].rules {
            let holds = rule.when.allSatisfy { condition in
                selection(condition.component).map {
                    FormDefinition.matches($0, condition.tag)
                } ?? false
            }
            if holds { return rule.options }
        }
        return components[component].options
    }

    /// The tags of a selection by the index of their component, and the name of the first member
    /// that is not a component.
    ///
    /// Linear if the members have the order of the components, as stored selections do.
    func tags(of rows: JSONObject) -> (tags: [JSON?], unknown: String?) {
        var tags = [JSON?](repeating: nil, count: components.count)
        var unknown: String?
        var next = 0
        for member in rows.members {
            let isNext =
                next < components.count && components[next].id.isSameBytes(as: member.name)
            guard let place = isNext ? next : index(of: member.name) else {
                unknown = unknown ?? member.name
                continue
            }
            tags[place] = member.value
            next = place + 1
        }
        return (tags, unknown)
    }

    /// Adds the missing components to a selection; each is at its first row.
    func complete(_ tags: inout [JSON?]) {
        for component in evaluationOrder where tags[component] == nil {
            let options = rows(of: component) { tags[$0] }
            tags[component] = options.options[options.firstEnabled].tag
        }
    }

    /// The selection with all components, in order; a missing one is at its first row.
    func completed(_ rows: JSONObject) -> JSONObject {
        var tags = tags(of: rows).tags
        complete(&tags)
        return JSONObject(
            distinct: components.indices.map { (components[$0].id, tags[$0] ?? .null) })
    }

    func accepts(_ rows: JSONObject) -> Bool {
        let tags = tags(of: rows).tags
        return components.indices.allSatisfy { component in
            guard let tag = tags[component] else { return false }
            return self.rows(of: component) { tags[$0] }.index(of: tag) != nil
        }
    }
}
