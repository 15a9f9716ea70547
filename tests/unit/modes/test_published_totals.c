/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Metered power of a published run, and published totals, against predictions without any anchor on
 * them. */
#include "support/published.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ckpd_context *context;

/*
 * GPT-3 175B on 64 nodes of 8 H100, tp 4, pp 8, dp 16, 10.64 s an iteration (MLPerf Training v4.0):
 * mean node power of the training phase from its two-second trace. The preset's idle and busy power
 * come from other runs of these nodes (one node, and idling), the layout and its iteration time are
 * given.
 */
START_TEST(power_of_512_h100)
{
    const char *path =
        test_shared_path("data/published/mlperf-v4.0-smc-gpt3-175b-512xH100-tp4pp8dp16-fp8.csv");
    if (path == NULL) {
        return;
    }
    char *text = test_read_file(path, NULL), *at = text, *line, *cell[6];
    double sum = 0, samples = 0;
    published_line(&at);
    while ((line = published_line(&at)) != NULL) {
        if (published_cells(line, cell, 6) == 6 && strcmp(cell[5], "train") == 0) {
            sum += published_number(cell[1]) / 1000;
            samples++;
        }
    }
    free(text);
    ck_assert_double_gt(samples, 1000);
    ckpd_task *task = NULL;
    ckpd_hardware *hardware = NULL;
    ckpd_anchor *anchor = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_task_new(&task, context, "mlperf"), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set_model(task, "gpt3-175b"), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "batch_sequences", 2048), CKPD_OK);
    ck_assert_int_eq(ckpd_hardware_new(&hardware, context, "h100-80gb"), CKPD_OK);
    ck_assert_int_eq(ckpd_hardware_set_text(hardware, "precision", "fp8"), CKPD_OK);
    ck_assert_int_eq(ckpd_anchor_new(&anchor, context, hardware, NULL), CKPD_OK);
    ckpd_run run = {.size = sizeof run,
                    .tp = 4,
                    .pp = 8,
                    .dp = 16,
                    .micro_batch = 2,
                    .interleave = 12,
                    .recompute = CKPD_RECOMPUTE_NONE,
                    .iteration_s = 10.6365};
    ckpd_mode mode = {.size = sizeof mode};
    ck_assert_int_eq(ckpd_anchor_add(anchor, task, &run), CKPD_OK);
    ck_assert_int_eq(ckpd_anchor_fit(anchor, CKPD_FIT_EFFICIENCY, hardware, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_anchor_mode(anchor, 0, &mode), CKPD_OK);
    double node = mode.power_kw / 64, metered = sum / samples;
    printf("node: predicted %.3f kW, metered %.3f kW\n", node, metered);
    fflush(stdout);
    ck_assert_int_eq(mode.flags & CKPD_MODE_TDP_POWER, 0);
    ck_assert_double_le(fabs(node / metered - 1), 0.05);
    ckpd_anchor_free(anchor);
    ckpd_hardware_free(hardware);
    ckpd_task_free(task);
    ckpd_context_free(context);
}
END_TEST

/* LLaMA-65B on 2048 A100: "around 380 tokens/sec/GPU" (Touvron et al. 2023, section 2.4). */
START_TEST(llama_65b_rate)
{
    ckpd_task *task = NULL;
    ckpd_hardware *hardware = NULL;
    ckpd_mode_rules *rules = NULL;
    ckpd_mode_set *set = NULL;
    const int32_t interleave[] = {1, 2, 4};
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_task_new(&task, context, "llama"), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set_model(task, "llama-65b"), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "tranche_share", 0.01), CKPD_OK);
    ck_assert_int_eq(ckpd_hardware_new(&hardware, context, "a100-80gb"), CKPD_OK);
    ck_assert_int_eq(ckpd_hardware_set(hardware, "flash_attention", 1), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_rules_new(&rules, context), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_rules_set(rules, "installed_gpus", 2048), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_rules_set(rules, "minimum_gpus", 2048), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_rules_set_list(rules, "interleave", 3, interleave), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_set_build(&set, context, task, hardware, rules), CKPD_OK);
    double best = 0, band = 0;
    for (int32_t i = 0; i < ckpd_mode_set_count(set); i++) {
        ckpd_mode mode = {.size = sizeof mode};
        ck_assert_int_eq(ckpd_mode_set_get(set, i, &mode), CKPD_OK);
        if (mode.rate / mode.gpus > best) {
            best = mode.rate / mode.gpus;
            band = mode.rate_error;
        }
    }
    printf("LLaMA-65B on 2048 A100: %.0f tokens/s a GPU, published about 380\n", best);
    fflush(stdout);
    ck_assert_double_le(fabs(best / 380 - 1), band);
    ckpd_mode_set_free(set);
    ckpd_mode_rules_free(rules);
    ckpd_hardware_free(hardware);
    ckpd_task_free(task);
    ckpd_context_free(context);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {power_of_512_h100, llama_65b_rate, NULL};
    return test_run(test_suite("published totals", tests));
}
