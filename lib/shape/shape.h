/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What the sources of this room share: fields by position, resolved profiles, the launch list. */
#ifndef CKPD_LIB_SHAPE_H
#define CKPD_LIB_SHAPE_H

#include "base/base.h"
#include "base/fields.h"

#include <ckptdispatch/shape.h>

/* --- events ---------------------------------------------------------------------------------- */

enum {
    EVENT_ONSET_S,
    EVENT_DURATION_S,
    EVENT_DEPTH_W,
    EVENT_FALL_S,
    EVENT_RISE_S,
    EVENT_DEPTH_ERROR_W,
    EVENT_ONSET_ERROR_S,
    EVENT_KIND,
    EVENT_FIELDS
};
extern const ckpd__field_table ckpd__event_fields;

struct ckpd_power_event {
    CKPD__HANDLE;
    double values[EVENT_FIELDS];
    int32_t trace_count;
    double *trace_s; /* [2 * trace_count]: times, then deficits */
};

/* Deficit over depth of a trapezoid, `since` seconds after its onset: 0..1. */
double ckpd__event_shape(const double *values, double since_s);
int32_t ckpd__event_copy(ckpd_power_event **out, ckpd_context *context,
                         const ckpd_power_event *event);

/* --- fillers --------------------------------------------------------------------------------- */

enum {
    FILLER_GPUS_PER_REPLICA,
    FILLER_QUEUE_GROUPS,
    FILLER_UP_S,
    FILLER_DOWN_S,
    FILLER_PREFILL_FACTOR,
    FILLER_PREFILL_S,
    FILLER_TAIL_SHARE,
    FILLER_TAIL_LEVEL,
    FILLER_TOKENS_PER_REQUEST,
    FILLER_IDLE_W_PER_GPU,
    FILLER_AXIS_VALUE,
    FILLER_FIELDS
};
extern const ckpd__field_table ckpd__filler_fields;

struct ckpd_filler {
    CKPD__HANDLE;
    char *name;
    double values[FILLER_FIELDS];
    int32_t batches, axes;
    int32_t *batch;     /* [batches] */
    double *axis;       /* [axes] */
    double *power_w;    /* [axes][batches] */
    double *duration_s; /* [axes][batches] */
    int32_t planned_count;
    int32_t *planned;
};

int32_t ckpd__filler_copy(ckpd_filler **out, ckpd_context *context, const ckpd_filler *filler);
/* axis_value must be given and inside the table when there is a second axis. */
int32_t ckpd__filler_check_axis(const ckpd_filler *filler);
/* Power and duration of a table row at the filler's axis value. */
void ckpd__filler_row(const ckpd_filler *filler, int32_t row, double *power_w, double *duration_s);

/* --- pool ------------------------------------------------------------------------------------ */

enum {
    POOL_GPU_COUNT,
    POOL_GROUP_SIZE,
    POOL_IDLE_W_PER_GPU,
    POOL_FACILITY_FACTOR,
    POOL_LATENCY_S,
    POOL_JITTER_S,
    POOL_DURATION_SPREAD,
    POOL_PLAN_MARGIN,
    POOL_FIELDS
};
extern const ckpd__field_table ckpd__pool_fields;

struct ckpd_gpu_pool {
    CKPD__HANDLE;
    double values[POOL_FIELDS];
};

/* --- the problem ----------------------------------------------------------------------------- */

enum {
    SHAPE_STEP_S,
    SHAPE_SAMPLES_PER_STEP,
    SHAPE_EARLY,
    SHAPE_EARLY_S,
    SHAPE_EARLY_SHARE,
    SHAPE_RETIRE,
    SHAPE_RETIRE_S,
    SHAPE_WASTE_MAX,
    SHAPE_EDGE_S,
    SHAPE_EDGE_WEIGHT,
    SHAPE_PEAK_PRICE,
    SHAPE_WASTE_PRICE,
    SHAPE_STRETCH_PRICE,
    SHAPE_STRETCH_MAX,
    SHAPE_WINDOW_S,
    SHAPE_EXACT,
    SHAPE_EXACT_GAP,
    SHAPE_EXACT_NODES,
    SHAPE_CORRECT,
    SHAPE_CORRECTION_S,
    SHAPE_HORIZON_S,
    SHAPE_DEAD_ZONE_W,
    SHAPE_DEFER,
    SHAPE_RETRY_S,
    SHAPE_HOLD_S,
    SHAPE_SIGNALS,
    SHAPE_DETECT,
    SHAPE_COMPLETION_REPORTS,
    SHAPE_START_S,
    SHAPE_END_S,
    SHAPE_FIELDS
};
extern const ckpd__field_table ckpd__shape_fields;

struct ckpd_shape {
    CKPD__HANDLE;
    double values[SHAPE_FIELDS];
    double pool[POOL_FIELDS];
    int32_t events, fillers;
    ckpd_power_event **event;
    ckpd_filler **filler;
};

ckpd_context *ckpd__shape_context(const ckpd_shape *shape);
/* All of them or none. */
int32_t ckpd__shape_add_fillers(ckpd_shape *shape, int32_t count, ckpd_filler *const *fillers);
int32_t ckpd__shape_copy(ckpd_shape **out, const ckpd_shape *shape);

/* --- resolved: what planning, control and simulation compute with ------------------------------
 */

/* One table row as run by one group: power above idle at the grid connection. */
typedef struct ckpd__profile {
    double power_w;
    double duration_s;
    double up_s, down_s;
    double prefill_factor, prefill_s;
    double tail_s; /* start of the tail since launch */
    double tail_level;
    double stretch;          /* against the smallest batch */
    double requests, tokens; /* of one group run to its end */
    int32_t batch;
    int32_t planned; /* 1: the upper layer may use it */
    int32_t allowed; /* 1: within the stretch limit */
} ckpd__profile;

typedef struct ckpd__rig {
    ckpd_context *context;
    int32_t fillers, groups, group_size;
    double latency_s, delay_s, jitter_s, spread,
        margin;         /* delay_s: expected from launch command to first power */
    int32_t *first_row; /* [fillers + 1] into profile */
    int64_t *queue;     /* [fillers] groups waiting; never below 0 */
    ckpd__profile *profile;
} ckpd__rig;

int32_t ckpd__rig_build(ckpd__rig *rig, const ckpd_shape *shape);
void ckpd__rig_free(ckpd__rig *rig);
/* Seconds of power between launch and stop commands, as expected; infinity for no stop. */
static inline double ckpd__rig_run_s(const ckpd__rig *rig, double start_s, double stop_s)
{
    return stop_s - start_s + rig->latency_s - rig->delay_s;
}
/* Power of a group `since_s` after its start, stopped `stop_s` after its start (infinity: never).
 */
double ckpd__profile_power(const ckpd__profile *profile, double since_s, double stop_s);
/* The same for a group whose natural duration differs by `factor`. */
double ckpd__profile_power_scaled(const ckpd__profile *profile, double since_s, double stop_s,
                                  double factor);

/* Predicted deficit of all events at a time. */
double ckpd__shape_deficit(const ckpd_shape *shape, double time_s);

/* --- plans -------------------------------------------------------------------------------------
 */

typedef struct ckpd__launch {
    double start_s, stop_s;
    int32_t event, row; /* row: index into rig.profile */
    int32_t filler, groups;
} ckpd__launch;

struct ckpd_shape_plan {
    CKPD__HANDLE;
    ckpd_shape_plan_info info;
    ckpd__rig rig;
    uint64_t fingerprint; /* of the problem it was made for */
    int32_t count, capacity;
    ckpd__launch *launch;
};

uint64_t ckpd__shape_fingerprint(const ckpd_shape *shape);

#endif
