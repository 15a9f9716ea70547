/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "dispatch/dispatch.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

static const double GAP_ROUNDING = 1e-9;

int32_t ckpd__solution_new(ckpd_solution **out, ckpd_context *context, int32_t scenario)
{
    ckpd_solution *solution = ckpd__calloc(context, 1, sizeof *solution);
    if (solution == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(solution, CKPD__SOLUTION, context);
    solution->scenario = scenario;
    solution->causes.context = context;
    solution->cost = (double)NAN;
    solution->bound = -(double)INFINITY;
    solution->absolute_gap = (double)INFINITY;
    solution->relative_gap = (double)INFINITY;
    *out = solution;
    return CKPD_OK;
}

void ckpd_solution_free(ckpd_solution *solution)
{
    CKPD__NULL_IF_FOREIGN(solution, CKPD__SOLUTION);
    if (solution == NULL) {
        return;
    }
    ckpd_context *context = solution->context;
    ckpd_plan_free(solution->plan);
    ckpd_report_free(solution->report);
    ckpd__causes_free(&solution->causes);
    ckpd__free(context, solution->progress);
    for (int32_t j = 0; solution->job_name != NULL && solution->job_name[j] != NULL; j++) {
        ckpd__free(context, solution->job_name[j]);
    }
    ckpd__free(context, (void *)solution->job_name);
    if (solution->prices != NULL) {
        ckpd__prices_free(context, solution->prices);
        ckpd__free(context, solution->prices);
    }
    ckpd__handle_end(solution);
}

/* Share of a job's work at every boundary: straight within an edge, for reporting only. */
static void fill_progress(const ckpd_solution *solution, const ckpd_problem *problem, int32_t job)
{
    const ckpd__graph_spec *s = &problem->job[job]->spec;
    const ckpd__steps *steps = &solution->plan->steps[job];
    double *share = solution->progress + (size_t)job * (size_t)(s->slots + 1);
    double done = (double)s->start_segments / s->segments;
    int32_t boundary = 0;
    for (int32_t i = 0; i < steps->count; i++) {
        const ckpd_step *step = &steps->step[i];
        int32_t slots = step->to_slot - step->from_slot;
        double gain = step->from_segment >= 0
                          ? (double)(step->to_segment - step->from_segment) / s->segments
                          : slots * s->slot_hours * 3600.0 * s->mode[step->mode].rate *
                                (1.0 - s->save_share) / s->work;
        for (; boundary <= step->from_slot; boundary++) {
            share[boundary] = done;
        }
        for (; boundary <= step->to_slot; boundary++) {
            share[boundary] = fmin(1.0, done + gain * (boundary - step->from_slot) / slots);
        }
        done = fmin(1.0, done + gain);
    }
    for (; boundary <= s->slots; boundary++) {
        share[boundary] = done;
    }
}

static void fill_gaps(ckpd_solution *solution)
{
    const double *figure = solution->report->figure;
    double scale = 1; /* a plan that costs nothing needs one */
    for (int32_t i = CKPD__FIGURE_COST; i <= CKPD__FIGURE_PENALTY_COST; i++) {
        scale = fmax(scale, fabs(figure[i]));
    }
    if (!isfinite(solution->bound)) {
        return;
    }
    scale = fmax(scale, fabs(solution->bound));
    double larger = fmax(fabs(solution->cost), fabs(solution->bound));
    solution->absolute_gap = fmax(0.0, solution->cost - solution->bound);
    solution->relative_gap =
        solution->absolute_gap <= GAP_ROUNDING * scale ? 0.0 : solution->absolute_gap / larger;
}

int32_t ckpd__solution_finish(ckpd_solution *solution, const ckpd_problem *problem,
                              double claimed_cost)
{
    ckpd_context *context = problem->context;
    int32_t status = ckpd_problem_verify(&solution->report, problem, solution->scenario,
                                         solution->plan, claimed_cost);
    if (status != CKPD_OK) {
        return status;
    }
    if (solution->report->count > 0) {
        const ckpd_violation *v = &solution->report->violation[0];
        ckpd__log(context, CKPD_LOG_ERROR, CKPD_MSG_VERIFY, "%d violations, the first: %s",
                  solution->report->count, v->message);
        return ckpd__fail(context, CKPD_ERR_VERIFY, "plan", v->slot, v->amount,
                          "the plan of backend '%s' violates the problem: %s", solution->backend,
                          v->message);
    }
    size_t row = (size_t)problem->site->slots + 1;
    solution->progress = ckpd__calloc(context, (size_t)problem->jobs * row, sizeof(double));
    if (solution->progress == NULL) {
        return ckpd__no_memory(context);
    }
    for (int32_t j = 0; j < problem->jobs; j++) {
        fill_progress(solution, problem, j);
    }
    status = ckpd__warm_remember(solution, problem);
    if (status != CKPD_OK) {
        return status;
    }
    solution->cost = solution->report->figure[CKPD__FIGURE_COST];
    /* A bound above the plan is rounding: the plan has been verified. */
    solution->bound = fmin(solution->bound, solution->cost);
    fill_gaps(solution);
    return CKPD_OK;
}

/* --- getters ---------------------------------------------------------------------------------- */

int32_t ckpd_solution_outcome(const ckpd_solution *solution)
{
    CKPD__NULL_IF_FOREIGN(solution, CKPD__SOLUTION);
    return solution != NULL ? solution->outcome : CKPD_OUTCOME_NONE;
}

int32_t ckpd_solution_is_proven(const ckpd_solution *solution)
{
    CKPD__NULL_IF_FOREIGN(solution, CKPD__SOLUTION);
    return solution != NULL ? solution->proven : 0;
}

int32_t ckpd_solution_bound_is_claimed(const ckpd_solution *solution)
{
    CKPD__NULL_IF_FOREIGN(solution, CKPD__SOLUTION);
    return solution != NULL ? solution->bound_claimed : 0;
}

int32_t ckpd_solution_scenario(const ckpd_solution *solution)
{
    CKPD__NULL_IF_FOREIGN(solution, CKPD__SOLUTION);
    return solution != NULL ? solution->scenario : 0;
}

double ckpd_solution_cost(const ckpd_solution *solution)
{
    CKPD__NULL_IF_FOREIGN(solution, CKPD__SOLUTION);
    return solution != NULL ? solution->cost : (double)NAN;
}

double ckpd_solution_bound(const ckpd_solution *solution)
{
    CKPD__NULL_IF_FOREIGN(solution, CKPD__SOLUTION);
    return solution != NULL ? solution->bound : -(double)INFINITY;
}

double ckpd_solution_absolute_gap(const ckpd_solution *solution)
{
    CKPD__NULL_IF_FOREIGN(solution, CKPD__SOLUTION);
    return solution != NULL ? solution->absolute_gap : (double)INFINITY;
}

double ckpd_solution_relative_gap(const ckpd_solution *solution)
{
    CKPD__NULL_IF_FOREIGN(solution, CKPD__SOLUTION);
    return solution != NULL ? solution->relative_gap : (double)INFINITY;
}

const char *ckpd_solution_backend(const ckpd_solution *solution)
{
    CKPD__NULL_IF_FOREIGN(solution, CKPD__SOLUTION);
    return solution != NULL ? solution->backend : "";
}

int64_t ckpd_solution_iterations(const ckpd_solution *solution)
{
    CKPD__NULL_IF_FOREIGN(solution, CKPD__SOLUTION);
    return solution != NULL ? solution->iterations : 0;
}

int64_t ckpd_solution_nodes(const ckpd_solution *solution)
{
    CKPD__NULL_IF_FOREIGN(solution, CKPD__SOLUTION);
    return solution != NULL ? solution->nodes : 0;
}

const ckpd_plan *ckpd_solution_plan(const ckpd_solution *solution)
{
    CKPD__NULL_IF_FOREIGN(solution, CKPD__SOLUTION);
    return solution != NULL ? solution->plan : NULL;
}

const ckpd_report *ckpd_solution_report(const ckpd_solution *solution)
{
    CKPD__NULL_IF_FOREIGN(solution, CKPD__SOLUTION);
    return solution != NULL ? solution->report : NULL;
}

int32_t ckpd_solution_cause_count(const ckpd_solution *solution)
{
    CKPD__NULL_IF_FOREIGN(solution, CKPD__SOLUTION);
    return solution != NULL ? solution->causes.count : 0;
}

const char *ckpd_solution_cause(const ckpd_solution *solution, int32_t index)
{
    CKPD__NULL_IF_FOREIGN(solution, CKPD__SOLUTION);
    return solution != NULL && index >= 0 && index < solution->causes.count
               ? solution->causes.text[index]
               : NULL;
}

int32_t ckpd_solution_progress(const ckpd_solution *solution, int32_t job, double *share,
                               int32_t count)
{
    CKPD__REFUSE_FOREIGN(NULL, solution, CKPD__SOLUTION);
    if (solution == NULL || share == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (solution->plan == NULL || solution->progress == NULL) {
        return CKPD_ERR_STATE;
    }
    if (job < 0 || job >= solution->plan->jobs) {
        return CKPD_ERR_RANGE;
    }
    if (count != solution->plan->slots + 1) {
        return CKPD_ERR_LENGTH;
    }
    memcpy(share, solution->progress + (size_t)job * (size_t)count, (size_t)count * sizeof *share);
    return CKPD_OK;
}
