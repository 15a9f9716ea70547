/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The shaping problem: events, fillers, pool, parameters. */
#include "shape/shape.h"

#include <math.h>
#include <string.h>

#define INF ((double)INFINITY)

static const ckpd__field shape_field[SHAPE_FIELDS] = {
    {"step_s", "s", "length of a launch slot and of a control step", CKPD_FIELD_NUMBER, 0, 0.05,
     10.0, 0.5, NULL},
    {"samples_per_step", "", "points of the fit in one slot", CKPD_FIELD_INTEGER, 0, 1.0, 50.0, 5.0,
     NULL},
    {"early", "", "launch before the predicted onset", CKPD_FIELD_FLAG, 0, 0.0, 1.0, 1.0, NULL},
    {"early_s", "s", "how long before", CKPD_FIELD_NUMBER, 0, 0.0, 60.0, 1.0, NULL},
    {"early_share", "", "limit of the power before the onset, share of the depth",
     CKPD_FIELD_NUMBER, 0, 0.0, 1.0, 0.5, NULL},
    {"retire", "", "stop groups in stages around the recovery", CKPD_FIELD_FLAG, 0, 0.0, 1.0, 1.0,
     NULL},
    {"retire_s", "s", "first and last stage before and after the recovery", CKPD_FIELD_NUMBER, 0,
     0.0, 60.0, 1.0, NULL},
    {"waste_max", "", "limit of the GPU time of groups stopped early over that of all",
     CKPD_FIELD_NUMBER, 0, 0.0, 1.0, 0.05, NULL},
    {"edge_s", "s", "how long after an onset errors weigh more", CKPD_FIELD_NUMBER, 0, 0.0, 60.0,
     1.0, NULL},
    {"edge_weight", "", "how much more", CKPD_FIELD_NUMBER, 0, 0.0, 1e3, 4.0, NULL},
    {"peak_price", "", "price of the largest error against the sum of errors, per sample",
     CKPD_FIELD_NUMBER, 0, 0.0, 1e3, 0.03, NULL},
    {"waste_price", "MW/s", "price of a second that a group ran before it was stopped",
     CKPD_FIELD_NUMBER, 0, 0.0, 1e3, 2e-4, NULL},
    {"stretch_price", "MW", "price of a group that lasts twice as long as at the smallest batch",
     CKPD_FIELD_NUMBER, 0, 0.0, 1e3, 1e-5, NULL},
    {"stretch_max", "", "longest allowed duration against that at the smallest batch, less 1",
     CKPD_FIELD_NUMBER, 0, 0.0, 1e3, 2.0, NULL},
    {"window_s", "s", "longest stretch of time planned in one model", CKPD_FIELD_NUMBER, 0, 5.0,
     3600.0, 40.0, NULL},
    {"exact", "", "solve the integer program instead of rounding", CKPD_FIELD_FLAG, 0, 0.0, 1.0,
     0.0, NULL},
    {"exact_gap", "", "relative gap at which the integer program stops", CKPD_FIELD_NUMBER, 0, 0.0,
     1.0, 0.01, NULL},
    {"exact_nodes", "", "most branch-and-bound nodes of the integer program", CKPD_FIELD_INTEGER, 0,
     1.0, 1e9, 1e5, NULL},
    {"correct", "", "lower layer: adjust batches of groups launched now", CKPD_FIELD_FLAG, 0, 0.0,
     1.0, 1.0, NULL},
    {"correction_s", "s", "low pass of the measured correction; 0: each measurement counts in full",
     CKPD_FIELD_NUMBER, 0, 0.0, 600.0, 2.0, NULL},
    {"horizon_s", "s", "how far the lower layer looks", CKPD_FIELD_NUMBER, 0, 0.5, 600.0, 8.0,
     NULL},
    {"dead_zone_w", "W", "mean error that the lower layer lets pass", CKPD_FIELD_NUMBER, 0, 0.0,
     1e12, 30e3, NULL},
    {"defer", "", "the lower layer may also hold launches back", CKPD_FIELD_FLAG, 0, 0.0, 1.0, 0.0,
     NULL},
    {"retry_s", "s", "how long a launch waits for a free GPU", CKPD_FIELD_NUMBER, 0, 0.0, 600.0,
     2.0, NULL},
    {"hold_s", "s",
     "how long a measurement may be missing before the control is flagged as degraded",
     CKPD_FIELD_NUMBER, 0, 0.0, 600.0, 2.0, NULL},
    {"signals", "", "the host signals onset and recovery; 0: the times of the plan are used",
     CKPD_FIELD_FLAG, 0, 0.0, 1.0, 1.0, NULL},
    {"detect", "", "take onset and recovery from the measurement when no signal has come",
     CKPD_FIELD_FLAG, 0, 0.0, 1.0, 1.0, NULL},
    {"completion_reports", "", "the host reports groups that end; 0: they end as predicted",
     CKPD_FIELD_FLAG, 0, 0.0, 1.0, 1.0, NULL},
    {"start_s", "s", "start of the horizon; earlier events are refused", CKPD_FIELD_NUMBER, 0, -INF,
     INF, -INF, NULL},
    {"end_s", "s", "end of the horizon; later events are refused", CKPD_FIELD_NUMBER, 0, -INF, INF,
     INF, NULL},
};
const ckpd__field_table ckpd__shape_fields = {"shape", shape_field, SHAPE_FIELDS};

int32_t ckpd_shape_new(ckpd_shape **out, ckpd_context *context, const ckpd_gpu_pool *pool)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    CKPD__REFUSE_FOREIGN(context, pool, CKPD__GPU_POOL);
    if (out == NULL || context == NULL || pool == NULL) {
        return context == NULL ? CKPD_ERR_ARGUMENT
                               : ckpd__null_argument(context, out == NULL ? "out" : "pool");
    }
    int32_t status = ckpd__fields_check_required(context, &ckpd__pool_fields, pool->values);
    if (status != CKPD_OK) {
        return status;
    }
    double gpus = pool->values[POOL_GPU_COUNT], group = pool->values[POOL_GROUP_SIZE];
    if (gpus > 0.0 && group > gpus) {
        return ckpd__fail(context, CKPD_ERR_RANGE, "group_size", -1, group,
                          "GPU pool: a group of %g GPUs is larger than the pool of %g", group,
                          gpus);
    }
    ckpd_shape *shape = ckpd__calloc(context, 1, sizeof *shape);
    if (shape == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(shape, CKPD__SHAPE, context);
    ckpd__fields_defaults(&ckpd__shape_fields, shape->values);
    memcpy(shape->pool, pool->values, sizeof shape->pool);
    *out = shape;
    return CKPD_OK;
}

void ckpd_shape_free(ckpd_shape *shape)
{
    CKPD__NULL_IF_FOREIGN(shape, CKPD__SHAPE);
    if (shape == NULL) {
        return;
    }
    ckpd_context *context = shape->context;
    for (int32_t i = 0; i < shape->events; i++) {
        ckpd_power_event_free(shape->event[i]);
    }
    for (int32_t i = 0; i < shape->fillers; i++) {
        ckpd_filler_free(shape->filler[i]);
    }
    ckpd__free(context, shape->event);
    ckpd__free(context, shape->filler);
    ckpd__handle_end(shape);
}

int32_t ckpd_shape_set(ckpd_shape *shape, const char *field, double value)
{
    CKPD__REFUSE_FOREIGN(NULL, shape, CKPD__SHAPE);
    return shape == NULL
               ? CKPD_ERR_ARGUMENT
               : ckpd__fields_set(shape->context, &ckpd__shape_fields, shape->values, field, value);
}

int32_t ckpd_shape_get(const ckpd_shape *shape, const char *field, double *value)
{
    CKPD__REFUSE_FOREIGN(NULL, shape, CKPD__SHAPE);
    return shape == NULL
               ? CKPD_ERR_ARGUMENT
               : ckpd__fields_get(shape->context, &ckpd__shape_fields, shape->values, field, value);
}

int32_t ckpd_shape_field_count(void)
{
    return SHAPE_FIELDS;
}

int32_t ckpd_shape_field_info(int32_t index, ckpd_field_info *out)
{
    return ckpd__fields_info(NULL, &ckpd__shape_fields, index, out);
}

static int32_t check_event(const ckpd_shape *shape, const ckpd_power_event *event)
{
    const double *v = event->values;
    int32_t status = ckpd__fields_check_required(shape->context, &ckpd__event_fields, v);
    if (status != CKPD_OK) {
        return status;
    }
    double end = v[EVENT_ONSET_S] + v[EVENT_DURATION_S] + v[EVENT_RISE_S];
    if (v[EVENT_ONSET_S] < shape->values[SHAPE_START_S]) {
        return ckpd__fail(shape->context, CKPD_ERR_RANGE, "onset_s", shape->events,
                          v[EVENT_ONSET_S],
                          "event %d begins at %g s, before the start of the horizon at %g s",
                          shape->events, v[EVENT_ONSET_S], shape->values[SHAPE_START_S]);
    }
    if (end > shape->values[SHAPE_END_S]) {
        return ckpd__fail(shape->context, CKPD_ERR_RANGE, "onset_s", shape->events,
                          v[EVENT_ONSET_S],
                          "event %d ends at %g s, after the end of the horizon at %g s",
                          shape->events, end, shape->values[SHAPE_END_S]);
    }
    return CKPD_OK;
}

int32_t ckpd_shape_add_event(ckpd_shape *shape, const ckpd_power_event *event)
{
    CKPD__REFUSE_FOREIGN(NULL, shape, CKPD__SHAPE);
    CKPD__REFUSE_FOREIGN(shape, event, CKPD__POWER_EVENT);
    if (shape == NULL || event == NULL) {
        return shape == NULL ? CKPD_ERR_ARGUMENT : ckpd__null_argument(shape->context, "event");
    }
    int32_t status = check_event(shape, event);
    if (status != CKPD_OK) {
        return status;
    }
    ckpd_power_event **grown =
        ckpd__realloc(shape->context, shape->event, (size_t)shape->events + 1, sizeof *grown);
    if (grown == NULL) {
        return ckpd__no_memory(shape->context);
    }
    shape->event = grown;
    status = ckpd__event_copy(&grown[shape->events], shape->context, event);
    shape->events += status == CKPD_OK;
    return status;
}

static int32_t check_filler(const ckpd_shape *shape, const ckpd_filler *filler)
{
    ckpd_context *context = shape->context;
    if (filler->batches == 0) {
        return ckpd__fail(context, CKPD_ERR_MISSING, "table", -1, (double)NAN,
                          "filler %s has no table", filler->name);
    }
    for (int32_t i = 0; i < shape->fillers; i++) {
        if (strcmp(shape->filler[i]->name, filler->name) == 0) {
            return ckpd__fail(context, CKPD_ERR_DUPLICATE, "name", i, (double)NAN,
                              "filler %s is there already", filler->name);
        }
    }
    double replica = filler->values[FILLER_GPUS_PER_REPLICA];
    if (replica > shape->pool[POOL_GROUP_SIZE]) {
        return ckpd__fail(context, CKPD_ERR_RANGE, "gpus_per_replica", -1, replica,
                          "filler %s: a replica of %g GPUs is larger than a group of %g",
                          filler->name, replica, shape->pool[POOL_GROUP_SIZE]);
    }
    return ckpd__filler_check_axis(filler);
}

int32_t ckpd_shape_add_filler(ckpd_shape *shape, const ckpd_filler *filler)
{
    CKPD__REFUSE_FOREIGN(NULL, shape, CKPD__SHAPE);
    CKPD__REFUSE_FOREIGN(shape, filler, CKPD__FILLER);
    if (shape == NULL || filler == NULL) {
        return shape == NULL ? CKPD_ERR_ARGUMENT : ckpd__null_argument(shape->context, "filler");
    }
    int32_t status = check_filler(shape, filler);
    if (status != CKPD_OK) {
        return status;
    }
    ckpd_filler **grown =
        ckpd__realloc(shape->context, shape->filler, (size_t)shape->fillers + 1, sizeof *grown);
    if (grown == NULL) {
        return ckpd__no_memory(shape->context);
    }
    shape->filler = grown;
    status = ckpd__filler_copy(&grown[shape->fillers], shape->context, filler);
    shape->fillers += status == CKPD_OK;
    return status;
}

ckpd_context *ckpd__shape_context(const ckpd_shape *shape)
{
    return shape->context;
}

int32_t ckpd__shape_add_fillers(ckpd_shape *shape, int32_t count, ckpd_filler *const *fillers)
{
    int32_t before = shape->fillers, status = CKPD_OK;
    for (int32_t i = 0; i < count && status == CKPD_OK; i++) {
        status = ckpd_shape_add_filler(shape, fillers[i]);
    }
    while (status != CKPD_OK && shape->fillers > before) {
        ckpd_filler_free(shape->filler[--shape->fillers]);
    }
    return status;
}

int32_t ckpd_shape_event_count(const ckpd_shape *shape)
{
    CKPD__NULL_IF_FOREIGN(shape, CKPD__SHAPE);
    return shape == NULL ? 0 : shape->events;
}

int32_t ckpd_shape_filler_count(const ckpd_shape *shape)
{
    CKPD__NULL_IF_FOREIGN(shape, CKPD__SHAPE);
    return shape == NULL ? 0 : shape->fillers;
}

const char *ckpd_shape_filler_name(const ckpd_shape *shape, int32_t index)
{
    CKPD__NULL_IF_FOREIGN(shape, CKPD__SHAPE);
    return shape == NULL || index < 0 || index >= shape->fillers ? NULL
                                                                 : shape->filler[index]->name;
}

int32_t ckpd__shape_copy(ckpd_shape **out, const ckpd_shape *shape)
{
    ckpd_gpu_pool pool;
    ckpd__handle_stamp(&pool, CKPD__GPU_POOL, shape->context);
    memcpy(pool.values, shape->pool, sizeof pool.values);
    ckpd_shape *copy;
    int32_t status = ckpd_shape_new(&copy, shape->context, &pool);
    if (status != CKPD_OK) {
        return status;
    }
    memcpy(copy->values, shape->values, sizeof copy->values);
    for (int32_t i = 0; status == CKPD_OK && i < shape->events; i++) {
        status = ckpd_shape_add_event(copy, shape->event[i]);
    }
    for (int32_t i = 0; status == CKPD_OK && i < shape->fillers; i++) {
        status = ckpd_shape_add_filler(copy, shape->filler[i]);
    }
    if (status != CKPD_OK) {
        ckpd_shape_free(copy);
        return status;
    }
    *out = copy;
    return CKPD_OK;
}

double ckpd__shape_deficit(const ckpd_shape *shape, double time_s)
{
    double sum = 0.0;
    for (int32_t i = 0; i < shape->events; i++) {
        const double *v = shape->event[i]->values;
        sum += v[EVENT_DEPTH_W] * ckpd__event_shape(v, time_s - v[EVENT_ONSET_S]);
    }
    return sum;
}

/* FNV-1a over what decides the meaning of a plan's indices and times. */
static uint64_t mix(uint64_t hash, const void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    }
    return hash;
}

uint64_t ckpd__shape_fingerprint(const ckpd_shape *shape)
{
    uint64_t hash = 0xcbf29ce484222325u;
    hash = mix(hash, &shape->pool[POOL_GROUP_SIZE], sizeof(double));
    for (int32_t i = 0; i < shape->events; i++) {
        hash = mix(hash, shape->event[i]->values, 3 * sizeof(double));
    }
    for (int32_t i = 0; i < shape->fillers; i++) {
        const ckpd_filler *filler = shape->filler[i];
        hash = mix(hash, filler->name, strlen(filler->name) + 1);
        hash = mix(hash, filler->batch, (size_t)filler->batches * sizeof *filler->batch);
    }
    return hash;
}
