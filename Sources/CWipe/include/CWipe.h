// Freed memory does not keep its contents.
//
// Invariant: after `cwipe_begin`, no block that is given back to the allocator keeps its bytes.
// This includes blocks of Swift's strings and arrays, libuv and SQLite. So a secret is in no image
// of the memory after its use, in spite of all copies that were made of it.
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
