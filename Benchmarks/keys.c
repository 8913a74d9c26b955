/* From a key in one terminal to the cells that another is written, in nanoseconds.
 *
 *     keys COUNT PAUSE-MICROSECONDS FORM PICKERCTL [FILE]
 *
 * Two pseudo-terminals have a live form each; a key (+ on a stepper) is written to the first, and
 * the time is taken when the second was written the frame that shows it, to its last byte. In turns
 * with it come two programs that know no forms and write the very bytes of that frame:
 *
 *     relay   terminal -> process -> Unix socket -> process -> Unix socket -> process -> terminal,
 *             the path that a key has here too, at its shortest
 *     copy    terminal -> process -> terminal
 *
 * With FILE, the relay's middle process writes each key to it and waits for fdatasync(2) before it
 * passes it on. Lines of `ours N BYTES`, `relay N BYTES` and `copy N BYTES` go to standard output.
 *
 * The terminals answer that they have synchronized output, so that a frame's end can be seen.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MAX 16384
static const char question[] = "\x1b[?2026$p", answer[] = "\x1b[?2026;2$y", end[] = "\x1b[?2026l";
/* Milliseconds after which a frame that does not come is given up. */
static const int patience = 10000;

/* What the relay and the copy write: shared between them and us. */
struct frame {
    size_t count;
    char bytes[FRAME_MAX];
};

/* Two live forms, the relay's three processes, the copy. */
#define CHILDREN 6
static pid_t children[CHILDREN];

static void give_up(const char *why) {
    fprintf(stderr, "keys: %s\n", why);
    for (int i = 0; i < CHILDREN; i++)
        if (children[i] > 0) kill(children[i], SIGTERM);
    exit(1);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static struct winsize size = {.ws_row = 24, .ws_col = 80};

/* A live form on a terminal of its own; the terminal's other side. */
static int open_form(int number, char *program, char *form) {
    int master;
    children[number] = forkpty(&master, NULL, NULL, &size);
    if (children[number] < 0) give_up("no pseudo-terminal");
    if (children[number] == 0) {
        setenv("TERM", "xterm-256color", 1);
        execl(program, program, "open", form, (char *)NULL);
        _exit(127);
    }
    return master;
}

/* Reads until the bytes end as `tail` says and no more are there; how many there are. */
static size_t read_until(int master, const char *tail, char *bytes, size_t max) {
    size_t count = 0, length = strlen(tail);
    for (;;) {
        struct pollfd entry = {.fd = master, .events = POLLIN};
        int is_done = count >= length && !memcmp(bytes + count - length, tail, length);
        int ready = poll(&entry, 1, is_done ? 0 : patience);
        if (ready == 0 && is_done) return count;
        if (ready <= 0) give_up("a frame did not come");
        ssize_t got = read(master, bytes + count, max - count);
        if (got <= 0) give_up("a form ended");
        count += got;
        if (count == max) give_up("a frame is longer than any");
    }
}

/* Takes whatever is there, and answers the question among it. */
static void drain(int master, int milliseconds) {
    static char bytes[1 << 16];
    struct pollfd entry = {.fd = master, .events = POLLIN};
    while (poll(&entry, 1, milliseconds) > 0) {
        ssize_t got = read(master, bytes, sizeof bytes);
        if (got <= 0) give_up("a form ended");
        if (memmem(bytes, got, question, strlen(question)) &&
            write(master, answer, strlen(answer)) < 0)
            give_up("an answer cannot be written");
    }
}

static void send_key(int master, const char *key) {
    if (write(master, key, strlen(key)) != (ssize_t)strlen(key)) give_up("a key cannot be written");
}

/* For each key that can be read at `in`, the whole frame to `out`, or the key alone without one;
 * first the key to `file`, unless that is -1. */
static void pass(int in, int out, const struct frame *frame, int file) {
    char key;
    while (read(in, &key, 1) == 1) {
        if (file >= 0 && (write(file, &key, 1) != 1 || fdatasync(file) != 0)) _exit(1);
        if (write(out, frame ? frame->bytes : &key, frame ? frame->count : 1) < 0) _exit(1);
    }
    _exit(0);
}

/* Whatever can be read at `in` to `out`, as a terminal's program does with a frame. */
static void show(int in, int out) {
    char bytes[FRAME_MAX];
    ssize_t count;
    while ((count = read(in, bytes, sizeof bytes)) > 0)
        if (write(out, bytes, count) < 0) _exit(1);
    _exit(0);
}

/* A program between two terminals. */
struct peer {
    const char *name;
    int from, to;               /* our sides of its terminals */
};

static void open_terminal(int *master, int *slave) {
    struct termios modes;
    if (openpty(master, slave, NULL, NULL, &size)) give_up("no pseudo-terminal");
    tcgetattr(*slave, &modes);
    cfmakeraw(&modes);
    tcsetattr(*slave, TCSANOW, &modes);
}

static struct peer open_copy(const struct frame *frame) {
    struct peer peer = {.name = "copy"};
    int from, to;
    open_terminal(&peer.from, &from);
    open_terminal(&peer.to, &to);
    if ((children[5] = fork()) == 0) pass(from, to, frame, -1);
    return peer;
}

static struct peer open_relay(const struct frame *frame, int file) {
    struct peer peer = {.name = "relay"};
    int from, to, first[2], second[2];
    open_terminal(&peer.from, &from);
    open_terminal(&peer.to, &to);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, first) || socketpair(AF_UNIX, SOCK_STREAM, 0, second))
        give_up("no sockets");
    if ((children[2] = fork()) == 0) pass(from, first[0], NULL, -1);
    if ((children[3] = fork()) == 0) pass(first[1], second[0], frame, file);
    if ((children[4] = fork()) == 0) show(second[1], to);
    return peer;
}

/* The time that a peer needs for a key. */
static int64_t time_peer(const struct peer *peer, const struct frame *frame) {
    static char bytes[FRAME_MAX];
    int64_t start = now();
    send_key(peer->from, "+");
    size_t got = 0;
    while (got < frame->count) {
        ssize_t more = read(peer->to, bytes, sizeof bytes);
        if (more <= 0) give_up("a peer ended");
        got += more;
    }
    return now() - start;
}

int main(int argc, char **argv) {
    if (argc != 5 && argc != 6) return 64;
    int file = argc == 6 ? open(argv[5], O_WRONLY | O_CREAT | O_APPEND | O_TRUNC, 0600) : -1;
    if (argc == 6 && file < 0) give_up("the file cannot be written");
    int count = atoi(argv[1]), pause = atoi(argv[2]);
    struct frame *frame = mmap(NULL, sizeof *frame, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int first = open_form(0, argv[4], argv[3]), second = open_form(1, argv[4], argv[3]);
    for (int i = 0; i < 20; i++) {
        drain(first, 100);
        drain(second, 100);
    }
    /* The keys of the first are at the stepper, of the second elsewhere. */
    send_key(first, "/replicas");
    drain(first, 300);
    send_key(first, "\r");
    drain(first, 300);
    drain(second, 300);

    struct peer peers[] = {open_relay(frame, file), open_copy(frame)};

    int warm = count / 10 + 20;
    for (int i = -warm; i < count; i++) {
        drain(second, 0);
        int64_t start = now();
        send_key(first, "+");
        frame->count = read_until(second, end, frame->bytes, sizeof frame->bytes);
        int64_t ours = now() - start;
        usleep(pause);
        drain(first, 0);
        if (i >= 0) printf("ours %lld %zu\n", (long long)ours, frame->count);
        for (size_t peer = 0; peer < sizeof peers / sizeof *peers; peer++) {
            int64_t theirs = time_peer(&peers[peer], frame);
            usleep(pause);
            if (i >= 0)
                printf("%s %lld %zu\n", peers[peer].name, (long long)theirs, frame->count);
        }
    }
    for (int i = 0; i < CHILDREN; i++) kill(children[i], SIGTERM);
    while (wait(NULL) > 0 || errno == EINTR) {}
    return 0;
}
