// Typing that is not shown, in a terminal that otherwise stays as it is.
//
// Always holds: whatever ends or stops the process, short of SIGKILL, echo is back; a process that
// goes on after a stop hides it again.

@preconcurrency internal import Glibc

/// What the handlers know: standard input's modes, as they were and without echo.
private struct EchoState {
    var original = termios()
    var hidden = termios()
}

// Safe: written by the program's one thread before the handlers are installed, and not while they
// are.
nonisolated(unsafe) private var echoState = EchoState()

/// The end or the stop that the signal would have had, with echo; signal-safety(7) allows all
/// three calls. The signal is blocked in its handler and comes when that returns.
private func showAndRaise(_ number: Int32) {
    tcsetattr(STDIN_FILENO, TCSANOW, &echoState.original)
    signal(number, SIG_DFL)
    raise(number)
}

/// Continued after a stop: no echo again.
private func hideAgain(_ number: Int32) {
    tcsetattr(STDIN_FILENO, TCSANOW, &echoState.hidden)
    signal(SIGTSTP, showAndRaise)
}

/// No echo, from its making to its end.
struct HiddenEcho: ~Copyable {
    private static let asking: [Int32] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    /// Hides what is typed; `nil` where standard input is no terminal.
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
