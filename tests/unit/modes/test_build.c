/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Building sets: dominance against a brute-force check, dropped layouts, calibration, bad input. */
#include "support/support.h"

#include <ckptdispatch/modes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static ckpd_context *context;
static ckpd_task *task;
static ckpd_hardware *hardware;
static ckpd_mode_rules *rules;
static ckpd_mode_set *set;

static void start(const char *model, double installed)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_task_new(&task, context, "job"), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set_model(task, model), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "tranche_tokens", 1e9), CKPD_OK);
    ck_assert_int_eq(ckpd_hardware_new(&hardware, context, "a100-80gb"), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_rules_new(&rules, context), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_rules_set(rules, "installed_gpus", installed), CKPD_OK);
    set = NULL;
}

static void stop(void)
{
    ckpd_mode_set_free(set);
    ckpd_mode_rules_free(rules);
    ckpd_hardware_free(hardware);
    ckpd_task_free(task);
    ckpd_context_free(context);
}

static int32_t build(void)
{
    ckpd_mode_set_free(set);
    set = NULL;
    return ckpd_mode_set_build(&set, context, task, hardware, rules);
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

static ckpd_mode get(int32_t index)
{
    ckpd_mode mode = {.size = sizeof mode};
    ck_assert_int_eq(ckpd_mode_set_get(set, index, &mode), CKPD_OK);
    return mode;
}

static bool dominates(const ckpd_mode *a, const ckpd_mode *b)
{
    return a->gpus <= b->gpus && a->power_kw <= b->power_kw && a->rate >= b->rate &&
           (a->gpus < b->gpus || a->power_kw < b->power_kw || a->rate > b->rate);
}

/* `flat`: every active GPU draws the same, so that many modes are equal in power. */
static void expect_dominance(bool flat)
{
    start("llama-33b", 1024);
    if (flat) {
        ck_assert_int_eq(ckpd_hardware_set(hardware, "idle_kw", 0.4), CKPD_OK);
        ck_assert_int_eq(ckpd_hardware_set(hardware, "busy_kw", 0.4), CKPD_OK);
    }
    ck_assert_int_eq(ckpd_mode_rules_set(rules, "keep_dominated", 1), CKPD_OK);
    ck_assert_int_eq(build(), CKPD_OK);
    int32_t all = ckpd_mode_set_count(set), wanted = 0;
    ckpd_mode *modes = calloc((size_t)all, sizeof *modes);
    for (int32_t i = 0; i < all; i++) {
        modes[i] = get(i);
        ck_assert_int_ge(modes[i].gpus, i > 0 ? modes[i - 1].gpus : 1);
    }
    bool *kept = calloc((size_t)all, sizeof *kept);
    for (int32_t i = 0; i < all; i++) {
        kept[i] = true;
        for (int32_t k = 0; k < all && kept[i]; k++) {
            bool equal = modes[k].gpus == modes[i].gpus && modes[k].power_kw == modes[i].power_kw &&
                         modes[k].rate == modes[i].rate;
            kept[i] = !dominates(&modes[k], &modes[i]) && !(equal && k < i);
        }
        wanted += kept[i];
    }
    ck_assert_int_eq(ckpd_mode_rules_set(rules, "keep_dominated", 0), CKPD_OK);
    ck_assert_int_eq(build(), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_set_count(set), wanted);
    ck_assert_int_eq(ckpd_mode_set_feasible_count(set), all);
    for (int32_t i = 0, at = 0; i < all; i++) {
        if (kept[i]) {
            ckpd_mode mode = get(at++);
            ck_assert_int_eq(memcmp(&mode, &modes[i], sizeof mode), 0);
        }
    }
    ck_assert_int_gt(wanted, 5);
    ck_assert_int_lt(wanted, all);
    free(modes);
    free(kept);
    stop();
}

START_TEST(pruning_is_dominance)
{
    expect_dominance(false);
    expect_dominance(true);
}
END_TEST

START_TEST(every_layout_is_accounted_for)
{
    start("llama-33b", 512); /* 52 heads: no tp 8 */
    ck_assert_int_eq(build(), CKPD_OK);
    int32_t reasons[16] = {0}, count = ckpd_mode_set_dropped_count(set);
    for (int32_t i = 0; i < count; i++) {
        int32_t reason = 0;
        char text[128];
        ckpd_mode mode = {.size = sizeof mode};
        ck_assert_int_eq(ckpd_mode_set_dropped_get(set, i, &mode, &reason, text, sizeof text),
                         CKPD_OK);
        ck_assert(reason > 0 && reason < 16 && text[0] != '\0');
        reasons[reason]++;
        if (reason == CKPD_DROP_TENSOR) {
            ck_assert_int_eq(mode.tp, 8);
            ck_assert_str_eq(text,
                             "tp 8 does not fit 52 heads, 52 kv heads, hidden 6656, ffn 17920");
        } else if (reason == CKPD_DROP_MEMORY) {
            ck_assert_double_lt(mode.margin_bytes, 0);
        } else if (reason == CKPD_DROP_DOMINATED) {
            ck_assert_ptr_nonnull(strstr(text, "dominated by tp"));
        }
    }
    ck_assert_int_eq(reasons[CKPD_DROP_TENSOR], 1);
    ck_assert_int_gt(reasons[CKPD_DROP_MEMORY], 0);
    ck_assert_int_gt(reasons[CKPD_DROP_DOMINATED], 0);
    ck_assert_int_gt(reasons[CKPD_DROP_MANY_GPUS], 0);
    ck_assert_int_gt(reasons[CKPD_DROP_FILL], 0);
    ck_assert_int_eq(ckpd_mode_set_count(set) + count, ckpd_mode_set_layout_count(set));
    ck_assert_int_eq(ckpd_mode_set_dropped_get(set, count, NULL, NULL, NULL, 0), CKPD_ERR_ARGUMENT);
    stop();
}
END_TEST

START_TEST(same_input_same_set)
{
    start("llama-65b", 2048);
    ck_assert_int_eq(build(), CKPD_OK);
    ckpd_mode_set *first = set;
    set = NULL;
    ck_assert_int_eq(build(), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_set_count(first), ckpd_mode_set_count(set));
    for (int32_t i = 0; i < ckpd_mode_set_count(set); i++) {
        ckpd_mode a = {.size = sizeof a}, b = get(i);
        ck_assert_int_eq(ckpd_mode_set_get(first, i, &a), CKPD_OK);
        ck_assert_int_eq(memcmp(&a, &b, sizeof a), 0);
        ck_assert_str_eq(ckpd_mode_set_label(first, i), ckpd_mode_set_label(set, i));
        ck_assert_double_eq_tol(b.compute_s + b.tp_s + b.pp_s + b.dp_s + b.bubble_s, b.iteration_s,
                                1e-9);
        ck_assert_double_eq_tol(b.states_bytes + b.activations_bytes + b.working_bytes +
                                    b.overhead_bytes,
                                b.memory_bytes, 1);
        ck_assert_double_eq_tol(b.joule_per_token, b.power_kw * 1000 / b.rate, 1e-9);
        ck_assert_double_ge(b.margin_bytes, 0);
        ck_assert(b.busy_fraction > 0 && b.busy_fraction <= 1);
    }
    ckpd_mode_set_free(first);
    stop();
}
END_TEST

/* LLaMA-65B's published run: 1.4e12 tokens in 1,022,362 A100-hours is 380.4 tokens/s a GPU. */
START_TEST(published_hours_calibrate)
{
    start("llama-65b", 2048);
    ck_assert_int_eq(ckpd_task_set_reference(task, "llama-65b"), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "reference_tp", 8), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "reference_pp", 4), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "reference_dp", 64), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "baseline_tp", 8), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "baseline_pp", 4), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "baseline_dp", 64), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "baseline_micro_batch", 1), CKPD_OK);
    ck_assert_msg(build() == CKPD_OK, "%s", ckpd_context_last_message(context));
    ckpd_mode mode = get(ckpd_mode_set_baseline(set));
    ck_assert_double_eq_tol(mode.rate / 2048, 1.4e12 / 3600 / 1022362, 1e-3);
    ckpd_workload w = {.size = sizeof w};
    ck_assert_int_eq(ckpd_mode_set_workload(set, &w), CKPD_OK);
    ck_assert_double_eq_tol(w.calibration, w.efficiency / 0.75, 1e-12);
    ck_assert_double_eq_tol(w.checkpoint_interval_min, 1e9 / 12 / mode.rate / 60, 1e-9);
    /* Without a layout: the median kept mode at the stated 2048 GPUs meets the published rate. */
    for (int32_t i = 0; i < 3; i++) {
        static const char *const names[] = {"reference_tp", "reference_pp", "reference_dp"};
        ck_assert_int_eq(ckpd_task_unset(task, names[i]), CKPD_OK);
    }
    ck_assert_int_eq(build(), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "reference_gpu_hours", 1e5), CKPD_OK);
    expect(build(), CKPD_ERR_INCONSISTENT, "reference_gpu_hours",
           "which no legal layout on a100-80gb explains");
    ck_assert_int_eq(ckpd_task_set(task, "reference_gpu_hours", 1022362), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "reference_gpus", 2047), CKPD_OK);
    expect(build(), CKPD_ERR_INCONSISTENT, "reference_gpus",
           "no legal layout explains the reference run on 2047");
    stop();
}
END_TEST

/* A run on another GPU scales that GPU's default: the same calibration on the GPU itself and on an
 * H100. */
START_TEST(reference_on_another_gpu)
{
    start("llama-65b", 2048);
    ckpd_workload own = {.size = sizeof own}, other = {.size = sizeof other};
    ck_assert_int_eq(ckpd_task_set_reference(task, "llama-65b"), CKPD_OK);
    ck_assert_msg(build() == CKPD_OK, "%s", ckpd_context_last_message(context));
    ck_assert_int_eq(ckpd_mode_set_workload(set, &own), CKPD_OK);
    ckpd_hardware_free(hardware);
    ck_assert_int_eq(ckpd_hardware_new(&hardware, context, "h100-80gb"), CKPD_OK);
    ck_assert_msg(build() == CKPD_OK, "%s", ckpd_context_last_message(context));
    ck_assert_int_eq(ckpd_mode_set_workload(set, &other), CKPD_OK);
    ck_assert_double_eq_tol(other.calibration, own.calibration, 1e-9);
    double h100 = 0;
    ck_assert_int_eq(ckpd_hardware_get(hardware, "efficiency", &h100), CKPD_OK);
    ck_assert_double_eq_tol(other.efficiency, own.calibration * h100, 1e-9);
    ck_assert_double_eq(get(0).rate_error, 0.1);
    stop();
}
END_TEST

START_TEST(bad_input)
{
    start("llama-65b", 2048);
    ckpd_hardware *none = NULL;
    expect(ckpd_hardware_new(&none, context, "a100-80"), CKPD_ERR_UNKNOWN_NAME, "gpu",
           "did you mean 'a100-80gb'");
    expect(ckpd_hardware_set(hardware, "nvlink_gb_per_s", 0), CKPD_ERR_RANGE, "nvlink_gb_per_s",
           "nvlink_gb_per_s = 0 is below");
    expect(ckpd_hardware_set(hardware, "network_gb_per_s", -25), CKPD_ERR_RANGE, "network_gb_per_s",
           "network_gb_per_s = -25 is below");
    expect(ckpd_hardware_set(hardware, "network_gb_s", 25), CKPD_ERR_UNKNOWN_NAME, "network_gb_s",
           "did you mean 'network_gb_per_s'");
    const int32_t twice[] = {2, 4, 2}, negative[] = {1, -2}, recompute[] = {3};
    expect(ckpd_mode_rules_set_list(rules, "tp", 3, twice), CKPD_ERR_DUPLICATE, "tp",
           "tp[2] = 2 is given twice");
    expect(ckpd_mode_rules_set_list(rules, "dp", 2, negative), CKPD_ERR_RANGE, "dp", "dp[1] = -2");
    expect(ckpd_mode_rules_set_list(rules, "recompute", 1, recompute), CKPD_ERR_RANGE, "recompute",
           "recompute[0] = 3");
    expect(ckpd_mode_rules_set_list(rules, "micro_batches", 1, twice), CKPD_ERR_UNKNOWN_NAME,
           "micro_batches", "did you mean 'micro_batch'");
    expect(ckpd_mode_rules_set_list(rules, "tp", 65, twice), CKPD_ERR_LENGTH, "tp", "65 values");
    ck_assert_int_eq(ckpd_hardware_set(hardware, "memory_gb", 8), CKPD_OK);
    expect(build(), CKPD_ERR_NO_MODE, "memory_gb", "GB over the usable 8 GB");
    ck_assert_int_eq(ckpd_hardware_unset(hardware, "memory_gb"), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_rules_set(rules, "minimum_gpus", 1e6), CKPD_OK);
    expect(build(), CKPD_ERR_NO_MODE, "minimum_gpus", "fewer GPUs than the minimum");
    ck_assert_int_eq(ckpd_mode_rules_unset(rules, "minimum_gpus"), CKPD_OK);
    const int32_t seven[] = {7}, three[] = {3};
    ck_assert_int_eq(ckpd_mode_rules_set_list(rules, "pp", 1, seven), CKPD_OK);
    expect(build(), CKPD_ERR_NO_MODE, "pp",
           "like this one: pp 7 x interleave 1 does not fit 80 layers and the batch (but would");
    ck_assert_int_eq(ckpd_mode_rules_set_list(rules, "pp", 0, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_rules_set_list(rules, "dp", 1, three), CKPD_OK);
    expect(build(), CKPD_ERR_NO_MODE, "dp", "3 x micro-batch 1 gives");
    ck_assert_int_eq(ckpd_mode_rules_set_list(rules, "dp", 0, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "baseline_gpus", 8), CKPD_OK);
    expect(build(), CKPD_ERR_NO_MODE, "baseline_gpus", "GB of memory are missing");
    ck_assert_int_eq(ckpd_task_unset(task, "baseline_gpus"), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "running_mode", 500), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "running_slots_done", 0), CKPD_OK);
    expect(build(), CKPD_ERR_RANGE, "running_mode", "running_mode = 500, but the set has");
    ck_assert_int_eq(ckpd_mode_rules_unset(rules, "installed_gpus"), CKPD_OK);
    expect(build(), CKPD_ERR_MISSING, "installed_gpus", "installed_gpus is missing");
    stop();
}
END_TEST

START_TEST(lists_round_trip)
{
    start("llama-65b", 2048);
    const int32_t given[] = {8, 2, 4};
    int32_t back[4] = {0}, count = -1;
    ck_assert_int_eq(ckpd_mode_rules_get_list(rules, "tp", 4, back, &count), CKPD_OK);
    ck_assert_int_eq(count, 0);
    ck_assert_int_eq(ckpd_mode_rules_set_list(rules, "tp", 3, given), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_rules_get_list(rules, "tp", 4, back, &count), CKPD_OK);
    ck_assert_int_eq(count, 3);
    ck_assert(back[0] == 2 && back[1] == 4 && back[2] == 8);
    ck_assert_int_eq(ckpd_mode_rules_get_list(rules, "tp", 2, back, &count), CKPD_ERR_BUFFER);
    ck_assert_int_eq(ckpd_mode_rules_set_list(rules, "tp", 0, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_rules_get_list(rules, "tp", 0, NULL, &count), CKPD_OK);
    ck_assert_int_eq(count, 0);
    for (int32_t i = 0; i < ckpd_mode_rules_list_count(); i++) {
        ck_assert_ptr_nonnull(ckpd_mode_rules_list_name(i));
    }
    ck_assert_ptr_null(ckpd_mode_rules_list_name(-1));
    stop();
}
END_TEST

/* Mixtral with experts spread: states shrink, and what no published row fits is marked so. */
START_TEST(experts_and_context)
{
    start("mixtral-8x7b", 64);
    ck_assert_int_eq(ckpd_task_set(task, "batch_sequences", 256), CKPD_OK);
    const int32_t ep[] = {1, 2, 4, 8, 3}, cp[] = {1, 2};
    ck_assert_int_eq(ckpd_mode_rules_set_list(rules, "ep", 5, ep), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_rules_set_list(rules, "cp", 2, cp), CKPD_OK);
    ck_assert_msg(build() == CKPD_OK, "%s", ckpd_context_last_message(context));
    for (int32_t i = 0; i < ckpd_mode_set_count(set); i++) {
        ckpd_mode mode = get(i);
        ck_assert_int_ne(mode.flags & CKPD_MODE_UNVALIDATED, 0);
        ck_assert_int_ne(mode.ep, 3);
    }
    ckpd_layout layout = {sizeof layout, 4, 1, 8, 1, 1, 1, 1, CKPD_RECOMPUTE_FULL};
    ckpd_mode whole = {.size = sizeof whole}, spread = {.size = sizeof spread};
    ck_assert_int_eq(ckpd_mode_evaluate(task, hardware, &layout, &whole), CKPD_OK);
    layout.ep = 8;
    ck_assert_int_eq(ckpd_mode_evaluate(task, hardware, &layout, &spread), CKPD_OK);
    ck_assert_double_lt(spread.states_bytes, whole.states_bytes / 4);
    layout.cp = 2;
    layout.dp = 4;
    ck_assert_int_eq(ckpd_mode_evaluate(task, hardware, &layout, &spread), CKPD_OK);
    ck_assert_int_eq(spread.gpus, 32);
    ck_assert_double_lt(spread.activations_bytes, whole.activations_bytes);
    layout.recompute = 7;
    ck_assert_int_eq(ckpd_mode_evaluate(task, hardware, &layout, &spread), CKPD_ERR_RANGE);
    layout.recompute = 0;
    layout.dp = 7;
    ck_assert_int_eq(ckpd_mode_evaluate(task, hardware, &layout, &spread), CKPD_ERR_INCONSISTENT);
    layout.dp = 4;
    layout.pp = 99;
    ck_assert_int_eq(ckpd_mode_evaluate(task, hardware, &layout, &spread), CKPD_ERR_INCONSISTENT);
    stop();
}
END_TEST

/* Head widths that are no multiple of 8 cost the attention its tensor cores, and are flagged. */
START_TEST(misaligned_heads)
{
    start("bloom-176b", 384);
    ckpd_layout layout = {sizeof layout, 4, 12, 8, 2, 1, 1, 1, CKPD_RECOMPUTE_FULL};
    ckpd_mode good = {.size = sizeof good}, bad = {.size = sizeof bad};
    ck_assert_int_eq(ckpd_mode_evaluate(task, hardware, &layout, &good), CKPD_OK);
    ck_assert_int_eq(good.flags & CKPD_MODE_MISALIGNED, 0);
    ck_assert_int_eq(ckpd_task_unset(task, "parameters"), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "hidden", 13824), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "ffn", 55296), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "heads", 128), CKPD_OK); /* 108 wide */
    ck_assert_int_eq(ckpd_task_set(task, "kv_heads", 128), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_evaluate(task, hardware, &layout, &bad), CKPD_OK);
    ck_assert_int_ne(bad.flags & CKPD_MODE_MISALIGNED, 0);
    ck_assert_int_eq(ckpd_task_set(task, "heads", 64), CKPD_OK); /* 216 wide */
    ck_assert_int_eq(ckpd_task_set(task, "kv_heads", 64), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_evaluate(task, hardware, &layout, &good), CKPD_OK);
    ck_assert_int_eq(good.flags & CKPD_MODE_MISALIGNED, 0);
    ck_assert_double_gt(bad.iteration_s, 1.2 * good.iteration_s);
    stop();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {pruning_is_dominance,     every_layout_is_accounted_for,
                                  same_input_same_set,      published_hours_calibrate,
                                  reference_on_another_gpu, bad_input,
                                  lists_round_trip,         experts_and_context,
                                  misaligned_heads,         NULL};
    return test_run(test_suite("mode sets", tests));
}
