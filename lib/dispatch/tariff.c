/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Cost of a slot as a function of its net draw, by exact minimisation over import, export and
 * curtailment. Bounds come from the devices: import is at most the largest net draw (more could
 * only be curtailed, and curtailment replaces renewables, not import); export is at most the
 * renewables and what the battery gives.
 */
#include "dispatch/dispatch.h"

#include <math.h>

/* A cap met exactly must not be missed by rounding. */
static const double DOMAIN_SLACK = 1e-9;

/* A custom curve, continued with its first and last slope. */
static double curve_value(const ckpd__cost_curve *curve, double x)
{
    int32_t i = 0;
    while (i < curve->count - 2 && x > curve->x_kw[i + 1]) {
        i++;
    }
    double rise = curve->money_per_hour[i + 1] - curve->money_per_hour[i];
    double width = curve->x_kw[i + 1] - curve->x_kw[i];
    return curve->money_per_hour[i] + (x - curve->x_kw[i]) * (rise / width);
}

static double custom_value(const ckpd_site *site, int32_t slot, int32_t argument, double x)
{
    double sum = 0;
    for (int32_t c = -1; (c = ckpd__next_curve(site, slot, c)) >= 0;) {
        if (site->curves[c].argument == argument) {
            sum += curve_value(&site->curves[c], x);
        }
    }
    return sum;
}

/* The smallest knot of the slot's custom curves beyond x, or `end`. */
static double next_knot(const ckpd_site *site, int32_t slot, int32_t argument, double x, double end)
{
    for (int32_t c = -1; (c = ckpd__next_curve(site, slot, c)) >= 0;) {
        const ckpd__cost_curve *curve = &site->curves[c];
        for (int32_t i = 0; curve->argument == argument && i < curve->count; i++) {
            if (curve->x_kw[i] > x) {
                end = fmin(end, curve->x_kw[i]);
                break;
            }
        }
    }
    return end;
}

/* What a flow costs and how far it goes: beyond `soft_cap` each kWh costs `over_price` more. */
typedef struct charge {
    int32_t argument; /* CKPD_COST_... of its custom curves */
    double price, cap, soft_cap, over_price;
} charge;

/* Money per hour of a flow in [0, cap]; with `mirrored` over minus the flow. */
static int32_t make_component(ckpd_context *context, const ckpd_site *site, int32_t slot, charge c,
                              bool mirrored, ckpd__pwl *out)
{
    double x = 0;
    int32_t status = CKPD_OK;
    for (;;) {
        double money = c.price * x + custom_value(site, slot, c.argument, x);
        money += x > c.soft_cap ? c.over_price * (x - c.soft_cap) : 0;
        status = ckpd__pwl_add_point(context, out, mirrored ? 0.0 - x : x, money);
        if (status != CKPD_OK || x >= c.cap) {
            break;
        }
        double end = x < c.soft_cap ? fmin(c.cap, c.soft_cap) : c.cap;
        x = next_knot(site, slot, c.argument, x, end);
    }
    for (int32_t i = 0, j = out->count - 1; mirrored && i < j; i++, j--) {
        double px = out->x[i];
        double py = out->y[i];
        out->x[i] = out->x[j];
        out->y[i] = out->y[j];
        out->x[j] = px;
        out->y[j] = py;
    }
    return status;
}

static void add_constant(ckpd__pwl *f, double constant)
{
    for (int32_t i = 0; i < f->count; i++) {
        f->y[i] += constant;
    }
}

int32_t ckpd__tariff_make(ckpd_context *context, const ckpd_site *site, int32_t slot,
                          double draw_low, double draw_high, ckpd__tariff *out)
{
    double *const *series = site->series;
    double renewable = series[CKPD__WIND][slot] + series[CKPD__SOLAR][slot];
    double price = ckpd__site_cap_price(site, CKPD__IMPORT_CAP, slot);
    bool soft = isfinite(price);
    double soft_cap = soft ? series[CKPD__IMPORT_CAP][slot] : (double)INFINITY;
    charge bought = {CKPD_COST_IMPORT, series[CKPD__IMPORT_PRICE][slot] / 1000.0,
                     fmin(ckpd__site_hard_cap(site, CKPD__IMPORT_CAP, slot), fmax(0.0, draw_high)),
                     soft_cap, soft ? price : 0};
    charge unused = {CKPD_COST_CURTAILMENT, series[CKPD__CURTAILMENT_PENALTY][slot] / 1000.0,
                     renewable, (double)INFINITY, 0};
    charge sold = {CKPD_COST_EXPORT, -series[CKPD__EXPORT_PRICE][slot] / 1000.0,
                   fmin(series[CKPD__EXPORT_CAP][slot], fmax(0.0, renewable - draw_low)),
                   (double)INFINITY, 0};
    *out = (ckpd__tariff){.renewable_kw = renewable};
    int32_t status = make_component(context, site, slot, bought, false, &out->import);
    if (status == CKPD_OK) {
        status = make_component(context, site, slot, unused, true, &out->curtailment);
    }
    if (status == CKPD_OK) {
        status = make_component(context, site, slot, sold, true, &out->exported);
    }
    /* At equal slopes curtailment ends before import begins. */
    if (status == CKPD_OK) {
        status = ckpd__pwl_convolve(context, &out->curtailment, &out->import, &out->buying);
    }
    if (status == CKPD_OK) {
        status = ckpd__pwl_convolve(context, &out->curtailment, &out->exported, &out->selling);
    }
    if (status == CKPD_OK) {
        /* Curves of the flow that is zero in a branch count there with their value at zero. */
        add_constant(&out->buying, out->exported.y[out->exported.count - 1]);
        add_constant(&out->selling, out->import.y[0]);
    } else {
        ckpd__tariff_free(context, out);
    }
    return status;
}

void ckpd__tariff_free(ckpd_context *context, ckpd__tariff *tariff)
{
    ckpd__pwl_free(context, &tariff->import);
    ckpd__pwl_free(context, &tariff->curtailment);
    ckpd__pwl_free(context, &tariff->exported);
    ckpd__pwl_free(context, &tariff->buying);
    ckpd__pwl_free(context, &tariff->selling);
}

/* Adds the custom curves of the net load, whose argument is the draw without the renewables. */
static int32_t add_net_curves(ckpd_context *context, const ckpd_site *site, int32_t slot,
                              ckpd__pwl *f)
{
    ckpd__pwl sum = {0, 0, NULL, NULL};
    double end = f->x[f->count - 1];
    double x = f->x[0];
    int32_t next = 1;
    int32_t status = CKPD_OK;
    for (;;) {
        double money = ckpd__pwl_value(f, x) + custom_value(site, slot, CKPD_COST_NET_LOAD, x);
        status = ckpd__pwl_add_point(context, &sum, x, money);
        if (status != CKPD_OK || x >= end) {
            break;
        }
        while (next < f->count - 1 && f->x[next] <= x) {
            next++;
        }
        x = next_knot(site, slot, CKPD_COST_NET_LOAD, x, f->x[next]);
    }
    if (status != CKPD_OK) {
        ckpd__pwl_free(context, &sum);
        return status;
    }
    ckpd__pwl_free(context, f);
    *f = sum;
    return CKPD_OK;
}

/* Moves both ends of the domain out by a slack, along the outer slopes. */
static void widen(ckpd__pwl *f)
{
    int32_t last = f->count - 1;
    if (last == 0) {
        return;
    }
    double first_slope = (f->y[1] - f->y[0]) / (f->x[1] - f->x[0]);
    double last_slope = (f->y[last] - f->y[last - 1]) / (f->x[last] - f->x[last - 1]);
    double down = DOMAIN_SLACK * fmax(1.0, fabs(f->x[0]));
    double up = DOMAIN_SLACK * fmax(1.0, fabs(f->x[last]));
    f->x[0] -= down;
    f->y[0] -= first_slope * down;
    f->x[last] += up;
    f->y[last] += last_slope * up;
}

int32_t ckpd__tariff_curve(ckpd_context *context, const ckpd_site *site, int32_t slot,
                           const ckpd__tariff *tariff, double draw_low, double draw_high,
                           ckpd__pwl *out)
{
    int32_t status = ckpd__pwl_least(context, &tariff->buying, &tariff->selling, out);
    if (status == CKPD_OK) {
        status = add_net_curves(context, site, slot, out);
    }
    if (status != CKPD_OK) {
        ckpd__pwl_free(context, out);
        return status;
    }
    for (int32_t i = 0; i < out->count; i++) {
        out->x[i] += tariff->renewable_kw;
        out->y[i] *= site->slot_hours;
    }
    widen(out);
    status = ckpd__pwl_clip(context, out, draw_low, draw_high);
    if (status != CKPD_OK) {
        ckpd__pwl_free(context, out);
    }
    return status;
}

/* Nothing below a milliwatt at megawatts is a flow, and no flow is -0. */
static double clean(double kw, double scale)
{
    return kw > 1e-9 * fmax(1.0, scale) ? kw : 0.0;
}

ckpd__flows ckpd__tariff_flows(const ckpd__tariff *tariff, double draw_kw)
{
    double net = draw_kw - tariff->renewable_kw;
    double scale = fmax(fabs(draw_kw), tariff->renewable_kw);
    const ckpd__pwl *buying = &tariff->buying;
    const ckpd__pwl *selling = &tariff->selling;
    bool sells =
        net < buying->x[0] || (net <= selling->x[selling->count - 1] && net >= selling->x[0] &&
                               ckpd__pwl_value(selling, net) < ckpd__pwl_value(buying, net));
    const ckpd__pwl *exchange = sells ? &tariff->exported : &tariff->import;
    double curtailed = ckpd__pwl_split(&tariff->curtailment, exchange, net);
    double rest = net - curtailed;
    /* What rounding leaves beyond a device's limit stays within the tolerance of the balance. */
    rest = fmin(fmax(rest, exchange->x[0]), exchange->x[exchange->count - 1]);
    return (ckpd__flows){sells ? 0.0 : clean(rest, scale), sells ? clean(0.0 - rest, scale) : 0.0,
                         clean(0.0 - curtailed, scale)};
}
