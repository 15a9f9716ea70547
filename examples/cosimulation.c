/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * A co-simulation: the plant owns the clock. Each hour the planner measures the plant's state
 * (charge of the battery, checkpoints done, the step that runs), plans the rest of the day from
 * there with its last solution as start, and the plant (plant.h) executes the first hour. Wind and
 * battery are not as forecast. At the end every executed hour must have kept the plant's limits.
 */
#include "plant.h"

#include <ckptdispatch.h>
#include <stdlib.h>

typedef struct host {
    ckpd_context *context;
    int blocks, lines; /* held by the library; log lines received */
} host;

static void *resize(void *old, size_t bytes, void *user)
{
    void *block = realloc(old, bytes);
    ((host *)user)->blocks += old == NULL && block != NULL;
    return block;
}
static void *allocate(size_t bytes, void *user)
{
    return resize(NULL, bytes, user);
}
static void release(void *block, void *user)
{
    ((host *)user)->blocks--;
    free(block);
}
static void on_log(int32_t level, int32_t code, const char *message, void *user)
{
    ((host *)user)->lines++;
    if (level <= CKPD_LOG_WARNING) {
        printf("planner log %d: %s\n", code, message);
    }
}
static void must(const host *h, int32_t status)
{
    if (status != CKPD_OK) {
        fprintf(stderr, "planner: %s\n", ckpd_context_last_message(h->context));
        exit(1);
    }
}

static const struct {
    const char *name;
    double value;
} battery_fields[] = {
    {"energy_kwh", 100},     {"charge_kw", 40},   {"discharge_kw", 40},
    {"eta_charge", 0.95},    {"soc_min_kwh", 10}, {"end_value_per_mwh", 30},
    {"eta_discharge", 0.95}, {"soc_max_kwh", 90}, {"throughput_cost_per_mwh", 2},
    {"recover_soc", 1}, /* a charge measured below the minimum is a start, not an error */
};

static ckpd_site *measured_site(const host *h, const plant *p)
{
    ckpd_site *site = NULL;
    ckpd_battery *battery = NULL;
    int32_t left = DAY - p->hour;
    must(h, ckpd_site_new(&site, h->context, left, 1.0));
    must(h, ckpd_site_set_series(site, "import_price_per_mwh", price + p->hour, left));
    must(h, ckpd_site_set_series(site, "wind_kw", wind_forecast + p->hour, left));
    must(h, ckpd_site_set_constant(site, "base_it_kw", BASE_KW));
    must(h, ckpd_site_set_constant(site, "pue", PUE));
    must(h, ckpd_site_set_constant(site, "gpu_cap", GPUS));
    must(h, ckpd_site_set_constant(site, "import_cap_kw", IMPORT_CAP - RESERVE));
    must(h, ckpd_battery_new(&battery, h->context));
    for (size_t i = 0; i < sizeof battery_fields / sizeof battery_fields[0]; i++) {
        must(h, ckpd_battery_set(battery, battery_fields[i].name, battery_fields[i].value));
    }
    must(h, ckpd_battery_set(battery, "soc_start_kwh", p->soc_kwh));
    must(h, ckpd_battery_set_text(battery, "terminal", "free"));
    must(h, ckpd_site_add_battery(site, battery));
    ckpd_battery_free(battery);
    return site;
}

static ckpd_graph *measured_job(const host *h, const plant *p, ckpd_mode_set **modes)
{
    ckpd_task *task = NULL;
    ckpd_graph *graph = NULL;
    const ckpd_mode_table table = {.size = sizeof table,
                                   .count = MODES,
                                   .installed_gpus = GPUS,
                                   .gpus = mode_gpus,
                                   .rate = mode_rate,
                                   .power_kw = mode_kw,
                                   .baseline_index = 1};
    must(h, ckpd_task_new(&task, h->context, "training"));
    must(h, ckpd_task_set(task, "tranche_baseline_hours", TRANCHE_HOURS));
    must(h, ckpd_task_set(task, "segments", SEGMENTS));
    must(h, ckpd_task_set(task, "start_segments", p->segments_done));
    if (p->mode >= 0) {
        must(h, ckpd_task_set(task, "running_mode", p->mode));
        must(h, ckpd_task_set(task, "running_slots_done", p->hours_run));
        must(h, ckpd_task_set(task, "running_segments", p->segments_running));
    }
    must(h, ckpd_mode_set_from_table(modes, h->context, task, &table));
    must(h, ckpd_graph_build(&graph, h->context, task, *modes, DAY - p->hour, 1.0, NULL));
    ckpd_task_free(task);
    return graph;
}

/* Plans from the measured state; keeps the solution in *last and returns the first hour's orders.
 */
static orders plan_from(const host *h, const plant *p, ckpd_solution **last)
{
    orders o = {.mode = -1};
    double charge[DAY], discharge[DAY];
    ckpd_problem *problem = NULL;
    ckpd_solution *solution = NULL;
    ckpd_mode_set *modes = NULL;
    ckpd_site *site = measured_site(h, p);
    ckpd_graph *graph = measured_job(h, p, &modes);
    must(h, ckpd_problem_new(&problem, h->context, site));
    must(h, ckpd_problem_add_job(problem, graph));
    /* Plan and prices of an hour ago: where the search starts, one slot on. */
    must(h, *last == NULL
                ? ckpd_problem_solve(&solution, problem, CKPD_SCENARIO_S6, NULL)
                : ckpd_problem_resolve_from(&solution, problem, CKPD_SCENARIO_S6, NULL, *last, 1));
    const ckpd_plan *plan = ckpd_solution_plan(solution);
    if (plan == NULL) {
        fprintf(stderr, "%02d:00: no plan: %s\n", p->hour, ckpd_solution_cause(solution, 0));
        exit(1);
    }
    ckpd_step step = {.size = sizeof step};
    if (p->mode < 0 && ckpd_plan_step_count(plan, 0) > 0) {
        must(h, ckpd_plan_get_step(plan, 0, 0, &step));
        ckpd_mode mode = {.size = sizeof mode};
        must(h, ckpd_mode_set_get(modes, step.mode, &mode));
        o.mode = step.from_slot == 0 ? mode.source_index : -1;
        o.segments = step.to_segment - step.from_segment;
    }
    must(h, ckpd_plan_get_series(plan, "charge_kw", charge, DAY - p->hour));
    must(h, ckpd_plan_get_series(plan, "discharge_kw", discharge, DAY - p->hour));
    o.charge_kw = charge[0];
    o.discharge_kw = discharge[0];
    ckpd_solution_free(*last);
    *last = solution;
    ckpd_problem_free(problem);
    ckpd_graph_free(graph);
    ckpd_mode_set_free(modes);
    ckpd_site_free(site);
    return o;
}

int main(void)
{
    host h = {0};
    plant p = {.soc_kwh = 50, .mode = -1};
    ckpd_solution *last = NULL;
    const ckpd_allocator memory = {.size = sizeof memory,
                                   .malloc_fn = allocate,
                                   .realloc_fn = resize,
                                   .free_fn = release,
                                   .user = &h};
    if (ckpd_context_new(&h.context, &memory) != CKPD_OK) {
        return 1;
    }
    must(&h, ckpd_context_set_log(h.context, CKPD_LOG_DEBUG, on_log, &h));
    while (p.hour < DAY) {
        orders o = plan_from(&h, &p, &last);
        plant_run_hour(&p, &o);
        printf("%02d:00  %d of %d checkpoints, %s, battery %+6.1f kW, then %5.1f kWh\n", p.hour - 1,
               p.segments_done, SEGMENTS, p.mode >= 0 ? "training" : "at rest ",
               o.charge_kw - o.discharge_kw, p.soc_kwh);
    }
    expect(&p, p.segments_done == SEGMENTS && p.mode < 0, "the training is not done");
    ckpd_solution_free(last);
    ckpd_context_free(h.context);
    printf("paid %.2f; %d violations; %d log lines; %d blocks not given back\n", p.cost,
           p.violations, h.lines, h.blocks);
    return p.violations > 0 || h.blocks != 0;
}
