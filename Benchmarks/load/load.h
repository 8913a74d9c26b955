/* The load generator: one process that plays the writer and all subscribers of one server.
 *
 * Invariant: what is counted was checked. Each event carries a sequence number and has a length
 * that is known; one that is missing, doubled or out of order ends the run with status 1. Nothing is
 * printed but one line of JSON at the end.
 */
#ifndef LOAD_H
#define LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Digits of the sequence number that each value begins with. */
enum { SEQUENCE_DIGITS = 10, REQUEST_BYTES_MAX = 4096 };
/* How long a server that says nothing is waited for. */
#define PATIENCE_NANOSECONDS UINT64_C(20000000000)

/* What a server sent: the answer to a request, a change that a subscriber is told of, or anything
 * else. */
struct message {
    enum { ANSWER, EVENT, OTHER } kind;
    uint64_t sequence; /* of an event */
};

/* The client of one server, in its own protocol and without a library. */
struct wire {
    const char *name;
    bool answers_sets; /* or the writer goes by what the first subscriber has seen */
    void (*greet)(int socket);
    void (*prepare)(int socket);           /* makes what the changes are of; once a server */
    void (*subscribe)(int socket);         /* returns when the server has confirmed it */
    /* One request of the connection, into `out`; gives its bytes. */
    size_t (*set)(char *out, int socket, uint64_t sequence);
    size_t (*get)(char *out, int socket);
    /* Bytes of the first whole message, 0 where it is not whole yet; `decode` reads all of it and
     * not only its length and sequence number. */
    size_t (*parse)(const char *bytes, size_t count, bool decode, struct message *message);
};

extern const struct wire pickersync_wire, redis_wire, nats_wire, mqtt_wire, dbus_wire, relay_wire;

/* What was asked for on the command line. */
struct options {
    const struct wire *wire;
    const char *place;    /* a path, or a TCP port on 127.0.0.1 */
    int subscribers;
    int connections;
    int pipeline;         /* requests under way in each connection */
    double rate;          /* changes a second; 0 saturates */
    double seconds;
    bool gets;            /* the requests are reads */
    bool decodes;         /* reads each event whole */
    int forms;            /* for sets that go round */
    int fields;
    int writers;          /* connections that write while others are measured */
    int server;           /* the pid whose processor time is taken; 0 for none */
    int payload;          /* bytes of a value where the protocol lets us choose */
    long count;           /* requests after which a run ends; 0 for by time */
};
extern struct options options;
/* Bytes of the last event that was parsed. */
extern size_t event_bytes;

/* Failing: one line on standard error, status 1. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Sockets. */
int connect_to_server(void);
bool try_connect(int *socket);
void send_all(int socket, const void *bytes, size_t count);
void receive_exactly(int socket, void *bytes, size_t count);
/* Reads until `text` has arrived; the bytes after it must not have arrived yet. */
void receive_until(int socket, const char *text);
/* Sends one request and waits for its answer. */
void ask(int socket, const void *request, size_t count);

/* Times and loads. */
uint64_t now_nanoseconds(void);
double own_seconds(void);
double server_seconds(void);

/* A connection's bytes that are not yet parsed. */
struct stream {
    int socket;
    char *rest;
    size_t count, capacity;
};
/* Reads what is there and hands each message to `receive`; false at the end of the stream. */
bool drain(struct stream *stream, void (*receive)(void *, const struct message *), void *context);

/* Durations by size: exact to 1 in 64. */
struct histogram {
    uint64_t counts[64 * 40];
    uint64_t total;
};
void note_duration(struct histogram *histogram, uint64_t nanoseconds);
double microseconds_at(const struct histogram *histogram, double quantile);

/* Text. */
void write_sequence(char *out, uint64_t sequence);
uint64_t read_sequence(const char *text);
/* The end of one JSON value, strictly by RFC 8259's grammar; NULL where there is none. */
const char *skip_json(const char *text, const char *end);

/* What can be measured. */
void measure_fanout(void);
void measure_requests(void);
void measure_idle(void);
void measure_prepare(void);
int measure_start(int count, char **arguments);
int measure_commands(int count, char **arguments);
int measure_watchers(int count, char **arguments);

#endif
