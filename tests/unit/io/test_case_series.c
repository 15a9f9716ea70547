/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Series that stand in CSV files beside the case. Values and stamps are those written into the
 * files here. */
#include "support/support.h"

#include <ckptdispatch/io.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ckpd_context *context;

static void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
}

static void teardown(void)
{
    ckpd_context_free(context);
}

static void put(const char *path, const char *text)
{
    FILE *out = fopen(path, "wb");
    ck_assert_ptr_nonnull(out);
    ck_assert_uint_eq(fwrite(text, 1, strlen(text), out), strlen(text));
    ck_assert_int_eq(fclose(out), 0);
}

/* `horizon` and `price` are the two parts that the tests vary. */
static int32_t load(ckpd_case **out, const char *path, const char *horizon, const char *price)
{
    char text[4096];
    snprintf(text, sizeof text,
             "{\"schema\": \"ckptdispatch-case\", \"schema_version\": 1, \"name\": \"n\","
             " \"horizon\": {%s}, \"site\": {\"import_price_per_mwh\": %s%s},"
             " \"mode_rules\": {\"installed_gpus\": 8}, \"jobs\": []}",
             horizon, price, strstr(price, "gpu_cap") != NULL ? "" : ", \"gpu_cap\": 8");
    put(path, text);
    return ckpd_case_load(out, context, path);
}

static void check_prices(const ckpd_case *loaded, const double *expected)
{
    double values[64];
    int32_t slots = ckpd_case_slots(loaded);
    ck_assert_int_eq(
        ckpd_site_get_series(ckpd_case_site(loaded), "import_price_per_mwh", values, slots),
        CKPD_OK);
    for (int32_t t = 0; t < slots; t++) {
        ck_assert_double_eq_tol(values[t], expected[t], 1e-12);
    }
}

static const char PRICES[] = "time,price [EUR/MWh]\n"
                             "2024-04-09T00:00+02:00,10\n2024-04-09T01:00+02:00,20\n"
                             "2024-04-09T02:00+02:00,30\n2024-04-09T03:00+02:00,40\n";

START_TEST(cut_to_the_horizon)
{
    ckpd_case *loaded = NULL;
    char stamp[48];
    put("prices.csv", PRICES);
    int32_t status =
        load(&loaded, "case.json",
             "\"slots\": 2, \"slot_minutes\": 60, \"start\": \"2024-04-09T01:00+02:00\"",
             "{\"file\": \"prices.csv\", \"column\": \"price\"}");
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
    check_prices(loaded, (const double[]){20, 30});
    ck_assert_int_eq(ckpd_case_stamp(loaded, 1, stamp, sizeof stamp), CKPD_OK);
    ck_assert_str_eq(stamp, "2024-04-09T02:00+02:00");
    ck_assert_int_eq(ckpd_case_stamp(loaded, 2, stamp, sizeof stamp), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_case_stamp(loaded, 1, stamp, 5), CKPD_ERR_BUFFER);
    ckpd_case_free(loaded);
}
END_TEST

START_TEST(resampled_to_the_slots)
{
    ckpd_case *loaded = NULL;
    put("prices.csv", PRICES);
    ck_assert_int_eq(load(&loaded, "case.json", "\"slots\": 8, \"slot_minutes\": 30",
                          "{\"file\": \"prices.csv\", \"column\": \"price\", \"factor\": 2}"),
                     CKPD_OK);
    check_prices(loaded, (const double[]){20, 20, 40, 40, 60, 60, 80, 80});
    ckpd_case_free(loaded);
}
END_TEST

/* A limit holds all the time: two hours with 8 and 4 GPUs are a slot with 4, not with 6. */
START_TEST(caps_take_the_least_of_longer_slots)
{
    ckpd_case *loaded = NULL;
    double caps[2];
    put("prices.csv", PRICES);
    put("caps.csv", "time,gpus,import [kW]\n"
                    "2024-04-09T00:00+02:00,8,500\n2024-04-09T01:00+02:00,4,100\n"
                    "2024-04-09T02:00+02:00,3,70\n2024-04-09T03:00+02:00,6,90\n");
    int32_t status =
        load(&loaded, "case.json", "\"slots\": 2, \"slot_minutes\": 120",
             "{\"file\": \"prices.csv\", \"column\": \"price\"},"
             "\"import_cap_kw\": {\"file\": \"caps.csv\", \"column\": \"import\"},"
             "\"gpu_cap\": {\"file\": \"caps.csv\", \"column\": \"gpus\"}, \"pue\": 1");
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
    check_prices(loaded, (const double[]){15, 35});
    const ckpd_site *site = ckpd_case_site(loaded);
    ck_assert_int_eq(ckpd_site_get_series(site, "gpu_cap", caps, 2), CKPD_OK);
    ck_assert(caps[0] == 4 && caps[1] == 3);
    ck_assert_int_eq(ckpd_site_get_series(site, "import_cap_kw", caps, 2), CKPD_OK);
    ck_assert(caps[0] == 100 && caps[1] == 70);
    ckpd_case_free(loaded);
    /* A scaled cap that is no whole number is named with its slot. */
    status = load(&loaded, "case.json", "\"slots\": 4, \"slot_minutes\": 60",
                  "10, \"gpu_cap\": {\"file\": \"caps.csv\", \"column\": \"gpus\", "
                  "\"factor\": 0.25}, \"pue\": 1");
    ck_assert_int_eq(status, CKPD_ERR_RANGE);
    ck_assert_ptr_nonnull(
        strstr(ckpd_context_last_message(context), "gpu_cap[2] = 0.75 is not a whole number"));
}
END_TEST

static void hear(int32_t level, int32_t code, const char *message, void *user)
{
    (void)code;
    if (level == CKPD_LOG_WARNING) {
        strncat(user, message, 400);
    }
}

START_TEST(missing_values_from_another_column)
{
    ckpd_case *loaded = NULL;
    char heard[1000] = "";
    ckpd_context_set_log(context, CKPD_LOG_WARNING, hear, heard);
    put("spot.csv", "time,price [EUR/MWh],ahead [EUR/MWh],cents [ct/kWh]\n"
                    "2024-04-09T00:00+02:00,10,1,2\n2024-04-09T01:00+02:00,,2,3\n"
                    "2024-04-09T02:00+02:00,30,3,4\n2024-04-09T03:00+02:00,n/a,4,5\n");
    put("ahead.csv", "time,ahead\n2024-04-08T23:00+02:00,5\n2024-04-09T00:00+02:00,6\n"
                     "2024-04-09T01:00+02:00,7\n2024-04-09T02:00+02:00,8\n"
                     "2024-04-09T03:00+02:00,9\n");
    static const struct {
        const char *members;
        double expected[4];
    } good[] = {{"\"fill_column\": \"ahead\"", {10, 2, 30, 4}},
                {"\"fill_column\": \"cents\"", {10, 30, 30, 50}},
                {"\"fill_column\": \"ahead\", \"fill_file\": \"ahead.csv\", "
                 "\"fill_unit\": \"EUR/MWh\"",
                 {10, 7, 30, 9}}};
    static const struct {
        const char *members, *words;
    } bad[] = {{"\"fill_column\": \"ahead\", \"fill\": \"hold\"", "not both"},
               {"\"fill_file\": \"ahead.csv\"", "fill_column must say"},
               {"\"fill_unit\": \"EUR/MWh\"", "fill_column must say"},
               {"\"fill_column\": \"ahaed\"", "no column 'ahaed'"},
               {"\"fill_column\": \"ahead\", \"fill_file\": \"ahead.csv\"", "unit"},
               {"\"fill_column\": \"ahead\", \"fill_file\": \"none.csv\"", "none.csv"}};
    char price[300];
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        snprintf(price, sizeof price, "{\"file\": \"spot.csv\", \"column\": \"price\", %s}",
                 good[i].members);
        heard[0] = '\0';
        int32_t status = load(&loaded, "case.json", "\"slots\": 4, \"slot_minutes\": 60", price);
        ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
        check_prices(loaded, good[i].expected);
        ck_assert_msg(strstr(heard, "2 of 4 values filled by the other series") != NULL, "%s",
                      heard);
        ckpd_case_free(loaded);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(price, sizeof price, "{\"file\": \"spot.csv\", \"column\": \"price\", %s}",
                 bad[i].members);
        ck_assert_int_ne(load(&loaded, "case.json", "\"slots\": 4, \"slot_minutes\": 60", price),
                         CKPD_OK);
        const char *message = ckpd_context_last_message(context);
        ck_assert_msg(strstr(message, bad[i].words) != NULL, "%s: %s", bad[i].members, message);
        ck_assert_msg(strstr(message, "import_price_per_mwh") != NULL, "%s", message);
    }
}
END_TEST

/* The reference is written back as a reference; the digest is that of the values. */
START_TEST(reference_round_trip)
{
    ckpd_case *referring = NULL, *inlined = NULL, *again = NULL;
    put("prices.csv", PRICES);
    const char *horizon = "\"slots\": 4, \"slot_minutes\": 60";
    ck_assert_int_eq(load(&referring, "case.json", horizon,
                          "{\"column\": \"price\", \"file\": \"prices.csv\", \"fill\": \"hold\"}"),
                     CKPD_OK);
    ck_assert_int_eq(load(&inlined, "inlined.json", horizon, "[10, 20, 30, 40]"), CKPD_OK);
    ck_assert_str_eq(ckpd_case_digest(referring), ckpd_case_digest(inlined));
    ck_assert_int_eq(ckpd_case_save(referring, "once.json"), CKPD_OK);
    ck_assert_int_eq(ckpd_case_load(&again, context, "once.json"), CKPD_OK);
    ck_assert_int_eq(ckpd_case_save(again, "twice.json"), CKPD_OK);
    char *once = test_read_file("once.json", NULL), *twice = test_read_file("twice.json", NULL);
    ck_assert_str_eq(once, twice);
    ck_assert_ptr_nonnull(strstr(once, "\"file\": \"prices.csv\""));
    free(once);
    free(twice);
    ckpd_case_free(referring);
    ckpd_case_free(inlined);
    ckpd_case_free(again);
}
END_TEST

static void refuse(const char *horizon, const char *price, int32_t code, const char *part)
{
    ckpd_case *loaded = NULL;
    ckpd_error error = {.size = sizeof error};
    ck_assert_int_eq(load(&loaded, "case.json", horizon, price), code);
    ck_assert_int_eq(ckpd_context_last_error(context, &error), CKPD_OK);
    ck_assert_msg(strncmp(error.field, "site.import_price_per_mwh", 25) == 0, "field %s",
                  error.field);
    ck_assert_msg(strstr(error.message, part) != NULL, "'%s' is not in: %s", part, error.message);
    ck_assert_ptr_null(loaded);
}

START_TEST(refusals)
{
    const char *hours = "\"slots\": 4, \"slot_minutes\": 60";
    put("prices.csv", PRICES);
    refuse(hours, "{\"file\": \"absent.csv\", \"column\": \"price\"}", CKPD_ERR_FILE, "absent.csv");
    refuse(hours, "{\"file\": \"prices.csv\", \"column\": \"prize\"}", CKPD_ERR_UNKNOWN_NAME,
           "price");
    refuse(hours, "{\"file\": \"prices.csv\"}", CKPD_ERR_MISSING, "column");
    refuse(hours, "{\"file\": \"prices.csv\", \"column\": \"price\", \"scale\": 2}",
           CKPD_ERR_UNKNOWN_NAME, "scale");
    refuse("\"slots\": 5, \"slot_minutes\": 60",
           "{\"file\": \"prices.csv\", \"column\": \"price\"}", CKPD_ERR_LENGTH, "4");
    refuse("\"slots\": 4, \"slot_minutes\": 60, \"start\": \"2024-04-09T01:00+02:00\"",
           "{\"file\": \"prices.csv\", \"column\": \"price\"}", CKPD_ERR_MISSING, "until");
    put("prices.csv", "time,price [EUR/MWh]\n2024-04-09T00:00+02:00,10\n2024-04-09T01:00+02:00,\n"
                      "2024-04-09T02:00+02:00,30\n2024-04-09T03:00+02:00,40\n");
    refuse(hours, "{\"file\": \"prices.csv\", \"column\": \"price\"}", CKPD_ERR_MISSING,
           "prices.csv");
}
END_TEST

START_TEST(start_needs_an_offset)
{
    ckpd_case *loaded = NULL;
    ck_assert_int_eq(load(&loaded, "case.json",
                          "\"slots\": 1, \"slot_minutes\": 60, \"start\": \"2024-04-09T01:00\"",
                          "[1]"),
                     CKPD_ERR_SYNTAX);
    ck_assert_ptr_nonnull(strstr(ckpd_context_last_message(context), "horizon.start"));
    ck_assert_int_eq(load(&loaded, "case.json",
                          "\"slots\": 1, \"slot_minutes\": 60, \"start\": \"9 April\"", "[1]"),
                     CKPD_ERR_SYNTAX);
}
END_TEST

/* A day of 23 hours keeps the stamps of its file: 02:00 does not exist on 2024-03-10 in California.
 */
START_TEST(short_day)
{
    char text[2048] = "time,price_usd_per_mwh\n";
    for (int hour = 0; hour < 24; hour++) {
        size_t used = strlen(text);
        if (hour != 2) {
            snprintf(text + used, sizeof text - used, "2024-03-10T%02d:00:00-0%d:00,%d\n", hour,
                     hour < 2 ? 8 : 7, hour);
        }
    }
    put("prices.csv", text);
    ckpd_case *loaded = NULL;
    char stamp[48];
    int32_t status =
        load(&loaded, "case.json",
             "\"slots\": 23, \"slot_minutes\": 60, \"start\": \"2024-03-10T00:00-08:00\"",
             "{\"file\": \"prices.csv\", \"column\": \"price_usd_per_mwh\"}");
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
    ck_assert_int_eq(ckpd_case_stamp(loaded, 1, stamp, sizeof stamp), CKPD_OK);
    ck_assert_msg(strstr(stamp, "01:00") != NULL && strstr(stamp, "-08:00") != NULL, "%s", stamp);
    ck_assert_int_eq(ckpd_case_stamp(loaded, 2, stamp, sizeof stamp), CKPD_OK);
    ck_assert_msg(strstr(stamp, "03:00") != NULL && strstr(stamp, "-07:00") != NULL, "%s", stamp);
    ckpd_case_free(loaded);
}
END_TEST

/* failures.md, entry 71: neither path nor name need be ASCII. */
START_TEST(paths_and_names_of_any_letters)
{
    ckpd_case *loaded = NULL;
    put("gr\xc3\xb6\xc3\x9f"
        "e \xe6\x95\xb0\xe6\x8d\xae.csv",
        PRICES);
    ck_assert_int_eq(load(&loaded, "\xe6\x95\xb0\xe6\x8d\xae.json",
                          "\"slots\": 4, \"slot_minutes\": 60",
                          "{\"file\": \"gr\xc3\xb6\xc3\x9f"
                          "e \xe6\x95\xb0\xe6\x8d\xae.csv\", \"column\": \"price\"}"),
                     CKPD_OK);
    ckpd_case_free(loaded);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("case series");
    TCase *tc = tcase_create("case series");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, cut_to_the_horizon);
    tcase_add_test(tc, resampled_to_the_slots);
    tcase_add_test(tc, caps_take_the_least_of_longer_slots);
    tcase_add_test(tc, missing_values_from_another_column);
    tcase_add_test(tc, reference_round_trip);
    tcase_add_test(tc, refusals);
    tcase_add_test(tc, start_needs_an_offset);
    tcase_add_test(tc, short_day);
    tcase_add_test(tc, paths_and_names_of_any_letters);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
