/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The steep variant and the quarter-hour variants (24 segments, 96 slots). Expected values: HiGHS
 * and CBC on an independently written model, in cases/ *-expected.json.
 */
#include "support/golden_case.h"

#include <math.h>

#define CASE "aidc2048-steep.json"
#define EXPECTED "aidc2048-steep-expected.json"

START_TEST(scenarios)
{
    golden_case g;
    if (!golden_open(&g, CASE, NULL)) {
        return;
    }
    golden_expect(&g, CKPD_SCENARIO_S1, NULL, golden_expected(EXPECTED, "S1", NULL));
    golden_expect(&g, CKPD_SCENARIO_S2, NULL, golden_expected(EXPECTED, "S1", NULL));
    golden_expect(&g, CKPD_SCENARIO_S4, NULL, golden_expected(EXPECTED, "S4", NULL));
    golden_expect(&g, CKPD_SCENARIO_S6, NULL, golden_expected(EXPECTED, "S6", NULL));
    golden_close(&g);
}
END_TEST

/* General solvers need minutes for these; the built-in one for paths does not. */
START_TEST(quarter_hours)
{
    static const char *const names[] = {"aidc2048-golden.json", CASE};
    static const char *const expected[] = {"aidc2048-expected.json", EXPECTED};
    const golden_options options = {4, 24, 0};
    for (int32_t i = 0; i < 2; i++) {
        golden_case g;
        if (!golden_open(&g, names[i], &options)) {
            return;
        }
        if (ckpd_backend_capabilities(g.context, "native") == 0) {
            test_skip("quarter hours need the native backend");
            golden_close(&g);
            return;
        }
        golden_expect(&g, CKPD_SCENARIO_S4, "native",
                      golden_expected(expected[i], "quarter_hour_24_segments_S4", NULL));
        golden_close(&g);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {scenarios, quarter_hours, NULL};
    return test_run(test_suite("steep", tests));
}
