/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The upper layer through the backend HiGHS, where its library is found (CKPD_TEST_HIGHS, see
 * support/highs.h): the same optimum of the linear programs as GLPK, plans as near to it, and the
 * same figures. Degenerate programs have many optimal points, so the launches may differ.
 */
#include "scenario.h"

#include "support/highs.h"

#include <ckptdispatch/backend.h>

static ckpd_shape_plan_info plan_with(const ckpd_shape *shape, const char *backend,
                                      ckpd_shape_plan **plan)
{
    ckpd_shape_plan_info info = {.size = sizeof info};
    OK(ckpd_shape_plan_new(plan, shape, backend, NULL));
    OK(ckpd_shape_plan_get_info(*plan, &info));
    return info;
}

START_TEST(plans_as_glpk_does)
{
    scenario_context();
    if (!test_highs_load(context)) {
        ckpd_context_free(context);
        return;
    }
    ckpd_shape *shape = scenario_shape(5600.0, 1e6 * (_i + 1));
    ckpd_microgrid *grid = scenario_grid(NULL);
    ckpd_shape_truth truth = {.size = sizeof truth};
    ckpd_shape_metrics none = scenario_run(shape, grid, NULL, CKPD_POLICY_NONE, truth, 1);
    static const char *const backend[] = {"glpk", "highs"};
    ckpd_shape_plan_info info[2];
    double down[2][2];
    for (int k = 0; k < 2; k++) {
        ckpd_shape_plan *plan;
        info[k] = plan_with(shape, backend[k], &plan);
        ckpd_shape_metrics with = scenario_run(shape, grid, plan, CKPD_POLICY_PLAN, truth, 2);
        down[k][0] = percent_down(with.max_abs_hz, none.max_abs_hz);
        down[k][1] = percent_down(with.mean_abs_hz, none.mean_abs_hz);
        ck_assert_double_le(info[k].objective, 1.02 * info[k].relaxed_objective);
        ckpd_shape_plan_free(plan);
        printf("%d MW, %s: bound %.6g, plan %.6g, max|df| %.1f %%, mean|df| %.1f %%\n", _i + 1,
               backend[k], info[k].relaxed_objective, info[k].objective, down[k][0], down[k][1]);
    }
    ck_assert_double_eq_tol(info[0].relaxed_objective, info[1].relaxed_objective,
                            1e-6 * info[0].relaxed_objective);
    ck_assert_double_eq_tol(info[0].objective, info[1].objective, 0.005 * info[0].objective);
    ck_assert_double_eq_tol(down[0][0], down[1][0], 2.0);
    ck_assert_double_eq_tol(down[0][1], down[1][1], 2.0);
    ckpd_microgrid_free(grid);
    ckpd_shape_free(shape);
    ckpd_context_free(context);
}
END_TEST

/* The integer program too: small enough for both to prove it within a hundredth of a percent. */
START_TEST(solves_the_integer_program_as_glpk_does)
{
    scenario_context();
    if (!test_highs_load(context)) {
        ckpd_context_free(context);
        return;
    }
    ckpd_gpu_pool *pool = scenario_pool(400.0);
    ckpd_shape *shape;
    ckpd_filler *filler;
    OK(ckpd_shape_new(&shape, context, pool));
    OK(ckpd_filler_builtin(&filler, context, "llama3.1-8b-chat"));
    OK(ckpd_shape_add_filler(shape, filler));
    scenario_add_event(shape, 20.0, 3.0, 150e3);
    OK(ckpd_shape_set(shape, "retire", 0.0));
    OK(ckpd_shape_set(shape, "samples_per_step", 2.0));
    OK(ckpd_shape_set(shape, "exact", 1.0));
    OK(ckpd_shape_set(shape, "exact_gap", 1e-4));
    ckpd_shape_plan *a, *b;
    double glpk = plan_with(shape, "glpk", &a).objective;
    double highs = plan_with(shape, "highs", &b).objective;
    ck_assert_double_eq_tol(glpk, highs, 2e-4 * glpk);
    ckpd_shape_plan_free(a);
    ckpd_shape_plan_free(b);
    ckpd_filler_free(filler);
    ckpd_shape_free(shape);
    ckpd_gpu_pool_free(pool);
    ckpd_context_free(context);
}
END_TEST

int main(void)
{
#ifndef CKPD_HAVE_GLPK
    test_skip("built without GLPK: nothing to compare with");
    return 0;
#else
    const TTest *const tests[] = {solves_the_integer_program_as_glpk_does, NULL};
    Suite *suite = test_suite("shape highs", tests);
    TCase *plans = tcase_create("plans");
    tcase_add_loop_test(plans, plans_as_glpk_does, 0, 3);
    suite_add_tcase(suite, plans);
    return test_run(suite);
#endif
}
