/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Re-evaluates a certificate in the plainest way: every edge, every combination, every draw. */
#include "solver/native/certificate.h"
#include "solver/native/check_totals.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define NONE ((double)INFINITY)

typedef struct checker {
    const ckpd_host *host;
    const ckpd_path_view *view;
    const nat_certificate *proof;
    const double *price, *worth;        /* of the node at hand */
    uint8_t *forbidden;                 /* [nodes][prices] after the fixings of each node */
    uint8_t *closed;                    /* [nodes] */
    double *low, *high;                 /* [nodes][slots] of the storage draw */
    const double *draw_low, *draw_high; /* [slots] of the node at hand */
    double *path_excess, *slot_excess;  /* [prices] */
    double *to, *from;                  /* [states][slots + 1][segments + 1] of one job */
    double size;                        /* of the terms that were added up */
    check_totals totals;                /* too many combinations to try: by totals, else unused */
} checker;

static void *take(checker *c, size_t count, size_t bytes)
{
    void *block = c->host->allocate(count * bytes + 1, c->host->user);
    if (block)
        memset(block, 0, count * bytes + 1);
    return block;
}

static int32_t find(const nat_certificate *proof, int32_t j, int32_t gpus, double kw)
{
    for (int32_t a = 0; a < proof->activities[j]; a++)
        if (proof->gpus[j][a] == gpus && fabs(proof->kw[j][a] - kw) <= 0)
            return a;
    return -1;
}

/* --- paths
 * -------------------------------------------------------------------------------------------- */

/* Price of activity a of job j in slot t, +infinity when it is forbidden or unknown. */
static double priced(const checker *c, const uint8_t *forbidden, int32_t j, int32_t a, int32_t t)
{
    const nat_certificate *proof = c->proof;
    size_t T = (size_t)proof->slots;
    if (a < 0)
        return NONE;
    if (proof->many)
        return c->price[t] * c->view->load_factor[t] * proof->kw[j][a] +
               c->price[T + (size_t)t] * proof->kw_per_gpu * proof->gpus[j][a];
    size_t i = proof->offset[j] + (size_t)a * T + (size_t)t;
    return forbidden[i] ? NONE : c->price[i];
}

static void lower(checker *c, int32_t j, int32_t a, int32_t t, double value)
{
    if (c->proof->many || a < 0)
        return;
    double *at =
        &c->path_excess[c->proof->offset[j] + (size_t)a * (size_t)c->proof->slots + (size_t)t];
    *at = value < *at ? value : *at;
}

typedef struct edge {
    int32_t q, t, k, move; /* move < 0: wait; start node */
    int32_t to_q, to_t, to_k;
    double cost;
} edge;

static size_t node_index(const checker *c, const ckpd_path_job *job, int32_t q, int32_t t,
                         int32_t k)
{
    return ((size_t)q * ((size_t)c->view->slots + 1) + (size_t)t) * ((size_t)job->segments + 1) +
           (size_t)k;
}

static int32_t activity_at(const checker *c, int32_t j, const edge *e, int32_t t)
{
    const ckpd_path_job *job = c->view->job[j];
    if (e->move < 0)
        return 0;
    int32_t m = job->move_mode[e->move];
    bool last = t == e->to_t - 1 && job->move_last_kw;
    return find(c->proof, j, job->mode_gpus[m],
                last ? job->move_last_kw[e->move] : job->mode_power_kw[m]);
}

/* Completes an edge that starts at (q, t, k); false when it does not exist. */
static bool complete(const checker *c, const uint8_t *forbidden, int32_t j, edge *e)
{
    const ckpd_path_job *job = c->view->job[j];
    e->cost = 0;
    e->to_q = e->q;
    e->to_t = e->t + 1;
    e->to_k = e->k;
    if (e->move < 0) {
        if (!job->may_wait || e->t >= job->deadline)
            return false;
    } else {
        int32_t m = job->move_mode[e->move], rule = job->move_class ? job->move_class[e->move] : 1;
        if (job->move_slots[e->move] > job->deadline - e->t ||
            job->move_segments[e->move] > job->segments - e->k)
            return false;
        if (job->transition &&
            job->transition[(size_t)e->q * (size_t)job->modes + (size_t)m] != rule)
            return false;
        size_t at =
            ((size_t)e->move * (size_t)c->view->slots + (size_t)e->t) * (size_t)job->segments +
            (size_t)e->k;
        if (job->edge_closed && job->edge_closed[at])
            return false;
        e->cost = job->edge_cost ? job->edge_cost[at] : 0;
        e->to_q = job->states == 1 ? 0 : 1 + m;
        e->to_t = e->t + job->move_slots[e->move];
        e->to_k = e->k + job->move_segments[e->move];
    }
    if (!job->node_open[node_index(c, job, e->to_q, e->to_t, e->to_k)])
        return false;
    for (int32_t t = e->t; t < e->to_t; t++)
        e->cost += priced(c, forbidden, j, activity_at(c, j, e, t), t);
    return e->cost < NONE;
}

static double idle(const checker *c, const uint8_t *forbidden, int32_t j, int32_t from, int32_t to)
{
    double sum = 0;
    for (int32_t t = from; t < to; t++)
        sum += priced(c, forbidden, j, 0, t);
    return sum;
}

/* Walks all edges: backward to fill `from` (cost to the end), forward to fill `to` and the
 * excesses. */
static double check_paths(checker *c, const uint8_t *forbidden, int32_t j)
{
    const ckpd_path_job *job = c->view->job[j];
    int32_t T = c->view->slots;
    size_t nodes = (size_t)job->states * ((size_t)T + 1) * ((size_t)job->segments + 1);
    size_t source = node_index(c, job, job->source_state, job->source_slot, job->source_segment);
    for (size_t n = 0; n < nodes; n++)
        c->to[n] = c->from[n] = NONE;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1)
            c->to[source] = idle(c, forbidden, j, 0, job->source_slot);
        for (int32_t i = job->source_slot; i <= job->deadline; i++)
            for (int32_t q = 0; q < job->states; q++)
                for (int32_t k = 0; k <= job->segments; k++) {
                    int32_t t = pass == 0 ? job->deadline + job->source_slot - i : i;
                    size_t here = node_index(c, job, q, t, k);
                    if (!job->node_open[here])
                        continue;
                    if (k == job->segments) {
                        double rest = idle(c, forbidden, j, t, T);
                        c->from[here] = rest;
                        for (int32_t u = t; pass == 1 && u < T; u++)
                            lower(c, j, 0, u, c->to[here] + rest);
                        continue;
                    }
                    for (int32_t move = -1; move < job->moves; move++) {
                        edge e = {.q = q, .t = t, .k = k, .move = move};
                        if (!complete(c, forbidden, j, &e))
                            continue;
                        size_t there = node_index(c, job, e.to_q, e.to_t, e.to_k);
                        if (pass == 0) {
                            c->from[here] = fmin(c->from[here], e.cost + c->from[there]);
                            continue;
                        }
                        c->to[there] = fmin(c->to[there], c->to[here] + e.cost);
                        for (int32_t u = t; u < e.to_t; u++)
                            lower(c, j, activity_at(c, j, &e, u), u,
                                  c->to[here] + e.cost + c->from[there]);
                    }
                }
    }
    double best = job->node_open[source]
                      ? c->from[source] + idle(c, forbidden, j, 0, job->source_slot)
                      : NONE;
    for (int32_t t = 0; t < job->source_slot; t++)
        lower(c, j, 0, t, best);
    return best;
}

/* --- slots
 * -------------------------------------------------------------------------------------------- */

double ckpd__nat_check_curve(const ckpd_path_view *view, int32_t t, double x)
{
    int64_t first = view->curve_start[t], last = view->curve_start[t + 1] - 1;
    double slack = 1e-9 * (1 + fabs(x));
    if (x < view->curve_x_kw[first] - slack || x > view->curve_x_kw[last] + slack)
        return NONE;
    for (int64_t i = first; i < last; i++)
        if (x <= view->curve_x_kw[i + 1] || i == last - 1) {
            double x0 = view->curve_x_kw[i], x1 = view->curve_x_kw[i + 1];
            double share = fmin(fmax((x - x0) / (x1 - x0), 0), 1);
            return view->curve_cost[i] + share * (view->curve_cost[i + 1] - view->curve_cost[i]);
        }
    return view->curve_cost[first];
}

/* Cheapest cost of a site load, over every bend of the cost in the storage draw. */
static double slot_cost(const checker *c, int32_t t, double load)
{
    const ckpd_path_view *view = c->view;
    const ckpd_path_storage *s = view->storage;
    if (!s)
        return ckpd__nat_check_curve(view, t, load);
    double best = NONE, h = view->slot_hours;
    double low = fmax(-s->discharge_max_kw, c->draw_low[t]);
    double high = fmin(s->charge_max_kw, c->draw_high[t]);
    int64_t count = view->curve_start[t + 1] - view->curve_start[t];
    for (int64_t i = 0; i < count + 3; i++) {
        double draw = i == 0   ? 0
                      : i == 1 ? high
                      : i == 2 ? low
                               : view->curve_x_kw[view->curve_start[t] + i - 3] - load;
        if (draw > high || draw < low)
            continue;
        double energy = draw > 0 ? draw * h * s->eta_charge : draw * h / s->eta_discharge;
        best = fmin(best, ckpd__nat_check_curve(view, t, load + draw) +
                              s->throughput_cost_per_kwh * fabs(draw) * h - c->worth[t] * energy);
    }
    return best;
}

typedef struct combination {
    int32_t activity[16];
    double gpus, load, price;
} combination;

/* Least cost less prices over the activities of jobs j.. beside those chosen; keeps the excesses up
 * to date. */
static double try_slot(checker *c, const uint8_t *forbidden, int32_t t, int32_t j,
                       combination *chosen)
{
    const nat_certificate *proof = c->proof;
    const ckpd_path_view *view = c->view;
    if (j == proof->jobs) {
        double cap = view->load_cap_kw[t];
        if (chosen->gpus > view->gpu_cap[t] + 2e-9 * (1 + fabs(view->gpu_cap[t])) ||
            chosen->load > cap + 2e-9 * (1 + fabs(cap)))
            return NONE;
        double value = slot_cost(c, t, chosen->load) - chosen->price;
        if (view->load_soft_kw && chosen->load > view->load_soft_kw[t])
            value += view->load_over_cost[t] * (chosen->load - view->load_soft_kw[t]);
        if (view->gpu_soft && chosen->gpus > view->gpu_soft[t])
            value += view->gpu_over_cost[t] * (chosen->gpus - view->gpu_soft[t]);
        for (int32_t i = 0; i < j; i++) {
            double *at =
                &c->slot_excess[proof->offset[i] +
                                (size_t)chosen->activity[i] * (size_t)proof->slots + (size_t)t];
            *at = value < *at ? value : *at;
        }
        return value;
    }
    const ckpd_path_job *job = view->job[j];
    double best = NONE, fixed_gpus = job->fixed_gpus ? job->fixed_gpus[t] : 0;
    double fixed_kw = job->fixed_power_kw ? job->fixed_power_kw[t] : 0;
    for (int32_t a = 0; a < proof->activities[j]; a++) {
        double price = priced(c, forbidden, j, a, t);
        if (!(price < NONE))
            continue;
        combination next = *chosen;
        next.activity[j] = a;
        next.gpus += fixed_gpus + proof->gpus[j][a];
        next.load += view->load_factor[t] * (fixed_kw + proof->kw[j][a]);
        next.price += price;
        best = fmin(best, try_slot(c, forbidden, t, j + 1, &next));
    }
    return best;
}

/* The same over the totals of GPUs. */
static double total_slot(checker *c, const uint8_t *forbidden, int32_t t)
{
    const nat_certificate *proof = c->proof;
    const ckpd_path_view *view = c->view;
    double gpus = 0, kw = 0, cap = view->load_cap_kw[t];
    for (int32_t j = 0, i = 0; j < proof->jobs; j++) {
        gpus += view->job[j]->fixed_gpus ? view->job[j]->fixed_gpus[t] : 0;
        kw += view->job[j]->fixed_power_kw ? view->job[j]->fixed_power_kw[t] : 0;
        for (int32_t a = 0; a < proof->activities[j]; a++, i++) {
            double price = priced(c, forbidden, j, a, t);
            c->totals.price[i] = price < NONE ? -price : NONE;
        }
    }
    for (int32_t l = 0; l < c->totals.totals; l++) {
        double own = (double)l * c->totals.unit,
               load =
                   view->base_load_kw[t] + view->load_factor[t] * (kw + own * c->totals.kw_per_gpu);
        bool fits = gpus + own <= view->gpu_cap[t] + 2e-9 * (1 + fabs(view->gpu_cap[t])) &&
                    load <= cap + 2e-9 * (1 + fabs(cap));
        c->totals.cost[l] = fits ? slot_cost(c, t, load) : NONE;
        if (view->load_soft_kw)
            c->totals.cost[l] += view->load_over_cost[t] * fmax(load - view->load_soft_kw[t], 0);
        if (view->gpu_soft)
            c->totals.cost[l] += view->gpu_over_cost[t] * fmax(gpus + own - view->gpu_soft[t], 0);
    }
    double best = ckpd__check_totals_slot(&c->totals);
    for (int32_t j = 0, i = 0; j < proof->jobs; j++)
        for (size_t a = 0; a < (size_t)proof->activities[j]; a++, i++)
            c->slot_excess[proof->offset[j] + a * (size_t)proof->slots + (size_t)t] =
                c->totals.least[i];
    return best;
}

static double end_money(const ckpd_path_storage *s, double level)
{
    double off = level - s->soc_end_kwh;
    return off * (off < 0 ? -s->end_short_cost_per_kwh : s->end_over_cost_per_kwh) -
           s->end_value_per_kwh * level;
}

/* Least value of the levels of the store under the worths: each level by itself, within its limits.
 */
static double check_levels(checker *c)
{
    const ckpd_path_storage *s = c->view->storage;
    int32_t T = c->view->slots;
    double sum = 0;
    for (int32_t t = 0; s && t <= T; t++) {
        double low = t == 0             ? s->soc_start_kwh
                     : s->soc_floor_kwh ? s->soc_floor_kwh[t]
                                        : s->soc_min_kwh,
               high = t == 0 ? low : s->soc_max_kwh;
        double rate = (t > 0 ? c->worth[t - 1] : 0) - (t < T ? s->retention * c->worth[t] : 0);
        if (t == T && s->terminal != CKPD_TERMINAL_FREE)
            low = fmax(low, s->soc_end_kwh);
        if (t == T && s->terminal == CKPD_TERMINAL_EQUAL)
            high = fmin(high, s->soc_end_kwh);
        double least = fmin(rate * low, rate * high);
        if (t == T) {
            /* Money at the end: convex in the level, with one bend. */
            double bend = fmin(fmax(s->soc_end_kwh, low), high);
            double points[3] = {low, bend, high};
            least = NONE;
            for (int i = 0; i < 3; i++)
                least = fmin(least, rate * points[i] + end_money(s, points[i]));
            c->size += fabs(end_money(s, low)) + fabs(end_money(s, high));
        }
        sum += least;
        c->size += fabs(rate) * high;
    }
    return sum;
}

/* Many jobs: the slot sees its load as any number up to the caps; its cost is least at an end or a
 * bend. */
static double check_many_slot(checker *c, int32_t t)
{
    const ckpd_path_view *view = c->view;
    const nat_certificate *proof = c->proof;
    const ckpd_path_storage *s = view->storage;
    double least = view->base_load_kw[t], kw = 0, gpus = view->gpu_cap[t], best = NONE;
    double gpu_price = c->price[(size_t)view->slots + (size_t)t] * proof->kw_per_gpu,
           most_per_gpu = 0;
    for (int32_t j = 0; j < view->jobs; j++) {
        double own = 0;
        least += view->load_factor[t] *
                 (view->job[j]->fixed_power_kw ? view->job[j]->fixed_power_kw[t] : 0);
        gpus -= view->job[j]->fixed_gpus ? view->job[j]->fixed_gpus[t] : 0;
        for (int32_t a = 1; a < proof->activities[j]; a++) {
            own = fmax(own, proof->kw[j][a]);
            most_per_gpu = proof->gpus[j][a] > 0
                               ? fmax(most_per_gpu, proof->kw[j][a] / proof->gpus[j][a])
                               : NONE;
        }
        kw += own;
    }
    if (most_per_gpu < NONE)
        kw = fmin(kw, fmax(gpus, 0) * most_per_gpu * (1 + 2e-9));
    double most = fmin(least + view->load_factor[t] * kw,
                       view->load_cap_kw[t] + 2e-9 * (1 + fabs(view->load_cap_kw[t])));
    double draws[3] = {0, s ? s->charge_max_kw : 0, s ? -s->discharge_max_kw : 0};
    for (int64_t i = -2; i < 3 * (view->curve_start[t + 1] - view->curve_start[t]); i++) {
        double load = i == -2   ? least
                      : i == -1 ? most
                                : view->curve_x_kw[view->curve_start[t] + i / 3] - draws[i % 3];
        if (load >= least && load <= most)
            best = fmin(best, slot_cost(c, t, load) - c->price[t] * (load - least));
    }
    return best - (gpu_price > 0 ? gpu_price * gpus * (1 + 2e-9) : 0);
}

/* --- nodes
 * -------------------------------------------------------------------------------------------- */

/* Value of the bound at node n, with the excesses of every activity over it. */
static double evaluate(checker *c, const uint8_t *forbidden)
{
    const nat_certificate *proof = c->proof;
    size_t T = (size_t)proof->slots;
    double value = c->view->cost_offset;
    c->size = fabs(value);
    for (size_t i = 0; i < proof->prices; i++) {
        c->path_excess[i] = c->slot_excess[i] = NONE;
        c->size += proof->many ? 0 : 4 * fabs(c->price[i]);
    }
    for (int32_t j = 0; j < proof->jobs; j++) {
        double own = check_paths(c, forbidden, j);
        value += own;
        c->size += fabs(own);
        for (size_t i = 0; !proof->many && i < (size_t)proof->activities[j] * T; i++)
            c->path_excess[proof->offset[j] + i] -= own < NONE ? own : 0;
    }
    for (int32_t t = 0; t < proof->slots; t++) {
        combination none = {.load = c->view->base_load_kw[t]};
        double own = proof->many      ? check_many_slot(c, t)
                     : c->totals.cost ? total_slot(c, forbidden, t)
                                      : try_slot(c, forbidden, t, 0, &none);
        value += own;
        c->size += own < NONE ? fabs(own) : 0;
        for (int32_t j = 0; !proof->many && own < NONE && j < proof->jobs; j++)
            for (size_t a = 0; a < (size_t)proof->activities[j]; a++)
                c->slot_excess[proof->offset[j] + a * T + (size_t)t] -= own;
    }
    value += check_levels(c);
    return value < NONE ? value - 8 * DBL_EPSILON * (proof->slots + proof->jobs) * c->size : value;
}

/* True when activity a of the job that node n splits lies on side 0. */
static bool on_side_0(const nat_certificate *proof, const nat_proof *node, int32_t a)
{
    double kw = proof->kw[node->job][a];
    return kw < node->kw || (!(kw > node->kw) && proof->gpus[node->job][a] <= node->gpus);
}

/* Forbids the side of its parent that node n is not. */
static void take_side(const nat_certificate *proof, const nat_proof *node, uint8_t *forbidden)
{
    for (int32_t a = 0; a < proof->activities[node->job]; a++)
        if (on_side_0(proof, node, a) != (node->side == 0))
            forbidden[proof->offset[node->job] + (size_t)a * (size_t)proof->slots +
                      (size_t)node->slot] = 1;
}

/* True when nothing is left of the part of node n that no child covers. */
static bool covered(checker *c, int32_t n, double value, double cutoff)
{
    const nat_certificate *proof = c->proof;
    bool side[2] = {false, false};
    const nat_proof *first = NULL;
    for (int32_t m = n + 1; m < proof->nodes; m++) {
        const nat_proof *child = &proof->node[m];
        if (child->parent != n)
            continue;
        if (child->job == NAT_WHOLE)
            return true; /* after the fixings, at other worths */
        if (first && (child->job != first->job || child->slot != first->slot ||
                      child->gpus != first->gpus || fabs(child->kw - first->kw) > 0))
            return false;
        first = first ? first : child;
        side[child->side != 0] = true;
    }
    if (!first || first->job < 0)
        return side[0] && side[1];
    /* A side without a node of its own must be empty after the fixings. */
    for (int32_t a = 0; a < proof->activities[first->job]; a++) {
        size_t i =
            proof->offset[first->job] + (size_t)a * (size_t)proof->slots + (size_t)first->slot;
        bool fixed = value + c->path_excess[i] + c->slot_excess[i] >= cutoff;
        if (!side[on_side_0(proof, first, a) ? 0 : 1] &&
            !c->forbidden[(size_t)n * proof->prices + i] && !fixed)
            return false;
    }
    return true;
}

static double check_nodes(checker *c)
{
    const nat_certificate *proof = c->proof;
    double bound = proof->cutoff;
    size_t T = (size_t)proof->slots;
    for (int32_t n = 0; n < proof->nodes; n++) {
        const nat_proof *node = &proof->node[n];
        uint8_t *forbidden = c->forbidden + (size_t)n * proof->prices;
        double *low = c->low + (size_t)n * T, *high = c->high + (size_t)n * T;
        for (size_t t = 0; n == 0 && t < T; t++) {
            low[t] = -NONE;
            high[t] = NONE;
        }
        if (node->parent >= n || (node->parent < 0) != (n == 0))
            return -NONE;
        if (n > 0) {
            memcpy(forbidden, c->forbidden + (size_t)node->parent * proof->prices, proof->prices);
            c->closed[n] = c->closed[node->parent];
            if (c->closed[n])
                continue;
            memcpy(low, c->low + (size_t)node->parent * T, T * sizeof *low);
            memcpy(high, c->high + (size_t)node->parent * T, T * sizeof *high);
            if (node->job >= 0)
                take_side(proof, node, forbidden);
            else if (node->job == NAT_SPLIT_DRAW && node->side == 0)
                high[node->slot] = fmin(high[node->slot], node->kw);
            else if (node->job == NAT_SPLIT_DRAW)
                low[node->slot] = fmax(low[node->slot], node->kw);
        }
        c->draw_low = low;
        c->draw_high = high;
        c->price = node->price;
        c->worth = node->worth;
        double value = evaluate(c, forbidden);
        c->closed[n] = value >= bound;
        if (c->closed[n])
            continue;
        if (!covered(c, n, value, bound)) {
            bound = fmin(bound, value); /* an open end: this is what it proves */
            c->closed[n] = 1;
        }
        for (size_t i = 0; i < proof->prices && !proof->many; i++)
            if (value + c->path_excess[i] + c->slot_excess[i] >= bound)
                forbidden[i] = 1;
    }
    return proof->nodes > 0 ? bound : -NONE;
}

int32_t ckpd__nat_certificate_check(const ckpd_host *host, const ckpd_path_view *view,
                                    const nat_certificate *certificate, double *bound)
{
    checker c = {.host = host, .view = view, .proof = certificate};
    double combinations = 1;
    size_t nodes = 1;
    if (view->jobs != certificate->jobs || view->slots != certificate->slots)
        return CKPD_ERR_INCONSISTENT;
    if (certificate->slotwise)
        return ckpd__nat_check_slotwise(host, view, certificate, bound);
    if (certificate->windows)
        return ckpd__nat_check_windows(host, view, certificate, bound);
    for (int32_t j = 0; j < view->jobs; j++) {
        const ckpd_path_job *job = view->job[j];
        size_t own = (size_t)job->states * ((size_t)view->slots + 1) * ((size_t)job->segments + 1);
        nodes = own > nodes ? own : nodes;
        combinations *= certificate->activities[j];
    }
    bool no_memory = false;
    if (!certificate->many && (view->jobs > 16 || combinations > 1e6) &&
        !ckpd__check_totals_init(&c.totals, host, certificate, &no_memory))
        return no_memory ? CKPD_ERR_NO_MEMORY : CKPD_ERR_NOT_SUPPORTED;
    c.forbidden = take(&c, (size_t)certificate->nodes, certificate->prices);
    c.closed = take(&c, (size_t)certificate->nodes, 1);
    c.low = take(&c, (size_t)certificate->nodes * (size_t)view->slots, sizeof(double));
    c.high = take(&c, (size_t)certificate->nodes * (size_t)view->slots, sizeof(double));
    c.path_excess = take(&c, certificate->prices, sizeof(double));
    c.slot_excess = take(&c, certificate->prices, sizeof(double));
    c.to = take(&c, nodes, sizeof(double));
    c.from = take(&c, nodes, sizeof(double));
    bool ok = c.forbidden && c.closed && c.low && c.high && c.path_excess && c.slot_excess &&
              c.to && c.from;
    if (ok)
        *bound = check_nodes(&c);
    void *blocks[] = {c.forbidden,   c.closed,      c.low, c.high,
                      c.path_excess, c.slot_excess, c.to,  c.from};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (blocks[i])
            host->release(blocks[i], host->user);
    ckpd__check_totals_free(&c.totals, host);
    return ok ? CKPD_OK : CKPD_ERR_NO_MEMORY;
}
