/* Request loops: so many connections with so many requests under way in each.
 *
 * Invariant: an answer belongs to the oldest request of its connection, since every server here
 * answers in order; `parse` fails on an answer that is an error; nothing is under way at the end,
 * so that the next run on the same server finds nobody's changes but its own.
 */
#define _GNU_SOURCE
#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

struct requester {
    struct stream stream;
    uint64_t *sent_at; /* a ring of `depth` times, by request */
    uint64_t sent, answered;
    int depth;
    bool gets;
    bool is_measured;
};

static struct histogram durations;
static uint64_t answers, asked, sequence, moment;
/* Nothing more is asked: what is under way is waited for. */
static bool is_ending;

static void received_answer(void *context, const struct message *message) {
    struct requester *requester = context;
    if (message->kind != ANSWER) return;
    if (requester->answered == requester->sent) fail("an answer that nobody asked for");
    uint64_t began = requester->sent_at[requester->answered % (uint64_t)requester->depth];
    requester->answered += 1;
    if (!requester->is_measured) return;
    answers += 1;
    note_duration(&durations, moment - began);
}

static void send_requests(struct requester *requester) {
    static char requests[512 * REQUEST_BYTES_MAX];
    size_t bytes = 0;
    uint64_t time = now_nanoseconds();
    while (requester->sent - requester->answered < (uint64_t)requester->depth) {
        if (is_ending || (options.count > 0 && asked == (uint64_t)options.count)) break;
        asked += 1;
        requester->sent_at[requester->sent % (uint64_t)requester->depth] = time;
        int socket = requester->stream.socket;
        bytes += requester->gets ? options.wire->get(requests + bytes, socket)
                                 : options.wire->set(requests + bytes, socket, ++sequence);
        requester->sent += 1;
    }
    if (bytes > 0) send_all(requester->stream.socket, requests, bytes);
}

static void add(int epoll, struct requester *requester, int depth, bool gets, bool is_measured) {
    requester->stream.socket = connect_to_server();
    requester->depth = depth;
    requester->sent_at = calloc((size_t)depth, sizeof *requester->sent_at);
    requester->gets = gets;
    requester->is_measured = is_measured;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = requester};
    epoll_ctl(epoll, EPOLL_CTL_ADD, requester->stream.socket, &event);
}

/* Handles the answers that have come, and asks again; waits for them at most 100 ms. */
static void turn(int epoll) {
    static struct epoll_event events[1024];
    int ready = epoll_wait(epoll, events, 1024, 100);
    for (int index = 0; index < ready; index++) {
        struct requester *requester = events[index].data.ptr;
        moment = now_nanoseconds();
        if (!drain(&requester->stream, received_answer, requester))
            fail("the server closed a connection");
        send_requests(requester);
    }
}

static void finish(int epoll, struct requester *requesters, int count) {
    is_ending = true;
    uint64_t deadline = now_nanoseconds() + PATIENCE_NANOSECONDS;
    for (int index = 0; index < count; index++)
        while (requesters[index].answered < requesters[index].sent) {
            turn(epoll);
            if (now_nanoseconds() > deadline) fail("requests at the end were not answered");
        }
}

void measure_requests(void) {
    if (options.pipeline > 512) fail("at most 512 requests under way");
    int count = options.connections + options.writers, epoll = epoll_create1(0);
    struct requester *requesters = calloc((size_t)count, sizeof *requesters);
    for (int index = 0; index < count; index++)
        add(epoll, &requesters[index], index < options.connections ? options.pipeline : 1,
            index < options.connections && options.gets, index < options.connections);
    for (int index = 0; index < count; index++) send_requests(&requesters[index]);
    uint64_t warm = now_nanoseconds() + (uint64_t)(options.seconds * 0.2e9), start = 0, end;
    double own = 0, server = 0;
    for (;;) {
        end = now_nanoseconds();
        if (options.count > 0) {
            if (start == 0) start = end;
            if (answers == (uint64_t)options.count) break;
        } else if (start == 0 && end >= warm) {
            start = end;
            answers = 0;
            durations = (struct histogram){0};
            own = own_seconds();
            server = server_seconds();
        }
        uint64_t length = (uint64_t)(options.seconds * 1e9);
        if (options.count == 0 && start > 0 && end >= start + length) break;
        turn(epoll);
    }
    own = own_seconds() - own;
    server = server_seconds() - server;
    uint64_t measured = answers;
    double p50 = microseconds_at(&durations, 0.5), p99 = microseconds_at(&durations, 0.99);
    finish(epoll, requesters, count);
    double seconds = (double)(end - start) / 1e9;
    printf("{\"per_second\":%.0f,\"p50_us\":%.2f,\"p99_us\":%.2f,\"own_load\":%.3f,"
           "\"server_seconds_per_million\":%.4f}\n",
           (double)measured / seconds, p50, p99, own / seconds,
           measured > 0 ? server / (double)measured * 1e6 : 0);
}

/* Holds idle subscribers until standard input ends; says when they are all there. */
void measure_idle(void) {
    for (int index = 0; index < options.subscribers; index++)
        options.wire->subscribe(connect_to_server());
    printf("{\"subscribers\":%d}\n", options.subscribers);
    fflush(stdout);
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0) continue;
}

void measure_prepare(void) {
    int socket = connect_to_server();
    if (options.wire->prepare) options.wire->prepare(socket);
    puts("{}");
}
