/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A first program: reads a case, plans the day, prints who runs when and what it costs. */
#include <ckptdispatch.h>
#include <stdio.h>

static int failed(const ckpd_context *context)
{
    fprintf(stderr, "%s\n", ckpd_context_last_message(context));
    return 1;
}

int main(int count, char **words)
{
    const char *path = count > 1 ? words[1] : "examples/cases/aidc2048-golden.json";
    ckpd_context *context = NULL;
    ckpd_case *day = NULL;
    ckpd_problem *problem = NULL;
    ckpd_solution *solution = NULL;
    if (ckpd_context_new(&context, NULL) != CKPD_OK)
        return 1;
    if (ckpd_case_load(&day, context, path) != CKPD_OK ||
        ckpd_case_build_problem(&problem, day) != CKPD_OK ||
        ckpd_problem_solve(&solution, problem, CKPD_SCENARIO_S4, NULL) != CKPD_OK)
        return failed(context);

    const ckpd_plan *plan = ckpd_solution_plan(solution);
    for (int32_t job = 0; plan != NULL && job < ckpd_plan_job_count(plan); job++)
        for (int32_t i = 0; i < ckpd_plan_step_count(plan, job); i++) {
            ckpd_step step = {.size = sizeof step};
            if (ckpd_plan_get_step(plan, job, i, &step) != CKPD_OK)
                return failed(context);
            printf("%s: slots %2d to %2d on %4d GPUs, checkpoints %2d to %2d\n",
                   ckpd_problem_job_name(problem, job), step.from_slot, step.to_slot - 1, step.gpus,
                   step.from_segment, step.to_segment);
        }
    printf("cost %.3f, at least %.3f\n", ckpd_solution_cost(solution),
           ckpd_solution_bound(solution));

    ckpd_solution_free(solution);
    ckpd_problem_free(problem);
    ckpd_case_free(day);
    ckpd_context_free(context);
    return 0;
}
