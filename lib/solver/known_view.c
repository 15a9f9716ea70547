/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * A caller's path view as structs of this library's size, all the way down: jobs, storage and start
 * of an older caller are shorter than ours and may not be read beyond their size.
 */
#include "solver/solver.h"

#include <math.h>

int32_t ckpd__plan_arrays_check(ckpd_context *context, const char *field,
                                const ckpd_path_view *view, const ckpd_path_plan *plan)
{
    bool slotwise = false;
    for (int32_t j = 0; j < view->jobs; j++) {
        slotwise = slotwise || view->job[j]->kind == CKPD_JOB_SLOTWISE;
    }
    if ((view->jobs > 0 &&
         (plan->step_count == NULL || plan->step_slot == NULL || plan->step_move == NULL)) ||
        (slotwise && plan->slot_mode == NULL) ||
        (view->storage != NULL && (plan->charge_kw == NULL || plan->discharge_kw == NULL))) {
        return ckpd__fail(context, CKPD_ERR_ARGUMENT, field, -1, NAN, "an array of %s is NULL",
                          field);
    }
    return CKPD_OK;
}

static int32_t read_jobs(ckpd__known_view *known, ckpd_context *context)
{
    ckpd_path_view *view = &known->view;
    int32_t status = ckpd__check_range(context, "jobs", -1, view->jobs, 0, 1e6);
    if (status != CKPD_OK || view->jobs == 0) {
        return status;
    }
    if (view->job == NULL) {
        return ckpd__null_argument(context, "job");
    }
    size_t jobs = (size_t)view->jobs;
    known->job = ckpd__calloc(context, jobs, sizeof *known->job);
    known->jobs = ckpd__calloc(context, jobs, sizeof *known->jobs);
    if (known->job == NULL || known->jobs == NULL) {
        return ckpd__no_memory(context);
    }
    for (size_t j = 0; status == CKPD_OK && j < jobs; j++) {
        if (view->job[j] == NULL) {
            return ckpd__null_argument(context, "job");
        }
        status = CKPD__STRUCT_IN(context, path_job, view->job[j], &known->job[j]);
        known->jobs[j] = &known->job[j];
    }
    view->job = known->jobs;
    return status;
}

int32_t ckpd__known_view_make(ckpd__known_view *known, ckpd_context *context,
                              const ckpd_path_view *given)
{
    *known = (ckpd__known_view){.job = NULL};
    int32_t status = CKPD__STRUCT_IN(context, path_view, given, &known->view);
    if (status == CKPD_OK) {
        status = read_jobs(known, context);
    }
    if (status == CKPD_OK && known->view.storage != NULL) {
        status = CKPD__STRUCT_IN(context, path_storage, known->view.storage, &known->storage);
        known->view.storage = &known->storage;
    }
    if (status == CKPD_OK && known->view.start != NULL) {
        status = CKPD__STRUCT_IN(context, path_plan, known->view.start, &known->start);
        known->view.start = &known->start;
    }
    if (status == CKPD_OK && known->view.prices != NULL) {
        status = CKPD__STRUCT_IN(context, path_prices, known->view.prices, &known->prices);
        known->view.prices = &known->prices;
    }
    if (status != CKPD_OK) {
        ckpd__known_view_free(known, context);
    }
    return status;
}

void ckpd__known_view_free(ckpd__known_view *known, ckpd_context *context)
{
    ckpd__free(context, known->job);
    ckpd__free(context, known->jobs);
    known->job = NULL;
    known->jobs = NULL;
}
