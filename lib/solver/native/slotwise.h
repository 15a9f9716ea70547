/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Slot-wise jobs (scenario S3): in each slot one combination of modes, over all slots enough work
 * for each job. Only J sums couple the slots, so J multipliers give a bound that is short of the
 * optimum by a few slots' rounding; labels (work so far of each job, cost), pruned by that bound,
 * close the rest.
 */
#ifndef CKPD_LIB_SOLVER_NATIVE_SLOTWISE_H
#define CKPD_LIB_SOLVER_NATIVE_SLOTWISE_H

#include "solver/native/model.h"

enum {
    NAT_SLOTWISE_JOBS = 6 /* more jobs have too many combinations in a slot */
};

/* Work is counted in whole units of its job's required work / 2^46: sums do not depend on their
 * order. */
typedef struct nat_combination {
    double cost;   /* of the slot */
    double excess; /* above the slot's best under the multipliers */
    int64_t work[NAT_SLOTWISE_JOBS];
    int32_t mode[NAT_SLOTWISE_JOBS]; /* -1: idle */
} nat_combination;

/* A slot in the order in which labels pass through them. */
typedef struct nat_stage {
    int32_t slot;
    int32_t count;
    nat_combination *combination; /* by excess, least first */
} nat_stage;

typedef struct nat_slotwise {
    nat_model model;
    const ckpd_host *host;
    const ckpd_solve_params *params;
    int64_t required[NAT_SLOTWISE_JOBS];
    nat_stage *stage;                     /* [slots] */
    double (*ahead)[NAT_SLOTWISE_JOBS];   /* [slots + 1] multipliers of the stages from here on */
    double *ahead_value;                  /* [slots + 1] sum of their slots' best */
    double *root_value;                   /* [slots + 1] the same under `multiplier` */
    int64_t (*most)[NAT_SLOTWISE_JOBS];   /* [slots + 1] work still possible */
    double multiplier[NAT_SLOTWISE_JOBS]; /* money for the whole required work of a job */
    double root_bound;
    double best_cost, bound;
    int32_t *best; /* [slots] combination of each stage in the best plan */
    int64_t labels, passes;
    int32_t stop;
} nat_slotwise;

/* Solves a view whose jobs are all slot-wise and that has no storage; certificate may be NULL. */
int32_t ckpd__nat_slotwise_solve(const ckpd_host *host, const ckpd_path_view *view,
                                 const ckpd_solve_params *params, ckpd_path_result *result,
                                 nat_certificate *certificate);

/* The gap that is asked for when the jobs cost so much, which leaves out the view's offset. */
double ckpd__nat_slotwise_gap(const nat_slotwise *s, double cost);

/* --- slotwise_bound.c
 * ----------------------------------------------------------------------------- */

/* Best multipliers for the stages from `from` on when `need` (share of the required work) is
 * missing. A stop leaves them as good as they are. */
double ckpd__nat_slotwise_multipliers(nat_slotwise *s, int32_t from, const double *need,
                                      double *multiplier, int32_t rounds);
/* Fills root_value, ahead and ahead_value, orders the stages and their combinations. */
void ckpd__nat_slotwise_prepare(nat_slotwise *s);

/* --- slotwise_labels.c
 * ---------------------------------------------------------------------------- */

/*
 * One pass with at most `width` labels a stage. Improves best and best_cost; returns the least
 * bound of the labels left out (+infinity when none was). CKPD_OK or CKPD_ERR_NO_MEMORY.
 */
int32_t ckpd__nat_slotwise_pass(nat_slotwise *s, const ckpd_host *host, int32_t width,
                                double *left_out);

#endif
