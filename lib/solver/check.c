/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Answers of backends are recomputed from the view alone before they are believed. */
#include "solver/solver.h"

#include <math.h>
#include <string.h>

double ckpd__tolerance(double largest_term)
{
    return 1e-6 * fmax(1, fabs(largest_term));
}

/* --- MILP points ------------------------------------------------------------------------------ */

/* `told` is the context that hears of an error, NULL for none. */
static int32_t check_columns(ckpd_context *told, const ckpd_milp_view *view, const double *x)
{
    for (int32_t j = 0; j < view->columns; j++) {
        if (!isfinite(x[j])) {
            return ckpd__fail(told, CKPD_ERR_VERIFY, "x", j, x[j],
                              "value of column %d is not finite", j);
        }
        double slack = ckpd__tolerance(x[j]);
        if (x[j] < view->lower[j] - slack || x[j] > view->upper[j] + slack) {
            return ckpd__fail(told, CKPD_ERR_VERIFY, "x", j, x[j],
                              "value %g of column %d is outside %g..%g", x[j], j, view->lower[j],
                              view->upper[j]);
        }
        if (view->integer != NULL && view->integer[j] && fabs(x[j] - round(x[j])) > 1e-6) {
            return ckpd__fail(told, CKPD_ERR_VERIFY, "x", j, x[j],
                              "value %g of integer column %d is fractional", x[j], j);
        }
    }
    return CKPD_OK;
}

int32_t ckpd__milp_point_check(ckpd_context *context, const ckpd_milp_view *view, const double *x,
                               double *objective, bool quiet)
{
    ckpd_context *told = quiet ? NULL : context;
    int32_t status = check_columns(told, view, x);
    if (status != CKPD_OK) {
        return status;
    }
    double *activity = ckpd__calloc(context, (size_t)view->rows, 2 * sizeof(double));
    if (activity == NULL) {
        return ckpd__no_memory(context);
    }
    double *largest = activity + view->rows, total = view->offset;
    for (int32_t j = 0; j < view->columns; j++) {
        total += view->cost[j] * x[j];
        for (int64_t k = view->start[j]; k < view->start[j + 1]; k++) {
            double term = view->value[k] * x[j];
            activity[view->index[k]] += term;
            largest[view->index[k]] = fmax(largest[view->index[k]], fabs(term));
        }
    }
    for (int32_t i = 0; status == CKPD_OK && i < view->rows; i++) {
        double low = view->row_lower[i], high = view->row_upper[i];
        double size =
            fmax(largest[i], fmax(isfinite(low) ? fabs(low) : 0, isfinite(high) ? fabs(high) : 0));
        double slack = ckpd__tolerance(size);
        if (activity[i] < low - slack || activity[i] > high + slack) {
            status =
                ckpd__fail(told, CKPD_ERR_VERIFY, "row", i, activity[i],
                           "activity %g of row %d is outside %g..%g", activity[i], i, low, high);
        }
    }
    ckpd__free(context, activity);
    if (status == CKPD_OK) {
        *objective = total;
    }
    return status;
}

/* --- what is claimed and what is proven ------------------------------------------------------- */

void ckpd__say_claimed(ckpd_context *context, const char *backend, double bound, char *message,
                       size_t size)
{
    char text[160];
    ckpd__format(text, sizeof text, "optimal as \"%s\" claims, with bound %g; not proven", backend,
                 bound);
    ckpd__log(context, CKPD_LOG_INFO, CKPD_MSG_VERIFY, "%s", text);
    if (message[0] == '\0') {
        ckpd__format(message, size, "%s", text);
    }
}

/* Lowest of price * v for v in low..high; a price of rounding on an open side counts as none. */
static double lowest(double price, double size, double low, double high)
{
    double end = price > 0 ? low : high;
    if (isfinite(end)) {
        return price * end;
    }
    return fabs(price) <= 1e-9 * fmax(1, size) ? 0 : -INFINITY;
}

double ckpd__lp_bound(const ckpd_milp_view *view, const double *row_dual)
{
    double bound = view->offset;
    for (int32_t i = 0; i < view->rows; i++) {
        double price = row_dual[i], end = price > 0 ? view->row_lower[i] : view->row_upper[i];
        if (isnan(price)) {
            return -INFINITY;
        }
        bound += isfinite(end) ? price * end : 0;
    }
    for (int32_t j = 0; j < view->columns; j++) {
        double price = view->cost[j], size = fabs(price);
        for (int64_t k = view->start[j]; k < view->start[j + 1]; k++) {
            int32_t i = view->index[k];
            double y = row_dual[i];
            /* A dual on an open side proves nothing: left out in both sums. */
            if (isfinite(y > 0 ? view->row_lower[i] : view->row_upper[i])) {
                price -= view->value[k] * y;
                size = fmax(size, fabs(view->value[k] * y));
            }
        }
        bound += lowest(price, size, view->lower[j], view->upper[j]);
    }
    return isnan(bound) ? -INFINITY : bound;
}

/* --- path plans ------------------------------------------------------------------------------- */

typedef struct walk {
    ckpd_context *told; /* hears of an error, NULL for none */
    const ckpd_path_view *view;
    const ckpd_path_plan *plan;
    double *it_kw, *gpus; /* [slots] */
    double cost;
} walk;

static int32_t job_error(const walk *w, int32_t j, int32_t slot, const char *what)
{
    const char *name = w->view->job[j]->name;
    return ckpd__fail(w->told, CKPD_ERR_VERIFY, "job", j, slot, "job %d \"%s\", slot %d: %s", j,
                      name != NULL ? name : "", slot, what);
}

static int32_t walk_wait(const walk *w, int32_t j, int32_t state, int32_t from, int32_t to,
                         int32_t segment)
{
    const ckpd_path_job *job = w->view->job[j];
    if (to > from && !job->may_wait) {
        return job_error(w, j, from, "waits although it may not");
    }
    for (int32_t t = from; t <= to; t++) {
        if (!job->node_open[ckpd__node_index(w->view, job, state, t, segment)]) {
            return job_error(w, j, t, "path leaves the open nodes");
        }
    }
    return CKPD_OK;
}

static int32_t walk_path(walk *w, int32_t j)
{
    const ckpd_path_view *view = w->view;
    const ckpd_path_job *job = view->job[j];
    int32_t state = job->source_state, t = job->source_slot, k = job->source_segment;
    size_t row = (size_t)j * (size_t)view->slots;
    int32_t count = w->plan->step_count[j];
    if (count < 0 || count > view->slots) {
        return job_error(w, j, t, "number of steps is out of range");
    }
    for (int32_t i = 0; i < count; i++) {
        int32_t slot = w->plan->step_slot[row + (size_t)i];
        int32_t move = w->plan->step_move[row + (size_t)i];
        if (slot < t || slot >= job->deadline || move < 0 || move >= job->moves) {
            return job_error(w, j, slot, "step is out of order or unknown");
        }
        int32_t status = walk_wait(w, j, state, t, slot, k);
        if (status != CKPD_OK) {
            return status;
        }
        if (!ckpd__move_exists(view, job, move, state, slot, k)) {
            return job_error(w, j, slot, "takes a move that does not exist");
        }
        if (job->edge_cost != NULL) {
            w->cost += job->edge_cost[ckpd__edge_index(view, job, move, slot, k)];
        }
        for (int32_t s = 0; s < job->move_slots[move]; s++) {
            w->it_kw[slot + s] += ckpd__move_power(job, move, s);
            w->gpus[slot + s] += job->mode_gpus[job->move_mode[move]];
        }
        t = slot + job->move_slots[move];
        k += job->move_segments[move];
        state = ckpd__move_state(job, move);
    }
    if (k != job->segments || !job->node_open[ckpd__node_index(view, job, state, t, k)]) {
        return job_error(w, j, t, "path does not complete the job");
    }
    return CKPD_OK;
}

static int32_t walk_slotwise(walk *w, int32_t j)
{
    const ckpd_path_view *view = w->view;
    const ckpd_path_job *job = view->job[j];
    double work = 0;
    for (int32_t t = 0; t < view->slots; t++) {
        int32_t mode = w->plan->slot_mode[(size_t)j * (size_t)view->slots + (size_t)t];
        if (mode < -1 || mode >= job->modes ||
            (mode >= 0 && (t < job->source_slot || t >= job->deadline))) {
            return job_error(w, j, t, "runs a mode that is not allowed here");
        }
        if (mode >= 0) {
            work += job->mode_work_per_slot[mode];
            w->it_kw[t] += job->mode_power_kw[mode];
            w->gpus[t] += job->mode_gpus[mode];
        }
    }
    /* The 1e-9 relaxation is in work_required; what is left here is the rounding of the sum. */
    if (work < job->work_required - 1e-12 * fabs(job->work_required)) {
        return job_error(w, j, job->deadline, "does not reach its work");
    }
    return CKPD_OK;
}

static int32_t slot_error(const walk *w, int32_t t, const char *field, double value, double limit)
{
    return ckpd__fail(w->told, CKPD_ERR_VERIFY, field, t, value,
                      "slot %d: %s %g is beyond the limit %g", t, field, value, limit);
}

static int32_t check_storage_slot(const walk *w, int32_t t, double *soc)
{
    const ckpd_path_storage *s = w->view->storage;
    double h = w->view->slot_hours, charge = w->plan->charge_kw[t],
           discharge = w->plan->discharge_kw[t];
    if (!(charge >= 0 && charge <= s->charge_max_kw + ckpd__tolerance(s->charge_max_kw))) {
        return slot_error(w, t, "charge_kw", charge, s->charge_max_kw);
    }
    if (!(discharge >= 0 &&
          discharge <= s->discharge_max_kw + ckpd__tolerance(s->discharge_max_kw))) {
        return slot_error(w, t, "discharge_kw", discharge, s->discharge_max_kw);
    }
    if (charge > 0 && discharge > 0) {
        return slot_error(w, t, "discharge while charging, kW", fmin(charge, discharge), 0);
    }
    *soc = *soc * s->retention + s->eta_charge * charge * h - discharge * h / s->eta_discharge;
    double slack = ckpd__tolerance(s->soc_max_kwh);
    double low = ckpd__soc_low(s, t + 1);
    if (*soc < low - slack) {
        return slot_error(w, t, "soc_kwh", *soc, low);
    }
    if (*soc > s->soc_max_kwh + slack) {
        return slot_error(w, t, "soc_kwh", *soc, s->soc_max_kwh);
    }
    return CKPD_OK;
}

static int32_t check_terminal(const walk *w, double soc)
{
    const ckpd_path_storage *s = w->view->storage;
    double slack = ckpd__tolerance(s->soc_max_kwh), miss = s->soc_end_kwh - soc;
    if ((s->terminal == CKPD_TERMINAL_EQUAL && fabs(miss) > slack) ||
        (s->terminal == CKPD_TERMINAL_AT_LEAST && miss > slack)) {
        return slot_error(w, w->view->slots, "final soc_kwh", soc, s->soc_end_kwh);
    }
    return CKPD_OK;
}

static int32_t check_slot(walk *w, int32_t t, double *soc, ckpd__path_series *series)
{
    const ckpd_path_view *view = w->view;
    double load = view->base_load_kw[t] + view->load_factor[t] * w->it_kw[t], net = load;
    if (load > view->load_cap_kw[t] + ckpd__tolerance(view->load_cap_kw[t])) {
        return slot_error(w, t, "load_kw", load, view->load_cap_kw[t]);
    }
    if (w->gpus[t] > view->gpu_cap[t] * (1 + 1e-12)) {
        return slot_error(w, t, "gpus", w->gpus[t], view->gpu_cap[t]);
    }
    if (view->storage != NULL) {
        int32_t status = check_storage_slot(w, t, soc);
        if (status != CKPD_OK) {
            return status;
        }
        double charge = w->plan->charge_kw[t], discharge = w->plan->discharge_kw[t];
        net += charge - discharge;
        w->cost += view->slot_hours * view->storage->throughput_cost_per_kwh * (charge + discharge);
    }
    double cost = ckpd__curve_cost(view, t, net);
    if (!isfinite(cost)) {
        return slot_error(w, t, "net_kw", net,
                          net < view->curve_x_kw[view->curve_start[t]]
                              ? view->curve_x_kw[view->curve_start[t]]
                              : view->curve_x_kw[view->curve_start[t + 1] - 1]);
    }
    w->cost += cost + ckpd__soft_cost(view, t, load, w->gpus[t]);
    if (series != NULL) {
        series->load_kw[t] = load;
        series->net_kw[t] = net;
        series->gpus[t] = w->gpus[t];
        if (series->soc_kwh != NULL) {
            series->soc_kwh[t + 1] = *soc;
        }
    }
    return CKPD_OK;
}

static int32_t check_walk(walk *w, ckpd__path_series *series)
{
    const ckpd_path_view *view = w->view;
    int32_t status = CKPD_OK;
    for (int32_t j = 0; status == CKPD_OK && j < view->jobs; j++) {
        const ckpd_path_job *job = view->job[j];
        for (int32_t t = 0; t < view->slots; t++) {
            w->it_kw[t] += job->fixed_power_kw != NULL ? job->fixed_power_kw[t] : 0;
            w->gpus[t] += job->fixed_gpus != NULL ? job->fixed_gpus[t] : 0;
        }
        status = job->kind == CKPD_JOB_PATHS ? walk_path(w, j) : walk_slotwise(w, j);
    }
    double soc = view->storage != NULL ? view->storage->soc_start_kwh : 0;
    if (series != NULL && series->soc_kwh != NULL) {
        series->soc_kwh[0] = soc;
    }
    for (int32_t t = 0; status == CKPD_OK && t < view->slots; t++) {
        status = check_slot(w, t, &soc, series);
    }
    if (status == CKPD_OK && view->storage != NULL) {
        w->cost += ckpd__soc_end_cost(view->storage, soc);
        status = check_terminal(w, soc);
    }
    return status;
}

int32_t ckpd__path_plan_check(ckpd_context *context, const ckpd_path_view *view,
                              const ckpd_path_plan *plan, double *objective,
                              ckpd__path_series *series, bool quiet)
{
    walk w = {
        .told = quiet ? NULL : context, .view = view, .plan = plan, .cost = view->cost_offset};
    w.it_kw = ckpd__calloc(context, (size_t)view->slots, 2 * sizeof(double));
    if (w.it_kw == NULL) {
        return ckpd__no_memory(context);
    }
    w.gpus = w.it_kw + view->slots;
    int32_t status = check_walk(&w, series);
    ckpd__free(context, w.it_kw);
    if (status == CKPD_OK) {
        *objective = w.cost;
    }
    return status;
}
