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
    /// The offset, and the last reading: wall clock, boot clock, and which start of the machine.
    private static let readingBytes = 32

    private var last: Moment
    /// Milliseconds to be added to the wall clock.
    private var offset: Int64

    /// The clock of an earlier run.
    ///
    /// - Parameters:
    ///   - kept: the store's clock bytes. Without valid bytes the wall clock is trusted.
    ///   - notBefore: a time (milliseconds) that has certainly been reached.
    public init(at now: Moment, kept: [UInt8], notBefore: Int64 = .min) {
        let parts = Self.parts(of: kept)
        (last, offset) = (now, parts.offset)
        if let read = parts.read, read.boot == now.boot,
            read.bootMilliseconds <= now.bootMilliseconds
        {
            last = read
            advance(to: now)
        }
        if now.wallMilliseconds.addingReportingOverflow(offset).overflow { offset = 0 }
        if milliseconds < notBefore { offset = notBefore &- now.wallMilliseconds }
    }

    /// Milliseconds on the scale of the wall clock.
    public var milliseconds: Int64 { last.wallMilliseconds &+ offset }

    mutating func advance(to now: Moment) {
        let leap =
            (now.wallMilliseconds &- last.wallMilliseconds)
            &- (now.bootMilliseconds &- last.bootMilliseconds)
        if leap.magnitude > Self.leapMilliseconds.magnitude { offset &-= leap }
        last = now
    }

    /// The store's clock bytes: the greatest timestamp; the last reading, if the boot clock has a
    /// number, and the offset. Otherwise the offset alone, if the wall clock has leapt.
    package func kept(with stamp: HybridTimestamp) -> [UInt8] {
        var bytes = stamp.encoded
        func append(_ number: UInt64) {
            withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
        }
        guard last.boot != 0 || offset != 0 else { return bytes }
        append(UInt64(bitPattern: offset))
        guard last.boot != 0 else { return bytes }
        append(UInt64(bitPattern: last.wallMilliseconds))
        append(UInt64(bitPattern: last.bootMilliseconds))
        append(last.boot)
        return bytes
    }

    /// The timestamp in the store's clock bytes; the zero timestamp without valid bytes.
    package static func stamp(in kept: [UInt8]) -> HybridTimestamp { parts(of: kept).stamp }

    private static func parts(
        of kept: [UInt8]
    ) -> (stamp: HybridTimestamp, offset: Int64, read: Moment?) {
        for count in [0, offsetBytes, readingBytes] where kept.count > count {
            guard let stamp = try? HybridTimestamp(decoding: Array(kept.dropLast(count))) else {
                continue
            }
            let numbers = stride(from: kept.count - count, to: kept.count, by: 8).map { place in
                kept[place..<place + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            }
            let signed = numbers.map { Int64(bitPattern: $0) }
            guard count == readingBytes, numbers[3] != 0 else {
                return (stamp, signed.first ?? 0, nil)
            }
            let read = Moment(
                wallMilliseconds: signed[1], monotonicNanoseconds: 0, bootMilliseconds: signed[2],
                boot: numbers[3])
            return (stamp, signed[0], read)
        }
        return (HybridTimestamp(milliseconds: 0), 0, nil)
    }
}
