/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/crowd.h"
#include "solver/native/warm.h"

#include <math.h>
#include <string.h>

#define NONE ((double)INFINITY)

/* Share of the last direction that goes on. */
static const double MOMENTUM = 0.5;

int32_t ckpd__nat_crowd_init(nat_crowd *crowd, nat_memory *memory, const nat_model *model,
                             const ckpd_solve_params *params)
{
    size_t T = (size_t)model->slots;
    *crowd = (nat_crowd){
        .model = model, .host = memory->host, .params = params, .bound = -NONE, .random = 1};
    crowd->threads = params->threads < 1 ? 1 : params->threads > 64 ? 64 : params->threads;
    crowd->work = ckpd__nat_alloc(memory, (size_t)crowd->threads, sizeof *crowd->work);
    crowd->job_price = ckpd__nat_alloc(memory, (size_t)crowd->threads, sizeof *crowd->job_price);
    crowd->path = ckpd__nat_alloc(memory, (size_t)model->jobs, sizeof *crowd->path);
    crowd->path_value = ckpd__nat_alloc(memory, (size_t)model->jobs, sizeof *crowd->path_value);
    crowd->price = ckpd__nat_alloc(memory, 2 * T, sizeof *crowd->price);
    crowd->best_price = ckpd__nat_alloc(memory, 2 * T, sizeof *crowd->best_price);
    crowd->direction = ckpd__nat_alloc(memory, 2 * T, sizeof *crowd->direction);
    crowd->wanted = ckpd__nat_alloc(memory, T, sizeof *crowd->wanted);
    crowd->worth = ckpd__nat_alloc(memory, T, sizeof *crowd->worth);
    crowd->best_worth = ckpd__nat_alloc(memory, T, sizeof *crowd->best_worth);
    bool ok = crowd->best_worth && crowd->work && crowd->job_price && crowd->path &&
              crowd->path_value && crowd->price && crowd->best_price && crowd->direction &&
              crowd->wanted && crowd->worth;
    for (int32_t i = 0; ok && i < crowd->threads; i++) {
        crowd->job_price[i] =
            ckpd__nat_alloc(memory, (size_t)model->activities * T, sizeof(double));
        ok = crowd->job_price[i] && ckpd__nat_path_work_init(&crowd->work[i], memory, model);
    }
    for (int32_t j = 0; ok && j < model->jobs; j++)
        ok = ckpd__nat_path_init(&crowd->path[j], memory, model->slots);
    ok = ok && ckpd__nat_crowd_bound_init(crowd, memory) &&
         ckpd__nat_primal_init(&crowd->primal, memory, model) &&
         ckpd__nat_plan_init(&crowd->best, memory, model) &&
         ckpd__nat_plan_init(&crowd->trial, memory, model);
    return ok ? CKPD_OK : CKPD_ERR_NO_MEMORY;
}

void ckpd__nat_crowd_free(nat_crowd *crowd)
{
    if (crowd->reservoir.model)
        ckpd__nat_reservoir_free(&crowd->reservoir);
    ckpd__nat_primal_free(&crowd->primal);
}

/* --- plans
 * -----------------------------------------------------------------------------------------------
 */

static void tell(const nat_crowd *crowd)
{
    if (crowd->host->report)
        crowd->host->report(crowd->best.cost, crowd->bound, crowd->iterations, 0,
                            crowd->host->user);
}

static void keep_better(nat_crowd *crowd)
{
    if (!(crowd->trial.cost < crowd->best.cost))
        return;
    ckpd__nat_plan_copy(crowd->model, &crowd->best, &crowd->trial);
    tell(crowd);
}

static void descend(nat_crowd *crowd, int32_t passes, double pull)
{
    memcpy(crowd->primal.worth, crowd->worth, (size_t)crowd->model->slots * sizeof *crowd->worth);
    crowd->primal.pull = pull;
    ckpd__nat_primal_descend(&crowd->primal, &crowd->trial, passes);
    crowd->primal.pull = 0;
    crowd->stop = crowd->stop ? crowd->stop : crowd->primal.stop;
    keep_better(crowd);
}

/* From the bound's paths: follow their mean power, ever less, then true cost alone. */
static void offer_paths(nat_crowd *crowd)
{
    static const double strength[] = {0.1, 0.01, 0.001};
    double pull = crowd->primal.pull_unit * strength[crowd->turn++ % 3];
    for (int32_t j = 0; j < crowd->model->jobs; j++)
        ckpd__nat_path_copy(&crowd->trial.path[j], &crowd->path[j], crowd->model->slots);
    descend(crowd, 1, pull);
    if (!crowd->stop)
        descend(crowd, 1, 0.1 * pull);
    if (!crowd->stop)
        descend(crowd, 2, 0);
}

static void first_plan(nat_crowd *crowd)
{
    if (ckpd__nat_primal_start(&crowd->primal, &crowd->trial)) {
        ckpd__nat_primal_cost(&crowd->primal, &crowd->trial);
        keep_better(crowd);
    }
    crowd->stop = crowd->primal.stop;
    for (int32_t round = 0; round < (crowd->model->storage ? 2 : 1) && !crowd->stop; round++) {
        descend(crowd, 3, 0);
        if (crowd->model->storage && crowd->trial.cost < NONE)
            memcpy(crowd->worth, crowd->primal.found_worth,
                   (size_t)crowd->model->slots * sizeof *crowd->worth);
    }
}

/* xorshift64 of Marsaglia 2003: [0, 1). */
static double draw(nat_crowd *crowd)
{
    crowd->random ^= crowd->random << 13;
    crowd->random ^= crowd->random >> 7;
    crowd->random ^= crowd->random << 17;
    return (double)(crowd->random >> 11) / 9007199254740992.0;
}

/* New path for job j at slot costs that are off by up to `noise`, with `kw` and `gpus` of others in
 * the way. */
static void replace_path(nat_crowd *crowd, int32_t j, double noise, const nat_path *ahead,
                         const nat_job *other)
{
    const nat_model *model = crowd->model;
    const nat_job *job = &model->job[j];
    nat_primal *primal = &crowd->primal;
    size_t T = (size_t)model->slots;
    for (int32_t t = 0; t < model->slots; t++) {
        double kw = primal->kw[t] + (ahead ? other->kw[ahead->activity[t]] : 0);
        double gpus = primal->gpus[t] + (ahead ? other->gpus[ahead->activity[t]] : 0);
        double off = 1 + noise * (2 * draw(crowd) - 1),
               idle = ckpd__nat_primal_slot(primal, t, gpus, kw);
        for (int32_t a = 0; a < job->activities; a++)
            primal->price[(size_t)a * T + (size_t)t] =
                off *
                (ckpd__nat_primal_slot(primal, t, gpus + job->gpus[a], kw + job->kw[a]) - idle);
    }
    if (ckpd__nat_path_solve(&primal->path_work, model, job, primal->price, NULL) < NONE)
        ckpd__nat_path_trace(&primal->path_work, model, job, &crowd->trial.path[j]);
}

/* Two jobs of the best plan move together: the first at blurred costs, then each beside the other.
 */
static void exchange(nat_crowd *crowd)
{
    const nat_model *model = crowd->model;
    nat_primal *primal = &crowd->primal;
    int32_t a = (int32_t)(draw(crowd) * model->jobs),
            b = (int32_t)(draw(crowd) * (model->jobs - 1));
    b += b >= a;
    nat_path *path = crowd->trial.path;
    ckpd__nat_path_copy(&path[a], &crowd->best.path[a], model->slots);
    ckpd__nat_path_copy(&path[b], &crowd->best.path[b], model->slots);
    memcpy(primal->worth, crowd->worth, (size_t)model->slots * sizeof *crowd->worth);
    ckpd__nat_primal_add(primal, a, &path[a], -1);
    ckpd__nat_primal_add(primal, b, &path[b], -1);
    replace_path(crowd, a, 0.3, &path[b], &model->job[b]);
    ckpd__nat_primal_add(primal, a, &path[a], 1);
    replace_path(crowd, b, 0, NULL, NULL);
    ckpd__nat_primal_add(primal, a, &path[a], -1);
    ckpd__nat_primal_add(primal, b, &path[b], 1);
    replace_path(crowd, a, 0, NULL, NULL);
    ckpd__nat_primal_cost(primal, &crowd->trial);
    keep_better(crowd);
    ckpd__nat_path_copy(&path[a], &crowd->best.path[a], model->slots);
    ckpd__nat_path_copy(&path[b], &crowd->best.path[b], model->slots);
}

/* --- the bound
 * --------------------------------------------------------------------------------------------- */

static bool must_stop(nat_crowd *crowd)
{
    crowd->iterations++;
    if (crowd->stop == 0 && crowd->host->should_stop)
        crowd->stop = crowd->host->should_stop(crowd->host->user);
    if (crowd->stop == 0 && crowd->params->iteration_limit >= 0 &&
        crowd->iterations >= crowd->params->iteration_limit)
        crowd->stop = 1;
    return crowd->stop != 0;
}

bool ckpd__nat_crowd_is_closed(const nat_crowd *crowd)
{
    if (!(crowd->best.cost < NONE) || !(crowd->bound > -NONE))
        return false;
    double gap = crowd->best.cost - crowd->bound,
           size = fmax(fabs(crowd->best.cost), fabs(crowd->bound));
    return gap <= fmax(crowd->params->absolute_gap, crowd->params->relative_gap * size);
}

/* First prices: the slope of each slot's cost at the mean load of the first plan. */
static void first_prices(nat_crowd *crowd)
{
    const nat_model *model = crowd->model;
    double mean = 0;
    ckpd__nat_primal_sum(&crowd->primal, &crowd->trial);
    for (int32_t t = 0; t < model->slots; t++)
        mean += crowd->primal.kw[t] / model->slots;
    double width = fmax(0.1 * mean, 1e-6);
    for (int32_t t = 0; t < model->slots; t++) {
        double low = ckpd__nat_primal_slot(&crowd->primal, t, 0, mean - width);
        double high = ckpd__nat_primal_slot(&crowd->primal, t, 0, mean + width);
        double slope = (high - low) / (2 * width * fmax(model->view->load_factor[t], 1e-9));
        crowd->price[t] = fabs(slope) < crowd->primal.penalty ? slope : 0;
    }
}

/* Moves the mean power of the paths on and the direction of ascent with it; returns its squared
 * length. */
static double turn(nat_crowd *crowd)
{
    const nat_model *model = crowd->model;
    size_t T = (size_t)model->slots;
    double weight = crowd->iterations < 10 ? 0.5 : 0.1, square = 0;
    for (int32_t j = 0; j < model->jobs; j++)
        ckpd__nat_path_copy(&crowd->trial.path[j], &crowd->path[j], model->slots);
    ckpd__nat_primal_sum(&crowd->primal, &crowd->trial);
    for (int32_t t = 0; t < model->slots; t++) {
        double kw = crowd->primal.kw[t], *own = &crowd->direction[t];
        crowd->primal.target[t] += weight * (kw - crowd->primal.target[t]);
        own[0] = MOMENTUM * own[0] + (nat_load(model, t, kw) - crowd->wanted[t]);
        square += own[0] * own[0];
        if (!crowd->prices_gpus)
            continue;
        own[T] =
            MOMENTUM * own[T] + (crowd->primal.gpus[t] - model->gpus_free[t]) * crowd->kw_per_gpu;
        if (crowd->price[T + (size_t)t] > 0 || own[T] > 0)
            square += own[T] * own[T];
    }
    return square;
}

static void take_step(nat_crowd *crowd, double length)
{
    size_t T = (size_t)crowd->model->slots;
    for (size_t t = 0; t < T; t++) {
        crowd->price[t] += length * crowd->direction[t];
        if (crowd->prices_gpus)
            crowd->price[T + t] = fmax(crowd->price[T + t] + length * crowd->direction[T + t], 0);
    }
}

/* Polyak's step towards the best plan; plans are made from its paths every few evaluations. */
static void climb(nat_crowd *crowd)
{
    enum { PATIENCE = 6, PLANS_EVERY = 5 };
    double step = 0.4, reach = 0, notable = -NONE, ceiling = ckpd__nat_cost_ceiling(crowd->model);
    int32_t quiet = 0;
    for (int32_t round = 0; step > 0.004 && !ckpd__nat_crowd_is_closed(crowd); round++) {
        double value = ckpd__nat_crowd_evaluate(crowd);
        if (must_stop(crowd))
            return;
        if (value > crowd->bound) {
            crowd->bound = value;
            memcpy(crowd->best_price, crowd->price,
                   2 * (size_t)crowd->model->slots * sizeof *crowd->price);
            memcpy(crowd->best_worth, crowd->worth,
                   (size_t)crowd->model->slots * sizeof *crowd->worth);
        }
        if (crowd->bound >= ceiling)
            return;
        bool found = crowd->best.cost < NONE;
        double goal = found ? crowd->best.cost : crowd->bound + reach;
        if (round == 0 || crowd->bound > notable + 1e-2 * fabs(goal - crowd->bound)) {
            notable = crowd->bound;
            tell(crowd);
            quiet = 0;
            reach = reach > 0 ? 1.5 * reach : 0.1 * (1 + fabs(crowd->bound));
        } else if (++quiet > PATIENCE) {
            quiet = 0;
            step *= 0.7;
            reach *= 0.5;
        }
        double square = turn(crowd);
        if (square <= 0)
            return;
        if (round % PLANS_EVERY == PLANS_EVERY - 1)
            offer_paths(crowd);
        if (crowd->stop)
            return;
        take_step(crowd, fmax(step * (goal - value), 0) / square);
    }
}

int32_t ckpd__nat_crowd_run(nat_crowd *crowd)
{
    first_plan(crowd);
    first_prices(crowd);
    ckpd__nat_warm_crowd(crowd);
    if (!crowd->stop)
        climb(crowd);
    bool kept = ckpd__nat_keep_crowd(crowd);
    return !kept || crowd->reservoir.failed || crowd->primal.dispatch.failed ? CKPD_ERR_NO_MEMORY
                                                                             : CKPD_OK;
}

int32_t ckpd__nat_crowd_improve(nat_crowd *crowd)
{
    const nat_model *model = crowd->model;
    if (!(crowd->best.cost < NONE) || model->jobs < 2)
        return CKPD_OK;
    ckpd__nat_plan_copy(model, &crowd->trial, &crowd->best);
    for (int64_t in_vain = 0; in_vain < 20 * (int64_t)model->jobs &&
                              !ckpd__nat_crowd_is_closed(crowd) && !must_stop(crowd);) {
        double before = crowd->best.cost;
        ckpd__nat_primal_sum(&crowd->primal, &crowd->best);
        exchange(crowd);
        in_vain = crowd->best.cost < before ? 0 : in_vain + 1;
    }
    return crowd->primal.dispatch.failed ? CKPD_ERR_NO_MEMORY : CKPD_OK;
}

int32_t ckpd__nat_crowd_certify(nat_crowd *crowd, nat_certificate *certificate)
{
    const nat_model *model = crowd->model;
    size_t T = (size_t)model->slots;
    if (!ckpd__nat_certificate_start(certificate, model, crowd->host))
        return CKPD_ERR_NO_MEMORY;
    certificate->many = 1;
    certificate->prices = 2 * T;
    certificate->kw_per_gpu = crowd->prices_gpus ? crowd->kw_per_gpu : 0;
    certificate->cutoff = crowd->bound;
    nat_proof *node = ckpd__nat_certificate_add(certificate);
    if (!node)
        return CKPD_ERR_NO_MEMORY;
    node->parent = -1;
    memcpy(node->price, crowd->best_price, 2 * T * sizeof *node->price);
    memcpy(node->worth, crowd->best_worth, T * sizeof *node->worth);
    return CKPD_OK;
}
