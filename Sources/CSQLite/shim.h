#pragma once

#if !__has_include(<sqlite3.h>)
#error "install libsqlite3-dev"
#endif

#include <sqlite3.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* SQLite copies what is bound. The macro of the C interface is a cast that Swift cannot import. */
static inline sqlite3_destructor_type pickersync_sqlite_transient(void) {
    return SQLITE_TRANSIENT;
}

/* Variadic in C. No memory statistics: they cost a lock with each allocation. Before the first
   connection; later calls change nothing. */
static inline void pickersync_sqlite_configure(void) {
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/* Variadic in C. The last close must not checkpoint: a file in doubt is kept as it was found. */
static inline int pickersync_sqlite_checkpoint_on_close(sqlite3 *db, int on) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !on, (int *)0);
}

/* Variadic in C. SQL cannot change the file's own structure behind SQLite's back. */
static inline int pickersync_sqlite_defensive(sqlite3 *db) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

/* statx(2), which glibc declares only under _GNU_SOURCE; that macro in a module's header changes
   other modules' types. The layout is the kernel's ABI (linux/stat.h). */
struct pickersync_statx {
    uint32_t mask, block_size;
    uint64_t attributes;
    uint32_t links, uid, gid;
    uint16_t mode, spare;
    uint64_t inode, size, blocks, attributes_mask;
    struct { int64_t seconds; uint32_t nanoseconds; int32_t reserved; } access, birth, change, modify;
    uint64_t rest[16];
};

/* Inode and birth (nanoseconds since 1970, 0 where the file system keeps none); 0, or -1. */
static inline int pickersync_identity(const char *path, uint64_t *inode, int64_t *birth) {
    struct pickersync_statx found = {0};
    const int nofollow = 0x100, cwd = -100, want_inode = 0x100, want_birth = 0x800;
    if (syscall(SYS_statx, cwd, path, nofollow, want_inode | want_birth, &found) != 0) return -1;
    *inode = found.inode;
    *birth = (found.mask & want_birth)
        ? (int64_t)((uint64_t)found.birth.seconds * 1000000000u + found.birth.nanoseconds) : 0;
    return 0;
}
