/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Series, battery and cost curves: what is taken, what is refused and in which words. */
#include "site/site.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

static ckpd_context *context;
static ckpd_site *site;

static void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_site_new(&site, context, 4, 0.5), CKPD_OK);
}

static void teardown(void)
{
    ckpd_site_free(site);
    ckpd_context_free(context);
}

/* Status, field, index and a part of the text of the last error. */
static void expect_error(int32_t status, int32_t code, const char *field, int64_t index,
                         const char *part)
{
    ckpd_error error = {.size = sizeof error};
    ck_assert_int_eq(status, code);
    ck_assert_int_eq(ckpd_context_last_error(context, &error), CKPD_OK);
    ck_assert_int_eq(error.code, code);
    ck_assert_str_eq(error.field, field);
    ck_assert_int_eq(error.index, index);
    ck_assert_msg(strstr(error.message, part) != NULL, "'%s' lacks '%s'", error.message, part);
}

START_TEST(horizon_limits)
{
    ckpd_site *other = NULL;
    expect_error(ckpd_site_new(&other, context, 0, 1), CKPD_ERR_RANGE, "slots", -1,
                 "below the minimum 1");
    expect_error(ckpd_site_new(&other, context, -5, 1), CKPD_ERR_RANGE, "slots", -1, "-5");
    expect_error(ckpd_site_new(&other, context, 100001, 1), CKPD_ERR_RANGE, "slots", -1, "100000");
    expect_error(ckpd_site_new(&other, context, 24, 0), CKPD_ERR_RANGE, "slot_hours", -1, "0");
    expect_error(ckpd_site_new(&other, context, 24, (double)NAN), CKPD_ERR_NOT_FINITE, "slot_hours",
                 -1, "NaN");
    expect_error(ckpd_site_new(&other, context, 24, (double)INFINITY), CKPD_ERR_NOT_FINITE,
                 "slot_hours", -1, "infinite");
    ck_assert_ptr_null(other);
    ck_assert_int_eq(ckpd_site_new(&other, NULL, 24, 1), CKPD_ERR_ARGUMENT);
    expect_error(ckpd_site_new(NULL, context, 24, 1), CKPD_ERR_ARGUMENT, "out", -1, "NULL");
    ck_assert_int_eq(ckpd_site_slots(site), 4);
    ck_assert_double_eq(ckpd_site_slot_hours(site), 0.5);
}
END_TEST

START_TEST(series_are_copied_and_read_back)
{
    double price[4] = {20, -60, 637, 0};
    double back[4];
    ck_assert_int_eq(ckpd_site_set_series(site, "import_price_per_mwh", price, 4), CKPD_OK);
    price[0] = 99;
    ck_assert_int_eq(ckpd_site_get_series(site, "import_price_per_mwh", back, 4), CKPD_OK);
    ck_assert_double_eq(back[0], 20);
    ck_assert_double_eq(back[1], -60);
    ck_assert_int_eq(ckpd_site_get_series(site, "site_cap_kw", back, 4), CKPD_OK);
    ck_assert(isinf(back[3]) && back[3] > 0);
    ck_assert_int_eq(ckpd_site_get_series(site, "export_cap_kw", back, 4), CKPD_OK);
    ck_assert_double_eq(back[3], 0);
}
END_TEST

START_TEST(bad_series_are_refused)
{
    double good[4] = {1, 2, 3, 4};
    double bad[4] = {1, 2, 3, 4};
    double back[4];
    expect_error(ckpd_site_set_series(site, "import_price_per_mwh", good, 3), CKPD_ERR_LENGTH,
                 "import_price_per_mwh", -1, "has 3 values, the horizon has slots = 4");
    expect_error(ckpd_site_set_series(site, "import_price_per_mwh", good, 5), CKPD_ERR_LENGTH,
                 "import_price_per_mwh", -1, "5");
    expect_error(ckpd_site_set_series(site, "import_price_mwh", good, 4), CKPD_ERR_UNKNOWN_NAME,
                 "import_price_mwh", -1, "did you mean 'import_price_per_mwh'?");
    expect_error(ckpd_site_set_series(site, NULL, good, 4), CKPD_ERR_ARGUMENT, "name", -1, "NULL");
    expect_error(ckpd_site_set_series(site, "wind_kw", NULL, 4), CKPD_ERR_ARGUMENT, "values", -1,
                 "NULL");
    ck_assert_int_eq(ckpd_site_set_series(site, "wind_kw", good, 4), CKPD_OK);
    bad[2] = (double)NAN;
    expect_error(ckpd_site_set_series(site, "wind_kw", bad, 4), CKPD_ERR_NOT_FINITE, "wind_kw", 2,
                 "NaN");
    bad[2] = (double)INFINITY;
    expect_error(ckpd_site_set_series(site, "wind_kw", bad, 4), CKPD_ERR_NOT_FINITE, "wind_kw", 2,
                 "infinite");
    bad[2] = -1;
    expect_error(ckpd_site_set_series(site, "wind_kw", bad, 4), CKPD_ERR_RANGE, "wind_kw", 2,
                 "wind_kw[2] = -1 is below the minimum 0");
    ck_assert_int_eq(ckpd_site_get_series(site, "wind_kw", back, 4), CKPD_OK);
    ck_assert_double_eq(back[2], 3);
    /* F-74: PUE below 1, NaN, 0 */
    expect_error(ckpd_site_set_constant(site, "pue", 0.99), CKPD_ERR_RANGE, "pue", -1, "minimum 1");
    expect_error(ckpd_site_set_constant(site, "pue", 0), CKPD_ERR_RANGE, "pue", -1, "minimum 1");
    expect_error(ckpd_site_set_constant(site, "pue", (double)NAN), CKPD_ERR_NOT_FINITE, "pue", -1,
                 "NaN");
    ck_assert_int_eq(ckpd_site_set_constant(site, "gpu_cap", (double)INFINITY), CKPD_OK);
    expect_error(ckpd_site_set_constant(site, "import_price_per_mwh", (double)INFINITY),
                 CKPD_ERR_NOT_FINITE, "import_price_per_mwh", -1, "infinite");
    expect_error(ckpd_site_get_series(site, "import_price_per_mwh", back, 4), CKPD_ERR_MISSING,
                 "import_price_per_mwh", -1, "has not been given");
}
END_TEST

static double sunny(int32_t slot, double start_hours, double length_hours, int32_t *failed,
                    void *user)
{
    *failed = slot == 2 ? *(const int32_t *)user : 0;
    return 100.0 * start_hours + length_hours;
}

START_TEST(profile_callbacks)
{
    int32_t fail = 0;
    double back[4];
    ck_assert_int_eq(ckpd_site_set_profile(site, "solar_kw", sunny, &fail), CKPD_OK);
    ck_assert_int_eq(ckpd_site_get_series(site, "solar_kw", back, 4), CKPD_OK);
    ck_assert_double_eq(back[3], 150.5);
    fail = 7;
    expect_error(ckpd_site_set_profile(site, "solar_kw", sunny, &fail), CKPD_ERR_CALLBACK,
                 "solar_kw", 2, "stopped in slot 2 with 7");
    fail = 0;
    expect_error(ckpd_site_set_profile(site, "pue", sunny, &fail), CKPD_ERR_RANGE, "pue", 0,
                 "minimum 1");
    expect_error(ckpd_site_set_profile(site, "wind_kw", NULL, NULL), CKPD_ERR_ARGUMENT, "profile",
                 -1, "NULL");
}
END_TEST

START_TEST(cost_curves)
{
    const double x[3] = {0, 10, 20};
    const double up[3] = {0, 1, 3};
    const double down[3] = {0, 3, 4};
    const double twice[3] = {0, 10, 10};
    const double nan[3] = {0, (double)NAN, 4};
    ck_assert_int_eq(ckpd_site_add_cost_curve(site, -1, CKPD_COST_IMPORT, 3, x, up), CKPD_OK);
    ck_assert_int_eq(ckpd_site_add_cost_curve(site, 3, CKPD_COST_NET_LOAD, 2, x, up), CKPD_OK);
    expect_error(ckpd_site_add_cost_curve(site, 2, CKPD_COST_IMPORT, 3, x, down),
                 CKPD_ERR_NOT_CONVEX, "money_per_hour", 2,
                 "slot 2 is not convex: slope falls from 0.3 to 0.1");
    expect_error(ckpd_site_add_cost_curve(site, 1, CKPD_COST_IMPORT, 3, twice, up), CKPD_ERR_RANGE,
                 "x_kw", 1, "does not rise");
    expect_error(ckpd_site_add_cost_curve(site, 1, CKPD_COST_IMPORT, 3, x, nan),
                 CKPD_ERR_NOT_FINITE, "money_per_hour", 1, "NaN");
    expect_error(ckpd_site_add_cost_curve(site, 4, CKPD_COST_IMPORT, 3, x, up), CKPD_ERR_RANGE,
                 "slot", -1, "above the maximum 3");
    expect_error(ckpd_site_add_cost_curve(site, 0, 5, 3, x, up), CKPD_ERR_RANGE, "argument", -1,
                 "5");
    expect_error(ckpd_site_add_cost_curve(site, 0, 1, 1, x, up), CKPD_ERR_RANGE, "count", 0,
                 "minimum 2");
    ck_assert_int_eq(site->curve_count, 2);
}
END_TEST

static int32_t ramp(int32_t slot, int32_t capacity, double *x, double *money, void *user)
{
    const int32_t *trouble = user;
    ck_assert_int_ge(capacity, 2);
    if (slot == 0) {
        return 0;
    }
    x[0] = 0;
    x[1] = slot;
    money[0] = 0;
    money[1] = slot == 3 && *trouble == 1 ? (double)NAN : 5;
    return slot == 2 && *trouble == 2 ? -9 : slot == 2 && *trouble == 3 ? capacity + 1 : 2;
}

START_TEST(cost_callbacks_are_all_or_none)
{
    int32_t trouble = 0;
    ck_assert_int_eq(ckpd_site_add_cost_callback(site, CKPD_COST_EXPORT, ramp, &trouble), CKPD_OK);
    ck_assert_int_eq(site->curve_count, 3);
    trouble = 1;
    expect_error(ckpd_site_add_cost_callback(site, CKPD_COST_EXPORT, ramp, &trouble),
                 CKPD_ERR_NOT_FINITE, "money_per_hour", 3, "NaN");
    trouble = 2;
    expect_error(ckpd_site_add_cost_callback(site, CKPD_COST_EXPORT, ramp, &trouble),
                 CKPD_ERR_CALLBACK, "curve", 2, "stopped in slot 2 with -9");
    trouble = 3;
    expect_error(ckpd_site_add_cost_callback(site, CKPD_COST_EXPORT, ramp, &trouble),
                 CKPD_ERR_RANGE, "count", 2, "257");
    ck_assert_int_eq(site->curve_count, 3);
    /* curves of slots 1, 2, 3, and one of every slot that comes first wherever it was added */
    const double x[2] = {0, 10};
    const double y[2] = {0, 1};
    ck_assert_int_eq(ckpd__next_curve(site, 0, -1), -1);
    ck_assert_int_eq(ckpd__next_curve(site, 1, -1), 0);
    ck_assert_int_eq(ckpd__next_curve(site, 1, 0), -1);
    ck_assert_int_eq(ckpd_site_add_cost_curve(site, 2, CKPD_COST_IMPORT, 2, x, y), CKPD_OK);
    ck_assert_int_eq(ckpd_site_add_cost_curve(site, -1, CKPD_COST_IMPORT, 2, x, y), CKPD_OK);
    ck_assert_int_eq(ckpd_site_add_cost_curve(site, 0, CKPD_COST_IMPORT, 2, x, y), CKPD_OK);
    ck_assert_int_eq(ckpd__next_curve(site, 0, -1), 0);
    ck_assert_int_eq(ckpd__next_curve(site, 0, 0), 1);
    ck_assert_int_eq(ckpd__next_curve(site, 0, 1), -1);
    ck_assert_int_eq(ckpd__next_curve(site, 2, 0), 3);
    ck_assert_int_eq(ckpd__next_curve(site, 2, 3), 4);
    ck_assert_int_eq(site->curves[3].argument, CKPD_COST_EXPORT);
    ck_assert_int_eq(ckpd__next_curve(site, 2, 4), -1);
    ck_assert_int_eq(ckpd__next_curve(site, 3, 0), 5);
    ck_assert_int_eq(ckpd__next_curve(site, 3, 5), -1);
}
END_TEST

/* b0 of the reference cases, in kW and kWh. */
static ckpd_battery *b0(void)
{
    static const struct {
        const char *field;
        double value;
    } values[] = {{"energy_kwh", 20000},   {"charge_kw", 10000},
                  {"discharge_kw", 10000}, {"eta_charge", 0.9},
                  {"eta_discharge", 0.9},  {"soc_start_kwh", 10000},
                  {"soc_end_kwh", 10000},  {NULL, 0}};
    ckpd_battery *battery = NULL;
    ck_assert_int_eq(ckpd_battery_new(&battery, context), CKPD_OK);
    for (int i = 0; values[i].field != NULL; i++) {
        ck_assert_int_eq(ckpd_battery_set(battery, values[i].field, values[i].value), CKPD_OK);
    }
    ck_assert_int_eq(ckpd_battery_set_text(battery, "terminal", "at_least"), CKPD_OK);
    return battery;
}

START_TEST(battery_is_copied_once)
{
    ckpd_battery *battery = b0();
    double value = 0;
    ck_assert_int_eq(ckpd_site_has_battery(site), 0);
    ck_assert_int_eq(ckpd_site_add_battery(site, battery), CKPD_OK);
    ck_assert_int_eq(ckpd_site_has_battery(site), 1);
    ck_assert_double_eq(site->battery[CKPD__BATTERY_SOC_MAX], 20000);
    expect_error(ckpd_site_add_battery(site, battery), CKPD_ERR_NOT_SUPPORTED, "battery", 1,
                 "second battery is not supported yet");
    ck_assert_int_eq(ckpd_site_remove_battery(site), CKPD_OK);
    ck_assert_int_eq(ckpd_site_add_battery(site, battery), CKPD_OK);
    ck_assert_int_eq(ckpd_battery_get(battery, "eta_charge", &value), CKPD_OK);
    ck_assert_double_eq(value, 0.9);
    ckpd_battery_free(battery);
    ckpd_battery_free(NULL);
}
END_TEST

START_TEST(bad_batteries_are_refused)
{
    ckpd_battery *battery = b0();
    ckpd_battery *empty = NULL;
    expect_error(ckpd_battery_set(battery, "soc_inti", 1), CKPD_ERR_UNKNOWN_NAME, "soc_inti", -1,
                 "battery has no field 'soc_inti'");
    expect_error(ckpd_battery_set(battery, "eta_charge", 1.1), CKPD_ERR_RANGE, "eta_charge", -1,
                 "1.1");
    expect_error(ckpd_battery_set(battery, "eta_charge", (double)NAN), CKPD_ERR_NOT_FINITE,
                 "eta_charge", -1, "NaN");
    expect_error(ckpd_battery_set(battery, "energy_kwh", -1), CKPD_ERR_RANGE, "energy_kwh", -1,
                 "-1");
    expect_error(ckpd_battery_set_text(battery, "terminal", "cyclic"), CKPD_ERR_UNKNOWN_NAME,
                 "terminal", -1, "equal|at_least|free");
    /* a start SOC that is not given is said, never "infeasible" */
    ck_assert_int_eq(ckpd_battery_new(&empty, context), CKPD_OK);
    ck_assert_int_eq(ckpd_battery_set(empty, "energy_kwh", 1), CKPD_OK);
    expect_error(ckpd_site_add_battery(site, empty), CKPD_ERR_MISSING, "charge_kw", -1, "missing");
    /* initial SOC below its minimum */
    ck_assert_int_eq(ckpd_battery_set(battery, "soc_min_kwh", 3000), CKPD_OK);
    ck_assert_int_eq(ckpd_battery_set(battery, "soc_start_kwh", 2800), CKPD_OK);
    expect_error(ckpd_site_add_battery(site, battery), CKPD_ERR_INCONSISTENT, "soc_start_kwh", -1,
                 "initial SOC 2800 kWh below minimum 3000 kWh");
    ck_assert_int_eq(ckpd_battery_set(battery, "soc_start_kwh", 20100), CKPD_OK);
    expect_error(ckpd_site_add_battery(site, battery), CKPD_ERR_INCONSISTENT, "soc_start_kwh", -1,
                 "above maximum 20000 kWh");
    ck_assert_int_eq(ckpd_battery_set(battery, "soc_start_kwh", 5000), CKPD_OK);
    ck_assert_int_eq(ckpd_battery_set(battery, "soc_end_kwh", 2000), CKPD_OK);
    expect_error(ckpd_site_add_battery(site, battery), CKPD_ERR_INCONSISTENT, "soc_end_kwh", -1,
                 "final SOC 2000 kWh below minimum 3000 kWh");
    ck_assert_int_eq(ckpd_battery_set(battery, "soc_max_kwh", 20001), CKPD_OK);
    expect_error(ckpd_site_add_battery(site, battery), CKPD_ERR_INCONSISTENT, "soc_max_kwh", -1,
                 "above the battery's size");
    ck_assert_int_eq(ckpd_battery_set(battery, "soc_max_kwh", 2999), CKPD_OK);
    expect_error(ckpd_site_add_battery(site, battery), CKPD_ERR_INCONSISTENT, "soc_min_kwh", -1,
                 "above maximum SOC");
    ck_assert_int_eq(ckpd_site_has_battery(site), 0);
    ckpd_battery_free(battery);
    ckpd_battery_free(empty);
}
END_TEST

static void count_log(int32_t level, int32_t code, const char *message, void *user)
{
    (void)level;
    (void)message;
    *(int *)user += code == CKPD_MSG_SOC_CLAMPED;
}

START_TEST(carried_over_soc_is_clamped_with_a_note)
{
    /* C-37: 20.00001 MWh of 20 comes back from an earlier window */
    int notes = 0;
    ckpd_battery *battery = b0();
    ck_assert_int_eq(ckpd_context_set_log(context, CKPD_LOG_WARNING, count_log, &notes), CKPD_OK);
    ck_assert_int_eq(ckpd_battery_set(battery, "soc_start_kwh", 20000.01), CKPD_OK);
    ck_assert_int_eq(ckpd_site_add_battery(site, battery), CKPD_OK);
    ck_assert_double_eq(site->battery[CKPD__BATTERY_SOC_START], 20000);
    ck_assert_int_eq(notes, 1);
    ck_assert_int_eq(ckpd_site_remove_battery(site), CKPD_OK);
    /* recovery: below the minimum is let rise, said once */
    ck_assert_int_eq(ckpd_battery_set(battery, "soc_min_kwh", 3000), CKPD_OK);
    ck_assert_int_eq(ckpd_battery_set(battery, "soc_start_kwh", 2800), CKPD_OK);
    ck_assert_int_eq(ckpd_battery_set(battery, "recover_soc", 1), CKPD_OK);
    ck_assert_int_eq(ckpd_site_add_battery(site, battery), CKPD_OK);
    ck_assert_double_eq(site->battery[CKPD__BATTERY_SOC_START], 2800);
    ck_assert_int_eq(notes, 2);
    ckpd_battery_free(battery);
}
END_TEST

START_TEST(copies_are_independent)
{
    const double x[2] = {0, 10};
    const double y[2] = {0, 1};
    ck_assert_int_eq(ckpd_site_set_constant(site, "import_price_per_mwh", 5), CKPD_OK);
    ck_assert_int_eq(ckpd__site_check(context, site), CKPD_ERR_MISSING);
    ck_assert_int_eq(ckpd_site_set_constant(site, "gpu_cap", 8), CKPD_OK);
    ck_assert_int_eq(ckpd__site_check(context, site), CKPD_OK);
    ck_assert_int_eq(ckpd_site_add_cost_curve(site, -1, CKPD_COST_IMPORT, 2, x, y), CKPD_OK);
    ckpd_site *copy = ckpd__site_copy(context, site);
    ck_assert_ptr_nonnull(copy);
    ck_assert_int_eq(ckpd_site_set_constant(site, "import_price_per_mwh", 6), CKPD_OK);
    ck_assert_double_eq(copy->series[CKPD__IMPORT_PRICE][3], 5);
    ck_assert_double_eq(copy->curves[0].money_per_hour[1], 1);
    ckpd_site_free(copy);
    ckpd_site_free(NULL);
}
END_TEST

START_TEST(descriptions_name_units_and_bounds)
{
    ckpd_field_info info = {.size = sizeof info};
    ck_assert_int_eq(ckpd_site_series_count(), CKPD__SERIES_COUNT);
    ck_assert_int_eq(ckpd_site_series_info(CKPD__PUE, &info), CKPD_OK);
    ck_assert_str_eq(info.name, "pue");
    ck_assert_double_eq(info.minimum, 1);
    ck_assert_int_eq(ckpd_site_series_info(CKPD__SERIES_COUNT, &info), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_battery_field_count(), CKPD__BATTERY_FIELDS);
    ck_assert_int_eq(ckpd_battery_field_info(CKPD__BATTERY_TERMINAL, &info), CKPD_OK);
    ck_assert_str_eq(info.choices, "equal|at_least|free");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        horizon_limits,
        series_are_copied_and_read_back,
        bad_series_are_refused,
        profile_callbacks,
        cost_curves,
        cost_callbacks_are_all_or_none,
        battery_is_copied_once,
        bad_batteries_are_refused,
        carried_over_soc_is_clamped_with_a_note,
        copies_are_independent,
        descriptions_name_units_and_bounds,
        NULL,
    };
    Suite *suite = suite_create("site");
    TCase *tc = tcase_create("site");
    tcase_add_checked_fixture(tc, setup, teardown);
    for (int i = 0; tests[i] != NULL; i++) {
        tcase_add_test(tc, tests[i]);
    }
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
