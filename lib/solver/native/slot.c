/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/slot.h"
#include "solver/native/storage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE ((double)INFINITY)

/* --- levels --------------------------------------------------------------------------------------
 */

/* Two totals closer than this (in kW, relative) are one: below every tolerance of the problem. */
static const double SAME_POWER = 1e-12;

static bool same_level(nat_level a, nat_level b)
{
    return fabs(a.gpus - b.gpus) < 0.5 && fabs(a.kw - b.kw) <= SAME_POWER * (1 + fabs(b.kw));
}

static int compare_levels(const void *left, const void *right)
{
    const nat_level *a = left, *b = right;
    if (fabs(a->gpus - b->gpus) >= 0.5)
        return a->gpus < b->gpus ? -1 : 1;
    return a->kw < b->kw ? -1 : a->kw > b->kw ? 1 : 0;
}

static int32_t find_level(const nat_level *levels, int32_t count, nat_level wanted)
{
    int32_t low = 0, high = count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (same_level(levels[middle], wanted))
            return middle;
        if (compare_levels(&levels[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

typedef struct caps {
    double gpus, kw;
} caps;

/* The loosest cap of any slot: a total above it never fits. */
static caps loosest_caps(const nat_model *model)
{
    caps most = {-NONE, -NONE};
    for (int32_t t = 0; t < model->slots; t++) {
        double factor = model->view->load_factor[t],
               room = model->view->load_cap_kw[t] - model->fixed_kw[t];
        double kw = factor > 0 ? room / factor : NONE;
        most.gpus = model->gpus_free[t] > most.gpus ? model->gpus_free[t] : most.gpus;
        most.kw = kw > most.kw ? kw : most.kw;
    }
    most.gpus += 1e-6;
    most.kw += 1e-6 * (1 + fabs(most.kw));
    return most;
}

bool ckpd__nat_stack_is_small(const nat_model *model)
{
    static const double MOST_WORK = 1.5e6; /* sums per evaluation of the bound: some milliseconds */
    int32_t divisor = 0;
    double combinations = 1, most_gpus = 0, activities = 0;
    for (int32_t j = 0; j < model->jobs; j++) {
        const nat_job *job = &model->job[j];
        int32_t own = 0;
        combinations *= job->activities;
        activities += job->activities;
        for (int32_t a = 0; a < job->activities; a++) {
            own = job->gpus[a] > own ? job->gpus[a] : own;
            for (int32_t b = job->gpus[a]; b;) { /* Euclid's algorithm */
                int32_t rest = divisor % b;
                divisor = b;
                b = rest;
            }
        }
        most_gpus += own;
    }
    most_gpus = fmin(most_gpus, fmax(loosest_caps(model).gpus, 0));
    double levels = divisor > 0 ? most_gpus / divisor + 1 : 1;
    return model->jobs <= 4 || fmin(levels, combinations) * activities * model->slots <= MOST_WORK;
}

/* All sums of a level and an activity, sorted and without repeats; returns their number. */
static int32_t add_job(const nat_level *levels, int32_t count, const nat_job *job, caps most,
                       nat_level *sums)
{
    int32_t made = 0, kept = 0;
    for (int32_t l = 0; l < count; l++)
        for (int32_t a = 0; a < job->activities; a++) {
            nat_level sum = {levels[l].gpus + job->gpus[a], levels[l].kw + job->kw[a]};
            if (sum.gpus <= most.gpus && sum.kw <= most.kw)
                sums[made++] = sum;
        }
    qsort(sums, (size_t)made, sizeof *sums, compare_levels);
    for (int32_t i = 0; i < made; i++)
        if (kept == 0 || !same_level(sums[kept - 1], sums[i]))
            sums[kept++] = sums[i];
    return kept;
}

static void link_stage(int32_t *next, const nat_level *levels, int32_t count, const nat_job *job,
                       const nat_level *sums, int32_t kept)
{
    for (int32_t l = 0; l < count; l++)
        for (int32_t a = 0; a < job->activities; a++)
            next[l * job->activities + a] = find_level(
                sums, kept, (nat_level){levels[l].gpus + job->gpus[a], levels[l].kw + job->kw[a]});
}

static int32_t build_tables(nat_stack *stack, nat_memory *memory, const nat_model *model)
{
    size_t size = (size_t)model->slots * (size_t)stack->levels[stack->jobs];
    stack->cost = ckpd__nat_alloc(memory, size, sizeof *stack->cost);
    if (model->storage)
        stack->charge = ckpd__nat_alloc(memory, size, sizeof *stack->charge);
    if (!stack->cost || (model->storage && !stack->charge))
        return CKPD_ERR_NO_MEMORY;
    for (int32_t t = 0; t < model->slots; t++)
        ckpd__nat_stack_cost(stack, model, t, 0);
    return CKPD_OK;
}

int32_t ckpd__nat_stack_build(nat_stack *stack, nat_memory *memory, const nat_model *model,
                              int32_t limit, bool *exact)
{
    size_t jobs = (size_t)model->jobs;
    caps most = loosest_caps(model);
    nat_memory scratch = {.host = memory->host};
    nat_level *levels = ckpd__nat_alloc(&scratch, 1, sizeof *levels);
    memset(stack, 0, sizeof *stack);
    stack->jobs = model->jobs;
    stack->levels = ckpd__nat_alloc(memory, jobs + 1, sizeof *stack->levels);
    stack->next = ckpd__nat_alloc(memory, jobs, sizeof *stack->next);
    int32_t status = levels && stack->levels && stack->next ? CKPD_OK : CKPD_ERR_NO_MEMORY;
    *exact = true;
    if (status == CKPD_OK) {
        stack->levels[0] = 1;
        stack->widest = 1;
    }
    for (int32_t j = 0; status == CKPD_OK && *exact && j < model->jobs; j++) {
        const nat_job *job = &model->job[j];
        int32_t count = stack->levels[j];
        nat_level *sums =
            ckpd__nat_alloc(&scratch, (size_t)count * (size_t)job->activities, sizeof *sums);
        if (!sums) {
            status = CKPD_ERR_NO_MEMORY;
            break;
        }
        int32_t kept = add_job(levels, count, job, most, sums);
        if (kept > limit) {
            *exact = false;
            break;
        }
        stack->next[j] =
            ckpd__nat_alloc(memory, (size_t)count * (size_t)job->activities, sizeof(int32_t));
        if (!stack->next[j]) {
            status = CKPD_ERR_NO_MEMORY;
            break;
        }
        link_stage(stack->next[j], levels, count, job, sums, kept);
        levels = sums;
        stack->levels[j + 1] = kept;
        stack->widest = kept > stack->widest ? kept : stack->widest;
    }
    if (status == CKPD_OK && *exact) {
        size_t last = (size_t)stack->levels[stack->jobs];
        stack->total = ckpd__nat_alloc(memory, last, sizeof *stack->total);
        if (stack->total)
            memcpy(stack->total, levels, last * sizeof *levels);
        status = stack->total ? build_tables(stack, memory, model) : CKPD_ERR_NO_MEMORY;
    }
    ckpd__nat_release(&scratch);
    return status;
}

void ckpd__nat_stack_cost(nat_stack *stack, const nat_model *model, int32_t t, double worth)
{
    int32_t levels = stack->levels[stack->jobs];
    double *cost = stack->cost + (size_t)t * (size_t)levels;
    for (int32_t l = 0; l < levels; l++) {
        nat_level total = stack->total[l];
        if (!ckpd__nat_fits(model, t, total.gpus, total.kw)) {
            cost[l] = NONE;
            continue;
        }
        double load = nat_load(model, t, total.kw);
        cost[l] =
            stack->charge
                ? ckpd__nat_storage_slot(model, t, load, worth,
                                         &stack->charge[(size_t)t * (size_t)levels + (size_t)l])
                : ckpd__nat_curve(model, t, load);
    }
}

/* --- the cheapest combination
 * ---------------------------------------------------------------------- */

bool ckpd__nat_slot_work_init(nat_slot_work *work, nat_memory *memory, const nat_stack *stack,
                              int32_t slots, bool keep)
{
    size_t size = ((size_t)stack->jobs + 1) * (size_t)stack->widest,
           copies = keep ? (size_t)slots : 1;
    memset(work, 0, sizeof *work);
    work->per_slot = keep ? size : 0;
    work->ahead = ckpd__nat_alloc(memory, size, sizeof *work->ahead);
    work->behind = ckpd__nat_alloc(memory, size, sizeof *work->behind);
    work->from = ckpd__nat_alloc(memory, copies * size, sizeof *work->from);
    work->taken = ckpd__nat_alloc(memory, copies * size, sizeof *work->taken);
    return work->ahead && work->behind && work->from && work->taken;
}

typedef struct stage {
    const double *below;
    double *above;
    int32_t *from, *taken;
} stage;

static void climb_stage(stage at, const nat_stack *stack, const nat_job *job, int32_t j, size_t T,
                        const double *price, const uint8_t *forbidden)
{
    const int32_t *next = stack->next[j];
    for (int32_t l = 0; l < stack->levels[j + 1]; l++)
        at.above[l] = NONE;
    for (int32_t a = 0; a < job->activities; a++) {
        if (forbidden && forbidden[(size_t)a * T])
            continue;
        double own = price[(size_t)a * T];
        for (int32_t l = 0; l < stack->levels[j]; l++) {
            int32_t to = next[l * job->activities + a];
            double value = at.below[l] - own;
            if (to >= 0 && value < at.above[to]) {
                at.above[to] = value;
                at.from[to] = l;
                at.taken[to] = a;
            }
        }
    }
}

const double *ckpd__nat_slot_climb(nat_slot_work *work, const nat_stack *stack,
                                   const nat_model *model, int32_t t, const double *const *price,
                                   const uint8_t *const *forbidden)
{
    size_t T = (size_t)model->slots, widest = (size_t)stack->widest,
           table = (size_t)t * work->per_slot;
    work->ahead[0] = 0;
    for (int32_t j = 0; j < stack->jobs; j++) {
        size_t up = ((size_t)j + 1) * widest;
        stage at = {work->ahead + up - widest, work->ahead + up, work->from + table + up,
                    work->taken + table + up};
        climb_stage(at, stack, &model->job[j], j, T, price[j] + t,
                    forbidden && forbidden[j] ? forbidden[j] + t : NULL);
    }
    return work->ahead + (size_t)stack->jobs * widest;
}

void ckpd__nat_slot_choice(const nat_slot_work *work, const nat_stack *stack, int32_t t,
                           int32_t level, int32_t *choice)
{
    for (int32_t j = stack->jobs; j > 0; j--) {
        size_t at = (size_t)t * work->per_slot + (size_t)j * (size_t)stack->widest + (size_t)level;
        choice[j - 1] = work->taken[at];
        level = work->from[at];
    }
}

double ckpd__nat_slot_solve(nat_slot_work *work, const nat_stack *stack, const nat_model *model,
                            int32_t t, const double *const *price, const uint8_t *const *forbidden,
                            int32_t *choice, int32_t *level)
{
    const double *top = ckpd__nat_slot_climb(work, stack, model, t, price, forbidden);
    int32_t levels = stack->levels[stack->jobs], best = -1;
    const double *cost = stack->cost + (size_t)t * (size_t)levels;
    double value = NONE;
    for (int32_t l = 0; l < levels; l++)
        if (top[l] + cost[l] < value) {
            value = top[l] + cost[l];
            best = l;
        }
    *level = best;
    if (best >= 0)
        ckpd__nat_slot_choice(work, stack, t, best, choice);
    return value;
}

void ckpd__nat_slot_marginals(nat_slot_work *work, const nat_stack *stack, const nat_model *model,
                              int32_t t, const double *const *price,
                              const uint8_t *const *forbidden, double *marginal,
                              const size_t *offset)
{
    size_t T = (size_t)model->slots, widest = (size_t)stack->widest;
    int32_t levels = stack->levels[stack->jobs];
    memcpy(work->behind + (size_t)stack->jobs * widest, stack->cost + (size_t)t * (size_t)levels,
           (size_t)levels * sizeof *work->behind);
    for (int32_t j = stack->jobs - 1; j >= 0; j--) {
        const nat_job *job = &model->job[j];
        double *own = work->behind + (size_t)j * widest;
        const double *above = own + widest, *ahead = work->ahead + (size_t)j * widest;
        for (int32_t l = 0; l < stack->levels[j]; l++)
            own[l] = NONE;
        for (int32_t a = 0; a < job->activities; a++) {
            double best = NONE, paid = price[j][(size_t)a * T + (size_t)t];
            bool closed = forbidden && forbidden[j] && forbidden[j][(size_t)a * T + (size_t)t];
            for (int32_t l = 0; !closed && l < stack->levels[j]; l++) {
                int32_t to = stack->next[j][l * job->activities + a];
                double rest = to >= 0 ? above[to] - paid : NONE;
                own[l] = rest < own[l] ? rest : own[l];
                best = ahead[l] + rest < best ? ahead[l] + rest : best;
            }
            marginal[offset[j] + (size_t)a * T + (size_t)t] = best;
        }
    }
}
