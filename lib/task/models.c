/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Published models: architecture and the run that trained them. A zero is "not published". */
#include "task/task.h"

#include "task/gpus.h"
#include <math.h>
#include <string.h>

#define LLAMA1 "Touvron et al. 2023, arXiv 2302.13971, Tables 2 and 15"
#define LLAMA2 "Llama 2 model card and arXiv 2307.09288, Table 1"
#define LLAMA3 "Llama 3.1 model card and arXiv 2407.21783, Table 3"
#define GPT3 "Brown et al. 2020, arXiv 2005.14165, Table 2.1"
#define BLOOM "bigscience-workshop, train/tr11-176B-ml; arXiv 2211.05100"
#define OPT "Zhang et al. 2022, arXiv 2205.01068"
#define NEOX "Black et al. 2022, arXiv 2204.06745; gpt-neox configs/20B.yml"
#define MTNLG "Smith et al. 2022, arXiv 2201.11990"
#define MIXTRAL "Jiang et al. 2024, arXiv 2401.04088"

#define MODEL .size = sizeof(ckpd_model_info)

static const ckpd_model_info models[] = {
    {MODEL, .name = "llama-7b", .source = LLAMA1, .gpu = CKPD__GPU_A100_80GB, .parameters = 6.74e9,
     .tokens = 1.0e12, .gpu_hours = 82432, .layers = 32, .hidden = 4096, .heads = 32,
     .kv_heads = 32, .ffn = 11008, .gated_mlp = 1, .vocabulary = 32000, .sequence_length = 2048,
     .batch_sequences = 2048},
    {MODEL, .name = "llama-13b", .source = LLAMA1, .gpu = CKPD__GPU_A100_80GB,
     .parameters = 13.02e9, .tokens = 1.0e12, .gpu_hours = 135168, .layers = 40, .hidden = 5120,
     .heads = 40, .kv_heads = 40, .ffn = 13824, .gated_mlp = 1, .vocabulary = 32000,
     .sequence_length = 2048, .batch_sequences = 2048},
    {MODEL, .name = "llama-33b", .source = LLAMA1, .gpu = CKPD__GPU_A100_80GB, .parameters = 32.5e9,
     .tokens = 1.4e12, .gpu_hours = 530432, .layers = 60, .hidden = 6656, .heads = 52,
     .kv_heads = 52, .ffn = 17920, .gated_mlp = 1, .vocabulary = 32000, .sequence_length = 2048,
     .batch_sequences = 2048},
    {MODEL, .name = "llama-65b", .source = LLAMA1, .gpu = CKPD__GPU_A100_80GB, .parameters = 65.2e9,
     .tokens = 1.4e12, .gpu_hours = 1022362, .gpus = 2048, .layers = 80, .hidden = 8192,
     .heads = 64, .kv_heads = 64, .ffn = 22016, .gated_mlp = 1, .vocabulary = 32000,
     .sequence_length = 2048, .batch_sequences = 2048},
    {MODEL, .name = "llama-2-7b", .source = LLAMA2, .gpu = CKPD__GPU_A100_80GB,
     .parameters = 6.74e9, .tokens = 2.0e12, .gpu_hours = 184320, .layers = 32, .hidden = 4096,
     .heads = 32, .kv_heads = 32, .ffn = 11008, .gated_mlp = 1, .vocabulary = 32000,
     .sequence_length = 4096, .batch_sequences = 1024},
    {MODEL, .name = "llama-2-13b", .source = LLAMA2, .gpu = CKPD__GPU_A100_80GB,
     .parameters = 13.02e9, .tokens = 2.0e12, .gpu_hours = 368640, .layers = 40, .hidden = 5120,
     .heads = 40, .kv_heads = 40, .ffn = 13824, .gated_mlp = 1, .vocabulary = 32000,
     .sequence_length = 4096, .batch_sequences = 1024},
    {MODEL, .name = "llama-2-70b", .source = LLAMA2, .gpu = CKPD__GPU_A100_80GB,
     .parameters = 68.98e9, .tokens = 2.0e12, .gpu_hours = 1720320, .layers = 80, .hidden = 8192,
     .heads = 64, .kv_heads = 8, .ffn = 28672, .gated_mlp = 1, .vocabulary = 32000,
     .sequence_length = 4096, .batch_sequences = 1024},
    {MODEL, .name = "llama-3-8b", .source = LLAMA3, .gpu = CKPD__GPU_H100, .parameters = 8.03e9,
     .tokens = 15.0e12, .gpu_hours = 1460000, .layers = 32, .hidden = 4096, .heads = 32,
     .kv_heads = 8, .ffn = 14336, .gated_mlp = 1, .vocabulary = 128256, .sequence_length = 8192},
    {MODEL, .name = "llama-3-70b", .source = LLAMA3, .gpu = CKPD__GPU_H100, .parameters = 70.55e9,
     .tokens = 15.0e12, .gpu_hours = 7000000, .layers = 80, .hidden = 8192, .heads = 64,
     .kv_heads = 8, .ffn = 28672, .gated_mlp = 1, .vocabulary = 128256, .sequence_length = 8192},
    {MODEL, .name = "llama-3-405b", .source = LLAMA3, .gpu = CKPD__GPU_H100, .parameters = 405.85e9,
     .tokens = 15.6e12, .gpu_hours = 30840000, .gpus = 16384, .layers = 126, .hidden = 16384,
     .heads = 128, .kv_heads = 8, .ffn = 53248, .gated_mlp = 1, .vocabulary = 128256,
     .sequence_length = 8192, .batch_sequences = 2048},
    {MODEL, .name = "gpt3-175b", .source = GPT3, .gpu = "", .parameters = 174.6e9, .tokens = 300e9,
     .layers = 96, .hidden = 12288, .heads = 96, .kv_heads = 96, .ffn = 49152, .vocabulary = 50257,
     .sequence_length = 2048, .tied_embeddings = 1, .batch_sequences = 1536},
    {MODEL, .name = "bloom-176b", .source = BLOOM, .gpu = CKPD__GPU_A100_80GB,
     .parameters = 176.2e9, .tokens = 366e9, .gpu_hours = 1082990, .gpus = 384, .layers = 70,
     .hidden = 14336, .heads = 112, .kv_heads = 112, .ffn = 57344, .vocabulary = 250880,
     .sequence_length = 2048, .tied_embeddings = 1, .batch_sequences = 2048},
    {MODEL, .name = "opt-175b", .source = OPT, .gpu = CKPD__GPU_A100_80GB, .parameters = 174.6e9,
     .tokens = 180e9, .gpus = 992, .layers = 96, .hidden = 12288, .heads = 96, .kv_heads = 96,
     .ffn = 49152, .vocabulary = 50272, .sequence_length = 2048, .tied_embeddings = 1,
     .batch_sequences = 1024},
    {MODEL, .name = "neox-20b", .source = NEOX, .gpu = CKPD__GPU_A100_40GB, .parameters = 20.55e9,
     .gpus = 96, .layers = 44, .hidden = 6144, .heads = 64, .kv_heads = 64, .ffn = 24576,
     .vocabulary = 50432, .sequence_length = 2048, .batch_sequences = 1538},
    {MODEL, .name = "mt-nlg-530b", .source = MTNLG, .gpu = CKPD__GPU_A100_80GB,
     .parameters = 529.6e9, .tokens = 270e9, .layers = 105, .hidden = 20480, .heads = 128,
     .kv_heads = 128, .ffn = 81920, .vocabulary = 50257, .sequence_length = 2048,
     .tied_embeddings = 1, .batch_sequences = 1920},
    {MODEL, .name = "mixtral-8x7b", .source = MIXTRAL, .gpu = "", .parameters = 46.7e9,
     .layers = 32, .hidden = 4096, .heads = 32, .kv_heads = 8, .ffn = 14336, .gated_mlp = 1,
     .vocabulary = 32000, .sequence_length = 4096, .experts = 8, .active_experts = 2,
     .expert_ffn = 14336},
};

enum { MODELS = sizeof models / sizeof *models };

int32_t ckpd_model_count(void)
{
    return MODELS;
}

int32_t ckpd_model_get(int32_t index, ckpd_model_info *out)
{
    if (index < 0 || index >= MODELS || out == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    return CKPD__STRUCT_OUT(NULL, model_info, out, &models[index]);
}

static int32_t find(ckpd_context *context, const char *name, const ckpd_model_info **out)
{
    const char *names[MODELS];
    for (int32_t i = 0; i < MODELS; i++) {
        if (strcmp(models[i].name, name) == 0) {
            *out = &models[i];
            return CKPD_OK;
        }
        names[i] = models[i].name;
    }
    const char *nearest = ckpd__nearest(name, names, MODELS);
    if (nearest != NULL) {
        return ckpd__fail(context, CKPD_ERR_UNKNOWN_NAME, "model", -1, (double)NAN,
                          "no model preset '%s'; did you mean '%s'?", name, nearest);
    }
    char known[320];
    size_t used = 0;
    for (int32_t i = 0; i < MODELS && used < sizeof known; i++) {
        used +=
            ckpd__format(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    return ckpd__fail(context, CKPD_ERR_UNKNOWN_NAME, "model", -1, (double)NAN,
                      "no model preset '%s'; known: %s (of others give layers, hidden, heads, ...)",
                      name, known);
}

int32_t ckpd_task_set_model(ckpd_task *task, const char *model)
{
    CKPD__REFUSE_FOREIGN(NULL, task, CKPD__TASK);
    if (task == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (model == NULL) {
        return ckpd__null_argument(task->context, "model");
    }
    const ckpd_model_info *m = NULL;
    int32_t status = find(task->context, model, &m);
    if (status != CKPD_OK) {
        return status;
    }
    double *v = task->values;
    v[CKPD__TASK_LAYERS] = m->layers;
    v[CKPD__TASK_HIDDEN] = m->hidden;
    v[CKPD__TASK_HEADS] = m->heads;
    v[CKPD__TASK_KV_HEADS] = m->kv_heads;
    v[CKPD__TASK_FFN] = m->ffn;
    v[CKPD__TASK_GATED_MLP] = m->gated_mlp;
    v[CKPD__TASK_VOCABULARY] = m->vocabulary;
    v[CKPD__TASK_SEQUENCE_LENGTH] = m->sequence_length;
    v[CKPD__TASK_TIED_EMBEDDINGS] = m->tied_embeddings;
    v[CKPD__TASK_PARAMETERS] = m->parameters;
    v[CKPD__TASK_EXPERTS] = m->experts;
    v[CKPD__TASK_ACTIVE_EXPERTS] = m->experts > 0 ? m->active_experts : (double)NAN;
    v[CKPD__TASK_EXPERT_FFN] = m->experts > 0 ? m->expert_ffn : (double)NAN;
    v[CKPD__TASK_SHARED_EXPERTS] = m->shared_experts;
    v[CKPD__TASK_TOKENS] = m->tokens > 0 ? m->tokens : (double)NAN;
    v[CKPD__TASK_BATCH_SEQUENCES] = m->batch_sequences > 0 ? m->batch_sequences : (double)NAN;
    return CKPD_OK;
}

int32_t ckpd_task_set_reference(ckpd_task *task, const char *model)
{
    CKPD__REFUSE_FOREIGN(NULL, task, CKPD__TASK);
    if (task == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (model == NULL) {
        return ckpd__null_argument(task->context, "model");
    }
    const ckpd_model_info *m = NULL;
    int32_t status = find(task->context, model, &m);
    if (status != CKPD_OK) {
        return status;
    }
    if (m->gpu_hours <= 0 || m->tokens <= 0) {
        return ckpd__fail(task->context, CKPD_ERR_MISSING, "reference_gpu_hours", -1, (double)NAN,
                          "model preset '%s' has no published GPU-hours", model);
    }
    status = ckpd_task_set_text(task, "reference_gpu", m->gpu);
    if (status != CKPD_OK) {
        return status;
    }
    task->values[CKPD__TASK_REFERENCE_GPU_HOURS] = m->gpu_hours;
    task->values[CKPD__TASK_REFERENCE_GPUS] = m->gpus > 0 ? m->gpus : (double)NAN;
    task->values[CKPD__TASK_TOKENS] = m->tokens;
    return CKPD_OK;
}
