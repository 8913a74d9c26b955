// The command of one press: its output, and when it must end.

internal import Glibc
internal import PickerClient
internal import SyncCore

/// A press with its running command.
final class HandledPress {
    let assigned: ButtonAssigned
    /// The daemon has ended the run; its outcome is of no interest any more.
    var isAbandoned = false
    /// The last text of its output, and the last line of standard error.
    private(set) var text: String?
    private(set) var lastError: String?

    private let process: ChildProcess
    private var output: LineReader
    private var errors: LineReader
    private var progress: ProgressLine?
    private var reportedAt: UInt64?
    private var terminateDue: UInt64?
    private var killDue: UInt64?

    /// Seconds between two reports of progress.
    private static let reportSeconds = 0.1
    /// The most bytes that are read from each pipe after the end. It holds less, but what the
    /// command has started may write on.
    private static let restBytesMax = 1 << 20

    init(
        _ assigned: ButtonAssigned, _ path: String, _ command: [String], _ environment: [String]
    ) throws(Failure) {
        self.assigned = assigned
        var output = try LineReader(copiesTo: STDOUT_FILENO)
        var errors = try LineReader(copiesTo: STDERR_FILENO)
        do throws(Failure) {
            process = try ChildProcess.start(
                path: path, command, environment: environment, input: "", output: output.writer,
                errors: errors.writer)
        } catch {
            output.close()
            errors.close()
            throw error
        }
        output.closeWriter()
        errors.closeWriter()
        (self.output, self.errors) = (output, errors)
    }

    deinit {
        output.close()
        errors.close()
    }

    /// The descriptors of its output that are still open.
    var descriptors: [Int32] { [output.reader, errors.reader].filter { $0 >= 0 } }

    /// When something is due (monotonic nanoseconds).
    var deadline: UInt64? {
        let report = progress == nil ? nil : reportedAt?.adding(seconds: Self.reportSeconds)
        return [terminateDue, killDue, report].compactMap(\.self).min()
    }

    /// Reads output.
    func read(_ descriptor: Int32, atMost bytesMax: Int = LineReader.bytesAtOnce) {
        if descriptor == output.reader {
            for line in output.take(atMost: bytesMax) { note(line) }
        } else {
            for line in errors.take(atMost: bytesMax) {
                note(line)
                lastError = ButtonProgress.line(line) ?? lastError
            }
        }
    }

    private func note(_ line: String) {
        let line = ProgressLine(line)
        guard line.fraction != nil || line.text != nil else { return }
        text = line.text ?? text
        progress = ProgressLine(
            fraction: line.fraction ?? progress?.fraction, text: line.text ?? progress?.text)
    }

    /// The newest progress, at most ten times a second.
    func takeProgress(at now: UInt64) -> ProgressLine? {
        if let reportedAt, now < reportedAt.adding(seconds: Self.reportSeconds) { return nil }
        guard let line = progress else { return nil }
        progress = nil
        reportedAt = now
        return line
    }

    // MARK: The end

    /// How the command ended, if it has. What it left in its pipes is read first.
    func ending() -> ChildProcess.Ending? {
        guard let ending = process.ending() else { return nil }
        for descriptor in descriptors { read(descriptor, atMost: Self.restBytesMax) }
        // What it started and left behind ends with it.
        process.signal(SIGKILL)
        return ending
    }

    /// The daemon is gone: the command ends unless it comes back.
    func endLater(seconds: Double) {
        terminateDue = min(
            terminateDue ?? .max, MonotonicClock.now().adding(seconds: seconds))
    }

    /// The daemon is back, and the run with it.
    func staysAlive() { if killDue == nil { terminateDue = nil } }

    /// The command ends now.
    func endNow(graceSeconds: Double) {
        if killDue != nil { return }
        process.signal(SIGTERM)
        terminateDue = nil
        killDue = MonotonicClock.now().adding(seconds: graceSeconds)
    }

    /// Sends the signals that are due.
    func endIfDue(at now: UInt64) {
        if let due = terminateDue, now >= due { endNow(graceSeconds: ButtonHandler.graceSeconds) }
        if let due = killDue, now >= due {
            process.signal(SIGKILL)
            killDue = .max
        }
    }

    /// Ends the command at once.
    func kill() { process.end(graceSeconds: 0) }
}
