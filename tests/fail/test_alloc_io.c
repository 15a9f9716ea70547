/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Case and plan files. The memory of the JSON library is its own and is not made to fail here. */
#include "support/sink.h"
#include "support/sweep.h"

#include <ckptdispatch/io.h>
#include <stdio.h>
#include <string.h>

static const char case_text[] =
    "{\"schema\": \"ckptdispatch-case\", \"schema_version\": 1, \"name\": \"small\","
    " \"horizon\": {\"slots\": 4, \"slot_minutes\": 15, \"start\": \"2026-03-29T00:00+01:00\"},"
    " \"site\": {\"import_price_per_mwh\": [20, -60, 20, 60], \"wind_kw\": [0, 5, 5, 0.1], "
    "\"gpu_cap\": 64,"
    "  \"cost_curves\": [{\"argument\": \"net_load\", \"slot\": 2, \"points\": [[0, 0], [10, 1], "
    "[20, 3]]}],"
    "  \"batteries\": [{\"energy_kwh\": 20, \"charge_kw\": 10, \"discharge_kw\": 10, "
    "\"eta_charge\": 0.9,"
    "   \"eta_discharge\": 0.9, \"soc_start_kwh\": 10, \"terminal\": \"at_least\"}]},"
    " \"mode_rules\": {\"installed_gpus\": 64, \"keep_dominated\": true},"
    " \"jobs\": [{\"name\": \"A\", \"transitions\": \"none\", \"task\": {\"segments\": 2, "
    "\"baseline_gpus\": 8,"
    "   \"tranche_baseline_hours\": 0.5, \"release\": 0, \"deadline\": 4}, \"modes\": ["
    "   {\"gpus\": 8, \"rate_per_s\": 1, \"power_kw\": 4, \"label\": \"small\"},"
    "   {\"gpus\": 16, \"rate_per_s\": 1.9, \"power_kw\": 8, \"label\": \"large\"}]}]}";

/* A call that writes from the start again when it is made again. */
#define SWEEP_WRITE(text, call)                                                         \
    do {                                                                                \
        int32_t write_status;                                                           \
        (text)->used = 0;                                                               \
        write_status = (call);                                                          \
        if (sweep_repeat(memory, write_status, #call)) {                                \
            (text)->used = 0;                                                           \
            write_status = (call);                                                      \
            sweep_resume(memory, write_status, #call);                                  \
        }                                                                               \
        ck_assert_msg(write_status == CKPD_OK, "%s: %s", #call, sweep_message(memory)); \
    } while (0)

static void read_and_write(sweep_memory *memory, ckpd_context *context)
{
    static sink once;
    static sink twice;
    ckpd_case *loaded = NULL;
    ckpd_case *again = NULL;
    SWEEP(ckpd_case_parse(&loaded, context, case_text, strlen(case_text), NULL));
    SWEEP_WRITE(&once, ckpd_case_write(loaded, sink_take, &once));
    SWEEP(ckpd_case_parse(&again, context, once.text, once.used, NULL));
    SWEEP_WRITE(&twice, ckpd_case_write(again, sink_take, &twice));
    ck_assert_str_eq(once.text, twice.text);
    ck_assert_str_eq(ckpd_case_digest(loaded), ckpd_case_digest(again));
    ckpd_case_free(again);
    ckpd_case_free(loaded);
}

static void solve_and_write(sweep_memory *memory, ckpd_context *context)
{
    static sink json;
    static sink csv;
    ckpd_case *loaded = NULL;
    ckpd_problem *problem = NULL;
    ckpd_solve_options *options = NULL;
    ckpd_solution *solution = NULL;
    ckpd_plan *plan = NULL;
    ckpd_report *report = NULL;
    ckpd_plan_info info = {.size = sizeof info};
    SWEEP(ckpd_case_parse(&loaded, context, case_text, strlen(case_text), NULL));
    SWEEP(ckpd_case_build_problem(&problem, loaded));
    SWEEP(ckpd_case_build_options(&options, loaded));
    SWEEP(ckpd_problem_solve(&solution, problem, CKPD_SCENARIO_S4, options));
    SWEEP_WRITE(&json,
                ckpd_case_write_solution(loaded, solution, CKPD_PLAN_JSON, sink_take, &json));
    SWEEP_WRITE(&csv, ckpd_case_write_solution(loaded, solution, CKPD_PLAN_CSV, sink_take, &csv));
    SWEEP(ckpd_case_parse_plan(&plan, &info, loaded, json.text, json.used));
    ck_assert_int_eq(info.scenario, CKPD_SCENARIO_S4);
    SWEEP(ckpd_problem_verify(&report, problem, info.scenario, plan, info.cost));
    ck_assert_int_eq(ckpd_report_violation_count(report), 0);
    ckpd_record *record = NULL;
    SWEEP(ckpd_record_parse(&record, context, json.text, json.used));
    ck_assert_int_eq(ckpd_record_job_count(record), 1);
    ckpd_record_free(record);
    ckpd_report_free(report);
    ckpd_plan_free(plan);
    ckpd_solution_free(solution);
    ckpd_solve_options_free(options);
    ckpd_problem_free(problem);
    ckpd_case_free(loaded);
}

/* Prices from a CSV file beside the case; the reference survives writing. */
static void series_file(sweep_memory *memory, ckpd_context *context)
{
    static sink text;
    static const char case_of_file[] =
        "{\"schema\": \"ckptdispatch-case\", \"schema_version\": 1, \"name\": \"f\","
        " \"horizon\": {\"slots\": 2, \"slot_minutes\": 30, \"start\": \"2024-04-09T01:00+02:00\"},"
        " \"site\": {\"gpu_cap\": 8, \"import_price_per_mwh\": {\"file\": \"sweep.csv\", "
        "\"column\": \"price\", \"fill_column\": \"ahead\", \"filters\": [[\"node\", \"A\"]]}},"
        " \"mode_rules\": {\"installed_gpus\": 8}, \"jobs\": []}";
    static const char case_without_start[] =
        "{\"schema\": \"ckptdispatch-case\", \"schema_version\": 1, \"name\": \"f\","
        " \"horizon\": {\"slots\": 2, \"slot_minutes\": 60},"
        " \"site\": {\"gpu_cap\": 8, \"import_price_per_mwh\": {\"file\": \"sweep.csv\", "
        "\"column\": \"ahead\", \"filters\": [[\"node\", \"A\"]]}},"
        " \"mode_rules\": {\"installed_gpus\": 8}, \"jobs\": []}";
    char stamp[48];
    FILE *out = fopen("sweep.csv", "w");
    ck_assert_ptr_nonnull(out);
    fputs("time,node,price [EUR/MWh],ahead [ct/kWh]\n2024-04-09T00:00+02:00,A,10,1\n"
          "2024-04-09T01:00+02:00,A,,2\n2024-04-09T01:00+02:00,B,7,7\n",
          out);
    fclose(out);
    ckpd_case *loaded = NULL;
    double prices[2];
    SWEEP(ckpd_case_parse(&loaded, context, case_of_file, strlen(case_of_file), NULL));
    ck_assert_int_eq(
        ckpd_site_get_series(ckpd_case_site(loaded), "import_price_per_mwh", prices, 2), CKPD_OK);
    ck_assert(prices[0] == 20 && prices[1] == 20);
    SWEEP_WRITE(&text, ckpd_case_write(loaded, sink_take, &text));
    ck_assert_ptr_nonnull(strstr(text.text, "sweep.csv"));
    ckpd_case_free(loaded);
    loaded = NULL;
    SWEEP(ckpd_case_parse(&loaded, context, case_without_start, strlen(case_without_start), NULL));
    ck_assert_int_eq(ckpd_case_stamp(loaded, 1, stamp, sizeof stamp), CKPD_OK);
    ck_assert_str_eq(stamp, "2024-04-09T01:00+02:00"); /* the file says when it is */
    ckpd_case_free(loaded);
    remove("sweep.csv");
}

/* Measured runs that anchor the modes of a job, and what others published of the case. */
static void runs_and_figures(sweep_memory *memory, ckpd_context *context)
{
    static sink once, twice;
    static const char case_of_runs[] =
        "{\"schema\": \"ckptdispatch-case\", \"schema_version\": 1, \"name\": \"bloom\","
        " \"horizon\": {\"slots\": 4, \"slot_minutes\": 60},"
        " \"site\": {\"import_price_per_mwh\": 20, \"gpu_cap\": 384},"
        " \"hardware\": [{\"preset\": \"a100-80gb\"}],"
        " \"mode_rules\": {\"installed_gpus\": 384, \"minimum_gpus\": 96, \"pp\": [12, 24],"
        "  \"recompute\": [\"full\"], \"uneven_stages\": true},"
        " \"jobs\": [{\"name\": \"A\", \"task\": {\"model\": \"bloom-176b\", \"tranche_tokens\": "
        "1e8,"
        "   \"baseline_tp\": 4, \"baseline_pp\": 12, \"baseline_dp\": 8, \"baseline_micro_batch\": "
        "2},"
        "  \"runs\": [{\"tp\": 4, \"pp\": 12, \"dp\": 8, \"micro_batch\": 2, \"recompute\": "
        "\"full\","
        "    \"iteration_s\": 105.22}]}],"
        " \"published\": {\"source\": \"somewhere\", \"figures\": ["
        "   {\"job\": \"A\", \"figure\": \"iteration_s\", \"value\": 105.22}]}}";
    ckpd_case *loaded = NULL;
    ckpd_case *again = NULL;
    ckpd_published figure = {.size = sizeof figure};
    SWEEP(ckpd_case_parse(&loaded, context, case_of_runs, strlen(case_of_runs), NULL));
    ck_assert_int_eq(ckpd_anchor_count(ckpd_case_anchor(loaded, 0)), 1);
    SWEEP(ckpd_case_published_get(loaded, 0, &figure));
    ck_assert_double_eq(figure.value, 105.22);
    SWEEP_WRITE(&once, ckpd_case_write(loaded, sink_take, &once));
    SWEEP(ckpd_case_parse(&again, context, once.text, once.used, NULL));
    SWEEP_WRITE(&twice, ckpd_case_write(again, sink_take, &twice));
    ck_assert_str_eq(once.text, twice.text);
    ckpd_case_free(again);
    ckpd_case_free(loaded);
}

static void refused(sweep_memory *memory, ckpd_context *context)
{
    static const char *const texts[] = {
        "{", "[]", "{\"schema\": \"ckptdispatch-case\", \"schema_version\": 1, \"nam\": 1}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ckpd_case *loaded = NULL;
        int32_t status;
        SWEEP_STATUS(status, ckpd_case_parse(&loaded, context, texts[i], strlen(texts[i]), NULL));
        ck_assert_int_lt(status, 0);
        ck_assert_ptr_null(loaded);
    }
}

static void files(sweep_memory *memory, ckpd_context *context)
{
    ckpd_case *loaded = NULL;
    ckpd_case *again = NULL;
    SWEEP(ckpd_case_parse(&loaded, context, case_text, strlen(case_text), NULL));
    SWEEP(ckpd_case_save(loaded, "sweep.json"));
    SWEEP(ckpd_case_load(&again, context, "sweep.json"));
    ck_assert_str_eq(ckpd_case_digest(loaded), ckpd_case_digest(again));
    ckpd_case_free(again);
    ckpd_case_free(loaded);
    remove("sweep.json");
}

static void schema(sweep_memory *memory, ckpd_context *context)
{
    static sink text;
    SWEEP_WRITE(&text, ckpd_case_write_schema(context, sink_take, &text));
    ck_assert_uint_gt(text.used, 1000);
}

int main(void)
{
    static const sweep_scenario scenarios[] = {
        {"read, write, read, write", read_and_write},
        {"solve and write", solve_and_write},
        {"series file", series_file},
        {"runs and figures", runs_and_figures},
        {"refused", refused},
        {"files", files},
        {"schema", schema},
    };
    return sweep_main("io", scenarios, (int32_t)(sizeof scenarios / sizeof scenarios[0]));
}
