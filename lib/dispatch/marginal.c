/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Marginal prices with the paths fixed. One more kWh in a slot comes from the grid there, or out of
 * the battery and then from the cheapest slot that can make up for it without touching a limit in
 * between. At an optimal plan one such exchange is the whole derivative: battery energy flows along
 * a line.
 */
#include "dispatch/explain.h"

#include <math.h>

/* Further away no exchange is looked for: keeps long horizons linear. */
enum { FARTHEST = 2000 };
static const double ON_LIMIT = 1e-7;

typedef struct marginal {
    const ckpd__explain *e;
    int32_t slots;
    double *up, *down; /* money per kWh of a slot's own exchange */
    bool storage;
    const double *soc, *charge, *discharge, *battery;
    double retention, wear, soc_low;
} marginal;

static bool above_low(const marginal *m, int32_t boundary)
{
    return m->soc[boundary] > m->soc_low + ON_LIMIT * fmax(1.0, m->battery[CKPD__BATTERY_SOC_MAX]);
}

static bool below_high(const marginal *m, int32_t boundary)
{
    double high = m->battery[CKPD__BATTERY_SOC_MAX];
    return m->soc[boundary] < high - ON_LIMIT * fmax(1.0, high);
}

static bool runs(double kw)
{
    return kw > ON_LIMIT;
}

static bool may_rise(double kw, double limit)
{
    return kw < limit - ON_LIMIT * fmax(1.0, limit);
}

/* Least cost of one more stored kWh in a slot: less discharge, or more charge. */
static double cost_to_store(const marginal *m, int32_t s)
{
    const double *b = m->battery;
    if (runs(m->discharge[s])) {
        return (m->up[s] - m->wear) * b[CKPD__BATTERY_ETA_DISCHARGE];
    }
    return may_rise(m->charge[s], b[CKPD__BATTERY_CHARGE])
               ? (m->up[s] + m->wear) / b[CKPD__BATTERY_ETA_CHARGE]
               : (double)INFINITY;
}

/* Most that one stored kWh less earns in a slot: less charge, or more discharge. */
static double gain_from_store(const marginal *m, int32_t s)
{
    const double *b = m->battery;
    if (runs(m->charge[s])) {
        return (m->down[s] + m->wear) / b[CKPD__BATTERY_ETA_CHARGE];
    }
    return may_rise(m->discharge[s], b[CKPD__BATTERY_DISCHARGE])
               ? (m->down[s] - m->wear) * b[CKPD__BATTERY_ETA_DISCHARGE]
               : -(double)INFINITY;
}

/* What a kWh less (sign -1) or more (1) at the end costs; infinite where it may not be. */
static double end_cost(const marginal *m, int32_t sign)
{
    const double *b = m->battery;
    double wanted = b[CKPD__BATTERY_SOC_END];
    double off = sign * (m->soc[m->slots] - wanted);
    double value = -sign * b[CKPD__BATTERY_END_VALUE] / 1000.0;
    bool less = sign < 0;
    bool ruled = b[CKPD__BATTERY_TERMINAL] == CKPD__TERMINAL_EQUAL ||
                 (b[CKPD__BATTERY_TERMINAL] == CKPD__TERMINAL_AT_LEAST && less);
    double price = isnan(b[CKPD__BATTERY_SOC_END_PRICE]) ? (double)INFINITY
                                                         : b[CKPD__BATTERY_SOC_END_PRICE] / 1000.0;
    bool away = off >= -ON_LIMIT * fmax(1.0, wanted); /* on the limit, or beyond it already */
    if (!ruled) {
        return value;
    }
    if (away) {
        return value + price;
    }
    /* Back towards what is wanted: saves the price where missing it in this direction has one. */
    bool paid = b[CKPD__BATTERY_TERMINAL] == CKPD__TERMINAL_EQUAL && isfinite(price);
    return paid ? value - price : value;
}

/* Cheapest way to make up for one stored kWh missing after slot t. */
static double cost_to_restore(const marginal *m, int32_t t)
{
    double best = (double)INFINITY;
    double left = 1;
    int32_t s = t + 1;
    for (; s < m->slots && s <= t + FARTHEST && above_low(m, s); s++) {
        left *= m->retention;
        best = fmin(best, left * cost_to_store(m, s));
    }
    if (s == m->slots && above_low(m, s)) {
        best = fmin(best, left * end_cost(m, -1));
    }
    double needed = 1;
    for (s = t - 1; s >= 0 && s >= t - FARTHEST && below_high(m, s + 1); s--) {
        needed /= m->retention;
        best = fmin(best, needed * cost_to_store(m, s));
    }
    return best;
}

/* Best use of one stored kWh too much after slot t. */
static double gain_from_surplus(const marginal *m, int32_t t)
{
    double best = -(double)INFINITY;
    double left = 1;
    int32_t s = t + 1;
    for (; s < m->slots && s <= t + FARTHEST && below_high(m, s); s++) {
        left *= m->retention;
        best = fmax(best, left * gain_from_store(m, s));
    }
    if (s == m->slots && below_high(m, s)) {
        best = fmax(best, -left * end_cost(m, 1));
    }
    double freed = 1;
    for (s = t - 1; s >= 0 && s >= t - FARTHEST && above_low(m, s + 1); s--) {
        freed /= m->retention;
        best = fmax(best, freed * gain_from_store(m, s));
    }
    return best;
}

static double price_up(const marginal *m, int32_t t)
{
    const double *b = m->battery;
    if (!m->storage) {
        return m->up[t];
    }
    if (runs(m->charge[t])) {
        return fmin(m->up[t], b[CKPD__BATTERY_ETA_CHARGE] * cost_to_restore(m, t) - m->wear);
    }
    if (!may_rise(m->discharge[t], b[CKPD__BATTERY_DISCHARGE])) {
        return m->up[t];
    }
    return fmin(m->up[t], cost_to_restore(m, t) / b[CKPD__BATTERY_ETA_DISCHARGE] + m->wear);
}

static double price_down(const marginal *m, int32_t t)
{
    const double *b = m->battery;
    if (!m->storage) {
        return m->down[t];
    }
    if (runs(m->discharge[t])) {
        return fmax(m->down[t], gain_from_surplus(m, t) / b[CKPD__BATTERY_ETA_DISCHARGE] + m->wear);
    }
    if (!may_rise(m->charge[t], b[CKPD__BATTERY_CHARGE])) {
        return m->down[t];
    }
    return fmax(m->down[t], b[CKPD__BATTERY_ETA_CHARGE] * gain_from_surplus(m, t) - m->wear);
}

/* Slopes of a slot's curve at the plan's draw, per kWh; infinite beyond its ends. */
static void own_slopes(const marginal *m, int32_t t)
{
    const ckpd__pwl *f = &m->e->curve[t];
    double x = m->e->draw_kw[t];
    double h = m->e->problem->site->slot_hours;
    double near = ON_LIMIT * fmax(1.0, fabs(x));
    m->up[t] = (double)INFINITY;
    m->down[t] = -(double)INFINITY;
    for (int32_t i = 0; i + 1 < f->count; i++) {
        double slope = (f->y[i + 1] - f->y[i]) / (f->x[i + 1] - f->x[i]) / h;
        if (x >= f->x[i] - near && x < f->x[i + 1] - near) {
            m->up[t] = slope;
        }
        if (x > f->x[i] + near && x <= f->x[i + 1] + near) {
            m->down[t] = slope;
        }
    }
}

void ckpd__explain_marginals(ckpd__explain *e)
{
    const ckpd_site *site = e->problem->site;
    double *const *plan = e->solution->plan->series;
    double **series = e->out->series;
    /* The slots' own slopes are kept in two series that are filled later. */
    marginal m = {.e = e,
                  .slots = site->slots,
                  .up = series[CKPD__EXPLAINED_SHED_COST],
                  .down = series[CKPD__EXPLAINED_ADD_COST],
                  .storage = ckpd__scenario_has_storage(e->solution->scenario),
                  .soc = plan[CKPD__PLAN_SOC],
                  .charge = plan[CKPD__PLAN_CHARGE],
                  .discharge = plan[CKPD__PLAN_DISCHARGE],
                  .battery = site->battery};
    if (m.storage) {
        m.retention = ckpd__battery_retention(site);
        m.wear = site->battery[CKPD__BATTERY_THROUGHPUT_COST] / 1000.0;
        /* Below its minimum the battery is on its one way back and free for nothing else. */
        m.soc_low = site->battery[CKPD__BATTERY_SOC_MIN];
    }
    for (int32_t t = 0; t < m.slots; t++) {
        own_slopes(&m, t);
    }
    for (int32_t t = 0; t < m.slots; t++) {
        series[CKPD__EXPLAINED_UP][t] = 1000.0 * price_up(&m, t);
        series[CKPD__EXPLAINED_DOWN][t] = 1000.0 * price_down(&m, t);
    }
}
