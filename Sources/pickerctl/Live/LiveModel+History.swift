// The history of a control: a plot of its value over the last hour, and who set what.

internal import SyncCore
internal import TerminalUI

/// The page with the history of a control.
struct FieldHistory: Equatable {
    let field: String
    /// Newest first; `nil` until the daemon has answered.
    var entries: [HistoryPage.Entry]?
    /// Whether the daemon has older entries.
    var hasMore = false
    /// The end of the series.
    var until = Timestamp(milliseconds: 0)
    var scroll = ScrollState()

    /// The entries that are asked for.
    static let entriesMax: Int64 = 200
    /// The length of the series in milliseconds.
    static let span: Int64 = 3_600_000
}

extension LiveModel {
    mutating func openHistory(_ commands: inout [LiveCommand]) {
        guard mode == .form, let field = focusedField else { return }
        page = .history(FieldHistory(field: field))
        askForHistory(of: field, &commands)
        if !isOnline { say(LiveWords.askedLater) }
    }

    private mutating func askForHistory(of field: String, _ commands: inout [LiveCommand]) {
        let ask = StateHistory(
            form: presentation.form, field: field, before: nil, limit: FieldHistory.entriesMax)
        self.ask(.stateHistory(ask), .history(field), &commands)
    }

    mutating func received(
        history json: JSON, of field: String, _ commands: inout [LiveCommand]
    ) {
        let isOutdated = takeOutdated(.history(field))
        guard case .history(var history) = page, history.field == field,
            let answer = try? HistoryPage(decoding: json)
        else { return }
        history.entries = answer.entries
        history.hasMore = answer.more
        history.until = around.clock()
        page = .history(history)
        if isOutdated { askForHistory(of: field, &commands) }
    }

    /// The field of an open history may have changed.
    mutating func historyChanged(_ changes: [FieldChange], _ commands: inout [LiveCommand]) {
        guard case .history(let history) = page,
            changes.contains(where: { $0.field == history.field })
        else { return }
        askForHistory(of: history.field, &commands)
    }

    /// Asks for what may change: once at a time, and again after the answer if it has changed
    /// meanwhile.
    mutating func ask(
        _ question: Request, _ purpose: Purpose, _ commands: inout [LiveCommand]
    ) {
        guard purposes.values.contains(purpose) else {
            return request(question, purpose, &commands)
        }
        if !outdated.contains(purpose) { outdated.append(purpose) }
    }

    /// Whether what was just answered has changed since it was asked for.
    mutating func takeOutdated(_ purpose: Purpose) -> Bool {
        guard let place = outdated.firstIndex(of: purpose) else { return false }
        outdated.remove(at: place)
        return true
    }

    mutating func historyKey(_ event: KeyEvent, _ history: FieldHistory) {
        let content = historyLines(history, around.environment)
        guard let scroll = scrolled(history.scroll, content, event) else {
            page = .form
            return
        }
        var history = history
        history.scroll = scroll
        page = .history(history)
    }

    /// The place on a page of lines after a key; `nil` for a key that closes the page.
    func scrolled(_ scroll: ScrollState, _ lines: Column, _ event: KeyEvent) -> ScrollState? {
        var scroll = scroll
        let content = lines.measure(width: formColumns - 3).lines
        let window = geometry.window.lines
        switch around.keys[event] {
        case .up?: scroll.scroll(by: -1, content: content, window: window)
        case .down?: scroll.scroll(by: 1, content: content, window: window)
        case .pageUp?: scroll.scroll(by: -window, content: content, window: window)
        case .pageDown?, .act?: scroll.scroll(by: window, content: content, window: window)
        default: return nil
        }
        return scroll
    }

    // MARK: Drawing

    func draw(
        _ history: FieldHistory, into canvas: inout Canvas, in window: Rect,
        _ environment: StyleEnvironment
    ) {
        draw(
            historyLines(history, environment), history.scroll, into: &canvas, in: window,
            environment)
    }

    /// A page of lines. A text that touches the scroll bar would look like a part of it.
    func draw(
        _ lines: Column, _ scroll: ScrollState, into canvas: inout Canvas, in window: Rect,
        _ environment: StyleEnvironment
    ) {
        Viewport(
            scroll, lines: window.lines, environment: environment, Padding(right: 1, lines)
        ).render(into: &canvas, in: window)
    }

    private func historyLines(_ history: FieldHistory, _ environment: StyleEnvironment) -> Column {
        let roles = environment.roles
        var lines: [any Block] = [
            StyledText(LiveWords.history(title(of: history.field)), roles.heading).truncated()
        ]
        guard let index = presentation.index(history.field), let entries = history.entries else {
            return Column(lines + [StyledText(LiveWords.asking, roles.dim)])
        }
        if let picture = series(of: index, history, entries) {
            lines += picture.rows.map {
                StyledText($0.label, roles.dim).appending($0.dots, roles.heading).truncated()
            }
            lines += picture.axis.map { StyledText($0, roles.dim).truncated() }
            lines.append(StyledText(""))
        }
        if entries.isEmpty { lines.append(StyledText(LiveWords.nobodySetIt, roles.dim)) }
        for entry in entries {
            for change in entry.changes where change.field == history.field {
                lines.append(line(change, entry, index, environment))
            }
        }
        if history.hasMore {
            let words = LiveWords.older(presentation.form, history.field)
            lines.append(StyledText(words, roles.dim).truncated())
        }
        return Column(lines)
    }

    /// When, who, and from what to what.
    private func line(
        _ change: HistoryPage.Change, _ entry: HistoryPage.Entry, _ index: Int,
        _ environment: StyleEnvironment
    ) -> any Block {
        let roles = environment.roles
        let peer = presentation.peer(entry.by)
        let arrow = environment.glyphs.isASCII ? "->" : "→"
        var text = change.run?.sentence ?? ""
        if change.run == nil {
            if let was = change.was, change.lost == nil {
                text += "\(Self.brief(valueText(was, of: index))) \(arrow) "
            }
            text +=
                (change.lost ?? change.value).map { Self.brief(valueText($0, of: index)) }
                ?? Template.dash
        }
        if change.isConcurrent {
            text += LiveWords.concurrent(isKept: change.lost == nil)
        }
        if entry.kind != "set", change.run == nil { text += "  \(entry.kind)" }
        return StyledText(entry.at.map { around.localTime($0) } ?? "", roles.dim)
            .appending("  ", roles.dim)
            .appending(
                peer?.name ?? ControlWords.you, peer.map { roles.peer($0.number) } ?? roles.text
            )
            .appending("  \(text)", roles.text).truncated()
    }

    /// The series of the value over the last hour; `nil` for a control without one.
    private func series(
        of index: Int, _ history: FieldHistory, _ entries: [HistoryPage.Entry]
    ) -> PlotPicture? {
        guard let field = FormOutline(presentation.definition.json)[history.field],
            field.isPlottable, !entries.isEmpty
        else { return nil }
        let until = history.until.milliseconds
        let start = Timestamp(milliseconds: until - FieldHistory.span)
        let changes = entries.reversed().flatMap { entry in
            entry.changes.compactMap { change -> ValueSeries.Change? in
                guard change.field == history.field, change.lost == nil, let at = entry.at,
                    at >= start
                else { return nil }
                return ValueSeries.Change(
                    at: at, revision: entry.revision, value: change.value ?? .null,
                    was: change.was, user: entry.by?.name(on: presentation.host))
            }
        }
        let series = ValueSeries(
            field, changes: changes, current: presentation.shown(index).value, start: start)
        let plot = TextPlot(
            columns: min(formColumns - 3, 80),
            charset: around.environment.glyphs.isASCII ? .ascii : .unicode)
        return plot.picture(series, start...Timestamp(milliseconds: until))
    }
}
