/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Windows by date while reading. Instants expected here were worked by hand from the rules of the
 * zones. */
#include "support/series_text.h"

#include <stdio.h>
#include <string.h>

START_TEST(test_windows_while_reading)
{
    char text[8192] = "time,x\n";
    series_add_hours(text, "2024-04-08", 0, 23, "-07:00");
    series_add_hours(text, "2024-04-09", 0, 23, "-07:00");
    strcat(text, "2024-04-10T05:30-07:00,1\n"); /* irregular, but outside */
    series_text("from", "2024-04-09");
    series_text("until", "2024-04-10");
    ckpd_series *series = series_read(text);
    ck_assert_int_eq(ckpd_series_slots(series), 24);
    series_check_stamp(series, 0, "2024-04-09T00:00-07:00");
    ckpd_series_free(series);
    series_text("from", "2024-04-09T03:00");
    series_text("until", "2024-04-09T12:00Z"); /* 05:00 local */
    series = series_read(text);
    series_check(series, "x", 2, (double[]){3, 4});
    ckpd_series_free(series);
    series_text("until", "1712664000");
    series = series_read(text);
    ck_assert_int_eq(ckpd_series_slots(series), 2);
    ckpd_series_free(series);
    series_text("from", "2024-04-07");
    series_refused(text, CKPD_ERR_MISSING, 2,
                   "the window begins at '2024-04-07', its first row 2 at 2024-04-08T00:00");
    series_text("from", "2024-04-09T03:30");
    series_text("until", "");
    series_refused(text, CKPD_ERR_INCONSISTENT, 50, "no whole number of slots");
    series_text("until", "2024-04-10");
    series_refused(text, CKPD_ERR_MISSING, 30,
                   "the window begins at '2024-04-09T03:30', its first row 30");
    series_text("from", "2024-04-09");
    series_text("until", "2024-04-09T20:30");
    series_refused(text, CKPD_ERR_MISSING, 46,
                   "the window ends at '2024-04-09T20:30', its last row 46 at 2024-04-09T21:00");
    series_text("from", "2025-01-01");
    series_text("until", "");
    series_refused(text, CKPD_ERR_MISSING, -1,
                   "the rows go from 2024-04-08T00:00 to 2024-04-10T06:30");
    series_text("from", "tomorrow");
    series_refused(text, CKPD_ERR_SYNTAX, -1, "from = 'tomorrow': not a date");
    series_text("from", "2024-04-09T05:00");
    series_text("until", "2024-04-09T04:00");
    series_refused(text, CKPD_ERR_MISSING, -1, "no row lies in the window");
}
END_TEST

/* 01:00 comes twice in London on 2024-10-27, at 00:00Z and at 01:00Z: a side of the window in UTC
 * tells which is meant, one on the local clock means the first. */
START_TEST(test_windows_in_an_hour_that_comes_twice)
{
    enum { MIDNIGHT = 1729983600 /* 2024-10-26T23:00Z */ };
    static const struct {
        const char *field, *side;
        double values[5], periods[2]; /* of the text with a flag; first and last period */
        int32_t count;
    } windows[] = {{"from", "2024-10-27T00:00Z", {2, 3, 4, 5}, {3, 50}, 4},
                   {"from", "2024-10-27T01:00Z", {3, 4, 5}, {5, 50}, 3},
                   {"from", "2024-10-27T01:00", {2, 3, 4, 5}, {3, 50}, 4},
                   {"until", "2024-10-27T00:00Z", {1}, {1, 2}, 1},
                   {"until", "2024-10-27T01:00Z", {1, 2}, {1, 4}, 2},
                   {"until", "2024-10-27T02:00Z", {1, 2, 3}, {1, 6}, 3}};
    const char *flagged = "time,again,x\n2024-10-27T00:00,N,1\n2024-10-27T01:00,N,2\n"
                          "2024-10-27T01:00,Y,3\n2024-10-27T02:00,N,4\n2024-10-27T03:00,N,5\n";
    char text[2048] = "date,sp,x\n";
    for (int p = 1; p <= 50; p++) {
        sprintf(text + strlen(text), "2024-10-27,%d,%d\n", p, p);
    }
    for (size_t i = 0; series_has_tzdata() && i < sizeof windows / sizeof windows[0]; i++) {
        series_fresh();
        series_text("zone", "Europe/London");
        series_text(windows[i].field, windows[i].side);
        series_text("repeat_column", "again");
        ckpd_series *series = series_read(flagged);
        series_check(series, "x", windows[i].count, windows[i].values);
        ck_assert_int_eq(ckpd_series_start_s(series, 0),
                         MIDNIGHT + ((int64_t)windows[i].values[0] - 1) * 3600);
        ckpd_series_free(series);
        series_text("repeat_column", "");
        series_text("period_column", "sp");
        series_number("slot_minutes", 30);
        series = series_read(text);
        ck_assert_int_eq(ckpd_series_slots(series),
                         (int32_t)(windows[i].periods[1] - windows[i].periods[0]) + 1);
        ck_assert_int_eq(ckpd_series_start_s(series, 0),
                         MIDNIGHT + ((int64_t)windows[i].periods[0] - 1) * 1800);
        ckpd_series_free(series);
    }
}
END_TEST

/* With a zone the dates are that zone's, whatever offset the rows carry. */
START_TEST(test_windows_in_a_zone)
{
    if (!series_has_tzdata()) {
        return;
    }
    char text[8192] = "time,x\n";
    series_add_hours(text, "2026-10-24", 0, 23, "Z");
    series_add_hours(text, "2026-10-25", 0, 23, "Z");
    series_add_hours(text, "2026-10-26", 0, 23, "Z");
    series_text("zone", "Europe/Berlin");
    series_text("from", "2026-10-25");
    series_text("until", "2026-10-26");
    ckpd_series *series = series_read(text);
    ck_assert_int_eq(ckpd_series_slots(series), 25);
    series_check_stamp(series, 0, "2026-10-24T22:00Z");
    ckpd_series_free(series);
    /* Midnight does not exist on 2019-09-08 in Santiago: the day begins at 01:00. */
    series_text("zone", "America/Santiago");
    series_text("from", "2019-09-08");
    series_text("until", "2019-09-09");
    strcpy(text, "time,x\n");
    series_add_hours(text, "2019-09-08", 1, 23, NULL);
    series = series_read(text);
    ck_assert_int_eq(ckpd_series_slots(series), 23);
    ckpd_series_free(series);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io/series_windows");
    TCase *tc = tcase_create("windows");
    tcase_add_checked_fixture(tc, series_setup, series_teardown);
    tcase_add_test(tc, test_windows_while_reading);
    tcase_add_test(tc, test_windows_in_an_hour_that_comes_twice);
    tcase_add_test(tc, test_windows_in_a_zone);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
