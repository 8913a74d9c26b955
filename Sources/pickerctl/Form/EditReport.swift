// The results of edits for a user at a terminal. The daemon may have rounded or limited a number,
// and only the result shows that.

internal import SyncCore

/// Compares the values before and after a transaction.
struct EditReport {
    private let before: [NamedField]
    private let outline: FormOutline

    /// The most characters of a value.
    private static let valueCharactersMax = 40

    /// The values before an edit, read only if the report is printed.
    init?(_ changes: [Change], _ outline: FormOutline, _ session: Session) throws(Failure) {
        guard session.console.isTerminal, !session.console.isQuiet else { return nil }
        self.outline = outline
        before = try session.snapshot(outline.id, changes.map(\.field)).fields
    }

    /// Prints a line for each edited field.
    func print(
        _ changes: [Change], _ result: SetResult, _ console: Console
    ) throws(Failure) {
        var told: [String] = []
        for change in changes where !told.contains(change.field) {
            told.append(change.field)
            guard let was = before[change.field] else { continue }
            try console.safeLine(
                Self.line(change, outline[change.field], was, result.fields[change.field]))
        }
        try console.flush()
    }

    /// One field's line; `now` is `nil` if the edit changed nothing.
    static func line(
        _ change: Change, _ field: FieldOutline?, _ was: FieldState, _ now: FieldState?
    ) -> String {
        if case .press = change.action { return "\(change.field) pressed" }
        guard let now, now.value != was.value || now.isSecretSet != nil else {
            return "\(change.field) \(shown(now ?? was)), "
                + (was.lease != nil && now != nil && now?.lease == nil
                    ? "now permanent" : "unchanged")
                + ending(now) + remark(change.action, field, was, now ?? was)
        }
        if now.isSecretSet != nil {
            return "\(change.field) \(now.isSecretSet == true ? "set" : "cleared")"
        }
        return "\(change.field) \(shown(was)) → \(shown(now))" + ending(now)
            + remark(change.action, field, was, now)
    }

    /// When the value ends, if it does by itself.
    private static func ending(_ now: FieldState?) -> String {
        now?.lease.map { ", \($0.words)" } ?? ""
    }

    /// Why a number is not the requested one.
    private static func remark(
        _ action: Change.Action, _ field: FieldOutline?, _ was: FieldState, _ now: FieldState
    ) -> String {
        guard let number = now.value.numberValue else { return "" }
        let wanted: DecimalNumber? =
            switch action {
            case .value(let value): value.numberValue
            case .increment(let step): was.value.numberValue?.adding(step)
            default: nil
            }
        guard let wanted, wanted != number else { return "" }
        if let max = field?.json["max"]?.numberValue, number == max, max < wanted {
            return ", the highest"
        }
        if let min = field?.json["min"]?.numberValue, number == min, wanted < min {
            return ", the lowest"
        }
        return field?.json["step"] == nil ? "" : ", the step nearest to \(wanted)"
    }

    private static func shown(_ state: FieldState) -> String {
        let text = ValueText.short(state)
        guard text.count > valueCharactersMax else { return text }
        return text.prefix(valueCharactersMax - 1) + "…"
    }
}
