/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Random small path problems: solvers that share nothing must agree on the cost to 1e-7. */
#include "solver/solver.h"
#include "support/instance.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct tally {
    int optimal, infeasible;
} tally;

static ckpd_context *context;

static void solve(const char *backend, uint64_t seed, const instance *made, instance_result *found)
{
    ckpd_solve_params params = {.size = sizeof params,
                                .time_limit_s = INFINITY,
                                .relative_gap = 1e-9,
                                .node_limit = -1,
                                .iteration_limit = -1,
                                .threads = 1,
                                .presolve = 1};
    instance_result_init(found, &made->view);
    int32_t status = ckpd_path_solve(context, backend, &made->view, &params, NULL, &found->result);
    ck_assert_msg(status == CKPD_OK, "seed %d, %s: %s", (int)seed, backend,
                  ckpd_context_last_message(context));
    ck_assert_msg(found->result.outcome == CKPD_OUTCOME_OPTIMAL ||
                      found->result.outcome == CKPD_OUTCOME_INFEASIBLE,
                  "seed %d, %s: outcome %d", (int)seed, backend, found->result.outcome);
}

/* All backends agree on seeds 1..count, and enough of them are feasible for that to mean something.
 */
static void compare(const char *one, const char *other, const instance_features *features,
                    int count)
{
    tally seen = {0, 0};
#ifndef CKPD_HAVE_GLPK
    if (strcmp(one, "glpk") == 0 || strcmp(other, "glpk") == 0) {
        test_skip("this build has no GLPK");
        return;
    }
#endif
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    count = test_fast() ? count / 8 : count;
    for (uint64_t seed = 1; seed <= (uint64_t)count; seed++) {
        instance *made = instance_random(seed, features);
        instance_result a, b;
        solve(one, seed, made, &a);
        solve(other, seed, made, &b);
        ck_assert_msg(a.result.outcome == b.result.outcome, "seed %d: %s says %d, %s says %d",
                      (int)seed, one, a.result.outcome, other, b.result.outcome);
        if (a.result.outcome == CKPD_OUTCOME_OPTIMAL) {
            double x = a.result.objective, y = b.result.objective;
            ck_assert_msg(fabs(x - y) <= 1e-7 * fmax(1, fabs(x)), "seed %d: %s %.12g, %s %.12g",
                          (int)seed, one, x, other, y);
            seen.optimal++;
        } else {
            seen.infeasible++;
        }
        instance_result_free(&a);
        instance_result_free(&b);
        instance_free(made);
    }
    printf("%s = %s: %d optimal, %d infeasible\n", one, other, seen.optimal, seen.infeasible);
    ck_assert_int_gt(seen.optimal, count / 4);
    ckpd_context_free(context);
}

START_TEST(test_plain)
{
    instance_features features = {.jobs = 2, .slots = 6, .segments = 3, .modes = 2};
    compare("enumerate", "glpk", &features, 60);
}
END_TEST

START_TEST(test_caps_and_transitions)
{
    instance_features features = {.jobs = 2,
                                  .slots = 6,
                                  .segments = 3,
                                  .modes = 2,
                                  .caps = 1,
                                  .transitions = 1,
                                  .edge_costs = 1,
                                  .prorated = 1,
                                  .fixed = 1};
    compare("enumerate", "glpk", &features, 80);
}
END_TEST

START_TEST(test_not_convex)
{
    instance_features features = {
        .jobs = 2, .slots = 6, .segments = 3, .modes = 2, .caps = 1, .nonconvex = 1};
    compare("enumerate", "glpk", &features, 60);
}
END_TEST

START_TEST(test_storage)
{
    instance_features features = {
        .jobs = 1, .slots = 6, .segments = 2, .modes = 2, .storage = 1, .caps = 1};
    compare("enumerate", "glpk", &features, 80);
}
END_TEST

START_TEST(test_storage_not_convex)
{
    instance_features features = {.jobs = 2,
                                  .slots = 5,
                                  .segments = 2,
                                  .modes = 2,
                                  .storage = 1,
                                  .caps = 1,
                                  .nonconvex = 1,
                                  .edge_costs = 1,
                                  .fixed = 1,
                                  .transitions = 1,
                                  .prorated = 1};
    compare("enumerate", "glpk", &features, 120);
}
END_TEST

START_TEST(test_slotwise)
{
    instance_features features = {.jobs = 2,
                                  .slots = 5,
                                  .segments = 2,
                                  .modes = 2,
                                  .slotwise = 1,
                                  .caps = 1,
                                  .nonconvex = 1,
                                  .storage = 1};
    compare("enumerate", "glpk", &features, 60);
}
END_TEST

/* The structure-exploiting solver against every plan, one after the other, on everything it covers.
 */
START_TEST(test_native)
{
    instance_features features = {.jobs = 2,
                                  .slots = 5,
                                  .segments = 2,
                                  .modes = 2,
                                  .storage = 1,
                                  .caps = 1,
                                  .nonconvex = 1,
                                  .edge_costs = 1,
                                  .fixed = 1,
                                  .transitions = 1,
                                  .prorated = 1};
    compare("enumerate", "native", &features, 200);
    compare("enumerate", "glpk", &features, 200);
}
END_TEST

/* Slot-wise jobs of the structure layer: every combination in every slot, one after the other. */
START_TEST(test_native_slotwise)
{
    instance_features features = {.jobs = 2,
                                  .slots = 5,
                                  .segments = 2,
                                  .modes = 2,
                                  .slotwise = 2,
                                  .caps = 1,
                                  .nonconvex = 1,
                                  .fixed = 1};
    compare("enumerate", "native", &features, 200);
    features = (instance_features){.jobs = 1, .slots = 7, .segments = 3, .modes = 3, .slotwise = 2};
    compare("enumerate", "native", &features, 100);
    features = (instance_features){
        .jobs = 3, .slots = 6, .segments = 2, .modes = 3, .slotwise = 2, .caps = 1};
    compare("native", "glpk", &features, 60);
}
END_TEST

/* Nothing but the GPU cap tells the modes of a slot apart. */
START_TEST(test_native_equal_power)
{
    instance_features features = {
        .jobs = 2, .slots = 6, .segments = 3, .modes = 3, .caps = 1, .equal_power = 1};
    compare("enumerate", "native", &features, 200);
}
END_TEST

START_TEST(test_native_three_jobs)
{
    instance_features features = {.jobs = 3, .slots = 5, .segments = 2, .modes = 2, .caps = 1};
    compare("native", "glpk", &features, 60);
}
END_TEST

/* A floor that rises under the storage, and an end that may be missed at a price. */
START_TEST(test_floor_and_soft_end)
{
    instance_features features = {.jobs = 2,
                                  .slots = 5,
                                  .segments = 2,
                                  .modes = 2,
                                  .storage = 1,
                                  .recovery = 1,
                                  .caps = 1,
                                  .edge_costs = 1};
    compare("enumerate", "native", &features, 120);
    compare("enumerate", "glpk", &features, 80);
    features.recovery = 0;
    features.soft_end = 1;
    features.nonconvex = 1;
    compare("enumerate", "native", &features, 120);
    compare("enumerate", "glpk", &features, 80);
    features.recovery = 1;
    compare("enumerate", "native", &features, 60);
}
END_TEST

/* Caps that may be passed at a price. */
START_TEST(test_soft_caps)
{
    instance_features features = {.jobs = 2,
                                  .slots = 5,
                                  .segments = 2,
                                  .modes = 2,
                                  .soft_caps = 1,
                                  .transitions = 1,
                                  .edge_costs = 1,
                                  .prorated = 1,
                                  .fixed = 1};
    compare("enumerate", "native", &features, 200);
    compare("enumerate", "glpk", &features, 100);
    features = (instance_features){.jobs = 2,
                                   .slots = 5,
                                   .segments = 2,
                                   .modes = 2,
                                   .soft_caps = 1,
                                   .storage = 1,
                                   .soft_end = 1,
                                   .caps = 1,
                                   .nonconvex = 1};
    compare("enumerate", "native", &features, 200);
    compare("enumerate", "glpk", &features, 100);
    features = (instance_features){
        .jobs = 2, .slots = 4, .segments = 2, .modes = 2, .soft_caps = 1, .slotwise = 1, .caps = 1};
    compare("enumerate", "glpk", &features, 60);
    features.slotwise = 2;
    compare("enumerate", "native", &features, 100);
    features = (instance_features){
        .jobs = 3, .slots = 5, .segments = 2, .modes = 2, .soft_caps = 1, .equal_power = 1};
    compare("native", "glpk", &features, 60);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("solver: backends against one another");
    TCase *tests = tcase_create("random");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, test_plain);
    tcase_add_test(tests, test_caps_and_transitions);
    tcase_add_test(tests, test_not_convex);
    tcase_add_test(tests, test_storage);
    tcase_add_test(tests, test_storage_not_convex);
    tcase_add_test(tests, test_slotwise);
    tcase_add_test(tests, test_native);
    tcase_add_test(tests, test_native_slotwise);
    tcase_add_test(tests, test_native_equal_power);
    tcase_add_test(tests, test_native_three_jobs);
    tcase_add_test(tests, test_floor_and_soft_end);
    tcase_add_test(tests, test_soft_caps);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
