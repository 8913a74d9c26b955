internal import Glibc
public import SyncCore

// Lines on standard error, for the journal or for people.
//
// Invariants: a message is one line without raw control characters; if the reader stops reading,
// lines are lost but the daemon never blocks; a repeated error costs a few lines and a count.

/// The daemon's log. It belongs to one thread.
public final class Log {
    /// The format of lines.
    public enum Style: Sendable, Hashable {
        /// `<6>message`: sd-daemon(3); the journal adds the time.
        case journal
        /// `2026-11-21 10:30:07.123 info: message`, in local time.
        case plain
    }

    /// Lines of a lower priority are not written.
    public var level: LogEntry.Priority
    let style: Style
    private let emit: (String) -> Bool
    private let journal: JournalSocket?
    private let clock: () -> (seconds: Int64, milliseconds: Int)
    private var gate = RepetitionGate()

    /// A log to standard error, or with fields to the journal if standard error is connected to the
    /// journal.
    public convenience init(level: LogEntry.Priority, environment: ProcessEnvironment) {
        let isJournal = Self.isJournal(STDERR_FILENO, environment["JOURNAL_STREAM"])
        self.init(
            level: level, style: isJournal ? .journal : .plain, clock: Self.wallClock,
            emit: Self.writeToStandardError, journal: isJournal ? JournalSocket() : nil)
    }

    /// A log whose lines go to `journal`. Lines that the journal does not accept go to `emit`,
    /// without a newline. `emit` says whether it took the whole line.
    init(
        level: LogEntry.Priority, style: Style,
        clock: @escaping () -> (seconds: Int64, milliseconds: Int),
        emit: @escaping (String) -> Bool, journal: JournalSocket? = nil
    ) {
        self.level = level
        self.style = style
        self.clock = clock
        self.emit = emit
        self.journal = journal
    }

    /// Writes a line, unless it is below `level` or exceeds the rate limit of its kind.
    public func write(_ entry: LogEntry) {
        guard entry.priority <= level else { return }
        let now = clock()
        for held in gate.ended(at: now.seconds) { line(LogEntry(.notice, held), now) }
        guard gate.admits(entry, at: now.seconds) else { return }
        line(entry, now)
    }

    /// Writes an audit line, whatever the level is and however many there were.
    /// - Returns: whether the journal or standard error took all of it. What they do with it then
    ///   (a journal's bounds, `2>/dev/null`) is the administrator's choice.
    func audit(_ entry: LogEntry) -> Bool { line(entry, clock()) }

    /// Writes a line.
    public func write(_ priority: LogEntry.Priority, _ message: String) {
        write(LogEntry(priority, message))
    }

    /// `ready: PATH`, the line that scripts wait for: always written, without a time before it.
    public func ready(_ path: String) {
        let text = "ready: \(path.escapedForDisplay())"
        _ = emit(style == .journal ? "<5>" + text : text)
    }

    @discardableResult
    private func line(_ entry: LogEntry, _ now: (seconds: Int64, milliseconds: Int)) -> Bool {
        if let journal, journal.send(entry) { return true }
        let message = entry.message.escapedForDisplay()
        switch style {
        case .journal: return emit("<\(entry.priority.rawValue)>\(message)")
        case .plain:
            let time = Self.timestamp(now.seconds, now.milliseconds)
            return emit("\(time) \(entry.priority.name): \(message)")
        }
    }
}

extension Log {
    /// The maximum length of a line in bytes: what a pipe accepts in one write (PIPE_BUF, pipe(7)),
    /// a newline included.
    static let lineBytesMax = 4_096

    /// Whether standard error is the journal's own stream: systemd.exec(5), $JOURNAL_STREAM holds
    /// the device and the inode of what it was when the process began.
    static func isJournal(_ descriptor: CInt, _ stream: String?) -> Bool {
        guard let stream else { return false }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }

    private static func wallClock() -> (seconds: Int64, milliseconds: Int) {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return (Int64(time.tv_sec), Int(time.tv_nsec) / 1_000_000)
    }

    private static func timestamp(_ seconds: Int64, _ milliseconds: Int) -> String {
        var moment = time_t(seconds)
        var parts = tm()
        localtime_r(&moment, &parts)
        func padded(_ number: Int32, _ width: Int = 2) -> String {
            let digits = "\(number)"
            return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
        }
        let day = "\(parts.tm_year + 1_900)-\(padded(parts.tm_mon + 1))-\(padded(parts.tm_mday))"
        let time = "\(padded(parts.tm_hour)):\(padded(parts.tm_min)):\(padded(parts.tm_sec))"
        return "\(day) \(time).\(padded(Int32(milliseconds), 3))"
    }

    /// One write for each line, and only if it does not block: a terminal stopped with ^S, or a
    /// pipe that nobody reads, must not block the loop.
    private static func writeToStandardError(_ line: String) -> Bool {
        var bytes = Array(line.utf8.prefix(lineBytesMax - 1))
        // Truncation must not split a character.
        if bytes.count < line.utf8.count {
            while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
            if let last = bytes.last, last >= 0xC0 { bytes.removeLast() }
        }
        bytes.append(UInt8(ascii: "\n"))
        var ready = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard poll(&ready, 1, 0) == 1 else { return false }
        return Glibc.write(STDERR_FILENO, bytes, bytes.count) == bytes.count
    }
}
