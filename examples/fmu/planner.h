/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Re-planning of the rest of a day from a measured state: what the FMU does in each step. */
#ifndef CKPTDISPATCH_EXAMPLES_PLANNER_H
#define CKPTDISPATCH_EXAMPLES_PLANNER_H

#include <ckptdispatch.h>

enum { MOST_JOBS = 99, MOST_SLOTS = 999, MOST_MODES = 256, FORECASTS = 3 };

/* Measured, or followed as planned: finished checkpoints and the step that runs (mode -1: none). */
typedef struct job_state {
    int32_t segments_done, mode, slots_done, segments_running;
} job_state;

typedef struct job_order {
    int32_t mode, gpus; /* number of the mode in the case's set, -1: at rest */
    double power_kw;
} job_order;

typedef struct planner {
    ckpd_context *context;
    ckpd_case *day;
    ckpd_solution *last; /* of the slot before, NULL at first */
    int32_t slots, jobs;
    double slot_hours;
    double *forecast[FORECASTS]; /* [slots]; see forecast_name */
    double soc_kwh, relative_gap;
    int32_t scenario;
    job_state job[MOST_JOBS];

    /* Set-points of the slot that was planned last, and what the plan says of the rest. */
    double grid_kw, battery_kw, cost, gap, soc_after_kwh;
    job_order order[MOST_JOBS];
    job_state after[MOST_JOBS]; /* at the end of the slot, if all goes as planned */
} planner;

extern const char *const forecast_name[FORECASTS];

/* The case and its forecasts; state as in the case. A status of the library. */
int32_t planner_open(planner *p, ckpd_context *context, const char *path);
void planner_close(planner *p);
/* State and set-points as after planner_open; inputs too. */
int32_t planner_rewind(planner *p);
/* Plans slots `slot`.. from the present state. CKPD_ERR_NO_MODE stands for "there is no plan". */
int32_t planner_plan(planner *p, int32_t slot);
/* Takes the state that the plan expects at the end of the slot. */
void planner_follow(planner *p);
/* What went wrong, borrowed. */
const char *planner_message(const planner *p);

#endif
