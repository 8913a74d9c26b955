// Turns off echo in a terminal whose other modes do not change.
//
// Invariants: echo is restored whatever ends or stops the process, except SIGKILL; a process that
// continues after a stop turns it off again.

@preconcurrency internal import Glibc

/// The state for the signal handlers: the modes of standard input, original and without echo.
private struct EchoState {
    var original = termios()
    var hidden = termios()
}

// Safe: the only thread writes it before the handlers are installed, and not afterwards.
nonisolated(unsafe) private var echoState = EchoState()

/// Restores echo and raises the signal with its default action; signal-safety(7) allows all three
/// calls. The signal is blocked in its handler and is delivered when that returns.
private func showAndRaise(_ number: Int32) {
    tcsetattr(STDIN_FILENO, TCSANOW, &echoState.original)
    signal(number, SIG_DFL)
    raise(number)
}

/// Continued after a stop: turns echo off again.
private func hideAgain(_ number: Int32) {
    tcsetattr(STDIN_FILENO, TCSANOW, &echoState.hidden)
    signal(SIGTSTP, showAndRaise)
}

/// Echo is off during the lifetime of this object.
struct HiddenEcho: ~Copyable {
    private static let asking: [Int32] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    /// Hides what is typed; `nil` if standard input is not a terminal.
    init?() {
        guard tcgetattr(STDIN_FILENO, &echoState.original) == 0 else { return nil }
        echoState.hidden = echoState.original
        echoState.hidden.c_lflag &= ~tcflag_t(ECHO)
        for number in Self.asking { signal(number, showAndRaise) }
        signal(SIGCONT, hideAgain)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &echoState.hidden)
    }

    deinit {
        tcsetattr(STDIN_FILENO, TCSADRAIN, &echoState.original)
        for number in Self.asking + [SIGCONT] { signal(number, SIG_DFL) }
    }
}
