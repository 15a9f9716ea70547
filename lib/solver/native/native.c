/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/native.h"
#include "solver/native/crowd.h"
#include "solver/native/search.h"
#include "solver/native/slotwise.h"

#include <math.h>
#include <string.h>

/* Up to here the combinations of a slot are told apart from the start. */
enum { FEW_JOBS = 6 };

/* How a solve ended. */
typedef struct ending {
    const nat_plan *best;
    double bound;
    bool whole;   /* nothing was left open: the best plan is optimal, or there is none */
    int32_t stop; /* 0 none, 1 a limit, 2 cancelled */
} ending;

static void write_result(const nat_model *model, const ckpd_solve_params *params, ending end,
                         ckpd_path_result *result)
{
    bool found = end.best->cost < (double)INFINITY;
    result->has_plan = found;
    result->objective = end.best->cost;
    result->bound = found ? fmin(end.bound, end.best->cost) : end.bound;
    if (found)
        ckpd__nat_plan_write(model, end.best, result->plan);
    double room = fmax(params->absolute_gap,
                       params->relative_gap * fmax(fabs(result->objective), fabs(result->bound)));
    bool near = end.bound > -(double)INFINITY && result->objective - result->bound <= room;
    if (found && (near || end.whole))
        result->outcome = CKPD_OUTCOME_OPTIMAL;
    else if (end.stop == 2)
        result->outcome = CKPD_OUTCOME_CANCELLED;
    else if (found)
        result->outcome = CKPD_OUTCOME_FEASIBLE;
    else
        result->outcome = end.whole ? CKPD_OUTCOME_INFEASIBLE : CKPD_OUTCOME_NO_PLAN;
}

/* Stopped before anything is known. */
static void write_stopped(int32_t stop, ckpd_path_result *result)
{
    result->outcome = stop == 2 ? CKPD_OUTCOME_CANCELLED : CKPD_OUTCOME_NO_PLAN;
    result->has_plan = 0;
    result->objective = (double)INFINITY;
    result->bound = -(double)INFINITY;
    result->iterations = result->nodes = 0;
}

static int32_t refuse(ckpd_path_result *result, int32_t status, const char *reason)
{
    size_t length = strlen(reason);
    length = length < sizeof result->message ? length : sizeof result->message - 1;
    memcpy(result->message, reason, length);
    result->message[length] = '\0';
    return status;
}

static int32_t solve_slotwise(const ckpd_host *host, const ckpd_path_view *view,
                              const ckpd_solve_params *params, ckpd_path_result *result,
                              nat_certificate *certificate)
{
    int32_t status = ckpd__nat_slotwise_solve(host, view, params, result, certificate);
    if (status == CKPD_ERR_NOT_SUPPORTED)
        return refuse(result, status, "slot-wise jobs with too many combinations of modes");
    return status == CKPD_ERR_NO_MEMORY ? refuse(result, status, "out of memory") : status;
}

/* The best plan and the prices of a crowd are where the search goes on. */
static void prime(nat_search *search, const nat_crowd *crowd)
{
    const nat_model *model = crowd->model;
    for (int32_t j = 0; j < model->jobs; j++)
        ckpd__nat_crowd_price(crowd, crowd->best_price, &model->job[j],
                              search->dual.price + search->dual.layout.job[j]);
    memcpy(search->dual.worth, crowd->best_worth, (size_t)model->slots * sizeof *crowd->worth);
    memcpy(search->primal.target, crowd->primal.target,
           (size_t)model->slots * sizeof *crowd->primal.target);
    ckpd__nat_plan_copy(model, &search->best, &crowd->best);
    ckpd__nat_plan_copy(model, &search->trial, &crowd->best);
    search->iterations = crowd->iterations;
    search->primed = crowd->best.cost < (double)INFINITY;
}

/*
 * Prices per job and activity, and a tree over what they leave open. `crowd`: what one price per
 * slot has found before, or NULL.
 */
static int32_t solve_few(nat_memory *memory, const nat_model *model,
                         const ckpd_solve_params *params, const nat_crowd *crowd,
                         ckpd_path_result *result, nat_certificate *certificate)
{
    nat_search search = {0};
    int32_t status = ckpd__nat_search_init(&search, memory, model, params);
    if (status == CKPD_OK && certificate)
        status = ckpd__nat_certificate_start(certificate, model, memory->host) ? CKPD_OK
                                                                               : CKPD_ERR_NO_MEMORY;
    search.certificate = certificate;
    search.plain = certificate != NULL;
    if (status == CKPD_OK && crowd)
        prime(&search, crowd);
    if (status == CKPD_OK)
        status = ckpd__nat_search_run(&search);
    if (status == CKPD_OK && (search.primal.dispatch.failed || search.dual.reservoir.failed ||
                              search.lost_proof || search.failed))
        status =
            CKPD_ERR_NO_MEMORY; /* what was skipped for want of memory is no proof of anything */
    if (status == CKPD_OK) {
        result->iterations = search.iterations;
        result->nodes = search.nodes;
        write_result(model, params,
                     (ending){&search.best, search.bound, search.stop == 0, search.stop}, result);
        if (certificate)
            certificate->cutoff = fmin(result->bound, search.ceiling); /* above it is no plan */
    }
    ckpd__nat_primal_free(&search.primal);
    ckpd__nat_dual_free(&search.dual);
    return status;
}

static int32_t write_crowd(nat_crowd *crowd, ckpd_path_result *result, nat_certificate *certificate)
{
    const nat_model *model = crowd->model;
    int32_t status = ckpd__nat_crowd_improve(crowd);
    if (status == CKPD_OK && certificate)
        status = ckpd__nat_crowd_certify(crowd, certificate);
    if (status != CKPD_OK)
        return status;
    bool impossible = crowd->stop == 0 && crowd->bound >= ckpd__nat_cost_ceiling(model);
    result->iterations = crowd->iterations;
    result->nodes = 0;
    write_result(model, crowd->params,
                 (ending){&crowd->best, crowd->bound, impossible, crowd->stop}, result);
    if (result->outcome == CKPD_OUTCOME_FEASIBLE && crowd->stop == 0)
        refuse(result, CKPD_OK,
               "many jobs: the gap left is that of the bound by one price per slot");
    return status;
}

/* Many jobs: one price per slot; the combinations of slots after that, where they are not too many.
 */
static int32_t solve_many(nat_memory *memory, const nat_model *model,
                          const ckpd_solve_params *params, ckpd_path_result *result,
                          nat_certificate *certificate)
{
    nat_crowd crowd = {0};
    int32_t status = ckpd__nat_crowd_init(&crowd, memory, model, params);
    if (status == CKPD_OK)
        status = ckpd__nat_crowd_run(&crowd);
    /* That the storage cannot do what is asked of it is certified by the tree alone. */
    bool impossible =
        crowd.bound >= ckpd__nat_cost_ceiling(model) && !(certificate && model->storage);
    bool done = crowd.stop || ckpd__nat_crowd_is_closed(&crowd) || impossible ||
                !ckpd__nat_stack_is_small(model);
    if (status == CKPD_OK && !done) {
        status = solve_few(memory, model, params, &crowd, result, certificate);
        done = status == CKPD_ERR_NOT_SUPPORTED;
        status = done ? CKPD_OK : status;
    }
    if (status == CKPD_OK && done)
        status = write_crowd(&crowd, result, certificate);
    ckpd__nat_crowd_free(&crowd);
    return status;
}

int32_t ckpd__native_solve_certified(const ckpd_host *host, const ckpd_path_view *view,
                                     const ckpd_solve_params *params, ckpd_path_result *result,
                                     nat_certificate *certificate)
{
    nat_memory memory = {.host = host};
    nat_model model;
    if (certificate)
        memset(certificate, 0, sizeof *certificate);
    result->message[0] = '\0';
    int32_t slotwise = 0;
    for (int32_t j = 0; j < view->jobs; j++)
        slotwise += view->job[j]->kind == CKPD_JOB_SLOTWISE;
    if (slotwise > 0)
        return slotwise == view->jobs
                   ? solve_slotwise(host, view, params, result, certificate)
                   : refuse(result, CKPD_ERR_NOT_SUPPORTED, "jobs of both kinds");
    bool soft = view->load_soft_kw || view->gpu_soft; /* of which prices per slot know nothing */
    int32_t status = ckpd__nat_model_build(&model, &memory, view);
    if (status == CKPD_OK && model.stop)
        write_stopped(model.stop, result);
    else if (status == CKPD_OK)
        status = ((model.jobs <= FEW_JOBS || soft) && ckpd__nat_stack_is_small(&model)) ||
                         (view->prices && view->prices->activities > 0)
                     ? solve_few(&memory, &model, params, NULL, result, certificate)
                     : CKPD_ERR_NOT_SUPPORTED;
    if (status == CKPD_ERR_NOT_SUPPORTED && soft)
        refuse(result, status, "soft caps of load or GPUs with that many jobs");
    else if (status == CKPD_ERR_NOT_SUPPORTED)
        status = solve_many(&memory, &model, params, result, certificate);
    if (status != CKPD_OK)
        ckpd__nat_certificate_free(certificate);
    if (status == CKPD_ERR_NO_MEMORY)
        refuse(result, status, "out of memory");
    ckpd__nat_release(&memory);
    return status;
}

int32_t ckpd__native_solve_paths(const ckpd_host *host, const ckpd_path_view *view,
                                 const ckpd_solve_params *params, ckpd_path_result *result,
                                 void *user)
{
    (void)user;
    return ckpd__native_solve_certified(host, view, params, result, NULL);
}
