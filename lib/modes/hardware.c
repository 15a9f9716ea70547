/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* GPU types: coefficients by field and preset, with sources (docs/modes.md, "Hardware"). */
#include "modes/modes.h"

#include "task/gpus.h"
#include <math.h>
#include <string.h>

#define NUMBER(name, unit, low, high, normal, doc)                     \
    {                                                                  \
        name, unit, doc, CKPD_FIELD_NUMBER, 0, low, high, normal, NULL \
    }
#define CHOICE(name, last, normal, choices, doc)                        \
    {                                                                   \
        name, "", doc, CKPD_FIELD_CHOICE, 0, 0.0, last, normal, choices \
    }

static const ckpd__field fields[CKPD__HW_FIELDS] = {
    [CKPD__HW_PEAK_TFLOPS] =
        NUMBER("peak_tflops", "TFLOP/s", 1e-3, 1e6, 312, "dense 16-bit matrix peak of one GPU"),
    [CKPD__HW_EFFICIENCY] = NUMBER(
        "efficiency", "", 1e-4, 2, 0.75,
        "share of the peak that the software stack reaches on full waves of matrix tiles, e"),
    [CKPD__HW_PRECISION] =
        CHOICE("precision", 1, CKPD__PRECISION_16_BIT, "16-bit|fp8",
               "of the layers' matrix products; attention and output layer stay 16-bit"),
    [CKPD__HW_FP8_GAIN] =
        NUMBER("fp8_gain", "", 1, 4, 1.8, "rate of fp8 matrix products over 16-bit ones"),
    [CKPD__HW_MULTIPROCESSORS] = {"multiprocessors", "",
                                  "for tile waves of matrix products; 0: not modelled",
                                  CKPD_FIELD_INTEGER, 0, 0, 1e4, 108, NULL},
    [CKPD__HW_HBM] = NUMBER("hbm_gb_per_s", "GB/s", 1e-3, 1e6, 2039, "memory bandwidth of one GPU"),
    [CKPD__HW_WIDTH_HALF] =
        NUMBER("width_half", "", 0, 1e6, 0,
               "hidden / tp at which kernels reach half their rate, w0; 0: no such saturation"),
    [CKPD__HW_TOKENS_HALF] =
        NUMBER("tokens_half", "tokens", 0, 1e6, 0,
               "tokens of a micro-batch at which kernels reach half their rate, n0; 0: none"),
    [CKPD__HW_HEAD_GAIN] = NUMBER("head_gain", "", 0.1, 10, 1.3,
                                  "efficiency of the output layer over that of the others"),
    [CKPD__HW_SCORE_PASSES] =
        NUMBER("score_passes", "", 0, 100, 6.7,
               "times that the s x s scores cross the memory in one pass without flash attention"),
    [CKPD__HW_FLASH_GAIN] = NUMBER("flash_gain", "", 0.01, 10, 0.38,
                                   "efficiency of flash attention over that of the layers"),
    [CKPD__HW_MISALIGNED_ATTENTION] =
        NUMBER("misaligned_attention", "", 1e-4, 1, 0.038,
               "share of the peak in attention products whose head width is no multiple of 8"),
    [CKPD__HW_LAYER_OVERHEAD_MS] = NUMBER("layer_overhead_ms", "ms", 0, 1e3, 0,
                                          "launch overhead of one pass through one layer"),
    [CKPD__HW_NVLINK] =
        NUMBER("nvlink_gb_per_s", "GB/s", 1e-3, 1e6, 300, "link inside a node, each GPU one way"),
    [CKPD__HW_NETWORK] = NUMBER("network_gb_per_s", "GB/s", 1e-3, 1e6, 25,
                                "network between nodes, each GPU one way"),
    [CKPD__HW_LINK_EFFICIENCY] = NUMBER("link_efficiency", "", 1e-3, 1, 0.34,
                                        "share of the link rate that collectives reach"),
    [CKPD__HW_NETWORK_EFFICIENCY] = NUMBER("network_efficiency", "", 1e-3, 1, 0.8,
                                           "share of the network rate that collectives reach"),
    [CKPD__HW_HOP_EFFICIENCY] = NUMBER("hop_efficiency", "", 1e-3, 1, 0.8,
                                       "share of the network rate between pipeline stages"),
    [CKPD__HW_TP_OVERLAP] =
        NUMBER("tp_overlap", "", 0, 1, 0, "share of tensor-parallel communication hidden, o_tp"),
    [CKPD__HW_DP_EXPOSED] =
        NUMBER("dp_exposed", "", 0, 1, 1, "share of data-parallel communication not hidden, x_dp"),
    [CKPD__HW_GATHER_EXPOSED] = NUMBER("gather_exposed", "", 0, 1, 0.3,
                                       "share of fully sharded traffic that is never hidden"),
    [CKPD__HW_STAGE_TIME] = CHOICE("stage_time", 1, CKPD__STAGE_SLOWEST, "slowest|average",
                                   "what paces the pipeline: its slowest stage, or their average"),
    [CKPD__HW_NODE_GPUS] = {"node_gpus", "GPUs", "GPUs joined by the link inside a node",
                            CKPD_FIELD_INTEGER, 0, 1, 1e5, 8, NULL},
    [CKPD__HW_MEMORY_GB] =
        NUMBER("memory_gb", "GB", 1e-3, 1e6, 80, "usable memory of one GPU (1e9 bytes)"),
    [CKPD__HW_MEMORY_FACTOR] =
        NUMBER("memory_factor", "", 1, 10, 1.09, "allocator factor on everything the model counts"),
    [CKPD__HW_MEMORY_OFFSET_GB] =
        NUMBER("memory_offset_gb", "GB", 0, 1e6, 6, "runtime, kernels and communication buffers"),
    [CKPD__HW_PARAMETER_BYTES] =
        NUMBER("parameter_bytes", "B", 1e-3, 1e3, 18,
               "bytes a parameter: weight, gradient, master weight, optimizer"),
    [CKPD__HW_SHARDED_BYTES] =
        NUMBER("sharded_bytes", "B", 0, 1e3, 12, "of them spread over dp by an optimizer sharding"),
    [CKPD__HW_SHARDING] =
        CHOICE("sharding", 2, CKPD__SHARD_OPTIMIZER, "none|optimizer|full",
               "what is spread over dp: nothing, the optimizer (ZeRO-1), all (ZeRO-3, FSDP)"),
    [CKPD__HW_STATE_SPLIT] =
        CHOICE("state_split", 1, CKPD__SPLIT_STAGE, "stage|even",
               "parameters of a stage: the fullest stage with its embedding, or N / (tp pp)"),
    [CKPD__HW_FLASH_ATTENTION] = {"flash_attention", "", "1: the s x s scores are never kept",
                                  CKPD_FIELD_FLAG, 0, 0, 1, 0, NULL},
    [CKPD__HW_SEQUENCE_PARALLEL] = {"sequence_parallel", "",
                                    "1: norms and dropout are split over tp, except under full "
                                    "recomputation",
                                    CKPD_FIELD_FLAG, 0, 0, 1, 1, NULL},
    [CKPD__HW_LOGITS_BYTES] = NUMBER("logits_bytes", "B", 0, 100, 10,
                                     "bytes for each token and vocabulary entry in the loss"),
    [CKPD__HW_IDLE_KW] = NUMBER("idle_kw", "kW", 0, 1e3, 0.24, "IT power a GPU, idle, all-in"),
    [CKPD__HW_BUSY_KW] = NUMBER("busy_kw", "kW", 0, 1e3, 0.64, "IT power a GPU, computing, all-in"),
    [CKPD__HW_NETWORK_KW] = NUMBER("network_kw", "kW", 0, 1e3, 0, "IT power of the fabric, a GPU"),
    [CKPD__HW_EVALUATION_POWER] = NUMBER("evaluation_power", "", 0, 2, 0.91,
                                         "IT power while evaluating over that of training"),
    [CKPD__HW_CHECKPOINT_POWER] =
        NUMBER("checkpoint_power", "", 0, 2, 0.43,
               "IT power while waiting for a checkpoint over that of training"),
    [CKPD__HW_POWER_BASIS] =
        CHOICE("power_basis", 1, CKPD__POWER_TDP, "metered|tdp",
               "what idle_kw and busy_kw rest on: a meter, or thermal design power"),
    [CKPD__HW_RATE_ERROR] = NUMBER("rate_error", "", 0, 10, 0.15,
                                   "relative half-width of the error band of throughput"),
    [CKPD__HW_MEMORY_ERROR] =
        NUMBER("memory_error", "", 0, 10, 0.1, "relative half-width of the error band of memory"),
    [CKPD__HW_POWER_ERROR] =
        NUMBER("power_error", "", 0, 10, 0.2, "relative half-width of the error band of power"),
};

const ckpd__field_table ckpd__hardware_table = {"hardware", fields, CKPD__HW_FIELDS};

/* What differs from the defaults of the table, which are those of the A100-80GB. */
typedef struct preset {
    const char *name, *source;
    double peak, efficiency, processors, hbm, nvlink, network, link, overlap, exposed, flash, gain,
        memory, idle, busy, rate_error, power_error, basis;
} preset;

#define A100_SOURCE                                                                             \
    "NVIDIA A100 data sheet; efficiency: docs/modes.md; power: 0.4 kW TDP and host share, not " \
    "metered"
#define H100_SOURCE                                                                                \
    "NVIDIA H100 and H200 data sheets; efficiency (16-bit): docs/modes.md; power: node meters of " \
    "MLPerf "                                                                                      \
    "Training v4.0"

static const preset presets[] = {
    {.name = CKPD__GPU_A100_40GB,
     .source = A100_SOURCE,
     .peak = 312,
     .efficiency = 0.75,
     .processors = 108,
     .hbm = 1555,
     .nvlink = 300,
     .network = 25,
     .link = 0.34,
     .overlap = 0,
     .exposed = 1,
     .flash = 0,
     .gain = 0.38,
     .memory = 40,
     .idle = 0.24,
     .busy = 0.64,
     .rate_error = 0.15,
     .power_error = 0.2,
     .basis = CKPD__POWER_TDP},
    {.name = CKPD__GPU_A100_80GB,
     .source = A100_SOURCE,
     .peak = 312,
     .efficiency = 0.75,
     .processors = 108,
     .hbm = 2039,
     .nvlink = 300,
     .network = 25,
     .link = 0.34,
     .overlap = 0,
     .exposed = 1,
     .flash = 0,
     .gain = 0.38,
     .memory = 80,
     .idle = 0.24,
     .busy = 0.64,
     .rate_error = 0.15,
     .power_error = 0.2,
     .basis = CKPD__POWER_TDP},
    {.name = CKPD__GPU_H100,
     .source = H100_SOURCE,
     .peak = 989,
     .efficiency = 0.58,
     .processors = 132,
     .hbm = 3350,
     .nvlink = 450,
     .network = 50,
     .link = 0.8,
     .overlap = 0.8,
     .exposed = 0.3,
     .flash = 1,
     .gain = 0.6,
     .memory = 80,
     .idle = 0.325,
     .busy = 0.9,
     .rate_error = 0.15,
     .power_error = 0.1,
     .basis = CKPD__POWER_METERED},
    {.name = CKPD__GPU_H200,
     .source = H100_SOURCE,
     .peak = 989,
     .efficiency = 0.58,
     .processors = 132,
     .hbm = 4800,
     .nvlink = 450,
     .network = 50,
     .link = 0.8,
     .overlap = 0.8,
     .exposed = 0.3,
     .flash = 1,
     .gain = 0.6,
     .memory = 141,
     .idle = 0.325,
     .busy = 0.9,
     .rate_error = 0.15,
     .power_error = 0.15,
     .basis = CKPD__POWER_TDP},
    {.name = CKPD__GPU_B200,
     .source = "NVIDIA DGX B200 data sheet; efficiency as H100, not tested; power scaled from H100 "
               "by TDP",
     .peak = 2250,
     .efficiency = 0.58,
     .processors = 148,
     .hbm = 8000,
     .nvlink = 900,
     .network = 50,
     .link = 0.8,
     .overlap = 0.8,
     .exposed = 0.3,
     .flash = 1,
     .gain = 0.6,
     .memory = 180,
     .idle = 0.46,
     .busy = 1.29,
     .rate_error = 0.3,
     .power_error = 0.3,
     .basis = CKPD__POWER_TDP},
    {.name = CKPD__GPU_MI300X,
     .source = "AMD MI300X data sheet; efficiency assumed; power scaled from H100 by TDP",
     .peak = 1307.4,
     .efficiency = 0.45,
     .processors = 304,
     .hbm = 5300,
     .nvlink = 448,
     .network = 50,
     .link = 0.8,
     .overlap = 0.8,
     .exposed = 0.3,
     .flash = 1,
     .gain = 0.6,
     .memory = 192,
     .idle = 0.35,
     .busy = 0.96,
     .rate_error = 0.3,
     .power_error = 0.3,
     .basis = CKPD__POWER_TDP},
};

enum { PRESETS = sizeof presets / sizeof *presets };

void ckpd__hardware_defaults(int32_t index, double *values)
{
    const preset *p = &presets[index];
    ckpd__fields_defaults(&ckpd__hardware_table, values);
    values[CKPD__HW_PEAK_TFLOPS] = p->peak;
    values[CKPD__HW_EFFICIENCY] = p->efficiency;
    values[CKPD__HW_MULTIPROCESSORS] = p->processors;
    values[CKPD__HW_HBM] = p->hbm;
    values[CKPD__HW_LINK_EFFICIENCY] = p->link;
    values[CKPD__HW_FLASH_ATTENTION] = p->flash;
    values[CKPD__HW_FLASH_GAIN] = p->gain;
    values[CKPD__HW_NVLINK] = p->nvlink;
    values[CKPD__HW_NETWORK] = p->network;
    values[CKPD__HW_TP_OVERLAP] = p->overlap;
    values[CKPD__HW_DP_EXPOSED] = p->exposed;
    values[CKPD__HW_MEMORY_GB] = p->memory;
    values[CKPD__HW_IDLE_KW] = p->idle;
    values[CKPD__HW_BUSY_KW] = p->busy;
    values[CKPD__HW_POWER_BASIS] = p->basis;
    values[CKPD__HW_RATE_ERROR] = p->rate_error;
    values[CKPD__HW_POWER_ERROR] = p->power_error;
}

static int32_t find_preset(ckpd_context *context, const char *name, int32_t *index)
{
    const char *names[PRESETS];
    for (int32_t i = 0; i < PRESETS; i++) {
        if (strcmp(presets[i].name, name) == 0) {
            *index = i;
            return CKPD_OK;
        }
        names[i] = presets[i].name;
    }
    const char *nearest = ckpd__nearest(name, names, PRESETS);
    if (nearest != NULL) {
        return ckpd__fail(context, CKPD_ERR_UNKNOWN_NAME, "gpu", -1, (double)NAN,
                          "no hardware preset '%s'; did you mean '%s'?", name, nearest);
    }
    return ckpd__fail(context, CKPD_ERR_UNKNOWN_NAME, "gpu", -1, (double)NAN,
                      "no hardware preset '%s'; known: %s", name, CKPD__GPU_CHOICES);
}

int32_t ckpd_hardware_new(ckpd_hardware **out, ckpd_context *context, const char *name)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL || name == NULL) {
        return ckpd__null_argument(context, out == NULL ? "out" : "preset");
    }
    int32_t index = 0;
    int32_t status = find_preset(context, name, &index);
    if (status != CKPD_OK) {
        return status;
    }
    ckpd_hardware *hardware = ckpd__calloc(context, 1, sizeof *hardware);
    if (hardware == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(hardware, CKPD__HARDWARE, context);
    hardware->preset = index;
    ckpd__hardware_defaults(index, hardware->values);
    *out = hardware;
    return CKPD_OK;
}

void ckpd_hardware_free(ckpd_hardware *hardware)
{
    CKPD__NULL_IF_FOREIGN(hardware, CKPD__HARDWARE);
    if (hardware != NULL) {
        ckpd__handle_end(hardware);
    }
}

const char *ckpd_hardware_name(const ckpd_hardware *hardware)
{
    CKPD__NULL_IF_FOREIGN(hardware, CKPD__HARDWARE);
    return hardware != NULL ? presets[hardware->preset].name : NULL;
}

int32_t ckpd_hardware_set(ckpd_hardware *hardware, const char *field, double value)
{
    CKPD__REFUSE_FOREIGN(NULL, hardware, CKPD__HARDWARE);
    if (hardware == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    return ckpd__fields_set(hardware->context, &ckpd__hardware_table, hardware->values, field,
                            value);
}

int32_t ckpd_hardware_set_text(ckpd_hardware *hardware, const char *field, const char *text)
{
    CKPD__REFUSE_FOREIGN(NULL, hardware, CKPD__HARDWARE);
    if (hardware == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    return ckpd__fields_set_text(hardware->context, &ckpd__hardware_table, hardware->values, field,
                                 text);
}

int32_t ckpd_hardware_get(const ckpd_hardware *hardware, const char *field, double *value)
{
    CKPD__REFUSE_FOREIGN(NULL, hardware, CKPD__HARDWARE);
    if (hardware == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    return ckpd__fields_get(hardware->context, &ckpd__hardware_table, hardware->values, field,
                            value);
}

int32_t ckpd_hardware_get_text(const ckpd_hardware *hardware, const char *field, char *buffer,
                               size_t size)
{
    CKPD__REFUSE_FOREIGN(NULL, hardware, CKPD__HARDWARE);
    if (hardware == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    return ckpd__fields_get_text(hardware->context, &ckpd__hardware_table, hardware->values, field,
                                 buffer, size);
}

int32_t ckpd_hardware_unset(ckpd_hardware *hardware, const char *field)
{
    CKPD__REFUSE_FOREIGN(NULL, hardware, CKPD__HARDWARE);
    if (hardware == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    double defaults[CKPD__HW_FIELDS], value = 0;
    ckpd__hardware_defaults(hardware->preset, defaults);
    int32_t status =
        ckpd__fields_get(hardware->context, &ckpd__hardware_table, defaults, field, &value);
    if (status == CKPD_OK) {
        hardware->values[ckpd__fields_find(&ckpd__hardware_table, field)] = value;
    }
    return status;
}

int32_t ckpd_hardware_field_count(void)
{
    return ckpd__hardware_table.count;
}

int32_t ckpd_hardware_field_info(int32_t index, ckpd_field_info *out)
{
    return ckpd__fields_info(NULL, &ckpd__hardware_table, index, out);
}

int32_t ckpd_hardware_preset_count(void)
{
    return PRESETS;
}

const char *ckpd_hardware_preset_name(int32_t index)
{
    return index >= 0 && index < PRESETS ? presets[index].name : NULL;
}

const char *ckpd_hardware_preset_source(int32_t index)
{
    return index >= 0 && index < PRESETS ? presets[index].source : NULL;
}
