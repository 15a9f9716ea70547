/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Fill rules, resampling, windows of a series, the way into a site. Expected values are worked by
 * hand. */
#include "support/series_text.h"

#include "base/base.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define H(hour) "2024-04-09T" #hour ":00Z"

/* --- filling --------------------------------------------------------------------------------- */

static const char holes[] =
    "time,x\n" H(00) ",1\n" H(01) ",\n" H(02) ",nan\n" H(03) ",7\n" H(04) ",3\n";

static void fill(const char *rule)
{
    int32_t status = ckpd_series_options_set_fill(series_options, "x", rule);
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(series_context));
}

START_TEST(test_hold_and_linear)
{
    series_column("x", NULL);
    series_refused(holes, CKPD_ERR_MISSING, 3, "no value");
    fill("hold");
    ckpd_series *series = series_read(holes);
    series_check(series, "x", 5, (double[]){1, 1, 1, 7, 3});
    ck_assert_int_eq(ckpd_series_filled_count(series, 0), 2);
    ck_assert_int_eq(ckpd_series_is_filled(series, 0, 0), 0);
    ck_assert_int_eq(ckpd_series_is_filled(series, 0, 1), 1);
    ck_assert_int_eq(ckpd_series_is_filled(series, 0, 2), 1);
    ck_assert_int_eq(ckpd_series_is_filled(series, 0, 3), 0);
    ckpd_series_free(series);
    fill("linear");
    series = series_read(holes);
    series_check(series, "x", 5, (double[]){1, 3, 5, 7, 3});
    ckpd_series_free(series);
    fill("refuse");
    series_refused(holes, CKPD_ERR_MISSING, 3, "no value");
}
END_TEST

START_TEST(test_limits_of_filling)
{
    series_column("x", NULL);
    fill("hold");
    series_number("longest_gap_hours", 1);
    series_refused(holes, CKPD_ERR_MISSING, 3, "longer than longest_gap_hours");
    series_number("longest_gap_hours", 2);
    ckpd_series_free(series_read(holes));
    series_refused("time,x\n" H(00) ",\n" H(01) ",2\n", CKPD_ERR_MISSING, 2,
                   "none before it to fill from");
    ckpd_series *series = series_read("time,x\n" H(00) ",1\n" H(01) ",\n");
    series_check(series, "x", 2, (double[]){1, 1});
    ckpd_series_free(series);
    fill("linear");
    series_refused("time,x\n" H(00) ",1\n" H(01) ",\n", CKPD_ERR_MISSING, 3,
                   "none after it for the linear rule");
    series_refused("time,x\n" H(00) ",\n" H(01) ",\n", CKPD_ERR_MISSING, 2, "none before it");
}
END_TEST

START_TEST(test_absent_rows)
{
    const char *text = "time,x,y\n" H(00) ",1,5\n" H(01) ",2,6\n" H(04) ",8,9\n";
    series_text("gaps", "missing");
    series_column("x", NULL);
    series_refused(text, CKPD_ERR_MISSING, -1,
                   "no row (slot from 2024-04-09T02:00), column 'x': no value");
    fill("linear");
    ckpd_series *series = series_read(text);
    series_check(series, "x", 5, (double[]){1, 2, 4, 6, 8});
    series_check_stamp(series, 3, "2024-04-09T03:00Z");
    ckpd_series_free(series);
    series_number("longest_gap_hours", 1.5);
    series_refused(text, CKPD_ERR_MISSING, 4,
                   "2 slots of 60 minutes absent from 2024-04-09T02:00 on, between row 3 and "
                   "row 4; that is longer than longest_gap_hours allows");
}
END_TEST

START_TEST(test_fill_from_another_series)
{
    ckpd_series *other =
        series_read("time,z\n2024-04-08T23:00Z,10\n" H(00) ",11\n" H(01) ",12\n" H(02) ",13\n");
    series_column("x", NULL);
    ck_assert_int_eq(ckpd_series_options_set_fill_from(series_options, "x", other, "y"),
                     CKPD_ERR_UNKNOWN_NAME);
    ck_assert_int_eq(ckpd_series_options_set_fill_from(series_options, "y", other, "z"),
                     CKPD_ERR_UNKNOWN_NAME);
    ck_assert_int_eq(ckpd_series_options_set_fill_from(series_options, "x", NULL, "z"),
                     CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_series_options_set_fill_from(series_options, "x", other, NULL),
                     CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_series_options_set_fill_from(series_options, "x", other, "z"), CKPD_OK);
    ckpd_series_free(other); /* the options hold it */
    ckpd_series *series = series_read(holes);
    series_check(series, "x", 5, (double[]){1, 12, 13, 7, 3});
    ck_assert_int_eq(ckpd_series_filled_count(series, 0), 2);
    ckpd_series_free(series);
    series_refused("time,x\n" H(02) ",1\n" H(03) ",\n", CKPD_ERR_MISSING, 3,
                   "the other series has none for that time");
    series_refused("time,x_mw\n" H(02) ",1\n" H(03) ",\n", CKPD_ERR_UNKNOWN_NAME, 1, "");
    series_refused("time,x\n2024-04-09T01:00Z,1\n2024-04-09T01:30Z,\n", CKPD_ERR_MISSING, 3,
                   "another slot length or unit");
    series_refused("time,x [kW]\n" H(00) ",1\n" H(01) ",\n", CKPD_ERR_MISSING, 3,
                   "another slot length or unit");
}
END_TEST

static void listen(int32_t level, int32_t code, const char *message, void *user)
{
    (void)code;
    if (level == CKPD_LOG_WARNING) {
        strncat(user, message, 400);
    }
}

START_TEST(test_filling_is_reported)
{
    char heard[1000] = "";
    ckpd_context_set_log(series_context, CKPD_LOG_INFO, listen, heard);
    series_column("x", NULL);
    fill("hold");
    ckpd_series_free(series_read(holes));
    ck_assert_str_eq(heard,
                     "column 'x': 2 of 5 values filled by hold, the first for 2024-04-09T01:00");
}
END_TEST

/* --- slot length ----------------------------------------------------------------------------- */

static ckpd_series *resampled(const ckpd_series *series, double minutes)
{
    ckpd_series *made = NULL;
    int32_t status = ckpd_series_resample(&made, series, minutes);
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(series_context));
    ck_assert_double_eq_tol(ckpd_series_slot_hours(made) * 60, minutes, 1e-12);
    return made;
}

/* 12 quarter hours from 00:00 with values that are no round binary fractions. */
static ckpd_series *quarters(void)
{
    char text[1024] = "time,wind_kw,price_eur_per_mwh\n";
    for (int q = 0; q < 12; q++) {
        sprintf(text + strlen(text), "2024-04-09T%02d:%02d:00+02:00,%d.%d,%d.1\n", q / 4,
                q % 4 * 15, q * q, q % 10, 50 - q);
    }
    return series_read(text);
}

static double energy(const ckpd_series *series, int32_t column)
{
    double values[800], sum = 0;
    int32_t slots = ckpd_series_slots(series);
    ck_assert_int_eq(ckpd_series_get(series, column, values, slots), CKPD_OK);
    for (int32_t i = 0; i < slots; i++) {
        sum += values[i] * ckpd_series_slot_hours(series);
    }
    return sum;
}

START_TEST(test_resampling_conserves_energy)
{
    ckpd_series *series = quarters();
    static const double minutes[] = {5, 15, 30, 60, 1, 7.5, 180};
    double expected = energy(series, 0);
    for (size_t i = 0; i < sizeof minutes / sizeof minutes[0]; i++) {
        ckpd_series *made = resampled(series, minutes[i]);
        ck_assert_double_eq_tol(energy(made, 0), expected, 1e-12 * expected);
        ck_assert_int_eq(ckpd_series_start_s(made, ckpd_series_slots(made)),
                         ckpd_series_start_s(series, 12));
        ckpd_series_free(made);
    }
    ckpd_series_free(series);
}
END_TEST

/* Shorter slots repeat the price exactly; back again nothing has changed to the last bit. */
START_TEST(test_resampling_is_exact_for_prices)
{
    ckpd_series *series = quarters(), *fine = resampled(series, 5), *back = resampled(fine, 15);
    double before[12], middle[36], after[12];
    ckpd_series_get(series, 1, before, 12);
    ckpd_series_get(fine, 1, middle, 36);
    ckpd_series_get(back, 1, after, 12);
    for (int i = 0; i < 36; i++) {
        ck_assert(middle[i] == before[i / 3]);
    }
    ck_assert_mem_eq(before, after, sizeof before);
    char stamp[48], same[48];
    for (int32_t i = 0; i < 12; i++) {
        ckpd_series_stamp(series, i, stamp, sizeof stamp);
        ckpd_series_stamp(back, i, same, sizeof same);
        ck_assert_str_eq(stamp, same);
    }
    /* Longer slots: what a constant load pays. 1 kW over the first hour at 50.1, 49.1, 48.1, 47.1.
     */
    ckpd_series *hours = resampled(series, 60);
    double hourly[3];
    ckpd_series_get(hours, 1, hourly, 3);
    ck_assert_double_eq_tol(hourly[0], 48.6, 1e-12);
    series_check_stamp(fine, 1, "2024-04-09T00:05:00+02:00");
    series_check_stamp(hours, 2, "2024-04-09T02:00:00+02:00");
    ckpd_series_free(hours);
    ckpd_series_free(back);
    ckpd_series_free(fine);
    ckpd_series_free(series);
}
END_TEST

START_TEST(test_resampling_that_is_refused)
{
    ckpd_series *series = quarters(), *made = NULL;
    ck_assert_int_eq(ckpd_series_resample(&made, series, 20), CKPD_ERR_NOT_SUPPORTED);
    series_says("slots of 20 minutes cannot be made from slots of 15 minutes");
    ck_assert_int_eq(ckpd_series_resample(&made, series, 120), CKPD_ERR_LENGTH);
    ck_assert_int_eq(ckpd_series_resample(&made, series, 0), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_series_resample(&made, series, 1441), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_series_resample(&made, series, (double)NAN), CKPD_ERR_NOT_FINITE);
    ck_assert_int_eq(ckpd_series_resample(&made, series, 1.001), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_series_resample(NULL, series, 60), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_series_resample(&made, NULL, 60), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_series_cut(&made, series, "2024-04-09T00:15", NULL), CKPD_OK);
    ckpd_series *hours = NULL;
    ck_assert_int_eq(ckpd_series_resample(&hours, made, 60), CKPD_ERR_INCONSISTENT);
    series_says("the series begins at 2024-04-09T00:15, not on a boundary of slots of 60 minutes");
    ck_assert_ptr_null(hours);
    ckpd_series_free(made);
    ckpd_series_free(series);
}
END_TEST

START_TEST(test_resampling_of_ends_and_fills)
{
    series_column("x", NULL);
    fill("hold");
    ckpd_series *series = series_read(
        "interval_end_time,time_interval_end,x\n,2024-04-09T00:30Z,1\n,2024-04-09T01:00Z,\n,"
        "2024-04-09T01:30Z,3\n,2024-04-09T02:00Z,5\n");
    ckpd_series *hours = resampled(series, 60);
    series_check(hours, "x", 2, (double[]){1, 4});
    series_check_stamp(hours, 0, "2024-04-09T01:00Z"); /* still the end */
    ck_assert_int_eq(ckpd_series_is_filled(hours, 0, 0), 1);
    ck_assert_int_eq(ckpd_series_is_filled(hours, 0, 1), 0);
    ckpd_series *fine = resampled(series, 15);
    series_check_stamp(fine, 0, "2024-04-09T00:15Z");
    ck_assert_int_eq(ckpd_series_filled_count(fine, 0), 2);
    ckpd_series_free(fine);
    ckpd_series_free(hours);
    ckpd_series_free(series);
}
END_TEST

/* Quarter hours over both changes of the clock: 23 and 25 hours. */
START_TEST(test_resampling_over_dst)
{
    static const struct {
        const char *first_offset, *second_offset;
        int change, quarters, hours;
    } days[] = {{"+01:00", "+02:00", 8, 92, 23}, {"+02:00", "+01:00", 12, 100, 25}};
    for (size_t d = 0; d < 2; d++) {
        char text[16384] = "time,x\n";
        int shift = d == 0 ? 4 : -4;
        for (int q = 0; q < days[d].quarters; q++) {
            int wall = q < days[d].change ? q : q + shift;
            sprintf(text + strlen(text), "2026-%s-%sT%02d:%02d%s,%d\n", d == 0 ? "03" : "10",
                    d == 0 ? "29" : "25", wall / 4, wall % 4 * 15,
                    q < days[d].change ? days[d].first_offset : days[d].second_offset, q / 4);
        }
        ckpd_series *series = series_read(text), *hours = resampled(series, 60);
        ck_assert_int_eq(ckpd_series_slots(hours), days[d].hours);
        double values[25];
        ck_assert_int_eq(ckpd_series_get(hours, 0, values, days[d].hours), CKPD_OK);
        for (int i = 0; i < days[d].hours; i++) {
            ck_assert_double_eq(values[i], i);
        }
        series_check_stamp(hours, 2, d == 0 ? "2026-03-29T03:00+02:00" : "2026-10-25T02:00+02:00");
        series_check_stamp(hours, 3, d == 0 ? "2026-03-29T04:00+02:00" : "2026-10-25T02:00+01:00");
        ckpd_series_free(hours);
        ckpd_series_free(series);
    }
}
END_TEST

/* --- windows --------------------------------------------------------------------------------- */

START_TEST(test_cut)
{
    ckpd_series *series = quarters(), *cut = NULL;
    static const struct {
        const char *from, *until;
        int32_t slots;
        const char *first;
    } good[] = {
        {NULL, NULL, 12, "2024-04-09T00:00:00+02:00"},
        {"", "2024-04-09T01:00", 4, "2024-04-09T00:00:00+02:00"},
        {"2024-04-09", "2024-04-09T03:00", 12, "2024-04-09T00:00:00+02:00"},
        {"2024-04-09T00:30", "2024-04-09T00:45", 1, "2024-04-09T00:30:00+02:00"},
        {"2024-04-09T00:00Z", NULL, 4, "2024-04-09T02:00:00+02:00"},
        {"2024-04-08T23:00:00+00:00", "1712624400", 8, "2024-04-09T01:00:00+02:00"},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int32_t status = ckpd_series_cut(&cut, series, good[i].from, good[i].until);
        ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(series_context));
        ck_assert_int_eq(ckpd_series_slots(cut), good[i].slots);
        series_check_stamp(cut, 0, good[i].first);
        ckpd_series_free(cut);
    }
    cut = NULL;
    ck_assert_int_eq(ckpd_series_cut(&cut, series, "2024-04-10", NULL), CKPD_ERR_MISSING);
    series_says("lies 21 h after the series, which goes from 2024-04-09T00:00+02:00 to "
                "2024-04-09T03:00+02:00 in slots of 15 minutes");
    ck_assert_int_eq(ckpd_series_cut(&cut, series, "2024-04-09T00:10", NULL), CKPD_ERR_MISSING);
    ck_assert_int_eq(ckpd_series_cut(&cut, series, NULL, "2024-04-09"), CKPD_ERR_INCONSISTENT);
    ck_assert_int_eq(ckpd_series_cut(&cut, series, "soon", NULL), CKPD_ERR_SYNTAX);
    ck_assert_int_eq(ckpd_series_cut(NULL, series, NULL, NULL), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_series_cut(&cut, NULL, NULL, NULL), CKPD_ERR_ARGUMENT);
    ck_assert_ptr_null(cut);
    ckpd_series_free(series);
}
END_TEST

/* --- site ------------------------------------------------------------------------------------ */

START_TEST(test_into_a_site)
{
    ckpd_series *series = quarters();
    ckpd_site *site = NULL, *hourly = NULL, *shorter = NULL;
    ck_assert_int_eq(ckpd_site_new(&site, series_context, 12, 0.25), CKPD_OK);
    ck_assert_int_eq(ckpd_site_new(&hourly, series_context, 12, 1), CKPD_OK);
    ck_assert_int_eq(ckpd_site_new(&shorter, series_context, 11, 0.25), CKPD_OK);
    ck_assert_int_eq(ckpd_series_to_site(series, 0, 2, site, "wind_kw"), CKPD_OK);
    double wind[12];
    ck_assert_int_eq(ckpd_site_get_series(site, "wind_kw", wind, 12), CKPD_OK);
    ck_assert_double_eq(wind[3], 2 * 9.3);
    ck_assert_int_eq(ckpd_series_to_site(series, 1, 1, site, "import_price_per_mwh"), CKPD_OK);
    ck_assert_int_eq(ckpd_series_to_site(series, 1, 1, site, "wind_kw"), CKPD_ERR_INCONSISTENT);
    series_says("column 'price_eur_per_mwh' is in money/MWh, wind_kw needs kW");
    ck_assert_int_eq(ckpd_series_to_site(series, 0, 1, site, "wind_mw"), CKPD_ERR_UNKNOWN_NAME);
    ck_assert_int_eq(ckpd_series_to_site(series, 2, 1, site, "wind_kw"), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_series_to_site(series, 0, (double)NAN, site, "wind_kw"),
                     CKPD_ERR_NOT_FINITE);
    ck_assert_int_eq(ckpd_series_to_site(series, 0, -1, site, "wind_kw"), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_series_to_site(series, 0, 1, hourly, "wind_kw"), CKPD_ERR_INCONSISTENT);
    series_says("slots of 0.25 hours, the site slots of 1 hours");
    ck_assert_int_eq(ckpd_series_to_site(series, 0, 1, shorter, "wind_kw"),
                     CKPD_ERR_LENGTH); /* failure 31 */
    series_says("wind_kw has 12 values, the horizon has slots = 11");
    ck_assert_int_eq(ckpd_series_to_site(series, 0, 1, NULL, "wind_kw"), CKPD_ERR_ARGUMENT);
    ckpd_series_free(series);
    series = series_read("time,x\n2024-04-09T00:00Z,1.5\n2024-04-09T00:15Z,2\n");
    ckpd_site_free(site);
    ck_assert_int_eq(ckpd_site_new(&site, series_context, 2, 0.25), CKPD_OK);
    ck_assert_int_eq(ckpd_series_to_site(series, 0, 1, site, "wind_kw"), CKPD_ERR_INCONSISTENT);
    series_says("column 'x' has no unit, wind_kw needs kW");
    ck_assert_int_eq(ckpd_series_to_site(series, 0, 1, site, "pue"), CKPD_OK);
    ck_assert_int_eq(ckpd_series_to_site(series, 0, 1, site, "gpu_cap"), CKPD_ERR_RANGE);
    series_says("gpu_cap[0] = 1.5 is not a whole number");
    ck_assert_int_eq(ckpd_series_to_site(series, 0, 2, site, "gpu_cap"), CKPD_OK);
    ckpd_series_free(series);
    ckpd_site_free(site);
    ckpd_site_free(hourly);
    ckpd_site_free(shorter);
}
END_TEST

/* A series outlives options and context. */
START_TEST(test_order_of_freeing)
{
    ckpd_context *context = NULL;
    ckpd_series_options *options = NULL;
    ckpd_series *series = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_series_options_new(&options, context), CKPD_OK);
    const char *text = "time,x\n" H(00) ",1\n" H(01) ",2\n";
    ck_assert_int_eq(ckpd_series_read_text(&series, context, text, strlen(text), options), CKPD_OK);
    ckpd_context_free(context);
    ckpd_series_options_free(options);
    series_check(series, "x", 2, (double[]){1, 2});
    ckpd_series_free(series);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io/series_shape");
    TCase *tc = tcase_create("shape");
    tcase_add_checked_fixture(tc, series_setup, series_teardown);
    tcase_add_test(tc, test_hold_and_linear);
    tcase_add_test(tc, test_limits_of_filling);
    tcase_add_test(tc, test_absent_rows);
    tcase_add_test(tc, test_fill_from_another_series);
    tcase_add_test(tc, test_filling_is_reported);
    tcase_add_test(tc, test_resampling_conserves_energy);
    tcase_add_test(tc, test_resampling_is_exact_for_prices);
    tcase_add_test(tc, test_resampling_that_is_refused);
    tcase_add_test(tc, test_resampling_of_ends_and_fills);
    tcase_add_test(tc, test_resampling_over_dst);
    tcase_add_test(tc, test_cut);
    tcase_add_test(tc, test_into_a_site);
    tcase_add_test(tc, test_order_of_freeing);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
