/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/dual.h"
#include "solver/native/storage.h"

#include <float.h>
#include <math.h>
#include <string.h>

static bool init_reservoir(nat_dual *dual, nat_memory *memory)
{
    const nat_model *model = dual->model;
    const nat_stack *stack = dual->stack;
    nat_memory scratch = {.host = memory->host};
    size_t levels = (size_t)stack->levels[stack->jobs], T = (size_t)model->slots;
    double *load = ckpd__nat_alloc(&scratch, 2 * T * levels, sizeof *load);
    double *extra = load ? load + T * levels : NULL;
    for (size_t i = 0; load && i < T * levels; i++) {
        nat_level total = stack->total[i % levels];
        int32_t t = (int32_t)(i / levels);
        load[i] = ckpd__nat_fits(model, t, total.gpus, total.kw) ? nat_load(model, t, total.kw)
                                                                 : (double)INFINITY;
        extra[i] = ckpd__nat_soft(model, t, total.gpus, nat_load(model, t, total.kw));
    }
    bool ok = load && ckpd__nat_reservoir_init(&dual->reservoir, memory, model, (int32_t)levels,
                                               load, extra);
    ckpd__nat_release(&scratch);
    return ok;
}

int32_t ckpd__nat_dual_init(nat_dual *dual, nat_memory *memory, const nat_model *model,
                            nat_stack *stack)
{
    size_t J = (size_t)model->jobs, T = (size_t)model->slots;
    *dual = (nat_dual){.model = model, .stack = stack};
    dual->layout.job = ckpd__nat_alloc(memory, J, sizeof(size_t));
    dual->job_price = ckpd__nat_alloc(memory, J, sizeof *dual->job_price);
    dual->job_forbidden = ckpd__nat_alloc(memory, J, sizeof *dual->job_forbidden);
    dual->path = ckpd__nat_alloc(memory, J, sizeof *dual->path);
    dual->path_value = ckpd__nat_alloc(memory, J, sizeof *dual->path_value);
    dual->choice = ckpd__nat_alloc(memory, 2 * T * J, sizeof *dual->choice);
    dual->slot_value = ckpd__nat_alloc(memory, T, sizeof *dual->slot_value);
    dual->part = ckpd__nat_alloc(memory, T, sizeof *dual->part);
    dual->worth = ckpd__nat_alloc(memory, T, sizeof *dual->worth);
    if (!dual->layout.job || !dual->job_price || !dual->job_forbidden || !dual->path ||
        !dual->path_value || !dual->choice || !dual->part || !dual->slot_value || !dual->worth ||
        !ckpd__nat_path_work_init(&dual->path_work, memory, model) ||
        !ckpd__nat_slot_work_init(&dual->slot_work, memory, stack, model->slots,
                                  model->storage != NULL) ||
        (model->storage && !init_reservoir(dual, memory)))
        return CKPD_ERR_NO_MEMORY;
    for (size_t j = 0; j < J; j++) {
        dual->layout.job[j] = dual->layout.size;
        dual->layout.size += (size_t)model->job[j].activities * T;
        if (!ckpd__nat_path_init(&dual->path[j], memory, model->slots))
            return CKPD_ERR_NO_MEMORY;
    }
    dual->price = ckpd__nat_alloc(memory, dual->layout.size, sizeof *dual->price);
    dual->narrowed = ckpd__nat_alloc(memory, dual->layout.size, sizeof *dual->narrowed);
    if (!dual->price || !dual->narrowed)
        return CKPD_ERR_NO_MEMORY;
    for (size_t j = 0; j < J; j++)
        dual->job_price[j] = dual->price + dual->layout.job[j];
    return CKPD_OK;
}

void ckpd__nat_dual_free(nat_dual *dual)
{
    if (dual->reservoir.model)
        ckpd__nat_reservoir_free(&dual->reservoir);
}

/* What rounding can have added to a sum of `terms` numbers whose sizes add up to `size`. */
static double rounding(double terms, double size)
{
    return 4 * DBL_EPSILON * terms * size;
}

static double evaluate_paths(nat_dual *dual, double *size)
{
    const nat_model *model = dual->model;
    double sum = 0;
    for (int32_t j = 0; j < model->jobs; j++) {
        const nat_job *job = &model->job[j];
        dual->path_value[j] = ckpd__nat_path_solve(&dual->path_work, model, job, dual->job_price[j],
                                                   dual->job_forbidden[j]);
        sum += dual->path_value[j];
        if (!(sum < (double)INFINITY))
            return sum;
        ckpd__nat_path_trace(&dual->path_work, model, job, &dual->path[j]);
        for (int32_t t = 0; t < model->slots; t++) {
            double most = 0;
            for (int32_t a = 0; a < job->activities; a++)
                most = fmax(most,
                            fabs(dual->job_price[j][(size_t)a * (size_t)model->slots + (size_t)t]));
            *size += 2 * most;
        }
    }
    return sum;
}

static double evaluate_slots(nat_dual *dual, double *size)
{
    const nat_model *model = dual->model;
    double sum = 0;
    for (int32_t t = 0; t < model->slots && sum < (double)INFINITY; t++) {
        int32_t level;
        double value = ckpd__nat_slot_solve(
            &dual->slot_work, dual->stack, model, t, dual->job_price, dual->job_forbidden,
            dual->choice + 2 * (size_t)t * (size_t)model->jobs, &level);
        dual->slot_value[t] = value;
        sum += value;
        *size += fabs(value);
    }
    return sum;
}

/* Whether the forbidden set is another one than last time, which is then noted. */
static bool has_changed(nat_dual *dual, const uint8_t *forbidden)
{
    bool same = true;
    for (size_t i = 0; i < dual->layout.size && same; i++)
        same = dual->narrowed[i] == (forbidden ? forbidden[i] : 0);
    if (!same && forbidden)
        memcpy(dual->narrowed, forbidden, dual->layout.size);
    else if (!same)
        memset(dual->narrowed, 0, dual->layout.size);
    return !same;
}

static double evaluate_reservoir(nat_dual *dual, const uint8_t *forbidden, double *size)
{
    const nat_model *model = dual->model;
    nat_reservoir *reservoir = &dual->reservoir;
    bool narrow = has_changed(dual, forbidden);
    for (int32_t t = 0; t < model->slots; t++) {
        const double *top = ckpd__nat_slot_climb(&dual->slot_work, dual->stack, model, t,
                                                 dual->job_price, dual->job_forbidden);
        if (narrow)
            ckpd__nat_reservoir_narrow(reservoir, t, top, -(double)INFINITY, (double)INFINITY);
        ckpd__nat_reservoir_slot(reservoir, t, top);
        if (dual->soft > 0)
            ckpd__nat_reservoir_soften(reservoir, t, dual->soft);
    }
    double sum = ckpd__nat_reservoir_solve(reservoir, dual->worth);
    if (!(sum < (double)INFINITY))
        return sum;
    for (int32_t t = 0; t < model->slots; t++) {
        nat_mixture mixture = reservoir->mixture[t];
        const nat_corner *corner =
            reservoir->corner + (size_t)t * (size_t)reservoir->most + mixture.left;
        int32_t *choice = dual->choice + 2 * (size_t)t * (size_t)model->jobs;
        dual->part[t] = mixture.part;
        ckpd__nat_slot_choice(&dual->slot_work, dual->stack, model, t, dual->job_price,
                              dual->job_forbidden, corner->level, choice);
        if (mixture.part > 0)
            ckpd__nat_slot_choice(&dual->slot_work, dual->stack, model, t, dual->job_price,
                                  dual->job_forbidden, corner[1].level, choice + model->jobs);
        *size += fabs(corner->cost) + fabs(dual->worth[t]) * model->storage->soc_max_kwh;
    }
    return sum;
}

double ckpd__nat_dual_evaluate(nat_dual *dual, const uint8_t *forbidden)
{
    const nat_model *model = dual->model;
    double size = fabs(model->view->cost_offset), value = model->view->cost_offset;
    dual->evaluations++;
    for (int32_t j = 0; j < model->jobs; j++)
        dual->job_forbidden[j] = forbidden ? forbidden + dual->layout.job[j] : NULL;
    value += evaluate_paths(dual, &size);
    if (value < (double)INFINITY)
        value += model->storage ? evaluate_reservoir(dual, forbidden, &size)
                                : evaluate_slots(dual, &size);
    if (value < (double)INFINITY)
        value -= rounding(model->slots + model->jobs, size);
    dual->value = value;
    return value;
}

void ckpd__nat_dual_direction(const nat_dual *dual, double *direction)
{
    const nat_model *model = dual->model;
    size_t T = (size_t)model->slots, J = (size_t)model->jobs;
    for (size_t j = 0; j < J; j++) {
        double *own = direction + dual->layout.job[j];
        for (size_t t = 0; t < T; t++) {
            const int32_t *choice = dual->choice + 2 * t * J + j;
            own[(size_t)dual->path[j].activity[t] * T + t] += 1;
            own[(size_t)choice[0] * T + t] -= 1 - dual->part[t];
            if (dual->part[t] > 0)
                own[(size_t)choice[J] * T + t] -= dual->part[t];
        }
    }
}

double ckpd__nat_dual_excess(nat_dual *dual, double *excess, double *scratch)
{
    const nat_model *model = dual->model;
    size_t T = (size_t)model->slots;
    double bound = model->view->cost_offset;
    for (int32_t j = 0; j < model->jobs; j++) {
        const nat_job *job = &model->job[j];
        int64_t edges = 0;
        double value = ckpd__nat_path_solve(&dual->path_work, model, job, dual->job_price[j],
                                            dual->job_forbidden[j]);
        bound += value;
        double *own = excess + dual->layout.job[j];
        ckpd__nat_path_marginals(&dual->path_work, model, job, own, 0, &edges);
        for (size_t i = 0; i < (size_t)job->activities * T; i++)
            own[i] -= value;
    }
    for (int32_t t = 0; t < model->slots; t++) {
        int32_t level;
        int32_t *choice = dual->choice + 2 * (size_t)t * (size_t)model->jobs;
        if (model->storage)
            ckpd__nat_stack_cost(dual->stack, model, t, dual->worth[t]);
        double value = ckpd__nat_slot_solve(&dual->slot_work, dual->stack, model, t,
                                            dual->job_price, dual->job_forbidden, choice, &level);
        bound += value;
        ckpd__nat_slot_marginals(&dual->slot_work, dual->stack, model, t, dual->job_price,
                                 dual->job_forbidden, scratch, dual->layout.job);
        for (int32_t j = 0; j < model->jobs; j++)
            for (size_t a = 0; a < (size_t)model->job[j].activities; a++) {
                size_t i = dual->layout.job[j] + a * T + (size_t)t;
                excess[i] += scratch[i] - value;
            }
    }
    if (!model->storage)
        return dual->value;
    bound += ckpd__nat_storage_levels(model, dual->worth);
    return fmin(dual->value, bound - 1e-10 * (1 + fabs(bound)));
}
