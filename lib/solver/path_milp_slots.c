/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Columns of slots and of the storage: pieces of the cost curve, charge, discharge, energy. */
#include "solver/path_milp.h"

#include <math.h>

/* --- pieces ----------------------------------------------------------------------------------- */

/* The piece that starts at or after breakpoint i, clipped; false at the end of the curve. */
static bool piece_at(const ckpd__path_milp *m, int32_t slot, int64_t *i, ckpd__piece *piece)
{
    const ckpd_path_view *view = m->view;
    const double *x = view->curve_x_kw, *cost = view->curve_cost;
    for (; *i + 1 < view->curve_start[slot + 1]; ++*i) {
        double from = fmax(x[*i], m->clip_low[slot]), to = fmin(x[*i + 1], m->clip_high[slot]);
        if (to > from) {
            piece->from = from;
            piece->width = to - from;
            piece->slope = (cost[*i + 1] - cost[*i]) / (x[*i + 1] - x[*i]);
            ++*i;
            return true;
        }
    }
    return false;
}

static bool slope_falls(double before, double after)
{
    return after < before - 1e-9 * fmax(fabs(before), fabs(after));
}

static bool falls_later(const ckpd__path_milp *m, int32_t slot, const ckpd__piece *piece)
{
    ckpd__piece ahead = *piece;
    int64_t i = piece->next;
    double slope = piece->slope;
    while (piece_at(m, slot, &i, &ahead)) {
        if (slope_falls(slope, ahead.slope)) {
            return true;
        }
        slope = ahead.slope;
    }
    return false;
}

bool ckpd__next_piece(const ckpd__path_milp *m, int32_t slot, ckpd__piece *piece)
{
    bool first = piece->width == 0, convex = m->view->curve_convex[slot];
    double before = piece->slope;
    int64_t i = first ? m->view->curve_start[slot] : piece->next;
    if (!piece_at(m, slot, &i, piece)) {
        return false;
    }
    piece->next = i;
    piece->run += !first && !convex && slope_falls(before, piece->slope);
    piece->last_run = convex || !falls_later(m, slot, piece);
    return true;
}

/* --- ranges and exclusivity ------------------------------------------------------------------- */

static double most_power(const ckpd_path_job *job, int32_t slot)
{
    double most = 0;
    if (slot < job->source_slot || slot >= job->deadline) {
        return 0;
    }
    for (int32_t i = 0; i < job->modes; i++) {
        most = fmax(most, job->mode_power_kw[i]);
    }
    for (int32_t i = 0; job->move_last_kw != NULL && i < job->moves; i++) {
        most = fmax(most, job->move_last_kw[i]);
    }
    return most;
}

/* Big-M values are widths of pieces, so the curve is cut to what devices and jobs can reach. */
static void clip_slot(ckpd__path_milp *m, int32_t t)
{
    const ckpd_path_view *view = m->view;
    double first = view->curve_x_kw[view->curve_start[t]];
    double last = view->curve_x_kw[view->curve_start[t + 1] - 1];
    double base = ckpd__slot_base_kw(view, t), most = base;
    for (int32_t j = 0; j < view->jobs; j++) {
        most += view->load_factor[t] * most_power(view->job[j], t);
    }
    most = fmax(base, fmin(most, view->load_cap_kw[t]));
    double low = base - m->discharge_max, high = most + m->charge_max;
    m->clip_low[t] = fmin(fmax(first, low), last);
    m->clip_high[t] = fmax(fmin(last, high), first);
}

/*
 * Charging and discharging at once by a and eta^2 a more than needed keeps the energy and only
 * burns a (1 - eta^2). It pays only where burning pays: where the curve falls faster than the
 * throughput cost rises. Elsewhere the binary is left out; equal-cost waste is netted afterwards.
 */
static bool needs_exclusivity(const ckpd__path_milp *m, int32_t t)
{
    const ckpd_path_view *view = m->view;
    const ckpd_path_storage *s = view->storage;
    if (m->charge_max <= 0 || m->discharge_max <= 0) {
        return false;
    }
    double steepest_fall = 0, kept = s->eta_charge * s->eta_discharge;
    ckpd__piece piece = {0};
    while (ckpd__next_piece(m, t, &piece)) {
        steepest_fall = fmax(steepest_fall, -piece.slope);
    }
    double saved = s->throughput_cost_per_kwh * view->slot_hours * (1 + kept);
    bool burning_pays = steepest_fall * (1 - kept) > saved;
    /* Without the waste the draw must still be inside the curve. */
    bool may_leave_curve =
        ckpd__slot_base_kw(view, t) - m->discharge_max < view->curve_x_kw[view->curve_start[t]];
    return burning_pays || (may_leave_curve && kept < 1);
}

int32_t ckpd__milp_plan_slots(ckpd__path_milp *m)
{
    const ckpd_path_view *view = m->view;
    const ckpd_path_storage *s = view->storage;
    if (s != NULL) {
        /* No slot can move more energy than the range of the storage holds. */
        double least = ckpd__soc_low(s, 1);
        for (int32_t t = 2; s->soc_floor_kwh != NULL && t <= view->slots; t++) {
            least = fmin(least, ckpd__soc_low(s, t));
        }
        double low = fmin(least, s->soc_start_kwh), high = fmax(s->soc_max_kwh, s->soc_start_kwh);
        double h = view->slot_hours;
        double in = fmax(0, s->soc_max_kwh - s->retention * low) / (s->eta_charge * h);
        double out = fmax(0, s->retention * high - least) * s->eta_discharge / h;
        m->charge_max = fmin(s->charge_max_kw, in);
        m->discharge_max = fmin(s->discharge_max_kw, out);
    }
    for (int32_t t = 0; t < view->slots; t++) {
        clip_slot(m, t);
        m->exclusive[t] = s != NULL && needs_exclusivity(m, t);
        m->milp.offset += ckpd__curve_cost(view, t, m->clip_low[t]);
    }
    m->milp.offset += view->cost_offset;
    return CKPD_OK;
}

/* --- columns ---------------------------------------------------------------------------------- */

static bool piece_columns(ckpd__path_milp *m)
{
    int32_t row = m->order_row;
    for (int32_t t = 0; t < m->view->slots; t++) {
        ckpd__piece piece = {0};
        int32_t i = 0;
        m->piece_column[t] = m->milp.columns;
        while (ckpd__next_piece(m, t, &piece)) {
            ckpd__milp_tag tag = {'n', 0, piece.run, 0, t, i++};
            bool good = ckpd__milp_column(m, tag, piece.slope, 0, piece.width, false) &&
                        ckpd__milp_entry(m, m->balance_row + t, -1) &&
                        ckpd__milp_entry(m, m->cap_row_of[t], 1);
            if (good && piece.run > 0) {
                good = ckpd__milp_entry(m, row++, 1);
            }
            if (good && !piece.last_run) {
                good = ckpd__milp_entry(m, row++, 1);
            }
            if (!good) {
                return false;
            }
        }
    }
    m->piece_column[m->view->slots] = m->milp.columns;
    return true;
}

/* Entries of the binary that follows run `run`: its own pieces full, those of the next run allowed.
 */
static bool order_entries(ckpd__path_milp *m, int32_t t, int32_t run, int32_t row)
{
    ckpd__piece piece = {0};
    bool good = true;
    while (good && ckpd__next_piece(m, t, &piece)) {
        if (piece.run > 0) {
            good = piece.run != run + 1 || ckpd__milp_entry(m, row, -piece.width);
            row++;
        }
        if (good && !piece.last_run) {
            good = piece.run != run || ckpd__milp_entry(m, row, -piece.width);
            row++;
        }
    }
    return good;
}

static int32_t order_rows_of(const ckpd__path_milp *m, int32_t t, int32_t *runs)
{
    int32_t rows = 0;
    ckpd__piece piece = {0};
    *runs = 0;
    while (ckpd__next_piece(m, t, &piece)) {
        rows += (piece.run > 0) + !piece.last_run;
        *runs = piece.run + 1;
    }
    return rows;
}

static bool order_columns(ckpd__path_milp *m)
{
    int32_t row = m->order_row;
    m->order_column = m->milp.columns;
    for (int32_t t = 0; t < m->view->slots; t++) {
        int32_t runs, rows = order_rows_of(m, t, &runs);
        for (int32_t run = 0; run + 1 < runs; run++) {
            if (!ckpd__milp_column(m, (ckpd__milp_tag){'y', 0, run, 0, t, 0}, 0, 0, 1, true) ||
                !order_entries(m, t, run, row)) {
                return false;
            }
        }
        row += rows;
    }
    return true;
}

static bool power_columns(ckpd__path_milp *m, bool charge)
{
    const ckpd_path_storage *s = m->view->storage;
    double h = m->view->slot_hours, cost = h * s->throughput_cost_per_kwh;
    double sign = charge ? 1 : -1, most = charge ? m->charge_max : m->discharge_max;
    int32_t row = m->charge_row + !charge;
    for (int32_t t = 0; t < m->view->slots; t++) {
        double energy = charge ? -s->eta_charge * h : h / s->eta_discharge;
        int32_t limit_row = m->exclusive[t] ? row : -1;
        if (!ckpd__milp_column(m, (ckpd__milp_tag){charge ? 'c' : 'd', 0, 0, 0, t, 0}, cost, 0,
                               most, false) ||
            !ckpd__milp_entry(m, m->balance_row + t, sign) ||
            !ckpd__milp_entry(m, m->cap_row_of[t], -sign) ||
            !ckpd__milp_entry(m, m->energy_row + t, energy) || !ckpd__milp_entry(m, limit_row, 1)) {
            return false;
        }
        row += m->exclusive[t] ? 2 : 0;
    }
    return true;
}

static bool charging_columns(ckpd__path_milp *m)
{
    int32_t row = m->charge_row;
    for (int32_t t = 0; t < m->view->slots; t++) {
        if (m->exclusive[t]) {
            if (!ckpd__milp_column(m, (ckpd__milp_tag){'u', 0, 0, 0, t, 0}, 0, 0, 1, true) ||
                !ckpd__milp_entry(m, row, -m->charge_max) ||
                !ckpd__milp_entry(m, row + 1, m->discharge_max)) {
                return false;
            }
            row += 2;
        }
    }
    return true;
}

/* Column t is the energy at boundary t + 1. */
static bool energy_columns(ckpd__path_milp *m)
{
    const ckpd_path_storage *s = m->view->storage;
    int32_t slots = m->view->slots;
    for (int32_t t = 0; t < slots; t++) {
        double lower = ckpd__soc_low(s, t + 1), upper = s->soc_max_kwh, cost = 0;
        if (t == slots - 1) {
            cost = -s->end_value_per_kwh;
            if (s->terminal == CKPD_TERMINAL_EQUAL) {
                upper = fmin(upper, s->soc_end_kwh);
            }
            lower = s->terminal != CKPD_TERMINAL_FREE ? fmax(lower, s->soc_end_kwh) : lower;
        }
        if (!ckpd__milp_column(m, (ckpd__milp_tag){'s', 0, 0, 0, t, 0}, cost, lower, upper,
                               false) ||
            !ckpd__milp_entry(m, m->energy_row + t, 1) ||
            !ckpd__milp_entry(m, t + 1 < slots ? m->energy_row + t + 1 : m->end_row,
                              t + 1 < slots ? -s->retention : 1)) {
            return false;
        }
    }
    return true;
}

/* What is above a soft cap, up to the hard one. */
static bool over_columns(ckpd__path_milp *m, char kind, const double *soft, const double *hard,
                         const double *cost, const int32_t *row)
{
    bool good = true;
    for (int32_t t = 0; soft != NULL && good && t < m->view->slots; t++) {
        if (row[t] >= 0 && hard[t] > soft[t]) {
            good = ckpd__milp_column(m, (ckpd__milp_tag){kind, 0, 0, 0, t, 0}, cost[t], 0,
                                     hard[t] - soft[t], false) &&
                   ckpd__milp_entry(m, row[t], -1);
        }
    }
    return good;
}

static bool soft_columns(ckpd__path_milp *m)
{
    const ckpd_path_view *view = m->view;
    const ckpd_path_storage *s = view->storage;
    m->soft_column = m->milp.columns;
    bool good =
        over_columns(m, 'i', view->load_soft_kw, view->load_cap_kw, view->load_over_cost,
                     m->cap_row_of) &&
        over_columns(m, 'k', view->gpu_soft, view->gpu_cap, view->gpu_over_cost, m->gpu_row_of);
    for (int32_t over = 0; good && over < 2 && s != NULL && m->end_row >= 0; over++) {
        ckpd__milp_tag tag = {over ? 'a' : 'h', 0, 0, 0, view->slots - 1, 0};
        double cost = over ? s->end_over_cost_per_kwh : s->end_short_cost_per_kwh;
        good = ckpd__milp_column(m, tag, cost, 0, fmax(s->soc_max_kwh, s->soc_end_kwh), false) &&
               ckpd__milp_entry(m, m->end_row, over ? -1 : 1);
    }
    return good;
}

int32_t ckpd__milp_slot_columns(ckpd__path_milp *m)
{
    bool good = piece_columns(m) && order_columns(m);
    if (good && m->view->storage != NULL) {
        m->charge_column = m->milp.columns;
        good = power_columns(m, true);
        m->discharge_column = m->milp.columns;
        good = good && power_columns(m, false);
        m->charging_column = m->milp.columns;
        good = good && charging_columns(m);
        m->energy_column = m->milp.columns;
        good = good && energy_columns(m);
    }
    good = good && soft_columns(m);
    return good ? CKPD_OK : ckpd__no_memory(m->context);
}
