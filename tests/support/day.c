/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support/day.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OK(d, call)                                                                              \
    do {                                                                                         \
        int32_t ok_ = (call);                                                                    \
        ck_assert_msg(ok_ == CKPD_OK, "%s: %s", #call, ckpd_context_last_message((d)->context)); \
    } while (0)

day day_new(int32_t slots, double slot_hours, const double *price, double it_mw)
{
    day d = {NULL, NULL, NULL};
    ck_assert_int_eq(ckpd_context_new(&d.context, NULL), CKPD_OK);
    OK(&d, ckpd_site_new(&d.site, d.context, slots, slot_hours));
    OK(&d, ckpd_site_set_series(d.site, "import_price_per_mwh", price, slots));
    OK(&d, ckpd_site_set_constant(d.site, "base_it_kw", 1000 * it_mw));
    OK(&d, ckpd_site_set_constant(d.site, "gpu_cap", 1000));
    return d;
}

void day_free(day *d)
{
    ckpd_problem_free(d->problem);
    ckpd_site_free(d->site);
    ckpd_context_free(d->context);
}

void day_set(day *d, const char *series, double value)
{
    OK(d, ckpd_site_set_constant(d->site, series, value));
}

void day_set_mw(day *d, const char *series, const double *mw)
{
    int32_t slots = ckpd_site_slots(d->site);
    double *values = calloc((size_t)slots, sizeof *values);
    ck_assert_ptr_nonnull(values);
    for (int32_t t = 0; t < slots; t++) {
        values[t] = strstr(series, "_kw") != NULL ? 1000 * mw[t] : mw[t];
    }
    OK(d, ckpd_site_set_series(d->site, series, values, slots));
    free(values);
}

void day_add_battery(day *d, const day_battery *b)
{
    ckpd_battery *battery = NULL;
    const struct {
        const char *field;
        double value;
    } values[] = {
        {"energy_kwh", 1000 * b->energy_mwh},
        {"charge_kw", 1000 * b->power_mw},
        {"discharge_kw", 1000 * b->power_mw},
        {"eta_charge", b->eta},
        {"eta_discharge", b->eta},
        {"soc_start_kwh", 1000 * b->start_mwh},
        {"soc_end_kwh", 1000 * b->end_mwh},
        {"soc_min_kwh", 1000 * b->soc_min_mwh},
        {"throughput_cost_per_mwh", b->throughput_cost},
        {"end_value_per_mwh", b->end_value},
        {"self_discharge_per_hour", b->self_discharge},
        {"recover_soc", b->recover},
    };
    OK(d, ckpd_battery_new(&battery, d->context));
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        OK(d, ckpd_battery_set(battery, values[i].field, values[i].value));
    }
    OK(d, ckpd_battery_set_text(battery, "terminal", b->terminal));
    if (b->end_price > 0) {
        OK(d, ckpd_battery_set(battery, "soc_end_price_per_mwh", b->end_price));
    }
    OK(d, ckpd_site_add_battery(d->site, battery));
    ckpd_battery_free(battery);
}

ckpd_problem *day_problem(day *d)
{
    if (d->problem == NULL) {
        OK(d, ckpd_problem_new(&d->problem, d->context, d->site));
    }
    return d->problem;
}

static ckpd_mode_set *make_modes(day *d, const ckpd_task *task, const day_job *job)
{
    enum { MOST = 8 };
    int32_t gpus[MOST];
    double rate[MOST], power[MOST], idle[MOST];
    ckpd_mode_set *set = NULL;
    ck_assert_int_le(job->modes, MOST);
    for (int32_t m = 0; m < job->modes; m++) {
        gpus[m] = job->mode[m].gpus;
        rate[m] = 1.0 / (3600.0 * job->mode[m].hours);
        power[m] = 1000 * job->mode[m].mw;
        idle[m] = 1000 * job->mode[m].idle_mw;
    }
    ckpd_mode_table table = {.size = sizeof table,
                             .count = job->modes,
                             .installed_gpus = 1000,
                             .gpus = gpus,
                             .rate = rate,
                             .power_kw = power,
                             .idle_power_kw = idle,
                             .baseline_index = 0,
                             .keep_dominated = 1};
    OK(d, ckpd_mode_set_from_table(&set, d->context, task, &table));
    return set;
}

int32_t day_add_job(day *d, const day_job *job, const ckpd_graph_options *options)
{
    ckpd_task *task = NULL;
    ckpd_graph *graph = NULL;
    OK(d, ckpd_task_new(&task, d->context, job->name));
    OK(d, ckpd_task_set(task, "segments", job->segments));
    OK(d, ckpd_task_set(task, "tranche_baseline_hours", job->segments * job->mode[0].hours));
    OK(d, ckpd_task_set(task, "release", job->release));
    OK(d, ckpd_task_set(task, "start_segments", job->start_segments));
    if (job->deadline > 0) {
        OK(d, ckpd_task_set(task, "deadline", job->deadline));
    }
    if (job->late_price > 0) {
        OK(d, ckpd_task_set(task, "deadline_price_per_hour", job->late_price));
    }
    if (job->running_mode > 0) {
        OK(d, ckpd_task_set(task, "running_mode", job->running_mode - 1));
        OK(d, ckpd_task_set(task, "running_slots_done", job->running_slots));
        OK(d, ckpd_task_set(task, "running_segments", job->running_segments));
        OK(d, ckpd_task_set_text(task, "interruption", job->may_lose ? "lose_work" : "forbid"));
    }
    ckpd_mode_set *modes = make_modes(d, task, job);
    int32_t status = ckpd_graph_build(&graph, d->context, task, modes, ckpd_site_slots(d->site),
                                      ckpd_site_slot_hours(d->site), options);
    if (status == CKPD_OK) {
        status = ckpd_problem_add_job(day_problem(d), graph);
    }
    ckpd_graph_free(graph);
    ckpd_mode_set_free(modes);
    ckpd_task_free(task);
    return status;
}

ckpd_solution *day_solve(day *d, int32_t scenario, const char *backend)
{
    ckpd_solve_options *options = NULL;
    ckpd_solution *solution = NULL;
    OK(d, ckpd_solve_options_new(&options, d->context));
    OK(d, ckpd_solve_options_set_backend(options, backend));
    int32_t status = ckpd_problem_solve(&solution, day_problem(d), scenario, options);
    ck_assert_msg(status == CKPD_OK, "S%d by %s: %s", scenario, backend != NULL ? backend : "auto",
                  ckpd_context_last_message(d->context));
    ckpd_solve_options_free(options);
    return solution;
}

void day_expect(day *d, int32_t scenario, double cost)
{
    static const char *const backends[] = {"auto", "native", "glpk", "enumerate"};
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) {
        if (i > 0 && ckpd_backend_capabilities(d->context, backends[i]) == 0) {
            continue;
        }
        ckpd_solution *s = day_solve(d, scenario, backends[i]);
        ck_assert_msg(ckpd_solution_outcome(s) == CKPD_OUTCOME_OPTIMAL &&
                          ckpd_solution_is_proven(s),
                      "S%d by %s: outcome %d", scenario, backends[i], ckpd_solution_outcome(s));
        double off = ckpd_solution_cost(s) - cost;
        ck_assert_msg(fabs(off) <= 1e-6 * fmax(1e-6, fabs(cost)),
                      "S%d by %s costs %.9g, expected %.9g", scenario, backends[i],
                      ckpd_solution_cost(s), cost);
        ck_assert_int_eq(ckpd_report_violation_count(ckpd_solution_report(s)), 0);
        ckpd_solution_free(s);
    }
}

double day_figure(const ckpd_solution *solution, const char *name)
{
    double value = (double)NAN;
    ck_assert_int_eq(ckpd_report_get(ckpd_solution_report(solution), name, &value), CKPD_OK);
    return value;
}

double day_value(const ckpd_solution *solution, const char *series, int32_t slot)
{
    const ckpd_plan *plan = ckpd_solution_plan(solution);
    int32_t count = ckpd_plan_slots(plan) + (strcmp(series, "soc_kwh") == 0);
    double *values = calloc((size_t)count, sizeof *values);
    ck_assert_ptr_nonnull(values);
    ck_assert_int_eq(ckpd_plan_get_series(plan, series, values, count), CKPD_OK);
    double value = values[slot];
    free(values);
    return value;
}
