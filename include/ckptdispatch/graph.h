/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file graph.h
 * Checkpoint-state graphs: what one job may do over the horizon.
 *
 * A node (t, k) means "at slot boundary t, k checkpoint segments are complete". Wait edges lead to
 * (t + 1, k); a training edge in mode m over s segments leads to (t + tau, k + s) with
 * tau = max(1, ceil(x (1 - 1e-9))), x = s * work / segments / (3600 * rate of m * slot_hours)
 * (docs/model.md, section 4). Nothing stops between checkpoints.
 */
#ifndef CKPTDISPATCH_GRAPH_H
#define CKPTDISPATCH_GRAPH_H

#include <ckptdispatch/base.h>
#include <ckptdispatch/modes.h>
#include <ckptdispatch/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How a graph is built. Confined. */
typedef struct ckpd_graph_options ckpd_graph_options;

/**
 * Makes options with their defaults.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_NO_MEMORY
 * @since 0.1
 */
CKPD_API int32_t ckpd_graph_options_new(ckpd_graph_options **out, ckpd_context *context);
/** Ends options; NULL is fine. Any thread. @since 0.1 */
CKPD_API void ckpd_graph_options_free(ckpd_graph_options *options);
/**
 * Sets a field by name: "reduce" (flag, default 1: leave out redundant edges where that loses
 * nothing and nodes that are on no path), "checkpoint_save_share" (share of each segment's time
 * spent saving, default 0).
 * @return CKPD_OK, CKPD_ERR_UNKNOWN_NAME, CKPD_ERR_RANGE, CKPD_ERR_NOT_FINITE @since 0.1
 */
CKPD_API int32_t ckpd_graph_options_set(ckpd_graph_options *options, const char *field,
                                        double value);
/** Sets a choice: "last_slot_power" to "occupied" (default) or "prorated". @since 0.1 */
CKPD_API int32_t ckpd_graph_options_set_text(ckpd_graph_options *options, const char *field,
                                             const char *text);
/** Reads a field. @since 0.1 */
CKPD_API int32_t ckpd_graph_options_get(const ckpd_graph_options *options, const char *field,
                                        double *value);
/**
 * Reads a choice as text; `size` bytes of `buffer`, 16 are enough.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_UNKNOWN_NAME, CKPD_ERR_BUFFER @since 0.1
 */
CKPD_API int32_t ckpd_graph_options_get_text(const ckpd_graph_options *options, const char *field,
                                             char *buffer, size_t size);
/** Number of fields. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_graph_options_field_count(void);
/** Describes the i-th field. @return CKPD_OK, CKPD_ERR_RANGE, CKPD_ERR_STRUCT_SIZE @since 0.1 */
CKPD_API int32_t ckpd_graph_options_field_info(int32_t index, ckpd_field_info *out);

/**
 * Mode changes that are allowed: allowed[from * modes + to] is 0 when a job that last ran mode
 * `from` must not run mode `to` next (also after a wait). Mode numbers are those of the mode set.
 * Copied. NULL removes the rule (everything is allowed).
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_graph_options_set_transitions(ckpd_graph_options *options, int32_t modes,
                                                    const uint8_t *allowed);
/** Non-zero when a job may go on in mode `to` after `from`. Called while a graph is built. */
typedef int32_t (*ckpd_transition_fn)(const ckpd_mode *from, const ckpd_mode *to, void *user);
/** The same rule as a callback, asked once for each ordered pair of modes per graph. NULL: no rule.
 * @since 0.1 */
CKPD_API int32_t ckpd_graph_options_set_transition_rule(ckpd_graph_options *options,
                                                        ckpd_transition_fn rule, void *user);

/**
 * What starting a mode costs, added to the edge that starts it: `hours` before training goes on
 * (the GPUs are held and the mode's full power is drawn) and `money` (any finite sign). Every edge
 * is a start: going on without a stop is one longer edge. Off by default; edges are then not
 * reduced.
 * @param modes  number of modes of the mode set
 * @param hours  [(modes + 1) * modes], row 0: nothing ran before, row 1 + m: mode m ran last
 *               (also before a wait), column: the mode started; >= 0; copied; NULL: no time
 * @param money  the same shape; copied; NULL: none
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_RANGE, CKPD_ERR_NOT_FINITE (index in the array),
 *         CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_graph_options_set_change_costs(ckpd_graph_options *options, int32_t modes,
                                                     const double *hours, const double *money);
/**
 * The same from a checkpoint profile: ckpd_checkpoint_change() of every pair of modes.
 * @return as ckpd_graph_options_set_change_costs() and ckpd_checkpoint_change() @since 0.1
 */
CKPD_API int32_t ckpd_graph_options_set_checkpoint(ckpd_graph_options *options,
                                                   const ckpd_checkpoint *checkpoint,
                                                   const ckpd_mode_set *modes);

/** One training edge. */
typedef struct ckpd_edge {
    size_t size;               /**< sizeof(ckpd_edge), set by the caller */
    int32_t from_slot;         /**< first slot boundary */
    int32_t to_slot;           /**< slot boundaries; the edge occupies from_slot .. to_slot - 1 */
    int32_t from_segment;      /**< segments complete before */
    int32_t to_segment;        /**< segments complete before and after */
    int32_t mode;              /**< mode number in the mode set */
    int32_t gpus;              /**< held in each slot */
    double power_kw;           /**< IT power in each slot but the last */
    double last_slot_power_kw; /**< IT power in the last slot */
} ckpd_edge;

/**
 * Amount of money (any finite sign) to be added for a training edge of the job named `job`.
 * Non-zero `*failed` stops the build with CKPD_ERR_CALLBACK. Called while a graph is built.
 */
typedef double (*ckpd_edge_cost_fn)(const char *job, const ckpd_edge *edge, int32_t *failed,
                                    void *user);
/** Cost per training edge; NULL removes it. Edges are then not reduced. @since 0.1 */
CKPD_API int32_t ckpd_graph_options_set_edge_cost(ckpd_graph_options *options,
                                                  ckpd_edge_cost_fn cost, void *user);

/** Checkpoint-state graph of one job. Immutable after build (shareable). */
typedef struct ckpd_graph ckpd_graph;

/**
 * Builds the graph of a task over a horizon of `slots` slots of `slot_hours` hours.
 * Job name, release, deadline, segments, start segments and running edge come from the task; work,
 * rates, power and GPUs from the mode set, which is made after the task says what runs.
 * @param options NULL for the defaults
 * @return CKPD_OK; CKPD_ERR_RANGE (deadline beyond the horizon, release >= deadline, start segments
 *         > segments, slot_hours), CKPD_ERR_INCONSISTENT (modes made before the task's running_mode
 * was set), CKPD_ERR_CALLBACK, CKPD_ERR_NOT_FINITE, CKPD_ERR_NO_MEMORY. A graph without any path is
 * built; the dispatch then says why (see dispatch.h). @since 0.1
 */
CKPD_API int32_t ckpd_graph_build(ckpd_graph **out, ckpd_context *context, const ckpd_task *task,
                                  const ckpd_mode_set *modes, int32_t slots, double slot_hours,
                                  const ckpd_graph_options *options);
/** Ends a graph; NULL is fine. Any thread. @since 0.1 */
CKPD_API void ckpd_graph_free(ckpd_graph *graph);

/**
 * Size of a graph. full = training + redundant + unreachable + forbidden. With a transition rule
 * nodes and edges count once for each last mode from which they may be reached.
 */
typedef struct ckpd_graph_counts {
    size_t size;                 /**< sizeof(ckpd_graph_counts), set by the caller */
    int64_t nodes;               /**< nodes of the graph as built, without the sink */
    int64_t training_edges;      /**< training edges of the graph as built */
    int64_t wait_edges;          /**< wait edges of the graph as built */
    int64_t full_training_edges; /**< before any was left out: all that fit between source and
                                    deadline */
    int64_t redundant_edges;     /**< left out because a split occupies the same slots */
    int64_t unreachable_edges;   /**< left out because an end is on no path */
    int64_t forbidden_edges;     /**< left out by the transition rule */
} ckpd_graph_counts;
/** Counts of the graph. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE @since 0.1 */
CKPD_API int32_t ckpd_graph_count(const ckpd_graph *graph, ckpd_graph_counts *out);
/** Job name, borrowed. @since 0.1 */
CKPD_API const char *ckpd_graph_name(const ckpd_graph *graph);
/** Checkpoint segments K. @since 0.1 */
CKPD_API int32_t ckpd_graph_segments(const ckpd_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
