/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* ckpd_milp_solve through GLPK: every row of what is known about GLPK 5.0, with answers worked by
 * hand. */
#include "solver/solver.h"
#include "support/support.h"
#include "support/views.h"

#ifndef CKPD_HAVE_GLPK

int main(void)
{
    test_skip("this build has no GLPK");
    return 77;
}

#else

#include <math.h>
#include <string.h>

enum { MOST = 16 };

/* A small model in the making: columns are added one by one with their entries in ascending rows.
 */
typedef struct model {
    double cost[MOST], lower[MOST], upper[MOST], row_lower[MOST], row_upper[MOST],
        value[MOST * MOST];
    uint8_t integer[MOST];
    int64_t start[MOST + 1];
    int32_t index[MOST * MOST];
    ckpd_milp_view view;
} model;

static void model_init(model *m, int32_t rows)
{
    memset(m, 0, sizeof *m);
    m->view = (ckpd_milp_view){.size = sizeof m->view,
                               .rows = rows,
                               .cost = m->cost,
                               .lower = m->lower,
                               .upper = m->upper,
                               .integer = m->integer,
                               .row_lower = m->row_lower,
                               .row_upper = m->row_upper,
                               .start = m->start,
                               .index = m->index,
                               .value = m->value};
    for (int i = 0; i < MOST; i++) {
        m->row_lower[i] = -INFINITY;
        m->row_upper[i] = INFINITY;
    }
}

static void model_column(model *m, double cost, double lower, double upper, uint8_t integer,
                         const double *entries)
{
    int32_t j = m->view.columns++;
    m->cost[j] = cost;
    m->lower[j] = lower;
    m->upper[j] = upper;
    m->integer[j] = integer;
    for (int32_t i = 0; i < m->view.rows; i++) {
        if (entries[i] != 0) {
            m->index[m->view.nonzeros] = i;
            m->value[m->view.nonzeros++] = entries[i];
        }
    }
    m->start[j + 1] = m->view.nonzeros;
}

static ckpd_context *context;
static double x[MOST], dual[MOST], reduced[MOST];
static ckpd_milp_result result;

static void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    result = (ckpd_milp_result){.size = sizeof result, .x = x};
}

static void teardown(void)
{
    ckpd_context_free(context);
}

static int32_t solve(const model *m, const ckpd_solve_params *params)
{
    return ckpd_milp_solve(context, "glpk", &m->view, params, NULL, &result);
}

static ckpd_solve_params params_with(double time_limit, int32_t presolve)
{
    ckpd_solve_params params = test_params(1e-6);
    params.time_limit_s = time_limit;
    params.presolve = presolve;
    return params;
}

/* max 3x + 2y, x + y <= 4, x + 3y <= 9, x <= 3: optimum 11 at (3, 1), duals 2 and 0, reduced cost
 * of x 1. */
START_TEST(test_lp_duals)
{
    model m;
    model_init(&m, 2);
    m.row_upper[0] = 4;
    m.row_upper[1] = 9;
    model_column(&m, -3, 0, 3, 0, (double[]){1, 1});
    model_column(&m, -2, 0, INFINITY, 0, (double[]){1, 3});
    result.row_dual = dual;
    result.reduced_cost = reduced;
    ck_assert_int_eq(solve(&m, NULL), CKPD_OK);
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_OPTIMAL);
    ck_assert_double_eq_tol(result.objective, -11, 1e-9);
    ck_assert_double_eq_tol(result.bound, -11, 1e-9);
    ck_assert_double_eq_tol(x[0], 3, 1e-9);
    ck_assert_double_eq_tol(x[1], 1, 1e-9);
    ck_assert_double_eq_tol(dual[0], -2, 1e-9);
    ck_assert_double_eq_tol(dual[1], 0, 1e-9);
    ck_assert_double_eq_tol(reduced[0], -1, 1e-9);
    ck_assert_double_eq_tol(reduced[1], 0, 1e-9);
}
END_TEST

/* Knapsack 8a + 11b + 6c + 4d, weights 5 7 4 3, capacity 14: the textbook optimum is 21 = b + c +
 * d. */
START_TEST(test_knapsack)
{
    model m;
    model_init(&m, 1);
    m.row_upper[0] = 14;
    const double worth[] = {8, 11, 6, 4}, weight[] = {5, 7, 4, 3};
    for (int i = 0; i < 4; i++) {
        model_column(&m, -worth[i], 0, 1, 1, &weight[i]);
    }
    m.view.offset = -200;
    ck_assert_int_eq(solve(&m, NULL), CKPD_OK);
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_OPTIMAL);
    ck_assert_double_eq_tol(result.objective, -221, 1e-9);
    ck_assert(x[0] == 0 && x[1] == 1 && x[2] == 1 && x[3] == 1);
}
END_TEST

/* x <= M z, min -x + 3z, x <= 10: -7 whatever M; GLPK alone says -9.99997 from M = 1e6 on. */
START_TEST(test_big_m_does_not_leak)
{
    for (double big = 10; big <= 1.1e12; big *= 10) {
        model m;
        model_init(&m, 1);
        m.row_upper[0] = 0;
        model_column(&m, -1, 0, 10, 0, (double[]){1});
        model_column(&m, 3, 0, 1, 1, &(double){-big});
        ck_assert_int_eq(solve(&m, NULL), CKPD_OK);
        ck_assert_double_eq_tol(result.objective, -7, 1e-6);
        ck_assert_int_eq(result.outcome, CKPD_OUTCOME_OPTIMAL);
    }
}
END_TEST

START_TEST(test_infeasible)
{
    for (int32_t integer = 0; integer <= 1; integer++) {
        for (int32_t presolve = 0; presolve <= 1; presolve++) {
            model m;
            model_init(&m, 2);
            m.row_lower[0] = 10;
            m.row_upper[1] = 5;
            model_column(&m, 1, 0, 100, (uint8_t)integer, (double[]){1, 1});
            ckpd_solve_params params = params_with(INFINITY, presolve);
            ck_assert_int_eq(solve(&m, &params), CKPD_OK);
            ck_assert_int_eq(result.outcome, CKPD_OUTCOME_INFEASIBLE);
            ck_assert_int_eq(result.has_plan, 0);
        }
    }
}
END_TEST

/* 2x = 3 has a fractional solution only: GLPK's return code is 0. */
START_TEST(test_integer_infeasible)
{
    model m;
    model_init(&m, 1);
    m.row_lower[0] = m.row_upper[0] = 3;
    model_column(&m, 1, 0, 10, 1, (double[]){2});
    ck_assert_int_eq(solve(&m, NULL), CKPD_OK);
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_INFEASIBLE);
    m.upper[0] = 1.7; /* a fractional bound of an integer column is rounded, not refused */
    m.row_lower[0] = -INFINITY;
    m.cost[0] = -1;
    ck_assert_int_eq(solve(&m, NULL), CKPD_OK);
    ck_assert_double_eq(result.objective, -1);
}
END_TEST

START_TEST(test_unbounded)
{
    for (int32_t integer = 0; integer <= 1; integer++) {
        for (int32_t presolve = 0; presolve <= 1; presolve++) {
            model m;
            model_init(&m, 1);
            m.row_upper[0] = 5;
            model_column(&m, -1, 0, INFINITY, (uint8_t)integer, (double[]){0});
            model_column(&m, 1, 0, 1, (uint8_t)integer, (double[]){1});
            ckpd_solve_params params = params_with(INFINITY, presolve);
            ck_assert_int_eq(solve(&m, &params), CKPD_OK);
            ck_assert_int_eq(result.outcome, CKPD_OUTCOME_UNBOUNDED);
        }
    }
}
END_TEST

START_TEST(test_not_finite_is_refused)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        model m;
        model_init(&m, 1);
        model_column(&m, bad[i], 0, 1, 0, (double[]){1});
        ck_assert_int_eq(solve(&m, NULL), CKPD_ERR_NOT_FINITE);
        m.cost[0] = 1;
        m.value[0] = bad[i];
        ck_assert_int_eq(solve(&m, NULL), CKPD_ERR_NOT_FINITE);
        m.value[0] = 1;
        m.row_lower[0] = bad[i];
        ck_assert_int_eq(solve(&m, NULL), bad[i] == -INFINITY ? CKPD_OK : CKPD_ERR_NOT_FINITE);
        m.row_lower[0] = 0;
        m.upper[0] = bad[i];
        ck_assert_int_eq(solve(&m, NULL), bad[i] == INFINITY ? CKPD_OK : CKPD_ERR_NOT_FINITE);
        m.upper[0] = 1;
        m.view.offset = bad[i];
        ck_assert_int_eq(solve(&m, NULL), CKPD_ERR_NOT_FINITE);
    }
    ck_assert_str_eq(ckpd_context_last_message(context), "offset is minus infinity");
}
END_TEST

START_TEST(test_malformed_is_refused)
{
    model m;
    model_init(&m, 2);
    model_column(&m, 1, 0, 1, 0, (double[]){1, 1});
    m.index[1] = 0; /* the same row twice */
    ck_assert_int_eq(solve(&m, NULL), CKPD_ERR_ARGUMENT);
    m.index[1] = 2;
    ck_assert_int_eq(solve(&m, NULL), CKPD_ERR_ARGUMENT);
    m.index[1] = 1;
    m.start[1] = 1;
    ck_assert_int_eq(solve(&m, NULL), CKPD_ERR_ARGUMENT);
    m.start[1] = 2;
    ckpd_solve_params params = params_with(NAN, 1);
    ck_assert_int_eq(solve(&m, &params), CKPD_ERR_NOT_FINITE);
    params = params_with(-1, 1);
    ck_assert_int_eq(solve(&m, &params), CKPD_ERR_RANGE);
    params = params_with(1, 1);
    params.relative_gap = -0.5;
    ck_assert_int_eq(solve(&m, &params), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_milp_solve(context, "glpkk", &m.view, NULL, NULL, &result),
                     CKPD_ERR_UNKNOWN_NAME);
    ck_assert_str_eq(ckpd_context_last_message(context),
                     "no backend is named \"glpkk\"; nearest is \"glpk\"");
    ck_assert_int_eq(ckpd_milp_solve(NULL, "glpk", &m.view, NULL, NULL, &result),
                     CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_milp_solve(context, "glpk", NULL, NULL, NULL, &result),
                     CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_milp_solve(context, "enumerate", &m.view, NULL, NULL, &result),
                     CKPD_ERR_NOT_SUPPORTED);
}
END_TEST

/* No column, or no row: GLPK aborts on glp_add_cols(P, 0). */
START_TEST(test_empty)
{
    model m;
    model_init(&m, 1);
    m.view.offset = 5;
    ck_assert_int_eq(solve(&m, NULL), CKPD_OK);
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_OPTIMAL);
    ck_assert_double_eq(result.objective, 5);
    m.row_lower[0] = 1;
    ck_assert_int_eq(solve(&m, NULL), CKPD_OK);
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_INFEASIBLE);
    model_init(&m, 0);
    model_column(&m, -1, 0, 2.5, 1, NULL);
    ck_assert_int_eq(solve(&m, NULL), CKPD_OK);
    ck_assert_double_eq(result.objective, -2);
}
END_TEST

/* Equal bounds (a battery of size zero) and slightly crossed ones. */
START_TEST(test_fixed_and_crossed_bounds)
{
    model m;
    model_init(&m, 1);
    m.row_lower[0] = m.row_upper[0] = 2;
    model_column(&m, 1, 1, 1, 0, (double[]){1});
    model_column(&m, 1, 0, 5, 0, (double[]){1});
    ck_assert_int_eq(solve(&m, NULL), CKPD_OK);
    ck_assert_double_eq_tol(result.objective, 2, 1e-9);
    m.lower[1] = 5.5;
    ck_assert_int_eq(solve(&m, NULL), CKPD_OK);
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_INFEASIBLE);
    ck_assert_str_eq(result.message, "column 1: lower bound 5.5 above upper 5");
}
END_TEST

/* s = 100.00001 against s <= 100: the same verdict with and without presolve. */
START_TEST(test_verdict_does_not_depend_on_presolve)
{
    for (int32_t integer = 0; integer <= 1; integer++) {
        int32_t outcome[2];
        for (int32_t presolve = 0; presolve <= 1; presolve++) {
            model m;
            model_init(&m, 1);
            m.row_lower[0] = m.row_upper[0] = 100.00001;
            model_column(&m, 1, 0, 100, 0, (double[]){1});
            model_column(&m, 1, 0, 1, (uint8_t)integer, (double[]){0});
            ckpd_solve_params params = params_with(INFINITY, presolve);
            ck_assert_int_eq(solve(&m, &params), CKPD_OK);
            outcome[presolve] = result.outcome;
        }
        ck_assert_int_eq(outcome[0], outcome[1]);
    }
}
END_TEST

/* Prices in another currency change the cost and nothing else. */
START_TEST(test_cost_scale)
{
    static const double scales[] = {1e-12, 1e-6, 1, 1e6, 1e12};
    for (int i = 0; i < 5; i++) {
        model m;
        model_init(&m, 1);
        m.row_lower[0] = 10;
        model_column(&m, 20.25 * scales[i], 0, 7, 0, (double[]){1});
        model_column(&m, 20.5 * scales[i], 0, 7, 0, (double[]){1});
        model_column(&m, 1 * scales[i], 0, 1, 1, (double[]){0.5});
        result.row_dual = dual;
        ck_assert_int_eq(solve(&m, NULL), CKPD_OK);
        ck_assert_double_eq_tol(x[0], 7, 1e-9);
        ck_assert_double_eq_tol(x[1], 2.5, 1e-9);
        ck_assert_double_eq(x[2], 1);
        ck_assert_double_eq_tol(result.objective / scales[i], 7 * 20.25 + 2.5 * 20.5 + 1, 1e-9);
    }
}
END_TEST

/* A gap of 100 % of the knapsack stops with a plan, a true bound and an optimal outcome by that
 * gap. */
START_TEST(test_gap_and_limits)
{
    model m;
    model_init(&m, 1);
    m.row_upper[0] = 14;
    const double worth[] = {8, 11, 6, 4}, weight[] = {5, 7, 4, 3};
    for (int i = 0; i < 4; i++) {
        model_column(&m, -worth[i], 0, 1, 1, &weight[i]);
    }
    ckpd_solve_params params = params_with(INFINITY, 1);
    params.relative_gap = 1;
    ck_assert_int_eq(solve(&m, &params), CKPD_OK);
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_OPTIMAL);
    ck_assert(result.bound <= -21 + 1e-9 && result.objective >= -21 - 1e-9);

    /* A start at the optimum and no branching: the start comes back with the LP bound 22. */
    double start[] = {0, 1, 1, 1};
    m.view.start_point = start;
    params = params_with(INFINITY, 0);
    params.node_limit = 1;
    ck_assert_int_eq(solve(&m, &params), CKPD_OK);
    ck_assert_int_eq(result.has_plan, 1);
    ck_assert_double_eq_tol(result.objective, -21, 1e-9);
    ck_assert(result.bound <= -21 + 1e-9);

    double wrong[] = {1, 1, 1, 1}; /* infeasible: not believed, not reported */
    m.view.start_point = wrong;
    ck_assert_int_eq(solve(&m, NULL), CKPD_OK);
    ck_assert_double_eq_tol(result.objective, -21, 1e-9);

    m.view.start_point = start; /* stopped before anything else was found: the start comes back */
    params = params_with(0, 1);
    ck_assert_int_eq(solve(&m, &params), CKPD_OK);
    ck_assert_int_eq(result.has_plan, 1);
    ck_assert_double_eq_tol(result.objective, -21, 1e-9);

    m.view.start_point = NULL;
    params = params_with(0, 1); /* no time at all is not "no limit" */
    ck_assert_int_eq(solve(&m, &params), CKPD_OK);
    ck_assert(result.outcome == CKPD_OUTCOME_NO_PLAN || result.outcome == CKPD_OUTCOME_OPTIMAL ||
              result.outcome == CKPD_OUTCOME_FEASIBLE);
}
END_TEST

/* A backend that lies: its point misses a row, its outcome is unknown, it claims what it has not.
 */
static int32_t lie;
static int32_t liar(const ckpd_host *host, const ckpd_milp_view *view,
                    const ckpd_solve_params *params, ckpd_milp_result *answer, void *user)
{
    (void)host, (void)params, (void)user;
    for (int32_t j = 0; j < view->columns; j++) {
        answer->x[j] = lie == 0 ? 1 : lie == 1 ? NAN : 0;
    }
    answer->outcome = lie == 2 ? 99 : CKPD_OUTCOME_OPTIMAL;
    answer->has_plan = lie != 3;
    answer->objective = answer->bound = -1000;
    return lie == 4 ? 7 : CKPD_OK;
}

START_TEST(test_answers_are_checked)
{
    ckpd_backend_table table = {.size = sizeof table,
                                .abi = CKPD_BACKEND_ABI,
                                .capabilities = CKPD_CAP_MILP | CKPD_CAP_LP,
                                .name = "liar",
                                .version = "1",
                                .solve_milp = liar};
    ck_assert_int_eq(ckpd_backend_register(context, &table), CKPD_OK);
    model m;
    model_init(&m, 1);
    m.row_upper[0] = 1;
    model_column(&m, -1, 0, 1, 1, (double[]){1});
    model_column(&m, -1, 0, 1, 1, (double[]){1});
    static const int32_t expected[] = {CKPD_ERR_VERIFY, CKPD_ERR_VERIFY, CKPD_ERR_BACKEND,
                                       CKPD_ERR_BACKEND, CKPD_ERR_BACKEND};
    for (lie = 0; lie < 5; lie++) {
        x[0] = 42;
        ck_assert_int_eq(ckpd_milp_solve(context, "liar", &m.view, NULL, NULL, &result),
                         expected[lie]);
        ck_assert_double_eq(x[0], 42);
    }
    /* A true point with a wrong objective and a claimed bound of -1000: recomputed, not optimal. */
    ck_assert_int_eq(ckpd_milp_solve(context, "liar", &m.view, NULL, NULL, &result), CKPD_OK);
    ck_assert_double_eq(result.objective, 0);
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_FEASIBLE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("solver: MILP view");
    TCase *tests = tcase_create("glpk");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, test_lp_duals);
    tcase_add_test(tests, test_knapsack);
    tcase_add_test(tests, test_big_m_does_not_leak);
    tcase_add_test(tests, test_infeasible);
    tcase_add_test(tests, test_integer_infeasible);
    tcase_add_test(tests, test_unbounded);
    tcase_add_test(tests, test_not_finite_is_refused);
    tcase_add_test(tests, test_malformed_is_refused);
    tcase_add_test(tests, test_empty);
    tcase_add_test(tests, test_fixed_and_crossed_bounds);
    tcase_add_test(tests, test_verdict_does_not_depend_on_presolve);
    tcase_add_test(tests, test_cost_scale);
    tcase_add_test(tests, test_gap_and_limits);
    tcase_add_test(tests, test_answers_are_checked);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}

#endif
