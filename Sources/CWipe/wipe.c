// free(3) and realloc(3) in front of the C library's own, which glibc allows a program to have
// (glibc manual, "Replacing malloc"; `__libc_free` and its like are what they are known by inside).
//
// Under a sanitizer the allocator is the sanitizer's: there, blocks are kept as they are.

#include "CWipe.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CWIPE_LEFT_ALONE 1
#endif
#endif

static atomic_bool wiping;

void cwipe_begin(void) { atomic_store_explicit(&wiping, 1, memory_order_relaxed); }

void cwipe_bytes(void *bytes, unsigned long count) { explicit_bzero(bytes, count); }

__attribute__((noinline)) void cwipe_stack(void) {
    char left[96 << 10];
    explicit_bzero(left, sizeof left);
}

#if defined(__GLIBC__) && !defined(CWIPE_LEFT_ALONE)

extern void __libc_free(void *block);
extern void *__libc_realloc(void *block, size_t size);

static inline int is_wiping(void) {
    return atomic_load_explicit(&wiping, memory_order_relaxed);
}

void free(void *block) {
    if (block && is_wiping()) explicit_bzero(block, malloc_usable_size(block));
    __libc_free(block);
}

void *realloc(void *block, size_t size) {
    if (!block || size == 0 || !is_wiping()) {
        if (block && size == 0 && is_wiping()) explicit_bzero(block, malloc_usable_size(block));
        return __libc_realloc(block, size);
    }
    size_t had = malloc_usable_size(block);
    // In place if the block is large enough and would not become much smaller.
    if (size <= had && size >= had / 2) return block;
    void *moved = malloc(size);
    if (!moved) return NULL;
    memcpy(moved, block, had < size ? had : size);
    free(block);
    return moved;
}

#endif
