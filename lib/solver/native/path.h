/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Shortest paths of one job under a price for each (activity, slot). */
#ifndef CKPD_LIB_SOLVER_NATIVE_PATH_H
#define CKPD_LIB_SOLVER_NATIVE_PATH_H

#include "solver/native/model.h"

/* A path of one job, and the activity it gives each slot. */
typedef struct nat_path {
    int32_t steps;
    int32_t *slot, *move; /* [slots] start slot and move (in the job's own list) of each step */
    int32_t *activity;    /* [slots] */
} nat_path;

/* A move from the slot at hand: its cost and the row that it leads to, shifted by its segments. */
typedef struct nat_pull {
    double cost;
    const double *next;
} nat_pull;

/* Work area of the path block, large enough for every job of the model. One per thread. */
typedef struct nat_path_work {
    double *sum;     /* [activities][slots + 1] prefix sums of price minus idle price */
    int32_t *clear;  /* [activities][slots + 1] first forbidden slot at or after t */
    double *togo;    /* [slots + 1][states][stride] cheapest way from a node to the end */
    double *reach;   /* [slots + 1][states][stride] cheapest way to a node; for marginals only */
    double *by_rule; /* [modes * classes][stride] with transitions */
    nat_pull *pull;  /* [moves] */
    double idle;     /* price of idling through all slots */
    bool forbids;
} nat_path_work;

bool ckpd__nat_path_init(nat_path *path, nat_memory *memory, int32_t slots);
bool ckpd__nat_path_work_init(nat_path_work *work, nat_memory *memory, const nat_model *model);
void ckpd__nat_path_copy(nat_path *to, const nat_path *from, int32_t slots);

/*
 * Cheapest path under price[activity * slots + t], +infinity when there is none. `forbidden` (same
 * shape, or NULL) marks the activities that the job may not have in a slot. Fills work->togo.
 */
double ckpd__nat_path_solve(nat_path_work *work, const nat_model *model, const nat_job *job,
                            const double *price, const uint8_t *forbidden);
/*
 * After a solve, at a node on some path: by how much the cheapest way on over a move (NULL: waiting
 * for a slot) lies above the cheapest way on.
 */
double ckpd__nat_path_excess(const nat_path_work *work, const nat_model *model, const nat_job *job,
                             const nat_move *move, int32_t q, int32_t t, int32_t k);
/*
 * After a solve: what the rest of a move costs from slot t on, with the cheapest way on from the
 * node (q, end, k) that it leads to; beside idling.
 */
double ckpd__nat_path_rest(const nat_path_work *work, const nat_model *model, const nat_job *job,
                           const nat_move *move, int32_t t, int32_t q, int32_t end, int32_t k);
/* Reads the path of the last ckpd__nat_path_solve() of this work area. */
void ckpd__nat_path_trace(const nat_path_work *work, const nat_model *model, const nat_job *job,
                          nat_path *path);
/* Cost of edges with a cost of their own along a path. */
double ckpd__nat_path_edge_cost(const nat_model *model, const nat_job *job, const nat_path *path);
/*
 * After a solve: marginal[activity * slots + t] becomes the cost of the cheapest path with that
 * activity in that slot. Counts into *edges the edges on some path of cost <= limit.
 */
void ckpd__nat_path_marginals(nat_path_work *work, const nat_model *model, const nat_job *job,
                              double *marginal, double limit, int64_t *edges);

#endif
