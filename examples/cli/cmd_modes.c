/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "cli.h"

#include <math.h>
#include <string.h>

typedef struct flag_name {
    int32_t flag;
    const char *name;
} flag_name;

static void flag_text(int32_t flags, char *text, size_t size)
{
    static const flag_name NAMES[] = {
        {CKPD_MODE_BASELINE, "baseline"},       {CKPD_MODE_RUNNING, "running"},
        {CKPD_MODE_DOMINATED, "dominated"},     {CKPD_MODE_MISALIGNED, "misaligned"},
        {CKPD_MODE_UNVALIDATED, "unvalidated"}, {CKPD_MODE_TDP_POWER, "power not metered"}};
    text[0] = '\0';
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if ((flags & NAMES[i].flag) != 0) {
            size_t used = strlen(text);
            snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", NAMES[i].name);
        }
    }
}

static double published(const ckpd_case *loaded, const char *job, const char *figure)
{
    for (int32_t i = 0; i < ckpd_case_published_count(loaded); i++) {
        ckpd_published found = {.size = sizeof found};
        if (ckpd_case_published_get(loaded, i, &found) == CKPD_OK && strcmp(found.job, job) == 0 &&
            strcmp(found.figure, figure) == 0) {
            return found.value;
        }
    }
    return (double)NAN;
}

static void print_head(const ckpd_case *loaded, int32_t job)
{
    const ckpd_mode_set *modes = ckpd_case_mode_set(loaded, job);
    const char *name = ckpd_task_name(ckpd_case_task(loaded, job));
    ckpd_workload work = {.size = sizeof work};
    double feasible = published(loaded, name, "feasible_modes");
    double retained = published(loaded, name, "retained_modes");
    cli_put(stdout, name);
    printf(": %lld layouts looked at, %d feasible", (long long)ckpd_mode_set_layout_count(modes),
           (int)ckpd_mode_set_feasible_count(modes));
    if (isfinite(feasible)) {
        printf(" (published %g)", feasible);
    }
    printf(", %d kept", (int)ckpd_mode_set_count(modes));
    if (isfinite(retained)) {
        printf(" (published %g)", retained);
    }
    if (ckpd_mode_set_workload(modes, &work) == CKPD_OK) {
        if (isfinite(work.efficiency)) {
            printf("; efficiency %.4f", work.efficiency);
        }
        if (isfinite(work.tranche_tokens)) {
            printf("\n  tranche %.4g tokens, %.0f iterations, %g segments", work.tranche_tokens,
                   work.tranche_iterations, work.segments);
            if (isfinite(
                    work.checkpoint_interval_min)) { /* without a baseline mode there is none */
                printf(", a checkpoint every %.1f min in the baseline mode",
                       work.checkpoint_interval_min);
            }
        }
    }
    putchar('\n');
}

/* What a checkpoint of the default profile costs in the baseline mode, beside what the segments
 * imply. */
static void print_checkpoints(const cli *tool, const ckpd_mode_set *modes)
{
    int32_t baseline = ckpd_mode_set_baseline(modes);
    ckpd_checkpoint *profile = NULL;
    ckpd_checkpoint_cost cost = {.size = sizeof cost};
    if (baseline >= 0 && ckpd_checkpoint_new(&profile, tool->context) == CKPD_OK &&
        ckpd_checkpoint_evaluate(profile, modes, baseline, 0, &cost) == CKPD_OK) {
        printf("  a full checkpoint is %.0f GB and stalls training for %.0f s; recommended "
               "interval %.0f min "
               "(Daly), a segment is %.0f min, of which failures cost %.1f %%\n",
               cost.full_bytes / 1e9, cost.stall_s, 60 * cost.daly_h, 60 * cost.interval_h,
               100 * cost.lost_share);
    }
    ckpd_checkpoint_free(profile);
}

static void layout_text(const ckpd_mode *mode, char *text, size_t size)
{
    const struct {
        const char *name;
        int32_t value;
    } parts[] = {{"tp", mode->tp},           {" pp", mode->pp}, {" dp", mode->dp},
                 {" mb", mode->micro_batch}, {" cp", mode->cp}, {" ep", mode->ep},
                 {" v", mode->interleave}};
    text[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        size_t used = strlen(text);
        if (parts[i].value > (i >= 4)) { /* 1 says nothing of cp, ep and v */
            snprintf(text + used, size - used, "%s%d", parts[i].name, (int)parts[i].value);
        }
    }
    if (mode->interleave > 0 && mode->recompute != CKPD_RECOMPUTE_FULL) {
        size_t used = strlen(text);
        snprintf(text + used, size - used,
                 mode->recompute == CKPD_RECOMPUTE_NONE ? " rc-none" : " rc-sel");
    }
}

/* Measured runs that anchor the model, beside what it says of them. */
static void print_runs(const ckpd_anchor *anchor)
{
    if (anchor == NULL) {
        return;
    }
    cli_table *table =
        cli_table_new("anchored on|>GPUs|>measured s|>model s|>%|>memory %|>power %");
    for (int32_t i = 0; i < ckpd_anchor_count(anchor); i++) {
        ckpd_residual run = {.size = sizeof run};
        ckpd_mode mode = {.size = sizeof mode};
        if (ckpd_anchor_residual(anchor, i, &run) == CKPD_OK &&
            ckpd_anchor_mode(anchor, i, &mode) == CKPD_OK) {
            char layout[64];
            layout_text(&mode, layout, sizeof layout);
            cli_table_cell(table, "%s", layout);
            cli_table_cell(table, "%d", (int)mode.gpus);
            cli_table_number(table, run.iteration_s, 3);
            cli_table_number(table, mode.iteration_s, 3);
            cli_table_number(table, 100 * run.iteration_error, 1);
            cli_table_number(table, 100 * run.memory_error, 1);
            cli_table_number(table, 100 * run.power_error, 1);
        }
    }
    cli_table_print(table, stdout);
}

/* The notes that every mode has go into one line below the table. */
static int32_t common_flags(const ckpd_mode_set *modes)
{
    int32_t common = CKPD_MODE_TDP_POWER | CKPD_MODE_UNVALIDATED | CKPD_MODE_MISALIGNED;
    for (int32_t i = 0; i < ckpd_mode_set_count(modes); i++) {
        ckpd_mode mode = {.size = sizeof mode};
        common &= ckpd_mode_set_get(modes, i, &mode) == CKPD_OK ? mode.flags : 0;
    }
    return common;
}

static void mode_cells(cli_table *table, const ckpd_mode *mode)
{
    cli_table_cell(table, "%d", (int)mode->gpus);
    if (mode->rate < 1000) {
        cli_table_cell(table, "%.5g", mode->rate);
    } else {
        cli_table_number(table, mode->rate, 0);
    }
    cli_table_number(table, 100 * mode->rate_error, 0);
    cli_table_number(table, 100 * mode->mfu, 1);
    cli_table_number(table, mode->power_kw, 1);
    cli_table_number(table, mode->joule_per_token, mode->joule_per_token < 100 ? 3 : 0);
    cli_table_number(table, mode->memory_bytes / 1e9, 1);
    cli_table_number(table, mode->margin_bytes / 1e9, 1);
}

static void print_modes(const ckpd_mode_set *modes)
{
    ckpd_mode first = {.size = sizeof first};
    bool user =
        ckpd_mode_set_get(modes, 0, &first) == CKPD_OK && (first.flags & CKPD_MODE_USER) != 0;
    int32_t common = common_flags(modes);
    char flags[96];
    cli_table *table = cli_table_new(
        user ? ">mode|layout|>GPUs|>rate 1/s|>+- %|>MFU %|>IT kW|>J/unit|>GB|>free GB|notes"
             : ">mode|layout|>GPUs|>tokens/s|>+- %|>MFU %|>IT kW|>J/token|>GB|>free GB|notes");
    for (int32_t i = 0; i < ckpd_mode_set_count(modes); i++) {
        ckpd_mode mode = {.size = sizeof mode};
        if (ckpd_mode_set_get(modes, i, &mode) != CKPD_OK) {
            continue;
        }
        flag_text(mode.flags & ~common, flags, sizeof flags);
        cli_table_cell(table, "%d", (int)i);
        cli_table_cell(table, "%s", ckpd_mode_set_label(modes, i));
        mode_cells(table, &mode);
        cli_table_cell(table, "%s", flags);
    }
    cli_table_print(table, stdout);
    if (common != 0) {
        flag_text(common, flags, sizeof flags);
        printf("  all modes: %s\n", flags);
    }
}

static void print_dropped(const ckpd_mode_set *modes)
{
    cli_table *table =
        cli_table_new("dropped|>GPUs|>rate 1/s|>+- %|>MFU %|>IT kW|>J/unit|>GB|>free GB|reason");
    for (int32_t i = 0; i < ckpd_mode_set_dropped_count(modes); i++) {
        ckpd_mode mode = {.size = sizeof mode};
        char text[200], layout[64];
        if (ckpd_mode_set_dropped_get(modes, i, &mode, NULL, text, sizeof text) == CKPD_OK) {
            layout_text(&mode, layout, sizeof layout);
            cli_table_cell(table, "%s", layout);
            mode_cells(table, &mode);
            cli_table_cell(table, "%s", text);
        }
    }
    cli_table_print(table, stdout);
}

static void print_reasons(const ckpd_mode_set *modes)
{
    int counts[CKPD_DROP_EXPERTS + 1] = {0};
    for (int32_t i = 0; i < ckpd_mode_set_dropped_count(modes); i++) {
        ckpd_mode mode = {.size = sizeof mode};
        int32_t reason = CKPD_DROP_NONE;
        if (ckpd_mode_set_dropped_get(modes, i, &mode, &reason, NULL, 0) == CKPD_OK && reason > 0 &&
            reason <= CKPD_DROP_EXPERTS) {
            counts[reason]++;
        }
    }
    const char *lead = "  dropped: ";
    for (int32_t reason = 1; reason <= CKPD_DROP_EXPERTS; reason++) {
        if (counts[reason] > 0) {
            printf("%s%d %s", lead, counts[reason], ckpd_drop_name(reason));
            lead = ", ";
        }
    }
    puts(lead[0] == ',' ? " (--all lists them)\n" : "");
}

static void mode_json(cli_json *json, const ckpd_mode *mode, const char *label, const char *reason)
{
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"gpus", mode->gpus},
                   {"tp", mode->tp},
                   {"pp", mode->pp},
                   {"dp", mode->dp},
                   {"micro_batch", mode->micro_batch},
                   {"cp", mode->cp},
                   {"ep", mode->ep},
                   {"interleave", mode->interleave},
                   {"recompute", mode->recompute},
                   {"rate_per_s", mode->rate},
                   {"rate_error", mode->rate_error},
                   {"power_kw", mode->power_kw},
                   {"power_error", mode->power_error},
                   {"idle_power_kw", mode->idle_power_kw},
                   {"evaluation_kw", mode->evaluation_kw},
                   {"checkpoint_kw", mode->checkpoint_kw},
                   {"joule_per_unit", mode->joule_per_token},
                   {"iteration_s", mode->iteration_s},
                   {"compute_s", mode->compute_s},
                   {"tp_s", mode->tp_s},
                   {"pp_s", mode->pp_s},
                   {"dp_s", mode->dp_s},
                   {"bubble_s", mode->bubble_s},
                   {"busy_fraction", mode->busy_fraction},
                   {"mfu", mode->mfu},
                   {"hfu", mode->hfu},
                   {"memory_bytes", mode->memory_bytes},
                   {"memory_error", mode->memory_error},
                   {"margin_bytes", mode->margin_bytes},
                   {"states_bytes", mode->states_bytes},
                   {"activations_bytes", mode->activations_bytes},
                   {"working_bytes", mode->working_bytes},
                   {"logits_bytes", mode->logits_bytes},
                   {"overhead_bytes", mode->overhead_bytes}};
    char flags[96];
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "label", label);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        cli_json_number(json, numbers[i].name, numbers[i].value);
    }
    flag_text(mode->flags, flags, sizeof flags);
    cli_json_text(json, "notes", flags);
    if (reason != NULL) {
        cli_json_text(json, "reason", reason);
    }
    cli_json_close(json, '}');
}

static void job_json(cli_json *json, const ckpd_case *loaded, int32_t job, bool dropped)
{
    const ckpd_mode_set *modes = ckpd_case_mode_set(loaded, job);
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "job", ckpd_task_name(ckpd_case_task(loaded, job)));
    cli_json_number(json, "layouts", (double)ckpd_mode_set_layout_count(modes));
    cli_json_number(json, "feasible", ckpd_mode_set_feasible_count(modes));
    cli_json_number(json, "retained", ckpd_mode_set_count(modes));
    cli_json_open(json, "modes", '[');
    for (int32_t i = 0; i < ckpd_mode_set_count(modes); i++) {
        ckpd_mode mode = {.size = sizeof mode};
        if (ckpd_mode_set_get(modes, i, &mode) == CKPD_OK) {
            mode_json(json, &mode, ckpd_mode_set_label(modes, i), NULL);
        }
    }
    cli_json_close(json, ']');
    if (dropped) {
        cli_json_open(json, "dropped", '[');
        for (int32_t i = 0; i < ckpd_mode_set_dropped_count(modes); i++) {
            ckpd_mode mode = {.size = sizeof mode};
            int32_t reason = CKPD_DROP_NONE;
            char text[200], layout[64];
            if (ckpd_mode_set_dropped_get(modes, i, &mode, &reason, text, sizeof text) == CKPD_OK) {
                char both[320];
                layout_text(&mode, layout, sizeof layout);
                snprintf(both, sizeof both, "%s: %s", ckpd_drop_name(reason), text);
                mode_json(json, &mode, layout, both);
            }
        }
        cli_json_close(json, ']');
    }
    cli_json_close(json, '}');
}

int cli_modes(cli *tool, int count, char **words)
{
    const char *path = NULL, *only = NULL, *all = NULL, *plot = NULL;
    const cli_option options[] = {
        {"--job", "NAME", "only this job", &only},
        {"--all", NULL, "list every dropped layout with the reason", &all},
        {"--plot", "DIR", "throughput against power with the frontier, as a picture in this folder",
         &plot},
        {NULL, NULL, NULL, NULL}};
    int status = cli_parse(tool, count, words, options, "CASE", &path, 1, 1);
    ckpd_case *loaded = NULL;
    status = status < 0 ? cli_open_case(tool, path, &loaded, NULL) : status;
    if (status >= 0) {
        return status;
    }
    cli_json json = {.out = stdout};
    bool found = only == NULL;
    if (tool->json) {
        cli_json_open(&json, NULL, '[');
    }
    for (int32_t job = 0; job < ckpd_case_job_count(loaded); job++) {
        if (only != NULL && strcmp(only, ckpd_task_name(ckpd_case_task(loaded, job))) != 0) {
            continue;
        }
        found = true;
        if (tool->json) {
            job_json(&json, loaded, job, all != NULL);
            continue;
        }
        const ckpd_mode_set *modes = ckpd_case_mode_set(loaded, job);
        print_head(loaded, job);
        print_checkpoints(tool, modes);
        print_runs(ckpd_case_anchor(loaded, job));
        print_modes(modes);
        if (all != NULL) {
            print_dropped(modes);
        } else {
            print_reasons(modes);
        }
    }
    if (tool->json) {
        cli_json_close(&json, ']');
    }
    status = found && plot != NULL ? cli_modes_plot(tool, loaded, only, plot) : -1;
    ckpd_case_free(loaded);
    if (status >= 0) {
        return status;
    }
    return found ? CLI_OK : cli_usage(tool, "--job: the case has no job '%s'", only);
}
