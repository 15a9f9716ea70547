/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Random sequences of calls on one handle of each kind. Whatever the order and the numbers: no
 * crash, no leak, and every status is one of the known ones. An input is a list of (call, argument,
 * argument) bytes.
 */
#include <ckptdispatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const double numbers[] = {0,
                                 -0.0,
                                 1,
                                 -1,
                                 2,
                                 0.5,
                                 0.9,
                                 1e-9,
                                 6,
                                 24,
                                 100,
                                 1024,
                                 2048,
                                 1e4,
                                 1e9,
                                 1e12,
                                 1e300,
                                 -1e300,
                                 5e-324,
                                 2147483647.0,
                                 -2147483648.0,
                                 4294967296.0,
                                 1e18,
                                 NAN,
                                 INFINITY,
                                 -INFINITY};

static const char *const names[] = {
    "",
    "segments",
    "release",
    "deadline",
    "layers",
    "hidden",
    "heads",
    "tokens",
    "energy_kwh",
    "charge_kw",
    "discharge_kw",
    "eta_charge",
    "soc_min_kwh",
    "soc_max_kwh",
    "soc_start_kwh",
    "soc_end_kwh",
    "import_price_per_mwh",
    "wind_kw",
    "gpu_cap",
    "pue",
    "import_cap_kw",
    "reduce",
    "checkpoint_save_share",
    "tranche_baseline_hours",
    "installed_gpus",
    "baseline_gpus",
    "dp",
    "tp",
    "start_segments",
    "terminal",
    "equal",
    "free",
    "at_least",
    "llama-65b",
    "a100-80gb",
    "batch_sequences",
    "soc_inti",
};

/* One handle of each kind; NULL where none has been made. */
typedef struct world {
    ckpd_context *context;
    ckpd_task *task;
    ckpd_hardware *hardware;
    ckpd_mode_rules *rules;
    ckpd_mode_set *modes;
    ckpd_graph_options *options;
    ckpd_graph *graph;
    ckpd_battery *battery;
    ckpd_site *site;
    ckpd_cancel *cancel;
} world;

static double number(uint8_t byte)
{
    return numbers[byte % (sizeof numbers / sizeof numbers[0])];
}

static const char *name(uint8_t byte)
{
    return names[byte % (sizeof names / sizeof names[0])];
}

static void known(int32_t status)
{
    if (strcmp(ckpd_status_name(status), "CKPD_UNKNOWN") == 0) {
        fprintf(stderr, "unknown status %d\n", (int)status);
        abort();
    }
}

static void make(world *w, uint8_t what, uint8_t a)
{
    switch (what % 9) {
    case 0:
        ckpd_task_free(w->task);
        w->task = NULL;
        known(ckpd_task_new(&w->task, w->context, name(a)));
        break;
    case 1:
        ckpd_hardware_free(w->hardware);
        w->hardware = NULL;
        known(ckpd_hardware_new(&w->hardware, w->context, name(a)));
        break;
    case 2:
        ckpd_mode_rules_free(w->rules);
        w->rules = NULL;
        known(ckpd_mode_rules_new(&w->rules, w->context));
        break;
    case 3:
        ckpd_mode_set_free(w->modes);
        w->modes = NULL;
        known(ckpd_mode_set_build(&w->modes, w->context, w->task, w->hardware, w->rules));
        break;
    case 4:
        ckpd_graph_options_free(w->options);
        w->options = NULL;
        known(ckpd_graph_options_new(&w->options, w->context));
        break;
    case 5:
        ckpd_graph_free(w->graph);
        w->graph = NULL;
        known(ckpd_graph_build(&w->graph, w->context, w->task, w->modes, a % 32, 0.25 * (a % 5),
                               w->options));
        break;
    case 6:
        ckpd_battery_free(w->battery);
        w->battery = NULL;
        known(ckpd_battery_new(&w->battery, w->context));
        break;
    case 7:
        ckpd_site_free(w->site);
        w->site = NULL;
        known(ckpd_site_new(&w->site, w->context, (int32_t)a - 2, 0.25 * (a % 6)));
        break;
    default:
        ckpd_cancel_free(w->cancel);
        w->cancel = NULL;
        known(ckpd_cancel_new(&w->cancel, w->context));
        break;
    }
}

static void from_table(world *w, uint8_t a, uint8_t b)
{
    int32_t gpus[4];
    double rate[4];
    double power_kw[4];
    for (int i = 0; i < 4; i++) {
        gpus[i] = (int32_t)fmax(
            -1e9, fmin(1e9, isnan(number((uint8_t)(a + i))) ? 0 : number((uint8_t)(a + i))));
        rate[i] = number((uint8_t)(b + i));
        power_kw[i] = number((uint8_t)(b + 3 * i));
    }
    const ckpd_mode_table table = {.size = sizeof table,
                                   .count = b % 6 < 5 ? b % 5 : -1,
                                   .installed_gpus = 2048,
                                   .gpus = gpus,
                                   .rate = rate,
                                   .power_kw = power_kw,
                                   .baseline_index = b % 6 - 1,
                                   .keep_dominated = a & 1};
    ckpd_mode_set_free(w->modes);
    w->modes = NULL;
    known(ckpd_mode_set_from_table(&w->modes, w->context, w->task, &table));
}

static void set(world *w, uint8_t what, uint8_t a, uint8_t b)
{
    double read = 0;
    switch (what % 12) {
    case 0:
        known(ckpd_task_set(w->task, name(a), number(b)));
        break;
    case 1:
        known(ckpd_task_set_model(w->task, name(a)));
        known(ckpd_task_set_reference(w->task, name(b)));
        break;
    case 2:
        known(ckpd_task_unset(w->task, name(a)));
        known(ckpd_task_get(w->task, name(b), &read));
        break;
    case 3:
        known(ckpd_hardware_set(w->hardware, name(a), number(b)));
        break;
    case 4:
        known(ckpd_mode_rules_set(w->rules, name(a), number(b)));
        break;
    case 5:
        known(ckpd_graph_options_set(w->options, name(a), number(b)));
        break;
    case 6:
        known(ckpd_battery_set(w->battery, name(a), number(b)));
        break;
    case 7:
        known(ckpd_battery_set_text(w->battery, name(a), name(b)));
        break;
    case 8:
        known(ckpd_site_set_constant(w->site, name(a), number(b)));
        break;
    case 9:
        known(ckpd_site_add_battery(w->site, w->battery));
        break;
    case 10:
        known(ckpd_site_remove_battery(w->site));
        break;
    default:
        from_table(w, a, b);
        break;
    }
}

static void series(world *w, uint8_t a, uint8_t b)
{
    double values[64];
    for (int i = 0; i < 64; i++) {
        values[i] = number((uint8_t)(b + (i % 3)));
    }
    known(ckpd_site_set_series(w->site, name(a), values, b % 64));
    known(ckpd_site_get_series(w->site, name(a), values, b % 64));
    known(
        ckpd_site_add_cost_curve(w->site, (int32_t)a % 30 - 2, b % 6, b % 64, values, values + 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    world w = {0};
    if (size > 3 * 256 || ckpd_context_new(&w.context, NULL) != CKPD_OK) {
        return 0;
    }
    for (size_t i = 0; i + 2 < size; i += 3) {
        uint8_t call = data[i];
        if (call % 3 == 0) {
            make(&w, call / 3, data[i + 1]);
        } else if (call % 3 == 1) {
            set(&w, call / 3, data[i + 1], data[i + 2]);
        } else {
            series(&w, data[i + 1], data[i + 2]);
        }
    }
    /* The context goes first: handles keep it alive. */
    ckpd_context_free(w.context);
    ckpd_graph_free(w.graph);
    ckpd_graph_options_free(w.options);
    ckpd_mode_set_free(w.modes);
    ckpd_mode_rules_free(w.rules);
    ckpd_hardware_free(w.hardware);
    ckpd_task_free(w.task);
    ckpd_site_free(w.site);
    ckpd_battery_free(w.battery);
    ckpd_cancel_free(w.cancel);
    return 0;
}
