// `pickerctl history --plot`: values over time as a picture, or as numbers.

internal import Glibc
internal import PickerClient
internal import SyncCore
internal import TerminalUI

/// The pictures of a history.
struct HistoryPlot {
    let session: Session
    let form: String
    let since: HistorySince?
    let output: HistoryOutput

    /// The revisions that are read of each field at most.
    static let revisionsMax = 10_000

    /// Draws the fields that names and patterns mean.
    func draw(_ names: [FieldName]) throws(Failure) {
        let outline = try session.outline(form)
        let fields = try session.fields(names, in: outline) { $0.isPlottable }
        for field in fields where !field.isPlottable { throw .notPlottable(field) }
        let snapshot = try session.snapshot(form, fields.map(\.id))
        let now = LocalTime.now
        let limit = since?.moment(before: now)
        var histories: [[ValueSeries.Change]] = []
        for field in fields { histories.append(try changes(of: field.id, since: limit)) }
        let window = Self.window(since: limit, histories.compactMap { $0.first?.at }.min(), now)
        let allSeries = zip(fields, histories).map { field, changes in
            ValueSeries(
                field, changes: changes, current: snapshot.fields[field.id]?.value ?? .null,
                start: window.lowerBound)
        }
        switch output {
        case .csv: try writeNumbers(allSeries)
        case .svg: try session.console.text(SVGPlot().document(allSeries, window))
        case .text, .json: try drawText(allSeries, window)
        }
        try session.console.flush()
    }

    /// From the moment that was asked for, else from shortly before the first change, else the last
    /// hour; at least ten seconds long.
    private static func window(
        since: Timestamp?, _ first: Timestamp?, _ now: Timestamp
    ) -> ClosedRange<Timestamp> {
        var begin = now.milliseconds - 3_600_000
        if let since {
            begin = since.milliseconds
        } else if let first {
            begin = first.milliseconds - (now.milliseconds - first.milliseconds) / 20
        }
        return Timestamp(milliseconds: min(begin, now.milliseconds - 10_000))...now
    }

    /// What was set, oldest first.
    private func changes(
        of field: String, since: Timestamp?
    ) throws(Failure) -> [ValueSeries.Change] {
        var changes: [ValueSeries.Change] = []
        var before: Int64?
        var looked = 0
        while true {
            let request = StateHistory(form: form, field: field, before: before, limit: 1_000)
            let page = try session.historyPage(request)
            looked += page.entries.count
            for entry in page.entries {
                guard let at = entry.at else { continue }
                if let since, at < since { return changes.reversed() }
                for change in entry.changes
                where change.field.isSameBytes(as: field) && change.lost == nil {
                    changes.append(
                        ValueSeries.Change(
                            at: at, revision: entry.revision, value: change.value ?? .null,
                            was: change.was, user: entry.by?.name(on: session.host)))
                }
            }
            guard page.more, let last = page.entries.last else { return changes.reversed() }
            if looked >= Self.revisionsMax {
                session.console.note(
                    "\(field): only the newest \(changes.count) changes; choose a shorter --since")
                return changes.reversed()
            }
            before = last.revision
        }
    }

    private func drawText(
        _ allSeries: [ValueSeries], _ window: ClosedRange<Timestamp>
    ) throws(Failure) {
        let plot = TextPlot(
            columns: min(Self.columns(), 200),
            charset: Charset { environmentVariable($0) })
        for (number, series) in allSeries.enumerated() {
            if number > 0 { try session.console.line("") }
            for line in plot.lines(series, window, session.console) {
                try session.console.line(line)
            }
        }
    }

    /// The width of the terminal, else of `$COLUMNS`, else 80: ioctl_tty(2), environ(7).
    private static func columns() -> Int {
        var window = winsize()
        if ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0 {
            return max(40, Int(window.ws_col))
        }
        return max(40, environmentVariable("COLUMNS").flatMap { Int($0) } ?? 80)
    }

    /// RFC 4180, with a heading: a change a line, oldest first.
    private func writeNumbers(_ allSeries: [ValueSeries]) throws(Failure) {
        try session.console.text("at,revision,field,value,user\r\n")
        for series in allSeries {
            for change in series.changes {
                let cells = [
                    change.at.description, "\(change.revision)", series.field.id,
                    ValueText.bare(change.value), change.user ?? "",
                ]
                let line = Table.joined(cells.map(Self.cell), by: ",")
                // In a file a value is as it was set.
                let isShown = session.console.isTerminal
                try session.console.text(
                    (isShown ? line.escapedForDisplay(keepingNewlineAndTab: true) : line) + "\r\n")
            }
        }
    }

    private static func cell(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy {
            $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\"") && $0 >= 0x20
        }
        if isPlain { return text }
        return "\""
            + Table.joined(
                text.split(separator: "\"", omittingEmptySubsequences: false).map(String.init),
                by: "\"\"") + "\""
    }
}
