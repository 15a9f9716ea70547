/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "planner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const forecast_name[FORECASTS] = {"wind_kw", "solar_kw", "import_price_per_mwh"};

int32_t planner_open(planner *p, ckpd_context *context, const char *path)
{
    *p = (planner){.context = context, .relative_gap = 1e-3, .scenario = CKPD_SCENARIO_S4};
    int32_t status = ckpd_case_load(&p->day, context, path);
    if (status != CKPD_OK) {
        return status;
    }
    p->slots = ckpd_case_slots(p->day);
    p->jobs = ckpd_case_job_count(p->day);
    p->slot_hours = ckpd_case_slot_hours(p->day);
    if (p->slots > MOST_SLOTS || p->jobs > MOST_JOBS) {
        return CKPD_ERR_RANGE;
    }
    for (int32_t i = 0; i < FORECASTS; i++) {
        p->forecast[i] = calloc((size_t)p->slots, sizeof(double));
        if (p->forecast[i] == NULL) {
            return CKPD_ERR_NO_MEMORY;
        }
    }
    return planner_rewind(p);
}

void planner_close(planner *p)
{
    for (int32_t i = 0; i < FORECASTS; i++) {
        free(p->forecast[i]);
        p->forecast[i] = NULL;
    }
    ckpd_solution_free(p->last);
    ckpd_case_free(p->day);
    p->last = NULL;
    p->day = NULL;
}

static int32_t field_or(const ckpd_task *task, const char *name, double otherwise)
{
    double value = otherwise;
    return ckpd_task_get(task, name, &value) == CKPD_OK && !isnan(value) ? (int32_t)value
                                                                         : (int32_t)otherwise;
}

int32_t planner_rewind(planner *p)
{
    ckpd_solution_free(p->last);
    p->last = NULL;
    for (int32_t i = 0; i < FORECASTS; i++) {
        if (ckpd_site_get_series(ckpd_case_site(p->day), forecast_name[i], p->forecast[i],
                                 p->slots) != CKPD_OK) {
            memset(p->forecast[i], 0, (size_t)p->slots * sizeof(double));
        }
    }
    p->soc_kwh = 0;
    if (ckpd_case_battery(p->day) != NULL) {
        ckpd_battery_get(ckpd_case_battery(p->day), "soc_start_kwh", &p->soc_kwh);
        p->scenario = CKPD_SCENARIO_S6;
    }
    for (int32_t j = 0; j < p->jobs; j++) {
        const ckpd_task *task = ckpd_case_task(p->day, j);
        p->job[j] = (job_state){
            field_or(task, "start_segments", 0), field_or(task, "running_mode", -1),
            field_or(task, "running_slots_done", 0), field_or(task, "running_segments", 0)};
        if (p->job[j].mode < 0) {
            p->job[j].slots_done = p->job[j].segments_running = 0;
        }
        p->order[j] = (job_order){.mode = -1};
    }
    p->grid_kw = p->battery_kw = p->cost = p->gap = 0;
    p->soc_after_kwh = p->soc_kwh;
    return CKPD_OK;
}

/* --- the problem from here on ----------------------------------------------------------------- */

/* All series of the case from `slot` on; wind, solar and price as they are forecast now. */
static int32_t site_from(const planner *p, int32_t slot, ckpd_site **site)
{
    double *values = calloc((size_t)p->slots, sizeof *values);
    int32_t left = p->slots - slot;
    int32_t status =
        values != NULL ? ckpd_site_new(site, p->context, left, p->slot_hours) : CKPD_ERR_NO_MEMORY;
    for (int32_t i = 0; status == CKPD_OK && i < ckpd_site_series_count(); i++) {
        ckpd_field_info info = {.size = sizeof info};
        status = ckpd_site_series_info(i, &info);
        const double *from = values;
        int given = status == CKPD_OK && ckpd_site_get_series(ckpd_case_site(p->day), info.name,
                                                              values, p->slots) == CKPD_OK;
        for (int32_t f = 0; f < FORECASTS; f++) {
            if (strcmp(info.name, forecast_name[f]) == 0) {
                from = p->forecast[f];
                given = 1;
            }
        }
        if (given && isfinite(from[slot])) {
            status = ckpd_site_set_series(*site, info.name, from + slot, left);
        }
    }
    free(values);
    return status;
}

static int32_t battery_from(const planner *p, ckpd_site *site)
{
    const ckpd_battery *given = ckpd_case_battery(p->day);
    ckpd_battery *battery = NULL;
    if (given == NULL) {
        return CKPD_OK;
    }
    int32_t status = ckpd_battery_new(&battery, p->context);
    for (int32_t i = 0; status == CKPD_OK && i < ckpd_battery_field_count(); i++) {
        ckpd_field_info info = {.size = sizeof info};
        char text[64];
        double value;
        status = ckpd_battery_field_info(i, &info);
        if (status != CKPD_OK) {
            break;
        }
        if (info.kind == CKPD_FIELD_CHOICE) {
            if (ckpd_battery_get_text(given, info.name, text, sizeof text) == CKPD_OK) {
                status = ckpd_battery_set_text(battery, info.name, text);
            }
        } else if (ckpd_battery_get(given, info.name, &value) == CKPD_OK && !isnan(value)) {
            status = ckpd_battery_set(battery, info.name, value);
        }
    }
    double end;
    if (status == CKPD_OK &&
        (ckpd_battery_get(given, "soc_end_kwh", &end) != CKPD_OK || isnan(end))) {
        status = ckpd_battery_get(given, "soc_start_kwh", &end); /* the day's start, not today's */
        status = status == CKPD_OK ? ckpd_battery_set(battery, "soc_end_kwh", end) : status;
    }
    status = status == CKPD_OK ? ckpd_battery_set(battery, "recover_soc", 1) : status;
    status = status == CKPD_OK ? ckpd_battery_set(battery, "soc_start_kwh", p->soc_kwh) : status;
    status = status == CKPD_OK ? ckpd_site_add_battery(site, battery) : status;
    ckpd_battery_free(battery);
    return status;
}

/* The task of the case with the state it has now, its times counted from `slot`. */
static int32_t task_from(const planner *p, int32_t j, int32_t slot, ckpd_task **task)
{
    const ckpd_task *given = ckpd_case_task(p->day, j);
    const job_state *now = &p->job[j];
    int32_t status = ckpd_task_new(task, p->context, ckpd_task_name(given));
    for (int32_t i = 0; status == CKPD_OK && i < ckpd_task_field_count(); i++) {
        ckpd_field_info info = {.size = sizeof info};
        char text[64];
        double value;
        status = ckpd_task_field_info(i, &info);
        if (status != CKPD_OK || strncmp(info.name, "running_", 8) == 0) {
            continue;
        }
        if (info.kind == CKPD_FIELD_CHOICE) {
            if (ckpd_task_get_text(given, info.name, text, sizeof text) == CKPD_OK &&
                text[0] != '\0') {
                status = ckpd_task_set_text(*task, info.name, text);
            }
        } else if (ckpd_task_get(given, info.name, &value) == CKPD_OK && !isnan(value)) {
            if (strcmp(info.name, "release") == 0 || strcmp(info.name, "deadline") == 0) {
                value = fmax(value - slot, 0);
            }
            status = ckpd_task_set(*task, info.name, value);
        }
    }
    status =
        status == CKPD_OK ? ckpd_task_set(*task, "start_segments", now->segments_done) : status;
    if (status == CKPD_OK && now->mode >= 0) {
        status = ckpd_task_set(*task, "running_mode", now->mode);
        status = status == CKPD_OK ? ckpd_task_set(*task, "running_slots_done", now->slots_done)
                                   : status;
        status = status == CKPD_OK ? ckpd_task_set(*task, "running_segments", now->segments_running)
                                   : status;
    }
    return status;
}

/*
 * A mode set belongs to a task and knows which mode runs, so each plan needs its own. Modes keep
 * the numbers that they have in the case's set: those of the FMU.
 */
static int32_t modes_from(const planner *p, int32_t j, const ckpd_task *task, ckpd_mode_set **modes)
{
    const ckpd_mode_set *given = ckpd_case_mode_set(p->day, j);
    int32_t gpus[MOST_MODES], most = 0;
    double rate[MOST_MODES], power_kw[MOST_MODES];
    const int32_t count = ckpd_mode_set_count(given);
    if (count < 1 || count > MOST_MODES) {
        return CKPD_ERR_RANGE;
    }
    for (int32_t m = 0; m < count; m++) {
        ckpd_mode mode = {.size = sizeof mode};
        const int32_t status = ckpd_mode_set_get(given, m, &mode);
        if (status != CKPD_OK) {
            return status;
        }
        gpus[m] = mode.gpus;
        rate[m] = mode.rate;
        power_kw[m] = mode.power_kw;
        most = mode.gpus > most ? mode.gpus : most;
    }
    const ckpd_mode_table table = {.size = sizeof table,
                                   .count = count,
                                   .installed_gpus = most,
                                   .gpus = gpus,
                                   .rate = rate,
                                   .power_kw = power_kw,
                                   .baseline_index = ckpd_mode_set_baseline(given),
                                   .keep_dominated = 1};
    return ckpd_mode_set_from_table(modes, p->context, task, &table);
}

static int32_t add_jobs(const planner *p, int32_t slot, ckpd_problem *problem)
{
    int32_t status = CKPD_OK;
    for (int32_t j = 0; status == CKPD_OK && j < p->jobs; j++) {
        ckpd_task *task = NULL;
        ckpd_graph *graph = NULL;
        ckpd_mode_set *modes = NULL;
        status = task_from(p, j, slot, &task);
        status = status == CKPD_OK ? modes_from(p, j, task, &modes) : status;
        if (status == CKPD_OK) {
            status = ckpd_graph_build(&graph, p->context, task, modes, p->slots - slot,
                                      p->slot_hours, NULL);
        }
        if (status == CKPD_OK) {
            status = ckpd_problem_add_job(problem, graph);
        }
        ckpd_graph_free(graph);
        ckpd_mode_set_free(modes);
        ckpd_task_free(task);
    }
    return status;
}

static int32_t solve_from(const planner *p, int32_t slot, ckpd_solution **solution)
{
    ckpd_site *site = NULL;
    ckpd_problem *problem = NULL;
    ckpd_solve_options *options = NULL;
    int32_t status = site_from(p, slot, &site);
    status = status == CKPD_OK ? battery_from(p, site) : status;
    status = status == CKPD_OK ? ckpd_problem_new(&problem, p->context, site) : status;
    status = status == CKPD_OK ? add_jobs(p, slot, problem) : status;
    status = status == CKPD_OK ? ckpd_case_build_options(&options, p->day) : status;
    status = status == CKPD_OK ? ckpd_solve_options_set(options, "relative_gap", p->relative_gap)
                               : status;
    if (status == CKPD_OK) {
        status = p->last == NULL ? ckpd_problem_solve(solution, problem, p->scenario, options)
                                 : ckpd_problem_resolve_from(solution, problem, p->scenario,
                                                             options, p->last, 1);
    }
    ckpd_solve_options_free(options);
    ckpd_problem_free(problem);
    ckpd_site_free(site);
    return status;
}

/* --- set-points ------------------------------------------------------------------------------- */

static double first_value(const ckpd_plan *plan, const char *name, int32_t count)
{
    double *values = calloc((size_t)count, sizeof *values);
    double first = 0;
    if (values != NULL && ckpd_plan_get_series(plan, name, values, count) == CKPD_OK) {
        first = values[0];
    }
    free(values);
    return first;
}

static void run_mode(planner *p, int32_t j, int32_t number)
{
    ckpd_mode mode = {.size = sizeof mode};
    if (ckpd_mode_set_get(ckpd_case_mode_set(p->day, j), number, &mode) == CKPD_OK) {
        p->order[j] = (job_order){number, mode.gpus, mode.power_kw};
    }
}

/* The step that runs in the first slot, or none; and what of the job is done when it is over. */
static void order_job(planner *p, int32_t j, const ckpd_plan *plan)
{
    job_state *after = &p->after[j];
    *after = p->job[j];
    p->order[j] = (job_order){.mode = -1};
    int32_t lasts = 0;
    for (int32_t i = 0; i < ckpd_plan_step_count(plan, j); i++) {
        ckpd_step step = {.size = sizeof step};
        if (ckpd_plan_get_step(plan, j, i, &step) != CKPD_OK || step.from_slot > 0) {
            continue;
        }
        if (after->mode < 0) { /* it begins now */
            after->mode = step.mode;
            after->slots_done = 0;
            after->segments_running = step.to_segment - step.from_segment;
        }
        lasts = step.to_slot;
    }
    if (after->mode < 0) {
        return;
    }
    run_mode(p, j, after->mode);
    after->slots_done++;
    if (lasts <= 1) {
        after->segments_done += after->segments_running;
        *after = (job_state){after->segments_done, -1, 0, 0};
    }
}

int32_t planner_plan(planner *p, int32_t slot)
{
    ckpd_solution *solution = NULL;
    int32_t left = p->slots - slot;
    int32_t status = solve_from(p, slot, &solution);
    if (status != CKPD_OK) {
        return status;
    }
    ckpd_solution_free(p->last);
    p->last = solution;
    const ckpd_plan *plan = ckpd_solution_plan(solution);
    if (plan == NULL) {
        return CKPD_ERR_NO_MODE;
    }
    p->grid_kw = first_value(plan, "import_kw", left) - first_value(plan, "export_kw", left);
    p->battery_kw = first_value(plan, "charge_kw", left) - first_value(plan, "discharge_kw", left);
    p->cost = ckpd_solution_cost(solution);
    p->gap = ckpd_solution_relative_gap(solution);
    double *soc = calloc((size_t)left + 1, sizeof *soc);
    if (soc != NULL && ckpd_plan_get_series(plan, "soc_kwh", soc, left + 1) == CKPD_OK) {
        p->soc_after_kwh = soc[1];
    }
    free(soc);
    for (int32_t j = 0; j < p->jobs; j++) {
        order_job(p, j, plan);
    }
    return CKPD_OK;
}

void planner_follow(planner *p)
{
    p->soc_kwh = p->soc_after_kwh;
    memcpy(p->job, p->after, sizeof p->job);
}

const char *planner_message(const planner *p)
{
    const char *cause = p->last != NULL && ckpd_solution_plan(p->last) == NULL
                            ? ckpd_solution_cause(p->last, 0)
                            : NULL;
    return cause != NULL ? cause : ckpd_context_last_message(p->context);
}
