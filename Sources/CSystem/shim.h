// The few system calls that Swift cannot import by itself, because they are variadic in C.
//
// Always holds: no feature-test macro is defined here (see CUV/shim.h). Every helper returns 0 or a
// negated errno.
#pragma once

#include <errno.h>
#include <sys/prctl.h>

/// Neither a crash nor a debugger of the same user gets a picture of the memory: PR_SET_DUMPABLE,
/// prctl(2).
static inline int csystem_forbid_dumps(void) {
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : -errno;
}
