/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/primal.h"

#include <math.h>
#include <string.h>

bool ckpd__nat_plan_init(nat_plan *plan, nat_memory *memory, const nat_model *model)
{
    plan->path = ckpd__nat_alloc(memory, (size_t)model->jobs, sizeof *plan->path);
    plan->draw = ckpd__nat_alloc(memory, (size_t)model->slots, sizeof *plan->draw);
    plan->cost = (double)INFINITY;
    if (!plan->path || !plan->draw)
        return false;
    for (int32_t j = 0; j < model->jobs; j++)
        if (!ckpd__nat_path_init(&plan->path[j], memory, model->slots))
            return false;
    return true;
}

void ckpd__nat_plan_copy(const nat_model *model, nat_plan *to, const nat_plan *from)
{
    for (int32_t j = 0; j < model->jobs; j++)
        ckpd__nat_path_copy(&to->path[j], &from->path[j], model->slots);
    memcpy(to->draw, from->draw, (size_t)model->slots * sizeof *to->draw);
    to->cost = from->cost;
}

void ckpd__nat_plan_write(const nat_model *model, const nat_plan *plan, ckpd_path_plan *out)
{
    size_t T = (size_t)model->slots;
    for (int32_t j = 0; j < model->jobs; j++) {
        const nat_path *path = &plan->path[j];
        out->step_count[j] = path->steps;
        for (int32_t i = 0; i < path->steps; i++) {
            out->step_slot[(size_t)j * T + (size_t)i] = path->slot[i];
            out->step_move[(size_t)j * T + (size_t)i] = model->job[j].move[path->move[i]].index;
        }
        for (size_t t = 0; out->slot_mode && t < T; t++)
            out->slot_mode[(size_t)j * T + t] = -1;
    }
    for (size_t t = 0; model->storage && t < T; t++) {
        out->charge_kw[t] = fmax(plan->draw[t], 0);
        out->discharge_kw[t] = fmax(-plan->draw[t], 0);
    }
}

void ckpd__nat_primal_keep(nat_primal *primal, const nat_plan *plan, double bound)
{
    const nat_model *model = primal->model;
    const ckpd_host *host = primal->host;
    size_t J = (size_t)model->jobs, T = (size_t)model->slots;
    nat_memory memory = {.host = host};
    if (!host->keep_plan || !(plan->cost < primal->kept))
        return;
    int32_t *numbers = ckpd__nat_alloc(&memory, J + 2 * J * T, sizeof *numbers);
    double *draws = ckpd__nat_alloc(&memory, 2 * T, sizeof *draws);
    if (numbers && draws) {
        ckpd_path_plan out = {.size = sizeof out,
                              .step_count = numbers,
                              .step_slot = numbers + J,
                              .step_move = numbers + J + J * T,
                              .charge_kw = model->storage ? draws : NULL,
                              .discharge_kw = model->storage ? draws + T : NULL};
        ckpd__nat_plan_write(model, plan, &out);
        host->keep_plan(&out, bound, host->user);
        primal->kept = plan->cost;
    }
    ckpd__nat_release(&memory);
}

/* More than soft caps can cost in a slot: every job at its largest. */
static double soft_ceiling(const nat_model *model, int32_t t)
{
    double gpus = 0, kw = 0;
    for (int32_t j = 0; j < model->jobs; j++) {
        double most_gpus = 0, most_kw = 0;
        for (int32_t a = 0; a < model->job[j].activities; a++) {
            most_gpus = fmax(most_gpus, model->job[j].gpus[a]);
            most_kw = fmax(most_kw, model->job[j].kw[a]);
        }
        gpus += most_gpus;
        kw += most_kw;
    }
    return ckpd__nat_soft(model, t, gpus, nat_load(model, t, kw));
}

double ckpd__nat_cost_ceiling(const nat_model *model)
{
    const ckpd_path_view *view = model->view;
    double ceiling = fabs(view->cost_offset);
    for (int32_t t = 0; t < model->slots; t++) {
        double most = view->curve_cost[view->curve_start[t]];
        for (int64_t i = view->curve_start[t] + 1; i < view->curve_start[t + 1]; i++)
            most = view->curve_cost[i] > most ? view->curve_cost[i] : most;
        ceiling += most + soft_ceiling(model, t);
    }
    for (int32_t j = 0; j < model->jobs; j++) {
        const ckpd_path_job *in = view->job[j];
        size_t edges = (size_t)in->moves * (size_t)model->slots * (size_t)in->segments;
        double most = 0;
        for (size_t i = 0; in->edge_cost && i < edges; i++)
            most = in->edge_cost[i] > most ? in->edge_cost[i] : most;
        ceiling += most * (in->segments < model->slots ? in->segments : model->slots);
    }
    if (model->storage) {
        const ckpd_path_storage *s = model->storage;
        ceiling += fmax(s->charge_max_kw, s->discharge_max_kw) * view->slot_hours * model->slots *
                   fabs(s->throughput_cost_per_kwh);
        ceiling +=
            (fabs(s->end_value_per_kwh) + s->end_short_cost_per_kwh + s->end_over_cost_per_kwh) *
            fabs(fmax(s->soc_max_kwh, s->soc_end_kwh));
    }
    return ceiling + 1 + 1e-6 * fabs(ceiling);
}

/* Curvature that bends the cost of a slot as much as its kinks do: range of slopes over range of
 * power. */
static double pull_unit(const nat_model *model)
{
    const ckpd_path_view *view = model->view;
    double range = 0, most_kw = 0;
    for (int32_t t = 0; t < model->slots; t++) {
        double low = (double)INFINITY, high = -(double)INFINITY;
        for (int64_t i = view->curve_start[t]; i + 1 < view->curve_start[t + 1]; i++) {
            double slope = (view->curve_cost[i + 1] - view->curve_cost[i]) /
                           (view->curve_x_kw[i + 1] - view->curve_x_kw[i]) * view->load_factor[t];
            low = fmin(low, slope);
            high = fmax(high, slope);
        }
        range += high > low ? (high - low) / model->slots : 0;
    }
    for (int32_t j = 0; j < model->jobs; j++) {
        double own = 0;
        for (int32_t a = 0; a < model->job[j].activities; a++)
            own = fmax(own, model->job[j].kw[a]);
        most_kw += own;
    }
    return most_kw > 0 ? 2 * range / most_kw : 0;
}

/* More than any two plans can differ by; positive also where every plan earns money. */
static double most_difference(const nat_model *model)
{
    const ckpd_path_view *view = model->view;
    double most = fmax(ckpd__nat_cost_ceiling(model), 1);
    for (int32_t t = 0; t < model->slots; t++) {
        double least = 0;
        for (int64_t i = view->curve_start[t]; i < view->curve_start[t + 1]; i++)
            least = fmin(least, view->curve_cost[i]);
        most -= least;
    }
    for (int32_t j = 0; j < model->jobs; j++) {
        const ckpd_path_job *in = view->job[j];
        size_t edges = (size_t)in->moves * (size_t)model->slots * (size_t)in->segments;
        double least = 0;
        for (size_t i = 0; in->edge_cost && i < edges; i++)
            least = fmin(least, in->edge_cost[i]);
        most -= least * (in->segments < model->slots ? in->segments : model->slots);
    }
    return most;
}

bool ckpd__nat_primal_init(nat_primal *primal, nat_memory *memory, const nat_model *model)
{
    size_t T = (size_t)model->slots;
    *primal = (nat_primal){.model = model,
                           .penalty = most_difference(model),
                           .kept = (double)INFINITY,
                           .host = memory->host};
    primal->price = ckpd__nat_alloc(memory, (size_t)model->activities * T, sizeof *primal->price);
    primal->kw = ckpd__nat_alloc(memory, T, sizeof *primal->kw);
    primal->gpus = ckpd__nat_alloc(memory, T, sizeof *primal->gpus);
    primal->worth = ckpd__nat_alloc(memory, T, sizeof *primal->worth);
    primal->target = ckpd__nat_alloc(memory, T, sizeof *primal->target);
    primal->pull_unit = pull_unit(model);
    primal->load = ckpd__nat_alloc(memory, T, sizeof *primal->load);
    primal->found_worth = ckpd__nat_alloc(memory, T, sizeof *primal->found_worth);
    return primal->price && primal->kw && primal->gpus && primal->worth && primal->load &&
           primal->target && primal->found_worth &&
           ckpd__nat_path_work_init(&primal->path_work, memory, model) &&
           (!model->storage || ckpd__nat_dispatch_init(&primal->dispatch, memory, model));
}

void ckpd__nat_primal_free(nat_primal *primal)
{
    if (primal->dispatch.model)
        ckpd__nat_dispatch_free(&primal->dispatch);
}

/* --- cost ----------------------------------------------------------------------------------------
 */

void ckpd__nat_primal_add(nat_primal *primal, int32_t j, const nat_path *path, double sign)
{
    const nat_job *job = &primal->model->job[j];
    for (int32_t t = 0; t < primal->model->slots; t++) {
        primal->kw[t] += sign * job->kw[path->activity[t]];
        primal->gpus[t] += sign * job->gpus[path->activity[t]];
    }
}

void ckpd__nat_primal_sum(nat_primal *primal, const nat_plan *plan)
{
    memset(primal->kw, 0, (size_t)primal->model->slots * sizeof *primal->kw);
    memset(primal->gpus, 0, (size_t)primal->model->slots * sizeof *primal->gpus);
    for (int32_t j = 0; j < primal->model->jobs; j++)
        ckpd__nat_primal_add(primal, j, &plan->path[j], 1);
}

/* A stop may come before a job has any path at all: that is no plan, however cheap. */
static bool completes(const nat_job *job, const nat_path *path)
{
    int32_t done = job->source_segment;
    for (int32_t i = 0; i < path->steps; i++)
        done += job->move[path->move[i]].segments;
    return done == job->segments;
}

double ckpd__nat_primal_cost(nat_primal *primal, nat_plan *plan)
{
    const nat_model *model = primal->model;
    double cost = model->view->cost_offset;
    for (int32_t j = 0; j < model->jobs; j++)
        if (!completes(&model->job[j], &plan->path[j]))
            return plan->cost = (double)INFINITY;
    ckpd__nat_primal_sum(primal, plan);
    for (int32_t t = 0; t < model->slots; t++) {
        if (!ckpd__nat_fits(model, t, primal->gpus[t], primal->kw[t]))
            return plan->cost = (double)INFINITY;
        primal->load[t] = nat_load(model, t, primal->kw[t]);
        cost += model->storage ? 0 : ckpd__nat_curve(model, t, primal->load[t]);
        cost += ckpd__nat_soft(model, t, primal->gpus[t], primal->load[t]);
    }
    if (model->storage)
        cost += ckpd__nat_dispatch_solve(&primal->dispatch, primal->load, plan->draw,
                                         primal->found_worth);
    for (int32_t j = 0; j < model->jobs; j++)
        cost += ckpd__nat_path_edge_cost(model, &model->job[j], &plan->path[j]);
    return plan->cost = cost;
}

/* --- one job after the other
 * ------------------------------------------------------------------------ */

double ckpd__nat_primal_slot(const nat_primal *primal, int32_t t, double gpus, double kw)
{
    const nat_model *model = primal->model;
    double load = nat_load(model, t, kw), draw, cost = (double)INFINITY;
    if (ckpd__nat_fits(model, t, gpus, kw) && primal->held)
        cost = ckpd__nat_curve(model, t, load + primal->held[t]);
    else if (ckpd__nat_fits(model, t, gpus, kw))
        cost = model->storage ? ckpd__nat_storage_slot(model, t, load, primal->worth[t], &draw)
                              : ckpd__nat_curve(model, t, load);
    if (cost < (double)INFINITY)
        return cost + ckpd__nat_soft(model, t, gpus, load);
    return primal->penalty * (1 + fabs(gpus) + fabs(load));
}

static void price_job(nat_primal *primal, int32_t j)
{
    const nat_model *model = primal->model;
    const nat_job *job = &model->job[j];
    for (int32_t a = 0; a < job->activities; a++)
        for (int32_t t = 0; t < model->slots; t++) {
            double kw = primal->kw[t] + job->kw[a], off = kw - primal->target[t];
            primal->price[(size_t)a * (size_t)model->slots + (size_t)t] =
                ckpd__nat_primal_slot(primal, t, primal->gpus[t] + job->gpus[a], kw) +
                primal->pull * off * off;
        }
}

double ckpd__nat_primal_descend(nat_primal *primal, nat_plan *plan, int32_t passes)
{
    const nat_model *model = primal->model;
    double last = (double)INFINITY;
    ckpd__nat_primal_sum(primal, plan);
    for (int32_t pass = 0; pass < passes; pass++) {
        double value = 0;
        for (int32_t j = 0; j < model->jobs; j++) {
            if (primal->stop == 0 && primal->host->should_stop)
                primal->stop = primal->host->should_stop(primal->host->user);
            if (primal->stop)
                return ckpd__nat_primal_cost(primal, plan);
            ckpd__nat_primal_add(primal, j, &plan->path[j], -1);
            price_job(primal, j);
            value = ckpd__nat_path_solve(&primal->path_work, model, &model->job[j], primal->price,
                                         NULL);
            if (!(value < (double)INFINITY))
                return plan->cost = value;
            ckpd__nat_path_trace(&primal->path_work, model, &model->job[j], &plan->path[j]);
            ckpd__nat_primal_add(primal, j, &plan->path[j], 1);
        }
        if (model->jobs == 1 || !(value < last - 1e-12 * fabs(last)))
            break;
        last = value;
    }
    return ckpd__nat_primal_cost(primal, plan);
}

/* --- a plan to start from ----------------------------------------------------------------------
 */

/* Price 1 for whatever a job does not do in its steps. */
static bool price_steps(nat_primal *primal, int32_t j)
{
    const nat_model *model = primal->model;
    const nat_job *job = &model->job[j];
    const ckpd_path_job *in = job->in;
    const ckpd_path_plan *start = model->view->start;
    size_t T = (size_t)model->slots;
    double *price = primal->price;
    for (size_t i = 0; i < (size_t)job->activities * T; i++)
        price[i] = i < T ? 0 : 1;
    for (int32_t i = 0; i < start->step_count[j] && (size_t)i < T; i++) {
        int32_t move = start->step_move[(size_t)j * T + (size_t)i],
                t = start->step_slot[(size_t)j * T + (size_t)i];
        if (move < 0 || move >= in->moves || t < 0)
            return false;
        int32_t a = ckpd__nat_activity(job, in->mode_gpus[in->move_mode[move]],
                                       in->mode_power_kw[in->move_mode[move]]);
        for (int32_t n = 0; a >= 0 && n < in->move_slots[move] && (size_t)t + (size_t)n < T; n++) {
            price[(size_t)a * T + (size_t)t + (size_t)n] = 0;
            price[(size_t)t + (size_t)n] = 1;
        }
    }
    return true;
}

bool ckpd__nat_primal_start(nat_primal *primal, nat_plan *plan)
{
    const nat_model *model = primal->model;
    const ckpd_path_plan *start = model->view->start;
    if (!start || !start->step_count || !start->step_slot || !start->step_move)
        return false;
    for (int32_t j = 0; j < model->jobs; j++) {
        const nat_job *job = &model->job[j];
        if (primal->stop == 0 && primal->host->should_stop)
            primal->stop = primal->host->should_stop(primal->host->user);
        if (primal->stop || !price_steps(primal, j))
            return false;
        if (!(ckpd__nat_path_solve(&primal->path_work, model, job, primal->price, NULL) <
              (double)INFINITY))
            return false;
        ckpd__nat_path_trace(&primal->path_work, model, job, &plan->path[j]);
    }
    return true;
}
