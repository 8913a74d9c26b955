/* One writer, many subscribers: events delivered a second, or, paced, how long the last one waits.
 *
 * Invariant: the slowest subscriber is at most `window` events behind the writer, so that no
 * server may drop or fold any; at the end each subscriber has seen each event once and in order.
 */
#define _GNU_SOURCE
#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

struct subscriber {
    struct stream stream;
    uint64_t seen;
};

static struct subscriber *subscribers;
static struct stream writer;
static uint64_t sent, answered, delivered;
/* How many subscribers have seen a paced event. */
static int arrived;

static void received_event(void *context, const struct message *message) {
    struct subscriber *subscriber = context;
    if (message->kind != EVENT) fail("a subscriber got an answer");
    if (message->sequence != subscriber->seen + 1)
        fail("event %llu came after %llu", (unsigned long long)message->sequence,
             (unsigned long long)subscriber->seen);
    subscriber->seen += 1;
    delivered += 1;
    arrived += 1;
}

static void received_answer(void *context, const struct message *message) {
    (void)context;
    if (message->kind == ANSWER) answered += 1;
}

static uint64_t slowest(void) {
    uint64_t least = UINT64_MAX;
    for (int index = 0; index < options.subscribers; index++)
        if (subscribers[index].seen < least) least = subscribers[index].seen;
    return least;
}

static void send_sets(int count) {
    static char requests[64 * REQUEST_BYTES_MAX];
    size_t bytes = 0;
    for (int index = 0; index < count; index++)
        bytes += options.wire->set(requests + bytes, writer.socket, ++sent);
    send_all(writer.socket, requests, bytes);
}

/* Handles what has come; waits for it at most `milliseconds`. */
static void turn(int epoll, int milliseconds) {
    static struct epoll_event events[1024];
    int count = epoll_wait(epoll, events, 1024, milliseconds);
    for (int index = 0; index < count; index++) {
        bool is_open;
        if (events[index].data.ptr == &writer)
            is_open = drain(&writer, received_answer, NULL);
        else {
            struct subscriber *subscriber = events[index].data.ptr;
            is_open = drain(&subscriber->stream, received_event, subscriber);
        }
        if (!is_open) fail("the server closed a connection");
    }
}

static int open_connections(void) {
    int epoll = epoll_create1(0);
    subscribers = calloc((size_t)options.subscribers, sizeof *subscribers);
    for (int index = 0; index < options.subscribers; index++) {
        struct subscriber *subscriber = &subscribers[index];
        subscriber->stream.socket = connect_to_server();
        options.wire->subscribe(subscriber->stream.socket);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = subscriber};
        epoll_ctl(epoll, EPOLL_CTL_ADD, subscriber->stream.socket, &event);
    }
    writer.socket = connect_to_server();
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &writer};
    epoll_ctl(epoll, EPOLL_CTL_ADD, writer.socket, &event);
    return epoll;
}

static void drain_all(int epoll) {
    uint64_t quiet = now_nanoseconds(), before = delivered;
    while (slowest() < sent || (options.wire->answers_sets && answered < sent)) {
        turn(epoll, 100);
        uint64_t time = now_nanoseconds();
        if (delivered != before) quiet = time;
        before = delivered;
        if (time - quiet > PATIENCE_NANOSECONDS)
            fail("of %llu events the slowest subscriber got %llu", (unsigned long long)sent,
                 (unsigned long long)slowest());
    }
}

static void saturate(int epoll) {
    /* Events that a subscriber may be behind: no server's bound on what it keeps for one, and of
     * all subscribers together what the slowest server delivers in some seconds. */
    uint64_t window = 400000 / (uint64_t)options.subscribers;
    window = window > 4096 ? 4096 : window < 256 ? 256 : window;
    uint64_t warm = now_nanoseconds() + (uint64_t)(options.seconds * 0.2e9);
    uint64_t start = 0, end = 0, before = 0, base = 0;
    double own = 0, server = 0;
    for (;;) {
        uint64_t time = now_nanoseconds();
        if (start == 0 && time >= warm) {
            start = time;
            before = delivered;
            own = own_seconds();
            server = server_seconds();
        }
        if (start > 0 && time >= start + (uint64_t)(options.seconds * 1e9)) {
            end = time;
            break;
        }
        uint64_t done = options.wire->answers_sets ? answered : subscribers[0].seen;
        if (sent - base > window / 2) base = slowest();
        int room = options.pipeline - (int)(sent - done);
        if (room > 0 && sent - base < window) send_sets(room < 64 ? room : 64);
        turn(epoll, 100);
    }
    own = own_seconds() - own;
    server = server_seconds() - server;
    double seconds = (double)(end - start) / 1e9, events = (double)(delivered - before);
    drain_all(epoll);
    printf("{\"events_per_second\":%.0f,\"events\":%.0f,\"own_load\":%.3f,"
           "\"event_bytes\":%zu,\"server_seconds_per_million\":%.4f}\n",
           events / seconds, events, own / seconds, event_bytes,
           events > 0 ? server / events * 1e6 : 0);
}

static void pace(int epoll) {
    static struct histogram last;
    uint64_t period = (uint64_t)(1e9 / options.rate), start = now_nanoseconds(), due = start;
    uint64_t end = start + (uint64_t)(options.seconds * 1e9);
    double own = own_seconds();
    while (due < end) {
        while (now_nanoseconds() < due) continue;
        uint64_t began = now_nanoseconds();
        arrived = 0;
        send_sets(1);
        while (arrived < options.subscribers) turn(epoll, 0);
        uint64_t took = now_nanoseconds() - began;
        /* The first changes find cold caches on both sides. */
        if (began - start > (uint64_t)(options.seconds * 0.1e9)) note_duration(&last, took);
        while (options.wire->answers_sets && answered < sent) turn(epoll, 0);
        due += period;
        if (due < now_nanoseconds()) due = now_nanoseconds();
    }
    drain_all(epoll);
    printf("{\"p50_us\":%.1f,\"p99_us\":%.1f,\"changes\":%llu,\"own_load\":%.3f}\n",
           microseconds_at(&last, 0.5), microseconds_at(&last, 0.99),
           (unsigned long long)last.total, (own_seconds() - own) / options.seconds);
}

void measure_fanout(void) {
    int epoll = open_connections();
    if (options.rate > 0) pace(epoll);
    else saturate(epoll);
}
