/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What a plan leaves open: edges that could begin later or earlier, and the battery. */
#include "dispatch/explain.h"

#include <math.h>
#include <string.h>

/* One job's steps with some of them moved. */
typedef struct moved {
    ckpd_step *step; /* [slots] */
    int32_t count;
} moved;

typedef struct flexibility {
    ckpd__explain *e;
    moved *job;     /* [jobs] */
    bool *is_moved; /* [jobs] */
    double *it_kw;  /* [slots] of the changed plan */
    double *gpus;
} flexibility;

static const ckpd__steps *steps_of(const flexibility *f, int32_t job)
{
    return &f->e->solution->plan->steps[job];
}

/* Money of a job's edges where the owner's table has amounts. */
static double edges_money(const ckpd_graph *graph, const ckpd_step *step, int32_t count)
{
    double sum = 0;
    int32_t state = graph->source_state;
    for (int32_t i = 0; graph->edge_cost != NULL && i < count; i++) {
        if (ckpd__is_running_step(graph, &step[i])) {
            continue;
        }
        int32_t wanted =
            ckpd__graph_class(graph->transition, graph->spec.modes, state, step[i].mode);
        int32_t move = ckpd__graph_find_move(graph, step[i].mode,
                                             step[i].to_segment - step[i].from_segment, wanted);
        if (move >= 0) {
            sum += graph->edge_cost[ckpd__graph_edge(graph, move, step[i].from_slot,
                                                     step[i].from_segment)];
        }
        state = graph->transition != NULL ? step[i].mode + 1 : 0;
    }
    sum += count > 0 ? ckpd__graph_late_cost(&graph->spec, step[count - 1].to_slot) : 0;
    return sum;
}

/* Cost of the changed plan less that of the plan, battery power as planned; infinite when a cap is
 * missed. */
static double cost_of_change(flexibility *f)
{
    const ckpd__explain *e = f->e;
    const ckpd_site *site = e->problem->site;
    double *const *plan = e->solution->plan->series;
    double money = 0;
    size_t slots = (size_t)site->slots;
    memcpy(f->it_kw, plan[CKPD__PLAN_IT_POWER], slots * sizeof *f->it_kw);
    memcpy(f->gpus, plan[CKPD__PLAN_GPUS], slots * sizeof *f->gpus);
    for (int32_t j = 0; j < e->problem->jobs; j++) {
        const ckpd_graph *graph = e->problem->job[j];
        if (!f->is_moved[j]) {
            continue;
        }
        for (size_t t = 0; t < slots; t++) {
            f->it_kw[t] -= e->job_kw[(size_t)j * slots + t];
        }
        ckpd__explain_profile(graph, f->job[j].step, f->job[j].count, false, f->it_kw);
        for (int32_t i = 0; i < f->job[j].count; i++) {
            const ckpd_step *old = &steps_of(f, j)->step[i];
            const ckpd_step *new = &f->job[j].step[i];
            for (int32_t t = old->from_slot; t < old->to_slot; t++) {
                f->gpus[t] -= old->gpus;
            }
            for (int32_t t = new->from_slot; t < new->to_slot; t++) {
                f->gpus[t] += new->gpus;
            }
        }
        money += edges_money(graph, f->job[j].step, f->job[j].count) -
                 edges_money(graph, steps_of(f, j)->step, steps_of(f, j)->count);
    }
    for (int32_t t = 0; t < site->slots; t++) {
        double load = site->series[CKPD__PUE][t] * f->it_kw[t];
        double draw = e->draw_kw[t] + load - plan[CKPD__PLAN_SITE_LOAD][t];
        const ckpd__pwl *curve = &e->curve[t];
        double slack = ckpd__check_tolerance(load);
        double over = ckpd__cap_money(site, t, load, f->gpus[t]);
        if (isinf(over) || draw > curve->x[curve->count - 1] + slack) {
            return (double)INFINITY;
        }
        money += over -
                 ckpd__cap_money(site, t, plan[CKPD__PLAN_SITE_LOAD][t], plan[CKPD__PLAN_GPUS][t]);
        money += ckpd__pwl_value(curve, draw) - ckpd__pwl_value(curve, e->draw_kw[t]);
    }
    return money;
}

static void copy_steps(flexibility *f, int32_t job)
{
    const ckpd__steps *steps = steps_of(f, job);
    memcpy(f->job[job].step, steps->step, (size_t)steps->count * sizeof *steps->step);
    f->job[job].count = steps->count;
    f->is_moved[job] = true;
}

/* Number of the first step that starts at or after a slot, the running edge left out. */
static int32_t step_from(const flexibility *f, int32_t job, int32_t slot)
{
    const ckpd__steps *steps = steps_of(f, job);
    int32_t i = 0;
    while (i < steps->count && (steps->step[i].from_slot < slot ||
                                ckpd__is_running_step(f->e->problem->job[job], &steps->step[i]))) {
        i++;
    }
    return i;
}

/* Slots by which a step and all after it can be put off. */
static int32_t slack_of(const flexibility *f, int32_t job, int32_t index)
{
    const ckpd__steps *steps = steps_of(f, job);
    int32_t slack = f->e->problem->job[job]->spec.last - steps->step[steps->count - 1].to_slot;
    for (int32_t i = index; i + 1 < steps->count; i++) {
        slack += steps->step[i + 1].from_slot - steps->step[i].to_slot;
    }
    return slack;
}

static void put_off(flexibility *f, int32_t job, int32_t index)
{
    copy_steps(f, job);
    ckpd_step *step = f->job[job].step;
    int32_t free_from = step[index].from_slot + 1;
    for (int32_t i = index; i < f->job[job].count && step[i].from_slot < free_from; i++) {
        int32_t slots = step[i].to_slot - step[i].from_slot;
        step[i].from_slot = free_from;
        step[i].to_slot = free_from + slots;
        free_from = step[i].to_slot;
    }
}

static void look_at_shedding(flexibility *f, int32_t t)
{
    ckpd__explain *e = f->e;
    double **series = e->out->series;
    double kw = 0;
    int32_t longest = INT32_MAX;
    memset(f->is_moved, 0, (size_t)e->problem->jobs * sizeof *f->is_moved);
    for (int32_t j = 0; j < e->problem->jobs; j++) {
        int32_t i = step_from(f, j, t);
        if (i == steps_of(f, j)->count || steps_of(f, j)->step[i].from_slot != t) {
            continue;
        }
        int32_t slack = slack_of(f, j, i);
        if (slack < 1) {
            continue;
        }
        kw += e->job_kw[(size_t)j * (size_t)e->problem->site->slots + (size_t)t];
        longest = slack < longest ? slack : longest;
        put_off(f, j, i);
    }
    series[CKPD__EXPLAINED_SHED_KW][t] = e->problem->site->series[CKPD__PUE][t] * kw;
    series[CKPD__EXPLAINED_SHED_SLOTS][t] = kw > 0 ? longest : 0;
    series[CKPD__EXPLAINED_SHED_COST][t] = kw > 0 ? cost_of_change(f) : 0;
}

static void look_at_adding(flexibility *f, int32_t t)
{
    ckpd__explain *e = f->e;
    double **series = e->out->series;
    double kw = 0;
    int32_t shortest = INT32_MAX;
    memset(f->is_moved, 0, (size_t)e->problem->jobs * sizeof *f->is_moved);
    for (int32_t j = 0; j < e->problem->jobs; j++) {
        const ckpd_graph *graph = e->problem->job[j];
        int32_t i = step_from(f, j, t);
        const ckpd__steps *steps = steps_of(f, j);
        bool idle = t >= graph->source_slot && (i == 0 || steps->step[i - 1].to_slot <= t);
        if (i == steps->count || steps->step[i].from_slot == t || !idle) {
            continue;
        }
        copy_steps(f, j);
        ckpd_step *step = &f->job[j].step[i];
        int32_t slots = step->to_slot - step->from_slot;
        step->from_slot = t;
        step->to_slot = t + slots;
        kw += graph->mode_power_kw[step->mode];
        shortest = slots < shortest ? slots : shortest;
    }
    series[CKPD__EXPLAINED_ADD_KW][t] = e->problem->site->series[CKPD__PUE][t] * kw;
    series[CKPD__EXPLAINED_ADD_SLOTS][t] = kw > 0 ? shortest : 0;
    series[CKPD__EXPLAINED_ADD_COST][t] = kw > 0 ? cost_of_change(f) : 0;
}

static void look_at_battery(ckpd__explain *e, int32_t t)
{
    const ckpd_site *site = e->problem->site;
    const double *b = site->battery;
    double *const *plan = e->solution->plan->series;
    double low = b[CKPD__BATTERY_SOC_MIN];
    double kept = plan[CKPD__PLAN_SOC][t] * ckpd__battery_retention(site);
    double h = site->slot_hours;
    double out =
        fmin(b[CKPD__BATTERY_DISCHARGE], (kept - low) * b[CKPD__BATTERY_ETA_DISCHARGE] / h);
    double in = fmin(b[CKPD__BATTERY_CHARGE],
                     (b[CKPD__BATTERY_SOC_MAX] - kept) / (b[CKPD__BATTERY_ETA_CHARGE] * h));
    double net = plan[CKPD__PLAN_CHARGE][t] - plan[CKPD__PLAN_DISCHARGE][t];
    e->out->series[CKPD__EXPLAINED_BATTERY_SHED][t] = fmax(0.0, fmax(out, 0.0) + net);
    e->out->series[CKPD__EXPLAINED_BATTERY_ADD][t] = fmax(0.0, fmax(in, 0.0) - net);
}

int32_t ckpd__explain_flexibility(ckpd__explain *e)
{
    ckpd_context *context = e->problem->context;
    size_t jobs = (size_t)e->problem->jobs;
    size_t slots = (size_t)e->problem->site->slots;
    flexibility f = {.e = e};
    f.job = ckpd__calloc(context, jobs, sizeof *f.job);
    f.is_moved = ckpd__calloc(context, jobs, sizeof *f.is_moved);
    f.it_kw = ckpd__calloc(context, 2 * slots, sizeof *f.it_kw);
    ckpd_step *steps = ckpd__calloc(context, jobs * slots, sizeof *steps);
    bool ready = f.job != NULL && f.is_moved != NULL && f.it_kw != NULL && steps != NULL;
    bool rigid = ckpd__scenario_is_continuous(e->solution->scenario);
    if (ready) {
        f.gpus = f.it_kw + slots;
        for (size_t j = 0; j < jobs; j++) {
            f.job[j].step = steps + j * slots;
        }
    }
    for (int32_t t = 0; ready && t < (int32_t)slots; t++) {
        e->out->series[CKPD__EXPLAINED_SHED_COST][t] = 0;
        e->out->series[CKPD__EXPLAINED_ADD_COST][t] = 0;
        if (!rigid) {
            look_at_shedding(&f, t);
            look_at_adding(&f, t);
        }
        if (ckpd__scenario_has_storage(e->solution->scenario)) {
            look_at_battery(e, t);
        }
    }
    ckpd__free(context, f.job);
    ckpd__free(context, f.is_moved);
    ckpd__free(context, f.it_kw);
    ckpd__free(context, steps);
    return ready ? CKPD_OK : ckpd__no_memory(context);
}
