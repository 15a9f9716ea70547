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

/* A zero-filled array that lives as long as the model; NULL when out of memory. */
static void *make_block(ckpd__model *model, size_t count, size_t bytes)
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

int32_t ckpd__continuous_slots(const ckpd_graph *graph)
{
    int32_t to_do = graph->spec.segments - graph->source_segment;
    if (to_do == 0) {
        return 0;
    }
    return ckpd__graph_slots(ckpd__graph_length(&graph->spec, graph->spec.baseline, to_do, 0));
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
                           .deadline = graph->spec.deadline,
                           .may_wait = 1,
                           .modes = graph->spec.modes,
                           .mode_gpus = graph->mode_gpus,
                           .mode_power_kw = graph->mode_power_kw,
                           .states = 1,
                           .fixed_power_kw = graph->fixed_power_kw,
                           .fixed_gpus = graph->fixed_gpus};
}

static ckpd_path_job free_job(const ckpd_graph *graph)
{
    ckpd_path_job job = common_job(graph);
    job.source_state = graph->source_state;
    job.moves = graph->moves.count;
    job.states = graph->states;
    job.move_mode = graph->moves.mode;
    job.move_slots = graph->moves.slots;
    job.move_segments = graph->moves.segments;
    job.move_class = graph->moves.transition_class;
    job.move_last_kw = graph->moves.last_kw;
    job.transition = graph->transition;
    job.node_open = graph->node_open;
    job.edge_cost = graph->edge_cost;
    return job;
}

/* Money of the one edge of a continuous job, from the table the graph was built with. */
static int32_t continuous_cost(ckpd__model *model, const ckpd_graph *graph, int32_t to_do,
                               ckpd_path_job *job)
{
    if (graph->edge_cost == NULL) {
        return CKPD_OK;
    }
    int32_t baseline = graph->spec.baseline;
    int32_t wanted =
        ckpd__graph_class(graph->transition, graph->spec.modes, graph->source_state, baseline);
    int32_t move = ckpd__graph_find_move(graph, baseline, to_do, wanted);
    double *cost =
        make_block(model, (size_t)graph->spec.slots * (size_t)graph->spec.segments, sizeof *cost);
    if (cost == NULL) {
        return ckpd__no_memory(model->context);
    }
    job->edge_cost = cost;
    if (move >= 0) {
        size_t at = (size_t)graph->source_slot * (size_t)graph->spec.segments +
                    (size_t)graph->source_segment;
        cost[at] = graph->edge_cost[ckpd__graph_edge(graph, move, graph->source_slot,
                                                     graph->source_segment)];
    }
    return CKPD_OK;
}

/* One edge over all that is left, in the baseline mode, from the source on. */
static int32_t continuous_job(ckpd__model *model, const ckpd_graph *graph, ckpd_path_job *job)
{
    const ckpd__graph_spec *s = &graph->spec;
    int32_t to_do = s->segments - graph->source_segment;
    int32_t slots = ckpd__continuous_slots(graph);
    int32_t *move = make_block(model, 3, sizeof *move);
    double *last = make_block(model, 1, sizeof *last);
    size_t row = (size_t)s->segments + 1;
    uint8_t *open = make_block(model, (size_t)s->slots + 1, row);
    if (move == NULL || last == NULL || open == NULL) {
        return ckpd__no_memory(model->context);
    }
    *job = common_job(graph);
    job->may_wait = 0;
    job->node_open = open;
    job->move_mode = &move[0];
    job->move_slots = &move[1];
    job->move_segments = &move[2];
    job->move_last_kw = last;
    if (slots > s->deadline - graph->source_slot) {
        return CKPD_OK; /* no open node: said as a cause before any solve */
    }
    open[(size_t)graph->source_slot * row + (size_t)graph->source_segment] = 1;
    open[(size_t)(graph->source_slot + slots) * row + (size_t)s->segments] = 1;
    if (to_do == 0) {
        return CKPD_OK;
    }
    move[0] = s->baseline;
    move[1] = slots;
    move[2] = to_do;
    last[0] =
        ckpd__graph_last_power(s, s->baseline, ckpd__graph_length(s, s->baseline, to_do, 0), slots);
    job->moves = 1;
    return continuous_cost(model, graph, to_do, job);
}

/* S3: any mode in any slot, as long as the work is done. */
static int32_t slotwise_job(ckpd__model *model, const ckpd_graph *graph, ckpd_path_job *job)
{
    const ckpd__graph_spec *s = &graph->spec;
    double *work = make_block(model, (size_t)s->modes, sizeof *work);
    if (work == NULL) {
        return ckpd__no_memory(model->context);
    }
    for (int32_t m = 0; m < s->modes; m++) {
        work[m] = s->mode[m].rate * 3600.0 * s->slot_hours * (1.0 - s->save_share);
    }
    *job = common_job(graph);
    job->kind = CKPD_JOB_SLOTWISE;
    job->mode_work_per_slot = work;
    job->work_required =
        (s->segments - graph->source_segment) * (s->work / s->segments) * (1.0 - WORK_TOLERANCE);
    return CKPD_OK;
}

static int32_t make_jobs(ckpd__model *model)
{
    const ckpd_problem *problem = model->problem;
    model->job = make_block(model, (size_t)problem->jobs, sizeof *model->job);
    model->job_list = make_block(model, (size_t)problem->jobs, sizeof(ckpd_path_job *));
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
            model->job[j] = free_job(graph);
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
        /* A start below the minimum (recover_soc) lowers it: the way back is not forced. */
        .soc_min_kwh = fmin(b[CKPD__BATTERY_SOC_MIN], b[CKPD__BATTERY_SOC_START]),
        .soc_max_kwh = b[CKPD__BATTERY_SOC_MAX],
        .soc_start_kwh = b[CKPD__BATTERY_SOC_START],
        .terminal = terminal,
        .soc_end_kwh = terminal == CKPD_TERMINAL_FREE ? 0 : b[CKPD__BATTERY_SOC_END],
        .end_value_per_kwh = b[CKPD__BATTERY_END_VALUE] / 1000.0,
        .throughput_cost_per_kwh = b[CKPD__BATTERY_THROUGHPUT_COST] / 1000.0};
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
    double gpu_cap = model->problem->site->series[CKPD__GPU_CAP][slot];
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
    double *block = make_block(model, 4 * slots, sizeof *block);
    model->curve_start = make_block(model, slots + 1, sizeof *model->curve_start);
    model->curve_convex = make_block(model, slots, 1);
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
        double cap = site->series[CKPD__SITE_CAP][t];
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
    make_storage(model);
    int32_t status = make_jobs(model);
    if (status == CKPD_OK) {
        status = make_slots(model);
    }
    if (status != CKPD_OK) {
        return status;
    }
    ckpd_path_view *view = &model->view;
    view->size = sizeof *view;
    view->slots = site->slots;
    view->jobs = problem->jobs;
    view->slot_hours = site->slot_hours;
    if (model->idle_storage) {
        view->cost_offset = 0.0 - site->battery[CKPD__BATTERY_END_VALUE] / 1000.0 * idle_end(site);
    }
    view->job = model->job_list;
    view->base_load_kw = model->base_load_kw;
    view->load_cap_kw = model->load_cap_kw;
    view->gpu_cap = site->series[CKPD__GPU_CAP];
    view->curve_start = model->curve_start;
    view->curve_x_kw = model->curves.x;
    view->curve_cost = model->curves.y;
    view->curve_convex = model->curve_convex;
    return CKPD_OK;
}
