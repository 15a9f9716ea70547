/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support/instance.h"
#include "support/support.h"

#include "base/base.h"
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void *instance_alloc(instance *made, size_t count, size_t bytes)
{
    ck_assert_int_lt(made->block_count, INSTANCE_BLOCKS);
    void *block = calloc(count > 0 ? count : 1, bytes);
    ck_assert_ptr_nonnull(block);
    made->blocks[made->block_count++] = block;
    return block;
}

void instance_free(instance *made)
{
    if (made != NULL) {
        for (int i = 0; i < made->block_count; i++) {
            free(made->blocks[i]);
        }
        free(made);
    }
}

static instance *instance_new(int32_t slots, int32_t jobs, double slot_hours)
{
    instance *made = calloc(1, sizeof *made);
    ck_assert_ptr_nonnull(made);
    ck_assert_int_le(jobs, INSTANCE_JOBS);
    for (int32_t j = 0; j < jobs; j++) {
        made->job[j] = &made->jobs[j];
        made->jobs[j].size = sizeof made->jobs[j];
        made->jobs[j].states = 1;
    }
    made->view = (ckpd_path_view){.size = sizeof made->view,
                                  .slots = slots,
                                  .jobs = jobs,
                                  .slot_hours = slot_hours,
                                  .job = made->job};
    return made;
}

/* --- graph ------------------------------------------------------------------------------------ */

static size_t node_at(const instance *made, const ckpd_path_job *job, int32_t q, int32_t t,
                      int32_t k)
{
    return ((size_t)q * ((size_t)made->view.slots + 1) + (size_t)t) * ((size_t)job->segments + 1) +
           (size_t)k;
}

static bool allowed(const ckpd_path_job *job, int32_t q, int32_t i)
{
    if (job->transition == NULL) {
        return true;
    }
    int32_t wanted = job->move_class != NULL ? job->move_class[i] : 1;
    return job->transition[q * job->modes + job->move_mode[i]] == wanted;
}

/* Opens what the source reaches and what reaches the sink. */
static void open_nodes(instance *made, ckpd_path_job *job)
{
    int32_t slots = made->view.slots, K = job->segments;
    size_t count = node_at(made, job, job->states, 0, 0);
    uint8_t *open = instance_alloc(made, count, 1);
    open[node_at(made, job, job->source_state, job->source_slot, job->source_segment)] = 1;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t s = 0; s <= slots; s++) {
            int32_t t = pass == 0 ? s : slots - s;
            for (int32_t q = 0; q < job->states; q++) {
                for (int32_t k = 0; k < K; k++) {
                    uint8_t *here = &open[node_at(made, job, q, t, k)];
                    bool leads = false;
                    if (!*here) {
                        continue;
                    }
                    if (job->may_wait && t < job->deadline) {
                        uint8_t *next = &open[node_at(made, job, q, t + 1, k)];
                        *next |= pass == 0;
                        leads |= *next;
                    }
                    for (int32_t i = 0; i < job->moves; i++) {
                        if (t + job->move_slots[i] <= job->deadline &&
                            k + job->move_segments[i] <= K && allowed(job, q, i)) {
                            int32_t to = job->transition != NULL ? 1 + job->move_mode[i] : 0;
                            uint8_t *next = &open[node_at(made, job, to, t + job->move_slots[i],
                                                          k + job->move_segments[i])];
                            *next |= pass == 0;
                            leads |= *next;
                        }
                    }
                    *here = pass == 0 || leads;
                }
            }
        }
    }
    job->node_open = open;
}

/* Moves of every mode m and s segments: tau = ceil(s * slots_per_segment[m]). */
static void make_moves(instance *made, ckpd_path_job *job, const double *slots_per_segment)
{
    int32_t most = job->modes * job->segments, n = 0;
    int32_t *mode = instance_alloc(made, (size_t)most, sizeof(int32_t));
    int32_t *length = instance_alloc(made, (size_t)most, sizeof(int32_t));
    int32_t *segments = instance_alloc(made, (size_t)most, sizeof(int32_t));
    for (int32_t m = 0; m < job->modes; m++) {
        for (int32_t s = 1; s <= job->segments; s++) {
            double tau = fmax(1, ceil(s * slots_per_segment[m] * (1 - 1e-9)));
            bool redundant = false;
            for (int32_t a = 1; a < s; a++) {
                double first = fmax(1, ceil(a * slots_per_segment[m] * (1 - 1e-9)));
                double second = fmax(1, ceil((s - a) * slots_per_segment[m] * (1 - 1e-9)));
                redundant |= first + second <= tau;
            }
            if (tau <= job->deadline - job->source_slot && !redundant) {
                mode[n] = m;
                length[n] = (int32_t)tau;
                segments[n++] = s;
            }
        }
    }
    job->moves = n;
    job->move_mode = mode;
    job->move_slots = length;
    job->move_segments = segments;
}

/* --- random ----------------------------------------------------------------------------------- */

static double draw(ckpd__random *random, double low, double high)
{
    return low + (high - low) * ckpd__random_uniform(random);
}

static int32_t draw_int(ckpd__random *random, int32_t low, int32_t high)
{
    return low + (int32_t)(ckpd__random_next(random) % (uint32_t)(high - low + 1));
}

static bool draw_bool(ckpd__random *random, double share)
{
    return ckpd__random_uniform(random) < share;
}

static void random_curves(instance *made, ckpd__random *random, bool nonconvex)
{
    int32_t slots = made->view.slots;
    int64_t *start = instance_alloc(made, (size_t)slots + 1, sizeof(int64_t));
    double *x = instance_alloc(made, (size_t)slots * 8, sizeof(double));
    double *cost = instance_alloc(made, (size_t)slots * 8, sizeof(double));
    uint8_t *convex = instance_alloc(made, (size_t)slots, 1);
    for (int32_t t = 0; t < slots; t++) {
        int32_t pieces = draw_int(random, 1, 4);
        double slope[4];
        convex[t] = !(nonconvex && draw_bool(random, 0.5));
        for (int32_t i = 0; i < pieces; i++) {
            slope[i] = floor(draw(random, -30, 80)) / 1000;
            for (int32_t k = i; convex[t] && k > 0 && slope[k] < slope[k - 1]; k--) {
                double swap = slope[k];
                slope[k] = slope[k - 1];
                slope[k - 1] = swap;
            }
        }
        int64_t n = start[t];
        x[n] = floor(draw(random, -60, 10));
        cost[n] = floor(draw(random, 0, 5));
        for (int32_t i = 0; i < pieces; i++, n++) {
            double width = i == pieces - 1 ? draw(random, 150, 500) : draw(random, 10, 120);
            x[n + 1] = x[n] + floor(width);
            cost[n + 1] = cost[n] + slope[i] * (x[n + 1] - x[n]);
        }
        start[t + 1] = n + 1;
    }
    made->view.curve_start = start;
    made->view.curve_x_kw = x;
    made->view.curve_cost = cost;
    made->view.curve_convex = convex;
}

static void random_slots(instance *made, ckpd__random *random, const instance_features *use)
{
    int32_t slots = made->view.slots;
    double *base = instance_alloc(made, (size_t)slots, sizeof(double));
    double *factor = instance_alloc(made, (size_t)slots, sizeof(double));
    double *cap = instance_alloc(made, (size_t)slots, sizeof(double));
    double *gpus = instance_alloc(made, (size_t)slots, sizeof(double));
    for (int32_t t = 0; t < slots; t++) {
        base[t] = floor(draw(random, 10, 40));
        factor[t] = 1 + draw_int(random, 0, 3) / 8.0;
        cap[t] = use->caps && draw_bool(random, 0.4) ? floor(draw(random, 60, 250)) : INFINITY;
        gpus[t] = use->caps && draw_bool(random, 0.4) ? draw_int(random, 6, 20) : 40;
    }
    made->view.base_load_kw = base;
    made->view.load_factor = factor;
    made->view.load_cap_kw = cap;
    made->view.gpu_cap = gpus;
    random_curves(made, random, use->nonconvex != 0);
}

static void random_transitions(instance *made, ckpd__random *random, ckpd_path_job *job)
{
    uint8_t *rule = instance_alloc(made, (size_t)(job->modes + 1) * (size_t)job->modes, 1);
    for (int32_t i = 0; i < (job->modes + 1) * job->modes; i++) {
        rule[i] = i < job->modes || i / job->modes - 1 == i % job->modes || draw_bool(random, 0.6);
    }
    job->transition = rule;
    job->states = 1 + job->modes;
    job->source_state = draw_bool(random, 0.7) ? 0 : draw_int(random, 0, job->modes);
}

static void random_job_extras(instance *made, ckpd__random *random, const instance_features *use,
                              ckpd_path_job *job)
{
    size_t slots = (size_t)made->view.slots;
    if (use->edge_costs && draw_bool(random, 0.6)) {
        size_t count = (size_t)job->moves * slots * (size_t)job->segments;
        double *cost = instance_alloc(made, count, sizeof(double));
        for (size_t i = 0; i < count; i++) {
            cost[i] = floor(draw(random, -2, 4));
        }
        job->edge_cost = cost;
    }
    if (use->prorated && draw_bool(random, 0.6)) {
        double *last = instance_alloc(made, (size_t)job->moves, sizeof(double));
        for (int32_t i = 0; i < job->moves; i++) {
            last[i] = floor(draw(random, 0.2, 1) * job->mode_power_kw[job->move_mode[i]]);
        }
        job->move_last_kw = last;
    }
    if (use->fixed && draw_bool(random, 0.6)) {
        double *power = instance_alloc(made, slots, sizeof(double));
        int32_t *gpus = instance_alloc(made, slots, sizeof(int32_t));
        for (int32_t t = 0; t < job->source_slot; t++) {
            power[t] = 15;
            gpus[t] = 3;
        }
        job->fixed_power_kw = power;
        job->fixed_gpus = gpus;
    }
}

static void random_job(instance *made, ckpd__random *random, const instance_features *use,
                       int32_t j)
{
    ckpd_path_job *job = &made->jobs[j];
    int32_t slots = made->view.slots;
    job->name = "random";
    /* 2: every job; the draw is made all the same, so that the other figures of a seed stay. */
    bool half = draw_bool(random, 0.5);
    job->kind = use->slotwise == 2 || (use->slotwise && half) ? CKPD_JOB_SLOTWISE : CKPD_JOB_PATHS;
    job->segments = draw_int(random, 1, use->segments);
    job->source_slot = draw_int(random, 0, 1);
    job->deadline = slots - draw_int(random, 0, 1);
    job->source_segment = draw_bool(random, 0.2) ? draw_int(random, 0, job->segments) : 0;
    job->may_wait = draw_bool(random, 0.9);
    job->modes = draw_int(random, 1, use->modes);
    int32_t *gpus = instance_alloc(made, (size_t)job->modes, sizeof(int32_t));
    double *power = instance_alloc(made, (size_t)job->modes, sizeof(double));
    double *work = instance_alloc(made, (size_t)job->modes, sizeof(double));
    double per_segment[8];
    for (int32_t m = 0; m < job->modes; m++) {
        gpus[m] = draw_int(random, 2, 12);
        power[m] = floor((use->equal_power ? 4 : gpus[m]) * draw(random, 4, 6));
        power[m] = use->equal_power && m > 0 ? power[0] : power[m];
        per_segment[m] = draw(random, 3, 10) / gpus[m];
        work[m] = 1 / per_segment[m];
    }
    job->mode_gpus = gpus;
    job->mode_power_kw = power;
    job->mode_work_per_slot = work;
    job->work_required = job->segments * (1 - 1e-9) * 0.8;
    if (use->transitions && draw_bool(random, 0.6)) {
        random_transitions(made, random, job);
    }
    make_moves(made, job, per_segment);
    random_job_extras(made, random, use, job);
    open_nodes(made, job);
}

static void random_storage(instance *made, ckpd__random *random)
{
    ckpd_path_storage *s = &made->storage;
    *s = (ckpd_path_storage){
        .size = sizeof *s,
        .charge_max_kw = floor(draw(random, 0, 60)),
        .discharge_max_kw = floor(draw(random, 5, 60)),
        .eta_charge = draw_bool(random, 0.2) ? 1 : draw(random, 0.8, 1),
        .eta_discharge = draw_bool(random, 0.2) ? 1 : draw(random, 0.8, 1),
        .retention = draw_bool(random, 0.5) ? 1 : draw(random, 0.95, 1),
        .soc_min_kwh = 10,
        .soc_max_kwh = floor(draw(random, 40, 120)),
        .terminal = draw_int(random, 0, 2),
        .end_value_per_kwh = draw_bool(random, 0.5) ? 0 : draw(random, 0, 0.06),
        .throughput_cost_per_kwh = draw_bool(random, 0.5) ? 0 : draw(random, 0, 0.01)};
    s->soc_start_kwh = floor(draw(random, 10, s->soc_max_kwh));
    s->soc_end_kwh = floor(draw(random, 10, fmin(s->soc_max_kwh, s->soc_start_kwh)));
    made->view.storage = s;
}

/* A start below the minimum, and a floor that rises from it by less than charging can. */
static void random_recovery(instance *made, ckpd__random *random)
{
    ckpd_path_storage *s = &made->storage;
    int32_t slots = made->view.slots;
    double *floor_kwh = instance_alloc(made, (size_t)slots + 1, sizeof *floor_kwh);
    double step = s->charge_max_kw * s->eta_charge * made->view.slot_hours * draw(random, 0, 1.02);
    s->soc_start_kwh = floor(draw(random, 0, 10));
    floor_kwh[0] = s->soc_start_kwh;
    for (int32_t t = 0; t < slots; t++) {
        floor_kwh[t + 1] = fmin(s->soc_min_kwh, floor_kwh[t] * s->retention + step);
    }
    s->soc_floor_kwh = floor_kwh;
}

static void random_soft_end(instance *made, ckpd__random *random)
{
    ckpd_path_storage *s = &made->storage;
    s->terminal = CKPD_TERMINAL_FREE;
    s->soc_end_kwh = floor(draw(random, 0, s->soc_max_kwh));
    s->end_short_cost_per_kwh = draw(random, 0, 0.2);
    s->end_over_cost_per_kwh = draw_bool(random, 0.5) ? 0 : draw(random, 0, 0.1);
}

static void random_soft_caps(instance *made, ckpd__random *random)
{
    size_t slots = (size_t)made->view.slots;
    double *block = instance_alloc(made, 4 * slots, sizeof *block);
    for (size_t t = 0; t < slots; t++) {
        block[t] = made->view.base_load_kw[t] + floor(draw(random, 0, 120));
        block[slots + t] = draw(random, 0, 0.2);
        block[2 * slots + t] = draw_int(random, 0, 40);
        block[3 * slots + t] = draw(random, 0, 0.3);
    }
    if (draw_bool(random, 0.7)) {
        made->view.load_soft_kw = block;
        made->view.load_over_cost = block + slots;
    }
    made->view.gpu_soft = block + 2 * slots;
    made->view.gpu_over_cost = block + 3 * slots;
}

instance *instance_random(uint64_t seed, const instance_features *use)
{
    ckpd__random random;
    ckpd__random_seed(&random, seed, 77);
    int32_t slots = draw_int(&random, 2, use->slots);
    static const double hours[] = {1, 0.5, 0.25};
    instance *made =
        instance_new(slots, draw_int(&random, 1, use->jobs), hours[draw_int(&random, 0, 2)]);
    made->view.cost_offset = floor(draw(&random, -5, 5));
    random_slots(made, &random, use);
    for (int32_t j = 0; j < made->view.jobs; j++) {
        random_job(made, &random, use, j);
    }
    if (use->storage && draw_bool(&random, 0.7)) {
        random_storage(made, &random);
    }
    if (use->recovery && made->view.storage != NULL) {
        random_recovery(made, &random);
    }
    if (use->soft_end && made->view.storage != NULL) {
        random_soft_end(made, &random);
    }
    if (use->soft_caps) {
        random_soft_caps(made, &random);
    }
    return made;
}

/* --- golden files ----------------------------------------------------------------------------- */

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_number(value), "case file: %s is missing", key);
    return json_number_value(value);
}

static void golden_slots(instance *made, const json_t *file, int32_t split)
{
    int32_t slots = made->view.slots;
    double h = made->view.slot_hours, pue = number(file, "pue");
    double *base = instance_alloc(made, (size_t)slots, sizeof(double));
    double *factor = instance_alloc(made, (size_t)slots, sizeof(double));
    double *cap = instance_alloc(made, (size_t)slots, sizeof(double));
    double *gpus = instance_alloc(made, (size_t)slots, sizeof(double));
    int64_t *start = instance_alloc(made, (size_t)slots + 1, sizeof(int64_t));
    double *x = instance_alloc(made, (size_t)slots * 3, sizeof(double));
    double *cost = instance_alloc(made, (size_t)slots * 3, sizeof(double));
    uint8_t *convex = instance_alloc(made, (size_t)slots, 1);
    for (int32_t t = 0; t < slots; t++) {
        size_t hour = (size_t)(t / split);
        double price =
            json_number_value(json_array_get(json_object_get(file, "price_per_mwh"), hour));
        double solar = json_number_value(json_array_get(json_object_get(file, "solar_kw"), hour));
        double wind = json_number_value(json_array_get(json_object_get(file, "wind_kw"), hour));
        double renewable = solar + wind, most = renewable + 1e6;
        base[t] = pue * number(file, "base_it_kw");
        factor[t] = pue;
        cap[t] = INFINITY;
        gpus[t] = number(file, "gpu_cap");
        int64_t n = start[t];
        x[n] = 0;
        cost[n++] = renewable * h / 1000 * number(file, "curtailment_penalty_per_mwh");
        if (renewable > 0) {
            x[n] = renewable;
            cost[n++] = 0;
        }
        x[n] = most;
        cost[n++] = (most - renewable) * h / 1000 * price;
        convex[t] = 1;
        start[t + 1] = n;
    }
    made->view.base_load_kw = base;
    made->view.load_factor = factor;
    made->view.load_cap_kw = cap;
    made->view.gpu_cap = gpus;
    made->view.curve_start = start;
    made->view.curve_x_kw = x;
    made->view.curve_cost = cost;
    made->view.curve_convex = convex;
}

static void golden_job(instance *made, const json_t *file, const json_t *given, int32_t j,
                       int32_t segments, bool slotwise)
{
    ckpd_path_job *job = &made->jobs[j];
    const json_t *modes = json_object_get(given, "modes");
    job->name = "golden";
    job->kind = slotwise ? CKPD_JOB_SLOTWISE : CKPD_JOB_PATHS;
    job->segments = segments > 0 ? segments : (int32_t)number(file, "segments");
    job->deadline = made->view.slots;
    job->may_wait = 1;
    job->modes = (int32_t)json_array_size(modes);
    int32_t *gpus = instance_alloc(made, (size_t)job->modes, sizeof(int32_t));
    double *power = instance_alloc(made, (size_t)job->modes, sizeof(double));
    double *work = instance_alloc(made, (size_t)job->modes, sizeof(double));
    double *per_segment = instance_alloc(made, (size_t)job->modes, sizeof(double));
    double total = number(given, "work");
    for (int32_t m = 0; m < job->modes; m++) {
        const json_t *mode = json_array_get(modes, (size_t)m);
        gpus[m] = (int32_t)number(mode, "gpus");
        power[m] = gpus[m] * number(file, "kw_per_gpu");
        work[m] = number(mode, "rate") * made->view.slot_hours;
        per_segment[m] = total / job->segments / work[m];
    }
    job->mode_gpus = gpus;
    job->mode_power_kw = power;
    job->mode_work_per_slot = work;
    job->work_required = total * (1 - 1e-9);
    if (!slotwise) {
        make_moves(made, job, per_segment);
        open_nodes(made, job);
    }
}

static void golden_storage(instance *made, const json_t *bess)
{
    made->storage = (ckpd_path_storage){.size = sizeof made->storage,
                                        .charge_max_kw = number(bess, "charge_kw"),
                                        .discharge_max_kw = number(bess, "discharge_kw"),
                                        .eta_charge = number(bess, "eta_charge"),
                                        .eta_discharge = number(bess, "eta_discharge"),
                                        .retention = 1,
                                        .soc_min_kwh = number(bess, "soc_min_kwh"),
                                        .soc_max_kwh = number(bess, "soc_max_kwh"),
                                        .soc_start_kwh = number(bess, "soc_start_kwh"),
                                        .soc_end_kwh = number(bess, "soc_end_kwh"),
                                        .terminal = CKPD_TERMINAL_EQUAL,
                                        .throughput_cost_per_kwh =
                                            number(bess, "throughput_cost_per_mwh") / 1000};
    made->view.storage = &made->storage;
}

instance *instance_golden(const char *name, int32_t split, int32_t segments, bool slotwise,
                          bool storage)
{
    const char *path = test_shared_path(name);
    if (path == NULL) {
        return NULL;
    }
    json_error_t error;
    json_t *file = json_load_file(path, 0, &error);
    ck_assert_msg(file != NULL, "%s: %s", path, error.text);
    const json_t *jobs = json_object_get(file, "jobs");
    instance *made =
        instance_new((int32_t)number(file, "slots") * split, (int32_t)json_array_size(jobs),
                     number(file, "slot_hours") / split);
    golden_slots(made, file, split);
    for (int32_t j = 0; j < made->view.jobs; j++) {
        golden_job(made, file, json_array_get(jobs, (size_t)j), j, segments, slotwise);
    }
    if (storage) {
        golden_storage(made, json_object_get(file, "bess"));
    }
    json_decref(file);
    return made;
}

/* --- results ---------------------------------------------------------------------------------- */

void instance_result_init(instance_result *made, const ckpd_path_view *view)
{
    size_t jobs = (size_t)view->jobs, slots = (size_t)view->slots;
    made->ints = calloc(jobs + 3 * jobs * slots + 1, sizeof(int32_t));
    made->reals = calloc(2 * slots, sizeof(double));
    ck_assert_ptr_nonnull(made->ints);
    ck_assert_ptr_nonnull(made->reals);
    made->plan =
        (ckpd_path_plan){.size = sizeof made->plan,
                         .step_count = made->ints,
                         .step_slot = made->ints + jobs,
                         .step_move = made->ints + jobs + jobs * slots,
                         .slot_mode = made->ints + jobs + 2 * jobs * slots,
                         .charge_kw = view->storage != NULL ? made->reals : NULL,
                         .discharge_kw = view->storage != NULL ? made->reals + slots : NULL};
    made->result = (ckpd_path_result){.size = sizeof made->result, .plan = &made->plan};
}

void instance_result_free(instance_result *made)
{
    free(made->ints);
    free(made->reals);
}
