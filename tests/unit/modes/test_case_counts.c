/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The case of docs/model.md ("the paper's case"): under its stated settings the paper's counts of
 * feasible configurations, 135 and 111, come out exactly. The settings and counts are the paper's
 * reconstruction, not our output.
 */
#include "support/support.h"

#include <ckptdispatch/modes.h>
#include <stdio.h>

static void set(ckpd_task *task, const char *field, double value)
{
    ck_assert_int_eq(ckpd_task_set(task, field, value), CKPD_OK);
}

static ckpd_mode_set *build(ckpd_context *context, const char *model, double parameters,
                            double baseline)
{
    ckpd_task *task = NULL;
    ckpd_hardware *hardware = NULL;
    ckpd_mode_rules *rules = NULL;
    ckpd_mode_set *modes = NULL;
    ck_assert_int_eq(ckpd_task_new(&task, context, model), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set_model(task, model), CKPD_OK);
    set(task, "parameters", parameters);
    set(task, "batch_sequences", 512);
    set(task, "tranche_baseline_hours", 24);
    set(task, "baseline_gpus", baseline);
    ck_assert_int_eq(ckpd_hardware_new(&hardware, context, "a100-80gb"), CKPD_OK);
    const struct {
        const char *name;
        double value;
    } fields[] = {{"node_gpus", 16},   {"memory_factor", 1},   {"memory_offset_gb", 4},
                  {"logits_bytes", 0}, {"flash_attention", 1}, {"idle_kw", 0.4},
                  {"busy_kw", 0.4}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        ck_assert_int_eq(ckpd_hardware_set(hardware, fields[i].name, fields[i].value), CKPD_OK);
    }
    ck_assert_int_eq(ckpd_hardware_set_text(hardware, "sharding", "none"), CKPD_OK);
    ck_assert_int_eq(ckpd_hardware_set_text(hardware, "state_split", "even"), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_rules_new(&rules, context), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_rules_set(rules, "installed_gpus", 2048), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_rules_set(rules, "minimum_gpus", 64), CKPD_OK);
    const int32_t micro_batch = 1, recompute = CKPD_RECOMPUTE_FULL;
    ck_assert_int_eq(ckpd_mode_rules_set_list(rules, "micro_batch", 1, &micro_batch), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_rules_set_list(rules, "recompute", 1, &recompute), CKPD_OK);
    int32_t status = ckpd_mode_set_build(&modes, context, task, hardware, rules);
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
    ckpd_task_free(task);
    ckpd_hardware_free(hardware);
    ckpd_mode_rules_free(rules);
    return modes;
}

static void check(const char *model, double parameters, double baseline, int32_t feasible,
                  int32_t published)
{
    ckpd_context *context = NULL;
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ckpd_mode_set *modes = build(context, model, parameters, baseline);
    ckpd_workload work = {.size = sizeof work};
    ck_assert_int_eq(ckpd_mode_set_workload(modes, &work), CKPD_OK);
    printf("%s: %d feasible, %d retained (paper: %d), efficiency %.3f\n", model,
           ckpd_mode_set_feasible_count(modes), ckpd_mode_set_count(modes), published,
           work.efficiency);
    ck_assert_int_eq(ckpd_mode_set_feasible_count(modes), feasible);
    int32_t base = ckpd_mode_set_baseline(modes);
    ckpd_mode mode = {.size = sizeof mode};
    ck_assert_int_eq(ckpd_mode_set_get(modes, base, &mode), CKPD_OK);
    ck_assert_int_eq(mode.gpus, (int32_t)baseline);
    ck_assert_double_eq_tol(mode.power_kw, 0.4 * baseline, 1e-9);
    ck_assert_double_eq_tol(ckpd_mode_set_work(modes), mode.rate * 86400, 1e-3);
    ckpd_mode_set_free(modes);
    ckpd_context_free(context);
}

START_TEST(llama_65b)
{
    check("llama-65b", 65.2e9, 512, 135, 12);
}
END_TEST

START_TEST(llama_33b)
{
    check("llama-33b", 32.5e9, 768, 111, 21);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {llama_65b, llama_33b, NULL};
    return test_run(test_suite("case counts", tests));
}
