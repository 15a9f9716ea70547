/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What really happens in a simulated run: measured traces, errors that are drawn, what is refused.
 */
#include "unit/shape/scenario.h"

#include <stdlib.h>

enum { MOST = 200000 };
static double time_s[MOST], deficit[MOST];

/* Runs without filler work and copies times and deficits; returns their number. */
static int64_t deficits(const ckpd_shape *shape, ckpd_shape_truth truth)
{
    ckpd_microgrid *grid = scenario_grid(NULL);
    ckpd_shape_run *run;
    int64_t count = 0, again = 0;
    truth.size = sizeof truth;
    OK(ckpd_shape_run_new(&run, shape, grid, NULL, CKPD_POLICY_NONE, &truth));
    ck_assert_double_gt(ckpd_shape_run_step_s(run), 0);
    OK(ckpd_shape_run_trace(run, "time_s", MOST, time_s, &count));
    OK(ckpd_shape_run_trace(run, "deficit_w", 0, NULL, &again));
    ck_assert_int_eq(count, again);
    ck_assert_int_eq(ckpd_shape_run_trace(run, "deficit_w", count - 1, deficit, &again),
                     CKPD_ERR_BUFFER);
    ck_assert_int_eq(ckpd_shape_run_trace(run, "deficit", MOST, deficit, &again),
                     CKPD_ERR_UNKNOWN_NAME);
    ck_assert_int_eq(ckpd_shape_run_trace(run, "fill_w:nobody", MOST, deficit, &again),
                     CKPD_ERR_UNKNOWN_NAME);
    OK(ckpd_shape_run_trace(run, "fill_w:qwen3-8b-chat", MOST, deficit, &again));
    for (int64_t i = 0; i < count; i++) {
        ck_assert_double_eq(deficit[i], 0); /* nothing fills */
    }
    OK(ckpd_shape_run_trace(run, "deficit_w", count, deficit, &again));
    ckpd_shape_run_free(run);
    ckpd_microgrid_free(grid);
    return count;
}

/* A measured deficit of two straight lines, 0 to 1 MW in 10 s and back, worked out a second time.
 */
START_TEST(a_trace_is_followed)
{
    static const double since[] = {0, 10, 20}, watts[] = {0, 1e6, 0};
    scenario_context();
    ckpd_shape *shape = scenario_shape(0.0, -1.0);
    ckpd_power_event *event = scenario_event(20.0, 30.0, 2e6);
    OK(ckpd_power_event_set_trace(event, 3, since, watts));
    OK(ckpd_shape_add_event(shape, event));
    int64_t count = deficits(shape, (ckpd_shape_truth){0}), inside = 0;
    for (int64_t i = 0; i < count; i++) {
        double expected = 1e6 * fmax(0.0, 1.0 - fabs(time_s[i] - 30.0) / 10.0);
        ck_assert_double_eq_tol(deficit[i], expected, 1e-3);
        inside += expected > 0.0;
    }
    ck_assert_int_gt(inside, 100);
    ckpd_shape_free(shape);
    /* Without its trace the event is the trapezoid of 2 MW again. */
    OK(ckpd_power_event_set_trace(event, 0, NULL, NULL));
    shape = scenario_shape(0.0, -1.0);
    OK(ckpd_shape_add_event(shape, event));
    count = deficits(shape, (ckpd_shape_truth){0});
    double peak = 0.0;
    for (int64_t i = 0; i < count; i++) {
        peak = fmax(peak, deficit[i]);
    }
    ck_assert_double_eq_tol(peak, 2e6, 1e-3);
    ckpd_power_event_free(event);
    ckpd_shape_free(shape);
    ckpd_context_free(context);
}
END_TEST

START_TEST(bad_traces)
{
    static const double since[] = {0, 10, 10}, watts[] = {0, 1e6, 0}, bad[] = {0, NAN, 1};
    scenario_context();
    ckpd_power_event *event = scenario_event(20.0, 30.0, 2e6);
    ckpd_error error = {.size = sizeof error};
    REFUSED(CKPD_ERR_INCONSISTENT, "ascend", ckpd_power_event_set_trace(event, 3, since, watts));
    OK(ckpd_context_last_error(context, &error));
    ck_assert_int_eq(error.index, 2);
    REFUSED(CKPD_ERR_NOT_FINITE, "since_s", ckpd_power_event_set_trace(event, 3, bad, watts));
    REFUSED(CKPD_ERR_NOT_FINITE, "deficit_w", ckpd_power_event_set_trace(event, 2, since, bad));
    REFUSED(CKPD_ERR_LENGTH, "1", ckpd_power_event_set_trace(event, 1, since, watts));
    REFUSED(CKPD_ERR_LENGTH, "-1", ckpd_power_event_set_trace(event, -1, since, watts));
    ckpd_power_event_free(event);
    ckpd_context_free(context);
}
END_TEST

/* Onset and peak of the deficit of a run. */
static void find(int64_t count, double *onset, double *peak)
{
    *onset = NAN;
    *peak = 0.0;
    for (int64_t i = 0; i < count; i++) {
        if (deficit[i] > 0.0 && isnan(*onset)) {
            *onset = time_s[i];
        }
        *peak = fmax(*peak, deficit[i]);
    }
}

/* Errors are drawn within what the event says, another for each seed, and none when not asked for.
 */
START_TEST(drawn_errors)
{
    enum { SEEDS = 12 };
    double onset[SEEDS], peak[SEEDS], plain_onset, plain_peak;
    scenario_context();
    ckpd_shape *shape = scenario_shape(0.0, -1.0);
    ckpd_power_event *event = scenario_event(20.0, 30.0, 2e6);
    OK(ckpd_power_event_set(event, "depth_error_w", 2e5));
    OK(ckpd_power_event_set(event, "onset_error_s", 1.5));
    OK(ckpd_shape_add_event(shape, event));
    find(deficits(shape, (ckpd_shape_truth){.seed = 3}), &plain_onset, &plain_peak);
    ck_assert_double_eq_tol(plain_peak, 2e6, 1e-3);
    bool early = false, late = false;
    for (int seed = 0; seed < SEEDS; seed++) {
        ckpd_shape_truth truth = {.seed = (uint64_t)seed, .draw_errors = 1};
        find(deficits(shape, truth), &onset[seed], &peak[seed]);
        ck_assert_double_le(fabs(peak[seed] - 2e6), 2e5);
        ck_assert_double_le(fabs(onset[seed] - plain_onset), 1.5 + 0.11);
        early = early || onset[seed] < plain_onset - 0.2;
        late = late || onset[seed] > plain_onset + 0.2;
        for (int other = 0; other < seed; other++) {
            ck_assert(peak[other] != peak[seed]);
        }
    }
    ck_assert(early && late);
    /* The same seed, the same run; a constant error is added to both. */
    double twice_onset, twice_peak;
    find(deficits(shape, (ckpd_shape_truth){.seed = 5, .draw_errors = 1}), &twice_onset,
         &twice_peak);
    ck_assert(twice_onset == onset[5] && twice_peak == peak[5]);
    find(deficits(shape, (ckpd_shape_truth){.seed = 5, .draw_errors = 1, .depth_error_w = 1e6}),
         &twice_onset, &twice_peak);
    ck_assert_double_eq_tol(twice_peak, peak[5] + 1e6, 1e-3);
    ckpd_power_event_free(event);
    ckpd_shape_free(shape);
    ckpd_context_free(context);
}
END_TEST

START_TEST(runs_that_are_refused)
{
    scenario_context();
    ckpd_shape *shape = scenario_shape(64.0, -1.0);
    ckpd_microgrid *grid = scenario_grid(NULL);
    ckpd_shape_run *run = NULL;
    REFUSED(CKPD_ERR_MISSING, "no event",
            ckpd_shape_run_new(&run, shape, grid, NULL, CKPD_POLICY_NONE, NULL));
    scenario_add_event(shape, 20.0, 30.0, 1e6);
    REFUSED(CKPD_ERR_ARGUMENT, "policy 4", ckpd_shape_run_new(&run, shape, grid, NULL, 4, NULL));
    REFUSED(CKPD_ERR_ARGUMENT, "policy -1", ckpd_shape_run_new(&run, shape, grid, NULL, -1, NULL));
    REFUSED(CKPD_ERR_ARGUMENT, "without a plan",
            ckpd_shape_run_new(&run, shape, grid, NULL, CKPD_POLICY_PLAN, NULL));
    static const struct {
        const char *field;
        ckpd_shape_truth truth;
    } bad[] = {{"depth_error_w", {.depth_error_w = 2e12}},
               {"onset_error_s", {.onset_error_s = -4000.0}},
               {"duration_error_s", {.duration_error_s = 3601.0}},
               {"ripple_w", {.ripple_w = -2e12}},
               {"ripple_hz", {.ripple_hz = 51.0}}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ckpd_shape_truth truth = bad[i].truth;
        truth.size = sizeof truth;
        REFUSED(CKPD_ERR_RANGE, bad[i].field,
                ckpd_shape_run_new(&run, shape, grid, NULL, CKPD_POLICY_NONE, &truth));
    }
    ckpd_shape_truth truth = {.size = sizeof truth, .ripple_hz = NAN};
    REFUSED(CKPD_ERR_NOT_FINITE, "ripple_hz",
            ckpd_shape_run_new(&run, shape, grid, NULL, CKPD_POLICY_NONE, &truth));
    ck_assert_ptr_null(run);
    ckpd_microgrid_free(grid);
    ckpd_shape_free(shape);
    ckpd_context_free(context);
}
END_TEST

/* --- builders: what was set is what is got, and what cannot be is refused -----------------------
 */

START_TEST(fields_are_got_as_they_were_set)
{
    double value;
    scenario_context();
    ckpd_power_event *event = scenario_event(20.0, 30.0, 2e6);
    OK(ckpd_power_event_get(event, "depth_w", &value));
    ck_assert_double_eq(value, 2e6);
    ckpd_gpu_pool *pool = scenario_pool(128.0);
    OK(ckpd_gpu_pool_get(pool, "gpu_count", &value));
    ck_assert_double_eq(value, 128.0);
    REFUSED(CKPD_ERR_UNKNOWN_NAME, "gpu_count", ckpd_gpu_pool_get(pool, "gpu_coun", &value));
    REFUSED(CKPD_ERR_UNKNOWN_NAME, "depth_w", ckpd_power_event_get(event, "depth", &value));
    ckpd_gpu_pool_free(pool);
    ckpd_power_event_free(event);
    ckpd_context_free(context);
}
END_TEST

START_TEST(tables_of_fillers)
{
    static const int32_t batch[] = {8, 16}, unplanned[] = {12}, twice[] = {8, 8};
    static const double axis[] = {2.0, 1.0}, level[] = {1.0, NAN};
    static const double watts[] = {400, 500, 450, 550}, seconds[] = {2, 3, 2, 3};
    double power, duration;
    scenario_context();
    ckpd_filler *filler;
    OK(ckpd_filler_new(&filler, context, "own"));
    REFUSED(CKPD_ERR_MISSING, "own has no table", ckpd_filler_at(filler, 8, &power, &duration));
    REFUSED(CKPD_ERR_MISSING, "own has no table", ckpd_filler_set_planned(filler, 1, batch));
    REFUSED(CKPD_ERR_INCONSISTENT, "axis values must ascend",
            ckpd_filler_set_table(filler, 2, batch, 2, axis, watts, seconds));
    REFUSED(CKPD_ERR_NOT_FINITE, "axis",
            ckpd_filler_set_table(filler, 2, batch, 2, level, watts, seconds));
    OK(ckpd_filler_set_table(filler, 2, batch, 1, NULL, watts, seconds));
    REFUSED(CKPD_ERR_RANGE, "12", ckpd_filler_set_planned(filler, 1, unplanned));
    REFUSED(CKPD_ERR_DUPLICATE, "8", ckpd_filler_set_planned(filler, 2, twice));
    REFUSED(CKPD_ERR_RANGE, "-1", ckpd_filler_set_planned(filler, -1, batch));
    OK(ckpd_filler_at(filler, 12, &power, &duration)); /* linear in the logarithm of the batch */
    ck_assert_double_eq_tol(power, 400 + 100 * log2(1.5), 1e-9);
    ck_assert_double_eq_tol(duration, 2 + log2(1.5), 1e-9);
    ckpd_filler_free(filler);
    ckpd_context_free(context);
}
END_TEST

START_TEST(responses_of_one_sample)
{
    static const double none[] = {0.0};
    double hz[1];
    scenario_context();
    ckpd_microgrid *grid = scenario_grid(NULL);
    REFUSED(CKPD_ERR_LENGTH, "at least 2",
            ckpd_microgrid_response(grid, 1, 0.01, none, hz, NULL, NULL));
    ckpd_microgrid_free(grid);
    ckpd_context_free(context);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_trace_is_followed,
                                  bad_traces,
                                  drawn_errors,
                                  runs_that_are_refused,
                                  fields_are_got_as_they_were_set,
                                  tables_of_fillers,
                                  responses_of_one_sample,
                                  NULL};
    return test_run(test_suite("truth of shaping runs", tests));
}
