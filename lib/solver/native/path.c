/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/path.h"
#include "solver/native/vector.h"

#include <math.h>
#include <string.h>

#define NONE ((double)INFINITY)

bool ckpd__nat_path_init(nat_path *path, nat_memory *memory, int32_t slots)
{
    memset(path, 0, sizeof *path);
    path->slot = ckpd__nat_alloc(memory, (size_t)slots, sizeof *path->slot);
    path->move = ckpd__nat_alloc(memory, (size_t)slots, sizeof *path->move);
    path->activity = ckpd__nat_alloc(memory, (size_t)slots, sizeof *path->activity);
    return path->slot && path->move && path->activity;
}

void ckpd__nat_path_copy(nat_path *to, const nat_path *from, int32_t slots)
{
    to->steps = from->steps;
    memcpy(to->slot, from->slot, (size_t)from->steps * sizeof *to->slot);
    memcpy(to->move, from->move, (size_t)from->steps * sizeof *to->move);
    memcpy(to->activity, from->activity, (size_t)slots * sizeof *to->activity);
}

static int32_t rules_of(const nat_job *job)
{
    int32_t rules = 1;
    for (int32_t i = 0; i < job->moves; i++)
        rules = job->move[i].rule > rules ? job->move[i].rule : rules;
    return rules;
}

bool ckpd__nat_path_work_init(nat_path_work *work, nat_memory *memory, const nat_model *model)
{
    size_t bounds = (size_t)model->slots + 1, nodes = 0, by_rule = 0;
    memset(work, 0, sizeof *work);
    for (int32_t j = 0; j < model->jobs; j++) {
        const nat_job *job = &model->job[j];
        size_t size = bounds * (size_t)job->states * (size_t)job->stride;
        nodes = size > nodes ? size : nodes;
        if (job->states > 1) {
            size = (size_t)job->in->modes * (size_t)rules_of(job) * (size_t)job->stride;
            by_rule = size > by_rule ? size : by_rule;
        }
    }
    work->sum = ckpd__nat_alloc(memory, bounds * (size_t)model->activities, sizeof *work->sum);
    work->clear = ckpd__nat_alloc(memory, bounds * (size_t)model->activities, sizeof *work->clear);
    work->togo = ckpd__nat_alloc(memory, nodes, sizeof *work->togo);
    work->reach = ckpd__nat_alloc(memory, nodes, sizeof *work->reach);
    work->by_rule = ckpd__nat_alloc(memory, by_rule, sizeof *work->by_rule);
    work->pull = ckpd__nat_alloc(memory, (size_t)model->moves, sizeof *work->pull);
    return work->sum && work->clear && work->togo && work->reach && work->by_rule && work->pull;
}

/* --- prices ------------------------------------------------------------------------------------
 */

static void sum_prices(nat_path_work *work, const nat_job *job, int32_t slots, const double *price,
                       const uint8_t *forbidden)
{
    size_t T = (size_t)slots, width = T + 1;
    work->idle = 0;
    work->forbids = forbidden != NULL;
    for (size_t t = 0; t < T; t++)
        work->idle += price[t];
    for (size_t a = 0; a < (size_t)job->activities; a++) {
        double *sum = work->sum + a * width;
        const double *own = price + a * T;
        sum[0] = 0;
        for (size_t t = 0; t < T; t++)
            sum[t + 1] = sum[t] + (own[t] - price[t]);
        if (!forbidden)
            continue;
        int32_t *clear = work->clear + a * width;
        clear[T] = slots;
        for (size_t t = T; t-- > 0;)
            clear[t] = forbidden[a * T + t] ? (int32_t)t : clear[t + 1];
    }
}

static bool is_clear(const nat_path_work *work, int32_t slots, int32_t a, int32_t from, int32_t to)
{
    return !work->forbids || from >= to ||
           work->clear[(size_t)a * ((size_t)slots + 1) + (size_t)from] >= to;
}

/* The next move to look at: a run of moves whose first activity is forbidden in slot t is passed
 * over. */
static int32_t next_move(const nat_path_work *work, const nat_model *model, const nat_job *job,
                         int32_t i, int32_t t)
{
    while (work->forbids && i < job->moves &&
           work->clear[(size_t)job->move[i].body * ((size_t)model->slots + 1) + (size_t)t] <= t)
        i = job->move[i].after;
    return i;
}

/* Price of a move started at t beside idling, +infinity when it may not run there. */
static double move_cost(const nat_path_work *work, int32_t slots, const nat_move *move, int32_t t)
{
    size_t width = (size_t)slots + 1;
    int32_t end = t + move->slots;
    const double *body = work->sum + (size_t)move->body * width;
    if (move->body == move->last)
        return is_clear(work, slots, move->body, t, end) ? body[end] - body[t] : NONE;
    const double *last = work->sum + (size_t)move->last * width;
    if (!is_clear(work, slots, move->body, t, end - 1) ||
        !is_clear(work, slots, move->last, end - 1, end))
        return NONE;
    return (body[end - 1] - body[t]) + (last[end] - last[end - 1]);
}

/* --- one row of the shortest-path table --------------------------------------------------------
 */

static inline double lesser(double a, double b)
{
    return a < b ? a : b;
}

/*
 * row[k] = min(row[k], pull[i].next[k] + pull[i].cost) over all i, for `count` nodes: all moves
 * from one slot. Four at a time, because each pass over the row costs a load and a store of it.
 */
NAT_VECTOR_LOOP static void pull_row(double *restrict row, const nat_pull *restrict pull,
                                     int32_t pulls, int32_t count)
{
    int32_t i = 0;
    for (; i + 4 <= pulls; i += 4) {
        const double *a = pull[i].next, *b = pull[i + 1].next, *c = pull[i + 2].next,
                     *d = pull[i + 3].next;
        double cost_a = pull[i].cost, cost_b = pull[i + 1].cost, cost_c = pull[i + 2].cost,
               cost_d = pull[i + 3].cost;
        for (int32_t k = 0; k < count; k++) {
            double ab = lesser(a[k] + cost_a, b[k] + cost_b);
            double cd = lesser(c[k] + cost_c, d[k] + cost_d);
            row[k] = lesser(lesser(ab, cd), row[k]);
        }
    }
    for (; i < pulls; i++) {
        const double *a = pull[i].next;
        double cost_a = pull[i].cost;
        for (int32_t k = 0; k < count; k++)
            row[k] = lesser(a[k] + cost_a, row[k]);
    }
}

/* best[k] = min(best[k], cost + extra[k] + next[k]) for the edges of one move started in one slot.
 */
NAT_VECTOR_LOOP static void relax(double *restrict best, const double *restrict next, double cost,
                                  int32_t count)
{
    for (int32_t k = 0; k < count; k++) {
        double value = next[k] + cost;
        best[k] = value < best[k] ? value : best[k];
    }
}

static void relax_priced(double *restrict best, const double *restrict next, double cost,
                         const double *restrict extra, const uint8_t *closed, int32_t count)
{
    for (int32_t k = 0; k < count; k++) {
        double value = next[k] + (extra ? cost + extra[k] : cost);
        if ((!closed || !closed[k]) && value < best[k])
            best[k] = value;
    }
}

/* Range of start segments of a move from t: where both ends lie in the windows of open nodes. */
static int32_t start_range(const nat_job *job, const nat_move *move, int32_t t, int32_t *first)
{
    int32_t end = t + move->slots;
    int32_t low = job->low[end] - move->segments, high = job->high[end] - move->segments;
    low = job->low[t] > low ? job->low[t] : low;
    high = job->high[t] < high ? job->high[t] : high;
    *first = low;
    return high - low + 1;
}

static void relax_move(const nat_path_work *work, const nat_model *model, const nat_job *job,
                       const nat_move *move, int32_t t, double *best)
{
    int32_t first, count = t + move->slots <= job->deadline ? start_range(job, move, t, &first) : 0;
    if (count <= 0)
        return;
    double cost = move_cost(work, model->slots, move, t);
    if (!(cost < NONE))
        return;
    int32_t state = job->states == 1 ? 0 : 1 + move->mode;
    const double *next =
        work->togo +
        ((size_t)(t + move->slots) * (size_t)job->states + (size_t)state) * (size_t)job->stride +
        (size_t)(first + move->segments);
    const ckpd_path_job *in = job->in;
    if (!in->edge_cost && !in->edge_closed) { /* with transitions */
        relax(best + first, next, cost, count);
        return;
    }
    size_t edge = nat_edge(model, job, move->index, t) + (size_t)first;
    relax_priced(best + first, next, cost, in->edge_cost ? in->edge_cost + edge : NULL,
                 in->edge_closed ? in->edge_closed + edge : NULL, count);
}

/* Nodes that are closed lead nowhere; open nodes with all segments done end the path, if it may
 * idle on. */
static void settle_row(const nat_path_work *work, const nat_model *model, const nat_job *job,
                       int32_t q, int32_t t, double *row)
{
    const uint8_t *open =
        job->in->node_open +
        ((size_t)q * ((size_t)model->slots + 1) + (size_t)t) * ((size_t)job->segments + 1);
    for (int32_t k = 0; k <= job->segments; k++)
        row[k] = open[k] ? row[k] : NONE;
    if (job->high[t] == job->segments && open[job->segments])
        row[job->segments] = is_clear(work, model->slots, 0, t, model->slots) ? 0 : NONE;
}

/* Moves that cost nothing of their own: no edge needs a look, as rows are infinite beyond their
 * nodes up to the longest move. */
static void relax_plain(nat_path_work *work, const nat_model *model, const nat_job *job, int32_t t,
                        double *row)
{
    size_t stride = (size_t)job->stride;
    int32_t pulls = 0, low = job->low[t], count = job->high[t] - low + 1;
    if (count <= 0)
        return;
    count = (count + 3) / 4 * 4;
    for (int32_t i = next_move(work, model, job, 0, t); i < job->moves;
         i = next_move(work, model, job, i + 1, t)) {
        const nat_move *move = &job->move[i];
        if (t + move->slots > job->deadline)
            continue;
        double cost = move_cost(work, model->slots, move, t);
        if (cost < NONE)
            work->pull[pulls++] = (nat_pull){cost, work->togo + (size_t)(t + move->slots) * stride +
                                                       (size_t)(low + move->segments)};
    }
    pull_row(row + low, work->pull, pulls, count);
}

static void solve_row(nat_path_work *work, const nat_model *model, const nat_job *job, int32_t t)
{
    size_t stride = (size_t)job->stride, row_size = (size_t)job->states * stride;
    double *row = work->togo + (size_t)t * row_size;
    bool waits = job->wait && t < job->deadline && is_clear(work, model->slots, 0, t, t + 1);
    if (waits)
        memcpy(row, row + row_size, row_size * sizeof *row);
    else
        for (size_t i = 0; i < row_size; i++)
            row[i] = NONE;
    if (job->states == 1) {
        bool plain = !job->in->edge_cost && !job->in->edge_closed;
        if (plain)
            relax_plain(work, model, job, t, row);
        for (int32_t i = plain ? job->moves : next_move(work, model, job, 0, t); i < job->moves;
             i = next_move(work, model, job, i + 1, t))
            relax_move(work, model, job, &job->move[i], t, row);
        settle_row(work, model, job, 0, t, row);
        return;
    }
    /* What a move leads to does not depend on the state it starts from: gather by (mode, rule)
     * first. */
    int32_t modes = job->in->modes, rules = rules_of(job);
    for (size_t i = 0; i < (size_t)modes * (size_t)rules * stride; i++)
        work->by_rule[i] = NONE;
    for (int32_t i = next_move(work, model, job, 0, t); i < job->moves;
         i = next_move(work, model, job, i + 1, t)) {
        const nat_move *move = &job->move[i];
        relax_move(work, model, job, move, t,
                   work->by_rule +
                       ((size_t)move->mode * (size_t)rules + (size_t)(move->rule - 1)) * stride);
    }
    for (int32_t q = 0; q < job->states; q++) {
        double *own = row + (size_t)q * stride;
        for (int32_t m = 0; m < modes; m++) {
            int32_t rule = job->in->transition[(size_t)q * (size_t)modes + (size_t)m];
            if (rule >= 1 && rule <= rules)
                relax(own,
                      work->by_rule + ((size_t)m * (size_t)rules + (size_t)(rule - 1)) * stride, 0,
                      job->segments + 1);
        }
        settle_row(work, model, job, q, t, own);
    }
}

static double *source_value(const nat_path_work *work, const nat_job *job)
{
    return work->togo +
           ((size_t)job->source_slot * (size_t)job->states + (size_t)job->source_state) *
               (size_t)job->stride +
           (size_t)job->source_segment;
}

double ckpd__nat_path_solve(nat_path_work *work, const nat_model *model, const nat_job *job,
                            const double *price, const uint8_t *forbidden)
{
    sum_prices(work, job, model->slots, price, forbidden);
    if (!is_clear(work, model->slots, 0, 0, job->source_slot))
        return NONE;
    for (int32_t t = job->deadline; t >= job->source_slot; t--)
        solve_row(work, model, job, t);
    return *source_value(work, job) + work->idle;
}

/* --- reading a path ------------------------------------------------------------------------------
 */

static bool may_follow(const nat_job *job, int32_t q, const nat_move *move)
{
    return job->states == 1 ||
           job->in->transition[(size_t)q * (size_t)job->in->modes + (size_t)move->mode] ==
               move->rule;
}

/* Cost of one edge with what follows it, +infinity when the edge does not exist. */
static double edge_value(const nat_path_work *work, const nat_model *model, const nat_job *job,
                         const nat_move *move, int32_t q, int32_t t, int32_t k)
{
    int32_t end = t + move->slots, done = k + move->segments;
    if (end > job->deadline || done > job->segments || !may_follow(job, q, move))
        return NONE;
    double cost = move_cost(work, model->slots, move, t);
    size_t edge = nat_edge(model, job, move->index, t) + (size_t)k;
    if (job->in->edge_closed && job->in->edge_closed[edge])
        return NONE;
    if (job->in->edge_cost)
        cost += job->in->edge_cost[edge];
    int32_t state = job->states == 1 ? 0 : 1 + move->mode;
    return cost +
           work->togo[((size_t)end * (size_t)job->states + (size_t)state) * (size_t)job->stride +
                      (size_t)done];
}

double ckpd__nat_path_excess(const nat_path_work *work, const nat_model *model, const nat_job *job,
                             const nat_move *move, int32_t q, int32_t t, int32_t k)
{
    const double *from = work->togo +
                         ((size_t)t * (size_t)job->states + (size_t)q) * (size_t)job->stride +
                         (size_t)k;
    if (move)
        return edge_value(work, model, job, move, q, t, k) - *from;
    if (!job->wait || t >= job->deadline || !is_clear(work, model->slots, 0, t, t + 1))
        return NONE;
    return from[(size_t)job->states * (size_t)job->stride] - *from;
}

double ckpd__nat_path_rest(const nat_path_work *work, const nat_model *model, const nat_job *job,
                           const nat_move *move, int32_t t, int32_t q, int32_t end, int32_t k)
{
    size_t width = (size_t)model->slots + 1;
    double rest = work->togo[((size_t)end * (size_t)job->states + (size_t)q) * (size_t)job->stride +
                             (size_t)k];
    if (!move)
        return rest;
    const double *body = work->sum + (size_t)move->body * width,
                 *last = work->sum + (size_t)move->last * width;
    return rest + (body[end - 1] - body[t]) + (last[end] - last[end - 1]);
}

void ckpd__nat_path_trace(const nat_path_work *work, const nat_model *model, const nat_job *job,
                          nat_path *path)
{
    int32_t q = job->source_state, t = job->source_slot, k = job->source_segment;
    path->steps = 0;
    memset(path->activity, 0, (size_t)model->slots * sizeof *path->activity);
    while (k < job->segments) {
        int32_t best = -1;
        double value = NONE;
        if (job->wait && t < job->deadline && is_clear(work, model->slots, 0, t, t + 1))
            value = work->togo[((size_t)(t + 1) * (size_t)job->states + (size_t)q) *
                                   (size_t)job->stride +
                               (size_t)k];
        for (int32_t i = next_move(work, model, job, 0, t); i < job->moves;
             i = next_move(work, model, job, i + 1, t)) {
            double other = edge_value(work, model, job, &job->move[i], q, t, k);
            if (other < value) {
                value = other;
                best = i;
            }
        }
        if (best < 0) {
            if (!(value < NONE))
                return; /* unreachable after a solve with a finite value */
            t++;
            continue;
        }
        const nat_move *move = &job->move[best];
        path->slot[path->steps] = t;
        path->move[path->steps++] = best;
        for (int32_t u = t; u < t + move->slots; u++)
            path->activity[u] = u + 1 < t + move->slots ? move->body : move->last;
        t += move->slots;
        k += move->segments;
        q = job->states == 1 ? 0 : 1 + move->mode;
    }
}

double ckpd__nat_path_edge_cost(const nat_model *model, const nat_job *job, const nat_path *path)
{
    double cost = 0;
    int32_t k = job->source_segment;
    if (!job->in->edge_cost)
        return 0;
    for (int32_t i = 0; i < path->steps; i++) {
        const nat_move *move = &job->move[path->move[i]];
        cost += job->in->edge_cost[nat_edge(model, job, move->index, path->slot[i]) + (size_t)k];
        k += move->segments;
    }
    return cost;
}

/* --- marginals -----------------------------------------------------------------------------------
 */

/* Pushes the ways to (q, t, *) over one move; returns the cost of the cheapest path through it. */
static double push_move(nat_path_work *work, const nat_model *model, const nat_job *job,
                        const nat_move *move, int32_t q, int32_t t, double limit, int64_t *edges)
{
    int32_t first, count = t + move->slots <= job->deadline ? start_range(job, move, t, &first) : 0;
    double best = NONE, cost = count > 0 ? move_cost(work, model->slots, move, t) : NONE;
    if (!(cost < NONE) || !may_follow(job, q, move))
        return NONE;
    size_t states = (size_t)job->states, stride = (size_t)job->stride;
    size_t from = ((size_t)t * states + (size_t)q) * stride + (size_t)first;
    size_t to =
        ((size_t)(t + move->slots) * states + (size_t)(job->states == 1 ? 0 : 1 + move->mode)) *
            stride +
        (size_t)(first + move->segments);
    size_t edge = nat_edge(model, job, move->index, t) + (size_t)first;
    for (int32_t k = 0; k < count; k++) {
        if (job->in->edge_closed && job->in->edge_closed[edge + (size_t)k])
            continue;
        double own = job->in->edge_cost ? cost + job->in->edge_cost[edge + (size_t)k] : cost;
        double way = work->reach[from + (size_t)k] + own, whole = way + work->togo[to + (size_t)k];
        if (way < work->reach[to + (size_t)k])
            work->reach[to + (size_t)k] = way;
        if (whole < best)
            best = whole;
        if (whole + work->idle <= limit)
            ++*edges;
    }
    return best;
}

static void lower(double *marginal, double value, int32_t from, int32_t to)
{
    for (int32_t t = from; t < to; t++)
        marginal[t] = value < marginal[t] ? value : marginal[t];
}

void ckpd__nat_path_marginals(nat_path_work *work, const nat_model *model, const nat_job *job,
                              double *marginal, double limit, int64_t *edges)
{
    int32_t T = model->slots;
    size_t states = (size_t)job->states, stride = (size_t)job->stride, row = states * stride;
    for (size_t i = 0; i < ((size_t)T + 1) * row; i++)
        work->reach[i] = NONE;
    for (size_t i = 0; i < (size_t)job->activities * (size_t)T; i++)
        marginal[i] = NONE;
    work->reach[(size_t)job->source_slot * row + (size_t)job->source_state * stride +
                (size_t)job->source_segment] = 0;
    lower(marginal, *source_value(work, job), 0, job->source_slot);
    for (int32_t t = job->source_slot; t <= job->deadline; t++) {
        bool waits = job->wait && t < job->deadline && is_clear(work, T, 0, t, t + 1);
        double wait_best = NONE, end_best = NONE;
        for (int32_t q = 0; q < job->states; q++) {
            double *from = work->reach + (size_t)t * row + (size_t)q * stride;
            const double *togo = work->togo + (size_t)t * row + (size_t)q * stride;
            for (int32_t k = job->low[t]; k <= job->high[t]; k++) {
                if (!(togo[k] < NONE))
                    from[k] = NONE;
                if (k == job->segments && from[k] < end_best)
                    end_best = from[k];
                if (!waits || k == job->segments)
                    continue;
                double whole = from[k] + togo[row + (size_t)k];
                from[row + (size_t)k] =
                    from[k] < from[row + (size_t)k] ? from[k] : from[row + (size_t)k];
                wait_best = whole < wait_best ? whole : wait_best;
            }
            for (int32_t i = next_move(work, model, job, 0, t); i < job->moves;
                 i = next_move(work, model, job, i + 1, t)) {
                const nat_move *move = &job->move[i];
                double best = push_move(work, model, job, move, q, t, limit, edges);
                int32_t end = t + move->slots;
                if (!(best < NONE))
                    continue;
                lower(marginal + (size_t)move->body * (size_t)T, best, t, end - 1);
                lower(marginal + (size_t)move->last * (size_t)T, best, end - 1, end);
            }
        }
        if (t < T)
            lower(marginal, wait_best, t, t + 1);
        lower(marginal, end_best, t, T);
    }
    for (size_t i = 0; i < (size_t)job->activities * (size_t)T; i++)
        marginal[i] += work->idle;
}
