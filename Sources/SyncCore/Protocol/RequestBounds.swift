/// Limits for the parts of a request, which the decoder checks.
public struct RequestBounds: Hashable, Sendable {
    /// Bytes of the name of a form or field, and of a glob. Existing names have at most 63.
    public var nameBytesMax = 128
    /// Globs in one request.
    public var globsMax = 256
    /// Bytes of the globs of one request that are not names. Each is matched against each field.
    public var globBytesMax = 4096
    /// The same of a handler, which are matched for each press.
    public var handlerGlobBytesMax = 256
    /// Bytes of an idempotency key.
    public var keyBytesMax = 128
    /// Bytes and grapheme clusters of a message that says why something is changed.
    public var messageBytesMax = 512
    public var messageCharactersMax = 200
    /// Bytes of a context token; more is `limit`.
    public var contextBytesMax = 4096
    /// Changes in one transaction, and fields in `requireFields`; more is `limit`.
    public var changesMax = 5_000
    /// Tags in one `add` or `remove`; more is `limit`.
    public var tagsMax = 10_000
    /// Bytes of a draft's JSON text; more is `limit`.
    public var draftBytesMax = 4096
    /// Bytes of each of `client`, `session` and `tty` in `hello`.
    public var greetingBytesMax = 128
    /// Bytes of a request's id, which is repeated in the response.
    public var idBytesMax = 256
    /// Bytes of the text of a run: a line under its button.
    public var textBytesMax = 256
    /// Tickets in one request.
    public var ticketsMax = 256
    /// Values and names of members in one frame; more is `limit`.
    public var valuesMax = 100_000
    /// Requests in one batch; more is `limit`.
    public var requestBatchMax = 1000

    /// The default limits.
    public init() {}
}
