/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Whole groups from a fractional fit. The power lost or gained by rounding is carried to the next
 * launch of the same stop stage, so that the sum keeps following the curve; then single groups are
 * added, dropped or exchanged with near ones while that lowers the objective. Limits hold at every
 * moment.
 */
#include "shape/window.h"

#include <math.h>
#include <string.h>

static const double GAIN = 1e-9; /* least improvement that counts, units of the objective */

typedef struct search {
    const ckpd__window *w;
    int32_t *groups;
    int32_t *held;          /* [slots] */
    int64_t *left;          /* [fillers] queue */
    double *error;          /* [samples] target less fit */
    double *before, *after; /* [samples + 1] largest |error| left of / from a sample on */
    double waste_used;
    double sum, plain, price; /* of weighted |error|, of |error|, of groups */
} search;

static bool start_search(search *s, const ckpd__window *w)
{
    memset(s, 0, sizeof *s);
    s->w = w;
    s->groups = ckpd__calloc(w->context, (size_t)w->columns, sizeof *s->groups);
    s->held = ckpd__calloc(w->context, (size_t)w->slots, sizeof *s->held);
    s->left = ckpd__memdup(w->context, w->queue, (size_t)w->rig->fillers, sizeof *s->left);
    s->error = ckpd__memdup(w->context, w->target, (size_t)w->samples, sizeof *s->error);
    s->before = ckpd__calloc(w->context, (size_t)w->samples + 1, sizeof *s->before);
    s->after = ckpd__calloc(w->context, (size_t)w->samples + 1, sizeof *s->after);
    return s->groups != NULL && s->held != NULL && s->left != NULL && s->error != NULL &&
           s->before != NULL && s->after != NULL;
}

static void end_search(search *s)
{
    ckpd__free(s->w->context, s->groups);
    ckpd__free(s->w->context, s->held);
    ckpd__free(s->w->context, s->left);
    ckpd__free(s->w->context, s->error);
    ckpd__free(s->w->context, s->before);
    ckpd__free(s->w->context, s->after);
}

static double waste_of(const ckpd__window *w, const ckpd__column *column)
{
    return column->waste_s - w->shape->values[SHAPE_WASTE_MAX] * column->run_s;
}

/* true when `by` more groups (it may be negative) of column j break no limit. */
static bool allowed(const search *s, int32_t j, int32_t by)
{
    const ckpd__window *w = s->w;
    const ckpd__column *column = &w->column[j];
    if (s->groups[j] + by < 0 || s->left[column->filler] < by) {
        return false;
    }
    if (w->shape->values[SHAPE_RETIRE] > 0.0 &&
        s->waste_used + by * waste_of(w, column) > w->waste_room + 1e-9 &&
        by * waste_of(w, column) > 0.0) {
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
    for (int32_t i = 0; i < column->samples; i++) {
        int32_t at = column->first_sample + i;
        if (isinf(w->early_cap[at])) {
            continue;
        }
        if (power[i] > 0.0 &&
            w->target[at] - s->error[at] + by * power[i] > w->early_cap[at] + 1e-9) {
            return false;
        }
    }
    return true;
}

static void apply(search *s, int32_t j, int32_t by)
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

static void refresh(search *s)
{
    int32_t n = s->w->samples;
    s->sum = s->plain = 0.0;
    for (int32_t i = 0; i < n; i++) {
        double size = fabs(s->error[i]);
        s->sum += size * s->w->weight[i];
        s->plain += size;
        s->before[i + 1] = size > s->before[i] ? size : s->before[i];
    }
    s->after[n] = 0.0;
    for (int32_t i = n - 1; i >= 0; i--) {
        double size = fabs(s->error[i]);
        s->after[i] = size > s->after[i + 1] ? size : s->after[i + 1];
    }
}

static double objective_now(const search *s)
{
    return s->sum + s->price + s->w->peak_price * s->after[0];
}

static double objective_with(const search *s, int32_t j, int32_t by)
{
    const ckpd__column *column = &s->w->column[j];
    const double *power = &s->w->power[column->first_value];
    int32_t first = column->first_sample, last = first + column->samples;
    double sum = s->sum,
           peak = s->before[first] > s->after[last] ? s->before[first] : s->after[last];
    for (int32_t i = 0; i < column->samples; i++) {
        double was = s->error[first + i], is = fabs(was - by * power[i]);
        sum += (is - fabs(was)) * s->w->weight[first + i];
        peak = is > peak ? is : peak;
    }
    return sum + s->price + by * column->price + s->w->peak_price * peak;
}

/* `offset` is the share of a group from which one is started: 0.5 rounds to the nearest. */
static void round_carried(search *s, const double *x, double offset)
{
    const ckpd__window *w = s->w;
    int32_t stages = 0;
    for (int32_t j = 0; j < w->columns; j++) {
        stages = w->column[j].stage > stages ? w->column[j].stage : stages;
    }
    for (int32_t stage = 0; stage <= stages; stage++) {
        double carry = 0.0;
        for (int32_t j = 0; j < w->columns; j++) {
            if (w->column[j].stage != stage || x[j] <= 1e-9) {
                continue;
            }
            double power = w->rig->profile[w->column[j].row].power_w;
            int32_t count = (int32_t)floor(x[j] + carry / power + 1.0 - offset);
            count = count < 0 ? 0 : count;
            /* Groups that run to their end come first, so there is room for those that are stopped.
             */
            while (count > 0 && !allowed(s, j, count)) {
                count--;
            }
            apply(s, j, count);
            carry += (x[j] - count) * power;
        }
    }
    refresh(s);
}

static bool single_moves(search *s)
{
    bool better = false;
    for (int32_t j = 0; j < s->w->columns; j++) {
        for (int32_t by = -1; by <= 1; by += 2) {
            if (allowed(s, j, by) && objective_with(s, j, by) < objective_now(s) - GAIN) {
                apply(s, j, by);
                refresh(s);
                better = true;
            }
        }
    }
    return better;
}

/* One group of a used column against one of a column up to three slots away. */
static bool paired_moves(search *s)
{
    const ckpd__window *w = s->w;
    bool better = false;
    for (int32_t j = 0; j < w->columns; j++) {
        if (s->groups[j] == 0) {
            continue;
        }
        double was = objective_now(s), best = was - GAIN;
        int32_t best_k = -1;
        int32_t first = j, last = j;
        while (first > 0 && w->column[first - 1].slot >= w->column[j].slot - 3) {
            first--;
        }
        while (last < w->columns - 1 && w->column[last + 1].slot <= w->column[j].slot + 3) {
            last++;
        }
        apply(s, j, -1);
        refresh(s);
        for (int32_t k = first; k <= last; k++) {
            if (k != j && allowed(s, k, 1)) {
                double objective = objective_with(s, k, 1);
                if (objective < best) {
                    best = objective;
                    best_k = k;
                }
            }
        }
        /* Dropping a group that runs to its end may break the waste limit unless the exchange mends
         * it. */
        if (best_k >= 0) {
            apply(s, best_k, 1);
        }
        if (best_k < 0 ||
            (w->shape->values[SHAPE_RETIRE] > 0.0 && s->waste_used > w->waste_room + 1e-9)) {
            if (best_k >= 0) {
                apply(s, best_k, -1);
            }
            apply(s, j, 1);
            best_k = -1;
        }
        refresh(s);
        better = better || best_k >= 0;
    }
    return better;
}

static void restart(search *s)
{
    const ckpd__window *w = s->w;
    memset(s->groups, 0, (size_t)w->columns * sizeof *s->groups);
    memset(s->held, 0, (size_t)w->slots * sizeof *s->held);
    memcpy(s->left, w->queue, (size_t)w->rig->fillers * sizeof *s->left);
    memcpy(s->error, w->target, (size_t)w->samples * sizeof *s->error);
    s->waste_used = s->price = 0.0;
}

static void descend(search *s)
{
    bool better = true;
    for (int32_t round = 0; better && round < 12; round++) {
        better = false;
        while (single_moves(s)) {
            better = true;
        }
        better = paired_moves(s) || better;
    }
}

static void keep_best(const search *s, int32_t *groups, double *objective, double *error)
{
    if (objective_now(s) < *objective) {
        memcpy(groups, s->groups, (size_t)s->w->columns * sizeof *groups);
        *objective = objective_now(s);
        *error = s->plain / s->w->samples;
    }
}

int32_t ckpd__fit_round(const ckpd__window *w, const double *x, int32_t *groups, double *objective,
                        double *error)
{
    static const double offsets[] = {0.5, 0.35, 0.65, 0.8, 0.2};
    search s;
    if (!start_search(&s, w)) {
        end_search(&s);
        return ckpd__no_memory(w->context);
    }
    *objective = (double)INFINITY;
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        restart(&s);
        round_carried(&s, x, offsets[i]);
        descend(&s);
        keep_best(&s, groups, objective, error);
    }
    end_search(&s);
    return CKPD_OK;
}
