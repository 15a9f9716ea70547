/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support/sweep.h"

#include <ckptdispatch/shape.h>
#include <math.h>
#include <stdio.h>

/* A pool of 64 GPUs, one event of 15 kW for 6 s, two filler types that ship. */
static void make_shape(sweep_memory *memory, ckpd_context *context, ckpd_shape **shape)
{
    static const double since_s[] = {0, 1, 5, 6};
    static const double deficit_w[] = {0, 15000, 15000, 0};
    ckpd_gpu_pool *pool = NULL;
    ckpd_power_event *event = NULL;
    SWEEP(ckpd_gpu_pool_new(&pool, context));
    SWEEP(ckpd_gpu_pool_set(pool, "gpu_count", 64));
    SWEEP(ckpd_shape_new(shape, context, pool));
    for (int32_t i = 0; i < 2; i++) {
        ckpd_filler *filler = NULL;
        SWEEP(ckpd_filler_builtin(&filler, context, ckpd_filler_builtin_name(i)));
        SWEEP(ckpd_shape_add_filler(*shape, filler));
        ckpd_filler_free(filler);
    }
    SWEEP(ckpd_power_event_new(&event, context));
    SWEEP(ckpd_power_event_set(event, "onset_s", 20));
    SWEEP(ckpd_power_event_set(event, "duration_s", 6));
    SWEEP(ckpd_power_event_set(event, "depth_w", 15000));
    SWEEP(ckpd_shape_add_event(*shape, event));
    SWEEP(ckpd_power_event_set_trace(event, 4, since_s, deficit_w));
    ckpd_power_event_free(event);
    ckpd_gpu_pool_free(pool);
}

static void filler_table(sweep_memory *memory, ckpd_context *context)
{
    static const int32_t batch[] = {1, 8};
    static const double axis[] = {1};
    static const double power_w[] = {100, 250};
    static const double duration_s[] = {1, 4};
    static const int32_t planned[] = {8};
    ckpd_filler *filler = NULL;
    double power = 0;
    double duration = 0;
    SWEEP(ckpd_filler_new(&filler, context, "mine"));
    SWEEP(ckpd_filler_set_table(filler, 2, batch, 1, axis, power_w, duration_s));
    SWEEP(ckpd_filler_set_planned(filler, 1, planned));
    SWEEP(ckpd_filler_at(filler, 8, &power, &duration));
    ck_assert_double_eq_tol(power, 250, 1e-9);
    ckpd_filler_free(filler);
}

static void response(sweep_memory *memory, ckpd_context *context)
{
    double deficit[50];
    double deviation[50];
    ckpd_microgrid *grid = NULL;
    for (int i = 0; i < 50; i++) {
        deficit[i] = i < 10 ? 0 : 100000;
    }
    SWEEP(ckpd_microgrid_new(&grid, context, ckpd_microgrid_preset_name(0)));
    SWEEP(ckpd_microgrid_response(grid, 50, 0.1, deficit, deviation, NULL, NULL));
    ck_assert_double_gt(fabs(deviation[49]), 0);
    ckpd_microgrid_free(grid);
}

static void plan_and_run(sweep_memory *memory, ckpd_context *context)
{
    ckpd_shape *shape = NULL;
    ckpd_shape_plan *plan = NULL;
    ckpd_microgrid *grid = NULL;
    ckpd_shape_run *run = NULL;
    ckpd_shape_plan_info info = {.size = sizeof info};
    ckpd_shape_metrics metrics = {.size = sizeof metrics};
    const ckpd_shape_truth truth = {.size = sizeof truth, .seed = 1};
    static double expected = NAN;
    make_shape(memory, context, &shape);
    SWEEP(ckpd_shape_plan_new(&plan, shape, NULL, NULL));
    SWEEP(ckpd_shape_plan_get_info(plan, &info));
    SWEEP(ckpd_microgrid_new(&grid, context, ckpd_microgrid_preset_name(0)));
    SWEEP(ckpd_shape_run_new(&run, shape, grid, plan, CKPD_POLICY_PLAN, &truth));
    SWEEP(ckpd_shape_run_get_metrics(run, &metrics));
    if (isnan(expected)) {
        expected = metrics.max_abs_hz;
    }
    ck_assert_double_eq(metrics.max_abs_hz, expected);
    ckpd_shape_run_free(run);
    ckpd_microgrid_free(grid);
    ckpd_shape_plan_free(plan);
    ckpd_shape_free(shape);
}

static void control(sweep_memory *memory, ckpd_context *context)
{
    ckpd_shape *shape = NULL;
    ckpd_shape_plan *plan = NULL;
    ckpd_control *made = NULL;
    make_shape(memory, context, &shape);
    SWEEP(ckpd_shape_plan_new(&plan, shape, NULL, NULL));
    SWEEP(ckpd_control_new(&made, shape, plan));
    int before = atomic_load(&memory->calls);
    for (int i = 0; i < 100; i++) {
        const ckpd_control_input input = {.size = sizeof input, .time_s = 15 + 0.1 * i};
        int32_t actions = 0;
        ck_assert_int_eq(ckpd_control_step(made, &input, &actions), CKPD_OK);
    }
    /* Promised in the header: a step allocates nothing. */
    ck_assert_int_eq(atomic_load(&memory->calls), before);
    ckpd_control_free(made);
    ckpd_shape_plan_free(plan);
    ckpd_shape_free(shape);
}

int main(void)
{
    static const sweep_scenario scenarios[] = {
        {"table of a filler", filler_table, 1},
        {"response", response, 1},
        {"plan and run", plan_and_run, 3},
        {"control", control, 3},
    };
    /* Planning solves linear programs, for which a build without GLPK has nothing. */
    return sweep_main("shape", scenarios, ckpd_feature("glpk") ? 4 : 2);
}
