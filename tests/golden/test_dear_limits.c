/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Import capped at 500 kW on the reference days, as a hard limit and as one with a price far above
 * everything else. The plan of the hard limit is one of the soft one too, so that the latter costs
 * no more; and a price, however high, must not make the proof longer by orders of magnitude.
 */
#include "support/golden_case.h"

#include <math.h>

enum { EVALUATIONS = 4000 };

static double least(golden_case *golden, int32_t *overruns)
{
    ckpd_solve_options *options = NULL;
    ckpd_solution *solution = NULL;
    ck_assert_int_eq(ckpd_solve_options_new(&options, golden->context), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_set(options, "iteration_limit", EVALUATIONS), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_set_backend(options, "native"), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_solve(&solution, golden->problem, CKPD_SCENARIO_S6, options),
                     CKPD_OK);
    double cost = ckpd_solution_cost(solution);
    ck_assert_double_ge(ckpd_solution_bound(solution), cost - 1.0001e-6 * fabs(cost));
    ck_assert_int_eq(ckpd_report_violation_count(ckpd_solution_report(solution)), 0);
    *overruns = ckpd_report_overrun_count(ckpd_solution_report(solution));
    ckpd_solution_free(solution);
    ckpd_solve_options_free(options);
    return cost;
}

START_TEST(a_price_far_above_all_others)
{
    static const char *const days[] = {"aidc2048-golden.json", "aidc2048-steep.json"};
    for (size_t i = 0; i < sizeof days / sizeof *days; i++) {
        golden_case golden;
        int32_t overruns;
        if (!golden_open(&golden, days[i], NULL))
            return;
        ck_assert_int_eq(ckpd_site_set_constant(golden.site, "import_cap_kw", 500), CKPD_OK);
        ck_assert_int_eq(ckpd_problem_set_site(golden.problem, golden.site), CKPD_OK);
        double hard = least(&golden, &overruns);
        ck_assert_int_eq(overruns, 0);
        for (double price = 1000; price < 2e5; price *= 10) {
            ck_assert_int_eq(ckpd_site_set_constant(golden.site, "import_cap_price_per_mwh", price),
                             CKPD_OK);
            ck_assert_int_eq(ckpd_problem_set_site(golden.problem, golden.site), CKPD_OK);
            double soft = least(&golden, &overruns);
            ck_assert_double_le(soft, hard * (1 + 1e-6));
            if (overruns == 0)
                ck_assert_double_ge(soft, hard * (1 - 1e-6));
        }
        golden_close(&golden);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_price_far_above_all_others, NULL};
    return test_run(test_suite("golden: dear limits", tests));
}
