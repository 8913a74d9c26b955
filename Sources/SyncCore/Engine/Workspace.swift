/// What the execution of a request uses, kept for the next one.
struct Workspace: ~Copyable {
    /// Its buffer is as large as the longest text so far.
    var writer = JSONWriter()
    /// Counts the steps of patterns, which are compiled with it.
    let patternMeter: PatternMeter
    let compile: PatternCompiler
    /// What long access lists said during this request.
    var verdicts: [AccessPlace: Bool] = [:]

    init(compile: @escaping PatternCompiler) {
        let meter = PatternMeter()
        patternMeter = meter
        self.compile = { pattern in compile(pattern).map { $0.metered(meter) } }
    }

    /// JSON text, valid until the next call.
    mutating func encoded(_ body: (inout JSONWriter) -> Void) -> UnsafeBufferPointer<UInt8> {
        writer.removeAll()
        body(&writer)
        return writer.output
    }
}
