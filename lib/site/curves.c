/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Custom cost curves: checked when they are added, so that the dispatch can rely on convexity. */
#include "site/site.h"

#include <math.h>
#include <string.h>

enum { MOST_POINTS = 1024, CALLBACK_POINTS = 256 };
/* Limits of arguments and amounts: wide, but products of them stay far from overflow. */
static const double LARGEST_X_KW = 1e12;
static const double LARGEST_MONEY_PER_HOUR = 1e15;
/* Slopes of hand-written tables repeat up to rounding. */
static const double SLOPE_TOLERANCE = 1e-9;

/* First curve of a slot or of a later one. */
static int32_t first_of_slot(const ckpd_site *site, int32_t slot)
{
    int32_t low = 0;
    int32_t high = site->curve_count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (site->curves[middle].slot < slot) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

int32_t ckpd__next_curve(const ckpd_site *site, int32_t slot, int32_t after)
{
    int32_t next = after + 1;
    if (next < site->curve_count && site->curves[next].slot < 0) {
        return next;
    }
    if (after < 0 || site->curves[after].slot < 0) {
        next = first_of_slot(site, slot);
    }
    return next < site->curve_count && site->curves[next].slot == slot ? next : -1;
}

void ckpd__site_free_curves(ckpd_context *context, ckpd__cost_curve *curves, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        ckpd__free(context, curves[i].x_kw);
    }
    ckpd__free(context, curves);
}

static int32_t check_head(const ckpd_site *site, int32_t slot, int32_t argument, int32_t count)
{
    int32_t status = ckpd__check_range(site->context, "slot", -1, slot, -1, site->slots - 1);
    if (status == CKPD_OK) {
        status = ckpd__check_range(site->context, "argument", -1, argument, CKPD_COST_IMPORT,
                                   CKPD_COST_CURTAILMENT);
    }
    if (status == CKPD_OK) {
        status = ckpd__check_range(site->context, "count", slot, count, 2, MOST_POINTS);
    }
    return status;
}

/* Errors carry the slot as index; the point is named in the text. */
static int32_t check_points(const ckpd_site *site, int32_t slot, int32_t count, const double *x,
                            const double *money)
{
    double slope = -(double)INFINITY;
    char of[24] = "every slot";
    if (slot >= 0) {
        ckpd__format(of, sizeof of, "slot %d", slot);
    }
    for (int32_t i = 0; i < count; i++) {
        int32_t status =
            ckpd__check_range(site->context, "x_kw", slot, x[i], -LARGEST_X_KW, LARGEST_X_KW);
        if (status == CKPD_OK) {
            status = ckpd__check_range(site->context, "money_per_hour", slot, money[i],
                                       -LARGEST_MONEY_PER_HOUR, LARGEST_MONEY_PER_HOUR);
        }
        if (status != CKPD_OK) {
            return status;
        }
        if (i == 0) {
            continue;
        }
        if (!(x[i] > x[i - 1])) {
            return ckpd__fail(site->context, CKPD_ERR_RANGE, "x_kw", slot, x[i],
                              "cost curve of %s: x_kw[%d] = %g does not rise above x_kw[%d] = %g",
                              of, i, x[i], i - 1, x[i - 1]);
        }
        double next = (money[i] - money[i - 1]) / (x[i] - x[i - 1]);
        if (!isfinite(next)) {
            return ckpd__fail(site->context, CKPD_ERR_RANGE, "x_kw", slot, x[i],
                              "cost curve of %s: slope between points %d and %d overflows", of,
                              i - 1, i);
        }
        if (next < slope - SLOPE_TOLERANCE * fmax(1.0, fabs(slope))) {
            return ckpd__fail(site->context, CKPD_ERR_NOT_CONVEX, "money_per_hour", slot, next,
                              "cost curve of %s is not convex: slope falls from %g to %g at "
                              "x_kw[%d] = %g",
                              of, slope, next, i - 1, x[i - 1]);
        }
        slope = next;
    }
    return CKPD_OK;
}

static int32_t make_curve(const ckpd_site *site, int32_t slot, int32_t argument, int32_t count,
                          const double *x, const double *money, ckpd__cost_curve *out)
{
    int32_t status = check_head(site, slot, argument, count);
    if (status == CKPD_OK) {
        status = check_points(site, slot, count, x, money);
    }
    if (status != CKPD_OK) {
        return status;
    }
    double *block = ckpd__calloc(site->context, 2 * (size_t)count, sizeof *block);
    if (block == NULL) {
        return ckpd__no_memory(site->context);
    }
    memcpy(block, x, (size_t)count * sizeof *x);
    memcpy(block + count, money, (size_t)count * sizeof *money);
    *out = (ckpd__cost_curve){slot, argument, count, block, block + count};
    return CKPD_OK;
}

/* Merges in all curves, which ascend by slot and whose blocks then belong to the site, or none. */
static int32_t append(ckpd_site *site, const ckpd__cost_curve *curves, int32_t count)
{
    size_t total = (size_t)site->curve_count + (size_t)count;
    ckpd__cost_curve *merged =
        total <= INT32_MAX / 2 ? ckpd__calloc(site->context, total, sizeof *merged) : NULL;
    if (merged == NULL) {
        return ckpd__no_memory(site->context);
    }
    int32_t old = 0;
    int32_t new = 0;
    for (size_t i = 0; i < total; i++) {
        bool take_old =
            new == count || (old < site->curve_count && site->curves[old].slot <= curves[new].slot);
        merged[i] = take_old ? site->curves[old++] : curves[new ++];
    }
    ckpd__free(site->context, site->curves);
    site->curves = merged;
    site->curve_count = (int32_t)total;
    return CKPD_OK;
}

int32_t ckpd_site_add_cost_curve(ckpd_site *site, int32_t slot, int32_t argument, int32_t count,
                                 const double *x_kw, const double *money_per_hour)
{
    CKPD__REFUSE_FOREIGN(NULL, site, CKPD__SITE);
    if (site == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (x_kw == NULL || money_per_hour == NULL) {
        return ckpd__null_argument(site->context, x_kw == NULL ? "x_kw" : "money_per_hour");
    }
    ckpd__cost_curve curve;
    int32_t status = make_curve(site, slot, argument, count, x_kw, money_per_hour, &curve);
    if (status != CKPD_OK) {
        return status;
    }
    status = append(site, &curve, 1);
    if (status != CKPD_OK) {
        ckpd__free(site->context, curve.x_kw);
    }
    return status;
}

/* Asks for the curve of one slot; *made is 0 when the slot has none. */
static int32_t ask_curve(const ckpd_site *site, int32_t slot, int32_t argument,
                         ckpd_cost_curve_fn curve, void *user, ckpd__cost_curve *out, int32_t *made)
{
    double x[CALLBACK_POINTS];
    double money[CALLBACK_POINTS];
    int32_t count = curve(slot, CALLBACK_POINTS, x, money, user);
    *made = 0;
    if (count < 0) {
        return ckpd__fail(site->context, CKPD_ERR_CALLBACK, "curve", slot, count,
                          "cost callback stopped in slot %d with %d", slot, count);
    }
    if (count == 0) {
        return CKPD_OK;
    }
    int32_t status = ckpd__check_range(site->context, "count", slot, count, 2, CALLBACK_POINTS);
    if (status == CKPD_OK) {
        status = make_curve(site, slot, argument, count, x, money, out);
    }
    *made = status == CKPD_OK;
    return status;
}

int32_t ckpd_site_add_cost_callback(ckpd_site *site, int32_t argument, ckpd_cost_curve_fn curve,
                                    void *user)
{
    CKPD__REFUSE_FOREIGN(NULL, site, CKPD__SITE);
    if (site == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (curve == NULL) {
        return ckpd__null_argument(site->context, "curve");
    }
    int32_t status = ckpd__check_range(site->context, "argument", -1, argument, CKPD_COST_IMPORT,
                                       CKPD_COST_CURTAILMENT);
    if (status != CKPD_OK) {
        return status;
    }
    ckpd__cost_curve *curves = ckpd__calloc(site->context, (size_t)site->slots, sizeof *curves);
    if (curves == NULL) {
        return ckpd__no_memory(site->context);
    }
    int32_t count = 0;
    for (int32_t t = 0; t < site->slots && status == CKPD_OK; t++) {
        int32_t made = 0;
        status = ask_curve(site, t, argument, curve, user, &curves[count], &made);
        count += made;
    }
    if (status == CKPD_OK && count > 0) {
        status = append(site, curves, count);
    }
    if (status == CKPD_OK) {
        count = 0; /* the blocks belong to the site now */
    }
    ckpd__site_free_curves(site->context, curves, count);
    return status;
}
