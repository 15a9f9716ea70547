/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The plant of cosimulation.c, a simulator of its own: it knows nothing of the library. */
#ifndef CKPTDISPATCH_EXAMPLES_PLANT_H
#define CKPTDISPATCH_EXAMPLES_PLANT_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>

enum { DAY = 24, MODES = 3, SEGMENTS = 8, GPUS = 256 };
static const int32_t mode_gpus[MODES] = {64, 128, 256};
static const double mode_rate[MODES] = {0.55, 1.0, 1.8}, mode_kw[MODES] = {26, 51.2, 102.4};
static const double price[DAY] = {31, 29, 28, 28, 30, 36, 44, 52, 47, 33, 21, 14,
                                  12, 12, 15, 22, 35, 58, 79, 84, 71, 55, 43, 36};
static const double wind_forecast[DAY] = {70, 74, 78, 80, 76, 66, 52, 40, 30, 22, 16, 12,
                                          10, 12, 18, 26, 34, 40, 46, 54, 60, 66, 70, 72};
/* The planner keeps this much import back for wind below its forecast. */
static const double PUE = 1.2, BASE_KW = 40, IMPORT_CAP = 165, RESERVE = 10;
static const double TRANCHE_HOURS = 12;

typedef struct plant {
    int hour, violations;
    double soc_kwh, cost;
    int segments_done;
    int mode, hours_run, segments_running; /* the step that runs; mode -1: none */
} plant;

typedef struct orders {
    int mode, segments; /* a step to begin; mode -1: none */
    double charge_kw, discharge_kw;
} orders;

static void expect(plant *p, int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "%02d:00: violated: %s\n", p->hour, what);
        p->violations++;
    }
}

static void plant_run_hour(plant *p, const orders *o)
{
    if (o->mode >= 0) {
        expect(p, p->mode < 0, "a step begins while another runs");
        p->mode = o->mode;
        p->segments_running = o->segments;
        p->hours_run = 0;
    }
    double it_kw = BASE_KW + (p->mode >= 0 ? mode_kw[p->mode] : 0);
    double wind_kw = wind_forecast[p->hour] * (1 + 0.1 * sin(2.3 * p->hour));
    double import_kw = PUE * it_kw + o->charge_kw - o->discharge_kw - wind_kw;
    expect(p, p->mode < 0 || mode_gpus[p->mode] <= GPUS, "GPUs");
    expect(p, import_kw <= IMPORT_CAP, "grid connection");
    expect(p, o->charge_kw <= 40 + 1e-6 && o->discharge_kw <= 40 + 1e-6, "converter");
    expect(p, o->charge_kw < 1e-6 || o->discharge_kw < 1e-6, "charge with discharge");
    p->soc_kwh += 0.93 * o->charge_kw - o->discharge_kw / 0.93; /* the planner believes in 0.95 */
    expect(p, p->soc_kwh >= 5 && p->soc_kwh <= 95, "state of charge");
    p->cost += price[p->hour] * fmax(import_kw, 0) / 1000;
    p->hour++;
    double done = p->mode >= 0 ? mode_rate[p->mode] * ++p->hours_run : 0;
    if (p->mode >= 0 && done >= p->segments_running * TRANCHE_HOURS / SEGMENTS * (1 - 1e-9)) {
        p->segments_done += p->segments_running;
        p->mode = -1;
    }
}

#endif
