"""Tests of the client."""

import signal

# A test runner may start Python with signals blocked. What the tests start would inherit that, and
# a service would never see its SIGTERM.
signal.pthread_sigmask(signal.SIG_SETMASK, ())
