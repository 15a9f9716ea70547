/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* From a case to graphs, problem and options. */
#include "io/case.h"

#include <math.h>

static bool same_but_dp(const ckpd_mode *a, const ckpd_mode *b)
{
    return a->tp == b->tp && a->pp == b->pp && a->cp == b->cp && a->ep == b->ep &&
           a->interleave == b->interleave;
}

static int32_t fill_allowed(const ckpd__case_job *job, int32_t count, uint8_t *allowed)
{
    for (int32_t from = 0; from < count; from++) {
        for (int32_t to = 0; to < count; to++) {
            ckpd_mode a = {.size = sizeof a}, b = {.size = sizeof b};
            int32_t status = ckpd_mode_set_get(job->modes, from, &a);
            status = status == CKPD_OK ? ckpd_mode_set_get(job->modes, to, &b) : status;
            if (status != CKPD_OK) {
                return status;
            }
            allowed[from * count + to] =
                from == to || job->transitions == CKPD__TRANSITIONS_ANY ||
                (job->transitions == CKPD__TRANSITIONS_DP && same_but_dp(&a, &b));
        }
    }
    for (int32_t i = 0; i < job->forbidden_count; i++) {
        allowed[job->forbidden[2 * i] * count + job->forbidden[2 * i + 1]] = 0;
    }
    return CKPD_OK;
}

static int32_t set_transitions(ckpd_context *context, ckpd_graph_options *options,
                               const ckpd__case_job *job)
{
    if (job->transitions == CKPD__TRANSITIONS_ANY && job->forbidden_count == 0) {
        return CKPD_OK;
    }
    int32_t count = ckpd_mode_set_count(job->modes);
    uint8_t *allowed = ckpd__calloc(context, (size_t)count * (size_t)count, 1);
    if (allowed == NULL) {
        return ckpd__no_memory(context);
    }
    int32_t status = fill_allowed(job, count, allowed);
    status =
        status == CKPD_OK ? ckpd_graph_options_set_transitions(options, count, allowed) : status;
    ckpd__free(context, allowed);
    return status;
}

int32_t ckpd_case_build_graph(ckpd_graph **out, const ckpd_case *loaded, int32_t job)
{
    CKPD__REFUSE_FOREIGN(NULL, loaded, CKPD__CASE);
    if (loaded == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = loaded->context;
    if (out == NULL) {
        return ckpd__null_argument(context, "out");
    }
    if (job < 0 || job >= loaded->job_count) {
        return ckpd__fail(context, CKPD_ERR_RANGE, "job", job, job,
                          "the case has %d jobs, no job %d", loaded->job_count, job);
    }
    const ckpd__case_job *own = &loaded->jobs[job];
    ckpd_graph_options *options = NULL;
    int32_t status = ckpd_graph_options_new(&options, context);
    status =
        status == CKPD_OK ? ckpd__handle_copy(&ckpd__graph_type, loaded->graph, options) : status;
    status = status == CKPD_OK ? set_transitions(context, options, own) : status;
    status = status == CKPD_OK ? ckpd__case_set_changes(context, options, own) : status;
    if (status == CKPD_OK) {
        status = ckpd_graph_build(out, context, own->task, own->modes, loaded->slots,
                                  ckpd_site_slot_hours(loaded->site), options);
        ckpd__place list = {NULL, "jobs", 0}, place = {&list, NULL, job};
        status = status == CKPD_OK ? CKPD_OK : ckpd__refuse_with(context, &place, status);
    }
    ckpd_graph_options_free(options);
    return status;
}

int32_t ckpd_case_build_problem(ckpd_problem **out, const ckpd_case *loaded)
{
    CKPD__REFUSE_FOREIGN(NULL, loaded, CKPD__CASE);
    if (loaded == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL) {
        return ckpd__null_argument(loaded->context, "out");
    }
    ckpd_problem *problem = NULL;
    int32_t status = ckpd_problem_new(&problem, loaded->context, loaded->site);
    for (int32_t i = 0; i < loaded->job_count && status == CKPD_OK; i++) {
        ckpd_graph *graph = NULL;
        status = ckpd_case_build_graph(&graph, loaded, i);
        status = status == CKPD_OK ? ckpd_problem_add_job(problem, graph) : status;
        ckpd_graph_free(graph);
    }
    if (status != CKPD_OK) {
        ckpd_problem_free(problem);
        return status;
    }
    *out = problem;
    return CKPD_OK;
}

int32_t ckpd_case_build_options(ckpd_solve_options **out, const ckpd_case *loaded)
{
    CKPD__REFUSE_FOREIGN(NULL, loaded, CKPD__CASE);
    if (loaded == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL) {
        return ckpd__null_argument(loaded->context, "out");
    }
    ckpd_solve_options *options = NULL;
    int32_t status = ckpd_solve_options_new(&options, loaded->context);
    status =
        status == CKPD_OK ? ckpd__handle_copy(&ckpd__solve_type, loaded->solve, options) : status;
    status = status == CKPD_OK ? ckpd_solve_options_set_backend(options, loaded->backend) : status;
    if (status != CKPD_OK) {
        ckpd_solve_options_free(options);
        return status;
    }
    *out = options;
    return CKPD_OK;
}
