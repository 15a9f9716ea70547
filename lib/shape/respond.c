/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* From groups that ran to power traces and the microgrid's response. */
#include "shape/run.h"

#include <math.h>
#include <string.h>

static const double POINT_S = 0.01;

static const char *const trace_names[TRACES] = {
    "time_s", "deficit_w", "fill_w", "deviation_hz", "battery_w", "mechanical_w", "soc"};

static int64_t points_of(const ckpd__stretch *stretch)
{
    return (int64_t)floor((stretch->end_s - stretch->start_s) / POINT_S + 1e-6) + 1;
}

static int32_t allocate(const ckpd__simulation *sim, ckpd_shape_run *run)
{
    ckpd_context *context = run->context;
    for (int32_t i = 0; i < sim->stretches; i++) {
        run->points += points_of(&sim->stretch[i]);
    }
    run->step_s = POINT_S;
    run->fillers = sim->rig.fillers;
    bool complete = true;
    for (int32_t i = 0; i < TRACES; i++) {
        run->trace[i] = ckpd__calloc(context, (size_t)run->points, sizeof *run->trace[i]);
        complete = complete && run->trace[i] != NULL;
    }
    run->filler_w =
        ckpd__calloc(context, (size_t)run->points * (size_t)run->fillers, sizeof *run->filler_w);
    run->filler_name = ckpd__calloc(context, (size_t)run->fillers, sizeof *run->filler_name);
    if (!complete || run->filler_w == NULL || run->filler_name == NULL) {
        return ckpd__no_memory(context);
    }
    for (int32_t k = 0; k < run->fillers; k++) {
        memcpy(run->filler_name[k], sim->shape->filler[k]->name,
               strlen(sim->shape->filler[k]->name) + 1);
    }
    return CKPD_OK;
}

/* Adds the power of every group to the points of a stretch that begin at `first`. */
static void add_groups(const ckpd__simulation *sim, ckpd_shape_run *run,
                       const ckpd__stretch *stretch, int64_t first)
{
    int64_t points = points_of(stretch);
    for (int64_t g = 0; g < sim->groups; g++) {
        const ckpd__ran *ran = &sim->ran[g];
        if (ran->command_s < stretch->start_s - 1e-6 || ran->command_s > stretch->end_s) {
            continue;
        }
        int32_t filler = 0;
        while (ran->row >= sim->rig.first_row[filler + 1]) {
            filler++;
        }
        double *to = run->filler_w + (int64_t)filler * run->points + first;
        const ckpd__profile *p = &sim->rig.profile[ran->row];
        int64_t from = (int64_t)ceil((ran->start_s - stretch->start_s) / POINT_S);
        int64_t last = (int64_t)floor((ckpd__ran_end_s(sim, ran) - stretch->start_s) / POINT_S);
        last = last < points ? last : points - 1;
        for (int64_t i = from; i <= last; i++) {
            double since = stretch->start_s + (double)i * POINT_S - ran->start_s;
            to[i] += ckpd__profile_power_scaled(p, since, ran->stop_s, ran->factor);
        }
    }
}

int32_t ckpd__run_respond(ckpd__simulation *sim, ckpd_shape_run *run)
{
    int32_t status = allocate(sim, run);
    if (status != CKPD_OK) {
        return status;
    }
    ckpd__machine machine;
    ckpd__machine_start(&machine, sim->grid);
    double energy = sim->grid->values[GRID_BATTERY_ENERGY_WH];
    int64_t first = 0;
    for (int32_t s = 0; s < sim->stretches; s++) {
        const ckpd__stretch *stretch = &sim->stretch[s];
        int64_t points = points_of(stretch);
        add_groups(sim, run, stretch, first);
        double before = 0.0;
        for (int64_t i = first; i < first + points; i++) {
            double t = stretch->start_s + (double)(i - first) * POINT_S, fill = 0.0;
            for (int32_t k = 0; k < run->fillers; k++) {
                fill += run->filler_w[k * run->points + i];
            }
            double deficit = ckpd__real_deficit(sim, t), net = deficit - fill;
            if (i > first) {
                ckpd__machine_advance(&machine, POINT_S, before, net);
            }
            before = net;
            run->trace[TRACE_TIME][i] = t;
            run->trace[TRACE_DEFICIT][i] = deficit;
            run->trace[TRACE_FILL][i] = fill;
            run->trace[TRACE_DEVIATION][i] = ckpd__machine_hz(&machine);
            run->trace[TRACE_BATTERY][i] = machine.x[STATE_BATTERY];
            run->trace[TRACE_MECHANICAL][i] =
                machine.x[STATE_TURBINE] * sim->grid->values[GRID_RATED_VA];
            run->trace[TRACE_SOC][i] = energy > 0.0 ? machine.soc_wh / energy : (double)NAN;
        }
        first += points;
    }
    ckpd__run_measure(sim, run, &machine);
    return CKPD_OK;
}

void ckpd_shape_run_free(ckpd_shape_run *run)
{
    CKPD__NULL_IF_FOREIGN(run, CKPD__SHAPE_RUN);
    if (run == NULL) {
        return;
    }
    ckpd_context *context = run->context;
    for (int32_t i = 0; i < TRACES; i++) {
        ckpd__free(context, run->trace[i]);
    }
    ckpd__free(context, run->filler_w);
    ckpd__free(context, run->filler_name);
    ckpd__handle_end(run);
}

/* A run may be shared by threads, its context may not: what only reads it records no error. */
int32_t ckpd_shape_run_get_metrics(const ckpd_shape_run *run, ckpd_shape_metrics *out)
{
    CKPD__REFUSE_FOREIGN(NULL, run, CKPD__SHAPE_RUN);
    return run == NULL ? CKPD_ERR_ARGUMENT
                       : CKPD__STRUCT_OUT(NULL, shape_metrics, out, &run->metrics);
}

double ckpd_shape_run_step_s(const ckpd_shape_run *run)
{
    CKPD__NULL_IF_FOREIGN(run, CKPD__SHAPE_RUN);
    return run == NULL ? (double)NAN : run->step_s;
}

static const double *find_trace(const ckpd_shape_run *run, const char *name)
{
    for (int32_t i = 0; i < TRACES; i++) {
        if (strcmp(name, trace_names[i]) == 0) {
            return run->trace[i];
        }
    }
    if (strncmp(name, "fill_w:", 7) == 0) {
        for (int32_t k = 0; k < run->fillers; k++) {
            if (strcmp(name + 7, run->filler_name[k]) == 0) {
                return run->filler_w + (int64_t)k * run->points;
            }
        }
    }
    return NULL;
}

int32_t ckpd_shape_run_trace(const ckpd_shape_run *run, const char *name, int64_t capacity,
                             double *values, int64_t *count)
{
    CKPD__REFUSE_FOREIGN(NULL, run, CKPD__SHAPE_RUN);
    if (run == NULL || name == NULL || count == NULL || (values == NULL && capacity > 0)) {
        return CKPD_ERR_ARGUMENT;
    }
    const double *trace = find_trace(run, name);
    if (trace == NULL) {
        return CKPD_ERR_UNKNOWN_NAME;
    }
    if (capacity != 0 && capacity < run->points) {
        return CKPD_ERR_BUFFER;
    }
    if (capacity > 0) {
        memcpy(values, trace, (size_t)run->points * sizeof *values);
    }
    *count = run->points;
    return CKPD_OK;
}
