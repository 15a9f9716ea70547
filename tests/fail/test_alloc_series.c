/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support/sweep.h"

#include <ckptdispatch/series.h>
#include <stdio.h>
#include <string.h>

static const char text[] =
    "time,node,x_mw,y\n2024-04-09T00:00,A,1,5\n2024-04-09T00:00,B,1,5\n2024-04-09T01:00,A,,6\n"
    "2024-04-09T02:00,A,3,\n2024-04-09T03:00,A,4,8\n";

static void read_and_shape(sweep_memory *memory, ckpd_context *context)
{
    ckpd_series_options *options = NULL;
    ckpd_series *other = NULL, *series = NULL, *cut = NULL, *fine = NULL, *coarse = NULL;
    SWEEP(ckpd_series_options_new(&options, context));
    SWEEP(ckpd_series_options_set_text(options, "zone", "+01:00"));
    SWEEP(ckpd_series_options_set_text(options, "zone", "UTC"));
    SWEEP(ckpd_series_options_add_filter(options, "node", "A"));
    SWEEP(ckpd_series_options_add_column(options, "x_mw", NULL));
    SWEEP(ckpd_series_options_add_column(options, "y", "1"));
    SWEEP(ckpd_series_options_set_fill(options, "x_mw", "linear"));
    SWEEP(ckpd_series_options_set_fill(options, "y", "hold"));
    SWEEP(ckpd_series_read_text(&other, context, text, strlen(text), options));
    SWEEP(ckpd_series_options_set_fill_from(options, "y", other, "y"));
    SWEEP(ckpd_series_read_text(&series, context, text, strlen(text), options));
    SWEEP(ckpd_series_cut(&cut, series, "2024-04-09", "2024-04-09T02:00"));
    SWEEP(ckpd_series_resample(&fine, series, 30));
    SWEEP(ckpd_series_resample(&coarse, series, 120));
    ckpd_site *site = NULL;
    SWEEP(ckpd_site_new(&site, context, 4, 1));
    SWEEP(ckpd_series_to_site(series, 0, 1, site, "wind_kw"));
    double values[4];
    ck_assert_int_eq(ckpd_series_get(series, 0, values, 4), CKPD_OK);
    ck_assert_double_eq(values[1], 2000);
    ck_assert_int_eq(ckpd_series_get(series, 1, values, 4), CKPD_OK);
    ck_assert_double_eq(values[2], 6);
    ck_assert_int_eq(ckpd_series_slots(cut), 2);
    ck_assert_int_eq(ckpd_series_slots(fine), 8);
    ck_assert_int_eq(ckpd_series_slots(coarse), 2);
    ck_assert_int_eq(ckpd_series_filled_count(coarse, 0), 1);
    ckpd_series_options_free(options);
    ckpd_series_free(other);
    ckpd_series_free(cut);
    ckpd_series_free(fine);
    ckpd_series_free(coarse);
    ckpd_series_free(series);
    ckpd_site_free(site);
}

static void read_refused(sweep_memory *memory, ckpd_context *context)
{
    ckpd_series *series = NULL;
    int32_t status;
    SWEEP_STATUS(status, ckpd_series_read_text(&series, context, text, strlen(text), NULL));
    ck_assert_int_eq(status, CKPD_ERR_SYNTAX); /* 'A' is not a number */
    ck_assert_ptr_null(series);
}

/* The system's time zones, and a file that is larger than the first buffer for it: the hours of May
 * to August in local time. */
static void file_in_a_zone(sweep_memory *memory, ckpd_context *context)
{
    static const int days[] = {31, 30, 31, 31};
    ckpd_series_options *options = NULL;
    ckpd_series *series = NULL;
    FILE *out = fopen("summer.csv", "w");
    ck_assert_ptr_nonnull(out);
    fputs("time,price [EUR/MWh]\n", out);
    for (int month = 0; month < 4; month++) {
        for (int hour = 0; hour < 24 * days[month]; hour++) {
            fprintf(out, "2023-%02d-%02dT%02d:00,%d.25\n", 5 + month, 1 + hour / 24, hour % 24,
                    hour);
        }
    }
    ck_assert_int_gt(ftell(out), 65536);
    fclose(out);
    SWEEP(ckpd_series_options_new(&options, context));
    SWEEP(ckpd_series_options_set_text(options, "zone", "Europe/Berlin"));
    SWEEP(ckpd_series_options_add_column(options, "price", NULL));
    SWEEP(ckpd_series_read_file(&series, context, "summer.csv", options));
    ck_assert_int_eq(ckpd_series_slots(series), 24 * 123);
    ck_assert_int_eq(ckpd_series_start_s(series, 0), 1682892000); /* 2023-04-30T22:00Z */
    ckpd_series_free(series);
    ckpd_series_options_free(options);
    remove("summer.csv");
}

int main(void)
{
    static const sweep_scenario scenarios[] = {{"read_and_shape", read_and_shape},
                                               {"read_refused", read_refused},
                                               {"file_in_a_zone", file_in_a_zone}};
    return sweep_main("series", scenarios, (int32_t)(sizeof scenarios / sizeof scenarios[0]));
}
