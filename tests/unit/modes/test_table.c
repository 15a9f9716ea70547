/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A user's table of modes. The table is that of the golden dispatch case's first job (11 modes). */
#include "support/support.h"

#include <ckptdispatch/modes.h>
#include <math.h>
#include <string.h>

enum { MODES = 11 };
static const int32_t gpus[MODES] = {64, 80, 128, 160, 256, 320, 512, 640, 1024, 1280, 2048};
static const double rate[MODES] = {0.1475, 0.1839, 0.2828, 0.3526, 0.5353, 0.6575,
                                   1.0,    1.2161, 1.8345, 2.1785, 3.3636};
static double power[MODES];

static ckpd_context *context;
static ckpd_task *task;
static ckpd_mode_set *set;

static void start(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_task_new(&task, context, "LLM-A"), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "tranche_baseline_hours", 24), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "baseline_gpus", 512), CKPD_OK);
    for (int i = 0; i < MODES; i++) {
        power[i] = 0.4 * gpus[i];
    }
    set = NULL;
}

static void stop(void)
{
    ckpd_mode_set_free(set);
    ckpd_task_free(task);
    ckpd_context_free(context);
}

static ckpd_mode_table table(void)
{
    ckpd_mode_table t;
    memset(&t, 0, sizeof t);
    t.size = sizeof t;
    t.count = MODES;
    t.installed_gpus = 2048;
    t.gpus = gpus;
    t.rate = rate;
    t.power_kw = power;
    t.baseline_index = -1;
    return t;
}

static int32_t make(const ckpd_mode_table *t)
{
    return ckpd_mode_set_from_table(&set, context, task, t);
}

static void expect(int32_t status, int32_t code, const char *field, const char *words)
{
    ckpd_error error = {.size = sizeof error};
    ck_assert_int_eq(status, code);
    ck_assert_ptr_null(set);
    ck_assert_int_eq(ckpd_context_last_error(context, &error), CKPD_OK);
    ck_assert_str_eq(error.field, field);
    ck_assert_msg(strstr(error.message, words) != NULL, "%s", error.message);
}

START_TEST(golden_job)
{
    start();
    ckpd_mode_table t = table();
    ck_assert_int_eq(make(&t), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_set_count(set), MODES);
    ck_assert_int_eq(ckpd_mode_set_baseline(set), 6);
    ck_assert_double_eq(ckpd_mode_set_work(set), 24 * 3600.0);
    ckpd_mode mode = {.size = sizeof mode};
    ck_assert_int_eq(ckpd_mode_set_get(set, 10, &mode), CKPD_OK);
    ck_assert_int_eq(mode.gpus, 2048);
    ck_assert_int_eq(mode.source_index, 10);
    ck_assert_double_eq(mode.rate, 3.3636);
    ck_assert(isnan(mode.memory_bytes) && isnan(mode.idle_power_kw));
    ck_assert_str_eq(ckpd_mode_set_label(set, 0), "64 GPUs");
    stop();
}
END_TEST

START_TEST(sorted_and_pruned)
{
    start();
    /* Worked by hand: row 3 needs as many GPUs as row 1 and more power for less; row 2 equals row
     * 0. */
    const int32_t g[] = {8, 16, 8, 16, 4};
    const double r[] = {1.0, 2.0, 1.0, 1.5, 0.4}, p[] = {3, 6, 3, 7, 2}, idle[] = {1, 2, 1, 2, 0.5};
    const char *const names[] = {"a", "b", "c", "d", NULL};
    ckpd_mode_table t = table();
    t.count = 5, t.gpus = g, t.rate = r, t.power_kw = p, t.idle_power_kw = idle, t.labels = names;
    t.baseline_index = 3;
    ck_assert_int_eq(make(&t), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_set_count(set), 4);
    ck_assert_int_eq(ckpd_mode_set_feasible_count(set), 5);
    const int32_t order[] = {4, 0, 1, 3}; /* row 3 is the baseline: kept although dominated */
    for (int32_t i = 0; i < 4; i++) {
        ckpd_mode mode = {.size = sizeof mode};
        ck_assert_int_eq(ckpd_mode_set_get(set, i, &mode), CKPD_OK);
        ck_assert_int_eq(mode.source_index, order[i]);
        ck_assert_double_eq(mode.idle_power_kw, idle[order[i]]);
        ck_assert_int_eq((mode.flags & CKPD_MODE_DOMINATED) != 0, order[i] == 3);
    }
    ck_assert_int_eq(ckpd_mode_set_baseline(set), 3);
    ck_assert_str_eq(ckpd_mode_set_label(set, 1), "a");
    ck_assert_int_eq(ckpd_mode_set_dropped_count(set), 1);
    int32_t reason = 0;
    char text[64];
    ckpd_mode dropped = {.size = sizeof dropped};
    ck_assert_int_eq(ckpd_mode_set_dropped_get(set, 0, &dropped, &reason, text, sizeof text),
                     CKPD_OK);
    ck_assert_int_eq(reason, CKPD_DROP_EQUAL);
    ck_assert_int_eq(dropped.source_index, 2);
    ck_assert_str_eq(text, "equal to a");
    stop();
}
END_TEST

START_TEST(keep_dominated)
{
    start();
    const int32_t g[] = {8, 8};
    const double r[] = {1.0, 0.5}, p[] = {3, 3};
    ckpd_mode_table t = table();
    t.count = 2, t.gpus = g, t.rate = r, t.power_kw = p, t.keep_dominated = 1, t.baseline_index = 0;
    ck_assert_int_eq(make(&t), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_set_count(set), 2);
    stop();
}
END_TEST

START_TEST(bad_tables)
{
    start();
    ckpd_mode_table t = table();
    t.installed_gpus = 1024;
    expect(make(&t), CKPD_ERR_RANGE, "gpus", "gpus[9] = 1280 exceeds the installed 1024 GPUs");
    t = table();
    double bad[MODES];
    memcpy(bad, rate, sizeof bad);
    bad[4] = NAN;
    t.rate = bad;
    expect(make(&t), CKPD_ERR_NOT_FINITE, "rate", "rate[4] is NaN");
    bad[4] = 0;
    expect(make(&t), CKPD_ERR_RANGE, "rate", "rate[4] = 0 is below");
    t = table();
    memcpy(bad, power, sizeof bad);
    bad[2] = -1;
    t.power_kw = bad;
    expect(make(&t), CKPD_ERR_RANGE, "power_kw", "power_kw[2] = -1");
    t = table();
    t.count = 0;
    expect(make(&t), CKPD_ERR_RANGE, "count", "count = 0");
    t = table();
    t.tp = gpus;
    expect(make(&t), CKPD_ERR_ARGUMENT, "tp", "given together");
    t = table();
    t.tp = t.pp = t.dp = t.micro_batch = gpus;
    expect(make(&t), CKPD_ERR_INCONSISTENT, "gpus", "mode 0: gpus = 64 but");
    t = table();
    t.size = 4;
    expect(make(&t), CKPD_ERR_STRUCT_SIZE, "mode_table", "size member");
    ck_assert_int_eq(ckpd_task_set(task, "baseline_gpus", 500), CKPD_OK);
    t = table();
    expect(make(&t), CKPD_ERR_NO_MODE, "baseline_gpus",
           "the baseline mode (500 GPUs) is not feasible");
    ck_assert_int_eq(ckpd_task_unset(task, "baseline_gpus"), CKPD_OK);
    expect(make(&t), CKPD_ERR_MISSING, "baseline_gpus", "tranche_baseline_hours needs a baseline");
    stop();
}
END_TEST

START_TEST(tranche_in_tokens)
{
    start();
    ck_assert_int_eq(ckpd_task_unset(task, "tranche_baseline_hours"), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "tranche_tokens", 5e9), CKPD_OK);
    ckpd_mode_table t = table();
    ck_assert_int_eq(make(&t), CKPD_OK);
    ck_assert_double_eq(ckpd_mode_set_work(set), 5e9);
    stop();
}
END_TEST

START_TEST(running_mode)
{
    start();
    ck_assert_int_eq(ckpd_task_set(task, "running_mode", 3), CKPD_OK);
    ckpd_mode_table t = table();
    expect(make(&t), CKPD_ERR_MISSING, "running_slots_done", "needs running_slots_done");
    ck_assert_int_eq(ckpd_task_set(task, "running_slots_done", 1), CKPD_OK);
    ck_assert_int_eq(make(&t), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_set_running(set), 3);
    ckpd_mode_set_free(set);
    set = NULL;
    ck_assert_int_eq(ckpd_task_set(task, "running_mode", 11), CKPD_OK);
    expect(make(&t), CKPD_ERR_RANGE, "running_mode",
           "running_mode = 11, but the table has 11 modes");
    stop();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {golden_job, sorted_and_pruned, keep_dominated,
                                  bad_tables, tranche_in_tokens, running_mode,
                                  NULL};
    return test_run(test_suite("mode table", tests));
}
