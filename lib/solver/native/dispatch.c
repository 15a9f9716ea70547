/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/storage.h"

#include <math.h>
#include <string.h>

bool ckpd__nat_dispatch_init(nat_dispatch *dispatch, nat_memory *memory, const nat_model *model)
{
    *dispatch = (nat_dispatch){.model = model, .host = memory->host};
    dispatch->value = ckpd__nat_alloc(memory, (size_t)model->slots + 1, sizeof *dispatch->value);
    return dispatch->value != NULL;
}

void ckpd__nat_dispatch_free(nat_dispatch *dispatch)
{
    for (int32_t t = 0; dispatch->value && t <= dispatch->model->slots; t++)
        ckpd__nat_piecewise_free(&dispatch->value[t], dispatch->host);
    ckpd__nat_piecewise_free(&dispatch->slot, dispatch->host);
    ckpd__nat_piecewise_free(&dispatch->spare[0], dispatch->host);
    ckpd__nat_piecewise_free(&dispatch->spare[1], dispatch->host);
}

static double draw_cost(const nat_model *model, int32_t t, double load, double draw)
{
    return ckpd__nat_curve(model, t, load + draw) +
           model->storage->throughput_cost_per_kwh * fabs(draw) * model->view->slot_hours;
}

/* The draw that takes `energy` out of the store in one slot (negative: charges it). */
static double draw_of(const nat_model *model, double energy)
{
    const ckpd_path_storage *s = model->storage;
    double h = model->view->slot_hours;
    return energy > 0 ? -energy * s->eta_discharge / h : -energy / (s->eta_charge * h);
}

/* dispatch->slot(w): cost of slot t when w kWh leave the store, between the breakpoints of the
 * curve. */
static bool fill_slot(nat_dispatch *dispatch, int32_t t, double load)
{
    const nat_model *model = dispatch->model;
    const ckpd_path_view *view = model->view;
    const ckpd_path_storage *s = model->storage;
    int64_t first = view->curve_start[t], last = view->curve_start[t + 1] - 1;
    double from = fmin(s->charge_max_kw, view->curve_x_kw[last] - load);
    double to = fmax(-s->discharge_max_kw, view->curve_x_kw[first] - load);
    dispatch->slot.count = 0;
    if (from < to) {
        if (from < to - 1e-9 * (1 + fabs(load)))
            return true;
        from = to;
    }
    /* Draws fall from `from` to `to` while the energy taken out rises. */
    double draw = from;
    int64_t next = last;
    while (true) {
        double goal = draw > 0 && to < 0 ? 0 : to;
        while (next >= first && view->curve_x_kw[next] - load >= draw)
            next--;
        if (next >= first && view->curve_x_kw[next] - load > goal)
            goal = view->curve_x_kw[next] - load;
        nat_piece piece = {-ckpd__nat_storage_stored(model, draw), draw_cost(model, t, load, draw),
                           -ckpd__nat_storage_stored(model, goal), draw_cost(model, t, load, goal)};
        if (!ckpd__nat_piecewise_add(&dispatch->slot, dispatch->host, piece))
            return false;
        if (goal <= to)
            return true;
        draw = goal;
    }
}

static bool fill_end(nat_dispatch *dispatch)
{
    const ckpd_path_storage *s = dispatch->model->storage;
    nat_piecewise *end = &dispatch->value[dispatch->model->slots];
    double low = ckpd__nat_soc_low(s, dispatch->model->slots);
    low = s->terminal == CKPD_TERMINAL_FREE ? low : fmax(s->soc_end_kwh, low);
    double high =
        s->terminal == CKPD_TERMINAL_EQUAL ? fmin(s->soc_end_kwh, s->soc_max_kwh) : s->soc_max_kwh;
    end->count = 0;
    if (low > high)
        return true; /* no level will do */
    double bend = s->end_short_cost_per_kwh + s->end_over_cost_per_kwh > 0
                      ? fmin(fmax(s->soc_end_kwh, low), high)
                      : low;
    if (bend > low && !ckpd__nat_piecewise_add(end, dispatch->host,
                                               (nat_piece){low, ckpd__nat_soc_end_cost(s, low),
                                                           bend, ckpd__nat_soc_end_cost(s, bend)}))
        return false;
    return (bend > low && bend >= high) ||
           ckpd__nat_piecewise_add(end, dispatch->host,
                                   (nat_piece){bend, ckpd__nat_soc_end_cost(s, bend), high,
                                               ckpd__nat_soc_end_cost(s, high)});
}

/* Level after slot t that costs least from `level` on. */
static double best_next(const nat_dispatch *dispatch, int32_t t, double level)
{
    const nat_piecewise *after = &dispatch->value[t + 1], *slot = &dispatch->slot;
    double kept = level * dispatch->model->storage->retention, best = (double)INFINITY, next = kept;
    for (int32_t i = 0; i < 2 * (after->count + slot->count); i++) {
        double to;
        if (i < 2 * after->count)
            to = i % 2 ? after->piece[i / 2].x1 : after->piece[i / 2].x0;
        else
            to = kept - (i % 2 ? slot->piece[i / 2 - after->count].x1
                               : slot->piece[i / 2 - after->count].x0);
        double cost =
            ckpd__nat_piecewise_value(slot, kept - to) + ckpd__nat_piecewise_value(after, to);
        if (cost < best) {
            best = cost;
            next = to;
        }
    }
    return next;
}

double ckpd__nat_dispatch_solve(nat_dispatch *dispatch, const double *load, double *draw,
                                double *worth)
{
    const nat_model *model = dispatch->model;
    const ckpd_path_storage *s = model->storage;
    bool ok = fill_end(dispatch);
    for (int32_t t = model->slots - 1; ok && t >= 0; t--) {
        double low = t > 0 ? ckpd__nat_soc_low(s, t) : s->soc_start_kwh;
        double high = t > 0 ? s->soc_max_kwh : low;
        ok = fill_slot(dispatch, t, load[t]) &&
             ckpd__nat_piecewise_convolve(&dispatch->value[t], &dispatch->value[t + 1],
                                          &dispatch->slot, dispatch->spare, dispatch->host);
        ckpd__nat_piecewise_clip(&dispatch->value[t], low * s->retention, high * s->retention,
                                 s->retention);
    }
    dispatch->failed = dispatch->failed || !ok;
    if (!ok || dispatch->value[0].count == 0)
        return (double)INFINITY;
    double level = s->soc_start_kwh, cost = 0;
    for (int32_t t = 0; t < model->slots; t++) {
        if (!fill_slot(dispatch, t, load[t])) {
            dispatch->failed = true;
            return (double)INFINITY;
        }
        double next = best_next(dispatch, t, level);
        draw[t] = draw_of(model, level * s->retention - next);
        draw[t] = fmin(fmax(draw[t], -s->discharge_max_kw), s->charge_max_kw);
        if (worth)
            worth[t] = -ckpd__nat_piecewise_slope(&dispatch->value[t + 1], next);
        cost += draw_cost(model, t, load[t], draw[t]);
        level = level * s->retention + ckpd__nat_storage_stored(model, draw[t]);
    }
    return cost + ckpd__nat_soc_end_cost(s, level);
}
