// Buttons with `runs`: the line below each, and the question before a run is cancelled.

internal import SyncCore
internal import TerminalUI

/// The inputs of the line below a button with `runs`.
struct RunLook: Equatable {
    /// What the line begins with.
    enum Mark: Equatable {
        case none
        case waits
        /// The number of the spinner's picture.
        case spins(Int)
        /// Thousandths.
        case runs(Int)
        /// Thousandths, if known. Nobody knows whether the work continues.
        case away(Int?)
        case done
        case failed
    }

    var index: Int
    var mark = Mark.none
    /// The words, and fewer and fewer of them for a narrow form.
    var texts: [String] = []

    var text: String { texts.first ?? "" }
}

extension LiveModel {
    /// The buttons of a row that have runs.
    func withRuns(_ row: [Int]) -> [Int] {
        row.filter { presentation.definition.controls[$0].runsOfRoot(in: presentation.definition) }
    }

    /// The runs of a button, as the daemon told them.
    private func runs(_ index: Int) -> ButtonRuns? { presentation.runs(index) }

    /// Whether a handler has a press of a button.
    func isRunning(_ index: Int) -> Bool { presentation.isRunning(index) }

    /// Whether the line of some button counts seconds.
    var countsSeconds: Bool { presentation.isAnyRunning }

    /// The line below a button.
    func runLook(_ index: Int) -> RunLook {
        var look = RunLook(index: index)
        guard let runs = runs(index) else { return look }
        var words: [String] = []
        // What a narrow form leaves out, the least important first.
        var extras: [String] = []
        var away: String?
        if let run = runs.running.first {
            let seconds = max(
                0, Int((around.clock().milliseconds - run.since.milliseconds) / 1_000))
            let progress = presentation.progress[run.press]
            let handler = run.handler.map { UserName.text($0.user, host: run.host) }
            if !isOnline {
                away = LiveWords.daemonIsAway
            } else if progress?.isAway ?? false {
                away = LiveWords.handlerIsAway(handler)
            }
            look.mark = away == nil ? .spins(seconds) : .away(nil)
            if let away { words.append(away) }
            if let fraction = progress?.fraction, let double = Double(fraction.description) {
                let thousandths = Int((double * 1_000).rounded())
                look.mark = away == nil ? .runs(thousandths) : .away(thousandths)
                words.append("\(Int((double * 100).rounded())) %")
            }
            if let text = progress?.text { words.append(text) }
            let time = away == nil ? Self.clock(seconds) : ""
            let by = away == nil ? handler.map { LiveWords.by($0) } ?? "" : ""
            words += [time, by]
            extras = [by, time].filter { !$0.isEmpty }
            if runs.running.count > 1 { words.append(LiveWords.more(runs.running.count - 1)) }
        } else if runs.waiting > 0 {
            look.mark = .waits
            words.append(LiveWords.wait(Int(runs.waiting)))
        } else if let last = runs.last {
            look.mark = last.state == .done ? .done : .failed
            words += [last.state.words, last.handler.map { LiveWords.by($0.user) } ?? ""]
            words += [around.localTime(last.since), last.text ?? ""]
        }
        if !runs.running.isEmpty, runs.waiting > 0 {
            let waiting = LiveWords.waiting(Int(runs.waiting))
            words.append(waiting)
            extras.append(waiting)
        }
        if away != nil, let text = presentation.progress[runs.running[0].press]?.text {
            extras.append(text)
        }
        look.texts = (0...extras.count).map { count in
            words.filter { !$0.isEmpty && !extras.prefix(count).contains($0) }
                .joined(separator: "  ")
        }
        if let away, isOnline, let last = look.texts.last {
            look.texts.append(last.replacing(away, with: LiveWords.handlerIsAway(nil)))
        }
        return look
    }

    /// Minutes and seconds: `0:12`.
    static func clock(_ seconds: Int) -> String {
        let rest = seconds % 60
        return "\(seconds / 60):\(rest < 10 ? "0" : "")\(rest)"
    }

    /// The line below a button as a block.
    func runLine(_ look: RunLook, _ environment: StyleEnvironment, columns: Int) -> FittingText {
        let (glyphs, roles) = (environment.glyphs, environment.roles)
        func bar(_ thousandths: Int) -> String {
            let width = max(4, min(20, columns / 8))
            let full = width * thousandths / 1_000
            return String(repeating: glyphs.trackFilled, count: full)
                + String(repeating: glyphs.trackEmpty, count: width - full)
        }
        let mark: (String, CellStyle)
        switch look.mark {
        case .none: mark = (" ", roles.dim)
        case .waits: mark = (glyphs.more, roles.dim)
        case .spins(let step):
            let pictures = glyphs.isASCII ? Array("|/-\\") : Array("◐◓◑◒")
            mark = (String(pictures[step % pictures.count]), roles.heading)
        case .runs(let thousandths): mark = (bar(thousandths), roles.heading)
        case .away(let thousandths):
            mark = (thousandths.map(bar) ?? glyphs.more, roles.warning)
        case .done: mark = (glyphs.check, roles.success)
        case .failed: mark = (glyphs.cross, roles.error)
        }
        let texts = look.texts.isEmpty ? [""] : look.texts
        return FittingText(
            texts.map { StyledText(mark.0, mark.1).appending("  " + $0, roles.dim) })
    }

    // MARK: - Cancelling

    /// Asks before the run of the focused button is cancelled.
    mutating func askToCancelRun() {
        guard let index = focusedIndex, let runs = runs(index) else {
            return say(LiveWords.noRun(focusedField.map { title(of: $0) }))
        }
        guard let press = runs.running.first?.press else {
            return say(runs.waiting > 0 ? LiveWords.pressWaits : LiveWords.nothingRuns)
        }
        question = .cancelRun(field: presentation.definition.controls[index].id, press: press)
    }

    mutating func cancelRun(_ field: String, _ press: String, _ commands: inout [LiveCommand]) {
        request(
            .buttonCancel(ButtonCancel(form: presentation.form, field: field, press: press)),
            .cancelRun, &commands)
    }

    /// The daemon's answer to a cancellation.
    mutating func sayCancelled(_ json: JSON) {
        guard let result = try? RunResult(decoding: json) else { return }
        say(
            result.run.state == .running
                ? LiveWords.stopIsAsked : LiveWords.isCancelled(title(of: result.field)))
    }
}

extension Control {
    /// Whether it is a button with `runs`, or one that binds such a button.
    func runsOfRoot(in definition: FormDefinition) -> Bool {
        if case .binds(let root) = storage { return definition.controls[root].runs != nil }
        return runs != nil
    }
}

extension ButtonProgressed {
    /// Where the handler is, in words.
    var handlerWords: String { isAway ? LiveWords.handlerIsAway(nil) : LiveWords.handlerIsBack }
}
