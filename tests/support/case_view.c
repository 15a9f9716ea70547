/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "case_view.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *case_view_alloc(case_view *view, size_t count, size_t bytes)
{
    void *block = calloc(count ? count : 1, bytes);
    void **blocks = realloc(view->blocks, (view->count + 1) * sizeof *blocks);
    if (!block || !blocks) {
        fputs("case_view: out of memory\n", stderr);
        exit(2);
    }
    view->blocks = blocks;
    view->blocks[view->count++] = block;
    return block;
}

void case_view_free(case_view *view)
{
    for (size_t i = 0; i < view->count; i++)
        free(view->blocks[i]);
    free(view->blocks);
    memset(view, 0, sizeof *view);
}

ckpd_path_plan *case_view_plan(case_view *view)
{
    ckpd_path_plan *plan = case_view_alloc(view, 1, sizeof *plan);
    size_t jobs = (size_t)view->view.jobs, slots = (size_t)view->view.slots;
    plan->size = sizeof *plan;
    plan->step_count = case_view_alloc(view, jobs, sizeof(int32_t));
    plan->step_slot = case_view_alloc(view, jobs * slots, sizeof(int32_t));
    plan->step_move = case_view_alloc(view, jobs * slots, sizeof(int32_t));
    plan->slot_mode = case_view_alloc(view, jobs * slots, sizeof(int32_t));
    if (view->view.storage) {
        plan->charge_kw = case_view_alloc(view, slots, sizeof(double));
        plan->discharge_kw = case_view_alloc(view, slots, sizeof(double));
    }
    return plan;
}

/* --- open nodes --------------------------------------------------------------------------------
 */

static int32_t follows(const ckpd_path_job *job, int32_t q, int32_t i)
{
    if (!job->transition)
        return 1;
    int32_t rule = job->move_class ? job->move_class[i] : 1;
    return job->transition[(size_t)q * (size_t)job->modes + (size_t)job->move_mode[i]] == rule;
}

void case_view_open_nodes(const ckpd_path_job *job, int32_t slots, uint8_t *open)
{
    size_t width = (size_t)job->segments + 1, plane = ((size_t)slots + 1) * width;
    size_t nodes = (size_t)job->states * plane;
    uint8_t *reached = calloc(nodes, 1), *useful = calloc(nodes, 1);
    if (!reached || !useful)
        exit(2);
    reached[(size_t)job->source_state * plane + (size_t)job->source_slot * width +
            (size_t)job->source_segment] = 1;
    for (int pass = 0; pass < 2; pass++) /* forward, then backward */
        for (int32_t step = job->source_slot; step <= job->deadline; step++) {
            int32_t t = pass == 0 ? step : job->deadline + job->source_slot - step;
            for (int32_t q = 0; q < job->states; q++)
                for (int32_t k = 0; k <= job->segments; k++) {
                    size_t node = (size_t)q * plane + (size_t)t * width + (size_t)k;
                    if (pass == 1 && k == job->segments)
                        useful[node] = 1;
                    if (pass == 0 && !reached[node])
                        continue;
                    if (job->may_wait && t < job->deadline) {
                        if (pass == 0)
                            reached[node + width] = 1;
                        else
                            useful[node] |= useful[node + width];
                    }
                    for (int32_t i = 0; i < job->moves; i++) {
                        int32_t end = t + job->move_slots[i], done = k + job->move_segments[i];
                        if (end > job->deadline || done > job->segments || !follows(job, q, i))
                            continue;
                        int32_t to = job->states == 1 ? 0 : 1 + job->move_mode[i];
                        size_t next = (size_t)to * plane + (size_t)end * width + (size_t)done;
                        if (pass == 0)
                            reached[next] = 1;
                        else
                            useful[node] |= useful[next];
                    }
                }
        }
    for (size_t n = 0; n < nodes; n++)
        open[n] = reached[n] & useful[n];
    free(reached);
    free(useful);
}

/* --- reading ------------------------------------------------------------------------------------
 */

static double number(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

static void read_site(case_view *out, const json_t *root, int32_t repeat, double most_kw)
{
    ckpd_path_view *view = &out->view;
    size_t T = (size_t)view->slots;
    double h = view->slot_hours, penalty = number(root, "curtailment_penalty_per_mwh");
    double *base = case_view_alloc(out, T, sizeof *base),
           *factor = case_view_alloc(out, T, sizeof *factor);
    double *cap = case_view_alloc(out, T, sizeof *cap),
           *gpus = case_view_alloc(out, T, sizeof *gpus);
    int64_t *start = case_view_alloc(out, T + 1, sizeof *start);
    double *x = case_view_alloc(out, 3 * T, sizeof *x),
           *cost = case_view_alloc(out, 3 * T, sizeof *cost);
    uint8_t *convex = case_view_alloc(out, T, 1);
    int64_t points = 0;
    for (size_t t = 0; t < T; t++) {
        size_t source = t / (size_t)repeat;
        double price =
            json_number_value(json_array_get(json_object_get(root, "price_per_mwh"), source));
        double green = json_number_value(json_array_get(json_object_get(root, "wind_kw"), source)) +
                       json_number_value(json_array_get(json_object_get(root, "solar_kw"), source));
        base[t] = number(root, "pue") * number(root, "base_it_kw");
        factor[t] = number(root, "pue");
        cap[t] = (double)INFINITY;
        gpus[t] = number(root, "gpu_cap");
        convex[t] = 1;
        start[t] = points;
        if (green > 0) {
            x[points] = 0;
            cost[points++] = penalty * green * h / 1000;
        }
        x[points] = green;
        cost[points++] = 0;
        x[points] = green + most_kw;
        cost[points++] = price * most_kw * h / 1000;
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
}

static void read_storage(case_view *out, const json_t *bess)
{
    ckpd_path_storage *s = case_view_alloc(out, 1, sizeof *s);
    *s = (ckpd_path_storage){
        .size = sizeof *s,
        .charge_max_kw = number(bess, "charge_kw"),
        .discharge_max_kw = number(bess, "discharge_kw"),
        .eta_charge = number(bess, "eta_charge"),
        .eta_discharge = number(bess, "eta_discharge"),
        .retention = 1,
        .soc_min_kwh = number(bess, "soc_min_kwh"),
        .soc_max_kwh = number(bess, "soc_max_kwh"),
        .soc_start_kwh = number(bess, "soc_start_kwh"),
        .terminal = CKPD_TERMINAL_EQUAL,
        .soc_end_kwh = number(bess, "soc_end_kwh"),
        .throughput_cost_per_kwh = number(bess, "throughput_cost_per_mwh") / 1000,
    };
    out->view.storage = s;
}

static const ckpd_path_job *read_job(case_view *out, const json_t *root, const json_t *from,
                                     const case_options *options)
{
    const json_t *list = json_object_get(from, "modes");
    size_t modes = json_array_size(list);
    int32_t K = options->segments ? options->segments : (int32_t)number(root, "segments");
    double h = out->view.slot_hours, segment = number(from, "work") / K;
    ckpd_path_job *job = case_view_alloc(out, 1, sizeof *job);
    int32_t *gpus = case_view_alloc(out, modes, sizeof *gpus);
    double *kw = case_view_alloc(out, modes, sizeof *kw),
           *work = case_view_alloc(out, modes, sizeof *work);
    size_t most = modes * (size_t)K;
    int32_t *mode = case_view_alloc(out, most, sizeof *mode),
            *slots = case_view_alloc(out, most, sizeof *slots);
    int32_t *segments = case_view_alloc(out, most, sizeof *segments), moves = 0;
    for (size_t m = 0; m < modes; m++) {
        const json_t *entry = json_array_get(list, m);
        gpus[m] = (int32_t)number(entry, "gpus");
        kw[m] = number(root, "kw_per_gpu") * gpus[m];
        work[m] = number(entry, "rate") * h;
        for (int32_t s = 1; s <= K; s++) {
            double need = ceil(s * segment / work[m] * (1 - 1e-9));
            if (need > out->view.slots)
                break;
            mode[moves] = (int32_t)m;
            slots[moves] = need < 1 ? 1 : (int32_t)need;
            segments[moves++] = s;
        }
    }
    *job = (ckpd_path_job){
        .size = sizeof *job,
        .kind = options->slotwise ? CKPD_JOB_SLOTWISE : CKPD_JOB_PATHS,
        .segments = K,
        .deadline = out->view.slots,
        .may_wait = 1,
        .modes = (int32_t)modes,
        .mode_gpus = gpus,
        .mode_power_kw = kw,
        .moves = options->slotwise ? 0 : moves,
        .states = 1,
        .move_mode = mode,
        .move_slots = slots,
        .move_segments = segments,
        .mode_work_per_slot = work,
        .work_required = number(from, "work") * (1 - 1e-9),
    };
    if (!options->slotwise) {
        uint8_t *open = case_view_alloc(out, ((size_t)out->view.slots + 1) * ((size_t)K + 1), 1);
        case_view_open_nodes(job, out->view.slots, open);
        job->node_open = open;
    }
    return job;
}

int case_view_read(case_view *out, const char *file, const case_options *options)
{
    json_t *root = json_load_file(file, 0, NULL);
    memset(out, 0, sizeof *out);
    if (!root)
        return 0;
    int32_t repeat = options->repeat > 0 ? options->repeat : 1;
    const json_t *jobs = json_object_get(root, "jobs"), *entry;
    ckpd_path_view *view = &out->view;
    view->size = sizeof *view;
    view->slots = (int32_t)number(root, "slots") * repeat;
    view->slot_hours = number(root, "slot_hours") / repeat;
    view->jobs = (int32_t)json_array_size(jobs);
    read_site(out, root, repeat,
              number(root, "pue") * (number(root, "base_it_kw") +
                                     number(root, "kw_per_gpu") * number(root, "gpu_cap")) +
                  1000);
    if (options->storage)
        read_storage(out, json_object_get(root, "bess"));
    const ckpd_path_job **list = case_view_alloc(out, (size_t)view->jobs, sizeof *list);
    size_t j;
    json_array_foreach(jobs, j, entry) list[j] = read_job(out, root, entry, options);
    view->job = list;
    json_decref(root);
    return 1;
}
