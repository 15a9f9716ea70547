/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "io/file.h"
#include "io/plan.h"

#include <math.h>
#include <string.h>

const char *const ckpd__plan_series[CKPD__PLAN_SERIES] = {
    "import_kw",    "export_kw",   "curtailment_kw",       "charge_kw",
    "discharge_kw", "it_power_kw", "site_load_kw",         "gpus",
    "wind_kw",      "solar_kw",    "import_price_per_mwh", "export_price_per_mwh"};

const char ckpd__outcomes[] = "optimal|feasible|infeasible|unbounded|no_plan|cancelled";

/* --- JSON
 * -------------------------------------------------------------------------------------------- */

static void write_head(const ckpd_case *loaded, const ckpd_solution *solution, ckpd__writer *writer)
{
    char text[32];
    ckpd__write_text(writer, "schema", "ckptdispatch-plan");
    ckpd__write_integer(writer, "schema_version", CKPD_CASE_SCHEMA_VERSION);
    ckpd__write_text(writer, "case", loaded->name);
    ckpd__write_text(writer, "case_digest", loaded->digest);
    char scenario[3] = {'S', (char)('0' + ckpd_solution_scenario(solution)), '\0'};
    ckpd__write_text(writer, "scenario", scenario);
    ckpd__choice_text(ckpd__outcomes, ckpd_solution_outcome(solution) - 1, text, sizeof text);
    ckpd__write_text(writer, "outcome", text);
    ckpd__write_flag(writer, "proven", ckpd_solution_is_proven(solution) != 0);
    ckpd__write_text(writer, "backend", ckpd_solution_backend(solution));
    ckpd__write_number(writer, "cost", ckpd_solution_cost(solution));
    ckpd__write_number(writer, "bound", ckpd_solution_bound(solution));
    ckpd__write_number(writer, "absolute_gap", ckpd_solution_absolute_gap(solution));
    ckpd__write_number(writer, "relative_gap", ckpd_solution_relative_gap(solution));
    ckpd__write_integer(writer, "iterations", ckpd_solution_iterations(solution));
    ckpd__write_integer(writer, "nodes", ckpd_solution_nodes(solution));
    if (ckpd_solution_cause_count(solution) > 0) {
        ckpd__write_open(writer, "causes", '[');
        for (int32_t i = 0; i < ckpd_solution_cause_count(solution); i++) {
            ckpd__write_text(writer, NULL, ckpd_solution_cause(solution, i));
        }
        ckpd__write_close(writer, ']');
    }
}

static int32_t write_figures(const ckpd_solution *solution, ckpd__writer *writer)
{
    const ckpd_report *report = ckpd_solution_report(solution);
    int32_t status = CKPD_OK;
    ckpd__write_open(writer, "figures", '{');
    for (int32_t i = 0; i < ckpd_report_field_count() && status == CKPD_OK; i++) {
        ckpd_field_info info = {.size = sizeof info};
        double value = (double)NAN;
        status = ckpd_report_field_info(i, &info);
        status = status == CKPD_OK ? ckpd_report_get(report, info.name, &value) : status;
        if (status == CKPD_OK) {
            ckpd__write_number(writer, info.name, value);
        }
    }
    ckpd__write_close(writer, '}');
    return status;
}

/* Limits with a price that the plan passes. */
static int32_t write_overruns(const ckpd_case *loaded, const ckpd_solution *solution,
                              ckpd__writer *writer)
{
    static const char *const LIMITS[] = {[CKPD_LIMIT_GPU_CAP] = "gpu_cap",
                                         [CKPD_LIMIT_SITE_CAP] = "site_cap_kw",
                                         [CKPD_LIMIT_IMPORT_CAP] = "import_cap_kw",
                                         [CKPD_LIMIT_DEADLINE] = "deadline",
                                         [CKPD_LIMIT_END_SOC] = "soc_end_kwh"};
    const ckpd_report *report = ckpd_solution_report(solution);
    int32_t count = ckpd_report_overrun_count(report);
    if (count == 0) {
        return CKPD_OK;
    }
    ckpd__write_open(writer, "overruns", '[');
    for (int32_t i = 0; i < count; i++) {
        ckpd_overrun overrun = {.size = sizeof overrun};
        int32_t status = ckpd_report_get_overrun(report, i, &overrun);
        if (status != CKPD_OK) {
            return status;
        }
        ckpd__write_open_flat(writer, NULL, '{');
        ckpd__write_text(writer, "limit", LIMITS[overrun.limit]);
        if (overrun.job >= 0) {
            ckpd__write_text(writer, "job", ckpd_task_name(loaded->jobs[overrun.job].task));
        }
        if (overrun.slot >= 0) {
            ckpd__write_integer(writer, "slot", overrun.slot);
        }
        ckpd__write_number(writer, "amount", overrun.amount);
        ckpd__write_number(writer, "cost", overrun.cost);
        ckpd__write_text(writer, "message", overrun.message);
        ckpd__write_close(writer, '}');
    }
    ckpd__write_close(writer, ']');
    return CKPD_OK;
}

static int32_t write_step(const ckpd_case *loaded, const ckpd_plan *plan, int32_t job,
                          int32_t index, ckpd__writer *writer)
{
    ckpd_step step = {.size = sizeof step};
    int32_t status = ckpd_plan_get_step(plan, job, index, &step);
    if (status != CKPD_OK) {
        return status;
    }
    ckpd__write_open_flat(writer, NULL, '{');
    ckpd__write_integer(writer, "from_slot", step.from_slot);
    ckpd__write_integer(writer, "to_slot", step.to_slot);
    ckpd__write_integer(writer, "from_segment", step.from_segment);
    ckpd__write_integer(writer, "to_segment", step.to_segment);
    ckpd__write_integer(writer, "mode", step.mode);
    ckpd__write_integer(writer, "gpus", step.gpus);
    const char *label = ckpd_mode_set_label(loaded->jobs[job].modes, step.mode);
    ckpd__write_text(writer, "label", label != NULL ? label : "");
    ckpd__write_close(writer, '}');
    return CKPD_OK;
}

static int32_t write_steps(const ckpd_case *loaded, const ckpd_plan *plan, ckpd__writer *writer)
{
    int32_t status = CKPD_OK;
    ckpd__write_open(writer, "jobs", '[');
    for (int32_t j = 0; j < loaded->job_count; j++) {
        ckpd__write_open(writer, NULL, '{');
        ckpd__write_text(writer, "name", ckpd_task_name(loaded->jobs[j].task));
        ckpd__write_open(writer, "steps", '[');
        for (int32_t i = 0; i < ckpd_plan_step_count(plan, j) && status == CKPD_OK; i++) {
            status = write_step(loaded, plan, j, i, writer);
        }
        ckpd__write_close(writer, ']');
        ckpd__write_close(writer, '}');
    }
    ckpd__write_close(writer, ']');
    return status;
}

static int32_t write_plan_series(const ckpd_plan *plan, int32_t slots, double *values,
                                 ckpd__writer *writer)
{
    int32_t status = CKPD_OK;
    ckpd__write_open(writer, "series", '{');
    for (int32_t i = 0; i < CKPD__PLAN_SERIES && status == CKPD_OK; i++) {
        status = ckpd_plan_get_series(plan, ckpd__plan_series[i], values, slots);
        if (status == CKPD_OK) {
            ckpd__write_numbers(writer, ckpd__plan_series[i], values, slots);
        }
    }
    status = status == CKPD_OK ? ckpd_plan_get_series(plan, "soc_kwh", values, slots + 1) : status;
    if (status == CKPD_OK) {
        ckpd__write_numbers(writer, "soc_kwh", values, slots + 1);
    }
    ckpd__write_close(writer, '}');
    return status;
}

static int32_t write_json(const ckpd_case *loaded, const ckpd_solution *solution,
                          ckpd__writer *writer)
{
    const ckpd_plan *plan = ckpd_solution_plan(solution);
    int32_t status = CKPD_OK;
    ckpd__write_open(writer, NULL, '{');
    write_head(loaded, solution, writer);
    if (plan != NULL) {
        double *values = ckpd__calloc(loaded->context, (size_t)loaded->slots + 1, sizeof *values);
        status =
            values != NULL ? write_figures(solution, writer) : ckpd__no_memory(loaded->context);
        status = status == CKPD_OK ? write_overruns(loaded, solution, writer) : status;
        status = status == CKPD_OK ? write_steps(loaded, plan, writer) : status;
        status =
            status == CKPD_OK ? write_plan_series(plan, loaded->slots, values, writer) : status;
        ckpd__free(loaded->context, values);
    }
    ckpd__write_close(writer, '}');
    return status;
}

/* --- CSV
 * --------------------------------------------------------------------------------------------- */

static void write_name(ckpd__writer *writer, const char *name, const char *suffix)
{
    bool quote = strpbrk(name, ",\"\r\n;") != NULL;
    ckpd__write_raw(writer, quote ? ",\"" : ",");
    for (const char *c = name; *c != '\0'; c++) {
        char one[3] = {*c, *c == '"' ? '"' : '\0', '\0'};
        ckpd__write_raw(writer, one);
    }
    ckpd__write_raw(writer, suffix);
    ckpd__write_raw(writer, quote ? "\"" : "");
}

static void write_csv_header(const ckpd_case *loaded, ckpd__writer *writer)
{
    ckpd__write_raw(writer, "slot,start_hour,start");
    for (int32_t i = 0; i < CKPD__PLAN_SERIES; i++) {
        ckpd__write_raw(writer, ",");
        ckpd__write_raw(writer, ckpd__plan_series[i]);
    }
    ckpd__write_raw(writer, ",soc_start_kwh,soc_end_kwh");
    for (int32_t j = 0; j < loaded->job_count; j++) {
        const char *name = ckpd_task_name(loaded->jobs[j].task);
        write_name(writer, name, ".mode");
        write_name(writer, name, ".gpus");
        write_name(writer, name, ".segments_done");
        write_name(writer, name, ".progress");
    }
    ckpd__write_raw(writer, "\n");
}

/* The columns of one job in one slot; `next` is its first step that ends after the slot's start. */
static int32_t write_csv_job(const ckpd_plan *plan, int32_t job, int32_t slot, int32_t *next,
                             int32_t *segments, ckpd__writer *writer)
{
    ckpd_step step = {.size = sizeof step};
    int32_t count = ckpd_plan_step_count(plan, job), mode = -1, gpus = 0;
    if (*next < count) {
        int32_t status = ckpd_plan_get_step(plan, job, *next, &step);
        if (status != CKPD_OK) {
            return status;
        }
        if (step.from_slot <= slot) {
            mode = step.mode;
            gpus = step.gpus;
        }
        if (step.to_slot <= slot + 1) {
            *segments = step.to_segment;
            (*next)++;
        }
    }
    char text[96];
    ckpd__format(text, sizeof text, ",%d,%d,%d", mode, gpus, *segments);
    ckpd__write_raw(writer, text);
    return CKPD_OK;
}

typedef struct csv_rows {
    double *series;           /* [CKPD__PLAN_SERIES][slots] */
    double *soc;              /* [slots + 1] */
    double *progress;         /* [jobs][slots + 1] */
    int32_t *next, *segments; /* [jobs] */
} csv_rows;

static int32_t write_csv_rows(const ckpd_case *loaded, const ckpd_plan *plan, const csv_rows *rows,
                              ckpd__writer *writer)
{
    int32_t slots = loaded->slots;
    for (int32_t t = 0; t < slots; t++) {
        char text[24];
        ckpd__format(text, sizeof text, "%d,", t);
        ckpd__write_raw(writer, text);
        ckpd__write_raw_number(writer, t * loaded->slot_minutes / 60);
        char stamp[CKPD__TIME_TEXT];
        int32_t stamped = ckpd_case_stamp(loaded, t, stamp, sizeof stamp);
        if (stamped != CKPD_OK) {
            return stamped;
        }
        ckpd__write_raw(writer, ",");
        ckpd__write_raw(writer, stamp);
        for (int32_t i = 0; i < CKPD__PLAN_SERIES; i++) {
            ckpd__write_raw(writer, ",");
            ckpd__write_raw_number(writer, rows->series[(size_t)i * (size_t)slots + (size_t)t]);
        }
        for (int32_t end = 0; end < 2; end++) {
            ckpd__write_raw(writer, ",");
            ckpd__write_raw_number(writer, rows->soc[t + end]);
        }
        for (int32_t j = 0; j < loaded->job_count; j++) {
            int32_t status = write_csv_job(plan, j, t, &rows->next[j], &rows->segments[j], writer);
            if (status != CKPD_OK) {
                return status;
            }
            ckpd__write_raw(writer, ",");
            ckpd__write_raw_number(writer,
                                   rows->progress[(size_t)j * (size_t)(slots + 1) + (size_t)t + 1]);
        }
        ckpd__write_raw(writer, "\n");
    }
    return CKPD_OK;
}

static int32_t fill_rows(const ckpd_case *loaded, const ckpd_solution *solution, csv_rows *rows)
{
    const ckpd_plan *plan = ckpd_solution_plan(solution);
    size_t slots = (size_t)loaded->slots;
    int32_t status = ckpd_plan_get_series(plan, "soc_kwh", rows->soc, loaded->slots + 1);
    for (int32_t i = 0; i < CKPD__PLAN_SERIES && status == CKPD_OK; i++) {
        status = ckpd_plan_get_series(plan, ckpd__plan_series[i], rows->series + (size_t)i * slots,
                                      loaded->slots);
    }
    for (int32_t j = 0; j < loaded->job_count && status == CKPD_OK; j++) {
        double start = 0;
        status = ckpd_solution_progress(solution, j, rows->progress + (size_t)j * (slots + 1),
                                        loaded->slots + 1);
        status = status == CKPD_OK ? ckpd_task_get(loaded->jobs[j].task, "start_segments", &start)
                                   : status;
        rows->segments[j] = start > 0 ? (int32_t)start : 0;
    }
    return status;
}

static int32_t write_csv(const ckpd_case *loaded, const ckpd_solution *solution,
                         ckpd__writer *writer)
{
    ckpd_context *context = loaded->context;
    const ckpd_plan *plan = ckpd_solution_plan(solution);
    if (plan == NULL) {
        return ckpd__fail(context, CKPD_ERR_STATE, "solution", -1, (double)NAN,
                          "the solution holds no plan to be written as CSV");
    }
    size_t slots = (size_t)loaded->slots, jobs = (size_t)loaded->job_count;
    csv_rows rows = {.series = ckpd__calloc(context, CKPD__PLAN_SERIES * slots, sizeof(double)),
                     .soc = ckpd__calloc(context, slots + 1, sizeof(double)),
                     .progress = ckpd__calloc(context, jobs * (slots + 1), sizeof(double)),
                     .next = ckpd__calloc(context, jobs, sizeof(int32_t)),
                     .segments = ckpd__calloc(context, jobs, sizeof(int32_t))};
    bool complete = rows.series != NULL && rows.soc != NULL && rows.progress != NULL &&
                    rows.next != NULL && rows.segments != NULL;
    int32_t status = complete ? fill_rows(loaded, solution, &rows) : ckpd__no_memory(context);
    if (status == CKPD_OK) {
        write_csv_header(loaded, writer);
        status = write_csv_rows(loaded, plan, &rows, writer);
    }
    ckpd__free(context, rows.series);
    ckpd__free(context, rows.soc);
    ckpd__free(context, rows.progress);
    ckpd__free(context, rows.next);
    ckpd__free(context, rows.segments);
    return status;
}

/* --- public
 * -------------------------------------------------------------------------------------------- */

static int32_t check_match(const ckpd_case *loaded, const ckpd_solution *solution)
{
    const ckpd_plan *plan = ckpd_solution_plan(solution);
    if (plan != NULL && (ckpd_plan_job_count(plan) != loaded->job_count ||
                         ckpd_plan_slots(plan) != loaded->slots)) {
        return ckpd__fail(loaded->context, CKPD_ERR_INCONSISTENT, "solution", -1, (double)NAN,
                          "the solution has %d jobs and %d slots, the case %d and %d",
                          ckpd_plan_job_count(plan), ckpd_plan_slots(plan), loaded->job_count,
                          loaded->slots);
    }
    return CKPD_OK;
}

int32_t ckpd_case_write_solution(const ckpd_case *loaded, const ckpd_solution *solution,
                                 int32_t form, ckpd_write_fn write, void *user)
{
    CKPD__REFUSE_FOREIGN(NULL, loaded, CKPD__CASE);
    CKPD__REFUSE_FOREIGN(loaded, solution, CKPD__SOLUTION);
    if (loaded == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (solution == NULL || write == NULL) {
        return ckpd__null_argument(loaded->context, solution == NULL ? "solution" : "write");
    }
    int32_t status = check_match(loaded, solution);
    if (status != CKPD_OK) {
        return status;
    }
    ckpd__writer writer;
    ckpd__writer_begin(&writer, loaded->context, write, user);
    switch (form) {
    case CKPD_PLAN_JSON:
        status = write_json(loaded, solution, &writer);
        break;
    case CKPD_PLAN_CSV:
        status = write_csv(loaded, solution, &writer);
        break;
    default:
        return ckpd__fail(loaded->context, CKPD_ERR_RANGE, "form", -1, form,
                          "form %d is neither CKPD_PLAN_JSON nor CKPD_PLAN_CSV", form);
    }
    int32_t end = ckpd__writer_end(&writer);
    return status == CKPD_OK ? end : status;
}

int32_t ckpd_case_save_solution(const ckpd_case *loaded, const ckpd_solution *solution,
                                int32_t form, const char *path)
{
    CKPD__REFUSE_FOREIGN(NULL, loaded, CKPD__CASE);
    CKPD__REFUSE_FOREIGN(loaded, solution, CKPD__SOLUTION);
    if (loaded == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (path == NULL) {
        return ckpd__null_argument(loaded->context, "path");
    }
    ckpd__file *file;
    int32_t status = ckpd__file_create(&file, loaded->context, path);
    if (status != CKPD_OK) {
        return status;
    }
    return ckpd__file_close(
        file, ckpd_case_write_solution(loaded, solution, form, ckpd__file_write, file));
}
