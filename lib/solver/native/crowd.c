/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/crowd.h"
#include "solver/native/warm.h"

#include <math.h>
#include <string.h>

#define NONE ((double)INFINITY)

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
    crowd->row = ckpd__nat_alloc(memory, 2 * T, sizeof *crowd->row);
    crowd->wanted = ckpd__nat_alloc(memory, T, sizeof *crowd->wanted);
    crowd->worth = ckpd__nat_alloc(memory, T, sizeof *crowd->worth);
    crowd->best_worth = ckpd__nat_alloc(memory, T, sizeof *crowd->best_worth);
    bool ok = crowd->best_worth && crowd->work && crowd->job_price && crowd->path &&
              crowd->path_value && crowd->price && crowd->best_price && crowd->row &&
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

static void tell(nat_crowd *crowd)
{
    ckpd__nat_primal_keep(&crowd->primal, &crowd->best, crowd->bound);
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

/* xorshift64 of Marsaglia 2003: [0, 1). */
static double draw(nat_crowd *crowd)
{
    crowd->random ^= crowd->random << 13;
    crowd->random ^= crowd->random >> 7;
    crowd->random ^= crowd->random << 17;
    return (double)(crowd->random >> 11) / 9007199254740992.0;
}

/*
 * A plan from the mixture of paths: of each job the path with the largest share or, every other
 * time, one drawn by the shares; then one job after the other follows the power of the mixture,
 * ever less, and at last true cost alone.
 */
static void offer_mixture(nat_crowd *crowd)
{
    static const double strength[] = {0.3, 0.03, 0.003};
    double pull = crowd->primal.pull_unit * strength[crowd->turn / 2 % 3];
    bool largest = crowd->turn++ % 2 == 0;
    ckpd__nat_master_target(&crowd->master, crowd->primal.target);
    for (int32_t j = 0; j < crowd->model->jobs; j++)
        ckpd__nat_path_copy(&crowd->trial.path[j],
                            ckpd__nat_master_pick(&crowd->master, j, largest ? -1 : draw(crowd)),
                            crowd->model->slots);
    descend(crowd, 1, pull);
    if (!crowd->stop)
        descend(crowd, 1, 0.1 * pull);
    if (!crowd->stop)
        descend(crowd, 1, 0);
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

/* Length of the first step: Polyak's, towards the best plan or a little beyond what is known. */
static double first_length(const nat_crowd *crowd)
{
    const nat_model *model = crowd->model;
    double square = 0, goal = 0.1 * (1 + fabs(crowd->bound));
    for (int32_t t = 0; t < model->slots; t++) {
        double off = -crowd->wanted[t], gpus = -model->gpus_free[t];
        for (int32_t j = 0; j < model->jobs; j++) {
            off += model->view->load_factor[t] * model->job[j].kw[crowd->path[j].activity[t]];
            gpus += model->job[j].gpus[crowd->path[j].activity[t]];
        }
        off += model->fixed_kw[t];
        gpus = crowd->prices_gpus ? fmax(gpus, 0) * crowd->kw_per_gpu : 0;
        square += off * off + gpus * gpus;
    }
    if (crowd->best.cost < NONE)
        goal = fmax(crowd->best.cost - crowd->bound, 1e-6 * goal);
    return square > 0 ? goal / square : 1;
}

/* Gives the master the answers of all blocks. */
static void teach(nat_crowd *crowd, double value)
{
    const nat_model *model = crowd->model;
    size_t T = (size_t)model->slots;
    nat_master *master = &crowd->master;
    for (int32_t j = 0; j < model->jobs; j++) {
        const nat_job *job = &model->job[j];
        for (size_t t = 0; t < T; t++) {
            int32_t a = crowd->path[j].activity[t];
            crowd->row[t] = model->view->load_factor[t] * job->kw[a];
            crowd->row[T + t] = crowd->kw_per_gpu * job->gpus[a];
        }
        ckpd__nat_master_add(master, j, crowd->price, crowd->row, crowd->path_value[j],
                             &crowd->path[j]);
    }
    memset(crowd->row, 0, 2 * T * sizeof *crowd->row);
    for (size_t t = 0; t < T; t++) {
        crowd->row[t] = model->fixed_kw[t] - crowd->wanted[t];
        if (crowd->prices_gpus)
            master->room[T + t] = model->gpus_free[t] * crowd->kw_per_gpu;
    }
    if (!master->count)
        ckpd__nat_master_add(master, model->jobs, crowd->price, crowd->row, crowd->slots_value,
                             NULL);
    ckpd__nat_master_note(master, crowd->price, value, master->started ? 0 : first_length(crowd));
}

/* Keeps the prices of the best bound. */
static void note_bound(nat_crowd *crowd, double value)
{
    size_t T = (size_t)crowd->model->slots;
    if (!(value > crowd->bound))
        return;
    crowd->bound = value;
    memcpy(crowd->best_price, crowd->price, 2 * T * sizeof *crowd->price);
    memcpy(crowd->best_worth, crowd->worth, T * sizeof *crowd->worth);
    tell(crowd);
}

/*
 * Until the columns promise next to nothing. Plans are made from their mixture every few rounds,
 * once that is near its end.
 */
static void climb(nat_crowd *crowd)
{
    static const double LEAST_HOPE = 1e-5, RIPE = 0.01;
    enum { PLANS_EVERY = 5, MOST_ROUNDS = 1000 };
    double ceiling = ckpd__nat_cost_ceiling(crowd->model);
    for (int32_t round = 0; round < MOST_ROUNDS && !ckpd__nat_crowd_is_closed(crowd); round++) {
        double value = ckpd__nat_crowd_evaluate(crowd);
        if (must_stop(crowd))
            return;
        note_bound(crowd, value);
        if (crowd->bound >= ceiling)
            return;
        teach(crowd, value);
        double size = fabs(crowd->bound),
               hope = fmax(crowd->master.gain + crowd->master.miss, crowd->master.miss);
        bool ripe = round > 0 && hope <= RIPE * size;
        if (round > 0 && hope <= LEAST_HOPE * size)
            return;
        ckpd__nat_master_next(&crowd->master, crowd->price);
        crowd->stop = crowd->stop ? crowd->stop : crowd->master.stop;
        if (crowd->stop)
            return;
        if (round % PLANS_EVERY == PLANS_EVERY - 1 && (ripe || !(crowd->best.cost < NONE)))
            offer_mixture(crowd);
        if (crowd->stop)
            return;
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
    enum { OFFERS = 6 /* strengths of following, times two ways to begin */ };
    const nat_model *model = crowd->model;
    if (!(crowd->best.cost < NONE) || model->jobs < 2)
        return CKPD_OK;
    for (int32_t in_vain = 0;
         in_vain < 2 * OFFERS && !ckpd__nat_crowd_is_closed(crowd) && !must_stop(crowd);) {
        double before = crowd->best.cost;
        offer_mixture(crowd);
        in_vain = crowd->best.cost < before ? 0 : in_vain + 1;
    }
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
