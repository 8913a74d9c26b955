// The binary forms of dot stores and of whole forms.

extension MultiValueRegister.Sibling: CausalityCodable where Payload: CausalityCodable {
    public func write(to writer: inout CausalityWriter) {
        dot.write(to: &writer)
        stamp.write(to: &writer)
        payload.write(to: &writer)
    }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        self.init(
            dot: try Dot(from: &reader), stamp: try HybridTimestamp(from: &reader),
            payload: try Payload(from: &reader))
    }
}

extension MultiValueRegister: CausalityCodable where Payload: CausalityCodable {
    public func write(to writer: inout CausalityWriter) { writer.list(siblings) }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        let start = reader.offset
        let register = Self(sorted: try reader.list(of: Sibling.self))
        self = try reader.checked(register, from: start, "siblings in ascending order")
    }
}

extension ComponentMap.Component: CausalityCodable {
    public func write(to writer: inout CausalityWriter) {
        writer.string(id)
        register.write(to: &writer)
    }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        self.init(
            id: try reader.string(), register: try ComponentMap.Register(from: &reader))
    }
}

extension ComponentMap: CausalityCodable {
    public func write(to writer: inout CausalityWriter) { writer.list(components) }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        let start = reader.offset
        let map = Self(sorted: try reader.list(of: Component.self))
        self = try reader.checked(map, from: start, "components in ascending order, none empty")
    }
}

extension AddWinsSet.Tag: CausalityCodable {
    public func write(to writer: inout CausalityWriter) {
        switch self {
        case .boolean(let flag):
            writer.byte(0)
            writer.flag(flag)
        case .integer(let integer):
            writer.byte(1)
            writer.signed(integer)
        case .string(let string):
            writer.byte(2)
            writer.string(string)
        }
    }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        let start = reader.offset
        switch try reader.byte() {
        case 0: self = .boolean(try reader.flag())
        case 1: self = .integer(try reader.signed())
        case 2: self = .string(try reader.string())
        default: throw .invalid(offset: start, what: "a kind of tag, 0 to 2")
        }
    }
}

extension AddWinsSet.Entry: CausalityCodable {
    public func write(to writer: inout CausalityWriter) {
        tag.write(to: &writer)
        writer.list(dots)
    }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        self.init(tag: try AddWinsSet.Tag(from: &reader), dots: try reader.list())
    }
}

extension AddWinsSet: CausalityCodable {
    public func write(to writer: inout CausalityWriter) {
        writer.list(entries)
        writer.list(marks)
    }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        let start = reader.offset
        let entries = try reader.list(of: Entry.self)
        let set = Self(sorted: entries, marks: try reader.list())
        self = try reader.checked(set, from: start, "tags and dots in ascending order, none empty")
    }
}

extension EpochCounter.Base: CausalityCodable {
    public func write(to writer: inout CausalityWriter) {
        dot.write(to: &writer)
        stamp.write(to: &writer)
        writer.optional(value) { $1.write(to: &$0) }
        author.write(to: &writer)
    }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        self.init(
            dot: try Dot(from: &reader), stamp: try HybridTimestamp(from: &reader),
            value: try reader.optional(), author: try Author(from: &reader))
    }
}

extension EpochCounter.Increments: CausalityCodable {
    public func write(to writer: inout CausalityWriter) {
        dot.write(to: &writer)
        writer.optional(epoch) { $1.write(to: &$0) }
        sum.write(to: &writer)
    }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        self.init(
            dot: try Dot(from: &reader), epoch: try reader.optional(),
            sum: try DecimalNumber(from: &reader))
    }
}

extension EpochCounter: CausalityCodable {
    public func write(to writer: inout CausalityWriter) {
        writer.list(bases)
        writer.list(increments)
    }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        let start = reader.offset
        let bases = try reader.list(of: Base.self)
        let counter = Self(bases: bases, increments: try reader.list())
        self = try reader.checked(counter, from: start, "each dot once")
    }
}

extension PressCounter.Entry: CausalityCodable {
    public func write(to writer: inout CausalityWriter) {
        dot.write(to: &writer)
        writer.unsigned(presses)
    }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        self.init(dot: try Dot(from: &reader), presses: try reader.unsigned())
    }
}

extension PressCounter: CausalityCodable {
    public func write(to writer: inout CausalityWriter) { writer.list(entries) }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        let start = reader.offset
        let counter = Self(sorted: try reader.list(of: Entry.self))
        self = try reader.checked(counter, from: start, "presses in ascending order of dots")
    }
}

extension SealedRegister: CausalityCodable {
    public func write(to writer: inout CausalityWriter) {
        writer.optional(secret) { writer, secret in
            secret.dot.write(to: &writer)
            secret.stamp.write(to: &writer)
            writer.optional(secret.bytes) { $0.blob($1) }
        }
    }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        let secret = try reader.optional { reader throws(CausalityDecodeError) in
            Secret(
                dot: try Dot(from: &reader), stamp: try HybridTimestamp(from: &reader),
                bytes: try reader.optional { reader throws(CausalityDecodeError) in
                    try reader.blob()
                })
        }
        self = secret.map { SealedRegister($0) } ?? SealedRegister()
    }
}

extension FieldStore: CausalityCodable {
    public func write(to writer: inout CausalityWriter) {
        writer.byte(kind.rawValue)
        switch self {
        case .register(let store): store.write(to: &writer)
        case .components(let store): store.write(to: &writer)
        case .tags(let store): store.write(to: &writer)
        case .counter(let store): store.write(to: &writer)
        case .presses(let store): store.write(to: &writer)
        case .sealed(let store): store.write(to: &writer)
        }
    }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        let start = reader.offset
        let kind = Kind(rawValue: try reader.byte())
        switch try reader.checked(kind, from: start, "a kind of store, 1 to 6") {
        case .register: self = .register(try MultiValueRegister(from: &reader))
        case .components: self = .components(try ComponentMap(from: &reader))
        case .tags: self = .tags(try AddWinsSet(from: &reader))
        case .counter: self = .counter(try EpochCounter(from: &reader))
        case .presses: self = .presses(try PressCounter(from: &reader))
        case .sealed: self = .sealed(try SealedRegister(from: &reader))
        }
    }
}

extension CausalForm.Field: CausalityCodable {
    public func write(to writer: inout CausalityWriter) {
        writer.string(key.id)
        store.write(to: &writer)
    }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        self.init(id: try reader.string(), store: try FieldStore(from: &reader))
    }
}

extension CausalForm: CausalityCodable {
    public func write(to writer: inout CausalityWriter) {
        context.write(to: &writer)
        writer.list(fields)
    }

    public init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        let start = reader.offset
        let context = try CausalContext(from: &reader)
        let form = Self(context: context, sorted: try reader.list())
        self = try reader.checked(
            form, from: start, "fields in ascending order, none empty, each dot in the context")
    }
}
