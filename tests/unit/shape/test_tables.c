/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Fillers, events and pools: tables, shapes, and everything that has to be refused. */
#include "scenario.h"

#include "base/base.h"

#include <stdlib.h>

static const int32_t rows[] = {8, 16, 32};
static const double watts[] = {400.0, 500.0, 450.0};
static const double seconds[] = {4.0, 6.0, 10.0};

static ckpd_filler *sample(void)
{
    ckpd_filler *filler;
    OK(ckpd_filler_new(&filler, context, "sample"));
    OK(ckpd_filler_set_table(filler, 3, rows, 1, NULL, watts, seconds));
    return filler;
}

START_TEST(interpolates_in_log2_of_the_batch)
{
    scenario_context();
    ckpd_filler *filler = sample();
    double power, duration;
    OK(ckpd_filler_at(filler, 16.0, &power, &duration));
    ck_assert_double_eq(power, 500.0);
    ck_assert_double_eq(duration, 6.0);
    /* sqrt(8 * 16) lies halfway between 8 and 16 in log2. */
    OK(ckpd_filler_at(filler, sqrt(128.0), &power, &duration));
    ck_assert_double_eq_tol(power, 450.0, 1e-9);
    ck_assert_double_eq_tol(duration, 5.0, 1e-9);
    OK(ckpd_filler_at(filler, 32.0, &power, NULL));
    ck_assert_double_eq(power, 450.0); /* not monotone, and that is fine */
    REFUSED(CKPD_ERR_RANGE, "7.9", ckpd_filler_at(filler, 7.9, &power, NULL));
    REFUSED(CKPD_ERR_RANGE, "32.1", ckpd_filler_at(filler, 32.1, &power, NULL));
    ck_assert_int_eq(ckpd_filler_at(filler, NAN, &power, NULL), CKPD_ERR_RANGE);
    ckpd_filler_free(filler);
    ckpd_context_free(context);
}
END_TEST

START_TEST(second_axis_is_linear)
{
    scenario_context();
    static const double budget[] = {1024.0, 2048.0};
    static const double power_w[] = {400.0, 500.0, 600.0, 700.0};
    static const double duration_s[] = {4.0, 6.0, 2.0, 3.0};
    ckpd_filler *filler;
    double power, duration;
    OK(ckpd_filler_new(&filler, context, "budget"));
    OK(ckpd_filler_set_table(filler, 2, rows, 2, budget, power_w, duration_s));
    REFUSED(CKPD_ERR_MISSING, "axis_value", ckpd_filler_at(filler, 8.0, &power, &duration));
    OK(ckpd_filler_set(filler, "axis_value", 1280.0)); /* a quarter of the way */
    OK(ckpd_filler_at(filler, 16.0, &power, &duration));
    ck_assert_double_eq_tol(power, 550.0, 1e-9);
    ck_assert_double_eq_tol(duration, 5.25, 1e-9);
    OK(ckpd_filler_set(filler, "axis_value", 4096.0));
    REFUSED(CKPD_ERR_RANGE, "axis_value", ckpd_filler_at(filler, 8.0, &power, &duration));
    ckpd_filler_free(filler);
    ckpd_context_free(context);
}
END_TEST

START_TEST(refuses_bad_tables_and_keeps_the_old)
{
    scenario_context();
    ckpd_filler *filler = sample();
    static const int32_t falling[] = {8, 32, 16}, zero[] = {0, 8, 16};
    static const double negative[] = {400.0, -1.0, 450.0}, nan_s[] = {4.0, NAN, 10.0};
    static const double none_s[] = {4.0, 0.0, 10.0};
    REFUSED(CKPD_ERR_INCONSISTENT, "ascend",
            ckpd_filler_set_table(filler, 3, falling, 1, NULL, watts, seconds));
    REFUSED(CKPD_ERR_RANGE, "at least 1",
            ckpd_filler_set_table(filler, 3, zero, 1, NULL, watts, seconds));
    REFUSED(CKPD_ERR_RANGE, "power_w",
            ckpd_filler_set_table(filler, 3, rows, 1, NULL, negative, seconds));
    REFUSED(CKPD_ERR_NOT_FINITE, "duration_s",
            ckpd_filler_set_table(filler, 3, rows, 1, NULL, watts, nan_s));
    REFUSED(CKPD_ERR_RANGE, "duration_s",
            ckpd_filler_set_table(filler, 3, rows, 1, NULL, watts, none_s));
    REFUSED(CKPD_ERR_LENGTH, "1 to 1024",
            ckpd_filler_set_table(filler, 0, rows, 1, NULL, watts, seconds));
    ck_assert_int_eq(ckpd_filler_set_table(filler, 3, NULL, 1, NULL, watts, seconds),
                     CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_filler_set_table(filler, 3, rows, 2, NULL, watts, seconds),
                     CKPD_ERR_ARGUMENT);
    double power;
    OK(ckpd_filler_at(filler, 16.0, &power, NULL));
    ck_assert_double_eq(power, 500.0);
    static const int32_t outside[] = {24}, twice[] = {8, 8};
    REFUSED(CKPD_ERR_RANGE, "24", ckpd_filler_set_planned(filler, 1, outside));
    REFUSED(CKPD_ERR_DUPLICATE, "twice", ckpd_filler_set_planned(filler, 2, twice));
    ckpd_filler_free(filler);
    ck_assert_int_eq(ckpd_filler_new(&filler, context, ""), CKPD_ERR_ARGUMENT);
    REFUSED(CKPD_ERR_UNKNOWN_NAME, "llama3.1-8b-chat",
            ckpd_filler_builtin(&filler, context, "llama3.1-8b-chap"));
    ckpd_context_free(context);
}
END_TEST

/* Expected values: the table of types compiled apart from this library, beside the source tree. */
START_TEST(types_that_ship_match_their_source)
{
    const char *path = test_shared_path("data/inference-power/task-types.csv");
    if (path == NULL) {
        return;
    }
    scenario_context();
    char *text = test_read_file(path, NULL), *save = NULL;
    int32_t seen = 0;
    strtok_r(text, "\n", &save);
    for (char *line = strtok_r(NULL, "\n", &save); line != NULL;
         line = strtok_r(NULL, "\n", &save)) {
        /* type, GPUs, batch, power, time; numbers without the host's locale */
        char *field[5], *rest = NULL;
        double number[5], power, duration;
        for (int k = 0; k < 5; k++) {
            field[k] = strtok_r(k == 0 ? line : NULL, ",", &rest);
            ck_assert_ptr_nonnull(field[k]);
            ck_assert(k == 0 || ckpd__parse_double(field[k], strlen(field[k]), &number[k]));
        }
        ckpd_filler *filler;
        OK(ckpd_filler_builtin(&filler, context, field[0]));
        OK(ckpd_filler_at(filler, number[2], &power, &duration));
        ck_assert_double_eq(power, number[3]);
        ck_assert_double_eq(duration, number[4]);
        OK(ckpd_filler_get(filler, "gpus_per_replica", &power));
        ck_assert_double_eq(power, number[1]);
        ckpd_filler_free(filler);
        seen++;
    }
    ck_assert_int_eq(seen, 44);
    free(text);
    ckpd_context_free(context);
}
END_TEST

START_TEST(deficit_is_a_trapezoid)
{
    scenario_context();
    ckpd_power_event *event = scenario_event(20.0, 30.0, 1e6);
    const double at[] = {19.9, 20.0, 20.25, 20.5, 35.0, 50.0, 50.25, 50.999, 51.0};
    const double is[] = {0.0, 0.0, 0.5e6, 1e6, 1e6, 1e6, 0.75e6, 1e3, 0.0};
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        ck_assert_double_eq_tol(ckpd_power_event_deficit_w(event, at[i]), is[i], 1e-3);
    }
    OK(ckpd_power_event_set(event, "fall_s", 0.0));
    OK(ckpd_power_event_set(event, "rise_s", 0.0));
    ck_assert_double_eq(ckpd_power_event_deficit_w(event, 20.0), 1e6);
    ck_assert_double_eq(ckpd_power_event_deficit_w(event, 50.0), 0.0);
    /* Shorter than its fall: it returns from 40 % of the depth. */
    OK(ckpd_power_event_set(event, "fall_s", 5.0));
    OK(ckpd_power_event_set(event, "rise_s", 2.0));
    OK(ckpd_power_event_set(event, "duration_s", 2.0));
    ck_assert_double_eq_tol(ckpd_power_event_deficit_w(event, 22.0), 0.4e6, 1e-6);
    ck_assert_double_eq_tol(ckpd_power_event_deficit_w(event, 23.0), 0.2e6, 1e-6);
    ck_assert_double_eq(ckpd_power_event_deficit_w(event, (double)INFINITY), 0.0);
    ck_assert_double_nan(ckpd_power_event_deficit_w(event, NAN));
    ckpd_power_event_free(event);
    ckpd_context_free(context);
}
END_TEST

START_TEST(refuses_bad_events)
{
    scenario_context();
    ckpd_power_event *event = scenario_event(20.0, 30.0, 1e6);
    REFUSED(CKPD_ERR_RANGE, "depth_w", ckpd_power_event_set(event, "depth_w", -1.0));
    REFUSED(CKPD_ERR_RANGE, "duration_s", ckpd_power_event_set(event, "duration_s", 0.0));
    REFUSED(CKPD_ERR_NOT_FINITE, "onset_s", ckpd_power_event_set(event, "onset_s", NAN));
    REFUSED(CKPD_ERR_UNKNOWN_NAME, "depth_w", ckpd_power_event_set(event, "deph_w", 1.0));
    OK(ckpd_power_event_set_text(event, "kind", "differential"));
    ck_assert_int_ne(ckpd_power_event_set_text(event, "kind", "half"), CKPD_OK);
    static const double t[] = {0.0, 1.0, 1.0}, w[] = {0.0, 1e6, 2e6}, bad[] = {0.0, NAN, 1.0};
    REFUSED(CKPD_ERR_INCONSISTENT, "ascend", ckpd_power_event_set_trace(event, 3, t, w));
    REFUSED(CKPD_ERR_LENGTH, "2 points", ckpd_power_event_set_trace(event, 1, t, w));
    REFUSED(CKPD_ERR_NOT_FINITE, "deficit_w", ckpd_power_event_set_trace(event, 2, t, bad));
    ck_assert_int_eq(ckpd_power_event_set_trace(event, 2, NULL, w), CKPD_ERR_ARGUMENT);
    ckpd_power_event_free(event);
    ckpd_context_free(context);
}
END_TEST

START_TEST(refuses_what_does_not_fit_the_problem)
{
    scenario_context();
    ckpd_gpu_pool *pool;
    ckpd_shape *shape = NULL;
    OK(ckpd_gpu_pool_new(&pool, context));
    REFUSED(CKPD_ERR_MISSING, "gpu_count", ckpd_shape_new(&shape, context, pool));
    OK(ckpd_gpu_pool_set(pool, "gpu_count", 4.0));
    REFUSED(CKPD_ERR_RANGE, "8",
            ckpd_shape_new(&shape, context, pool)); /* group larger than the pool */
    ck_assert_ptr_null(shape);
    REFUSED(CKPD_ERR_RANGE, "gpu_count", ckpd_gpu_pool_set(pool, "gpu_count", -8.0));
    ckpd_gpu_pool_free(pool);

    shape = scenario_shape(5600.0, -1.0);
    OK(ckpd_shape_set(shape, "start_s", 0.0));
    OK(ckpd_shape_set(shape, "end_s", 100.0));
    ckpd_power_event *late = scenario_event(80.0, 30.0, 1e6),
                     *soon = scenario_event(-1.0, 30.0, 1e6);
    REFUSED(CKPD_ERR_RANGE, "after the end", ckpd_shape_add_event(shape, late));
    REFUSED(CKPD_ERR_RANGE, "before the start", ckpd_shape_add_event(shape, soon));
    ck_assert_int_eq(ckpd_shape_event_count(shape), 0);
    ckpd_power_event_free(late);
    ckpd_power_event_free(soon);
    ckpd_filler *filler;
    OK(ckpd_filler_builtin(&filler, context, "qwen3-8b-chat"));
    REFUSED(CKPD_ERR_DUPLICATE, "qwen3-8b-chat", ckpd_shape_add_filler(shape, filler));
    ckpd_filler_free(filler);
    OK(ckpd_filler_new(&filler, context, "empty"));
    REFUSED(CKPD_ERR_MISSING, "table", ckpd_shape_add_filler(shape, filler));
    ckpd_filler_free(filler);
    filler = sample();
    OK(ckpd_filler_set(filler, "gpus_per_replica", 16.0));
    REFUSED(CKPD_ERR_RANGE, "16", ckpd_shape_add_filler(shape, filler));
    ckpd_filler_free(filler);
    ckpd_power_event *unset;
    OK(ckpd_power_event_new(&unset, context));
    REFUSED(CKPD_ERR_MISSING, "onset_s", ckpd_shape_add_event(shape, unset));
    ckpd_power_event_free(unset);
    ckpd_shape_free(shape);
    ckpd_context_free(context);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {interpolates_in_log2_of_the_batch,
                                  second_axis_is_linear,
                                  refuses_bad_tables_and_keeps_the_old,
                                  types_that_ship_match_their_source,
                                  deficit_is_a_trapezoid,
                                  refuses_bad_events,
                                  refuses_what_does_not_fit_the_problem,
                                  NULL};
    return test_run(test_suite("shape tables", tests));
}
