/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A plan to start from: checked, and mended where the problem has moved on. */
#include "solver/solver.h"

#include "solver/native/native.h"

int32_t ckpd__start_make_plan(ckpd_context *context, const ckpd_path_view *view,
                              const ckpd__solve_control *control, double time_limit_s,
                              ckpd_path_plan *start, bool *is_plan)
{
    ckpd__host_state state;
    ckpd_host host;
    double cost;
    int32_t status = ckpd__path_plan_check(context, view, start, &cost, NULL, true);
    if (status == CKPD_ERR_VERIFY) {
        bool mended;
        ckpd__host_start(&host, &state, context, control, time_limit_s);
        state.started_s = control->started_s > 0 ? control->started_s : state.started_s;
        int32_t made = ckpd__native_mend(&host, view, start, &mended);
        if (made == CKPD_ERR_NO_MEMORY) {
            return ckpd__no_memory(context);
        }
        status = made == CKPD_OK && mended
                     ? ckpd__path_plan_check(context, view, start, &cost, NULL, true)
                     : status;
    }
    *is_plan = status == CKPD_OK;
    return status == CKPD_ERR_NO_MEMORY ? status : CKPD_OK;
}
