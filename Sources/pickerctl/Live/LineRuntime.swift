// The loop of a form in lines: poll(2) over standard input and the daemon's socket.

internal import Glibc
internal import PickerClient
internal import SyncCore

/// Runs a line form.
struct LineRuntime: ~Copyable {
    private var form: LineForm
    private var link: LiveLink
    /// Where lines are written: standard output, or standard error for `pick`.
    private let output: Int32
    private var numbers: [Ticket: Int] = [:]
    private var input: [UInt8] = []
    private var inputEnded = false
    private var ending: ExitStatus?
    private var echo: HiddenEcho?

    /// Since when the daemon is away.
    private var lostSince: UInt64?

    /// How long to wait for the last answers, and how long answers from a pipe wait for a daemon
    /// that is away, in nanoseconds.
    private static let patience: UInt64 = 10_000_000_000

    init(_ form: LineForm, _ link: LiveLink, output: Int32) {
        self.form = form
        self.link = link
        self.output = output
    }

    /// Runs to the end; the status, what `pick` picked, and why it failed.
    mutating func run() throws(Failure) -> (status: ExitStatus, model: LiveModel) {
        if form.isPerson || form.model.mode != .form || !hasNoAnswers() {
            form.begin()
        } else {
            form.show()
        }
        try say()
        var due: UInt64?
        defer { echo = nil }
        while ending == nil {
            let now = MonotonicClock.now()
            if form.isFinished, form.model.purposes.isEmpty { break }
            if form.isFinished || inputEnded {
                let limit = due ?? now &+ Self.patience
                due = limit
                if now > limit { throw .noAnswer }
            }
            wait(until: try waitsForDaemon(at: now) ?? due)
            takeEvents()
            takeLines()
            link.flush()
            try say()
            if let failure = form.failure { throw failure }
        }
        try leavePrompt()
        return (ending ?? .done, form.model)
    }

    /// Whether standard input has ended already, as with /dev/null.
    private mutating func hasNoAnswers() -> Bool {
        var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, 0) > 0 else { return false }
        read()
        return inputEnded && input.isEmpty
    }

    /// Until when to wait for a daemon that is away; with a person there is no limit.
    private mutating func waitsForDaemon(at now: UInt64) throws(Failure) -> UInt64? {
        guard !form.isPerson, !form.model.isOnline else {
            lostSince = nil
            return nil
        }
        let since = lostSince ?? now
        lostSince = since
        if now > since &+ Self.patience { throw .notBack }
        return since &+ Self.patience
    }

    private mutating func say() throws(Failure) {
        let lines = form.takeOutput()
        if !lines.isEmpty { try leavePrompt() }
        for line in lines { try write(line + "\n") }
        if !lines.isEmpty { needsPrompt = true }
        if form.isPerson, needsPrompt, !form.isFinished, ending == nil {
            try write("> ")
            isAtPrompt = true
        }
        needsPrompt = false
        hideEcho()
    }

    private var needsPrompt = true
    /// Whether the cursor is after a prompt. Somebody may be typing there.
    private var isAtPrompt = false

    /// Output that is not an answer starts a new line.
    private mutating func leavePrompt() throws(Failure) {
        guard isAtPrompt else { return }
        isAtPrompt = false
        try write("\n")
    }

    /// Writes a line. Questions of `pick` are not data, so errors are ignored.
    private func write(_ text: String) throws(Failure) {
        if output == STDOUT_FILENO { return try Console.put(Array(text.utf8)) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return }
        }
    }

    /// The input of a secret is not displayed.
    private mutating func hideEcho() {
        guard form.isPerson, case .control(let field) = form.question, form.model.isSecret(field)
        else { return echo = nil }
        if echo == nil { echo = HiddenEcho() }
    }

    private mutating func wait(until due: UInt64?) {
        let now = MonotonicClock.now()
        var deadline = due
        for other in [link.deadline, form.model.deadline] {
            if let other { deadline = min(deadline ?? other, other) }
        }
        var entries: [pollfd] = []
        if !inputEnded {
            entries.append(pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0))
        }
        if let socket = link.descriptor {
            let events = link.isBlocked ? POLLIN | POLLOUT : POLLIN
            entries.append(pollfd(fd: socket, events: Int16(events), revents: 0))
        }
        let hasLine = input.contains(UInt8(ascii: "\n")) && isReady
        let span = deadline.map { $0 <= now ? 0 : ($0 - now + 999_999) / 1_000_000 }
        let timeout = hasLine ? 0 : span.map { Int32(clamping: $0) } ?? -1
        poll(&entries, nfds_t(entries.count), timeout)
        for entry in entries where entry.revents != 0 {
            if entry.fd == STDIN_FILENO { read() } else { link.receive() }
        }
        let then = MonotonicClock.now()
        link.connectIfDue(at: then)
        if let deadline = form.model.deadline, deadline <= then { feed(.tick) }
    }

    private mutating func read() {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
        if count > 0 {
            input += buffer.prefix(count)
        } else if count == 0 || errno != EINTR {
            inputEnded = true
            if let last = input.last, last != UInt8(ascii: "\n") {
                input.append(UInt8(ascii: "\n"))
            }
        }
    }

    /// An answer from a pipe waits until the previous edit is answered, because that edit may hide
    /// the next control.
    private var isReady: Bool {
        form.model.isOnline && (form.isPerson || form.model.purposes.isEmpty)
            || form.isPerson
    }

    private mutating func takeLines() {
        while ending == nil, isReady, !form.isFinished,
            let end = input.firstIndex(of: UInt8(ascii: "\n"))
        {
            var line = input[..<end]
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            let text = String(decoding: line, as: UTF8.self)
            input.removeSubrange(...end)
            needsPrompt = true
            // The terminal has started a new line after the typed text.
            if echo == nil { isAtPrompt = false }
            var commands: [LiveCommand] = []
            form.answer(text, &commands)
            carryOut(commands)
            if form.failure != nil { return }
        }
        if inputEnded, input.isEmpty, !form.isFinished, isReady {
            var commands: [LiveCommand] = []
            form.inputEnded(&commands)
            carryOut(commands)
        }
    }

    private mutating func takeEvents() {
        while let event = link.takeEvent() {
            if case .answered(let tickets, let outcome) = event {
                let answered = tickets.compactMap { numbers.removeValue(forKey: $0) }
                if !answered.isEmpty { feed(.answered(answered, outcome)) }
            } else {
                feed(.client(event))
                if case .violation = event { link.drop() }
            }
        }
    }

    private mutating func feed(_ event: LiveEvent) {
        carryOut(form.handle(event, at: MonotonicClock.now()))
    }

    private mutating func carryOut(_ commands: [LiveCommand]) {
        for command in commands {
            switch command {
            case .request(let number, let request): numbers[link.submit(request)] = number
            case .presence(let update): _ = link.submit(.presenceUpdate(update))
            case .quit(let status): ending = ending ?? status
            case .edit(let field, let text): edit(field, text)
            case .suspend, .redraw, .awaitForm, .rejoin: break
            }
        }
    }

    private mutating func edit(_ field: String, _ text: String) {
        guard form.isPerson else { return }
        let edited = ExternalEditor.edit(text)
        needsPrompt = true
        carryOut(form.edited(field, edited))
    }
}
