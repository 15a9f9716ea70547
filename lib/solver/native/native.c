/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/native.h"
#include "solver/native/search.h"
#include "solver/native/slotwise.h"

#include <math.h>
#include <string.h>

static void write_plan(const nat_search *search, ckpd_path_plan *out)
{
    const nat_model *model = search->model;
    size_t T = (size_t)model->slots;
    for (int32_t j = 0; j < model->jobs; j++) {
        const nat_path *path = &search->best.path[j];
        out->step_count[j] = path->steps;
        for (int32_t i = 0; i < path->steps; i++) {
            out->step_slot[(size_t)j * T + (size_t)i] = path->slot[i];
            out->step_move[(size_t)j * T + (size_t)i] = model->job[j].move[path->move[i]].index;
        }
        for (size_t t = 0; out->slot_mode && t < T; t++)
            out->slot_mode[(size_t)j * T + t] = -1;
    }
    for (size_t t = 0; model->storage && t < T; t++) {
        out->charge_kw[t] = fmax(search->best.draw[t], 0);
        out->discharge_kw[t] = fmax(-search->best.draw[t], 0);
    }
}

static void write_result(const nat_search *search, ckpd_path_result *result)
{
    bool found = search->best.cost < (double)INFINITY;
    result->has_plan = found;
    result->objective = search->best.cost;
    result->bound = found ? fmin(search->bound, search->best.cost) : search->bound;
    result->iterations = search->iterations;
    result->nodes = search->nodes;
    if (found)
        write_plan(search, &result->plan);
    double room = fmax(search->params->absolute_gap,
                       search->params->relative_gap * fmax(fabs(result->objective), fabs(result->bound)));
    if (found && (result->objective - result->bound <= room || !search->stop))
        result->outcome = CKPD_OUTCOME_OPTIMAL;
    else if (search->stop == 2)
        result->outcome = CKPD_OUTCOME_CANCELLED;
    else if (search->stop)
        result->outcome = found ? CKPD_OUTCOME_FEASIBLE : CKPD_OUTCOME_NO_PLAN;
    else
        result->outcome = CKPD_OUTCOME_INFEASIBLE;
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
                              const ckpd_solve_params *params, ckpd_path_result *result)
{
    int32_t status = ckpd__nat_slotwise_solve(host, view, params, result);
    if (status == CKPD_ERR_NOT_SUPPORTED)
        return refuse(result, status, "slot-wise jobs with too many combinations of modes");
    return status == CKPD_ERR_NO_MEMORY ? refuse(result, status, "out of memory") : status;
}

int32_t ckpd__native_solve_paths(const ckpd_host *host, const ckpd_path_view *view,
                                 const ckpd_solve_params *params, ckpd_path_result *result, void *user)
{
    nat_memory memory = {.host = host};
    nat_model model;
    nat_search search = {0};
    (void)user;
    result->message[0] = '\0';
    int32_t slotwise = 0;
    for (int32_t j = 0; j < view->jobs; j++)
        slotwise += view->job[j]->kind == CKPD_JOB_SLOTWISE;
    if (slotwise > 0)
        return slotwise == view->jobs ? solve_slotwise(host, view, params, result)
                                      : refuse(result, CKPD_ERR_NOT_SUPPORTED, "jobs of both kinds");
    int32_t status = ckpd__nat_model_build(&model, &memory, view, result->message);
    if (status == CKPD_OK)
        status = ckpd__nat_search_init(&search, &memory, &model, params);
    if (status == CKPD_ERR_NOT_SUPPORTED && !result->message[0])
        status = refuse(result, status, "too many jobs of unlike power");
    if (status == CKPD_OK)
        status = ckpd__nat_search_run(&search);
    if (status == CKPD_OK && (search.primal.dispatch.failed || search.dual.reservoir.failed))
        status = CKPD_ERR_NO_MEMORY; /* what was skipped for want of memory is no proof of anything */
    if (status == CKPD_OK)
        write_result(&search, result);
    else if (status == CKPD_ERR_NO_MEMORY)
        status = refuse(result, status, "out of memory");
    ckpd__nat_primal_free(&search.primal);
    ckpd__nat_dual_free(&search.dual);
    ckpd__nat_release(&memory);
    return status;
}
