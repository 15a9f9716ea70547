/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support/struct_size.h"

#include <ckptdispatch.h>
#include <string.h>

static ckpd_context *context;
static ckpd_shape *shape;
static ckpd_microgrid *grid;
static ckpd_shape_plan *plan;
static ckpd_control *control;
static ckpd_shape_run *run;

static const char CASE[] = "{\"schema\":\"ckptdispatch-shape\",\"schema_version\":1,\"name\":\"t\","
                           "\"pool\":{\"gpu_count\":80},"
                           "\"shape\":{\"samples_per_step\":2},\"fillers\":[{\"name\":\"llama3.1-"
                           "8b-chat\",\"planned\":[64]}],"
                           "\"events\":[{\"onset_s\":12,\"duration_s\":3,\"depth_w\":30000}]}";

static void setup(void)
{
    int32_t actions;
    ckpd_control_input in = {.size = sizeof in, .time_s = 11.0};
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_shape_parse(&shape, &grid, context, CASE, strlen(CASE), NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_shape_plan_new(&plan, shape, NULL, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_control_new(&control, shape, plan), CKPD_OK);
    for (actions = 0; actions == 0 && in.time_s < 20.0; in.time_s += 0.1) {
        in.onset = in.time_s >= 12.0;
        in.onset_s = 12.0;
        ck_assert_int_eq(ckpd_control_step(control, &in, &actions), CKPD_OK);
    }
    ck_assert_int_gt(actions, 0);
    ck_assert_int_eq(ckpd_shape_run_new(&run, shape, grid, NULL, CKPD_POLICY_NONE, NULL), CKPD_OK);
}

static void teardown(void)
{
    ckpd_shape_run_free(run);
    ckpd_control_free(control);
    ckpd_shape_plan_free(plan);
    ckpd_microgrid_free(grid);
    ckpd_shape_free(shape);
    ckpd_context_free(context);
}

static int32_t fill_event_info(void *out)
{
    return ckpd_power_event_field_info(0, out);
}
static int32_t fill_filler_info(void *out)
{
    return ckpd_filler_field_info(0, out);
}
static int32_t fill_pool_info(void *out)
{
    return ckpd_gpu_pool_field_info(0, out);
}
static int32_t fill_grid_info(void *out)
{
    return ckpd_microgrid_field_info(0, out);
}
static int32_t fill_shape_info(void *out)
{
    return ckpd_shape_field_info(0, out);
}
static int32_t fill_link_info(void *out)
{
    return ckpd_link_field_info(0, out);
}
static int32_t fill_plan_info(void *out)
{
    return ckpd_shape_plan_get_info(plan, out);
}
static int32_t fill_launch(void *out)
{
    return ckpd_shape_plan_launch(plan, 0, out);
}
static int32_t fill_action(void *out)
{
    return ckpd_control_action_at(control, 0, out);
}
static int32_t fill_state(void *out)
{
    return ckpd_control_get_state(control, out);
}
static int32_t fill_metrics(void *out)
{
    return ckpd_shape_run_get_metrics(run, out);
}

static const filled_struct filled[] = {
    {"ckpd_field_info of a power event", sizeof(ckpd_field_info), fill_event_info},
    {"ckpd_field_info of a filler", sizeof(ckpd_field_info), fill_filler_info},
    {"ckpd_field_info of a pool", sizeof(ckpd_field_info), fill_pool_info},
    {"ckpd_field_info of a microgrid", sizeof(ckpd_field_info), fill_grid_info},
    {"ckpd_field_info of a shape", sizeof(ckpd_field_info), fill_shape_info},
    {"ckpd_field_info of a link", sizeof(ckpd_field_info), fill_link_info},
    {"ckpd_shape_plan_info", sizeof(ckpd_shape_plan_info), fill_plan_info},
    {"ckpd_shape_launch", sizeof(ckpd_shape_launch), fill_launch},
    {"ckpd_control_action", sizeof(ckpd_control_action), fill_action},
    {"ckpd_control_state", sizeof(ckpd_control_state), fill_state},
    {"ckpd_shape_metrics", sizeof(ckpd_shape_metrics), fill_metrics},
};
enum { FILLED = sizeof filled / sizeof filled[0] };

static void input_sample(void *block)
{
    ckpd_control_input sample = {.size = sizeof sample, .time_s = 30.0};
    memcpy(block, &sample, sizeof sample);
}

static int32_t input_read(const void *block)
{
    int32_t actions;
    return ckpd_control_step(control, block, &actions);
}

static void truth_sample(void *block)
{
    ckpd_shape_truth sample = {.size = sizeof sample, .seed = 3};
    memcpy(block, &sample, sizeof sample);
}

static int32_t truth_read(const void *block)
{
    ckpd_shape_run *made = NULL;
    int32_t status = ckpd_shape_run_new(&made, shape, grid, NULL, CKPD_POLICY_NONE, block);
    ckpd_shape_run_free(made);
    return status;
}

static const given_struct given[] = {
    {"ckpd_control_input", sizeof(ckpd_control_input), input_sample, input_read},
    {"ckpd_shape_truth", sizeof(ckpd_shape_truth), truth_sample, truth_read},
};
enum { GIVEN = sizeof given / sizeof given[0] };

int main(void)
{
    if (ckpd_feature("glpk") == 0) {
        test_skip("built without GLPK: no solver for linear programs");
        return 0;
    }
    return struct_size_main("struct size, shaping", setup, teardown, filled, FILLED, given, GIVEN);
}
