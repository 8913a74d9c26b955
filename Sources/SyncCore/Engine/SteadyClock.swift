/// The time by which is judged how long something has been kept.
///
/// It goes with the wall clock, so that it survives a restart and follows corrections of a few
/// seconds, but not its leaps: a clock that is set by a year must not make a retry look a year
/// late, and what it asks for be done twice. What always holds: within a run it never leaps, and
/// what it stands off the wall clock by goes into the store with each batch.
public struct SteadyClock: Sendable {
    /// What the wall clock may differ from the boot clock between two looks, in milliseconds: what
    /// clock discipline slews in hours (adjtimex(2): 500 ppm) is no leap.
    static let leapMilliseconds: Int64 = 10_000
    private static let offsetBytes = 8

    private var last: Moment
    /// Milliseconds that are added to the wall clock.
    private var offset: Int64

    /// The clock as an earlier run kept it.
    ///
    /// - Parameters:
    ///   - kept: bytes of the store's clock; none or others for a clock that is right.
    ///   - notBefore: milliseconds that had been reached for sure.
    public init(at now: Moment, kept: [UInt8], notBefore: Int64 = .min) {
        last = now
        offset = Self.parts(of: kept).offset
        let reached = now.wallMilliseconds.addingReportingOverflow(offset)
        if reached.overflow { offset = 0 }
        if milliseconds < notBefore { offset = notBefore &- now.wallMilliseconds }
    }

    /// Milliseconds, on the scale of the wall clock.
    public var milliseconds: Int64 { last.wallMilliseconds &+ offset }

    /// Looks at the clocks.
    mutating func advance(to now: Moment) {
        let leap =
            (now.wallMilliseconds &- last.wallMilliseconds)
            &- (now.bootMilliseconds &- last.bootMilliseconds)
        if leap.magnitude > Self.leapMilliseconds.magnitude { offset &-= leap }
        last = now
    }

    /// The bytes of the store's clock: the greatest stamp given out, and where the wall clock has
    /// leapt, by how much.
    package func kept(with stamp: HybridTimestamp) -> [UInt8] {
        guard offset != 0 else { return stamp.encoded }
        return stamp.encoded + withUnsafeBytes(of: offset.bigEndian) { [UInt8]($0) }
    }

    /// The stamp in the bytes of the store's clock; the beginning of time for no bytes or others.
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
