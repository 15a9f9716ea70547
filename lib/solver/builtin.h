/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Tables of the built-in backends. */
#ifndef CKPD_LIB_SOLVER_BUILTIN_H
#define CKPD_LIB_SOLVER_BUILTIN_H

#include "solver/solver.h"

extern const ckpd_backend_table ckpd__glpk_backend;
extern const ckpd_backend_table ckpd__enumerate_backend;

#endif
