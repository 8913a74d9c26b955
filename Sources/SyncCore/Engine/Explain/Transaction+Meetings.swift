// What a revision keeps of an edit that met others which its author had not seen.

extension RevisionRecord {
    /// A concurrent edit of one field, for `state.explain`.
    struct Met: Sendable {
        let field: String
        let meeting: Explanation.Meeting
    }
}

extension Transaction {
    /// The most concurrent edits of a revision that are kept, and the longest token.
    private static var meetingsMax: Int { 16 }
    private static var tokenBytesMax: Int { 512 }

    /// Records that a write of a control was concurrent with others, if it was.
    func note<S: Concurrent>(_ fate: SiblingFate<S>, _ target: Int, _ seen: Seen) {
        guard !fate.concurrent.isEmpty else { return }
        rareOrNew.concurrent.append(target)
        guard (rare?.meetings.count ?? 0) < Self.meetingsMax else { return }
        var token: String?
        if case .context(let context) = seen {
            let text = ContextToken.render(context)
            if text.utf8.count <= Self.tokenBytesMax { token = text }
        }
        let others = fate.concurrent.map {
            Explanation.Meeting.Write(dot: "\($0.dot)", stamp: "\($0.stamp)")
        }
        rareOrNew.meetings.append(
            RevisionRecord.Met(
                field: definition.controls[target].id,
                meeting: Explanation.Meeting(seen: token, stamp: "\(stamp)", others: others)))
    }
}

extension RevisionRecord.Met: WireObject {
    /// About how many bytes it takes as JSON text.
    var bytesEstimate: Int {
        120 + (meeting.seen?.utf8.count ?? 0) + 90 * meeting.others.count
    }

    func encodeMembers(into writer: inout JSONWriter) {
        writer.member("field", field)
        writer.member("meeting", meeting)
    }

    /// Parses the object; `nil` for anything else.
    init?(json: JSON) {
        guard let field = json["field"]?.stringValue,
            let meeting = json["meeting"].flatMap({
                try? Explanation.Meeting(decoding: $0, path: "met")
            })
        else { return nil }
        self.init(field: field, meeting: meeting)
    }
}
