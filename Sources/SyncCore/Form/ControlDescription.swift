// A description of a control's domain for errors and `pickerctl describe`.

extension FormDefinition {
    /// What a control accepts: `one of chocolate, vanilla, strawberry`, `a number from 0 to 100 in
    /// steps of 5`.
    public func expectedDescription(of index: Int) -> String {
        switch controls[index].kind {
        case .picker(let picker):
            let list = Self.list(picker.options)
            if picker.isMultiple { return "a list of distinct tags out of " + list }
            return "one of " + list + (picker.isOptional ? ", or null" : "")
        case .wheels(let wheels):
            let components = wheels.components.map { "\($0.id) (one of \(Self.list($0.options)))" }
            return "an object of " + components.joined(separator: ", ")
        case .toggle: return "true or false"
        case .slider(let slider): return slider.domain.inWords(showingStep: true)
        case .stepper(let stepper): return stepper.domain.inWords(showingStep: false)
        case .gauge(let gauge): return gauge.domain.inWords(showingStep: false)
        case .date(let date): return date.inWords
        case .text(let text):
            var words = text.isMultiline ? "a text" : "one line of text"
            if let maxLength = text.maxLength { words += " of at most \(maxLength) characters" }
            if let pattern = text.pattern { words += " that matches \(pattern.source)" }
            return words
        case .secure(let secure):
            guard let maxLength = secure.maxLength else { return "one line of text" }
            return "one line of text of at most \(maxLength) characters"
        case .button: return "a press"
        case .label: return "no value"
        }
    }
}

extension DateAttributes {
    var inWords: String {
        var words = mode.inWords
        switch (min, max) {
        case (let min?, let max?): words += " from \(Self.text(min)) to \(Self.text(max))"
        case (let min?, nil): words += " from \(Self.text(min)) on"
        case (nil, let max?): words += " up to \(Self.text(max))"
        case (nil, nil): break
        }
        return minuteInterval == 1 ? words : words + " in steps of \(minuteInterval) minutes"
    }

    private static func text(_ value: DateValue) -> String {
        FormDefinition.plainText(value.json)
    }
}
