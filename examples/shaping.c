/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A checkpoint that takes 1.2 MW for 20 s: planned as 1 MW, filled with inference work by a control
 * that is stepped ten times a second, as a host would with its own clock and meter. */
#include <ckptdispatch.h>
#include <stdio.h>

#define TRY(call)                                                        \
    do {                                                                 \
        if ((call) != CKPD_OK) {                                         \
            fprintf(stderr, "%s\n", ckpd_context_last_message(context)); \
            return 1;                                                    \
        }                                                                \
    } while (0)

/* The host's meter: training power that is missing. */
static double missing_w(double t)
{
    return t < 10.0   ? 0.0
           : t < 10.5 ? 2.4e6 * (t - 10.0)
           : t < 30.0 ? 1.2e6
           : t < 31.0 ? 1.2e6 * (31.0 - t)
                      : 0.0;
}

int main(void)
{
    ckpd_context *context = NULL;
    if (ckpd_context_new(&context, NULL) != CKPD_OK)
        return 1;
    if (ckpd_feature("glpk") == 0) {
        puts("built without GLPK: no solver for linear programs");
        ckpd_context_free(context);
        return 0;
    }

    ckpd_gpu_pool *pool = NULL;
    ckpd_shape *shape = NULL;
    TRY(ckpd_gpu_pool_new(&pool, context));
    TRY(ckpd_gpu_pool_set(pool, "gpu_count", 4000));
    TRY(ckpd_shape_new(&shape, context, pool));
    TRY(ckpd_shape_set(shape, "completion_reports", 0)); /* this host does not report ends */
    for (int32_t i = 0; i < ckpd_filler_builtin_count(); i++) {
        ckpd_filler *filler = NULL;
        TRY(ckpd_filler_builtin(&filler, context, ckpd_filler_builtin_name(i)));
        TRY(ckpd_shape_add_filler(shape, filler));
        ckpd_filler_free(filler);
    }

    ckpd_power_event *event = NULL;
    TRY(ckpd_power_event_new(&event, context));
    TRY(ckpd_power_event_set(event, "onset_s", 10));
    TRY(ckpd_power_event_set(event, "duration_s", 20));
    TRY(ckpd_power_event_set(event, "depth_w", 1e6));
    TRY(ckpd_shape_add_event(shape, event));

    ckpd_shape_plan *plan = NULL;
    ckpd_control *control = NULL;
    TRY(ckpd_shape_plan_new(&plan, shape, NULL, NULL));
    TRY(ckpd_control_new(&control, shape, plan));
    for (int i = 0; i <= 400; i++) {
        ckpd_control_input in = {.size = sizeof in, .time_s = 0.1 * i, .has_sample = 1};
        in.sample_s = in.time_s;
        in.deficit_w = missing_w(in.time_s);
        int32_t actions = 0;
        TRY(ckpd_control_step(control, &in, &actions));
        for (int32_t a = 0; a < actions; a++) {
            ckpd_control_action action = {.size = sizeof action};
            TRY(ckpd_control_action_at(control, a, &action));
            if (i % 40 == 0 && action.kind == CKPD_ACTION_LAUNCH)
                printf("%5.1f s  start %3d groups of %s, batch %d (planned %d)\n", in.time_s,
                       action.groups, ckpd_shape_filler_name(shape, action.filler), action.batch,
                       action.planned_batch);
        }
        ckpd_control_state state = {.size = sizeof state};
        TRY(ckpd_control_get_state(control, &state));
        if (i % 40 == 0)
            printf("%5.1f s  missing %.2f MW, filled %.2f MW\n", in.time_s,
                   missing_w(in.time_s) / 1e6, state.predicted_w / 1e6);
    }

    ckpd_control_free(control);
    ckpd_shape_plan_free(plan);
    ckpd_power_event_free(event);
    ckpd_shape_free(shape);
    ckpd_gpu_pool_free(pool);
    ckpd_context_free(context);
    return 0;
}
