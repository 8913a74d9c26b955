// The loop of a live form: poll(2) over the terminal, the daemon's socket and the signals' pipe.
//
// Invariants: one thread; the model decides, this code does the I/O; all available input is
// processed before the screen is drawn, and a frame is one write. What the user does is sent before
// it is drawn, and a frame waits for the answer for a time that nobody notices, so that an edit is
// one frame and not two.

internal import Glibc
internal import PickerClient
internal import SyncCore
internal import TerminalUI

/// Runs a model on a terminal and a daemon.
struct LiveRuntime {
    private var model: LiveModel
    private var link: LiveLink
    private let terminal: Terminal
    private var decoder = KeyDecoder()
    private var encoder: FrameEncoder
    private var numbers: [Ticket: Int] = [:]
    private var ending: ExitStatus?
    private let addressing: FrameEncoder.Addressing
    private let charset: Charset
    private let depth: ColorDepth
    /// When an unfinished escape sequence counts as the Escape key.
    private var escapeDue: UInt64?
    /// When the screen is drawn although a request has not been answered.
    private var drawDue: UInt64?
    /// Whether the terminal has kitty's keyboard protocol.
    private var hasKeyboard = false
    /// The position of an inline frame, if it is known.
    private var frame = InlineFrame()

    /// The position of an inline frame. The mouse reports lines of the screen, so the terminal is
    /// asked for the cursor position whenever the frame may have moved. If the terminal does not
    /// answer, the mouse stays off.
    private struct InlineFrame {
        /// The screen's line of the frame's first.
        var top: Int?
        /// The lines of the frame in which the cursor was at each request, oldest first.
        var asked: [Int] = []
        /// Lines of the frame that was asked about last.
        var lines: Int?
    }

    /// The timeout for the rest of an escape sequence, in nanoseconds.
    private static let escapeSpan: UInt64 = 40_000_000
    /// How long other forms go first after an edit, in microseconds: about as long as the daemon,
    /// the kernel and one of them need, and too short to be seen.
    private static let othersSpan: UInt32 = 300
    /// How long a frame waits for the answer to a request, in nanoseconds.
    private static let answerSpan: UInt64 = 4_000_000

    init(_ model: LiveModel, _ link: LiveLink, _ terminal: Terminal, charset: Charset) {
        self.model = model
        self.link = link
        self.terminal = terminal
        self.charset = charset
        depth = model.around.environment.depth
        addressing = model.mode == .form ? .screen : .inline
        encoder = FrameEncoder(
            options: .init(depth: depth, charset: charset, addressing: addressing))
    }

    /// Runs to the end: the status, and what `pick` picked.
    mutating func run() -> (status: ExitStatus, model: LiveModel) {
        terminal.enter(asking: questions)
        defer {
            terminal.leave()
            terminal.releaseSignals()
        }
        feed(.resized(terminal.size))
        draw()
        while ending == nil {
            let due = model.deadline
            wait(until: due)
            takeClientEvents()
            if let due, due <= MonotonicClock.now() { feed(.tick) }
            link.flush()
            if let drawDue, drawDue > MonotonicClock.now() { continue }
            if ending == nil { draw() }
        }
        link.flush()
        finish()
        return (ending ?? .done, model)
    }

    /// The queries to the terminal. The Linux console displays queries that it does not understand.
    private var questions: [UInt8] {
        if environmentVariable("TERM") == "linux" { return [] }
        switch addressing {
        case .screen: return ANSI.askBackground + ANSI.askSynchronized + ANSI.askKeyboard
        case .inline: return ANSI.askKeyboard
        }
    }

    /// The line that `pick` leaves on the screen; nothing if nothing was picked.
    private mutating func finish() {
        guard addressing == .inline else { return }
        var lines = 0
        if ending == .done {
            var canvas = Canvas(columns: model.size.columns, lines: 1)
            model.summary.render(into: &canvas, in: canvas.clip)
            terminal.write(encoder.encode(canvas.buffer, cursor: nil))
            lines = 1
        }
        if lines == 0 {
            terminal.write(
                encoder.encode(CellBuffer(columns: model.size.columns, lines: 1), cursor: nil))
            terminal.write([0x0D])
            _ = encoder.leave()
        } else {
            terminal.write(encoder.leave())
        }
    }

    private mutating func draw() {
        drawDue = nil
        let canvas = model.draw()
        let bytes = encoder.encode(
            canvas.buffer, cursor: canvas.cursor, changed: model.drawnLines)
        if !bytes.isEmpty { terminal.write(bytes) }
        terminal.takeKeyboard(hasKeyboard && model.isTypingSecret)
        if addressing == .inline, let cursor = canvas.cursor, frame.lines != canvas.buffer.lines {
            frame.lines = canvas.buffer.lines
            frame.asked.append(cursor.y)
            terminal.ask(ANSI.askCursor)
        }
    }

    private mutating func answered(cursor: Point) {
        guard !frame.asked.isEmpty else { return }
        if frame.top == nil { terminal.takeMouse() }
        frame.top = cursor.y - frame.asked.removeFirst()
        terminal.answered()
    }

    /// A mouse event with a line of the frame; `nil` outside of an inline frame.
    private func placed(_ event: MouseEvent) -> MouseEvent? {
        guard addressing == .inline else { return event }
        guard let top = frame.top else { return nil }
        var event = event
        event.point.y -= top
        let isInside = event.point.y >= 0 && event.point.y < (frame.lines ?? 0)
        if case .release = event.kind { return event }
        if case .drag = event.kind { return event }
        return isInside ? event : nil
    }

    // MARK: Waiting

    /// Waits for input, until `due` at most (monotonic nanoseconds), and takes it.
    private mutating func wait(until due: UInt64?) {
        let now = MonotonicClock.now()
        var deadline = due
        for other in [link.deadline, escapeDue, drawDue] {
            if let other { deadline = min(deadline ?? other, other) }
        }
        var entries = [
            pollfd(fd: terminal.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: terminal.signals, events: Int16(POLLIN), revents: 0),
        ]
        if let socket = link.descriptor {
            let events = link.isBlocked ? POLLIN | POLLOUT : POLLIN
            entries.append(pollfd(fd: socket, events: Int16(events), revents: 0))
        }
        let span = deadline.map { $0 <= now ? 0 : ($0 - now + 999_999) / 1_000_000 }
        poll(&entries, nfds_t(entries.count), span.map { Int32(clamping: $0) } ?? -1)
        if entries[1].revents != 0 { takeSignals() }
        if entries[0].revents != 0 { takeInput() }
        if entries.count > 2, entries[2].revents & ~Int16(POLLOUT) != 0 {
            letOthersGoFirst()
            link.receive()
        }
        let then = MonotonicClock.now()
        if let escapeDue, escapeDue <= then {
            self.escapeDue = nil
            for event in decoder.timeout() { feed(.input(event)) }
        }
        link.connectIfDue(at: then)
    }

    /// Sleeps for a moment while an edit is not answered and others have the form.
    ///
    /// The daemon and the other forms may wait for this processor, and what is left to do here is a
    /// frame that is not urgent. sched_yield(2) would not do: with EEVDF this process is often the
    /// next one again.
    private func letOthersGoFirst() {
        if !numbers.isEmpty, !model.presentation.others.isEmpty { usleep(Self.othersSpan) }
    }

    private mutating func takeInput() {
        let bytes = terminal.read()
        // A closed terminal reads as the end of the file.
        guard !bytes.isEmpty else { return ending = .hungUp }
        for event in decoder.decode(bytes) {
            switch event {
            case .reply(.attributes): terminal.answered()
            case .reply(.cursor(let point)): answered(cursor: point)
            case .key(let event) where event.key == .function(3) && !frame.asked.isEmpty:
                // On the first line of the screen, the answer has the same bytes as F3 with
                // modifiers.
                answered(cursor: Point(x: 0, y: 0))
                continue
            case .reply(.keyboard): hasKeyboard = true
            case .reply(.mode(2026, let state)) where state.isUsable: synchronize()
            case .mouse(let turn):
                if let turn = placed(turn) { feed(.input(.mouse(turn))) }
                continue
            default: break
            }
            feed(.input(event))
        }
        if model.isTypingSecret, let isOn = terminal.consoleCapsLock {
            feed(.input(.capsLock(isOn)))
        }
        escapeDue = decoder.isWaiting ? MonotonicClock.now() + Self.escapeSpan : nil
    }

    /// The terminal supports synchronized output.
    private mutating func synchronize() {
        encoder = FrameEncoder(
            options: .init(
                depth: depth, charset: charset, isSynchronized: true, addressing: addressing))
    }

    private mutating func takeSignals() {
        for signal in terminal.takeSignals() {
            switch signal {
            case SIGWINCH:
                frame.lines = nil
                encoder.invalidate()
                feed(.resized(terminal.size))
            case SIGTSTP: suspend()
            case SIGCONT: comeBack()
            case SIGINT: ending = .interrupted
            case SIGTERM: ending = .terminated
            case SIGHUP: ending = .hungUp
            default: break
            }
        }
    }

    private mutating func suspend() {
        terminal.suspend()
        comeBack()
    }

    private mutating func comeBack() {
        terminal.enter()
        if frame.top != nil { terminal.takeMouse() }
        frame.lines = nil
        encoder.invalidate()
        feed(.resized(terminal.size))
    }

    // MARK: The model

    private mutating func takeClientEvents() {
        while let event = link.takeEvent() {
            if case .answered(let tickets, let outcome) = event {
                let answered = tickets.compactMap { numbers.removeValue(forKey: $0) }
                if answered.isEmpty { continue }
                feed(.answered(answered, outcome))
                if numbers.isEmpty { drawDue = nil }
            } else {
                feed(.client(event))
                if case .violation = event { link.drop() }
            }
        }
    }

    private mutating func feed(_ event: LiveEvent) {
        let (commands, change) = model.begin(event, at: MonotonicClock.now())
        let wasAnswered = numbers.isEmpty
        for command in commands { carryOut(command) }
        if !commands.isEmpty { link.flush() }
        // Once for several keys that come together.
        if wasAnswered { letOthersGoFirst() }
        for command in model.settle(change) { carryOut(command) }
    }

    private mutating func carryOut(_ command: LiveCommand) {
        switch command {
        case .request(let number, let request):
            numbers[link.submit(request)] = number
            if link.isConnected {
                drawDue = drawDue ?? MonotonicClock.now() &+ Self.answerSpan
            }
        case .presence(let update): _ = link.submit(.presenceUpdate(update))
        case .quit(let status): ending = ending ?? status
        case .suspend: suspend()
        case .redraw: encoder.invalidate()
        case .awaitForm: link.awaitForm()
        case .rejoin:
            numbers = [:]
            link.rejoin()
        case .edit(let field, let text):
            terminal.leave()
            let edited = ExternalEditor.edit(text)
            comeBack()
            feed(.edited(field: field, text: edited))
        }
    }
}
