/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * A solver of one's own behind backend.h: the heuristic of one_by_one.h, which claims the optimum
 * although it cannot know. The library checks its plan, prices it anew and reports what is known:
 * a feasible plan with a claimed bound.
 */
#include "one_by_one.h"

#include <ckptdispatch.h>

static int32_t solve_paths(const ckpd_host *host, const ckpd_path_view *view,
                           const ckpd_solve_params *params, ckpd_path_result *result, void *user)
{
    (void)params;
    (void)user;
    size_t slots = (size_t)view->slots, segments = 0;
    int plain = view->storage == NULL;
    for (int32_t j = 0; j < view->jobs; j++) {
        plain = plain && view->job[j]->states == 1;
        const size_t its = (size_t)view->job[j]->segments;
        segments = its > segments ? its : segments;
    }
    if (!plain) { /* the library then asks the next backend, with a warning in the log */
        snprintf(result->message, sizeof result->message, "no storage, no transition rules");
        return CKPD_ERR_NOT_SUPPORTED;
    }
    const size_t nodes = (slots + 1) * (segments + 1);
    double *numbers = host->allocate((2 * slots + nodes) * sizeof *numbers, host->user);
    int32_t *by = host->allocate(nodes * sizeof *by, host->user);
    if (numbers != NULL && by != NULL) {
        work w = {view, numbers, numbers + slots, numbers + 2 * slots, by};
        result->objective = place_all(&w, host, result);
        result->has_plan = result->objective < INFINITY;
        result->outcome = result->has_plan ? CKPD_OUTCOME_OPTIMAL : CKPD_OUTCOME_NO_PLAN;
        result->bound = result->has_plan ? result->objective : -INFINITY;
    }
    const int32_t status = numbers != NULL && by != NULL ? CKPD_OK : CKPD_ERR_NO_MEMORY;
    host->release(numbers, host->user);
    host->release(by, host->user);
    return status;
}

int main(int count, char **words)
{
    const char *path = count > 1 ? words[1] : "examples/cases/j4-a.json";
    const ckpd_backend_table table = {.size = sizeof table,
                                      .abi = CKPD_BACKEND_ABI,
                                      .capabilities = CKPD_CAP_PATHS,
                                      .name = "one-by-one",
                                      .version = "1",
                                      .license = "LGPL-3.0-or-later",
                                      .solve_paths = solve_paths};
    ckpd_context *context = NULL;
    ckpd_case *day = NULL;
    ckpd_problem *problem = NULL;
    ckpd_solve_options *options = NULL;
    ckpd_solution *own = NULL, *built_in = NULL;
    if (ckpd_context_new(&context, NULL) != CKPD_OK) {
        return 1;
    }
    if (ckpd_backend_register(context, &table) != CKPD_OK ||
        ckpd_case_load(&day, context, path) != CKPD_OK ||
        ckpd_case_build_problem(&problem, day) != CKPD_OK ||
        ckpd_solve_options_new(&options, context) != CKPD_OK ||
        ckpd_solve_options_set(options, "relative_gap", 1e-3) != CKPD_OK ||
        ckpd_problem_solve(&built_in, problem, CKPD_SCENARIO_S4, options) != CKPD_OK ||
        ckpd_solve_options_set_backend(options, table.name) != CKPD_OK ||
        ckpd_problem_solve(&own, problem, CKPD_SCENARIO_S4, options) != CKPD_OK) {
        fprintf(stderr, "%s\n", ckpd_context_last_message(context));
        return 1;
    }
    printf("%-10s cost %.3f, bound %.3f, proven %d\n", ckpd_solution_backend(built_in),
           ckpd_solution_cost(built_in), ckpd_solution_bound(built_in),
           ckpd_solution_is_proven(built_in));
    printf("%-10s cost %.3f, claimed bound %.3f, proven %d\n", ckpd_solution_backend(own),
           ckpd_solution_cost(own), ckpd_solution_bound(own), ckpd_solution_is_proven(own));
    const int good = strcmp(ckpd_solution_backend(own), table.name) == 0 &&
                     ckpd_solution_outcome(built_in) == CKPD_OUTCOME_OPTIMAL &&
                     ckpd_solution_outcome(own) == CKPD_OUTCOME_FEASIBLE &&
                     ckpd_solution_bound_is_claimed(own) == 1 &&
                     ckpd_solution_is_proven(own) == 0 && ckpd_solution_plan(own) != NULL &&
                     ckpd_report_violation_count(ckpd_solution_report(own)) == 0 &&
                     ckpd_solution_cost(own) >= ckpd_solution_bound(built_in) - 1e-6;
    ckpd_solution_free(own);
    ckpd_solution_free(built_in);
    ckpd_solve_options_free(options);
    ckpd_problem_free(problem);
    ckpd_case_free(day);
    ckpd_context_free(context);
    return good ? 0 : 1;
}
