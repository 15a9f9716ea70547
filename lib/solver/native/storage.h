/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The storage: its cheapest use in one slot for a worth of stored energy, and its exact dispatch.
 */
#ifndef CKPD_LIB_SOLVER_NATIVE_STORAGE_H
#define CKPD_LIB_SOLVER_NATIVE_STORAGE_H

#include "solver/native/piecewise.h"

/*
 * Cheapest cost of slot t at site load `load` when a kWh in store after the slot is worth `worth`:
 * min over the storage draw of curve + throughput - worth * energy stored. *draw is positive when
 * charging.
 */
double ckpd__nat_storage_slot(const nat_model *model, int32_t t, double load, double worth,
                              double *draw);

/* Energy that a draw over one slot adds to the store. */
/* Least level at a boundary after the first, and what a level costs at the end. */
double ckpd__nat_soc_low(const ckpd_path_storage *storage, int32_t boundary);
double ckpd__nat_soc_end_cost(const ckpd_path_storage *storage, double level);
double ckpd__nat_storage_stored(const nat_model *model, double draw);
/*
 * Least value of the levels under the worths: each level by itself, within its limits. With the
 * slots at the same worths it adds up to a bound.
 */
double ckpd__nat_storage_levels(const nat_model *model, const double *worth);

/* The exact dispatch of the storage for given site loads, by dynamic programming over its level. */
typedef struct nat_dispatch {
    const nat_model *model;
    nat_piecewise *value; /* [slots + 1] cost from boundary t on by level */
    nat_piecewise slot;   /* cost of a slot by energy taken from the store */
    nat_piecewise spare[2];
    const ckpd_host *host;
    bool failed; /* out of memory */
} nat_dispatch;

bool ckpd__nat_dispatch_init(nat_dispatch *dispatch, nat_memory *memory, const nat_model *model);
void ckpd__nat_dispatch_free(nat_dispatch *dispatch);
/*
 * Least cost of slots and storage at these site loads, with its draws and the worth of a kWh at the
 * end of each slot; +infinity when no dispatch exists. Exact for every curve.
 */
double ckpd__nat_dispatch_solve(nat_dispatch *dispatch, const double *load, double *draw,
                                double *worth);

#endif
