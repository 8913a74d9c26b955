// Which part of a program callgrind counts: its client requests (Callgrind manual, 6.6). Without
// valgrind's headers nothing is counted.

#pragma once

#if __has_include(<valgrind/callgrind.h>)

#include <valgrind/callgrind.h>

static inline void ccallgrind_start(void) { CALLGRIND_START_INSTRUMENTATION; }
static inline void ccallgrind_stop(void) { CALLGRIND_STOP_INSTRUMENTATION; }

#else

static inline void ccallgrind_start(void) {}
static inline void ccallgrind_stop(void) {}

#endif
