import Testing

@testable import SyncCore

/// What subscribers get from a form's change log, by cursor.
@Suite struct ChangeLogTests {
    private let retained = RetainedBytes()

    private func append(_ byte: UInt8, to log: inout ChangeLog, bytesMax: Int = 1 << 20) {
        hide(byte, in: &log, bytesMax: bytesMax)
        _ = log.show(upTo: log.end - 1, bytesMax: bytesMax, retained: retained)
    }

    /// Appends a revision that nobody may read yet.
    private func hide(_ byte: UInt8, in log: inout ChangeLog, bytesMax: Int = 1 << 20) {
        _ = log.append(
            [UInt8](repeating: byte, count: 100), touched: FieldNumbers(single: Int(byte)),
            bytesMax: bytesMax)
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

    @Test("what is not durable is not read, and a part of it may become durable")
    func hidden() {
        var log = ChangeLog(next: 1)
        append(1, to: &log)
        for byte in UInt8(2)..<5 { hide(byte, in: &log) }
        var (cursor, chosen) = (UInt64(1), UInt64(1))
        #expect(read(&log, from: &cursor) == [1])
        #expect(read(&log, from: &chosen, filter: FieldNumbers(single: 3)) == [])
        let shown = [UInt64(3), 2].map { log.show(upTo: $0, bytesMax: 4096, retained: retained) }
        #expect(shown == [true, false])
        #expect(read(&log, from: &cursor) == [2, 3])
        #expect(read(&log, from: &chosen, filter: FieldNumbers(single: 3)) == [3])
        #expect([log.next, log.end, cursor, chosen] == [4, 5, 4, 4])
    }

    @Test("revisions of a failed batch are never read, and their bytes do not change")
    func removed() {
        var log = ChangeLog(next: 1)
        append(1, to: &log)
        let failed = log.append([9, 9], touched: nil, bytesMax: 1 << 20)
        hide(2, in: &log)
        log.remove(from: 2, retained)
        append(3, to: &log)
        var cursor = UInt64(1)
        #expect(read(&log, from: &cursor) == [1, 3])
        #expect(failed.array == [9, 9])
    }

    @Test("a chunk that a write holds is counted once its log has dropped and removed all of it")
    func removedAfterDrop() {
        var log = ChangeLog(next: 1)
        append(1, to: &log)
        hide(2, in: &log)
        var cursor = UInt64(1)
        var output = Output()
        log.read(from: &cursor, filter: nil, into: &output, bytesMax: 1 << 20)
        log.dropShown(retained)
        log.remove(from: 2, retained)
        #expect(retained.bytes == output.segments[0].chunk.capacity)
        output = Output()
        #expect(retained.bytes == 0)
    }

    @Test("a log that is dropped keeps what is not shown yet")
    func droppedBeforeShown() {
        var log = ChangeLog(next: 1)
        append(1, to: &log)
        hide(2, in: &log)
        log.dropShown(retained)
        #expect([log.first, log.next, log.end] == [2, 2, 3])
        #expect(retained.bytes == 0)
        hide(3, in: &log)
        log.renumber { $0 + 10 }
        _ = log.show(upTo: 3, bytesMax: 1 << 20, retained: retained)
        var (cursor, chosen) = (UInt64(2), UInt64(2))
        #expect(read(&log, from: &cursor) == [2, 3])
        #expect(read(&log, from: &chosen, filter: FieldNumbers(single: 13)) == [3])
    }

    @Test("pending revisions beyond the bound drop nothing that can be read")
    func pending() {
        var log = ChangeLog(next: 1)
        append(1, to: &log, bytesMax: 4096)
        for byte in UInt8(2)..<200 { hide(byte, in: &log, bytesMax: 4096) }
        #expect([log.first, log.next] == [1, 2])
        _ = log.show(upTo: 199, bytesMax: 4096, retained: retained)
        var cursor = log.first
        #expect(cursor > 1)
        #expect(read(&log, from: &cursor).last == 199)
        #expect(retained.bytes == 0)
    }

    @Test("a frame is written into the log, or into a new chunk if it does not fit")
    func written() {
        var log = ChangeLog(next: 1)
        var texts: [String] = []
        for length in [10, 1_000, 1_500, 3_000, 200_000] {
            let text = String(repeating: "x", count: length)
            texts.append("\"\(text)\"")
            let frame = log.append(touched: nil, bytesMax: 1 << 20) { $0.string(text) }
            #expect(frame.array == Frame.encode(text: texts.last!.utf8))
        }
        _ = log.show(upTo: 5, bytesMax: 1 << 20, retained: retained)
        var (cursor, output) = (UInt64(1), Output())
        log.read(from: &cursor, filter: nil, into: &output, bytesMax: 1 << 20)
        let sent = output.segments.flatMap {
            Array(UnsafeRawBufferPointer(start: $0.baseAddress, count: $0.count))
        }
        #expect(sent == texts.flatMap { Frame.encode(text: $0.utf8) })
    }
}
