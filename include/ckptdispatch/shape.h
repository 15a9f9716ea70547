/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file shape.h
 * Filling the power dips of synchronous checkpoints with inference work, and what that does to the
 * frequency of an islanded microgrid. Equations, sources and limits: docs/shaping.md.
 *
 * Unlike the rest of the library this header works in SI units: seconds, watts, joules or Wh,
 * hertz; every name carries its unit. A deficit is the power that a checkpoint takes away, counted
 * positive. Times are seconds on one axis that the caller chooses (seconds of the day, say).
 *
 *   events + fillers + pool = ckpd_shape -> ckpd_shape_plan -> ckpd_control (live) or
 * ckpd_shape_run (simulated)
 *
 * Builders (power event, filler, pool, microgrid, shape) are *confined*; the shape copies what is
 * added to it. Plans and runs are *immutable after build*. A control is *confined*.
 * Scalar parameters are set by name; `_field_info` tells name, unit, bounds, default and meaning.
 */
#ifndef CKPTDISPATCH_SHAPE_H
#define CKPTDISPATCH_SHAPE_H

#include <ckptdispatch/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- training power events ------------------------------------------------------------------- */

/** One drop of training power around a checkpoint. Confined. */
typedef struct ckpd_power_event ckpd_power_event;

/**
 * Makes an event; onset_s, duration_s and depth_w have to be set before use. The deficit rises
 * linearly over fall_s, stays until onset_s + duration_s (the recovery) and ends linearly over
 * rise_s.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_power_event_new(ckpd_power_event **out, ckpd_context *context);
/** Ends an event. Any thread. @since 0.1 */
CKPD_API void ckpd_power_event_free(ckpd_power_event *event);
/** Sets a number by name. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_UNKNOWN_NAME,
 * CKPD_ERR_RANGE, CKPD_ERR_NOT_FINITE @since 0.1 */
CKPD_API int32_t ckpd_power_event_set(ckpd_power_event *event, const char *field, double value);
/** Sets a value from text; choices ("kind": "full", "differential") need this. Errors as for _set
 * and CKPD_ERR_SYNTAX. @since 0.1 */
CKPD_API int32_t ckpd_power_event_set_text(ckpd_power_event *event, const char *field,
                                           const char *text);
/** Reads a number by name; NaN when not given. @since 0.1 */
CKPD_API int32_t ckpd_power_event_get(const ckpd_power_event *event, const char *field,
                                      double *value);
/** Number of named fields. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_power_event_field_count(void);
/** Describes field `index`. Any thread. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE
 * @since 0.1 */
CKPD_API int32_t ckpd_power_event_field_info(int32_t index, ckpd_field_info *out);
/**
 * Gives the deficit as it really runs (a measured trace), for simulation only: plans keep the
 * trapezoid. Linear between points, zero before the first and after the last.
 * @param count     points, >= 2; 0 removes the trace, the arrays may then be NULL
 * @param since_s   [count] strictly ascending seconds since onset
 * @param deficit_w [count] finite; may be negative
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_LENGTH, CKPD_ERR_NOT_FINITE, CKPD_ERR_INCONSISTENT,
 *         CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_power_event_set_trace(ckpd_power_event *event, int32_t count,
                                            const double *since_s, const double *deficit_w);
/** Deficit of the event at a time, in W (trapezoid). NaN while a required field is missing. @since
 * 0.1 */
CKPD_API double ckpd_power_event_deficit_w(const ckpd_power_event *event, double time_s);

/* --- fillers: inference task types ----------------------------------------------------------- */

/** An inference task type: power and duration of one batch job against its batch size. Confined. */
typedef struct ckpd_filler ckpd_filler;

/** Makes a type without a table. The name is copied. @return CKPD_OK, CKPD_ERR_ARGUMENT,
 * CKPD_ERR_NO_MEMORY
 *  @since 0.1 */
CKPD_API int32_t ckpd_filler_new(ckpd_filler **out, ckpd_context *context, const char *name);
/**
 * Makes one of the types that ship with the library. Their H100 tables are typed from the ML.ENERGY
 * benchmark v3 (Apache-2.0, see docs/shaping.md); queue lengths are assumptions.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_UNKNOWN_NAME, CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_filler_builtin(ckpd_filler **out, ckpd_context *context, const char *name);
/** Number of types that ship. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_filler_builtin_count(void);
/** Name of the i-th type that ships, static storage, NULL out of range. Any thread. @since 0.1 */
CKPD_API const char *ckpd_filler_builtin_name(int32_t index);
/** Ends a type. Any thread. @since 0.1 */
CKPD_API void ckpd_filler_free(ckpd_filler *filler);
/** Name, borrowed. @since 0.1 */
CKPD_API const char *ckpd_filler_name(const ckpd_filler *filler);
/** Sets a number by name; errors as for ckpd_power_event_set. @since 0.1 */
CKPD_API int32_t ckpd_filler_set(ckpd_filler *filler, const char *field, double value);
/** Reads a number by name. @since 0.1 */
CKPD_API int32_t ckpd_filler_get(const ckpd_filler *filler, const char *field, double *value);
/** Number of named fields. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_filler_field_count(void);
/** Describes field `index`. Any thread. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE
 * @since 0.1 */
CKPD_API int32_t ckpd_filler_field_info(int32_t index, ckpd_field_info *out);
/**
 * Sets the table. A second axis (a prefill token budget, say) is optional: the row of tables used
 * is the one at field "axis_value", linear in between. Values between batches are linear in log2 of
 * the batch; power need not be monotone.
 * @param batches    >= 1
 * @param batch      [batches] strictly ascending, >= 1
 * @param axes       number of values on the second axis, >= 1
 * @param axis       [axes] strictly ascending; NULL when axes is 1
 * @param power_w    [axes][batches] W per GPU, >= 0
 * @param duration_s [axes][batches] s, > 0
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_LENGTH, CKPD_ERR_RANGE, CKPD_ERR_NOT_FINITE,
 *         CKPD_ERR_INCONSISTENT (not ascending), CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_filler_set_table(ckpd_filler *filler, int32_t batches, const int32_t *batch,
                                       int32_t axes, const double *axis, const double *power_w,
                                       const double *duration_s);
/**
 * Names the batches that plans may use; the controller may use every batch of the table within the
 * stretch limit. Default: the whole table within that limit.
 * @param count number of batches, 0 for the default
 * @param batch [count] each must be a row of the table; may be NULL when count is 0
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_MISSING (no table), CKPD_ERR_RANGE,
 * CKPD_ERR_DUPLICATE, CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_filler_set_planned(ckpd_filler *filler, int32_t count, const int32_t *batch);
/**
 * Power in W per GPU and duration in s at a batch size; either out-pointer may be NULL.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_MISSING (no table), CKPD_ERR_RANGE (outside the
 * table) @since 0.1
 */
CKPD_API int32_t ckpd_filler_at(const ckpd_filler *filler, double batch, double *power_w,
                                double *duration_s);

/* --- GPU pool -------------------------------------------------------------------------------- */

/** The GPUs that may run filler work. Confined. */
typedef struct ckpd_gpu_pool ckpd_gpu_pool;

/** Makes a pool with the defaults of docs/shaping.md; gpu_count has to be set.
 *  @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_NO_MEMORY @since 0.1 */
CKPD_API int32_t ckpd_gpu_pool_new(ckpd_gpu_pool **out, ckpd_context *context);
/** Ends a pool. Any thread. @since 0.1 */
CKPD_API void ckpd_gpu_pool_free(ckpd_gpu_pool *pool);
/** Sets a number by name; errors as for ckpd_power_event_set. @since 0.1 */
CKPD_API int32_t ckpd_gpu_pool_set(ckpd_gpu_pool *pool, const char *field, double value);
/** Reads a number by name. @since 0.1 */
CKPD_API int32_t ckpd_gpu_pool_get(const ckpd_gpu_pool *pool, const char *field, double *value);
/** Number of named fields. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_gpu_pool_field_count(void);
/** Describes field `index`. Any thread. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE
 * @since 0.1 */
CKPD_API int32_t ckpd_gpu_pool_field_info(int32_t index, ckpd_field_info *out);

/* --- microgrid and battery ------------------------------------------------------------------- */

/** An islanded machine with governor, turbine and an optional battery in droop. Confined. */
typedef struct ckpd_microgrid ckpd_microgrid;

/**
 * Makes a microgrid from a preset; every number may be changed afterwards.
 * @param preset a name of ckpd_microgrid_preset_name(), or NULL for the first
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_UNKNOWN_NAME, CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_microgrid_new(ckpd_microgrid **out, ckpd_context *context,
                                    const char *preset);
/** Number of presets. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_microgrid_preset_count(void);
/** Name of a preset, static storage, NULL out of range. Any thread. @since 0.1 */
CKPD_API const char *ckpd_microgrid_preset_name(int32_t index);
/** Source of a preset's numbers, static storage, NULL out of range. Any thread. @since 0.1 */
CKPD_API const char *ckpd_microgrid_preset_source(int32_t index);
/** Ends a microgrid. Any thread. @since 0.1 */
CKPD_API void ckpd_microgrid_free(ckpd_microgrid *grid);
/** Sets a number by name; errors as for ckpd_power_event_set. @since 0.1 */
CKPD_API int32_t ckpd_microgrid_set(ckpd_microgrid *grid, const char *field, double value);
/** Sets a value from text; choices ("governor": "lag", "pid") need this. @since 0.1 */
CKPD_API int32_t ckpd_microgrid_set_text(ckpd_microgrid *grid, const char *field, const char *text);
/** Reads a number by name. @since 0.1 */
CKPD_API int32_t ckpd_microgrid_get(const ckpd_microgrid *grid, const char *field, double *value);
/** Number of named fields. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_microgrid_field_count(void);
/** Describes field `index`. Any thread. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE
 * @since 0.1 */
CKPD_API int32_t ckpd_microgrid_field_info(int32_t index, ckpd_field_info *out);
/**
 * Refuses a microgrid that cannot run: Routh's test of the machine alone (battery out), limits that
 * contradict one another, a load outside the valve limits.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_MISSING, CKPD_ERR_INCONSISTENT @since 0.1
 */
CKPD_API int32_t ckpd_microgrid_check(const ckpd_microgrid *grid);
/**
 * Frequency deviation in Hz that a lasting deficit settles at (governor droop and battery, no
 * secondary control, nothing saturated).
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_NOT_FINITE @since 0.1
 */
CKPD_API int32_t ckpd_microgrid_steady_hz(const ckpd_microgrid *grid, double deficit_w,
                                          double *deviation_hz);
/**
 * Response to a net deficit sampled every `sample_s`, linear in between, from rest; integrated by
 * Runge-Kutta of order 4 with the field "step_s".
 * @param count        samples, >= 2
 * @param sample_s     seconds between samples, > 0; at most 60; split where longer than the field
 * step_s
 * @param deficit_w    [count]
 * @param deviation_hz [count] out: frequency less nominal
 * @param battery_w    [count] out or NULL: battery power, charging positive
 * @param mechanical_w [count] out or NULL: turbine power
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_LENGTH, CKPD_ERR_NOT_FINITE, CKPD_ERR_MISSING,
 *         CKPD_ERR_INCONSISTENT, CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_microgrid_response(const ckpd_microgrid *grid, int64_t count, double sample_s,
                                         const double *deficit_w, double *deviation_hz,
                                         double *battery_w, double *mechanical_w);

/* --- the shaping problem ---------------------------------------------------------------------- */

/** Events, fillers, pool and the parameters of planning and control. Confined. */
typedef struct ckpd_shape ckpd_shape;

/** Makes an empty problem with the defaults of docs/shaping.md. The pool is copied.
 *  @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_MISSING (gpu_count), CKPD_ERR_RANGE (a group larger
 * than the pool), CKPD_ERR_NO_MEMORY @since 0.1 */
CKPD_API int32_t ckpd_shape_new(ckpd_shape **out, ckpd_context *context, const ckpd_gpu_pool *pool);
/** Ends a problem. Any thread. @since 0.1 */
CKPD_API void ckpd_shape_free(ckpd_shape *shape);
/** Sets a number by name; errors as for ckpd_power_event_set. @since 0.1 */
CKPD_API int32_t ckpd_shape_set(ckpd_shape *shape, const char *field, double value);
/** Reads a number by name. @since 0.1 */
CKPD_API int32_t ckpd_shape_get(const ckpd_shape *shape, const char *field, double *value);
/** Number of named fields. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_shape_field_count(void);
/** Describes field `index`. Any thread. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE
 * @since 0.1 */
CKPD_API int32_t ckpd_shape_field_info(int32_t index, ckpd_field_info *out);
/**
 * Adds a copy of an event. Events may overlap and come in any order; they keep the index of adding.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_MISSING, CKPD_ERR_RANGE (ends after the field end_s
 * or begins before start_s), CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_shape_add_event(ckpd_shape *shape, const ckpd_power_event *event);
/**
 * Adds a copy of a filler.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_MISSING (table), CKPD_ERR_DUPLICATE (name),
 * CKPD_ERR_RANGE (replica larger than a group), CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_shape_add_filler(ckpd_shape *shape, const ckpd_filler *filler);
/** Number of events. @since 0.1 */
CKPD_API int32_t ckpd_shape_event_count(const ckpd_shape *shape);
/** Number of fillers. @since 0.1 */
CKPD_API int32_t ckpd_shape_filler_count(const ckpd_shape *shape);
/** Name of a filler, borrowed, NULL out of range. @since 0.1 */
CKPD_API const char *ckpd_shape_filler_name(const ckpd_shape *shape, int32_t index);

/* --- plans ------------------------------------------------------------------------------------ */

/** Which work starts when: the answer of the upper layer. Immutable after build (shareable). */
typedef struct ckpd_shape_plan ckpd_shape_plan;

/** How a plan was made and how well it fits its prediction. */
typedef struct ckpd_shape_plan_info {
    size_t size;            /**< sizeof(ckpd_shape_plan_info), set by the caller */
    int32_t windows;        /**< models solved (equal ones once) */
    int32_t columns;        /**< of the largest model */
    int32_t samples;        /**< of the largest model */
    int32_t launches;       /**< entries of the launch list */
    int64_t groups;         /**< groups started in all */
    int64_t nonzeros;       /**< of the largest model's fit rows */
    double relaxed_error_w; /**< mean absolute error of the linear programs, W */
    double error_w;         /**< mean absolute error of the plan in whole groups, W */
    double
        relaxed_objective; /**< sum over windows of the linear program's optimum: a lower bound */
    double objective;      /**< of the plan in whole groups */
    double waste_share;    /**< GPU time of groups stopped early / GPU time of all */
} ckpd_shape_plan_info;

/** One entry: `groups` equal starts at one moment. */
typedef struct ckpd_shape_launch {
    size_t size;    /**< sizeof(ckpd_shape_launch), set by the caller */
    int32_t event;  /**< the event whose onset and recovery signals move this entry */
    int32_t filler; /**< index of adding */
    int32_t batch;  /**< batch size */
    int32_t groups; /**< groups started together */
    double start_s; /**< planned moment of the launch command */
    double stop_s;  /**< planned moment of the stop command, +infinity when it runs to its end */
} ckpd_shape_launch;

/**
 * Solves the upper layer: a linear program per window, rounded with carried power error and
 * improved by single moves, or the exact integer program when the field "exact" is 1.
 * @param backend name of a registered backend that solves linear programs; NULL for the first that
 * can
 * @param cancel  may be NULL
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_MISSING, CKPD_ERR_NO_BACKEND, CKPD_ERR_BACKEND,
 *         CKPD_ERR_CALLBACK (cancelled), CKPD_ERR_NO_MEMORY and the errors of ckpd_milp_solve()
 * @since 0.1
 */
CKPD_API int32_t ckpd_shape_plan_new(ckpd_shape_plan **out, const ckpd_shape *shape,
                                     const char *backend, const ckpd_cancel *cancel);
/** Ends a plan. Any thread. @since 0.1 */
CKPD_API void ckpd_shape_plan_free(ckpd_shape_plan *plan);
/** @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE @since 0.1 */
CKPD_API int32_t ckpd_shape_plan_get_info(const ckpd_shape_plan *plan, ckpd_shape_plan_info *out);
/** Entry `index` in order of time. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE @since
 * 0.1 */
CKPD_API int32_t ckpd_shape_plan_launch(const ckpd_shape_plan *plan, int32_t index,
                                        ckpd_shape_launch *out);
/** Planned filler power at a time, W above idle, at the grid connection. @since 0.1 */
CKPD_API double ckpd_shape_plan_power_w(const ckpd_shape_plan *plan, double time_s);

/* --- live control ----------------------------------------------------------------------------- */

/** The lower layer: follows a plan, measurements and signals, and says what to start and stop.
 * Confined. */
typedef struct ckpd_control ckpd_control;

/**
 * What is new since the last step. Fill with zeros, set size, then what applies.
 * No clock is read: time is what the caller says.
 */
typedef struct ckpd_control_input {
    size_t size;            /**< sizeof(ckpd_control_input), set by the caller */
    double time_s;          /**< now; must not go back */
    double sample_s;        /**< time of the measurement */
    double deficit_w;       /**< training power that is missing at sample_s; NaN: lost */
    int32_t has_sample;     /**< 0: no measurement since the last step */
    int32_t onset;          /**< 1 + event whose power drop has begun; 0: none */
    double onset_s;         /**< when it began */
    int32_t recovery;       /**< 1 + event whose checkpoint has ended; 0: none */
    int32_t finished_count; /**< length of finished */
    double recovery_s;      /**< when it ended */
    const int64_t
        *finished; /**< [finished_count] groups that have ended on their own or by a stop */
} ckpd_control_input;

/**
 * Kinds of action. A change of batch is part of a launch: `batch` then differs from
 * `planned_batch`. Groups that run keep theirs, as a batch job cannot grow while it runs.
 */
enum {
    CKPD_ACTION_LAUNCH = 1, /**< start groups first_group .. first_group + groups - 1 now */
    CKPD_ACTION_STOP = 2    /**< stop these groups now; report them as finished when they have */
};

/** One thing to do now. */
typedef struct ckpd_control_action {
    size_t size;           /**< sizeof(ckpd_control_action), set by the caller */
    int32_t kind;          /**< CKPD_ACTION_... */
    int32_t filler;        /**< index of adding */
    int32_t batch;         /**< batch size to use */
    int32_t planned_batch; /**< what the plan said; differs when the controller changed it, 0 when
                              the plan has no such launch */
    int64_t first_group;   /**< number of the first group */
    int32_t groups;        /**< number of groups */
    int32_t event;         /**< event that the groups serve */
} ckpd_control_action;

/** Counters and the present view of a control. */
typedef struct ckpd_control_state {
    size_t size;        /**< sizeof(ckpd_control_state), set by the caller */
    int64_t steps;      /**< calls of ckpd_control_step() */
    int64_t samples;    /**< measurements used */
    int64_t lost;       /**< NaN or infinite: the last good one is held */
    int64_t late;       /**< older than one already used: ignored */
    int64_t duplicate;  /**< same time as the last: ignored */
    int64_t gaps;       /**< steps in an event without a measurement for more than hold_s */
    int64_t launched;   /**< groups started */
    int64_t changed;    /**< groups launched with another batch than planned */
    int64_t stopped;    /**< groups stopped early */
    int64_t retried;    /**< groups that had to wait for a free GPU */
    int64_t dropped;    /**< groups given up after retry_s */
    int32_t live;       /**< groups running now */
    int32_t degraded;   /**< 1 while the measurement has been missing for more than hold_s */
    double correction;  /**< measured over predicted deficit, as in use; 1 without a measurement */
    double predicted_w; /**< filler power expected now */
    int64_t refilled;   /**< groups started since a checkpoint lasted longer than planned */
} ckpd_control_state;

/**
 * Makes a control. Copies plan and problem.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_INCONSISTENT (plan made for another problem),
 *         CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_control_new(ckpd_control **out, const ckpd_shape *shape,
                                  const ckpd_shape_plan *plan);
/** Ends a control. @since 0.1 */
CKPD_API void ckpd_control_free(ckpd_control *control);
/**
 * One step; call it at least every step_s / 2, better every 0.1 s. Never blocks, allocates nothing,
 * below 1 ms at 5,600 GPUs.
 * @param[out] actions number of actions to carry out, read with ckpd_control_action_at()
 * @return CKPD_OK, CKPD_ERR_ARGUMENT (unknown event or group), CKPD_ERR_STRUCT_SIZE,
 * CKPD_ERR_NOT_FINITE (time), CKPD_ERR_RANGE (time goes back); after an error nothing has changed
 * @since 0.1
 */
CKPD_API int32_t ckpd_control_step(ckpd_control *control, const ckpd_control_input *input,
                                   int32_t *actions);
/** Action `index` of the last step. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE @since
 * 0.1 */
CKPD_API int32_t ckpd_control_action_at(const ckpd_control *control, int32_t index,
                                        ckpd_control_action *out);
/** Counters. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE @since 0.1 */
CKPD_API int32_t ckpd_control_get_state(const ckpd_control *control, ckpd_control_state *out);

/* --- simulation ------------------------------------------------------------------------------- */

/** Policies of a run. */
enum {
    CKPD_POLICY_NONE = 0,            /**< no filler work */
    CKPD_POLICY_GREEDY_REACTIVE = 1, /**< largest power first, on the measured deficit */
    CKPD_POLICY_GREEDY_PREDICTIVE =
        2,               /**< largest power first, on the predicted deficit, blind to its end */
    CKPD_POLICY_PLAN = 3 /**< plan and control */
};

/** What really happens, as against what was planned. Fill with zeros, set size. */
typedef struct ckpd_shape_truth {
    size_t size;          /**< sizeof(ckpd_shape_truth), set by the caller */
    uint64_t seed;        /**< launch jitter and durations */
    double depth_error_w; /**< added to the depth of every event */
    double onset_error_s; /**< added to the onset of every event */
    double ripple_w;      /**< amplitude of a sine on the deficit inside events */
    double ripple_hz;     /**< frequency of the sine */
    int32_t
        draw_errors; /**< 1: each event also draws within its own depth_error_w and onset_error_s */
    int32_t reserved; /**< 0 */
    double
        duration_error_s; /**< added to the duration of every event; none ends before it begins */
} ckpd_shape_truth;

/** Outcome of a simulated run. Windows: [onset - 5 s, recovery + 15 s] of each event. */
typedef struct ckpd_shape_metrics {
    size_t size;                  /**< sizeof(ckpd_shape_metrics), set by the caller */
    double max_abs_hz;            /**< largest deviation of the frequency */
    double mean_abs_hz;           /**< time mean over the windows */
    double zenith_hz;             /**< highest deviation */
    double nadir_hz;              /**< lowest deviation */
    double rocof_hz_s;            /**< max |f(t) - f(t - 0.1 s)| / 0.1 s */
    double battery_peak_charge_w; /**< largest charging power */
    double battery_charge_wh;     /**< energy charged */
    double battery_discharge_wh;  /**< energy discharged */
    double battery_soc_end;       /**< share of the energy, NaN without battery */
    double tracking_w;            /**< mean of |deficit - fill| over [onset, recovery] */
    double waste_share;           /**< WRPTR: GPU time of groups stopped early / of all groups */
    double stretch_max;           /**< 0.5: half as long again as at the smallest batch */
    double stretch_mean;          /**< mean over the groups */
    int64_t groups;               /**< groups started */
    int64_t peak_gpus;            /**< most GPUs in use at once */
    double requests;              /**< served to their end */
    double tokens;                /**< tokens made by the fillers */
    double filler_kwh;            /**< energy above idle at the grid connection */
    double energy_per_token_j;    /**< NaN when no tokens were made */
    double iso_recovery_s; /**< longest time from leaving the 1.5 % band until back for good; 0:
                              never left */
    int32_t iso_g2;        /**< 1 within ISO 8528-5 G2 (band 1.5 %, +12 %, -10 %, recovery 5 s) */
    int32_t ieee_1547;     /**< 1 when no default trip of IEEE 1547-2018 would have acted */
    int32_t saturated;     /**< 1 when a valve or the battery met its limit */
    int32_t reserved;      /**< 0 */
} ckpd_shape_metrics;

/** A simulated run. Immutable after build (shareable). */
typedef struct ckpd_shape_run ckpd_shape_run;

/**
 * Simulates a policy against a microgrid, deterministic for equal input and seed.
 * @param plan  needed for CKPD_POLICY_PLAN, else NULL
 * @param truth NULL: as planned, seed 0
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_RANGE, CKPD_ERR_NOT_FINITE, CKPD_ERR_MISSING,
 *         CKPD_ERR_INCONSISTENT, CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_shape_run_new(ckpd_shape_run **out, const ckpd_shape *shape,
                                    const ckpd_microgrid *grid, const ckpd_shape_plan *plan,
                                    int32_t policy, const ckpd_shape_truth *truth);
/** Ends a run. Any thread. @since 0.1 */
CKPD_API void ckpd_shape_run_free(ckpd_shape_run *run);
/** @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE @since 0.1 */
CKPD_API int32_t ckpd_shape_run_get_metrics(const ckpd_shape_run *run, ckpd_shape_metrics *out);
/** Seconds between the points of a trace. @since 0.1 */
CKPD_API double ckpd_shape_run_step_s(const ckpd_shape_run *run);
/**
 * Copies a trace: "time_s", "deficit_w", "fill_w", "deviation_hz", "battery_w", "mechanical_w",
 * "soc", or "fill_w:NAME" for one filler. Quiet stretches between events are left out (time_s
 * jumps).
 * @param capacity length of `values`; with 0 only *count is set
 * @param count    out: length of the trace
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_UNKNOWN_NAME, CKPD_ERR_BUFFER @since 0.1
 */
CKPD_API int32_t ckpd_shape_run_trace(const ckpd_shape_run *run, const char *name, int64_t capacity,
                                      double *values, int64_t *count);

#ifdef __cplusplus
}
#endif
#endif
