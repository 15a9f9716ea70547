/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "cli.h"

#include <math.h>
#include <stdlib.h>

static void print_efficiency(const ckpd_case *loaded)
{
    for (int32_t job = 0; job < ckpd_case_job_count(loaded); job++) {
        const ckpd_mode_set *modes = ckpd_case_mode_set(loaded, job);
        ckpd_workload work = {.size = sizeof work};
        if (ckpd_mode_set_layout_count(modes) > ckpd_mode_set_count(modes) &&
            ckpd_mode_set_workload(modes, &work) == CKPD_OK && isfinite(work.efficiency)) {
            printf("%s: %d feasible configurations, %d kept at stack efficiency %.4f\n",
                   ckpd_task_name(ckpd_case_task(loaded, job)),
                   (int)ckpd_mode_set_feasible_count(modes), (int)ckpd_mode_set_count(modes),
                   work.efficiency);
        }
    }
}

static void print_runs(const ckpd_case *loaded, const cli_run *runs)
{
    cli_put(stdout, ckpd_case_name(loaded));
    if (ckpd_case_description(loaded)[0] != '\0') {
        fputs(": ", stdout);
        cli_put(stdout, ckpd_case_description(loaded));
    }
    fputs("\n\n", stdout);
    print_efficiency(loaded);
    cli_table_print(cli_runs_table(loaded, runs), stdout);
    for (int scenario = 1; scenario <= CLI_SCENARIOS; scenario++) {
        if (runs[scenario].solution != NULL &&
            ckpd_solution_cause_count(runs[scenario].solution) > 0) {
            printf("S%d\n", scenario);
            cli_print_causes(runs[scenario].solution, stdout);
        }
    }
    for (int scenario = 1; scenario <= CLI_SCENARIOS; scenario++) {
        double penalty = cli_figure(runs[scenario].solution, "penalty_cost");
        if (penalty > 0) {
            printf("S%d passes limits at a price: %.4f of its cost\n", scenario, penalty);
        }
    }
    if (runs[3].solution != NULL) {
        puts("S3 ignores checkpoint continuity: a bound, not a plan.");
    }
    if (runs[5].solution != NULL || runs[6].solution != NULL) {
        puts("S5 and S6 use the battery.");
    }
    if (ckpd_case_published_count(loaded) > 0) {
        const char *source = ckpd_case_published_source(loaded);
        printf("\nBeside the figures of %s\n", source[0] != '\0' ? source : "the case file");
        cli_table_print(cli_published_table(loaded, runs), stdout);
    }
}

/* Plan and picture of the richest executable scenario, and the figures of all. */
static int write_folder(cli *tool, const ckpd_case *loaded, const cli_run *runs, const char *folder)
{
    const ckpd_solution *best = cli_best_run(runs);
    int status = cli_make_folder(tool, folder);
    status = status < 0 && best != NULL ? cli_write_plan(tool, loaded, best, folder) : status;
    char *path = cli_join(folder, "scenarios.json");
    FILE *out = status < 0 && path != NULL ? fopen(path, "w") : NULL;
    if (status < 0 && out == NULL) {
        status = cli_usage(tool, "cannot write %s", path != NULL ? path : folder);
    }
    if (out != NULL) {
        cli_runs_json(loaded, runs, out);
        if (fclose(out) != 0) {
            status = cli_usage(tool, "cannot write %s", path);
        }
    }
    free(path);
    return status;
}

int cli_scenarios(cli *tool, int count, char **words)
{
    const char *path = NULL, *folder = NULL, *only = NULL, *soft = NULL;
    bool wanted[CLI_SCENARIOS + 1] = {false};
    cli_solving solving = {0};
    const cli_option options[] = {
        {"--only", "S1,S4", "only these", &only},
        CLI_SOLVING_OPTIONS(solving),
        CLI_SOFT_OPTION(soft),
        {"--out", "DIR", "write scenarios.json, and plan and picture of the best scenario",
         &folder},
        {NULL, NULL, NULL, NULL}};
    int status = cli_parse(tool, count, words, options, "CASE", &path, 1, 1);
    if (status >= 0) {
        return status;
    }
    ckpd_case *loaded = NULL;
    ckpd_problem *problem = NULL;
    ckpd_solve_options *solve_options = NULL;
    cli_run runs[CLI_SCENARIOS + 1] = {{NULL, 0}};
    status = cli_open_case(tool, path, &loaded, &problem);
    status = status < 0 ? cli_soften(tool, problem, soft) : status;
    status = status < 0 ? cli_open_options(tool, loaded, &solving, &solve_options) : status;
    /* A folder that cannot be made is said before the work, not after it. */
    status = status < 0 && folder != NULL ? cli_make_folder(tool, folder) : status;
    status = status < 0 && !cli_choose(tool, loaded, only, wanted) ? CLI_BAD_INPUT : status;
    status = status < 0 ? cli_solve_all(tool, problem, solve_options, wanted, runs) : status;
    /* Files first, as in solve. */
    status = status < 0 && folder != NULL ? write_folder(tool, loaded, runs, folder) : status;
    if (status < 0 && tool->json) {
        cli_runs_json(loaded, runs, stdout);
    } else if (status < 0) {
        print_runs(loaded, runs);
    }
    int outcome = CLI_OK;
    for (int i = 1; i <= CLI_SCENARIOS; i++) {
        if (runs[i].solution != NULL && cli_solution_exit(runs[i].solution) != CLI_OK) {
            outcome = CLI_NO_PLAN;
        }
    }
    cli_free_runs(runs);
    ckpd_solve_options_free(solve_options);
    ckpd_problem_free(problem);
    ckpd_case_free(loaded);
    return status < 0 ? outcome : status;
}
