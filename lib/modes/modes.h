/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Inside of the mode room: hardware, rules, prediction of one layout, and the finished set. */
#ifndef CKPD_LIB_MODES_H
#define CKPD_LIB_MODES_H

#include "base/base.h"
#include "base/fields.h"
#include "task/task.h"
#include <ckptdispatch/modes.h>

/* Order of the field table in hardware.c. */
enum {
    CKPD__HW_PEAK_TFLOPS,
    CKPD__HW_EFFICIENCY,
    CKPD__HW_PRECISION,
    CKPD__HW_FP8_GAIN,
    CKPD__HW_MULTIPROCESSORS,
    CKPD__HW_HBM,
    CKPD__HW_WIDTH_HALF,
    CKPD__HW_TOKENS_HALF,
    CKPD__HW_HEAD_GAIN,
    CKPD__HW_SCORE_PASSES,
    CKPD__HW_FLASH_GAIN,
    CKPD__HW_MISALIGNED_ATTENTION,
    CKPD__HW_LAYER_OVERHEAD_MS,
    CKPD__HW_NVLINK,
    CKPD__HW_NETWORK,
    CKPD__HW_LINK_EFFICIENCY,
    CKPD__HW_NETWORK_EFFICIENCY,
    CKPD__HW_HOP_EFFICIENCY,
    CKPD__HW_TP_OVERLAP,
    CKPD__HW_DP_EXPOSED,
    CKPD__HW_GATHER_EXPOSED,
    CKPD__HW_STAGE_TIME,
    CKPD__HW_NODE_GPUS,
    CKPD__HW_MEMORY_GB,
    CKPD__HW_MEMORY_FACTOR,
    CKPD__HW_MEMORY_OFFSET_GB,
    CKPD__HW_PARAMETER_BYTES,
    CKPD__HW_SHARDED_BYTES,
    CKPD__HW_SHARDING,
    CKPD__HW_STATE_SPLIT,
    CKPD__HW_FLASH_ATTENTION,
    CKPD__HW_SEQUENCE_PARALLEL,
    CKPD__HW_LOGITS_BYTES,
    CKPD__HW_IDLE_KW,
    CKPD__HW_BUSY_KW,
    CKPD__HW_NETWORK_KW,
    CKPD__HW_EVALUATION_POWER,
    CKPD__HW_CHECKPOINT_POWER,
    CKPD__HW_POWER_BASIS,
    CKPD__HW_RATE_ERROR,
    CKPD__HW_MEMORY_ERROR,
    CKPD__HW_POWER_ERROR,
    CKPD__HW_FIELDS
};

enum { CKPD__SHARD_NONE, CKPD__SHARD_OPTIMIZER, CKPD__SHARD_FULL };
enum { CKPD__SPLIT_STAGE, CKPD__SPLIT_EVEN };
enum { CKPD__POWER_METERED, CKPD__POWER_TDP };
enum { CKPD__PRECISION_16_BIT, CKPD__PRECISION_FP8 };
enum { CKPD__STAGE_SLOWEST, CKPD__STAGE_AVERAGE };

struct ckpd_hardware {
    CKPD__HANDLE;
    int32_t preset;
    double values[CKPD__HW_FIELDS];
};

extern const ckpd__field_table ckpd__hardware_table;
/* Default values of a preset; the one named by reference_gpu is found by its position. */
void ckpd__hardware_defaults(int32_t preset, double *values);

/* Order of the field table in rules.c. */
enum {
    CKPD__RULE_INSTALLED_GPUS,
    CKPD__RULE_MINIMUM_GPUS,
    CKPD__RULE_MEMORY_MARGIN_GB,
    CKPD__RULE_KEEP_DOMINATED,
    CKPD__RULE_UNEVEN_STAGES,
    CKPD__RULE_FIELDS
};

enum {
    CKPD__LIST_TP,
    CKPD__LIST_PP,
    CKPD__LIST_DP,
    CKPD__LIST_CP,
    CKPD__LIST_EP,
    CKPD__LIST_MICRO_BATCH,
    CKPD__LIST_INTERLEAVE,
    CKPD__LIST_RECOMPUTE,
    CKPD__LISTS
};
enum { CKPD__LIST_LENGTH = 64 };

typedef struct ckpd__list {
    int32_t count; /* 0: default */
    int32_t values[CKPD__LIST_LENGTH];
} ckpd__list;

struct ckpd_mode_rules {
    CKPD__HANDLE;
    double values[CKPD__RULE_FIELDS];
    ckpd__list lists[CKPD__LISTS];
};

extern const ckpd__field_table ckpd__rules_table;

/* --- one layout ------------------------------------------------------------------------------- */

typedef struct ckpd__layout {
    int32_t tp, pp, dp, micro_batch, cp, ep, interleave, recompute;
} ckpd__layout;

static inline int64_t ckpd__layout_gpus(const ckpd__layout *l)
{
    return (int64_t)l->tp * l->pp * l->dp * l->cp;
}

/* Order of modes: GPUs, then the members of the layout in turn. */
int32_t ckpd__layout_compare(const ckpd__layout *a, const ckpd__layout *b);

/* What a prediction needs, copied: a set keeps one to explain itself later. */
typedef struct ckpd__predictor {
    ckpd__architecture model;
    double hw[CKPD__HW_FIELDS];
    double memory_limit; /* bytes, margin taken off */
} ckpd__predictor;

/* How layers, embedding and head are spread over the pipeline. */
typedef struct ckpd__stages {
    double first, last; /* layers of the first and last stage */
    double most;        /* layers of the fullest stage */
    double embeddings;  /* embedding matrices in the stage that holds most of them */
    bool apart;         /* embedding and head take the slot of a layer each */
} ckpd__stages;

void ckpd__stages_init(ckpd__stages *stages, const ckpd__architecture *model, int32_t pp);

/* Seconds of one layer for one micro-batch, at efficiency 1: depends on tp, cp, ep and the
   micro-batch alone, so that an enumeration computes it once for many layouts. */
typedef struct ckpd__kernels {
    int32_t tp, cp, ep, micro_batch; /* 0: empty */
    double forward, backward;        /* matrix products */
    double attention;                /* one pass over the scores: arithmetic */
    double head;                     /* forward and backward of the output layer */
    double fixed;                    /* one pass: score traffic, misaligned attention, launches */
    double reduce;                   /* one tensor-parallel reduction, all hidden bytes */
    double exchange;                 /* context- and expert-parallel traffic of a whole layer */
} ckpd__kernels;

void ckpd__kernels_init(ckpd__kernels *kernels, const ckpd__predictor *predictor,
                        const ckpd__layout *layout);

typedef struct ckpd__memory {
    double states, activations, working, logits, overhead, total;
} ckpd__memory;

typedef struct ckpd__times {
    double micro_batches;
    double compute, tp, pp, dp, bubble; /* seconds an iteration */
    double matrix;                      /* of iteration: what scales with 1 / efficiency */
    double iteration;
    double busy; /* fraction */
} ckpd__times;

void ckpd__predictor_init(ckpd__predictor *predictor, const ckpd__architecture *model,
                          const ckpd_hardware *hardware, double margin_gb);
void ckpd__predict_memory(const ckpd__predictor *predictor, const ckpd__layout *layout,
                          ckpd__memory *out);
void ckpd__predict_times(const ckpd__predictor *predictor, const ckpd__kernels *kernels,
                         const ckpd__layout *layout, ckpd__times *out);
double ckpd__predict_power(const ckpd__predictor *predictor, const ckpd__layout *layout,
                           const ckpd__times *times);
double ckpd__predict_rate(const ckpd__predictor *predictor, const ckpd__times *times);
/* Everything about one layout. */
void ckpd__predict_mode(const ckpd__predictor *predictor, const ckpd__layout *layout,
                        ckpd_mode *out);
/* Stack efficiency under which the layout takes `iteration_s`; <= 0 when communication alone takes
 * longer. */
double ckpd__efficiency_for(const ckpd__predictor *predictor, const ckpd__layout *layout,
                            double iteration_s);

/* --- enumeration ------------------------------------------------------------------------------ */

typedef struct ckpd__dropped {
    ckpd__layout layout; /* members not reached are 0 */
    int32_t reason, by;  /* by: retained mode that dominates it, -1 */
    int32_t gpus, source;
    double missing_bytes, rate, power_kw; /* NaN when not known */
} ckpd__dropped;

typedef struct ckpd__candidate {
    ckpd__layout layout;
    int32_t gpus, flags, source,
        rank; /* source: row of a table, -1; rank: scratch of the pruning */
    double rate, power_kw;
} ckpd__candidate;

typedef struct ckpd__modes {
    ckpd_context *context;
    ckpd__candidate *kept;
    int32_t kept_count, kept_capacity;
    ckpd__dropped *dropped;
    int32_t dropped_count, dropped_capacity;
    int64_t layouts;
    int32_t feasible;
} ckpd__modes;

void ckpd__modes_free(ckpd__modes *modes);
int32_t ckpd__modes_keep(ckpd__modes *modes, const ckpd__candidate *candidate);
int32_t ckpd__modes_drop(ckpd__modes *modes, const ckpd__dropped *dropped);
/* A layout that a rule refuses before it is evaluated. */
int32_t ckpd__modes_refuse(ckpd__modes *modes, const ckpd__layout *layout, int32_t reason,
                           double missing_bytes);
/* All layouts that pass divisibility and memory, in order of enumeration. */
int32_t ckpd__enumerate(ckpd__modes *modes, const ckpd__predictor *predictor,
                        const ckpd_mode_rules *rules, double minimum_gpus, double installed_gpus);
/* Moves dominated modes to dropped (flagged ones stay, marked) and puts the kept ones in their
 * order. */
int32_t ckpd__prune(ckpd__modes *modes, bool keep_dominated);

/* Flags the fastest mode that `layout` (micro_batch 0: any) or else `gpus` names; false when none
 * does. */
bool ckpd__modes_mark(ckpd__modes *modes, const ckpd__layout *layout, int32_t gpus, int32_t flag);
/* Position of the mode with this flag, -1. */
int32_t ckpd__modes_flagged(const ckpd__modes *modes, int32_t flag);

/* --- the set ---------------------------------------------------------------------------------- */

enum { CKPD__LABEL_LENGTH = 64 };
typedef struct ckpd__label {
    char text[CKPD__LABEL_LENGTH];
} ckpd__label;

struct ckpd_mode_set {
    CKPD__HANDLE;
    ckpd__modes modes;
    ckpd__predictor predictor; /* unused for tables */
    bool is_table;
    double *idle_kw;     /* tables, by row; NULL when not given */
    ckpd__label *labels; /* by kept mode */
    int32_t baseline, running;
    ckpd_workload workload;
};

/* Takes over what `modes` holds; the rest of a set is common to built sets and tables. */
int32_t ckpd__set_new(ckpd_mode_set **out, ckpd_context *context);
/* Why a layout was dropped, with its numbers. */
void ckpd__set_dropped_text(const ckpd_mode_set *set, const ckpd__dropped *d, char *text,
                            size_t size);
/* Baseline and running mode before pruning: flags them or says what is wrong. */
int32_t ckpd__set_mark(ckpd_mode_set *set, const ckpd_task *task);
/* Pruning, labels, baseline, running mode and workload, for modes that are all in place. */
int32_t ckpd__set_finish(ckpd_mode_set *set, const ckpd_task *task, const ckpd__architecture *model,
                         bool keep_dominated);
void ckpd__layout_text(const ckpd__layout *layout, char *buffer, size_t size);

/* Stack efficiency that the task's reference run implies (docs/modes.md, "Calibration"). */
int32_t ckpd__calibrate(ckpd_context *context, const ckpd_task *task,
                        const ckpd__architecture *model, const ckpd_hardware *hardware,
                        const ckpd_mode_rules *rules, double *efficiency);

#endif
