/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Plan files through the public interface: what is written is read back, checked, and fits its own
 * case only. */
#include "support/support.h"

#include <ckptdispatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct sink {
    char *text;
    size_t used, most;
} sink;

static int32_t take(const char *text, size_t length, void *user)
{
    sink *to = user;
    if (to->used + length > to->most) {
        return 1;
    }
    to->text = realloc(to->text, to->used + length + 1);
    ck_assert_ptr_nonnull(to->text);
    memcpy(to->text + to->used, text, length);
    to->used += length;
    to->text[to->used] = '\0';
    return 0;
}

static ckpd_context *context;
static ckpd_case *golden;
static ckpd_problem *problem;

static void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(
        ckpd_case_load(&golden, context, test_src_path("examples/cases/aidc2048-golden.json")),
        CKPD_OK);
    ck_assert_int_eq(ckpd_case_build_problem(&problem, golden), CKPD_OK);
}

static void teardown(void)
{
    ckpd_problem_free(problem);
    ckpd_case_free(golden);
    ckpd_context_free(context);
}

static ckpd_solution *solve(int32_t scenario)
{
    ckpd_solution *solution = NULL;
    ck_assert_int_eq(ckpd_problem_solve(&solution, problem, scenario, NULL), CKPD_OK);
    ck_assert_ptr_nonnull(ckpd_solution_plan(solution));
    return solution;
}

static char *written(const ckpd_solution *solution, int32_t form)
{
    sink to = {NULL, 0, SIZE_MAX / 2};
    ck_assert_int_eq(ckpd_case_write_solution(golden, solution, form, take, &to), CKPD_OK);
    return to.text;
}

START_TEST(read_back_and_verified)
{
    ckpd_solution *solution = solve(CKPD_SCENARIO_S6);
    char *text = written(solution, CKPD_PLAN_JSON);
    ckpd_plan *plan = NULL;
    ckpd_plan_info info = {.size = sizeof info};
    ck_assert_int_eq(ckpd_case_parse_plan(&plan, &info, golden, text, strlen(text)), CKPD_OK);
    ck_assert_int_eq(info.scenario, CKPD_SCENARIO_S6);
    ck_assert_int_eq(info.outcome, CKPD_OUTCOME_OPTIMAL);
    ck_assert(info.cost == ckpd_solution_cost(solution));
    ck_assert(info.bound == ckpd_solution_bound(solution));
    /* every number survives to the last digit */
    double one[25], other[25];
    static const char *const FLOWS[] = {"import_kw", "curtailment_kw", "charge_kw", "discharge_kw"};
    for (size_t i = 0; i < sizeof FLOWS / sizeof FLOWS[0]; i++) {
        ck_assert_int_eq(ckpd_plan_get_series(plan, FLOWS[i], one, 24), CKPD_OK);
        ck_assert_int_eq(ckpd_plan_get_series(ckpd_solution_plan(solution), FLOWS[i], other, 24),
                         CKPD_OK);
        ck_assert_mem_eq(one, other, sizeof(double) * 24);
    }
    ckpd_report *report = NULL;
    ck_assert_int_eq(ckpd_problem_verify(&report, problem, info.scenario, plan, info.cost),
                     CKPD_OK);
    ck_assert_int_eq(ckpd_report_violation_count(report), 0);
    ckpd_solution *again = NULL;
    ck_assert_int_eq(ckpd_problem_resolve(&again, problem, CKPD_SCENARIO_S6, NULL, plan), CKPD_OK);
    ck_assert_double_eq_tol(ckpd_solution_cost(again), info.cost, 1e-6 * info.cost);
    ckpd_solution_free(again);
    ckpd_report_free(report);
    ckpd_plan_free(plan);
    ckpd_solution_free(solution);
    free(text);
}
END_TEST

START_TEST(record_without_the_case)
{
    ckpd_solution *solution = solve(CKPD_SCENARIO_S4);
    char *text = written(solution, CKPD_PLAN_JSON);
    ckpd_record *record = NULL;
    ck_assert_int_eq(ckpd_record_parse(&record, context, text, strlen(text)), CKPD_OK);
    ck_assert_str_eq(ckpd_record_text(record, "case"), "aidc2048-golden");
    ck_assert_str_eq(ckpd_record_text(record, "case_digest"), ckpd_case_digest(golden));
    ck_assert_str_eq(ckpd_record_text(record, "scenario"), "S4");
    ck_assert_str_eq(ckpd_record_text(record, "nothing"), "");
    ck_assert(ckpd_record_number(record, "cost") == ckpd_solution_cost(solution));
    double load;
    ck_assert_int_eq(ckpd_report_get(ckpd_solution_report(solution), "load_mwh", &load), CKPD_OK);
    ck_assert(ckpd_record_number(record, "load_mwh") == load);
    ck_assert(isnan(ckpd_record_number(record, "case")));
    ck_assert_int_eq(ckpd_record_job_count(record), 2);
    ck_assert_str_eq(ckpd_record_job_name(record, 1), "LLM-B");
    ck_assert_ptr_null(ckpd_record_job_name(record, 2));
    const ckpd_plan *plan = ckpd_solution_plan(solution);
    for (int32_t job = 0; job < 2; job++) {
        ck_assert_int_eq(ckpd_record_step_count(record, job), ckpd_plan_step_count(plan, job));
        for (int32_t i = 0; i < ckpd_plan_step_count(plan, job); i++) {
            ckpd_step mine = {.size = sizeof mine}, theirs = {.size = sizeof theirs};
            ck_assert_int_eq(ckpd_plan_get_step(plan, job, i, &mine), CKPD_OK);
            ck_assert_int_eq(ckpd_record_get_step(record, job, i, &theirs), CKPD_OK);
            ck_assert_mem_eq(&mine, &theirs, sizeof mine);
        }
    }
    ckpd_step step = {.size = sizeof step};
    ck_assert_int_eq(ckpd_record_get_step(record, 0, 999, &step), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_record_get_step(record, -1, 0, &step), CKPD_ERR_RANGE);
    ckpd_record_free(record);
    ckpd_record_free(NULL);
    ckpd_solution_free(solution);
    free(text);
}
END_TEST

START_TEST(another_case_is_refused)
{
    ckpd_case *steep = NULL;
    ckpd_plan *plan = NULL;
    ckpd_solution *solution = solve(CKPD_SCENARIO_S1);
    char *text = written(solution, CKPD_PLAN_JSON);
    ck_assert_int_eq(
        ckpd_case_load(&steep, context, test_src_path("examples/cases/aidc2048-steep.json")),
        CKPD_OK);
    ck_assert_int_eq(ckpd_case_parse_plan(&plan, NULL, steep, text, strlen(text)),
                     CKPD_ERR_INCONSISTENT);
    ck_assert_ptr_nonnull(strstr(ckpd_context_last_message(context), ckpd_case_digest(steep)));
    ck_assert_ptr_nonnull(strstr(ckpd_context_last_message(context), ckpd_case_digest(golden)));
    ck_assert_ptr_null(plan);
    ckpd_case *other = NULL;
    ck_assert_int_eq(ckpd_case_load(&other, context, test_src_path("examples/cases/j4-a.json")),
                     CKPD_OK);
    sink to = {NULL, 0, SIZE_MAX / 2};
    ck_assert_int_eq(ckpd_case_write_solution(other, solution, CKPD_PLAN_JSON, take, &to),
                     CKPD_ERR_INCONSISTENT);
    ckpd_case_free(other);
    ckpd_case_free(steep);
    ckpd_solution_free(solution);
    free(text);
}
END_TEST

START_TEST(without_a_plan)
{
    ckpd_solution *solution = NULL;
    ck_assert_int_eq(ckpd_problem_set_gpu_cap(problem, 768), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_solve(&solution, problem, CKPD_SCENARIO_S4, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_solution_outcome(solution), CKPD_OUTCOME_INFEASIBLE);
    char *text = written(solution, CKPD_PLAN_JSON);
    ck_assert_ptr_nonnull(strstr(text, "\"outcome\": \"infeasible\""));
    ck_assert_ptr_nonnull(strstr(text, "\"causes\": ["));
    ckpd_plan *plan = NULL;
    ck_assert_int_eq(ckpd_case_parse_plan(&plan, NULL, golden, text, strlen(text)), CKPD_ERR_STATE);
    sink to = {NULL, 0, SIZE_MAX / 2};
    ck_assert_int_eq(ckpd_case_write_solution(golden, solution, CKPD_PLAN_CSV, take, &to),
                     CKPD_ERR_STATE);
    ck_assert_uint_eq(to.used, 0);
    ckpd_solution_free(solution);
    free(text);
}
END_TEST

START_TEST(refusals)
{
    ckpd_solution *solution = solve(CKPD_SCENARIO_S1);
    sink to = {NULL, 0, 10};
    ck_assert_int_eq(ckpd_case_write_solution(golden, solution, 7, take, &to), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_case_write_solution(golden, NULL, CKPD_PLAN_JSON, take, &to),
                     CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_case_write_solution(golden, solution, CKPD_PLAN_JSON, NULL, &to),
                     CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_case_write_solution(golden, solution, CKPD_PLAN_JSON, take, &to),
                     CKPD_ERR_CALLBACK);
    ck_assert_int_eq(ckpd_case_write_solution(golden, solution, CKPD_PLAN_CSV, take, &to),
                     CKPD_ERR_CALLBACK);
    ck_assert_int_eq(
        ckpd_case_save_solution(golden, solution, CKPD_PLAN_CSV, "/does/not/exist.csv"),
        CKPD_ERR_FILE);
    ck_assert_int_eq(ckpd_case_save(golden, "/does/not/exist.json"), CKPD_ERR_FILE);
    ck_assert_int_eq(ckpd_case_save_solution(golden, solution, CKPD_PLAN_JSON, "plan.json"),
                     CKPD_OK);
    ckpd_plan *plan = NULL;
    ck_assert_int_eq(ckpd_case_load_plan(&plan, NULL, golden, "plan.json"), CKPD_OK);
    ckpd_plan_free(plan);
    ckpd_solution_free(solution);
}
END_TEST

/* Every program of a case lives on when the case is gone. */
START_TEST(freed_in_any_order)
{
    ckpd_case *loaded = NULL;
    ckpd_problem *built = NULL;
    ckpd_solve_options *options = NULL;
    ckpd_graph *graph = NULL;
    ckpd_solution *solution = NULL;
    ck_assert_int_eq(
        ckpd_case_load(&loaded, context, test_src_path("examples/cases/aidc2048-golden.json")),
        CKPD_OK);
    ck_assert_int_eq(ckpd_case_build_problem(&built, loaded), CKPD_OK);
    ck_assert_int_eq(ckpd_case_build_options(&options, loaded), CKPD_OK);
    ck_assert_int_eq(ckpd_case_build_graph(&graph, loaded, 1), CKPD_OK);
    ck_assert_int_eq(ckpd_case_build_graph(&graph, loaded, 2), CKPD_ERR_RANGE);
    ckpd_case_free(loaded);
    ck_assert_str_eq(ckpd_graph_name(graph), "LLM-B");
    ck_assert_int_eq(ckpd_problem_solve(&solution, built, CKPD_SCENARIO_S1, options), CKPD_OK);
    ck_assert_double_eq_tol(ckpd_solution_cost(solution), 380.527,
                            1e-6 * 380.527); /* HiGHS and CBC */
    ckpd_solve_options_free(options);
    ckpd_graph_free(graph);
    ckpd_problem_free(built);
    ckpd_solution_free(solution);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan files");
    TCase *tc = tcase_create("plan files");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, read_back_and_verified);
    tcase_add_test(tc, record_without_the_case);
    tcase_add_test(tc, another_case_is_refused);
    tcase_add_test(tc, without_a_plan);
    tcase_add_test(tc, refusals);
    tcase_add_test(tc, freed_in_any_order);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
