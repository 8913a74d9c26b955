/* Options, sockets, clocks: what all measurements share. */
#define _GNU_SOURCE
#include "load.h"

#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

struct options options = {.subscribers = 1, .connections = 1, .pipeline = 1, .seconds = 1,
                          .forms = 1, .fields = 1, .payload = 150};

void fail(const char *format, ...) {
    va_list list;
    va_start(list, format);
    fputs("load: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    exit(1);
}

/* MARK: Clocks */

uint64_t now_nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

double own_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Of all threads of the server, to the nanosecond: the clock of another process. */
double server_seconds(void) {
    if (options.server == 0) return 0;
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(options.server, &clock) != 0 || clock_gettime(clock, &time) != 0)
        fail("no clock of process %d", options.server);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* MARK: Sockets */

bool try_connect(int *result) {
    bool is_port = options.place[0] != '/';
    int number = socket(is_port ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (number < 0) fail("socket: %s", strerror(errno));
    int status;
    if (is_port) {
        struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_port = htons((uint16_t)atoi(options.place)),
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        status = connect(number, (struct sockaddr *)&address, sizeof address);
        int one = 1;
        setsockopt(number, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    } else {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        if (strlen(options.place) >= sizeof address.sun_path) fail("the path is too long");
        strcpy(address.sun_path, options.place);
        status = connect(number, (struct sockaddr *)&address, sizeof address);
    }
    if (status != 0) {
        close(number);
        return false;
    }
    *result = number;
    return true;
}

int connect_to_server(void) {
    int number;
    if (!try_connect(&number)) fail("cannot connect to %s: %s", options.place, strerror(errno));
    options.wire->greet(number);
    return number;
}

void send_all(int socket, const void *bytes, size_t count) {
    const char *place = bytes;
    while (count > 0) {
        ssize_t sent = send(socket, place, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) fail("send: %s", strerror(errno));
        place += sent;
        count -= (size_t)sent;
    }
}

void receive_exactly(int socket, void *bytes, size_t count) {
    char *place = bytes;
    while (count > 0) {
        ssize_t received = recv(socket, place, count, 0);
        if (received < 0 && errno == EINTR) continue;
        if (received <= 0) fail("the server closed the connection");
        place += received;
        count -= (size_t)received;
    }
}

void receive_until(int socket, const char *text) {
    char seen[4096];
    size_t count = 0, length = strlen(text);
    while (count < sizeof seen) {
        receive_exactly(socket, seen + count, 1);
        count += 1;
        if (count >= length && memcmp(seen + count - length, text, length) == 0) return;
    }
    fail("the server did not say %s", text);
}

void ask(int socket, const void *request, size_t count) {
    static char answer[8 << 20];
    size_t have = 0;
    bool is_answered = false;
    struct message message;
    send_all(socket, request, count);
    for (;;) {
        size_t length = have > 0 ? options.wire->parse(answer, have, false, &message) : 0;
        if (length > 0) {
            is_answered = is_answered || message.kind == ANSWER;
            memmove(answer, answer + length, have -= length);
            continue;
        }
        if (is_answered && have == 0) return;
        if (have == sizeof answer) fail("an answer that is too long");
        ssize_t received = recv(socket, answer + have, sizeof answer - have, 0);
        if (received <= 0) fail("the server closed the connection");
        have += (size_t)received;
    }
}

/* Bytes that one read takes: all connections share the buffer. */
enum { READ_BYTES = 256 << 10, REST_BYTES_MAX = 4 << 20 };
size_t event_bytes;
static char shared[READ_BYTES + REST_BYTES_MAX];

bool drain(struct stream *stream, void (*receive)(void *, const struct message *), void *context) {
    memcpy(shared, stream->rest, stream->count);
    ssize_t received = recv(stream->socket, shared + stream->count, READ_BYTES, MSG_DONTWAIT);
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (received <= 0) return false;
    size_t count = stream->count + (size_t)received, place = 0;
    struct message message;
    while (place < count) {
        size_t length =
            options.wire->parse(shared + place, count - place, options.decodes, &message);
        if (length == 0) break;
        place += length;
        if (message.kind == EVENT) event_bytes = length;
        if (message.kind != OTHER) receive(context, &message);
    }
    stream->count = count - place;
    if (stream->count > REST_BYTES_MAX) fail("a message that is too long");
    if (stream->count > stream->capacity) {
        stream->capacity = stream->count * 2;
        stream->rest = realloc(stream->rest, stream->capacity);
    }
    memcpy(stream->rest, shared + place, stream->count);
    return true;
}

/* MARK: Durations */

void note_duration(struct histogram *histogram, uint64_t nanoseconds) {
    int exponent = nanoseconds < 64 ? 0 : 58 - __builtin_clzll(nanoseconds);
    size_t index = (size_t)exponent * 64 + (nanoseconds >> exponent);
    size_t last = sizeof histogram->counts / sizeof *histogram->counts - 1;
    histogram->counts[index < last ? index : last] += 1;
    histogram->total += 1;
}

double microseconds_at(const struct histogram *histogram, double quantile) {
    uint64_t wanted = (uint64_t)((double)histogram->total * quantile), seen = 0;
    for (size_t index = 0; index < sizeof histogram->counts / sizeof *histogram->counts; index++) {
        seen += histogram->counts[index];
        if (seen > wanted) {
            uint64_t exponent = index < 128 ? 0 : index / 64 - 1;
            return (double)((index - exponent * 64) << exponent) / 1e3;
        }
    }
    return 0;
}

/* MARK: Text */

/* Each run counts from a number of its own: a server need not tell anybody of a set to the value
 * that the run before left there, and an event of that run cannot pass for one of this. */
static uint64_t sequence_base;

static void choose_sequence_base(void) { sequence_base = (uint64_t)(getpid() % 900) * 10000000u; }

void write_sequence(char *out, uint64_t sequence) {
    sequence += sequence_base;
    for (int place = SEQUENCE_DIGITS - 1; place >= 0; place--) {
        out[place] = (char)('0' + sequence % 10);
        sequence /= 10;
    }
}

uint64_t read_sequence(const char *text) {
    uint64_t sequence = 0;
    for (int place = 0; place < SEQUENCE_DIGITS; place++) {
        unsigned digit = (unsigned)(text[place] - '0');
        if (digit > 9) fail("no sequence number: %.10s", text);
        sequence = sequence * 10 + digit;
    }
    return sequence - sequence_base;
}

static const char *skip_space(const char *text, const char *end) {
    while (text < end && strchr(" \t\r\n", *text) && *text) text++;
    return text;
}

static const char *skip_string(const char *text, const char *end) {
    for (text++; text < end && *text != '"'; text++) {
        if ((unsigned char)*text < 0x20) return NULL;
        if (*text == '\\') text++;
    }
    return text < end ? text + 1 : NULL;
}

const char *skip_json(const char *text, const char *end) {
    text = skip_space(text, end);
    if (text >= end) return NULL;
    if (*text == '"') return skip_string(text, end);
    if (*text == '{' || *text == '[') {
        char close = *text == '{' ? '}' : ']';
        bool is_object = *text == '{';
        text = skip_space(text + 1, end);
        if (text < end && *text == close) return text + 1;
        for (;;) {
            if (is_object) {
                text = skip_space(text, end);
                if (text >= end || *text != '"' || !(text = skip_string(text, end))) return NULL;
                text = skip_space(text, end);
                if (text >= end || *text++ != ':') return NULL;
            }
            if (!(text = skip_json(text, end))) return NULL;
            text = skip_space(text, end);
            if (text >= end) return NULL;
            if (*text == close) return text + 1;
            if (*text++ != ',') return NULL;
        }
    }
    const char *start = text;
    while (text < end && strchr("+-.0123456789eEtrufalsn", *text) && *text) text++;
    return text > start ? text : NULL;
}

/* MARK: The command line */

static const struct wire *const wires[] = {&pickersync_wire, &redis_wire, &nats_wire,
                                           &mqtt_wire,       &dbus_wire,  &relay_wire};

static const struct option names[] = {
    {"wire", required_argument, 0, 'w'},        {"place", required_argument, 0, 'p'},
    {"subscribers", required_argument, 0, 's'}, {"connections", required_argument, 0, 'c'},
    {"pipeline", required_argument, 0, 'l'},    {"rate", required_argument, 0, 'r'},
    {"seconds", required_argument, 0, 't'},     {"gets", no_argument, 0, 'g'},
    {"decode", no_argument, 0, 'd'},            {"forms", required_argument, 0, 'f'},
    {"fields", required_argument, 0, 'F'},      {"writers", required_argument, 0, 'W'},
    {"count", required_argument, 0, 'n'},       {"server", required_argument, 0, 'S'},
    {"payload", required_argument, 0, 'P'},
    {0, 0, 0, 0}};

static void read_option(int option) {
    switch (option) {
    case 'w':
        for (size_t index = 0; index < sizeof wires / sizeof *wires; index++)
            if (strcmp(wires[index]->name, optarg) == 0) options.wire = wires[index];
        break;
    case 'p': options.place = optarg; break;
    case 's': options.subscribers = atoi(optarg); break;
    case 'c': options.connections = atoi(optarg); break;
    case 'l': options.pipeline = atoi(optarg); break;
    case 'r': options.rate = atof(optarg); break;
    case 't': options.seconds = atof(optarg); break;
    case 'g': options.gets = true; break;
    case 'd': options.decodes = true; break;
    case 'f': options.forms = atoi(optarg); break;
    case 'F': options.fields = atoi(optarg); break;
    case 'W': options.writers = atoi(optarg); break;
    case 'S': options.server = atoi(optarg); break;
    case 'n': options.count = atol(optarg); break;
    case 'P': options.payload = atoi(optarg); break;
    default: exit(64);
    }
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    choose_sequence_base();
    /* Many subscribers are many descriptors. */
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    int option;
    optind = 2;
    while ((option = getopt_long(count, arguments, "+", names, NULL)) != -1) read_option(option);
    if (strcmp(what, "commands") == 0)
        return measure_commands(count - optind, arguments + optind);
    if (strcmp(what, "watchers") == 0)
        return measure_watchers(count - optind, arguments + optind);
    if (!options.wire || !options.place) {
        fputs("usage: load prepare|fanout|requests|idle|start --wire NAME --place SOCKET …\n"
              "       load commands --connections TIMES -- COMMAND … [, COMMAND …]\n"
              "       load watchers --subscribers N --connections TIMES -- WATCH … , SET … {}\n",
              stderr);
        return 64;
    }
    if (options.payload < SEQUENCE_DIGITS || options.payload > REQUEST_BYTES_MAX / 2)
        fail("a payload has %d to %d bytes", SEQUENCE_DIGITS, REQUEST_BYTES_MAX / 2);
    if (strcmp(what, "start") == 0) return measure_start(count - optind, arguments + optind);
    if (strcmp(what, "prepare") == 0) measure_prepare();
    else if (strcmp(what, "fanout") == 0) measure_fanout();
    else if (strcmp(what, "requests") == 0) measure_requests();
    else if (strcmp(what, "idle") == 0) measure_idle();
    else fail("nothing is measured by %s", what);
    return 0;
}
