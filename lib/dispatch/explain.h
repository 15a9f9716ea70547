/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Between the sources of an explanation. */
#ifndef CKPD_LIB_DISPATCH_EXPLAIN_H
#define CKPD_LIB_DISPATCH_EXPLAIN_H

#include "dispatch/dispatch.h"

typedef enum ckpd__explained {
    CKPD__EXPLAINED_UP,
    CKPD__EXPLAINED_DOWN,
    CKPD__EXPLAINED_SHED_KW,
    CKPD__EXPLAINED_SHED_SLOTS,
    CKPD__EXPLAINED_SHED_COST,
    CKPD__EXPLAINED_ADD_KW,
    CKPD__EXPLAINED_ADD_SLOTS,
    CKPD__EXPLAINED_ADD_COST,
    CKPD__EXPLAINED_BATTERY_SHED,
    CKPD__EXPLAINED_BATTERY_ADD,
    CKPD__EXPLAINED_SERIES
} ckpd__explained;

struct ckpd_explanation {
    CKPD__HANDLE;
    int32_t jobs, slots;
    ckpd_solution *baseline;
    ckpd_job_explanation *job;
    double *series[CKPD__EXPLAINED_SERIES];
};

/* What the parts of an explanation read. */
typedef struct ckpd__explain {
    const ckpd_problem *problem;
    const ckpd_solution *solution;
    ckpd__pwl *curve; /* [slots] cost of the slot over its net draw, wider than the devices reach */
    double *draw_kw;  /* [slots] net draw of the plan */
    double *job_kw;   /* [jobs][slots] IT power of each job in the plan */
    ckpd_explanation *out;
} ckpd__explain;

/* Power of a job's steps in every slot, added to kw; a continuous job's steps are one edge. */
void ckpd__explain_profile(const ckpd_graph *graph, const ckpd_step *step, int32_t count,
                           bool continuous, double *kw);
/* marginal.c */
void ckpd__explain_marginals(ckpd__explain *e);
/* flexibility.c */
int32_t ckpd__explain_flexibility(ckpd__explain *e);

#endif
