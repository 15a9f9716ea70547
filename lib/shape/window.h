/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* One stretch of time that is planned at once: slots, samples, columns, and the whole-group fit. */
#ifndef CKPD_LIB_SHAPE_WINDOW_H
#define CKPD_LIB_SHAPE_WINDOW_H

#include "shape/shape.h"

#include <ckptdispatch/backend.h>
#include <math.h>

/* A launch slot, tied to the event whose signals move it. */
typedef struct ckpd__slot {
    double time_s;
    int32_t event;
} ckpd__slot;

/* Start of groups of one table row in one slot, perhaps with a stop stage. */
typedef struct ckpd__column {
    int32_t slot, row, filler;
    int32_t stage;         /* 0: runs to its end; else 1 + number of the stop stage */
    double stop_s;         /* moment of the stop command, infinity without */
    double waste_s, run_s; /* seconds run when stopped early (else 0), seconds run */
    double price;          /* per group, in units of window.unit_w */
    int32_t first_sample, samples;
    int64_t first_value;       /* into window.power */
    int32_t first_slot, slots; /* slots in which its GPUs are held */
} ckpd__column;

typedef struct ckpd__window {
    ckpd_context *context;
    const ckpd_shape *shape;
    const ckpd__rig *rig;
    const int32_t *event; /* [events] of the cluster, by onset */
    int32_t events;
    double unit_w;                   /* power of 1 in the model */
    double origin_s;                 /* all times of the window count from here */
    double start_s, end_s, commit_s; /* samples in [start, end]; launches before commit are kept */
    double sample_s;
    int32_t slots, samples, columns;
    ckpd__slot *slot;
    double *target;    /* [samples] deficit less what earlier windows still give, units */
    double *weight;    /* [samples] of the error: onsets count more */
    double *early_cap; /* [samples] limit of the fill before an onset, units; infinity elsewhere */
    double *slot_cap;  /* [slots] groups that may be held */
    int64_t *queue;    /* [fillers] groups that may still be started */
    double waste_room; /* right side of the waste limit, from earlier windows, seconds */
    ckpd__column *column;
    double *power; /* power of columns at their samples, units */
    int64_t powers;
    double peak_price;
} ckpd__window;

/* Fills slots, samples and columns. `carried` are launches of earlier windows of the same cluster.
 */
int32_t ckpd__window_build(ckpd__window *window, const ckpd__launch *carried, int32_t count);
void ckpd__window_free(ckpd__window *window);

/*
 * Times are rounded to a nanosecond: columns that differ by the noise of large times only would be
 * nearly, not exactly, the same, and a simplex basis of such columns is close to singular.
 */
static inline double ckpd__window_round(double time_s)
{
    return floor(time_s * 1e9 + 0.5) / 1e9;
}

/* A time of the problem as the window counts it. */
static inline double ckpd__window_time(const ckpd__window *window, double time_s)
{
    return ckpd__window_round(time_s - window->origin_s);
}

static inline double ckpd__window_sample_s(const ckpd__window *window, int32_t sample)
{
    return window->start_s + (double)sample * window->sample_s;
}

/* The program of a window with all its arrays. */
typedef struct ckpd__program {
    ckpd_milp_view view;
    double *cost, *lower, *upper, *row_lower, *row_upper, *value, *point;
    uint8_t *integer;
    int64_t *start;
    int32_t *index;
    int32_t *early_row; /* [samples] row of the limit before an onset, -1 without */
    int32_t cap_row, queue_row, waste_row; /* first of each kind */
    bool waste;
} ckpd__program;

int32_t ckpd__program_build(const ckpd__window *window, bool integer, const int32_t *start,
                            ckpd__program *program);
void ckpd__program_free(ckpd_context *context, ckpd__program *program);

/* The linear (or with `integer` the integer) program; x holds columns, then the errors and the
 * peak. */
typedef struct ckpd__fit_answer {
    double *x; /* [columns] groups */
    double objective;
    double error; /* mean absolute error, units */
    int64_t nonzeros;
    bool found;
} ckpd__fit_answer;
int32_t ckpd__fit_solve(const ckpd__window *window, const char *backend, const ckpd_cancel *cancel,
                        bool integer, const int32_t *start, ckpd__fit_answer *answer);

/* Whole groups near x: carried error by stage, then single and paired moves. */
int32_t ckpd__fit_round(const ckpd__window *window, const ckpd__fit_answer *relaxed,
                        int32_t *groups, double *objective, double *error);

#endif
