/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The scenarios of docs/shaping.md: 1, 2, 3 MW missing for 30 s from second 20, the types that
 * ship. */
#ifndef TESTS_SHAPE_SCENARIO_H
#define TESTS_SHAPE_SCENARIO_H

#include "support/support.h"

#include <ckptdispatch/shape.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define OK(call)                                                                          \
    do {                                                                                  \
        int32_t status_ = (call);                                                         \
        ck_assert_msg(status_ == CKPD_OK, "%s: %s: %s", #call, ckpd_status_name(status_), \
                      ckpd_context_last_message(context));                                \
    } while (0)

/* The call fails with this code, and the message names `word`. */
#define REFUSED(code, word, call)                                                         \
    do {                                                                                  \
        int32_t status_ = (call);                                                         \
        ck_assert_msg(status_ == (code), "%s gave %s", #call, ckpd_status_name(status_)); \
        ck_assert_msg(strstr(ckpd_context_last_message(context), (word)) != NULL,         \
                      "no '%s' in: %s", (word), ckpd_context_last_message(context));      \
    } while (0)

static ckpd_context *context;

static inline void scenario_context(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
}

static inline ckpd_power_event *scenario_event(double onset_s, double duration_s, double depth_w)
{
    ckpd_power_event *event;
    OK(ckpd_power_event_new(&event, context));
    OK(ckpd_power_event_set(event, "onset_s", onset_s));
    OK(ckpd_power_event_set(event, "duration_s", duration_s));
    OK(ckpd_power_event_set(event, "depth_w", depth_w));
    return event;
}

static inline ckpd_gpu_pool *scenario_pool(double gpus)
{
    ckpd_gpu_pool *pool;
    OK(ckpd_gpu_pool_new(&pool, context));
    OK(ckpd_gpu_pool_set(pool, "gpu_count", gpus));
    return pool;
}

static inline void scenario_add_event(ckpd_shape *shape, double onset_s, double duration_s,
                                      double depth_w)
{
    ckpd_power_event *event = scenario_event(onset_s, duration_s, depth_w);
    OK(ckpd_shape_add_event(shape, event));
    ckpd_power_event_free(event);
}

/* A problem from a pool, which is freed, with every type that ships; up_s >= 0 replaces their rise.
 */
static inline ckpd_shape *scenario_shape_of(ckpd_gpu_pool *pool, double up_s)
{
    ckpd_shape *shape;
    OK(ckpd_shape_new(&shape, context, pool));
    ckpd_gpu_pool_free(pool);
    for (int32_t i = 0; i < ckpd_filler_builtin_count(); i++) {
        ckpd_filler *filler;
        OK(ckpd_filler_builtin(&filler, context, ckpd_filler_builtin_name(i)));
        if (up_s >= 0.0) {
            OK(ckpd_filler_set(filler, "up_s", up_s));
        }
        OK(ckpd_shape_add_filler(shape, filler));
        ckpd_filler_free(filler);
    }
    return shape;
}

static inline ckpd_shape *scenario_shape(double gpus, double depth_w)
{
    ckpd_shape *shape = scenario_shape_of(scenario_pool(gpus), -1.0);
    if (depth_w >= 0.0) {
        scenario_add_event(shape, 20.0, 30.0, depth_w);
    }
    return shape;
}

static inline ckpd_microgrid *scenario_grid(const char *preset)
{
    ckpd_microgrid *grid;
    OK(ckpd_microgrid_new(&grid, context, preset));
    return grid;
}

/* Mean of seeds 1..seeds; the counts are of the last. */
static inline ckpd_shape_metrics scenario_run(const ckpd_shape *shape, const ckpd_microgrid *grid,
                                              const ckpd_shape_plan *plan, int32_t policy,
                                              ckpd_shape_truth truth, int32_t seeds)
{
    ckpd_shape_metrics mean;
    memset(&mean, 0, sizeof mean);
    truth.size = sizeof truth;
    for (int32_t seed = 1; seed <= seeds; seed++) {
        ckpd_shape_run *run;
        truth.seed = (uint64_t)seed;
        OK(ckpd_shape_run_new(&run, shape, grid, plan, policy, &truth));
        ckpd_shape_metrics m = {.size = sizeof m};
        OK(ckpd_shape_run_get_metrics(run, &m));
        ckpd_shape_run_free(run);
        ckpd_shape_metrics sum = m;
        sum.max_abs_hz = mean.max_abs_hz + m.max_abs_hz / seeds;
        sum.mean_abs_hz = mean.mean_abs_hz + m.mean_abs_hz / seeds;
        sum.battery_peak_charge_w = mean.battery_peak_charge_w + m.battery_peak_charge_w / seeds;
        sum.battery_charge_wh = mean.battery_charge_wh + m.battery_charge_wh / seeds;
        sum.tracking_w = mean.tracking_w + m.tracking_w / seeds;
        sum.waste_share = mean.waste_share + m.waste_share / seeds;
        sum.stretch_max = fmax(mean.stretch_max, m.stretch_max);
        mean = sum;
    }
    return mean;
}

/* A plan or NULL for the policies without; parameters early, retire as given. */
static inline ckpd_shape_metrics scenario_policy(ckpd_shape *shape, const ckpd_microgrid *grid,
                                                 int32_t policy, int32_t early, int32_t retire,
                                                 int32_t seeds)
{
    ckpd_shape_plan *plan = NULL;
    OK(ckpd_shape_set(shape, "early", early));
    OK(ckpd_shape_set(shape, "retire", retire));
    if (policy == CKPD_POLICY_PLAN) {
        OK(ckpd_shape_plan_new(&plan, shape, NULL, NULL));
    }
    ckpd_shape_truth truth = {.size = sizeof truth};
    ckpd_shape_metrics mean = scenario_run(shape, grid, plan, policy, truth, seeds);
    ckpd_shape_plan_free(plan);
    return mean;
}

static inline double percent_down(double value, double without)
{
    return without > 0.0 ? 100.0 * (1.0 - value / without) : 0.0;
}

#endif
