// Freed memory without what stood in it.
//
// Invariant: once `cwipe_begin` was called, no block that is given back to the allocator keeps
// its bytes, whoever gave it back: Swift's strings and arrays, libuv, SQLite. So a secret that has
// been dealt with is in no picture of the memory, however many copies it had on its way.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// From now on what is freed is wiped first: by every thread, until the process ends.
void cwipe_begin(void);

/// Overwrites the part of the calling thread's stack that calls before this one have left.
void cwipe_stack(void);

/// Overwrites bytes that are about to be forgotten.
void cwipe_bytes(void *bytes, unsigned long count);

#ifdef __cplusplus
}
#endif
