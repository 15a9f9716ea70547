/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file link.h
 * What couples day-ahead dispatch and shaping: the checkpoints of a plan become power events,
 * events of different jobs are staggered, GPUs are reserved for filler work, and what the filler
 * cannot fill gets a price in the dispatch. Equations: docs/shaping.md, "Dispatch and shaping
 * together".
 */
#ifndef CKPTDISPATCH_LINK_H
#define CKPTDISPATCH_LINK_H

#include <ckptdispatch/base.h>
#include <ckptdispatch/dispatch.h>
#include <ckptdispatch/graph.h>
#include <ckptdispatch/modes.h>
#include <ckptdispatch/shape.h>
#include <ckptdispatch/site.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Checkpoint behaviour of the jobs of a dispatch problem, and the parameters of the coupling.
 * Confined. */
typedef struct ckpd_link ckpd_link;

/** Makes a link without jobs. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_NO_MEMORY @since 0.1 */
CKPD_API int32_t ckpd_link_new(ckpd_link **out, ckpd_context *context);
/** Ends a link. Any thread. @since 0.1 */
CKPD_API void ckpd_link_free(ckpd_link *link);
/** Sets a number by name. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_UNKNOWN_NAME,
 * CKPD_ERR_RANGE, CKPD_ERR_NOT_FINITE @since 0.1 */
CKPD_API int32_t ckpd_link_set(ckpd_link *link, const char *field, double value);
/** Reads a number by name. @since 0.1 */
CKPD_API int32_t ckpd_link_get(const ckpd_link *link, const char *field, double *value);
/** Number of named fields. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_link_field_count(void);
/** Describes field `index`. Any thread. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE
 * @since 0.1 */
CKPD_API int32_t ckpd_link_field_info(int32_t index, ckpd_field_info *out);

/**
 * Adds the next job, in the order of the dispatch problem: how deep, how long and how often its
 * checkpoints are in each mode. Depth is the IT power of the mode less its power while it waits for
 * a checkpoint, times the field "pue"; length and interval come from the checkpoint profile.
 * Copied.
 * @param name       of the job, as its task and graph have it
 * @param checkpoint NULL: a profile with defaults
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_DUPLICATE (name), CKPD_ERR_MISSING (no checkpoint
 * power), CKPD_ERR_NO_MEMORY and as ckpd_checkpoint_evaluate() @since 0.1
 */
CKPD_API int32_t ckpd_link_add_job(ckpd_link *link, const char *name, const ckpd_mode_set *modes,
                                   const ckpd_checkpoint *checkpoint);
/**
 * The same from numbers.
 * @param modes      number of modes, >= 1
 * @param depth_w    [modes] W at the grid connection, >= 0
 * @param duration_s [modes] s from onset to recovery, > 0
 * @param interval_s [modes] s between saves, > 0
 * @return as above, CKPD_ERR_LENGTH, CKPD_ERR_RANGE, CKPD_ERR_NOT_FINITE @since 0.1
 */
CKPD_API int32_t ckpd_link_add_job_numbers(ckpd_link *link, const char *name, int32_t modes,
                                           const double *depth_w, const double *duration_s,
                                           const double *interval_s);

/**
 * Adds the checkpoints of a plan to a shaping problem, in order of job and time. A step that begins
 * at t saves at t + interval, t + 2 interval ..., and at its end when no interval fits; a save ends
 * at that moment. Times are seconds since the start of the horizon.
 * @param[out] added number of events added, or NULL
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_INCONSISTENT (jobs or modes of another problem),
 * CKPD_ERR_RANGE, CKPD_ERR_NO_MEMORY; after an error nothing has been added @since 0.1
 */
CKPD_API int32_t ckpd_link_add_events(const ckpd_link *link, ckpd_shape *shape,
                                      const ckpd_plan *plan, double slot_hours, int32_t *added);
/**
 * Moves events of a shaping problem earlier, by at most the field "shift_max_s" in steps of
 * "shift_step_s", so that they overlap less. The deepest are placed first, each where the sum of
 * what is there already is least, then where it moves least. Events need "settle_s" after a
 * recovery to count as apart.
 * @param[out] offset_s [events] what each was moved by, <= 0, or NULL
 * @param      count    number of events of the problem
 * @param[out] before_w, after_w deepest sum of events at one time, or NULL
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_LENGTH, CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_link_stagger(const ckpd_link *link, ckpd_shape *shape, double *offset_s,
                                   int32_t count, double *before_w, double *after_w);

/**
 * GPUs that filler work needs to fill a deficit: the planned types of the problem in order of power
 * per GPU.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_NOT_FINITE, CKPD_ERR_MISSING (no filler) @since 0.1
 */
CKPD_API int32_t ckpd_link_filler_gpus(const ckpd_link *link, const ckpd_shape *shape,
                                       double deficit_w, double *gpus);
/**
 * Keeps GPUs of every slot of a site from training: gpu_cap is lowered.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_RANGE (more than a slot has; nothing changed) @since
 * 0.1
 */
CKPD_API int32_t ckpd_link_reserve(const ckpd_link *link, ckpd_site *site, double gpus);
/**
 * Money for the saves of a training step: each costs the field "price_per_mw" times the MW of its
 * depth beyond the field "fillable_w", and "wear_per_mwh" times the MWh of that part over its
 * duration.
 * @param hours length of the step
 * @return the cost; NaN for an unknown job or mode @since 0.1
 */
CKPD_API double ckpd_link_step_cost(const ckpd_link *link, const char *job, int32_t mode,
                                    double hours);
/**
 * Sets ckpd_link_step_cost() as edge cost of graphs built with these options.
 * @param link borrowed: it must outlive every build with the options
 * @return CKPD_OK, CKPD_ERR_ARGUMENT @since 0.1
 */
CKPD_API int32_t ckpd_link_price(ckpd_link *link, ckpd_graph_options *options, double slot_hours);

#ifdef __cplusplus
}
#endif
#endif
