// An upper bound for the size of a form's snapshot, so that no later edit can make a snapshot that
// does not fit in a frame.

enum SnapshotSize {
    /// Bytes of one field's members except id, value and author: every name and flag, a 64-bit
    /// revision and a timestamp.
    private static let memberBytes = 176
    /// The same for one sibling.
    private static let siblingBytes = 64
    /// A number with 19 digits and 15 decimal places, its sign and its point.
    private static let numberBytes = 40

    /// The same for one run, its text included.
    private static let runBytes = 160 + 2 * RequestBounds().textBytesMax

    /// The most bytes of all fields of a form as JSON text.
    static func bound(_ controls: [Control], limits: FormLimits) -> Int {
        let own = controls.indices.map { valueBytes(of: controls[$0].kind) }
        // A subscriber gets the proposals that wait together with the values.
        let isGuarded = controls.indices.contains { controls[$0].approval != nil }
        let proposals = isGuarded ? limits.proposalBytesMax : 0
        return controls.indices.reduce(proposals) { sum, index in
            let value = valueBytes(index, controls[index].storage, own)
            var bytes = controls[index].id.utf8.count + memberBytes + limits.authorBytesMax + value
            if controls[index].conflictPolicy == .ask {
                bytes +=
                    ConflictPolicy.siblingsMax * (value + limits.authorBytesMax + siblingBytes)
            }
            let root = controls[index].storageRoots.first ?? index
            if controls[root].runs != nil {
                bytes += (RunRules.atOnceMax + 1) * (2 * limits.authorBytesMax + runBytes)
            }
            return sum + bytes
        }
    }

    private static func valueBytes(
        _ index: Int, _ storage: Control.Storage, _ own: [Int]
    ) -> Int {
        switch storage {
        case .binds(let other): max(own[index], own[other])
        case .sources(let others): others.reduce(own[index]) { max($0, own[$1]) }
        case .own, .none: own[index]
        }
    }

    private static func valueBytes(of kind: ControlKind) -> Int {
        switch kind {
        case .picker(let picker):
            picker.isMultiple
                ? tagBytes(picker.options).reduce(2) { $0 + $1 + 1 }
                : longestTag(picker.options)
        case .wheels(let wheels):
            wheels.components.reduce(2) { sum, component in
                let lists = [component.options] + component.rules.map(\.options)
                return sum + component.id.utf8.count + 4 + (lists.map(longestTag).max() ?? 4)
            }
        case .toggle: 5
        case .slider, .stepper, .gauge: numberBytes
        case .date: 18
        // A cluster has at most one character that JSON escapes, which costs one more byte.
        case .text(let text): text.bytesMax + min(text.bytesMax, text.maxLength ?? .max) + 2
        case .secure: 32
        case .button: 34
        case .label: 4
        }
    }

    private static func longestTag(_ options: OptionList) -> Int {
        tagBytes(options).reduce(4, max)
    }

    /// Bytes of each tag as JSON text.
    private static func tagBytes(_ options: OptionList) -> [Int] {
        var writer = JSONWriter()
        return options.options.map { option in
            if case .number(let number) = option.tag, let whole = number.integer {
                return whole.digits
            }
            writer.removeAll()
            writer.value(option.tag)
            return writer.count
        }
    }
}
