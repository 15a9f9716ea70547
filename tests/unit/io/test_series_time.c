/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Time labels, the axis, DST. Instants expected here were worked by hand from the rules of
 * the zones (Europe/Berlin: UTC+1, +2 from the last Sunday of March 01:00Z to the last Sunday of
 * October 01:00Z).
 */
#include "support/series_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 2024-04-09T00:00Z: 19822 days after 1970-01-01. */
#define EPOCH_0 INT64_C(1712620800)

/* Every form of label, and that it comes back as it was. */
START_TEST(test_labels)
{
    static const struct {
        const char *first, *second, *zone;
        int64_t start;
    } table[] = {
        {"2024-04-09T00:00:00Z", "2024-04-09T01:00:00Z", "", EPOCH_0},
        {"2024-04-09T00:00Z", "2024-04-09T01:00Z", "", EPOCH_0},
        {"2024-04-09 00:00 Z", "2024-04-09 01:00 Z", "", EPOCH_0},
        {"2024-04-09T00:00:00.000Z", "2024-04-09T01:00:00.000Z", "", EPOCH_0},
        {"2024-04-08T17:00:00-07:00", "2024-04-08T18:00:00-07:00", "", EPOCH_0},
        {"2024-04-09 05:30:00+0530", "2024-04-09 06:30:00+0530", "", EPOCH_0},
        {"2024-04-09t02:00+02", "2024-04-09t03:00+02", "", EPOCH_0},
        {"2024-04-09T00:00:00-00:00", "2024-04-09T01:00:00-00:00", "", EPOCH_0},
        {"2024-04-09T00:00:00 +00:00", "2024-04-09T01:00:00 +00:00", "", EPOCH_0},
        {"1712620800", "1712624400", "", EPOCH_0},
        {"2024-04-09T00:00", "2024-04-09T01:00", "UTC", EPOCH_0},
        {"2024-04-09 10:00:00", "2024-04-09 11:00:00", "+10:00", EPOCH_0},
        {"2024-04-09", "2024-04-10", "UTC", EPOCH_0},
        {"1969-12-31T23:00:00Z", "1970-01-01T00:00:00Z", "", -3600},
        {"-1000000000", "-999996400", "", -1000000000},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "time,x\n%s,1\n%s,2\n", table[i].first, table[i].second);
        series_text("zone", table[i].zone);
        ckpd_series *series = series_read(text);
        ck_assert_msg(ckpd_series_start_s(series, 0) == table[i].start, "%s: %lld", table[i].first,
                      (long long)ckpd_series_start_s(series, 0));
        series_check_stamp(series, 0, table[i].first);
        series_check_stamp(series, 1, table[i].second);
        ckpd_series_free(series);
    }
}
END_TEST

START_TEST(test_labels_in_other_orders)
{
    static const struct {
        const char *order, *first, *second;
    } table[] = {
        {"mdy", "4/9/2024 0:00", "4/9/2024 1:00"},
        {"mdy", "04/09/2024 00:00:00", "04/09/2024 01:00:00"},
        {"dmy", "09.04.2024 00:00", "09.04.2024 01:00"},
        {"dmy", "9-4-2024T00:00", "9-4-2024T01:00"},
        {"ymd", "2024/4/9 00:00", "2024/4/9 01:00"},
        {"mdy", "4/9/2024 12:00:00 AM", "4/9/2024 1:00:00 AM"},
        {"ymd", "2024-04-09 12:00am", "2024-04-09 1:00am"},
        {"dmy", "09.04.2024 00:00 - 09.04.2024 01:00", "09.04.2024 01:00 - 09.04.2024 02:00"},
        {"dmy", "09/04/2024 00:00:00 - 09/04/2024 01:00:00", "09/04/2024 01:00 - 09/04/2024 02:00"},
    };
    series_text("zone", "UTC");
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "date,x\n%s,1\n%s,2\n", table[i].first, table[i].second);
        series_text("date_order", table[i].order);
        ckpd_series *series = series_read(text);
        ck_assert_int_eq(ckpd_series_start_s(series, 0), EPOCH_0);
        char stamp[48];
        ck_assert_int_eq(ckpd_series_stamp(series, 1, stamp, sizeof stamp), CKPD_OK);
        ck_assert_ptr_eq(strstr(stamp, "2024-04-09"), stamp);
        ck_assert_ptr_nonnull(strstr(stamp, "+00:00"));
        ckpd_series_free(series);
    }
}
END_TEST

static void refused_label(const char *label, const char *words)
{
    char text[256];
    snprintf(text, sizeof text, "time,x\n2024-04-09T00:00Z,1\n%s,2\n", label);
    series_refused(text, CKPD_ERR_SYNTAX, 3, words);
}

START_TEST(test_labels_that_are_refused)
{
    refused_label("04/09/2024 01:00", "not a date YYYY-MM-DD; for others set date_order");
    refused_label("20240409", "a date without dashes");
    refused_label("1712624400000", "epoch time in milliseconds");
    refused_label("12345", "neither a date nor epoch seconds");
    refused_label("", "not a date");
    refused_label("2024-02-30T00:00Z", "there is no such date");
    refused_label("2023-02-29T00:00Z", "there is no such date");
    refused_label("2024-13-01T00:00Z", "there is no such date");
    refused_label("0000-01-01T00:00Z", "there is no such date");
    refused_label("2024-04-09T25:00Z", "there is no such time of day");
    refused_label("2024-04-09T24:30Z", "there is no such time of day");
    refused_label("2024-04-09T01:60Z", "there is no such time of day");
    refused_label("2024-04-09T01:00:60Z", "there is no such time of day");
    refused_label("2024-04-09T01Z", "no time hh:mm");
    refused_label("2024-04-09T01:00:00.5Z", "fractions of a second");
    refused_label("2024-04-09 13:00 PM", "clock of 12 hours");
    refused_label("2024-04-09 0:30 AM", "clock of 12 hours");
    refused_label("2024-04-09 01:00 AEST", "no offset (zone letters");
    refused_label("202404090100", "a date and time without dashes");
    refused_label("09-Apr-2024 01:00", "not a date");
    refused_label("Total", "not a date YYYY-MM-DD (rows of titles");
    refused_label("2024-04-09T01:00Z - x", "not a date");
    refused_label("2024-04-09 01:00 CEST", "no offset");
    refused_label("2024-04-09T01:00+99:00", "not an offset");
    refused_label("2024-04-09T01:00+1", "not an offset");
    refused_label("2024-04-09T01:00Zulu", "text after the time");
    refused_label("2024-04-09x", "text after the date");
    series_refused("time,x\n2024-04-09T00:00Z,1\n2024-04-09T01:00,2\n", CKPD_ERR_INCONSISTENT, 3,
                   "written in another way than the first");
    series_refused("time,x\n2024-04-09T00:00Z,1\n1712624400,2\n", CKPD_ERR_INCONSISTENT, 3,
                   "written in another way than the first");
}
END_TEST

START_TEST(test_ends_as_labels)
{
    ckpd_series *series = series_read(
        "time_interval_end,x\n2024-04-09T00:05:00+10:00,1\n2024-04-09T00:10:00+10:00,2\n");
    ck_assert_int_eq(ckpd_series_start_s(series, 0), EPOCH_0 - 36000);
    series_check_stamp(series, 1, "2024-04-09T00:10:00+10:00");
    ckpd_series_free(series);
    series_text("label", "start"); /* what is said wins over what the name suggests */
    series = series_read(
        "time_interval_end,x\n2024-04-09T00:05:00+10:00,1\n2024-04-09T00:10:00+10:00,2\n");
    ck_assert_int_eq(ckpd_series_start_s(series, 0), EPOCH_0 - 36000 + 300);
    ckpd_series_free(series);
    series_text("label", "end");
    series = series_read("time,x\n2024-04-09T01:00Z,1\n2024-04-09T02:00Z,2\n2024-04-09T03:00Z,3\n");
    ck_assert_int_eq(ckpd_series_start_s(series, 0), EPOCH_0);
    ckpd_series_free(series);
    series_text("label", "auto");
    series = series_read(
        "time_weekend,x\n2024-04-09T01:00Z,1\n2024-04-09T02:00Z,2\n"); /* no end in it */
    ck_assert_int_eq(ckpd_series_start_s(series, 0), EPOCH_0 + 3600);
    ckpd_series_free(series);
}
END_TEST

START_TEST(test_hours_of_their_own)
{
    series_text("zone", "UTC");
    series_text("hour_column", "he");
    series_text("label", "end");
    static const char *const texts[] = {
        "date,he,x\n2024-04-09,1,1\n2024-04-09,2,2\n",
        "date,he,x\n2024-04-09,01:00,1\n2024-04-09,02:00,2\n",
        "date,he,x\n2024-04-09,01:00:00,1\n2024-04-09,02:00:00,2\n",
    };
    for (size_t i = 0; i < 3; i++) {
        ckpd_series *series = series_read(texts[i]);
        ck_assert_int_eq(ckpd_series_start_s(series, 0), EPOCH_0);
        series_check_stamp(series, 0, "2024-04-09T01:00:00+00:00");
        ckpd_series_free(series);
    }
    ckpd_series *series = series_read("date,he,x\n2024-04-08,24,1\n2024-04-09,1,2\n");
    ck_assert_int_eq(ckpd_series_start_s(series, 0), EPOCH_0 - 3600);
    ckpd_series_free(series);
    series_refused("date,he,x\n2024-04-09,25,1\n", CKPD_ERR_SYNTAX, 2, "there is no such hour");
    series_refused("date,he,x\n2024-04-09,1h,1\n", CKPD_ERR_SYNTAX, 2, "not an hour");
    series_refused("date,he,x\n2024-04-09T00:00,1,1\n", CKPD_ERR_SYNTAX, 2, "not dates alone");
}
END_TEST

/* Noon and midnight of the 12-hour clock, and the end of a range where ends are what counts. */
START_TEST(test_halves_of_a_day_and_ranges)
{
    series_text("zone", "UTC");
    ckpd_series *series = series_read("time,x\n2024-04-09 11:00 AM,1\n2024-04-09 12:00 PM,2\n"
                                      "2024-04-09 1:00 PM,3\n");
    ck_assert_int_eq(ckpd_series_start_s(series, 1), EPOCH_0 + 12 * 3600);
    ck_assert_int_eq(ckpd_series_start_s(series, 2), EPOCH_0 + 13 * 3600);
    ckpd_series_free(series);
    series_text("label", "end");
    series = series_read("time,x\n2024-04-09 00:00 - 2024-04-09 01:00,1\n"
                         "2024-04-09 01:00 - 2024-04-09 02:00,2\n");
    ck_assert_int_eq(ckpd_series_start_s(series, 0), EPOCH_0);
    ckpd_series_free(series);
    series_refused("time,x\n2024-04-09 02:00 - 2024-04-09 00:00,1\n", CKPD_ERR_SYNTAX, 2,
                   "ends before it begins");
    series_refused("time,x\n2024-04-09T01:00Z - 2024-04-09T01:00Z,1\n", CKPD_ERR_SYNTAX, 2,
                   "ends before it begins");
}
END_TEST

/*
 * Settlement periods of Great Britain (Balancing and Settlement Code: 46, 48 or 50 a day, from
 * local midnight on). 2024-03-31 begins at 00:00Z, 2024-10-27 at 2024-10-26T23:00Z, 2024-04-09
 * likewise an hour before midnight UTC.
 */
START_TEST(test_numbers_of_slots_in_the_day)
{
    static const struct {
        const char *date;
        int periods;
        int64_t start;
    } days[] = {{"2024-04-09", 48, EPOCH_0 - 3600},
                {"2024-03-31", 46, INT64_C(1711843200)},
                {"2024-10-27", 50, INT64_C(1729983600)}};
    series_text("zone", "Europe/London");
    series_text("period_column", "sp");
    series_refused("date,sp,x\n2024-04-09,1,1\n", CKPD_ERR_MISSING, 1, "needs slot_minutes");
    series_number("slot_minutes", 30);
    for (size_t i = 0; i < sizeof days / sizeof days[0]; i++) {
        char text[2048] = "date,sp,x\n", stamp[48], refusal[64];
        size_t used = strlen(text);
        for (int p = 1; p <= days[i].periods; p++) {
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%s,%d,%d\n", days[i].date, p, p);
        }
        ckpd_series *series = series_read(text);
        ck_assert_int_eq(ckpd_series_slots(series), days[i].periods);
        ck_assert_int_eq(ckpd_series_start_s(series, 0), days[i].start);
        ck_assert_int_eq(ckpd_series_stamp(series, 0, stamp, sizeof stamp), CKPD_OK);
        ck_assert_ptr_eq(strstr(stamp, days[i].date), stamp);
        ckpd_series_free(series);
        snprintf(text + used, sizeof text - used, "%s,%d,1\n", days[i].date, days[i].periods + 1);
        snprintf(refusal, sizeof refusal, "that day has %d slots of 30 minutes", days[i].periods);
        series_refused(text, CKPD_ERR_RANGE, days[i].periods + 2, refusal);
    }
    series_refused("date,sp,x\n2024-04-09,0,1\n", CKPD_ERR_SYNTAX, 2, "counts from 1");
    series_refused("date,sp,x\n2024-04-09,1a,1\n", CKPD_ERR_SYNTAX, 2, "counts from 1");
    series_refused("date,sp,x\n2024-04-09T00:00,1,1\n", CKPD_ERR_SYNTAX, 2, "not dates alone");
    series_refused("date,sp,x\n2024-04-09,1,1\n2024-04-09,3,1\n", CKPD_ERR_MISSING, 3, "1 slot of");
    series_text("hour_column", "sp");
    series_refused("date,sp,x\n2024-04-09,1,1\n", CKPD_ERR_INCONSISTENT, 1, "leave out");
}
END_TEST

/* --- axis ------------------------------------------------------------------------------------ */

#define H(hour) "2024-04-09T" #hour ":00Z"

START_TEST(test_rows_out_of_order)
{
    series_refused("time,x\n" H(00) ",1\n" H(01) ",2\n" H(01) ",3\n" H(02) ",3\n",
                   CKPD_ERR_DUPLICATE, 4,
                   "row 4 (slot from 2024-04-09T01:00) has the same time as row 3");
    series_refused("time,x\n" H(00) ",1\n" H(02) ",2\n" H(01) ",3\n", CKPD_ERR_INCONSISTENT, 4,
                   "set sort");
    series_refused("time,x\n" H(00) ",1\n" H(01) ",2\n2024-04-09T01:30Z,3\n" H(02) ",4\n" H(
                       03) ",4\n" H(04) ",4\n" H(05) ",4\n",
                   CKPD_ERR_INCONSISTENT, 4, "row 4 (slot from 2024-04-09T01:30) overlaps row 3");
    series_refused("time,x\n" H(00) ",1\n" H(01) ",2\n" H(02) ",3\n2024-04-09T03:10Z,4\n",
                   CKPD_ERR_INCONSISTENT, 5, "is no whole number of slots after row 4");
    series_refused(
        "time,x\n" H(00) ",1\n" H(01) ",2\n" H(02) ",3\n" H(05) ",4\n", CKPD_ERR_MISSING, 5,
        "2 slots of 60 minutes absent from 2024-04-09T03:00 on, between row 4 and row 5");
    series_number("sort", 1);
    ckpd_series *series = series_read("time,x\n" H(02) ",3\n" H(00) ",1\n" H(01) ",2\n");
    series_check(series, "x", 3, (double[]){1, 2, 3});
    ckpd_series_free(series);
    series_refused("time,x\n" H(02) ",3\n" H(00) ",1\n" H(01) ",2\n" H(00) ",2\n",
                   CKPD_ERR_DUPLICATE, 5, "row 3");
}
END_TEST

START_TEST(test_slot_length)
{
    series_refused("time,x\n" H(00) ",1\n", CKPD_ERR_MISSING, 2, "only one row: give slot_minutes");
    series_refused("time,x\n2024-04-09,1\n2024-04-11,1\n", CKPD_ERR_RANGE, 2, "2880 minutes apart");
    series_number("slot_minutes", 15);
    ckpd_series *series = series_read("time,x\n" H(00) ",1\n");
    ck_assert_double_eq(ckpd_series_slot_hours(series), 0.25);
    ckpd_series_free(series);
    series_refused("time,x\n" H(00) ",1\n" H(01) ",2\n", CKPD_ERR_MISSING, 3,
                   "3 slots of 15 minutes absent");
    series_number("slot_minutes", 120);
    series_refused("time,x\n" H(00) ",1\n" H(01) ",2\n", CKPD_ERR_INCONSISTENT, 3, "overlaps");
    series_number("slot_minutes", 1.0 / 7);
    series_refused("time,x\n" H(00) ",1\n" H(01) ",2\n", CKPD_ERR_RANGE, -1,
                   "not a whole number of seconds");
}
END_TEST

START_TEST(test_too_many_slots)
{
    series_text("gaps", "missing");
    series_number("longest_gap_hours", 8784);
    series_column("x", NULL);
    ckpd_series_options_set_fill(series_options, "x", "hold");
    series_number("slot_minutes", 1.0 / 60);
    series_refused("time,x\n2024-01-01T00:00:00Z,1\n2024-06-01T00:00:00Z,2\n", CKPD_ERR_RANGE, -1,
                   "at most 4000000 are supported");
}
END_TEST

/* --- DST (failures 23 and 24)
 * --------------------------------------------------------------------- */

static void add_quarters(char *text, const char *date, int first, int last, const char *offset)
{
    for (int q = 4 * first; q < 4 * (last + 1); q++) {
        sprintf(text + strlen(text), "%sT%02d:%02d%s,%d\n", date, q / 4, q % 4 * 15, offset, q);
    }
}

START_TEST(test_day_of_23_hours)
{
    char text[8192] = "time,x\n";
    series_add_hours(text, "2026-03-29", 0, 1, "+01:00");
    series_add_hours(text, "2026-03-29", 3, 23, "+02:00");
    ckpd_series *series = series_read(text);
    ck_assert_int_eq(ckpd_series_slots(series), 23);
    ck_assert_int_eq(ckpd_series_start_s(series, 23) - ckpd_series_start_s(series, 0), 23 * 3600);
    series_check_stamp(series, 1, "2026-03-29T01:00+01:00");
    series_check_stamp(series, 2, "2026-03-29T03:00+02:00");
    ckpd_series_free(series);

    strcpy(text, "time,x\n");
    add_quarters(text, "2026-03-29", 0, 1, "+01:00");
    add_quarters(text, "2026-03-29", 3, 23, "+02:00");
    series = series_read(text);
    ck_assert_int_eq(ckpd_series_slots(series), 92);
    ckpd_series_free(series);

    if (!series_has_tzdata()) {
        return;
    }
    series_text("zone", "Europe/Berlin");
    series_text("from", "2026-03-29");
    series_text("until", "2026-03-30");
    strcpy(text, "time,x\n");
    series_add_hours(text, "2026-03-29", 0, 1, NULL);
    series_add_hours(text, "2026-03-29", 3, 23, NULL);
    series = series_read(text);
    ck_assert_int_eq(ckpd_series_slots(series), 23);
    series_check_stamp(series, 2, "2026-03-29T03:00");
    ckpd_series_free(series);

    strcpy(text, "time,x\n"); /* 24 rows: one too many */
    series_add_hours(text, "2026-03-29", 0, 23, NULL);
    series_refused(text, CKPD_ERR_INCONSISTENT, 4,
                   "row 4: local time 2026-03-29T02:00 does not exist (the clock jumps over it) in "
                   "Europe/Berlin; "
                   "2026-03-29 has 23 slots of 60 minutes there, the file has 24 rows for it");
    strcpy(text, "time,x\n"); /* 24 rows with one offset go beyond the day */
    series_add_hours(text, "2026-03-29", 0, 23, "+01:00");
    series_text("until", "2026-03-30T01:00");
    series = series_read(text);
    ck_assert_int_eq(ckpd_series_slots(series), 24);
    ckpd_series_free(series);
}
END_TEST

START_TEST(test_day_of_25_hours)
{
    char text[8192] = "time,x\n";
    series_add_hours(text, "2026-10-25", 0, 2, "+02:00");
    series_add_hours(text, "2026-10-25", 2, 23, "+01:00");
    ckpd_series *series = series_read(text);
    ck_assert_int_eq(ckpd_series_slots(series), 25);
    series_check_stamp(series, 2, "2026-10-25T02:00+02:00");
    series_check_stamp(series, 3, "2026-10-25T02:00+01:00");
    ckpd_series_free(series);

    strcpy(text, "time,x\n");
    add_quarters(text, "2026-10-25", 0, 2, "+02:00");
    add_quarters(text, "2026-10-25", 2, 23, "+01:00");
    series = series_read(text);
    ck_assert_int_eq(ckpd_series_slots(series), 100);
    ckpd_series_free(series);

    if (!series_has_tzdata()) {
        return;
    }
    series_text("zone", "Europe/Berlin");
    strcpy(text, "time,x\n");
    series_add_hours(text, "2026-10-25", 0, 2, NULL);
    series_add_hours(text, "2026-10-25", 2, 23, NULL);
    series_refused(text, CKPD_ERR_INCONSISTENT, 4,
                   "row 4: local time 2026-10-25T02:00 is an ambiguous local time (it comes twice) "
                   "in Europe/Berlin; "
                   "2026-10-25 has 25 slots of 60 minutes there, the file has 25 rows for it: "
                   "write times with UTC "
                   "offset, or name a repeat_column");
    strcpy(text, "time,x\n"); /* an hour lost */
    series_add_hours(text, "2026-10-25", 0, 23, NULL);
    series_refused(text, CKPD_ERR_INCONSISTENT, 4,
                   "has 25 slots of 60 minutes there, the file has 24 rows for it");
}
END_TEST

START_TEST(test_repeated_hour_with_a_flag)
{
    if (!series_has_tzdata()) {
        return;
    }
    const char *text =
        "time,again,x\n2026-10-25T01:00,N,1\n2026-10-25T02:00,N,2\n2026-10-25T02:00,Y,3\n"
        "2026-10-25T03:00,N,4\n";
    series_text("zone", "Europe/Berlin");
    series_text("repeat_column", "again");
    ckpd_series *series = series_read(text);
    series_check(series, "x", 4, (double[]){1, 2, 3, 4});
    series_check_stamp(
        series, 1, "2026-10-25T02:00+02:00"); /* with offset now: the bare time would come twice */
    series_check_stamp(series, 2, "2026-10-25T02:00+01:00");
    ckpd_series_free(series);
    series_number("sort", 1);
    series = series_read("time,again,x\n2026-10-25T02:00,1,3\n2026-10-25T02:30,false,2.5\n2026-10-"
                         "25T02:30,true,3.5\n"
                         "2026-10-25T02:00,0,2\n");
    series_check(series, "x", 4, (double[]){2, 2.5, 3, 3.5});
    ckpd_series_free(series);
}
END_TEST

START_TEST(test_local_times_without_zone)
{
    const char *text = "time,x\n2024-04-09T00:00,1\n2024-04-09T01:00,2\n";
    series_refused(text, CKPD_ERR_MISSING, 2, "the time has no UTC offset: give the zone");
    series_text("zone", "Europe/Berlim");
    series_refused(text, CKPD_ERR_UNKNOWN_NAME, -1, "time zone Europe/Berlim is not known");
    series_text("zone", "UTC");
    series_text("zone_folder", "/nonexistent");
    ckpd_series_free(series_read(text));
    series_text("zone", "Europe/Berlin");
    series_refused(text, CKPD_ERR_UNKNOWN_NAME, -1, "no such file in /nonexistent");
}
END_TEST

/* The zone comes from the options alone, whatever TZ says. */
START_TEST(test_tz_of_the_host_is_ignored)
{
    if (!series_has_tzdata()) {
        return;
    }
    setenv("TZ", "Asia/Tokyo", 1);
    series_text("zone", "Europe/Berlin");
    ckpd_series *series = series_read("time,x\n2024-04-09T02:00,1\n2024-04-09T03:00,2\n");
    ck_assert_int_eq(ckpd_series_start_s(series, 0), EPOCH_0);
    ckpd_series_free(series);
    ck_assert_str_eq(getenv("TZ"), "Asia/Tokyo");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io/series_time");
    TCase *tc = tcase_create("time");
    tcase_add_checked_fixture(tc, series_setup, series_teardown);
    tcase_add_test(tc, test_labels);
    tcase_add_test(tc, test_labels_in_other_orders);
    tcase_add_test(tc, test_labels_that_are_refused);
    tcase_add_test(tc, test_ends_as_labels);
    tcase_add_test(tc, test_hours_of_their_own);
    tcase_add_test(tc, test_halves_of_a_day_and_ranges);
    tcase_add_test(tc, test_numbers_of_slots_in_the_day);
    tcase_add_test(tc, test_rows_out_of_order);
    tcase_add_test(tc, test_slot_length);
    tcase_add_test(tc, test_too_many_slots);
    tcase_add_test(tc, test_day_of_23_hours);
    tcase_add_test(tc, test_day_of_25_hours);
    tcase_add_test(tc, test_repeated_hour_with_a_flag);
    tcase_add_test(tc, test_local_times_without_zone);
    tcase_add_test(tc, test_tz_of_the_host_is_ignored);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
