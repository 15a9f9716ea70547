/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/piecewise.h"

#include <math.h>
#include <string.h>

#define NONE ((double)INFINITY)

/* Distances in x below this share of |x| + 1 are rounding. */
static const double TINY = 1e-11;

static double slope_of(nat_piece p)
{
    return p.x1 > p.x0 ? (p.y1 - p.y0) / (p.x1 - p.x0) : 0;
}

static double line_at(nat_piece p, double x)
{
    if (x <= p.x0)
        return p.y0;
    return x >= p.x1 ? p.y1 : p.y0 + (p.y1 - p.y0) * ((x - p.x0) / (p.x1 - p.x0));
}

static bool one_line(nat_piece a, nat_piece b)
{
    double size = 1 + fabs(a.y0) + fabs(b.y1);
    if (a.x1 < b.x0 || fabs(a.y1 - b.y0) > 1e-13 * size || a.x1 <= a.x0 || b.x1 <= b.x0)
        return false;
    nat_piece whole = {a.x0, a.y0, b.x1, b.y1};
    return fabs(line_at(whole, a.x1) - a.y1) <= 1e-13 * size;
}

bool ckpd__nat_piecewise_add(nat_piecewise *f, const ckpd_host *host, nat_piece piece)
{
    if (f->count > 0 && one_line(f->piece[f->count - 1], piece)) {
        f->piece[f->count - 1].x1 = piece.x1;
        f->piece[f->count - 1].y1 = piece.y1;
        return true;
    }
    if (f->count == f->room) {
        int32_t room = f->room ? 2 * f->room : 16;
        nat_piece *more = host->allocate((size_t)room * sizeof *more, host->user);
        if (!more)
            return false;
        if (f->piece) {
            memcpy(more, f->piece, (size_t)f->count * sizeof *more);
            host->release(f->piece, host->user);
        }
        f->piece = more;
        f->room = room;
    }
    f->piece[f->count++] = piece;
    return true;
}

void ckpd__nat_piecewise_free(nat_piecewise *f, const ckpd_host *host)
{
    if (f->piece)
        host->release(f->piece, host->user);
    memset(f, 0, sizeof *f);
}

/* Last piece that starts at or before x, or the first. */
static int32_t find_piece(const nat_piecewise *f, double x)
{
    int32_t low = 0, high = f->count;
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (f->piece[middle].x0 <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double ckpd__nat_piecewise_value(const nat_piecewise *f, double x)
{
    double best = NONE, slack = TINY * (1 + fabs(x));
    if (f->count == 0)
        return NONE;
    int32_t at = find_piece(f, x);
    for (int32_t i = at > 0 ? at - 1 : 0; i <= at + 1 && i < f->count; i++)
        if (x >= f->piece[i].x0 - slack && x <= f->piece[i].x1 + slack)
            best = fmin(best, line_at(f->piece[i], x));
    return best;
}

double ckpd__nat_piecewise_slope(const nat_piecewise *f, double x)
{
    return f->count == 0 ? 0 : slope_of(f->piece[find_piece(f, x)]);
}

/* --- infimal convolution
 * --------------------------------------------------------------------------- */

/* Number of pieces from `first` on that form a convex function without gaps. */
static int32_t convex_run(const nat_piecewise *f, int32_t first)
{
    int32_t last = first;
    while (last + 1 < f->count) {
        nat_piece a = f->piece[last], b = f->piece[last + 1];
        double size = 1 + fabs(a.y1) + fabs(b.y0);
        if (b.x0 > a.x1 || fabs(b.y0 - a.y1) > 1e-12 * size ||
            slope_of(b) < slope_of(a) - 1e-12 * (1 + fabs(slope_of(a))))
            break;
        last++;
    }
    return last - first + 1;
}

/* Two convex runs: all their pieces in the order of slope, from the sum of the left ends. */
static bool convolve_runs(nat_piecewise *out, const nat_piece *f, int32_t f_count,
                          const nat_piece *g, int32_t g_count, const ckpd_host *host)
{
    double x = f[0].x0 + g[0].x0, y = f[0].y0 + g[0].y0;
    out->count = 0;
    for (int32_t i = 0, k = 0; i < f_count || k < g_count;) {
        nat_piece p =
            k >= g_count || (i < f_count && slope_of(f[i]) <= slope_of(g[k])) ? f[i++] : g[k++];
        if (p.x1 <= p.x0 && (i < f_count || k < g_count || out->count > 0))
            continue; /* a point adds nothing once something stands */
        nat_piece moved = {x, y, x + (p.x1 - p.x0), y + (p.y1 - p.y0)};
        if (!ckpd__nat_piecewise_add(out, host, moved))
            return false;
        x = moved.x1;
        y = moved.y1;
    }
    return true;
}

static bool add_lower(nat_piecewise *out, const ckpd_host *host, const nat_piece *a,
                      const nat_piece *b, double from, double to)
{
    if (!a || !b) {
        const nat_piece *p = a ? a : b;
        return !p || ckpd__nat_piecewise_add(
                         out, host, (nat_piece){from, line_at(*p, from), to, line_at(*p, to)});
    }
    double a0 = line_at(*a, from), a1 = line_at(*a, to), b0 = line_at(*b, from),
           b1 = line_at(*b, to);
    double d0 = a0 - b0, d1 = a1 - b1;
    if ((d0 <= 0 && d1 <= 0) || (d0 >= 0 && d1 >= 0)) {
        bool lower = d0 + d1 <= 0;
        return ckpd__nat_piecewise_add(
            out, host, lower ? (nat_piece){from, a0, to, a1} : (nat_piece){from, b0, to, b1});
    }
    double x = from + (to - from) * (d0 / (d0 - d1)), y = line_at(*a, x);
    nat_piece left = {from, fmin(a0, b0), x, y}, right = {x, y, to, fmin(a1, b1)};
    return ckpd__nat_piecewise_add(out, host, left) && ckpd__nat_piecewise_add(out, host, right);
}

/* out = the lower of f and g. */
static bool lower_envelope(nat_piecewise *out, const nat_piecewise *f, const nat_piecewise *g,
                           const ckpd_host *host)
{
    int32_t i = 0, k = 0;
    double at = -NONE;
    out->count = 0;
    while (i < f->count || k < g->count) {
        const nat_piece *a = i < f->count ? &f->piece[i] : NULL,
                        *b = k < g->count ? &g->piece[k] : NULL;
        double from = fmax(at, fmin(a ? a->x0 : NONE, b ? b->x0 : NONE));
        bool in_a = a && a->x0 <= from, in_b = b && b->x0 <= from;
        double to = NONE;
        to = a ? fmin(to, in_a ? a->x1 : a->x0) : to;
        to = b ? fmin(to, in_b ? b->x1 : b->x0) : to;
        if (to > from && !add_lower(out, host, in_a ? a : NULL, in_b ? b : NULL, from, to))
            return false;
        at = to;
        i += in_a && a->x1 <= to;
        k += in_b && b->x1 <= to;
    }
    return true;
}

static void swap(nat_piecewise *a, nat_piecewise *b)
{
    nat_piecewise old = *a;
    *a = *b;
    *b = old;
}

bool ckpd__nat_piecewise_convolve(nat_piecewise *out, const nat_piecewise *f,
                                  const nat_piecewise *g, nat_piecewise spare[2],
                                  const ckpd_host *host)
{
    bool first = true;
    out->count = 0;
    for (int32_t i = 0, i_run; i < f->count; i += i_run) {
        i_run = convex_run(f, i);
        for (int32_t k = 0, k_run; k < g->count; k += k_run) {
            k_run = convex_run(g, k);
            if (!convolve_runs(first ? out : &spare[0], f->piece + i, i_run, g->piece + k, k_run,
                               host))
                return false;
            if (!first) {
                if (!lower_envelope(&spare[1], out, &spare[0], host))
                    return false;
                swap(out, &spare[1]);
            }
            first = false;
        }
    }
    return true;
}

void ckpd__nat_piecewise_clip(nat_piecewise *f, double low, double high, double scale)
{
    int32_t kept = 0;
    double slack = TINY * (1 + fabs(low) + fabs(high));
    for (int32_t i = 0; i < f->count; i++) {
        nat_piece p = f->piece[i];
        if (p.x1 < low - slack || p.x0 > high + slack)
            continue;
        nat_piece cut = {fmin(fmax(p.x0, low), high), line_at(p, low), fmax(fmin(p.x1, high), low),
                         line_at(p, high)};
        if (kept > 0 && cut.x1 <= cut.x0)
            continue; /* touches the range in one point, which the piece before holds */
        f->piece[kept++] = (nat_piece){cut.x0 / scale, cut.y0, cut.x1 / scale, cut.y1};
    }
    f->count = kept;
}
