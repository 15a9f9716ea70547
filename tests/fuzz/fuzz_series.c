/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * CSV text as a series. The first line of the input chooses the options, one letter each; the rest
 * is the text. What is read must be regular, finite, printable, and survive cutting and resampling.
 */
#include <ckptdispatch/series.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "fuzz_series: %s\n", what);
        abort();
    }
}

static void choose(ckpd_series_options *o, char letter)
{
    static const struct {
        char letter;
        const char *field, *text;
    } choices[] = {{'e', "label", "end"},
                   {'s', "label", "start"},
                   {'c', "decimal", "comma"},
                   {'m', "date_order", "mdy"},
                   {'d', "date_order", "dmy"},
                   {'g', "gaps", "missing"},
                   {';', "delimiter", "semicolon"},
                   {'t', "delimiter", "tab"},
                   {'U', "zone", "UTC"},
                   {'B', "zone", "Europe/Berlin"},
                   {'L', "zone", "America/Los_Angeles"},
                   {'5', "zone", "+05:30"},
                   {'h', "hour_column", "hour"},
                   {'p', "period_column", "hour"},
                   {'r', "repeat_column", "again"},
                   {'f', "from", "2024-04-09"},
                   {'u', "until", "2024-04-10"},
                   {'T', "time_column", "when"}};
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        if (choices[i].letter == letter) {
            ckpd_series_options_set_text(o, choices[i].field, choices[i].text);
        }
    }
    if (letter == 'o') {
        ckpd_series_options_set(o, "sort", 1);
    } else if (letter == '2') {
        ckpd_series_options_set(o, "header_row", 2);
    } else if (letter == 'q') {
        ckpd_series_options_set(o, "slot_minutes", 15);
    } else if (letter == 'F') {
        ckpd_series_options_add_filter(o, "node", "A");
    } else if (letter == 'x' || letter == 'X') {
        ckpd_series_options_add_column(o, "x", letter == 'x' ? NULL : "MWh");
    } else if (letter == 'H' || letter == 'l') {
        ckpd_series_options_set_fill(o, "x", letter == 'H' ? "hold" : "linear");
    }
}

static void look_at(const ckpd_series *series)
{
    int32_t slots = ckpd_series_slots(series);
    must(slots > 0 && ckpd_series_column_count(series) > 0, "empty series");
    double *values = malloc((size_t)slots * sizeof *values);
    must(values != NULL, "memory");
    for (int32_t c = 0; c < ckpd_series_column_count(series); c++) {
        must(ckpd_series_get(series, c, values, slots) == CKPD_OK, "get");
        int32_t filled = 0;
        for (int32_t i = 0; i < slots; i++) {
            must(isfinite(values[i]), "a value is not finite");
            filled += ckpd_series_is_filled(series, c, i);
        }
        must(filled == ckpd_series_filled_count(series, c), "count of filled values");
        must(ckpd_series_column_name(series, c) != NULL &&
                 ckpd_series_column_unit(series, c) != NULL,
             "names");
    }
    free(values);
    for (int32_t i = 0; i < slots; i += 1 + slots / 50) {
        char stamp[48];
        must(ckpd_series_stamp(series, i, stamp, sizeof stamp) == CKPD_OK && stamp[0] != '\0',
             "stamp");
        must(ckpd_series_start_s(series, i) < ckpd_series_start_s(series, i + 1), "starts");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const double minutes[] = {1, 5, 15, 30, 60, 120};
    ckpd_context *context = NULL;
    ckpd_series_options *options = NULL;
    ckpd_series *series = NULL, *made = NULL;
    must(ckpd_context_new(&context, NULL) == CKPD_OK &&
             ckpd_series_options_new(&options, context) == CKPD_OK,
         "new");
    ckpd_series_options_set(options, "longest_gap_hours", 48);
    size_t at = 0;
    for (; at < size && data[at] != '\n'; at++) {
        choose(options, (char)data[at]);
    }
    at += at < size;
    int32_t status =
        ckpd_series_read_text(&series, context, (const char *)data + at, size - at, options);
    if (status == CKPD_OK) {
        look_at(series);
        for (size_t i = 0;
             i < sizeof minutes / sizeof minutes[0] && ckpd_series_slots(series) < 100000; i++) {
            if (ckpd_series_resample(&made, series, minutes[i]) == CKPD_OK) {
                look_at(made);
                ckpd_series_free(made);
            }
        }
        if (ckpd_series_cut(&made, series, "2024-04-09", NULL) == CKPD_OK) {
            look_at(made);
            ckpd_series_free(made);
        }
    } else {
        must(series == NULL, "a refused text left a series");
        ckpd_error error = {.size = sizeof error};
        must(ckpd_context_last_error(context, &error) == CKPD_OK, "last error");
        must(error.code == status && error.field[0] != '\0' && strlen(error.message) > 15,
             "refused without a field or a message");
    }
    ckpd_series_free(series);
    ckpd_series_options_free(options);
    ckpd_context_free(context);
    return 0;
}
