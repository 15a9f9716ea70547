/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support/golden_case.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Public calls have to succeed; the message says why not. */
#define OK(golden, call)                                             \
    do {                                                             \
        int32_t ok_ = (call);                                        \
        ck_assert_msg(ok_ == CKPD_OK, "%s: %s", #call,               \
                      ckpd_context_last_message((golden)->context)); \
    } while (0)

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_number(value), "no number '%s'", key);
    return json_number_value(value);
}

static void set_series(golden_case *g, const json_t *root, const char *key, const char *name,
                       int32_t repeat)
{
    const json_t *list = json_object_get(root, key);
    int32_t slots = ckpd_site_slots(g->site);
    double *values = calloc((size_t)slots, sizeof *values);
    ck_assert_ptr_nonnull(values);
    ck_assert_int_eq((int32_t)json_array_size(list) * repeat, slots);
    for (int32_t t = 0; t < slots; t++) {
        values[t] = json_number_value(json_array_get(list, (size_t)(t / repeat)));
    }
    OK(g, ckpd_site_set_series(g->site, name, values, slots));
    free(values);
}

static void read_site(golden_case *g, const json_t *root, int32_t repeat)
{
    OK(g, ckpd_site_new(&g->site, g->context, (int32_t)number(root, "slots") * repeat,
                        number(root, "slot_hours") / repeat));
    set_series(g, root, "price_per_mwh", "import_price_per_mwh", repeat);
    set_series(g, root, "solar_kw", "solar_kw", repeat);
    set_series(g, root, "wind_kw", "wind_kw", repeat);
    OK(g, ckpd_site_set_constant(g->site, "pue", number(root, "pue")));
    OK(g, ckpd_site_set_constant(g->site, "base_it_kw", number(root, "base_it_kw")));
    OK(g, ckpd_site_set_constant(g->site, "gpu_cap", number(root, "gpu_cap")));
    OK(g, ckpd_site_set_constant(g->site, "curtailment_penalty_per_mwh",
                                 number(root, "curtailment_penalty_per_mwh")));
    json_t *bess = json_object_get(root, "bess");
    if (!json_is_object(bess)) {
        return;
    }
    ckpd_battery *battery = NULL;
    OK(g, ckpd_battery_new(&battery, g->context));
    const char *key;
    json_t *value;
    json_object_foreach(bess, key, value)
    {
        OK(g, ckpd_battery_set(battery, key, json_number_value(value)));
    }
    OK(g, ckpd_site_add_battery(g->site, battery));
    ckpd_battery_free(battery);
}

/* The golden files give work in units and rates in units per hour: the table is in units per
 * second. */
static void read_modes(golden_case *g, const json_t *job, double kw_per_gpu, double installed)
{
    const json_t *list = json_object_get(job, "modes");
    int32_t count = (int32_t)json_array_size(list);
    int32_t *gpus = calloc((size_t)count, sizeof *gpus);
    double *rate = calloc((size_t)count, sizeof *rate);
    double *power = calloc((size_t)count, sizeof *power);
    ck_assert(gpus != NULL && rate != NULL && power != NULL);
    int32_t baseline = -1;
    for (int32_t m = 0; m < count; m++) {
        const json_t *mode = json_array_get(list, (size_t)m);
        gpus[m] = (int32_t)number(mode, "gpus");
        rate[m] = number(mode, "rate") / 3600.0;
        power[m] = gpus[m] * kw_per_gpu;
        if (gpus[m] == (int32_t)number(job, "baseline_gpus") &&
            (baseline < 0 || rate[m] > rate[baseline])) {
            baseline = m;
        }
    }
    ck_assert_int_ge(baseline, 0);
    ckpd_task *task = g->task[g->jobs];
    OK(g, ckpd_task_set(task, "baseline_gpus", gpus[baseline]));
    OK(g, ckpd_task_set(task, "tranche_baseline_hours",
                        number(job, "work") / (3600.0 * rate[baseline])));
    ckpd_mode_table table = {.size = sizeof table,
                             .count = count,
                             .installed_gpus = (int32_t)installed,
                             .gpus = gpus,
                             .rate = rate,
                             .power_kw = power,
                             .baseline_index = baseline,
                             .keep_dominated = 1};
    OK(g, ckpd_mode_set_from_table(&g->modes[g->jobs], g->context, task, &table));
    free(gpus);
    free(rate);
    free(power);
}

static void read_job(golden_case *g, const json_t *root, const json_t *job,
                     const golden_options *options)
{
    static const char *const fields[] = {"release", "deadline"};
    ck_assert_int_lt(g->jobs, GOLDEN_JOBS);
    ckpd_task **task = &g->task[g->jobs];
    double segments = options->segments > 0                      ? options->segments
                      : json_object_get(job, "segments") != NULL ? number(job, "segments")
                                                                 : number(root, "segments");
    OK(g, ckpd_task_new(task, g->context, json_string_value(json_object_get(job, "name"))));
    OK(g, ckpd_task_set(*task, "segments", segments));
    for (size_t i = 0; i < 2; i++) {
        if (json_is_number(json_object_get(job, fields[i]))) {
            int32_t repeat = options->repeat > 0 ? options->repeat : 1;
            OK(g, ckpd_task_set(*task, fields[i], number(job, fields[i]) * repeat));
        }
    }
    read_modes(g, job, number(root, "kw_per_gpu"), number(root, "gpu_cap"));
    ckpd_graph_options *graph_options = NULL;
    OK(g, ckpd_graph_options_new(&graph_options, g->context));
    OK(g, ckpd_graph_options_set(graph_options, "reduce", options->keep_full ? 0 : 1));
    OK(g, ckpd_graph_build(&g->graph[g->jobs], g->context, *task, g->modes[g->jobs],
                           ckpd_site_slots(g->site), ckpd_site_slot_hours(g->site), graph_options));
    ckpd_graph_options_free(graph_options);
    OK(g, ckpd_problem_add_job(g->problem, g->graph[g->jobs]));
    g->jobs++;
}

static json_t *load(const char *name)
{
    char path[256];
    json_error_t error;
    snprintf(path, sizeof path, "cases/%s", name);
    const char *file = test_shared_path(path);
    if (file == NULL) {
        return NULL;
    }
    json_t *root = json_load_file(file, 0, &error);
    ck_assert_msg(root != NULL, "%s:%d: %s", name, error.line, error.text);
    return root;
}

bool golden_open(golden_case *out, const char *name, const golden_options *options)
{
    static const golden_options defaults = {1, 0, 0};
    memset(out, 0, sizeof *out);
    json_t *root = load(name);
    if (root == NULL) {
        return false;
    }
    options = options != NULL ? options : &defaults;
    ck_assert_int_eq(ckpd_context_new(&out->context, NULL), CKPD_OK);
    read_site(out, root, options->repeat > 0 ? options->repeat : 1);
    OK(out, ckpd_problem_new(&out->problem, out->context, out->site));
    size_t index;
    const json_t *job;
    json_array_foreach(json_object_get(root, "jobs"), index, job)
    {
        read_job(out, root, job, options);
    }
    json_decref(root);
    return true;
}

void golden_close(golden_case *golden)
{
    for (int32_t j = 0; j < golden->jobs; j++) {
        ckpd_task_free(golden->task[j]);
        ckpd_mode_set_free(golden->modes[j]);
        ckpd_graph_free(golden->graph[j]);
    }
    ckpd_problem_free(golden->problem);
    ckpd_site_free(golden->site);
    ckpd_context_free(golden->context);
    memset(golden, 0, sizeof *golden);
}

double golden_expected(const char *name, const char *key, const char *key2)
{
    json_t *root = load(name);
    ck_assert_ptr_nonnull(root);
    const json_t *value = json_object_get(root, key);
    value = key2 != NULL ? json_object_get(value, key2) : value;
    ck_assert_msg(value != NULL, "%s has no %s %s", name, key, key2 != NULL ? key2 : "");
    double found = json_is_null(value) ? (double)NAN : json_number_value(value);
    json_decref(root);
    return found;
}

ckpd_solution *golden_solve(golden_case *golden, int32_t scenario, const char *backend)
{
    ckpd_solve_options *options = NULL;
    ckpd_solution *solution = NULL;
    OK(golden, ckpd_solve_options_new(&options, golden->context));
    OK(golden, ckpd_solve_options_set_backend(options, backend));
    OK(golden, ckpd_problem_solve(&solution, golden->problem, scenario, options));
    ckpd_solve_options_free(options);
    return solution;
}

void golden_expect(golden_case *golden, int32_t scenario, const char *backend, double cost)
{
    ckpd_solution *solution = golden_solve(golden, scenario, backend);
    ck_assert_int_eq(ckpd_solution_outcome(solution), CKPD_OUTCOME_OPTIMAL);
    ck_assert_int_eq(ckpd_solution_is_proven(solution), 1);
    ck_assert_int_eq(ckpd_report_violation_count(ckpd_solution_report(solution)), 0);
    ck_assert_msg(fabs(ckpd_solution_cost(solution) - cost) <= 1e-6 * fmax(1.0, fabs(cost)),
                  "S%d costs %.9g, expected %.9g", scenario, ckpd_solution_cost(solution), cost);
    ckpd_solution_free(solution);
}
