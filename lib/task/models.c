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

/* name, source, gpu, N, D, GPU-hours, gpus, L, h, a, kv, ffn, gated, V, s, tied, B, experts... */
static const ckpd_model_info models[] = {
    {sizeof(ckpd_model_info),
     "llama-7b",
     LLAMA1,
     CKPD__GPU_A100_80GB,
     6.74e9,
     1.0e12,
     82432,
     0,
     32,
     4096,
     32,
     32,
     11008,
     1,
     32000,
     2048,
     0,
     2048,
     0,
     0,
     0,
     0,
     0},
    {sizeof(ckpd_model_info),
     "llama-13b",
     LLAMA1,
     CKPD__GPU_A100_80GB,
     13.02e9,
     1.0e12,
     135168,
     0,
     40,
     5120,
     40,
     40,
     13824,
     1,
     32000,
     2048,
     0,
     2048,
     0,
     0,
     0,
     0,
     0},
    {sizeof(ckpd_model_info),
     "llama-33b",
     LLAMA1,
     CKPD__GPU_A100_80GB,
     32.5e9,
     1.4e12,
     530432,
     0,
     60,
     6656,
     52,
     52,
     17920,
     1,
     32000,
     2048,
     0,
     2048,
     0,
     0,
     0,
     0,
     0},
    {sizeof(ckpd_model_info),
     "llama-65b",
     LLAMA1,
     CKPD__GPU_A100_80GB,
     65.2e9,
     1.4e12,
     1022362,
     2048,
     80,
     8192,
     64,
     64,
     22016,
     1,
     32000,
     2048,
     0,
     2048,
     0,
     0,
     0,
     0,
     0},
    {sizeof(ckpd_model_info),
     "llama-2-7b",
     LLAMA2,
     CKPD__GPU_A100_80GB,
     6.74e9,
     2.0e12,
     184320,
     0,
     32,
     4096,
     32,
     32,
     11008,
     1,
     32000,
     4096,
     0,
     1024,
     0,
     0,
     0,
     0,
     0},
    {sizeof(ckpd_model_info),
     "llama-2-13b",
     LLAMA2,
     CKPD__GPU_A100_80GB,
     13.02e9,
     2.0e12,
     368640,
     0,
     40,
     5120,
     40,
     40,
     13824,
     1,
     32000,
     4096,
     0,
     1024,
     0,
     0,
     0,
     0,
     0},
    {sizeof(ckpd_model_info),
     "llama-2-70b",
     LLAMA2,
     CKPD__GPU_A100_80GB,
     68.98e9,
     2.0e12,
     1720320,
     0,
     80,
     8192,
     64,
     8,
     28672,
     1,
     32000,
     4096,
     0,
     1024,
     0,
     0,
     0,
     0,
     0},
    {sizeof(ckpd_model_info),
     "llama-3-8b",
     LLAMA3,
     CKPD__GPU_H100,
     8.03e9,
     15.0e12,
     1460000,
     0,
     32,
     4096,
     32,
     8,
     14336,
     1,
     128256,
     8192,
     0,
     0,
     0,
     0,
     0,
     0,
     0},
    {sizeof(ckpd_model_info),
     "llama-3-70b",
     LLAMA3,
     CKPD__GPU_H100,
     70.55e9,
     15.0e12,
     7000000,
     0,
     80,
     8192,
     64,
     8,
     28672,
     1,
     128256,
     8192,
     0,
     0,
     0,
     0,
     0,
     0,
     0},
    {sizeof(ckpd_model_info),
     "llama-3-405b",
     LLAMA3,
     CKPD__GPU_H100,
     405.85e9,
     15.6e12,
     30840000,
     16384,
     126,
     16384,
     128,
     8,
     53248,
     1,
     128256,
     8192,
     0,
     2048,
     0,
     0,
     0,
     0,
     0},
    {sizeof(ckpd_model_info),
     "gpt3-175b",
     GPT3,
     "",
     174.6e9,
     300e9,
     0,
     0,
     96,
     12288,
     96,
     96,
     49152,
     0,
     50257,
     2048,
     1,
     1536,
     0,
     0,
     0,
     0,
     0},
    {sizeof(ckpd_model_info),
     "bloom-176b",
     BLOOM,
     CKPD__GPU_A100_80GB,
     176.2e9,
     366e9,
     1082990,
     384,
     70,
     14336,
     112,
     112,
     57344,
     0,
     250880,
     2048,
     1,
     2048,
     0,
     0,
     0,
     0,
     0},
    {sizeof(ckpd_model_info),
     "opt-175b",
     OPT,
     CKPD__GPU_A100_80GB,
     174.6e9,
     180e9,
     0,
     992,
     96,
     12288,
     96,
     96,
     49152,
     0,
     50272,
     2048,
     1,
     1024,
     0,
     0,
     0,
     0,
     0},
    {sizeof(ckpd_model_info),
     "neox-20b",
     NEOX,
     CKPD__GPU_A100_40GB,
     20.55e9,
     0,
     0,
     96,
     44,
     6144,
     64,
     64,
     24576,
     0,
     50432,
     2048,
     0,
     1538,
     0,
     0,
     0,
     0,
     0},
    {sizeof(ckpd_model_info),
     "mt-nlg-530b",
     MTNLG,
     CKPD__GPU_A100_80GB,
     529.6e9,
     270e9,
     0,
     0,
     105,
     20480,
     128,
     128,
     81920,
     0,
     50257,
     2048,
     1,
     1920,
     0,
     0,
     0,
     0,
     0},
    {sizeof(ckpd_model_info),
     "mixtral-8x7b",
     MIXTRAL,
     "",
     46.7e9,
     0,
     0,
     0,
     32,
     4096,
     32,
     8,
     14336,
     1,
     32000,
     4096,
     0,
     0,
     8,
     2,
     14336,
     0,
     0},
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
    return ckpd__struct_out(NULL, "model_info", out, &models[index], sizeof *models,
                            sizeof *models);
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
    return ckpd__fail(context, CKPD_ERR_UNKNOWN_NAME, "model", -1, (double)NAN,
                      nearest != NULL ? "no model preset '%s'; did you mean '%s'?"
                                      : "no model preset '%s'",
                      name, nearest);
}

int32_t ckpd_task_set_model(ckpd_task *task, const char *model)
{
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
