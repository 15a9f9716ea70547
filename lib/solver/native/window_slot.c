/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The cheapest combination of changes of a window: over the totals of both of its slots. */
#include "solver/native/levels.h"
#include "solver/native/window.h"

#include <math.h>
#include <string.h>

#define NONE ((double)INFINITY)

static nat_change *changes_of(const nat_window *window, int32_t j)
{
    size_t most = (size_t)window->model->activities * (size_t)window->model->activities;
    return window->change + (size_t)j * most;
}

static double *stage_of(const nat_window *window, int32_t j)
{
    return window->stage + (size_t)j * (size_t)window->width * (size_t)window->width;
}

static bool is_empty(nat_reach reach)
{
    return reach.low[0] > reach.high[0] || reach.low[1] > reach.high[1];
}

/* The changes that are left in window t, and the totals that they reach job by job. */
static void gather(nat_window *window, int32_t t)
{
    int32_t n = window->windows, top = window->width - 1;
    window->reach[0] = (nat_reach){{0, 0}, {0, 0}};
    for (int32_t j = 0; j < window->model->jobs; j++) {
        int32_t activities = window->model->job[j].activities, count = 0;
        int32_t low[2] = {top + 1, top + 1}, high[2] = {-1, -1};
        const int32_t *shift = window->stack->shift[j];
        size_t base = window->layout.job[j] + (size_t)t;
        nat_change *change = changes_of(window, j);
        for (int32_t c = 0; c < activities * activities; c++) {
            size_t at = base + (size_t)c * (size_t)n;
            if (window->forbidden[at])
                continue;
            nat_change own = {
                {shift[c / activities], shift[c % activities]}, c, -window->price[at]};
            for (int i = 0; i < 2; i++) {
                low[i] = own.up[i] < low[i] ? own.up[i] : low[i];
                high[i] = own.up[i] > high[i] ? own.up[i] : high[i];
            }
            change[count++] = own;
        }
        window->changes[j] = count;
        nat_reach reach = window->reach[j];
        for (int i = 0; i < 2; i++) {
            reach.low[i] += low[i];
            reach.high[i] += high[i];
            reach.high[i] = reach.high[i] > top ? top : reach.high[i];
        }
        window->reach[j + 1] = reach;
    }
}

/* Part of a row of totals `from` that a change leads into the totals `to`; its first one. */
static int32_t overlap(nat_reach from, nat_reach to, int32_t up, int32_t *first)
{
    int32_t low = from.low[1], high = from.high[1];
    low = to.low[1] - up > low ? to.low[1] - up : low;
    high = to.high[1] - up < high ? to.high[1] - up : high;
    *first = low;
    return high - low + 1;
}

static void climb(nat_window *window, int32_t j)
{
    size_t W = (size_t)window->width;
    nat_reach from = window->reach[j], to = window->reach[j + 1];
    const double *below = stage_of(window, j);
    double *above = stage_of(window, j + 1);
    const nat_change *change = changes_of(window, j);
    for (int32_t l = to.low[0]; l <= to.high[0]; l++) {
        double *row = above + (size_t)l * W;
        for (int32_t m = to.low[1]; m <= to.high[1]; m++)
            row[m] = NONE;
        for (int32_t c = 0; c < window->changes[j]; c++) {
            int32_t at = l - change[c].up[0], first, up = change[c].up[1];
            int32_t count = overlap(from, to, up, &first);
            if (at >= from.low[0] && at <= from.high[0] && count > 0)
                lift(row + first + up, below + (size_t)at * W + first, -change[c].cost, count);
        }
    }
}

/* The changes of the combination that makes these totals. */
static void trace(const nat_window *window, int32_t l, int32_t m, int32_t *choice)
{
    size_t W = (size_t)window->width;
    for (int32_t j = window->model->jobs - 1; j >= 0; j--) {
        const nat_change *change = changes_of(window, j);
        const double *below = stage_of(window, j);
        nat_reach from = window->reach[j];
        double best = NONE;
        int32_t found = 0;
        for (int32_t c = 0; c < window->changes[j]; c++) {
            int32_t a = l - change[c].up[0], b = m - change[c].up[1];
            if (a < from.low[0] || a > from.high[0] || b < from.low[1] || b > from.high[1])
                continue;
            double value = below[(size_t)a * W + (size_t)b] + change[c].cost;
            if (value < best) {
                best = value;
                found = c;
            }
        }
        choice[j] = change[found].index;
        l -= change[found].up[0];
        m -= change[found].up[1];
    }
}

double ckpd__nat_window_solve(nat_window *window, int32_t t, int32_t *choice)
{
    int32_t jobs = window->model->jobs, best_l = -1, best_m = -1;
    size_t W = (size_t)window->width;
    const double *share = window->share + (size_t)t * W, *next = share + W;
    gather(window, t);
    for (int32_t j = 1; j <= jobs; j++)
        if (is_empty(window->reach[j]))
            return NONE;
    window->stage[0] = 0;
    for (int32_t j = 0; j < jobs; j++)
        climb(window, j);
    nat_reach all = window->reach[jobs];
    const double *top = stage_of(window, jobs);
    double value = NONE;
    for (int32_t l = all.low[0]; l <= all.high[0]; l++) {
        double own = share[l] + least_sum(top + (size_t)l * W + all.low[1], next + all.low[1],
                                          all.high[1] - all.low[1] + 1);
        if (own < value) {
            value = own;
            best_l = l;
        }
    }
    if (best_l < 0)
        return NONE;
    double least = NONE;
    for (int32_t m = all.low[1]; m <= all.high[1]; m++) {
        double own = top[(size_t)best_l * W + (size_t)m] + next[m];
        if (own < least) {
            least = own;
            best_m = m;
        }
    }
    trace(window, best_l, best_m, choice);
    return value;
}

/* Cost of the cheapest combination with a change of job j; adds the ways on from below it. */
static double pass_change(const nat_window *window, int32_t j, nat_change change, double *own,
                          const double *above)
{
    size_t W = (size_t)window->width;
    nat_reach from = window->reach[j], to = window->reach[j + 1];
    const double *stage = stage_of(window, j);
    int32_t first, count = overlap(from, to, change.up[1], &first);
    double least = NONE;
    for (int32_t l = from.low[0]; count > 0 && l <= from.high[0]; l++) {
        int32_t there = l + change.up[0];
        if (there < to.low[0] || there > to.high[0])
            continue;
        const double *rest = above + (size_t)there * W + first + change.up[1];
        double sum = least_sum(stage + (size_t)l * W + first, rest, count);
        least = sum < least ? sum : least;
        lift(own + (size_t)l * W + first, rest, -change.cost, count);
    }
    return least + change.cost;
}

void ckpd__nat_window_marginals(nat_window *window, int32_t t, double value, double *marginal)
{
    int32_t jobs = window->model->jobs;
    size_t W = (size_t)window->width, n = (size_t)window->windows;
    const double *share = window->share + (size_t)t * W, *next = share + W;
    double *own = window->behind[0], *above = window->behind[1];
    nat_reach all = window->reach[jobs];
    for (int32_t l = all.low[0]; l <= all.high[0]; l++)
        for (int32_t m = all.low[1]; m <= all.high[1]; m++)
            above[(size_t)l * W + (size_t)m] = share[l] + next[m];
    for (int32_t j = jobs - 1; j >= 0; j--) {
        nat_reach from = window->reach[j];
        const nat_change *change = changes_of(window, j);
        for (int32_t l = from.low[0]; l <= from.high[0]; l++)
            for (int32_t m = from.low[1]; m <= from.high[1]; m++)
                own[(size_t)l * W + (size_t)m] = NONE;
        for (int32_t c = 0; c < window->changes[j]; c++)
            marginal[window->layout.job[j] + (size_t)change[c].index * n + (size_t)t] =
                pass_change(window, j, change[c], own, above) - value;
        double *swap = own;
        own = above;
        above = swap;
    }
}
