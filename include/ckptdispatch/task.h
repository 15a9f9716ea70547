/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file task.h
 * The training task: model architecture, training target, the tranche due inside the horizon, and
 * where the task starts. Fields, equations and sources: docs/modes.md.
 */
#ifndef CKPTDISPATCH_TASK_H
#define CKPTDISPATCH_TASK_H

#include <ckptdispatch/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A training task. Confined until it is handed to a build function, which copies what it needs.
 *
 * Its fields are set and read by name; ckpd_task_field_info() lists them with unit, range and
 * default. A field without a default is "not given" until it is set. In short:
 *  - architecture: layers, hidden, heads, kv_heads, ffn, gated_mlp, vocabulary, sequence_length,
 *    tied_embeddings, parameters (else derived), experts, active_experts, expert_ffn,
 *    shared_experts;
 *  - training: tokens, batch_sequences, and as reference a published run: reference_gpu_hours,
 *    reference_gpu, reference_gpus, reference_tp, reference_pp, reference_dp,
 * reference_micro_batch;
 *  - tranche, exactly one of: tranche_share, tranche_tokens, tranche_baseline_hours;
 *  - dispatch: release, deadline (slot boundaries; no deadline means the horizon),
 *    deadline_price_per_hour, segments, start_segments, running_mode or running_tp, running_pp,
 * running_dp, running_micro_batch, with running_slots_done, running_segments and interruption;
 *  - baseline mode: baseline_tp, baseline_pp, baseline_dp, baseline_micro_batch, or baseline_gpus.
 */
typedef struct ckpd_task ckpd_task;

/**
 * Makes a task with every field at its default.
 * @param[out] out      the new task, owned by the caller
 * @param      context  kept alive by the task
 * @param      name     copied; 1 to 255 bytes, shown in reports and messages
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_LENGTH (name), CKPD_ERR_NO_MEMORY @since 0.1
 */
CKPD_API int32_t ckpd_task_new(ckpd_task **out, ckpd_context *context, const char *name);
/** Ends a task. @since 0.1 */
CKPD_API void ckpd_task_free(ckpd_task *task);
/** Name, borrowed from the task; NULL for NULL. @since 0.1 */
CKPD_API const char *ckpd_task_name(const ckpd_task *task);

/**
 * Sets a field by name. Ranges are checked here; what depends on several fields is checked when a
 * mode set is built (ckpd_task_workload() checks it at any time).
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_UNKNOWN_NAME, CKPD_ERR_RANGE, CKPD_ERR_NOT_FINITE
 * @since 0.1
 */
CKPD_API int32_t ckpd_task_set(ckpd_task *task, const char *field, double value);
/**
 * Sets a choice field (reference_gpu, interruption) by its text.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_UNKNOWN_NAME (field or text; the nearest known is
 * named)
 * @since 0.1
 */
CKPD_API int32_t ckpd_task_set_text(ckpd_task *task, const char *field, const char *text);
/**
 * Reads a field; NaN when it is not given. Choices are read as their position.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_UNKNOWN_NAME @since 0.1
 */
CKPD_API int32_t ckpd_task_get(const ckpd_task *task, const char *field, double *value);
/**
 * Reads a choice field as text into a buffer of `size` bytes; "" when it is not given.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_UNKNOWN_NAME, CKPD_ERR_BUFFER @since 0.1
 */
CKPD_API int32_t ckpd_task_get_text(const ckpd_task *task, const char *field, char *buffer,
                                    size_t size);
/** Sets a field back to its default or to "not given". @since 0.1 */
CKPD_API int32_t ckpd_task_unset(ckpd_task *task, const char *field);
/** Number of fields. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_task_field_count(void);
/** Description of field 0..count-1. Any thread. @return CKPD_OK, CKPD_ERR_ARGUMENT,
 * CKPD_ERR_STRUCT_SIZE @since 0.1 */
CKPD_API int32_t ckpd_task_field_info(int32_t index, ckpd_field_info *out);

/** A published model: architecture and, where published, the run that trained it. Zero: not
 * published. */
typedef struct ckpd_model_info {
    size_t size;             /**< sizeof(ckpd_model_info), set by the caller */
    const char *name;        /**< static storage, such as "llama-65b" */
    const char *source;      /**< where the figures are published, static storage */
    const char *gpu;         /**< hardware preset of the published run, "" when none */
    double parameters;       /**< total */
    double tokens;           /**< tokens of the published run */
    double gpu_hours;        /**< GPU-hours of the published run */
    int32_t gpus;            /**< GPUs of the published run */
    int32_t layers;          /**< transformer layers */
    int32_t hidden;          /**< model width */
    int32_t heads;           /**< attention heads */
    int32_t kv_heads;        /**< key and value heads */
    int32_t ffn;             /**< width of the feed-forward part */
    int32_t gated_mlp;       /**< 1: three matrices (SwiGLU), 0: two */
    int32_t vocabulary;      /**< tokens in the vocabulary */
    int32_t sequence_length; /**< tokens a sequence */
    int32_t tied_embeddings; /**< 1: input and output embedding share weights */
    int32_t batch_sequences; /**< sequences an iteration, largest of a ramp */
    int32_t experts;         /**< 0: dense */
    int32_t active_experts;  /**< experts a token passes */
    int32_t expert_ffn;      /**< width of an expert */
    int32_t shared_experts;  /**< experts every token passes */
    int32_t reserved;        /**< 0 */
} ckpd_model_info;

/** Number of model presets. Any thread. @since 0.1 */
CKPD_API int32_t ckpd_model_count(void);
/** Model preset 0..count-1. Any thread. @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE
 * @since 0.1 */
CKPD_API int32_t ckpd_model_get(int32_t index, ckpd_model_info *out);

/**
 * Sets the architecture fields, and tokens and batch_sequences where published, from a model
 * preset. Fields set before are overwritten; fields set after it win.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_UNKNOWN_NAME (the nearest known is named) @since 0.1
 */
CKPD_API int32_t ckpd_task_set_model(ckpd_task *task, const char *model);
/**
 * Sets the published run of a preset as the task's reference (reference_gpu_hours, reference_gpu,
 * reference_gpus), which calibrates the modes.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_UNKNOWN_NAME, CKPD_ERR_MISSING (the preset has no
 * run) @since 0.1
 */
CKPD_API int32_t ckpd_task_set_reference(ckpd_task *task, const char *model);

/**
 * The workload of a task. ckpd_task_workload() fills what needs no mode; what depends on the
 * baseline mode is NaN there and filled by ckpd_mode_set_workload().
 */
typedef struct ckpd_workload {
    size_t size;       /**< sizeof(ckpd_workload), set by the caller */
    double parameters; /**< total parameters N, given or derived; NaN without architecture */
    double derived_parameters;     /**< what the architecture gives; NaN without architecture */
    double active_parameters;      /**< parameters a token uses (= parameters unless experts) */
    double flop_per_token;         /**< 6 N + 6 L s h (causal attention), FLOP */
    double total_flop;             /**< C = tokens x flop_per_token, FLOP; NaN without tokens */
    double total_tokens;           /**< D; NaN when not given */
    double total_iterations;       /**< D / (batch x sequence) */
    double reference_tokens_per_s; /**< per GPU, of the reference run; NaN when none */
    double reference_flops; /**< C / (3600 H): effective FLOP/s per GPU of the reference run */
    double tranche_tokens;  /**< tokens due inside the horizon; NaN when work is not in tokens */
    double tranche_share;   /**< of the whole run; NaN without tokens */
    double tranche_work;    /**< W in rate unit x seconds: tokens, or the unit of a user's table */
    double segment_work;    /**< W / K */
    double tranche_iterations;      /**< iterations of the tranche */
    double segments;                /**< K */
    double baseline_hours;          /**< tranche in hours of the baseline mode */
    double checkpoint_interval_min; /**< a segment in the baseline mode, minutes */
    double efficiency;              /**< stack efficiency the modes were built with */
    double calibration; /**< efficiency / the hardware's own value; 1 without reference */
} ckpd_workload;

/**
 * Checks the task and computes its workload as far as no mode is needed.
 * @return CKPD_OK, CKPD_ERR_ARGUMENT, CKPD_ERR_STRUCT_SIZE, CKPD_ERR_MISSING,
 * CKPD_ERR_INCONSISTENT, CKPD_ERR_RANGE; the message names field and numbers @since 0.1
 */
CKPD_API int32_t ckpd_task_workload(const ckpd_task *task, ckpd_workload *out);

#ifdef __cplusplus
}
#endif
#endif
