/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support/sweep.h"

#include <ckptdispatch/modes.h>
#include <ckptdispatch/task.h>

static void task_fields(sweep_memory *memory, ckpd_context *context)
{
    ckpd_task *task = NULL;
    double layers = 0;
    SWEEP(ckpd_task_new(&task, context, "LLM-A"));
    SWEEP(ckpd_task_set_model(task, "llama-65b"));
    SWEEP(ckpd_task_set_reference(task, "llama-65b"));
    SWEEP(ckpd_task_set(task, "tranche_baseline_hours", 14));
    SWEEP(ckpd_task_get(task, "layers", &layers));
    ck_assert_double_eq(layers, 80);
    ckpd_task_free(task);
}

/* LLaMA-65B on A100: the layouts, their screening, the calibration and the pruning. */
static void enumerated(sweep_memory *memory, ckpd_context *context)
{
    ckpd_task *task = NULL;
    ckpd_hardware *hardware = NULL;
    ckpd_mode_rules *rules = NULL;
    ckpd_mode_set *modes = NULL;
    static const int32_t dp[] = {8, 16, 32};
    SWEEP(ckpd_task_new(&task, context, "LLM-A"));
    SWEEP(ckpd_task_set_model(task, "llama-65b"));
    SWEEP(ckpd_task_set(task, "tranche_baseline_hours", 14));
    SWEEP(ckpd_task_set(task, "baseline_gpus", 1024));
    SWEEP(ckpd_hardware_new(&hardware, context, "a100-80gb"));
    SWEEP(ckpd_mode_rules_new(&rules, context));
    SWEEP(ckpd_mode_rules_set(rules, "installed_gpus", 2048));
    SWEEP(ckpd_mode_rules_set_list(rules, "dp", 3, dp));
    SWEEP(ckpd_mode_set_build(&modes, context, task, hardware, rules));
    ck_assert_int_gt(ckpd_mode_set_count(modes), 0);
    ck_assert_int_ge(ckpd_mode_set_feasible_count(modes), ckpd_mode_set_count(modes));
    ckpd_mode_set_free(modes);
    ckpd_mode_rules_free(rules);
    ckpd_hardware_free(hardware);
    ckpd_task_free(task);
}

static void from_table(sweep_memory *memory, ckpd_context *context)
{
    static const int32_t gpus[] = {512, 1024, 1024};
    static const double rate[] = {1, 1.9, 1.7};
    static const double power_kw[] = {200, 390, 380};
    static const char *const labels[] = {"half", "full", NULL};
    const ckpd_mode_table table = {.size = sizeof table,
                                   .count = 3,
                                   .installed_gpus = 2048,
                                   .gpus = gpus,
                                   .rate = rate,
                                   .power_kw = power_kw,
                                   .labels = labels,
                                   .baseline_index = 1,
                                   .keep_dominated = 1};
    ckpd_task *task = NULL;
    ckpd_mode_set *modes = NULL;
    SWEEP(ckpd_task_new(&task, context, "measured"));
    SWEEP(ckpd_task_set(task, "tranche_baseline_hours", 14));
    SWEEP(ckpd_mode_set_from_table(&modes, context, task, &table));
    ck_assert_int_eq(ckpd_mode_set_count(modes), 3);
    ck_assert_double_eq_tol(ckpd_mode_set_work(modes), 14 * 3600 * 1.9, 1e-6);
    ckpd_mode_set_free(modes);
    ckpd_task_free(task);
}

/* Runs with a layout that is searched, a fit, and costs of checkpoints in the modes that come out.
 */
static void anchored(sweep_memory *memory, ckpd_context *context)
{
    static const int32_t dp[] = {16, 32};
    ckpd_run run = {.size = sizeof run, .recompute = -1, .gpus = 1024, .tokens_per_s = 350000};
    ckpd_task *task = NULL;
    ckpd_hardware *hardware = NULL;
    ckpd_mode_rules *rules = NULL;
    ckpd_anchor *anchor = NULL;
    ckpd_mode_set *modes = NULL;
    ckpd_checkpoint *checkpoint = NULL;
    ckpd_checkpoint_cost cost = {.size = sizeof cost};
    SWEEP(ckpd_task_new(&task, context, "LLM-A"));
    SWEEP(ckpd_task_set_model(task, "llama-65b"));
    SWEEP(ckpd_task_set(task, "tranche_share", 0.01));
    SWEEP(ckpd_hardware_new(&hardware, context, "a100-80gb"));
    SWEEP(ckpd_mode_rules_new(&rules, context));
    SWEEP(ckpd_mode_rules_set(rules, "installed_gpus", 1024));
    SWEEP(ckpd_mode_rules_set_list(rules, "dp", 2, dp));
    SWEEP(ckpd_anchor_new(&anchor, context, hardware, rules));
    SWEEP(ckpd_anchor_add(anchor, task, &run));
    ck_assert_int_eq(ckpd_anchor_count(anchor), 1);
    SWEEP(ckpd_anchor_fit(anchor, CKPD_FIT_EFFICIENCY, hardware, NULL));
    SWEEP(ckpd_mode_set_build(&modes, context, task, hardware, rules));
    SWEEP(ckpd_checkpoint_new(&checkpoint, context));
    SWEEP(ckpd_checkpoint_evaluate(checkpoint, modes, 0, 0, &cost));
    ck_assert_double_gt(cost.stall_s, 0);
    ckpd_checkpoint_free(checkpoint);
    ckpd_mode_set_free(modes);
    ckpd_anchor_free(anchor);
    ckpd_mode_rules_free(rules);
    ckpd_hardware_free(hardware);
    ckpd_task_free(task);
}

/* Published hours of a run on 2048 GPUs of unknown layout: those of every legal one, searched. */
static void calibrated(sweep_memory *memory, ckpd_context *context)
{
    ckpd_task *task = NULL;
    ckpd_hardware *hardware = NULL;
    ckpd_mode_rules *rules = NULL;
    ckpd_mode_set *modes = NULL;
    ckpd_workload workload = {.size = sizeof workload};
    SWEEP(ckpd_task_new(&task, context, "LLM-A"));
    SWEEP(ckpd_task_set_model(task, "llama-65b"));
    SWEEP(ckpd_task_set_reference(task, "llama-65b"));
    SWEEP(ckpd_task_unset(task, "reference_tp"));
    SWEEP(ckpd_task_unset(task, "reference_pp"));
    SWEEP(ckpd_task_unset(task, "reference_dp"));
    SWEEP(ckpd_task_set(task, "tranche_share", 0.01));
    SWEEP(ckpd_hardware_new(&hardware, context, "a100-80gb"));
    SWEEP(ckpd_mode_rules_new(&rules, context));
    SWEEP(ckpd_mode_rules_set(rules, "installed_gpus", 2048));
    SWEEP(ckpd_mode_set_build(&modes, context, task, hardware, rules));
    SWEEP(ckpd_mode_set_workload(modes, &workload));
    ck_assert_double_gt(workload.calibration, 0.5);
    ckpd_mode_set_free(modes);
    ckpd_mode_rules_free(rules);
    ckpd_hardware_free(hardware);
    ckpd_task_free(task);
}

int main(void)
{
    static const sweep_scenario scenarios[] = {
        {"task", task_fields},
        {"enumerated modes", enumerated},
        {"table of modes", from_table},
        {"anchored modes", anchored},
        {"calibrated modes", calibrated},
    };
    return sweep_main("task and modes", scenarios,
                      (int32_t)(sizeof scenarios / sizeof scenarios[0]));
}
