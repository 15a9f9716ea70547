/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* ckptdispatch shape: policies compared on a shaping case, traces and a picture. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POLICIES = 6, MOST_SEEDS = 1000 };

static const struct {
    const char *name, *text;
    int32_t policy, early, retire;
} POLICY[POLICIES] = {
    {"none", "no filler", CKPD_POLICY_NONE, 0, 0},
    {"reactive", "greedy on the measured deficit", CKPD_POLICY_GREEDY_REACTIVE, 0, 0},
    {"predictive", "greedy on the predicted deficit", CKPD_POLICY_GREEDY_PREDICTIVE, 0, 0},
    {"plan", "planned and corrected", CKPD_POLICY_PLAN, 0, 0},
    {"plan+early", "also launched early", CKPD_POLICY_PLAN, 1, 0},
    {"full", "also retired in stages", CKPD_POLICY_PLAN, 1, 1},
};

/* Figures of a run that are averaged over seeds and printed. */
enum {
    MAX_HZ,
    MEAN_HZ,
    ZENITH,
    NADIR,
    ROCOF,
    PEAK_W,
    CHARGE_WH,
    DISCHARGE_WH,
    TRACKING_W,
    WASTE,
    STRETCH_MAX,
    STRETCH_MEAN,
    GPUS,
    REQUESTS,
    TOKENS,
    FILLER_KWH,
    TOKEN_J,
    FIGURES
};
static const char *const FIGURE_NAME[FIGURES] = {"max_abs_hz",
                                                 "mean_abs_hz",
                                                 "zenith_hz",
                                                 "nadir_hz",
                                                 "rocof_hz_s",
                                                 "battery_peak_charge_w",
                                                 "battery_charge_wh",
                                                 "battery_discharge_wh",
                                                 "tracking_w",
                                                 "waste_share",
                                                 "stretch_max",
                                                 "stretch_mean",
                                                 "peak_gpus",
                                                 "requests",
                                                 "tokens",
                                                 "filler_kwh",
                                                 "energy_per_token_j"};

typedef struct outcome {
    bool done;
    double figure[FIGURES];
    bool iso_g2, ieee_1547, saturated;
    ckpd_shape_run *run; /* of the first seed */
} outcome;

typedef struct work {
    cli *tool;
    ckpd_shape *shape;
    ckpd_microgrid *grid;
    ckpd_shape_truth truth;
    const char *backend;
    int seeds;
    outcome outcome[POLICIES];
} work;

static void add_figures(outcome *to, const ckpd_shape_metrics *m, int seeds)
{
    const double value[FIGURES] = {m->max_abs_hz,
                                   m->mean_abs_hz,
                                   m->zenith_hz,
                                   m->nadir_hz,
                                   m->rocof_hz_s,
                                   m->battery_peak_charge_w,
                                   m->battery_charge_wh,
                                   m->battery_discharge_wh,
                                   m->tracking_w,
                                   m->waste_share,
                                   m->stretch_max,
                                   m->stretch_mean,
                                   (double)m->peak_gpus,
                                   m->requests,
                                   m->tokens,
                                   m->filler_kwh,
                                   m->energy_per_token_j};
    for (int i = 0; i < FIGURES; i++) {
        to->figure[i] += value[i] / seeds;
    }
    to->iso_g2 = to->iso_g2 && m->iso_g2 != 0;
    to->ieee_1547 = to->ieee_1547 && m->ieee_1547 != 0;
    to->saturated = to->saturated || m->saturated != 0;
}

static int run_policy(work *w, int index)
{
    cli *tool = w->tool;
    outcome *to = &w->outcome[index];
    ckpd_shape_plan *plan = NULL;
    int32_t status = ckpd_shape_set(w->shape, "early", POLICY[index].early);
    status = status == CKPD_OK ? ckpd_shape_set(w->shape, "retire", POLICY[index].retire) : status;
    if (status == CKPD_OK && POLICY[index].policy == CKPD_POLICY_PLAN) {
        status = ckpd_shape_plan_new(&plan, w->shape, w->backend, tool->cancel);
    }
    int seeds = POLICY[index].policy == CKPD_POLICY_NONE ? 1 : w->seeds;
    to->iso_g2 = to->ieee_1547 = true;
    for (int seed = 1; seed <= seeds && status == CKPD_OK; seed++) {
        ckpd_shape_run *run = NULL;
        ckpd_shape_metrics metrics = {.size = sizeof metrics};
        w->truth.seed = (uint64_t)seed;
        status = ckpd_shape_run_new(&run, w->shape, w->grid, plan, POLICY[index].policy, &w->truth);
        status = status == CKPD_OK ? ckpd_shape_run_get_metrics(run, &metrics) : status;
        if (status == CKPD_OK) {
            add_figures(to, &metrics, seeds);
        }
        if (seed == 1) {
            to->run = run;
        } else {
            ckpd_shape_run_free(run);
        }
    }
    ckpd_shape_plan_free(plan);
    to->done = status == CKPD_OK;
    return status == CKPD_OK ? -1 : cli_failed(tool, status);
}

static double down(const work *w, int index, int figure)
{
    double without = w->outcome[0].figure[figure];
    return without > 0.0 ? 100.0 * (1.0 - w->outcome[index].figure[figure] / without) : (double)NAN;
}

static void print_table(const work *w)
{
    cli_table *table = cli_table_new(
        "policy|>max df Hz|>mean df Hz|>RoCoF Hz/s|>battery MW|>battery kWh|>tracking MW|"
        ">max %|>mean %|>peak %|>energy %|>waste %|>stretch %|>GPUs|>Mtoken|>J/token|"
        "ISO G2|IEEE 1547");
    for (int i = 0; i < POLICIES; i++) {
        const outcome *o = &w->outcome[i];
        if (!o->done) {
            continue;
        }
        cli_table_cell(table, "%s", POLICY[i].name);
        cli_table_number(table, o->figure[MAX_HZ], 4);
        cli_table_number(table, o->figure[MEAN_HZ], 4);
        cli_table_number(table, o->figure[ROCOF], 3);
        cli_table_number(table, o->figure[PEAK_W] / 1e6, 3);
        cli_table_number(table, o->figure[CHARGE_WH] / 1e3, 3);
        cli_table_number(table, o->figure[TRACKING_W] / 1e6, 3);
        for (int f = 0; f < 4; f++) {
            static const int OF[] = {MAX_HZ, MEAN_HZ, PEAK_W, CHARGE_WH};
            cli_table_number(table, i == 0 ? (double)NAN : down(w, i, OF[f]), 1);
        }
        cli_table_number(table, 100.0 * o->figure[WASTE], 1);
        cli_table_number(table, 100.0 * o->figure[STRETCH_MAX], 0);
        cli_table_number(table, o->figure[GPUS], 0);
        cli_table_number(table, o->figure[TOKENS] / 1e6, 2);
        cli_table_number(table, o->figure[TOKEN_J], 3);
        cli_table_cell(table, "%s", o->iso_g2 ? "passed" : "crossed");
        cli_table_cell(table, "%s", o->ieee_1547 ? "passed" : "crossed");
    }
    cli_table_print(table, stdout);
    printf("%% against no filler; means of %d seeds. J/token counts energy above idle at the grid "
           "connection.\n",
           w->seeds);
}

static void write_json(const work *w, FILE *out)
{
    cli_json json = {.out = out};
    cli_json_open(&json, NULL, '{');
    cli_json_number(&json, "seeds", w->seeds);
    cli_json_open(&json, "policies", '[');
    for (int i = 0; i < POLICIES; i++) {
        const outcome *o = &w->outcome[i];
        if (!o->done) {
            continue;
        }
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "policy", POLICY[i].name);
        for (int f = 0; f < FIGURES; f++) {
            cli_json_number(&json, FIGURE_NAME[f], o->figure[f]);
        }
        cli_json_flag(&json, "iso_8528_5_g2", o->iso_g2);
        cli_json_flag(&json, "ieee_1547", o->ieee_1547);
        cli_json_flag(&json, "saturated", o->saturated);
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, ']');
    cli_json_close(&json, '}');
}

/* --- files
 * -----------------------------------------------------------------------------------------------
 */

enum { KEEP = 5, MOST_TRACES = 64 }; /* every fifth point: 50 ms */

static int write_traces(cli *tool, const ckpd_shape *shape, const ckpd_shape_run *run,
                        const char *path)
{
    static const char *const NAMES[] = {"time_s",    "deficit_w",    "fill_w", "deviation_hz",
                                        "battery_w", "mechanical_w", "soc"};
    enum { FIXED = sizeof NAMES / sizeof NAMES[0] };
    int64_t points = 0;
    double *column[MOST_TRACES] = {NULL};
    char name[MOST_TRACES][80];
    int columns = 0, fillers = ckpd_shape_filler_count(shape);
    bool good = ckpd_shape_run_trace(run, "time_s", 0, NULL, &points) == CKPD_OK;
    for (int i = 0; good && i < FIXED + fillers && i < MOST_TRACES; i++, columns++) {
        if (i < FIXED) {
            snprintf(name[i], sizeof name[i], "%s", NAMES[i]);
        } else {
            snprintf(name[i], sizeof name[i], "fill_w:%s",
                     ckpd_shape_filler_name(shape, i - FIXED));
        }
        column[i] = calloc((size_t)points, sizeof *column[i]);
        good = column[i] != NULL &&
               ckpd_shape_run_trace(run, name[i], points, column[i], &points) == CKPD_OK;
    }
    FILE *out = good ? fopen(path, "w") : NULL;
    for (int i = 0; out != NULL && i < columns; i++) {
        fprintf(out, "%s%s", i > 0 ? "," : "", name[i]);
    }
    for (int64_t k = 0; out != NULL && k < points; k += KEEP) {
        for (int i = 0; i < columns; i++) {
            fprintf(out, "%s%.9g", i > 0 ? "," : "\n", column[i][k]);
        }
    }
    if (out != NULL) {
        fputc('\n', out);
        good = fclose(out) == 0;
    }
    for (int i = 0; i < columns; i++) {
        free(column[i]);
    }
    return out != NULL && good ? -1 : cli_usage(tool, "cannot write %s", path);
}

static int write_folder(const work *w, const char *folder)
{
    cli *tool = w->tool;
    int status = cli_make_folder(tool, folder), last = -1;
    for (int i = 0; i < POLICIES && status < 0; i++) {
        if (!w->outcome[i].done) {
            continue;
        }
        char name[64];
        snprintf(name, sizeof name, "trace-%s.csv", POLICY[i].name);
        char *path = cli_join(folder, name);
        status =
            path == NULL ? CLI_INTERNAL : write_traces(tool, w->shape, w->outcome[i].run, path);
        free(path);
        last = i;
    }
    char *path = cli_join(folder, "shape.json");
    FILE *out = status < 0 && path != NULL ? fopen(path, "w") : NULL;
    if (out != NULL) {
        write_json(w, out);
        status = fclose(out) == 0 ? status : cli_usage(tool, "cannot write %s", path);
    } else if (status < 0) {
        status = cli_usage(tool, "cannot write %s", folder);
    }
    free(path);
    if (status < 0 && last > 0) {
        status = cli_shape_plot(tool, w->shape, w->outcome[0].run, w->outcome[last].run, w->grid,
                                folder);
    }
    return status;
}

/* --- the command
 * ----------------------------------------------------------------------------------------- */

typedef struct words {
    const char *policy, *seeds, *folder, *backend, *depth_error, *onset_error, *duration_error;
    const char *plan, *dispatch, *stagger;
} words;

/* Mean PUE of a site. */
static int32_t mean_pue(const ckpd_site *site, double *pue)
{
    int32_t slots = ckpd_site_slots(site);
    double *series = calloc((size_t)slots, sizeof *series);
    int32_t status =
        series == NULL ? CKPD_ERR_NO_MEMORY : ckpd_site_get_series(site, "pue", series, slots);
    *pue = 0;
    for (int32_t t = 0; t < slots && status == CKPD_OK; t++) {
        *pue += series[t] / slots;
    }
    free(series);
    return status;
}

static int32_t link_jobs(ckpd_link *link, const ckpd_case *loaded)
{
    double pue;
    int32_t status = mean_pue(ckpd_case_site(loaded), &pue);
    status = status == CKPD_OK ? ckpd_link_set(link, "pue", pue) : status;
    for (int32_t j = 0; j < ckpd_case_job_count(loaded) && status == CKPD_OK; j++) {
        status = ckpd_link_add_job(link, ckpd_task_name(ckpd_case_task(loaded, j)),
                                   ckpd_case_mode_set(loaded, j), NULL);
    }
    return status;
}

/* Adds the checkpoints of a day-ahead plan to the events of the case. Returns -1 or the exit
 * status. */
static int take_plan(work *w, const words *given)
{
    cli *tool = w->tool;
    ckpd_case *loaded = NULL;
    ckpd_plan *plan = NULL;
    ckpd_link *link = NULL;
    int32_t added = 0;
    double before = 0, after = 0;
    int32_t status = ckpd_case_load(&loaded, tool->context, given->dispatch);
    status = status == CKPD_OK ? ckpd_case_load_plan(&plan, NULL, loaded, given->plan) : status;
    status = status == CKPD_OK ? ckpd_link_new(&link, tool->context) : status;
    status = status == CKPD_OK ? link_jobs(link, loaded) : status;
    if (status == CKPD_OK) {
        status = ckpd_link_add_events(link, w->shape, plan, ckpd_case_slot_hours(loaded), &added);
    }
    if (status == CKPD_OK && given->stagger != NULL) {
        status = ckpd_link_stagger(link, w->shape, NULL, ckpd_shape_event_count(w->shape), &before,
                                   &after);
    }
    if (status == CKPD_OK && !tool->json) {
        printf("%d checkpoints from %s\n", (int)added, given->plan);
        if (given->stagger != NULL) {
            printf("staggered: %.3f MW missing at once at most, instead of %.3f MW\n", after / 1e6,
                   before / 1e6);
        }
    }
    ckpd_link_free(link);
    ckpd_plan_free(plan);
    ckpd_case_free(loaded);
    return status == CKPD_OK ? -1 : cli_failed(tool, status);
}

static int read_words(work *w, const words *given, bool *wanted)
{
    cli *tool = w->tool;
    double seeds = 5;
    if (given->seeds != NULL && !cli_number(tool, "--seeds", given->seeds, &seeds)) {
        return CLI_BAD_INPUT;
    }
    if (!(seeds >= 1 && seeds <= MOST_SEEDS) || seeds != floor(seeds)) {
        return cli_usage(tool, "--seeds takes a whole number from 1 to %d", MOST_SEEDS);
    }
    w->seeds = (int)seeds;
    w->backend = given->backend;
    if ((given->plan == NULL) != (given->dispatch == NULL)) {
        return cli_usage(tool,
                         "--from-plan and --dispatch-case need each other: a plan names modes, "
                         "its case knows their power");
    }
    if (given->stagger != NULL && given->plan == NULL) {
        return cli_usage(tool, "--stagger moves the checkpoints of a plan: it needs --from-plan");
    }
    if ((given->depth_error != NULL &&
         !cli_number(tool, "--depth-error", given->depth_error, &w->truth.depth_error_w)) ||
        (given->onset_error != NULL &&
         !cli_number(tool, "--onset-error", given->onset_error, &w->truth.onset_error_s)) ||
        (given->duration_error != NULL &&
         !cli_number(tool, "--duration-error", given->duration_error,
                     &w->truth.duration_error_s))) {
        return CLI_BAD_INPUT;
    }
    bool known = given->policy == NULL;
    for (int i = 0; i < POLICIES; i++) {
        bool named = given->policy != NULL && strcmp(given->policy, POLICY[i].name) == 0;
        known = known || named;
        wanted[i] = given->policy == NULL || named || i == 0;
    }
    return known ? -1
                 : cli_usage(tool,
                             "--policy takes none, reactive, predictive, plan, plan+early or full, "
                             "not '%s'",
                             given->policy);
}

int cli_shape(cli *tool, int count, char **arguments)
{
    const char *path = NULL;
    words given = {0};
    const cli_option options[] = {
        {"--policy", "NAME",
         "none, reactive, predictive, plan, plan+early or full (default: all of them)",
         &given.policy},
        {"--seeds", "N", "runs to average (default 5)", &given.seeds},
        {"--depth-error", "W", "what the events are really deeper than predicted",
         &given.depth_error},
        {"--onset-error", "S", "what the events are really later than predicted",
         &given.onset_error},
        {"--duration-error", "S", "what the events really last longer than predicted",
         &given.duration_error},
        {"--from-plan", "PLAN", "take the checkpoints of a day-ahead plan; needs --dispatch-case",
         &given.plan},
        {"--dispatch-case", "CASE", "the case that the plan was made for", &given.dispatch},
        {"--stagger", NULL, "move checkpoints of the plan earlier where they overlap",
         &given.stagger},
        {"--solver", "NAME", "backend for the linear programs; `ckptdispatch version` lists them",
         &given.backend},
        {"--out", "DIR", "write shape.json, traces as CSV and the picture", &given.folder},
        {NULL, NULL, NULL, NULL}};
    int status = cli_parse(tool, count, arguments, options, "CASE", &path, 1, 1);
    if (status >= 0) {
        return status;
    }
    work w = {.tool = tool, .truth = {.size = sizeof w.truth}};
    bool wanted[POLICIES] = {false};
    status = read_words(&w, &given, wanted);
    if (status < 0) {
        int32_t loaded = ckpd_shape_load(&w.shape, &w.grid, tool->context, path);
        status = loaded == CKPD_OK ? -1 : cli_failed(tool, loaded);
    }
    status = status < 0 && given.plan != NULL ? take_plan(&w, &given) : status;
    for (int i = 0; i < POLICIES && status < 0; i++) {
        status = wanted[i] ? run_policy(&w, i) : status;
    }
    if (status < 0) {
        if (tool->json) {
            write_json(&w, stdout);
        } else {
            print_table(&w);
        }
        status = given.folder != NULL ? write_folder(&w, given.folder) : status;
    }
    for (int i = 0; i < POLICIES; i++) {
        ckpd_shape_run_free(w.outcome[i].run);
    }
    ckpd_shape_free(w.shape);
    ckpd_microgrid_free(w.grid);
    return status < 0 ? CLI_OK : status;
}
