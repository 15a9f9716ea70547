/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * First byte 'c': a control driven by any sequence of times, measurements, signals and reports.
 * ',': types from CSV. Else: a shaping case.
 */
#include <ckptdispatch.h>
#include <ckptdispatch/io.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char CASE[] =
    "{\"schema\":\"ckptdispatch-shape\",\"schema_version\":1,\"name\":\"t\",\"pool\":{\"gpu_"
    "count\":400},"
    "\"shape\":{\"samples_per_step\":2,\"defer\":true,\"dead_zone_w\":100},"
    "\"fillers\":[{\"name\":\"llama3.1-8b-chat\",\"planned\":[64]},{\"name\":\"sana-1.6b-image\"}],"
    "\"events\":[{\"onset_s\":2,\"duration_s\":4,\"depth_w\":150000},{\"onset_s\":4,\"duration_s\":"
    "3,\"depth_w\":90000}]}";
enum { GROUPS = 50, OPERATION = 6 };

static void must(bool good)
{
    if (!good) {
        abort();
    }
}

/* A number of every kind from one byte. */
static double number_of(uint8_t byte, double scale)
{
    switch (byte) {
    case 255:
        return (double)NAN;
    case 254:
        return (double)INFINITY;
    case 253:
        return -1e300;
    default:
        return scale * (byte - 20);
    }
}

static void check_actions(const ckpd_control *control, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        ckpd_control_action action = {.size = sizeof action};
        must(ckpd_control_action_at(control, i, &action) == CKPD_OK);
        must(action.groups > 0 && action.groups <= GROUPS && action.first_group >= 0);
        must(action.kind == CKPD_ACTION_LAUNCH || action.kind == CKPD_ACTION_STOP);
    }
    ckpd_control_state state = {.size = sizeof state};
    must(ckpd_control_get_state(control, &state) == CKPD_OK);
    must(state.live >= 0 && state.live <= GROUPS && isfinite(state.predicted_w) &&
         state.correction >= 0.0);
}

static void drive(ckpd_context *context, const uint8_t *data, size_t size)
{
    ckpd_shape *shape = NULL;
    ckpd_shape_plan *plan = NULL;
    ckpd_control *control = NULL;
    must(ckpd_shape_parse(&shape, NULL, context, CASE, strlen(CASE), NULL) == CKPD_OK);
    must(ckpd_shape_plan_new(&plan, shape, "glpk", NULL) == CKPD_OK);
    must(ckpd_control_new(&control, shape, plan) == CKPD_OK);
    double time_s = 0.0;
    for (size_t at = 0; at + OPERATION <= size && at < 600; at += OPERATION) {
        const uint8_t *op = data + at;
        time_s += op[0] < 250 ? 0.01 * op[0] : number_of(op[0], 0.01);
        int64_t finished[2] = {op[5], op[5] + op[4] % 3};
        ckpd_control_input in = {.size = sizeof in, .time_s = time_s};
        in.has_sample = op[1] % 3 != 0;
        in.sample_s = time_s - 0.05 * (op[1] % 7);
        in.deficit_w = number_of(op[2], 2000.0);
        in.onset = op[3] % 11 == 0 ? 1 + op[3] % 2 : op[3] == 200 ? 9 : 0;
        in.onset_s = time_s - 0.1 * (op[4] % 5);
        in.recovery = op[3] % 13 == 0 ? 1 + op[3] % 2 : 0;
        in.recovery_s = time_s - 0.1 * (op[4] % 3);
        in.finished = finished;
        in.finished_count = op[4] % 3;
        int32_t actions = 0;
        if (ckpd_control_step(control, &in, &actions) == CKPD_OK) {
            check_actions(control, actions);
        } else {
            must(ckpd_context_last_message(context)[0] != '\0');
            time_s = isfinite(time_s) && time_s > -1e200 ? time_s : 0.0;
        }
    }
    ckpd_control_free(control);
    ckpd_shape_plan_free(plan);
    ckpd_shape_free(shape);
}

static void read_csv(ckpd_context *context, const char *text, size_t size)
{
    ckpd_gpu_pool *pool = NULL;
    ckpd_shape *shape = NULL;
    must(ckpd_gpu_pool_new(&pool, context) == CKPD_OK &&
         ckpd_gpu_pool_set(pool, "gpu_count", 80) == CKPD_OK);
    must(ckpd_shape_new(&shape, context, pool) == CKPD_OK);
    if (ckpd_shape_add_fillers_csv(shape, text, size) != CKPD_OK) {
        must(ckpd_shape_filler_count(shape) == 0 && ckpd_context_last_message(context)[0] != '\0');
    } else {
        must(ckpd_shape_filler_count(shape) > 0);
    }
    ckpd_shape_free(shape);
    ckpd_gpu_pool_free(pool);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ckpd_context *context = NULL;
    must(ckpd_context_new(&context, NULL) == CKPD_OK);
    if (size > 0 && data[0] == 'c') {
        if (ckpd_feature("glpk") != 0) {
            drive(context, data + 1, size - 1);
        }
    } else if (size > 0 && data[0] == ',') {
        read_csv(context, (const char *)data + 1, size - 1);
    } else {
        ckpd_shape *shape = NULL;
        ckpd_microgrid *grid = NULL;
        if (ckpd_shape_parse(&shape, &grid, context, (const char *)data, size, NULL) == CKPD_OK) {
            must(shape != NULL && grid != NULL);
        } else {
            must(shape == NULL && grid == NULL && ckpd_context_last_message(context)[0] != '\0');
        }
        ckpd_shape_free(shape);
        ckpd_microgrid_free(grid);
    }
    ckpd_context_free(context);
    return 0;
}
