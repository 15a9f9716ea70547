/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Small problems written down in MW, MWh and hours, as the reference cases are, made through the
 * public API. */
#ifndef TESTS_DAY_H
#define TESTS_DAY_H

#include "support/support.h"

#include <ckptdispatch.h>

typedef struct day {
    ckpd_context *context;
    ckpd_site *site;
    ckpd_problem *problem; /* made by day_problem() */
} day;

/* A site of `slots` slots with these prices, the given IT load in MW, no renewables, 1000 GPUs. */
day day_new(int32_t slots, double slot_hours, const double *price, double it_mw);
void day_free(day *d);
void day_set(day *d, const char *series, double value);
/* In MW for the kW series, as it stands for the others. */
void day_set_mw(day *d, const char *series, const double *mw);

typedef struct day_battery {
    double energy_mwh, power_mw, eta, start_mwh, end_mwh;
    const char *terminal; /* "equal", "at_least", "free" */
    double throughput_cost, end_value, soc_min_mwh;
    double self_discharge; /* per hour */
    int32_t recover;
    double end_price; /* per MWh, 0: the terminal rule is hard */
} day_battery;
void day_add_battery(day *d, const day_battery *battery);

/* A mode of a small job: `hours` of it do one segment. */
typedef struct day_mode {
    int32_t gpus;
    double hours, mw, idle_mw;
} day_mode;

typedef struct day_job {
    const char *name;
    int32_t segments, modes;
    const day_mode *mode;      /* the first is the baseline */
    int32_t release, deadline; /* deadline 0: the horizon */
    int32_t start_segments;
    int32_t running_mode; /* 1 + mode, 0 for none */
    int32_t running_slots, running_segments;
    int32_t may_lose;  /* 1: the running edge may be given up */
    double late_price; /* per hour after the deadline, 0: it is hard */
} day_job;
/* Makes the problem on first use, then adds the job. Returns a status; the site must be complete.
 */
int32_t day_add_job(day *d, const day_job *job, const ckpd_graph_options *options);
ckpd_problem *day_problem(day *d);

/* Solves and asserts CKPD_OK. backend NULL: automatic. */
ckpd_solution *day_solve(day *d, int32_t scenario, const char *backend);
/* Solves with every built-in backend that can, asserts optimal, verified and the cost within 1e-9 x
 * scale. */
void day_expect(day *d, int32_t scenario, double cost);
double day_figure(const ckpd_solution *solution, const char *name);
/* One value of a plan's series. */
double day_value(const ckpd_solution *solution, const char *series, int32_t slot);

#endif
