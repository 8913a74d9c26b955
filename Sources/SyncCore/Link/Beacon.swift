// What a host says of itself to the others, every ten seconds and soon after a change.
//
// A beacon is sealed like any message, so nobody outside of the fleet can say that hosts disagree.

/// A host's word on what it has.
package struct Beacon: Hashable, Sendable {
    package struct Form: Hashable, Sendable {
        package var name: String
        /// A digest of its causal state.
        package var digest: UInt64
        /// How many of its own transactions are not acknowledged, and one if the form waits.
        package var unsent: UInt64
        /// An edit waits for the whole of the form that it is of, which this host has not read.
        package var wantsWhole: Bool = false

        fileprivate func precedes(_ other: Form) -> Bool {
            name.utf8.lexicographicallyPrecedes(other.name.utf8)
        }
    }

    /// How far a host has a stream.
    package struct Place: Hashable, Sendable {
        /// The site that has the stream; empty: the fleet has one.
        package var site: String
        /// Which life of the stream it reads; empty if it cannot say how far.
        package var stream: String
        /// How far its store has it.
        package var sequence: UInt64
        /// Whether it reads on now.
        package var isReached: Bool
    }

    /// 64 random bits of this start of the daemon.
    package var run: UInt64
    package var replica: ReplicaID
    /// How long it has been linked without a break, in milliseconds: of two hosts with one name the
    /// one that came later yields.
    package var linkedMilliseconds: UInt64
    /// The cursor: which life of the stream it reads, and how far its store has it. It is the
    /// stream where it publishes.
    package var stream: String
    package var sequence: UInt64
    /// The sequence of the newest message of its own that the stream has taken.
    package var acknowledged: UInt64
    /// Its wall clock, in milliseconds since 1970.
    package var clock: Int64
    /// The daemon's version, for people.
    package var version: String
    /// The highest version of messages that it reads.
    package var reads: UInt64
    /// What it has of each linked form, in ascending order of the bytes of their names.
    package let forms: [Form]
    /// The site whose stream that is; empty: the fleet has one stream.
    package var site: String
    /// The streams of other sites.
    package var others: [Place]

    package init(
        run: UInt64, replica: ReplicaID, linkedMilliseconds: UInt64, stream: String,
        sequence: UInt64, acknowledged: UInt64, clock: Int64, version: String,
        reads: UInt64 = LinkHeaders.version, forms: [Form], site: String = "",
        others: [Place] = []
    ) {
        self.run = run
        self.replica = replica
        self.linkedMilliseconds = linkedMilliseconds
        self.stream = stream
        self.sequence = sequence
        self.acknowledged = acknowledged
        self.clock = clock
        self.version = version
        self.reads = reads
        self.forms = forms.sorted { $0.precedes($1) }
        self.site = site
        self.others = others
    }

    var item: LinkItem { LinkItem(.beacon, encoded) }

    /// What it has of a form; `nil` if it does not share it.
    func form(named name: String) -> Form? {
        var range = forms[...]
        while !range.isEmpty {
            let middle = range.startIndex + range.count / 2
            if range[middle].name.isSameBytes(as: name) { return range[middle] }
            range =
                range[middle].name.utf8.lexicographicallyPrecedes(name.utf8)
                ? range[(middle + 1)...] : range[..<middle]
        }
        return nil
    }

    /// How far it has each stream, that of its site first.
    var places: [Place] {
        [Place(site: site, stream: stream, sequence: sequence, isReached: true)] + others
    }

    /// Whether equal cursors mean equal digests of a form: it has nothing that others cannot have
    /// read up to that cursor.
    func hasTold(_ form: Form) -> Bool { form.unsent == 0 && acknowledged <= sequence }
}

extension Beacon: CausalityCodable {
    package func write(to writer: inout CausalityWriter) {
        writer.unsigned(run)
        replica.write(to: &writer)
        writer.unsigned(linkedMilliseconds)
        writer.string(stream)
        writer.unsigned(sequence)
        writer.unsigned(acknowledged)
        writer.signed(clock)
        writer.string(version)
        writer.unsigned(reads)
        writer.list(forms)
        // A fleet with one stream says nothing of sites, as before there were any.
        if site.isEmpty { return }
        writer.string(site)
        writer.list(others)
    }

    package init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        self.init(
            run: try reader.unsigned(), replica: try ReplicaID(from: &reader),
            linkedMilliseconds: try reader.unsigned(), stream: try reader.string(),
            sequence: try reader.unsigned(), acknowledged: try reader.unsigned(),
            clock: try reader.signed(), version: try reader.string(),
            reads: try reader.unsigned(), forms: try Self.forms(from: &reader))
        guard !reader.isAtEnd else { return }
        site = try Self.site(from: &reader)
        others = try reader.list()
    }

    fileprivate static func site(
        from reader: inout CausalityReader
    ) throws(CausalityDecodeError) -> String {
        let start = reader.offset
        let site = try reader.string()
        return try reader.checked(
            LinkSubject.isName(site) ? site : nil, from: start, "the name of a site")
    }

    private static func forms(
        from reader: inout CausalityReader
    ) throws(CausalityDecodeError) -> [Form] {
        let start = reader.offset
        let forms = try reader.list(of: Form.self)
        let isSound =
            zip(forms, forms.dropFirst()).allSatisfy { $0.precedes($1) }
            && forms.allSatisfy(\.name.isFormName)
        return try reader.checked(isSound ? forms : nil, from: start, "forms in ascending order")
    }
}

extension Beacon.Place: CausalityCodable {
    package func write(to writer: inout CausalityWriter) {
        writer.string(site)
        writer.string(stream)
        writer.unsigned(sequence)
        writer.flag(isReached)
    }

    package init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        self.init(
            site: try Beacon.site(from: &reader), stream: try reader.string(),
            sequence: try reader.unsigned(), isReached: try reader.flag())
    }
}

extension Beacon.Form: CausalityCodable {
    package func write(to writer: inout CausalityWriter) {
        writer.string(name)
        writer.unsigned(digest)
        writer.unsigned(unsent)
        writer.flag(wantsWhole)
    }

    package init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        self.init(
            name: try reader.string(), digest: try reader.unsigned(),
            unsent: try reader.unsigned(), wantsWhole: try reader.flag())
    }
}
