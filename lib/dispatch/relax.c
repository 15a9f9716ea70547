/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Problems with moved limits, and what moving one is worth. */
#include "dispatch/dispatch.h"

#include <math.h>

/* A cap falls to 0 at most. */
static void move_series(ckpd_site *site, ckpd__series series, double by)
{
    for (int32_t t = 0; by != 0 && t < site->slots; t++) {
        site->series[series][t] = fmax(0.0, site->series[series][t] + by);
    }
}

/* Less energy at the end turns "equal" into "at least"; more only raises the amount. */
static void move_soc(ckpd_site *site, double by)
{
    double *b = site->battery;
    if (by == 0 || b[CKPD__BATTERY_TERMINAL] == CKPD__TERMINAL_FREE) {
        return;
    }
    if (by > 0) {
        b[CKPD__BATTERY_TERMINAL] = CKPD__TERMINAL_AT_LEAST;
    }
    double end = b[CKPD__BATTERY_SOC_END] - by;
    b[CKPD__BATTERY_SOC_END] = fmin(fmax(0.0, end), b[CKPD__BATTERY_SOC_MAX]);
}

static int32_t move_deadline(const ckpd_problem *problem, const ckpd_graph *graph, double by,
                             ckpd_graph **out)
{
    ckpd__graph_spec spec = graph->spec;
    double deadline = spec.deadline + by;
    spec.deadline = deadline < spec.slots ? (int32_t)deadline : spec.slots;
    if (spec.deadline == graph->spec.deadline) {
        *out = ckpd__graph_retain(graph);
        return CKPD_OK;
    }
    return ckpd__graph_make(out, problem->context, &spec);
}

int32_t ckpd__relaxed_problem(const ckpd_problem *problem, const double *by, ckpd_problem **out)
{
    ckpd_problem *made = NULL;
    int32_t status = ckpd_problem_new(&made, problem->context, problem->site);
    if (status != CKPD_OK) {
        return status;
    }
    move_series(made->site, CKPD__GPU_CAP, by[CKPD__RELAX_GPUS]);
    move_series(made->site, CKPD__SITE_CAP, by[CKPD__RELAX_SITE]);
    move_series(made->site, CKPD__IMPORT_CAP, by[CKPD__RELAX_IMPORT]);
    move_soc(made->site, by[CKPD__RELAX_SOC]);
    for (int32_t j = 0; j < problem->jobs && status == CKPD_OK; j++) {
        ckpd_graph *graph = NULL;
        status = move_deadline(problem, problem->job[j], by[CKPD__RELAX_DEADLINE], &graph);
        if (status == CKPD_OK) {
            status = ckpd_problem_add_job(made, graph);
            ckpd_graph_free(graph);
        }
    }
    if (status != CKPD_OK) {
        ckpd_problem_free(made);
        return status;
    }
    *out = made;
    return CKPD_OK;
}

int32_t ckpd_problem_cost_with(double *cost, ckpd_problem *problem, int32_t scenario,
                               const ckpd_solve_options *options, int32_t limit, double by)
{
    CKPD__REFUSE_FOREIGN(NULL, problem, CKPD__PROBLEM);
    CKPD__REFUSE_FOREIGN(problem, options, CKPD__SOLVE_OPTIONS);
    if (problem == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (cost == NULL) {
        return ckpd__null_argument(problem->context, "cost");
    }
    int32_t status = ckpd__check_range(problem->context, "limit", -1, limit, CKPD_LIMIT_GPU_CAP,
                                       CKPD_LIMIT_END_SOC);
    if (status == CKPD_OK) {
        status = ckpd__check_range(problem->context, "by", limit, by, -1e12, 1e12);
    }
    if (status != CKPD_OK) {
        return status;
    }
    double moved[CKPD__RELAX_KINDS] = {0};
    ckpd_problem *other = NULL;
    ckpd_solution *solution = NULL;
    moved[limit - 1] = by;
    status = ckpd__relaxed_problem(problem, moved, &other);
    if (status == CKPD_OK) {
        status = ckpd_problem_solve(&solution, other, scenario, options);
    }
    if (status == CKPD_OK) {
        bool none = solution->outcome == CKPD_OUTCOME_INFEASIBLE;
        *cost = none ? (double)INFINITY : solution->cost;
    }
    ckpd_solution_free(solution);
    ckpd_problem_free(other);
    return status;
}
