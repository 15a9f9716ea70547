/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Piecewise-linear functions of one number, convex or not, with gaps and jumps: a sorted list of
 * pieces that do not overlap. Where two pieces meet the lower value counts; outside of all pieces
 * it is +infinity.
 */
#ifndef CKPD_LIB_SOLVER_NATIVE_PIECEWISE_H
#define CKPD_LIB_SOLVER_NATIVE_PIECEWISE_H

#include "solver/native/model.h"

typedef struct nat_piece {
    double x0, y0, x1, y1; /* x0 <= x1 */
} nat_piece;

typedef struct nat_piecewise {
    nat_piece *piece;
    int32_t count, room;
} nat_piecewise;

/* Appends a piece, joined with the last one where that is the same line. False when out of memory.
 */
bool ckpd__nat_piecewise_add(nat_piecewise *f, const ckpd_host *host, nat_piece piece);
void ckpd__nat_piecewise_free(nat_piecewise *f, const ckpd_host *host);
/* Value at x; up to a rounding step outside of an end it takes the end's value. */
double ckpd__nat_piecewise_value(const nat_piecewise *f, double x);
/* Slope just right of x (left at the last end). */
double ckpd__nat_piecewise_slope(const nat_piecewise *f, double x);
/*
 * out(z) = min over y of f(y) + g(z - y). Uses the two spare functions; out, f, g and the spares
 * are all different. False when out of memory.
 */
bool ckpd__nat_piecewise_convolve(nat_piecewise *out, const nat_piecewise *f,
                                  const nat_piecewise *g, nat_piecewise spare[2],
                                  const ckpd_host *host);
/* Keeps low <= x <= high, then replaces x by x / scale. */
void ckpd__nat_piecewise_clip(nat_piecewise *f, double low, double high, double scale);

#endif
