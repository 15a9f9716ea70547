/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/slot.h"
#include "solver/native/levels.h"
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

/* What every count of GPUs is a multiple of; 0 when there are none. */
static int32_t gpu_divisor(const nat_model *model)
{
    int32_t divisor = 0;
    for (int32_t j = 0; j < model->jobs; j++)
        for (int32_t a = 0; a < model->job[j].activities; a++)
            for (int32_t b = model->job[j].gpus[a]; b;) { /* Euclid's algorithm */
                int32_t rest = divisor % b;
                divisor = b;
                b = rest;
            }
    return divisor;
}

/* Levels of a lattice of all multiples of the divisor up to what jobs and caps allow. */
static double lattice_levels(const nat_model *model, int32_t divisor)
{
    double most = 0;
    for (int32_t j = 0; j < model->jobs; j++) {
        int32_t own = 0;
        for (int32_t a = 0; a < model->job[j].activities; a++)
            own = model->job[j].gpus[a] > own ? model->job[j].gpus[a] : own;
        most += own;
    }
    most = fmin(most, fmax(loosest_caps(model).gpus, 0));
    return divisor > 0 ? floor(most / divisor) + 1 : 1;
}

static double combinations(const nat_model *model)
{
    double product = 1;
    for (int32_t j = 0; j < model->jobs; j++)
        product *= model->job[j].activities;
    return product;
}

/* Power per GPU where it is one number for all, else 0. */
static double one_kw_per_gpu(const nat_model *model)
{
    double ratio = 0;
    for (int32_t j = 0; j < model->jobs; j++)
        for (int32_t a = 0; a < model->job[j].activities; a++) {
            double gpus = model->job[j].gpus[a], kw = model->job[j].kw[a];
            if (ratio <= 0 && gpus > 0)
                ratio = kw / gpus;
            if (fabs(kw - ratio * gpus) > SAME_POWER * kw)
                return 0;
        }
    return ratio;
}

bool ckpd__nat_stack_is_small(const nat_model *model)
{
    /* Sums per evaluation of the bound: some milliseconds one by one, some tens in vector loops. */
    static const double MOST_WORK = 1.5e6, MOST_LATTICE_WORK = 5e7;
    double levels = lattice_levels(model, gpu_divisor(model)), activities = 0;
    bool lattice = one_kw_per_gpu(model) > 0;
    for (int32_t j = 0; j < model->jobs; j++)
        activities += model->job[j].activities;
    return model->jobs <= 4 || fmin(levels, combinations(model)) * activities * model->slots <=
                                   (lattice ? MOST_LATTICE_WORK : MOST_WORK);
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

static void link_stage(int32_t *next, int32_t *prev, const nat_level *levels, int32_t count,
                       const nat_job *job, const nat_level *sums, int32_t kept)
{
    for (int32_t i = 0; i < job->activities * kept; i++)
        prev[i] = -1;
    for (int32_t l = 0; l < count; l++)
        for (int32_t a = 0; a < job->activities; a++) {
            int32_t to = find_level(
                sums, kept, (nat_level){levels[l].gpus + job->gpus[a], levels[l].kw + job->kw[a]});
            next[l * job->activities + a] = to;
            if (to >= 0)
                prev[a * kept + to] = l;
        }
}

static int32_t build_tables(nat_stack *stack, nat_memory *memory, const nat_model *model)
{
    size_t size = (size_t)model->slots * (size_t)stack->levels[stack->jobs];
    stack->cost = ckpd__nat_alloc(memory, size, sizeof *stack->cost);
    if (model->storage)
        stack->charge = ckpd__nat_alloc(memory, size, sizeof *stack->charge);
    if (!stack->cost || (model->storage && !stack->charge))
        return CKPD_ERR_NO_MEMORY;
    for (int32_t t = 0; t < model->slots && !model->storage; t++) /* else the worths come first */
        ckpd__nat_stack_cost(stack, model, t, 0);
    return CKPD_OK;
}

/* One job after the other, with the totals that occur. *exact: there were no more than `limit`. */
static int32_t build_stages(nat_stack *stack, nat_memory *memory, const nat_model *model,
                            int32_t limit, bool *exact)
{
    caps most = loosest_caps(model);
    nat_memory scratch = {.host = memory->host};
    nat_level *levels = ckpd__nat_alloc(&scratch, 1, sizeof *levels);
    stack->prev = ckpd__nat_alloc(memory, (size_t)model->jobs, sizeof *stack->prev);
    stack->next = ckpd__nat_alloc(memory, (size_t)model->jobs, sizeof *stack->next);
    int32_t status = levels && stack->prev && stack->next ? CKPD_OK : CKPD_ERR_NO_MEMORY;
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
        stack->prev[j] =
            ckpd__nat_alloc(memory, (size_t)kept * (size_t)job->activities, sizeof(int32_t));
        stack->next[j] =
            ckpd__nat_alloc(memory, (size_t)count * (size_t)job->activities, sizeof(int32_t));
        if (!stack->prev[j] || !stack->next[j]) {
            status = CKPD_ERR_NO_MEMORY;
            break;
        }
        link_stage(stack->next[j], stack->prev[j], levels, count, job, sums, kept);
        levels = sums;
        stack->levels[j + 1] = kept;
        stack->widest = kept > stack->widest ? kept : stack->widest;
    }
    if (status == CKPD_OK && *exact) {
        size_t last = (size_t)stack->levels[stack->jobs];
        stack->total = ckpd__nat_alloc(memory, last, sizeof *stack->total);
        if (stack->total)
            memcpy(stack->total, levels, last * sizeof *levels);
        status = stack->total ? CKPD_OK : CKPD_ERR_NO_MEMORY;
    }
    ckpd__nat_release(&scratch);
    return status;
}

static int32_t build_lattice(nat_stack *stack, nat_memory *memory, const nat_model *model,
                             int32_t divisor, double kw_per_gpu)
{
    int32_t most = (int32_t)lattice_levels(model, divisor);
    stack->shift = ckpd__nat_alloc(memory, (size_t)model->jobs, sizeof *stack->shift);
    if (!stack->shift)
        return CKPD_ERR_NO_MEMORY;
    for (int32_t j = 0; j < model->jobs; j++) {
        const nat_job *job = &model->job[j];
        int32_t furthest = 0;
        int32_t *shift = stack->shift[j] =
            ckpd__nat_alloc(memory, (size_t)job->activities, sizeof *shift);
        if (!shift)
            return CKPD_ERR_NO_MEMORY;
        for (int32_t a = 0; a < job->activities; a++) {
            shift[a] = job->gpus[a] / divisor;
            furthest = shift[a] > furthest ? shift[a] : furthest;
        }
        int32_t levels = stack->levels[j] + furthest;
        stack->levels[j + 1] = levels < most ? levels : most;
    }
    int32_t last = stack->widest = stack->levels[model->jobs];
    stack->total = ckpd__nat_alloc(memory, (size_t)last, sizeof *stack->total);
    for (int32_t l = 0; stack->total && l < last; l++)
        stack->total[l] = (nat_level){(double)l * divisor, (double)l * divisor * kw_per_gpu};
    return stack->total ? CKPD_OK : CKPD_ERR_NO_MEMORY;
}

int32_t ckpd__nat_stack_build(nat_stack *stack, nat_memory *memory, const nat_model *model,
                              int32_t limit, bool *exact)
{
    int32_t divisor = gpu_divisor(model);
    double kw_per_gpu = one_kw_per_gpu(model), levels = lattice_levels(model, divisor);
    memset(stack, 0, sizeof *stack);
    *exact = true;
    stack->jobs = model->jobs;
    stack->levels = ckpd__nat_alloc(memory, (size_t)model->jobs + 1, sizeof *stack->levels);
    if (!stack->levels)
        return CKPD_ERR_NO_MEMORY;
    stack->levels[0] = stack->widest = 1;
    /* Two jobs reach few of the multiples, and with a storage every level has its cost. */
    bool lattice =
        model->jobs > 2 && kw_per_gpu > 0 && levels <= limit && levels <= combinations(model);
    int32_t status = lattice ? build_lattice(stack, memory, model, divisor, kw_per_gpu)
                             : build_stages(stack, memory, model, limit, exact);
    return status == CKPD_OK && *exact ? build_tables(stack, memory, model) : status;
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
        cost[l] += ckpd__nat_soft(model, t, total.gpus, load);
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
    work->ahead = ckpd__nat_alloc(memory, copies * size, sizeof *work->ahead);
    work->behind = ckpd__nat_alloc(memory, size, sizeof *work->behind);
    work->rest = ckpd__nat_alloc(memory, (size_t)stack->widest, sizeof *work->rest);
    return work->ahead && work->behind && work->rest;
}

/* Number of levels of stage j from which activity a of job j stays in stage j + 1: lattice only. */
static int32_t lattice_reach(const nat_stack *stack, int32_t j, int32_t a)
{
    int32_t room = stack->levels[j + 1] - stack->shift[j][a];
    return room < stack->levels[j] ? room : stack->levels[j];
}

static bool is_closed(const uint8_t *const *forbidden, int32_t j, size_t i)
{
    return forbidden && forbidden[j] && forbidden[j][i];
}

const double *ckpd__nat_slot_climb(nat_slot_work *work, const nat_stack *stack,
                                   const nat_model *model, int32_t t, const double *const *price,
                                   const uint8_t *const *forbidden)
{
    size_t T = (size_t)model->slots, widest = (size_t)stack->widest;
    double *below = work->ahead + (size_t)t * work->per_slot;
    below[0] = 0;
    for (int32_t j = 0; j < stack->jobs; j++, below += widest) {
        const nat_job *job = &model->job[j];
        double *above = below + widest;
        int32_t levels = stack->levels[j + 1];
        for (int32_t l = 0; l < levels; l++)
            above[l] = NONE;
        for (int32_t a = 0; a < job->activities; a++) {
            size_t i = (size_t)a * T + (size_t)t;
            if (is_closed(forbidden, j, i))
                continue;
            double own = price[j][i];
            if (stack->shift) {
                lift(above + stack->shift[j][a], below, own, lattice_reach(stack, j, a));
                continue;
            }
            const int32_t *next = stack->next[j] + a;
            for (int32_t l = 0; l < stack->levels[j]; l++, next += job->activities)
                if (*next >= 0 && below[l] - own < above[*next])
                    above[*next] = below[l] - own;
        }
    }
    return below;
}

/* The level that activity a of job j comes from, or -1. */
static int32_t level_before(const nat_stack *stack, int32_t j, int32_t a, int32_t level)
{
    if (!stack->shift)
        return stack->prev[j][(size_t)a * (size_t)stack->levels[j + 1] + (size_t)level];
    int32_t from = level - stack->shift[j][a];
    return from < stack->levels[j] ? from : -1;
}

void ckpd__nat_slot_choice(const nat_slot_work *work, const nat_stack *stack,
                           const nat_model *model, int32_t t, const double *const *price,
                           const uint8_t *const *forbidden, int32_t level, int32_t *choice)
{
    size_t T = (size_t)model->slots, widest = (size_t)stack->widest;
    const double *above = work->ahead + (size_t)t * work->per_slot + (size_t)stack->jobs * widest;
    for (int32_t j = stack->jobs - 1; j >= 0; j--, above -= widest) {
        const double *below = above - widest;
        double best = NONE;
        int32_t from = 0;
        choice[j] = 0;
        for (int32_t a = 0; a < model->job[j].activities; a++) {
            size_t i = (size_t)a * T + (size_t)t;
            int32_t before = level_before(stack, j, a, level);
            if (before < 0 || is_closed(forbidden, j, i) || !(below[before] - price[j][i] < best))
                continue;
            best = below[before] - price[j][i];
            from = before;
            choice[j] = a;
        }
        level = from;
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
        ckpd__nat_slot_choice(work, stack, model, t, price, forbidden, best, choice);
    return value;
}

/* rest[l] = what follows level l of stage j over activity a, less its price. */
static void follow(double *rest, const double *above, const nat_stack *stack, int32_t activities,
                   int32_t j, int32_t a, double price)
{
    int32_t levels = stack->levels[j];
    if (!stack->shift) {
        const int32_t *next = stack->next[j] + a;
        for (int32_t l = 0; l < levels; l++, next += activities)
            rest[l] = *next >= 0 ? above[*next] - price : NONE;
        return;
    }
    for (int32_t l = 0; l < levels; l++)
        rest[l] = NONE;
    lift(rest, above + stack->shift[j][a], price, lattice_reach(stack, j, a));
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
        double *own = work->behind + (size_t)j * widest;
        const double *above = own + widest;
        const double *ahead = work->ahead + (size_t)t * work->per_slot + (size_t)j * widest;
        for (int32_t l = 0; l < stack->levels[j]; l++)
            own[l] = NONE;
        for (int32_t a = 0; a < model->job[j].activities; a++) {
            size_t i = (size_t)a * T + (size_t)t;
            double *found = &marginal[offset[j] + i];
            *found = NONE;
            if (is_closed(forbidden, j, i))
                continue;
            follow(work->rest, above, stack, model->job[j].activities, j, a, price[j][i]);
            lift(own, work->rest, 0, stack->levels[j]);
            *found = least_sum(ahead, work->rest, stack->levels[j]);
        }
    }
}
