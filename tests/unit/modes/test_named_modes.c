/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Modes that a task names (baseline, running, reference), why they are not there, and what each
 * dropped layout is told. LLaMA-65B: 64 heads, 80 layers; an A100 node has 8 GPUs.
 */
#include "support/support.h"

#include <ckptdispatch/modes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static ckpd_context *context;
static ckpd_task *task;
static ckpd_hardware *hardware;
static ckpd_mode_rules *rules;
static ckpd_mode_set *set;

static void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_task_new(&task, context, "job"), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set_model(task, "llama-65b"), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "tranche_share", 0.001), CKPD_OK);
    ck_assert_int_eq(ckpd_hardware_new(&hardware, context, "a100-80gb"), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_rules_new(&rules, context), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_rules_set(rules, "installed_gpus", 2048), CKPD_OK);
    set = NULL;
}

static void teardown(void)
{
    ckpd_mode_set_free(set);
    ckpd_mode_rules_free(rules);
    ckpd_hardware_free(hardware);
    ckpd_task_free(task);
    ckpd_context_free(context);
}

static void set_task(const char *field, double value)
{
    ck_assert_msg(ckpd_task_set(task, field, value) == CKPD_OK, "%s",
                  ckpd_context_last_message(context));
}

/* tp, pp, dp of what ("baseline", "running", "reference"). */
static void set_layout(const char *what, int32_t tp, int32_t pp, int32_t dp)
{
    static const char *const parts[] = {"tp", "pp", "dp"};
    const int32_t values[] = {tp, pp, dp};
    for (int i = 0; i < 3; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s_%s", what, parts[i]);
        set_task(name, values[i]);
    }
}

static int32_t build(void)
{
    ckpd_mode_set_free(set);
    set = NULL;
    return ckpd_mode_set_build(&set, context, task, hardware, rules);
}

static void built(void)
{
    ck_assert_msg(build() == CKPD_OK, "%s", ckpd_context_last_message(context));
}

static void expect(int32_t status, int32_t code, const char *field, const char *words)
{
    ckpd_error error = {.size = sizeof error};
    ck_assert_int_eq(status, code);
    ck_assert_ptr_null(set);
    ck_assert_int_eq(ckpd_context_last_error(context, &error), CKPD_OK);
    ck_assert_str_eq(error.field, field);
    ck_assert_msg(strstr(error.message, words) != NULL, "'%s' lacks '%s'", error.message, words);
}

static ckpd_mode mode_at(int32_t index)
{
    ckpd_mode mode = {.size = sizeof mode};
    ck_assert_int_eq(ckpd_mode_set_get(set, index, &mode), CKPD_OK);
    return mode;
}

START_TEST(named_layouts_are_marked)
{
    set_layout("baseline", 8, 8, 32);
    set_task("baseline_micro_batch", 1);
    set_layout("running", 8, 8, 16);
    set_task("running_micro_batch", 1);
    set_task("running_slots_done", 0);
    built();
    ckpd_mode baseline = mode_at(ckpd_mode_set_baseline(set));
    ckpd_mode running = mode_at(ckpd_mode_set_running(set));
    ck_assert(baseline.tp == 8 && baseline.pp == 8 && baseline.dp == 32);
    ck_assert_int_eq(baseline.gpus, 2048);
    ck_assert(running.tp == 8 && running.pp == 8 && running.dp == 16);
    ck_assert_int_eq(running.gpus, 1024);
}
END_TEST

START_TEST(a_running_mode_by_its_index)
{
    set_task("running_slots_done", 0);
    set_task("running_mode", 2);
    built();
    ck_assert_int_eq(ckpd_mode_set_running(set), 2);
    int32_t count = ckpd_mode_set_count(set);
    set_task("running_mode", count);
    char words[60];
    snprintf(words, sizeof words, "running_mode = %d, but the set has %d modes", count, count);
    expect(build(), CKPD_ERR_RANGE, "running_mode", words);
}
END_TEST

START_TEST(named_layouts_that_are_not_there)
{
    /* 65e9 parameters of 2 bytes on 2 GPUs are 65 GB each, and as much for the gradients. */
    set_layout("baseline", 2, 1, 32);
    set_task("baseline_micro_batch", 8);
    expect(build(), CKPD_ERR_NO_MODE, "baseline_tp", "tp 2, pp 1, dp 32) is not feasible: ");
    ck_assert_ptr_nonnull(strstr(ckpd_context_last_message(context), "GB of memory are missing"));
    set_layout("baseline", 8, 8, 64); /* 4096 GPUs */
    set_task("baseline_micro_batch", 1);
    expect(build(), CKPD_ERR_NO_MODE, "baseline_tp", ckpd_drop_name(CKPD_DROP_MANY_GPUS));
    set_layout("baseline", 5, 8, 32);
    expect(build(), CKPD_ERR_NO_MODE, "baseline_tp", "no layout of the rules gives it");
    set_layout("baseline", 8, 8, 32);
    set_layout("running", 8, 8, 64);
    set_task("running_micro_batch", 1);
    set_task("running_slots_done", 0);
    expect(build(), CKPD_ERR_NO_MODE, "running_tp", "the running mode (tp 8, pp 8, dp 64)");
}
END_TEST

START_TEST(reference_runs_that_nothing_explains)
{
    set_task("tokens", 1.4e12);
    set_task("reference_gpu_hours", 1022362);
    set_layout("reference", 7, 8, 32); /* 64 heads on 7 GPUs */
    expect(build(), CKPD_ERR_INCONSISTENT, "reference_tp", "do not divide 64 heads, 80 layers");
    set_layout("reference", 1, 1, 2048); /* 65e9 parameters on one GPU */
    expect(build(), CKPD_ERR_INCONSISTENT, "reference_tp", "does not fit");
    ck_assert_int_eq(ckpd_task_unset(task, "tokens"), CKPD_OK);
    set_layout("reference", 8, 8, 32);
    ck_assert_int_ne(build(), CKPD_OK);
}
END_TEST

/* Every layout that is dropped is told why, by the rule that its own numbers break. */
START_TEST(reasons_of_dropped_layouts)
{
    static const int32_t tp[] = {3, 8, 16}, pp[] = {7, 8}, dp[] = {8, 16, 30, 32}, cp[] = {1, 3},
                         ep[] = {1, 2};
    static const struct {
        const char *list;
        const int32_t *values;
        int32_t count;
    } lists[] = {{"tp", tp, 3}, {"pp", pp, 2}, {"dp", dp, 4}, {"cp", cp, 2}, {"ep", ep, 2}};
    int seen[16] = {0};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        ck_assert_int_eq(
            ckpd_mode_rules_set_list(rules, lists[i].list, lists[i].count, lists[i].values),
            CKPD_OK);
    }
    ck_assert_int_eq(ckpd_mode_rules_set(rules, "minimum_gpus", 1025), CKPD_OK);
    built();
    for (int32_t i = 0; i < ckpd_mode_set_dropped_count(set); i++) {
        ckpd_mode mode = {.size = sizeof mode};
        int32_t reason = 0;
        char text[200], again[10], words[80] = "";
        ck_assert_int_eq(ckpd_mode_set_dropped_get(set, i, &mode, &reason, text, sizeof text),
                         CKPD_OK);
        ck_assert_int_eq(ckpd_mode_set_dropped_get(set, i, NULL, NULL, again, sizeof again),
                         CKPD_OK);
        ck_assert_uint_lt(strlen(again), sizeof again);
        ck_assert_int_eq(strncmp(text, again, strlen(again)), 0);
        ck_assert(reason > 0 && reason < 16);
        seen[reason]++;
        int32_t gpus = mode.tp * mode.pp * mode.dp * mode.cp;
        if (mode.tp == 3) {
            ck_assert_int_eq(reason, CKPD_DROP_TENSOR);
            snprintf(words, sizeof words, "tp 3 does not fit 64 heads");
        } else if (mode.tp == 16) {
            ck_assert_int_eq(reason, CKPD_DROP_NODE);
            snprintf(words, sizeof words, "tp 16 exceeds a node of 8 GPUs");
        } else if (mode.pp == 7) {
            ck_assert_int_eq(reason, CKPD_DROP_PIPELINE);
            snprintf(words, sizeof words, "pp 7 x interleave 1 does not fit 80 layers");
        } else if (gpus < 1025 || gpus > 2048) {
            ck_assert_int_eq(reason, gpus < 1025 ? CKPD_DROP_FEW_GPUS : CKPD_DROP_MANY_GPUS);
            snprintf(words, sizeof words, "%d GPUs: %s", gpus, ckpd_drop_name(reason));
        } else if (mode.cp == 3) {
            ck_assert_int_eq(reason, CKPD_DROP_CONTEXT);
            snprintf(words, sizeof words, "%s", ckpd_drop_name(reason));
        } else if (mode.ep == 2) {
            ck_assert_int_eq(reason, CKPD_DROP_EXPERTS);
            snprintf(words, sizeof words, "%s", ckpd_drop_name(reason));
        } else if (mode.dp == 30) {
            ck_assert_int_eq(reason, CKPD_DROP_BATCH);
            snprintf(words, sizeof words, "dp 30 x micro-batch");
        }
        ck_assert_msg(strstr(text, words) != NULL, "'%s' lacks '%s'", text, words);
    }
    static const int32_t wanted[] = {CKPD_DROP_TENSOR,   CKPD_DROP_NODE,      CKPD_DROP_PIPELINE,
                                     CKPD_DROP_FEW_GPUS, CKPD_DROP_MANY_GPUS, CKPD_DROP_CONTEXT,
                                     CKPD_DROP_EXPERTS,  CKPD_DROP_BATCH};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        ck_assert_msg(seen[wanted[i]] > 0, "nothing dropped as %s", ckpd_drop_name(wanted[i]));
    }
    ck_assert_str_eq(ckpd_drop_name(99), "unknown");
    ck_assert_str_eq(ckpd_drop_name(-1), "unknown");
}
END_TEST

/* --- descriptions ------------------------------------------------------------------------------
 */

START_TEST(gpu_types_that_are_known)
{
    int32_t count = ckpd_hardware_preset_count();
    ck_assert_int_gt(count, 0);
    for (int32_t i = 0; i < count; i++) {
        ckpd_hardware *one = NULL;
        char text[40];
        ck_assert_int_eq(ckpd_hardware_new(&one, context, ckpd_hardware_preset_name(i)), CKPD_OK);
        ck_assert_str_eq(ckpd_hardware_name(one), ckpd_hardware_preset_name(i));
        ck_assert_str_ne(ckpd_hardware_preset_source(i), "");
        ck_assert_int_eq(ckpd_hardware_get_text(one, "fabric", text, sizeof text),
                         CKPD_ERR_UNKNOWN_NAME);
        ckpd_hardware_free(one);
    }
    ck_assert_ptr_null(ckpd_hardware_preset_name(count));
    ck_assert_ptr_null(ckpd_hardware_preset_name(-1));
    ck_assert_ptr_null(ckpd_hardware_preset_source(count));
}
END_TEST

START_TEST(fields_of_a_checkpoint_profile)
{
    ckpd_checkpoint *profile = NULL;
    double value = 0, before = 0;
    ck_assert_int_eq(ckpd_checkpoint_new(&profile, context), CKPD_OK);
    ck_assert_int_eq(ckpd_checkpoint_get(profile, "restart_s", &before), CKPD_OK);
    ck_assert_int_eq(ckpd_checkpoint_set(profile, "restart_s", before + 17), CKPD_OK);
    ck_assert_int_eq(ckpd_checkpoint_get(profile, "restart_s", &value), CKPD_OK);
    ck_assert_double_eq(value, before + 17);
    ck_assert_int_eq(ckpd_checkpoint_unset(profile, "restart_s"), CKPD_OK);
    ck_assert_int_eq(ckpd_checkpoint_get(profile, "restart_s", &value), CKPD_OK);
    ck_assert_double_eq(value, before);
    ck_assert_int_eq(ckpd_checkpoint_unset(profile, "restarts"), CKPD_ERR_UNKNOWN_NAME);
    int32_t count = ckpd_checkpoint_field_count();
    for (int32_t i = 0; i < count; i++) {
        ckpd_field_info info = {.size = sizeof info};
        ck_assert_int_eq(ckpd_checkpoint_field_info(i, &info), CKPD_OK);
        ck_assert_str_ne(info.doc, "");
    }
    ckpd_field_info info = {.size = sizeof info};
    ck_assert_int_ne(ckpd_checkpoint_field_info(count, &info), CKPD_OK);
    ckpd_checkpoint_free(profile);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("named modes");
    TCase *tests = tcase_create("named modes");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, named_layouts_are_marked);
    tcase_add_test(tests, a_running_mode_by_its_index);
    tcase_add_test(tests, named_layouts_that_are_not_there);
    tcase_add_test(tests, reference_runs_that_nothing_explains);
    tcase_add_test(tests, reasons_of_dropped_layouts);
    tcase_add_test(tests, gpu_types_that_are_known);
    tcase_add_test(tests, fields_of_a_checkpoint_profile);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
