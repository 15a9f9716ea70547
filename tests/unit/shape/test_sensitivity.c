/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * What moves the figures, in sign and order as in an independent trial (docs/shaping.md lists
 * both). Means of two seeds, plan with early launching and staged retirement.
 */
#include "scenario.h"

typedef struct figures {
    double max_down, mean_down, peak_down; /* percent against no filler */
} figures;

typedef struct change {
    double gpus, depth_w, up_s, step_s, fall_s, rise_s, late_s;
    bool blind; /* no signals, no detection: the plan's times */
    const char *grid_field;
    double grid_value;
} change;

/* Planning takes most of the time, and plan and problem depend on a part of a change only. */
typedef struct planned {
    double gpus, depth_w, up_s, step_s, fall_s, rise_s;
    bool blind;
    ckpd_shape *shape;
    ckpd_shape_plan *plan;
} planned;

static planned known[16];
static int known_count;

static bool made_for(const planned *p, const change *c)
{
    return p->gpus == c->gpus && p->depth_w == c->depth_w && p->up_s == c->up_s &&
           p->step_s == c->step_s && p->fall_s == c->fall_s && p->rise_s == c->rise_s &&
           p->blind == c->blind;
}

static const planned *plan_for(const change *c)
{
    for (int i = 0; i < known_count; i++) {
        if (made_for(&known[i], c)) {
            return &known[i];
        }
    }
    ck_assert_int_lt(known_count, (int)(sizeof known / sizeof known[0]));
    planned *p = &known[known_count++];
    *p = (planned){c->gpus,   c->depth_w, c->up_s, c->step_s, c->fall_s,
                   c->rise_s, c->blind,   NULL,    NULL};
    p->shape = scenario_shape_of(scenario_pool(c->gpus > 0.0 ? c->gpus : 5600.0),
                                 c->up_s > 0.0 ? c->up_s : -1.0);
    ckpd_power_event *event = scenario_event(20.0, 30.0, c->depth_w);
    if (c->fall_s > 0.0) {
        OK(ckpd_power_event_set(event, "fall_s", c->fall_s));
        OK(ckpd_power_event_set(event, "rise_s", c->rise_s));
    }
    OK(ckpd_shape_add_event(p->shape, event));
    ckpd_power_event_free(event);
    if (c->step_s > 0.0) {
        OK(ckpd_shape_set(p->shape, "step_s", c->step_s));
    }
    if (c->blind) {
        OK(ckpd_shape_set(p->shape, "signals", 0.0));
        OK(ckpd_shape_set(p->shape, "detect", 0.0));
    }
    OK(ckpd_shape_plan_new(&p->plan, p->shape, NULL, NULL));
    return p;
}

/* Before the first test, and so in each: what several of them compare with. */
static void setup(void)
{
    scenario_context();
    for (double depth = 1e6; depth < (test_fast() ? 2e6 : 3e6); depth += 1e6) {
        plan_for(&(const change){.depth_w = depth});
    }
}

static void teardown(void)
{
    while (known_count > 0) {
        known_count--;
        ckpd_shape_plan_free(known[known_count].plan);
        ckpd_shape_free(known[known_count].shape);
    }
    ckpd_context_free(context);
}

static figures run_change(const char *label, const change *c)
{
    const planned *p = plan_for(c);
    ckpd_microgrid *grid = scenario_grid(NULL);
    if (c->grid_field != NULL) {
        OK(ckpd_microgrid_set(grid, c->grid_field, c->grid_value));
    }
    ckpd_shape_truth truth = {.size = sizeof truth, .onset_error_s = c->late_s};
    ckpd_shape_metrics none = scenario_run(p->shape, grid, NULL, CKPD_POLICY_NONE, truth, 1);
    ckpd_shape_metrics with = scenario_run(p->shape, grid, p->plan, CKPD_POLICY_PLAN, truth, 2);
    figures f = {percent_down(with.max_abs_hz, none.max_abs_hz),
                 percent_down(with.mean_abs_hz, none.mean_abs_hz),
                 percent_down(with.battery_peak_charge_w, none.battery_peak_charge_w)};
    printf("%.0f MW %-24s max|df| %5.1f %%  mean|df| %5.1f %%  battery peak %5.1f %%\n",
           c->depth_w / 1e6, label, f.max_down, f.mean_down, f.peak_down);
    ckpd_microgrid_free(grid);
    return f;
}

#define RUN(label, ...) run_change(label, &(const change){__VA_ARGS__})

START_TEST(pool_size)
{
    figures small = RUN("4000 GPUs", .depth_w = 3e6, .gpus = 4000.0);
    figures plain = RUN("5600 GPUs", .depth_w = 3e6);
    figures large = RUN("8000 GPUs", .depth_w = 3e6, .gpus = 8000.0);
    ck_assert_double_lt(small.max_down, plain.max_down);
    ck_assert_double_lt(plain.max_down, large.max_down);
    ck_assert_double_lt(small.mean_down, plain.mean_down);
    ck_assert_double_le(plain.mean_down, large.mean_down + 2.0);
    /* Abundant already: nothing changes. */
    figures a = RUN("5600 GPUs", .depth_w = 1e6),
            b = RUN("8000 GPUs", .depth_w = 1e6, .gpus = 8000.0);
    ck_assert_double_eq_tol(a.max_down, b.max_down, 2.0);
}
END_TEST

START_TEST(launch_rise_time)
{
    for (double depth = 1e6; depth < (test_fast() ? 2e6 : 3e6); depth += 1e6) {
        figures quick = RUN("rise 0.2 s", .depth_w = depth, .up_s = 0.2);
        figures plain = RUN("rise 0.6 s", .depth_w = depth);
        figures slow = RUN("rise 1.5 s", .depth_w = depth, .up_s = 1.5);
        ck_assert_double_gt(quick.max_down,
                            plain.max_down -
                                3.0); /* the trial: 61 against 62 in A, 65 against 59 in B */
        ck_assert_double_gt(plain.max_down, slow.max_down + 10.0);
        ck_assert_double_ge(quick.peak_down, plain.peak_down);
        ck_assert_double_gt(plain.peak_down, slow.peak_down + 10.0);
    }
}
END_TEST

START_TEST(control_step)
{
    for (double depth = 1e6; depth < (test_fast() ? 2e6 : 3e6); depth += 1e6) {
        figures fine = RUN("step 0.25 s", .depth_w = depth, .step_s = 0.25);
        figures plain = RUN("step 0.5 s", .depth_w = depth);
        figures coarse = RUN("step 1 s", .depth_w = depth, .step_s = 1.0);
        ck_assert_double_gt(fine.max_down, plain.max_down);
        ck_assert_double_gt(plain.max_down, coarse.max_down);
        ck_assert_double_ge(fine.peak_down, plain.peak_down);
        ck_assert_double_gt(plain.peak_down, coarse.peak_down);
    }
}
END_TEST

START_TEST(onset_error)
{
    for (double depth = 1e6; depth < (test_fast() ? 2e6 : 3e6); depth += 1e6) {
        figures exact = RUN("onset as predicted", .depth_w = depth);
        figures late =
            RUN("0.5 s late, unsignalled", .depth_w = depth, .late_s = 0.5, .blind = true);
        figures soon =
            RUN("0.5 s early, unsignalled", .depth_w = depth, .late_s = -0.5, .blind = true);
        figures told = RUN("0.5 s late, signalled", .depth_w = depth, .late_s = 0.5);
        ck_assert_double_gt(exact.max_down, late.max_down + 15.0); /* most of the gain goes */
        ck_assert_double_gt(late.max_down, soon.max_down);
        ck_assert_double_gt(late.peak_down, soon.peak_down);
        ck_assert_double_gt(told.max_down,
                            late.max_down); /* only early launches rest on the prediction */
    }
}
END_TEST

START_TEST(microgrid)
{
    for (double depth = 1e6; depth < (test_fast() ? 2e6 : 3e6); depth += 1e6) {
        figures plain = RUN("H 1.5 s, 100 mHz", .depth_w = depth);
        figures light =
            RUN("H 1.07 s", .depth_w = depth, .grid_field = "inertia_s", .grid_value = 1.07);
        figures heavy =
            RUN("H 3 s", .depth_w = depth, .grid_field = "inertia_s", .grid_value = 3.0);
        ck_assert_double_lt(light.max_down, plain.max_down);
        ck_assert_double_lt(plain.max_down, heavy.max_down);
        ck_assert_double_lt(light.mean_down, plain.mean_down);
        ck_assert_double_lt(plain.mean_down, heavy.mean_down);
        figures narrow = RUN("dead band 17 mHz", .depth_w = depth,
                             .grid_field = "battery_deadband_hz", .grid_value = 0.017);
        figures middle = RUN("dead band 36 mHz", .depth_w = depth,
                             .grid_field = "battery_deadband_hz", .grid_value = 0.036);
        ck_assert_double_lt(narrow.peak_down, middle.peak_down);
        ck_assert_double_lt(middle.peak_down, plain.peak_down);
        figures alone =
            RUN("no battery", .depth_w = depth, .grid_field = "battery_power_w", .grid_value = 0.0);
        ck_assert_double_gt(alone.max_down, plain.max_down);
    }
}
END_TEST

START_TEST(edges_of_the_event)
{
    for (double depth = 1e6; depth < (test_fast() ? 2e6 : 3e6); depth += 1e6) {
        figures plain = RUN("fall 0.5 s, rise 1 s", .depth_w = depth);
        figures soft = RUN("fall and rise 2 s", .depth_w = depth, .fall_s = 2.0, .rise_s = 2.0);
        ck_assert_double_gt(soft.max_down, plain.max_down);
        ck_assert_double_gt(soft.mean_down, plain.mean_down);
        ck_assert_double_ge(soft.peak_down, plain.peak_down);
    }
}
END_TEST

int main(void)
{
#ifndef CKPD_HAVE_GLPK
    test_skip("built without GLPK: no solver for linear programs");
    return 0;
#else
    const TTest *const tests[] = {pool_size,   launch_rise_time, control_step,
                                  onset_error, microgrid,        edges_of_the_event};
    Suite *suite = suite_create("shape sensitivity");
    TCase *all = tcase_create("shape sensitivity");
    tcase_add_unchecked_fixture(all, setup, teardown);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        tcase_add_test(all, tests[i]);
    }
    suite_add_tcase(suite, all);
    return test_run(suite);
#endif
}
