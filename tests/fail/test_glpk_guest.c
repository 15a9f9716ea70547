/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * GLPK inside a host that uses GLPK itself: its objects live on, no error of GLPK ends the process,
 * nothing is printed, limits and cancel hold, threads do not meet.
 */
#include "solver/builtin.h"
#include "support/instance.h"
#include "support/support.h"
#include "support/views.h"

#ifndef CKPD_HAVE_GLPK

int main(void)
{
    test_skip("this build has no GLPK");
    return 77;
}

#else

#include <fcntl.h>
#include <glpk.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ckpd_context *context;

static void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
}

static void teardown(void)
{
    ckpd_context_free(context);
}

/* --- the host's own problem: max x + y, x + 2y <= 4, 3x + y <= 6; optimum 2.8 at (1.6, 1.2)
 * ----------- */

static glp_prob *host_problem(void)
{
    glp_prob *p = glp_create_prob();
    glp_set_obj_dir(p, GLP_MAX);
    glp_add_rows(p, 2);
    glp_add_cols(p, 2);
    glp_set_row_bnds(p, 1, GLP_UP, 0, 4);
    glp_set_row_bnds(p, 2, GLP_UP, 0, 6);
    for (int j = 1; j <= 2; j++) {
        const int index[] = {0, 1, 2};
        const double value[2][3] = {{0, 1, 3}, {0, 2, 1}};
        glp_set_col_bnds(p, j, GLP_LO, 0, 0);
        glp_set_obj_coef(p, j, 1);
        glp_set_mat_col(p, j, 2, index, value[j - 1]);
    }
    return p;
}

static void expect_host_problem(glp_prob *p)
{
    glp_smcp control;
    glp_init_smcp(&control);
    control.msg_lev = GLP_MSG_OFF;
    ck_assert_int_eq(glp_simplex(p, &control), 0);
    ck_assert_double_eq_tol(glp_get_obj_val(p), 2.8, 1e-9);
}

/* --- models of ours
 * ---------------------------------------------------------------------------------- */

static const double cost[] = {-8, -11, -6, -4}, zeros[4], ones[] = {1, 1, 1, 1},
                    weight[] = {5, 7, 4, 3};
static const uint8_t integer[] = {1, 1, 1, 1};
static const int64_t start[] = {0, 1, 2, 3, 4};
static const int32_t rows[4];
static const double row_lower[] = {-INFINITY}, row_upper[] = {14};

static ckpd_milp_view knapsack(void)
{
    return (ckpd_milp_view){.size = sizeof(ckpd_milp_view),
                            .columns = 4,
                            .rows = 1,
                            .nonzeros = 4,
                            .cost = cost,
                            .lower = zeros,
                            .upper = ones,
                            .integer = integer,
                            .row_lower = row_lower,
                            .row_upper = row_upper,
                            .start = start,
                            .index = rows,
                            .value = weight};
}

static void solve_knapsack(ckpd_context *own)
{
    ckpd_milp_view view = knapsack();
    double x[4];
    ckpd_milp_result result = {.size = sizeof result, .x = x};
    ck_assert_int_eq(ckpd_milp_solve(own, "glpk", &view, NULL, NULL, &result), CKPD_OK);
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_OPTIMAL);
    ck_assert_double_eq_tol(result.objective, -21, 1e-9);
}

/* Straight to the backend, past every check of the library: GLPK meets what it aborts on. */
static int32_t solve_unchecked(const ckpd_milp_view *view, const ckpd_solve_params *given,
                               char *message)
{
    ckpd__solve_control control = {0};
    ckpd__host_state state;
    ckpd_host host;
    double x[4];
    ckpd_milp_result result = {.size = sizeof result, .x = x};
    ckpd_solve_params params;
    ck_assert_int_eq(ckpd__params_read(context, given, &params), CKPD_OK);
    ckpd__host_start(&host, &state, context, &control, INFINITY);
    int32_t status = ckpd__glpk_backend.solve_milp(&host, view, &params, &result, NULL);
    strcpy(message, result.message);
    return status;
}

static void provoke_errors(void)
{
    char message[256];
    static const int64_t pair[] = {0, 2, 3, 4, 4};
    static const double lower[] = {-INFINITY, -INFINITY}, upper[] = {14, 14};
    ckpd_milp_view view = knapsack();
    view.rows = 2;
    view.row_lower = lower;
    view.row_upper = upper;
    view.start = pair; /* row 0 twice in a column */
    ck_assert_int_eq(solve_unchecked(&view, NULL, message), CKPD_ERR_BACKEND);
    ck_assert_msg(strstr(message, "duplicate") != NULL, "%s", message);

    static const int32_t wrong[] = {0, 0, 7, 0};
    view = knapsack();
    view.index = wrong; /* a row that is none */
    ck_assert_int_eq(solve_unchecked(&view, NULL, message), CKPD_ERR_BACKEND);
    ck_assert_msg(strstr(message, "out of range") != NULL, "%s", message);

    view = knapsack();
    view.columns = 0; /* glp_add_cols(P, 0) */
    ck_assert_int_eq(solve_unchecked(&view, NULL, message), CKPD_ERR_BACKEND);
    ck_assert_msg(strstr(message, "invalid number of columns") != NULL, "%s", message);
}

/* --- tests
 * ------------------------------------------------------------------------------------------- */

START_TEST(test_host_objects_survive)
{
    glp_prob *mine = host_problem();
    expect_host_problem(mine);
    for (int i = 0; i < 50; i++) {
        solve_knapsack(context);
        provoke_errors();
    }
    expect_host_problem(mine);
    glp_set_row_bnds(mine, 1, GLP_UP, 0, 3);
    glp_delete_prob(mine);
    glp_free_env();
}
END_TEST

/* A limit on GLPK's memory is reached in the middle of its work: told as such, and the next solve
 * works. */
START_TEST(test_memory_limit)
{
    instance *made = instance_golden("cases/aidc2048-golden.json", 1, 0, false, false);
    if (made == NULL) {
        return;
    }
    glp_prob *mine = host_problem();
    instance_result found;
    instance_result_init(&found, &made->view);
    for (int64_t megabytes = 1; megabytes <= 4; megabytes++) {
        ckpd_solve_params params = test_params(1e-6);
        params.memory_limit_mb = megabytes;
        int32_t status =
            ckpd_path_solve(context, "glpk", &made->view, &params, NULL, &found.result);
        ck_assert_msg(status == CKPD_ERR_NO_MEMORY, "%d: %s", status,
                      ckpd_context_last_message(context));
        ck_assert_msg(strstr(ckpd_context_last_message(context), "limit exceeded") != NULL, "%s",
                      ckpd_context_last_message(context));
    }
    solve_knapsack(context);
    expect_host_problem(mine);
    glp_delete_prob(mine);
    glp_free_env();
    instance_result_free(&found);
    instance_free(made);
}
END_TEST

static void *many_solves(void *argument)
{
    (void)argument;
    ckpd_context *own;
    ck_assert_int_eq(ckpd_context_new(&own, NULL), CKPD_OK);
    int count = test_fast() ? 100 : 1000;
    for (int i = 0; i < count; i++) {
        solve_knapsack(own);
    }
    ckpd_context_free(own);
    return NULL;
}

START_TEST(test_two_threads)
{
    glp_prob *mine = host_problem();
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pthread_create(&thread[i], NULL, many_solves, NULL), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
    }
    expect_host_problem(mine);
    glp_delete_prob(mine);
    glp_free_env();
}
END_TEST

START_TEST(test_nothing_is_printed)
{
    static const char path[] = "printed.txt";
    fflush(stdout);
    fflush(stderr);
    int out = dup(1), err = dup(2), file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    dup2(file, 1);
    dup2(file, 2);
    solve_knapsack(context);
    provoke_errors();
    instance_features features = {
        .jobs = 2, .slots = 6, .segments = 3, .modes = 2, .storage = 1, .nonconvex = 1};
    instance *made = instance_random(3, &features);
    instance_result found;
    instance_result_init(&found, &made->view);
    int32_t status = ckpd_path_solve(context, "glpk", &made->view, NULL, NULL, &found.result);
    fflush(stdout);
    fflush(stderr);
    dup2(out, 1);
    dup2(err, 2);
    close(file);
    struct stat info;
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_int_eq(info.st_size, 0);
    ck_assert_int_eq(status, CKPD_OK);
    instance_result_free(&found);
    instance_free(made);
}
END_TEST

static void on_signal(int number)
{
    (void)number;
}

START_TEST(test_signals_and_masks_stay)
{
    struct sigaction mine = {.sa_handler = on_signal}, after;
    sigset_t before, now;
    sigaction(SIGINT, &mine, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    solve_knapsack(context);
    provoke_errors();
    sigaction(SIGINT, NULL, &after);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    ck_assert(after.sa_handler == on_signal);
    for (int i = 1; i < 32; i++) {
        ck_assert_int_eq(sigismember(&before, i), sigismember(&now, i));
    }
}
END_TEST

/* --- limits
 * ------------------------------------------------------------------------------------------ */

/* The quarter-hour day has 102,748 binaries; its root LP alone takes GLPK longer than these limits.
 */
static instance *large(void)
{
    return instance_golden("cases/aidc2048-steep.json", 4, 24, false, false);
}

static double stop_large(const ckpd_solve_params *params, const ckpd_cancel *cancel,
                         int32_t expected)
{
    instance *made = large();
    if (made == NULL) {
        return 0;
    }
    instance_result found;
    instance_result_init(&found, &made->view);
    double before = test_clock_s(CLOCK_PROCESS_CPUTIME_ID);
    ck_assert_int_eq(ckpd_path_solve(context, "glpk", &made->view, params, cancel, &found.result),
                     CKPD_OK);
    double seconds = test_clock_s(CLOCK_PROCESS_CPUTIME_ID) - before;
    ck_assert_int_eq(found.result.outcome, expected);
    ck_assert(!found.result.has_plan || found.result.bound <= found.result.objective);
    instance_result_free(&found);
    instance_free(made);
    return seconds;
}

static ckpd_solve_params with_time(double seconds)
{
    ckpd_solve_params params = test_params(1e-6);
    params.time_limit_s = seconds;
    return params;
}

/* Room for a slow build; what is measured on a quiet one is in docs/backends.md. */
static double patience(void)
{
    return test_fast() ? 120 : 10;
}

START_TEST(test_time_limit_in_the_root)
{
    ckpd_solve_params params = with_time(2);
    double seconds = stop_large(&params, NULL, CKPD_OUTCOME_NO_PLAN);
    printf("time limit 2 s, 102,748 binaries: back after %.2f s of processor time\n", seconds);
    ck_assert_double_lt(seconds, 2 + patience());
}
END_TEST

static void *cancel_later(void *cancel)
{
    test_sleep(2);
    ckpd_cancel_request(cancel);
    return NULL;
}

START_TEST(test_cancel_in_the_root)
{
    ckpd_cancel *cancel;
    pthread_t thread;
    ck_assert_int_eq(ckpd_cancel_new(&cancel, context), CKPD_OK);
    pthread_create(&thread, NULL, cancel_later, cancel);
    double seconds = stop_large(NULL, cancel, CKPD_OUTCOME_CANCELLED);
    printf("cancelled after 2 s, 102,748 binaries: back after %.2f s of processor time\n", seconds);
    ck_assert_double_lt(seconds, 2 + patience());
    pthread_join(thread, NULL);
    ckpd_cancel_free(cancel);
}
END_TEST

/* S3 is a hard search with an early plan: the plan, its bound and the gap come back at the limit.
 */
START_TEST(test_incumbent_at_the_limit)
{
    instance *made = instance_golden("cases/aidc2048-golden.json", 1, 0, true, false);
    if (made == NULL) {
        return;
    }
    instance_result found;
    instance_result_init(&found, &made->view);
    ckpd_solve_params params = with_time(INFINITY);
    params.node_limit = 4000;
    ck_assert_int_eq(ckpd_path_solve(context, "glpk", &made->view, &params, NULL, &found.result),
                     CKPD_OK);
    ck_assert_int_eq(found.result.outcome, CKPD_OUTCOME_FEASIBLE);
    ck_assert_int_eq(found.result.has_plan, 1);
    ck_assert_double_ge(found.result.objective, 282.578 - 1e-3);
    ck_assert_double_le(found.result.bound, 282.578 + 1e-3);
    ck_assert_double_ge(found.result.bound, 250);
    instance_result_free(&found);
    instance_free(made);
}
END_TEST

static int32_t stop_at_third(const ckpd_progress *progress, void *user)
{
    int *calls = user;
    ck_assert(progress->size == sizeof *progress && progress->elapsed_s >= 0);
    return ++*calls >= 3;
}

START_TEST(test_progress_cancels)
{
    instance *made = instance_golden("cases/aidc2048-golden.json", 1, 0, true, false);
    if (made == NULL) {
        return;
    }
    instance_result found;
    instance_result_init(&found, &made->view);
    int calls = 0;
    ckpd__solve_control control = {.progress = stop_at_third, .progress_user = &calls};
    ckpd__solve_info info;
    ck_assert_int_eq(
        ckpd__path_solve(context, "glpk", &made->view, NULL, &control, &found.result, &info),
        CKPD_OK);
    ck_assert_int_eq(found.result.outcome, CKPD_OUTCOME_CANCELLED);
    ck_assert_int_ge(calls, 3);
    ck_assert_str_eq(info.backend, "glpk");
    ck_assert_int_eq(info.trusted, 1);
    instance_result_free(&found);
    instance_free(made);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("GLPK as a guest");
    TCase *tests = tcase_create("guest");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, test_host_objects_survive);
    tcase_add_test(tests, test_memory_limit);
    tcase_add_test(tests, test_two_threads);
    tcase_add_test(tests, test_nothing_is_printed);
    tcase_add_test(tests, test_signals_and_masks_stay);
    tcase_add_test(tests, test_time_limit_in_the_root);
    tcase_add_test(tests, test_cancel_in_the_root);
    tcase_add_test(tests, test_incumbent_at_the_limit);
    tcase_add_test(tests, test_progress_cancels);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

#endif
