/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The smallest problems with known answers, made through the public API. Costs were found with
 * glpsol 5.0 on a MILP written independently of this library; J0 was worked by hand as well.
 */
#ifndef TESTS_SUPPORT_SMALL_H
#define TESTS_SUPPORT_SMALL_H

#include <ckptdispatch/dispatch.h>

/*
 * B0 with battery b0: no jobs; 4 slots of 1 h, price 20/60/20/60 per MWh, load 10 MW, battery of 20
 * MWh and 10 MW, efficiency 0.9 each way, from 10 MWh to at least 10 MWh. Scenario S5 costs 1028.
 */
int32_t small_b0(ckpd_problem **out, ckpd_context *context);

/*
 * J0: 6 slots of 1 h, price 10/45/12/50/50/10 per MWh, one job of 2 h in one mode of 10 MW and 100
 * GPUs with a checkpoint at its end only. With gpu_cap >= 100 scenario S4 costs 550, below it is
 * infeasible.
 */
int32_t small_j0(ckpd_problem **out, ckpd_context *context, double gpu_cap);

#define SMALL_B0_COST 1028.0
#define SMALL_J0_COST 550.0

/* The graph of J0's job alone: immutable, to be shared. */
int32_t small_j0_graph(ckpd_graph **out, ckpd_context *context);

/* The site of J0 alone. */
int32_t small_j0_site(ckpd_site **out, ckpd_context *context, double gpu_cap);

/* Solves with a named backend and nothing before it (NULL: as the library chooses) and gives
 * outcome and cost; frees the solution. */
int32_t small_solve(ckpd_problem *problem, ckpd_context *context, int32_t scenario,
                    const char *backend, int32_t *outcome, double *cost);

#endif
