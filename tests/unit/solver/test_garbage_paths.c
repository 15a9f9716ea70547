/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Backends that return garbage for a path view: nothing wrong is ever handed on. Each row of the
 * table is one lie beside the one status that may come of it; where a true plan remains, its cost
 * is that of the problem, worked out by hand, and the caller's arrays are untouched when it does
 * not.
 */
#include "support/liar.h"

#include <ckptdispatch/backend.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- path view -------------------------------------------------------------------------------- */

/*
 * Three slots of one hour, 1, 2 and 3 money per kWh, draw 0..100 kW. One path job of 10 kW for one
 * slot, one slot-wise job of 5 kW for one slot, a battery that may stay idle. Cheapest: both jobs
 * in slot 0, cost 15; the truthful puppet runs them in slot 1, cost 30.
 */
static const int32_t one_gpu[] = {1}, first[] = {0}, one[] = {1};
static const double ten_kw[] = {10}, five_kw[] = {5}, zeros[] = {0, 0, 0}, ones[] = {1, 1, 1},
                    caps[] = {100, 100, 100}, curve_x[] = {0, 100, 0, 100, 0, 100},
                    curve_cost[] = {0, 100, 0, 200, 0, 300};
static const int64_t curve_start[] = {0, 2, 4, 6};
static const uint8_t convex[] = {1, 1, 1}, open[] = {1, 1, 1, 1, 1, 1, 1, 1};
static const ckpd_path_job path_job = {.size = sizeof path_job,
                                       .name = "path",
                                       .kind = CKPD_JOB_PATHS,
                                       .segments = 1,
                                       .deadline = 3,
                                       .may_wait = 1,
                                       .modes = 1,
                                       .mode_gpus = one_gpu,
                                       .mode_power_kw = ten_kw,
                                       .moves = 1,
                                       .states = 1,
                                       .move_mode = first,
                                       .move_slots = one,
                                       .move_segments = one,
                                       .node_open = open};
static const ckpd_path_job slot_job = {.size = sizeof slot_job,
                                       .name = "slots",
                                       .kind = CKPD_JOB_SLOTWISE,
                                       .deadline = 3,
                                       .modes = 1,
                                       .mode_gpus = one_gpu,
                                       .mode_power_kw = five_kw,
                                       .states = 1,
                                       .mode_work_per_slot = ones,
                                       .work_required = 1};
static const ckpd_path_job *const jobs[] = {&path_job, &slot_job};
static const ckpd_path_storage battery = {.size = sizeof battery,
                                          .charge_max_kw = 4,
                                          .discharge_max_kw = 4,
                                          .eta_charge = 1,
                                          .eta_discharge = 1,
                                          .retention = 1,
                                          .soc_max_kwh = 4,
                                          .throughput_cost_per_kwh = 9};
static const ckpd_path_view view = {.size = sizeof view,
                                    .slots = 3,
                                    .jobs = 2,
                                    .slot_hours = 1,
                                    .job = jobs,
                                    .base_load_kw = zeros,
                                    .load_factor = ones,
                                    .load_cap_kw = caps,
                                    .gpu_cap = caps,
                                    .curve_start = curve_start,
                                    .curve_x_kw = curve_x,
                                    .curve_cost = curve_cost,
                                    .curve_convex = convex,
                                    .storage = &battery};

static void true_plan(ckpd_path_result *result)
{
    result->plan->step_count[0] = 1;
    result->plan->step_slot[0] = 1;
    result->plan->step_move[0] = 0;
    for (int32_t t = 0; t < 3; t++) {
        result->plan->slot_mode[3 + t] = t == 1 ? 0 : -1;
        result->plan->charge_kw[t] = result->plan->discharge_kw[t] = 0;
    }
    result->outcome = CKPD_OUTCOME_OPTIMAL;
    result->has_plan = 1;
    result->objective = result->bound = 30;
}

enum {
    TRUTH,
    WRONG_OBJECTIVE,
    NAN_OBJECTIVE,
    NAN_BOUND,
    BOUND_ABOVE,
    ODD_FLAG,
    OWN_SIZE,
    ENDLESS_MESSAGE,
    HUGE_COUNT,
    NEGATIVE_COUNT,
    MOVE_BEYOND,
    MOVE_NEGATIVE,
    SLOT_BEYOND,
    SLOT_NEGATIVE,
    TOO_LATE,
    NOTHING_DONE,
    MODE_BEYOND,
    MODE_NEGATIVE,
    WORK_MISSING,
    CHARGE_NAN,
    CHARGE_INFINITE,
    CHARGE_NEGATIVE,
    CHARGE_TOO_MUCH,
    DISCHARGE_EMPTY,
    BOTH_AT_ONCE,
    OUTCOME_UNKNOWN,
    OUTCOME_NONE,
    OUTCOME_NEGATIVE,
    PLAN_WITHOUT_OUTCOME,
    OUTCOME_WITHOUT_PLAN,
    PLAN_MOVED,
    ARRAY_MOVED,
    ARRAY_REMOVED,
    POSITIVE_STATUS,
    PATH_LIES
};

static const struct {
    const char *what;
    int32_t status;
} path_lie[PATH_LIES] = {
    [TRUTH] = {"no lie", CKPD_OK},
    [WRONG_OBJECTIVE] = {"objective of 1", CKPD_OK},
    [NAN_OBJECTIVE] = {"objective is NaN", CKPD_OK},
    [NAN_BOUND] = {"bound is NaN", CKPD_OK},
    [BOUND_ABOVE] = {"bound above the plan", CKPD_OK},
    [ODD_FLAG] = {"has_plan = -7", CKPD_OK},
    [OWN_SIZE] = {"size of the result changed", CKPD_OK},
    [ENDLESS_MESSAGE] = {"message without an end", CKPD_OK},
    [HUGE_COUNT] = {"two thousand million steps", CKPD_ERR_VERIFY},
    [NEGATIVE_COUNT] = {"minus one step", CKPD_ERR_VERIFY},
    [MOVE_BEYOND] = {"move 1 of 1", CKPD_ERR_VERIFY},
    [MOVE_NEGATIVE] = {"move INT32_MIN", CKPD_ERR_VERIFY},
    [SLOT_BEYOND] = {"slot INT32_MAX", CKPD_ERR_VERIFY},
    [SLOT_NEGATIVE] = {"slot -1", CKPD_ERR_VERIFY},
    [TOO_LATE] = {"two steps in one slot", CKPD_ERR_VERIFY},
    [NOTHING_DONE] = {"no steps", CKPD_ERR_VERIFY},
    [MODE_BEYOND] = {"mode 1 of 1", CKPD_ERR_VERIFY},
    [MODE_NEGATIVE] = {"mode INT32_MIN", CKPD_ERR_VERIFY},
    [WORK_MISSING] = {"slot-wise job idle", CKPD_ERR_VERIFY},
    [CHARGE_NAN] = {"charge is NaN", CKPD_ERR_VERIFY},
    [CHARGE_INFINITE] = {"charge is infinite", CKPD_ERR_VERIFY},
    [CHARGE_NEGATIVE] = {"charge is negative", CKPD_ERR_VERIFY},
    [CHARGE_TOO_MUCH] = {"charge above the limit", CKPD_ERR_VERIFY},
    [DISCHARGE_EMPTY] = {"discharge of an empty battery", CKPD_ERR_VERIFY},
    [BOTH_AT_ONCE] = {"charge and discharge at once", CKPD_ERR_VERIFY},
    [OUTCOME_UNKNOWN] = {"outcome 99", CKPD_ERR_BACKEND},
    [OUTCOME_NONE] = {"outcome 0", CKPD_ERR_BACKEND},
    [OUTCOME_NEGATIVE] = {"outcome INT32_MIN", CKPD_ERR_BACKEND},
    [PLAN_WITHOUT_OUTCOME] = {"infeasible with a plan", CKPD_ERR_BACKEND},
    [OUTCOME_WITHOUT_PLAN] = {"optimal without a plan", CKPD_ERR_BACKEND},
    [PLAN_MOVED] = {"another plan", CKPD_ERR_BACKEND},
    [ARRAY_MOVED] = {"another array", CKPD_ERR_BACKEND},
    [ARRAY_REMOVED] = {"no array", CKPD_ERR_BACKEND},
    [POSITIVE_STATUS] = {"status 7", CKPD_ERR_BACKEND},
};

static void lie_about_steps(int32_t lie, ckpd_path_plan *plan)
{
    switch (lie) {
    case HUGE_COUNT:
        plan->step_count[0] = 2000000000;
        break;
    case NEGATIVE_COUNT:
        plan->step_count[0] = -1;
        break;
    case MOVE_BEYOND:
        plan->step_move[0] = 1;
        break;
    case MOVE_NEGATIVE:
        plan->step_move[0] = INT32_MIN;
        break;
    case SLOT_BEYOND:
        plan->step_slot[0] = INT32_MAX;
        break;
    case SLOT_NEGATIVE:
        plan->step_slot[0] = -1;
        break;
    case TOO_LATE:
        plan->step_count[0] = 2;
        plan->step_slot[1] = 1;
        plan->step_move[1] = 0;
        break;
    case NOTHING_DONE:
        plan->step_count[0] = 0;
        break;
    case MODE_BEYOND:
        plan->slot_mode[3] = 1;
        break;
    case MODE_NEGATIVE:
        plan->slot_mode[3] = INT32_MIN;
        break;
    case WORK_MISSING:
        plan->slot_mode[4] = -1;
        break;
    default:
        break;
    }
}

static void lie_about_storage(int32_t lie, ckpd_path_plan *plan)
{
    switch (lie) {
    case CHARGE_NAN:
        plan->charge_kw[0] = NAN;
        break;
    case CHARGE_INFINITE:
        plan->charge_kw[0] = INFINITY;
        break;
    case CHARGE_NEGATIVE:
        plan->charge_kw[0] = -1;
        break;
    case CHARGE_TOO_MUCH:
        plan->charge_kw[0] = 5;
        break;
    case DISCHARGE_EMPTY:
        plan->discharge_kw[1] = 1;
        break;
    case BOTH_AT_ONCE:
        plan->charge_kw[0] = plan->discharge_kw[0] = 1;
        break;
    default:
        break;
    }
}

static ckpd_path_plan other_plan;
static int32_t other_array[6];

static int32_t lie_about_result(int32_t lie, ckpd_path_result *result)
{
    switch (lie) {
    case WRONG_OBJECTIVE:
        result->objective = result->bound = 1;
        break;
    case NAN_OBJECTIVE:
        result->objective = NAN;
        break;
    case NAN_BOUND:
        result->bound = NAN;
        break;
    case BOUND_ABOVE:
        result->bound = INFINITY;
        break;
    case ODD_FLAG:
        result->has_plan = -7;
        break;
    case OWN_SIZE:
        result->size = SIZE_MAX;
        result->plan->size = 1;
        break;
    case ENDLESS_MESSAGE:
        memset(result->message, 'x', sizeof result->message);
        break;
    case OUTCOME_UNKNOWN:
        result->outcome = 99;
        break;
    case OUTCOME_NONE:
        result->outcome = CKPD_OUTCOME_NONE;
        break;
    case OUTCOME_NEGATIVE:
        result->outcome = INT32_MIN;
        break;
    case PLAN_WITHOUT_OUTCOME:
        result->outcome = CKPD_OUTCOME_INFEASIBLE;
        break;
    case OUTCOME_WITHOUT_PLAN:
        result->has_plan = 0;
        break;
    case PLAN_MOVED:
        other_plan = *result->plan;
        result->plan = &other_plan;
        break;
    case ARRAY_MOVED:
        result->plan->step_move = other_array;
        break;
    case ARRAY_REMOVED:
        result->plan->charge_kw = NULL;
        break;
    case POSITIVE_STATUS:
        return 7;
    default:
        break;
    }
    return CKPD_OK;
}

static int32_t path_liar(const ckpd_host *host, const ckpd_path_view *given,
                         const ckpd_solve_params *params, ckpd_path_result *result, void *user)
{
    (void)host, (void)given, (void)params;
    const int32_t lie = *(int32_t *)user;
    true_plan(result);
    lie_about_steps(lie, result->plan);
    lie_about_storage(lie, result->plan);
    return lie_about_result(lie, result);
}

START_TEST(path_garbage_is_refused)
{
    lie_now = _i;
    liar_register((ckpd_backend_table){.capabilities = CKPD_CAP_PATHS | CKPD_CAP_SLOTWISE,
                                       .solve_paths = path_liar});
    enum { UNTOUCHED = 77 };
    int32_t count[2] = {UNTOUCHED, UNTOUCHED}, slot[6] = {UNTOUCHED}, move[6] = {UNTOUCHED},
            mode[6] = {UNTOUCHED};
    double charge[3] = {UNTOUCHED}, discharge[3] = {UNTOUCHED};
    ckpd_path_plan plan = {.size = sizeof plan,
                           .step_count = count,
                           .step_slot = slot,
                           .step_move = move,
                           .slot_mode = mode,
                           .charge_kw = charge,
                           .discharge_kw = discharge};
    ckpd_path_result result = {.size = sizeof result, .plan = &plan};
    const char *what = path_lie[_i].what;
    int32_t status = ckpd_path_solve(context, "liar", &view, NULL, NULL, &result);
    ck_assert_msg(status == path_lie[_i].status, "%s: status %d, %s", what, (int)status,
                  ckpd_context_last_message(context));
    ck_assert_ptr_eq(result.plan, &plan);
    if (status != CKPD_OK) {
        ck_assert_msg(strlen(ckpd_context_last_message(context)) > 0, "%s: no message", what);
        ck_assert_msg(count[0] == UNTOUCHED && slot[0] == UNTOUCHED && move[0] == UNTOUCHED &&
                          mode[0] == UNTOUCHED && charge[0] >= UNTOUCHED &&
                          discharge[0] >= UNTOUCHED && result.has_plan == 0,
                      "%s: refused, but something was handed on", what);
        return;
    }
    ck_assert_msg(result.has_plan == 1 && count[0] == 1 && slot[0] == 1 && move[0] == 0, "%s",
                  what);
    ck_assert_double_eq_tol(result.objective, 30, 1e-9);
    ck_assert_msg(result.outcome == CKPD_OUTCOME_FEASIBLE, "%s: outcome %d", what,
                  (int)result.outcome);
    ck_assert_msg(result.bound <= 30, "%s: bound %g", what, result.bound);
    ck_assert_uint_lt(strlen(result.message), sizeof result.message);
    ck_assert_uint_eq(result.size, sizeof result);
}
END_TEST

START_TEST(the_cheapest_path_plan_is_15)
{
    int32_t count[2], slot[6], move[6], mode[6];
    double charge[3], discharge[3];
    ckpd_path_plan plan = {sizeof plan, count, slot, move, mode, charge, discharge};
    ckpd_path_result result = {.size = sizeof result, .plan = &plan};
    ck_assert_int_eq(ckpd_path_solve(context, "enumerate", &view, NULL, NULL, &result), CKPD_OK);
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_OPTIMAL);
    ck_assert_double_eq_tol(result.objective, 15, 1e-9);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("solver: garbage for a path view");
    TCase *tests = liar_tests("garbage");
    tcase_add_loop_test(tests, path_garbage_is_refused, 0, PATH_LIES);
    tcase_add_test(tests, the_cheapest_path_plan_is_15);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
