// An upper bound for the size of a form's snapshot, so that no later edit can make a snapshot that
// does not fit in a frame.

/// The size of a snapshot in bytes.
enum SnapshotSize {
    /// Bytes of one field's members except id, value and author: every name and flag, a 64-bit
    /// revision and a timestamp.
    private static let memberBytes = 176
    /// The same for one sibling.
    private static let siblingBytes = 64
    /// A number with 19 digits and 15 decimal places, its sign and its point.
    private static let numberBytes = 40

    /// The most bytes of all fields of a form as JSON text.
    static func bound(_ controls: [Control], limits: FormLimits) -> Int {
        controls.indices.reduce(0) { sum, index in
            let value = valueBytes(index, controls)
            var bytes = controls[index].id.utf8.count + memberBytes + limits.authorBytesMax + value
            if controls[index].conflictPolicy == .ask {
                bytes +=
                    ConflictPolicy.siblingsMax * (value + limits.authorBytesMax + siblingBytes)
            }
            return sum + bytes
        }
    }

    private static func valueBytes(_ index: Int, _ controls: [Control]) -> Int {
        let own = valueBytes(of: controls[index].kind)
        switch controls[index].storage {
        case .binds(let other): return max(own, valueBytes(of: controls[other].kind))
        case .sources(let others):
            return others.reduce(own) { max($0, valueBytes(of: controls[$1].kind)) }
        case .own, .none: return own
        }
    }

    private static func valueBytes(of kind: ControlKind) -> Int {
        switch kind {
        case .picker(let picker):
            picker.isMultiple
                ? picker.options.options.reduce(2) { $0 + $1.tag.encoded.count + 1 }
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
        options.options.reduce(4) { max($0, $1.tag.encoded.count) }
    }
}
