/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Few jobs, whose plain bound is loose: 50 random days each of 3, 4, 5 and 6 jobs
 * (random_day_make), solved by the native solver to gap 0. Each proof is evaluated again by the
 * certificate checker; with CKPD_TEST_HIGHS (the HiGHS library) the small days are also solved by
 * HiGHS. Processor seconds. make bench B=few          DAYS=50 make bench B=few
 */
#include "solver/native/certificate.h"
#include "solver/native/native.h"
#include "solver/solver.h"
#include "support/case_view.h"
#include "support/random_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const double LIMIT = 60; /* seconds a solve */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *take(size_t bytes, void *user)
{
    (void)user;
    return malloc(bytes);
}

static void give(void *block, void *user)
{
    (void)user;
    free(block);
}

static int32_t stop(void *user)
{
    return seconds() > *(const double *)user;
}

static const ckpd_solve_params params = {.size = sizeof params,
                                         .time_limit_s = (double)INFINITY,
                                         .node_limit = -1,
                                         .iteration_limit = -1,
                                         .threads = 1,
                                         .presolve = 1};

typedef struct tally {
    double time[64], peer[64];
    int count, peers, unproven, wrong, uncertified;
} tally;

/* Solves once for the time and once more with what proves it. */
static void run_native(case_view *day, ckpd_path_result *result, tally *all)
{
    double end = seconds() + LIMIT, started = seconds(), bound = -(double)INFINITY;
    const ckpd_host host = {
        .size = sizeof host, .user = &end, .allocate = take, .release = give, .should_stop = stop};
    nat_certificate proof;
    ckpd__native_solve_certified(&host, &day->view, &params, result, NULL);
    all->time[all->count++] = seconds() - started;
    bool proven =
        result->outcome == CKPD_OUTCOME_OPTIMAL || result->outcome == CKPD_OUTCOME_INFEASIBLE;
    all->unproven += !proven;
    printf(" %d %14.7f %10.3f %6lld", result->outcome, result->objective, all->time[all->count - 1],
           (long long)result->nodes);
    end = seconds() + 4 * LIMIT;
    if (!proven ||
        ckpd__native_solve_certified(&host, &day->view, &params, result, &proof) != CKPD_OK)
        return;
    if (ckpd__nat_certificate_check(&host, &day->view, &proof, &bound) != CKPD_OK ||
        !(bound >= result->bound || bound >= result->bound - 1e-8 * (1 + fabs(result->bound)))) {
        all->uncertified++;
        printf(" not certified: %.9f of %.9f", bound, result->bound);
    }
    ckpd__nat_certificate_free(&proof);
}

static void run_peer(ckpd_context *peer, case_view *day, const ckpd_path_result *mine, tally *all)
{
    ckpd_path_result result = {.size = sizeof result, .plan = case_view_plan(day)};
    ckpd_solve_params limited = params;
    double started = seconds();
    limited.relative_gap = 1e-7;
    limited.time_limit_s = LIMIT;
    if (ckpd_path_solve(peer, "highs", &day->view, &limited, NULL, &result) != CKPD_OK) {
        printf(" highs: %s", ckpd_context_last_message(peer));
        return;
    }
    all->peer[all->peers++] = seconds() - started;
    bool same = result.has_plan == mine->has_plan &&
                (!mine->has_plan ||
                 fabs(result.objective - mine->objective) <= 1e-7 * (1 + fabs(mine->objective)));
    bool ended =
        result.outcome == CKPD_OUTCOME_OPTIMAL || result.outcome == CKPD_OUTCOME_INFEASIBLE;
    all->wrong += ended && !same;
    printf(" | highs %d %14.7f %8.3f%s", result.outcome, result.objective, seconds() - started,
           ended && !same ? " DIFFERS" : "");
}

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void print_times(double *time, int count)
{
    qsort(time, (size_t)count, sizeof *time, by_size);
    if (count > 0)
        printf(" %.3f | %.3f | %.3f |", time[count / 2], time[count * 9 / 10], time[count - 1]);
    else
        printf(" - | - | - |");
}

int main(void)
{
    static const random_shape shapes[] = {{3, 16, 5, 3, 0}, {4, 14, 4, 3, 0}, {5, 12, 4, 3, 0},
                                          {6, 12, 3, 3, 0}, {3, 24, 8, 6, 0}, {4, 24, 8, 6, 0},
                                          {5, 24, 8, 6, 0}, {6, 24, 8, 6, 0}};
    enum { SHAPES = sizeof shapes / sizeof *shapes };
    static tally all[SHAPES];
    const char *library = getenv("CKPD_TEST_HIGHS"), *days = getenv("DAYS");
    int count = days ? atoi(days) : 50;
    ckpd_context *peer = NULL;
    if (library &&
        (ckpd_context_new(&peer, NULL) != CKPD_OK || ckpd_backend_load(peer, library) != CKPD_OK))
        return 1;
    for (int i = 0; i < SHAPES; i++)
        for (int seed = 1; seed <= count && seed <= 50; seed++) {
            case_view day;
            random_day_make(&day, (uint64_t)seed, &shapes[i]);
            ckpd_path_result mine = {.size = sizeof mine, .plan = case_view_plan(&day)};
            printf("jobs %d slots %d segments %d seed %2d:", shapes[i].jobs, shapes[i].slots,
                   shapes[i].segments, seed);
            run_native(&day, &mine, &all[i]);
            if (peer && shapes[i].slots < 24)
                run_peer(peer, &day, &mine, &all[i]);
            printf("\n");
            fflush(stdout);
            case_view_free(&day);
        }
    puts(
        "| jobs | slots | segments | modes | days | unproven | not certified | median s | 90 % s | "
        "most s | HiGHS differs | HiGHS median s | 90 % s | most s |");
    puts("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (int i = 0; i < SHAPES; i++) {
        printf("| %d | %d | %d | %d | %d | %d | %d |", shapes[i].jobs, shapes[i].slots,
               shapes[i].segments, shapes[i].modes, all[i].count, all[i].unproven,
               all[i].uncertified);
        print_times(all[i].time, all[i].count);
        printf(" %d |", all[i].wrong);
        print_times(all[i].peer, all[i].peers);
        puts("");
    }
    ckpd_context_free(peer);
    return 0;
}
