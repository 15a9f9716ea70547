/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Why a case has no plan, and which limits would have to move. */
#include "cli.h"

static void print_text(const ckpd_diagnosis *diagnosis)
{
    switch (ckpd_diagnosis_outcome(diagnosis)) {
    case CKPD_OUTCOME_OPTIMAL:
        puts("The case has a plan as it is.");
        break;
    case CKPD_OUTCOME_FEASIBLE:
        printf("There is no plan. There would be one with these changes, none of which can be left "
               "out%s:\n",
               ckpd_diagnosis_is_minimal(diagnosis) != 0 ? "" : " (time ran out: less may do)");
        break;
    case CKPD_OUTCOME_INFEASIBLE:
        puts("There is no plan, and no change of caps, deadlines or end SOC would give one.");
        break;
    default:
        puts("Stopped before an answer was found.");
        break;
    }
    for (int32_t i = 0; i < ckpd_diagnosis_relaxation_count(diagnosis); i++) {
        ckpd_relaxation one = {.size = sizeof one};
        if (ckpd_diagnosis_get_relaxation(diagnosis, i, &one) == CKPD_OK) {
            fputs("  ", stdout);
            cli_put(stdout, one.message);
            putchar('\n');
        }
    }
    for (int32_t i = 0; i < ckpd_diagnosis_cause_count(diagnosis); i++) {
        fputs("  cause: ", stdout);
        cli_put(stdout, ckpd_diagnosis_cause(diagnosis, i));
        putchar('\n');
    }
}

static const char *limit_name(int32_t limit)
{
    static const char *const NAMES[] = {"",           "gpu_cap",  "site_cap",
                                        "import_cap", "deadline", "end_soc"};
    return limit >= CKPD_LIMIT_GPU_CAP && limit <= CKPD_LIMIT_END_SOC ? NAMES[limit] : "other";
}

static void print_json(const ckpd_diagnosis *diagnosis)
{
    cli_json json = {.out = stdout};
    int32_t outcome = ckpd_diagnosis_outcome(diagnosis);
    cli_json_open(&json, NULL, '{');
    cli_json_flag(&json, "has_plan", outcome == CKPD_OUTCOME_OPTIMAL);
    cli_json_flag(&json, "has_plan_when_relaxed", outcome == CKPD_OUTCOME_FEASIBLE);
    cli_json_flag(&json, "minimal", ckpd_diagnosis_is_minimal(diagnosis) != 0);
    cli_json_open(&json, "relaxations", '[');
    for (int32_t i = 0; i < ckpd_diagnosis_relaxation_count(diagnosis); i++) {
        ckpd_relaxation one = {.size = sizeof one};
        if (ckpd_diagnosis_get_relaxation(diagnosis, i, &one) == CKPD_OK) {
            cli_json_open(&json, NULL, '{');
            cli_json_text(&json, "limit", limit_name(one.limit));
            cli_json_number(&json, "job", one.job);
            cli_json_number(&json, "first_slot", one.first_slot);
            cli_json_number(&json, "last_slot", one.last_slot);
            cli_json_number(&json, "amount", one.amount);
            cli_json_text(&json, "message", one.message);
            cli_json_close(&json, '}');
        }
    }
    cli_json_close(&json, ']');
    cli_json_open(&json, "causes", '[');
    for (int32_t i = 0; i < ckpd_diagnosis_cause_count(diagnosis); i++) {
        cli_json_text(&json, NULL, ckpd_diagnosis_cause(diagnosis, i));
    }
    cli_json_close(&json, ']');
    cli_json_close(&json, '}');
}

int cli_diagnose(cli *tool, int count, char **words)
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
    ckpd_diagnosis *diagnosis = NULL;
    status = cli_open_case(tool, path, &loaded, &problem);
    int scenario = status < 0 ? cli_choose_scenario(tool, loaded, scenario_text) : 0;
    status = status < 0 && scenario == 0 ? CLI_BAD_INPUT : status;
    status = status < 0 ? cli_open_options(tool, loaded, &solving, &solve_options) : status;
    if (status < 0) {
        int32_t done = ckpd_problem_diagnose(&diagnosis, problem, scenario, solve_options);
        status = done == CKPD_OK ? -1 : cli_failed(tool, done);
    }
    if (status < 0) {
        if (tool->json) {
            print_json(diagnosis);
        } else {
            print_text(diagnosis);
        }
        status = ckpd_diagnosis_outcome(diagnosis) == CKPD_OUTCOME_OPTIMAL ? CLI_OK : CLI_NO_PLAN;
    }
    ckpd_diagnosis_free(diagnosis);
    ckpd_solve_options_free(solve_options);
    ckpd_problem_free(problem);
    ckpd_case_free(loaded);
    return status;
}
