/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A plan file of our own, broken in one place at a time: the place is named, nothing is returned.
 */
#include "support/sink.h"
#include "support/support.h"

#include <ckptdispatch/io.h>
#include <stdio.h>
#include <string.h>

static const char CASE[] =
    "{\"schema\": \"ckptdispatch-case\", \"schema_version\": 1, \"name\": \"small\","
    " \"horizon\": {\"slots\": 4, \"slot_minutes\": 60},"
    " \"site\": {\"import_price_per_mwh\": [20, 60, 20, 60], \"gpu_cap\": 8},"
    " \"mode_rules\": {\"installed_gpus\": 8},"
    " \"jobs\": [{\"name\": \"A\", \"task\": {\"segments\": 2, \"baseline_gpus\": 8,"
    "   \"tranche_baseline_hours\": 2}, \"modes\": ["
    "   {\"gpus\": 8, \"rate_per_s\": 1, \"power_kw\": 4}]}]}";

static ckpd_context *context;
static ckpd_case *loaded;
static sink plan;

static void setup(void)
{
    ckpd_problem *problem = NULL;
    ckpd_solution *solution = NULL;
    plan.used = 0;
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_msg(ckpd_case_parse(&loaded, context, CASE, strlen(CASE), NULL) == CKPD_OK, "%s",
                  ckpd_context_last_message(context));
    ck_assert_int_eq(ckpd_case_build_problem(&problem, loaded), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_solve(&solution, problem, CKPD_SCENARIO_S4, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_case_write_solution(loaded, solution, CKPD_PLAN_JSON, sink_take, &plan),
                     CKPD_OK);
    ckpd_solution_free(solution);
    ckpd_problem_free(problem);
}

static void teardown(void)
{
    ckpd_case_free(loaded);
    ckpd_context_free(context);
}

/* The text with what stands between `from` and `until` (which stays) replaced. */
static int32_t parse_with(const char *from, const char *until, const char *instead)
{
    static char text[32768];
    ckpd_plan *read = NULL;
    ckpd_plan_info info = {.size = sizeof info};
    const char *at = strstr(plan.text, from);
    ck_assert_msg(at != NULL, "no %s in the plan", from);
    const char *end = strstr(at, until);
    ck_assert_msg(end != NULL, "no %s after %s", until, from);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - plan.text), plan.text, instead, end);
    int32_t status = ckpd_case_parse_plan(&read, &info, loaded, text, strlen(text));
    ck_assert((status == CKPD_OK) == (read != NULL));
    ckpd_plan_free(read);
    return status;
}

static void refused(int32_t status, int32_t code, const char *field)
{
    ckpd_error error = {.size = sizeof error};
    ck_assert_msg(status == code, "%s: %s", ckpd_status_name(status),
                  ckpd_context_last_message(context));
    ck_assert_int_eq(ckpd_context_last_error(context, &error), CKPD_OK);
    ck_assert_str_eq(error.field, field);
}

START_TEST(as_it_was_written)
{
    ck_assert_int_eq(parse_with("\"import_kw\"", "[", "\"import_kw\": "), CKPD_OK);
}
END_TEST

START_TEST(series)
{
    refused(parse_with("\"import_kw\"", "\"export_kw\"", ""), CKPD_ERR_MISSING, "series.import_kw");
    refused(parse_with("\"import_kw\"", "\"export_kw\"", "\"import_kw\": 5, "), CKPD_ERR_SCHEMA,
            "series.import_kw");
    refused(parse_with("\"import_kw\"", "\"export_kw\"", "\"import_kw\": [0, \"x\", 0, 0], "),
            CKPD_ERR_SCHEMA, "series.import_kw[1]");
    refused(parse_with("\"import_kw\"", "\"export_kw\"", "\"import_kw\": [0, 0, 0], "),
            CKPD_ERR_LENGTH, "series.import_kw");
    refused(parse_with("\"import_kw\"", "\"export_kw\"", "\"import_kw\": [], "), CKPD_ERR_LENGTH,
            "series.import_kw");
}
END_TEST

START_TEST(jobs)
{
    refused(parse_with("\"name\": \"A\"", ",", "\"name\": \"B\""), CKPD_ERR_INCONSISTENT,
            "jobs[0].name");
    refused(parse_with("\"jobs\"", "\"series\"", "\"jobs\": [], "), CKPD_ERR_LENGTH, "jobs");
    ck_assert_ptr_nonnull(strstr(ckpd_context_last_message(context), "0 jobs, the case has 1"));
    refused(parse_with("\"to_slot\"", ",", "\"to_slot\": 99"), CKPD_ERR_RANGE, "jobs[0].steps[0]");
}
END_TEST

START_TEST(files)
{
    ckpd_plan *read = NULL;
    ckpd_plan_info info = {.size = sizeof info};
    ck_assert_int_eq(ckpd_case_load_plan(&read, &info, loaded, "absent.json"), CKPD_ERR_FILE);
    FILE *out = fopen("plan.json", "w");
    ck_assert_ptr_nonnull(out);
    fputs(plan.text, out);
    fclose(out);
    ck_assert_msg(ckpd_case_load_plan(&read, &info, loaded, "plan.json") == CKPD_OK, "%s",
                  ckpd_context_last_message(context));
    ck_assert_int_eq(info.scenario, CKPD_SCENARIO_S4);
    ck_assert_double_eq(info.cost, 4e-3 * (20 + 20)); /* 4 kW in the two cheap hours */
    ckpd_plan_free(read);
    ckpd_record *record = NULL;
    ck_assert_int_eq(ckpd_record_load(&record, context, "absent.json"), CKPD_ERR_FILE);
    ck_assert_int_eq(ckpd_record_load(&record, context, "plan.json"), CKPD_OK);
    ckpd_step step = {.size = sizeof step};
    ck_assert_int_eq(ckpd_record_step_count(record, 0), 2);
    ck_assert_int_eq(ckpd_record_get_step(record, 0, 1, &step), CKPD_OK);
    ck_assert_int_eq(step.from_slot, 2);
    ck_assert_int_eq(ckpd_record_get_step(record, 0, 2, &step), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_record_get_step(record, 1, 0, &step), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_record_step_count(record, -1), 0);
    ck_assert_ptr_null(ckpd_record_job_name(record, 1));
    ckpd_record_free(record);
    remove("plan.json");
}
END_TEST

/* Names with what separates and quotes in CSV: quoted and doubled as RFC 4180 says. */
START_TEST(names_in_csv)
{
    static const char text[] =
        "{\"schema\": \"ckptdispatch-case\", \"schema_version\": 1, \"name\": \"small\","
        " \"horizon\": {\"slots\": 1, \"slot_minutes\": 60},"
        " \"site\": {\"import_price_per_mwh\": 20, \"gpu_cap\": 8},"
        " \"mode_rules\": {\"installed_gpus\": 8},"
        " \"jobs\": [{\"name\": \"A, \\\"the first\\\"\", \"task\": {\"segments\": 1,"
        "   \"baseline_gpus\": 8, \"tranche_baseline_hours\": 1}, \"modes\": ["
        "   {\"gpus\": 8, \"rate_per_s\": 1, \"power_kw\": 4}]}]}";
    ckpd_case *named = NULL;
    ckpd_problem *problem = NULL;
    ckpd_solution *solution = NULL;
    ck_assert_msg(ckpd_case_parse(&named, context, text, strlen(text), NULL) == CKPD_OK, "%s",
                  ckpd_context_last_message(context));
    ck_assert_int_eq(ckpd_case_build_problem(&problem, named), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_solve(&solution, problem, CKPD_SCENARIO_S4, NULL), CKPD_OK);
    plan.used = 0;
    ck_assert_int_eq(ckpd_case_write_solution(named, solution, CKPD_PLAN_CSV, sink_take, &plan),
                     CKPD_OK);
    ck_assert_msg(
        strstr(plan.text, ",\"A, \"\"the first\"\".mode\",\"A, \"\"the first\"\".gpus\",") != NULL,
        "%s", plan.text);
    ckpd_solution_free(solution);
    ckpd_problem_free(problem);
    ckpd_case_free(named);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan files that are refused");
    TCase *tests = tcase_create("plans");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, as_it_was_written);
    tcase_add_test(tests, series);
    tcase_add_test(tests, jobs);
    tcase_add_test(tests, files);
    tcase_add_test(tests, names_in_csv);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
