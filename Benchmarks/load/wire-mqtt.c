/* Mosquitto, MQTT 3.1.1: a change is a retained PUBLISH of QoS 1, answered by PUBACK; subscribers
 * have QoS 0. */
#define _GNU_SOURCE
#include "load.h"

#include <stdio.h>
#include <string.h>

static void greet(int socket) {
    static int number;
    char request[64], answer[4];
    int length = sprintf(request + 14, "load%06d", ++number);
    memcpy(request, "\x10\x00\x00\x04MQTT\x04\x02\x00\x00\x00\x00", 14);
    request[1] = (char)(12 + length);
    request[13] = (char)length;
    send_all(socket, request, 14 + (size_t)length);
    receive_exactly(socket, answer, sizeof answer);
    if (answer[0] != 0x20 || answer[3] != 0) fail("mosquitto refused the connection");
}

static void subscribe(int socket) {
    char answer[5];
    send_all(socket, "\x82\x06\x00\x01\x00\x01" "c\x00", 8);
    receive_exactly(socket, answer, sizeof answer);
    if ((unsigned char)answer[0] != 0x90 || answer[4] != 0) fail("mosquitto refused to subscribe");
}

static size_t set(char *out, int socket, uint64_t sequence) {
    (void)socket;
    size_t rest = 2 + 1 + 2 + (size_t)options.payload, place = 0;
    uint16_t number = (uint16_t)(sequence % 65535 + 1);
    out[place++] = 0x33; /* PUBLISH, QoS 1, retained */
    for (size_t left = rest; ; left >>= 7) {
        out[place++] = (char)((left & 0x7F) | (left > 0x7F ? 0x80 : 0));
        if (left <= 0x7F) break;
    }
    memcpy(out + place, "\x00\x01" "c", 3);
    out[place + 3] = (char)(number >> 8);
    out[place + 4] = (char)number;
    memset(out + place + 5, '.', (size_t)options.payload);
    write_sequence(out + place + 5, sequence);
    return place + rest;
}

static size_t parse(const char *bytes, size_t count, bool decode, struct message *message) {
    size_t length = 0, place = 1;
    (void)decode;
    for (int shift = 0;; shift += 7, place++) {
        if (place >= count) return 0;
        length |= (size_t)(bytes[place] & 0x7F) << shift;
        if (!(bytes[place] & 0x80)) break;
    }
    size_t whole = ++place + length;
    if (count < whole) return 0;
    switch ((unsigned char)bytes[0] >> 4) {
    case 3:
        /* What is retained is sent to who subscribes: no change. */
        message->kind = bytes[0] & 1 ? OTHER : EVENT;
        message->sequence = read_sequence(bytes + place + 3);
        break;
    case 4: message->kind = ANSWER; break;
    default: fail("unexpected packet %d", bytes[0]);
    }
    return whole;
}

const struct wire mqtt_wire = {.name = "mosquitto", .answers_sets = true, .greet = greet,
                               .subscribe = subscribe, .set = set, .parse = parse};
