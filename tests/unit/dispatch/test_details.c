/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Refusals and causes that other tests do not meet; amounts are worked by hand. */
#include "support/day.h"

#include <math.h>
#include <string.h>

static const double price[4] = {20, 60, 20, 60};
static const day_mode modes[] = {{8, 1.0, 10, 0.5}};

static void expect_cause(day *d, int32_t scenario, const char *words)
{
    ckpd_solution *s = day_solve(d, scenario, NULL);
    ck_assert_int_eq(ckpd_solution_outcome(s), CKPD_OUTCOME_INFEASIBLE);
    ck_assert_int_ge(ckpd_solution_cause_count(s), 1);
    ck_assert_msg(strcmp(ckpd_solution_cause(s, 0), words) == 0, "%s", ckpd_solution_cause(s, 0));
    ck_assert_ptr_null(ckpd_solution_cause(s, 99));
    ck_assert_ptr_null(ckpd_solution_cause(s, -1));
    ckpd_solution_free(s);
}

/* 4 h of at most 1 MW out of the battery, without loss: 16 MWh become 12, not 5. */
START_TEST(an_end_soc_that_is_too_low_to_reach)
{
    const day_battery battery = {.energy_mwh = 20,
                                 .power_mw = 1,
                                 .eta = 1,
                                 .start_mwh = 16,
                                 .end_mwh = 5,
                                 .terminal = "equal"};
    day d = day_new(4, 1, price, 2);
    day_add_battery(&d, &battery);
    expect_cause(&d, CKPD_SCENARIO_S6, "end SOC: 5000 kWh needed, no less than 12000 reachable");
    day_free(&d);
}
END_TEST

static void add_leaking_battery(day *d, double per_hour, double power_kw)
{
    const struct {
        const char *field;
        double value;
    } values[] = {{"energy_kwh", 1000},    {"charge_kw", power_kw},
                  {"discharge_kw", 1000},  {"eta_charge", 1},
                  {"eta_discharge", 1},    {"soc_min_kwh", 900},
                  {"soc_start_kwh", 1000}, {"self_discharge_per_hour", per_hour}};
    ckpd_battery *battery = NULL;
    ck_assert_int_eq(ckpd_battery_new(&battery, d->context), CKPD_OK);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        ck_assert_msg(ckpd_battery_set(battery, values[i].field, values[i].value) == CKPD_OK, "%s",
                      ckpd_context_last_message(d->context));
    }
    ck_assert_int_eq(ckpd_battery_set_text(battery, "terminal", "free"), CKPD_OK);
    ck_assert_int_eq(ckpd_site_add_battery(d->site, battery), CKPD_OK);
    ckpd_battery_free(battery);
}

/* 1000 kWh lose a tenth an hour and 10 kW come in: 910, then 829, below the 900 it has to keep. */
START_TEST(a_soc_that_falls_by_itself)
{
    day d = day_new(4, 1, price, 2);
    add_leaking_battery(&d, 0.1, 10);
    expect_cause(&d, CKPD_SCENARIO_S6,
                 "SOC falls to 829 kWh by self-discharge at boundary 2, minimum 900 kWh");
    day_free(&d);
}
END_TEST

/* A graph of the day's horizon with other slots, another horizon, or no baseline. */
static ckpd_graph *graph_of(day *d, int32_t slots, double slot_hours, bool baseline)
{
    static const int32_t gpus[] = {8};
    static const double rate[] = {1}, power_kw[] = {10};
    const ckpd_mode_table table = {.size = sizeof table,
                                   .count = 1,
                                   .installed_gpus = 8,
                                   .gpus = gpus,
                                   .rate = rate,
                                   .power_kw = power_kw,
                                   .baseline_index = baseline ? 0 : -1};
    ckpd_task *task = NULL;
    ckpd_mode_set *set = NULL;
    ckpd_graph *graph = NULL;
    ck_assert_int_eq(ckpd_task_new(&task, d->context, "J"), CKPD_OK);
    ck_assert_int_eq(baseline ? ckpd_task_set(task, "tranche_baseline_hours", 1)
                              : ckpd_task_set(task, "tranche_tokens", 3600),
                     CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "segments", 1), CKPD_OK);
    ck_assert_msg(ckpd_mode_set_from_table(&set, d->context, task, &table) == CKPD_OK, "%s",
                  ckpd_context_last_message(d->context));
    ck_assert_msg(ckpd_graph_build(&graph, d->context, task, set, slots, slot_hours, NULL) ==
                      CKPD_OK,
                  "%s", ckpd_context_last_message(d->context));
    ckpd_mode_set_free(set);
    ckpd_task_free(task);
    return graph;
}

static void expect_refusal(day *d, int32_t status, int32_t code, const char *field)
{
    ckpd_error error = {.size = sizeof error};
    ck_assert_int_eq(status, code);
    ck_assert_int_eq(ckpd_context_last_error(d->context, &error), CKPD_OK);
    ck_assert_int_eq(error.code, code);
    ck_assert_str_eq(error.field, field);
}

START_TEST(jobs_of_another_horizon)
{
    day d = day_new(4, 1, price, 0);
    ckpd_graph *half = graph_of(&d, 4, 0.5, true), *longer = graph_of(&d, 5, 1, true);
    ckpd_graph *right = graph_of(&d, 4, 1, true);
    expect_refusal(&d, ckpd_problem_add_job(day_problem(&d), half), CKPD_ERR_INCONSISTENT,
                   "slot_hours");
    expect_refusal(&d, ckpd_problem_add_job(d.problem, longer), CKPD_ERR_INCONSISTENT, "slots");
    ck_assert_int_eq(ckpd_problem_job_count(d.problem), 0);
    ck_assert_int_eq(ckpd_problem_add_job(d.problem, right), CKPD_OK);
    expect_refusal(&d, ckpd_problem_add_job(d.problem, right), CKPD_ERR_DUPLICATE, "name");
    ck_assert_int_eq(ckpd_problem_job_count(d.problem), 1);
    ckpd_graph_free(half);
    ckpd_graph_free(longer);
    ckpd_graph_free(right);
    day_free(&d);
}
END_TEST

START_TEST(scenarios_that_need_more)
{
    day d = day_new(4, 1, price, 0);
    ckpd_graph *graph = graph_of(&d, 4, 1, false);
    ckpd_solution *s = NULL;
    ck_assert_int_eq(ckpd_problem_add_job(day_problem(&d), graph), CKPD_OK);
    expect_refusal(&d, ckpd_problem_solve(&s, d.problem, CKPD_SCENARIO_S1, NULL), CKPD_ERR_MISSING,
                   "baseline");
    expect_refusal(&d, ckpd_problem_solve(&s, d.problem, CKPD_SCENARIO_S5, NULL), CKPD_ERR_STATE,
                   "scenario");
    expect_refusal(&d, ckpd_problem_solve(&s, d.problem, 7, NULL), CKPD_ERR_RANGE, "scenario");
    ck_assert_ptr_null(s);
    ck_assert_int_eq(ckpd_problem_solve(&s, d.problem, CKPD_SCENARIO_S4, NULL), CKPD_OK);
    ckpd_solution_free(s);
    ckpd_graph_free(graph);
    day_free(&d);
}
END_TEST

/* --- what is asked of a solution ----------------------------------------------------------------
 */

START_TEST(questions_out_of_range)
{
    const day_job job = {.name = "J", .segments = 2, .modes = 1, .mode = modes};
    double share[5];
    day d = day_new(4, 1, price, 0);
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ck_assert_int_eq(ckpd_solution_progress(s, 0, share, 5), CKPD_OK);
    ck_assert(share[0] == 0 && share[4] == 1);
    ck_assert_int_eq(ckpd_solution_progress(s, 1, share, 5), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_solution_progress(s, -1, share, 5), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_solution_progress(s, 0, share, 4), CKPD_ERR_LENGTH);
    ckpd_violation violation = {.size = sizeof violation};
    const ckpd_report *report = ckpd_solution_report(s);
    ck_assert_int_eq(ckpd_report_get_violation(report, 0, &violation), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_report_get_violation(report, -1, &violation), CKPD_ERR_RANGE);
    /* A solution is explained by its own problem. */
    day other = day_new(3, 1, price, 0);
    ckpd_explanation *explanation = NULL;
    ck_assert_int_eq(day_add_job(&other, &job, NULL), CKPD_OK);
    expect_refusal(&other, ckpd_problem_explain(&explanation, other.problem, s, NULL),
                   CKPD_ERR_LENGTH, "solution");
    ck_assert_ptr_null(explanation);
    day_free(&other);
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

/* Each start costs 1000 but those at slot 2. Prices of 20 and 60 alternate, so any two hours in a
 * row cost 10 MW x 80: the plan is one step of two segments at slot 2, and to start earlier costs
 * 1000. */
static double dear_starts(const char *job, const ckpd_edge *edge, int32_t *failed, void *user)
{
    (void)job, (void)failed, (void)user;
    return edge->from_slot == 2 ? 0 : 1000;
}

START_TEST(flexibility_pays_for_edges)
{
    const day_job job = {.name = "J", .segments = 2, .modes = 1, .mode = modes};
    day d = day_new(4, 1, price, 0);
    ckpd_graph_options *options = NULL;
    ckpd_explanation *explanation = NULL;
    ckpd_step step = {.size = sizeof step};
    ck_assert_int_eq(ckpd_graph_options_new(&options, d.context), CKPD_OK);
    ck_assert_int_eq(ckpd_graph_options_set_edge_cost(options, dear_starts, NULL), CKPD_OK);
    ck_assert_int_eq(day_add_job(&d, &job, options), CKPD_OK);
    ckpd_graph_options_free(options);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ck_assert_double_eq_tol(ckpd_solution_cost(s), 800, 1e-6);
    ck_assert_int_eq(ckpd_plan_get_step(ckpd_solution_plan(s), 0, 0, &step), CKPD_OK);
    ck_assert_int_eq(step.from_slot, 2);
    ck_assert_msg(ckpd_problem_explain(&explanation, d.problem, s, NULL) == CKPD_OK, "%s",
                  ckpd_context_last_message(d.context));
    double kw[4], cost[4];
    ck_assert_int_eq(ckpd_explanation_get_series(explanation, "add_kw", kw, 4), CKPD_OK);
    ck_assert_int_eq(ckpd_explanation_get_series(explanation, "add_cost", cost, 4), CKPD_OK);
    ck_assert_double_eq(kw[1], 10000);
    ck_assert_double_eq_tol(cost[1], 1000, 1e-6); /* slots 1 and 2: the same 800, and the start */
    ck_assert_int_eq(ckpd_explanation_get_series(explanation, "nothing", kw, 4),
                     CKPD_ERR_UNKNOWN_NAME);
    ck_assert_int_eq(ckpd_explanation_get_series(explanation, "add_kw", kw, 3), CKPD_ERR_LENGTH);
    ckpd_explanation_free(explanation);
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {an_end_soc_that_is_too_low_to_reach,
                                  a_soc_that_falls_by_itself,
                                  jobs_of_another_horizon,
                                  scenarios_that_need_more,
                                  questions_out_of_range,
                                  flexibility_pays_for_edges,
                                  NULL};
    return test_run(test_suite("dispatch details", tests));
}
