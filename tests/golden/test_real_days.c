/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * A week of the Californian market, its 23-hour day, a scarcity day and a day of negative prices,
 * dispatched with the cluster of aidc2048-golden.json. Prices, wind and solar come from the public
 * files as published; wind and solar are scaled so that the day brings 16.472 MWh. The work of a
 * day lasts as long as the day. Expected: S1 from a formula worked here from the raw file, order of
 * the scenarios from their definitions, the verifier's consent for each plan, the file's own time
 * stamps.
 */
#include "support/support.h"

#include "base/base.h"
#include <ckptdispatch.h>
#include <ckptdispatch/io.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SP15 "caiso_sp15_2024-02-17_2024-09-29_hourly.csv"
#define DAY_MWH 16.472
#define PENALTY 20.0
#define BASELINE_KW 1015.0 /* (300 + 204.8 + 307.2) x 1.25 */

static const struct {
    const char *file, *date, *offset;
    int32_t hours;
} days[] = {
    {SP15, "2024-04-08", "-07:00", 24},
    {SP15, "2024-04-09", "-07:00", 24},
    {SP15, "2024-04-10", "-07:00", 24},
    {SP15, "2024-04-11", "-07:00", 24},
    {SP15, "2024-04-12", "-07:00", 24},
    {SP15, "2024-04-13", "-07:00", 24},
    {SP15, "2024-04-14", "-07:00", 24},
    {SP15, "2024-03-10", "-08:00", 23},
    {"caiso_day_2024-04-27_negative_midday.csv", "2024-04-27", "-07:00", 24},
    {"caiso_day_2024-09-05_scarcity_evening.csv", "2024-09-05", "-07:00", 24},
};

/* --- the raw file, read without the library
 * ------------------------------------------------------- */

typedef struct raw_day {
    int32_t hours;
    double price[25], solar_mw[25], wind_mw[25];
    char stamp[25][40];
} raw_day;

static double number_at(const char *field)
{
    double value = (double)NAN;
    ck_assert_msg(ckpd__parse_double(field, strcspn(field, ",\r\n"), &value), "%s", field);
    return value;
}

/* Columns time, price, solar, wind. */
static bool read_raw(raw_day *raw, const char *name, const char *date)
{
    char path[256], line[1024];
    snprintf(path, sizeof path, "data/public/%s", name);
    const char *found = test_shared_path(path);
    if (found == NULL) {
        return false;
    }
    FILE *file = fopen(found, "r");
    ck_assert_ptr_nonnull(file);
    raw->hours = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, date, 10) == 0) {
            const char *price = strchr(line, ',') + 1, *solar = strchr(price, ',') + 1,
                       *wind = strchr(solar, ',') + 1;
            snprintf(raw->stamp[raw->hours], sizeof raw->stamp[0], "%.*s", (int)(price - 1 - line),
                     line);
            raw->price[raw->hours] = number_at(price);
            raw->solar_mw[raw->hours] = number_at(solar);
            raw->wind_mw[raw->hours++] = number_at(wind);
        }
    }
    fclose(file);
    return true;
}

static double scale_of(const raw_day *raw)
{
    double sum = 0;
    for (int32_t t = 0; t < raw->hours; t++) {
        sum += raw->solar_mw[t] + raw->wind_mw[t];
    }
    return DAY_MWH / sum;
}

/* S1 by hand: the load is flat, so each hour is on its own: renewables serve it, and more is
   curtailed than must be only where buying pays more than the penalty. */
static double s1_by_hand(const raw_day *raw)
{
    double cost = 0, scale = scale_of(raw);
    for (int32_t t = 0; t < raw->hours; t++) {
        double renewable = 1000 * scale * (raw->solar_mw[t] + raw->wind_mw[t]);
        double least = renewable > BASELINE_KW ? renewable - BASELINE_KW : 0;
        double curtailed = raw->price[t] + PENALTY < 0 ? renewable : least;
        cost +=
            (raw->price[t] * (BASELINE_KW - renewable + curtailed) + PENALTY * curtailed) / 1000;
    }
    return cost;
}

/* --- the case -------------------------------------------------------------------------------- */

/* Replaces what stands between `before` and the first `after` behind it. */
static char *replace(char *text, const char *before, const char *after, const char *by)
{
    char *start = strstr(text, before);
    ck_assert_msg(start != NULL, "%s", before);
    start += strlen(before);
    char *end = strstr(start, after);
    ck_assert_msg(end != NULL, "%s", after);
    size_t size = strlen(text) + strlen(by) + 1;
    char *made = malloc(size);
    snprintf(made, size, "%.*s%s%s", (int)(start - text), text, by, end);
    free(text);
    return made;
}

/* The array of a series becomes a reference to a column of the day's file. */
static char *file_series(char *text, const char *series, int day, const char *column, double factor)
{
    char array[80], by[1024], number[CKPD__NUMBER_LENGTH];
    ckpd__format_double(factor, number);
    snprintf(array, sizeof array, "\"%s\": [", series);
    text = replace(text, array, "]", "");
    /* Now an empty array: put the object in its place. */
    char *start = strstr(text, array) + strlen(array) - 1;
    snprintf(by, sizeof by, "{\"file\": \"%s/data/public/%s\", \"column\": \"%s\", \"factor\": %s}",
             SHARED_DIR, days[day].file, column, number);
    size_t size = strlen(text) + strlen(by) + 1;
    char *made = malloc(size);
    snprintf(made, size, "%.*s%s%s", (int)(start - text), text, by, start + 2);
    free(text);
    return made;
}

static ckpd_case *load_day(ckpd_context *context, int day, double scale)
{
    char horizon[128], hours[32];
    char *text = test_read_file(test_src_path("examples/cases/aidc2048-golden.json"), NULL);
    snprintf(horizon, sizeof horizon, "%d, \"start\": \"%sT00:00:00%s\"", days[day].hours,
             days[day].date, days[day].offset);
    text = replace(text, "\"slots\": ", ",", horizon);
    text = file_series(text, "import_price_per_mwh", day, "price_usd_per_mwh", 1);
    text = file_series(text, "wind_kw", day, "wind_mw", scale);
    text = file_series(text, "solar_kw", day, "solar_mw", scale);
    snprintf(hours, sizeof hours, "%d", days[day].hours);
    text = replace(text, "\"LLM-A\",\n      \"task\": {\n        \"tranche_baseline_hours\": ", ",",
                   hours);
    text = replace(text, "\"LLM-B\",\n      \"task\": {\n        \"tranche_baseline_hours\": ", ",",
                   hours);
    ckpd_case *loaded = NULL;
    int32_t status = ckpd_case_parse(&loaded, context, text, strlen(text), NULL);
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
    free(text);
    return loaded;
}

/* --- dispatch -------------------------------------------------------------------------------- */

static double solve(const ckpd_case *loaded, ckpd_problem *problem, int32_t scenario)
{
    ckpd_solve_options *options = NULL;
    ckpd_solution *solution = NULL;
    ckpd_report *report = NULL;
    ck_assert_int_eq(ckpd_case_build_options(&options, loaded), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_solve(&solution, problem, scenario, options), CKPD_OK);
    ck_assert_msg(ckpd_solution_outcome(solution) == CKPD_OUTCOME_OPTIMAL, "S%d: outcome %d",
                  scenario, ckpd_solution_outcome(solution));
    double cost = ckpd_solution_cost(solution);
    ck_assert_int_eq(
        ckpd_problem_verify(&report, problem, scenario, ckpd_solution_plan(solution), cost),
        CKPD_OK);
    ck_assert_int_eq(ckpd_report_violation_count(report), 0);
    ckpd_report_free(report);
    ckpd_solution_free(solution);
    ckpd_solve_options_free(options);
    return cost;
}

static void check_stamps(const ckpd_case *loaded, const raw_day *raw)
{
    for (int32_t t = 0; t < raw->hours; t++) {
        char stamp[48];
        ck_assert_int_eq(ckpd_case_stamp(loaded, t, stamp, sizeof stamp), CKPD_OK);
        ck_assert_str_eq(stamp, raw->stamp[t]);
    }
}

START_TEST(test_day)
{
    raw_day raw;
    if (!read_raw(&raw, days[_i].file, days[_i].date)) {
        return;
    }
    ck_assert_int_eq(raw.hours, days[_i].hours);
    ckpd_context *context = NULL;
    ckpd_problem *problem = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ckpd_case *loaded = load_day(context, _i, scale_of(&raw));
    check_stamps(loaded, &raw);
    int32_t status = ckpd_case_build_problem(&problem, loaded);
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
    double cost[7], slack;
    /* S3 takes seconds to prove: every day of it only in long runs. */
    bool with_s3 = getenv("CKPD_TEST_LONG") != NULL || strcmp(days[_i].date, "2024-04-09") == 0;
    for (int32_t s = CKPD_SCENARIO_S1; s <= CKPD_SCENARIO_S6; s++) {
        cost[s] = s != CKPD_SCENARIO_S3 || with_s3 ? solve(loaded, problem, s) : (double)NAN;
    }
    printf("%s S1 %.3f S2 %.3f S3 %.3f S4 %.3f S5 %.3f S6 %.3f\n", days[_i].date, cost[1], cost[2],
           cost[3], cost[4], cost[5], cost[6]);
    slack = 1e-5 * fabs(cost[1]) + 1e-5; /* solves stop at a relative gap of 1e-6 */
    ck_assert_double_eq_tol(cost[1], s1_by_hand(&raw), 1e-9 * fabs(cost[1]) + 1e-9);
    ck_assert(cost[2] == cost[1]);
    ck_assert(cost[4] <= cost[1] + slack);
    ck_assert(cost[5] <= cost[1] + slack);
    ck_assert(cost[6] <= cost[4] + slack && cost[6] <= cost[5] + slack);
    ck_assert(!with_s3 || cost[3] <= cost[4] + slack);
    ckpd_problem_free(problem);
    ckpd_case_free(loaded);
    ckpd_context_free(context);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("golden/real_days");
    TCase *tc = tcase_create("days");
    tcase_add_loop_test(tc, test_day, 0, (int)(sizeof days / sizeof days[0]));
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
