/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* CSV as it comes: forms of the text, numbers, units, columns. Expected values are those written in
 * the texts. */
#define _GNU_SOURCE
#include "support/series_text.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T0 "2024-04-09T00:00Z"
#define T1 "2024-04-09T01:00Z"
#define T2 "2024-04-09T02:00Z"

static const double one_two_three[] = {1, 2, 3};

/* One content in many forms. */
START_TEST(test_forms_of_the_same_text)
{
    static const char *const texts[] = {
        "time,x\n" T0 ",1\n" T1 ",2\n" T2 ",3\n",
        "\xef\xbb\xbftime,x\n" T0 ",1\n" T1 ",2\n" T2 ",3\n", /* byte order mark: failure 28 */
        "\xef\xbb\xbf\"time\",\"x\"\r\n\"" T0 "\",\"1\"\r\n\"" T1 "\",\"2\"\r\n\"" T2
        "\",\"3\"\r\n",
        "time,x\r" T0 ",1\r" T1 ",2\r" T2 ",3",
        "time,x\n" T0 ",1\n" T1 ",2\n" T2 ",3",
        "# of the market\n\n  # again\ntime,x\n" T0 ",1\n#" T0 ",7\n\n" T1 ",2\n" T2 ",3\n  \n",
        "x,time\n1," T0 "\n2," T1 "\n3," T2 "\n",
        "x,note,time\n1,a," T0 "\n2,\"b,\"\"c\"\"\nd\"," T1 "\n3,," T2 "\n",
        "time ,  x\n" T0 " , 1\n" T1 ",\t2\n" T2 ",3 \n",
        "time;x\n" T0 ";1\n" T1 ";2\n" T2 ";3\n",
        "time\tx\n" T0 "\t1\n" T1 "\t2\n" T2 "\t3\n",
        "sep=;\r\ntime;x\r\n" T0 ";1\r\n" T1 ";2\r\n" T2 ";3\r\n",
        "time,x,\n" T0 ",1,\n" T1 ",2,\n" T2 ",3,\n",
        "time,x\n" T0 ",1,,\n" T1 ",2\n" T2 ",3,,,\n",
        "time,x\n" T0 ",+1\n" T1 ",.2e1\n" T2 ",3.\n",
    };
    series_column("x", NULL);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ckpd_series *series = series_read(texts[i]);
        series_check(series, "x", 3, one_two_three);
        series_check_stamp(series, 1, T1);
        ckpd_series_free(series);
    }
}
END_TEST

START_TEST(test_broken_text)
{
    series_refused("", CKPD_ERR_MISSING, 0, "the text is empty");
    series_refused("\xef\xbb\xbf", CKPD_ERR_MISSING, 0, "the text is empty");
    series_refused("# nothing\n\n", CKPD_ERR_MISSING, 0, "the text is empty");
    series_refused("time,x\n", CKPD_ERR_MISSING, 0, "no rows after the header");
    series_refused("\xff\xfet\0i\0m\0e\0", CKPD_ERR_SYNTAX, 1, "not UTF-8");
    series_refused("time,pr\xe4is\n" T0 ",1\n", CKPD_ERR_SYNTAX, 1, "not UTF-8");
    series_refused("time,x\n" T0 ",1\n" T1 ",2\xc0\x80\n", CKPD_ERR_SYNTAX, 3, "not UTF-8");
    series_refused("time,x\n" T0 ",\"1\n" T1 ",2\n", CKPD_ERR_SYNTAX, 2, "never closed");
    series_refused("time,x\n" T0 ",1\"2\n", CKPD_ERR_SYNTAX, 2, "quote in the wrong place");
    series_refused("time,x\n" T0 ",1\n" T1 "\n", CKPD_ERR_LENGTH, 3,
                   "row 3: 1 fields, the header has 2");
    series_refused("time,x\n" T0 ",1\n\n#\n" T1 ",2,9\n", CKPD_ERR_LENGTH, 5,
                   "row 5: 3 fields, the header has 2");
    ckpd_series *series = NULL;
    ck_assert_int_eq(
        ckpd_series_read_text(&series, series_context, "time,x\n" T0 ",\0\n", 27, NULL),
        CKPD_ERR_SYNTAX);
    series_says("zero byte");
    series_refused(T0 ",1\n" T1 ",2\n", CKPD_ERR_MISSING, 1,
                   "no column of the header begins with 'time'");
}
END_TEST

/* The edges of table 3-7 of the Unicode standard (well-formed UTF-8), in a column that is not read.
 */
START_TEST(test_utf8)
{
    static const char *const good[] = {"\xc2\x80",         "\xdf\xbf",         "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",     "\xee\x80\x80",     "\xef\xbf\xbf",
                                       "\xf0\x90\x80\x80", "\xf3\xbf\xbf\xbf", "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"\x80",         "\xc1\xbf",         "\xc2",
                                      "\xc2\x7f",     "\xc2\xc0",         "\xe0\x9f\xbf",
                                      "\xe1\x80",     "\xe1\x80\xc0",     "\xed\xa0\x80",
                                      "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
                                      "\xf1\x80\x80", "\xf5\x80\x80\x80", "\xff"};
    char text[200];
    series_column("x", NULL);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        snprintf(text, sizeof text, "time,note,x\n" T0 ",%s,1\n" T1 ",,2\n" T2 ",,3\n", good[i]);
        ckpd_series *series = series_read(text);
        series_check(series, "x", 3, one_two_three);
        ckpd_series_free(series);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(text, sizeof text, "time,note,x\n" T0 ",%s,1\n" T1 ",,2\n", bad[i]);
        series_refused(text, CKPD_ERR_SYNTAX, 2, "not UTF-8");
        snprintf(text, sizeof text, "time,x\n" T0 ",1\n# %s", bad[i]); /* where the text ends */
        series_refused(text, CKPD_ERR_SYNTAX, 3, "not UTF-8");
    }
}
END_TEST

START_TEST(test_long_rows_and_fields)
{
    size_t size = 2000000;
    char *text = malloc(size);
    memset(text, 'a', size);
    memcpy(text, "time,", 5);
    text[70000] = '\0';
    series_refused(text, CKPD_ERR_SYNTAX, 1, "longer than 65535 bytes");
    memset(text + 5, ',', 1100);
    text[1105] = '\0';
    series_refused(text, CKPD_ERR_SYNTAX, 1, "more than 1024 fields");
    for (size_t i = 5; i < size; i++) {
        text[i] = i % 60000 == 0 ? ',' : 'a';
    }
    text[size - 1] = '\0';
    series_refused(text, CKPD_ERR_SYNTAX, 1, "longer than 1 MiB");
    free(text);
}
END_TEST

/* --- numbers --------------------------------------------------------------------------------- */

static void refused_number(const char *number, const char *words)
{
    char text[256];
    snprintf(text, sizeof text, "time;x\n" T0 ";1\n" T1 ";%s\n", number);
    series_refused(text, CKPD_ERR_SYNTAX, 3, words);
    series_says("row 3, column 'x'");
}

/* Failure 29. */
START_TEST(test_decimal_comma)
{
    series_refused("time;price;load\n" T0 ";1,5;60\n" T1 ";2,5;61\n", CKPD_ERR_SYNTAX, 2,
                   "column 'price': '1,5' is not a number: a decimal comma? Set decimal to comma");
    series_refused("time,price,load\n" T0 ",1,5,60\n", CKPD_ERR_LENGTH, 2, "a decimal comma");
    series_text("decimal", "comma");
    ckpd_series *series = series_read("time;price;load\n" T0 ";1,5;60\n" T1 ";-2,25;61\n");
    series_check(series, "price", 2, (double[]){1.5, -2.25});
    series_check(series, "load", 2, (double[]){60, 61});
    ckpd_series_free(series);
    refused_number("1.5", "it has a point, but decimal is comma");
    refused_number("1.500,25", "thousands separators are not accepted");
}
END_TEST

START_TEST(test_numbers_that_are_refused)
{
    refused_number("1,234", "thousands separators are not accepted");
    refused_number("1,234.5", "thousands separators are not accepted");
    refused_number("1.234.567", "thousands separators are not accepted");
    refused_number("1 234", "thousands separators are not accepted");
    refused_number("1'234", "thousands separators are not accepted");
    refused_number("1_234", "thousands separators are not accepted");
    refused_number("1\xc2\xa0"
                   "234",
                   "thousands separators are not accepted");
    refused_number("12 MW", "'12 MW' is not a number");
    refused_number("0x10", "is not a number");
    refused_number("1e999", "is not a number");
    refused_number("$5", "is not a number");
    refused_number("\xe2\x88\x92"
                   "5",
                   "is not a number"); /* MINUS SIGN U+2212 */
    series_column("x", "GW");
    series_refused("time;x\n" T0 ";1\n" T1 ";1e305\n", CKPD_ERR_RANGE, 3,
                   "row 3, column 'x': '1e305' is too large");
}
END_TEST

/* Failure 30: the host's locale has a decimal comma. */
START_TEST(test_locale_of_the_host)
{
    locale_t comma = newlocale(LC_ALL_MASK, "de_DE.UTF-8", (locale_t)0);
    if (comma == (locale_t)0) {
        test_skip("no locale de_DE.UTF-8 (check-locale makes one)");
        return;
    }
    locale_t before = uselocale(comma);
    ckpd_series *series = series_read("time,x\n" T0 ",1.5\n" T1 ",-2.25e1\n");
    uselocale(before);
    freelocale(comma);
    series_check(series, "x", 2, (double[]){1.5, -22.5});
    ckpd_series_free(series);
}
END_TEST

/* Failure 27: never zero, always named. */
START_TEST(test_missing_values)
{
    static const char *const words[] = {"",    "null", "NULL", "nan",  "NaN",      "NAN",
                                        "n/a", "NA",   "#N/A", "None", "inf",      "-inf",
                                        "Inf", "+inf", "-",    "\"\"", "-Infinity"};
    char text[256];
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        snprintf(text, sizeof text, "time,price\n" T0 ",1\n" T1 ",%s\n" T2 ",3\n", words[i]);
        series_refused(text, CKPD_ERR_MISSING, 3,
                       "row 3 (slot from 2024-04-09T01:00), column 'price': no value");
        ckpd_error error = {.size = sizeof error};
        ckpd_context_last_error(series_context, &error);
        ck_assert_str_eq(error.field, "price");
    }
    /* A column that was not asked for may lack values. */
    series_column("load", NULL);
    ckpd_series *series = series_read("time,price,load\n" T0 ",1,1\n" T1 ",,2\n" T2 ",x,3\n");
    series_check(series, "load", 3, one_two_three);
    ckpd_series_free(series);
}
END_TEST

/* --- units ----------------------------------------------------------------------------------- */

START_TEST(test_units_in_the_header)
{
    static const struct {
        const char *header, *unit;
        double factor;
    } table[] = {
        {"wind_mw", "kW", 1000},
        {"wind_kw", "kW", 1},
        {"Wind [MW]", "kW", 1000},
        {"Wind (GW)", "kW", 1e6},
        {"load_w", "kW", 0.001},
        {"Solar MW", "kW", 1000},
        {"price_usd_per_mwh", "money/MWh", 1},
        {"price_per_mwh", "money/MWh", 1},
        {"price_eur_per_kwh", "money/MWh", 1000},
        {"Price [EUR/MWh]", "money/MWh", 1},
        {"Preis [\xe2\x82\xac/MWh]", "money/MWh", 1},
        {"price (ct/kWh)", "money/MWh", 10},
        {"price_ct_per_kwh", "money/MWh", 10},
        {"moer_kg_per_kwh", "kg/MWh", 1000},
        {"carbon_kg_per_mwh", "kg/MWh", 1},
        {"CI [gCO2/kWh]", "kg/MWh", 1},
        {"carbon_g_per_kwh", "kg/MWh", 1},
        {"moer (lbs/MWh)", "kg/MWh", 0.45359237},
        {"consumption_kwh", "kW", 1}, /* kWh in an hour */
        {"consumption_mwh", "kW", 1000},
        {"gpu_cap", "", 1},
        {"pue", "", 1},
        {"x [furlongs]", "", 1},
        {"pump", "", 1},
        {"mw", "", 1},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "time,%s\n" T0 ",2\n" T1 ",4\n", table[i].header);
        ckpd_series *series = series_read(text);
        ck_assert_msg(strcmp(ckpd_series_column_unit(series, 0), table[i].unit) == 0, "%s: '%s'",
                      table[i].header, ckpd_series_column_unit(series, 0));
        ck_assert_str_eq(ckpd_series_column_name(series, 0), table[i].header);
        series_check(series, table[i].header, 2,
                     (double[]){2 * table[i].factor, 4 * table[i].factor});
        ckpd_series_free(series);
    }
}
END_TEST

START_TEST(test_units_given)
{
    series_column("wind", "MW");
    series_column("Price", NULL); /* without the bracket of its header */
    series_column("load_mw", "MW");
    ckpd_series *series =
        series_read("time,load_mw,Price [EUR/MWh],wind\n" T0 ",5,6,7\n" T1 ",8,9,10\n");
    series_check(series, "wind", 2, (double[]){7000, 10000});
    series_check(series, "Price", 2, (double[]){6, 9});
    series_check(series, "load_mw", 2, (double[]){5000, 8000});
    ck_assert_int_eq(ckpd_series_column_count(series), 3);
    ck_assert_int_eq(ckpd_series_find_column(series, "wind"), 0); /* in the order asked */
    ckpd_series_free(series);
    series_refused("time,load_mw,Price [EUR/MWh],wind_kw,wind\n" T0 ",5,6,1,x\n", CKPD_ERR_SYNTAX,
                   2, "'x'");
    series_fresh();
    series_column("wind_kw", "MW");
    series_refused("time,wind_kw\n" T0 ",5\n", CKPD_ERR_INCONSISTENT, 1,
                   "another unit than the one given");
    ck_assert_int_eq(ckpd_series_options_add_column(series_options, "a", "MV"),
                     CKPD_ERR_UNKNOWN_NAME);
    series_says("unit 'MV' is not known; examples are kW");
    static const char *const bad[] = {
        "", " ", "kW/", "/MWh", "EUR/kW", "kWh/kWh", "EUR/MWh/h", "kilowatts of nameplate power"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg(ckpd_series_options_add_column(series_options, "a", bad[i]) ==
                          CKPD_ERR_UNKNOWN_NAME,
                      "'%s'", bad[i]);
    }
}
END_TEST

/* Failure 18: energy of quarter hours is a power. */
START_TEST(test_energy_of_short_slots)
{
    ckpd_series *series = series_read("time,use_kwh\n2024-04-09T00:00Z,1\n2024-04-09T00:15Z,2.5\n");
    series_check(series, "use_kwh", 2, (double[]){4, 10});
    ckpd_series_free(series);
}
END_TEST

/* --- columns --------------------------------------------------------------------------------- */

/* Failure 34 in a file: the nearest name. */
START_TEST(test_columns_that_are_not_there)
{
    series_column("price_usd_per_mwh", NULL);
    series_refused("time,prize_usd_per_mwh\n" T0 ",1\n", CKPD_ERR_UNKNOWN_NAME, 1,
                   "no column 'price_usd_per_mwh'; did you mean 'prize_usd_per_mwh'?");
    series_refused("time,x,x\n" T0 ",1,2\n", CKPD_ERR_UNKNOWN_NAME, 1,
                   "no column 'price_usd_per_mwh'");
    series_fresh();
    series_refused("time,x,x\n" T0 ",1,2\n", CKPD_ERR_DUPLICATE, 1, "column 'x' twice");
    series_refused("time\n" T0 "\n", CKPD_ERR_MISSING, 1, "0 columns beside the time");
    series_text("time_column", "when");
    series_refused("time,x\n" T0 ",1\n", CKPD_ERR_UNKNOWN_NAME, 1, "no column 'when'");
    ckpd_series *series = series_read("time,when\n1," T0 "\n2," T1 "\n");
    series_check(series, "time", 2, one_two_three);
    ckpd_series_free(series);
}
END_TEST

/* A report of ISO New England in its form: comments C, two header rows H, data D, a trailer T. */
START_TEST(test_header_row)
{
    static const char text[] = "\"C\",\"Hourly LMP; a 'quote\" in it\"\n\"C\"\n"
                               "\"H\",\"Date\",\"Hour Ending\",\"LMP\"\n"
                               "\"H\",\"MM/DD/YYYY\",\"HH24\",\"$/MWh\"\n"
                               "\"D\",\"04/09/2024\",\"01\",\"21.5\"\n"
                               "\"D\",\"04/09/2024\",\"02\",\"22.5\"\n\"T\",\"2\"\n";
    series_number("header_row", 3);
    series_text("hour_column", "Hour Ending");
    series_text("date_order", "mdy");
    series_text("zone", "America/New_York");
    series_column("LMP", "USD/MWh");
    series_refused(text, CKPD_ERR_SYNTAX, 4, "MM/DD/YYYY");
    ck_assert_int_eq(ckpd_series_options_add_filter(series_options, "H", "D"), CKPD_OK);
    ckpd_series *series = series_read(text);
    series_check(series, "LMP", 2, (double[]){21.5, 22.5});
    ckpd_series_free(series);
    series_number("header_row", 2);
    series_refused(text, CKPD_ERR_MISSING, 2, "or another row as header_row (the first is 'C')");
    series_number("header_row", 99);
    series_refused(text, CKPD_ERR_MISSING, 0, "it ends above header_row");
    ck_assert_int_eq(ckpd_series_options_set(series_options, "header_row", 0), CKPD_ERR_RANGE);
}
END_TEST

START_TEST(test_filters)
{
    const char *text = "time,node,x\n" T0 ",A,1\n" T0 ",B,7\n" T1 ",A,2\n" T1 ",B,8\n" T2 ",A,3\n";
    series_column("x", NULL);
    ck_assert_int_eq(ckpd_series_options_add_filter(series_options, "node", "A"), CKPD_OK);
    ckpd_series *series = series_read(text);
    series_check(series, "x", 3, one_two_three);
    ckpd_series_free(series);
    ck_assert_int_eq(ckpd_series_options_add_filter(series_options, "x", "2"), CKPD_OK);
    series_number("slot_minutes", 60);
    series = series_read(text);
    series_check(series, "x", 1, (double[]){2});
    ckpd_series_free(series);
    ck_assert_int_eq(ckpd_series_options_add_filter(series_options, "node", "C"), CKPD_OK);
    series_refused(text, CKPD_ERR_MISSING, 0, "no row passes the filters");
    series_fresh();
    ck_assert_int_eq(ckpd_series_options_add_filter(series_options, "nodes", "A"), CKPD_OK);
    series_refused(text, CKPD_ERR_UNKNOWN_NAME, 1, "no column 'nodes'; did you mean 'node'?");
}
END_TEST

START_TEST(test_options)
{
    ckpd_series_options *o = series_options;
    ck_assert_int_eq(ckpd_series_options_set(o, "slot_minutes", 0), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_series_options_set(o, "slot_minutes", 1441), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_series_options_set(o, "zone", 5), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_series_options_set(o, "sorted", 1), CKPD_ERR_UNKNOWN_NAME);
    series_says("did you mean 'sort'?");
    ck_assert_int_eq(ckpd_series_options_set_text(o, "label", "middle"), CKPD_ERR_UNKNOWN_NAME);
    series_says("not one of auto|start|end");
    ck_assert_int_eq(ckpd_series_options_set_text(o, "zone", NULL), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_series_options_set_text(o, NULL, "x"), CKPD_ERR_ARGUMENT);
    char text[300];
    memset(text, 'z', sizeof text);
    text[299] = '\0';
    ck_assert_int_eq(ckpd_series_options_set_text(o, "zone", text), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_series_options_add_column(o, NULL, NULL), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_series_options_add_column(o, "a", NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_series_options_add_column(o, "a", "kW"), CKPD_ERR_DUPLICATE);
    ck_assert_int_eq(ckpd_series_options_set_fill(o, "b", "hold"), CKPD_ERR_UNKNOWN_NAME);
    ck_assert_int_eq(ckpd_series_options_set_fill(o, "a", "zero"), CKPD_ERR_UNKNOWN_NAME);
    ck_assert_int_eq(ckpd_series_options_set_fill(o, "a", NULL), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_series_options_set_fill(o, NULL, "hold"), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_series_options_add_filter(o, "a", NULL), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_series_options_add_filter(o, NULL, "a"), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_series_options_set(NULL, "sort", 1), CKPD_ERR_ARGUMENT);
    int32_t status = CKPD_OK;
    for (int32_t i = 0; i < 300 && status == CKPD_OK; i++) {
        snprintf(text, sizeof text, "c%d", i);
        status = ckpd_series_options_add_column(o, text, NULL);
    }
    ck_assert_int_eq(status, CKPD_ERR_RANGE);
    status = CKPD_OK;
    for (int32_t i = 0; i < 300 && status == CKPD_OK; i++) {
        status = ckpd_series_options_add_filter(o, "a", "b");
    }
    ck_assert_int_eq(status, CKPD_ERR_RANGE);
    for (int32_t i = 0; i < ckpd_series_options_field_count(); i++) {
        ckpd_field_info info = {.size = sizeof info};
        ck_assert_int_eq(ckpd_series_options_field_info(i, &info), CKPD_OK);
        ck_assert_uint_gt(strlen(info.doc), 10);
    }
    ckpd_series_options_free(NULL);
}
END_TEST

START_TEST(test_arguments)
{
    ckpd_series *series = NULL;
    double value[3];
    char stamp[48];
    ck_assert_int_eq(ckpd_series_read_text(NULL, series_context, "", 0, NULL), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_series_read_text(&series, NULL, "", 0, NULL), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_series_read_text(&series, series_context, NULL, 0, NULL),
                     CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_series_read_file(&series, series_context, NULL, NULL), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_series_read_file(&series, series_context, "/nonexistent/a.csv", NULL),
                     CKPD_ERR_FILE);
    series_says("/nonexistent/a.csv");
    series = series_read("time,x\n" T0 ",1\n" T1 ",2\n" T2 ",3\n");
    ck_assert_int_eq(ckpd_series_get(series, 1, value, 3), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_series_get(series, -1, value, 3), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_series_get(series, 0, value, 2), CKPD_ERR_LENGTH);
    ck_assert_int_eq(ckpd_series_get(series, 0, NULL, 3), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_series_stamp(series, 3, stamp, sizeof stamp), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_series_stamp(series, -1, stamp, sizeof stamp), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_series_stamp(series, 0, stamp, 17), CKPD_ERR_BUFFER);
    ck_assert_int_eq(ckpd_series_stamp(series, 0, stamp, 18), CKPD_OK);
    ck_assert_ptr_null(ckpd_series_column_name(series, 1));
    ck_assert_ptr_null(ckpd_series_column_unit(series, -1));
    ck_assert_int_eq(ckpd_series_find_column(series, "y"), -1);
    ck_assert_int_eq(ckpd_series_find_column(series, NULL), -1);
    ck_assert_int_eq(ckpd_series_filled_count(series, 5), -1);
    ck_assert_int_eq(ckpd_series_filled_count(series, 0), 0);
    ck_assert_int_eq(ckpd_series_is_filled(series, 0, 99), 0);
    ckpd_series_free(series);
    ckpd_series_free(NULL);
    ck_assert_int_eq(ckpd_series_slots(NULL), 0);
}
END_TEST

/* Failure 71: names beyond ASCII. */
START_TEST(test_paths_beyond_ascii)
{
    const char *path = "gr\xc3\xb6\xc3\x9f"
                       "e \xe6\x95\xb0\xe6\x8d\xae.csv";
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    fputs("time,Erl\xc3\xb6s [EUR/MWh]\n" T0 ",1\n" T1 ",nix\n", file);
    fclose(file);
    ckpd_series *series = NULL;
    ck_assert_int_eq(ckpd_series_read_file(&series, series_context, path, NULL), CKPD_ERR_SYNTAX);
    series_says("gr\xc3\xb6\xc3\x9f"
                "e \xe6\x95\xb0\xe6\x8d\xae.csv: row 3, column 'Erl\xc3\xb6s [EUR/MWh]'");
    remove(path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io/series_text");
    TCase *tc = tcase_create("text");
    tcase_add_checked_fixture(tc, series_setup, series_teardown);
    tcase_add_test(tc, test_forms_of_the_same_text);
    tcase_add_test(tc, test_broken_text);
    tcase_add_test(tc, test_utf8);
    tcase_add_test(tc, test_long_rows_and_fields);
    tcase_add_test(tc, test_decimal_comma);
    tcase_add_test(tc, test_numbers_that_are_refused);
    tcase_add_test(tc, test_locale_of_the_host);
    tcase_add_test(tc, test_missing_values);
    tcase_add_test(tc, test_units_in_the_header);
    tcase_add_test(tc, test_units_given);
    tcase_add_test(tc, test_energy_of_short_slots);
    tcase_add_test(tc, test_columns_that_are_not_there);
    tcase_add_test(tc, test_header_row);
    tcase_add_test(tc, test_filters);
    tcase_add_test(tc, test_options);
    tcase_add_test(tc, test_arguments);
    tcase_add_test(tc, test_paths_beyond_ascii);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
