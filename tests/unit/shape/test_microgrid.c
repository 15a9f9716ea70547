/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The microgrid against golden values that do not depend on an optimiser, and its limits. */
#include "scenario.h"

#include "shape/machine.h"

#include <stdlib.h>

enum { POINTS = 8001 };
static double net[POINTS], hz[POINTS], battery[POINTS], mechanical[POINTS];

/* A step of power from second 10 on. */
static void step_of(double deficit_w)
{
    for (int i = 0; i < POINTS; i++) {
        net[i] = i >= 1000 ? deficit_w : 0.0;
    }
}

/* Expected: rows `none` of an independent trial (docs/shaping.md gives four digits). */
START_TEST(runs_without_filler_match_the_golden_values)
{
    static const double depth_w[] = {1e6, 2e6, 3e6}, largest[] = {0.2171, 0.3681, 0.5186},
                        mean[] = {0.0816, 0.1385, 0.1945}, nadir[] = {-0.0914, -0.1358, -0.1686},
                        rocof[] = {0.5652, 0.9219, 1.2463}, peak[] = {0.4556e6, 1.0511e6, 1.6445e6},
                        energy[] = {934.8, 3989.2, 7052.6};
    scenario_context();
    ckpd_microgrid *grid = scenario_grid(NULL);
    for (int i = 0; i < 3; i++) {
        ckpd_shape *shape = scenario_shape(5600.0, depth_w[i]);
        ckpd_shape_truth truth = {.size = sizeof truth};
        ckpd_shape_metrics m = scenario_run(shape, grid, NULL, CKPD_POLICY_NONE, truth, 1);
        ck_assert_double_eq_tol(m.max_abs_hz, largest[i], 1e-4);
        ck_assert_double_eq_tol(m.mean_abs_hz, mean[i], 1e-4);
        ck_assert_double_eq_tol(m.nadir_hz, nadir[i], 1e-4);
        ck_assert_double_eq_tol(m.rocof_hz_s, rocof[i], 1e-3);
        ck_assert_double_eq_tol(m.battery_peak_charge_w, peak[i], 100.0);
        ck_assert_double_eq_tol(m.battery_charge_wh, energy[i], 0.5);
        ck_assert_int_eq(m.groups, 0);
        ck_assert_double_eq(m.waste_share, 0.0);
        ck_assert_double_nan(m.energy_per_token_j);
        ckpd_shape_free(shape);
    }
    ckpd_microgrid_free(grid);
    ckpd_context_free(context);
}
END_TEST

/* Expected: (P + K db) / (S (1/R + D) / f0 + K) = 1.4e6 / 11e6 Hz, by hand. */
START_TEST(settles_at_the_steady_state)
{
    scenario_context();
    ckpd_microgrid *grid = scenario_grid("gas-2x10");
    double steady;
    OK(ckpd_microgrid_steady_hz(grid, 1e6, &steady));
    ck_assert_double_eq_tol(steady, 1.4 / 11.0, 1e-12);
    step_of(1e6);
    OK(ckpd_microgrid_response(grid, POINTS, 0.01, net, hz, battery, mechanical));
    ck_assert_double_eq_tol(hz[POINTS - 1], steady, 1e-4);
    ck_assert_double_eq(hz[999], 0.0);
    OK(ckpd_microgrid_set(grid, "battery_power_w", 0.0));
    OK(ckpd_microgrid_steady_hz(grid, 1e6, &steady));
    ck_assert_double_eq_tol(steady, 1.0 / 7.0, 1e-12);
    OK(ckpd_microgrid_response(grid, POINTS, 0.01, net, hz, battery, mechanical));
    ck_assert_double_eq_tol(hz[POINTS - 1], steady, 1e-4);
    for (int i = 0; i < POINTS; i++) {
        ck_assert_double_eq(battery[i], 0.0);
    }
    ckpd_microgrid_free(grid);
    ckpd_context_free(context);
}
END_TEST

START_TEST(pid_governor_and_secondary_control_settle)
{
    scenario_context();
    ckpd_microgrid *grid = scenario_grid("cim-ggov1");
    double steady;
    step_of(0.5e6);
    OK(ckpd_microgrid_set(grid, "battery_power_w", 0.0));
    OK(ckpd_microgrid_steady_hz(grid, 0.5e6, &steady));
    /* Droop 4 % of valve travel, 1.5 power per travel: 0.025 / (1.5 / 0.04 + 1) per unit of 60 Hz.
     */
    ck_assert_double_eq_tol(steady, 60.0 * 0.025 / 38.5, 1e-12);
    OK(ckpd_microgrid_response(grid, POINTS, 0.01, net, hz, NULL, NULL));
    ck_assert_double_eq_tol(hz[POINTS - 1], steady, 2e-3);
    ckpd_microgrid_free(grid);

    grid = scenario_grid("gas-2x10");
    OK(ckpd_microgrid_set(grid, "secondary_per_s", 4.0));
    OK(ckpd_microgrid_response(grid, POINTS, 0.01, net, hz, NULL, NULL));
    ck_assert_double_eq_tol(hz[POINTS - 1], 0.0, 1e-3);
    ckpd_microgrid_free(grid);
    ckpd_context_free(context);
}
END_TEST

/* Expected: Routh's products 13.0 and 19.5 as printed in docs/shaping.md. */
START_TEST(refuses_unstable_and_inconsistent_machines)
{
    scenario_context();
    ckpd_microgrid *grid = scenario_grid("cim-gast");
    REFUSED(CKPD_ERR_INCONSISTENT, "cim-gast is unstable", ckpd_microgrid_check(grid));
    ck_assert_ptr_nonnull(strstr(ckpd_context_last_message(context), "= 13 above a3 a0 = 19.5"));
    step_of(1e6);
    hz[0] = 7.0;
    ck_assert_int_eq(ckpd_microgrid_response(grid, POINTS, 0.01, net, hz, NULL, NULL),
                     CKPD_ERR_INCONSISTENT);
    ck_assert_double_eq(hz[0], 7.0);
    ckpd_microgrid_free(grid);
    grid = scenario_grid(NULL);
    OK(ckpd_microgrid_check(grid));
    OK(ckpd_microgrid_set(grid, "load_w", 22e6));
    REFUSED(CKPD_ERR_INCONSISTENT, "load", ckpd_microgrid_check(grid));
    OK(ckpd_microgrid_set(grid, "load_w", 12e6));
    OK(ckpd_microgrid_set(grid, "valve_min", 1.5));
    REFUSED(CKPD_ERR_INCONSISTENT, "valve_min", ckpd_microgrid_check(grid));
    OK(ckpd_microgrid_set(grid, "valve_min", 0.2));
    OK(ckpd_microgrid_set(grid, "battery_soc_start", 0.05));
    REFUSED(CKPD_ERR_INCONSISTENT, "battery_soc_start", ckpd_microgrid_check(grid));
    REFUSED(CKPD_ERR_RANGE, "inertia_s", ckpd_microgrid_set(grid, "inertia_s", 0.0));
    REFUSED(CKPD_ERR_NOT_FINITE, "droop", ckpd_microgrid_set(grid, "droop", NAN));
    net[5] = NAN;
    OK(ckpd_microgrid_set(grid, "battery_soc_start", 0.5));
    REFUSED(CKPD_ERR_NOT_FINITE, "deficit_w",
            ckpd_microgrid_response(grid, POINTS, 0.01, net, hz, NULL, NULL));
    ckpd_microgrid_free(grid);
    REFUSED(CKPD_ERR_UNKNOWN_NAME, "cim-gast", ckpd_microgrid_new(&grid, context, "cim-gas"));
    ckpd_context_free(context);
}
END_TEST

/* Routh's verdict against the machine itself: a small push grows or dies away. */
START_TEST(stability_test_agrees_with_the_response)
{
    scenario_context();
    int32_t stable_presets = 0;
    for (int32_t i = 0; i < ckpd_microgrid_preset_count(); i++) {
        for (int32_t secondary = 0; secondary < 3; secondary++) {
            ckpd_microgrid *grid = scenario_grid(ckpd_microgrid_preset_name(i));
            ck_assert_int_gt((int)strlen(ckpd_microgrid_preset_source(i)), 10);
            OK(ckpd_microgrid_set(grid, "battery_power_w", 0.0));
            OK(ckpd_microgrid_set(grid, "secondary_per_s", 40.0 * secondary));
            OK(ckpd_microgrid_set(grid, "valve_rate_per_s", (double)INFINITY));
            bool stable = ckpd_microgrid_check(grid) == CKPD_OK;
            stable_presets += stable && secondary == 0;
            ckpd__machine machine;
            ckpd__machine_start(&machine, grid);
            machine.x[STATE_SPEED] = 1e-9; /* far from every limit */
            double early = 0.0, late = 0.0;
            for (int k = 0; k < 40000; k++) {
                ckpd__machine_step(&machine, 0.005, 0.0, 0.0);
                double size = fabs(machine.x[STATE_SPEED]);
                early = k < 2000 ? fmax(early, size) : early;
                late = k >= 38000 ? fmax(late, size) : late;
            }
            ck_assert_msg(stable == (late < early),
                          "%s with secondary %d: check says %d, %g then %g",
                          ckpd_microgrid_preset_name(i), secondary, stable, early, late);
            ckpd_microgrid_free(grid);
        }
    }
    ck_assert_int_eq(stable_presets, 5);
    ckpd_context_free(context);
}
END_TEST

START_TEST(valve_and_battery_saturate_without_windup)
{
    scenario_context();
    ckpd_microgrid *grid = scenario_grid(NULL);
    ckpd__machine machine;
    ckpd__machine_start(&machine, grid);
    /* 14 MW go missing: turbine to its lower limit, battery to its full power. */
    for (int i = 0; i < 2000; i++) {
        ckpd__machine_step(&machine, 0.01, 14e6, 14e6);
        ck_assert_double_ge(machine.x[STATE_VALVE], 0.2 - 0.05);
        ck_assert_double_le(machine.x[STATE_BATTERY], 4e6 * (1.0 + 1e-9));
    }
    ck_assert_int_eq(machine.saturated, 1);
    ck_assert_double_eq_tol(machine.x[STATE_BATTERY], 4e6, 1.0);
    ck_assert_double_eq_tol(machine.x[STATE_TURBINE], 0.2, 0.01);
    /* Back again: no wound-up valve holds it there. */
    for (int i = 0; i < 6000; i++) {
        ckpd__machine_step(&machine, 0.01, 0.0, 0.0);
    }
    ck_assert_double_eq_tol(machine.x[STATE_SPEED], 0.0, 1e-5);
    ckpd_microgrid_free(grid);
    ckpd_context_free(context);
}
END_TEST

/* Charge less discharge is the integral of battery power, summed here by the trapezoidal rule. */
START_TEST(battery_energy_balances)
{
    scenario_context();
    ckpd_microgrid *grid = scenario_grid(NULL);
    ckpd__machine machine;
    ckpd__machine_start(&machine, grid);
    double integral_wh = 0.0, start_wh = machine.soc_wh;
    for (int i = 0; i < 20000; i++) {
        double t = 0.01 * i, before = machine.x[STATE_BATTERY];
        ckpd__machine_step(&machine, 0.01, 3e6 * sin(0.7 * t), 3e6 * sin(0.7 * (t + 0.01)));
        integral_wh += 0.5 * (before + machine.x[STATE_BATTERY]) * 0.01 / 3600.0;
    }
    ck_assert_double_gt(machine.charge_wh, 100.0);
    ck_assert_double_gt(machine.discharge_wh, 100.0);
    ck_assert_double_eq_tol(machine.charge_wh - machine.discharge_wh, integral_wh,
                            1e-9 * (machine.charge_wh + machine.discharge_wh));
    ck_assert_double_eq_tol(machine.soc_wh - start_wh,
                            0.95 * machine.charge_wh - machine.discharge_wh / 0.95,
                            1e-9 * machine.charge_wh);
    ckpd_microgrid_free(grid);
    ckpd_context_free(context);
}
END_TEST

START_TEST(full_battery_takes_no_more)
{
    scenario_context();
    ckpd_microgrid *grid = scenario_grid(NULL);
    OK(ckpd_microgrid_set(grid, "battery_energy_wh", 1000.0));
    OK(ckpd_microgrid_set(grid, "battery_soc_start", 0.5));
    step_of(3e6);
    OK(ckpd_microgrid_response(grid, POINTS, 0.01, net, hz, battery, NULL));
    double charged = 0.0;
    for (int i = 1; i < POINTS; i++) {
        charged += 0.5 * (battery[i] + battery[i - 1]) * 0.01 / 3600.0;
    }
    /* Room for 400 Wh at 95 %; what the converter still carries when it is told to stop comes on
     * top. */
    ck_assert_double_ge(charged, 400.0 / 0.95);
    ck_assert_double_le(charged, 400.0 / 0.95 + 4e6 * 0.1 / 3600.0);
    ck_assert_double_eq_tol(battery[POINTS - 1], 0.0, 1.0);
    ckpd_microgrid_free(grid);
    ckpd_context_free(context);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {runs_without_filler_match_the_golden_values,
                                  settles_at_the_steady_state,
                                  pid_governor_and_secondary_control_settle,
                                  refuses_unstable_and_inconsistent_machines,
                                  stability_test_agrees_with_the_response,
                                  valve_and_battery_saturate_without_windup,
                                  battery_energy_balances,
                                  full_battery_takes_no_more,
                                  NULL};
    return test_run(test_suite("shape microgrid", tests));
}
