/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Re-evaluates a certificate with prices of changes, in the plainest way: every edge after every
 * activity, every total of both slots of a window.
 */
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
    const double *price; /* of the node at hand */
    uint8_t *forbidden;  /* [nodes][prices] after the fixings of each node */
    uint8_t *closed;     /* [nodes] */
    double *excess;      /* [prices] of the windows, then of paths that pay for it */
    double *burden;      /* [prices] prices and excesses of the windows */
    double *to, *from;   /* [slots + 1][activities][segments + 1] of one job, by activity before */
    double *cost;        /* [slots][totals] share of a window in the cost of a slot */
    double *before, *after; /* [jobs + 1][totals][totals] of one window */
    int32_t totals;         /* of a slot that fit */
    check_totals unit;
    double size; /* of the terms that were added up */
} checker;

static int32_t find(const nat_certificate *proof, int32_t j, int32_t gpus, double kw)
{
    for (int32_t a = 0; a < proof->activities[j]; a++)
        if (proof->gpus[j][a] == gpus && fabs(proof->kw[j][a] - kw) <= 0)
            return a;
    return -1;
}

/* Place of the change from activity a to b of job j in the window of slots t and t + 1. */
static size_t change_at(const nat_certificate *proof, int32_t j, int32_t a, int32_t b, int32_t t)
{
    return proof->offset[j] +
           ((size_t)a * (size_t)proof->activities[j] + (size_t)b) * (size_t)(proof->slots - 1) +
           (size_t)t;
}

/* --- paths
 * -------------------------------------------------------------------------------------------- */

typedef struct walk {
    checker *c;
    const uint8_t *forbidden;
    const double *price;
    int32_t j;
    double *least; /* [prices] cheapest path with a change, or NULL */
} walk;

/* Price of activity b in slot t after activity a in the slot before. */
static double priced(const walk *w, int32_t a, int32_t b, int32_t t)
{
    if (a < 0 || b < 0)
        return NONE;
    if (t == 0 || t >= w->c->proof->slots)
        return 0;
    size_t i = change_at(w->c->proof, w->j, a, b, t - 1);
    return w->forbidden[i] ? NONE : w->price[i];
}

static void lower(const walk *w, int32_t a, int32_t b, int32_t t, double value)
{
    if (!w->least || t == 0 || t >= w->c->proof->slots)
        return;
    double *at = &w->least[change_at(w->c->proof, w->j, a, b, t - 1)];
    *at = value < *at ? value : *at;
}

static double *at_node(const checker *c, double *table, int32_t j, int32_t t, int32_t a, int32_t k)
{
    size_t width = (size_t)c->view->job[j]->segments + 1;
    return table + ((size_t)t * (size_t)c->proof->activities[j] + (size_t)a) * width + k;
}

/* Idling, or a move, from slot t to `end`: its activities, and their price after the first. */
typedef struct edge {
    int32_t t, end, segments;
    int32_t first, body, last; /* activities */
    double price;
} edge;

static int32_t activity_at(const edge *e, int32_t t)
{
    return t == e->end - 1 ? e->last : e->body;
}

/* move < 0: one slot of idling. False when it does not exist from slot t. */
static bool make_edge(const walk *w, int32_t move, int32_t t, edge *e)
{
    const ckpd_path_job *job = w->c->view->job[w->j];
    *e = (edge){.t = t, .end = t + 1};
    if (move < 0 && (!job->may_wait || t >= job->deadline))
        return false;
    if (move >= 0) {
        int32_t m = job->move_mode[move];
        if (job->move_slots[move] > job->deadline - t)
            return false;
        e->end = t + job->move_slots[move];
        e->segments = job->move_segments[move];
        e->body = e->last = find(w->c->proof, w->j, job->mode_gpus[m], job->mode_power_kw[m]);
        if (job->move_last_kw)
            e->last = find(w->c->proof, w->j, job->mode_gpus[m], job->move_last_kw[move]);
    }
    e->first = activity_at(e, t);
    for (int32_t u = t + 1; u < e->end; u++)
        e->price += priced(w, activity_at(e, u - 1), activity_at(e, u), u);
    return e->first >= 0 && e->last >= 0 && e->price < NONE;
}

static bool is_open(const checker *c, int32_t j, int32_t t, int32_t k)
{
    const ckpd_path_job *job = c->view->job[j];
    return k <= job->segments &&
           job->node_open[(size_t)t * ((size_t)job->segments + 1) + (size_t)k];
}

/* An edge from all of its nodes and after all activities, backward or forward. */
static void pass_edge(const walk *w, const edge *e, bool forward)
{
    checker *c = w->c;
    int32_t j = w->j, segments = c->view->job[j]->segments;
    double inner = NONE;
    for (int32_t q = 0; q < c->proof->activities[j]; q++) {
        double enter = priced(w, q, e->first, e->t), best = NONE;
        for (int32_t k = 0; enter < NONE && k < segments && k + e->segments <= segments; k++) {
            if (!is_open(c, j, e->t, k) || !is_open(c, j, e->end, k + e->segments))
                continue;
            double own = enter + e->price;
            double *rest = at_node(c, c->from, j, e->end, e->last, k + e->segments);
            if (!forward) {
                double *here = at_node(c, c->from, j, e->t, q, k);
                *here = fmin(*here, own + *rest);
                continue;
            }
            double way = *at_node(c, c->to, j, e->t, q, k) + own,
                   *there = at_node(c, c->to, j, e->end, e->last, k + e->segments);
            *there = fmin(*there, way);
            best = fmin(best, way + *rest);
        }
        if (forward)
            lower(w, q, e->first, e->t, best);
        inner = fmin(inner, best);
    }
    for (int32_t u = e->t + 1; forward && u < e->end; u++)
        lower(w, activity_at(e, u - 1), activity_at(e, u), u, inner);
}

/* Paths that are done at slot t: they idle to the end. */
static void pass_end(const walk *w, int32_t t, bool forward)
{
    checker *c = w->c;
    int32_t j = w->j, segments = c->view->job[j]->segments;
    double rest = 0;
    if (!is_open(c, j, t, segments))
        return;
    for (int32_t u = t + 1; u < c->proof->slots; u++)
        rest += priced(w, 0, 0, u);
    for (int32_t q = 0; q < c->proof->activities[j]; q++) {
        double own = priced(w, q, 0, t) + rest;
        *at_node(c, c->from, j, t, q, segments) = own;
        double whole = *at_node(c, c->to, j, t, q, segments) + own;
        if (forward)
            lower(w, q, 0, t, whole);
        for (int32_t u = t + 1; forward && u < c->proof->slots; u++)
            lower(w, 0, 0, u, whole);
    }
}

/* Cheapest path; with w->least, of every change the cheapest path with it. */
static double check_paths(const walk *w)
{
    checker *c = w->c;
    int32_t j = w->j;
    const ckpd_path_job *job = c->view->job[j];
    int32_t source = job->source_slot, k = job->source_segment;
    size_t nodes = ((size_t)c->view->slots + 1) * (size_t)c->proof->activities[j] *
                   ((size_t)job->segments + 1);
    double begin = 0, best;
    for (size_t n = 0; n < nodes; n++)
        c->to[n] = c->from[n] = NONE;
    for (int32_t t = 1; t < source; t++)
        begin += priced(w, 0, 0, t);
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1 && is_open(c, j, source, k))
            *at_node(c, c->to, j, source, 0, k) = begin;
        for (int32_t i = source; i <= job->deadline; i++) {
            int32_t t = pass == 0 ? job->deadline + source - i : i;
            pass_end(w, t, pass == 1);
            for (int32_t move = -1; move < job->moves; move++) {
                edge e;
                if (make_edge(w, move, t, &e))
                    pass_edge(w, &e, pass == 1);
            }
        }
    }
    best = is_open(c, j, source, k) ? begin + *at_node(c, c->from, j, source, 0, k) : NONE;
    for (int32_t t = 1; t < source; t++)
        lower(w, 0, 0, t, best);
    return best;
}

/* --- windows
 * ------------------------------------------------------------------------------------------- */

/* Cost of every total of slot t, halved where the slot is part of two windows. */
static void fill_costs(checker *c, int32_t t)
{
    const ckpd_path_view *view = c->view;
    double gpus = 0, kw = 0, cap = view->load_cap_kw[t];
    for (int32_t j = 0; j < view->jobs; j++) {
        gpus += view->job[j]->fixed_gpus ? view->job[j]->fixed_gpus[t] : 0;
        kw += view->job[j]->fixed_power_kw ? view->job[j]->fixed_power_kw[t] : 0;
    }
    for (int32_t l = 0; l < c->unit.totals; l++) {
        double own = (double)l * c->unit.unit, *cost = &c->cost[t * c->unit.totals + l],
               load =
                   view->base_load_kw[t] + view->load_factor[t] * (kw + own * c->unit.kw_per_gpu);
        bool fits = gpus + own <= view->gpu_cap[t] + 2e-9 * (1 + fabs(view->gpu_cap[t])) &&
                    load <= cap + 2e-9 * (1 + fabs(cap));
        *cost = fits ? ckpd__nat_check_curve(view, t, load) : NONE;
        if (view->load_soft_kw)
            *cost += view->load_over_cost[t] * fmax(load - view->load_soft_kw[t], 0);
        if (view->gpu_soft)
            *cost += view->gpu_over_cost[t] * fmax(gpus + own - view->gpu_soft[t], 0);
        if (t > 0 && t < view->slots - 1)
            *cost *= 0.5;
        if (*cost < NONE && l >= c->totals)
            c->totals = l + 1;
    }
}

/* Least of one table and another that lies further by a change, over all totals; with `lift`,
 * another takes in what follows. */
static double meet(const checker *c, int32_t a, int32_t b, double price, const double *below,
                   const double *above, double *lift)
{
    int32_t L = c->totals;
    double least = NONE;
    for (int32_t l = 0; l + a < L; l++)
        for (int32_t m = 0; m + b < L; m++) {
            double rest = above[(l + a) * L + m + b] - price, *own = &lift[l * L + m];
            double sum = below[l * L + m] + rest;
            *own = rest < *own ? rest : *own;
            least = sum < least ? sum : least;
        }
    return least;
}

static void climb(const checker *c, int32_t a, int32_t b, double price, const double *below,
                  double *above)
{
    int32_t L = c->totals;
    for (int32_t l = 0; l + a < L; l++)
        for (int32_t m = 0; m + b < L; m++) {
            double sum = below[l * L + m] - price, *to = &above[(l + a) * L + m + b];
            *to = sum < *to ? sum : *to;
        }
}

/* Cheapest combination of the window of slots t and t + 1; excess of every change over it. */
static double check_window(checker *c, const uint8_t *forbidden, int32_t t)
{
    const nat_certificate *proof = c->proof;
    size_t L = (size_t)c->totals, table = L * L, jobs = (size_t)proof->jobs;
    const double *first = c->cost + (size_t)t * (size_t)c->unit.totals,
                 *second = first + c->unit.totals;
    for (size_t i = 0; i < (jobs + 1) * table; i++)
        c->before[i] = c->after[i] = NONE;
    c->before[0] = 0;
    for (size_t i = 0; i < table; i++)
        c->after[jobs * table + i] = first[i / L] + second[i % L];
    for (int pass = 0; pass < 2; pass++)
        for (int32_t n = 0; n < proof->jobs; n++) {
            int32_t j = pass == 0 ? n : proof->jobs - 1 - n, A = proof->activities[j];
            double *before = c->before + (size_t)j * table, *after = c->after + (size_t)j * table;
            for (int32_t change = 0; change < A * A; change++) {
                size_t i = change_at(proof, j, change / A, change % A, t);
                int32_t a = proof->gpus[j][change / A] / c->unit.unit,
                        b = proof->gpus[j][change % A] / c->unit.unit;
                if (forbidden[i])
                    continue;
                if (pass == 0)
                    climb(c, a, b, c->price[i], before, before + table);
                else
                    c->excess[i] = meet(c, a, b, c->price[i], before, after + table, after);
            }
        }
    double value = c->after[0];
    for (int32_t j = 0; value < NONE && j < proof->jobs; j++)
        for (int32_t change = 0; change < proof->activities[j] * proof->activities[j]; change++)
            c->excess[change_at(proof, j, 0, change, t)] -= value;
    return value;
}

/* --- nodes
 * -------------------------------------------------------------------------------------------- */

/*
 * The bound of a node. Excesses: a plan with a change pays at least the paths of the other jobs,
 * the windows, and a path of this one that pays beside the prices what its changes lie above the
 * cheapest combinations.
 */
static double evaluate(checker *c, const uint8_t *forbidden)
{
    const nat_certificate *proof = c->proof;
    double value = c->view->cost_offset;
    c->size = fabs(value);
    for (size_t i = 0; i < proof->prices; i++) {
        c->excess[i] = NONE;
        c->size += 4 * fabs(c->price[i]);
    }
    for (int32_t t = 0; t + 1 < proof->slots; t++) {
        double own = check_window(c, forbidden, t);
        value += own;
        c->size += own < NONE ? fabs(own) : 0;
    }
    for (size_t i = 0; i < proof->prices; i++) {
        bool none = forbidden[i] || !(c->excess[i] < NONE);
        c->burden[i] = none ? NONE : c->price[i] + fmax(c->excess[i], 0);
        c->excess[i] = NONE;
    }
    for (int32_t j = 0; j < proof->jobs; j++) {
        walk plain = {.c = c, .forbidden = forbidden, .price = c->price, .j = j};
        walk heavy = plain;
        heavy.price = c->burden;
        heavy.least = c->excess;
        double own = check_paths(&plain);
        check_paths(&heavy);
        value += own;
        c->size += own < NONE ? fabs(own) : 0;
        size_t A = (size_t)proof->activities[j], count = A * A * (size_t)(proof->slots - 1);
        for (size_t i = 0; own < NONE && i < count; i++)
            c->excess[proof->offset[j] + i] -= own;
    }
    return value < NONE ? value - 8 * DBL_EPSILON * (proof->slots + proof->jobs) * c->size : value;
}

/* True when activity a of the job that node n splits lies on side 0. */
static bool on_side_0(const nat_certificate *proof, const nat_proof *node, int32_t a)
{
    double kw = proof->kw[node->job][a];
    return kw < node->kw || (!(kw > node->kw) && proof->gpus[node->job][a] <= node->gpus);
}

/* Forbids the side of its parent that node n is not, in both windows of the slot. */
static void take_side(const nat_certificate *proof, const nat_proof *node, uint8_t *forbidden)
{
    int32_t j = node->job, t = node->slot, A = proof->activities[j];
    for (int32_t a = 0; a < A; a++)
        for (int32_t b = 0; b < A; b++) {
            if (t < proof->slots - 1 && on_side_0(proof, node, a) != (node->side == 0))
                forbidden[change_at(proof, j, a, b, t)] = 1;
            if (t > 0 && on_side_0(proof, node, b) != (node->side == 0))
                forbidden[change_at(proof, j, a, b, t - 1)] = 1;
        }
}

/* True when the children of node n are all of it. */
static bool covered(const nat_certificate *proof, int32_t n)
{
    bool side[2] = {false, false};
    const nat_proof *first = NULL;
    for (int32_t m = n + 1; m < proof->nodes; m++) {
        const nat_proof *child = &proof->node[m];
        if (child->parent != n)
            continue;
        if (child->job == NAT_WHOLE)
            return true; /* after the fixings, at other prices */
        if (child->job < 0 || child->job >= proof->jobs || child->slot < 0 ||
            child->slot >= proof->slots ||
            (first && (child->job != first->job || child->slot != first->slot ||
                       child->gpus != first->gpus || fabs(child->kw - first->kw) > 0)))
            return false;
        first = first ? first : child;
        side[child->side != 0] = true;
    }
    return side[0] && side[1];
}

static double check_nodes(checker *c)
{
    const nat_certificate *proof = c->proof;
    double bound = proof->cutoff;
    for (int32_t n = 0; n < proof->nodes; n++) {
        const nat_proof *node = &proof->node[n];
        uint8_t *forbidden = c->forbidden + (size_t)n * proof->prices;
        if (node->parent >= n || (node->parent < 0) != (n == 0))
            return -NONE;
        if (n > 0) {
            memcpy(forbidden, c->forbidden + (size_t)node->parent * proof->prices, proof->prices);
            c->closed[n] = c->closed[node->parent];
            if (c->closed[n])
                continue;
            if (node->job >= 0)
                take_side(proof, node, forbidden);
        }
        c->price = node->price;
        double value = evaluate(c, forbidden);
        c->closed[n] = value >= bound;
        if (c->closed[n])
            continue;
        if (!covered(proof, n)) {
            bound = fmin(bound, value); /* an open end: this is what it proves */
            c->closed[n] = 1;
        }
        for (size_t i = 0; i < proof->prices; i++)
            if (value + c->excess[i] >= bound)
                forbidden[i] = 1;
    }
    return proof->nodes > 0 ? bound : -NONE;
}

static void *take(checker *c, size_t count, size_t bytes)
{
    void *block = c->host->allocate(count * bytes + 1, c->host->user);
    if (block)
        memset(block, 0, count * bytes + 1);
    return block;
}

/* Windows know nothing of these. */
static bool is_known(const ckpd_path_view *view)
{
    bool known = !view->storage && view->slots >= 2;
    for (int32_t j = 0; j < view->jobs; j++)
        known = known && view->job[j]->states == 1 && !view->job[j]->edge_cost &&
                !view->job[j]->edge_closed;
    return known;
}

int32_t ckpd__nat_check_windows(const ckpd_host *host, const ckpd_path_view *view,
                                const nat_certificate *certificate, double *bound)
{
    checker c = {.host = host, .view = view, .proof = certificate};
    bool no_memory = false, ok = true;
    size_t nodes = 0, slots = (size_t)view->slots, prices = certificate->prices;
    if (!is_known(view))
        return CKPD_ERR_INCONSISTENT;
    if (!ckpd__check_totals_init(&c.unit, host, certificate, &no_memory))
        return no_memory ? CKPD_ERR_NO_MEMORY : CKPD_ERR_NOT_SUPPORTED;
    for (int32_t j = 0; j < view->jobs; j++) {
        size_t own =
            (slots + 1) * (size_t)certificate->activities[j] * ((size_t)view->job[j]->segments + 1);
        nodes = own > nodes ? own : nodes;
    }
    c.cost = take(&c, slots * (size_t)c.unit.totals, sizeof(double));
    for (int32_t t = 0; c.cost && t < view->slots; t++)
        fill_costs(&c, t);
    size_t table = ((size_t)view->jobs + 1) * (size_t)c.totals * (size_t)c.totals;
    c.forbidden = take(&c, (size_t)certificate->nodes, prices);
    c.closed = take(&c, (size_t)certificate->nodes, 1);
    c.excess = take(&c, prices, sizeof(double));
    c.burden = take(&c, prices, sizeof(double));
    c.to = take(&c, nodes, sizeof(double));
    c.from = take(&c, nodes, sizeof(double));
    c.before = take(&c, table + 1, sizeof(double));
    c.after = take(&c, table + 1, sizeof(double));
    void *blocks[] = {c.cost, c.forbidden, c.closed, c.excess, c.burden,
                      c.to,   c.from,      c.before, c.after};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        ok = ok && blocks[i];
    if (ok && c.totals > 0)
        *bound = check_nodes(&c);
    else if (ok)
        *bound = certificate->cutoff; /* no load fits: there is no plan */
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (blocks[i])
            host->release(blocks[i], host->user);
    ckpd__check_totals_free(&c.unit, host);
    return ok ? CKPD_OK : CKPD_ERR_NO_MEMORY;
}
