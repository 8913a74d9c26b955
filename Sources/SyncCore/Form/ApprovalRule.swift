/// Who must agree before a control changes: `approval` and `breakGlass` (FORM.md, Two pairs of
/// eyes).
public final class ApprovalRule: Sendable {
    /// The most people that a control may ask for.
    public static let countMax: Int64 = 16
    /// How long a proposal waits without `within`, in milliseconds.
    public static let withinDefault: Int64 = 30 * 60_000

    /// Who may agree.
    public let from: AccessRule
    /// How many of them must agree.
    public let count: Int
    /// How long a proposal waits for them, in milliseconds.
    public let withinMilliseconds: Int64
    /// The values for which they are asked; `nil` for all.
    public let when: Condition?
    /// Who may change the control without them.
    public let breakGlass: AccessRule
    /// The two attributes as written.
    let source: [JSON?]
    /// The controls in `when`, ascending.
    let references: [Int]

    init(
        from: AccessRule, count: Int, withinMilliseconds: Int64, when: Condition?,
        breakGlass: AccessRule, source: [JSON?]
    ) {
        self.from = from
        self.count = count
        self.withinMilliseconds = withinMilliseconds
        self.when = when
        self.breakGlass = breakGlass
        self.source = source
        references = when?.references ?? []
    }

    /// Whether another rule asks for the same in the same cases.
    func isSame(as other: ApprovalRule) -> Bool { source == other.source }
}

extension AccessRule {
    /// Whether the list names somebody. Unlike `permits`, `anyone` does not stand for root and for
    /// the daemon's own uid, because a user who may use them is often the proposer.
    func names(_ peer: Peer, owner: UInt32, daemonUID: UInt32) -> Bool {
        let isPowerful = peer.uid == 0 || peer.uid == daemonUID
        return principals.contains {
            if isPowerful, case .anyone = $0 { return false }
            return $0.includes(peer, owner: owner)
        }
    }
}

// MARK: - Parsing

extension FormParser {
    /// `approval` and `breakGlass` of a field. Its condition refers to other controls, so this is
    /// called when all are known.
    mutating func approval(_ field: Members, _ type: ControlType) -> ApprovalRule? {
        guard let json = field["approval"] else {
            if field["breakGlass"] != nil {
                issue(
                    field.place(of: "breakGlass"), "breakGlass needs approval beside it",
                    expected: "approval: {from: [\"group:oncall\"]}")
            }
            return nil
        }
        let place = field.place(of: "approval")
        guard
            let members = object(
                json, at: place, expected: "an object of from, count, within and when")
        else { return nil }
        checkKeys(members, ["from", "count", "within", "when"], owner: "approval")
        checkGuardable(field, type, at: place)
        if members["from"] == nil {
            issue(place, "from is missing", expected: "from: [\"group:oncall\"]")
        }
        let from = principals(members, "from")
        if let from, from.principals.isEmpty, members["from"]?.arrayValue?.isEmpty ?? false {
            issue(
                members.place(of: "from"), "nobody may approve",
                expected: "at least one user or group")
        }
        let count = integer(members, "count", in: 1...ApprovalRule.countMax) ?? 1
        let within =
            duration(members, "within", atLeast: 1, atMost: 30 * Self.daySeconds)
            ?? ApprovalRule.withinDefault
        var when: Condition?
        if let json = members["when"] {
            when = condition(json, at: members.place(of: "when"))
        }
        return ApprovalRule(
            from: from ?? AccessRule([]), count: count, withinMilliseconds: within, when: when,
            breakGlass: principals(field, "breakGlass") ?? AccessRule([]),
            source: [json, field["breakGlass"]])
    }

    /// An issue on a control whose value is stored elsewhere, or must never lie in a proposal.
    private mutating func checkGuardable(_ field: Members, _ type: ControlType, at place: Place) {
        let expected = "approval on a control that stores a value of its own"
        switch type {
        case .secure:
            issue(place, "a secret cannot be proposed", expected: "approval on another control")
        case .label: issue(place, "a label has no value", expected: expected)
        default:
            guard field["binds"] != nil || field["sources"] != nil else { return }
            issue(place, "the value is stored by another control", expected: expected)
        }
    }
}
