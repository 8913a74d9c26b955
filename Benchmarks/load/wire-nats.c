/* NATS: plain subjects for fan-out; requests are those of a JetStream key-value bucket in memory,
 * which subscribers of the subject see too. */
#define _GNU_SOURCE
#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool uses_bucket(void) { return options.subscribers == 0; }

/* Answers come to a subject of the connection's own: the process and its socket. */
static const char *inbox(int socket) {
    static char subject[64];
    sprintf(subject, "_I.%d.%d", (int)getpid(), socket);
    return subject;
}

static void greet(int socket) {
    static const char hello[] =
        "CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":true,\"no_responders\":true,"
        "\"lang\":\"c\",\"version\":\"1\"}\r\n";
    char request[96];
    receive_until(socket, "\r\n");
    send_all(socket, hello, sizeof hello - 1);
    send_all(socket, request,
             (size_t)sprintf(request, "SUB %s 9\r\nPING\r\n", inbox(socket)));
    receive_until(socket, "PONG\r\n");
}

static void prepare(int socket) {
    static const char stream[] =
        "{\"name\":\"KV_b\",\"subjects\":[\"$KV.b.>\"],\"storage\":\"memory\","
        "\"max_msgs_per_subject\":1,\"allow_direct\":true,\"discard\":\"new\"}";
    char request[REQUEST_BYTES_MAX];
    ask(socket, request,
        (size_t)sprintf(request, "PUB $JS.API.STREAM.CREATE.KV_b %s %zu\r\n%s\r\n",
                        inbox(socket), sizeof stream - 1, stream));
    ask(socket, request,
        (size_t)sprintf(request, "PUB $KV.b.k %s 10\r\n0000000000\r\n", inbox(socket)));
}

static void subscribe(int socket) {
    static const char request[] = "SUB c 1\r\nPING\r\n";
    send_all(socket, request, sizeof request - 1);
    receive_until(socket, "PONG\r\n");
}

static size_t set(char *out, int socket, uint64_t sequence) {
    char value[REQUEST_BYTES_MAX], subject[96] = "c";
    memset(value, '.', (size_t)options.payload);
    write_sequence(value, sequence);
    if (uses_bucket()) sprintf(subject, "$KV.b.k %s", inbox(socket));
    return (size_t)sprintf(out, "PUB %s %d\r\n%.*s\r\n", subject, options.payload,
                           options.payload, value);
}

static size_t get(char *out, int socket) {
    return (size_t)sprintf(out, "PUB $JS.API.DIRECT.GET.KV_b.$KV.b.k %s 0\r\n\r\n",
                           inbox(socket));
}

static size_t parse(const char *bytes, size_t count, bool decode, struct message *message) {
    (void)decode;
    const char *end = memchr(bytes, '\n', count);
    if (!end) return 0;
    size_t line = (size_t)(end + 1 - bytes);
    bool has_headers = bytes[0] == 'H';
    if (memcmp(bytes + has_headers, "MSG ", 4) != 0) {
        if (bytes[0] == '-') fail("nats: %.*s", (int)line, bytes);
        message->kind = OTHER;
        return line;
    }
    const char *size = memrchr(bytes, ' ', line);
    size_t length = (size_t)atoi(size + 1), whole = line + length + 2;
    if (count < whole) return 0;
    const char *subject = bytes + 4 + has_headers;
    if (subject[0] == '_') {
        message->kind = ANSWER;
        if (memmem(bytes + line, length, "\"error\"", 7) || memmem(bytes + line, length, " 404", 4))
            fail("nats: %.*s", (int)length, bytes + line);
    } else {
        message->kind = EVENT;
        message->sequence = read_sequence(bytes + line);
    }
    return whole;
}

const struct wire nats_wire = {.name = "nats", .answers_sets = false, .greet = greet,
                               .prepare = prepare, .subscribe = subscribe, .set = set, .get = get,
                               .parse = parse};
