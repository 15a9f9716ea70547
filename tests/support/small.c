/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support/small.h"

#include <ckptdispatch/modes.h>
#include <ckptdispatch/task.h>
#include <stddef.h>

/* Name and value of one field, for tables of settings. */
struct setting {
    const char *name;
    double value;
};

static int32_t b0_battery(ckpd_battery **out, ckpd_context *context)
{
    static const struct setting settings[] = {
        {"energy_kwh", 20000},  {"charge_kw", 10000},     {"discharge_kw", 10000},
        {"eta_charge", 0.9},    {"eta_discharge", 0.9},   {"soc_min_kwh", 0},
        {"soc_max_kwh", 20000}, {"soc_start_kwh", 10000}, {"soc_end_kwh", 10000},
    };
    ckpd_battery *battery = NULL;
    int32_t status = ckpd_battery_new(&battery, context);
    for (size_t i = 0; status == CKPD_OK && i < sizeof settings / sizeof settings[0]; i++) {
        status = ckpd_battery_set(battery, settings[i].name, settings[i].value);
    }
    if (status == CKPD_OK) {
        status = ckpd_battery_set_text(battery, "terminal", "at_least");
    }
    if (status != CKPD_OK) {
        ckpd_battery_free(battery);
        return status;
    }
    *out = battery;
    return CKPD_OK;
}

/* Fills a new site; the site is the caller's also after a failure. */
static int32_t b0_fill(ckpd_site *site, const ckpd_battery *battery)
{
    static const double price[] = {20, 60, 20, 60};
    int32_t status = ckpd_site_set_series(site, "import_price_per_mwh", price, 4);
    if (status == CKPD_OK) {
        status = ckpd_site_set_constant(site, "base_it_kw", 10000);
    }
    if (status == CKPD_OK) {
        status = ckpd_site_set_constant(site, "import_cap_kw", 100000);
    }
    if (status == CKPD_OK) {
        status = ckpd_site_set_constant(site, "gpu_cap", 0);
    }
    return status == CKPD_OK ? ckpd_site_add_battery(site, battery) : status;
}

int32_t small_b0(ckpd_problem **out, ckpd_context *context)
{
    ckpd_battery *battery = NULL;
    ckpd_site *site = NULL;
    int32_t status = b0_battery(&battery, context);
    if (status == CKPD_OK) {
        status = ckpd_site_new(&site, context, 4, 1.0);
    }
    if (status == CKPD_OK) {
        status = b0_fill(site, battery);
    }
    if (status == CKPD_OK) {
        status = ckpd_problem_new(out, context, site);
    }
    ckpd_site_free(site);
    ckpd_battery_free(battery);
    return status;
}

int32_t small_j0_site(ckpd_site **out, ckpd_context *context, double gpu_cap)
{
    static const double price[] = {10, 45, 12, 50, 50, 10};
    ckpd_site *site = NULL;
    int32_t status = ckpd_site_new(&site, context, 6, 1.0);
    if (status == CKPD_OK) {
        status = ckpd_site_set_series(site, "import_price_per_mwh", price, 6);
    }
    if (status == CKPD_OK) {
        status = ckpd_site_set_constant(site, "gpu_cap", gpu_cap);
    }
    if (status != CKPD_OK) {
        ckpd_site_free(site);
        return status;
    }
    *out = site;
    return CKPD_OK;
}

static int32_t j0_task(ckpd_task **out, ckpd_context *context)
{
    ckpd_task *task = NULL;
    int32_t status = ckpd_task_new(&task, context, "J0");
    if (status == CKPD_OK) {
        status = ckpd_task_set(task, "tranche_baseline_hours", 2);
    }
    if (status == CKPD_OK) {
        status = ckpd_task_set(task, "segments", 1);
    }
    if (status != CKPD_OK) {
        ckpd_task_free(task);
        return status;
    }
    *out = task;
    return CKPD_OK;
}

int32_t small_j0_graph(ckpd_graph **out, ckpd_context *context)
{
    static const int32_t gpus[] = {100};
    static const double rate[] = {1};
    static const double power_kw[] = {10000};
    const ckpd_mode_table table = {.size = sizeof table,
                                   .count = 1,
                                   .installed_gpus = 100,
                                   .gpus = gpus,
                                   .rate = rate,
                                   .power_kw = power_kw};
    ckpd_task *task = NULL;
    ckpd_mode_set *modes = NULL;
    int32_t status = j0_task(&task, context);
    if (status == CKPD_OK) {
        status = ckpd_mode_set_from_table(&modes, context, task, &table);
    }
    if (status == CKPD_OK) {
        status = ckpd_graph_build(out, context, task, modes, 6, 1.0, NULL);
    }
    ckpd_mode_set_free(modes);
    ckpd_task_free(task);
    return status;
}

int32_t small_j0(ckpd_problem **out, ckpd_context *context, double gpu_cap)
{
    ckpd_graph *graph = NULL;
    ckpd_site *site = NULL;
    ckpd_problem *problem = NULL;
    int32_t status = small_j0_graph(&graph, context);
    if (status == CKPD_OK) {
        status = small_j0_site(&site, context, gpu_cap);
    }
    if (status == CKPD_OK) {
        status = ckpd_problem_new(&problem, context, site);
    }
    if (status == CKPD_OK) {
        status = ckpd_problem_add_job(problem, graph);
    }
    if (status == CKPD_OK) {
        *out = problem;
    } else {
        ckpd_problem_free(problem);
    }
    ckpd_site_free(site);
    ckpd_graph_free(graph);
    return status;
}

int32_t small_solve(ckpd_problem *problem, ckpd_context *context, int32_t scenario,
                    const char *backend, int32_t *outcome, double *cost)
{
    ckpd_solve_options *options = NULL;
    ckpd_solution *solution = NULL;
    int32_t status = ckpd_solve_options_new(&options, context);
    if (status == CKPD_OK) {
        status = ckpd_solve_options_set_backend(options, backend);
    }
    if (status == CKPD_OK && backend != NULL) {
        /* These problems are so small that the presolve would leave the backend nothing to do. */
        status = ckpd_solve_options_set(options, "structure_presolve", 0);
    }
    if (status == CKPD_OK) {
        status = ckpd_problem_solve(&solution, problem, scenario, options);
    }
    if (status == CKPD_OK) {
        *outcome = ckpd_solution_outcome(solution);
        *cost = ckpd_solution_cost(solution);
    }
    ckpd_solution_free(solution);
    ckpd_solve_options_free(options);
    return status;
}
