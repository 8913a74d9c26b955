import Testing

@testable import SyncCore

/// What subscribers get from a form's change log, by cursor.
@Suite struct ChangeLogTests {
    private let retained = RetainedBytes()

    private func append(_ byte: UInt8, to log: inout ChangeLog, bytesMax: Int = 1 << 20) {
        log.append(
            [UInt8](repeating: byte, count: 100), touched: FieldNumbers(single: Int(byte)),
            bytesMax: bytesMax, retained: retained)
    }

    /// The first byte of each revision that is read.
    private func read(
        _ log: inout ChangeLog, from cursor: inout UInt64, filter: FieldNumbers? = nil,
        behind bytes: Int = 0, bytesMax: Int = 1 << 20
    ) -> [UInt8] {
        var output = Output()
        if bytes > 0 { output.append(own: FrameChunk([UInt8](repeating: 99, count: bytes))) }
        log.read(from: &cursor, filter: filter, into: &output, bytesMax: bytesMax)
        let text = output.segments.flatMap { segment in
            Array(UnsafeRawBufferPointer(start: segment.baseAddress, count: segment.count))
        }
        #expect(text.count == output.byteCount)
        return stride(from: bytes, to: text.count, by: 100).map { text[$0] }
    }

    @Test("each subscriber gets what it has not seen, independent of the one before it")
    func places() {
        var log = ChangeLog(next: 5)
        for byte in UInt8(0)..<4 { append(byte, to: &log) }
        var (first, second, behind) = (UInt64(5), UInt64(5), UInt64(7))
        #expect(read(&log, from: &first) == [0, 1, 2, 3])
        #expect(read(&log, from: &second) == [0, 1, 2, 3])
        #expect(read(&log, from: &behind) == [2, 3])
        #expect([first, second, behind] == [9, 9, 9])
        #expect(read(&log, from: &first) == [])
        append(4, to: &log)
        #expect(read(&log, from: &first) == [4])
        #expect(read(&log, from: &second) == [4])
        append(5, to: &log)
        #expect(read(&log, from: &behind) == [4, 5])
        #expect(read(&log, from: &first) == [5])
    }

    @Test("a bound, a filter and existing bytes apply only to the subscriber that has them")
    func bounds() {
        var log = ChangeLog(next: 1)
        for byte in UInt8(0)..<4 { append(byte, to: &log) }
        var (all, few, chosen, behind, later) = (
            UInt64(1), UInt64(1), UInt64(1), UInt64(1), UInt64(1)
        )
        #expect(read(&log, from: &all) == [0, 1, 2, 3])
        #expect(read(&log, from: &few, bytesMax: 150) == [0, 1])
        #expect(read(&log, from: &chosen, filter: FieldNumbers(single: 2)) == [2])
        #expect(read(&log, from: &behind, behind: 30) == [0, 1, 2, 3])
        #expect(read(&log, from: &later) == [0, 1, 2, 3])
        #expect([all, few, chosen, behind, later] == [5, 3, 5, 5, 5])
    }

    @Test("a log that begins again gives nothing of the line before it")
    func restart() {
        var log = ChangeLog(next: 1)
        append(1, to: &log)
        var cursor = UInt64(1)
        #expect(read(&log, from: &cursor) == [1])
        log.restart(next: 1)
        append(2, to: &log)
        cursor = 1
        #expect(read(&log, from: &cursor) == [2])
    }

    @Test("what was read last holds no chunk that the log has dropped")
    func dropped() {
        var log = ChangeLog(next: 1)
        var cursor = UInt64(1)
        append(1, to: &log, bytesMax: 4096)
        #expect(read(&log, from: &cursor) == [1])
        for byte in UInt8(2)..<200 { append(byte, to: &log, bytesMax: 4096) }
        #expect(log.first > 1)
        #expect(retained.bytes == 0)
    }
}
