/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A plan of yesterday's problem, made one of today's. */
#include "solver/native/native.h"
#include "solver/native/primal.h"

#include <math.h>

static bool only_paths(const ckpd_path_view *view)
{
    for (int32_t j = 0; j < view->jobs; j++)
        if (view->job[j]->kind != CKPD_JOB_PATHS)
            return false;
    return true;
}

/* False when memory runs out. */
static bool mend(nat_memory *memory, const nat_model *model, ckpd_path_plan *plan, bool *mended)
{
    enum { PASSES = 3 };
    nat_primal primal;
    nat_plan trial;
    bool ok =
        ckpd__nat_primal_init(&primal, memory, model) && ckpd__nat_plan_init(&trial, memory, model);
    if (ok && ckpd__nat_primal_start(&primal, &trial)) {
        if (!(ckpd__nat_primal_cost(&primal, &trial) < (double)INFINITY))
            ckpd__nat_primal_descend(&primal, &trial, PASSES);
        *mended = trial.cost < (double)INFINITY;
        if (*mended)
            ckpd__nat_plan_write(model, &trial, plan);
    }
    ok = ok && !primal.dispatch.failed;
    ckpd__nat_primal_free(&primal);
    return ok;
}

int32_t ckpd__native_mend(const ckpd_host *host, const ckpd_path_view *view, ckpd_path_plan *plan,
                          bool *mended)
{
    nat_memory memory = {.host = host};
    nat_model model;
    ckpd_path_view own = *view;
    own.start = plan;
    *mended = false;
    if (!only_paths(view))
        return CKPD_OK;
    int32_t status = ckpd__nat_model_build(&model, &memory, &own);
    if (status == CKPD_OK && !model.stop && !mend(&memory, &model, plan, mended))
        status = CKPD_ERR_NO_MEMORY;
    ckpd__nat_release(&memory);
    return status == CKPD_ERR_NOT_SUPPORTED ? CKPD_OK : status;
}
