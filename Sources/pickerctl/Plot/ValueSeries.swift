// The values of a control over a window of time, from the history of its form.

internal import SyncCore

/// What a control held, as levels that each hold until the next.
struct ValueSeries {
    /// What a level is.
    enum Axis: Equatable {
        /// The value itself.
        case numbers
        /// The index of one of these names; the first is drawn on top.
        case names([String])
    }

    /// A level from a moment on; `nil` where there is no value.
    struct Step: Equatable {
        var at: Timestamp
        var level: Double?
    }

    /// One value that somebody set.
    struct Change {
        var at: Timestamp
        var revision: Revision
        var value: JSON
        /// What was there before, where the history still has it.
        var was: JSON?
        var user: String?
    }

    let field: FieldOutline
    /// Oldest first.
    let changes: [Change]
    let current: JSON
    let axis: Axis
    let steps: [Step]

    /// The names that have a row of their own; values beyond them share one.
    static let namesMax = 16

    /// A series from `start` on. `changes` are those since `start`, oldest first; `current` is the
    /// value that holds now.
    init(_ field: FieldOutline, changes: [Change], current: JSON, start: Timestamp) {
        self.field = field
        self.changes = changes
        self.current = current
        var values: [(at: Timestamp, value: JSON)] = []
        if changes.isEmpty {
            values.append((start, current))
        } else if let was = changes[0].was {
            values.append((start, was))
        }
        for change in changes {
            // A clock that was set back does not turn the series around.
            values.append((max(change.at, values.last?.at ?? start), change.value))
        }
        if field.isNumber {
            axis = .numbers
            steps = values.map { Step(at: $0.at, level: $0.value.double) }
            return
        }
        let rows = Self.rows(field, values.map(\.value))
        axis = .names(rows.names)
        steps = values.map { at, value in
            Step(
                at: at, level: value.isNull ? nil : Double(rows.row[value] ?? rows.names.count - 1))
        }
    }

    /// The names of values in the order of the options, and the row of each.
    private static func rows(
        _ field: FieldOutline, _ values: [JSON]
    ) -> (names: [String], row: [JSON: Int]) {
        var used = Set(values.filter { !$0.isNull })
        var names: [String] = []
        var row: [JSON: Int] = [:]
        let known =
            field.kind == .toggle
            ? [(JSON.bool(true), "on"), (.bool(false), "off")]
            : field.options.map { ($0.tag, $0.label) }
        let rest = values.map { ($0, ValueText.scalar($0)) }
        for (value, name) in known + rest where used.remove(value) != nil {
            if names.count == namesMax - 1, !used.isEmpty {
                names.append("\(used.count + 1) others")
                break
            }
            row[value] = names.count
            names.append(name)
        }
        return (names, row)
    }

    /// The line above the picture: what it is, and how it stands.
    var heading: String {
        let label = field.label == field.id ? "" : " (\(field.label))"
        let count = changes.count == 1 ? "1 change" : "\(changes.count) changes"
        return "\(field.id)\(label): \(ValueText.short(current)) now, \(count)"
    }
}

extension FieldOutline {
    /// Whether its value is one number.
    var isNumber: Bool { kind == .slider || kind == .stepper || kind == .gauge }

    /// Whether its value has a series that can be drawn: a number, or one of a few names.
    var isPlottable: Bool { isNumber || kind == .toggle || (kind == .picker && !isMultiple) }
}

extension JSON {
    /// A number as the nearest that the processor has.
    fileprivate var double: Double? {
        guard case .number(let number) = self else { return nil }
        return Double(number.description)
    }
}
