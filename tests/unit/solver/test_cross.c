/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Random small path problems: solvers that share nothing must agree on the cost to 1e-7. */
#include "solver/solver.h"
#include "support/instance.h"
#include "support/support.h"
#include "support/views.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define INSTANCE_FLOOR INSTANCE_SMALL, .storage = 1, .recovery = 1, .caps = 1, .edge_costs = 1
#define INSTANCE_SOFT_END \
    INSTANCE_SMALL, .storage = 1, .soft_end = 1, .nonconvex = 1, .caps = 1, .edge_costs = 1
#define INSTANCE_SOFT_CAPS \
    INSTANCE_SMALL, .soft_caps = 1, .transitions = 1, .edge_costs = 1, .prorated = 1, .fixed = 1
#define INSTANCE_SOFT_BOTH \
    INSTANCE_SMALL, .soft_caps = 1, .storage = 1, .soft_end = 1, .caps = 1, .nonconvex = 1

typedef struct tally {
    int optimal, infeasible;
} tally;

static ckpd_context *context;

static void solve(const char *backend, uint64_t seed, const instance *made, instance_result *found)
{
    const ckpd_solve_params params = test_params(1e-9);
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

/* What is compared, on how many seeds. */
static const struct {
    const char *one, *other;
    int count;
    instance_features features;
} all[] = {
    {"enumerate", "glpk", 60, {.jobs = 2, .slots = 6, .segments = 3, .modes = 2}},
    {"enumerate",
     "glpk",
     80,
     {.jobs = 2,
      .slots = 6,
      .segments = 3,
      .modes = 2,
      .caps = 1,
      .transitions = 1,
      .edge_costs = 1,
      .prorated = 1,
      .fixed = 1}},
    {"enumerate",
     "glpk",
     60,
     {.jobs = 2, .slots = 6, .segments = 3, .modes = 2, .caps = 1, .nonconvex = 1}},
    {"enumerate",
     "glpk",
     80,
     {.jobs = 1, .slots = 6, .segments = 2, .modes = 2, .storage = 1, .caps = 1}},
    {"enumerate", "glpk", 200, {INSTANCE_EVERYTHING}},
    {"enumerate",
     "glpk",
     60,
     {INSTANCE_SMALL, .slotwise = 1, .caps = 1, .nonconvex = 1, .storage = 1}},
    /* The structure-exploiting solver against every plan, one after the other, on everything it
       covers. */
    {"enumerate", "native", 200, {INSTANCE_EVERYTHING}},
    /* Slot-wise jobs of the structure layer: every combination in every slot, one after the other.
     */
    {"enumerate",
     "native",
     200,
     {INSTANCE_SMALL, .slotwise = 2, .caps = 1, .nonconvex = 1, .fixed = 1}},
    {"enumerate", "native", 100, {.jobs = 1, .slots = 7, .segments = 3, .modes = 3, .slotwise = 2}},
    {"native",
     "glpk",
     60,
     {.jobs = 3, .slots = 6, .segments = 2, .modes = 3, .slotwise = 2, .caps = 1}},
    /* Nothing but the GPU cap tells the modes of a slot apart. */
    {"enumerate",
     "native",
     200,
     {.jobs = 2, .slots = 6, .segments = 3, .modes = 3, .caps = 1, .equal_power = 1}},
    {"native", "glpk", 60, {.jobs = 3, .slots = 5, .segments = 2, .modes = 2, .caps = 1}},
    /* A floor that rises under the storage, and an end that may be missed at a price. */
    {"enumerate", "native", 120, {INSTANCE_FLOOR}},
    {"enumerate", "glpk", 80, {INSTANCE_FLOOR}},
    {"enumerate", "native", 120, {INSTANCE_SOFT_END}},
    {"enumerate", "glpk", 80, {INSTANCE_SOFT_END}},
    {"enumerate", "native", 60, {INSTANCE_SOFT_END, .recovery = 1}},
    /* Caps that may be passed at a price. */
    {"enumerate", "native", 200, {INSTANCE_SOFT_CAPS}},
    {"enumerate", "glpk", 100, {INSTANCE_SOFT_CAPS}},
    {"enumerate", "native", 200, {INSTANCE_SOFT_BOTH}},
    {"enumerate", "glpk", 100, {INSTANCE_SOFT_BOTH}},
    {"enumerate",
     "glpk",
     60,
     {.jobs = 2, .slots = 4, .segments = 2, .modes = 2, .soft_caps = 1, .slotwise = 1, .caps = 1}},
    {"enumerate",
     "native",
     100,
     {.jobs = 2, .slots = 4, .segments = 2, .modes = 2, .soft_caps = 1, .slotwise = 2, .caps = 1}},
    {"native",
     "glpk",
     60,
     {.jobs = 3, .slots = 5, .segments = 2, .modes = 2, .soft_caps = 1, .equal_power = 1}},
};
enum { ALL = sizeof all / sizeof all[0] };

START_TEST(solvers_agree)
{
    compare(all[_i].one, all[_i].other, &all[_i].features, all[_i].count);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("solver: backends against one another");
    TCase *tests = tcase_create("random");
    tcase_add_loop_test(tests, solvers_agree, 0, ALL);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
