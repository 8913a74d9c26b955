// Changes the modes of the terminal and restores them.
//
// Invariants: the terminal's modes and screen are restored whatever ends the process, except
// SIGKILL: by `leave()` on every normal path, and by a handler with only async-signal-safe calls
// (signal-safety(7): write, tcsetattr, raise) when the program traps. Other signals are bytes in a
// pipe, which the loop reads like keys (Bernstein, "The self-pipe trick").

@preconcurrency internal import Glibc
internal import TerminalUI

/// The state for the handlers. They can run at any moment, so it is plain memory that is written
/// before they are installed.
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

/// Restores the terminal; async-signal-safe.
private func restoreTerminal() {
    guard handlerState.isRaw, handlerState.descriptor >= 0 else { return }
    if let bytes = handlerState.bytes {
        _ = write(handlerState.descriptor, bytes, handlerState.count)
    }
    tcsetattr(handlerState.descriptor, TCSANOW, &handlerState.original)
}

/// A trap: restores the terminal, then raises the signal with its default action.
private func trapped(_ number: Int32) {
    restoreTerminal()
    signal(number, SIG_DFL)
    raise(number)
}

/// Writes the number of a signal into the pipe.
private func asked(_ number: Int32) {
    let saved = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(handlerState.pipe, &byte, 1)
    errno = saved
}

/// A terminal that is switched to raw mode and restored.
final class Terminal {
    /// Full screen or inline.
    enum Use { case screen, inline }

    let descriptor: Int32
    /// Bytes of signals' numbers.
    let signals: Int32
    private let use: Use
    private var original = termios()
    private(set) var isTaken = false
    /// Whether the answer to a query is missing.
    private var awaitsAnswer = false
    /// Whether keys come as kitty writes them.
    private var hasKeyboard = false

    private static let asking: [Int32] = [SIGWINCH, SIGTSTP, SIGCONT, SIGINT, SIGTERM, SIGHUP]
    private static let traps: [Int32] = [SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE]

    /// The controlling terminal, even if the standard streams are redirected; `nil` if there is
    /// none.
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

    /// Its size; 80x24 if unknown.
    var size: Size { Self.size(of: descriptor) }

    /// The size of the terminal that a descriptor is; 80x24 if unknown.
    static func size(of descriptor: Int32) -> Size {
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

    /// Switches to raw input and the alternate screen. May be called again after a stop, because
    /// the shell may have changed the modes.
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
            // Every terminal answers the last query.
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

    /// Another query was sent.
    func ask(_ question: [UInt8]) {
        write(question)
        awaitsAnswer = true
    }

    /// The terminal answered the last question.
    func answered() { awaitsAnswer = false }

    /// Turns on the mouse for an inline frame; a full screen has it from the start.
    func takeMouse() { write(ANSI.enableMouse) }

    /// Turns the keyboard protocol that reports Caps Lock on or off.
    func takeKeyboard(_ isWanted: Bool) {
        guard isTaken, isWanted != hasKeyboard else { return }
        hasKeyboard = isWanted
        prepareHandlers()
        write(isWanted ? ANSI.pushKeyboard : ANSI.popKeyboard)
    }

    /// Whether Caps Lock is on, if the terminal is a Linux console (ioctl_console(2), KDGKBLED);
    /// otherwise `nil`.
    var consoleCapsLock: Bool? {
        var flags: CChar = 0
        guard ioctl(descriptor, 0x4B64, &flags) == 0 else { return nil }
        return flags & 0x04 != 0
    }

    /// Restores the original state.
    func leave() {
        guard isTaken else { return }
        if awaitsAnswer { drainAnswers() }
        write(leaving)
        tcsetattr(descriptor, TCSADRAIN, &original)
        isTaken = false
        hasKeyboard = false
        handlerState.isRaw = false
    }

    /// Restores the default actions of signals.
    func releaseSignals() {
        for number in Self.asking + Self.traps { signal(number, SIG_DFL) }
    }

    /// Waits shortly for a missing answer, because the shell would read it as input.
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

    /// The available bytes of one read; empty at the end of the file.
    func read() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
            var got = 0
            repeat {
                got = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            } while got < 0 && errno == EINTR
            count = max(0, got)
        }
    }

    /// The received signals.
    func takeSignals() -> [Int32] {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(signals, &bytes, bytes.count)
        return bytes.prefix(max(0, count)).map(Int32.init)
    }

    /// Writes all bytes; a closed terminal is detected by its hang-up.
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

    /// Stops the process as ^Z does, and returns when it is continued.
    func suspend() {
        leave()
        signal(SIGTSTP, SIG_DFL)
        // Stops the whole job, because a shell waits for all processes of a pipeline.
        kill(0, SIGTSTP)
        Self.install(SIGTSTP, asked, flags: SA_RESTART)
    }
}
