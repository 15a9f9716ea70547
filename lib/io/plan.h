/* SPDX-License-Identifier: LGPL-3.0-or-later */
#ifndef CKPD_LIB_IO_PLAN_H
#define CKPD_LIB_IO_PLAN_H

#include "io/case.h"

/* Per-slot series of a plan in the order of the files; the first `CKPD__FLOWS` decide the plan. */
enum { CKPD__FLOWS = 5, CKPD__PLAN_SERIES = 12 };
extern const char *const ckpd__plan_series[CKPD__PLAN_SERIES];

/* "optimal|feasible|...": position = CKPD_OUTCOME_ - 1. */
extern const char ckpd__outcomes[];

/* Kind, version and members of a plan file. */
int32_t ckpd__plan_check(ckpd_context *context, const ckpd__json *root);
/* One entry of its jobs, with every step. */
int32_t ckpd__plan_check_steps(ckpd_context *context, const ckpd__place *place,
                               const ckpd__json *node);
ckpd_step ckpd__plan_step(const ckpd__json *node);

#endif
