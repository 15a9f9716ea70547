/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/slotwise.h"

#include <math.h>
#include <string.h>

/* Required work of a job in whole units. */
static const int64_t WHOLE = INT64_C(1) << 46;

enum { MOST_COMBINATIONS = 20000 };

/* Odometer over the modes of the jobs; -1 is idle. False after the last combination. */
static bool advance(const ckpd_path_view *view, int32_t slot, int32_t *mode)
{
    for (int32_t j = 0; j < view->jobs; j++) {
        const ckpd_path_job *job = view->job[j];
        bool may = slot >= job->source_slot && slot < job->deadline;
        if (may && mode[j] + 1 < job->modes) {
            mode[j]++;
            return true;
        }
        mode[j] = -1;
    }
    return false;
}

/* False when the combination breaks a cap of the slot. */
static bool measure(const nat_slotwise *s, int32_t t, nat_combination *c)
{
    const ckpd_path_view *view = s->model.view;
    double gpus = 0, kw = 0;
    for (int32_t j = 0; j < view->jobs; j++) {
        const ckpd_path_job *job = view->job[j];
        c->work[j] = 0;
        if (c->mode[j] >= 0) {
            gpus += (double)job->mode_gpus[c->mode[j]];
            kw += job->mode_power_kw[c->mode[j]];
            double part = job->work_required > 0
                              ? job->mode_work_per_slot[c->mode[j]] / job->work_required
                              : 0;
            c->work[j] = (int64_t)(fmin(part, 1) * (double)WHOLE + 0.5);
        }
    }
    c->cost = ckpd__nat_curve(&s->model, t, nat_load(&s->model, t, kw)) +
              ckpd__nat_soft(&s->model, t, gpus, nat_load(&s->model, t, kw));
    return ckpd__nat_fits(&s->model, t, gpus, kw) && c->cost < (double)INFINITY;
}

/* Counts the combinations that fit, or with `out` writes them. */
static int32_t list_combinations(const nat_slotwise *s, int32_t t, nat_combination *out)
{
    nat_combination c;
    int32_t count = 0;
    int64_t tried = 0;
    memset(&c, 0, sizeof c);
    memset(c.mode, -1, sizeof c.mode);
    do {
        if (measure(s, t, &c)) {
            if (out) {
                out[count] = c;
            }
            count++;
        }
    } while (count <= MOST_COMBINATIONS && ++tried < 50 * (int64_t)MOST_COMBINATIONS &&
             advance(s->model.view, t, c.mode));
    return tried < 50 * (int64_t)MOST_COMBINATIONS ? count : MOST_COMBINATIONS + 1;
}

static int32_t build(nat_slotwise *s, nat_memory *memory, const ckpd_path_view *view)
{
    size_t T = (size_t)view->slots;
    s->model = (nat_model){.view = view, .slots = view->slots, .jobs = view->jobs};
    int32_t status = ckpd__nat_slots_build(&s->model, memory);
    s->stage = ckpd__nat_alloc(memory, T, sizeof *s->stage);
    s->ahead = ckpd__nat_alloc(memory, T + 1, sizeof *s->ahead);
    s->ahead_value = ckpd__nat_alloc(memory, T + 1, sizeof *s->ahead_value);
    s->root_value = ckpd__nat_alloc(memory, T + 1, sizeof *s->root_value);
    s->most = ckpd__nat_alloc(memory, T + 1, sizeof *s->most);
    s->best = ckpd__nat_alloc(memory, T, sizeof *s->best);
    if (status != CKPD_OK || !s->stage || !s->ahead || !s->ahead_value || !s->root_value ||
        !s->most || !s->best) {
        return CKPD_ERR_NO_MEMORY;
    }
    for (int32_t j = 0; j < view->jobs; j++) {
        s->required[j] = view->job[j]->work_required > 0 ? WHOLE - view->slots : 0;
    }
    for (int32_t t = 0; t < view->slots; t++) {
        nat_stage *stage = &s->stage[t];
        stage->slot = t;
        stage->count = list_combinations(s, t, NULL);
        if (stage->count > MOST_COMBINATIONS) {
            return CKPD_ERR_NOT_SUPPORTED;
        }
        stage->combination =
            ckpd__nat_alloc(memory, (size_t)stage->count, sizeof *stage->combination);
        if (!stage->combination) {
            return CKPD_ERR_NO_MEMORY;
        }
        list_combinations(s, t, stage->combination);
    }
    return CKPD_OK;
}

/* False when some slot or some job has no way at all. */
static bool is_possible(const nat_slotwise *s)
{
    for (int32_t t = 0; t < s->model.slots; t++) {
        if (s->stage[t].count == 0) {
            return false;
        }
    }
    for (int32_t j = 0; j < s->model.jobs; j++) {
        int64_t most = 0;
        for (int32_t t = 0; t < s->model.slots && most < s->required[j]; t++) {
            int64_t slot = 0;
            for (int32_t i = 0; i < s->stage[t].count; i++) {
                slot = s->stage[t].combination[i].work[j] > slot
                           ? s->stage[t].combination[i].work[j]
                           : slot;
            }
            most += slot;
        }
        if (most < s->required[j]) {
            return false;
        }
    }
    return true;
}

double ckpd__nat_slotwise_gap(const nat_slotwise *s, double cost)
{
    double whole = s->model.view->cost_offset + cost;
    return fmax(s->params->absolute_gap, s->params->relative_gap * fabs(whole));
}

/* Whether the best plan is within the asked gap; without a bound it never is. */
static bool is_near(const nat_slotwise *s)
{
    return s->best_cost < (double)INFINITY && s->bound > -(double)INFINITY &&
           s->best_cost - s->bound <=
               fmax(ckpd__nat_slotwise_gap(s, s->best_cost), ckpd__nat_slotwise_gap(s, s->bound));
}

static void write_plan(const nat_slotwise *s, ckpd_path_plan *plan)
{
    const ckpd_path_view *view = s->model.view;
    for (int32_t j = 0; j < view->jobs; j++) {
        plan->step_count[j] = 0;
        for (int32_t t = 0; t < view->slots; t++) {
            const nat_stage *stage = &s->stage[t];
            plan->slot_mode[(size_t)j * (size_t)view->slots + (size_t)stage->slot] =
                stage->combination[s->best[t]].mode[j];
        }
    }
}

/* After a pass: the plan goes to the host when it is better than before, by way of the result. */
static void tell(nat_slotwise *s, double before, ckpd_path_result *result)
{
    const ckpd_host *host = s->host;
    double offset = s->model.view->cost_offset;
    if (s->best_cost < before && host->keep_plan) {
        write_plan(s, result->plan);
        host->keep_plan(result->plan, offset + s->bound, host->user);
    }
    if (host->report)
        host->report(offset + s->best_cost, offset + s->bound, s->labels, s->passes, host->user);
}

/* Ever wider passes until nothing that was left out can be better. */
static int32_t widen(nat_slotwise *s, ckpd_path_result *result)
{
    /* The first pass is there to have a plan soon. */
    enum { FIRST = 16, SECOND = 256, FACTOR = 8, WIDEST = 1 << 17 };
    for (int32_t width = FIRST; width <= WIDEST; width = width < SECOND ? SECOND : width * FACTOR) {
        double left_out, before = s->best_cost;
        int32_t status = ckpd__nat_slotwise_pass(s, s->host, width, &left_out);
        if (status != CKPD_OK || s->stop) {
            return status;
        }
        s->bound = fmax(s->bound, fmin(left_out, s->best_cost));
        tell(s, before, result);
        if (is_near(s) || !(left_out < (double)INFINITY)) {
            return CKPD_OK;
        }
    }
    s->stop = 1;
    return CKPD_OK;
}

static void write_answer(const nat_slotwise *s, ckpd_path_result *result)
{
    const ckpd_path_view *view = s->model.view;
    bool found = s->best_cost < (double)INFINITY;
    result->has_plan = found;
    result->objective = view->cost_offset + s->best_cost;
    result->bound = view->cost_offset + fmin(s->bound, s->best_cost);
    result->iterations = s->labels;
    result->nodes = s->passes;
    if (found) {
        write_plan(s, result->plan);
    }
    if (is_near(s)) {
        result->outcome = CKPD_OUTCOME_OPTIMAL;
    } else if (s->stop == 2) {
        result->outcome = CKPD_OUTCOME_CANCELLED;
    } else if (s->stop) {
        result->outcome = found ? CKPD_OUTCOME_FEASIBLE : CKPD_OUTCOME_NO_PLAN;
    } else {
        result->outcome = found ? CKPD_OUTCOME_FEASIBLE : CKPD_OUTCOME_INFEASIBLE;
    }
}

/* The order of the slots and the multipliers: with them the checker finds how few plans are left.
 */
static int32_t certify(const nat_slotwise *s, const ckpd_host *host, const ckpd_path_result *result,
                       nat_certificate *certificate)
{
    size_t T = (size_t)s->model.slots, J = (size_t)s->model.jobs;
    *certificate = (nat_certificate){
        .host = host,
        .slots = s->model.slots,
        .slotwise = 1,
        .cutoff = result->outcome == CKPD_OUTCOME_INFEASIBLE ? (double)INFINITY : result->bound};
    certificate->order = host->allocate(T * sizeof(int32_t), host->user);
    certificate->multiplier = host->allocate((T + 2) * J * sizeof(double), host->user);
    if (!certificate->order || !certificate->multiplier) {
        ckpd__nat_certificate_free(certificate);
        return CKPD_ERR_NO_MEMORY;
    }
    certificate->jobs = s->model.jobs;
    for (size_t t = 0; t < T; t++)
        certificate->order[t] = s->stage[t].slot;
    for (size_t t = 0; t <= T; t++)
        memcpy(certificate->multiplier + t * J, s->ahead[t], J * sizeof(double));
    memcpy(certificate->multiplier + (T + 1) * J, s->multiplier, J * sizeof(double));
    return CKPD_OK;
}

int32_t ckpd__nat_slotwise_solve(const ckpd_host *host, const ckpd_path_view *view,
                                 const ckpd_solve_params *params, ckpd_path_result *result,
                                 nat_certificate *certificate)
{
    nat_memory memory = {.host = host};
    nat_slotwise s = {
        .host = host, .params = params, .best_cost = (double)INFINITY, .bound = -(double)INFINITY};
    int32_t status = view->jobs <= NAT_SLOTWISE_JOBS && !view->storage ? build(&s, &memory, view)
                                                                       : CKPD_ERR_NOT_SUPPORTED;
    if (status == CKPD_OK) {
        if (is_possible(&s)) {
            ckpd__nat_slotwise_prepare(&s);
            s.bound = s.root_bound;
            status = widen(&s, result);
        } else {
            s.bound = (double)INFINITY;
        }
        if (status == CKPD_OK) {
            write_answer(&s, result);
        }
        if (status == CKPD_OK && certificate) {
            status = certify(&s, host, result, certificate);
        }
    }
    ckpd__nat_release(&memory);
    return status;
}
