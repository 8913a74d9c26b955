import Glibc
import SyncCore
import Testing

@testable import DaemonCore

/// A log whose lines and time a test sees.
private final class Recorded {
    var lines: [String] = []
    var seconds: Int64 = 1_000

    func log(_ style: Log.Style, level: LogEntry.Priority = .info) -> Log {
        Log(
            level: level, style: style, clock: { (self.seconds, 7) },
            emit: { self.lines.append($0) })
    }
}

@Suite("Log")
struct LogTests {
    @Test("the journal gets priorities, people get a time and a word")
    func styles() throws {
        let recorded = Recorded()
        recorded.log(.journal).write(.warning, "careful")
        recorded.log(.plain).write(.error, "broken")
        #expect(recorded.lines.first == "<4>careful")
        let line = try #require(recorded.lines.last)
        #expect(line.contains(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.007 error: broken$/))
    }

    @Test("nothing raw reaches a terminal, and a line is one line")
    func escaping() {
        let recorded = Recorded()
        let log = recorded.log(.journal)
        log.write(.info, "a\nb\u{1B}[31m\u{9B}2J\u{202E}c\u{7F}\r")
        log.ready("/tmp/\u{1B}]0;x\u{07}")
        let harmful = recorded.lines.joined().unicodeScalars.filter(SafeText.isHarmful)
        #expect(harmful.isEmpty)
        #expect(recorded.lines[0] == "<6>a\\u{A}b\\u{1B}[31m\\u{9B}2J\\u{202E}c\\u{7F}\\u{D}")
    }

    @Test("the journal is told what a line is about in fields, and no value can forge another")
    func journalFields() throws {
        let folder = try #require(
            mkdtemp(strdup("/tmp/journal-XXXXXX")).map { String(cString: $0) })
        defer { rmdir(folder) }
        let path = folder + "/socket"
        let journald = try DatagramSocket(path)
        let recorded = Recorded()
        let log = Log(
            level: .info, style: .journal, clock: { (1_000, 7) },
            emit: { recorded.lines.append($0) }, journal: JournalSocket(path: path))
        log.write(
            LogEntry(
                .warning, "forbidden: eve\nPRIORITY=0",
                [.event(.forbidden), .form("deploy"), .init(.client, "x\nPICKERSYNC_UID=0")]))
        #expect(
            journald.received() == """
                MESSAGE=forbidden: eve\\u{A}PRIORITY=0
                PRIORITY=4
                SYSLOG_IDENTIFIER=pickersyncd
                PICKERSYNC_EVENT=forbidden
                PICKERSYNC_FORM=deploy
                PICKERSYNC_CLIENT=x\\u{A}PICKERSYNC_UID=0

                """)
        #expect(recorded.lines.isEmpty)
        journald.end()
        // Without journald a line is not lost.
        log.write(.error, "alone")
        #expect(recorded.lines == ["<3>alone"])
    }

    @Test("lines below the level are left out, and ready never is")
    func level() {
        let recorded = Recorded()
        let log = recorded.log(.journal, level: .error)
        log.write(.warning, "no")
        log.ready("/s")
        #expect(recorded.lines == ["<5>ready: /s"])
    }

    @Test("a line that repeats itself costs a burst and a count")
    func repetition() {
        let recorded = Recorded()
        let log = recorded.log(.journal)
        for number in 0..<1_000 { log.write(.warning, "connection \(number): frame too large") }
        log.write(.warning, "something else")
        #expect(recorded.lines.count == RepetitionGate.burst + 1)
        recorded.seconds += RepetitionGate.periodSeconds
        log.write(.info, "later")
        let held = 1_000 - RepetitionGate.burst
        #expect(recorded.lines.contains("<5>\(held) more like: connection #: frame too large"))
        #expect(recorded.lines.last == "<6>later")
    }

    @Test("lines of ever new kinds are bounded too, and errors are not lost among them")
    func flood() {
        let recorded = Recorded()
        let log = recorded.log(.journal)
        for number in 0..<5_000 {
            let word = String(number).map { "abcdefghij"[$0] }.joined()
            log.write(.info, "who is \(word)")
        }
        #expect(recorded.lines.count == RepetitionGate.linesMax)
        log.write(.error, "the disk is full")
        #expect(recorded.lines.last == "<3>the disk is full")
        // A clock that was set back ends the period too.
        recorded.seconds = 10
        log.write(.info, "again")
        #expect(recorded.lines.last == "<6>again")
    }
}

extension String {
    fileprivate subscript(digit: Character) -> String {
        guard let value = digit.wholeNumberValue else { return "" }
        return String(self[index(startIndex, offsetBy: value)])
    }
}

/// What journald is to the daemon.
private final class DatagramSocket {
    private var descriptor: CInt
    private let path: String

    init(_ path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
    }

    deinit { end() }

    func received() -> String {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : ""
    }

    func end() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        unlink(path)
    }
}
