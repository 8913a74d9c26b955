/// How large the parts of a request may be; what the decoder refuses before the engine sees it.
public struct RequestBounds: Hashable, Sendable {
    /// Bytes of the name of a form or field, and of a glob. Names that exist have 63 at most.
    public var nameBytesMax = 128
    /// Globs in one request.
    public var globsMax = 256
    /// Bytes of the globs of one request that are no names: each is tried on each field.
    public var globBytesMax = 4096
    /// Bytes of an idempotency key.
    public var keyBytesMax = 128
    /// Bytes of a context token; more is `limit`.
    public var contextBytesMax = 4096
    /// Changes in one transaction, and fields in `requireFields`; more is `limit`.
    public var changesMax = 10_000
    /// Tags in one `add` or `remove`; more is `limit`.
    public var tagsMax = 10_000
    /// Bytes of a draft's JSON text; more is `limit`.
    public var draftBytesMax = 4096
    /// Bytes of `client`, `session` and `tty` in a greeting, each.
    public var greetingBytesMax = 128
    /// Bytes of a request's id as it is written: it is echoed.
    public var idBytesMax = 256
    /// Requests in one batch; more is `limit`.
    public var requestBatchMax = 1000

    /// The bounds as shipped.
    public init() {}
}
