// The few system calls that Swift cannot import by itself, because they are variadic in C.
//
// Invariant: no feature-test macro is defined here (see CUV/shim.h). Every helper returns 0 or a
// negated errno.
#pragma once

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

/// Neither a crash nor a debugger of the same user gets a picture of the memory: PR_SET_DUMPABLE,
/// prctl(2).
static inline int csystem_forbid_dumps(void) {
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : -errno;
}

/// Frees the unmodified pages of programs and libraries: madvise(2),
/// MADV_DONTNEED. What is used again comes back from the page cache.
///
/// Only of mappings without a page of our own (proc(5), smaps): what the linker relocated is one.
static inline int csystem_give_back_program_pages(void) {
    FILE *maps = fopen("/proc/self/smaps", "re");
    char line[512], flags[5] = "", path[2] = "";
    unsigned long start = 0, end = 0, own = 0, kilobytes, from, to;
    if (!maps) return -errno;
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %4s", &from, &to, flags) == 3) {
            start = from;
            end = to;
            // A mapping that can be written, or of no file, is never touched.
            own = flags[1] == 'w'
                || sscanf(line, "%*s %*s %*s %*s %*s %1s", path) != 1 || path[0] != '/';
        } else if (sscanf(line, "Private_Dirty: %lu", &kilobytes) == 1
                   || sscanf(line, "Anonymous: %lu", &kilobytes) == 1
                   || sscanf(line, "Swap: %lu", &kilobytes) == 1) {
            own += kilobytes;
        } else if (strncmp(line, "VmFlags:", 8) == 0 && own == 0 && end > start) {
            madvise((void *)start, end - start, MADV_DONTNEED);
        }
    }
    fclose(maps);
    return 0;
}
