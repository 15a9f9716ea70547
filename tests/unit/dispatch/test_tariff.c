/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Slot curves against a search over all corners: the least cost at a net draw is attained where
 * import, export or curtailment stands at a bound or at a knot of its curve.
 */
#include "dispatch/dispatch.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

static ckpd_context *context;
static ckpd_site *site;
static ckpd__random rng;

static void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_site_new(&site, context, 1, 0.5), CKPD_OK);
    ckpd__random_seed(&rng, 20261013, 7);
}

static void teardown(void)
{
    ckpd_site_free(site);
    ckpd_context_free(context);
}

static double uniform(double low, double high)
{
    return low + (high - low) * ckpd__random_uniform(&rng);
}

static void set(const char *series, double value)
{
    ck_assert_int_eq(ckpd_site_set_constant(site, series, value), CKPD_OK);
}

static double extended(const ckpd__cost_curve *c, double x)
{
    int32_t last = c->count - 1;
    int32_t i = 0;
    while (i + 1 < last && x > c->x_kw[i + 1]) {
        i++;
    }
    double slope =
        (c->money_per_hour[i + 1] - c->money_per_hour[i]) / (c->x_kw[i + 1] - c->x_kw[i]);
    return c->money_per_hour[i] + slope * (x - c->x_kw[i]);
}

/* Money in the slot of given flows, by the definition in docs/model.md. */
static double money(double import, double exported, double curtailed)
{
    double sum = site->series[CKPD__IMPORT_PRICE][0] * import / 1000 -
                 site->series[CKPD__EXPORT_PRICE][0] * exported / 1000 +
                 site->series[CKPD__CURTAILMENT_PENALTY][0] * curtailed / 1000;
    for (int32_t c = 0; c < site->curve_count; c++) {
        const ckpd__cost_curve *curve = &site->curves[c];
        double x = curve->argument == CKPD_COST_IMPORT     ? import
                   : curve->argument == CKPD_COST_EXPORT   ? exported
                   : curve->argument == CKPD_COST_NET_LOAD ? import - exported - curtailed
                                                           : curtailed;
        sum += extended(curve, x);
    }
    return sum * site->slot_hours;
}

/* Candidates for a flow: its bounds and the knots of every curve. */
static int32_t candidates(double cap, double *values)
{
    int32_t count = 0;
    values[count++] = 0;
    values[count++] = cap;
    for (int32_t c = 0; c < site->curve_count; c++) {
        for (int32_t i = 0; i < site->curves[c].count; i++) {
            double x = site->curves[c].x_kw[i];
            if (x > 0 && x < cap) {
                values[count++] = x;
            }
        }
    }
    return count;
}

/* Least money at a net draw, infinity when no flows give it. */
static double search(double draw, double draw_high, double draw_low)
{
    double wind = site->series[CKPD__WIND][0];
    double net = draw - wind;
    double caps[2] = {fmin(site->series[CKPD__IMPORT_CAP][0], fmax(0, draw_high)),
                      fmin(site->series[CKPD__EXPORT_CAP][0], fmax(0, wind - draw_low))};
    double best = (double)INFINITY;
    double values[64];
    for (int32_t sells = 0; sells < 2; sells++) {
        double sign = sells ? -1 : 1;
        for (int32_t turn = 0; turn < 2; turn++) {
            int32_t count = candidates(turn ? wind : caps[sells], values);
            for (int32_t i = 0; i < count; i++) {
                double flow = turn ? sign * (net + values[i]) : values[i];
                double curtailed = turn ? values[i] : sign * flow - net;
                if (flow < -1e-9 || flow > caps[sells] + 1e-9 || curtailed < -1e-9 ||
                    curtailed > wind + 1e-9) {
                    continue;
                }
                best = fmin(best, sells ? money(0, flow, curtailed) : money(flow, 0, curtailed));
            }
        }
    }
    return best;
}

static void add_random_curve(int32_t argument)
{
    double x[4];
    double y[4];
    double slope = uniform(-0.08, 0.02);
    x[0] = uniform(-60, 30);
    y[0] = uniform(-1, 1);
    for (int32_t i = 1; i < 4; i++) {
        double width = uniform(1, 60);
        x[i] = x[i - 1] + width;
        y[i] = y[i - 1] + slope * width;
        slope += uniform(0, 0.06);
    }
    ck_assert_int_eq(ckpd_site_add_cost_curve(site, -1, argument, 4, x, y), CKPD_OK);
}

START_TEST(curves_are_exact)
{
    int32_t convex = 0;
    int32_t rounds = test_fast() ? 200 : 3000;
    for (int32_t round = 0; round < rounds; round++) {
        ckpd__site_free_curves(context, site->curves, site->curve_count);
        site->curves = NULL;
        site->curve_count = 0;
        set("import_price_per_mwh", floor(uniform(-100, 100)));
        set("export_price_per_mwh", floor(uniform(-100, 100)));
        set("curtailment_penalty_per_mwh", floor(uniform(0, 60)));
        set("wind_kw", round % 4 == 0 ? 0 : uniform(0, 100));
        set("import_cap_kw", round % 3 == 0 ? (double)INFINITY : uniform(0, 150));
        set("export_cap_kw", round % 5 == 0   ? (double)INFINITY
                             : round % 5 == 1 ? 0
                                              : uniform(0, 80));
        for (int32_t argument = CKPD_COST_IMPORT; round % 2 == 1 && argument <= 4; argument++) {
            add_random_curve(argument);
        }
        double low = uniform(-40, 20);
        double high = low + uniform(0, 150);
        ckpd__tariff tariff;
        ckpd__pwl curve = {0, 0, NULL, NULL};
        ck_assert_int_eq(ckpd__tariff_make(context, site, 0, low, high, &tariff), CKPD_OK);
        ck_assert_int_eq(ckpd__tariff_curve(context, site, 0, &tariff, low, high, &curve), CKPD_OK);
        convex += ckpd__pwl_tidy(&curve);
        ck_assert_int_ge(curve.count, 1);
        for (int32_t i = 1; i < curve.count; i++) {
            ck_assert_double_gt(curve.x[i], curve.x[i - 1]);
        }
        for (int32_t i = 0; i <= 40; i++) {
            double x = low + (high - low) * i / 40;
            double wanted = search(x, high, low);
            if (isinf(wanted)) {
                ck_assert(x < curve.x[0] + 1e-6 || x > curve.x[curve.count - 1] - 1e-6);
                continue;
            }
            ck_assert_msg(fabs(ckpd__pwl_value(&curve, x) - wanted) <= 1e-7,
                          "round %d at %g: %.12g, not %.12g", (int)round, x,
                          ckpd__pwl_value(&curve, x), wanted);
            ckpd__flows f = ckpd__tariff_flows(&tariff, x);
            ck_assert_double_eq_tol(f.import_kw - f.export_kw - f.curtailment_kw,
                                    x - site->series[CKPD__WIND][0], 1e-6);
            ck_assert(f.import_kw == 0 || f.export_kw == 0);
            ck_assert_double_eq_tol(money(f.import_kw, f.export_kw, f.curtailment_kw), wanted,
                                    1e-6);
        }
        ckpd__pwl_free(context, &curve);
        ckpd__tariff_free(context, &tariff);
    }
    ck_assert_int_gt(convex, rounds / 10);
    ck_assert_int_lt(convex, rounds);
}
END_TEST

START_TEST(a_plain_tariff_has_three_points)
{
    set("import_price_per_mwh", 40);
    set("curtailment_penalty_per_mwh", 20);
    set("wind_kw", 50);
    ckpd__tariff tariff;
    ckpd__pwl curve = {0, 0, NULL, NULL};
    ck_assert_int_eq(ckpd__tariff_make(context, site, 0, 10, 90, &tariff), CKPD_OK);
    ck_assert_int_eq(ckpd__tariff_curve(context, site, 0, &tariff, 10, 90, &curve), CKPD_OK);
    ck_assert(ckpd__pwl_tidy(&curve));
    ck_assert_int_eq(curve.count, 3);
    ck_assert_double_eq(curve.x[1], 50);
    ck_assert_double_eq_tol(curve.y[0], 40 * 0.5 * 20 / 1000.0, 1e-12);
    ck_assert_double_eq_tol(curve.y[1], 0, 1e-12);
    ck_assert_double_eq_tol(curve.y[2], 40 * 0.5 * 40 / 1000.0, 1e-12);
    ckpd__pwl_free(context, &curve);
    ckpd__tariff_free(context, &tariff);
}
END_TEST

START_TEST(ties_use_renewables_first)
{
    /* Nothing costs anything: what is drawn comes from the wind, and nothing is bought while it is
     * curtailed. */
    set("import_price_per_mwh", 0);
    set("wind_kw", 50);
    ckpd__tariff tariff;
    ck_assert_int_eq(ckpd__tariff_make(context, site, 0, 0, 90, &tariff), CKPD_OK);
    ckpd__flows f = ckpd__tariff_flows(&tariff, 30);
    ck_assert_double_eq(f.import_kw, 0);
    ck_assert_double_eq(f.curtailment_kw, 20);
    f = ckpd__tariff_flows(&tariff, 60);
    ck_assert_double_eq(f.import_kw, 10);
    ck_assert_double_eq(f.curtailment_kw, 0);
    ckpd__tariff_free(context, &tariff);
}
END_TEST

START_TEST(tidy_and_clip)
{
    ckpd__pwl f = {0, 0, NULL, NULL};
    const double x[] = {0, 1, 2, 2 + 1e-12, 3, 4};
    const double y[] = {0, 1, 2, 2, 4, 5};
    for (int32_t i = 0; i < 6; i++) {
        ck_assert_int_eq(ckpd__pwl_add_point(context, &f, x[i], y[i]), CKPD_OK);
    }
    /* slopes 1, 1, (nothing), 2, 1: not convex, and two points go */
    ck_assert(!ckpd__pwl_tidy(&f));
    ck_assert_int_eq(f.count, 4);
    ck_assert_double_eq(f.x[1], 2);
    ck_assert_int_eq(ckpd__pwl_clip(context, &f, 1, 2.5), CKPD_OK);
    ck_assert_int_eq(f.count, 3);
    ck_assert_double_eq(f.y[0], 1);
    ck_assert_double_eq_tol(f.y[2], 3, 1e-9);
    ck_assert_int_eq(ckpd__pwl_clip(context, &f, 7, 9), CKPD_OK);
    ck_assert_int_eq(f.count, 1);
    ck_assert_double_eq(f.x[0], 2.5);
    ckpd__pwl_free(context, &f);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {curves_are_exact, a_plain_tariff_has_three_points,
                                  ties_use_renewables_first, tidy_and_clip, NULL};
    Suite *suite = suite_create("tariff");
    TCase *tc = tcase_create("tariff");
    tcase_add_checked_fixture(tc, setup, teardown);
    for (int i = 0; tests[i] != NULL; i++) {
        tcase_add_test(tc, tests[i]);
    }
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
