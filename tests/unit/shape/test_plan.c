/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The upper layer: limits kept, bounds met, edge cases, equal input equal output. */
#include "scenario.h"

#include "shape/window.h"

#include <ckptdispatch/backend.h>

static ckpd_shape_plan_info info_of(const ckpd_shape_plan *plan)
{
    ckpd_shape_plan_info info = {.size = sizeof info};
    OK(ckpd_shape_plan_get_info(plan, &info));
    return info;
}

static ckpd_shape_plan *plan_of(const ckpd_shape *shape)
{
    ckpd_shape_plan *plan;
    OK(ckpd_shape_plan_new(&plan, shape, NULL, NULL));
    return plan;
}

/* Seconds from the launch command to the first power, as plans expect them: 0.1 s and the mean of a
 * half-normal number of deviation 0.15 s. A stop acts 0.1 s after its command. */
#define DELAY_S (0.1 + 0.15 * 0.79788)

static double run_s(const ckpd_shape_launch *l, double duration_s)
{
    return fmin(duration_s, l->stop_s + 0.1 - l->start_s - DELAY_S);
}

/* Every limit of docs/shaping.md, computed here from the launch list and the fillers' tables alone.
 */
static void check_limits(const ckpd_shape_plan *plan, double gpus, double onset_s,
                         double recovery_s, double depth_w)
{
    ckpd_shape_plan_info info = info_of(plan);
    double waste = 0.0, whole = 0.0, last = -1e9;
    int64_t started[16] = {0};
    ckpd_filler *type[16];
    for (int32_t k = 0; k < ckpd_filler_builtin_count(); k++) {
        OK(ckpd_filler_builtin(&type[k], context, ckpd_filler_builtin_name(k)));
    }
    for (int32_t i = 0; i < info.launches; i++) {
        ckpd_shape_launch l = {.size = sizeof l};
        double duration;
        OK(ckpd_shape_plan_launch(plan, i, &l));
        OK(ckpd_filler_at(type[l.filler], l.batch, NULL, &duration));
        started[l.filler] += l.groups;
        double queue;
        OK(ckpd_filler_get(type[l.filler], "queue_groups", &queue));
        ck_assert_double_le((double)started[l.filler], queue);
        ck_assert_double_ge(l.start_s, last);
        ck_assert_double_ge(l.start_s, onset_s - 1.0 - 1e-6);
        ck_assert_double_le(l.start_s, recovery_s + 1e-6);
        last = l.start_s;
        double run = run_s(&l, duration);
        whole += l.groups * run;
        waste += run < duration ? l.groups * run : 0.0;
        ck_assert(isinf(l.stop_s) || fabs(l.stop_s - recovery_s) <= 1.0 + 1e-6);
        /* GPUs held now: those started before and not yet at their end. */
        int64_t held = 0;
        for (int32_t k = 0; k <= i; k++) {
            ckpd_shape_launch other = {.size = sizeof other};
            OK(ckpd_shape_plan_launch(plan, k, &other));
            OK(ckpd_filler_at(type[other.filler], other.batch, NULL, &duration));
            held +=
                other.start_s + DELAY_S + run_s(&other, duration) > l.start_s ? other.groups : 0;
        }
        ck_assert_double_le(8.0 * (double)held, 0.97 * gpus + 1e-6);
    }
    ck_assert_double_le(waste, 0.05 * whole + 1e-3);
    for (int32_t k = 0; k < ckpd_filler_builtin_count(); k++) {
        ckpd_filler_free(type[k]);
    }
    for (double t = onset_s - 1.0; t < onset_s - 1e-6; t += 0.1) {
        ck_assert_double_le(ckpd_shape_plan_power_w(plan, t), 0.5 * depth_w + 1.0);
    }
}

START_TEST(keeps_every_limit)
{
    scenario_context();
    static const double gpus[] = {5600.0, 5600.0, 1400.0}, depth[] = {1e6, 3e6, 3e6};
    for (int i = 0; i < 3; i++) {
        ckpd_shape *shape = scenario_shape(gpus[i], depth[i]);
        ckpd_shape_plan *plan = plan_of(shape);
        check_limits(plan, gpus[i], 20.0, 50.0, depth[i]);
        ckpd_shape_plan_free(plan);
        ckpd_shape_free(shape);
    }
    ckpd_context_free(context);
}
END_TEST

/* The linear program is a lower bound of the integer program, so within 2 % of it is within 2 % of
 * the optimum. HiGHS, given 150 s for the integer programs, stopped 3.5, 1.4 and 0.1 % above it
 * (docs/shaping.md): B is held to what it found. */
START_TEST(whole_groups_stay_near_the_bound)
{
    scenario_context();
    double before = test_clock_s(CLOCK_PROCESS_CPUTIME_ID);
    static const double most[] = {1.02, 1.014, 1.003};
    for (int i = 0; i < 3; i++) {
        ckpd_shape *shape = scenario_shape(5600.0, 1e6 * (i + 1));
        ckpd_shape_plan *plan = plan_of(shape);
        ckpd_shape_plan_info info = info_of(plan);
        ck_assert_double_ge(info.objective, info.relaxed_objective * (1.0 - 1e-9));
        ck_assert_msg(info.objective <= most[i] * info.relaxed_objective, "scenario %d: %g over %g",
                      i, info.objective, info.relaxed_objective);
        ck_assert_int_eq(info.windows, 1);
        ck_assert_int_gt(info.columns, 2000);
        ckpd_shape_plan_free(plan);
        ckpd_shape_free(shape);
    }
    if (!test_fast()) {
        ck_assert_double_lt((test_clock_s(CLOCK_PROCESS_CPUTIME_ID) - before) / 3.0,
                            1.0); /* seconds for an event of 30 s */
    }
    ckpd_context_free(context);
}
END_TEST

/* A problem small enough for a proof: rounding within 2 % of the optimum of the integer program. */
START_TEST(rounding_is_near_the_exact_optimum)
{
    scenario_context();
    double objective[2];
    for (int exact = 0; exact < 2; exact++) {
        ckpd_shape *shape;
        ckpd_gpu_pool *pool = scenario_pool(400.0);
        ckpd_filler *filler;
        OK(ckpd_shape_new(&shape, context, pool));
        ckpd_gpu_pool_free(pool);
        OK(ckpd_filler_builtin(&filler, context, "llama3.1-8b-chat"));
        OK(ckpd_shape_add_filler(shape, filler));
        ckpd_filler_free(filler);
        scenario_add_event(shape, 20.0, 3.0, 150e3);
        OK(ckpd_shape_set(shape, "retire", 0.0));
        OK(ckpd_shape_set(shape, "samples_per_step", 2.0));
        OK(ckpd_shape_set(shape, "exact", exact));
        OK(ckpd_shape_set(shape, "exact_gap", 1e-4));
        ckpd_shape_plan *plan = plan_of(shape);
        objective[exact] = info_of(plan).objective;
        ckpd_shape_plan_free(plan);
        ckpd_shape_free(shape);
    }
    ck_assert_double_le(objective[1], objective[0] * (1.0 + 1e-9));
    ck_assert_msg(objective[0] <= 1.02 * objective[1], "rounded %g, exact %g", objective[0],
                  objective[1]);
    ckpd_context_free(context);
}
END_TEST

START_TEST(repeats_itself)
{
    scenario_context();
    ckpd_shape *shape = scenario_shape(5600.0, 2e6);
    ckpd_shape_plan *a = plan_of(shape), *b = plan_of(shape);
    ck_assert_int_eq(info_of(a).launches, info_of(b).launches);
    for (int32_t i = 0; i < info_of(a).launches; i++) {
        ckpd_shape_launch la, lb;
        memset(&la, 0, sizeof la);
        memset(&lb, 0, sizeof lb);
        la.size = lb.size = sizeof la;
        OK(ckpd_shape_plan_launch(a, i, &la));
        OK(ckpd_shape_plan_launch(b, i, &lb));
        ck_assert_mem_eq(&la, &lb, sizeof la);
    }
    ckpd_shape_plan_free(a);
    ckpd_shape_plan_free(b);
    ckpd_shape_free(shape);
    ckpd_context_free(context);
}
END_TEST

static void expect_nothing(ckpd_shape *shape)
{
    ckpd_shape_plan *plan = plan_of(shape);
    ckpd_microgrid *grid = scenario_grid(NULL);
    ck_assert_int_eq(info_of(plan).launches, 0);
    ck_assert_double_eq(ckpd_shape_plan_power_w(plan, 30.0), 0.0);
    ckpd_shape_truth truth = {.size = sizeof truth};
    ckpd_shape_metrics with = scenario_run(shape, grid, plan, CKPD_POLICY_PLAN, truth, 1);
    ckpd_shape_metrics none = scenario_run(shape, grid, NULL, CKPD_POLICY_NONE, truth, 1);
    ck_assert_double_eq(with.max_abs_hz, none.max_abs_hz);
    ck_assert_int_eq(with.groups, 0);
    ckpd_microgrid_free(grid);
    ckpd_shape_plan_free(plan);
    ckpd_shape_free(shape);
}

START_TEST(empty_pool_queue_depth_and_types)
{
    scenario_context();
    expect_nothing(scenario_shape(0.0, 1e6));
    expect_nothing(scenario_shape(5600.0, 0.0));
    ckpd_gpu_pool *pool = scenario_pool(5600.0);
    ckpd_shape *shape;
    OK(ckpd_shape_new(&shape, context, pool));
    scenario_add_event(shape, 20.0, 30.0, 1e6);
    expect_nothing(shape); /* no filler at all */
    OK(ckpd_shape_new(&shape, context, pool));
    scenario_add_event(shape, 20.0, 30.0, 1e6);
    ckpd_filler *filler;
    OK(ckpd_filler_builtin(&filler, context, "llama3.1-8b-chat"));
    OK(ckpd_filler_set(filler, "queue_groups", 0.0));
    OK(ckpd_shape_add_filler(shape, filler));
    expect_nothing(shape);
    ckpd_filler_free(filler);
    /* A type that draws no more than idle GPUs fills nothing. */
    static const int32_t batch[] = {1};
    static const double watts[] = {100.0}, seconds[] = {5.0};
    OK(ckpd_filler_new(&filler, context, "cold"));
    OK(ckpd_filler_set_table(filler, 1, batch, 1, NULL, watts, seconds));
    OK(ckpd_shape_new(&shape, context, pool));
    scenario_add_event(shape, 20.0, 30.0, 1e6);
    OK(ckpd_shape_add_filler(shape, filler));
    expect_nothing(shape);
    ckpd_filler_free(filler);
    ckpd_gpu_pool_free(pool);
    ckpd_context_free(context);
}
END_TEST

START_TEST(one_row_tables_and_short_checkpoints)
{
    scenario_context();
    ckpd_gpu_pool *pool = scenario_pool(5600.0);
    ckpd_shape *shape;
    ckpd_filler *filler;
    static const int32_t batch[] = {16};
    static const double watts[] = {600.0}, seconds[] = {3.0};
    OK(ckpd_shape_new(&shape, context, pool));
    OK(ckpd_filler_new(&filler, context, "one row"));
    OK(ckpd_filler_set_table(filler, 1, batch, 1, NULL, watts, seconds));
    OK(ckpd_shape_add_filler(shape, filler));
    ckpd_filler_free(filler);
    ckpd_gpu_pool_free(pool);
    scenario_add_event(shape, 20.0, 30.0, 1e6);
    scenario_add_event(shape, 100.0, 0.3,
                       1e6); /* shorter than the rise of the work and than its own fall */
    ckpd_microgrid *grid = scenario_grid(NULL);
    ckpd_shape_metrics none = scenario_policy(shape, grid, CKPD_POLICY_NONE, 1, 1, 1);
    ckpd_shape_metrics plan = scenario_policy(shape, grid, CKPD_POLICY_PLAN, 1, 1, 1);
    ck_assert_double_lt(plan.max_abs_hz, none.max_abs_hz);
    ck_assert_double_lt(plan.mean_abs_hz, none.mean_abs_hz);
    ck_assert_double_eq(plan.stretch_max, 0.0);
    ckpd_microgrid_free(grid);
    ckpd_shape_free(shape);
    ckpd_context_free(context);
}
END_TEST

START_TEST(overlapping_events_are_planned_together)
{
    scenario_context();
    ckpd_shape *shape = scenario_shape(5600.0, 1e6); /* 20 to 50 */
    scenario_add_event(shape, 35.25, 30.0, 1e6);
    ckpd_shape_plan *plan = plan_of(shape);
    double error = 0.0;
    int samples = 0;
    for (double t = 22.0; t < 64.0; t += 0.1, samples++) {
        double deficit = (t < 50.0   ? 1e6
                          : t < 51.0 ? (51.0 - t) * 1e6
                                     : 0.0) +
                         (t < 35.25   ? 0.0
                          : t < 35.75 ? (t - 35.25) * 2e6
                                      : 1e6);
        error += fabs(deficit - ckpd_shape_plan_power_w(plan, t));
    }
    ck_assert_double_lt(error / samples, 40e3); /* 2 % of the 2 MW that are missing in the middle */
    ckpd_microgrid *grid = scenario_grid(NULL);
    ckpd_shape_metrics none = scenario_policy(shape, grid, CKPD_POLICY_NONE, 1, 1, 1);
    ckpd_shape_metrics with = scenario_policy(shape, grid, CKPD_POLICY_PLAN, 1, 1, 3);
    ck_assert_double_gt(percent_down(with.mean_abs_hz, none.mean_abs_hz), 68.5);
    ck_assert_double_gt(percent_down(with.max_abs_hz, none.max_abs_hz), 41.6);
    ckpd_microgrid_free(grid);
    ckpd_shape_plan_free(plan);
    ckpd_shape_free(shape);
    ckpd_context_free(context);
}
END_TEST

START_TEST(equal_events_are_solved_once_and_long_ones_in_windows)
{
    scenario_context();
    ckpd_shape *shape = scenario_shape(5600.0, 1e6);
    scenario_add_event(shape, 320.0, 30.0, 1e6);
    scenario_add_event(shape, 620.25, 30.0, 1e6);
    ckpd_shape_plan *plan = plan_of(shape);
    ck_assert_int_eq(info_of(plan).windows, 1);
    ck_assert_int_eq(info_of(plan).launches % 3, 0);
    for (double t = 18.0; t < 60.0; t += 0.37) {
        ck_assert_double_eq_tol(ckpd_shape_plan_power_w(plan, t),
                                ckpd_shape_plan_power_w(plan, t + 600.25), 1.0);
    }
    ckpd_shape_plan_free(plan);
    ckpd_shape_free(shape);

    shape = scenario_shape(5600.0, -1.0);
    double duration_s = test_fast() ? 60.0 : 90.0;
    scenario_add_event(shape, 20.0, duration_s, 1e6);
    plan = plan_of(shape);
    ck_assert_int_gt(info_of(plan).windows, 1);
    double error = 0.0;
    int samples = 0;
    for (double t = 22.0; t < 19.0 + duration_s; t += 0.1, samples++) {
        error += fabs(1e6 - ckpd_shape_plan_power_w(plan, t));
    }
    ck_assert_double_lt(error / samples, 10e3);
    check_limits(plan, 5600.0, 20.0, 20.0 + duration_s, 1e6);
    ckpd_shape_plan_free(plan);
    ckpd_shape_free(shape);
    ckpd_context_free(context);
}
END_TEST

/* A day of checkpoints, no two alike: planned and simulated, 50 of them in less than a minute.
 * Short runs take every tenth. */
START_TEST(a_day_is_planned_and_simulated_in_time)
{
    scenario_context();
    ckpd_shape *shape = scenario_shape(5600.0, -1.0);
    ckpd_microgrid *grid = scenario_grid(NULL);
    int every = test_long() ? 1 : 10;
    for (int i = 0; i < 50; i += every) {
        scenario_add_event(shape, 1000.0 + 1700.0 * i, 20.0 + (i * 7) % 21, 0.8e6 + 37e3 * i);
    }
    double before = test_clock_s(CLOCK_PROCESS_CPUTIME_ID);
    ckpd_shape_plan *plan = plan_of(shape);
    ckpd_shape_truth truth = {.size = sizeof truth};
    ckpd_shape_metrics with = scenario_run(shape, grid, plan, CKPD_POLICY_PLAN, truth, 1);
    double took = test_clock_s(CLOCK_PROCESS_CPUTIME_ID) - before;
    ckpd_shape_metrics none = scenario_run(shape, grid, NULL, CKPD_POLICY_NONE, truth, 1);
    printf("day of %d checkpoints: %.1f s of processor time\n", 50 / every, took);
    ck_assert_int_ge(info_of(plan).windows, 50 / every);
    ck_assert_double_gt(percent_down(with.mean_abs_hz, none.mean_abs_hz), 68.5);
    ck_assert_double_gt(percent_down(with.max_abs_hz, none.max_abs_hz), 41.6);
    if (!test_fast()) {
        ck_assert_double_lt(took, 60.0 / every);
    }
    ckpd_shape_plan_free(plan);
    ckpd_microgrid_free(grid);
    ckpd_shape_free(shape);
    ckpd_context_free(context);
}
END_TEST

START_TEST(says_when_it_cannot_plan)
{
    scenario_context();
    ckpd_shape *shape = scenario_shape(5600.0, 1e6);
    ckpd_shape_plan *plan = NULL;
    REFUSED(CKPD_ERR_UNKNOWN_NAME, "nobody", ckpd_shape_plan_new(&plan, shape, "nobody", NULL));
    ckpd_cancel *cancel;
    OK(ckpd_cancel_new(&cancel, context));
    ckpd_cancel_request(cancel);
    ck_assert_int_eq(ckpd_shape_plan_new(&plan, shape, NULL, cancel), CKPD_ERR_CALLBACK);
    ckpd_cancel_free(cancel);
    ck_assert_ptr_null(plan);
    plan = plan_of(shape);
    ckpd_shape_launch launch = {.size = sizeof launch};
    ck_assert_int_eq(ckpd_shape_plan_launch(plan, -1, &launch), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_shape_plan_launch(plan, 1 << 20, &launch), CKPD_ERR_ARGUMENT);
    ckpd_shape_plan_free(plan);
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
    const TTest *const tests[] = {keeps_every_limit,
                                  whole_groups_stay_near_the_bound,
                                  rounding_is_near_the_exact_optimum,
                                  repeats_itself,
                                  empty_pool_queue_depth_and_types,
                                  one_row_tables_and_short_checkpoints,
                                  overlapping_events_are_planned_together,
                                  equal_events_are_solved_once_and_long_ones_in_windows,
                                  a_day_is_planned_and_simulated_in_time,
                                  says_when_it_cannot_plan,
                                  NULL};
    return test_run(test_suite("shape plan", tests));
#endif
}
