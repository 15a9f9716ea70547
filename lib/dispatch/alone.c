/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What one job needs at least, with every other job out of the way: bounds that prove
 * infeasibility. */
#include "dispatch/dispatch.h"

#include <math.h>

/* Above this, over all jobs, the check would rival the solve. */
static const double MOST_WORK = 3e7;

typedef struct alone_run {
    const ckpd__model *model;
    const ckpd_path_job *job;
    int32_t slots;
    int32_t *blocked; /* [modes][slots + 1] blocked slots before a boundary */
    double *best;     /* [states][slots + 1][segments + 1] */
} alone_run;

/* Load and GPUs that stay whatever the job does: base and the running edges of all jobs. */
static void standing(const ckpd__model *model, int32_t slot, double *it_kw, double *gpus)
{
    *it_kw = model->problem->site->series[CKPD__BASE_IT][slot];
    *gpus = 0;
    for (int32_t j = 0; j < model->problem->jobs; j++) {
        const ckpd_path_job *job = &model->job[j];
        *it_kw += job->fixed_power_kw != NULL ? job->fixed_power_kw[slot] : 0;
        *gpus += job->fixed_gpus != NULL ? job->fixed_gpus[slot] : 0;
    }
}

/* Largest site load that cap and supply allow in a slot. */
static double most_load(const ckpd__model *model, int32_t slot)
{
    double *const *series = model->problem->site->series;
    double discharge = model->view.storage != NULL ? model->view.storage->discharge_max_kw : 0;
    double supply = ckpd__site_hard_cap(model->problem->site, CKPD__IMPORT_CAP, slot) +
                    series[CKPD__WIND][slot] + series[CKPD__SOLAR][slot] + discharge;
    return fmin(model->load_cap_kw[slot], supply + 1e-9 * fmax(1.0, supply));
}

static void block_slots(const alone_run *run)
{
    const ckpd__model *model = run->model;
    for (int32_t m = 0; m < run->job->modes; m++) {
        int32_t *blocked = run->blocked + (size_t)m * (size_t)(run->slots + 1);
        for (int32_t t = 0; t < run->slots; t++) {
            double it_kw, gpus;
            standing(model, t, &it_kw, &gpus);
            double load = model->view.load_factor[t] * (it_kw + run->job->mode_power_kw[m]);
            bool stop = gpus + run->job->mode_gpus[m] > model->view.gpu_cap[t] ||
                        load > most_load(model, t) + 1e-9 * load;
            blocked[t + 1] = blocked[t] + stop;
        }
    }
}

/* A move whose last slot is only partly used may do with less than its mode's power there. */
static bool is_blocked(const alone_run *run, int32_t move, int32_t slot)
{
    const ckpd_path_job *job = run->job;
    const int32_t *blocked = run->blocked + (size_t)job->move_mode[move] * (size_t)(run->slots + 1);
    int32_t end = slot + job->move_slots[move] - (job->move_last_kw != NULL);
    return blocked[end] > blocked[slot];
}

static double *node(const alone_run *run, int32_t state, int32_t slot, int32_t segment)
{
    size_t row = (size_t)state * (size_t)(run->slots + 1) + (size_t)slot;
    return &run->best[row * (size_t)(run->job->segments + 1) + (size_t)segment];
}

static double amount(const ckpd_path_job *job, int32_t move, bool power)
{
    int32_t mode = job->move_mode[move];
    if (!power) {
        return (double)job->mode_gpus[mode] * job->move_slots[move];
    }
    double last = job->move_last_kw != NULL ? job->move_last_kw[move] : job->mode_power_kw[mode];
    return job->mode_power_kw[mode] * (job->move_slots[move] - 1) + last;
}

static void relax(double *to, double value)
{
    *to = fmin(*to, value);
}

static void leave_node(const alone_run *run, int32_t state, int32_t slot, int32_t segment,
                       bool power)
{
    const ckpd_path_job *job = run->job;
    double here = *node(run, state, slot, segment);
    if (job->may_wait && slot < job->deadline) {
        relax(node(run, state, slot + 1, segment), here);
    }
    for (int32_t i = 0; i < job->moves; i++) {
        int32_t wanted = job->move_class != NULL ? job->move_class[i] : 1;
        int32_t end = slot + job->move_slots[i];
        int32_t complete = segment + job->move_segments[i];
        if (end > job->deadline || complete > job->segments || is_blocked(run, i, slot) ||
            ckpd__graph_class(job->transition, job->modes, state, job->move_mode[i]) != wanted) {
            continue;
        }
        int32_t next = job->transition != NULL ? job->move_mode[i] + 1 : 0;
        relax(node(run, next, end, complete), here + amount(job, i, power));
    }
}

/* Least amount to finish; *segments becomes the most that can be complete by the deadline. */
static double least_amount(const alone_run *run, bool power, int32_t *segments)
{
    const ckpd_path_job *job = run->job;
    size_t nodes = (size_t)job->states * (size_t)(run->slots + 1) * (size_t)(job->segments + 1);
    double least = (double)INFINITY;
    for (size_t i = 0; i < nodes; i++) {
        run->best[i] = (double)INFINITY;
    }
    *segments = 0;
    if (job->source_slot > job->deadline) {
        return least;
    }
    *node(run, job->source_state, job->source_slot, job->source_segment) = 0;
    for (int32_t t = job->source_slot; t <= job->deadline; t++) {
        for (int32_t q = 0; q < job->states; q++) {
            for (int32_t k = job->source_segment; k <= job->segments; k++) {
                if (!isfinite(*node(run, q, t, k))) {
                    continue;
                }
                *segments = k > *segments ? k : *segments;
                if (k == job->segments) {
                    relax(&least, *node(run, q, t, k));
                } else {
                    leave_node(run, q, t, k, power);
                }
            }
        }
    }
    return least;
}

bool ckpd__alone_is_cheap(const ckpd__model *model)
{
    double work = 0;
    for (int32_t j = 0; j < model->problem->jobs; j++) {
        const ckpd_path_job *job = &model->job[j];
        if (job->kind != CKPD_JOB_PATHS || job->may_wait == 0) {
            return false;
        }
        work += (double)job->states * (job->deadline - job->source_slot + 1.0) *
                (job->segments + 1.0) * (job->moves + 1.0);
    }
    return work <= MOST_WORK;
}

bool ckpd__alone_needs(const ckpd__model *model, int32_t job, ckpd__alone *out)
{
    alone_run run = {model, &model->job[job], model->view.slots, NULL, NULL};
    size_t nodes =
        (size_t)run.job->states * (size_t)(run.slots + 1) * (size_t)(run.job->segments + 1);
    run.blocked = ckpd__calloc(model->context, (size_t)run.job->modes,
                               (size_t)(run.slots + 1) * sizeof *run.blocked);
    run.best = ckpd__calloc(model->context, nodes, sizeof *run.best);
    bool ready = run.blocked != NULL && run.best != NULL;
    if (ready) {
        block_slots(&run);
        out->gpu_slots = least_amount(&run, false, &out->segments);
        out->it_kw_slots = least_amount(&run, true, &out->segments);
    }
    ckpd__free(model->context, run.blocked);
    ckpd__free(model->context, run.best);
    return ready;
}
