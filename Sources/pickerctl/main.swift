// pickerctl: scripts are half of its users, so it starts quickly, says nothing unless asked, and
// tells in its exit status what happened.

internal import Glibc

// A reader or a daemon that went away is an error to answer, never the end by a signal.
signal(SIGPIPE, SIG_IGN)
exit(PickerctlCommand.run(Array(CommandLine.arguments.dropFirst())))
