// pickerctl: scripts are half of its users, so it starts quickly, says nothing unless asked, and
// tells in its exit status what happened.

internal import Glibc

// A reader or a daemon that went away is an error to answer, never the end by a signal.
signal(SIGPIPE, SIG_IGN)
// The parent process may have blocked signals, as threads of libdispatch do. The mask is inherited,
// and a command that does not get SIGTERM or SIGCHLD would hang.
var noSignals = sigset_t()
sigemptyset(&noSignals)
sigprocmask(SIG_SETMASK, &noSignals, nil)
// Where a standard descriptor is closed the daemon's socket would take its number, and data meant
// for people would go to the daemon.
for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
    _ = open("/dev/null", O_RDWR)
}
exit(PickerctlCommand.run(Array(CommandLine.arguments.dropFirst())))
