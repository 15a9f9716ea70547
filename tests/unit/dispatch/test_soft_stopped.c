/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Many jobs under soft caps, stopped at every report in turn: the presolve solves two problems
 * beside this one, and what it knows of those must not be told of this one. The optimum to compare
 * with is GLPK's on the whole model, with no presolve of ours before it.
 */
#include "support/day.h"

#include <math.h>
#include <stdint.h>

enum { SLOTS = 8, JOBS = 10 };

typedef struct stopper {
    int32_t calls, stop_at;
} stopper;

static int32_t stop_at(const ckpd_progress *progress, void *user)
{
    stopper *s = user;
    (void)progress;
    return ++s->calls >= s->stop_at;
}

/* A hard GPU cap has no price here; above 16 GPUs each costs as `price` says. */
static day crowded(double price)
{
    static const double import[SLOTS] = {20, 30, 90, 100, 95, 80, 30, 25};
    day d = day_new(SLOTS, 1, import, 0);
    day_set(&d, "gpu_cap", 16);
    day_set(&d, "gpu_cap_price_per_gpu_hour", price);
    for (int32_t j = 0; j < JOBS; j++) {
        /* No common step of power: else the native search covers the problem by itself. */
        const day_mode modes[3] = {{4, 2, 0.003 + 0.0001237 * j, 0},
                                   {8 + j % 4, 1.1, 0.0055 + 0.0001719 * j, 0},
                                   {10 + j % 4, 0.9, 0.0075 + 0.0001531 * j, 0}};
        char name[] = {(char)('A' + j), 0};
        const day_job job = {.name = name, .segments = 2, .modes = 3, .mode = modes};
        ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    }
    return d;
}

static ckpd_solution *stopped_solve(day *d, stopper *s, int32_t presolve)
{
    ckpd_solve_options *options = NULL;
    ckpd_solution *solution = NULL;
    ck_assert_int_eq(ckpd_solve_options_new(&options, d->context), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_set_backend(options, "glpk"), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_set_progress(options, stop_at, s), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_set(options, "structure_presolve", presolve), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_solve(&solution, day_problem(d), CKPD_SCENARIO_S4, options),
                     CKPD_OK);
    ckpd_solve_options_free(options);
    return solution;
}

START_TEST(soft_presolve_stopped)
{
    static const double prices[] = {0.001, 0.01};
    day d = crowded(prices[_i]);
    if (ckpd_backend_capabilities(d.context, "glpk") == 0) {
        test_skip("this build has no GLPK");
        day_free(&d);
        return;
    }
    stopper plain = {0, INT32_MAX}, all = {0, INT32_MAX};
    ckpd_solution *alone = stopped_solve(&d, &plain, 0);
    ck_assert_int_eq(ckpd_solution_outcome(alone), CKPD_OUTCOME_OPTIMAL);
    double best = ckpd_solution_cost(alone);
    ckpd_solution_free(alone);
    ckpd_solution *whole = stopped_solve(&d, &all, 1);
    ck_assert_int_eq(ckpd_solution_outcome(whole), CKPD_OUTCOME_OPTIMAL);
    ck_assert_double_eq_tol(ckpd_solution_cost(whole), best, 2e-6 * fabs(best));
    int32_t cancelled = 0;
    for (int32_t n = 1; n <= all.calls; n++) {
        stopper s = {0, n};
        ckpd_solution *part = stopped_solve(&d, &s, 1);
        double room = 2e-6 * fabs(best);
        /* Nothing begins after the stop. GLPK reports by time, so that a run may end before it. */
        ck_assert_int_le(s.calls, n);
        ck_assert_double_le(ckpd_solution_bound(part), best + room);
        ck_assert_ptr_nonnull(ckpd_solution_plan(part));
        ck_assert_double_ge(ckpd_solution_cost(part), best - room);
        ck_assert_int_eq(ckpd_solution_bound_is_claimed(part), 0);
        if (ckpd_solution_outcome(part) == CKPD_OUTCOME_OPTIMAL) {
            ck_assert_double_le(ckpd_solution_cost(part), best + room);
        } else {
            ck_assert_int_eq(ckpd_solution_outcome(part), CKPD_OUTCOME_CANCELLED);
            ck_assert_int_eq(s.calls, n);
            cancelled++;
        }
        ckpd_solution_free(part);
    }
    ck_assert_int_ge(cancelled, 1);
    ckpd_solution_free(whole);
    day_free(&d);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("soft limits, stopped");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, soft_presolve_stopped, 0, 2);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
