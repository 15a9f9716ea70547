/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 1000 };

/* "1,2,4" or "768:2048:128" (first, last, step). Returns the number of values, or -1 after a
 * message. */
static int read_values(const cli *tool, const char *option, const char *text, double *values)
{
    char copy[4096];
    bool range = strchr(text, ':') != NULL;
    int count = 0;
    if (strlen(text) >= sizeof copy) {
        cli_usage(tool, "%s: the list is too long", option);
        return -1;
    }
    strcpy(copy, text);
    for (char *at = copy; at != NULL;) {
        char *end = strpbrk(at, range ? ":" : ",");
        char *next = end != NULL ? end + 1 : NULL;
        if (end != NULL) {
            *end = '\0';
        }
        if (count == MOST_POINTS || !cli_number(tool, option, at, &values[count])) {
            return -1;
        }
        count++;
        at = next;
    }
    if (!range) {
        return count;
    }
    double first = values[0], last = values[1], step = count == 3 ? values[2] : 0;
    if (count != 3 || !(step > 0) || last < first || (last - first) / step >= MOST_POINTS) {
        cli_usage(tool, "%s: '%s' is not FIRST:LAST:STEP with at most %d values", option, text,
                  MOST_POINTS);
        return -1;
    }
    count = 0;
    for (double value = first; value <= last + 1e-9 * step; value = first + count * step) {
        values[count++] = value;
    }
    return count;
}

typedef struct sweep {
    const char *option, *column;
    bool segments;
    int scenario, count;
    double values[MOST_POINTS];
} sweep;

static void add_text(cli_table *table, const sweep *over, double value,
                     const ckpd_solution *solution, double previous, double seconds)
{
    double cost = ckpd_solution_cost(solution);
    cli_table_cell(table, "%g", value);
    cli_table_cell(table, "%s", cli_outcome(solution));
    cli_table_number(table, cost, 3);
    cli_table_number(table, 100 * cli_saving(cost, previous), 2);
    cli_table_number(table, 100 * ckpd_solution_relative_gap(solution), 4);
    cli_table_number(table, cli_figure(solution, "import_mwh"), 3);
    cli_table_number(table, cli_figure(solution, "curtailment_mwh"), 3);
    cli_table_number(table, seconds, 2);
    cli_table_cell(table, "%s",
                   ckpd_solution_cause_count(solution) > 0 ? ckpd_solution_cause(solution, 0) : "");
    (void)over;
}

static void add_json(cli_json *json, const sweep *over, double value, const ckpd_solution *solution,
                     double seconds)
{
    cli_json_open(json, NULL, '{');
    cli_json_number(json, over->segments ? "segments" : "gpu_cap", value);
    cli_json_text(json, "outcome", cli_outcome(solution));
    cli_json_number(json, "cost", ckpd_solution_cost(solution));
    cli_json_number(json, "bound", ckpd_solution_bound(solution));
    cli_json_number(json, "relative_gap", ckpd_solution_relative_gap(solution));
    cli_json_number(json, "import_mwh", cli_figure(solution, "import_mwh"));
    cli_json_number(json, "curtailment_mwh", cli_figure(solution, "curtailment_mwh"));
    cli_json_number(json, "seconds", seconds);
    cli_json_open(json, "causes", '[');
    for (int32_t i = 0; i < ckpd_solution_cause_count(solution); i++) {
        cli_json_text(json, NULL, ckpd_solution_cause(solution, i));
    }
    cli_json_close(json, ']');
    cli_json_close(json, '}');
}

static int32_t set_value(ckpd_problem *problem, const sweep *over, double value)
{
    if (!over->segments) {
        return ckpd_problem_set_gpu_cap(problem, value);
    }
    /* Beyond the range of int32_t the library could not be asked; it refuses -1 like any other
     * nonsense. */
    bool whole = value == floor(value) && fabs(value) < 1e9;
    return ckpd_problem_set_segments(problem, -1, whole ? (int32_t)value : -1);
}

/* Solves every point; returns the exit status. */
static int run_sweep(cli *tool, ckpd_problem *problem, ckpd_solve_options *options,
                     const sweep *over)
{
    char columns[200];
    snprintf(columns, sizeof columns,
             ">%s|outcome|>cost|>saved to the one before %%|>gap %%|>import MWh|>curtailed "
             "MWh|>s|first cause",
             over->column);
    cli_table *table = tool->json ? NULL : cli_table_new(columns);
    cli_json json = {.out = stdout};
    int status = CLI_NO_PLAN;
    double previous = (double)NAN;
    int done = 0;
    for (int i = 0; i < over->count && ckpd_cancel_requested(tool->cancel) == 0; i++) {
        ckpd_solution *solution = NULL;
        double seconds;
        int32_t solved = set_value(problem, over, over->values[i]);
        if (solved == CKPD_OK) {
            solved = cli_solve(tool, problem, over->scenario, options, NULL, &solution, &seconds);
        }
        if (solved != CKPD_OK) {
            status = cli_failed(tool, solved);
            break;
        }
        if (tool->json && done == 0) {
            cli_json_open(&json, NULL, '[');
        }
        done++;
        if (tool->json) {
            add_json(&json, over, over->values[i], solution, seconds);
        } else {
            add_text(table, over, over->values[i], solution, previous, seconds);
        }
        previous = ckpd_solution_cost(solution);
        status = ckpd_solution_plan(solution) != NULL ? CLI_OK : status;
        ckpd_solution_free(solution);
    }
    if (tool->json && done > 0) {
        cli_json_close(&json, ']');
    }
    cli_table_print(table, done > 0 ? stdout : NULL);
    return status;
}

int cli_sweep(cli *tool, int count, char **words)
{
    const char *path = NULL, *segments = NULL, *caps = NULL, *scenario = "S4";
    cli_solving solving = {0};
    const cli_option options[] = {
        {"--segments", "1,2,4", "numbers of checkpoint segments", &segments},
        {"--gpu-cap", "A:B:STEP", "GPU capacities (or a list)", &caps},
        {"--scenario", "S1..S6", "default: S4", &scenario},
        CLI_SOLVING_OPTIONS(solving),
        {NULL, NULL, NULL, NULL}};
    int status = cli_parse(tool, count, words, options, "CASE", &path, 1, 1);
    if (status >= 0) {
        return status;
    }
    if ((segments != NULL) == (caps != NULL)) {
        return cli_usage(tool, "give either --segments or --gpu-cap");
    }
    sweep *over = calloc(1, sizeof *over);
    if (over == NULL) {
        return CLI_INTERNAL;
    }
    over->segments = segments != NULL;
    over->option = over->segments ? "--segments" : "--gpu-cap";
    over->column = over->segments ? "segments" : "GPUs";
    over->scenario = cli_scenario(tool, "--scenario", scenario);
    over->count = read_values(tool, over->option, over->segments ? segments : caps, over->values);
    ckpd_case *loaded = NULL;
    ckpd_problem *problem = NULL;
    ckpd_solve_options *solve_options = NULL;
    status = over->scenario > 0 && over->count > 0 ? cli_open_case(tool, path, &loaded, &problem)
                                                   : CLI_BAD_INPUT;
    status = status < 0 ? cli_open_options(tool, loaded, &solving, &solve_options) : status;
    status = status < 0 ? run_sweep(tool, problem, solve_options, over) : status;
    free(over);
    ckpd_solve_options_free(solve_options);
    ckpd_problem_free(problem);
    ckpd_case_free(loaded);
    return status;
}
