/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Of plans that cost the same a search returns any. Here the one becomes that an operator would
 * take: storage rests where its use saves nothing, pauses that save nothing are closed, and what
 * may start earlier at the same cost does. Every change is made only where it costs nothing, so the
 * plan stays as good as it was proven.
 */
#include "solver/solver.h"

#include <math.h>
#include <string.h>

/* Slots and nodes looked at by the trials of a pass: nobody can cancel it, so it takes no more than
 * some 20 ms. */
static const int64_t MOST_WORK = 1000000;

typedef struct tidy {
    const ckpd_path_view *view;
    ckpd_path_plan *plan;
    ckpd__path_series now; /* of the plan as it stands; net_kw is not kept up */
    double slack;          /* money that is rounding */
    int64_t work;          /* of the pass at hand */
    bool changed;
} tidy;

static double slot_cost(const tidy *d, int32_t t, double load, double gpus, double store)
{
    return ckpd__curve_cost(d->view, t, load + store) + ckpd__soft_cost(d->view, t, load, gpus);
}

static double stored(const tidy *d, int32_t t)
{
    return d->view->storage != NULL ? d->plan->charge_kw[t] - d->plan->discharge_kw[t] : 0;
}

/* --- storage ---------------------------------------------------------------------------------- */

/* Energy that both slots can do without; what is in store between them stays within its limits. */
static double common_energy(tidy *d, int32_t charged, int32_t drawn, double *kept)
{
    const ckpd_path_storage *s = d->view->storage;
    double h = d->view->slot_hours;
    int32_t first = charged < drawn ? charged : drawn, last = charged < drawn ? drawn : charged;
    double early = charged < drawn ? d->plan->charge_kw[charged] * s->eta_charge * h
                                   : d->plan->discharge_kw[drawn] * h / s->eta_discharge;
    double late = charged < drawn ? d->plan->discharge_kw[drawn] * h / s->eta_discharge
                                  : d->plan->charge_kw[charged] * s->eta_charge * h;
    double share = 1, most = early;
    for (int32_t t = first + 1; t <= last; t++) {
        double soc = d->now.soc_kwh[t];
        double room = charged < drawn ? soc - ckpd__soc_low(s, t) : s->soc_max_kwh - soc;
        most = fmin(most, fmax(room, 0) / share);
        share *= s->retention;
    }
    d->work += last - first;
    *kept = share; /* of an energy of the first slot in the last one */
    return fmin(most, late / share);
}

/* Both slots without the energy, where that costs nothing. */
static void cancel_cycle(tidy *d, int32_t charged, int32_t drawn)
{
    const ckpd_path_storage *s = d->view->storage;
    double h = d->view->slot_hours, kept = 1;
    double energy = common_energy(d, charged, drawn, &kept);
    if (!(energy > 0)) {
        return;
    }
    double less_charge = energy * (charged < drawn ? 1 : kept) / (s->eta_charge * h);
    double less_draw = energy * (charged < drawn ? kept : 1) * s->eta_discharge / h;
    double charge = fmax(0, d->plan->charge_kw[charged] - less_charge);
    double draw = fmax(0, d->plan->discharge_kw[drawn] - less_draw);
    charge = charge < 1e-9 * s->charge_max_kw ? 0 : charge; /* what rounding leaves of a whole */
    draw = draw < 1e-9 * s->discharge_max_kw ? 0 : draw;
    double more = 0;
    const int32_t slots[2] = {charged, drawn};
    const double stores[2] = {charge, -draw};
    for (int32_t i = 0; i < 2; i++) {
        int32_t t = slots[i];
        more += slot_cost(d, t, d->now.load_kw[t], d->now.gpus[t], stores[i]) -
                slot_cost(d, t, d->now.load_kw[t], d->now.gpus[t], stored(d, t)) +
                h * s->throughput_cost_per_kwh * (fabs(stores[i]) - fabs(stored(d, t)));
    }
    if (!(more <= d->slack)) {
        return;
    }
    d->plan->charge_kw[charged] = charge;
    d->plan->discharge_kw[drawn] = draw;
    double change = charged < drawn ? -energy : energy;
    for (int32_t t = (charged < drawn ? charged : drawn) + 1;
         t <= (charged < drawn ? drawn : charged); t++) {
        d->now.soc_kwh[t] += change;
        change *= s->retention;
    }
    d->changed = true;
}

static void rest_storage(tidy *d)
{
    enum { CHEAP = 16 /* a pair that is none costs far less than a slot of a trial */ };
    int32_t T = d->view->slots;
    d->work = 0;
    for (int32_t far = 1; far < T; far++) { /* the nearest pairs first */
        d->work += (T - far) / CHEAP;
        for (int32_t t = 0; t + far < T && d->work < MOST_WORK; t++) {
            if (d->plan->charge_kw[t] > 0 && d->plan->discharge_kw[t + far] > 0) {
                cancel_cycle(d, t, t + far);
            } else if (d->plan->discharge_kw[t] > 0 && d->plan->charge_kw[t + far] > 0) {
                cancel_cycle(d, t + far, t);
            }
        }
    }
}

/* --- paths ------------------------------------------------------------------------------------ */

/* Steps of a job that follow one another without a pause, and the nodes on both sides. */
typedef struct block {
    int32_t job, first, end;        /* steps first .. end - 1 */
    int32_t from, to;               /* slots from .. to - 1 */
    int32_t state, segment;         /* before it */
    int32_t end_state, end_segment; /* after it */
} block;

static size_t step_index(const tidy *d, int32_t job, int32_t step)
{
    return (size_t)job * (size_t)d->view->slots + (size_t)step;
}

/* The block that begins with a step at the given node. */
static block block_at(const tidy *d, int32_t j, int32_t first, int32_t state, int32_t segment)
{
    const ckpd_path_job *job = d->view->job[j];
    int32_t start = d->plan->step_slot[step_index(d, j, first)];
    block b = {j, first, first, start, start, state, segment, state, segment};
    while (b.end < d->plan->step_count[j] && d->plan->step_slot[step_index(d, j, b.end)] == b.to) {
        int32_t move = d->plan->step_move[step_index(d, j, b.end++)];
        b.to += job->move_slots[move];
        b.end_segment += job->move_segments[move];
        b.end_state = ckpd__move_state(job, move);
    }
    return b;
}

/* Takes the block's load out of the slots (sign -1) or puts it in, moved by `by` slots. */
static void put_load(tidy *d, const block *b, int32_t by, double sign)
{
    const ckpd_path_job *job = d->view->job[b->job];
    for (int32_t i = b->first; i < b->end; i++) {
        int32_t move = d->plan->step_move[step_index(d, b->job, i)];
        int32_t slot = d->plan->step_slot[step_index(d, b->job, i)] + by;
        for (int32_t n = 0; n < job->move_slots[move]; n++) {
            d->now.load_kw[slot + n] +=
                sign * d->view->load_factor[slot + n] * ckpd__move_power(job, move, n);
            d->now.gpus[slot + n] += sign * job->mode_gpus[job->move_mode[move]];
        }
    }
}

/* Cost of the slots from .. to - 1, infinity when a cap is passed. */
static double cost_of_slots(tidy *d, int32_t from, int32_t to)
{
    double cost = 0;
    for (int32_t t = from; t < to; t++) {
        double load = d->now.load_kw[t], cap = d->view->load_cap_kw[t];
        bool within = load <= cap * (1 + 1e-12) && d->now.gpus[t] <= d->view->gpu_cap[t];
        cost += within ? slot_cost(d, t, load, d->now.gpus[t], stored(d, t)) : (double)INFINITY;
    }
    d->work += to - from;
    return cost;
}

/* The same of the slots where the block stands now or would after the move. */
static double cost_around(tidy *d, const block *b, int32_t by)
{
    int32_t from = b->from + by, to = b->to + by;
    double cost = cost_of_slots(d, b->from, b->to);
    return cost + (by < 0 ? cost_of_slots(d, from, to < b->from ? to : b->from)
                          : cost_of_slots(d, from > b->to ? from : b->to, to));
}

static bool is_open(const tidy *d, const ckpd_path_job *job, int32_t state, int32_t t,
                    int32_t segment)
{
    return job->node_open[ckpd__node_index(d->view, job, state, t, segment)];
}

/* Cost of the block's edges when moved; infinity when one of them does not exist. */
static double edges_cost(tidy *d, const block *b, int32_t by)
{
    const ckpd_path_view *view = d->view;
    const ckpd_path_job *job = view->job[b->job];
    int32_t state = b->state, segment = b->segment;
    double cost = 0;
    d->work += b->end - b->first;
    for (int32_t i = b->first; i < b->end; i++) {
        int32_t move = d->plan->step_move[step_index(d, b->job, i)];
        int32_t slot = d->plan->step_slot[step_index(d, b->job, i)] + by;
        if (!ckpd__move_exists(view, job, move, state, slot, segment)) {
            return (double)INFINITY;
        }
        cost += job->edge_cost != NULL
                    ? job->edge_cost[ckpd__edge_index(view, job, move, slot, segment)]
                    : 0;
        segment += job->move_segments[move];
        state = ckpd__move_state(job, move);
    }
    return cost;
}

/* Moves a block where that costs nothing; the nodes where the job waits instead are open. */
static bool move_block(tidy *d, const block *b, int32_t by)
{
    double more = edges_cost(d, b, by) - edges_cost(d, b, 0);
    if (!isfinite(more)) {
        return false;
    }
    more -= cost_around(d, b, by);
    put_load(d, b, 0, -1);
    put_load(d, b, by, 1);
    more += cost_around(d, b, by);
    if (!(more <= d->slack)) {
        put_load(d, b, by, -1);
        put_load(d, b, 0, 1);
        return false;
    }
    for (int32_t i = b->first; i < b->end; i++) {
        d->plan->step_slot[step_index(d, b->job, i)] += by;
    }
    d->changed = true;
    return true;
}

/* Earlier, as far as it goes: up to the end of the block before if that can be had. */
static void pull_ahead(tidy *d, int32_t j)
{
    const ckpd_path_job *job = d->view->job[j];
    int32_t state = job->source_state, segment = job->source_segment, end = job->source_slot;
    for (int32_t i = 0; i < d->plan->step_count[j];) {
        block b = block_at(d, j, i, state, segment);
        int32_t start = b.from, least = start; /* as far back as the job can wait after it */
        while (least > end &&
               is_open(d, job, b.end_state, b.to - (start - least) - 1, b.end_segment)) {
            least--;
        }
        d->work += start - least;
        for (int32_t to = least; to < start && d->work < MOST_WORK; to++) {
            if (move_block(d, &b, to - start)) {
                b.from += to - start;
                b.to += to - start;
                break;
            }
        }
        i = b.end;
        end = b.to;
        state = b.end_state;
        segment = b.end_segment;
    }
}

/* Later, where that alone closes a pause. */
static void close_pauses(tidy *d, int32_t j)
{
    const ckpd_path_job *job = d->view->job[j];
    int32_t state = job->source_state, segment = job->source_segment;
    for (int32_t i = 0; i < d->plan->step_count[j];) {
        block b = block_at(d, j, i, state, segment);
        if (b.end < d->plan->step_count[j] && d->work < MOST_WORK) {
            int32_t by = d->plan->step_slot[step_index(d, j, b.end)] - b.to, waits = 0;
            while (waits <= by && is_open(d, job, state, b.from + waits, segment)) {
                waits++;
            }
            d->work += waits;
            if (waits > by) {
                move_block(d, &b, by);
            }
        }
        i = b.end;
        state = b.end_state;
        segment = b.end_segment;
    }
}

static void tidy_paths(tidy *d)
{
    d->work = 0;
    for (int32_t j = 0; j < d->view->jobs; j++) {
        if (d->view->job[j]->kind == CKPD_JOB_PATHS && d->view->job[j]->may_wait) {
            pull_ahead(d, j);
            close_pauses(d, j);
        }
    }
}

/* --- entry ------------------------------------------------------------------------------------ */

static double rounding_of(const ckpd_path_view *view, const ckpd__path_series *series)
{
    double size = 0;
    for (int32_t t = 0; t < view->slots; t++) {
        size += fabs(ckpd__curve_cost(view, t, series->net_kw[t]));
    }
    return 1e-14 * size;
}

int32_t ckpd__plan_tidy(ckpd_context *context, const ckpd_path_view *view, ckpd_path_plan *plan,
                        double *cost)
{
    size_t slots = (size_t)view->slots;
    ckpd_path_plan neat;
    double *series = ckpd__calloc(context, 4 * slots + 1, sizeof *series);
    if (series == NULL) {
        return ckpd__no_memory(context);
    }
    if (ckpd__plan_new(context, view, &neat) != CKPD_OK) {
        ckpd__free(context, series);
        return ckpd__no_memory(context);
    }
    ckpd__plan_copy(view, &neat, plan);
    tidy d = {.view = view, .plan = &neat};
    d.now = (ckpd__path_series){series, series + slots, series + 2 * slots,
                                view->storage != NULL ? series + 3 * slots : NULL};
    double before, after;
    int32_t status = ckpd__path_plan_check(context, view, &neat, &before, &d.now, true);
    if (status == CKPD_OK) {
        d.slack = rounding_of(view, &d.now);
        if (view->storage != NULL) {
            rest_storage(&d);
        }
        tidy_paths(&d);
        if (view->storage != NULL) {
            rest_storage(&d);
        }
        status = d.changed ? ckpd__path_plan_check(context, view, &neat, &after, NULL, true)
                           : CKPD_ERR_VERIFY;
    }
    /* Many changes within rounding must not add up to money. */
    if (status == CKPD_OK && after <= before + 100 * d.slack) {
        ckpd__plan_copy(view, plan, &neat);
        *cost = after;
    }
    ckpd__plan_free(context, &neat);
    ckpd__free(context, series);
    return status == CKPD_ERR_NO_MEMORY ? status : CKPD_OK;
}
