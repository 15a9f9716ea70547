/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Anchoring: a fit finds coefficients that made the runs, and names runs that nothing explains. */
#include "support/support.h"

#include <ckptdispatch/modes.h>
#include <math.h>
#include <string.h>

static ckpd_context *context;
static ckpd_task *task;
static ckpd_hardware *hardware;
static ckpd_anchor *anchor;

static void start(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_task_new(&task, context, "job"), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set_model(task, "bloom-176b"), CKPD_OK);
    ck_assert_int_eq(ckpd_hardware_new(&hardware, context, "a100-80gb"), CKPD_OK);
    ck_assert_int_eq(ckpd_anchor_new(&anchor, context, hardware, NULL), CKPD_OK);
}

static void stop(void)
{
    ckpd_anchor_free(anchor);
    ckpd_hardware_free(hardware);
    ckpd_task_free(task);
    ckpd_context_free(context);
}

static ckpd_run run(int32_t tp, int32_t pp, int32_t dp, int32_t micro_batch, double iteration)
{
    return (ckpd_run){.size = sizeof(ckpd_run),
                      .tp = tp,
                      .pp = pp,
                      .dp = dp,
                      .micro_batch = micro_batch,
                      .recompute = CKPD_RECOMPUTE_FULL,
                      .iteration_s = iteration};
}

static void expect(int32_t status, int32_t code, const char *field, const char *words)
{
    ckpd_error error = {.size = sizeof error};
    ck_assert_int_eq(status, code);
    ck_assert_int_eq(ckpd_context_last_error(context, &error), CKPD_OK);
    ck_assert_str_eq(error.field, field);
    ck_assert_msg(strstr(error.message, words) != NULL, "'%s' lacks '%s'", error.message, words);
}

/* Layouts of BLOOM-176B on 192 to 384 GPUs. */
static const int32_t layouts[][4] = {{4, 12, 8, 2}, {4, 12, 4, 1}, {4, 24, 2, 1},
                                     {2, 24, 4, 1}, {8, 12, 4, 4}, {2, 36, 4, 1}};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static ckpd_mode evaluate(const ckpd_hardware *hw, const int32_t *l)
{
    ckpd_layout layout = {sizeof layout, l[0], l[1], l[2], l[3], 1, 1, 1, CKPD_RECOMPUTE_FULL};
    ckpd_mode mode = {.size = sizeof mode};
    ck_assert_int_eq(ckpd_mode_evaluate(task, hw, &layout, &mode), CKPD_OK);
    return mode;
}

START_TEST(finds_what_made_the_runs)
{
    start();
    const struct {
        const char *field;
        double value;
    } truth[] = {{"efficiency", 0.61},         {"layer_overhead_ms", 1.7},
                 {"network_efficiency", 0.35}, {"memory_offset_gb", 5.25},
                 {"memory_factor", 1.15},      {"busy_kw", 0.52}};
    ckpd_hardware *made = NULL;
    ck_assert_int_eq(ckpd_hardware_new(&made, context, "a100-80gb"), CKPD_OK);
    for (size_t i = 0; i < 6; i++) {
        ck_assert_int_eq(ckpd_hardware_set(made, truth[i].field, truth[i].value), CKPD_OK);
    }
    for (int32_t i = 0; i < LAYOUTS; i++) {
        ckpd_mode mode = evaluate(made, layouts[i]);
        ckpd_run r =
            run(layouts[i][0], layouts[i][1], layouts[i][2], layouts[i][3], mode.iteration_s);
        r.memory_gb = mode.memory_bytes / 1e9;
        r.power_kw = mode.power_kw;
        ck_assert_int_eq(ckpd_anchor_add(anchor, task, &r), CKPD_OK);
    }
    ckpd_anchor_report report = {.size = sizeof report};
    int32_t fit = CKPD_FIT_LAYER_OVERHEAD | CKPD_FIT_NETWORK | CKPD_FIT_MEMORY | CKPD_FIT_POWER;
    ck_assert_int_eq(ckpd_anchor_fit(anchor, fit, hardware, &report), CKPD_OK);
    for (size_t i = 0; i < 6; i++) {
        double value = 0;
        ck_assert_int_eq(ckpd_hardware_get(hardware, truth[i].field, &value), CKPD_OK);
        ck_assert_msg(fabs(value / truth[i].value - 1) < 0.02, "%s: %g, made with %g",
                      truth[i].field, value, truth[i].value);
    }
    ck_assert_int_eq(report.rows, LAYOUTS);
    ck_assert_double_lt(report.rms_error, 1e-3);
    ck_assert_double_eq(report.rate_error, 0.03); /* no band below what repeated runs differ by */
    for (int32_t i = 0; i < LAYOUTS; i++) {
        ckpd_residual residual = {.size = sizeof residual};
        ck_assert_int_eq(ckpd_anchor_residual(anchor, i, &residual), CKPD_OK);
        ck_assert_double_lt(fabs(residual.iteration_error), 2e-3);
        ck_assert_double_lt(fabs(residual.memory_error), 1e-3);
        ck_assert_double_lt(fabs(residual.power_error), 2e-3);
    }
    ckpd_hardware_free(made);
    stop();
}
END_TEST

/* BLOOM's production run: 105.22 s on 384 GPUs (bigscience chronicles). One row is met exactly. */
START_TEST(one_run_is_exact_and_modes_carry_the_band)
{
    start();
    ckpd_run r = run(4, 12, 8, 2, 105.22);
    ck_assert_int_eq(ckpd_anchor_add(anchor, task, &r), CKPD_OK);
    ck_assert_int_eq(ckpd_anchor_fit(anchor, CKPD_FIT_EFFICIENCY, hardware, NULL), CKPD_OK);
    ckpd_mode mode = evaluate(hardware, layouts[0]);
    ck_assert_double_eq_tol(mode.iteration_s, 105.22, 1e-6);
    ck_assert_double_eq(mode.rate_error, 0.08);
    /* A second, slower record of the same layout: the least squares lie at the geometric mean. */
    r.iteration_s = 105.22 * 1.04;
    ck_assert_int_eq(ckpd_anchor_add(anchor, task, &r), CKPD_OK);
    ck_assert_int_eq(ckpd_anchor_fit(anchor, CKPD_FIT_EFFICIENCY, hardware, NULL), CKPD_OK);
    mode = evaluate(hardware, layouts[0]);
    ck_assert_double_eq_tol(mode.iteration_s, 105.22 * sqrt(1.04), 1e-3);
    stop();
}
END_TEST

START_TEST(unknown_layouts_are_searched)
{
    start();
    ckpd_run r = run(0, 0, 0, 0, 0);
    r.recompute = -1;
    r.gpus = 384;
    r.tokens_per_s = 40000;
    ck_assert_int_eq(ckpd_anchor_add(anchor, task, &r), CKPD_OK);
    ckpd_residual residual = {.size = sizeof residual};
    ckpd_mode mode = {.size = sizeof mode};
    ck_assert_int_eq(ckpd_anchor_residual(anchor, 0, &residual), CKPD_OK);
    ck_assert_int_eq(ckpd_anchor_mode(anchor, 0, &mode), CKPD_OK);
    ck_assert_int_eq(mode.gpus, 384);
    ck_assert_double_ge(mode.margin_bytes, 0);
    ck_assert_double_eq_tol(residual.iteration_s, 2048.0 * 2048 / 40000, 1e-9);
    r.gpus = 383; /* a prime: no layout has it */
    expect(ckpd_anchor_add(anchor, task, &r), CKPD_ERR_INCONSISTENT, "gpus",
           "run 1: no legal layout explains it");
    r.gpus = 0;
    expect(ckpd_anchor_add(anchor, task, &r), CKPD_ERR_MISSING, "gpus", "gpus is missing");
    ck_assert_int_eq(ckpd_anchor_count(anchor), 1);
    stop();
}
END_TEST

START_TEST(runs_that_nothing_explains)
{
    start();
    ckpd_run r = run(3, 12, 8, 2, 100);
    expect(ckpd_anchor_add(anchor, task, &r), CKPD_ERR_INCONSISTENT, "tp",
           "tp does not divide the heads");
    r = run(4, 12, 7, 2, 100);
    expect(ckpd_anchor_add(anchor, task, &r), CKPD_ERR_INCONSISTENT, "dp",
           "does not divide the batch");
    r = run(4, 90, 8, 2, 100);
    expect(ckpd_anchor_add(anchor, task, &r), CKPD_ERR_INCONSISTENT, "pp", "pp exceeds the layers");
    r = run(4, 12, 8, 2, 100);
    r.gpus = 385;
    expect(ckpd_anchor_add(anchor, task, &r), CKPD_ERR_INCONSISTENT, "gpus", "differs from gpus");
    r = run(4, 12, 8, 2, 1);
    expect(ckpd_anchor_add(anchor, task, &r), CKPD_ERR_INCONSISTENT, "iteration_s",
           "communication and memory traffic alone take longer");
    r = run(4, 12, 8, 2, 32);
    expect(ckpd_anchor_add(anchor, task, &r), CKPD_ERR_INCONSISTENT, "iteration_s",
           "twice the peak");
    r = run(4, 12, 8, 2, 0);
    expect(ckpd_anchor_add(anchor, task, &r), CKPD_ERR_MISSING, "iteration_s", "0 of iteration_s");
    r.iteration_s = 100;
    r.gpu_hours = 1e6;
    expect(ckpd_anchor_add(anchor, task, &r), CKPD_ERR_INCONSISTENT, "iteration_s",
           "2 of iteration_s");
    r = run(4, 12, 8, 2, NAN);
    expect(ckpd_anchor_add(anchor, task, &r), CKPD_ERR_NOT_FINITE, "iteration_s", "NaN");
    r = run(4, 12, 8, -2, 100);
    expect(ckpd_anchor_add(anchor, task, &r), CKPD_ERR_RANGE, "micro_batch", "micro_batch");
    ck_assert_int_eq(ckpd_anchor_fit(anchor, 0, hardware, NULL), CKPD_ERR_STATE);
    r = run(4, 12, 8, 2, 105);
    ck_assert_int_eq(ckpd_anchor_add(anchor, task, &r), CKPD_OK);
    expect(ckpd_anchor_fit(anchor, CKPD_FIT_LINK, hardware, NULL), CKPD_ERR_INCONSISTENT, "fit",
           "1 runs are too few to fit 2 coefficients; 3 are needed");
    ck_assert_int_eq(ckpd_anchor_fit(anchor, 64, hardware, NULL), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_anchor_residual(anchor, 1, NULL), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_anchor_mode(anchor, 1, NULL), CKPD_ERR_ARGUMENT);
    stop();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {finds_what_made_the_runs,
                                  one_run_is_exact_and_modes_carry_the_band,
                                  unknown_layouts_are_searched, runs_that_nothing_explains, NULL};
    return test_run(test_suite("anchor", tests));
}
