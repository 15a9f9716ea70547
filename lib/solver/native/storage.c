/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/storage.h"

#include <math.h>

double ckpd__nat_storage_stored(const nat_model *model, double draw)
{
    const ckpd_path_storage *s = model->storage;
    double h = model->view->slot_hours;
    return draw > 0 ? draw * h * s->eta_charge : draw * h / s->eta_discharge;
}

double ckpd__nat_soc_low(const ckpd_path_storage *s, int32_t boundary)
{
    return s->soc_floor_kwh ? s->soc_floor_kwh[boundary] : s->soc_min_kwh;
}

double ckpd__nat_soc_end_cost(const ckpd_path_storage *s, double level)
{
    double missing = s->soc_end_kwh - level;
    return s->end_short_cost_per_kwh * fmax(missing, 0) +
           s->end_over_cost_per_kwh * fmax(-missing, 0) - s->end_value_per_kwh * level;
}

/* What a draw costs beside `curve`, the cost of the slot with it. */
static double slot_value(const nat_model *model, double curve, double worth, double draw)
{
    const ckpd_path_storage *s = model->storage;
    return curve + s->throughput_cost_per_kwh * fabs(draw) * model->view->slot_hours -
           worth * ckpd__nat_storage_stored(model, draw);
}

double ckpd__nat_storage_slot(const nat_model *model, int32_t t, double load, double worth,
                              double *draw)
{
    const ckpd_path_view *view = model->view;
    const ckpd_path_storage *s = model->storage;
    double ends[3] = {0, -s->discharge_max_kw, s->charge_max_kw}, best = (double)INFINITY;
    *draw = 0;
    for (int i = 0; i < 3; i++) {
        double value = slot_value(model, ckpd__nat_curve(model, t, load + ends[i]), worth, ends[i]);
        if (value < best) {
            best = value;
            *draw = ends[i];
        }
    }
    for (int64_t i = view->curve_start[t]; i < view->curve_start[t + 1]; i++) {
        double at = view->curve_x_kw[i] - load;
        if (at < -s->discharge_max_kw || at > s->charge_max_kw)
            continue;
        double value = slot_value(model, view->curve_cost[i], worth, at);
        if (value < best) {
            best = value;
            *draw = at;
        }
    }
    return best;
}

/* The end costs a convex function of the level: least at a limit or where it bends. */
static double least_end(const ckpd_path_storage *s, double rate, double low, double high)
{
    double bend = fmin(fmax(s->soc_end_kwh, low), high);
    double at_bend = rate * bend + ckpd__nat_soc_end_cost(s, bend);
    return fmin(at_bend, fmin(rate * low + ckpd__nat_soc_end_cost(s, low),
                              rate * high + ckpd__nat_soc_end_cost(s, high)));
}

double ckpd__nat_storage_levels(const nat_model *model, const double *worth)
{
    const ckpd_path_storage *s = model->storage;
    int32_t T = model->slots;
    double sum = 0;
    for (int32_t t = 0; t <= T; t++) {
        double low = t == 0 ? s->soc_start_kwh : ckpd__nat_soc_low(s, t),
               high = t == 0 ? low : s->soc_max_kwh;
        double rate = (t > 0 ? worth[t - 1] : 0) - (t < T ? s->retention * worth[t] : 0);
        if (t == T && s->terminal != CKPD_TERMINAL_FREE)
            low = fmax(low, s->soc_end_kwh);
        if (t == T && s->terminal == CKPD_TERMINAL_EQUAL)
            high = fmin(high, s->soc_end_kwh);
        sum += t < T ? rate * (rate > 0 ? low : high) : least_end(s, rate, low, high);
    }
    return sum;
}
