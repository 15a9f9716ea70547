/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The MILP view of a scenario as text for any other solver, and such a solver's values back as a
 * solution. */
#include "dispatch/dispatch.h"
#include "solver/exchange.h"

#include <math.h>

/* The two models of one scenario, made and freed together. */
typedef struct exported {
    ckpd__model model;
    ckpd__path_milp *milp;
    ckpd__milp_names names;
} exported;

static int32_t open_exported(exported *e, const ckpd_problem *problem, int32_t scenario)
{
    e->milp = NULL;
    int32_t status = ckpd__model_build(&e->model, problem, scenario);
    if (status == CKPD_OK) {
        status = ckpd__path_view_check(problem->context, &e->model.view);
    }
    if (status == CKPD_OK) {
        status = ckpd__path_milp_new(&e->milp, problem->context, &e->model.view, 0);
    }
    if (status == CKPD_OK) {
        e->names = ckpd__path_milp_names(e->milp);
    }
    return status;
}

static void close_exported(exported *e)
{
    ckpd__path_milp_free(e->milp);
    ckpd__model_free(&e->model);
}

/* The caller's function behind the writer's. */
typedef struct text_sink {
    ckpd_write_fn write;
    void *user;
    int32_t stopped;
} text_sink;

static bool pass_on(const char *text, size_t length, void *user)
{
    text_sink *sink = user;
    sink->stopped = sink->write(text, length, sink->user);
    return sink->stopped == 0;
}

int32_t ckpd_problem_export(const ckpd_problem *problem, int32_t scenario, int32_t format,
                            ckpd_write_fn write, void *user)
{
    CKPD__REFUSE_FOREIGN(NULL, problem, CKPD__PROBLEM);
    if (problem == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = problem->context;
    if (write == NULL) {
        return ckpd__null_argument(context, "write");
    }
    int32_t status = ckpd__scenario_check(problem, scenario);
    if (status == CKPD_OK) {
        status = ckpd__check_range(context, "format", -1, format, CKPD_FORMAT_MPS, CKPD_FORMAT_LP);
    }
    if (status != CKPD_OK) {
        return status;
    }
    exported e;
    text_sink sink = {write, user, 0};
    status = open_exported(&e, problem, scenario);
    if (status == CKPD_OK) {
        status = format == CKPD_FORMAT_MPS
                     ? ckpd__milp_write_mps(context, &e.milp->milp, &e.names, pass_on, &sink)
                     : ckpd__milp_write_lp(context, &e.milp->milp, &e.names, pass_on, &sink);
    }
    close_exported(&e);
    if (sink.stopped != 0) {
        return ckpd__fail(context, CKPD_ERR_CALLBACK, "write", -1, sink.stopped,
                          "export stopped by the caller with %d", sink.stopped);
    }
    return status;
}

/* Values of the foreign solver, decoded and verified. */
static int32_t take_values(exported *e, const double *x, const ckpd__foreign_solution *said,
                           ckpd_solution *solution)
{
    const ckpd_problem *problem = e->model.problem;
    ckpd_path_plan paths;
    if (ckpd__plan_new(problem->context, &e->model.view, &paths) != CKPD_OK) {
        return ckpd__no_memory(problem->context);
    }
    ckpd__path_milp_decode(e->milp, x, &paths);
    int32_t status = ckpd__decode(&solution->plan, &e->model, &paths);
    ckpd__plan_free(problem->context, &paths);
    if (status != CKPD_OK) {
        return status;
    }
    solution->outcome = CKPD_OUTCOME_FEASIBLE;
    ckpd__format(solution->backend, sizeof solution->backend, "%s", said->format);
    /* What the file claims is reported, not trusted: the cost is recomputed. */
    return ckpd__solution_finish(solution, problem, (double)NAN);
}

int32_t ckpd_problem_import(ckpd_solution **out, ckpd_problem *problem, int32_t scenario,
                            const char *text, size_t length)
{
    CKPD__REFUSE_FOREIGN(NULL, problem, CKPD__PROBLEM);
    if (problem == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = problem->context;
    if (out == NULL || text == NULL) {
        return ckpd__null_argument(context, out == NULL ? "out" : "text");
    }
    int32_t status = ckpd__scenario_check(problem, scenario);
    if (status != CKPD_OK) {
        return status;
    }
    exported e;
    ckpd_solution *solution = NULL;
    double *x = NULL;
    ckpd__foreign_solution said = {0};
    status = open_exported(&e, problem, scenario);
    if (status == CKPD_OK) {
        status = ckpd__solution_new(&solution, context, scenario);
    }
    if (status == CKPD_OK) {
        x = ckpd__calloc(context, (size_t)e.milp->milp.columns, sizeof *x);
        status = x != NULL ? ckpd__milp_read_solution(context, &e.milp->milp, &e.names, text,
                                                      length, x, &said)
                           : ckpd__no_memory(context);
    }
    if (status == CKPD_OK) {
        status = take_values(&e, x, &said, solution);
    }
    ckpd__free(context, x);
    close_exported(&e);
    if (status != CKPD_OK) {
        ckpd_solution_free(solution);
        return status;
    }
    *out = solution;
    return CKPD_OK;
}
