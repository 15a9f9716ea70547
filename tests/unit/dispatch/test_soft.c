/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Limits with prices, the way back of a battery below its minimum, running edges that may be given
 * up. Expected costs were worked by hand from prices, loads and limits.
 */
#include "support/day.h"

#include <math.h>
#include <string.h>

static const double b0_price[4] = {20, 60, 20, 60};

/* 20 MWh, 10 MW, 0.9 both ways. */
static day_battery battery_of(double start_mwh, double end_mwh, const char *terminal)
{
    return (day_battery){.energy_mwh = 20,
                         .power_mw = 10,
                         .eta = 0.9,
                         .start_mwh = start_mwh,
                         .end_mwh = end_mwh,
                         .terminal = terminal};
}

static void check_overrun(const ckpd_solution *s, int32_t index, int32_t limit, int32_t slot,
                          double amount, double cost)
{
    ckpd_overrun overrun = {.size = sizeof overrun};
    ck_assert_int_eq(ckpd_report_get_overrun(ckpd_solution_report(s), index, &overrun), CKPD_OK);
    ck_assert_int_eq(overrun.limit, limit);
    ck_assert_int_eq(overrun.slot, slot);
    ck_assert_double_eq_tol(overrun.amount, amount, 1e-5 * fmax(1, amount));
    ck_assert_double_eq_tol(overrun.cost, cost, 1e-5 * fmax(1, cost));
    ck_assert(strlen(overrun.message) > 20);
}

static int32_t overruns(const ckpd_solution *s)
{
    return ckpd_report_overrun_count(ckpd_solution_report(s));
}

/* The only one of its plan. */
static void expect_one_overrun(day *d, int32_t scenario, int32_t limit, int32_t slot, double amount,
                               double cost)
{
    ckpd_solution *s = day_solve(d, scenario, NULL);
    ck_assert_int_eq(overruns(s), 1);
    check_overrun(s, 0, limit, slot, amount, cost);
    ckpd_solution_free(s);
}

/* Of S6, at the beginning of each hour and at the end. */
static void expect_soc(day *d, const double kwh[5])
{
    ckpd_solution *s = day_solve(d, CKPD_SCENARIO_S6, NULL);
    for (int32_t t = 0; t <= 4; t++) {
        ck_assert_double_eq_tol(day_value(s, "soc_kwh", t), kwh[t], 1e-4);
    }
    ckpd_solution_free(s);
}

/* --- caps ------------------------------------------------------------------------------------- */

START_TEST(import_cap_with_a_price)
{
    day d = day_new(4, 1, b0_price, 10);
    day_set(&d, "import_cap_kw", 8000);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ck_assert_int_eq(ckpd_solution_outcome(s), CKPD_OUTCOME_INFEASIBLE);
    ckpd_solution_free(s);
    ckpd_problem_free(d.problem);
    d.problem = NULL;
    day_set(&d, "import_cap_price_per_mwh", 500);
    day_expect(&d, CKPD_SCENARIO_S4, 1600 + 4 * 2 * 500);
    s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ck_assert_double_eq_tol(day_figure(s, "import_cost"), 1600, 1e-6);
    ck_assert_double_eq_tol(day_figure(s, "penalty_cost"), 4000, 1e-6);
    ck_assert_int_eq(overruns(s), 4);
    for (int32_t t = 0; t < 4; t++) {
        check_overrun(s, t, CKPD_LIMIT_IMPORT_CAP, t, 2000, 1000);
    }
    ck_assert_int_eq(ckpd_report_get_overrun(ckpd_solution_report(s), 4,
                                             &(ckpd_overrun){.size = sizeof(ckpd_overrun)}),
                     CKPD_ERR_RANGE);
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

/* The battery serves the peak as far as it pays: what is not above the cap costs nothing. */
START_TEST(import_cap_with_a_price_and_a_battery)
{
    const double load[4] = {10, 14, 10, 10};
    day_battery battery = battery_of(10, 10, "at_least");
    day d = day_new(4, 1, b0_price, 0);
    day_set_mw(&d, "base_it_kw", load);
    day_set(&d, "import_cap_kw", 10000);
    day_set(&d, "import_cap_price_per_mwh", 500);
    day_add_battery(&d, &battery);
    /* Discharges 4 MW in slot 1 and to charge again would have to pass the cap: 4.444 MWh less at
       the end are not allowed, so 4.444/0.9 MWh above the cap in slot 2 at 520, or 4 MW in slot 1
       at 560. The latter. */
    day_expect(&d, CKPD_SCENARIO_S6, 20 * 10 + 60 * 14 + 4 * 500 + 20 * 10 + 60 * 10);
    day_free(&d);
}
END_TEST

START_TEST(site_cap_with_a_price)
{
    day_battery battery = battery_of(10, 10, "at_least");
    day d = day_new(4, 1, b0_price, 10);
    day_set(&d, "site_cap_kw", 9000);
    day_set(&d, "site_cap_price_per_mwh", 100);
    day_set(&d, "import_cap_kw", 100000);
    day_add_battery(&d, &battery);
    day_expect(&d, CKPD_SCENARIO_S4, 1600 + 400);
    day_expect(&d, CKPD_SCENARIO_S6, 1028 + 400); /* b0; the cap is of the load, not of the draw */
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S6, NULL);
    ck_assert_int_eq(overruns(s), 4);
    check_overrun(s, 2, CKPD_LIMIT_SITE_CAP, 2, 1000, 100);
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

START_TEST(gpu_cap_with_a_price)
{
    const double price[3] = {10, 100, 10}, cap[3] = {8, 8, 0};
    const day_mode mode = {8, 1, 1, 0};
    const day_job job = {.name = "A", .segments = 2, .modes = 1, .mode = &mode};
    day d = day_new(3, 1, price, 0);
    day_set_mw(&d, "gpu_cap", cap);
    day_set(&d, "gpu_cap_price_per_gpu_hour", 1);
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    day_expect(&d, CKPD_SCENARIO_S4, 10 + 10 + 8);
    day_expect(&d, CKPD_SCENARIO_S3, 10 + 10 + 8);
    day_expect(&d, CKPD_SCENARIO_S1, 10 + 100);
    expect_one_overrun(&d, CKPD_SCENARIO_S4, CKPD_LIMIT_GPU_CAP, 2, 8, 8);
    day_free(&d);
}
END_TEST

/* A price in one slot only leaves the others hard. */
START_TEST(caps_with_a_price_in_some_slots)
{
    const double price[3] = {10, 20, 30};
    const double cap[3] = {0, 0, 0}, some[3] = {(double)INFINITY, 2, (double)INFINITY};
    const day_mode mode = {8, 1, 1, 0};
    const day_job job = {.name = "A", .segments = 1, .modes = 1, .mode = &mode};
    day d = day_new(3, 1, price, 0);
    day_set_mw(&d, "gpu_cap", cap);
    day_set_mw(&d, "gpu_cap_price_per_gpu_hour", some);
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    day_expect(&d, CKPD_SCENARIO_S4, 20 + 16);
    day_free(&d);
}
END_TEST

/* --- deadline and end ------------------------------------------------------------------------- */

START_TEST(deadline_with_a_price)
{
    const double price[4] = {100, 100, 10, 10};
    const day_mode mode = {8, 1, 1, 0};
    day_job job = {
        .name = "A", .segments = 1, .modes = 1, .mode = &mode, .deadline = 2, .late_price = 30};
    day d = day_new(4, 1, price, 0);
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    day_expect(&d, CKPD_SCENARIO_S4, 10 + 30);
    day_expect(&d, CKPD_SCENARIO_S1, 100);
    day_expect(&d, CKPD_SCENARIO_S3, 10); /* lateness costs nothing there: still a lower bound */
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ck_assert_double_eq_tol(day_figure(s, "penalty_cost"), 30, 1e-9);
    ck_assert_double_eq(day_figure(s, "edge_cost"), 0);
    ck_assert_int_eq(overruns(s), 1);
    check_overrun(s, 0, CKPD_LIMIT_DEADLINE, -1, 1, 30);
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

/* Half hours: the price is per hour. Continuous training is late by what it needs. */
START_TEST(late_in_half_hours)
{
    const double price[6] = {10, 10, 10, 10, 10, 10};
    const day_mode mode = {8, 1, 1, 0};
    const day_job job = {
        .name = "A", .segments = 2, .modes = 1, .mode = &mode, .deadline = 1, .late_price = 40};
    day d = day_new(6, 0.5, price, 0);
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    day_expect(&d, CKPD_SCENARIO_S1, 2 * 10 + 1.5 * 40);
    day_expect(&d, CKPD_SCENARIO_S2, 2 * 10 + 1.5 * 40);
    day_expect(&d, CKPD_SCENARIO_S4, 2 * 10 + 1.5 * 40);
    day_free(&d);
}
END_TEST

/* Even with a price a job has to finish within the horizon. */
START_TEST(too_late_for_the_horizon)
{
    const double price[2] = {10, 10};
    const day_mode mode = {8, 1, 1, 0};
    const day_job job = {
        .name = "A", .segments = 3, .modes = 1, .mode = &mode, .deadline = 1, .late_price = 5};
    day d = day_new(2, 1, price, 0);
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ck_assert_int_eq(ckpd_solution_outcome(s), CKPD_OUTCOME_INFEASIBLE);
    ck_assert_ptr_nonnull(strstr(ckpd_solution_cause(s, 0), "by the end of the horizon (2 slots)"));
    ck_assert_ptr_nonnull(strstr(ckpd_solution_cause(s, 0), "2 of 3 segments"));
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

START_TEST(end_soc_with_a_price)
{
    day_battery battery = battery_of(4, 18, "at_least");
    battery.power_mw = 2;
    battery.end_price = 1000;
    day d = day_new(4, 1, b0_price, 10);
    day_set(&d, "import_cap_kw", 100000);
    day_add_battery(&d, &battery);
    /* 2 MW in every hour lead to 11.2 MWh: 6.8 are missing. */
    day_expect(&d, CKPD_SCENARIO_S6, 12 * 160 + 6.8 * 1000);
    expect_one_overrun(&d, CKPD_SCENARIO_S6, CKPD_LIMIT_END_SOC, -1, 6800, 6800);
    day_free(&d);
}
END_TEST

/* "equal" misses in both directions: 10 MWh at the start, 8 wanted, and no power to discharge. */
START_TEST(end_soc_with_a_price_both_ways)
{
    day d = day_new(4, 1, b0_price, 10);
    ckpd_battery *battery = NULL;
    ck_assert_int_eq(ckpd_battery_new(&battery, d.context), CKPD_OK);
    const struct {
        const char *field;
        double value;
    } values[] = {{"energy_kwh", 20000}, {"charge_kw", 1000},         {"discharge_kw", 0},
                  {"eta_charge", 0.9},   {"eta_discharge", 0.9},      {"soc_start_kwh", 10000},
                  {"soc_end_kwh", 8000}, {"soc_end_price_per_mwh", 7}};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        ck_assert_int_eq(ckpd_battery_set(battery, values[i].field, values[i].value), CKPD_OK);
    }
    ck_assert_int_eq(ckpd_site_add_battery(d.site, battery), CKPD_OK);
    ckpd_battery_free(battery);
    day_expect(&d, CKPD_SCENARIO_S6, 1600 + 2 * 7);
    day_free(&d);
}
END_TEST

/* --- softening all at once -------------------------------------------------------------------- */

/* P = 100 x 60: the cap costs 6000 per MWh above it, a GPU-hour 6. */
START_TEST(soften_gives_every_limit_a_price)
{
    const day_mode mode = {8, 1, 1, 0};
    const day_job job = {.name = "A", .segments = 4, .modes = 1, .mode = &mode, .deadline = 3};
    day d = day_new(4, 1, b0_price, 10);
    day_set(&d, "import_cap_kw", 9000);
    day_set(&d, "gpu_cap", 4);
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ck_assert_int_eq(ckpd_solution_outcome(s), CKPD_OUTCOME_INFEASIBLE);
    ckpd_solution_free(s);
    ck_assert_int_eq(ckpd_problem_soften(d.problem), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_soften(d.problem), CKPD_OK); /* a second time changes nothing */
    /* 11 MW in every hour, 2 above the cap; 4 GPUs above theirs; one hour late. */
    double penalty = 4 * 2 * 6000 + 4 * 4 * 6 + 6000;
    day_expect(&d, CKPD_SCENARIO_S4, 11 * 160 + penalty);
    s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ck_assert_double_eq_tol(day_figure(s, "penalty_cost"), penalty, 1e-6);
    ck_assert_int_eq(overruns(s), 9);
    ckpd_explanation *explanation = NULL;
    ck_assert_int_eq(ckpd_problem_explain(&explanation, d.problem, s, NULL), CKPD_OK);
    double up[4];
    ck_assert_int_eq(ckpd_explanation_get_series(explanation, "marginal_up_per_mwh", up, 4),
                     CKPD_OK);
    ck_assert_double_eq_tol(up[0], 20 + 6000, 1e-6);
    ckpd_explanation_free(explanation);
    ckpd_solution_free(s);
    day_free(&d);
    ck_assert_int_eq(ckpd_problem_soften(NULL), CKPD_ERR_ARGUMENT);
}
END_TEST

/* Where everything fits, prices of limits change nothing. */
START_TEST(soften_costs_nothing_where_all_fits)
{
    day_battery battery = battery_of(10, 10, "at_least");
    day d = day_new(4, 1, b0_price, 10);
    day_set(&d, "import_cap_kw", 100000);
    day_add_battery(&d, &battery);
    ck_assert_int_eq(ckpd_problem_soften(day_problem(&d)), CKPD_OK);
    day_expect(&d, CKPD_SCENARIO_S6, 1028);
    day_free(&d);
}
END_TEST

START_TEST(bad_prices_are_refused)
{
    const double mixed[4] = {1, (double)NAN, 1, 1};
    day d = day_new(4, 1, b0_price, 10);
    ck_assert_int_eq(ckpd_site_set_constant(d.site, "import_cap_price_per_mwh", -1),
                     CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_site_set_constant(d.site, "gpu_cap_price_per_gpu_hour", 1e300),
                     CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_site_set_series(d.site, "site_cap_price_per_mwh", mixed, 4),
                     CKPD_ERR_NOT_FINITE);
    ck_assert_int_eq(ckpd_site_set_constant(d.site, "import_cap_price_per_mwh", (double)INFINITY),
                     CKPD_OK);
    day_free(&d);
}
END_TEST

/* --- recovery --------------------------------------------------------------------------------- */

/*
 * 0.1 MW lead from 2.8 MWh back to 3 in the third hour: 90 kWh an hour. After that the battery
 * trades: 0.1 MW in hour 2 in all, and what is above 3 MWh comes out in hour 3.
 */
START_TEST(recovery_is_monotone)
{
    day_battery battery = battery_of(2.8, 3, "at_least");
    battery.power_mw = 0.1;
    battery.soc_min_mwh = 3;
    battery.recover = 1;
    day d = day_new(4, 1, b0_price, 10);
    day_set(&d, "import_cap_kw", 100000);
    day_add_battery(&d, &battery);
    day_expect(&d, CKPD_SCENARIO_S6, 1600 + 0.1 * 20 + 0.1 * 60 + 0.1 * 20 - 0.063 * 60);
    expect_soc(&d, (const double[5]){2800, 2890, 2980, 3070, 3000});
    day_free(&d);
}
END_TEST

/* The grid leaves 50 kW beside the load, the third hour nothing. */
START_TEST(recovery_keeps_to_what_the_grid_leaves)
{
    const double cap[4] = {10.05, 10.05, 10, 10.05};
    day_battery battery = battery_of(2, 0, "free");
    battery.soc_min_mwh = 3;
    battery.recover = 1;
    day d = day_new(4, 1, b0_price, 10);
    day_set_mw(&d, "import_cap_kw", cap);
    day_add_battery(&d, &battery);
    day_expect(&d, CKPD_SCENARIO_S6, 1600 + 0.05 * (20 + 60 + 60));
    expect_soc(&d, (const double[5]){2000, 2045, 2090, 2090, 2135});
    day_free(&d);
}
END_TEST

/*
 * The cap has a price, so it holds nothing back: 0.1 MW past it in two hours, 20 kWh at 0.9 in the
 * third.
 */
START_TEST(recovery_passes_a_cap_with_a_price)
{
    day_battery battery = battery_of(2.8, 0, "free");
    battery.energy_mwh = 5;
    battery.power_mw = 0.1;
    battery.soc_min_mwh = 3;
    battery.recover = 1;
    day d = day_new(4, 1, b0_price, 10);
    day_set(&d, "import_cap_kw", 10000);
    day_set(&d, "import_cap_price_per_mwh", 50);
    day_add_battery(&d, &battery);
    day_expect(&d, CKPD_SCENARIO_S6, 1600 + 0.1 * 70 + 0.1 * 110 + 0.02 / 0.9 * 70);
    day_free(&d);
}
END_TEST

/*
 * A fiftieth is lost an hour and the third hour has no power to spare: 10 MWh at its end need 10 /
 * 0.98 before it, and the last hour makes up for 0.2. Where nothing is to be had after the first
 * hour, 4.116 + 6 MWh fall below the minimum again whatever is done.
 */
START_TEST(recovery_holds_the_minimum_against_self_discharge)
{
    const double cap[2][4] = {{16, 16, 10, 16}, {16, 10, 10, 10}};
    const double cost[2] = {1600 + 6 * 20 + (10 / 0.98 - 0.98 * 6) * 60 + 0.2 * 60, 1600 + 6 * 20};
    for (int32_t way = 0; way < 2; way++) {
        day_battery battery = {.energy_mwh = 12,
                               .power_mw = 6,
                               .eta = 1,
                               .start_mwh = way == 0 ? 0 : 4.2,
                               .terminal = "free",
                               .soc_min_mwh = 10,
                               .self_discharge = 0.02,
                               .recover = 1};
        day d = day_new(4, 1, b0_price, 10);
        day_set_mw(&d, "import_cap_kw", cap[way]);
        day_add_battery(&d, &battery);
        day_expect(&d, CKPD_SCENARIO_S6, cost[way]);
        day_free(&d);
    }
}
END_TEST

/*
 * The battery recovers beside the load that no plan can avoid: in S5 the training, which leaves
 * nothing for two hours; in S6 nothing, so training has to wait past its deadline, and the plan of
 * S5 is none of S6.
 */
START_TEST(recovery_yields_to_unavoidable_load_only)
{
    const double price[4] = {20, 100, 20, 20};
    static const day_mode four_mw = {8, 2, 4, 0};
    const day_job job = {.name = "A", .segments = 1, .modes = 1, .mode = &four_mw, .deadline = 2};
    day_battery battery = {.energy_mwh = 20,
                           .power_mw = 10,
                           .eta = 1,
                           .start_mwh = 2,
                           .terminal = "free",
                           .soc_min_mwh = 10,
                           .recover = 1};
    day d = day_new(4, 1, price, 0);
    day_set(&d, "import_cap_kw", 4000);
    day_add_battery(&d, &battery);
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    day_expect(&d, CKPD_SCENARIO_S5, 4 * (20 + 100 + 20 + 20));
    ckpd_solution *s5 = day_solve(&d, CKPD_SCENARIO_S5, NULL);
    ckpd_solution *s6 = day_solve(&d, CKPD_SCENARIO_S6, NULL);
    ck_assert_int_eq(ckpd_solution_outcome(s6), CKPD_OUTCOME_INFEASIBLE);
    ckpd_report *report = NULL;
    ck_assert_int_eq(ckpd_problem_verify(&report, d.problem, CKPD_SCENARIO_S6,
                                         ckpd_solution_plan(s5), (double)NAN),
                     CKPD_OK);
    ckpd_violation first = {.size = sizeof first};
    ck_assert_int_eq(ckpd_report_get_violation(report, 0, &first), CKPD_OK);
    ck_assert_int_eq(first.kind, CKPD_VIOLATION_SOC);
    ck_assert_int_eq(first.slot, 0);
    ckpd_report_free(report);
    ckpd_solution_free(s5);
    ckpd_solution_free(s6);
    day_free(&d);
}
END_TEST

/* A plan that stays below, and one that falls further, are seen by the verifier. */
START_TEST(a_plan_without_recovery_is_a_violation)
{
    for (int32_t falls = 0; falls < 2; falls++) {
        day_battery battery = battery_of(2.8, 0, "free");
        battery.soc_min_mwh = 3;
        battery.recover = 1;
        day d = day_new(4, 1, b0_price, 10);
        day_add_battery(&d, &battery);
        const double import[4] = {falls ? 9100 : 10000, 10000, 10000, 10000};
        const double discharge[4] = {falls ? 900 : 0, 0, 0, 0};
        const double low = falls ? 1800 : 2800;
        const double soc[5] = {2800, low, low, low, low};
        ckpd_plan *plan = NULL;
        ckpd_report *report = NULL;
        ck_assert_int_eq(ckpd_plan_new(&plan, d.context, 0, 4), CKPD_OK);
        ck_assert_int_eq(ckpd_plan_set_series(plan, "import_kw", import, 4), CKPD_OK);
        ck_assert_int_eq(ckpd_plan_set_series(plan, "discharge_kw", discharge, 4), CKPD_OK);
        ck_assert_int_eq(ckpd_plan_set_series(plan, "soc_kwh", soc, 5), CKPD_OK);
        ck_assert_int_eq(
            ckpd_problem_verify(&report, day_problem(&d), CKPD_SCENARIO_S6, plan, (double)NAN),
            CKPD_OK);
        ckpd_violation first = {.size = sizeof first};
        ck_assert_int_eq(ckpd_report_violation_count(report), 4);
        ck_assert_int_eq(ckpd_report_get_violation(report, 0, &first), CKPD_OK);
        ck_assert_int_eq(first.kind, CKPD_VIOLATION_SOC);
        ck_assert_ptr_nonnull(strstr(first.message, "below its minimum in slot 0"));
        ckpd_report_free(report);
        ckpd_plan_free(plan);
        day_free(&d);
    }
}
END_TEST

/* --- work that may be lost -------------------------------------------------------------------- */

/* J0 of the collection after its first hour: 1 of 2 hours done, 10 MW, one segment. */
static day running_job(const double *price, const double *cap)
{
    static const day_mode ten_mw = {16, 2.0, 10, 0};
    const day_job job = {.name = "J0",
                         .segments = 1,
                         .modes = 1,
                         .mode = &ten_mw,
                         .running_mode = 1,
                         .running_slots = 1,
                         .running_segments = 1,
                         .may_lose = 1};
    day d = day_new(5, 1, price, 0);
    day_set_mw(&d, "gpu_cap", cap);
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    return d;
}

START_TEST(work_is_lost_where_it_cannot_go_on)
{
    const double price[5] = {45, 12, 50, 50, 10}, cap[5] = {0, 16, 16, 16, 16};
    day d = running_job(price, cap);
    day_expect(&d, CKPD_SCENARIO_S4, 10 * (50 + 10));
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    double share[6];
    ck_assert_int_eq(ckpd_solution_progress(s, 0, share, 6), CKPD_OK);
    ck_assert(share[1] == 0 && share[3] == 0 && share[5] == 1);
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

START_TEST(work_is_kept_where_that_is_cheaper)
{
    const double price[5] = {45, 12, 50, 50, 10}, cap[5] = {16, 16, 16, 16, 16};
    day d = running_job(price, cap);
    day_expect(&d, CKPD_SCENARIO_S4, 450);
    day_expect(&d, CKPD_SCENARIO_S1, 450);
    /* The hour that is done counts: one hour more, at the cheapest. */
    day_expect(&d, CKPD_SCENARIO_S3, 100);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ckpd_explanation *explanation = NULL;
    ck_assert_int_eq(ckpd_problem_explain(&explanation, d.problem, s, NULL), CKPD_OK);
    double shed[5];
    ck_assert_int_eq(ckpd_explanation_get_series(explanation, "shed_kw", shed, 5), CKPD_OK);
    ck_assert_double_eq(shed[0], 0); /* what runs cannot be put off */
    ckpd_explanation_free(explanation);
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

/*
 * Three segments of 40 minutes in half hours: the first edge takes two slots and the rest three, of
 * four; begun again all of it takes four, and its first checkpoint has the shape of the running
 * edge.
 */
START_TEST(continuous_training_begins_again_where_the_rest_does_not_fit)
{
    const double price[4] = {30, 30, 30, 30};
    static const day_mode three_mw = {4, 2.0 / 3, 3, 0};
    const day_job job = {.name = "J",
                         .segments = 3,
                         .modes = 1,
                         .mode = &three_mw,
                         .running_mode = 1,
                         .running_segments = 1,
                         .may_lose = 1};
    day d = day_new(4, 0.5, price, 0);
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    day_expect(&d, CKPD_SCENARIO_S1, 3 * 2 * 30);
    day_expect(&d, CKPD_SCENARIO_S2, 3 * 2 * 30);
    day_free(&d);
}
END_TEST

/* One of two hours is done and one is left: going on fits, beginning again would not. */
START_TEST(continuous_training_goes_on_where_only_that_fits)
{
    const double price[1] = {30};
    static const day_mode ten_mw = {16, 2, 10, 0};
    const day_job job = {.name = "J",
                         .segments = 1,
                         .modes = 1,
                         .mode = &ten_mw,
                         .running_mode = 1,
                         .running_slots = 1,
                         .running_segments = 1,
                         .may_lose = 1};
    day d = day_new(1, 1, price, 0);
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    day_expect(&d, CKPD_SCENARIO_S1, 300);
    day_expect(&d, CKPD_SCENARIO_S2, 300);
    day_free(&d);
}
END_TEST

START_TEST(work_is_given_up_where_that_is_cheaper)
{
    const double price[5] = {100, 12, 50, 50, 10}, cap[5] = {16, 16, 16, 16, 16};
    day d = running_job(price, cap);
    day_expect(&d, CKPD_SCENARIO_S4, 600);
    day_free(&d);
}
END_TEST

/* With two modes: whatever is cheaper of going on (the rule) and beginning again (no running edge).
 */
START_TEST(the_better_of_going_on_and_giving_up)
{
    static const day_mode modes[] = {{16, 1.5, 10, 1}, {8, 2.5, 6, 0.5}};
    const double cap[6] = {24, 24, 8, 24, 24, 24};
    int32_t given_up = 0, kept = 0;
    for (int32_t seed = 0; seed < 40; seed++) {
        double price[6], cost[3];
        for (int32_t t = 0; t < 6; t++) {
            price[t] = 5 + (seed * 37 + t * t * 53 + seed * t * 11) % 97;
        }
        for (int32_t way = 0; way < 3; way++) {
            const day_job job = {.name = "J",
                                 .segments = 3,
                                 .modes = 2,
                                 .mode = modes,
                                 .start_segments = 0,
                                 .running_mode = way < 2 ? 1 + seed % 2 : 0,
                                 .running_slots = 1,
                                 .running_segments = 1 + seed % 2,
                                 .may_lose = way == 0};
            day d = day_new(6, 1, price, 0);
            day_set_mw(&d, "gpu_cap", cap);
            ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
            ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
            bool found = ckpd_solution_outcome(s) == CKPD_OUTCOME_OPTIMAL;
            cost[way] = found ? ckpd_solution_cost(s) : (double)INFINITY;
            if (way == 0 && found) {
                day_expect(&d, CKPD_SCENARIO_S4, cost[0]);
            }
            ckpd_solution_free(s);
            day_free(&d);
        }
        double best = fmin(cost[1], cost[2]);
        ck_assert_msg(cost[0] == best || fabs(cost[0] - best) <= 1e-6 * best,
                      "seed %d: %g, going on %g, again %g", seed, cost[0], cost[1], cost[2]);
        given_up += cost[2] < cost[1];
        kept += cost[1] < cost[2];
    }
    ck_assert_int_ge(given_up, 3);
    ck_assert_int_ge(kept, 3);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {import_cap_with_a_price,
                                  import_cap_with_a_price_and_a_battery,
                                  site_cap_with_a_price,
                                  gpu_cap_with_a_price,
                                  caps_with_a_price_in_some_slots,
                                  deadline_with_a_price,
                                  late_in_half_hours,
                                  too_late_for_the_horizon,
                                  end_soc_with_a_price,
                                  end_soc_with_a_price_both_ways,
                                  soften_gives_every_limit_a_price,
                                  soften_costs_nothing_where_all_fits,
                                  bad_prices_are_refused,
                                  recovery_is_monotone,
                                  recovery_keeps_to_what_the_grid_leaves,
                                  recovery_passes_a_cap_with_a_price,
                                  recovery_holds_the_minimum_against_self_discharge,
                                  recovery_yields_to_unavoidable_load_only,
                                  a_plan_without_recovery_is_a_violation,
                                  work_is_lost_where_it_cannot_go_on,
                                  work_is_kept_where_that_is_cheaper,
                                  continuous_training_begins_again_where_the_rest_does_not_fit,
                                  continuous_training_goes_on_where_only_that_fits,
                                  work_is_given_up_where_that_is_cheaper,
                                  the_better_of_going_on_and_giving_up,
                                  NULL};
    return test_run(test_suite("soft limits", tests));
}
