/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The MILP view of a path view, and the way back. docs/backends.md has the model. Columns per job
 * are the usable moves and waits (arc flow), per slot the linear pieces of the cost curve, and the
 * storage.
 */
#ifndef CKPD_LIB_SOLVER_PATH_MILP_H
#define CKPD_LIB_SOLVER_PATH_MILP_H

#include "solver/solver.h"

enum { CKPD__NAME_LENGTH = 64 };

/* What a column or row stands for: its name is made from this. */
typedef struct ckpd__milp_tag {
    char kind; /* column: m move, w wait, z slot-wise mode, n piece of net draw, y order of pieces,
                  c charge, d discharge, u charging, s energy, h missing at the end, a too much at
                  the end, i load and k GPUs above a soft cap; rows: see path_milp_plan.c */
    int32_t job, move, state, slot, segment;
} ckpd__milp_tag;

typedef struct ckpd__path_milp {
    ckpd_context *context;
    const ckpd_path_view *view; /* borrowed */
    ckpd_milp_view milp;

    /* Owned arrays behind `milp`, with their capacities. */
    double *cost, *lower, *upper, *value, *row_lower, *row_upper;
    uint8_t *integer;
    int64_t *start;
    int32_t *index;
    ckpd__milp_tag *column_tag, *row_tag;
    size_t column_capacity, nonzero_capacity;

    /* Columns of each job [jobs + 1], and of each slot's pieces [slots + 1]; first columns of the
     * rest. */
    int32_t *job_column, *piece_column;
    int32_t order_column, charge_column, discharge_column, charging_column, energy_column;
    int32_t soft_column;          /* first of what is above soft caps or misses the end */
    double *clip_low, *clip_high; /* [slots] range of the net draw that can be reached */

    /* Rows. */
    int32_t *node_row; /* row of every node of every job, -1 without one */
    size_t *job_node;  /* [jobs] where a job's nodes begin in node_row */
    int32_t *pick_row; /* [jobs] first "one mode per slot" row of a slot-wise job */
    int32_t balance_row, gpu_row, cap_row, energy_row, charge_row, order_row;
    int32_t end_row;                  /* of the energy that is wanted at the end, -1 without one */
    int32_t *gpu_row_of, *cap_row_of; /* [slots] or -1 */
    uint8_t *exclusive;               /* [slots] 1: charge and discharge need a binary here */
    double charge_max, discharge_max; /* power limits after the energy range */
} ckpd__path_milp;

/*
 * Derives the MILP view. `view` must outlive it and have been checked. More than `most_columns`
 * columns are refused with CKPD_ERR_NOT_SUPPORTED (0: no limit).
 */
int32_t ckpd__path_milp_new(ckpd__path_milp **out, ckpd_context *context,
                            const ckpd_path_view *view, int64_t most_columns);
void ckpd__path_milp_free(ckpd__path_milp *model);
/* Plan of a point: integers rounded, storage power netted and cleaned. */
void ckpd__path_milp_decode(const ckpd__path_milp *model, const double *x, ckpd_path_plan *plan);
/* Point of a plan that passed ckpd__path_plan_check; false when it uses a column the model left
 * out. */
bool ckpd__path_milp_encode(const ckpd__path_milp *model, const ckpd_path_plan *plan,
                            const ckpd__path_series *series, double *x);
void ckpd__path_milp_column_name(const ckpd__path_milp *model, int32_t column,
                                 char name[CKPD__NAME_LENGTH]);
void ckpd__path_milp_row_name(const ckpd__path_milp *model, int32_t row,
                              char name[CKPD__NAME_LENGTH]);

/* --- between the sources of path_milp
 * -------------------------------------------------------------- */

/* Appends a column; entries follow with ckpd__milp_entry in ascending rows. False: out of memory.
 */
bool ckpd__milp_column(ckpd__path_milp *model, ckpd__milp_tag tag, double cost, double lower,
                       double upper, bool integer);
bool ckpd__milp_entry(ckpd__path_milp *model, int32_t row, double value);
/* Live nodes and usable moves of one job. */
typedef struct ckpd__live {
    uint8_t *node;   /* [states][slots + 1][segments + 1] on some usable path */
    uint8_t *usable; /* [moves][slots]: alone within GPU, load and curve limits */
} ckpd__live;
int32_t ckpd__live_nodes(ckpd_context *context, const ckpd_path_view *view,
                         const ckpd_path_job *job, ckpd__live *live);
/* *found: whether a job or slot is impossible by itself; then the answer says which. */
int32_t ckpd__look_for_obvious(ckpd_context *context, const ckpd_path_view *view,
                               const ckpd_host *host, ckpd_path_result *answer, bool *found);
/*
 * Whether a job of the path kind has a path at all when it has the site for itself: the same
 * question for one node, which rows of nodes answer in a fraction of the time.
 */
int32_t ckpd__job_is_possible(ckpd_context *context, const ckpd_path_view *view,
                              const ckpd_path_job *job, bool *possible);
/* What is drawn and held in a slot before any choice: base load plus fixed power, fixed GPUs. */
double ckpd__slot_base_kw(const ckpd_path_view *view, int32_t slot);
double ckpd__slot_fixed_gpus(const ckpd_path_view *view, int32_t slot);
/*
 * One linear piece of a slot's curve within the clipped range. Pieces between two places where the
 * slope falls form a run; a convex curve has one. Zero the struct to begin.
 */
typedef struct ckpd__piece {
    int64_t next; /* breakpoint to go on with, 0 at the start */
    int32_t run;
    bool last_run;
    double from, width, slope;
} ckpd__piece;
bool ckpd__next_piece(const ckpd__path_milp *model, int32_t slot, ckpd__piece *piece);
/* Columns of slots and storage, after those of the jobs. */
int32_t ckpd__milp_slot_columns(ckpd__path_milp *model);
/* Decides curve ranges and exclusivity before any column is made. */
int32_t ckpd__milp_plan_slots(ckpd__path_milp *model);

#endif
