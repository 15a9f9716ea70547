/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The solver that exploits the structure of the path view; docs/algorithm.md says how. */
#ifndef CKPD_LIB_SOLVER_NATIVE_NATIVE_H
#define CKPD_LIB_SOLVER_NATIVE_NATIVE_H

#include <ckptdispatch/backend.h>
#include <stdbool.h>

/* solve_paths of the backend "native". */
int32_t ckpd__native_solve_paths(const ckpd_host *host, const ckpd_path_view *view,
                                 const ckpd_solve_params *params, ckpd_path_result *result,
                                 void *user);

struct nat_certificate;
/*
 * The same, with what proves the bound (certificate.h): certificate may be NULL; else it is filled
 * when CKPD_OK is returned, and freed by the caller. `host` must
 * outlive it.
 */
int32_t ckpd__native_solve_certified(const ckpd_host *host, const ckpd_path_view *view,
                                     const ckpd_solve_params *params, ckpd_path_result *result,
                                     struct nat_certificate *certificate);

/*
 * Makes `plan`, which is none of the view, one that keeps as much of it as can be. *mended false:
 * there is none near by, or the host said stop.
 */
int32_t ckpd__native_mend(const ckpd_host *host, const ckpd_path_view *view, ckpd_path_plan *plan,
                          bool *mended);

#endif
