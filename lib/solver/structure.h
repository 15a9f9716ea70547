/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The structure layer as a presolve: a view without the moves that no better plan makes. */
#ifndef CKPD_LIB_SOLVER_STRUCTURE_H
#define CKPD_LIB_SOLVER_STRUCTURE_H

#include "solver/solver.h"

typedef struct ckpd__closed_view {
    ckpd_path_view view;   /* as the given one, with edge_closed of its own */
    double cutoff;         /* no plan that uses a closed move is cheaper */
    int64_t moves, closed; /* of all existing, how many went */
    ckpd_path_job *jobs;
    const ckpd_path_job **job;
    uint8_t **edge_closed;
    uint8_t *block;
} ckpd__closed_view;

/*
 * Closes moves given the best plan known; its own moves stay open, so that it can be a start.
 * CKPD_OK with closed = 0 when nothing could be closed. Free with ckpd__closed_view_free.
 */
int32_t ckpd__closed_view_make(ckpd__closed_view *out, ckpd_context *context, const ckpd_host *host,
                               const ckpd_path_view *view, const ckpd_path_plan *best,
                               const ckpd_solve_params *params);
void ckpd__closed_view_free(ckpd_context *context, ckpd__closed_view *closed);

#endif
