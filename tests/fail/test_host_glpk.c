/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Practice 31: the host uses GLPK itself. Its problem object, its terminal hook and its parameters
 * are alive while the library solves with GLPK, is cancelled, and runs into an error inside GLPK,
 * after which GLPK demands that its whole environment be thrown away.
 */
#include "support/support.h"
#include "support/views.h"

#ifndef CKPD_HAVE_GLPK

int main(void)
{
    test_skip("this build has no GLPK");
    return 77;
}

#else

#include "solver/builtin.h"
#include "solver/solver.h"

#include <glpk.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

/* --- the host's own model: max 10 a + 6 b + 4 c of GLPK's manual, optimum 733.333
 * --------------------- */

static int host_lines;

static int count_lines(void *info, const char *text)
{
    (void)info;
    (void)text;
    host_lines++;
    return 1;
}

static glp_prob *host_problem(void)
{
    static const int row[] = {0, 1, 1, 1, 2, 3, 2, 3, 2, 3};
    static const int column[] = {0, 1, 2, 3, 1, 1, 2, 2, 3, 3};
    static const double value[] = {0, 1, 1, 1, 10, 2, 4, 2, 5, 6};
    static const double limit[] = {100, 600, 300};
    static const double cost[] = {10, 6, 4};
    glp_prob *p = glp_create_prob();
    glp_set_obj_dir(p, GLP_MAX);
    glp_add_rows(p, 3);
    glp_add_cols(p, 3);
    for (int i = 0; i < 3; i++) {
        glp_set_row_bnds(p, i + 1, GLP_UP, 0, limit[i]);
        glp_set_col_bnds(p, i + 1, GLP_LO, 0, 0);
        glp_set_obj_coef(p, i + 1, cost[i]);
    }
    glp_load_matrix(p, 9, row, column, value);
    return p;
}

static void host_solves(glp_prob *p)
{
    int before = host_lines;
    glp_std_basis(p);
    ck_assert_int_eq(glp_simplex(p, NULL), 0);
    ck_assert_double_eq_tol(glp_get_obj_val(p), 2200.0 / 3, 1e-6);
    /* The hook the host installed on its thread still takes what GLPK says to the host. */
    ck_assert_int_gt(host_lines, before);
}

/* --- what the library does meanwhile
 * ----------------------------------------------------------------- */

static const uint8_t integers[] = {1, 1};

static void library_solves(ckpd_context *context)
{
    double x[2];
    ckpd_milp_result result = {.size = sizeof result, .x = x};
    ckpd_milp_view view = view_two_rows(integers);
    ck_assert_int_eq(ckpd_milp_solve(context, "glpk", &view, NULL, NULL, &result), CKPD_OK);
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_OPTIMAL);
    ck_assert_double_eq_tol(result.objective, -20, 1e-9);
}

static void library_finds_infeasible(ckpd_context *context)
{
    static const double row_lower[] = {1000, -INFINITY};
    static const double row_upper[] = {INFINITY, 6};
    double x[2];
    ckpd_milp_result result = {.size = sizeof result, .x = x};
    ckpd_milp_view view = view_two_rows(integers);
    view.row_lower = row_lower;
    view.row_upper = row_upper;
    ck_assert_int_eq(ckpd_milp_solve(context, "glpk", &view, NULL, NULL, &result), CKPD_OK);
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_INFEASIBLE);
}

static void library_is_cancelled(ckpd_context *context)
{
    double x[2];
    ckpd_milp_result result = {.size = sizeof result, .x = x};
    ckpd_milp_view view = view_two_rows(integers);
    ckpd_cancel *cancel = NULL;
    ck_assert_int_eq(ckpd_cancel_new(&cancel, context), CKPD_OK);
    ckpd_cancel_request(cancel);
    ck_assert_int_eq(ckpd_milp_solve(context, "glpk", &view, NULL, cancel, &result), CKPD_OK);
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_CANCELLED);
    ckpd_cancel_free(cancel);
}

/*
 * A model that no check of the library would let through: row 7 of 2. It is given to the backend
 * itself, behind the checks, because GLPK answers it with its fatal error.
 */
static void library_meets_a_fatal_error(ckpd_context *context)
{
    static const int32_t index[] = {0, 7, 0, 1};
    double x[2];
    ckpd_milp_result result = {.size = sizeof result, .x = x};
    ckpd_milp_view view = view_two_rows(integers);
    ckpd_solve_params params;
    ckpd_host host;
    ckpd__host_state state;
    view.index = index;
    ck_assert_int_eq(ckpd__params_read(context, NULL, &params), CKPD_OK);
    static const ckpd__solve_control control = {.cancel = NULL};
    ckpd__host_start(&host, &state, context, &control, INFINITY);
    int32_t status =
        ckpd__glpk_backend.solve_milp(&host, &view, &params, &result, ckpd__glpk_backend.user);
    ck_assert_int_eq(status, CKPD_ERR_BACKEND);
    ck_assert_uint_gt(strlen(result.message), 0);
}

START_TEST(host_with_a_living_problem)
{
    ckpd_context *context = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    glp_term_hook(count_lines, NULL);
    glp_prob *p = host_problem();
    host_solves(p);
    size_t blocks_before = 0;
    size_t blocks_after = 0;
    glp_mem_usage((int *)NULL, NULL, &blocks_before, NULL);
    void (*const steps[])(ckpd_context *) = {library_solves, library_meets_a_fatal_error,
                                             library_finds_infeasible, library_is_cancelled,
                                             library_solves};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        int lines = host_lines;
        steps[i](context);
        /* Not a line of our solves came through the host's hook, and not a byte was taken from its
         * account. */
        ck_assert_int_eq(host_lines, lines);
        glp_mem_usage((int *)NULL, NULL, &blocks_after, NULL);
        ck_assert_uint_eq(blocks_after, blocks_before);
        host_solves(p);
        glp_mem_usage((int *)NULL, NULL, &blocks_before, NULL);
    }
    glp_delete_prob(p);
    glp_free_env();
    ckpd_context_free(context);
}
END_TEST

/* The same from many threads, each a GLPK user of its own. */
static void *host_thread(void *user)
{
    int *bad = user;
    ckpd_context *context = NULL;
    glp_term_out(GLP_OFF);
    glp_prob *p = host_problem();
    *bad = ckpd_context_new(&context, NULL) != CKPD_OK;
    for (int i = 0; !*bad && i < 10; i++) {
        double x[2];
        ckpd_milp_result result = {.size = sizeof result, .x = x};
        ckpd_milp_view view = view_two_rows(integers);
        *bad = ckpd_milp_solve(context, "glpk", &view, NULL, NULL, &result) != CKPD_OK ||
               fabs(result.objective + 20) > 1e-9;
        glp_std_basis(p);
        *bad = *bad || glp_simplex(p, NULL) != 0 || fabs(glp_get_obj_val(p) - 2200.0 / 3) > 1e-6;
    }
    ckpd_context_free(context);
    glp_delete_prob(p);
    glp_free_env();
    return NULL;
}

START_TEST(hosts_on_threads)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int bad[THREADS];
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, host_thread, &bad[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_int_eq(bad[i], 0);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {host_with_a_living_problem, hosts_on_threads, NULL};
    return test_run(test_suite("host that uses GLPK", tests));
}

#endif
