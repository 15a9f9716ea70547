/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/solver.h"

int32_t ckpd_path_solve(ckpd_context *context, const char *backend, const ckpd_path_view *view,
                        const ckpd_solve_params *params, const ckpd_cancel *cancel,
                        ckpd_path_result *result)
{
    (void)backend, (void)view, (void)params, (void)cancel, (void)result;
    return ckpd__fail(context, CKPD_ERR_NOT_SUPPORTED, "backend", -1, 0, "path problems are not solved yet");
}
