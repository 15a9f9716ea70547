/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Models written for other solvers, and their values read back. */
#include "support/sink.h"
#include "support/small.h"
#include "support/sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void write_model(sweep_memory *memory, const ckpd_problem *problem, int32_t scenario,
                        int32_t format, sink *text)
{
    text->used = 0;
    int32_t status = ckpd_problem_export(problem, scenario, format, sink_take, text);
    if (sweep_repeat(memory, status, "ckpd_problem_export")) {
        text->used = 0; /* from the start again */
        status = ckpd_problem_export(problem, scenario, format, sink_take, text);
        sweep_resume(memory, status, "ckpd_problem_export");
    }
    ck_assert_int_eq(status, CKPD_OK);
}

/* B0's load and battery beside J0's job would have no common horizon: each is exported by itself.
 */
static void exported(sweep_memory *memory, ckpd_context *context)
{
    static sink first[2][2], text; /* of the first, undisturbed run */
    ckpd_problem *problem[2] = {NULL, NULL};
    SWEEP(small_b0(&problem[0], context));
    SWEEP(small_j0(&problem[1], context, 100));
    for (int which = 0; which < 2; which++) {
        for (int32_t format = CKPD_FORMAT_MPS; format <= CKPD_FORMAT_LP; format++) {
            sink *known = &first[which][format - CKPD_FORMAT_MPS];
            write_model(memory, problem[which], which == 0 ? CKPD_SCENARIO_S5 : CKPD_SCENARIO_S4,
                        format, &text);
            if (known->used == 0) {
                *known = text;
            }
            ck_assert_str_eq(text.text, known->text);
        }
        ckpd_problem_free(problem[which]);
    }
}

/* The name of the first column that begins with `start`. */
static void find_name(const char *model, const char *start, char *name)
{
    const char *at = strstr(model, start);
    ck_assert_msg(at != NULL, "no column %s", start);
    size_t length = strcspn(at, " \t\n");
    ck_assert_uint_lt(length, 64);
    memcpy(name, at, length);
    name[length] = '\0';
}

/* J0 in its first two hours costs 550: 10 MW at 10 and at 45. */
static void imported(sweep_memory *memory, ckpd_context *context)
{
    static sink model;
    char move[64], values[100];
    ckpd_problem *problem = NULL;
    ckpd_solution *solution = NULL;
    SWEEP(small_j0(&problem, context, 100));
    write_model(memory, problem, CKPD_SCENARIO_S4, CKPD_FORMAT_MPS, &model);
    find_name(model.text, "move_j0_s0_t0", move);
    snprintf(values, sizeof values, "%s 1\n", move);
    SWEEP(ckpd_problem_import(&solution, problem, CKPD_SCENARIO_S4, values, strlen(values)));
    ck_assert_int_eq(ckpd_solution_outcome(solution), CKPD_OUTCOME_FEASIBLE);
    ck_assert_double_eq_tol(ckpd_solution_cost(solution), SMALL_J0_COST, 1e-6);
    ckpd_solution_free(solution);
    ckpd_problem_free(problem);
}

int main(void)
{
    static const sweep_scenario scenarios[] = {
        {"export", exported},
        {"import", imported},
    };
    return sweep_main("exchange", scenarios, (int32_t)(sizeof scenarios / sizeof scenarios[0]));
}
