/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "random_view.h"

#include "dice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the site ------------------------------------------------------------------------------------
 */

static void make_site(case_view *out, dice *d, const random_shape *shape, double most_kw,
                      int32_t most_gpus)
{
    ckpd_path_view *view = &out->view;
    size_t T = (size_t)shape->slots;
    double *base = case_view_alloc(out, T, sizeof *base),
           *factor = case_view_alloc(out, T, sizeof *factor);
    double *cap = case_view_alloc(out, T, sizeof *cap),
           *gpus = case_view_alloc(out, T, sizeof *gpus);
    int64_t *start = case_view_alloc(out, T + 1, sizeof *start);
    double *x = case_view_alloc(out, 6 * T, sizeof *x),
           *cost = case_view_alloc(out, 6 * T, sizeof *cost);
    uint8_t *convex = case_view_alloc(out, T, 1);
    int64_t points = 0;
    bool tight = shape->features & RANDOM_TIGHT;
    for (size_t t = 0; t < T; t++) {
        base[t] = between(d, 0, 200);
        factor[t] = between(d, 1, 1.4);
        cap[t] = tight && pick(d, 0, 2) == 0 ? base[t] + factor[t] * between(d, 0.3, 1) * most_kw
                                             : (double)INFINITY;
        gpus[t] = tight ? pick(d, most_gpus / 3, most_gpus) : most_gpus;
        start[t] = points;
        int32_t pieces = pick(d, 1, 4);
        double at = tight && pick(d, 0, 5) == 0 ? 0 : -400, end = base[t] + 2 * most_kw + 400;
        double slope = between(d, -0.06, 0.02), money = 0;
        convex[t] = 1;
        x[points] = at;
        cost[points++] = money;
        for (int32_t i = 0; i < pieces; i++) {
            double next = i == pieces - 1 ? end : at + (end - at) * between(d, 0.1, 0.6);
            money += slope * (next - at);
            at = next;
            x[points] = at;
            cost[points++] = money;
            double change = between(d, 0, 0.05);
            bool fall = shape->features & RANDOM_NONCONVEX && pick(d, 0, 2) == 0;
            if (fall && i < pieces - 1)
                convex[t] = 0;
            slope += fall ? -change : change;
        }
    }
    start[T] = points;
    view->base_load_kw = base;
    view->load_factor = factor;
    view->load_cap_kw = cap;
    view->gpu_cap = gpus;
    view->curve_start = start;
    view->curve_x_kw = x;
    view->curve_cost = cost;
    view->curve_convex = convex;
    view->cost_offset = between(d, -5, 5);
}

static ckpd_path_storage *make_storage(case_view *out, dice *d)
{
    ckpd_path_storage *s = case_view_alloc(out, 1, sizeof *s);
    double low = between(d, 0, 50), high = low + between(d, 50, 400), start = between(d, low, high);
    *s = (ckpd_path_storage){
        .size = sizeof *s,
        .charge_max_kw = pick(d, 0, 9) ? between(d, 20, 250) : 0,
        .discharge_max_kw = pick(d, 0, 9) ? between(d, 20, 250) : 0,
        .eta_charge = between(d, 0.7, 1),
        .eta_discharge = between(d, 0.7, 1),
        .retention = pick(d, 0, 1) ? 1 : between(d, 0.95, 1),
        .soc_min_kwh = low,
        .soc_max_kwh = high,
        .soc_start_kwh = start,
        .terminal = pick(d, 0, 2),
        .soc_end_kwh = pick(d, 0, 1) ? start : between(d, low, high),
        .end_value_per_kwh = pick(d, 0, 1) ? 0 : between(d, -0.01, 0.05),
        .throughput_cost_per_kwh = pick(d, 0, 1) ? 0 : between(d, 0, 0.006),
    };
    out->view.storage = s;
    return s;
}

/* A start below the minimum, a floor that rises from it, and an end that may be missed at a price.
 */
static void make_recovery(case_view *out, dice *d, ckpd_path_storage *s)
{
    int32_t slots = out->view.slots;
    double *least = case_view_alloc(out, (size_t)slots + 1, sizeof *least);
    s->soc_start_kwh *= between(d, 0, 1);
    least[0] = s->soc_start_kwh;
    for (int32_t t = 0; t < slots; t++) {
        double step = s->charge_max_kw * s->eta_charge * out->view.slot_hours * between(d, 0, 0.9);
        least[t + 1] = fmin(s->soc_min_kwh, s->retention * least[t] + step);
    }
    s->soc_floor_kwh = least;
    s->terminal = CKPD_TERMINAL_FREE;
    s->end_short_cost_per_kwh = between(d, 0, 0.1);
    s->end_over_cost_per_kwh = pick(d, 0, 1) ? 0 : between(d, 0, 0.05);
}

/* --- the jobs
 * ------------------------------------------------------------------------------------- */

static void make_moves(case_view *out, dice *d, ckpd_path_job *job, const random_shape *shape,
                       double *kw)
{
    size_t most = (size_t)job->modes * (size_t)job->segments;
    int32_t *mode = case_view_alloc(out, most, sizeof *mode),
            *slots = case_view_alloc(out, most, sizeof *slots);
    int32_t *segments = case_view_alloc(out, most, sizeof *segments),
            *rule = case_view_alloc(out, most, sizeof *rule);
    double *last = case_view_alloc(out, most, sizeof *last);
    for (int32_t m = 0; m < job->modes; m++) {
        double speed = between(d, 0.3, 2.2);
        for (int32_t s = 1; s <= job->segments; s++) {
            double need = s / speed;
            int32_t i = job->moves++;
            mode[i] = m;
            segments[i] = s;
            slots[i] = (int32_t)fmax(1, ceil(need * (1 - 1e-9)));
            last[i] = kw[m] * fmax(0.1, need - floor(need * (1 - 1e-9)));
            rule[i] = shape->features & RANDOM_TRANSITIONS ? pick(d, 1, 2) : 1;
        }
    }
    job->move_mode = mode;
    job->move_slots = slots;
    job->move_segments = segments;
    if (shape->features & RANDOM_PRORATED)
        job->move_last_kw = last;
    if (!(shape->features & RANDOM_TRANSITIONS))
        return;
    uint8_t *transition = case_view_alloc(out, (size_t)(1 + job->modes) * (size_t)job->modes, 1);
    for (int32_t i = 0; i < (1 + job->modes) * job->modes; i++)
        transition[i] = (uint8_t)pick(d, i < job->modes ? 1 : 0, 2);
    job->transition = transition;
    job->move_class = rule;
    job->states = 1 + job->modes;
}

static void make_edges(case_view *out, dice *d, ckpd_path_job *job, const random_shape *shape)
{
    size_t edges = (size_t)job->moves * (size_t)shape->slots * (size_t)job->segments;
    double *cost = case_view_alloc(out, edges, sizeof *cost);
    uint8_t *closed = case_view_alloc(out, edges, 1);
    for (size_t i = 0; i < edges; i++) {
        cost[i] = between(d, -1, 3);
        closed[i] = pick(d, 0, 3) == 0;
    }
    if (shape->features & RANDOM_EDGE_COST)
        job->edge_cost = cost;
    if (shape->features & RANDOM_CLOSED)
        job->edge_closed = closed;
}

static void make_running(case_view *out, dice *d, ckpd_path_job *job, const random_shape *shape)
{
    size_t T = (size_t)shape->slots;
    double *kw = case_view_alloc(out, T, sizeof *kw);
    int32_t *gpus = case_view_alloc(out, T, sizeof *gpus);
    job->source_slot = pick(d, 0, 2);
    job->source_segment = pick(d, 0, job->segments / 2);
    job->deadline = pick(d, shape->slots - 2, shape->slots);
    job->may_wait = pick(d, 0, 3) > 0;
    for (int32_t t = 0; t < job->source_slot; t++) {
        kw[t] = between(d, 0, 100);
        gpus[t] = pick(d, 0, 100);
    }
    job->fixed_power_kw = kw;
    job->fixed_gpus = gpus;
}

static const ckpd_path_job *make_job(case_view *out, dice *d, const random_shape *shape,
                                     double *most_kw, int32_t *most_gpus)
{
    ckpd_path_job *job = case_view_alloc(out, 1, sizeof *job);
    int32_t modes = pick(d, 1, shape->modes);
    int32_t *gpus = case_view_alloc(out, (size_t)modes, sizeof *gpus);
    double *kw = case_view_alloc(out, (size_t)modes, sizeof *kw), job_kw = 0;
    int32_t job_gpus = 0;
    for (int32_t m = 0; m < modes; m++) {
        gpus[m] = shape->features & RANDOM_LARGE ? pick(d, 50000, 99999) : 8 * pick(d, 4, 100);
        kw[m] = gpus[m] * between(d, 0.3, 0.5);
        job_kw = fmax(job_kw, kw[m]);
        job_gpus = gpus[m] > job_gpus ? gpus[m] : job_gpus;
    }
    *most_kw += job_kw;
    *most_gpus += job_gpus;
    *job = (ckpd_path_job){
        .size = sizeof *job,
        .kind = CKPD_JOB_PATHS,
        .segments = pick(d, 1, shape->segments),
        .deadline = shape->slots,
        .may_wait = 1,
        .modes = modes,
        .mode_gpus = gpus,
        .mode_power_kw = kw,
        .states = 1,
    };
    make_moves(out, d, job, shape, kw);
    if (shape->features & RANDOM_RUNNING)
        make_running(out, d, job, shape);
    make_edges(out, d, job, shape);
    uint8_t *open = case_view_alloc(
        out, (size_t)job->states * ((size_t)shape->slots + 1) * ((size_t)job->segments + 1), 1);
    case_view_open_nodes(job, shape->slots, open);
    job->node_open = open;
    return job;
}

void random_view_make(case_view *out, uint64_t seed, const random_shape *shape)
{
    dice d = {seed};
    double most_kw = 0;
    int32_t most_gpus = 0;
    memset(out, 0, sizeof *out);
    const ckpd_path_job **jobs = case_view_alloc(out, (size_t)shape->jobs, sizeof *jobs);
    out->view = (ckpd_path_view){.size = sizeof out->view,
                                 .slots = shape->slots,
                                 .jobs = shape->jobs,
                                 .slot_hours = 0.5,
                                 .job = jobs};
    for (int32_t j = 0; j < shape->jobs; j++)
        jobs[j] = make_job(out, &d, shape, &most_kw, &most_gpus);
    make_site(out, &d, shape, most_kw, most_gpus + 100 * shape->jobs);
    if (shape->features & RANDOM_STORAGE) {
        ckpd_path_storage *storage = make_storage(out, &d);
        if (shape->features & RANDOM_RECOVERY)
            make_recovery(out, &d, storage);
    }
}

/* --- days of a few jobs
 * --------------------------------------------------------------------------- */

static const ckpd_path_job *make_day_job(case_view *out, dice *d, const random_shape *shape,
                                         double kw_per_gpu, int32_t *most_gpus)
{
    static const int32_t sizes[] = {64, 96, 128, 192, 256, 320, 384, 512, 640, 768};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    ckpd_path_job *job = case_view_alloc(out, 1, sizeof *job);
    size_t modes = (size_t)shape->modes, moves = modes * (size_t)shape->segments;
    int32_t *gpus = case_view_alloc(out, modes, sizeof *gpus);
    double *kw = case_view_alloc(out, modes, sizeof *kw);
    int32_t *mode = case_view_alloc(out, moves, sizeof *mode),
            *slots = case_view_alloc(out, moves, sizeof *slots),
            *segments = case_view_alloc(out, moves, sizeof *segments);
    *job = (ckpd_path_job){
        .size = sizeof *job,
        .kind = CKPD_JOB_PATHS,
        .segments = shape->segments,
        .source_slot = pick(d, 0, 2) ? 0 : pick(d, 0, shape->slots / 5),
        .deadline = pick(d, 0, 2) ? shape->slots : pick(d, shape->slots * 3 / 4, shape->slots),
        .may_wait = 1,
        .modes = shape->modes,
        .mode_gpus = gpus,
        .mode_power_kw = kw,
        .states = 1,
        .move_mode = mode,
        .move_slots = slots,
        .move_segments = segments,
    };
    /* A mode in the middle of the sizes is done after 40 to 80 % of the day. */
    double slots_each = between(d, 0.4, 0.8) * shape->slots / shape->segments;
    for (int32_t m = 0, at = pick(d, 0, SIZES - shape->modes); m < shape->modes; m++) {
        at = m == 0 ? at : pick(d, at + 1, SIZES - shape->modes + m);
        gpus[m] = sizes[at];
        kw[m] = kw_per_gpu * gpus[m];
        double speed = pow(gpus[m] / 256.0, between(d, 0.85, 0.98)) / slots_each;
        for (int32_t s = 1; s <= shape->segments; s++) {
            int32_t i = job->moves++;
            mode[i] = m;
            segments[i] = s;
            slots[i] = (int32_t)fmax(1, ceil(s / speed * (1 - 1e-9)));
        }
    }
    *most_gpus += gpus[modes - 1];
    uint8_t *open =
        case_view_alloc(out, ((size_t)shape->slots + 1) * ((size_t)job->segments + 1), 1);
    case_view_open_nodes(job, shape->slots, open);
    job->node_open = open;
    return job;
}

static void make_day_site(case_view *out, dice *d, const random_shape *shape, double kw_per_gpu,
                          int32_t most_gpus)
{
    ckpd_path_view *view = &out->view;
    size_t T = (size_t)shape->slots, points = 0;
    double *base = case_view_alloc(out, T, sizeof *base),
           *factor = case_view_alloc(out, T, sizeof *factor),
           *cap = case_view_alloc(out, T, sizeof *cap),
           *gpus = case_view_alloc(out, T, sizeof *gpus),
           *x = case_view_alloc(out, 3 * T, sizeof *x),
           *cost = case_view_alloc(out, 3 * T, sizeof *cost);
    int64_t *start = case_view_alloc(out, T + 1, sizeof *start);
    uint8_t *convex = case_view_alloc(out, T, 1);
    double peak = between(d, 0.3, 0.8) * most_gpus * kw_per_gpu, dawn = between(d, 0, 6.283);
    double room = 64 * ceil(between(d, 0.5, 0.8) * most_gpus / 64),
           penalty = between(d, 0.02, 0.08);
    view->slot_hours = 24.0 / shape->slots;
    for (size_t t = 0; t < T; t++) {
        double turn = 6.283 * (double)t / (double)T + dawn, sun = fmax(0, sin(turn)) * peak;
        double price = 0.05 - 0.045 * sin(turn) + between(d, -0.01, 0.01);
        double h = view->slot_hours, end = 300 + 1.3 * kw_per_gpu * most_gpus + peak;
        base[t] = between(d, 50, 150);
        factor[t] = 1.25;
        cap[t] = (double)INFINITY;
        gpus[t] = room;
        convex[t] = 1;
        start[t] = (int64_t)points;
        x[points] = 0;
        cost[points++] = penalty * sun * h;
        if (sun > 0) {
            x[points] = sun;
            cost[points++] = 0;
        }
        x[points] = end;
        cost[points++] = price * (end - sun) * h;
    }
    start[T] = (int64_t)points;
    view->base_load_kw = base;
    view->load_factor = factor;
    view->load_cap_kw = cap;
    view->gpu_cap = gpus;
    view->curve_start = start;
    view->curve_x_kw = x;
    view->curve_cost = cost;
    view->curve_convex = convex;
}

void random_day_make(case_view *out, uint64_t seed, const random_shape *shape)
{
    dice d = {seed};
    const double kw_per_gpu = 0.4;
    int32_t most_gpus = 0;
    memset(out, 0, sizeof *out);
    const ckpd_path_job **jobs = case_view_alloc(out, (size_t)shape->jobs, sizeof *jobs);
    out->view = (ckpd_path_view){
        .size = sizeof out->view, .slots = shape->slots, .jobs = shape->jobs, .job = jobs};
    for (int32_t j = 0; j < shape->jobs; j++)
        jobs[j] = make_day_job(out, &d, shape, kw_per_gpu, &most_gpus);
    make_day_site(out, &d, shape, kw_per_gpu, most_gpus);
    if (shape->features & RANDOM_STORAGE)
        make_storage(out, &d);
}

/* --- brute force
 * ------------------------------------------------------------------------------------ */

typedef struct force {
    const ckpd_path_view *view;
    double *kw, *gpus;
    double best;
} force;

static double curve(const ckpd_path_view *view, int32_t t, double at)
{
    for (int64_t i = view->curve_start[t]; i + 1 < view->curve_start[t + 1]; i++) {
        double x0 = view->curve_x_kw[i], x1 = view->curve_x_kw[i + 1];
        if (at >= x0 && at <= x1)
            return view->curve_cost[i] +
                   (view->curve_cost[i + 1] - view->curve_cost[i]) * (at - x0) / (x1 - x0);
    }
    return (double)INFINITY;
}

static void all_placed(force *f, double edge_cost)
{
    const ckpd_path_view *view = f->view;
    double cost = view->cost_offset + edge_cost;
    for (int32_t t = 0; t < view->slots; t++) {
        double load = view->base_load_kw[t] + view->load_factor[t] * f->kw[t];
        if (load > view->load_cap_kw[t] || f->gpus[t] > view->gpu_cap[t])
            return;
        cost += curve(view, t, load);
    }
    f->best = fmin(f->best, cost);
}

static void try_job(force *f, int32_t j, double edge_cost);

static void try_node(force *f, int32_t j, int32_t q, int32_t t, int32_t k, double edge_cost)
{
    const ckpd_path_job *job = f->view->job[j];
    size_t T = (size_t)f->view->slots, width = (size_t)job->segments + 1;
    if (!job->node_open[((size_t)q * (T + 1) + (size_t)t) * width + (size_t)k])
        return;
    if (k == job->segments) {
        try_job(f, j + 1, edge_cost);
        return;
    }
    if (job->may_wait && t < job->deadline)
        try_node(f, j, q, t + 1, k, edge_cost);
    for (int32_t i = 0; i < job->moves; i++) {
        int32_t m = job->move_mode[i], end = t + job->move_slots[i],
                done = k + job->move_segments[i];
        if (end > job->deadline || done > job->segments)
            continue;
        if (job->transition && job->transition[q * job->modes + m] != job->move_class[i])
            continue;
        size_t edge = ((size_t)i * T + (size_t)t) * (size_t)job->segments + (size_t)k;
        if (job->edge_closed && job->edge_closed[edge])
            continue;
        for (int sign = 1; sign >= -1; sign -= 2) {
            for (int32_t u = t; u < end; u++) {
                bool last = u == end - 1 && job->move_last_kw;
                f->kw[u] += sign * (last ? job->move_last_kw[i] : job->mode_power_kw[m]);
                f->gpus[u] += sign * job->mode_gpus[m];
            }
            if (sign > 0)
                try_node(f, j, job->states == 1 ? 0 : 1 + m, end, done,
                         edge_cost + (job->edge_cost ? job->edge_cost[edge] : 0));
        }
    }
}

static void try_job(force *f, int32_t j, double edge_cost)
{
    const ckpd_path_view *view = f->view;
    if (j == view->jobs) {
        all_placed(f, edge_cost);
        return;
    }
    const ckpd_path_job *job = view->job[j];
    for (int sign = 1; sign >= -1; sign -= 2) {
        for (int32_t t = 0; t < view->slots; t++) {
            f->kw[t] += job->fixed_power_kw ? sign * job->fixed_power_kw[t] : 0;
            f->gpus[t] += job->fixed_gpus ? sign * job->fixed_gpus[t] : 0;
        }
        if (sign > 0)
            try_node(f, j, job->source_state, job->source_slot, job->source_segment, edge_cost);
    }
}

double random_view_brute_force(const ckpd_path_view *view)
{
    force f = {.view = view, .best = (double)INFINITY};
    f.kw = calloc((size_t)view->slots, sizeof *f.kw);
    f.gpus = calloc((size_t)view->slots, sizeof *f.gpus);
    if (f.kw && f.gpus)
        try_job(&f, 0, 0);
    free(f.kw);
    free(f.gpus);
    return f.best;
}
