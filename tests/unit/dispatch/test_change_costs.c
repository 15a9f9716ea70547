/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * What a start costs. One job of two segments of 1 h in one mode of 10 MW, four slots of 1 h at
 * 10/45/12/50 per MWh; every cost below is worked by hand: a stop after the first hour allows slots
 * 0 and 2 (220), no stop slots 0 and 1 (550).
 */
#include "support/small.h"
#include "support/support.h"

#include <math.h>

static ckpd_context *context;
static ckpd_task *task;
static ckpd_mode_set *modes;

static void setup(void)
{
    const int32_t gpus[] = {100};
    const double rate[] = {1.0}, power_kw[] = {10000};
    ckpd_mode_table table = {.size = sizeof table,
                             .count = 1,
                             .installed_gpus = 100,
                             .gpus = gpus,
                             .rate = rate,
                             .power_kw = power_kw,
                             .baseline_index = 0};
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_task_new(&task, context, "job"), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "segments", 2), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "tranche_baseline_hours", 2), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_set_from_table(&modes, context, task, &table), CKPD_OK);
}

static void teardown(void)
{
    ckpd_mode_set_free(modes);
    ckpd_task_free(task);
    ckpd_context_free(context);
}

static ckpd_graph_options *new_options(void)
{
    ckpd_graph_options *options = NULL;
    ck_assert_int_eq(ckpd_graph_options_new(&options, context), CKPD_OK);
    return options;
}

/* Cost of a scenario with these options, which are freed, by every backend that is there. */
static void expect_cost_of(int32_t scenario, ckpd_graph_options *options, double wanted)
{
    const double price[] = {10, 45, 12, 50};
    ckpd_site *site = NULL;
    ckpd_graph *graph = NULL;
    ckpd_problem *problem = NULL;
    ck_assert_int_eq(ckpd_site_new(&site, context, 4, 1.0), CKPD_OK);
    ck_assert_int_eq(ckpd_site_set_series(site, "import_price_per_mwh", price, 4), CKPD_OK);
    ck_assert_int_eq(ckpd_site_set_constant(site, "gpu_cap", 100), CKPD_OK);
    ck_assert_int_eq(ckpd_graph_build(&graph, context, task, modes, 4, 1.0, options), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_new(&problem, context, site), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_add_job(problem, graph), CKPD_OK);
    const char *const backends[] = {"native", "enumerate", "glpk"};
    for (int i = 0; i < (ckpd_feature("glpk") ? 3 : 2); i++) {
        int32_t outcome = 0;
        double cost = NAN;
        ck_assert_int_eq(small_solve(problem, context, scenario, backends[i], &outcome, &cost),
                         CKPD_OK);
        ck_assert_int_eq(outcome, CKPD_OUTCOME_OPTIMAL);
        ck_assert_double_eq_tol(cost, wanted, 1e-6 * wanted);
    }
    ckpd_problem_free(problem);
    ckpd_graph_free(graph);
    ckpd_site_free(site);
    ckpd_graph_options_free(options);
}

static void expect_cost(ckpd_graph_options *options, double wanted)
{
    expect_cost_of(CKPD_SCENARIO_S4, options, wanted);
}

START_TEST(a_start_that_takes_time)
{
    const double first_free[] = {0, 1}, none[] = {0, 0};
    ckpd_graph_options *options = new_options();
    ck_assert_int_eq(ckpd_graph_options_set_change_costs(options, 1, none, none), CKPD_OK);
    expect_cost(options, 220);
    /* a second start takes 1 h more: slots 0, 1-2 cost 670, slots 0-1 without a stop 550 */
    options = new_options();
    ck_assert_int_eq(ckpd_graph_options_set_change_costs(options, 1, first_free, NULL), CKPD_OK);
    expect_cost(options, 550);
}
END_TEST

START_TEST(a_start_that_costs_money)
{
    const double cheap[] = {0, 300}, dear[] = {0, 400};
    ckpd_graph_options *options = new_options();
    ck_assert_int_eq(ckpd_graph_options_set_change_costs(options, 1, NULL, cheap), CKPD_OK);
    expect_cost(options, 220 + 300);
    options = new_options();
    ck_assert_int_eq(ckpd_graph_options_set_change_costs(options, 1, NULL, dear), CKPD_OK);
    expect_cost(options, 550);
}
END_TEST

START_TEST(starts_of_a_checkpoint_profile)
{
    /* a restart of 1 h also before the first segment: slots 0-2 without a stop, 670 */
    ckpd_checkpoint *profile = NULL;
    ckpd_graph_options *options = new_options();
    ck_assert_int_eq(ckpd_checkpoint_new(&profile, context), CKPD_OK);
    ck_assert_int_eq(ckpd_checkpoint_set(profile, "restart_s", 3600), CKPD_OK);
    ck_assert_int_eq(ckpd_checkpoint_set(profile, "state_gb", 1), CKPD_OK);
    ck_assert_msg(ckpd_graph_options_set_checkpoint(options, profile, modes) == CKPD_OK, "%s",
                  ckpd_context_last_message(context));
    ckpd_checkpoint_free(profile);
    expect_cost(options, 670);
}
END_TEST

/* One start of 1 h and 30: slots 0-2 without a stop, 670, as S4 would have to pay for that path. */
START_TEST(continuous_training_pays_for_its_start)
{
    /* With a second start that is free the edge over both segments is left out of the graph. */
    const double hours[2][2] = {{1, 1}, {1, 0}}, money[2][2] = {{30, 30}, {30, 0}};
    const int32_t scenarios[] = {CKPD_SCENARIO_S1, CKPD_SCENARIO_S2};
    for (int i = 0; i < 4; i++) {
        ckpd_graph_options *options = new_options();
        ck_assert_int_eq(
            ckpd_graph_options_set_change_costs(options, 1, hours[i / 2], money[i / 2]), CKPD_OK);
        expect_cost_of(scenarios[i % 2], options, 670 + 30);
    }
}
END_TEST

START_TEST(bad_costs_are_refused)
{
    const double bad[] = {0, NAN}, negative[] = {-1, 0}, good[] = {0, 0};
    const double two[] = {0, 0, 0, 0, 0, 0};
    ckpd_graph_options *options = new_options();
    ckpd_error error = {.size = sizeof error};
    ck_assert_int_eq(ckpd_graph_options_set_change_costs(options, 1, bad, NULL),
                     CKPD_ERR_NOT_FINITE);
    ck_assert_int_eq(ckpd_context_last_error(context, &error), CKPD_OK);
    ck_assert_str_eq(error.field, "change_hours");
    ck_assert_int_eq(error.index, 1);
    ck_assert_int_eq(ckpd_graph_options_set_change_costs(options, 1, negative, NULL),
                     CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_graph_options_set_change_costs(options, 1, good, bad),
                     CKPD_ERR_NOT_FINITE);
    ck_assert_int_eq(ckpd_graph_options_set_change_costs(options, 0, good, NULL), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_graph_options_set_checkpoint(options, NULL, modes), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_graph_options_set_change_costs(options, 2, two, NULL), CKPD_OK);
    ckpd_graph *graph = NULL;
    ck_assert_int_eq(ckpd_graph_build(&graph, context, task, modes, 4, 1.0, options),
                     CKPD_ERR_LENGTH);
    ck_assert_ptr_null(graph);
    ckpd_graph_options_free(options);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dispatch: what a start costs");
    TCase *tests = tcase_create("starts");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_start_that_takes_time);
    tcase_add_test(tests, a_start_that_costs_money);
    tcase_add_test(tests, starts_of_a_checkpoint_profile);
    tcase_add_test(tests, continuous_training_pays_for_its_start);
    tcase_add_test(tests, bad_costs_are_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
