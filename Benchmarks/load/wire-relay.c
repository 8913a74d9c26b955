/* The limit (relay.c): frames of a 4-byte length, a letter and the payload. */
#define _GNU_SOURCE
#include "load.h"

#include <arpa/inet.h>
#include <string.h>

static size_t frame(char *out, char letter, size_t payload) {
    uint32_t length = htonl((uint32_t)payload + 1);
    memcpy(out, &length, 4);
    out[4] = letter;
    return payload + 5;
}

static void greet(int socket) {
    char request[8];
    ask(socket, request, frame(request, 'P', 0));
}

static void subscribe(int socket) {
    char request[8];
    ask(socket, request, frame(request, 'S', 0));
}

static size_t set(char *out, int socket, uint64_t sequence) {
    (void)socket;
    memset(out + 5, '.', (size_t)options.payload);
    write_sequence(out + 5, sequence);
    return frame(out, 'W', (size_t)options.payload);
}

static size_t get(char *out, int socket) {
    (void)socket;
    return frame(out, 'G', 0);
}

static size_t parse(const char *bytes, size_t count, bool decode, struct message *message) {
    uint32_t length;
    (void)decode;
    if (count < 4) return 0;
    memcpy(&length, bytes, 4);
    length = ntohl(length);
    if (count - 4 < length) return 0;
    message->kind = bytes[4] == 'W' ? EVENT : ANSWER;
    if (message->kind == EVENT) message->sequence = read_sequence(bytes + 5);
    return length + 4;
}

const struct wire relay_wire = {.name = "relay", .answers_sets = true, .greet = greet,
                                .subscribe = subscribe, .set = set, .get = get, .parse = parse};
