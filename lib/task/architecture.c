/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* From architecture fields to parameter counts and FLOP (docs/modes.md, "Workload"). */
#include "task/task.h"

#include <math.h>

/* A given parameter count may differ from the derived one by biases, norms and positions, not more.
 */
static const double PARAMETER_TOLERANCE = 0.02;
/* No published run has more tokens in one iteration (the largest known are near 6e7); beyond this a
   batch in tokens was given where sequences are meant. */
static const double MOST_BATCH_TOKENS = 1e9;

bool ckpd__task_has_architecture(const ckpd_task *task)
{
    return ckpd__task_given(task, CKPD__TASK_LAYERS) || ckpd__task_given(task, CKPD__TASK_HIDDEN);
}

static int32_t require(ckpd_context *context, const ckpd_task *task, const int32_t *fields,
                       int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        if (!ckpd__task_given(task, fields[i])) {
            const char *name = ckpd__task_table.fields[fields[i]].name;
            return ckpd__fail(context, CKPD_ERR_MISSING, name, -1, (double)NAN,
                              "task '%s': %s is missing (set a model or the architecture)",
                              task->name, name);
        }
    }
    return CKPD_OK;
}

static int32_t check_heads(ckpd_context *context, const ckpd_task *task,
                           const ckpd__architecture *a)
{
    if (a->hidden % a->heads != 0) {
        return ckpd__fail(context, CKPD_ERR_INCONSISTENT, "heads", -1, a->heads,
                          "task '%s': heads = %d does not divide hidden = %d", task->name, a->heads,
                          a->hidden);
    }
    if (a->heads % a->kv_heads != 0) {
        return ckpd__fail(context, CKPD_ERR_INCONSISTENT, "kv_heads", -1, a->kv_heads,
                          "task '%s': kv_heads = %d does not divide heads = %d", task->name,
                          a->kv_heads, a->heads);
    }
    if (a->experts > 0 && a->active_experts > a->experts) {
        return ckpd__fail(context, CKPD_ERR_INCONSISTENT, "active_experts", -1, a->active_experts,
                          "task '%s': active_experts = %d exceeds experts = %d", task->name,
                          a->active_experts, a->experts);
    }
    return CKPD_OK;
}

static int32_t check_batch(ckpd_context *context, const ckpd_task *task,
                           const ckpd__architecture *a)
{
    double tokens = (double)a->batch * a->sequence;
    if (tokens <= MOST_BATCH_TOKENS) {
        return CKPD_OK;
    }
    double meant = floor((double)a->batch / a->sequence);
    return ckpd__fail(
        context, CKPD_ERR_RANGE, "batch_sequences", -1, a->batch,
        "task '%s': batch_sequences = %d of sequence_length %d is %g tokens an iteration, "
        "above %g; were %d tokens meant, which is %g sequences?",
        task->name, a->batch, a->sequence, tokens, MOST_BATCH_TOKENS, a->batch, meant);
}

static void count_parameters(ckpd__architecture *a)
{
    double h = a->hidden, kv = h / a->heads * a->kv_heads;
    double attention = 2 * h * h + 2 * h * kv;
    double matrices = a->gated_mlp ? 3 : 2;
    double layer = attention, active = attention;
    if (a->experts > 0) {
        double expert = matrices * h * a->expert_ffn;
        a->expert_parameters = expert * a->experts;
        layer += expert * (a->experts + a->shared_experts) + h * a->experts;
        active += expert * (a->active_experts + a->shared_experts) + h * a->experts;
    } else {
        layer += matrices * h * a->ffn;
        active = layer;
    }
    a->layer_parameters = layer;
    a->active_layer_parameters = active;
    a->embedding_parameters = (double)a->vocabulary * h;
    double outside = a->embedding_parameters * (a->tied ? 1 : 2);
    a->derived = layer * a->layers + outside;
    a->active = active * a->layers + outside;
}

/* Takes a given total over the derived one and spreads the difference over everything. */
static int32_t apply_given_total(ckpd_context *context, const ckpd_task *task,
                                 ckpd__architecture *a)
{
    a->parameters = a->derived;
    if (!ckpd__task_given(task, CKPD__TASK_PARAMETERS)) {
        return CKPD_OK;
    }
    double given = task->values[CKPD__TASK_PARAMETERS];
    double ratio = given / a->derived;
    if (fabs(ratio - 1) > PARAMETER_TOLERANCE) {
        return ckpd__fail(
            context, CKPD_ERR_INCONSISTENT, "parameters", -1, given,
            "task '%s': parameters = %g but the architecture gives %g (%g %% apart, at "
            "most %g %%)",
            task->name, given, a->derived, round(fabs(ratio - 1) * 1e4) / 100,
            PARAMETER_TOLERANCE * 100);
    }
    a->parameters = given;
    a->active *= ratio;
    a->layer_parameters *= ratio;
    a->expert_parameters *= ratio;
    a->active_layer_parameters *= ratio;
    a->embedding_parameters *= ratio;
    return CKPD_OK;
}

int32_t ckpd__task_architecture(ckpd_context *context, const ckpd_task *task,
                                ckpd__architecture *out)
{
    static const int32_t needed[] = {CKPD__TASK_LAYERS,          CKPD__TASK_HIDDEN,
                                     CKPD__TASK_HEADS,           CKPD__TASK_VOCABULARY,
                                     CKPD__TASK_SEQUENCE_LENGTH, CKPD__TASK_BATCH_SEQUENCES};
    int32_t status = require(context, task, needed, (int32_t)(sizeof needed / sizeof *needed));
    if (status != CKPD_OK) {
        return status;
    }
    ckpd__architecture a = {
        .layers = ckpd__task_integer(task, CKPD__TASK_LAYERS, 0),
        .hidden = ckpd__task_integer(task, CKPD__TASK_HIDDEN, 0),
        .heads = ckpd__task_integer(task, CKPD__TASK_HEADS, 0),
        .gated_mlp = ckpd__task_integer(task, CKPD__TASK_GATED_MLP, 0),
        .vocabulary = ckpd__task_integer(task, CKPD__TASK_VOCABULARY, 0),
        .sequence = ckpd__task_integer(task, CKPD__TASK_SEQUENCE_LENGTH, 0),
        .tied = ckpd__task_integer(task, CKPD__TASK_TIED_EMBEDDINGS, 0),
        .experts = ckpd__task_integer(task, CKPD__TASK_EXPERTS, 0),
        .active_experts = ckpd__task_integer(task, CKPD__TASK_ACTIVE_EXPERTS, 2),
        .shared_experts = ckpd__task_integer(task, CKPD__TASK_SHARED_EXPERTS, 0),
        .batch = ckpd__task_integer(task, CKPD__TASK_BATCH_SEQUENCES, 0),
    };
    a.kv_heads = ckpd__task_integer(task, CKPD__TASK_KV_HEADS, a.heads);
    a.ffn = ckpd__task_integer(task, CKPD__TASK_FFN, 4 * a.hidden);
    a.expert_ffn = ckpd__task_integer(task, CKPD__TASK_EXPERT_FFN, a.ffn);
    status = check_heads(context, task, &a);
    if (status == CKPD_OK) {
        status = check_batch(context, task, &a);
    }
    if (status != CKPD_OK) {
        return status;
    }
    count_parameters(&a);
    status = apply_given_total(context, task, &a);
    if (status == CKPD_OK) {
        *out = a;
    }
    return status;
}
