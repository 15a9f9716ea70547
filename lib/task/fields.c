/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "task/task.h"

#include "task/gpus.h"
#include <math.h>

#define INTEGER(name, unit, low, high, normal, doc)                     \
    {                                                                   \
        name, unit, doc, CKPD_FIELD_INTEGER, 0, low, high, normal, NULL \
    }
#define NUMBER(name, unit, low, high, normal, doc)                     \
    {                                                                  \
        name, unit, doc, CKPD_FIELD_NUMBER, 0, low, high, normal, NULL \
    }
#define FLAG(name, normal, doc)                                   \
    {                                                             \
        name, "", doc, CKPD_FIELD_FLAG, 0, 0.0, 1.0, normal, NULL \
    }

static const ckpd__field fields[CKPD__TASK_FIELDS] = {
    [CKPD__TASK_LAYERS] = INTEGER("layers", "layers", 1, 10000, NAN, "transformer layers L"),
    [CKPD__TASK_HIDDEN] = INTEGER("hidden", "", 1, 1e6, NAN, "hidden width h"),
    [CKPD__TASK_HEADS] =
        INTEGER("heads", "heads", 1, 100000, NAN, "attention heads a; must divide hidden"),
    [CKPD__TASK_KV_HEADS] =
        INTEGER("kv_heads", "heads", 1, 100000, NAN, "key/value heads; default: heads"),
    [CKPD__TASK_FFN] = INTEGER("ffn", "", 1, 1e7, NAN, "width of the MLP; default: 4 x hidden"),
    [CKPD__TASK_GATED_MLP] = FLAG("gated_mlp", 0, "1: three MLP matrices (SwiGLU), 0: two"),
    [CKPD__TASK_VOCABULARY] = INTEGER("vocabulary", "tokens", 1, 1e8, NAN, "vocabulary size V"),
    [CKPD__TASK_SEQUENCE_LENGTH] =
        INTEGER("sequence_length", "tokens", 1, 1e8, NAN, "tokens in a sequence, s"),
    [CKPD__TASK_TIED_EMBEDDINGS] =
        FLAG("tied_embeddings", 0, "1: input and output embedding share weights"),
    [CKPD__TASK_PARAMETERS] = NUMBER("parameters", "parameters", 1, 1e18, NAN,
                                     "total parameters N; default: derived from the architecture"),
    [CKPD__TASK_EXPERTS] = INTEGER("experts", "experts", 0, 100000, 0,
                                   "routed experts in every layer; 0: dense model"),
    [CKPD__TASK_ACTIVE_EXPERTS] = INTEGER("active_experts", "experts", 1, 100000, NAN,
                                          "routed experts a token uses; default: 2"),
    [CKPD__TASK_EXPERT_FFN] =
        INTEGER("expert_ffn", "", 1, 1e7, NAN, "width of one expert's MLP; default: ffn"),
    [CKPD__TASK_SHARED_EXPERTS] =
        INTEGER("shared_experts", "experts", 0, 1000, 0, "experts that every token uses besides"),
    [CKPD__TASK_TOKENS] =
        NUMBER("tokens", "tokens", 1, 1e18, NAN, "token target D of the whole run"),
    [CKPD__TASK_BATCH_SEQUENCES] = INTEGER("batch_sequences", "sequences", 1, 1e9, NAN,
                                           "sequences (not tokens) an iteration, B"),
    [CKPD__TASK_REFERENCE_GPU_HOURS] =
        NUMBER("reference_gpu_hours", "GPU-h", 1e-6, 1e15, NAN,
               "GPU-hours H of a reference run over all tokens; calibrates the modes"),
    [CKPD__TASK_REFERENCE_GPU] = {"reference_gpu", "",
                                  "GPU of the reference run; default: the hardware's",
                                  CKPD_FIELD_CHOICE, 0, 0.0, 5.0, NAN, CKPD__GPU_CHOICES},
    [CKPD__TASK_REFERENCE_GPUS] =
        INTEGER("reference_gpus", "GPUs", 1, 1e7, NAN, "GPUs of the reference run"),
    [CKPD__TASK_REFERENCE_TP] =
        INTEGER("reference_tp", "", 1, 100000, NAN, "tensor parallel of the reference run"),
    [CKPD__TASK_REFERENCE_PP] =
        INTEGER("reference_pp", "", 1, 100000, NAN, "pipeline stages of the reference run"),
    [CKPD__TASK_REFERENCE_DP] =
        INTEGER("reference_dp", "", 1, 1e7, NAN, "data parallel of the reference run"),
    [CKPD__TASK_REFERENCE_MICRO_BATCH] = INTEGER("reference_micro_batch", "sequences", 1, 1e6, NAN,
                                                 "micro-batch of the reference run"),
    [CKPD__TASK_TRANCHE_SHARE] =
        NUMBER("tranche_share", "", 1e-12, 1, NAN, "tranche as a share of the whole run"),
    [CKPD__TASK_TRANCHE_TOKENS] =
        NUMBER("tranche_tokens", "tokens", 1e-6, 1e18, NAN, "tranche in tokens"),
    [CKPD__TASK_TRANCHE_BASELINE_HOURS] = NUMBER("tranche_baseline_hours", "h", 1e-6, 1e6, NAN,
                                                 "tranche in hours of the baseline mode"),
    [CKPD__TASK_RELEASE] =
        INTEGER("release", "slot boundary", 0, 1e7, 0, "training may start here"),
    [CKPD__TASK_DEADLINE] = INTEGER("deadline", "slot boundary", 1, 1e7, NAN,
                                    "the tranche must be done here; default: horizon"),
    [CKPD__TASK_DEADLINE_PRICE] =
        NUMBER("deadline_price_per_hour", "money/h", 0, 1e9, NAN,
               "what an hour after the deadline costs; not given: it may not be missed"),
    [CKPD__TASK_SEGMENTS] =
        INTEGER("segments", "segments", 1, 1e6, 12, "checkpoint segments K of the tranche"),
    [CKPD__TASK_START_SEGMENTS] =
        INTEGER("start_segments", "segments", 0, 1e6, 0, "segments complete at the start, k0"),
    [CKPD__TASK_RUNNING_MODE] = INTEGER(
        "running_mode", "", 0, 1e7, NAN,
        "mode of the edge running at the start: row of a table, else index in the mode set"),
    [CKPD__TASK_RUNNING_TP] =
        INTEGER("running_tp", "", 1, 100000, NAN, "layout of the running edge: tensor parallel"),
    [CKPD__TASK_RUNNING_PP] =
        INTEGER("running_pp", "", 1, 100000, NAN, "layout of the running edge: pipeline stages"),
    [CKPD__TASK_RUNNING_DP] =
        INTEGER("running_dp", "", 1, 1e7, NAN, "layout of the running edge: data parallel"),
    [CKPD__TASK_RUNNING_MICRO_BATCH] = INTEGER("running_micro_batch", "sequences", 1, 1e6, NAN,
                                               "layout of the running edge: micro-batch"),
    [CKPD__TASK_RUNNING_SLOTS_DONE] = INTEGER("running_slots_done", "slots", 0, 1e7, NAN,
                                              "slots the running edge has run already"),
    [CKPD__TASK_RUNNING_SEGMENTS] =
        INTEGER("running_segments", "segments", 1, 1e6, 1, "segments the running edge completes"),
    [CKPD__TASK_INTERRUPTION] = {"interruption", "",
                                 "whether the edge running at the start may be given up, with the "
                                 "work it has done",
                                 CKPD_FIELD_CHOICE, 0, 0.0, 1.0, 0, "forbid|lose_work"},
    [CKPD__TASK_BASELINE_TP] =
        INTEGER("baseline_tp", "", 1, 100000, NAN, "layout of the baseline mode: tensor parallel"),
    [CKPD__TASK_BASELINE_PP] =
        INTEGER("baseline_pp", "", 1, 100000, NAN, "layout of the baseline mode: pipeline stages"),
    [CKPD__TASK_BASELINE_DP] =
        INTEGER("baseline_dp", "", 1, 1e7, NAN, "layout of the baseline mode: data parallel"),
    [CKPD__TASK_BASELINE_MICRO_BATCH] =
        INTEGER("baseline_micro_batch", "sequences", 1, 1e6, NAN,
                "layout of the baseline mode: micro-batch; default: the fastest"),
    [CKPD__TASK_BASELINE_GPUS] = INTEGER("baseline_gpus", "GPUs", 1, 1e7, NAN,
                                         "GPUs of the baseline mode (the fastest with that many)"),
};

const ckpd__field_table ckpd__task_table = {"task", fields, CKPD__TASK_FIELDS};
