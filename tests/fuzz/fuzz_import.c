/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Solution files of other solvers for the exported model of a small case. What is taken has been
 * verified. */
#include "fuzz/case_text.h"
#include <ckptdispatch.h>
#include <ckptdispatch/io.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ckpd_context *context = NULL;
    ckpd_case *loaded = NULL;
    ckpd_problem *problem = NULL;
    if (ckpd_context_new(&context, NULL) != CKPD_OK ||
        ckpd_case_parse(&loaded, context, case_text, strlen(case_text), NULL) != CKPD_OK ||
        ckpd_case_build_problem(&problem, loaded) != CKPD_OK) {
        abort();
    }
    ckpd_solution *solution = NULL;
    if (ckpd_problem_import(&solution, problem, CKPD_SCENARIO_S4, (const char *)data, size) ==
        CKPD_OK) {
        if (!isfinite(ckpd_solution_cost(solution)) || ckpd_solution_is_proven(solution) ||
            ckpd_report_violation_count(ckpd_solution_report(solution)) != 0) {
            abort();
        }
    } else if (solution != NULL || ckpd_context_last_message(context)[0] == '\0') {
        abort();
    }
    ckpd_solution_free(solution);
    ckpd_problem_free(problem);
    ckpd_case_free(loaded);
    ckpd_context_free(context);
    return 0;
}
