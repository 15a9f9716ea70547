/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Inside of a task, and what modes and graph ask of it. */
#ifndef CKPD_LIB_TASK_H
#define CKPD_LIB_TASK_H

#include "base/base.h"
#include "base/fields.h"
#include <ckptdispatch/task.h>

/* Order of the field table in fields.c. */
enum {
    CKPD__TASK_LAYERS,
    CKPD__TASK_HIDDEN,
    CKPD__TASK_HEADS,
    CKPD__TASK_KV_HEADS,
    CKPD__TASK_FFN,
    CKPD__TASK_GATED_MLP,
    CKPD__TASK_VOCABULARY,
    CKPD__TASK_SEQUENCE_LENGTH,
    CKPD__TASK_TIED_EMBEDDINGS,
    CKPD__TASK_PARAMETERS,
    CKPD__TASK_EXPERTS,
    CKPD__TASK_ACTIVE_EXPERTS,
    CKPD__TASK_EXPERT_FFN,
    CKPD__TASK_SHARED_EXPERTS,
    CKPD__TASK_TOKENS,
    CKPD__TASK_BATCH_SEQUENCES,
    CKPD__TASK_REFERENCE_GPU_HOURS,
    CKPD__TASK_REFERENCE_GPU,
    CKPD__TASK_REFERENCE_GPUS,
    CKPD__TASK_REFERENCE_TP,
    CKPD__TASK_REFERENCE_PP,
    CKPD__TASK_REFERENCE_DP,
    CKPD__TASK_REFERENCE_MICRO_BATCH,
    CKPD__TASK_TRANCHE_SHARE,
    CKPD__TASK_TRANCHE_TOKENS,
    CKPD__TASK_TRANCHE_BASELINE_HOURS,
    CKPD__TASK_RELEASE,
    CKPD__TASK_DEADLINE,
    CKPD__TASK_DEADLINE_PRICE,
    CKPD__TASK_SEGMENTS,
    CKPD__TASK_START_SEGMENTS,
    CKPD__TASK_RUNNING_MODE,
    CKPD__TASK_RUNNING_TP,
    CKPD__TASK_RUNNING_PP,
    CKPD__TASK_RUNNING_DP,
    CKPD__TASK_RUNNING_MICRO_BATCH,
    CKPD__TASK_RUNNING_SLOTS_DONE,
    CKPD__TASK_RUNNING_SEGMENTS,
    CKPD__TASK_INTERRUPTION,
    CKPD__TASK_BASELINE_TP,
    CKPD__TASK_BASELINE_PP,
    CKPD__TASK_BASELINE_DP,
    CKPD__TASK_BASELINE_MICRO_BATCH,
    CKPD__TASK_BASELINE_GPUS,
    CKPD__TASK_FIELDS
};

struct ckpd_task {
    CKPD__HANDLE;
    char *name;
    double values[CKPD__TASK_FIELDS];
};

/* The model as whole numbers, defaults filled in. */
typedef struct ckpd__architecture {
    int32_t layers, hidden, heads, kv_heads, ffn, gated_mlp, vocabulary, sequence, tied;
    int32_t experts, active_experts, expert_ffn, shared_experts; /* experts 0: dense */
    int32_t batch;                                               /* sequences an iteration */
    double layer_parameters;  /* of one layer, scaled to the given total */
    double expert_parameters; /* of them in experts (spread by expert parallel) */
    double active_layer_parameters;
    double embedding_parameters;        /* V h, once */
    double derived, parameters, active; /* whole model: from architecture, as used, per token */
} ckpd__architecture;

extern const ckpd__field_table ckpd__task_table;

static inline double ckpd__task_value(const ckpd_task *task, int32_t field)
{
    return task->values[field];
}

bool ckpd__task_given(const ckpd_task *task, int32_t field);
/* Whole number of a field, or `otherwise` when not given. */
int32_t ckpd__task_integer(const ckpd_task *task, int32_t field, int32_t otherwise);
/* True when any architecture field was given (a table of modes needs none). */
bool ckpd__task_has_architecture(const ckpd_task *task);
/* Checks and completes the architecture. */
int32_t ckpd__task_architecture(ckpd_context *context, const ckpd_task *task,
                                ckpd__architecture *out);
/* Tranche: exactly one way to say it, segments, slots. */
int32_t ckpd__task_check(ckpd_context *context, const ckpd_task *task);
/* ckpd_task_workload() with the context errors go to; known architecture or NULL. */
int32_t ckpd__task_workload(ckpd_context *context, const ckpd_task *task,
                            const ckpd__architecture *architecture, ckpd_workload *out);

#endif
