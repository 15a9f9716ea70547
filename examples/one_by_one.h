/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The heuristic of own_backend.c on the path view: jobs are placed one after another, each on its
 * cheapest path given the load of those before it, by dynamic programming over slots and
 * checkpoints. Optimal for one job, not for several.
 */
#ifndef CKPTDISPATCH_EXAMPLES_ONE_BY_ONE_H
#define CKPTDISPATCH_EXAMPLES_ONE_BY_ONE_H

#include <ckptdispatch/backend.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct work {
    const ckpd_path_view *view;
    double *load_kw, *gpus; /* [slots] placed so far, load_kw with base load and PUE */
    double *cost;           /* [slots + 1][segments + 1] of reaching a node */
    int32_t *by;            /* move into the node, -1: wait */
} work;

static double curve_at(const ckpd_path_view *v, int32_t slot, double x)
{
    const int64_t first = v->curve_start[slot], last = v->curve_start[slot + 1] - 1;
    const double slack = 1e-9 * fmax(1, fabs(x));
    if (x < v->curve_x_kw[first] - slack || x > v->curve_x_kw[last] + slack) {
        return INFINITY;
    }
    int64_t i = first;
    while (i < last - 1 && x > v->curve_x_kw[i + 1]) {
        i++;
    }
    if (i == last) {
        return v->curve_cost[i];
    }
    return v->curve_cost[i] + (x - v->curve_x_kw[i]) * (v->curve_cost[i + 1] - v->curve_cost[i]) /
                                  (v->curve_x_kw[i + 1] - v->curve_x_kw[i]);
}

static double power_in(const ckpd_path_job *job, int32_t move, int32_t i)
{
    return job->move_last_kw != NULL && i == job->move_slots[move] - 1
               ? job->move_last_kw[move]
               : job->mode_power_kw[job->move_mode[move]];
}

/* What a move adds to the cost of the slots it occupies; infinite where it breaks a cap. */
static double move_cost(const work *w, const ckpd_path_job *job, int32_t move, int32_t t, int32_t k)
{
    const ckpd_path_view *v = w->view;
    const size_t edge =
        ((size_t)move * (size_t)v->slots + (size_t)t) * (size_t)job->segments + (size_t)k;
    if (job->edge_closed != NULL && job->edge_closed[edge] != 0) {
        return INFINITY;
    }
    double sum = job->edge_cost != NULL ? job->edge_cost[edge] : 0;
    for (int32_t i = 0; i < job->move_slots[move]; i++) {
        const double before = w->load_kw[t + i];
        const double after = before + v->load_factor[t + i] * power_in(job, move, i);
        if (after > v->load_cap_kw[t + i] ||
            w->gpus[t + i] + job->mode_gpus[job->move_mode[move]] > v->gpu_cap[t + i]) {
            return INFINITY;
        }
        sum += curve_at(v, t + i, after) - curve_at(v, t + i, before);
    }
    return sum;
}

/* Fills cost and by, returns the slot at which the cheapest complete path ends, -1 without one. */
static int32_t cheapest_path(work *w, const ckpd_path_job *job)
{
    const int32_t slots = w->view->slots, wide = job->segments + 1;
    for (int32_t n = 0; n < (slots + 1) * wide; n++) {
        w->cost[n] = INFINITY;
    }
    w->cost[job->source_slot * wide + job->source_segment] = 0;
    for (int32_t t = job->source_slot; t < slots; t++) {
        for (int32_t k = job->source_segment; k < job->segments; k++) {
            const double here = w->cost[t * wide + k];
            for (int32_t m = job->may_wait ? -1 : 0; here < INFINITY && m < job->moves; m++) {
                const int32_t to_t = t + (m < 0 ? 1 : job->move_slots[m]);
                const int32_t to_k = k + (m < 0 ? 0 : job->move_segments[m]);
                const int32_t to = to_t * wide + to_k;
                if ((m >= 0 && to_t > job->deadline) || to_k > job->segments || to_t > slots ||
                    job->node_open[to] == 0) {
                    continue;
                }
                const double cost = here + (m < 0 ? 0 : move_cost(w, job, m, t, k));
                if (cost < w->cost[to]) {
                    w->cost[to] = cost;
                    w->by[to] = m;
                }
            }
        }
    }
    int32_t end = -1;
    for (int32_t t = job->source_slot; t <= slots; t++) {
        const double cost = w->cost[t * wide + job->segments];
        if (cost < INFINITY && (end < 0 || cost < w->cost[end * wide + job->segments])) {
            end = t;
        }
    }
    return end;
}

/* Follows the path back from its end, writes the moves in ascending order and books their load. */
static void take_path(work *w, int32_t j, int32_t t, ckpd_path_plan *plan)
{
    const ckpd_path_job *job = w->view->job[j];
    int32_t k = job->segments, count = 0, at = j * w->view->slots + w->view->slots;
    while (t > job->source_slot || k > job->source_segment) {
        const int32_t move = w->by[t * (job->segments + 1) + k];
        t -= move < 0 ? 1 : job->move_slots[move];
        if (move >= 0) {
            k -= job->move_segments[move];
            plan->step_slot[--at] = t;
            plan->step_move[at] = move;
            count++;
            for (int32_t i = 0; i < job->move_slots[move]; i++) {
                w->load_kw[t + i] += w->view->load_factor[t + i] * power_in(job, move, i);
                w->gpus[t + i] += job->mode_gpus[job->move_mode[move]];
            }
        }
    }
    const size_t bytes = (size_t)count * sizeof(int32_t);
    memmove(plan->step_slot + j * w->view->slots, plan->step_slot + at, bytes);
    memmove(plan->step_move + j * w->view->slots, plan->step_move + at, bytes);
    plan->step_count[j] = count;
}

/* Returns the cost of the plan, infinity when a job found no room. */
static double place_all(work *w, const ckpd_host *host, ckpd_path_result *result)
{
    const ckpd_path_view *v = w->view;
    double sum = v->cost_offset;
    for (int32_t t = 0; t < v->slots; t++) {
        w->load_kw[t] = v->base_load_kw[t];
        w->gpus[t] = 0;
        for (int32_t j = 0; j < v->jobs; j++) {
            const ckpd_path_job *job = v->job[j];
            w->load_kw[t] +=
                job->fixed_power_kw != NULL ? v->load_factor[t] * job->fixed_power_kw[t] : 0;
            w->gpus[t] += job->fixed_gpus != NULL ? job->fixed_gpus[t] : 0;
        }
    }
    for (int32_t t = 0; t < v->slots; t++) {
        sum += curve_at(v, t, w->load_kw[t]);
    }
    for (int32_t j = 0; j < v->jobs; j++) {
        const int32_t end = host->should_stop(host->user) ? -1 : cheapest_path(w, v->job[j]);
        if (end < 0) {
            snprintf(result->message, sizeof result->message, "no room left for job %d", j);
            return INFINITY;
        }
        sum += w->cost[end * (v->job[j]->segments + 1) + v->job[j]->segments];
        take_path(w, j, end, result->plan);
    }
    return sum;
}

#endif
