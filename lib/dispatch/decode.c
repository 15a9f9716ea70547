/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* From what a backend says (moves and battery power) to a plan with every flow exact. */
#include "dispatch/dispatch.h"

#include <math.h>

/* --- steps ------------------------------------------------------------------------------------ */

static int32_t add_running(ckpd_plan *plan, int32_t job, const ckpd_graph *graph,
                           const ckpd_path_job *j)
{
    const ckpd__graph_spec *s = &graph->spec;
    if (s->running < 0 || j->fixed_power_kw == NULL) {
        return CKPD_OK; /* none, or one that may be given up and is a move like others */
    }
    ckpd_step step = {.from_slot = 0,
                      .to_slot = j->source_slot < s->slots ? j->source_slot : s->slots,
                      .from_segment = s->start_segments,
                      .to_segment = j->source_segment,
                      .mode = s->running,
                      .gpus = graph->mode_gpus[s->running]};
    return ckpd__plan_append(plan, job, &step);
}

/* S2: the same training as S1, cut where checkpoints are complete at a slot boundary. */
static int32_t add_checkpoints(ckpd_plan *plan, int32_t job, const ckpd_graph *graph,
                               const ckpd_step *whole)
{
    ckpd_step step = *whole;
    for (int32_t k = whole->from_segment + 1; k <= whole->to_segment; k++) {
        double length = ckpd__continuous_length(graph, k - whole->from_segment);
        int32_t boundary = whole->from_slot + ckpd__graph_slots(length);
        double next = ckpd__continuous_length(graph, k + 1 - whole->from_segment);
        if (k < whole->to_segment && whole->from_slot + ckpd__graph_slots(next) == boundary) {
            continue; /* several are complete at one boundary: one step */
        }
        step.to_slot = boundary;
        step.to_segment = k;
        int32_t status = ckpd__plan_append(plan, job, &step);
        if (status != CKPD_OK) {
            return status;
        }
        step.from_slot = boundary;
        step.from_segment = k;
    }
    return CKPD_OK;
}

static void occupy(ckpd_plan *plan, int32_t slot, double it_kw, int32_t gpus)
{
    plan->series[CKPD__PLAN_IT_POWER][slot] += it_kw;
    plan->series[CKPD__PLAN_GPUS][slot] += gpus;
}

static int32_t decode_moves(ckpd_plan *plan, const ckpd__model *model, int32_t job,
                            const ckpd_path_plan *paths)
{
    const ckpd_path_job *j = &model->job[job];
    int32_t segment = j->source_segment;
    int32_t status = CKPD_OK;
    for (int32_t i = 0; i < paths->step_count[job] && status == CKPD_OK; i++) {
        size_t at = (size_t)job * (size_t)model->view.slots + (size_t)i;
        int32_t move = paths->step_move[at];
        int32_t mode = j->move_mode[move];
        ckpd_step step = {.from_slot = paths->step_slot[at],
                          .to_slot = paths->step_slot[at] + j->move_slots[move],
                          .from_segment = segment,
                          .to_segment = segment + j->move_segments[move],
                          .mode = mode,
                          .gpus = j->mode_gpus[mode]};
        segment = step.to_segment;
        for (int32_t t = step.from_slot; t < step.to_slot; t++) {
            bool last = t == step.to_slot - 1 && j->move_last_kw != NULL;
            occupy(plan, t, last ? j->move_last_kw[move] : j->mode_power_kw[mode], step.gpus);
        }
        status = model->scenario == CKPD_SCENARIO_S2
                     ? add_checkpoints(plan, job, model->problem->job[job], &step)
                     : ckpd__plan_append(plan, job, &step);
    }
    return status;
}

static int32_t decode_slots(ckpd_plan *plan, const ckpd__model *model, int32_t job,
                            const ckpd_path_plan *paths)
{
    const ckpd_path_job *j = &model->job[job];
    int32_t status = CKPD_OK;
    for (int32_t t = j->source_slot; t < j->deadline && status == CKPD_OK; t++) {
        int32_t mode = paths->slot_mode[(size_t)job * (size_t)model->view.slots + (size_t)t];
        if (mode < 0) {
            continue;
        }
        ckpd_step step = {.from_slot = t,
                          .to_slot = t + 1,
                          .from_segment = -1,
                          .to_segment = -1,
                          .mode = mode,
                          .gpus = j->mode_gpus[mode]};
        occupy(plan, t, j->mode_power_kw[mode], step.gpus);
        status = ckpd__plan_append(plan, job, &step);
    }
    return status;
}

static int32_t decode_jobs(ckpd_plan *plan, const ckpd__model *model, const ckpd_path_plan *paths)
{
    int32_t status = CKPD_OK;
    for (int32_t j = 0; j < model->problem->jobs && status == CKPD_OK; j++) {
        const ckpd_path_job *job = &model->job[j];
        status = add_running(plan, j, model->problem->job[j], job);
        for (int32_t t = 0; t < plan->slots && job->fixed_power_kw != NULL; t++) {
            occupy(plan, t, job->fixed_power_kw[t], job->fixed_gpus[t]);
        }
        if (status == CKPD_OK) {
            status = job->kind == CKPD_JOB_PATHS ? decode_moves(plan, model, j, paths)
                                                 : decode_slots(plan, model, j, paths);
        }
    }
    return status;
}

/* --- battery ---------------------------------------------------------------------------------- */

static double snap(double value, double to, double scale)
{
    return fabs(value - to) <= 1e-9 * fmax(1.0, scale) ? to : value;
}

/* Backends answer within a tolerance: powers inside their limits, never both, SOC along its
 * recursion. */
static void decode_storage(ckpd_plan *plan, const ckpd__model *model, const ckpd_path_plan *paths)
{
    const ckpd_path_storage *s = &model->storage;
    double h = model->view.slot_hours;
    double *soc = plan->series[CKPD__PLAN_SOC];
    double scale = fmax(s->charge_max_kw, s->discharge_max_kw);
    soc[0] = s->soc_start_kwh;
    for (int32_t t = 0; t < plan->slots; t++) {
        double charge = fmin(fmax(paths->charge_kw[t], 0.0), s->charge_max_kw);
        double discharge = fmin(fmax(paths->discharge_kw[t], 0.0), s->discharge_max_kw);
        charge = snap(snap(charge, 0, scale), s->charge_max_kw, scale);
        discharge = snap(snap(discharge, 0, scale), s->discharge_max_kw, scale);
        /* On its way back to the minimum not even rounding goes down. What is more than rounding is
         * no error: the floor leaves room to discharge where the battery got ahead of it. */
        if (s->soc_floor_kwh != NULL && discharge <= 1e-6 * fmax(1.0, scale) &&
            soc[t] < s->soc_min_kwh - 1e-9 * fmax(1.0, s->soc_max_kwh)) {
            discharge = 0;
        }
        if (charge > 0 && discharge > 0) {
            double stored = s->eta_charge * charge - discharge / s->eta_discharge;
            charge = stored > 0 ? stored / s->eta_charge : 0.0;
            discharge = stored < 0 ? 0.0 - stored * s->eta_discharge : 0.0;
        }
        double next =
            soc[t] * s->retention + (s->eta_charge * charge - discharge / s->eta_discharge) * h;
        next = snap(snap(next, s->soc_min_kwh, s->soc_max_kwh), s->soc_max_kwh, s->soc_max_kwh);
        if (t == plan->slots - 1 && s->terminal != CKPD_TERMINAL_FREE) {
            next = snap(next, s->soc_end_kwh, s->soc_max_kwh);
        }
        plan->series[CKPD__PLAN_CHARGE][t] = charge;
        plan->series[CKPD__PLAN_DISCHARGE][t] = discharge;
        soc[t + 1] = next;
    }
}

static void decode_idle_storage(ckpd_plan *plan, const ckpd_site *site)
{
    double *soc = plan->series[CKPD__PLAN_SOC];
    soc[0] = site->battery[CKPD__BATTERY_SOC_START];
    for (int32_t t = 0; t < plan->slots; t++) {
        soc[t + 1] = soc[t] * ckpd__battery_retention(site);
    }
}

/* --- flows ------------------------------------------------------------------------------------ */

static int32_t decode_flows(ckpd_plan *plan, const ckpd__model *model)
{
    const ckpd_site *site = model->problem->site;
    double **series = plan->series;
    for (int32_t t = 0; t < plan->slots; t++) {
        double load = site->series[CKPD__PUE][t] * series[CKPD__PLAN_IT_POWER][t];
        double draw = load + series[CKPD__PLAN_CHARGE][t] - series[CKPD__PLAN_DISCHARGE][t];
        ckpd__tariff tariff;
        int32_t status = ckpd__tariff_make(model->context, site, t, model->draw_low_kw[t],
                                           model->draw_high_kw[t], &tariff);
        if (status != CKPD_OK) {
            return status;
        }
        ckpd__flows flows = ckpd__tariff_flows(&tariff, draw);
        ckpd__tariff_free(model->context, &tariff);
        series[CKPD__PLAN_SITE_LOAD][t] = load;
        series[CKPD__PLAN_IMPORT][t] = flows.import_kw;
        series[CKPD__PLAN_EXPORT][t] = flows.export_kw;
        series[CKPD__PLAN_CURTAILMENT][t] = flows.curtailment_kw;
        series[CKPD__PLAN_WIND][t] = site->series[CKPD__WIND][t];
        series[CKPD__PLAN_SOLAR][t] = site->series[CKPD__SOLAR][t];
        series[CKPD__PLAN_IMPORT_PRICE][t] = site->series[CKPD__IMPORT_PRICE][t];
        series[CKPD__PLAN_EXPORT_PRICE][t] = site->series[CKPD__EXPORT_PRICE][t];
    }
    return CKPD_OK;
}

int32_t ckpd__decode(ckpd_plan **out, const ckpd__model *model, const ckpd_path_plan *paths)
{
    const ckpd_site *site = model->problem->site;
    ckpd_plan *plan = NULL;
    int32_t status = ckpd_plan_new(&plan, model->context, model->problem->jobs, site->slots);
    if (status != CKPD_OK) {
        return status;
    }
    for (int32_t s = CKPD__PLAN_SETTABLE; s < CKPD__PLAN_SERIES && status == CKPD_OK; s++) {
        status = ckpd__plan_add_series(plan, (ckpd__plan_series)s);
    }
    for (int32_t t = 0; t < plan->slots && status == CKPD_OK; t++) {
        plan->series[CKPD__PLAN_IT_POWER][t] = site->series[CKPD__BASE_IT][t];
    }
    if (status == CKPD_OK) {
        status = decode_jobs(plan, model, paths);
    }
    if (status == CKPD_OK && model->view.storage != NULL) {
        decode_storage(plan, model, paths);
    } else if (status == CKPD_OK && model->idle_storage) {
        decode_idle_storage(plan, site);
    }
    if (status == CKPD_OK) {
        status = decode_flows(plan, model);
    }
    if (status != CKPD_OK) {
        ckpd_plan_free(plan);
        return status;
    }
    plan->speaker = NULL;
    *out = plan;
    return CKPD_OK;
}

/* --- the way back ----------------------------------------------------------------------------- */

static int32_t find_move(const ckpd_path_job *job, const ckpd_step *step, int32_t last_mode)
{
    int32_t state = job->transition != NULL ? last_mode + 1 : 0;
    int32_t wanted = ckpd__graph_class(job->transition, job->modes, state, step->mode);
    for (int32_t i = 0; i < job->moves; i++) {
        if (job->move_mode[i] == step->mode &&
            job->move_slots[i] == step->to_slot - step->from_slot &&
            job->move_segments[i] == step->to_segment - step->from_segment &&
            (job->move_class == NULL || job->move_class[i] == wanted)) {
            return i;
        }
    }
    return -1;
}

static void encode_job(const ckpd__model *model, const ckpd_plan *plan, int32_t job,
                       ckpd_path_plan *paths)
{
    const ckpd_path_job *j = &model->job[job];
    int32_t last_mode = j->source_state - 1;
    size_t row = (size_t)job * (size_t)model->view.slots;
    for (int32_t i = 0; i < plan->steps[job].count; i++) {
        const ckpd_step *step = &plan->steps[job].step[i];
        if (step->from_slot < j->source_slot || step->mode >= j->modes) {
            continue; /* the running edge */
        }
        if (j->kind == CKPD_JOB_SLOTWISE) {
            for (int32_t t = step->from_slot; t < step->to_slot; t++) {
                paths->slot_mode[row + (size_t)t] = step->mode;
            }
            continue;
        }
        int32_t move = find_move(j, step, last_mode);
        if (move >= 0) {
            size_t at = row + (size_t)paths->step_count[job]++;
            paths->step_slot[at] = step->from_slot;
            paths->step_move[at] = move;
            last_mode = step->mode;
        }
    }
}

void ckpd__encode(const ckpd__model *model, const ckpd_plan *plan, ckpd_path_plan *paths)
{
    for (int32_t j = 0; j < model->problem->jobs; j++) {
        paths->step_count[j] = 0;
        for (int32_t t = 0; t < plan->slots && paths->slot_mode != NULL; t++) {
            paths->slot_mode[(size_t)j * (size_t)plan->slots + (size_t)t] = -1;
        }
        encode_job(model, plan, j, paths);
    }
    for (int32_t t = 0; t < plan->slots && paths->charge_kw != NULL; t++) {
        paths->charge_kw[t] = plan->series[CKPD__PLAN_CHARGE][t];
        paths->discharge_kw[t] = plan->series[CKPD__PLAN_DISCHARGE][t];
    }
}
