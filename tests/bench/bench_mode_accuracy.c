/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The accuracy tables of docs/benchmarks.md, from ../shared/data/published: `make bench
 * B=mode_accuracy`. tests/bench/mode_tables.sh puts them into the page.
 */
#include "support/published.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ckpd_context *context;

/* --- iteration time
 * -------------------------------------------------------------------------------- */

enum { ANCHORED, UNANCHORED };

static double error_of(const published_row *r, int kind)
{
    return (kind == ANCHORED ? r->predicted_s : r->default_s) / r->run.iteration_s - 1;
}

static published_errors collect(const published_row *rows, int32_t count, int32_t source, int kind,
                                bool guessed)
{
    double *errors = calloc((size_t)count + 1, sizeof *errors);
    int32_t used = 0;
    for (int32_t i = 0; i < count; i++) {
        const published_row *r = &rows[i];
        bool wanted = source < 0 ? r->source < PUBLISHED_TARGETS : r->source == source;
        if (wanted && r->efficiency > 0 && (guessed || !r->guessed) &&
            (kind == UNANCHORED || !r->anchor)) {
            errors[used++] = error_of(r, kind);
        }
    }
    published_errors summary = published_summary(errors, used);
    free(errors);
    return summary;
}

static void time_line(const char *name, published_errors a, published_errors d)
{
    printf("| %s | %d | %.1f | %.1f | %.1f | %.1f | %.1f |\n", name, a.rows, 100 * a.mean,
           100 * a.median, 100 * a.largest, 100 * d.mean, 100 * d.median);
}

static void print_times(const published_row *rows, int32_t count)
{
    puts("### Iteration time\n\n"
         "| source | rows | mean % | median % | largest % | default: mean % | default: median % |\n"
         "|---|---:|---:|---:|---:|---:|---:|");
    for (int32_t s = 0; s < PUBLISHED_TARGETS; s++) {
        time_line(published_names[s], collect(rows, count, s, ANCHORED, false),
                  collect(rows, count, s, UNANCHORED, false));
    }
    time_line("**these together**", collect(rows, count, -1, ANCHORED, false),
              collect(rows, count, -1, UNANCHORED, false));
    time_line("with layers or heads guessed", collect(rows, count, -1, ANCHORED, true),
              collect(rows, count, -1, UNANCHORED, true));
    for (int32_t s = PUBLISHED_TARGETS; s < PUBLISHED_SOURCES; s++) {
        time_line(published_names[s], collect(rows, count, s, ANCHORED, false),
                  collect(rows, count, s, UNANCHORED, false));
    }
}

/* BLOOM's machine as if nothing were known of it. */
static void print_plain(const published_row *rows, int32_t count)
{
    published_row *plain = calloc((size_t)count, sizeof *plain);
    int32_t used = 0;
    for (int32_t i = 0; i < count; i++) {
        if (rows[i].source == PUBLISHED_BLOOM_TRIALS || rows[i].source == PUBLISHED_BLOOM_RUNS) {
            plain[used] = rows[i];
            plain[used].plain = true;
            plain[used].anchor = false;
            plain[used++].predicted_s = 0;
        }
    }
    published_predict(context, plain, used);
    time_line("BLOOM trials, plain preset",
              collect(plain, used, PUBLISHED_BLOOM_TRIALS, ANCHORED, false),
              collect(plain, used, PUBLISHED_BLOOM_TRIALS, UNANCHORED, false));
    time_line("BLOOM runs, plain preset",
              collect(plain, used, PUBLISHED_BLOOM_RUNS, ANCHORED, false),
              collect(plain, used, PUBLISHED_BLOOM_RUNS, UNANCHORED, false));
    free(plain);
}

static void print_stacks(const published_row *rows, int32_t count)
{
    puts("\n| stack | rows | anchor (line of the file) | efficiency of the anchor | lowest, "
         "highest of a row |\n"
         "|---|---:|---:|---:|---|");
    for (int32_t i = 0; i < count; i++) {
        if (!rows[i].anchor) {
            continue;
        }
        double low = 10, high = 0;
        int32_t members = 0;
        for (int32_t k = 0; k < count; k++) {
            if (strcmp(rows[k].stack, rows[i].stack) == 0 && rows[k].efficiency > 0) {
                low = fmin(low, rows[k].efficiency);
                high = fmax(high, rows[k].efficiency);
                members++;
            }
        }
        printf("| %s | %d | %d | %.3f | %.3f, %.3f |\n", rows[i].stack, members, rows[i].line + 2,
               rows[i].efficiency, low, high);
    }
}

static void print_outliers(const published_row *rows, int32_t count)
{
    puts("\nRows of the five sources that remain more than 8 % off:\n\n"
         "| line | source | model, tp pp dp, micro-batch, heads | measured s | predicted s | % |\n"
         "|---:|---|---|---:|---:|---:|");
    for (int32_t i = 0; i < count; i++) {
        const published_row *r = &rows[i];
        if (r->source < PUBLISHED_TARGETS && r->efficiency > 0 &&
            fabs(error_of(r, ANCHORED)) > 0.08) {
            printf("| %d | %s | %s, %d %d %d, %d, %d%s | %.2f | %.2f | %+.1f |\n", r->line + 2,
                   published_names[r->source], r->model, r->run.tp, r->run.pp, r->run.dp,
                   r->run.micro_batch, r->heads, r->guessed ? " (guessed)" : "", r->run.iteration_s,
                   r->predicted_s, 100 * error_of(r, ANCHORED));
        }
    }
    for (int32_t i = 0; i < count; i++) {
        if (rows[i].source < PUBLISHED_TARGETS && rows[i].refused[0] != '\0') {
            printf("\nLine %d is left out: %s.\n", rows[i].line + 2, rows[i].refused);
        }
    }
}

static void print_ranks(const published_row *rows, int32_t count)
{
    published_group groups[16];
    int32_t number = published_groups(rows, count, groups, 16);
    puts("\n### Order of layouts inside the BLOOM trial tables (Spearman, measured and predicted "
         "time)\n\n"
         "| table | rows | rank correlation |\n|---|---:|---:|");
    for (int32_t i = 0; i < number; i++) {
        printf("| %s | %d | %.2f |\n", groups[i].name, groups[i].rows, groups[i].correlation);
    }
}

/*
 * What a user of an unknown machine gets: the plain A100 preset, and evenly spaced rows of the
 * trials as runs. Nothing that was learnt of the machine is set; the errors are those of the other
 * rows.
 */
static void print_several_anchors(const published_row *rows, int32_t count)
{
    static const int32_t numbers[] = {1, 4, 6, 8, 12};
    puts("\n### Several runs as anchors: the plain a100-80gb preset, BLOOM trials from 02-25 on\n\n"
         "| runs | fitted | band % | other rows | mean % | median % "
         "|\n|---:|---|---:|---:|---:|---:|");
    for (int32_t n = 0; n < 5; n++) {
        bool more = numbers[n] > 1;
        int32_t used = 0, left = 0, members = 0;
        for (int32_t i = 0; i < count; i++) {
            members += strcmp(rows[i].stack, "bloom-0225-fp16") == 0 && !rows[i].guessed &&
                       rows[i].efficiency > 0;
        }
        double *errors = calloc((size_t)count + 1, sizeof *errors);
        ckpd_hardware *hardware = NULL;
        ckpd_anchor *anchor = NULL;
        ckpd_hardware_new(&hardware, context, "a100-80gb");
        ckpd_anchor_new(&anchor, context, hardware, NULL);
        for (int32_t pass = 0; pass < 2; pass++) {
            used = 0;
            for (int32_t i = 0; i < count; i++) {
                const published_row *r = &rows[i];
                if (strcmp(r->stack, "bloom-0225-fp16") != 0 || r->guessed || r->efficiency <= 0) {
                    continue;
                }
                ckpd_task *task = published_task(context, r);
                /* row number (2 k + 1) members / (2 n) for some k */
                int32_t twice = 2 * numbers[n], k = (used * twice / members + 1) / 2;
                bool chosen = false;
                for (int32_t near = k > 0 ? k - 1 : 0; near <= k; near++) {
                    chosen = chosen || (2 * near + 1) * members / twice == used;
                }
                if (pass == 0 && chosen) {
                    ckpd_anchor_add(anchor, task, &r->run);
                } else if (pass == 1 && !chosen) {
                    ckpd_layout layout = {sizeof layout,      r->run.tp, r->run.pp, r->run.dp,
                                          r->run.micro_batch, 1,         1,         1,
                                          CKPD_RECOMPUTE_FULL};
                    ckpd_mode mode = {.size = sizeof mode};
                    ckpd_mode_evaluate(task, hardware, &layout, &mode);
                    errors[left++] = mode.iteration_s / r->run.iteration_s - 1;
                }
                used++;
                ckpd_task_free(task);
            }
            ckpd_anchor_report report = {.size = sizeof report};
            int32_t fit = more ? CKPD_FIT_LAYER_OVERHEAD | CKPD_FIT_NETWORK : CKPD_FIT_EFFICIENCY;
            if (pass == 0 && ckpd_anchor_fit(anchor, fit, hardware, &report) == CKPD_OK) {
                printf("| %d | %s | %.0f |", numbers[n],
                       more ? "efficiency, launches, network" : "efficiency",
                       100 * report.rate_error);
            }
        }
        published_errors e = published_summary(errors, left);
        printf(" %d | %.1f | %.1f |\n", e.rows, 100 * e.mean, 100 * e.median);
        ckpd_anchor_free(anchor);
        ckpd_hardware_free(hardware);
        free(errors);
    }
}

/* --- memory
 * ----------------------------------------------------------------------------------------- */

static void memory_line(const published_peak *peaks, int32_t count, const char *name, bool complete,
                        bool left_out)
{
    double *errors = calloc((size_t)count + 1, sizeof *errors), bias = 0;
    int32_t used = 0;
    for (int32_t i = 0; i < count; i++) {
        const published_peak *p = &peaks[i];
        if (!p->out_of_memory && p->measured_gb > 0 && (p->complete || !complete)) {
            errors[used] = (left_out ? p->left_out_gb : p->predicted_gb) / p->measured_gb - 1;
            bias += errors[used++];
        }
    }
    published_errors e = published_summary(errors, used);
    printf("| %s | %d | %.1f | %.1f | %+.1f | %.1f |\n", name, e.rows, 100 * e.mean, 100 * e.median,
           100 * bias / used, 100 * e.largest);
    free(errors);
}

static void print_memory(void)
{
    int32_t count = 0, refused = 0, runs_out = 0, wrongly = 0;
    published_peak *peaks = published_peaks(&count);
    if (peaks == NULL) {
        return;
    }
    published_predict_peaks(context, peaks, count);
    puts("\n### Peak memory\n\n| rows | number | mean % | median % | bias % | largest % "
         "|\n|---|---:|---:|---:|---:|---:|");
    memory_line(peaks, count, "all that ran", false, false);
    memory_line(peaks, count, "layers and heads printed", true, false);
    memory_line(peaks, count, "each model size from the others", false, true);
    for (int32_t i = 0; i < count; i++) {
        runs_out += peaks[i].out_of_memory && peaks[i].complete;
        refused += peaks[i].out_of_memory && peaks[i].complete && peaks[i].predicted_gb > 80;
        wrongly += !peaks[i].out_of_memory && peaks[i].measured_gb > 0 &&
                   peaks[i].measured_gb < 78 && peaks[i].predicted_gb > 80;
    }
    printf("\nOf %d rows with printed layers and heads that ran out of memory %d are refused at 80 "
           "GB; of "
           "those that ran below 78 GB %d are.\n",
           runs_out, refused, wrongly);
    free(peaks);
}

/* --- power
 * ------------------------------------------------------------------------------------------- */

static void print_power(const published_row *rows, int32_t count)
{
    const char *path =
        test_shared_path("data/published/mlperf-v4.0-smc-gpt3-175b-512xH100-tp4pp8dp16-fp8.csv");
    if (path == NULL) {
        return;
    }
    char *text = test_read_file(path, NULL), *at = text, *line, *cell[6];
    double sum[2] = {0, 0}, n[2] = {0, 0};
    published_line(&at);
    while ((line = published_line(&at)) != NULL) {
        if (published_cells(line, cell, 6) == 6) {
            int evaluation = strcmp(cell[5], "eval") == 0;
            sum[evaluation] += published_number(cell[1]);
            n[evaluation]++;
        }
    }
    free(text);
    for (int32_t i = 0; i < count; i++) {
        if (strcmp(rows[i].stack, "mlperf-4.0") == 0) {
            ckpd_mode m = published_mode(context, &rows[i], rows[i].efficiency);
            double node = m.power_kw / m.gpus * 8, train = sum[0] / n[0] / 1000,
                   eval = sum[1] / n[1] / 1000;
            puts("\n### Power\n\n| GPT-3 175B on 512 H100 (MLPerf v4.0) | metered kW a node | "
                 "model | % |\n|---|---:|---:|---:|");
            printf("| training | %.3f | %.3f | %+.1f |\n", train, node, 100 * (node / train - 1));
            double evaluation = m.evaluation_kw / m.gpus * 8;
            printf("| evaluation | %.3f | %.3f | %+.1f |\n", eval, evaluation,
                   100 * (evaluation / eval - 1));
            printf("\nEnergy: %.2f J/token in the model.\n", m.joule_per_token);
        }
    }
}

/* --- published totals
 * -------------------------------------------------------------------------------- */

typedef struct published_total {
    const char *model;
    int32_t gpus;
    const char *note;
} published_total;

static double best_rate(const ckpd_model_info *info, int32_t gpus, char *label, size_t size)
{
    const int32_t interleave[] = {1, 2, 4};
    ckpd_task *task = NULL;
    ckpd_hardware *hardware = NULL;
    ckpd_mode_rules *rules = NULL;
    ckpd_mode_set *set = NULL;
    double rate = 0;
    ckpd_task_new(&task, context, info->name);
    ckpd_task_set_model(task, info->name);
    ckpd_task_set(task, "tranche_tokens", 1e9);
    if (info->batch_sequences == 0) {
        ckpd_task_set(task, "batch_sequences", 2048);
    }
    ckpd_hardware_new(&hardware, context, info->gpu);
    ckpd_hardware_set(hardware, "flash_attention", 1);
    ckpd_mode_rules_new(&rules, context);
    ckpd_mode_rules_set(rules, "installed_gpus", gpus);
    ckpd_mode_rules_set(rules, "minimum_gpus", gpus);
    ckpd_mode_rules_set(rules, "uneven_stages", 1);
    ckpd_mode_rules_set_list(rules, "interleave", 3, interleave);
    snprintf(label, size, "none fits");
    if (ckpd_mode_set_build(&set, context, task, hardware, rules) == CKPD_OK) {
        for (int32_t i = 0; i < ckpd_mode_set_count(set); i++) {
            ckpd_mode mode = {.size = sizeof mode};
            if (ckpd_mode_set_get(set, i, &mode) == CKPD_OK && mode.rate > rate) {
                rate = mode.rate;
                snprintf(label, size, "%s", ckpd_mode_set_label(set, i));
            }
        }
    }
    ckpd_mode_set_free(set);
    ckpd_mode_rules_free(rules);
    ckpd_hardware_free(hardware);
    ckpd_task_free(task);
    return rate;
}

static void print_totals(void)
{
    static const published_total totals[] = {
        {"llama-7b", 256, "assumed"},     {"llama-13b", 512, "assumed"},
        {"llama-33b", 2048, "assumed"},   {"llama-65b", 2048, "published"},
        {"llama-2-7b", 512, "assumed"},   {"llama-2-13b", 512, "assumed"},
        {"llama-2-70b", 1024, "assumed"}, {"llama-3-8b", 1024, "assumed"},
        {"llama-3-70b", 4096, "assumed"}, {"llama-3-405b", 16384, "published"}};
    puts("\n### GPU-hours of published runs, with default efficiencies (nothing anchored)\n\n"
         "| run | GPUs | best mode | tokens/s a GPU | published | GPU-hours | published | % |\n"
         "|---|---|---|---:|---:|---:|---:|---:|");
    for (size_t t = 0; t < sizeof totals / sizeof *totals; t++) {
        ckpd_model_info info = {.size = sizeof info};
        for (int32_t i = 0; i < ckpd_model_count(); i++) {
            ckpd_model_get(i, &info);
            if (strcmp(info.name, totals[t].model) == 0) {
                break;
            }
        }
        char label[64];
        double rate = best_rate(&info, totals[t].gpus, label, sizeof label);
        double each = rate / totals[t].gpus, hours = info.tokens / rate * totals[t].gpus / 3600;
        printf("| %s | %d %s | %s | %.0f | %.0f | %.4g M | %.4g M | %+.1f |\n", info.name,
               totals[t].gpus, totals[t].note, label, each, info.tokens / 3600 / info.gpu_hours,
               hours / 1e6, info.gpu_hours / 1e6, 100 * (hours / info.gpu_hours - 1));
    }
}

START_TEST(tables)
{
    int32_t count = 0;
    published_row *rows = published_read(&count);
    if (rows == NULL || ckpd_context_new(&context, NULL) != CKPD_OK) {
        return;
    }
    published_predict(context, rows, count);
    print_times(rows, count);
    print_plain(rows, count);
    print_stacks(rows, count);
    print_outliers(rows, count);
    print_ranks(rows, count);
    print_several_anchors(rows, count);
    print_memory();
    print_power(rows, count);
    print_totals();
    free(rows);
    ckpd_context_free(context);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mode accuracy");
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
