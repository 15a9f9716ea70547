/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The bound by windows of two slots, on random days against brute force, and the search with it
 * against GLPK and the checker.
 */
#include "solver/native/dual.h"
#include "solver/native/native.h"
#include "solver/native/window.h"
#include "solver/solver.h"
#include "support/native_run.h"
#include "support/random_view.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *take(size_t bytes, void *user)
{
    (void)user;
    return malloc(bytes);
}

static void give(void *block, void *user)
{
    (void)user;
    free(block);
}

static const ckpd_host host = {.size = sizeof host, .allocate = take, .release = give};

/* A day of the mathematics below, and the price of what is said of it. */
typedef struct bench {
    case_view day;
    nat_memory memory;
    nat_model model;
    nat_stack stack;
    nat_dual dual;
    nat_window window;
} bench;

/* False when windows do not know the day. */
static bool set_up(bench *b, uint64_t seed, bool waits)
{
    bool exact;
    memset(b, 0, sizeof *b);
    b->memory.host = &host;
    random_day_make(&b->day, seed, &(random_shape){3, 6, 2, 3, 0});
    for (int32_t j = 0; j < b->day.view.jobs && !waits; j++)
        ((ckpd_path_job *)(uintptr_t)b->day.view.job[j])->may_wait = 0;
    ck_assert_int_eq(ckpd__nat_model_build(&b->model, &b->memory, &b->day.view), CKPD_OK);
    ck_assert_int_eq(ckpd__nat_stack_build(&b->stack, &b->memory, &b->model, 100000, &exact),
                     CKPD_OK);
    if (!exact || !ckpd__nat_window_fits(&b->model, &b->stack))
        return false;
    ck_assert_int_eq(ckpd__nat_dual_init(&b->dual, &b->memory, &b->model, &b->stack), CKPD_OK);
    ck_assert(ckpd__nat_window_init(&b->window, &b->memory, &b->model, &b->stack));
    return true;
}

static void tear_down(bench *b)
{
    ckpd__nat_dual_free(&b->dual);
    ckpd__nat_release(&b->memory);
    case_view_free(&b->day);
}

/* Prices of activities around what their power costs, changed a little by the seed. */
static void draw_prices(bench *b, uint64_t seed)
{
    uint64_t state = seed * 2654435761u + 1;
    for (int32_t j = 0; j < b->model.jobs; j++)
        for (int32_t a = 0; a < b->model.job[j].activities; a++)
            for (int32_t t = 0; t < b->model.slots; t++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                double any = (double)(state >> 40) / 16777216.0;
                b->dual.price[b->dual.layout.job[j] + (size_t)(a * b->model.slots + t)] =
                    b->model.job[j].kw[a] * (0.02 + 0.08 * any) * b->day.view.slot_hours;
            }
}

/* Some rounds of the bundle from the prices of activities; the best bound. */
static double climb(bench *b)
{
    enum { ROUNDS = 40, STRANDS = 20 };
    int32_t stop = 0;
    nat_window *window = &b->window;
    nat_weave weave;
    uint8_t *none = ckpd__nat_alloc(&b->memory, b->dual.layout.size, 1);
    double *best_price = ckpd__nat_alloc(&b->memory, window->layout.size, sizeof *best_price);
    double best = -(double)INFINITY;
    ck_assert(none && best_price &&
              ckpd__nat_weave_init(&weave, &b->memory, &window->answer, STRANDS));
    ckpd__nat_window_take(window, &b->dual.layout, b->dual.price, none);
    for (int round = 0; round < ROUNDS; round++) {
        double value = ckpd__nat_window_evaluate(window, &host, &stop);
        if (value > best) {
            best = value;
            memcpy(best_price, window->price, window->layout.size * sizeof *best_price);
        }
        ckpd__nat_weave_add(&weave, 0.05 * fabs(value));
        ckpd__nat_weave_next(&weave, window->price);
    }
    memcpy(window->price, best_price, window->layout.size * sizeof *best_price);
    return best;
}

/*
 * At the prices of activities the bound is that of activities; from there it only rises, and not
 * beyond what brute force finds. A plan of that cost lies no further above the bound than the
 * excess of any of its changes says.
 */
START_TEST(between_activities_and_brute_force)
{
    int days = 0, risen = 0, fixed = 0;
    for (uint64_t seed = 1; days < (test_fast() ? 40 : 250); seed++) {
        bench b;
        int32_t stop = 0;
        double least = set_up(&b, seed, seed % 4 != 0) ? random_view_brute_force(&b.day.view)
                                                       : (double)INFINITY;
        if (!(least < (double)INFINITY)) {
            tear_down(&b);
            continue;
        }
        draw_prices(&b, seed);
        double plain = ckpd__nat_dual_evaluate(&b.dual, NULL), scale = 1 + fabs(least);
        double wide = climb(&b), value = ckpd__nat_window_evaluate(&b.window, &host, &stop);
        ck_assert_msg(wide >= plain - 1e-9 * scale, "seed %d: %.12g below %.12g", (int)seed, wide,
                      plain);
        ck_assert_msg(wide <= least + 1e-9 * scale, "seed %d: bound %.12g of %.12g", (int)seed,
                      wide, least);
        ck_assert_double_eq_tol(value, wide, 1e-9 * scale);
        ck_assert(ckpd__nat_window_excess(&b.window, &host, &stop));
        ckpd_path_result result = {.size = sizeof result, .plan = case_view_plan(&b.day)};
        native_run run = native_run_default(ckpd__native_solve_paths);
        run.params.relative_gap = 0;
        ck_assert_int_eq(native_run_solve(&run, &b.day.view, &result), CKPD_OK);
        ck_assert_double_eq_tol(result.objective, least, 1e-9 * scale);
        for (int32_t j = 0; j < b.model.jobs; j++) {
            const nat_job *job = &b.model.job[j];
            int32_t T = b.model.slots, activity[16] = {0};
            for (int32_t i = 0; i < result.plan->step_count[j]; i++) {
                int32_t move = result.plan->step_move[j * T + i],
                        t = result.plan->step_slot[j * T + i], m = job->in->move_mode[move];
                for (int32_t n = 0; n < job->in->move_slots[move]; n++)
                    activity[t + n] =
                        ckpd__nat_activity(job, job->in->mode_gpus[m], job->in->mode_power_kw[m]);
            }
            for (int32_t t = 0; t + 1 < T; t++) {
                size_t at =
                    b.window.layout.job[j] +
                    (size_t)((activity[t] * job->activities + activity[t + 1]) * (T - 1) + t);
                ck_assert_msg(value + b.window.excess[at] <= least + 1e-9 * scale,
                              "seed %d, job %d, slot %d: excess %.12g", (int)seed, j, t,
                              b.window.excess[at]);
            }
        }
        for (size_t i = 0; i < b.window.layout.size; i++)
            fixed += value + b.window.excess[i] > least + 1e-9 * scale;
        risen += wide > plain + 1e-6 * scale;
        days++;
        tear_down(&b);
    }
    printf("windows: bound risen on %d of %d days, %d changes beyond the optimum\n", risen, days,
           fixed);
    ck_assert_int_gt(risen, days / 2);
    ck_assert_int_gt(fixed, days);
}
END_TEST

/* Few slots of many totals are little work, but their tables would take hundreds of megabytes. */
START_TEST(large_tables_are_left_to_activities)
{
    enum { TOTALS = 1200 };
    bench b;
    ck_assert(set_up(&b, 1, true));
    double changes = 0;
    for (int32_t j = 0; j < b.model.jobs; j++)
        changes += (double)b.model.job[j].activities * b.model.job[j].activities;
    ck_assert_double_le(changes * TOTALS * TOTALS * b.model.slots, 5e8); /* not too much work */
    b.stack.levels[b.stack.jobs] = TOTALS;
    ck_assert(!ckpd__nat_window_fits(&b.model, &b.stack));
    tear_down(&b);
}
END_TEST

/* --- the search
 * ----------------------------------------------------------------------------------------- */

static const ckpd_solve_params params = {.size = sizeof params,
                                         .time_limit_s = (double)INFINITY,
                                         .relative_gap = 0,
                                         .node_limit = -1,
                                         .iteration_limit = -1,
                                         .threads = 1,
                                         .presolve = 1};

/* The checker proves the claim, and no more than the plan where the claim is raised. */
static bool check(const ckpd_path_view *view, nat_certificate *proof,
                  const ckpd_path_result *result)
{
    double bound = (double)NAN, wanted = result->bound, scale = 1 + fabs(result->objective);
    ck_assert_int_eq(ckpd__nat_certificate_check(&host, view, proof, &bound), CKPD_OK);
    ck_assert_msg(bound >= wanted || bound >= wanted - 1e-8 * scale, "proven %.12g of %.12g", bound,
                  wanted);
    bool wide = proof->windows;
    if (result->has_plan) {
        proof->cutoff = result->objective + 1e-5 * scale;
        ck_assert_int_eq(ckpd__nat_certificate_check(&host, view, proof, &bound), CKPD_OK);
        ck_assert_double_le(bound, result->objective + 1e-8 * scale);
    }
    ckpd__nat_certificate_free(proof);
    return wide;
}

START_TEST(certificates)
{
    int wide = 0;
    for (uint64_t seed = 1; seed <= (test_fast() ? 6 : 40); seed++) {
        case_view day;
        nat_certificate proof;
        random_day_make(&day, seed, &(random_shape){7 + (int32_t)(seed % 2), 10, 3, 3, 0});
        ckpd_path_result result = {.size = sizeof result, .plan = case_view_plan(&day)};
        ckpd_solve_params own = params;
        own.relative_gap = seed % 3 ? 0 : 1e-3;
        ck_assert_int_eq(ckpd__native_solve_certified(&host, &day.view, &own, &result, &proof),
                         CKPD_OK);
        ck_assert(result.outcome == CKPD_OUTCOME_OPTIMAL ||
                  result.outcome == CKPD_OUTCOME_INFEASIBLE);
        wide += check(&day.view, &proof, &result);
        case_view_free(&day);
    }
    printf("windows: %d certificates with prices of changes\n", wide);
    ck_assert_int_gt(wide, 2);
}
END_TEST

START_TEST(as_glpk)
{
#ifdef CKPD_HAVE_GLPK
    ckpd_context *context = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    for (uint64_t seed = 1; seed <= (test_fast() ? 4 : 20); seed++) {
        case_view day;
        random_day_make(&day, seed, &(random_shape){7, 8, 2, 2, 0});
        ckpd_path_result mine = {.size = sizeof mine, .plan = case_view_plan(&day)},
                         other = {.size = sizeof other, .plan = case_view_plan(&day)};
        ckpd_solve_params tight = params;
        tight.relative_gap = 1e-9;
        ck_assert_int_eq(ckpd__native_solve_paths(&host, &day.view, &params, &mine, NULL), CKPD_OK);
        ck_assert_int_eq(ckpd_path_solve(context, "glpk", &day.view, &tight, NULL, &other),
                         CKPD_OK);
        ck_assert_int_eq(mine.outcome, other.outcome);
        if (mine.has_plan)
            ck_assert_double_eq_tol(mine.objective, other.objective,
                                    1e-7 * (1 + fabs(other.objective)));
        case_view_free(&day);
    }
    ckpd_context_free(context);
#else
    test_skip("this build has no GLPK");
#endif
}
END_TEST

/* A day on which windows are needed; its seed is one of those above. */
static void make_wide_day(case_view *day)
{
    random_day_make(day, 5, &(random_shape){8, 10, 3, 3, 0});
}

/* Out of memory: an error and nothing held, wherever it happens. */
START_TEST(memory_runs_out)
{
    case_view day;
    make_wide_day(&day);
    ckpd_path_result result = {.size = sizeof result, .plan = case_view_plan(&day)};
    native_run whole = native_run_default(ckpd__native_solve_paths);
    whole.params.node_limit = 3;
    ck_assert_int_eq(native_run_solve(&whole, &day.view, &result), CKPD_OK);
    for (int64_t n = whole.allocations - 1; n >= 0; n -= 1 + whole.allocations / 60) {
        native_run run = whole;
        run.fail_after = n;
        ck_assert_int_eq(native_run_solve(&run, &day.view, &result), CKPD_ERR_NO_MEMORY);
        ck_assert_int_eq(run.held, 0);
    }
    case_view_free(&day);
}
END_TEST

/* Limits leave a plan and a bound below it; the same limit and any threads give the same bits. */
START_TEST(limits)
{
    case_view day;
    make_wide_day(&day);
    ckpd_path_result first = {.size = sizeof first, .plan = case_view_plan(&day)},
                     again = {.size = sizeof again, .plan = case_view_plan(&day)};
    native_run whole = native_run_default(ckpd__native_solve_paths);
    ck_assert_int_eq(native_run_solve(&whole, &day.view, &first), CKPD_OK);
    int64_t most = first.iterations;
    double optimum = first.objective;
    for (int64_t limit = 1; limit < most; limit += 1 + most / 12) {
        native_run run = native_run_default(ckpd__native_solve_paths);
        run.params.iteration_limit = limit;
        ck_assert_int_eq(native_run_solve(&run, &day.view, &first), CKPD_OK);
        ck_assert_double_le(first.bound, optimum * (1 + 1e-9));
        if (first.has_plan)
            ck_assert_double_ge(first.objective, optimum * (1 - 1e-6));
        run.params.threads = 3;
        ck_assert_int_eq(native_run_solve(&run, &day.view, &again), CKPD_OK);
        ck_assert(memcmp(&first.bound, &again.bound, sizeof first.bound) == 0);
        ck_assert(memcmp(&first.objective, &again.objective, sizeof first.bound) == 0);
        ck_assert_int_eq(first.nodes, again.nodes);
        nat_certificate proof;
        run.params.threads = 1;
        ck_assert_int_eq(
            ckpd__native_solve_certified(&host, &day.view, &run.params, &again, &proof), CKPD_OK);
        if (proof.nodes > 0)
            check(&day.view, &proof, &again);
        else
            ckpd__nat_certificate_free(&proof);
    }
    case_view_free(&day);
}
END_TEST

/* The day of eight jobs, ended in its second stage: the bound of the first one, whose aim follows a
 * bound that rose in between, is proven. */
START_TEST(stage_of_a_large_day)
{
    case_view day;
    nat_certificate proof;
    const char *path = test_long() ? test_shared_path("cases/scale/j8.json") : NULL;
    if (!path) /* half a minute: in make check-long alone */
        return;
    ck_assert(case_view_read(&day, path, &(case_options){0}));
    ckpd_path_result result = {.size = sizeof result, .plan = case_view_plan(&day)};
    ckpd_solve_params own = params;
    own.relative_gap = 1e-6;
    own.node_limit = 33;
    ck_assert_int_eq(ckpd__native_solve_certified(&host, &day.view, &own, &result, &proof),
                     CKPD_OK);
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_FEASIBLE);
    ck_assert(check(&day.view, &proof, &result));
    case_view_free(&day);
}
END_TEST

/* The second poll ends it. */
static int32_t stop_at_second(void *user)
{
    return ++*(int32_t *)user == 2 ? 2 : 0;
}

/* Part of an evaluation is no bound: of five windows one was added up. */
START_TEST(stopped_within_an_evaluation)
{
    bench b;
    int32_t polls = 0, stop = 0;
    ckpd_host ending = host;
    ending.should_stop = stop_at_second;
    ending.user = &polls;
    ck_assert(set_up(&b, 1, true));
    draw_prices(&b, 1);
    uint8_t *none = ckpd__nat_alloc(&b.memory, b.dual.layout.size, 1);
    ckpd__nat_window_take(&b.window, &b.dual.layout, b.dual.price, none);
    ck_assert(ckpd__nat_window_evaluate(&b.window, &ending, &stop) <= -(double)INFINITY);
    ck_assert_int_eq(stop, 2);
    ck_assert_int_eq(polls, 2);
    tear_down(&b);
}
END_TEST

/* Wherever the host ends a search with windows, what it says holds. */
START_TEST(cancelled_anywhere)
{
    case_view day;
    make_wide_day(&day);
    ckpd_path_result result = {.size = sizeof result, .plan = case_view_plan(&day)};
    native_run whole = native_run_default(ckpd__native_solve_paths);
    ck_assert_int_eq(native_run_solve(&whole, &day.view, &result), CKPD_OK);
    double optimum = result.objective, scale = fabs(optimum);
    int32_t polls = whole.polls;
    for (int32_t poll = 1; poll < polls; poll += 1 + polls / (test_fast() ? 8 : 40)) {
        native_run run = whole;
        run.cancel_at = poll;
        ck_assert_int_eq(native_run_solve(&run, &day.view, &result), CKPD_OK);
        ck_assert_int_eq(run.held, 0);
        ck_assert_double_le(result.bound, optimum + 1e-9 * scale);
        if (result.has_plan)
            ck_assert_double_ge(result.objective, optimum - 1e-6 * scale);
        if (result.outcome == CKPD_OUTCOME_OPTIMAL)
            ck_assert_double_eq_tol(result.objective, optimum, 1e-6 * scale);
    }
    case_view_free(&day);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {between_activities_and_brute_force,
                                  certificates,
                                  as_glpk,
                                  memory_runs_out,
                                  limits,
                                  stage_of_a_large_day,
                                  stopped_within_an_evaluation,
                                  cancelled_anywhere,
                                  large_tables_are_left_to_activities,
                                  NULL};
    return test_run(test_suite("native windows", tests));
}
