/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/weave.h"

#include <math.h>
#include <string.h>

bool ckpd__nat_weave_init(nat_weave *weave, nat_memory *memory, const nat_answer *answer,
                          int32_t most)
{
    size_t J = (size_t)answer->jobs, T = (size_t)answer->slots, n = (size_t)most;
    *weave = (nat_weave){.answer = answer, .blocks = (int32_t)(J + T), .most = most};
    weave->strand = ckpd__nat_alloc(memory, J + T, sizeof *weave->strand);
    weave->strands = ckpd__nat_alloc(memory, J + T, sizeof *weave->strands);
    weave->centre = ckpd__nat_alloc(memory, answer->layout->size, sizeof *weave->centre);
    weave->price = ckpd__nat_alloc(memory, answer->layout->size, sizeof *weave->price);
    weave->value = ckpd__nat_alloc(memory, n, sizeof *weave->value);
    bool ok = weave->strand && weave->strands && weave->centre && weave->price && weave->value;
    for (size_t b = 0; ok && b < J + T; b++) {
        size_t length = b < J ? T : J;
        int32_t *activities = ckpd__nat_alloc(memory, n * length, sizeof *activities);
        weave->strand[b] = ckpd__nat_alloc(memory, n, sizeof *weave->strand[b]);
        ok = activities && weave->strand[b];
        for (size_t i = 0; ok && i < n; i++)
            weave->strand[b][i].activity = activities + i * length;
    }
    return ok;
}

/* Where the price of entry i of a strand of block b is. */
static size_t at(const nat_weave *weave, int32_t b, int32_t i, int32_t activity)
{
    const nat_layout *layout = weave->answer->layout;
    int32_t J = weave->answer->jobs;
    size_t T = (size_t)weave->answer->slots, a = (size_t)activity;
    return b < J ? layout->job[b] + a * T + (size_t)i : layout->job[i] + a * T + (size_t)(b - J);
}

static int32_t entries(const nat_weave *weave, int32_t b)
{
    return b < weave->answer->jobs ? weave->answer->slots : weave->answer->jobs;
}

/* Paths pay the prices, combinations are paid them. */
static double paid(const nat_weave *weave, int32_t b, const int32_t *activity, const double *price)
{
    double sum = 0;
    for (int32_t i = 0; i < entries(weave, b); i++)
        sum += price[at(weave, b, i, activity[i])];
    return b < weave->answer->jobs ? sum : -sum;
}

/* Puts `moved` of a strand into the prices. */
static void pull(nat_weave *weave, int32_t b, const int32_t *activity, double moved)
{
    double step = weave->length * (b < weave->answer->jobs ? moved : -moved);
    for (int32_t i = 0; i < entries(weave, b); i++)
        weave->price[at(weave, b, i, activity[i])] += step;
}

/* Moves shares of a block to its cheapest strand; returns what that promised. */
static double mix_block(nat_weave *weave, int32_t b)
{
    nat_strand *strand = weave->strand[b];
    int32_t to = 0, from = -1, differ = 0;
    double promised = 0;
    for (int32_t i = 0; i < weave->strands[b]; i++) {
        weave->value[i] = strand[i].cost + paid(weave, b, strand[i].activity, weave->price);
        to = weave->value[i] < weave->value[to] ? i : to;
    }
    for (int32_t i = 0; i < weave->strands[b]; i++)
        if (strand[i].share > 0) {
            promised += strand[i].share * (weave->value[i] - weave->value[to]);
            from = from < 0 || weave->value[i] > weave->value[from] ? i : from;
        }
    if (from < 0 || !(weave->value[from] > weave->value[to]))
        return promised;
    for (int32_t i = 0; i < entries(weave, b); i++)
        differ += strand[from].activity[i] != strand[to].activity[i];
    double bend = 2.0 * differ * weave->length, moved = strand[from].share;
    if (bend > 0)
        moved = fmin((weave->value[from] - weave->value[to]) / bend, moved);
    strand[to].share += moved;
    strand[from].share = moved < strand[from].share ? strand[from].share - moved : 0;
    pull(weave, b, strand[from].activity, -moved);
    pull(weave, b, strand[to].activity, moved);
    return promised;
}

void ckpd__nat_weave_next(nat_weave *weave, double *price)
{
    enum { MOST_SWEEPS = 40 };
    size_t bytes = weave->answer->layout->size * sizeof *price;
    double least = 0.05 * (fabs(weave->gain) + weave->miss) + 1e-7 * fabs(weave->best);
    memcpy(weave->price, weave->centre, bytes);
    for (int32_t b = 0; b < weave->blocks; b++)
        for (int32_t i = 0; i < weave->strands[b]; i++)
            if (weave->strand[b][i].share > 0)
                pull(weave, b, weave->strand[b][i].activity, weave->strand[b][i].share);
    for (int32_t sweep = 0; sweep < MOST_SWEEPS; sweep++) {
        double promised = 0;
        for (int32_t b = 0; b < weave->blocks; b++)
            promised += weave->strands[b] > 1 ? mix_block(weave, b) : 0;
        if (promised <= least)
            break;
    }
    memcpy(price, weave->price, bytes);
}

/* A place for a strand more: a new one, or that of the one with the least share. */
static int32_t place(nat_weave *weave, int32_t b)
{
    nat_strand *strand = weave->strand[b];
    int32_t off = 0, heir = -1;
    if (weave->strands[b] < weave->most)
        return weave->strands[b]++;
    for (int32_t i = 1; i < weave->most; i++)
        if (strand[i].share < strand[off].share ||
            (strand[i].share <= strand[off].share && weave->value[i] > weave->value[off]))
            off = i;
    for (int32_t i = 0; i < weave->most; i++)
        if (i != off && (heir < 0 || weave->value[i] < weave->value[heir]))
            heir = i;
    strand[heir].share += strand[off].share;
    strand[off].share = 0;
    return off;
}

static void add_strand(nat_weave *weave, int32_t b, const int32_t *activity, double value)
{
    const double *price = weave->answer->price;
    double known = (double)INFINITY;
    nat_strand *strand = weave->strand[b];
    for (int32_t i = 0; i < weave->strands[b]; i++) {
        weave->value[i] = strand[i].cost + paid(weave, b, strand[i].activity, price);
        known = fmin(known, weave->value[i]);
    }
    if (known < (double)INFINITY)
        weave->miss += fmax(known - value, 0);
    if (known <= value + 1e-9 * (1 + fabs(value)))
        return;
    bool first = weave->strands[b] == 0;
    int32_t i = place(weave, b);
    memcpy(strand[i].activity, activity, (size_t)entries(weave, b) * sizeof *activity);
    strand[i].cost = value - paid(weave, b, activity, price);
    strand[i].share = first ? 1 : 0;
}

void ckpd__nat_weave_add(nat_weave *weave, double length)
{
    static const double NOTABLE = 0.1, GOOD = 0.5;
    const nat_answer *answer = weave->answer;
    int32_t J = answer->jobs;
    bool first = !weave->started;
    weave->started = true;
    weave->miss = 0;
    for (int32_t b = 0; b < weave->blocks; b++)
        add_strand(weave, b,
                   b < J ? answer->path[b] : answer->choice + (size_t)(b - J) * answer->stride,
                   b < J ? answer->path_value[b] : answer->slot_value[b - J]);
    weave->gain = first ? 0 : answer->value - weave->best;
    double hope = weave->gain + weave->miss;
    if (first)
        weave->length = length;
    if (first || weave->gain > NOTABLE * hope) {
        memcpy(weave->centre, answer->price, answer->layout->size * sizeof *answer->price);
        weave->best = answer->value;
        weave->vain = 0;
        if (!first && weave->gain >= GOOD * hope)
            weave->length *= 2;
    } else if (++weave->vain >= 4 && weave->gain < 0) {
        weave->length *= 0.7; /* too far away for the strands */
        weave->vain = 0;
    }
}

static bool is_forbidden(const nat_weave *weave, int32_t b, const nat_strand *strand,
                         const uint8_t *forbidden)
{
    bool found = false;
    for (int32_t i = 0; i < entries(weave, b) && !found; i++)
        found = forbidden[at(weave, b, i, strand->activity[i])];
    return found;
}

void ckpd__nat_weave_forbid(nat_weave *weave, const uint8_t *forbidden)
{
    for (int32_t b = 0; b < weave->blocks; b++) {
        nat_strand *strand = weave->strand[b];
        int32_t kept = 0;
        double share = 0;
        for (int32_t i = 0; i < weave->strands[b]; i++) {
            if (is_forbidden(weave, b, &strand[i], forbidden))
                continue;
            nat_strand swap = strand[kept];
            strand[kept] = strand[i];
            strand[i] = swap;
            share += strand[kept++].share;
        }
        weave->strands[b] = kept;
        for (int32_t i = 0; i < kept; i++)
            strand[i].share = share > 0 ? strand[i].share / share : i == 0;
    }
}

void ckpd__nat_weave_copy(nat_weave *to, const nat_weave *from)
{
    to->started = false;
    to->vain = 0;
    for (int32_t b = 0; b < from->blocks; b++) {
        size_t bytes = (size_t)entries(from, b) * sizeof(int32_t);
        to->strands[b] = from->strands[b];
        for (int32_t i = 0; i < from->strands[b]; i++) {
            to->strand[b][i].cost = from->strand[b][i].cost;
            to->strand[b][i].share = from->strand[b][i].share;
            memcpy(to->strand[b][i].activity, from->strand[b][i].activity, bytes);
        }
    }
}

void ckpd__nat_weave_mean(const nat_weave *weave, double *mean)
{
    memset(mean, 0, weave->answer->layout->size * sizeof *mean);
    for (int32_t b = 0; b < weave->answer->jobs; b++)
        for (int32_t i = 0; i < weave->strands[b]; i++)
            for (int32_t t = 0; t < weave->answer->slots; t++)
                mean[at(weave, b, t, weave->strand[b][i].activity[t])] += weave->strand[b][i].share;
}
