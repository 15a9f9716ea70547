/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * HiGHS found at run time: CKPD_TEST_HIGHS names the library, else the system's own, else the one
 * of the Python package highsbox. Skipped with a visible line where there is none.
 */
#include "solver/solver.h"
#include "support/highs.h"
#include "support/instance.h"
#include "support/support.h"
#include "support/views.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static ckpd_context *context;
/* false after a SKIP line */
static bool load(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    if (test_highs_load(context)) {
        return true;
    }
    ck_assert_int_eq(ckpd_backend_capabilities(context, "highs"), 0);
    ckpd_context_free(context);
    return false;
}

START_TEST(test_registered)
{
    if (!load()) {
        return;
    }
    ck_assert_uint_eq(ckpd_backend_capabilities(context, "highs"),
                      CKPD_CAP_MILP | CKPD_CAP_LP | CKPD_CAP_START);
    ck_assert_str_ne(ckpd_backend_version(context, "highs"), "");
    printf("HiGHS %s\n", ckpd_backend_version(context, "highs"));
    ck_assert_int_eq(ckpd_backend_load(context, test_highs_library()), CKPD_ERR_DUPLICATE);
    ckpd_context_free(context);
}
END_TEST

/* max 3x + 2y, x + y <= 4, x + 3y <= 9, x <= 3: optimum 11 at (3, 1), duals 2 and 0, reduced cost
 * of x 1. */
START_TEST(test_lp_duals)
{
    if (!load()) {
        return;
    }
    const double cost[] = {-3, -2}, lower[] = {0, 0}, upper[] = {3, INFINITY},
                 value[] = {1, 1, 1, 3};
    const double row_lower[] = {-INFINITY, -INFINITY}, row_upper[] = {4, 9};
    const int64_t start[] = {0, 2, 4};
    const int32_t index[] = {0, 1, 0, 1};
    ckpd_milp_view view = {.size = sizeof view,
                           .columns = 2,
                           .rows = 2,
                           .nonzeros = 4,
                           .cost = cost,
                           .lower = lower,
                           .upper = upper,
                           .row_lower = row_lower,
                           .row_upper = row_upper,
                           .start = start,
                           .index = index,
                           .value = value};
    double x[2], dual[2], reduced[2];
    ckpd_milp_result result = {
        .size = sizeof result, .x = x, .row_dual = dual, .reduced_cost = reduced};
    int32_t status = ckpd_milp_solve(context, "highs", &view, NULL, NULL, &result);
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_OPTIMAL);
    ck_assert_double_eq_tol(result.objective, -11, 1e-9);
    ck_assert_double_eq_tol(dual[0], -2, 1e-9);
    ck_assert_double_eq_tol(dual[1], 0, 1e-9);
    ck_assert_double_eq_tol(reduced[0], -1, 1e-9);
    const double high[] = {12, -INFINITY}; /* x + y >= 12 beside x + 3y <= 9 and x <= 3 */
    view.row_lower = high;
    view.row_upper = (double[]){INFINITY, 9};
    ck_assert_int_eq(ckpd_milp_solve(context, "highs", &view, NULL, NULL, &result), CKPD_OK);
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_INFEASIBLE);
    view.row_lower = row_lower;
    view.row_upper = (double[]){INFINITY, INFINITY};
    ck_assert_int_eq(ckpd_milp_solve(context, "highs", &view, NULL, NULL, &result), CKPD_OK);
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_UNBOUNDED);
    ckpd_context_free(context);
}
END_TEST

/* Random small path problems: HiGHS and every plan, one after the other. */
START_TEST(test_agrees)
{
    if (!load()) {
        return;
    }
    const instance_features features = {INSTANCE_EVERYTHING, .slotwise = 1};
    int optimal = 0, count = test_fast() ? 10 : 100;
    for (uint64_t seed = 1; seed <= (uint64_t)count; seed++) {
        instance *made = instance_random(seed, &features);
        instance_result a, b;
        ckpd_solve_params params = test_params(1e-9);
        params.presolve = seed % 2;
        instance_result_init(&a, &made->view);
        instance_result_init(&b, &made->view);
        ck_assert_int_eq(
            ckpd_path_solve(context, "enumerate", &made->view, &params, NULL, &a.result), CKPD_OK);
        int32_t status = ckpd_path_solve(context, "highs", &made->view, &params, NULL, &b.result);
        ck_assert_msg(status == CKPD_OK, "seed %d: %s", (int)seed,
                      ckpd_context_last_message(context));
        /* what HiGHS calls optimal is feasible with its claim, or optimal by the floor of our own
         */
        int32_t said =
            b.result.outcome == CKPD_OUTCOME_FEASIBLE ? CKPD_OUTCOME_OPTIMAL : b.result.outcome;
        ck_assert_msg(a.result.outcome == said, "seed %d: %d and %d", (int)seed, a.result.outcome,
                      b.result.outcome);
        if (a.result.outcome == CKPD_OUTCOME_OPTIMAL) {
            ck_assert_double_eq_tol(a.result.objective, b.result.objective,
                                    1e-6 * fmax(1, fabs(a.result.objective)));
            optimal++;
        }
        instance_result_free(&a);
        instance_result_free(&b);
        instance_free(made);
    }
    ck_assert_int_gt(optimal, count / 4);
    ckpd_context_free(context);
}
END_TEST

/* --- limits: a case that takes HiGHS seconds
 * ---------------------------------------------------------- */

/* Seconds of processor time. */
static double stop(double seconds, int32_t split, const ckpd_cancel *cancel, int32_t expected)
{
    instance *made = instance_golden("cases/aidc2048-steep.json", split, 12 * split, false, false);
    if (made == NULL) {
        return 0;
    }
    instance_result found;
    instance_result_init(&found, &made->view);
    ckpd_solve_params params = test_params(1e-6);
    params.time_limit_s = seconds;
    double before = test_clock_s(CLOCK_PROCESS_CPUTIME_ID);
    int32_t status = ckpd_path_solve(context, "highs", &made->view, &params, cancel, &found.result);
    double took = test_clock_s(CLOCK_PROCESS_CPUTIME_ID) - before;
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
    if (found.result.has_plan && expected == CKPD_OUTCOME_NO_PLAN) {
        expected = CKPD_OUTCOME_FEASIBLE;
    }
    ck_assert_int_eq(found.result.outcome, expected);
    instance_result_free(&found);
    instance_free(made);
    return took;
}

START_TEST(test_time_limit)
{
    if (!load()) {
        return;
    }
    double took = stop(1, 2, NULL, CKPD_OUTCOME_NO_PLAN);
    printf("time limit 1 s: back after %.2f s of processor time\n", took);
    ck_assert_double_lt(took, 30);
    ckpd_context_free(context);
}
END_TEST

/* HiGHS looks at interrupts between the linear programs of its search, so a small case shows it
 * best. */
static void *cancel_soon(void *cancel)
{
    test_sleep(1);
    ckpd_cancel_request(cancel);
    return NULL;
}

START_TEST(test_cancel)
{
    if (!load()) {
        return;
    }
    ckpd_cancel *cancel;
    pthread_t thread;
    ck_assert_int_eq(ckpd_cancel_new(&cancel, context), CKPD_OK);
    pthread_create(&thread, NULL, cancel_soon, cancel);
    double took = stop(INFINITY, 1, cancel, CKPD_OUTCOME_CANCELLED);
    printf("cancelled after 1 s: back after %.2f s of processor time\n", took);
    ck_assert_double_lt(took, 60);
    pthread_join(thread, NULL);
    ckpd_cancel_free(cancel);
    ckpd_context_free(context);
}
END_TEST

static void *some_solves(void *argument)
{
    ckpd_context *own;
    ck_assert_int_eq(ckpd_context_new(&own, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_backend_load(own, argument), CKPD_OK);
    instance_features features = {.jobs = 2, .slots = 5, .segments = 2, .modes = 2};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        instance *made = instance_random(seed, &features);
        instance_result found;
        instance_result_init(&found, &made->view);
        ck_assert_int_eq(ckpd_path_solve(own, "highs", &made->view, NULL, NULL, &found.result),
                         CKPD_OK);
        instance_result_free(&found);
        instance_free(made);
    }
    ckpd_context_free(own);
    return NULL;
}

/* Two threads, and nothing on the terminal. */
START_TEST(test_threads_and_silence)
{
    if (!load()) {
        return;
    }
    fflush(stdout);
    int out = dup(1), err = dup(2), file = open("printed.txt", O_CREAT | O_TRUNC | O_WRONLY, 0600);
    dup2(file, 1);
    dup2(file, 2);
    pthread_t thread[2];
    char *library = (char *)test_highs_library();
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread[i], NULL, some_solves, library);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
    }
    fflush(stdout);
    dup2(out, 1);
    dup2(err, 2);
    close(file);
    struct stat info;
    ck_assert_int_eq(stat("printed.txt", &info), 0);
    ck_assert_int_eq(info.st_size, 0);
    ckpd_context_free(context);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("solver: HiGHS");
    TCase *tests = tcase_create("highs");
    tcase_add_test(tests, test_registered);
    tcase_add_test(tests, test_lp_duals);
    tcase_add_test(tests, test_agrees);
    tcase_add_test(tests, test_time_limit);
    tcase_add_test(tests, test_cancel);
    tcase_add_test(tests, test_threads_and_silence);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
