/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Two plan files side by side. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct job_sum {
    int steps, modes;
    int32_t first, last; /* slots */
    double gpu_slots;
} job_sum;

static job_sum sum_job(const ckpd_record *record, int32_t job)
{
    job_sum sum = {.first = -1};
    int count = (int)ckpd_record_step_count(record, job);
    for (int i = 0; i < count; i++) {
        ckpd_step step = {.size = sizeof step}, earlier = {.size = sizeof earlier};
        if (ckpd_record_get_step(record, job, i, &step) != CKPD_OK) {
            break;
        }
        bool known = false;
        for (int k = 0; k < i && !known; k++) {
            known = ckpd_record_get_step(record, job, k, &earlier) == CKPD_OK &&
                    earlier.mode == step.mode;
        }
        sum.steps++;
        sum.modes += !known;
        sum.first = sum.first < 0 ? step.from_slot : sum.first;
        sum.last = step.to_slot;
        sum.gpu_slots += (double)step.gpus * (step.to_slot - step.from_slot);
    }
    return sum;
}

static int32_t find_job(const ckpd_record *record, const char *name)
{
    for (int32_t i = 0; i < ckpd_record_job_count(record); i++) {
        if (strcmp(ckpd_record_job_name(record, i), name) == 0) {
            return i;
        }
    }
    return -1;
}

static void print_heads(const ckpd_record *const records[2])
{
    cli_table *table = cli_table_new("|case|digest|scenario|outcome|solver");
    static const char *const TEXTS[] = {"case", "case_digest", "scenario", "outcome", "backend"};
    for (int i = 0; i < 2; i++) {
        cli_table_cell(table, "%c", 'A' + i);
        for (size_t k = 0; k < sizeof TEXTS / sizeof TEXTS[0]; k++) {
            cli_table_cell(table, "%s", ckpd_record_text(records[i], TEXTS[k]));
        }
    }
    cli_table_print(table, stdout);
}

/* Figures that both or one of the files have, in the order of the report. */
static void each_figure(void (*use)(void *, const char *, const char *, double, double), void *to,
                        const ckpd_record *const records[2])
{
    static const char *const HEAD[] = {"bound", "relative_gap"};
    for (int32_t i = -2; i < ckpd_report_field_count(); i++) {
        ckpd_field_info info = {.size = sizeof info};
        if (i >= 0 && ckpd_report_field_info(i, &info) != CKPD_OK) {
            continue;
        }
        const char *name = i < 0 ? HEAD[i + 2] : info.name;
        double a = ckpd_record_number(records[0], name), b = ckpd_record_number(records[1], name);
        if (!isnan(a) || !isnan(b)) {
            use(to, name, i < 0 ? "" : info.unit, a, b);
        }
    }
}

static void add_row(void *table, const char *name, const char *unit, double a, double b)
{
    cli_table_cell(table, "%s", name);
    cli_table_number(table, a, 4);
    cli_table_number(table, b, 4);
    cli_table_number(table, b - a, 4);
    cli_table_number(table, a != 0 ? 100 * (b - a) / fabs(a) : (double)NAN, 2);
    cli_table_cell(table, "%s", unit);
}

static void add_json(void *json, const char *name, const char *unit, double a, double b)
{
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "figure", name);
    cli_json_text(json, "unit", unit);
    cli_json_number(json, "a", a);
    cli_json_number(json, "b", b);
    cli_json_number(json, "difference", b - a);
    cli_json_close(json, '}');
}

static void add_job_cells(cli_table *table, const ckpd_record *record, const char *name)
{
    int32_t job = find_job(record, name);
    if (job < 0) {
        for (int i = 0; i < 4; i++) {
            cli_table_cell(table, "-");
        }
        return;
    }
    job_sum sum = sum_job(record, job);
    cli_table_cell(table, "%d-%d", (int)sum.first, (int)sum.last);
    cli_table_cell(table, "%d", sum.steps);
    cli_table_cell(table, "%d", sum.modes);
    cli_table_number(table, sum.gpu_slots, 0);
}

static void print_jobs(const ckpd_record *const records[2])
{
    cli_table *table =
        cli_table_new("job|>A slots|>steps|>modes|>GPU-slots|>B slots|>steps|>modes|>GPU-slots");
    for (int i = 0; i < 2; i++) {
        for (int32_t job = 0; job < ckpd_record_job_count(records[i]); job++) {
            const char *name = ckpd_record_job_name(records[i], job);
            if (i == 1 && find_job(records[0], name) >= 0) {
                continue;
            }
            cli_table_cell(table, "%s", name);
            add_job_cells(table, records[0], name);
            add_job_cells(table, records[1], name);
        }
    }
    cli_table_print(table, stdout);
}

static void print_text(const ckpd_record *const records[2])
{
    print_heads(records);
    if (strcmp(ckpd_record_text(records[0], "case_digest"),
               ckpd_record_text(records[1], "case_digest")) != 0) {
        puts("The plans are for different cases.");
    }
    cli_table *table = cli_table_new("figure|>A|>B|>B - A|>%|unit");
    each_figure(add_row, table, records);
    putchar('\n');
    cli_table_print(table, stdout);
    putchar('\n');
    print_jobs(records);
}

static void print_json(const ckpd_record *const records[2])
{
    cli_json json = {.out = stdout};
    bool same = strcmp(ckpd_record_text(records[0], "case_digest"),
                       ckpd_record_text(records[1], "case_digest")) == 0;
    cli_json_open(&json, NULL, '{');
    cli_json_flag(&json, "same_case", same);
    cli_json_open(&json, "figures", '[');
    each_figure(add_json, &json, records);
    cli_json_close(&json, ']');
    cli_json_close(&json, '}');
}

int cli_compare(cli *tool, int count, char **words)
{
    const char *paths[2] = {NULL, NULL};
    const cli_option options[] = {{NULL, NULL, NULL, NULL}};
    int status = cli_parse(tool, count, words, options, "A B", paths, 2, 2);
    if (status >= 0) {
        return status;
    }
    ckpd_record *records[2] = {NULL, NULL};
    for (int i = 0; i < 2 && status < 0; i++) {
        int32_t read = ckpd_record_load(&records[i], tool->context, paths[i]);
        status = read == CKPD_OK ? -1 : cli_failed(tool, read);
    }
    if (status < 0) {
        const ckpd_record *const both[2] = {records[0], records[1]};
        if (tool->json) {
            print_json(both);
        } else {
            print_text(both);
        }
        status = CLI_OK;
    }
    ckpd_record_free(records[0]);
    ckpd_record_free(records[1]);
    return status;
}
