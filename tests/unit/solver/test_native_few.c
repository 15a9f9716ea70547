/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Random days of three to six jobs whose plain bound is loose: the native solver proves gap 0, GLPK
 * finds the same cost on the small ones, and the checker evaluates every proof again.
 * tests/bench/bench_few.c has fifty of each, and larger ones.
 */
#include "solver/native/certificate.h"
#include "solver/native/native.h"
#include "solver/solver.h"
#include "support/random_view.h"
#include "support/support.h"
#include "support/views.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

static const ckpd_host host = {.size = sizeof host, .allocate = take, .release = give};

/* Solves to gap 0; the checker must prove the cost of the plan. */
static void prove(case_view *day, int seed, ckpd_path_result *result)
{
    const ckpd_solve_params params = test_params(0);
    nat_certificate proof;
    double bound = (double)NAN;
    ck_assert_int_eq(ckpd__native_solve_certified(&host, &day->view, &params, result, &proof),
                     CKPD_OK);
    ck_assert_msg(result->outcome == CKPD_OUTCOME_OPTIMAL ||
                      result->outcome == CKPD_OUTCOME_INFEASIBLE,
                  "seed %d: outcome %d", seed, result->outcome);
    ck_assert_int_eq(ckpd__nat_certificate_check(&host, &day->view, &proof, &bound), CKPD_OK);
    double wanted = result->has_plan ? result->objective : proof.cutoff;
    ck_assert_msg(bound >= wanted || bound >= wanted - 1e-8 * (1 + fabs(wanted)),
                  "seed %d: proven %.12g of %.12g", seed, bound, wanted);
    ckpd__nat_certificate_free(&proof);
}

static void prove_days(const random_shape *shape, int count)
{
    for (int seed = 1; seed <= count; seed++) {
        case_view day;
        random_day_make(&day, (uint64_t)seed, shape);
        ckpd_path_result result = {.size = sizeof result, .plan = case_view_plan(&day)};
        prove(&day, seed, &result);
        case_view_free(&day);
    }
}

START_TEST(proven)
{
    static const random_shape shapes[] = {{3, 24, 8, 6, 0},
                                          {4, 24, 8, 5, 0},
                                          {5, 12, 4, 3, 0},
                                          {6, 12, 3, 3, 0},
                                          {3, 24, 8, 6, RANDOM_STORAGE},
                                          {4, 14, 4, 3, RANDOM_STORAGE},
                                          {5, 12, 4, 3, RANDOM_STORAGE},
                                          {6, 10, 3, 2, RANDOM_STORAGE}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        prove_days(&shapes[i], test_fast() ? 2 : 8);
}
END_TEST

START_TEST(as_glpk)
{
#ifdef CKPD_HAVE_GLPK
    static const random_shape shapes[] = {{3, 10, 3, 3, 0},
                                          {4, 9, 3, 2, 0},
                                          {5, 8, 2, 2, 0},
                                          {6, 8, 2, 2, 0},
                                          {3, 8, 3, 2, RANDOM_STORAGE},
                                          {5, 7, 2, 2, RANDOM_STORAGE}};
    int plans = 0, days = 0;
    ckpd_context *context = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int seed = 1; seed <= (test_fast() ? 2 : 12); seed++) {
            case_view day;
            random_day_make(&day, (uint64_t)seed, &shapes[i]);
            ckpd_path_result mine = {.size = sizeof mine, .plan = case_view_plan(&day)};
            ckpd_path_result other = {.size = sizeof other, .plan = case_view_plan(&day)};
            const ckpd_solve_params tight = test_params(1e-9);
            prove(&day, seed, &mine);
            ck_assert_int_eq(ckpd_path_solve(context, "glpk", &day.view, &tight, NULL, &other),
                             CKPD_OK);
            ck_assert_msg(mine.outcome == other.outcome, "%d jobs, seed %d: %d, GLPK %d",
                          shapes[i].jobs, seed, mine.outcome, other.outcome);
            if (mine.has_plan)
                ck_assert_double_eq_tol(mine.objective, other.objective,
                                        1e-7 * (1 + fabs(other.objective)));
            plans += mine.has_plan;
            days++;
            case_view_free(&day);
        }
    printf("native = glpk: %d of %d days have a plan\n", plans, days);
    ck_assert_int_gt(plans, days / 2);
    ckpd_context_free(context);
#else
    test_skip("this build has no GLPK");
#endif
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {proven, as_glpk, NULL};
    return test_run(test_suite("native few jobs", tests));
}
