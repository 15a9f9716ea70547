/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The best charge and discharge for a given load, exactly, whatever the shape of the slot curves:
 * forward dynamic programming over the stored energy with piecewise-linear value functions. Meant
 * for small cases: on curves that are not convex the functions may grow with every slot.
 */
#ifndef CKPD_LIB_SOLVER_STORAGE_EXACT_H
#define CKPD_LIB_SOLVER_STORAGE_EXACT_H

#include <ckptdispatch/backend.h>

typedef struct ckpd__storage_exact ckpd__storage_exact;

ckpd__storage_exact *ckpd__storage_exact_new(const ckpd_host *host, const ckpd_path_view *view);
void ckpd__storage_exact_free(ckpd__storage_exact *work);
/* A quick lower bound of the cost below: every slot by itself, the energy forgotten. */
double ckpd__storage_exact_bound(ckpd__storage_exact *work, const double *load_kw);
/*
 * Cost of slots, throughput and end value for the site load without storage; infinity when no
 * operation is possible. CKPD_OK or CKPD_ERR_NO_MEMORY.
 */
int32_t ckpd__storage_exact_run(ckpd__storage_exact *work, const double *load_kw, double *cost,
                                double *charge_kw, double *discharge_kw);

#endif
