/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* How the native solver behaves at limits: time, cancel, memory, threads, starts. */
#include "solver/native/native.h"
#include "support/native_run.h"
#include "support/random_view.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool read_case(case_view *view, const char *name, case_options options,
                      ckpd_path_result *result)
{
    const char *path = test_shared_path(name);
    if (!path)
        return false;
    ck_assert(case_view_read(view, path, &options));
    *result = (ckpd_path_result){.size = sizeof *result};
    result->plan = case_view_plan(view);
    return true;
}

START_TEST(time_limit_keeps_plan_and_bound)
{
    case_view view;
    ckpd_path_result result;
    if (!read_case(&view, "cases/scale/j8.json", (case_options){0}, &result))
        return;
    native_run run = native_run_default(ckpd__native_solve_paths);
    run.params.time_limit_s = 0.15;
    do { /* on a slow or busy machine the first plan takes longer */
        run.params.time_limit_s *= 2;
        ck_assert_int_eq(native_run_solve(&run, &view.view, &result), CKPD_OK);
    } while (!result.has_plan && run.params.time_limit_s < 60);
    printf("time limit %g s: %.3f s of processor time after it\n", run.params.time_limit_s,
           run.late);
    if (!test_fast())
        ck_assert_double_le(run.late, 1);
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_FEASIBLE);
    ck_assert_int_eq(result.has_plan, 1);
    ck_assert_double_le(result.bound, result.objective);
    ck_assert_int_eq(run.held, 0);
    case_view_free(&view);
}
END_TEST

START_TEST(cancel_at_any_poll)
{
    static const char *const names[] = {"cases/aidc2048-steep.json", "cases/scale/j20.json"};
    for (size_t n = 0; n < 2; n++)
        for (int32_t poll = 1; poll < 400; poll = poll * 2 + 1) {
            case_view view;
            ckpd_path_result result;
            if (!read_case(&view, names[n], (case_options){.storage = 1}, &result))
                return;
            native_run run = native_run_default(ckpd__native_solve_paths);
            run.cancel_at = poll;
            ck_assert_int_eq(native_run_solve(&run, &view.view, &result), CKPD_OK);
            /* A proof that the last step completed stands all the same. */
            if (run.polls >= poll)
                ck_assert(result.outcome == CKPD_OUTCOME_CANCELLED ||
                          result.outcome == CKPD_OUTCOME_OPTIMAL);
            if (poll == 1)
                ck_assert_int_eq(result.outcome, CKPD_OUTCOME_CANCELLED);
            if (result.has_plan)
                ck_assert_double_le(result.bound, result.objective);
            ck_assert_int_eq(run.held, 0);
            case_view_free(&view);
        }
}
END_TEST

/*
 * Limits and cancel are heeded within 100 ms: so much work lies between two questions at most,
 * before the first and after the last one included. Counted in processor time, which a busy machine
 * does not change.
 */
START_TEST(asks_often_enough)
{
    static const struct {
        const char *name;
        case_options options;
    } days[] = {{"cases/aidc2048-golden.json", {.storage = 1}},
                {"cases/aidc2048-steep.json", {.repeat = 4, .segments = 24, .storage = 1}},
                {"cases/aidc2048-steep.json", {.repeat = 12, .segments = 48, .storage = 1}},
                {"cases/aidc2048-golden.json", {.repeat = 12, .segments = 48}},
                {"cases/aidc2048-golden.json", {.slotwise = 1}},
                {"cases/aidc2048-steep.json", {.repeat = 4, .slotwise = 1}},
                {"cases/scale/j8.json", {0}},
                {"cases/scale/j100.json", {0}},
                {"cases/scale/j500.json", {0}}};
    enum { MEDIUM = 7 };
    case_view view;
    ckpd_path_result result;
    /* The largest take a slow build minutes to read, and differ from j8 in size only. */
    if (test_fast() && _i >= MEDIUM)
        return;
    if (!read_case(&view, days[_i].name, days[_i].options, &result))
        return;
    native_run run = native_run_default(ckpd__native_solve_paths);
    run.cancel_at = test_fast() ? 20 : 80;
    ck_assert_int_eq(native_run_solve(&run, &view.view, &result), CKPD_OK);
    printf("%s: %d slots, at most %.1f ms between polls\n", days[_i].name, (int)view.view.slots,
           1e3 * run.longest);
    if (!test_fast())
        ck_assert_double_le(run.longest, 0.1);
    ck_assert(result.outcome == CKPD_OUTCOME_OPTIMAL || result.outcome == CKPD_OUTCOME_CANCELLED);
    ck_assert_int_eq(run.held, 0);
    case_view_free(&view);
}
END_TEST

/* Every allocation fails once: an error, nothing held, no crash. */
START_TEST(memory_runs_out)
{
    for (uint32_t features = 0; features < 2; features++) {
        case_view view;
        random_view_make(&view, 3, &(random_shape){2, 5, 3, 2, features ? RANDOM_STORAGE : 0});
        ckpd_path_result result = {.size = sizeof result};
        result.plan = case_view_plan(&view);
        native_run whole = native_run_default(ckpd__native_solve_paths);
        ck_assert_int_eq(native_run_solve(&whole, &view.view, &result), CKPD_OK);
        for (int64_t n = 0; n < whole.allocations; n++) {
            native_run run = native_run_default(ckpd__native_solve_paths);
            run.fail_after = n;
            ck_assert_int_eq(native_run_solve(&run, &view.view, &result), CKPD_ERR_NO_MEMORY);
            ck_assert_int_eq(run.held, 0);
            ck_assert_str_ne(result.message, "");
        }
        case_view_free(&view);
    }
}
END_TEST

START_TEST(threads_change_nothing)
{
    case_view view;
    ckpd_path_result one, three;
    if (!read_case(&view, "cases/scale/j20.json", (case_options){0}, &one))
        return;
    three = (ckpd_path_result){.size = sizeof three};
    three.plan = case_view_plan(&view);
    native_run run = native_run_default(ckpd__native_solve_paths);
    run.params.iteration_limit = 60;
    ck_assert_int_eq(native_run_solve(&run, &view.view, &one), CKPD_OK);
    run.params.threads = 3;
    ck_assert_int_eq(native_run_solve(&run, &view.view, &three), CKPD_OK);
    ck_assert_int_eq(memcmp(&one.objective, &three.objective, sizeof one.objective), 0);
    ck_assert_int_eq(memcmp(&one.bound, &three.bound, sizeof one.bound), 0);
    size_t jobs = (size_t)view.view.jobs, slots = (size_t)view.view.slots;
    ck_assert_int_eq(memcmp(one.plan->step_count, three.plan->step_count, jobs * sizeof(int32_t)),
                     0);
    ck_assert_int_eq(
        memcmp(one.plan->step_move, three.plan->step_move, jobs * slots * sizeof(int32_t)), 0);
    ck_assert_int_eq(
        memcmp(one.plan->step_slot, three.plan->step_slot, jobs * slots * sizeof(int32_t)), 0);
    case_view_free(&view);
}
END_TEST

/* A start is never lost: with no time to search, the plan is at least as good as it. */
START_TEST(start_is_kept)
{
    case_view view;
    ckpd_path_result first, second;
    if (!read_case(&view, "cases/aidc2048-steep.json", (case_options){.storage = 1}, &first))
        return;
    native_run run = native_run_default(ckpd__native_solve_paths);
    ck_assert_int_eq(native_run_solve(&run, &view.view, &first), CKPD_OK);
    view.view.start = first.plan;
    second = (ckpd_path_result){.size = sizeof second};
    second.plan = case_view_plan(&view);
    run.params.iteration_limit = 1;
    ck_assert_int_eq(native_run_solve(&run, &view.view, &second), CKPD_OK);
    ck_assert_int_eq(second.has_plan, 1);
    ck_assert_double_le(second.objective, first.objective * (1 + 1e-9));
    case_view_free(&view);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        time_limit_keeps_plan_and_bound, cancel_at_any_poll, memory_runs_out,
        threads_change_nothing,          start_is_kept,      NULL};
    Suite *suite = test_suite("native limits", tests);
    TCase *often = tcase_create("asks often enough");
    tcase_add_loop_test(often, asks_often_enough, 0, 9);
    suite_add_tcase(suite, often);
    return test_run(suite);
}
