/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Small reference cases whose right values were found outside of this project: B0, b0 and the
 * battery, grid and price cases with glpsol on a MILP of their own, J0 and the data-centre cases by
 * hand. MW, MWh, money per MWh.
 */
#include "support/day.h"

#include <math.h>
#include <string.h>

static const double b0_price[4] = {20, 60, 20, 60};
static const day_battery b0 = {.energy_mwh = 20,
                               .power_mw = 10,
                               .eta = 0.9,
                               .start_mwh = 10,
                               .end_mwh = 10,
                               .terminal = "at_least"};

static day day_b0(void)
{
    day d = day_new(4, 1, b0_price, 10);
    day_set(&d, "import_cap_kw", 100e3);
    return d;
}

/* B0 with a battery, solved and compared. */
static void expect_battery(day_battery battery, double cost)
{
    day d = day_b0();
    day_add_battery(&d, &battery);
    day_expect(&d, CKPD_SCENARIO_S6, cost);
    day_expect(&d, CKPD_SCENARIO_S4, 1600);
    day_free(&d);
}

START_TEST(b0_without_battery)
{
    day d = day_b0();
    for (int32_t scenario = CKPD_SCENARIO_S1; scenario <= CKPD_SCENARIO_S4; scenario++) {
        day_expect(&d, scenario, 1600);
    }
    day_free(&d);
}
END_TEST

START_TEST(b0_with_battery)
{
    day_battery battery = b0;
    expect_battery(battery, 1028);
    battery.terminal = "free";
    expect_battery(battery, 671.604938271605);
}
END_TEST

/* On charge and on discharge: counted once each. */
START_TEST(a09_throughput_cost_is_not_counted_twice)
{
    day_battery battery = b0;
    battery.throughput_cost = 15;
    expect_battery(battery, 1571);
    battery.throughput_cost = 17;
    expect_battery(battery, 1600);

    day d = day_b0();
    battery.throughput_cost = 15;
    day_add_battery(&d, &battery);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S6, NULL);
    double flows = day_figure(s, "charge_mwh") + day_figure(s, "discharge_mwh");
    ck_assert_double_gt(flows, 1);
    ck_assert_double_eq_tol(day_figure(s, "throughput_cost"), 15 * flows, 1e-9);
    ck_assert_double_eq_tol(day_figure(s, "import_cost") + day_figure(s, "throughput_cost"),
                            day_figure(s, "cost"), 1e-9);
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

START_TEST(a18_quarter_hours_give_the_same)
{
    double price[16];
    for (int32_t t = 0; t < 16; t++) {
        price[t] = b0_price[t / 4];
    }
    day d = day_new(16, 0.25, price, 10);
    day_add_battery(&d, &b0);
    day_expect(&d, CKPD_SCENARIO_S6, 1028);
    day_expect(&d, CKPD_SCENARIO_S4, 1600);
    day_free(&d);
}
END_TEST

START_TEST(a36_magnitudes_do_not_decide)
{
    static const double factors[] = {1, 1e-6, 1e6};
    double charge[4];
    for (size_t i = 0; i < 3; i++) {
        double price[4];
        for (int32_t t = 0; t < 4; t++) {
            price[t] = b0_price[t] * factors[i];
        }
        day d = day_new(4, 1, price, 10);
        day_add_battery(&d, &b0);
        ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S6, NULL);
        ck_assert_double_eq_tol(ckpd_solution_cost(s) / factors[i], 1028, 1e-6 * 1028);
        for (int32_t t = 0; t < 4; t++) {
            double net = day_value(s, "charge_kw", t) - day_value(s, "discharge_kw", t);
            charge[t] = i == 0 ? net : charge[t];
            ck_assert_double_eq_tol(net, charge[t], 1e-3);
        }
        ckpd_solution_free(s);
        day_free(&d);
    }
}
END_TEST

/* 1 h with more renewables than load: burning the surplus in the battery would dodge the penalty.
 */
START_TEST(a01_surplus_is_curtailed_not_burnt)
{
    const double price[1] = {40};
    const double res[1] = {15};
    day d = day_new(1, 1, price, 10);
    day_set_mw(&d, "wind_kw", res);
    day_set(&d, "curtailment_penalty_per_mwh", 10);
    day_battery battery = b0;
    battery.power_mw = 20;
    battery.terminal = "equal";
    day_add_battery(&d, &battery);
    day_expect(&d, CKPD_SCENARIO_S6, 50);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S6, NULL);
    ck_assert_double_eq(day_value(s, "curtailment_kw", 0), 5000);
    ck_assert_double_eq(day_value(s, "charge_kw", 0) * day_value(s, "discharge_kw", 0), 0);
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

START_TEST(a02_negative_price_burns_nothing)
{
    const double price[1] = {-50};
    day d = day_new(1, 1, price, 10);
    day_battery battery = b0;
    battery.power_mw = 20;
    battery.terminal = "equal";
    day_add_battery(&d, &battery);
    day_expect(&d, CKPD_SCENARIO_S6, -500);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S6, NULL);
    ck_assert_double_eq(day_value(s, "charge_kw", 0) * day_value(s, "discharge_kw", 0), 0);
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

START_TEST(a05_export_above_import_price)
{
    const double price[1] = {30};
    static const double caps[] = {100e3, (double)INFINITY};
    for (size_t i = 0; i < 2; i++) {
        day d = day_new(1, 1, price, 10);
        day_set(&d, "export_price_per_mwh", 100);
        day_set(&d, "import_cap_kw", caps[i]);
        day_set(&d, "export_cap_kw", caps[i]);
        day_expect(&d, CKPD_SCENARIO_S4, 300);
        day_free(&d);
    }
    /* with 15 MW of wind 5 are sold: -500; with a battery that may end empty, 9 MWh more */
    const double res[1] = {15};
    day d = day_new(1, 1, price, 10);
    day_set_mw(&d, "wind_kw", res);
    day_set(&d, "export_price_per_mwh", 100);
    day_set(&d, "export_cap_kw", (double)INFINITY);
    day_battery battery = b0;
    battery.terminal = "free";
    day_add_battery(&d, &battery);
    day_expect(&d, CKPD_SCENARIO_S4, -500);
    day_expect(&d, CKPD_SCENARIO_S6, -500 - 900);
    day_free(&d);
}
END_TEST

START_TEST(a07_losses_cost_also_at_negative_prices)
{
    const double price[4] = {-20, -20, -20, -20};
    day d = day_new(4, 1, price, 10);
    day_set(&d, "import_cap_kw", 100e3);
    day_add_battery(&d, &b0);
    day_expect(&d, CKPD_SCENARIO_S6, -1069.13580246914);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S6, NULL);
    for (int32_t t = 0; t < 4; t++) {
        double in = day_value(s, "charge_kw", t);
        double out = day_value(s, "discharge_kw", t);
        double stored = day_value(s, "soc_kwh", t + 1) - day_value(s, "soc_kwh", t);
        ck_assert_double_ge(in - out - stored, -1e-9);
        ck_assert_double_eq(in * out, 0);
    }
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

START_TEST(a11_low_start_is_refused_or_recovers)
{
    day_battery battery = b0;
    battery.soc_min_mwh = 3;
    battery.start_mwh = 2.8;
    battery.recover = 1;
    day d = day_b0();
    day_add_battery(&d, &battery);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S6, NULL);
    ck_assert_int_eq(ckpd_solution_outcome(s), CKPD_OUTCOME_OPTIMAL);
    ck_assert_double_eq(day_value(s, "soc_kwh", 0), 2800);
    /* back at the minimum in the first hour, and never below it again */
    for (int32_t t = 1; t <= 4; t++) {
        ck_assert_double_ge(day_value(s, "soc_kwh", t), 3000 - 1e-4);
    }
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

START_TEST(a12_unreachable_end_is_named)
{
    day_battery battery = b0;
    battery.start_mwh = 4;
    battery.end_mwh = 18;
    battery.power_mw = 2;
    day d = day_b0();
    day_add_battery(&d, &battery);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S6, NULL);
    ck_assert_int_eq(ckpd_solution_outcome(s), CKPD_OUTCOME_INFEASIBLE);
    ck_assert_int_eq(ckpd_solution_is_proven(s), 1);
    ck_assert_int_eq(ckpd_solution_cause_count(s), 1);
    ck_assert_str_eq(ckpd_solution_cause(s, 0), "end SOC: 18000 kWh needed, 11200 reachable");
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

START_TEST(a13_stored_energy_has_its_value)
{
    static const double values[] = {0, 30, 100};
    double last = -1;
    for (size_t i = 0; i < 3; i++) {
        day_battery battery = b0;
        battery.terminal = "free";
        battery.end_value = values[i];
        day d = day_b0();
        day_add_battery(&d, &battery);
        ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S6, NULL);
        double end = day_value(s, "soc_kwh", 4);
        ck_assert_double_ge(end, last - 1e-6);
        ck_assert_double_eq_tol(day_figure(s, "end_value"), values[i] * end / 1000, 1e-9);
        if (i == 0) {
            ck_assert_double_eq_tol(ckpd_solution_cost(s), 671.604938271605, 1e-6);
        }
        last = end;
        ckpd_solution_free(s);
        day_free(&d);
    }
    ck_assert_double_gt(last, 1000);
}
END_TEST

START_TEST(a16_zero_size_battery)
{
    for (int32_t kind = 1; kind < 4; kind++) {
        day_battery battery = b0;
        if (kind & 1) {
            battery.energy_mwh = battery.start_mwh = battery.end_mwh = 0;
        }
        if (kind & 2) {
            battery.power_mw = 0;
        }
        day d = day_b0();
        day_add_battery(&d, &battery);
        day_expect(&d, CKPD_SCENARIO_S6, 1600);
        ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S6, NULL);
        ck_assert_double_eq(day_value(s, "soc_kwh", 4), 1000 * battery.start_mwh);
        ckpd_solution_free(s);
        day_free(&d);
    }
}
END_TEST

START_TEST(a20_a21_huge_caps_change_nothing)
{
    static const double caps[] = {200e3, 1e12, (double)INFINITY};
    double charge[3][4];
    for (size_t i = 0; i < 3; i++) {
        day d = day_b0();
        day_set(&d, "import_cap_kw", caps[i]);
        day_set(&d, "site_cap_kw", caps[i]);
        day_add_battery(&d, &b0);
        day_expect(&d, CKPD_SCENARIO_S6, 1028);
        ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S6, NULL);
        for (int32_t t = 0; t < 4; t++) {
            charge[i][t] = day_value(s, "charge_kw", t) - day_value(s, "discharge_kw", t);
            ck_assert_double_eq(day_value(s, "charge_kw", t) * day_value(s, "discharge_kw", t), 0);
            ck_assert_double_eq(charge[i][t], charge[0][t]);
        }
        ckpd_solution_free(s);
        day_free(&d);
    }
}
END_TEST

/* Below minus the penalty it pays to buy and curtail at once: 10 MW bought, all 15 MW curtailed. */
START_TEST(importing_while_curtailing)
{
    const double price[1] = {-50};
    const double res[1] = {15};
    day d = day_new(1, 1, price, 10);
    day_set_mw(&d, "solar_kw", res);
    day_set(&d, "curtailment_penalty_per_mwh", 10);
    day_expect(&d, CKPD_SCENARIO_S4, -500 + 150);
    day_set(&d, "import_cap_kw", 4000);
    ckpd_problem_free(d.problem);
    d.problem = NULL;
    day_expect(&d, CKPD_SCENARIO_S4, -200 + 90);
    day_free(&d);
}
END_TEST

/* --- status ----------------------------------------------------------------------------------- */

START_TEST(d50_caps_too_small_are_named)
{
    static const char *const series[] = {"import_cap_kw", "site_cap_kw"};
    static const char *const causes[] = {"grid cap in slots 0-3: 5000 kW short",
                                         "site cap in slots 0-3: 5000 kW short"};
    for (size_t i = 0; i < 2; i++) {
        day d = day_b0();
        day_set(&d, series[i], 5000);
        ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
        ck_assert_int_eq(ckpd_solution_outcome(s), CKPD_OUTCOME_INFEASIBLE);
        ck_assert_int_eq(ckpd_solution_is_proven(s), 1);
        ck_assert_int_eq(ckpd_solution_cause_count(s), 1);
        ck_assert_str_eq(ckpd_solution_cause(s, 0), causes[i]);
        ck_assert_ptr_null(ckpd_solution_cause(s, 1));
        ck_assert_ptr_null(ckpd_solution_plan(s));
        ck_assert(isnan(ckpd_solution_cost(s)));
        ckpd_solution_free(s);
        day_free(&d);
    }
}
END_TEST

START_TEST(d53_results_are_clean)
{
    day d = day_b0();
    const double res[4] = {10, 3, 25, 0};
    day_set_mw(&d, "wind_kw", res);
    day_add_battery(&d, &b0);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S6, NULL);
    static const char *const names[] = {"import_kw",    "export_kw", "curtailment_kw", "charge_kw",
                                        "discharge_kw", "soc_kwh",   "it_power_kw"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (int32_t t = 0; t < 4; t++) {
            double value = day_value(s, names[i], t);
            ck_assert_msg(value == 0 ? !signbit(value) : value > 1e-6, "%s[%d] = %g", names[i],
                          (int)t, value);
        }
    }
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

/* --- jobs ------------------------------------------------------------------------------------- */

static const double j0_price[6] = {10, 45, 12, 50, 50, 10};
static const day_mode ten_mw[] = {{8, 2.0, 10, 1}};

START_TEST(j0_runs_whole_segments)
{
    day d = day_new(6, 1, j0_price, 0);
    const day_job job = {.name = "J0", .segments = 1, .modes = 1, .mode = ten_mw};
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    day_expect(&d, CKPD_SCENARIO_S4, 550);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ckpd_step step = {.size = sizeof step};
    ck_assert_int_eq(ckpd_plan_step_count(ckpd_solution_plan(s), 0), 1);
    ck_assert_int_eq(ckpd_plan_get_step(ckpd_solution_plan(s), 0, 0, &step), CKPD_OK);
    ck_assert_int_eq(step.from_slot, 0);
    ck_assert_int_eq(step.to_slot, 2);
    double share[7];
    ck_assert_int_eq(ckpd_solution_progress(s, 0, share, 7), CKPD_OK);
    ck_assert_double_eq(share[0], 0);
    ck_assert_double_eq(share[1], 0.5);
    ck_assert_double_eq(share[6], 1);
    ckpd_solution_free(s);
    day_free(&d);

    /* with a checkpoint every hour: the first and the last hour; so does S3 */
    const day_mode hourly[] = {{8, 1.0, 10, 1}};
    const day_job two = {.name = "J0", .segments = 2, .modes = 1, .mode = hourly};
    d = day_new(6, 1, j0_price, 0);
    ck_assert_int_eq(day_add_job(&d, &two, NULL), CKPD_OK);
    day_expect(&d, CKPD_SCENARIO_S4, 200);
    day_expect(&d, CKPD_SCENARIO_S3, 200);
    day_expect(&d, CKPD_SCENARIO_S1, 550);
    day_free(&d);
}
END_TEST

START_TEST(c39_running_edge_goes_on)
{
    /* hour 1 has run: hour 2 must, and the joined cost is that of J0 */
    day d = day_new(5, 1, j0_price + 1, 0);
    const day_job rest = {.name = "J0",
                          .segments = 1,
                          .modes = 1,
                          .mode = ten_mw,
                          .running_mode = 1,
                          .running_slots = 1,
                          .running_segments = 1};
    ck_assert_int_eq(day_add_job(&d, &rest, NULL), CKPD_OK);
    for (int32_t scenario = CKPD_SCENARIO_S1; scenario <= CKPD_SCENARIO_S4; scenario++) {
        day_expect(&d, scenario, 550 - 100);
    }
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ckpd_step step = {.size = sizeof step};
    ck_assert_int_eq(ckpd_plan_get_step(ckpd_solution_plan(s), 0, 0, &step), CKPD_OK);
    ck_assert_int_eq(step.from_slot, 0);
    ck_assert_int_eq(step.to_slot, 1);
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

START_TEST(f75_forbidden_interruption_is_a_cause)
{
    day d = day_new(5, 1, j0_price + 1, 0);
    double cap[5] = {0, 8, 8, 8, 8};
    day_set_mw(&d, "gpu_cap", cap);
    const day_job rest = {.name = "J0",
                          .segments = 1,
                          .modes = 1,
                          .mode = ten_mw,
                          .running_mode = 1,
                          .running_slots = 1,
                          .running_segments = 1};
    ck_assert_int_eq(day_add_job(&d, &rest, NULL), CKPD_OK);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ck_assert_int_eq(ckpd_solution_outcome(s), CKPD_OUTCOME_INFEASIBLE);
    ck_assert_int_eq(ckpd_solution_cause_count(s), 1);
    ck_assert_str_eq(ckpd_solution_cause(s, 0), "GPU cap in slots 0-0: 8 GPUs short");
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

START_TEST(f72_pue_counts_once)
{
    day d = day_b0();
    day_set(&d, "pue", 1.3);
    day_expect(&d, CKPD_SCENARIO_S4, 2080);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ck_assert_double_eq(day_value(s, "it_power_kw", 0), 10000);
    ck_assert_double_eq(day_value(s, "site_load_kw", 0), 13000);
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

/* Modes of 8, 16 and 32 GPUs with a cap of 20: the 16-GPU mode, never a blend. */
START_TEST(f76_modes_are_whole)
{
    const day_mode modes[] = {{32, 1.0, 32, 0}, {16, 2.0, 16, 0}, {8, 4.0, 8, 0}};
    const double price[4] = {10, 10, 100, 100};
    const day_job job = {.name = "job", .segments = 1, .modes = 3, .mode = modes};
    day d = day_new(4, 1, price, 0);
    day_set(&d, "gpu_cap", 20);
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    day_expect(&d, CKPD_SCENARIO_S4, 320);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ck_assert_double_eq(day_value(s, "gpus", 0), 16);
    ckpd_solution_free(s);
    ck_assert_int_eq(ckpd_problem_set_gpu_cap(d.problem, 7), CKPD_OK);
    s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ck_assert_int_eq(ckpd_solution_outcome(s), CKPD_OUTCOME_INFEASIBLE);
    ck_assert_str_eq(ckpd_solution_cause(s, 0),
                     "GPU cap: the smallest mode of job 'job' needs 8 GPUs, at most 7 are allowed");
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        b0_without_battery,
        b0_with_battery,
        a01_surplus_is_curtailed_not_burnt,
        a02_negative_price_burns_nothing,
        a05_export_above_import_price,
        a07_losses_cost_also_at_negative_prices,
        a09_throughput_cost_is_not_counted_twice,
        a11_low_start_is_refused_or_recovers,
        a12_unreachable_end_is_named,
        a13_stored_energy_has_its_value,
        a16_zero_size_battery,
        a18_quarter_hours_give_the_same,
        a20_a21_huge_caps_change_nothing,
        a36_magnitudes_do_not_decide,
        importing_while_curtailing,
        d50_caps_too_small_are_named,
        d53_results_are_clean,
        j0_runs_whole_segments,
        c39_running_edge_goes_on,
        f72_pue_counts_once,
        f75_forbidden_interruption_is_a_cause,
        f76_modes_are_whole,
        NULL,
    };
    return test_run(test_suite("reference", tests));
}
