/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support/published.h"

#include "support/support.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const published_names[PUBLISHED_SOURCES] = {
    "BLOOM trials",  "BLOOM runs", "Korthikanti", "SC'21 table 2", "MT-NLG",   "MLPerf",
    "Megatron-Core", "MPT A100",   "MPT H100",    "SC'21 ZeRO-3",  "NeMo FP8",
};

/* --- CSV
 * ------------------------------------------------------------------------------------------ */

int32_t published_cells(char *line, char **cells, int32_t most)
{
    int32_t count = 0;
    for (char *read = line; count < most;) {
        char *write = read;
        cells[count++] = write;
        bool quoted = *read == '"';
        read += quoted;
        while (*read != '\0' && (quoted || *read != ',')) {
            if (quoted && *read == '"') {
                if (read[1] != '"') {
                    quoted = false;
                    read++;
                    continue;
                }
                read++;
            }
            *write++ = *read++;
        }
        bool more = *read == ',';
        read++;
        *write = '\0';
        if (!more) {
            break;
        }
    }
    return count;
}

char *published_line(char **text)
{
    char *line = *text;
    if (line == NULL || *line == '\0') {
        return NULL;
    }
    char *end = strchr(line, '\n');
    *text = end != NULL ? end + 1 : line + strlen(line);
    if (end != NULL) {
        *end = '\0';
        if (end > line && end[-1] == '\r') {
            end[-1] = '\0';
        }
    }
    return line;
}

double published_number(const char *cell)
{
    double value = 0, scale = 1;
    const char *c = cell;
    for (; *c >= '0' && *c <= '9'; c++) {
        value = 10 * value + (*c - '0');
    }
    if (*c == '.') {
        for (c++; *c >= '0' && *c <= '9'; c++) {
            value = 10 * value + (*c - '0');
            scale *= 10;
        }
    }
    return value / scale;
}

static int32_t whole(const char *cell)
{
    return (int32_t)published_number(cell);
}

/* Number behind `key` in a note, or `otherwise`. */
static int32_t noted(const char *note, const char *key, int32_t otherwise)
{
    const char *at = strstr(note, key);
    return at != NULL ? whole(at + strlen(key)) : otherwise;
}

/* --- rows
 * ------------------------------------------------------------------------------------------ */

enum {
    C_SOURCE,
    C_MODEL,
    C_PARAMS,
    C_LAYERS,
    C_HIDDEN,
    C_HEADS,
    C_KV,
    C_FFN,
    C_VOCAB,
    C_SEQ,
    C_BATCH,
    C_MB,
    C_GPU,
    C_GPUS,
    C_TP,
    C_PP,
    C_DP,
    C_TFLOPS,
    C_MFU,
    C_ITER,
    C_RATE,
    C_NOTES,
    C_COUNT
};

static void set_stack(published_row *r, const char *stack)
{
    snprintf(r->stack, sizeof r->stack, "%s", stack);
}

/*
 * Trials are dated. The source says that the machine's network was improved on 02-25 ("do not
 * compare") and that 02-28 changed optimizer and precision.
 */
static void bloom_trial(published_row *r, const char *note)
{
    const char *date = strstr(note, "02-");
    int32_t day = date != NULL ? whole(date + 3) : 0;
    r->source = PUBLISHED_BLOOM_TRIALS;
    set_stack(r, day == 17 ? (strstr(note, "bf16") != NULL ? "bloom-0217-bf16" : "bloom-0217-fp16")
                 : day == 28 ? "bloom-0228-bf16"
                 : day >= 25 ? "bloom-0225-fp16"
                             : "bloom-0220-fp16");
    size_t length = strcspn(note, ";");
    snprintf(r->group, sizeof r->group, "%.*s", (int)(length < 40 ? length : 40), note);
    r->run.recompute = CKPD_RECOMPUTE_FULL;
    r->guessed = r->layers == 0 || r->heads == 0;
    if (r->heads == 0) { /* elsewhere in the same text: 96 heads at 14400, 64 at 13824 */
        r->heads = r->hidden == 14400 ? 96 : 64;
    }
    if (r->layers == 0) { /* the text counts model sizes with a vocabulary of 150257 */
        double h = r->hidden;
        double layers = (r->parameters - 150257 * h) / (12 * h * h);
        r->layers = (int32_t)(round(layers / r->run.pp) * r->run.pp);
    }
}

static bool classify(published_row *r, char **cell)
{
    const char *s = cell[C_SOURCE], *note = cell[C_NOTES];
    r->run.recompute = CKPD_RECOMPUTE_FULL;
    if (strstr(s, "chronicles-prequel") != NULL) {
        bloom_trial(r, note);
    } else if (strstr(s, "tr11-176B-ml") != NULL) {
        r->source = PUBLISHED_BLOOM_RUNS;
        set_stack(r, strstr(s, "reshap") != NULL ? "bloom-reshape" : "bloom-run");
    } else if (strstr(s, "calculon") != NULL) {
        r->source = PUBLISHED_KORTHIKANTI;
        set_stack(r, "korthikanti");
        r->run.interleave = noted(note, "interleave=", 1);
        r->run.recompute =
            strstr(note, "selective") != NULL ? CKPD_RECOMPUTE_SELECTIVE : CKPD_RECOMPUTE_FULL;
    } else if (strstr(s, "megatron-lm-2nd-table-2") != NULL) {
        bool zero3 = r->run.tp == 1;
        r->source = zero3 ? PUBLISHED_ZERO3 : PUBLISHED_SC21;
        set_stack(r, zero3 ? "sc21-zero3" : "sc21-ptd");
    } else if (strstr(s, "megatron-turing") != NULL) {
        r->source = PUBLISHED_MT_NLG;
        set_stack(r, "mt-nlg");
        r->run.micro_batch = 1; /* arXiv 2201.11990, section 2.4 */
    } else if (strstr(s, "training_results_v") != NULL) {
        const char *version = strstr(s, "results_v") + 9;
        r->source = PUBLISHED_MLPERF;
        snprintf(r->stack, sizeof r->stack, "mlperf-%.3s", version);
        r->run.interleave = noted(note, "VP=", 1);
        r->run.cp = noted(note, "CP=", 1);
        r->run.recompute = CKPD_RECOMPUTE_NONE;
    } else if (strstr(s, "llm-foundry") != NULL) {
        if (r->parameters < 6e9) {
            return false; /* small models are bound by launches: out of the model's reach */
        }
        bool h100 = strstr(r->gpu, "h100") != NULL;
        r->source = h100 ? PUBLISHED_MPT_H100 : PUBLISHED_MPT_A100;
        snprintf(r->stack, sizeof r->stack, "mpt-%s%s", r->gpu,
                 h100 && r->gpus >= 128 && strstr(note, "Large Scale") != NULL ? "-large" : "");
        r->run.recompute =
            strstr(note, "checkpointing True") != NULL ? CKPD_RECOMPUTE_FULL : CKPD_RECOMPUTE_NONE;
    } else if (strstr(s, "model_table") != NULL) {
        /* Micro-batch, interleaving and recomputation are not printed: the fastest that fit stand
         * in. */
        double h = r->hidden, tokens = (double)r->batch * r->sequence;
        r->source = PUBLISHED_MCORE;
        set_stack(r, "mcore-0.8");
        r->run.micro_batch = 0;
        r->run.recompute = -1;
        r->run.iteration_s = tokens * r->layers * h *
                             (72 * h + 12 * r->sequence + 6.0 * r->vocabulary / r->layers) /
                             (published_number(cell[C_TFLOPS]) * 1e12 * r->gpus);
    } else if (strstr(s, "performance_summary") != NULL ||
               strstr(s, "performance-summary") != NULL) {
        r->source = PUBLISHED_NEMO;
        const char *version = strstr(note, "container ");
        snprintf(r->stack, sizeof r->stack, "nemo-fp8-%.5s",
                 version != NULL                         ? version + 10
                 : strstr(note, "long-sequence") != NULL ? "long"
                                                         : "24.07");
        r->run.interleave = noted(note, "VP=", 1);
        r->run.cp = noted(note, "CP=", 1);
        r->run.recompute = CKPD_RECOMPUTE_NONE;
    } else {
        return false;
    }
    return true;
}

static const char *preset(const char *gpu)
{
    return strstr(gpu, "H200") != NULL   ? "h200-141gb"
           : strstr(gpu, "H100") != NULL ? "h100-80gb"
           : strstr(gpu, "40") != NULL   ? "a100-40gb"
                                         : "a100-80gb";
}

static bool read_row(char *line, published_row *r)
{
    char *cell[C_COUNT];
    if (published_cells(line, cell, C_COUNT) != C_COUNT) {
        return false;
    }
    r->run = (ckpd_run){.size = sizeof r->run,
                        .tp = whole(cell[C_TP]),
                        .pp = whole(cell[C_PP]),
                        .dp = whole(cell[C_DP]),
                        .micro_batch = whole(cell[C_MB]),
                        .gpus = whole(cell[C_GPUS]),
                        .iteration_s = published_number(cell[C_ITER])};
    r->gpus = r->run.gpus;
    r->gpu = preset(cell[C_GPU]);
    snprintf(r->model, sizeof r->model, "%.31s", cell[C_MODEL]);
    r->parameters = published_number(cell[C_PARAMS]);
    r->layers = whole(cell[C_LAYERS]);
    r->hidden = whole(cell[C_HIDDEN]);
    r->heads = whole(cell[C_HEADS]);
    r->kv_heads = whole(cell[C_KV]);
    r->ffn = whole(cell[C_FFN]);
    r->gated = strstr(cell[C_MODEL], "lama") != NULL || strstr(cell[C_MODEL], "LLAMA") != NULL;
    if (r->ffn == 0 && r->gated && r->hidden > 0) { /* Llama 2: arXiv 2307.09288 */
        r->ffn = r->hidden == 4096 ? 11008 : 13824;
    }
    r->vocabulary = whole(cell[C_VOCAB]) > 0 ? whole(cell[C_VOCAB]) : 51200;
    r->sequence = whole(cell[C_SEQ]);
    r->batch = whole(cell[C_BATCH]);
    if (!classify(r, cell)) {
        return false;
    }
    if (r->run.iteration_s <= 0) { /* the rate alone is printed */
        r->run.iteration_s = published_number(cell[C_RATE]) > 0
                                 ? (double)r->batch * r->sequence / published_number(cell[C_RATE])
                                 : 0;
    }
    return r->run.iteration_s > 0 && r->hidden > 0 && r->layers > 0 && r->heads > 0 &&
           r->run.tp > 0;
}

published_row *published_read(int32_t *count)
{
    const char *path = test_shared_path("data/published/training-throughput.csv");
    if (path == NULL) {
        return NULL;
    }
    size_t size = 0;
    char *text = test_read_file(path, &size), *at = text, *line;
    published_row *rows = calloc(1024, sizeof *rows);
    *count = 0;
    published_line(&at);
    for (int32_t number_of_line = 0; (line = published_line(&at)) != NULL && *count < 1024;
         number_of_line++) {
        published_row row;
        memset(&row, 0, sizeof row);
        row.line = number_of_line;
        if (read_row(line, &row)) {
            rows[(*count)++] = row;
        }
    }
    free(text);
    return rows;
}

/* --- predictions
 * ------------------------------------------------------------------------------------ */

static void set(ckpd_task *task, const char *field, double value)
{
    ck_assert_msg(ckpd_task_set(task, field, value) == CKPD_OK, "%s = %g", field, value);
}

ckpd_task *published_task(ckpd_context *context, const published_row *r)
{
    ckpd_task *task = NULL;
    ck_assert_int_eq(ckpd_task_new(&task, context, r->model), CKPD_OK);
    set(task, "layers", r->layers);
    set(task, "hidden", r->hidden);
    set(task, "heads", r->heads);
    set(task, "kv_heads", r->kv_heads > 0 ? r->kv_heads : r->heads);
    set(task, "ffn", r->ffn > 0 ? r->ffn : 4 * r->hidden);
    set(task, "gated_mlp", r->gated);
    set(task, "vocabulary", r->vocabulary);
    set(task, "sequence_length", r->sequence);
    set(task, "batch_sequences", r->batch);
    set(task, "tied_embeddings", !r->gated);
    return task;
}

ckpd_hardware *published_hardware(ckpd_context *context, const published_row *r)
{
    ckpd_hardware *hardware = NULL;
    ck_assert_int_eq(ckpd_hardware_new(&hardware, context, r->gpu), CKPD_OK);
    if (r->plain) {
        return hardware;
    }
    if (r->source == PUBLISHED_BLOOM_TRIALS || r->source == PUBLISHED_BLOOM_RUNS) {
        /* Jean Zay: four 100 Gb/s adapters for eight GPUs; kernels are launched one by one (the
           source runs with CUDA_LAUNCH_BLOCKING=1). The last two are fitted on the trials. */
        ck_assert_int_eq(ckpd_hardware_set(hardware, "network_gb_per_s", 6.25), CKPD_OK);
        ck_assert_int_eq(ckpd_hardware_set(hardware, "network_efficiency", 0.3), CKPD_OK);
        ck_assert_int_eq(ckpd_hardware_set(hardware, "layer_overhead_ms", 2.2), CKPD_OK);
        /* DeepSpeed's ZeRO-1: fp16 weights and gradients whole, 14 bytes of master weight, moments
           and reduced gradient spread; bf16 adds whole fp32 gradients (the source's own words). */
        bool fp16 = strstr(r->stack, "fp16") != NULL;
        ck_assert_int_eq(ckpd_hardware_set(hardware, "parameter_bytes", fp16 ? 18 : 20), CKPD_OK);
        ck_assert_int_eq(ckpd_hardware_set(hardware, "sharded_bytes", fp16 ? 14 : 12), CKPD_OK);
    }
    if (r->source == PUBLISHED_MLPERF || r->source == PUBLISHED_NEMO) {
        ck_assert_int_eq(ckpd_hardware_set_text(hardware, "precision", "fp8"), CKPD_OK);
    }
    if (r->source == PUBLISHED_ZERO3 || r->source == PUBLISHED_MPT_A100 ||
        r->source == PUBLISHED_MPT_H100) {
        ck_assert_int_eq(ckpd_hardware_set_text(hardware, "sharding", "full"), CKPD_OK);
        double flash = r->source != PUBLISHED_ZERO3; /* MPT trains with flash attention */
        ck_assert_int_eq(ckpd_hardware_set(hardware, "flash_attention", flash), CKPD_OK);
        /* Its kernels of 2023 reach less of an H100 than later ones. */
        ck_assert_int_eq(ckpd_hardware_set(hardware, "flash_gain", 0.38), CKPD_OK);
        if (r->source == PUBLISHED_ZERO3) { /* fitted on these rows: 24 GB/s of the node's 200 */
            ck_assert_int_eq(ckpd_hardware_set(hardware, "network_efficiency", 0.12), CKPD_OK);
        }
    }
    return hardware;
}

ckpd_mode published_mode(ckpd_context *context, const published_row *r, double efficiency)
{
    ckpd_hardware *hardware = published_hardware(context, r);
    ckpd_task *task = published_task(context, r);
    ckpd_layout layout = {sizeof layout, r->run.tp,          r->run.pp,
                          r->run.dp,     r->run.micro_batch, r->run.cp,
                          r->run.ep,     r->run.interleave,  r->run.recompute};
    ckpd_mode mode = {.size = sizeof mode};
    if (efficiency > 0) {
        ckpd_hardware_set(hardware, "efficiency", efficiency);
    }
    if (ckpd_mode_evaluate(task, hardware, &layout, &mode) != CKPD_OK) {
        fprintf(stderr, "%s\n", ckpd_context_last_message(context));
        exit(1);
    }
    ckpd_task_free(task);
    ckpd_hardware_free(hardware);
    return mode;
}

static void predict_alone(ckpd_context *context, published_row *r)
{
    ckpd_hardware *hardware = published_hardware(context, r);
    ckpd_task *task = published_task(context, r);
    ckpd_anchor *anchor = NULL;
    ckpd_anchor_report report = {.size = sizeof report};
    ckpd_mode mode = {.size = sizeof mode};
    ck_assert_int_eq(ckpd_anchor_new(&anchor, context, hardware, NULL), CKPD_OK);
    if (ckpd_anchor_add(anchor, task, &r->run) == CKPD_OK) {
        ck_assert_int_eq(ckpd_anchor_mode(anchor, 0, &mode), CKPD_OK);
        r->default_s = mode.iteration_s;
        r->stands_micro_batch = mode.micro_batch;
        r->stands_recompute = mode.recompute;
        ck_assert_int_eq(ckpd_anchor_fit(anchor, CKPD_FIT_EFFICIENCY, hardware, &report), CKPD_OK);
        r->efficiency = report.efficiency;
    } else {
        r->efficiency = -1;
        snprintf(r->refused, sizeof r->refused, "%s", ckpd_context_last_message(context));
    }
    ckpd_anchor_free(anchor);
    ckpd_task_free(task);
    ckpd_hardware_free(hardware);
}

static void predict_anchored(ckpd_context *context, published_row *r, double efficiency)
{
    ckpd_hardware *hardware = published_hardware(context, r);
    ckpd_task *task = published_task(context, r);
    ckpd_layout layout = {sizeof layout, r->run.tp,          r->run.pp,
                          r->run.dp,     r->run.micro_batch, r->run.cp,
                          r->run.ep,     r->run.interleave,  r->run.recompute};
    if (r->run.micro_batch == 0) {
        layout.micro_batch = r->stands_micro_batch;
        layout.recompute = r->stands_recompute;
    }
    ckpd_mode mode = {.size = sizeof mode};
    ck_assert_int_eq(ckpd_hardware_set(hardware, "efficiency", efficiency), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_evaluate(task, hardware, &layout, &mode), CKPD_OK);
    r->predicted_s = mode.iteration_s;
    ckpd_task_free(task);
    ckpd_hardware_free(hardware);
}

static int by_efficiency(const void *a, const void *b)
{
    const published_row *const *x = a, *const *y = b;
    return (*x)->efficiency < (*y)->efficiency   ? -1
           : (*x)->efficiency > (*y)->efficiency ? 1
                                                 : (*x)->line - (*y)->line;
}

void published_predict(ckpd_context *context, published_row *rows, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        predict_alone(context, &rows[i]);
    }
    published_row **stack = calloc((size_t)count, sizeof *stack);
    for (int32_t i = 0; i < count; i++) {
        if (rows[i].predicted_s > 0 || rows[i].efficiency <= 0) {
            continue;
        }
        int32_t members = 0, printed = 0;
        for (int32_t k = i; k < count; k++) {
            if (rows[k].efficiency > 0 && strcmp(rows[k].stack, rows[i].stack) == 0) {
                stack[members++] = &rows[k];
                printed += !rows[k].guessed;
            }
        }
        /* The anchor is a row with a printed layout: the one with the median efficiency. */
        qsort(stack, (size_t)members, sizeof *stack, by_efficiency);
        int32_t skip = ((printed > 0 ? printed : members) - 1) / 2, at = 0;
        while (printed > 0 && stack[at]->guessed) {
            at++;
        }
        for (; skip > 0; skip--) {
            do {
                at++;
            } while (printed > 0 && stack[at]->guessed);
        }
        stack[at]->anchor = true;
        double efficiency = stack[at]->efficiency;
        for (int32_t k = 0; k < members; k++) {
            predict_anchored(context, stack[k], efficiency);
        }
    }
    free(stack);
}

/* --- statistics
 * -------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return x < y ? -1 : x > y;
}

published_errors published_summary(double *errors, int32_t count)
{
    published_errors out = {count, 0, 0, 0};
    if (count == 0) {
        return out;
    }
    qsort(errors, (size_t)count, sizeof *errors, by_size);
    for (int32_t i = 0; i < count; i++) {
        out.mean += fabs(errors[i]) / count;
    }
    out.median = (fabs(errors[count / 2]) + fabs(errors[(count - 1) / 2])) / 2;
    out.largest = fabs(errors[count - 1]);
    return out;
}

static double rank(const double *values, int32_t count, int32_t of)
{
    double below = 0, equal = 0;
    for (int32_t i = 0; i < count; i++) {
        below += values[i] < values[of];
        equal += values[i] == values[of];
    }
    return below + (equal - 1) / 2;
}

double published_spearman(const double *a, const double *b, int32_t count)
{
    double mean = (count - 1) / 2.0, ab = 0, aa = 0, bb = 0;
    for (int32_t i = 0; i < count; i++) {
        double x = rank(a, count, i) - mean, y = rank(b, count, i) - mean;
        ab += x * y;
        aa += x * x;
        bb += y * y;
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}

int32_t published_groups(const published_row *rows, int32_t count, published_group *groups,
                         int32_t most)
{
    double *measured = calloc((size_t)count + 1, sizeof *measured);
    double *predicted = calloc((size_t)count + 1, sizeof *predicted);
    int32_t found = 0;
    for (int32_t i = 0; i < count && found < most; i++) {
        int32_t members = 0;
        bool known = rows[i].group[0] == '\0' || rows[i].guessed || rows[i].efficiency <= 0;
        for (int32_t k = 0; k < i; k++) {
            known = known || (strcmp(rows[k].group, rows[i].group) == 0 && !rows[k].guessed &&
                              rows[k].efficiency > 0);
        }
        for (int32_t k = i; k < count && !known; k++) {
            if (rows[k].efficiency > 0 && !rows[k].guessed &&
                strcmp(rows[k].group, rows[i].group) == 0) {
                measured[members] = rows[k].run.iteration_s;
                predicted[members++] = rows[k].predicted_s;
            }
        }
        if (members >= 5) {
            groups[found] = (published_group){
                .rows = members, .correlation = published_spearman(measured, predicted, members)};
            snprintf(groups[found].name, sizeof groups[found].name, "%s", rows[i].group);
            found++;
        }
    }
    free(measured);
    free(predicted);
    return found;
}
