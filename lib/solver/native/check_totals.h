/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * For the checker: the combinations of a slot by their total of GPUs, where they are too many to
 * try one by one and power follows from GPUs.
 */
#ifndef CKPD_LIB_SOLVER_NATIVE_CHECK_TOTALS_H
#define CKPD_LIB_SOLVER_NATIVE_CHECK_TOTALS_H

#include "solver/native/certificate.h"

typedef struct check_totals {
    const nat_certificate *proof;
    double kw_per_gpu;
    int32_t unit;   /* GPUs of a step: every count is a multiple */
    int32_t totals; /* 0, unit, 2 unit, ... GPUs */
    int32_t activities;
    double *cost;           /* [totals] of the slot, to be filled */
    double *price;          /* [activities] of all jobs in turn; +infinity: not allowed */
    double *least;          /* [activities] cheapest combination with that activity */
    double *before, *after; /* [jobs + 1][totals] */
} check_totals;

/* False when power does not follow from GPUs, or out of memory (then *no_memory is set). */
bool ckpd__check_totals_init(check_totals *totals, const ckpd_host *host,
                             const nat_certificate *proof, bool *no_memory);
void ckpd__check_totals_free(check_totals *totals, const ckpd_host *host);
/* Least cost plus prices over all combinations; fills `least`. */
double ckpd__check_totals_slot(check_totals *totals);

#endif
