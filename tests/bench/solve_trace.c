/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * solve_trace CASE SCENARIO SOLVER GAP PRESOLVE: solves a case through the public
 * interface and prints how cost and bound came together, for tests/bench/solvers.py. All times are
 * processor seconds of the whole process, reading of the case included; "end" also has those of the
 * library call alone, and its wall time. An interrupt ends the solve with what there is.
 *   size JOBS SLOTS SEGMENTS MOVES           MOVES: training edges of all jobs' graphs
 *   at SECONDS COST BOUND ITERATIONS NODES   when the cost or the gap has become smaller
 *   end SECONDS COST BOUND ITERATIONS NODES LIBRARY_SECONDS LIBRARY_WALL_SECONDS SOLVER
 */
#include <ckptdispatch.h>

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct trace {
    double cost, gap; /* as last printed */
} trace;

static ckpd_cancel *cancel; /* for the handler, which has no other way to get at it */

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    ckpd_cancel_request(cancel);
}

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int32_t on_progress(const ckpd_progress *p, void *user)
{
    trace *t = user;
    double now = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (p->incumbent < t->cost || p->relative_gap < 0.97 * t->gap) {
        printf("at %.6f %.12g %.12g %lld %lld\n", now, p->incumbent, p->bound,
               (long long)p->iterations, (long long)p->nodes);
        t->cost = p->incumbent;
        t->gap = p->relative_gap;
    }
    return 0;
}

static int64_t count_moves(const ckpd_problem *problem, int32_t *segments)
{
    int64_t moves = 0;
    for (int32_t job = 0; job < ckpd_problem_job_count(problem); job++) {
        const ckpd_graph *graph = ckpd_problem_job_graph(problem, job);
        ckpd_graph_counts counts = {.size = sizeof counts};
        if (ckpd_graph_count(graph, &counts) == CKPD_OK) {
            moves += counts.training_edges;
        }
        *segments = ckpd_graph_segments(graph);
    }
    return moves;
}

static int fail(const ckpd_context *context)
{
    printf("failed %s\n", ckpd_context_last_message(context));
    return 1;
}

static int run(ckpd_context *context, char **words)
{
    ckpd_case *loaded = NULL;
    ckpd_problem *problem = NULL;
    ckpd_solve_options *options = NULL;
    ckpd_solution *solution = NULL;
    trace t = {.cost = INFINITY, .gap = INFINITY};
    if (ckpd_case_load(&loaded, context, words[1]) != CKPD_OK ||
        ckpd_case_build_problem(&problem, loaded) != CKPD_OK ||
        ckpd_case_build_options(&options, loaded) != CKPD_OK ||
        ckpd_solve_options_set(options, "relative_gap", strtod(words[4], NULL)) != CKPD_OK ||
        ckpd_solve_options_set(options, "structure_presolve", strtod(words[5], NULL)) != CKPD_OK ||
        ckpd_solve_options_set_backend(options, words[3]) != CKPD_OK ||
        ckpd_solve_options_set_progress(options, on_progress, &t) != CKPD_OK ||
        ckpd_cancel_new(&cancel, context) != CKPD_OK ||
        ckpd_solve_options_set_cancel(options, cancel) != CKPD_OK) {
        return fail(context);
    }
    int32_t segments = 0;
    int64_t moves = count_moves(problem, &segments);
    printf("size %d %d %d %lld\n", (int)ckpd_problem_job_count(problem),
           (int)ckpd_case_slots(loaded), (int)segments, (long long)moves);
    signal(SIGINT, on_interrupt);
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
    int scenario = words[2][0] == 'S' ? atoi(words[2] + 1) : 0;
    if (ckpd_problem_solve(&solution, problem, scenario, options) != CKPD_OK) {
        return fail(context);
    }
    double end = seconds(CLOCK_PROCESS_CPUTIME_ID);
    printf("end %.6f %.12g %.12g %lld %lld %.6f %.6f %s\n", end, ckpd_solution_cost(solution),
           ckpd_solution_bound(solution), (long long)ckpd_solution_iterations(solution),
           (long long)ckpd_solution_nodes(solution), end - cpu, seconds(CLOCK_MONOTONIC) - wall,
           ckpd_solution_backend(solution));
    ckpd_solution_free(solution);
    ckpd_solve_options_free(options);
    ckpd_problem_free(problem);
    ckpd_cancel_free(cancel);
    ckpd_case_free(loaded);
    return 0;
}

int main(int count, char **words)
{
    ckpd_context *context = NULL;
    if (count != 6) {
        fputs("usage: solve_trace CASE SCENARIO SOLVER GAP PRESOLVE\n", stderr);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    if (ckpd_context_new(&context, NULL) != CKPD_OK) {
        return 1;
    }
    int result = run(context, words);
    ckpd_context_free(context);
    return result;
}
