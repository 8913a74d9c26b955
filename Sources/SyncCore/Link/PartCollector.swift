// Joins the parts of messages that are larger than a server takes.
//
// Invariants: only parts of one message are joined, and only once all are there. While a message is
// incomplete, the cursor must stay before the first of its parts. What is kept is bounded: one
// message for each subject, `messagesMax` and four times `linkWholeBytesMax` for all of them, and
// none for longer than `ageMax`.

/// The messages of which some parts are there.
package struct PartCollector {
    /// A message of which some parts are there.
    private struct Unfinished {
        var subject: LinkSubject
        var replica: ReplicaID
        var run: UInt64
        var number: UInt64
        let count: Int
        var pieces: [Int: [UInt8]] = [:]
        var bytes = 0
        /// The cursor before the first part, to which a reader may have to return.
        var before: LinkCursor.Place?
        var changed: UInt64

        func isSame(_ subject: LinkSubject, _ headers: LinkHeaders) -> Bool {
            self.subject == subject && replica == headers.replica && run == headers.run
                && number == headers.number && count == headers.part.count
        }
    }

    /// Unfinished messages: more than a fleet of 64 hosts sends at once.
    static let messagesMax = 256
    /// How long an unfinished message is kept after its newest part, in nanoseconds: longer than
    /// the server drops doubles, so that a part that is sent again arrives or is still here. A host
    /// that died in the middle sends another whole when it is back.
    package static let ageMax: UInt64 = 300_000_000_000

    private let messageBytesMax: Int
    private var unfinished: [Unfinished] = []

    /// No part is there.
    init(_ limits: Limits = Limits()) { messageBytesMax = limits.linkWholeBytesMax }

    /// The place before which no cursor may be saved; `nil` if every message is complete.
    var before: LinkCursor.Place? {
        unfinished.compactMap(\.before).min { $0.sequence < $1.sequence }
    }

    /// Takes the piece of a part.
    ///
    /// - Parameter before: the cursor as it would be without this part; `nil` if it does not move.
    /// - Returns: the content of the message, if this part completes it, and the cursor before its
    ///   first part.
    /// - Throws: `tooLarge`; its other parts are forgotten then.
    mutating func take(
        _ piece: [UInt8], of subject: LinkSubject, _ headers: LinkHeaders,
        before: LinkCursor.Place?, at now: UInt64
    ) throws(LinkRefusal) -> (content: [UInt8], before: LinkCursor.Place?)? {
        guard headers.part.count > 1 else { return (piece, before) }
        // A subject has one writer, which sends one message in parts after the other.
        if let other = unfinished.firstIndex(where: { $0.subject == subject }),
            !unfinished[other].isSame(subject, headers)
        {
            unfinished.remove(at: other)
        }
        let place: Int
        if let known = unfinished.firstIndex(where: { $0.isSame(subject, headers) }) {
            place = known
        } else {
            place = unfinished.count
            unfinished.append(
                Unfinished(
                    subject: subject, replica: headers.replica, run: headers.run,
                    number: headers.number, count: headers.part.count, before: before,
                    changed: now))
        }
        unfinished[place].changed = now
        if unfinished[place].pieces[headers.part.index] == nil {
            unfinished[place].pieces[headers.part.index] = piece
            unfinished[place].bytes += piece.count
        }
        guard unfinished[place].bytes <= messageBytesMax else {
            unfinished.remove(at: place)
            throw .tooLarge
        }
        if unfinished[place].pieces.count == unfinished[place].count {
            let complete = unfinished.remove(at: place)
            let content = (1...complete.count).flatMap { complete.pieces[$0] ?? [] }
            return (content, complete.before)
        }
        while unfinished.count > Self.messagesMax
            || unfinished.reduce(0, { $0 + $1.bytes }) > 4 * messageBytesMax
        {
            unfinished.removeFirst()
        }
        return nil
    }

    /// When the oldest unfinished message is forgotten, in nanoseconds.
    var deadline: UInt64? {
        unfinished.map { $0.changed.addingReportingOverflow(Self.ageMax).partialValue }.min()
    }

    /// Forgets what has been unfinished for too long.
    /// - Returns: the subjects.
    mutating func forget(at now: UInt64) -> [LinkSubject] {
        let old = unfinished.filter { now >= $0.changed && now - $0.changed >= Self.ageMax }
        unfinished.removeAll { now >= $0.changed && now - $0.changed >= Self.ageMax }
        return old.map(\.subject)
    }

    /// Forgets everything: the log is read again.
    mutating func clear() { unfinished = [] }
}
