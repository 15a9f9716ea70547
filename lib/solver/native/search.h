/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The search: climb the bound, look for plans on the way, fix what cannot be, split what remains.
 */
#ifndef CKPD_LIB_SOLVER_NATIVE_SEARCH_H
#define CKPD_LIB_SOLVER_NATIVE_SEARCH_H

#include "solver/native/dual.h"
#include "solver/native/primal.h"

typedef struct nat_search {
    const nat_model *model;
    const ckpd_host *host;
    const ckpd_solve_params *params;
    nat_stack stack;
    nat_dual dual;
    nat_primal primal;
    nat_plan best, trial, other;
    double ceiling;     /* cost that no plan exceeds: bounds above it prove that there is none */
    double bound;       /* proven for the whole problem so far */
    double aim;         /* a cutoff for now, below the one that is asked for; +infinity: none */
    double *direction;  /* [layout.size] */
    double *best_price; /* [layout.size] */
    double *excess;     /* [layout.size] */
    double *scratch;    /* [layout.size + slots]: there may be no job */
    double *mean;       /* [layout.size] share of the choices of jobs and slots, of late */
    uint8_t *forbidden; /* [layout.size] of the node at hand */
    nat_certificate *certificate; /* gets every node, or NULL */
    nat_proof at;                 /* the split that led to the node at hand */
    bool lost_proof;              /* out of memory for the certificate */
    bool failed;                  /* out of memory in finish.c or for the prices to keep */
    bool plain;                   /* prices alone close a node: somebody wants to see them */
    double start_cost;            /* of the plan that an exchange begins with */
    bool primed;                  /* the best plan and the prices to start from are there already */
    bool wide;                    /* windows take over from the root on */
    bool nested;                  /* an exchange: plans are not made better by further ones */
    int64_t exchanges;            /* of jobs, tried so far */
    int32_t pause, rest;          /* turns from one exchange below the root to the next, and left */
    uint64_t random;
    int32_t pull; /* turns through the strengths of tracking */
    int64_t iterations, nodes;
    int32_t stop; /* 0 go on, 1 a limit, 2 cancelled */
} nat_search;

int32_t ckpd__nat_search_init(nat_search *search, nat_memory *memory, const nat_model *model,
                              const ckpd_solve_params *params);
/* Runs until the gap is closed, the tree is empty or a limit stops it. CKPD_OK or
 * CKPD_ERR_NO_MEMORY. */
int32_t ckpd__nat_search_run(nat_search *search);
/*
 * Seeks a plan that is cheaper than plan `trial` (paths filled), which becomes the first one; the
 * same limits and results.
 */
int32_t ckpd__nat_search_exchange(nat_search *search);
/* A bound from which on a node holds nothing worth finding. */
double ckpd__nat_search_cutoff(const nat_search *search);

/* One side keeps the activities of a job in a slot up to `cut`, by power and then by GPUs. */
typedef struct nat_split {
    int32_t job, slot; /* job < 0: nothing left to split */
    int32_t cut;
    double score;
} nat_split;

/* Every two activities differ in power or in GPUs: a split can always tell them apart. */
bool ckpd__nat_split_up_to(const nat_job *job, int32_t a, int32_t cut);
/* From search->mean, and search->excess over `bound`, among what search->forbidden leaves. */
nat_split ckpd__nat_search_choose_split(const nat_search *search, double bound);

/* --- ascend.c -----------------------------------------------------------------------------------
 */

typedef struct nat_climb {
    int32_t rounds;      /* evaluations at most */
    int32_t patience;    /* evaluations without progress before the step shrinks */
    double step, least;  /* step length in Polyak steps: at first, and where to give up */
    int32_t plans_every; /* evaluations between two searches for a plan; 0: none */
    double finish;       /* gap, as a share of the cost, at which the plans left are counted out */
} nat_climb;

/* Counts an evaluation; true when a limit or the host ends the search. */
bool ckpd__nat_search_must_stop(nat_search *search);
/* Tells the host of the best plan. */
void ckpd__nat_search_report(nat_search *search);
/* Raises the bound of a node from dual->price on; leaves the best prices there, evaluated. */
double ckpd__nat_search_climb(nat_search *search, const nat_climb *how);
/*
 * The same for the root, without storage and from good prices: a bundle of paths per job and of
 * combinations per slot instead of steps. Search->best has a plan.
 */
double ckpd__nat_search_weave(nat_search *search, int32_t rounds);
/* Makes plan `trial` (paths filled) better and keeps it when it is the best so far. */
void ckpd__nat_search_offer(nat_search *search, int32_t passes);
/* Keeps the paths of plan `trial` as they are when they are the best so far. */
void ckpd__nat_search_offer_trial(nat_search *search);
/* Keeps the paths of the last evaluation, as they are and made better, when they are the best so
 * far. */
void ckpd__nat_search_offer_paths(nat_search *search);

/* --- window_search.c
 * ------------------------------------------------------------------------------- */

/* True when windows of two slots can go on from the root. */
bool ckpd__nat_search_has_windows(const nat_search *search);
/*
 * From search->dual.price on: the bound by windows, and a tree over what it leaves. Ends as
 * ckpd__nat_search_run() does; false when out of memory.
 */
bool ckpd__nat_search_windows(nat_search *search);

/* --- proof.c
 * --------------------------------------------------------------------------------------- */

/* Writes the node at hand, with its prices, into the certificate; returns its number there, -1
 * without one. */
int32_t ckpd__nat_search_record(nat_search *search);
/*
 * Proves what is left of node `parent`, one activity of every job in every slot, where its own
 * prices do not: use of the storage that is not convex is split at the bends of its cost.
 */
void ckpd__nat_search_record_leaf(nat_search *search, int32_t parent);

/* --- finish.c ------------------------------------------------------------------------------------
 */

/*
 * Sees every plan of the node at hand that can be below the cutoff under the prices at hand, and
 * keeps the best. False when they are too many for `most` steps, when stopped, or out of memory.
 */
bool ckpd__nat_search_finish(nat_search *search, int64_t most);

/* --- improve.c -----------------------------------------------------------------------------------
 */

/*
 * Exchanges of a few jobs of the best plan, and of new ones, as long as `bound` does not prove it:
 * many at the root, few below it. False when out of memory.
 */
bool ckpd__nat_search_improve(nat_search *search, double bound);

#endif
