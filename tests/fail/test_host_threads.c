/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Hosts with threads: many contexts at once, handles freed elsewhere, small stacks. Run under
 * check-tsan as well. */
#include "support/small.h"
#include "support/support.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 8, SOLVES = 1000 /* in all */ };

static int32_t solves_per_thread(void)
{
    return (test_fast() ? 80 : SOLVES) / THREADS;
}

/* What the threads leave for the main thread to free: everything is made on one thread and ended on
 * another. */
struct worker {
    pthread_t thread;
    ckpd_context *context;
    ckpd_problem *b0;
    ckpd_problem *j0;
    ckpd_solution *last;
    int32_t solved;
    int32_t failed_at;
};

static int32_t solve_both(struct worker *w)
{
    int32_t outcome = 0;
    double cost = 0;
    const char *backend = ckpd_feature("glpk") ? "glpk" : NULL;
    int32_t status = small_solve(w->b0, w->context, CKPD_SCENARIO_S5, backend, &outcome, &cost);
    if (status != CKPD_OK || outcome != CKPD_OUTCOME_OPTIMAL || fabs(cost - SMALL_B0_COST) > 1e-6) {
        return 1;
    }
    ckpd_solution_free(w->last);
    w->last = NULL;
    status = ckpd_problem_solve(&w->last, w->j0, CKPD_SCENARIO_S4, NULL);
    return status != CKPD_OK || ckpd_solution_outcome(w->last) != CKPD_OUTCOME_OPTIMAL ||
           fabs(ckpd_solution_cost(w->last) - SMALL_J0_COST) > 1e-6;
}

static void *work(void *user)
{
    struct worker *w = user;
    w->failed_at = -1;
    if (ckpd_context_new(&w->context, NULL) != CKPD_OK || small_b0(&w->b0, w->context) != CKPD_OK ||
        small_j0(&w->j0, w->context, 100) != CKPD_OK) {
        w->failed_at = 0;
        return NULL;
    }
    for (int32_t i = 0; i < solves_per_thread(); i += 2) {
        if (solve_both(w)) {
            w->failed_at = i;
            break;
        }
        w->solved += 2;
    }
    return NULL;
}

START_TEST(eight_threads)
{
    static struct worker workers[THREADS];
    for (int32_t i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    int32_t solved = 0;
    for (int32_t i = 0; i < THREADS; i++) {
        struct worker *w = &workers[i];
        ck_assert_int_eq(pthread_join(w->thread, NULL), 0);
        ck_assert_msg(w->failed_at < 0, "thread %d failed at solve %d: %s", (int)i,
                      (int)w->failed_at,
                      w->context != NULL ? ckpd_context_last_message(w->context) : "no context");
        solved += w->solved;
        /* In an order that nothing suggests, and on another thread than they were made on. */
        ckpd_context_free(w->context);
        ckpd_problem_free(w->j0);
        ckpd_solution_free(w->last);
        ckpd_problem_free(w->b0);
    }
    ck_assert_int_ge(solved, solves_per_thread() * THREADS);
}
END_TEST

/* An immutable graph, shared by threads that each have a context of their own. */
static const ckpd_graph *shared_graph;

static void *share(void *user)
{
    double *cost = user;
    ckpd_context *context = NULL;
    ckpd_site *site = NULL;
    ckpd_problem *problem = NULL;
    int32_t outcome = 0;
    *cost = NAN;
    if (ckpd_context_new(&context, NULL) == CKPD_OK &&
        small_j0_site(&site, context, 100) == CKPD_OK &&
        ckpd_problem_new(&problem, context, site) == CKPD_OK &&
        ckpd_problem_add_job(problem, shared_graph) == CKPD_OK) {
        small_solve(problem, context, CKPD_SCENARIO_S4, NULL, &outcome, cost);
    }
    ckpd_problem_free(problem);
    ckpd_site_free(site);
    ckpd_context_free(context);
    return NULL;
}

START_TEST(shared_immutable_graph)
{
    ckpd_context *context = NULL;
    ckpd_graph *graph = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(small_j0_graph(&graph, context), CKPD_OK);
    shared_graph = graph;
    pthread_t threads[THREADS];
    double cost[THREADS];
    for (int32_t i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, share, &cost[i]), 0);
    }
    for (int32_t i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_double_eq_tol(cost[i], SMALL_J0_COST, 1e-6);
    }
    ckpd_graph_free(graph);
    ckpd_context_free(context);
}
END_TEST

/* Plug-ins and language runtimes call from threads with stacks as small as 64 KiB. */
START_TEST(small_stack)
{
    struct worker w = {0};
    pthread_attr_t attributes;
    ck_assert_int_eq(pthread_attr_init(&attributes), 0);
    size_t stack = 64 * 1024;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    stack *= 8; /* instrumented frames are larger; the plain build measures */
#endif
    ck_assert_int_eq(pthread_attr_setstacksize(&attributes, stack), 0);
    ck_assert_int_eq(pthread_create(&w.thread, &attributes, work, &w), 0);
    ck_assert_int_eq(pthread_join(w.thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    ck_assert_int_lt(w.failed_at, 0);
    ckpd_solution_free(w.last);
    ckpd_problem_free(w.b0);
    ckpd_problem_free(w.j0);
    ckpd_context_free(w.context);
}
END_TEST

/* A cancel from another thread while a solve runs, and tokens that were asked before it begins. */
static void *ask(void *user)
{
    for (int32_t i = 0; i < 1000; i++) {
        ckpd_cancel_request(user);
        ckpd_cancel_requested(user);
    }
    return NULL;
}

START_TEST(cancel_from_another_thread)
{
    ckpd_context *context = NULL;
    ckpd_problem *problem = NULL;
    ckpd_cancel *cancel = NULL;
    ckpd_solve_options *options = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(small_j0(&problem, context, 100), CKPD_OK);
    ck_assert_int_eq(ckpd_cancel_new(&cancel, context), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_new(&options, context), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_set_cancel(options, cancel), CKPD_OK);
    pthread_t asker;
    ck_assert_int_eq(pthread_create(&asker, NULL, ask, cancel), 0);
    for (int32_t i = 0; i < 20; i++) {
        ckpd_solution *solution = NULL;
        ck_assert_int_eq(ckpd_problem_solve(&solution, problem, CKPD_SCENARIO_S4, options),
                         CKPD_OK);
        int32_t outcome = ckpd_solution_outcome(solution);
        /* It was in time or it was not; a plan that came with the cancel is a verified one. */
        ck_assert(outcome == CKPD_OUTCOME_OPTIMAL || outcome == CKPD_OUTCOME_CANCELLED);
        if (ckpd_solution_plan(solution) != NULL) {
            ck_assert_int_eq(ckpd_report_violation_count(ckpd_solution_report(solution)), 0);
        }
        ckpd_solution_free(solution);
    }
    ck_assert_int_eq(pthread_join(asker, NULL), 0);
    /* The request is withdrawn and the same handles solve. */
    ckpd_cancel_reset(cancel);
    ckpd_solution *solution = NULL;
    ck_assert_int_eq(ckpd_problem_solve(&solution, problem, CKPD_SCENARIO_S4, options), CKPD_OK);
    ck_assert_double_eq_tol(ckpd_solution_cost(solution), SMALL_J0_COST, 1e-6);
    ckpd_solution_free(solution);
    ckpd_solve_options_free(options);
    ckpd_cancel_free(cancel);
    ckpd_problem_free(problem);
    ckpd_context_free(context);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {eight_threads, shared_immutable_graph, small_stack,
                                  cancel_from_another_thread, NULL};
    return test_run(test_suite("hosts with threads", tests));
}
