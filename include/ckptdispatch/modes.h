/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file modes.h
 * Hardware, the rules of enumeration, and mode sets: which layouts a task can run in, how fast, at
 * what IT power and in how much memory. Equations, sources, error tables: docs/modes.md.
 */
#ifndef CKPTDISPATCH_MODES_H
#define CKPTDISPATCH_MODES_H

#include <ckptdispatch/base.h>
#include <ckptdispatch/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- hardware -------------------------------------------------------------------------------- */

/**
 * One GPU type with its links, software stack efficiency, memory and power coefficients, as named
 * fields (ckpd_hardware_field_info()). Confined until a build function copies it.
 */
typedef struct ckpd_hardware ckpd_hardware;

/**
 * Makes a hardware description from a preset such as "a100-80gb"; every field can be overridden.
 * @param[out] out      the new object, owned by the caller
 * @param      context  kept alive by the object
 * @param      preset   name of ckpd_hardware_preset_name()
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_UNKNOWN_NAME (nearest known name in the message),
 *         CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_hardware_new(ckpd_hardware **out, ckpd_context *context, const char *preset);
/** Ends a hardware description. @since 0.1 */
CKPD_API void ckpd_hardware_free(ckpd_hardware *hardware);
/** Name of the preset it was made from, static storage. @since 0.1 */
CKPD_API const char *ckpd_hardware_name(const ckpd_hardware *hardware);
/** Sets a field. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_UNKNOWN_NAME, CKPD_ERR_RANGE,
 * CKPD_ERR_NOT_FINITE @since 0.1 */
CKPD_API int32_t ckpd_hardware_set(ckpd_hardware *hardware, const char *field, double value);
/** Sets a choice field by text. @return as ckpd_task_set_text() @since 0.1 */
CKPD_API int32_t ckpd_hardware_set_text(ckpd_hardware *hardware, const char *field,
                                        const char *text);
/** Reads a field. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_UNKNOWN_NAME @since 0.1 */
CKPD_API int32_t ckpd_hardware_get(const ckpd_hardware *hardware, const char *field, double *value);
/** Reads a choice field as text. @return as ckpd_task_get_text() @since 0.1 */
CKPD_API int32_t ckpd_hardware_get_text(const ckpd_hardware *hardware, const char *field,
                                        char *buffer, size_t size);
/** Sets a field back to the value of the preset. @since 0.1 */
CKPD_API int32_t ckpd_hardware_unset(ckpd_hardware *hardware, const char *field);
/** Number of fields. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_hardware_field_count(void);
/** Description of field 0..count-1; defaults are those of the preset "a100-80gb". Any thread.
 * @since 0.1 */
CKPD_API int32_t ckpd_hardware_field_info(int32_t index, ckpd_field_info *out);
/** Number of presets. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_hardware_preset_count(void);
/** Name of preset 0..count-1, static storage; NULL when out of range. Any thread. @since 0.1 */
CKPD_API const char *ckpd_hardware_preset_name(int32_t index);
/** Sources of the preset's figures, static storage; NULL when out of range. Any thread. @since 0.1
 */
CKPD_API const char *ckpd_hardware_preset_source(int32_t index);

/* --- rules of enumeration ------------------------------------------------------------------- */

/** Recomputation of activations. */
enum {
    CKPD_RECOMPUTE_NONE = 0,
    CKPD_RECOMPUTE_SELECTIVE =
        1,                  /**< attention core only (or flash attention), with sequence parallel */
    CKPD_RECOMPUTE_FULL = 2 /**< every layer from its input */
};

/**
 * Which layouts are tried and kept: limits as named fields (installed_gpus is required) and lists
 * for each dimension. Confined until a build function copies it.
 */
typedef struct ckpd_mode_rules ckpd_mode_rules;

/** Makes rules with the default lists. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_NO_MEMORY
 * @since 0.1 */
CKPD_API int32_t ckpd_mode_rules_new(ckpd_mode_rules **out, ckpd_context *context);
/** Ends rules. @since 0.1 */
CKPD_API void ckpd_mode_rules_free(ckpd_mode_rules *rules);
/** Sets a field. @return as ckpd_hardware_set() @since 0.1 */
CKPD_API int32_t ckpd_mode_rules_set(ckpd_mode_rules *rules, const char *field, double value);
/** Reads a field. @return as ckpd_hardware_get() @since 0.1 */
CKPD_API int32_t ckpd_mode_rules_get(const ckpd_mode_rules *rules, const char *field,
                                     double *value);
/** Sets a field back to its default. @since 0.1 */
CKPD_API int32_t ckpd_mode_rules_unset(ckpd_mode_rules *rules, const char *field);
/** Number of fields. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_mode_rules_field_count(void);
/** Description of field 0..count-1. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_mode_rules_field_info(int32_t index, ckpd_field_info *out);
/**
 * Sets the values tried in one dimension; sorted and copied, duplicates refused.
 * Lists: "tp" (default: powers of two up to the node size), "pp" (divisors of the layers, with
 * uneven_stages also of the layers + 2), "dp"
 * (divisors of the batch), "cp" ({1}), "ep" ({1}), "micro_batch" ({1, 2, 4, 8}), "interleave"
 * ({1}), "recompute" (CKPD_RECOMPUTE_ values, all three).
 * @param count  1 to 64; 0 restores the default
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_UNKNOWN_NAME, CKPD_ERR_LENGTH, CKPD_ERR_RANGE (an
 * element, with its index), CKPD_ERR_DUPLICATE @since 0.1
 */
CKPD_API int32_t ckpd_mode_rules_set_list(ckpd_mode_rules *rules, const char *list, int32_t count,
                                          const int32_t *values);
/**
 * Reads a list: writes at most `capacity` values and always *count; 0 when the list is at its
 * default.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_UNKNOWN_NAME, CKPD_ERR_BUFFER @since 0.1
 */
CKPD_API int32_t ckpd_mode_rules_get_list(const ckpd_mode_rules *rules, const char *list,
                                          int32_t capacity, int32_t *values, int32_t *count);
/** Number of lists. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_mode_rules_list_count(void);
/** Name of list 0..count-1, static storage; NULL when out of range. Any thread. @since 0.1 */
CKPD_API const char *ckpd_mode_rules_list_name(int32_t index);

/* --- modes ----------------------------------------------------------------------------------- */

/** What is worth knowing about a mode. */
enum {
    CKPD_MODE_BASELINE = 1,  /**< the baseline mode */
    CKPD_MODE_RUNNING = 2,   /**< the mode of the edge that runs at the start */
    CKPD_MODE_DOMINATED = 4, /**< kept although another mode is at least as good in every respect */
    CKPD_MODE_MISALIGNED = 8,   /**< matrix sizes that kernels run slowly (docs/modes.md) */
    CKPD_MODE_UNVALIDATED = 16, /**< uses a dimension no published run has tested */
    CKPD_MODE_TDP_POWER = 64,   /**< power rests on thermal design power, not on a meter */
    CKPD_MODE_USER = 32         /**< from a user's table: no memory or time breakdown */
};

/** Why a layout was dropped. */
enum {
    CKPD_DROP_NONE = 0,
    CKPD_DROP_TENSOR = 1, /**< tp does not divide heads, hidden or ffn, or does not fit kv_heads */
    CKPD_DROP_PIPELINE = 2,  /**< pp (x interleave) does not divide the layers */
    CKPD_DROP_BATCH = 3,     /**< dp x micro-batch does not divide the batch */
    CKPD_DROP_FILL = 4,      /**< fewer micro-batches than pipeline stages */
    CKPD_DROP_NODE = 5,      /**< tp exceeds the node */
    CKPD_DROP_FEW_GPUS = 6,  /**< fewer GPUs than the minimum */
    CKPD_DROP_MANY_GPUS = 7, /**< more GPUs than installed */
    CKPD_DROP_MEMORY = 8,    /**< does not fit the usable memory */
    CKPD_DROP_DOMINATED =
        9,                  /**< another mode is at least as good in every respect, better in one */
    CKPD_DROP_EQUAL = 10,   /**< equal to another mode, which comes first */
    CKPD_DROP_CONTEXT = 11, /**< cp does not divide the sequence */
    CKPD_DROP_EXPERTS = 12  /**< ep does not divide experts or dp */
};

/** A mode. NaN: not known (user tables). Bytes are bytes, GB = 1e9. */
typedef struct ckpd_mode {
    size_t size;              /**< sizeof(ckpd_mode), set by the caller */
    int32_t tp;               /**< tensor parallel; layout members are 0 when not given */
    int32_t pp;               /**< pipeline stages */
    int32_t dp;               /**< data parallel */
    int32_t micro_batch;      /**< sequences a micro-batch */
    int32_t cp;               /**< context parallel */
    int32_t ep;               /**< expert parallel (inside dp) */
    int32_t interleave;       /**< model chunks a stage, v */
    int32_t recompute;        /**< CKPD_RECOMPUTE_... */
    int32_t gpus;             /**< n = tp x pp x dp x cp */
    int32_t flags;            /**< CKPD_MODE_... */
    int32_t source_index;     /**< position in the user's table, -1 for enumerated modes */
    int32_t reserved;         /**< 0 */
    double rate;              /**< tokens/s, or the unit of a user's table per second */
    double power_kw;          /**< IT power while training, all GPUs of the mode */
    double idle_power_kw;     /**< IT power of the same GPUs idle; NaN when a table gives none */
    double iteration_s;       /**< time of one iteration */
    double compute_s;         /**< of it: matrix work of all micro-batches */
    double tp_s;              /**< exposed tensor- (and context-) parallel communication */
    double pp_s;              /**< stage to stage */
    double dp_s;              /**< exposed gradient and parameter exchange */
    double bubble_s;          /**< pipeline fill and drain */
    double busy_fraction;     /**< share of the iteration in which the GPU computes */
    double mfu;               /**< model FLOP utilisation (no recomputation counted), of peak */
    double hfu;               /**< hardware FLOP utilisation (recomputation counted), of peak */
    double joule_per_token;   /**< power / rate */
    double rate_error;        /**< relative half-width of the error band of rate */
    double memory_error;      /**< the same of memory_bytes */
    double power_error;       /**< the same of power_kw */
    double memory_bytes;      /**< peak memory of the fullest GPU, everything below together */
    double memory_limit;      /**< usable memory */
    double margin_bytes;      /**< memory_limit - memory_bytes; negative: missing */
    double states_bytes;      /**< parameters, gradients, optimizer */
    double activations_bytes; /**< kept for the backward pass by the micro-batches in flight */
    double working_bytes;     /**< one layer at work, or the logits if larger */
    double logits_bytes;      /**< logits alone (part of working_bytes when largest) */
    double overhead_bytes;    /**< allocator factor and runtime offset */
    double evaluation_kw;     /**< IT power while evaluating */
    double checkpoint_kw;     /**< IT power while training waits for a checkpoint */
} ckpd_mode;

/** A layout to evaluate. Zero counts as 1, except that recompute 0 is CKPD_RECOMPUTE_NONE. */
typedef struct ckpd_layout {
    size_t size;         /**< sizeof(ckpd_layout), set by the caller */
    int32_t tp;          /**< tensor parallel */
    int32_t pp;          /**< pipeline stages */
    int32_t dp;          /**< data parallel */
    int32_t micro_batch; /**< sequences a micro-batch */
    int32_t cp;          /**< context parallel */
    int32_t ep;          /**< expert parallel */
    int32_t interleave;  /**< model chunks a stage */
    int32_t recompute;   /**< CKPD_RECOMPUTE_... */
} ckpd_layout;

/**
 * Time, power and memory of one layout, without any rule but arithmetic sense (a stage has whole
 * layers, the batch whole micro-batches): also for layouts that the rules would drop.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE, CKPD_ERR_RANGE, CKPD_ERR_INCONSISTENT,
 *         CKPD_ERR_MISSING @since 0.1
 */
CKPD_API int32_t ckpd_mode_evaluate(const ckpd_task *task, const ckpd_hardware *hardware,
                                    const ckpd_layout *layout, ckpd_mode *out);

/* --- anchoring: measured runs --------------------------------------------------------------- */

/**
 * One measured run. Exactly one of iteration_s, tokens_per_s and gpu_hours is given (> 0). Layout
 * members that are not known are 0 (recompute: -1); with tp, pp, dp not all known, gpus is needed,
 * and the fastest legal layout that agrees with what is known stands for the run.
 */
typedef struct ckpd_run {
    size_t size;         /**< sizeof(ckpd_run), set by the caller */
    int32_t tp;          /**< tensor parallel */
    int32_t pp;          /**< pipeline stages */
    int32_t dp;          /**< data parallel */
    int32_t micro_batch; /**< sequences a micro-batch */
    int32_t cp;          /**< 0: 1 */
    int32_t ep;          /**< 0: 1 */
    int32_t interleave;  /**< 0: 1 */
    int32_t recompute;   /**< CKPD_RECOMPUTE_..., -1: not known */
    int32_t gpus;        /**< 0: tp x pp x dp x cp */
    int32_t reserved;    /**< 0 */
    double iteration_s;  /**< seconds an iteration */
    double tokens_per_s; /**< of the whole run */
    double gpu_hours;    /**< over the task's tokens */
    double memory_gb;    /**< peak of the fullest GPU, 0: not measured */
    double power_kw;     /**< IT power, all GPUs of the run, 0: not measured */
} ckpd_run;

/** Coefficients that ckpd_anchor_fit() may fit besides the efficiency. */
enum {
    CKPD_FIT_EFFICIENCY = 0,     /**< the stack efficiency alone */
    CKPD_FIT_LAYER_OVERHEAD = 1, /**< layer_overhead_ms */
    CKPD_FIT_NETWORK = 2,        /**< network_efficiency */
    CKPD_FIT_LINK = 4,           /**< link_efficiency */
    CKPD_FIT_MEMORY = 8,         /**< memory_offset_gb, from three rows on also memory_factor */
    CKPD_FIT_POWER = 16          /**< busy_kw */
};

/** A run beside what the fitted model says of it (ckpd_anchor_mode()). NaN: not measured. */
typedef struct ckpd_residual {
    size_t size;            /**< sizeof(ckpd_residual), set by the caller */
    double iteration_s;     /**< measured (or what the measured rate means) */
    double iteration_error; /**< predicted / measured - 1 */
    double memory_error;    /**< the same of memory_gb */
    double power_error;     /**< the same of power_kw */
} ckpd_residual;

/** Result of a fit. */
typedef struct ckpd_anchor_report {
    size_t size;       /**< sizeof(ckpd_anchor_report), set by the caller */
    int32_t rows;      /**< runs used */
    int32_t reserved;  /**< 0 */
    double efficiency; /**< fitted stack efficiency */
    double rms_error;  /**< root mean square of ln(predicted / measured) of the iteration time */
    double
        rate_error; /**< error bands that the hardware now carries (docs/modes.md, "Anchoring") */
    double memory_error; /**< the same of memory */
    double power_error;  /**< the same of power */
} ckpd_anchor_report;

/** Measured runs of one software stack on one hardware. Confined. */
typedef struct ckpd_anchor ckpd_anchor;

/**
 * Makes an empty list of runs.
 * @param hardware  start of the fit; copied
 * @param rules     limits for the layouts that may stand for a run, or NULL for the defaults with
 *                  uneven_stages; copied
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_anchor_new(ckpd_anchor **out, ckpd_context *context,
                                 const ckpd_hardware *hardware, const ckpd_mode_rules *rules);
/** Ends a list of runs. @since 0.1 */
CKPD_API void ckpd_anchor_free(ckpd_anchor *anchor);
/**
 * Adds a run of `task` (only its architecture and batch matter; copied).
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE, CKPD_ERR_MISSING, CKPD_ERR_RANGE,
 *         CKPD_ERR_INCONSISTENT (no legal layout explains the run; index is its position),
 *         CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_anchor_add(ckpd_anchor *anchor, const ckpd_task *task, const ckpd_run *run);
/** Number of runs. @since 0.1 */
CKPD_API int32_t ckpd_anchor_count(const ckpd_anchor *anchor);
/**
 * Fits by least squares of ln(predicted / measured) over the runs, and writes the coefficients and
 * error bands into `hardware`.
 * @param      fit  CKPD_FIT_ values joined by |; needs more runs than coefficients when there are
 * several
 * @param[out] out  or NULL
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STATE (no run), CKPD_ERR_STRUCT_SIZE,
 *         CKPD_ERR_INCONSISTENT (too few runs, or no efficiency up to 2 explains them) @since 0.1
 */
CKPD_API int32_t ckpd_anchor_fit(ckpd_anchor *anchor, int32_t fit, ckpd_hardware *hardware,
                                 ckpd_anchor_report *out);
/** Run 0..count-1 under the last fit (before any: the hardware as given). @return CKPD_OK,
 * CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE @since 0.1 */
CKPD_API int32_t ckpd_anchor_residual(const ckpd_anchor *anchor, int32_t index, ckpd_residual *out);
/** Prediction for run 0..count-1 under the last fit, with the layout that stands for the run.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE @since 0.1 */
CKPD_API int32_t ckpd_anchor_mode(const ckpd_anchor *anchor, int32_t index, ckpd_mode *out);

/**
 * The modes of a task, ordered by GPUs, then tp, pp, dp, micro-batch and the rest.
 * Immutable after build: share it freely.
 */
typedef struct ckpd_mode_set ckpd_mode_set;

/**
 * Enumerates, screens and prunes the layouts of a task.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_MISSING, CKPD_ERR_INCONSISTENT, CKPD_ERR_RANGE,
 *         CKPD_ERR_NO_MODE (with the nearest miss: how many GB over), CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_mode_set_build(ckpd_mode_set **out, ckpd_context *context,
                                     const ckpd_task *task, const ckpd_hardware *hardware,
                                     const ckpd_mode_rules *rules);

/** Measured modes of a user. Arrays have `count` elements and are copied; optional ones may be
 * NULL. */
typedef struct ckpd_mode_table {
    size_t size;                 /**< sizeof(ckpd_mode_table), set by the caller */
    int32_t count;               /**< modes, at least 1 */
    int32_t installed_gpus;      /**< a mode with more GPUs is an error */
    const int32_t *gpus;         /**< GPUs of each mode */
    const double *rate;          /**< work units per second, any unit, > 0 */
    const double *power_kw;      /**< IT power while training, >= 0 */
    const double *idle_power_kw; /**< IT power of the mode's GPUs idle, or NULL */
    const int32_t *tp;           /**< layouts: all four or none */
    const int32_t *pp;           /**< pipeline stages */
    const int32_t *dp;           /**< data parallel */
    const int32_t *micro_batch;  /**< sequences a micro-batch */
    const char *const *labels;   /**< or NULL; elements may be NULL */
    int32_t baseline_index;      /**< position of the baseline mode, or -1: by the task's fields */
    int32_t keep_dominated;      /**< 1: no pruning */
} ckpd_mode_table;

/**
 * Takes a user's modes. The tranche of the task is then counted in the unit of `rate` x seconds:
 * tranche_baseline_hours x 3600 x the baseline's rate, or tokens when the task says tokens.
 * Without a layout the baseline is the fastest mode with baseline_gpus.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE, CKPD_ERR_RANGE, CKPD_ERR_NOT_FINITE,
 *         CKPD_ERR_MISSING, CKPD_ERR_INCONSISTENT, CKPD_ERR_NO_MEMORY; the index of the row is
 * named
 * @since 0.1
 */
CKPD_API int32_t ckpd_mode_set_from_table(ckpd_mode_set **out, ckpd_context *context,
                                          const ckpd_task *task, const ckpd_mode_table *table);

/** Ends a mode set. @since 0.1 */
CKPD_API void ckpd_mode_set_free(ckpd_mode_set *set);
/** Number of retained modes. @since 0.1 */
CKPD_API int32_t ckpd_mode_set_count(const ckpd_mode_set *set);
/** Number of layouts that pass divisibility and memory, before pruning. @since 0.1 */
CKPD_API int32_t ckpd_mode_set_feasible_count(const ckpd_mode_set *set);
/** Number of layouts looked at. @since 0.1 */
CKPD_API int64_t ckpd_mode_set_layout_count(const ckpd_mode_set *set);
/** Retained mode 0..count-1. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE @since 0.1 */
CKPD_API int32_t ckpd_mode_set_get(const ckpd_mode_set *set, int32_t index, ckpd_mode *out);
/** Short text of a retained mode such as "tp8 pp4 dp16 mb1", borrowed from the set; NULL when out
 * of range. @since 0.1 */
CKPD_API const char *ckpd_mode_set_label(const ckpd_mode_set *set, int32_t index);
/** Index of the baseline among the retained modes, -1 when the task names none. @since 0.1 */
CKPD_API int32_t ckpd_mode_set_baseline(const ckpd_mode_set *set);
/** Index of the mode that runs at the start among the retained modes, -1 when none. @since 0.1 */
CKPD_API int32_t ckpd_mode_set_running(const ckpd_mode_set *set);
/**
 * Work of the tranche, W, in rate unit x seconds. With K segments, a segment in a mode takes
 * W / K / (rate x 3600 x slot hours) slots. @since 0.1
 */
CKPD_API double ckpd_mode_set_work(const ckpd_mode_set *set);
/** The complete workload. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE @since 0.1 */
CKPD_API int32_t ckpd_mode_set_workload(const ckpd_mode_set *set, ckpd_workload *out);
/** Number of dropped layouts. @since 0.1 */
CKPD_API int32_t ckpd_mode_set_dropped_count(const ckpd_mode_set *set);
/**
 * Dropped layout 0..dropped_count-1 in the order of enumeration.
 * @param[out] mode     what is known of it; time, power and memory are NaN when it was not
 * evaluated
 * @param[out] reason   CKPD_DROP_..., or NULL
 * @param[out] text     one line with the numbers, cut to `size` bytes, or NULL with size 0
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE @since 0.1
 */
CKPD_API int32_t ckpd_mode_set_dropped_get(const ckpd_mode_set *set, int32_t index, ckpd_mode *mode,
                                           int32_t *reason, char *text, size_t size);
/** Name of a CKPD_DROP_ reason, static storage. Any thread. @since 0.1 */
CKPD_API const char *ckpd_drop_name(int32_t reason);

/* --- checkpoint economics ------------------------------------------------------------------- */

/**
 * What checkpoints and mode changes cost, as named fields (ckpd_checkpoint_field_info()): bytes,
 * storage, stalls, restarts, failures. Confined while it is set.
 */
typedef struct ckpd_checkpoint ckpd_checkpoint;

/** Makes a profile with the published defaults (docs/modes.md, "Checkpoints"). @return CKPD_OK,
 * CKPD_ERR_ARGUMENT, CKPD_ERR_NO_MEMORY @since 0.1 */
CKPD_API int32_t ckpd_checkpoint_new(ckpd_checkpoint **out, ckpd_context *context);
/** Ends a profile. @since 0.1 */
CKPD_API void ckpd_checkpoint_free(ckpd_checkpoint *checkpoint);
/** Sets a field. @return as ckpd_hardware_set() @since 0.1 */
CKPD_API int32_t ckpd_checkpoint_set(ckpd_checkpoint *checkpoint, const char *field, double value);
/** Sets the choice "save_kind": synchronous, asynchronous or differential. @return as
 * ckpd_task_set_text() @since 0.1 */
CKPD_API int32_t ckpd_checkpoint_set_text(ckpd_checkpoint *checkpoint, const char *field,
                                          const char *text);
/** Reads a field. @return as ckpd_hardware_get() @since 0.1 */
CKPD_API int32_t ckpd_checkpoint_get(const ckpd_checkpoint *checkpoint, const char *field,
                                     double *value);
/** Reads a choice as text. @return as ckpd_task_get_text() @since 0.1 */
CKPD_API int32_t ckpd_checkpoint_get_text(const ckpd_checkpoint *checkpoint, const char *field,
                                          char *buffer, size_t size);
/** Sets a field back to its default. @since 0.1 */
CKPD_API int32_t ckpd_checkpoint_unset(ckpd_checkpoint *checkpoint, const char *field);
/** Number of fields. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_checkpoint_field_count(void);
/** Description of field 0..count-1. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_checkpoint_field_info(int32_t index, ckpd_field_info *out);

/** What saving costs in one mode. */
typedef struct ckpd_checkpoint_cost {
    size_t size;        /**< sizeof(ckpd_checkpoint_cost), set by the caller */
    double full_bytes;  /**< a full checkpoint */
    double save_bytes;  /**< an average save (less than full when differential) */
    double write_s;     /**< time to write an average save */
    double stall_s;     /**< training waits so long at an average save */
    double interval_h;  /**< between saves: as asked, or one segment of the tranche in this mode */
    double saves;       /**< in the tranche */
    double stall_share; /**< of training time, with the slowdown of differential saves */
    double stall_kwh;   /**< energy while waiting, a save */
    double mtbf_h;      /**< mean time between failures of the mode's GPUs */
    double
        lost_share; /**< expected share of time lost by failures: half an interval and a restart */
    double young_h; /**< recommended interval, Young 1974 */
    double daly_h;  /**< recommended interval, Daly 2006 */
} ckpd_checkpoint_cost;

/**
 * Cost of saving in a retained mode.
 * @param interval_h  time between saves, 0: one segment of the tranche
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE, CKPD_ERR_RANGE, CKPD_ERR_MISSING (a
 * table of modes without architecture needs state_gb) @since 0.1
 */
CKPD_API int32_t ckpd_checkpoint_evaluate(const ckpd_checkpoint *checkpoint,
                                          const ckpd_mode_set *set, int32_t mode, double interval_h,
                                          ckpd_checkpoint_cost *out);

/** Kinds of going on from a checkpoint. */
enum {
    CKPD_CHANGE_NONE = 0, /**< same layout */
    CKPD_CHANGE_DP = 1,   /**< data-parallel size only */
    CKPD_CHANGE_LAYOUT =
        2 /**< tensor, pipeline, context or expert parallel: the state is re-sharded */
};

/** What it costs to go on in a mode after a checkpoint. */
typedef struct ckpd_change_cost {
    size_t size;       /**< sizeof(ckpd_change_cost), set by the caller */
    int32_t kind;      /**< CKPD_CHANGE_... */
    int32_t reserved;  /**< 0 */
    double hours;      /**< before training goes on, with the GPUs of the new mode held */
    double energy_kwh; /**< IT energy in these hours */
    double money;      /**< per change, as the profile says */
} ckpd_change_cost;

/**
 * Cost of a resume in mode `to` after mode `from` (retained modes; -1: a first start, counted as
 * CKPD_CHANGE_NONE). Between modes of a table without layouts any change of GPUs counts as
 * CKPD_CHANGE_LAYOUT.
 * @return as ckpd_checkpoint_evaluate() @since 0.1
 */
CKPD_API int32_t ckpd_checkpoint_change(const ckpd_checkpoint *checkpoint, const ckpd_mode_set *set,
                                        int32_t from, int32_t to, ckpd_change_cost *out);

#ifdef __cplusplus
}
#endif
#endif
