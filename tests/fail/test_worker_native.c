/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The native solver in a process of its own, which is killed: its last plan is there. */
#include "support/golden_case.h"

#include <math.h>

static int32_t enough(const ckpd_progress *progress, void *user)
{
    (void)user;
    return isfinite(progress->incumbent);
}

START_TEST(leaves_its_plan)
{
    static const int32_t scenarios[] = {CKPD_SCENARIO_S3, CKPD_SCENARIO_S4, CKPD_SCENARIO_S6};
    golden_case g;
    ckpd_solve_options *options = NULL;
    ckpd_solution *solution = NULL;
    if (!golden_open(&g, "aidc2048-golden.json", NULL)) {
        return;
    }
    ck_assert_int_eq(ckpd_solve_options_new(&options, g.context), CKPD_OK);
    ckpd_solve_options_set_backend(options, "native");
    ckpd_solve_options_set_worker(options, BUILD_DIR "/ckptdispatch");
    ckpd_solve_options_set_progress(options, enough, NULL);
    ck_assert_int_eq(ckpd_problem_solve(&solution, g.problem, scenarios[_i], options), CKPD_OK);
    ck_assert_int_eq(ckpd_solution_outcome(solution), CKPD_OUTCOME_CANCELLED);
    ck_assert_ptr_nonnull(ckpd_solution_plan(solution));
    ck_assert_int_eq(ckpd_report_violation_count(ckpd_solution_report(solution)), 0);
    ckpd_solution_free(solution);
    ckpd_solve_options_free(options);
    golden_close(&g);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("worker: the native solver");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, leaves_its_plan, 0, 3);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
