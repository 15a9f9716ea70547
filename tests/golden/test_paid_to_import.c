/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The reference days with import paid for (-80 per MWh) and export at +100 up to 500 kW: every plan
 * earns money, and no curve is convex. What a plan costs is checked by the report, how far it is
 * from the best by the bound; and a battery may rest, so that with it no plan need be dearer.
 */
#include "support/golden_case.h"

#include <math.h>

static void change(golden_case *golden)
{
    ck_assert_int_eq(ckpd_site_set_constant(golden->site, "import_price_per_mwh", -80), CKPD_OK);
    ck_assert_int_eq(ckpd_site_set_constant(golden->site, "export_price_per_mwh", 100), CKPD_OK);
    ck_assert_int_eq(ckpd_site_set_constant(golden->site, "export_cap_kw", 500), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_set_site(golden->problem, golden->site), CKPD_OK);
}

/* Within so many evaluations of the bound. */
static ckpd_solution *solve(golden_case *golden, int32_t scenario, double evaluations)
{
    ckpd_solve_options *options = NULL;
    ckpd_solution *solution = NULL;
    ck_assert_int_eq(ckpd_solve_options_new(&options, golden->context), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_set(options, "iteration_limit", evaluations), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_solve(&solution, golden->problem, scenario, options), CKPD_OK);
    ck_assert_int_eq(ckpd_report_violation_count(ckpd_solution_report(solution)), 0);
    ckpd_solve_options_free(options);
    return solution;
}

START_TEST(paid_to_import)
{
    static const struct {
        const char *name;
        double gap, gap_with_battery;
    } days[] = {{"aidc2048-golden.json", 1e-6, 1e-3}, {"aidc2048-steep.json", 1e-3, 0.03}};
    for (size_t i = 0; i < sizeof days / sizeof *days; i++) {
        golden_case golden;
        if (!golden_open(&golden, days[i].name, NULL))
            return;
        change(&golden);
        ckpd_solution *without = solve(&golden, CKPD_SCENARIO_S4, 2000);
        ckpd_solution *with = solve(&golden, CKPD_SCENARIO_S6, 2000);
        double cost = ckpd_solution_cost(without), least = ckpd_solution_cost(with);
        ck_assert_double_lt(cost, 0);
        ck_assert_double_ge(ckpd_solution_bound(without), cost - days[i].gap * 1.0001 * fabs(cost));
        ck_assert_double_le(least, cost + 1e-6 * fabs(cost));
        ck_assert_double_ge(ckpd_solution_bound(with),
                            least - days[i].gap_with_battery * fabs(least));
        ckpd_solution_free(without);
        ckpd_solution_free(with);
        golden_close(&golden);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {paid_to_import, NULL};
    return test_run(test_suite("golden: paid to import", tests));
}
