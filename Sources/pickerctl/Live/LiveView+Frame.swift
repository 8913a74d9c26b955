// The parts around the form: title, people, banners, the line of words, and pages of lists.

internal import PickerClient
internal import SyncCore
internal import TerminalUI

extension LiveModel {
    // MARK: Above

    func header(_ environment: StyleEnvironment) -> Row {
        let roles = environment.roles
        let title = StyledText(
            " " + (presentation.definition.title ?? presentation.form), roles.heading)
        // A long title is cut to leave space for the people.
        let here = presence(environment, space: formColumns - title.columns - 4)
        let width = here.reduce(0) { $0 + $1.measure(width: formColumns).columns + 2 }
        let columns = max(1, min(title.columns, formColumns - width - 4))
        return Row(spacing: 2) {
            Framed(columns: columns, .leading, title.truncated())
            Spacer()
            here
            StyledText("")
        }
    }

    /// The rule below the title and above the footer.
    func rule(_ environment: StyleEnvironment) -> StyledText {
        let rule = String(repeating: environment.glyphs.rule, count: max(0, formColumns - 3))
        return StyledText(" " + rule, environment.roles.border).truncated()
    }

    /// What needs attention, the people who have the form open (by name if there is space), and
    /// whether there is a daemon.
    private func presence(_ environment: StyleEnvironment, space: Int) -> [any Block] {
        let roles = environment.roles
        let glyphs = environment.glyphs
        switch presentation.link {
        case .connecting: return [StyledText("\(LiveWords.connecting) \(glyphs.more)", roles.dim)]
        case .lost: return [StyledText(LiveWords.offline, roles.warning.adding(.bold))]
        case .deleted, .refused: return []
        case .online: break
        }
        var space = space
        var parts: [any Block] = []
        let conflicts = conflicted.count
        if conflicts > 0 {
            let text = "\(glyphs.conflict) \(LiveWords.count(conflicts, "conflict"))"
            parts.append(
                Target(.command("conflict"), StyledText(text, roles.warning.adding(.bold))))
            space -= DisplayWidth.columns(of: text) + 2
        }
        for texts in attention {
            // Who else is there must fit too.
            let room = space - 10
            let text = texts.first { DisplayWidth.columns(of: $0) <= room } ?? texts.last ?? ""
            parts.append(
                Target(
                    .command("proposals"),
                    StyledText(text, roles.warning.adding(.bold)).truncated()))
            space -= DisplayWidth.columns(of: text) + 2
        }
        let live =
            isAnswerMissed
            ? StyledText("\(glyphs.more) \(LiveWords.noAnswerYet)", roles.warning.adding(.bold))
            // The mark of what is checked in ASCII is that of somebody who is here.
            : StyledText(
                glyphs.isASCII ? LiveWords.live : "\(glyphs.check) \(LiveWords.live)", roles.dim)
        let names = self.people(space: space, environment)
        let hasLive =
            isAnswerMissed || space >= 24 || names.columns + live.columns + 4 <= space
        if hasLive { space -= live.columns + 2 }
        let people = self.people(space: space - 2, environment)
        // That nobody else is here is worth less than a title that is whole without it.
        let hidesTitle = space >= 0 && people.columns + 2 > space
        if !presentation.others.isEmpty || !hidesTitle {
            parts.append(Target(.command("people"), people.truncated()))
        }
        if hasLive { parts.append(live) }
        return parts
    }

    private func people(space: Int, _ environment: StyleEnvironment) -> StyledText {
        let roles = environment.roles
        let glyphs = environment.glyphs
        if presentation.others.isEmpty { return StyledText(LiveWords.onlyYou, roles.dim) }
        var names = StyledText("")
        for (number, other) in presentation.others.enumerated() {
            if number > 0 { names = names.appending("  ") }
            names = names.appending(
                "\(glyphs.dot) \(other.peer.name)", roles.peer(other.peer.number))
        }
        if names.columns <= space { return names }
        let count = presentation.others.count
        return StyledText("\(glyphs.dot) \(LiveWords.others(count))", roles.peer(0))
    }

    /// The banners.
    func banner(_ environment: StyleEnvironment) -> FittingText? {
        let texts: [String]
        switch presentation.link {
        case .connecting, .online:
            guard let keptBanner else {
                guard let awayBanner else { return nil }
                texts = awayBanner
                break
            }
            let brief = LiveWords.keptBrief(kept.edits.count)
            texts = [keptBanner, joined([brief, around.keys.name(of: .kept)])]
        case .lost(let reason):
            texts = LiveWords.away(reason, waiting: presentation.waitingEdits)
        case .deleted:
            texts = [
                keptBanner.map { "\(LiveWords.noForm(presentation.form)); \($0)" }
                    ?? LiveWords.formIsDeleted
            ]
        case .refused(let reason): texts = [reason]
        }
        let style = environment.roles.warning.adding([.bold, .reverse])
        return FittingText(texts.map { StyledText(" \($0) ", style) })
    }

    /// Which hosts are away: the long text and shorter ones; `nil` if none is.
    var awayBanner: [String]? {
        let away = presentation.hostsAway
        guard let first = away.first else { return nil }
        return LiveWords.cutOff(
            from: away.map(\.host), since: around.localTime(first.since))
    }

    // MARK: Below

    /// The lines below the form: a rule, a line of text and a line of keys; one line of either if
    /// the screen is low.
    func footer(_ environment: StyleEnvironment, _ drawn: inout DrawnParts) -> DrawnColumn {
        let columns = formColumns
        var lines = DrawnColumn(columns: columns)
        let words = words
        if isRoomy {
            lines.append(drawn.drawing(of: .rule, columns: columns) { rule(environment) })
        }
        if isRoomy || words.kind != .about {
            lines.append(
                drawn.drawing(of: .words(words), columns: columns) { said(words, environment) })
        }
        if isRoomy || words.kind == .about {
            lines.append(drawn.drawing(of: hintsLook, columns: columns) { hintLine(environment) })
        }
        return lines
    }

    func said(_ words: WordsLook, _ environment: StyleEnvironment) -> FittingText {
        let roles = environment.roles
        let style =
            switch words.kind {
            case .question: roles.warning.adding(.bold)
            case .choice: roles.accent
            case .error: roles.error
            case .note: roles.text
            case .about: roles.dim
            }
        return FittingText(words.texts.map { StyledText(" " + $0, style) })
    }

    // MARK: Other pages

    func people(_ environment: StyleEnvironment) -> Column {
        let roles = environment.roles
        return Column {
            StyledText(LiveWords.whoIsHere, roles.heading)
            StyledText("  " + LiveWords.you(presentation.user), roles.text)
            for other in presentation.others {
                let place = other.wire.focus.map { LiveWords.at(title(of: $0)) } ?? ""
                let tty = other.wire.tty.map { LiveWords.on($0) } ?? ""
                StyledText(
                    "\(environment.glyphs.dot) "
                        + UserName.text(other.wire.user, host: other.wire.host),
                    roles.peer(other.peer.number)
                )
                .appending("\(tty)  ", roles.dim).appending(place, roles.text).truncated()
            }
        }
    }

    func find(_ list: OpenList, _ environment: StyleEnvironment) -> PickerPage {
        listPage(LiveWords.findControl, list, findable, environment)
    }

    /// A list on the whole page.
    func listPage(
        _ title: String, _ list: OpenList, _ options: [PickerOption],
        selected: String? = nil, _ environment: StyleEnvironment
    ) -> PickerPage {
        PickerPage(
            PickerStyleConfiguration(
                label: ControlLabel(title), options: options,
                selection: .tags([(selected ?? focusedField).map { .string($0) } ?? .null]),
                state: ControlState(isFocused: true), environment: environment), list)
    }
}
