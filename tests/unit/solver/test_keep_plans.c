/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The native solver hands over every better plan, so that a killed worker process leaves its last.
 */
#include "solver/native/native.h"
#include "solver/solver.h"
#include "support/instance.h"
#include "support/support.h"

#include <math.h>

typedef struct keeper {
    ckpd_context *context;
    const ckpd_path_view *view;
    void (*inner_report)(double, double, int64_t, int64_t, void *);
    int32_t plans;
    double cost, told; /* of the last plan; the last incumbent reported */
} keeper;

static keeper kept;

static void take_plan(const ckpd_path_plan *plan, double bound, void *user)
{
    (void)user;
    double cost;
    ck_assert_int_eq(ckpd__path_plan_check(kept.context, kept.view, plan, &cost, NULL, true),
                     CKPD_OK);
    ck_assert_double_le(bound, cost + 1e-6 * fabs(cost));
    /* Added up in another order, a plan that is better by rounding alone may come out equal. */
    ck_assert(isinf(kept.cost) || cost <= kept.cost + 1e-12 * (1 + fabs(cost)));
    kept.cost = cost;
    kept.plans++;
}

static void take_report(double incumbent, double bound, int64_t iterations, int64_t nodes,
                        void *user)
{
    (void)bound, (void)iterations, (void)nodes, (void)user;
    kept.told = incumbent;
}

static void solve(instance *made, instance_result *found, double relative_gap)
{
    ckpd_solve_params params;
    static const ckpd__solve_control control = {.cancel = NULL};
    ckpd_host host;
    ckpd__host_state state;
    kept = (keeper){.view = &made->view, .cost = INFINITY, .told = INFINITY};
    ck_assert_int_eq(ckpd_context_new(&kept.context, NULL), CKPD_OK);
    instance_result_init(found, &made->view);
    ck_assert_int_eq(ckpd__params_read(kept.context, NULL, &params), CKPD_OK);
    params.relative_gap = relative_gap;
    params.node_limit = 20;
    ckpd__host_start(&host, &state, kept.context, &control, 60);
    host.keep_plan = take_plan;
    host.report = take_report;
    ck_assert_int_eq(ckpd__native_solve_paths(&host, &made->view, &params, &found->result, NULL),
                     CKPD_OK);
    ckpd_context_free(kept.context);
}

/* Whether there is a plan; then the last one handed over is the answer. */
static bool expect_last(instance *made)
{
    instance_result found;
    if (made == NULL) {
        return true;
    }
    solve(made, &found, 1e-6);
    bool has_plan = found.result.has_plan != 0;
    double cost = found.result.objective, slack = 1e-9 * (1 + fabs(cost));
    ck_assert_int_eq(kept.plans >= 1, has_plan);
    if (has_plan) {
        ck_assert_double_eq_tol(kept.cost, cost, slack);
        ck_assert_double_eq_tol(kept.told, cost, slack);
    }
    instance_result_free(&found);
    instance_free(made);
    return has_plan;
}

START_TEST(pair)
{
    ck_assert(expect_last(instance_golden("cases/aidc2048-golden.json", 1, 0, false, _i == 1)));
}
END_TEST

START_TEST(several)
{
    static const instance_features features = {.jobs = 8, .slots = 16, .segments = 4, .modes = 3};
    int32_t plans = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        plans += expect_last(instance_random(seed, &features));
    }
    ck_assert_int_ge(plans, 2);
}
END_TEST

static instance *with_offset(double offset)
{
    instance *made = instance_golden("cases/aidc2048-golden.json", 1, 0, true, false);
    if (made != NULL) {
        made->view.cost_offset += offset;
    }
    return made;
}

START_TEST(slotwise)
{
    ck_assert(expect_last(with_offset(0)));
    ck_assert(expect_last(with_offset(-1000)));
}
END_TEST

/* A gap is one of the whole cost: what a constant takes away from it makes the plan no better. */
START_TEST(slotwise_gap)
{
    instance_result found;
    instance *made = with_offset(0);
    if (made == NULL) {
        return;
    }
    solve(made, &found, 0.05);
    double cost = found.result.objective;
    instance_result_free(&found);
    instance_free(made);
    made = with_offset(-0.98 * cost);
    solve(made, &found, 0.05);
    ck_assert_int_eq(found.result.outcome, CKPD_OUTCOME_OPTIMAL);
    ck_assert_double_le(found.result.objective - found.result.bound,
                        0.05 * fabs(found.result.objective) + 1e-9);
    instance_result_free(&found);
    instance_free(made);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("solver: plans handed over");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, pair, 0, 2);
    tcase_add_test(all, several);
    tcase_add_test(all, slotwise);
    tcase_add_test(all, slotwise_gap);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
