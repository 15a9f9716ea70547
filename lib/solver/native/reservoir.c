/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/reservoir.h"
#include "solver/native/storage.h"

#include <math.h>
#include <string.h>

#define NONE ((double)INFINITY)

bool ckpd__nat_reservoir_init(nat_reservoir *reservoir, nat_memory *memory, const nat_model *model,
                              const nat_stack *stack)
{
    int32_t levels = stack->levels[stack->jobs];
    int64_t breakpoints = 0;
    size_t T = (size_t)model->slots;
    for (int32_t t = 0; t < model->slots; t++) {
        int64_t own = model->view->curve_start[t + 1] - model->view->curve_start[t];
        breakpoints = own > breakpoints ? own : breakpoints;
    }
    *reservoir = (nat_reservoir){.model = model, .host = memory->host};
    reservoir->most = (int32_t)breakpoints * levels + 3;
    reservoir->order = ckpd__nat_alloc(memory, (size_t)levels, sizeof *reservoir->order);
    reservoir->corners = ckpd__nat_alloc(memory, T, sizeof *reservoir->corners);
    reservoir->corner = ckpd__nat_alloc(memory, T * (size_t)reservoir->most, sizeof *reservoir->corner);
    reservoir->points = ckpd__nat_alloc(memory, (size_t)reservoir->most, sizeof *reservoir->points);
    reservoir->merged = ckpd__nat_alloc(memory, (size_t)reservoir->most, sizeof *reservoir->merged);
    reservoir->value = ckpd__nat_alloc(memory, T + 1, sizeof *reservoir->value);
    reservoir->mixture = ckpd__nat_alloc(memory, T, sizeof *reservoir->mixture);
    if (!reservoir->order || !reservoir->corners || !reservoir->corner || !reservoir->points ||
        !reservoir->merged || !reservoir->value || !reservoir->mixture)
        return false;
    for (int32_t l = 0; l < levels; l++) { /* insertion sort: nearly sorted by GPUs already */
        int32_t at = l;
        for (; at > 0 && stack->total[reservoir->order[at - 1]].kw < stack->total[l].kw; at--)
            reservoir->order[at] = reservoir->order[at - 1];
        reservoir->order[at] = l;
    }
    return true;
}

void ckpd__nat_reservoir_free(nat_reservoir *reservoir)
{
    for (int32_t t = 0; reservoir->value && t <= reservoir->model->slots; t++)
        if (reservoir->value[t].length)
            reservoir->host->release(reservoir->value[t].length, reservoir->host->user);
}

/* --- the hull of a slot ------------------------------------------------------------------------------ */

static nat_corner corner_at(const nat_model *model, int32_t t, int32_t level, double load, double draw,
                            double beside)
{
    double used = model->storage->throughput_cost_per_kwh * fabs(draw) * model->view->slot_hours;
    return (nat_corner){-ckpd__nat_storage_stored(model, draw),
                        ckpd__nat_curve(model, t, load + draw) + used + beside, draw, level};
}

/* Merges the `count` points of a list sorted by energy into points[0..have). */
static int32_t merge_points(nat_reservoir *reservoir, int32_t have, const nat_corner *list, int32_t count)
{
    int32_t i = 0, k = 0, made = 0;
    while (i < have || k < count) {
        bool first = k >= count || (i < have && reservoir->points[i].energy <= list[k].energy);
        reservoir->merged[made++] = first ? reservoir->points[i++] : list[k++];
    }
    nat_corner *swap = reservoir->points;
    reservoir->points = reservoir->merged;
    reservoir->merged = swap;
    return made;
}

/* Lower convex hull of points sorted by energy; returns the number of its corners. */
static int32_t lower_hull(const nat_corner *point, int32_t count, nat_corner *hull)
{
    int32_t made = 0;
    for (int32_t i = 0; i < count; i++) {
        nat_corner p = point[i];
        if (made > 0 && p.energy <= hull[made - 1].energy) {
            if (p.cost >= hull[made - 1].cost)
                continue;
            made--;
        }
        while (made > 1) {
            const nat_corner *a = &hull[made - 2], *b = &hull[made - 1];
            if ((b->cost - a->cost) * (p.energy - b->energy) < (p.cost - b->cost) * (b->energy - a->energy))
                break;
            made--;
        }
        hull[made++] = p;
    }
    return made;
}

void ckpd__nat_reservoir_slot(nat_reservoir *reservoir, const nat_stack *stack, int32_t t, const double *top)
{
    const nat_model *model = reservoir->model;
    const ckpd_path_view *view = model->view;
    const ckpd_path_storage *s = model->storage;
    int32_t levels = stack->levels[stack->jobs], have = 0;
    double ends[3] = {s->charge_max_kw, 0, -s->discharge_max_kw};
    nat_corner best[3] = {{.cost = NONE}, {.cost = NONE}, {.cost = NONE}};
    nat_corner *list = reservoir->corner + (size_t)t * (size_t)reservoir->most; /* holds lists until the hull */
    for (int32_t l = 0; l < levels; l++) {
        nat_level total = stack->total[l];
        if (!(top[l] < NONE) || !ckpd__nat_fits(model, t, total.gpus, total.kw))
            continue;
        for (int i = 0; i < 3; i++) {
            nat_corner p = corner_at(model, t, l, nat_load(model, t, total.kw), ends[i], top[l]);
            best[i] = p.cost < best[i].cost ? p : best[i];
        }
    }
    for (int i = 0; i < 3; i++)
        if (best[i].cost < NONE)
            reservoir->points[have++] = best[i];
    /* At a breakpoint of the curve the energy taken out rises with the load. */
    for (int64_t at = view->curve_start[t]; at < view->curve_start[t + 1]; at++) {
        int32_t found = 0;
        for (int32_t i = levels - 1; i >= 0; i--) {
            int32_t l = reservoir->order[i];
            double load = nat_load(model, t, stack->total[l].kw), draw = view->curve_x_kw[at] - load;
            if (draw <= -s->discharge_max_kw || draw >= s->charge_max_kw || !(top[l] < NONE) ||
                !ckpd__nat_fits(model, t, stack->total[l].gpus, stack->total[l].kw))
                continue;
            list[found++] = corner_at(model, t, l, load, draw, top[l]);
        }
        if (found > 0)
            have = merge_points(reservoir, have, list, found);
    }
    reservoir->corners[t] = lower_hull(reservoir->points, have, list);
}

/* --- over the level of the store ----------------------------------------------------------------------- */

static bool reserve(nat_convex *f, const ckpd_host *host, int32_t room)
{
    f->count = 0;
    if (room <= f->room)
        return true;
    room += room / 2 + 8;
    double *block = host->allocate(2 * (size_t)room * sizeof *block, host->user);
    if (!block)
        return false;
    if (f->length)
        host->release(f->length, host->user);
    f->length = block;
    f->slope = block + room;
    f->room = room;
    return true;
}

static void add_piece(nat_convex *f, double length, double slope)
{
    if (length <= 0)
        return;
    f->length[f->count] = length;
    f->slope[f->count++] = slope;
}

/* f keeps low <= x <= high; then x becomes x / scale. False when nothing is left. */
static bool clip(nat_convex *f, double low, double high, double scale)
{
    double end = f->x, slack = 1e-9 * (1 + fabs(low) + fabs(high));
    int32_t kept = 0;
    for (int32_t i = 0; i < f->count; i++)
        end += f->length[i];
    if (end < low - slack || f->x > high + slack)
        return false;
    double x = f->x;
    int32_t first = 0;
    while (first < f->count && x + f->length[first] <= low) {
        f->y += f->length[first] * f->slope[first];
        x += f->length[first++];
    }
    if (first < f->count && x < low) {
        f->y += (low - x) * f->slope[first];
        f->length[first] -= low - x;
        x = low;
    }
    f->x = x / scale;
    for (int32_t i = first; i < f->count && x < high; i++) {
        double length = f->length[i] < high - x ? f->length[i] : high - x;
        f->length[kept] = length / scale;
        f->slope[kept++] = f->slope[i] * scale;
        x += length;
    }
    f->count = kept;
    return true;
}

static double hull_slope(const nat_corner *corner, int32_t i)
{
    return (corner[i + 1].cost - corner[i].cost) / (corner[i + 1].energy - corner[i].energy);
}

/* value[t] from value[t + 1] and the hull of slot t. */
static bool step_back(nat_reservoir *reservoir, int32_t t)
{
    const ckpd_path_storage *s = reservoir->model->storage;
    const nat_corner *corner = reservoir->corner + (size_t)t * (size_t)reservoir->most;
    const nat_convex *after = &reservoir->value[t + 1];
    nat_convex *here = &reservoir->value[t];
    int32_t pieces = reservoir->corners[t] - 1;
    if (pieces < 0)
        return false;
    if (!reserve(here, reservoir->host, after->count + pieces)) {
        reservoir->failed = true;
        return false;
    }
    here->x = after->x + corner[0].energy;
    here->y = after->y + corner[0].cost;
    double own = pieces > 0 ? hull_slope(corner, 0) : 0;
    for (int32_t i = 0, k = 0; i < after->count || k < pieces;) {
        if (k >= pieces || (i < after->count && after->slope[i] <= own)) {
            add_piece(here, after->length[i], after->slope[i]);
            i++;
        } else {
            add_piece(here, corner[k + 1].energy - corner[k].energy, own);
            if (++k < pieces)
                own = hull_slope(corner, k);
        }
    }
    double low = t > 0 ? s->soc_min_kwh : s->soc_start_kwh, high = t > 0 ? s->soc_max_kwh : low;
    return clip(here, low * s->retention, high * s->retention, s->retention);
}

/* Splits what is there before slot t between the slot and the level after it; returns that level. */
static double step_on(nat_reservoir *reservoir, int32_t t, double level, double *worth)
{
    const nat_corner *corner = reservoir->corner + (size_t)t * (size_t)reservoir->most;
    const nat_convex *after = &reservoir->value[t + 1];
    int32_t pieces = reservoir->corners[t] - 1, i = 0, k = 0;
    double next = after->x, part = 0, slope = 0;
    double left = level * reservoir->model->storage->retention - (after->x + corner[0].energy);
    bool any = false;
    while (left > 0 && (i < after->count || k < pieces)) {
        double own = k < pieces ? hull_slope(corner, k) : NONE;
        bool ahead = i < after->count && after->slope[i] <= own;
        double length = ahead ? after->length[i] : corner[k + 1].energy - corner[k].energy;
        double taken = left < length ? left : length;
        slope = ahead ? after->slope[i] : own;
        any = true;
        left -= taken;
        if (ahead) {
            next += taken;
            i++;
        } else if (taken < length) {
            part = taken / length;
            break;
        } else {
            k++;
        }
    }
    if (!any) /* at the left end: any slope up to the first will do */
        slope = fmin(after->count > 0 ? after->slope[0] : NONE, pieces > 0 ? hull_slope(corner, 0) : NONE);
    *worth = slope < NONE ? -slope : 0;
    reservoir->mixture[t] = k < pieces || k == 0 ? (nat_mixture){k, part} : (nat_mixture){k - 1, 1};
    return next;
}

double ckpd__nat_reservoir_solve(nat_reservoir *reservoir, double *worth)
{
    const nat_model *model = reservoir->model;
    const ckpd_path_storage *s = model->storage;
    nat_convex *end = &reservoir->value[model->slots];
    double low = s->terminal == CKPD_TERMINAL_FREE ? s->soc_min_kwh : fmax(s->soc_end_kwh, s->soc_min_kwh);
    double high = s->terminal == CKPD_TERMINAL_EQUAL ? fmin(s->soc_end_kwh, s->soc_max_kwh) : s->soc_max_kwh;
    if (low > high)
        return NONE;
    if (!reserve(end, reservoir->host, 1)) {
        reservoir->failed = true;
        return NONE;
    }
    end->x = low;
    end->y = -s->end_value_per_kwh * low;
    add_piece(end, high - low, -s->end_value_per_kwh);
    for (int32_t t = model->slots - 1; t >= 0; t--)
        if (!step_back(reservoir, t))
            return NONE;
    double level = s->soc_start_kwh;
    for (int32_t t = 0; t < model->slots; t++)
        level = step_on(reservoir, t, level, &worth[t]);
    return reservoir->value[0].y;
}
