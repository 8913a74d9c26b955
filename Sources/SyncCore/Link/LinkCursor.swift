// How far a store has the logs of the fleet. The store keeps it in the transaction of the joins.
//
// Invariant: the cursor never passes a message whose effect is not in the store. The message at the
// cursor is kept as a digest: a server that lost its newest messages gives their numbers again.

package struct LinkCursor: Hashable, Sendable {
    package struct Place: Hashable, Sendable {
        /// The sequence of the last message whose effect is in the store; 0 before the first.
        package var sequence: UInt64
        /// The digest of that message; 0 if it was not read.
        package var digest: UInt64

        package init(sequence: UInt64, digest: UInt64) {
            self.sequence = sequence
            self.digest = digest
        }

        /// The place of a message. The moment at which the stream took it counts: a host may send
        /// the same bytes again, and they may get the same number again.
        package init(
            of message: LinkPublication, sequence: UInt64, nanoseconds: Int64, _ keys: LinkKeys
        ) {
            self.init(
                sequence: sequence,
                digest: keys.digest(
                    Array("\(nanoseconds) \(message.subject) ".utf8) + message.payload))
        }

        /// Before the first message.
        package static let start = Place(sequence: 0, digest: 0)
    }

    /// A form that does not take what arrives.
    package struct Held: Hashable, Sendable {
        package var form: String
        /// How far it has the log.
        package var place: Place
        /// Whether a whole is given to the engine all the same: the form is not here, or is another
        /// form of that name.
        package var takesWholes: Bool = false
    }

    /// How far one stream is read.
    package struct Stream: Hashable, Sendable {
        /// The site that has it; empty: the fleet has one stream.
        package var site: String = ""
        /// The moment when the stream was made: another one is another log.
        package var created: String
        /// How far all forms have it, but those that are held.
        package var place: Place
        /// Forms that wait, each at its own place.
        package var held: [Held] = []

        /// The place from which all forms have all that follows.
        package var first: Place {
            (held.map(\.place) + [place]).min { $0.sequence < $1.sequence } ?? .start
        }
    }

    /// How far each stream is read, that of this site first.
    package var streams: [Stream]

    package init(_ streams: [Stream]) { self.streams = streams }

    /// How far the stream of a site is read. The only stream of a fleet that gets sites becomes
    /// that of its server's site; if it is another one, its messages show it.
    package func stream(of site: String, isOwn: Bool) -> Stream? {
        if let kept = streams.first(where: { $0.site == site }) { return kept }
        guard isOwn, let kept = streams.first, kept.site.isEmpty || site.isEmpty else { return nil }
        return kept
    }
}

// One stream without a site is written as before there were sites: its moment, which is never
// empty, its place, and the forms that wait.
extension LinkCursor: CausalityCodable {
    package func write(to writer: inout CausalityWriter) {
        if streams.count == 1, streams[0].hasShortForm {
            return streams[0].writePlaces(to: &writer)
        }
        writer.string("")
        writer.list(streams)
    }

    package init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        let start = reader.offset
        let created = try reader.string()
        if created.isEmpty {
            let streams = try reader.list(of: Stream.self)
            let isSound = !(streams.count == 1 && streams[0].hasShortForm)
            self.init(try reader.checked(isSound ? streams : nil, from: start, "sites"))
        } else {
            self.init([try Stream(site: "", created: created, placesFrom: &reader)])
        }
    }
}

extension LinkCursor.Stream: CausalityCodable {
    package func write(to writer: inout CausalityWriter) {
        writer.string(site)
        writePlaces(to: &writer)
    }

    package init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        try self.init(
            site: try reader.string(), created: try reader.string(), placesFrom: &reader)
    }

    fileprivate var hasShortForm: Bool { site.isEmpty && !created.isEmpty }

    fileprivate func writePlaces(to writer: inout CausalityWriter) {
        writer.string(created)
        place.write(to: &writer)
        writer.list(held)
    }

    fileprivate init(
        site: String, created: String, placesFrom reader: inout CausalityReader
    ) throws(CausalityDecodeError) {
        self.init(
            site: site, created: created, place: try LinkCursor.Place(from: &reader),
            held: try reader.list())
    }
}

extension LinkCursor.Place: CausalityCodable {
    package func write(to writer: inout CausalityWriter) {
        writer.unsigned(sequence)
        writer.unsigned(digest)
    }

    package init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        self.init(sequence: try reader.unsigned(), digest: try reader.unsigned())
    }
}

extension LinkCursor.Held: CausalityCodable {
    package func write(to writer: inout CausalityWriter) {
        writer.string(form)
        place.write(to: &writer)
        writer.flag(takesWholes)
    }

    package init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        self.init(
            form: try reader.string(), place: try LinkCursor.Place(from: &reader),
            takesWholes: try reader.flag())
    }
}

extension CausalContext {
    /// Whether all of these writes of a replica are in it, at a cost that does not depend on how
    /// many they claim to be.
    package func covers(_ replica: ReplicaID, _ counters: ClosedRange<UInt64>) -> Bool {
        let known = vector[replica]
        guard known < counters.upperBound else { return true }
        let first = max(known + 1, counters.lowerBound)
        guard counters.upperBound - first < UInt64(loose.count) else { return false }
        return (first...counters.upperBound).allSatisfy { contains(Dot(replica, $0)) }
    }
}
