/* The limit: a bare relay over libuv that copies a writer's frames to all subscribers, one write a
 * subscriber and loop iteration, and answers requests, one write a connection and iteration; with a
 * file, after one fdatasync for all that came meanwhile. It knows no forms, checks nothing, keeps
 * nothing: what is left is what the kernel and libuv cost.
 *
 *     relay SOCKET [FILE]
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

/* The bytes of one iteration that all subscribers get; freed by the last write. */
struct block {
    size_t count, capacity;
    int holders;
    char bytes[];
};

struct client {
    uv_pipe_t pipe;
    uv_write_t write;
    struct client *next, *next_subscriber;
    char *input;
    size_t input_count, input_capacity;
    struct block *answers;      /* to be written at the end of the iteration */
    struct block *held[2];      /* being written */
    struct block **behind;      /* blocks that came while a write was under way */
    size_t behind_count, behind_capacity;
    int is_writing;
};

static uv_loop_t *loop;
static uv_pipe_t listener;
static uv_prepare_t prepare;
static struct client *clients, *subscribers;
static struct block *events, *latest;
static char buffer[256 << 10];

/* Durable writes: those that came, and those under way. */
static int file = -1;
static struct block *unsynced, *syncing;
static uv_work_t work;

static struct block *append(struct block *block, const char *bytes, size_t count) {
    if (!block) {
        block = malloc(sizeof *block + (64 << 10));
        *block = (struct block){.capacity = 64 << 10};
    }
    if (block->count + count > block->capacity) {
        block->capacity = (block->count + count) * 2;
        block = realloc(block, sizeof *block + block->capacity);
    }
    memcpy(block->bytes + block->count, bytes, count);
    block->count += count;
    return block;
}

static void release(struct block *block) {
    if (block && --block->holders == 0) free(block);
}

static void flush(struct client *client);

static void written(uv_write_t *request, int status) {
    struct client *client = request->data;
    (void)status;
    client->is_writing = 0;
    release(client->held[0]);
    client->held[0] = NULL;
    flush(client);
}

/* One write of what there is: the answers, or the blocks that all subscribers get. */
static void write_block(struct client *client, struct block *block) {
    uv_buf_t whole = uv_buf_init(block->bytes, (unsigned)block->count);
    int taken = uv_try_write((uv_stream_t *)&client->pipe, &whole, 1);
    if (taken < 0) taken = 0;
    if ((size_t)taken == block->count) {
        release(block);
        return;
    }
    uv_buf_t rest =
        uv_buf_init(block->bytes + taken, (unsigned)(block->count - (size_t)taken));
    client->held[0] = block;
    client->is_writing = 1;
    client->write.data = client;
    uv_write(&client->write, (uv_stream_t *)&client->pipe, &rest, 1, written);
}

static void flush(struct client *client) {
    while (!client->is_writing) {
        struct block *block = client->answers;
        if (block) {
            block->holders = 1;
            client->answers = NULL;
        } else if (client->behind_count > 0) {
            block = client->behind[0];
            memmove(client->behind, client->behind + 1,
                    --client->behind_count * sizeof *client->behind);
        } else {
            return;
        }
        write_block(client, block);
    }
}

static void tell(struct client *client, struct block *block) {
    if (!client->is_writing && client->behind_count == 0) {
        write_block(client, block);
        return;
    }
    if (client->behind_count == client->behind_capacity) {
        client->behind_capacity = client->behind_capacity * 2 + 8;
        client->behind = realloc(client->behind, client->behind_capacity * sizeof block);
    }
    client->behind[client->behind_count++] = block;
}

static void publish(struct block *block) {
    if (!block) return;
    block->holders = 1;
    for (struct client *client = subscribers; client; client = client->next_subscriber) {
        block->holders += 1;
        tell(client, block);
    }
    release(block);
}

static void sync_file(uv_work_t *request) {
    (void)request;
    if (write(file, syncing->bytes, syncing->count) < 0 || fdatasync(file) != 0) abort();
}

static void answer_writers(struct block *frames);
static void start_sync(void);

static void synced(uv_work_t *request, int status) {
    (void)request;
    (void)status;
    answer_writers(syncing);
    publish(syncing);
    syncing = NULL;
}

static void start_sync(void) {
    if (syncing || !unsynced) return;
    syncing = unsynced;
    unsynced = NULL;
    uv_queue_work(loop, &work, sync_file, synced);
}

/* Who wrote is answered in the order of the frames: a queue of writers beside them. */
static struct client **writers;
static size_t writers_count, writers_capacity;

static void answer_writers(struct block *frames) {
    size_t place = 0, index = 0;
    while (place < frames->count) {
        uint32_t length;
        memcpy(&length, frames->bytes + place, 4);
        size_t whole = ntohl(length) + 4;
        char letter = 'A';
        struct client *writer = writers[index++]; /* NULL where it has gone meanwhile */
        if (writer) {
            writer->answers = append(writer->answers, frames->bytes + place, 4);
            writer->answers = append(writer->answers, &letter, 1);
            writer->answers = append(writer->answers, frames->bytes + place + 5, whole - 5);
        }
        place += whole;
    }
    memmove(writers, writers + index, (writers_count -= index) * sizeof *writers);
}

static void iteration_ended(uv_prepare_t *handle) {
    (void)handle;
    if (file < 0) {
        struct block *block = events;
        events = NULL;
        publish(block);
    } else {
        start_sync();
    }
    for (struct client *client = clients; client; client = client->next) flush(client);
}

static void answer(struct client *client, const char *payload, size_t count) {
    uint32_t length = htonl((uint32_t)count + 1);
    char head[5];
    memcpy(head, &length, 4);
    head[4] = 'A';
    client->answers = append(client->answers, head, 5);
    if (count > 0) client->answers = append(client->answers, payload, count);
}

static void received(struct client *client, const char *frame, size_t count) {
    switch (frame[4]) {
    case 'S':
        client->next_subscriber = subscribers;
        subscribers = client;
        /* fall through */
    case 'P': answer(client, NULL, 0); break;
    case 'G': answer(client, latest ? latest->bytes : NULL, latest ? latest->count : 0); break;
    case 'W':
        if (latest) latest->count = 0;
        latest = append(latest, frame + 5, count - 5);
        if (file < 0) {
            events = append(events, frame, count);
            answer(client, frame + 5, count - 5);
            break;
        }
        unsynced = append(unsynced, frame, count);
        if (writers_count == writers_capacity) {
            writers_capacity = writers_capacity * 2 + 64;
            writers = realloc(writers, writers_capacity * sizeof *writers);
        }
        writers[writers_count++] = client;
        break;
    }
}

static void closed(uv_handle_t *handle) { free(handle->data); }

static void ended(struct client *client) {
    for (struct client **place = &clients; *place; place = &(*place)->next)
        if (*place == client) { *place = client->next; break; }
    for (struct client **place = &subscribers; *place; place = &(*place)->next_subscriber)
        if (*place == client) { *place = client->next_subscriber; break; }
    for (size_t index = 0; index < writers_count; index++)
        if (writers[index] == client) writers[index] = NULL;
    free(client->input);
    uv_close((uv_handle_t *)&client->pipe, closed);
}

static void allocate(uv_handle_t *handle, size_t size, uv_buf_t *result) {
    (void)handle;
    (void)size;
    *result = uv_buf_init(buffer, sizeof buffer);
}

static void arrived(uv_stream_t *stream, ssize_t count, const uv_buf_t *bytes) {
    struct client *client = stream->data;
    if (count == 0) return;
    if (count < 0) {
        ended(client);
        return;
    }
    const char *place = bytes->base;
    size_t left = (size_t)count;
    if (client->input_count > 0) {
        size_t needed = client->input_count + left;
        if (needed > client->input_capacity)
            client->input = realloc(client->input, client->input_capacity = needed * 2);
        memcpy(client->input + client->input_count, place, left);
        client->input_count = 0;
        place = client->input;
        left = needed;
    }
    while (left >= 4) {
        uint32_t length;
        memcpy(&length, place, 4);
        size_t whole = ntohl(length) + 4;
        if (left < whole) break;
        received(client, place, whole);
        place += whole;
        left -= whole;
    }
    if (left > client->input_capacity)
        client->input = realloc(client->input, client->input_capacity = left * 2);
    if (left > 0) memmove(client->input, place, left);
    client->input_count = left;
}

static void connected(uv_stream_t *server, int status) {
    (void)status;
    struct client *client = calloc(1, sizeof *client);
    client->pipe.data = client;
    uv_pipe_init(loop, &client->pipe, 0);
    if (uv_accept(server, (uv_stream_t *)&client->pipe) != 0) abort();
    client->next = clients;
    clients = client;
    uv_read_start((uv_stream_t *)&client->pipe, allocate, arrived);
}

int main(int count, char **arguments) {
    if (count < 2) return 64;
    loop = uv_default_loop();
    if (count > 2) file = open(arguments[2], O_WRONLY | O_CREAT | O_APPEND | O_TRUNC, 0600);
    unlink(arguments[1]);
    uv_pipe_init(loop, &listener, 0);
    if (uv_pipe_bind(&listener, arguments[1]) != 0) return 73;
    uv_listen((uv_stream_t *)&listener, 4096, connected);
    uv_prepare_init(loop, &prepare);
    uv_prepare_start(&prepare, iteration_ended);
    return uv_run(loop, UV_RUN_DEFAULT);
}
