/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * What a solve says: outcomes, proof, gaps and errors, by backends that answer as they are told;
 * and the life of a problem between solves.
 */
#include "support/day.h"

#include <math.h>
#include <string.h>

static const double price[4] = {20, 60, 20, 60};
static const day_mode one_mode[] = {{8, 1.0, 10, 1}};

/* Answers as a test wants; the plan runs each job from slot `first` on, move by move. */
typedef struct puppet {
    int32_t outcome, has_plan, first, status;
    double bound;
    int32_t calls;
    int32_t saw_start;
} puppet;

static int32_t puppet_solve(const ckpd_host *host, const ckpd_path_view *view,
                            const ckpd_solve_params *params, ckpd_path_result *result, void *user)
{
    puppet *p = user;
    (void)host;
    (void)params;
    p->calls++;
    p->saw_start = view->start != NULL ? view->start->step_count[0] : -1;
    result->outcome = p->outcome;
    result->has_plan = p->has_plan;
    result->bound = p->bound;
    result->nodes = 7;
    for (int32_t j = 0; j < view->jobs && p->has_plan; j++) {
        result->plan->step_count[j] = 1;
        result->plan->step_slot[j * view->slots] = p->first;
        result->plan->step_move[j * view->slots] = view->job[j]->moves - 1;
    }
    if (p->status != CKPD_OK) {
        strcpy(result->message, "no strings left");
    }
    return p->status;
}

static void add_puppet(day *d, puppet *p, const char *name)
{
    ckpd_backend_table table = {.size = sizeof table,
                                .abi = CKPD_BACKEND_ABI,
                                .capabilities = CKPD_CAP_PATHS | CKPD_CAP_START,
                                .name = name,
                                .version = "1",
                                .license = "MIT",
                                .solve_paths = puppet_solve,
                                .user = p};
    ck_assert_int_eq(ckpd_backend_register(d->context, &table), CKPD_OK);
}

/* One job of one 10 MW hour: slots 0 or 2 cost 200, the others 600. */
static day day_with_job(void)
{
    day d = day_new(4, 1, price, 0);
    const day_job job = {.name = "job", .segments = 1, .modes = 1, .mode = one_mode};
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    return d;
}

START_TEST(a_claimed_optimum_is_no_proof)
{
    day d = day_with_job();
    puppet p = {CKPD_OUTCOME_OPTIMAL, 1, 2, CKPD_OK, 200, 0, 0};
    add_puppet(&d, &p, "puppet");
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, "puppet");
    ck_assert_int_eq(p.calls, 1);
    ck_assert_int_eq(ckpd_solution_outcome(s), CKPD_OUTCOME_FEASIBLE);
    ck_assert_int_eq(ckpd_solution_is_proven(s), 0);
    ck_assert_int_eq(ckpd_solution_bound_is_claimed(s), 1);
    ck_assert_double_eq(ckpd_solution_bound(s), 200);
    ck_assert_str_eq(ckpd_solution_backend(s), "puppet");
    ck_assert_int_eq(ckpd_solution_nodes(s), 7);
    ck_assert_double_eq(ckpd_solution_cost(s), 200);
    ck_assert_double_eq(ckpd_solution_absolute_gap(s), 0);
    ckpd_solution_free(s);
    s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ck_assert_int_eq(ckpd_solution_outcome(s), CKPD_OUTCOME_OPTIMAL);
    ck_assert_int_eq(ckpd_solution_is_proven(s), 1);
    ck_assert_int_eq(ckpd_solution_bound_is_claimed(s), 0);
    ck_assert_int_eq(p.calls, 1);
    ckpd_solution_free(s);
    /* a plan at three times the cost, claimed with a bound to fit, even with one above the cost */
    for (int32_t above = 0; above <= 1; above++) {
        p = (puppet){CKPD_OUTCOME_OPTIMAL, 1, 1, CKPD_OK, above ? 9e9 : 600, 0, 0};
        s = day_solve(&d, CKPD_SCENARIO_S4, "puppet");
        ck_assert_int_eq(ckpd_solution_outcome(s), CKPD_OUTCOME_FEASIBLE);
        ck_assert_int_eq(ckpd_solution_is_proven(s), 0);
        ck_assert_int_eq(ckpd_solution_bound_is_claimed(s), 1);
        ck_assert_double_eq(ckpd_solution_cost(s), 600);
        ck_assert_double_eq(ckpd_solution_bound(s), 600);
        ckpd_solution_free(s);
    }
    ck_assert_int_eq(ckpd_solution_bound_is_claimed(NULL), 0);
    day_free(&d);
}
END_TEST

START_TEST(d46_a_stopped_solve_keeps_plan_bound_and_gap)
{
    day d = day_with_job();
    puppet p = {CKPD_OUTCOME_FEASIBLE, 1, 1, CKPD_OK, 150, 0, 0};
    add_puppet(&d, &p, "puppet");
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, "puppet");
    ck_assert_int_eq(ckpd_solution_outcome(s), CKPD_OUTCOME_FEASIBLE);
    ck_assert_int_eq(ckpd_solution_is_proven(s), 0);
    ck_assert_double_eq(ckpd_solution_cost(s), 600);
    ck_assert_double_eq(ckpd_solution_bound(s), 150);
    ck_assert_double_eq(ckpd_solution_absolute_gap(s), 450);
    ck_assert_double_eq(ckpd_solution_relative_gap(s), 0.75);
    ckpd_solution_free(s);
    /* an "optimal" whose bound is far away is not optimal */
    p.outcome = CKPD_OUTCOME_OPTIMAL;
    s = day_solve(&d, CKPD_SCENARIO_S4, "puppet");
    ck_assert_int_eq(ckpd_solution_outcome(s), CKPD_OUTCOME_FEASIBLE);
    ckpd_solution_free(s);
    /* no bound at all: infinite gaps */
    p.outcome = CKPD_OUTCOME_FEASIBLE;
    p.bound = -(double)INFINITY;
    s = day_solve(&d, CKPD_SCENARIO_S4, "puppet");
    ck_assert(isinf(ckpd_solution_relative_gap(s)) && isinf(ckpd_solution_absolute_gap(s)));
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

START_TEST(d48_stopped_is_not_infeasible)
{
    day d = day_with_job();
    puppet p = {CKPD_OUTCOME_NO_PLAN, 0, 0, CKPD_OK, 100, 0, 0};
    add_puppet(&d, &p, "puppet");
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, "puppet");
    ck_assert_int_eq(ckpd_solution_outcome(s), CKPD_OUTCOME_NO_PLAN);
    ck_assert_int_eq(ckpd_solution_cause_count(s), 0);
    ck_assert_ptr_null(ckpd_solution_plan(s));
    ck_assert_ptr_null(ckpd_solution_report(s));
    ck_assert(isnan(ckpd_solution_cost(s)));
    ck_assert_double_eq(ckpd_solution_bound(s), 100);
    double share[5];
    ck_assert_int_eq(ckpd_solution_progress(s, 0, share, 5), CKPD_ERR_STATE);
    ckpd_solution_free(s);
    p.outcome = CKPD_OUTCOME_CANCELLED;
    s = day_solve(&d, CKPD_SCENARIO_S4, "puppet");
    ck_assert_int_eq(ckpd_solution_outcome(s), CKPD_OUTCOME_CANCELLED);
    ck_assert_ptr_null(ckpd_solution_plan(s));
    ckpd_solution_free(s);
    p.has_plan = 1;
    s = day_solve(&d, CKPD_SCENARIO_S4, "puppet");
    ck_assert_int_eq(ckpd_solution_outcome(s), CKPD_OUTCOME_CANCELLED);
    ck_assert_ptr_nonnull(ckpd_solution_plan(s));
    ck_assert_double_eq(ckpd_solution_cost(s), 200);
    ckpd_solution_free(s);
    /* a claim of infeasibility that is not trusted: reported, not proven, and with a word */
    p = (puppet){CKPD_OUTCOME_INFEASIBLE, 0, 0, CKPD_OK, 0, 0, 0};
    s = day_solve(&d, CKPD_SCENARIO_S4, "puppet");
    ck_assert_int_eq(ckpd_solution_outcome(s), CKPD_OUTCOME_INFEASIBLE);
    ck_assert_int_eq(ckpd_solution_is_proven(s), 0);
    ck_assert_int_eq(ckpd_solution_cause_count(s), 1);
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

/* Status of a solve by the named backend, which must not leave a solution. */
static int32_t failing_solve(day *d, int32_t scenario, const char *backend)
{
    ckpd_solve_options *options = NULL;
    ckpd_solution *s = NULL;
    ck_assert_int_eq(ckpd_solve_options_new(&options, d->context), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_set_backend(options, backend), CKPD_OK);
    int32_t status = ckpd_problem_solve(&s, day_problem(d), scenario, options);
    ck_assert_ptr_null(s);
    ckpd_solve_options_free(options);
    return status;
}

START_TEST(d51_wrong_plans_are_errors)
{
    day d = day_with_job();
    puppet p = {CKPD_OUTCOME_OPTIMAL, 1, 4, CKPD_OK, 100, 0, 0}; /* beyond the horizon */
    add_puppet(&d, &p, "puppet");
    ck_assert_int_eq(failing_solve(&d, CKPD_SCENARIO_S4, "puppet"), CKPD_ERR_VERIFY);
    p = (puppet){99, 0, 0, CKPD_OK, 0, 0, 0};
    ck_assert_int_eq(failing_solve(&d, CKPD_SCENARIO_S4, "puppet"), CKPD_ERR_BACKEND);
    p = (puppet){CKPD_OUTCOME_OPTIMAL, 1, 0, CKPD_ERR_BACKEND, 0, 0, 0};
    ck_assert_int_eq(failing_solve(&d, CKPD_SCENARIO_S4, "puppet"), CKPD_ERR_BACKEND);
    ck_assert_ptr_nonnull(strstr(ckpd_context_last_message(d.context), "no strings left"));
    ck_assert_int_eq(failing_solve(&d, CKPD_SCENARIO_S4, "pupet"), CKPD_ERR_UNKNOWN_NAME);
    ck_assert_int_eq(failing_solve(&d, CKPD_SCENARIO_S6, NULL), CKPD_ERR_STATE);
    ck_assert_int_eq(failing_solve(&d, 0, NULL), CKPD_ERR_RANGE);
    ck_assert_int_eq(failing_solve(&d, 7, NULL), CKPD_ERR_RANGE);
    day_free(&d);
}
END_TEST

START_TEST(a_start_plan_reaches_the_backend)
{
    day d = day_with_job();
    puppet p = {CKPD_OUTCOME_FEASIBLE, 1, 1, CKPD_OK, 150, 0, 0};
    add_puppet(&d, &p, "puppet");
    ckpd_solve_options *options = NULL;
    ckpd_solution *s = NULL;
    ckpd_solution *again = NULL;
    ckpd_plan *other = NULL;
    ck_assert_int_eq(ckpd_solve_options_new(&options, d.context), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_set_backend(options, "puppet"), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_solve(&s, d.problem, CKPD_SCENARIO_S4, options), CKPD_OK);
    ck_assert_int_eq(p.saw_start, -1);
    ck_assert_int_eq(
        ckpd_problem_resolve(&again, d.problem, CKPD_SCENARIO_S4, options, ckpd_solution_plan(s)),
        CKPD_OK);
    ck_assert_int_eq(p.saw_start, 1);
    ckpd_solution_free(again);
    again = NULL;
    ck_assert_int_eq(ckpd_plan_new(&other, d.context, 2, 4), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_resolve(&again, d.problem, CKPD_SCENARIO_S4, options, other),
                     CKPD_ERR_LENGTH);
    ckpd_plan_free(other);
    /* a poor start changes nothing for a real backend */
    ck_assert_int_eq(
        ckpd_problem_resolve(&again, d.problem, CKPD_SCENARIO_S4, NULL, ckpd_solution_plan(s)),
        CKPD_OK);
    ck_assert_double_eq(ckpd_solution_cost(again), 200);
    ckpd_solution_free(again);
    ckpd_solution_free(s);
    ckpd_solve_options_free(options);
    day_free(&d);
}
END_TEST

static int32_t stop_at_once(const ckpd_progress *progress, void *user)
{
    (void)progress;
    ++*(int32_t *)user;
    return 1;
}

START_TEST(options_are_fields)
{
    day d = day_with_job();
    ckpd_solve_options *options = NULL;
    double value = 0;
    ckpd_field_info info = {.size = sizeof info};
    char long_name[80];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    ck_assert_int_eq(ckpd_solve_options_new(&options, d.context), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_get(options, "relative_gap", &value), CKPD_OK);
    ck_assert_double_eq(value, 1e-6);
    ck_assert_int_eq(ckpd_solve_options_get(options, "time_limit_s", &value), CKPD_OK);
    ck_assert(isinf(value));
    ck_assert_int_eq(ckpd_solve_options_set(options, "time_limit_s", (double)INFINITY), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_set(options, "time_limit_s", -1), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_solve_options_set(options, "relative_gap", (double)NAN),
                     CKPD_ERR_NOT_FINITE);
    ck_assert_int_eq(ckpd_solve_options_set(options, "threads", 1.5), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_solve_options_set(options, "mip_gap", 0), CKPD_ERR_UNKNOWN_NAME);
    ck_assert_int_eq(ckpd_solve_options_set_backend(options, long_name), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_solve_options_field_info(0, &info), CKPD_OK);
    ck_assert_str_eq(info.name, "relative_gap");
    ck_assert_int_eq(ckpd_solve_options_field_info(ckpd_solve_options_field_count(), &info),
                     CKPD_ERR_RANGE);
    /* a requested cancel token ends the solve; nothing is infeasible because of it */
    ckpd_cancel *cancel = NULL;
    ckpd_solution *s = NULL;
    int32_t asked = 0;
    ck_assert_int_eq(ckpd_cancel_new(&cancel, d.context), CKPD_OK);
    ckpd_cancel_request(cancel);
    ck_assert_int_eq(ckpd_solve_options_set_cancel(options, cancel), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_set_progress(options, stop_at_once, &asked), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_solve(&s, d.problem, CKPD_SCENARIO_S4, options), CKPD_OK);
    ck_assert_int_eq(ckpd_solution_outcome(s), CKPD_OUTCOME_CANCELLED);
    ckpd_solution_free(s);
    ckpd_solve_options_free(options);
    ckpd_cancel_free(cancel);
    day_free(&d);
}
END_TEST

/* --- life of a problem ------------------------------------------------------------------------ */

START_TEST(problems_change_and_solve_again)
{
    day d = day_with_job();
    const double other[4] = {60, 20, 60, 30};
    day_expect(&d, CKPD_SCENARIO_S4, 200);
    ck_assert_int_eq(ckpd_site_set_series(d.site, "import_price_per_mwh", other, 4), CKPD_OK);
    day_expect(&d, CKPD_SCENARIO_S4, 200); /* the problem has its own copy */
    day_set(&d, "base_it_kw", 1000);
    ck_assert_int_eq(ckpd_problem_set_site(d.problem, d.site), CKPD_OK);
    day_expect(&d, CKPD_SCENARIO_S4, 200 + 170);
    ck_assert_int_eq(ckpd_problem_set_segments(d.problem, -1, 2), CKPD_OK);
    /* two segments of half an hour each occupy a slot: 200 + 300, or both in one slot: 200 */
    day_expect(&d, CKPD_SCENARIO_S4, 200 + 170);
    ck_assert_int_eq(ckpd_graph_segments(ckpd_problem_job_graph(d.problem, 0)), 2);
    ck_assert_int_eq(ckpd_problem_set_segments(d.problem, 1, 2), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_problem_set_segments(d.problem, 0, 0), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_problem_set_gpu_cap(d.problem, -1), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_problem_set_gpu_cap(d.problem, (double)NAN), CKPD_ERR_NOT_FINITE);
    ck_assert_str_eq(ckpd_problem_job_name(d.problem, 0), "job");
    ck_assert_ptr_null(ckpd_problem_job_name(d.problem, 1));
    ck_assert_int_eq(ckpd_problem_job_count(d.problem), 1);
    day_free(&d);
}
END_TEST

START_TEST(bad_problems_are_refused)
{
    day d = day_with_job();
    const day_job twin = {.name = "job", .segments = 1, .modes = 1, .mode = one_mode};
    ck_assert_int_eq(day_add_job(&d, &twin, NULL), CKPD_ERR_DUPLICATE);
    ck_assert_ptr_nonnull(strstr(ckpd_context_last_message(d.context), "'job'"));
    const day_job late = {
        .name = "late", .segments = 1, .modes = 1, .mode = one_mode, .deadline = 5};
    ck_assert_int_eq(day_add_job(&d, &late, NULL), CKPD_ERR_RANGE);
    ckpd_site *other = NULL;
    ckpd_problem *problem = NULL;
    ck_assert_int_eq(ckpd_site_new(&other, d.context, 5, 1), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_new(&problem, d.context, other), CKPD_ERR_MISSING);
    ck_assert_ptr_nonnull(
        strstr(ckpd_context_last_message(d.context), "import_price_per_mwh is missing"));
    ck_assert_int_eq(ckpd_site_set_constant(other, "import_price_per_mwh", 1), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_new(&problem, d.context, other), CKPD_ERR_MISSING);
    ck_assert_int_eq(ckpd_site_set_constant(other, "gpu_cap", 1), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_set_site(d.problem, other), CKPD_ERR_INCONSISTENT);
    ck_assert_int_eq(ckpd_problem_new(&problem, d.context, other), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_add_job(problem, ckpd_problem_job_graph(d.problem, 0)),
                     CKPD_ERR_INCONSISTENT);
    ckpd_problem_free(problem);
    ckpd_problem_free(NULL);
    ckpd_site_free(other);
    ck_assert_int_eq(ckpd_problem_new(&problem, d.context, NULL), CKPD_ERR_ARGUMENT);
    /* a job that has begun keeps its segments */
    const day_job begun = {
        .name = "begun", .segments = 2, .modes = 1, .mode = one_mode, .start_segments = 1};
    ck_assert_int_eq(day_add_job(&d, &begun, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_set_segments(d.problem, -1, 3), CKPD_ERR_STATE);
    ck_assert_int_eq(ckpd_graph_segments(ckpd_problem_job_graph(d.problem, 0)), 1);
    day_expect(&d, CKPD_SCENARIO_S4, 400);
    day_free(&d);
}
END_TEST

START_TEST(handles_may_be_freed_in_any_order)
{
    day d = day_with_job();
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    day_free(&d); /* the context lives on until the solution is freed */
    ck_assert_double_eq(ckpd_solution_cost(s), 200);
    ck_assert_double_eq(day_value(s, "site_load_kw", 0) + day_value(s, "site_load_kw", 2), 10000);
    ckpd_solution_free(s);
    ckpd_solution_free(NULL);
    ckpd_report_free(NULL);
    ck_assert_int_eq(ckpd_solution_outcome(NULL), CKPD_OUTCOME_NONE);
}
END_TEST

START_TEST(smallest_problems)
{
    const double one[1] = {50};
    day d = day_new(1, 1, one, 2); /* no job, one slot */
    for (int32_t scenario = CKPD_SCENARIO_S1; scenario <= CKPD_SCENARIO_S4; scenario++) {
        day_expect(&d, scenario, 100);
    }
    const day_job job = {.name = "job", .segments = 1, .modes = 1, .mode = one_mode};
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    for (int32_t scenario = CKPD_SCENARIO_S1; scenario <= CKPD_SCENARIO_S4; scenario++) {
        day_expect(&d, scenario, 600);
    }
    day_free(&d);
    /* nothing at all: cost 0, gap 0/0 = 0 */
    d = day_new(1, 1, one, 0);
    day_expect(&d, CKPD_SCENARIO_S4, 0);
    ckpd_solution *s = day_solve(&d, CKPD_SCENARIO_S4, NULL);
    ck_assert_double_eq(ckpd_solution_relative_gap(s), 0);
    ck_assert_double_eq(day_figure(s, "green_share"), 0);
    ckpd_solution_free(s);
    day_free(&d);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_claimed_optimum_is_no_proof,
        d46_a_stopped_solve_keeps_plan_bound_and_gap,
        d48_stopped_is_not_infeasible,
        d51_wrong_plans_are_errors,
        a_start_plan_reaches_the_backend,
        options_are_fields,
        problems_change_and_solve_again,
        bad_problems_are_refused,
        handles_may_be_freed_in_any_order,
        smallest_problems,
        NULL,
    };
    return test_run(test_suite("solve", tests));
}
