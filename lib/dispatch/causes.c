/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Why there is no plan, in words with amounts: cheapest checks first, every fault that is found is
 * named. */
#include "dispatch/dispatch.h"

#include <math.h>
#include <string.h>

static const double SHORT_TOLERANCE = 1e-6;

/* --- list ------------------------------------------------------------------------------------- */

void ckpd__causes_add(ckpd__causes *causes, const char *text)
{
    if (causes->count == causes->room) {
        int32_t room = 2 * causes->room + 4;
        char **grown =
            ckpd__realloc(causes->context, (void *)causes->text, (size_t)room, sizeof(char *));
        if (grown == NULL) {
            causes->out_of_memory = true;
            return;
        }
        causes->text = grown;
        causes->room = room;
    }
    char *copy = ckpd__strdup(causes->context, text);
    if (copy == NULL) {
        causes->out_of_memory = true;
        return;
    }
    causes->text[causes->count++] = copy;
}

void ckpd__causes_free(ckpd__causes *causes)
{
    for (int32_t i = 0; i < causes->count; i++) {
        ckpd__free(causes->context, causes->text[i]);
    }
    ckpd__free(causes->context, (void *)causes->text);
    causes->text = NULL;
    causes->count = causes->room = 0;
}

#define ADD(causes, ...)                                \
    do {                                                \
        char text_[CKPD__CAUSE_LENGTH];                 \
        ckpd__format(text_, sizeof text_, __VA_ARGS__); \
        ckpd__causes_add(causes, text_);                \
    } while (0)

/* --- jobs ------------------------------------------------------------------------------------- */

/* Earliest boundary at which each number of segments can be complete, without deadline and caps. */
static bool earliest_alone(const ckpd__model *model, int32_t job, int32_t *segments,
                           int32_t *deadline)
{
    const ckpd_graph *graph = model->problem->job[job];
    ckpd_context *context = model->context;
    uint8_t *transition = NULL;
    double *hours = NULL;
    double *cost = NULL;
    int32_t classes = 0;
    ckpd__moves moves = {0, NULL, NULL, NULL, NULL, NULL};
    size_t cells = (size_t)graph->states * (size_t)(graph->spec.segments + 1);
    int32_t *earliest = ckpd__calloc(context, cells, sizeof *earliest);
    bool made = earliest != NULL &&
                ckpd__graph_classes(context, &graph->spec, &transition, &hours, &cost, &classes) ==
                    CKPD_OK &&
                ckpd__graph_moves(context, &graph->spec, CKPD__NEVER - 1, transition, hours, cost,
                                  classes, &moves, NULL, 0) == CKPD_OK;
    if (made) {
        ckpd__reach_problem reach = {&moves,
                                     transition,
                                     graph->states,
                                     graph->spec.modes,
                                     graph->spec.segments,
                                     graph->source_slot,
                                     graph->source_segment,
                                     graph->source_state,
                                     graph->going_slots,
                                     graph->source_segment + graph->going_segments,
                                     graph->source_state};
        ckpd__graph_earliest(&reach, CKPD__NEVER - 1, earliest);
        *deadline = CKPD__NEVER;
        *segments = graph->spec.start_segments;
        for (size_t i = 0; i < cells; i++) {
            int32_t k = (int32_t)(i % (size_t)(graph->spec.segments + 1));
            if (k == graph->spec.segments && earliest[i] < *deadline) {
                *deadline = earliest[i];
            }
            if (earliest[i] <= graph->spec.last && k > *segments) {
                *segments = k;
            }
        }
    }
    ckpd__graph_free_moves(context, &moves);
    ckpd__free(context, transition);
    ckpd__free(context, hours);
    ckpd__free(context, cost);
    ckpd__free(context, earliest);
    return made;
}

static void add_late_job(ckpd__causes *causes, const ckpd__graph_spec *s, int32_t segments,
                         int32_t earliest)
{
    if (s->may_be_late) {
        ADD(causes,
            "job '%s' cannot finish by the end of the horizon (%d slots): %d of %d segments at "
            "most",
            s->name, s->slots, segments, s->segments);
        return;
    }
    if (earliest >= CKPD__NEVER) {
        ADD(causes,
            "job '%s' cannot finish by its deadline (boundary %d): %d of %d segments at most, and "
            "no "
            "deadline would do",
            s->name, s->deadline, segments, s->segments);
        return;
    }
    ADD(causes,
        "job '%s' cannot finish by its deadline (boundary %d): %d of %d segments at most; the "
        "earliest "
        "feasible deadline is boundary %d",
        s->name, s->deadline, segments, s->segments, earliest);
}

static void check_free_job(ckpd__causes *causes, const ckpd__model *model, int32_t job)
{
    const ckpd_graph *graph = model->problem->job[job];
    int32_t segments = 0;
    int32_t earliest = 0;
    if (graph->has_path) {
        return;
    }
    if (!earliest_alone(model, job, &segments, &earliest)) {
        causes->out_of_memory = true;
        return;
    }
    add_late_job(causes, &graph->spec, segments, earliest);
}

static void check_continuous_job(ckpd__causes *causes, const ckpd__model *model, int32_t job)
{
    const ckpd_graph *graph = model->problem->job[job];
    int32_t slots = ckpd__continuous_slots(graph);
    int32_t room = graph->spec.last - graph->source_slot;
    if (slots <= room || ckpd__going_fits(graph)) {
        return;
    }
    if (slots >= CKPD__NEVER || graph->spec.may_be_late) {
        add_late_job(causes, &graph->spec, graph->source_segment, slots);
        return;
    }
    ADD(causes,
        "job '%s' needs %d slots of its baseline mode from boundary %d on, %d are left before its "
        "deadline; "
        "the earliest feasible deadline is boundary %d",
        graph->spec.name, slots, graph->source_slot, room > 0 ? room : 0,
        graph->source_slot + slots);
}

static void check_slotwise_job(ckpd__causes *causes, const ckpd__model *model, int32_t job)
{
    const ckpd_path_job *j = &model->job[job];
    double most = 0;
    for (int32_t t = j->source_slot; t < j->deadline; t++) {
        double best = 0;
        for (int32_t m = 0; m < j->modes; m++) {
            if (j->mode_gpus[m] <= model->view.gpu_cap[t]) {
                best = fmax(best, j->mode_work_per_slot[m]);
            }
        }
        most += best;
    }
    if (most < j->work_required * (1 - 1e-12)) {
        const ckpd__graph_spec *s = &model->problem->job[job]->spec;
        double needed = s->work * (s->segments - j->source_segment) / s->segments;
        ADD(causes, "job '%s' can do %g %% of its work by its deadline at most", j->name,
            100.0 * most / needed);
    }
}

static void check_jobs(ckpd__causes *causes, const ckpd__model *model)
{
    for (int32_t j = 0; j < model->problem->jobs; j++) {
        const ckpd_graph *graph = model->problem->job[j];
        if (graph->source_slot > graph->spec.last) {
            ADD(causes,
                "job '%s': the edge that runs at the start ends at boundary %d, after the deadline "
                "%d",
                graph->spec.name, graph->source_slot, graph->spec.last);
        } else if (model->scenario == CKPD_SCENARIO_S3) {
            check_slotwise_job(causes, model, j);
        } else if (ckpd__scenario_is_continuous(model->scenario)) {
            check_continuous_job(causes, model, j);
        } else {
            check_free_job(causes, model, j);
        }
    }
}

/* --- slots ------------------------------------------------------------------------------------ */

/* Names the runs of slots where `short_by` is positive, with the largest amount of each. */
static void add_ranges(ckpd__causes *causes, const char *limit, const char *unit,
                       const double *short_by, int32_t slots)
{
    for (int32_t t = 0; t < slots; t++) {
        if (short_by[t] <= 0) {
            continue;
        }
        int32_t first = t;
        double most = short_by[t];
        while (t + 1 < slots && short_by[t + 1] > 0) {
            most = fmax(most, short_by[++t]);
        }
        ADD(causes, "%s in slots %d-%d: %g %s short", limit, first, t, most, unit);
    }
}

void ckpd__unavoidable(const ckpd__model *model, int32_t slot, double *it_kw, double *gpus)
{
    *it_kw = model->problem->site->series[CKPD__BASE_IT][slot];
    *gpus = 0;
    for (int32_t j = 0; j < model->problem->jobs; j++) {
        const ckpd_path_job *job = &model->job[j];
        *it_kw += job->fixed_power_kw != NULL ? job->fixed_power_kw[slot] : 0;
        *gpus += job->fixed_gpus != NULL ? job->fixed_gpus[slot] : 0;
        int32_t ran = slot - job->source_slot;
        if (job->kind == CKPD_JOB_PATHS && job->may_wait == 0 && job->moves == 1 && ran >= 0 &&
            ran < job->move_slots[0]) {
            bool last = ran == job->move_slots[0] - 1;
            *it_kw += last ? job->move_last_kw[0] : job->mode_power_kw[job->move_mode[0]];
            *gpus += job->mode_gpus[job->move_mode[0]];
        }
    }
}

static double above(double need, double have)
{
    double by = need - have;
    return by > SHORT_TOLERANCE * fmax(1.0, fabs(need)) ? by : 0.0;
}

static void check_slots(ckpd__causes *causes, const ckpd__model *model)
{
    int32_t slots = model->view.slots;
    double *const *series = model->problem->site->series;
    double *missing = ckpd__calloc(model->context, 3 * (size_t)slots, sizeof *missing);
    if (missing == NULL) {
        causes->out_of_memory = true;
        return;
    }
    double *gpu = missing;
    double *site = missing + slots;
    double *grid = missing + 2 * (size_t)slots;
    double discharge = model->view.storage != NULL ? model->view.storage->discharge_max_kw : 0;
    for (int32_t t = 0; t < slots; t++) {
        double it_kw, gpus;
        ckpd__unavoidable(model, t, &it_kw, &gpus);
        double load = series[CKPD__PUE][t] * it_kw;
        const ckpd_site *limits = model->problem->site;
        gpu[t] = above(gpus, ckpd__site_hard_cap(limits, CKPD__GPU_CAP, t));
        site[t] = above(load, ckpd__site_hard_cap(limits, CKPD__SITE_CAP, t));
        grid[t] = above(load, ckpd__site_hard_cap(limits, CKPD__IMPORT_CAP, t) +
                                  series[CKPD__WIND][t] + series[CKPD__SOLAR][t] + discharge);
    }
    add_ranges(causes, "GPU cap", "GPUs", gpu, slots);
    add_ranges(causes, "site cap", "kW", site, slots);
    add_ranges(causes, "grid cap", "kW", grid, slots);
    ckpd__free(model->context, missing);
}

/* --- storage ---------------------------------------------------------------------------------- */

static void check_reach(ckpd__causes *causes, double low, double high, double end, int32_t terminal)
{
    if (terminal != CKPD__TERMINAL_FREE && above(end, high) > 0) {
        ADD(causes, "end SOC: %g kWh needed, %g reachable", end, high);
    } else if (terminal == CKPD__TERMINAL_EQUAL && above(low, end) > 0) {
        ADD(causes, "end SOC: %g kWh needed, no less than %g reachable", end, low);
    }
}

static void check_storage(ckpd__causes *causes, const ckpd__model *model)
{
    const ckpd_site *site = model->problem->site;
    const double *b = site->battery;
    if (!ckpd__scenario_has_storage(model->scenario)) {
        return;
    }
    double retention = ckpd__battery_retention(site);
    double h = site->slot_hours;
    double high = b[CKPD__BATTERY_SOC_START];
    double low = high;
    for (int32_t t = 0; t < site->slots; t++) {
        double least =
            model->soc_floor_kwh != NULL ? model->soc_floor_kwh[t + 1] : b[CKPD__BATTERY_SOC_MIN];
        high = high * retention + b[CKPD__BATTERY_ETA_CHARGE] * b[CKPD__BATTERY_CHARGE] * h;
        if (above(least, high) > 0) {
            ADD(causes, "SOC falls to %g kWh by self-discharge at boundary %d, minimum %g kWh",
                high, t + 1, least);
            return;
        }
        high = fmin(high, b[CKPD__BATTERY_SOC_MAX]);
        low = low * retention - b[CKPD__BATTERY_DISCHARGE] * h / b[CKPD__BATTERY_ETA_DISCHARGE];
        low = fmax(low, least);
    }
    if (isnan(b[CKPD__BATTERY_SOC_END_PRICE])) {
        check_reach(causes, low, high, b[CKPD__BATTERY_SOC_END],
                    (int32_t)b[CKPD__BATTERY_TERMINAL]);
    }
}

/* --- jobs against caps ------------------------------------------------------------------------ */

/* Least IT power of a slot in which the job trains. */
static double least_power(const ckpd_path_job *j)
{
    double least = INFINITY;
    for (int32_t m = 0; m < j->modes; m++) {
        least = fmin(least, j->mode_power_kw[m]);
    }
    for (int32_t i = 0; j->move_last_kw != NULL && i < j->moves; i++) {
        least = fmin(least, j->move_last_kw[i]);
    }
    return least;
}

/* A cap under which no slot has room for any mode of the job, beside what cannot be avoided. */
static void add_powerless_job(ckpd__causes *causes, const ckpd__model *model, int32_t job)
{
    const ckpd_path_job *j = &model->job[job];
    const ckpd_site *site = model->problem->site;
    double discharge = model->view.storage != NULL ? model->view.storage->discharge_max_kw : 0;
    double least = least_power(j), short_of_site = INFINITY, short_of_grid = INFINITY;
    if (j->kind == CKPD_JOB_PATHS && j->may_wait == 0) {
        return; /* what cannot be avoided holds the job itself */
    }
    for (int32_t t = j->source_slot; t < j->deadline; t++) {
        double it_kw, gpus;
        ckpd__unavoidable(model, t, &it_kw, &gpus);
        double load = site->series[CKPD__PUE][t] * (it_kw + least);
        double grid = ckpd__site_hard_cap(site, CKPD__IMPORT_CAP, t) + site->series[CKPD__WIND][t] +
                      site->series[CKPD__SOLAR][t] + discharge;
        short_of_site =
            fmin(short_of_site, above(load, ckpd__site_hard_cap(site, CKPD__SITE_CAP, t)));
        short_of_grid = fmin(short_of_grid, above(load, grid));
    }
    const struct {
        const char *cap;
        double by;
    } caps[] = {{"site cap", short_of_site}, {"grid cap", short_of_grid}};
    for (int32_t i = 0; i < 2; i++) {
        if (isfinite(caps[i].by) && caps[i].by > 0) {
            ADD(causes,
                "%s: job '%s' draws %g kW of IT power at least, every slot is %g kW short or more",
                caps[i].cap, j->name, least, caps[i].by);
        }
    }
}

/* A GPU cap that has no room for the smallest mode in any slot. */
static void add_capless_job(ckpd__causes *causes, const ckpd__model *model, int32_t job)
{
    const ckpd_path_job *j = &model->job[job];
    double most = 0;
    int32_t least = INT32_MAX;
    for (int32_t m = 0; m < j->modes; m++) {
        least = j->mode_gpus[m] < least ? j->mode_gpus[m] : least;
    }
    for (int32_t t = j->source_slot; t < j->deadline; t++) {
        most = fmax(most, model->view.gpu_cap[t]);
    }
    if (least > most) {
        ADD(causes, "GPU cap: the smallest mode of job '%s' needs %d GPUs, at most %g are allowed",
            j->name, least, most);
    }
}

static void add_blocked_job(ckpd__causes *causes, const ckpd__model *model, int32_t job,
                            const ckpd__alone *alone)
{
    const ckpd_path_job *j = &model->job[job];
    int32_t found = causes->count;
    add_capless_job(causes, model, job);
    add_powerless_job(causes, model, job);
    if (causes->count > found) {
        return;
    }
    ADD(causes,
        "job '%s' cannot finish even alone within the GPU, site and grid caps: %d of %d segments "
        "at most by "
        "its deadline (boundary %d)",
        j->name, alone->segments, j->segments, j->deadline);
}

/* Capacity over the slots in which some job may run. */
static double joint_capacity(const ckpd__model *model, bool power)
{
    double sum = 0;
    for (int32_t t = 0; t < model->view.slots; t++) {
        bool used = false;
        double fixed = 0;
        for (int32_t j = 0; j < model->problem->jobs; j++) {
            const ckpd_path_job *job = &model->job[j];
            used = used || (t >= job->source_slot && t < job->deadline);
            fixed += power ? (job->fixed_power_kw != NULL ? job->fixed_power_kw[t] : 0)
                           : (job->fixed_gpus != NULL ? job->fixed_gpus[t] : 0);
        }
        if (!used) {
            continue;
        }
        double it_kw = model->problem->site->series[CKPD__BASE_IT][t];
        double room = power ? model->load_cap_kw[t] / model->view.load_factor[t] - it_kw
                            : floor(model->view.gpu_cap[t]);
        sum += fmax(0.0, room - fixed);
    }
    return sum;
}

/* Every job alone, then all of them together in GPU-hours and in IT energy. */
static void check_capacity(ckpd__causes *causes, const ckpd__model *model)
{
    double gpu_slots = 0;
    double it_kw_slots = 0;
    int32_t found = causes->count;
    double h = model->view.slot_hours;
    if (!ckpd__alone_is_cheap(model)) {
        return;
    }
    for (int32_t j = 0; j < model->problem->jobs; j++) {
        ckpd__alone alone;
        if (!ckpd__alone_needs(model, j, &alone)) {
            causes->out_of_memory = true;
            return;
        }
        if (!isfinite(alone.gpu_slots)) {
            add_blocked_job(causes, model, j, &alone);
        }
        gpu_slots += alone.gpu_slots;
        it_kw_slots += alone.it_kw_slots;
    }
    if (causes->count > found || model->problem->jobs == 0) {
        return;
    }
    double gpus = joint_capacity(model, false);
    double it_kw = joint_capacity(model, true);
    if (above(gpu_slots, gpus) > 0) {
        ADD(causes, "GPU-hours: the jobs need %g together at least, the GPU cap leaves %g",
            gpu_slots * h, gpus * h);
    }
    if (above(it_kw_slots, it_kw) > 0) {
        ADD(causes,
            "site cap: the jobs need %g kWh of IT energy together at least, the cap leaves %g",
            it_kw_slots * h, it_kw * h);
    }
}

void ckpd__causes_before(ckpd__causes *causes, const ckpd__model *model)
{
    check_jobs(causes, model);
    int32_t before = causes->count;
    check_slots(causes, model);
    bool slots_short = causes->count > before;
    check_storage(causes, model);
    if (causes->count == 0) {
        check_capacity(causes, model);
        return;
    }
    for (int32_t j = 0; j < model->problem->jobs; j++) { /* faults of their own beside those */
        if (model->job[j].source_slot < model->job[j].deadline &&
            model->job[j].source_segment < model->job[j].segments) {
            add_capless_job(causes, model, j);
            if (!slots_short) {
                add_powerless_job(causes, model, j);
            }
        }
    }
}

void ckpd__causes_after(ckpd__causes *causes, const ckpd__model *model)
{
    if (causes->count == 0) {
        ADD(causes,
            "every job and every limit can be met by itself, not all of them together: %d jobs "
            "under the "
            "GPU, site and grid caps%s",
            model->problem->jobs,
            model->view.storage != NULL ? " and the limits of the battery" : "");
    }
}
