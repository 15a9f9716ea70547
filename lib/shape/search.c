/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Whole groups while they are looked for: what is started, what room is left, and the error that
 * remains.
 */
#include "shape/search.h"

#include <math.h>
#include <string.h>

bool ckpd__search_start(ckpd__search *s, const ckpd__window *w)
{
    ckpd_context *context = w->context;
    size_t samples = (size_t)w->samples;
    memset(s, 0, sizeof *s);
    s->w = w;
    s->groups = ckpd__calloc(context, (size_t)w->columns, sizeof *s->groups);
    s->held = ckpd__calloc(context, (size_t)w->slots, sizeof *s->held);
    s->left = ckpd__memdup(context, w->queue, (size_t)w->rig->fillers, sizeof *s->left);
    s->error = ckpd__memdup(context, w->target, samples, sizeof *s->error);
    s->missed = ckpd__calloc(context, samples + 1, sizeof *s->missed);
    s->before = ckpd__calloc(context, samples + 1, sizeof *s->before);
    s->after = ckpd__calloc(context, samples + 1, sizeof *s->after);
    s->first_column = ckpd__calloc(context, (size_t)w->slots + 1, sizeof *s->first_column);
    if (s->groups == NULL || s->held == NULL || s->left == NULL || s->error == NULL ||
        s->missed == NULL || s->before == NULL || s->after == NULL || s->first_column == NULL) {
        return false;
    }
    for (int32_t slot = 0, j = 0; slot <= w->slots; slot++) {
        while (j < w->columns && w->column[j].slot < slot) {
            j++;
        }
        s->first_column[slot] = j;
    }
    for (int32_t i = 0; i < w->samples; i++) {
        s->capped = isinf(w->early_cap[i]) ? s->capped : i + 1;
    }
    return true;
}

void ckpd__search_end(ckpd__search *s)
{
    ckpd_context *context = s->w->context;
    ckpd__free(context, s->groups);
    ckpd__free(context, s->held);
    ckpd__free(context, s->left);
    ckpd__free(context, s->error);
    ckpd__free(context, s->missed);
    ckpd__free(context, s->before);
    ckpd__free(context, s->after);
    ckpd__free(context, s->first_column);
}

void ckpd__search_reset(ckpd__search *s, const int32_t *groups)
{
    const ckpd__window *w = s->w;
    memset(s->groups, 0, (size_t)w->columns * sizeof *s->groups);
    memset(s->held, 0, (size_t)w->slots * sizeof *s->held);
    memcpy(s->left, w->queue, (size_t)w->rig->fillers * sizeof *s->left);
    memcpy(s->error, w->target, (size_t)w->samples * sizeof *s->error);
    s->waste_used = s->price = 0.0;
    for (int32_t j = 0; groups != NULL && j < w->columns; j++) {
        if (groups[j] != 0) {
            ckpd__search_apply(s, j, groups[j]);
        }
    }
    ckpd__search_refresh(s);
}

static double waste_of(const ckpd__window *w, const ckpd__column *column)
{
    return column->waste_s - w->shape->values[SHAPE_WASTE_MAX] * column->run_s;
}

bool ckpd__search_waste_holds(const ckpd__search *s)
{
    return s->w->shape->values[SHAPE_RETIRE] <= 0.0 || s->waste_used <= s->w->waste_room + 1e-9;
}

bool ckpd__search_allowed(const ckpd__search *s, int32_t j, int32_t by)
{
    const ckpd__window *w = s->w;
    const ckpd__column *column = &w->column[j];
    if (s->groups[j] + by < 0 || s->left[column->filler] < by) {
        return false;
    }
    double waste = by * waste_of(w, column);
    if (waste > 0.0 && w->shape->values[SHAPE_RETIRE] > 0.0 &&
        s->waste_used + waste > w->waste_room + 1e-9) {
        return false;
    }
    if (by <= 0) {
        return true;
    }
    for (int32_t i = 0; i < column->slots; i++) {
        if (s->held[column->first_slot + i] + by > w->slot_cap[column->first_slot + i] + 1e-9) {
            return false;
        }
    }
    const double *power = &w->power[column->first_value];
    for (int32_t i = 0; i < column->samples && column->first_sample + i < s->capped; i++) {
        int32_t at = column->first_sample + i;
        if (power[i] > 0.0 &&
            w->target[at] - s->error[at] + by * power[i] > w->early_cap[at] + 1e-9) {
            return false;
        }
    }
    return true;
}

void ckpd__search_apply(ckpd__search *s, int32_t j, int32_t by)
{
    const ckpd__window *w = s->w;
    const ckpd__column *column = &w->column[j];
    s->groups[j] += by;
    s->left[column->filler] -= by;
    s->waste_used += by * waste_of(w, column);
    s->price += by * column->price;
    for (int32_t i = 0; i < column->slots; i++) {
        s->held[column->first_slot + i] += by;
    }
    for (int32_t i = 0; i < column->samples; i++) {
        s->error[column->first_sample + i] -= by * w->power[column->first_value + i];
    }
}

void ckpd__search_refresh(ckpd__search *s)
{
    int32_t n = s->w->samples;
    s->plain = 0.0;
    for (int32_t i = 0; i < n; i++) {
        double size = fabs(s->error[i]);
        s->plain += size;
        s->missed[i + 1] = s->missed[i] + size * s->w->weight[i];
        s->before[i + 1] = size > s->before[i] ? size : s->before[i];
    }
    s->after[n] = 0.0;
    for (int32_t i = n - 1; i >= 0; i--) {
        double size = fabs(s->error[i]);
        s->after[i] = size > s->after[i + 1] ? size : s->after[i + 1];
    }
}

double ckpd__search_objective(const ckpd__search *s)
{
    return s->missed[s->w->samples] + s->price + s->w->peak_price * s->after[0];
}

/* The inner loop of the whole search. Two sums and two peaks keep the processor's units busy. */
double ckpd__search_objective_with(const ckpd__search *s, int32_t j, int32_t by)
{
    const ckpd__column *column = &s->w->column[j];
    const double *power = &s->w->power[column->first_value];
    int32_t first = column->first_sample, last = first + column->samples, n = column->samples;
    const double *error = s->error + first, *weight = s->w->weight + first;
    double sum[2] = {s->missed[s->w->samples] - (s->missed[last] - s->missed[first]), 0.0};
    double peak[2] = {s->before[first], s->after[last]};
    int32_t i = 0;
    for (; i + 1 < n; i += 2) {
        double a = fabs(error[i] - by * power[i]), b = fabs(error[i + 1] - by * power[i + 1]);
        sum[0] += a * weight[i];
        sum[1] += b * weight[i + 1];
        peak[0] = a > peak[0] ? a : peak[0];
        peak[1] = b > peak[1] ? b : peak[1];
    }
    if (i < n) {
        double a = fabs(error[i] - by * power[i]);
        sum[0] += a * weight[i];
        peak[0] = a > peak[0] ? a : peak[0];
    }
    return sum[0] + sum[1] + s->price + by * column->price +
           s->w->peak_price * (peak[0] > peak[1] ? peak[0] : peak[1]);
}
