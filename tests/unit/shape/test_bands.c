/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Acceptance bands: reductions published in arXiv 2611.12621 against no scheduling, means of five
 * seeds, on the scenarios of docs/shaping.md. The limits are the paper's lower ends, not figures of
 * this library.
 */
#include "scenario.h"

/* Slow runs (sanitizers) average fewer seeds. */
#define SEEDS (test_fast() ? 2 : 5)

static const char *const label[] = {"A", "B", "C"};

static void report(int i, const char *what, const ckpd_shape_metrics *m,
                   const ckpd_shape_metrics *none)
{
    printf("%s %-18s max|df| %5.1f %%  mean|df| %5.1f %%  battery peak %5.1f %%  energy %5.1f %%  "
           "tracking %.3f MW  waste %.1f %%  stretch %.0f %%\n",
           label[i], what, percent_down(m->max_abs_hz, none->max_abs_hz),
           percent_down(m->mean_abs_hz, none->mean_abs_hz),
           percent_down(m->battery_peak_charge_w, none->battery_peak_charge_w),
           percent_down(m->battery_charge_wh, none->battery_charge_wh), m->tracking_w / 1e6,
           100.0 * m->waste_share, 100.0 * m->stretch_max);
}

/* Bands 1, 2, 3 and 5. */
START_TEST(reductions_lie_in_the_published_bands)
{
    int i = _i;
    scenario_context();
    ckpd_shape *shape = scenario_shape(5600.0, 1e6 * (i + 1));
    ckpd_microgrid *grid = scenario_grid(NULL);
    ckpd_shape_metrics none = scenario_policy(shape, grid, CKPD_POLICY_NONE, 1, 1, 1);
    ckpd_shape_metrics reactive =
        scenario_policy(shape, grid, CKPD_POLICY_GREEDY_REACTIVE, 1, 1, SEEDS);
    ckpd_shape_metrics predictive =
        scenario_policy(shape, grid, CKPD_POLICY_GREEDY_PREDICTIVE, 1, 1, SEEDS);
    ckpd_shape_metrics plain = scenario_policy(shape, grid, CKPD_POLICY_PLAN, 0, 0, SEEDS);
    ckpd_shape_metrics early = scenario_policy(shape, grid, CKPD_POLICY_PLAN, 1, 0, SEEDS);
    ckpd_shape_metrics full = scenario_policy(shape, grid, CKPD_POLICY_PLAN, 1, 1, SEEDS);
    report(i, "greedy reactive", &reactive, &none);
    report(i, "greedy predictive", &predictive, &none);
    report(i, "plan", &plain, &none);
    report(i, "plan + early", &early, &none);
    report(i, "plan + early + ret", &full, &none);

    ck_assert_double_ge(percent_down(full.max_abs_hz, none.max_abs_hz), 41.6);
    ck_assert_double_ge(percent_down(full.mean_abs_hz, none.mean_abs_hz), 68.5);
    ck_assert_double_ge(percent_down(full.battery_peak_charge_w, none.battery_peak_charge_w), 65.1);
    ck_assert_double_ge(percent_down(full.battery_charge_wh, none.battery_charge_wh), 89.7);
    if (i == 0) {
        ck_assert_double_eq(full.battery_peak_charge_w, 0.0);
        ck_assert_double_eq(full.battery_charge_wh, 0.0);
        ck_assert_double_eq(early.battery_charge_wh, 0.0);
    } else {
        ck_assert_double_lt(early.battery_charge_wh, plain.battery_charge_wh);
    }
    ck_assert_double_lt(full.max_abs_hz, fmin(reactive.max_abs_hz, predictive.max_abs_hz));
    ck_assert_double_lt(full.mean_abs_hz, fmin(reactive.mean_abs_hz, predictive.mean_abs_hz));
    ck_assert_double_le(full.stretch_max, 1.99);
    ck_assert_double_le(full.waste_share, 0.074);
    ck_assert_int_eq(full.iso_g2, 1);
    ck_assert_int_eq(full.ieee_1547, 1);
    ck_assert_double_gt(full.tokens, 0.0);
    ck_assert_double_gt(full.energy_per_token_j, 0.0);
    ckpd_microgrid_free(grid);
    ckpd_shape_free(shape);
    ckpd_context_free(context);
}
END_TEST

/* Band 3, second half: with a pool that is far too small no policy stands out. */
START_TEST(advantage_vanishes_under_saturation)
{
    scenario_context();
    ckpd_shape *shape = scenario_shape(1400.0, 3e6);
    ckpd_microgrid *grid = scenario_grid(NULL);
    ckpd_shape_metrics none = scenario_policy(shape, grid, CKPD_POLICY_NONE, 1, 1, 1);
    ckpd_shape_metrics greedy =
        scenario_policy(shape, grid, CKPD_POLICY_GREEDY_PREDICTIVE, 1, 1, SEEDS);
    ckpd_shape_metrics full = scenario_policy(shape, grid, CKPD_POLICY_PLAN, 1, 1, SEEDS);
    report(2, "1400 GPUs, greedy", &greedy, &none);
    report(2, "1400 GPUs, plan", &full, &none);
    ck_assert_double_le(fabs(percent_down(full.max_abs_hz, none.max_abs_hz) -
                             percent_down(greedy.max_abs_hz, none.max_abs_hz)),
                        5.0);
    ckpd_microgrid_free(grid);
    ckpd_shape_free(shape);
    ckpd_context_free(context);
}
END_TEST

/* Band 4: tracking at +-0.5 MW of depth error, lower layer off and on. */
START_TEST(lower_layer_cuts_the_tracking_error)
{
    scenario_context();
    ckpd_microgrid *grid = scenario_grid(NULL);
    double sum = 0.0;
    for (int i = 0; i < 4; i++) {
        ckpd_shape *shape = scenario_shape(5600.0, i < 2 ? 1e6 : 2e6);
        ckpd_shape_plan *plan;
        OK(ckpd_shape_plan_new(&plan, shape, NULL, NULL));
        for (double late = 0.0; late <= (test_fast() ? 0.0 : 0.5); late += 0.25) {
            ckpd_shape_truth truth = {.size = sizeof truth,
                                      .depth_error_w = i % 2 != 0 ? 0.5e6 : -0.5e6,
                                      .onset_error_s = late};
            OK(ckpd_shape_set(shape, "correct", 0.0));
            double off = scenario_run(shape, grid, plan, CKPD_POLICY_PLAN, truth, SEEDS).tracking_w;
            OK(ckpd_shape_set(shape, "correct", 1.0));
            double on = scenario_run(shape, grid, plan, CKPD_POLICY_PLAN, truth, SEEDS).tracking_w;
            printf("%s %+.1f MW, onset %.2f s late: tracking %.3f -> %.3f MW (%.0f %% less)\n",
                   label[i / 2], truth.depth_error_w / 1e6, late, off / 1e6, on / 1e6,
                   percent_down(on, off));
            ck_assert_double_le(on, off);
            if (late == 0.0) {
                ck_assert_double_ge(percent_down(on, off), 35.0);
                sum += percent_down(on, off);
            }
        }
        ckpd_shape_plan_free(plan);
        ckpd_shape_free(shape);
    }
    ck_assert_double_ge(sum / 4.0, 40.0);
    ck_assert_double_le(sum / 4.0, 65.0);
    /* Without a depth error it may not harm either. */
    for (int i = 0; i < 3; i++) {
        ckpd_shape *shape = scenario_shape(5600.0, 1e6 * (i + 1));
        ckpd_shape_plan *plan;
        ckpd_shape_truth truth = {.size = sizeof truth};
        OK(ckpd_shape_plan_new(&plan, shape, NULL, NULL));
        OK(ckpd_shape_set(shape, "correct", 0.0));
        double off = scenario_run(shape, grid, plan, CKPD_POLICY_PLAN, truth, SEEDS).tracking_w;
        OK(ckpd_shape_set(shape, "correct", 1.0));
        double on = scenario_run(shape, grid, plan, CKPD_POLICY_PLAN, truth, SEEDS).tracking_w;
        printf("%s as predicted: tracking %.4f -> %.4f MW\n", label[i], off / 1e6, on / 1e6);
        ck_assert_double_le(on, off + 5e3); /* within a sixth of the dead zone */
        ckpd_shape_plan_free(plan);
        ckpd_shape_free(shape);
    }
    ckpd_microgrid_free(grid);
    ckpd_context_free(context);
}
END_TEST

START_TEST(equal_seeds_give_equal_runs)
{
    scenario_context();
    ckpd_shape *shape = scenario_shape(5600.0, 1e6);
    ckpd_microgrid *grid = scenario_grid(NULL);
    ckpd_shape_plan *plan;
    OK(ckpd_shape_plan_new(&plan, shape, NULL, NULL));
    ckpd_shape_metrics m[3];
    memset(m, 0, sizeof m);
    for (int k = 0; k < 3; k++) {
        ckpd_shape_truth truth = {.size = sizeof truth, .seed = k < 2 ? 7 : 8};
        ckpd_shape_run *run;
        m[k].size = sizeof m[k];
        OK(ckpd_shape_run_new(&run, shape, grid, plan, CKPD_POLICY_PLAN, &truth));
        OK(ckpd_shape_run_get_metrics(run, &m[k]));
        ckpd_shape_run_free(run);
    }
    ck_assert_mem_eq(&m[0], &m[1], sizeof m[0]);
    ck_assert_double_ne(m[0].max_abs_hz, m[2].max_abs_hz);
    ckpd_shape_plan_free(plan);
    ckpd_microgrid_free(grid);
    ckpd_shape_free(shape);
    ckpd_context_free(context);
}
END_TEST

int main(void)
{
#ifndef CKPD_HAVE_GLPK
    test_skip("built without GLPK: no solver for linear programs");
    return 0;
#else
    const TTest *const tests[] = {advantage_vanishes_under_saturation,
                                  lower_layer_cuts_the_tracking_error, equal_seeds_give_equal_runs,
                                  NULL};
    Suite *suite = test_suite("shape bands", tests);
    TCase *bands = tcase_create("bands");
    tcase_add_loop_test(bands, reductions_lie_in_the_published_bands, 0, 3);
    suite_add_tcase(suite, bands);
    return test_run(suite);
#endif
}
