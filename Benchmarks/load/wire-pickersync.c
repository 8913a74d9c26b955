/* PickerSync, protocol 1: docs/PROTOCOL.md. Forms bench-0, bench-1, …, each with text fields f-0,
 * f-1, …; a value is the sequence number's digits. */
#define _GNU_SOURCE
#include "load.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t frame(char *out, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int count = vsnprintf(out + 4, REQUEST_BYTES_MAX - 4, format, list);
    va_end(list);
    uint32_t length = htonl((uint32_t)count);
    memcpy(out, &length, 4);
    return (size_t)count + 4;
}

static void greet(int socket) {
    char request[REQUEST_BYTES_MAX];
    ask(socket, request, frame(request, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"));
}

static void apply(int socket, int form) {
    size_t capacity = 512 + (size_t)options.fields * 80;
    char *request = malloc(capacity), *place = request + 4;
    place += sprintf(place,
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"form.apply\",\"params\":{"
                     "\"definition\":{\"form\":\"bench-%d\",\"title\":\"Bench\","
                     "\"sections\":[{\"fields\":[",
                     form);
    for (int field = 0; field < options.fields; field++)
        place += sprintf(place, "%s{\"id\":\"f-%d\",\"type\":\"text\",\"label\":\"F\","
                         "\"maxLength\":10}",
                         field ? "," : "", field);
    place += sprintf(place, "]}]}}}");
    uint32_t length = htonl((uint32_t)(place - request - 4));
    memcpy(request, &length, 4);
    ask(socket, request, (size_t)(place - request));
    free(request);
}

static void prepare(int socket) {
    for (int form = 0; form < options.forms; form++) apply(socket, form);
}

static void subscribe(int socket) {
    char request[REQUEST_BYTES_MAX];
    ask(socket, request,
        frame(request, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"state.subscribe\","
                       "\"params\":{\"form\":\"bench-0\"}}"));
}

static size_t set(char *out, int socket, uint64_t sequence) {
    (void)socket;
    char digits[SEQUENCE_DIGITS + 1] = {0};
    write_sequence(digits, sequence);
    return frame(out,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"state.set\",\"params\":{\"form\":"
                 "\"bench-%d\",\"changes\":[{\"field\":\"f-%d\",\"value\":\"%s\"}]}}",
                 (int)(sequence % (uint64_t)options.forms),
                 (int)(sequence % (uint64_t)options.fields), digits);
}

static size_t get(char *out, int socket) {
    (void)socket;
    return frame(out, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"state.get\",\"params\":{\"form\":"
                      "\"bench-0\",\"fields\":[\"f-0\"]}}");
}

/* Events of one length have their value at one place nearly always. */
static const char *find_value(const char *text, size_t count) {
    static const char name[] = "\"value\":\"";
    static size_t offset;
    size_t length = sizeof name - 1;
    if (offset + length + SEQUENCE_DIGITS < count && memcmp(text + offset, name, length) == 0)
        return text + offset + length;
    const char *found = memmem(text, count, name, length);
    if (!found || found + length + SEQUENCE_DIGITS > text + count) fail("an event without value");
    offset = (size_t)(found - text);
    return found + length;
}

static size_t parse(const char *bytes, size_t count, bool decode, struct message *message) {
    static const char answer[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":";
    static const char event[] = "{\"jsonrpc\":\"2.0\",\"method\":\"state.changed\"";
    uint32_t length;
    if (count < 4) return 0;
    memcpy(&length, bytes, 4);
    length = ntohl(length);
    if (count - 4 < length) return 0;
    const char *text = bytes + 4;
    if (length > sizeof event && memcmp(text, event, sizeof event - 1) == 0) {
        message->kind = EVENT;
        message->sequence = read_sequence(find_value(text, length));
    } else if (length > sizeof answer && memcmp(text, answer, sizeof answer - 1) == 0) {
        message->kind = ANSWER;
    } else {
        fail("unexpected: %.*s", (int)(length < 400 ? length : 400), text);
    }
    if (decode && skip_json(text, text + length) != text + length)
        fail("no JSON: %.*s", (int)length, text);
    return length + 4;
}

const struct wire pickersync_wire = {.name = "pickersync", .answers_sets = true, .greet = greet,
                                     .prepare = prepare, .subscribe = subscribe, .set = set,
                                     .get = get, .parse = parse};
