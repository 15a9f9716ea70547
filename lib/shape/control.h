/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The state of a control. */
#ifndef CKPD_LIB_SHAPE_CONTROL_H
#define CKPD_LIB_SHAPE_CONTROL_H

#include "shape/shape.h"

enum { COHORT_ENTRIES = 96, HORIZON_POINTS = 40, REFILL_STAGES = 4 };

/* What is believed of an event: the predicted values, moved by signals. */
typedef struct ckpd__belief {
    double values[EVENT_FIELDS];
    bool begun, ended;
    bool overdue; /* the measurement shows that it lasts longer than planned */
} ckpd__belief;

typedef struct ckpd__group {
    int64_t id;
    int32_t row, event;
    double start_s;
    double stop_s; /* as planned, infinity without */
    bool stopping;
    double stopped_s; /* when the stop was commanded */
} ckpd__group;

/* Groups to start in this step: one entry for each filler and stop stage, counted by table row. */
typedef struct ckpd__entry {
    int32_t event, filler, first_row, rows;
    double stop_s;
    int32_t planned_row;
} ckpd__entry;

typedef struct ckpd__wait {
    int32_t row, planned_row, event, groups;
    double stop_s, until_s;
    bool held; /* held back by the lower layer: joins the next cohort */
} ckpd__wait;

struct ckpd_control {
    CKPD__HANDLE;
    ckpd_shape *shape;
    ckpd__rig rig;
    int32_t launches, next; /* next: all before it are done */
    ckpd__launch *launch;
    uint8_t *done; /* [launches] */
    ckpd__belief *belief;
    ckpd__group *live;
    int64_t next_id;
    ckpd__wait *wait;
    int32_t waits, wait_capacity;
    ckpd_control_action *action;
    int32_t actions, action_capacity;
    ckpd_control_state state;
    bool started;
    int32_t measured; /* measurements that the ratio rests on, since all was quiet */
    double time_s, sample_s, ratio;
    int64_t *used;   /* [fillers] groups started since all was quiet */
    int64_t *left;   /* [fillers] scratch: what the queues still hold */
    double ahead_s;  /* an overdue event is believed to last this long at least */
    double refill_s; /* of the last look for more work in an overdue event */
    /* the cohort of this step */
    ckpd__entry entry[COHORT_ENTRIES];
    int32_t entries;
    int32_t most_rows;
    int32_t
        *count; /* [COHORT_ENTRIES][most_rows + 1] groups by row; the last column is "held back" */
    double *profile; /* [COHORT_ENTRIES][most_rows + 1][HORIZON_POINTS] */
    double need[HORIZON_POINTS];
};

/* Signals, then the measurement of a step, then what time alone tells. */
void ckpd__belief_begin(ckpd_control *control, int32_t event, double onset_s);
void ckpd__belief_end(ckpd_control *control, int32_t event, double recovery_s);
void ckpd__belief_sample(ckpd_control *control, const ckpd_control_input *input);
void ckpd__belief_move(ckpd_control *control);
/* Deficit that the control believes in, at time_s, with the present correction. */
double ckpd__control_deficit(const ckpd_control *control, double time_s);
/* When a planned moment of an event happens by present belief. */
double ckpd__control_shifted(const ckpd_control *control, int32_t event, double planned_s);
double ckpd__control_stop_s(const ckpd_control *control, int32_t event, double planned_s);
/* Power expected of the running groups, and of planned launches still to come, at a time. */
double ckpd__control_live_w(const ckpd_control *control, double time_s);
double ckpd__control_later_w(const ckpd_control *control, double time_s);
/* The lower layer: may move groups of the cohort to other batches. */
void ckpd__control_adjust(ckpd_control *control);
/* Starts groups where free GPUs allow; the rest waits until `until_s`. planned_row -1: not in the
 * plan. */
void ckpd__control_launch(ckpd_control *control, int32_t row, int32_t planned_row, int32_t event,
                          double stop_s, int32_t groups, double until_s);
/* Starts short work in events that last longer than planned. */
void ckpd__control_refill(ckpd_control *control);

#endif
