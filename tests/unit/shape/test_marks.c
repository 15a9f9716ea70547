/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Limits of ISO 8528-5 G2 and IEEE 1547 as passed and crossed. Without a battery the machine
 * settles at P / 7 MW Hz (S (1/R + D) / f0 = 20 MVA * 21 / 60 Hz), by hand.
 */
#include "scenario.h"

static ckpd_microgrid *lone(double valve_min)
{
    ckpd_microgrid *grid = scenario_grid(NULL);
    OK(ckpd_microgrid_set(grid, "battery_power_w", 0.0));
    OK(ckpd_microgrid_set(grid, "valve_min", valve_min));
    return grid;
}

/* Nothing but the dip; with a sign of -1 a rise of load, as a trace. */
static ckpd_shape_metrics dip(const ckpd_microgrid *grid, double depth_w, double duration_s,
                              double sign)
{
    ckpd_shape *shape = scenario_shape(0.0, -1.0);
    ckpd_power_event *event = scenario_event(20.0, duration_s, depth_w);
    double fall_s = duration_s > 20.0 ? 15.0 : 5.0; /* gently: little overshoot */
    OK(ckpd_power_event_set(event, "fall_s", fall_s));
    if (sign < 0.0) {
        const double t[] = {0.0, fall_s, duration_s, duration_s + 1.0};
        const double w[] = {0.0, -depth_w, -depth_w, 0.0};
        OK(ckpd_power_event_set_trace(event, 4, t, w));
    }
    OK(ckpd_shape_add_event(shape, event));
    ckpd_power_event_free(event);
    ckpd_shape_truth truth = {.size = sizeof truth};
    ckpd_shape_metrics m = scenario_run(shape, grid, NULL, CKPD_POLICY_NONE, truth, 1);
    ckpd_shape_free(shape);
    return m;
}

START_TEST(iso_8528_5_g2)
{
    scenario_context();
    ckpd_microgrid *grid = lone(0.2);
    ckpd_shape_metrics m = dip(grid, 6e6, 30.0, 1.0); /* 0.857 Hz: within 0.9 */
    ck_assert_double_eq_tol(m.zenith_hz, 6.0 / 7.0, 0.04);
    ck_assert_int_eq(m.iso_g2, 1);
    ck_assert_double_eq(m.iso_recovery_s, 0.0);
    m = dip(grid, 6.8e6, 30.0, 1.0); /* 0.971 Hz for 16 s and more */
    ck_assert_int_eq(m.iso_g2, 0);
    ck_assert_double_gt(m.iso_recovery_s, 14.0);
    ck_assert_double_lt(m.iso_recovery_s, 25.0);
    ck_assert_int_eq(m.ieee_1547, 1);
    m = dip(grid, 6.8e6, 8.0, 1.0); /* beyond the band, but back within 5 s */
    ck_assert_double_gt(m.iso_recovery_s, 1.0);
    ck_assert_double_lt(m.iso_recovery_s, 5.0);
    ck_assert_int_eq(m.iso_g2, 1);
    ckpd_microgrid_free(grid);
    ckpd_context_free(context);
}
END_TEST

START_TEST(ieee_1547)
{
    scenario_context();
    ckpd_microgrid *grid = lone(0.0);
    ck_assert_int_eq(dip(grid, 8e6, 330.0, 1.0).ieee_1547, 1); /* 1.143 Hz */
    ck_assert_int_eq(dip(grid, 9e6, 290.0, 1.0).ieee_1547, 1); /* 1.286 Hz for less than 300 s */
    ck_assert_int_eq(dip(grid, 9e6, 330.0, 1.0).ieee_1547, 0); /* for more */
    ckpd_shape_metrics m = dip(grid, 11.9e6, 30.0, 1.0);       /* 1.7 Hz */
    ck_assert_int_eq(m.ieee_1547, 1);
    ckpd_microgrid_free(grid);
    grid = lone(0.2); /* only 8 MW down: the rest accelerates the machine past 62 Hz */
    m = dip(grid, 10e6, 30.0, 1.0);
    ck_assert_double_gt(m.zenith_hz, 2.0);
    ck_assert_int_eq(m.ieee_1547, 0);
    ck_assert_int_eq(m.saturated, 1);
    m = dip(grid, 8e6, 330.0, -1.0); /* -1.143 Hz: above 58.5 Hz */
    ck_assert_double_eq_tol(m.nadir_hz, -8.0 / 7.0, 0.05);
    ck_assert_int_eq(m.ieee_1547, 1);
    m = dip(grid, 11e6, 30.0, -1.0); /* 9 MW up are all there is: below 56.5 Hz */
    ck_assert_double_lt(m.nadir_hz, -3.5);
    ck_assert_int_eq(m.ieee_1547, 0);
    ck_assert_int_eq(m.iso_g2, 0);
    ckpd_microgrid_free(grid);
    ckpd_context_free(context);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {iso_8528_5_g2, ieee_1547, NULL};
    return test_run(test_suite("shape marks", tests));
}
