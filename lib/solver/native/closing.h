/* SPDX-License-Identifier: LGPL-3.0-or-later */
#ifndef CKPD_LIB_SOLVER_NATIVE_CLOSING_H
#define CKPD_LIB_SOLVER_NATIVE_CLOSING_H

#include <ckptdispatch/backend.h>

/*
 * Marks in closed[j] ([moves][slots][segments] of each job, zeroed by the caller) the moves that no
 * plan cheaper than *cutoff makes, from the prices of the root alone. view->start should be the
 * best plan known: the cheaper it is, the more moves go. Nothing is marked for views with too many
 * jobs, or when stopped early.
 */
int32_t ckpd__native_close_moves(const ckpd_host *host, const ckpd_path_view *view,
                                 const ckpd_solve_params *params, uint8_t *const *closed,
                                 double *cutoff);

#endif
