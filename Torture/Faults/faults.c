/*
 * A disk and a clock that do what a test says: loaded into pickersyncd with LD_PRELOAD.
 *
 * It is between the daemon and libc for the files of one directory (TORTURE_DIRECTORY), counts
 * what is written and synced there, and can
 *   - kill the process at the n-th such call: before it, after it, or in the middle of a write;
 *   - let the n-th sync fail with EIO, or every write with ENOSPC or EROFS;
 *   - leave out every sync, as a daemon without durability would;
 *   - record every call, and every byte that leaves by a socket, in the order in which it happened;
 *   - shift the wall clock.
 * The plan is in a file that the test shares (TORTURE_CONTROL): `struct control`,
 * which Torture/Kit/FaultShim.swift has too. All numbers are little-endian 64-bit.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct control {
    _Atomic uint64_t calls;      /* writes, truncations, syncs, renames and removals so far */
    _Atomic uint64_t syncs;      /* syncs so far */
    _Atomic uint64_t kill_at;    /* the call to be killed at, counted from 1; 0: none */
    _Atomic uint64_t kill_how;   /* 0 before, 1 after, 2 in the middle of a write */
    _Atomic uint64_t sync_fails; /* the sync that fails with EIO, counted from 1; 0: none */
    _Atomic uint64_t write_errno; /* what writes and creations fail with; 0: none */
    _Atomic uint64_t no_sync;    /* syncs do nothing */
    _Atomic int64_t clock_shift; /* milliseconds added to the wall clock */
    _Atomic int64_t boot_shift;  /* milliseconds added to the boot clock */
};

static struct control none;
static struct control *control = &none;
static char directory[4096];
static size_t directory_length;
static int trace = -1;
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

#define FILES 65536
/* 1: a file of the directory, 2: the directory itself */
static _Atomic unsigned char watched[FILES];

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)


__attribute__((constructor)) static void begin(void) {
    /* Of this process alone, not of what it starts. */
    const char *path = getenv("TORTURE_DIRECTORY");
    if (path && strlen(path) < sizeof directory) {
        strcpy(directory, path);
        directory_length = strlen(directory);
    }
    path = getenv("TORTURE_CONTROL");
    if (path) {
        int fd = open(path, O_RDWR | O_CLOEXEC);
        void *shared = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE,
                                                  MAP_SHARED, fd, 0);
        if (shared != MAP_FAILED) control = shared;
        if (fd >= 0) close(fd);
    }
    path = getenv("TORTURE_TRACE");
    if (path) trace = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    unsetenv("LD_PRELOAD");
}

/* One line of the record: kind, descriptor, position, and two strings of bytes. */
static void record(char kind, int fd, uint64_t at, const void *a, size_t na, const void *b,
                   size_t nb) {
    if (trace < 0) return;
    unsigned char head[32] = {0};
    uint32_t n;
    head[0] = (unsigned char)kind;
    n = (uint32_t)fd, memcpy(head + 4, &n, 4);
    memcpy(head + 8, &at, 8);
    n = (uint32_t)na, memcpy(head + 16, &n, 4);
    n = (uint32_t)nb, memcpy(head + 20, &n, 4);
    struct iovec parts[3] = {{head, 24}, {(void *)a, na}, {(void *)b, nb}};
    REAL(writev);
    (void)!real(trace, parts, 3);
}

static int is_inside(const char *path) {
    return directory_length && strncmp(path, directory, directory_length) == 0
        && (path[directory_length] == '/' || path[directory_length] == 0);
}

static void die(void) {
    REAL(kill);
    real(getpid(), SIGKILL);
    for (;;) pause();
}

static void lock(void) { pthread_mutex_lock(&order); }
static void unlock(void) { pthread_mutex_unlock(&order); }

/* Counts a call under the lock; whether it is the one to be killed at. */
static int counted(void) {
    uint64_t number = atomic_fetch_add(&control->calls, 1) + 1;
    return number == atomic_load(&control->kill_at);
}

static void note_open(int fd, const char *path, int flags) {
    if (fd < 0 || fd >= FILES) return;
    watched[fd] = 0;
    if (!is_inside(path)) return;
    watched[fd] = path[directory_length] == 0 ? 2 : 1;
    lock();
    record('O', fd, (uint64_t)(flags & O_TRUNC ? 1 : 0), path, strlen(path), NULL, 0);
    unlock();
}

static int refused(const char *path, int flags) {
    uint64_t number = atomic_load(&control->write_errno);
    if (!number || !is_inside(path) || !(flags & (O_CREAT | O_TRUNC))) return 0;
    if (access(path, F_OK) == 0) return 0;
    errno = (int)number;
    return 1;
}

#define OPENER(name) \
    int name(const char *path, int flags, ...) { \
        REAL(name); \
        va_list list; \
        va_start(list, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0; \
        va_end(list); \
        if (refused(path, flags)) return -1; \
        int fd = real(path, flags, mode); \
        note_open(fd, path, flags); \
        return fd; \
    }
OPENER(open)
OPENER(open64)

#define OPENER_AT(name) \
    int name(int at, const char *path, int flags, ...) { \
        REAL(name); \
        va_list list; \
        va_start(list, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0; \
        va_end(list); \
        if (refused(path, flags)) return -1; \
        int fd = real(at, path, flags, mode); \
        note_open(fd, path, flags); \
        return fd; \
    }
OPENER_AT(openat)
OPENER_AT(openat64)

int close(int fd) {
    REAL(close);
    if (fd >= 0 && fd < FILES && watched[fd]) {
        lock();
        watched[fd] = 0;
        record('C', fd, 0, NULL, 0, NULL, 0);
        unlock();
    }
    return real(fd);
}

static int is_watched(int fd) { return fd >= 0 && fd < FILES && watched[fd]; }

static ssize_t write_at(int fd, const void *bytes, size_t count, off64_t offset) {
    REAL(pwrite64);
    uint64_t number = atomic_load(&control->write_errno);
    if (number) {
        errno = (int)number;
        return -1;
    }
    lock();
    int last = counted();
    uint64_t how = atomic_load(&control->kill_how);
    if (last && how == 0) die();
    if (last && how == 2) {
        real(fd, bytes, count / 2, offset);
        die();
    }
    ssize_t written = real(fd, bytes, count, offset);
    if (written > 0) record('W', fd, (uint64_t)offset, bytes, (size_t)written, NULL, 0);
    if (last) die();
    unlock();
    return written;
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
    REAL(pwrite64);
    return is_watched(fd) ? write_at(fd, bytes, count, offset) : real(fd, bytes, count, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    return pwrite64(fd, bytes, count, offset);
}

ssize_t write(int fd, const void *bytes, size_t count) {
    REAL(write);
    if (is_watched(fd)) {
        off64_t offset = lseek64(fd, 0, SEEK_CUR);
        ssize_t written = write_at(fd, bytes, count, offset);
        if (written > 0) lseek64(fd, offset + written, SEEK_SET);
        return written;
    }
    if (trace < 0) return real(fd, bytes, count);
    lock();
    ssize_t written = real(fd, bytes, count);
    if (written > 0) record('N', fd, 0, bytes, (size_t)written, NULL, 0);
    unlock();
    return written;
}

static void record_parts(int fd, const struct iovec *parts, int count, ssize_t written) {
    for (int index = 0; index < count && written > 0; index++) {
        size_t here = parts[index].iov_len < (size_t)written ? parts[index].iov_len
                                                             : (size_t)written;
        record('N', fd, 0, parts[index].iov_base, here, NULL, 0);
        written -= (ssize_t)here;
    }
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(writev);
    if (trace < 0 || is_watched(fd)) return real(fd, parts, count);
    lock();
    ssize_t written = real(fd, parts, count);
    record_parts(fd, parts, count, written);
    unlock();
    return written;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    REAL(sendmsg);
    if (trace < 0) return real(fd, message, flags);
    lock();
    ssize_t written = real(fd, message, flags);
    record_parts(fd, message->msg_iov, (int)message->msg_iovlen, written);
    unlock();
    return written;
}

ssize_t send(int fd, const void *bytes, size_t count, int flags) {
    REAL(send);
    if (trace < 0) return real(fd, bytes, count, flags);
    lock();
    ssize_t written = real(fd, bytes, count, flags);
    if (written > 0) record('N', fd, 0, bytes, (size_t)written, NULL, 0);
    unlock();
    return written;
}

int ftruncate64(int fd, off64_t length) {
    REAL(ftruncate64);
    if (!is_watched(fd)) return real(fd, length);
    lock();
    int last = counted();
    if (last && atomic_load(&control->kill_how) == 0) die();
    int status = real(fd, length);
    if (status == 0) record('T', fd, (uint64_t)length, NULL, 0, NULL, 0);
    if (last) die();
    unlock();
    return status;
}

int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

static int synced(int fd, int (*sync)(int)) {
    lock();
    int last = counted();
    uint64_t number = atomic_fetch_add(&control->syncs, 1) + 1;
    uint64_t refusal = atomic_load(&control->write_errno);
    if (last && atomic_load(&control->kill_how) == 0) die();
    int status = 0;
    if (number == atomic_load(&control->sync_fails)) {
        record('F', fd, 0, NULL, 0, NULL, 0);
        status = -1;
        refusal = EIO;
    } else if (refusal == EIO) {
        record('F', fd, 0, NULL, 0, NULL, 0);
        status = -1;
    } else if (!atomic_load(&control->no_sync)) {
        status = sync(fd);
        refusal = (uint64_t)errno;
        if (status == 0) record('S', fd, 0, NULL, 0, NULL, 0);
    } else {
        record('X', fd, 0, NULL, 0, NULL, 0);
    }
    if (last) die();
    unlock();
    if (status != 0) errno = (int)refusal;
    return status;
}

int fsync(int fd) {
    REAL(fsync);
    return is_watched(fd) ? synced(fd, real) : real(fd);
}

int fdatasync(int fd) {
    REAL(fdatasync);
    return is_watched(fd) ? synced(fd, real) : real(fd);
}

int rename(const char *old, const char *new) {
    REAL(rename);
    if (!is_inside(old) && !is_inside(new)) return real(old, new);
    lock();
    int last = counted();
    if (last && atomic_load(&control->kill_how) == 0) die();
    int status = real(old, new);
    if (status == 0) record('R', -1, 0, old, strlen(old), new, strlen(new));
    if (last) die();
    unlock();
    return status;
}

int unlink(const char *path) {
    REAL(unlink);
    if (!is_inside(path)) return real(path);
    lock();
    int last = counted();
    if (last && atomic_load(&control->kill_how) == 0) die();
    int status = real(path);
    if (status == 0) record('U', -1, 0, path, strlen(path), NULL, 0);
    if (last) die();
    unlock();
    return status;
}

/* The wall clock and the boot clock: timers go by the monotonic one. */
static int64_t shift_of(clockid_t clock) {
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE: return atomic_load(&control->clock_shift);
    case CLOCK_BOOTTIME: return atomic_load(&control->boot_shift);
    default: return 0;
    }
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    REAL(clock_gettime);
    int status = real(clock, time);
    int64_t shift = status == 0 ? shift_of(clock) : 0;
    if (shift == 0) return status;
    int64_t after = (int64_t)time->tv_sec * 1000 + time->tv_nsec / 1000000 + shift;
    time->tv_sec = after / 1000;
    time->tv_nsec = after % 1000 * 1000000;
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    REAL(gettimeofday);
    int status = real(time, zone);
    int64_t shift = status == 0 ? shift_of(CLOCK_REALTIME) : 0;
    if (shift == 0) return status;
    int64_t after = (int64_t)time->tv_sec * 1000 + time->tv_usec / 1000 + shift;
    time->tv_sec = after / 1000;
    time->tv_usec = after % 1000 * 1000;
    return 0;
}
