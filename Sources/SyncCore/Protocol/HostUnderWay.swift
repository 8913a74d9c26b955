/// What another host has under way in a form: its leases, the presses of its buttons that wait or
/// run, and its proposals that wait. That host alone ends, assigns and applies them.
public struct HostUnderWay: Hashable, Sendable {
    public var host: String
    /// Since when it is away; `nil` while it is there.
    public var awaySince: Timestamp?
    /// In ascending order of their fields.
    public var leases: [Lease] = []
    /// Those that run come first, then those that wait. The last outcome of a button with
    /// `handledAt` is behind them.
    public var runs: [Run] = []
    /// The oldest comes first.
    public var proposals: [FormProposal] = []

    /// The lease of a field.
    public struct Lease: Hashable, Sendable {
        public var field: String
        /// The dot of its write. Where that is gone, the lease has ended.
        public var write: String
        public var lease: FieldLease
    }

    /// A press of a button.
    public struct Run: Hashable, Sendable {
        public var field: String
        public var run: ButtonRun
    }

    /// A host with nothing under way.
    public init(_ host: String, awaySince: Timestamp? = nil) {
        self.host = host
        self.awaySince = awaySince
    }

    /// Whether nothing is under way.
    var isEmpty: Bool { leases.isEmpty && runs.isEmpty && proposals.isEmpty }

    /// The same, each part with its host.
    func named(_ host: String) -> HostUnderWay {
        var named = self
        named.host = host
        named.awaySince = nil
        for place in named.leases.indices { named.leases[place].lease.host = host }
        for place in named.runs.indices { named.runs[place].run.host = host }
        for place in named.proposals.indices {
            named.proposals[place].host = host
            named.proposals[place].awaySince = nil
        }
        return named
    }
}

extension HostUnderWay: WireObject, WireReadable {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("host", host)
        writer.member("awaySince", awaySince)
        if !leases.isEmpty { writer.member("leases", leases) }
        if !runs.isEmpty { writer.member("runs", runs) }
        if !proposals.isEmpty { writer.member("proposals", proposals) }
    }

    package init(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        host = try reader.string("host")
        awaySince = try reader.moment("awaySince")
        leases = try reader.list("leases")
        runs = try reader.list("runs")
        proposals = try reader.list("proposals")
    }
}

extension HostUnderWay.Lease: WireObject, WireReadable {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("field", field)
        writer.member("write", write)
        lease.encodeMembers(into: &writer)
    }

    package init(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        field = try reader.string("field")
        write = try reader.string("write")
        lease = try FieldLease(decoding: json, path: path)
    }
}

extension HostUnderWay.Run: WireObject, WireReadable {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("field", field)
        run.encodeMembers(into: &writer)
    }

    package init(decoding json: JSON, path: String) throws(DecodeError) {
        field = try WireReader(json, path).string("field")
        run = try ButtonRun(decoding: json, path: path)
    }
}
