/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Market data as it comes: the spring day of 23 hours, in half hours, with a price column in
 * ct/kWh, a byte order mark, semicolons and decimal commas, one value missing.
 */
#include <ckptdispatch/series.h>

#include <stdio.h>
#include <string.h>

/* The last hours of a quiet night and the jump of the clock at 02:00. */
static const char text[] = "\xef\xbb\xbf# day-ahead, Berlin\r\n"
                           "Beginn;Preis (ct/kWh);Wind [MW]\r\n"
                           "2026-03-29T00:00+01:00;4,12;310,5\r\n"
                           "2026-03-29T01:00+01:00;3,98;\r\n"
                           "2026-03-29T03:00+02:00;4,55;350\r\n";

int main(void)
{
    ckpd_context *context = NULL;
    ckpd_series_options *options = NULL;
    ckpd_series *hours = NULL, *halves = NULL;
    int32_t status = ckpd_context_new(&context, NULL);
    if (status == CKPD_OK) {
        status = ckpd_series_options_new(&options, context);
    }
    if (status == CKPD_OK) {
        status = ckpd_series_options_set_text(options, "time_column", "Beginn");
    }
    if (status == CKPD_OK) {
        status = ckpd_series_options_set_text(options, "decimal", "comma");
    }
    if (status == CKPD_OK) {
        status = ckpd_series_options_add_column(options, "Preis", NULL);
    }
    if (status == CKPD_OK) {
        status = ckpd_series_options_add_column(options, "Wind", NULL);
    }
    if (status == CKPD_OK) {
        /* Refused: a value is missing, and nothing has been said about that yet. */
        if (ckpd_series_read_text(&hours, context, text, strlen(text), options) != CKPD_OK) {
            printf("refused: %s\n", ckpd_context_last_message(context));
        }
        status = ckpd_series_options_set_fill(options, "Wind", "linear");
    }
    if (status == CKPD_OK) {
        status = ckpd_series_read_text(&hours, context, text, strlen(text), options);
    }
    if (status == CKPD_OK) {
        status = ckpd_series_resample(&halves, hours, 30);
    }
    for (int32_t i = 0; status == CKPD_OK && i < ckpd_series_slots(halves); i++) {
        double price[6], wind[6];
        char stamp[48];
        ckpd_series_get(halves, 0, price, 6);
        ckpd_series_get(halves, 1, wind, 6);
        ckpd_series_stamp(halves, i, stamp, sizeof stamp);
        printf("%s  %6.2f %s  %8.1f %s%s\n", stamp, price[i], ckpd_series_column_unit(halves, 0),
               wind[i], ckpd_series_column_unit(halves, 1),
               ckpd_series_is_filled(halves, 1, i) ? "  (filled)" : "");
    }
    if (status != CKPD_OK) {
        fprintf(stderr, "%s\n", ckpd_context_last_message(context));
    }
    ckpd_series_free(halves);
    ckpd_series_free(hours);
    ckpd_series_options_free(options);
    ckpd_context_free(context);
    return status == CKPD_OK ? 0 : 1;
}
