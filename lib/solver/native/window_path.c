/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Shortest paths under prices of changes: the tables know the activity before and after a node. */
#include "solver/native/vector.h"
#include "solver/native/window.h"

#include <math.h>
#include <string.h>

#define NONE ((double)INFINITY)

static size_t row_of(const nat_window *window, int32_t t, int32_t a)
{
    return ((size_t)t * (size_t)window->model->activities + (size_t)a) * (size_t)window->stride;
}

/* Place of a change among the prices of a job. */
static size_t change_at(const nat_window *window, const nat_job *job, int32_t a, int32_t b,
                        int32_t t)
{
    return ((size_t)a * (size_t)job->activities + (size_t)b) * (size_t)window->windows + (size_t)t;
}

/* best[k] = min(best[k], next[k] + cost) */
NAT_VECTOR_LOOP static void relax(double *restrict best, const double *restrict next, double cost,
                                  int32_t count)
{
    for (int32_t k = 0; k < count; k++) {
        double value = next[k] + cost;
        best[k] = value < best[k] ? value : best[k];
    }
}

static void sum_stays(nat_window *window, const nat_job *job, const double *price,
                      const uint8_t *forbidden)
{
    size_t T = (size_t)window->model->slots;
    int32_t last = window->windows;
    for (int32_t a = 0; a < job->activities; a++) {
        double *stay = window->stay + (size_t)a * T;
        int32_t *clear = window->clear + (size_t)a * T;
        stay[0] = 0;
        for (int32_t t = 0; t < last; t++)
            stay[t + 1] = stay[t] + price[change_at(window, job, a, a, t)];
        clear[last] = last;
        for (int32_t t = last; t-- > 0;)
            clear[t] = forbidden[change_at(window, job, a, a, t)] ? t : clear[t + 1];
    }
    window->rest[T] = 0;
    window->rest[last] = 0;
    for (int32_t t = last; t-- > 0;)
        window->rest[t] = window->clear[t] >= last
                              ? window->rest[t + 1] + price[change_at(window, job, 0, 0, t)]
                              : NONE;
}

/* Price of running activity a in the slots from t to before `end`; +infinity: forbidden. */
static double stay_cost(const nat_window *window, int32_t a, int32_t t, int32_t end)
{
    const double *stay = window->stay + (size_t)a * (size_t)window->model->slots;
    const int32_t *clear = window->clear + (size_t)a * (size_t)window->model->slots;
    return end <= t + 1 ? 0 : clear[t] >= end - 1 ? stay[end - 1] - stay[t] : NONE;
}

/* Segments at the start of a move from t for which both ends can be open nodes. */
static int32_t starts(const nat_job *job, const nat_move *move, int32_t t, int32_t *first)
{
    int32_t end = t + move->slots;
    if (end > job->deadline)
        return 0;
    int32_t low = job->low[end] - move->segments, high = job->high[end] - move->segments;
    low = job->low[t] > low ? job->low[t] : low;
    high = job->high[t] < high ? job->high[t] : high;
    *first = low;
    return high >= low ? high - low + 1 : 0;
}

static bool waits(const nat_job *job, int32_t t)
{
    return job->wait && t < job->deadline;
}

/* Ways on from slot t, by the activity that runs there. */
static void fill_from(nat_window *window, const nat_job *job, int32_t t)
{
    for (int32_t i = 0; i < job->moves; i++) {
        const nat_move *move = &job->move[i];
        int32_t first, count = starts(job, move, t, &first);
        double cost = count > 0 ? stay_cost(window, move->body, t, t + move->slots) : NONE;
        if (cost < NONE)
            relax(window->from + row_of(window, t, move->body) + first,
                  window->after + row_of(window, t + move->slots, move->body) + first +
                      move->segments,
                  cost, count);
    }
    double *idle = window->from + row_of(window, t, 0);
    if (waits(job, t))
        relax(idle, window->after + row_of(window, t + 1, 0), 0, job->segments + 1);
    if (job->high[t] == job->segments)
        idle[job->segments] = window->rest[t];
}

/* Ways on from the nodes of slot t, by the activity before. */
static void fill_after(nat_window *window, const nat_job *job, int32_t t, const double *price,
                       const uint8_t *forbidden)
{
    int32_t last = window->model->slots, low = job->low[t], count = job->high[t] - low + 1;
    for (int32_t q = 0; t > 0 && q < job->activities; q++) {
        double *after = window->after + row_of(window, t, q);
        for (int32_t b = 0; t < last && count > 0 && b < job->activities; b++) {
            size_t i = change_at(window, job, q, b, t - 1);
            if (!forbidden[i])
                relax(after + low, window->from + row_of(window, t, b) + low, price[i], count);
        }
        if (t == last && job->high[t] == job->segments)
            after[job->segments] = 0;
        for (int32_t k = 0; k <= job->segments; k++)
            after[k] = nat_open(window->model, job, 0, t, k) ? after[k] : NONE;
    }
}

/* Value of the ways on from the source, and the activity that the best begins with. */
static double source_value(const nat_window *window, const nat_job *job, int32_t *first)
{
    int32_t t = job->source_slot, k = job->source_segment;
    double best = NONE;
    *first = 0;
    if (!nat_open(window->model, job, 0, t, k))
        return NONE;
    if (t > 0)
        return stay_cost(window, 0, 0, t) + window->after[row_of(window, t, 0) + (size_t)k];
    for (int32_t a = 0; a < job->activities; a++) {
        double value = window->from[row_of(window, 0, a) + (size_t)k];
        if (value < best) {
            best = value;
            *first = a;
        }
    }
    return best;
}

static void clear_tables(const nat_window *window, const nat_job *job, double *after, double *from)
{
    size_t end = row_of(window, job->deadline + 1, 0);
    for (size_t i = row_of(window, job->source_slot, 0); i < end; i++)
        after[i] = from[i] = NONE;
}

double ckpd__nat_window_path(nat_window *window, int32_t j, const double *price)
{
    const nat_job *job = &window->model->job[j];
    const uint8_t *forbidden = window->forbidden + window->layout.job[j];
    int32_t first;
    sum_stays(window, job, price, forbidden);
    clear_tables(window, job, window->after, window->from);
    for (int32_t t = job->deadline; t >= job->source_slot; t--) {
        if (t < window->model->slots)
            fill_from(window, job, t);
        fill_after(window, job, t, price, forbidden);
    }
    return source_value(window, job, &first);
}

/* The activity that the cheapest way on from a node takes after activity q. */
static int32_t next_activity(const nat_window *window, int32_t j, const double *price, int32_t q,
                             int32_t t, int32_t k)
{
    const nat_job *job = &window->model->job[j];
    const uint8_t *forbidden = window->forbidden + window->layout.job[j];
    double best = NONE;
    int32_t found = 0;
    for (int32_t b = 0; b < job->activities; b++) {
        size_t i = change_at(window, job, q, b, t - 1);
        double value = window->from[row_of(window, t, b) + (size_t)k] + price[i];
        if (!forbidden[i] && value < best) {
            best = value;
            found = b;
        }
    }
    return found;
}

/* The move with activity a that the cheapest way on from a node takes, -1: it waits. */
static int32_t next_move(const nat_window *window, const nat_job *job, int32_t a, int32_t t,
                         int32_t k)
{
    double best = NONE;
    int32_t found = -1;
    if (a == 0 && waits(job, t))
        best = window->after[row_of(window, t + 1, 0) + (size_t)k];
    for (int32_t i = 0; i < job->moves; i++) {
        const nat_move *move = &job->move[i];
        int32_t first, count = move->body == a ? starts(job, move, t, &first) : 0;
        if (count <= 0 || k < first || k >= first + count)
            continue;
        double value =
            stay_cost(window, a, t, t + move->slots) +
            window->after[row_of(window, t + move->slots, a) + (size_t)k + (size_t)move->segments];
        if (value < best) {
            best = value;
            found = i;
        }
    }
    return found;
}

void ckpd__nat_window_trace(const nat_window *window, int32_t j, const double *price,
                            nat_path *path, int32_t *step)
{
    const nat_job *job = &window->model->job[j];
    int32_t t = job->source_slot, k = job->source_segment, a;
    source_value(window, job, &a);
    path->steps = 0;
    memset(path->activity, 0, (size_t)window->model->slots * sizeof *path->activity);
    while (k < job->segments) {
        if (t > 0)
            a = next_activity(window, j, price, path->activity[t - 1], t, k);
        int32_t i = next_move(window, job, a, t, k);
        if (i < 0 && !waits(job, t))
            break; /* not after a path with a finite value */
        if (i >= 0) {
            path->slot[path->steps] = t;
            path->move[path->steps++] = i;
        }
        for (int32_t end = t + (i < 0 ? 1 : job->move[i].slots); t < end; t++)
            path->activity[t] = a;
        k += i < 0 ? 0 : job->move[i].segments;
    }
    for (int32_t n = 0; n < window->windows; n++)
        step[n] = path->activity[n] * job->activities + path->activity[n + 1];
}

/* --- marginals -----------------------------------------------------------------------------------
 */

static void lower(double *marginal, double value, int32_t from, int32_t to)
{
    for (int32_t t = from; t < to; t++)
        marginal[t] = value < marginal[t] ? value : marginal[t];
}

/* Ways that change at slot t. */
static void push_changes(nat_window *window, const nat_job *job, int32_t t, const double *price,
                         const uint8_t *forbidden, double *marginal)
{
    for (int32_t q = 0; q < job->activities; q++)
        for (int32_t b = 0; b < job->activities; b++) {
            size_t i = change_at(window, job, q, b, t - 1);
            const double *open = window->after + row_of(window, t, q),
                         *reached = window->reach_after + row_of(window, t, q),
                         *rest = window->from + row_of(window, t, b);
            double *on = window->reach_from + row_of(window, t, b);
            for (int32_t k = job->low[t]; !forbidden[i] && k <= job->high[t]; k++) {
                if (!(open[k] < NONE))
                    continue;
                double way = reached[k] + price[i], whole = way + rest[k];
                on[k] = way < on[k] ? way : on[k];
                marginal[i] = whole < marginal[i] ? whole : marginal[i];
            }
        }
}

/* Ways that run a move or wait from slot t on. */
static void push_moves(nat_window *window, const nat_job *job, int32_t t, double *marginal)
{
    const double *idle = window->reach_from + row_of(window, t, 0);
    for (int32_t i = 0; i < job->moves; i++) {
        const nat_move *move = &job->move[i];
        int32_t first, count = starts(job, move, t, &first), end = t + move->slots;
        double cost = count > 0 ? stay_cost(window, move->body, t, end) : NONE, best = NONE;
        if (!(cost < NONE))
            continue;
        const double *from = window->reach_from + row_of(window, t, move->body) + first;
        size_t to = row_of(window, end, move->body) + (size_t)(first + move->segments);
        for (int32_t k = 0; k < count; k++) {
            double way = from[k] + cost, whole = way + window->after[to + (size_t)k],
                   *there = &window->reach_after[to + (size_t)k];
            *there = way < *there ? way : *there;
            best = whole < best ? whole : best;
        }
        lower(marginal + change_at(window, job, move->body, move->body, 0), best, t, end - 1);
    }
    if (waits(job, t))
        relax(window->reach_after + row_of(window, t + 1, 0), idle, 0, job->segments);
    if (job->high[t] == job->segments)
        lower(marginal, idle[job->segments] + window->rest[t], t, window->windows);
}

void ckpd__nat_window_path_marginals(nat_window *window, int32_t j, const double *price,
                                     double *marginal)
{
    const nat_job *job = &window->model->job[j];
    const uint8_t *forbidden = window->forbidden + window->layout.job[j];
    int32_t source = job->source_slot, k = job->source_segment, first;
    double least = source_value(window, job, &first);
    size_t count = (size_t)job->activities * (size_t)job->activities * (size_t)window->windows;
    for (size_t i = 0; i < count; i++)
        marginal[i] = NONE;
    if (!(least < NONE))
        return;
    clear_tables(window, job, window->reach_after, window->reach_from);
    lower(marginal, least, 0, source - 1);
    for (int32_t a = 0; source == 0 && a < job->activities; a++)
        window->reach_from[row_of(window, 0, a) + (size_t)k] = 0;
    if (source > 0)
        window->reach_after[row_of(window, source, 0) + (size_t)k] =
            stay_cost(window, 0, 0, source);
    for (int32_t t = source; t <= job->deadline && t < window->model->slots; t++) {
        if (t > 0)
            push_changes(window, job, t, price, forbidden, marginal);
        push_moves(window, job, t, marginal);
    }
}
