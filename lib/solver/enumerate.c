/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Every plan of a small problem, one after the other: a second opinion that shares nothing with the
 * other solvers, and what a build without GLPK can fall back on. Depth first over the jobs; the
 * storage is dispatched exactly for each combination.
 */
#include "solver/builtin.h"
#include "solver/storage_exact.h"

#include <math.h>
#include <string.h>

typedef struct search {
    const ckpd_host *host;
    const ckpd_path_view *view;
    const ckpd_solve_params *params;
    double *it_kw, *gpus, *load_kw, *charge_kw, *discharge_kw; /* [slots] */
    int32_t *step_count, *step_slot, *step_move, *slot_mode;   /* as in ckpd_path_plan */
    ckpd__storage_exact *storage;
    double moves_cost, best;
    ckpd_path_result *result;
    int64_t leaves, work;
    int32_t stop; /* 1 time, 2 cancelled, 3 iteration limit */
    int32_t status;
} search;

static void enter_job(search *s, int32_t j);

static bool stopped(search *s)
{
    if (s->stop == 0 && ++s->work % 1024 == 0) {
        s->stop = s->host->should_stop(s->host->user);
        if (s->work % (1 << 18) == 0) {
            s->host->report(s->best, -INFINITY, s->leaves, 0, s->host->user);
        }
    }
    if (s->stop == 0 && s->params->iteration_limit >= 0 &&
        s->leaves >= s->params->iteration_limit) {
        s->stop = 3;
    }
    return s->stop != 0 || s->status != CKPD_OK;
}

static void keep(search *s, double cost)
{
    size_t jobs = (size_t)s->view->jobs, slots = (size_t)s->view->slots;
    ckpd_path_plan *plan = s->result->plan;
    s->best = cost;
    s->result->has_plan = 1;
    memcpy(plan->step_count, s->step_count, jobs * sizeof(int32_t));
    memcpy(plan->step_slot, s->step_slot, jobs * slots * sizeof(int32_t));
    memcpy(plan->step_move, s->step_move, jobs * slots * sizeof(int32_t));
    if (plan->slot_mode != NULL) {
        memcpy(plan->slot_mode, s->slot_mode, jobs * slots * sizeof(int32_t));
    }
    if (s->storage != NULL) {
        memcpy(plan->charge_kw, s->charge_kw, slots * sizeof(double));
        memcpy(plan->discharge_kw, s->discharge_kw, slots * sizeof(double));
    }
    s->host->report(cost, -INFINITY, s->leaves, 0, s->host->user);
}

/* All jobs have a path: what does it cost? */
static void judge(search *s)
{
    const ckpd_path_view *view = s->view;
    double cost = 0, rest = view->cost_offset + s->moves_cost;
    s->leaves++;
    for (int32_t t = 0; t < view->slots; t++) {
        s->load_kw[t] = view->base_load_kw[t] + view->load_factor[t] * s->it_kw[t];
        cost += s->storage == NULL ? ckpd__curve_cost(view, t, s->load_kw[t]) : 0;
        rest += ckpd__soft_cost(view, t, s->load_kw[t], s->gpus[t]);
    }
    if (s->storage != NULL) {
        if (rest + ckpd__storage_exact_bound(s->storage, s->load_kw) >= s->best) {
            return;
        }
        s->status =
            ckpd__storage_exact_run(s->storage, s->load_kw, &cost, s->charge_kw, s->discharge_kw);
        if (s->status != CKPD_OK) {
            return;
        }
    }
    if (rest + cost < s->best) {
        keep(s, rest + cost);
    }
}

/* Adds (sign 1) or takes back (-1) power and GPUs; false when a cap is passed. */
static bool occupy(search *s, int32_t slot, double power_kw, double gpus, double sign)
{
    s->it_kw[slot] += sign * power_kw;
    s->gpus[slot] += sign * gpus;
    double load = s->view->base_load_kw[slot] + s->view->load_factor[slot] * s->it_kw[slot];
    double cap = s->view->load_cap_kw[slot];
    return s->gpus[slot] <= s->view->gpu_cap[slot] * (1 + 1e-12) &&
           load <= cap + ckpd__tolerance(cap);
}

static void walk_path(search *s, int32_t j, int32_t state, int32_t t, int32_t k);

static void take_move(search *s, int32_t j, int32_t move, int32_t t, int32_t k)
{
    const ckpd_path_job *job = s->view->job[j];
    int32_t length = job->move_slots[move], count = s->step_count[j];
    double gpus = job->mode_gpus[job->move_mode[move]];
    double cost =
        job->edge_cost != NULL ? job->edge_cost[ckpd__edge_index(s->view, job, move, t, k)] : 0;
    bool fits = true;
    for (int32_t i = 0; i < length; i++) {
        fits = occupy(s, t + i, ckpd__move_power(job, move, i), gpus, 1) && fits;
    }
    if (fits) {
        size_t at = (size_t)j * (size_t)s->view->slots + (size_t)count;
        s->step_slot[at] = t;
        s->step_move[at] = move;
        s->step_count[j] = count + 1;
        s->moves_cost += cost;
        walk_path(s, j, ckpd__move_state(job, move), t + length, k + job->move_segments[move]);
        s->moves_cost -= cost;
        s->step_count[j] = count;
    }
    for (int32_t i = 0; i < length; i++) {
        occupy(s, t + i, ckpd__move_power(job, move, i), gpus, -1);
    }
}

static void walk_path(search *s, int32_t j, int32_t state, int32_t t, int32_t k)
{
    const ckpd_path_view *view = s->view;
    const ckpd_path_job *job = view->job[j];
    if (stopped(s) || !job->node_open[ckpd__node_index(view, job, state, t, k)]) {
        return;
    }
    if (k == job->segments) {
        enter_job(s, j + 1);
        return;
    }
    if (t == view->slots) {
        return;
    }
    for (int32_t i = 0; i < job->moves; i++) {
        if (ckpd__move_exists(view, job, i, state, t, k)) {
            take_move(s, j, i, t, k);
        }
    }
    if (job->may_wait) {
        walk_path(s, j, state, t + 1, k);
    }
}

static void walk_slots(search *s, int32_t j, int32_t t, double missing)
{
    const ckpd_path_job *job = s->view->job[j];
    int32_t *mode = &s->slot_mode[(size_t)j * (size_t)s->view->slots + (size_t)t];
    if (stopped(s)) {
        return;
    }
    if (t == job->deadline) {
        if (missing <= 1e-12 * fabs(job->work_required)) {
            enter_job(s, j + 1);
        }
        return;
    }
    for (int32_t i = -1; i < job->modes; i++) {
        *mode = i;
        if (i < 0) {
            walk_slots(s, j, t + 1, missing);
            continue;
        }
        if (occupy(s, t, job->mode_power_kw[i], job->mode_gpus[i], 1)) {
            walk_slots(s, j, t + 1, missing - job->mode_work_per_slot[i]);
        }
        occupy(s, t, job->mode_power_kw[i], job->mode_gpus[i], -1);
    }
    *mode = -1;
}

static void enter_job(search *s, int32_t j)
{
    if (j == s->view->jobs) {
        judge(s);
        return;
    }
    const ckpd_path_job *job = s->view->job[j];
    if (job->kind == CKPD_JOB_SLOTWISE) {
        walk_slots(s, j, job->source_slot, job->work_required);
    } else {
        walk_path(s, j, job->source_state, job->source_slot, job->source_segment);
    }
}

static bool begin(search *s)
{
    const ckpd_path_view *view = s->view;
    size_t slots = (size_t)view->slots, cells = (size_t)view->jobs * slots;
    void *user = s->host->user;
    s->it_kw = s->host->allocate(5 * slots * sizeof(double), user);
    s->step_count = s->host->allocate(((size_t)view->jobs + 3 * cells + 1) * sizeof(int32_t), user);
    if (s->it_kw == NULL || s->step_count == NULL) {
        return false;
    }
    s->gpus = s->it_kw + slots;
    s->load_kw = s->gpus + slots;
    s->charge_kw = s->load_kw + slots;
    s->discharge_kw = s->charge_kw + slots;
    s->step_slot = s->step_count + view->jobs;
    s->step_move = s->step_slot + cells;
    s->slot_mode = s->step_move + cells;
    memset(s->it_kw, 0, 5 * slots * sizeof(double));
    memset(s->step_count, 0, (size_t)view->jobs * sizeof(int32_t));
    for (size_t i = 0; i < cells; i++) {
        s->step_slot[i] = s->step_move[i] = 0;
        s->slot_mode[i] = -1;
    }
    for (int32_t j = 0; j < view->jobs; j++) {
        const ckpd_path_job *job = view->job[j];
        for (int32_t t = 0; t < view->slots; t++) {
            occupy(s, t, job->fixed_power_kw != NULL ? job->fixed_power_kw[t] : 0,
                   job->fixed_gpus != NULL ? job->fixed_gpus[t] : 0, 1);
        }
    }
    if (view->storage != NULL) {
        s->storage = ckpd__storage_exact_new(s->host, view);
        return s->storage != NULL;
    }
    return true;
}

static void conclude(const search *s, ckpd_path_result *result)
{
    bool found = result->has_plan;
    result->iterations = s->leaves;
    result->objective = s->best;
    result->bound = s->stop != 0 ? -INFINITY : s->best;
    result->outcome = s->stop == 2            ? CKPD_OUTCOME_CANCELLED
                      : s->stop != 0 && found ? CKPD_OUTCOME_FEASIBLE
                      : s->stop != 0          ? CKPD_OUTCOME_NO_PLAN
                      : found                 ? CKPD_OUTCOME_OPTIMAL
                                              : CKPD_OUTCOME_INFEASIBLE;
}

static int32_t solve_paths(const ckpd_host *host, const ckpd_path_view *view,
                           const ckpd_solve_params *params, ckpd_path_result *result, void *user)
{
    (void)user;
    search s = {.host = host, .view = view, .params = params, .best = INFINITY, .result = result};
    result->has_plan = 0;
    s.status = begin(&s) ? CKPD_OK : CKPD_ERR_NO_MEMORY;
    if (s.status == CKPD_OK) {
        s.stop = host->should_stop(host->user);
        enter_job(&s, 0);
    }
    ckpd__storage_exact_free(s.storage);
    host->release(s.it_kw, host->user);
    host->release(s.step_count, host->user);
    if (s.status == CKPD_OK) {
        conclude(&s, result);
    }
    return s.status;
}

const ckpd_backend_table ckpd__enumerate_backend = {
    .size = sizeof(ckpd_backend_table),
    .abi = CKPD_BACKEND_ABI,
    .capabilities = CKPD_CAP_PATHS | CKPD_CAP_SLOTWISE | CKPD_CAP_SOFT | CKPD_CAP_TRUSTED_BOUND,
    .name = "enumerate",
    .version = CKPD_VERSION_STRING,
    .license = "LGPL-3.0-or-later",
    .solve_paths = solve_paths,
};
