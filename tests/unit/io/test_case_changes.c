/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Costs of checkpoints and mode changes in case files. The costs of the plans were worked by hand.
 */
#include "support/sink.h"
#include "support/support.h"

#include <ckptdispatch.h>
#include <ckptdispatch/io.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static ckpd_context *context;

static void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
}

static void teardown(void)
{
    ckpd_context_free(context);
}

/* Three segments of an hour at 1 MW or of half an hour at 2 MW; two hours are dear. */
static int32_t load(ckpd_case **out, const char *members)
{
    char text[2048];
    snprintf(text, sizeof text,
             "{\"schema\": \"ckptdispatch-case\", \"schema_version\": 1, \"name\": \"n\","
             " \"horizon\": {\"slots\": 6, \"slot_minutes\": 60},"
             " \"site\": {\"import_price_per_mwh\": [10, 100, 10, 10, 100, 10], \"gpu_cap\": 32},"
             " \"mode_rules\": {\"installed_gpus\": 32, \"keep_dominated\": true},"
             " \"jobs\": [{\"name\": \"A\", \"task\": {\"segments\": 3, \"baseline_gpus\": 16,"
             " \"tranche_baseline_hours\": 3}, \"modes\": ["
             "{\"gpus\": 16, \"rate_per_s\": 1, \"power_kw\": 1000, \"label\": \"m16\"},"
             "{\"gpus\": 32, \"rate_per_s\": 2, \"power_kw\": 2000, \"label\": \"m32\"}]%s}]}",
             members);
    return ckpd_case_parse(out, context, text, strlen(text), NULL);
}

static void check_cost(const char *members, double cost, double edge_cost)
{
    ckpd_case *loaded = NULL;
    ckpd_problem *problem = NULL;
    ckpd_solution *solution = NULL;
    double found = (double)NAN;
    int32_t status = load(&loaded, members);
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
    ck_assert_int_eq(ckpd_case_build_problem(&problem, loaded), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_solve(&solution, problem, CKPD_SCENARIO_S4, NULL), CKPD_OK);
    ck_assert_double_eq_tol(ckpd_solution_cost(solution), cost, 1e-6);
    ck_assert_int_eq(ckpd_report_get(ckpd_solution_report(solution), "edge_cost", &found), CKPD_OK);
    ck_assert_double_eq_tol(found, edge_cost, 1e-9);
    ckpd_solution_free(solution);
    ckpd_problem_free(problem);
    ckpd_case_free(loaded);
}

START_TEST(later_entries_replace_earlier_ones)
{
    check_cost("", 30, 0);
    /* Slots 2 and 3 in one edge (1 for the first start), slot 5 in the same mode again (2). */
    check_cost(", \"change_costs\": [{\"money\": 5}, {\"from\": \"\", \"money\": 1},"
               " {\"from\": \"m16\", \"to\": \"m16\", \"money\": 2}]",
               33, 3);
    /* Every start costs 50: m32 runs once, in the cheap pair of hours, 2 x 2 x 10. */
    check_cost(", \"change_costs\": [{\"money\": 50}]", 40 + 50, 50);
    check_cost(", \"change_costs\": [{\"to\": \"m32\", \"money\": 100}, {\"to\": \"m16\", "
               "\"money\": 50}]",
               30 + 2 * 50, 100);
}
END_TEST

/* An hour before each start: one edge at 1 MW takes four hours, with one of the dear ones: 130. One
   at 2 MW takes three, also with a dear one: 240. 2 MW for two segments in hours 2 and 3 (40) leave
   two hours for the third, one of them dear: 110. */
START_TEST(hours_are_drawn)
{
    check_cost(", \"change_costs\": [{\"hours\": 1}]", 130, 0);
}
END_TEST

START_TEST(a_profile_in_the_file)
{
    check_cost(", \"checkpoint\": {\"restart_s\": 0, \"state_gb\": 1, \"change_money\": 4}", 30, 0);
}
END_TEST

/* From a case to text and back to a case: the same bytes, and the costs are in the digest. */
START_TEST(written_again_the_same)
{
    static const char *const members[] = {
        ", \"change_costs\": [{\"from\": \"\", \"to\": \"m32\", \"hours\": 0.5}, {\"money\": -2}]",
        ", \"checkpoint\": {\"save_kind\": \"differential\", \"restart_s\": 100}",
        ", \"checkpoint\": {}"};
    char plain[32];
    ckpd_case *loaded = NULL;
    ck_assert_int_eq(load(&loaded, ""), CKPD_OK);
    snprintf(plain, sizeof plain, "%s", ckpd_case_digest(loaded));
    ckpd_case_free(loaded);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        sink once = {0}, twice = {0};
        ckpd_case *again = NULL;
        int32_t status = load(&loaded, members[i]);
        ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
        ck_assert_str_ne(ckpd_case_digest(loaded), plain);
        ck_assert_int_eq(ckpd_case_write(loaded, sink_take, &once), CKPD_OK);
        ck_assert_int_eq(ckpd_case_parse(&again, context, once.text, once.used, NULL), CKPD_OK);
        ck_assert_int_eq(ckpd_case_write(again, sink_take, &twice), CKPD_OK);
        ck_assert_str_eq(once.text, twice.text);
        ck_assert_str_eq(ckpd_case_digest(loaded), ckpd_case_digest(again));
        ckpd_case_free(loaded);
        ckpd_case_free(again);
    }
}
END_TEST

START_TEST(refusals)
{
    static const struct {
        const char *members, *words;
        int32_t status;
    } bad[] = {
        {", \"change_costs\": [{\"from\": \"m64\"}]", "change_costs[0].from: no retained mode",
         CKPD_ERR_UNKNOWN_NAME},
        {", \"change_costs\": [{}, {\"to\": \"\"}]", "change_costs[1].to", CKPD_ERR_UNKNOWN_NAME},
        {", \"change_costs\": [{\"hours\": -1}]", "change_costs[0].hours", CKPD_ERR_RANGE},
        {", \"change_costs\": [{\"mony\": 1}]", "money", CKPD_ERR_UNKNOWN_NAME},
        {", \"checkpoint\": {\"restart\": 1}", "restart_s", CKPD_ERR_UNKNOWN_NAME},
        {", \"checkpoint\": {}, \"change_costs\": [{}]", "not both", CKPD_ERR_INCONSISTENT},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ckpd_case *loaded = NULL;
        ck_assert_int_eq(load(&loaded, bad[i].members), bad[i].status);
        const char *message = ckpd_context_last_message(context);
        ck_assert_msg(strstr(message, bad[i].words) != NULL, "%s", message);
        ck_assert_msg(strstr(message, "jobs[0]") != NULL, "%s", message);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("case changes");
    TCase *tc = tcase_create("case changes");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, later_entries_replace_earlier_ones);
    tcase_add_test(tc, hours_are_drawn);
    tcase_add_test(tc, a_profile_in_the_file);
    tcase_add_test(tc, written_again_the_same);
    tcase_add_test(tc, refusals);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
