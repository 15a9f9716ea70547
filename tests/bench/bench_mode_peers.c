/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The library beside calculon and llm-analysis, for docs/benchmarks.md; see bench_mode_accuracy.c.
 */
#include "support/published.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ckpd_context *context;

/* --- beside calculon
 * ------------------------------------------------------------------------------ */

enum {
    P_MODEL,
    P_HIDDEN,
    P_LAYERS,
    P_HEADS,
    P_GPUS,
    P_TP,
    P_PP,
    P_DP,
    P_MB,
    P_BATCH,
    P_TIME,
    P_TOOL_TIME,
    P_MEMORY,
    P_TOOL_MEMORY,
    P_OTHER,
    P_CELLS
};

typedef struct peer {
    double ours[256], theirs[256];
    int32_t count;
} peer;

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median_of(const double *values, int32_t count)
{
    double sorted[256];
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_doubles);
    return sorted[count / 2];
}

static void peer_line(const char *name, const peer *p, bool scaled)
{
    double ours[256], theirs[256], our_bias = 0, their_bias = 0;
    double a = scaled ? median_of(p->ours, p->count) + 1 : 1;
    double b = scaled ? median_of(p->theirs, p->count) + 1 : 1;
    for (int32_t i = 0; i < p->count; i++) {
        ours[i] = (1 + p->ours[i]) / a - 1;
        theirs[i] = (1 + p->theirs[i]) / b - 1;
        our_bias += ours[i] / p->count;
        their_bias += theirs[i] / p->count;
    }
    published_errors x = published_summary(ours, p->count), y = published_summary(theirs, p->count);
    printf("| %s | %d | %.1f, %+.1f | %.1f, %+.1f |\n", name, p->count, 100 * x.mean,
           100 * our_bias, 100 * y.mean, 100 * their_bias);
}

static void print_peer(const published_row *rows, int32_t count)
{
    const char *path = test_shared_path("data/published/calculon-vs-measured-bloom.csv");
    if (path == NULL) {
        return;
    }
    char *text = test_read_file(path, NULL), *at = text, *line, *cell[P_CELLS];
    static peer times, memory, fresh;
    published_line(&at);
    while ((line = published_line(&at)) != NULL) {
        if (published_cells(line, cell, P_CELLS) != P_CELLS) {
            continue;
        }
        published_row r;
        memset(&r, 0, sizeof r);
        snprintf(r.model, sizeof r.model, "%.31s", cell[P_MODEL]);
        r.source = PUBLISHED_BLOOM_TRIALS;
        r.gpu = "a100-80gb";
        r.layers = (int32_t)published_number(cell[P_LAYERS]);
        r.hidden = (int32_t)published_number(cell[P_HIDDEN]);
        r.heads = (int32_t)published_number(cell[P_HEADS]);
        r.vocabulary = 250880;
        r.sequence = 2048;
        r.batch = (int32_t)published_number(cell[P_BATCH]);
        r.run.tp = (int32_t)published_number(cell[P_TP]);
        r.run.pp = (int32_t)published_number(cell[P_PP]);
        r.run.dp = (int32_t)published_number(cell[P_DP]);
        r.run.micro_batch = (int32_t)published_number(cell[P_MB]);
        r.run.recompute = CKPD_RECOMPUTE_FULL;
        /* From 02-28 on the trials gave embedding and head a slot each, and trained in bf16. */
        snprintf(r.stack, sizeof r.stack,
                 r.layers % r.run.pp != 0 && (r.layers + 2) % r.run.pp == 0 ? "bf16" : "fp16");
        double measured = published_number(cell[P_TIME]), peak = published_number(cell[P_MEMORY]);
        bool seen = false;
        for (int32_t i = 0; i < count; i++) {
            seen = seen || fabs(rows[i].run.iteration_s - measured) < 0.005;
        }
        ckpd_mode m = published_mode(context, &r, 0);
        double ours = m.iteration_s / measured - 1;
        double theirs = published_number(cell[P_TOOL_TIME]) / measured - 1;
        times.ours[times.count] = ours;
        times.theirs[times.count++] = theirs;
        if (!seen) {
            fresh.ours[fresh.count] = ours;
            fresh.theirs[fresh.count++] = theirs;
        }
        if (peak > 0) {
            memory.ours[memory.count] = m.memory_bytes / 1e9 / peak - 1;
            memory.theirs[memory.count++] = published_number(cell[P_TOOL_MEMORY]) / peak - 1;
        }
    }
    free(text);
    puts("\n### Beside calculon on measured BLOOM modes (mean |error| %, bias %)\n\n"
         "| | rows | this library | calculon |\n|---|---:|---:|---:|");
    peer_line("time, as it comes", &times, false);
    peer_line("time, both scaled to the median row", &times, true);
    peer_line("time, rows that the fits have not seen, scaled", &fresh, true);
    peer_line("memory", &memory, false);
}

/* Layouts that a tool accepts on the LLaMA grid, with the best of its settings. */
static int32_t accepted_by_tool(const char *file, const char *model, int32_t *total)
{
    char name[96];
    snprintf(name, sizeof name, "data/published/%s", file);
    const char *path = test_shared_path(name);
    if (path == NULL) {
        return -1;
    }
    char *text = test_read_file(path, NULL), *at = text, *line, *cell[20];
    int32_t accepted = 0;
    *total = 0;
    while ((line = published_line(&at)) != NULL) {
        if (published_cells(line, cell, 20) == 20 && strcmp(cell[2], model) == 0) {
            ++*total;
            accepted += cell[11][0] == '1';
        }
    }
    free(text);
    return accepted;
}

static int32_t accepted_by_us(const char *file, const char *model, const char *preset,
                              int32_t *total)
{
    char name[96];
    snprintf(name, sizeof name, "data/published/%s", file);
    const char *path = test_shared_path(name);
    if (path == NULL) {
        return -1;
    }
    char *text = test_read_file(path, NULL), *at = text, *line, *cell[20];
    ckpd_task *task = NULL;
    ckpd_hardware *hardware = NULL;
    ckpd_task_new(&task, context, model);
    ckpd_task_set_model(task, preset);
    ckpd_hardware_new(&hardware, context, "a100-80gb");
    int32_t accepted = 0;
    *total = 0;
    while ((line = published_line(&at)) != NULL) {
        if (published_cells(line, cell, 20) != 20 || strcmp(cell[2], model) != 0) {
            continue;
        }
        bool fits = false;
        for (int32_t recompute = 0; recompute < 3 && !fits; recompute++) {
            ckpd_layout layout = {sizeof layout,
                                  (int32_t)published_number(cell[6]),
                                  (int32_t)published_number(cell[7]),
                                  (int32_t)published_number(cell[8]),
                                  1,
                                  1,
                                  1,
                                  1,
                                  recompute};
            ckpd_mode mode = {.size = sizeof mode};
            fits = ckpd_mode_evaluate(task, hardware, &layout, &mode) == CKPD_OK &&
                   mode.margin_bytes >= 0;
        }
        ++*total;
        accepted += fits;
    }
    free(text);
    ckpd_hardware_free(hardware);
    ckpd_task_free(task);
    return accepted;
}

static void print_grid(void)
{
    static const char *const models[][2] = {{"LLaMA-7B", "llama-7b"},
                                            {"LLaMA-13B", "llama-13b"},
                                            {"LLaMA-33B", "llama-33b"},
                                            {"LLaMA-65B", "llama-65b"}};
    puts("\n### Layouts of LLaMA up to 2048 A100-80GB that a tool calls feasible (best of its "
         "settings; batch 2048)\n\n"
         "| model | layouts | this library | calculon | llm-analysis |\n|---|---:|---:|---:|---:|");
    for (int32_t i = 0; i < 4; i++) {
        int32_t total = 0, other = 0;
        int32_t calculon = accepted_by_tool("calculon-llama-a100-80g.csv", models[i][0], &total);
        int32_t analysis =
            accepted_by_tool("llm-analysis-llama-a100-80g.csv", models[i][0], &total);
        int32_t ours =
            accepted_by_us("calculon-llama-a100-80g.csv", models[i][0], models[i][1], &other);
        printf("| %s | %d | %d | %d | %d |\n", models[i][0], total, ours, calculon, analysis);
    }
}

START_TEST(tables)
{
    int32_t count = 0;
    published_row *rows = published_read(&count);
    if (rows == NULL || ckpd_context_new(&context, NULL) != CKPD_OK) {
        return;
    }
    print_peer(rows, count);
    print_grid();
    free(rows);
    ckpd_context_free(context);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mode peers");
    TCase *tc = tcase_create("tables");
    tcase_add_test(tc, tables);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_SILENT);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
