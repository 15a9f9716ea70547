/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* One solve: view, causes, backend, plan, verification. */
#include "dispatch/dispatch.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

typedef struct solve_run {
    ckpd_context *context;
    const ckpd_problem *problem;
    ckpd_solve_options options;
    ckpd__model model;
    ckpd_solution *solution;
    ckpd_path_plan start; /* filled when the caller gave a plan */
    bool start_is_plan;   /* and it is a plan of this problem */
    double started_s;
    ckpd_path_plan plan; /* of the result */
    ckpd_path_result result;
    ckpd__solve_info info;
} solve_run;

static ckpd_solve_params read_params(const ckpd_solve_options *options)
{
    const double *v = options->values;
    return (ckpd_solve_params){.size = sizeof(ckpd_solve_params),
                               .time_limit_s = v[CKPD__SOLVE_TIME_LIMIT],
                               .relative_gap = v[CKPD__SOLVE_RELATIVE_GAP],
                               .absolute_gap = v[CKPD__SOLVE_ABSOLUTE_GAP],
                               .node_limit = (int64_t)v[CKPD__SOLVE_NODE_LIMIT],
                               .iteration_limit = (int64_t)v[CKPD__SOLVE_ITERATION_LIMIT],
                               .threads = (int32_t)v[CKPD__SOLVE_THREADS],
                               .presolve = (int32_t)v[CKPD__SOLVE_BACKEND_PRESOLVE],
                               .seed = (int32_t)v[CKPD__SOLVE_SEED]};
}

static ckpd__solve_control make_control(const solve_run *run)
{
    const ckpd_solve_options *options = &run->options;
    return (ckpd__solve_control){.cancel = options->cancel,
                                 .progress = options->progress,
                                 .progress_user = options->progress_user,
                                 .structure_presolve =
                                     options->values[CKPD__SOLVE_STRUCTURE_PRESOLVE] != 0,
                                 .worker = options->worker,
                                 .started_s = run->started_s,
                                 .start_is_plan = run->start_is_plan,
                                 .prices = run->solution->prices};
}

/* The named backend, or the one the solver room prefers; it also falls back and says so in the log.
 */
static int32_t ask_backend(solve_run *run)
{
    ckpd_solve_params params = read_params(&run->options);
    ckpd__solve_control control = make_control(run);
    return ckpd__path_solve(run->context, run->options.backend, &run->model.view, &params, &control,
                            &run->result, &run->info);
}

static int32_t take_start(solve_run *run, const ckpd_plan *plan)
{
    if (plan->jobs != run->problem->jobs || plan->slots != run->problem->site->slots) {
        return ckpd__fail(run->context, CKPD_ERR_LENGTH, "start", -1, plan->jobs,
                          "the start plan has %d jobs and %d slots, the problem %d and %d",
                          plan->jobs, plan->slots, run->problem->jobs, run->problem->site->slots);
    }
    if (ckpd__plan_new(run->context, &run->model.view, &run->start) != CKPD_OK) {
        return ckpd__no_memory(run->context);
    }
    ckpd__encode(&run->model, plan, &run->start);
    run->model.view.start = &run->start;
    ckpd__solve_control control = make_control(run);
    return ckpd__start_make_plan(run->context, &run->model.view, &control,
                                 run->options.values[CKPD__SOLVE_TIME_LIMIT], &run->start,
                                 &run->start_is_plan);
}

static void finish_infeasible(solve_run *run)
{
    ckpd_solution *solution = run->solution;
    solution->outcome = CKPD_OUTCOME_INFEASIBLE;
    solution->bound = (double)INFINITY;
    if (solution->causes.count == 0 && run->result.message[0] != '\0') {
        ckpd__causes_add(&solution->causes, run->result.message);
    }
    ckpd__causes_after(&solution->causes, &run->model);
}

/* Turns the backend's answer into the solution. */
static int32_t take_answer(solve_run *run)
{
    ckpd_solution *solution = run->solution;
    const ckpd_path_result *result = &run->result;
    solution->outcome = result->outcome;
    solution->bound = result->bound;
    solution->iterations = result->iterations;
    solution->nodes = result->nodes;
    bool settled =
        result->outcome == CKPD_OUTCOME_OPTIMAL || result->outcome == CKPD_OUTCOME_INFEASIBLE;
    solution->proven = settled && run->info.trusted;
    solution->bound_claimed = !run->info.trusted && isfinite(result->bound);
    ckpd__format(solution->backend, sizeof solution->backend, "%s", run->info.backend);
    ckpd__log(run->context, CKPD_LOG_INFO, CKPD_MSG_SOLVER,
              "S%d by '%s': outcome %d, cost %g, bound %g, %L nodes", run->model.scenario,
              solution->backend, result->outcome,
              result->has_plan ? result->objective : (double)NAN, result->bound, result->nodes);
    if (result->outcome == CKPD_OUTCOME_INFEASIBLE) {
        finish_infeasible(run);
        return CKPD_OK;
    }
    if (!result->has_plan) {
        return CKPD_OK;
    }
    int32_t status = ckpd__decode(&solution->plan, &run->model, result->plan);
    return status == CKPD_OK ? ckpd__solution_finish(solution, run->problem, result->objective)
                             : status;
}

/* Why there can be no plan; a start that is one saves the search. */
static bool has_causes(solve_run *run)
{
    if (run->start_is_plan) {
        return false;
    }
    ckpd__causes_before(&run->solution->causes, &run->model);
    if (run->solution->causes.count == 0) {
        return false;
    }
    run->solution->proven = 1; /* each of these checks is a proof */
    finish_infeasible(run);
    return true;
}

static int32_t run_solve(solve_run *run, const ckpd_plan *start, const ckpd__prices *prices)
{
    run->model.view.prices = prices != NULL ? &prices->view : NULL;
    int32_t status = start != NULL ? take_start(run, start) : CKPD_OK;
    if (status != CKPD_OK || has_causes(run)) {
        return status;
    }
    run->solution->prices = ckpd__calloc(run->context, 1, sizeof *run->solution->prices);
    if (run->solution->prices == NULL ||
        ckpd__plan_new(run->context, &run->model.view, &run->plan) != CKPD_OK) {
        status = ckpd__no_memory(run->context);
    }
    if (status == CKPD_OK) {
        status = ask_backend(run);
    }
    return status == CKPD_OK ? take_answer(run) : status;
}

static int32_t resolve(ckpd_solution **out, ckpd_problem *problem, int32_t scenario,
                       const ckpd_solve_options *options, const ckpd_plan *start,
                       const ckpd__prices *prices)
{
    solve_run run = {.context = problem->context, .problem = problem, .started_s = ckpd__clock_s()};
    run.result.size = sizeof run.result;
    run.result.plan = &run.plan;
    ckpd__solve_options_read(options, &run.options);
    int32_t status = ckpd__solution_new(&run.solution, problem->context, scenario);
    if (status != CKPD_OK) {
        return status;
    }
    status = ckpd__model_build(&run.model, problem, scenario);
    if (status == CKPD_OK) {
        status = run_solve(&run, start, prices);
    }
    if (status == CKPD_OK && run.solution->causes.out_of_memory) {
        status = ckpd__no_memory(problem->context);
    }
    ckpd__plan_free(problem->context, &run.plan);
    ckpd__plan_free(problem->context, &run.start);
    ckpd__model_free(&run.model);
    if (status != CKPD_OK) {
        ckpd_solution_free(run.solution);
        return status;
    }
    *out = run.solution;
    return CKPD_OK;
}

static int32_t check_arguments(ckpd_solution **out, const ckpd_problem *problem, int32_t scenario)
{
    if (problem == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    return out == NULL ? ckpd__null_argument(problem->context, "out")
                       : ckpd__scenario_check(problem, scenario);
}

int32_t ckpd_problem_resolve(ckpd_solution **out, ckpd_problem *problem, int32_t scenario,
                             const ckpd_solve_options *options, const ckpd_plan *start)
{
    CKPD__REFUSE_FOREIGN(NULL, problem, CKPD__PROBLEM);
    CKPD__REFUSE_FOREIGN(problem, options, CKPD__SOLVE_OPTIONS);
    CKPD__REFUSE_FOREIGN(problem, start, CKPD__PLAN);
    int32_t status = check_arguments(out, problem, scenario);
    return status == CKPD_OK ? resolve(out, problem, scenario, options, start, NULL) : status;
}

int32_t ckpd_problem_resolve_from(ckpd_solution **out, ckpd_problem *problem, int32_t scenario,
                                  const ckpd_solve_options *options, const ckpd_solution *last,
                                  int32_t slots_passed)
{
    CKPD__REFUSE_FOREIGN(NULL, problem, CKPD__PROBLEM);
    CKPD__REFUSE_FOREIGN(problem, options, CKPD__SOLVE_OPTIONS);
    CKPD__REFUSE_FOREIGN(problem, last, CKPD__SOLUTION);
    ckpd__warm warm;
    int32_t status = check_arguments(out, problem, scenario);
    if (status != CKPD_OK) {
        return status;
    }
    if (last == NULL) {
        return ckpd__null_argument(problem->context, "last");
    }
    status = ckpd__warm_make(&warm, problem, last, slots_passed);
    if (status == CKPD_OK) {
        status = resolve(out, problem, scenario, options, warm.plan, warm.prices);
    }
    ckpd__warm_free(problem->context, &warm);
    return status;
}

int32_t ckpd_problem_solve(ckpd_solution **out, ckpd_problem *problem, int32_t scenario,
                           const ckpd_solve_options *options)
{
    CKPD__REFUSE_FOREIGN(NULL, problem, CKPD__PROBLEM);
    CKPD__REFUSE_FOREIGN(problem, options, CKPD__SOLVE_OPTIONS);
    return ckpd_problem_resolve(out, problem, scenario, options, NULL);
}
