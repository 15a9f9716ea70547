/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Inside of the solver room: neutral models only, never a task or a tariff. */
#ifndef CKPD_LIB_SOLVER_SOLVER_H
#define CKPD_LIB_SOLVER_SOLVER_H

#include "base/base.h"
#include <ckptdispatch/backend.h>
#include <stdatomic.h>

/* --- backends of a context (registry.c) ------------------------------------------------------- */

/* Table of the named backend, borrowed, or NULL. Knows built-ins without any allocation. */
const ckpd_backend_table *ckpd__backend_find(const ckpd_context *context, const char *name);
/*
 * The named backend or, for NULL and "", the first in the order of preference that has all of
 * `needed` (native, glpk, enumerate, then what was registered). Fails with CKPD_ERR_UNKNOWN_NAME
 * (naming the nearest), CKPD_ERR_NO_BACKEND or CKPD_ERR_NOT_SUPPORTED.
 */
int32_t ckpd__backend_choose(ckpd_context *context, const char *name, uint32_t needed,
                             const ckpd_backend_table **out);
/*
 * The preferred backend for a path problem: one with all of `paths`, or one that takes MILP views.
 * With `after`, the next in preference behind that one.
 */
int32_t ckpd__backend_choose_paths(ckpd_context *context, uint32_t paths,
                                   const ckpd_backend_table *after, const ckpd_backend_table **out);
/* Path that a backend was loaded from, NULL for others. */
const char *ckpd__backend_origin(const ckpd_context *context, const char *name);
void ckpd__backend_set_origin(ckpd_context *context, const char *name, const char *path);
/*
 * Registration without the refusal of CKPD_CAP_TRUSTED_BOUND; for tables of the library itself.
 * `block` is freed with the context, NULL for none; it stays the caller's on failure.
 */
int32_t ckpd__backend_register_own(ckpd_context *context, const ckpd_backend_table *table,
                                   void *block);

/* --- services to a running backend (host.c) --------------------------------------------------- */

/* Prices in the context's memory. */
typedef struct ckpd__prices {
    ckpd_path_prices view; /* size 0: none; what follows are its arrays */
    int32_t *job, *gpus;
    double *power_kw, *price, *load_price, *gpu_price, *storage_worth;
    void *block;
} ckpd__prices;
/* Room for prices: every array is there, filled with zeros. On failure `out` is empty. */
bool ckpd__prices_new(ckpd_context *context, ckpd__prices *out, int32_t slots, int32_t activities);
/* Replaces what `to` holds, which is empty on failure: no memory, or prices that no view may hold.
 */
int32_t ckpd__prices_copy(ckpd_context *context, ckpd__prices *to, const ckpd_path_prices *from);
void ckpd__prices_free(ckpd_context *context, ckpd__prices *prices);

/* What a caller may add to a solve; NULL pointers for none. */
typedef struct ckpd__solve_control {
    const ckpd_cancel *cancel;
    ckpd_progress_fn progress;
    void *progress_user;
    int32_t structure_presolve; /* 1: the structure layer runs before a MILP backend */
    int32_t presolve_nodes;     /* nodes it may take, 0: as many as it is allowed by default */
    int32_t no_fallback;        /* 1: only the named backend, no second try with another */
    const char *worker;         /* program that runs the backend, NULL or "": this process does */
    double started_s;           /* when the time limit of a path solve began to run; 0: now */
    int32_t start_is_plan;      /* 1: the start was checked, so the problem has a plan */
    ckpd__prices *prices;       /* gets the prices that a path backend ends with */
} ckpd__solve_control;

/* What a solve says beside its result. */
typedef struct ckpd__solve_info {
    char backend[32]; /* that gave the answer */
    int32_t trusted;  /* its bound counts as a proof */
    double seconds;
} ckpd__solve_info;

typedef struct ckpd__host_state {
    ckpd_context *context;
    const ckpd__solve_control *control;
    double started_s, limit_s;
    double objective_unit;          /* the backend works in cost / objective_unit */
    double bound_floor;             /* bound already proven, in cost */
    atomic_int_least32_t cancelled; /* by the progress callback */
} ckpd__host_state;

/* `state` must outlive `host`. */
void ckpd__host_start(ckpd_host *host, ckpd__host_state *state, ckpd_context *context,
                      const ckpd__solve_control *control, double time_limit_s);
/* Seconds left of the limit, >= 0, infinity for none. */
double ckpd__host_time_left(const ckpd__host_state *state);
/* max(absolute, relative * max(|UB|, |LB|)): the one definition of the gap that ends a solve. */
double ckpd__gap_allowed(const ckpd_solve_params *params, double upper, double lower);

/*
 * Calls a backend, in a worker process when the control of the solve names one (worker.c). `host`
 * is one of ckpd__host_start().
 */
int32_t ckpd__call_milp(const ckpd_backend_table *backend, const ckpd_host *host,
                        const ckpd_milp_view *view, const ckpd_solve_params *params,
                        ckpd_milp_result *result);
int32_t ckpd__call_paths(const ckpd_backend_table *backend, const ckpd_host *host,
                         const ckpd_path_view *view, const ckpd_solve_params *params,
                         ckpd_path_result *result);

/* --- solves as dispatch and shape use them (solve_milp.c, solve_path.c) ----------------------- */

int32_t ckpd__milp_solve(ckpd_context *context, const char *backend, const ckpd_milp_view *view,
                         const ckpd_solve_params *params, const ckpd__solve_control *control,
                         ckpd_milp_result *result, ckpd__solve_info *info);
int32_t ckpd__path_solve(ckpd_context *context, const char *backend, const ckpd_path_view *view,
                         const ckpd_solve_params *params, const ckpd__solve_control *control,
                         ckpd_path_result *result, ckpd__solve_info *info);

/*
 * Checks `start`, of the view's shape; one that is no plan of the view is mended where its jobs can
 * join their old paths (start.c). The time limit runs from control->started_s on.
 */
int32_t ckpd__start_make_plan(ckpd_context *context, const ckpd_path_view *view,
                              const ckpd__solve_control *control, double time_limit_s,
                              ckpd_path_plan *start, bool *is_plan);

/* --- arguments and answers (validate.c, check.c) ---------------------------------------------- */

/* Complete defaults into `known`, refuse what is out of range. `given` NULL: all defaults. */
int32_t ckpd__params_read(ckpd_context *context, const ckpd_solve_params *given,
                          ckpd_solve_params *known);
int32_t ckpd__milp_view_check(ckpd_context *context, const ckpd_milp_view *view);
int32_t ckpd__path_view_check(ckpd_context *context, const ckpd_path_view *view);
/* Arrays that are needed, no NaN and no infinity; `context` NULL: nobody is told. */
int32_t ckpd__prices_check(ckpd_context *context, const ckpd_path_prices *prices);

/*
 * An optimum that only its backend vouches for becomes "feasible" with the bound that is claimed;
 * this says so in the log and, when it is empty, in the message.
 */
void ckpd__say_claimed(ckpd_context *context, const char *backend, double bound, char *message,
                       size_t size);
/*
 * What the duals of the rows prove for a linear program: a bound of its objective, -infinity when
 * they prove nothing.
 */
double ckpd__lp_bound(const ckpd_milp_view *view, const double *row_dual);

/* Tolerance of a row, bound or balance whose largest term has this size. */
double ckpd__tolerance(double largest_term);
/* Objective of x, and CKPD_ERR_VERIFY naming the first bound, row or integer column that x misses.
 */
int32_t ckpd__milp_point_check(ckpd_context *context, const ckpd_milp_view *view, const double *x,
                               double *objective, bool quiet);

/* Smaller big-M coefficients where some are dangerously large (tighten.c); `block` holds them, free
 * it. */
int32_t ckpd__milp_tighten(ckpd_context *context, ckpd_milp_view *view, double **block);

/* Per-slot series of a plan; every array has `slots` entries, soc_kwh one more. */
typedef struct ckpd__path_series {
    double *load_kw; /* site load without storage */
    double *net_kw;  /* x of the slot's curve */
    double *gpus;
    double *soc_kwh; /* NULL without storage */
} ckpd__path_series;

/*
 * Recomputes a plan from nothing but the view: continuity, closed edges, transitions, completion,
 * caps, storage limits and exclusivity, curve domain. Fills `objective`; `series` may be NULL.
 * CKPD_ERR_VERIFY names the job or slot; no error is recorded when `quiet`.
 */
int32_t ckpd__path_plan_check(ckpd_context *context, const ckpd_path_view *view,
                              const ckpd_path_plan *plan, double *objective,
                              ckpd__path_series *series, bool quiet);

/* Least energy at a boundary after the first. */
double ckpd__soc_low(const ckpd_path_storage *storage, int32_t boundary);
/* What the energy at the end costs: less its value, plus what a missed end costs. */
double ckpd__soc_end_cost(const ckpd_path_storage *storage, double soc_kwh);
bool ckpd__has_soft_caps(const ckpd_path_view *view);
/* What load and GPUs above the soft caps of a slot cost. */
double ckpd__soft_cost(const ckpd_path_view *view, int32_t slot, double load_kw, double gpus);
/*
 * Of plans of the same cost the tidier one (tidy.c): storage at rest where its use saves nothing,
 * pauses closed and steps earlier where that costs nothing. `cost` follows the plan.
 */
int32_t ckpd__plan_tidy(ckpd_context *context, const ckpd_path_view *view, ckpd_path_plan *plan,
                        double *cost);
/* Cost of a slot's curve at x; infinity outside of its domain (with tolerance). */
double ckpd__curve_cost(const ckpd_path_view *view, int32_t slot, double x_kw);
/* Index of a job's per-edge arrays: [moves][slots][segments]. */
size_t ckpd__edge_index(const ckpd_path_view *view, const ckpd_path_job *job, int32_t move,
                        int32_t slot, int32_t segment);
/* Index of node_open: [states][slots + 1][segments + 1]. */
size_t ckpd__node_index(const ckpd_path_view *view, const ckpd_path_job *job, int32_t state,
                        int32_t slot, int32_t segment);
/* Whether the move exists at node (state, slot, segment), and the state it leads to. */
bool ckpd__move_exists(const ckpd_path_view *view, const ckpd_path_job *job, int32_t move,
                       int32_t state, int32_t slot, int32_t segment);
int32_t ckpd__move_state(const ckpd_path_job *job, int32_t move);
/* IT power of a move in its i-th slot. */
double ckpd__move_power(const ckpd_path_job *job, int32_t move, int32_t i);

/* A caller's view with every struct behind it at this library's size; the arrays stay the caller's.
 */
typedef struct ckpd__known_view {
    ckpd_path_view view; /* points into the rest: do not move it */
    ckpd_path_job *job;  /* [jobs] */
    const ckpd_path_job **jobs;
    ckpd_path_storage storage;
    ckpd_path_plan start;
    ckpd_path_prices prices;
} ckpd__known_view;
/* Sizes and missing pointers are checked here, everything else by ckpd__path_view_check. */
int32_t ckpd__known_view_make(ckpd__known_view *known, ckpd_context *context,
                              const ckpd_path_view *given);
void ckpd__known_view_free(ckpd__known_view *known, ckpd_context *context);
/* Whether a caller's plan has every array that `view` asks for. */
int32_t ckpd__plan_arrays_check(ckpd_context *context, const char *field,
                                const ckpd_path_view *view, const ckpd_path_plan *plan);

/* Plan whose arrays belong to the context; freed with ckpd__plan_free. */
int32_t ckpd__plan_new(ckpd_context *context, const ckpd_path_view *view, ckpd_path_plan *plan);
void ckpd__plan_free(ckpd_context *context, ckpd_path_plan *plan);
void ckpd__plan_copy(const ckpd_path_view *view, ckpd_path_plan *to, const ckpd_path_plan *from);

#endif
