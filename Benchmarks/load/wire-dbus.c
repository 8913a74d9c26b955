/* dbus-broker: a change is a signal, which nobody answers; a read is a call of the bus's own
 * GetId, the cheapest that it answers (a service behind it would be two hops more). */
#define _GNU_SOURCE
#include "load.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static size_t aligned(size_t count, size_t to) { return (count + to - 1) / to * to; }

static size_t put_string(char *out, size_t place, const char *text, size_t length) {
    uint32_t count = (uint32_t)length;
    place = aligned(place, 4);
    memcpy(out + place, &count, 4);
    memcpy(out + place + 4, text, length);
    out[place + 4 + length] = 0;
    return place + 5 + length;
}

static size_t put_field(char *out, size_t place, char code, char type, const char *text) {
    place = aligned(place, 8);
    out[place++] = code;
    out[place++] = 1;
    out[place++] = type;
    out[place++] = 0;
    if (type != 'g') return put_string(out, place, text, strlen(text));
    out[place++] = (char)strlen(text);
    strcpy(out + place, text);
    return place + strlen(text) + 1;
}

/* A message of `type` with one string, or none, as its body (D-Bus Specification, Message
 * Protocol). */
static size_t message_bytes(char *out, char type, const char *member, const char *body,
                            size_t body_length) {
    static const char bus[] = "org.freedesktop.DBus";
    static uint32_t serial;
    memset(out, 0, 256);
    memcpy(out, "l\0\0\1", 4);
    out[1] = type;
    serial += 1;
    memcpy(out + 8, &serial, 4);
    size_t place = put_field(out, 16, 1, 'o', type == 4 ? "/bench" : "/org/freedesktop/DBus");
    place = put_field(out, place, 2, 's', type == 4 ? "bench.Form" : bus);
    place = put_field(out, place, 3, 's', member);
    if (type == 1) place = put_field(out, place, 6, 's', bus);
    if (body) place = put_field(out, place, 8, 'g', "s");
    uint32_t fields = (uint32_t)place - 16, length = 0;
    size_t start = aligned(place, 8);
    memset(out + place, 0, start - place);
    if (body) length = (uint32_t)(put_string(out + start, 0, body, body_length));
    memcpy(out + 4, &length, 4);
    memcpy(out + 12, &fields, 4);
    return start + length;
}

static void greet(int socket) {
    char request[REQUEST_BYTES_MAX], digits[16], name[40] = {0};
    sprintf(digits, "%u", (unsigned)getuid());
    for (size_t index = 0; digits[index]; index++)
        sprintf(name + index * 2, "%02x", (unsigned char)digits[index]);
    send_all(socket, "", 1);
    send_all(socket, request, (size_t)sprintf(request, "AUTH EXTERNAL %s\r\n", name));
    receive_until(socket, "\r\n");
    send_all(socket, "BEGIN\r\n", 7);
    ask(socket, request, message_bytes(request, 1, "Hello", NULL, 0));
}

static void subscribe(int socket) {
    static const char rule[] = "type='signal',interface='bench.Form'";
    char request[REQUEST_BYTES_MAX];
    ask(socket, request, message_bytes(request, 1, "AddMatch", rule, sizeof rule - 1));
}

static size_t set(char *out, int socket, uint64_t sequence) {
    (void)socket;
    char value[REQUEST_BYTES_MAX];
    memset(value, '.', (size_t)options.payload);
    write_sequence(value, sequence);
    return message_bytes(out, 4, "Changed", value, (size_t)options.payload);
}

static size_t get(char *out, int socket) {
    (void)socket;
    return message_bytes(out, 1, "GetId", NULL, 0);
}

static size_t parse(const char *bytes, size_t count, bool decode, struct message *message) {
    uint32_t body, fields;
    (void)decode;
    if (count < 16) return 0;
    memcpy(&body, bytes + 4, 4);
    memcpy(&fields, bytes + 12, 4);
    size_t start = aligned(16 + fields, 8), whole = start + body;
    if (count < whole) return 0;
    switch (bytes[1]) {
    case 2: message->kind = ANSWER; break;
    case 3: fail("dbus: %.*s", (int)body, bytes + start + 4);
    default:
        /* The bus tells a new connection its name by a signal. */
        message->kind = memmem(bytes, start, "bench.Form", 10) ? EVENT : OTHER;
        if (message->kind == EVENT) message->sequence = read_sequence(bytes + start + 4);
    }
    return whole;
}

const struct wire dbus_wire = {.name = "dbus", .answers_sets = false, .greet = greet,
                               .subscribe = subscribe, .set = set, .get = get, .parse = parse};
