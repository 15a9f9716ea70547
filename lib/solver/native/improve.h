/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Plans made better by setting a few of their jobs free. */
#ifndef CKPD_LIB_SOLVER_NATIVE_IMPROVE_H
#define CKPD_LIB_SOLVER_NATIVE_IMPROVE_H

#include "solver/native/primal.h"

typedef struct nat_exchange {
    const nat_model *model;
    const ckpd_host *host;
    const ckpd_solve_params *params;
    nat_primal *primal;
    int64_t nodes;      /* of the tree of one exchange, at most */
    int64_t iterations; /* evaluations so far, counted on */
    int32_t stop;       /* 2: cancelled while it ran; a limit shows in host and iterations */
} nat_exchange;

/*
 * Seeks better paths for `count` jobs of a plan beside the paths of the others, which stay; writes
 * them into the plan. CKPD_OK or CKPD_ERR_NO_MEMORY; *gained tells whether there were any.
 */
int32_t ckpd__nat_exchange(nat_exchange *with, nat_plan *best, const int32_t *free_jobs,
                           int32_t count, bool *gained);
/* Jobs of the i-th exchange: all pairs first, then ever new sets of three or four, `most` at most.
 */
int32_t ckpd__nat_choose_jobs(int32_t jobs, int64_t i, int32_t most, int32_t free_jobs[4]);

#endif
