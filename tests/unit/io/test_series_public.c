/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Every file of ../shared/data/public is read, or refused for the reason its README gives. Sums by
 * day come from awk on the raw file, numbers of slots from the README.
 */
#include "support/support.h"

#include "base/base.h"
#include <ckptdispatch/series.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ckpd_context *context;
static ckpd_series_options *options;

static void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_series_options_new(&options, context), CKPD_OK);
}

static void teardown(void)
{
    ckpd_series_options_free(options);
    ckpd_context_free(context);
}

static const char *shared(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "data/public/%s", name);
    return test_shared_path(path);
}

static bool has_tzdata(void)
{
    if (access("/usr/share/zoneinfo/America/Los_Angeles", R_OK) == 0) {
        return true;
    }
    test_skip("no tzdata on this system");
    return false;
}

static void text(const char *field, const char *value)
{
    int32_t status = ckpd_series_options_set_text(options, field, value);
    ck_assert_msg(status == CKPD_OK, "%s: %s", field, ckpd_context_last_message(context));
}

static void fresh_options(void)
{
    ckpd_series_options_free(options);
    ck_assert_int_eq(ckpd_series_options_new(&options, context), CKPD_OK);
}

static ckpd_series *read_good(const char *path)
{
    ckpd_series *series = NULL;
    int32_t status = ckpd_series_read_file(&series, context, path, options);
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
    return series;
}

static void read_bad(const char *path, int32_t expected, int64_t line, const char *words)
{
    ckpd_series *series = NULL;
    int32_t status = ckpd_series_read_file(&series, context, path, options);
    ckpd_error error = {.size = sizeof error};
    ckpd_context_last_error(context, &error);
    ck_assert_msg(status == expected, "%s: %d, %s", path, status, error.message);
    ck_assert_ptr_null(series);
    ck_assert_msg(strstr(error.message, words) != NULL, "'%s' is not in: %s", words, error.message);
    ck_assert_msg(error.index == line, "line %lld in: %s", (long long)error.index, error.message);
}

/* --- sums ------------------------------------------------------------------------------------ */

typedef struct day_sum {
    char day[16];
    double sum;
    long rows;
} day_sum;
enum { MOST_DAYS = 400 };

/* awk adds column `field` (from 1) of the raw file by the first 10 characters of column `time`. */
static int awk_sums(const char *path, int time, int field, const char *condition,
                    day_sum days[MOST_DAYS])
{
    char command[4096];
    snprintf(command, sizeof command,
             "LC_ALL=C awk -F, 'NR > 1 && $%d != \"\" && (%s) { d = substr($%d, 1, 10); if (!(d in "
             "n)) order[++k] = d; "
             "s[d] += $%d; n[d]++ } END { for (i = 1; i <= k; i++) printf \"%%s %%.17g %%d\\n\", "
             "order[i], s[order[i]], "
             "n[order[i]] }' '%s'",
             field, condition, time, field, path);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    int count = 0;
    char number[64];
    while (count < MOST_DAYS &&
           fscanf(pipe, "%15s %63s %ld", days[count].day, number, &days[count].rows) == 3) {
        ck_assert(ckpd__parse_double(number, strlen(number), &days[count].sum));
        count++;
    }
    ck_assert_int_eq(pclose(pipe), 0);
    ck_assert_int_gt(count, 0);
    return count;
}

static void check_sums(const ckpd_series *series, const char *path, const char *name, int field,
                       double factor)
{
    day_sum days[MOST_DAYS];
    int count = awk_sums(path, 1, field, "1", days), day = -1;
    int32_t slots = ckpd_series_slots(series), column = ckpd_series_find_column(series, name);
    ck_assert_msg(column >= 0, "%s", name);
    double *values = malloc((size_t)slots * sizeof *values), sum = 0;
    ck_assert_int_eq(ckpd_series_get(series, column, values, slots), CKPD_OK);
    long rows = 0;
    for (int32_t i = 0; i <= slots; i++) {
        char stamp[48] = "";
        if (i < slots) {
            ck_assert_int_eq(ckpd_series_stamp(series, i, stamp, sizeof stamp), CKPD_OK);
        }
        if (day < 0 || i == slots || strncmp(stamp, days[day].day, 10) != 0) {
            if (day >= 0) {
                ck_assert_int_eq(rows, days[day].rows);
                ck_assert_msg(fabs(sum - factor * days[day].sum) <= 1e-11 * (1 + fabs(sum)),
                              "%s %s: %.17g, awk %.17g", name, days[day].day, sum,
                              factor * days[day].sum);
            }
            day++;
            sum = 0;
            rows = 0;
        }
        if (i < slots) {
            ck_assert_int_lt(day, count);
            sum += values[i];
            rows++;
        }
    }
    ck_assert_int_eq(day, count);
    free(values);
}

/* Every stamp is the text of the file's first column, row by row. */
static void check_stamps(const ckpd_series *series, const char *path)
{
    FILE *file = fopen(path, "r");
    char line[1024];
    ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    for (int32_t i = 0; i < ckpd_series_slots(series); i++) {
        char stamp[48];
        ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
        line[strcspn(line, ",\r\n")] = '\0';
        ck_assert_int_eq(ckpd_series_stamp(series, i, stamp, sizeof stamp), CKPD_OK);
        ck_assert_str_eq(stamp, line);
    }
    ck_assert_ptr_null(fgets(line, sizeof line, file));
    fclose(file);
}

/* --- files with offsets, whole --------------------------------------------------------------- */

typedef struct plain_file {
    const char *name;
    int32_t slots, minutes;
    const char *columns[6]; /* from the second on; "-": not asked for */
} plain_file;

static const plain_file plain_files[] = {
    {"aemo_sa1_5min_2023-10_week.csv", 2016, 5, {"price_aud_per_mwh", "load_mw"}},
    {"caiso_day_2019-03-13_duck_no_negative.csv",
     24,
     60,
     {"price_usd_per_mwh", "solar_mw", "wind_mw"}},
    {"caiso_day_2024-03-10_dst_23h.csv",
     23,
     60,
     {"price_usd_per_mwh", "solar_mw", "wind_mw", "load_mw", "carbon_kg_per_mwh"}},
    {"caiso_day_2024-04-09_evening_peak.csv",
     24,
     60,
     {"price_usd_per_mwh", "solar_mw", "wind_mw", "load_mw", "carbon_kg_per_mwh"}},
    {"caiso_day_2024-04-27_negative_midday.csv",
     24,
     60,
     {"price_usd_per_mwh", "solar_mw", "wind_mw", "load_mw", "carbon_kg_per_mwh"}},
    {"caiso_day_2024-09-05_scarcity_evening.csv",
     24,
     60,
     {"price_usd_per_mwh", "solar_mw", "wind_mw", "load_mw", "carbon_kg_per_mwh"}},
    {"caiso_netdemand_5min_2022-06-14.csv",
     289,
     5,
     {"load_mw", "net_load_mw", "day_ahead_net_forecast_mw", "hour_ahead_forecast_mw"}},
    {"caiso_np15_2020-02-26_2020-03-09_hourly_dst23h.csv",
     311,
     60,
     {"price_usd_per_mwh", "solar_mw", "wind_mw"}},
    {"caiso_np15_2020-04-08_2020-04-20_hourly.csv",
     312,
     60,
     {"price_usd_per_mwh", "solar_mw", "wind_mw"}},
    {"caiso_pge_moer_5min_2020-02-26_2020-03-09.csv", 12 * 288 + 276, 5, {"moer_kg_per_kwh"}},
    {"caiso_pge_moer_5min_2020-04-08_2020-04-20.csv", 13 * 288, 5, {"moer_kg_per_kwh"}},
    {"caiso_sdge_2024_full_year_price_carbon.csv", 8784, 60, {"price_usd_per_mwh", "-"}},
    {"caiso_sp15_2019-03-13_2019-03-25_hourly.csv",
     312,
     60,
     {"price_usd_per_mwh", "solar_mw", "wind_mw"}},
    {"caiso_sp15_2019-10-23_2019-11-04_hourly_dst25h.csv",
     313,
     60,
     {"price_usd_per_mwh", "solar_mw", "wind_mw"}},
    {"caiso_sp15_2024-02-17_2024-09-29_hourly.csv",
     5423,
     60,
     {"price_usd_per_mwh", "solar_mw", "wind_mw", "load_mw", "carbon_kg_per_mwh"}},
    {"ercot_west_2022_hourly.csv", 8760, 60, {"price_usd_per_mwh"}},
};

static double expected_factor(const char *column)
{
    size_t length = strlen(column);
    return strcmp(column + length - 3, "_mw") == 0 || strstr(column, "kg_per_kwh") != NULL ? 1000
                                                                                           : 1;
}

START_TEST(test_plain_files)
{
    const plain_file *file = &plain_files[_i];
    const char *path = shared(file->name);
    if (path == NULL) {
        return;
    }
    for (int c = 0; c < 6 && file->columns[c] != NULL; c++) {
        if (file->columns[c][0] != '-') {
            ck_assert_int_eq(ckpd_series_options_add_column(options, file->columns[c], NULL),
                             CKPD_OK);
        }
    }
    ckpd_series *series = read_good(path);
    ck_assert_int_eq(ckpd_series_slots(series), file->slots);
    ck_assert_double_eq_tol(ckpd_series_slot_hours(series) * 60, file->minutes, 1e-12);
    check_stamps(series, path);
    for (int c = 0; c < 6 && file->columns[c] != NULL; c++) {
        if (file->columns[c][0] != '-') {
            check_sums(series, path, file->columns[c], c + 2, expected_factor(file->columns[c]));
        }
    }
    ckpd_series_free(series);
}
END_TEST

START_TEST(test_days_of_23_and_25_hours)
{
    const char *path = shared("caiso_sdge_2024_full_year_price_carbon.csv");
    if (path == NULL) {
        return;
    }
    ck_assert_int_eq(ckpd_series_options_add_column(options, "price_usd_per_mwh", NULL), CKPD_OK);
    ckpd_series *year = read_good(path), *day = NULL;
    static const struct {
        const char *from, *until;
        int32_t slots;
    } days[] = {{"2024-03-10", "2024-03-11", 23},
                {"2024-11-03", "2024-11-04", 25},
                {"2024-04-09", "2024-04-10", 24},
                {"2024-04-08", "2024-04-15", 168},
                {"2024-02-29", "2024-03-01", 24}};
    for (size_t i = 0; i < sizeof days / sizeof days[0]; i++) {
        ck_assert_int_eq(ckpd_series_cut(&day, year, days[i].from, days[i].until), CKPD_OK);
        ck_assert_int_eq(ckpd_series_slots(day), days[i].slots);
        char stamp[48];
        ckpd_series_stamp(day, 0, stamp, sizeof stamp);
        ck_assert_int_eq(strncmp(stamp, days[i].from, 10), 0);
        ckpd_series_free(day);
    }
    ckpd_series_free(year);
}
END_TEST

/* The last 8 hours of the year have no carbon value. */
START_TEST(test_empty_cells)
{
    const char *path = shared("caiso_sdge_2024_full_year_price_carbon.csv");
    if (path == NULL) {
        return;
    }
    read_bad(path, CKPD_ERR_MISSING, 8778,
             "row 8778 (slot from 2024-12-31T16:00), column 'carbon_kg_per_mwh': no value");
    ckpd_series_options_add_column(options, "carbon_kg_per_mwh", NULL);
    ckpd_series_options_set_fill(options, "carbon_kg_per_mwh", "hold");
    read_bad(path, CKPD_ERR_MISSING, 8778, "longer than longest_gap_hours");
    ck_assert_int_eq(ckpd_series_options_set(options, "longest_gap_hours", 8), CKPD_OK);
    ckpd_series *series = read_good(path);
    ck_assert_int_eq(ckpd_series_filled_count(series, 0), 8);
    ck_assert_int_eq(ckpd_series_is_filled(series, 0, 8775), 0);
    ck_assert_int_eq(ckpd_series_is_filled(series, 0, 8776), 1);
    ckpd_series_free(series);

    path = shared("ercot_west_2022_hourly.csv");
    fresh_options();
    read_bad(path, CKPD_ERR_MISSING, 8755, "column 'solar_mw': no value");
    text("until", "2022-12-31");
    series = read_good(path);
    ck_assert_int_eq(ckpd_series_slots(series), 8736);
    ckpd_series_free(series);
}
END_TEST

/* 15972 of 17468 intervals are there, absent ones in 186 gaps of whole hours. */
START_TEST(test_absent_rows)
{
    const char *path = shared("caiso_rt15min_stanford_node_2020-01-01_2020-06-30.csv");
    if (path == NULL) {
        return;
    }
    ckpd_series *series = NULL;
    ck_assert_int_eq(ckpd_series_read_file(&series, context, path, options), CKPD_ERR_MISSING);
    ck_assert_ptr_nonnull(strstr(ckpd_context_last_message(context), "absent from"));
    text("from", "2020-06-04");
    series = read_good(path);
    ck_assert_int_eq(ckpd_series_slots(series), 27 * 96);
    ckpd_series_free(series);

    text("from", "");
    text("gaps", "missing");
    ckpd_series_options_add_column(options, "price_usd_per_mwh", NULL);
    ckpd_series_options_set_fill(options, "price_usd_per_mwh", "linear");
    ck_assert_int_eq(ckpd_series_options_set(options, "longest_gap_hours", 100), CKPD_OK);
    series = read_good(path);
    ck_assert_int_eq(ckpd_series_slots(series), 17468);
    ck_assert_int_eq(ckpd_series_filled_count(series, 0), 17468 - 15972);
    ckpd_series_free(series);
}
END_TEST

/* 00:00 to 08:00 are absent on every day. */
START_TEST(test_file_without_nights)
{
    const char *path = shared("caiso_sce_2024-02-17_2024-09-29_dam_rtm_hours_9_to_23_only.csv");
    if (path == NULL) {
        return;
    }
    read_bad(path, CKPD_ERR_MISSING, 17,
             "9 slots of 60 minutes absent from 2024-02-18T00:00 on, between row 16 and row 17");
    text("from", "2024-02-17T09:00");
    text("until", "2024-02-18");
    ckpd_series *series = read_good(path);
    ck_assert_int_eq(ckpd_series_slots(series), 15);
    ckpd_series_free(series);
    text("from", "2024-02-17");
    read_bad(path, CKPD_ERR_MISSING, 2,
             "the window begins at '2024-02-17', its first row 2 at 2024-02-17T09:00");
}
END_TEST

/* --- local times ----------------------------------------------------------------------------- */

/* Every day has 24 rows; the hour that does not exist is a row of zeros. */
START_TEST(test_renewables_watch)
{
    const char *path = shared("caiso_renewables_watch_actual_2020-01-01_2020-06-30.csv");
    if (path == NULL || !has_tzdata()) {
        return;
    }
    text("hour_column", "hour_ending_local");
    read_bad(path, CKPD_ERR_MISSING, 2, "no UTC offset");
    text("zone", "America/Los_Angeles");
    read_bad(path, CKPD_ERR_INCONSISTENT, 67 * 24 + 3 + 1,
             "local time 2020-03-08T02:00 does not exist (the clock jumps over it) in "
             "America/Los_Angeles; 2020-03-08 "
             "has 23 slots of 60 minutes there, the file has 24 rows for it");
    text("from", "2020-03-09");
    ckpd_series *series = read_good(path);
    ck_assert_int_eq(ckpd_series_slots(series), 114 * 24);
    char stamp[48];
    ckpd_series_stamp(series, 0, stamp, sizeof stamp);
    ck_assert_str_eq(stamp, "2020-03-09T01:00:00-07:00"); /* hour ending 1 */
    day_sum days[MOST_DAYS];
    int count = awk_sums(path, 1, 3, "$1 >= \"2020-03-09\"", days);
    ck_assert_int_eq(count, 114);
    double *values = malloc(sizeof *values * 114 * 24);
    ck_assert_int_eq(
        ckpd_series_get(series, ckpd_series_find_column(series, "wind_mw"), values, 114 * 24),
        CKPD_OK);
    for (int d = 0; d < count; d++) {
        double sum = 0;
        for (int h = 0; h < 24; h++) {
            sum += values[d * 24 + h];
        }
        ck_assert_double_eq_tol(sum, 1000 * days[d].sum, 1e-6);
    }
    free(values);
    ckpd_series_free(series);

    path = shared("raw_caiso_renewables_watch_2020-03-08_and_2020-11-01.csv");
    fresh_options();
    text("hour_column", "hour");
    text("label", "end");
    text("zone", "America/Los_Angeles");
    text("until", "2020-03-09");
    read_bad(path, CKPD_ERR_INCONSISTENT, 4, "does not exist");
    text("from", "2020-11-01");
    text("until", "2020-11-02");
    read_bad(path, CKPD_ERR_INCONSISTENT, 27,
             "2020-11-01 has 25 slots of 60 minutes there, the file has 24 rows for it");
}
END_TEST

START_TEST(test_files_without_dst)
{
    const char *path = shared("ercot_south_2025-02-27_2025-03-26_15min_dam_rtm.csv");
    if (path == NULL || !has_tzdata()) {
        return;
    }
    text("zone", "America/Chicago"); /* DST was removed by the source: 96 rows on 2025-03-09 */
    read_bad(path, CKPD_ERR_INCONSISTENT, 10 * 96 + 8 + 2,
             "2025-03-09 has 92 slots of 15 minutes there, the file has 96 rows for it");
    text("zone", "UTC");
    ckpd_series *series = read_good(path);
    ck_assert_int_eq(ckpd_series_slots(series), 28 * 96);
    check_stamps(series, path);
    check_sums(series, path, "price_usd_per_mwh", 3, 1);
    ckpd_series_free(series);

    path = shared("rts_gmlc_2020_bus_carter_hourly_synthetic.csv");
    series = read_good(path);
    ck_assert_int_eq(ckpd_series_slots(series), 8736);
    check_stamps(series, path);
    check_sums(series, path, "price_rt_usd_per_mwh", 3, 1);
    check_sums(series, path, "wind_mw", 5, 1000);
    ckpd_series_free(series);

    /* 2017-10-29 is a 25-hour day that has 24 rows; the other 30 days are sound. */
    path = shared("de_2017-10_hourly_24h_normalised.csv");
    text("zone", "Europe/Berlin");
    read_bad(path, CKPD_ERR_INCONSISTENT, 28 * 24 + 2 + 2,
             "local time 2017-10-29T02:00 is an ambiguous local time (it comes twice) in "
             "Europe/Berlin; 2017-10-29 has "
             "25 slots of 60 minutes there, the file has 24 rows for it");
    text("until", "2017-10-29");
    series = read_good(path);
    ck_assert_int_eq(ckpd_series_slots(series), 28 * 24);
    ckpd_series_free(series);
    text("from", "2017-10-30");
    text("until", "2017-11-01");
    series = read_good(path);
    ck_assert_int_eq(ckpd_series_slots(series), 48);
    ckpd_series_free(series);
    fresh_options();
    text("zone", "UTC");
    series = read_good(path);
    check_sums(series, path, "wind_onshore_mw", 4, 1000);
    ckpd_series_free(series);
}
END_TEST

/* --- raw downloads --------------------------------------------------------------------------- */

static double sum_of(const ckpd_series *series, int32_t column)
{
    int32_t slots = ckpd_series_slots(series);
    double *values = malloc((size_t)slots * sizeof *values), sum = 0;
    ck_assert_int_eq(ckpd_series_get(series, column, values, slots), CKPD_OK);
    for (int32_t i = 0; i < slots; i++) {
        sum += values[i];
    }
    free(values);
    return sum;
}

/* Four LMP types in one column, rows in no order, GMT. */
START_TEST(test_raw_oasis)
{
    static const struct {
        const char *file;
        int32_t slots;
        int64_t first; /* line of the first row that lies before another one */
        const char *start, *from, *until;
    } files[] = {
        {"raw_caiso_oasis_prc_lmp_sp26slak_2019-11-03_25h.csv", 25, 3, "2019-11-03T07:00:00-00:00",
         "2019-11-03", "2019-11-04"},
        {"raw_caiso_oasis_prc_lmp_sp26slak_2020-03-08_23h.csv", 23, 4, "2020-03-08T08:00:00-00:00",
         "2020-03-08", "2020-03-09"},
    };
    for (size_t i = 0; i < 2; i++) {
        const char *path = shared(files[i].file);
        if (path == NULL || !has_tzdata()) {
            return;
        }
        fresh_options();
        text("time_column", "INTERVALSTARTTIME_GMT");
        ckpd_series_options_add_column(options, "MW", "USD/MWh");
        ckpd_series_options_add_filter(options, "LMP_TYPE", "LMP");
        read_bad(path, CKPD_ERR_INCONSISTENT, files[i].first, "set sort");
        ck_assert_int_eq(ckpd_series_options_set(options, "sort", 1), CKPD_OK);
        ckpd_series *series = read_good(path);
        ck_assert_int_eq(ckpd_series_slots(series), files[i].slots);
        ck_assert_str_eq(ckpd_series_column_unit(series, 0), "money/MWh");
        char stamp[48];
        ckpd_series_stamp(series, 0, stamp, sizeof stamp);
        ck_assert_str_eq(stamp, files[i].start);
        day_sum days[MOST_DAYS];
        ck_assert_int_eq(awk_sums(path, 3, 15, "$10 == \"LMP\"", days), 1);
        ck_assert_double_eq_tol(sum_of(series, 0), days[0].sum, 1e-9);
        ckpd_series_free(series);

        text("zone", "America/Los_Angeles"); /* the same as one day of the local calendar */
        text("from", files[i].from);
        text("until", files[i].until);
        series = read_good(path);
        ck_assert_int_eq(ckpd_series_slots(series), files[i].slots);
        ckpd_series_free(series);

        fresh_options(); /* without the filter every hour comes four times */
        text("time_column", "INTERVALSTARTTIME_GMT");
        ckpd_series_options_add_column(options, "MW", "USD/MWh");
        ckpd_series_options_set(options, "sort", 1);
        ckpd_series *none = NULL;
        ck_assert_int_eq(ckpd_series_read_file(&none, context, path, options), CKPD_ERR_DUPLICATE);
    }
}
END_TEST

/* Dates month first, hours that end, 02:00 twice with a flag. */
START_TEST(test_raw_ercot)
{
    const char *path = shared("raw_ercot_dam_spp_hb_west_2022-03-13_and_2022-11-06.csv");
    if (path == NULL || !has_tzdata()) {
        return;
    }
    text("time_column", "Delivery Date");
    text("hour_column", "Hour Ending");
    text("zone", "America/Chicago");
    ckpd_series_options_add_column(options, "Settlement Point Price", "USD/MWh");
    read_bad(path, CKPD_ERR_SYNTAX, 2,
             "time '03/13/2022': not a date YYYY-MM-DD; for others set date_order");
    text("date_order", "mdy");
    text("until", "2022-03-14");
    ckpd_series *series = read_good(path);
    ck_assert_int_eq(ckpd_series_slots(series),
                     23); /* hour ending 03:00 is absent, and rightly so */
    char stamp[48];
    ckpd_series_stamp(series, 1, stamp, sizeof stamp);
    ck_assert_str_eq(stamp, "2022-03-13T02:00:00-06:00");
    ckpd_series_stamp(series, 2, stamp, sizeof stamp);
    ck_assert_str_eq(stamp, "2022-03-13T04:00:00-05:00");
    ckpd_series_free(series);

    text("from", "2022-11-06");
    text("until", "2022-11-07");
    read_bad(path, CKPD_ERR_INCONSISTENT, 26, "is an ambiguous local time (it comes twice)");
    text("repeat_column", "Repeated Hour Flag");
    series = read_good(path);
    ck_assert_int_eq(ckpd_series_slots(series), 25);
    double values[25];
    ck_assert_int_eq(ckpd_series_get(series, 0, values, 25), CKPD_OK);
    ck_assert_double_eq(values[1], 0.23); /* rows 26 and 27 of the file */
    ck_assert_double_eq(values[2], 1.90);
    ckpd_series_free(series);

    text("from", ""); /* both days at once: 237 days lie between */
    text("until", "");
    read_bad(path, CKPD_ERR_MISSING, 25,
             "absent from 2022-03-14T00:00 on, between row 24 and row 25");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io/series_public");
    TCase *tc = tcase_create("public");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, test_plain_files, 0, (int)(sizeof plain_files / sizeof plain_files[0]));
    tcase_add_test(tc, test_days_of_23_and_25_hours);
    tcase_add_test(tc, test_empty_cells);
    tcase_add_test(tc, test_absent_rows);
    tcase_add_test(tc, test_file_without_nights);
    tcase_add_test(tc, test_renewables_watch);
    tcase_add_test(tc, test_files_without_dst);
    tcase_add_test(tc, test_raw_oasis);
    tcase_add_test(tc, test_raw_ercot);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
