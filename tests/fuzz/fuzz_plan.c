/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Plan files against a small case. What is read can be verified, whatever it says. */
#include "fuzz/case_text.h"
#include <ckptdispatch.h>
#include <ckptdispatch/io.h>

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
    ckpd_plan *plan = NULL;
    ckpd_plan_info info = {.size = sizeof info};
    if (ckpd_case_parse_plan(&plan, &info, loaded, (const char *)data, size) == CKPD_OK) {
        ckpd_report *report = NULL;
        if (ckpd_problem_verify(&report, problem, info.scenario, plan, info.cost) == CKPD_OK) {
            for (int32_t i = 0; i < ckpd_report_violation_count(report); i++) {
                ckpd_violation violation = {.size = sizeof violation};
                if (ckpd_report_get_violation(report, i, &violation) != CKPD_OK) {
                    abort();
                }
            }
        }
        ckpd_report_free(report);
    } else if (plan != NULL || ckpd_context_last_message(context)[0] == '\0') {
        abort();
    }
    ckpd_plan_free(plan);
    ckpd_problem_free(problem);
    ckpd_case_free(loaded);
    ckpd_context_free(context);
    return 0;
}
