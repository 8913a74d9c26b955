// Sentences that say what an explanation's facts mean.

internal import SyncCore

/// How an explanation is written: for the command in ids and tags, for the live form in titles and
/// labels.
struct ExplanationText {
    /// The name of a control.
    var name: (_ field: String) -> String
    /// A value of a control.
    var value: (_ field: String, JSON) -> String
    var time: (Timestamp) -> String
    /// The daemon's host, where forms are shared with others.
    var host: String?

    /// One sentence or list item for each line.
    func lines(_ facts: Explanation) -> [String] {
        var lines = [reads(facts)]
        lines += origin(facts)
        lines += change(facts)
        lines += concurrent(facts)
        lines += permission(facts)
        if !facts.ends.isEmpty {
            let owners = facts.ends.map { lease in
                "\(lease.by.user)\(lease.host.map { "@\($0)" } ?? "")'s"
            }
            let noun = owners.count == 1 ? "lease" : "leases"
            lines.append("A set ends \(Self.list(owners)) \(noun).")
        }
        lines += references(facts)
        return lines
    }

    // MARK: - The value

    private func reads(_ facts: Explanation) -> String {
        let name = name(facts.field)
        let isPast = facts.permission == nil && facts.origin?.kind != .label
        guard let state = facts.state else {
            return "History no longer has the value of \(name) at revision \(facts.revision)."
        }
        let verb = isPast ? "was" : "is"
        let place = isPast ? " at revision \(facts.revision)" : ""
        if let isSet = state.isSecretSet {
            return "\(name) \(verb) a secret that \(isSet ? "is set" : "is not set")\(place)."
        }
        if facts.origin?.kind == .label { return "\(name) is a label." }
        if let presses = state.value["presses"]?.integerValue {
            let times = presses == 1 ? "once" : "\(presses) times"
            let end = isPast ? " by revision \(facts.revision)" : ""
            return "\(name) was pressed \(times)\(end)."
        }
        if state.isMixed { return "\(name) has no single value\(place): its sources differ." }
        let text = "\(name) \(verb) \(value(facts.field, state.value))\(place)"
        if state.isInvalid { return text + ", which its definition no longer accepts." }
        return state.isMissing ? "\(name) has no value\(place), and needs one." : text + "."
    }

    private static func isButton(_ facts: Explanation) -> Bool {
        facts.state?.value["presses"] != nil
    }

    private func origin(_ facts: Explanation) -> [String] {
        guard let origin = facts.origin else { return [] }
        switch origin.kind {
        case .initial:
            if facts.state?.isSecretSet != nil || Self.isButton(facts) { return [] }
            return [
                facts.change == nil
                    ? "Nobody has set it: it has its default." : "It has its default."
            ]
        case .set, .pressed, .label: return []
        case .counted:
            guard let base = origin.base else { return ["Increments were added to its default."] }
            let by = base.by.map { ", which \($0.name(on: host)) set" } ?? ""
            return ["Increments were added to \(value(facts.field, base.value))\(by)."]
        case .bound:
            return ["It shows \(origin.fields.map { name($0.field) }.joined()), which stores it."]
        case .sources:
            var parts = origin.fields.map { "\(name($0.field)) (\(text(of: $0)))" }
            if origin.more > 0 { parts.append("\(origin.more) more") }
            return ["It shows \(Self.list(parts))."]
        case .lease:
            guard let lease = facts.state?.lease else { return [] }
            let then = lease.then.map { "is \(value(facts.field, $0))" } ?? "has its default"
            let end = lease.until.map { "at \(time($0))" } ?? "when \(lease.by.user) leaves"
            return ["\(lease.by.user)'s lease ends \(end). Then it \(then)."]
        }
    }

    private func text(of part: Explanation.Part) -> String {
        part.value.map { value(part.field, $0) } ?? (part.isSet ? "set" : "not set")
    }

    // MARK: - The last change

    private func change(_ facts: Explanation) -> [String] {
        guard let change = facts.change else { return [] }
        if change.isGone, change.by == nil { return [] }
        var line = "\(ValueText.author(change.by, on: host)) \(deed(facts, change))"
        if let at = change.at { line += " at \(time(at))" }
        if let client = change.by?.client { line += " with \(client)" }
        if let tty = change.by?.tty { line += " on \(tty)" }
        line += " (revision \(change.revision))"
        if let message = change.message { line += ": \"\(message)\"" } else { line += "." }
        if change.isGone { line += " History no longer says how and why." }
        return [line]
    }

    /// What a change did, as a verb with its object.
    private func deed(_ facts: Explanation, _ change: Explanation.Change) -> String {
        switch change.kind {
        case "undo"?: return change.undoes.map { "undid revision \($0)" } ?? "undid a change"
        case "redo"?: return change.undoes.map { "redid revision \($0)" } ?? "redid a change"
        case "apply"?: return "applied the form"
        case "options"?: return "changed options"
        case "lease"?: return "changed the end of its lease"
        case "ended"?: return "had a lease on it, which ended"
        case "run"?: return "changed its run"
        default: break
        }
        switch facts.origin?.kind {
        case .initial?: return "reset it"
        case .pressed?: return "pressed it last"
        case .bound?, .sources?, .label?: return "changed what it shows"
        case .counted?: return "changed it last"
        default: return Self.isWhole(facts, change) ? "set it" : "changed it last"
        }
    }

    /// Whether the value is what the last change made of it alone: concurrent values and tags of
    /// others may be there too.
    private static func isWhole(_ facts: Explanation, _ change: Explanation.Change) -> Bool {
        if facts.state?.value.arrayValue != nil { return false }
        return facts.concurrent.allSatisfy { siblings in
            siblings.values.first.map { $0.by == change.by && $0.at == change.at } ?? true
        }
    }

    // MARK: - Concurrent values

    private func concurrent(_ facts: Explanation) -> [String] {
        var lines: [String] = []
        for group in facts.concurrent {
            let part = group.component.map { " (\($0))" } ?? ""
            lines.append(
                "These values\(part) are concurrent: no author had seen another's.")
            for (place, one) in group.values.enumerated() {
                var line = "  \(component(facts.field, group, one.value))"
                line += " by \(ValueText.author(one.by, on: host))"
                if let at = one.at { line += ", \(time(at))" }
                lines.append(line + (place == 0 ? ", is current" : ""))
            }
            if let rule = rule(facts.policy, group) { lines.append(rule) }
        }
        if facts.concurrent.isEmpty, let met = facts.met {
            let others = met.others.count
            lines.append(
                "Its author had not seen \(others == 1 ? "another edit" : "\(others) other edits") "
                    + "of it.")
        }
        return lines
    }

    private func component(
        _ field: String, _ group: Explanation.Siblings, _ json: JSON
    ) -> String {
        group.component == nil ? value(field, json) : ValueText.short(json)
    }

    /// The policy, and what it decided.
    private func rule(_ policy: ConflictPolicy?, _ group: Explanation.Siblings) -> String? {
        guard let policy, let first = group.values.first else { return nil }
        let winner = ValueText.author(first.by, on: host)
        let lead = group.lead.map { Self.lead($0) }
        switch policy {
        case .ask:
            let why = lead.map { "; \(winner)'s stamp is \($0) later" } ?? ""
            return "ask: all are kept until somebody chooses\(why)."
        case .latest:
            return lead.map { "latest: \(winner)'s stamp is \($0) later." }
                ?? "latest: \(winner)'s stamp is the latest."
        case .first:
            return lead.map { "first: \(winner)'s stamp is \($0) earlier." }
                ?? "first: \(winner)'s stamp is the earliest."
        case .trueWins, .falseWins:
            let flag = policy == .trueWins ? "true" : "false"
            guard group.rule == .flag else {
                return "\(policy.rawValue): nobody set \(flag), so the latest is current."
            }
            return "\(policy.rawValue): \(flag) is current, also if others were later."
        }
    }

    /// A difference between two stamps.
    static func lead(_ milliseconds: Int64) -> String {
        switch milliseconds {
        case ..<1: return "less than 1 ms"
        case ..<1_000: return "\(milliseconds) ms"
        case ..<60_000:
            let tenths = milliseconds / 100
            return "\(tenths / 10).\(tenths % 10) s"
        default: return DurationText.text(seconds: milliseconds / 1_000)
        }
    }

    // MARK: - Permission

    private func permission(_ facts: Explanation) -> [String] {
        guard let permission = facts.permission else { return [] }
        let verb = Self.isButton(facts) ? "press" : "set"
        guard permission.mayEdit else {
            if permission.refusals.isEmpty { return ["You may not \(verb) it."] }
            return permission.refusals.map { refusal in
                let directly = refusal.reason == .approval ? " directly" : ""
                return "You may not \(verb) it\(directly): \(text(of: refusal))."
            }
        }
        var line = "You may \(verb) it"
        if permission.needsMessage { line += ", with a message that says why" }
        if let longest = permission.leaseMax {
            line += ", for at most \(DurationText.text(seconds: longest))"
        }
        return [line + "."] + permission.asks.map { "For some values \(text(of: $0))." }
    }

    private func text(of refusal: Explanation.Refusal) -> String {
        let name = name(refusal.field)
        let more = refusal.more > 0 ? " and \(refusal.more) more" : ""
        let who = refusal.only.joined(separator: ", ") + more
        switch refusal.reason {
        case .access:
            if refusal.only.isEmpty { return "only root may change \(name)" }
            return "only \(who) may change \(name)"
        case .approval:
            let count = refusal.count ?? 1
            let who = refusal.only.contains(Principal.anyone.description) ? "others" : who
            return "\(count) \(count == 1 ? "approval" : "approvals") of \(who) "
                + "\(count == 1 ? "is" : "are") needed for \(name); use pickerctl propose"
        case .locked: return "\(name) is locked; an admin of the form may set it"
        case .disabled: return "\(name) is disabled"
        case .store: return "the store has rejected this form's edits; see the daemon's log"
        case .condition:
            let lacks = refusal.unmet.map { $0.map(text).joined(separator: ", or ") }
            let why = lacks.isEmpty ? "its condition is false" : Self.list(lacks)
            return "\(name) is disabled while \(why)"
        }
    }

    /// A comparison as it is: `environment is staging (needs production)`.
    private func text(of comparison: Explanation.Comparison) -> String {
        let field = comparison.field
        let whole = name(field) + (comparison.component.map { "." + $0 } ?? "")
        func text(_ json: JSON) -> String {
            comparison.component == nil ? value(field, json) : ValueText.short(json)
        }
        let operand: String
        if case .array(let list) = comparison.operand, comparison.comparison == "in" {
            operand = list.map(text).joined(separator: " or ")
        } else {
            operand = text(comparison.operand)
        }
        let need: String
        switch (comparison.comparison, comparison.isNegated) {
        case ("equals", false), ("in", false), ("not", true): need = operand
        case ("equals", true), ("in", true), ("not", false): need = "not \(operand)"
        case ("atLeast", false): need = "at least \(operand)"
        case ("atLeast", true): need = "less than \(operand)"
        case ("atMost", false): need = "at most \(operand)"
        case ("atMost", true): need = "more than \(operand)"
        case ("set", _): return "\(whole) has no value"
        default: need = "\(comparison.comparison) \(operand)"
        }
        return "\(whole) is \(comparison.value.map(text) ?? "secret") (it needs \(need))"
    }

    // MARK: - References

    private func references(_ facts: Explanation) -> [String] {
        var lines: [String] = []
        if let list = list(of: facts.dependsOn) { lines.append("It depends on \(list).") }
        if let list = list(of: facts.dependents) { lines.append("These depend on it: \(list).") }
        return lines
    }

    /// The references that a line names.
    private static var namedMax: Int { 8 }

    private func list(of references: Explanation.References) -> String? {
        if references.listed.isEmpty { return nil }
        var parts = references.listed.prefix(Self.namedMax).map {
            "\(name($0.field)) (\($0.kind.rawValue))"
        }
        let more = references.more + references.listed.count - parts.count
        if more > 0 { parts.append("\(more) more") }
        return Self.list(parts)
    }

    /// `a, b and c`.
    private static func list(_ parts: [String]) -> String {
        guard parts.count > 1, let last = parts.last else { return parts.joined() }
        return parts.dropLast().joined(separator: ", ") + " and " + last
    }
}
