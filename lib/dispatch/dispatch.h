/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Inside of the dispatch room: problem, plan, path view of a scenario, report, solution. */
#ifndef CKPD_LIB_DISPATCH_H
#define CKPD_LIB_DISPATCH_H

#include "base/base.h"
#include "base/fields.h"
#include "graph/graph.h"
#include "site/site.h"

#include <ckptdispatch/dispatch.h>

/* --- problem (problem.c) ---------------------------------------------------------------------- */

struct ckpd_problem {
    CKPD__HANDLE;
    ckpd_site *site;
    ckpd_graph **job;
    int32_t jobs;
};

/* Scenario 1..6, a battery where it needs one, a baseline mode where it needs one. */
int32_t ckpd__scenario_check(const ckpd_problem *problem, int32_t scenario);
bool ckpd__scenario_has_storage(int32_t scenario);
/* S1, S2, S5: continuous training in the baseline mode. */
bool ckpd__scenario_is_continuous(int32_t scenario);

/* --- solve options (options.c) ---------------------------------------------------------------- */

typedef enum ckpd__solve_field {
    CKPD__SOLVE_RELATIVE_GAP,
    CKPD__SOLVE_ABSOLUTE_GAP,
    CKPD__SOLVE_TIME_LIMIT,
    CKPD__SOLVE_NODE_LIMIT,
    CKPD__SOLVE_ITERATION_LIMIT,
    CKPD__SOLVE_THREADS,
    CKPD__SOLVE_STRUCTURE_PRESOLVE,
    CKPD__SOLVE_BACKEND_PRESOLVE,
    CKPD__SOLVE_SEED,
    CKPD__SOLVE_FIELDS
} ckpd__solve_field;

enum { CKPD__BACKEND_NAME = 64, CKPD__WORKER_PATH = 1024 };

struct ckpd_solve_options {
    CKPD__HANDLE;
    double values[CKPD__SOLVE_FIELDS];
    char backend[CKPD__BACKEND_NAME]; /* "": the library chooses */
    char worker[CKPD__WORKER_PATH];   /* "": backends run in this process */
    ckpd_progress_fn progress;
    void *progress_user;
    const ckpd_cancel *cancel;
};

/* Copies the options, or the defaults when NULL, into `out` (which holds no context). */
void ckpd__solve_options_read(const ckpd_solve_options *options, ckpd_solve_options *out);

/* Whether a step is the rest of the edge that ran when the horizon began. */
bool ckpd__is_running_step(const ckpd_graph *graph, const ckpd_step *step);

/* --- plan (plan.c) ---------------------------------------------------------------------------- */

typedef enum ckpd__plan_series {
    CKPD__PLAN_IMPORT,
    CKPD__PLAN_EXPORT,
    CKPD__PLAN_CURTAILMENT,
    CKPD__PLAN_CHARGE,
    CKPD__PLAN_DISCHARGE,
    CKPD__PLAN_SOC,      /* slots + 1 values */
    CKPD__PLAN_SETTABLE, /* the rest belongs to plans of solutions */
    CKPD__PLAN_IT_POWER = CKPD__PLAN_SETTABLE,
    CKPD__PLAN_SITE_LOAD,
    CKPD__PLAN_GPUS,
    CKPD__PLAN_WIND,
    CKPD__PLAN_SOLAR,
    CKPD__PLAN_IMPORT_PRICE,
    CKPD__PLAN_EXPORT_PRICE,
    CKPD__PLAN_SERIES
} ckpd__plan_series;

typedef struct ckpd__steps {
    ckpd_step *step;
    int32_t count, room;
} ckpd__steps;

struct ckpd_plan {
    CKPD__HANDLE;
    ckpd_context
        *speaker; /* takes errors; NULL once a solution owns the plan and threads share it */
    int32_t jobs, slots;
    ckpd__steps *steps;                /* [jobs] */
    double *series[CKPD__PLAN_SERIES]; /* NULL: this plan does not have it */
};

/* Gives the plan a further series of zeros. */
int32_t ckpd__plan_add_series(ckpd_plan *plan, ckpd__plan_series series);
/* Appends without checks of order. */
int32_t ckpd__plan_append(ckpd_plan *plan, int32_t job, const ckpd_step *step);

/* --- piecewise-linear functions (pwl.c) ------------------------------------------------------- */

/* Linear between points, x strictly ascending, undefined outside. */
typedef struct ckpd__pwl {
    int32_t count, room;
    double *x, *y;
} ckpd__pwl;

int32_t ckpd__pwl_add_point(ckpd_context *context, ckpd__pwl *f, double x, double y);
void ckpd__pwl_free(ckpd_context *context, ckpd__pwl *f);
double ckpd__pwl_value(const ckpd__pwl *f,
                       double x); /* ends are continued flat: for x in the domain */
/* min over a + b = x of f(a) + g(b), both convex. */
int32_t ckpd__pwl_convolve(ckpd_context *context, const ckpd__pwl *f, const ckpd__pwl *g,
                           ckpd__pwl *out);
/* The a of that minimum at x; ties go to f first. */
double ckpd__pwl_split(const ckpd__pwl *f, const ckpd__pwl *g, double x);
/* Pointwise least, where either is defined; exact, with the crossings as points. */
int32_t ckpd__pwl_least(ckpd_context *context, const ckpd__pwl *f, const ckpd__pwl *g,
                        ckpd__pwl *out);
/* Drops points that change the slope by nothing but rounding; tells whether the rest is convex. */
bool ckpd__pwl_tidy(ckpd__pwl *f);
/* Keeps [low, high]; a domain that misses it leaves the nearest point. */
int32_t ckpd__pwl_clip(ckpd_context *context, ckpd__pwl *f, double low, double high);

/* --- cost of a slot as a function of its net draw (tariff.c) ---------------------------------- */

/*
 * One slot's exchange with the grid: net draw x = import - export - curtailment + renewables. Money
 * per hour. Importing and exporting exclude one another, which makes two branches, each convex.
 */
typedef struct ckpd__tariff {
    double renewable_kw;
    ckpd__pwl import;      /* over [0, cap] */
    ckpd__pwl curtailment; /* over [-renewables, 0], argument minus curtailment */
    ckpd__pwl exported;    /* over [-cap, 0], argument minus export */
    ckpd__pwl buying;      /* over import - curtailment */
    ckpd__pwl selling;     /* over -(export + curtailment) */
} ckpd__tariff;

typedef struct ckpd__flows {
    double import_kw, export_kw, curtailment_kw;
} ckpd__flows;

/* The net draw of the slot stays within [draw_low, draw_high]: that bounds unlimited flows. */
int32_t ckpd__tariff_make(ckpd_context *context, const ckpd_site *site, int32_t slot,
                          double draw_low, double draw_high, ckpd__tariff *out);
void ckpd__tariff_free(ckpd_context *context, ckpd__tariff *tariff);
/* Money in the slot over the net draw, within [draw_low, draw_high] where that can be served. */
int32_t ckpd__tariff_curve(ckpd_context *context, const ckpd_site *site, int32_t slot,
                           const ckpd__tariff *tariff, double draw_low, double draw_high,
                           ckpd__pwl *out);
/* The cheapest flows at a net draw. */
ckpd__flows ckpd__tariff_flows(const ckpd__tariff *tariff, double draw_kw);

/* --- path view of a scenario (model.c) -------------------------------------------------------- */

typedef struct ckpd__model {
    ckpd_context *context;
    const ckpd_problem *problem; /* borrowed */
    int32_t scenario;
    ckpd_path_view view;
    ckpd_path_job *job;             /* [jobs] */
    const ckpd_path_job **job_list; /* [jobs] */
    void **block;                   /* arrays made for the jobs */
    int32_t blocks, block_room;
    ckpd_path_storage storage;
    bool idle_storage;     /* a battery without power or size: no part of the view */
    double *soc_floor_kwh; /* [slots + 1] of a battery that starts below its minimum, else NULL */
    double *base_load_kw, *load_cap_kw;
    double *draw_low_kw, *draw_high_kw; /* reach of the devices */
    int64_t *curve_start;
    uint8_t *curve_convex;
    ckpd__pwl curves; /* all slots one after the other */
} ckpd__model;

/* Builds the view; free it also after an error. */
int32_t ckpd__model_build(ckpd__model *model, const ckpd_problem *problem, int32_t scenario);
void ckpd__model_free(ckpd__model *model);
/* limits.c: GPU cap, soft caps, and the way back of a battery that starts below its minimum; after
 * the jobs. */
int32_t ckpd__model_limits(ckpd__model *model);
/* A zero-filled array that lives as long as the model; NULL when out of memory. */
void *ckpd__model_block(ckpd__model *model, size_t count, size_t bytes);
/* Money for energy at the end that misses what is wanted; 0 where it may not. */
double ckpd__end_penalty(const ckpd_site *site, double soc_kwh);
/* Money in a slot for load and GPUs above soft caps; infinite above a hard one. */
double ckpd__cap_money(const ckpd_site *site, int32_t slot, double load_kw, double gpus);
/* Slots, as a real number, of the one edge of a continuous job once `segments` are complete, with
 * what its start takes. */
double ckpd__continuous_length(const ckpd_graph *graph, int32_t segments);
/* Slots of the one edge of a continuous job, CKPD__NEVER when beyond every horizon; 0 when it is
 * complete. */
int32_t ckpd__continuous_slots(const ckpd_graph *graph);
/* Whether a running edge that may be given up leaves room for the rest in the baseline mode. */
bool ckpd__going_fits(const ckpd_graph *graph);
/* Energy kept over one slot. */
double ckpd__battery_retention(const ckpd_site *site);

/* --- causes of infeasibility (causes.c, alone.c) ---------------------------------------------- */

typedef struct ckpd__causes {
    ckpd_context *context;
    char **text;
    int32_t count, room;
    bool out_of_memory;
} ckpd__causes;

enum { CKPD__CAUSE_LENGTH = 512 };

void ckpd__causes_add(ckpd__causes *causes, const char *text);
void ckpd__causes_free(ckpd__causes *causes);
/* What can be told without a solver: finds a cause only where no plan can exist. */
void ckpd__causes_before(ckpd__causes *causes, const ckpd__model *model);
/* After a backend has proven that there is no plan: a closing word when nothing above explains it.
 */
void ckpd__causes_after(ckpd__causes *causes, const ckpd__model *model);

/* IT power and GPUs that no plan can avoid in a slot: base, running edges, continuous training. */
void ckpd__unavoidable(const ckpd__model *model, int32_t slot, double *it_kw, double *gpus);

/* What one job needs when it has the site for itself. */
typedef struct ckpd__alone {
    int32_t segments;   /* most segments complete by the deadline; K when it can finish */
    double gpu_slots;   /* fewest GPUs x slots of any path, infinity when it cannot finish */
    double it_kw_slots; /* least IT power x slots */
} ckpd__alone;
/* Whether asking for every job is small change beside a solve; false also for jobs without a choice
 * of paths. */
bool ckpd__alone_is_cheap(const ckpd__model *model);
/* A dynamic programme over the moves that the caps leave; false when memory ran out. */
bool ckpd__alone_needs(const ckpd__model *model, int32_t job, ckpd__alone *out);

/* --- moved limits (relax.c) ------------------------------------------------------------------- */

/* CKPD_LIMIT_... - 1 */
enum {
    CKPD__RELAX_GPUS,
    CKPD__RELAX_SITE,
    CKPD__RELAX_IMPORT,
    CKPD__RELAX_DEADLINE,
    CKPD__RELAX_SOC,
    CKPD__RELAX_KINDS
};
/* The problem with its limits moved by the amounts: everywhere alike, deadlines up to the horizon.
 */
int32_t ckpd__relaxed_problem(const ckpd_problem *problem, const double *by, ckpd_problem **out);

/* --- report (report.c, verify.c) -------------------------------------------------------------- */

typedef enum ckpd__figure {
    CKPD__FIGURE_COST,
    CKPD__FIGURE_IMPORT_COST,
    CKPD__FIGURE_EXPORT_REVENUE,
    CKPD__FIGURE_CURTAILMENT_COST,
    CKPD__FIGURE_THROUGHPUT_COST,
    CKPD__FIGURE_END_VALUE,
    CKPD__FIGURE_CUSTOM_COST,
    CKPD__FIGURE_EDGE_COST,
    CKPD__FIGURE_PENALTY_COST,
    CKPD__FIGURE_LOAD,
    CKPD__FIGURE_IMPORT,
    CKPD__FIGURE_EXPORT,
    CKPD__FIGURE_CURTAILMENT,
    CKPD__FIGURE_RENEWABLE,
    CKPD__FIGURE_CHARGE,
    CKPD__FIGURE_DISCHARGE,
    CKPD__FIGURE_GREEN_SHARE,
    CKPD__FIGURE_MIN_LOAD,
    CKPD__FIGURE_MAX_LOAD,
    CKPD__FIGURES
} ckpd__figure;

struct ckpd_report {
    CKPD__HANDLE;
    ckpd_violation *violation;
    int32_t count, room;
    ckpd_overrun *overrun; /* limits with a price that the plan passes */
    int32_t overruns, overrun_room;
    bool out_of_memory;
    double figure[CKPD__FIGURES];
};

/* Appends a violation; `text` is a finished message. */
void ckpd__report_violation(ckpd_report *report, int32_t kind, int32_t job, int32_t slot,
                            double amount, const char *text);

void ckpd__report_overrun(ckpd_report *report, const ckpd_overrun *overrun);

/* What the verifier works on (verify.c, verify_jobs.c). It knows site and jobs, nothing of views or
 * solvers. */
typedef struct ckpd__check {
    const ckpd_problem *problem;
    const ckpd_plan *plan;
    int32_t scenario;
    ckpd_report *report;
    double *it_kw;     /* [slots] recomputed from base and steps */
    double *gpus;      /* [slots] */
    double *forced_kw; /* [slots] IT power that no plan of the scenario can avoid */
    double edge_cost;
} ckpd__check;
/* 1e-6 of the largest term of a row, at least 1e-6. */
double ckpd__check_tolerance(double largest);
/* Paths, completion; fills it_kw, gpus, forced_kw and edge_cost. */
void ckpd__check_jobs(ckpd__check *check);

/* --- solution (solution.c, decode.c) ---------------------------------------------------------- */

struct ckpd_solution {
    CKPD__HANDLE;
    int32_t scenario, outcome, proven;
    int32_t bound_claimed; /* only its backend vouches for the bound */
    double cost, bound;
    double absolute_gap, relative_gap;
    int64_t iterations, nodes;
    char backend[CKPD__BACKEND_NAME];
    ckpd_plan *plan;
    ckpd_report *report;
    ckpd__causes causes;
    double *progress; /* [jobs][slots + 1] share of the work done */
    char **job_name;  /* [jobs] for the next solve to know its jobs by; NULL without a plan */
    struct ckpd__prices *prices; /* that the solve ended with, NULL: none */
};

/* The plan in full from a path plan: steps, flows, SOC, loads. */
int32_t ckpd__decode(ckpd_plan **out, const ckpd__model *model, const ckpd_path_plan *paths);
/* A path plan from a plan, as far as its steps are moves of the model: a start point. */
void ckpd__encode(const ckpd__model *model, const ckpd_plan *plan, ckpd_path_plan *paths);
/* Fills cost, gaps, report and progress of a solution whose plan is set; CKPD_ERR_VERIFY when it is
 * wrong. */
int32_t ckpd__solution_finish(ckpd_solution *solution, const ckpd_problem *problem,
                              double claimed_cost);
int32_t ckpd__solution_new(ckpd_solution **out, ckpd_context *context, int32_t scenario);

/* --- start from an earlier solution (warm.c) -------------------------------------------------- */

/* Plan and prices of an earlier solution as a problem sees them. */
typedef struct ckpd__warm {
    ckpd_plan *plan;             /* NULL: none */
    struct ckpd__prices *prices; /* NULL: none */
} ckpd__warm;

/* Slot 0 of the problem is slot `passed` of `last`; jobs are matched by name. */
int32_t ckpd__warm_make(ckpd__warm *warm, const ckpd_problem *problem, const ckpd_solution *last,
                        int32_t passed);
void ckpd__warm_free(ckpd_context *context, ckpd__warm *warm);
/* Keeps the names of the jobs for that. CKPD_OK or CKPD_ERR_NO_MEMORY. */
int32_t ckpd__warm_remember(ckpd_solution *solution, const ckpd_problem *problem);

#endif
