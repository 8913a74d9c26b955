// The attributes of each type of control. Templates are read as text here; their names are looked
// up with the other references.

extension FormParser {
    /// The attributes of a type; `nil`, with an issue, if they are not a valid domain.
    mutating func kind(of type: ControlType, _ field: Members) -> ControlKind? {
        switch type {
        case .picker: picker(field)
        case .wheels: wheels(field)
        case .toggle: .toggle
        case .slider: slider(field)
        case .stepper: stepper(field)
        case .date: date(field)
        case .text: text(field)
        case .secure: .secure(secure(field))
        case .gauge: gauge(field)
        case .button: .button(button(field))
        case .label: requiredString(field, "text").map { .label(Template(source: $0, parts: [])) }
        }
    }

    private mutating func template(_ members: Members, _ name: String) -> Template? {
        string(members, name).map { Template(source: $0, parts: []) }
    }

    private mutating func button(_ field: Members) -> ButtonAttributes {
        ButtonAttributes(
            role: choice(field, "role", among: ButtonAttributes.Role.allCases),
            confirm: string(field, "confirm"), runs: runs(field))
    }

    // MARK: Pickers

    private mutating func picker(_ field: Members) -> ControlKind? {
        let isOptional = bool(field, "optional") ?? false
        let isMultiple = bool(field, "multiple") ?? false
        let label = template(field, "currentValueLabel")
        let effect = selectionEffect(field)
        let height = integer(field, "wheelItemHeight", in: 1...1000)
        let layout = choice(field, "layout", among: Layout.allCases)
        guard let options = knownOptions(field) ?? options(field, "options") else { return nil }
        return .picker(
            PickerAttributes(
                options: options, isOptional: isOptional, isMultiple: isMultiple,
                currentValueLabel: label, selectionEffect: effect, wheelItemHeight: height,
                isHorizontal: layout == .horizontal))
    }

    private enum Layout: String, CaseIterable {
        case horizontal, vertical
    }

    private mutating func selectionEffect(_ field: Members) -> PickerAttributes.SelectionEffect {
        guard let json = field["selectionEffect"] else { return .automatic }
        let place = field.place(of: "selectionEffect")
        switch json {
        case .string("automatic"): return .automatic
        case .string("custom"): return .custom
        case .object(let object) where object["symbolVariant"] != nil:
            let members = Members(object: object, place: place)
            checkKeys(members, ["symbolVariant"], owner: "a selection effect")
            let variants = PickerAttributes.SymbolVariant.allCases
            return choice(members, "symbolVariant", among: variants)
                .map { .symbolVariant($0) } ?? .automatic
        default:
            issue(
                place, "found \(FormDefinition.quoted(json))",
                expected: "automatic, custom or {symbolVariant: slash}")
            return .automatic
        }
    }

    // MARK: Numbers

    /// Bounds and step; `nil` if they are not a valid range.
    private mutating func domain(
        _ field: Members, min minDefault: DecimalNumber?, max maxDefault: DecimalNumber?,
        step stepDefault: DecimalNumber?
    ) -> NumberDomain? {
        let count = issues.count
        let written = ["min", "max", "step"].map { (name: $0, number: number(field, $0)) }
        for (name, number) in written {
            guard let number, !Self.isCountable(number) else { continue }
            issue(
                field.place(of: name), "\(number) is too large to count in",
                expected: "a number below 10^22")
        }
        let min = written[0].number ?? minDefault
        let max = written[1].number ?? maxDefault
        if let min, let max, min > max {
            let name = field["max"] == nil ? "min" : "max"
            issue(
                field.place(of: name),
                "min \(min) is greater than max \(max)"
                    + (name == "min" ? ", the default" : ""),
                expected: name == "max" ? "a number from \(min) on" : "a number up to \(max)")
        }
        if let step = written[2].number, step <= .zero {
            issue(
                field.place(of: "step"), "the step \(step) leads nowhere",
                expected: "a number above 0")
        }
        guard issues.count == count else { return nil }
        return NumberDomain(
            min: min, max: max, step: written[2].number ?? stepDefault,
            fractionDigits: written.compactMap { $0.number?.fractionDigits }.max() ?? 0)
    }

    /// Whether 128 bits are enough for sums of such numbers at the finest exponent, 10^-15.
    private static func isCountable(_ number: DecimalNumber) -> Bool {
        guard let digits = number.scaled(to: -DecimalNumber.exponentMax) else { return false }
        return digits.magnitude <= UInt128(Int128.max) / 16
    }

    private mutating func slider(_ field: Members) -> ControlKind? {
        let minLabel = string(field, "minLabel")
        let maxLabel = string(field, "maxLabel")
        let format = template(field, "format")
        guard let domain = domain(field, min: .zero, max: DecimalNumber(1), step: nil) else {
            return nil
        }
        return .slider(
            SliderAttributes(
                domain: domain, minLabel: minLabel, maxLabel: maxLabel,
                ticks: ticks(field, domain), format: format))
    }

    private mutating func ticks(
        _ field: Members, _ domain: NumberDomain
    ) -> SliderAttributes.Ticks? {
        guard let json = field["ticks"] else { return nil }
        let expected = "true, a count from 2 to 100, or a list of values"
        let place = field.place(of: "ticks")
        switch json {
        case .bool(let flag):
            if flag, domain.step == nil {
                issue(
                    place, "ticks need a step, and the slider has none",
                    expected: "a step, a count from 2 to 100, or a list of values")
            }
            return flag ? .steps : nil
        case .number(let number):
            if let count = number.integer, (2...100).contains(count) { return .count(Int(count)) }
            issue(place, "found \(number)", expected: expected)
        case .array:
            var values: [DecimalNumber] = []
            for (element, place) in elements(json, at: place) {
                if let number = element.numberValue, domain.contains(number) {
                    values.append(number)
                } else {
                    issue(
                        place, "\(FormDefinition.quoted(element)) is not a value of the slider",
                        expected: domain.inWords(showingStep: false))
                }
            }
            return .at(values.sorted())
        default:
            issue(place, "found \(FormDefinition.described(json))", expected: expected)
        }
        return nil
    }

    private mutating func stepper(_ field: Members) -> ControlKind? {
        let wraps = bool(field, "wraps") ?? false
        let format = template(field, "format")
        guard let domain = domain(field, min: nil, max: nil, step: DecimalNumber(1)) else {
            return nil
        }
        if wraps, domain.min == nil || domain.max == nil {
            issue(
                field.place(of: "wraps"), "a stepper that wraps needs two ends",
                expected: "min and max")
        }
        return .stepper(StepperAttributes(domain: domain, wraps: wraps, format: format))
    }

    private mutating func gauge(_ field: Members) -> ControlKind? {
        var gauge = GaugeAttributes(
            domain: NumberDomain(min: nil, max: nil, step: nil, fractionDigits: 0),
            minLabel: string(field, "minLabel"), maxLabel: string(field, "maxLabel"),
            currentValueLabel: template(field, "currentValueLabel"))
        if let json = field["thresholds"] {
            for (element, place) in elements(json, at: field.place(of: "thresholds")) {
                if let threshold = threshold(element, at: place) {
                    gauge.thresholds.append(threshold)
                }
            }
            gauge.thresholds.sort { $0.from < $1.from }
        }
        guard let domain = domain(field, min: .zero, max: DecimalNumber(1), step: nil) else {
            return nil
        }
        gauge.domain = domain
        return .gauge(gauge)
    }

    private mutating func threshold(_ json: JSON, at place: Place) -> GaugeAttributes.Threshold? {
        guard let members = object(json, at: place, expected: "{from: 80, tint: red}") else {
            return nil
        }
        checkKeys(members, ["from", "tint"], owner: "a threshold")
        for name in ["from", "tint"] where members[name] == nil {
            issue(place, "\(name) is missing", expected: "{from: 80, tint: red}")
        }
        guard let from = number(members, "from"), let tint = tint(members) else { return nil }
        return GaugeAttributes.Threshold(from: from, tint: tint)
    }

    // MARK: Dates

    private mutating func date(_ field: Members) -> ControlKind? {
        var date = DateAttributes(mode: dateMode(field))
        date.min = bound(field, "min", date.mode)
        date.max = bound(field, "max", date.mode)
        if let min = date.min, let max = date.max, max.isBefore(min) {
            issue(
                field.place(of: "max"),
                "max \(Self.text(max)) comes before min \(Self.text(min))",
                expected: "\(date.mode.inWords) from \(Self.text(min)) on")
        }
        if let minutes = integer(field, "minuteInterval", in: 1...60) {
            if !date.mode.hasMinutes {
                issue(
                    field.place(of: "minuteInterval"),
                    "a \(date.mode == .date ? "date" : "month") has no minutes",
                    expected: "a mode with a time, or a countdown")
            } else if 60 % minutes != 0 {
                issue(
                    field.place(of: "minuteInterval"), "\(minutes) does not divide 60",
                    expected: "one of 1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30 or 60")
            } else {
                date.minuteInterval = minutes
            }
        }
        if let zone = string(field, "zone") {
            if Self.isZoneName(zone) {
                date.zone = zone
            } else {
                issue(
                    field.place(of: "zone"),
                    "\(FormDefinition.quoted(.string(zone))) is not a time zone",
                    expected: "a name such as Europe/Berlin")
            }
        }
        return .date(date)
    }

    private mutating func bound(_ field: Members, _ name: String, _ mode: DateMode) -> DateValue? {
        guard let json = field[name] else { return nil }
        if let value = DateValue(json, mode: mode) { return value }
        issue(
            field.place(of: name), "\(FormDefinition.quoted(json)) is not a \(mode.noun)",
            expected: mode.inWords)
        return nil
    }

    private static func text(_ value: DateValue) -> String { FormDefinition.plainText(value.json) }

    /// `mode`, or the mode that `components` name; both by default, as in SwiftUI's DatePicker.
    private mutating func dateMode(_ field: Members) -> DateMode {
        let mode = choice(field, "mode", among: DateMode.allCases)
        guard let json = field["components"] else { return mode ?? .dateAndTime }
        let place = field.place(of: "components")
        if field["mode"] != nil {
            issue(place, "mode and components are both set", expected: "either mode or components")
        }
        var names: Set<String> = []
        for (element, place) in elements(json, at: place) {
            if let name = element.stringValue, name == "date" || name == "time" {
                if !names.insert(name).inserted {
                    issue(place, "\(name) is in the list twice", expected: "date, time or both")
                }
            } else {
                issue(
                    place, "found \(FormDefinition.quoted(element))",
                    expected: "date or time")
            }
        }
        if case .array(let written) = json, written.isEmpty {
            issue(place, "the list is empty", expected: "date, time or both")
        }
        return names.count == 2 ? .dateAndTime : names.contains("time") ? .time : .date
    }

    private static func isZoneName(_ name: String) -> Bool {
        guard name.utf8.count <= 64 else { return false }
        let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.allSatisfy { part in
            part.first.map { isLetter($0) } ?? false
                && part.allSatisfy {
                    isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                        || [UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "-")].contains($0)
                }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    // MARK: Texts

    private mutating func text(_ field: Members) -> ControlKind {
        let length = length(field)
        var text = TextAttributes(
            prompt: string(field, "prompt"), maxLength: length.max, bytesMax: length.bytesMax)
        text.isMultiline = bool(field, "multiline") ?? false
        if let source = string(field, "pattern") {
            // The rest is not checked, because compiling a pattern takes long.
            if patternBytes > limits.patternBytesMax { return .text(text) }
            switch compile(source) {
            case .success(let matcher):
                patternBytes += matcher.compiledBytes
                if patternBytes > limits.patternBytesMax {
                    issue(
                        field.place(of: "pattern"),
                        "the patterns of this form take more than \(limits.patternBytesMax) bytes",
                        expected: "shorter repeats, or fewer patterns")
                    break
                }
                text.pattern = TextAttributes.Pattern(source: source, matcher: matcher)
            case .failure(let error):
                issue(
                    field.place(of: "pattern"),
                    "\(error.message) at byte \(error.offsetBytes)",
                    expected: "a regular expression (PCRE2)")
            }
        }
        return .text(text)
    }

    private mutating func secure(_ field: Members) -> SecureAttributes {
        let length = length(field)
        return SecureAttributes(
            prompt: string(field, "prompt"), maxLength: length.max, bytesMax: length.bytesMax)
    }

    /// The most clusters and bytes of a text.
    ///
    /// The snapshot needs a limit, but a cluster has none. The longest emoji of Unicode's list
    /// takes 35 bytes (two people, a heart, a kiss and two skin tones: emoji-test.txt), so each of
    /// the first 256 clusters may have as many. After those it is 16 bytes on average.
    private mutating func length(_ field: Members) -> (max: Int?, bytesMax: Int) {
        guard let max = integer(field, "maxLength", in: 1...Int64(1 << 20)) else {
            return (nil, limits.textBytesMax)
        }
        return (max, max * 16 + Swift.min(max, 256) * 20 + 256)
    }
}
