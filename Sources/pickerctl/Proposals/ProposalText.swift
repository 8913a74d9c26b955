// Proposals as text and JSON.

internal import PickerClient
internal import SyncCore

/// The words for proposals: commands write ids, the live form titles and labels.
struct ProposalText {
    var name: (String) -> String = { $0 }
    var value: (String, JSON) -> String = { ValueText.short($1) }
    var time: (Timestamp) -> String = { LocalTime.text($0) }
    /// Between the value before and the proposed one.
    var arrow = "→"

    /// What a proposal changes: `traffic 20 → 50`.
    func change(_ proposal: FormProposal) -> String {
        switch proposal.content {
        case .values(let changes, let lease):
            var text = Table.joined(changes.map(change), by: ", ")
            switch lease {
            case .seconds(let seconds)?: text += " for \(DurationText.text(seconds: seconds))"
            case .until(let moment)?: text += " until \(time(moment))"
            case .connection?, nil: break
            }
            return text
        case .definition: return "another definition of form \(proposal.form)"
        case .options(let field, let options):
            return "\(options.count) options of \(name(field))"
        }
    }

    private func change(_ change: FormProposal.Change) -> String {
        let field = name(change.field)
        let was = change.was.map { " \(value(change.field, $0))" } ?? ""
        return switch change.action {
        case .value(let json): "\(field)\(was) \(arrow) \(value(change.field, json))"
        case .reset: "\(field)\(was) \(arrow) its default"
        case .press(1): "press \(field)"
        case .press(let count): "press \(field) \(count) times"
        }
    }
}

extension FormProposal {
    /// What it changes: `traffic 20 → 50`.
    var changeText: String { ProposalText().change(self) }

    /// What became of it, after its name.
    var sentence: String { sentence { LocalTime.clock($0) } }

    /// What became of it, after its name; `time` writes when it expires.
    func sentence(time: (Timestamp) -> String) -> String {
        let by = ended?.by.map { " by \($0.user)" } ?? ""
        let said = ended?.message.map { ": \($0)" } ?? ""
        switch state {
        case .waits:
            let away = awaySince.map { "; \(host ?? "") is away since \(time($0))" } ?? ""
            return "waits for \(needs) \(needs == 1 ? "approval" : "approvals") until "
                + time(until) + away
        case .applied:
            return "is applied" + (ended?.revision.map { ", revision \($0)" } ?? "")
        case .refused: return "was refused\(by)\(said)"
        case .withdrawn: return "was withdrawn\(said)"
        case .expired: return "has expired"
        case .stale: return "is stale\(ended?.why.map { ": \($0)" } ?? "")"
        }
    }

    /// `"INC-231"`, after the change.
    var messageText: String { message.map { "  \"\($0)\"" } ?? "" }

    /// Whether the message, a user or a field has this text, in upper or lower case.
    func has(_ text: String) -> Bool {
        let text = text.lowercased()
        return ([message, by.user, ended?.by?.user].compactMap(\.self) + touchedFields).contains {
            $0.lowercased().contains(text)
        }
    }

    /// The fields that it is about.
    var touchedFields: [String] {
        switch content {
        case .values(let changes, _): changes.map(\.field)
        case .options(let field, _): [field]
        case .definition: fields
        }
    }
}

extension Session {
    /// Decodes an answer.
    func decoded<R>(
        _ answer: JSON, _ decode: (JSON) throws(DecodeError) -> R
    ) throws(Failure) -> R {
        do throws(DecodeError) { return try decode(answer) } catch { throw .invalidAnswer(error) }
    }

    /// Proposals of a form, or of all. Those of other hosts come last.
    func proposals(_ form: String?, ended: Bool) throws(Failure) -> [FormProposal] {
        try proposals(call(.proposalList(ProposalList(form: form, ended: ended))))
    }

    /// Those of an answer.
    func proposals(_ answer: JSON) throws(Failure) -> [FormProposal] {
        let list = try decoded(answer) { json throws(DecodeError) in
            try ProposalListResult(decoding: json)
        }
        return list.proposals + list.others
    }

    /// A proposal that has ended; `nil` if it waits.
    func endedProposal(_ proposal: FormProposal) throws(Failure) -> FormProposal? {
        func isSame(_ other: FormProposal) -> Bool {
            other.id == proposal.id && other.host == proposal.host
        }
        if let ended = try proposals(proposal.form, ended: true).first(where: isSame) {
            return ended
        }
        guard try proposals(proposal.form, ended: false).contains(where: isSame) else {
            throw .proposalIsGone(proposal.name)
        }
        return nil
    }

    /// Prints a proposal as JSON, or else as this line.
    func print(
        _ proposal: FormProposal, _ output: AnswerFormat?, _ line: String
    ) throws(Failure) {
        if output == .json {
            var writer = JSONWriter()
            proposal.encode(into: &writer)
            try console.line(String(decoding: writer.take(), as: UTF8.self))
        } else {
            try console.safeLine(line)
        }
        try console.flush()
    }
}
