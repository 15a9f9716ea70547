/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/builtin.h"
static int32_t solve_paths(const ckpd_host *host, const ckpd_path_view *view, const ckpd_solve_params *params, ckpd_path_result *result, void *user)
{
    (void)host; (void)view; (void)params; (void)result; (void)user;
    return CKPD_ERR_NOT_SUPPORTED;
}
const ckpd_backend_table ckpd__enumerate_backend = {
    .size = sizeof(ckpd_backend_table), .abi = CKPD_BACKEND_ABI,
    .capabilities = CKPD_CAP_PATHS | CKPD_CAP_SLOTWISE | CKPD_CAP_TRUSTED_BOUND,
    .name = "enumerate", .version = CKPD_VERSION_STRING, .license = "LGPL-3.0-or-later", .solve_paths = solve_paths,
};
