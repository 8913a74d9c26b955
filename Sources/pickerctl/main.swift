// pickerctl: scripts are half of its users, so it starts quickly, says nothing unless asked, and
// tells in its exit status what happened.

internal import Glibc

// A reader or a daemon that went away is an error to answer, never the end by a signal.
signal(SIGPIPE, SIG_IGN)
// Whoever started this may have had signals blocked, as threads of libdispatch have; a mask is
// inherited, and a command that does not hear SIGTERM or SIGCHLD is stuck.
var noSignals = sigset_t()
sigemptyset(&noSignals)
sigprocmask(SIG_SETMASK, &noSignals, nil)
exit(PickerctlCommand.run(Array(CommandLine.arguments.dropFirst())))
