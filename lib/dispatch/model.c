/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The path view of a scenario. */
#include "dispatch/dispatch.h"

#include <math.h>
#include <string.h>

/* Caps met exactly must not be missed by rounding; the same for work. */
static const double CAP_SLACK = 1e-9;
static const double WORK_TOLERANCE = 1e-9;
/* What a year-long slot leaves of the energy is nothing: backends want a positive share. */
static const double LEAST_RETENTION = 1e-6;

void *ckpd__model_block(ckpd__model *model, size_t count, size_t bytes)
{
    if (model->blocks == model->block_room) {
        int32_t room = 2 * model->block_room + 16;
        void **grown =
            ckpd__realloc(model->context, (void *)model->block, (size_t)room, sizeof(void *));
        if (grown == NULL) {
            return NULL;
        }
        model->block = grown;
        model->block_room = room;
    }
    void *block = ckpd__calloc(model->context, count, bytes);
    if (block != NULL) {
        model->block[model->blocks++] = block;
    }
    return block;
}

void ckpd__model_free(ckpd__model *model)
{
    ckpd_context *context = model->context;
    for (int32_t i = 0; i < model->blocks; i++) {
        ckpd__free(context, model->block[i]);
    }
    ckpd__free(context, (void *)model->block);
    ckpd__pwl_free(context, &model->curves);
    model->blocks = 0;
    model->block = NULL;
}

/* --- jobs ------------------------------------------------------------------------------------- */

double ckpd__continuous_length(const ckpd_graph *graph, int32_t segments)
{
    const ckpd__graph_spec *s = &graph->spec;
    double start_h = 0;
    if (s->overhead_hours != NULL) {
        start_h =
            s->overhead_hours[(size_t)(s->running + 1) * (size_t)s->modes + (size_t)s->baseline];
    }
    return ckpd__graph_length(s, s->baseline, segments, start_h);
}

int32_t ckpd__continuous_slots(const ckpd_graph *graph)
{
    int32_t to_do = graph->spec.segments - graph->source_segment;
    if (to_do == 0) {
        return 0;
    }
    return ckpd__graph_slots(ckpd__continuous_length(graph, to_do));
}

bool ckpd__going_fits(const ckpd_graph *graph)
{
    const ckpd__graph_spec *s = &graph->spec;
    int32_t to_do = s->segments - graph->source_segment - graph->going_segments;
    int32_t rest = to_do > 0 ? ckpd__graph_slots(ckpd__continuous_length(graph, to_do)) : 0;
    return graph->going_slots > 0 && rest <= s->last - graph->going_slots;
}

/* What every kind of job has. */
static ckpd_path_job common_job(const ckpd_graph *graph)
{
    return (ckpd_path_job){.size = sizeof(ckpd_path_job),
                           .name = graph->spec.name,
                           .kind = CKPD_JOB_PATHS,
                           .segments = graph->spec.segments,
                           .source_slot = graph->source_slot,
                           .source_segment = graph->source_segment,
                           .source_state = 0,
                           .deadline = graph->spec.last,
                           .may_wait = 1,
                           .modes = graph->spec.modes,
                           .mode_gpus = graph->mode_gpus,
                           .mode_power_kw = graph->mode_power_kw,
                           .states = 1,
                           .fixed_power_kw = graph->fixed_power_kw,
                           .fixed_gpus = graph->fixed_gpus};
}

/* The table of edge costs with what finishing late costs besides. */
static int32_t add_lateness(ckpd__model *model, const ckpd_graph *graph, ckpd_path_job *job)
{
    const ckpd__graph_spec *s = &graph->spec;
    size_t cells = (size_t)s->slots * (size_t)s->segments;
    if (!s->may_be_late || s->deadline >= s->last || s->late_price == 0) {
        return CKPD_OK;
    }
    double *cost = ckpd__model_block(model, (size_t)job->moves * cells, sizeof *cost);
    if (cost == NULL) {
        return ckpd__no_memory(model->context);
    }
    if (job->edge_cost != NULL) {
        memcpy(cost, job->edge_cost, (size_t)job->moves * cells * sizeof *cost);
    }
    for (int32_t i = 0; i < job->moves; i++) {
        int32_t from = s->segments - job->move_segments[i]; /* the move that finishes the job */
        for (int32_t t = 0; t + job->move_slots[i] <= s->last; t++) {
            cost[ckpd__graph_edge(graph, i, t, from)] +=
                ckpd__graph_late_cost(s, t + job->move_slots[i]);
        }
    }
    job->edge_cost = cost;
    return CKPD_OK;
}

/* A copy of `count` entries with room for one more. */
static void *extended(ckpd__model *model, const void *from, size_t count, size_t bytes)
{
    void *copy = ckpd__model_block(model, count + 1, bytes);
    if (copy != NULL && from != NULL && count > 0) {
        memcpy(copy, from, count * bytes);
    }
    return copy;
}

/* Adds the rest of a running edge that may be given up as a move that exists at the source only. */
static int32_t add_going(ckpd__model *model, const ckpd_graph *graph, ckpd_path_job *job)
{
    const ckpd__graph_spec *s = &graph->spec;
    size_t n = (size_t)job->moves, cells = (size_t)s->slots * (size_t)s->segments;
    if (graph->going_slots == 0) {
        return CKPD_OK;
    }
    int32_t *mode = extended(model, job->move_mode, n, sizeof *mode);
    int32_t *slots = extended(model, job->move_slots, n, sizeof *slots);
    int32_t *segments = extended(model, job->move_segments, n, sizeof *segments);
    int32_t *classes = extended(model, job->move_class, n, sizeof *classes);
    double *last = extended(model, job->move_last_kw, n, sizeof *last);
    double *cost = ckpd__model_block(model, (n + 1) * cells, sizeof *cost);
    if (cost != NULL && job->edge_cost != NULL) {
        memcpy(cost, job->edge_cost, n * cells * sizeof *cost);
    }
    uint8_t *closed = ckpd__model_block(model, n + 1, cells);
    if (mode == NULL || slots == NULL || segments == NULL || classes == NULL || last == NULL ||
        cost == NULL || closed == NULL) {
        return ckpd__no_memory(model->context);
    }
    for (size_t i = 0; i <= n; i++) {
        classes[i] = job->move_class == NULL ? 1 : classes[i];
        last[i] = job->move_last_kw == NULL && i < n ? job->mode_power_kw[mode[i]] : last[i];
    }
    mode[n] = graph->going_mode;
    slots[n] = graph->going_slots;
    segments[n] = graph->going_segments;
    classes[n] = ckpd__graph_class(job->transition, job->modes, job->source_state, mode[n]);
    last[n] = graph->going_last_kw;
    memset(closed + n * cells, 1, cells);
    closed[ckpd__graph_edge(graph, (int32_t)n, 0, graph->source_segment)] = 0;
    job->move_mode = mode;
    job->move_slots = slots;
    job->move_segments = segments;
    job->move_class = classes;
    job->move_last_kw = last;
    job->edge_cost = job->edge_cost != NULL ? cost : NULL;
    job->edge_closed = closed;
    job->moves++;
    return CKPD_OK;
}

static int32_t free_job(ckpd__model *model, const ckpd_graph *graph, ckpd_path_job *job)
{
    *job = common_job(graph);
    job->source_state = graph->source_state;
    job->moves = graph->moves.count;
    job->states = graph->states;
    job->move_mode = graph->moves.mode;
    job->move_slots = graph->moves.slots;
    job->move_segments = graph->moves.segments;
    job->move_class = graph->moves.transition_class;
    job->move_last_kw = graph->moves.last_kw;
    job->transition = graph->transition;
    job->node_open = graph->node_open;
    job->edge_cost = graph->edge_cost;
    int32_t status = add_going(model, graph, job);
    return status == CKPD_OK ? add_lateness(model, graph, job) : status;
}

/* Continuous training goes on with a running edge that may be given up, where that fits. */
static int32_t fix_going(ckpd__model *model, const ckpd_graph *graph, ckpd_path_job *job)
{
    const ckpd__graph_spec *s = &graph->spec;
    if (!ckpd__going_fits(graph)) {
        return CKPD_OK;
    }
    double *power = ckpd__model_block(model, (size_t)s->slots, sizeof *power);
    int32_t *gpus = ckpd__model_block(model, (size_t)s->slots, sizeof *gpus);
    if (power == NULL || gpus == NULL) {
        return ckpd__no_memory(model->context);
    }
    for (int32_t t = 0; t < graph->going_slots; t++) {
        power[t] = t == graph->going_slots - 1 ? graph->going_last_kw
                                               : graph->mode_power_kw[graph->going_mode];
        gpus[t] = graph->mode_gpus[graph->going_mode];
    }
    job->fixed_power_kw = power;
    job->fixed_gpus = gpus;
    job->source_slot = graph->going_slots;
    job->source_segment += graph->going_segments;
    return CKPD_OK;
}

/* Money of the one edge of a continuous job, from the table the graph was built with, and of its
 * lateness. */
static int32_t continuous_cost(ckpd__model *model, const ckpd_graph *graph, int32_t to_do,
                               ckpd_path_job *job)
{
    const ckpd__graph_spec *s = &graph->spec;
    double late = ckpd__graph_late_cost(s, job->source_slot + job->move_slots[0]);
    if (graph->edge_cost == NULL && late == 0) {
        return CKPD_OK;
    }
    int32_t baseline = s->baseline;
    int32_t wanted = ckpd__graph_class(graph->transition, s->modes, graph->source_state, baseline);
    int32_t move = ckpd__graph_find_move(graph, baseline, to_do, wanted);
    /* Left out of the graph because a split costs the same: then a start costs the same, however
     * long the edge. */
    for (int32_t n = 1; n < to_do && move < 0; n++) {
        move = ckpd__graph_find_move(graph, baseline, n, wanted);
    }
    double *cost = ckpd__model_block(model, (size_t)s->slots * (size_t)s->segments, sizeof *cost);
    if (cost == NULL) {
        return ckpd__no_memory(model->context);
    }
    size_t at = (size_t)job->source_slot * (size_t)s->segments + (size_t)job->source_segment;
    job->edge_cost = cost;
    if (move >= 0 && graph->edge_cost != NULL) {
        cost[at] =
            graph->edge_cost[ckpd__graph_edge(graph, move, job->source_slot, job->source_segment)];
    }
    cost[at] += late;
    return CKPD_OK;
}

/* One edge over all that is left, in the baseline mode, from the source on. */
static int32_t continuous_job(ckpd__model *model, const ckpd_graph *graph, ckpd_path_job *job)
{
    const ckpd__graph_spec *s = &graph->spec;
    int32_t *move = ckpd__model_block(model, 3, sizeof *move);
    double *last = ckpd__model_block(model, 1, sizeof *last);
    size_t row = (size_t)s->segments + 1;
    uint8_t *open = ckpd__model_block(model, (size_t)s->slots + 1, row);
    *job = common_job(graph);
    if (move == NULL || last == NULL || open == NULL || fix_going(model, graph, job) != CKPD_OK) {
        return ckpd__no_memory(model->context);
    }
    int32_t to_do = s->segments - job->source_segment;
    double length = to_do > 0 ? ckpd__continuous_length(graph, to_do) : 0;
    int32_t slots = to_do > 0 ? ckpd__graph_slots(length) : 0;
    job->may_wait = 0;
    job->node_open = open;
    job->move_mode = &move[0];
    job->move_slots = &move[1];
    job->move_segments = &move[2];
    job->move_last_kw = last;
    if (slots > s->last - job->source_slot) {
        return CKPD_OK; /* no open node: said as a cause before any solve */
    }
    open[(size_t)job->source_slot * row + (size_t)job->source_segment] = 1;
    open[(size_t)(job->source_slot + slots) * row + (size_t)s->segments] = 1;
    if (to_do == 0) {
        return CKPD_OK;
    }
    move[0] = s->baseline;
    move[1] = slots;
    move[2] = to_do;
    last[0] = ckpd__graph_last_power(s, s->baseline, length, slots);
    job->moves = 1;
    return continuous_cost(model, graph, to_do, job);
}

/* S3: any mode in any slot, as long as the work is done. */
static int32_t slotwise_job(ckpd__model *model, const ckpd_graph *graph, ckpd_path_job *job)
{
    const ckpd__graph_spec *s = &graph->spec;
    double *work = ckpd__model_block(model, (size_t)s->modes, sizeof *work);
    if (work == NULL) {
        return ckpd__no_memory(model->context);
    }
    for (int32_t m = 0; m < s->modes; m++) {
        work[m] = s->mode[m].rate * 3600.0 * s->slot_hours * (1.0 - s->save_share);
    }
    *job = common_job(graph);
    job->kind = CKPD_JOB_SLOTWISE;
    job->mode_work_per_slot = work;
    /* A running edge that may be given up: its work counts, given up or not, so that this stays a
       lower bound. */
    double done = s->running >= 0 && s->may_lose ? s->running_slots * work[s->running] : 0;
    double left = (s->segments - graph->source_segment) * (s->work / s->segments) - done;
    job->work_required = fmax(0.0, left) * (1.0 - WORK_TOLERANCE);
    return CKPD_OK;
}

static int32_t make_jobs(ckpd__model *model)
{
    const ckpd_problem *problem = model->problem;
    model->job = ckpd__model_block(model, (size_t)problem->jobs, sizeof *model->job);
    model->job_list = ckpd__model_block(model, (size_t)problem->jobs, sizeof(ckpd_path_job *));
    if (model->job == NULL || model->job_list == NULL) {
        return ckpd__no_memory(model->context);
    }
    int32_t status = CKPD_OK;
    for (int32_t j = 0; j < problem->jobs && status == CKPD_OK; j++) {
        const ckpd_graph *graph = problem->job[j];
        model->job_list[j] = &model->job[j];
        if (model->scenario == CKPD_SCENARIO_S3) {
            status = slotwise_job(model, graph, &model->job[j]);
        } else if (ckpd__scenario_is_continuous(model->scenario)) {
            status = continuous_job(model, graph, &model->job[j]);
        } else {
            status = free_job(model, graph, &model->job[j]);
        }
        /* A running edge that finishes its job after the deadline: no plan changes that. */
        const ckpd_path_job *job = &model->job[j];
        if (status == CKPD_OK && job->kind == CKPD_JOB_PATHS && job->fixed_power_kw != NULL &&
            job->source_segment == job->segments) {
            model->view.cost_offset += ckpd__graph_late_cost(&graph->spec, job->source_slot);
        }
    }
    return status;
}

/* --- storage ---------------------------------------------------------------------------------- */

double ckpd__battery_retention(const ckpd_site *site)
{
    return pow(1.0 - site->battery[CKPD__BATTERY_SELF_DISCHARGE], site->slot_hours);
}

static void make_storage(ckpd__model *model)
{
    const ckpd_site *site = model->problem->site;
    const double *b = site->battery;
    if (!ckpd__scenario_has_storage(model->scenario)) {
        return;
    }
    bool no_power = b[CKPD__BATTERY_CHARGE] == 0 && b[CKPD__BATTERY_DISCHARGE] == 0;
    if (no_power || b[CKPD__BATTERY_ENERGY] == 0) {
        model->idle_storage = true;
        return;
    }
    static const int32_t terminals[] = {[CKPD__TERMINAL_EQUAL] = CKPD_TERMINAL_EQUAL,
                                        [CKPD__TERMINAL_AT_LEAST] = CKPD_TERMINAL_AT_LEAST,
                                        [CKPD__TERMINAL_FREE] = CKPD_TERMINAL_FREE};
    int32_t terminal = terminals[(int32_t)b[CKPD__BATTERY_TERMINAL]];
    model->storage = (ckpd_path_storage){
        .size = sizeof model->storage,
        .charge_max_kw = b[CKPD__BATTERY_CHARGE],
        .discharge_max_kw = b[CKPD__BATTERY_DISCHARGE],
        .eta_charge = b[CKPD__BATTERY_ETA_CHARGE],
        .eta_discharge = b[CKPD__BATTERY_ETA_DISCHARGE],
        .retention = fmax(LEAST_RETENTION, ckpd__battery_retention(site)),
        .soc_min_kwh = b[CKPD__BATTERY_SOC_MIN],
        .soc_max_kwh = b[CKPD__BATTERY_SOC_MAX],
        .soc_start_kwh = b[CKPD__BATTERY_SOC_START],
        .terminal = terminal,
        .soc_end_kwh = terminal == CKPD_TERMINAL_FREE ? 0 : b[CKPD__BATTERY_SOC_END],
        .end_value_per_kwh = b[CKPD__BATTERY_END_VALUE] / 1000.0,
        .throughput_cost_per_kwh = b[CKPD__BATTERY_THROUGHPUT_COST] / 1000.0};
    if (terminal != CKPD_TERMINAL_FREE && !isnan(b[CKPD__BATTERY_SOC_END_PRICE])) {
        double price = b[CKPD__BATTERY_SOC_END_PRICE] / 1000.0;
        model->storage.terminal = CKPD_TERMINAL_FREE;
        model->storage.end_short_cost_per_kwh = price;
        model->storage.end_over_cost_per_kwh = terminal == CKPD_TERMINAL_EQUAL ? price : 0;
    }
    model->view.storage = &model->storage;
}

/* --- slots ------------------------------------------------------------------------------------ */

/* Most IT power a job can draw in a slot. */
static double most_power(const ckpd__model *model, const ckpd_path_job *job, int32_t slot)
{
    double most = job->fixed_power_kw != NULL ? job->fixed_power_kw[slot] : 0;
    if (slot < job->source_slot || slot >= job->deadline) {
        return most;
    }
    double gpu_cap = ckpd__site_hard_cap(model->problem->site, CKPD__GPU_CAP, slot);
    if (job->may_wait == 0) {
        return fmax(most, job->moves > 0 ? job->mode_power_kw[job->move_mode[0]] : 0);
    }
    for (int32_t m = 0; m < job->modes; m++) {
        if (job->mode_gpus[m] <= gpu_cap) {
            most = fmax(most, job->mode_power_kw[m]);
        }
    }
    return most;
}

/* What net draw the devices can make in a slot. */
static void reach_of_devices(ckpd__model *model, int32_t slot)
{
    const ckpd_path_storage *storage = model->view.storage;
    double charge = storage != NULL ? storage->charge_max_kw : 0;
    double discharge = storage != NULL ? storage->discharge_max_kw : 0;
    double jobs = 0;
    for (int32_t j = 0; j < model->problem->jobs; j++) {
        jobs += most_power(model, &model->job[j], slot);
    }
    double base = model->base_load_kw[slot];
    double most = base + model->view.load_factor[slot] * jobs;
    model->draw_low_kw[slot] = base - discharge;
    model->draw_high_kw[slot] = fmax(base, fmin(most, model->load_cap_kw[slot])) + charge;
}

static int32_t add_curve(ckpd__model *model, int32_t slot)
{
    ckpd_context *context = model->context;
    const ckpd_site *site = model->problem->site;
    double low = model->draw_low_kw[slot];
    double high = model->draw_high_kw[slot];
    ckpd__tariff tariff;
    ckpd__pwl curve = {0, 0, NULL, NULL};
    int32_t status = ckpd__tariff_make(context, site, slot, low, high, &tariff);
    if (status != CKPD_OK) {
        return status;
    }
    status = ckpd__tariff_curve(context, site, slot, &tariff, low, high, &curve);
    ckpd__tariff_free(context, &tariff);
    if (status != CKPD_OK) {
        return status;
    }
    model->curve_convex[slot] = ckpd__pwl_tidy(&curve);
    model->curve_start[slot] = model->curves.count;
    for (int32_t i = 0; i < curve.count && status == CKPD_OK; i++) {
        status = ckpd__pwl_add_point(context, &model->curves, curve.x[i], curve.y[i]);
    }
    ckpd__pwl_free(context, &curve);
    return status;
}

static int32_t make_slots(ckpd__model *model)
{
    const ckpd_site *site = model->problem->site;
    size_t slots = (size_t)site->slots;
    double *block = ckpd__model_block(model, 4 * slots, sizeof *block);
    model->curve_start = ckpd__model_block(model, slots + 1, sizeof *model->curve_start);
    model->curve_convex = ckpd__model_block(model, slots, 1);
    if (block == NULL || model->curve_start == NULL || model->curve_convex == NULL) {
        return ckpd__no_memory(model->context);
    }
    model->base_load_kw = block;
    model->load_cap_kw = block + slots;
    model->draw_low_kw = block + 2 * slots;
    model->draw_high_kw = block + 3 * slots;
    model->view.load_factor = site->series[CKPD__PUE];
    int32_t status = CKPD_OK;
    for (int32_t t = 0; t < site->slots && status == CKPD_OK; t++) {
        double cap = ckpd__site_hard_cap(site, CKPD__SITE_CAP, t);
        model->base_load_kw[t] = site->series[CKPD__PUE][t] * site->series[CKPD__BASE_IT][t];
        model->load_cap_kw[t] = isinf(cap) ? cap : cap + CAP_SLACK * fmax(1.0, cap);
        reach_of_devices(model, t);
        status = add_curve(model, t);
    }
    model->curve_start[site->slots] = model->curves.count;
    return status;
}

/* --- all together ----------------------------------------------------------------------------- */

/* Energy in a battery that nothing can move, at the end. */
static double idle_end(const ckpd_site *site)
{
    double soc = site->battery[CKPD__BATTERY_SOC_START];
    for (int32_t t = 0; t < site->slots; t++) {
        soc *= ckpd__battery_retention(site);
    }
    return soc;
}

int32_t ckpd__model_build(ckpd__model *model, const ckpd_problem *problem, int32_t scenario)
{
    const ckpd_site *site = problem->site;
    memset(model, 0, sizeof *model);
    model->context = problem->context;
    model->problem = problem;
    model->scenario = scenario;
    model->view.slots = site->slots;
    model->view.slot_hours = site->slot_hours;
    make_storage(model);
    int32_t status = make_jobs(model);
    if (status == CKPD_OK) {
        status = make_slots(model);
    }
    if (status == CKPD_OK) {
        status = ckpd__model_limits(model);
    }
    if (status != CKPD_OK) {
        return status;
    }
    ckpd_path_view *view = &model->view;
    view->size = sizeof *view;
    view->jobs = problem->jobs;
    if (model->idle_storage) {
        view->cost_offset -= site->battery[CKPD__BATTERY_END_VALUE] / 1000.0 * idle_end(site);
        view->cost_offset += ckpd__end_penalty(site, idle_end(site));
    }
    view->job = model->job_list;
    view->base_load_kw = model->base_load_kw;
    view->load_cap_kw = model->load_cap_kw;
    view->curve_start = model->curve_start;
    view->curve_x_kw = model->curves.x;
    view->curve_cost = model->curves.y;
    view->curve_convex = model->curve_convex;
    return CKPD_OK;
}
