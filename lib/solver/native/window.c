/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/window.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define NONE ((double)INFINITY)

bool ckpd__nat_window_fits(const nat_model *model, const nat_stack *stack)
{
    static const double MOST_WORK = 5e8;  /* sums per evaluation of the bound: some 50 ms */
    static const double MOST_CELLS = 8e6; /* of all tables of a window: 64 MB */
    double totals = stack->levels[stack->jobs], changes = 0;
    if ((model->jobs + 3) * totals * totals > MOST_CELLS)
        return false;
    if (model->storage || !stack->shift || model->slots < 2)
        return false;
    for (int32_t j = 0; j < model->jobs; j++) {
        const nat_job *job = &model->job[j];
        changes += (double)job->activities * job->activities;
        if (job->states != 1 || job->in->edge_cost || job->in->edge_closed)
            return false;
        for (int32_t i = 0; i < job->moves; i++)
            if (job->move[i].body != job->move[i].last)
                return false;
    }
    return changes * totals * totals * model->slots <= MOST_WORK;
}

static bool init_paths(nat_window *window, nat_memory *memory)
{
    const nat_model *model = window->model;
    size_t A = (size_t)model->activities, T = (size_t)model->slots;
    window->stride = model->stride;
    size_t nodes = (T + 1) * A * (size_t)window->stride;
    window->stay = ckpd__nat_alloc(memory, A * T, sizeof *window->stay);
    window->clear = ckpd__nat_alloc(memory, A * T, sizeof *window->clear);
    window->rest = ckpd__nat_alloc(memory, T + 1, sizeof *window->rest);
    window->after = ckpd__nat_alloc(memory, nodes, sizeof *window->after);
    window->from = ckpd__nat_alloc(memory, nodes, sizeof *window->from);
    window->reach_after = ckpd__nat_alloc(memory, nodes, sizeof *window->reach_after);
    window->reach_from = ckpd__nat_alloc(memory, nodes, sizeof *window->reach_from);
    return window->stay && window->clear && window->rest && window->after && window->from &&
           window->reach_after && window->reach_from;
}

static bool init_combinations(nat_window *window, nat_memory *memory)
{
    const nat_model *model = window->model;
    size_t J = (size_t)model->jobs, T = (size_t)model->slots, A = (size_t)model->activities;
    size_t W = (size_t)window->stack->levels[window->stack->jobs];
    window->width = (int32_t)W;
    window->share = ckpd__nat_alloc(memory, T * W, sizeof *window->share);
    window->stage = ckpd__nat_alloc(memory, (J + 1) * W * W, sizeof *window->stage);
    window->behind[0] = ckpd__nat_alloc(memory, W * W, sizeof *window->behind[0]);
    window->behind[1] = ckpd__nat_alloc(memory, W * W, sizeof *window->behind[1]);
    window->change = ckpd__nat_alloc(memory, J * A * A, sizeof *window->change);
    window->changes = ckpd__nat_alloc(memory, J, sizeof *window->changes);
    window->reach = ckpd__nat_alloc(memory, J + 1, sizeof *window->reach);
    if (!window->share || !window->stage || !window->behind[0] || !window->behind[1] ||
        !window->change || !window->changes || !window->reach)
        return false;
    for (size_t t = 0; t < T; t++)
        for (size_t l = 0; l < W; l++)
            window->share[t * W + l] =
                window->stack->cost[t * W + l] * (t == 0 || t == T - 1 ? 1 : 0.5);
    return true;
}

static bool init_answers(nat_window *window, nat_memory *memory)
{
    size_t J = (size_t)window->model->jobs, n = (size_t)window->windows;
    window->path = ckpd__nat_alloc(memory, J, sizeof *window->path);
    window->step = ckpd__nat_alloc(memory, J, sizeof *window->step);
    window->path_value = ckpd__nat_alloc(memory, J, sizeof *window->path_value);
    window->choice = ckpd__nat_alloc(memory, n * J, sizeof *window->choice);
    window->slot_value = ckpd__nat_alloc(memory, n, sizeof *window->slot_value);
    bool ok =
        window->path && window->step && window->path_value && window->choice && window->slot_value;
    for (size_t j = 0; ok && j < J; j++) {
        window->step[j] = ckpd__nat_alloc(memory, n, sizeof *window->step[j]);
        ok = window->step[j] && ckpd__nat_path_init(&window->path[j], memory, window->model->slots);
    }
    window->answer = (nat_answer){.jobs = window->model->jobs,
                                  .slots = window->windows,
                                  .layout = &window->layout,
                                  .price = window->price,
                                  .path = window->step,
                                  .path_value = window->path_value,
                                  .choice = window->choice,
                                  .stride = J,
                                  .slot_value = window->slot_value};
    return ok;
}

bool ckpd__nat_window_init(nat_window *window, nat_memory *memory, const nat_model *model,
                           const nat_stack *stack)
{
    size_t largest = (size_t)model->activities * (size_t)model->activities;
    *window = (nat_window){.model = model, .stack = stack, .windows = model->slots - 1};
    window->layout.job = ckpd__nat_alloc(memory, (size_t)model->jobs, sizeof(size_t));
    for (int32_t j = 0; window->layout.job && j < model->jobs; j++) {
        size_t activities = (size_t)model->job[j].activities;
        window->layout.job[j] = window->layout.size;
        window->layout.size += activities * activities * (size_t)window->windows;
    }
    window->price = ckpd__nat_alloc(memory, window->layout.size, sizeof *window->price);
    window->forbidden = ckpd__nat_alloc(memory, window->layout.size, sizeof *window->forbidden);
    window->excess = ckpd__nat_alloc(memory, window->layout.size, sizeof *window->excess);
    window->burden =
        ckpd__nat_alloc(memory, largest * (size_t)window->windows, sizeof *window->burden);
    return window->layout.job && window->price && window->forbidden && window->excess &&
           window->burden && init_paths(window, memory) && init_combinations(window, memory) &&
           init_answers(window, memory);
}

void ckpd__nat_window_take(nat_window *window, const nat_layout *layout, const double *price,
                           const uint8_t *forbidden)
{
    size_t T = (size_t)window->model->slots, n = (size_t)window->windows;
    for (int32_t j = 0; j < window->model->jobs; j++) {
        size_t A = (size_t)window->model->job[j].activities, base = layout->job[j];
        for (size_t i = 0; i < A * A * n; i++) {
            size_t t = i % n, first = base + i / n / A * T + t,
                   second = base + i / n % A * T + t + 1;
            window->price[window->layout.job[j] + i] =
                price[first] * (t == 0 ? 1 : 0.5) + price[second] * (t == n - 1 ? 1 : 0.5);
            window->forbidden[window->layout.job[j] + i] = forbidden[first] || forbidden[second];
        }
    }
}

/* Sizes of the prices of a path, for the rounding. */
static double price_size(const nat_window *window, int32_t j)
{
    size_t n = (size_t)window->windows, A = (size_t)window->model->job[j].activities;
    const double *price = window->price + window->layout.job[j];
    double sum = 0;
    for (size_t t = 0; t < n; t++) {
        double most = 0;
        for (size_t c = 0; c < A * A; c++)
            most = fmax(most, fabs(price[c * n + t]));
        sum += 2 * most;
    }
    return sum;
}

static bool must_stop(const ckpd_host *host, int32_t *stop)
{
    if (*stop == 0 && host->should_stop)
        *stop = host->should_stop(host->user);
    return *stop != 0;
}

double ckpd__nat_window_evaluate(nat_window *window, const ckpd_host *host, int32_t *stop)
{
    const nat_model *model = window->model;
    double value = model->view->cost_offset, size = fabs(value);
    for (int32_t j = 0; j < model->jobs && value < NONE; j++) {
        const double *price = window->price + window->layout.job[j];
        window->path_value[j] = ckpd__nat_window_path(window, j, price);
        value += window->path_value[j];
        size += price_size(window, j);
        if (value < NONE)
            ckpd__nat_window_trace(window, j, price, &window->path[j], window->step[j]);
    }
    for (int32_t t = 0; t < window->windows && value < NONE; t++) {
        if (must_stop(host, stop))
            return window->answer.value = -NONE; /* what is added up so far is no bound */
        window->slot_value[t] =
            ckpd__nat_window_solve(window, t, window->choice + (size_t)t * (size_t)model->jobs);
        value += window->slot_value[t];
        size += fabs(window->slot_value[t]);
    }
    if (value < NONE)
        value -= 4 * DBL_EPSILON * (model->slots + model->jobs) * size;
    return window->answer.value = value;
}

bool ckpd__nat_window_excess(nat_window *window, const ckpd_host *host, int32_t *stop)
{
    const nat_model *model = window->model;
    for (size_t i = 0; i < window->layout.size; i++)
        window->excess[i] = 0;
    for (int32_t t = 0; t < window->windows; t++) {
        if (must_stop(host, stop))
            return false;
        double value =
            ckpd__nat_window_solve(window, t, window->choice + (size_t)t * (size_t)model->jobs);
        ckpd__nat_window_marginals(window, t, value, window->excess);
    }
    /* A plan pays for every window what the job's change there lies above the cheapest one. */
    for (int32_t j = 0; j < model->jobs; j++) {
        const nat_job *job = &model->job[j];
        size_t count = (size_t)job->activities * (size_t)job->activities * (size_t)window->windows;
        const double *price = window->price + window->layout.job[j];
        double *excess = window->excess + window->layout.job[j];
        for (size_t i = 0; i < count; i++) {
            if (!(excess[i] < NONE))
                window->forbidden[window->layout.job[j] + i] = 1; /* there is no such combination */
            window->burden[i] = excess[i] < NONE ? price[i] + fmax(excess[i], 0) : 0;
        }
        ckpd__nat_window_path(window, j, window->burden);
        ckpd__nat_window_path_marginals(window, j, window->burden, excess);
        for (size_t i = 0; i < count; i++)
            excess[i] -= window->path_value[j];
    }
    return true;
}
