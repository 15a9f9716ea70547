/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/model.h"

#include <math.h>
#include <stdalign.h>
#include <string.h>

typedef struct nat_block {
    struct nat_block *next;
    alignas(max_align_t) unsigned char bytes[];
} nat_block;

void *ckpd__nat_alloc(nat_memory *memory, size_t count, size_t bytes)
{
    if (bytes != 0 && count > (SIZE_MAX - sizeof(nat_block) - 64) / bytes)
        return NULL;
    size_t total = count * bytes;
    nat_block *block =
        memory->host->allocate(sizeof *block + (total ? total : 1), memory->host->user);
    if (!block)
        return NULL;
    memset(block->bytes, 0, total);
    block->next = memory->blocks;
    memory->blocks = block;
    return block->bytes;
}

void ckpd__nat_release(nat_memory *memory)
{
    while (memory->blocks) {
        nat_block *next = memory->blocks->next;
        memory->host->release(memory->blocks, memory->host->user);
        memory->blocks = next;
    }
}

/* --- slots ------------------------------------------------------------------------------------ */

/* Caps and the ends of a curve are met up to this share of their size. */
static const double CAP_SLACK = 1e-9;

double ckpd__nat_curve(const nat_model *model, int32_t t, double x)
{
    const ckpd_path_view *view = model->view;
    int64_t first = view->curve_start[t], last = view->curve_start[t + 1] - 1;
    const double *at = view->curve_x_kw, *cost = view->curve_cost;
    double slack = CAP_SLACK * (1 + fabs(x));
    if (x <= at[first])
        return x >= at[first] - slack ? cost[first] : (double)INFINITY;
    if (x >= at[last])
        return x <= at[last] + slack ? cost[last] : (double)INFINITY;
    while (last - first > 1) {
        int64_t middle = first + (last - first) / 2;
        if (at[middle] <= x)
            first = middle;
        else
            last = middle;
    }
    return cost[first] + (cost[last] - cost[first]) * ((x - at[first]) / (at[last] - at[first]));
}

bool ckpd__nat_fits(const nat_model *model, int32_t t, double gpus, double kw)
{
    double cap = model->view->load_cap_kw[t];
    return gpus <= model->gpus_free[t] + CAP_SLACK * (1 + fabs(model->gpus_free[t])) &&
           nat_load(model, t, kw) <= cap + CAP_SLACK * (1 + fabs(cap));
}

double ckpd__nat_soft(const nat_model *model, int32_t t, double gpus, double load)
{
    const ckpd_path_view *view = model->view;
    double cost = 0;
    if (view->load_soft_kw)
        cost += view->load_over_cost[t] * fmax(load - view->load_soft_kw[t], 0);
    if (view->gpu_soft)
        cost += view->gpu_over_cost[t] * fmax(gpus + model->fixed_gpus[t] - view->gpu_soft[t], 0);
    return cost;
}

int32_t ckpd__nat_slots_build(nat_model *model, nat_memory *memory)
{
    const ckpd_path_view *view = model->view;
    model->fixed_kw = ckpd__nat_alloc(memory, (size_t)model->slots, sizeof *model->fixed_kw);
    model->gpus_free = ckpd__nat_alloc(memory, (size_t)model->slots, sizeof *model->gpus_free);
    model->fixed_gpus = ckpd__nat_alloc(memory, (size_t)model->slots, sizeof *model->fixed_gpus);
    if (!model->fixed_kw || !model->gpus_free || !model->fixed_gpus)
        return CKPD_ERR_NO_MEMORY;
    model->convex = true;
    for (int32_t t = 0; t < model->slots; t++) {
        double kw = 0, gpus = 0;
        for (int32_t j = 0; j < model->jobs; j++) {
            const ckpd_path_job *job = view->job[j];
            kw += job->fixed_power_kw ? job->fixed_power_kw[t] : 0;
            gpus += job->fixed_gpus ? (double)job->fixed_gpus[t] : 0;
        }
        model->fixed_kw[t] = view->base_load_kw[t] + view->load_factor[t] * kw;
        model->gpus_free[t] = view->gpu_cap[t] - gpus;
        model->fixed_gpus[t] = gpus;
        model->convex = model->convex && (!view->curve_convex || view->curve_convex[t]);
    }
    return CKPD_OK;
}

/* --- jobs ------------------------------------------------------------------------------------- */

int32_t ckpd__nat_activity(const nat_job *job, int32_t gpus, double kw)
{
    for (int32_t a = 0; a < job->activities; a++)
        if (job->gpus[a] == gpus && !(job->kw[a] < kw) && !(job->kw[a] > kw))
            return a;
    return -1;
}

static int32_t find_activity(nat_job *job, int32_t gpus, double kw)
{
    int32_t found = ckpd__nat_activity(job, gpus, kw);
    if (found >= 0)
        return found;
    job->gpus[job->activities] = gpus;
    job->kw[job->activities] = kw;
    return job->activities++;
}

/* A long move is two shorter ones when nothing but mode and slots matters in what it costs. */
static bool sums_are_free(const ckpd_path_job *in)
{
    return in->states == 1 && !in->edge_cost && !in->edge_closed && !in->move_last_kw;
}

/* Slots of the fastest move of each (mode, segments), 0 when there is none. */
static void fill_durations(const ckpd_path_job *in, int32_t *duration)
{
    for (int32_t i = 0; i < in->moves; i++) {
        if (in->move_segments[i] > in->segments)
            continue;
        int32_t *entry = &duration[(size_t)in->move_mode[i] * ((size_t)in->segments + 1) +
                                   (size_t)in->move_segments[i]];
        if (*entry == 0 || in->move_slots[i] < *entry)
            *entry = in->move_slots[i];
    }
}

static bool splits(const int32_t *duration, int32_t segments, int32_t slots)
{
    for (int32_t s = 1; 2 * s <= segments; s++)
        if (duration[s] > 0 && duration[segments - s] > 0 &&
            duration[s] + duration[segments - s] == slots)
            return true;
    return false;
}

/*
 * True when the open nodes are exactly those between source and sinks in the graph of the kept
 * moves: then the middle node of every split is open too, and the left-out moves are not missed.
 */
static bool nodes_are_natural(const nat_model *model, const nat_job *job, uint8_t *reached,
                              uint8_t *useful)
{
    int32_t K = job->segments, width = K + 1;
    memset(reached, 0, ((size_t)model->slots + 1) * (size_t)width);
    memset(useful, 0, ((size_t)model->slots + 1) * (size_t)width);
    reached[job->source_slot * width + job->source_segment] = 1;
    for (int32_t t = job->source_slot; t <= job->deadline; t++) {
        const uint8_t *from = reached + t * width;
        if (job->wait && t < job->deadline)
            for (int32_t k = 0; k <= K; k++)
                reached[(t + 1) * width + k] |= from[k];
        for (int32_t i = 0; i < job->moves; i++) {
            const nat_move *move = &job->move[i];
            if (t + move->slots > job->deadline)
                continue;
            uint8_t *to = reached + (t + move->slots) * width + move->segments;
            for (int32_t k = 0; k + move->segments <= K; k++)
                to[k] |= from[k];
        }
    }
    for (int32_t t = job->deadline; t >= job->source_slot; t--) {
        uint8_t *row = useful + t * width;
        row[K] = 1;
        if (job->wait && t < job->deadline)
            for (int32_t k = 0; k <= K; k++)
                row[k] |= useful[(t + 1) * width + k];
        for (int32_t i = 0; i < job->moves; i++) {
            const nat_move *move = &job->move[i];
            if (t + move->slots > job->deadline)
                continue;
            const uint8_t *to = useful + (t + move->slots) * width + move->segments;
            for (int32_t k = 0; k + move->segments <= K; k++)
                row[k] |= to[k];
        }
        for (int32_t k = 0; k <= K; k++)
            if ((reached[t * width + k] & row[k]) && !nat_open(model, job, 0, t, k))
                return false;
    }
    return true;
}

static void keep_moves(nat_job *job, const int32_t *duration)
{
    const ckpd_path_job *in = job->in;
    job->moves = 0;
    for (int32_t i = 0; i < in->moves; i++) {
        int32_t mode = in->move_mode[i];
        if (in->move_slots[i] > in->deadline - in->source_slot ||
            in->move_segments[i] > in->segments)
            continue;
        if (duration && splits(duration + (size_t)mode * ((size_t)job->segments + 1),
                               in->move_segments[i], in->move_slots[i]))
            continue;
        int32_t body = find_activity(job, in->mode_gpus[mode], in->mode_power_kw[mode]);
        int32_t last =
            !in->move_last_kw ? body : find_activity(job, in->mode_gpus[mode], in->move_last_kw[i]);
        job->move[job->moves++] = (nat_move){
            .slots = in->move_slots[i],
            .segments = in->move_segments[i],
            .body = in->move_slots[i] > 1 ? body : last,
            .last = last,
            .mode = mode,
            .rule = in->transition && in->move_class ? in->move_class[i] : 1,
            .index = i,
        };
    }
    for (int32_t i = job->moves - 1; i >= 0; i--) {
        bool same = i + 1 < job->moves && job->move[i + 1].body == job->move[i].body;
        job->move[i].after = same ? job->move[i + 1].after : i + 1;
    }
}

/* A row of nodes, and what the vector loops read beyond it. */
static int32_t row_stride(const nat_job *job)
{
    int32_t longest = 0;
    for (int32_t i = 0; i < job->moves; i++)
        longest = job->move[i].segments > longest ? job->move[i].segments : longest;
    return (job->segments + 1 + longest + 3 + 3) / 4 * 4;
}

static void fill_window(const nat_model *model, nat_job *job)
{
    for (int32_t t = 0; t <= model->slots; t++) {
        job->low[t] = job->segments + 1;
        job->high[t] = -1;
        if (t < job->source_slot || t > job->deadline)
            continue;
        for (int32_t q = 0; q < job->states; q++)
            for (int32_t k = 0; k <= job->segments; k++)
                if (nat_open(model, job, q, t, k)) {
                    job->low[t] = k < job->low[t] ? k : job->low[t];
                    job->high[t] = k > job->high[t] ? k : job->high[t];
                }
    }
}

static int32_t build_job(nat_model *model, nat_memory *memory, nat_job *job,
                         const ckpd_path_job *in)
{
    size_t moves = (size_t)in->moves,
           nodes = ((size_t)model->slots + 1) * ((size_t)in->segments + 1);
    size_t kinds = 1 + (size_t)in->modes + (in->move_last_kw ? moves : 0);
    job->in = in;
    job->segments = in->segments;
    job->source_slot = in->source_slot;
    job->source_segment = in->source_segment;
    job->source_state = in->source_state;
    job->deadline = in->deadline;
    job->states = in->states;
    job->wait = in->may_wait != 0;
    job->kw = ckpd__nat_alloc(memory, kinds, sizeof *job->kw);
    job->gpus = ckpd__nat_alloc(memory, kinds, sizeof *job->gpus);
    job->move = ckpd__nat_alloc(memory, moves, sizeof *job->move);
    job->low = ckpd__nat_alloc(memory, (size_t)model->slots + 1, sizeof *job->low);
    job->high = ckpd__nat_alloc(memory, (size_t)model->slots + 1, sizeof *job->high);
    if (!job->kw || !job->gpus || !job->move || !job->low || !job->high)
        return CKPD_ERR_NO_MEMORY;
    job->activities = 1;
    fill_window(model, job);
    if (!sums_are_free(in)) {
        keep_moves(job, NULL);
        return CKPD_OK;
    }
    nat_memory scratch = {.host = memory->host};
    int32_t *duration =
        ckpd__nat_alloc(&scratch, (size_t)in->modes * ((size_t)in->segments + 1), sizeof *duration);
    uint8_t *reached = ckpd__nat_alloc(&scratch, nodes, 1),
            *useful = ckpd__nat_alloc(&scratch, nodes, 1);
    int32_t status = duration && reached && useful ? CKPD_OK : CKPD_ERR_NO_MEMORY;
    if (status == CKPD_OK) {
        fill_durations(in, duration);
        keep_moves(job, duration);
        if (job->moves < in->moves && !nodes_are_natural(model, job, reached, useful))
            keep_moves(job, NULL);
    }
    ckpd__nat_release(&scratch);
    return status;
}

static int32_t max32(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* A cap that is none: all jobs together are one, and a price times it stays a number. */
static void cap_gpus(nat_model *model)
{
    double most = 0;
    for (int32_t j = 0; j < model->jobs; j++) {
        int32_t own = 0;
        for (int32_t a = 0; a < model->job[j].activities; a++)
            own = max32(own, model->job[j].gpus[a]);
        most += own;
    }
    for (int32_t t = 0; t < model->slots; t++)
        if (!(model->gpus_free[t] < (double)INFINITY))
            model->gpus_free[t] = most;
}

int32_t ckpd__nat_model_build(nat_model *model, nat_memory *memory, const ckpd_path_view *view)
{
    memset(model, 0, sizeof *model);
    model->view = view;
    model->slots = view->slots;
    model->jobs = view->jobs;
    model->storage = view->storage;
    model->job = ckpd__nat_alloc(memory, (size_t)model->jobs, sizeof *model->job);
    if (!model->job)
        return CKPD_ERR_NO_MEMORY;
    int32_t status = ckpd__nat_slots_build(model, memory);
    for (int32_t j = 0; status == CKPD_OK && !model->stop && j < model->jobs; j++) {
        if (memory->host->should_stop)
            model->stop = memory->host->should_stop(memory->host->user);
        nat_job *job = &model->job[j];
        status = build_job(model, memory, job, view->job[j]);
        job->stride = row_stride(job);
        model->activities = max32(model->activities, job->activities);
        model->stride = max32(model->stride, job->stride);
        model->states = max32(model->states, job->states);
        model->moves = max32(model->moves, job->moves);
    }
    model->separable = model->jobs == 1 && !model->storage;
    if (status == CKPD_OK && !model->stop)
        cap_gpus(model);
    return status;
}

/* --- certificates
 * ---------------------------------------------------------------------------------- */

static void *copy_of(const ckpd_host *host, const void *from, size_t count, size_t bytes)
{
    void *block = host->allocate(count * bytes + 1, host->user);
    if (block && from)
        memcpy(block, from, count * bytes);
    else if (block)
        memset(block, 0, count * bytes);
    return block;
}

bool ckpd__nat_certificate_start(nat_certificate *certificate, const nat_model *model,
                                 const ckpd_host *host)
{
    size_t J = (size_t)model->jobs;
    memset(certificate, 0, sizeof *certificate);
    certificate->host = host;
    certificate->slots = model->slots;
    certificate->activities = copy_of(host, NULL, J, sizeof(int32_t));
    certificate->offset = copy_of(host, NULL, J, sizeof(size_t));
    certificate->gpus = copy_of(host, NULL, J, sizeof(int32_t *));
    certificate->kw = copy_of(host, NULL, J, sizeof(double *));
    bool ok =
        certificate->activities && certificate->offset && certificate->gpus && certificate->kw;
    certificate->jobs = ok ? model->jobs : 0;
    for (int32_t j = 0; ok && j < model->jobs; j++) {
        const nat_job *job = &model->job[j];
        size_t count = (size_t)job->activities;
        certificate->activities[j] = job->activities;
        certificate->offset[j] = certificate->prices;
        certificate->prices += count * (size_t)model->slots;
        certificate->gpus[j] = copy_of(host, job->gpus, count, sizeof(int32_t));
        certificate->kw[j] = copy_of(host, job->kw, count, sizeof(double));
        ok = certificate->gpus[j] && certificate->kw[j];
    }
    if (!ok)
        ckpd__nat_certificate_free(certificate);
    return ok;
}
