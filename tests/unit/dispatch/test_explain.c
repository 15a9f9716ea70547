/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Explanations against differences of whole solves, and against cases by hand. */
#include "base/base.h"
#include "support/day.h"
#include "support/golden_case.h"

#include <math.h>
#include <string.h>

enum { SLOTS = 8 };

static ckpd__random rng;

static double uniform(double low, double high)
{
    return low + (high - low) * ckpd__random_uniform(&rng);
}

static ckpd_explanation *explain(ckpd_problem *problem, const ckpd_solution *solution,
                                 ckpd_context *context)
{
    ckpd_explanation *e = NULL;
    int32_t status = ckpd_problem_explain(&e, problem, solution, NULL);
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
    return e;
}

static double value(const ckpd_explanation *e, const char *name, int32_t slot, int32_t slots)
{
    double values[96];
    ck_assert_int_le(slots, 96);
    ck_assert_int_eq(ckpd_explanation_get_series(e, name, values, slots), CKPD_OK);
    return values[slot];
}

/* Exact cost with another base load. */
static double cost_at(day *d, int32_t scenario, const double *base_mw)
{
    ckpd_solve_options *options = NULL;
    ckpd_solution *s = NULL;
    day_set_mw(d, "base_it_kw", base_mw);
    ck_assert_int_eq(ckpd_problem_set_site(day_problem(d), d->site), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_new(&options, d->context), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_set(options, "relative_gap", 0), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_set_backend(options, "enumerate"), CKPD_OK);
    int32_t status = ckpd_problem_solve(&s, day_problem(d), scenario, options);
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(d->context));
    double cost =
        ckpd_solution_outcome(s) == CKPD_OUTCOME_OPTIMAL ? ckpd_solution_cost(s) : (double)INFINITY;
    ckpd_solution_free(s);
    ckpd_solve_options_free(options);
    return cost;
}

START_TEST(marginal_prices_are_differences_of_solves)
{
    static const char *const terminals[] = {"equal", "at_least", "free"};
    int32_t rounds = test_fast() ? 6 : 30;
    int32_t through_battery = 0;
    ckpd__random_seed(&rng, 31, 5);
    for (int32_t round = 0; round < rounds; round++) {
        double price[SLOTS], wind[SLOTS], base[SLOTS];
        for (int32_t t = 0; t < SLOTS; t++) {
            price[t] = floor(uniform(round % 3 == 0 ? -30 : 5, 90));
            wind[t] = uniform(0, 1) < 0.4 ? 0 : uniform(0, 9);
            base[t] = uniform(2, 8);
        }
        day d = day_new(SLOTS, 1, price, 0);
        const day_battery battery = {.energy_mwh = 9,
                                     .power_mw = uniform(1, 4),
                                     .eta = uniform(0.8, 1),
                                     .start_mwh = 4,
                                     .end_mwh = 4,
                                     .terminal = terminals[round % 3],
                                     .throughput_cost = floor(uniform(0, 6)),
                                     .end_value = floor(uniform(0, 40))};
        day_set_mw(&d, "wind_kw", wind);
        day_set(&d, "curtailment_penalty_per_mwh", floor(uniform(0, 12)));
        day_set(&d, "pue", 1.25);
        day_add_battery(&d, &battery);
        double cost = cost_at(&d, CKPD_SCENARIO_S6, base);
        ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S6, "enumerate");
        ckpd_explanation *e = explain(d.problem, s, d.context);
        for (int32_t t = 0; t < SLOTS; t++) {
            /* 4 kW of IT are 5 kW at the site: 0.005 MWh */
            const double step_mw = 0.004;
            double moved[SLOTS];
            memcpy(moved, base, sizeof moved);
            moved[t] = base[t] + step_mw;
            double up = (cost_at(&d, CKPD_SCENARIO_S6, moved) - cost) / (1.25 * step_mw);
            moved[t] = base[t] - step_mw;
            double down = (cost - cost_at(&d, CKPD_SCENARIO_S6, moved)) / (1.25 * step_mw);
            double said_up = value(e, "marginal_up_per_mwh", t, SLOTS);
            double said_down = value(e, "marginal_down_per_mwh", t, SLOTS);
            ck_assert_msg(fabs(said_up - up) < 2e-4 * fmax(1, fabs(up)),
                          "round %d slot %d: %g said, %g found", (int)round, (int)t, said_up, up);
            ck_assert_msg(fabs(said_down - down) < 2e-4 * fmax(1, fabs(down)),
                          "round %d slot %d: %g said, %g found (down)", (int)round, (int)t,
                          said_down, down);
            through_battery += fabs(said_up - price[t]) > 1 && wind[t] < 1.25 * base[t];
        }
        ckpd_explanation_free(e);
        ckpd_solution_free(s);
        day_free(&d);
    }
    ck_assert_int_ge(through_battery, rounds / 3);
}
END_TEST

/*
 * One job of two 1 h segments of 10 MW, prices 50 10 20 60. S1 runs slots 0 and 1 (600), the plan 1
 * and 2 (300): it leaves 10 MWh at 50 and takes 10 at 20. As much is taken as left, so any spread
 * pays: break-even 0.
 */
START_TEST(jobs_beside_s1)
{
    const double price[4] = {50, 10, 20, 60};
    const day_mode modes[] = {{8, 1.0, 10, 0}};
    const day_job job = {.name = "job", .segments = 2, .modes = 1, .mode = modes};
    day d = day_new(4, 1, price, 0);
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ckpd_explanation *e = explain(d.problem, s, d.context);
    ckpd_job_explanation j = {.size = sizeof j};
    ck_assert_int_eq(ckpd_explanation_get_job(e, 0, &j), CKPD_OK);
    ck_assert_int_eq(j.waiting_slots, 1);
    ck_assert_int_eq(j.mode_changes, 0);
    ck_assert_double_eq(j.left_mwh, 10);
    ck_assert_double_eq(j.taken_mwh, 10);
    ck_assert_double_eq_tol(j.left_price_per_mwh, 50, 1e-9);
    ck_assert_double_eq_tol(j.taken_price_per_mwh, 20, 1e-9);
    ck_assert_double_eq_tol(j.break_even_spread_per_mwh, 0, 1e-9);
    ck_assert_double_eq_tol(ckpd_solution_cost(ckpd_explanation_baseline(e)), 600, 1e-3);
    /* Flexibility: the edges at 1 and 2 can go one slot later (the plan may also be one edge of two
       segments): 10 MW, one slot, from 10 + 20 to 20 + 60 at slot 1: 500 dearer. */
    ck_assert_double_eq_tol(value(e, "shed_kw", 1, 4), 10000, 1e-9);
    ck_assert_double_eq(value(e, "shed_slots", 1, 4), 1);
    ck_assert_double_eq_tol(value(e, "shed_cost", 1, 4), 500, 1e-9);
    /* begun at 0 instead of 1: one edge of one segment moves its hour from 10 to 50 */
    ck_assert_double_eq_tol(value(e, "add_kw", 0, 4), 10000, 1e-9);
    ck_assert_double_ge(value(e, "add_slots", 0, 4), 1);
    ck_assert_double_ge(value(e, "add_cost", 0, 4), 300);
    ck_assert_double_eq(value(e, "add_kw", 3, 4), 0);
    ck_assert_double_eq(value(e, "battery_add_kw", 0, 4), 0);
    ckpd_explanation_free(e);
    ckpd_solution_free(s);

    /* What a slot more of GPUs, or of deadline, is worth: whole solves. */
    double cost = 0;
    ck_assert_int_eq(
        ckpd_problem_cost_with(&cost, d.problem, CKPD_SCENARIO_S4, NULL, CKPD_LIMIT_GPU_CAP, -993),
        CKPD_OK);
    ck_assert(isinf(cost));
    ck_assert_int_eq(
        ckpd_problem_cost_with(&cost, d.problem, CKPD_SCENARIO_S4, NULL, CKPD_LIMIT_DEADLINE, -2),
        CKPD_OK);
    ck_assert_double_eq_tol(cost, 600, 1e-3);
    ck_assert_int_eq(ckpd_problem_cost_with(&cost, d.problem, CKPD_SCENARIO_S4, NULL, 0, 1),
                     CKPD_ERR_RANGE);
    day_free(&d);
}
END_TEST

/* A slower mode that needs 20 % more energy: it pays above a spread that is said. */
START_TEST(break_even_spread)
{
    const double price[4] = {100, 10, 10, 100};
    const day_mode modes[] = {{16, 1.0, 10, 0}, {8, 2.0, 6, 0}};
    /* mode set order is by GPUs: the baseline is the 16-GPU mode of the first row */
    const day_job job = {.name = "job", .segments = 1, .modes = 2, .mode = modes};
    const double wind[4] = {0, 6, 6, 0};
    day d = day_new(4, 1, price, 0);
    day_set_mw(&d, "wind_kw", wind);
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ck_assert_double_eq_tol(ckpd_solution_cost(s), 0, 1e-6);
    ckpd_explanation *e = explain(d.problem, s, d.context);
    ckpd_job_explanation j = {.size = sizeof j};
    ck_assert_int_eq(ckpd_explanation_get_job(e, 0, &j), CKPD_OK);
    ck_assert_double_eq(j.left_mwh, 10);
    ck_assert_double_eq(j.taken_mwh, 12);
    ck_assert_double_eq_tol(j.break_even_spread_per_mwh, j.taken_price_per_mwh * 0.2, 1e-9);
    ck_assert_int_eq(ckpd_explanation_get_job(e, 1, &j), CKPD_ERR_RANGE);
    double values[4];
    ck_assert_int_eq(ckpd_explanation_get_series(e, "shed", values, 4), CKPD_ERR_UNKNOWN_NAME);
    ck_assert_int_eq(ckpd_explanation_get_series(e, "shed_kw", values, 3), CKPD_ERR_LENGTH);
    ckpd_explanation_free(e);
    ckpd_explanation_free(NULL);
    ckpd_solution_free(s);
    s = day_solve(&d, CKPD_SCENARIO_S3, NULL);
    ck_assert_int_eq(ckpd_problem_explain(&e, d.problem, s, NULL), CKPD_ERR_STATE);
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

START_TEST(the_2048_gpu_day)
{
    golden_case g;
    if (!golden_open(&g, "aidc2048-golden.json", NULL)) {
        return;
    }
    for (int32_t scenario = CKPD_SCENARIO_S4; scenario <= CKPD_SCENARIO_S6; scenario++) {
        ckpd_solution *s = golden_solve(&g, scenario, NULL);
        ckpd_explanation *e = explain(g.problem, s, g.context);
        for (int32_t t = 0; t < 24; t++) {
            double up = value(e, "marginal_up_per_mwh", t, 24);
            double down = value(e, "marginal_down_per_mwh", t, 24);
            /* between minus the penalty and a little above the dearest hour, and never up below
             * down */
            ck_assert_double_ge(up, -20 - 1e-6);
            ck_assert_double_le(up, 49.5 * 1.2);
            ck_assert_msg(up >= down - 0.02, "S%d slot %d: %g < %g", scenario, (int)t, up, down);
            ck_assert_double_ge(value(e, "shed_kw", t, 24), 0);
            ck_assert_double_ge(value(e, "battery_shed_kw", t, 24), 0);
        }
        ckpd_explanation_free(e);
        ckpd_solution_free(s);
    }
    /* 128 GPUs less than 2048 cost 311.7005 - 305.41 (expected values) */
    double cost = 0;
    ck_assert_int_eq(
        ckpd_problem_cost_with(&cost, g.problem, CKPD_SCENARIO_S4, NULL, CKPD_LIMIT_GPU_CAP, -128),
        CKPD_OK);
    ck_assert_double_eq_tol(
        cost, golden_expected("aidc2048-expected.json", "S4_by_gpu_cap", "1920"), 4e-4);
    golden_close(&g);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {marginal_prices_are_differences_of_solves, jobs_beside_s1,
                                  break_even_spread, the_2048_gpu_day, NULL};
    return test_run(test_suite("explain", tests));
}
