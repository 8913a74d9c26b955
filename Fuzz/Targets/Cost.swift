internal import EngineTestKit
internal import FormFile
internal import SyncCore

// The frame that costs most a byte, on a form that has something of everything.
//
// The measure is work and not time: comparisons, which `make fuzz` has the compiler count
// (Fuzz/CFuzzer/work.c). In `make test` nothing is counted and the inputs are replayed alone.

/// How work is counted, and where an input is told that costs more a byte than others.
public struct WorkMeter: Sendable {
    /// What was done so far, in comparisons.
    public let work: @Sendable () -> UInt64
    /// Notes that an input costs so much a byte, in steps of the square root of two.
    public let reached: @Sendable (UInt32) -> Void

    /// A meter of those functions.
    public init(
        work: @escaping @Sendable () -> UInt64, reached: @escaping @Sendable (UInt32) -> Void
    ) {
        self.work = work
        self.reached = reached
    }

    /// The meter in use; set once, before the first input.
    nonisolated(unsafe) public static var current = WorkMeter(work: { 0 }, reached: { _ in })
}

/// A form of every type of control, with as much behind each edit as a hundred fields can have.
private let definition: String = {
    let toggles = (0..<40).map {
        #"{"id":"a\#($0)","type":"toggle","required":true,"enabledWhen":"complete"}"#
    }
    let sources = (0..<40).map { #""a\#($0)""# }.joined(separator: ",")
    let options = (0..<400).map { "\(100 + $0)" }.joined(separator: ",")
    let others = [
        #"{"id":"p","type":"picker","options":[\#(options)]}"#,
        #"{"id":"m","type":"picker","multiple":true,"options":[\#(options)]}"#,
        #"{"id":"s","type":"toggle","sources":[\#(sources)]}"#,
        #"{"id":"n","type":"stepper","min":0,"max":10}"#,
        #"{"id":"t","type":"text","maxLength":400,"pattern":"(?:(?=.*+)(?=.*+)(?=.*+).)*+"}"#,
        #"{"id":"c","type":"text","binds":"t","pattern":"(?:(?=.*+)(?=.*+)(?=.*+).)*+","maxLength":400}"#,
        #"{"id":"w","type":"wheels","components":[{"id":"u","options":["1","2"]},{"id":"v","options":["3","4"]}]}"#,
        #"{"id":"k","type":"text","maxLength":20,"onConflict":"ask"}"#,
        #"{"id":"b","type":"button"}"#, #"{"id":"x","type":"secure"}"#,
        #"{"id":"l","type":"label","text":"${t} ${m} ${w.u}"}"#,
    ]
    return #"{"form":"f","fields":[\#((toggles + others).joined(separator: ","))]}"#
}()

/// Requests that give what is there some weight.
private let weights = [
    #"{"field":"m","value":[\#((0..<400).map { "\(100 + $0)" }.joined(separator: ","))]}"#,
    #"{"field":"t","value":"\#(String(repeating: "a", count: 400))"}"#,
    #"{"field":"s","value":true}"#,
]

/// Comparisons that any request may cost, on a form of that size, and for each of its bytes.
private let workMax: UInt64 = 4_000_000
private let workAByteMax: UInt64 = 20_000

/// Each line is one frame of one client; none costs more than its bytes allow.
func fuzzCost(_ bytes: [UInt8]) {
    guard let host = try? EngineHost(compile: RegularExpression.compiler) else {
        return law(false, "an engine starts over nothing")
    }
    let root = host.connect(uid: 0, user: "root")
    host.ask(
        root,
        #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":\#(definition)}}"#)
    host.ask(
        root,
        #"{"jsonrpc":"2.0","id":1,"method":"state.set","params":{"form":"f","changes":[\#(weights.joined(separator: ","))]}}"#
    )
    let client = host.connect(uid: 0, user: "root")
    for line in bytes.split(separator: 0x0A).prefix(16) {
        let frame = Frame.encode(text: Array(line))
        let before = WorkMeter.current.work()
        host.sendBytes(client, frame)
        host.settle()
        let work = WorkMeter.current.work() &- before
        WorkMeter.current.reached(steps(work / UInt64(frame.count)))
        let most = workMax + workAByteMax * UInt64(frame.count)
        law(work <= most, "a frame of \(frame.count) bytes cost \(work) comparisons, of \(most)")
    }
}

/// Twice the logarithm of a ratio to the base of 2.
private func steps(_ ratio: UInt64) -> UInt32 {
    guard ratio > 0 else { return 0 }
    let whole = 63 - ratio.leadingZeroBitCount
    let half: UInt64 = ratio >> UInt64(max(0, whole - 1)) & 1
    return UInt32(2 * whole) + (whole > 0 ? UInt32(half) : 0)
}
