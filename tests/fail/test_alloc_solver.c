/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support/sweep.h"

#include <ckptdispatch/backend.h>
#include <math.h>
#include <string.h>

/* min -5x - 4y, 6x + 4y <= 24, x + 2y <= 6; integers: x = 4, y = 0, cost -20; without: x = 3, y
 * = 1.5, cost -21. */
static ckpd_milp_view small_milp(const uint8_t *integer)
{
    static const double cost[] = {-5, -4};
    static const double lower[] = {0, 0};
    static const double upper[] = {10, 10};
    static const double row_lower[] = {-INFINITY, -INFINITY};
    static const double row_upper[] = {24, 6};
    static const int64_t start[] = {0, 2, 4};
    static const int32_t index[] = {0, 1, 0, 1};
    static const double value[] = {6, 1, 4, 2};
    static const double point[] = {2, 1};
    return (ckpd_milp_view){.size = sizeof(ckpd_milp_view),
                            .columns = 2,
                            .rows = 2,
                            .nonzeros = 4,
                            .cost = cost,
                            .lower = lower,
                            .upper = upper,
                            .integer = integer,
                            .row_lower = row_lower,
                            .row_upper = row_upper,
                            .start = start,
                            .index = index,
                            .value = value,
                            .start_point = point};
}

static void milp(sweep_memory *memory, ckpd_context *context)
{
    static const uint8_t integer[] = {1, 1};
    double x[2];
    ckpd_milp_result result = {.size = sizeof result, .x = x};
    ckpd_milp_view view = small_milp(integer);
    SWEEP(ckpd_milp_solve(context, "glpk", &view, NULL, NULL, &result));
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_OPTIMAL);
    ck_assert_double_eq_tol(result.objective, -20, 1e-9);
}

static void lp_with_duals(sweep_memory *memory, ckpd_context *context)
{
    double x[2];
    double row_dual[2];
    double reduced[2];
    ckpd_milp_result result = {
        .size = sizeof result, .x = x, .row_dual = row_dual, .reduced_cost = reduced};
    ckpd_milp_view view = small_milp(NULL);
    SWEEP(ckpd_milp_solve(context, "glpk", &view, NULL, NULL, &result));
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_OPTIMAL);
    ck_assert_double_eq_tol(result.objective, -21, 1e-9);
    /* By hand: 6u + v = -5, 4u + 2v = -4. */
    ck_assert_double_eq_tol(row_dual[0], -0.75, 1e-9);
    ck_assert_double_eq_tol(row_dual[1], -0.5, 1e-9);
}

static int32_t no_solver(const ckpd_host *host, const ckpd_milp_view *view,
                         const ckpd_solve_params *params, ckpd_milp_result *result, void *user)
{
    (void)view;
    (void)params;
    (void)user;
    void *block = host->allocate(100, host->user);
    if (block == NULL) {
        return CKPD_ERR_NO_MEMORY;
    }
    host->release(block, host->user);
    result->outcome = CKPD_OUTCOME_NO_PLAN;
    return CKPD_OK;
}

static void registered(sweep_memory *memory, ckpd_context *context)
{
    const ckpd_backend_table table = {.size = sizeof table,
                                      .abi = CKPD_BACKEND_ABI,
                                      .capabilities = CKPD_CAP_MILP,
                                      .name = "none",
                                      .version = "1",
                                      .license = "LGPL-3.0-or-later",
                                      .solve_milp = no_solver};
    static const uint8_t integer[] = {1, 1};
    double x[2];
    ckpd_milp_result result = {.size = sizeof result, .x = x};
    ckpd_milp_view view = small_milp(integer);
    SWEEP(ckpd_backend_register(context, &table));
    ck_assert_uint_eq(ckpd_backend_capabilities(context, "none"), CKPD_CAP_MILP);
    SWEEP(ckpd_milp_solve(context, "none", &view, NULL, NULL, &result));
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_NO_PLAN);
}

int main(void)
{
    static const sweep_scenario scenarios[] = {
        {"a backend of the user", registered, 1},
        {"MILP by GLPK", milp, 1},
        {"LP with duals by GLPK", lp_with_duals, 1},
    };
    int32_t count = (int32_t)(sizeof scenarios / sizeof scenarios[0]);
    return sweep_main("solver", scenarios, ckpd_feature("glpk") ? count : 1);
}
