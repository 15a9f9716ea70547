/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Checkpoints that last longer than planned: the control goes on filling to the measured deficit
 * with short work, and only then. And what a ripple leaves: no less than a perfect fill would.
 */
#include "scenario.h"

static const double DEPTH = 1e6, ONSET = 20.0, PLANNED = 30.0;

typedef struct reality {
    double duration_s;
    bool signals, silent; /* silent: no measurement after the planned end */
} reality;

typedef struct seen {
    ckpd_control_state state;
    double first_s, last_s; /* of launches that the plan does not have */
    int64_t started[16];    /* of those, by filler */
    int64_t stopped;
} seen;

static double real_w(double t, double duration_s)
{
    double x = t - ONSET;
    return DEPTH *
           fmax(0.0, fmin(fmin(x / 0.5, 1.0), x <= duration_s ? 1.0 : 1.0 - (x - duration_s)));
}

/* A host that reports no ends (the control predicts them) and steps ten times a second. */
static seen drive(const ckpd_shape *shape, reality is)
{
    ckpd_shape_plan *plan;
    ckpd_control *control;
    seen s;
    memset(&s, 0, sizeof s);
    s.first_s = (double)INFINITY;
    OK(ckpd_shape_plan_new(&plan, shape, NULL, NULL));
    OK(ckpd_control_new(&control, shape, plan));
    for (int i = 0; i <= 900; i++) {
        ckpd_control_input in = {.size = sizeof in, .time_s = 15.0 + 0.1 * i};
        double end = ONSET + is.duration_s;
        in.has_sample = !(is.silent && in.time_s > ONSET + PLANNED);
        in.sample_s = in.time_s - 0.1;
        in.deficit_w = real_w(in.sample_s, is.duration_s);
        in.onset = is.signals && fabs(in.time_s - ONSET) < 0.05;
        in.onset_s = ONSET;
        in.recovery = is.signals && in.time_s >= end && in.time_s < end + 0.1;
        in.recovery_s = end;
        int32_t actions;
        OK(ckpd_control_step(control, &in, &actions));
        for (int32_t a = 0; a < actions; a++) {
            ckpd_control_action action = {.size = sizeof action};
            OK(ckpd_control_action_at(control, a, &action));
            if (action.kind == CKPD_ACTION_STOP) {
                s.stopped += action.groups;
            } else if (action.planned_batch == 0) {
                s.first_s = fmin(s.first_s, in.time_s);
                s.last_s = in.time_s;
                s.started[action.filler] += action.groups;
            }
        }
    }
    s.state.size = sizeof s.state;
    OK(ckpd_control_get_state(control, &s.state));
    ckpd_control_free(control);
    ckpd_shape_plan_free(plan);
    return s;
}

static ckpd_shape *host_shape(void)
{
    ckpd_shape *shape = scenario_shape(5600.0, DEPTH);
    OK(ckpd_shape_set(shape, "completion_reports", 0.0));
    return shape;
}

START_TEST(refills_while_the_measurement_says_so)
{
    scenario_context();
    ckpd_shape *shape = host_shape();
    seen s = drive(shape, (reality){.duration_s = 45.0, .signals = true});
    ck_assert_int_gt(s.state.refilled, 100);
    ck_assert_double_gt(s.first_s, ONSET + PLANNED + 0.25); /* not before the return is missed */
    ck_assert_double_lt(s.first_s, ONSET + PLANNED + 1.0);
    ck_assert_double_ge(s.last_s, ONSET + 44.0); /* to the end */
    ck_assert_double_lt(s.last_s, ONSET + 45.0 + 1e-6);
    ck_assert_int_gt(s.stopped, 0);
    ck_assert_int_eq(s.state.live, 0);
    /* The same without signals: end and lateness are both seen in the measurement. */
    s = drive(shape, (reality){.duration_s = 45.0});
    ck_assert_int_gt(s.state.refilled, 100);
    ck_assert_double_lt(s.last_s, ONSET + 46.0);
    ck_assert_int_eq(s.state.live, 0);
    ckpd_shape_free(shape);
    ckpd_context_free(context);
}
END_TEST

START_TEST(starts_nothing_without_need_or_knowledge)
{
    scenario_context();
    ckpd_shape *shape = host_shape();
    ck_assert_int_eq(drive(shape, (reality){.duration_s = 30.0, .signals = true}).state.refilled,
                     0);
    ck_assert_int_eq(drive(shape, (reality){.duration_s = 30.0}).state.refilled, 0);
    ck_assert_int_eq(drive(shape, (reality){.duration_s = 25.0}).state.refilled, 0);
    reality mute = {.duration_s = 45.0, .signals = true, .silent = true};
    seen s = drive(shape, mute);
    ck_assert_int_eq(s.state.refilled, 0); /* held measurements are no proof */
    OK(ckpd_shape_set(shape, "correct", 0.0));
    s = drive(shape, (reality){.duration_s = 45.0, .signals = true});
    ck_assert_int_eq(s.state.refilled, 0);
    ckpd_shape_free(shape);
    ckpd_context_free(context);
}
END_TEST

START_TEST(queues_and_the_stretch_cap_hold)
{
    scenario_context();
    ckpd_gpu_pool *pool = scenario_pool(5600.0);
    ckpd_shape *shape;
    OK(ckpd_shape_new(&shape, context, pool));
    ckpd_gpu_pool_free(pool);
    static const char *const name[] = {"llama3.1-8b-chat", "qwen3-8b-chat"};
    for (int k = 0; k < 2; k++) {
        ckpd_filler *filler;
        OK(ckpd_filler_builtin(&filler, context, name[k]));
        OK(ckpd_filler_set(filler, "queue_groups", k == 0 ? 1100.0 : 500.0));
        OK(ckpd_shape_add_filler(shape, filler));
        ckpd_filler_free(filler);
    }
    scenario_add_event(shape, ONSET, PLANNED, DEPTH);
    OK(ckpd_shape_set(shape, "completion_reports", 0.0));
    OK(ckpd_shape_set(shape, "stretch_max", 1.5));
    seen s = drive(shape, (reality){.duration_s = 80.0, .signals = true});
    ck_assert_int_gt(s.state.refilled, 0);
    ck_assert_int_le(s.state.launched, 1600);
    ck_assert_int_ge(s.state.launched, 1500); /* nearly all of what waits was used */
    ckpd_shape_free(shape);
    ckpd_context_free(context);
}
END_TEST

/* Simulated: the lower layer on against off, ten seconds longer than planned. */
START_TEST(a_longer_checkpoint_stays_filled)
{
    scenario_context();
    int i = _i % 3;
    ckpd_shape *shape = scenario_shape(5600.0, 1e6 * (i + 1));
    ckpd_microgrid *grid = scenario_grid(NULL);
    ckpd_shape_plan *plan;
    OK(ckpd_shape_set(shape, "retire", _i < 3));
    OK(ckpd_shape_plan_new(&plan, shape, NULL, NULL));
    ckpd_shape_truth truth = {.size = sizeof truth, .duration_error_s = 10.0};
    ckpd_shape_metrics none = scenario_run(shape, grid, NULL, CKPD_POLICY_NONE, truth, 1);
    OK(ckpd_shape_set(shape, "correct", 0.0));
    ckpd_shape_metrics off = scenario_run(shape, grid, plan, CKPD_POLICY_PLAN, truth, 3);
    OK(ckpd_shape_set(shape, "correct", 1.0));
    ckpd_shape_metrics on = scenario_run(shape, grid, plan, CKPD_POLICY_PLAN, truth, 3);
    printf("%d MW, 10 s longer, %s: tracking %.3f -> %.3f MW, max|df| %.1f -> %.1f %%, mean|df| "
           "%.1f -> %.1f %%, waste %.1f %%\n",
           i + 1, _i < 3 ? "retired" : "run out", off.tracking_w / 1e6, on.tracking_w / 1e6,
           percent_down(off.max_abs_hz, none.max_abs_hz),
           percent_down(on.max_abs_hz, none.max_abs_hz),
           percent_down(off.mean_abs_hz, none.mean_abs_hz),
           percent_down(on.mean_abs_hz, none.mean_abs_hz), 100.0 * on.waste_share);
    ck_assert_double_lt(on.tracking_w, (_i < 3 ? 0.3 : 0.6) * off.tracking_w);
    ck_assert_double_lt(on.mean_abs_hz, off.mean_abs_hz);
    ck_assert_double_le(on.stretch_max, 2.0);
    if (_i < 3) {
        ck_assert_double_lt(on.max_abs_hz, off.max_abs_hz);
        ck_assert_double_gt(percent_down(on.mean_abs_hz, none.mean_abs_hz), 68.5);
        ck_assert_double_gt(percent_down(on.max_abs_hz, none.max_abs_hz), 41.6);
    }
    ckpd_shape_plan_free(plan);
    ckpd_microgrid_free(grid);
    ckpd_shape_free(shape);
    ckpd_context_free(context);
}
END_TEST

/*
 * A ripple faster than launches stays. What a fill that meets the trapezoid exactly leaves is the
 * response to the ripple alone: the floor, from the microgrid by itself.
 */
START_TEST(what_a_ripple_leaves_is_the_ripple)
{
    scenario_context();
    enum { POINTS = 5501 };
    static double net[POINTS], hz[POINTS];
    const double amplitude = 0.3e6, pi = 3.14159265358979323846;
    ckpd_microgrid *grid = scenario_grid(NULL);
    double floor_max = 0.0, floor_mean = 0.0;
    for (int k = 0; k < POINTS; k++) {
        double t = 10.0 + 0.01 * k;
        net[k] = amplitude * real_w(t, PLANNED) / DEPTH * sin(2.0 * pi * 0.5 * (t - ONSET));
    }
    OK(ckpd_microgrid_response(grid, POINTS, 0.01, net, hz, NULL, NULL));
    for (int k = 500; k < POINTS; k++) {
        floor_max = fmax(floor_max, fabs(hz[k]));
        floor_mean += fabs(hz[k]) / (POINTS - 500);
    }
    ckpd_shape *shape = scenario_shape(5600.0, DEPTH);
    ckpd_shape_plan *plan;
    OK(ckpd_shape_plan_new(&plan, shape, NULL, NULL));
    ckpd_shape_truth truth = {.size = sizeof truth, .ripple_w = amplitude, .ripple_hz = 0.5};
    ckpd_shape_metrics with = scenario_run(shape, grid, plan, CKPD_POLICY_PLAN, truth, 2);
    printf("ripple 0.3 MW 0.5 Hz: max|df| %.4f Hz (perfect fill %.4f), mean|df| %.4f (%.4f), "
           "tracking %.3f MW (%.3f)\n",
           with.max_abs_hz, floor_max, with.mean_abs_hz, floor_mean, with.tracking_w / 1e6,
           amplitude * 2.0 / pi / 1e6);
    ck_assert_double_le(with.mean_abs_hz, 1.1 * floor_mean);
    ck_assert_double_le(with.max_abs_hz, 1.2 * floor_max);
    ck_assert_double_le(with.tracking_w, 1.05 * amplitude * 2.0 / pi);
    ckpd_shape_plan_free(plan);
    ckpd_shape_free(shape);
    ckpd_microgrid_free(grid);
    ckpd_context_free(context);
}
END_TEST

int main(void)
{
#ifndef CKPD_HAVE_GLPK
    test_skip("built without GLPK: no solver for linear programs");
    return 0;
#else
    const TTest *const tests[] = {
        refills_while_the_measurement_says_so, starts_nothing_without_need_or_knowledge,
        queues_and_the_stretch_cap_hold, what_a_ripple_leaves_is_the_ripple, NULL};
    Suite *suite = test_suite("shape overdue", tests);
    TCase *longer = tcase_create("longer");
    tcase_add_loop_test(longer, a_longer_checkpoint_stays_filled, 0, test_fast() ? 1 : 6);
    suite_add_tcase(suite, longer);
    return test_run(suite);
#endif
}
