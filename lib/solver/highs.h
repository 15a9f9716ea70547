/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* HiGHS, found at run time. */
#ifndef CKPD_LIB_SOLVER_HIGHS_H
#define CKPD_LIB_SOLVER_HIGHS_H

#include "solver/solver.h"

/*
 * Binds the HiGHS library behind a dlopen handle and registers it as "highs". CKPD_ERR_VERSION when
 * it is older than 1.7.1 or newer than 1.x, or lacks a function.
 */
int32_t ckpd__highs_register(ckpd_context *context, void *library);

#endif
