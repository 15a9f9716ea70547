/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A problem resolved to numbers: one profile for each table row of each filler. */
#include "shape/shape.h"

#include <math.h>
#include <string.h>

static int32_t is_planned(const ckpd_filler *filler, int32_t batch)
{
    for (int32_t i = 0; i < filler->planned_count; i++) {
        if (filler->planned[i] == batch) {
            return 1;
        }
    }
    return filler->planned_count == 0;
}

static void resolve(ckpd__profile *to, const ckpd_shape *shape, const ckpd_filler *filler,
                    int32_t row)
{
    const double *v = filler->values, *pool = shape->pool;
    double power, duration, first_power, first_duration;
    ckpd__filler_row(filler, row, &power, &duration);
    ckpd__filler_row(filler, 0, &first_power, &first_duration);
    double idle =
        isnan(v[FILLER_IDLE_W_PER_GPU]) ? pool[POOL_IDLE_W_PER_GPU] : v[FILLER_IDLE_W_PER_GPU];
    to->power_w = pool[POOL_FACILITY_FACTOR] * pool[POOL_GROUP_SIZE] * (power - idle);
    to->duration_s = duration;
    to->up_s = v[FILLER_UP_S] < duration ? v[FILLER_UP_S] : duration;
    to->down_s = v[FILLER_DOWN_S];
    to->prefill_factor = v[FILLER_PREFILL_FACTOR];
    to->prefill_s = v[FILLER_PREFILL_S];
    to->tail_s = duration * (1.0 - v[FILLER_TAIL_SHARE]);
    to->tail_level = v[FILLER_TAIL_LEVEL];
    to->stretch = duration / first_duration - 1.0;
    to->batch = filler->batch[row];
    to->requests = floor(pool[POOL_GROUP_SIZE] / v[FILLER_GPUS_PER_REPLICA]) * (double)to->batch;
    to->tokens = to->requests * v[FILLER_TOKENS_PER_REQUEST];
    to->allowed = to->stretch <= shape->values[SHAPE_STRETCH_MAX] + 1e-9;
    /* Work that draws no more than an idle GPU fills nothing. */
    to->planned = to->allowed && to->power_w > 0.0 && is_planned(filler, to->batch);
}

int32_t ckpd__rig_build(ckpd__rig *rig, const ckpd_shape *shape)
{
    ckpd_context *context = shape->context;
    const double *pool = shape->pool;
    memset(rig, 0, sizeof *rig);
    rig->context = context;
    rig->fillers = shape->fillers;
    rig->group_size = (int32_t)pool[POOL_GROUP_SIZE];
    rig->groups = (int32_t)floor(pool[POOL_GPU_COUNT] / pool[POOL_GROUP_SIZE]);
    rig->latency_s = pool[POOL_LATENCY_S];
    /* Mean of the latency and of the half-normal jitter on top of it. */
    rig->delay_s = pool[POOL_LATENCY_S] + pool[POOL_JITTER_S] * 0.7978845608028654;
    rig->jitter_s = pool[POOL_JITTER_S];
    rig->spread = pool[POOL_DURATION_SPREAD];
    rig->margin = pool[POOL_PLAN_MARGIN];
    rig->first_row = ckpd__calloc(context, (size_t)shape->fillers + 1, sizeof *rig->first_row);
    rig->queue = ckpd__calloc(context, (size_t)shape->fillers, sizeof *rig->queue);
    if (rig->first_row != NULL) {
        for (int32_t k = 0; k < shape->fillers; k++) {
            rig->first_row[k + 1] = rig->first_row[k] + shape->filler[k]->batches;
        }
        rig->profile =
            ckpd__calloc(context, (size_t)rig->first_row[shape->fillers], sizeof *rig->profile);
    }
    if (rig->first_row == NULL || rig->queue == NULL || rig->profile == NULL) {
        ckpd__rig_free(rig);
        return ckpd__no_memory(context);
    }
    for (int32_t k = 0; k < shape->fillers; k++) {
        const ckpd_filler *filler = shape->filler[k];
        rig->queue[k] = (int64_t)filler->values[FILLER_QUEUE_GROUPS];
        for (int32_t row = 0; row < filler->batches; row++) {
            resolve(&rig->profile[rig->first_row[k] + row], shape, filler, row);
        }
    }
    return CKPD_OK;
}

void ckpd__rig_free(ckpd__rig *rig)
{
    if (rig->context != NULL) {
        ckpd__free(rig->context, rig->first_row);
        ckpd__free(rig->context, rig->queue);
        ckpd__free(rig->context, rig->profile);
    }
    memset(rig, 0, sizeof *rig);
}

/* Share of full power while running, `x` since the start; the tail stretches with the duration. */
static double level(const ckpd__profile *p, double x, double factor)
{
    double rise = p->up_s > 0.0 && x < p->up_s ? x / p->up_s : 1.0;
    double tail_s = p->tail_s * factor, end_s = p->duration_s * factor;
    if (x > tail_s && end_s > tail_s) {
        double tail = 1.0 - (1.0 - p->tail_level) * (x - tail_s) / (end_s - tail_s);
        return tail < rise ? tail : rise;
    }
    if (x >= p->up_s && x < p->up_s + p->prefill_s) {
        return p->prefill_factor;
    }
    return rise;
}

double ckpd__profile_power_scaled(const ckpd__profile *p, double x, double stop_s, double factor)
{
    double end_s = p->duration_s * factor;
    end_s = stop_s < end_s ? stop_s : end_s;
    if (x < 0.0 || x >= end_s + p->down_s || end_s <= 0.0) {
        return 0.0;
    }
    if (x <= end_s) {
        return p->power_w * level(p, x, factor);
    }
    return p->power_w * level(p, end_s, factor) * (1.0 - (x - end_s) / p->down_s);
}

double ckpd__profile_power(const ckpd__profile *profile, double since_s, double stop_s)
{
    return ckpd__profile_power_scaled(profile, since_s, stop_s, 1.0);
}
