/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* One HTML page about a case: it carries its picture and needs neither network nor scripts. */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char STYLE[] =
    "body{font:15px/1.5 system-ui,sans-serif;color:#222;max-width:70rem;margin:2rem auto;padding:0 "
    "1rem}"
    "h1{font-size:1.6rem;margin-bottom:.2rem}h2{font-size:1.15rem;margin:2.2rem 0 "
    ".6rem;border-bottom:1px solid #ddd}"
    "table{border-collapse:collapse;font-size:.87rem;margin:.6rem 0}"
    "th,td{padding:.2rem .7rem .2rem 0;border-bottom:1px solid "
    "#eee;text-align:left;vertical-align:top}"
    "th{color:#555;font-weight:600;border-bottom-color:#bbb}.n{text-align:right;font-variant-"
    "numeric:tabular-nums}"
    ".cards{display:flex;flex-wrap:wrap;gap:1rem;margin:1.2rem 0}.card{border:1px solid "
    "#ddd;border-radius:.4rem;"
    "padding:.6rem 1rem;min-width:9rem}.card b{display:block;font-size:1.35rem}.card "
    "span{color:#666;font-size:.85rem}"
    "svg{max-width:100%;height:auto}.note{color:#555;font-size:.9rem}.wide{overflow-x:auto}"
    "@media print{body{max-width:none;margin:0}h2{break-after:avoid}table{break-inside:avoid}}";

static void heading(FILE *out, const char *text)
{
    fputs("<h2>", out);
    cli_put_html(out, text);
    fputs("</h2>\n", out);
}

static void card(FILE *out, double value, int digits, const char *unit, const char *what)
{
    if (isfinite(value)) {
        fprintf(out, "<div class=\"card\"><b>%.*f%s</b><span>%s</span></div>\n", digits, value,
                unit, what);
    }
}

static void put_cards(const cli_run *runs, const ckpd_solution *best, FILE *out)
{
    double base = runs[1].solution != NULL ? ckpd_solution_cost(runs[1].solution) : (double)NAN;
    double cost = ckpd_solution_cost(best);
    char what[64];
    snprintf(what, sizeof what, "cost of S%d", (int)ckpd_solution_scenario(best));
    fputs("<div class=\"cards\">\n", out);
    card(out, cost, 2, "", what);
    card(out, base, 2, "", "cost without planning (S1)");
    card(out, 100 * cli_saving(cost, base), 2, " %", "saved");
    card(out, 100 * ckpd_solution_relative_gap(best), 4, " %", "proven distance from the best");
    card(out, cli_figure(best, "import_mwh"), 2, " MWh", "bought");
    card(out, cli_figure(best, "curtailment_mwh"), 3, " MWh", "curtailed");
    card(out, 100 * cli_figure(best, "green_share"), 1, " %", "green share");
    fputs("</div>\n", out);
}

/* The picture as gnuplot draws it, without the lines before <svg>. */
static void put_picture(cli *tool, const ckpd_case *loaded, const ckpd_solution *best, FILE *out)
{
    const char *base = getenv("TMPDIR");
    char *folder = cli_join(base != NULL && base[0] != '\0' ? base : "/tmp", "ckptdispatch-XXXXXX");
    if (folder == NULL || mkdtemp(folder) == NULL) {
        free(folder);
        fputs("<p class=\"note\">No folder for the picture could be made.</p>\n", out);
        return;
    }
    char *svg = cli_join(folder, "plan.svg");
    FILE *in = cli_plot(tool, loaded, best, folder) < 0 && svg != NULL ? fopen(svg, "r") : NULL;
    char line[4096];
    bool inside = false;
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        char *start = inside ? line : strstr(line, "<svg");
        inside = inside || start != NULL;
        fputs(inside ? start : "", out);
    }
    if (!inside) {
        fputs("<p class=\"note\">The picture needs gnuplot.</p>\n", out);
    }
    if (in != NULL) {
        fclose(in);
    }
    static const char *const FILES[] = {"plan.svg", "plan.png", "plan.gp"};
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        char *path = cli_join(folder, FILES[i]);
        if (path != NULL) {
            unlink(path);
        }
        free(path);
    }
    rmdir(folder);
    free(svg);
    free(folder);
}

static void put_value(cli_table *table, double value)
{
    if (isinf(value)) {
        cli_table_cell(table, "unlimited");
    } else {
        cli_table_number(table, value, 2);
    }
}

static cli_table *series_table(const ckpd_case *loaded)
{
    int32_t slots = ckpd_case_slots(loaded);
    double *values = calloc((size_t)slots, sizeof *values);
    cli_table *table = cli_table_new("series|>least|>mean|>most|unit|meaning");
    for (int32_t i = 0; values != NULL && i < ckpd_site_series_count(); i++) {
        ckpd_field_info info = {.size = sizeof info};
        if (ckpd_site_series_info(i, &info) != CKPD_OK ||
            ckpd_site_get_series(ckpd_case_site(loaded), info.name, values, slots) != CKPD_OK) {
            continue;
        }
        double least = values[0], most = values[0], sum = 0;
        for (int32_t t = 0; t < slots; t++) {
            least = fmin(least, values[t]);
            most = fmax(most, values[t]);
            sum += values[t];
        }
        bool price = info.unit[0] == 'm';
        if (price && isinf(least)) {
            continue; /* of a cap that may not be passed */
        }
        cli_table_cell(table, "%s", info.name);
        put_value(table, least);
        put_value(table, sum / slots);
        put_value(table, most);
        cli_table_cell(table, "%s", info.unit);
        cli_table_cell(table, "%s", info.doc);
    }
    free(values);
    return table;
}

static cli_table *battery_table(const ckpd_battery *battery)
{
    cli_table *table = cli_table_new("battery|>value|unit|meaning");
    for (int32_t i = 0; i < ckpd_battery_field_count(); i++) {
        ckpd_field_info info = {.size = sizeof info};
        double value;
        if (ckpd_battery_field_info(i, &info) == CKPD_OK && info.kind == CKPD_FIELD_NUMBER &&
            ckpd_battery_get(battery, info.name, &value) == CKPD_OK && !isnan(value)) {
            cli_table_cell(table, "%s", info.name);
            cli_table_number(table, value, 3);
            cli_table_cell(table, "%s", info.unit);
            cli_table_cell(table, "%s", info.doc);
        }
    }
    return table;
}

static cli_table *jobs_table(const ckpd_case *loaded)
{
    cli_table *table = cli_table_new(
        "job|>segments|>layouts|>feasible|>kept|>baseline GPUs|>baseline h|>efficiency");
    for (int32_t job = 0; job < ckpd_case_job_count(loaded); job++) {
        const ckpd_mode_set *modes = ckpd_case_mode_set(loaded, job);
        ckpd_workload work = {.size = sizeof work};
        ckpd_mode baseline = {.size = sizeof baseline};
        if (ckpd_mode_set_workload(modes, &work) != CKPD_OK) {
            continue;
        }
        bool known = ckpd_mode_set_get(modes, ckpd_mode_set_baseline(modes), &baseline) == CKPD_OK;
        cli_table_cell(table, "%s", ckpd_task_name(ckpd_case_task(loaded, job)));
        cli_table_number(table, work.segments, 0);
        cli_table_cell(table, "%lld", (long long)ckpd_mode_set_layout_count(modes));
        cli_table_cell(table, "%d", (int)ckpd_mode_set_feasible_count(modes));
        cli_table_cell(table, "%d", (int)ckpd_mode_set_count(modes));
        cli_table_number(table, known ? baseline.gpus : (double)NAN, 0);
        cli_table_number(table, work.baseline_hours, 2);
        cli_table_number(table, work.efficiency, 4);
    }
    return table;
}

static void put_causes(const cli_run *runs, FILE *out)
{
    for (int scenario = 1; scenario <= CLI_SCENARIOS; scenario++) {
        const ckpd_solution *solution = runs[scenario].solution;
        for (int32_t i = 0; solution != NULL && i < ckpd_solution_cause_count(solution); i++) {
            fprintf(out, "<p>S%d: ", scenario);
            cli_put_html(out, ckpd_solution_cause(solution, i));
            fputs("</p>\n", out);
        }
    }
}

static void put_inputs(const cli *tool, const ckpd_case *loaded, FILE *out)
{
    heading(out, "Inputs");
    fprintf(out, "<p>%d slots of %g h", (int)ckpd_case_slots(loaded), ckpd_case_slot_hours(loaded));
    if (ckpd_case_start(loaded)[0] != '\0') {
        fputs(" from ", out);
        cli_put_html(out, ckpd_case_start(loaded));
    }
    if (ckpd_case_hardware(loaded) != NULL) {
        fputs("; ", out);
        cli_put_html(out, ckpd_hardware_name(ckpd_case_hardware(loaded)));
    }
    fprintf(out, "; case digest %s.</p>\n", ckpd_case_digest(loaded));
    cli_table_print_html(jobs_table(loaded), out);
    cli_table_print_html(series_table(loaded), out);
    if (ckpd_case_battery(loaded) != NULL) {
        cli_table_print_html(battery_table(ckpd_case_battery(loaded)), out);
    }
    heading(out, "Warnings");
    if (tool->warning_count == 0) {
        fputs("<p>None.</p>\n", out);
    }
    int kept = (int)(sizeof tool->warnings / sizeof tool->warnings[0]);
    for (int i = 0; i < tool->warning_count && i < kept; i++) {
        fputs("<p>", out);
        cli_put_html(out, tool->warnings[i]);
        fputs("</p>\n", out);
    }
    if (tool->warning_count > kept) {
        fprintf(out, "<p>And %d more.</p>\n", tool->warning_count - kept);
    }
}

/* Limits with a price that the plan passes. */
static void put_overruns(const ckpd_report *report, FILE *out)
{
    int32_t count = ckpd_report_overrun_count(report);
    if (count == 0) {
        return;
    }
    heading(out, "Limits passed at a price");
    cli_table *table = cli_table_new("limit|>cost");
    for (int32_t i = 0; i < count; i++) {
        ckpd_overrun overrun = {.size = sizeof overrun};
        if (ckpd_report_get_overrun(report, i, &overrun) == CKPD_OK) {
            cli_table_cell(table, "%s", overrun.message);
            cli_table_number(table, overrun.cost, 4);
        }
    }
    cli_table_print_html(table, out);
}

static void put_page(cli *tool, const ckpd_case *loaded, const cli_run *runs, FILE *out)
{
    const ckpd_solution *best = cli_best_run(runs);
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", out);
    cli_put_html(out, ckpd_case_name(loaded));
    fprintf(out, "</title>\n<style>%s</style></head>\n<body>\n<h1>", STYLE);
    cli_put_html(out, ckpd_case_name(loaded));
    fputs("</h1>\n<p class=\"note\">", out);
    cli_put_html(out, ckpd_case_description(loaded));
    fputs("</p>\n", out);
    if (best != NULL) {
        put_cards(runs, best, out);
        put_picture(tool, loaded, best, out);
    }
    heading(out, "Scenarios");
    fputs("<div class=\"wide\">\n", out);
    cli_table_print_html(cli_runs_table(loaded, runs), out);
    fputs("</div>\n<p class=\"note\">S1 trains without a pause in the baseline layout; S2 is S1 "
          "with its checkpoints recorded; "
          "S3 ignores checkpoint continuity (a bound, not a plan); S4 waits and changes layouts at "
          "checkpoints; S5 is S1 "
          "and S6 is S4 with the battery. Saved: against S1.</p>\n",
          out);
    put_causes(runs, out);
    if (ckpd_case_published_count(loaded) > 0) {
        heading(out, "Beside published figures");
        fputs("<p class=\"note\">", out);
        cli_put_html(out, ckpd_case_published_source(loaded));
        fputs("</p>\n", out);
        cli_table_print_html(cli_published_table(loaded, runs), out);
    }
    if (best != NULL) {
        char title[64];
        snprintf(title, sizeof title, "Schedule of S%d", (int)ckpd_solution_scenario(best));
        heading(out, title);
        cli_table_print_html(cli_schedule_table(loaded, best), out);
        heading(out, "Cost and energy");
        cli_table_print_html(cli_figures_table(best), out);
        put_overruns(ckpd_solution_report(best), out);
    }
    put_inputs(tool, loaded, out);
    fprintf(out, "<p class=\"note\">ckptdispatch %s</p>\n</body></html>\n", ckpd_version_string());
}

static int write_page(cli *tool, const ckpd_case *loaded, const cli_run *runs, const char *path)
{
    FILE *out = fopen(path, "w");
    if (out == NULL) {
        return cli_usage(tool, "cannot write %s: %s", path, strerror(errno));
    }
    put_page(tool, loaded, runs, out);
    bool complete = ferror(out) == 0;
    complete = fclose(out) == 0 && complete;
    return complete ? -1 : cli_usage(tool, "cannot write %s", path);
}

int cli_report(cli *tool, int count, char **words)
{
    const char *path = NULL, *to = "report.html", *only = NULL;
    bool wanted[CLI_SCENARIOS + 1] = {false};
    cli_solving solving = {0};
    const cli_option options[] = {{"-o", "FILE", "default: report.html", &to},
                                  {"--only", "S1,S4", "only these scenarios", &only},
                                  CLI_SOLVING_OPTIONS(solving),
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
    status = status < 0 ? cli_open_options(tool, loaded, &solving, &solve_options) : status;
    status = status < 0 && !cli_choose(tool, loaded, only, wanted) ? CLI_BAD_INPUT : status;
    status = status < 0 ? cli_solve_all(tool, problem, solve_options, wanted, runs) : status;
    status = status < 0 ? write_page(tool, loaded, runs, to) : status;
    if (status < 0) {
        if (tool->json) {
            cli_runs_json(loaded, runs, stdout);
        } else {
            printf("%s\n", to);
        }
        status = cli_best_run(runs) != NULL ? CLI_OK : CLI_NO_PLAN;
    }
    cli_free_runs(runs);
    ckpd_solve_options_free(solve_options);
    ckpd_problem_free(problem);
    ckpd_case_free(loaded);
    return status;
}
