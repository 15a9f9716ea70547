/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Without a case file: 16 hours of LLaMA-13B training on up to 256 GPUs, placed where a day's
 * energy is cheap. */
#include <ckptdispatch.h>
#include <stdio.h>

#define TRY(call)                                                        \
    do {                                                                 \
        if ((call) != CKPD_OK) {                                         \
            fprintf(stderr, "%s\n", ckpd_context_last_message(context)); \
            return 1;                                                    \
        }                                                                \
    } while (0)

int main(void)
{
    const double price[24] = {31, 29, 28, 28, 30, 36, 44, 52, 47, 33, 21, 14,
                              12, 12, 15, 22, 35, 58, 79, 84, 71, 55, 43, 36};
    ckpd_context *context = NULL;
    if (ckpd_context_new(&context, NULL) != CKPD_OK)
        return 1;

    ckpd_site *site = NULL;
    TRY(ckpd_site_new(&site, context, 24, 1.0));
    TRY(ckpd_site_set_series(site, "import_price_per_mwh", price, 24));
    TRY(ckpd_site_set_constant(site, "gpu_cap", 256));
    TRY(ckpd_site_set_constant(site, "pue", 1.2));

    ckpd_task *task = NULL;
    TRY(ckpd_task_new(&task, context, "llama"));
    TRY(ckpd_task_set_model(task, "llama-13b"));
    TRY(ckpd_task_set(task, "batch_sequences", 512));
    TRY(ckpd_task_set(task, "baseline_gpus", 128));
    TRY(ckpd_task_set(task, "tranche_baseline_hours", 16));
    TRY(ckpd_task_set(task, "segments", 8));

    ckpd_hardware *gpu = NULL;
    ckpd_mode_rules *rules = NULL;
    ckpd_mode_set *modes = NULL;
    TRY(ckpd_hardware_new(&gpu, context, "a100-80gb"));
    TRY(ckpd_mode_rules_new(&rules, context));
    TRY(ckpd_mode_rules_set(rules, "installed_gpus", 256));
    TRY(ckpd_mode_set_build(&modes, context, task, gpu, rules));

    ckpd_graph *graph = NULL;
    ckpd_problem *problem = NULL;
    ckpd_solution *fixed = NULL, *free_to_wait = NULL;
    TRY(ckpd_graph_build(&graph, context, task, modes, 24, 1.0, NULL));
    TRY(ckpd_problem_new(&problem, context, site));
    TRY(ckpd_problem_add_job(problem, graph));
    TRY(ckpd_problem_solve(&fixed, problem, CKPD_SCENARIO_S1, NULL));
    TRY(ckpd_problem_solve(&free_to_wait, problem, CKPD_SCENARIO_S4, NULL));

    const ckpd_plan *plan = ckpd_solution_plan(free_to_wait);
    for (int32_t i = 0; i < ckpd_plan_step_count(plan, 0); i++) {
        ckpd_step step = {.size = sizeof step};
        TRY(ckpd_plan_get_step(plan, 0, i, &step));
        printf("%02d:00-%02d:00  %3d GPUs  %s\n", step.from_slot, step.to_slot, step.gpus,
               ckpd_mode_set_label(modes, step.mode));
    }
    printf("cost %.2f, %.2f when training without a pause from midnight\n",
           ckpd_solution_cost(free_to_wait), ckpd_solution_cost(fixed));

    ckpd_solution_free(fixed);
    ckpd_solution_free(free_to_wait);
    ckpd_problem_free(problem);
    ckpd_graph_free(graph);
    ckpd_mode_set_free(modes);
    ckpd_mode_rules_free(rules);
    ckpd_hardware_free(gpu);
    ckpd_task_free(task);
    ckpd_site_free(site);
    ckpd_context_free(context);
    return 0;
}
