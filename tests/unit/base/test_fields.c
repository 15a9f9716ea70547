/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Field tables, on a table made for the test. */
#include "support/support.h"

#include "base/fields.h"
#include <math.h>
#include <string.h>

enum { ENERGY, CYCLES, FAST, TERMINAL, PRICE, COUNT };
static const ckpd__field fields[COUNT] = {
    {"energy_kwh", "kWh", "Usable energy", CKPD_FIELD_NUMBER, 1, 0, 1e9, 0, NULL},
    {"cycles", "", "Cycles a day", CKPD_FIELD_INTEGER, 0, 1, 10, 2, NULL},
    {"fast", "", "Fast charging", CKPD_FIELD_FLAG, 0, 0, 1, 0, NULL},
    {"terminal", "", "Rule at the end", CKPD_FIELD_CHOICE, 0, 0, 2, 1, "equal|at_least|free"},
    {"price_per_mwh", "money/MWh", "May be left out", CKPD_FIELD_NUMBER, 0, -1e6, 1e6, (double)NAN,
     NULL},
};
static const ckpd__field_table table = {"battery", fields, COUNT};

static ckpd_context *context;
static double values[COUNT];

static void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ckpd__fields_defaults(&table, values);
}

static void teardown(void)
{
    ckpd_context_free(context);
}

static int32_t set(const char *name, double value)
{
    return ckpd__fields_set(context, &table, values, name, value);
}

static void check_message(const char *expected)
{
    ck_assert_str_eq(ckpd_context_last_message(context), expected);
}

START_TEST(test_defaults)
{
    ck_assert(isnan(values[ENERGY]));
    ck_assert_double_eq(values[CYCLES], 2);
    ck_assert_double_eq(values[FAST], 0);
    ck_assert_double_eq(values[TERMINAL], 1);
    ck_assert(isnan(values[PRICE]));
    ck_assert_int_eq(ckpd__fields_find(&table, "terminal"), TERMINAL);
    ck_assert_int_eq(ckpd__fields_find(&table, "Terminal"), -1);
}
END_TEST

START_TEST(test_set_and_get)
{
    double value = -1;
    ck_assert_int_eq(set("energy_kwh", 2000), CKPD_OK);
    ck_assert_int_eq(ckpd__fields_get(context, &table, values, "energy_kwh", &value), CKPD_OK);
    ck_assert_double_eq(value, 2000);
    ck_assert_int_eq(ckpd__fields_get(context, &table, values, "energy_kwh", NULL),
                     CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd__fields_get(context, &table, values, "energy", &value),
                     CKPD_ERR_UNKNOWN_NAME);
    check_message("battery has no field 'energy'; did you mean 'energy_kwh'?");
    ck_assert_double_eq(value, 2000);
    ck_assert_int_eq(ckpd__fields_unset(context, &table, values, "energy_kwh"), CKPD_OK);
    ck_assert(isnan(values[ENERGY]));
    ck_assert_int_eq(set("cycles", 5), CKPD_OK);
    ck_assert_int_eq(ckpd__fields_unset(context, &table, values, "cycles"), CKPD_OK);
    ck_assert_double_eq(values[CYCLES], 2);
    ck_assert_int_eq(ckpd__fields_unset(context, &table, values, NULL), CKPD_ERR_ARGUMENT);
}
END_TEST

START_TEST(test_refused_values)
{
    ck_assert_int_eq(set("energy_kwh", -1), CKPD_ERR_RANGE);
    check_message("energy_kwh = -1 is below the minimum 0");
    ck_assert_int_eq(set("energy_kwh", (double)NAN), CKPD_ERR_NOT_FINITE);
    ck_assert_int_eq(set("energy_kwh", (double)INFINITY), CKPD_ERR_NOT_FINITE);
    ck_assert_int_eq(set("cycles", 2.5), CKPD_ERR_RANGE);
    check_message("battery: cycles = 2.5 is not a whole number");
    ck_assert_int_eq(set("fast", 0.5), CKPD_ERR_RANGE);
    ck_assert_int_eq(set("fast", 2), CKPD_ERR_RANGE);
    ck_assert_int_eq(set("terminal", 1), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(set(NULL, 1), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(set("", 1), CKPD_ERR_UNKNOWN_NAME);
    ck_assert_int_eq(set("wind_speed_at_hub_height", 1), CKPD_ERR_UNKNOWN_NAME);
    check_message("battery has no field 'wind_speed_at_hub_height'");
    double untouched[COUNT];
    ckpd__fields_defaults(&table, untouched);
    ck_assert_mem_eq(values, untouched, sizeof values);
}
END_TEST

START_TEST(test_choices)
{
    char text[16] = "?";
    ck_assert_int_eq(ckpd__fields_set_text(context, &table, values, "terminal", "free"), CKPD_OK);
    ck_assert_double_eq(values[TERMINAL], 2);
    ck_assert_int_eq(ckpd__fields_get_text(context, &table, values, "terminal", text, sizeof text),
                     CKPD_OK);
    ck_assert_str_eq(text, "free");
    ck_assert_int_eq(ckpd__fields_set_text(context, &table, values, "terminal", "equal"), CKPD_OK);
    ck_assert_int_eq(ckpd__fields_get_text(context, &table, values, "terminal", text, 6), CKPD_OK);
    ck_assert_str_eq(text, "equal");
    ck_assert_int_eq(ckpd__fields_get_text(context, &table, values, "terminal", text, 5),
                     CKPD_ERR_BUFFER);
    static const char *const wrong[] = {"", "eq", "equal|", "at", "at_least|free", "Free", "free "};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert_int_eq(ckpd__fields_set_text(context, &table, values, "terminal", wrong[i]),
                         CKPD_ERR_UNKNOWN_NAME);
    }
    check_message("battery: terminal = 'free ' is not one of equal|at_least|free");
    ck_assert_double_eq(values[TERMINAL], 0);
    ck_assert_int_eq(ckpd__fields_set_text(context, &table, values, "terminal", NULL),
                     CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd__fields_set_text(context, &table, values, "cycles", "3"),
                     CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd__fields_get_text(context, &table, values, "cycles", text, 16),
                     CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd__fields_get_text(context, &table, values, "terminal", NULL, 16),
                     CKPD_ERR_ARGUMENT);
}
END_TEST

START_TEST(test_required)
{
    ck_assert_int_eq(ckpd__fields_check_required(context, &table, values), CKPD_ERR_MISSING);
    check_message("battery: energy_kwh is missing");
    ck_assert_int_eq(set("energy_kwh", 0), CKPD_OK);
    ck_assert_int_eq(ckpd__fields_check_required(context, &table, values), CKPD_OK);
}
END_TEST

START_TEST(test_info)
{
    ckpd_field_info info = {.size = sizeof info};
    ck_assert_int_eq(ckpd__fields_info(context, &table, ENERGY, &info), CKPD_OK);
    ck_assert_str_eq(info.name, "energy_kwh");
    ck_assert_str_eq(info.unit, "kWh");
    ck_assert_str_eq(info.doc, "Usable energy");
    ck_assert_str_eq(info.choices, "");
    ck_assert_int_eq(info.kind, CKPD_FIELD_NUMBER);
    ck_assert_int_eq(info.required, 1);
    ck_assert_double_eq(info.maximum, 1e9);
    ck_assert(isnan(info.default_value));
    ck_assert_int_eq(ckpd__fields_info(context, &table, TERMINAL, &info), CKPD_OK);
    ck_assert_str_eq(info.choices, "equal|at_least|free");
    ck_assert_double_eq(info.default_value, 1);
    ck_assert_int_eq(ckpd__fields_info(context, &table, -1, &info), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd__fields_info(context, &table, COUNT, &info), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd__fields_info(context, &table, 0, NULL), CKPD_ERR_ARGUMENT);
    info.size = 8;
    ck_assert_int_eq(ckpd__fields_info(context, &table, 0, &info), CKPD_ERR_STRUCT_SIZE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base/fields");
    TCase *tc = tcase_create("fields");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, test_defaults);
    tcase_add_test(tc, test_set_and_get);
    tcase_add_test(tc, test_refused_values);
    tcase_add_test(tc, test_choices);
    tcase_add_test(tc, test_required);
    tcase_add_test(tc, test_info);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
