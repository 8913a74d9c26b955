/* From a key in one terminal to the cells that another is written, in nanoseconds.
 *
 *     keys COUNT PAUSE-MICROSECONDS FORM PICKERCTL
 *
 * Two pseudo-terminals have a live form each; a key (+ on a stepper) is written to the first, and
 * the time is taken when the second was written the frame that shows it, to its last byte. Between
 * two of those the peer's turn: a relay that, for a key from one terminal, writes the very bytes of
 * the frame before to another. Lines of `ours N` and `relay N` go to standard output.
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
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MAX 16384
static const char question[] = "\x1b[?2026$p", answer[] = "\x1b[?2026;2$y", end[] = "\x1b[?2026l";
/* Milliseconds after which a frame that does not come is given up. */
static const int patience = 10000;

/* What the relay writes: shared between it and us. */
struct frame {
    size_t count;
    char bytes[FRAME_MAX];
};

static pid_t children[3];

static void give_up(const char *why) {
    fprintf(stderr, "keys: %s\n", why);
    for (int i = 0; i < 3; i++)
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

/* The relay: a byte from one terminal, the frame to the other. */
static void relay(int in, int out, const struct frame *frame) {
    char key;
    while (read(in, &key, 1) == 1)
        if (write(out, frame->bytes, frame->count) < 0) _exit(1);
    _exit(0);
}

static void make_raw(int slave) {
    struct termios modes;
    tcgetattr(slave, &modes);
    cfmakeraw(&modes);
    tcsetattr(slave, TCSANOW, &modes);
}

int main(int argc, char **argv) {
    if (argc != 5) return 64;
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

    int from, from_slave, to, to_slave;
    if (openpty(&from, &from_slave, NULL, NULL, &size) || openpty(&to, &to_slave, NULL, NULL, &size))
        give_up("no pseudo-terminal");
    make_raw(from_slave);
    make_raw(to_slave);
    children[2] = fork();
    if (children[2] == 0) relay(from_slave, to_slave, frame);

    static char bytes[FRAME_MAX];
    int warm = count / 10 + 20;
    for (int i = -warm; i < count; i++) {
        drain(second, 0);
        int64_t start = now();
        send_key(first, "+");
        frame->count = read_until(second, end, frame->bytes, sizeof frame->bytes);
        int64_t ours = now() - start;
        usleep(pause);
        drain(first, 0);
        start = now();
        send_key(from, "+");
        size_t got = 0;
        while (got < frame->count) {
            ssize_t more = read(to, bytes, sizeof bytes);
            if (more <= 0) give_up("the relay ended");
            got += more;
        }
        int64_t peer = now() - start;
        usleep(pause);
        if (i >= 0) printf("ours %lld %zu\nrelay %lld %zu\n", (long long)ours, frame->count,
                           (long long)peer, got);
    }
    for (int i = 0; i < 3; i++) kill(children[i], SIGTERM);
    while (wait(NULL) > 0 || errno == EINTR) {}
    return 0;
}
