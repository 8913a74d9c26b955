/* Redis, RESP 2: a change that subscribers see is SET and PUBLISH in one MULTI. */
#define _GNU_SOURCE
#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *payload(uint64_t sequence) {
    static char text[REQUEST_BYTES_MAX];
    memset(text + SEQUENCE_DIGITS, '.', (size_t)options.payload - SEQUENCE_DIGITS);
    write_sequence(text, sequence);
    return text;
}

static void greet(int socket) {
    send_all(socket, "PING\r\n", 6);
    receive_until(socket, "+PONG\r\n");
}

static size_t set(char *out, int socket, uint64_t sequence) {
    (void)socket;
    const char *value = payload(sequence);
    return (size_t)sprintf(out,
                           "*1\r\n$5\r\nMULTI\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n%.*s\r\n"
                           "*3\r\n$7\r\nPUBLISH\r\n$1\r\nc\r\n$%d\r\n%.*s\r\n*1\r\n$4\r\nEXEC\r\n",
                           options.payload, options.payload, value, options.payload,
                           options.payload, value);
}

static void prepare(int socket) {
    char request[REQUEST_BYTES_MAX];
    ask(socket, request, set(request, socket, 0));
}

static void subscribe(int socket) {
    send_all(socket, "SUBSCRIBE c\r\n", 13);
    receive_until(socket, "$1\r\nc\r\n:1\r\n");
}

static size_t get(char *out, int socket) {
    (void)socket;
    static const char request[] = "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n";
    memcpy(out, request, sizeof request - 1);
    return sizeof request - 1;
}

static size_t parse_bulk(const char *bytes, size_t count, const char *head, struct message *m) {
    size_t length = strlen(head), whole = length + (size_t)options.payload + 2;
    if (count < whole) return 0;
    if (memcmp(bytes, head, length) != 0) fail("unexpected: %.*s", (int)length, bytes);
    m->sequence = read_sequence(bytes + length);
    return whole;
}

static size_t parse(const char *bytes, size_t count, bool decode, struct message *message) {
    static const char answer[] = "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n+OK\r\n:";
    static char event_head[64], value_head[32];
    (void)decode; /* a bulk string is whole once its length is right */
    if (!event_head[0]) {
        sprintf(event_head, "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$%d\r\n", options.payload);
        sprintf(value_head, "$%d\r\n", options.payload);
    }
    switch (bytes[0]) {
    case '*':
        message->kind = EVENT;
        return parse_bulk(bytes, count, event_head, message);
    case '$':
        message->kind = ANSWER;
        return parse_bulk(bytes, count, value_head, message);
    default:
        message->kind = ANSWER;
        if (count < sizeof answer + 2) return 0;
        if (memcmp(bytes, answer, sizeof answer - 1) != 0) fail("unexpected: %.40s", bytes);
        const char *end = memchr(bytes + sizeof answer - 1, '\n', count - sizeof answer + 1);
        return end ? (size_t)(end + 1 - bytes) : 0;
    }
}

const struct wire redis_wire = {.name = "redis", .answers_sets = true, .greet = greet,
                                .prepare = prepare, .subscribe = subscribe, .set = set,
                                .get = get, .parse = parse};
