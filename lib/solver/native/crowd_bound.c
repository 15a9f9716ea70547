/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/crowd.h"
#include "solver/native/storage.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define NONE ((double)INFINITY)

enum { MOST_COLUMNS = 16 };

/* --- what the slots can choose
 * ------------------------------------------------------------------------- */

/* True when GPUs follow from power, so that a cap on GPUs is a cap on load. */
static bool proportional(const nat_model *model, double *kw_per_gpu)
{
    bool same = true;
    *kw_per_gpu = 0;
    for (int32_t j = 0; j < model->jobs; j++)
        for (int32_t a = 1; a < model->job[j].activities; a++) {
            double gpus = model->job[j].gpus[a], kw = model->job[j].kw[a];
            double ratio = gpus > 0 ? kw / gpus : NONE;
            same =
                same && gpus > 0 && (*kw_per_gpu <= 0 || fabs(ratio - *kw_per_gpu) <= 1e-9 * ratio);
            *kw_per_gpu = gpus > 0 && ratio > *kw_per_gpu ? ratio : *kw_per_gpu;
        }
    return same;
}

/* Largest site load of slot t that the caps and the jobs allow. */
static double most_load(const nat_crowd *crowd, int32_t t, bool by_gpus)
{
    const nat_model *model = crowd->model;
    double kw = 0, cap = model->view->load_cap_kw[t];
    for (int32_t j = 0; j < model->jobs; j++) {
        double own = 0;
        for (int32_t a = 0; a < model->job[j].activities; a++)
            own = fmax(own, model->job[j].kw[a]);
        kw += own;
    }
    if (by_gpus)
        kw = fmin(kw, fmax(model->gpus_free[t], 0) * crowd->kw_per_gpu * (1 + 1e-9));
    return fmin(nat_load(model, t, kw), cap + 1e-9 * (1 + fabs(cap)));
}

/* With piecewise-linear costs the best load is an end of its range or puts the net draw on a
 * breakpoint. */
static void fill_loads(nat_crowd *crowd, int32_t t, bool by_gpus)
{
    const nat_model *model = crowd->model;
    const ckpd_path_view *view = model->view;
    double low = model->fixed_kw[t], high = most_load(crowd, t, by_gpus);
    double *load = crowd->load + (size_t)t * (size_t)crowd->levels;
    double draws[3] = {0, 0, 0};
    int32_t count = 0;
    if (model->storage) {
        draws[1] = model->storage->charge_max_kw;
        draws[2] = -model->storage->discharge_max_kw;
    }
    for (int32_t l = 0; l < crowd->levels; l++)
        load[l] = NONE;
    if (low > high + 1e-9 * (1 + fabs(high)))
        return;
    load[count++] = low;
    load[count++] = fmax(high, low);
    for (int64_t i = view->curve_start[t]; i < view->curve_start[t + 1]; i++)
        for (int d = 0; d < (model->storage ? 3 : 1); d++) {
            double at = view->curve_x_kw[i] - draws[d];
            if (at > low && at < high)
                load[count++] = at;
        }
    for (int32_t l = 0; l < count; l++)
        crowd->load_cost[(size_t)t * (size_t)crowd->levels + (size_t)l] =
            ckpd__nat_curve(model, t, load[l]);
}

/* The same for the master, ascending and beside what is fixed; without slots where the costs are
 * not convex or hang together. */
static bool lend_slots(nat_crowd *crowd, nat_memory *memory)
{
    const nat_model *model = crowd->model;
    nat_master *master = &crowd->master;
    size_t T = (size_t)model->slots, L = (size_t)crowd->levels;
    if (model->storage || !model->convex)
        return true;
    master->levels = crowd->levels;
    master->at = ckpd__nat_alloc(memory, T * L, sizeof *master->at);
    master->cost = ckpd__nat_alloc(memory, T * L, sizeof *master->cost);
    master->count = ckpd__nat_alloc(memory, T, sizeof *master->count);
    if (!master->at || !master->cost || !master->count)
        return false;
    for (size_t t = 0; t < T; t++) {
        const double *load = crowd->load + t * L, *cost = crowd->load_cost + t * L;
        int32_t count = 0;
        for (size_t i = 0; i < L; i++) {
            size_t l = i == 0 ? 0 : i + 1 < L ? i + 1 : 1; /* low, between, high */
            if (!(load[l] < NONE) || (count > 0 && load[l] - model->fixed_kw[t] <=
                                                       master->at[t * L + (size_t)count - 1]))
                continue;
            master->at[t * L + (size_t)count] = load[l] - model->fixed_kw[t];
            master->cost[t * L + (size_t)count++] = cost[l];
        }
        master->count[t] = count > 0 ? count : 1;
    }
    return true;
}

bool ckpd__nat_crowd_bound_init(nat_crowd *crowd, nat_memory *memory)
{
    const nat_model *model = crowd->model;
    int64_t breakpoints = 0;
    for (int32_t t = 0; t < model->slots; t++) {
        int64_t own = model->view->curve_start[t + 1] - model->view->curve_start[t];
        breakpoints = own > breakpoints ? own : breakpoints;
    }
    crowd->levels = 2 + (model->storage ? 3 : 1) * (int32_t)breakpoints;
    size_t size = (size_t)model->slots * (size_t)crowd->levels;
    crowd->load = ckpd__nat_alloc(memory, size, sizeof *crowd->load);
    crowd->load_cost = ckpd__nat_alloc(memory, size, sizeof *crowd->load_cost);
    crowd->top = ckpd__nat_alloc(memory, (size_t)crowd->levels, sizeof *crowd->top);
    if (!crowd->load || !crowd->load_cost || !crowd->top)
        return false;
    bool by_gpus = proportional(model, &crowd->kw_per_gpu);
    crowd->prices_gpus = !by_gpus;
    for (int32_t t = 0; t < model->slots; t++)
        fill_loads(crowd, t, by_gpus);
    int32_t rows = crowd->prices_gpus ? 2 * model->slots : model->slots;
    if (!ckpd__nat_master_init(&crowd->master, memory, model, rows, MOST_COLUMNS) ||
        !lend_slots(crowd, memory))
        return false;
    return !model->storage || ckpd__nat_reservoir_init(&crowd->reservoir, memory, model,
                                                       crowd->levels, crowd->load, NULL);
}

/* --- the jobs' share
 * --------------------------------------------------------------------------------------- */

typedef struct nat_crowd_worker {
    nat_crowd *crowd;
    int32_t index;
    atomic_int *next, *stop;
} nat_crowd_worker;

void ckpd__nat_crowd_price(const nat_crowd *crowd, const double *slot_price, const nat_job *job,
                           double *price)
{
    const nat_model *model = crowd->model;
    size_t T = (size_t)model->slots;
    double per_gpu = crowd->prices_gpus ? crowd->kw_per_gpu : 0;
    for (int32_t a = 0; a < job->activities; a++)
        for (size_t t = 0; t < T; t++)
            price[(size_t)a * T + t] = slot_price[t] * model->view->load_factor[t] * job->kw[a] +
                                       slot_price[T + t] * per_gpu * job->gpus[a];
}

static void *run_worker(void *argument)
{
    nat_crowd_worker *self = argument;
    nat_crowd *crowd = self->crowd;
    const nat_model *model = crowd->model;
    nat_path_work *work = &crowd->work[self->index];
    double *price = crowd->job_price[self->index];
    for (;;) {
        int32_t j = atomic_fetch_add(self->next, 1);
        if (j >= model->jobs || atomic_load(self->stop))
            return NULL;
        const nat_job *job = &model->job[j];
        ckpd__nat_crowd_price(crowd, crowd->price, job, price);
        crowd->path_value[j] = ckpd__nat_path_solve(work, model, job, price, NULL);
        if (crowd->path_value[j] < NONE)
            ckpd__nat_path_trace(work, model, job, &crowd->path[j]);
        if (crowd->host->should_stop) {
            int32_t told = crowd->host->should_stop(crowd->host->user);
            if (told)
                atomic_store(self->stop, told);
        }
    }
}

/* Every job has its own place for its answer, so the number of threads changes nothing but the
 * time. */
static void evaluate_jobs(nat_crowd *crowd)
{
    atomic_int next = 0, stop = 0;
    nat_crowd_worker worker[64];
    pthread_t thread[64];
    bool runs[64] = {false};
    for (int32_t i = 0; i < crowd->threads; i++) {
        worker[i] = (nat_crowd_worker){crowd, i, &next, &stop};
        if (i > 0)
            runs[i] = pthread_create(&thread[i], NULL, run_worker, &worker[i]) == 0;
    }
    run_worker(&worker[0]);
    for (int32_t i = 1; i < crowd->threads; i++)
        if (runs[i])
            pthread_join(thread[i], NULL);
    crowd->stop = crowd->stop ? crowd->stop : atomic_load(&stop);
}

/* --- the slots' share
 * ---------------------------------------------------------------------------------------- */

static double load_price(const nat_crowd *crowd, int32_t t, double load)
{
    return -crowd->price[t] * (load - crowd->model->fixed_kw[t]);
}

static double evaluate_slots(nat_crowd *crowd, double *size)
{
    double sum = 0;
    for (int32_t t = 0; t < crowd->model->slots; t++) {
        const double *load = crowd->load + (size_t)t * (size_t)crowd->levels;
        const double *cost = crowd->load_cost + (size_t)t * (size_t)crowd->levels;
        double best = NONE;
        for (int32_t l = 0; l < crowd->levels; l++) {
            double value = load[l] < NONE ? cost[l] + load_price(crowd, t, load[l]) : NONE;
            if (value < best) {
                best = value;
                crowd->wanted[t] = load[l];
            }
        }
        sum += best;
        *size += fabs(best);
    }
    return sum;
}

static double evaluate_reservoir(nat_crowd *crowd, double *size)
{
    const nat_model *model = crowd->model;
    nat_reservoir *reservoir = &crowd->reservoir;
    for (int32_t t = 0; t < model->slots; t++) {
        for (int32_t l = 0; l < crowd->levels; l++) {
            double load = crowd->load[(size_t)t * (size_t)crowd->levels + (size_t)l];
            crowd->top[l] = load < NONE ? load_price(crowd, t, load) : NONE;
        }
        ckpd__nat_reservoir_slot(reservoir, t, crowd->top);
    }
    double sum = ckpd__nat_reservoir_solve(reservoir, crowd->worth);
    for (int32_t t = 0; sum < NONE && t < model->slots; t++) {
        nat_mixture mixture = reservoir->mixture[t];
        const nat_corner *corner =
            reservoir->corner + (size_t)t * (size_t)reservoir->most + mixture.left;
        const double *load = crowd->load + (size_t)t * (size_t)crowd->levels;
        crowd->wanted[t] = load[corner->level];
        if (mixture.part > 0)
            crowd->wanted[t] += mixture.part * (load[corner[1].level] - load[corner->level]);
        *size += fabs(corner->cost) + fabs(crowd->worth[t]) * model->storage->soc_max_kwh;
    }
    return sum;
}

double ckpd__nat_crowd_evaluate(nat_crowd *crowd)
{
    const nat_model *model = crowd->model;
    size_t T = (size_t)model->slots;
    double value = model->view->cost_offset, size = fabs(value);
    evaluate_jobs(crowd);
    if (crowd->stop)
        return -NONE;
    for (int32_t j = 0; j < model->jobs; j++) {
        double most = 0;
        value += crowd->path_value[j];
        for (int32_t a = 0; a < model->job[j].activities; a++)
            most = fmax(most, model->job[j].kw[a]);
        for (size_t t = 0; t < T; t++)
            size +=
                2 * most *
                (fabs(crowd->price[t]) * model->view->load_factor[t] + fabs(crowd->price[T + t]));
    }
    for (size_t t = 0; crowd->prices_gpus && t < T; t++)
        value -= crowd->price[T + t] * crowd->kw_per_gpu * model->gpus_free[t] * (1 + 1e-9);
    crowd->slots_value =
        model->storage ? evaluate_reservoir(crowd, &size) : evaluate_slots(crowd, &size);
    value += crowd->slots_value;
    return value < NONE ? value - 4 * DBL_EPSILON * (model->slots + model->jobs) * size : value;
}
