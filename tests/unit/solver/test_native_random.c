/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The native solver against brute force over every combination of paths, on random small views with
 * every feature, and its certificates against the checker.
 */
#include "solver/native/certificate.h"
#include "solver/native/native.h"
#include "support/instance.h"
#include "support/native_run.h"
#include "support/random_view.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t FEATURES[] = {
    0,
    RANDOM_NONCONVEX,
    RANDOM_TRANSITIONS,
    RANDOM_EDGE_COST,
    RANDOM_PRORATED,
    RANDOM_TIGHT,
    RANDOM_RUNNING,
    RANDOM_CLOSED,
    RANDOM_NONCONVEX | RANDOM_PRORATED | RANDOM_EDGE_COST,
    RANDOM_TRANSITIONS | RANDOM_EDGE_COST | RANDOM_TIGHT | RANDOM_RUNNING | RANDOM_CLOSED |
        RANDOM_PRORATED,
};
enum { FEATURE_SETS = sizeof FEATURES / sizeof *FEATURES };

static void compare(uint64_t seed, const random_shape *shape)
{
    case_view view;
    random_view_make(&view, seed, shape);
    ckpd_path_result result = {.size = sizeof result};
    result.plan = case_view_plan(&view);
    native_run run = native_run_default(ckpd__native_solve_paths);
    run.params.relative_gap = 0;
    ck_assert_int_eq(native_run_solve(&run, &view.view, &result), CKPD_OK);
    ck_assert_int_eq(run.held, 0);
    double expected = random_view_brute_force(&view.view);
    if (isfinite(expected)) {
        ck_assert_msg(result.outcome == CKPD_OUTCOME_OPTIMAL, "seed %d features %u: outcome %d",
                      (int)seed, (unsigned)shape->features, (int)result.outcome);
        ck_assert_double_eq_tol(result.objective, expected, 1e-7 * (1 + fabs(expected)));
        ck_assert_double_le(result.bound, expected + 1e-7 * (1 + fabs(expected)));
    } else {
        ck_assert_msg(result.outcome == CKPD_OUTCOME_INFEASIBLE, "seed %d features %u: outcome %d",
                      (int)seed, (unsigned)shape->features, (int)result.outcome);
        ck_assert_int_eq(result.has_plan, 0);
    }
    case_view_free(&view);
}

START_TEST(one_to_three_jobs)
{
    uint64_t seeds = test_fast() ? 3 : 15;
    for (int32_t jobs = 1; jobs <= 3; jobs++)
        for (size_t f = 0; f < FEATURE_SETS; f++)
            for (uint64_t seed = 0; seed < seeds; seed++)
                compare(1000 * (uint64_t)jobs + seed,
                        &(random_shape){jobs, jobs == 3 ? 5 : 6, 3, 2, FEATURES[f]});
}
END_TEST

START_TEST(four_jobs)
{
    for (uint64_t seed = 0; seed < (test_fast() ? 3 : 25); seed++)
        compare(seed, &(random_shape){4, 5, 2, 2, seed % 2 ? RANDOM_TIGHT : 0});
}
END_TEST

/* From seven jobs on, prices per slot come first: whatever the jobs and slots are like. */
START_TEST(seven_jobs)
{
    for (size_t f = 0; f < FEATURE_SETS; f++)
        for (uint64_t seed = 0; seed < (test_fast() ? 1 : 2); seed++)
            compare(700 + seed, &(random_shape){7, 3, 1, 2, FEATURES[f]});
}
END_TEST

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
static int32_t never(void *user)
{
    (void)user;
    return 0;
}
static void unheard(double plan, double bound, int64_t iterations, int64_t nodes, void *user)
{
    (void)plan;
    (void)bound;
    (void)iterations;
    (void)nodes;
    (void)user;
}

/* What the checker proves must reach what the solver claims; `result` has room for a plan. */
static void certify_view(const ckpd_path_view *view, double gap, ckpd_path_result *result)
{
    const ckpd_host host = {.size = sizeof host,
                            .allocate = take,
                            .release = give,
                            .should_stop = never,
                            .report = unheard};
    native_run run = native_run_default(ckpd__native_solve_paths);
    nat_certificate certificate;
    double bound = (double)NAN;
    run.params.relative_gap = gap;
    ck_assert_int_eq(ckpd__native_solve_certified(&host, view, &run.params, result, &certificate),
                     CKPD_OK);
    ck_assert_int_eq(ckpd__nat_certificate_check(&host, view, &certificate, &bound), CKPD_OK);
    ck_assert_msg(bound >= result->bound ||
                      bound >= result->bound - 1e-8 * (1 + fabs(result->bound)),
                  "proven %.12g of %.12g, plan %.12g", bound, result->bound, result->objective);
    /* The checker must notice a claim that the prices do not support. */
    certificate.cutoff =
        result->has_plan ? result->objective + 1e-5 * (1 + fabs(result->objective)) : result->bound;
    ck_assert_int_eq(ckpd__nat_certificate_check(&host, view, &certificate, &bound), CKPD_OK);
    if (result->has_plan)
        ck_assert_double_le(bound, result->objective + 1e-8 * (1 + fabs(result->objective)));
    ckpd__nat_certificate_free(&certificate);
}

static void certify(case_view *view, double gap)
{
    ckpd_path_result result = {.size = sizeof result, .plan = case_view_plan(view)};
    certify_view(&view->view, gap, &result);
    case_view_free(view);
}

START_TEST(certificates_of_random_views)
{
    for (size_t f = 0; f < FEATURE_SETS; f++)
        for (uint64_t seed = 0; seed < (test_fast() ? 3 : 20); seed++) {
            case_view view;
            random_view_make(&view, seed, &(random_shape){3, 5, 3, 2, FEATURES[f]});
            certify(&view, 1e-6);
        }
}
END_TEST

/*
 * With every kind of storage: lossy and free of charge beside negative worths (its use is not
 * convex then), a floor that rises under it, an end that costs where it is missed.
 */
START_TEST(certificates_with_storage)
{
    static const uint32_t more[] = {0,
                                    RANDOM_NONCONVEX,
                                    RANDOM_RECOVERY,
                                    RANDOM_RECOVERY | RANDOM_NONCONVEX,
                                    RANDOM_TIGHT,
                                    RANDOM_TRANSITIONS | RANDOM_EDGE_COST | RANDOM_TIGHT |
                                        RANDOM_RUNNING | RANDOM_CLOSED | RANDOM_PRORATED,
                                    RANDOM_NONCONVEX | RANDOM_RECOVERY | RANDOM_TIGHT |
                                        RANDOM_EDGE_COST | RANDOM_PRORATED};
    for (size_t f = 0; f < sizeof more / sizeof *more; f++)
        for (uint64_t seed = 0; seed < (test_fast() ? 4 : 40); seed++) {
            case_view view;
            random_view_make(&view, seed, &(random_shape){2, 6, 3, 2, RANDOM_STORAGE | more[f]});
            certify(&view, seed % 2 ? 0 : 1e-6);
        }
}
END_TEST

START_TEST(certificates_of_slotwise_jobs)
{
    static const instance_features kinds[] = {
        {.jobs = 1, .slots = 7, .segments = 3, .modes = 3, .slotwise = 2},
        {.jobs = 2, .slots = 6, .segments = 2, .modes = 3, .slotwise = 2, .caps = 1, .fixed = 1},
        {.jobs = 2, .slots = 5, .segments = 2, .modes = 2, .slotwise = 2, .nonconvex = 1},
        {.jobs = 3, .slots = 6, .segments = 2, .modes = 3, .slotwise = 2, .caps = 1}};
    int plans = 0, none = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (uint64_t seed = 1; seed <= (test_fast() ? 5 : 50); seed++) {
            instance *made = instance_random(seed, &kinds[k]);
            instance_result found;
            instance_result_init(&found, &made->view);
            certify_view(&made->view, seed % 2 ? 0 : 1e-6, &found.result);
            plans += found.result.has_plan;
            none += found.result.outcome == CKPD_OUTCOME_INFEASIBLE;
            instance_result_free(&found);
            instance_free(made);
        }
    ck_assert_int_gt(plans, none);
}
END_TEST

/* Scenario S3 of the golden day. */
START_TEST(certificate_of_the_slotwise_day)
{
    case_view view;
    const char *path = test_shared_path("cases/aidc2048-golden.json");
    if (!path)
        return;
    ck_assert(case_view_read(&view, path, &(case_options){.slotwise = 1}));
    certify(&view, 1e-6);
}
END_TEST

START_TEST(certificates_of_the_golden_day)
{
    static const char *const names[] = {"cases/aidc2048-golden.json", "cases/aidc2048-steep.json",
                                        "cases/scale/j4-a.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int32_t storage = 0; storage < 2; storage++) {
            case_view view;
            const char *path = test_shared_path(names[i]);
            if (!path)
                return;
            ck_assert(case_view_read(&view, path, &(case_options){.storage = storage}));
            certify(&view, 1e-6);
        }
}
END_TEST

/* More jobs than can be combined slot by slot. Most of the time goes into the checker, by jobs,
 * slots and edges: short runs take a smaller view. */
START_TEST(certificate_of_many_jobs)
{
    const ckpd_host host = {.size = sizeof host, .allocate = take, .release = give};
    for (int32_t storage = 0; storage < 2; storage++) {
        case_view view;
        const char *path = test_fast() ? NULL : test_shared_path("cases/scale/j20.json");
        if (path != NULL)
            ck_assert(case_view_read(&view, path, &(case_options){.storage = storage}));
        else
            random_view_make(
                &view, 5,
                &(random_shape){14, 8, 2, 3, RANDOM_LARGE | (storage ? RANDOM_STORAGE : 0u)});
        native_run run = native_run_default(ckpd__native_solve_paths);
        run.params.iteration_limit = 15;
        ckpd_path_result result = {.size = sizeof result};
        nat_certificate certificate;
        double bound = (double)NAN;
        result.plan = case_view_plan(&view);
        ck_assert_int_eq(
            ckpd__native_solve_certified(&host, &view.view, &run.params, &result, &certificate),
            CKPD_OK);
        ck_assert_int_eq(certificate.many, 1);
        ck_assert_int_eq(ckpd__nat_certificate_check(&host, &view.view, &certificate, &bound),
                         CKPD_OK);
        ck_assert_double_ge(bound, result.bound - 1e-7 * (1 + fabs(result.bound)));
        ckpd__nat_certificate_free(&certificate);
        case_view_free(&view);
    }
}
END_TEST

/* More combinations than can be tried one by one: the checker goes by totals of GPUs. */
START_TEST(certificate_by_totals)
{
    const ckpd_host host = {.size = sizeof host, .allocate = take, .release = give};
    for (int32_t storage = 0; storage < 2; storage++) {
        case_view view;
        const char *path = test_shared_path("cases/scale/j8.json");
        if (!path)
            return;
        ck_assert(case_view_read(&view, path, &(case_options){.storage = storage}));
        native_run run = native_run_default(ckpd__native_solve_paths);
        run.params.relative_gap = 0.02;
        run.params.node_limit = 1;
        ckpd_path_result result = {.size = sizeof result};
        nat_certificate certificate;
        double bound = (double)NAN;
        result.plan = case_view_plan(&view);
        ck_assert_int_eq(
            ckpd__native_solve_certified(&host, &view.view, &run.params, &result, &certificate),
            CKPD_OK);
        ck_assert_int_eq(certificate.many, 0);
        ck_assert_int_eq(ckpd__nat_certificate_check(&host, &view.view, &certificate, &bound),
                         CKPD_OK);
        ck_assert_double_ge(bound, result.bound - 1e-7 * (1 + fabs(result.bound)));
        /* A claim beyond the plan cannot be proven. */
        certificate.cutoff = result.objective + 1;
        ck_assert_int_eq(ckpd__nat_certificate_check(&host, &view.view, &certificate, &bound),
                         CKPD_OK);
        ck_assert_double_le(bound, result.objective);
        ckpd__nat_certificate_free(&certificate);
        case_view_free(&view);
    }
}
END_TEST

/* A bundle per job meets a small gap in far fewer evaluations than steps along slopes, which took
 * 290 here. */
START_TEST(many_jobs_take_few_evaluations)
{
    case_view view;
    const char *path = test_shared_path("cases/scale/j100.json");
    if (!path || test_fast())
        return;
    ck_assert(case_view_read(&view, path, &(case_options){0}));
    ckpd_path_result result = {.size = sizeof result};
    result.plan = case_view_plan(&view);
    native_run run = native_run_default(ckpd__native_solve_paths);
    run.params.relative_gap = 5e-3;
    ck_assert_int_eq(native_run_solve(&run, &view.view, &result), CKPD_OK);
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_OPTIMAL);
    ck_assert_int_le(result.iterations, 100);
    case_view_free(&view);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {one_to_three_jobs,
                                  four_jobs,
                                  certificates_of_random_views,
                                  certificates_with_storage,
                                  certificates_of_slotwise_jobs,
                                  certificate_of_the_slotwise_day,
                                  certificates_of_the_golden_day,
                                  certificate_of_many_jobs,
                                  certificate_by_totals,
                                  many_jobs_take_few_evaluations,
                                  seven_jobs,
                                  NULL};
    return test_run(test_suite("native random", tests));
}
