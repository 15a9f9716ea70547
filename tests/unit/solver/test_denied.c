/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A MILP backend that contradicts the structure presolve. */
#include "solver/solver.h"
#include "support/instance.h"
#include "support/support.h"
#include <string.h>

static int32_t deny(const ckpd_host *host, const ckpd_milp_view *view,
                    const ckpd_solve_params *params, ckpd_milp_result *result, void *user)
{
    (void)host, (void)view, (void)params;
    ++*(int *)user;
    result->outcome = CKPD_OUTCOME_INFEASIBLE;
    result->bound = (double)INFINITY;
    return CKPD_OK;
}

/* "No plan" from a backend, where the presolve has one, proves nothing of that plan. */
START_TEST(denied_plan_proves_nothing)
{
    ckpd_context *context = NULL;
    int denied = 0, calls = 0;
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ckpd_backend_table table = {.size = sizeof table,
                                .abi = CKPD_BACKEND_ABI,
                                .capabilities = CKPD_CAP_MILP,
                                .name = "denier",
                                .version = "1",
                                .user = &calls,
                                .solve_milp = deny};
    ck_assert_int_eq(ckpd_backend_register(context, &table), CKPD_OK);
    const instance_features features = {
        .jobs = 4, .slots = 6, .segments = 3, .modes = 3, .caps = 1, .storage = 1, .nonconvex = 1};
    ckpd__solve_control control = {.no_fallback = 1, .structure_presolve = 1, .presolve_nodes = 1};
    for (uint64_t seed = 1; seed <= 400; seed++) {
        instance *made = instance_random(seed, &features);
        instance_result best, found;
        ckpd__solve_info info;
        int before = calls;
        instance_result_init(&best, &made->view);
        instance_result_init(&found, &made->view);
        ck_assert_int_eq(
            ckpd__path_solve(context, "denier", &made->view, NULL, &control, &found.result, &info),
            CKPD_OK);
        if (calls > before && found.result.has_plan) {
            ck_assert_int_eq(
                ckpd_path_solve(context, "native", &made->view, NULL, NULL, &best.result), CKPD_OK);
            ck_assert_int_eq(found.result.outcome, CKPD_OUTCOME_FEASIBLE);
            ck_assert_double_le(found.result.bound, best.result.objective);
            ck_assert_double_lt(found.result.bound, found.result.objective);
            ck_assert_ptr_nonnull(strstr(found.result.message, "denier"));
            denied++;
        }
        instance_result_free(&best);
        instance_result_free(&found);
        instance_free(made);
    }
    ck_assert_int_ge(denied, 3);
    ckpd_context_free(context);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {denied_plan_proves_nothing, NULL};
    return test_run(test_suite("solver: a denied plan", tests));
}
