/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/dual.h"
#include "solver/native/storage.h"

#include <float.h>
#include <math.h>

int32_t ckpd__nat_dual_init(nat_dual *dual, nat_memory *memory, const nat_model *model, nat_stack *stack)
{
    size_t J = (size_t)model->jobs, T = (size_t)model->slots;
    *dual = (nat_dual){.model = model, .stack = stack};
    dual->layout.job = ckpd__nat_alloc(memory, J, sizeof(size_t));
    dual->job_price = ckpd__nat_alloc(memory, J, sizeof *dual->job_price);
    dual->job_forbidden = ckpd__nat_alloc(memory, J, sizeof *dual->job_forbidden);
    dual->path = ckpd__nat_alloc(memory, J, sizeof *dual->path);
    dual->path_value = ckpd__nat_alloc(memory, J, sizeof *dual->path_value);
    dual->choice = ckpd__nat_alloc(memory, T * J, sizeof *dual->choice);
    dual->slot_value = ckpd__nat_alloc(memory, T, sizeof *dual->slot_value);
    dual->draw = ckpd__nat_alloc(memory, T, sizeof *dual->draw);
    dual->worth = ckpd__nat_alloc(memory, T, sizeof *dual->worth);
    dual->level = ckpd__nat_alloc(memory, T + 1, sizeof *dual->level);
    if (!dual->layout.job || !dual->job_price || !dual->job_forbidden || !dual->path || !dual->path_value ||
        !dual->choice || !dual->slot_value || !dual->draw || !dual->level || !dual->worth ||
        !ckpd__nat_path_work_init(&dual->path_work, memory, model) ||
        !ckpd__nat_slot_work_init(&dual->slot_work, memory, stack))
        return CKPD_ERR_NO_MEMORY;
    for (size_t j = 0; j < J; j++) {
        dual->layout.job[j] = dual->layout.size;
        dual->layout.size += (size_t)model->job[j].activities * T;
        if (!ckpd__nat_path_init(&dual->path[j], memory, model->slots))
            return CKPD_ERR_NO_MEMORY;
    }
    dual->layout.worth = dual->layout.size;
    dual->layout.kwh = 1;
    if (model->storage) {
        const ckpd_path_storage *s = model->storage;
        dual->layout.size += T;
        dual->layout.kwh = fmax(fmax(s->charge_max_kw, s->discharge_max_kw) * model->view->slot_hours, 1e-9);
    }
    dual->price = ckpd__nat_alloc(memory, dual->layout.size, sizeof *dual->price);
    if (!dual->price)
        return CKPD_ERR_NO_MEMORY;
    for (size_t j = 0; j < J; j++)
        dual->job_price[j] = dual->price + dual->layout.job[j];
    return CKPD_OK;
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
                most = fmax(most, fabs(dual->job_price[j][(size_t)a * (size_t)model->slots + (size_t)t]));
            *size += 2 * most;
        }
    }
    return sum;
}

static double evaluate_slots(nat_dual *dual, double *size)
{
    const nat_model *model = dual->model;
    const nat_stack *stack = dual->stack;
    double sum = 0;
    for (int32_t t = 0; t < model->slots; t++) {
        int32_t level;
        if (model->storage)
            ckpd__nat_stack_cost(dual->stack, model, t, dual->worth[t]);
        double value = ckpd__nat_slot_solve(&dual->slot_work, stack, model, t, dual->job_price,
                                            dual->job_forbidden,
                                            dual->choice + (size_t)t * (size_t)model->jobs, &level);
        dual->slot_value[t] = value;
        sum += value;
        if (!(sum < (double)INFINITY))
            return sum;
        *size += fabs(value);
        if (model->storage)
            dual->draw[t] = stack->charge[(size_t)t * (size_t)stack->levels[stack->jobs] + (size_t)level];
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
    for (size_t t = 0; model->storage && t < (size_t)model->slots; t++)
        dual->worth[t] = dual->price[dual->layout.worth + t] / dual->layout.kwh;
    value += evaluate_paths(dual, &size);
    if (value < (double)INFINITY)
        value += evaluate_slots(dual, &size);
    if (value < (double)INFINITY && model->storage)
        value += ckpd__nat_storage_levels(model, dual->worth, dual->level, &size);
    if (value < (double)INFINITY)
        value -= rounding(model->slots + model->jobs, size);
    dual->value = value;
    return value;
}

void ckpd__nat_dual_direction(const nat_dual *dual, double *direction)
{
    const nat_model *model = dual->model;
    size_t T = (size_t)model->slots, J = (size_t)model->jobs;
    for (size_t j = 0; j < J; j++)
        for (size_t t = 0; t < T; t++) {
            size_t run = (size_t)dual->path[j].activity[t], fits = (size_t)dual->choice[t * J + j];
            if (run != fits) {
                direction[dual->layout.job[j] + run * T + t] += 1;
                direction[dual->layout.job[j] + fits * T + t] -= 1;
            }
        }
    for (size_t t = 0; model->storage && t < T; t++)
        direction[dual->layout.worth + t] +=
            (dual->level[t + 1] - dual->level[t] * model->storage->retention -
             ckpd__nat_storage_stored(model, dual->draw[t])) /
            dual->layout.kwh;
}

void ckpd__nat_dual_excess(nat_dual *dual, double *excess, double *scratch)
{
    const nat_model *model = dual->model;
    size_t T = (size_t)model->slots;
    for (int32_t j = 0; j < model->jobs; j++) {
        const nat_job *job = &model->job[j];
        int64_t edges = 0;
        double value = ckpd__nat_path_solve(&dual->path_work, model, job, dual->job_price[j],
                                            dual->job_forbidden[j]);
        double *own = excess + dual->layout.job[j];
        ckpd__nat_path_marginals(&dual->path_work, model, job, own, 0, &edges);
        for (size_t i = 0; i < (size_t)job->activities * T; i++)
            own[i] -= value;
    }
    for (int32_t t = 0; t < model->slots; t++) {
        int32_t level;
        int32_t *choice = dual->choice + (size_t)t * (size_t)model->jobs;
        double value = ckpd__nat_slot_solve(&dual->slot_work, dual->stack, model, t, dual->job_price,
                                            dual->job_forbidden, choice, &level);
        ckpd__nat_slot_marginals(&dual->slot_work, dual->stack, model, t, dual->job_price,
                                 dual->job_forbidden, scratch, dual->layout.job);
        for (int32_t j = 0; j < model->jobs; j++)
            for (size_t a = 0; a < (size_t)model->job[j].activities; a++) {
                size_t i = dual->layout.job[j] + a * T + (size_t)t;
                excess[i] += scratch[i] - value;
            }
    }
}
