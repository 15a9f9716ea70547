/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/reservoir.h"
#include "solver/native/storage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE ((double)INFINITY)

/* --- candidates
 * ---------------------------------------------------------------------------------------- */

static int compare_corners(const void *left, const void *right)
{
    const nat_corner *a = left, *b = right;
    if (a->energy < b->energy || a->energy > b->energy)
        return a->energy < b->energy ? -1 : 1;
    return a->level < b->level ? -1 : a->level > b->level;
}

/* `curve`: the cost of the slot with this draw. */
static void add_candidate(nat_reservoir *reservoir, int32_t t, int32_t level, double curve,
                          double draw)
{
    const nat_model *model = reservoir->model;
    double used = model->storage->throughput_cost_per_kwh * fabs(draw) * model->view->slot_hours;
    nat_corner corner = {-ckpd__nat_storage_stored(model, draw), curve + used, draw, level};
    if (reservoir->extra)
        corner.cost += reservoir->extra[(size_t)t * (size_t)reservoir->levels + (size_t)level];
    if (corner.cost < NONE)
        reservoir
            ->candidate[(size_t)t * (size_t)reservoir->most + (size_t)reservoir->candidates[t]++] =
            corner;
}

/* The draws between the limits at which the curve bends, by energy. */
static void add_bends(nat_reservoir *reservoir, int32_t levels, const double *loads, int32_t t,
                      double low, double high)
{
    const nat_model *model = reservoir->model;
    const ckpd_path_view *view = model->view;
    nat_corner *all = reservoir->candidate + (size_t)t * (size_t)reservoir->most;
    int32_t first = reservoir->candidates[t];
    for (int32_t l = 0; l < levels; l++)
        for (int64_t at = view->curve_start[t]; loads[l] < NONE && at < view->curve_start[t + 1];
             at++) {
            double draw = view->curve_x_kw[at] - loads[l];
            if (draw > low && draw < high)
                add_candidate(reservoir, t, l, view->curve_cost[at], draw);
        }
    qsort(all + first, (size_t)(reservoir->candidates[t] - first), sizeof *all, compare_corners);
}

static void add_draw(nat_reservoir *reservoir, int32_t levels, const double *loads, int32_t t,
                     double draw)
{
    for (int32_t l = 0; l < levels; l++)
        if (loads[l] < NONE)
            add_candidate(reservoir, t, l, ckpd__nat_curve(reservoir->model, t, loads[l] + draw),
                          draw);
}

/* The cost of a level over the draw bends at full charge, at rest, at full discharge and with the
 * curve. In order of energy. */
static void fill_candidates(nat_reservoir *reservoir, int32_t levels, const double *loads,
                            int32_t t)
{
    const ckpd_path_storage *s = reservoir->model->storage;
    add_draw(reservoir, levels, loads, t, s->charge_max_kw);
    add_bends(reservoir, levels, loads, t, 0, s->charge_max_kw);
    add_draw(reservoir, levels, loads, t, 0);
    add_bends(reservoir, levels, loads, t, -s->discharge_max_kw, 0);
    add_draw(reservoir, levels, loads, t, -s->discharge_max_kw);
    ckpd__nat_reservoir_narrow(reservoir, t, NULL, -NONE, NONE);
}

void ckpd__nat_reservoir_narrow(nat_reservoir *reservoir, int32_t t, const double *top, double low,
                                double high)
{
    size_t first = (size_t)t * (size_t)reservoir->most;
    const nat_corner *candidate = reservoir->candidate + first;
    int32_t *run = reservoir->run + first, live = 0;
    for (int32_t i = 0; i < reservoir->candidates[t]; i++)
        if ((!top || top[candidate[i].level] < NONE) && candidate[i].draw >= low &&
            candidate[i].draw <= high) {
            reservoir->origin[first + (size_t)live] = i;
            reservoir->cost[first + (size_t)live] = candidate[i].cost;
            reservoir->level[first + (size_t)live++] = candidate[i].level;
        }
    reservoir->live[t] = live;
    for (int32_t i = live - 1; i >= 0; i--) {
        const int32_t *here = reservoir->origin + first + i;
        bool same = i + 1 < live && candidate[here[1]].energy <= candidate[here[0]].energy;
        run[i] = same ? run[i + 1] : i + 1;
    }
}

/* Far fewer than levels times bends: most bends are out of the storage's reach. */
static int32_t count_candidates(const nat_model *model, int32_t levels, const double *loads,
                                int32_t t)
{
    const ckpd_path_view *view = model->view;
    const ckpd_path_storage *s = model->storage;
    int32_t count = 0;
    for (int32_t l = 0; l < levels; l++) {
        if (!(loads[l] < NONE))
            continue;
        count += 3;
        for (int64_t at = view->curve_start[t]; at < view->curve_start[t + 1]; at++) {
            double draw = view->curve_x_kw[at] - loads[l];
            count += draw > -s->discharge_max_kw && draw < s->charge_max_kw;
        }
    }
    return count;
}

bool ckpd__nat_reservoir_init(nat_reservoir *reservoir, nat_memory *memory, const nat_model *model,
                              int32_t levels, const double *load, const double *extra)
{
    size_t T = (size_t)model->slots;
    *reservoir =
        (nat_reservoir){.model = model, .host = memory->host, .extra = extra, .levels = levels};
    for (int32_t t = 0; t < model->slots; t++) {
        int32_t own = count_candidates(model, levels, load + (size_t)t * (size_t)levels, t);
        reservoir->most = own > reservoir->most ? own : reservoir->most;
    }
    reservoir->most += 2; /* for soft ends */
    size_t size = T * (size_t)reservoir->most;
    reservoir->candidates = ckpd__nat_alloc(memory, T, sizeof *reservoir->candidates);
    reservoir->candidate = ckpd__nat_alloc(memory, size, sizeof *reservoir->candidate);
    reservoir->live = ckpd__nat_alloc(memory, T, sizeof *reservoir->live);
    reservoir->origin = ckpd__nat_alloc(memory, size, sizeof *reservoir->origin);
    reservoir->cost = ckpd__nat_alloc(memory, size, sizeof *reservoir->cost);
    reservoir->level = ckpd__nat_alloc(memory, size, sizeof *reservoir->level);
    reservoir->run = ckpd__nat_alloc(memory, size, sizeof *reservoir->run);
    reservoir->corners = ckpd__nat_alloc(memory, T, sizeof *reservoir->corners);
    reservoir->corner = ckpd__nat_alloc(memory, size, sizeof *reservoir->corner);
    reservoir->value = ckpd__nat_alloc(memory, T + 1, sizeof *reservoir->value);
    reservoir->mixture = ckpd__nat_alloc(memory, T, sizeof *reservoir->mixture);
    if (!reservoir->live || !reservoir->origin || !reservoir->cost || !reservoir->level ||
        !reservoir->run || !reservoir->candidates || !reservoir->candidate || !reservoir->corners ||
        !reservoir->corner || !reservoir->value || !reservoir->mixture)
        return false;
    for (int32_t t = 0; t < model->slots; t++)
        fill_candidates(reservoir, levels, load + (size_t)t * (size_t)levels, t);
    reservoir->extra = NULL;
    return true;
}

void ckpd__nat_reservoir_free(nat_reservoir *reservoir)
{
    for (int32_t t = 0; reservoir->value && t <= reservoir->model->slots; t++)
        if (reservoir->value[t].length)
            reservoir->host->release(reservoir->value[t].length, reservoir->host->user);
}

/* --- the hull of a slot
 * ------------------------------------------------------------------------------ */

/* Adds p, which lies right of all corners so far, to a lower hull; returns its new number of
 * corners. */
static int32_t add_corner(nat_corner *hull, int32_t made, nat_corner p)
{
    while (made > 1) {
        const nat_corner *a = &hull[made - 2], *b = &hull[made - 1];
        if ((b->cost - a->cost) * (p.energy - b->energy) <
            (p.cost - b->cost) * (b->energy - a->energy))
            break;
        made--;
    }
    hull[made] = p;
    return made + 1;
}

void ckpd__nat_reservoir_slot(nat_reservoir *reservoir, int32_t t, const double *top)
{
    size_t first = (size_t)t * (size_t)reservoir->most;
    const nat_corner *candidate = reservoir->candidate + first;
    const double *cost = reservoir->cost + first;
    const int32_t *level = reservoir->level + first, *run = reservoir->run + first;
    nat_corner *hull = reservoir->corner + first;
    int32_t made = 0, count = reservoir->live[t];
    /* Of the candidates with the same energy only the cheapest can be a corner. */
    for (int32_t i = 0; i < count;) {
        int32_t end = run[i], best = i;
        double least = cost[i] + top[level[i]];
        for (int32_t k = i + 1; k < end; k++) {
            double value = cost[k] + top[level[k]];
            best = value < least ? k : best;
            least = value < least ? value : least;
        }
        if (least < NONE) {
            nat_corner p = candidate[reservoir->origin[first + (size_t)best]];
            p.cost = least;
            made = add_corner(hull, made, p);
        }
        i = end;
    }
    reservoir->corners[t] = made;
}

void ckpd__nat_reservoir_soften(nat_reservoir *reservoir, int32_t t, double money)
{
    nat_corner *corner = reservoir->corner + (size_t)t * (size_t)reservoir->most;
    double reach = 2 * (1 + fabs(reservoir->model->storage->soc_max_kwh));
    int32_t count = reservoir->corners[t];
    if (count == 0)
        return;
    memmove(corner + 1, corner, (size_t)count * sizeof *corner);
    corner[count + 1] = corner[count];
    corner[0].energy -= reach;
    corner[0].cost += money * reach;
    corner[count + 1].energy += reach;
    corner[count + 1].cost += money * reach;
    reservoir->corners[t] = count + 2;
}

/* --- over the level of the store
 * ----------------------------------------------------------------------- */

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

/* What rounding leaves of a piece is no piece: its slope would pass for one of the function's. */
static double least_length(const nat_reservoir *reservoir)
{
    return 1e-13 * (1 + reservoir->model->storage->soc_max_kwh);
}

static void add_piece(nat_convex *f, double length, double slope, double least)
{
    if (length <= least)
        return;
    f->length[f->count] = length;
    f->slope[f->count++] = slope;
}

/* f keeps low <= x <= high; then x becomes x / scale. False when nothing is left. */
static bool clip(nat_convex *f, double low, double high, double scale, double least)
{
    double end = f->x, slack = 1e-9 * (1 + fabs(low) + fabs(high));
    int32_t kept = 0;
    for (int32_t i = 0; i < f->count; i++)
        end += f->length[i];
    if (end < low - slack || f->x > high + slack)
        return false;
    double x = f->x;
    int32_t first = 0;
    while (first < f->count && x + f->length[first] <= low + least) {
        f->y += f->length[first] * f->slope[first];
        x += f->length[first++];
    }
    if (first < f->count && x < low) {
        f->y += (low - x) * f->slope[first];
        f->length[first] -= low - x;
        x = low;
    }
    f->x = x / scale;
    for (int32_t i = first; i < f->count && x < high - least; i++) {
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
    double own = pieces > 0 ? hull_slope(corner, 0) : 0, least = least_length(reservoir);
    for (int32_t i = 0, k = 0; i < after->count || k < pieces;) {
        if (k >= pieces || (i < after->count && after->slope[i] <= own)) {
            add_piece(here, after->length[i], after->slope[i], least);
            i++;
        } else {
            add_piece(here, corner[k + 1].energy - corner[k].energy, own, least);
            if (++k < pieces)
                own = hull_slope(corner, k);
        }
    }
    double low = t > 0 ? ckpd__nat_soc_low(s, t) : s->soc_start_kwh;
    double high = t > 0 ? s->soc_max_kwh : low;
    return clip(here, low * s->retention, high * s->retention, s->retention, least);
}

/* Slopes that both the slot and the level after it have where they share what is there: low to
 * high. */
typedef struct slopes {
    double low, high;
} slopes;

/* Splits what is there before slot t between the slot and the level after it; returns that level.
 */
static double step_on(nat_reservoir *reservoir, int32_t t, double level, slopes *common)
{
    const nat_corner *corner = reservoir->corner + (size_t)t * (size_t)reservoir->most;
    const nat_convex *after = &reservoir->value[t + 1];
    int32_t pieces = reservoir->corners[t] - 1, i = 0, k = 0;
    double next = after->x, part = 0;
    double left = level * reservoir->model->storage->retention - (after->x + corner[0].energy);
    /* A corner met up to rounding is met: the slopes on its two sides may differ much. */
    double rounding = 1e-11 * (1 + reservoir->model->storage->soc_max_kwh);
    *common = (slopes){-NONE, NONE};
    while (i < after->count || k < pieces) {
        double own = k < pieces ? hull_slope(corner, k) : NONE;
        bool ahead = i < after->count && after->slope[i] <= own;
        double length = ahead ? after->length[i] : corner[k + 1].energy - corner[k].energy;
        common->high = ahead ? after->slope[i] : own;
        if (left <= rounding)
            break;
        common->low = common->high;
        double taken = left < length - rounding ? left : length;
        left -= taken;
        next += ahead ? taken : 0;
        part = ahead ? part : taken / length;
        if (taken < length)
            break;
        i += ahead;
        k += !ahead;
        part = ahead ? part : 0;
        common->high = NONE;
    }
    reservoir->mixture[t] = k < pieces || k == 0 ? (nat_mixture){k, part} : (nat_mixture){k - 1, 1};
    return next;
}

/*
 * The worths that prove the value: while the level is free to move, energy is worth the same before
 * and after (less what the store loses); at its limits it may change as far as the slopes allow.
 */
static void fill_worths(nat_reservoir *reservoir, double *worth)
{
    const ckpd_path_storage *s = reservoir->model->storage;
    double level = s->soc_start_kwh, slope = -NONE;
    for (int32_t t = 0; t < reservoir->model->slots; t++) {
        slopes common;
        level = step_on(reservoir, t, level, &common);
        slope = fmax(fmin(slope / s->retention, common.high), common.low);
        if (!(slope > -NONE))
            slope = common.high < NONE ? common.high : 0;
        worth[t] = -slope;
    }
}

double ckpd__nat_reservoir_solve(nat_reservoir *reservoir, double *worth)
{
    const nat_model *model = reservoir->model;
    const ckpd_path_storage *s = model->storage;
    nat_convex *end = &reservoir->value[model->slots];
    double low = ckpd__nat_soc_low(s, model->slots);
    low = s->terminal == CKPD_TERMINAL_FREE ? low : fmax(s->soc_end_kwh, low);
    double high =
        s->terminal == CKPD_TERMINAL_EQUAL ? fmin(s->soc_end_kwh, s->soc_max_kwh) : s->soc_max_kwh;
    if (low > high)
        return NONE;
    if (!reserve(end, reservoir->host, 2)) {
        reservoir->failed = true;
        return NONE;
    }
    /* Below and above the end that is wanted: the cost of a missed end bends there. */
    double bend = fmin(fmax(s->soc_end_kwh, low), high), least = least_length(reservoir);
    end->x = low;
    end->y = ckpd__nat_soc_end_cost(s, low);
    add_piece(end, bend - low, -s->end_value_per_kwh - s->end_short_cost_per_kwh, least);
    add_piece(end, high - bend, -s->end_value_per_kwh + s->end_over_cost_per_kwh, least);
    for (int32_t t = model->slots - 1; t >= 0; t--)
        if (!step_back(reservoir, t))
            return NONE;
    fill_worths(reservoir, worth);
    return reservoir->value[0].y;
}
