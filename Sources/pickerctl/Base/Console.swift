// Standard output and standard error of commands.
//
// Data goes to standard output, messages to standard error. Untrusted text (labels, values, names)
// is escaped with SafeText before it reaches a terminal. Output is buffered and written in few
// calls. If the reader has closed its end, the command ends silently.

internal import Glibc
internal import PickerClient
internal import SyncCore

/// The output of a command.
final class Console {
    /// When output is colored.
    enum Color: String, CaseIterable { case auto, always, never }

    let isTerminal: Bool
    let hasColor: Bool
    let isQuiet: Bool
    private var buffer: [UInt8] = []

    init(color: Color, isQuiet: Bool) {
        isTerminal = isatty(STDOUT_FILENO) == 1
        hasColor = Self.wantsColor(
            color, isTerminal: isTerminal,
            noColor: getenv("NO_COLOR").map { $0.pointee != 0 } ?? false,
            forced: getenv("CLICOLOR_FORCE").map { $0.pointee != 0 && $0.pointee != 48 } ?? false,
            isDumb: getenv("TERM").map { String(cString: $0) == "dumb" } ?? false)
        self.isQuiet = isQuiet
    }

    /// As on no-color.org and bixense.com/clicolors: the option first, then NO_COLOR, then
    /// CLICOLOR_FORCE, then whether the terminal supports colors.
    static func wantsColor(
        _ option: Color, isTerminal: Bool, noColor: Bool, forced: Bool, isDumb: Bool
    ) -> Bool {
        switch option {
        case .always: true
        case .never: false
        case .auto: !noColor && (forced || isTerminal && !isDumb)
        }
    }

    // MARK: Data

    /// A line of untrusted text: escaped on a terminal, unchanged in a pipe.
    func value(_ text: String) throws(Failure) {
        try line(isTerminal ? text.escapedForDisplay(keepingNewlineAndTab: true) : text)
    }

    /// Bytes of a line that people read. What programs read is not cut.
    private static let (lineBytesMax, messageBytesMax) = (64 << 10, 8 << 10)

    /// A line of ours that contains text of other users: always escaped, always one line, and cut
    /// at a length that nobody reads.
    func safeLine(_ text: String) throws(Failure) {
        try line(text.cut(toBytes: Self.lineBytesMax).escapedForDisplay())
    }

    /// A line of our own, which may contain colors.
    func line(_ text: String) throws(Failure) {
        buffer += text.utf8
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count > 32 << 10 { try flush() }
    }

    /// Text that already ends with a newline.
    func text(_ text: String) throws(Failure) {
        buffer += text.utf8
        if buffer.count > 32 << 10 { try flush() }
    }

    func bold(_ text: String) -> String { hasColor ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
    func dim(_ text: String) -> String { hasColor ? "\u{1B}[2m\(text)\u{1B}[0m" : text }

    func accent(_ text: String) -> String { hasColor ? "\u{1B}[36m\(text)\u{1B}[0m" : text }

    /// Writes the buffer: write(2). A closed pipe ends the command silently.
    func flush() throws(Failure) {
        let bytes = buffer
        buffer = []
        try Self.put(bytes)
    }

    /// Writes all bytes to standard output, or throws.
    static func put(_ bytes: [UInt8]) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EPIPE {
                throw .silent(.closedPipe)
            } else if errno == EAGAIN {
                var entry = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                poll(&entry, 1, -1)
            } else if errno != EINTR {
                throw .system(.unavailable, "standard output", errno)
            }
        }
    }

    // MARK: Messages

    /// A message for people, omitted with `-q`.
    func note(_ text: String) {
        if !isQuiet { Self.error(text) }
    }

    /// One line on standard error: `pickerctl: text`.
    static func error(_ text: String) { complain("pickerctl: " + text) }

    /// One line on standard error without a prefix: for messages that begin with a place in a file.
    static func complain(_ text: String) {
        let line = "\(text.cut(toBytes: messageBytesMax).escapedForDisplay())\n"
        var bytes = Array(line.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count > 0 { bytes = bytes.dropFirst(count) } else if errno != EINTR { return }
        }
    }

    /// Continues if the user agrees, or has agreed with `--yes` or `PICKERSYNC_YES=1`.
    static func confirm(
        _ question: String, isAgreed: Bool, orElse declined: Failure
    ) throws(Failure) {
        if isAgreed || environmentVariable("PICKERSYNC_YES") == "1" { return }
        switch ask(question) {
        case true?: return
        case false?: throw declined
        case nil: throw .noTerminal
        }
    }

    /// Asks the user at the terminal; `nil` if there is no terminal.
    private static func ask(_ question: String) -> Bool? {
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return nil }
        let text = Array("\(question.escapedForDisplay()) [y/N] ".utf8)
        _ = text.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
        var answer: [UInt8] = []
        var byte: UInt8 = 0
        var hasEnded = false
        while !hasEnded {
            hasEnded = read(STDIN_FILENO, &byte, 1) != 1
            if hasEnded || byte == UInt8(ascii: "\n") { break }
            answer.append(byte)
        }
        // The next output begins a new line.
        if hasEnded { _ = write(STDERR_FILENO, "\n", 1) }
        return answer.first == UInt8(ascii: "y") || answer.first == UInt8(ascii: "Y")
    }

    /// All of standard input, at most `bytesMax`.
    static func readStandardInput(bytesMax: Int = 1 << 20) throws(Failure) -> [UInt8] {
        var all: [UInt8] = []
        while true {
            var count = 0
            let chunk = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, filled in
                count = read(STDIN_FILENO, buffer.baseAddress, buffer.count)
                filled = max(0, count)
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw .system(.noInput, "standard input", errno)
            }
            if count == 0 { return all }
            all += chunk
            if all.count > bytesMax {
                throw .tooLong("standard input", bytesMax: bytesMax)
            }
        }
    }
}
