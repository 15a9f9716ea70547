/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The Lagrangian of the split over z(job, activity, slot): each job takes a shortest path under the
 * prices, each slot the cheapest combination of activities less the prices; with storage the slots
 * and the store are one block. The sum of the blocks is a lower bound for every price.
 */
#ifndef CKPD_LIB_SOLVER_NATIVE_DUAL_H
#define CKPD_LIB_SOLVER_NATIVE_DUAL_H

#include "solver/native/path.h"
#include "solver/native/reservoir.h"
#include "solver/native/slot.h"

/* One price per (job, activity, slot), job by job. */
typedef struct nat_layout {
    size_t *job; /* [jobs] offset of each job's prices */
    size_t size;
} nat_layout;

typedef struct nat_dual {
    const nat_model *model;
    nat_stack *stack;
    nat_layout layout;
    nat_path_work path_work;
    nat_slot_work slot_work;
    double *price;                 /* [layout.size] current point */
    const double **job_price;      /* [jobs] into price */
    const uint8_t **job_forbidden; /* [jobs] into the forbidden set of the evaluation, or NULL */
    nat_path *path;                /* [jobs] answer of the path blocks */
    double *path_value;            /* [jobs] */
    int32_t *choice;         /* [slots][2][jobs] answer of the slot blocks: one combination, or with
                                storage a mixture of two */
    double *slot_value;      /* [slots] without storage */
    double *part;            /* [slots] share of the second combination */
    nat_reservoir reservoir; /* with storage */
    double soft;             /* money per kWh from nowhere, 0: there is none */
    uint8_t *narrowed;       /* [layout.size] the forbidden set that the reservoir is narrowed to */
    double *worth;           /* [slots] money per kWh in store at the end of the slot */
    double value; /* of the last evaluation: the bound, less what rounding may have added */
    int64_t evaluations;
} nat_dual;

int32_t ckpd__nat_dual_init(nat_dual *dual, nat_memory *memory, const nat_model *model,
                            nat_stack *stack);
void ckpd__nat_dual_free(nat_dual *dual);
/* Evaluates the bound at dual->price; forbidden is NULL or laid out like the prices of the jobs. */
double ckpd__nat_dual_evaluate(nat_dual *dual, const uint8_t *forbidden);
/* Adds the direction of ascent (a subgradient) of the last evaluation to direction[layout.size]. */
void ckpd__nat_dual_direction(const nat_dual *dual, double *direction);
/*
 * After an evaluation: excess[] (laid out like the prices) becomes how far any plan with that
 * activity in that slot lies above the returned bound, at least. With storage that is the bound of
 * the evaluation's worths.
 */
double ckpd__nat_dual_excess(nat_dual *dual, double *excess, double *scratch);

#endif
