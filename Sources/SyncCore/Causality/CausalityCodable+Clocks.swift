// The binary forms of replicas, dots, clocks, contexts, authors and values.

extension ReplicaID: CausalityCodable {
    public func write(to writer: inout CausalityWriter) {
        writer.unsigned(id)
        writer.unsigned(UInt64(epoch))
    }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        let start = reader.offset
        let id = try reader.unsigned()
        guard id <= Self.idMax else {
            throw .invalid(offset: start, what: "a replica id of 48 bits")
        }
        self.init(id: id, epoch: try reader.unsigned32())
    }
}

extension Dot: CausalityCodable {
    public func write(to writer: inout CausalityWriter) {
        replica.write(to: &writer)
        writer.unsigned(counter)
    }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        let replica = try ReplicaID(from: &reader)
        let start = reader.offset
        let counter = try reader.unsigned()
        guard counter > 0 else { throw .invalid(offset: start, what: "a counter above 0") }
        self.init(replica, counter)
    }
}

extension HybridTimestamp: CausalityCodable {
    public func write(to writer: inout CausalityWriter) {
        writer.signed(milliseconds)
        writer.unsigned(UInt64(logical))
    }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        self.init(milliseconds: try reader.signed(), logical: try reader.unsigned32())
    }
}

extension CausalContext: CausalityCodable {
    public func write(to writer: inout CausalityWriter) {
        writer.list(vector.entries.map { Dot($0.replica, $0.counter) })
        writer.list(loose)
    }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        let start = reader.offset
        let entries = try reader.list(of: Dot.self)
        let loose = try reader.list(of: Dot.self)
        let ascends =
            zip(entries, entries.dropFirst()).allSatisfy { $0.replica < $1.replica }
            && zip(loose, loose.dropFirst()).allSatisfy { $0 < $1 }
        guard ascends else {
            throw .invalid(offset: start, what: "entries and loose dots in ascending order")
        }
        let vector = VersionVector(entries.map { VersionVector.Entry($0.replica, $0.counter) })
        let context = CausalContext(vector, loose: loose)
        guard context.loose.count == loose.count else {
            throw .invalid(offset: start, what: "loose dots that do not touch the vector")
        }
        self = context
    }
}

extension Author: CausalityCodable {
    public func write(to writer: inout CausalityWriter) {
        writer.string(user)
        writer.unsigned(UInt64(uid))
        writer.optional(client) { $0.string($1) }
        writer.optional(tty) { $0.string($1) }
        writer.unsigned(connection)
        replica.write(to: &writer)
        if writer.version > 1 { writer.optional(host) { $0.string($1) } }
        if host != nil { writer.hasHosts = true }
    }

    public convenience init(
        from reader: inout CausalityReader
    ) throws(CausalityDecodeError) {
        self.init(
            user: try reader.string(), uid: try reader.unsigned32(),
            client: try reader.optionalString(), tty: try reader.optionalString(),
            connection: try reader.unsigned(), replica: try ReplicaID(from: &reader),
            host: reader.version > 1 ? try reader.optionalString() : nil)
    }
}

extension DecimalNumber: CausalityCodable {
    public func write(to writer: inout CausalityWriter) {
        writer.signed(significand)
        writer.signed(Int64(exponent))
    }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        let start = reader.offset
        let significand = try reader.signed()
        let exponent = try reader.signed()
        let bounds = Int64(-DecimalNumber.exponentMax)...Int64(DecimalNumber.exponentMax)
        let number =
            bounds.contains(exponent)
            ? DecimalNumber(significand: Int128(significand), exponent: Int(exponent)) : nil
        self = try reader.checked(number, from: start, "a decimal number within its bounds")
    }
}

extension Written: CausalityCodable {
    public func write(to writer: inout CausalityWriter) {
        writer.optional(value) { $0.blob($1.encoded) }
        author.write(to: &writer)
    }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        let value = try reader.optional { reader throws(CausalityDecodeError) -> JSON in
            let start = reader.offset
            let bytes = try reader.blob()
            do throws(JSONError) {
                return try JSON(stored: bytes)
            } catch {
                throw .invalid(offset: start, what: "JSON (\(error))")
            }
        }
        self.init(value: value, author: try Author(from: &reader))
    }
}
