/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Big-M coefficients made as small as the bounds of the other columns allow. Solvers accept integer
 * values within a tolerance, so x <= M z with a huge M lets x pass at z "= 0", and GLPK even prunes
 * the right branch. The set of integer points is unchanged (Savelsbergh 1994, section 1.2).
 */
#include "solver/solver.h"

#include <math.h>
#include <string.h>

enum { TOO_LARGE = 100000 };

static bool is_binary(const ckpd_milp_view *view, int32_t j)
{
    return view->integer != NULL && view->integer[j] && view->lower[j] == 0 && view->upper[j] == 1;
}

static bool needs_work(const ckpd_milp_view *view)
{
    for (int32_t j = 0; j < view->columns; j++) {
        for (int64_t k = view->start[j]; is_binary(view, j) && k < view->start[j + 1]; k++) {
            if (fabs(view->value[k]) >= TOO_LARGE) {
                return true;
            }
        }
    }
    return false;
}

/* Largest activity of each row with `sign` +1, of the negated row with -1. */
static void largest_activity(const ckpd_milp_view *view, const double *value, double sign,
                             double *activity)
{
    for (int32_t j = 0; j < view->columns; j++) {
        for (int64_t k = view->start[j]; k < view->start[j + 1]; k++) {
            double a = sign * value[k];
            if (a != 0) {
                activity[view->index[k]] += a * (a > 0 ? view->upper[j] : view->lower[j]);
            }
        }
    }
}

/*
 * One entry of the row a x + b z <= limit, with `others` the largest a x. With b < 0 the row at z =
 * 1 is slack by limit - b - others, with b > 0 the row at z = 0 by limit - others: slack is cut
 * away.
 */
static void tighten_entry(double *b, double *limit, double others)
{
    if (*b < 0 && others < *limit - *b) {
        *b = fmin(0, *limit - others);
    } else if (*b > 0 && others < *limit) {
        *b = fmax(0, *b - (*limit - others));
        *limit = others;
    }
}

static void tighten_side(const ckpd_milp_view *view, double sign, double *value, double *row_lower,
                         double *row_upper, double *activity)
{
    memset(activity, 0, (size_t)view->rows * sizeof(double));
    largest_activity(view, value, sign, activity);
    for (int32_t j = 0; j < view->columns; j++) {
        if (!is_binary(view, j)) {
            continue;
        }
        for (int64_t k = view->start[j]; k < view->start[j + 1]; k++) {
            int32_t i = view->index[k];
            double *limit = sign > 0 ? &row_upper[i] : &row_lower[i];
            double *other_limit = sign > 0 ? &row_lower[i] : &row_upper[i];
            if (fabs(value[k]) < TOO_LARGE || !isfinite(*limit) || isfinite(*other_limit) ||
                !isfinite(activity[i])) {
                continue;
            }
            double b = sign * value[k], upper = sign * *limit;
            double others = activity[i] - fmax(0, b);
            tighten_entry(&b, &upper, others);
            value[k] = sign * b;
            *limit = sign * upper;
            activity[i] = others + fmax(0, b);
        }
    }
}

int32_t ckpd__milp_tighten(ckpd_context *context, ckpd_milp_view *view, double **block)
{
    *block = NULL;
    if (!needs_work(view)) {
        return CKPD_OK;
    }
    size_t nonzeros = (size_t)view->nonzeros, rows = (size_t)view->rows;
    double *value = ckpd__calloc(context, nonzeros + 3 * rows, sizeof(double));
    if (value == NULL) {
        return ckpd__no_memory(context);
    }
    double *row_lower = value + nonzeros, *row_upper = row_lower + rows,
           *activity = row_upper + rows;
    memcpy(value, view->value, nonzeros * sizeof(double));
    memcpy(row_lower, view->row_lower, rows * sizeof(double));
    memcpy(row_upper, view->row_upper, rows * sizeof(double));
    tighten_side(view, 1, value, row_lower, row_upper, activity);
    tighten_side(view, -1, value, row_lower, row_upper, activity);
    view->value = value;
    view->row_lower = row_lower;
    view->row_upper = row_upper;
    *block = value;
    return CKPD_OK;
}
