// Invariant: a prefetch has no effect but on time, so a wrong place does no harm.

#include "CWarm.h"

#include <stdint.h>

enum { LINE = 64, STACK = 32 << 10, TABLE = 24 << 10 };

extern const char __ehdr_start[];

// Written into the linked program by scripts/warm; in a debug build it is as it is here. First the
// places of the two lists in it, 16 bits each, then the lists: pairs of numbers in LEB128, how many
// lines are left out and how many follow, to a pair that has none.
__attribute__((used, aligned(LINE))) const unsigned char cwarm_table[TABLE] = {0};

static inline uintptr_t number(const unsigned char **place) {
    uintptr_t value = *(*place)++;
    if (value < 0x80) return value;
    value &= 0x7f;
    for (int shift = 7;; shift += 7) {
        uintptr_t part = *(*place)++;
        value |= (part & 0x7f) << shift;
        if (part < 0x80) return value;
    }
}

static void load(unsigned list) {
    const unsigned char *table = cwarm_table;
    // The compiler knows only the table of this file.
    __asm__("" : "+r"(table));
    unsigned start = table[2 * list] | table[2 * list + 1] << 8;
    if (start == 0) return;
    const unsigned char *place = table + start;
    const char *line = __ehdr_start;
    for (;;) {
        line += number(&place) * LINE;
        uintptr_t count = number(&place);
        if (count == 0) break;
        for (; count > 0; count--, line += LINE) __builtin_prefetch(line, 0, 2);
    }
    // What is about to be written there.
    const char *stack = __builtin_frame_address(0);
    for (int depth = STACK; depth > 0; depth -= LINE) __builtin_prefetch(stack - depth, 1, 2);
}

void cwarm_input(void) { load(0); }

void cwarm_message(void) { load(1); }
