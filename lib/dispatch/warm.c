/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What an earlier solution gives to a solve: its plan and its prices, moved to the slots and jobs
 * of the problem. */
#include "dispatch/dispatch.h"
#include "solver/solver.h"

#include <string.h>

int32_t ckpd__warm_remember(ckpd_solution *solution, const ckpd_problem *problem)
{
    ckpd_context *context = solution->context;
    solution->job_name = ckpd__calloc(context, (size_t)problem->jobs + 1, sizeof(char *));
    for (int32_t j = 0; solution->job_name != NULL && j < problem->jobs; j++) {
        solution->job_name[j] = ckpd__strdup(context, problem->job[j]->spec.name);
        if (solution->job_name[j] == NULL) {
            return ckpd__no_memory(context);
        }
    }
    return solution->job_name != NULL ? CKPD_OK : ckpd__no_memory(context);
}

/* to[j] is the job of the problem that was job j of the solution, -1 when it is gone. */
static void match_jobs(const ckpd_problem *problem, const ckpd_solution *last, int32_t *to)
{
    for (int32_t j = 0; j < last->plan->jobs; j++) {
        const char *name = last->job_name[j];
        to[j] = -1;
        if (j < problem->jobs && strcmp(problem->job[j]->spec.name, name) == 0) {
            to[j] = j; /* the usual case, and with many jobs the only quick one */
        }
        for (int32_t i = 0; to[j] < 0 && i < problem->jobs; i++) {
            to[j] = strcmp(problem->job[i]->spec.name, name) == 0 ? i : -1;
        }
    }
}

static int32_t move_plan(ckpd__warm *warm, const ckpd_problem *problem, const ckpd_plan *last,
                         int32_t passed, const int32_t *to)
{
    int32_t slots = problem->site->slots;
    int32_t status = ckpd_plan_new(&warm->plan, problem->context, problem->jobs, slots);
    for (int32_t j = 0; j < last->jobs; j++) {
        for (int32_t i = 0; status == CKPD_OK && to[j] >= 0 && i < last->steps[j].count; i++) {
            ckpd_step step = last->steps[j].step[i];
            step.from_slot -= passed;
            step.to_slot -= passed;
            if (step.to_slot > 0 && step.to_slot <= slots) {
                status = ckpd__plan_append(warm->plan, to[j], &step);
            }
        }
    }
    static const ckpd__plan_series moved[] = {CKPD__PLAN_CHARGE, CKPD__PLAN_DISCHARGE};
    int32_t known = last->slots - passed < slots ? last->slots - passed : slots;
    for (size_t i = 0; status == CKPD_OK && i < sizeof moved / sizeof moved[0]; i++) {
        memcpy(warm->plan->series[moved[i]], last->series[moved[i]] + passed,
               (size_t)known * sizeof(double));
    }
    return status;
}

static void move_series(double *to, const double **view, const double *from, int32_t passed,
                        int32_t count)
{
    if (from == NULL) {
        *view = NULL;
    } else {
        memcpy(to, from + passed, (size_t)count * sizeof *to);
    }
}

static int32_t move_prices(ckpd__warm *warm, const ckpd_problem *problem,
                           const ckpd_path_prices *last, int32_t jobs, int32_t passed,
                           const int32_t *to)
{
    ckpd_context *context = problem->context;
    int32_t left = last->slots - passed, row = 0;
    left = left < problem->site->slots ? left : problem->site->slots;
    if (left <= 0) {
        return CKPD_OK;
    }
    warm->prices = ckpd__calloc(context, 1, sizeof *warm->prices);
    if (warm->prices == NULL || !ckpd__prices_new(context, warm->prices, left, last->activities)) {
        return ckpd__no_memory(context);
    }
    ckpd__prices *p = warm->prices;
    for (int32_t i = 0; i < last->activities; i++) {
        if (last->job[i] < 0 || last->job[i] >= jobs || to[last->job[i]] < 0) {
            continue;
        }
        p->job[row] = to[last->job[i]];
        p->gpus[row] = last->gpus[i];
        p->power_kw[row] = last->power_kw[i];
        memcpy(p->price + (size_t)row++ * (size_t)left,
               last->price + (size_t)i * (size_t)last->slots + passed,
               (size_t)left * sizeof(double));
    }
    p->view.activities = row;
    move_series(p->load_price, &p->view.load_price, last->load_price, passed, left);
    move_series(p->gpu_price, &p->view.gpu_price, last->gpu_price, passed, left);
    move_series(p->storage_worth, &p->view.storage_worth, last->storage_worth, passed, left);
    return CKPD_OK;
}

int32_t ckpd__warm_make(ckpd__warm *warm, const ckpd_problem *problem, const ckpd_solution *last,
                        int32_t passed)
{
    ckpd_context *context = problem->context;
    *warm = (ckpd__warm){NULL, NULL};
    if (passed < 0) {
        return ckpd__fail(context, CKPD_ERR_RANGE, "slots_passed", -1, passed,
                          "slots_passed = %d is negative", passed);
    }
    if (last->plan == NULL || last->job_name == NULL) {
        return CKPD_OK;
    }
    if (passed >= last->plan->slots) {
        return ckpd__fail(context, CKPD_ERR_RANGE, "slots_passed", -1, passed,
                          "slots_passed = %d is not in 0..%d, the slots of the last solution",
                          passed, last->plan->slots - 1);
    }
    int32_t *to = ckpd__calloc(context, (size_t)last->plan->jobs + 1, sizeof *to);
    if (to == NULL) {
        return ckpd__no_memory(context);
    }
    match_jobs(problem, last, to);
    int32_t status = move_plan(warm, problem, last->plan, passed, to);
    if (status == CKPD_OK && last->prices != NULL && last->prices->view.size > 0) {
        status = move_prices(warm, problem, &last->prices->view, last->plan->jobs, passed, to);
    }
    ckpd__free(context, to);
    return status;
}

void ckpd__warm_free(ckpd_context *context, ckpd__warm *warm)
{
    ckpd_plan_free(warm->plan);
    if (warm->prices != NULL) {
        ckpd__prices_free(context, warm->prices);
        ckpd__free(context, warm->prices);
    }
    *warm = (ckpd__warm){NULL, NULL};
}
