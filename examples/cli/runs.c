/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Solving several scenarios and what is said about them together. */
#include "cli.h"

#include <math.h>
#include <string.h>

static double cost_of(const cli_run *one)
{
    return one->solution != NULL ? ckpd_solution_cost(one->solution) : (double)NAN;
}

/* A figure by the name that case files use for published ones. */
static double figure_of(const ckpd_case *loaded, const cli_run *runs,
                        const ckpd_published *published)
{
    if (published->job[0] != '\0') {
        for (int32_t job = 0; job < ckpd_case_job_count(loaded); job++) {
            const ckpd_mode_set *modes = ckpd_case_mode_set(loaded, job);
            if (strcmp(ckpd_task_name(ckpd_case_task(loaded, job)), published->job) != 0) {
                continue;
            }
            if (strcmp(published->figure, "feasible_modes") == 0) {
                return ckpd_mode_set_feasible_count(modes);
            }
            if (strcmp(published->figure, "retained_modes") == 0) {
                return ckpd_mode_set_count(modes);
            }
        }
        return (double)NAN;
    }
    if (published->scenario < 1 || published->scenario > CLI_SCENARIOS ||
        runs[published->scenario].solution == NULL) {
        return (double)NAN;
    }
    const cli_run *one = &runs[published->scenario];
    if (strcmp(published->figure, "saving_share") == 0) {
        return cli_saving(cost_of(one), cost_of(&runs[1]));
    }
    return cli_figure(one->solution, published->figure);
}

/* --- text
 * ------------------------------------------------------------------------------------------- */

static void modes_text(const ckpd_case *loaded, const ckpd_solution *solution, char *text,
                       size_t size)
{
    const ckpd_plan *plan = ckpd_solution_plan(solution);
    text[0] = '\0';
    for (int32_t job = 0; job < ckpd_case_job_count(loaded); job++) {
        size_t used = strlen(text);
        if (used + 16 > size) {
            snprintf(text + used, size - used, ", ...");
            return;
        }
        snprintf(text + used, size - used, "%s%d", job > 0 ? "+" : "", cli_modes_used(plan, job));
    }
}

static void add_row(const ckpd_case *loaded, const cli_run *runs, int scenario, cli_table *table)
{
    const ckpd_solution *solution = runs[scenario].solution;
    cli_table_cell(table, "S%d", scenario);
    cli_table_cell(table, "%s", cli_outcome(solution));
    cli_table_number(table, ckpd_solution_cost(solution), 3);
    cli_table_number(table, 100 * cli_saving(cost_of(&runs[scenario]), cost_of(&runs[1])), 2);
    cli_table_number(table, 100 * ckpd_solution_relative_gap(solution), 4);
    static const char *const ENERGIES[] = {"load_mwh", "import_mwh", "export_mwh",
                                           "curtailment_mwh"};
    for (size_t i = 0; i < sizeof ENERGIES / sizeof ENERGIES[0]; i++) {
        cli_table_number(table, cli_figure(solution, ENERGIES[i]), 3);
    }
    cli_table_number(table, 100 * cli_figure(solution, "green_share"), 2);
    cli_table_number(table, cli_figure(solution, "min_site_load_kw"), 1);
    cli_table_number(table, cli_figure(solution, "max_site_load_kw"), 1);
    char used[96] = "-";
    if (ckpd_solution_plan(solution) != NULL) {
        modes_text(loaded, solution, used, sizeof used);
    }
    cli_table_cell(table, "%s", used);
    cli_table_number(table, runs[scenario].seconds, 2);
}

cli_table *cli_published_table(const ckpd_case *loaded, const cli_run *runs)
{
    cli_table *table = cli_table_new("of|figure|>ours|>published|>difference");
    for (int32_t i = 0; i < ckpd_case_published_count(loaded); i++) {
        ckpd_published published = {.size = sizeof published};
        if (ckpd_case_published_get(loaded, i, &published) != CKPD_OK) {
            continue;
        }
        double ours = figure_of(loaded, runs, &published), scale = 1;
        bool counts = strstr(published.figure, "_modes") != NULL;
        bool share = strstr(published.figure, "share") != NULL;
        int digits = counts ? 0 : share ? 2 : strstr(published.figure, "_kw") != NULL ? 1 : 3;
        scale = share ? 100 : 1;
        if (published.job[0] != '\0') {
            cli_table_cell(table, "%s", published.job);
        } else {
            cli_table_cell(table, "S%d", (int)published.scenario);
        }
        cli_table_cell(table, "%s%s", published.figure, share ? ", %" : "");
        cli_table_number(table, scale * ours, digits);
        cli_table_number(table, scale * published.value, digits);
        cli_table_number(table, scale * (ours - published.value), digits);
    }
    return table;
}

cli_table *cli_runs_table(const ckpd_case *loaded, const cli_run *runs)
{
    cli_table *table =
        cli_table_new("scenario|outcome|>cost|>saved %|>gap %|>load MWh|>import MWh|>export MWh|"
                      ">curtailed MWh|>green %|>min kW|>max kW|>modes|>s");
    for (int scenario = 1; scenario <= CLI_SCENARIOS; scenario++) {
        if (runs[scenario].solution != NULL) {
            add_row(loaded, runs, scenario, table);
        }
    }
    return table;
}

/* --- JSON
 * -------------------------------------------------------------------------------------------- */

static void run_json(cli_json *json, const cli_run *runs, int scenario)
{
    const ckpd_solution *solution = runs[scenario].solution;
    char name[3] = {'S', (char)('0' + scenario), '\0'};
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "scenario", name);
    cli_json_text(json, "outcome", cli_outcome(solution));
    cli_json_text(json, "backend", ckpd_solution_backend(solution));
    cli_json_number(json, "cost", ckpd_solution_cost(solution));
    cli_json_number(json, "bound", ckpd_solution_bound(solution));
    cli_json_number(json, "relative_gap", ckpd_solution_relative_gap(solution));
    cli_json_number(json, "saving_share", cli_saving(cost_of(&runs[scenario]), cost_of(&runs[1])));
    cli_json_number(json, "seconds", runs[scenario].seconds);
    if (ckpd_solution_plan(solution) != NULL) {
        cli_json_open(json, "figures", '{');
        for (int32_t i = 0; i < ckpd_report_field_count(); i++) {
            ckpd_field_info info = {.size = sizeof info};
            if (ckpd_report_field_info(i, &info) == CKPD_OK) {
                cli_json_number(json, info.name, cli_figure(solution, info.name));
            }
        }
        cli_json_close(json, '}');
    }
    cli_json_open(json, "causes", '[');
    for (int32_t i = 0; i < ckpd_solution_cause_count(solution); i++) {
        cli_json_text(json, NULL, ckpd_solution_cause(solution, i));
    }
    cli_json_close(json, ']');
    cli_json_close(json, '}');
}

void cli_runs_json(const ckpd_case *loaded, const cli_run *runs, FILE *out)
{
    cli_json json = {.out = out};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "case", ckpd_case_name(loaded));
    cli_json_text(&json, "case_digest", ckpd_case_digest(loaded));
    cli_json_open(&json, "scenarios", '[');
    for (int scenario = 1; scenario <= CLI_SCENARIOS; scenario++) {
        if (runs[scenario].solution != NULL) {
            run_json(&json, runs, scenario);
        }
    }
    cli_json_close(&json, ']');
    cli_json_open(&json, "published", '[');
    for (int32_t i = 0; i < ckpd_case_published_count(loaded); i++) {
        ckpd_published published = {.size = sizeof published};
        if (ckpd_case_published_get(loaded, i, &published) == CKPD_OK) {
            char name[3] = {'S', (char)('0' + published.scenario), '\0'};
            cli_json_open(&json, NULL, '{');
            cli_json_text(&json, "of", published.job[0] != '\0' ? published.job : name);
            cli_json_text(&json, "figure", published.figure);
            cli_json_number(&json, "ours", figure_of(loaded, runs, &published));
            cli_json_number(&json, "published", published.value);
            cli_json_close(&json, '}');
        }
    }
    cli_json_close(&json, ']');
    cli_json_close(&json, '}');
}

/* --- solving
 * ------------------------------------------------------------------------------------------ */

bool cli_choose(const cli *tool, const ckpd_case *loaded, const char *only, bool *wanted)
{
    bool battery = ckpd_case_battery(loaded) != NULL;
    for (int scenario = 1; scenario <= CLI_SCENARIOS; scenario++) {
        wanted[scenario] = only == NULL && (battery || scenario < CKPD_SCENARIO_S5);
    }
    while (only != NULL) {
        char one[8];
        size_t length = strcspn(only, ",");
        snprintf(one, sizeof one, "%.*s", length < sizeof one ? (int)length : 0, only);
        int scenario = cli_scenario(tool, "--only", one);
        if (scenario == 0) {
            return false;
        }
        wanted[scenario] = true;
        only = only[length] == ',' ? only + length + 1 : NULL;
    }
    return true;
}

int cli_solve_all(cli *tool, ckpd_problem *problem, ckpd_solve_options *options, const bool *wanted,
                  cli_run *runs)
{
    for (int scenario = 1; scenario <= CLI_SCENARIOS; scenario++) {
        if (!wanted[scenario]) {
            continue;
        }
        int32_t status = cli_solve(tool, problem, scenario, options, NULL, &runs[scenario].solution,
                                   &runs[scenario].seconds);
        if (status != CKPD_OK) {
            return cli_failed(tool, status);
        }
        if (ckpd_cancel_requested(tool->cancel) != 0) {
            break;
        }
    }
    return -1;
}

void cli_free_runs(cli_run *runs)
{
    for (int scenario = 0; scenario <= CLI_SCENARIOS; scenario++) {
        ckpd_solution_free(runs[scenario].solution);
    }
}

const ckpd_solution *cli_best_run(const cli_run *runs)
{
    static const int ORDER[] = {CKPD_SCENARIO_S6, CKPD_SCENARIO_S4, CKPD_SCENARIO_S5,
                                CKPD_SCENARIO_S1};
    for (size_t i = 0; i < sizeof ORDER / sizeof ORDER[0]; i++) {
        const ckpd_solution *solution = runs[ORDER[i]].solution;
        if (solution != NULL && ckpd_solution_plan(solution) != NULL) {
            return solution;
        }
    }
    return NULL;
}
