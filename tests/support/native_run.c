/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "native_run.h"

#include "support.h"
#include "views.h"

#include <math.h>
#include <stdlib.h>

static void note_poll(native_run *run)
{
    double spent = test_clock_s(CLOCK_THREAD_CPUTIME_ID);
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
    int32_t answer = run->cancel_at > 0 && polls >= run->cancel_at
                         ? 2
                         : test_clock_s(CLOCK_MONOTONIC) - run->started > run->params.time_limit_s;
    if (answer != 0 && run->params.threads == 1 && run->stopped < 0)
        run->stopped = run->polled;
    return answer;
}

native_run native_run_default(native_solve_fn solve)
{
    return (native_run){
        .solve = solve,
        .params = test_params(1e-6),
        .fail_after = -1,
    };
}

int32_t native_run_solve(native_run *run, const ckpd_path_view *view, ckpd_path_result *result)
{
    const ckpd_host host = {
        .size = sizeof host, .user = run, .allocate = take, .release = give, .should_stop = stop};
    run->allocations = run->held = 0;
    run->polls = 0;
    run->started = test_clock_s(CLOCK_MONOTONIC);
    note_poll(run);
    run->longest = 0;
    run->stopped = -1;
    int32_t status = run->solve(&host, view, &run->params, result, NULL);
    note_poll(run);
    run->late = run->stopped < 0 ? 0 : run->polled - run->stopped;
    return status;
}
