/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Backends that return garbage for a MILP view (test_garbage_paths.c has the other): one lie and
 * the one status that may come of it in each row of the table.
 */
#include "support/instance.h"
#include "support/liar.h"
#include "support/views.h"

#include <ckptdispatch/backend.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* --- MILP view -------------------------------------------------------------------------------- */

/* max x + y (as minimum of the negative), x + y <= 3, 0 <= x, y <= 2: -3. The truthful puppet says
 * (1, 1), -2. With y whole where `whole` says so. */
static const double costs[] = {-1, -1}, upper[] = {2, 2}, value[] = {1, 1}, room[] = {3};
static const uint8_t whole[] = {0, 1};

enum {
    POINT_TRUE,
    POINT_OBJECTIVE,
    POINT_NAN_OBJECTIVE,
    POINT_NAN_BOUND,
    POINT_BOUND_ABOVE,
    POINT_ODD_FLAG,
    POINT_OWN_SIZE,
    POINT_ENDLESS_MESSAGE,
    POINT_NAN,
    POINT_INFINITE,
    POINT_BEYOND_BOUND,
    POINT_BEYOND_ROW,
    POINT_FRACTIONAL,
    POINT_OUTCOME,
    POINT_OUTCOME_NEGATIVE,
    POINT_WITHOUT_OUTCOME,
    POINT_MISSING,
    POINT_MOVED,
    POINT_REMOVED,
    POINT_STATUS,
    POINT_LIES
};

static const struct {
    const char *what;
    int32_t status;
} point_lie[POINT_LIES] = {
    [POINT_TRUE] = {"no lie", CKPD_OK},
    [POINT_OBJECTIVE] = {"objective of -1000", CKPD_OK},
    [POINT_NAN_OBJECTIVE] = {"objective is NaN", CKPD_OK},
    [POINT_NAN_BOUND] = {"bound is NaN", CKPD_OK},
    [POINT_BOUND_ABOVE] = {"bound above the point", CKPD_OK},
    [POINT_ODD_FLAG] = {"has_plan = -7", CKPD_OK},
    [POINT_OWN_SIZE] = {"size of the result changed", CKPD_OK},
    [POINT_ENDLESS_MESSAGE] = {"message without an end", CKPD_OK},
    [POINT_NAN] = {"NaN", CKPD_ERR_VERIFY},
    [POINT_INFINITE] = {"infinity", CKPD_ERR_VERIFY},
    [POINT_BEYOND_BOUND] = {"above the upper bound", CKPD_ERR_VERIFY},
    [POINT_BEYOND_ROW] = {"beyond the row", CKPD_ERR_VERIFY},
    [POINT_FRACTIONAL] = {"half of a whole number", CKPD_ERR_VERIFY},
    [POINT_OUTCOME] = {"outcome 99", CKPD_ERR_BACKEND},
    [POINT_OUTCOME_NEGATIVE] = {"outcome INT32_MIN", CKPD_ERR_BACKEND},
    [POINT_WITHOUT_OUTCOME] = {"infeasible with a point", CKPD_ERR_BACKEND},
    [POINT_MISSING] = {"optimal without a point", CKPD_ERR_BACKEND},
    [POINT_MOVED] = {"another array", CKPD_ERR_BACKEND},
    [POINT_REMOVED] = {"no array", CKPD_ERR_BACKEND},
    [POINT_STATUS] = {"status 7", CKPD_ERR_BACKEND},
};

static double other_point[2] = {1, 1};

static int32_t lie_about_point(int32_t lie, ckpd_milp_result *result)
{
    switch (lie) {
    case POINT_OBJECTIVE:
        result->objective = result->bound = -1000;
        break;
    case POINT_NAN_OBJECTIVE:
        result->objective = NAN;
        break;
    case POINT_NAN_BOUND:
        result->bound = NAN;
        break;
    case POINT_BOUND_ABOVE:
        result->bound = INFINITY;
        break;
    case POINT_ODD_FLAG:
        result->has_plan = -7;
        break;
    case POINT_OWN_SIZE:
        result->size = 1;
        break;
    case POINT_ENDLESS_MESSAGE:
        memset(result->message, 'x', sizeof result->message);
        break;
    case POINT_NAN:
    case POINT_INFINITE:
        result->x[0] = lie == POINT_NAN ? NAN : INFINITY;
        break;
    case POINT_BEYOND_BOUND:
    case POINT_BEYOND_ROW:
        result->x[0] = lie == POINT_BEYOND_BOUND ? 2.5 : 2;
        result->x[1] = lie == POINT_BEYOND_BOUND ? 0 : 2;
        break;
    case POINT_FRACTIONAL:
        result->x[1] = 0.5;
        break;
    case POINT_OUTCOME:
    case POINT_OUTCOME_NEGATIVE:
        result->outcome = lie == POINT_OUTCOME ? 99 : INT32_MIN;
        break;
    case POINT_WITHOUT_OUTCOME:
        result->outcome = CKPD_OUTCOME_INFEASIBLE;
        break;
    case POINT_MISSING:
        result->has_plan = 0;
        break;
    case POINT_MOVED:
    case POINT_REMOVED:
        result->x = lie == POINT_MOVED ? other_point : NULL;
        break;
    case POINT_STATUS:
        return 7;
    default:
        break;
    }
    return CKPD_OK;
}

static const double *duals; /* what the liar says of the row and the columns, NULL: nothing */

static int32_t point_liar(const ckpd_host *host, const ckpd_milp_view *given,
                          const ckpd_solve_params *params, ckpd_milp_result *result, void *user)
{
    (void)host, (void)params;
    result->outcome = CKPD_OUTCOME_OPTIMAL;
    result->has_plan = 1;
    result->x[0] = given->lower[0] > 1 ? given->lower[0] : 1;
    result->x[1] = 1;
    result->objective = result->bound = -2;
    if (duals != NULL) {
        result->x[0] = 2;
        result->objective = result->bound = -3;
        result->row_dual[0] = duals[0];
        if (result->reduced_cost != NULL) {
            result->reduced_cost[0] = duals[1];
            result->reduced_cost[1] = duals[2];
        }
    }
    return lie_about_point(*(int32_t *)user, result);
}

static ckpd_milp_view model(bool integer)
{
    return view_one_row(costs, upper, value, room, integer ? whole : NULL);
}

START_TEST(point_garbage_is_refused)
{
    lie_now = _i;
    liar_register((ckpd_backend_table){.capabilities = CKPD_CAP_MILP | CKPD_CAP_LP,
                                       .solve_milp = point_liar});
    double x[2] = {77, 77};
    ckpd_milp_result result = {.size = sizeof result, .x = x};
    ckpd_milp_view asked = model(true);
    const char *what = point_lie[_i].what;
    int32_t status = ckpd_milp_solve(context, "liar", &asked, NULL, NULL, &result);
    ck_assert_msg(status == point_lie[_i].status, "%s: status %d, %s", what, (int)status,
                  ckpd_context_last_message(context));
    ck_assert_ptr_eq(result.x, x);
    if (status != CKPD_OK) {
        ck_assert_msg(strlen(ckpd_context_last_message(context)) > 0, "%s: no message", what);
        ck_assert_msg(x[0] >= 77 && x[1] >= 77 && result.has_plan == 0,
                      "%s: refused, but something was handed on", what);
        return;
    }
    ck_assert_msg(result.has_plan == 1 && result.objective <= -2 && result.objective >= -2, "%s",
                  what);
    ck_assert_msg(result.outcome == CKPD_OUTCOME_FEASIBLE, "%s: outcome %d", what,
                  (int)result.outcome);
    ck_assert_msg(result.bound <= -2, "%s: bound %g", what, result.bound);
    ck_assert_uint_lt(strlen(result.message), sizeof result.message);
    ck_assert_uint_eq(result.size, sizeof result);
}
END_TEST

/* Of a linear program the duals are a proof, and only they: y = -1 on the row gives 3 y = -3. */
START_TEST(duals_prove_or_do_not)
{
    static const double right[] = {-1, 0, 0}, weak[] = {-0.5, -0.5, -0.5}, wrong_side[] = {1, 0, 0},
                        broken[] = {NAN, 0, 0}, broken_cost[] = {-1, NAN, 0};
    lie_now = POINT_TRUE;
    liar_register((ckpd_backend_table){.capabilities = CKPD_CAP_MILP | CKPD_CAP_LP,
                                       .solve_milp = point_liar});
    double x[2], row_dual[1], reduced[2];
    ckpd_milp_result result = {
        .size = sizeof result, .x = x, .row_dual = row_dual, .reduced_cost = reduced};
    ckpd_milp_view asked = model(false);
    duals = right;
    ck_assert_int_eq(ckpd_milp_solve(context, "liar", &asked, NULL, NULL, &result), CKPD_OK);
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_OPTIMAL);
    ck_assert_double_eq(result.objective, -3);
    ck_assert_double_eq(result.bound, -3);
    ck_assert_str_eq(result.message, "");
    result = (ckpd_milp_result){.size = sizeof result, .x = x}; /* also when nobody asks for them */
    ck_assert_int_eq(ckpd_milp_solve(context, "liar", &asked, NULL, NULL, &result), CKPD_OK);
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_OPTIMAL);
    const double *const unproven[] = {weak, wrong_side};
    for (size_t i = 0; i < 2; i++) {
        duals = unproven[i];
        result = (ckpd_milp_result){
            .size = sizeof result, .x = x, .row_dual = row_dual, .reduced_cost = reduced};
        ck_assert_int_eq(ckpd_milp_solve(context, "liar", &asked, NULL, NULL, &result), CKPD_OK);
        ck_assert_int_eq(result.outcome, CKPD_OUTCOME_FEASIBLE);
        ck_assert_double_eq(result.bound, -3); /* as claimed */
        ck_assert_ptr_nonnull(strstr(result.message, "optimal as \"liar\" claims"));
    }
    const double *const nonsense[] = {broken, broken_cost};
    for (size_t i = 0; i < 2; i++) {
        duals = nonsense[i];
        ck_assert_int_eq(ckpd_milp_solve(context, "liar", &asked, NULL, NULL, &result),
                         CKPD_ERR_VERIFY);
    }
    duals = NULL;
}
END_TEST

/* Path views that such a backend gets as a model. */
START_TEST(point_garbage_through_a_path_view)
{
    liar_register((ckpd_backend_table){.capabilities = CKPD_CAP_MILP, .solve_milp = point_liar});
    const instance_features features = {
        .jobs = 2, .slots = 5, .segments = 2, .modes = 2, .storage = 1};
    for (lie_now = 0; lie_now < POINT_LIES; lie_now++) {
        instance *made = instance_random(7, &features);
        instance_result found;
        instance_result_init(&found, &made->view);
        int32_t status = ckpd_path_solve(context, "liar", &made->view, NULL, NULL, &found.result);
        ck_assert_msg(status == CKPD_ERR_VERIFY || status == CKPD_ERR_BACKEND, "%s: status %d",
                      point_lie[lie_now].what, (int)status);
        ck_assert_int_eq(found.result.has_plan, 0);
        instance_result_free(&found);
        instance_free(made);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("solver: garbage for a MILP view");
    TCase *tests = liar_tests("garbage");
    tcase_add_loop_test(tests, point_garbage_is_refused, 0, POINT_LIES);
    tcase_add_test(tests, duals_prove_or_do_not);
    tcase_add_test(tests, point_garbage_through_a_path_view);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
