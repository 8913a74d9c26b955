// Events in a form in lines: changes by others and results of the editor, one line for each.

internal import PickerClient
internal import SyncCore
internal import TerminalUI

extension LineForm {
    /// Prints changes by others as lines.
    mutating func handle(_ event: LiveEvent, at now: UInt64) -> [LiveCommand] {
        let link = model.presentation.link
        let kept = model.kept.edits.count
        let commands = model.handle(event, at: now)
        if model.presentation.link != link { sayLink(model.presentation.link, was: link) }
        if model.kept.edits.count > kept { sayKept() }
        if case .client(.changed(let change)) = event { announce(change.changes) }
        if case .client(.progress(let progress)) = event { announce(progress) }
        if case .client(.formChanged) = event, isPerson { sayFormChanged() }
        if case .client(.presence) = event {
            announcePeople()
            announceHosts()
        }
        if case .client(.proposal) = event { announceProposal() }
        if case .answered(_, let outcome) = event {
            if case .result(let json) = outcome, json["proposal"] != nil { sayProposal() }
            sayExplanation()
            sayOutcome()
        }
        return commands
    }

    /// A text came back from `$EDITOR`.
    mutating func edited(_ field: String, _ text: String?) -> [LiveCommand] {
        var commands: [LiveCommand] = []
        guard let text, let index = model.presentation.index(field) else {
            model.activeEdit = nil
            say(LineWords.no(LiveWords.editorLeftNothing))
            return commands
        }
        apply(.edit(.value(.string(text))), field, &commands)
        if question != .control(field) { return commands }
        say("\(state(index)). \(expects(index))")
        return commands
    }

    private mutating func announce(_ changes: [FieldChange]) {
        for change in changes { announceRuns(change) }
        for change in changes where !model.presentation.isMine(change.state.by) {
            guard let index = model.presentation.index(change.field), isPerson else { continue }
            let who = model.presentation.peer(change.state.by)?.name ?? LineWords.somebody
            if case .button = definition.controls[index].kind {
                // The assignment and the end of a press are changes of the button too.
                if change.was == change.state.value { continue }
                say(LineWords.news(LineWords.pressed(who, definition.controls[index].title)))
            } else {
                say(LineWords.news(LineWords.set(who, state(index))))
            }
            sayConflict(index)
        }
    }

    /// What became of a press of a button with `runs`.
    private mutating func announceRuns(_ change: FieldChange) {
        guard isPerson, change.was == change.state.value, let runs = change.state.runs,
            let index = model.presentation.index(change.field)
        else { return }
        let known = runs.running + (runs.last.map { [$0] } ?? [])
        for run in known where run.since == change.state.at {
            let title = definition.controls[index].title
            let by = run.handler.map { " " + LiveWords.by($0.user) } ?? ""
            let text = run.text.map { ": \($0)" } ?? ""
            say(LineWords.news("\(title): \(run.state.words)\(by)\(text)"))
            if run.state.isFinal { toldQuarters[run.press] = nil }
            toldAway.remove(run.press)
        }
    }

    /// Progress in steps of 25 %, and whether the handler is away.
    private mutating func announce(_ progress: ButtonProgressed) {
        guard isPerson, let index = model.presentation.index(progress.field) else { return }
        let wasAway = toldAway.contains(progress.press)
        if progress.isAway != wasAway {
            say(LineWords.news("\(definition.controls[index].title): \(progress.handlerWords)"))
            if wasAway { toldAway.remove(progress.press) } else { toldAway.insert(progress.press) }
        }
        guard let fraction = progress.fraction.flatMap({ Double($0.description) })
        else { return }
        let quarter = Int(fraction * 4)
        guard quarter > toldQuarters[progress.press, default: 0] else { return }
        toldQuarters[progress.press] = quarter
        let text = progress.text.map { ", \($0)" } ?? ""
        say(LineWords.news("\(definition.controls[index].title): \(quarter * 25) %\(text)"))
    }

    /// A new definition: if the current question is about a removed control, the next question is
    /// asked.
    private mutating func sayFormChanged() {
        guard let message = model.message?.text else { return }
        model.message = nil
        say(LineWords.news(message))
        let asked: String? =
            switch question {
            case .control(let field), .wheel(let field, _), .lines(let field, _): field
            case .command: nil
            }
        guard let asked, model.presentation.index(asked) == nil else { return }
        say(LineWords.news(LineWords.isGone(asked)))
        askNearest()
    }

    /// What was told of a proposal.
    private mutating func announceProposal() {
        guard isPerson, let message = model.message?.text else { return }
        model.message = nil
        say(LineWords.news(message))
    }

    /// What became of an edit that needs approval: also without a person, because nothing is set.
    private mutating func sayProposal() {
        guard let message = model.message?.text else { return }
        model.message = nil
        say(message)
    }

    private mutating func announcePeople() {
        let now = model.presentation.others.map(\.peer)
        for peer in now where !announced.contains(peer) && isPerson {
            say(LineWords.news(LineWords.isHere(peer.name)))
        }
        for peer in announced where !now.contains(peer) && isPerson {
            say(LineWords.news(LineWords.left(peer.name)))
        }
        announced = now
    }

    /// Which hosts are away, or are back.
    private mutating func announceHosts() {
        let away = model.presentation.hostsAway.map(\.host)
        let isChanged = away != awayHosts
        let back = awayHosts.filter { !away.contains($0) }
        awayHosts = away
        guard isChanged, isPerson else { return }
        if let text = model.awayBanner?.first { say(LineWords.news(text)) }
        for host in back { say(LineWords.news(LineWords.isBack(host))) }
    }

    /// Who is here, and where.
    mutating func sayPeople() {
        if model.presentation.others.isEmpty { say(LineWords.sentence(LiveWords.onlyYou)) }
        for other in model.presentation.others {
            let place = other.wire.focus.map { ", " + LiveWords.at(model.title(of: $0)) } ?? ""
            say("\(other.peer.name)\(place)")
        }
    }

    /// The edits that were made for another daemon, and what can be done with them.
    mutating func sayKept() {
        guard !model.kept.edits.isEmpty else {
            return say(LineWords.sentence(LiveWords.nothingKept))
        }
        say(LineWords.news(LineWords.sentence(LiveWords.kept(model.kept.edits.count))))
        for field in model.kept.edits.flatMap(\.fields) {
            if let text = model.keptText(field) { say("  \(model.title(of: field)): \(text)") }
        }
        say("  " + LineWords.keptCommands)
    }

    private mutating func sayLink(_ link: FormPresentation.Link, was: FormPresentation.Link) {
        switch link {
        case .lost: say(LineWords.news(LineWords.mergesLater))
        case .online where was != .connecting:
            say(LineWords.news(LineWords.sentence(LiveWords.daemonIsBack)))
        case .deleted: failure = .formDeleted(definition.name)
        case .refused(let why): failure = Failure(.unavailable, why)
        case .online, .connecting: break
        }
    }

    mutating func sayOutcome() {
        if let message = model.message {
            if isPerson { say(message.text) }
            model.message = nil
        }
        for index in definition.controls.indices {
            let field = definition.controls[index].id
            guard let problem = model.problems.removeValue(forKey: field) else { continue }
            refuse("\(definition.controls[index].title): \(problem)")
        }
    }

    // MARK: Without answers

    /// Prints the whole form, because standard input has no answers.
    mutating func show() {
        say(LineWords.form(definition.title ?? definition.name))
        if let subtitle = definition.subtitle { say(subtitle) }
        show(after: -1)
        isFinished = true
    }

    /// Prints the controls after one, with their values and conflicts.
    mutating func show(after index: Int) {
        for next in definition.controls.indices
        where next > index && model.presentation.isVisible(next) {
            sayTitle(of: definition.controls[next].section)
            say(state(next))
            for pick in model.conflict(next) {
                let text = LineWords.pick(pick.text, by: pick.by?.name, at: pick.when)
                say("  " + LineWords.conflict(text))
            }
        }
    }
}
