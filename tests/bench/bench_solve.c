/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The native solver on the golden days and the instances of growing size: time to the first plan,
 * to a gap of 1 % and 0.1 %, to the end, all as processor time; final gap, work, memory of the
 * solver. make bench B=solve            short: every case for a few seconds SECONDS_EACH=60 make
 * bench B=solve
 */
#include "solver/native/native.h"
#include "support/case_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct meter {
    double started, limit;
    double first, percent, permille; /* seconds until then, NaN before */
    size_t held, peak;
} meter;

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double spent(const meter *m)
{
    return seconds(CLOCK_PROCESS_CPUTIME_ID) - m->started;
}

static void *take(size_t bytes, void *user)
{
    meter *m = user;
    size_t *block = malloc(bytes + 16);
    if (!block)
        return NULL;
    block[0] = bytes;
    m->held += bytes;
    m->peak = m->held > m->peak ? m->held : m->peak;
    return block + 2;
}

static void give(void *block, void *user)
{
    size_t *start = (size_t *)block - 2;
    ((meter *)user)->held -= start[0];
    free(start);
}

static int32_t stop(void *user)
{
    const meter *m = user;
    return spent(m) > m->limit;
}

static void report(double plan, double bound, int64_t iterations, int64_t nodes, void *user)
{
    meter *m = user;
    double gap = (plan - bound) / fmax(fabs(plan), fabs(bound));
    (void)iterations;
    (void)nodes;
    if (isnan(m->first))
        m->first = spent(m);
    if (isnan(m->percent) && gap <= 1e-2)
        m->percent = spent(m);
    if (isnan(m->permille) && gap <= 1e-3)
        m->permille = spent(m);
}

typedef struct entry {
    const char *file;
    case_options options;
    double gap;
    int32_t threads;
} entry;

static void time_text(double value, char text[16])
{
    if (isnan(value))
        strcpy(text, "-");
    else
        snprintf(text, 16, "%.3f", value);
}

static void run_native(case_view *view, const entry *e, double limit)
{
    meter m = {
        .limit = limit, .first = (double)NAN, .percent = (double)NAN, .permille = (double)NAN};
    const ckpd_host host = {.size = sizeof host,
                            .user = &m,
                            .allocate = take,
                            .release = give,
                            .should_stop = stop,
                            .report = report};
    const ckpd_solve_params params = {.size = sizeof params,
                                      .time_limit_s = (double)INFINITY,
                                      .relative_gap = e->gap,
                                      .node_limit = -1,
                                      .iteration_limit = -1,
                                      .threads = e->threads,
                                      .presolve = 1};
    ckpd_path_result result = {.size = sizeof result};
    char first[16], percent[16], permille[16];
    result.plan = case_view_plan(view);
    m.started = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (ckpd__native_solve_paths(&host, &view->view, &params, &result, NULL) != CKPD_OK) {
        printf("failed: %s\n", result.message);
        return;
    }
    double end = spent(&m);
    double gap =
        (result.objective - result.bound) / fmax(fabs(result.objective), fabs(result.bound));
    m.percent = isnan(m.percent) && gap <= 1e-2 ? end : m.percent;
    m.permille = isnan(m.permille) && gap <= 1e-3 ? end : m.permille;
    time_text(m.first, first);
    time_text(m.percent, percent);
    time_text(m.permille, permille);
    printf("| %12.6f | %12.6f | %.1e | %8s | %8s | %8s | %8.3f | %6lld | %5lld | %7.1f |\n",
           result.objective, result.bound, fmax(gap, 0), first, percent, permille, end,
           (long long)result.iterations, (long long)result.nodes, (double)m.peak / 1e6);
}

static void run_all(const entry *entries, size_t count, double limit)
{
    puts("| instance | slots | segments | battery | plan | bound | gap | first plan s | 1 % s | "
         "0.1 % s | end s |"
         " iterations | nodes | MB |");
    puts("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (size_t i = 0; i < count; i++) {
        char path[1024];
        case_view view;
        snprintf(path, sizeof path, "%s/%s", SHARED_DIR, entries[i].file);
        if (!case_view_read(&view, path, &entries[i].options))
            continue;
        printf("| %s | %d | %d | %s ", strrchr(entries[i].file, '/') + 1, (int)view.view.slots,
               (int)view.view.job[0]->segments, entries[i].options.storage ? "yes" : "no");
        run_native(&view, &entries[i], limit);
        fflush(stdout);
        case_view_free(&view);
    }
}

int main(void)
{
    static const entry entries[] = {
        {"cases/aidc2048-golden.json", {0}, 1e-6, 1},
        {"cases/aidc2048-golden.json", {.storage = 1}, 1e-6, 1},
        {"cases/aidc2048-steep.json", {0}, 1e-6, 1},
        {"cases/aidc2048-steep.json", {.storage = 1}, 1e-6, 1},
        {"cases/aidc2048-golden.json", {.repeat = 4, .segments = 24}, 1e-6, 1},
        {"cases/aidc2048-golden.json", {.repeat = 4, .segments = 24, .storage = 1}, 1e-6, 1},
        {"cases/aidc2048-steep.json", {.repeat = 4, .segments = 24}, 1e-6, 1},
        {"cases/aidc2048-steep.json", {.repeat = 4, .segments = 24, .storage = 1}, 1e-6, 1},
        {"cases/aidc2048-golden.json", {.repeat = 12, .segments = 48}, 1e-6, 1},
        {"cases/aidc2048-golden.json", {.repeat = 12, .segments = 48, .storage = 1}, 1e-6, 1},
        {"cases/aidc2048-steep.json", {.repeat = 12, .segments = 48}, 1e-6, 1},
        {"cases/aidc2048-steep.json", {.repeat = 12, .segments = 48, .storage = 1}, 1e-6, 1},
        {"cases/aidc2048-golden.json", {.repeat = 12, .segments = 96}, 1e-6, 1},
        {"cases/scale/j4-a.json", {0}, 1e-6, 1},
        {"cases/scale/j4-b.json", {0}, 1e-6, 1},
        {"cases/scale/j8.json", {0}, 3e-3, 1},
        {"cases/scale/j20.json", {0}, 3e-3, 1},
        {"cases/scale/j100.json", {0}, 5e-3, 1},
        {"cases/scale/j500.json", {0}, 5e-3, 1},
    };
    const char *each = getenv("SECONDS_EACH");
    run_all(entries, sizeof entries / sizeof *entries, each ? atof(each) : 5);
    return 0;
}
