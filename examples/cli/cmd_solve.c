/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "cli.h"

#include <math.h>

static void print_solution(const ckpd_case *loaded, const ckpd_solution *solution, double seconds)
{
    cli_put(stdout, ckpd_case_name(loaded));
    printf("  S%d  %s", (int)ckpd_solution_scenario(solution), cli_outcome(solution));
    if (ckpd_solution_plan(solution) != NULL) {
        printf("  cost %.6f", ckpd_solution_cost(solution));
    }
    if (isfinite(ckpd_solution_bound(solution))) {
        printf("  bound %.6f", ckpd_solution_bound(solution));
    }
    if (isfinite(ckpd_solution_relative_gap(solution))) {
        printf("  gap %.4g %%", 100 * ckpd_solution_relative_gap(solution));
    }
    /* Without a name no solver was needed: the checks before it found the answer. */
    const char *backend = ckpd_solution_backend(solution);
    printf("  (%s, %.2f s)\n", backend[0] != '\0' ? backend : "before any solver", seconds);
    cli_print_causes(solution, stdout);
    if (ckpd_solution_outcome(solution) == CKPD_OUTCOME_INFEASIBLE) {
        printf("`ckptdispatch diagnose --scenario S%d` looks for the limits that would have to "
               "move, and by how much.\n",
               (int)ckpd_solution_scenario(solution));
    }
    if (ckpd_solution_plan(solution) == NULL) {
        return;
    }
    if (ckpd_solution_scenario(solution) == CKPD_SCENARIO_S3) {
        puts("S3 is a lower bound without checkpoint continuity: its plan cannot be executed.");
    }
    putchar('\n');
    cli_table_print(cli_schedule_table(loaded, solution), stdout);
    putchar('\n');
    cli_table_print(cli_figures_table(solution), stdout);
    if (ckpd_report_overrun_count(ckpd_solution_report(solution)) > 0) {
        putchar('\n');
        cli_print_overruns(ckpd_solution_report(solution), stdout);
    }
}

/* Files first: a reader of the text may go away early (`| head`), which ends the program. */
static int report(cli *tool, const ckpd_case *loaded, const ckpd_solution *solution, double seconds,
                  const char *folder)
{
    int status = folder != NULL ? cli_write_plan(tool, loaded, solution, folder) : -1;
    if (status >= 0) {
        return status;
    }
    if (!tool->json) {
        print_solution(loaded, solution, seconds);
        return cli_solution_exit(solution);
    }
    int32_t written = ckpd_case_write_solution(loaded, solution, CKPD_PLAN_JSON, cli_write, stdout);
    return written == CKPD_OK ? cli_solution_exit(solution) : cli_failed(tool, written);
}

int cli_solve_command(cli *tool, int count, char **words)
{
    const char *path = NULL, *scenario_text = NULL, *folder = NULL, *start_path = NULL,
               *soft = NULL;
    cli_solving solving = {0};
    const cli_option options[] = {
        {"--scenario", "S1..S6", "default: S6 with a battery, else S4", &scenario_text},
        CLI_SOLVING_OPTIONS(solving),
        CLI_SOFT_OPTION(soft),
        {"--start", "PLAN", "plan file to start from", &start_path},
        {"--out", "DIR", "write plan.json, plan.csv and the picture there", &folder},
        {NULL, NULL, NULL, NULL}};
    int status = cli_parse(tool, count, words, options, "CASE", &path, 1, 1);
    if (status >= 0) {
        return status;
    }
    ckpd_case *loaded = NULL;
    ckpd_problem *problem = NULL;
    ckpd_solve_options *solve_options = NULL;
    ckpd_plan *start = NULL;
    ckpd_solution *solution = NULL;
    status = cli_open_case(tool, path, &loaded, &problem);
    status = status < 0 ? cli_soften(tool, problem, soft) : status;
    int scenario = status < 0 ? cli_choose_scenario(tool, loaded, scenario_text) : 0;
    status = status < 0 && scenario == 0 ? CLI_BAD_INPUT : status;
    status = status < 0 ? cli_open_options(tool, loaded, &solving, &solve_options) : status;
    /* A folder that cannot be made is said before the work, not after it. */
    status = status < 0 && folder != NULL ? cli_make_folder(tool, folder) : status;
    if (status < 0 && start_path != NULL) {
        int32_t read = ckpd_case_load_plan(&start, NULL, loaded, start_path);
        status = read == CKPD_OK ? -1 : cli_failed(tool, read);
    }
    if (status < 0) {
        double seconds;
        int32_t solved =
            cli_solve(tool, problem, scenario, solve_options, start, &solution, &seconds);
        status = solved == CKPD_OK ? report(tool, loaded, solution, seconds, folder)
                                   : cli_failed(tool, solved);
    }
    ckpd_solution_free(solution);
    ckpd_plan_free(start);
    ckpd_solve_options_free(solve_options);
    ckpd_problem_free(problem);
    ckpd_case_free(loaded);
    return status;
}
