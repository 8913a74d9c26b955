// Whether a control accepts a value, and what is stored.

extension FormDefinition {
    /// The canonical form of a proposed value, which is what is stored.
    ///
    /// Tags become the bytes of the option's tag, several tags get the order of the options, slider
    /// values are on the grid, and numbers have the domain's precision. For wheels, the result
    /// contains only components to be written: named ones whose value changes, and dependent ones
    /// that the edit moves to their first row. So a concurrent edit of another wheel stays. For a
    /// control that binds another one, the result is what that one would store. A secret is
    /// returned unchanged.
    ///
    /// - Parameter values: the current values; see ShownValue.swift.
    public func admit(
        _ proposed: JSON, control index: Int, values: (Int) -> JSON
    ) throws(InvalidValue) -> JSON {
        let value = try admitHere(proposed, control: index, values: values)
        switch controls[index].storage {
        case .own, .none: return value
        case .binds(let other):
            do { return try admit(value, control: other, values: values) } catch {
                throw refusal(index, error.message)
            }
        case .sources(let sources):
            for source in sources {
                do { _ = try admit(value, control: source, values: values) } catch {
                    throw refusal(
                        index, "\(controls[source].id) does not accept it: \(error.message)")
                }
            }
            return value
        }
    }

    private func admitHere(
        _ proposed: JSON, control index: Int, values: (Int) -> JSON
    ) throws(InvalidValue) -> JSON {
        // Nearly every text, and then no attributes are copied.
        if case .string(let text) = proposed, text.utf8.count <= plainTextMax[index],
            text.isPlainASCII
        {
            return proposed
        }
        switch controls[index].kind {
        case .picker(let picker):
            return try admit(proposed, picker: picker, index, values)
        case .wheels(let wheels):
            return try admit(proposed, wheels: wheels, index, values)
        case .toggle:
            guard case .bool = proposed else {
                throw refusal(index, "\(Self.described(proposed)) is not a boolean")
            }
            return proposed
        case .slider(let slider):
            let number = try number(proposed, in: slider.domain, index)
            guard let snapped = slider.domain.snapped(number) else {
                throw refusal(index, "\(number) is too fine a number")
            }
            return .number(snapped)
        case .stepper(let stepper):
            return .number(
                stepper.domain.withPrecision(try number(proposed, in: stepper.domain, index)))
        case .gauge(let gauge):
            return .number(
                gauge.domain.withPrecision(try number(proposed, in: gauge.domain, index)))
        case .date(let date):
            // The value of a date that nobody has set is accepted too, so that the date can be
            // cleared.
            if proposed.isNull, controls[index].defaultValue.isNull { return .null }
            if let problem = date.problem(with: proposed) { throw refusal(index, problem) }
            return proposed.numberValue?.integer.map { .integer($0) } ?? proposed
        case .text(let text):
            guard case .string(let string) = proposed else {
                throw refusal(index, "\(Self.described(proposed)) is not a string")
            }
            if proposed == controls[index].defaultValue { return proposed }
            if let problem = text.problem(with: string) { throw refusal(index, problem) }
            return proposed
        case .secure(let secure):
            guard case .string(let string) = proposed else {
                throw refusal(index, "\(proposed.kindInWords) is not a string")
            }
            if let problem = secure.problem(with: string) { throw refusal(index, problem) }
            return proposed
        case .button: throw refusal(index, "a button has no value to set")
        case .label: throw refusal(index, "a label has no value to set")
        }
    }

    /// A rejection by the control at `index`.
    func refusal(_ index: Int, _ message: String, component: String? = nil) -> InvalidValue {
        InvalidValue(
            field: controls[index].id, component: component, message: message,
            expected: expectedDescription(of: index))
    }

    private func number(
        _ proposed: JSON, in domain: NumberDomain, _ index: Int
    ) throws(InvalidValue) -> DecimalNumber {
        guard case .number(let given) = proposed else {
            throw refusal(index, "\(Self.described(proposed)) is not a number")
        }
        let number = domain.withoutNoise(given)
        guard domain.contains(number) else { throw refusal(index, "\(number) is out of range") }
        return number
    }
}

// MARK: - Pickers

extension FormDefinition {
    private func admit(
        _ proposed: JSON, picker: PickerAttributes, _ index: Int, _ values: (Int) -> JSON
    ) throws(InvalidValue) -> JSON {
        guard picker.isMultiple else {
            if proposed.isNull, picker.isOptional { return .null }
            return picker.options.options[try optionIndex(proposed, of: picker, index)].tag
        }
        if proposed.isNull, picker.isOptional { return [] }
        guard case .array(let tags) = proposed else {
            throw refusal(index, "\(Self.described(proposed)) is not a list of tags")
        }
        var present: Set<Int>?
        var chosen: Set<Int> = []
        for tag in tags {
            // A tag that is already picked is accepted although its option was disabled later.
            // Otherwise the other tags could not be changed.
            guard let place = picker.options.index(of: tag) else { throw noOption(tag, index) }
            if picker.options.options[place].isDisabled {
                let there = present ?? presentTags(index, picker, values).known
                if !there.contains(place) { throw disabledOption(tag, index) }
                present = there
            }
            guard chosen.insert(place).inserted else {
                throw refusal(index, "\(Self.quoted(tag)) is in the list twice")
            }
        }
        return .array(chosen.sorted().map { picker.options.options[$0].tag })
    }

    /// The index of the option with `tag`, if it can be picked.
    func optionIndex(
        _ tag: JSON, of picker: PickerAttributes, _ index: Int
    ) throws(InvalidValue) -> Int {
        guard let place = picker.options.index(of: tag) else { throw noOption(tag, index) }
        if picker.options.options[place].isDisabled { throw disabledOption(tag, index) }
        return place
    }

    private func noOption(_ tag: JSON, _ index: Int) -> InvalidValue {
        refusal(index, "\(Self.quoted(tag)) is not an option")
    }

    private func disabledOption(_ tag: JSON, _ index: Int) -> InvalidValue {
        refusal(index, "the option \(Self.quoted(tag)) is disabled")
    }

    /// A value for an error message: JSON text, shortened if it is long.
    static func quoted(_ value: JSON) -> String {
        switch value {
        case .array: return "a list"
        case .object: return value.kindInWords
        default:
            let text = value.encodedText
            guard text.count > 60 else { return text }
            return text.prefix(56) + (text.hasSuffix("\"") ? "...\"" : "...")
        }
    }

    /// A value of the wrong type for an error message, with its type: `a string ("yes")` tells more
    /// than `"yes"` to a user who meant a boolean.
    static func described(_ value: JSON) -> String {
        switch value {
        case .array, .object: quoted(value)
        case .null: "nothing (null)"
        case .bool, .number, .string: "\(value.kindInWords) (\(quoted(value)))"
        }
    }
}

// MARK: - Wheels

extension FormDefinition {
    private func admit(
        _ proposed: JSON, wheels: WheelsAttributes, _ index: Int, _ values: (Int) -> JSON
    ) throws(InvalidValue) -> JSON {
        guard case .object(let edit) = proposed else {
            throw refusal(
                index, "\(Self.described(proposed)) is not an object of components")
        }
        let edited = wheels.tags(of: edit)
        if let unknown = edited.unknown {
            throw refusal(
                index, "no component \(Self.quoted(.string(unknown)))", component: unknown)
        }
        let stored = values(storageRoot(of: index)).objectValue ?? JSONObject()
        var selection = wheels.tags(of: stored).tags
        wheels.complete(&selection)
        var moved = DistinctIndexes()
        for place in edited.tags.indices {
            guard let tag = edited.tags[place] else { continue }
            if selection[place] != tag { _ = moved.insert(place) }
            selection[place] = tag
        }
        for place in wheels.evaluationOrder {
            let options = wheels.rows(of: place) { selection[$0] }
            let present = selection[place] ?? .null
            if edited.tags[place] != nil {
                guard let option = options[present], !option.isDisabled else {
                    let component = wheels.components[place].id
                    throw InvalidValue(
                        field: controls[index].id, component: component,
                        message: "\(Self.quoted(present)) is not a row of \(component) now",
                        expected: "one of " + Self.list(options))
                }
                selection[place] = option.tag
            } else if options.index(of: present) == nil,
                wheels.components[place].rules.contains(where: { rule in
                    rule.when.contains { moved.contains($0.component) }
                })
            {
                selection[place] = options.options[options.firstEnabled].tag
                _ = moved.insert(place)
            }
        }
        return .object(
            JSONObject(
                distinct: wheels.components.indices.compactMap { place in
                    guard edited.tags[place] != nil || moved.contains(place),
                        let tag = selection[place]
                    else { return nil }
                    return (wheels.components[place].id, tag)
                }))
    }

    /// The control at the end of a chain of bindings; the control itself if it binds none.
    public func storageRoot(of index: Int) -> Int {
        var root = index
        while case .binds(let other) = controls[root].storage { root = other }
        return root
    }

    /// The tags of `options` for a sentence.
    static func list(_ options: OptionList) -> String {
        let enabled = options.options.lazy.filter { !$0.isDisabled }
        let shown = Array(enabled.prefix(12).map { plainText($0.tag) })
        let more = options.options.count { !$0.isDisabled } - shown.count
        return more > 0
            ? shown.joined(separator: ", ") + " or \(more) more" : Wording.alternatives(shown)
    }
}

// MARK: - Dates and texts

extension DateAttributes {
    /// What is wrong with a value that is not null; `nil` if it is in the domain.
    func problem(with json: JSON) -> String? {
        guard let value = DateValue(json, mode: mode) else {
            return "\(FormDefinition.quoted(json)) is not a \(mode.noun)"
        }
        if let min, value.isBefore(min) { return "\(FormDefinition.quoted(json)) is too early" }
        if let max, max.isBefore(value) { return "\(FormDefinition.quoted(json)) is too late" }
        guard value.isOnInterval(minutes: minuteInterval) else {
            return "\(FormDefinition.quoted(json)) is off the interval of \(minuteInterval) minutes"
        }
        return nil
    }
}

extension ControlKind {
    /// See `FormDefinition.plainTextMax`. A byte of printable ASCII is a grapheme cluster.
    var plainTextMax: Int {
        guard case .text(let text) = self, text.pattern == nil else { return -1 }
        return min(text.bytesMax, text.maxLength ?? .max)
    }
}

extension TextAttributes {
    /// What is wrong with a text; `nil` if it is in the domain.
    func problem(with text: String) -> String? {
        if let problem = lengthProblem(text, maxLength: maxLength, bytesMax: bytesMax) {
            return problem
        }
        if let problem = text.controlProblem(allowingNewlineAndTab: isMultiline) { return problem }
        if let pattern, !pattern.matcher.matches(text) { return "must match the pattern" }
        return nil
    }
}

extension SecureAttributes {
    /// What is wrong with a secret, which is never quoted; `nil` if it is in the domain.
    func problem(with text: String) -> String? {
        if let problem = lengthProblem(text, maxLength: maxLength, bytesMax: bytesMax) {
            return problem
        }
        // The message does not name the character, because that would reveal a part of the secret.
        return text.isFreeOfControls() ? nil : "there is a control character in it"
    }
}

extension String {
    /// What is wrong with a text that contains a control character; `nil` if it contains none.
    func controlProblem(allowingNewlineAndTab: Bool = false) -> String? {
        if isFreeOfControls(allowingNewlineAndTab: allowingNewlineAndTab) { return nil }
        let first = unicodeScalars.first { scalar in
            !String(scalar).isFreeOfControls(allowingNewlineAndTab: allowingNewlineAndTab)
        }
        let name =
            switch first {
            case "\n", "\r": "a line break"
            case "\t": "a tab"
            default: "U+" + String(first?.value ?? 0, radix: 16, uppercase: true).padded(to: 4)
            }
        return "there is a control character in it (\(name))"
    }

    private func padded(to count: Int) -> String {
        String(repeating: "0", count: max(0, count - utf8.count)) + self
    }
}

private func lengthProblem(_ text: String, maxLength: Int?, bytesMax: Int) -> String? {
    // Bytes first, because counting the clusters of a very long text is expensive.
    if text.utf8.count > bytesMax {
        let hint = maxLength == nil ? ", the most without a maxLength in the form" : ""
        return "it is longer than \(bytesMax) bytes\(hint)"
    }
    if let maxLength, text.count > maxLength { return "it is longer than \(maxLength) characters" }
    return nil
}
