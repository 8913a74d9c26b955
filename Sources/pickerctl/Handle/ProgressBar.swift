// The progress of a press on standard error.

internal import Glibc
internal import PickerClient
internal import SyncCore
internal import TerminalUI

/// The progress of a press: a bar on a terminal, lines elsewhere.
struct ProgressBar {
    let title: String
    let isQuiet: Bool
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private var startedAt: UInt64?
    private var fraction: Double?
    private var text: String?
    /// Why nobody knows whether the work continues.
    private var trouble: String?
    private var drawn = 0
    private var shownQuarter = 0
    private var isNews = false

    /// Characters of the bar.
    private static let width = 24
    private static let spinner = Array("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

    init(title: String, isQuiet: Bool) {
        self.title = title
        self.isQuiet = isQuiet
    }

    /// When the bar moves by itself (monotonic nanoseconds).
    var deadline: UInt64? {
        isTerminal && !isQuiet && startedAt != nil
            ? MonotonicClock.now().adding(seconds: 0.2) : nil
    }

    mutating func begin(_ run: ButtonRun) {
        if trouble != nil { isNews = true }
        trouble = nil
        if run.state == .running, startedAt == nil {
            startedAt = MonotonicClock.now()
            say("handled by \(run.handler?.user ?? "somebody")")
        } else if run.state == .waiting {
            startedAt = nil
            say("waiting for a handler")
        }
    }

    mutating func update(_ progress: ButtonProgressed) {
        if progress.isAway {
            stop(progress.handlerWords)
        } else if trouble != nil {
            trouble = nil
            say(progress.handlerWords)
        }
        if let fraction = progress.fraction {
            self.fraction = Double(fraction.description)
            let quarter = Int((self.fraction ?? 0) * 4)
            if quarter > shownQuarter { isNews = true }
            shownQuarter = max(shownQuarter, quarter)
        }
        if let text = progress.text { say(text) }
    }

    /// Nobody knows whether the work continues.
    mutating func stop(_ why: String) {
        if trouble != why { isNews = true }
        trouble = why
    }

    mutating func say(_ text: String) {
        if self.text != text { isNews = true }
        self.text = text
    }

    mutating func draw(at now: UInt64) {
        if isQuiet { return }
        if isTerminal { return drawBar(at: now) }
        guard isNews else { return }
        isNews = false
        let words = [percent, trouble ?? text].compactMap(\.self).joined(separator: " ")
        Console.error("\(title): \(words)")
    }

    private var percent: String? { fraction.map { "\(Int(($0 * 100).rounded()))%" } }

    private mutating func drawBar(at now: UInt64) {
        let seconds = startedAt.map { Int((now &- $0) / 1_000_000_000) } ?? 0
        let mark: String
        if let fraction {
            let full = Int((fraction * Double(Self.width)).rounded())
            mark =
                String(repeating: "█", count: full)
                + String(repeating: "░", count: Self.width - full) + " \(percent ?? "")"
        } else {
            mark = trouble == nil ? String(Self.spinner[drawn % Self.spinner.count]) : "…"
        }
        drawn += 1
        let time = "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
        let line = "\(title)  \(mark)  \(time)  \(trouble ?? text ?? "")".escapedForDisplay()
        Self.put("\r\u{1B}[K\(DisplayWidth.truncated(line, to: Self.columns - 1))")
    }

    private static var columns: Int {
        var size = winsize()
        return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
            ? Int(size.ws_col) : 80
    }

    /// Removes the bar from the terminal.
    mutating func clear() {
        if drawn > 0 { Self.put("\r\u{1B}[K") }
        drawn = 0
    }

    private static func put(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
