/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Solves that start from an earlier solution: the same cost as from nothing, in a fraction of the
 * work. The work is counted in evaluations of the bound, which depend on nothing but the input; the
 * benchmark B=warm has the times.
 */
#include "dispatch/dispatch.h"
#include "modes/modes.h"
#include "support/golden_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct tally {
    int64_t cold, warm;
} tally;

/* Solves both ways; the costs agree within twice the default gap. */
static void compare(golden_case *g, int32_t scenario, const ckpd_solution *last, int32_t passed,
                    tally *work)
{
    ckpd_solution *cold = NULL, *warm = NULL;
    ck_assert_int_eq(ckpd_problem_solve(&cold, g->problem, scenario, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_resolve_from(&warm, g->problem, scenario, NULL, last, passed),
                     CKPD_OK);
    ck_assert_int_eq(ckpd_solution_outcome(warm), ckpd_solution_outcome(cold));
    ck_assert_int_eq(ckpd_solution_is_proven(warm), 1);
    if (ckpd_solution_outcome(cold) == CKPD_OUTCOME_OPTIMAL) {
        double cost = ckpd_solution_cost(cold);
        ck_assert_double_le(fabs(ckpd_solution_cost(warm) - cost), 2e-6 * fabs(cost));
        ck_assert_double_le(ckpd_solution_bound(warm), cost);
    }
    work->cold += ckpd_solution_iterations(cold);
    work->warm += ckpd_solution_iterations(warm);
    ckpd_solution_free(cold);
    ckpd_solution_free(warm);
}

static const struct {
    const char *name;
    int32_t scenario;
} cases[] = {{"aidc2048-golden.json", CKPD_SCENARIO_S4},
             {"aidc2048-golden.json", CKPD_SCENARIO_S6},
             {"aidc2048-steep.json", CKPD_SCENARIO_S4},
             {"aidc2048-steep.json", CKPD_SCENARIO_S6}};

/* Ten percent on the price of one slot, of each in turn. */
START_TEST(one_price)
{
    golden_case g;
    if (!golden_open(&g, cases[_i].name, NULL)) {
        return;
    }
    tally up = {0, 0}, down = {0, 0};
    ckpd_solution *last = golden_solve(&g, cases[_i].scenario, NULL);
    double *price = g.problem->site->series[CKPD__IMPORT_PRICE];
    for (int32_t t = 0; t < ckpd_site_slots(g.site); t++) {
        double was = price[t];
        price[t] = 1.1 * was;
        compare(&g, cases[_i].scenario, last, 0, &up);
        price[t] = 0.9 * was;
        compare(&g, cases[_i].scenario, last, 0, &down);
        price[t] = was;
    }
    ck_assert_int_le(20 * up.warm, up.cold);
    ck_assert_int_le(5 * down.warm, down.cold);
    ckpd_solution_free(last);
    golden_close(&g);
}
END_TEST

START_TEST(state_of_charge)
{
    golden_case g;
    if (!golden_open(&g, cases[_i].name, NULL)) {
        return;
    }
    tally work = {0, 0};
    ckpd_solution *last = golden_solve(&g, CKPD_SCENARIO_S6, NULL);
    double *soc = &g.problem->site->battery[CKPD__BATTERY_SOC_START];
    static const double kwh[] = {230, 240, 245, 255, 260, 270};
    for (size_t i = 0; i < sizeof kwh / sizeof kwh[0]; i++) {
        *soc = kwh[i];
        compare(&g, CKPD_SCENARIO_S6, last, 0, &work);
    }
    ck_assert_int_le(10 * work.warm, work.cold);
    ckpd_solution_free(last);
    golden_close(&g);
}
END_TEST

/* Task j at `segments` in the problem, as after a checkpoint or a failure. */
static void stand_at(golden_case *g, int32_t j, int32_t segments)
{
    ckpd_graph *graph = NULL;
    ck_assert_int_eq(ckpd_task_set(g->task[j], "start_segments", segments), CKPD_OK);
    ck_assert_int_eq(ckpd_graph_build(&graph, g->context, g->task[j], g->modes[j],
                                      ckpd_site_slots(g->site), ckpd_site_slot_hours(g->site),
                                      NULL),
                     CKPD_OK);
    ckpd_graph_free(g->problem->job[j]);
    g->problem->job[j] = graph;
}

/* One checkpoint more or less of either job, from where none and where two are complete. */
START_TEST(one_checkpoint)
{
    golden_case g;
    if (!golden_open(&g, cases[_i].name, NULL)) {
        return;
    }
    tally all = {0, 0};
    bool steep = strstr(cases[_i].name, "steep") != NULL;
    for (int32_t base = 0; base <= 2; base += 2) {
        for (int32_t j = 0; j < 2; j++) {
            stand_at(&g, j, base);
        }
        ckpd_solution *last = golden_solve(&g, cases[_i].scenario, NULL);
        for (int32_t i = 0; i < 4; i++) {
            int32_t j = i % 2, segments = base + (i < 2 ? 1 : -1);
            if (segments < 0) {
                continue;
            }
            tally one = {0, 0};
            stand_at(&g, j, segments);
            compare(&g, cases[_i].scenario, last, 0, &one);
            stand_at(&g, j, base);
            ck_assert_msg(steep || 5 * one.warm <= one.cold, "job %d from %d to %d: %d of %d", j,
                          base, segments, (int)one.warm, (int)one.cold);
            all.cold += one.cold;
            all.warm += one.warm;
        }
        ckpd_solution_free(last);
    }
    ck_assert_int_le((cases[_i].scenario == CKPD_SCENARIO_S6 ? 5 : 10) * all.warm, all.cold);
    golden_close(&g);
}
END_TEST

/* GLPK by itself agrees after a price, the battery and both checkpoints have changed. */
START_TEST(glpk_agrees)
{
    golden_case g;
    if (!golden_open(&g, cases[_i].name, NULL)) {
        return;
    }
    if (ckpd_backend_capabilities(g.context, "glpk") == 0) {
        test_skip("this build has no GLPK");
        golden_close(&g);
        return;
    }
    ckpd_solution *last = golden_solve(&g, cases[_i].scenario, NULL), *warm = NULL, *glpk = NULL;
    ckpd_solve_options *options = NULL;
    ck_assert_int_eq(ckpd_solve_options_new(&options, g.context), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_set_backend(options, "glpk"), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_set(options, "structure_presolve", 0), CKPD_OK);
    g.problem->site->series[CKPD__IMPORT_PRICE][19] *= 1.2;
    g.problem->site->battery[CKPD__BATTERY_SOC_START] -= 10;
    stand_at(&g, 0, 1);
    stand_at(&g, 1, 2);
    ck_assert_int_eq(ckpd_problem_resolve_from(&warm, g.problem, cases[_i].scenario, NULL, last, 0),
                     CKPD_OK);
    ck_assert_int_eq(ckpd_problem_solve(&glpk, g.problem, cases[_i].scenario, options), CKPD_OK);
    ck_assert_int_eq(ckpd_solution_outcome(warm), CKPD_OUTCOME_OPTIMAL);
    ck_assert_int_eq(ckpd_report_violation_count(ckpd_solution_report(warm)), 0);
    ck_assert_double_eq_tol(ckpd_solution_cost(warm), ckpd_solution_cost(glpk),
                            2e-6 * fabs(ckpd_solution_cost(glpk)));
    ckpd_solution_free(glpk);
    ckpd_solution_free(warm);
    ckpd_solution_free(last);
    ckpd_solve_options_free(options);
    golden_close(&g);
}
END_TEST

/* --- the day goes on
 * ------------------------------------------------------------------------------ */

/* What is left of the day after `passed` slots, for tasks as they stand now. */
static ckpd_problem *rest_of_day(const golden_case *g, int32_t passed)
{
    static const char *const names[] = {
        "import_price_per_mwh",       "solar_kw", "wind_kw", "pue", "base_it_kw", "gpu_cap",
        "curtailment_penalty_per_mwh"};
    int32_t slots = ckpd_site_slots(g->site), left = slots - passed;
    double *values = calloc((size_t)slots, sizeof *values);
    ckpd_site *site = NULL;
    ckpd_problem *problem = NULL;
    ck_assert_ptr_nonnull(values);
    ck_assert_int_eq(ckpd_site_new(&site, g->context, left, 1), CKPD_OK);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        ck_assert_int_eq(ckpd_site_get_series(g->site, names[i], values, slots), CKPD_OK);
        ck_assert_int_eq(ckpd_site_set_series(site, names[i], values + passed, left), CKPD_OK);
    }
    ck_assert_int_eq(ckpd_problem_new(&problem, g->context, site), CKPD_OK);
    problem->site->has_battery = g->problem->site->has_battery;
    memcpy(problem->site->battery, g->problem->site->battery, sizeof site->battery);
    for (int32_t j = 0; j < g->jobs; j++) {
        ckpd_graph *graph = NULL;
        ck_assert_int_eq(
            ckpd_graph_build(&graph, g->context, g->task[j], g->modes[j], left, 1, NULL), CKPD_OK);
        ck_assert_int_eq(ckpd_problem_add_job(problem, graph), CKPD_OK);
        ckpd_graph_free(graph);
    }
    ckpd_site_free(site);
    free(values);
    return problem;
}

/* The task of job j after the first slot of the plan; *running counts the slots of its edge. */
static void pass_slot(const golden_case *g, const ckpd_plan *plan, int32_t j, int32_t *running,
                      int32_t *done)
{
    ckpd_step step = {.size = sizeof step};
    if (ckpd_plan_step_count(plan, j) == 0) {
        return;
    }
    ck_assert_int_eq(ckpd_plan_get_step(plan, j, 0, &step), CKPD_OK);
    if (step.from_slot > 0) {
        return;
    }
    ++*running;
    if (step.to_slot == 1) {
        *done = step.to_segment;
        *running = 0;
        g->modes[j]->running = -1;
        ck_assert_int_eq(ckpd_task_set(g->task[j], "start_segments", *done), CKPD_OK);
        return;
    }
    g->modes[j]->running = step.mode;
    ck_assert_int_eq(ckpd_task_set(g->task[j], "running_slots_done", *running), CKPD_OK);
    ck_assert_int_eq(
        ckpd_task_set(g->task[j], "running_segments", step.to_segment - step.from_segment),
        CKPD_OK);
}

/*
 * Hour by hour, each from the plan of the hour before. In the seventh hour a job falls back to the
 * checkpoint before, as after a failure.
 */
START_TEST(rolling)
{
    golden_case g;
    if (!golden_open(&g, cases[_i].name, NULL)) {
        return;
    }
    tally work = {0, 0};
    int32_t running[2] = {0, 0}, done[2] = {0, 0};
    ckpd_solution *last = golden_solve(&g, cases[_i].scenario, NULL);
    for (int32_t hour = 1; hour <= 8; hour++) {
        const ckpd_plan *plan = ckpd_solution_plan(last);
        double soc[64];
        for (int32_t j = 0; j < 2; j++) {
            pass_slot(&g, plan, j, &running[j], &done[j]);
        }
        if (hour == 7 && done[0] > 0 && running[0] == 0) {
            ck_assert_int_eq(ckpd_task_set(g.task[0], "start_segments", --done[0]), CKPD_OK);
        }
        if (cases[_i].scenario == CKPD_SCENARIO_S6) {
            ck_assert_int_eq(ckpd_plan_get_series(plan, "soc_kwh", soc, ckpd_plan_slots(plan) + 1),
                             CKPD_OK);
            g.problem->site->battery[CKPD__BATTERY_SOC_START] = soc[1];
        }
        ckpd_problem *rest = rest_of_day(&g, hour);
        ckpd_problem_free(g.problem);
        g.problem = rest;
        compare(&g, cases[_i].scenario, last, 1, &work);
        ckpd_solution *next = NULL;
        ck_assert_int_eq(
            ckpd_problem_resolve_from(&next, g.problem, cases[_i].scenario, NULL, last, 1),
            CKPD_OK);
        ckpd_solution_free(last);
        last = next;
    }
    ck_assert_int_le(5 * work.warm, work.cold);
    ckpd_solution_free(last);
    golden_close(&g);
}
END_TEST

/* --- the same bytes, and what is refused
 * ---------------------------------------------------------- */

START_TEST(same_input_same_bytes)
{
    golden_case g;
    if (!golden_open(&g, cases[_i].name, NULL)) {
        return;
    }
    ckpd_solution *last = golden_solve(&g, cases[_i].scenario, NULL), *twice[2] = {NULL, NULL};
    g.problem->site->series[CKPD__IMPORT_PRICE][19] *= 0.8;
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(
            ckpd_problem_resolve_from(&twice[i], g.problem, cases[_i].scenario, NULL, last, 0),
            CKPD_OK);
    }
    double cost[2] = {ckpd_solution_cost(twice[0]), ckpd_solution_cost(twice[1])};
    double bound[2] = {ckpd_solution_bound(twice[0]), ckpd_solution_bound(twice[1])};
    ck_assert_int_eq(memcmp(&cost[0], &cost[1], sizeof cost[0]), 0);
    ck_assert_int_eq(memcmp(&bound[0], &bound[1], sizeof bound[0]), 0);
    for (int32_t j = 0; j < g.jobs; j++) {
        const ckpd__steps *a = &ckpd_solution_plan(twice[0])->steps[j];
        const ckpd__steps *b = &ckpd_solution_plan(twice[1])->steps[j];
        ck_assert_int_eq(a->count, b->count);
        ck_assert_int_eq(memcmp(a->step, b->step, (size_t)a->count * sizeof *a->step), 0);
    }
    for (int i = 0; i < 2; i++) {
        ckpd_solution_free(twice[i]);
    }
    ckpd_solution_free(last);
    golden_close(&g);
}
END_TEST

/* Scenarios, jobs and horizons that do not fit cost time, not correctness. */
START_TEST(misfits)
{
    golden_case g, steep;
    if (!golden_open(&g, "aidc2048-golden.json", NULL) ||
        !golden_open(&steep, "aidc2048-steep.json", NULL)) {
        return;
    }
    tally work = {0, 0};
    ckpd_solution *others[] = {
        golden_solve(&g, CKPD_SCENARIO_S1, NULL), golden_solve(&g, CKPD_SCENARIO_S3, NULL),
        golden_solve(&g, CKPD_SCENARIO_S5, NULL), golden_solve(&steep, CKPD_SCENARIO_S6, NULL)};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        for (int32_t passed = 0; passed < 24; passed += 23) {
            compare(&g, CKPD_SCENARIO_S4, others[i], passed, &work);
            compare(&g, CKPD_SCENARIO_S6, others[i], passed, &work);
        }
        compare(&g, CKPD_SCENARIO_S1, others[i], 0, &work);
    }
    /* The other way round: jobs in another order, one more of them. */
    ckpd_problem *turned = NULL;
    ckpd_graph *extra = NULL;
    ck_assert_int_eq(ckpd_problem_new(&turned, g.context, g.site), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(g.task[0], "segments", 6), CKPD_OK);
    ck_assert_int_eq(ckpd_graph_build(&extra, g.context, g.task[0], g.modes[0], 24, 1, NULL),
                     CKPD_OK);
    ck_assert_int_eq(ckpd_problem_add_job(turned, g.graph[1]), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_add_job(turned, extra), CKPD_OK);
    ckpd_problem *straight = g.problem;
    ckpd_solution *last = golden_solve(&g, CKPD_SCENARIO_S4, NULL);
    g.problem = turned;
    compare(&g, CKPD_SCENARIO_S4, last, 0, &work);
    g.problem = straight;
    ckpd_solution_free(last);
    ckpd_graph_free(extra);
    ckpd_problem_free(turned);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        ckpd_solution_free(others[i]);
    }
    golden_close(&g);
    golden_close(&steep);
}
END_TEST

/*
 * A token that is cancelled before the solve, or a limit of no time at all: the answer is "stopped"
 * whatever the backend and however small the problem, with the last plan where it still is one.
 */
START_TEST(stopped_before)
{
    static const char *const names[] = {NULL, "native", "glpk"};
    golden_case g;
    ckpd_cancel *token = NULL;
    if (!golden_open(&g, "aidc2048-golden.json", NULL)) {
        return;
    }
    ckpd_solution *last = golden_solve(&g, CKPD_SCENARIO_S4, NULL);
    ck_assert_int_eq(ckpd_cancel_new(&token, g.context), CKPD_OK);
    ckpd_cancel_request(token);
    for (int i = 0; i < 12; i++) {
        const char *name = names[i % 3];
        bool by_token = i < 6, warm = i % 6 < 3;
        ckpd_solve_options *options = NULL;
        ckpd_solution *solution = NULL;
        if (name != NULL && ckpd_backend_capabilities(g.context, name) == 0) {
            continue;
        }
        ck_assert_int_eq(ckpd_solve_options_new(&options, g.context), CKPD_OK);
        ckpd_solve_options_set_backend(options, name);
        ckpd_solve_options_set_cancel(options, by_token ? token : NULL);
        ckpd_solve_options_set(options, "time_limit_s", by_token ? 100 : 0);
        ck_assert_int_eq(warm ? ckpd_problem_resolve_from(&solution, g.problem, CKPD_SCENARIO_S4,
                                                          options, last, 0)
                              : ckpd_problem_solve(&solution, g.problem, CKPD_SCENARIO_S4, options),
                         CKPD_OK);
        ck_assert_int_eq(ckpd_solution_outcome(solution), by_token ? CKPD_OUTCOME_CANCELLED
                                                          : warm   ? CKPD_OUTCOME_FEASIBLE
                                                                   : CKPD_OUTCOME_NO_PLAN);
        ck_assert_int_eq(ckpd_solution_plan(solution) != NULL, warm);
        ck_assert_int_eq(ckpd_solution_is_proven(solution), 0);
        if (warm) {
            ck_assert_double_eq_tol(ckpd_solution_cost(solution), ckpd_solution_cost(last), 1e-9);
        }
        ckpd_solution_free(solution);
        ckpd_solve_options_free(options);
    }
    ckpd_cancel_free(token);
    ckpd_solution_free(last);
    golden_close(&g);
}
END_TEST

START_TEST(refused)
{
    golden_case g;
    if (!golden_open(&g, "aidc2048-golden.json", NULL)) {
        return;
    }
    ckpd_solution *last = golden_solve(&g, CKPD_SCENARIO_S4, NULL), *next = NULL;
    ckpd_error error = {.size = sizeof error};
    ck_assert_int_eq(ckpd_problem_resolve_from(&next, g.problem, CKPD_SCENARIO_S4, NULL, NULL, 0),
                     CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_problem_resolve_from(NULL, g.problem, CKPD_SCENARIO_S4, NULL, last, 0),
                     CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_problem_resolve_from(&next, NULL, CKPD_SCENARIO_S4, NULL, last, 0),
                     CKPD_ERR_ARGUMENT);
    static const int32_t wrong[] = {-1, 24, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(
            ckpd_problem_resolve_from(&next, g.problem, CKPD_SCENARIO_S4, NULL, last, wrong[i]),
            CKPD_ERR_RANGE);
        ck_assert_int_eq(ckpd_context_last_error(g.context, &error), CKPD_OK);
        ck_assert_str_eq(error.field, "slots_passed");
        ck_assert_double_eq(error.value, wrong[i]);
    }
    /* Also where the last solution has no plan to move. */
    ckpd_solution *empty = NULL;
    ck_assert_int_eq(ckpd__solution_new(&empty, g.context, CKPD_SCENARIO_S4), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_resolve_from(&next, g.problem, CKPD_SCENARIO_S4, NULL, empty, -5),
                     CKPD_ERR_RANGE);
    ck_assert_ptr_null(next);
    ckpd_solution_free(empty);
    ckpd_solution_free(last);
    golden_close(&g);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("warm start");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, one_price, 0, 4);
    tcase_add_loop_test(all, state_of_charge, 1, 2);
    tcase_add_loop_test(all, one_checkpoint, 0, 4);
    tcase_add_loop_test(all, glpk_agrees, test_fast() ? 3 : 0, 4); /* the shortest is the last */
    tcase_add_loop_test(all, rolling, 0, 4);
    tcase_add_loop_test(all, same_input_same_bytes, 0, 4);
    tcase_add_test(all, misfits);
    tcase_add_test(all, stopped_before);
    tcase_add_test(all, refused);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
