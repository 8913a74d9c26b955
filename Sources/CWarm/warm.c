// Invariant: a prefetch has no effect but on time, so a wrong place does no harm.

#include "CWarm.h"

#include <stdint.h>

// Marks between the functions of packaging/order: only after keys, after both, only after messages.
// Without that order, as in a debug build, they lie anywhere.
#define MARK(name) \
    __attribute__((used, section(".text." #name))) void name(void) { __asm__ volatile(""); }
MARK(cwarm_keys)
MARK(cwarm_both)
MARK(cwarm_messages)
MARK(cwarm_end)

enum { LINE = 64, CODE_MAX = 512 << 10, STACK = 32 << 10 };

static inline void load(void (*first)(void), void (*last)(void)) {
    uintptr_t begin = (uintptr_t)first, end = (uintptr_t)last;
    if (begin > end || end - begin > CODE_MAX) return;
    for (uintptr_t place = begin; place < end; place += LINE)
        __builtin_prefetch((const void *)place, 0, 2);
    // What is about to be written there.
    uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
    for (uintptr_t place = stack - STACK; place < stack; place += LINE)
        __builtin_prefetch((const void *)place, 1, 2);
}

void cwarm_input(void) { load(cwarm_keys, cwarm_messages); }

void cwarm_message(void) { load(cwarm_both, cwarm_end); }
