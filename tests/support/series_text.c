/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support/series_text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

ckpd_context *series_context;
ckpd_series_options *series_options;

void series_setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&series_context, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_series_options_new(&series_options, series_context), CKPD_OK);
}

void series_teardown(void)
{
    ckpd_series_options_free(series_options);
    ckpd_context_free(series_context);
}

void series_fresh(void)
{
    ckpd_series_options_free(series_options);
    ck_assert_int_eq(ckpd_series_options_new(&series_options, series_context), CKPD_OK);
}

void series_text(const char *field, const char *text)
{
    int32_t status = ckpd_series_options_set_text(series_options, field, text);
    ck_assert_msg(status == CKPD_OK, "%s: %s", field, ckpd_context_last_message(series_context));
}

void series_number(const char *field, double value)
{
    int32_t status = ckpd_series_options_set(series_options, field, value);
    ck_assert_msg(status == CKPD_OK, "%s: %s", field, ckpd_context_last_message(series_context));
}

void series_column(const char *column, const char *unit)
{
    int32_t status = ckpd_series_options_add_column(series_options, column, unit);
    ck_assert_msg(status == CKPD_OK, "%s: %s", column, ckpd_context_last_message(series_context));
}

bool series_has_tzdata(void)
{
    if (access("/usr/share/zoneinfo/Europe/Berlin", R_OK) == 0) {
        return true;
    }
    test_skip("no tzdata on this system");
    return false;
}

ckpd_series *series_read(const char *text)
{
    ckpd_series *series = NULL;
    int32_t status =
        ckpd_series_read_text(&series, series_context, text, strlen(text), series_options);
    ck_assert_msg(status == CKPD_OK, "%s\n%s", ckpd_context_last_message(series_context), text);
    return series;
}

void series_says(const char *words)
{
    const char *message = ckpd_context_last_message(series_context);
    ck_assert_msg(strstr(message, words) != NULL, "'%s' is not in: %s", words, message);
}

void series_refused(const char *text, int32_t expected, int64_t line, const char *words)
{
    ckpd_series *series = NULL;
    int32_t status =
        ckpd_series_read_text(&series, series_context, text, strlen(text), series_options);
    ckpd_error error = {.size = sizeof error};
    ck_assert_int_eq(ckpd_context_last_error(series_context, &error), CKPD_OK);
    ck_assert_msg(status == expected, "%s, expected %s: %s\n%s", ckpd_status_name(status),
                  ckpd_status_name(expected), status == CKPD_OK ? "" : error.message, text);
    ck_assert_ptr_null(series);
    series_says(words);
    ck_assert_msg(line == -2 || error.index == line, "line %lld, expected %lld: %s",
                  (long long)error.index, (long long)line, error.message);
}

void series_check(const ckpd_series *series, const char *column, int32_t count,
                  const double *values)
{
    double read[64];
    ck_assert_int_eq(ckpd_series_slots(series), count);
    int32_t position = ckpd_series_find_column(series, column);
    ck_assert_msg(position >= 0, "no column %s", column);
    ck_assert_int_eq(ckpd_series_get(series, position, read, count), CKPD_OK);
    for (int32_t i = 0; i < count; i++) {
        ck_assert_msg(read[i] == values[i], "%s[%d] = %.17g, expected %.17g", column, i, read[i],
                      values[i]);
    }
}

void series_check_stamp(const ckpd_series *series, int32_t slot, const char *stamp)
{
    char text[48] = "";
    ck_assert_int_eq(ckpd_series_stamp(series, slot, text, sizeof text), CKPD_OK);
    ck_assert_str_eq(text, stamp);
}

void series_add_hours(char *text, const char *date, int first, int last, const char *offset)
{
    for (int hour = first; hour <= last; hour++) {
        sprintf(text + strlen(text), "%sT%02d:00%s,%d\n", date, hour, offset != NULL ? offset : "",
                hour);
    }
}
