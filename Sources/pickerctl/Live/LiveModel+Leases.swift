// Values that end by themselves: the countdown at the right of the value, without requests.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    /// The countdown of a control's lease, and whether it ends soon; `nil` without a lease.
    func lease(_ index: Int) -> (text: String, isEnding: Bool)? {
        guard let lease = presentation.lease(index) else { return nil }
        let control = presentation.definition.controls[index]
        let then = valueText(lease.then ?? control.defaultValue, of: index)
        guard let until = lease.until else {
            return (LiveWords.isHeld(then: then, by: lease.host), false)
        }
        let seconds = max(0, (until.milliseconds - around.clock().milliseconds + 999) / 1_000)
        let text: String
        if seconds == 0, let host = lease.host,
            presentation.hostsAway.contains(where: { $0.host == host })
        {
            text = LiveWords.isAway(host)
        } else {
            text = LiveWords.endsIn(Self.countdown(seconds), then: then, by: lease.host)
        }
        return (text, seconds <= 60)
    }

    /// The same in words that do not change by themselves: `until 14:30:05, then off`.
    func leaseWords(_ index: Int) -> String? {
        guard let lease = presentation.lease(index) else { return nil }
        let control = presentation.definition.controls[index]
        let then = valueText(lease.then ?? control.defaultValue, of: index)
        return lease.until.map { LiveWords.isUntil(around.localTime($0), then: then) }
            ?? LiveWords.isHeld(then: then, by: lease.host)
    }

    // MARK: Setting

    /// Asks when the value of the focused control ends, or how long its next value stays.
    mutating func askForLease() {
        guard mode == .form, let index = focusedIndex else { return }
        let control = presentation.definition.controls[index]
        guard presentation.lease(index) != nil || canHaveLease(index) else {
            return say(LiveWords.noLease(control.title))
        }
        guard mayEdit(control.id) else { return }
        question = .typed(
            TypedQuestion(subject: .lease(field: control.id), editor: TextEditor()))
    }

    /// Whether a control, and each that it shows, stores one value.
    func canHaveLease(_ index: Int) -> Bool {
        let definition = presentation.definition
        return !definition.targets[index].isEmpty
            && definition.targets[index].allSatisfy { target in
                switch definition.controls[target].storage {
                case .own(.register), .own(.counter): true
                default: false
                }
            }
    }

    /// An edit for a control whose next value ends: only a set value can end, so an increment
    /// becomes a set of its result.
    func leasable(_ action: Change.Action, _ index: Int) -> Change.Action {
        guard nextLease?.field == presentation.definition.controls[index].id,
            case .increment(let amount) = action,
            let sum = presentation.shown(index).value.numberValue?.adding(amount)
        else { return action }
        return .value(.number(sum))
    }

    /// Takes the answer: a new end, `keep` or `end` of a lease, or the end of the next value.
    /// `false` if it means nothing.
    mutating func setLease(
        of field: String, _ text: String, _ commands: inout [LiveCommand]
    ) -> Bool {
        guard let index = presentation.index(field) else { return true }
        let isLeased = presentation.lease(index) != nil
        if text.isEmpty {
            nextLease = nil
            return true
        }
        let action: StateLease.Action
        switch text.lowercased() {
        case "keep" where isLeased: action = .keep
        case "end" where isLeased: action = .end
        default:
            guard let end = end(text) else { return false }
            if !isLeased {
                nextLease = NextLease(field: field, end: end)
                say(nextLeaseWords(title(of: field), end, text))
                return true
            }
            action = .move(end)
        }
        let change = StateLease(
            form: presentation.form, field: field, action, message: takeMessage())
        request(.stateLease(change), .lease(change), &commands)
        return true
    }

    /// A value that others guard lasts longer only when they agree: the value with its new end
    /// becomes a proposal.
    mutating func propose(_ change: StateLease, _ commands: inout [LiveCommand]) {
        guard let index = presentation.index(change.field) else { return }
        nextLease = nil
        if case .move(let end) = change.action {
            nextLease = NextLease(field: change.field, end: end)
        }
        nextMessage = change.message ?? nextMessage
        send(
            change.field, .value(presentation.shown(index).value), isProposal: true, &commands)
    }

    /// `2h30m`, or the next `18:00`.
    private func end(_ text: String) -> LeaseEnd? {
        if let seconds = DurationText.seconds(text)?.rounded(.up) {
            return 1...Double(LeaseEnd.secondsMax) ~= seconds ? .seconds(Int64(seconds)) : nil
        }
        return LocalTime.next(text, after: around.clock()).map { .until($0) }
    }

    private func nextLeaseWords(_ title: String, _ end: LeaseEnd, _ text: String) -> String {
        guard case .until(let moment) = end else { return LiveWords.nextLasts(title, text) }
        return LiveWords.nextEnds(title, at: around.localTime(moment))
    }

    /// The end of the next value of a control.
    struct NextLease: Equatable {
        var field: String
        var end: LeaseEnd
    }

    /// The lease for an edit of a control that is sent now.
    mutating func takeLease(of field: String) -> LeaseEnd? {
        guard let next = nextLease, next.field == field else { return nil }
        nextLease = nil
        return next.end
    }

    // MARK: Words

    /// `1:59:12`, `59:12`, `0:12`.
    private static func countdown(_ seconds: Int64) -> String {
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (minutes, rest) = seconds.quotientAndRemainder(dividingBy: 60)
        if minutes < 60 { return "\(minutes):\(two(rest))" }
        return "\(minutes / 60):\(two(minutes % 60)):\(two(rest))"
    }

    /// When the text of a lease changes (monotonic nanoseconds); `nil` without one.
    var leaseTick: UInt64? {
        let ends = presentation.leaseEnds
        if ends.isEmpty { return nil }
        let wall = around.clock().milliseconds
        // The texts change together only if all ends have the same fraction of a second.
        let left = ends.lazy.map { $0.milliseconds - wall }.filter { $0 > 0 }
            .map { ($0 - 1) % 1_000 + 1 }.min()
        return left.map { now &+ UInt64($0) * 1_000_000 }
    }
}
