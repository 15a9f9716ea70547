/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* export and import-solution: the model for other solvers and their answers. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int write_model(cli *tool, const ckpd_problem *problem, int scenario, int32_t format,
                       const char *path)
{
    bool standard = path == NULL || strcmp(path, "-") == 0;
    FILE *out = standard ? stdout : fopen(path, "w");
    if (out == NULL) {
        return cli_usage(tool, "cannot write %s: %s", path, strerror(errno));
    }
    int32_t status = ckpd_problem_export(problem, scenario, format, cli_write, out);
    bool complete = standard || fclose(out) == 0;
    if (!complete || status == CKPD_ERR_CALLBACK) {
        return cli_usage(tool, "cannot write %s", standard ? "the output" : path);
    }
    return status == CKPD_OK ? CLI_OK : cli_failed(tool, status);
}

int cli_export(cli *tool, int count, char **words)
{
    const char *path = NULL, *format_text = "mps", *scenario_text = "S4", *to = NULL;
    const cli_option options[] = {{"--format", "mps|lp", "default: mps", &format_text},
                                  {"--scenario", "S1..S6", "default: S4", &scenario_text},
                                  {"-o", "FILE", "default: standard output", &to},
                                  {NULL, NULL, NULL, NULL}};
    int status = cli_parse(tool, count, words, options, "CASE", &path, 1, 1);
    if (status >= 0) {
        return status;
    }
    int32_t format = strcmp(format_text, "mps") == 0  ? CKPD_FORMAT_MPS
                     : strcmp(format_text, "lp") == 0 ? CKPD_FORMAT_LP
                                                      : 0;
    if (format == 0) {
        return cli_usage(tool, "--format: '%s' is neither mps nor lp", format_text);
    }
    int scenario = cli_scenario(tool, "--scenario", scenario_text);
    ckpd_case *loaded = NULL;
    ckpd_problem *problem = NULL;
    status = scenario > 0 ? cli_open_case(tool, path, &loaded, &problem) : CLI_BAD_INPUT;
    status = status < 0 ? write_model(tool, problem, scenario, format, to) : status;
    ckpd_problem_free(problem);
    ckpd_case_free(loaded);
    return status;
}

/* Whole file; NULL after a message. */
static char *read_file(const cli *tool, const char *path, size_t *length)
{
    FILE *in = fopen(path, "rb");
    size_t room = 65536;
    char *text = in != NULL ? malloc(room) : NULL;
    *length = 0;
    while (text != NULL) {
        *length += fread(text + *length, 1, room - *length, in);
        if (*length < room) {
            break;
        }
        char *larger = realloc(text, room *= 2);
        if (larger == NULL) {
            free(text);
        }
        text = larger;
    }
    if (text == NULL || ferror(in)) {
        cli_usage(tool, "cannot read %s: %s", path, strerror(errno));
        free(text);
        text = NULL;
    }
    if (in != NULL) {
        fclose(in);
    }
    return text;
}

int cli_import(cli *tool, int count, char **words)
{
    const char *paths[2] = {NULL, NULL}, *scenario_text = "S4", *folder = NULL;
    const cli_option options[] = {
        {"--scenario", "S1..S6", "that of the exported model; default: S4", &scenario_text},
        {"--out", "DIR", "write plan.json, plan.csv and the picture there", &folder},
        {NULL, NULL, NULL, NULL}};
    int status = cli_parse(tool, count, words, options, "CASE FILE", paths, 2, 2);
    if (status >= 0) {
        return status;
    }
    int scenario = cli_scenario(tool, "--scenario", scenario_text);
    ckpd_case *loaded = NULL;
    ckpd_problem *problem = NULL;
    ckpd_solution *solution = NULL;
    size_t length = 0;
    status = scenario > 0 ? cli_open_case(tool, paths[0], &loaded, &problem) : CLI_BAD_INPUT;
    char *text = status < 0 ? read_file(tool, paths[1], &length) : NULL;
    status = status < 0 && text == NULL ? CLI_BAD_INPUT : status;
    if (status < 0) {
        int32_t read = ckpd_problem_import(&solution, problem, scenario, text, length);
        /* A foreign answer that does not hold is bad input, not a fault of this program. */
        status = read == CKPD_OK ? -1 : cli_failed(tool, read);
        status = read == CKPD_ERR_VERIFY ? CLI_NO_PLAN : status;
    }
    if (status < 0 && tool->json) {
        int32_t written =
            ckpd_case_write_solution(loaded, solution, CKPD_PLAN_JSON, cli_write, stdout);
        status = written == CKPD_OK ? -1 : cli_failed(tool, written);
    } else if (status < 0) {
        cli_put(stdout, ckpd_case_name(loaded));
        printf("  S%d  verified, cost %.6f\n\n", scenario, ckpd_solution_cost(solution));
        cli_table_print(cli_schedule_table(loaded, solution), stdout);
    }
    status = status < 0 && folder != NULL ? cli_write_plan(tool, loaded, solution, folder) : status;
    free(text);
    ckpd_solution_free(solution);
    ckpd_problem_free(problem);
    ckpd_case_free(loaded);
    return status < 0 ? CLI_OK : status;
}
