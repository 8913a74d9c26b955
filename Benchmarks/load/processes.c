/* Whole processes: how long a command takes, and how long a server until it answers. */
#define _GNU_SOURCE
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* `output` is its standard output, or -1 for none. */
static pid_t start(char **arguments, bool is_quiet, int output) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (output < 0) posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    else posix_spawn_file_actions_adddup2(&actions, output, 1);
    if (is_quiet) posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t child;
    int status = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
    if (status != 0) fail("cannot run %s: %s", arguments[0], strerror(status));
    posix_spawn_file_actions_destroy(&actions);
    return child;
}

enum { COMMANDS_MAX = 64 };

/* Cuts the arguments into commands at each lone `,`. */
static int split(int count, char **arguments, char **commands[COMMANDS_MAX]) {
    int kinds = 0;
    bool begins = true;
    for (int index = 0; index < count && kinds < COMMANDS_MAX; index++) {
        if (begins) commands[kinds++] = arguments + index;
        begins = strcmp(arguments[index], ",") == 0;
        if (begins) arguments[index] = NULL;
    }
    return kinds;
}

/* Another order of the numbers below `count`, the same in each run of this program (Fisher and Yates;
 * Marsaglia, "Xorshift RNGs", 2003). */
static void shuffle(int *numbers, int count) {
    static uint64_t state = 88172645463325252;
    for (int left = count; left > 1; left--) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        int other = (int)(state % (uint64_t)left), kept = numbers[left - 1];
        numbers[left - 1] = numbers[other];
        numbers[other] = kept;
    }
}

/* Runs commands in turn, `connections` times, in another order each time: what ran before leaves the
 * caches warm or cold. Prints the durations of each. */
int measure_commands(int count, char **arguments) {
    char **commands[COMMANDS_MAX];
    int kinds = split(count, arguments, commands);
    struct histogram *all = calloc((size_t)kinds, sizeof *all);
    double seconds[COMMANDS_MAX] = {0};
    int order[COMMANDS_MAX];
    for (int kind = 0; kind < kinds; kind++) order[kind] = kind;
    for (int round = -1; round < options.connections; round++) {
        shuffle(order, kinds);
        for (int place = 0; place < kinds; place++) {
            int kind = order[place];
            uint64_t began = now_nanoseconds();
            pid_t child = start(commands[kind], false, -1);
            int status;
            struct rusage usage;
            if (wait4(child, &status, 0, &usage) != child || status != 0)
                fail("%s ended with status %d", commands[kind][0], status);
            /* The first one reads the program from the disk. */
            if (round < 0) continue;
            note_duration(&all[kind], now_nanoseconds() - began);
            seconds[kind] += (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec
                + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
        }
    }
    printf("[");
    for (int kind = 0; kind < kinds; kind++)
        printf("%s{\"p50_us\":%.1f,\"p99_us\":%.1f,\"cpu_us\":%.1f}", kind ? "," : "",
               microseconds_at(&all[kind], 0.5), microseconds_at(&all[kind], 0.99),
               seconds[kind] / options.connections * 1e6);
    printf("]\n");
    free(all);
    return 0;
}

/* How long from the start of a command until each watcher has printed what it set: `{}` in its
 * arguments is a number that is new each time. */
int measure_watchers(int count, char **arguments) {
    static struct histogram durations;
    char **commands[COMMANDS_MAX], output[65536];
    if (split(count, arguments, commands) != 2) fail("two commands are wanted");
    struct pollfd pipes[COMMANDS_MAX];
    pid_t children[COMMANDS_MAX];
    for (int index = 0; index < options.subscribers; index++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe: %s", strerror(errno));
        children[index] = start(commands[0], false, ends[1]);
        close(ends[1]);
        pipes[index] = (struct pollfd){.fd = ends[0], .events = POLLIN};
    }
    /* Nothing says when they all watch. */
    usleep(1000000);
    for (int index = 0; index < options.subscribers; index++)
        while (poll(&pipes[index], 1, 0) == 1)
            if (read(pipes[index].fd, output, sizeof output) <= 0) fail("a watcher ended");
    char numbered[256], **pattern = NULL, *original = NULL;
    for (char **place = commands[1]; *place; place++)
        if (strstr(*place, "{}")) { pattern = place; original = *place; }
    for (int round = 0; round < options.connections; round++) {
        if (pattern) {
            int head = (int)(strstr(original, "{}") - original);
            snprintf(numbered, sizeof numbered, "%.*s%d%s", head, original, 1000 + round,
                     original + head + 2);
            *pattern = numbered;
        }
        uint64_t began = now_nanoseconds();
        pid_t child = start(commands[1], false, -1);
        for (int index = 0; index < options.subscribers; index++)
            if (poll(&pipes[index], 1, 5000) != 1) fail("a watcher did not see the change");
        note_duration(&durations, now_nanoseconds() - began);
        int status;
        waitpid(child, &status, 0);
        if (status != 0) fail("%s ended with status %d", commands[1][0], status);
        usleep(20000);
        for (int index = 0; index < options.subscribers; index++)
            if (read(pipes[index].fd, output, sizeof output) <= 0) fail("a watcher ended");
    }
    for (int index = 0; index < options.subscribers; index++) {
        kill(children[index], SIGTERM);
        waitpid(children[index], NULL, 0);
    }
    printf("{\"p50_us\":%.1f,\"p99_us\":%.1f}\n", microseconds_at(&durations, 0.5),
           microseconds_at(&durations, 0.99));
    return 0;
}

/* Starts a server, waits until it has answered a connection's greeting, and ends it. */
int measure_start(int count, char **arguments) {
    if (count < 1) fail("no server to start");
    uint64_t began = now_nanoseconds();
    pid_t child = start(arguments, true, -1);
    int socket;
    while (!try_connect(&socket)) {
        int status;
        if (waitpid(child, &status, WNOHANG) == child) fail("%s ended: %d", arguments[0], status);
        if (now_nanoseconds() - began > 20000000000u) fail("%s does not answer", arguments[0]);
        usleep(50);
    }
    options.wire->greet(socket);
    uint64_t took = now_nanoseconds() - began;
    kill(child, SIGTERM);
    int status;
    waitpid(child, &status, 0);
    printf("{\"ms\":%.3f}\n", (double)took / 1e6);
    return 0;
}
