/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The innermost loops over the levels of a stage, for the files that have stages. */
#ifndef CKPD_LIB_SOLVER_NATIVE_LEVELS_H
#define CKPD_LIB_SOLVER_NATIVE_LEVELS_H

#include "solver/native/vector.h"

#include <math.h>
#include <stdint.h>

/* above[l] = min(above[l], below[l] - price) over `count` levels. */
NAT_VECTOR_LOOP static void lift(double *restrict above, const double *restrict below, double price,
                                 int32_t count)
{
    for (int32_t l = 0; l < count; l++) {
        double value = below[l] - price;
        above[l] = value < above[l] ? value : above[l];
    }
}

/* Least of a[l] + b[l] over `count` levels. */
NAT_VECTOR_LOOP static double least_sum(const double *restrict a, const double *restrict b,
                                        int32_t count)
{
    const double none = (double)INFINITY;
    double lane[8] = {none, none, none, none, none, none, none, none}, least = none;
    int32_t l = 0;
    for (; l + 8 <= count; l += 8)
        for (int32_t i = 0; i < 8; i++)
            lane[i] = a[l + i] + b[l + i] < lane[i] ? a[l + i] + b[l + i] : lane[i];
    for (; l < count; l++)
        least = a[l] + b[l] < least ? a[l] + b[l] : least;
    for (int32_t i = 0; i < 8; i++)
        least = lane[i] < least ? lane[i] : least;
    return least;
}

#endif
