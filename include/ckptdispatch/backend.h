/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file backend.h
 * For authors of solver backends: the two neutral views of a dispatch problem and the backend
 * table.
 *
 * This header promises less than the others: structs grow at their end, and a semantic change
 * raises CKPD_BACKEND_ABI. Every struct starts with its size; a reader takes the smaller of the
 * given size and its own sizeof, and treats what lies beyond as zero. Structs refer to one another
 * by pointer only, so each may grow by itself.
 *
 * A problem has two equivalent views. The *path view* keeps the structure: per job a set of moves
 * in a time-by-checkpoint grid, per slot a piecewise-linear cost of the net draw, caps, one
 * storage. The *MILP view* is derived from it: sparse columns, rows, integrality. A backend
 * implements either. A linear program is a MILP view without integer columns.
 *
 * All arrays of a view are borrowed for the length of the call and never change. All arrays of a
 * result belong to the caller of the backend, have the stated length and are filled by the backend.
 * The library re-checks every answer against the problem; no answer is taken on trust.
 */
#ifndef CKPTDISPATCH_BACKEND_H
#define CKPTDISPATCH_BACKEND_H

#include <ckptdispatch/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the meaning of this header. */
#define CKPD_BACKEND_ABI 1u

/** Kinds of job in a path view. */
enum {
    CKPD_JOB_PATHS = 1,   /**< one source-to-sink path over moves and waits */
    CKPD_JOB_SLOTWISE = 2 /**< scenario S3: per slot at most one mode, total work must be reached */
};

/**
 * One job. Nodes are (state, boundary t, segments done k). State 0 is the only state when
 * `transition` is NULL; else state 0 means "no mode yet" and state 1 + m "last ran mode m".
 *
 * A move i started at node (q, t, k) occupies the slots t .. t + move_slots[i] - 1 in mode
 * move_mode[i] and leads to (q', t + move_slots[i], k + move_segments[i]), q' = 0 without
 * transitions and 1 + move_mode[i] with them. It exists when both end nodes are open (node_open),
 * t + move_slots[i] <= deadline, k + move_segments[i] <= segments, edge_closed does not
 * close it, and with transitions transition[q * modes + move_mode[i]] equals move_class[i].
 * A wait leads from (q, t, k) to (q, t + 1, k) when `may_wait` and both nodes are open.
 * Every open node with k == segments is an end of the path (sink): the job is finished and draws
 * nothing from there on.
 */
typedef struct ckpd_path_job {
    size_t size;                  /**< sizeof(ckpd_path_job), set by the caller */
    const char *name;             /**< label for messages, may be any UTF-8 */
    int32_t kind;                 /**< CKPD_JOB_... */
    int32_t segments;             /**< K: segments done at the sink */
    int32_t source_slot;          /**< boundary of the source node */
    int32_t source_segment;       /**< segments done at the source node */
    int32_t source_state;         /**< state of the source node, 0 or 1 + last mode */
    int32_t deadline;             /**< last boundary a move may reach */
    int32_t may_wait;             /**< 0: no wait edges (continuous training) */
    int32_t modes;                /**< number of modes */
    const int32_t *mode_gpus;     /**< [modes] GPUs held */
    const double *mode_power_kw;  /**< [modes] IT power of a fully used slot */
    int32_t moves;                /**< number of moves */
    int32_t states;               /**< 1, or 1 + modes with transitions */
    const int32_t *move_mode;     /**< [moves] */
    const int32_t *move_slots;    /**< [moves] >= 1 */
    const int32_t *move_segments; /**< [moves] >= 1 */
    const int32_t *move_class;    /**< [moves] transition class, >= 1; NULL means all 1 */
    const double *move_last_kw; /**< [moves] IT power in the last occupied slot; NULL: mode power */
    const uint8_t *transition;  /**< [states * modes] 0 forbidden, else class; NULL: all allowed */
    const uint8_t *node_open;   /**< [states][slots + 1][segments + 1] 1 when on some path */
    const double *edge_cost;    /**< [moves][slots][segments] money of a move started at (t, k);
                                     NULL: none. May be negative. */
    const uint8_t *edge_closed; /**< [moves][slots][segments] 1: removed by presolve; NULL: none */
    const double *fixed_power_kw; /**< [slots] IT power of a fixed running edge, or NULL */
    const int32_t *fixed_gpus;    /**< [slots] its GPUs, or NULL */
    /* CKPD_JOB_SLOTWISE: any mode or none in each slot of source_slot .. deadline - 1; the sum of
       mode_work_per_slot over the slots must reach work_required (already relaxed by 1e-9). */
    const double *mode_work_per_slot; /**< [modes] */
    double work_required;             /**< work to be reached over all slots */
} ckpd_path_job;

/** Terminal rules of the storage. */
enum { CKPD_TERMINAL_FREE = 0, CKPD_TERMINAL_AT_LEAST = 1, CKPD_TERMINAL_EQUAL = 2 };

/**
 * Storage: soc[t+1] = soc[t] * retention + eta_charge * charge[t] * h - discharge[t] * h /
 * eta_discharge. Charge and discharge are never both positive in one slot.
 */
typedef struct ckpd_path_storage {
    size_t size;                    /**< sizeof(ckpd_path_storage), set by the caller */
    double charge_max_kw;           /**< largest charge */
    double discharge_max_kw;        /**< largest discharge */
    double eta_charge;              /**< (0, 1] */
    double eta_discharge;           /**< (0, 1] */
    double retention;               /**< share of the energy kept over one slot, (0, 1] */
    double soc_min_kwh;             /**< least energy at every boundary */
    double soc_max_kwh;             /**< most energy at every boundary */
    double soc_start_kwh;           /**< energy at boundary 0 */
    int32_t terminal;               /**< CKPD_TERMINAL_... */
    int32_t reserved;               /**< 0 */
    double soc_end_kwh;             /**< for EQUAL and AT_LEAST */
    double end_value_per_kwh;       /**< money earned per kWh left at the end */
    double throughput_cost_per_kwh; /**< money per kWh charged and per kWh discharged */
    /** [slots + 1] least energy at each boundary, in place of soc_min_kwh; at least 0, at most
        soc_max_kwh; NULL: soc_min_kwh everywhere. It may lie below soc_min_kwh where a start below
        that comes back. */
    const double *soc_floor_kwh;
    /** Money per kWh that the last boundary misses soc_end_kwh, below and above; >= 0. Where one is
        not 0, `terminal` is CKPD_TERMINAL_FREE. */
    double end_short_cost_per_kwh;
    double end_over_cost_per_kwh; /**< see end_short_cost_per_kwh */
} ckpd_path_storage;

/** A plan in path terms: steps (moves) of each job and storage power; used for warm starts and
 * results. */
typedef struct ckpd_path_plan {
    size_t size;          /**< sizeof(ckpd_path_plan), set by the caller */
    int32_t *step_count;  /**< [jobs] */
    int32_t *step_slot;   /**< [jobs][slots] start slot of the i-th move, ascending */
    int32_t *step_move;   /**< [jobs][slots] move index of the i-th move */
    int32_t *slot_mode;   /**< [jobs][slots] mode or -1 of slot-wise jobs; NULL: none are */
    double *charge_kw;    /**< [slots] NULL without storage */
    double *discharge_kw; /**< [slots] NULL without storage */
} ckpd_path_plan;

/**
 * Prices of an earlier solve (values of dual variables), for a search to start from. An activity is
 * what a job does in a slot: GPUs held and IT power drawn; doing nothing has the price 0. Prices
 * may come from a problem that has changed since: they can cost time, never correctness.
 */
typedef struct ckpd_path_prices {
    size_t size;                 /**< sizeof(ckpd_path_prices), set by the caller */
    int32_t slots;               /**< prices are known for the slots 0 .. slots - 1 */
    int32_t activities;          /**< number of priced activities; others are not known */
    const int32_t *job;          /**< [activities] job of the view */
    const int32_t *gpus;         /**< [activities] */
    const double *power_kw;      /**< [activities] IT power */
    const double *price;         /**< [activities][slots] money of the activity in the slot */
    const double *load_price;    /**< [slots] money per kW of site load; NULL: not known */
    const double *gpu_price;     /**< [slots] money per GPU in use; NULL: not known */
    const double *storage_worth; /**< [slots] money per kWh in store at the end of the slot; NULL:
                                      not known */
} ckpd_path_prices;

/**
 * The whole problem. The net draw of slot t is
 *   x[t] = base_load_kw[t] + load_factor[t] * sum over jobs of (fixed + moving IT power) + charge -
 * discharge and costs curve_t(x[t]) money in that slot; curve_t is linear between the breakpoints
 * curve_start[t] .. curve_start[t + 1] - 1 and infeasible outside of the first and last. The site
 * load (x without the storage) must stay <= load_cap_kw[t] and the GPUs in use <= gpu_cap[t].
 * Objective: cost_offset + sum of slot costs + edge costs + storage throughput cost - end value
 * + what soft caps and a missed end of the storage cost.
 */
typedef struct ckpd_path_view {
    size_t size;                      /**< sizeof(ckpd_path_view), set by the caller */
    int32_t slots;                    /**< number of slots */
    int32_t jobs;                     /**< number of jobs */
    double slot_hours;                /**< length of a slot */
    double cost_offset;               /**< money that no plan changes */
    const ckpd_path_job *const *job;  /**< [jobs] */
    const double *base_load_kw;       /**< [slots] site load without any job */
    const double *load_factor;        /**< [slots] PUE */
    const double *load_cap_kw;        /**< [slots] +infinity when none */
    const double *gpu_cap;            /**< [slots] */
    const int64_t *curve_start;       /**< [slots + 1] */
    const double *curve_x_kw;         /**< strictly ascending within a slot, at least one point */
    const double *curve_cost;         /**< money in the slot */
    const uint8_t *curve_convex;      /**< [slots] 1 when the curve of the slot is convex */
    const ckpd_path_storage *storage; /**< NULL without storage */
    const ckpd_path_plan *start; /**< a plan to start from, not necessarily feasible, or NULL */
    /* Soft caps, both arrays of a pair or neither. Only backends with CKPD_CAP_SOFT are given
       them; load_cap_kw and gpu_cap still hold beyond. */
    const double *load_soft_kw;   /**< [slots] site load from which on it costs; NULL: none */
    const double *load_over_cost; /**< [slots] money in the slot per kW above load_soft_kw, >= 0 */
    const double *gpu_soft;       /**< [slots] GPUs from which on they cost; NULL: none */
    const double *gpu_over_cost;  /**< [slots] money in the slot per GPU above gpu_soft, >= 0 */
    const ckpd_path_prices *prices; /**< prices to start from, or NULL */
} ckpd_path_view;

/** Sparse MILP by columns, 0-based: minimise offset + cost x, row_lower <= A x <= row_upper. */
typedef struct ckpd_milp_view {
    size_t size;               /**< sizeof(ckpd_milp_view), set by the caller */
    int32_t columns;           /**< number of columns */
    int32_t rows;              /**< number of rows */
    int64_t nonzeros;          /**< number of entries */
    double offset;             /**< constant of the objective */
    const double *cost;        /**< [columns] */
    const double *lower;       /**< [columns] may be -infinity */
    const double *upper;       /**< [columns] may be +infinity */
    const uint8_t *integer;    /**< [columns] 1 for integer columns; NULL: a pure LP */
    const double *row_lower;   /**< [rows] */
    const double *row_upper;   /**< [rows] */
    const int64_t *start;      /**< [columns + 1] */
    const int32_t *index;      /**< [nonzeros] row of each entry, ascending within a column */
    const double *value;       /**< [nonzeros] */
    const double *start_point; /**< [columns] a point to start from, or NULL */
    int32_t hint_pseudo_cost;  /**< 1: branching by pseudo-costs is known to help (scenario S3) */
    int32_t reserved;          /**< 0 */
} ckpd_milp_view;

/**
 * Outcome of a solve, apart from the status of the call. What a backend outside of the library
 * calls optimal comes back as feasible, unless the library can prove it; its other outcomes are
 * handed on as they are claimed.
 */
enum {
    CKPD_OUTCOME_NONE = 0,
    CKPD_OUTCOME_OPTIMAL = 1,    /**< plan within the asked gap of a proven bound */
    CKPD_OUTCOME_FEASIBLE = 2,   /**< plan, bound and gap: stopped at a limit, or only claimed to be
                                    optimal (message) */
    CKPD_OUTCOME_INFEASIBLE = 3, /**< no plan exists */
    CKPD_OUTCOME_UNBOUNDED = 4,  /**< cost has no lower limit */
    CKPD_OUTCOME_NO_PLAN = 5,    /**< stopped at a limit before any plan was found */
    CKPD_OUTCOME_CANCELLED = 6   /**< stopped by the caller, with or without a plan (has_plan) */
};

/** Limits and targets of a solve. */
typedef struct ckpd_solve_params {
    size_t size;             /**< sizeof(ckpd_solve_params), set by the caller */
    double time_limit_s;     /**< +infinity for none */
    double relative_gap;     /**< stop when abs gap <= relative_gap * max(|UB|, |LB|) */
    double absolute_gap;     /**< stop when UB - LB <= absolute_gap */
    int64_t node_limit;      /**< < 0 for none */
    int64_t iteration_limit; /**< < 0 for none */
    int32_t threads;         /**< >= 1 */
    int32_t presolve;        /**< 1: the backend's own presolve may be used */
    int32_t seed;            /**< of whatever the backend draws */
    int32_t reserved;        /**< 0 */
    int64_t memory_limit_mb; /**< of the solver's own memory, <= 0 for none */
} ckpd_solve_params;

/** Answer to a path view. */
typedef struct ckpd_path_result {
    size_t size;          /**< sizeof(ckpd_path_result), set by the caller */
    int32_t outcome;      /**< CKPD_OUTCOME_... */
    int32_t has_plan;     /**< 1 when `plan` is filled */
    double objective;     /**< of the plan, including cost_offset */
    double bound;         /**< lower bound, -infinity when none */
    int64_t iterations;   /**< work units of the backend */
    int64_t nodes;        /**< branch-and-bound nodes */
    ckpd_path_plan *plan; /**< given by the caller with its arrays, which the backend fills; the
                               backend moves neither */
    char message[256];    /**< reason in words, "" when nothing to say */
} ckpd_path_result;

/** Answer to a MILP view. */
typedef struct ckpd_milp_result {
    size_t size;        /**< sizeof(ckpd_milp_result), set by the caller */
    int32_t outcome;    /**< CKPD_OUTCOME_... */
    int32_t has_plan;   /**< 1 when x is filled */
    double objective;   /**< of x, including the offset */
    double bound;       /**< lower bound, -infinity when none */
    int64_t iterations; /**< work units of the backend */
    int64_t nodes;      /**< branch-and-bound nodes */
    double *x;          /**< [columns] given by the caller */
    double *row_dual; /**< [rows] for LPs, given by the caller or NULL: d objective / d row bound */
    double *reduced_cost; /**< [columns] for LPs, given by the caller or NULL */
    char message[256];    /**< reason in words, "" when nothing to say */
} ckpd_milp_result;

/** Services of the library to a running backend. Every call is made on the thread that called
 * solve. */
typedef struct ckpd_host {
    size_t size;                                 /**< sizeof(ckpd_host), set by the caller */
    void *user;                                  /**< handed to each function */
    void *(*allocate)(size_t bytes, void *user); /**< NULL when out of memory */
    void (*release)(void *block, void *user);    /**< takes back what allocate gave */
    void (*log)(int32_t level, const char *message, void *user); /**< one finished line */
    int32_t (*should_stop)(
        void *user); /**< cheap; any thread; 0 go on, 1 time limit, 2 cancelled */
    void (*report)(double incumbent, double bound, int64_t iterations, int64_t nodes,
                   void *user); /**< new incumbent or bound */
    /** Copies the prices that the next solve of a path view shall start from; the last call counts.
       NULL: nobody wants them. CKPD_OK, CKPD_ERR_NO_MEMORY, or what is wrong with them. */
    int32_t (*keep_prices)(const ckpd_path_prices *prices, void *user);
    /** Take the best plan or point so far, so that it is there even when the backend never returns.
       NULL: nobody needs it. */
    void (*keep_plan)(const ckpd_path_plan *plan, double bound, void *user);
    void (*keep_point)(const double *x, double bound, void *user); /**< [columns] */
} ckpd_host;

/** What a backend can do. */
enum {
    CKPD_CAP_PATHS = 1,    /**< solve_paths for CKPD_JOB_PATHS */
    CKPD_CAP_SLOTWISE = 2, /**< solve_paths also for CKPD_JOB_SLOTWISE */
    CKPD_CAP_MILP = 4,     /**< solve_milp with integer columns */
    CKPD_CAP_LP = 8,       /**< solve_milp without integer columns, with duals */
    CKPD_CAP_START = 16,   /**< takes start points */
    CKPD_CAP_TRUSTED_BOUND =
        32,            /**< built in: its bound counts as a proof. Refused for user tables. */
    CKPD_CAP_SOFT = 64 /**< solve_paths also with soft caps */
};

/**
 * Table of a backend. Static or kept alive by its author; the library copies it at registration.
 * A NULL function means "not supported". Functions return CKPD_OK when the result is filled
 * (whatever the outcome), or a CKPD_ERR_ code with result->message set.
 */
typedef struct ckpd_backend_table {
    size_t size;           /**< sizeof(ckpd_backend_table), set by the caller */
    uint32_t abi;          /**< CKPD_BACKEND_ABI */
    uint32_t capabilities; /**< CKPD_CAP_... */
    const char *name;      /**< short, lower case, unique within a context */
    const char *version;   /**< of the solver, for reports */
    const char *license;   /**< SPDX expression of the solver */
    int32_t (*solve_paths)(const ckpd_host *host, const ckpd_path_view *view,
                           const ckpd_solve_params *params, ckpd_path_result *result,
                           void *user); /**< solves a path view */
    int32_t (*solve_milp)(const ckpd_host *host, const ckpd_milp_view *view,
                          const ckpd_solve_params *params, ckpd_milp_result *result,
                          void *user); /**< solves a MILP view */
    void *user;                        /**< handed to the functions */
} ckpd_backend_table;

/** A separately built plug-in exports one function of this type named ckpd_plugin_init. */
typedef int32_t (*ckpd_plugin_init_fn)(uint32_t library_abi, const ckpd_backend_table **out);

/**
 * Adds a backend to a context. Built in, as far as the build has them: "native", "glpk",
 * "enumerate", and "highs" (found at run time).
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE, CKPD_ERR_VERSION (abi),
 *         CKPD_ERR_DUPLICATE (name), CKPD_ERR_NO_MEMORY
 * @since 0.1
 */
CKPD_API int32_t ckpd_backend_register(ckpd_context *context, const ckpd_backend_table *table);
/**
 * Loads a solver from a shared library and registers it: a plug-in that exports ckpd_plugin_init,
 * or HiGHS (1.7.1 or later, as "highs"). NULL looks for HiGHS where the system looks for libraries;
 * a path must hold a '/'. The library stays loaded for the life of the process. A plug-in runs with
 * all rights of the process: load only what you trust. Confined.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_FILE (cannot be loaded; the text says why),
 *         CKPD_ERR_NOT_SUPPORTED (no plug-in), CKPD_ERR_VERSION, CKPD_ERR_DUPLICATE,
 *         CKPD_ERR_NO_MEMORY, and what ckpd_plugin_init returned
 * @since 0.1
 */
CKPD_API int32_t ckpd_backend_load(ckpd_context *context, const char *path);
/** Number of backends of a context. Confined. @since 0.1 */
CKPD_API int32_t ckpd_backend_count(const ckpd_context *context);
/** Name of the i-th backend, borrowed from the context, NULL out of range. Confined. @since 0.1 */
CKPD_API const char *ckpd_backend_name(const ckpd_context *context, int32_t index);
/** Capabilities of the named backend, 0 when there is none of that name. Confined. @since 0.1 */
CKPD_API uint32_t ckpd_backend_capabilities(const ckpd_context *context, const char *name);
/** Version text of the named backend, "" when unknown. Confined. @since 0.1 */
CKPD_API const char *ckpd_backend_version(const ckpd_context *context, const char *name);

/**
 * What a worker program does, see ckpd_solve_options_set_worker(): reads one problem from a
 * connected stream socket, solves it with a backend of the context, and writes plans and the answer
 * back. Plug-ins that the asking process has loaded from a path are loaded first. Blocks until the
 * answer is sent. Confined.
 * @param socket  descriptor, stays open; standard input in a worker program
 * @return CKPD_OK (also when the backend failed: the other side was told), CKPD_ERR_ARGUMENT,
 * CKPD_ERR_FILE (the other side is gone), CKPD_ERR_SYNTAX (not a request), CKPD_ERR_VERSION,
 * CKPD_ERR_NO_MEMORY
 * @since 0.1
 */
CKPD_API int32_t ckpd_worker_serve(ckpd_context *context, int32_t socket);

/**
 * Solves a neutral model directly, as the library does for its own problems: registered backend by
 * name, limits, cancel token, log. `result->x` etc. are the caller's.
 * The answer is checked against rows, bounds and integrality before CKPD_OK is returned.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_UNKNOWN_NAME, CKPD_ERR_NOT_FINITE,
 * CKPD_ERR_NOT_SUPPORTED, CKPD_ERR_BACKEND, CKPD_ERR_VERIFY, CKPD_ERR_NO_MEMORY
 * @since 0.1
 */
CKPD_API int32_t ckpd_milp_solve(ckpd_context *context, const char *backend,
                                 const ckpd_milp_view *view, const ckpd_solve_params *params,
                                 const ckpd_cancel *cancel, ckpd_milp_result *result);
/** The same for a path view. @since 0.1 */
CKPD_API int32_t ckpd_path_solve(ckpd_context *context, const char *backend,
                                 const ckpd_path_view *view, const ckpd_solve_params *params,
                                 const ckpd_cancel *cancel, ckpd_path_result *result);

#ifdef __cplusplus
}
#endif
#endif
