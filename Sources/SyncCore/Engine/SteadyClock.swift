/// The clock for data that is kept by age.
///
/// It follows the wall clock, so it works across restarts and follows corrections of a few seconds.
/// It does not follow leaps: if somebody sets the clock forward by a year, a retry must not look a
/// year late and be executed twice. Invariants: it never leaps within a run, and its offset from
/// the wall clock is stored with each batch.
public struct SteadyClock: Sendable {
    /// The most that the wall clock may drift from the boot clock between two readings, in
    /// milliseconds. Clock discipline slews less than this in hours (adjtimex(2): 500 ppm).
    static let leapMilliseconds: Int64 = 10_000
    private static let offsetBytes = 8

    private var last: Moment
    /// Milliseconds to be added to the wall clock.
    private var offset: Int64

    /// The clock of an earlier run.
    ///
    /// - Parameters:
    ///   - kept: the store's clock bytes. Without valid bytes the wall clock is trusted.
    ///   - notBefore: a time (milliseconds) that has certainly been reached.
    public init(at now: Moment, kept: [UInt8], notBefore: Int64 = .min) {
        last = now
        offset = Self.parts(of: kept).offset
        let reached = now.wallMilliseconds.addingReportingOverflow(offset)
        if reached.overflow { offset = 0 }
        if milliseconds < notBefore { offset = notBefore &- now.wallMilliseconds }
    }

    /// Milliseconds on the scale of the wall clock.
    public var milliseconds: Int64 { last.wallMilliseconds &+ offset }

    /// Reads the clocks.
    mutating func advance(to now: Moment) {
        let leap =
            (now.wallMilliseconds &- last.wallMilliseconds)
            &- (now.bootMilliseconds &- last.bootMilliseconds)
        if leap.magnitude > Self.leapMilliseconds.magnitude { offset &-= leap }
        last = now
    }

    /// The store's clock bytes: the greatest timestamp, and the offset if the wall clock has leapt.
    package func kept(with stamp: HybridTimestamp) -> [UInt8] {
        guard offset != 0 else { return stamp.encoded }
        return stamp.encoded + withUnsafeBytes(of: offset.bigEndian) { [UInt8]($0) }
    }

    /// The timestamp in the store's clock bytes; the zero timestamp without valid bytes.
    package static func stamp(in kept: [UInt8]) -> HybridTimestamp { parts(of: kept).stamp }

    private static func parts(of kept: [UInt8]) -> (stamp: HybridTimestamp, offset: Int64) {
        if let stamp = try? HybridTimestamp(decoding: kept) { return (stamp, 0) }
        guard kept.count > offsetBytes,
            let stamp = try? HybridTimestamp(decoding: Array(kept.dropLast(offsetBytes)))
        else { return (HybridTimestamp(milliseconds: 0), 0) }
        let bits = kept.suffix(offsetBytes).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return (stamp, Int64(bitPattern: bits))
    }
}
