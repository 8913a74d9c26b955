// Standard output and standard error as commands write them.
//
// Data goes to standard output alone, messages to standard error. Text of others (labels, values,
// names) passes SafeText before it reaches a terminal. Output is gathered and written in as few
// calls as can be; a reader that closed its end ends the command quietly.

internal import Glibc
internal import PickerClient
internal import SyncCore

/// Where a command writes.
final class Console {
    /// When colours are used.
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

    /// no-color.org and bixense.com/clicolors: the option wins, then NO_COLOR, then
    /// CLICOLOR_FORCE, then whether there is a terminal that can.
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

    /// A line of text of others: escaped for the terminal, its bytes as they are into a pipe.
    func value(_ text: String) throws(Failure) {
        try line(isTerminal ? text.escapedForDisplay(keepingNewlineAndTab: true) : text)
    }

    /// A line in which text of others stands in a frame of ours: always escaped, always one line.
    func safeLine(_ text: String) throws(Failure) {
        try line(text.escapedForDisplay())
    }

    /// A line of our own making, colours included.
    func line(_ text: String) throws(Failure) {
        buffer += text.utf8
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count > 32 << 10 { try flush() }
    }

    /// Text that already ends in a newline.
    func text(_ text: String) throws(Failure) {
        buffer += text.utf8
        if buffer.count > 32 << 10 { try flush() }
    }

    func bold(_ text: String) -> String { hasColor ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
    func dim(_ text: String) -> String { hasColor ? "\u{1B}[2m\(text)\u{1B}[0m" : text }

    func accent(_ text: String) -> String { hasColor ? "\u{1B}[36m\(text)\u{1B}[0m" : text }

    /// Writes what was gathered: write(2). A closed pipe ends the command without a word.
    func flush() throws(Failure) {
        let bytes = buffer
        buffer = []
        try Self.put(bytes)
    }

    /// Writes bytes to standard output, all of them or why not.
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
                throw Failure(
                    .unavailable, "standard output: \(String(cString: strerror(errno)))")
            }
        }
    }

    // MARK: Messages

    /// A remark for a person, left out with `-q`.
    func note(_ text: String) {
        if !isQuiet { Self.error(text) }
    }

    /// One line on standard error: `pickerctl: text`.
    static func error(_ text: String) { complain("pickerctl: " + text) }

    /// One line on standard error, as it is: what begins with a place in a file.
    static func complain(_ text: String) {
        let line = "\(text.escapedForDisplay())\n"
        var bytes = Array(line.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count > 0 { bytes = bytes.dropFirst(count) } else if errno != EINTR { return }
        }
    }

    /// Goes on once a person agrees, or did so before: by `--yes` or `PICKERSYNC_YES=1`.
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

    /// Asks a person at the terminal; `nil` where there is none to ask.
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
        // What comes next begins a line of its own.
        if hasEnded { _ = write(STDERR_FILENO, "\n", 1) }
        return answer.first == UInt8(ascii: "y") || answer.first == UInt8(ascii: "Y")
    }

    /// Everything on standard input, `bytesMax` at most.
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
                throw Failure(.noInput, "standard input: \(String(cString: strerror(errno)))")
            }
            if count == 0 { return all }
            all += chunk
            if all.count > bytesMax {
                throw Failure(.data, "standard input has more than \(bytesMax) bytes")
            }
        }
    }
}
