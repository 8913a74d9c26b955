// The terminal as it was found, and as the form wants it.
//
// Always holds: whatever ends the process, short of SIGKILL, the terminal's modes and its screen
// are put back: by `leave()` on every ordinary way, by a handler of async-signal-safe calls alone
// (signal-safety(7): write, tcsetattr, raise) when the program traps. Signals that ask are bytes in
// a pipe, which the loop reads as it reads keys (Bernstein, "The self-pipe trick").

@preconcurrency internal import Glibc
internal import TerminalUI

/// What the handlers know. They run at any moment, so it is plain memory that is written before
/// they are installed, and only while a terminal is taken.
private struct HandlerState {
    var descriptor: Int32 = -1
    var isRaw = false
    var original = termios()
    var bytes: UnsafeMutablePointer<UInt8>?
    var count = 0
    var pipe: Int32 = -1
}

// Safe: written by the one thread of the program before a handler is installed, and afterwards
// only by that thread while no handler can see it half done (a descriptor of -1 turns it off).
nonisolated(unsafe) private var handlerState = HandlerState()

/// Puts the terminal back; async-signal-safe.
private func restoreTerminal() {
    guard handlerState.isRaw, handlerState.descriptor >= 0 else { return }
    if let bytes = handlerState.bytes {
        _ = write(handlerState.descriptor, bytes, handlerState.count)
    }
    tcsetattr(handlerState.descriptor, TCSANOW, &handlerState.original)
}

/// A trap: the terminal back, then the end that the signal would have had.
private func trapped(_ number: Int32) {
    restoreTerminal()
    signal(number, SIG_DFL)
    raise(number)
}

/// A signal that asks: its number into the pipe.
private func asked(_ number: Int32) {
    let saved = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(handlerState.pipe, &byte, 1)
    errno = saved
}

/// A terminal that is taken, and given back.
final class Terminal {
    /// How much of it is taken.
    enum Use { case screen, inline }

    let descriptor: Int32
    /// Bytes of signals' numbers.
    let signals: Int32
    private let use: Use
    private var original = termios()
    private(set) var isTaken = false
    /// Whether the terminal was asked something whose answer has not come.
    private var awaitsAnswer = false
    /// Whether keys come as kitty writes them.
    private var hasKeyboard = false

    private static let asking: [Int32] = [SIGWINCH, SIGTSTP, SIGCONT, SIGINT, SIGTERM, SIGHUP]
    private static let traps: [Int32] = [SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE]

    /// The controlling terminal, wherever the standard streams lead; `nil` where there is none.
    init?(_ use: Use) {
        self.use = use
        descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        var ends: [Int32] = [-1, -1]
        guard descriptor >= 0, tcgetattr(descriptor, &original) == 0, pipe(&ends) == 0 else {
            signals = -1
            return nil
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        signals = ends[0]
        handlerState.pipe = ends[1]
    }

    deinit {
        leave()
        if descriptor >= 0 { close(descriptor) }
    }

    /// Its size; 80x24 where it does not say.
    var size: Size {
        var window = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0,
            window.ws_row > 0
        else { return Size(columns: 80, lines: 24) }
        return Size(columns: Int(window.ws_col), lines: Int(window.ws_row))
    }

    private var entering: [UInt8] {
        switch use {
        case .screen:
            ANSI.enterAlternateScreen + ANSI.disableWrap + ANSI.enableMouse + ANSI.enablePaste
        case .inline: ANSI.disableWrap + ANSI.enablePaste
        }
    }

    private var leaving: [UInt8] {
        let keyboard = hasKeyboard ? ANSI.popKeyboard : []
        let both =
            keyboard + ANSI.disableMouse + ANSI.resetStyle + ANSI.disablePaste + ANSI.enableWrap
            + ANSI.showCursor
        switch use {
        case .screen: return ANSI.endSynchronized + both + ANSI.leaveAlternateScreen
        case .inline: return ANSI.endSynchronized + both
        }
    }

    /// Takes the terminal: raw input, the other screen. One that is taken is taken again: whoever
    /// continued a stopped program may have changed it.
    func enter(asking questions: [UInt8] = []) {
        if !isTaken { tcgetattr(descriptor, &original) }
        var raw = original
        cfmakeraw(&raw)
        tcsetattr(descriptor, TCSADRAIN, &raw)
        isTaken = true
        prepareHandlers()
        for number in Self.asking { Self.install(number, asked, flags: SA_RESTART) }
        for number in Self.traps { Self.install(number, trapped, flags: Int32(bitPattern: 0)) }
        write(entering)
        if !questions.isEmpty {
            // The last question is one that every terminal answers.
            write(questions + ANSI.askAttributes)
            awaitsAnswer = true
        }
    }

    private func prepareHandlers() {
        handlerState.isRaw = false
        let bytes = leaving
        if handlerState.bytes == nil {
            handlerState.bytes = .allocate(capacity: 256)
        }
        handlerState.bytes?.update(from: bytes, count: min(bytes.count, 256))
        handlerState.count = min(bytes.count, 256)
        handlerState.original = original
        handlerState.descriptor = descriptor
        handlerState.isRaw = true
    }

    /// Something was asked beside the questions of `enter`.
    func ask(_ question: [UInt8]) {
        write(question)
        awaitsAnswer = true
    }

    /// The terminal answered the last question.
    func answered() { awaitsAnswer = false }

    /// Lets the mouse be told in a program under the prompt; a full screen has it from the start.
    func takeMouse() { write(ANSI.enableMouse) }

    /// Lets keys come with the state of Caps Lock, or as they came before.
    func takeKeyboard(_ isWanted: Bool) {
        guard isTaken, isWanted != hasKeyboard else { return }
        hasKeyboard = isWanted
        prepareHandlers()
        write(isWanted ? ANSI.pushKeyboard : ANSI.popKeyboard)
    }

    /// Whether Caps Lock is on where the terminal is a console of Linux, which knows
    /// (ioctl_console(2), KDGKBLED); `nil` elsewhere.
    var consoleCapsLock: Bool? {
        var flags: CChar = 0
        guard ioctl(descriptor, 0x4B64, &flags) == 0 else { return nil }
        return flags & 0x04 != 0
    }

    /// Gives it back as it was found.
    func leave() {
        guard isTaken else { return }
        if awaitsAnswer { drainAnswers() }
        write(leaving)
        tcsetattr(descriptor, TCSADRAIN, &original)
        isTaken = false
        hasKeyboard = false
        handlerState.isRaw = false
    }

    /// Signals end the program again as they did before.
    func releaseSignals() {
        for number in Self.asking + Self.traps { signal(number, SIG_DFL) }
    }

    /// An answer that comes after the end would be typed into the shell: it is waited for shortly.
    private func drainAnswers() {
        awaitsAnswer = false
        for _ in 0..<5 {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, 20) > 0 else { continue }
            let bytes = read()
            // DA1 ends in `c`, CPR in `R`.
            let ends = [UInt8(ascii: "c"), UInt8(ascii: "R")]
            if bytes.last.map(ends.contains) ?? true { return }
        }
    }

    private static func install(
        _ number: Int32, _ handler: @convention(c) (Int32) -> Void, flags: Int32
    ) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = handler
        action.sa_flags = flags
        sigemptyset(&action.sa_mask)
        sigaction(number, &action, nil)
    }

    /// Everything that is there to be read, one read's worth; empty at the end of the file.
    func read() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
            var got = 0
            repeat {
                got = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            } while got < 0 && errno == EINTR
            count = max(0, got)
        }
    }

    /// The signals that came.
    func takeSignals() -> [Int32] {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(signals, &bytes, bytes.count)
        return bytes.prefix(max(0, count)).map(Int32.init)
    }

    /// Writes all of it; a terminal that is gone is noticed by its hang-up.
    func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&entry, 1, 1_000)
            } else if errno != EINTR {
                return
            }
        }
    }

    /// Stops as ^Z stops, and comes back when it is continued.
    func suspend() {
        leave()
        signal(SIGTSTP, SIG_DFL)
        // The whole job stops: a shell waits for all of a pipeline.
        kill(0, SIGTSTP)
        Self.install(SIGTSTP, asked, flags: SA_RESTART)
    }
}
