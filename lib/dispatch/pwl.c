/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Piecewise-linear functions of one variable: the few operations that slot costs are made of. */
#include "dispatch/dispatch.h"

#include <math.h>

/* Points closer than this (relative to their size) are one point: no cost hangs on a microwatt. */
static const double POINT_DISTANCE = 1e-9;
static const double SLOPE_TOLERANCE = 5e-10;

int32_t ckpd__pwl_add_point(ckpd_context *context, ckpd__pwl *f, double x, double y)
{
    if (f->count == f->room) {
        int32_t room = 2 * f->room + 16;
        double *grown_x = ckpd__realloc(context, f->x, (size_t)room, sizeof *grown_x);
        f->x = grown_x != NULL ? grown_x : f->x;
        double *grown_y =
            grown_x != NULL ? ckpd__realloc(context, f->y, (size_t)room, sizeof *grown_y) : NULL;
        f->y = grown_y != NULL ? grown_y : f->y;
        if (grown_y == NULL) {
            return ckpd__no_memory(context);
        }
        f->room = room;
    }
    f->x[f->count] = x;
    f->y[f->count++] = y;
    return CKPD_OK;
}

void ckpd__pwl_free(ckpd_context *context, ckpd__pwl *f)
{
    ckpd__free(context, f->x);
    ckpd__free(context, f->y);
    *f = (ckpd__pwl){0, 0, NULL, NULL};
}

/* Piece i lies between points i and i + 1; the one that holds x, for x inside of the domain. */
static int32_t piece_at(const ckpd__pwl *f, double x)
{
    int32_t low = 0;
    int32_t high = f->count - 1;
    while (high - low > 1) {
        int32_t middle = (low + high) / 2;
        if (f->x[middle] <= x) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

double ckpd__pwl_value(const ckpd__pwl *f, double x)
{
    if (f->count == 1 || x <= f->x[0]) {
        return f->y[0];
    }
    if (x >= f->x[f->count - 1]) {
        return f->y[f->count - 1];
    }
    int32_t i = piece_at(f, x);
    double share = (x - f->x[i]) / (f->x[i + 1] - f->x[i]);
    return f->y[i] + share * (f->y[i + 1] - f->y[i]);
}

static double slope(const ckpd__pwl *f, int32_t piece)
{
    return (f->y[piece + 1] - f->y[piece]) / (f->x[piece + 1] - f->x[piece]);
}

/* True when the next piece of f comes before the next of g in the order of slopes. */
static bool f_first(const ckpd__pwl *f, int32_t i, const ckpd__pwl *g, int32_t j)
{
    return j == g->count - 1 || (i < f->count - 1 && slope(f, i) <= slope(g, j));
}

int32_t ckpd__pwl_convolve(ckpd_context *context, const ckpd__pwl *f, const ckpd__pwl *g,
                           ckpd__pwl *out)
{
    int32_t i = 0;
    int32_t j = 0;
    int32_t status = ckpd__pwl_add_point(context, out, f->x[0] + g->x[0], f->y[0] + g->y[0]);
    while (status == CKPD_OK && (i < f->count - 1 || j < g->count - 1)) {
        if (f_first(f, i, g, j)) {
            i++;
        } else {
            j++;
        }
        double x = f->x[i] + g->x[j];
        if (x > out->x[out->count - 1]) {
            status = ckpd__pwl_add_point(context, out, x, f->y[i] + g->y[j]);
        }
    }
    return status;
}

double ckpd__pwl_split(const ckpd__pwl *f, const ckpd__pwl *g, double x)
{
    int32_t i = 0;
    int32_t j = 0;
    while (i < f->count - 1 || j < g->count - 1) {
        bool first = f_first(f, i, g, j);
        double end = first ? f->x[i + 1] + g->x[j] : f->x[i] + g->x[j + 1];
        if (x <= end) {
            double inside = first ? fmin(fmax(x - g->x[j], f->x[i]), f->x[i + 1]) : f->x[i];
            return inside;
        }
        i += first;
        j += !first;
    }
    return f->x[f->count - 1];
}

static bool defined(const ckpd__pwl *f, double x)
{
    return f->x[0] <= x && x <= f->x[f->count - 1];
}

static double least_at(const ckpd__pwl *f, const ckpd__pwl *g, double x)
{
    if (!defined(f, x)) {
        return ckpd__pwl_value(g, x);
    }
    return defined(g, x) ? fmin(ckpd__pwl_value(f, x), ckpd__pwl_value(g, x))
                         : ckpd__pwl_value(f, x);
}

int32_t ckpd__pwl_least(ckpd_context *context, const ckpd__pwl *f, const ckpd__pwl *g,
                        ckpd__pwl *out)
{
    int32_t i = 0;
    int32_t j = 0;
    int32_t status = CKPD_OK;
    while (status == CKPD_OK && (i < f->count || j < g->count)) {
        double x = j == g->count || (i < f->count && f->x[i] <= g->x[j]) ? f->x[i] : g->x[j];
        if (out->count > 0) {
            double from = out->x[out->count - 1];
            bool both = defined(f, from) && defined(g, from) && defined(f, x) && defined(g, x);
            double before = both ? ckpd__pwl_value(f, from) - ckpd__pwl_value(g, from) : 0;
            double after = both ? ckpd__pwl_value(f, x) - ckpd__pwl_value(g, x) : 0;
            double crossing = from + (x - from) * (before / (before - after));
            if (before * after < 0 && crossing > from && crossing < x) {
                status = ckpd__pwl_add_point(context, out, crossing, least_at(f, g, crossing));
            }
        }
        if (status == CKPD_OK) {
            status = ckpd__pwl_add_point(context, out, x, least_at(f, g, x));
        }
        i += i < f->count && f->x[i] <= x;
        j += j < g->count && g->x[j] <= x;
    }
    return status;
}

bool ckpd__pwl_tidy(ckpd__pwl *f)
{
    bool convex = true;
    int32_t kept = 1;
    double largest = 0;
    for (int32_t i = 0; i < f->count; i++) {
        largest = fmax(largest, fabs(f->y[i]));
    }
    for (int32_t i = 1; i < f->count; i++) {
        double distance = POINT_DISTANCE * fmax(1.0, fabs(f->x[i]));
        bool narrow = f->x[i] - f->x[kept - 1] < distance;
        if (narrow && i < f->count - 1) {
            continue;
        }
        /* The last point stays: it is the end of the domain. */
        if (narrow && kept > 1) {
            kept--;
        }
        if (kept > 1) {
            double width = f->x[i] - f->x[kept - 1];
            double before = (f->y[kept - 1] - f->y[kept - 2]) / (f->x[kept - 1] - f->x[kept - 2]);
            double after = (f->y[i] - f->y[kept - 1]) / width;
            double rounding =
                SLOPE_TOLERANCE * fmax(fabs(before), fabs(after)) + 5e-13 * largest / width;
            if (fabs(after - before) <= 1e-3 * rounding) {
                kept--;
            } else {
                convex = convex && after >= before - rounding;
            }
        }
        f->x[kept] = f->x[i];
        f->y[kept++] = f->y[i];
    }
    f->count = kept;
    return convex;
}

int32_t ckpd__pwl_clip(ckpd_context *context, ckpd__pwl *f, double low, double high)
{
    double first = f->x[0];
    double last = f->x[f->count - 1];
    low = fmin(fmax(low, first), last);
    high = fmin(fmax(high, low), last);
    ckpd__pwl out = {0, 0, NULL, NULL};
    int32_t status = ckpd__pwl_add_point(context, &out, low, ckpd__pwl_value(f, low));
    for (int32_t i = 0; i < f->count && status == CKPD_OK; i++) {
        if (f->x[i] > low && f->x[i] < high) {
            status = ckpd__pwl_add_point(context, &out, f->x[i], f->y[i]);
        }
    }
    if (status == CKPD_OK && high > low) {
        status = ckpd__pwl_add_point(context, &out, high, ckpd__pwl_value(f, high));
    }
    if (status != CKPD_OK) {
        ckpd__pwl_free(context, &out);
        return status;
    }
    ckpd__pwl_free(context, f);
    *f = out;
    return CKPD_OK;
}
