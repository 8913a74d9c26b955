// Whether one control's domain is a subset of another's, as `binds` and `sources` require.

/// The subset relation of domains.
enum Inclusion {
    /// Why `control` has a value that `other` does not accept; `nil` if its domain is a subset.
    ///
    /// - Parameter stranger: The place of the first option of a list that can be picked and is none
    ///   of another list that can be.
    static func problem(
        of control: Control, inside other: Control,
        stranger: (_ own: OptionList, _ outer: OptionList) -> Int?
    ) -> String? {
        switch (control.kind, other.kind) {
        case (.picker(let own), .picker(let outer)): problem(own, inside: outer, stranger)
        case (.picker(let own), _): problem(own, inside: other)
        case (.toggle, .toggle): nil
        case (.toggle, .picker(let outer)):
            outer.options.tagType == .boolean && outer.options.count == 2 && !outer.isMultiple
                && !outer.options.options.contains(where: \.isDisabled)
                ? nil : "\(other.id) does not accept both true and false"
        case (.wheels(let own), .wheels(let outer)): problem(own, inside: outer)
        case (.slider, .slider), (.slider, .stepper), (.slider, .gauge), (.stepper, .slider),
            (.stepper, .stepper), (.stepper, .gauge), (.gauge, .slider), (.gauge, .stepper),
            (.gauge, .gauge):
            problemWithNumbers(of: control, inside: other)
        case (.date(let own), .date(let outer)): problem(own, inside: outer)
        case (.text(let own), .text(let outer)): problem(own, inside: outer)
        case (.secure(let own), .secure(let outer)):
            own.bytesMax <= outer.bytesMax ? nil : "its secrets may be longer"
        case (.button, .button): nil
        default: "\(control.type.withArticle) over \(other.type.withArticle) has other values"
        }
    }

    private static func problem(
        _ own: PickerAttributes, inside outer: PickerAttributes,
        _ stranger: (_ own: OptionList, _ outer: OptionList) -> Int?
    ) -> String? {
        if own.isMultiple != outer.isMultiple {
            return own.isMultiple ? "it accepts several tags" : "it accepts one tag, not a list"
        }
        if own.isOptional, !own.isMultiple, !outer.isOptional { return "it accepts null" }
        return stranger(own.options, outer.options).map {
            "it has the option \(FormDefinition.quoted(own.options.options[$0].tag))"
        }
    }

    /// A picker whose options are some values of a control of another type.
    private static func problem(_ own: PickerAttributes, inside other: Control) -> String? {
        if own.isMultiple { return "it accepts several tags" }
        if own.isOptional, !other.defaultValue.isNull { return "it accepts null" }
        let unknown = own.options.options.first { !$0.isDisabled && !admits($0.tag, other) }
        return unknown.map { "it has the option \(FormDefinition.quoted($0.tag))" }
    }

    private static func admits(_ tag: JSON, _ other: Control) -> Bool {
        switch (other.kind, tag) {
        case (.toggle, .bool): true
        case (.text(let text), .string(let string)): text.problem(with: string) == nil
        case (.date(let date), let tag): date.problem(with: tag) == nil
        case (.slider(let slider), .number(let number)):
            slider.domain.contains(number) && slider.domain.snapped(number) == number
        case (.stepper(let stepper), .number(let number)): stepper.domain.contains(number)
        case (.gauge(let gauge), .number(let number)): gauge.domain.contains(number)
        default: false
        }
    }

    private static func problem(
        _ own: WheelsAttributes, inside outer: WheelsAttributes
    ) -> String? {
        guard own.components.map(\.id) == outer.components.map(\.id) else {
            return "it has other components"
        }
        for (mine, theirs) in zip(own.components, outer.components) {
            let isSame =
                tags(mine.options) == tags(theirs.options) && mine.rules.count == theirs.rules.count
                && zip(mine.rules, theirs.rules).allSatisfy { left, right in
                    tags(left.options) == tags(right.options)
                        && left.when.map(\.component) == right.when.map(\.component)
                        && left.when.map(\.tag) == right.when.map(\.tag)
                }
            if !isSame { return "the component \(mine.id) has other rows" }
        }
        return nil
    }

    private static func tags(_ options: OptionList) -> [JSON] {
        options.options.filter { !$0.isDisabled }.map(\.tag)
    }

    private static func problemWithNumbers(
        of control: Control, inside other: Control
    ) -> String? {
        guard let own = control.numberDomain, let outer = other.numberDomain else { return nil }
        if let min = outer.min, own.min.map({ $0 < min }) ?? true {
            return "it goes below \(min)"
        }
        if let max = outer.max, own.max.map({ $0 > max }) ?? true {
            return "it goes above \(max)"
        }
        // A gauge only displays, so its values need not be on the slider's grid.
        if case .slider = other.kind, control.type != .gauge, !own.isOnGrid(of: outer) {
            return "its values lie between the steps"
        }
        return nil
    }

    private static func problem(_ own: DateAttributes, inside outer: DateAttributes) -> String? {
        if own.mode != outer.mode { return "it asks for \(own.mode.rawValue)" }
        if let min = outer.min, own.min.map({ $0.isBefore(min) }) ?? true {
            return "it goes below min"
        }
        if let max = outer.max, own.max.map({ max.isBefore($0) }) ?? true {
            return "it goes above max"
        }
        return own.minuteInterval % outer.minuteInterval == 0
            ? nil : "its minutes lie off the interval"
    }

    private static func problem(_ own: TextAttributes, inside outer: TextAttributes) -> String? {
        if let bound = outer.maxLength, own.maxLength.map({ $0 > bound }) ?? true {
            return "its texts may be longer than \(bound)"
        }
        if own.bytesMax > outer.bytesMax { return "its texts may be longer" }
        if own.isMultiline, !outer.isMultiline { return "its texts may have several lines" }
        if let pattern = outer.pattern, own.pattern?.source != pattern.source {
            return "it has another pattern"
        }
        return nil
    }
}
