/// Buffers and counters that a request uses and that the next request uses again.
struct Workspace: ~Copyable {
    /// Its buffer keeps the size of the longest text so far.
    var writer = JSONWriter()
    /// Counts the steps of patterns, which are compiled with it.
    let patternMeter: PatternMeter
    let compile: PatternCompiler
    /// The method of the request; `nil` for a frame that is not decoded yet.
    var method: Method?
    /// The longest request since the shell last asked.
    var longestRequest = LongestRequest()
    /// The results of long access lists during this request.
    var verdicts: [AccessPlace: Bool] = [:]
    /// See `Engine.onSilentWrite`.
    var onSilentWrite: ((Author, UInt64, [Dot]) -> Void)?

    init(compile: @escaping PatternCompiler) {
        let meter = PatternMeter()
        patternMeter = meter
        self.compile = { pattern in compile(pattern).map { $0.metered(meter, pattern) } }
    }

    /// JSON text, valid until the next call.
    mutating func encoded(_ body: (inout JSONWriter) -> Void) -> UnsafeBufferPointer<UInt8> {
        writer.removeAll()
        body(&writer)
        return writer.output
    }
}
