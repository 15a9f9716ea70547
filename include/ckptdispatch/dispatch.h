/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file dispatch.h
 * Problem, scenarios, solve, plan, verification.
 */
#ifndef CKPTDISPATCH_DISPATCH_H
#define CKPTDISPATCH_DISPATCH_H

#include <ckptdispatch/backend.h>
#include <ckptdispatch/base.h>
#include <ckptdispatch/graph.h>
#include <ckptdispatch/site.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Scenarios of docs/model.md, section 7. */
enum {
    CKPD_SCENARIO_S1 = 1, /**< continuous training in the baseline mode, no battery */
    CKPD_SCENARIO_S2 = 2, /**< S1 with checkpoints recorded; equal to S1 to the last digit */
    CKPD_SCENARIO_S3 = 3, /**< no checkpoint continuity: a lower bound for S4, not executable */
    CKPD_SCENARIO_S4 = 4, /**< checkpoint waiting and 3D modes, no battery */
    CKPD_SCENARIO_S5 = 5, /**< S1's training with the battery */
    CKPD_SCENARIO_S6 = 6  /**< S4's training with the battery */
};

/* --- problem ---------------------------------------------------------------------------------- */

/** Dispatch problem: a site and its jobs. Confined; may be changed and solved again. */
typedef struct ckpd_problem ckpd_problem;

/**
 * Makes a problem with no jobs over a copy of the site.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_MISSING (a required series), CKPD_ERR_NO_MEMORY
 * @since 0.1
 */
CKPD_API int32_t ckpd_problem_new(ckpd_problem **out, ckpd_context *context, const ckpd_site *site);
/** Ends a problem; NULL is fine. Any thread. @since 0.1 */
CKPD_API void ckpd_problem_free(ckpd_problem *problem);
/**
 * Adds a job, copied from its graph.
 * @return CKPD_OK, CKPD_ERR_DUPLICATE (name), CKPD_ERR_INCONSISTENT (other horizon or slot length),
 *         CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_problem_add_job(ckpd_problem *problem, const ckpd_graph *graph);
/** Number of jobs. @since 0.1 */
CKPD_API int32_t ckpd_problem_job_count(const ckpd_problem *problem);
/** Name of a job, borrowed; NULL out of range. @since 0.1 */
CKPD_API const char *ckpd_problem_job_name(const ckpd_problem *problem, int32_t job);
/** The graph of a job, borrowed; NULL out of range. @since 0.1 */
CKPD_API const ckpd_graph *ckpd_problem_job_graph(const ckpd_problem *problem, int32_t job);
/**
 * Replaces the site (new prices, a new SOC), same horizon. The jobs stay.
 * @return as ckpd_problem_new(), CKPD_ERR_INCONSISTENT (other horizon) @since 0.1
 */
CKPD_API int32_t ckpd_problem_set_site(ckpd_problem *problem, const ckpd_site *site);
/**
 * Rebuilds the graph of a job (or of all, job -1) with another number of checkpoint segments; for
 * sweeps.
 * @return CKPD_OK, CKPD_ERR_RANGE, CKPD_ERR_STATE (a job has start segments or a running edge),
 * CKPD_ERR_NO_MEMORY
 * @since 0.1
 */
CKPD_API int32_t ckpd_problem_set_segments(ckpd_problem *problem, int32_t job, int32_t segments);
/**
 * Sets the GPU cap of every slot, a whole number or +infinity; for sweeps.
 * @return CKPD_OK, CKPD_ERR_RANGE, CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_problem_set_gpu_cap(ckpd_problem *problem, double gpus);

/**
 * Gives every limit a price that has none yet, so that a plan comes back that passes limits where
 * nothing else is possible (ckpd_report_get_overrun()): import, site and GPU caps, deadlines up to
 * the horizon, the end SOC. P = 100 x the largest import price by amount, at least 100: P per MWh,
 * P / 1000 per GPU-hour, P per hour of a job's lateness. Prices of one's own are fields of site
 * ("import_cap_price_per_mwh", ...), battery ("soc_end_price_per_mwh") and task
 * ("deadline_price_per_hour"). In S3 lateness costs nothing, so that it stays a lower bound.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_problem_soften(ckpd_problem *problem);

/* --- options ---------------------------------------------------------------------------------- */

/** Solve options. Confined. */
typedef struct ckpd_solve_options ckpd_solve_options;

/**
 * Makes options with their defaults.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_NO_MEMORY
 * @since 0.1
 */
CKPD_API int32_t ckpd_solve_options_new(ckpd_solve_options **out, ckpd_context *context);
/** Ends options; NULL is fine. Any thread. @since 0.1 */
CKPD_API void ckpd_solve_options_free(ckpd_solve_options *options);
/**
 * Sets a field: relative_gap (1e-6), absolute_gap (0), time_limit_s (infinity), node_limit,
 * iteration_limit
 * (-1: none), threads (1), structure_presolve (flag, 1), backend_presolve (flag, 1), seed (0).
 * @return CKPD_OK, CKPD_ERR_UNKNOWN_NAME, CKPD_ERR_RANGE, CKPD_ERR_NOT_FINITE @since 0.1
 */
CKPD_API int32_t ckpd_solve_options_set(ckpd_solve_options *options, const char *field,
                                        double value);
/** Reads a field. @since 0.1 */
CKPD_API int32_t ckpd_solve_options_get(const ckpd_solve_options *options, const char *field,
                                        double *value);
/** Number of fields. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_solve_options_field_count(void);
/** Describes the i-th field. @since 0.1 */
CKPD_API int32_t ckpd_solve_options_field_info(int32_t index, ckpd_field_info *out);
/**
 * Names the backend, copied; NULL or "auto": the library chooses. @return CKPD_OK,
 * CKPD_ERR_NO_MEMORY, CKPD_ERR_RANGE (longer than 63 bytes) @since 0.1
 */
CKPD_API int32_t ckpd_solve_options_set_backend(ckpd_solve_options *options, const char *name);
/**
 * Lets backends run in a process of their own, which is killed when the time limit is over (50 ms
 * later at most) or the solve is cancelled, whatever it is doing: for general solvers, which
 * look at neither in all of their phases. What it has found by then is kept and verified. The
 * program is started once a solve with the one argument "worker", an empty environment and its
 * standard input connected to this process; `ckptdispatch` is one, ckpd_worker_serve() makes
 * others. The structure presolve stays in this process. A backend registered from memory is known
 * to the worker only if it registers one of that name. Prices do not cross: the backend gets none
 * of an earlier solution and the new one keeps none, see ckpd_problem_resolve_from().
 * @param program  path, copied; NULL: none
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_RANGE (longer than 1023 bytes) @since 0.1
 */
CKPD_API int32_t ckpd_solve_options_set_worker(ckpd_solve_options *options, const char *program);
/** Progress callback; NULL removes it. @since 0.1 */
CKPD_API int32_t ckpd_solve_options_set_progress(ckpd_solve_options *options,
                                                 ckpd_progress_fn progress, void *user);
/**
 * Cancel token, borrowed: it must outlive every solve with these options; NULL removes it. A solve
 * whose token is cancelled beforehand asks no backend: CKPD_OUTCOME_CANCELLED, with the plan it was
 * to start from where that is one, unless it is plain without a solver that there is no plan.
 * @since 0.1
 */
CKPD_API int32_t ckpd_solve_options_set_cancel(ckpd_solve_options *options,
                                               const ckpd_cancel *cancel);

/* --- plan ------------------------------------------------------------------------------------- */

/**
 * What every job does, and the power flows of every slot. Confined while built; a plan borrowed
 * from a solution is immutable.
 */
typedef struct ckpd_plan ckpd_plan;

/**
 * One step of a job: a training edge (or, in S3, one slot without checkpoint continuity). In S2 a
 * step ends at each boundary where checkpoints are complete. A job that runs when the horizon
 * starts has the rest of its running edge as first step, in every scenario.
 */
typedef struct ckpd_step {
    size_t size;          /**< sizeof(ckpd_step), set by the caller */
    int32_t from_slot;    /**< first slot boundary */
    int32_t to_slot;      /**< boundaries; occupies from_slot .. to_slot - 1 */
    int32_t from_segment; /**< segments complete before */
    int32_t to_segment;   /**< both -1 in S3 */
    int32_t mode;         /**< mode number of the job's mode set */
    int32_t gpus;         /**< held in each slot */
} ckpd_step;

/** Makes an empty plan: no steps, all flows 0. @since 0.1 */
CKPD_API int32_t ckpd_plan_new(ckpd_plan **out, ckpd_context *context, int32_t jobs, int32_t slots);
/** Ends a plan the caller made; NULL is fine. Any thread. @since 0.1 */
CKPD_API void ckpd_plan_free(ckpd_plan *plan);
/**
 * Appends a step to a job (ascending).
 * @return CKPD_OK, CKPD_ERR_RANGE, CKPD_ERR_STRUCT_SIZE, CKPD_ERR_NO_MEMORY
 * @since 0.1
 */
CKPD_API int32_t ckpd_plan_add_step(ckpd_plan *plan, int32_t job, const ckpd_step *step);
/**
 * Sets a series: "import_kw", "export_kw", "curtailment_kw", "charge_kw", "discharge_kw" (slots
 * values), "soc_kwh" (slots + 1 values: at every boundary).
 * @return CKPD_OK, CKPD_ERR_UNKNOWN_NAME, CKPD_ERR_LENGTH, CKPD_ERR_NOT_FINITE @since 0.1
 */
CKPD_API int32_t ckpd_plan_set_series(ckpd_plan *plan, const char *name, const double *values,
                                      int32_t count);
/**
 * Copies a series. Besides the names of ckpd_plan_set_series() a plan of a solution has
 * "it_power_kw", "site_load_kw", "gpus", "wind_kw", "solar_kw", "import_price_per_mwh",
 * "export_price_per_mwh".
 * @return as above, CKPD_ERR_STATE when this plan does not have it @since 0.1
 */
CKPD_API int32_t ckpd_plan_get_series(const ckpd_plan *plan, const char *name, double *values,
                                      int32_t count);
/** Number of jobs. @since 0.1 */
CKPD_API int32_t ckpd_plan_job_count(const ckpd_plan *plan);
/** Number of slots. @since 0.1 */
CKPD_API int32_t ckpd_plan_slots(const ckpd_plan *plan);
/** Number of steps of a job, 0 out of range. @since 0.1 */
CKPD_API int32_t ckpd_plan_step_count(const ckpd_plan *plan, int32_t job);
/** Copies a step. @since 0.1 */
CKPD_API int32_t ckpd_plan_get_step(const ckpd_plan *plan, int32_t job, int32_t index,
                                    ckpd_step *out);

/* --- verification ----------------------------------------------------------------------------- */

/** Kinds of violation. */
enum {
    CKPD_VIOLATION_PATH = 1, /**< a step that is no edge of the graph, overlap, wrong segment */
    CKPD_VIOLATION_COMPLETION = 2, /**< segments or work missing at the deadline */
    CKPD_VIOLATION_GPU_CAP = 3,
    CKPD_VIOLATION_SITE_CAP = 4,
    CKPD_VIOLATION_BALANCE = 5,
    CKPD_VIOLATION_LIMIT = 6,       /**< a flow outside its bounds */
    CKPD_VIOLATION_SOC = 7,         /**< recursion, bounds, start or terminal rule */
    CKPD_VIOLATION_EXCLUSIVITY = 8, /**< charge with discharge, import with export */
    CKPD_VIOLATION_COST = 9         /**< a claimed cost differs from the recomputed one */
};

/** One violation. */
typedef struct ckpd_violation {
    size_t size;       /**< sizeof(ckpd_violation), set by the caller */
    int32_t kind;      /**< CKPD_VIOLATION_... */
    int32_t job;       /**< -1 when none */
    int32_t slot;      /**< -1 when none */
    int32_t reserved;  /**< 0 */
    double amount;     /**< in the unit of the row */
    char message[256]; /**< finished text, UTF-8 */
} ckpd_violation;

/** A limit with a price that a plan passes. No violation: its cost is part of the plan's. */
typedef struct ckpd_overrun {
    size_t size;       /**< sizeof(ckpd_overrun), set by the caller */
    int32_t limit;     /**< CKPD_LIMIT_... */
    int32_t job;       /**< for CKPD_LIMIT_DEADLINE, else -1 */
    int32_t slot;      /**< of a cap, else -1 */
    int32_t reserved;  /**< 0 */
    double amount;     /**< kW, GPUs, slots or kWh, as CKPD_LIMIT_... says */
    double cost;       /**< money */
    char message[256]; /**< finished text, UTF-8 */
} ckpd_overrun;

/** Result of a verification. Immutable after build. */
typedef struct ckpd_report ckpd_report;

/**
 * Checks a plan against the problem with code that shares nothing with the solvers, and recomputes
 * its cost. Tolerance 1e-6 x max(1, largest term of the row).
 * @param claimed_cost compared with the recomputed cost unless NaN
 * @return CKPD_OK when the check ran (whatever it found), CKPD_ERR_LENGTH (jobs or slots differ),
 * CKPD_ERR_RANGE (scenario), CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_problem_verify(ckpd_report **out, const ckpd_problem *problem,
                                     int32_t scenario, const ckpd_plan *plan, double claimed_cost);
/** Ends a report the caller made; NULL is fine. Any thread. @since 0.1 */
CKPD_API void ckpd_report_free(ckpd_report *report);
/** Number of violations, 0 for a good plan. @since 0.1 */
CKPD_API int32_t ckpd_report_violation_count(const ckpd_report *report);
/** Copies a violation. @since 0.1 */
CKPD_API int32_t ckpd_report_get_violation(const ckpd_report *report, int32_t index,
                                           ckpd_violation *out);
/**
 * Number of limits with a price that the plan passes: caps slot by slot, deadlines by job, the end
 * SOC. @since 0.1
 */
CKPD_API int32_t ckpd_report_overrun_count(const ckpd_report *report);
/**
 * Copies one of them.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_RANGE, CKPD_ERR_STRUCT_SIZE @since 0.1
 */
CKPD_API int32_t ckpd_report_get_overrun(const ckpd_report *report, int32_t index,
                                         ckpd_overrun *out);
/**
 * Recomputed figure by name: "cost" and its terms "import_cost", "export_revenue",
 * "curtailment_cost", "throughput_cost", "end_value", "custom_cost", "edge_cost", "penalty_cost"
 * (of limits that were passed at their prices; cost = sum of the costs minus export_revenue and
 * end_value); energies "load_mwh", "import_mwh", "export_mwh",
 * "curtailment_mwh", "renewable_mwh", "charge_mwh", "discharge_mwh"; "green_share";
 * "min_site_load_kw", "max_site_load_kw".
 * @return CKPD_OK, CKPD_ERR_UNKNOWN_NAME @since 0.1
 */
CKPD_API int32_t ckpd_report_get(const ckpd_report *report, const char *name, double *value);
/** Number of figures. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_report_field_count(void);
/** Describes the i-th figure. @since 0.1 */
CKPD_API int32_t ckpd_report_field_info(int32_t index, ckpd_field_info *out);

/* --- solution --------------------------------------------------------------------------------- */

/** Outcome of a solve with its verified plan. Immutable after build (shareable). */
typedef struct ckpd_solution ckpd_solution;

/**
 * Solves one scenario. CKPD_OK whatever the outcome: read ckpd_solution_outcome().
 * @param options NULL for the defaults
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_RANGE (scenario), CKPD_ERR_UNKNOWN_NAME (backend),
 * CKPD_ERR_STATE (S5, S6 without a battery), CKPD_ERR_NO_BACKEND, CKPD_ERR_BACKEND, CKPD_ERR_VERIFY
 * (the backend's plan violates the problem: never returned as a solution), CKPD_ERR_NO_MEMORY
 * @since 0.1
 */
CKPD_API int32_t ckpd_problem_solve(ckpd_solution **out, ckpd_problem *problem, int32_t scenario,
                                    const ckpd_solve_options *options);
/**
 * The same from a plan of an earlier solve: as a start point where the backend takes one.
 * @since 0.1
 */
CKPD_API int32_t ckpd_problem_resolve(ckpd_solution **out, ckpd_problem *problem, int32_t scenario,
                                      const ckpd_solve_options *options, const ckpd_plan *start);
/**
 * The same from an earlier solution: its plan and, where the backend left any, the prices that it
 * ended with. After a small change (a price, the SOC, the checkpoint of a job, an hour gone by)
 * that takes a fraction of the time of ckpd_problem_solve(), and proves the same. Jobs are
 * recognised by name; new ones start from nothing. A solution that fits badly costs time, never
 * correctness. With ckpd_solve_options_set_worker() only the plan is used: the prices of `last` are
 * not, and the new solution has none.
 * @param last          of any problem of the same slot length (not checked: another one costs time
 * only); not needed any more afterwards
 * @param slots_passed  slots by which the horizon has moved on since: slot 0 of this problem is
 * slot `slots_passed` of `last`; 0 for the same horizon
 * @return as ckpd_problem_solve(), CKPD_ERR_RANGE (slots_passed is negative or no slot of `last`)
 * @since 0.1
 */
CKPD_API int32_t ckpd_problem_resolve_from(ckpd_solution **out, ckpd_problem *problem,
                                           int32_t scenario, const ckpd_solve_options *options,
                                           const ckpd_solution *last, int32_t slots_passed);
/** Ends a solution; NULL is fine. Any thread. @since 0.1 */
CKPD_API void ckpd_solution_free(ckpd_solution *solution);
/** CKPD_OUTCOME_... @since 0.1 */
CKPD_API int32_t ckpd_solution_outcome(const ckpd_solution *solution);
/**
 * 1 when the outcome rests on a certificate of the library or on a trusted backend, 0 when merely
 * claimed. CKPD_OUTCOME_OPTIMAL is always proven; a claim of CKPD_OUTCOME_INFEASIBLE is not.
 * @since 0.1
 */
CKPD_API int32_t ckpd_solution_is_proven(const ckpd_solution *solution);
/**
 * 1 when only a backend that is not trusted vouches for ckpd_solution_bound(): a plan that it calls
 * optimal is CKPD_OUTCOME_FEASIBLE with such a bound. Else 0.
 * @since 0.1
 */
CKPD_API int32_t ckpd_solution_bound_is_claimed(const ckpd_solution *solution);
/** The scenario that was solved. @since 0.1 */
CKPD_API int32_t ckpd_solution_scenario(const ckpd_solution *solution);
/** Cost of the plan; NaN without a plan. @since 0.1 */
CKPD_API double ckpd_solution_cost(const ckpd_solution *solution);
/** Lower bound; -infinity when none. @since 0.1 */
CKPD_API double ckpd_solution_bound(const ckpd_solution *solution);
/** cost - bound, never negative; infinity when either is missing. @since 0.1 */
CKPD_API double ckpd_solution_absolute_gap(const ckpd_solution *solution);
/**
 * absolute gap / max(|cost|, |bound|), and 0 when the absolute gap is <= 1e-9 x scale
 * (docs/model.md).
 * @since 0.1
 */
CKPD_API double ckpd_solution_relative_gap(const ckpd_solution *solution);
/** Name of the backend that answered, borrowed. @since 0.1 */
CKPD_API const char *ckpd_solution_backend(const ckpd_solution *solution);
/** Iterations and nodes of the backend. @since 0.1 */
CKPD_API int64_t ckpd_solution_iterations(const ckpd_solution *solution);
/** Nodes of the backend's branch and bound. @since 0.1 */
CKPD_API int64_t ckpd_solution_nodes(const ckpd_solution *solution);
/** The plan, borrowed; NULL when there is none. @since 0.1 */
CKPD_API const ckpd_plan *ckpd_solution_plan(const ckpd_solution *solution);
/** The verification of the plan, borrowed; NULL when there is none. @since 0.1 */
CKPD_API const ckpd_report *ckpd_solution_report(const ckpd_solution *solution);
/** Number of named causes of infeasibility. @since 0.1 */
CKPD_API int32_t ckpd_solution_cause_count(const ckpd_solution *solution);
/** The i-th cause as text with amounts, borrowed; NULL out of range. @since 0.1 */
CKPD_API const char *ckpd_solution_cause(const ckpd_solution *solution, int32_t index);
/**
 * Progress of a job at every boundary as a share of its work (reporting only), slots + 1 values.
 * @return CKPD_OK, CKPD_ERR_RANGE, CKPD_ERR_LENGTH, CKPD_ERR_STATE (no plan) @since 0.1
 */
CKPD_API int32_t ckpd_solution_progress(const ckpd_solution *solution, int32_t job, double *share,
                                        int32_t count);

/* --- diagnosis -------------------------------------------------------------------------------- */

/** Limits that can be relaxed. */
enum {
    CKPD_LIMIT_GPU_CAP = 1,    /**< amount in GPUs */
    CKPD_LIMIT_SITE_CAP = 2,   /**< amount in kW */
    CKPD_LIMIT_IMPORT_CAP = 3, /**< amount in kW */
    CKPD_LIMIT_DEADLINE = 4,   /**< amount in slots */
    CKPD_LIMIT_END_SOC = 5     /**< amount in kWh */
};

/** One limit of a set that has to give way. */
typedef struct ckpd_relaxation {
    size_t size;   /**< sizeof(ckpd_relaxation), set by the caller */
    int32_t limit; /**< CKPD_LIMIT_... */
    int32_t job;   /**< for CKPD_LIMIT_DEADLINE, else -1 */
    int32_t
        first_slot; /**< first and last slot in which a plan needs it; -1 where slots say nothing */
    int32_t last_slot; /**< see first_slot */
    double amount;     /**< by how much the limit has to be moved, everywhere alike */
    char message[256]; /**< finished text, UTF-8 */
} ckpd_relaxation;

/** Why a problem has no plan, and what would give it one. Immutable after build (shareable). */
typedef struct ckpd_diagnosis ckpd_diagnosis;

/**
 * Looks for a smallest set of limits such that relaxing them, and no others, gives the scenario a
 * plan, and for the least uniform amount of each: no member of the set can be left out, and given
 * the others none can be relaxed less. Caps are given up before deadlines, deadlines before the end
 * SOC. Deadlines move up to the horizon. Makes some ten to fifty solves for any plan, each with
 * a share of what is left of the time limit.
 * @param options  backend, time limit (of all solves together), cancel token; NULL for the defaults
 * @return as ckpd_problem_solve() @since 0.1
 */
CKPD_API int32_t ckpd_problem_diagnose(ckpd_diagnosis **out, ckpd_problem *problem,
                                       int32_t scenario, const ckpd_solve_options *options);
/** Ends a diagnosis; NULL is fine. Any thread. @since 0.1 */
CKPD_API void ckpd_diagnosis_free(ckpd_diagnosis *diagnosis);
/**
 * CKPD_OUTCOME_OPTIMAL: the problem has a plan as it is. CKPD_OUTCOME_FEASIBLE: it has one with the
 * relaxations. CKPD_OUTCOME_INFEASIBLE: no relaxation of these limits helps, the causes say why.
 * CKPD_OUTCOME_NO_PLAN, CKPD_OUTCOME_CANCELLED: stopped before an answer. @since 0.1
 */
CKPD_API int32_t ckpd_diagnosis_outcome(const ckpd_diagnosis *diagnosis);
/**
 * 0 when a solve ran into a limit, so that an amount may be larger than needed; else 1.
 * @since 0.1
 */
CKPD_API int32_t ckpd_diagnosis_is_minimal(const ckpd_diagnosis *diagnosis);
/** Number of relaxations. @since 0.1 */
CKPD_API int32_t ckpd_diagnosis_relaxation_count(const ckpd_diagnosis *diagnosis);
/**
 * Copies a relaxation.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_RANGE, CKPD_ERR_STRUCT_SIZE
 * @since 0.1
 */
CKPD_API int32_t ckpd_diagnosis_get_relaxation(const ckpd_diagnosis *diagnosis, int32_t index,
                                               ckpd_relaxation *out);
/** Number of named causes, as ckpd_solution_cause_count(). @since 0.1 */
CKPD_API int32_t ckpd_diagnosis_cause_count(const ckpd_diagnosis *diagnosis);
/** The i-th cause as text with amounts, borrowed; NULL out of range. @since 0.1 */
CKPD_API const char *ckpd_diagnosis_cause(const ckpd_diagnosis *diagnosis, int32_t index);
/**
 * A verified plan of the relaxed problem, borrowed; NULL when there is none. Its cost is not
 * minimised.
 * @since 0.1
 */
CKPD_API const ckpd_solution *ckpd_diagnosis_solution(const ckpd_diagnosis *diagnosis);

/* --- explanation ------------------------------------------------------------------------------ */

/** What a plan pays for and what it leaves. Immutable after build (shareable). */
typedef struct ckpd_explanation ckpd_explanation;

/**
 * Explains the plan of a solution of this problem: solves S1 as the yardstick, and works out
 * marginal prices with the paths fixed.
 * @param options  for the solve of S1; NULL for the defaults
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STATE (no plan, or S3, which is not executable),
 *         CKPD_ERR_LENGTH (solution of another problem), as ckpd_problem_solve() @since 0.1
 */
CKPD_API int32_t ckpd_problem_explain(ckpd_explanation **out, ckpd_problem *problem,
                                      const ckpd_solution *solution,
                                      const ckpd_solve_options *options);
/** Ends an explanation; NULL is fine. Any thread. @since 0.1 */
CKPD_API void ckpd_explanation_free(ckpd_explanation *explanation);
/** Solution of S1, borrowed; NULL when a job names no baseline mode. @since 0.1 */
CKPD_API const ckpd_solution *ckpd_explanation_baseline(const ckpd_explanation *explanation);
/**
 * Copies a series, one value a slot:
 *  - "marginal_up_per_mwh": what one more MWh of site load would cost here,
 * "marginal_down_per_mwh": what one less would save. Paths fixed, battery and flows free to answer;
 * infinite where no flow can. Where a slot's cost is not convex they hold for small changes only;
 *  - "shed_kw": site load of the training edges that start here and could be put off, "shed_slots":
 * how long (until the next of them would miss its deadline), "shed_cost": what putting them off by
 * one slot would cost, later edges pushed on as needed; infinite when a cap is in the way;
 *  - "add_kw": site load of edges that could start here earlier than planned, "add_slots": how long
 * the first of them runs, "add_cost": what that would cost;
 *  - "battery_shed_kw", "battery_add_kw": power by which the battery could lower or raise the draw.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_UNKNOWN_NAME, CKPD_ERR_LENGTH @since 0.1
 */
CKPD_API int32_t ckpd_explanation_get_series(const ckpd_explanation *explanation, const char *name,
                                             double *values, int32_t count);

/** One job beside its continuous training in S1. Energies on the site's side (x PUE). */
typedef struct ckpd_job_explanation {
    size_t size;                /**< sizeof(ckpd_job_explanation), set by the caller */
    int32_t waiting_slots;      /**< slots without training between source and last edge */
    int32_t mode_changes;       /**< mode changes along the plan */
    double left_mwh;            /**< energy drawn in S1 and not here, slot by slot */
    double taken_mwh;           /**< energy drawn here and not in S1 */
    double left_price_per_mwh;  /**< mean marginal price of the energy left; NaN when none */
    double taken_price_per_mwh; /**< mean marginal price of the energy taken; NaN when none */
    /** Least difference between the two prices at which moving pays: taken price x (taken - left) /
       left. The plan gains when left price - taken price is above it. NaN when nothing was moved.
     */
    double break_even_spread_per_mwh;
} ckpd_job_explanation;
/** Copies what is said of a job. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_RANGE,
 * CKPD_ERR_STRUCT_SIZE @since 0.1 */
CKPD_API int32_t ckpd_explanation_get_job(const ckpd_explanation *explanation, int32_t job,
                                          ckpd_job_explanation *out);

/**
 * Cost of the scenario when a limit is moved by an amount everywhere alike (CKPD_LIMIT_..., in its
 * unit; negative: tighter). The difference from ckpd_solution_cost() is what the amount is worth: a
 * full solve, not a derivative, so that GPUs and deadlines, of which a little changes nothing, have
 * a value.
 * @param[out] cost  infinity when there is no plan, NaN when none was found in time
 * @return as ckpd_problem_solve() @since 0.1
 */
CKPD_API int32_t ckpd_problem_cost_with(double *cost, ckpd_problem *problem, int32_t scenario,
                                        const ckpd_solve_options *options, int32_t limit,
                                        double by);

/* --- model export ----------------------------------------------------------------------------- */

/**
 * Receives one piece of text; non-zero stops the export with CKPD_ERR_CALLBACK.
 */
typedef int32_t (*ckpd_write_fn)(const char *text, size_t length, void *user);
/** Formats of the exported MILP view. */
enum { CKPD_FORMAT_MPS = 1, CKPD_FORMAT_LP = 2 };
/**
 * Writes the MILP view of a scenario as text with readable names, so that any other solver can
 * check it.
 * @return CKPD_OK, CKPD_ERR_RANGE, CKPD_ERR_STATE, CKPD_ERR_CALLBACK, CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_problem_export(const ckpd_problem *problem, int32_t scenario, int32_t format,
                                     ckpd_write_fn write, void *user);
/**
 * Makes a verified solution from the values a foreign solver found for the exported model: text of
 * a solution file of CBC, GLPK (--output or --write) or HiGHS. The outcome is
 * CKPD_OUTCOME_FEASIBLE, not proven.
 * @return CKPD_OK, CKPD_ERR_SYNTAX (index = line), CKPD_ERR_UNKNOWN_NAME (column), CKPD_ERR_VERIFY,
 * CKPD_ERR_NO_MEMORY
 * @since 0.1
 */
CKPD_API int32_t ckpd_problem_import(ckpd_solution **out, ckpd_problem *problem, int32_t scenario,
                                     const char *text, size_t length);

#ifdef __cplusplus
}
#endif
#endif
