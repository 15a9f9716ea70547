/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Calendar and time zones. Expected values: the calendar is compared with gmtime_r day by day;
 * zones with the C library's localtime_r under TZ (the test may set it, the library may not), DST
 * dates with the published rules (EU directive 2000/84/EC, US Energy Policy Act of 2005), two files
 * with the examples of RFC 9636 appendix B.
 */
#include "support/support.h"

#include "io/timezone.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static ckpd_context *context;

static void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
}

static void teardown(void)
{
    ckpd_context_free(context);
}

static int64_t at(int32_t year, int32_t month, int32_t day, int32_t hour, int32_t minute)
{
    return ckpd__days_of_date(year, month, day) * 86400 + hour * 3600 + minute * 60;
}

/* The zone of that name, or NULL after a SKIP line on a system without tzdata. */
static ckpd__zone *zone_or_skip(const char *name)
{
    ckpd__zone *zone = NULL;
    if (access("/usr/share/zoneinfo/Europe/Berlin", R_OK) != 0) {
        test_skip("no tzdata on this system");
        return NULL;
    }
    int32_t status = ckpd__zone_load(&zone, context, name, NULL);
    ck_assert_msg(status == CKPD_OK, "%s: %s", name, ckpd_context_last_message(context));
    ck_assert_str_eq(ckpd__zone_name(zone), name);
    return zone;
}

START_TEST(test_calendar)
{
    ck_assert_int_eq(ckpd__days_of_date(1970, 1, 1), 0);
    ck_assert_int_eq(ckpd__days_of_date(2000, 3, 1), 11017);
    ck_assert_int_eq(ckpd__floor_div(-1, 86400), -1);
    ck_assert_int_eq(ckpd__floor_div(-86400, 86400), -1);
    ck_assert_int_eq(ckpd__floor_div(86399, 86400), 0);
    for (int64_t day = -719162; day < 200000; day += 7) { /* from 0001-01-01 on */
        time_t seconds = (time_t)(day * 86400);
        struct tm tm;
        if (seconds != day * 86400) {
            continue; /* a C library whose time ends in 2038 */
        }
        ck_assert_ptr_nonnull(gmtime_r(&seconds, &tm));
        ckpd__date date = ckpd__date_of_days(day);
        ck_assert_int_eq(date.year, tm.tm_year + 1900);
        ck_assert_int_eq(date.month, tm.tm_mon + 1);
        ck_assert_int_eq(date.day, tm.tm_mday);
        ck_assert_int_eq(ckpd__days_of_date(date.year, date.month, date.day), day);
        ck_assert_int_ge(ckpd__days_in_month(date.year, date.month), date.day);
    }
    ck_assert_int_eq(ckpd__days_in_month(1900, 2), 28);
    ck_assert_int_eq(ckpd__days_in_month(2000, 2), 29);
    ck_assert_int_eq(ckpd__days_in_month(2024, 2), 29);
    ck_assert_int_eq(ckpd__days_in_month(2023, 12), 31);
}
END_TEST

START_TEST(test_against_the_c_library)
{
    static const char *const names[] = {
        "Europe/Berlin",       "America/Los_Angeles", "America/Chicago",  "Australia/Sydney",
        "Australia/Lord_Howe", "Asia/Kolkata",        "America/Santiago", "Africa/Casablanca",
        "Pacific/Apia",        "Europe/Dublin",       "America/St_Johns", "Antarctica/Troll"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        ckpd__zone *zone = zone_or_skip(names[i]);
        if (zone == NULL) {
            return;
        }
        setenv("TZ", names[i], 1);
        tzset();
        ckpd__random random;
        ckpd__random_seed(&random, 20260329, i);
        for (int k = 0; k < (test_fast() ? 500 : 4000); k++) {
            int64_t utc = at(1900, 1, 1, 0, 0) +
                          (int64_t)(ckpd__random_uniform(&random) * 86400 * 365.25 * 250);
            time_t seconds = (time_t)utc;
            struct tm tm;
            if (seconds != utc) {
                continue;
            }
            ck_assert_ptr_nonnull(localtime_r(&seconds, &tm));
            int64_t wall =
                ckpd__days_of_date(tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday) * 86400 +
                tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec;
            ck_assert_msg(ckpd__zone_offset(zone, utc) == wall - utc,
                          "%s at %lld: %d, C library %lld", names[i], (long long)utc,
                          ckpd__zone_offset(zone, utc), (long long)(wall - utc));
            int64_t back[2];
            int32_t count = ckpd__zone_instants(zone, wall, back);
            ck_assert_msg(count >= 1 && (back[0] == utc || (count == 2 && back[1] == utc)),
                          "%s at %lld", names[i], (long long)utc);
        }
        ckpd__zone_free(context, zone);
    }
}
END_TEST

static void check_day(ckpd__zone *zone, int32_t year, int32_t month, int32_t day, int32_t hours)
{
    int64_t start = at(year, month, day, 0, 0);
    int64_t length =
        ckpd__zone_first_instant(zone, start + 86400) - ckpd__zone_first_instant(zone, start);
    ck_assert_msg(length == hours * 3600, "%s %d-%d-%d has %lld s", ckpd__zone_name(zone), year,
                  month, day, (long long)length);
}

START_TEST(test_day_lengths)
{
    ckpd__zone *berlin = zone_or_skip("Europe/Berlin");
    if (berlin == NULL) {
        return;
    }
    check_day(berlin, 2026, 3, 29, 23); /* last Sunday of March */
    check_day(berlin, 2026, 10, 25, 25);
    check_day(berlin, 2026, 3, 28, 24);
    check_day(berlin, 2099, 3, 29, 23); /* from the rule, beyond any table */
    check_day(berlin, 2099, 10, 25, 25);
    ckpd__zone_free(context, berlin);
    ckpd__zone *pacific = zone_or_skip("America/Los_Angeles");
    check_day(pacific, 2024, 3, 10, 23); /* second Sunday of March */
    check_day(pacific, 2024, 11, 3, 25);
    check_day(pacific, 2019, 11, 3, 25);
    check_day(pacific, 2024, 4, 9, 24);
    ckpd__zone_free(context, pacific);
    ckpd__zone *howe = zone_or_skip("Australia/Lord_Howe"); /* half an hour */
    int64_t start = at(2024, 4, 7, 0, 0);
    ck_assert_int_eq(ckpd__zone_first_instant(howe, start + 86400) -
                         ckpd__zone_first_instant(howe, start),
                     86400 + 1800);
    ckpd__zone_free(context, howe);
}
END_TEST

START_TEST(test_hours_that_are_not_there_or_twice)
{
    ckpd__zone *zone = zone_or_skip("Europe/Berlin");
    if (zone == NULL) {
        return;
    }
    int64_t utc[2];
    ck_assert_int_eq(ckpd__zone_instants(zone, at(2026, 3, 29, 1, 59), utc), 1);
    ck_assert_int_eq(utc[0], at(2026, 3, 29, 0, 59));
    ck_assert_int_eq(ckpd__zone_instants(zone, at(2026, 3, 29, 2, 0), utc), 0);
    ck_assert_int_eq(ckpd__zone_instants(zone, at(2026, 3, 29, 2, 59), utc), 0);
    ck_assert_int_eq(ckpd__zone_instants(zone, at(2026, 3, 29, 3, 0), utc), 1);
    ck_assert_int_eq(utc[0], at(2026, 3, 29, 1, 0));
    ck_assert_int_eq(ckpd__zone_first_instant(zone, at(2026, 3, 29, 2, 30)),
                     at(2026, 3, 29, 1, 30));
    ck_assert_int_eq(ckpd__zone_instants(zone, at(2026, 10, 25, 2, 0), utc), 2);
    ck_assert_int_eq(utc[0], at(2026, 10, 25, 0, 0));
    ck_assert_int_eq(utc[1], at(2026, 10, 25, 1, 0));
    ck_assert_int_eq(ckpd__zone_instants(zone, at(2026, 10, 25, 3, 0), utc), 1);
    ck_assert_int_eq(ckpd__zone_first_instant(zone, at(2026, 10, 25, 2, 0)),
                     at(2026, 10, 25, 0, 0));
    ckpd__zone_free(context, zone);
}
END_TEST

START_TEST(test_fixed_offsets)
{
    static const struct {
        const char *name;
        int32_t offset;
    } good[] = {{"UTC", 0},    {"Z", 0},        {"+10:00", 36000}, {"-03:30", -12600},
                {"+9", 32400}, {"-05", -18000}, {"+0545", 20700},  {"+00:00", 0}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        ckpd__zone *zone = NULL;
        ck_assert_int_eq(ckpd__zone_load(&zone, context, good[i].name, "/nonexistent"), CKPD_OK);
        ck_assert_int_eq(ckpd__zone_offset(zone, at(2024, 7, 1, 0, 0)), good[i].offset);
        int64_t utc[2];
        ck_assert_int_eq(ckpd__zone_instants(zone, 0, utc), 1);
        ck_assert_int_eq(utc[0], -good[i].offset);
        ckpd__zone_free(context, zone);
    }
}
END_TEST

START_TEST(test_names_that_are_refused)
{
    static const char *const bad[] = {
        "",       "Europe/Berlim", "../../etc/passwd", "/etc/localtime",
        "Europe", "+25:00",        "+10:60",           "+1:00",
        "+123",   "10:00",         "Europe/Berlin ",   "Europe\nBerlin"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ckpd__zone *zone = NULL;
        ck_assert_msg(ckpd__zone_load(&zone, context, bad[i], NULL) == CKPD_ERR_UNKNOWN_NAME,
                      "'%s'", bad[i]);
        ck_assert_ptr_null(zone);
        ck_assert_ptr_nonnull(strstr(ckpd_context_last_message(context), "Europe/Berlin"));
    }
}
END_TEST

/* --- bytes ----------------------------------------------------------------------------------- */

typedef struct bytes {
    unsigned char data[1024];
    size_t length;
} bytes;

static void put(bytes *b, uint64_t value, size_t width)
{
    for (size_t i = width; i-- > 0;) {
        b->data[b->length++] = (unsigned char)(value >> (8 * i));
    }
}

static void put_header(bytes *b, char version, uint32_t leaps, uint32_t times, uint32_t types,
                       uint32_t chars)
{
    memcpy(b->data + b->length, "TZif", 4);
    b->length += 4;
    put(b, (unsigned char)version, 1);
    b->length += 15;
    put(b, 0, 4);
    put(b, 0, 4);
    put(b, leaps, 4);
    put(b, times, 4);
    put(b, types, 4);
    put(b, chars, 4);
}

/* The example of RFC 9636, appendix B.3: "IST-2IDT,M3.4.4/26,M10.5.0" with one transition
   (Asia/Jerusalem, truncated, version 3): the clock change of Friday 02:00 is written as Thursday
   at 26:00. */
static bytes jerusalem(void)
{
    bytes b = {.length = 0};
    put_header(&b, '3', 0, 0, 1, 1);
    b.length += 6 + 1;
    put_header(&b, '3', 0, 1, 1, 4);
    put(&b, UINT64_C(0x7fe81780), 8); /* 2038-01-01 */
    put(&b, 0, 1);
    put(&b, 7200, 4);
    put(&b, 0, 2);
    memcpy(b.data + b.length, "IST", 4);
    b.length += 4;
    const char *footer = "\nIST-2IDT,M3.4.4/26,M10.5.0\n";
    memcpy(b.data + b.length, footer, strlen(footer));
    b.length += strlen(footer);
    return b;
}

START_TEST(test_rule_with_wide_hours)
{
    bytes b = jerusalem();
    ckpd__zone *zone = NULL;
    int32_t status = ckpd__zone_parse(&zone, context, "test", b.data, b.length);
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
    /* 2038: fourth Thursday of March is the 25th, +26 h = Friday 26 March 02:00; last Sunday of
     * October: 31. */
    ck_assert_int_eq(ckpd__zone_offset(zone, at(2038, 3, 25, 23, 59)), 7200);
    ck_assert_int_eq(ckpd__zone_offset(zone, at(2038, 3, 26, 0, 0)), 10800);
    ck_assert_int_eq(ckpd__zone_offset(zone, at(2038, 10, 30, 22, 59)), 10800);
    ck_assert_int_eq(ckpd__zone_offset(zone, at(2038, 10, 30, 23, 0)), 7200);
    ck_assert_int_eq(ckpd__zone_offset(zone, at(2000, 7, 1, 0, 0)),
                     7200); /* before the first transition */
    ckpd__zone_free(context, zone);
}
END_TEST

/* A file last changed after 2038, which a 32-bit clock cannot say. */
START_TEST(test_file_of_the_future)
{
    bytes b = jerusalem();
    struct timespec when = {.tv_sec = (time_t)at(2040, 1, 1, 0, 0)};
    FILE *out = fopen("Later", "wb");
    ck_assert_ptr_nonnull(out);
    ck_assert_uint_eq(fwrite(b.data, 1, b.length, out), b.length);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_int_eq(utimensat(AT_FDCWD, "Later", (struct timespec[]){when, when}, 0), 0);
    ckpd__zone *zone = NULL;
    int32_t status = ckpd__zone_load(&zone, context, "Later", ".");
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
    ck_assert_int_eq(ckpd__zone_offset(zone, at(2038, 3, 26, 0, 0)), 10800);
    ckpd__zone_free(context, zone);
    remove("Later");
}
END_TEST

/* A version 1 file: 32-bit times, no rule. */
START_TEST(test_version_1)
{
    bytes b = {.length = 0};
    put_header(&b, '\0', 0, 2, 2, 8);
    put(&b, (uint32_t)-1000, 4);
    put(&b, 5000, 4);
    put(&b, 1, 1);
    put(&b, 0, 1);
    put(&b, (uint32_t)-3600, 4);
    put(&b, 0, 2);
    put(&b, 0, 4);
    put(&b, 0x0104, 2);
    b.length += 8;
    ckpd__zone *zone = NULL;
    ck_assert_int_eq(ckpd__zone_parse(&zone, context, "v1", b.data, b.length), CKPD_OK);
    ck_assert_int_eq(ckpd__zone_offset(zone, -1001), -3600);
    ck_assert_int_eq(ckpd__zone_offset(zone, -1000), 0);
    ck_assert_int_eq(ckpd__zone_offset(zone, 4999), 0);
    ck_assert_int_eq(ckpd__zone_offset(zone, 5000), -3600);
    ck_assert_int_eq(ckpd__zone_offset(zone, at(2100, 1, 1, 0, 0)), -3600);
    ckpd__zone_free(context, zone);
}
END_TEST

/* Every cut of a good file is refused, and every changed byte is either refused or gives a usable
 * zone. */
START_TEST(test_damaged_files)
{
    bytes good = jerusalem();
    for (size_t length = 0; length < good.length; length++) {
        ckpd__zone *zone = NULL;
        ck_assert_int_eq(ckpd__zone_parse(&zone, context, "cut", good.data, length),
                         CKPD_ERR_SYNTAX);
        ck_assert_ptr_null(zone);
    }
    for (size_t i = 0; i < good.length; i++) {
        for (int32_t bit = 0; bit < 8; bit++) {
            bytes b = good;
            b.data[i] ^= (unsigned char)(1u << bit);
            ckpd__zone *zone = NULL;
            if (ckpd__zone_parse(&zone, context, "damaged", b.data, b.length) == CKPD_OK) {
                int64_t utc[2];
                ckpd__zone_instants(zone, at(2040, 3, 30, 2, 30), utc);
                ckpd__zone_free(context, zone);
            }
        }
    }
}
END_TEST

START_TEST(test_files_with_leap_seconds_are_refused)
{
    bytes b = {.length = 0};
    put_header(&b, '\0', 1, 0, 1, 4);
    b.length += 6 + 4 + 8;
    ckpd__zone *zone = NULL;
    ck_assert_int_eq(ckpd__zone_parse(&zone, context, "right/UTC", b.data, b.length),
                     CKPD_ERR_SYNTAX);
    ck_assert_str_eq(ckpd_context_last_message(context),
                     "time zone right/UTC: not a usable TZif file (it counts leap seconds)");
}
END_TEST

START_TEST(test_rules)
{
    ckpd__zone_rule rule;
    static const char *const bad[] = {"",
                                      "AB3",
                                      "EST",
                                      "EST5EDT",
                                      "EST25",
                                      "<-03>",
                                      "<-03",
                                      "EST5EDT,M3",
                                      "EST5EDT,M13.1.0,M11.1.0",
                                      "EST5EDT,M3.2.0,M11.1.0x",
                                      "EST5EDT,M3.2.0/168,M11.1.0",
                                      "EST5EDT,J0,J365",
                                      "EST5EDT,366,1",
                                      "EST5EDT,M3.2.7,M11.1.0",
                                      "EST5:60",
                                      "EST99999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg(!ckpd__zone_rule_parse(&rule, bad[i], strlen(bad[i])), "'%s'", bad[i]);
    }
    const char *text = "<-03>3";
    ck_assert(ckpd__zone_rule_parse(&rule, text, strlen(text)));
    ck_assert_int_eq(ckpd__zone_rule_offset(&rule, 0), -10800);
    /* All-year daylight saving time (RFC 9636 section 3.3.2). */
    text = "XXX3EDT4,0/0,J365/23";
    ck_assert(ckpd__zone_rule_parse(&rule, text, strlen(text)));
    for (int64_t t = at(2023, 12, 1, 0, 0); t < at(2025, 2, 1, 0, 0); t += 3600) {
        ck_assert_int_eq(ckpd__zone_rule_offset(&rule, t), -4 * 3600);
    }
    /* Day numbers: J60 is always 1 March, 59 is 29 February in leap years. */
    text = "AAA0BBB,J60/0,300";
    ck_assert(ckpd__zone_rule_parse(&rule, text, strlen(text)));
    ck_assert_int_eq(ckpd__zone_rule_offset(&rule, at(2024, 2, 29, 23, 59)), 0);
    ck_assert_int_eq(ckpd__zone_rule_offset(&rule, at(2024, 3, 1, 0, 0)), 3600);
    ck_assert_int_eq(ckpd__zone_rule_offset(&rule, at(2023, 2, 28, 23, 59)), 0);
    ck_assert_int_eq(ckpd__zone_rule_offset(&rule, at(2023, 3, 1, 0, 0)), 3600);
    text = "AAA0BBB,59/0,300";
    ck_assert(ckpd__zone_rule_parse(&rule, text, strlen(text)));
    ck_assert_int_eq(ckpd__zone_rule_offset(&rule, at(2024, 2, 28, 23, 59)), 0);
    ck_assert_int_eq(ckpd__zone_rule_offset(&rule, at(2024, 2, 29, 0, 0)), 3600);
    ck_assert_int_eq(ckpd__zone_rule_offset(&rule, at(2023, 3, 1, 0, 0)), 3600);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io/timezone");
    TCase *tc = tcase_create("timezone");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, test_calendar);
    tcase_add_test(tc, test_against_the_c_library);
    tcase_add_test(tc, test_day_lengths);
    tcase_add_test(tc, test_hours_that_are_not_there_or_twice);
    tcase_add_test(tc, test_fixed_offsets);
    tcase_add_test(tc, test_names_that_are_refused);
    tcase_add_test(tc, test_rule_with_wide_hours);
    tcase_add_test(tc, test_file_of_the_future);
    tcase_add_test(tc, test_version_1);
    tcase_add_test(tc, test_damaged_files);
    tcase_add_test(tc, test_files_with_leap_seconds_are_refused);
    tcase_add_test(tc, test_rules);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
