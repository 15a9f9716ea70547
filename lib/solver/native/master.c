/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/master.h"
#include "solver/native/vector.h"

#include <math.h>
#include <string.h>

bool ckpd__nat_master_init(nat_master *master, nat_memory *memory, const nat_model *model,
                           int32_t rows, int32_t most)
{
    size_t R = (size_t)rows, n = (size_t)most, J = (size_t)model->jobs, B = J + 1;
    *master = (nat_master){
        .model = model, .host = memory->host, .rows = rows, .blocks = (int32_t)B, .most = most};
    master->column = ckpd__nat_alloc(memory, B, sizeof *master->column);
    master->columns = ckpd__nat_alloc(memory, B, sizeof *master->columns);
    master->path = ckpd__nat_alloc(memory, J, sizeof *master->path);
    master->load = ckpd__nat_alloc(memory, R, sizeof *master->load);
    master->room = ckpd__nat_alloc(memory, R, sizeof *master->room);
    master->centre = ckpd__nat_alloc(memory, R, sizeof *master->centre);
    master->price = ckpd__nat_alloc(memory, R, sizeof *master->price);
    master->value = ckpd__nat_alloc(memory, n, sizeof *master->value);
    bool ok = master->column && master->columns && master->path && master->load && master->room &&
              master->centre && master->price && master->value;
    for (size_t b = 0; ok && b < B; b++) {
        master->column[b] = ckpd__nat_alloc(memory, n, sizeof *master->column[b]);
        float *loads = ckpd__nat_alloc(memory, n * R, sizeof *loads);
        ok = master->column[b] && loads;
        for (size_t i = 0; ok && i < n; i++)
            master->column[b][i].load = loads + i * R;
        if (ok && b < J)
            ok = (master->path[b] = ckpd__nat_alloc(memory, n, sizeof *master->path[b])) != NULL;
        for (size_t i = 0; ok && b < J && i < n; i++)
            ok = ckpd__nat_path_init(&master->path[b][i], memory, model->slots);
    }
    return ok;
}

/* Eight sums side by side: the order of the additions is fixed, whatever the machine. */
NAT_VECTOR_LOOP static double product(const double *restrict a, const float *restrict b, int32_t n)
{
    double lane[8] = {0};
    int32_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int32_t k = 0; k < 8; k++)
            lane[k] += a[i + k] * (double)b[i + k];
    for (; i < n; i++)
        lane[0] += a[i] * (double)b[i];
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
           ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

/* --- prices ------------------------------------------------------------------------------------
 */

/*
 * The load that a slot takes when `d` is there: least cost plus centre price and distance. The cost
 * is convex and linear between its levels, so the first piece with a slope beyond the price at its
 * end ends the search.
 */
static double taken(const nat_master *master, int32_t t, double d)
{
    const double *at = master->at + (size_t)t * (size_t)master->levels;
    const double *cost = master->cost + (size_t)t * (size_t)master->levels;
    double centre = master->centre[t], tau = master->length;
    for (int32_t l = 0; l + 1 < master->count[t]; l++) {
        double slope = (cost[l + 1] - cost[l]) / (at[l + 1] - at[l]);
        double free_point = d - (slope - centre) / tau; /* where the price equals the slope */
        if (free_point <= at[l])
            return at[l];
        if (free_point < at[l + 1])
            return free_point;
    }
    return at[master->count[t] - 1];
}

static void set_prices(nat_master *master)
{
    int32_t T = master->model->slots;
    for (int32_t r = 0; r < master->rows; r++) {
        double over = master->load[r] - master->room[r];
        if (r < T && master->count)
            over = master->load[r] - taken(master, r, master->load[r]);
        master->price[r] = master->centre[r] + master->length * over;
        if (r >= T)
            master->price[r] = fmax(master->price[r], 0);
    }
}

static void move_share(nat_master *master, int32_t b, int32_t from, int32_t to, double moved)
{
    nat_column *column = master->column[b];
    column[to].share += moved;
    column[from].share = moved < column[from].share ? column[from].share - moved : 0;
    for (int32_t r = 0; r < master->rows; r++)
        master->load[r] += moved * ((double)column[to].load[r] - (double)column[from].load[r]);
}

/* Moves shares of a block to its cheapest column; returns what that promised. */
static double mix_block(nat_master *master, int32_t b)
{
    nat_column *column = master->column[b];
    int32_t to = 0, from = -1;
    double promised = 0;
    for (int32_t i = 0; i < master->columns[b]; i++) {
        master->value[i] = column[i].cost + product(master->price, column[i].load, master->rows);
        to = master->value[i] < master->value[to] ? i : to;
    }
    for (int32_t i = 0; i < master->columns[b]; i++)
        if (column[i].share > 0) {
            promised += column[i].share * (master->value[i] - master->value[to]);
            from = from < 0 || master->value[i] > master->value[from] ? i : from;
        }
    double difference = from >= 0 ? master->value[from] - master->value[to] : 0, bend = 0;
    if (!(difference > 0))
        return promised;
    for (int32_t r = 0; r < master->rows; r++) {
        double step = (double)column[to].load[r] - (double)column[from].load[r];
        bend += step * step;
    }
    bend *= master->length;
    move_share(master, b, from, to,
               bend > 0 ? fmin(difference / bend, column[from].share) : column[from].share);
    set_prices(master);
    return promised;
}

void ckpd__nat_master_next(nat_master *master, double *price)
{
    enum { MOST_SWEEPS = 60 };
    double least = 0.05 * (fabs(master->gain) + master->miss) + 1e-7 * fabs(master->best);
    memset(master->load, 0, (size_t)master->rows * sizeof *master->load);
    for (int32_t b = 0; b < master->blocks; b++)
        for (int32_t i = 0; i < master->columns[b]; i++)
            for (int32_t r = 0; master->column[b][i].share > 0 && r < master->rows; r++)
                master->load[r] +=
                    master->column[b][i].share * (double)master->column[b][i].load[r];
    set_prices(master);
    for (int32_t sweep = 0; sweep < MOST_SWEEPS && master->stop == 0; sweep++) {
        double promised = 0;
        if (master->host->should_stop)
            master->stop = master->host->should_stop(master->host->user);
        for (int32_t b = 0; b < master->blocks; b++)
            promised += master->columns[b] > 1 ? mix_block(master, b) : 0;
        if (promised <= least)
            break;
    }
    memcpy(price, master->price, (size_t)master->rows * sizeof *price);
}

/* --- columns -----------------------------------------------------------------------------------
 */

void ckpd__nat_master_note(nat_master *master, const double *price, double value, double length)
{
    static const double NOTABLE = 0.1, GOOD = 0.5, FULL = 0.95;
    bool first = !master->started;
    master->started = true;
    master->gain = first ? 0 : value - master->best;
    double hope = master->gain + master->miss;
    if (first)
        master->length = length;
    if (first || master->gain > NOTABLE * hope) {
        memcpy(master->centre, price, (size_t)master->rows * sizeof *price);
        master->best = value;
        master->vain = 0;
        if (!first && master->gain >= GOOD * hope)
            master->length *= master->gain >= FULL * hope ? 10 : 2;
    } else if (++master->vain >= 4 && master->gain < 0) {
        master->length *= 0.7; /* too far away for the columns */
        master->vain = 0;
    }
}

/* A place for a column more: a new one, or that of an idle one that costs most. */
static int32_t place(nat_master *master, int32_t b)
{
    nat_column *column = master->column[b];
    int32_t off = -1;
    if (master->columns[b] < master->most)
        return master->columns[b]++;
    for (int32_t i = 0; i < master->most; i++)
        if (off < 0 || column[i].share < column[off].share ||
            (column[i].share <= column[off].share && master->value[i] > master->value[off]))
            off = i;
    if (column[off].share > 0) {
        int32_t heir = off == 0;
        for (int32_t i = 0; i < master->most; i++)
            heir = i != off && master->value[i] < master->value[heir] ? i : heir;
        column[heir].share += column[off].share;
    }
    return off;
}

void ckpd__nat_master_add(nat_master *master, int32_t block, const double *price,
                          const double *load, double value, const nat_path *path)
{
    double known = (double)INFINITY, cost = value;
    nat_column *column = master->column[block];
    for (int32_t i = 0; i < master->columns[block]; i++) {
        master->value[i] = column[i].cost + product(price, column[i].load, master->rows);
        known = fmin(known, master->value[i]);
    }
    if (block == 0)
        master->miss = 0;
    if (known < (double)INFINITY)
        master->miss += fmax(known - value, 0);
    if (known <= value + 1e-9 * fabs(value))
        return;
    bool first = master->columns[block] == 0;
    int32_t at = place(master, block);
    for (int32_t r = 0; r < master->rows; r++)
        column[at].load[r] = (float)load[r];
    cost -= product(price, column[at].load, master->rows);
    column[at].cost = cost;
    column[at].share = first ? 1 : 0;
    if (path)
        ckpd__nat_path_copy(&master->path[block][at], path, master->model->slots);
}

void ckpd__nat_master_target(const nat_master *master, double *kw)
{
    int32_t T = master->model->slots;
    memset(kw, 0, (size_t)T * sizeof *kw);
    for (int32_t j = 0; j < master->model->jobs; j++)
        for (int32_t i = 0; i < master->columns[j]; i++)
            for (int32_t t = 0; master->column[j][i].share > 0 && t < T; t++)
                kw[t] += master->column[j][i].share * (double)master->column[j][i].load[t];
    for (int32_t t = 0; t < T; t++)
        kw[t] /= fmax(master->model->view->load_factor[t], 1e-9);
}

const nat_path *ckpd__nat_master_pick(const nat_master *master, int32_t job, double draw)
{
    const nat_column *column = master->column[job];
    int32_t best = 0;
    for (int32_t i = 0; i < master->columns[job]; i++) {
        if (draw >= 0 && draw < column[i].share)
            return &master->path[job][i];
        draw -= draw >= 0 ? fmin(column[i].share, draw) : 0;
        best = column[i].share > column[best].share ? i : best;
    }
    return &master->path[job][best];
}
