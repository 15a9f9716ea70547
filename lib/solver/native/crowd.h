/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Many jobs: the combinations of a slot are too many to tell apart, and with many jobs they matter
 * little. One price per slot on power (and one on GPUs where the caps do not follow from power)
 * takes the place of a price per job and activity; the slots see the total load as a continuous
 * number.
 */
#ifndef CKPD_LIB_SOLVER_NATIVE_CROWD_H
#define CKPD_LIB_SOLVER_NATIVE_CROWD_H

#include "solver/native/master.h"
#include "solver/native/primal.h"
#include "solver/native/reservoir.h"

typedef struct nat_crowd {
    const nat_model *model;
    const ckpd_host *host;
    const ckpd_solve_params *params;
    int32_t threads;
    nat_path_work *work; /* [threads] */
    double **job_price;  /* [threads][activities * slots] */
    nat_path *path;      /* [jobs] of the last evaluation */
    double *path_value;  /* [jobs] */
    int32_t levels;      /* loads between which a slot chooses */
    double *load;        /* [slots][levels] +infinity: not a choice */
    double *load_cost;   /* [slots][levels] */
    double *top;         /* [levels] */
    bool prices_gpus;
    double kw_per_gpu;  /* scale of the GPU prices */
    double *price;      /* [2 * slots] money per kW of site load, then per kW worth of GPUs */
    double *best_price; /* [2 * slots] */
    double *wanted;     /* [slots] site load that the slots ask for */
    double *row;        /* [2 * slots] load and GPUs of a path, as the prices see them */
    nat_master master;
    double *worth, *best_worth; /* [slots] with storage */
    nat_reservoir reservoir;
    nat_primal primal;
    nat_plan best, trial;
    double bound;
    double slots_value; /* the slots' share of the last evaluation */
    uint64_t random;
    int64_t iterations;
    int32_t turn; /* through the strengths of tracking */
    int32_t stop;
} nat_crowd;

int32_t ckpd__nat_crowd_init(nat_crowd *crowd, nat_memory *memory, const nat_model *model,
                             const ckpd_solve_params *params);
void ckpd__nat_crowd_free(nat_crowd *crowd);
/* Climbs until the asked gap is reached, nothing moves any more, or a limit. */
int32_t ckpd__nat_crowd_run(nat_crowd *crowd);
/* Then plans from the mixture of paths and exchanges of two jobs, until none helps. */
int32_t ckpd__nat_crowd_improve(nat_crowd *crowd);
/* True when the asked gap is reached. */
bool ckpd__nat_crowd_is_closed(const nat_crowd *crowd);

/* What proves crowd->bound. CKPD_OK or CKPD_ERR_NO_MEMORY. */
int32_t ckpd__nat_crowd_certify(nat_crowd *crowd, nat_certificate *certificate);

/* --- crowd_bound.c -------------------------------------------------------------------------------
 */

/* The bound at crowd->price; crowd->path and crowd->wanted (load the slots ask for) are filled. */
double ckpd__nat_crowd_evaluate(nat_crowd *crowd);
/* What the prices per slot at `slot_price` ([2 * slots]) are for the activities of a job. */
void ckpd__nat_crowd_price(const nat_crowd *crowd, const double *slot_price, const nat_job *job,
                           double *price);
bool ckpd__nat_crowd_bound_init(nat_crowd *crowd, nat_memory *memory);

#endif
