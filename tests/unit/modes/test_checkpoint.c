/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Checkpoint costs against figures worked by hand from published ones. */
#include "support/support.h"

#include <ckptdispatch/modes.h>
#include <math.h>
#include <string.h>

static ckpd_context *context;
static ckpd_task *task;
static ckpd_mode_set *set;
static ckpd_checkpoint *checkpoint;

static const int32_t gpus[] = {192, 384, 384};
static const double rate[] = {20000, 40000, 41000}, power[] = {100, 200, 210},
                    idle[] = {40, 80, 80};
static const int32_t tp[] = {4, 4, 8}, pp[] = {12, 12, 12}, dp[] = {4, 8, 4}, mb[] = {2, 2, 4};

static void start(bool architecture, bool layouts)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_task_new(&task, context, "job"), CKPD_OK);
    if (architecture) {
        ck_assert_int_eq(ckpd_task_set_model(task, "bloom-176b"), CKPD_OK);
    }
    ck_assert_int_eq(ckpd_task_set(task, "tranche_tokens", 40000.0 * 3600 * 24), CKPD_OK);
    ckpd_mode_table t;
    memset(&t, 0, sizeof t);
    t.size = sizeof t, t.count = 3, t.installed_gpus = 400, t.baseline_index = 1;
    t.gpus = gpus, t.rate = rate, t.power_kw = power, t.idle_power_kw = idle;
    if (layouts) {
        t.tp = tp, t.pp = pp, t.dp = dp, t.micro_batch = mb;
    }
    ck_assert_int_eq(ckpd_mode_set_from_table(&set, context, task, &t), CKPD_OK);
    ck_assert_int_eq(ckpd_checkpoint_new(&checkpoint, context), CKPD_OK);
}

static void stop(void)
{
    ckpd_checkpoint_free(checkpoint);
    ckpd_mode_set_free(set);
    ckpd_task_free(task);
    ckpd_context_free(context);
}

/* BLOOM: a full checkpoint of 2.3 TB was saved in 40 s (bigscience chronicles). */
START_TEST(bloom_checkpoint)
{
    start(true, true);
    ckpd_checkpoint_cost cost = {.size = sizeof cost};
    ck_assert_int_eq(ckpd_checkpoint_evaluate(checkpoint, set, 1, 0, &cost), CKPD_OK);
    ck_assert_double_eq_tol(cost.full_bytes, 2.3e12, 0.2e12);
    ck_assert_double_eq_tol(cost.stall_s, 40, 4);
    ck_assert_double_eq_tol(cost.interval_h, 2, 1e-9); /* 24 h in 12 segments */
    ck_assert_double_eq_tol(cost.saves, 12, 1e-9);
    /* Young and Daly by hand: M = 1 / (2e-5 x 384) h. */
    double mtbf = 1 / (2e-5 * 384), delta = cost.stall_s / 3600;
    ck_assert_double_eq_tol(cost.mtbf_h, mtbf, 1e-9);
    ck_assert_double_eq_tol(cost.young_h, sqrt(2 * delta * mtbf), 1e-12);
    ck_assert_double_lt(fabs(cost.daly_h / cost.young_h - 1), 0.02);
    ck_assert_double_eq_tol(cost.lost_share, (1 + 210.0 / 3600) / mtbf, 1e-12);
    ck_assert_double_eq_tol(cost.stall_kwh, delta * 200, 1e-9); /* tables: training power */
    stop();
}
END_TEST

START_TEST(kinds_of_saving)
{
    start(true, true);
    ckpd_checkpoint_cost full = {.size = sizeof full}, cost = {.size = sizeof cost};
    ck_assert_int_eq(ckpd_checkpoint_set(checkpoint, "state_gb", 1000), CKPD_OK);
    ck_assert_int_eq(ckpd_checkpoint_set(checkpoint, "save_gb_per_s", 10), CKPD_OK);
    ck_assert_int_eq(ckpd_checkpoint_evaluate(checkpoint, set, 1, 1, &full), CKPD_OK);
    ck_assert_double_eq(full.stall_s, 100);
    ck_assert_int_eq(ckpd_checkpoint_set_text(checkpoint, "save_kind", "asynchronous"), CKPD_OK);
    ck_assert_int_eq(ckpd_checkpoint_evaluate(checkpoint, set, 1, 1, &cost), CKPD_OK);
    ck_assert_double_eq(cost.stall_s, 6);
    ck_assert_double_eq(cost.write_s, 100);
    /* One full save (6 s) and 10 differences of a tenth (0.5 s each): by hand. */
    ck_assert_int_eq(ckpd_checkpoint_set_text(checkpoint, "save_kind", "differential"), CKPD_OK);
    ck_assert_int_eq(ckpd_checkpoint_evaluate(checkpoint, set, 1, 1, &cost), CKPD_OK);
    ck_assert_double_eq_tol(cost.stall_s, 1, 1e-12);
    ck_assert_double_eq_tol(cost.save_bytes, 1e12 * 2 / 11, 1);
    ck_assert_double_eq_tol(cost.stall_share, 0.03 + 1 / 3601.0, 1e-9);
    char text[16];
    ck_assert_int_eq(ckpd_checkpoint_get_text(checkpoint, "save_kind", text, sizeof text), CKPD_OK);
    ck_assert_str_eq(text, "differential");
    ck_assert_int_eq(ckpd_checkpoint_set_text(checkpoint, "save_kind", "none"),
                     CKPD_ERR_UNKNOWN_NAME);
    ck_assert_int_eq(ckpd_checkpoint_set(checkpoint, "failures_per_gpu_hour", 0), CKPD_OK);
    ck_assert_int_eq(ckpd_checkpoint_evaluate(checkpoint, set, 1, 1, &cost), CKPD_OK);
    ck_assert(isinf(cost.mtbf_h) && cost.lost_share == 0 && isinf(cost.daly_h) &&
              isinf(cost.young_h));
    stop();
}
END_TEST

START_TEST(changes_of_mode)
{
    start(true, true);
    ckpd_change_cost cost = {.size = sizeof cost};
    ck_assert_int_eq(ckpd_checkpoint_set(checkpoint, "state_gb", 1000), CKPD_OK);
    ck_assert_int_eq(ckpd_checkpoint_set(checkpoint, "load_gb_per_s", 10), CKPD_OK);
    ck_assert_int_eq(ckpd_checkpoint_set(checkpoint, "conversion_s", 50), CKPD_OK);
    ck_assert_int_eq(ckpd_checkpoint_set(checkpoint, "change_money", 7), CKPD_OK);
    const struct {
        int32_t from, to, kind;
        double seconds, idle_kw, money;
    } cases[] = {{-1, 0, CKPD_CHANGE_NONE, 210, 40, 0},
                 {1, 1, CKPD_CHANGE_NONE, 210, 80, 0},
                 {0, 1, CKPD_CHANGE_DP, 210, 80, 7},
                 {1, 2, CKPD_CHANGE_LAYOUT, 360, 80, 7},
                 {2, 0, CKPD_CHANGE_LAYOUT, 360, 40, 7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(ckpd_checkpoint_change(checkpoint, set, cases[i].from, cases[i].to, &cost),
                         CKPD_OK);
        ck_assert_int_eq(cost.kind, cases[i].kind);
        ck_assert_double_eq_tol(cost.hours, cases[i].seconds / 3600, 1e-12);
        ck_assert_double_eq_tol(cost.energy_kwh, cases[i].seconds / 3600 * cases[i].idle_kw, 1e-9);
        ck_assert_double_eq(cost.money, cases[i].money);
    }
    ck_assert_int_eq(ckpd_checkpoint_change(checkpoint, set, 0, 3, &cost), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_checkpoint_change(checkpoint, set, -2, 0, &cost), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_checkpoint_evaluate(checkpoint, set, 3, 0, NULL), CKPD_ERR_ARGUMENT);
    stop();
}
END_TEST

START_TEST(tables_without_layouts)
{
    start(false, false);
    ckpd_change_cost cost = {.size = sizeof cost};
    ckpd_checkpoint_cost save = {.size = sizeof save};
    ck_assert_int_eq(ckpd_checkpoint_change(checkpoint, set, 0, 1, &cost), CKPD_ERR_MISSING);
    ck_assert_int_eq(ckpd_checkpoint_evaluate(checkpoint, set, 0, 0, &save), CKPD_ERR_MISSING);
    ck_assert_ptr_nonnull(strstr(ckpd_context_last_message(context), "state_gb is missing"));
    ck_assert_int_eq(ckpd_checkpoint_set(checkpoint, "state_gb", 57), CKPD_OK);
    ck_assert_int_eq(ckpd_checkpoint_change(checkpoint, set, 0, 1, &cost), CKPD_OK);
    ck_assert_int_eq(cost.kind, CKPD_CHANGE_LAYOUT);
    ck_assert_double_eq_tol(cost.hours, 211.0 / 3600, 1e-12);
    ck_assert_int_eq(ckpd_checkpoint_change(checkpoint, set, 1, 2, &cost), CKPD_OK);
    ck_assert_int_eq(cost.kind, CKPD_CHANGE_NONE);
    stop();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {bloom_checkpoint, kinds_of_saving, changes_of_mode,
                                  tables_without_layouts, NULL};
    return test_run(test_suite("checkpoint", tests));
}
