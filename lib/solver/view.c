/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Reading the path view: indices, moves, curves, plans. */
#include "solver/solver.h"

#include <math.h>
#include <string.h>

size_t ckpd__edge_index(const ckpd_path_view *view, const ckpd_path_job *job, int32_t move,
                        int32_t slot, int32_t segment)
{
    return ((size_t)move * (size_t)view->slots + (size_t)slot) * (size_t)job->segments +
           (size_t)segment;
}

size_t ckpd__node_index(const ckpd_path_view *view, const ckpd_path_job *job, int32_t state,
                        int32_t slot, int32_t segment)
{
    return ((size_t)state * ((size_t)view->slots + 1) + (size_t)slot) *
               ((size_t)job->segments + 1) +
           (size_t)segment;
}

int32_t ckpd__move_state(const ckpd_path_job *job, int32_t move)
{
    return job->transition != NULL ? 1 + job->move_mode[move] : 0;
}

bool ckpd__move_exists(const ckpd_path_view *view, const ckpd_path_job *job, int32_t move,
                       int32_t state, int32_t slot, int32_t segment)
{
    int32_t length = job->move_slots[move], segments = job->move_segments[move];
    if (length > job->deadline - slot || segments > job->segments - segment) {
        return false;
    }
    if (job->transition != NULL) {
        int32_t move_class = job->move_class != NULL ? job->move_class[move] : 1;
        size_t pair = (size_t)state * (size_t)job->modes + (size_t)job->move_mode[move];
        if (job->transition[pair] == 0 || job->transition[pair] != move_class) {
            return false;
        }
    }
    if (job->edge_closed != NULL &&
        job->edge_closed[ckpd__edge_index(view, job, move, slot, segment)]) {
        return false;
    }
    return job->node_open[ckpd__node_index(view, job, state, slot, segment)] &&
           job->node_open[ckpd__node_index(view, job, ckpd__move_state(job, move), slot + length,
                                           segment + segments)];
}

double ckpd__move_power(const ckpd_path_job *job, int32_t move, int32_t i)
{
    bool last = i == job->move_slots[move] - 1;
    return last && job->move_last_kw != NULL ? job->move_last_kw[move]
                                             : job->mode_power_kw[job->move_mode[move]];
}

double ckpd__curve_cost(const ckpd_path_view *view, int32_t slot, double x_kw)
{
    const double *x = view->curve_x_kw, *cost = view->curve_cost;
    int64_t first = view->curve_start[slot], last = view->curve_start[slot + 1] - 1;
    double slack = ckpd__tolerance(fmax(fabs(x[first]), fabs(x[last])));
    if (!(x_kw >= x[first] - slack && x_kw <= x[last] + slack)) {
        return INFINITY;
    }
    if (x_kw <= x[first]) {
        return cost[first];
    }
    if (x_kw >= x[last]) {
        return cost[last];
    }
    while (last - first > 1) {
        int64_t middle = first + (last - first) / 2;
        if (x[middle] <= x_kw) {
            first = middle;
        } else {
            last = middle;
        }
    }
    return cost[first] + (cost[last] - cost[first]) * ((x_kw - x[first]) / (x[last] - x[first]));
}

double ckpd__soc_low(const ckpd_path_storage *storage, int32_t boundary)
{
    return storage->soc_floor_kwh != NULL ? storage->soc_floor_kwh[boundary] : storage->soc_min_kwh;
}

double ckpd__soc_end_cost(const ckpd_path_storage *storage, double soc_kwh)
{
    double missing = storage->soc_end_kwh - soc_kwh;
    return storage->end_short_cost_per_kwh * fmax(0, missing) +
           storage->end_over_cost_per_kwh * fmax(0, -missing) -
           storage->end_value_per_kwh * soc_kwh;
}

bool ckpd__has_soft_caps(const ckpd_path_view *view)
{
    return view->load_soft_kw != NULL || view->gpu_soft != NULL;
}

double ckpd__soft_cost(const ckpd_path_view *view, int32_t slot, double load_kw, double gpus)
{
    double cost = 0;
    if (view->load_soft_kw != NULL && load_kw > view->load_soft_kw[slot]) {
        cost += view->load_over_cost[slot] * (load_kw - view->load_soft_kw[slot]);
    }
    if (view->gpu_soft != NULL && gpus > view->gpu_soft[slot]) {
        cost += view->gpu_over_cost[slot] * (gpus - view->gpu_soft[slot]);
    }
    return cost;
}

/* --- plans ------------------------------------------------------------------------------------ */

static bool has_slotwise(const ckpd_path_view *view)
{
    for (int32_t j = 0; j < view->jobs; j++) {
        if (view->job[j]->kind == CKPD_JOB_SLOTWISE) {
            return true;
        }
    }
    return false;
}

void ckpd__plan_free(ckpd_context *context, ckpd_path_plan *plan)
{
    ckpd__free(context, plan->step_count);
    ckpd__free(context, plan->step_slot);
    ckpd__free(context, plan->step_move);
    ckpd__free(context, plan->slot_mode);
    ckpd__free(context, plan->charge_kw);
    ckpd__free(context, plan->discharge_kw);
    *plan = (ckpd_path_plan){.size = sizeof *plan};
}

int32_t ckpd__plan_new(ckpd_context *context, const ckpd_path_view *view, ckpd_path_plan *plan)
{
    size_t jobs = (size_t)view->jobs, cells = jobs * (size_t)view->slots;
    *plan = (ckpd_path_plan){.size = sizeof *plan};
    plan->step_count = ckpd__calloc(context, jobs, sizeof(int32_t));
    plan->step_slot = ckpd__calloc(context, cells, sizeof(int32_t));
    plan->step_move = ckpd__calloc(context, cells, sizeof(int32_t));
    bool complete = plan->step_count != NULL && plan->step_slot != NULL && plan->step_move != NULL;
    if (complete && has_slotwise(view)) {
        plan->slot_mode = ckpd__calloc(context, cells, sizeof(int32_t));
        complete = plan->slot_mode != NULL;
    }
    if (complete && view->storage != NULL) {
        plan->charge_kw = ckpd__calloc(context, (size_t)view->slots, sizeof(double));
        plan->discharge_kw = ckpd__calloc(context, (size_t)view->slots, sizeof(double));
        complete = plan->charge_kw != NULL && plan->discharge_kw != NULL;
    }
    if (!complete) {
        ckpd__plan_free(context, plan);
        return CKPD_ERR_NO_MEMORY;
    }
    return CKPD_OK;
}

void ckpd__plan_copy(const ckpd_path_view *view, ckpd_path_plan *to, const ckpd_path_plan *from)
{
    size_t jobs = (size_t)view->jobs, slots = (size_t)view->slots, cells = jobs * slots;
    if (jobs > 0) { /* without jobs a caller has no arrays */
        memcpy(to->step_count, from->step_count, jobs * sizeof(int32_t));
        memcpy(to->step_slot, from->step_slot, cells * sizeof(int32_t));
        memcpy(to->step_move, from->step_move, cells * sizeof(int32_t));
    }
    if (to->slot_mode != NULL && from->slot_mode != NULL) {
        memcpy(to->slot_mode, from->slot_mode, cells * sizeof(int32_t));
    }
    if (to->charge_kw != NULL && from->charge_kw != NULL && from->discharge_kw != NULL) {
        memcpy(to->charge_kw, from->charge_kw, slots * sizeof(double));
        memcpy(to->discharge_kw, from->discharge_kw, slots * sizeof(double));
    }
}
