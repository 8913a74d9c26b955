// Changes without approval: the header shows the newest one for an hour. Only the history says
// which revision is one, so it is searched: from the newest revision back to the last one that was
// searched, and never further than an hour.
//
//     idle ──opened, or a guarded control changed──▶ searching ──a page without one, and more──▶
//       ▲                                              │  ▲         searching (the next page)
//       │        found, or the history is searched     │  │
//       └──────────────────────────────────────────────┘  └─ changed meanwhile: once more

internal import SyncCore

/// The newest change without approval that is known.
struct BrokenGlass: Equatable {
    /// Who made it; `nil` if none is known.
    var by: String?
    var at = Timestamp(milliseconds: 0)
    /// The newest revision that was searched.
    var searched: Revision = 0
    /// The newest revision of the search that is under way.
    var newest: Revision?

    /// How long the header shows it, in milliseconds.
    static let span: Int64 = 3_600_000
    /// The entries of a page.
    static let pageEntries: Int64 = 200

    func text(at now: Timestamp, _ time: (Timestamp) -> String) -> String? {
        guard let by, now.milliseconds < at.milliseconds + Self.span else { return nil }
        return LiveWords.glassBroken(by: by, time(at))
    }
}

extension LiveModel {
    /// Whether somebody may change a control without approval.
    private func canBreak(_ index: Int) -> Bool {
        presentation.definition.controls[index].approval?.breakGlass.principals.isEmpty == false
    }

    /// Searches the newest changes if some of them may be without approval.
    mutating func askForBrokenGlass(_ commands: inout [LiveCommand]) {
        guard mode == .form, presentation.definition.guards.contains(where: canBreak) else {
            return
        }
        askForChanges(before: nil, &commands)
    }

    private mutating func askForChanges(
        before revision: Revision?, _ commands: inout [LiveCommand]
    ) {
        let ask = StateHistory(
            form: presentation.form, before: revision, limit: BrokenGlass.pageEntries)
        self.ask(.stateHistory(ask), .brokenGlass, &commands)
    }

    /// A change may be without approval: only the history says so.
    mutating func glassMayHaveBroken(
        _ changes: [FieldChange], _ commands: inout [LiveCommand]
    ) {
        if presentation.definition.guards.isEmpty { return }
        let isGuarded = changes.indices.contains { place in
            presentation.index(changes[place].field).map(canBreak) ?? false
        }
        if isGuarded { askForBrokenGlass(&commands) }
    }

    mutating func received(changes json: JSON, _ commands: inout [LiveCommand]) {
        // Nothing is known of a page that cannot be read; the next change searches again.
        let page = try? HistoryPage(decoding: json)
        let entries = page?.entries ?? []
        let since = brokenGlass.searched
        brokenGlass.newest = brokenGlass.newest ?? entries.first?.revision
        let found = entries.first { $0.isBreakGlass && $0.revision > since }
        if let found, let at = found.at {
            brokenGlass.by = found.by?.user ?? LiveWords.theDaemon
            brokenGlass.at = at
        } else if let page, page.more, let last = entries.last, last.revision > since,
            let at = last.at, around.clock().milliseconds < at.milliseconds + BrokenGlass.span
        {
            return askForChanges(before: last.revision, &commands)
        }
        brokenGlass.searched = max(since, brokenGlass.newest ?? since)
        brokenGlass.newest = nil
        if takeOutdated(.brokenGlass) { askForBrokenGlass(&commands) }
    }

    /// When the header forgets the change (monotonic nanoseconds).
    var glassTick: UInt64? {
        guard brokenGlass.by != nil else { return nil }
        let left =
            brokenGlass.at.milliseconds + BrokenGlass.span - around.clock().milliseconds
        return left > 0 ? now &+ UInt64(left) * 1_000_000 : nil
    }
}
