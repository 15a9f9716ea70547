/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "dispatch/dispatch.h"

#include <math.h>
#include <string.h>

enum { MOST_SEGMENTS = 100000 };

int32_t ckpd_problem_new(ckpd_problem **out, ckpd_context *context, const ckpd_site *site)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    CKPD__REFUSE_FOREIGN(context, site, CKPD__SITE);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL || site == NULL) {
        return ckpd__null_argument(context, out == NULL ? "out" : "site");
    }
    int32_t status = ckpd__site_check(context, site);
    if (status != CKPD_OK) {
        return status;
    }
    ckpd_problem *problem = ckpd__calloc(context, 1, sizeof *problem);
    ckpd_site *copy = ckpd__site_copy(context, site);
    if (problem == NULL || copy == NULL) {
        ckpd__free(context, problem);
        ckpd_site_free(copy);
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(problem, CKPD__PROBLEM, context);
    problem->site = copy;
    *out = problem;
    return CKPD_OK;
}

void ckpd_problem_free(ckpd_problem *problem)
{
    CKPD__NULL_IF_FOREIGN(problem, CKPD__PROBLEM);
    if (problem == NULL) {
        return;
    }
    ckpd_context *context = problem->context;
    for (int32_t j = 0; j < problem->jobs; j++) {
        ckpd_graph_free(problem->job[j]);
    }
    ckpd__free(context, (void *)problem->job);
    ckpd_site_free(problem->site);
    ckpd__handle_end(problem);
}

int32_t ckpd_problem_add_job(ckpd_problem *problem, const ckpd_graph *graph)
{
    CKPD__REFUSE_FOREIGN(NULL, problem, CKPD__PROBLEM);
    CKPD__REFUSE_FOREIGN(problem, graph, CKPD__GRAPH);
    if (problem == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = problem->context;
    if (graph == NULL) {
        return ckpd__null_argument(context, "graph");
    }
    for (int32_t j = 0; j < problem->jobs; j++) {
        if (strcmp(ckpd_graph_name(problem->job[j]), ckpd_graph_name(graph)) == 0) {
            return ckpd__fail(context, CKPD_ERR_DUPLICATE, "name", problem->jobs, (double)NAN,
                              "job %d has the name '%s' of job %d", problem->jobs,
                              ckpd_graph_name(graph), j);
        }
    }
    if (graph->spec.slots != problem->site->slots) {
        return ckpd__fail(context, CKPD_ERR_INCONSISTENT, "slots", problem->jobs, graph->spec.slots,
                          "job '%s' is made for %d slots, the site has %d", graph->spec.name,
                          graph->spec.slots, problem->site->slots);
    }
    if (fabs(graph->spec.slot_hours - problem->site->slot_hours) >
        1e-12 * problem->site->slot_hours) {
        return ckpd__fail(context, CKPD_ERR_INCONSISTENT, "slot_hours", problem->jobs,
                          graph->spec.slot_hours,
                          "job '%s' is made for slots of %g h, the site has %g h", graph->spec.name,
                          graph->spec.slot_hours, problem->site->slot_hours);
    }
    ckpd_graph **grown = ckpd__realloc(context, (void *)problem->job, (size_t)problem->jobs + 1,
                                       sizeof(ckpd_graph *));
    if (grown == NULL) {
        return ckpd__no_memory(context);
    }
    problem->job = grown;
    problem->job[problem->jobs++] = ckpd__graph_retain(graph);
    return CKPD_OK;
}

int32_t ckpd_problem_job_count(const ckpd_problem *problem)
{
    CKPD__NULL_IF_FOREIGN(problem, CKPD__PROBLEM);
    return problem != NULL ? problem->jobs : 0;
}

const ckpd_graph *ckpd_problem_job_graph(const ckpd_problem *problem, int32_t job)
{
    CKPD__NULL_IF_FOREIGN(problem, CKPD__PROBLEM);
    return problem != NULL && job >= 0 && job < problem->jobs ? problem->job[job] : NULL;
}

const char *ckpd_problem_job_name(const ckpd_problem *problem, int32_t job)
{
    CKPD__NULL_IF_FOREIGN(problem, CKPD__PROBLEM);
    return ckpd_graph_name(ckpd_problem_job_graph(problem, job));
}

int32_t ckpd_problem_set_site(ckpd_problem *problem, const ckpd_site *site)
{
    CKPD__REFUSE_FOREIGN(NULL, problem, CKPD__PROBLEM);
    CKPD__REFUSE_FOREIGN(problem, site, CKPD__SITE);
    if (problem == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (site == NULL) {
        return ckpd__null_argument(problem->context, "site");
    }
    int32_t status = ckpd__site_check(problem->context, site);
    if (status != CKPD_OK) {
        return status;
    }
    if (site->slots != problem->site->slots || site->slot_hours != problem->site->slot_hours) {
        return ckpd__fail(problem->context, CKPD_ERR_INCONSISTENT, "slots", -1, site->slots,
                          "the new site has %d slots of %g h, the problem %d of %g h", site->slots,
                          site->slot_hours, problem->site->slots, problem->site->slot_hours);
    }
    ckpd_site *copy = ckpd__site_copy(problem->context, site);
    if (copy == NULL) {
        return ckpd__no_memory(problem->context);
    }
    ckpd_site_free(problem->site);
    problem->site = copy;
    return CKPD_OK;
}

static int32_t resegment(const ckpd_problem *problem, int32_t job, int32_t segments,
                         ckpd_graph **out)
{
    const ckpd_graph *graph = problem->job[job];
    if (graph->spec.start_segments > 0 || graph->spec.running >= 0) {
        return ckpd__fail(problem->context, CKPD_ERR_STATE, "segments", job, segments,
                          "job '%s' has begun with %d segments, the number cannot change",
                          graph->spec.name, graph->spec.segments);
    }
    return ckpd__graph_resegment(out, problem->context, graph, segments);
}

int32_t ckpd_problem_set_segments(ckpd_problem *problem, int32_t job, int32_t segments)
{
    CKPD__REFUSE_FOREIGN(NULL, problem, CKPD__PROBLEM);
    if (problem == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = problem->context;
    int32_t status = ckpd__check_range(context, "job", -1, job, -1, problem->jobs - 1);
    if (status == CKPD_OK) {
        status = ckpd__check_range(context, "segments", job, segments, 1, MOST_SEGMENTS);
    }
    if (status != CKPD_OK) {
        return status;
    }
    int32_t first = job < 0 ? 0 : job;
    int32_t end = job < 0 ? problem->jobs : job + 1;
    ckpd_graph **made = ckpd__calloc(context, (size_t)(end - first), sizeof(ckpd_graph *));
    if (made == NULL) {
        return ckpd__no_memory(context);
    }
    for (int32_t j = first; j < end && status == CKPD_OK; j++) {
        status = resegment(problem, j, segments, &made[j - first]);
    }
    /* All of them, or none: what is not taken over is freed. */
    for (int32_t j = first; j < end; j++) {
        if (status == CKPD_OK) {
            ckpd_graph *old = problem->job[j];
            problem->job[j] = made[j - first];
            made[j - first] = old;
        }
        ckpd_graph_free(made[j - first]);
    }
    ckpd__free(context, (void *)made);
    return status;
}

int32_t ckpd_problem_set_gpu_cap(ckpd_problem *problem, double gpus)
{
    CKPD__REFUSE_FOREIGN(NULL, problem, CKPD__PROBLEM);
    if (problem == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    return ckpd_site_set_constant(problem->site, "gpu_cap", gpus);
}

/* --- limits with prices ----------------------------------------------------------------------- */

static const double PENALTY_FACTOR = 100;

/* A price for the slots of a finite cap that has none. */
static void price_cap(ckpd_site *site, ckpd__series cap, ckpd__series price, double amount)
{
    for (int32_t t = 0; t < site->slots; t++) {
        if (isinf(site->series[price][t]) && isfinite(site->series[cap][t])) {
            site->series[price][t] = amount;
        }
    }
}

static int32_t soften_jobs(ckpd_problem *problem, double price)
{
    ckpd_context *context = problem->context;
    ckpd_graph **made = ckpd__calloc(context, (size_t)problem->jobs, sizeof(ckpd_graph *));
    int32_t status = made != NULL ? CKPD_OK : ckpd__no_memory(context);
    for (int32_t j = 0; j < problem->jobs && status == CKPD_OK; j++) {
        ckpd__graph_spec spec = problem->job[j]->spec;
        if (spec.may_be_late || spec.deadline >= spec.slots) {
            made[j] = ckpd__graph_retain(problem->job[j]);
            continue;
        }
        spec.may_be_late = 1;
        spec.late_price = price;
        status = ckpd__graph_make(&made[j], context, &spec);
    }
    for (int32_t j = 0; made != NULL && j < problem->jobs; j++) {
        if (status == CKPD_OK) {
            ckpd_graph *old = problem->job[j];
            problem->job[j] = made[j];
            made[j] = old;
        }
        ckpd_graph_free(made[j]);
    }
    ckpd__free(context, (void *)made);
    return status;
}

int32_t ckpd_problem_soften(ckpd_problem *problem)
{
    CKPD__REFUSE_FOREIGN(NULL, problem, CKPD__PROBLEM);
    if (problem == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_site *site = problem->site;
    double price = 1;
    for (int32_t t = 0; t < site->slots; t++) {
        price = fmax(price, fabs(site->series[CKPD__IMPORT_PRICE][t]));
    }
    price = fmin(PENALTY_FACTOR * price, 1e9);
    int32_t status = soften_jobs(problem, price);
    if (status != CKPD_OK) {
        return status;
    }
    price_cap(site, CKPD__IMPORT_CAP, CKPD__IMPORT_CAP_PRICE, price);
    price_cap(site, CKPD__SITE_CAP, CKPD__SITE_CAP_PRICE, price);
    price_cap(site, CKPD__GPU_CAP, CKPD__GPU_CAP_PRICE, price / 1000.0);
    double *b = site->battery;
    if (site->has_battery && isnan(b[CKPD__BATTERY_SOC_END_PRICE])) {
        b[CKPD__BATTERY_SOC_END_PRICE] = price;
    }
    return CKPD_OK;
}

/* --- scenarios -------------------------------------------------------------------------------- */

bool ckpd__scenario_has_storage(int32_t scenario)
{
    return scenario == CKPD_SCENARIO_S5 || scenario == CKPD_SCENARIO_S6;
}

bool ckpd__scenario_is_continuous(int32_t scenario)
{
    return scenario == CKPD_SCENARIO_S1 || scenario == CKPD_SCENARIO_S2 ||
           scenario == CKPD_SCENARIO_S5;
}

int32_t ckpd__scenario_check(const ckpd_problem *problem, int32_t scenario)
{
    int32_t status = ckpd__check_range(problem->context, "scenario", -1, scenario, CKPD_SCENARIO_S1,
                                       CKPD_SCENARIO_S6);
    if (status != CKPD_OK) {
        return status;
    }
    if (ckpd__scenario_has_storage(scenario) && !problem->site->has_battery) {
        return ckpd__fail(problem->context, CKPD_ERR_STATE, "scenario", -1, scenario,
                          "scenario S%d needs a battery, the site has none", scenario);
    }
    for (int32_t j = 0; ckpd__scenario_is_continuous(scenario) && j < problem->jobs; j++) {
        if (problem->job[j]->spec.baseline < 0) {
            return ckpd__fail(problem->context, CKPD_ERR_MISSING, "baseline", j, (double)NAN,
                              "scenario S%d needs a baseline mode, job '%s' names none", scenario,
                              problem->job[j]->spec.name);
        }
    }
    return CKPD_OK;
}
