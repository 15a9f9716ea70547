/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Plans: their exact cost, and the search for better ones by one job after the other. */
#ifndef CKPD_LIB_SOLVER_NATIVE_PRIMAL_H
#define CKPD_LIB_SOLVER_NATIVE_PRIMAL_H

#include "solver/native/path.h"
#include "solver/native/storage.h"

typedef struct nat_plan {
    nat_path *path; /* [jobs] */
    double *draw;   /* [slots] storage draw */
    double cost;    /* +infinity when it breaks a cap */
} nat_plan;

typedef struct nat_primal {
    const nat_model *model;
    nat_path_work path_work;
    double *price; /* [activities][slots] true cost of each activity of one job beside the others */
    double *kw;    /* [slots] IT power of all jobs */
    double *gpus;  /* [slots] */
    double *load;  /* [slots] site load */
    double *worth; /* [slots] worth of stored energy under which a job sees the storage */
    double *found_worth; /* [slots] the same from the dispatch of the last plan costed */
    const double
        *held; /* [slots] storage draw that stays as it is, or NULL: it answers under the worths */
    double *target; /* [slots] mean IT power of the bound's paths, which tracking steers towards */
    double pull;    /* money per kW^2 off the target; 0: no tracking */
    double pull_unit;
    nat_dispatch dispatch;
    double penalty; /* money per slot that breaks a cap: above the cost of any plan */
    const ckpd_host *host;
    double kept;  /* cost of the plan that the host holds */
    int32_t stop; /* what host->should_stop said: a descent ends between two jobs */
} nat_primal;

bool ckpd__nat_plan_init(nat_plan *plan, nat_memory *memory, const nat_model *model);
void ckpd__nat_plan_copy(const nat_model *model, nat_plan *to, const nat_plan *from);
/*
 * Gives the host a plan that is better than the one it holds, where it takes any: it is there even
 * when this process is killed. Want of memory only costs the host that.
 */
void ckpd__nat_primal_keep(nat_primal *primal, const nat_plan *plan, double bound);
/* The plan in the terms of the view. */
void ckpd__nat_plan_write(const nat_model *model, const nat_plan *plan, ckpd_path_plan *out);
void ckpd__nat_primal_free(nat_primal *primal);
bool ckpd__nat_primal_init(nat_primal *primal, nat_memory *memory, const nat_model *model);
/*
 * The paths of the view's start, as far as they still exist: each job takes the path that differs
 * from its steps in the fewest slots. False when there is no start, or a job has no path.
 */
bool ckpd__nat_primal_start(nat_primal *primal, nat_plan *plan);
/* A cost that no plan exceeds. */
double ckpd__nat_cost_ceiling(const nat_model *model);
/* Sums the jobs' power and GPUs of a plan into primal->kw and primal->gpus. */
void ckpd__nat_primal_sum(nat_primal *primal, const nat_plan *plan);
/* Takes the path of job j out of the sums (sign -1) or puts it in (+1). */
void ckpd__nat_primal_add(nat_primal *primal, int32_t j, const nat_path *path, double sign);
/* Cost of a slot with these totals; over a cap, a penalty that grows with the excess. */
double ckpd__nat_primal_slot(const nat_primal *primal, int32_t t, double gpus, double kw);
/* Exact cost of the paths, with the best use of the storage (fills plan->draw). */
double ckpd__nat_primal_cost(nat_primal *primal, nat_plan *plan);
/*
 * Gives each job in turn the path that is cheapest beside the others, until a pass changes nothing
 * or `passes` are over. With storage the slots answer with its cheapest use under primal->worth.
 */
double ckpd__nat_primal_descend(nat_primal *primal, nat_plan *plan, int32_t passes);

#endif
