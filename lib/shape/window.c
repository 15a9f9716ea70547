/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Columns of the upper layer: every start that a window may choose from, with its power at the
 * samples. */
#include "shape/window.h"

#include <math.h>
#include <string.h>

#define INF ((double)INFINITY)
static const double SLACK_S = 1e-7; /* equal times computed in different ways */

static double onset(const ckpd__window *w, int32_t i)
{
    return ckpd__window_time(w, w->shape->event[w->event[i]]->values[EVENT_ONSET_S]);
}

static double recovery(const ckpd__window *w, int32_t i)
{
    return onset(w, i) + w->shape->event[w->event[i]]->values[EVENT_DURATION_S];
}

static double lead(const ckpd__window *w)
{
    const double *v = w->shape->values;
    return v[SHAPE_EARLY] > 0.0 ? v[SHAPE_EARLY_S] : 0.0;
}

/* A slot of event i is left to a later event that has begun its own. */
static bool owned(const ckpd__window *w, int32_t i, double time_s)
{
    for (int32_t j = i + 1; j < w->events; j++) {
        if (time_s >= onset(w, j) - lead(w) - SLACK_S && time_s < recovery(w, j) - SLACK_S) {
            return false;
        }
    }
    return true;
}

static int32_t add_slots(ckpd__window *w)
{
    double step = w->shape->values[SHAPE_STEP_S];
    size_t most = 0;
    for (int32_t i = 0; i < w->events; i++) {
        most += (size_t)ceil((recovery(w, i) - onset(w, i) + lead(w)) / step) + 2;
    }
    w->slot = ckpd__calloc(w->context, most, sizeof *w->slot);
    if (w->slot == NULL) {
        return ckpd__no_memory(w->context);
    }
    for (int32_t i = 0; i < w->events; i++) {
        int32_t early = (int32_t)floor(lead(w) / step + SLACK_S);
        for (int32_t k = -early; onset(w, i) + k * step <= recovery(w, i) + SLACK_S; k++) {
            double time_s = onset(w, i) + k * step;
            if (time_s >= w->start_s - SLACK_S && time_s < w->end_s && owned(w, i, time_s)) {
                w->slot[w->slots].time_s = time_s;
                w->slot[w->slots++].event = w->event[i];
            }
        }
    }
    /* Insertion: slots of a few events, nearly in order already. */
    for (int32_t i = 1; i < w->slots; i++) {
        ckpd__slot moving = w->slot[i];
        int32_t at = i;
        while (at > 0 && w->slot[at - 1].time_s > moving.time_s) {
            w->slot[at] = w->slot[at - 1];
            at--;
        }
        w->slot[at] = moving;
    }
    return CKPD_OK;
}

/* The first seconds of a drop set the largest deviation, so their error weighs more. */
static double weight_at(const ckpd__window *w, double t)
{
    const double *v = w->shape->values;
    for (int32_t e = 0; e < w->events; e++) {
        double since = t - onset(w, e);
        if (since >= -SLACK_S && since <= v[SHAPE_EDGE_S] + SLACK_S) {
            return v[SHAPE_EDGE_WEIGHT];
        }
    }
    return 1.0;
}

static int32_t add_samples(ckpd__window *w, const ckpd__launch *carried, int32_t count)
{
    w->samples = (int32_t)floor((w->end_s - w->start_s) / w->sample_s + SLACK_S) + 1;
    w->target = ckpd__calloc(w->context, (size_t)w->samples, sizeof *w->target);
    w->early_cap = ckpd__calloc(w->context, (size_t)w->samples, sizeof *w->early_cap);
    w->weight = ckpd__calloc(w->context, (size_t)w->samples, sizeof *w->weight);
    if (w->target == NULL || w->weight == NULL || w->early_cap == NULL) {
        return ckpd__no_memory(w->context);
    }
    for (int32_t i = 0; i < w->samples; i++) {
        double t = ckpd__window_sample_s(w, i);
        double deficit = 0.0, before = INF, given = 0.0;
        for (int32_t e = 0; e < w->events; e++) {
            const double *v = w->shape->event[w->event[e]]->values;
            deficit += v[EVENT_DEPTH_W] * ckpd__event_shape(v, ckpd__window_round(t - onset(w, e)));
            if (t < onset(w, e) - SLACK_S && t > onset(w, e) - lead(w) - 1.0) {
                before = (isinf(before) ? 0.0 : before) +
                         w->shape->values[SHAPE_EARLY_SHARE] * v[EVENT_DEPTH_W];
            }
        }
        for (int32_t c = 0; c < count; c++) {
            double since = t - ckpd__window_time(w, carried[c].start_s) - w->rig->delay_s;
            given +=
                carried[c].groups *
                ckpd__profile_power(&w->rig->profile[carried[c].row], since,
                                    ckpd__rig_run_s(w->rig, carried[c].start_s, carried[c].stop_s));
        }
        w->target[i] = (deficit - given) / w->unit_w;
        w->weight[i] = weight_at(w, t);
        double cap = (deficit + before - given) / w->unit_w;
        w->early_cap[i] = cap < 0.0 ? 0.0 : cap;
    }
    return CKPD_OK;
}

static int32_t add_caps(ckpd__window *w, const ckpd__launch *carried, int32_t count)
{
    w->slot_cap = ckpd__calloc(w->context, (size_t)w->slots, sizeof *w->slot_cap);
    w->queue = ckpd__memdup(w->context, w->rig->queue, (size_t)w->rig->fillers, sizeof *w->queue);
    if (w->slot_cap == NULL || w->queue == NULL) {
        return ckpd__no_memory(w->context);
    }
    double share = w->shape->values[SHAPE_WASTE_MAX];
    for (int32_t s = 0; s < w->slots; s++) {
        w->slot_cap[s] = floor(w->rig->margin * w->rig->groups + 1e-9);
    }
    for (int32_t c = 0; c < count; c++) {
        const ckpd__profile *p = &w->rig->profile[carried[c].row];
        double run = ckpd__rig_run_s(w->rig, carried[c].start_s, carried[c].stop_s);
        bool early = run < p->duration_s;
        run = early ? run : p->duration_s;
        for (int32_t s = 0; s < w->slots; s++) {
            if (w->slot[s].time_s <
                ckpd__window_time(w, carried[c].start_s) + w->rig->delay_s + run + p->down_s) {
                w->slot_cap[s] -= carried[c].groups;
            }
        }
        w->queue[carried[c].filler] -= carried[c].groups;
        w->waste_room += carried[c].groups * (share * run - (early ? run : 0.0));
    }
    for (int32_t k = 0; k < w->rig->fillers; k++) {
        w->queue[k] = w->queue[k] < 0 ? 0 : w->queue[k];
    }
    for (int32_t s = 0; s < w->slots; s++) {
        w->slot_cap[s] = w->slot_cap[s] < 0.0 ? 0.0 : w->slot_cap[s];
    }
    return CKPD_OK;
}

/* Samples at which the column draws power, and the slots in which it holds its GPUs. */
static void place(ckpd__window *w, ckpd__column *column)
{
    const ckpd__profile *p = &w->rig->profile[column->row];
    double start = w->slot[column->slot].time_s + w->rig->delay_s;
    double stop_after = ckpd__rig_run_s(w->rig, w->slot[column->slot].time_s, column->stop_s);
    double end = start + column->run_s + p->down_s;
    int32_t first = (int32_t)ceil((start - w->start_s) / w->sample_s - SLACK_S);
    int32_t last = (int32_t)floor((end - w->start_s) / w->sample_s + SLACK_S);
    first = first < 0 ? 0 : first;
    last = last >= w->samples ? w->samples - 1 : last;
    column->first_sample = first;
    column->samples = last < first ? 0 : last - first + 1;
    column->first_value = w->powers;
    for (int32_t i = 0; i < column->samples; i++) {
        double since = ckpd__window_round(ckpd__window_sample_s(w, first + i) - start);
        w->power[w->powers++] =
            ckpd__profile_power(p, since < 0.0 ? 0.0 : since, stop_after) / w->unit_w;
    }
    column->first_slot = column->slot;
    int32_t s = column->slot;
    while (s < w->slots && w->slot[s].time_s < end) {
        s++;
    }
    column->slots = s - column->first_slot;
}

/* Writes (or with column NULL only counts) the columns of a slot and row; returns how many. */
static int32_t columns_of(const ckpd__window *w, int32_t slot, int32_t filler, int32_t row,
                          ckpd__column *column)
{
    const ckpd__profile *p = &w->rig->profile[row];
    const double *v = w->shape->values;
    double step = v[SHAPE_STEP_S], start = w->slot[slot].time_s;
    const double *event = w->shape->event[w->slot[slot].event]->values;
    double back = ckpd__window_time(w, event[EVENT_ONSET_S]) + event[EVENT_DURATION_S];
    int32_t reach = v[SHAPE_RETIRE] > 0.0 ? (int32_t)floor(v[SHAPE_RETIRE_S] / step + SLACK_S) : -1;
    int32_t made = 0;
    /* The first turn is the run to the natural end, the others are the stop stages. */
    for (int32_t stage = -reach - 1; stage == -reach - 1 || stage <= reach; stage++) {
        bool whole = stage == -reach - 1;
        double stop = whole ? INF : back + stage * step;
        /* A stop that comes before the power is up, or after the natural end, is no column of its
         * own. */
        if (!whole && (stop <= start + 2.0 * step + SLACK_S ||
                       ckpd__rig_run_s(w->rig, start, stop) >= p->duration_s - SLACK_S)) {
            continue;
        }
        if (column != NULL) {
            ckpd__column *to = &column[made];
            memset(to, 0, sizeof *to);
            to->slot = slot;
            to->row = row;
            to->filler = filler;
            to->stage = whole ? 0 : 1 + stage + reach;
            to->stop_s = stop;
            to->run_s = whole ? p->duration_s : ckpd__rig_run_s(w->rig, start, stop);
            to->waste_s = whole ? 0.0 : to->run_s;
            to->price = (v[SHAPE_WASTE_PRICE] * to->waste_s + v[SHAPE_STRETCH_PRICE] * p->stretch) *
                        1e6 / w->unit_w;
        }
        made++;
    }
    return made;
}

static int32_t add_columns(ckpd__window *w)
{
    int64_t columns = 0, values = 0;
    for (int32_t pass = 0; pass < 2; pass++) {
        int64_t at = 0;
        for (int32_t s = 0; s < w->slots; s++) {
            for (int32_t k = 0; k < w->rig->fillers; k++) {
                for (int32_t row = w->rig->first_row[k]; row < w->rig->first_row[k + 1]; row++) {
                    if (!w->rig->profile[row].planned || w->queue[k] == 0 || w->slot_cap[s] < 1.0) {
                        continue;
                    }
                    at += columns_of(w, s, k, row, pass == 0 ? NULL : &w->column[at]);
                }
            }
        }
        columns = at;
        if (pass == 0) {
            w->column = ckpd__calloc(w->context, (size_t)columns, sizeof *w->column);
            if (w->column == NULL) {
                return ckpd__no_memory(w->context);
            }
        }
    }
    w->columns = (int32_t)columns;
    for (int32_t j = 0; j < w->columns; j++) {
        const ckpd__profile *p = &w->rig->profile[w->column[j].row];
        int64_t span = (int64_t)((w->column[j].run_s + p->down_s) / w->sample_s) + 3;
        values += span < w->samples ? span : w->samples;
    }
    w->power = ckpd__calloc(w->context, (size_t)values, sizeof *w->power);
    if (w->power == NULL) {
        return ckpd__no_memory(w->context);
    }
    for (int32_t j = 0; j < w->columns; j++) {
        place(w, &w->column[j]);
    }
    return CKPD_OK;
}

int32_t ckpd__window_build(ckpd__window *w, const ckpd__launch *carried, int32_t count)
{
    w->sample_s = w->shape->values[SHAPE_STEP_S] / w->shape->values[SHAPE_SAMPLES_PER_STEP];
    int32_t status = add_slots(w);
    if (status == CKPD_OK) {
        status = add_samples(w, carried, count);
    }
    if (status == CKPD_OK) {
        status = add_caps(w, carried, count);
    }
    if (status == CKPD_OK) {
        status = add_columns(w);
    }
    w->peak_price = w->shape->values[SHAPE_PEAK_PRICE] * (double)w->samples;
    if (status != CKPD_OK) {
        ckpd__window_free(w);
    }
    return status;
}

void ckpd__window_free(ckpd__window *w)
{
    ckpd__free(w->context, w->slot);
    ckpd__free(w->context, w->target);
    ckpd__free(w->context, w->weight);
    ckpd__free(w->context, w->early_cap);
    ckpd__free(w->context, w->slot_cap);
    ckpd__free(w->context, w->queue);
    ckpd__free(w->context, w->column);
    ckpd__free(w->context, w->power);
    memset(w, 0, sizeof *w);
}
