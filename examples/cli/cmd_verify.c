/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "cli.h"

#include <math.h>

static void print_report(const ckpd_report *report, const ckpd_plan_info *info)
{
    int32_t violations = ckpd_report_violation_count(report);
    double cost = (double)NAN;
    ckpd_report_get(report, "cost", &cost);
    if (violations == 0) {
        printf("S%d plan is good: cost %.6f", (int)info->scenario, cost);
        if (isfinite(info->cost)) {
            printf(", as claimed");
        }
        puts("");
        cli_print_overruns(report, stdout);
        return;
    }
    printf("S%d plan violates the case in %d places\n", (int)info->scenario, (int)violations);
    for (int32_t i = 0; i < violations; i++) {
        ckpd_violation violation = {.size = sizeof violation};
        if (ckpd_report_get_violation(report, i, &violation) == CKPD_OK) {
            fputs("  ", stdout);
            cli_put(stdout, violation.message);
            putchar('\n');
        }
    }
}

static void report_json(const ckpd_report *report, const ckpd_plan_info *info)
{
    cli_json json = {.out = stdout};
    cli_json_open(&json, NULL, '{');
    cli_json_number(&json, "scenario", info->scenario);
    cli_json_flag(&json, "good", ckpd_report_violation_count(report) == 0);
    cli_json_number(&json, "claimed_cost", info->cost);
    cli_json_open(&json, "figures", '{');
    for (int32_t i = 0; i < ckpd_report_field_count(); i++) {
        ckpd_field_info field = {.size = sizeof field};
        double value;
        if (ckpd_report_field_info(i, &field) == CKPD_OK &&
            ckpd_report_get(report, field.name, &value) == CKPD_OK) {
            cli_json_number(&json, field.name, value);
        }
    }
    cli_json_close(&json, '}');
    cli_json_number(&json, "overruns", ckpd_report_overrun_count(report));
    cli_json_open(&json, "violations", '[');
    for (int32_t i = 0; i < ckpd_report_violation_count(report); i++) {
        ckpd_violation violation = {.size = sizeof violation};
        if (ckpd_report_get_violation(report, i, &violation) == CKPD_OK) {
            cli_json_open(&json, NULL, '{');
            cli_json_number(&json, "kind", violation.kind);
            cli_json_number(&json, "job", violation.job);
            cli_json_number(&json, "slot", violation.slot);
            cli_json_number(&json, "amount", violation.amount);
            cli_json_text(&json, "message", violation.message);
            cli_json_close(&json, '}');
        }
    }
    cli_json_close(&json, ']');
    cli_json_close(&json, '}');
}

int cli_verify(cli *tool, int count, char **words)
{
    const char *paths[2] = {NULL, NULL}, *soft = NULL;
    const cli_option options[] = {CLI_SOFT_OPTION(soft), {NULL, NULL, NULL, NULL}};
    int status = cli_parse(tool, count, words, options, "CASE PLAN", paths, 2, 2);
    if (status >= 0) {
        return status;
    }
    ckpd_case *loaded = NULL;
    ckpd_problem *problem = NULL;
    ckpd_plan *plan = NULL;
    ckpd_report *report = NULL;
    ckpd_plan_info info = {.size = sizeof info};
    status = cli_open_case(tool, paths[0], &loaded, &problem);
    status = status < 0 ? cli_soften(tool, problem, soft) : status;
    if (status < 0) {
        int32_t checked = ckpd_case_load_plan(&plan, &info, loaded, paths[1]);
        if (checked == CKPD_OK) {
            checked = ckpd_problem_verify(&report, problem, info.scenario, plan, info.cost);
        }
        status = checked == CKPD_OK ? -1 : cli_failed(tool, checked);
    }
    if (status < 0) {
        if (tool->json) {
            report_json(report, &info);
        } else {
            print_report(report, &info);
        }
        status = ckpd_report_violation_count(report) == 0 ? CLI_OK : CLI_NO_PLAN;
    }
    ckpd_report_free(report);
    ckpd_plan_free(plan);
    ckpd_problem_free(problem);
    ckpd_case_free(loaded);
    return status;
}
