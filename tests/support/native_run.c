/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "native_run.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static void note_poll(native_run *run)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    double spent = (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
    run->longest = fmax(run->longest, spent - run->polled);
    run->polled = spent;
}

static void *take(size_t bytes, void *user)
{
    native_run *run = user;
    if (run->fail_after >= 0 && run->allocations >= run->fail_after)
        return NULL;
    void *block = malloc(bytes);
    run->allocations += block != NULL;
    run->held += block != NULL;
    return block;
}

static void give(void *block, void *user)
{
    ((native_run *)user)->held--;
    free(block);
}

static int32_t stop(void *user)
{
    native_run *run = user;
    int32_t polls = ++run->polls;
    if (run->params.threads == 1)
        note_poll(run);
    if (run->cancel_at > 0 && polls >= run->cancel_at)
        return 2;
    return now() - run->started > run->params.time_limit_s;
}

native_run native_run_default(native_solve_fn solve)
{
    return (native_run){
        .solve = solve,
        .params = {.size = sizeof(ckpd_solve_params),
                   .time_limit_s = (double)INFINITY,
                   .relative_gap = 1e-6,
                   .node_limit = -1,
                   .iteration_limit = -1,
                   .threads = 1,
                   .presolve = 1},
        .fail_after = -1,
    };
}

int32_t native_run_solve(native_run *run, const ckpd_path_view *view, ckpd_path_result *result)
{
    const ckpd_host host = {
        .size = sizeof host, .user = run, .allocate = take, .release = give, .should_stop = stop};
    run->allocations = run->held = 0;
    run->polls = 0;
    run->started = now();
    note_poll(run);
    run->longest = 0;
    int32_t status = run->solve(&host, view, &run->params, result, NULL);
    note_poll(run);
    run->seconds = now() - run->started;
    return status;
}
