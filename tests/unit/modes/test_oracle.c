/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Every term of the published analytic model against an independent implementation of it:
 * analytic-llama-a100-80g.csv (LLaMA 7/13/33/65B, every layout up to 2048 A100-80GB, three
 * recomputations). What the library adds to that model (tile waves, score traffic, slowest stage)
 * is switched off by fields.
 */
#include "support/published.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    O_MODEL,
    O_LAYERS,
    O_HIDDEN,
    O_HEADS,
    O_FFN,
    O_VOCAB,
    O_SEQ,
    O_BATCH,
    O_MB,
    O_TP,
    O_PP,
    O_DP,
    O_GPUS,
    O_RECOMPUTE,
    O_STATES,
    O_ACTIVATIONS,
    O_WORK,
    O_MEMORY,
    O_FEASIBLE,
    O_COMPUTE,
    O_TENSOR,
    O_HOP,
    O_EXCHANGE,
    O_ITERATION,
    O_RATE,
    O_BUSY,
    O_CELLS
};

static ckpd_context *context;
static ckpd_hardware *hardware;
static ckpd_task *task;
static char task_model[32];

static void start(void)
{
    const struct {
        const char *name;
        double value;
    } fields[] = {{"efficiency", 0.65},     {"multiprocessors", 0},
                  {"width_half", 700},      {"tokens_half", 700},
                  {"head_gain", 1},         {"score_passes", 0},
                  {"link_efficiency", 0.8}, {"network_efficiency", 0.8},
                  {"memory_factor", 1.10},  {"memory_offset_gb", 4.4}};
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_hardware_new(&hardware, context, "a100-80gb"), CKPD_OK);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        ck_assert_int_eq(ckpd_hardware_set(hardware, fields[i].name, fields[i].value), CKPD_OK);
    }
    ck_assert_int_eq(ckpd_hardware_set_text(hardware, "stage_time", "average"), CKPD_OK);
    task = NULL;
    task_model[0] = '\0';
}

static void set(const char *field, const char *cell)
{
    ck_assert_int_eq(ckpd_task_set(task, field, atoi(cell)), CKPD_OK);
}

static void take_task(char **cell)
{
    if (strcmp(task_model, cell[O_MODEL]) == 0) {
        return;
    }
    snprintf(task_model, sizeof task_model, "%s", cell[O_MODEL]);
    ckpd_task_free(task);
    ck_assert_int_eq(ckpd_task_new(&task, context, cell[O_MODEL]), CKPD_OK);
    set("layers", cell[O_LAYERS]);
    set("hidden", cell[O_HIDDEN]);
    set("heads", cell[O_HEADS]);
    set("ffn", cell[O_FFN]);
    set("vocabulary", cell[O_VOCAB]);
    set("sequence_length", cell[O_SEQ]);
    set("batch_sequences", cell[O_BATCH]);
    ck_assert_int_eq(ckpd_task_set(task, "gated_mlp", 1), CKPD_OK);
}

/* The file prints so many decimals; beyond them nothing can be compared. */
static void same(int32_t line, const char *what, double ours, const char *cell, double relative,
                 double digit)
{
    double theirs = published_number(cell);
    ck_assert_msg(fabs(ours - theirs) <= relative * fabs(theirs) + digit,
                  "line %d: %s %.9g, file %s", line, what, ours, cell);
}

static void compare(int32_t line, char **cell)
{
    static const char *const names[] = {"none", "selective", "full"};
    int32_t recompute = 0;
    while (strcmp(names[recompute], cell[O_RECOMPUTE]) != 0) {
        recompute++;
    }
    take_task(cell);
    ckpd_layout layout = {sizeof layout,
                          atoi(cell[O_TP]),
                          atoi(cell[O_PP]),
                          atoi(cell[O_DP]),
                          atoi(cell[O_MB]),
                          1,
                          1,
                          1,
                          recompute};
    ckpd_mode m = {.size = sizeof m};
    ck_assert_int_eq(ckpd_mode_evaluate(task, hardware, &layout, &m), CKPD_OK);
    double micro_batches = published_number(cell[O_BATCH]) / (layout.dp * layout.micro_batch);
    same(line, "states", m.states_bytes / 1e9, cell[O_STATES], 1e-5, 6e-4);
    same(line, "activations", m.activations_bytes / 1e9, cell[O_ACTIVATIONS], 1e-5, 6e-4);
    same(line, "memory", m.memory_bytes / 1e9, cell[O_MEMORY], 1e-5, 1e-3);
    ck_assert_int_eq(m.memory_bytes <= 80e9, atoi(cell[O_FEASIBLE]));
    if (recompute !=
        CKPD_RECOMPUTE_SELECTIVE) { /* there the file leaves out the recomputed scores */
        same(line, "compute", m.compute_s / micro_batches, cell[O_COMPUTE], 1e-4, 1e-6);
        double more = m.dp_s - published_number(cell[O_EXCHANGE]);
        same(line, "iteration", m.iteration_s - more, cell[O_ITERATION], 1e-4, 1e-3);
        same(line, "busy", m.busy_fraction * m.iteration_s / (m.iteration_s - more), cell[O_BUSY],
             1e-3, 1e-4);
    }
    same(line, "tensor", m.tp_s / micro_batches, cell[O_TENSOR], 1e-4, 1e-6);
    same(line, "hop", m.pp_s / micro_batches, cell[O_HOP], 1e-4, 1e-6);
    /* The file exchanges one embedding matrix, the library both. */
    double h = published_number(cell[O_HIDDEN]), matrix = h * published_number(cell[O_VOCAB]);
    double layers =
        published_number(cell[O_LAYERS]) * (4 * h * h + 3 * h * published_number(cell[O_FFN]));
    double ratio = (layers + matrix) / (layers + 2 * matrix);
    same(line, "exchange", m.dp_s * ratio, cell[O_EXCHANGE], 1e-4, 1e-6);
}

START_TEST(every_term)
{
    const char *path = test_shared_path("data/published/analytic-llama-a100-80g.csv");
    if (path == NULL) {
        return;
    }
    start();
    size_t size = 0;
    char *text = test_read_file(path, &size), *at = text, *line, *cell[O_CELLS];
    int32_t rows = 0;
    published_line(&at);
    while ((line = published_line(&at)) != NULL) {
        if (published_cells(line, cell, O_CELLS) == O_CELLS) {
            compare(++rows, cell);
        }
    }
    printf("%d layouts agree in every term\n", rows);
    ck_assert_int_gt(rows, 2500);
    free(text);
    ckpd_task_free(task);
    ckpd_hardware_free(hardware);
    ckpd_context_free(context);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {every_term, NULL};
    return test_run(test_suite("analytic oracle", tests));
}
