/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Opening cases, solving with progress, and what is said about a solution. */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

int cli_open_case(cli *tool, const char *path, ckpd_case **loaded, ckpd_problem **problem)
{
    int32_t status = ckpd_case_load(loaded, tool->context, path);
    if (status == CKPD_OK && problem != NULL) {
        status = ckpd_case_build_problem(problem, *loaded);
    }
    return status == CKPD_OK ? -1 : cli_failed(tool, status);
}

int cli_choose_scenario(const cli *tool, const ckpd_case *loaded, const char *text)
{
    if (text != NULL) {
        return cli_scenario(tool, "--scenario", text);
    }
    return ckpd_case_battery(loaded) != NULL ? CKPD_SCENARIO_S6 : CKPD_SCENARIO_S4;
}

int cli_soften(cli *tool, ckpd_problem *problem, const char *flag)
{
    int32_t status = flag != NULL ? ckpd_problem_soften(problem) : CKPD_OK;
    return status == CKPD_OK ? -1 : cli_failed(tool, status);
}

void cli_print_overruns(const ckpd_report *report, FILE *out)
{
    enum { MOST = 40 };
    int32_t count = ckpd_report_overrun_count(report);
    if (count > 0) {
        fprintf(out, "limits passed at a price:\n");
    }
    for (int32_t i = 0; i < count && i < MOST; i++) {
        ckpd_overrun overrun = {.size = sizeof overrun};
        if (ckpd_report_get_overrun(report, i, &overrun) == CKPD_OK) {
            fputs("  ", out);
            cli_put(out, overrun.message);
            fprintf(out, ", cost %.4f\n", overrun.cost);
        }
    }
    if (count > MOST) {
        fprintf(out, "  and %d more; --json lists them all\n", (int)(count - MOST));
    }
}

int cli_open_options(cli *tool, const ckpd_case *loaded, const cli_solving *solving,
                     ckpd_solve_options **options)
{
    const struct {
        const char *option, *field, *text;
    } given[] = {{"--gap", "relative_gap", solving->gap},
                 {"--time-limit", "time_limit_s", solving->time_limit},
                 {"--threads", "threads", solving->threads}};
    int32_t status = ckpd_case_build_options(options, loaded);
    for (size_t i = 0; i < sizeof given / sizeof given[0] && status == CKPD_OK; i++) {
        double value;
        if (given[i].text == NULL) {
            continue;
        }
        if (!cli_number(tool, given[i].option, given[i].text, &value)) {
            return CLI_BAD_INPUT;
        }
        status = ckpd_solve_options_set(*options, given[i].field, value);
    }
    if (status == CKPD_OK && solving->solver != NULL) {
        status = ckpd_solve_options_set_backend(*options, solving->solver);
    }
    if (status == CKPD_OK) {
        status = ckpd_solve_options_set_cancel(*options, tool->cancel);
    }
    return status == CKPD_OK ? -1 : cli_failed(tool, status);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct progress_state {
    cli *tool;
    int scenario;
    double last; /* when the line was last written */
} progress_state;

static int32_t on_progress(const ckpd_progress *progress, void *user)
{
    progress_state *state = user;
    double now = now_s();
    if (progress->elapsed_s < 1 || now - state->last < 0.2) {
        return 0;
    }
    state->last = now;
    state->tool->progress_shown = true;
    fprintf(stderr, "\r\033[KS%d  %.0f s", state->scenario, progress->elapsed_s);
    if (isfinite(progress->incumbent)) {
        fprintf(stderr, "  cost %.3f", progress->incumbent);
    } else {
        fputs("  no plan yet", stderr);
    }
    if (isfinite(progress->bound)) {
        fprintf(stderr, "  bound %.3f", progress->bound);
    }
    if (isfinite(progress->relative_gap)) {
        fprintf(stderr, "  gap %.3f %%", 100 * progress->relative_gap);
    }
    fputs("  (Ctrl-C: best plan so far)", stderr);
    fflush(stderr);
    return 0;
}

int32_t cli_solve(cli *tool, ckpd_problem *problem, int scenario, ckpd_solve_options *options,
                  const ckpd_plan *start, ckpd_solution **solution, double *seconds)
{
    progress_state state = {.tool = tool, .scenario = scenario};
    double begin = now_s();
    int32_t status = CKPD_OK;
    if (tool->progress) {
        status = ckpd_solve_options_set_progress(options, on_progress, &state);
    }
    if (status == CKPD_OK) {
        status = start != NULL ? ckpd_problem_resolve(solution, problem, scenario, options, start)
                               : ckpd_problem_solve(solution, problem, scenario, options);
    }
    ckpd_solve_options_set_progress(options, NULL, NULL);
    *seconds = now_s() - begin;
    cli_clear_progress(tool);
    return status;
}

const char *cli_outcome(const ckpd_solution *solution)
{
    switch (ckpd_solution_outcome(solution)) {
    case CKPD_OUTCOME_OPTIMAL:
        return "optimal";
    case CKPD_OUTCOME_FEASIBLE:
        return ckpd_solution_bound_is_claimed(solution) != 0 ? "feasible, bound as claimed"
                                                             : "feasible, not proven";
    case CKPD_OUTCOME_INFEASIBLE:
        return ckpd_solution_is_proven(solution) != 0 ? "infeasible" : "infeasible as claimed";
    case CKPD_OUTCOME_UNBOUNDED:
        return "unbounded";
    case CKPD_OUTCOME_NO_PLAN:
        return "no plan found in time";
    case CKPD_OUTCOME_CANCELLED:
        return ckpd_solution_plan(solution) != NULL ? "stopped, best so far" : "stopped, no plan";
    default:
        return "unknown";
    }
}

double cli_figure(const ckpd_solution *solution, const char *name)
{
    double value = (double)NAN;
    const ckpd_report *report = ckpd_solution_report(solution);
    if (report == NULL || ckpd_report_get(report, name, &value) != CKPD_OK) {
        return (double)NAN;
    }
    return value;
}

double cli_saving(double cost, double base)
{
    return base != 0 ? (base - cost) / fabs(base) : (double)NAN;
}

int cli_solution_exit(const ckpd_solution *solution)
{
    return ckpd_solution_plan(solution) != NULL ? CLI_OK : CLI_NO_PLAN;
}

void cli_print_causes(const ckpd_solution *solution, FILE *out)
{
    for (int32_t i = 0; i < ckpd_solution_cause_count(solution); i++) {
        fputs("  cause: ", out);
        cli_put(out, ckpd_solution_cause(solution, i));
        fputc('\n', out);
    }
}

int cli_modes_used(const ckpd_plan *plan, int32_t job)
{
    int used = 0;
    for (int32_t i = 0; i < ckpd_plan_step_count(plan, job); i++) {
        ckpd_step step = {.size = sizeof step}, earlier = {.size = sizeof earlier};
        bool known = ckpd_plan_get_step(plan, job, i, &step) != CKPD_OK;
        for (int32_t k = 0; k < i && !known; k++) {
            known =
                ckpd_plan_get_step(plan, job, k, &earlier) == CKPD_OK && earlier.mode == step.mode;
        }
        used += !known;
    }
    return used;
}

static void print_job(const ckpd_case *loaded, const ckpd_plan *plan, int32_t job, cli_table *table)
{
    const ckpd_mode_set *modes = ckpd_case_mode_set(loaded, job);
    int32_t at = 0, count = ckpd_plan_step_count(plan, job);
    double hours = ckpd_case_slot_hours(loaded);
    for (int32_t i = 0; i < count; i++) {
        ckpd_step step = {.size = sizeof step};
        if (ckpd_plan_get_step(plan, job, i, &step) != CKPD_OK) {
            return;
        }
        if (i > 0 && step.from_slot > at) {
            cli_table_cell(table, "%s", ckpd_task_name(ckpd_case_task(loaded, job)));
            cli_table_number(table, at * hours, 2);
            cli_table_number(table, step.from_slot * hours, 2);
            cli_table_cell(table, "wait");
            cli_table_cell(table, "0");
            cli_table_cell(table, "%s", "");
        }
        const char *label = ckpd_mode_set_label(modes, step.mode);
        cli_table_cell(table, "%s", ckpd_task_name(ckpd_case_task(loaded, job)));
        cli_table_number(table, step.from_slot * hours, 2);
        cli_table_number(table, step.to_slot * hours, 2);
        cli_table_cell(table, "%s", label != NULL ? label : "?");
        cli_table_cell(table, "%d", (int)step.gpus);
        if (step.from_segment >= 0) {
            cli_table_cell(table, "%d-%d", (int)step.from_segment, (int)step.to_segment);
        } else {
            cli_table_cell(table, "%s", "");
        }
        at = step.to_slot;
    }
}

cli_table *cli_schedule_table(const ckpd_case *loaded, const ckpd_solution *solution)
{
    const ckpd_plan *plan = ckpd_solution_plan(solution);
    cli_table *table = cli_table_new("job|>from h|>to h|mode|>GPUs|>checkpoints");
    for (int32_t job = 0; job < ckpd_case_job_count(loaded); job++) {
        print_job(loaded, plan, job, table);
    }
    return table;
}

cli_table *cli_figures_table(const ckpd_solution *solution)
{
    cli_table *table = cli_table_new("figure|>value|unit");
    for (int32_t i = 0; i < ckpd_report_field_count(); i++) {
        ckpd_field_info info = {.size = sizeof info};
        if (ckpd_report_field_info(i, &info) == CKPD_OK) {
            cli_table_cell(table, "%s", info.name);
            cli_table_number(table, cli_figure(solution, info.name), 4);
            cli_table_cell(table, "%s", info.unit);
        }
    }
    return table;
}

/* --- files
 * ------------------------------------------------------------------------------------------- */

char *cli_join(const char *folder, const char *name)
{
    size_t length = strlen(folder) + strlen(name) + 2;
    char *path = malloc(length);
    if (path != NULL) {
        snprintf(path, length, "%s/%s", folder, name);
    }
    return path;
}

int cli_make_folder(cli *tool, const char *folder)
{
    struct stat found;
    if (mkdir(folder, 0777) == 0 ||
        (errno == EEXIST && stat(folder, &found) == 0 && S_ISDIR(found.st_mode))) {
        return -1;
    }
    return cli_usage(tool, "cannot make the folder %s: %s", folder, strerror(errno));
}

static int save(cli *tool, const ckpd_case *loaded, const ckpd_solution *solution, int32_t form,
                const char *folder, const char *name)
{
    char *path = cli_join(folder, name);
    if (path == NULL) {
        return CLI_INTERNAL;
    }
    int32_t status = ckpd_case_save_solution(loaded, solution, form, path);
    free(path);
    return status == CKPD_OK ? -1 : cli_failed(tool, status);
}

int cli_write_plan(cli *tool, const ckpd_case *loaded, const ckpd_solution *solution,
                   const char *folder)
{
    int status = cli_make_folder(tool, folder);
    status =
        status < 0 ? save(tool, loaded, solution, CKPD_PLAN_JSON, folder, "plan.json") : status;
    if (status >= 0 || ckpd_solution_plan(solution) == NULL) {
        return status;
    }
    status = save(tool, loaded, solution, CKPD_PLAN_CSV, folder, "plan.csv");
    return status < 0 ? cli_plot(tool, loaded, solution, folder) : status;
}
