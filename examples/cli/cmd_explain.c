/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Why a plan costs what it costs, and what it leaves. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SERIES = 10, VALUES = 3 };

/* Names of ckpd_explanation_get_series(), headings beside. */
static const char *const NAMES[SERIES] = {"marginal_up_per_mwh",
                                          "marginal_down_per_mwh",
                                          "shed_kw",
                                          "shed_slots",
                                          "shed_cost",
                                          "add_kw",
                                          "add_slots",
                                          "add_cost",
                                          "battery_shed_kw",
                                          "battery_add_kw"};

/* Cost when a limit is moved: a full solve each. */
typedef struct value {
    const char *limit, *text;
    double by, saved; /* NaN: not asked, infinite: no plan */
} value;

typedef struct explained {
    const ckpd_case *loaded;
    const ckpd_solution *solution;
    const ckpd_explanation *explanation;
    double *series[SERIES];
    value values[VALUES];
} explained;

/* --- values of limits ------------------------------------------------------------------------ */

static int32_t smallest_mode(const ckpd_case *loaded)
{
    int32_t least = 0;
    for (int32_t job = 0; job < ckpd_case_job_count(loaded); job++) {
        const ckpd_mode_set *modes = ckpd_case_mode_set(loaded, job);
        for (int32_t i = 0; i < ckpd_mode_set_count(modes); i++) {
            ckpd_mode mode = {.size = sizeof mode};
            if (ckpd_mode_set_get(modes, i, &mode) == CKPD_OK &&
                (least == 0 || mode.gpus < least)) {
                least = mode.gpus;
            }
        }
    }
    return least;
}

/* Cost with one checkpoint segment more for every job; NaN where a job has begun. */
static int32_t cost_with_segment(const ckpd_case *loaded, int scenario,
                                 const ckpd_solve_options *options, double *cost)
{
    ckpd_problem *problem = NULL;
    ckpd_solution *solution = NULL;
    *cost = (double)NAN;
    int32_t status = ckpd_case_build_problem(&problem, loaded);
    for (int32_t job = 0; status == CKPD_OK && job < ckpd_problem_job_count(problem); job++) {
        int32_t segments = ckpd_graph_segments(ckpd_problem_job_graph(problem, job));
        status = ckpd_problem_set_segments(problem, job, segments + 1);
    }
    if (status == CKPD_ERR_STATE) {
        ckpd_problem_free(problem);
        return CKPD_OK;
    }
    status = status == CKPD_OK ? ckpd_problem_solve(&solution, problem, scenario, options) : status;
    if (status == CKPD_OK) {
        *cost = ckpd_solution_cost(solution);
    }
    ckpd_solution_free(solution);
    ckpd_problem_free(problem);
    return status;
}

static int32_t find_values(explained *e, ckpd_problem *problem, const ckpd_solve_options *options)
{
    int scenario = (int)ckpd_solution_scenario(e->solution);
    double cost = ckpd_solution_cost(e->solution), found[VALUES];
    int32_t gpus = smallest_mode(e->loaded);
    e->values[0] = (value){"gpu_cap", "GPUs more (the smallest mode)", gpus, (double)NAN};
    e->values[1] = (value){"segments", "checkpoint segment more for each job", 1, (double)NAN};
    e->values[2] = (value){"deadline", "slot more until each deadline", 1, (double)NAN};
    if (gpus == 0) {
        return CKPD_OK; /* no jobs */
    }
    int32_t status =
        ckpd_problem_cost_with(&found[0], problem, scenario, options, CKPD_LIMIT_GPU_CAP, gpus);
    status =
        status == CKPD_OK ? cost_with_segment(e->loaded, scenario, options, &found[1]) : status;
    status = status == CKPD_OK ? ckpd_problem_cost_with(&found[2], problem, scenario, options,
                                                        CKPD_LIMIT_DEADLINE, 1)
                               : status;
    for (int i = 0; i < VALUES && status == CKPD_OK; i++) {
        e->values[i].saved = cost - found[i];
    }
    return status;
}

/* --- text ------------------------------------------------------------------------------------ */

static void print_terms(const explained *e)
{
    const ckpd_solution *s1 = ckpd_explanation_baseline(e->explanation);
    bool beside = s1 != NULL && ckpd_solution_plan(s1) != NULL;
    cli_table *table = cli_table_new("figure|>here|>S1|>difference|unit");
    for (int32_t i = 0; i < ckpd_report_field_count(); i++) {
        ckpd_field_info info = {.size = sizeof info};
        if (ckpd_report_field_info(i, &info) != CKPD_OK) {
            continue;
        }
        double here = cli_figure(e->solution, info.name);
        double there = beside ? cli_figure(s1, info.name) : (double)NAN;
        cli_table_cell(table, "%s", info.name);
        cli_table_number(table, here, 4);
        cli_table_number(table, there, 4);
        cli_table_number(table, here - there, 4);
        cli_table_cell(table, "%s", info.unit);
    }
    cli_table_print(table, stdout);
}

static void print_jobs(const explained *e)
{
    cli_table *table = cli_table_new("job|>waits (slots)|>changes|>MWh left|>at|>MWh taken|>at|"
                                     ">spread that pays");
    for (int32_t job = 0; job < ckpd_case_job_count(e->loaded); job++) {
        ckpd_job_explanation one = {.size = sizeof one};
        if (ckpd_explanation_get_job(e->explanation, job, &one) != CKPD_OK) {
            continue;
        }
        cli_table_cell(table, "%s", ckpd_task_name(ckpd_case_task(e->loaded, job)));
        cli_table_cell(table, "%d", (int)one.waiting_slots);
        cli_table_cell(table, "%d", (int)one.mode_changes);
        cli_table_number(table, one.left_mwh, 3);
        cli_table_number(table, one.left_price_per_mwh, 2);
        cli_table_number(table, one.taken_mwh, 3);
        cli_table_number(table, one.taken_price_per_mwh, 2);
        cli_table_number(table, one.break_even_spread_per_mwh, 2);
    }
    cli_table_print(table, stdout);
    puts("Left: drawn in S1 and not here; taken: the reverse; at: mean marginal price per MWh. "
         "Moving "
         "pays where\nthe difference of the two prices is above the last column.");
}

static void print_slots(const explained *e)
{
    cli_table *table =
        cli_table_new(">slot|>from h|>price|>kWh more|>kWh less|>shed kW|>slots|>cost|>add kW|"
                      ">slots|>cost|>battery -|>battery +");
    const ckpd_plan *plan = ckpd_solution_plan(e->solution);
    int32_t slots = ckpd_plan_slots(plan);
    double *price = calloc((size_t)slots, sizeof *price);
    if (price != NULL) {
        ckpd_plan_get_series(plan, "import_price_per_mwh", price, slots);
    }
    for (int32_t t = 0; price != NULL && t < slots; t++) {
        cli_table_cell(table, "%d", (int)t);
        cli_table_number(table, t * ckpd_case_slot_hours(e->loaded), 2);
        cli_table_number(table, price[t], 2);
        for (int i = 0; i < SERIES; i++) {
            cli_table_number(table, e->series[i][t], i < 2 || i == 4 || i == 7 ? 2 : 0);
        }
    }
    cli_table_print(table, stdout);
    free(price);
    puts(
        "Prices per MWh; kWh more, kWh less: what one more would cost and one less save, the paths "
        "fixed (a linear\nprogram with its whole numbers fixed). Shed: load that could be put off, "
        "for how many slots, at what\ncost for the first; add: load that could be drawn earlier; "
        "battery: kW it could lower or raise.");
}

static void print_values(const explained *e)
{
    for (int i = 0; i < VALUES; i++) {
        const value *v = &e->values[i];
        if (isfinite(v->saved)) {
            printf("%g %s would %s %.4f\n", v->by, v->text, v->saved < 0 ? "cost" : "save",
                   fabs(v->saved));
        } else if (isinf(v->saved)) {
            printf("%g %s: no plan\n", v->by, v->text);
        }
    }
    puts("Each of these is a full solve, exact to its gap, not a derivative.");
}

static void print_text(const explained *e)
{
    cli_put(stdout, ckpd_case_name(e->loaded));
    printf("  S%d  %s\n\n", (int)ckpd_solution_scenario(e->solution), cli_outcome(e->solution));
    print_terms(e);
    putchar('\n');
    if (ckpd_case_job_count(e->loaded) > 0) {
        print_jobs(e);
        putchar('\n');
        print_values(e);
        putchar('\n');
    }
    print_slots(e);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void put_figures(cli_json *json, const char *key, const ckpd_solution *solution)
{
    cli_json_open(json, key, '{');
    for (int32_t i = 0; i < ckpd_report_field_count(); i++) {
        ckpd_field_info info = {.size = sizeof info};
        if (ckpd_report_field_info(i, &info) == CKPD_OK) {
            cli_json_number(json, info.name, cli_figure(solution, info.name));
        }
    }
    cli_json_close(json, '}');
}

static void print_json(const explained *e)
{
    cli_json json = {.out = stdout};
    const ckpd_solution *s1 = ckpd_explanation_baseline(e->explanation);
    cli_json_open(&json, NULL, '{');
    cli_json_number(&json, "scenario", ckpd_solution_scenario(e->solution));
    put_figures(&json, "figures", e->solution);
    if (s1 != NULL && ckpd_solution_plan(s1) != NULL) {
        put_figures(&json, "s1_figures", s1);
    }
    cli_json_open(&json, "jobs", '[');
    for (int32_t job = 0; job < ckpd_case_job_count(e->loaded); job++) {
        ckpd_job_explanation one = {.size = sizeof one};
        if (ckpd_explanation_get_job(e->explanation, job, &one) == CKPD_OK) {
            cli_json_open(&json, NULL, '{');
            cli_json_text(&json, "name", ckpd_task_name(ckpd_case_task(e->loaded, job)));
            cli_json_number(&json, "waiting_slots", one.waiting_slots);
            cli_json_number(&json, "mode_changes", one.mode_changes);
            cli_json_number(&json, "left_mwh", one.left_mwh);
            cli_json_number(&json, "left_price_per_mwh", one.left_price_per_mwh);
            cli_json_number(&json, "taken_mwh", one.taken_mwh);
            cli_json_number(&json, "taken_price_per_mwh", one.taken_price_per_mwh);
            cli_json_number(&json, "break_even_spread_per_mwh", one.break_even_spread_per_mwh);
            cli_json_close(&json, '}');
        }
    }
    cli_json_close(&json, ']');
    cli_json_open(&json, "values", '[');
    for (int i = 0; i < VALUES; i++) {
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "limit", e->values[i].limit);
        cli_json_number(&json, "by", e->values[i].by);
        cli_json_number(&json, "saved", e->values[i].saved);
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, ']');
    for (int i = 0; i < SERIES; i++) {
        cli_json_open(&json, NAMES[i], '[');
        for (int32_t t = 0; t < ckpd_case_slots(e->loaded); t++) {
            cli_json_number(&json, NULL, e->series[i][t]);
        }
        cli_json_close(&json, ']');
    }
    cli_json_close(&json, '}');
}

/* --- command --------------------------------------------------------------------------------- */

static int32_t read_series(explained *e, double *block)
{
    int32_t slots = ckpd_case_slots(e->loaded), status = CKPD_OK;
    for (int i = 0; i < SERIES && status == CKPD_OK; i++) {
        e->series[i] = block + (size_t)i * (size_t)slots;
        status = ckpd_explanation_get_series(e->explanation, NAMES[i], e->series[i], slots);
    }
    return status;
}

static int explain(cli *tool, explained *e, ckpd_problem *problem,
                   const ckpd_solve_options *options)
{
    ckpd_explanation *explanation = NULL;
    double *block = calloc((size_t)ckpd_case_slots(e->loaded) * SERIES, sizeof *block);
    int32_t status = block != NULL ? CKPD_OK : CKPD_ERR_NO_MEMORY;
    status = status == CKPD_OK ? ckpd_problem_explain(&explanation, problem, e->solution, options)
                               : status;
    e->explanation = explanation;
    status = status == CKPD_OK ? read_series(e, block) : status;
    status = status == CKPD_OK ? find_values(e, problem, options) : status;
    if (status == CKPD_OK && tool->json) {
        print_json(e);
    } else if (status == CKPD_OK) {
        print_text(e);
    }
    ckpd_explanation_free(explanation);
    free(block);
    return status == CKPD_OK ? CLI_OK : cli_failed(tool, status);
}

static void no_plan(const cli *tool, const ckpd_solution *solution)
{
    if (!tool->json) {
        puts("There is no plan to explain.");
        cli_print_causes(solution, stdout);
        return;
    }
    cli_json json = {.out = stdout};
    cli_json_open(&json, NULL, '{');
    cli_json_number(&json, "scenario", ckpd_solution_scenario(solution));
    cli_json_text(&json, "outcome", cli_outcome(solution));
    cli_json_open(&json, "causes", '[');
    for (int32_t i = 0; i < ckpd_solution_cause_count(solution); i++) {
        cli_json_text(&json, NULL, ckpd_solution_cause(solution, i));
    }
    cli_json_close(&json, ']');
    cli_json_close(&json, '}');
}

int cli_explain(cli *tool, int count, char **words)
{
    const char *path = NULL, *scenario_text = NULL;
    cli_solving solving = {0};
    const cli_option options[] = {
        {"--scenario", "S1..S6", "default: S6 with a battery, else S4", &scenario_text},
        CLI_SOLVING_OPTIONS(solving),
        {NULL, NULL, NULL, NULL}};
    int status = cli_parse(tool, count, words, options, "CASE", &path, 1, 1);
    if (status >= 0) {
        return status;
    }
    ckpd_case *loaded = NULL;
    ckpd_problem *problem = NULL;
    ckpd_solve_options *solve_options = NULL;
    ckpd_solution *solution = NULL;
    status = cli_open_case(tool, path, &loaded, &problem);
    int scenario = status < 0 ? cli_choose_scenario(tool, loaded, scenario_text) : 0;
    status = status < 0 && scenario == 0 ? CLI_BAD_INPUT : status;
    status = status < 0 ? cli_open_options(tool, loaded, &solving, &solve_options) : status;
    if (status < 0) {
        double seconds;
        int32_t solved =
            cli_solve(tool, problem, scenario, solve_options, NULL, &solution, &seconds);
        status = solved == CKPD_OK ? -1 : cli_failed(tool, solved);
    }
    if (status < 0 && ckpd_solution_plan(solution) == NULL) {
        no_plan(tool, solution);
        status = CLI_NO_PLAN;
    }
    if (status < 0) {
        explained e = {.loaded = loaded, .solution = solution};
        status = explain(tool, &e, problem, solve_options);
    }
    ckpd_solution_free(solution);
    ckpd_solve_options_free(solve_options);
    ckpd_problem_free(problem);
    ckpd_case_free(loaded);
    return status;
}
