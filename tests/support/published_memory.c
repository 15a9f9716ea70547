/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support/published.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SOURCE,
    MODEL,
    LAYERS,
    HIDDEN,
    HEADS,
    VOCAB,
    SEQ,
    MB,
    BATCH,
    GPUS,
    TP,
    PP,
    DP,
    ZERO,
    RECOMPUTE,
    GRAD,
    MEM,
    OOM,
    CELLS
};

static void read_peak(char **cell, published_peak *p)
{
    published_row *r = &p->row;
    snprintf(p->model, sizeof p->model, "%.15s", cell[MODEL]);
    snprintf(p->state, sizeof p->state, "%.23s", cell[GRAD]);
    p->complete = cell[LAYERS][0] != '\0' && cell[HEADS][0] != '\0';
    p->out_of_memory = cell[OOM][0] == '1';
    p->measured_gb = atoi(cell[MEM]);
    snprintf(r->model, sizeof r->model, "%s", p->model);
    snprintf(r->stack, sizeof r->stack, "%s", strncmp(p->state, "fp32", 4) == 0 ? "bf16" : "fp16");
    r->gpu = "a100-80gb";
    r->source = PUBLISHED_BLOOM_TRIALS;
    r->layers = atoi(cell[LAYERS]);
    r->hidden = atoi(cell[HIDDEN]);
    r->heads = atoi(cell[HEADS]);
    r->vocabulary = atoi(cell[VOCAB]);
    r->sequence = atoi(cell[SEQ]);
    r->batch = atoi(cell[BATCH]);
    r->gpus = atoi(cell[GPUS]);
    r->run = (ckpd_run){.size = sizeof r->run,
                        .tp = atoi(cell[TP]),
                        .pp = atoi(cell[PP]),
                        .dp = atoi(cell[DP]),
                        .micro_batch = atoi(cell[MB]),
                        .recompute = CKPD_RECOMPUTE_FULL};
    if (r->heads == 0) { /* elsewhere in the same text: 96 heads at 14400, 64 at 13824 */
        r->heads = r->hidden == 14400 ? 96 : 64;
    }
    if (r->layers == 0) { /* the text counts model sizes with a vocabulary of 150257 */
        double h = r->hidden, size = atoi(cell[MODEL]) * 1e9;
        r->layers = (int32_t)(round((size - 150257 * h) / (12 * h * h) / r->run.pp) * r->run.pp);
    }
}

published_peak *published_peaks(int32_t *count)
{
    const char *path = test_shared_path("data/published/training-memory.csv");
    if (path == NULL) {
        return NULL;
    }
    size_t size = 0;
    char *text = test_read_file(path, &size), *at = text, *line, *cell[CELLS];
    published_peak *peaks = calloc(512, sizeof *peaks);
    *count = 0;
    published_line(&at);
    for (int32_t number = 0; (line = published_line(&at)) != NULL && *count < 512; number++) {
        if (published_cells(line, cell, CELLS) == CELLS) {
            peaks[*count].line = number;
            read_peak(cell, &peaks[(*count)++]);
        }
    }
    free(text);
    return peaks;
}

static void evaluate(ckpd_context *context, published_peak *p, const ckpd_hardware *hardware,
                     ckpd_mode *mode)
{
    const ckpd_run *run = &p->row.run;
    ckpd_layout layout = {sizeof layout,      run->tp, run->pp, run->dp, run->micro_batch, 1, 1, 1,
                          CKPD_RECOMPUTE_FULL};
    ckpd_task *task = published_task(context, &p->row);
    mode->size = sizeof *mode;
    ck_assert_msg(ckpd_mode_evaluate(task, hardware, &layout, mode) == CKPD_OK, "line %d: %s",
                  p->line, ckpd_context_last_message(context));
    ckpd_task_free(task);
}

/* Factor and offset from the running rows of every other model size. */
static void fit_without(const published_peak *peaks, int32_t count, const char *model,
                        double *factor, double *offset)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
    for (int32_t i = 0; i < count; i++) {
        const published_peak *p = &peaks[i];
        if (p->out_of_memory || p->measured_gb == 0 || strcmp(p->model, model) == 0) {
            continue;
        }
        double counted = p->states_gb + p->activations_gb + p->working_gb;
        double x = counted / p->measured_gb, y = 1 / p->measured_gb;
        sx += x, sy += y, sxx += x * x, sxy += x * y, syy += y * y;
    }
    double determinant = sxx * syy - sxy * sxy;
    *factor = (sx * syy - sy * sxy) / determinant;
    *offset = (sy - *factor * sxy) / syy;
}

void published_predict_peaks(ckpd_context *context, published_peak *peaks, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        ckpd_hardware *hardware = published_hardware(context, &peaks[i].row);
        ckpd_mode mode;
        evaluate(context, &peaks[i], hardware, &mode);
        peaks[i].predicted_gb = mode.memory_bytes / 1e9;
        peaks[i].states_gb = mode.states_bytes / 1e9;
        peaks[i].activations_gb = mode.activations_bytes / 1e9;
        peaks[i].working_gb = mode.working_bytes / 1e9;
        ckpd_hardware_free(hardware);
    }
    for (int32_t i = 0; i < count; i++) {
        double factor = 0, offset = 0;
        fit_without(peaks, count, peaks[i].model, &factor, &offset);
        peaks[i].left_out_gb =
            factor * (peaks[i].states_gb + peaks[i].activations_gb + peaks[i].working_gb) + offset;
    }
}
