/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The native solver on the golden day. Expected optima: ../shared/cases/README.md (HiGHS and CBC on
 * an independently written model, relative gap 1e-6).
 */
#include "solver/native/native.h"
#include "support/case_view.h"
#include "support/native_run.h"
#include "support/support.h"

#include <math.h>

static void check_case(const char *name, case_options options, double cap, double expected)
{
    const char *path = test_shared_path(name);
    case_view view;
    if (!path)
        return;
    ck_assert(case_view_read(&view, path, &options));
    for (int32_t t = 0; cap > 0 && t < view.view.slots; t++)
        ((double *)(uintptr_t)view.view.gpu_cap)[t] = cap;
    ckpd_path_result result = {.size = sizeof result};
    result.plan = case_view_plan(&view);
    native_run run = native_run_default(ckpd__native_solve_paths);
    ck_assert_int_eq(native_run_solve(&run, &view.view, &result), CKPD_OK);
    if (isnan(expected)) {
        ck_assert_int_eq(result.outcome, CKPD_OUTCOME_INFEASIBLE);
        ck_assert_int_eq(result.has_plan, 0);
    } else {
        ck_assert_int_eq(result.outcome, CKPD_OUTCOME_OPTIMAL);
        ck_assert_double_eq_tol(result.objective, expected, 2e-6 * fabs(expected));
        ck_assert_double_le(result.bound, result.objective);
        ck_assert_double_ge(result.bound, result.objective - 1.0001e-6 * fabs(result.objective));
    }
    case_view_free(&view);
}

START_TEST(golden_day)
{
    check_case("cases/aidc2048-golden.json", (case_options){0}, 0, 305.41);
}
END_TEST

START_TEST(steep_day)
{
    check_case("cases/aidc2048-steep.json", (case_options){0}, 0, 376.8735);
}
END_TEST

START_TEST(battery)
{
    check_case("cases/aidc2048-golden.json", (case_options){.storage = 1}, 0, 303.113684211);
    check_case("cases/aidc2048-steep.json", (case_options){.storage = 1}, 0, 353.525583338);
}
END_TEST

START_TEST(quarter_hours)
{
    check_case("cases/aidc2048-golden.json", (case_options){.repeat = 4, .segments = 24}, 0,
               294.944);
    check_case("cases/aidc2048-steep.json", (case_options){.repeat = 4, .segments = 24}, 0,
               360.314);
}
END_TEST

START_TEST(by_segments)
{
    static const struct {
        int32_t segments;
        double cost;
    } known[] = {{1, 327.8925}, {2, 325.41},  {3, 319.106}, {4, 314.562},
                 {6, 318.594},  {8, 302.786}, {16, 294.85}, {24, 297.578}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        check_case("cases/aidc2048-golden.json", (case_options){.segments = known[i].segments}, 0,
                   known[i].cost);
}
END_TEST

START_TEST(by_gpu_cap)
{
    static const struct {
        double cap, cost;
    } known[] = {{768, (double)NAN}, {896, (double)NAN}, {1024, (double)NAN}, {1152, (double)NAN},
                 {1280, 380.527},    {1408, 353.12},     {1536, 324.4685},    {1664, 311.7005},
                 {1792, 311.7005},   {1920, 311.7005}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        check_case("cases/aidc2048-golden.json", (case_options){0}, known[i].cap, known[i].cost);
}
END_TEST

START_TEST(four_jobs)
{
    check_case("cases/scale/j4-a.json", (case_options){0}, 0, 762.6005);
    check_case("cases/scale/j4-b.json", (case_options){0}, 0, 548.8415);
}
END_TEST

/*
 * The day in 288 slots and 48 segments with the battery (841,964 binaries as a MILP, which no other
 * solver closes): proven within a number of evaluations of the bound that takes a few seconds.
 */
START_TEST(five_minutes_with_battery)
{
    static const char *const names[] = {"cases/aidc2048-golden.json", "cases/aidc2048-steep.json"};
    for (size_t i = test_fast() ? 2 : 0; i < 2; i++) {
        const char *path = test_shared_path(names[i]);
        case_view view;
        if (!path)
            return;
        ck_assert(case_view_read(&view, path,
                                 &(case_options){.repeat = 12, .segments = 48, .storage = 1}));
        ckpd_path_result result = {.size = sizeof result, .plan = case_view_plan(&view)};
        native_run run = native_run_default(ckpd__native_solve_paths);
        run.params.iteration_limit = 6000;
        ck_assert_int_eq(native_run_solve(&run, &view.view, &result), CKPD_OK);
        ck_assert_int_eq(result.outcome, CKPD_OUTCOME_OPTIMAL);
        ck_assert_double_ge(result.bound, result.objective - 1.0001e-6 * fabs(result.objective));
        case_view_free(&view);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {golden_day,  steep_day,  battery,   quarter_hours,
                                  by_segments, by_gpu_cap, four_jobs, five_minutes_with_battery,
                                  NULL};
    return test_run(test_suite("native golden", tests));
}
