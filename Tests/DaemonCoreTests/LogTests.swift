import Glibc
import SyncCore
import TestKit
import Testing

@testable import DaemonCore

/// A log whose lines and time a test sees.
private final class Recorded {
    var lines: [String] = []
    var seconds: Int64 = 1_000
    /// Whether it takes no lines.
    var isFull = false

    func log(_ style: Log.Style, level: LogEntry.Priority = .info) -> Log {
        Log(
            level: level, style: style, clock: { (self.seconds, 7) },
            emit: {
                if self.isFull { return false }
                self.lines.append($0)
                return true
            })
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

    @Test("audit lines are below no level and beyond no bound, and say when they are not written")
    func audit() {
        let recorded = Recorded()
        let log = recorded.log(.plain, level: .error)
        let entry = LogEntry(.info, "alice revealed deploy/token", [.event(.revealed)])
        for _ in 0..<3_000 { log.write(entry) }
        #expect(recorded.lines.isEmpty)
        for _ in 0..<3_000 { #expect(log.audit(entry)) }
        #expect(recorded.lines.count == 3_000)
        recorded.isFull = true
        #expect(!log.audit(entry))
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
        let folder = try TemporaryFolder()
        let path = folder("socket")
        let journald = try ListeningSocket(path, .datagrams)
        let recorded = Recorded()
        let log = Log(
            level: .info, style: .journal, clock: { (1_000, 7) },
            emit: {
                recorded.lines.append($0)
                return true
            }, journal: JournalSocket(path: path))
        log.write(
            LogEntry(
                .warning, "forbidden: eve\nPRIORITY=0",
                [.event(.forbidden), .form("deploy"), .init(.client, "x\nPICKERSYNC_UID=0")]))
        #expect(
            journald.datagram() == """
                MESSAGE=forbidden: eve\\u{A}PRIORITY=0
                PRIORITY=4
                SYSLOG_IDENTIFIER=pickersyncd
                PICKERSYNC_EVENT=forbidden
                PICKERSYNC_FORM=deploy
                PICKERSYNC_CLIENT=x\\u{A}PICKERSYNC_UID=0

                """)
        #expect(recorded.lines.isEmpty)
        journald.closeSocket()
        unlink(path)
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

    @Test("nobody's refusals are lost among another's, whatever they are called")
    func origins() {
        let recorded = Recorded()
        let log = recorded.log(.journal)
        func forbidden(_ uid: Int, _ what: String) {
            log.write(
                LogEntry(
                    .warning, "forbidden: \(uid) (uid \(uid), pid 7) may not write \(what)",
                    [.event(.forbidden), .init(.uid, "\(uid)")]))
        }
        func count(_ uid: Int) -> Int {
            recorded.lines.count { $0.contains("(uid \(uid), pid 7)") }
        }
        for _ in 0..<1_000 { forbidden(61_001, "deploy/replicas") }
        forbidden(61_002, "deploy/replicas")
        #expect(count(61_001) == RepetitionGate.burst && count(61_002) == 1)
        // Ever new kinds, of many users who together say more than there may be.
        for number in 0..<5_000 {
            for uid in 61_003..<61_013 { forbidden(uid, number.inLetters) }
        }
        for number in 0..<30 { forbidden(61_002, number.inLetters) }
        let fair = RepetitionGate.linesMax / 10
        #expect(count(61_003) > fair * 9 / 10 && count(61_003) <= fair)
        #expect(count(61_002) == RepetitionGate.burst)
        log.write(.warning, "the daemon's own")
        #expect(recorded.lines.last == "<4>the daemon's own")
        #expect(recorded.lines.count < RepetitionGate.linesMax * 6 / 5)
        recorded.seconds += RepetitionGate.periodSeconds
        log.write(.info, "later")
        let like = "forbidden: # (uid #, pid #) may not write deploy/replicas"
        #expect(recorded.lines.contains("<5>980 more like: \(like)"))
        #expect(recorded.lines.contains("<5>11 more lines of uid 61002 were left out"))
    }

    @Test("lines of ever new kinds are bounded too, and errors are not lost among them")
    func flood() {
        let recorded = Recorded()
        let log = recorded.log(.journal)
        for number in 0..<5_000 {
            log.write(.info, "who is \(number.inLetters)")
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

extension Int {
    /// Its digits as letters: another kind of line for each number.
    fileprivate var inLetters: String {
        String(String(self).map { Character(UnicodeScalar($0.asciiValue! + 49)) })
    }
}
