/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * measure CPU_SECONDS WALL_SECONDS COMMAND [ARGUMENT...]: runs a command and says what it used.
 * Each line that it prints comes out with wall and processor seconds since its start in front;
 * the last line is "= WALL USER SYSTEM PEAK_KIB STATUS", STATUS as of a shell (128 + signal), or
 * "limit" when the command was told to end. The limit is on the processor time of the process, so
 * that a busy machine does not cut a run short: an interrupt there, and a kill where that does not
 * help, or at the limit on wall time.
 *
 * A small program of its own because the peak memory that the kernel reports for a child begins
 * with that of the process it was forked from.
 */
#define _DEFAULT_SOURCE /* wait4 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 20, GRACE_S = 5 };

static double seconds(clockid_t clock)
{
    struct timespec now = {0};
    return clock_gettime(clock, &now) == 0 ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec : 0;
}

static double in_seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static pid_t start(char **command, int *output)
{
    int ends[2];
    if (pipe(ends) != 0) {
        return -1;
    }
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        signal(SIGINT, SIG_DFL); /* ignored by what a shell starts in the background */
        execvp(command[0], command);
        fprintf(stderr, "%s: %s\n", command[0], strerror(errno));
        _exit(127);
    }
    close(ends[1]);
    *output = ends[0];
    return child;
}

/* Passes on what has been read; `fresh` says whether a line begins here. */
static void pass_on(const char *text, size_t length, double wall, double cpu, int *fresh)
{
    for (size_t i = 0; i < length; i++) {
        if (*fresh) {
            printf("%.6f %.6f ", wall, cpu);
        }
        putchar(text[i]);
        *fresh = text[i] == '\n';
    }
}

int main(int count, char **words)
{
    if (count < 4) {
        fputs("usage: measure CPU_SECONDS WALL_SECONDS COMMAND [ARGUMENT...]\n", stderr);
        return 2;
    }
    double cpu_limit = strtod(words[1], NULL), wall_limit = strtod(words[2], NULL);
    int output = -1, fresh = 1, ended = 0;
    double began = seconds(CLOCK_MONOTONIC);
    pid_t child = start(words + 3, &output);
    clockid_t clock;
    if (child < 0 || clock_getcpuclockid(child, &clock) != 0) {
        perror("measure");
        return 2;
    }
    for (;;) {
        char text[65536];
        struct pollfd ready = {.fd = output, .events = POLLIN};
        int found = poll(&ready, 1, TICK_MS);
        double wall = seconds(CLOCK_MONOTONIC) - began, cpu = seconds(clock);
        ssize_t length = found > 0 ? read(output, text, sizeof text) : 0;
        if (found > 0 && length <= 0 && errno != EINTR) {
            break;
        }
        if (length > 0) {
            pass_on(text, (size_t)length, wall, cpu, &fresh);
        }
        if (ended < 2 && (cpu > 1.2 * cpu_limit + GRACE_S || wall > wall_limit)) {
            kill(child, SIGKILL);
            ended = 2;
        } else if (ended < 1 && cpu > cpu_limit) {
            kill(child, SIGINT);
            ended = 1;
        }
    }
    struct rusage used;
    int status = 0;
    while (wait4(child, &status, 0, &used) < 0 && errno == EINTR) {
    }
    double wall = seconds(CLOCK_MONOTONIC) - began;
    printf("%s= %.6f %.6f %.6f %ld ", fresh ? "" : "\n", wall, in_seconds(used.ru_utime),
           in_seconds(used.ru_stime), used.ru_maxrss);
    if (ended) {
        puts("limit");
    } else {
        printf("%d\n", WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    }
    return 0;
}
