// libuv and the few C facts that Swift cannot import by itself.
//
// Invariant: no feature-test macro is defined here. `_GNU_SOURCE` in a module header changes
// glibc's own types and makes this module disagree with Swift's Glibc, so what needs it is declared
// under a name of our own. Every helper returns 0 (or a count, or a descriptor) or a negated errno.
#pragma once

#if !__has_include(<uv.h>)
#error "install libuv1-dev"
#endif

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <uv.h>

/// The layout of glibc's `struct ucred` (unix(7)), which hides behind `_GNU_SOURCE`.
struct cuv_credentials {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

/// Who connected: SO_PEERCRED, socket(7).
static inline int cuv_peer_credentials(int descriptor, struct cuv_credentials *credentials) {
    socklen_t length = sizeof *credentials;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, credentials, &length) != 0) return -errno;
    return length == sizeof *credentials ? 0 : -EINVAL;
}

/// The supplementary groups of who connected: SO_PEERGROUPS (Linux 4.13), socket(7).
/// `count` is the capacity on entry and the number of groups on return, also with -ERANGE.
static inline int cuv_peer_groups(int descriptor, gid_t *groups, size_t *count) {
#ifdef SO_PEERGROUPS
    socklen_t length = (socklen_t)(*count * sizeof *groups);
    int status = getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, groups, &length);
    int reason = errno;
    *count = length / sizeof *groups;
    return status == 0 ? 0 : -reason;
#else
    (void)descriptor;
    (void)groups;
    *count = 0;
    return -ENOPROTOOPT;
#endif
}

extern int cuv_libc_accept4(int, void *, socklen_t *, int) __asm__("accept4");

/// A non-blocking, close-on-exec descriptor of the next connection: accept4(2).
static inline int cuv_accept(int descriptor) {
    int accepted = cuv_libc_accept4(descriptor, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC);
    return accepted >= 0 ? accepted : -errno;
}

extern const char *cuv_libc_strerrordesc_np(int) __asm__("strerrordesc_np");

/// One line on an errno, never translated and safe from any thread, or NULL: strerrordesc_np(3).
static inline const char *cuv_describe_errno(int number) {
    return cuv_libc_strerrordesc_np(number);
}

/// A write to a closed peer answers EPIPE and does not end the process: signal(7).
static inline int cuv_ignore_sigpipe(void) {
    return signal(SIGPIPE, SIG_IGN) == SIG_ERR ? -errno : 0;
}
