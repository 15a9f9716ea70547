/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A simulated run while it is made. */
#ifndef CKPD_LIB_SHAPE_RUN_H
#define CKPD_LIB_SHAPE_RUN_H

#include "shape/machine.h"
#include "shape/shape.h"

enum {
    TRACE_TIME,
    TRACE_DEFICIT,
    TRACE_FILL,
    TRACE_DEVIATION,
    TRACE_BATTERY,
    TRACE_MECHANICAL,
    TRACE_SOC,
    TRACES
};

/* One group as it really ran. */
typedef struct ckpd__ran {
    double start_s;   /* first power */
    double stop_s;    /* seconds after start_s at which it was stopped, infinity without */
    double factor;    /* real duration over table duration */
    double command_s; /* launch command */
    int32_t row;
    int32_t reported; /* its end was told to the control */
} ckpd__ran;

/* An event as it really is. */
typedef struct ckpd__real {
    double values[EVENT_FIELDS];
    int32_t event;
    bool onset_told, recovery_told;
} ckpd__real;

typedef struct ckpd__stretch {
    double start_s, end_s; /* simulated */
} ckpd__stretch;

struct ckpd_shape_run {
    CKPD__HANDLE;
    ckpd_shape_metrics metrics;
    double step_s;
    int32_t fillers;
    char (*filler_name)[64];
    int64_t points;
    double *trace[TRACES];
    double *filler_w; /* [fillers][points] */
};

typedef struct ckpd__simulation {
    ckpd_context *context;
    const ckpd_shape *shape;
    const ckpd_microgrid *grid;
    ckpd__rig rig;
    ckpd_shape_truth truth;
    int32_t policy;
    ckpd__random random;
    ckpd__real *real;       /* [events] */
    ckpd__stretch *stretch; /* [events] */
    int32_t stretches;
    ckpd__ran *ran;
    int64_t groups, capacity;
    int64_t oldest; /* all before it have ended */
    int32_t live, peak_live;
    int64_t *left; /* [fillers] queue in this stretch */
    ckpd_control *control;
    int64_t *finished; /* [groups of the pool] scratch */
} ckpd__simulation;

/* Real deficit at a time. */
double ckpd__real_deficit(const ckpd__simulation *sim, double time_s);
/* Starts groups now (jitter and duration drawn); they take the next numbers. */
int32_t ckpd__run_launch(ckpd__simulation *sim, double time_s, int32_t row, int32_t groups);
/* When a group's GPUs are free again. */
double ckpd__ran_end_s(const ckpd__simulation *sim, const ckpd__ran *ran);
/* One decision of a greedy policy. */
int32_t ckpd__greedy_step(ckpd__simulation *sim, double time_s);
/* Traces of groups, microgrid and metrics from what ran. */
int32_t ckpd__run_respond(ckpd__simulation *sim, ckpd_shape_run *run);
void ckpd__run_measure(const ckpd__simulation *sim, ckpd_shape_run *run,
                       const ckpd__machine *machine);

#endif
